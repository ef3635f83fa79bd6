/* A bounded, growing run of bytes: output that waits to be written, a message being collected. */
#ifndef ALO_BUFFER_H
#define ALO_BUFFER_H

#include <aloft/status.h>

typedef struct alo_buffer {
  const aloft_allocator *heap;
  uint8_t *data;
  size_t begin; /* first byte not yet taken */
  size_t end;   /* one past the last byte */
  size_t room;
  size_t max; /* of end - begin */
} alo_buffer;

void alo_buffer_init(alo_buffer *buffer, const aloft_allocator *heap, size_t max);
/* Wipes and releases the memory. */
void alo_buffer_fini(alo_buffer *buffer);

static inline size_t alo_buffer_size(const alo_buffer *buffer) {
  return buffer->end - buffer->begin;
}

/* Room for `size` more bytes at data + end, which the caller then fills and adds to `end`.
 * ALOFT_FULL: over max; ALOFT_NO_MEMORY. Nothing changes then. */
aloft_status alo_buffer_reserve(alo_buffer *buffer, size_t size);
aloft_status alo_buffer_append(alo_buffer *buffer, const void *data, size_t size);
/* Takes `size` bytes from the beginning; memory stays for reuse. */
void alo_buffer_take(alo_buffer *buffer, size_t size);

#endif
