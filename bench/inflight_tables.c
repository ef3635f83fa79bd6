#include "inflight_tables.h"

#include <stdlib.h>
#include <string.h>

#include "inflight_published.h"
#include "inflight_results.h"
#include "report.h"

typedef struct labels {
  const char *method, *categories;
} labels;

static const labels words[ALO_INFLIGHT_CASES] = {
    [ALO_INFLIGHT_NONE] = {"aloft", "Default token"},
    [ALO_INFLIGHT_TOKEN] = {"aloft", "Client token"},
    [ALO_INFLIGHT_TIMEOUT] = {"aloft", "Default token"},
    [ALO_INFLIGHT_BOTH] = {"aloft", "Client token"},
    [ALO_INFLIGHT_BASELINE] = {"baseline", "Default token"},
    [ALO_INFLIGHT_BASELINE_TOKEN] = {"baseline", "Client token"},
    [ALO_INFLIGHT_BASELINE_TIMEOUT] = {"baseline", "Default token"},
    [ALO_INFLIGHT_BASELINE_BOTH] = {"baseline", "Client token"},
    [ALO_INFLIGHT_HEAP_TIMER] = {"aloft", "heap timer"},
    [ALO_INFLIGHT_WHEEL_1] = {"aloft", "wheel, 1 ms"},
    [ALO_INFLIGHT_WHEEL_100] = {"aloft", "wheel, 100 ms"},
    [ALO_INFLIGHT_BASELINE_OWN_TIMER] = {"baseline", "heap timer"},
    [ALO_INFLIGHT_BASELINE_COALESCED] = {"baseline", "coalesced"},
    [ALO_INFLIGHT_FEW] = {"in order", "1,000"},
    [ALO_INFLIGHT_MANY] = {"in order", "1,000,000"},
    [ALO_INFLIGHT_FEW_RANDOM] = {"random", "1,000"},
    [ALO_INFLIGHT_MANY_RANDOM] = {"random", "1,000,000"},
};

static double timeout_of(int number) {
  return alo_inflight_cases[number].timeout ? ALO_INFLIGHT_TIMEOUT_NS / 1e6 : 0;
}

static double mean_of(const alo_inflight_results *results, int number) {
  return alo_statistics_of(results->cases[number].cpu_ns, results->rounds).mean;
}

/* ---- measured ---- */

/* A row of the published shape. `base` is the case that its ratio is to. */
static void add_measured(alo_table *table, const alo_inflight_results *results, int number,
                         int base) {
  alo_cell *row = alo_table_add(table);
  const double *samples = results->cases[number].cpu_ns;
  alo_statistics times = alo_statistics_of(samples, results->rounds);
  alo_statistics ratio =
      alo_statistics_of_ratio(samples, results->cases[base].cpu_ns, results->rounds);
  row[ALO_METHOD] = ALO_CELL_TEXT(words[number].method);
  row[ALO_CATEGORIES] = ALO_CELL_TEXT(words[number].categories);
  row[ALO_TIMEOUT] = ALO_CELL_NUMBER(timeout_of(number));
  row[ALO_MEAN] = ALO_CELL_NUMBER(times.mean);
  row[ALO_ERROR] = ALO_CELL_NUMBER(times.error);
  row[ALO_STDDEV] = ALO_CELL_NUMBER(times.deviation);
  row[ALO_MEDIAN] = ALO_CELL_NUMBER(times.median);
  row[ALO_RATIO] = ALO_CELL_NUMBER(ratio.mean);
  row[ALO_RATIO_SD] = ALO_CELL_NUMBER(ratio.deviation);
  if (results->heap_counted[number])
    row[ALO_ALLOCATED] = ALO_CELL_NUMBER(results->heap[number].bytes);
}

static alo_table *make_combinations(const alo_inflight_results *results, alo_table *table) {
  *table = (alo_table){.caption = "A request in flight: start, answer, done; 1,000 outstanding. "
                                  "Timeout in ms.\nRatio to the baseline.",
                       .columns = alo_published_columns,
                       .column_count = ALO_PUBLISHED_COLUMNS};
  for (int i = 0; i < ALO_INFLIGHT_COMBINATIONS; i++) {
    int baseline = alo_inflight_baseline(i);
    add_measured(table, results, alo_inflight_ours(i), baseline);
    add_measured(table, results, baseline, baseline);
  }
  return table;
}

static alo_table *make_coalesced(const alo_inflight_results *results, alo_table *table) {
  *table =
      (alo_table){.caption = "Timeouts that fall together: a timer for each request in a heap, "
                             "or one for all of the same span.\nRatio to Aloft's request with "
                             "a heap timer of its own.",
                  .columns = alo_published_columns,
                  .column_count = ALO_PUBLISHED_COLUMNS};
  for (int i = ALO_INFLIGHT_HEAP_TIMER; i <= ALO_INFLIGHT_BASELINE_COALESCED; i++)
    add_measured(table, results, i, ALO_INFLIGHT_HEAP_TIMER);
  return table;
}

