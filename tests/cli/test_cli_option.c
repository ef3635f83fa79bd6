#include "option.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "nearest.h"

typedef struct values {
  bool flag, other;
  const char *text, *any, *maybe;
  alo_secret secret, url;
  alo_option_list list;
  int64_t number;
  uint64_t duration;
} values;

#define AT(member) offsetof(values, member)

static const alo_option options[] = {
    {.name = "flag", .letter = 'f', .kind = ALO_OPTION_FLAG, .offset = AT(flag)},
    {.name = "other", .letter = 'o', .kind = ALO_OPTION_FLAG, .offset = AT(other)},
    {.name = "text", .letter = 't', .kind = ALO_OPTION_TEXT, .value = "T", .offset = AT(text)},
    {.name = "any", .kind = ALO_OPTION_ANY_TEXT, .value = "T", .offset = AT(any)},
    {.name = "maybe", .letter = 'N', .kind = ALO_OPTION_DEFAULT, .value = "M", .offset = AT(maybe)},
    {.name = "secret",
     .letter = 'P',
     .kind = ALO_OPTION_SECRET,
     .value = "S",
     .environment = "ALOFT_TEST_SECRET",
     .offset = AT(secret)},
    {.name = "url", .letter = 's', .kind = ALO_OPTION_URL, .value = "U", .offset = AT(url)},
    {.name = "list", .letter = 'H', .kind = ALO_OPTION_LIST, .value = "L", .offset = AT(list)},
    {.name = "number",
     .letter = 'n',
     .kind = ALO_OPTION_NUMBER,
     .value = "N",
     .environment = "ALOFT_TEST_NUMBER",
     .offset = AT(number),
     .min = -1,
     .max = 10},
    {.name = "wait", .kind = ALO_OPTION_DURATION, .value = "D", .offset = AT(duration)},
    {.name = "away",
     .letter = 'a',
     .kind = ALO_OPTION_REFUSED,
     .help = "gone",
     .environment = "ALOFT_TEST_AWAY"},
};

typedef struct reading {
  values values;
  alo_option_group group;
  alo_command_line line;
  char arguments[8][64];
} reading;

/* Reads up to seven arguments, given as one string with blanks between them. */
static alo_exit read_line(reading *got, const char *arguments) {
  char *argv[8] = {got->arguments[0]};
  int argc = 1;
  memset(got, 0, sizeof *got);
  while (*arguments != '\0' && argc < 8) {
    size_t size = strcspn(arguments, " ");
    memcpy(got->arguments[argc], arguments, size);
    argv[argc] = got->arguments[argc];
    argc++;
    arguments += size + (arguments[size] == ' ' ? 1 : 0);
  }
  got->group = (alo_option_group){.title = "Options",
                                  .options = options,
                                  .count = sizeof options / sizeof options[0],
                                  .values = &got->values};
  got->line = (alo_command_line){
      .groups = &got->group, .group_count = 1, .arguments = {"SUBJECT", "BODY"}, .required = 1};
  return alo_command_line_read(&got->line, argc, argv);
}

static void finish(reading *got) {
  alo_secret_wipe(&got->values.secret);
  alo_secret_wipe(&got->values.url);
}

static void every_spelling(void **state) {
  static const char *const cases[] = {"--text=x -n 3 s", "-t x --number=3 s", "-tx s -n3",
                                      "s --text x --number 3", "-n3 -tx -- s"};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    reading got;
    assert_int_equal(read_line(&got, cases[i]), ALO_EXIT_OK);
    assert_string_equal(got.values.text, "x");
    assert_int_equal(got.values.number, 3);
    assert_string_equal(got.line.operands[0], "s");
    assert_null(got.line.operands[1]);
    assert_true(alo_option_given(&got.group, "text"));
    assert_false(alo_option_given(&got.group, "list"));
  }
}

static void flags_joined_and_values_negative(void **state) {
  reading got;
  (void)state;
  assert_int_equal(read_line(&got, "-fon -1 s -"), ALO_EXIT_OK);
  assert_true(got.values.flag && got.values.other);
  assert_int_equal(got.values.number, -1);
  assert_string_equal(got.line.operands[1], "-");
}

static void a_value_that_may_be_left_out(void **state) {
  static const struct {
    const char *line, *value;
  } cases[] = {{"s -N", ""},        {"-N -f s", ""},   {"-Nopt s", "opt"},
               {"-N opt s", "opt"}, {"s --maybe", ""}, {"--maybe=opt s", "opt"}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    reading got;
    assert_int_equal(read_line(&got, cases[i].line), ALO_EXIT_OK);
    assert_string_equal(got.values.maybe, cases[i].value);
  }
}

