/* TDS messages in tests: a writer with its buffer, and a stream of packets joined to a payload. */
#ifndef HARNESS_TDS_MESSAGE_H
#define HARNESS_TDS_MESSAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "guard.h"
#include "harness_heap.h"
#include "tds_packet.h"
#include "utf16.h"

typedef struct tds_output {
  harness_heap heap;
  alo_buffer buffer;
  alo_tds_writer writer;
} tds_output;

static inline void tds_output_init(tds_output *output, uint32_t packet_size, size_t max) {
  harness_heap_init(&output->heap);
  alo_buffer_init(&output->buffer, &output->heap.allocator, max);
  alo_tds_writer_init(&output->writer, &output->buffer, packet_size);
}

static inline void tds_output_fini(tds_output *output) {
  alo_buffer_fini(&output->buffer);
  harness_heap_check(&output->heap);
}

static inline aloft_bytes tds_output_bytes(const tds_output *output) {
  return (aloft_bytes){output->buffer.data + output->buffer.begin,
                       alo_buffer_size(&output->buffer)};
}

/* The payload of the one message that `stream` is, before a guard page. */
static inline guard_buffer tds_payload(aloft_bytes stream, uint8_t *type) {
  uint8_t *joined = malloc(stream.size + 1);
  size_t size = 0;
  alo_tds_frames frames = {0};
  aloft_bytes piece;
  alo_tds_frame frame;
  assert_non_null(joined);
  while ((frame = alo_tds_frames_next(&frames, &stream, &piece)) == ALO_TDS_FRAME_PAYLOAD) {
    memcpy(joined + size, piece.data, piece.size);
    size += piece.size;
  }
  assert_int_equal(frame, ALO_TDS_FRAME_END);
  assert_int_equal(stream.size, 0);
  if (type) {
    *type = frames.type;
  }
  guard_buffer payload = guard_copy(joined, size);
  free(joined);
  return payload;
}

/* Ends the writer's message and takes its payload; what was in the buffer before it goes too. */
static inline guard_buffer tds_output_payload(tds_output *output) {
  assert_int_equal(alo_tds_message_end(&output->writer), ALOFT_OK);
  alo_buffer_take(&output->buffer, output->writer.message_at);
  guard_buffer payload = tds_payload(tds_output_bytes(output), NULL);
  alo_buffer_take(&output->buffer, alo_buffer_size(&output->buffer));
  return payload;
}

static inline aloft_bytes guard_bytes(const guard_buffer *buffer) {
  return (aloft_bytes){buffer->data, buffer->size};
}

static inline void assert_text(aloft_text text, const char *expected) {
  assert_int_equal(text.size, strlen(expected));
  assert_memory_equal(text.data, expected, text.size);
}

/* UTF-16LE bytes against UTF-8. */
static inline void assert_utf16(aloft_bytes units, aloft_text expected) {
  uint8_t *wanted = malloc(2 * expected.size + 1);
  assert_non_null(wanted);
  size_t size = alo_utf8_to_utf16(expected.data, expected.size, wanted);
  assert_int_equal(units.size, size);
  assert_memory_equal(units.data, wanted, size);
  free(wanted);
}

#endif
