#include "tsql_type.h"

#include <string.h>

bool alo_kind_is_text(tsql_kind kind) {
  return kind >= TSQL_CHAR && kind <= TSQL_NVARCHAR;
}

bool alo_kind_is_wide(tsql_kind kind) {
  return kind == TSQL_NCHAR || kind == TSQL_NVARCHAR;
}

bool alo_kind_is_binary(tsql_kind kind) {
  return kind == TSQL_BINARY || kind == TSQL_VARBINARY;
}

bool alo_kind_is_integer(tsql_kind kind) {
  return kind >= TSQL_BIT && kind <= TSQL_BIGINT;
}

bool alo_kind_is_number(tsql_kind kind) {
  return kind >= TSQL_BIT && kind <= TSQL_FLOAT;
}

bool alo_kind_is_time(tsql_kind kind) {
  return kind >= TSQL_TIME && kind <= TSQL_DATETIMEOFFSET;
}

bool alo_kind_is_fixed(tsql_kind kind) {
  return kind == TSQL_CHAR || kind == TSQL_NCHAR || kind == TSQL_BINARY;
}

tsql_type alo_type_plain(tsql_kind kind) {
  tsql_type type = {.kind = kind};
  if (kind == TSQL_DATETIME)
    type.scale = 3;
  return type;
}

tsql_type alo_type_decimal(int precision, int scale) {
  return (tsql_type){
      .kind = TSQL_DECIMAL, .precision = (uint8_t)precision, .scale = (uint8_t)scale};
}

tsql_type alo_type_sized(tsql_kind kind, uint64_t length) {
  uint32_t most = alo_kind_is_wide(kind) ? TSQL_WIDE_MAX : TSQL_NARROW_MAX;
  tsql_type type = {.kind = kind, .length = TSQL_MAX};
  if (length != TSQL_MAX)
    type.length = length > most ? most : (uint32_t)length;
  return type;
}

bool alo_type_equal(tsql_type a, tsql_type b) {
  return a.kind == b.kind && a.precision == b.precision && a.scale == b.scale &&
         a.length == b.length;
}

aloft_text alo_type_name(tsql_type type) {
  static const char *const names[] = {
      "binary",           "varbinary", "char",           "varchar",  "nchar", "nvarchar",
      "uniqueidentifier", "bit",       "tinyint",        "smallint", "int",   "bigint",
      "decimal",          "real",      "float",          "time",     "date",  "smalldatetime",
      "datetime",         "datetime2", "datetimeoffset", "boolean"};
  if (type.kind == TSQL_DECIMAL && type.numeric)
    return ALOFT_TEXT("numeric");
  const char *name = names[type.kind];
  return (aloft_text){name, strlen(name)};
}

tsql_type alo_type_as_decimal(tsql_type type) {
  switch (type.kind) {
  case TSQL_BIT:
    return alo_type_decimal(1, 0);
  case TSQL_TINYINT:
    return alo_type_decimal(3, 0);
  case TSQL_SMALLINT:
    return alo_type_decimal(5, 0);
  case TSQL_INT:
    return alo_type_decimal(10, 0);
  case TSQL_BIGINT:
    return alo_type_decimal(19, 0);
  case TSQL_DECIMAL:
    return type;
  default:
    return alo_type_decimal(38, 10);
  }
}

static int larger(int a, int b) {
  return a > b ? a : b;
}

static int smaller(int a, int b) {
  return a < b ? a : b;
}

/* Sums keep the digits before the point and lose some after it. */
static tsql_type fit_sum(int precision, int scale, int integral) {
  if (precision <= TSQL_PRECISION_MAX)
    return alo_type_decimal(precision, scale);
  return alo_type_decimal(TSQL_PRECISION_MAX, smaller(scale, TSQL_PRECISION_MAX - integral));
}

/* Products and quotients keep at least six digits after the point, if they had them. */
static tsql_type fit_product(int precision, int scale) {
  if (precision <= TSQL_PRECISION_MAX)
    return alo_type_decimal(precision, scale);
  int integral = precision - scale;
  if (integral <= 32)
    return alo_type_decimal(TSQL_PRECISION_MAX, smaller(scale, TSQL_PRECISION_MAX - integral));
  return alo_type_decimal(TSQL_PRECISION_MAX, smaller(scale, 6));
}

