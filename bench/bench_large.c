/* aloft bench large */
#include "benchmark.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bars.h"
#include "counted.h"
#include "large_cases.h"
#include "measure.h"
#include "report.h"

enum { ROUNDS = 9, NAME_MAX = 80, SERIES_MAX = 16 };

static const uint64_t ITERATION_NS = 20000000;

static const unsigned sizes[] = {1, 5, 10, 20, 40};
static const uint32_t packet_sizes[] = {512, 4096, 32767};

enum { SIZES = sizeof sizes / sizeof *sizes, PACKET_SIZES = 3 };

static const char *const way_names[] = {"whole", "pieces", "kept, converted later"};
static const char *const arrival_names[] = {"there", "by packet", "by 1,460"};

/* ---- measuring ---- */

/* One size and packet size: all ways and arrivals, against each other. */
typedef struct series {
  alo_large_run runs[SERIES_MAX];
  alo_contestant contestants[SERIES_MAX];
  size_t count;
} series;

static uint64_t read_some(void *context, uint64_t operations) {
  return alo_large_read(context, operations) ? operations : 0;
}

static bool add(series *self, const alo_large_case *of) {
  alo_large_run *run = &self->runs[self->count];
  self->contestants[self->count++] =
      (alo_contestant){.name = way_names[of->way], .run = read_some, .context = run};
  return alo_large_open(run, of);
}

static bool open_series(series *self, bool text, unsigned mib, uint32_t packet_size) {
  memset(self, 0, sizeof *self);
  alo_large_case of = {.text = text, .mib = mib, .packet_size = packet_size};
  for (int way = ALO_READING_WHOLE; way <= ALO_READING_LATER; way++) {
    of.way = (alo_reading_way)way;
    for (int arrival = ALO_ARRIVAL_THERE; arrival <= ALO_ARRIVAL_SEGMENTS; arrival++) {
      of.arrival = (alo_arrival)arrival;
      if (!add(self, &of))
        return false;
    }
  }
  return true;
}

static void close_series(series *self) {
  for (size_t at = 0; at < self->count; at++)
    alo_large_close(&self->runs[at]);
}

static bool measure(series *self, const alo_bench_settings *settings) {
  const alo_measure_plan plan = {.iteration_ns =
                                     settings->iteration_ns ? settings->iteration_ns : ITERATION_NS,
                                 .warm_up = 1,
                                 .rounds = settings->rounds ? (size_t)settings->rounds : ROUNDS};
  return alo_measure(self->contestants, self->count, &plan);
}

/* ---- tables ---- */

static const alo_column columns[] = {
    {"Method", ALO_COLUMN_TEXT},  {"Arrives", ALO_COLUMN_TEXT}, {"MiB", ALO_COLUMN_COUNT},
    {"Packet", ALO_COLUMN_COUNT}, {"Mean", ALO_COLUMN_TIME},    {"Error", ALO_COLUMN_TIME},
    {"Ratio", ALO_COLUMN_RATIO},  {"Peak", ALO_COLUMN_BYTES},   {"Heap calls", ALO_COLUMN_COUNT},
};

static bool add_row(alo_table *table, const series *self, size_t at, size_t rounds) {
  const alo_large_run *run = &self->runs[at];
  const double *samples = self->contestants[at].cpu_ns;
  alo_statistics times = alo_statistics_of(samples, rounds);
  alo_statistics ratio =
      alo_statistics_of_ratio(samples, self->contestants[at - at % 3].cpu_ns, rounds);
  alo_reason why;
  alo_heap_cost heap = {0};
  bool counted = alo_large_heap(&run->of, &heap, &why);
  alo_cell *row = alo_table_add(table);
  if (!row)
    return false;
  *row++ = ALO_CELL_TEXT(way_names[run->of.way]);
  *row++ = ALO_CELL_TEXT(arrival_names[run->of.arrival]);
  *row++ = ALO_CELL_NUMBER(run->of.mib);
  *row++ = ALO_CELL_NUMBER(run->of.packet_size);
  *row++ = ALO_CELL_NUMBER(times.mean);
  *row++ = ALO_CELL_NUMBER(times.error);
  *row++ = ALO_CELL_NUMBER(ratio.mean);
  *row++ = ALO_CELL_NUMBER((double)alo_reading_peak(run->reading));
  *row++ = (alo_cell){.number = heap.calls, .present = counted};
  return true;
}

