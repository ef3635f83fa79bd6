/* Latencies in memory of a fixed size: a histogram whose bins are at most 1/32 (about 3 %) wide. */
#ifndef ALO_LATENCY_H
#define ALO_LATENCY_H

#include <stdint.h>

enum { ALO_LATENCY_BINS = 60 * 32 };

typedef struct alo_latency {
  uint64_t bins[ALO_LATENCY_BINS];
  uint64_t count;
} alo_latency;

void alo_latency_clear(alo_latency *latency);
void alo_latency_add(alo_latency *latency, uint64_t ns);
/* Adds what `other` has seen. */
void alo_latency_merge(alo_latency *latency, const alo_latency *other);
/* The lower bound, in nanoseconds, of the bin in which the given share of them ends: 0.5 gives the
 * median. None seen: 0. */
uint64_t alo_latency_at(const alo_latency *latency, double share);

#endif
