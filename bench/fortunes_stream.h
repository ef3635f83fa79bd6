/* Makes answers with the columns of the fortune table, cut into packets. */
#ifndef ALO_FORTUNES_STREAM_H
#define ALO_FORTUNES_STREAM_H

#include "tds_reader.h"

enum { ALO_FORTUNES_PACKET_SMALL = 512, ALO_FORTUNES_PACKET_LARGE = 4096 };

typedef struct alo_fortunes_stream {
  alo_buffer buffer;
  alo_tds_writer writer;
  bool large; /* message is nvarchar(max), not nvarchar(2048) */
  uint64_t rows;
} alo_fortunes_stream;

void alo_fortunes_stream_open(alo_fortunes_stream *stream, uint32_t packet_size, bool large);
void alo_fortunes_stream_row(alo_fortunes_stream *stream, int32_t id, aloft_text message);
/* The whole answer, valid until close; empty: no memory. */
aloft_bytes alo_fortunes_stream_end(alo_fortunes_stream *stream);
void alo_fortunes_stream_close(alo_fortunes_stream *stream);

enum { ALO_FORTUNES_ANSWER_MAX = 2048, ALO_FORTUNES_ANSWER = 1413 };

/* The answer on the wire, one packet (MS-TDS 2.2.7): `id` as INT4, for it is NOT NULL, and
 * `message` as nvarchar(2048). Returns its size. */
size_t alo_fortunes_answer(uint8_t out[ALO_FORTUNES_ANSWER_MAX]);

#endif
