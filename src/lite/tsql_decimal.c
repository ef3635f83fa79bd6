#include "tsql_decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct wide {
  uint32_t limbs[TSQL_WIDE_LIMBS];
} wide;

static wide widen(const tsql_decimal *a) {
  wide w = {{0}};
  memcpy(w.limbs, a->limbs, sizeof a->limbs);
  return w;
}

static bool wide_is_zero(const wide *w) {
  for (int i = 0; i < TSQL_WIDE_LIMBS; i++)
    if (w->limbs[i])
      return false;
  return true;
}

static int wide_compare(const wide *a, const wide *b) {
  for (int i = TSQL_WIDE_LIMBS - 1; i >= 0; i--)
    if (a->limbs[i] != b->limbs[i])
      return a->limbs[i] < b->limbs[i] ? -1 : 1;
  return 0;
}

/* False when the top limb overflows. */
static bool multiply_small(wide *w, uint32_t factor, uint32_t carry_in) {
  uint64_t carry = carry_in;
  for (int i = 0; i < TSQL_WIDE_LIMBS; i++) {
    carry += (uint64_t)w->limbs[i] * factor;
    w->limbs[i] = (uint32_t)carry;
    carry >>= 32;
  }
  return carry == 0;
}

static uint32_t divide_small(wide *w, uint32_t divisor) {
  uint64_t rest = 0;
  for (int i = TSQL_WIDE_LIMBS - 1; i >= 0; i--) {
    rest = rest << 32 | w->limbs[i];
    w->limbs[i] = (uint32_t)(rest / divisor);
    rest %= divisor;
  }
  return (uint32_t)rest;
}

static void wide_add(wide *a, const wide *b) {
  uint64_t carry = 0;
  for (int i = 0; i < TSQL_WIDE_LIMBS; i++) {
    carry += (uint64_t)a->limbs[i] + b->limbs[i];
    a->limbs[i] = (uint32_t)carry;
    carry >>= 32;
  }
}

/* a >= b. */
static void wide_subtract(wide *a, const wide *b) {
  uint64_t borrow = 0;
  for (int i = 0; i < TSQL_WIDE_LIMBS; i++) {
    uint64_t less = (uint64_t)b->limbs[i] + borrow;
    borrow = a->limbs[i] < less;
    a->limbs[i] = (uint32_t)(a->limbs[i] - less);
  }
}

static void shift_left(wide *w, uint32_t bit) {
  for (int i = 0; i < TSQL_WIDE_LIMBS; i++) {
    uint32_t next = w->limbs[i] >> 31;
    w->limbs[i] = w->limbs[i] << 1 | bit;
    bit = next;
  }
}

/* a / b, bit by bit; a becomes the quotient. */
static wide divide_wide(wide *a, const wide *b) {
  wide rest = {{0}};
  for (int i = TSQL_WIDE_LIMBS * 32 - 1; i >= 0; i--) {
    uint32_t *limb = &a->limbs[i / 32];
    shift_left(&rest, *limb >> (i % 32) & 1);
    *limb &= ~(UINT32_C(1) << (i % 32));
    if (wide_compare(&rest, b) >= 0) {
      wide_subtract(&rest, b);
      *limb |= UINT32_C(1) << (i % 32);
    }
  }
  return rest;
}

/* Times 10 to the `places`; for negative places divided by it, rounded or cut. */
static bool wide_scale(wide *w, int places, bool cut) {
  for (; places > 0; places--)
    if (!multiply_small(w, 10, 0))
      return false;
  uint32_t digit = 0;
  for (; places < 0; places++)
    digit = divide_small(w, 10);
  if (digit >= 5 && !cut) {
    static const wide one = {{1}};
    wide_add(w, &one);
  }
  return true;
}

static bool narrow(const wide *w, bool negative, int precision, tsql_decimal *a) {
  wide limit = {{1}};
  wide_scale(&limit, precision, true);
  if (wide_compare(w, &limit) >= 0)
    return false;
  memcpy(a->limbs, w->limbs, sizeof a->limbs);
  a->negative = negative && !wide_is_zero(w);
  return true;
}

tsql_decimal alo_decimal_of(int64_t number) {
  uint64_t magnitude = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
  return (tsql_decimal){{(uint32_t)magnitude, (uint32_t)(magnitude >> 32), 0, 0}, number < 0};
}

