#include "fortunes_contestant.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client_report.h"
#include "fortunes.h"

enum { WORDS_MAX = 16, OUTPUT_MAX = 16384, NUMBER_MAX = 24, MILLISECOND_NS = 1000000 };

const char *const alo_fortunes_variations[ALO_FORTUNES_VARIATIONS] = {"sync", "sync-caching",
                                                                      "async", "async-caching"};

typedef struct number {
  char text[NUMBER_MAX];
} number;

static number number_of(uint64_t value) {
  number made;
  snprintf(made.text, sizeof made.text, "%" PRIu64, value);
  return made;
}

static bool wrong_figures(const char *who, alo_reason *why) {
  snprintf(why->text, sizeof why->text, "%s: its figures are not as expected", who);
  return false;
}

/* ---- throughput ---- */

size_t alo_fortunes_sample_count(const alo_fortunes_plan *plan) {
  uint64_t count = plan->duration_ns / plan->sample_ns;
  return count < 1 ? 1 : count > ALO_SAMPLES_MAX ? ALO_SAMPLES_MAX : (size_t)count;
}

static number milliseconds(uint64_t ns) {
  uint64_t whole = (ns + MILLISECOND_NS / 2) / MILLISECOND_NS;
  return number_of(whole > 0 ? whole : 1);
}

bool alo_fortunes_measure(const alo_fortunes_world *world, int variation,
                          const alo_fortunes_plan *plan, alo_fortunes_throughput *to,
                          alo_reason *why) {
  static char output[OUTPUT_MAX];
  number tasks = number_of(plan->tasks), warm_up = milliseconds(plan->warm_up_ns);
  number sample = milliseconds(plan->sample_ns);
  number samples = number_of(alo_fortunes_sample_count(plan));
  const char *const argv[] = {world->client, "sample",     alo_fortunes_variations[variation],
                              tasks.text,    warm_up.text, sample.text,
                              samples.text,  NULL};
  alo_client_report of;
  if (!alo_program_output(argv, output, sizeof output, why))
    return false;
  if (!alo_client_report_read(output, &of) || of.count == 0)
    return wrong_figures(alo_fortunes_variations[variation], why);
  *to = (alo_fortunes_throughput){.per_second = of.queries / of.seconds,
                                  .deviation = alo_trimmed_deviation(of.samples, of.count),
                                  .cpu_us = of.cpu_us,
                                  .threads = of.threads,
                                  .samples = of.count};
  return true;
}

/* ---- rounds ---- */

const char *alo_fortunes_missing(const alo_fortunes_world *world, alo_fortunes_kind kind) {
  switch (kind) {
  case ALO_FORTUNES_DBLIB:
    return world->dblib[0] != '\0' ? NULL : world->no_dblib.text;
  case ALO_FORTUNES_FLOOR:
    return world->floor[0] != '\0' ? NULL : world->no_floor.text;
  case ALO_FORTUNES_OURS:
  case ALO_FORTUNES_OURS_CACHING:
  case ALO_FORTUNES_KINDS:
    break;
  }
  return NULL;
}

/* "floor fortune threads=N pkt=N tps=N cpu_us/op=N" */
static bool read_floor(const char *output, alo_fortunes_contestant *to) {
  const char *rate = strstr(output, "tps="), *cpu = strstr(output, "cpu_us/op=");
  if (rate == NULL || cpu == NULL)
    return false;
  to->rate[to->rounds] = strtod(rate + strlen("tps="), NULL);
  to->cpu_us[to->rounds] = strtod(cpu + strlen("cpu_us/op="), NULL);
  return to->rate[to->rounds] > 0 && to->cpu_us[to->rounds] > 0;
}

static bool read_round(const char *output, alo_fortunes_contestant *to) {
  alo_client_report of;
  if (!alo_client_report_read(output, &of) || of.queries <= 0)
    return false;
  to->rate[to->rounds] = of.queries / of.seconds;
  to->cpu_us[to->rounds] = of.cpu_us;
  to->threads = of.threads;
  return true;
}

bool alo_fortunes_round(const alo_fortunes_world *world, alo_fortunes_kind kind, uint32_t tasks,
                        uint64_t count, alo_fortunes_contestant *to, alo_reason *why) {
  static char output[OUTPUT_MAX];
  char server[32];
  number task_words = number_of(tasks), count_words = number_of(count);
  snprintf(server, sizeof server, "127.0.0.1:%s", world->port);
  const char *const ours[] = {
      world->client,   "count",          kind == ALO_FORTUNES_OURS ? "async" : "async-caching",
      task_words.text, count_words.text, NULL};
  const char *const dblib[] = {world->dblib, server, task_words.text, count_words.text, NULL};
  const char *const floor[] = {world->floor,    world->port, "4096", "fortune",
                               task_words.text, "1",         NULL};
  const char *const *argv = kind == ALO_FORTUNES_DBLIB   ? dblib
                            : kind == ALO_FORTUNES_FLOOR ? floor
                                                         : ours;
  if (!alo_program_output(argv, output, sizeof output, why))
    return false;
  if (!(kind == ALO_FORTUNES_FLOOR ? read_floor(output, to) : read_round(output, to)))
    return wrong_figures(to->name, why);
  if (kind == ALO_FORTUNES_FLOOR)
    to->threads = tasks;
  to->rounds++;
  return true;
}

