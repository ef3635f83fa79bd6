/* Statements. */
#include "tsql_parse.h"

#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "tsql_error.h"

void alo_parser_init(tsql_parser *p, tsql_context *context, aloft_text text) {
  *p = (tsql_parser){.context = context, .loop_start = SIZE_MAX};
  p->lexer = (tsql_lexer){.context = context, .text = text, .line = 1};
  p->token = alo_lexer_next(&p->lexer);
}

void alo_parser_advance(tsql_parser *p) {
  p->previous = p->token;
  p->token = alo_lexer_next(&p->lexer);
}

tsql_token alo_parser_peek(const tsql_parser *p) {
  tsql_lexer lexer = p->lexer;
  return alo_lexer_next(&lexer);
}

void alo_parser_throw(tsql_parser *p, int number, aloft_text text) {
  tsql_error *error = &p->context->error;
  alo_tsql_error_set(error, number, ALOFT_PRINT(text));
  error->line = p->token.kind == TOKEN_END ? p->previous.line : p->token.line;
  if (error->line == 0)
    error->line = 1;
  alo_rethrow(p->context, error);
}

void alo_parser_fail(tsql_parser *p) {
  const tsql_token *near = p->token.kind == TOKEN_END ? &p->previous : &p->token;
  bool keyword = near->kind == TOKEN_WORD && alo_word_is_reserved(near->text);
  alo_parser_throw(p, keyword ? 156 : 102, near->text);
}

void alo_parser_missing(tsql_parser *p, const char *construct) {
  alo_parser_throw(p, 40510, (aloft_text){construct, strlen(construct)});
}

bool alo_parser_at(const tsql_parser *p, const char *word) {
  return p->token.kind == TOKEN_WORD && alo_word_is(p->token.text, word);
}

bool alo_parser_take(tsql_parser *p, const char *word) {
  if (!alo_parser_at(p, word))
    return false;
  alo_parser_advance(p);
  return true;
}

void alo_parser_expect(tsql_parser *p, const char *word) {
  if (!alo_parser_take(p, word))
    alo_parser_fail(p);
}

bool alo_parser_at_sign(const tsql_parser *p, const char *sign) {
  return p->token.kind == TOKEN_SIGN && p->token.text.size == strlen(sign) &&
         memcmp(p->token.text.data, sign, p->token.text.size) == 0;
}

bool alo_parser_take_sign(tsql_parser *p, const char *sign) {
  if (!alo_parser_at_sign(p, sign))
    return false;
  alo_parser_advance(p);
  return true;
}

void alo_parser_expect_sign(tsql_parser *p, const char *sign) {
  if (!alo_parser_take_sign(p, sign))
    alo_parser_fail(p);
}

bool alo_parser_at_name(const tsql_parser *p) {
  return p->token.kind == TOKEN_NAME ||
         (p->token.kind == TOKEN_WORD && !alo_word_is_reserved(p->token.text));
}

aloft_text alo_parser_name(tsql_parser *p) {
  if (!alo_parser_at_name(p))
    alo_parser_fail(p);
  aloft_text name = p->token.text;
  alo_parser_advance(p);
  return name;
}

void alo_parser_table_name(tsql_parser *p, aloft_text *schema, aloft_text *name) {
  *name = alo_parser_name(p);
  int parts = 1;
  while (alo_parser_take_sign(p, ".")) {
    if (alo_parser_at_sign(p, ".")) {
      alo_parser_missing(p, "database..table");
    }
    if (++parts > 2)
      alo_parser_missing(p, "database.schema.table");
    *schema = *name;
    *name = alo_parser_name(p);
  }
  if (name->size > 0 && name->data[0] == '#')
    alo_parser_missing(p, "temporary table");
}

int64_t alo_parser_integer(tsql_parser *p) {
  bool negative = alo_parser_take_sign(p, "-");
  if (!negative)
    alo_parser_take_sign(p, "+");
  if (p->token.kind != TOKEN_INTEGER)
    alo_parser_fail(p);
  int64_t number = 0;
  for (size_t i = 0; i < p->token.text.size; i++) {
    int digit = p->token.text.data[i] - '0';
    if (number > (INT64_MAX - digit) / 10)
      alo_parser_throw(p, 1007, p->token.text);
    number = number * 10 + digit;
  }
  alo_parser_advance(p);
  return negative ? -number : number;
}