static tsql_type decimal_arithmetic(char op, tsql_type a, tsql_type b) {
  int scale = larger(a.scale, b.scale);
  int integral = larger(a.precision - a.scale, b.precision - b.scale);
  switch (op) {
  case '*':
    return fit_product(a.precision + b.precision + 1, a.scale + b.scale);
  case '/':
    scale = larger(6, a.scale + b.precision + 1);
    return fit_product(a.precision - a.scale + b.scale + scale, scale);
  case '%':
    integral = smaller(a.precision - a.scale, b.precision - b.scale);
    return fit_sum(larger(integral + scale, 1), scale, integral);
  default:
    return fit_sum(integral + scale + 1, scale, integral);
  }
}

tsql_type alo_type_arithmetic(char op, tsql_type a, tsql_type b) {
  tsql_kind kind = a.kind > b.kind ? a.kind : b.kind;
  if (kind != TSQL_DECIMAL)
    return alo_type_plain(kind);
  tsql_type type = decimal_arithmetic(op, alo_type_as_decimal(a), alo_type_as_decimal(b));
  type.numeric = true;
  return type;
}

static tsql_type common_decimal(tsql_type a, tsql_type b) {
  tsql_type x = alo_type_as_decimal(a);
  tsql_type y = alo_type_as_decimal(b);
  int scale = larger(x.scale, y.scale);
  int integral = larger(x.precision - x.scale, y.precision - y.scale);
  int precision = smaller(integral + scale, TSQL_PRECISION_MAX);
  if (integral + scale > TSQL_PRECISION_MAX)
    scale = TSQL_PRECISION_MAX - integral;
  tsql_type type = alo_type_decimal(precision, scale);
  type.numeric = a.numeric || b.numeric;
  return type;
}

tsql_type alo_type_common(tsql_type a, tsql_type b) {
  tsql_type high = a.kind >= b.kind ? a : b;
  tsql_type low = a.kind >= b.kind ? b : a;
  if (high.kind == TSQL_DECIMAL && alo_kind_is_number(low.kind))
    return common_decimal(a, b);
  bool both_text = alo_kind_is_text(high.kind) && alo_kind_is_text(low.kind);
  bool both_binary = alo_kind_is_binary(high.kind) && alo_kind_is_binary(low.kind);
  if (both_text || both_binary) {
    if (high.kind == TSQL_NCHAR && low.kind == TSQL_VARCHAR)
      high.kind = TSQL_NVARCHAR;
    high.length = high.length > low.length ? high.length : low.length;
    return alo_type_sized(high.kind, high.length);
  }
  bool both_scaled =
      high.kind == TSQL_DATETIME2 || high.kind == TSQL_DATETIMEOFFSET || high.kind == TSQL_TIME;
  if (both_scaled && low.kind == TSQL_DATETIME)
    high.scale = 7; /* its thirds of 10 ms */
  else if (both_scaled && alo_kind_is_time(low.kind) && low.scale > high.scale)
    high.scale = low.scale;
  return high;
}

static tsql_conversion convert_from_time(tsql_kind from, tsql_kind to) {
  if (alo_kind_is_time(to)) {
    bool never = (from == TSQL_DATE && to == TSQL_TIME) || (from == TSQL_TIME && to == TSQL_DATE);
    return never ? TSQL_CONVERT_NEVER : TSQL_CONVERT_IMPLICIT;
  }
  if (alo_kind_is_text(to))
    return TSQL_CONVERT_IMPLICIT;
  bool old = from == TSQL_DATETIME || from == TSQL_SMALLDATETIME;
  if (alo_kind_is_number(to))
    return old ? TSQL_CONVERT_EXPLICIT : TSQL_CONVERT_NEVER;
  return alo_kind_is_binary(to) ? TSQL_CONVERT_MISSING : TSQL_CONVERT_NEVER;
}