bool alo_decimal_to_int64(const tsql_decimal *a, int64_t *number) {
  uint64_t magnitude = (uint64_t)a->limbs[1] << 32 | a->limbs[0];
  uint64_t most = (uint64_t)INT64_MAX + a->negative;
  if (a->limbs[2] || a->limbs[3] || magnitude > most)
    return false;
  if (!a->negative)
    *number = (int64_t)magnitude;
  else
    *number = magnitude == most ? INT64_MIN : -(int64_t)magnitude;
  return true;
}

bool alo_decimal_is_zero(const tsql_decimal *a) {
  return !(a->limbs[0] | a->limbs[1] | a->limbs[2] | a->limbs[3]);
}

int alo_decimal_compare(const tsql_decimal *a, const tsql_decimal *b) {
  if (a->negative != b->negative)
    return a->negative ? -1 : 1;
  wide x = widen(a);
  wide y = widen(b);
  int order = wide_compare(&x, &y);
  return a->negative ? -order : order;
}

int alo_decimal_digits(const tsql_decimal *a) {
  char text[TSQL_DECIMAL_TEXT];
  return (int)alo_decimal_text(a, 0, text) - (a->negative ? 1 : 0);
}

bool alo_decimal_rescale(tsql_decimal *a, int from_scale, int to_scale, int precision, bool cut) {
  wide w = widen(a);
  return wide_scale(&w, to_scale - from_scale, cut) && narrow(&w, a->negative, precision, a);
}

bool alo_decimal_add(const tsql_decimal *a, int a_scale, const tsql_decimal *b, int b_scale,
                     int scale, int precision, tsql_decimal *sum) {
  int work = a_scale > b_scale ? a_scale : b_scale;
  wide x = widen(a);
  wide y = widen(b);
  bool negative = a->negative;
  if (!wide_scale(&x, work - a_scale, true) || !wide_scale(&y, work - b_scale, true))
    return false;
  if (a->negative == b->negative) {
    wide_add(&x, &y);
  } else if (wide_compare(&x, &y) >= 0) {
    wide_subtract(&x, &y);
  } else {
    wide_subtract(&y, &x);
    x = y;
    negative = b->negative;
  }
  return wide_scale(&x, scale - work, false) && narrow(&x, negative, precision, sum);
}

bool alo_decimal_multiply(const tsql_decimal *a, int a_scale, const tsql_decimal *b, int b_scale,
                          int scale, int precision, tsql_decimal *product) {
  wide w = {{0}};
  for (int i = 0; i < TSQL_DECIMAL_LIMBS; i++) {
    uint64_t carry = 0;
    for (int j = 0; j < TSQL_DECIMAL_LIMBS; j++) {
      carry += (uint64_t)a->limbs[i] * b->limbs[j] + w.limbs[i + j];
      w.limbs[i + j] = (uint32_t)carry;
      carry >>= 32;
    }
    w.limbs[i + TSQL_DECIMAL_LIMBS] = (uint32_t)carry;
  }
  return wide_scale(&w, scale - a_scale - b_scale, false) &&
         narrow(&w, a->negative != b->negative, precision, product);
}

bool alo_decimal_divide(const tsql_decimal *a, int a_scale, const tsql_decimal *b, int b_scale,
                        int scale, int precision, tsql_decimal *quotient) {
  wide x = widen(a);
  wide y = widen(b);
  int places = scale - a_scale + b_scale;
  if (places < 0) {
    if (!wide_scale(&y, -places, true))
      return false;
  } else if (!wide_scale(&x, places, true)) {
    return false;
  }
  divide_wide(&x, &y);
  return narrow(&x, a->negative != b->negative, precision, quotient);
}

bool alo_decimal_remainder(const tsql_decimal *a, int a_scale, const tsql_decimal *b, int b_scale,
                           int scale, int precision, tsql_decimal *rest) {
  int work = a_scale > b_scale ? a_scale : b_scale;
  wide x = widen(a);
  wide y = widen(b);
  if (!wide_scale(&x, work - a_scale, true) || !wide_scale(&y, work - b_scale, true))
    return false;
  wide left = divide_wide(&x, &y);
  return wide_scale(&left, scale - work, false) && narrow(&left, a->negative, precision, rest);
}

