/* Expressions and conditions, and type names. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "tsql_parse.h"
#include "tsql_text.h"

static tsql_node *parse_value(tsql_parser *p);
static tsql_node *parse_condition(tsql_parser *p);

static tsql_node *parent_of(tsql_parser *p, tsql_node_kind kind, tsql_node *child) {
  tsql_node *node = alo_node_new(p, kind);
  node->source = child->source;
  alo_node_add(node, child);
  return node;
}

/* Constants. */

static tsql_node *constant(tsql_parser *p, tsql_type type, tsql_value value) {
  tsql_node *node = alo_node_new(p, NODE_CONSTANT);
  node->type = type;
  node->value = value;
  alo_parser_advance(p);
  return node;
}

static tsql_node *parse_decimal(tsql_parser *p) {
  tsql_value value = {0};
  int precision;
  int scale;
  if (!alo_decimal_parse(p->token.text, &value.decimal, &precision, &scale))
    alo_parser_throw(p, 1007, p->token.text);
  if (precision < scale)
    precision = scale;
  tsql_type type = alo_type_decimal(precision, scale);
  type.numeric = true;
  int64_t integer;
  if (p->token.kind == TOKEN_INTEGER && alo_decimal_to_int64(&value.decimal, &integer) &&
      integer <= INT32_MAX)
    return constant(p, alo_type_plain(TSQL_INT), (tsql_value){.integer = integer});
  return constant(p, type, value);
}

static tsql_node *parse_float(tsql_parser *p) {
  char copy[400];
  aloft_text text = p->token.text;
  if (text.size >= sizeof copy)
    alo_parser_throw(p, 168, text);
  memcpy(copy, text.data, text.size);
  copy[text.size] = 0;
  double number = strtod(copy, NULL);
  if (number > 1.7976931348623157e308)
    alo_parser_throw(p, 168, text);
  return constant(p, alo_type_plain(TSQL_FLOAT), (tsql_value){.real = number});
}

static tsql_node *parse_string(tsql_parser *p) {
  aloft_text text = p->token.text;
  bool wide = p->token.kind == TOKEN_NSTRING;
  if (!wide && !alo_text_is_narrow(text)) {
    char *out = alo_take(p->context, text.size + 1);
    text = (aloft_text){out, alo_text_to_narrow(text, out)};
  }
  size_t units = alo_text_units(text);
  size_t most = wide ? TSQL_WIDE_MAX : TSQL_NARROW_MAX;
  uint64_t length = units > most ? TSQL_MAX : units > 0 ? units : 1;
  return constant(p, alo_type_sized(wide ? TSQL_NVARCHAR : TSQL_VARCHAR, length),
                  (tsql_value){.text = text});
}

static int hex_digit(char c) {
  return c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
}

static tsql_node *parse_binary(tsql_parser *p) {
  aloft_text digits = {p->token.text.data + 2, p->token.text.size - 2};
  char *bytes = alo_take(p->context, digits.size / 2 + 2);
  size_t odd = digits.size % 2;
  for (size_t i = 0; i < digits.size; i++) {
    char *byte = &bytes[(i + odd) / 2];
    *byte = (char)((uint8_t)*byte << 4 | hex_digit(digits.data[i]));
  }
  size_t size = (digits.size + odd) / 2;
  uint64_t length = size > TSQL_NARROW_MAX ? TSQL_MAX : size > 0 ? size : 1;
  return constant(p, alo_type_sized(TSQL_VARBINARY, length), (tsql_value){.text = {bytes, size}});
}

/* Types. */

static int parse_size(tsql_parser *p) {
  if (p->token.kind != TOKEN_INTEGER)
    alo_parser_fail(p);
  int64_t size = alo_parser_integer(p);
  return size > 1000000 ? 1000000 : (int)size;
}

