/* Text of every type: character data as UTF-8 here, the others' canonical text in tds_plain_text.c.
 */
#include "tds_plain_text.h"

#include <string.h>

#include "ascii_run.h"
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
  return charset == ALO_TDS_CHARSET_NONE ? alo_tds_plain_text(type, data, size, out, text_size)
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
    *text_size = alo_tds_integer_text((int32_t)bits, out);
    return NULL;
  }
  return put_any(type, data, size, out, text_size);
}
