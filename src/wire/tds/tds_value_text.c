/* The canonical text of every type, and character data as UTF-8. */
#include "tds_value.h"

#include <string.h>

#include "ascii_run.h"
#include "number.h"
#include "utf16.h"

enum { PLAIN_ROOM = 64, BINARY_DIGITS = 2 };

size_t alo_tds_value_text_room(const alo_tds_type *type, size_t size) {
  switch (alo_tds_type_charset(type)) {
  case ALO_TDS_CHARSET_UTF16:
    return ALO_UTF8_ROOM(size);
  case ALO_TDS_CHARSET_UTF8:
  case ALO_TDS_CHARSET_1252:
  case ALO_TDS_CHARSET_OTHER:
    return size * 3 + 1;
  case ALO_TDS_CHARSET_NONE:
    break;
  }
  if (type->token == ALO_TDS_SSVARIANT) {
    return size * 3 + PLAIN_ROOM;
  }
  return size * BINARY_DIGITS + PLAIN_ROOM;
}

/* ---- character types ---- */

/* Most text is ASCII, and then this is all there is to do. */
static size_t put_utf16(const uint8_t *data, size_t size, char *out) {
  size_t run = alo_ascii_narrow(data, size / 2, (uint8_t *)out);
  if (2 * run == size) {
    return run;
  }
  alo_utf16_cut cut = {0};
  return run + alo_utf16_to_utf8(&cut, data + 2 * run, size - 2 * run, true, out + run, NULL);
}

static size_t repair_utf8(const uint8_t *in, size_t size, char *out) {
  size_t written = 0;
  while (size) {
    size_t good = alo_utf8_valid((const char *)in, size);
    memcpy(out + written, in, good);
    written += good;
    in += good;
    size -= good;
    if (size) {
      written += alo_utf8_put(0xFFFD, out + written);
      in++;
      size--;
    }
  }
  return written;
}

static const char *put_ascii(const uint8_t *in, size_t size, char *out, size_t *text_size) {
  for (size_t at = 0; at < size; at++) {
    if (in[at] >= 0x80) {
      return "text beyond ASCII in a code page other than 1252 and UTF-8";
    }
    out[at] = (char)in[at];
  }
  *text_size = size;
  return NULL;
}

static const char *put_characters(alo_tds_charset charset, const uint8_t *data, size_t size,
                                  char *out, size_t *text_size) {
  switch (charset) {
  case ALO_TDS_CHARSET_UTF16:
    *text_size = put_utf16(data, size, out);
    return NULL;
  case ALO_TDS_CHARSET_UTF8:
    *text_size = repair_utf8(data, size, out);
    return NULL;
  case ALO_TDS_CHARSET_1252:
    *text_size = alo_tds_1252_to_utf8(data, size, out);
    return NULL;
  default:
    return put_ascii(data, size, out, text_size);
  }
}

/* ---- the others ---- */

static size_t integer_text(int64_t value, char *out) {
  size_t sign = value < 0;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  size_t count = 1;
  for (uint64_t more = rest; more >= 10; more /= 10) {
    count++;
  }
  out[0] = '-';
  for (size_t at = sign + count; at > sign; rest /= 10) {
    out[--at] = (char)('0' + rest % 10);
  }
  return sign + count;
}

static const char *put_integer(const alo_tds_type *type, const uint8_t *data, size_t size,
                               char *out, size_t *text_size) {
  int64_t value;
  const char *wrong = alo_tds_value_int64(type, data, size, &value);
  if (!wrong) {
    *text_size = integer_text(value, out);
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

static const char *put_plain(const alo_tds_type *type, const uint8_t *data, size_t size, char *out,
                             size_t *text_size) {
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

static const char *put_any(const alo_tds_type *type, const uint8_t *data, size_t size, char *out,
                           size_t *text_size) {
  alo_tds_type base;
  if (type->token == ALO_TDS_SSVARIANT) {
    aloft_bytes value;
    const char *wrong = alo_tds_value_variant(data, size, &base, &value);
    if (wrong) {
      return wrong;
    }
    type = &base;
    data = value.data;
    size = value.size;
  }
  alo_tds_charset charset = alo_tds_type_charset(type);
  return charset == ALO_TDS_CHARSET_NONE ? put_plain(type, data, size, out, text_size)
                                         : put_characters(charset, data, size, out, text_size);
}

/* What most columns are comes first. */
const char *alo_tds_value_text(const alo_tds_type *type, const uint8_t *data, size_t size,
                               char *out, size_t *text_size) {
  if (type->token == ALO_TDS_NVARCHAR) {
    *text_size = put_utf16(data, size, out);
    return NULL;
  }
  if (size == 4 && (type->token == ALO_TDS_INT4 || type->token == ALO_TDS_INTN)) {
    uint32_t bits = (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
                    (uint32_t)data[3] << 24;
    *text_size = integer_text((int32_t)bits, out);
    return NULL;
  }
  return put_any(type, data, size, out, text_size);
}
