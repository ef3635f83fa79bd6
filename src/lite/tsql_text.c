#include "tsql_text.h"

#include <string.h>

static bool is_tail(aloft_text text, size_t at) {
  return at < text.size && ((uint8_t)text.data[at] & 0xC0) == 0x80;
}

uint32_t alo_text_next(aloft_text text, size_t *at) {
  uint8_t first = (uint8_t)text.data[(*at)++];
  if (first < 0x80)
    return first;
  int tails = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC2 ? 1 : -1;
  if (tails < 0 || first > 0xF4)
    return 0xFFFD;
  uint32_t character = first & (0x3Fu >> tails);
  for (int i = 0; i < tails; i++) {
    if (!is_tail(text, *at))
      return 0xFFFD;
    character = character << 6 | ((uint8_t)text.data[(*at)++] & 0x3F);
  }
  return character > 0x10FFFF ? 0xFFFD : character;
}

size_t alo_text_put(char *out, uint32_t c) {
  if (c < 0x80) {
    out[0] = (char)c;
    return 1;
  }
  size_t size = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const uint8_t marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (size_t i = size - 1; i > 0; i--, c >>= 6)
    out[i] = (char)(0x80 | (c & 0x3F));
  out[0] = (char)(marks[size] | c);
  return size;
}

/* Simple case mappings as ranges: from `first` to `last`, every `step`-th is a capital whose small
 * letter lies `distance` further. */
static const struct case_range {
  uint32_t first, last, step, distance;
} cases[] = {
    {'A', 'Z', 1, 32},      {0xC0, 0xD6, 1, 32},    {0xD8, 0xDE, 1, 32},     {0x100, 0x12E, 2, 1},
    {0x132, 0x136, 2, 1},   {0x139, 0x147, 2, 1},   {0x14A, 0x176, 2, 1},    {0x179, 0x17D, 2, 1},
    {0x1CD, 0x1DB, 2, 1},   {0x1DE, 0x1EE, 2, 1},   {0x1F8, 0x21E, 2, 1},    {0x222, 0x232, 2, 1},
    {0x386, 0x386, 1, 38},  {0x388, 0x38A, 1, 37},  {0x38C, 0x38C, 1, 64},   {0x38E, 0x38F, 1, 63},
    {0x391, 0x3A1, 1, 32},  {0x3A3, 0x3AB, 1, 32},  {0x400, 0x40F, 1, 80},   {0x410, 0x42F, 1, 32},
    {0x460, 0x480, 2, 1},   {0x48A, 0x4BE, 2, 1},   {0x4C1, 0x4CD, 2, 1},    {0x4D0, 0x52E, 2, 1},
    {0x1E00, 0x1E94, 2, 1}, {0x1EA0, 0x1EFE, 2, 1}, {0xFF21, 0xFF3A, 1, 32},
};

uint32_t alo_text_lower(uint32_t c) {
  if (c == 0x178)
    return 0xFF;
  for (size_t i = 0; i < sizeof cases / sizeof *cases && c >= cases[i].first; i++)
    if (c <= cases[i].last && (c - cases[i].first) % cases[i].step == 0)
      return c + cases[i].distance;
  return c;
}

uint32_t alo_text_upper(uint32_t c) {
  if (c == 0xFF)
    return 0x178;
  if (c == 0x3C2) /* final sigma */
    return 0x3A3;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint32_t capital = c - cases[i].distance;
    if (capital >= cases[i].first && capital <= cases[i].last &&
        (capital - cases[i].first) % cases[i].step == 0)
      return capital;
  }
  return c;
}

static uint32_t fold(uint32_t c) {
  if (c < 0x80)
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
  return c == 0x3C2 ? 0x3C3 : alo_text_lower(c);
}

/* The letter under the accent, for U+00C0 to U+017F; 0 where there is none. */
static const char bases[] = "aaaaaaaceeeeiiiidnooooo\0ouuuuytsaaaaaaaceeeeiiiidnooooo\0ouuuuyty"
                            "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkklllllll"
                            "lllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs";

enum { DIGITS = 0x1000, LETTERS = 0x2000 };

/* Signs come before digits, digits before letters; accented letters beside their bases. */
static uint32_t weight(uint32_t folded) {
  if (folded >= '0' && folded <= '9')
    return DIGITS + folded;
  if (folded >= 'a' && folded <= 'z')
    return LETTERS + folded;
  if (folded < 0xC0)
    return folded;
  if (folded <= 0x17F && bases[folded - 0xC0])
    return LETTERS + (uint8_t)bases[folded - 0xC0];
  return LETTERS + folded;
}

aloft_text alo_text_trimmed(aloft_text text) {
  while (text.size > 0 && text.data[text.size - 1] == ' ')
    text.size--;
  return text;
}

static int order(uint32_t a, uint32_t b) {
  return a < b ? -1 : a > b;
}

int alo_text_compare(aloft_text a, aloft_text b) {
  a = alo_text_trimmed(a);
  b = alo_text_trimmed(b);
  int second = 0;
  size_t i = 0;
  size_t j = 0;
  while (i < a.size || j < b.size) {
    uint32_t x = i < a.size ? fold(alo_text_next(a, &i)) : ' ';
    uint32_t y = j < b.size ? fold(alo_text_next(b, &j)) : ' ';
    if (x == y)
      continue;
    int first = order(weight(x), weight(y));
    if (first)
      return first;
    if (!second)
      second = order(x, y);
  }
  return second;
}

