/* aloft-bench NAME [OPTION...]: the benchmarks, which `aloft bench` runs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "benchmark.h"
#include "count.h"
#include "nearest.h"
#include "program.h"
#include "report.h"

static const alo_benchmark *const benchmarks[] = {&alo_bench_inflight, &alo_bench_request,
                                                  &alo_bench_fortunes, &alo_bench_large,
                                                  &alo_bench_rows};

enum { BENCHMARKS = sizeof benchmarks / sizeof benchmarks[0] };

static void print_overview(FILE *file) {
  fprintf(file, "Usage: aloft bench BENCHMARK [OPTION...]\n\n"
                "What operations cost, measured and counted.\n\nBenchmarks:\n");
  for (size_t i = 0; i < BENCHMARKS; i++)
    fprintf(file, "  %-9s %s\n", benchmarks[i]->name, benchmarks[i]->summary);
  fprintf(file, "\n\"aloft bench BENCHMARK --help\" explains each.\n");
}

static const alo_benchmark *find(const char *name) {
  for (size_t i = 0; i < BENCHMARKS; i++) {
    if (strcmp(benchmarks[i]->name, name) == 0)
      return benchmarks[i];
  }
  alo_nearest nearest = {0};
  for (size_t i = 0; i < BENCHMARKS; i++)
    alo_nearest_try(&nearest, name, benchmarks[i]->name);
  if (nearest.word)
    alo_report_usage("unknown benchmark '%s': did you mean %s?", name, nearest.word);
  else
    alo_report_usage("unknown benchmark '%s'", name);
  return NULL;
}

/* count BENCHMARK CASE OPERATIONS: nothing but the case. Prints heap calls and bytes where they are
 * counted. */
static int count(int argc, char **argv) {
  const alo_benchmark *benchmark = argc == 4 ? find(argv[1]) : NULL;
  if (!benchmark || !benchmark->count)
    return ALO_EXIT_USAGE;
  char *end = NULL;
  errno = 0;
  uint64_t operations = strtoumax(argv[3], &end, 10);
  if (errno != 0 || end == argv[3] || *end != '\0')
    return (int)alo_report_usage("not a number of operations: '%s'", argv[3]);
  if (!benchmark->count(argv[2], operations))
    return ALO_EXIT_LOCAL;
  uint64_t calls = 0, bytes = 0;
  if (alo_heap_counts(&calls, &bytes))
    printf("%" PRIu64 " %" PRIu64 "\n", calls, bytes);
  return ALO_EXIT_OK;
}

/* Goes on in the program that counts heap calls. Returns when it cannot. */
static void become_heap_counter(char **argv) {
  char path[ALO_PROGRAM_PATH_MAX];
  uint64_t calls = 0, bytes = 0;
  if (!alo_heap_counts(&calls, &bytes) && alo_program_beside("aloft-bench-heap", path))
    execv(path, argv);
}

int main(int argc, char **argv) {
  alo_report_name("aloft bench");
  if (argc < 2) {
    print_overview(stderr);
    return ALO_EXIT_USAGE;
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
    print_overview(stdout);
    return ALO_EXIT_OK;
  }
  if (strcmp(argv[1], ALO_COUNT_WORD) == 0)
    return count(argc - 1, argv + 1);
  const alo_benchmark *benchmark = find(argv[1]);
  if (!benchmark)
    return ALO_EXIT_USAGE;
  if (benchmark->heap)
    become_heap_counter(argv);
  int code = benchmark->run(argc - 1, argv + 1);
  if (fflush(stdout) != 0 && errno != EPIPE && code == ALO_EXIT_OK) {
    alo_report("standard output: %s", strerror(errno));
    return ALO_EXIT_LOCAL;
  }
  return code;
}
