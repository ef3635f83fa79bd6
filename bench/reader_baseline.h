/* The reader's design that Aloft's replaces, to be measured beside it: what an asynchronous read
 * does that runs out of bytes, as the origin had it before its optimisation.
 *
 * A stop allocates a snapshot: the parser's state as it was where the read began (five booleans,
 * the lengths of a large value, which are there whether one is read or not) and the packets since
 * then, as objects in a list behind an array that grows. The next packet is added to them, the
 * state is put back, and everything is parsed again from the first packet. Values that were cut
 * are collected again each time.
 *
 * It knows what it is measured with: COLMETADATA, ROW and DONE, with columns of INT4, nvarchar(n)
 * and nvarchar(max). */
#ifndef ALO_READER_BASELINE_H
#define ALO_READER_BASELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <aloft/base.h>

typedef struct alo_baseline_reader alo_baseline_reader;

typedef enum alo_baseline_step {
  ALO_BASELINE_ROW,
  ALO_BASELINE_END,     /* of the answer */
  ALO_BASELINE_PENDING, /* give it another packet and ask again */
  ALO_BASELINE_BROKEN   /* the answer is not as described above, or no memory; stays so */
} alo_baseline_step;

typedef struct alo_baseline_counters {
  uint64_t stops;
  uint64_t replayed; /* packets parsed again */
} alo_baseline_counters;

/* NULL: no memory. */
alo_baseline_reader *alo_baseline_reader_open(size_t packet_size);
void alo_baseline_reader_close(alo_baseline_reader *reader);

/* The buffer into which the next packet is received, `packet_size` bytes of room, header included:
 * the last one again, or a new one when a snapshot holds that. NULL: no memory. */
uint8_t *alo_baseline_reader_buffer(alo_baseline_reader *reader);
/* The packet there has so many bytes. */
void alo_baseline_reader_received(alo_baseline_reader *reader, size_t size);

/* One asynchronous read of a row. */
alo_baseline_step alo_baseline_reader_read(alo_baseline_reader *reader);

/* After ROW, until the next read. The text is UTF-16. */
int32_t alo_baseline_reader_int32(const alo_baseline_reader *reader, size_t column);
aloft_bytes alo_baseline_reader_utf16(const alo_baseline_reader *reader, size_t column);

alo_baseline_counters alo_baseline_reader_counters(const alo_baseline_reader *reader);

#endif
