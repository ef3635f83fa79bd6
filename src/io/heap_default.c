#include "heap.h"

#include <stdlib.h>

static void *allocate(void *context, size_t size) {
  (void)context;
  return malloc(size);
}

static void *resize(void *context, void *memory, size_t old_size, size_t size) {
  (void)context;
  (void)old_size;
  return realloc(memory, size);
}

static void release(void *context, void *memory, size_t size) {
  (void)context;
  (void)size;
  free(memory);
}

const aloft_allocator alo_heap_default = {allocate, resize, release, NULL};
