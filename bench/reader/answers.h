/* Answers of a server, made for benchmarks: each a whole message, cut into packets. */
#ifndef ALO_BENCH_ANSWERS_H
#define ALO_BENCH_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct alo_answer {
  uint8_t *data;
  size_t size;
} alo_answer;

/* One row with one large value of `size` bytes on the wire (even, for text): nvarchar(max) of
 * letters, or varbinary(max); in chunks of 8,040 bytes, as SQL Server sends it. `packet_size`
 * includes the headers. False: no memory. Drop in every case. */
bool alo_answer_large(alo_answer *answer, bool text, size_t size, uint32_t packet_size);

/* `rows` rows of so many columns: int, nvarchar(40), bigint, datetime2, decimal(18,4), varchar(20),
 * float, bit, uniqueidentifier, date, and again from the first. Every tenth value is NULL, where
 * its column can be. */
bool alo_answer_rows(alo_answer *answer, unsigned columns, size_t rows, uint32_t packet_size);

void alo_answer_drop(alo_answer *answer);

#endif
