#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "guard.h"
#include "number.h"

static uint64_t next_random(uint64_t *seed) {
  *seed += UINT64_C(0x9E3779B97F4A7C15);
  uint64_t z = *seed;
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

static double double_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void expect_text(double value, const char *expected) {
  char out[33] = {0};
  size_t size = alo_double_text(value, out);
  assert_int_equal(size, strlen(expected));
  assert_string_equal(out, expected);
}

static void expect_float_text(float value, const char *expected) {
  char out[33] = {0};
  size_t size = alo_float_text(value, out);
  assert_int_equal(size, strlen(expected));
  assert_string_equal(out, expected);
}

static void double_texts(void **state) {
  (void)state;
  expect_text(0, "0");
  expect_text(-0.0, "-0");
  expect_text(1.5, "1.5");
  expect_text(-2.25, "-2.25");
  expect_text(100, "100");
  expect_text(0.1, "0.1");
  expect_text(0.1 + 0.2, "0.30000000000000004");
  expect_text(1.0 / 3, "0.3333333333333333");
  expect_text(123456.789, "123456.789");
  expect_text(1e-5, "0.00001");
  expect_text(1.5e-5, "0.000015");
  expect_text(9.999999999999999e-6, "9.999999999999999e-6");
  expect_text(-1.2345678901234567e-5, "-0.000012345678901234568");
  expect_text(1e15, "1000000000000000");
  expect_text(9999999999999998, "9999999999999998");
  expect_text(1e16, "1e+16");
  expect_text(9007199254740992.0, "9007199254740992");
  expect_text(1e22, "1e+22");
  expect_text(1e23, "1e+23");
  expect_text(9.5e-3, "0.0095");
  expect_text(1e300, "1e+300");
  expect_text(4.33e-67, "4.33e-67");
  expect_text(4.33e67, "4.33e+67");
  expect_text(1.7976931348623157e308, "1.7976931348623157e+308");
  expect_text(-1.7976931348623157e308, "-1.7976931348623157e+308");
  expect_text(5e-324, "5e-324");
  expect_text(2.2250738585072014e-308, "2.2250738585072014e-308");
  expect_text(2.225073858507201e-308, "2.225073858507201e-308");
  expect_text(0x1p-44, "5.684341886080802e-14");
  expect_text((double)INFINITY, "inf");
  expect_text((double)-INFINITY, "-inf");
  expect_text((double)NAN, "nan");
}

static void float_texts(void **state) {
  (void)state;
  expect_float_text(0, "0");
  expect_float_text(-0.0F, "-0");
  expect_float_text(1.5F, "1.5");
  expect_float_text(0.1F, "0.1");
  expect_float_text(16777216.0F, "16777216");
  expect_float_text(3.4028235e38F, "3.4028235e+38");
  expect_float_text(1e-45F, "1e-45");
  expect_float_text(1.1754944e-38F, "1.1754944e-38");
  expect_float_text(-33554432.0F, "-33554432");
  expect_float_text(1e10F, "10000000000");
  expect_float_text(INFINITY, "inf");
  expect_float_text(-INFINITY, "-inf");
  expect_float_text(NAN, "nan");
}

/* The digits of a text without sign, point, exponent, leading and trailing zeros. */
static size_t significant(const char *text, char *digits) {
  size_t count = 0;
  for (; *text && *text != 'e'; text++)
    if (*text >= '0' && *text <= '9' && (count || *text != '0'))
      digits[count++] = *text;
  while (count && digits[count - 1] == '0')
    count--;
  digits[count] = 0;
  return count;
}

static bool reads_back(double value, bool single, int digits, char plain[64]) {
  snprintf(plain, 64, "%.*e", digits - 1, value);
  return single ? strtof(plain, NULL) == (float)value : strtod(plain, NULL) == value;
}

static void check_shortest(double value, bool single, const char *text) {
  char ours[64];
  char theirs[64];
  char plain[64];
  int count = (int)significant(text, ours);
  if (count > 1 && reads_back(value, single, count - 1, plain))
    fail_msg("%a is \"%s\", \"%s\" is too long", value, plain, text);
  /* At a power of two the nearest of so many digits may be too low, and another one be right. */
  if (reads_back(value, single, count, plain)) {
    significant(plain, theirs);
    if (strcmp(ours, theirs) != 0)
      fail_msg("%a is \"%s\", \"%s\" is farther away", value, plain, text);
  }
}

static void check_double(double value) {
  char out[33] = {0};
  size_t size = alo_double_text(value, out);
  assert_in_range(size, 1, 24);
  assert_int_equal(strlen(out), size);
  if (bits_of(strtod(out, NULL)) != bits_of(value))
    fail_msg("%a was written \"%s\"", value, out);
  double read = 0;
  assert_true(alo_double_parse((aloft_text){out, size}, &read));
  if (bits_of(read) != bits_of(value))
    fail_msg("\"%s\" was read as %a", out, read);
  check_shortest(value, false, out);
}

static void random_doubles(void **state) {
  (void)state;
  uint64_t seed = 20240229;
  for (unsigned i = 0; i < 200000; i++) {
    double value = double_of(next_random(&seed));
    if (isfinite(value) && value != 0)
      check_double(value);
  }
}

static void neighbours_of_powers_of_two(void **state) {
  (void)state;
  for (uint64_t exponent = 0; exponent < 0x7FF; exponent++)
    for (int offset = -2; offset <= 2; offset++) {
      uint64_t bits = (exponent << 52) + (uint64_t)(int64_t)offset;
      double value = double_of(bits & (UINT64_MAX >> 1));
      if (isfinite(value) && value != 0)
        check_double(value);
    }
}

static void doubles_with_few_digits(void **state) {
  (void)state;
  uint64_t seed = 7;
  char text[64];
  for (unsigned i = 0; i < 50000; i++) {
    uint64_t digits = next_random(&seed) % UINT64_C(1000000000000000) >> (next_random(&seed) % 50);
    snprintf(text, sizeof text, "%llue-%u", (unsigned long long)digits,
             (unsigned)(next_random(&seed) % 12));
    double value = strtod(text, NULL);
    if (value != 0)
      check_double(value);
  }
}

static void check_float(float value) {
  char out[33] = {0};
  size_t size = alo_float_text(value, out);
  assert_in_range(size, 1, 17);
  if (strtof(out, NULL) != value)
    fail_msg("%a was written \"%s\"", (double)value, out);
  check_shortest((double)value, true, out);
}

static void random_floats(void **state) {
  (void)state;
  uint64_t seed = 42;
  for (unsigned i = 0; i < 200000; i++) {
    float value = float_of((uint32_t)next_random(&seed));
    if (isfinite(value) && value != 0)
      check_float(value);
  }
  for (uint32_t exponent = 0; exponent < 0xFF; exponent++)
    for (uint32_t offset = 0; offset < 3; offset++) {
      float value = float_of((exponent << 23) + offset);
      if (value != 0)
        check_float(value);
    }
}

static void compare_with_strtod(const char *text) {
  guard_buffer guarded = guard_copy(text, strlen(text));
  double expected = strtod(text, NULL);
  double read = 12;
  bool fits = alo_double_parse((aloft_text){guarded.data, guarded.size}, &read);
  if (!isfinite(expected)) {
    assert_false(fits);
    assert_int_equal(bits_of(read), bits_of(12));
  } else {
    if (!fits || bits_of(read) != bits_of(expected))
      fail_msg("\"%.60s\" (%zu bytes) was read as %a, not %a", text, strlen(text), read, expected);
  }
  guard_give(&guarded);
}

static void parses_as_strtod(void **state) {
  (void)state;
  const char *texts[] = {
      "0",
      "-0",
      "+0.0e5",
      "0e999999999999999999999999",
      "1e999999999999999999999999",
      "1e-999999999999999999999999",
      "-1e-999999999999999999999999",
      "+.5",
      "2.",
      "1E3",
      "1e+3",
      "000001.500000",
      "9007199254740993",
      "9007199254740992.99999999999999999999999",
      "9007199254740993.00000000000000000000001",
      "9007199254740995",
      "1.7976931348623157e308",
      "1.7976931348623158e308",
      "1.7976931348623159e308",
      "17976931348623158079372897140530341507993413271003782693617377898044496829276475094664901797"
      "7"
      "58720709633028641669288791094655554785194040263065748867150582068190890200070838367627385484"
      "5"
      "81771153176447573027006985557136695962284291481986083493647529271907416844436551070434271155"
      "9"
      "699508093042880177904174497792",
      "17976931348623157e292",
      "1e309",
      "4.9406564584124654e-324",
      "2.4703282292062328e-324",
      "2.4703282292062327e-324",
      "2.4703282292062327208e-324",
      "3e-324",
      "2.2250738585072012e-308",
      "2.2250738585072011e-308",
      "2.2250738585072014e-308",
      "6.631236871469758276785396630275967e-4",
      "3."
      "23788391330290128958835241250153217486303766942310805990129704955230197067067656578683574258"
      "7"
      "79557860615776559838283435514391084153169252689190564396459577394618038928365305143463955100"
      "35"
      "66966656292020173313440317300443693602052583458034314716600326995807313009548483639755486900"
      "10"
      "75153008188175818417456965217311047369602274993463842538062336977473656000899740406096749802"
      "83"
      "8918390176186304857120226009254838484115306e-308",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    compare_with_strtod(texts[i]);
}

/* Exactly half way between two doubles, and one digit more or less: written out in full. */
static void midpoints(void **state) {
  (void)state;
  if (LDBL_MANT_DIG < 64)
    skip(); /* a long double cannot hold them */
  uint64_t seed = 99;
  static char text[1300];
  for (unsigned i = 0; i < 3000; i++) {
    uint64_t bits = next_random(&seed) >> 1;
    /* Half of them where the exact text is longest. */
    if (i % 2)
      bits = (bits & ((UINT64_C(1) << 52) - 1)) | (next_random(&seed) % 3) << 52;
    double value = double_of(bits);
    double above = double_of(bits + 1);
    if (!isfinite(above) || bits == 0)
      continue;
    long double middle = ((long double)value + (long double)above) / 2;
    int size = snprintf(text, sizeof text, "%.1100Le", middle);
    assert_in_range(size, 1, sizeof text - 1);
    compare_with_strtod(text);
    char *last = strchr(text, 'e') - 1;
    assert_int_equal(*last, '0');
    *last = '1';
    compare_with_strtod(text);
    snprintf(text, sizeof text, "%.19Le", middle * (1 - LDBL_EPSILON));
    compare_with_strtod(text);
  }
}

static void random_texts(void **state) {
  (void)state;
  uint64_t seed = 5;
  char text[128];
  for (unsigned i = 0; i < 20000; i++) {
    size_t size = 0;
    size_t digits = 1 + next_random(&seed) % 60;
    size_t point = next_random(&seed) % (digits + 1);
    for (size_t place = 0; place < digits; place++) {
      if (place == point)
        text[size++] = '.';
      text[size++] = (char)('0' + next_random(&seed) % 10);
    }
    snprintf(text + size, sizeof text - size, "e%d", (int)(next_random(&seed) % 700) - 350);
    compare_with_strtod(text);
  }
}

static void not_numbers(void **state) {
  (void)state;
  const char *texts[] = {"",    "-",    "+",     ".",     "-.",    "e5",  ".e5", "1e",
                         "1e+", "1e5.", "1.2.3", "0x10",  "inf",   "nan", " 1",  "1 ",
                         "1,5", "--1",  "+-1",   "1e5e5", "1_000", "1d5", "1f"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    double value = 12;
    int64_t whole = 12;
    guard_buffer guarded = guard_copy(texts[i], strlen(texts[i]));
    aloft_text text = {guarded.data, guarded.size};
    if (alo_double_parse(text, &value) || alo_int64_parse(text, &whole) ||
        alo_int64_parse_number(text, &whole))
      fail_msg("\"%s\" was taken for a number", texts[i]);
    assert_true(value == 12);
    assert_int_equal(whole, 12);
    guard_give(&guarded);
  }
  double value = 12;
  int64_t whole = 12;
  assert_false(alo_double_parse((aloft_text){NULL, 0}, &value));
  assert_false(alo_int64_parse((aloft_text){NULL, 0}, &whole));
  assert_false(alo_int64_parse_number((aloft_text){NULL, 0}, &whole));
  assert_false(alo_double_parse((aloft_text){"1\0", 2}, &value));
}

static void int64_texts(void **state) {
  (void)state;
  uint64_t seed = 3;
  for (unsigned i = 0; i < 10000; i++) {
    const int64_t edges[] = {0, 1, -1, 9, 10, -10, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    const unsigned edge_count = sizeof edges / sizeof edges[0];
    int64_t value =
        i < edge_count ? edges[i] : (int64_t)(next_random(&seed) >> (next_random(&seed) % 64));
    char expected[32];
    char out[33] = {0};
    snprintf(expected, sizeof expected, "%lld", (long long)value);
    assert_int_equal(alo_int64_text(value, out), strlen(expected));
    assert_string_equal(out, expected);
    int64_t read = 0;
    assert_true(alo_int64_parse(aloft_text_of(expected), &read));
    assert_true(read == value);
    assert_true(alo_int64_parse_number(aloft_text_of(expected), &read));
    assert_true(read == value);
  }
}

static void int64_bounds(void **state) {
  (void)state;
  const char *beyond[] = {"9223372036854775808", "-9223372036854775809", "18446744073709551616",
                          "99999999999999999999999999"};
  int64_t value = 12;
  for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
    assert_false(alo_int64_parse(aloft_text_of(beyond[i]), &value));
    assert_false(alo_int64_parse_number(aloft_text_of(beyond[i]), &value));
  }
  assert_false(alo_int64_parse(ALOFT_TEXT("1.0"), &value));
  assert_false(alo_int64_parse(ALOFT_TEXT("1e2"), &value));
  assert_int_equal(value, 12);
  assert_true(alo_int64_parse(ALOFT_TEXT("+0000000000000000000000000007"), &value));
  assert_int_equal(value, 7);
}

static void whole_numbers(void **state) {
  (void)state;
  const struct {
    const char *text;
    bool whole;
    int64_t value;
  } cases[] = {
      {"1.0", true, 1},
      {"1.50e1", true, 15},
      {"150e-1", true, 15},
      {"155e-1", false, 0},
      {"1.5", false, 0},
      {"0.000", true, 0},
      {"-0", true, 0},
      {"0e999999999999999999", true, 0},
      {"1e18", true, INT64_C(1000000000000000000)},
      {"1e19", false, 0},
      {"1e999999999999999999999", false, 0},
      {"1e-999999999999999999999", false, 0},
      {"-9223372036854775808.000", true, INT64_MIN},
      {"9223372036854775807000000000000e-12", true, INT64_MAX},
      {"9223372036854775807.0000000000000001", false, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int64_t value = 12;
    bool whole = alo_int64_parse_number(aloft_text_of(cases[i].text), &value);
    if (whole != cases[i].whole || value != (whole ? cases[i].value : 12))
      fail_msg("\"%s\": %d, %lld", cases[i].text, whole, (long long)value);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(double_texts),
      cmocka_unit_test(float_texts),
      cmocka_unit_test(random_doubles),
      cmocka_unit_test(neighbours_of_powers_of_two),
      cmocka_unit_test(doubles_with_few_digits),
      cmocka_unit_test(random_floats),
      cmocka_unit_test(parses_as_strtod),
      cmocka_unit_test(midpoints),
      cmocka_unit_test(random_texts),
      cmocka_unit_test(not_numbers),
      cmocka_unit_test(int64_texts),
      cmocka_unit_test(int64_bounds),
      cmocka_unit_test(whole_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
