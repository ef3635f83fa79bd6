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

/* What a reader of such rows should have: the sum of the low 16 bits of each value, 0 for NULL. Of
 * a text its size in UTF-8, of a date and time the days since 0001-01-01, of the decimal its number
 * without the point, of the float seven times itself, of the uniqueidentifier its first byte. */
uint64_t alo_answer_rows_sum(unsigned columns, uint64_t rows);
enum { ALO_ANSWER_SUM_MASK = 0xFFFF };

/* Where their first row begins in the payload: behind COLMETADATA. */
size_t alo_answer_rows_begin(unsigned columns);

/* Rows without the packets' headers, to be sent as often as wanted between their COLMETADATA and a
 * DONE. */
typedef struct alo_answer_parts {
  alo_answer before, rows, after;
} alo_answer_parts;

/* `rows` of them, `times` times. False: no memory. Drop in every case. */
bool alo_answer_parts_make(alo_answer_parts *parts, unsigned columns, size_t rows, uint64_t times);
void alo_answer_parts_drop(alo_answer_parts *parts);

void alo_answer_drop(alo_answer *answer);

#endif
