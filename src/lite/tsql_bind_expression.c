/* Expressions: names found, types given. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "engine.h"
#include "tsql_bind.h"
#include "tsql_text.h"
#include "tsql_token.h"

static tsql_expression *new_expression(tsql_binder *b, tsql_expression_kind kind, tsql_type type) {
  tsql_expression *x = ALO_NEW(b->context, tsql_expression);
  x->kind = kind;
  x->type = type;
  x->nullable = true;
  return x;
}

static tsql_expression *new_constant(tsql_binder *b, tsql_type type, tsql_value value) {
  tsql_expression *x = new_expression(b, EXPRESSION_CONSTANT, type);
  x->value = value;
  x->nullable = value.null;
  return x;
}

static tsql_expression *bind(tsql_binder *b, tsql_scope *scope, const tsql_node *node);

/* A value, not a condition. */
tsql_expression *alo_bind_expression(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  assert(node);
  tsql_expression *x = bind(b, scope, node);
  if (x->type.kind == TSQL_PREDICATE)
    alo_throw(b->context, 102, ALOFT_PRINT(node->source));
  return x;
}

tsql_expression *alo_bind_condition(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  assert(node);
  tsql_expression *x = bind(b, scope, node);
  if (x->type.kind != TSQL_PREDICATE)
    alo_throw(b->context, 4145, ALOFT_PRINT(node->source));
  return x;
}

/* Names. */

static tsql_bound_column *find_column(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  tsql_bound_column *found = NULL;
  for (size_t i = 0; i < scope->count; i++) {
    tsql_bound_source *source = &scope->sources[i];
    if (node->qualifier.data && !alo_text_same_name(source->name, node->qualifier))
      continue;
    for (size_t j = 0; j < source->count; j++) {
      if (!alo_text_same_name(source->columns[j].name, node->name))
        continue;
      if (found)
        alo_throw(b->context, 209, ALOFT_PRINT(node->name));
      found = &source->columns[j];
    }
  }
  return found;
}

static _Noreturn void no_column(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  if (!node->qualifier.data)
    alo_throw(b->context, scope ? 207 : 128, ALOFT_PRINT(node->name));
  for (tsql_scope *s = scope; s; s = s->outer)
    for (size_t i = 0; i < s->count; i++)
      if (alo_text_same_name(s->sources[i].name, node->qualifier))
        alo_throw(b->context, 207, ALOFT_PRINT(node->name));
  tsql_string whole = {.context = b->context};
  alo_string_add(&whole, "%.*s.%.*s", ALOFT_PRINT(node->qualifier), ALOFT_PRINT(node->name));
  alo_throw(b->context, 4104, ALOFT_PRINT(alo_string_text(&whole)));
}

static void remember(tsql_binder *b, tsql_reference **list, tsql_expression *column) {
  tsql_reference *reference = ALO_NEW(b->context, tsql_reference);
  reference->column = column;
  reference->next = *list;
  *list = reference;
}

tsql_expression *alo_bind_column(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  tsql_scope *where = scope;
  tsql_bound_column *column = NULL;
  for (; where; where = where->outer) {
    column = find_column(b, where, node);
    if (column)
      break;
  }
  if (!column)
    no_column(b, scope, node);
  tsql_expression *x = new_expression(b, EXPRESSION_INPUT, column->type);
  x->input = INPUT_COLUMN;
  x->nullable = column->nullable;
  x->sql = column->sql;
  x->scope = where;
  x->column = column;
  x->name = column->name;
  if (node->qualifier.data) {
    tsql_string name = {.context = b->context};
    alo_string_add(&name, "%.*s.%.*s", ALOFT_PRINT(node->qualifier), ALOFT_PRINT(column->name));
    x->name = alo_string_text(&name);
  }
  for (tsql_scope *s = scope; s != where; s = s->outer)
    remember(b, &s->references, x);
  if (where->in_aggregate || (scope && scope->in_aggregate))
    remember(b, &scope->own, x);
  return x;
}

static tsql_expression *bind_variable(tsql_binder *b, const tsql_node *node) {
  for (size_t i = 0; i < b->environment->variable_count; i++) {
    const tsql_variable *variable = &b->environment->variables[i];
    if (!alo_text_same_name(variable->name, node->name))
      continue;
    tsql_expression *x = new_expression(b, EXPRESSION_VARIABLE, variable->type);
    x->slot = i;
    return x;
  }
  alo_throw(b->context, 137, ALOFT_PRINT(node->name));
}

static tsql_expression *text_constant(tsql_binder *b, aloft_text text, uint32_t length) {
  return new_constant(b, alo_type_sized(TSQL_NVARCHAR, length), (tsql_value){.text = text});
}

static tsql_expression *integer_constant(tsql_binder *b, tsql_kind kind, int64_t number) {
  return new_constant(b, alo_type_plain(kind), (tsql_value){.integer = number});
}