static alo_table *make_scale(const alo_inflight_results *results, alo_table *table) {
  *table =
      (alo_table){.caption = "By the number in flight, answered in order and in random order.\n"
                             "Ratio to 1,000 in flight.",
                  .columns = alo_published_columns,
                  .column_count = ALO_PUBLISHED_COLUMNS};
  for (int i = ALO_INFLIGHT_FEW; i <= ALO_INFLIGHT_MANY_RANDOM; i++) {
    bool random = i >= ALO_INFLIGHT_FEW_RANDOM;
    add_measured(table, results, i, random ? ALO_INFLIGHT_FEW_RANDOM : ALO_INFLIGHT_FEW);
  }
  return table;
}

/* ---- counted ---- */

enum { COUNTED_INSTRUCTIONS = ALO_MEAN, COUNTED_RATIO, COUNTED_CALLS, COUNTED_BYTES };

static const alo_column counted_columns[] = {
    {"Method", ALO_COLUMN_TEXT},          {"Categories", ALO_COLUMN_TEXT},
    {"Timeout", ALO_COLUMN_MILLISECONDS}, {"Instructions", ALO_COLUMN_COUNT},
    {"Ratio", ALO_COLUMN_RATIO},          {"Heap calls", ALO_COLUMN_COUNT},
    {"Allocated", ALO_COLUMN_BYTES}};

static void add_counted(alo_table *table, const alo_inflight_results *results, int number,
                        int base) {
  alo_cell *row = alo_table_add(table);
  row[ALO_METHOD] = ALO_CELL_TEXT(words[number].method);
  row[ALO_CATEGORIES] = ALO_CELL_TEXT(words[number].categories);
  row[ALO_TIMEOUT] = ALO_CELL_NUMBER(timeout_of(number));
  if (results->instructions_counted[number])
    row[COUNTED_INSTRUCTIONS] = ALO_CELL_NUMBER(results->instructions[number]);
  if (results->instructions_counted[number] && results->instructions_counted[base])
    row[COUNTED_RATIO] =
        ALO_CELL_NUMBER(results->instructions[number] / results->instructions[base]);
  if (!results->heap_counted[number])
    return;
  row[COUNTED_CALLS] = ALO_CELL_NUMBER(results->heap[number].calls);
  row[COUNTED_BYTES] = ALO_CELL_NUMBER(results->heap[number].bytes);
}

static alo_table *make_counted(const alo_inflight_results *results, alo_table *table) {
  *table = (alo_table){.caption = "The same, counted: instructions of a request by callgrind, heap "
                                  "calls and bytes of the process.",
                       .note = results->why.text[0] ? results->why.text : NULL,
                       .columns = counted_columns,
                       .column_count = sizeof counted_columns / sizeof counted_columns[0],
                       .text_only = true};
  for (int i = 0; i < ALO_INFLIGHT_COMBINATIONS; i++) {
    int baseline = alo_inflight_baseline(i);
    add_counted(table, results, alo_inflight_ours(i), baseline);
    add_counted(table, results, baseline, baseline);
  }
  for (int i = ALO_INFLIGHT_HEAP_TIMER; i <= ALO_INFLIGHT_BASELINE_COALESCED; i++)
    add_counted(table, results, i, ALO_INFLIGHT_HEAP_TIMER);
  return table;
}

/* ---- published ---- */

static const char here[] = "this one, C: baseline, aloft";

static const alo_column published_columns[] = {
    {"Machine", ALO_COLUMN_TEXT},         {"Categories", ALO_COLUMN_TEXT},
    {"Timeout", ALO_COLUMN_MILLISECONDS}, {"Before", ALO_COLUMN_TIME},
    {"After", ALO_COLUMN_TIME},           {"Ratio", ALO_COLUMN_RATIO},
    {"B before", ALO_COLUMN_COUNT},       {"B after", ALO_COLUMN_COUNT}};

static void add_published(alo_table *table, const char *machine, int combination,
                          const alo_published_figure *figure) {
  alo_cell *row = alo_table_add(table);
  *row++ = ALO_CELL_TEXT(machine);
  *row++ = ALO_CELL_TEXT(words[alo_inflight_ours(combination)].categories);
  *row++ = ALO_CELL_NUMBER(timeout_of(alo_inflight_ours(combination)));
  *row++ = ALO_CELL_NUMBER(figure->before_ns);
  *row++ = ALO_CELL_NUMBER(figure->after_ns);
  *row++ = ALO_CELL_NUMBER(figure->after_ns / figure->before_ns);
  *row++ = ALO_CELL_NUMBER(figure->before_bytes);
  *row = ALO_CELL_NUMBER(figure->after_bytes);
}

