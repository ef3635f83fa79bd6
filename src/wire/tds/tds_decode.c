/* Wire bytes to native values (MS-TDS 2.2.5.5.1). Every function is total: any bytes give a value
 * or a reason. */
#include "tds_value.h"

#include <string.h>

#include "apart.h"

enum {
  DAYS_TO_1900 = 693595, /* from 0001-01-01 */
  DAYS_MAX = 3652058,    /* 9999-12-31 */
  OFFSET_MAX = 14 * 60,
  MINUTES_OF_DAY = 24 * 60
};

static const uint64_t TICKS_OF_DAY = UINT64_C(864000000000);
static const uint64_t TICKS_OF_MINUTE = UINT64_C(600000000);
static const uint32_t THREE_HUNDREDTHS_OF_DAY = 300 * 24 * 60 * 60;

static const char wrong_type[] = "wrong type";
static const char wrong_size[] = "a size that the type does not have";

/* Little endian, of 1 to 8 bytes. */
static uint64_t get_number(const uint8_t *in, size_t size) {
  uint64_t value = 0;
  for (size_t at = size; at > 0; at--) {
    value = value << 8 | in[at - 1];
  }
  return value;
}

/* A sql_variant is read as what it holds. */
static const char *unwrap(const alo_tds_type **type, alo_tds_type *base, const uint8_t **data,
                          size_t *size) {
  if ((*type)->token != ALO_TDS_SSVARIANT) {
    return NULL;
  }
  aloft_bytes value;
  const char *wrong = alo_tds_value_variant(*data, *size, base, &value);
  if (!wrong) {
    *type = base;
    *data = value.data;
    *size = value.size;
  }
  return wrong;
}

/* ---- public types ---- */

/* By token; those of several sizes as their largest. */
static const uint8_t public_types[256] = {
    [ALO_TDS_INT1] = ALOFT_TDS_TINYINT,
    [ALO_TDS_BIT] = ALOFT_TDS_BIT,
    [ALO_TDS_BITN] = ALOFT_TDS_BIT,
    [ALO_TDS_INT2] = ALOFT_TDS_SMALLINT,
    [ALO_TDS_INT4] = ALOFT_TDS_INT,
    [ALO_TDS_INT8] = ALOFT_TDS_BIGINT,
    [ALO_TDS_INTN] = ALOFT_TDS_BIGINT,
    [ALO_TDS_FLT4] = ALOFT_TDS_REAL,
    [ALO_TDS_FLT8] = ALOFT_TDS_FLOAT,
    [ALO_TDS_FLTN] = ALOFT_TDS_FLOAT,
    [ALO_TDS_MONEY4] = ALOFT_TDS_SMALLMONEY,
    [ALO_TDS_MONEY] = ALOFT_TDS_MONEY,
    [ALO_TDS_MONEYN] = ALOFT_TDS_MONEY,
    [ALO_TDS_DATETIM4] = ALOFT_TDS_SMALLDATETIME,
    [ALO_TDS_DATETIME] = ALOFT_TDS_DATETIME,
    [ALO_TDS_DATETIMN] = ALOFT_TDS_DATETIME,
    [ALO_TDS_GUID] = ALOFT_TDS_UNIQUEIDENTIFIER,
    [ALO_TDS_DECIMALN] = ALOFT_TDS_DECIMAL,
    [ALO_TDS_NUMERICN] = ALOFT_TDS_NUMERIC,
    [ALO_TDS_DATEN] = ALOFT_TDS_DATE,
    [ALO_TDS_TIMEN] = ALOFT_TDS_TIME,
    [ALO_TDS_DATETIME2N] = ALOFT_TDS_DATETIME2,
    [ALO_TDS_DATETIMEOFFSETN] = ALOFT_TDS_DATETIMEOFFSET,
    [ALO_TDS_BIGVARBINARY] = ALOFT_TDS_VARBINARY,
    [ALO_TDS_BIGVARCHAR] = ALOFT_TDS_VARCHAR,
    [ALO_TDS_BIGBINARY] = ALOFT_TDS_BINARY,
    [ALO_TDS_BIGCHAR] = ALOFT_TDS_CHAR,
    [ALO_TDS_NVARCHAR] = ALOFT_TDS_NVARCHAR,
    [ALO_TDS_NCHAR] = ALOFT_TDS_NCHAR,
    [ALO_TDS_XML] = ALOFT_TDS_XML,
    [ALO_TDS_UDT] = ALOFT_TDS_UDT,
    [ALO_TDS_TEXT] = ALOFT_TDS_TEXT,
    [ALO_TDS_IMAGE] = ALOFT_TDS_IMAGE,
    [ALO_TDS_NTEXT] = ALOFT_TDS_NTEXT,
    [ALO_TDS_SSVARIANT] = ALOFT_TDS_VARIANT,
    [ALO_TDS_JSON] = ALOFT_TDS_JSON,
};

