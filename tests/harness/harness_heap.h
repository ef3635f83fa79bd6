/* An allocator for tests: it counts, fails on demand, and finds mistakes.
 *
 * Memory comes filled with 0xA5 and is filled with 0xDD before it goes, a resize always moves, and
 * the last byte of a block is the last of its malloc, so that the sanitizers see one byte too many.
 * A wrong size, a block given twice or a foreign pointer is a mistake; harness_heap_check fails the
 * test for it. */
#ifndef HARNESS_HEAP_H
#define HARNESS_HEAP_H

#include <aloft/base.h>

struct harness_block;

typedef struct harness_heap {
  aloft_allocator allocator;               /* give this to the code under test */
  uint64_t allocations, resizes, releases; /* calls, failed ones included */
  uint64_t bytes;                          /* asked for, in all */
  size_t live_count, live_bytes, live_bytes_max;
  uint64_t fail_at;    /* the allocation or resize that fails, counted from 1; 0: none */
  bool fail_after;     /* all later ones fail too */
  uint64_t failed;     /* failures given */
  const char *mistake; /* the first one; NULL: none */
  struct harness_block *blocks;
} harness_heap;

/* Set up in the caller's memory, which must outlive the blocks. */
void harness_heap_init(harness_heap *heap);

/* The n-th allocation or resize from now fails; with 0, none. harness_heap_fail_after: and all
 * after it. */
void harness_heap_fail_at(harness_heap *heap, uint64_t n);
void harness_heap_fail_after(harness_heap *heap, uint64_t n);

/* The heap that an allocator belongs to, for scenarios that want to look at it. */
harness_heap *harness_heap_of(const aloft_allocator *allocator);

/* What is wrong: a mistake, or a block not released; NULL when nothing is. Prints each leaked
 * block's size and the number of the call that made it. Blocks found are freed. */
const char *harness_heap_fini(harness_heap *heap);

/* The same, and fails the cmocka test if something is wrong. */
void harness_heap_check(harness_heap *heap);

/* Runs the scenario once for each allocation it makes, with that one failing; then once more for
 * each, with that one and all later ones failing; until a run needs no more. The scenario has to
 * end cleanly with a status, releasing all. Fails the test on a leak or a mistake. Returns how many
 * allocations were made to fail one by one. */
uint64_t harness_each_allocation(void (*scenario)(const aloft_allocator *allocator, void *context),
                                 void *context);

#endif