static tsql_type sized_type(tsql_parser *p, tsql_kind kind) {
  aloft_text name = alo_type_name(alo_type_plain(kind));
  if (!alo_parser_take_sign(p, "(")) {
    /* In CAST the default is 30, elsewhere 1: the caller knows by length 0. */
    return alo_type_sized(kind, 0);
  }
  tsql_type type;
  bool varying = kind == TSQL_VARCHAR || kind == TSQL_NVARCHAR || kind == TSQL_VARBINARY;
  if (varying && alo_parser_take(p, "MAX")) {
    type = alo_type_sized(kind, TSQL_MAX);
  } else {
    int size = parse_size(p);
    int most = alo_kind_is_wide(kind) ? TSQL_WIDE_MAX : TSQL_NARROW_MAX;
    if (size < 1 || size > most)
      alo_throw(p->context, 2717, size, ALOFT_PRINT(name), most);
    type = alo_type_sized(kind, (uint64_t)size);
  }
  alo_parser_expect_sign(p, ")");
  return type;
}

static tsql_type decimal_type(tsql_parser *p, bool numeric) {
  int precision = 18;
  int scale = 0;
  if (alo_parser_take_sign(p, "(")) {
    precision = parse_size(p);
    if (alo_parser_take_sign(p, ","))
      scale = parse_size(p);
    alo_parser_expect_sign(p, ")");
  }
  if (precision < 1 || precision > 38)
    alo_throw(p->context, 2750, 1, precision);
  if (scale > precision)
    alo_throw(p->context, 2751, 1, scale, precision);
  tsql_type type = alo_type_decimal(precision, scale);
  type.numeric = numeric;
  return type;
}

static tsql_type float_type(tsql_parser *p) {
  int bits = 53;
  if (alo_parser_take_sign(p, "(")) {
    bits = parse_size(p);
    alo_parser_expect_sign(p, ")");
  }
  if (bits < 1 || bits > 53)
    alo_throw(p->context, 2717, bits, 5, "float", 53);
  return alo_type_plain(bits <= 24 ? TSQL_REAL : TSQL_FLOAT);
}

static tsql_type scaled_type(tsql_parser *p, tsql_kind kind) {
  tsql_type type = alo_type_plain(kind);
  type.scale = 7;
  if (alo_parser_take_sign(p, "(")) {
    int scale = parse_size(p);
    if (scale > 7)
      alo_throw(p->context, 2717, scale, ALOFT_PRINT(alo_type_name(type)), 7);
    type.scale = (uint8_t)scale;
    alo_parser_expect_sign(p, ")");
  }
  return type;
}

static void refuse_type(tsql_parser *p, aloft_text name) {
  static const char *const missing[] = {
      "MONEY",       "SMALLMONEY",  "TEXT",       "NTEXT",  "IMAGE",   "XML",
      "SQL_VARIANT", "TIMESTAMP",   "ROWVERSION", "CURSOR", "TABLE",   "GEOGRAPHY",
      "GEOMETRY",    "HIERARCHYID", "SYSNAME",    "DOUBLE", "NATIONAL"};
  for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
    if (alo_word_is(name, missing[i]))
      alo_parser_missing(p, missing[i]);
}

