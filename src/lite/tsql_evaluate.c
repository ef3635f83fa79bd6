#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine.h"
#include "tsql_expression.h"
#include "tsql_text.h"

typedef struct evaluation {
  tsql_context *context;
  const tsql_environment *environment;
  const tsql_value *inputs;
} evaluation;

static tsql_value evaluate(const evaluation *e, const tsql_expression *x);

static tsql_value truth(bool yes) {
  return (tsql_value){.integer = yes};
}

void alo_expression_add(tsql_expression *parent, tsql_expression *child) {
  if (parent->last)
    parent->last->next = child;
  else
    parent->first = child;
  parent->last = child;
  parent->count++;
}

static bool equal_values(const tsql_expression *a, const tsql_expression *b) {
  if (a->value.null || b->value.null)
    return a->value.null == b->value.null;
  if (alo_kind_is_text(a->type.kind)) /* 'a' and 'A' are two constants */
    return a->value.text.size == b->value.text.size &&
           memcmp(a->value.text.data, b->value.text.data, a->value.text.size) == 0;
  return alo_value_compare(&a->value, &b->value, a->type) == 0;
}

bool alo_expression_equal(const tsql_expression *a, const tsql_expression *b) {
  if (a->kind != b->kind || a->op != b->op || a->negated != b->negated || a->count != b->count ||
      !alo_type_equal(a->type, b->type) || a->style != b->style || a->part != b->part ||
      a->function != b->function)
    return false;
  switch (a->kind) {
  case EXPRESSION_CONSTANT:
    return equal_values(a, b);
  case EXPRESSION_VARIABLE:
    return a->slot == b->slot;
  case EXPRESSION_INPUT:
    return a->sql.size == b->sql.size && memcmp(a->sql.data, b->sql.data, a->sql.size) == 0;
  default:
    break;
  }
  const tsql_expression *y = b->first;
  for (const tsql_expression *x = a->first; x; x = x->next, y = y->next)
    if (!alo_expression_equal(x, y))
      return false;
  return true;
}

static bool same_text_storage(tsql_type from, tsql_type to) {
  bool varying = to.kind == TSQL_VARCHAR || to.kind == TSQL_NVARCHAR || to.kind == TSQL_VARBINARY;
  if (!varying || to.length < from.length)
    return false;
  if (to.kind == TSQL_NVARCHAR)
    return alo_kind_is_text(from.kind);
  if (to.kind == TSQL_VARCHAR)
    return from.kind == TSQL_CHAR || from.kind == TSQL_VARCHAR;
  return alo_kind_is_binary(from.kind);
}

bool alo_expression_same_storage(tsql_type from, tsql_type to) {
  if (alo_type_equal(from, to))
    return true;
  if (alo_kind_is_integer(from.kind))
    return to.kind != TSQL_BIT && alo_kind_is_integer(to.kind) && to.kind >= from.kind;
  if (from.kind == TSQL_REAL)
    return to.kind == TSQL_FLOAT;
  if (from.kind == TSQL_DECIMAL)
    return to.kind == TSQL_DECIMAL && from.scale == to.scale && from.precision <= to.precision;
  if (from.kind == TSQL_DATETIME || from.kind == TSQL_DATETIME2)
    return to.kind == TSQL_DATETIME2 &&
           (to.scale == 7 || (from.kind == to.kind && from.scale <= to.scale));
  if (from.kind == TSQL_SMALLDATETIME)
    return to.kind == TSQL_DATETIME || to.kind == TSQL_DATETIME2;
  if (from.kind == TSQL_TIME || from.kind == TSQL_DATETIMEOFFSET)
    return to.kind == from.kind && from.scale <= to.scale;
  return same_text_storage(from, to);
}