static tsql_expression *bind_global(tsql_binder *b, const tsql_node *node) {
  const tsql_environment *e = b->environment;
  aloft_text name = {node->name.data + 2, node->name.size - 2};
  if (alo_word_is(name, "VERSION"))
    return text_constant(b,
                         ALOFT_TEXT("Aloft lite 0.1 (T-SQL on SQLite), answering as Microsoft SQL "
                                    "Server 16.0.0.0"),
                         300);
  if (alo_word_is(name, "TRANCOUNT"))
    return integer_constant(b, TSQL_INT, e->transaction_count);
  if (alo_word_is(name, "ROWCOUNT"))
    return integer_constant(b, TSQL_INT, e->row_count);
  if (alo_word_is(name, "ERROR"))
    return integer_constant(b, TSQL_INT, e->last_error);
  if (alo_word_is(name, "SPID"))
    return integer_constant(b, TSQL_SMALLINT, e->spid);
  if (alo_word_is(name, "SERVERNAME"))
    return text_constant(b, e->server, 128);
  if (alo_word_is(name, "LANGUAGE"))
    return text_constant(b, ALOFT_TEXT("us_english"), 128);
  if (alo_word_is(name, "DATEFIRST"))
    return integer_constant(b, TSQL_TINYINT, 7);
  if (alo_word_is(name, "MAX_PRECISION"))
    return integer_constant(b, TSQL_TINYINT, TSQL_PRECISION_MAX);
  if (alo_word_is(name, "TEXTSIZE"))
    return integer_constant(b, TSQL_INT, INT32_MAX);
  if (alo_word_is(name, "NESTLEVEL"))
    return integer_constant(b, TSQL_INT, 0);
  if (alo_word_is(name, "IDENTITY")) {
    tsql_type type = alo_type_decimal(38, 0);
    type.numeric = true;
    tsql_expression *x = new_constant(b, type, e->identity);
    x->nullable = true;
    return x;
  }
  alo_throw(b->context, 40510, ALOFT_PRINT(node->name));
}

/* Operators. */

/* A NULL literal takes the type of its partner. */
static void type_nulls(tsql_expression *a, tsql_expression *b) {
  if (a->is_null && !b->is_null)
    a->type = b->type;
  if (b->is_null && !a->is_null)
    b->type = a->type;
}

static aloft_text operator_name(char op) {
  switch (op) {
  case '+':
    return ALOFT_TEXT("add");
  case '-':
    return ALOFT_TEXT("subtract");
  case '*':
    return ALOFT_TEXT("multiply");
  case '/':
    return ALOFT_TEXT("divide");
  case '%':
    return ALOFT_TEXT("modulo");
  case '&':
    return ALOFT_TEXT("'&'");
  case '|':
    return ALOFT_TEXT("'|'");
  case '^':
    return ALOFT_TEXT("'^'");
  default:
    return ALOFT_TEXT("comparison");
  }
}

static _Noreturn void incompatible(tsql_binder *b, char op, tsql_type x, tsql_type y) {
  alo_throw(b->context, 402, ALOFT_PRINT(alo_type_name(x)), ALOFT_PRINT(alo_type_name(y)),
            ALOFT_PRINT(operator_name(op)));
}

static _Noreturn void invalid_operand(tsql_binder *b, aloft_text op, tsql_type type) {
  alo_throw(b->context, 8117, ALOFT_PRINT(alo_type_name(type)), ALOFT_PRINT(op));
}

static tsql_expression *pair(tsql_binder *b, tsql_expression_kind kind, tsql_type type,
                             tsql_expression *x, tsql_expression *y) {
  tsql_expression *node = new_expression(b, kind, type);
  node->nullable = x->nullable || y->nullable;
  alo_expression_add(node, x);
  alo_expression_add(node, y);
  return node;
}

static tsql_expression *bind_concat(tsql_binder *b, tsql_expression *x, tsql_expression *y) {
  tsql_type type = alo_type_common(x->type, y->type);
  bool max = x->type.length == TSQL_MAX || y->type.length == TSQL_MAX;
  if (type.kind == TSQL_CHAR || type.kind == TSQL_NCHAR || type.kind == TSQL_BINARY)
    type.kind = x->type.kind == y->type.kind ? type.kind : (tsql_kind)(type.kind + 1);
  type = alo_type_sized(type.kind, max ? TSQL_MAX : (uint64_t)x->type.length + y->type.length);
  if (max && alo_kind_is_fixed(type.kind))
    type.kind = (tsql_kind)(type.kind + 1);
  return pair(b, EXPRESSION_CONCAT, type, x, y);
}

/* The type with which a number joins an operation; an integer literal brings its own digits. */
static tsql_type operand_type(const tsql_expression *x, tsql_kind other) {
  if (other != TSQL_DECIMAL || x->type.kind == TSQL_DECIMAL || x->type.kind > TSQL_DECIMAL)
    return x->type;
  if (!x->is_literal)
    return alo_type_as_decimal(x->type);
  tsql_decimal number = alo_decimal_of(x->value.integer);
  return alo_type_decimal(alo_decimal_digits(&number), 0);
}

static void check_operands(tsql_binder *b, char op, tsql_type x, tsql_type y) {
  bool bits = op == '&' || op == '|' || op == '^';
  bool integers = alo_kind_is_integer(x.kind) && alo_kind_is_integer(y.kind);
  if (bits) {
    if (!integers)
      incompatible(b, op, x, y);
    return;
  }
  if (x.kind == TSQL_BIT && y.kind == TSQL_BIT)
    incompatible(b, op, x, y);
  bool real =
      x.kind == TSQL_REAL || x.kind == TSQL_FLOAT || y.kind == TSQL_REAL || y.kind == TSQL_FLOAT;
  if (op == '%' && real)
    incompatible(b, op, x, y);
}

