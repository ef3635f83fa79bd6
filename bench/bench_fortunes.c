/* aloft bench fortunes */
#include "benchmark.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fortunes_bars.h"
#include "fortunes_contestant.h"
#include "fortunes_costs.h"
#include "fortunes_pictures.h"
#include "interrupt.h"
#include "report.h"

enum { TASKS = 64, TASKS_MAX = 1024, ROUNDS = 5, NOTE_MAX = 1536, NAME_MAX_SIZE = 48 };

static const uint64_t WARM_UP_NS = UINT64_C(3000000000), DURATION_NS = UINT64_C(10000000000),
                      SAMPLE_NS = UINT64_C(200000000), SAMPLE_MIN_NS = 1000000,
                      DURATION_MAX_NS = UINT64_C(3600000000000);

typedef struct fortunes_values {
  alo_secret server;
  const char *variation, *design, *svg;
  bool canned, tls;
  int64_t tasks;
  uint64_t warm_up_ns, duration_ns, sample_ns;
} fortunes_values;

#define AT(member) offsetof(fortunes_values, member)

static const alo_option fortunes_options[] = {
    {.name = "server",
     .letter = 's',
     .kind = ALO_OPTION_SECRET,
     .value = "CONNECTION",
     .help = "Use this server, by its connection string: \"Server=HOST,PORT;User ID=...\". The "
             "table fortune is created, and dropped in the end, if it is not there. By default an "
             "aloft lite of its own is started.",
     .offset = AT(server)},
    {.name = "canned",
     .kind = ALO_OPTION_FLAG,
     .help = "Use a responder that says the recorded answer to every query, so that only the "
             "client's cost is seen; then db-lib and the bare loop take part too.",
     .offset = AT(canned)},
    {.name = "tls",
     .kind = ALO_OPTION_FLAG,
     .help = "Encrypt all traffic with the aloft lite that is started; its certificate is trusted "
             "by file. Also tells heap calls, records sent and bytes copied for a query.",
     .offset = AT(tls)},
    {.name = "variation",
     .kind = ALO_OPTION_TEXT,
     .value = "NAME",
     .help = "sync, sync-caching, async or async-caching; by default all of them.",
     .offset = AT(variation)},
    {.name = "tasks",
     .kind = ALO_OPTION_NUMBER,
     .value = "N",
     .help = "Executions at the same time; by default 64.",
     .offset = AT(tasks),
     .min = 1,
     .max = TASKS_MAX},
    {.name = "warm-up",
     .kind = ALO_OPTION_DURATION,
     .value = "DURATION",
     .help = "Before the counter is reset; by default 3s.",
     .offset = AT(warm_up_ns)},
    {.name = "duration",
     .kind = ALO_OPTION_DURATION,
     .value = "DURATION",
     .help = "What is measured; by default 10s.",
     .offset = AT(duration_ns)},
    {.name = "sample",
     .kind = ALO_OPTION_DURATION,
     .value = "DURATION",
     .help = "A sample; by default 200ms. At most 256 of them.",
     .offset = AT(sample_ns)},
    {.name = "design",
     .kind = ALO_OPTION_TEXT,
     .value = "DESIGN",
     .help = "In place of all that, in memory: the reader as it is (current), the design that it "
             "replaces (baseline), or both.",
     .offset = AT(design)},
    {.name = "svg",
     .kind = ALO_OPTION_TEXT,
     .value = "FILE",
     .help = "With --design: draw the bars into FILE as well.",
     .offset = AT(svg)},
};

static const char fortunes_notes[] =
    "A line for each variation: driver+variation+tasks | variation | tasks | TPS | standard "
    "deviation of the samples without the best and the worst. Every execution has to give the 12 "
    "rows with their texts, or the run fails. sync blocks on a thread for each task, async has all "
    "of them on one; caching keeps a connection and a query for each task, otherwise each "
    "execution takes a connection from a pool. db-lib takes part when the Debian package "
    "freetds-dev was there at the build, the bare loop when ALOFT_FLOORS names the folder of its "
    "tds_floor.c.";

