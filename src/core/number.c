#include "number.h"

#include "big_integer.h"

#include <float.h>
#include <string.h>

/* Where expressions are kept in a wider type, a division would be rounded twice. */
#define EXACT_DIVISION (FLT_EVAL_METHOD == 0)

/* ---- text ---- */

/* 0.d1d2d3... times ten to `point`. */
struct digits {
  char text[20];
  unsigned count;
  int point;
};

/* A finite value other than 0: mantissa * 2^exponent. `narrow`: the next lower value is only half
 * as far away as the next higher one. */
struct binary {
  uint64_t mantissa;
  int exponent;
  bool narrow;
};

/* What the digits are made from: the value is rest/scale, and everything that lies within
 * up/scale above and down/scale below reads back to it. */
struct remainder {
  alo_big rest, scale, up, down, sum;
  bool even; /* the bounds themselves read back too */
};

/* Whether rest + up reaches scale. */
static bool reaches(struct remainder *r) {
  alo_big_copy(&r->sum, &r->rest);
  alo_big_add(&r->sum, &r->up);
  int order = alo_big_compare(&r->sum, &r->scale);
  return r->even ? order >= 0 : order > 0;
}

/* At most ceil(log10(value)), by at most 2 too low, for a value of at least 2^log2. The two
 * fractions are just below and just above log10(2). */
static int estimate_point(int log2) {
  return log2 >= 0 ? log2 * 30102 / 100000 + 1 : -((-log2 * 30103 + 99999) / 100000) + 1;
}

static int bit_count(uint64_t value) {
  int count = 0;
  for (; value; value >>= 1)
    count++;
  return count;
}

/* Sets the remainder to value / 10^point, below 1; returns the point. */
static int begin_digits(struct remainder *r, const struct binary *value) {
  int point = estimate_point(value->exponent + bit_count(value->mantissa) - 1);
  /* Four times everything, so that a quarter of the last place is a whole number. */
  int numerator_bits = 2 + (value->exponent > 0 ? value->exponent : 0);
  int scale_bits = 2 + (value->exponent < 0 ? -value->exponent : 0);
  if (point < 0)
    numerator_bits -= point;
  else
    scale_bits += point;
  int common = numerator_bits < scale_bits ? numerator_bits - 2 : scale_bits - 2;
  numerator_bits -= common;
  scale_bits -= common;

  unsigned power = (unsigned)(point < 0 ? -point : point);
  alo_big_set(&r->rest, value->mantissa);
  alo_big_set(&r->up, 1);
  alo_big_set(&r->scale, 1);
  if (point < 0) {
    alo_big_multiply_power_of_5(&r->rest, power);
    alo_big_multiply_power_of_5(&r->up, power);
  } else {
    alo_big_multiply_power_of_5(&r->scale, power);
  }
  alo_big_copy(&r->down, &r->up);
  alo_big_shift_left(&r->rest, (unsigned)numerator_bits);
  alo_big_shift_left(&r->up, (unsigned)numerator_bits - 1);
  alo_big_shift_left(&r->down, (unsigned)numerator_bits - (value->narrow ? 2 : 1));
  alo_big_shift_left(&r->scale, (unsigned)scale_bits);
  r->even = value->mantissa % 2 == 0;
  for (; reaches(r); point++)
    alo_big_multiply_add(&r->scale, 10, 0);
  unsigned shift = alo_big_divisor_shift(&r->scale);
  alo_big_shift_left(&r->rest, shift);
  alo_big_shift_left(&r->up, shift);
  alo_big_shift_left(&r->down, shift);
  alo_big_shift_left(&r->scale, shift);
  return point;
}

static unsigned next_digit(struct remainder *r) {
  alo_big_multiply_add(&r->rest, 10, 0);
  alo_big_multiply_add(&r->up, 10, 0);
  alo_big_multiply_add(&r->down, 10, 0);
  return alo_big_divide(&r->rest, &r->scale);
}

/* The last digit, or the one above it: what is nearer, the even one when neither is. */
static bool rounds_up(struct remainder *r, unsigned digit) {
  alo_big_shift_left(&r->rest, 1);
  int order = alo_big_compare(&r->rest, &r->scale);
  return order > 0 || (order == 0 && digit % 2 == 1);
}

/* Free-format digits by exact arithmetic, after Steele and White, and Burger and Dybvig. */
static void exact_digits(const struct binary *value, struct digits *digits) {
  struct remainder r;
  digits->point = begin_digits(&r, value);
  digits->count = 0;
  for (;;) {
    unsigned digit = next_digit(&r);
    int order = alo_big_compare(&r.rest, &r.down);
    bool low = r.even ? order <= 0 : order < 0;
    bool high = reaches(&r);
    if (high && (!low || rounds_up(&r, digit)))
      digit++;
    digits->text[digits->count++] = (char)('0' + digit);
    if (low || high)
      return;
  }
}

