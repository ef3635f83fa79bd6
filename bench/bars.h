/* Bars: figures and the bounds that they must keep. One line for each on standard output:
 *
 *   none, instructions       74.2  at most       80  ok
 *
 * ends with ok, short, skipped (with the reason; something optional is not on this machine) or
 * error (with the reason; it should have been measured). */
#ifndef ALO_BARS_H
#define ALO_BARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "exit_status.h"

typedef enum alo_bound { ALO_AT_MOST, ALO_AT_LEAST } alo_bound;

typedef struct alo_bars {
  FILE *file; /* NULL: standard output */
  size_t ok, shorts, skipped, errors;
} alo_bars;

void alo_bar(alo_bars *bars, const char *name, double figure, alo_bound bound, double limit);
/* The figure cannot be had and that is documented as allowed. */
void alo_bar_skip(alo_bars *bars, const char *name, const char *why);
/* The figure cannot be had. */
void alo_bar_error(alo_bars *bars, const char *name, const char *why);

/* Prints a line of sums. ALO_EXIT_ANSWER (1) when a bar is short or could not be measured, or when
 * there was none; otherwise ALO_EXIT_OK. */
alo_exit alo_bars_finish(const alo_bars *bars);

#endif
