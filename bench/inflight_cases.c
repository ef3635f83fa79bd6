#include "inflight_cases.h"

#include <stddef.h>
#include <string.h>

#define MILLISECONDS(n) (UINT64_C(n) * 1000000)

enum { USUAL = 1000, MANY = 1000000 };

const alo_inflight_plan alo_inflight_cases[ALO_INFLIGHT_CASES] = {
    [ALO_INFLIGHT_NONE] = {.name = "none", .outstanding = USUAL},
    [ALO_INFLIGHT_TOKEN] = {.name = "token", .outstanding = USUAL, .token = true},
    [ALO_INFLIGHT_TIMEOUT] = {.name = "timeout", .outstanding = USUAL, .timeout = true},
    [ALO_INFLIGHT_BOTH] = {.name = "both", .outstanding = USUAL, .token = true, .timeout = true},

    [ALO_INFLIGHT_BASELINE] = {.name = "baseline_none", .outstanding = USUAL, .baseline = true},
    [ALO_INFLIGHT_BASELINE_TOKEN] = {.name = "baseline_token",
                                     .outstanding = USUAL,
                                     .baseline = true,
                                     .token = true},
    [ALO_INFLIGHT_BASELINE_TIMEOUT] = {.name = "baseline_timeout",
                                       .outstanding = USUAL,
                                       .baseline = true,
                                       .timeout = true},
    [ALO_INFLIGHT_BASELINE_BOTH] = {.name = "baseline_both",
                                    .outstanding = USUAL,
                                    .baseline = true,
                                    .token = true,
                                    .timeout = true},

    [ALO_INFLIGHT_HEAP_TIMER] = {.name = "heap_timer",
                                 .outstanding = USUAL,
                                 .timeout = true,
                                 .heap_timer = true},
    [ALO_INFLIGHT_WHEEL_1] = {.name = "wheel_1",
                              .outstanding = USUAL,
                              .timeout = true,
                              .tick_ns = MILLISECONDS(1)},
    [ALO_INFLIGHT_WHEEL_100] = {.name = "wheel_100",
                                .outstanding = USUAL,
                                .timeout = true,
                                .tick_ns = MILLISECONDS(100)},
    [ALO_INFLIGHT_BASELINE_OWN_TIMER] = {.name = "baseline_own_timer",
                                         .outstanding = USUAL,
                                         .baseline = true,
                                         .timeout = true},
    [ALO_INFLIGHT_BASELINE_COALESCED] = {.name = "baseline_coalesced",
                                         .outstanding = USUAL,
                                         .baseline = true,
                                         .timeout = true,
                                         .coalesce_ns = MILLISECONDS(100)},

    [ALO_INFLIGHT_FEW] = {.name = "few", .outstanding = USUAL},
    [ALO_INFLIGHT_FEW_RANDOM] = {.name = "few_random", .outstanding = USUAL, .random = true},
    [ALO_INFLIGHT_MANY] = {.name = "many", .outstanding = MANY},
    [ALO_INFLIGHT_MANY_RANDOM] = {.name = "many_random", .outstanding = MANY, .random = true},
};

const alo_inflight_plan *alo_inflight_case_named(const char *name) {
  for (size_t i = 0; i < ALO_INFLIGHT_CASES; i++) {
    if (strcmp(alo_inflight_cases[i].name, name) == 0)
      return &alo_inflight_cases[i];
  }
  return NULL;
}
