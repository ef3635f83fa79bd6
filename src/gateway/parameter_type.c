#include "parameter_type.h"

#include <aloft/json.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "decimal_text.h"
#include "moment_text.h"

/* What may stand in parentheses after a type's name. */
typedef enum arguments {
  NO_ARGUMENTS,
  LENGTH,          /* (n) or (max), required */
  PRECISION_SCALE, /* (p), (p,s) or nothing */
  SECOND_DIGITS    /* (0) to (7), or nothing */
} arguments;

typedef struct type_kind {
  const char *name;
  aloft_tds_type type;
  arguments arguments;
  uint32_t size_max;
  int64_t min, max; /* of integers */
} type_kind;

static const type_kind kinds[] = {
    {"bit", ALOFT_TDS_BIT, NO_ARGUMENTS, 0, 0, 1},
    {"tinyint", ALOFT_TDS_TINYINT, NO_ARGUMENTS, 0, 0, UINT8_MAX},
    {"smallint", ALOFT_TDS_SMALLINT, NO_ARGUMENTS, 0, INT16_MIN, INT16_MAX},
    {"int", ALOFT_TDS_INT, NO_ARGUMENTS, 0, INT32_MIN, INT32_MAX},
    {"bigint", ALOFT_TDS_BIGINT, NO_ARGUMENTS, 0, INT64_MIN, INT64_MAX},
    {"decimal", ALOFT_TDS_DECIMAL, PRECISION_SCALE, 0, 0, 0},
    {"numeric", ALOFT_TDS_NUMERIC, PRECISION_SCALE, 0, 0, 0},
    {"real", ALOFT_TDS_REAL, NO_ARGUMENTS, 0, 0, 0},
    {"float", ALOFT_TDS_FLOAT, NO_ARGUMENTS, 0, 0, 0},
    {"nvarchar", ALOFT_TDS_NVARCHAR, LENGTH, 4000, 0, 0},
    {"varchar", ALOFT_TDS_VARCHAR, LENGTH, 8000, 0, 0},
    {"varbinary", ALOFT_TDS_VARBINARY, LENGTH, 8000, 0, 0},
    {"date", ALOFT_TDS_DATE, NO_ARGUMENTS, 0, 0, 0},
    {"time", ALOFT_TDS_TIME, SECOND_DIGITS, 0, 0, 0},
    {"datetime2", ALOFT_TDS_DATETIME2, SECOND_DIGITS, 0, 0, 0},
    {"datetimeoffset", ALOFT_TDS_DATETIMEOFFSET, SECOND_DIGITS, 0, 0, 0},
    {"uniqueidentifier", ALOFT_TDS_UNIQUEIDENTIFIER, NO_ARGUMENTS, 0, 0, 0},
};

enum { KIND_COUNT = sizeof kinds / sizeof kinds[0], PRECISION_MAX = 38, PRECISION_DEFAULT = 18 };

/* ---- declarations ---- */

static bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_name(aloft_text text, const char *name) {
  for (size_t i = 0; i < text.size; i++) {
    if (name[i] == '\0' || lower(text.data[i]) != name[i])
      return false;
  }
  return name[text.size] == '\0';
}

/* Blanks, then a word: letters and digits, perhaps none. */
static aloft_text take_word(aloft_text *in) {
  while (in->size > 0 && (*in->data == ' ' || *in->data == '\t'))
    *in = (aloft_text){in->data + 1, in->size - 1};
  aloft_text word = {in->data, 0};
  while (word.size < in->size && is_word(in->data[word.size]))
    word.size++;
  *in = (aloft_text){in->data + word.size, in->size - word.size};
  return word;
}

static bool take_mark(aloft_text *in, char mark) {
  while (in->size > 0 && (*in->data == ' ' || *in->data == '\t'))
    *in = (aloft_text){in->data + 1, in->size - 1};
  if (in->size == 0 || *in->data != mark)
    return false;
  *in = (aloft_text){in->data + 1, in->size - 1};
  return true;
}

/* Up to four digits; -1: another word. */
static int number_of(aloft_text word) {
  int number = 0;
  if (word.size == 0 || word.size > 4)
    return -1;
  for (size_t i = 0; i < word.size; i++) {
    if (word.data[i] < '0' || word.data[i] > '9')
      return -1;
    number = number * 10 + (word.data[i] - '0');
  }
  return number;
}