void alo_parser_enter(tsql_parser *p) {
  if (++p->depth > ALO_ENGINE_DEPTH_MAX)
    alo_parser_throw(p, 191, ALOFT_TEXT(""));
}

void alo_parser_leave(tsql_parser *p) {
  p->depth--;
}

tsql_node *alo_node_new(tsql_parser *p, tsql_node_kind kind) {
  tsql_node *node = ALO_NEW(p->context, tsql_node);
  node->kind = kind;
  node->line = p->token.line;
  node->source = p->token.text;
  return node;
}

void alo_node_add(tsql_node *parent, tsql_node *child) {
  if (parent->last)
    parent->last->next = child;
  else
    parent->first = child;
  parent->last = child;
  parent->count++;
}

/* Statements. */

static void parse_statement(tsql_parser *p);

static tsql_statement *add_statement(tsql_parser *p, tsql_statement_kind kind) {
  tsql_batch *batch = p->batch;
  if (batch->count >= ALO_ENGINE_STATEMENTS_MAX)
    alo_parser_missing(p, "more than 20000 statements in a batch");
  if (batch->count == batch->room) {
    size_t room = batch->room ? batch->room * 2 : 16;
    tsql_statement **more = alo_take(p->context, room * sizeof *more);
    if (batch->count > 0)
      memcpy(more, batch->statements, batch->count * sizeof *more);
    batch->statements = more;
    batch->room = room;
  }
  tsql_statement *statement = ALO_NEW(p->context, tsql_statement);
  statement->kind = kind;
  statement->line = p->token.line;
  statement->text.data = p->token.source.data;
  batch->statements[batch->count++] = statement;
  return statement;
}

static void parse_select(tsql_parser *p) {
  tsql_statement *s = add_statement(p, STATEMENT_SELECT);
  s->query = alo_parser_query(p, false);
}

static void refuse_output(tsql_parser *p) {
  if (alo_parser_at(p, "OUTPUT"))
    alo_parser_missing(p, "OUTPUT");
}

static void parse_insert_columns(tsql_parser *p, tsql_statement *s) {
  tsql_item **end = &s->items;
  do {
    tsql_item *item = ALO_NEW(p->context, tsql_item);
    item->alias = alo_parser_name(p);
    *end = item;
    end = &item->next;
  } while (alo_parser_take_sign(p, ","));
  alo_parser_expect_sign(p, ")");
}

static void parse_insert(tsql_parser *p) {
  tsql_statement *s = add_statement(p, STATEMENT_INSERT);
  alo_parser_advance(p);
  if (alo_parser_at(p, "TOP"))
    alo_parser_missing(p, "INSERT TOP");
  alo_parser_take(p, "INTO");
  if (p->token.kind == TOKEN_VARIABLE)
    alo_parser_missing(p, "table variable");
  alo_parser_table_name(p, &s->schema, &s->name);
  if (alo_parser_at(p, "WITH"))
    alo_parser_missing(p, "table hint");
  if (alo_parser_take_sign(p, "("))
    parse_insert_columns(p, s);
  refuse_output(p);
  if (alo_parser_take(p, "DEFAULT")) {
    alo_parser_expect(p, "VALUES");
    s->default_values = true;
    return;
  }
  if (alo_parser_at(p, "EXEC") || alo_parser_at(p, "EXECUTE"))
    alo_parser_missing(p, "INSERT ... EXECUTE");
  if (!alo_parser_at(p, "VALUES") && !alo_parser_at(p, "SELECT"))
    alo_parser_fail(p);
  s->query = alo_parser_query(p, true);
}

static void parse_assignments(tsql_parser *p, tsql_statement *s) {
  tsql_item **end = &s->items;
  do {
    tsql_item *item = ALO_NEW(p->context, tsql_item);
    if (p->token.kind == TOKEN_VARIABLE)
      alo_parser_missing(p, "UPDATE ... SET @variable");
    item->alias = alo_parser_name(p);
    if (alo_parser_take_sign(p, ".")) /* the table's name before the column's */
      item->alias = alo_parser_name(p);
    if (p->token.kind == TOKEN_SIGN && p->token.text.size == 2 && p->token.text.data[1] == '=')
      alo_parser_missing(p, "compound assignment");
    alo_parser_expect_sign(p, "=");
    item->node = alo_parser_expression(p);
    *end = item;
    end = &item->next;
  } while (alo_parser_take_sign(p, ","));
}