typedef struct fortunes {
  alo_bench_settings settings;
  fortunes_values values;
  alo_fortunes_world world;
  alo_fortunes_plan plan;
  bool variations[ALO_FORTUNES_VARIATIONS];
  bool designs[ALO_DESIGNS];
  alo_fortunes_throughput throughput[ALO_FORTUNES_VARIATIONS];
  alo_fortunes_encrypted encrypted[ALO_FORTUNES_VARIATIONS];
  alo_fortunes_turns turns;
} fortunes;

/* ---- the command line ---- */

static alo_exit read_variation(fortunes *self) {
  const char *word = self->values.variation;
  bool found = false;
  for (int i = 0; i < ALO_FORTUNES_VARIATIONS; i++) {
    self->variations[i] = !word || strcmp(word, alo_fortunes_variations[i]) == 0;
    found = found || self->variations[i];
  }
  return found ? ALO_EXIT_OK
               : alo_report_usage("--variation wants sync, sync-caching, async or async-caching, "
                                  "not '%s'",
                                  word);
}

static alo_exit read_design(fortunes *self) {
  const char *word = self->values.design;
  if (self->values.svg && !word)
    return alo_report_usage("--svg draws designs: give --design both");
  if (!word)
    return ALO_EXIT_OK;
  bool found = false;
  for (int i = 0; i < ALO_DESIGNS; i++) {
    self->designs[i] = strcmp(word, "both") == 0 || strcmp(word, alo_design_names[i]) == 0;
    found = found || self->designs[i];
  }
  if (!found)
    return alo_report_usage("--design wants current, baseline or both, not '%s'", word);
  const alo_bench_settings *settings = &self->settings;
  if (settings->check || settings->counted || settings->baseline)
    return alo_report_usage("--design prints its own table: leave --check, --counted and "
                            "--baseline out");
  return ALO_EXIT_OK;
}

static alo_exit read_times(fortunes *self) {
  fortunes_values *values = &self->values;
  if (values->sample_ns < SAMPLE_MIN_NS)
    return alo_report_usage("--sample wants at least 1ms");
  if (values->duration_ns < values->sample_ns)
    return alo_report_usage("--duration is shorter than one --sample");
  if (values->duration_ns / values->sample_ns > ALO_SAMPLES_MAX)
    return alo_report_usage("--duration has more than %d samples: make --sample longer",
                            (int)ALO_SAMPLES_MAX);
  if (values->warm_up_ns > DURATION_MAX_NS || values->sample_ns > DURATION_MAX_NS)
    return alo_report_usage("--warm-up and --sample want at most 1h");
  self->plan = (alo_fortunes_plan){.tasks = (uint32_t)values->tasks,
                                   .warm_up_ns = values->warm_up_ns,
                                   .duration_ns = values->duration_ns,
                                   .sample_ns = values->sample_ns};
  return ALO_EXIT_OK;
}

static alo_exit read_server(const fortunes *self) {
  const fortunes_values *values = &self->values;
  if (values->server.data && (values->canned || values->tls))
    return alo_report_usage("--server names one already, with its encryption: leave --canned and "
                            "--tls out");
  if (values->canned && values->tls)
    return alo_report_usage("the responder of --canned has no TLS: leave one of them out");
  const bool compares = self->settings.check || self->settings.counted || self->settings.baseline;
  if (compares && (values->server.data || values->tls))
    return alo_report_usage("--check, --counted and --baseline have a responder of their own: "
                            "leave --server and --tls out");
  if (self->settings.iteration_ns != 0 && !values->design)
    return alo_report_usage("--iteration is for --design: here --duration and --sample tell");
  return ALO_EXIT_OK;
}