tsql_type alo_parser_type(tsql_parser *p) {
  static const struct {
    const char *name;
    tsql_kind kind;
  } names[] = {{"BINARY", TSQL_BINARY},
               {"VARBINARY", TSQL_VARBINARY},
               {"CHAR", TSQL_CHAR},
               {"CHARACTER", TSQL_CHAR},
               {"VARCHAR", TSQL_VARCHAR},
               {"NCHAR", TSQL_NCHAR},
               {"NVARCHAR", TSQL_NVARCHAR},
               {"UNIQUEIDENTIFIER", TSQL_GUID},
               {"BIT", TSQL_BIT},
               {"TINYINT", TSQL_TINYINT},
               {"SMALLINT", TSQL_SMALLINT},
               {"INT", TSQL_INT},
               {"INTEGER", TSQL_INT},
               {"BIGINT", TSQL_BIGINT},
               {"DECIMAL", TSQL_DECIMAL},
               {"DEC", TSQL_DECIMAL},
               {"NUMERIC", TSQL_DECIMAL},
               {"REAL", TSQL_REAL},
               {"FLOAT", TSQL_FLOAT},
               {"TIME", TSQL_TIME},
               {"DATE", TSQL_DATE},
               {"SMALLDATETIME", TSQL_SMALLDATETIME},
               {"DATETIME", TSQL_DATETIME},
               {"DATETIME2", TSQL_DATETIME2},
               {"DATETIMEOFFSET", TSQL_DATETIMEOFFSET}};
  if (p->token.kind != TOKEN_WORD && p->token.kind != TOKEN_NAME)
    alo_parser_fail(p);
  aloft_text name = p->token.text;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (!alo_word_is(name, names[i].name))
      continue;
    tsql_kind kind = names[i].kind;
    alo_parser_advance(p);
    if (alo_kind_is_text(kind) && alo_parser_at(p, "VARYING"))
      alo_parser_missing(p, "VARYING");
    if (alo_kind_is_text(kind) || alo_kind_is_binary(kind))
      return sized_type(p, kind);
    if (kind == TSQL_DECIMAL)
      return decimal_type(p, alo_word_is(name, "NUMERIC"));
    if (kind == TSQL_FLOAT)
      return float_type(p);
    if (kind == TSQL_TIME || kind >= TSQL_DATETIME2)
      return scaled_type(p, kind);
    return alo_type_plain(kind);
  }
  refuse_type(p, name);
  alo_throw(p->context, 2715, 1, ALOFT_PRINT(name));
}

/* Calls. */

static void parse_arguments(tsql_parser *p, tsql_node *call) {
  alo_parser_expect_sign(p, "(");
  if (alo_parser_take(p, "DISTINCT"))
    call->distinct = true;
  else
    alo_parser_take(p, "ALL");
  if (alo_parser_at_sign(p, "*")) {
    alo_node_add(call, alo_node_new(p, NODE_STAR));
    alo_parser_advance(p);
  } else if (!alo_parser_at_sign(p, ")")) {
    do
      alo_node_add(call, parse_condition(p)); /* IIF has one */
    while (alo_parser_take_sign(p, ","));
  }
  alo_parser_expect_sign(p, ")");
  if (alo_parser_at(p, "OVER"))
    alo_parser_missing(p, "OVER");
  if (alo_parser_at(p, "WITHIN"))
    alo_parser_missing(p, "WITHIN GROUP");
}

static tsql_type cast_type(tsql_parser *p) {
  tsql_type type = alo_parser_type(p);
  if (type.length == 0)
    type.length = alo_kind_is_text(type.kind) || alo_kind_is_binary(type.kind) ? 30 : 0;
  return type;
}

static tsql_node *parse_cast(tsql_parser *p) {
  tsql_node *node = alo_node_new(p, NODE_CAST);
  alo_parser_advance(p);
  alo_parser_expect_sign(p, "(");
  alo_node_add(node, parse_value(p));
  alo_parser_expect(p, "AS");
  node->type = cast_type(p);
  alo_parser_expect_sign(p, ")");
  return node;
}

static tsql_node *parse_convert(tsql_parser *p) {
  tsql_node *node = alo_node_new(p, NODE_CAST);
  alo_parser_advance(p);
  alo_parser_expect_sign(p, "(");
  node->type = cast_type(p);
  alo_parser_expect_sign(p, ",");
  alo_node_add(node, parse_value(p));
  if (alo_parser_take_sign(p, ","))
    alo_node_add(node, parse_value(p));
  alo_parser_expect_sign(p, ")");
  return node;
}