/* Of a value other than 0, times ten to the point that was there. */
static void integer_digits(uint64_t value, struct digits *digits) {
  char reversed[20];
  unsigned count = 0;
  do {
    reversed[count++] = (char)('0' + value % 10);
    value /= 10;
  } while (value);
  digits->point += (int)count;
  unsigned zeros = 0;
  while (zeros + 1 < count && reversed[zeros] == '0')
    zeros++;
  digits->count = count - zeros;
  for (unsigned i = 0; i < digits->count; i++)
    digits->text[i] = reversed[count - 1 - i];
}

/* Values of at most 15 digits, few of them after the point. No two such decimals are the same
 * double, so that one which reads back is the shortest and the nearest. */
static bool few_digits(double value, struct digits *digits) {
  if (!EXACT_DIVISION || !(value >= 1e-5 && value < 1e15))
    return false;
  double power = 1;
  for (int places = 0; places <= 6; places++) {
    double scaled = value * power;
    if (scaled >= 1e15)
      return false;
    uint64_t whole = (uint64_t)(scaled + 0.5);
    if (whole && (double)whole / power == value) {
      digits->point = -places;
      integer_digits(whole, digits);
      return true;
    }
    power *= 10;
  }
  return false;
}

static size_t place_digits(const struct digits *digits, char *out) {
  size_t count = digits->count;
  size_t size = 0;
  if (digits->point <= 0) {
    size_t zeros = (size_t)-digits->point;
    memcpy(out, "0.0000", 2 + zeros);
    memcpy(out + 2 + zeros, digits->text, count);
    return 2 + zeros + count;
  }
  size_t whole = (size_t)digits->point;
  if (whole >= count) {
    memcpy(out, digits->text, count);
    memset(out + count, '0', whole - count);
    return whole;
  }
  memcpy(out, digits->text, whole);
  size = whole;
  out[size++] = '.';
  memcpy(out + size, digits->text + whole, count - whole);
  return count + 1;
}

static size_t place_scientific(const struct digits *digits, char *out) {
  size_t size = 0;
  out[size++] = digits->text[0];
  if (digits->count > 1) {
    out[size++] = '.';
    memcpy(out + size, digits->text + 1, digits->count - 1);
    size += digits->count - 1;
  }
  int exponent = digits->point - 1;
  out[size++] = 'e';
  out[size++] = exponent < 0 ? '-' : '+';
  char number[32];
  size_t number_size = alo_int64_text(exponent < 0 ? -exponent : exponent, number);
  memcpy(out + size, number, number_size);
  return size + number_size;
}

static size_t place(bool negative, const struct digits *digits, char *out) {
  size_t sign = 0;
  if (negative)
    out[sign++] = '-';
  bool plain = digits->point > -5 && digits->point <= 16;
  return sign + (plain ? place_digits(digits, out + sign) : place_scientific(digits, out + sign));
}

static size_t place_constant(bool negative, aloft_text text, char *out) {
  size_t sign = negative ? 1 : 0;
  if (negative)
    out[0] = '-';
  memcpy(out + sign, text.data, text.size);
  return sign + text.size;
}

size_t alo_double_text(double value, char out[32]) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  bool negative = bits >> 63;
  int exponent = (int)(bits >> 52 & 0x7FF);
  uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
  if (exponent == 0x7FF)
    return place_constant(negative && !fraction, fraction ? ALOFT_TEXT("nan") : ALOFT_TEXT("inf"),
                          out);
  if (exponent == 0 && fraction == 0)
    return place_constant(negative, ALOFT_TEXT("0"), out);

  struct digits digits;
  if (!few_digits(negative ? -value : value, &digits)) {
    struct binary binary = {fraction, -1074, false};
    if (exponent)
      binary = (struct binary){fraction | UINT64_C(1) << 52, exponent - 1075,
                               fraction == 0 && exponent > 1};
    exact_digits(&binary, &digits);
  }
  return place(negative, &digits, out);
}

size_t alo_float_text(float value, char out[32]) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  bool negative = bits >> 31;
  int exponent = (int)(bits >> 23 & 0xFF);
  uint32_t fraction = bits & ((UINT32_C(1) << 23) - 1);
  if (exponent == 0xFF)
    return place_constant(negative && !fraction, fraction ? ALOFT_TEXT("nan") : ALOFT_TEXT("inf"),
                          out);
  if (exponent == 0 && fraction == 0)
    return place_constant(negative, ALOFT_TEXT("0"), out);

  struct digits digits;
  struct binary binary = {fraction, -149, false};
  if (exponent)
    binary = (struct binary){fraction | UINT32_C(1) << 23, exponent - 150,
                             fraction == 0 && exponent > 1};
  exact_digits(&binary, &digits);
  return place(negative, &digits, out);
}

