/* The baseline of the benchmarks works: what is measured is not a mock-up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "baseline_request.h"
#include "heap_timer.h"
#include "inflight_contestant.h"

enum { REQUESTS = 200 };

typedef struct world {
  int replied, timed_out;
} world;

static void count_end(alo_baseline_request *request, void *context, alo_baseline_end end) {
  world *seen = context;
  assert_non_null(alo_baseline_id(request));
  *(end == ALO_BASELINE_REPLIED ? &seen->replied : &seen->timed_out) += 1;
}

static void replies_complete(void **state) {
  alo_baseline *baseline = alo_baseline_open(16, 0); /* fewer chains than requests */
  alo_baseline_source *token = alo_baseline_source_open();
  char ids[REQUESTS][24];
  world seen = {0};
  (void)state;
  for (int i = 0; i < REQUESTS; i++) {
    alo_baseline_request *started =
        alo_baseline_start(baseline, i % 2 ? token : NULL, i % 3 ? 1000 : 0, count_end, &seen);
    snprintf(ids[i], sizeof ids[i], "%s", alo_baseline_id(started));
  }
  for (int i = REQUESTS - 1; i >= 0; i--)
    assert_true(alo_baseline_reply(baseline, ids[i]));
  assert_int_equal(seen.replied, REQUESTS);
  assert_false(alo_baseline_reply(baseline, ids[7])); /* a duplicate */
  alo_baseline_advance(baseline, 5000);
  alo_baseline_source_fire(token);
  assert_int_equal(seen.replied + seen.timed_out, REQUESTS);
  alo_baseline_source_close(token);
  alo_baseline_close(baseline);
}

/* As the original was before: it cannot tell the two apart. */
static void a_cancellation_ends_with_a_timeout(void **state) {
  alo_baseline *baseline = alo_baseline_open(16, 0);
  alo_baseline_source *token = alo_baseline_source_open();
  world cancelled = {0}, others = {0};
  char id[24];
  (void)state;
  for (int i = 0; i < 10; i++)
    alo_baseline_start(baseline, token, i % 2 ? 1000 : 0, count_end, &cancelled);
  snprintf(id, sizeof id, "%s",
           alo_baseline_id(alo_baseline_start(baseline, NULL, 1000, count_end, &others)));
  alo_baseline_source_fire(token);
  assert_int_equal(cancelled.timed_out, 10);
  assert_int_equal(others.timed_out, 0);
  assert_true(alo_baseline_reply(baseline, id));
  alo_baseline_advance(baseline, 5000);
  assert_int_equal(cancelled.timed_out, 10);
  alo_baseline_source_close(token);
  alo_baseline_close(baseline);
}

/* Requests with timeouts of 10, 20, 30 ... 100; the clock moves in steps of 10. */
static void time_out(uint64_t coalesce_ns, const int *expected) {
  alo_baseline *baseline = alo_baseline_open(16, coalesce_ns);
  alo_baseline_source *token = alo_baseline_source_open();
  world seen = {0};
  for (uint64_t i = 0; i < 10; i++)
    alo_baseline_start(baseline, i % 2 ? token : NULL, (i * 7 % 10 + 1) * 10, count_end, &seen);
  for (int step = 0; step < 12; step++) {
    alo_baseline_advance(baseline, 10);
    assert_int_equal(seen.timed_out, expected[step]);
  }
  assert_int_equal(seen.timed_out, 10);
  alo_baseline_source_fire(token);
  assert_int_equal(seen.timed_out, 10);
  alo_baseline_source_close(token);
  alo_baseline_close(baseline);
}

static void timeouts_fire_in_time(void **state) {
  static const int each[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10};
  static const int coalesced[] = {0, 0, 0, 3, 3, 3, 3, 7, 7, 7, 7, 10}; /* at the end of each 40 */
  (void)state;
  time_out(0, each);
  time_out(40, coalesced);
}

/* A timer that is shared goes with its last request, and the next has a new one. */
static void shared_timers_end_with_their_last_request(void **state) {
  alo_baseline *baseline = alo_baseline_open(16, 100);
  world seen = {0};
  (void)state;
  for (int round = 0; round < 3; round++) {
    char ids[3][24];
    for (int i = 0; i < 3; i++)
      snprintf(ids[i], sizeof ids[i], "%s",
               alo_baseline_id(alo_baseline_start(baseline, NULL, 50, count_end, &seen)));
    for (int i = 0; i < 3; i++)
      assert_true(alo_baseline_reply(baseline, ids[i]));
  }
  alo_baseline_advance(baseline, 1000);
  assert_int_equal(seen.replied, 9);
  assert_int_equal(seen.timed_out, 0);
  alo_baseline_close(baseline);
}

static void heap_timers_are_in_order(void **state) {
  alo_heap_timers timers = {0};
  alo_heap_timer all[REQUESTS];
  (void)state;
  for (uint64_t i = 0; i < REQUESTS; i++) {
    all[i] = (alo_heap_timer){.due_ns = i * 7919 % 1009};
    assert_true(alo_heap_timers_add(&timers, &all[i]));
  }
  for (uint64_t i = 0; i < REQUESTS; i += 3)
    alo_heap_timers_remove(&timers, &all[i]);
  uint64_t last = 0;
  int count = 0;
  for (alo_heap_timer *due; (due = alo_heap_timers_due(&timers, UINT64_MAX)); count++) {
    assert_true(due->due_ns >= last);
    assert_null(due->due_ns > 0 ? alo_heap_timers_due(&timers, due->due_ns - 1) : NULL);
    last = due->due_ns;
    alo_heap_timers_remove(&timers, due);
  }
  assert_int_equal(count, REQUESTS - (REQUESTS + 2) / 3);
  alo_heap_timers_fini(&timers);
}

/* Both designs, every combination: all requests of a round are answered and started again. */
static void contestants_do_what_they_say(void **state) {
  (void)state;
  for (unsigned bits = 0; bits < 64; bits++) {
    alo_inflight_plan plan = {.name = "test",
                              .outstanding = 1700, /* not a multiple of a batch */
                              .baseline = bits & 1,
                              .token = bits & 2,
                              .timeout = bits & 4,
                              .random = bits & 8,
                              .heap_timer = (bits & 16) && !(bits & 1),
                              .coalesce_ns = bits & 32 ? 1000000 : 0};
    alo_inflight_contestant *contestant = alo_inflight_contestant_open(&plan);
    assert_non_null(contestant);
    assert_true(alo_inflight_contestant_run(contestant, 1) >= 1);
    assert_true(alo_inflight_contestant_run(contestant, 5000) >= 5000);
    alo_inflight_contestant_close(contestant);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(replies_complete),
      cmocka_unit_test(a_cancellation_ends_with_a_timeout),
      cmocka_unit_test(timeouts_fire_in_time),
      cmocka_unit_test(shared_timers_end_with_their_last_request),
      cmocka_unit_test(heap_timers_are_in_order),
      cmocka_unit_test(contestants_do_what_they_say),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