/* ---- counting ---- */

/* Of a run that counts. Heap calls: so many that whatever happens now and then, as two blocks being
 * received into at a time, has happened in the shorter run already. */
enum { COUNTED_LEAST = 6000 };

static uint64_t counted_queries(uint32_t tasks) {
  uint64_t rounds = (COUNTED_LEAST + tasks - 1) / tasks;
  return (uint64_t)tasks * rounds;
}

typedef struct counted_run {
  const char *words[WORDS_MAX];
  size_t count;
  number tasks, queries;
  char preload[ALO_PROGRAM_PATH_MAX + 16];
} counted_run;

static void add(counted_run *run, const char *word) {
  run->words[run->count++] = word;
  run->words[run->count] = NULL;
}

static void add_client(counted_run *run, const alo_fortunes_world *world, int variation,
                       uint32_t tasks, uint64_t queries) {
  run->tasks = number_of(tasks);
  run->queries = number_of(queries);
  add(run, world->client);
  add(run, "count");
  add(run, alo_fortunes_variations[variation]);
  add(run, run->tasks.text);
  add(run, run->queries.text);
}

/* The number of that place in the line after the client's own, 0 the first. */
static bool read_report(const char *output, size_t first, size_t last, double *sum) {
  const char *at = strchr(output, '\n');
  *sum = 0;
  for (size_t i = 0; at != NULL && i <= last; i++) {
    char *end;
    errno = 0;
    double is = strtod(at, &end);
    if (errno != 0 || end == at)
      return false;
    *sum += i >= first ? is : 0;
    at = end;
  }
  return at != NULL;
}

/* "PID allocations resizes releases bytes mappings" */
static bool run_heap(const alo_fortunes_world *world, int variation, uint32_t tasks,
                     uint64_t queries, double *calls, alo_reason *why) {
  counted_run run = {.count = 0};
  char output[OUTPUT_MAX];
  double before_bytes = 0, bytes = 0, mappings = 0;
  snprintf(run.preload, sizeof run.preload, "LD_PRELOAD=%s", world->heap);
  add(&run, "/usr/bin/env");
  add(&run, run.preload);
  add(&run, "ALOFT_HEAP_REPORT=/dev/stdout");
  add_client(&run, world, variation, tasks, queries);
  if (!alo_program_output(run.words, output, sizeof output, why))
    return false;
  if (!read_report(output, 1, 3, &before_bytes) || !read_report(output, 4, 4, &bytes) ||
      !read_report(output, 5, 5, &mappings))
    return wrong_figures("the counter of heap calls", why);
  *calls = before_bytes + mappings;
  return true;
}

bool alo_fortunes_heap_calls(const alo_fortunes_world *world, int variation, uint32_t tasks,
                             double *calls, alo_reason *why) {
  const uint64_t queries = counted_queries(tasks);
  const double strings = 2 * ALO_FORTUNES; /* each is allocated and freed */
  double few, many;
  if (world->heap[0] == '\0') {
    *why = world->no_heap;
    return false;
  }
  if (!run_heap(world, variation, tasks, queries, &few, why) ||
      !run_heap(world, variation, tasks, 2 * queries, &many, why))
    return false;
  *calls = (many - few) / (double)queries - strings;
  return true;
}

bool alo_fortunes_count_encrypted(const alo_fortunes_world *world, int variation, uint32_t tasks,
                                  alo_fortunes_encrypted *to, alo_reason *why) {
  static char output[OUTPUT_MAX];
  counted_run run = {.count = 0};
  alo_client_report of;
  add_client(&run, world, variation, tasks, counted_queries(tasks));
  if (!alo_program_output(run.words, output, sizeof output, why))
    return false;
  if (!alo_client_report_read(output, &of) || isnan(of.records))
    return wrong_figures(alo_fortunes_variations[variation], why);
  *to = (alo_fortunes_encrypted){.heap_calls = NAN,
                                 .own_heap_calls = of.own_heap_calls,
                                 .records = of.records,
                                 .copied = of.copied};
  return world->heap[0] == '\0' ||
         alo_fortunes_heap_calls(world, variation, tasks, &to->heap_calls, why);
}
