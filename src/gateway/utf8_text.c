#include "utf8_text.h"

#include <string.h>

/* The bytes of the character at the beginning of `text`; 0: not well-formed, RFC 3629. */
static size_t character_size(aloft_text text) {
  const unsigned char *at = (const unsigned char *)text.data;
  size_t size = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
  if (at[0] > 0xf4 || size == 0 || size > text.size)
    return 0;
  for (size_t i = 1; i < size; i++) {
    if ((at[i] & 0xc0) != 0x80)
      return 0;
  }
  bool bad = (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
             (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f);
  return bad ? 0 : size;
}

size_t alo_utf8_text_size(aloft_text text) {
  size_t at = 0;
  while (at < text.size && text.data[at] != '\0') {
    size_t size = character_size((aloft_text){text.data + at, text.size - at});
    if (size == 0)
      break;
    at += size;
  }
  return at;
}

static bool is_blank(char c) {
  return (c >= '\0' && c <= ' ') || c == 0x7f;
}

size_t alo_utf8_text_line(aloft_text text, char *out, size_t room) {
  size_t written = 0;
  while (text.size > 0 && is_blank(*text.data))
    text = (aloft_text){text.data + 1, text.size - 1};
  for (size_t at = 0; at < text.size;) {
    size_t size = character_size((aloft_text){text.data + at, text.size - at});
    size_t step = size > 0 ? size : 1;
    if (written + step > room)
      break;
    memcpy(out + written, text.data + at, step);
    unsigned char c = (unsigned char)out[written];
    if (size == 0)
      out[written] = '?';
    else if (c < ' ' || c == 0x7f)
      out[written] = ' ';
    written += step;
    at += step;
  }
  while (written > 0 && out[written - 1] == ' ')
    written--;
  return written;
}
