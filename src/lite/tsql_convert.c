/* Conversions between the types: CAST, CONVERT, and the implicit ones. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tsql_text.h"
#include "tsql_time.h"
#include "tsql_value.h"

/* One conversion under way. */
typedef struct conversion {
  tsql_context *context;
  const tsql_value *value;
  tsql_type from;
  tsql_type to;
  int style;
  const tsql_target *target;
} conversion;

static const aloft_text expression = {"expression", 10};

/* "expression" where SQL Server is that vague: between the integers. */
static _Noreturn void overflow(const conversion *c) {
  aloft_text from = alo_type_name(c->from);
  if (alo_kind_is_integer(c->from.kind) && c->to.kind != TSQL_DECIMAL)
    from = expression;
  aloft_text to = alo_type_name(c->to);
  if (c->to.kind == TSQL_DECIMAL)
    to = ALOFT_TEXT("numeric");
  alo_throw(c->context, 8115, ALOFT_PRINT(from), ALOFT_PRINT(to));
}

static aloft_text trim(aloft_text text) {
  while (text.size > 0 && text.data[0] == ' ') {
    text.data++;
    text.size--;
  }
  return alo_text_trimmed(text);
}

static _Noreturn void bad_text(const conversion *c) {
  aloft_text from = alo_type_name(c->from);
  aloft_text to = alo_type_name(c->to);
  if (c->to.kind == TSQL_DECIMAL)
    to = ALOFT_TEXT("numeric");
  if (alo_kind_is_integer(c->to.kind) && c->to.kind != TSQL_BIGINT)
    alo_throw(c->context, 245, ALOFT_PRINT(from), ALOFT_PRINT(c->value->text), ALOFT_PRINT(to));
  alo_throw(c->context, 8114, ALOFT_PRINT(from), ALOFT_PRINT(to));
}

/* Integers. */

static void integer_range(tsql_kind kind, int64_t *least, int64_t *most) {
  switch (kind) {
  case TSQL_TINYINT:
    *least = 0;
    *most = UINT8_MAX;
    break;
  case TSQL_SMALLINT:
    *least = INT16_MIN;
    *most = INT16_MAX;
    break;
  case TSQL_INT:
    *least = INT32_MIN;
    *most = INT32_MAX;
    break;
  default:
    *least = INT64_MIN;
    *most = INT64_MAX;
  }
}

static bool in_range(tsql_kind kind, int64_t number) {
  int64_t least;
  int64_t most;
  integer_range(kind, &least, &most);
  return number >= least && number <= most;
}

static _Noreturn void text_integer_overflow(const conversion *c) {
  aloft_text from = alo_type_name(c->from);
  aloft_text text = trim(c->value->text);
  aloft_text column = c->to.kind == TSQL_TINYINT ? ALOFT_TEXT("INT1") : ALOFT_TEXT("INT2");
  if (c->to.kind == TSQL_BIGINT)
    alo_throw(c->context, 8115, ALOFT_PRINT(expression), ALOFT_PRINT(alo_type_name(c->to)));
  if (c->to.kind == TSQL_INT)
    alo_throw(c->context, 248, ALOFT_PRINT(from), ALOFT_PRINT(text));
  alo_throw(c->context, 244, ALOFT_PRINT(from), ALOFT_PRINT(text), ALOFT_PRINT(column));
}

static int64_t integer_from_text(const conversion *c) {
  aloft_text text = trim(c->value->text);
  if (c->to.kind == TSQL_BIT && alo_text_same_name(text, ALOFT_TEXT("true")))
    return 1;
  if (c->to.kind == TSQL_BIT && alo_text_same_name(text, ALOFT_TEXT("false")))
    return 0;
  if (text.size == 0)
    return 0;
  bool sign = text.data[0] == '-' || text.data[0] == '+';
  if (text.size == (size_t)sign)
    bad_text(c);
  for (size_t i = sign; i < text.size; i++)
    if (text.data[i] < '0' || text.data[i] > '9')
      bad_text(c);
  tsql_decimal number;
  int precision;
  int scale;
  int64_t integer;
  if (!alo_decimal_parse(text, &number, &precision, &scale) ||
      !alo_decimal_to_int64(&number, &integer) || !in_range(c->to.kind, integer))
    text_integer_overflow(c);
  return integer;
}

