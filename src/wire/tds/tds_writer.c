#include "tds_packet.h"

#include <string.h>

#include "utf16.h"

enum { CHUNK = 512 }; /* bytes of UTF-8 converted at once */

void alo_tds_writer_init(alo_tds_writer *writer, alo_buffer *out, uint32_t packet_size) {
  *writer = (alo_tds_writer){.out = out, .packet_size = packet_size};
}

void alo_tds_writer_fail(alo_tds_writer *writer, aloft_status status) {
  if (writer->failed == ALOFT_OK) {
    writer->failed = status;
  }
}

/* ---- packets ---- */

static void open_packet(alo_tds_writer *writer, uint8_t status) {
  uint8_t header[ALO_TDS_HEADER_SIZE] = {writer->type};
  header[1] = status;
  header[4] = (uint8_t)(writer->spid >> 8);
  header[5] = (uint8_t)(writer->spid & 0xFF);
  header[6] = writer->packet_id++;
  size_t at = alo_buffer_size(writer->out);
  aloft_status appended = alo_buffer_append(writer->out, header, sizeof header);
  if (appended == ALOFT_OK) {
    writer->packet_at = at;
  } else {
    alo_tds_writer_fail(writer, appended);
  }
}

static size_t packet_fill(const alo_tds_writer *writer) {
  return alo_buffer_size(writer->out) - writer->packet_at;
}

static void close_packet(alo_tds_writer *writer, uint8_t status) {
  uint8_t *header = writer->out->data + writer->out->begin + writer->packet_at;
  size_t size = packet_fill(writer);
  header[1] = (uint8_t)(header[1] | status);
  header[2] = (uint8_t)(size >> 8);
  header[3] = (uint8_t)(size & 0xFF);
}

void alo_tds_message_begin(alo_tds_writer *writer, uint8_t type, uint8_t status) {
  writer->type = type;
  writer->status = status;
  writer->packet_id = 1;
  writer->failed = ALOFT_OK;
  writer->inside = true;
  writer->message_at = alo_buffer_size(writer->out);
  writer->packet_at = writer->message_at;
  open_packet(writer, status);
}

aloft_status alo_tds_message_end(alo_tds_writer *writer) {
  writer->inside = false;
  if (writer->failed == ALOFT_OK) {
    close_packet(writer, ALO_TDS_STATUS_EOM);
  } else {
    writer->out->end = writer->out->begin + writer->message_at;
  }
  return writer->failed;
}

size_t alo_tds_writer_whole(const alo_tds_writer *writer) {
  if (!writer->inside) {
    return alo_buffer_size(writer->out);
  }
  return writer->failed == ALOFT_OK ? writer->packet_at : writer->message_at;
}

void alo_tds_writer_taken(alo_tds_writer *writer, size_t size) {
  writer->message_at -= size < writer->message_at ? size : writer->message_at;
  writer->packet_at -= size < writer->packet_at ? size : writer->packet_at;
}

/* ---- bytes and numbers ---- */

static void put_across_packets(alo_tds_writer *writer, const uint8_t *bytes, size_t size) {
  while (size > 0 && writer->failed == ALOFT_OK) {
    size_t room = writer->packet_size - packet_fill(writer);
    if (room == 0) {
      close_packet(writer, 0);
      open_packet(writer, 0);
      continue;
    }
    size_t piece = size < room ? size : room;
    aloft_status appended = alo_buffer_append(writer->out, bytes, piece);
    if (appended != ALOFT_OK) {
      alo_tds_writer_fail(writer, appended);
    }
    bytes += piece;
    size -= piece;
  }
}

void alo_tds_put(alo_tds_writer *writer, const void *data, size_t size) {
  if (writer->failed == ALOFT_OK && size > 0) {
    put_across_packets(writer, data, size);
  }
}

/* Numbers are most of what a server writes, so the case without any boundary is kept short. */
static void put_number(alo_tds_writer *writer, uint64_t value, size_t size) {
  alo_buffer *out = writer->out;
  uint8_t bytes[8];
  for (size_t i = 0; i < size; i++) {
    bytes[i] = (uint8_t)(value >> (8 * i));
  }
  if (writer->failed == ALOFT_OK && size <= writer->packet_size - packet_fill(writer) &&
      size <= out->room - out->end && size <= out->max - alo_buffer_size(out)) {
    memcpy(out->data + out->end, bytes, size);
    out->end += size;
  } else {
    alo_tds_put(writer, bytes, size);
  }
}

void alo_tds_put_u8(alo_tds_writer *writer, uint8_t value) {
  put_number(writer, value, 1);
}

void alo_tds_put_u16(alo_tds_writer *writer, uint16_t value) {
  put_number(writer, value, 2);
}

void alo_tds_put_u32(alo_tds_writer *writer, uint32_t value) {
  put_number(writer, value, 4);
}

void alo_tds_put_u64(alo_tds_writer *writer, uint64_t value) {
  put_number(writer, value, 8);
}

/* ---- text ---- */

/* The longest beginning of at most CHUNK bytes that does not end inside a character. */
static size_t chunk_of(aloft_text text) {
  if (text.size <= CHUNK) {
    return text.size;
  }
  size_t size = CHUNK;
  while (size > CHUNK - 3 && ((uint8_t)text.data[size] & 0xC0) == 0x80) {
    size--;
  }
  return size;
}

void alo_tds_put_utf16(alo_tds_writer *writer, aloft_text text) {
  uint8_t units[2 * CHUNK];
  while (text.size > 0 && writer->failed == ALOFT_OK) {
    size_t chunk = chunk_of(text);
    size_t size = alo_utf8_to_utf16(text.data, chunk, units);
    if (size == SIZE_MAX) {
      alo_tds_writer_fail(writer, ALOFT_ARGUMENT);
      return;
    }
    alo_tds_put(writer, units, size);
    text.data += chunk;
    text.size -= chunk;
  }
}

static void put_counted(alo_tds_writer *writer, aloft_text text, size_t count_size) {
  size_t units = alo_utf8_utf16_count(text.data, text.size);
  if (units > (count_size == 1 ? UINT8_MAX : UINT16_MAX)) { /* SIZE_MAX too: ill-formed */
    alo_tds_writer_fail(writer, ALOFT_ARGUMENT);
    return;
  }
  put_number(writer, units, count_size);
  alo_tds_put_utf16(writer, text);
}

void alo_tds_put_b_varchar(alo_tds_writer *writer, aloft_text text) {
  put_counted(writer, text, 1);
}

void alo_tds_put_us_varchar(alo_tds_writer *writer, aloft_text text) {
  put_counted(writer, text, 2);
}
