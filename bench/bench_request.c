/* aloft bench request */
#include "benchmark.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bars.h"
#include "counted.h"
#include "report.h"
#include "request_contestant.h"

enum { ROUNDS = 5, COUNT = 100000, SIZE = 16, SIZE_LIMIT = 65536, NOTE_MAX = 2560 };

typedef struct request_values {
  alo_secret server;
  int64_t count, size;
  bool tls;
} request_values;

#define AT(member) offsetof(request_values, member)

static const alo_option request_options[] = {
    {.name = "server",
     .letter = 's',
     .kind = ALO_OPTION_URL,
     .value = "URL",
     .help = "Use this server, nats://HOST:PORT. By default a nats-server of its own is started.",
     .offset = AT(server)},
    {.name = "tls",
     .kind = ALO_OPTION_FLAG,
     .help = "Over TLS, with a certificate made at start. Also tells the library's own heap calls "
             "(Heap counts OpenSSL's too), the records sent in a turn and the bytes copied.",
     .offset = AT(tls)},
    {.name = "count",
     .kind = ALO_OPTION_NUMBER,
     .value = "N",
     .help = "Requests in a round of the fastest; by default 100,000. Slower ones do fewer.",
     .offset = AT(count),
     .min = 1,
     .max = 100000000},
    {.name = "size",
     .kind = ALO_OPTION_NUMBER,
     .value = "BYTES",
     .help = "Data of a request and of its reply; by default 16.",
     .offset = AT(size),
     .min = 1,
     .max = SIZE_LIMIT},
};

static const char request_notes[] =
    "Each contestant runs in a process of its own, against one server and one responder; they take "
    "turns, round after round. libnats takes part when the Debian package libnats-dev was there at "
    "the build, the bare loop when ALOFT_FLOORS names the folder of its nats_floor.c.";

/* ---- contestants ---- */

enum {
  OURS_1,
  OURS_64,
  OURS_1024,
  BY_HAND_1,
  BY_HAND_64,
  BY_HAND_1024,
  PIPELINED_64,
  PIPELINED_1024,
  SYNCHRONOUS_64,
  FLOOR_64,
  FLOOR_1024,
  CONTESTANTS
};

/* Not in the table: what 1,000,000 in flight cost, beside 1,000. */
static alo_request_contestant few = {.name = "aloft request",
                                     .kind = ALO_REQUEST_OURS,
                                     .inflight = 1000,
                                     .share = 1000,
                                     .counted_max = 1000,
                                     .callgrind_max = 50000};
static alo_request_contestant million = {.name = "aloft request",
                                         .kind = ALO_REQUEST_OURS,
                                         .inflight = 1000000,
                                         .share = 1000,
                                         .counted_max = 1000000,
                                         .callgrind_max = 1000000};

#define OURS      .name = "aloft request", .kind = ALO_REQUEST_OURS
#define BY_HAND   .name = "aloft by hand", .kind = ALO_REQUEST_BY_HAND
#define PIPELINED .name = "libnats pipelined", .kind = ALO_REQUEST_PIPELINED
#define FLOOR     .name = "bare loop", .kind = ALO_REQUEST_FLOOR

static const alo_request_contestant contestants[CONTESTANTS] = {
    [OURS_1] = {OURS, .inflight = 1, .share = 40, .counted_max = 4000, .callgrind_max = 4000},
    [OURS_64] = {OURS, .inflight = 64, .share = 500, .counted_max = 25600, .callgrind_max = 25600},
    [OURS_1024] = {OURS, .inflight = 1024, .share = 1000, .counted_max = 102400,
                   .callgrind_max = 51200},
    [BY_HAND_1] = {BY_HAND, .inflight = 1, .share = 40, .counted_max = 4000, .callgrind_max = 4000},
    [BY_HAND_64] = {BY_HAND, .inflight = 64, .share = 500, .counted_max = 25600,
                    .callgrind_max = 25600},
    [BY_HAND_1024] = {BY_HAND, .inflight = 1024, .share = 1000, .counted_max = 102400,
                      .callgrind_max = 51200},
    [PIPELINED_64] = {PIPELINED, .inflight = 64, .share = 300, .counted_max = 30000,
                      .callgrind_max = 5000},
    [PIPELINED_1024] = {PIPELINED, .inflight = 1024, .share = 1000, .counted_max = 102400,
                        .callgrind_max = 10240},
    [SYNCHRONOUS_64] = {.name = "libnats synchronous",
                        .kind = ALO_REQUEST_SYNCHRONOUS,
                        .inflight = 64,
                        .share = 150,
                        .counted_max = 2000},
    [FLOOR_64] = {FLOOR, .inflight = 64, .share = 500, .counted_max = 25600,
                  .callgrind_max = 25600},
    [FLOOR_1024] = {FLOOR, .inflight = 1024, .share = 1000, .counted_max = 102400,
                    .callgrind_max = 51200},
};

