/* Rows read in memory: by the reader, every value in its native form or as UTF-8, and by a bare
 * loop that knows their layout. */
#ifndef ALO_ROWS_CASES_H
#define ALO_ROWS_CASES_H

#include "answers.h"
#include "count.h"

enum { ALO_ROWS_IN_MEMORY = 10000, ALO_ROWS_PACKET = 4096 };

typedef struct alo_rows_run {
  alo_answer answer;
  unsigned columns;
  uint64_t sum;  /* that there should be */
  void *reader;  /* of the wire; NULL: the bare loop */
  uint8_t *kept; /* of the bare loop: the payload in one piece */
  size_t kept_room;
  char text[256];
} alo_rows_run;

/* Of "reader_10" or "bare_10": 10 columns. False: there is no such case, or no memory; reported.
 * Close in every case. */
bool alo_rows_open(alo_rows_run *run, const char *name);
void alo_rows_close(alo_rows_run *run);

/* Reads all of the answer's rows once. False: they are not those that were made. */
bool alo_rows_read(alo_rows_run *run);

/* Of one row. */
bool alo_rows_instructions(const char *name, double *figure, alo_reason *why);
bool alo_rows_heap_calls(const char *name, double *figure, alo_reason *why);

#endif