aloft_tds_type alo_tds_type_public(const alo_tds_type *type) {
  aloft_tds_type largest = (aloft_tds_type)public_types[type->token];
  if (type->size >= 8) {
    return largest;
  }
  switch (type->token) {
  case ALO_TDS_INTN:
    return type->size == 1   ? ALOFT_TDS_TINYINT
           : type->size == 2 ? ALOFT_TDS_SMALLINT
                             : ALOFT_TDS_INT;
  case ALO_TDS_FLTN:
    return ALOFT_TDS_REAL;
  case ALO_TDS_MONEYN:
    return ALOFT_TDS_SMALLMONEY;
  case ALO_TDS_DATETIMN:
    return ALOFT_TDS_SMALLDATETIME;
  default:
    return largest;
  }
}

/* ---- numbers ---- */

ALO_APART static const char *any_int64(const alo_tds_type *type, const uint8_t *data, size_t size,
                                       int64_t *value) {
  alo_tds_type base;
  const char *wrong = unwrap(&type, &base, &data, &size);
  if (wrong) {
    return wrong;
  }
  switch (alo_tds_type_public(type)) {
  case ALOFT_TDS_BIT:
    *value = size && data[0] != 0;
    return size == 1 ? NULL : wrong_size;
  case ALOFT_TDS_TINYINT:
    *value = size ? data[0] : 0;
    return size == 1 ? NULL : wrong_size;
  case ALOFT_TDS_SMALLINT:
    *value = (int16_t)get_number(data, size == 2 ? size : 0);
    return size == 2 ? NULL : wrong_size;
  case ALOFT_TDS_INT:
    *value = (int32_t)get_number(data, size == 4 ? size : 0);
    return size == 4 ? NULL : wrong_size;
  case ALOFT_TDS_BIGINT:
    *value = (int64_t)get_number(data, size == 8 ? size : 0);
    return size == 8 ? NULL : wrong_size;
  default:
    return wrong_type;
  }
}

