#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "harness_loop.h"
#include "harness_foreign.h"
#include "heap.h"

void harness_loop_open(harness_loop *at, bool sim, uint64_t seed, const alo_sim_faults *faults) {
  memset(at, 0, sizeof *at);
  harness_heap_init(&at->heap);
  const aloft_loop_config config = {.size = sizeof config, .allocator = &at->heap.allocator};
  if (!sim) {
    assert_int_equal(aloft_loop_open(&at->loop, &config), ALOFT_OK);
    return;
  }
  at->sim = alo_driver_sim_open(&alo_heap_default, seed, faults);
  assert_non_null(at->sim);
  assert_int_equal(alo_loop_open_on(&at->loop, &config, at->sim), ALOFT_OK);
}

void harness_loop_reopen(harness_loop *at, bool sim, size_t block_size) {
  harness_loop_shut(at->loop);
  const aloft_loop_config config = {
      .size = sizeof config, .allocator = &at->heap.allocator, .block_size = block_size};
  if (!sim) {
    assert_int_equal(aloft_loop_open(&at->loop, &config), ALOFT_OK);
    return;
  }
  at->sim = alo_driver_sim_open(&alo_heap_default, 1, NULL);
  assert_non_null(at->sim);
  assert_int_equal(alo_loop_open_on(&at->loop, &config, at->sim), ALOFT_OK);
}

void harness_loop_close(harness_loop *at) {
  harness_loop_shut(at->loop);
  at->loop = NULL;
  harness_heap_check(&at->heap);
}

void harness_op_done(aloft_op *op, aloft_status status) {
  harness_op *own = ALOFT_CONTAINER(op, harness_op, op);
  assert_int_equal(status, op->status);
  assert_false(aloft_op_in_flight(op));
  if (status != ALOFT_OK)
    assert_non_null(op->error);
  own->done_count++;
  own->status = status;
  own->written = op->written;
  if (own->loop)
    own->at_ns = aloft_loop_now(own->loop);
  own->message[0] = 0;
  if (op->error)
    snprintf(own->message, sizeof own->message, "%.*s", ALOFT_PRINT(op->error->message));
}
