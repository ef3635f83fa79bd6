#include "measure.h"

#include <stdbool.h>

enum { ITERATION_NS = 10000000, WARM_UP = 5, ROUNDS = 100 };

uint64_t alo_clock_ns(clockid_t clock) {
  struct timespec now;
  if (clock_gettime(clock, &now) != 0)
    return 0;
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

typedef struct sample {
  uint64_t operations, cpu_ns, wall_ns;
} sample;

static sample run_once(const alo_contestant *contestant, uint64_t operations, clockid_t cpu) {
  uint64_t wall_ns = alo_clock_ns(CLOCK_MONOTONIC), cpu_ns = alo_clock_ns(cpu);
  uint64_t count = contestant->run(contestant->context, operations);
  return (sample){count, alo_clock_ns(cpu) - cpu_ns, alo_clock_ns(CLOCK_MONOTONIC) - wall_ns};
}

/* By the wall: a contestant that waits for others would never fill the time otherwise. */
static bool size_iteration(alo_contestant *contestant, const alo_measure_plan *plan) {
  uint64_t operations = 1;
  for (;;) {
    sample taken = run_once(contestant, operations, plan->cpu_clock);
    if (taken.operations == 0)
      return false;
    if (taken.wall_ns * 4 >= plan->iteration_ns || operations >= UINT64_C(1) << 40) {
      double wanted = (double)taken.operations * (double)plan->iteration_ns /
                      (double)(taken.wall_ns > 0 ? taken.wall_ns : 1);
      contestant->operations = wanted < 1 ? 1 : (uint64_t)wanted;
      return true;
    }
    operations = taken.operations * 2;
  }
}

static bool measure_round(alo_contestant *contestants, size_t count, const alo_measure_plan *plan,
                          size_t round, bool keep) {
  for (size_t i = 0; i < count; i++) {
    /* Each round begins with the next one, so that none is always behind the same other. */
    alo_contestant *contestant = &contestants[(i + round) % count];
    sample taken = run_once(contestant, contestant->operations, plan->cpu_clock);
    if (taken.operations == 0)
      return false;
    if (keep) {
      contestant->cpu_ns[round] = (double)taken.cpu_ns / (double)taken.operations;
      contestant->wall_ns[round] = (double)taken.wall_ns / (double)taken.operations;
    }
  }
  return true;
}

alo_measure_plan alo_measure_defaults(const alo_measure_plan *plan) {
  alo_measure_plan full = *plan;
  if (full.iteration_ns == 0)
    full.iteration_ns = ITERATION_NS;
  if (full.warm_up == 0)
    full.warm_up = WARM_UP;
  if (full.rounds == 0)
    full.rounds = ROUNDS;
  if (full.rounds > ALO_SAMPLES_MAX)
    full.rounds = ALO_SAMPLES_MAX;
  if (full.cpu_clock == 0)
    full.cpu_clock = CLOCK_THREAD_CPUTIME_ID;
  return full;
}

bool alo_measure(alo_contestant *contestants, size_t count, const alo_measure_plan *plan) {
  alo_measure_plan full = alo_measure_defaults(plan);
  for (size_t i = 0; i < count; i++) {
    if (!size_iteration(&contestants[i], &full))
      return false;
  }
  for (size_t round = 0; round < full.warm_up; round++) {
    if (!measure_round(contestants, count, &full, round, false))
      return false;
  }
  for (size_t round = 0; round < full.rounds; round++) {
    if (!measure_round(contestants, count, &full, round, true))
      return false;
  }
  return true;
}
