#include "request_contestant.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <aloft/json.h>

enum { WORDS_MAX = 16, OUTPUT_MAX = 4096, NUMBER_MAX = 24 };

const char *alo_request_missing(const alo_request_world *world, alo_request_kind kind) {
  switch (kind) {
  case ALO_REQUEST_PIPELINED:
  case ALO_REQUEST_SYNCHRONOUS:
    return world->libnats[0] != '\0' ? NULL : world->no_libnats.text;
  case ALO_REQUEST_FLOOR:
    return world->floor[0] != '\0' ? NULL : world->no_floor.text;
  case ALO_REQUEST_OURS:
  case ALO_REQUEST_BY_HAND:
    break;
  }
  return NULL;
}

/* ---- command lines ---- */

typedef struct command {
  const char *words[WORDS_MAX];
  size_t count;
  char inflight[NUMBER_MAX], requests[NUMBER_MAX], size[NUMBER_MAX];
  char preload[ALO_PROGRAM_PATH_MAX + 16];
} command;

static void add(command *line, const char *word) {
  line->words[line->count++] = word;
  line->words[line->count] = NULL;
}

/* The counters' own reports follow what the program prints. */
static void add_counters(command *line, const alo_request_world *world) {
  add(line, world->syscalls);
  add(line, "/dev/stdout");
  if (world->heap[0] == '\0')
    return;
  snprintf(line->preload, sizeof line->preload, "LD_PRELOAD=%s", world->heap);
  add(line, "/usr/bin/env");
  add(line, line->preload);
  add(line, "ALOFT_HEAP_REPORT=/dev/stdout");
}

static void add_program(command *line, const alo_request_world *world,
                        const alo_request_contestant *contestant, uint64_t requests,
                        uint64_t size) {
  static const char *const modes[] = {[ALO_REQUEST_OURS] = "request",
                                      [ALO_REQUEST_BY_HAND] = "by-hand",
                                      [ALO_REQUEST_PIPELINED] = "pipelined",
                                      [ALO_REQUEST_SYNCHRONOUS] = "synchronous",
                                      [ALO_REQUEST_FLOOR] = "reqasync"};
  const alo_request_kind kind = contestant->kind;
  const bool floor = kind == ALO_REQUEST_FLOOR;
  const bool libnats = kind == ALO_REQUEST_PIPELINED || kind == ALO_REQUEST_SYNCHRONOUS;
  snprintf(line->inflight, sizeof line->inflight, "%" PRIu32, contestant->inflight);
  snprintf(line->requests, sizeof line->requests, "%" PRIu64, requests);
  snprintf(line->size, sizeof line->size, "%" PRIu64, size);
  add(line, floor ? world->floor : libnats ? world->libnats : world->client);
  add(line, modes[kind]);
  if (!floor)
    add(line, world->subject);
  add(line, line->inflight);
  add(line, line->requests);
  add(line, line->size);
}

/* ---- a round ---- */

static bool read_number(aloft_json *json, double *number) {
  return aloft_json_next(json) == ALOFT_JSON_NUMBER && aloft_json_double(json, number) == ALOFT_OK;
}

/* One line of JSON, as all of these programs print it: an object of numbers and texts. */
static bool read_figures(const char *output, alo_request_contestant *to) {
  const struct {
    const char *name;
    double *number;
  } wanted[] = {
      {"rate", &to->rate[to->rounds]},
      {"cpu_s_per_M", &to->cpu_us[to->rounds]},
      {"p50_us", &to->p50_us[to->rounds]},
      {"p99_us", &to->p99_us[to->rounds]},
      {"threads", &to->threads},
      {"p999_us", &to->p999_us[to->rounds]},
      {"own_heap_calls", &to->own_heap_calls},
      {"records", &to->records_per_turn},
      {"copied", &to->copied},
  };
  enum { WANTED = sizeof wanted / sizeof wanted[0], ONLY_OVER_TLS = 3 };
  aloft_json json;
  size_t found = 0;
  to->own_heap_calls = to->records_per_turn = to->copied = NAN;
  aloft_json_init(&json, (aloft_text){output, strcspn(output, "\n")});
  while (aloft_json_next(&json) != ALOFT_JSON_END) {
    if (json.kind == ALOFT_JSON_ERROR)
      return false;
    for (size_t i = 0; i < WANTED && json.kind == ALOFT_JSON_NAME; i++) {
      if (!aloft_json_is(&json, aloft_text_of(wanted[i].name)))
        continue;
      if (!read_number(&json, wanted[i].number))
        return false;
      found++;
    }
  }
  return found == WANTED || found == WANTED - ONLY_OVER_TLS;
}

static uint64_t requests_of(const alo_request_contestant *contestant, uint64_t count) {
  uint64_t requests = count * contestant->share / 1000;
  return requests > 0 ? requests : 1;
}

bool alo_request_measure(const alo_request_world *world, alo_request_contestant *contestant,
                         uint64_t count, uint64_t size, alo_reason *why) {
  command line = {.count = 0};
  char output[OUTPUT_MAX];
  alo_reason said;
  add_program(&line, world, contestant, requests_of(contestant, count), size);
  bool good = alo_program_output(line.words, output, sizeof output, &said);
  if (!good || !read_figures(output, contestant)) {
    snprintf(why->text, sizeof why->text, "%s, %" PRIu32 " in flight: %.300s", contestant->name,
             contestant->inflight, good ? "its figures are not as expected" : said.text);
    return false;
  }
  contestant->rounds++;
  return true;
}

