/* Latencies in bins: none is off by more than one bin's width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "latency.h"

static alo_latency latency, other;

static void no_value_is_off_by_more_than_a_bin(void **state) {
  (void)state;
  for (unsigned shift = 0; shift < 64; shift++) {
    for (uint64_t low = 0; low < 3; low++) {
      uint64_t ns = (UINT64_C(1) << shift) + (low << shift >> 1);
      alo_latency_clear(&latency);
      alo_latency_add(&latency, ns);
      uint64_t read = alo_latency_at(&latency, 0.5);
      assert_true(read <= ns && ns - read <= ns / 32);
    }
  }
  alo_latency_clear(&latency);
  alo_latency_add(&latency, UINT64_MAX);
  assert_true(alo_latency_at(&latency, 0) >= UINT64_MAX - UINT64_MAX / 32);
}

static void shares_are_those_of_the_sorted_values(void **state) {
  (void)state;
  alo_latency_clear(&latency);
  assert_int_equal(alo_latency_at(&latency, 0.5), 0);
  for (uint64_t ns = 0; ns < 30; ns++)
    alo_latency_add(&latency, 29 - ns);
  assert_int_equal(alo_latency_at(&latency, 0), 0);
  assert_int_equal(alo_latency_at(&latency, 0.5), 15);
  assert_int_equal(alo_latency_at(&latency, 0.99), 29);
}

static void what_is_merged_counts(void **state) {
  (void)state;
  alo_latency_clear(&latency);
  alo_latency_clear(&other);
  for (int i = 0; i < 9; i++)
    alo_latency_add(&latency, 10);
  alo_latency_add(&other, 20);
  alo_latency_merge(&latency, &other);
  assert_int_equal(latency.count, 10);
  assert_int_equal(alo_latency_at(&latency, 0.89), 10);
  assert_int_equal(alo_latency_at(&latency, 0.95), 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_value_is_off_by_more_than_a_bin),
      cmocka_unit_test(shares_are_those_of_the_sorted_values),
      cmocka_unit_test(what_is_merged_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