static int64_t integer_from_real(const conversion *c) {
  double number = trunc(c->value->real);
  if (c->to.kind == TSQL_BIT)
    return c->value->real != 0;
  bool fits = number >= -9223372036854775808.0 && number < 9223372036854775808.0;
  if (!fits || !in_range(c->to.kind, (int64_t)number))
    alo_throw(c->context, 232, ALOFT_PRINT(alo_type_name(c->to)), c->value->real);
  return (int64_t)number;
}

static int64_t integer_from_decimal(const conversion *c) {
  tsql_decimal number = c->value->decimal;
  int64_t integer;
  if (c->to.kind == TSQL_BIT)
    return !alo_decimal_is_zero(&number);
  if (!alo_decimal_rescale(&number, c->from.scale, 0, 38, true) ||
      !alo_decimal_to_int64(&number, &integer) || !in_range(c->to.kind, integer))
    overflow(c);
  return integer;
}

static int64_t integer_from_integer(const conversion *c) {
  int64_t integer = c->value->integer;
  if (in_range(c->to.kind, integer))
    return integer;
  if (c->to.kind == TSQL_INT || c->from.kind == TSQL_BIGINT)
    overflow(c);
  char text[24];
  int size = snprintf(text, sizeof text, "%lld", (long long)integer);
  alo_throw(c->context, 220, ALOFT_PRINT(alo_type_name(c->to)), size, text);
}

/* The last bytes count, most significant first. */
static int64_t integer_from_binary(const conversion *c) {
  static const size_t sizes[] = {
      [TSQL_BIT] = 1, [TSQL_TINYINT] = 1, [TSQL_SMALLINT] = 2, [TSQL_INT] = 4, [TSQL_BIGINT] = 8};
  aloft_text bytes = c->value->text;
  size_t size = bytes.size < sizes[c->to.kind] ? bytes.size : sizes[c->to.kind];
  uint64_t number = 0;
  for (size_t i = bytes.size - size; i < bytes.size; i++)
    number = number << 8 | (uint8_t)bytes.data[i];
  if (c->to.kind == TSQL_SMALLINT && size == 2)
    return (int16_t)(uint16_t)number;
  if (c->to.kind == TSQL_INT && size == 4)
    return (int32_t)(uint32_t)number;
  return (int64_t)number;
}

static int64_t integer_from_time(const conversion *c) {
  int64_t half = TSQL_TICKS_PER_DAY / 2;
  int64_t days = (c->value->integer + half) / TSQL_TICKS_PER_DAY - TSQL_DAYS_1900;
  if (!in_range(c->to.kind, days))
    overflow(c);
  return days;
}

static int64_t any_integer(const conversion *c) {
  if (alo_kind_is_text(c->from.kind))
    return integer_from_text(c);
  if (c->from.kind == TSQL_REAL || c->from.kind == TSQL_FLOAT)
    return integer_from_real(c);
  if (c->from.kind == TSQL_DECIMAL)
    return integer_from_decimal(c);
  if (alo_kind_is_binary(c->from.kind))
    return integer_from_binary(c);
  if (alo_kind_is_time(c->from.kind))
    return integer_from_time(c);
  return c->to.kind == TSQL_BIT ? c->value->integer : integer_from_integer(c);
}

static tsql_value to_integer(const conversion *c) {
  int64_t integer = any_integer(c);
  return (tsql_value){.integer = c->to.kind == TSQL_BIT ? integer != 0 : integer};
}

/* Floats and decimals. */

static double days_since_1900(int64_t ticks) {
  return (double)(ticks - TSQL_DAYS_1900 * TSQL_TICKS_PER_DAY) / (double)TSQL_TICKS_PER_DAY;
}

static double real_from_text(const conversion *c) {
  aloft_text text = trim(c->value->text);
  if (text.size == 0)
    return 0;
  char copy[400];
  if (text.size >= sizeof copy)
    bad_text(c);
  memcpy(copy, text.data, text.size);
  copy[text.size] = 0;
  for (size_t i = 0; i < text.size; i++)
    if (!strchr("0123456789+-.eE", copy[i])) /* no "inf", "nan", "0x" */
      bad_text(c);
  char *end;
  double number = strtod(copy, &end);
  if (end != copy + text.size)
    bad_text(c);
  if (!isfinite(number))
    overflow(c);
  return number;
}

