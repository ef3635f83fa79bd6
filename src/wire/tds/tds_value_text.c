/* Text of every type: character data as UTF-8 here, the others' canonical text in tds_plain_text.c.
 */
#include "tds_plain_text.h"

#include <string.h>

#include "apart.h"
#include "ascii_run.h"
#include "tds_characters.h"

enum { PLAIN_ROOM = 64, BINARY_DIGITS = 2 };

const char alo_tds_ill_formed[] = "text that is not well-formed";
const char alo_tds_no_memory[] = "no memory for a code page";

size_t alo_tds_value_text_room(const alo_tds_type *type, size_t size) {
  switch (alo_tds_type_charset(type)) {
  case ALO_TDS_CHARSET_UTF16:
  case ALO_TDS_CHARSET_UTF8:
  case ALO_TDS_CHARSET_1252:
  case ALO_TDS_CHARSET_OTHER:
    return alo_tds_characters_room(alo_tds_type_charset(type), size);
  case ALO_TDS_CHARSET_NONE:
    break;
  }
  if (type->token == ALO_TDS_SSVARIANT) {
    return size * 3 + PLAIN_ROOM;
  }
  return size * BINARY_DIGITS + PLAIN_ROOM;
}

/* ---- character types ---- */

static const char *put_characters(const alo_tds_text_rules *rules, const alo_tds_type *type,
                                  const uint8_t *data, size_t size, char *out, size_t *text_size) {
  alo_tds_characters characters;
  alo_tds_cut cut = {.lead = 0};
  size_t broken = 0;
  if (alo_tds_characters_of(type, rules ? rules->pages : NULL, &characters) != ALOFT_OK) {
    return alo_tds_no_memory;
  }
  *text_size = alo_tds_characters_decode(&characters, &cut, data, size, true, out, &broken);
  if (!broken) {
    return NULL;
  }
  if (characters.charset == ALO_TDS_CHARSET_OTHER && !characters.page) {
    return "text beyond ASCII in a code page that is not known here";
  }
  return rules && rules->strict ? alo_tds_ill_formed : NULL;
}

/* Adds to what `*text_size` says is there. */
ALO_APART static const char *put_rest(const alo_tds_text_rules *rules, const uint8_t *data,
                                      size_t size, char *out, size_t *text_size) {
  alo_utf16_cut cut = {0};
  size_t broken = 0;
  *text_size += alo_utf16_to_utf8(&cut, data, size, true, out, &broken);
  return broken && rules && rules->strict ? alo_tds_ill_formed : NULL;
}

/* Most text is ASCII, and then this is all there is to do. */
static const char *put_utf16(const alo_tds_text_rules *rules, const uint8_t *data, size_t size,
                             char *out, size_t *text_size) {
  size_t run = alo_ascii_narrow(data, size / 2, (uint8_t *)out);
  *text_size = run;
  return 2 * run == size ? NULL
                         : put_rest(rules, data + 2 * run, size - 2 * run, out + run, text_size);
}

ALO_APART static const char *put_any(const alo_tds_text_rules *rules, const alo_tds_type *type,
                                     const uint8_t *data, size_t size, char *out,
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
  return alo_tds_type_charset(type) == ALO_TDS_CHARSET_NONE
             ? alo_tds_plain_text(type, data, size, out, text_size)
             : put_characters(rules, type, data, size, out, text_size);
}

/* What most columns are comes first. */
const char *alo_tds_value_text_by(const alo_tds_text_rules *rules, const alo_tds_type *type,
                                  const uint8_t *data, size_t size, char *out, size_t *text_size) {
  if (type->token == ALO_TDS_NVARCHAR) {
    return put_utf16(rules, data, size, out, text_size);
  }
  if (size == 4 && (type->token == ALO_TDS_INT4 || type->token == ALO_TDS_INTN)) {
    uint32_t bits = (uint32_t)data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 |
                    (uint32_t)data[3] << 24;
    *text_size = alo_tds_integer_text((int32_t)bits, out);
    return NULL;
  }
  return put_any(rules, type, data, size, out, text_size);
}
