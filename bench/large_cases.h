/* The cases of `aloft bench large`: a value of one size, read in one way, from an answer in memory
 * that arrives in one manner. */
#ifndef ALO_LARGE_CASES_H
#define ALO_LARGE_CASES_H

#include "count.h"
#include "reading.h"

/* How the answer arrives. */
typedef enum alo_arrival {
  ALO_ARRIVAL_THERE,   /* all is there: received in blocks of 64 KiB, as a loop's are */
  ALO_ARRIVAL_PACKETS, /* packet by packet, with a stop after each */
  ALO_ARRIVAL_SEGMENTS /* in pieces of 1,460 bytes, as TCP cuts them, with a stop after each */
} alo_arrival;

typedef struct alo_large_case {
  bool text; /* nvarchar(max), else varbinary(max) */
  alo_reading_way way;
  unsigned mib; /* of the value on the wire */
  uint32_t packet_size;
  alo_arrival arrival;
} alo_large_case;

enum { ALO_LARGE_NAME_MAX = 48 };

/* "nvarchar_whole_4096_5_there": its name where cases are counted. */
void alo_large_case_name(const alo_large_case *of, char name[ALO_LARGE_NAME_MAX]);
/* False: there is no such case. */
bool alo_large_case_find(const char *name, alo_large_case *found);

/* Its answer and a reader, to be run again and again. */
typedef struct alo_large_run {
  alo_large_case of;
  alo_answer answer;
  alo_reading *reading;
} alo_large_run;

/* False, reported. Close in every case. */
bool alo_large_open(alo_large_run *run, const alo_large_case *of);
/* False, reported: it was not read as it was made. */
bool alo_large_read(alo_large_run *run, uint64_t times);
void alo_large_close(alo_large_run *run);

/* Of reading it once. */
bool alo_large_instructions(const alo_large_case *of, double *figure, alo_reason *why);
bool alo_large_heap(const alo_large_case *of, alo_heap_cost *figure, alo_reason *why);

#endif
