#include "heap_timer.h"

#include <stdlib.h>

enum { ROOM_FIRST = 64 };

static void swap(alo_heap_timer **heap, uint32_t a, uint32_t b) {
  alo_heap_timer *timer = heap[a];
  heap[a] = heap[b];
  heap[b] = timer;
  heap[a]->place = a;
  heap[b]->place = b;
}

static void rise(alo_heap_timers *timers, uint32_t at) {
  while (at > 0) {
    uint32_t parent = (at - 1) / 2;
    if (timers->heap[parent]->due_ns <= timers->heap[at]->due_ns)
      return;
    swap(timers->heap, parent, at);
    at = parent;
  }
}

static void sink(alo_heap_timers *timers, uint32_t at) {
  for (;;) {
    uint32_t child = 2 * at + 1;
    if (child >= timers->count)
      return;
    if (child + 1 < timers->count && timers->heap[child + 1]->due_ns < timers->heap[child]->due_ns)
      child++;
    if (timers->heap[at]->due_ns <= timers->heap[child]->due_ns)
      return;
    swap(timers->heap, at, child);
    at = child;
  }
}

static bool grow(alo_heap_timers *timers) {
  uint32_t room = timers->room ? timers->room * 2 : ROOM_FIRST;
  alo_heap_timer **heap = realloc(timers->heap, room * sizeof(alo_heap_timer *));
  if (!heap)
    return false;
  timers->heap = heap;
  timers->room = room;
  return true;
}

void alo_heap_timers_fini(alo_heap_timers *timers) {
  free(timers->heap);
  *timers = (alo_heap_timers){0};
}

bool alo_heap_timers_add(alo_heap_timers *timers, alo_heap_timer *timer) {
  if (timers->count == timers->room && !grow(timers))
    return false;
  timer->place = timers->count++;
  timers->heap[timer->place] = timer;
  rise(timers, timer->place);
  return true;
}

void alo_heap_timers_remove(alo_heap_timers *timers, alo_heap_timer *timer) {
  uint32_t at = timer->place;
  uint32_t last = --timers->count;
  if (at == last)
    return;
  timers->heap[at] = timers->heap[last];
  timers->heap[at]->place = at;
  rise(timers, at);
  sink(timers, at);
}