typedef struct comparison {
  alo_bench_settings settings;
  request_values values;
  alo_request_world world;
  alo_request_contestant contestants[CONTESTANTS];
} comparison;

static bool missing(const comparison *self, int which) {
  return alo_request_missing(&self->world, self->contestants[which].kind) != NULL;
}

/* Each round begins with the next one, so that none is always behind the same other. */
static bool measure(comparison *self, alo_reason *why) {
  for (int64_t round = 0; round < self->settings.rounds; round++) {
    alo_note("round %lld of %lld", (long long)round + 1, (long long)self->settings.rounds);
    for (int i = 0; i < CONTESTANTS; i++) {
      int which = (int)((i + round) % CONTESTANTS);
      if (!missing(self, which) &&
          !alo_request_measure(&self->world, &self->contestants[which],
                               (uint64_t)self->values.count, (uint64_t)self->values.size, why))
        return false;
    }
  }
  return true;
}

static void count(comparison *self) {
  for (int i = 0; i < CONTESTANTS; i++) {
    if (missing(self, i))
      continue;
    alo_note("counting %s, %u in flight", self->contestants[i].name, self->contestants[i].inflight);
    alo_request_count(&self->world, &self->contestants[i], (uint64_t)self->values.count,
                      (uint64_t)self->values.size, false);
  }
}

static double median(const double *samples, size_t rounds) {
  return alo_statistics_of(samples, rounds).median;
}

/* ---- tables ---- */

static const alo_column columns[] = {
    {"Method", ALO_COLUMN_TEXT},      {"In flight", ALO_COLUMN_COUNT},
    {"Per second", ALO_COLUMN_COUNT}, {"p50", ALO_COLUMN_TIME},
    {"p99", ALO_COLUMN_TIME},         {"p99.9", ALO_COLUMN_TIME},
    {"CPU/1M", ALO_COLUMN_TIME},      {"Syscalls/1k", ALO_COLUMN_COUNT},
    {"Heap/1k", ALO_COLUMN_COUNT},    {"Instructions", ALO_COLUMN_COUNT},
    {"Threads", ALO_COLUMN_COUNT},    {"Own heap/1k", ALO_COLUMN_COUNT},
    {"Records", ALO_COLUMN_COUNT},    {"Copied", ALO_COLUMN_COUNT},
};
enum { COLUMNS = sizeof columns / sizeof columns[0], COLUMNS_OF_TLS = 3 };

static alo_cell counted_cell(double figure, double scale) {
  return (alo_cell){.number = figure * scale, .present = isfinite(figure)};
}

static void add_row(alo_table *table, const alo_request_contestant *of, bool tls) {
  alo_cell *row = alo_table_add(table);
  if (row == NULL)
    return;
  *row++ = ALO_CELL_TEXT(of->name);
  *row++ = ALO_CELL_NUMBER(of->inflight);
  *row++ = ALO_CELL_NUMBER(round(median(of->rate, of->rounds)));
  *row++ = ALO_CELL_NUMBER(median(of->p50_us, of->rounds) * 1e3);
  *row++ = ALO_CELL_NUMBER(median(of->p99_us, of->rounds) * 1e3);
  *row++ = ALO_CELL_NUMBER(median(of->p999_us, of->rounds) * 1e3);
  *row++ = ALO_CELL_NUMBER(median(of->cpu_us, of->rounds) * 1e9);
  *row++ = counted_cell(of->system_calls, 1e3);
  *row++ = counted_cell(of->heap_calls, 1e3);
  *row++ = counted_cell(of->instructions, 1);
  *row++ = ALO_CELL_NUMBER(of->threads);
  if (!tls)
    return;
  *row++ = counted_cell(of->own_heap_calls, 1e3);
  *row++ = counted_cell(of->records_per_turn, 1);
  *row++ = counted_cell(of->copied, 1);
}

static void add_note(char note[NOTE_MAX], const char *what, const char *why) {
  size_t size = strlen(note);
  if (why[0] != '\0')
    snprintf(note + size, NOTE_MAX - size, "\n%s: %s.", what, why);
}