static void parse_where(tsql_parser *p, tsql_statement *s, const char *with_from) {
  refuse_output(p);
  if (alo_parser_at(p, "FROM"))
    alo_parser_missing(p, with_from);
  if (alo_parser_take(p, "WHERE")) {
    if (alo_parser_at(p, "CURRENT"))
      alo_parser_missing(p, "CURRENT OF");
    s->where = alo_parser_expression(p);
  }
  if (alo_parser_at(p, "OPTION"))
    alo_parser_missing(p, "OPTION");
}

static void parse_update(tsql_parser *p) {
  tsql_statement *s = add_statement(p, STATEMENT_UPDATE);
  alo_parser_advance(p);
  if (alo_parser_at(p, "TOP"))
    alo_parser_missing(p, "UPDATE TOP");
  if (alo_parser_at(p, "STATISTICS"))
    alo_parser_missing(p, "UPDATE STATISTICS");
  alo_parser_table_name(p, &s->schema, &s->name);
  if (alo_parser_at(p, "WITH"))
    alo_parser_missing(p, "table hint");
  alo_parser_expect(p, "SET");
  parse_assignments(p, s);
  parse_where(p, s, "UPDATE ... FROM");
}

static void parse_delete(tsql_parser *p) {
  tsql_statement *s = add_statement(p, STATEMENT_DELETE);
  alo_parser_advance(p);
  if (alo_parser_at(p, "TOP"))
    alo_parser_missing(p, "DELETE TOP");
  alo_parser_take(p, "FROM");
  alo_parser_table_name(p, &s->schema, &s->name);
  if (alo_parser_at(p, "WITH"))
    alo_parser_missing(p, "table hint");
  parse_where(p, s, "DELETE ... FROM ... FROM");
}

static void parse_truncate(tsql_parser *p) {
  tsql_statement *s = add_statement(p, STATEMENT_TRUNCATE);
  alo_parser_advance(p);
  alo_parser_expect(p, "TABLE");
  alo_parser_table_name(p, &s->schema, &s->name);
}

/* CREATE TABLE. */

static tsql_item *parse_key_columns(tsql_parser *p) {
  tsql_item *first = NULL;
  tsql_item **end = &first;
  alo_parser_expect_sign(p, "(");
  do {
    tsql_item *item = ALO_NEW(p->context, tsql_item);
    item->alias = alo_parser_name(p);
    if (!alo_parser_take(p, "ASC"))
      alo_parser_take(p, "DESC");
    *end = item;
    end = &item->next;
  } while (alo_parser_take_sign(p, ","));
  alo_parser_expect_sign(p, ")");
  return first;
}

static void add_key(tsql_statement *s, tsql_key *key) {
  tsql_key **end = &s->keys;
  while (*end)
    end = &(*end)->next;
  *end = key;
}

/* PRIMARY KEY or UNIQUE, of a column when `column` is given, else of the table. */
static bool parse_key(tsql_parser *p, tsql_statement *s, aloft_text name, aloft_text column) {
  tsql_key *key = ALO_NEW(p->context, tsql_key);
  key->name = name;
  if (alo_parser_take(p, "PRIMARY")) {
    alo_parser_expect(p, "KEY");
    key->primary = true;
  } else if (!alo_parser_take(p, "UNIQUE")) {
    return false;
  }
  if (!alo_parser_take(p, "CLUSTERED"))
    alo_parser_take(p, "NONCLUSTERED");
  if (column.data && !alo_parser_at_sign(p, "(")) {
    key->columns = ALO_NEW(p->context, tsql_item);
    key->columns->alias = column;
  } else {
    key->columns = parse_key_columns(p);
  }
  if (alo_parser_at(p, "WITH") || alo_parser_at(p, "ON"))
    alo_parser_missing(p, "index option");
  add_key(s, key);
  return true;
}

