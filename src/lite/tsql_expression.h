/* Typed expressions: what a tree of nodes becomes when names and types are known. SQLite computes
 * their inputs (columns, aggregates, subqueries), alo_evaluate the rest, in T-SQL's way. */
#ifndef ALO_TSQL_EXPRESSION_H
#define ALO_TSQL_EXPRESSION_H

#include "tsql_context.h"
#include "tsql_time.h"
#include "tsql_tree.h"
#include "tsql_value.h"

typedef struct tsql_expression tsql_expression;
typedef struct tsql_scope tsql_scope;
typedef struct tsql_environment tsql_environment;
typedef struct tsql_function tsql_function;

typedef enum tsql_expression_kind {
  EXPRESSION_CONSTANT,
  EXPRESSION_VARIABLE, /* `slot` of the environment's variables */
  EXPRESSION_INPUT,    /* `sql`; `slot` of the program's inputs */
  EXPRESSION_CONVERT,  /* of one child; `style` */
  EXPRESSION_ASSIGN,   /* like CONVERT, into `target`: errors 2628 and, if `required`, 515 */
  EXPRESSION_NEGATE,
  EXPRESSION_INVERT,
  EXPRESSION_ARITHMETIC, /* both children of their own number types; `op` */
  EXPRESSION_CONCAT,     /* text or binary */
  EXPRESSION_COMPARE,    /* children of one type; `op` as the node's */
  EXPRESSION_AND,
  EXPRESSION_OR,
  EXPRESSION_NOT,
  EXPRESSION_IN, /* all children of one type */
  EXPRESSION_LIKE,
  EXPRESSION_IS_NULL,
  EXPRESSION_CASE, /* condition, result, ..., else */
  EXPRESSION_COALESCE,
  EXPRESSION_CALL /* `function` */
} tsql_expression_kind;

typedef enum tsql_input_kind { INPUT_COLUMN, INPUT_AGGREGATE, INPUT_SUBQUERY } tsql_input_kind;

struct tsql_expression {
  tsql_expression_kind kind;
  tsql_type type;
  bool nullable;
  bool is_null;    /* the literal NULL: takes any type */
  bool is_literal; /* a number as written: its own digits count as decimal's precision */
  bool negated;
  bool required;
  char op;
  uint32_t count;
  int style;
  tsql_part part;
  size_t slot;
  tsql_expression *first;
  tsql_expression *last;
  tsql_expression *next;
  tsql_value value;
  const tsql_function *function;
  tsql_target target;
  aloft_text fails; /* "INSERT" or "UPDATE", for 515 */
  /* INPUT */
  tsql_input_kind input;
  aloft_text sql;
  aloft_text name; /* a column's, for messages: table.column */
  const tsql_scope *scope;
  const struct tsql_bound_column *column;
  struct tsql_reference *references; /* a subquery's, to columns outside it */
};

typedef struct tsql_reference {
  tsql_expression *column;
  struct tsql_reference *next;
} tsql_reference;

typedef struct tsql_variable {
  aloft_text name;
  tsql_type type;
  tsql_value value; /* its memory is the batch's */
  bool output;
} tsql_variable;

/* What expressions see of the session. */
struct tsql_environment {
  tsql_variable *variables;
  size_t variable_count;
  int64_t now; /* ticks since 0001-01-01, UTC; the same throughout a statement */
  aloft_text user;
  aloft_text database;
  aloft_text server;
  aloft_text application;
  uint16_t spid;
  int64_t row_count;
  int32_t last_error;
  int32_t transaction_count;
  tsql_value identity; /* numeric(38,0) */
  bool (*table_exists)(const tsql_environment *, aloft_text name, int64_t *id);
  void *session;
};

/* A function's arguments have been converted as its `bind` wished. */
struct tsql_function {
  const char *name;
  uint8_t least;
  uint8_t most;
  bool null_in_null_out; /* NULL when an argument is, without a call */
  bool is_volatile;      /* NEWID: never computed ahead */
  void (*bind)(tsql_context *context, tsql_expression *call);
  tsql_value (*evaluate)(tsql_context *context, const tsql_environment *environment,
                         const tsql_expression *call, const tsql_value *arguments);
};
const tsql_function *alo_function_find(aloft_text name); /* or NULL */
bool alo_function_is_missing(aloft_text name);           /* T-SQL has it, lite has not */

enum { TSQL_ARGUMENTS_MAX = 32 };

void alo_expression_add(tsql_expression *parent, tsql_expression *child);
bool alo_expression_equal(const tsql_expression *a, const tsql_expression *b);
/* True when a value of `from` is kept in the same way as one of `to`: nothing is to be done. */
bool alo_expression_same_storage(tsql_type from, tsql_type to);
/* Wraps in a conversion, if one is needed. `implicit`: 206 where only CAST may. */
tsql_expression *alo_expression_convert(tsql_context *context, tsql_expression *expression,
                                        tsql_type to, bool implicit);
/* Converts a child in its parent's list. */
void alo_expression_convert_child(tsql_context *context, tsql_expression *parent,
                                  tsql_expression *child, tsql_type to);

/* The value, or a throw. */
tsql_value alo_evaluate(tsql_context *context, const tsql_environment *environment,
                        const tsql_expression *expression, const tsql_value *inputs);

#endif