size_t alo_int64_text(int64_t value, char out[32]) {
  char reversed[20];
  unsigned count = 0;
  /* Unsigned, since the least int64 has no positive counterpart. */
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  do {
    reversed[count++] = (char)('0' + rest % 10);
    rest /= 10;
  } while (rest);
  size_t size = 0;
  if (value < 0)
    out[size++] = '-';
  while (count)
    out[size++] = reversed[--count];
  return size;
}

/* ---- parse ---- */

/* More digits than this cannot matter, save that there are some: the longest exact midpoint
 * between two doubles has 767. */
enum { SIGNIFICANT_MAX = 770 };

/* A number taken apart, nothing computed. */
struct decimal {
  bool negative;
  aloft_text mantissa; /* digits, and at most one point */
  int64_t exponent;    /* as written, but kept within a range whose sums fit */
};

/* Its value is `head` times ten to `exponent`, and a little more if `more`. */
struct significand {
  uint64_t head; /* the first 19 digits, from the first that is not 0 */
  unsigned count;
  bool more;
  int64_t exponent;
};

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

static size_t sign_size(aloft_text text) {
  return text.size > 0 && (text.data[0] == '-' || text.data[0] == '+') ? 1 : 0;
}

static aloft_text after(aloft_text text, size_t size) {
  return (aloft_text){text.data + size, text.size - size};
}

static bool parse_exponent(aloft_text text, int64_t *exponent) {
  const int64_t limit = INT64_C(1) << 61;
  size_t sign = sign_size(text);
  bool negative = sign && text.data[0] == '-';
  text = after(text, sign);
  if (text.size == 0)
    return false;
  int64_t value = 0;
  for (size_t i = 0; i < text.size; i++) {
    if (!is_digit(text.data[i]))
      return false;
    value = value > limit / 10 ? limit : value * 10 + (text.data[i] - '0');
  }
  *exponent = negative ? -value : value;
  return true;
}

static bool parse_decimal(aloft_text text, struct decimal *decimal) {
  if (!text.data)
    return false;
  size_t sign = sign_size(text);
  decimal->negative = sign && text.data[0] == '-';
  decimal->exponent = 0;
  text = after(text, sign);
  size_t size = 0;
  size_t points = 0;
  for (; size < text.size && (is_digit(text.data[size]) || text.data[size] == '.'); size++)
    points += text.data[size] == '.';
  decimal->mantissa = (aloft_text){text.data, size};
  if (points > 1 || size == points)
    return false;
  if (size == text.size)
    return true;
  return (text.data[size] | 0x20) == 'e' &&
         parse_exponent(after(text, size + 1), &decimal->exponent);
}

static void take_head(const struct decimal *decimal, struct significand *head) {
  *head = (struct significand){.exponent = decimal->exponent};
  bool fraction = false;
  for (size_t i = 0; i < decimal->mantissa.size; i++) {
    char c = decimal->mantissa.data[i];
    if (c == '.') {
      fraction = true;
      continue;
    }
    if (head->count == 19) {
      head->more |= c != '0';
      head->exponent += !fraction;
      continue;
    }
    head->head = head->head * 10 + (uint64_t)(c - '0');
    head->count += head->head != 0;
    head->exponent -= fraction;
  }
}

/* All digits, or so many that the rest is no more than a hint: then one more digit stands for it.
 * Returns the exponent of ten of the last one. */
static int64_t take_all(const struct decimal *decimal, alo_big *value) {
  int64_t exponent = decimal->exponent;
  unsigned count = 0;
  bool fraction = false;
  bool more = false;
  alo_big_set(value, 0);
  for (size_t i = 0; i < decimal->mantissa.size; i++) {
    char c = decimal->mantissa.data[i];
    if (c == '.') {
      fraction = true;
    } else if (count == SIGNIFICANT_MAX) {
      more |= c != '0';
      exponent += !fraction;
    } else {
      alo_big_multiply_add(value, 10, (uint32_t)(c - '0'));
      count += value->count != 0;
      exponent -= fraction;
    }
  }
  if (!more)
    return exponent;
  alo_big_multiply_add(value, 10, 1);
  return exponent - 1;
}

/* The double that is `quotient` (its highest bit set) times 2^exponent, and a little more if
 * `more`. False when it is too large. */