/* Text beside a number becomes that number's type. */
static void check_number(tsql_binder *b, char op, const tsql_expression *x,
                         const tsql_expression *other) {
  if (alo_kind_is_number(x->type.kind))
    return;
  bool old = x->type.kind == TSQL_DATETIME || x->type.kind == TSQL_SMALLDATETIME;
  if (old && (op == '+' || op == '-'))
    alo_throw(b->context, 40510,
              ALOFT_PRINT(ALOFT_TEXT("+ or - with datetime (use DATEADD or DATEDIFF)")));
  if (alo_kind_is_time(x->type.kind) && alo_kind_is_number(other->type.kind))
    alo_throw(b->context, 206, ALOFT_PRINT(alo_type_name(x->type)),
              ALOFT_PRINT(alo_type_name(other->type)));
  bool text = alo_kind_is_text(x->type.kind) || alo_kind_is_binary(x->type.kind);
  if (text && alo_kind_is_number(other->type.kind))
    return;
  if (alo_kind_is_number(other->type.kind) || x->type.kind == other->type.kind)
    invalid_operand(b, operator_name(op), x->type);
  incompatible(b, op, x->type, other->type);
}

static tsql_expression *bind_arithmetic(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  tsql_expression *x = alo_bind_expression(b, scope, node->first);
  tsql_expression *y = alo_bind_expression(b, scope, node->last);
  char op = node->op;
  type_nulls(x, y);
  bool text = alo_kind_is_text(x->type.kind) && alo_kind_is_text(y->type.kind);
  bool binary = alo_kind_is_binary(x->type.kind) && alo_kind_is_binary(y->type.kind);
  if (op == '+' && (text || binary))
    return bind_concat(b, x, y);
  check_number(b, op, x, y);
  check_number(b, op, y, x);
  if (!alo_kind_is_number(x->type.kind))
    x = alo_expression_convert(b->context, x, y->type, true);
  if (!alo_kind_is_number(y->type.kind))
    y = alo_expression_convert(b->context, y, x->type, true);
  check_operands(b, op, x->type, y->type);
  tsql_type x_type = operand_type(x, y->type.kind);
  tsql_type y_type = operand_type(y, x->type.kind);
  tsql_type type = alo_type_arithmetic(op, x_type, y_type);
  bool decimal = type.kind == TSQL_DECIMAL;
  x = alo_expression_convert(b->context, x, decimal ? x_type : type, true);
  y = alo_expression_convert(b->context, y, decimal ? y_type : type, true);
  tsql_expression *result = pair(b, EXPRESSION_ARITHMETIC, type, x, y);
  result->op = op;
  result->nullable = true; /* as SQL Server describes it: an overflow could give NULL */
  return result;
}

static tsql_expression *bind_negate(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  tsql_expression *x = alo_bind_expression(b, scope, node->first);
  bool invert = node->kind == NODE_INVERT;
  aloft_text op = invert ? ALOFT_TEXT("'~'") : ALOFT_TEXT("minus");
  if (invert ? !alo_kind_is_integer(x->type.kind)
             : !alo_kind_is_number(x->type.kind) || x->type.kind == TSQL_BIT)
    invalid_operand(b, op, x->type);
  if (!invert && x->type.kind == TSQL_TINYINT)
    x = alo_expression_convert(b->context, x, alo_type_plain(TSQL_SMALLINT), true);
  tsql_expression *result =
      new_expression(b, invert ? EXPRESSION_INVERT : EXPRESSION_NEGATE, x->type);
  result->nullable = x->nullable;
  alo_expression_add(result, x);
  if (x->is_literal && !invert) { /* -1 is a literal too */
    result->is_literal = x->type.kind == TSQL_INT;
    result->value.integer = -x->value.integer;
  }
  return result;
}

/* Conditions. */

static tsql_expression *new_condition(tsql_binder *b, tsql_expression_kind kind) {
  return new_expression(b, kind, alo_type_plain(TSQL_PREDICATE));
}

static tsql_expression *make_compare(tsql_binder *b, char op, tsql_expression *x,
                                     tsql_expression *y) {
  type_nulls(x, y);
  tsql_type type = alo_type_common(x->type, y->type);
  tsql_expression *compare = new_condition(b, EXPRESSION_COMPARE);
  compare->op = op;
  alo_expression_add(compare, alo_expression_convert(b->context, x, type, true));
  alo_expression_add(compare, alo_expression_convert(b->context, y, type, true));
  return compare;
}

static tsql_expression *bind_compare(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  return make_compare(b, node->op, alo_bind_expression(b, scope, node->first),
                      alo_bind_expression(b, scope, node->last));
}

static tsql_expression *negated(tsql_binder *b, tsql_expression *x, bool negate) {
  if (!negate)
    return x;
  tsql_expression *not = new_condition(b, EXPRESSION_NOT);
  alo_expression_add(not, x);
  return not ;
}