static bool fill_table(alo_table *table, bool text, uint32_t packet_size,
                       const alo_bench_settings *settings) {
  size_t rounds = settings->rounds ? (size_t)settings->rounds : ROUNDS;
  for (size_t size = 0; size < SIZES; size++) {
    series self;
    alo_note("%s, packets of %u bytes, %u MiB", text ? "nvarchar(max)" : "varbinary(max)",
             (unsigned)packet_size, sizes[size]);
    bool good = open_series(&self, text, sizes[size], packet_size) && measure(&self, settings);
    for (size_t at = 0; good && at < self.count; at++)
      good = add_row(table, &self, at, rounds);
    close_series(&self);
    if (!good)
      return false;
  }
  return true;
}

static alo_exit print_tables(const alo_bench_settings *settings) {
  static alo_table tables[2 * PACKET_SIZES];
  static char captions[2 * PACKET_SIZES][NAME_MAX];
  const alo_table *all[2 * PACKET_SIZES];
  for (size_t at = 0; at < 2 * PACKET_SIZES; at++) {
    bool text = at < PACKET_SIZES;
    uint32_t packet_size = packet_sizes[at % PACKET_SIZES];
    snprintf(captions[at], NAME_MAX, "%s from memory, packets of %u bytes",
             text ? "nvarchar(max) to UTF-8" : "varbinary(max)", (unsigned)packet_size);
    tables[at] = (alo_table){.caption = captions[at],
                             .columns = columns,
                             .column_count = sizeof columns / sizeof *columns};
    all[at] = &tables[at];
    if (!fill_table(&tables[at], text, packet_size, settings))
      return ALO_EXIT_LOCAL;
  }
  tables[2 * PACKET_SIZES - 1].note =
      "Mean: processor time for one value. Ratio: to the same with all bytes there. Peak: most "
      "heap "
      "memory\nthat the reader had at once. Heap calls: of the reader's process for one value.";
  return alo_tables_print(all, 2 * PACKET_SIZES, settings->format, stdout) ? ALO_EXIT_OK
                                                                           : ALO_EXIT_LOCAL;
}

/* ---- bars ---- */

enum { BAR_MIB = 5, MIB_LEAST = 1, MIB_MOST = 40, PEAK_MAX = 256 << 10 };

static const double linear_max = 1.02;

static void bar_name(char name[NAME_MAX], const alo_large_case *of, const char *what) {
  snprintf(name, NAME_MAX, "%s, %s, %u: %s", of->text ? "nvarchar" : "varbinary",
           way_names[of->way], (unsigned)of->packet_size, what);
}

/* Instructions of one case by another's. */
static void ratio_bar(alo_bars *bars, const char *name, const alo_large_case *of,
                      const alo_large_case *to, double scale, double limit) {
  alo_reason why;
  double figure = 0, base = 0;
  if (alo_large_instructions(of, &figure, &why) && alo_large_instructions(to, &base, &why))
    alo_bar(bars, name, figure / base / scale, ALO_AT_MOST, limit);
  else
    alo_bar_error(bars, name, why.text);
}

static void check_arrival(alo_bars *bars, bool text, alo_reading_way way, uint32_t packet_size) {
  char name[NAME_MAX];
  const alo_large_case there = {text, way, BAR_MIB, packet_size, ALO_ARRIVAL_THERE};
  alo_large_case by_packet = there;
  by_packet.arrival = ALO_ARRIVAL_PACKETS;
  double limit = packet_size == 512 ? 1.10 : 1.05;
  bar_name(name, &there, "by packet / there");
  ratio_bar(bars, name, &by_packet, &there, 1, limit);
}

static void check_linear(alo_bars *bars, bool text, alo_reading_way way) {
  char name[NAME_MAX];
  const alo_large_case small = {text, way, MIB_LEAST, 4096, ALO_ARRIVAL_PACKETS};
  alo_large_case large = small;
  large.mib = MIB_MOST;
  bar_name(name, &small, "a byte, 40 MiB / 1 MiB");
  ratio_bar(bars, name, &large, &small, (double)MIB_MOST / MIB_LEAST, linear_max);
}

static void check_peak(alo_bars *bars, bool text) {
  char name[NAME_MAX];
  const alo_large_case of = {text, ALO_READING_PIECES, MIB_MOST, 4096, ALO_ARRIVAL_PACKETS};
  alo_large_run run;
  bar_name(name, &of, "bytes of memory at 40 MiB");
  if (alo_large_open(&run, &of) && alo_large_read(&run, 1))
    alo_bar(bars, name, (double)alo_reading_peak(run.reading), ALO_AT_MOST, PEAK_MAX);
  else
    alo_bar_error(bars, name, "it was not read");
  alo_large_close(&run);
}