static bool assemble(uint64_t quotient, int exponent, bool more, double *value) {
  int dropped = 11;
  if (exponent + dropped < -1074)
    dropped = -1074 - exponent;
  if (dropped > 64) {
    *value = 0;
    return true;
  }
  uint64_t kept = dropped == 64 ? 0 : quotient >> dropped;
  uint64_t rest = quotient << (64 - dropped);
  const uint64_t half = UINT64_C(1) << 63;
  if (rest > half || (rest == half && (more || kept % 2 == 1)))
    kept++;
  /* The hidden bit adds one to the exponent; a subnormal has neither. */
  uint64_t bits = ((uint64_t)(exponent + dropped + 1074) << 52) + kept;
  if (bits >> 52 >= 0x7FF)
    return false;
  memcpy(value, &bits, sizeof bits);
  return true;
}

/* Long division: slow, and exact for every input. */
static bool divide(alo_big *numerator, alo_big *denominator, int exponent, double *value) {
  int scale = (int)alo_big_bits(numerator) - (int)alo_big_bits(denominator);
  if (scale > 0)
    alo_big_shift_left(denominator, (unsigned)scale);
  else
    alo_big_shift_left(numerator, (unsigned)-scale);
  if (alo_big_compare(numerator, denominator) < 0) {
    alo_big_shift_left(numerator, 1);
    scale--;
  }
  unsigned shift = alo_big_divisor_shift(denominator);
  alo_big_shift_left(numerator, shift);
  alo_big_shift_left(denominator, shift);
  /* One bit, and 15 times four. */
  uint64_t quotient = alo_big_divide(numerator, denominator);
  for (int digit = 0; digit < 15; digit++) {
    alo_big_multiply_add(numerator, 16, 0);
    quotient = quotient << 4 | alo_big_divide(numerator, denominator);
  }
  return assemble(quotient << 3, exponent + scale - 63, numerator->count != 0, value);
}

static bool exact_double(const struct decimal *decimal, double *value) {
  alo_big numerator;
  alo_big denominator;
  int exponent = (int)take_all(decimal, &numerator);
  alo_big_set(&denominator, 1);
  if (exponent >= 0)
    alo_big_multiply_power_of_5(&numerator, (unsigned)exponent);
  else
    alo_big_multiply_power_of_5(&denominator, (unsigned)-exponent);
  return divide(&numerator, &denominator, exponent, value);
}

/* Both numbers exact, one rounding: W. D. Clinger's fast case. */
static bool quick_double(const struct significand *head, double *value) {
  static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (!EXACT_DIVISION || head->more || head->head > UINT64_C(1) << 53 || head->exponent < -22 ||
      head->exponent > 22)
    return false;
  double whole = (double)head->head;
  *value = head->exponent < 0 ? whole / powers[-head->exponent] : whole * powers[head->exponent];
  return true;
}

bool alo_double_parse(aloft_text text, double *value) {
  struct decimal decimal;
  if (!parse_decimal(text, &decimal))
    return false;
  struct significand head;
  take_head(&decimal, &head);
  int64_t point = head.exponent + head.count;
  double magnitude = 0;
  if (head.head != 0 && point > 310)
    return false;
  /* Below 10^-330 all is 0; between these two bounds the exact way stays within its room. */
  if (head.head != 0 && point > -330 && !quick_double(&head, &magnitude) &&
      !exact_double(&decimal, &magnitude))
    return false;
  *value = decimal.negative ? -magnitude : magnitude;
  return true;
}

static bool signed_value(bool negative, uint64_t magnitude, int64_t *value) {
  const uint64_t limit = (uint64_t)INT64_MAX + negative;
  if (magnitude > limit)
    return false;
  if (negative)
    *value = magnitude ? -(int64_t)(magnitude - 1) - 1 : 0;
  else
    *value = (int64_t)magnitude;
  return true;
}

bool alo_int64_parse(aloft_text text, int64_t *value) {
  if (!text.data)
    return false;
  size_t sign = sign_size(text);
  bool negative = sign && text.data[0] == '-';
  text = after(text, sign);
  uint64_t magnitude = 0;
  for (size_t i = 0; i < text.size; i++) {
    if (!is_digit(text.data[i]))
      return false;
    unsigned digit = (unsigned)(text.data[i] - '0');
    if (magnitude > (UINT64_MAX - digit) / 10)
      return false;
    magnitude = magnitude * 10 + digit;
  }
  return text.size > 0 && signed_value(negative, magnitude, value);
}

bool alo_int64_parse_number(aloft_text text, int64_t *value) {
  struct decimal decimal;
  if (!parse_decimal(text, &decimal))
    return false;
  struct significand head;
  take_head(&decimal, &head);
  if (head.more)
    return false;
  for (; head.head != 0 && head.exponent < 0; head.exponent++, head.head /= 10)
    if (head.head % 10 != 0)
      return false;
  for (; head.head != 0 && head.exponent > 0; head.exponent--, head.head *= 10)
    if (head.head > UINT64_MAX / 10)
      return false;
  return signed_value(decimal.negative, head.head, value);
}
