#include "utf8_check.h"

/* How many bytes the character at `at` has; 0: it is not well formed. Unicode, table 3-7. */
static size_t character_size(const unsigned char *at, size_t left) {
  unsigned char first = at[0];
  size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (first == 0 || (first >= 0x80 && first < 0xc2) || first > 0xf4 || size > left)
    return 0;
  for (size_t i = 1; i < size; i++) {
    if ((at[i] & 0xc0) != 0x80)
      return 0;
  }
  bool wrong = (first == 0xe0 && at[1] < 0xa0) || (first == 0xed && at[1] > 0x9f) ||
               (first == 0xf0 && at[1] < 0x90) || (first == 0xf4 && at[1] > 0x8f);
  return wrong ? 0 : size;
}

bool alo_utf8_is_valid(aloft_text text) {
  const unsigned char *at = (const unsigned char *)text.data;
  size_t left = text.size;
  while (left > 0) {
    size_t size = character_size(at, left);
    if (size == 0)
      return false;
    at += size;
    left -= size;
  }
  return true;
}

size_t alo_utf8_count(aloft_text text) {
  size_t count = 0;
  for (size_t i = 0; i < text.size; i++)
    count += ((unsigned char)text.data[i] & 0xc0) != 0x80;
  return count;
}
