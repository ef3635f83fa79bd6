/* What one run of the benchmark of requests in flight has measured and counted. */
#ifndef ALO_INFLIGHT_RESULTS_H
#define ALO_INFLIGHT_RESULTS_H

#include "benchmark.h"
#include "count.h"
#include "inflight_cases.h"
#include "measure.h"

typedef struct alo_inflight_results {
  size_t rounds; /* samples of each */
  alo_contestant cases[ALO_INFLIGHT_CASES];
  bool heap_counted[ALO_INFLIGHT_CASES], instructions_counted[ALO_INFLIGHT_CASES];
  alo_heap_cost heap[ALO_INFLIGHT_CASES];
  double instructions[ALO_INFLIGHT_CASES];
  alo_reason why; /* the last thing that could not be counted; "" */
} alo_inflight_results;

/* Measures and counts all cases. NULL: it failed; reported. */
alo_inflight_results *alo_inflight_results_open(const alo_bench_settings *settings);
void alo_inflight_results_close(alo_inflight_results *results);

#endif