static tsql_node *parse_case(tsql_parser *p) {
  tsql_node *node = alo_node_new(p, NODE_CASE);
  alo_parser_advance(p);
  if (!alo_parser_at(p, "WHEN")) {
    node->has_operand = true;
    alo_node_add(node, parse_value(p));
  }
  if (!alo_parser_at(p, "WHEN"))
    alo_parser_fail(p);
  while (alo_parser_take(p, "WHEN")) {
    alo_node_add(node, node->has_operand ? parse_value(p) : parse_condition(p));
    alo_parser_expect(p, "THEN");
    alo_node_add(node, parse_value(p));
  }
  if (alo_parser_take(p, "ELSE")) {
    node->has_else = true;
    alo_node_add(node, parse_value(p));
  }
  alo_parser_expect(p, "END");
  return node;
}

/* A name: a column, qualified or not, or a call. */
static tsql_node *parse_name(tsql_parser *p) {
  tsql_node *node = alo_node_new(p, NODE_COLUMN);
  node->name = alo_parser_name(p);
  if (alo_parser_at_sign(p, "(")) {
    node->kind = NODE_CALL;
    parse_arguments(p, node);
    return node;
  }
  if (alo_parser_at_sign(p, "::"))
    alo_parser_missing(p, "::");
  while (alo_parser_take_sign(p, ".")) {
    node->qualifier = node->name;
    if (alo_parser_at_sign(p, "*")) {
      node->kind = NODE_STAR;
      alo_parser_advance(p);
      return node;
    }
    node->name = alo_parser_name(p);
    if (alo_parser_at_sign(p, "("))
      alo_parser_missing(p, "user-defined function");
  }
  return node;
}

