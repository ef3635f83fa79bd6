#include "duration.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void read_durations(void **state) {
  static const struct {
    const char *text;
    uint64_t ns;
  } cases[] = {
      {"0", 0},
      {"5s", 5000000000},
      {"250ms", 250000000},
      {"1m30s", 90000000000},
      {"1.5h", UINT64_C(5400000000000)},
      {"+2us", 2000},
      {"2\xc2\xb5s", 2000},
      {"2\xce\xbcs", 2000},
      {".5s", 500000000},
      {"1.s", 1000000000},
      {"1.9ns", 1},
      {"0.999999999999999999s", 999999999},
      {"2540400h10m10.000000000s", UINT64_C(9145440610000000000)},
      {"9223372036854775807ns", INT64_MAX},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint64_t ns = 1;
    if (!alo_duration_parse(cases[i].text, &ns) || ns != cases[i].ns)
      fail_msg("%s: %llu", cases[i].text, (unsigned long long)ns);
  }
}

static void refuse_what_is_no_duration(void **state) {
  static const char *const cases[] = {
      "",
      "5",
      "s",
      ".s",
      "-5s",
      "5 s",
      "5s ",
      "5x",
      "1e3s",
      "5s3",
      "0x5s",
      "+",
      "+-5s",
      "1..s",
      "9223372036854775808ns",
      "2562048h",
      "99999999999999999999999s",
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint64_t ns = 42;
    if (alo_duration_parse(cases[i], &ns) || ns != 42)
      fail_msg("'%s' was taken for %llu", cases[i], (unsigned long long)ns);
  }
}

static void write_durations(void **state) {
  static const struct {
    uint64_t ns;
    const char *text;
  } cases[] = {
      {0, "0ns"},
      {1, "1ns"},
      {999, "999ns"},
      {1500, "1.5\xc2\xb5s"},
      {1000000, "1ms"},
      {1234567, "1.234ms"},
      {1000000000, "1s"},
      {UINT64_C(100000000000), "100s"},
      {1050000000, "1.05s"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[ALO_DURATION_TEXT];
    alo_duration_write(cases[i].ns, text);
    assert_string_equal(text, cases[i].text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(read_durations),
      cmocka_unit_test(refuse_what_is_no_duration),
      cmocka_unit_test(write_durations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