/* What most integers are comes first. */
const char *alo_tds_value_int64(const alo_tds_type *type, const uint8_t *data, size_t size,
                                int64_t *value) {
  if (size != 4 ||
      (type->token != ALO_TDS_INT4 && (type->token != ALO_TDS_INTN || type->size != 4))) {
    return any_int64(type, data, size, value);
  }
  uint32_t bits = (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
                  (uint32_t)data[3] << 24;
  *value = (int32_t)bits;
  return NULL;
}

const char *alo_tds_value_double(const alo_tds_type *type, const uint8_t *data, size_t size,
                                 double *value) {
  alo_tds_type base;
  const char *wrong = unwrap(&type, &base, &data, &size);
  if (wrong) {
    return wrong;
  }
  switch (alo_tds_type_public(type)) {
  case ALOFT_TDS_REAL: {
    uint32_t bits = (uint32_t)get_number(data, size == 4 ? size : 0);
    float single;
    memcpy(&single, &bits, sizeof single);
    *value = (double)single;
    return size == 4 ? NULL : wrong_size;
  }
  case ALOFT_TDS_FLOAT: {
    uint64_t bits = get_number(data, size == 8 ? size : 0);
    memcpy(value, &bits, sizeof *value);
    return size == 8 ? NULL : wrong_size;
  }
  default:
    return wrong_type;
  }
}

/* Up to 10^38 - 1, whose halves these are. */
static bool beyond_38_digits(uint64_t high, uint64_t low) {
  const uint64_t max_high = UINT64_C(0x4B3B4CA85A86C47A);
  const uint64_t max_low = UINT64_C(0x098A223FFFFFFFFF);
  return high > max_high || (high == max_high && low > max_low);
}

static const char *read_decimal(const alo_tds_type *type, const uint8_t *data, size_t size,
                                aloft_tds_decimal *value) {
  if (size < 2 || size > 17) { /* servers send 5, 9, 13 or 17; clients any of these */
    return wrong_size;
  }
  size_t low_size = size - 1 < 8 ? size - 1 : 8;
  value->low = get_number(data + 1, low_size);
  value->high = get_number(data + 1 + low_size, size - 1 - low_size);
  value->precision = type->precision;
  value->scale = type->scale;
  value->negative = data[0] == 0 && (value->low || value->high);
  if (data[0] > 1) {
    return "a decimal sign other than 0 and 1";
  }
  return beyond_38_digits(value->high, value->low) ? "a decimal above 38 digits" : NULL;
}

static const char *read_money(const uint8_t *data, size_t size, aloft_tds_decimal *value) {
  int64_t number;
  if (size == 8) { /* the high half comes first */
    number = (int64_t)(get_number(data, 4) << 32 | get_number(data + 4, 4));
  } else if (size == 4) {
    number = (int32_t)get_number(data, 4);
  } else {
    return wrong_size;
  }
  value->negative = number < 0;
  value->low = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  value->precision = size == 8 ? 19 : 10;
  value->scale = 4;
  return NULL;
}

const char *alo_tds_value_decimal(const alo_tds_type *type, const uint8_t *data, size_t size,
                                  aloft_tds_decimal *value) {
  alo_tds_type base;
  const char *wrong = unwrap(&type, &base, &data, &size);
  if (wrong) {
    return wrong;
  }
  *value = (aloft_tds_decimal){0};
  switch (alo_tds_type_public(type)) {
  case ALOFT_TDS_DECIMAL:
  case ALOFT_TDS_NUMERIC:
    return read_decimal(type, data, size, value);
  case ALOFT_TDS_MONEY:
  case ALOFT_TDS_SMALLMONEY:
    return read_money(data, size, value);
  default:
    return wrong_type;
  }
}

/* ---- dates and times ---- */

static const char *read_date(const uint8_t *data, aloft_tds_moment *value) {
  value->days = (int32_t)get_number(data, 3);
  return value->days > DAYS_MAX ? "a date after 9999-12-31" : NULL;
}

static const char *read_time(const alo_tds_type *type, const uint8_t *data, size_t size,
                             aloft_tds_moment *value) {
  value->ticks = get_number(data, size);
  for (unsigned scale = type->scale; scale < 7; scale++) {
    value->ticks *= 10;
  }
  return value->ticks >= TICKS_OF_DAY ? "a time beyond 24 hours" : NULL;
}

static size_t time_size(uint8_t scale) {
  return scale <= 2 ? 3 : scale <= 4 ? 4 : 5;
}

/* Local time must be a date too, so that it has text. */
static const char *read_offset(const uint8_t *data, aloft_tds_moment *value) {
  value->offset_minutes = (int16_t)get_number(data, 2);
  if (value->offset_minutes < -OFFSET_MAX || value->offset_minutes > OFFSET_MAX) {
    return "an offset beyond 14 hours";
  }
  uint64_t past = value->ticks + (uint64_t)(value->offset_minutes + OFFSET_MAX) * TICKS_OF_MINUTE;
  bool before = past < OFFSET_MAX * TICKS_OF_MINUTE;
  bool after = past >= TICKS_OF_DAY + OFFSET_MAX * TICKS_OF_MINUTE;
  return (value->days == 0 && before) || (value->days == DAYS_MAX && after)
             ? "a local date outside 0001-01-01 to 9999-12-31"
             : NULL;
}

/* Milliseconds are what its 1/300 seconds stand for: .000, .003, .007. */
static const char *read_datetime(const uint8_t *data, aloft_tds_moment *value) {
  int64_t days = (int32_t)get_number(data, 4) + INT64_C(693595);
  uint64_t count = get_number(data + 4, 4);
  if (days < 0 || days > DAYS_MAX) {
    return "a date outside 0001-01-01 to 9999-12-31";
  }
  if (count >= THREE_HUNDREDTHS_OF_DAY) {
    return "a time beyond 24 hours";
  }
  value->days = (int32_t)days;
  value->ticks = (count * 10 + 1) / 3 * 10000;
  return NULL;
}

static const char *read_smalldatetime(const uint8_t *data, aloft_tds_moment *value) {
  uint64_t minutes = get_number(data + 2, 2);
  value->days = (int32_t)get_number(data, 2) + DAYS_TO_1900;
  value->ticks = minutes * TICKS_OF_MINUTE;
  return minutes >= MINUTES_OF_DAY ? "a time beyond 24 hours" : NULL;
}

static const char *read_timed(const alo_tds_type *type, const uint8_t *data, size_t size,
                              aloft_tds_moment *value) {
  size_t clock = time_size(type->scale);
  size_t rest = type->token == ALO_TDS_DATETIMEOFFSETN ? 5 : type->token == ALO_TDS_TIMEN ? 0 : 3;
  if (type->scale > 7) {
    return "a time scale above 7";
  }
  if (size != clock + rest) {
    return wrong_size;
  }
  const char *wrong = read_time(type, data, clock, value);
  if (!wrong && rest) {
    wrong = read_date(data + clock, value);
  }
  return !wrong && rest == 5 ? read_offset(data + clock + 3, value) : wrong;
}

const char *alo_tds_value_moment(const alo_tds_type *type, const uint8_t *data, size_t size,
                                 aloft_tds_moment *value) {
  alo_tds_type base;
  const char *wrong = unwrap(&type, &base, &data, &size);
  if (wrong) {
    return wrong;
  }
  *value = (aloft_tds_moment){0};
  switch (alo_tds_type_public(type)) {
  case ALOFT_TDS_DATE:
    return size == 3 ? read_date(data, value) : wrong_size;
  case ALOFT_TDS_DATETIME:
    return size == 8 ? read_datetime(data, value) : wrong_size;
  case ALOFT_TDS_SMALLDATETIME:
    return size == 4 ? read_smalldatetime(data, value) : wrong_size;
  case ALOFT_TDS_TIME:
  case ALOFT_TDS_DATETIME2:
  case ALOFT_TDS_DATETIMEOFFSET:
    return read_timed(type, data, size, value);
  default:
    return wrong_type;
  }
}

/* ---- uniqueidentifier: the first three groups are little endian on the wire ---- */

const char *alo_tds_value_uuid(const alo_tds_type *type, const uint8_t *data, size_t size,
                               aloft_tds_uuid *value) {
  static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  alo_tds_type base;
  const char *wrong = unwrap(&type, &base, &data, &size);
  if (wrong) {
    return wrong;
  }
  if (type->token != ALO_TDS_GUID) {
    return wrong_type;
  }
  if (size != sizeof value->bytes) {
    return wrong_size;
  }
  for (size_t at = 0; at < sizeof order; at++) {
    value->bytes[at] = data[order[at]];
  }
  return NULL;
}
