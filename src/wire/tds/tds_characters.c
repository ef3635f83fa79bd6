#include "tds_characters.h"

#include <string.h>

#include "tds_value.h"

enum { REPLACEMENT = 0xFFFD, UTF8_CUT_MAX = 3 };

size_t alo_tds_characters_room(alo_tds_charset charset, size_t size) {
  return charset == ALO_TDS_CHARSET_UTF16 ? ALO_UTF8_ROOM(size) : 3 * (size + UTF8_CUT_MAX);
}

static size_t put_broken(char *out, size_t *broken) {
  if (broken) {
    (*broken)++;
  }
  return alo_utf8_put(REPLACEMENT, out);
}

/* ---- UTF-8 ---- */

/* True for a beginning of a character that only lacks bytes. */
static bool is_cut(const uint8_t *in, size_t size) {
  size_t length = in[0] < 0xC2 || in[0] > 0xF4 ? 1 : in[0] < 0xE0 ? 2 : in[0] < 0xF0 ? 3 : 4;
  uint32_t code;
  return size < length && alo_utf8_next((const char *)in, size, &code) == size;
}

/* Text in one piece, up to a character that its end cuts unless `end`. Returns the bytes read. */
static size_t repair(const uint8_t *in, size_t size, bool end, char **out, size_t *broken) {
  size_t at = 0;
  while (at < size) {
    size_t good = alo_utf8_valid((const char *)in + at, size - at);
    memcpy(*out, in + at, good);
    *out += good;
    at += good;
    if (at == size || (!end && is_cut(in + at, size - at))) {
      break;
    }
    uint32_t code;
    at += alo_utf8_next((const char *)in + at, size - at, &code);
    *out += put_broken(*out, broken);
  }
  return at;
}

/* The character that the last piece was cut in, completed with bytes of this one. Returns how many
 * of them. */
static size_t complete(alo_utf16_cut *cut, const uint8_t *in, size_t size, bool end, char **out,
                       size_t *broken) {
  uint8_t joined[2 * UTF8_CUT_MAX];
  size_t held = cut->size;
  size_t taken = size < UTF8_CUT_MAX ? size : UTF8_CUT_MAX;
  memcpy(joined, cut->bytes, held);
  if (taken) {
    memcpy(joined + held, in, taken);
  }
  if (!end && is_cut(joined, held + taken)) {
    memcpy(cut->bytes, joined, held + taken);
    cut->size = (uint8_t)(held + taken);
    return taken;
  }
  uint32_t code;
  size_t read = alo_utf8_next((const char *)joined, held + taken, &code);
  cut->size = 0;
  *out += code == ALO_UTF8_BROKEN ? put_broken(*out, broken) : alo_utf8_put(code, *out);
  return read - held;
}

static size_t decode_utf8(alo_utf16_cut *cut, const uint8_t *in, size_t size, bool end, char *out,
                          size_t *broken) {
  char *next = out;
  size_t at = 0;
  if (cut->size) {
    at = complete(cut, in, size, end, &next, broken);
    if (cut->size) {
      return 0;
    }
  }
  if (at < size) {
    at += repair(in + at, size - at, end, &next, broken);
  }
  cut->size = (uint8_t)(size - at);
  if (at < size) {
    memcpy(cut->bytes, in + at, size - at);
  }
  return (size_t)(next - out);
}

/* ---- the others ---- */

static size_t decode_ascii(const uint8_t *in, size_t size, char *out, size_t *broken) {
  char *next = out;
  for (size_t at = 0; at < size; at++) {
    if (in[at] < 0x80) {
      *next++ = (char)in[at];
    } else {
      next += put_broken(next, broken);
    }
  }
  return (size_t)(next - out);
}

size_t alo_tds_characters_decode(const alo_tds_characters *characters, alo_tds_cut *cut,
                                 const uint8_t *in, size_t size, bool end, char *out,
                                 size_t *broken) {
  switch (characters->charset) {
  case ALO_TDS_CHARSET_UTF16:
    return alo_utf16_to_utf8(&cut->units, in, size, end, out, broken);
  case ALO_TDS_CHARSET_UTF8:
    return decode_utf8(&cut->units, in, size, end, out, broken);
  case ALO_TDS_CHARSET_1252:
    return alo_tds_1252_to_utf8(in, size, out);
  case ALO_TDS_CHARSET_OTHER:
  case ALO_TDS_CHARSET_NONE:
    break;
  }
  return characters->page
             ? alo_code_page_to_utf8(characters->page, &cut->lead, in, size, end, out, broken)
             : decode_ascii(in, size, out, broken);
}

aloft_status alo_tds_characters_of(const alo_tds_type *type, const alo_code_pages *pages,
                                   alo_tds_characters *characters) {
  *characters = (alo_tds_characters){.charset = alo_tds_type_charset(type)};
  if (characters->charset != ALO_TDS_CHARSET_OTHER || !pages) {
    return ALOFT_OK;
  }
  aloft_status status =
      pages->find(pages->context, alo_tds_code_page(type->collation), &characters->page);
  return status == ALOFT_NO_MEMORY ? status : ALOFT_OK;
}