static void lists_and_durations(void **state) {
  reading got;
  (void)state;
  assert_int_equal(read_line(&got, "-Ha:b --list c:d --wait 1.5s s"), ALO_EXIT_OK);
  assert_int_equal(got.values.list.count, 2);
  assert_string_equal(got.values.list.items[1], "c:d");
  assert_int_equal(got.values.duration, 1500000000);
}

static void secrets_leave_the_command_line(void **state) {
  reading got;
  (void)state;
  assert_int_equal(read_line(&got, "-Phush -s nats://u:hush@h:1 s"), ALO_EXIT_OK);
  assert_string_equal(got.values.secret.data, "hush");
  assert_string_equal(got.values.url.data, "nats://u:hush@h:1");
  for (int i = 0; i < 8; i++) {
    for (size_t at = 0; at + 4 <= sizeof got.arguments[i]; at++)
      assert_memory_not_equal(got.arguments[i] + at, "hush", 4);
  }
  assert_string_equal(got.arguments[3], "nats://xxxxxx@h:1");
  finish(&got);
  assert_null(got.values.secret.data);
}

static void the_environment_fills_in(void **state) {
  reading got;
  (void)state;
  setenv("ALOFT_TEST_SECRET", "hush", 1);
  setenv("ALOFT_TEST_NUMBER", "7", 1);
  char *place = getenv("ALOFT_TEST_SECRET");
  assert_int_equal(read_line(&got, "s"), ALO_EXIT_OK);
  assert_string_equal(got.values.secret.data, "hush");
  assert_int_equal(got.values.number, 7);
  assert_null(getenv("ALOFT_TEST_SECRET"));
  assert_memory_equal(place, "\0\0\0\0", 4);
  finish(&got);
  assert_int_equal(read_line(&got, "s -n 2"), ALO_EXIT_OK);
  assert_int_equal(got.values.number, 2);
  setenv("ALOFT_TEST_NUMBER", "seven", 1);
  assert_int_equal(read_line(&got, "s"), ALO_EXIT_USAGE);
  unsetenv("ALOFT_TEST_NUMBER");
  setenv("ALOFT_TEST_AWAY", "x", 1);
  assert_int_equal(read_line(&got, "s"), ALO_EXIT_USAGE);
  unsetenv("ALOFT_TEST_AWAY");
}

static void refuse_what_is_wrong(void **state) {
  static const char *const cases[] = {
      "",           "s b c",    "s --nothing", "s -y",    "s --text",   "s -t",
      "s --text=",  "s -n 11",  "s -n -2",     "s -n 1x", "s -n=",      "s --wait 5",
      "s --flag=1", "s --away", "s -a",        "s -fa",   "s --away=1", "s -n 99999999999999999999",
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    reading got;
    if (read_line(&got, cases[i]) != ALO_EXIT_USAGE)
      fail_msg("'%s' was taken", cases[i]);
  }
}

static void help_needs_nothing_else(void **state) {
  static const char *const cases[] = {"--help", "-h", "-?", "-fh", "--text x --help -y"};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    reading got;
    assert_int_equal(read_line(&got, cases[i]), ALO_EXIT_OK);
    assert_true(got.line.help);
  }
}

static void the_nearest_word(void **state) {
  alo_nearest nearest = {0};
  (void)state;
  assert_int_equal(alo_nearest_distance("", ""), 0);
  assert_int_equal(alo_nearest_distance("abc", ""), 3);
  assert_int_equal(alo_nearest_distance("coutn", "count"), 1);
  assert_int_equal(alo_nearest_distance("kitten", "sitting"), 3);
  alo_nearest_try(&nearest, "tiemout", "count");
  assert_null(nearest.word);
  alo_nearest_try(&nearest, "tiemout", "timeout");
  assert_string_equal(nearest.word, "timeout");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_spelling),
      cmocka_unit_test(flags_joined_and_values_negative),
      cmocka_unit_test(a_value_that_may_be_left_out),
      cmocka_unit_test(lists_and_durations),
      cmocka_unit_test(secrets_leave_the_command_line),
      cmocka_unit_test(the_environment_fills_in),
      cmocka_unit_test(refuse_what_is_wrong),
      cmocka_unit_test(help_needs_nothing_else),
      cmocka_unit_test(the_nearest_word),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
