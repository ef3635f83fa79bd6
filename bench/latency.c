#include "latency.h"

#include <string.h>

/* Values below 32 have a bin each; above, each power of two has 32. */
static unsigned bin_of(uint64_t ns) {
  if (ns < 32)
    return (unsigned)ns;
  unsigned power = 63u - (unsigned)__builtin_clzll(ns) - 5u;
  return (power + 1) * 32 + (unsigned)(ns >> power & 31);
}

static uint64_t least_of(unsigned bin) {
  if (bin < 32)
    return bin;
  return (uint64_t)(32 + bin % 32) << (bin / 32 - 1);
}

void alo_latency_clear(alo_latency *latency) {
  memset(latency, 0, sizeof *latency);
}

void alo_latency_add(alo_latency *latency, uint64_t ns) {
  latency->bins[bin_of(ns)]++;
  latency->count++;
}

void alo_latency_merge(alo_latency *latency, const alo_latency *other) {
  for (unsigned bin = 0; bin < ALO_LATENCY_BINS; bin++)
    latency->bins[bin] += other->bins[bin];
  latency->count += other->count;
}

uint64_t alo_latency_at(const alo_latency *latency, double share) {
  const uint64_t before = (uint64_t)(share * (double)latency->count);
  uint64_t seen = 0;
  for (unsigned bin = 0; bin < ALO_LATENCY_BINS; bin++) {
    seen += latency->bins[bin];
    if (seen > before)
      return least_of(bin);
  }
  return 0;
}