/* ---- counting ---- */

typedef struct counts {
  uint64_t system_calls, heap_calls;
} counts;

/* The next number, after blanks. */
static bool next_number(const char **at, uint64_t *number) {
  char *end;
  errno = 0;
  *number = strtoumax(*at, &end, 10);
  bool good = errno == 0 && end != *at;
  *at = end;
  return good;
}

/* "PID allocations resizes releases bytes mappings" */
static bool read_heap_calls(const char *line, uint64_t *calls) {
  uint64_t numbers[6];
  for (size_t i = 0; i < 6; i++) {
    if (!next_number(&line, &numbers[i]))
      return false;
  }
  *calls = numbers[1] + numbers[2] + numbers[5];
  return true;
}

/* After the program's own line: that of the heap's counter, then that of the system calls'. */
static bool read_counts(const char *output, bool heap, counts *of) {
  const char *at = strchr(output, '\n');
  if (at != NULL && heap) {
    if (!read_heap_calls(++at, &of->heap_calls))
      return false;
    at = strchr(at, '\n');
  }
  return at != NULL && next_number(&at, &of->system_calls);
}

/* `instructions` or `calls` is what is wanted, the other NULL. */
static bool run_counted(const alo_request_world *world, const alo_request_contestant *contestant,
                        uint64_t requests, uint64_t size, bool peer, uint64_t *instructions,
                        counts *calls, alo_reason *why) {
  command line = {.count = 0};
  alo_process other = {.log = -1};
  char output[OUTPUT_MAX];
  if (peer && !alo_request_open_peer(world, contestant->inflight, &other, why)) {
    alo_process_stop(&other);
    return false;
  }
  if (calls != NULL)
    add_counters(&line, world);
  add_program(&line, world, contestant, requests, size);
  bool good = instructions != NULL ? alo_count_program(line.words, instructions, why)
                                   : alo_program_output(line.words, output, sizeof output, why);
  alo_process_stop(&other);
  if (!good || instructions != NULL)
    return good;
  if (read_counts(output, world->heap[0] != '\0', calls))
    return true;
  snprintf(why->text, sizeof why->text, "the counters' reports are not as expected");
  return false;
}

/* Whole rounds of those in flight. */
static uint64_t counted_requests(const alo_request_contestant *contestant, uint64_t count,
                                 uint64_t max) {
  uint64_t wanted = requests_of(contestant, count), inflight = contestant->inflight;
  if (wanted > max)
    wanted = max;
  return (wanted + inflight - 1) / inflight * inflight;
}

/* NAN: what happens by chance outweighs what the requests cost, so that there is no figure. */
static double difference(uint64_t few, uint64_t many, uint64_t requests) {
  return many >= few ? (double)(many - few) / (double)requests : NAN;
}

static void count_calls(const alo_request_world *world, alo_request_contestant *contestant,
                        uint64_t requests, uint64_t size, bool peer) {
  counts few = {0}, many = {0};
  alo_reason why;
  contestant->system_calls = contestant->heap_calls = NAN;
  contestant->no_heap_calls = world->no_heap;
  if (!run_counted(world, contestant, requests, size, peer, NULL, &few, &why) ||
      !run_counted(world, contestant, 2 * requests, size, peer, NULL, &many, &why)) {
    contestant->no_system_calls = contestant->no_heap_calls = why;
    return;
  }
  contestant->system_calls = difference(few.system_calls, many.system_calls, requests);
  if (world->heap[0] != '\0')
    contestant->heap_calls = difference(few.heap_calls, many.heap_calls, requests);
}

static void count_instructions(const alo_request_world *world, alo_request_contestant *contestant,
                               uint64_t requests, uint64_t size, bool peer) {
  uint64_t few, many;
  alo_reason *why = &contestant->no_instructions;
  contestant->instructions = NAN;
  if (run_counted(world, contestant, requests, size, peer, &few, NULL, why) &&
      run_counted(world, contestant, 2 * requests, size, peer, &many, NULL, why))
    contestant->instructions = difference(few, many, requests);
}

void alo_request_count_instructions(const alo_request_world *world,
                                    alo_request_contestant *contestant, uint64_t count,
                                    uint64_t size) {
  count_instructions(world, contestant,
                     counted_requests(contestant, count, contestant->callgrind_max), size, true);
}

void alo_request_count(const alo_request_world *world, alo_request_contestant *contestant,
                       uint64_t count, uint64_t size, bool peer) {
  count_calls(world, contestant, counted_requests(contestant, count, contestant->counted_max), size,
              peer);
  if (contestant->callgrind_max > 0) {
    count_instructions(world, contestant,
                       counted_requests(contestant, count, contestant->callgrind_max), size, peer);
    return;
  }
  contestant->instructions = NAN;
  snprintf(contestant->no_instructions.text, sizeof contestant->no_instructions.text,
           "not counted: too many threads");
}
