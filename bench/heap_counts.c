/* Compiled once for each program: only one of them has the counter linked in. */
#include "count.h"

#ifdef ALOFT_HEAP_COUNTED

  #include "heap_count.h"

bool alo_heap_counts(uint64_t *calls, uint64_t *bytes) {
  uint64_t counts[ALOFT_HEAP_COUNTS];
  aloft_heap_count(counts);
  *calls = counts[ALOFT_HEAP_ALLOCATIONS] + counts[ALOFT_HEAP_RESIZES] +
           counts[ALOFT_HEAP_RELEASES] + counts[ALOFT_HEAP_MAPPINGS];
  *bytes = counts[ALOFT_HEAP_BYTES];
  return true;
}

#else

bool alo_heap_counts(uint64_t *calls, uint64_t *bytes) {
  *calls = *bytes = 0;
  return false;
}

#endif
