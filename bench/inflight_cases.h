/* The cases of the benchmark of requests in flight, by number and by name. */
#ifndef ALO_INFLIGHT_CASES_H
#define ALO_INFLIGHT_CASES_H

#include "inflight_contestant.h"

enum {
  ALO_INFLIGHT_NONE, /* neither cancellation nor timeout */
  ALO_INFLIGHT_TOKEN,
  ALO_INFLIGHT_TIMEOUT,
  ALO_INFLIGHT_BOTH,
  ALO_INFLIGHT_BASELINE, /* the same four of the baseline */
  ALO_INFLIGHT_BASELINE_TOKEN,
  ALO_INFLIGHT_BASELINE_TIMEOUT,
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

/* The first four are the published tables' combinations, and so are the four of the baseline. */
enum { ALO_INFLIGHT_COMBINATIONS = 4 };

extern const alo_inflight_plan alo_inflight_cases[ALO_INFLIGHT_CASES];

/* NULL: no such case. */
const alo_inflight_plan *alo_inflight_case_named(const char *name);

#endif