static double any_real(const conversion *c) {
  if (alo_kind_is_text(c->from.kind))
    return real_from_text(c);
  if (c->from.kind == TSQL_DECIMAL)
    return alo_decimal_to_double(&c->value->decimal, c->from.scale);
  if (alo_kind_is_integer(c->from.kind))
    return (double)c->value->integer;
  if (alo_kind_is_time(c->from.kind))
    return days_since_1900(c->value->integer);
  return c->value->real;
}

static tsql_value to_real(const conversion *c) {
  double number = any_real(c);
  if (c->to.kind == TSQL_REAL) {
    if (fabs(number) > 3.4028235677973366e38)
      alo_throw(c->context, 232, ALOFT_PRINT(alo_type_name(c->to)), number);
    number = (float)number;
  }
  return (tsql_value){.real = number};
}

static tsql_decimal decimal_from_text(const conversion *c, int *scale) {
  aloft_text text = trim(c->value->text);
  tsql_decimal number;
  int precision;
  bool only_digits = text.size > 0;
  for (size_t i = 0; i < text.size; i++)
    only_digits = only_digits && strchr("0123456789+-.", text.data[i]) && text.data[i];
  if (!only_digits)
    bad_text(c);
  if (alo_decimal_parse(text, &number, &precision, scale))
    return number;
  /* More digits than fit: those after the 38th place are of no account, if there is a point. */
  const char *point = memchr(text.data, '.', text.size);
  if (point && text.size - (size_t)(point - text.data) > 39) {
    text.size = (size_t)(point - text.data) + 39;
    if (alo_decimal_parse(text, &number, &precision, scale))
      return number;
  }
  if (alo_decimal_parse((aloft_text){text.data, text.size < 2 ? text.size : 2}, &number, &precision,
                        scale))
    overflow(c);
  bad_text(c);
}

static tsql_value to_decimal(const conversion *c) {
  tsql_value result = {0};
  int scale = 0;
  bool fits;
  if (c->from.kind == TSQL_REAL || c->from.kind == TSQL_FLOAT || alo_kind_is_time(c->from.kind)) {
    fits = alo_decimal_from_double(any_real(c), c->to.scale, c->to.precision, &result.decimal);
  } else {
    if (alo_kind_is_text(c->from.kind)) {
      result.decimal = decimal_from_text(c, &scale);
    } else if (c->from.kind == TSQL_DECIMAL) {
      result.decimal = c->value->decimal;
      scale = c->from.scale;
    } else {
      result.decimal = alo_decimal_of(c->value->integer);
    }
    fits = alo_decimal_rescale(&result.decimal, scale, c->to.scale, c->to.precision, false);
  }
  if (!fits)
    overflow(c);
  return result;
}

/* Text. */

static _Noreturn void no_style(const conversion *c) {
  char text[64];
  int size = snprintf(text, sizeof text, "CONVERT of %.*s with style %d",
                      ALOFT_PRINT(alo_type_name(c->from)), c->style);
  alo_throw(c->context, 40510, size, text);
}

static size_t real_text(const conversion *c, char *out, size_t room) {
  const char *format = c->from.kind == TSQL_REAL ? "%.7g" : "%.6g";
  if (c->style == 1)
    format = "%.7e";
  else if (c->style == 2)
    format = "%.15e";
  else if (c->style == 3)
    format = c->from.kind == TSQL_REAL ? "%.9g" : "%.17g";
  else if (c->style != 0)
    no_style(c);
  if (c->style == 0)
    format = "%.6g";
  char text[48];
  snprintf(text, sizeof text, format, c->value->real);
  char *exponent = strchr(text, 'e');
  if (!exponent)
    return (size_t)snprintf(out, room, "%s", text);
  long power = strtol(exponent + 1, NULL, 10);
  *exponent = 0;
  return (size_t)snprintf(out, room, "%se%c%03ld", text, power < 0 ? '-' : '+', labs(power));
}