static alo_exit prepare(fortunes *self, int argc, char **argv, bool *done) {
  alo_option_group group = {.title = "Fortunes",
                            .options = fortunes_options,
                            .count = sizeof fortunes_options / sizeof fortunes_options[0],
                            .values = &self->values};
  alo_exit code = alo_bench_read(&self->settings, &group, "aloft bench fortunes [OPTION...]",
                                 "The Fortunes benchmark: a query of 12 rows, over and over.",
                                 fortunes_notes, argc, argv, done);
  if (code == ALO_EXIT_OK && !*done)
    code = read_variation(self);
  if (code == ALO_EXIT_OK && !*done)
    code = read_design(self);
  if (code == ALO_EXIT_OK && !*done)
    code = read_times(self);
  return code == ALO_EXIT_OK && !*done ? read_server(self) : code;
}

/* ---- tables ---- */

static const alo_column columns[] = {
    {"Name", ALO_COLUMN_TEXT},     {"Variation", ALO_COLUMN_TEXT}, {"Tasks", ALO_COLUMN_COUNT},
    {"TPS", ALO_COLUMN_COUNT},     {"StdDev", ALO_COLUMN_COUNT},   {"CPU/query", ALO_COLUMN_TIME},
    {"Threads", ALO_COLUMN_COUNT}, {"Heap", ALO_COLUMN_COUNT},     {"Own heap", ALO_COLUMN_COUNT},
    {"Records", ALO_COLUMN_COUNT}, {"Copied", ALO_COLUMN_COUNT},
};
enum { COLUMNS = sizeof columns / sizeof columns[0], COLUMNS_OF_TLS = 4 };

typedef struct row_name {
  char text[NAME_MAX_SIZE];
} row_name;

static bool is_asynchronous(int variation) {
  return variation == ALO_FORTUNES_ASYNC || variation == ALO_FORTUNES_ASYNC_CACHING;
}

static alo_cell counted_cell(double figure) {
  return (alo_cell){.number = figure, .present = isfinite(figure)};
}

static void add_variation(alo_table *table, const fortunes *self, int variation, row_name *name) {
  const alo_fortunes_throughput *of = &self->throughput[variation];
  snprintf(name->text, sizeof name->text, "aloft+%s+%u", alo_fortunes_variations[variation],
           (unsigned)self->plan.tasks);
  alo_cell *row = alo_table_add(table);
  if (!row)
    return;
  *row++ = ALO_CELL_TEXT(name->text);
  *row++ = ALO_CELL_TEXT(alo_fortunes_variations[variation]);
  *row++ = ALO_CELL_NUMBER(self->plan.tasks);
  *row++ = ALO_CELL_NUMBER(round(of->per_second));
  *row++ = ALO_CELL_NUMBER(round(of->deviation));
  *row++ = ALO_CELL_NUMBER(of->cpu_us * 1e3);
  *row++ = ALO_CELL_NUMBER(of->threads);
  if (!self->values.tls || !is_asynchronous(variation))
    return;
  const alo_fortunes_encrypted *encrypted = &self->encrypted[variation];
  *row++ = counted_cell(encrypted->heap_calls);
  *row++ = counted_cell(encrypted->own_heap_calls);
  *row++ = counted_cell(encrypted->records);
  *row++ = counted_cell(encrypted->copied);
}

static const alo_column turn_columns[] = {
    {"Method", ALO_COLUMN_TEXT}, {"Tasks", ALO_COLUMN_COUNT},     {"Per second", ALO_COLUMN_COUNT},
    {"CPU", ALO_COLUMN_TIME},    {"CPU ratio", ALO_COLUMN_RATIO}, {"Threads", ALO_COLUMN_COUNT},
};