static const char *read_length(const type_kind *kind, alo_parameter_type *type, aloft_text *in) {
  if (!take_mark(in, '('))
    return "needs a length, such as (50) or (max)";
  aloft_text word = take_word(in);
  int number = number_of(word);
  type->max = is_name(word, "max");
  if (!type->max && (number < 1 || (uint32_t)number > kind->size_max))
    return kind->size_max == 4000 ? "wants a length of 1 to 4000, or max"
                                  : "wants a length of 1 to 8000, or max";
  type->size = type->max ? 0 : (uint32_t)number;
  return take_mark(in, ')') ? NULL : "wants one length in parentheses";
}

static const char *read_precision(alo_parameter_type *type, aloft_text *in) {
  int precision = PRECISION_DEFAULT, scale = 0;
  if (take_mark(in, '(')) {
    precision = number_of(take_word(in));
    if (take_mark(in, ','))
      scale = number_of(take_word(in));
    if (!take_mark(in, ')'))
      return "wants precision and scale, such as (10,2)";
  }
  if (precision < 1 || precision > PRECISION_MAX || scale < 0 || scale > precision)
    return "wants a precision of 1 to 38, and a scale up to it";
  type->precision = (uint8_t)precision;
  type->scale = (uint8_t)scale;
  return NULL;
}

static const char *read_second_digits(alo_parameter_type *type, aloft_text *in) {
  int digits = 7;
  if (take_mark(in, '(')) {
    digits = number_of(take_word(in));
    if (!take_mark(in, ')'))
      digits = -1;
  }
  if (digits < 0 || digits > 7)
    return "wants 0 to 7 digits of the second, such as (3)";
  type->scale = (uint8_t)digits;
  return NULL;
}

static const char *read_arguments(const type_kind *kind, alo_parameter_type *type, aloft_text *in) {
  switch (kind->arguments) {
  case LENGTH:
    return read_length(kind, type, in);
  case PRECISION_SCALE:
    return read_precision(type, in);
  case SECOND_DIGITS:
    return read_second_digits(type, in);
  case NO_ARGUMENTS:
    break;
  }
  return NULL;
}

const char *alo_parameter_type_read(alo_parameter_type *type, aloft_text text) {
  aloft_text word = take_word(&text);
  for (size_t i = 0; i < KIND_COUNT; i++) {
    if (!is_name(word, kinds[i].name))
      continue;
    *type = (alo_parameter_type){.type = kinds[i].type};
    const char *wrong = read_arguments(&kinds[i], type, &text);
    if (wrong == NULL && (take_word(&text).size > 0 || text.size > 0))
      wrong = "has more after the type";
    return wrong;
  }
  return "is not one of bit, tinyint, smallint, int, bigint, decimal, numeric, real, float, "
         "nvarchar, varchar, varbinary, date, time, datetime2, datetimeoffset, uniqueidentifier";
}

/* ---- values ---- */

static const type_kind *kind_of(const alo_parameter_type *type) {
  size_t i = 0;
  while (i < KIND_COUNT - 1 && kinds[i].type != type->type)
    i++;
  return &kinds[i];
}

/* The whole numbers that fit in 64 bits, as a range of the type asks. */
static const char *convert_integer(const type_kind *kind, const alo_written *written,
                                   int64_t *value) {
  bool digits = written->kind == ALO_WRITTEN_NUMBER ||
                (written->kind == ALO_WRITTEN_STRING && kind->type == ALOFT_TDS_BIGINT);
  aloft_tds_decimal number = {.precision = 19};
  if (!digits)
    return "is not a whole number";
  const char *wrong = alo_decimal_read(written->text, &number);
  if (wrong != NULL)
    return wrong;
  if (number.high != 0 || number.low > (uint64_t)INT64_MAX + number.negative)
    return "is out of range";
  *value = number.negative ? -(int64_t)(number.low - (number.low > 0)) - (number.low > 0)
                           : (int64_t)number.low;
  return *value < kind->min || *value > kind->max ? "is out of range" : NULL;
}

static const char *convert_bit(const type_kind *kind, const alo_written *written, int64_t *value) {
  if (written->kind != ALO_WRITTEN_TRUE && written->kind != ALO_WRITTEN_FALSE)
    return convert_integer(kind, written, value) ? "is not true, false, 1 or 0" : NULL;
  *value = written->kind == ALO_WRITTEN_TRUE;
  return NULL;
}

static const char *convert_decimal(const alo_parameter_type *type, const alo_written *written,
                                   aloft_tds_decimal *value) {
  if (written->kind != ALO_WRITTEN_NUMBER && written->kind != ALO_WRITTEN_STRING)
    return "is not a number";
  *value = (aloft_tds_decimal){.precision = type->precision, .scale = type->scale};
  return alo_decimal_read(written->text, value);
}