/* "Feb  9 2024  1:05PM". */
static size_t old_style_text(const tsql_clock *t, bool date, bool time, char *out, size_t room) {
  int hour = t->hour % 12 == 0 ? 12 : t->hour % 12;
  const char *half = t->hour < 12 ? "AM" : "PM";
  if (date && time)
    return (size_t)snprintf(out, room, "%.3s %2d %d %2d:%02d%s", alo_time_months[t->month - 1],
                            t->day, t->year, hour, t->minute, half);
  if (date)
    return (size_t)snprintf(out, room, "%.3s %2d %d", alo_time_months[t->month - 1], t->day,
                            t->year);
  return (size_t)snprintf(out, room, "%2d:%02d%s", hour, t->minute, half);
}

/* The styles that show a date alone, with and without century. 0: not one of them. */
static size_t date_style_text(const conversion *c, const tsql_clock *t, char *out, size_t room) {
  static const struct {
    int style;
    char separator;
    uint8_t order; /* 0 mdy, 1 ymd, 2 dmy */
  } styles[] = {{1, '/', 0}, {2, '.', 1},  {3, '/', 2}, {4, '.', 2},
                {5, '-', 2}, {10, '-', 0}, {11, '/', 1}};
  bool century = c->style >= 100;
  int style = c->style % 100;
  int year = century ? t->year : t->year % 100;
  int width = century ? 4 : 2;
  if (style == 12)
    return (size_t)snprintf(out, room, "%0*d%02d%02d", width, year, t->month, t->day);
  for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
    if (styles[i].style != style)
      continue;
    char s = styles[i].separator;
    if (styles[i].order == 0)
      return (size_t)snprintf(out, room, "%02d%c%02d%c%0*d", t->month, s, t->day, s, width, year);
    if (styles[i].order == 1)
      return (size_t)snprintf(out, room, "%0*d%c%02d%c%02d", width, year, s, t->month, s, t->day);
    return (size_t)snprintf(out, room, "%02d%c%02d%c%0*d", t->day, s, t->month, s, width, year);
  }
  return 0;
}

static size_t iso_text(const conversion *c, int64_t ticks, char separator, char *out) {
  size_t size = 0;
  tsql_kind kind = c->from.kind;
  if (kind != TSQL_TIME) {
    size += alo_time_date_text(ticks / TSQL_TICKS_PER_DAY, out);
    if (kind != TSQL_DATE)
      out[size++] = separator;
  }
  int scale = kind == TSQL_SMALLDATETIME ? (separator == 'T'  ? 0
                                            : c->style == 120 ? 0
                                                              : 3)
                                         : c->from.scale;
  if (c->style == 120 && kind == TSQL_DATETIME)
    scale = 0;
  if (separator == 'T' && kind == TSQL_DATETIME && ticks % TSQL_TICKS_PER_SECOND == 0)
    scale = 0;
  if (kind != TSQL_DATE)
    size += alo_time_of_day_text(ticks % TSQL_TICKS_PER_DAY, scale, out + size);
  if (kind == TSQL_DATETIMEOFFSET) {
    size_t blank = separator == 'T'; /* ISO 8601 has no blank before the offset */
    char offset[TSQL_TIME_TEXT];
    size_t offset_size = alo_time_offset_text(c->value->offset_minutes, offset);
    memcpy(out + size, offset + blank, offset_size - blank);
    size += offset_size - blank;
  }
  return size;
}

static int64_t local_ticks(const conversion *c) {
  if (c->from.kind == TSQL_DATE)
    return c->value->integer * TSQL_TICKS_PER_DAY;
  if (c->from.kind == TSQL_DATETIMEOFFSET)
    return c->value->integer + c->value->offset_minutes * TSQL_TICKS_PER_MINUTE;
  return c->value->integer;
}

