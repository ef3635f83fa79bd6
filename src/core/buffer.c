#include "buffer.h"

#include <string.h>

#include "heap.h"

enum { ROOM_MIN = 512 };

void alo_buffer_init(alo_buffer *buffer, const aloft_allocator *heap, size_t max) {
  *buffer = (alo_buffer){.heap = heap, .max = max};
}

/* What is released has been on its way to a peer and may hold credentials. */
static void release(const alo_buffer *buffer) {
  if (!buffer->data) {
    return;
  }
  memset(buffer->data, 0, buffer->room);
  alo_heap_give(buffer->heap, buffer->data, buffer->room);
}

void alo_buffer_fini(alo_buffer *buffer) {
  release(buffer);
  *buffer = (alo_buffer){.heap = buffer->heap, .max = buffer->max};
}

/* Room is at most twice `max`. Then whenever the end is reached, at least as much has been taken
 * as is left, so that moving the rest to the front costs less than a copy per byte appended. */
static size_t grown_room(const alo_buffer *buffer, size_t wanted) {
  size_t room = buffer->room < ROOM_MIN ? ROOM_MIN : buffer->room;
  while (room < wanted || room == buffer->room) {
    if (room > buffer->max) {
      return buffer->max > SIZE_MAX / 2 ? SIZE_MAX : buffer->max * 2;
    }
    room = room > SIZE_MAX / 2 ? SIZE_MAX : room * 2;
  }
  return room;
}

static aloft_status grow(alo_buffer *buffer, size_t wanted) {
  size_t live = alo_buffer_size(buffer);
  size_t room = grown_room(buffer, wanted);
  uint8_t *data = alo_heap_resize(buffer->heap, NULL, 0, room);
  if (!data) {
    return ALOFT_NO_MEMORY;
  }
  if (buffer->data) {
    memcpy(data, buffer->data + buffer->begin, live);
  }
  release(buffer);
  buffer->data = data;
  buffer->room = room;
  buffer->begin = 0;
  buffer->end = live;
  return ALOFT_OK;
}

aloft_status alo_buffer_reserve(alo_buffer *buffer, size_t size) {
  size_t live = alo_buffer_size(buffer);
  if (size > buffer->max || live > buffer->max - size) {
    return ALOFT_FULL;
  }
  if (size <= buffer->room - buffer->end && buffer->data) {
    return ALOFT_OK;
  }
  if (!buffer->data || buffer->begin < live || buffer->room < live + size) {
    return grow(buffer, live + size);
  }
  memmove(buffer->data, buffer->data + buffer->begin, live);
  buffer->begin = 0;
  buffer->end = live;
  return ALOFT_OK;
}

aloft_status alo_buffer_append(alo_buffer *buffer, const void *data, size_t size) {
  aloft_status status = alo_buffer_reserve(buffer, size);
  if (status == ALOFT_OK && size) {
    memcpy(buffer->data + buffer->end, data, size);
    buffer->end += size;
  }
  return status;
}

void alo_buffer_take(alo_buffer *buffer, size_t size) {
  buffer->begin += size;
  if (buffer->begin == buffer->end) {
    buffer->begin = 0;
    buffer->end = 0;
  }
}
