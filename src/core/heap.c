#include "heap.h"

#include <string.h>

void *alo_heap_take_raw(const aloft_allocator *heap, size_t size) {
  return heap->allocate(heap->context, size);
}

void *alo_heap_take(const aloft_allocator *heap, size_t size) {
  void *memory = alo_heap_take_raw(heap, size);
  if (memory)
    memset(memory, 0, size);
  return memory;
}

void *alo_heap_resize(const aloft_allocator *heap, void *memory, size_t old_size, size_t size) {
  return memory ? heap->resize(heap->context, memory, old_size, size)
                : heap->allocate(heap->context, size);
}

void alo_heap_give(const aloft_allocator *heap, void *memory, size_t size) {
  if (memory)
    heap->release(heap->context, memory, size);
}
