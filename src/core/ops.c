#include "cancel.h"

#include <string.h>

void alo_ops_init(alo_ops *ops, uint64_t tick_ns, uint64_t now_ns) {
  memset(ops, 0, sizeof *ops);
  ops->now_ns = now_ns;
  alo_wheel_init(&ops->wheel, tick_ns, now_ns);
}

/* ---- queues ---- */

void alo_ops_push(alo_ops *ops, aloft_item *item) {
  item->next = NULL;
  if (ops->completions.last) {
    ops->completions.last->next = item;
  } else {
    ops->completions.first = item;
    if (ops->outside)
      ops->outside(ops->context);
  }
  ops->completions.last = item;
}

void alo_ops_post(alo_ops *ops, aloft_item *item) {
  aloft_item *top = __atomic_load_n(&ops->posted, __ATOMIC_RELAXED);
  do
    item->next = top;
  while (!__atomic_compare_exchange_n(&ops->posted, &top, item, true, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED));
  ops->wake(ops->context);
}

static void run_all(alo_ops *ops, aloft_item *item) {
  while (item) {
    aloft_item *next = item->next;
    item->kind->run(ops, item);
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
  run_all(ops, oldest);
}

void alo_ops_run_completions(alo_ops *ops) {
  aloft_item *item = ops->completions.first;
  ops->completions.first = ops->completions.last = NULL;
  run_all(ops, item);
}

bool alo_ops_pending(const alo_ops *ops) {
  return ops->completions.first || __atomic_load_n(&ops->posted, __ATOMIC_RELAXED);
}

/* ---- deadlines ---- */

void alo_ops_run_deadlines(alo_ops *ops) {
  aloft_op *op;
  while ((op = alo_wheel_expire(&ops->wheel, ops->now_ns))) {
    op->own.due_ns = 0;
    bool cancelled = op->cancel && aloft_cancel_fired(op->cancel);
    alo_op_stop(op, cancelled ? ALOFT_CANCELLED : ALOFT_TIMEOUT);
  }
}

void alo_ops_close(alo_ops *ops) {
  aloft_op *op;
  do {
    while ((op = alo_wheel_expire(&ops->wheel, UINT64_MAX))) {
      op->own.due_ns = 0;
      alo_op_stop(op, ALOFT_CLOSED);
    }
    alo_ops_run_posted(ops);
    alo_ops_run_completions(ops);
  } while (alo_ops_pending(ops) || ops->wheel.count);
}

/* Sums that do not fit mean "never": the clock does not reach them. */
static uint64_t due_of(const alo_ops *ops, const aloft_op *op) {
  uint64_t due = op->deadline_ns;
  if (op->timeout_ns) {
    uint64_t after = op->timeout_ns > UINT64_MAX - 1 - ops->now_ns ? UINT64_MAX - 1
                                                                   : ops->now_ns + op->timeout_ns;
    if (due == 0 || after < due)
      due = after;
  }
  return due;
}

/* ---- operations ---- */

aloft_status alo_op_refuse(aloft_op *op, aloft_status status, const aloft_error *error) {
  if (op->own.state != ALO_OP_IDLE)
    return ALOFT_IN_USE;
  op->status = status;
  op->error = error ? error : aloft_status_error(status);
  return status;
}

aloft_status alo_op_check(alo_owner *owner, aloft_op *op) {
  if (op->own.state != ALO_OP_IDLE)
    return ALOFT_IN_USE;
  if (!op->done)
    return alo_op_refuse(op, ALOFT_ARGUMENT, NULL);
  if (op->cancel) {
    if (op->cancel->own.ops != owner->ops)
      return alo_op_refuse(op, ALOFT_ARGUMENT, NULL);
    if (aloft_cancel_fired(op->cancel))
      return alo_op_refuse(op, ALOFT_CANCELLED, NULL);
  }
  if (!(op->timeout_ns | op->deadline_ns))
    return ALOFT_OK;
  if (!owner->ops->fresh)
    owner->ops->now_ns = owner->ops->clock(owner->ops->context);
  if (op->deadline_ns && op->deadline_ns <= owner->ops->now_ns)
    return alo_op_refuse(op, ALOFT_TIMEOUT, NULL);
  return ALOFT_OK;
}

void alo_op_fly(alo_owner *owner, aloft_op *op, const alo_op_kind *kind) {
  alo_ops *ops = owner->ops;
  op->error = NULL;
  op->status = ALOFT_PENDING;
  op->written = false;
  op->own.item.kind = &kind->item;
  op->own.owner = owner;
  op->own.state = ALO_OP_FLYING;
  op->own.due_ns = 0;
  if (op->timeout_ns | op->deadline_ns) {
    op->own.due_ns = due_of(ops, op);
    alo_wheel_add(&ops->wheel, op);
  }
  op->own.cancel_back = NULL;
  if (op->cancel)
    alo_cancel_register(op->cancel, op);
  ops->flying++;
}

aloft_status alo_op_start(alo_owner *owner, aloft_op *op, const alo_op_kind *kind) {
  aloft_status status = alo_op_check(owner, op);
  if (status == ALOFT_OK)
    alo_op_fly(owner, op, kind);
  return status;
}

static alo_ops *ops_of(const aloft_op *op) {
  return ((alo_owner *)op->own.owner)->ops;
}

/* Off the wheel, off the cancellation, out of flight. */
static void unregister(alo_ops *ops, aloft_op *op) {
  if (op->own.due_ns)
    alo_wheel_remove(&ops->wheel, op);
  op->own.due_ns = 0;
  if (op->own.cancel_back)
    alo_cancel_unregister(op);
  ops->flying--;
}

void alo_op_finish(aloft_op *op, aloft_status status, const aloft_error *error) {
  alo_ops *ops = ops_of(op);
  unregister(ops, op);
  op->status = status;
  op->error = error || status == ALOFT_OK ? error : aloft_status_error(status);
  op->own.state = ALO_OP_FINISHED;
  alo_ops_push(ops, &op->own.item);
}

void alo_op_withdraw(aloft_op *op) {
  unregister(ops_of(op), op);
  op->own.state = ALO_OP_IDLE;
}

void alo_op_run(alo_ops *ops, aloft_item *item) {
  aloft_op *op = ALOFT_CONTAINER(item, aloft_op, own.item);
  op->own.state = ALO_OP_IDLE;
  ops->completed++;
  op->done(op, op->status);
}

static const alo_op_kind *kind_of(const aloft_op *op) {
  return (const alo_op_kind *)(const void *)op->own.item.kind; /* its first member */
}

aloft_status alo_op_stop(aloft_op *op, aloft_status why) {
  if (op->own.state != ALO_OP_FLYING)
    return ALOFT_WRONG_STATE;
  if (!kind_of(op)->stop(op, why))
    return ALOFT_WRONG_STATE;
  if (op->own.state == ALO_OP_FLYING) /* else the stop has finished it itself */
    alo_op_finish(op, why, NULL);
  return ALOFT_OK;
}

aloft_status aloft_op_cancel(aloft_op *op) {
  return alo_op_stop(op, ALOFT_CANCELLED);
}

bool aloft_op_in_flight(const aloft_op *op) {
  return op->own.state != ALO_OP_IDLE;
}