static void add_turns(alo_table *table, const alo_fortunes_turns *turns) {
  const alo_fortunes_contestant *dblib = &turns->contestants[ALO_FORTUNES_DBLIB];
  for (size_t i = 0; i < ALO_FORTUNES_KINDS; i++) {
    const alo_fortunes_contestant *of = &turns->contestants[i];
    alo_cell *row = of->rounds > 0 ? alo_table_add(table) : NULL;
    if (!row)
      continue;
    *row++ = ALO_CELL_TEXT(of->name);
    *row++ = ALO_CELL_NUMBER(turns->tasks);
    *row++ = ALO_CELL_NUMBER(round(alo_statistics_of(of->rate, of->rounds).median));
    *row++ = ALO_CELL_NUMBER(alo_statistics_of(of->cpu_us, of->rounds).median * 1e3);
    if (dblib->rounds > 0)
      *row = ALO_CELL_NUMBER(alo_statistics_of_ratio(of->cpu_us, dblib->cpu_us, of->rounds).median);
    row++;
    *row++ = ALO_CELL_NUMBER(of->threads);
  }
}

/* As the published benchmark prints them. */
static void print_lines(const fortunes *self) {
  for (int i = 0; i < ALO_FORTUNES_VARIATIONS; i++) {
    const alo_fortunes_throughput *of = &self->throughput[i];
    if (self->variations[i])
      printf("aloft+%s+%" PRIu32 " | %s | %" PRIu32 " | %.0f | %.0f\n", alo_fortunes_variations[i],
             self->plan.tasks, alo_fortunes_variations[i], self->plan.tasks, of->per_second,
             of->deviation);
  }
}

static const char *server_words(const fortunes *self) {
  if (self->world.kind == ALO_FORTUNES_CANNED)
    return "against a responder with one recorded answer";
  if (self->world.kind == ALO_FORTUNES_GIVEN)
    return "against the server that --server names";
  return self->values.tls ? "against aloft lite, everything encrypted" : "against aloft lite";
}

static void write_note(const fortunes *self, char note[NOTE_MAX]) {
  const alo_fortunes_world *world = &self->world;
  size_t size = (size_t)snprintf(
      note, NOTE_MAX,
      "%zu samples, %s. CPU: of the client's process, for a query.\n"
      "Published, async, 64 tasks: 59,184 TPS (2,175) before, 69,371 (1,019) after.",
      alo_fortunes_sample_count(&self->plan), server_words(self));
  if (self->values.tls && size < NOTE_MAX)
    snprintf(
        note + size, NOTE_MAX - size,
        "\nHeap: calls of the process for a query, beyond the strings that the caller keeps; "
        "Own heap:\nthe library's share of them, the rest is OpenSSL's; Records are those sent "
        "for a query;\nCopied are bytes that are moved because of TLS.");
  if (world->kind != ALO_FORTUNES_CANNED)
    return;
  const char *dblib = alo_fortunes_missing(world, ALO_FORTUNES_DBLIB);
  const char *floor = alo_fortunes_missing(world, ALO_FORTUNES_FLOOR);
  if (dblib && size < NOTE_MAX)
    size += (size_t)snprintf(note + size, NOTE_MAX - size, "\ndb-lib is left out: %s.", dblib);
  if (floor && size < NOTE_MAX)
    snprintf(note + size, NOTE_MAX - size, "\nThe bare loop is left out: %s.", floor);
}

static alo_exit print_tables(const fortunes *self) {
  static row_name names[ALO_FORTUNES_VARIATIONS];
  static char note[NOTE_MAX];
  static alo_table variations = {.columns = columns, .note = note},
                   turns = {.caption = "Clients that took turns, medians of the rounds; CPU ratio "
                                       "to db-lib's",
                            .columns = turn_columns,
                            .column_count = sizeof turn_columns / sizeof turn_columns[0]};
  const alo_table *tables[] = {&variations, &turns};
  variations.column_count = self->values.tls ? COLUMNS : COLUMNS - COLUMNS_OF_TLS;
  for (int i = 0; i < ALO_FORTUNES_VARIATIONS; i++) {
    if (self->variations[i])
      add_variation(&variations, self, i, &names[i]);
  }
  write_note(self, note);
  add_turns(&turns, &self->turns);
  if (self->settings.format == ALO_FORMAT_TABLE) {
    print_lines(self);
    putchar('\n');
  }
  return alo_tables_print(tables, turns.row_count > 0 ? 2 : 1, self->settings.format, stdout)
             ? ALO_EXIT_OK
             : ALO_EXIT_LOCAL;
}