static const char *convert_real(const alo_parameter_type *type, const alo_written *written,
                                double *value) {
  aloft_json json;
  aloft_json_init(&json, written->text);
  if (written->kind != ALO_WRITTEN_NUMBER || aloft_json_next(&json) != ALOFT_JSON_NUMBER)
    return "is not a number";
  if (aloft_json_double(&json, value) != ALOFT_OK)
    return "is out of range";
  if (type->type == ALOFT_TDS_REAL && fabs(*value) > (double)FLT_MAX)
    return "is out of range";
  return NULL;
}

/* UTF-16 units of UTF-8 text, which the JSON reader has found to be well-formed. */
static size_t count_units(aloft_text text) {
  size_t units = 0;
  for (size_t i = 0; i < text.size; i++) {
    unsigned char byte = (unsigned char)text.data[i];
    units += (byte & 0xc0) != 0x80;
    units += byte >= 0xf0;
  }
  return units;
}

static const char *convert_text(const alo_parameter_type *type, const alo_written *written,
                                aloft_text *value) {
  if (written->kind != ALO_WRITTEN_STRING)
    return "is not a string";
  if (!type->max && count_units(written->text) > type->size)
    return "is longer than its type";
  *value = written->text;
  return NULL;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static const char *convert_bytes(const alo_parameter_type *type, const alo_written *written,
                                 aloft_bytes *value) {
  aloft_text text = written->text;
  if (written->kind != ALO_WRITTEN_STRING || text.size < 2 || text.size % 2 != 0 ||
      text.data[0] != '0' || lower(text.data[1]) != 'x')
    return "is not a string of 0x and pairs of hexadecimal digits";
  if (!type->max && text.size / 2 - 1 > type->size)
    return "is longer than its type";
  unsigned char *out = (unsigned char *)(uintptr_t)text.data;
  for (size_t i = 2; i < text.size; i += 2) {
    int high = hex_digit(text.data[i]), low = hex_digit(text.data[i + 1]);
    if (high < 0 || low < 0)
      return "is not a string of 0x and pairs of hexadecimal digits";
    out[i / 2 - 1] = (unsigned char)(high * 16 + low);
  }
  *value = (aloft_bytes){out, text.size / 2 - 1};
  return NULL;
}

static const char *convert_moment(const alo_parameter_type *type, const alo_written *written,
                                  aloft_tds_moment *value) {
  if (written->kind != ALO_WRITTEN_STRING)
    return "is not a string";
  return alo_moment_read(written->text, type->type, type->scale, value);
}

static const char *convert_uuid(const alo_written *written, aloft_tds_uuid *value) {
  static const char pattern[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  static const char wrong[] = "is not a string of 32 hexadecimal digits as 8-4-4-4-12";
  aloft_text text = written->text;
  size_t digits = 0;
  if (written->kind != ALO_WRITTEN_STRING || text.size != sizeof pattern - 1)
    return wrong;
  memset(value, 0, sizeof *value);
  for (size_t i = 0; i < text.size; i++) {
    int digit = hex_digit(text.data[i]);
    if (pattern[i] == '-' ? text.data[i] != '-' : digit < 0)
      return wrong;
    if (pattern[i] == '-')
      continue;
    value->bytes[digits / 2] = (uint8_t)(value->bytes[digits / 2] * 16 + digit);
    digits++;
  }
  return NULL;
}

const char *alo_parameter_convert(const alo_parameter_type *type, const alo_written *written,
                                  aloft_tds_param *param) {
  param->type = type->type;
  param->scale = type->scale;
  param->null = false;
  switch (type->type) {
  case ALOFT_TDS_BIT:
    return convert_bit(kind_of(type), written, &param->value.integer);
  case ALOFT_TDS_DECIMAL:
  case ALOFT_TDS_NUMERIC:
    return convert_decimal(type, written, &param->value.decimal);
  case ALOFT_TDS_REAL:
  case ALOFT_TDS_FLOAT:
    return convert_real(type, written, &param->value.real);
  case ALOFT_TDS_NVARCHAR:
  case ALOFT_TDS_VARCHAR:
    return convert_text(type, written, &param->value.text);
  case ALOFT_TDS_VARBINARY:
    return convert_bytes(type, written, &param->value.bytes);
  case ALOFT_TDS_DATE:
  case ALOFT_TDS_TIME:
  case ALOFT_TDS_DATETIME2:
  case ALOFT_TDS_DATETIMEOFFSET:
    return convert_moment(type, written, &param->value.moment);
  case ALOFT_TDS_UNIQUEIDENTIFIER:
    return convert_uuid(written, &param->value.uuid);
  default:
    return convert_integer(kind_of(type), written, &param->value.integer);
  }
}
