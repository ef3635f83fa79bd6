/* aloft bench inflight: which of the pieces is asked for. */
#include "benchmark.h"
#include "counted.h"
#include "inflight_bars.h"
#include "inflight_costs.h"
#include "inflight_tables.h"
#include "report.h"

static bool count(const char *name, uint64_t operations) {
  const alo_inflight_plan *plan = alo_inflight_case_named(name);
  if (!plan) {
    alo_report("inflight has no case '%s'", name);
    return false;
  }
  alo_inflight_contestant *contestant = alo_inflight_contestant_open(plan);
  bool good = contestant && alo_inflight_contestant_run(contestant, operations) >= operations;
  alo_inflight_contestant_close(contestant);
  return good;
}

/* ---- counted figures ---- */

static bool add_case(alo_counted *counted, int number, alo_reason *why) {
  const char *name = alo_inflight_cases[number].name;
  double instructions = 0;
  alo_heap_cost heap = {0};
  return alo_inflight_instructions(number, &instructions, why) &&
         alo_inflight_heap(number, &heap, why) &&
         alo_counted_add(counted, name, "instructions", instructions) &&
         alo_counted_add(counted, name, "heap_calls", heap.calls) &&
         alo_counted_add(counted, name, "heap_bytes", heap.bytes);
}

static int counted_figures(const alo_bench_settings *settings) {
  static const int numbers[] = {ALO_INFLIGHT_NONE, ALO_INFLIGHT_TOKEN, ALO_INFLIGHT_TIMEOUT,
                                ALO_INFLIGHT_BOTH, ALO_INFLIGHT_MANY};
  alo_counted now = {0};
  alo_reason why = {{0}};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    if (!add_case(&now, numbers[i], &why)) {
      alo_report("%s", why.text);
      return ALO_EXIT_LOCAL;
    }
  }
  return (int)alo_counted_finish(&now, settings);
}

/* ---- the command ---- */

static const char notes[] =
    "Times are processor time of the thread, in nanoseconds for one request from its start to its "
    "done, with 1,000 outstanding. Contestants take turns in one run; compare ratios. Instructions "
    "are counted by callgrind (package valgrind). With ALOFT_FLOORS naming a folder that holds "
    "inflight_baseline.c, --check compares the baseline with that program.";

static int run(int argc, char **argv) {
  alo_bench_settings settings = {0};
  bool done = false;
  alo_exit code = alo_bench_read(&settings, NULL, "aloft bench inflight [OPTION...]",
                                 "A request in flight: what it costs, beside the design that it "
                                 "replaces and the figures published for both.",
                                 notes, argc, argv, &done);
  if (code != ALO_EXIT_OK || done)
    return (int)code;
  if (settings.check)
    return (int)alo_inflight_check();
  if (settings.counted || settings.baseline)
    return counted_figures(&settings);
  return (int)alo_inflight_print(&settings);
}

const alo_benchmark alo_bench_inflight = {
    .name = "inflight",
    .summary = "a request in flight, beside the design it replaces",
    .run = run,
    .count = count,
};