/* ---- the benchmark ---- */

static bool measure(fortunes *self, alo_reason *why) {
  for (int i = 0; i < ALO_FORTUNES_VARIATIONS; i++) {
    if (!self->variations[i])
      continue;
    alo_note("%s, %" PRIu32 " tasks", alo_fortunes_variations[i], self->plan.tasks);
    if (!alo_fortunes_measure(&self->world, i, &self->plan, &self->throughput[i], why))
      return false;
    if (self->values.tls && is_asynchronous(i) &&
        !alo_fortunes_count_encrypted(&self->world, i, self->plan.tasks, &self->encrypted[i], why))
      return false;
  }
  return self->world.kind != ALO_FORTUNES_CANNED ||
         alo_fortunes_take_turns(&self->world, self->plan.tasks, (size_t)self->settings.rounds,
                                 &self->turns, why);
}

static alo_exit run_published(fortunes *self, alo_reason *why) {
  return measure(self, why) ? print_tables(self) : ALO_EXIT_CONNECTION;
}

static alo_exit run_check(fortunes *self, alo_reason *why) {
  return alo_fortunes_take_turns(&self->world, self->plan.tasks, (size_t)self->settings.rounds,
                                 &self->turns, why)
             ? alo_fortunes_check(&self->world, &self->turns)
             : ALO_EXIT_CONNECTION;
}

static alo_exit run_on_server(fortunes *self) {
  const bool counts = self->settings.counted || self->settings.baseline;
  alo_fortunes_server kind = self->values.server.data ? ALO_FORTUNES_GIVEN
                             : counts || self->settings.check || self->values.canned
                                 ? ALO_FORTUNES_CANNED
                                 : ALO_FORTUNES_LITE;
  alo_reason why = {{0}}, undone;
  alo_exit code = ALO_EXIT_CONNECTION;
  if (alo_fortunes_open(&self->world, kind, self->values.server.data, self->values.tls, &why))
    code = counts                 ? alo_fortunes_counted(&self->settings)
           : self->settings.check ? run_check(self, &why)
                                  : run_published(self, &why);
  if (why.text[0] != '\0')
    alo_report("%s", why.text);
  if (!alo_fortunes_close(&self->world, &undone)) {
    alo_report("the table fortune is not dropped: %s", undone.text);
    code = ALO_EXIT_CONNECTION;
  }
  return alo_interrupt_exit(code);
}

static alo_exit begin(fortunes *self) {
  alo_reason why;
  if (self->values.design)
    return alo_fortunes_pictures_print(&self->settings, self->designs, self->values.svg);
  if (self->settings.rounds == 0)
    self->settings.rounds = ROUNDS;
  if (alo_fortunes_find(&self->world, &why))
    return run_on_server(self);
  alo_report("%s", why.text);
  return ALO_EXIT_LOCAL;
}

static int run(int argc, char **argv) {
  static fortunes self = {.values = {.tasks = TASKS}};
  bool done = false;
  self.values.warm_up_ns = WARM_UP_NS;
  self.values.duration_ns = DURATION_NS;
  self.values.sample_ns = SAMPLE_NS;
  alo_exit code = prepare(&self, argc, argv, &done);
  if (code == ALO_EXIT_OK && !done)
    code = begin(&self);
  alo_secret_wipe(&self.values.server);
  return (int)code;
}

const alo_benchmark alo_bench_fortunes = {
    .name = "fortunes",
    .summary = "the Fortunes benchmark: a query of 12 rows, over and over",
    .run = run,
    .count = alo_fortunes_count,
};