static tsql_expression *bind_between(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  const tsql_node *low = node->first->next;
  tsql_expression *both = new_condition(b, EXPRESSION_AND);
  alo_expression_add(both, make_compare(b, '}', alo_bind_expression(b, scope, node->first),
                                        alo_bind_expression(b, scope, low)));
  alo_expression_add(both, make_compare(b, '{', alo_bind_expression(b, scope, node->first),
                                        alo_bind_expression(b, scope, low->next)));
  return negated(b, both, node->negated);
}

static tsql_expression *bind_connective(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  tsql_expression_kind kind = node->kind == NODE_AND  ? EXPRESSION_AND
                              : node->kind == NODE_OR ? EXPRESSION_OR
                                                      : EXPRESSION_NOT;
  tsql_expression *x = new_condition(b, kind);
  for (const tsql_node *child = node->first; child; child = child->next)
    alo_expression_add(x, alo_bind_condition(b, scope, child));
  return x;
}

/* Children that share one type: IN, CASE's results, COALESCE. */
static tsql_type common_type(tsql_expression *first, int step) {
  const tsql_expression *typed = NULL;
  tsql_type type = first->type;
  int place = 0;
  for (const tsql_expression *x = first; x; x = x->next, place++) {
    if (place % step != 0 || x->is_null)
      continue;
    type = typed ? alo_type_common(type, x->type) : x->type;
    typed = x;
  }
  return type;
}

static tsql_expression *bind_in(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  tsql_expression *list = new_condition(b, EXPRESSION_IN);
  for (const tsql_node *child = node->first; child; child = child->next)
    alo_expression_add(list, alo_bind_expression(b, scope, child));
  tsql_type type = common_type(list->first, 1);
  tsql_expression *in = new_condition(b, EXPRESSION_IN);
  in->negated = node->negated;
  for (tsql_expression *x = list->first, *next; x; x = next) {
    next = x->next;
    x->next = NULL;
    alo_expression_add(in, alo_expression_convert(b->context, x, type, true));
  }
  return in;
}

static tsql_expression *bind_like(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  tsql_expression *like = new_condition(b, EXPRESSION_LIKE);
  like->negated = node->negated;
  for (const tsql_node *child = node->first; child; child = child->next) {
    tsql_expression *x = alo_bind_expression(b, scope, child);
    if (x->is_null || !alo_kind_is_text(x->type.kind)) {
      if (!x->is_null && (alo_kind_is_binary(x->type.kind) || x->type.kind == TSQL_GUID))
        alo_throw(b->context, 8116, ALOFT_PRINT(alo_type_name(x->type)), 1,
                  ALOFT_PRINT(ALOFT_TEXT("like")));
      x = alo_expression_convert(b->context, x, alo_type_sized(TSQL_VARCHAR, 48), true);
    }
    alo_expression_add(like, x);
  }
  return like;
}

static tsql_expression *bind_is_null(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  tsql_expression *x = new_condition(b, EXPRESSION_IS_NULL);
  x->negated = node->negated;
  alo_expression_add(x, alo_bind_expression(b, scope, node->first));
  return x;
}

/* CASE and its kin. */

static tsql_expression *finish_case(tsql_binder *b, tsql_expression *list) {
  /* The results stand at odd places, ELSE is last; conditions at even ones. */
  tsql_type type = alo_type_plain(TSQL_INT);
  bool typed = false;
  bool nullable = false;
  uint32_t place = 0;
  for (tsql_expression *x = list->first; x; x = x->next, place++) {
    bool result = place % 2 == 1 || !x->next;
    if (!result)
      continue;
    nullable = nullable || x->nullable;
    if (!x->is_null)
      type = typed ? alo_type_common(type, x->type) : x->type;
    typed = typed || !x->is_null;
  }
  if (!typed)
    alo_throw(b->context, 8133);
  tsql_expression *choose = new_expression(b, EXPRESSION_CASE, type);
  choose->nullable = nullable;
  place = 0;
  for (tsql_expression *x = list->first, *next; x; x = next, place++) {
    next = x->next;
    bool result = place % 2 == 1 || !next;
    x->next = NULL;
    alo_expression_add(choose, result ? alo_expression_convert(b->context, x, type, true) : x);
  }
  return choose;
}

static tsql_expression *null_literal(tsql_binder *b) {
  tsql_expression *x = new_constant(b, alo_type_plain(TSQL_INT), TSQL_NULL);
  x->is_null = true;
  return x;
}

static tsql_expression *bind_case(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  const tsql_node *child = node->first;
  const tsql_node *operand = NULL;
  if (node->has_operand) {
    operand = child;
    child = child->next;
  }
  tsql_expression *list = new_expression(b, EXPRESSION_CASE, alo_type_plain(TSQL_INT));
  while (child && child->next) {
    alo_expression_add(list, operand ? make_compare(b, '=', alo_bind_expression(b, scope, operand),
                                                    alo_bind_expression(b, scope, child))
                                     : alo_bind_condition(b, scope, child));
    alo_expression_add(list, alo_bind_expression(b, scope, child->next));
    child = child->next->next;
  }
  alo_expression_add(list, child ? alo_bind_expression(b, scope, child) : null_literal(b));
  return finish_case(b, list);
}

