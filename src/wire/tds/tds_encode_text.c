/* Character and binary values: code pages, length prefixes, partially length-prefixed data. */
#include "tds_value.h"

#include "utf16.h"

/* LCID 0x0409, version 0, ignoring case, kana and width; sort order 52. */
const uint8_t alo_tds_collation_default[5] = {0x09, 0x04, 0xD0, 0x00, 0x34};

enum { CHUNK = 256 };

/* One character of well-formed UTF-8. */
static uint32_t next_character(const uint8_t **at) {
  uint8_t first = *(*at)++;
  if (first < 0x80) {
    return first;
  }
  unsigned more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  uint32_t character = first & (0x3Fu >> more);
  for (; more > 0; more--) {
    character = character << 6 | (*(*at)++ & 0x3Fu);
  }
  return character;
}

/* What lies outside the first plane is two UTF-16 units to SQL Server, and becomes two '?': the
 * size is the count of UTF-16 units. */
static void put_code_page(alo_tds_writer *writer, aloft_text text, bool is_1252) {
  const uint8_t *at = (const uint8_t *)text.data;
  const uint8_t *end = at + text.size;
  uint8_t bytes[CHUNK + 1];
  size_t count = 0;
  while (at < end) {
    uint32_t character = next_character(&at);
    bytes[count++] = is_1252 || character < 0x80 ? alo_tds_1252_of(character) : '?';
    if (character > 0xFFFF) {
      bytes[count++] = '?';
    }
    if (count >= CHUNK) {
      alo_tds_put(writer, bytes, count);
      count = 0;
    }
  }
  alo_tds_put(writer, bytes, count);
}

/* ---- lengths ---- */

enum { LONGEST = INT32_MAX }; /* bytes of a (max) value, as in SQL Server */

/* The prefix of a value of `size` bytes; false when the type does not take so many. */
static bool put_prefix(alo_tds_writer *writer, const alo_tds_type *type, size_t size) {
  bool plp = alo_tds_type_is_plp(type);
  if (size > (plp ? (size_t)LONGEST : type->size)) {
    alo_tds_writer_fail(writer, plp ? ALOFT_TOO_LARGE : ALOFT_ARGUMENT);
    return false;
  }
  if (!plp) {
    alo_tds_put_u16(writer, (uint16_t)size);
    return true;
  }
  alo_tds_put_u64(writer, size);
  if (size > 0) { /* one chunk, since the whole is at hand */
    alo_tds_put_u32(writer, (uint32_t)size);
  }
  return true;
}

static void put_end(alo_tds_writer *writer, const alo_tds_type *type) {
  if (alo_tds_type_is_plp(type)) {
    alo_tds_put_u32(writer, 0);
  }
}

/* ---- values ---- */

static void put_unicode(alo_tds_writer *writer, const alo_tds_type *type, aloft_text value,
                        size_t units) {
  if (put_prefix(writer, type, 2 * units)) {
    alo_tds_put_utf16(writer, value);
    put_end(writer, type);
  }
}

static void put_narrow(alo_tds_writer *writer, const alo_tds_type *type, aloft_text value,
                       size_t units) {
  bool utf8 = alo_tds_type_charset(type) == ALO_TDS_CHARSET_UTF8;
  if (!put_prefix(writer, type, utf8 ? value.size : units)) {
    return;
  }
  if (utf8) {
    alo_tds_put(writer, value.data, value.size);
  } else {
    put_code_page(writer, value, alo_tds_type_charset(type) == ALO_TDS_CHARSET_1252);
  }
  put_end(writer, type);
}

void alo_tds_put_text(alo_tds_writer *writer, const alo_tds_type *type, aloft_text value) {
  if (!value.data) {
    alo_tds_put_null(writer, type);
    return;
  }
  size_t units = alo_utf8_utf16_count(value.data, value.size);
  if (units == SIZE_MAX) {
    alo_tds_writer_fail(writer, ALOFT_ARGUMENT);
    return;
  }
  switch (type->token) {
  case ALO_TDS_NVARCHAR:
  case ALO_TDS_NCHAR:
  case ALO_TDS_XML:
    put_unicode(writer, type, value, units);
    return;
  case ALO_TDS_BIGVARCHAR:
  case ALO_TDS_BIGCHAR:
    put_narrow(writer, type, value, units);
    return;
  default:
    alo_tds_writer_fail(writer, ALOFT_ARGUMENT);
  }
}

void alo_tds_put_bytes(alo_tds_writer *writer, const alo_tds_type *type, aloft_bytes value) {
  if (!value.data) {
    alo_tds_put_null(writer, type);
    return;
  }
  if (type->token != ALO_TDS_BIGVARBINARY && type->token != ALO_TDS_BIGBINARY) {
    alo_tds_writer_fail(writer, ALOFT_ARGUMENT);
    return;
  }
  if (put_prefix(writer, type, value.size)) {
    alo_tds_put(writer, value.data, value.size);
    put_end(writer, type);
  }
}
