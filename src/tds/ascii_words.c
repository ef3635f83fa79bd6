#include "ascii_words.h"

#include <string.h>

enum { DIGITS_MAX = 9 };

char alo_lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool alo_is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

bool alo_is_control(char c) {
  return ((unsigned char)c < ' ' && !alo_is_blank(c)) || c == 0x7F;
}

aloft_text alo_trim(aloft_text text) {
  while (text.size > 0 && alo_is_blank(text.data[0])) {
    text.data++;
    text.size--;
  }
  while (text.size > 0 && alo_is_blank(text.data[text.size - 1])) {
    text.size--;
  }
  return text;
}

bool alo_same_word(aloft_text text, const char *word, size_t size) {
  if (text.size != size) {
    return false;
  }
  for (size_t i = 0; i < size; i++) {
    if (alo_lower(text.data[i]) != word[i]) {
      return false;
    }
  }
  return true;
}

bool alo_one_of(aloft_text text, const char *words) {
  text = alo_trim(text);
  for (;;) {
    size_t size = strcspn(words, "|");
    if (alo_same_word(text, words, size)) {
      return true;
    }
    if (words[size] == '\0') {
      return false;
    }
    words += size + 1;
  }
}

bool alo_number_of(aloft_text text, uint32_t *number) {
  text = alo_trim(text);
  *number = 0;
  if (text.size == 0 || text.size > DIGITS_MAX) {
    return false;
  }
  for (size_t i = 0; i < text.size; i++) {
    if (text.data[i] < '0' || text.data[i] > '9') {
      return false;
    }
    *number = *number * 10 + (uint32_t)(text.data[i] - '0');
  }
  return true;
}
