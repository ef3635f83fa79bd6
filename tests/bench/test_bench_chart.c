/* Bars for the terminal and as SVG. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "chart.h"

#define LIGHT "\xE2\x96\x92"
#define DARK  "\xE2\x96\x88"

static char text[16384];

static alo_chart made(void) {
  alo_chart chart = {.title = "Before & after", .part_names = {"<wanted>", "the rest"}};
  assert_true(alo_chart_add(&chart, (alo_chart_bar){"calls", "before", {26, 26}}));
  assert_true(alo_chart_add(&chart, (alo_chart_bar){"calls", "after", {26, 0}}));
  assert_true(alo_chart_add(&chart, (alo_chart_bar){"bytes", "before", {0.001, 5200}}));
  assert_true(alo_chart_add(&chart, (alo_chart_bar){"bytes", "after", {0, 0}}));
  return chart;
}

static const char *draw(void (*how)(const alo_chart *chart, FILE *file)) {
  alo_chart chart = made();
  memset(text, 0, sizeof text);
  FILE *file = fmemopen(text, sizeof text, "w");
  assert_non_null(file);
  how(&chart, file);
  fclose(file);
  return text;
}

static size_t count(const char *in, const char *what) {
  size_t found = 0;
  for (const char *at = in; (at = strstr(at, what)) != NULL; at += strlen(what))
    found++;
  return found;
}

/* A group's longest bar has 52 places; a part that is not nothing has one at least. */
static void lengths_are_in_proportion(void **state) {
  (void)state;
  const char *drawn = draw(alo_chart_print);
  assert_int_equal(count(drawn, LIGHT), 1 + 26 + 26 + 1);
  assert_int_equal(count(drawn, DARK), 1 + 26 + 51);
  assert_int_equal(count(drawn, "\ncalls\n"), 1);
  assert_int_equal(count(drawn, "\nbytes\n"), 1);
  assert_int_equal(count(drawn, " 52\n"), 1);
  assert_int_equal(count(drawn, " 5,200\n"), 1);
}

static void svg_is_well_formed(void **state) {
  (void)state;
  const char *drawn = draw(alo_chart_svg);
  assert_int_equal(strncmp(drawn, "<svg ", 5), 0);
  assert_int_equal(strcmp(drawn + strlen(drawn) - 7, "</svg>\n"), 0);
  assert_int_equal(count(drawn, "<rect "), 2 + 2 + 1 + 2);
  assert_int_equal(count(drawn, "<text "), count(drawn, "</text>"));
  assert_int_equal(count(drawn, "Before &amp; after"), 2);
  assert_int_equal(count(drawn, "&lt;wanted>"), 1);
  assert_int_equal(count(drawn, "<wanted>"), 0);
}

static void there_is_a_limit(void **state) {
  alo_chart chart = {.title = ""};
  (void)state;
  assert_false(alo_chart_add(&chart, (alo_chart_bar){"", "", {-1, 0}}));
  assert_false(alo_chart_add(&chart, (alo_chart_bar){"", "", {0, nan("")}}));
  for (int i = 0; i < ALO_CHART_BARS_MAX; i++)
    assert_true(alo_chart_add(&chart, (alo_chart_bar){"", "", {0, 0}}));
  assert_false(alo_chart_add(&chart, (alo_chart_bar){"", "", {0, 0}}));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lengths_are_in_proportion),
      cmocka_unit_test(svg_is_well_formed),
      cmocka_unit_test(there_is_a_limit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
