#include "large_tables.h"

#include <math.h>
#include <stdio.h>

#include "large_series.h"
#include "large_sockets.h"
#include "plot.h"
#include "report.h"
#include "svg.h"

enum { SIZES = 5, PACKET_SIZES = 3, TABLES = 2 * PACKET_SIZES, NAME_MAX_SIZE = 80 };

static const unsigned all_sizes[SIZES] = {1, 5, 10, 20, 40};
static const uint32_t packet_sizes[PACKET_SIZES] = {512, 4096, 32767};
enum { PLOTTED = 1 }; /* packets of 4,096 */

/* The replaced design is shown up to the size where it takes this long. */
static const double baseline_max_ns = 60e9;

typedef struct tables {
  const alo_bench_settings *settings;
  unsigned sizes[SIZES];
  size_t size_count;
  alo_table memory[TABLES], sockets;
  char captions[TABLES][NAME_MAX_SIZE];
  alo_plot plot;
  alo_plot_line *there, *by_packet, *baseline;
  alo_reason why; /* the last thing that could not be counted */
} tables;

/* ---- in memory ---- */

static const alo_column columns[] = {
    {"Method", ALO_COLUMN_TEXT}, {"Type", ALO_COLUMN_TEXT},        {"Arrives", ALO_COLUMN_TEXT},
    {"MiB", ALO_COLUMN_COUNT},   {"Packet", ALO_COLUMN_COUNT},     {"Mean", ALO_COLUMN_TIME},
    {"Error", ALO_COLUMN_TIME},  {"Ratio", ALO_COLUMN_RATIO},      {"Instr/byte", ALO_COLUMN_RATIO},
    {"Peak", ALO_COLUMN_BYTES},  {"Heap calls", ALO_COLUMN_COUNT},
};

static const char *type_name(bool text) {
  return text ? "nvarchar(max)" : "varbinary(max)";
}

static alo_cell *add_case(alo_table *table, const char *way, const alo_large_case *of) {
  alo_cell *row = alo_table_add(table);
  if (!row)
    return NULL;
  *row++ = ALO_CELL_TEXT(way);
  *row++ = ALO_CELL_TEXT(type_name(of->text));
  *row++ = ALO_CELL_TEXT(alo_large_arrival_names[of->arrival]);
  *row++ = ALO_CELL_NUMBER(of->mib);
  *row++ = ALO_CELL_NUMBER(of->packet_size);
  return row;
}

static bool add_row(tables *self, alo_table *table, const alo_large_series *series, size_t at) {
  const alo_large_run *run = &series->runs[at];
  const alo_large_case *of = &run->of;
  const double *samples = series->contestants[at].cpu_ns;
  alo_statistics times = alo_statistics_of(samples, series->rounds);
  alo_statistics ratio = alo_statistics_of_ratio(
      samples, series->contestants[at - at % ALO_LARGE_ARRIVALS].cpu_ns, series->rounds);
  alo_heap_cost heap = {0};
  double instructions = 0;
  bool counted = of->mib == self->sizes[0] && alo_large_instructions(of, &instructions, &self->why);
  bool heap_counted = alo_large_heap(of, &heap, &self->why);
  alo_cell *row = add_case(table, alo_large_way_names[of->way], of);
  if (!row)
    return false;
  *row++ = ALO_CELL_NUMBER(times.mean);
  *row++ = ALO_CELL_NUMBER(times.error);
  *row++ = ALO_CELL_NUMBER(ratio.mean);
  *row++ = (alo_cell){.number = instructions / ((double)of->mib * 1048576), .present = counted};
  *row++ = ALO_CELL_NUMBER((double)alo_reading_peak(run->reading));
  *row++ = (alo_cell){.number = heap.calls, .present = heap_counted};
  return true;
}

static void plot(alo_plot_line *line, unsigned mib, double ns) {
  if (line)
    alo_plot_point(line, mib, ns / 1e6);
}