bool alo_decimal_parse(aloft_text text, tsql_decimal *a, int *precision, int *scale) {
  wide w = {{0}};
  size_t at = 0;
  bool negative = at < text.size && text.data[at] == '-';
  if (at < text.size && (text.data[at] == '-' || text.data[at] == '+'))
    at++;
  int digits = 0;
  int significant = 0;
  int after = -1;
  for (; at < text.size; at++) {
    char c = text.data[at];
    if (c == '.' && after < 0) {
      after = 0;
      continue;
    }
    if (c < '0' || c > '9')
      return false;
    digits++;
    if (significant > 0 || c != '0' || after >= 0)
      significant++;
    if (after >= 0)
      after++;
    if (!multiply_small(&w, 10, (uint32_t)(c - '0')))
      return false;
  }
  *scale = after > 0 ? after : 0;
  *precision = significant > 0 ? significant : 1;
  return digits > 0 && *scale <= 38 && narrow(&w, negative, 38, a);
}

size_t alo_decimal_text(const tsql_decimal *a, int scale, char out[TSQL_DECIMAL_TEXT]) {
  char reversed[TSQL_DECIMAL_TEXT];
  int size = 0;
  wide w = widen(a);
  for (int i = 0; i <= scale || !wide_is_zero(&w); i++) {
    if (i == scale && scale > 0)
      reversed[size++] = '.';
    reversed[size++] = (char)('0' + divide_small(&w, 10));
  }
  int at = 0;
  if (a->negative)
    out[at++] = '-';
  while (size > 0)
    out[at++] = reversed[--size];
  out[at] = 0;
  return (size_t)at;
}

double alo_decimal_to_double(const tsql_decimal *a, int scale) {
  char text[TSQL_DECIMAL_TEXT + 8];
  size_t size = alo_decimal_text(a, 0, text);
  snprintf(text + size, sizeof text - size, "e-%d", scale);
  return strtod(text, NULL);
}

bool alo_decimal_from_double(double number, int scale, int precision, tsql_decimal *a) {
  if (!isfinite(number) || fabs(number) >= 1e39)
    return false;
  char text[TSQL_DECIMAL_TEXT];
  int size = snprintf(text, sizeof text, "%.16e", number);
  const char *exponent = strchr(text, 'e');
  if (size <= 0 || !exponent)
    return false;
  long power = strtol(exponent + 1, NULL, 10);
  tsql_decimal digits;
  int have, after;
  if (!alo_decimal_parse((aloft_text){text, (size_t)(exponent - text)}, &digits, &have, &after))
    return false;
  wide w = widen(&digits);
  int places = scale - after + (int)power;
  if (places < -60)
    w = (wide){{0}};
  else if (!wide_scale(&w, places, false))
    return false;
  return narrow(&w, digits.negative, precision, a);
}

void alo_decimal_store(const tsql_decimal *a, uint8_t bytes[16]) {
  uint32_t carry = 1;
  for (int i = 0; i < TSQL_DECIMAL_LIMBS; i++) {
    uint32_t limb = a->limbs[i];
    if (a->negative) { /* two's complement */
      uint64_t flipped = (uint64_t)(uint32_t)~limb + carry;
      limb = (uint32_t)flipped;
      carry = (uint32_t)(flipped >> 32);
    }
    for (int j = 0; j < 4; j++)
      bytes[15 - i * 4 - j] = (uint8_t)(limb >> (8 * j));
  }
  bytes[0] ^= 0x80;
}

tsql_decimal alo_decimal_load(const uint8_t bytes[16]) {
  tsql_decimal a = {.negative = !(bytes[0] & 0x80)};
  uint32_t carry = 1;
  for (int i = 0; i < TSQL_DECIMAL_LIMBS; i++) {
    uint32_t limb = 0;
    for (int j = 3; j >= 0; j--) {
      uint8_t byte = bytes[15 - i * 4 - j];
      if (i == TSQL_DECIMAL_LIMBS - 1 && j == 3)
        byte ^= 0x80;
      limb = limb << 8 | byte;
    }
    if (a.negative) {
      uint64_t flipped = (uint64_t)(uint32_t)~limb + carry;
      limb = (uint32_t)flipped;
      carry = (uint32_t)(flipped >> 32);
    }
    a.limbs[i] = limb;
  }
  return a;
}