static tsql_conversion convert_from_number(tsql_kind from, tsql_kind to) {
  if (alo_kind_is_number(to) || alo_kind_is_text(to))
    return TSQL_CONVERT_IMPLICIT;
  if (alo_kind_is_binary(to))
    return alo_kind_is_integer(from) ? TSQL_CONVERT_IMPLICIT : TSQL_CONVERT_MISSING;
  if (to == TSQL_DATETIME || to == TSQL_SMALLDATETIME)
    return TSQL_CONVERT_IMPLICIT;
  return TSQL_CONVERT_NEVER;
}

static tsql_conversion convert_from_binary(tsql_kind to) {
  if (alo_kind_is_binary(to) || alo_kind_is_integer(to) || to == TSQL_GUID)
    return TSQL_CONVERT_IMPLICIT;
  if (alo_kind_is_text(to))
    return TSQL_CONVERT_IMPLICIT;
  if (to == TSQL_REAL || to == TSQL_FLOAT)
    return TSQL_CONVERT_NEVER;
  return TSQL_CONVERT_MISSING;
}

tsql_conversion alo_type_conversion(tsql_type from, tsql_type to) {
  if (from.kind == to.kind)
    return TSQL_CONVERT_IMPLICIT;
  if (from.kind == TSQL_PREDICATE || to.kind == TSQL_PREDICATE)
    return TSQL_CONVERT_NEVER;
  if (alo_kind_is_text(from.kind))
    return alo_kind_is_binary(to.kind) ? TSQL_CONVERT_EXPLICIT : TSQL_CONVERT_IMPLICIT;
  if (alo_kind_is_number(from.kind))
    return convert_from_number(from.kind, to.kind);
  if (alo_kind_is_time(from.kind))
    return convert_from_time(from.kind, to.kind);
  if (from.kind == TSQL_GUID)
    return alo_kind_is_text(to.kind) || alo_kind_is_binary(to.kind) ? TSQL_CONVERT_IMPLICIT
                                                                    : TSQL_CONVERT_NEVER;
  return convert_from_binary(to.kind);
}

typedef struct type_token {
  uint8_t fixed; /* for NOT NULL; 0: there is only the nullable one */
  uint8_t nullable;
  uint8_t size; /* 0: from the length */
} type_token;

static const type_token tokens[] = {
    [TSQL_BINARY] = {0, ALO_TDS_BIGBINARY, 0},
    [TSQL_VARBINARY] = {0, ALO_TDS_BIGVARBINARY, 0},
    [TSQL_CHAR] = {0, ALO_TDS_BIGCHAR, 0},
    [TSQL_VARCHAR] = {0, ALO_TDS_BIGVARCHAR, 0},
    [TSQL_NCHAR] = {0, ALO_TDS_NCHAR, 0},
    [TSQL_NVARCHAR] = {0, ALO_TDS_NVARCHAR, 0},
    [TSQL_GUID] = {0, ALO_TDS_GUID, 16},
    [TSQL_BIT] = {ALO_TDS_BIT, ALO_TDS_BITN, 1},
    [TSQL_TINYINT] = {ALO_TDS_INT1, ALO_TDS_INTN, 1},
    [TSQL_SMALLINT] = {ALO_TDS_INT2, ALO_TDS_INTN, 2},
    [TSQL_INT] = {ALO_TDS_INT4, ALO_TDS_INTN, 4},
    [TSQL_BIGINT] = {ALO_TDS_INT8, ALO_TDS_INTN, 8},
    [TSQL_DECIMAL] = {0, ALO_TDS_DECIMALN, 17},
    [TSQL_REAL] = {ALO_TDS_FLT4, ALO_TDS_FLTN, 4},
    [TSQL_FLOAT] = {ALO_TDS_FLT8, ALO_TDS_FLTN, 8},
    [TSQL_TIME] = {0, ALO_TDS_TIMEN, 5},
    [TSQL_DATE] = {0, ALO_TDS_DATEN, 3},
    [TSQL_SMALLDATETIME] = {ALO_TDS_DATETIM4, ALO_TDS_DATETIMN, 4},
    [TSQL_DATETIME] = {ALO_TDS_DATETIME, ALO_TDS_DATETIMN, 8},
    [TSQL_DATETIME2] = {0, ALO_TDS_DATETIME2N, 8},
    [TSQL_DATETIMEOFFSET] = {0, ALO_TDS_DATETIMEOFFSETN, 10},
    [TSQL_PREDICATE] = {ALO_TDS_BIT, ALO_TDS_BITN, 1},
};