static bool add_series(tables *self, size_t at, unsigned mib) {
  static alo_large_series series;
  bool text = at < PACKET_SIZES;
  uint32_t packet_size = packet_sizes[at % PACKET_SIZES];
  alo_note("%s, packets of %u bytes, %u MiB", type_name(text), (unsigned)packet_size, mib);
  bool good = alo_large_series_open(&series, text, mib, packet_size) &&
              alo_large_series_measure(&series, self->settings);
  for (size_t i = 0; good && i < series.count; i++)
    good = add_row(self, &self->memory[at], &series, i);
  if (good && at == PLOTTED) {
    plot(self->there, mib,
         alo_statistics_of(series.contestants[ALO_ARRIVAL_THERE].cpu_ns, series.rounds).mean);
    plot(self->by_packet, mib,
         alo_statistics_of(series.contestants[ALO_ARRIVAL_PACKETS].cpu_ns, series.rounds).mean);
  }
  alo_large_series_close(&series);
  return good;
}

/* `ns_of_one`: what a value of 1 MiB took; it grows with the square. False: it failed. */
static bool add_baseline(tables *self, size_t at, unsigned mib, double ns_of_one) {
  if (ns_of_one * mib * mib > baseline_max_ns)
    return true;
  double ns = alo_large_baseline_ns(mib, packet_sizes[at]);
  const alo_large_case of = {
      .text = true, .mib = mib, .packet_size = packet_sizes[at], .arrival = ALO_ARRIVAL_PACKETS};
  alo_cell *row = add_case(&self->memory[at], "baseline", &of);
  if (ns == 0 || !row)
    return false;
  *row = ALO_CELL_NUMBER(ns);
  if (at == PLOTTED)
    plot(self->baseline, mib, ns);
  return true;
}

static bool fill_memory(tables *self, size_t at) {
  bool text = at < PACKET_SIZES;
  double ns_of_one = text ? alo_large_baseline_ns(1, packet_sizes[at]) : 0;
  snprintf(self->captions[at], NAME_MAX_SIZE, "%s from memory, packets of %u bytes",
           text ? "nvarchar(max) to UTF-8" : "varbinary(max)",
           (unsigned)packet_sizes[at % PACKET_SIZES]);
  self->memory[at] = (alo_table){.caption = self->captions[at],
                                 .columns = columns,
                                 .column_count = sizeof columns / sizeof *columns};
  for (size_t size = 0; size < self->size_count; size++) {
    if (!add_series(self, at, self->sizes[size]) ||
        (text && !add_baseline(self, at, self->sizes[size], ns_of_one)))
      return false;
  }
  return true;
}

/* ---- over sockets ---- */

static const alo_column socket_columns[] = {
    {"Client", ALO_COLUMN_TEXT},        {"Type", ALO_COLUMN_TEXT}, {"MiB", ALO_COLUMN_COUNT},
    {"Time", ALO_COLUMN_TIME},          {"CPU", ALO_COLUMN_TIME},  {"CPU ratio", ALO_COLUMN_RATIO},
    {"Process peak", ALO_COLUMN_BYTES},
};

static void add_client(tables *self, bool text, unsigned mib, const alo_large_figures *figures,
                       alo_large_client client) {
  const size_t rounds = alo_large_rounds(self->settings);
  alo_cell *row = alo_table_add(&self->sockets);
  if (!row)
    return;
  *row++ = ALO_CELL_TEXT(alo_large_clients[client]);
  *row++ = ALO_CELL_TEXT(type_name(text));
  *row++ = ALO_CELL_NUMBER(mib);
  *row++ = ALO_CELL_NUMBER(alo_statistics_of(figures[client].ns, rounds).median);
  *row++ = ALO_CELL_NUMBER(alo_statistics_of(figures[client].cpu_ns, rounds).median);
  if (alo_large_has_dblib())
    *row = ALO_CELL_NUMBER(
        alo_statistics_of_ratio(figures[client].cpu_ns, figures[ALO_LARGE_DBLIB].cpu_ns, rounds)
            .median);
  row++;
  *row = ALO_CELL_NUMBER(figures[client].peak);
}