static void check_heap(alo_bars *bars, bool text, alo_reading_way way) {
  char name[NAME_MAX];
  const alo_large_case of = {text, way, BAR_MIB, 4096, ALO_ARRIVAL_PACKETS};
  alo_reason why;
  alo_heap_cost heap = {0};
  bar_name(name, &of, "heap calls");
  if (alo_large_heap(&of, &heap, &why))
    alo_bar(bars, name, heap.calls, ALO_AT_MOST, 0);
  else
    alo_bar_error(bars, name, why.text);
}

/* Processor time, for it is memory that costs here. */
static void check_floor(alo_bars *bars, const alo_bench_settings *settings) {
  enum {
    WHOLE = ALO_READING_WHOLE * 3 + ALO_ARRIVAL_PACKETS,
    LATER = ALO_READING_LATER * 3 + ALO_ARRIVAL_PACKETS
  };
  static const char name[] = "nvarchar, 40 MiB, whole: CPU / kept, converted later";
  series self;
  if (open_series(&self, true, MIB_MOST, 4096) && measure(&self, settings)) {
    size_t rounds = settings->rounds ? (size_t)settings->rounds : ROUNDS;
    alo_statistics ratio = alo_statistics_of_ratio(self.contestants[WHOLE].cpu_ns,
                                                   self.contestants[LATER].cpu_ns, rounds);
    alo_bar(bars, name, ratio.median, ALO_AT_MOST, 1);
  } else {
    alo_bar_error(bars, name, "it was not read");
  }
  close_series(&self);
}

static alo_exit check(const alo_bench_settings *settings) {
  alo_bars bars = {.file = NULL};
  for (int kind = 0; kind < 2; kind++) {
    bool text = kind == 0;
    for (int way = ALO_READING_WHOLE; way <= ALO_READING_PIECES; way++) {
      for (size_t at = 0; at < PACKET_SIZES; at++)
        check_arrival(&bars, text, (alo_reading_way)way, packet_sizes[at]);
      check_linear(&bars, text, (alo_reading_way)way);
      check_heap(&bars, text, (alo_reading_way)way);
    }
    check_peak(&bars, text);
  }
  check_floor(&bars, settings);
  return alo_bars_finish(&bars);
}

/* ---- counted figures ---- */

static alo_exit counted_figures(const alo_bench_settings *settings) {
  alo_counted now = {.count = 0};
  for (int at = 0; at < 2 * 2 * PACKET_SIZES; at++) {
    const alo_large_case of = {at % 2 == 0, (alo_reading_way)(at / 2 % 2), MIB_LEAST,
                               packet_sizes[at / 4], ALO_ARRIVAL_PACKETS};
    char name[ALO_LARGE_NAME_MAX];
    alo_reason why;
    double instructions = 0;
    alo_heap_cost heap = {0};
    alo_large_case_name(&of, name);
    if (!alo_large_instructions(&of, &instructions, &why) || !alo_large_heap(&of, &heap, &why)) {
      alo_report("%s: %s", name, why.text);
      return ALO_EXIT_LOCAL;
    }
    if (!alo_counted_add(&now, name, "instructions", instructions) ||
        !alo_counted_add(&now, name, "heap_calls", heap.calls))
      return ALO_EXIT_LOCAL;
  }
  return alo_counted_finish(&now, settings);
}

/* ---- the command ---- */

static bool count(const char *name, uint64_t operations) {
  alo_large_case of;
  alo_large_run run;
  if (!alo_large_case_find(name, &of)) {
    alo_report("large has no case '%s'", name);
    return false;
  }
  bool good = alo_large_open(&run, &of) && alo_large_read(&run, operations);
  alo_large_close(&run);
  return good;
}

static int run(int argc, char **argv) {
  alo_bench_settings settings = {0};
  bool done = false;
  alo_exit code = alo_bench_read(
      &settings, NULL, "aloft bench large [OPTION...]",
      "Values of 1 to 40 MiB, whole and in pieces, that are there or arrive bit by "
      "bit.",
      "The answers lie in memory, so that only reading them is measured.", argc, argv, &done);
  if (code != ALO_EXIT_OK || done)
    return (int)code;
  if (settings.check)
    return (int)check(&settings);
  if (settings.counted || settings.baseline)
    return (int)counted_figures(&settings);
  return (int)print_tables(&settings);
}

const alo_benchmark alo_bench_large = {
    .name = "large",
    .summary = "values of 1 to 40 MiB",
    .run = run,
    .count = count,
};