static void check_count(tsql_binder *b, const tsql_node *node, const char *name, uint32_t least,
                        uint32_t most) {
  aloft_text text = {name, strlen(name)};
  if (node->count >= least && node->count <= most)
    return;
  if (least == most)
    alo_throw(b->context, 174, ALOFT_PRINT(text), (int)least);
  alo_throw(b->context, 189, ALOFT_PRINT(text), (int)least, (int)most);
}

static tsql_expression *bind_iif(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  check_count(b, node, "iif", 3, 3);
  assert(node->first); /* of three */
  tsql_expression *list = new_expression(b, EXPRESSION_CASE, alo_type_plain(TSQL_INT));
  alo_expression_add(list, alo_bind_condition(b, scope, node->first));
  alo_expression_add(list, alo_bind_expression(b, scope, node->first->next));
  alo_expression_add(list, alo_bind_expression(b, scope, node->last));
  return finish_case(b, list);
}

/* NULLIF(a, b) is CASE WHEN a = b THEN NULL ELSE a END. */
static tsql_expression *bind_nullif(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  check_count(b, node, "nullif", 2, 2);
  tsql_expression *list = new_expression(b, EXPRESSION_CASE, alo_type_plain(TSQL_INT));
  alo_expression_add(list, make_compare(b, '=', alo_bind_expression(b, scope, node->first),
                                        alo_bind_expression(b, scope, node->last)));
  alo_expression_add(list, null_literal(b));
  alo_expression_add(list, alo_bind_expression(b, scope, node->first));
  return finish_case(b, list);
}

static tsql_expression *bind_coalesce(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  check_count(b, node, "coalesce", 2, 1000);
  tsql_expression *list = new_expression(b, EXPRESSION_COALESCE, alo_type_plain(TSQL_INT));
  bool all_null = true;
  bool nullable = true;
  for (const tsql_node *child = node->first; child; child = child->next) {
    tsql_expression *x = alo_bind_expression(b, scope, child);
    all_null = all_null && x->is_null;
    nullable = nullable && x->nullable;
    alo_expression_add(list, x);
  }
  if (all_null)
    alo_throw(b->context, 8133);
  tsql_type type = common_type(list->first, 1);
  tsql_expression *result = new_expression(b, EXPRESSION_COALESCE, type);
  result->nullable = nullable;
  for (tsql_expression *x = list->first, *next; x; x = next) {
    next = x->next;
    x->next = NULL;
    alo_expression_add(result, alo_expression_convert(b->context, x, type, true));
  }
  return result;
}

/* ISNULL has the type of its first argument. */
static tsql_expression *bind_isnull(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  check_count(b, node, "isnull", 2, 2);
  tsql_expression *x = alo_bind_expression(b, scope, node->first);
  tsql_expression *y = alo_bind_expression(b, scope, node->last);
  type_nulls(x, y);
  tsql_expression *result = new_expression(b, EXPRESSION_COALESCE, x->type);
  result->nullable = x->nullable && y->nullable;
  alo_expression_add(result, x);
  alo_expression_add(result, alo_expression_convert(b->context, y, x->type, true));
  return result;
}

/* Subqueries. */

static tsql_expression *subquery(tsql_binder *b, tsql_scope *scope, const tsql_query *query,
                                 tsql_query_use use, tsql_bound_query *bound) {
  if (scope && scope->in_aggregate)
    alo_throw(b->context, 130);
  if (scope && scope->clause == CLAUSE_GROUP)
    alo_throw(b->context, 144);
  tsql_scope *bridge = ALO_NEW(b->context, tsql_scope);
  bridge->outer = scope;
  bridge->clause = CLAUSE_SELECT;
  *bound = alo_bind_query(b, query, &(tsql_query_request){.use = use, .outer = bridge});
  tsql_expression *x = new_expression(b, EXPRESSION_INPUT, alo_type_plain(TSQL_PREDICATE));
  x->input = INPUT_SUBQUERY;
  x->references = bridge->references;
  x->sql = bound->sql;
  if (bound->count > 0 && use == QUERY_VALUE)
    x->type = bound->columns[0].type;
  return x;
}

static tsql_expression *bind_subquery(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  tsql_bound_query bound;
  tsql_expression *x = subquery(b, scope, node->query, QUERY_VALUE, &bound);
  tsql_string sql = {.context = b->context};
  alo_string_add(&sql, "(SELECT aloft_single(c1) FROM (%.*s))", ALOFT_PRINT(bound.sql));
  x->sql = alo_string_text(&sql);
  return x;
}

static tsql_expression *bind_exists(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  tsql_bound_query bound;
  tsql_expression *x = subquery(b, scope, node->query, QUERY_EXISTS, &bound);
  tsql_string sql = {.context = b->context};
  alo_string_add(&sql, "EXISTS(%.*s)", ALOFT_PRINT(bound.sql));
  x->sql = alo_string_text(&sql);
  x->nullable = false;
  return x;
}