static bool fill_sockets(tables *self) {
  static alo_large_figures figures[ALO_LARGE_CLIENTS];
  alo_reason why;
  self->sockets = (alo_table){.caption = "Over a socket, packets of 4,096 bytes",
                              .columns = socket_columns,
                              .column_count = sizeof socket_columns / sizeof *socket_columns};
  for (size_t at = 0; at < 2 * self->size_count; at++) {
    const bool text = at < self->size_count;
    const unsigned mib = self->sizes[at % self->size_count];
    alo_note("over a socket, %s, %u MiB", type_name(text), mib);
    if (!alo_large_over_sockets(text, mib, alo_large_rounds(self->settings), figures, &why)) {
      alo_report("%s", why.text);
      return false;
    }
    for (int client = 0; client < ALO_LARGE_CLIENTS; client++) {
      if (client != ALO_LARGE_DBLIB || alo_large_has_dblib())
        add_client(self, text, mib, figures, (alo_large_client)client);
    }
  }
  return true;
}

/* ---- the picture ---- */

/* SqlClient: varbinary of 10 and 20 MB, and a string of 20 Mi characters, which are 40 MiB. */
static void add_published(alo_plot *plot) {
  alo_plot_line *async = alo_plot_add(plot, "published, async binary", true);
  alo_plot_point(async, 10, 5000);
  alo_plot_point(async, 20, 52000);
  alo_plot_line *string = alo_plot_add(plot, "published, async string", true);
  alo_plot_point(string, 40, 757.51);
  alo_plot_line *sync = alo_plot_add(plot, "published, sync", true);
  alo_plot_point(sync, 10, 20);
  alo_plot_point(sync, 40, 39.40);
}

static void begin_plot(tables *self) {
  self->plot = (alo_plot){.title = "Reading one large value, by its size",
                          .x_name = "MiB on the wire",
                          .y_name = "milliseconds"};
  self->there = alo_plot_add(&self->plot, "all there", false);
  self->by_packet = alo_plot_add(&self->plot, "packet by packet", false);
  self->baseline = alo_plot_add(&self->plot, "baseline, by packet", false);
  add_published(&self->plot);
}

static void draw_plot(const void *plot, FILE *file) {
  alo_plot_svg(plot, file);
}

/* ---- all of it ---- */

static bool print(tables *self) {
  char note[1024];
  const alo_table *all[TABLES + 1];
  for (size_t at = 0; at < TABLES; at++)
    all[at] = &self->memory[at];
  all[TABLES] = &self->sockets;
  snprintf(note, sizeof note,
           "Mean: processor time for one value. Ratio: to the same with all bytes there, received "
           "in\nblocks of 64 KiB. Instr/byte: of the reader, for a byte on the wire, counted in "
           "the smallest\nvalue. Peak: most heap memory that the reader had at once. Heap calls: "
           "of the reader's\nprocess for one value. baseline: the replaced design, one run, up to "
           "the size where it\ntakes a minute.%s%s",
           self->why.text[0] ? "\nNot counted: " : "", self->why.text);
  self->memory[TABLES - 1].note = note;
  self->sockets.note = alo_large_has_dblib()
                           ? "Medians of the rounds. CPU ratio: to db-lib's."
                           : "Medians of the rounds. db-lib is left out: it was not built (Debian "
                             "package freetds-dev).";
  return alo_tables_print(all, TABLES + 1, self->settings->format, stdout);
}

alo_exit alo_large_tables_print(const alo_bench_settings *settings, unsigned mib, const char *svg) {
  static tables self;
  self = (tables){.settings = settings, .sizes = {mib}, .size_count = 1};
  for (size_t size = 0; mib == 0 && size < SIZES; size++) {
    self.sizes[size] = all_sizes[size];
    self.size_count = size + 1;
  }
  begin_plot(&self);
  for (size_t at = 0; at < TABLES; at++) {
    if (!fill_memory(&self, at))
      return ALO_EXIT_LOCAL;
  }
  if (!fill_sockets(&self))
    return ALO_EXIT_CONNECTION;
  return print(&self) && (!svg || alo_svg_write(svg, draw_plot, &self.plot)) ? ALO_EXIT_OK
                                                                             : ALO_EXIT_LOCAL;
}
