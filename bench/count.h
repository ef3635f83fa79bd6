/* Costs of one operation, counted in processes of their own: the same case is run with `few` and
 * with `many` operations, and the difference of the two counts divided by the difference of the
 * operations is the cost of one. What start and end of the process cost is in both, and falls out.
 */
#ifndef ALO_COUNT_H
#define ALO_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Why something could not be counted, and what to do. */
typedef struct alo_reason {
  char text[512];
} alo_reason;

/* A case of a benchmark: what its `count` runs. */
typedef struct alo_count_case {
  const char *benchmark, *name;
  uint64_t few, many; /* operations */
  /* Functions, NULL at the end, inside which instructions count, with all that they call; none of
   * them calls another. NULL: all instructions count. */
  const char *const *inside;
} alo_count_case;

/* Instructions in user space by callgrind (Debian package valgrind), all threads together. */
bool alo_count_instructions(const alo_count_case *of, double *per_operation, alo_reason *why);

typedef struct alo_heap_cost {
  double calls; /* malloc, realloc, free and their like, mmap and brk */
  double bytes; /* asked for */
} alo_heap_cost;

/* Heap calls and bytes of the whole process, by aloft-bench-heap. */
bool alo_count_heap(const alo_count_case *of, alo_heap_cost *per_operation, alo_reason *why);

/* Instructions in user space of a whole run of any program; `argv` ends with NULL, argv[0] is a
 * path. Its output is thrown away; a status other than 0 is a failure. */
bool alo_count_program(const char *const *argv, uint64_t *instructions, alo_reason *why);

/* The same for what is `inside` some of its functions. */
bool alo_count_functions(const char *const *argv, const char *const *inside, uint64_t *instructions,
                         alo_reason *why);

/* False in aloft-bench. In aloft-bench-heap: the calls and bytes of the process so far. */
bool alo_heap_counts(uint64_t *calls, uint64_t *bytes);

/* Runs a program and keeps what it prints (at most `size` - 1 bytes and a NUL). True: it ended with
 * status 0. */
bool alo_program_output(const char *const *argv, char *output, size_t size, alo_reason *why);

#endif
