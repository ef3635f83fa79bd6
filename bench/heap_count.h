/* The counter of heap_count.c: calls and bytes of the whole process so far. */
#ifndef ALOFT_HEAP_COUNT_H
#define ALOFT_HEAP_COUNT_H

#include <stdint.h>

enum {
  ALOFT_HEAP_ALLOCATIONS,
  ALOFT_HEAP_RESIZES,
  ALOFT_HEAP_RELEASES,
  ALOFT_HEAP_BYTES,
  ALOFT_HEAP_MAPPINGS,
  ALOFT_HEAP_COUNTS
};

void aloft_heap_count(uint64_t out[ALOFT_HEAP_COUNTS]);

#endif