static void refuse_constraint(tsql_parser *p) {
  static const char *const missing[] = {"CHECK",     "FOREIGN",    "REFERENCES", "COLLATE",
                                        "SPARSE",    "ROWGUIDCOL", "GENERATED",  "MASKED",
                                        "ENCRYPTED", "INDEX",      "FILESTREAM", "PERIOD"};
  for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
    if (alo_parser_at(p, missing[i]))
      alo_parser_missing(p, missing[i]);
}

static void parse_default(tsql_parser *p, tsql_column_definition *column) {
  const char *start = p->token.source.data;
  column->fallback = alo_parser_expression(p);
  const char *end = p->previous.source.data + p->previous.source.size;
  column->fallback_text = (aloft_text){start, (size_t)(end - start)};
}

static void parse_identity(tsql_parser *p, tsql_column_definition *column) {
  column->identity = true;
  column->seed = 1;
  column->increment = 1;
  if (!alo_parser_take_sign(p, "("))
    return;
  column->seed = alo_parser_integer(p);
  alo_parser_expect_sign(p, ",");
  column->increment = alo_parser_integer(p);
  alo_parser_expect_sign(p, ")");
}

static void parse_column_options(tsql_parser *p, tsql_statement *s,
                                 tsql_column_definition *column) {
  for (;;) {
    aloft_text name = {NULL, 0};
    refuse_constraint(p);
    if (alo_parser_take(p, "CONSTRAINT"))
      name = alo_parser_name(p);
    refuse_constraint(p);
    if (alo_parser_take(p, "NULL")) {
      column->null = true;
    } else if (alo_parser_take(p, "NOT")) {
      alo_parser_expect(p, "NULL");
      column->not_null = true;
    } else if (alo_parser_take(p, "IDENTITY")) {
      parse_identity(p, column);
    } else if (alo_parser_take(p, "DEFAULT")) {
      parse_default(p, column);
    } else if (!parse_key(p, s, name, column->name)) {
      if (name.data)
        alo_parser_fail(p);
      return;
    }
  }
}

static tsql_column_definition *parse_column(tsql_parser *p, tsql_statement *s) {
  tsql_column_definition *column = ALO_NEW(p->context, tsql_column_definition);
  column->name = alo_parser_name(p);
  if (alo_parser_at(p, "AS"))
    alo_parser_missing(p, "computed column");
  column->type = alo_parser_type(p);
  bool sized = alo_kind_is_text(column->type.kind) || alo_kind_is_binary(column->type.kind);
  if (sized && column->type.length == 0)
    column->type.length = 1;
  parse_column_options(p, s, column);
  return column;
}

