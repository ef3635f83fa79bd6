#include "large_bars.h"

#include <stdio.h>

#include "bars.h"
#include "counted.h"
#include "large_series.h"
#include "large_sockets.h"
#include "report.h"

enum { NAME_MAX_SIZE = 80, PACKET_SIZES = 3, FLAT_PACKET = 4096 };

static const uint32_t packet_sizes[PACKET_SIZES] = {512, 4096, 32767};

/* ---- bars ---- */

enum { BAR_MIB = 5, MIB_LEAST = 1, MIB_MOST = 40, PEAK_MAX = 256 << 10 };

static const double linear_max = 1.02, dblib_max = 0.5;

static void bar_name(char name[NAME_MAX_SIZE], const alo_large_case *of, const char *what) {
  snprintf(name, NAME_MAX_SIZE, "%s, %s, %u: %s", of->text ? "nvarchar" : "varbinary",
           alo_large_way_names[of->way], (unsigned)of->packet_size, what);
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
  char name[NAME_MAX_SIZE];
  const alo_large_case there = {text, way, BAR_MIB, packet_size, ALO_ARRIVAL_THERE};
  alo_large_case by_packet = there;
  by_packet.arrival = ALO_ARRIVAL_PACKETS;
  double limit = packet_size == 512 ? 1.10 : 1.05;
  bar_name(name, &there, "by packet / there");
  ratio_bar(bars, name, &by_packet, &there, 1, limit);
}

static void check_linear(alo_bars *bars, bool text, alo_reading_way way) {
  char name[NAME_MAX_SIZE];
  const alo_large_case small = {text, way, MIB_LEAST, 4096, ALO_ARRIVAL_PACKETS};
  alo_large_case large = small;
  large.mib = MIB_MOST;
  bar_name(name, &small, "a byte, 40 MiB / 1 MiB");
  ratio_bar(bars, name, &large, &small, (double)MIB_MOST / MIB_LEAST, linear_max);
}

static void check_peak(alo_bars *bars, bool text) {
  char name[NAME_MAX_SIZE];
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
  char name[NAME_MAX_SIZE];
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
  alo_large_series self;
  if (alo_large_series_open(&self, true, MIB_MOST, 4096) &&
      alo_large_series_measure(&self, settings)) {
    alo_statistics ratio = alo_statistics_of_ratio(self.contestants[WHOLE].cpu_ns,
                                                   self.contestants[LATER].cpu_ns, self.rounds);
    alo_bar(bars, name, ratio.median, ALO_AT_MOST, 1);
  } else {
    alo_bar_error(bars, name, "it was not read");
  }
  alo_large_series_close(&self);
}

static void check_dblib(alo_bars *bars, const alo_bench_settings *settings) {
  static const char name[] = "nvarchar, 40 MiB, whole: CPU / db-lib's";
  static alo_large_figures figures[ALO_LARGE_CLIENTS];
  alo_reason why;
  if (!alo_large_has_dblib())
    alo_bar_skip(bars, name, "it was not built: install the Debian package freetds-dev");
  else if (alo_large_over_sockets(true, MIB_MOST, alo_large_rounds(settings), figures, &why))
    alo_bar(bars, name,
            alo_statistics_of_ratio(figures[ALO_LARGE_WHOLE].cpu_ns,
                                    figures[ALO_LARGE_DBLIB].cpu_ns, alo_large_rounds(settings))
                .median,
            ALO_AT_MOST, dblib_max);
  else
    alo_bar_error(bars, name, why.text);
}

alo_exit alo_large_check(const alo_bench_settings *settings) {
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
  check_dblib(&bars, settings);
  return alo_bars_finish(&bars);
}

/* ---- counted figures ---- */

static bool count_case(alo_counted *now, const alo_large_case *of) {
  char name[ALO_LARGE_NAME_MAX];
  alo_reason why;
  double instructions = 0;
  alo_heap_cost heap = {0};
  alo_large_case_name(of, name);
  if (alo_large_instructions(of, &instructions, &why) && alo_large_heap(of, &heap, &why))
    return alo_counted_add(now, name, "instructions", instructions) &&
           alo_counted_add(now, name, "heap_calls", heap.calls);
  alo_report("%s: %s", name, why.text);
  return false;
}

/* Those of the largest too: they are the same for each MiB. */
alo_exit alo_large_counted(const alo_bench_settings *settings) {
  alo_counted now = {.count = 0};
  for (int at = 0; at < 2 * 2 * PACKET_SIZES; at++) {
    const alo_large_case of = {at % 2 == 0, (alo_reading_way)(at / 2 % 2), MIB_LEAST,
                               packet_sizes[at / 4], ALO_ARRIVAL_PACKETS};
    if (!count_case(&now, &of))
      return ALO_EXIT_LOCAL;
  }
  for (int text = 0; text < 2; text++) {
    const alo_large_case of = {text, text ? ALO_READING_WHOLE : ALO_READING_PIECES, MIB_MOST,
                               FLAT_PACKET, ALO_ARRIVAL_PACKETS};
    if (!count_case(&now, &of))
      return ALO_EXIT_LOCAL;
  }
  return alo_counted_finish(&now, settings);
}