static void add_references(tsql_binder *b, tsql_expression *to, const tsql_expression *x) {
  if (x->kind == EXPRESSION_INPUT && x->input == INPUT_COLUMN) {
    tsql_expression *copy = ALO_NEW(b->context, tsql_expression);
    *copy = *x;
    copy->next = NULL;
    remember(b, &to->references, copy);
  }
  for (tsql_reference *r = x->references; r; r = r->next)
    remember(b, &to->references, r->column);
  for (const tsql_expression *child = x->first; child; child = child->next)
    add_references(b, to, child);
}

/* A query of one column with its values in another type. */
static aloft_text convert_members(tsql_binder *b, aloft_text query, tsql_type from, tsql_type to) {
  tsql_expression *member = new_expression(b, EXPRESSION_INPUT, from);
  member->sql = ALOFT_TEXT("c1");
  member = alo_expression_convert(b->context, member, to, true);
  if (alo_expression_same_storage(from, to))
    return query;
  tsql_string sql = {.context = b->context};
  alo_string_add(&sql, "SELECT ");
  alo_emit(b, &sql, member, false);
  alo_string_add(&sql, " FROM (%.*s)", ALOFT_PRINT(query));
  return alo_string_text(&sql);
}

static tsql_expression *bind_in_query(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  tsql_expression *value = alo_bind_expression(b, scope, node->first);
  tsql_bound_query bound;
  tsql_expression *x = subquery(b, scope, node->query, QUERY_VALUE, &bound);
  type_nulls(value, x);
  tsql_type type = alo_type_common(value->type, x->type);
  value = alo_expression_convert(b->context, value, type, true);
  add_references(b, x, value);
  aloft_text members = convert_members(b, bound.sql, x->type, type);
  tsql_string sql = {.context = b->context};
  alo_string_add(&sql, "(");
  alo_emit(b, &sql, value, true);
  alo_string_add(&sql, "%s IN (%.*s))", node->negated ? " NOT" : "", ALOFT_PRINT(members));
  x->sql = alo_string_text(&sql);
  x->type = alo_type_plain(TSQL_PREDICATE);
  return x;
}

/* Aggregates. */

static const char *const aggregates[] = {"COUNT", "COUNT_BIG", "SUM", "AVG", "MIN", "MAX"};

bool alo_bind_is_aggregate(aloft_text name) {
  for (size_t i = 0; i < sizeof aggregates / sizeof *aggregates; i++)
    if (alo_word_is(name, aggregates[i]))
      return true;
  return false;
}

static void check_aggregate(tsql_binder *b, tsql_scope *scope) {
  if (!scope || scope->clause == CLAUSE_OTHER)
    alo_throw(b->context, 40510, ALOFT_PRINT(ALOFT_TEXT("aggregate outside a query")));
  if (scope->in_aggregate)
    alo_throw(b->context, 130);
  if (scope->clause == CLAUSE_WHERE)
    alo_throw(b->context, 147);
  if (scope->clause == CLAUSE_GROUP)
    alo_throw(b->context, 144);
  if (scope->clause == CLAUSE_SET)
    alo_throw(b->context, 157);
}

/* All columns of the argument must be this query's own. */
static void check_own_columns(tsql_binder *b, tsql_scope *scope) {
  for (tsql_reference *r = scope->own; r; r = r->next)
    if (r->column->scope != scope)
      alo_throw(b->context, 40510, ALOFT_PRINT(ALOFT_TEXT("aggregate of an outer query's column")));
}

static tsql_expression *aggregate_input(tsql_binder *b, tsql_scope *scope, const char *function,
                                        bool distinct, tsql_expression *argument, tsql_type type) {
  tsql_string sql = {.context = b->context};
  alo_string_add(&sql, "%s(%s", function, distinct ? "DISTINCT " : "");
  if (argument)
    alo_emit(b, &sql, argument, true);
  else
    alo_string_add(&sql, "*");
  alo_string_add(&sql, ")");
  tsql_expression *x = new_expression(b, EXPRESSION_INPUT, type);
  x->input = INPUT_AGGREGATE;
  x->scope = scope;
  x->sql = alo_string_text(&sql);
  scope->has_aggregate = true;
  return x;
}

/* The argument as it is summed: int and smaller as int. */
static tsql_expression *summand(tsql_binder *b, tsql_expression *x, aloft_text name) {
  tsql_kind kind = x->type.kind;
  if (x->is_null || !alo_kind_is_number(kind) || kind == TSQL_BIT)
    invalid_operand(b, name, x->type);
  if (kind == TSQL_TINYINT || kind == TSQL_SMALLINT)
    return alo_expression_convert(b->context, x, alo_type_plain(TSQL_INT), true);
  if (kind == TSQL_REAL)
    return alo_expression_convert(b->context, x, alo_type_plain(TSQL_FLOAT), true);
  return x;
}

static tsql_expression *bind_sum(tsql_binder *b, tsql_scope *scope, tsql_expression *x,
                                 bool distinct) {
  x = summand(b, x, ALOFT_TEXT("sum"));
  tsql_type type = x->type;
  const char *function = type.kind == TSQL_INT      ? "aloft_sum_int"
                         : type.kind == TSQL_BIGINT ? "aloft_sum_bigint"
                         : type.kind == TSQL_FLOAT  ? "aloft_sum_float"
                                                    : "aloft_sum_decimal";
  if (type.kind == TSQL_DECIMAL)
    type.precision = TSQL_PRECISION_MAX;
  return aggregate_input(b, scope, function, distinct, x, type);
}

