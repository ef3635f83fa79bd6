/* The path of every operation as inline functions, for the starts and ends that are taken for each
 * request; everybody else calls the functions of ops.h. What is not used is not touched: an
 * operation without a timeout and a cancellation meets neither wheel nor list. No function is
 * called on the way, so that nothing need be saved for one: what is unusual stands aside. */
#ifndef ALO_OP_PATH_H
#define ALO_OP_PATH_H

#include "apart.h"
#include "cancel.h"
#include "ring.h"
#include "ops.h"

/* Neither a time nor a cancellation is set. */
static inline bool alo_op_bare(const aloft_op *op) {
  return !(op->timeout_ns | op->deadline_ns | (uintptr_t)op->cancel);
}

/* What is set is seen at a glance to be in order: no clock to be read, no parents to be asked.
 * False: ask alo_op_check. */
static inline bool alo_op_plain(const alo_ops *ops, const aloft_op *op) {
  if (op->deadline_ns || (op->timeout_ns && !ops->fresh))
    return false;
  return !op->cancel || alo_cancel_open_to(op->cancel, ops);
}

/* alo_op_fly in three parts, but for op->written. First what every operation needs. */
static inline void alo_op_fly_bare(alo_op_kind *kind, aloft_op *op) {
  op->item.kind = &kind->item;
  op->own.state = ALO_OP_FLYING;
}

/* Then, where it has a cancellation. */
static inline void alo_op_fly_cancellable(aloft_op *op) {
  op->own.state |= ALO_OP_CANCELLABLE;
  alo_ring_join(&op->cancel->own.ops, &op->own.cancelling);
}

/* A sum that does not fit means "never": no clock reaches it. */
static inline uint64_t alo_op_after(uint64_t now_ns, uint64_t timeout_ns) {
  return timeout_ns > UINT64_MAX - now_ns ? UINT64_MAX : now_ns + timeout_ns;
}

/* And where it has a timeout or a deadline. */
static inline void alo_op_fly_timed(alo_ops *ops, aloft_op *op, uint64_t due_ns) {
  op->own.state |= ALO_OP_TIMED;
  op->own.due_ns = due_ns;
  alo_wheel_add(&ops->wheel, op);
}

/* Off the wheel and off the cancellation. */
static inline void alo_op_unwatch(aloft_op *op) {
  const uint8_t state = op->own.state;
  if (state == ALO_OP_FLYING)
    return;
  if (state == (ALO_OP_FLYING | ALO_OP_CANCELLABLE)) {
    alo_ring_leave(&op->own.cancelling);
    return;
  }
  alo_wheel_remove(op);
  if (state & ALO_OP_CANCELLABLE)
    alo_ring_leave(&op->own.cancelling);
}

static inline void alo_queue_push(alo_queue *queue, aloft_item *item) {
  *queue->end = item;
  queue->end = &item->next;
}

/* alo_op_finish with ALOFT_OK, while nobody is to be told (alo_ops_set_telling). */
static inline void alo_op_finish_well(alo_ops *ops, aloft_op *op) {
  alo_op_unwatch(op);
  op->status = ALOFT_OK;
  op->error = NULL;
  op->own.state = ALO_OP_FINISHED;
  alo_queue_push(&ops->completions, &op->item);
}

#endif