static void check_conversion(tsql_context *context, tsql_type from, tsql_type to, bool implicit) {
  tsql_conversion allowed = alo_type_conversion(from, to);
  aloft_text from_name = alo_type_name(from);
  aloft_text to_name = alo_type_name(to);
  if (allowed == TSQL_CONVERT_IMPLICIT || (allowed == TSQL_CONVERT_EXPLICIT && !implicit))
    return;
  if (allowed == TSQL_CONVERT_MISSING) {
    char text[96];
    int size = snprintf(text, sizeof text, "conversion from %.*s to %.*s", ALOFT_PRINT(from_name),
                        ALOFT_PRINT(to_name));
    alo_throw(context, 40510, size < (int)sizeof text ? size : (int)sizeof text - 1, text);
  }
  alo_throw(context, implicit ? 206 : 529, ALOFT_PRINT(from_name), ALOFT_PRINT(to_name));
}

tsql_expression *alo_expression_convert(tsql_context *context, tsql_expression *x, tsql_type to,
                                        bool implicit) {
  if (x->is_null) {
    x->type = to;
    return x;
  }
  check_conversion(context, x->type, to, implicit);
  bool renamed = x->type.kind == TSQL_DECIMAL && to.kind == TSQL_DECIMAL &&
                 x->type.precision == to.precision && x->type.scale == to.scale;
  if (alo_type_equal(x->type, to) && !renamed)
    return x;
  tsql_expression *convert = ALO_NEW(context, tsql_expression);
  *convert = (tsql_expression){.kind = EXPRESSION_CONVERT, .type = to, .nullable = x->nullable};
  convert->next = x->next;
  x->next = NULL;
  alo_expression_add(convert, x);
  return convert;
}

void alo_expression_convert_child(tsql_context *context, tsql_expression *parent,
                                  tsql_expression *child, tsql_type to) {
  tsql_expression **link = &parent->first;
  while (*link != child)
    link = &(*link)->next;
  bool last = parent->last == child;
  *link = alo_expression_convert(context, child, to, true);
  if (last)
    parent->last = *link;
}

/* Arithmetic. */

static _Noreturn void overflow(const evaluation *e, tsql_type type) {
  aloft_text name = alo_type_name(type);
  if (type.kind == TSQL_DECIMAL)
    name = ALOFT_TEXT("numeric");
  alo_throw(e->context, 8115, ALOFT_PRINT(ALOFT_TEXT("expression")), ALOFT_PRINT(name));
}

static int64_t range_check(const evaluation *e, tsql_type type, int64_t number) {
  bool fits = type.kind == TSQL_TINYINT    ? number >= 0 && number <= UINT8_MAX
              : type.kind == TSQL_SMALLINT ? number >= INT16_MIN && number <= INT16_MAX
              : type.kind == TSQL_INT      ? number >= INT32_MIN && number <= INT32_MAX
                                           : true;
  if (!fits)
    overflow(e, type);
  return number;
}

static int64_t add_integers(const evaluation *e, tsql_type type, int64_t a, int64_t b) {
  if ((b > 0 && a > INT64_MAX - b) || (b < 0 && a < INT64_MIN - b))
    overflow(e, type);
  return range_check(e, type, a + b);
}

static int64_t subtract_integers(const evaluation *e, tsql_type type, int64_t a, int64_t b) {
  if ((b < 0 && a > INT64_MAX + b) || (b > 0 && a < INT64_MIN + b))
    overflow(e, type);
  return range_check(e, type, a - b);
}

static int64_t multiply_integers(const evaluation *e, tsql_type type, int64_t a, int64_t b) {
  tsql_decimal x = alo_decimal_of(a);
  tsql_decimal y = alo_decimal_of(b);
  tsql_decimal product;
  int64_t number;
  if (!alo_decimal_multiply(&x, 0, &y, 0, 0, 38, &product) ||
      !alo_decimal_to_int64(&product, &number))
    overflow(e, type);
  return range_check(e, type, number);
}

