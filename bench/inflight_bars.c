#include "inflight_bars.h"

#include <aloft/op.h>

#include "bars.h"
#include "inflight_costs.h"

typedef struct combination {
  int ours, baseline;
  const char *words;
  double instructions_max, ratio_max;
} combination;

static const combination combinations[ALO_INFLIGHT_COMBINATIONS] = {
    {ALO_INFLIGHT_NONE, ALO_INFLIGHT_BASELINE, "none", 80, 0.06},
    {ALO_INFLIGHT_TOKEN, ALO_INFLIGHT_BASELINE_TOKEN, "token", 95, 0.06},
    {ALO_INFLIGHT_TIMEOUT, ALO_INFLIGHT_BASELINE_TIMEOUT, "timeout", 140, 0.08},
    {ALO_INFLIGHT_BOTH, ALO_INFLIGHT_BASELINE_BOTH, "token and timeout", 155, 0.08},
};

enum { OP_SIZE_MAX = 128 };
static const double floor_ratio_max = 1.05, scale_ratio_max = 1.02;

typedef struct bar_name {
  char text[64];
} bar_name;

static bar_name name_of(const char *words, const char *what) {
  bar_name name;
  snprintf(name.text, sizeof name.text, "%s: %s", words, what);
  return name;
}

static void check_floor(alo_bars *bars, const combination *of, double baseline) {
  bar_name name = name_of(of->words, "baseline / inflight_baseline.c");
  alo_reason why;
  double figure = 0;
  switch (alo_inflight_floor_instructions(of->baseline, &figure, &why)) {
  case ALO_FLOOR_COUNTED:
    alo_bar(bars, name.text, baseline / figure, ALO_AT_MOST, floor_ratio_max);
    break;
  case ALO_FLOOR_ABSENT:
    alo_bar_skip(bars, name.text, why.text);
    break;
  case ALO_FLOOR_FAILED:
    alo_bar_error(bars, name.text, why.text);
    break;
  }
}

/* Returns our instructions; 0: not counted. */
static double check_instructions(alo_bars *bars, const combination *of) {
  bar_name name = name_of(of->words, "instructions"),
           ratio_name = name_of(of->words, "instructions / baseline's");
  alo_reason why;
  double ours = 0, baseline = 0;
  if (!alo_inflight_instructions(of->ours, &ours, &why)) {
    alo_bar_error(bars, name.text, why.text);
    return 0;
  }
  alo_bar(bars, name.text, ours, ALO_AT_MOST, of->instructions_max);
  if (!alo_inflight_instructions(of->baseline, &baseline, &why)) {
    alo_bar_error(bars, ratio_name.text, why.text);
    return ours;
  }
  alo_bar(bars, ratio_name.text, ours / baseline, ALO_AT_MOST, of->ratio_max);
  check_floor(bars, of, baseline);
  return ours;
}

static void check_heap(alo_bars *bars, const combination *of) {
  bar_name name = name_of(of->words, "bytes allocated"),
           calls_name = name_of(of->words, "heap calls");
  alo_reason why;
  alo_heap_cost heap = {0};
  if (!alo_inflight_heap(of->ours, &heap, &why)) {
    alo_bar_error(bars, name.text, why.text);
    return;
  }
  alo_bar(bars, name.text, heap.bytes, ALO_AT_MOST, 0);
  alo_bar(bars, calls_name.text, heap.calls, ALO_AT_MOST, 0);
}

static void check_scale(alo_bars *bars, double few) {
  static const char name[] = "1,000,000 in flight: instructions / those at 1,000";
  alo_reason why;
  double many = 0;
  if (!alo_inflight_instructions(ALO_INFLIGHT_MANY, &many, &why))
    alo_bar_error(bars, name, why.text);
  else if (few <= 0)
    alo_bar_error(bars, name, "those at 1,000 could not be counted");
  else
    alo_bar(bars, name, many / few, ALO_AT_MOST, scale_ratio_max);
}

alo_exit alo_inflight_check(void) {
  alo_bars bars = {0};
  double few = 0;
  for (int i = 0; i < ALO_INFLIGHT_COMBINATIONS; i++) {
    double instructions = check_instructions(&bars, &combinations[i]);
    if (combinations[i].ours == ALO_INFLIGHT_NONE)
      few = instructions;
    check_heap(&bars, &combinations[i]);
  }
  check_scale(&bars, few);
  alo_bar(&bars, "an operation: bytes", (double)sizeof(aloft_op), ALO_AT_MOST, OP_SIZE_MAX);
  return alo_bars_finish(&bars);
}
