#include "inflight_results.h"

#include <stdlib.h>

#include "inflight_costs.h"
#include "report.h"

/* Cases `first` to `last`, which take turns. */
static bool measure(alo_inflight_results *results, int first, int last,
                    const alo_measure_plan *plan) {
  bool good = true;
  for (int i = first; i <= last && good; i++) {
    alo_inflight_contestant *opened = alo_inflight_contestant_open(&alo_inflight_cases[i]);
    results->cases[i] = (alo_contestant){
        .name = alo_inflight_cases[i].name, .run = alo_inflight_contestant_run, .context = opened};
    good = opened != NULL;
  }
  size_t count = (size_t)last - (size_t)first + 1;
  good = good && alo_measure(&results->cases[first], count, plan);
  for (int i = first; i <= last; i++)
    alo_inflight_contestant_close(results->cases[i].context);
  return good;
}

/* What cannot be counted is left out, and told below the table. */
static void count_costs(alo_inflight_results *results, bool instructions) {
  for (int i = 0; i < ALO_INFLIGHT_CASES; i++)
    results->heap_counted[i] = alo_inflight_heap(i, &results->heap[i], &results->why);
  for (int i = 0; instructions && i <= ALO_INFLIGHT_BASELINE_COALESCED; i++) {
    results->instructions_counted[i] =
        alo_inflight_instructions(i, &results->instructions[i], &results->why);
    if (!results->instructions_counted[i])
      return; /* the others would fail in the same way */
  }
}

alo_inflight_results *alo_inflight_results_open(const alo_bench_settings *settings) {
  alo_measure_plan plan = {.rounds = (size_t)settings->rounds,
                           .iteration_ns = settings->iteration_ns};
  plan = alo_measure_defaults(&plan);
  alo_inflight_results *results = calloc(1, sizeof *results);
  if (!results) {
    alo_report("out of memory");
    return NULL;
  }
  results->rounds = plan.rounds;
  count_costs(results, settings->format != ALO_FORMAT_JSON); /* where they do not stand */
  if (measure(results, ALO_INFLIGHT_NONE, ALO_INFLIGHT_BASELINE_BOTH, &plan) &&
      measure(results, ALO_INFLIGHT_HEAP_TIMER, ALO_INFLIGHT_BASELINE_COALESCED, &plan) &&
      measure(results, ALO_INFLIGHT_FEW, ALO_INFLIGHT_MANY, &plan) &&
      measure(results, ALO_INFLIGHT_FEW_RANDOM, ALO_INFLIGHT_MANY_RANDOM, &plan))
    return results;
  free(results);
  return NULL;
}

void alo_inflight_results_close(alo_inflight_results *results) {
  free(results);
}
