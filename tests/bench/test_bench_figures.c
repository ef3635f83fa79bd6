/* Bars, and counted figures against a baseline. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "bars.h"
#include "counted.h"

/* ---- bars ---- */

static void lines_say_figure_bound_and_verdict(void **state) {
  char text[2048] = {0};
  (void)state;
  alo_bars bars = {.file = fmemopen(text, sizeof text, "w")};
  assert_non_null(bars.file);
  alo_bar(&bars, "low enough", 80, ALO_AT_MOST, 80);
  alo_bar(&bars, "too high", 80.5, ALO_AT_MOST, 80);
  alo_bar(&bars, "high enough", 4, ALO_AT_LEAST, 4);
  alo_bar(&bars, "too low", 3.9, ALO_AT_LEAST, 4);
  alo_bar(&bars, "no number", nan(""), ALO_AT_MOST, 80);
  alo_bar_skip(&bars, "optional", "not here");
  alo_bar_error(&bars, "needed", "no valgrind");
  assert_int_equal(alo_bars_finish(&bars), ALO_EXIT_ANSWER);
  fclose(bars.file);
  static const char *const wanted[] = {" at most          80  ok\n",
                                       "80.5  at most          80  short",
                                       "4  at least          4  ok\n",
                                       "3.9000  at least",
                                       "optional",
                                       "skipped: not here\n",
                                       "error: no valgrind\n",
                                       "2 ok, 3 short, 1 skipped, 1 errors\n"};
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    if (!strstr(text, wanted[i]))
      fail_msg("no '%s' in:\n%s", wanted[i], text);
  }
}

static alo_exit judge(bool good, bool impossible, bool skipped, bool failed) {
  alo_bars bars = {.file = tmpfile()};
  assert_non_null(bars.file);
  if (good)
    alo_bar(&bars, "good", 1, ALO_AT_MOST, 2);
  if (impossible)
    alo_bar(&bars, "impossible", 1, ALO_AT_MOST, 0);
  if (skipped)
    alo_bar_skip(&bars, "skipped", "why");
  if (failed)
    alo_bar_error(&bars, "failed", "why");
  alo_exit code = alo_bars_finish(&bars);
  fclose(bars.file);
  return code;
}

static void one_that_is_short_or_missing_fails(void **state) {
  (void)state;
  assert_int_equal(judge(true, false, false, false), ALO_EXIT_OK);
  assert_int_equal(judge(true, false, true, false), ALO_EXIT_OK);
  assert_int_equal(judge(true, true, false, false), ALO_EXIT_ANSWER);
  assert_int_equal(judge(true, false, false, true), ALO_EXIT_ANSWER);
  assert_int_equal(judge(false, false, true, false), ALO_EXIT_ANSWER);
}

/* ---- counted figures ---- */

static alo_counted figures(double instructions, double heap_calls) {
  alo_counted made = {0};
  assert_true(alo_counted_add(&made, "case", "instructions", instructions));
  assert_true(alo_counted_add(&made, "case", "heap_calls", heap_calls));
  return made;
}

static bool agree(alo_counted now, alo_counted before) {
  return alo_counted_compare(&now, &before, "FILE") == ALO_EXIT_OK;
}

static void a_rise_fails(void **state) {
  (void)state;
  assert_true(agree(figures(100, 0), figures(100, 0)));
  assert_true(agree(figures(101.9, 0), figures(100, 0)));
  assert_false(agree(figures(102.1, 0), figures(100, 0)));
  assert_true(agree(figures(50, 0), figures(100, 0)));
  assert_false(agree(figures(100, 1), figures(100, 0)));
  assert_false(agree(figures(100, 0.001), figures(100, 0)));
  assert_true(agree(figures(100, 0), figures(100, 1)));
}

static void both_have_the_same_figures(void **state) {
  alo_counted fewer = figures(100, 0);
  (void)state;
  fewer.count = 1;
  assert_false(agree(fewer, figures(100, 0)));
  assert_false(agree(figures(100, 0), fewer));
}

static bool read_text(alo_counted *into, const char *text) {
  char path[] = "/tmp/aloft_counted.XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
  close(file);
  bool good = alo_counted_read(into, path);
  unlink(path);
  return good;
}

static void files_are_read_strictly(void **state) {
  static const char *const wrong[] = {"name 1\n",    "\t1\n",       "name\t\n", "name\tx\n",
                                      "name\t1 2\n", "name\tinf\n", "\n"};
  alo_counted read;
  (void)state;
  assert_true(read_text(&read, "# why\na.instructions\t80.5\nb\t0.0000\n"));
  assert_int_equal(read.count, 2);
  assert_string_equal(read.figures[0].name, "a.instructions");
  assert_true(read.figures[0].figure > 80.4 && read.figures[0].figure < 80.6);
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    assert_false(read_text(&read, wrong[i]));
  assert_false(alo_counted_read(&read, "/nonexistent/x.tsv"));
}

static void what_is_printed_can_be_read(void **state) {
  char text[256] = {0};
  alo_counted read, made = figures(80.1234, 0);
  (void)state;
  FILE *file = fmemopen(text, sizeof text, "w");
  alo_counted_print(&made, file);
  fclose(file);
  assert_true(read_text(&read, text));
  assert_true(agree(read, made) && agree(made, read));
}

static void there_is_a_limit(void **state) {
  alo_counted full = {0};
  (void)state;
  for (int i = 0; i < ALO_COUNTED_MAX; i++)
    assert_true(alo_counted_add(&full, "x", "y", 0));
  assert_false(alo_counted_add(&full, "x", "y", 0));
  full.count = 0;
  assert_false(alo_counted_add(
      &full, "a_name_that_is_longer_than_there_is_room_for_in_a_figure_of_a_baseline", "y", 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_say_figure_bound_and_verdict),
      cmocka_unit_test(one_that_is_short_or_missing_fails),
      cmocka_unit_test(a_rise_fails),
      cmocka_unit_test(both_have_the_same_figures),
      cmocka_unit_test(files_are_read_strictly),
      cmocka_unit_test(what_is_printed_can_be_read),
      cmocka_unit_test(there_is_a_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
