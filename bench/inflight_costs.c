#include "inflight_costs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Operations of the two runs whose difference is taken. The first is not shorter than a round of
 * answers, after which places are used again. */
enum { FEW = 10000, MANY = 110000, BASELINE_FEW = 5000, BASELINE_MANY = 25000 };

/* What counts: the public calls, with done and the start in it. The loop around them stands for the
 * peer whose answers come in. The functions of the floor are kept apart for the same reason. */
static const char *const aloft_calls[] = {"aloft_inflight_finish", "aloft_loop_turn", NULL};
static const char *const baseline_calls[] = {"alo_baseline_reply", "alo_baseline_start", NULL};
static const char *const floor_calls[] = {"reply", "start", NULL};

static alo_count_case count_case(int number) {
  const alo_inflight_plan *plan = &alo_inflight_cases[number];
  uint64_t few = plan->baseline ? BASELINE_FEW : FEW;
  uint64_t many = plan->baseline ? BASELINE_MANY : MANY;
  if (plan->outstanding > few) {
    few = plan->outstanding;
    many = few + MANY;
  }
  return (alo_count_case){"inflight", plan->name, few, many,
                          plan->baseline ? baseline_calls : aloft_calls};
}

bool alo_inflight_instructions(int number, double *figure, alo_reason *why) {
  alo_count_case of = count_case(number);
  return alo_count_instructions(&of, figure, why);
}

bool alo_inflight_heap(int number, alo_heap_cost *figure, alo_reason *why) {
  alo_count_case of = count_case(number);
  return alo_count_heap(&of, figure, why);
}

/* ---- the floor ---- */

static bool count_floor(const char *program, const alo_inflight_plan *plan, unsigned operations,
                        uint64_t *instructions, alo_reason *why) {
  char outstanding[16], number[16];
  snprintf(outstanding, sizeof outstanding, "%u", (unsigned)plan->outstanding);
  snprintf(number, sizeof number, "%u", operations);
  const char *const argv[] = {
      program, outstanding, number, plan->token ? "1" : "0", plan->timeout ? "999999" : "0", NULL};
  return alo_count_functions(argv, floor_calls, instructions, why);
}

/* It does everything three times, and reports the best. */
enum { FLOOR_REPEATS = 3 };

static bool count_built_floor(const char *program, int number, double *figure, alo_reason *why) {
  const alo_inflight_plan *plan = &alo_inflight_cases[number];
  uint64_t few = 0, many = 0;
  if (!count_floor(program, plan, BASELINE_FEW, &few, why) ||
      !count_floor(program, plan, BASELINE_MANY, &many, why))
    return false;
  *figure = ((double)many - (double)few) / (FLOOR_REPEATS * (double)(BASELINE_MANY - BASELINE_FEW));
  return true;
}

static bool build_floor(const char *source, const char *program, alo_reason *why) {
  const char *compiler = getenv("CC");
  const char *const argv[] = {
      compiler && *compiler ? compiler : "cc", "-O2", source, "-o", program, "-lpthread", NULL};
  char output[256];
  return alo_program_output(argv, output, sizeof output, why);
}

alo_floor_found alo_inflight_floor_instructions(int number, double *figure, alo_reason *why) {
  char source[1024], program[] = "/tmp/aloft_floor.XXXXXX";
  const char *folder = getenv("ALOFT_FLOORS");
  snprintf(source, sizeof source, "%s/inflight_baseline.c", folder ? folder : "");
  if (!folder || access(source, R_OK) != 0) {
    snprintf(why->text, sizeof why->text, "%s",
             folder ? "there is no inflight_baseline.c in the folder that ALOFT_FLOORS names"
                    : "ALOFT_FLOORS names no folder with inflight_baseline.c");
    return ALO_FLOOR_ABSENT;
  }
  int file = mkstemp(program);
  if (file < 0) {
    snprintf(why->text, sizeof why->text, "no temporary file can be made in /tmp");
    return ALO_FLOOR_FAILED;
  }
  close(file);
  bool good = build_floor(source, program, why) && count_built_floor(program, number, figure, why);
  unlink(program);
  return good ? ALO_FLOOR_COUNTED : ALO_FLOOR_FAILED;
}
