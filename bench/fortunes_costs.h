/* What a query costs by the reader and by the design that it replaces, in memory. */
#ifndef ALO_FORTUNES_COSTS_H
#define ALO_FORTUNES_COSTS_H

#include "fortunes_design.h"
#include "measure.h"

/* `count` of the benchmark: DESIGN_ANSWER, or ANSWER_decoded: the reader as it is, each value
 * decoded and no string kept. False, reported: no such case, or the answer was not read. */
bool alo_fortunes_count(const char *name, uint64_t operations);

typedef struct alo_design_figures {
  double instructions, heap_calls, heap_bytes;
} alo_design_figures;

/* For one query. `strings`: what keeping and freeing the results costs, which the caller wants;
 * `rest`: everything else. */
typedef struct alo_design_cost {
  alo_design_figures strings, rest;
  bool instructions_counted, heap_counted;
  double per_second, deviation; /* of the rounds, without the best and the worst */
} alo_design_cost;

/* Instructions and heap calls. `why` has the reason of what could not be counted. */
void alo_design_count(alo_design design, alo_design_answer answer, alo_design_cost *cost,
                      alo_reason *why);

/* Instructions of parsing an answer and decoding its values, by the reader as it is. */
bool alo_design_decoded(alo_design_answer answer, double *instructions, alo_reason *why);

/* Queries a second of the designs that are asked for, which take turns. False: one failed;
 * reported. */
bool alo_designs_measure(const bool wanted[ALO_DESIGNS], const alo_measure_plan *plan,
                         alo_design_cost costs[ALO_DESIGNS][ALO_ANSWERS]);

#endif
