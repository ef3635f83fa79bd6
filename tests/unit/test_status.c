#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include <aloft/status.h>

static void each_status_has_its_texts(void **state) {
  (void)state;
#define CHECK(status, number, class_, meaning, advice)                                             \
  assert_int_equal(status, number);                                                                \
  assert_string_equal(aloft_status_name(status), #status);                                         \
  assert_string_equal(aloft_status_meaning(status), meaning);                                      \
  assert_string_equal(aloft_status_advice(status), advice);                                        \
  assert_int_equal(aloft_status_class(status), ALOFT_CLASS_##class_);
  ALOFT_STATUS_TABLE(CHECK)
#undef CHECK
}

static void each_status_has_a_constant_error(void **state) {
  (void)state;
#define CHECK(status_, number_, class, meaning, advice)                                            \
  {                                                                                                \
    const aloft_error *error = aloft_status_error(status_);                                        \
    assert_ptr_equal(error, aloft_status_error(status_));                                          \
    assert_int_equal(error->status, status_);                                                      \
    assert_int_equal(error->system, 0);                                                            \
    assert_int_equal(error->number, 0);                                                            \
    assert_null(error->server.data);                                                               \
    assert_null(error->procedure.data);                                                            \
    assert_true(aloft_text_equal(error->message, ALOFT_TEXT(meaning "; " advice)));                \
  }
  ALOFT_STATUS_TABLE(CHECK)
#undef CHECK
}

static void numbers_are_unique(void **state) {
  (void)state;
  bool seen[256] = {false};
#define CHECK(status, number, class, meaning, advice)                                              \
  assert_false(seen[number]);                                                                      \
  seen[number] = true;
  ALOFT_STATUS_TABLE(CHECK)
#undef CHECK
}

static void an_unknown_number_is_named_so(void **state) {
  (void)state;
  const int unknown[] = {7, 15, 145, 250};
  for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
    aloft_status status = (aloft_status)unknown[i];
    assert_string_equal(aloft_status_name(status), "ALOFT_UNKNOWN");
    assert_int_equal(aloft_status_class(status), ALOFT_CLASS_ARGUMENT);
    assert_true(strlen(aloft_status_meaning(status)) > 0);
    assert_true(strlen(aloft_status_advice(status)) > 0);
    assert_true(aloft_status_error(status)->message.size > 0);
  }
}

static void texts(void **state) {
  (void)state;
  aloft_text absent = aloft_text_of(NULL);
  assert_null(absent.data);
  assert_int_equal(absent.size, 0);
  assert_int_equal(aloft_text_of("abc").size, 3);
  assert_true(aloft_text_equal(aloft_text_of("abc"), ALOFT_TEXT("abc")));
  assert_false(aloft_text_equal(ALOFT_TEXT("abc"), ALOFT_TEXT("abd")));
  assert_false(aloft_text_equal(ALOFT_TEXT("abc"), ALOFT_TEXT("ab")));
  assert_true(aloft_text_equal(ALOFT_TEXT(""), ALOFT_TEXT("")));
  assert_true(aloft_text_equal(absent, absent));
  assert_false(aloft_text_equal(absent, ALOFT_TEXT("")));
  assert_false(aloft_text_equal(ALOFT_TEXT(""), absent));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_status_has_its_texts),
      cmocka_unit_test(each_status_has_a_constant_error),
      cmocka_unit_test(numbers_are_unique),
      cmocka_unit_test(an_unknown_number_is_named_so),
      cmocka_unit_test(texts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