static void write_notes(const comparison *self, char note[NOTE_MAX]) {
  snprintf(
      note, NOTE_MAX,
      "Medians of %lld rounds. CPU/1M: CPU time of the client's process for a million requests.\n"
      "Syscalls/1k and Heap/1k: its system and heap calls for a thousand. Instructions: in "
      "user space,\nfor one, by callgrind. All three are the difference of two runs, so that "
      "its start falls out; - when chance\noutweighs it. To be counted it is stopped at each "
      "system call, which changes the "
      "timing: reads take in more\nat once, and threads wait for each other more often.",
      (long long)self->settings.rounds);
  if (self->values.tls)
    add_note(note, "Over TLS",
             "Own heap/1k is the library's share of Heap/1k, the rest is OpenSSL's; Records are\n"
             "those sent in a turn of the loop; Copied are bytes that are moved because of TLS, "
             "for a request");
  const alo_request_contestant *ours = &self->contestants[OURS_1024];
  add_note(note, "libnats is left out", self->world.no_libnats.text);
  add_note(note, "The bare loop is left out", self->world.no_floor.text);
  add_note(note, "No system calls", ours->no_system_calls.text);
  add_note(note, "No heap calls", ours->no_heap_calls.text);
  add_note(note, "No instructions", ours->no_instructions.text);
}

static alo_exit print_table(const comparison *self) {
  char caption[128], note[NOTE_MAX];
  alo_table table = {.caption = caption,
                     .note = note,
                     .columns = columns,
                     .column_count = self->values.tls ? COLUMNS : COLUMNS - COLUMNS_OF_TLS};
  const alo_table *tables[] = {&table};
  snprintf(caption, sizeof caption, "NATS request and reply%s, %lld bytes each way",
           self->values.tls ? " over TLS" : "", (long long)self->values.size);
  write_notes(self, note);
  for (int i = 0; i < CONTESTANTS; i++) {
    if (!missing(self, i))
      add_row(&table, &self->contestants[i], self->values.tls);
  }
  return alo_tables_print(tables, 1, self->settings.format, stdout) ? ALO_EXIT_OK : ALO_EXIT_LOCAL;
}

/* ---- bars ---- */

static void counted_bar(alo_bars *bars, const char *name, double figure, const alo_reason *why,
                        alo_bound bound, double limit) {
  if (isfinite(figure))
    alo_bar(bars, name, figure, bound, limit);
  else
    alo_bar_error(bars, name, why->text);
}

/* How many times as much CPU time the other needs. */
static void cpu_bar(alo_bars *bars, const comparison *self, const char *name, int other, int ours,
                    double limit) {
  const char *why = alo_request_missing(&self->world, self->contestants[other].kind);
  if (why != NULL) {
    alo_bar_skip(bars, name, why);
    return;
  }
  const alo_request_contestant *theirs = &self->contestants[other];
  alo_statistics ratio =
      alo_statistics_of_ratio(theirs->cpu_us, self->contestants[ours].cpu_us, theirs->rounds);
  alo_bar(bars, name, ratio.median, ALO_AT_LEAST, limit);
}

static void system_call_bar(alo_bars *bars, const comparison *self, const char *name, int ours,
                            int floor) {
  const alo_request_contestant *mine = &self->contestants[ours], *bare = &self->contestants[floor];
  const char *why = alo_request_missing(&self->world, ALO_REQUEST_FLOOR);
  if (why != NULL)
    alo_bar_skip(bars, name, why);
  else
    counted_bar(bars, name, mine->system_calls / bare->system_calls, &mine->no_system_calls,
                ALO_AT_MOST, 2);
}

static void by_hand_bar(alo_bars *bars, const comparison *self, const char *name, int by_hand,
                        int ours) {
  const alo_request_contestant *mine = &self->contestants[ours];
  counted_bar(bars, name, self->contestants[by_hand].instructions / mine->instructions,
              &mine->no_instructions, ALO_AT_LEAST, 1);
}

/* Both with a scripted peer: so many requests wait nowhere else. */
static void million_bar(alo_bars *bars, const comparison *self) {
  const uint64_t count = (uint64_t)self->values.count, size = (uint64_t)self->values.size;
  alo_request_count_instructions(&self->world, &few, count, size);
  alo_request_count_instructions(&self->world, &million, count, size);
  const alo_reason *why =
      isfinite(few.instructions) ? &million.no_instructions : &few.no_instructions;
  counted_bar(bars, "1,000,000 on one connection: instructions / 1,000's",
              million.instructions / few.instructions, why, ALO_AT_MOST, 1.02);
}

static alo_exit check(const comparison *self) {
  alo_bars bars = {.file = NULL};
  const alo_request_contestant *ours = &self->contestants[OURS_1024];
  const alo_request_contestant *ours_64 = &self->contestants[OURS_64];
  counted_bar(&bars, "heap calls a request, 1,024 in flight", ours->heap_calls,
              &ours->no_heap_calls, ALO_AT_MOST, 0);
  counted_bar(&bars, "heap calls a request, 64 in flight", ours_64->heap_calls,
              &ours_64->no_heap_calls, ALO_AT_MOST, 0);
  counted_bar(&bars, "instructions a request, 1,024 in flight", ours->instructions,
              &ours->no_instructions, ALO_AT_MOST, 800);
  system_call_bar(&bars, self, "system calls to the bare loop's, 1,024 in flight", OURS_1024,
                  FLOOR_1024);
  system_call_bar(&bars, self, "system calls to the bare loop's, 64 in flight", OURS_64, FLOOR_64);
  cpu_bar(&bars, self, "CPU of libnats pipelined to ours, 1,024 in flight", PIPELINED_1024,
          OURS_1024, 4);
  cpu_bar(&bars, self, "CPU of libnats on 64 threads to ours, 64 in flight", SYNCHRONOUS_64,
          OURS_64, 20);
  by_hand_bar(&bars, self, "instructions by hand to ours, 1,024 in flight", BY_HAND_1024,
              OURS_1024);
  by_hand_bar(&bars, self, "instructions by hand to ours, 64 in flight", BY_HAND_64, OURS_64);
  million_bar(&bars, self);
  return alo_bars_finish(&bars);
}

