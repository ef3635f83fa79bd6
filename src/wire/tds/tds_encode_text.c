/* Character and binary values: code pages, length prefixes, partially length-prefixed data. */
#include "tds_value.h"

#include "tds_characters.h"

/* LCID 0x0409, version 0, ignoring case, kana and width; sort order 52. */
const uint8_t alo_tds_collation_default[5] = {0x09, 0x04, 0xD0, 0x00, 0x34};

enum { CHUNK = 256, TEXT_POINTER = 16, TIMESTAMP = 8 };

/* ---- code pages ---- */

/* What lies outside the first plane is two UTF-16 units to SQL Server, and becomes two '?'. Returns
 * the bytes written, 1 or 2. */
static unsigned encode(const alo_tds_characters *characters, uint32_t character, uint8_t out[2]) {
  unsigned size = 1;
  if (characters->page) {
    size = alo_code_page_put(characters->page, character, out);
  } else {
    bool is_1252 = characters->charset == ALO_TDS_CHARSET_1252;
    out[0] = is_1252 || character < 0x80 ? alo_tds_1252_of(character) : '?';
  }
  if (size == 0) {
    out[0] = '?';
    size = 1;
  }
  if (character > 0xFFFF) {
    out[1] = '?';
    size = 2;
  }
  return size;
}

static size_t measure(const alo_tds_characters *characters, aloft_text text) {
  size_t total = 0;
  for (size_t at = 0; at < text.size;) {
    uint32_t character;
    uint8_t bytes[2];
    at += alo_utf8_next(text.data + at, text.size - at, &character);
    total += encode(characters, character, bytes);
  }
  return total;
}

static void put_code_page(alo_tds_writer *writer, const alo_tds_characters *characters,
                          aloft_text text) {
  uint8_t bytes[CHUNK + 2];
  size_t count = 0;
  for (size_t at = 0; at < text.size;) {
    uint32_t character;
    at += alo_utf8_next(text.data + at, text.size - at, &character);
    count += encode(characters, character, bytes + count);
    if (count >= CHUNK) {
      alo_tds_put(writer, bytes, count);
      count = 0;
    }
  }
  alo_tds_put(writer, bytes, count);
}

/* ---- lengths ---- */

enum { LONGEST = INT32_MAX }; /* bytes of a large value, as in SQL Server */

static void put_plp_size(alo_tds_writer *writer, size_t size) {
  alo_tds_put_u64(writer, size);
  if (size > 0) { /* one chunk, since the whole is at hand */
    alo_tds_put_u32(writer, (uint32_t)size);
  }
}

static void put_lob_size(alo_tds_writer *writer, size_t size) {
  static const uint8_t unused[TEXT_POINTER + TIMESTAMP] = {0};
  if (writer->type == ALO_TDS_REPLY) {
    alo_tds_put_u8(writer, TEXT_POINTER);
    alo_tds_put(writer, unused, sizeof unused);
  }
  alo_tds_put_u32(writer, (uint32_t)size);
}

/* The prefix of a value of `size` bytes; false when the type does not take so many. */
static bool put_prefix(alo_tds_writer *writer, const alo_tds_type *type, size_t size) {
  alo_tds_form form = alo_tds_type_form(type);
  bool large = form == ALO_TDS_FORM_PLP || form == ALO_TDS_FORM_LOB;
  bool bare = writer->bare;
  writer->bare = false;
  if (size > (large ? (size_t)LONGEST : type->size)) {
    alo_tds_writer_fail(writer, large ? ALOFT_TOO_LARGE : ALOFT_ARGUMENT);
    return false;
  }
  if (form == ALO_TDS_FORM_PLP) {
    put_plp_size(writer, size);
  } else if (form == ALO_TDS_FORM_LOB) {
    put_lob_size(writer, size);
  } else if (!bare) {
    alo_tds_put_u16(writer, (uint16_t)size);
  }
  return true;
}

static void put_end(alo_tds_writer *writer, const alo_tds_type *type) {
  if (alo_tds_type_is_plp(type)) {
    alo_tds_put_u32(writer, 0);
  }
}

/* ---- values ---- */

/* Of well-formed text. */
static size_t size_in(const alo_tds_characters *characters, aloft_text value, size_t units) {
  switch (characters->charset) {
  case ALO_TDS_CHARSET_UTF16:
    return 2 * units;
  case ALO_TDS_CHARSET_UTF8:
    return value.size;
  default:
    return characters->page && characters->page->wide ? measure(characters, value) : units;
  }
}

static bool find_characters(alo_tds_writer *writer, const alo_tds_type *type,
                            alo_tds_characters *characters) {
  aloft_status status = alo_tds_characters_of(type, writer->pages, characters);
  if (status != ALOFT_OK) {
    alo_tds_writer_fail(writer, status);
  }
  return status == ALOFT_OK;
}

size_t alo_tds_text_size(alo_tds_writer *writer, const alo_tds_type *type, aloft_text value) {
  alo_tds_characters characters;
  size_t units = alo_utf8_utf16_count(value.data, value.size);
  if (units == SIZE_MAX || !find_characters(writer, type, &characters)) {
    return SIZE_MAX;
  }
  return size_in(&characters, value, units);
}

void alo_tds_put_text(alo_tds_writer *writer, const alo_tds_type *type, aloft_text value) {
  alo_tds_characters characters;
  if (!value.data) {
    alo_tds_put_null(writer, type);
    return;
  }
  size_t units = alo_utf8_utf16_count(value.data, value.size);
  if (units == SIZE_MAX || alo_tds_type_charset(type) == ALO_TDS_CHARSET_NONE) {
    alo_tds_writer_fail(writer, ALOFT_ARGUMENT);
    return;
  }
  if (!find_characters(writer, type, &characters) ||
      !put_prefix(writer, type, size_in(&characters, value, units))) {
    return;
  }
  if (characters.charset == ALO_TDS_CHARSET_UTF16) {
    alo_tds_put_utf16(writer, value);
  } else if (characters.charset == ALO_TDS_CHARSET_UTF8) {
    alo_tds_put(writer, value.data, value.size);
  } else {
    put_code_page(writer, &characters, value);
  }
  put_end(writer, type);
}

static bool takes_bytes(uint8_t token) {
  return token == ALO_TDS_BIGVARBINARY || token == ALO_TDS_BIGBINARY || token == ALO_TDS_IMAGE ||
         token == ALO_TDS_UDT;
}

void alo_tds_put_bytes(alo_tds_writer *writer, const alo_tds_type *type, aloft_bytes value) {
  if (!value.data) {
    alo_tds_put_null(writer, type);
    return;
  }
  if (!takes_bytes(type->token)) {
    alo_tds_writer_fail(writer, ALOFT_ARGUMENT);
    return;
  }
  if (put_prefix(writer, type, value.size)) {
    alo_tds_put(writer, value.data, value.size);
    put_end(writer, type);
  }
}
