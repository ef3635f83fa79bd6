/* Lines over logarithmic axes, as SVG. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "plot.h"

static char text[16384];

static const char *draw(const alo_plot *plot) {
  memset(text, 0, sizeof text);
  FILE *file = fmemopen(text, sizeof text, "w");
  assert_non_null(file);
  alo_plot_svg(plot, file);
  fclose(file);
  return text;
}

/* From 1 to 100, and from 0.1 to 10: a power of ten has the same width everywhere. */
static void powers_of_ten_are_apart_alike(void **state) {
  (void)state;
  alo_plot plot = {.title = "a < b", .x_name = "MiB", .y_name = "ms"};
  alo_plot_line *line = alo_plot_add(&plot, "ours & theirs", true);
  assert_true(alo_plot_point(line, 1, 0.1));
  assert_true(alo_plot_point(line, 10, 1));
  assert_true(alo_plot_point(line, 100, 10));
  const char *drawn = draw(&plot);
  assert_non_null(strstr(drawn, "d=\"M80.0 420.0L320.0 235.0L560.0 50.0\" class=\"line0 theirs\""));
  assert_non_null(strstr(drawn, "a &lt; b"));
  assert_non_null(strstr(drawn, "ours &amp; theirs"));
  assert_non_null(strstr(drawn, ">0.1</text>"));
  assert_non_null(strstr(drawn, ">100</text>"));
  assert_string_equal(drawn + strlen(drawn) - 7, "</svg>\n");
}

static void wrong_numbers_are_refused(void **state) {
  (void)state;
  alo_plot plot = {.title = "", .x_name = "", .y_name = ""};
  alo_plot_line *line = alo_plot_add(&plot, "a", false);
  const double wrong[] = {0, -1, (double)NAN, (double)INFINITY};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_false(alo_plot_point(line, wrong[i], 1));
    assert_false(alo_plot_point(line, 1, wrong[i]));
  }
  for (size_t i = 0; i < ALO_PLOT_POINTS_MAX; i++)
    assert_true(alo_plot_point(line, 1, 1));
  assert_false(alo_plot_point(line, 1, 1));
  for (size_t i = 1; i < ALO_PLOT_LINES_MAX; i++)
    assert_non_null(alo_plot_add(&plot, "b", false));
  assert_null(alo_plot_add(&plot, "c", false));
}

static void nothing_is_drawn_of_nothing(void **state) {
  (void)state;
  alo_plot plot = {.title = "empty", .x_name = "", .y_name = ""};
  alo_plot_add(&plot, "a", false);
  assert_null(strstr(draw(&plot), "<path"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(powers_of_ten_are_apart_alike),
      cmocka_unit_test(wrong_numbers_are_refused),
      cmocka_unit_test(nothing_is_drawn_of_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