/* Sum by count. */
static tsql_expression *bind_average(tsql_binder *b, tsql_scope *scope, tsql_expression *x,
                                     bool distinct) {
  x = summand(b, x, ALOFT_TEXT("avg"));
  tsql_type type = x->type;
  tsql_type work = type;
  const char *function = "aloft_sum_bigint";
  if (type.kind == TSQL_FLOAT) {
    function = "aloft_sum_float";
  } else if (type.kind == TSQL_DECIMAL) {
    function = "aloft_sum_decimal";
    work.precision = TSQL_PRECISION_MAX;
    type = alo_type_decimal(TSQL_PRECISION_MAX, type.scale > 6 ? type.scale : 6);
    type.numeric = x->type.numeric;
  } else {
    work = alo_type_plain(TSQL_BIGINT);
  }
  tsql_expression *sum = aggregate_input(b, scope, function, distinct, x, work);
  tsql_expression *count =
      aggregate_input(b, scope, "count", distinct, x, alo_type_plain(TSQL_BIGINT));
  tsql_type count_type = work.kind == TSQL_DECIMAL ? alo_type_decimal(19, 0) : work;
  count = alo_expression_convert(b->context, count, count_type, true);
  tsql_expression *average =
      pair(b, EXPRESSION_ARITHMETIC, work.kind == TSQL_DECIMAL ? type : work, sum, count);
  average->op = '/';
  return alo_expression_convert(b->context, average, type, true);
}

static tsql_expression *bind_extreme(tsql_binder *b, tsql_scope *scope, const tsql_node *node,
                                     tsql_expression *x) {
  bool least = alo_word_is(node->name, "MIN");
  if (x->is_null || x->type.kind == TSQL_BIT)
    invalid_operand(b, least ? ALOFT_TEXT("min") : ALOFT_TEXT("max"), x->type);
  return aggregate_input(b, scope, least ? "min" : "max", false, x, x->type);
}

static tsql_expression *bind_aggregate(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  check_aggregate(b, scope);
  aloft_text name = node->name;
  if (node->count != 1)
    alo_throw(b->context, 174, ALOFT_PRINT(name), 1);
  bool count = alo_word_is(name, "COUNT") || alo_word_is(name, "COUNT_BIG");
  tsql_type count_type = alo_type_plain(alo_word_is(name, "COUNT") ? TSQL_INT : TSQL_BIGINT);
  if (node->first->kind == NODE_STAR) {
    if (!count || node->distinct)
      alo_throw(b->context, 102, ALOFT_PRINT(ALOFT_TEXT("*")));
    tsql_expression *all = aggregate_input(b, scope, "count", false, NULL, count_type);
    all->nullable = false;
    return all;
  }
  scope->in_aggregate = true;
  scope->own = NULL;
  tsql_expression *x = alo_bind_expression(b, scope, node->first);
  scope->in_aggregate = false;
  check_own_columns(b, scope);
  if (count) {
    if (x->is_null)
      invalid_operand(b, ALOFT_TEXT("count"), x->type);
    tsql_expression *some = aggregate_input(b, scope, "count", node->distinct, x, count_type);
    some->nullable = false;
    return some;
  }
  if (alo_word_is(name, "SUM"))
    return bind_sum(b, scope, x, node->distinct);
  if (alo_word_is(name, "AVG"))
    return bind_average(b, scope, x, node->distinct);
  return bind_extreme(b, scope, node, x);
}

/* Calls. */

/* The word before the other arguments of DATEADD and its kin. */
static const tsql_node *take_part(tsql_binder *b, const tsql_node *node, tsql_expression *call) {
  static const char *const with_part[] = {"DATEADD", "DATEDIFF", "DATEDIFF_BIG", "DATEPART",
                                          "DATENAME"};
  static const struct {
    const char *name;
    tsql_part part;
  } own[] = {{"YEAR", TSQL_PART_YEAR}, {"MONTH", TSQL_PART_MONTH}, {"DAY", TSQL_PART_DAY}};
  for (size_t i = 0; i < 3; i++)
    if (alo_word_is(node->name, own[i].name))
      call->part = own[i].part;
  bool has_part = false;
  for (size_t i = 0; i < sizeof with_part / sizeof *with_part; i++)
    has_part = has_part || alo_word_is(node->name, with_part[i]);
  if (!has_part || !node->first)
    return node->first;
  call->part = alo_time_part(node->first->name);
  if (node->first->kind != NODE_COLUMN || node->first->qualifier.data ||
      call->part == TSQL_PART_NONE)
    alo_throw(b->context, 40510, ALOFT_PRINT(node->first->source));
  return node->first->next;
}

static void check_arguments(tsql_binder *b, const tsql_node *node, const tsql_expression *call) {
  const tsql_function *f = call->function;
  char lower[32];
  size_t size = strlen(f->name) < sizeof lower ? strlen(f->name) : sizeof lower - 1;
  for (size_t i = 0; i < size; i++)
    lower[i] = (char)alo_text_lower((uint8_t)f->name[i]);
  int parts = node->count > call->count ? 1 : 0;
  if (call->count >= f->least && call->count <= f->most)
    return;
  if (f->least == f->most)
    alo_throw(b->context, 174, (int)size, lower, f->least + parts);
  alo_throw(b->context, 189, (int)size, lower, f->least, f->most);
}

