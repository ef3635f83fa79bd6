/* The cases of the benchmark of requests in flight, by number and by name. */
#ifndef ALO_INFLIGHT_CASES_H
#define ALO_INFLIGHT_CASES_H

#include "inflight_contestant.h"

enum {
  ALO_INFLIGHT_NONE, /* neither cancellation nor timeout; each beside the baseline's */
  ALO_INFLIGHT_BASELINE,
  ALO_INFLIGHT_TOKEN,
  ALO_INFLIGHT_BASELINE_TOKEN,
  ALO_INFLIGHT_TIMEOUT,
  ALO_INFLIGHT_BASELINE_TIMEOUT,
  ALO_INFLIGHT_BOTH,
  ALO_INFLIGHT_BASELINE_BOTH,
  ALO_INFLIGHT_HEAP_TIMER, /* with a timeout: what keeps the deadlines */
  ALO_INFLIGHT_WHEEL_1,
  ALO_INFLIGHT_WHEEL_100,
  ALO_INFLIGHT_BASELINE_OWN_TIMER,
  ALO_INFLIGHT_BASELINE_COALESCED,
  ALO_INFLIGHT_FEW, /* as NONE: 1,000 and 1,000,000 in flight, in order and in random order */
  ALO_INFLIGHT_MANY,
  ALO_INFLIGHT_FEW_RANDOM,
  ALO_INFLIGHT_MANY_RANDOM,
  ALO_INFLIGHT_CASES
};

/* The published tables' combinations: neither, token, timeout, both. */
enum { ALO_INFLIGHT_COMBINATIONS = 4 };
static inline int alo_inflight_ours(int combination) {
  return ALO_INFLIGHT_NONE + 2 * combination;
}
static inline int alo_inflight_baseline(int combination) {
  return ALO_INFLIGHT_BASELINE + 2 * combination;
}

extern const alo_inflight_plan alo_inflight_cases[ALO_INFLIGHT_CASES];

/* NULL: no such case. */
const alo_inflight_plan *alo_inflight_case_named(const char *name);

#endif
