#include "tds_plain_text.h"

#include "number.h"

static const char *put_integer(const alo_tds_type *type, const uint8_t *data, size_t size,
                               char *out, size_t *text_size) {
  int64_t value;
  const char *wrong = alo_tds_value_int64(type, data, size, &value);
  if (!wrong) {
    *text_size = alo_tds_integer_text(value, out);
  }
  return wrong;
}

static const char *put_float(const alo_tds_type *type, const uint8_t *data, size_t size, char *out,
                             size_t *text_size) {
  double value;
  const char *wrong = alo_tds_value_double(type, data, size, &value);
  if (!wrong) {
    *text_size = size == 4 ? alo_float_text((float)value, out) : alo_double_text(value, out);
  }
  return wrong;
}

static const char *put_decimal(const alo_tds_type *type, const uint8_t *data, size_t size,
                               char *out, size_t *text_size) {
  aloft_tds_decimal value;
  const char *wrong = alo_tds_value_decimal(type, data, size, &value);
  if (!wrong) {
    *text_size = alo_tds_decimal_text(&value, out);
  }
  return wrong;
}

static const char *put_uuid(const alo_tds_type *type, const uint8_t *data, size_t size, char *out,
                            size_t *text_size) {
  aloft_tds_uuid value;
  const char *wrong = alo_tds_value_uuid(type, data, size, &value);
  if (!wrong) {
    *text_size = alo_tds_uuid_text(&value, out);
  }
  return wrong;
}

static void put_binary(const uint8_t *data, size_t size, char *out, size_t *text_size) {
  static const char hex[] = "0123456789ABCDEF";
  out[0] = '0';
  out[1] = 'x';
  for (size_t at = 0; at < size; at++) {
    out[2 + 2 * at] = hex[data[at] >> 4];
    out[3 + 2 * at] = hex[data[at] & 15];
  }
  *text_size = 2 + 2 * size;
}

/* On the wire a datetimeoffset is in UTC; its text is local. */
static void to_local(aloft_tds_moment *moment) {
  const int64_t day = INT64_C(864000000000);
  int64_t ticks = (int64_t)moment->ticks + moment->offset_minutes * INT64_C(600000000);
  if (ticks < 0) {
    ticks += day;
    moment->days--;
  } else if (ticks >= day) {
    ticks -= day;
    moment->days++;
  }
  moment->ticks = (uint64_t)ticks;
}

static size_t put_offset(int16_t offset, char *out) {
  unsigned minutes = (unsigned)(offset < 0 ? -offset : offset);
  out[0] = ' ';
  out[1] = offset < 0 ? '-' : '+';
  out[2] = (char)('0' + minutes / 600);
  out[3] = (char)('0' + minutes / 60 % 10);
  out[4] = ':';
  out[5] = (char)('0' + minutes % 60 / 10);
  out[6] = (char)('0' + minutes % 10);
  return 7;
}

static const char *put_moment(const alo_tds_type *type, const uint8_t *data, size_t size, char *out,
                              size_t *text_size) {
  aloft_tds_type kind = alo_tds_type_public(type);
  aloft_tds_moment moment;
  const char *wrong = alo_tds_value_moment(type, data, size, &moment);
  if (wrong) {
    return wrong;
  }
  to_local(&moment);
  size_t at = 0;
  if (kind != ALOFT_TDS_TIME) {
    at += alo_tds_date_text(moment.days, out);
  }
  if (kind != ALOFT_TDS_DATE) {
    unsigned digits = kind == ALOFT_TDS_DATETIME ? 3 : type->scale;
    if (at) {
      out[at++] = ' ';
    }
    at += alo_tds_time_text(moment.ticks, digits, out + at);
  }
  if (kind == ALOFT_TDS_DATETIMEOFFSET) {
    at += put_offset(moment.offset_minutes, out + at);
  }
  *text_size = at;
  return NULL;
}

const char *alo_tds_plain_text(const alo_tds_type *type, const uint8_t *data, size_t size,
                               char *out, size_t *text_size) {
  switch (alo_tds_type_public(type)) {
  case ALOFT_TDS_BIT:
  case ALOFT_TDS_TINYINT:
  case ALOFT_TDS_SMALLINT:
  case ALOFT_TDS_INT:
  case ALOFT_TDS_BIGINT:
    return put_integer(type, data, size, out, text_size);
  case ALOFT_TDS_REAL:
  case ALOFT_TDS_FLOAT:
    return put_float(type, data, size, out, text_size);
  case ALOFT_TDS_DECIMAL:
  case ALOFT_TDS_NUMERIC:
  case ALOFT_TDS_MONEY:
  case ALOFT_TDS_SMALLMONEY:
    return put_decimal(type, data, size, out, text_size);
  case ALOFT_TDS_UNIQUEIDENTIFIER:
    return put_uuid(type, data, size, out, text_size);
  case ALOFT_TDS_DATE:
  case ALOFT_TDS_TIME:
  case ALOFT_TDS_SMALLDATETIME:
  case ALOFT_TDS_DATETIME:
  case ALOFT_TDS_DATETIME2:
  case ALOFT_TDS_DATETIMEOFFSET:
    return put_moment(type, data, size, out, text_size);
  default:
    put_binary(data, size, out, text_size);
    return NULL;
  }
}