static tsql_expression *bind_call(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  if (alo_bind_is_aggregate(node->name))
    return bind_aggregate(b, scope, node);
  if (node->distinct || (node->first && node->first->kind == NODE_STAR))
    alo_throw(b->context, 102, ALOFT_PRINT(node->name));
  if (alo_word_is(node->name, "IIF"))
    return bind_iif(b, scope, node);
  if (alo_word_is(node->name, "NULLIF"))
    return bind_nullif(b, scope, node);
  if (alo_word_is(node->name, "COALESCE"))
    return bind_coalesce(b, scope, node);
  if (alo_word_is(node->name, "ISNULL"))
    return bind_isnull(b, scope, node);
  tsql_expression *call = new_expression(b, EXPRESSION_CALL, alo_type_plain(TSQL_INT));
  call->function = alo_function_find(node->name);
  if (!call->function)
    alo_throw(b->context, alo_function_is_missing(node->name) ? 40510 : 195,
              ALOFT_PRINT(node->name));
  call->nullable = false;
  for (const tsql_node *child = take_part(b, node, call); child; child = child->next) {
    tsql_expression *x = alo_bind_expression(b, scope, child);
    call->nullable = call->nullable || x->nullable;
    alo_expression_add(call, x);
    if (call->count > TSQL_ARGUMENTS_MAX)
      break;
  }
  check_arguments(b, node, call);
  call->function->bind(b->context, call);
  return call;
}

static tsql_expression *bind_cast(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  tsql_expression *x = alo_bind_expression(b, scope, node->first);
  bool was_null = x->is_null;
  bool styled = node->count > 1;
  int style = 0;
  if (styled) {
    const tsql_node *given = node->last;
    if (given->kind != NODE_CONSTANT || given->type.kind != TSQL_INT)
      alo_throw(b->context, 40510,
                ALOFT_PRINT(ALOFT_TEXT("CONVERT with a style that is not a "
                                       "constant")));
    style = (int)given->value.integer;
  }
  x = alo_expression_convert(b->context, x, node->type, false);
  if (was_null) {
    x->is_null = false;
    return x;
  }
  bool text = alo_kind_is_text(node->type.kind);
  bool text_from = x->first && alo_kind_is_text(x->first->type.kind);
  bool bytes = alo_kind_is_binary(node->type.kind) && text_from;
  if (x->kind != EXPRESSION_CONVERT)
    x->is_literal = false;
  else if (style != 0 && (text || bytes) && !(text && text_from))
    x->style = style;
  else if (style != 0 && text_from && alo_kind_is_time(node->type.kind) && style != 120 &&
           style != 121 && style != 126 && style != 112)
    alo_throw(b->context, 40510,
              ALOFT_PRINT(ALOFT_TEXT("CONVERT of text to a date with this style")));
  return x;
}

static tsql_expression *bind_constant(tsql_binder *b, const tsql_node *node) {
  tsql_expression *x = new_constant(b, node->type, node->value);
  x->is_literal = node->type.kind == TSQL_INT;
  return x;
}

enum { WORK_MAX = 500000 }; /* CASE and BETWEEN bind an operand more than once */

static tsql_expression *bind(tsql_binder *b, tsql_scope *scope, const tsql_node *node) {
  if (++b->work > WORK_MAX)
    alo_throw(b->context, 8632);
  switch (node->kind) {
  case NODE_CONSTANT:
    return bind_constant(b, node);
  case NODE_NULL:
    return null_literal(b);
  case NODE_VARIABLE:
    return bind_variable(b, node);
  case NODE_GLOBAL:
    return bind_global(b, node);
  case NODE_COLUMN:
    return alo_bind_column(b, scope, node);
  case NODE_NEGATE:
  case NODE_INVERT:
    return bind_negate(b, scope, node);
  case NODE_ARITHMETIC:
    return bind_arithmetic(b, scope, node);
  case NODE_COMPARE:
    return bind_compare(b, scope, node);
  case NODE_AND:
  case NODE_OR:
  case NODE_NOT:
    return bind_connective(b, scope, node);
  case NODE_BETWEEN:
    return bind_between(b, scope, node);
  case NODE_IN:
    return bind_in(b, scope, node);
  case NODE_IN_QUERY:
    return bind_in_query(b, scope, node);
  case NODE_LIKE:
    return bind_like(b, scope, node);
  case NODE_IS_NULL:
    return bind_is_null(b, scope, node);
  case NODE_EXISTS:
    return bind_exists(b, scope, node);
  case NODE_CASE:
    return bind_case(b, scope, node);
  case NODE_CAST:
    return bind_cast(b, scope, node);
  case NODE_CALL:
    return bind_call(b, scope, node);
  case NODE_QUERY:
    return bind_subquery(b, scope, node);
  case NODE_STAR:
  case NODE_DEFAULT:
    break;
  }
  alo_throw(b->context, node->kind == NODE_STAR ? 102 : 156, ALOFT_PRINT(node->source));
}
