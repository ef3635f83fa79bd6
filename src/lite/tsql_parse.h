/* The parser's own parts: recursive descent over one token. Everything throws. */
#ifndef ALO_TSQL_PARSE_H
#define ALO_TSQL_PARSE_H

#include "tsql_token.h"
#include "tsql_tree.h"

typedef struct tsql_parser {
  tsql_context *context;
  tsql_lexer lexer;
  tsql_token token;    /* the one to look at */
  tsql_token previous; /* the one behind */
  int depth;
  tsql_batch *batch;
  size_t loop_start; /* WHILE: where CONTINUE goes; SIZE_MAX outside */
  size_t *breaks;    /* BREAKs of the innermost WHILE */
  size_t break_count;
} tsql_parser;

void alo_parser_init(tsql_parser *parser, tsql_context *context, aloft_text text);
void alo_parser_advance(tsql_parser *parser);
tsql_token alo_parser_peek(const tsql_parser *parser); /* the token after `token` */

/* 102 or 156 near the token. */
_Noreturn void alo_parser_fail(tsql_parser *parser);
/* 40510, naming the construct. */
_Noreturn void alo_parser_missing(tsql_parser *parser, const char *construct);
_Noreturn void alo_parser_throw(tsql_parser *parser, int number, aloft_text text);

/* Keywords in capitals; never a bracketed name. */
bool alo_parser_at(const tsql_parser *parser, const char *word);
bool alo_parser_take(tsql_parser *parser, const char *word);
void alo_parser_expect(tsql_parser *parser, const char *word);
bool alo_parser_at_sign(const tsql_parser *parser, const char *sign);
bool alo_parser_take_sign(tsql_parser *parser, const char *sign);
void alo_parser_expect_sign(tsql_parser *parser, const char *sign);
bool alo_parser_at_name(const tsql_parser *parser);
aloft_text alo_parser_name(tsql_parser *parser);
/* [database.][schema.]name; another database than this one is refused by the binder as schema. */
void alo_parser_table_name(tsql_parser *parser, aloft_text *schema, aloft_text *name);
int64_t alo_parser_integer(tsql_parser *parser); /* with a sign */

/* Every nesting passes here: 191 beyond the limit. */
void alo_parser_enter(tsql_parser *parser);
void alo_parser_leave(tsql_parser *parser);

tsql_node *alo_node_new(tsql_parser *parser, tsql_node_kind kind);
void alo_node_add(tsql_node *parent, tsql_node *child);

tsql_node *alo_parser_expression(tsql_parser *parser); /* a value or a condition */
tsql_type alo_parser_type(tsql_parser *parser);
tsql_query *alo_parser_query(tsql_parser *parser, bool statement);
tsql_node *alo_parser_top(tsql_parser *parser);

#endif
