/* A loop for tests, on the uv driver or on sim, whose memory is watched; and an operation that
 * counts its completions. */
#ifndef HARNESS_LOOP_H
#define HARNESS_LOOP_H

#include "driver_sim.h"
#include "harness_foreign.h"
#include "harness_heap.h"
#include "loop.h"

typedef struct harness_loop {
  harness_heap heap;
  aloft_loop *loop;
  alo_driver *sim; /* NULL: on uv */
} harness_loop;

/* Opens it or fails the cmocka test. The sim's own memory is not the loop's. */
void harness_loop_open(harness_loop *at, bool sim, uint64_t seed, const alo_sim_faults *faults);
/* Another loop in its place, with blocks of `block_size` bytes; the heap stays. */
void harness_loop_reopen(harness_loop *at, bool sim, size_t block_size);
/* Closes it and fails the test if memory was not given back. */
void harness_loop_close(harness_loop *at);

/* Turns until the condition holds; fails the test when it never does. */
#define HARNESS_TURN_UNTIL(loop_, condition)                                                       \
  for (int turns_ = 0; !(condition); turns_++) {                                                   \
    assert_true(turns_ < 200000);                                                                  \
    assert_int_equal(harness_turn((loop_), ALOFT_SECONDS(10)), ALOFT_OK);                          \
  }

/* Set op.done to harness_op_done; `done_count` and `status` tell what came. */
typedef struct harness_op {
  aloft_op op;
  unsigned done_count;
  aloft_status status;
  bool written;
  uint64_t at_ns;   /* on the clock of `loop` */
  aloft_loop *loop; /* may be NULL */
  char message[600];
} harness_op;
void harness_op_done(aloft_op *op, aloft_status status);

#endif
