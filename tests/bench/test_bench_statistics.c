/* Statistics with known numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "statistics.h"

static void near(double is, double should, double within) {
  if (!(fabs(is - should) <= within))
    fail_msg("%.9g is not within %g of %.9g", is, within, should);
}

static void student(void **state) {
  /* From printed tables of t for a probability of 0.9995 on one side. */
  static const struct {
    size_t freedom;
    double t;
  } known[] = {{1, 636.619}, {2, 31.599}, {3, 12.924}, {4, 8.610},  {5, 6.869},
               {9, 4.781},   {10, 4.587}, {24, 3.745}, {30, 3.646}, {120, 3.373}};
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    near(alo_student_quantile(known[i].freedom), known[i].t, 0.0006);
}

static void one_series(void **state) {
  static const double samples[] = {3, 1, 2, 8, 5, 4, 7, 6};
  (void)state;
  alo_statistics is = alo_statistics_of(samples, 8);
  assert_int_equal(is.count, 8);
  assert_int_equal(is.outliers, 0);
  near(is.mean, 4.5, 1e-12);
  near(is.deviation, sqrt(6), 1e-12);
  near(is.median, 4.5, 1e-12);
  near(is.error, 5.4079 * sqrt(6) / sqrt(8), 1e-3); /* t with 7 degrees */
}

/* 2, 4, 4, 4, 5, 5, 7, 9 have the deviation 2; the best and the worst are left out. */
static void without_the_best_and_the_worst(void **state) {
  double samples[] = {9, 1000, 4, 2, 4, 5, 0, 7, 5, 4}, few[] = {1, 2, 3};
  (void)state;
  near(alo_trimmed_deviation(samples, 10), 2, 1e-12);
  near(alo_trimmed_deviation(few, 3), 0, 0);
  near(alo_trimmed_deviation(few, 1), 0, 0);
}

static void one_sample(void **state) {
  static const double sample = 3;
  (void)state;
  alo_statistics is = alo_statistics_of(&sample, 1);
  near(is.mean, 3, 0);
  near(is.median, 3, 0);
  near(is.deviation, 0, 0);
  near(is.error, 0, 0);
}

/* Quartiles of 1..11 with 100: first 3.5, third 8.5 (of 11 samples); fence 16. */
static void outliers_above_are_left_out(void **state) {
  static const double samples[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100};
  static const double low[] = {100, 101, 102, 103, 104, 105, 1};
  (void)state;
  near(alo_outlier_fence(samples, 11), 16, 1e-12);
  alo_statistics is = alo_statistics_of(samples, 11);
  assert_int_equal(is.count, 10);
  assert_int_equal(is.outliers, 1);
  near(is.mean, 5.5, 1e-12);
  assert_int_equal(alo_statistics_of(low, 7).outliers, 0);
}

static void ratios_are_taken_pair_by_pair(void **state) {
  static const double samples[] = {10, 20, 30, 40}, base[] = {20, 20, 60, 40};
  (void)state;
  alo_statistics is = alo_statistics_of_ratio(samples, base, 4);
  near(is.mean, 0.75, 1e-12); /* of 0.5, 1, 0.5, 1 */
  near(is.deviation, sqrt(0.25 / 3), 1e-12);
  /* What slows both of a pair does not show. */
  static const double slow[] = {1, 2, 3, 4, 5}, slower[] = {2, 4, 6, 8, 10};
  near(alo_statistics_of_ratio(slow, slower, 5).deviation, 0, 1e-12);
}

static void pairs_with_an_outlier_are_left_out(void **state) {
  static const double samples[] = {1, 1, 1, 1, 50, 1, 1, 1}, base[] = {2, 2, 2, 2, 2, 2, 2, 90};
  (void)state;
  alo_statistics is = alo_statistics_of_ratio(samples, base, 8);
  assert_int_equal(is.count, 6);
  assert_int_equal(is.outliers, 2);
  near(is.mean, 0.5, 1e-12);
}

static void percentiles(void **state) {
  double samples[100];
  (void)state;
  for (int i = 0; i < 100; i++)
    samples[i] = 100 - i;
  near(alo_percentile(samples, 100, 0.5), 50, 0);
  near(alo_percentile(samples, 100, 0.99), 99, 0);
  near(alo_percentile(samples, 100, 0.999), 100, 0);
  near(alo_percentile(samples, 100, 1), 100, 0);
  near(alo_percentile(samples, 100, 0), 1, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(student),
      cmocka_unit_test(one_series),
      cmocka_unit_test(one_sample),
      cmocka_unit_test(without_the_best_and_the_worst),
      cmocka_unit_test(outliers_above_are_left_out),
      cmocka_unit_test(ratios_are_taken_pair_by_pair),
      cmocka_unit_test(pairs_with_an_outlier_are_left_out),
      cmocka_unit_test(percentiles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
