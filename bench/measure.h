/* Measures contestants against each other, so that a noisy machine gives stable ratios: an
 * iteration of each is sized to take the same time, each is warmed up, and then they take turns,
 * one iteration each, round after round. What disturbs the machine for a while disturbs all of
 * them. */
#ifndef ALO_MEASURE_H
#define ALO_MEASURE_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "statistics.h"

typedef struct alo_contestant {
  const char *name;
  /* Does at least `operations` and says how many it did; 0: it failed, and has reported why. */
  uint64_t (*run)(void *context, uint64_t operations);
  void *context;
  /* Filled in: nanoseconds for one operation, one sample for each round. */
  double cpu_ns[ALO_SAMPLES_MAX];
  double wall_ns[ALO_SAMPLES_MAX];
  uint64_t operations; /* in an iteration */
} alo_contestant;

typedef struct alo_measure_plan {
  uint64_t iteration_ns; /* 0: 10 ms */
  size_t warm_up;        /* rounds not kept; 0: 5 */
  size_t rounds;         /* 0: 100; at most ALO_SAMPLES_MAX */
  clockid_t cpu_clock;   /* 0: CLOCK_THREAD_CPUTIME_ID; a contestant with threads of its own wants
                            CLOCK_PROCESS_CPUTIME_ID */
} alo_measure_plan;

/* The plan with its zeroes replaced. */
alo_measure_plan alo_measure_defaults(const alo_measure_plan *plan);

/* False: a contestant failed. Processor time is what tables report: it does not grow while others
 * have the processor. */
bool alo_measure(alo_contestant *contestants, size_t count, const alo_measure_plan *plan);

uint64_t alo_clock_ns(clockid_t clock);

#endif