static tsql_value integer_arithmetic(const evaluation *e, const tsql_expression *x, int64_t a,
                                     int64_t b) {
  switch (x->op) {
  case '+':
    return (tsql_value){.integer = add_integers(e, x->type, a, b)};
  case '-':
    return (tsql_value){.integer = subtract_integers(e, x->type, a, b)};
  case '*':
    return (tsql_value){.integer = multiply_integers(e, x->type, a, b)};
  case '&':
    return (tsql_value){.integer = a & b};
  case '|':
    return (tsql_value){.integer = a | b};
  case '^':
    return (tsql_value){.integer = a ^ b};
  default:
    break;
  }
  if (b == 0)
    alo_throw(e->context, 8134);
  if (b == -1) /* the one quotient that may not fit */
    return (tsql_value){.integer = x->op == '%' ? 0 : subtract_integers(e, x->type, 0, a)};
  return (tsql_value){.integer = x->op == '/' ? a / b : a % b};
}

static tsql_value real_arithmetic(const evaluation *e, const tsql_expression *x, double a,
                                  double b) {
  double number;
  switch (x->op) {
  case '+':
    number = a + b;
    break;
  case '-':
    number = a - b;
    break;
  case '*':
    number = a * b;
    break;
  default:
    if (b == 0)
      alo_throw(e->context, 8134);
    number = a / b;
  }
  if (x->type.kind == TSQL_REAL && fabs(number) <= FLT_MAX)
    number = (float)number;
  if (!isfinite(number) || (x->type.kind == TSQL_REAL && fabs(number) > FLT_MAX))
    overflow(e, x->type);
  return (tsql_value){.real = number};
}

static tsql_value decimal_arithmetic(const evaluation *e, const tsql_expression *x,
                                     const tsql_decimal *a, const tsql_decimal *b) {
  int a_scale = x->first->type.scale;
  int b_scale = x->last->type.scale;
  int scale = x->type.scale;
  int precision = x->type.precision;
  if ((x->op == '/' || x->op == '%') && alo_decimal_is_zero(b))
    alo_throw(e->context, 8134);
  tsql_value result = {0};
  tsql_decimal negative = *b;
  negative.negative = !b->negative && !alo_decimal_is_zero(b);
  bool fits;
  if (x->op == '+')
    fits = alo_decimal_add(a, a_scale, b, b_scale, scale, precision, &result.decimal);
  else if (x->op == '-')
    fits = alo_decimal_add(a, a_scale, &negative, b_scale, scale, precision, &result.decimal);
  else if (x->op == '*')
    fits = alo_decimal_multiply(a, a_scale, b, b_scale, scale, precision, &result.decimal);
  else if (x->op == '/')
    fits = alo_decimal_divide(a, a_scale, b, b_scale, scale, precision, &result.decimal);
  else
    fits = alo_decimal_remainder(a, a_scale, b, b_scale, scale, precision, &result.decimal);
  if (!fits)
    overflow(e, x->type);
  return result;
}

static tsql_value arithmetic(const evaluation *e, const tsql_expression *x) {
  tsql_value a = evaluate(e, x->first);
  tsql_value b = evaluate(e, x->last);
  if (a.null || b.null)
    return TSQL_NULL;
  if (x->type.kind == TSQL_DECIMAL)
    return decimal_arithmetic(e, x, &a.decimal, &b.decimal);
  if (x->type.kind == TSQL_REAL || x->type.kind == TSQL_FLOAT)
    return real_arithmetic(e, x, a.real, b.real);
  return integer_arithmetic(e, x, a.integer, b.integer);
}

static tsql_value negate(const evaluation *e, const tsql_expression *x) {
  tsql_value a = evaluate(e, x->first);
  if (a.null)
    return TSQL_NULL;
  if (x->type.kind == TSQL_DECIMAL)
    a.decimal.negative = !a.decimal.negative && !alo_decimal_is_zero(&a.decimal);
  else if (x->type.kind == TSQL_REAL || x->type.kind == TSQL_FLOAT)
    a.real = -a.real;
  else
    a.integer = subtract_integers(e, x->type, 0, a.integer);
  return a;
}

