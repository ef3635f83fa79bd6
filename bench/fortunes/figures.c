#include "figures.h"

#include <inttypes.h>
#include <stdio.h>

void alo_fortunes_figures_print(uint64_t queries, uint64_t time_ns, uint64_t cpu_ns, int threads,
                                const double *samples, uint32_t sample_count, const char *more) {
  printf("{\"n\":%" PRIu64 ",\"sec\":%.6f,\"cpu_us\":%.4f,\"threads\":%d,\"samples\":[", queries,
         (double)time_ns / 1e9, queries > 0 ? (double)cpu_ns / 1e3 / (double)queries : 0, threads);
  for (uint32_t i = 0; i < sample_count; i++)
    printf("%s%.3f", i > 0 ? "," : "", samples[i]);
  printf("]%s}\n", more);
  fflush(stdout);
}
