#include "timer.h"

/* Refusing to stop keeps the operation out of the completion queue. */
static bool fall_due(aloft_op *op, aloft_status why) {
  (void)why;
  alo_timer *timer = ALOFT_CONTAINER(op, alo_timer, op);
  alo_op_withdraw(op);
  timer->due(timer);
  return false;
}

static void never_called(aloft_op *op, aloft_status status) {
  (void)op;
  (void)status;
}

void alo_timer_clear(alo_timer *timer) {
  if (alo_op_flying(&timer->op))
    alo_op_withdraw(&timer->op);
}

void alo_timer_set(alo_ops *ops, alo_timer *timer, uint64_t timeout_ns,
                   void (*due)(alo_timer *timer)) {
  alo_timer_clear(timer);
  timer->due = due;
  timer->op.done = never_called;
  timer->op.timeout_ns = timeout_ns;
  timer->kind = (alo_op_kind){{alo_op_run}, fall_due, ops};
  if (timeout_ns)
    (void)alo_op_start(&timer->kind, &timer->op);
}