static const char published_note[] =
    "Published: create, read id, dispose of the NATS .NET client's in-flight request (upstream,\n"
    "optimised); B: bytes of heap for each. i7-4712MQ: Windows 10; i7-3612QM: Fedora 31. Their\n"
    "times are of other machines and of another language: compare ratios.\n"
    "Upstream reported whatever fired as a timeout, also when the caller had cancelled, and so "
    "does\n"
    "the baseline. The optimised form reports a timeout only when the caller has not cancelled; "
    "so\n"
    "does Aloft: it looks at the cancellation before it reports a timeout, and when both are due "
    "in\n"
    "the same turn of the loop the status is ALOFT_CANCELLED.";

static alo_table *make_published(const alo_inflight_results *results, alo_table *table) {
  *table = (alo_table){.caption = "Beside the published figures",
                       .note = published_note,
                       .columns = published_columns,
                       .column_count = sizeof published_columns / sizeof published_columns[0],
                       .text_only = true};
  for (int i = 0; i < ALO_INFLIGHT_COMBINATIONS; i++) {
    int after = alo_inflight_ours(i), before = alo_inflight_baseline(i);
    const alo_published_figure ours = {mean_of(results, before), mean_of(results, after),
                                       results->heap[before].bytes, results->heap[after].bytes};
    add_published(table, here, i, &ours);
    for (int machine = 0; machine < ALO_PUBLISHED_MACHINES; machine++)
      add_published(table, alo_published_machines[machine].name, i,
                    &alo_published_machines[machine].combinations[i]);
  }
  return table;
}

static const alo_column coalesced_columns[] = {
    {"Machine", ALO_COLUMN_TEXT},          {"Own timer", ALO_COLUMN_TIME},
    {"Coalesced before", ALO_COLUMN_TIME}, {"Ratio", ALO_COLUMN_RATIO},
    {"Coalesced after", ALO_COLUMN_TIME},  {"Ratio", ALO_COLUMN_RATIO}};

static void add_coalesced(alo_table *table, const char *machine,
                          const alo_published_coalesced *figure) {
  alo_cell *row = alo_table_add(table);
  *row++ = ALO_CELL_TEXT(machine);
  *row++ = ALO_CELL_NUMBER(figure->own_timer_ns);
  *row++ = ALO_CELL_NUMBER(figure->before_ns);
  *row++ = ALO_CELL_NUMBER(figure->before_ns / figure->own_timer_ns);
  *row++ = ALO_CELL_NUMBER(figure->after_ns);
  *row = ALO_CELL_NUMBER(figure->after_ns / figure->own_timer_ns);
}

static alo_table *make_published_coalesced(const alo_inflight_results *results, alo_table *table) {
  *table = (alo_table){.caption = "Beside the published figures, coalesced",
                       .note = "Own timer: optimised; here Aloft's request with a timer in a heap. "
                               "Coalesced before: upstream,\nhere the baseline. Coalesced after: "
                               "optimised, here Aloft's wheel with a tick of 100 ms.",
                       .columns = coalesced_columns,
                       .column_count = sizeof coalesced_columns / sizeof coalesced_columns[0],
                       .text_only = true};
  const alo_published_coalesced ours = {.own_timer_ns = mean_of(results, ALO_INFLIGHT_HEAP_TIMER),
                                        .before_ns =
                                            mean_of(results, ALO_INFLIGHT_BASELINE_COALESCED),
                                        .after_ns = mean_of(results, ALO_INFLIGHT_WHEEL_100)};
  add_coalesced(table, here, &ours);
  for (int machine = 0; machine < ALO_PUBLISHED_MACHINES; machine++)
    add_coalesced(table, alo_published_machines[machine].name,
                  &alo_published_machines[machine].coalesced);
  return table;
}

/* ---- all ---- */

typedef struct tables {
  alo_table combinations, coalesced, scale, counted, published, published_coalesced;
} tables;

alo_exit alo_inflight_print(const alo_bench_settings *settings) {
  tables *made = calloc(1, sizeof *made);
  alo_inflight_results *results = made ? alo_inflight_results_open(settings) : NULL;
  bool good = false;
  if (results) {
    const alo_table *const all[] = {make_combinations(results, &made->combinations),
                                    make_coalesced(results, &made->coalesced),
                                    make_scale(results, &made->scale),
                                    make_counted(results, &made->counted),
                                    make_published(results, &made->published),
                                    make_published_coalesced(results, &made->published_coalesced)};
    good = alo_tables_print(all, sizeof all / sizeof all[0], settings->format, stdout);
  }
  if (!good)
    alo_report("the tables could not be made");
  alo_inflight_results_close(results);
  free(made);
  return good ? ALO_EXIT_OK : ALO_EXIT_LOCAL;
}
