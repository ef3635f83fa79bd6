/* A benchmark of aloft-bench: a name on the command line and what runs under it. One file for each,
 * bench_NAME.c, and a line in the table of aloft_bench.c.
 *
 * The program is linked twice: aloft-bench, which measures times and instructions, and
 * aloft-bench-heap, the same with heap_count.c in it, because a counter in each heap call would
 * slow down what calls the heap and flatter what does not. */
#ifndef ALO_BENCHMARK_H
#define ALO_BENCHMARK_H

#include <stdbool.h>
#include <stdint.h>

#include "exit_status.h"
#include "option.h"
#include "table.h"

typedef struct alo_benchmark {
  const char *name;
  const char *summary;
  /* argv[0] is the name. Returns an alo_exit; with --check ALO_EXIT_ANSWER when a bar is short. */
  int (*run)(int argc, char **argv);
  /* `operations` operations of the case `name`, and nothing that depends on their number: what
   * count.h runs in a process of its own. False, reported: no such case, or it failed. NULL: the
   * benchmark has no cases. */
  bool (*count)(const char *name, uint64_t operations);
  bool heap; /* run it in aloft-bench-heap, where alo_heap_counts gives the counts so far */
} alo_benchmark;

extern const alo_benchmark alo_bench_inflight;
extern const alo_benchmark alo_bench_request;
extern const alo_benchmark alo_bench_fortunes;
extern const alo_benchmark alo_bench_large;
extern const alo_benchmark alo_bench_rows;

/* The options that every benchmark has. */
typedef struct alo_bench_settings {
  const char *format_name; /* as given; NULL: table */
  const char *baseline;    /* compare the counted figures with this file and print nothing else */
  bool check;              /* print bars, not tables */
  bool counted;            /* print the counted figures and nothing else */
  int64_t rounds;          /* 0: the default of measure.h */
  uint64_t iteration_ns;   /* 0: the default of measure.h */
  alo_format format;       /* read from format_name */
} alo_bench_settings;

/* Reads the command line: the common options and those of `own` (NULL: none). ALO_EXIT_OK with
 * `*done` set: --help was given and answered. */
alo_exit alo_bench_read(alo_bench_settings *settings, alo_option_group *own, const char *synopsis,
                        const char *summary, const char *notes, int argc, char **argv, bool *done);

#endif
