/* aloft bench large */
#include "benchmark.h"

#include <stddef.h>

#include "large_bars.h"
#include "large_cases.h"
#include "large_tables.h"
#include "report.h"

enum { MIB_MAX = 64 };

typedef struct large_values {
  int64_t mib;
  const char *svg;
} large_values;

static const alo_option large_options[] = {
    {.name = "mib",
     .kind = ALO_OPTION_NUMBER,
     .value = "N",
     .help = "Values of this size only, in MiB on the wire; by default of 1, 5, 10, 20 and 40.",
     .offset = offsetof(large_values, mib),
     .min = 1,
     .max = MIB_MAX},
    {.name = "svg",
     .kind = ALO_OPTION_TEXT,
     .value = "FILE",
     .help = "Draw time against size into FILE as well, beside the published figures.",
     .offset = offsetof(large_values, svg)},
};

static const char large_notes[] =
    "In memory: the reader alone, on answers that are there or arrive bit by bit, beside a bare "
    "loop that keeps the bytes and converts them when all have come, and the design that the "
    "reader replaces. Over a socket: clients with a process each that take turns; db-lib takes "
    "part when the Debian package freetds-dev was there at the build.";

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
  large_values values = {0};
  bool done = false;
  alo_option_group group = {.title = "Large values",
                            .options = large_options,
                            .count = sizeof large_options / sizeof large_options[0],
                            .values = &values};
  alo_exit code =
      alo_bench_read(&settings, &group, "aloft bench large [OPTION...]",
                     "Values of 1 to 40 MiB, whole and in pieces.", large_notes, argc, argv, &done);
  if (code != ALO_EXIT_OK || done)
    return (int)code;
  const bool counts = settings.counted || settings.baseline;
  if ((values.svg || values.mib) && (settings.check || counts))
    return (int)alo_report_usage("--mib and --svg are for the tables: leave --check, --counted and "
                                 "--baseline out");
  return (int)(settings.check ? alo_large_check(&settings)
               : counts       ? alo_large_counted(&settings)
                        : alo_large_tables_print(&settings, (unsigned)values.mib, values.svg));
}

const alo_benchmark alo_bench_large = {
    .name = "large",
    .summary = "values of 1 to 40 MiB",
    .run = run,
    .count = count,
};