static tsql_value invert(const evaluation *e, const tsql_expression *x) {
  tsql_value a = evaluate(e, x->first);
  if (a.null)
    return TSQL_NULL;
  a.integer = x->type.kind == TSQL_BIT       ? !a.integer
              : x->type.kind == TSQL_TINYINT ? (uint8_t)~a.integer
                                             : ~a.integer;
  return a;
}

static tsql_value concat(const evaluation *e, const tsql_expression *x) {
  tsql_value a = evaluate(e, x->first);
  tsql_value b = evaluate(e, x->last);
  if (a.null || b.null)
    return TSQL_NULL;
  size_t size = a.text.size + b.text.size;
  if (size > ALO_ENGINE_ROW_MAX)
    alo_throw(e->context, 701);
  char *out = alo_take(e->context, size + 1);
  if (a.text.size > 0)
    memcpy(out, a.text.data, a.text.size);
  if (b.text.size > 0)
    memcpy(out + a.text.size, b.text.data, b.text.size);
  tsql_value result = {.text = {out, size}};
  if (x->type.length == TSQL_MAX)
    return result;
  tsql_type whole = x->type;
  whole.length = TSQL_MAX;
  return alo_convert(e->context, &result, whole, x->type, 0, NULL);
}

/* Predicates: a NULL value is "unknown". */

static bool holds(char op, int order) {
  switch (op) {
  case '=':
    return order == 0;
  case '#':
    return order != 0;
  case '<':
    return order < 0;
  case '>':
    return order > 0;
  case '{':
    return order <= 0;
  default:
    return order >= 0;
  }
}

static tsql_value compare(const evaluation *e, const tsql_expression *x) {
  tsql_value a = evaluate(e, x->first);
  tsql_value b = evaluate(e, x->last);
  if (a.null || b.null)
    return TSQL_NULL;
  return truth(holds(x->op, alo_value_compare(&a, &b, x->first->type)));
}

/* AND and OR: the deciding value ends it, an unknown one is remembered. */
static tsql_value connect(const evaluation *e, const tsql_expression *x, bool deciding) {
  bool unknown = false;
  for (const tsql_expression *child = x->first; child; child = child->next) {
    tsql_value value = evaluate(e, child);
    if (value.null)
      unknown = true;
    else if ((value.integer != 0) == deciding)
      return truth(deciding);
  }
  return unknown ? TSQL_NULL : truth(!deciding);
}

static tsql_value not(const evaluation *e, const tsql_expression *x) {
  tsql_value value = evaluate(e, x->first);
  value.integer = !value.integer;
  return value;
}

static tsql_value in(const evaluation *e, const tsql_expression *x) {
  tsql_value value = evaluate(e, x->first);
  if (value.null)
    return TSQL_NULL;
  bool unknown = false;
  for (const tsql_expression *child = x->first->next; child; child = child->next) {
    tsql_value member = evaluate(e, child);
    if (member.null)
      unknown = true;
    else if (alo_value_compare(&value, &member, x->first->type) == 0)
      return truth(!x->negated);
  }
  return unknown ? TSQL_NULL : truth(x->negated);
}

static tsql_value like(const evaluation *e, const tsql_expression *x) {
  tsql_value text = evaluate(e, x->first);
  tsql_value pattern = evaluate(e, x->first->next);
  uint32_t escape = 0;
  if (x->count > 2) {
    tsql_value given = evaluate(e, x->last);
    if (given.null)
      return TSQL_NULL;
    size_t at = 0;
    if (given.text.size > 0)
      escape = alo_text_next(given.text, &at);
    if (given.text.size == 0 || at < given.text.size)
      alo_throw(e->context, 506, ALOFT_PRINT(given.text));
  }
  if (text.null || pattern.null)
    return TSQL_NULL;
  /* There one wildcard stands for one UTF-16 unit. */
  if (pattern.text.size && (memchr(pattern.text.data, '_', pattern.text.size) ||
                            memchr(pattern.text.data, '[', pattern.text.size)))
    alo_refuse_pairs(e->context, text.text);
  bool found = alo_text_like(text.text, pattern.text, escape);
  bool narrow = !alo_kind_is_wide(x->first->type.kind);
  if (!found && narrow) /* the trailing blanks of char and varchar do not count */
    found = alo_text_like(alo_text_trimmed(text.text), pattern.text, escape);
  return truth(found != x->negated);
}

