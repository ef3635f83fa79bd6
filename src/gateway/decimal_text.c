#include "decimal_text.h"

/* Significant digits that are looked at; no decimal has as many. An exponent beyond the limit has
 * the same effect as one at it. */
enum { DIGITS_MAX = 64, EXPONENT_MAX = 100000 };

/* The number is 0.D1D2D3... * 10^point. Neither the first nor the last digit is 0. */
typedef struct digits {
  uint8_t digit[DIGITS_MAX];
  size_t count;
  long point;
  bool too_many, some, after_point;
} digits;

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static void add_digit(digits *all, char c) {
  all->some = true;
  if (!all->after_point && (all->count > 0 || c != '0'))
    all->point++;
  if (all->after_point && all->count == 0 && c == '0')
    all->point--;
  if (all->count == 0 && c == '0')
    return;
  if (all->count < DIGITS_MAX)
    all->digit[all->count++] = (uint8_t)(c - '0');
  else
    all->too_many = all->too_many || c != '0';
}

/* What follows an "e"; false: not an exponent. */
static bool read_exponent(const char *at, const char *end, long *exponent) {
  bool negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+'))
    at++;
  if (at == end)
    return false;
  for (; at < end && is_digit(*at); at++)
    *exponent = *exponent < EXPONENT_MAX ? *exponent * 10 + (*at - '0') : EXPONENT_MAX;
  if (negative)
    *exponent = -*exponent;
  return at == end;
}

static bool read_digits(const char *at, const char *end, digits *all) {
  long exponent = 0;
  for (; at < end && (is_digit(*at) || (*at == '.' && !all->after_point)); at++) {
    if (*at == '.')
      all->after_point = true;
    else
      add_digit(all, *at);
  }
  if (at < end && (*at == 'e' || *at == 'E') && !read_exponent(at + 1, end, &exponent))
    return false;
  if (at < end && *at != 'e' && *at != 'E')
    return false;
  all->point += exponent;
  while (all->count > 0 && all->digit[all->count - 1] == 0)
    all->count--;
  return all->some;
}

/* value * 10 + digit; 38 digits always fit in 128 bits. */
static void push_digit(aloft_tds_decimal *decimal, uint8_t digit) {
  uint64_t carry = digit;
  uint64_t low = (decimal->low & UINT32_MAX) * 10 + carry;
  uint64_t middle = (decimal->low >> 32) * 10 + (low >> 32);
  decimal->low = (middle << 32) | (low & UINT32_MAX);
  decimal->high = decimal->high * 10 + (middle >> 32);
}

const char *alo_decimal_read(aloft_text text, aloft_tds_decimal *decimal) {
  digits all = {.count = 0};
  const char *at = text.data, *end = text.data + text.size;
  bool negative = text.size > 0 && *at == '-';
  if (text.size > 0 && (*at == '-' || *at == '+'))
    at++;
  decimal->low = decimal->high = 0;
  decimal->negative = false;
  if (text.size == 0 || !read_digits(at, end, &all))
    return "is not a number";
  if (all.count == 0)
    return NULL;
  if (all.point > decimal->precision - decimal->scale)
    return "is out of range";
  if (all.too_many || (long)all.count - all.point > decimal->scale)
    return decimal->scale == 0 ? "is not a whole number"
                               : "has more digits after the point than its type";
  for (long place = 0; place < all.point + decimal->scale; place++)
    push_digit(decimal, place < (long)all.count ? all.digit[place] : 0);
  decimal->negative = negative;
  return NULL;
}
