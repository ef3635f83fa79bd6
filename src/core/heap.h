/* The allocator of a loop, as every layer calls it. Core has no heap of its own. */
#ifndef ALO_HEAP_H
#define ALO_HEAP_H

#include <aloft/base.h>

/* Zeroed memory, or NULL. */
void *alo_heap_take(const aloft_allocator *heap, size_t size);
/* The same, not zeroed. */
void *alo_heap_take_raw(const aloft_allocator *heap, size_t size);
/* NULL on failure: the old memory is untouched then. `memory` may be NULL with old_size 0. */
void *alo_heap_resize(const aloft_allocator *heap, void *memory, size_t old_size, size_t size);
/* NULL is ignored. */
void alo_heap_give(const aloft_allocator *heap, void *memory, size_t size);

/* malloc, realloc, free. Lives outside core: see src/io/heap_default.c. */
extern const aloft_allocator alo_heap_default;

#endif