static tsql_value is_null(const evaluation *e, const tsql_expression *x) {
  return truth(evaluate(e, x->first).null != x->negated);
}

static tsql_value choose(const evaluation *e, const tsql_expression *x) {
  const tsql_expression *child = x->first;
  while (child && child->next) {
    tsql_value condition = evaluate(e, child);
    if (!condition.null && condition.integer)
      return evaluate(e, child->next);
    child = child->next->next;
  }
  return child ? evaluate(e, child) : TSQL_NULL;
}

static tsql_value coalesce(const evaluation *e, const tsql_expression *x) {
  tsql_value value = TSQL_NULL;
  for (const tsql_expression *child = x->first; child && value.null; child = child->next)
    value = evaluate(e, child);
  return value;
}

static tsql_value convert(const evaluation *e, const tsql_expression *x) {
  tsql_value value = evaluate(e, x->first);
  if (value.null || (x->style == 0 && alo_expression_same_storage(x->first->type, x->type)))
    return value;
  return alo_convert(e->context, &value, x->first->type, x->type, x->style, NULL);
}

static tsql_value assign(const evaluation *e, const tsql_expression *x) {
  tsql_value value = evaluate(e, x->first);
  if (value.null && x->required)
    alo_throw(e->context, 515, ALOFT_PRINT(x->target.column), ALOFT_PRINT(x->target.table),
              ALOFT_PRINT(x->fails));
  return alo_convert(e->context, &value, x->first->type, x->type, 0, &x->target);
}

static tsql_value call(const evaluation *e, const tsql_expression *x) {
  tsql_value arguments[TSQL_ARGUMENTS_MAX];
  size_t count = 0;
  bool null = false;
  for (const tsql_expression *child = x->first; child; child = child->next) {
    arguments[count] = evaluate(e, child);
    null = null || arguments[count].null;
    count++;
  }
  if (null && x->function->null_in_null_out)
    return TSQL_NULL;
  return x->function->evaluate(e->context, e->environment, x, arguments);
}

static tsql_value evaluate(const evaluation *e, const tsql_expression *x) {
  switch (x->kind) {
  case EXPRESSION_CONSTANT:
    return x->value;
  case EXPRESSION_VARIABLE:
    return e->environment->variables[x->slot].value;
  case EXPRESSION_INPUT:
    return e->inputs[x->slot];
  case EXPRESSION_CONVERT:
    return convert(e, x);
  case EXPRESSION_ASSIGN:
    return assign(e, x);
  case EXPRESSION_NEGATE:
    return negate(e, x);
  case EXPRESSION_INVERT:
    return invert(e, x);
  case EXPRESSION_ARITHMETIC:
    return arithmetic(e, x);
  case EXPRESSION_CONCAT:
    return concat(e, x);
  case EXPRESSION_COMPARE:
    return compare(e, x);
  case EXPRESSION_AND:
    return connect(e, x, false);
  case EXPRESSION_OR:
    return connect(e, x, true);
  case EXPRESSION_NOT:
    return not(e, x);
  case EXPRESSION_IN:
    return in(e, x);
  case EXPRESSION_LIKE:
    return like(e, x);
  case EXPRESSION_IS_NULL:
    return is_null(e, x);
  case EXPRESSION_CASE:
    return choose(e, x);
  case EXPRESSION_COALESCE:
    return coalesce(e, x);
  case EXPRESSION_CALL:
    return call(e, x);
  }
  return TSQL_NULL;
}

tsql_value alo_evaluate(tsql_context *context, const tsql_environment *environment,
                        const tsql_expression *expression, const tsql_value *inputs) {
  const evaluation e = {context, environment, inputs};
  return evaluate(&e, expression);
}
