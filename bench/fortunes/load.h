/* The tasks of the Fortunes benchmark, all at once: asynchronous ones on one loop, synchronous ones
 * on a thread and a loop each. */
#ifndef ALO_FORTUNES_LOAD_H
#define ALO_FORTUNES_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "encrypted.h"

enum { ALO_FORTUNES_TASKS_MAX = 1024, ALO_FORTUNES_SAMPLES_MAX = 256 };

typedef struct alo_fortunes_load {
  bool synchronous, caching;
  uint32_t tasks;

  /* By time: warm up, then take so many samples. */
  uint64_t warm_up_ns, sample_ns;
  uint32_t samples;
  /* By count, if it is not 0: so many queries after the warm-up's, each task its share. */
  uint64_t count;

  /* What came out. */
  double per_second[ALO_FORTUNES_SAMPLES_MAX];
  uint64_t queries;
  uint64_t time_ns, cpu_ns;
  int threads;
  char encrypted[ALO_ENCRYPTED_ROOM]; /* by count, asynchronous, over TLS: its figures */
} alo_fortunes_load;

/* Executions of each task before everything else: they connect. */
enum { ALO_FORTUNES_WARM_UP = 20 };

void alo_fortunes_run_asynchronous(alo_fortunes_load *load);
void alo_fortunes_run_synchronous(alo_fortunes_load *load);

#endif