static void parse_create(tsql_parser *p) {
  tsql_statement *s = add_statement(p, STATEMENT_CREATE_TABLE);
  alo_parser_advance(p);
  if (!alo_parser_take(p, "TABLE")) {
    static const char *const kinds[] = {
        "VIEW",      "INDEX", "PROCEDURE",    "PROC",       "FUNCTION", "TRIGGER", "SCHEMA",
        "DATABASE",  "LOGIN", "USER",         "TYPE",       "SEQUENCE", "SYNONYM", "UNIQUE",
        "CLUSTERED", "OR",    "NONCLUSTERED", "STATISTICS", "ROLE",     "EXTERNAL"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
      if (alo_parser_at(p, kinds[i])) {
        char text[40] = "CREATE ";
        memcpy(text + 7, kinds[i], strlen(kinds[i]) + 1);
        alo_parser_missing(p, text);
      }
    alo_parser_fail(p);
  }
  alo_parser_table_name(p, &s->schema, &s->name);
  alo_parser_expect_sign(p, "(");
  tsql_column_definition **end = &s->columns;
  do {
    if (alo_parser_at_sign(p, ")"))
      break; /* a comma before the end is allowed */
    refuse_constraint(p);
    aloft_text name = {NULL, 0};
    if (alo_parser_take(p, "CONSTRAINT"))
      name = alo_parser_name(p);
    refuse_constraint(p);
    if (parse_key(p, s, name, (aloft_text){NULL, 0}))
      continue;
    if (name.data)
      alo_parser_fail(p);
    *end = parse_column(p, s);
    end = &(*end)->next;
  } while (alo_parser_take_sign(p, ","));
  alo_parser_expect_sign(p, ")");
  if (alo_parser_at(p, "ON") || alo_parser_at(p, "WITH") || alo_parser_at(p, "TEXTIMAGE_ON"))
    alo_parser_missing(p, "storage option of CREATE TABLE");
  if (!s->columns)
    alo_parser_fail(p);
}

static void parse_drop(tsql_parser *p) {
  const char *begin = p->token.source.data;
  alo_parser_advance(p);
  if (!alo_parser_take(p, "TABLE"))
    alo_parser_missing(p, "DROP (other than TABLE)");
  bool if_exists = false;
  if (alo_parser_take(p, "IF")) {
    alo_parser_expect(p, "EXISTS");
    if_exists = true;
  }
  do {
    tsql_statement *s = add_statement(p, STATEMENT_DROP_TABLE);
    s->text.data = begin;
    s->if_exists = if_exists;
    alo_parser_table_name(p, &s->schema, &s->name);
  } while (alo_parser_take_sign(p, ","));
}

/* Variables. */

static aloft_text parse_variable_name(tsql_parser *p) {
  if (p->token.kind != TOKEN_VARIABLE || p->token.text.size < 2 || p->token.text.data[1] == '@')
    alo_parser_fail(p);
  aloft_text name = p->token.text;
  alo_parser_advance(p);
  return name;
}

static tsql_type variable_type(tsql_parser *p) {
  alo_parser_take(p, "AS");
  tsql_type type = alo_parser_type(p);
  if ((alo_kind_is_text(type.kind) || alo_kind_is_binary(type.kind)) && type.length == 0)
    type.length = 1;
  return type;
}

static void parse_declare(tsql_parser *p) {
  alo_parser_advance(p);
  if (p->token.kind != TOKEN_VARIABLE)
    alo_parser_missing(p, "DECLARE CURSOR");
  do {
    tsql_statement *s = add_statement(p, STATEMENT_DECLARE);
    s->name = parse_variable_name(p);
    s->type = variable_type(p);
    if (alo_parser_take_sign(p, "="))
      s->expression = alo_parser_expression(p);
  } while (alo_parser_take_sign(p, ","));
}

static void parse_set_variable(tsql_parser *p) {
  tsql_statement *s = add_statement(p, STATEMENT_SET);
  s->name = parse_variable_name(p);
  if (alo_parser_at_sign(p, "."))
    alo_parser_missing(p, "method call");
  char op = 0;
  if (p->token.kind == TOKEN_SIGN && p->token.text.size == 2 && p->token.text.data[1] == '=' &&
      strchr("+-*/%&|^", p->token.text.data[0]))
    op = p->token.text.data[0];
  tsql_node *variable = alo_node_new(p, NODE_VARIABLE);
  variable->name = s->name;
  if (op)
    alo_parser_advance(p);
  else
    alo_parser_expect_sign(p, "=");
  s->expression = alo_parser_expression(p);
  if (!op)
    return;
  tsql_node *sum = alo_node_new(p, NODE_ARITHMETIC);
  sum->op = op;
  alo_node_add(sum, variable);
  alo_node_add(sum, s->expression);
  s->expression = sum;
}

static bool take_on_off(tsql_parser *p, bool *on) {
  *on = alo_parser_at(p, "ON");
  return alo_parser_take(p, "ON") || alo_parser_take(p, "OFF");
}

/* SET a[, b...] ON|OFF, SET name value. What a value means is the executor's. */
static void parse_set(tsql_parser *p) {
  const char *start = p->token.source.data;
  uint32_t line = p->token.line;
  alo_parser_advance(p);
  if (p->token.kind == TOKEN_VARIABLE) {
    parse_set_variable(p);
    return;
  }
  size_t first = p->batch->count;
  do {
    tsql_statement *s = add_statement(p, STATEMENT_OPTION);
    s->text.data = start;
    s->line = line;
    if (p->token.kind != TOKEN_WORD)
      alo_parser_fail(p);
    s->name = p->token.text;
    alo_parser_advance(p);
  } while (alo_parser_take_sign(p, ","));
  tsql_statement *s = p->batch->statements[first];
  aloft_text value = {NULL, 0};
  int64_t number = 0;
  bool on;
  if (alo_parser_take(p, "ISOLATION")) {
    alo_parser_expect(p, "LEVEL");
    s->name = ALOFT_TEXT("TRANSACTION ISOLATION LEVEL");
    value = p->token.text;
    if (alo_parser_take(p, "READ") || alo_parser_take(p, "REPEATABLE"))
      value.size = (size_t)(p->token.text.data + p->token.text.size - value.data);
    alo_parser_advance(p);
  } else if (take_on_off(p, &on)) {
    value = on ? ALOFT_TEXT("ON") : ALOFT_TEXT("OFF");
  } else if (p->token.kind == TOKEN_INTEGER || alo_parser_at_sign(p, "-")) {
    number = alo_parser_integer(p);
  } else if (p->token.kind == TOKEN_WORD || p->token.kind == TOKEN_NAME ||
             p->token.kind == TOKEN_STRING || p->token.kind == TOKEN_NSTRING) {
    value = p->token.text;
    alo_parser_advance(p);
    if (alo_word_is(s->name, "IDENTITY_INSERT") || alo_word_is(s->name, "STATISTICS"))
      alo_parser_missing(p, alo_word_is(s->name, "STATISTICS") ? "SET STATISTICS"
                                                               : "SET IDENTITY_INSERT");
  } else {
    alo_parser_fail(p);
  }
  for (size_t i = first; i < p->batch->count; i++) {
    p->batch->statements[i]->value = value;
    p->batch->statements[i]->number = number;
  }
}

/* Control of flow. */

static size_t add_branch(tsql_parser *p, tsql_node *condition) {
  tsql_statement *s = add_statement(p, STATEMENT_BRANCH);
  s->expression = condition;
  s->line = condition->line;
  return p->batch->count - 1;
}

static size_t add_jump(tsql_parser *p) {
  add_statement(p, STATEMENT_JUMP);
  return p->batch->count - 1;
}

static void land(tsql_parser *p, size_t jump) {
  p->batch->statements[jump]->target = p->batch->count;
}

static void take_semicolons(tsql_parser *p) {
  while (alo_parser_take_sign(p, ";"))
    ;
}

static void parse_if(tsql_parser *p) {
  alo_parser_advance(p);
  size_t branch = add_branch(p, alo_parser_expression(p));
  parse_statement(p);
  tsql_parser saved = *p;
  take_semicolons(p);
  if (!alo_parser_take(p, "ELSE")) {
    *p = saved;
    land(p, branch);
    return;
  }
  size_t jump = add_jump(p);
  land(p, branch);
  parse_statement(p);
  land(p, jump);
}

enum { BREAKS_MAX = 64 };

static void parse_while(tsql_parser *p) {
  size_t outer_start = p->loop_start;
  size_t *outer_breaks = p->breaks;
  size_t outer_count = p->break_count;
  p->loop_start = p->batch->count;
  p->breaks = alo_take(p->context, BREAKS_MAX * sizeof *p->breaks);
  p->break_count = 0;
  alo_parser_advance(p);
  size_t branch = add_branch(p, alo_parser_expression(p));
  parse_statement(p);
  size_t back = add_jump(p);
  p->batch->statements[back]->target = p->loop_start;
  land(p, branch);
  for (size_t i = 0; i < p->break_count; i++)
    land(p, p->breaks[i]);
  p->loop_start = outer_start;
  p->breaks = outer_breaks;
  p->break_count = outer_count;
}

static void parse_loop_exit(tsql_parser *p) {
  bool leave = alo_parser_at(p, "BREAK");
  if (p->loop_start == SIZE_MAX || p->break_count >= BREAKS_MAX)
    alo_parser_fail(p);
  alo_parser_advance(p);
  size_t jump = add_jump(p);
  if (leave)
    p->breaks[p->break_count++] = jump;
  else
    p->batch->statements[jump]->target = p->loop_start;
}

static void parse_transaction(tsql_parser *p, tsql_statement_kind kind) {
  tsql_statement *s = add_statement(p, kind);
  if (alo_parser_at_name(p)) {
    s->name = alo_parser_name(p);
  } else if (p->token.kind == TOKEN_VARIABLE) {
    alo_parser_missing(p, "transaction name in a variable");
  }
  if (alo_parser_at(p, "WITH"))
    alo_parser_missing(p, "WITH MARK");
}

static void parse_begin(tsql_parser *p) {
  alo_parser_advance(p);
  if (alo_parser_take(p, "TRAN") || alo_parser_take(p, "TRANSACTION")) {
    parse_transaction(p, STATEMENT_BEGIN);
    return;
  }
  if (alo_parser_at(p, "DISTRIBUTED"))
    alo_parser_missing(p, "BEGIN DISTRIBUTED TRANSACTION");
  if (alo_parser_at(p, "TRY") || alo_parser_at(p, "CATCH"))
    alo_parser_missing(p, "TRY ... CATCH");
  if (alo_parser_at(p, "ATOMIC") || alo_parser_at(p, "DIALOG") || alo_parser_at(p, "CONVERSATION"))
    alo_parser_missing(p, "BEGIN ATOMIC | DIALOG | CONVERSATION");
  take_semicolons(p);
  do {
    parse_statement(p);
    take_semicolons(p);
  } while (!alo_parser_take(p, "END"));
}

static void parse_commit(tsql_parser *p, tsql_statement_kind kind) {
  alo_parser_advance(p);
  if (alo_parser_take(p, "TRAN") || alo_parser_take(p, "TRANSACTION")) {
    parse_transaction(p, kind);
    return;
  }
  if (p->token.kind == TOKEN_WORD && alo_word_is(p->token.text, "WORK"))
    alo_parser_advance(p);
  add_statement(p, kind);
}

/* Messages. */

static void parse_print(tsql_parser *p) {
  tsql_statement *s = add_statement(p, STATEMENT_PRINT);
  alo_parser_advance(p);
  s->expression = alo_parser_expression(p);
}

static void parse_raiserror(tsql_parser *p) {
  tsql_statement *s = add_statement(p, STATEMENT_RAISERROR);
  alo_parser_advance(p);
  if (!alo_parser_at_sign(p, "("))
    alo_parser_missing(p, "RAISERROR without parentheses");
  alo_parser_advance(p);
  s->expression = alo_node_new(p, NODE_AND);
  do
    alo_node_add(s->expression, alo_parser_expression(p));
  while (alo_parser_take_sign(p, ","));
  alo_parser_expect_sign(p, ")");
  if (s->expression->count > 3)
    alo_parser_missing(p, "RAISERROR with arguments");
  if (s->expression->count < 3)
    alo_parser_fail(p);
  if (!alo_parser_take(p, "WITH"))
    return;
  if (!alo_parser_take(p, "NOWAIT"))
    alo_parser_missing(p, "RAISERROR WITH LOG | SETERROR");
}

static void parse_throw(tsql_parser *p) {
  tsql_statement *s = add_statement(p, STATEMENT_THROW);
  alo_parser_advance(p);
  if (p->token.kind == TOKEN_END || alo_parser_at_sign(p, ";"))
    alo_parser_missing(p, "THROW without arguments");
  s->expression = alo_node_new(p, NODE_AND);
  do
    alo_node_add(s->expression, alo_parser_expression(p));
  while (alo_parser_take_sign(p, ","));
  if (s->expression->count != 3)
    alo_parser_fail(p);
}

static void parse_waitfor(tsql_parser *p) {
  tsql_statement *s = add_statement(p, STATEMENT_WAITFOR);
  alo_parser_advance(p);
  if (!alo_parser_take(p, "DELAY"))
    alo_parser_missing(p, "WAITFOR (other than DELAY)");
  s->expression = alo_parser_expression(p);
}

static void parse_use(tsql_parser *p) {
  tsql_statement *s = add_statement(p, STATEMENT_USE);
  alo_parser_advance(p);
  s->name = alo_parser_name(p);
}

static void parse_return(tsql_parser *p) {
  add_statement(p, STATEMENT_RETURN);
  alo_parser_advance(p);
}

static void parse_commit_statement(tsql_parser *p) {
  parse_commit(p, STATEMENT_COMMIT);
}

static void parse_rollback(tsql_parser *p) {
  parse_commit(p, STATEMENT_ROLLBACK);
}

static const struct {
  const char *word;
  void (*parse)(tsql_parser *);
} starts[] = {{"SELECT", parse_select},
              {"INSERT", parse_insert},
              {"UPDATE", parse_update},
              {"DELETE", parse_delete},
              {"TRUNCATE", parse_truncate},
              {"CREATE", parse_create},
              {"DROP", parse_drop},
              {"DECLARE", parse_declare},
              {"SET", parse_set},
              {"IF", parse_if},
              {"WHILE", parse_while},
              {"BREAK", parse_loop_exit},
              {"CONTINUE", parse_loop_exit},
              {"BEGIN", parse_begin},
              {"COMMIT", parse_commit_statement},
              {"ROLLBACK", parse_rollback},
              {"PRINT", parse_print},
              {"RAISERROR", parse_raiserror},
              {"THROW", parse_throw},
              {"WAITFOR", parse_waitfor},
              {"USE", parse_use},
              {"RETURN", parse_return}};

/* Statements of T-SQL that lite does not have. */
static const char *const missing_starts[] = {
    "MERGE",    "WITH",       "ALTER",       "GRANT",    "DENY",      "REVOKE",
    "EXEC",     "EXECUTE",    "OPEN",        "CLOSE",    "FETCH",     "DEALLOCATE",
    "BACKUP",   "RESTORE",    "BULK",        "DBCC",     "KILL",      "GOTO",
    "SHUTDOWN", "CHECKPOINT", "RECONFIGURE", "READTEXT", "WRITETEXT", "UPDATETEXT",
    "SAVE",     "DISABLE",    "ENABLE",      "RECEIVE",  "SEND",      "SETUSER",
    "REVERT",   "LINENO",     "GO",          "DUMP",     "LOAD",      "VALUES"};

static void refuse_start(tsql_parser *p) {
  for (size_t i = 0; i < sizeof missing_starts / sizeof *missing_starts; i++)
    if (alo_parser_at(p, missing_starts[i]))
      alo_parser_missing(p, missing_starts[i]);
  if (alo_parser_at_sign(p, "("))
    alo_parser_missing(p, "query in parentheses");
  tsql_token after = alo_parser_peek(p);
  if (p->token.kind == TOKEN_WORD && after.kind == TOKEN_SIGN && after.text.data[0] == ':')
    alo_parser_missing(p, "label");
  alo_parser_fail(p);
}

static void parse_statement(tsql_parser *p) {
  alo_parser_enter(p);
  size_t first = p->batch->count;
  size_t i = 0;
  size_t count = sizeof starts / sizeof *starts;
  while (i < count && !alo_parser_at(p, starts[i].word))
    i++;
  if (i == count)
    refuse_start(p);
  starts[i].parse(p);
  const char *end = p->previous.source.data + p->previous.source.size;
  for (size_t j = first; j < p->batch->count; j++)
    if (p->batch->statements[j]->text.size == 0 && p->batch->statements[j]->text.data &&
        p->batch->statements[j]->text.data < end)
      p->batch->statements[j]->text.size = (size_t)(end - p->batch->statements[j]->text.data);
  alo_parser_leave(p);
}

void alo_parse_batch(tsql_context *context, aloft_text text, tsql_batch *batch) {
  tsql_parser parser;
  alo_parser_init(&parser, context, text);
  parser.batch = batch;
  take_semicolons(&parser);
  while (parser.token.kind != TOKEN_END) {
    parse_statement(&parser);
    take_semicolons(&parser);
  }
}

void alo_parse_declarations(tsql_context *context, aloft_text text, tsql_batch *batch) {
  tsql_parser parser;
  alo_parser_init(&parser, context, text);
  parser.batch = batch;
  if (parser.token.kind == TOKEN_END)
    return;
  do {
    tsql_statement *s = add_statement(&parser, STATEMENT_DECLARE);
    s->name = parse_variable_name(&parser);
    s->type = variable_type(&parser);
    if (alo_parser_take_sign(&parser, "="))
      s->expression = alo_parser_expression(&parser);
    s->number = alo_parser_take(&parser, "OUTPUT") || alo_parser_take(&parser, "OUT");
  } while (alo_parser_take_sign(&parser, ","));
  if (parser.token.kind != TOKEN_END)
    alo_parser_fail(&parser);
}

tsql_node *alo_parse_expression(tsql_context *context, aloft_text text) {
  tsql_parser parser;
  alo_parser_init(&parser, context, text);
  return alo_parser_expression(&parser);
}
