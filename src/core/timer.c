#include "timer.h"

/* Refusing to stop keeps the operation out of the completion queue. */
static bool fall_due(aloft_op *op, aloft_status why) {
  (void)why;
  alo_timer *timer = ALOFT_CONTAINER(op, alo_timer, op);
  alo_op_withdraw(op);
  timer->due(timer);
  return false;
}

static const alo_op_kind timer_kind = {{alo_op_run}, fall_due};

static void never_called(aloft_op *op, aloft_status status) {
  (void)op;
  (void)status;
}

void alo_timer_clear(alo_timer *timer) {
  if (timer->op.own.state == ALO_OP_FLYING)
    alo_op_withdraw(&timer->op);
}

void alo_timer_set(alo_owner *owner, alo_timer *timer, uint64_t timeout_ns,
                   void (*due)(alo_timer *timer)) {
  alo_timer_clear(timer);
  timer->due = due;
  timer->op.done = never_called;
  timer->op.timeout_ns = timeout_ns;
  if (timeout_ns)
    (void)alo_op_start(owner, &timer->op, &timer_kind);
}
