#include "fortunes_bars.h"

#include <stdio.h>

#include "bars.h"
#include "counted.h"
#include "fortunes_costs.h"
#include "report.h"

/* Queries of a round; db-lib, which is slower, does fewer. */
enum { QUERIES = 40000, QUERIES_DBLIB = 10000 };

enum { ANSWER_INSTRUCTIONS_MAX = 6000 };
static const double cpu_ratio_max = 0.45, baseline_ratio_max = 0.1;

/* ---- taking turns ---- */

static const char *const names[ALO_FORTUNES_KINDS] = {
    [ALO_FORTUNES_OURS] = "aloft async",
    [ALO_FORTUNES_OURS_CACHING] = "aloft async-caching",
    [ALO_FORTUNES_DBLIB] = "db-lib",
    [ALO_FORTUNES_FLOOR] = "bare loop",
};

/* Each round begins with the next one, so that none is always behind the same other. */
static bool take_round(const alo_fortunes_world *world, size_t round, alo_fortunes_turns *turns,
                       alo_reason *why) {
  for (size_t i = 0; i < ALO_FORTUNES_KINDS; i++) {
    alo_fortunes_kind kind = (alo_fortunes_kind)((i + round) % ALO_FORTUNES_KINDS);
    uint64_t count = kind == ALO_FORTUNES_DBLIB ? QUERIES_DBLIB : QUERIES;
    if (!alo_fortunes_missing(world, kind) &&
        !alo_fortunes_round(world, kind, turns->tasks, count, &turns->contestants[kind], why))
      return false;
  }
  return true;
}

bool alo_fortunes_take_turns(const alo_fortunes_world *world, uint32_t tasks, size_t rounds,
                             alo_fortunes_turns *turns, alo_reason *why) {
  *turns = (alo_fortunes_turns){.tasks = tasks};
  for (size_t i = 0; i < ALO_FORTUNES_KINDS; i++)
    turns->contestants[i].name = names[i];
  for (size_t round = 0; round < rounds; round++) {
    if (!take_round(world, round, turns, why))
      return false;
  }
  return true;
}

/* ---- bars ---- */

static void check_heap(alo_bars *bars, const alo_fortunes_world *world, int variation,
                       uint32_t tasks) {
  char name[64];
  double calls;
  alo_reason why;
  snprintf(name, sizeof name, "%s, %u task%s: heap calls", alo_fortunes_variations[variation],
           (unsigned)tasks, tasks == 1 ? "" : "s");
  if (alo_fortunes_heap_calls(world, variation, tasks, &calls, &why))
    alo_bar(bars, name, calls, ALO_AT_MOST, 0);
  else
    alo_bar_error(bars, name, why.text);
}

static void check_cpu(alo_bars *bars, const alo_fortunes_world *world,
                      const alo_fortunes_turns *turns, alo_fortunes_kind kind) {
  const alo_fortunes_contestant *ours = &turns->contestants[kind],
                                *theirs = &turns->contestants[ALO_FORTUNES_DBLIB];
  const char *missing = alo_fortunes_missing(world, ALO_FORTUNES_DBLIB);
  char name[64];
  snprintf(name, sizeof name, "%s, %u tasks: CPU / db-lib's", names[kind], (unsigned)turns->tasks);
  if (missing) {
    alo_bar_skip(bars, name, missing);
    return;
  }
  alo_statistics ratio = alo_statistics_of_ratio(ours->cpu_us, theirs->cpu_us, ours->rounds);
  alo_bar(bars, name, ratio.median, ALO_AT_MOST, cpu_ratio_max);
}

static void check_decoding(alo_bars *bars) {
  static const char name[] = "parsing and decoding 1,413 bytes: instructions";
  double instructions;
  alo_reason why;
  if (alo_design_decoded(ALO_ANSWER_PACKET, &instructions, &why))
    alo_bar(bars, name, instructions, ALO_AT_MOST, ANSWER_INSTRUCTIONS_MAX);
  else
    alo_bar_error(bars, name, why.text);
}

static double instructions_of(const alo_design_cost *cost) {
  return cost->strings.instructions + cost->rest.instructions;
}

static void check_design(alo_bars *bars, alo_design_answer answer) {
  alo_design_cost ours = {.instructions_counted = false}, baseline = ours;
  alo_reason why = {{0}};
  char calls[64], ratio[64];
  snprintf(calls, sizeof calls, "%s: heap calls", alo_answer_titles[answer]);
  snprintf(ratio, sizeof ratio, "%s: all but strings / baseline's", alo_answer_titles[answer]);
  bool agree = alo_designs_agree(answer, &why);
  if (agree)
    alo_design_count(ALO_DESIGN_CURRENT, answer, &ours, &why);
  if (ours.heap_counted)
    alo_bar(bars, calls, ours.rest.heap_calls, ALO_AT_MOST, 0);
  else
    alo_bar_error(bars, calls, why.text);
  if (answer != ALO_ANSWER_VALUE)
    return;
  if (agree)
    alo_design_count(ALO_DESIGN_BASELINE, answer, &baseline, &why);
  if (ours.instructions_counted && baseline.instructions_counted)
    alo_bar(bars, ratio, ours.rest.instructions / baseline.rest.instructions, ALO_AT_MOST,
            baseline_ratio_max);
  else
    alo_bar_error(bars, ratio, why.text);
}

alo_exit alo_fortunes_check(const alo_fortunes_world *world, const alo_fortunes_turns *turns) {
  alo_bars bars = {.file = NULL};
  check_heap(&bars, world, ALO_FORTUNES_ASYNC, turns->tasks);
  check_heap(&bars, world, ALO_FORTUNES_ASYNC_CACHING, turns->tasks);
  check_heap(&bars, world, ALO_FORTUNES_SYNC, 1);
  check_heap(&bars, world, ALO_FORTUNES_SYNC_CACHING, 1);
  check_decoding(&bars);
  check_cpu(&bars, world, turns, ALO_FORTUNES_OURS);
  check_cpu(&bars, world, turns, ALO_FORTUNES_OURS_CACHING);
  for (alo_design_answer answer = 0; answer < ALO_ANSWERS; answer++)
    check_design(&bars, answer);
  return alo_bars_finish(&bars);
}

/* ---- counted figures ---- */

static bool add_answer(alo_counted *counted, alo_design_answer answer, alo_reason *why) {
  alo_design_cost cost;
  const char *name = alo_answer_names[answer];
  alo_design_count(ALO_DESIGN_CURRENT, answer, &cost, why);
  return cost.instructions_counted && cost.heap_counted &&
         alo_counted_add(counted, name, "instructions", instructions_of(&cost)) &&
         alo_counted_add(counted, name, "heap_calls", cost.rest.heap_calls) &&
         alo_counted_add(counted, name, "heap_bytes", cost.rest.heap_bytes);
}

/* In memory alone: what a client and a server cost each other depends on when bytes arrive. */
alo_exit alo_fortunes_counted(const alo_bench_settings *settings) {
  alo_counted now = {.count = 0};
  alo_reason why = {{0}};
  double decoded = 0;
  bool good = alo_design_decoded(ALO_ANSWER_PACKET, &decoded, &why) &&
              alo_counted_add(&now, "decoded", "instructions", decoded);
  for (alo_design_answer answer = 0; good && answer < ALO_ANSWERS; answer++)
    good = add_answer(&now, answer, &why);
  if (good)
    return alo_counted_finish(&now, settings);
  alo_report("%s", why.text);
  return ALO_EXIT_LOCAL;
}
