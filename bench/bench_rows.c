/* aloft bench rows */
#include "benchmark.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "bars.h"
#include "counted.h"
#include "measure.h"
#include "report.h"
#include "rows_cases.h"
#include "rows_clients.h"

enum { WIDTHS = 3, NAME_SIZE = 32, ROUNDS = 3, ROWS = 1000000, ROWS_MAX = 100000000, PART = 10000 };

static const unsigned widths[WIDTHS] = {2, 10, 50};

typedef struct rows_values {
  int64_t rows;
} rows_values;

static const alo_option rows_options[] = {
    {.name = "rows",
     .kind = ALO_OPTION_NUMBER,
     .value = "N",
     .help = "How many are sent over a socket: up to 10,000, or a multiple of it; by default "
             "1,000,000.",
     .offset = offsetof(rows_values, rows),
     .min = 1,
     .max = ROWS_MAX},
};

static const char rows_notes[] =
    "Every client has to find the values that were sent, or the run fails. db-lib takes part when "
    "the Debian package freetds-dev was there at the build, tedious when ALOFT_NPM names the "
    "folder that its node_modules lies in, or build/npm does.";

typedef struct case_name {
  char text[NAME_SIZE];
} case_name;

static case_name name_of(const char *kind, unsigned columns) {
  case_name name;
  snprintf(name.text, sizeof name.text, "%s_%u", kind, columns);
  return name;
}

/* ---- over sockets ---- */

static const alo_column columns[] = {
    {"Client", ALO_COLUMN_TEXT},  {"Columns", ALO_COLUMN_COUNT},   {"Rows/s", ALO_COLUMN_COUNT},
    {"CPU/row", ALO_COLUMN_TIME}, {"CPU ratio", ALO_COLUMN_RATIO},
};

static void add_client(alo_table *table, unsigned width,
                       const alo_rows_figures figures[ALO_ROWS_CLIENTS], alo_rows_client client) {
  const alo_rows_figures *of = &figures[client], *dblib = &figures[ALO_ROWS_DBLIB];
  alo_cell *row = of->rounds > 0 ? alo_table_add(table) : NULL;
  if (!row)
    return;
  *row++ = ALO_CELL_TEXT(alo_rows_clients[client]);
  *row++ = ALO_CELL_NUMBER(width);
  *row++ = ALO_CELL_NUMBER(round(1e9 / alo_statistics_of(of->ns, of->rounds).median));
  *row++ = ALO_CELL_NUMBER(alo_statistics_of(of->cpu_ns, of->rounds).median);
  if (dblib->rounds > 0)
    *row = ALO_CELL_NUMBER(alo_statistics_of_ratio(of->cpu_ns, dblib->cpu_ns, of->rounds).median);
}

static bool fill_sockets(alo_table *table, uint64_t rows, const alo_bench_settings *settings) {
  static alo_rows_figures figures[ALO_ROWS_CLIENTS];
  alo_reason why;
  for (size_t at = 0; at < WIDTHS; at++) {
    alo_note("%" PRIu64 " rows of %u columns", rows, widths[at]);
    if (!alo_rows_over_sockets(widths[at], rows,
                               settings->rounds ? (size_t)settings->rounds : ROUNDS, figures,
                               &why)) {
      alo_report("%s", why.text);
      return false;
    }
    for (int client = 0; client < ALO_ROWS_CLIENTS; client++)
      add_client(table, widths[at], figures, (alo_rows_client)client);
  }
  return true;
}

/* ---- in memory ---- */

static alo_reason not_counted; /* the last thing that could not be; "" */

static const alo_column memory_columns[] = {
    {"Method", ALO_COLUMN_TEXT},        {"Columns", ALO_COLUMN_COUNT},
    {"Time/row", ALO_COLUMN_TIME},      {"Ratio", ALO_COLUMN_RATIO},
    {"Instructions", ALO_COLUMN_COUNT}, {"Heap calls", ALO_COLUMN_COUNT},
};

static uint64_t read_some(void *context, uint64_t operations) {
  for (uint64_t i = 0; i < operations; i++) {
    if (!alo_rows_read(context))
      return 0;
  }
  return operations;
}

static void add_memory(alo_table *table, unsigned width, const char *kind, const char *title,
                       const alo_contestant *of, const alo_contestant *bare, size_t rounds) {
  case_name name = name_of(kind, width);
  double instructions = 0, heap_calls = 0;
  bool counted = alo_rows_instructions(name.text, &instructions, &not_counted);
  bool heap_counted = alo_rows_heap_calls(name.text, &heap_calls, &not_counted);
  alo_cell *row = alo_table_add(table);
  if (!row)
    return;
  *row++ = ALO_CELL_TEXT(title);
  *row++ = ALO_CELL_NUMBER(width);
  *row++ = ALO_CELL_NUMBER(alo_statistics_of(of->cpu_ns, rounds).mean / ALO_ROWS_IN_MEMORY);
  *row++ = ALO_CELL_NUMBER(alo_statistics_of_ratio(of->cpu_ns, bare->cpu_ns, rounds).mean);
  *row++ = (alo_cell){.number = instructions, .present = counted};
  *row++ = (alo_cell){.number = heap_calls, .present = heap_counted};
}