static size_t time_text(const conversion *c, char *out, size_t room) {
  int64_t ticks = local_ticks(c);
  tsql_clock t = alo_time_clock(ticks);
  bool old = c->from.kind == TSQL_DATETIME || c->from.kind == TSQL_SMALLDATETIME;
  switch (c->style) {
  case 0:
  case 100:
    if (!old && c->style == 0)
      return iso_text(c, ticks, ' ', out);
    return old_style_text(&t, c->from.kind != TSQL_TIME, c->from.kind != TSQL_DATE, out, room);
  case 8:
  case 24:
  case 108:
    if (c->from.kind == TSQL_DATE)
      no_style(c);
    return alo_time_of_day_text(ticks % TSQL_TICKS_PER_DAY, 0, out);
  case 20:
  case 21:
  case 25:
  case 120:
  case 121:
    return iso_text(c, ticks, ' ', out);
  case 126:
    return iso_text(c, ticks, 'T', out);
  default:
    break;
  }
  size_t size = c->from.kind == TSQL_TIME ? 0 : date_style_text(c, &t, out, room);
  if (size == 0)
    no_style(c);
  return size;
}

static aloft_text hex_text(const conversion *c) {
  static const char digits[] = "0123456789ABCDEF";
  aloft_text bytes = c->value->text;
  char *out = alo_take(c->context, bytes.size * 2 + 3);
  size_t size = 0;
  if (c->style == 1) {
    out[size++] = '0';
    out[size++] = 'x';
  }
  for (size_t i = 0; i < bytes.size; i++) {
    out[size++] = digits[(uint8_t)bytes.data[i] >> 4];
    out[size++] = digits[(uint8_t)bytes.data[i] & 15];
  }
  return (aloft_text){out, size};
}

static aloft_text text_from_binary(const conversion *c) {
  if (c->style == 1 || c->style == 2)
    return hex_text(c);
  if (c->style != 0)
    no_style(c);
  aloft_text bytes = c->value->text;
  char *out = alo_take(c->context, bytes.size * 3 + 3);
  size_t size = 0;
  bool wide = alo_kind_is_wide(c->to.kind);
  for (size_t i = 0; i < bytes.size; i += wide ? 2 : 1) {
    uint32_t unit = (uint8_t)bytes.data[i];
    if (!wide) {
      size += alo_text_put(out + size, alo_text_from_1252((uint8_t)unit));
      continue;
    }
    if (i + 1 < bytes.size)
      unit |= (uint32_t)(uint8_t)bytes.data[i + 1] << 8;
    bool surrogate = unit >= 0xD800 && unit < 0xDC00 && i + 3 < bytes.size;
    if (surrogate) {
      uint32_t low = (uint8_t)bytes.data[i + 2] | (uint32_t)(uint8_t)bytes.data[i + 3] << 8;
      if (low >= 0xDC00 && low < 0xE000) {
        unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
        i += 2;
      }
    }
    if (unit >= 0xD800 && unit < 0xE000)
      unit = 0xFFFD;
    size += alo_text_put(out + size, unit);
  }
  return (aloft_text){out, size};
}

static size_t guid_text(const conversion *c, char *out, size_t room) {
  uint8_t g[16];
  alo_guid_to_wire((const uint8_t *)c->value->text.data, g);
  return (size_t)snprintf(
      out, room, "%02X%02X%02X%02X-%02X%02X-%02X%02X-%02X%02X-%02X%02X%02X%02X%02X%02X", g[3], g[2],
      g[1], g[0], g[5], g[4], g[7], g[6], g[8], g[9], g[10], g[11], g[12], g[13], g[14], g[15]);
}

static aloft_text any_text(const conversion *c) {
  if (alo_kind_is_text(c->from.kind))
    return c->value->text;
  if (alo_kind_is_binary(c->from.kind))
    return text_from_binary(c);
  enum { ROOM = 128 };
  char *out = alo_take(c->context, ROOM);
  size_t size;
  if (c->from.kind == TSQL_DECIMAL)
    size = alo_decimal_text(&c->value->decimal, c->from.scale, out);
  else if (c->from.kind == TSQL_REAL || c->from.kind == TSQL_FLOAT)
    size = real_text(c, out, ROOM);
  else if (c->from.kind == TSQL_GUID)
    size = guid_text(c, out, ROOM);
  else if (alo_kind_is_time(c->from.kind))
    size = time_text(c, out, ROOM);
  else
    size = (size_t)snprintf(out, ROOM, "%lld", (long long)c->value->integer);
  return (aloft_text){out, size};
}

static _Noreturn void too_long(const conversion *c, aloft_text text) {
  const tsql_target *target = c->target;
  if (text.size > 100)
    text.size = 100;
  if (!alo_kind_is_text(c->to.kind))
    text.size = 0;
  alo_throw(c->context, 2628, ALOFT_PRINT(target->table), ALOFT_PRINT(target->column),
            ALOFT_PRINT(text));
}