/* Bytes of a number of that precision, its sign included. */
static uint32_t decimal_size(uint8_t precision) {
  return precision <= 9 ? 5 : precision <= 19 ? 9 : precision <= 28 ? 13 : 17;
}

/* MS-TDS 2.2.5.4.2: time of scale 0-2 takes 3 bytes, 3-4 takes 4, 5-7 takes 5. */
static uint32_t time_size(uint8_t scale) {
  return scale <= 2 ? 3 : scale <= 4 ? 4 : 5;
}

static uint32_t wire_size(tsql_type type) {
  switch (type.kind) {
  case TSQL_DECIMAL:
    return decimal_size(type.precision);
  case TSQL_TIME:
    return time_size(type.scale);
  case TSQL_DATETIME2:
    return time_size(type.scale) + 3;
  case TSQL_DATETIMEOFFSET:
    return time_size(type.scale) + 5;
  default:
    break;
  }
  if (tokens[type.kind].size > 0)
    return tokens[type.kind].size;
  if (type.length == TSQL_MAX)
    return ALO_TDS_MAX_SIZE;
  uint32_t length = type.length > 0 ? type.length : 1;
  return alo_kind_is_wide(type.kind) ? length * 2 : length;
}

alo_tds_type alo_type_to_tds(tsql_type type, bool nullable) {
  /* SQL_Latin1_General_CP1_CI_AS: LCID 0x0409, case, kana and width insensitive, sort id 52. */
  static const uint8_t collation[5] = {0x09, 0x04, 0xD0, 0x00, 0x34};
  const type_token *token = &tokens[type.kind];
  alo_tds_type tds = {.precision = type.precision, .scale = type.scale, .size = wire_size(type)};
  tds.token = !nullable && token->fixed ? token->fixed : token->nullable;
  if (type.kind == TSQL_DECIMAL && type.numeric)
    tds.token = ALO_TDS_NUMERICN;
  if (type.kind == TSQL_DATETIME)
    tds.scale = 0;
  if (alo_kind_is_text(type.kind))
    memcpy(tds.collation, collation, sizeof collation);
  return tds;
}

static bool sized_from_tds(const alo_tds_type *from, tsql_kind kind, tsql_type *type) {
  uint32_t length = alo_kind_is_wide(kind) ? from->size / 2 : from->size;
  *type = alo_type_sized(kind, from->size >= ALO_TDS_MAX_SIZE ? TSQL_MAX : length);
  if (type->length == 0)
    type->length = 1;
  return true;
}

static bool same_token(const alo_tds_type *from, const type_token *token) {
  if (token->fixed && from->token == token->fixed)
    return true;
  if (from->token != token->nullable)
    return false;
  bool by_size = token->nullable == ALO_TDS_INTN || token->nullable == ALO_TDS_FLTN ||
                 token->nullable == ALO_TDS_DATETIMN;
  return !by_size || from->size == token->size;
}

bool alo_type_from_tds(const alo_tds_type *from, tsql_type *type) {
  if (from->token == ALO_TDS_NULLTYPE) {
    *type = alo_type_plain(TSQL_INT);
    return true;
  }
  bool numeric = from->token == ALO_TDS_NUMERICN;
  for (tsql_kind kind = TSQL_BINARY; kind < TSQL_PREDICATE; kind++) {
    if (!same_token(from, &tokens[kind]) && !(numeric && kind == TSQL_DECIMAL))
      continue;
    if (tokens[kind].size == 0)
      return sized_from_tds(from, kind, type);
    *type = alo_type_plain(kind);
    if (kind == TSQL_DECIMAL) {
      *type = alo_type_decimal(from->precision, from->scale);
      type->numeric = numeric;
      return from->precision >= 1 && from->precision <= 38 && from->scale <= from->precision;
    }
    if (alo_kind_is_time(kind) && kind != TSQL_DATE && type->scale == 0)
      type->scale = kind == TSQL_SMALLDATETIME ? 0 : from->scale;
    return type->scale <= 7;
  }
  return false;
}