bool alo_text_same_name(aloft_text a, aloft_text b) {
  size_t i = 0;
  size_t j = 0;
  while (i < a.size && j < b.size)
    if (fold(alo_text_next(a, &i)) != fold(alo_text_next(b, &j)))
      return false;
  return i >= a.size && j >= b.size;
}

size_t alo_text_units(aloft_text text) {
  size_t units = 0;
  for (size_t i = 0; i < text.size;)
    units += alo_text_next(text, &i) > 0xFFFF ? 2 : 1;
  return units;
}

size_t alo_text_prefix(aloft_text text, size_t units) {
  size_t at = 0;
  while (at < text.size) {
    size_t next = at;
    size_t need = alo_text_next(text, &next) > 0xFFFF ? 2 : 1;
    if (need > units)
      break;
    units -= need;
    at = next;
  }
  return at;
}

/* Bytes 0x80 to 0x9F; 0 where the code page has none: such a byte is its own control character. */
static const uint16_t high_1252[32] = {
    0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

int alo_text_to_1252(uint32_t c) {
  if (c < 0x80 || (c >= 0xA0 && c <= 0xFF))
    return (int)c;
  for (int i = 0; i < 32; i++)
    if (high_1252[i] == c || (!high_1252[i] && c == 0x80u + (uint32_t)i))
      return 0x80 + i;
  return -1;
}

uint32_t alo_text_from_1252(uint8_t byte) {
  if (byte >= 0x80 && byte < 0xA0 && high_1252[byte - 0x80])
    return high_1252[byte - 0x80];
  return byte;
}

bool alo_text_is_narrow(aloft_text text) {
  for (size_t i = 0; i < text.size;)
    if (alo_text_to_1252(alo_text_next(text, &i)) < 0)
      return false;
  return true;
}

size_t alo_text_to_narrow(aloft_text text, char *out) {
  size_t size = 0;
  for (size_t i = 0; i < text.size;) {
    uint32_t c = alo_text_next(text, &i);
    if (alo_text_to_1252(c) >= 0) {
      size += alo_text_put(out + size, c);
      continue;
    }
    out[size++] = '?';
    if (c > 0xFFFF)
      out[size++] = '?';
  }
  return size;
}

/* A [set] whose '[' is behind `*at`. Leaves `*at` behind its ']'. */
static bool in_set(aloft_text pattern, size_t *at, uint32_t c) {
  bool inverse = *at < pattern.size && pattern.data[*at] == '^';
  if (inverse)
    (*at)++;
  char one[4];
  aloft_text wanted = {one, alo_text_put(one, c)};
  bool found = false;
  bool first = true;
  while (*at < pattern.size && (first || pattern.data[*at] != ']')) {
    first = false;
    size_t begin = *at;
    alo_text_next(pattern, at);
    aloft_text low = {pattern.data + begin, *at - begin};
    aloft_text high = low;
    if (*at + 1 < pattern.size && pattern.data[*at] == '-' && pattern.data[*at + 1] != ']') {
      begin = ++*at;
      alo_text_next(pattern, at);
      high = (aloft_text){pattern.data + begin, *at - begin};
    }
    if (c == ' ' ? low.data[0] == ' '
                 : alo_text_compare(low, wanted) <= 0 && alo_text_compare(wanted, high) <= 0)
      found = true;
  }
  if (*at < pattern.size)
    (*at)++;
  return found != inverse;
}

/* Matches one character against the pattern's item at `*at`, which moves behind it. */
static bool match_one(aloft_text pattern, size_t *at, uint32_t c, uint32_t escape) {
  uint32_t item = alo_text_next(pattern, at);
  if (escape && item == escape && *at < pattern.size)
    return fold(alo_text_next(pattern, at)) == fold(c);
  if (item == '_')
    return true;
  if (item == '[' && memchr(pattern.data + *at, ']', pattern.size - *at))
    return in_set(pattern, at, c);
  return item != '[' && fold(item) == fold(c);
}

bool alo_text_like(aloft_text text, aloft_text pattern, uint32_t escape) {
  size_t i = 0;
  size_t p = 0;
  size_t star = SIZE_MAX; /* behind the last '%' */
  size_t mark = 0;        /* where its match goes on */
  while (i < text.size || p < pattern.size) {
    if (p < pattern.size && pattern.data[p] == '%' && escape != '%') {
      star = ++p;
      mark = i;
      continue;
    }
    if (i < text.size && p < pattern.size) {
      size_t next = i;
      size_t item = p;
      uint32_t c = alo_text_next(text, &next);
      if (match_one(pattern, &item, c, escape)) {
        i = next;
        p = item;
        continue;
      }
    }
    if (star == SIZE_MAX || mark >= text.size)
      return false;
    alo_text_next(text, &mark);
    i = mark;
    p = star;
  }
  return true;
}

size_t alo_text_find(aloft_text text, aloft_text what, size_t from, size_t *size) {
  for (size_t start = from; start <= text.size;) {
    size_t i = start;
    size_t j = 0;
    while (i < text.size && j < what.size) {
      size_t next = i;
      size_t other = j;
      if (fold(alo_text_next(text, &next)) != fold(alo_text_next(what, &other)))
        break;
      i = next;
      j = other;
    }
    if (j >= what.size) {
      *size = i - start;
      return start;
    }
    if (start >= text.size)
      break;
    alo_text_next(text, &start);
  }
  return SIZE_MAX;
}
