/* The binder: finds what names mean, gives every expression its type, and writes the SQL that
 * SQLite runs. Everything throws. */
#ifndef ALO_TSQL_BIND_H
#define ALO_TSQL_BIND_H

#include "tsql_catalogue.h"
#include "tsql_expression.h"

/* A column that a FROM clause offers. */
typedef struct tsql_bound_column {
  aloft_text name;
  tsql_type type;
  bool nullable;
  bool identity;
  bool key;
  bool computed;
  aloft_text sql;
} tsql_bound_column;

typedef struct tsql_bound_source {
  aloft_text name; /* as it is referred to */
  tsql_bound_column *columns;
  size_t count;
} tsql_bound_source;

/* Where aggregates may stand. */
typedef enum tsql_clause {
  CLAUSE_OTHER, /* constants and variables: no columns, no aggregates */
  CLAUSE_SELECT,
  CLAUSE_WHERE,
  CLAUSE_GROUP,
  CLAUSE_HAVING,
  CLAUSE_ORDER,
  CLAUSE_SET
} tsql_clause;

struct tsql_scope {
  tsql_scope *outer;
  tsql_bound_source sources[32];
  size_t count;
  tsql_clause clause;
  bool in_aggregate;
  bool has_aggregate;
  tsql_reference *references; /* to columns of outer scopes */
  tsql_reference *own;        /* columns of this scope that the aggregate at hand has used */
};

/* An expression that SQLite calls back for, with the types of its inputs. */
typedef struct tsql_program {
  tsql_expression *root;
  tsql_type *types;
  size_t count;
} tsql_program;

typedef struct tsql_bind {
  tsql_value value;
  tsql_type type;
} tsql_bind;

typedef struct tsql_result_column {
  aloft_text name;
  tsql_type type;
  bool nullable;
  bool identity;
  bool key;
  bool computed;
} tsql_result_column;

/* A statement ready for SQLite. All queries share programs and parameters. */
typedef struct tsql_plan {
  tsql_program *programs;
  size_t program_count;
  size_t program_room;
  tsql_bind *binds;
  size_t bind_count;
  size_t bind_room;
  aloft_text *queries;
  size_t query_count;
  tsql_result_column *columns; /* of each query */
  size_t column_count;
  size_t *assigned; /* SELECT @x = ...: a variable for each column; NULL: rows are shown */
  /* INSERT, UPDATE, DELETE */
  tsql_table *table;
  aloft_text table_name;      /* "database.dbo.table" */
  size_t *inserted;           /* INSERT: for each column its place in the query, or SIZE_MAX */
  tsql_expression **defaults; /* INSERT: for the columns that are not in the query */
  bool *changed;              /* UPDATE: the columns set */
  bool key_changed;
} tsql_plan;

typedef struct tsql_binder {
  tsql_context *context;
  const tsql_environment *environment;
  sqlite3 *database;
  tsql_plan *plan;
  tsql_context *scratch; /* for values computed ahead */
  int next_source;
  int work;            /* nodes bound, against a limit */
  bool keep_variables; /* variables change while the statement runs */
} tsql_binder;

void alo_bind_select(tsql_binder *binder, const tsql_query *query);
/* INSERT's queries give the columns listed. UPDATE's gives the row's number and all columns as
 * they are to be, DELETE's the row's number. */
void alo_bind_insert(tsql_binder *binder, const tsql_statement *statement);
void alo_bind_update(tsql_binder *binder, const tsql_statement *statement);
void alo_bind_delete(tsql_binder *binder, const tsql_statement *statement);
/* The table of a CREATE TABLE, checked. */
tsql_table *alo_bind_table(tsql_binder *binder, const tsql_statement *statement);
/* A statement's own expression, as one row of one column: `SELECT` of it, when it has subqueries,
 * is in the plan's query; otherwise the expression can be evaluated alone, and the plan is empty.
 * A condition has kind TSQL_PREDICATE. */
tsql_expression *alo_bind_value(tsql_binder *binder, const tsql_node *node, const tsql_type *to,
                                bool condition);

/* Between the binder's files. */

/* 208 when there is none. */
tsql_table *alo_bind_find_table(tsql_binder *b, aloft_text schema, aloft_text name);
tsql_expression *alo_bind_expression(tsql_binder *b, tsql_scope *scope, const tsql_node *node);
tsql_expression *alo_bind_condition(tsql_binder *b, tsql_scope *scope, const tsql_node *node);
bool alo_bind_is_aggregate(aloft_text name);

typedef struct tsql_bound_query {
  aloft_text sql;
  tsql_result_column *columns;
  size_t count;
  size_t *assigned;
} tsql_bound_query;

typedef enum tsql_query_use {
  QUERY_TOP,    /* a statement */
  QUERY_INSERT, /* the source of INSERT: `targets` gives the columns' types */
  QUERY_DERIVED,
  QUERY_VALUE, /* one column */
  QUERY_EXISTS
} tsql_query_use;

/* How a column of INSERT's source is stored. */
typedef tsql_expression *(*tsql_store)(tsql_binder *b, void *user, size_t place,
                                       tsql_expression *value);

typedef struct tsql_query_request {
  tsql_query_use use;
  tsql_scope *outer;
  tsql_store store;
  void *user;
} tsql_query_request;

/* With QUERY_INSERT and VALUES each row is a query of its own: all but the last are added to the
 * plan's queries, the last is returned. */
tsql_bound_query alo_bind_query(tsql_binder *b, const tsql_query *query,
                                const tsql_query_request *request);
tsql_expression *alo_bind_column(tsql_binder *b, tsql_scope *scope, const tsql_node *node);

/* Writes an expression's SQL. `collate`: with its collation, for comparisons. */
void alo_emit(tsql_binder *b, tsql_string *out, tsql_expression *x, bool collate);
void alo_emit_condition(tsql_binder *b, tsql_string *out, tsql_expression *x, int depth);
void alo_plan_add_query(tsql_binder *b, aloft_text sql);

#endif
