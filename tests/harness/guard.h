/* Buffers that end exactly where memory ends: a read or write one byte too far is a fault. */
#ifndef ALO_TEST_GUARD_H
#define ALO_TEST_GUARD_H

#include <stddef.h>

typedef struct guard_buffer {
  void *data; /* `size` bytes, directly followed by a page that cannot be touched */
  size_t size;
  void *mapping;
  size_t mapping_size;
} guard_buffer;

/* Zeroed memory; `size` may be 0. Fails the test when the system has none. */
guard_buffer guard_take(size_t size);
/* The same with a copy of `data`. */
guard_buffer guard_copy(const void *data, size_t size);
void guard_give(guard_buffer *buffer);

#endif
