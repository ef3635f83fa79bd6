#include "fortunes_stream.h"

#include <string.h>

#include "fortunes.h"
#include "heap.h"
#include "utf16.h"

enum { CHUNK = 8040, ANSWER_MAX = 1 << 20 };

/* MS-TDS 2.2.7: the tokens of these answers. */
enum { COLMETADATA = 0x81, ROW = 0xD1, DONE = 0xFD, DONE_COUNT = 0x10, SELECT = 0xC1 };

static void put_column(alo_tds_writer *writer, uint16_t flags, const alo_tds_type *type,
                       aloft_text name) {
  alo_tds_put_u32(writer, 0); /* user type */
  alo_tds_put_u16(writer, flags);
  alo_tds_put_type(writer, type);
  alo_tds_put_b_varchar(writer, name);
}

void alo_fortunes_stream_open(alo_fortunes_stream *stream, uint32_t packet_size, bool large) {
  const alo_tds_type id = {.token = ALO_TDS_INT4, .size = 4};
  alo_tds_type message = {.token = ALO_TDS_NVARCHAR, .size = large ? ALO_TDS_MAX_SIZE : 4096};
  for (size_t i = 0; i < sizeof message.collation; i++)
    message.collation[i] = alo_tds_collation_default[i];
  *stream = (alo_fortunes_stream){.large = large};
  alo_buffer_init(&stream->buffer, &alo_heap_default, ANSWER_MAX);
  alo_tds_writer_init(&stream->writer, &stream->buffer, packet_size);
  alo_tds_message_begin(&stream->writer, ALO_TDS_REPLY, 0);
  alo_tds_put_u8(&stream->writer, COLMETADATA);
  alo_tds_put_u16(&stream->writer, 2);
  put_column(&stream->writer, 0, &id, ALOFT_TEXT("id"));
  put_column(&stream->writer, 0, &message, ALOFT_TEXT("message"));
}

/* In chunks, with its size before them (MS-TDS 2.2.5.2.3). */
static void put_large(alo_tds_writer *writer, const uint8_t *units, size_t size) {
  alo_tds_put_u64(writer, size);
  for (size_t at = 0; at < size;) {
    size_t chunk = size - at < CHUNK ? size - at : CHUNK;
    alo_tds_put_u32(writer, (uint32_t)chunk);
    alo_tds_put(writer, units + at, chunk);
    at += chunk;
  }
  alo_tds_put_u32(writer, 0);
}

void alo_fortunes_stream_row(alo_fortunes_stream *stream, int32_t id, aloft_text message) {
  alo_tds_writer *writer = &stream->writer;
  const alo_tds_type small = {.token = ALO_TDS_NVARCHAR, .size = 4096};
  stream->rows++;
  alo_tds_put_u8(writer, ROW);
  alo_tds_put_u32(writer, (uint32_t)id);
  if (!stream->large) {
    alo_tds_put_text(writer, &small, message);
    return;
  }
  uint8_t *units = alo_heap_take_raw(&alo_heap_default, 2 * message.size + 1);
  if (!units) {
    alo_tds_writer_fail(writer, ALOFT_NO_MEMORY);
    return;
  }
  put_large(writer, units, alo_utf8_to_utf16(message.data, message.size, units));
  alo_heap_give(&alo_heap_default, units, 2 * message.size + 1);
}

aloft_bytes alo_fortunes_stream_end(alo_fortunes_stream *stream) {
  alo_tds_put_u8(&stream->writer, DONE);
  alo_tds_put_u16(&stream->writer, DONE_COUNT);
  alo_tds_put_u16(&stream->writer, SELECT);
  alo_tds_put_u64(&stream->writer, stream->rows);
  if (alo_tds_message_end(&stream->writer) != ALOFT_OK)
    return (aloft_bytes){0};
  return (aloft_bytes){stream->buffer.data + stream->buffer.begin,
                       alo_buffer_size(&stream->buffer)};
}

void alo_fortunes_stream_close(alo_fortunes_stream *stream) {
  alo_buffer_fini(&stream->buffer);
}

/* ---- the answer ---- */

size_t alo_fortunes_answer(uint8_t out[ALO_FORTUNES_ANSWER_MAX]) {
  alo_fortunes_stream stream;
  size_t size = 0;
  alo_fortunes_stream_open(&stream, ALO_FORTUNES_PACKET_LARGE, false);
  for (int32_t id = 1; id <= ALO_FORTUNES; id++)
    alo_fortunes_stream_row(&stream, id, alo_fortunes_message(id));
  aloft_bytes bytes = alo_fortunes_stream_end(&stream);
  if (bytes.size <= ALO_FORTUNES_ANSWER_MAX) {
    memcpy(out, bytes.data, bytes.size);
    size = bytes.size;
  }
  alo_fortunes_stream_close(&stream);
  return size;
}