static bool fill_width(alo_table *table, unsigned width, const alo_bench_settings *settings) {
  static alo_rows_run runs[2];
  static alo_contestant contestants[2];
  case_name reader = name_of("reader", width), bare = name_of("bare", width);
  alo_measure_plan plan = {.iteration_ns = settings->iteration_ns,
                           .rounds = (size_t)settings->rounds};
  bool good = alo_rows_open(&runs[0], reader.text);
  good = alo_rows_open(&runs[1], bare.text) && good;
  for (size_t i = 0; i < 2; i++)
    contestants[i] = (alo_contestant){.name = "rows", .run = read_some, .context = &runs[i]};
  plan = alo_measure_defaults(&plan);
  good = good && alo_measure(contestants, 2, &plan);
  if (good) {
    add_memory(table, width, "reader", "aloft", &contestants[0], &contestants[1], plan.rounds);
    add_memory(table, width, "bare", "bare loop", &contestants[1], &contestants[1], plan.rounds);
  }
  alo_rows_close(&runs[0]);
  alo_rows_close(&runs[1]);
  return good;
}

/* ---- tables ---- */

static alo_exit print_tables(uint64_t rows, const alo_bench_settings *settings) {
  static alo_table sockets = {.columns = columns, .column_count = sizeof columns / sizeof *columns};
  static alo_table memory = {.caption = "In memory, packets of 4,096 bytes, for one row",
                             .columns = memory_columns,
                             .column_count = sizeof memory_columns / sizeof *memory_columns};
  char caption[80], note[512], memory_note[1024];
  int size = 0;
  const alo_table *tables[] = {&sockets, &memory};
  if (!fill_sockets(&sockets, rows, settings))
    return ALO_EXIT_CONNECTION;
  for (size_t at = 0; at < WIDTHS; at++) {
    if (!fill_width(&memory, widths[at], settings))
      return ALO_EXIT_LOCAL;
  }
  snprintf(caption, sizeof caption, "%" PRIu64 " rows over a socket, medians of the rounds", rows);
  sockets.caption = caption;
  note[0] = '\0';
  for (int client = 0; client < ALO_ROWS_CLIENTS; client++) {
    const char *missing = alo_rows_missing((alo_rows_client)client);
    if (missing && size >= 0 && (size_t)size < sizeof note)
      size += snprintf(note + size, sizeof note - (size_t)size, "%s%s is left out: %s.",
                       size > 0 ? "\n" : "", alo_rows_clients[client], missing);
  }
  sockets.note = size > 0 ? note : NULL;
  snprintf(memory_note, sizeof memory_note,
           "Every value in its native form, or as UTF-8. Instructions: of the reader and of\n"
           "taking the values. Ratio: to the bare loop, which knows the rows' layout.%s%s",
           not_counted.text[0] ? "\nNot counted: " : "", not_counted.text);
  memory.note = memory_note;
  return alo_tables_print(tables, 2, settings->format, stdout) ? ALO_EXIT_OK : ALO_EXIT_LOCAL;
}

/* ---- bars and counted figures ---- */

static alo_exit check(void) {
  alo_bars bars = {.file = NULL};
  for (size_t at = 0; at < WIDTHS; at++) {
    case_name name = name_of("reader", widths[at]);
    char bar[64];
    alo_reason why;
    double calls = 0;
    snprintf(bar, sizeof bar, "%u columns: heap calls of a row", widths[at]);
    if (alo_rows_heap_calls(name.text, &calls, &why))
      alo_bar(&bars, bar, calls, ALO_AT_MOST, 0);
    else
      alo_bar_error(&bars, bar, why.text);
  }
  return alo_bars_finish(&bars);
}

static alo_exit counted_figures(const alo_bench_settings *settings) {
  alo_counted now = {.count = 0};
  for (size_t at = 0; at < WIDTHS; at++) {
    case_name name = name_of("reader", widths[at]);
    alo_reason why;
    double instructions = 0, heap_calls = 0;
    if (!alo_rows_instructions(name.text, &instructions, &why) ||
        !alo_rows_heap_calls(name.text, &heap_calls, &why)) {
      alo_report("%s: %s", name.text, why.text);
      return ALO_EXIT_LOCAL;
    }
    if (!alo_counted_add(&now, name.text, "instructions", instructions) ||
        !alo_counted_add(&now, name.text, "heap_calls", heap_calls))
      return ALO_EXIT_LOCAL;
  }
  return alo_counted_finish(&now, settings);
}

/* ---- the command ---- */

static bool count(const char *name, uint64_t operations) {
  static alo_rows_run run;
  bool good = alo_rows_open(&run, name) && read_some(&run, operations) == operations;
  alo_rows_close(&run);
  return good;
}

static int run(int argc, char **argv) {
  alo_bench_settings settings = {0};
  rows_values values = {.rows = 0};
  bool done = false;
  alo_option_group group = {.title = "Rows",
                            .options = rows_options,
                            .count = sizeof rows_options / sizeof rows_options[0],
                            .values = &values};
  alo_exit code =
      alo_bench_read(&settings, &group, "aloft bench rows [OPTION...]",
                     "A million rows of 2, 10 and 50 columns.", rows_notes, argc, argv, &done);
  if (code != ALO_EXIT_OK || done)
    return (int)code;
  const bool counts = settings.counted || settings.baseline;
  if (values.rows && (settings.check || counts))
    return (int)alo_report_usage("--rows is for the tables: leave --check, --counted and "
                                 "--baseline out");
  if (values.rows > PART && values.rows % PART != 0)
    return (int)alo_report_usage("--rows wants at most 10,000, or a multiple of it");
  return (int)(settings.check ? check()
               : counts       ? counted_figures(&settings)
                        : print_tables(values.rows ? (uint64_t)values.rows : ROWS, &settings));
}

const alo_benchmark alo_bench_rows = {
    .name = "rows",
    .summary = "a million rows, beside other clients",
    .run = run,
    .count = count,
};
