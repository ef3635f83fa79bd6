/* What the parser makes of a batch: expressions, queries, statements. All in the context's
 * memory; texts may point into the batch's text. */
#ifndef ALO_TSQL_TREE_H
#define ALO_TSQL_TREE_H

#include "tsql_context.h"
#include "tsql_type.h"
#include "tsql_value.h"

typedef struct tsql_query tsql_query;

typedef enum tsql_node_kind {
  NODE_CONSTANT, /* `type`, `value` */
  NODE_NULL,
  NODE_DEFAULT,  /* in VALUES and SET */
  NODE_VARIABLE, /* `name` with its '@' */
  NODE_GLOBAL,   /* `name` with its '@@' */
  NODE_COLUMN,   /* `qualifier`.`name` */
  NODE_STAR,     /* *, or `qualifier`.* */
  NODE_NEGATE,
  NODE_INVERT,     /* ~ */
  NODE_ARITHMETIC, /* `op`: + - * / % & | ^ */
  NODE_COMPARE,    /* `op`: = # (not equal) < > { (<=) } (>=) */
  NODE_AND,        /* any number of children; also OR */
  NODE_OR,
  NODE_NOT,
  NODE_BETWEEN,  /* value, low, high; `negated` */
  NODE_IN,       /* value, members; `negated` */
  NODE_IN_QUERY, /* value; `query`; `negated` */
  NODE_LIKE,     /* value, pattern, maybe escape; `negated` */
  NODE_IS_NULL,  /* `negated` */
  NODE_EXISTS,   /* `query` */
  NODE_CASE,     /* WHEN and THEN in turns; `has_else`: one more; `has_operand`: one in front */
  NODE_CAST,     /* `type`, `style` child if `has_style` */
  NODE_CALL,     /* `name`, arguments; `distinct` */
  NODE_QUERY     /* a scalar subquery */
} tsql_node_kind;

typedef struct tsql_node {
  tsql_node_kind kind;
  char op;
  bool negated;
  bool distinct;
  bool has_else;
  bool has_operand;
  uint32_t line;
  uint32_t count; /* of children */
  struct tsql_node *first;
  struct tsql_node *last;
  struct tsql_node *next;
  aloft_text name;
  aloft_text qualifier; /* absent: none */
  aloft_text source;    /* the first token, for messages */
  tsql_type type;
  tsql_value value;
  tsql_query *query;
} tsql_node;

typedef struct tsql_item {
  tsql_node *node;
  aloft_text alias;    /* absent: none */
  aloft_text variable; /* SELECT @x = ... */
  struct tsql_item *next;
} tsql_item;

typedef enum tsql_join {
  JOIN_NONE,
  JOIN_COMMA,
  JOIN_CROSS,
  JOIN_INNER,
  JOIN_LEFT,
  JOIN_RIGHT,
  JOIN_FULL
} tsql_join;

/* A FROM clause is a list: each source is joined to all before it. */
typedef struct tsql_source {
  tsql_join join;
  aloft_text schema; /* absent: none */
  aloft_text name;   /* a table; absent: a derived table */
  aloft_text alias;
  tsql_query *query;
  tsql_item *columns; /* of a derived table's alias: `alias` only */
  tsql_node *on;
  uint32_t line;
  struct tsql_source *next;
} tsql_source;

typedef struct tsql_core {
  bool distinct;
  bool all; /* joined to the core before with UNION ALL */
  bool is_values;
  tsql_node *top;
  tsql_item *items;
  tsql_source *from;
  tsql_node *where;
  tsql_node *group; /* children */
  tsql_node *having;
  uint32_t line;
  struct tsql_core *next;
} tsql_core;

typedef struct tsql_order {
  tsql_node *node;
  bool descending;
  struct tsql_order *next;
} tsql_order;

struct tsql_query {
  tsql_core *cores; /* more than one: UNION */
  tsql_order *order;
  tsql_node *offset;
  tsql_node *fetch;
};

typedef enum tsql_statement_kind {
  STATEMENT_SELECT,
  STATEMENT_INSERT,
  STATEMENT_UPDATE,
  STATEMENT_DELETE,
  STATEMENT_TRUNCATE,
  STATEMENT_CREATE_TABLE,
  STATEMENT_DROP_TABLE,
  STATEMENT_DECLARE,
  STATEMENT_SET, /* SET @x = expression */
  STATEMENT_OPTION,
  STATEMENT_PRINT,
  STATEMENT_RAISERROR,
  STATEMENT_THROW,
  STATEMENT_WAITFOR,
  STATEMENT_BEGIN,
  STATEMENT_COMMIT,
  STATEMENT_ROLLBACK,
  STATEMENT_USE,
  STATEMENT_BRANCH, /* to `target` when `expression` is not true */
  STATEMENT_JUMP,   /* to `target` */
  STATEMENT_RETURN
} tsql_statement_kind;

typedef struct tsql_key {
  bool primary;
  aloft_text name; /* absent: one is made */
  tsql_item *columns;
  struct tsql_key *next;
} tsql_key;

typedef struct tsql_column_definition {
  aloft_text name;
  tsql_type type;
  bool null;
  bool not_null;
  bool identity;
  int64_t seed;
  int64_t increment;
  tsql_node *fallback; /* DEFAULT */
  aloft_text fallback_text;
  struct tsql_column_definition *next;
} tsql_column_definition;

typedef struct tsql_statement {
  tsql_statement_kind kind;
  uint32_t line;
  aloft_text text;
  size_t target;
  aloft_text schema;
  aloft_text name; /* of a table, variable, option, database, transaction */
  aloft_text alias;
  bool if_exists;
  bool default_values;
  tsql_query *query;
  tsql_item *items; /* INSERT's columns (`alias`), SET's (`alias`, `node`) */
  tsql_node *expression;
  tsql_node *where;
  tsql_type type;   /* DECLARE */
  aloft_text value; /* SET option value */
  int64_t number;
  tsql_column_definition *columns;
  tsql_key *keys;
} tsql_statement;

typedef struct tsql_batch {
  tsql_statement **statements;
  size_t count;
  size_t room;
} tsql_batch;

/* Parses all of `text`. Throws, with the line, on anything that is not in the grammar. */
void alo_parse_batch(tsql_context *context, aloft_text text, tsql_batch *batch);

/* "@a int, @b nvarchar(20) output": as DECLARE statements; `number` is 1 for output. */
void alo_parse_declarations(tsql_context *context, aloft_text text, tsql_batch *batch);

/* One expression alone, as DEFAULT keeps it. */
tsql_node *alo_parse_expression(tsql_context *context, aloft_text text);

#endif
