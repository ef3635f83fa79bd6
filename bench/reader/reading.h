/* Reading an answer that lies in memory, in the ways that are compared: by the reader, and by a
 * loop that keeps the bytes of a large value as they come and converts them when it is complete. */
#ifndef ALO_BENCH_READING_H
#define ALO_BENCH_READING_H

#include "answers.h"

typedef enum alo_reading_way {
  ALO_READING_WHOLE,   /* values decoded as they arrive */
  ALO_READING_PIECES,  /* large values read piece by piece */
  ALO_READING_LATER,   /* the bare loop: kept, and converted afterwards */
  ALO_READING_BASELINE /* the replaced design: text only, and packet by packet */
} alo_reading_way;

typedef struct alo_reading alo_reading;

/* NULL: no memory, reported. */
alo_reading *alo_reading_open(alo_reading_way way);
void alo_reading_close(alo_reading *reading);

/* Reads the whole answer, of which `arrival` bytes come at a time: the reader stops at the end of
 * each such part. All values are asked for: text as UTF-8, the others in their native form. Returns
 * the sum of the sizes of texts and of the bytes of binary values; UINT64_MAX: it is not what a
 * reader should find, reported. */
uint64_t alo_reading_run(alo_reading *reading, const alo_answer *answer, bool text, size_t arrival);

/* Most heap memory that it has had at once, in bytes. */
size_t alo_reading_peak(const alo_reading *reading);

#endif