/* Text that does not fit is cut; numbers and the like are not. */
static aloft_text fit_text(const conversion *c, aloft_text text) {
  if (c->to.length == TSQL_MAX || text.size <= c->to.length)
    return text;
  size_t size = alo_text_prefix(text, c->to.length);
  if (size == text.size)
    return text;
  aloft_text cut = {text.data, size};
  aloft_text rest = {text.data + size, text.size - size};
  bool blank = alo_text_trimmed(rest).size == 0;
  bool from_text = alo_kind_is_text(c->from.kind) || alo_kind_is_binary(c->from.kind);
  if (c->target && !blank && from_text)
    too_long(c, cut);
  alo_prefix_whole(c->context, text, c->to.length);
  if (from_text || alo_kind_is_time(c->from.kind))
    return cut;
  if (c->from.kind == TSQL_GUID)
    alo_throw(c->context, 8170);
  if (alo_kind_is_integer(c->from.kind) && !alo_kind_is_wide(c->to.kind))
    return ALOFT_TEXT("*");
  overflow(c);
}

static tsql_value to_text(const conversion *c) {
  aloft_text text = any_text(c);
  bool maybe_foreign = alo_kind_is_wide(c->from.kind) && !alo_kind_is_wide(c->to.kind);
  if (maybe_foreign && !alo_text_is_narrow(text)) {
    char *out = alo_take(c->context, text.size + 1);
    text = (aloft_text){out, alo_text_to_narrow(text, out)};
  }
  text = fit_text(c, text);
  if (!alo_kind_is_fixed(c->to.kind) || c->to.length == TSQL_MAX)
    return (tsql_value){.text = text};
  size_t units = alo_text_units(text);
  if (units >= c->to.length)
    return (tsql_value){.text = text};
  size_t blanks = c->to.length - units;
  char *out = alo_take(c->context, text.size + blanks + 1);
  if (text.size > 0)
    memcpy(out, text.data, text.size);
  memset(out + text.size, ' ', blanks);
  return (tsql_value){.text = {out, text.size + blanks}};
}

/* Binary and uniqueidentifier. */

static int hex_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c = (char)(c | 32);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static aloft_text bytes_from_hex(const conversion *c) {
  aloft_text text = c->value->text;
  if (c->style == 1) {
    if (text.size < 2 || text.data[0] != '0' || (text.data[1] | 32) != 'x')
      bad_text(c);
    text = (aloft_text){text.data + 2, text.size - 2};
  }
  char *out = alo_take(c->context, text.size / 2 + 1);
  if (text.size % 2)
    bad_text(c);
  for (size_t i = 0; i < text.size; i += 2) {
    int high = hex_digit(text.data[i]);
    int low = hex_digit(text.data[i + 1]);
    if (high < 0 || low < 0)
      bad_text(c);
    out[i / 2] = (char)(high << 4 | low);
  }
  return (aloft_text){out, text.size / 2};
}

static aloft_text bytes_from_text(const conversion *c) {
  if (c->style == 1 || c->style == 2)
    return bytes_from_hex(c);
  if (c->style != 0)
    no_style(c);
  aloft_text text = c->value->text;
  char *out = alo_take(c->context, text.size * 2 + 1);
  size_t size = 0;
  for (size_t i = 0; i < text.size;) {
    uint32_t character = alo_text_next(text, &i);
    if (!alo_kind_is_wide(c->from.kind)) {
      out[size++] = (char)alo_text_to_1252(character);
      continue;
    }
    uint32_t units[2] = {character, 0};
    int count = 1;
    if (character > 0xFFFF) {
      units[0] = 0xD800 + ((character - 0x10000) >> 10);
      units[1] = 0xDC00 + ((character - 0x10000) & 0x3FF);
      count = 2;
    }
    for (int j = 0; j < count; j++) {
      out[size++] = (char)units[j];
      out[size++] = (char)(units[j] >> 8);
    }
  }
  return (aloft_text){out, size};
}