/* ---- counted figures ---- */

/* Against a scripted peer, so that they are the same in each run. System calls only where a round
 * comes in one piece: larger ones arrive as TCP cuts them. */
static bool count_case(comparison *self, int which, const char *name, bool system_calls,
                       alo_counted *counted) {
  alo_request_contestant *of = &self->contestants[which];
  alo_request_count(&self->world, of, (uint64_t)self->values.count, (uint64_t)self->values.size,
                    true);
  const bool complete = isfinite(of->system_calls + of->heap_calls + of->instructions);
  if (!complete)
    alo_report("%s: %s%s%s", name, of->no_system_calls.text, of->no_heap_calls.text,
               of->no_instructions.text);
  return complete && alo_counted_add(counted, name, "instructions", of->instructions) &&
         alo_counted_add(counted, name, "heap_calls", of->heap_calls) &&
         (!system_calls || alo_counted_add(counted, name, "system_calls", of->system_calls));
}

static alo_exit print_counted(comparison *self) {
  alo_counted now = {.count = 0};
  snprintf(self->world.subject, sizeof self->world.subject, "req");
  if (!count_case(self, OURS_1, "request_1", true, &now) ||
      !count_case(self, OURS_64, "request_64", true, &now) ||
      !count_case(self, OURS_1024, "request_1024", false, &now) ||
      !count_case(self, BY_HAND_1024, "by_hand_1024", false, &now))
    return ALO_EXIT_LOCAL;
  return alo_counted_finish(&now, &self->settings);
}

/* ---- the benchmark ---- */

static alo_exit compare(comparison *self) {
  alo_reason why;
  const char *url = self->values.server.data;
  self->world.tls = self->values.tls;
  bool good = alo_request_open(&self->world, url, &why) && measure(self, &why);
  if (good)
    count(self);
  alo_request_close(&self->world);
  if (!good) {
    alo_report("%s", why.text);
    return ALO_EXIT_CONNECTION;
  }
  return self->settings.check ? check(self) : print_table(self);
}

static alo_exit prepare(comparison *self, int argc, char **argv, bool *done) {
  alo_option_group group = {.title = "Requests",
                            .options = request_options,
                            .count = sizeof request_options / sizeof request_options[0],
                            .values = &self->values};
  alo_exit code = alo_bench_read(&self->settings, &group, "aloft bench request [OPTION...]",
                                 "NATS request and reply, beside other ways to do it.",
                                 request_notes, argc, argv, done);
  if (code != ALO_EXIT_OK || *done)
    return code;
  if (self->settings.iteration_ns != 0)
    return alo_report_usage("a round is sized by --count here, not by --iteration");
  if (self->values.tls && self->values.server.data != NULL)
    return alo_report_usage(
        "--tls is for a server started here: for yours give -s tls://HOST:PORT, "
        "and NATS_CA");
  if (self->values.tls &&
      (self->settings.check || self->settings.counted || self->settings.baseline != NULL))
    return alo_report_usage("the bars and counted figures are of connections in clear: leave --tls "
                            "out");
  if (self->settings.rounds == 0)
    self->settings.rounds = ROUNDS;
  return ALO_EXIT_OK;
}

static int run(int argc, char **argv) {
  static comparison self = {.values = {.count = COUNT, .size = SIZE}};
  bool done = false;
  alo_reason why;
  memcpy(self.contestants, contestants, sizeof contestants);
  alo_exit code = prepare(&self, argc, argv, &done);
  if (code == ALO_EXIT_OK && !done) {
    if (!alo_request_find(&self.world, &why)) {
      alo_report("%s", why.text);
      code = ALO_EXIT_LOCAL;
    } else {
      code =
          self.settings.counted || self.settings.baseline ? print_counted(&self) : compare(&self);
    }
  }
  alo_secret_wipe(&self.values.server);
  return (int)code;
}

const alo_benchmark alo_bench_request = {
    .name = "request",
    .summary = "NATS request and reply, beside other ways to do it",
    .run = run,
};
