/* Timers in a binary heap, the earliest first: what the timing wheel is measured against. */
#ifndef ALO_HEAP_TIMER_H
#define ALO_HEAP_TIMER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct alo_heap_timer {
  uint64_t due_ns;
  uint32_t place; /* in the heap */
} alo_heap_timer;

typedef struct alo_heap_timers {
  alo_heap_timer **heap;
  uint32_t count, room;
} alo_heap_timers;

void alo_heap_timers_fini(alo_heap_timers *timers);

/* The timer stays where it is until it is removed. False: no memory. */
bool alo_heap_timers_add(alo_heap_timers *timers, alo_heap_timer *timer);
void alo_heap_timers_remove(alo_heap_timers *timers, alo_heap_timer *timer);

/* The earliest, if it is due at `now_ns`; not removed. NULL: none is. */
static inline alo_heap_timer *alo_heap_timers_due(const alo_heap_timers *timers, uint64_t now_ns) {
  if (timers->count == 0 || timers->heap[0]->due_ns > now_ns)
    return NULL;
  return timers->heap[0];
}

#endif