/* Most significant byte first, as many bytes as the type has or `binary(n)` asks for. */
static aloft_text bytes_from_integer(const conversion *c) {
  static const size_t sizes[] = {
      [TSQL_BIT] = 1, [TSQL_TINYINT] = 1, [TSQL_SMALLINT] = 2, [TSQL_INT] = 4, [TSQL_BIGINT] = 8};
  size_t size = sizes[c->from.kind];
  if (c->to.length != TSQL_MAX && (c->to.kind == TSQL_BINARY || c->to.length < size))
    size = c->to.length;
  char *out = alo_take(c->context, size + 1);
  uint64_t number = (uint64_t)c->value->integer;
  for (size_t i = 0; i < size && i < 8; i++)
    out[size - 1 - i] = (char)(number >> (8 * i));
  for (size_t i = 8; i < size; i++)
    out[size - 1 - i] = (char)(c->value->integer < 0 ? 0xFF : 0);
  return (aloft_text){out, size};
}

static aloft_text any_bytes(const conversion *c) {
  if (alo_kind_is_text(c->from.kind))
    return bytes_from_text(c);
  if (alo_kind_is_integer(c->from.kind))
    return bytes_from_integer(c);
  if (c->from.kind == TSQL_GUID) {
    uint8_t *wire = alo_take(c->context, 16);
    alo_guid_to_wire((const uint8_t *)c->value->text.data, wire);
    return (aloft_text){(const char *)wire, 16};
  }
  return c->value->text;
}

static tsql_value to_binary(const conversion *c) {
  aloft_text bytes = any_bytes(c);
  if (c->to.length != TSQL_MAX && bytes.size > c->to.length) {
    if (c->target)
      too_long(c, bytes);
    bytes.size = c->to.length;
  }
  if (c->to.kind == TSQL_BINARY && c->to.length != TSQL_MAX && bytes.size < c->to.length) {
    char *out = alo_take(c->context, c->to.length);
    if (bytes.size > 0)
      memcpy(out, bytes.data, bytes.size);
    bytes = (aloft_text){out, c->to.length};
  }
  return (tsql_value){.text = bytes};
}

