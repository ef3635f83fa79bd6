/* Counted figures against bench/baseline/BENCHMARK.tsv: lines of name, tab, figure. Figures named
 * *.instructions may rise by 2 %; all others (heap_calls, heap_bytes, system_calls) not at all. */
#ifndef ALO_COUNTED_H
#define ALO_COUNTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "benchmark.h"

enum { ALO_COUNTED_MAX = 64, ALO_COUNTED_NAME_MAX = 64 };

typedef struct alo_counted_figure {
  char name[ALO_COUNTED_NAME_MAX];
  double figure;
} alo_counted_figure;

typedef struct alo_counted {
  size_t count;
  alo_counted_figure figures[ALO_COUNTED_MAX];
} alo_counted;

/* Adds CASE.KIND. False: full, or the name is too long. */
bool alo_counted_add(alo_counted *counted, const char *name, const char *kind, double figure);

/* Reads a baseline. False: it cannot be read, or a line is wrong; reported. */
bool alo_counted_read(alo_counted *counted, const char *path);

void alo_counted_print(const alo_counted *counted, FILE *file);

/* Holds `now` to `baseline`, which came from `path`, and says on standard error what differs and
 * how to move it. ALO_EXIT_ANSWER: something has risen, or stands in only one of them; a drop by
 * more than 2 % is only told. */
alo_exit alo_counted_compare(const alo_counted *now, const alo_counted *baseline, const char *path);

/* The end of a benchmark that has counted: compares with the baseline that --baseline names, or
 * prints; with --format markdown or json as a table. */
alo_exit alo_counted_finish(const alo_counted *now, const alo_bench_settings *settings);

#endif
