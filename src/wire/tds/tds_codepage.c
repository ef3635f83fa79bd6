/* Windows-1252. */
#include "tds_value.h"

#include "utf16.h"

/* Characters 0x80 to 0x9F; the rest is as in Latin-1. The five holes keep their C1 control, as
 * Windows does. */
static const uint16_t high_controls[32] = {
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178};

size_t alo_tds_1252_to_utf8(const uint8_t *in, size_t size, char *out) {
  size_t written = 0;
  for (size_t at = 0; at < size; at++) {
    uint8_t byte = in[at];
    if (byte < 0x80) {
      out[written++] = (char)byte;
    } else {
      uint32_t code = byte < 0xA0 ? high_controls[byte - 0x80] : byte;
      written += alo_utf8_put(code, out + written);
    }
  }
  return written;
}

uint8_t alo_tds_1252_of(uint32_t character) {
  if (character < 0x80 || (character >= 0xA0 && character <= 0xFF)) {
    return (uint8_t)character;
  }
  for (size_t at = 0; at < 32; at++) {
    if (high_controls[at] == character) {
      return (uint8_t)(0x80 + at);
    }
  }
  return '?';
}
