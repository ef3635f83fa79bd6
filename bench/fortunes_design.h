/* The reader and the design that it replaces, in memory, on the same answers. Every packet is
 * received by itself, so that an answer of many packets stops the read at each. */
#ifndef ALO_FORTUNES_DESIGN_H
#define ALO_FORTUNES_DESIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "count.h"
#include "fortunes.h"

typedef enum alo_design { ALO_DESIGN_CURRENT, ALO_DESIGN_BASELINE, ALO_DESIGNS } alo_design;

typedef enum alo_design_answer {
  ALO_ANSWER_PACKET, /* 12 rows in one packet: the 1,413 bytes of the benchmark */
  ALO_ANSWER_ROWS,   /* 64 packets of 512 bytes: the 12 rows over and over */
  ALO_ANSWER_VALUE,  /* 64 packets of 512 bytes: one row, whose nvarchar(max) lies in all of them */
  ALO_ANSWERS
} alo_design_answer;

extern const char *const alo_design_names[ALO_DESIGNS];
extern const char *const alo_answer_names[ALO_ANSWERS];  /* as in the counted figures */
extern const char *const alo_answer_titles[ALO_ANSWERS]; /* as people read them */

/* The packets and bytes of an answer, packet headers included. False: no memory. */
bool alo_answer_size(alo_design_answer answer, size_t *packets, size_t *bytes);

/* A query by a design, which can be executed again and again. NULL: no memory. */
typedef struct alo_design_query alo_design_query;
alo_design_query *alo_design_open(alo_design design, alo_design_answer answer);
void alo_design_close(alo_design_query *query); /* NULL is ignored */
/* The reader as it is: values are decoded and no string is kept. */
void alo_design_keep_nothing(alo_design_query *query);
/* False: the answer was not read to its end. The rows stay until they are dropped. */
bool alo_design_execute(alo_design_query *query);
const alo_fortune_list *alo_design_rows(const alo_design_query *query);
void alo_design_drop(alo_design_query *query);

/* Whether both designs give the same rows, and the right ones, for an answer; otherwise why not. */
bool alo_designs_agree(alo_design_answer answer, alo_reason *why);

#endif
