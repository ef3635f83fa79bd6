#include "op_path.h"

#include <string.h>

void alo_ops_init(alo_ops *ops, uint64_t tick_ns, uint64_t now_ns) {
  memset(ops, 0, sizeof *ops);
  ops->now_ns = now_ns;
  ops->completions.end = &ops->completions.first;
  alo_wheel_init(&ops->wheel, tick_ns, now_ns);
}

/* ---- queues ---- */

void alo_ops_push(alo_ops *ops, aloft_item *item) {
  alo_ops_push_inline(ops, item);
}

void alo_ops_post(alo_ops *ops, aloft_item *item) {
  aloft_item *top = __atomic_load_n(&ops->posted, __ATOMIC_RELAXED);
  do
    item->next = top;
  while (!__atomic_compare_exchange_n(&ops->posted, &top, item, true, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED));
  ops->wake(ops->context);
}

static void run_all(aloft_item *item) {
  while (item) {
    aloft_item *next = item->next;
    item->kind->run(item);
    item = next;
  }
}

void alo_ops_run_posted(alo_ops *ops) {
  if (!__atomic_load_n(&ops->posted, __ATOMIC_RELAXED))
    return;
  aloft_item *item = __atomic_exchange_n(&ops->posted, NULL, __ATOMIC_ACQUIRE);
  aloft_item *oldest = NULL;
  while (item) {
    aloft_item *next = item->next;
    item->next = oldest;
    oldest = item;
    item = next;
  }
  run_all(oldest);
}

void alo_ops_run_completions(alo_ops *ops) {
  *ops->completions.end = NULL;
  aloft_item *item = ops->completions.first;
  ops->completions.end = &ops->completions.first;
  run_all(item);
}

bool alo_ops_pending(const alo_ops *ops) {
  return ops->completions.end != &ops->completions.first ||
         __atomic_load_n(&ops->posted, __ATOMIC_RELAXED);
}

/* ---- deadlines ---- */

void alo_ops_run_deadlines(alo_ops *ops) {
  aloft_op *op;
  while ((op = alo_wheel_expire(&ops->wheel, ops->now_ns))) {
    op->own.state &= (uint8_t)~ALO_OP_TIMED;
    bool cancelled = op->cancel && aloft_cancel_fired(op->cancel);
    alo_op_stop(op, cancelled ? ALOFT_CANCELLED : ALOFT_TIMEOUT);
  }
}

void alo_ops_close(alo_ops *ops) {
  aloft_op *op;
  do {
    while ((op = alo_wheel_any(&ops->wheel))) {
      op->own.state &= (uint8_t)~ALO_OP_TIMED;
      alo_op_stop(op, ALOFT_CLOSED);
    }
    alo_ops_run_posted(ops);
    alo_ops_run_completions(ops);
  } while (alo_ops_pending(ops) || alo_wheel_next(&ops->wheel) != UINT64_MAX);
}

/* ---- operations ---- */

aloft_status alo_op_refuse(aloft_op *op, aloft_status status, const aloft_error *error) {
  if (!alo_op_idle(op))
    return ALOFT_IN_USE;
  op->status = status;
  op->error = error ? error : aloft_status_error(status);
  return status;
}

static aloft_status check_cancel(const alo_ops *ops, aloft_op *op) {
  if (op->cancel->own.loop_ops != ops)
    return alo_op_refuse(op, ALOFT_ARGUMENT, NULL);
  if (aloft_cancel_fired(op->cancel))
    return alo_op_refuse(op, ALOFT_CANCELLED, NULL);
  return ALOFT_OK;
}

static aloft_status check_times(alo_ops *ops, aloft_op *op) {
  if (!ops->fresh)
    ops->now_ns = ops->clock(ops->context);
  if (op->deadline_ns && op->deadline_ns <= ops->now_ns)
    return alo_op_refuse(op, ALOFT_TIMEOUT, NULL);
  return ALOFT_OK;
}

aloft_status alo_op_check(alo_ops *ops, aloft_op *op) {
  if (!alo_op_idle(op))
    return ALOFT_IN_USE;
  if (!op->done)
    return alo_op_refuse(op, ALOFT_ARGUMENT, NULL);
  aloft_status status = op->cancel ? check_cancel(ops, op) : ALOFT_OK;
  if (status == ALOFT_OK && (op->timeout_ns | op->deadline_ns))
    status = check_times(ops, op);
  return status;
}

static uint64_t due_of(const alo_ops *ops, const aloft_op *op) {
  uint64_t after = alo_op_after(ops->now_ns, op->timeout_ns);
  bool deadline = op->deadline_ns && (!op->timeout_ns || op->deadline_ns < after);
  return deadline ? op->deadline_ns : after;
}

void alo_op_watch(alo_ops *ops, aloft_op *op) {
  if (op->cancel)
    alo_op_fly_cancellable(op);
  if (op->timeout_ns | op->deadline_ns)
    alo_op_fly_timed(ops, op, due_of(ops, op));
}

void alo_op_fly(alo_op_kind *kind, aloft_op *op) {
  op->written = false;
  alo_op_fly_bare(kind, op);
  alo_op_watch(kind->ops, op);
}

aloft_status alo_op_start(alo_op_kind *kind, aloft_op *op) {
  aloft_status status = alo_op_check(kind->ops, op);
  if (status == ALOFT_OK)
    alo_op_fly(kind, op);
  return status;
}

void alo_op_finish(aloft_op *op, aloft_status status, const aloft_error *error) {
  if (status != ALOFT_OK && !error)
    error = aloft_status_error(status);
  alo_op_finish_inline(alo_op_kind_of(op)->ops, op, status, error);
}

void alo_op_withdraw(aloft_op *op) {
  alo_op_unwatch(op);
  op->own.state = 0;
}

void alo_op_run(aloft_item *item) {
  aloft_op *op = ALOFT_CONTAINER(item, aloft_op, own.item);
  op->own.state = 0;
  op->done(op, op->status);
}

aloft_status alo_op_stop(aloft_op *op, aloft_status why) {
  if (!alo_op_flying(op))
    return ALOFT_WRONG_STATE;
  if (!alo_op_kind_of(op)->stop(op, why))
    return ALOFT_WRONG_STATE;
  if (alo_op_flying(op)) /* else the stop has finished it itself */
    alo_op_finish(op, why, NULL);
  return ALOFT_OK;
}

aloft_status aloft_op_cancel(aloft_op *op) {
  return alo_op_stop(op, ALOFT_CANCELLED);
}

bool aloft_op_in_flight(const aloft_op *op) {
  return !alo_op_idle(op);
}