static bool parse_guid(aloft_text text, uint8_t wire[16]) {
  static const uint8_t places[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  text = trim(text);
  if (text.size >= 38 && text.data[0] == '{' && text.data[37] == '}')
    text.data++;
  else if (text.size < 36)
    return false;
  size_t at = 0;
  for (int i = 0; i < 16; i++) {
    if ((i == 4 || i == 6 || i == 8 || i == 10) && text.data[at++] != '-')
      return false;
    int high = hex_digit(text.data[at]);
    int low = hex_digit(text.data[at + 1]);
    if (high < 0 || low < 0)
      return false;
    wire[places[i]] = (uint8_t)(high << 4 | low);
    at += 2;
  }
  return true;
}

static tsql_value to_guid(const conversion *c) {
  uint8_t wire[16] = {0};
  if (alo_kind_is_text(c->from.kind)) {
    if (!parse_guid(c->value->text, wire))
      alo_throw(c->context, 8169);
  } else {
    aloft_text bytes = c->value->text;
    if (bytes.size > 0)
      memcpy(wire, bytes.data, bytes.size < 16 ? bytes.size : 16);
  }
  uint8_t *sorted = alo_take(c->context, 16);
  alo_guid_to_sorted(wire, sorted);
  return (tsql_value){.text = {(const char *)sorted, 16}};
}

/* Date and time types. */

static _Noreturn void out_of_range(const conversion *c) {
  alo_throw(c->context, 242, ALOFT_PRINT(alo_type_name(c->from)),
            ALOFT_PRINT(alo_type_name(c->to)));
}

/* A local point in time, with its offset, put into the type wanted. */
static tsql_value fit_time(const conversion *c, int64_t ticks, int offset_minutes) {
  tsql_value result = {.offset_minutes = (int16_t)offset_minutes};
  int64_t most = TSQL_DAYS * TSQL_TICKS_PER_DAY;
  switch (c->to.kind) {
  case TSQL_DATE:
    result.integer = ticks / TSQL_TICKS_PER_DAY;
    return result;
  case TSQL_TIME:
    result.integer = alo_time_round(ticks % TSQL_TICKS_PER_DAY, c->to.scale);
    if (result.integer >= TSQL_TICKS_PER_DAY)
      result.integer = 0;
    return result;
  case TSQL_SMALLDATETIME: {
    int64_t minutes = (ticks + TSQL_TICKS_PER_MINUTE / 2) / TSQL_TICKS_PER_MINUTE;
    int64_t first = TSQL_DAYS_1900 * 1440;
    if (minutes < first || minutes >= first + INT64_C(65536) * 1440)
      out_of_range(c);
    result.integer = minutes * TSQL_TICKS_PER_MINUTE;
    return result;
  }
  case TSQL_DATETIME:
    result.integer = alo_time_round_datetime(ticks);
    if (result.integer < TSQL_DAYS_1753 * TSQL_TICKS_PER_DAY || result.integer >= most)
      out_of_range(c);
    return result;
  default:
    result.integer = alo_time_round(ticks, c->to.scale);
    if (c->to.kind == TSQL_DATETIMEOFFSET)
      result.integer -= offset_minutes * TSQL_TICKS_PER_MINUTE;
    if (result.integer < 0 || result.integer >= most)
      out_of_range(c);
    return result;
  }
}

static tsql_value time_from_text(const conversion *c) {
  tsql_time_parts parts;
  bool old = c->to.kind == TSQL_DATETIME || c->to.kind == TSQL_SMALLDATETIME;
  if (!alo_time_parse(c->value->text, (tsql_date_order)c->context->date_order, &parts) ||
      (old && (parts.has_offset || parts.digits > 3)))
    alo_throw(c->context, 241);
  /* A smalldatetime is read as a datetime first: 29.999 seconds are the next minute. */
  int64_t ticks = parts.days * TSQL_TICKS_PER_DAY + parts.ticks;
  if (c->to.kind == TSQL_SMALLDATETIME)
    ticks = alo_time_round_datetime(ticks);
  return fit_time(c, ticks, parts.offset_minutes);
}

static tsql_value time_from_number(const conversion *c) {
  conversion as_real = *c;
  as_real.to = alo_type_plain(TSQL_FLOAT);
  double days = any_real(&as_real);
  if (!(days >= -53690 && days < 2958464))
    overflow(c);
  int64_t whole = (int64_t)floor(days);
  int64_t rest = (int64_t)((days - floor(days)) * (double)TSQL_TICKS_PER_DAY + 0.5);
  return fit_time(c, (TSQL_DAYS_1900 + whole) * TSQL_TICKS_PER_DAY + rest, 0);
}

static tsql_value to_time(const conversion *c) {
  if (alo_kind_is_text(c->from.kind))
    return time_from_text(c);
  if (alo_kind_is_number(c->from.kind))
    return time_from_number(c);
  int64_t ticks = local_ticks(c);
  if (c->from.kind == TSQL_TIME && c->to.kind != TSQL_TIME)
    ticks += TSQL_DAYS_1900 * TSQL_TICKS_PER_DAY;
  return fit_time(c, ticks, c->value->offset_minutes);
}

tsql_value alo_convert(tsql_context *context, const tsql_value *value, tsql_type from, tsql_type to,
                       int style, const tsql_target *target) {
  if (value->null)
    return TSQL_NULL;
  const conversion c = {context, value, from, to, style, target};
  if (alo_kind_is_text(to.kind))
    return to_text(&c);
  if (alo_kind_is_binary(to.kind))
    return to_binary(&c);
  if (to.kind == TSQL_GUID)
    return from.kind == TSQL_GUID ? *value : to_guid(&c);
  if (alo_kind_is_integer(to.kind))
    return to_integer(&c);
  if (to.kind == TSQL_DECIMAL)
    return to_decimal(&c);
  if (to.kind == TSQL_REAL || to.kind == TSQL_FLOAT)
    return to_real(&c);
  return alo_kind_is_time(to.kind) ? to_time(&c) : *value;
}

aloft_text alo_value_text(tsql_context *context, const tsql_value *value, tsql_type type) {
  if (value->null)
    return ALOFT_TEXT("<NULL>");
  const conversion c = {
      context, value, type, alo_type_sized(TSQL_NVARCHAR, TSQL_MAX), alo_kind_is_binary(type.kind),
      NULL};
  return any_text(&c);
}
