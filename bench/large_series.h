/* Readings of one value in memory, in all ways and arrivals, against each other. */
#ifndef ALO_LARGE_SERIES_H
#define ALO_LARGE_SERIES_H

#include "benchmark.h"
#include "large_cases.h"
#include "measure.h"

enum { ALO_LARGE_WAYS = 3, ALO_LARGE_ARRIVALS = 3, ALO_LARGE_SERIES = 9 };

extern const char *const alo_large_way_names[ALO_LARGE_WAYS];
extern const char *const alo_large_arrival_names[ALO_LARGE_ARRIVALS];

/* Ordered by ways, then by arrivals. */
typedef struct alo_large_series {
  alo_large_run runs[ALO_LARGE_SERIES];
  alo_contestant contestants[ALO_LARGE_SERIES];
  size_t count, rounds;
} alo_large_series;

/* False, reported. Close in every case. */
bool alo_large_series_open(alo_large_series *series, bool text, unsigned mib, uint32_t packet_size);
bool alo_large_series_measure(alo_large_series *series, const alo_bench_settings *settings);
void alo_large_series_close(alo_large_series *series);

/* Processor time that the replaced design takes for one text, which arrives packet by packet. 0:
 * no memory, reported. */
double alo_large_baseline_ns(unsigned mib, uint32_t packet_size);

/* The rounds of the settings, or the default. */
size_t alo_large_rounds(const alo_bench_settings *settings);

#endif