/* Reserved words that begin a value. */
static tsql_node *parse_word(tsql_parser *p) {
  if (alo_parser_at(p, "CASE"))
    return parse_case(p);
  if (alo_parser_at(p, "CONVERT"))
    return parse_convert(p);
  if (alo_parser_at(p, "CAST") && alo_parser_peek(p).kind == TOKEN_SIGN)
    return parse_cast(p);
  if (alo_parser_at(p, "NULL") || alo_parser_at(p, "DEFAULT")) {
    tsql_node *node = alo_node_new(p, alo_parser_at(p, "NULL") ? NODE_NULL : NODE_DEFAULT);
    alo_parser_advance(p);
    return node;
  }
  static const char *const plain[] = {"CURRENT_TIMESTAMP", "CURRENT_USER", "SESSION_USER",
                                      "SYSTEM_USER", "USER"};
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    if (alo_parser_at(p, plain[i])) {
      tsql_node *node = alo_node_new(p, NODE_CALL);
      node->name = p->token.text;
      alo_parser_advance(p);
      return node;
    }
  static const char *const calls[] = {"COALESCE", "NULLIF", "LEFT", "RIGHT"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (alo_parser_at(p, calls[i])) {
      tsql_node *node = alo_node_new(p, NODE_CALL);
      node->name = p->token.text;
      alo_parser_advance(p);
      parse_arguments(p, node);
      return node;
    }
  static const char *const missing[] = {"TRY_CONVERT", "TRY_CAST", "TRY_PARSE", "PARSE"};
  for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
    if (alo_parser_at(p, missing[i]) && alo_parser_peek(p).source.data[0] == '(')
      alo_parser_missing(p, missing[i]);
  if (alo_word_is_reserved(p->token.text))
    alo_parser_fail(p);
  return parse_name(p);
}

static tsql_node *parse_parentheses(tsql_parser *p) {
  tsql_node *node;
  alo_parser_advance(p);
  if (alo_parser_at(p, "SELECT")) {
    node = alo_node_new(p, NODE_QUERY);
    node->query = alo_parser_query(p, false);
  } else {
    node = parse_condition(p);
  }
  alo_parser_expect_sign(p, ")");
  return node;
}

static tsql_node *parse_variable(tsql_parser *p) {
  bool global = p->token.text.size > 1 && p->token.text.data[1] == '@';
  tsql_node *node = alo_node_new(p, global ? NODE_GLOBAL : NODE_VARIABLE);
  node->name = p->token.text;
  alo_parser_advance(p);
  if (alo_parser_at_sign(p, "."))
    alo_parser_missing(p, "method call");
  return node;
}

static tsql_node *parse_primary(tsql_parser *p) {
  switch (p->token.kind) {
  case TOKEN_INTEGER:
  case TOKEN_DECIMAL:
    return parse_decimal(p);
  case TOKEN_FLOAT:
    return parse_float(p);
  case TOKEN_STRING:
  case TOKEN_NSTRING:
    return parse_string(p);
  case TOKEN_BINARY:
    return parse_binary(p);
  case TOKEN_VARIABLE:
    return parse_variable(p);
  case TOKEN_WORD:
    return parse_word(p);
  case TOKEN_NAME:
    return parse_name(p);
  case TOKEN_SIGN:
    if (alo_parser_at_sign(p, "("))
      return parse_parentheses(p);
    if (alo_parser_at_sign(p, "{"))
      alo_parser_missing(p, "{ODBC escape}");
    break;
  case TOKEN_END:
    break;
  }
  alo_parser_fail(p);
}

static tsql_node *parse_unary(tsql_parser *p) {
  alo_parser_enter(p);
  tsql_node *node;
  if (alo_parser_take_sign(p, "+")) {
    node = parse_unary(p);
  } else if (alo_parser_at_sign(p, "-") || alo_parser_at_sign(p, "~")) {
    node = alo_node_new(p, alo_parser_at_sign(p, "-") ? NODE_NEGATE : NODE_INVERT);
    alo_parser_advance(p);
    alo_node_add(node, parse_unary(p));
  } else {
    node = parse_primary(p);
    if (alo_parser_at(p, "COLLATE"))
      alo_parser_missing(p, "COLLATE");
    if (alo_parser_at(p, "AT") && alo_word_is(alo_parser_peek(p).text, "TIME"))
      alo_parser_missing(p, "AT TIME ZONE");
  }
  alo_parser_leave(p);
  return node;
}

/* A chain of operators goes to the left, and its depth counts: a tree as deep as it is long. */
static tsql_node *parse_chain(tsql_parser *p, const char *signs,
                              tsql_node *(*operand)(tsql_parser *)) {
  tsql_node *left = operand(p);
  int links = 0;
  while (p->token.kind == TOKEN_SIGN && p->token.text.size == 1 &&
         strchr(signs, p->token.text.data[0])) {
    alo_parser_enter(p);
    links++;
    tsql_node *node = parent_of(p, NODE_ARITHMETIC, left);
    node->op = p->token.text.data[0];
    alo_parser_advance(p);
    alo_node_add(node, operand(p));
    left = node;
  }
  while (links-- > 0)
    alo_parser_leave(p);
  return left;
}

static tsql_node *parse_product(tsql_parser *p) {
  return parse_chain(p, "*/%", parse_unary);
}

static tsql_node *parse_value(tsql_parser *p) {
  return parse_chain(p, "+-&|^", parse_product);
}

static char comparison(const tsql_parser *p) {
  static const struct {
    const char *sign;
    char op;
  } signs[] = {{"=", '='},  {"<>", '#'}, {"!=", '#'}, {"<", '<'}, {">", '>'},
               {"<=", '{'}, {"!>", '{'}, {">=", '}'}, {"!<", '}'}};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (alo_parser_at_sign(p, signs[i].sign))
      return signs[i].op;
  return 0;
}

static tsql_node *parse_comparison(tsql_parser *p, tsql_node *left, char op) {
  tsql_node *node = parent_of(p, NODE_COMPARE, left);
  node->op = op;
  alo_parser_advance(p);
  if (alo_parser_at(p, "ALL") || alo_parser_at(p, "ANY") || alo_parser_at(p, "SOME"))
    alo_parser_missing(p, "ALL | ANY | SOME");
  alo_node_add(node, parse_value(p));
  return node;
}

static tsql_node *parse_in(tsql_parser *p, tsql_node *left) {
  tsql_node *node = parent_of(p, NODE_IN, left);
  alo_parser_expect_sign(p, "(");
  if (alo_parser_at(p, "SELECT")) {
    node->kind = NODE_IN_QUERY;
    node->query = alo_parser_query(p, false);
  } else {
    do
      alo_node_add(node, parse_value(p));
    while (alo_parser_take_sign(p, ","));
  }
  alo_parser_expect_sign(p, ")");
  return node;
}

static tsql_node *parse_between(tsql_parser *p, tsql_node *left) {
  tsql_node *node = parent_of(p, NODE_BETWEEN, left);
  alo_node_add(node, parse_value(p));
  alo_parser_expect(p, "AND");
  alo_node_add(node, parse_value(p));
  return node;
}

static tsql_node *parse_like(tsql_parser *p, tsql_node *left) {
  tsql_node *node = parent_of(p, NODE_LIKE, left);
  alo_node_add(node, parse_value(p));
  if (alo_parser_take(p, "ESCAPE"))
    alo_node_add(node, parse_value(p));
  return node;
}

static tsql_node *parse_is_null(tsql_parser *p, tsql_node *left) {
  tsql_node *node = parent_of(p, NODE_IS_NULL, left);
  node->negated = alo_parser_take(p, "NOT");
  if (alo_parser_at(p, "DISTINCT"))
    alo_parser_missing(p, "IS DISTINCT FROM");
  alo_parser_expect(p, "NULL");
  return node;
}

/* A value, or a predicate about it. */
static tsql_node *parse_predicate(tsql_parser *p) {
  if (alo_parser_at(p, "EXISTS")) {
    tsql_node *node = alo_node_new(p, NODE_EXISTS);
    alo_parser_advance(p);
    alo_parser_expect_sign(p, "(");
    node->query = alo_parser_query(p, false);
    alo_parser_expect_sign(p, ")");
    return node;
  }
  static const char *const missing[] = {"CONTAINS", "FREETEXT"};
  for (size_t i = 0; i < 2; i++)
    if (alo_parser_at(p, missing[i]))
      alo_parser_missing(p, missing[i]);
  tsql_node *left = parse_value(p);
  char op = comparison(p);
  if (op)
    return parse_comparison(p, left, op);
  if (alo_parser_take(p, "IS"))
    return parse_is_null(p, left);
  bool negated = alo_parser_take(p, "NOT");
  tsql_node *node = NULL;
  if (alo_parser_take(p, "IN"))
    node = parse_in(p, left);
  else if (alo_parser_take(p, "BETWEEN"))
    node = parse_between(p, left);
  else if (alo_parser_take(p, "LIKE"))
    node = parse_like(p, left);
  else if (negated)
    alo_parser_fail(p);
  if (!node)
    return left;
  node->negated = negated;
  return node;
}

static tsql_node *parse_not(tsql_parser *p) {
  if (!alo_parser_at(p, "NOT"))
    return parse_predicate(p);
  alo_parser_enter(p);
  tsql_node *node = alo_node_new(p, NODE_NOT);
  alo_parser_advance(p);
  alo_node_add(node, parse_not(p));
  alo_parser_leave(p);
  return node;
}

static tsql_node *parse_and(tsql_parser *p) {
  tsql_node *node = parse_not(p);
  if (alo_parser_at(p, "AND"))
    node = parent_of(p, NODE_AND, node);
  while (alo_parser_take(p, "AND"))
    alo_node_add(node, parse_not(p));
  return node;
}

static tsql_node *parse_condition(tsql_parser *p) {
  alo_parser_enter(p);
  tsql_node *node = parse_and(p);
  if (alo_parser_at(p, "OR"))
    node = parent_of(p, NODE_OR, node);
  while (alo_parser_take(p, "OR"))
    alo_node_add(node, parse_and(p));
  alo_parser_leave(p);
  return node;
}

tsql_node *alo_parser_expression(tsql_parser *p) {
  return parse_condition(p);
}
