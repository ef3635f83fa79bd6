/* Contestants take turns, and what each has done is what is divided by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "measure.h"

enum { CONTESTANTS = 3, ROUNDS = 6, WARM_UP = 2, CALLS_MAX = 4096 };

typedef struct calls {
  int who[CALLS_MAX];
  uint64_t operations[CALLS_MAX];
  int count;
} calls;

typedef struct runner {
  calls *calls;
  int number;
  int calls_left; /* before it fails */
} runner;

static uint64_t run(void *context, uint64_t operations) {
  static volatile uint64_t work;
  runner *self = context;
  if (self->calls_left-- == 0)
    return 0;
  for (uint64_t i = 0; i < operations * 1000; i++)
    work = work + 1;
  if (self->calls->count < CALLS_MAX) {
    self->calls->who[self->calls->count] = self->number;
    self->calls->operations[self->calls->count++] = operations;
  }
  return operations;
}

static void prepare(calls *seen, runner *runners, alo_contestant *contestants) {
  *seen = (calls){.count = 0};
  for (int i = 0; i < CONTESTANTS; i++) {
    runners[i] = (runner){.calls = seen, .number = i, .calls_left = CALLS_MAX};
    contestants[i] = (alo_contestant){.name = "test", .run = run, .context = &runners[i]};
  }
}

static calls seen;
static runner runners[CONTESTANTS];
static alo_contestant contestants[CONTESTANTS];
static const alo_measure_plan plan = {.iteration_ns = 200000, .warm_up = WARM_UP, .rounds = ROUNDS};

static void contestants_take_turns(void **state) {
  (void)state;
  prepare(&seen, runners, contestants);
  assert_true(alo_measure(contestants, CONTESTANTS, &plan));
  /* Behind the sizing: rounds, each with every contestant once, each begun by the next. */
  int first = seen.count - CONTESTANTS * (ROUNDS + WARM_UP);
  assert_true(first >= CONTESTANTS);
  for (int round = 0; round < ROUNDS + WARM_UP; round++) {
    int number = round < WARM_UP ? round : round - WARM_UP;
    for (int i = 0; i < CONTESTANTS; i++) {
      int at = first + round * CONTESTANTS + i, who = (i + number) % CONTESTANTS;
      assert_int_equal(seen.who[at], who);
      assert_int_equal(seen.operations[at], contestants[who].operations);
    }
  }
  for (int i = 0; i < CONTESTANTS; i++) {
    assert_true(contestants[i].operations >= 1);
    for (int round = 0; round < ROUNDS; round++)
      assert_true(contestants[i].wall_ns[round] > 0 && contestants[i].cpu_ns[round] > 0);
  }
}

/* While it is sized, warmed up, or measured. */
static void one_that_fails_ends_it(void **state) {
  (void)state;
  for (int runs = 0; runs <= WARM_UP + ROUNDS; runs++) {
    prepare(&seen, runners, contestants);
    runners[1].calls_left = runs;
    assert_false(alo_measure(contestants, CONTESTANTS, &plan));
    assert_int_equal(runners[1].calls_left, -1);
  }
}

static void zeroes_are_defaults(void **state) {
  (void)state;
  const alo_measure_plan none = {0}, many = {.rounds = 100000};
  alo_measure_plan full = alo_measure_defaults(&none);
  assert_true(full.iteration_ns > 0 && full.warm_up > 0 && full.rounds > 1);
  assert_int_equal(full.cpu_clock, CLOCK_THREAD_CPUTIME_ID);
  assert_int_equal(alo_measure_defaults(&many).rounds, ALO_SAMPLES_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(contestants_take_turns),
      cmocka_unit_test(one_that_fails_ends_it),
      cmocka_unit_test(zeroes_are_defaults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
