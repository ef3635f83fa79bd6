#include "cancel.h"

#include <string.h>

static void cancel_posted(alo_ops *ops, aloft_item *item);

static const alo_item_kind cancel_kind = {cancel_posted};

void alo_cancel_init(aloft_cancel *cancel, alo_ops *ops, aloft_cancel *parent) {
  memset(cancel, 0, sizeof *cancel);
  cancel->own.posted.kind = &cancel_kind;
  cancel->own.ops = ops;
  if (!parent)
    return;
  cancel->own.parent = parent;
  cancel->own.next = parent->own.child;
  cancel->own.back = &parent->own.child;
  if (cancel->own.next)
    cancel->own.next->own.back = &cancel->own.next;
  parent->own.child = cancel;
}

bool aloft_cancel_fired(const aloft_cancel *cancel) {
  for (; cancel; cancel = cancel->own.parent)
    if (__atomic_load_n(&cancel->own.fired, __ATOMIC_ACQUIRE))
      return true;
  return false;
}

void aloft_cancel_fire(aloft_cancel *cancel) {
  if (__atomic_exchange_n(&cancel->own.fired, 1, __ATOMIC_ACQ_REL) == 0)
    alo_ops_post(cancel->own.ops, &cancel->own.posted);
}

void alo_cancel_register(aloft_cancel *cancel, aloft_op *op) {
  op->own.cancel_next = cancel->own.first;
  op->own.cancel_back = &cancel->own.first;
  if (cancel->own.first)
    cancel->own.first->own.cancel_back = &op->own.cancel_next;
  cancel->own.first = op;
}

void alo_cancel_unregister(aloft_op *op) {
  *op->own.cancel_back = op->own.cancel_next;
  if (op->own.cancel_next)
    op->own.cancel_next->own.cancel_back = op->own.cancel_back;
  op->own.cancel_back = NULL;
}

/* Stopping an operation takes it from the list, so that the list shrinks to nothing. */
static void cancel_own_ops(aloft_cancel *cancel) {
  while (cancel->own.first)
    alo_op_stop(cancel->own.first, ALOFT_CANCELLED);
}

/* The next of the tree below `top` in preorder: without recursion, whatever its depth. */
static aloft_cancel *next_below(aloft_cancel *cancel, const aloft_cancel *top) {
  if (cancel->own.child)
    return cancel->own.child;
  while (cancel != top && !cancel->own.next)
    cancel = cancel->own.parent;
  return cancel == top ? NULL : cancel->own.next;
}

static void cancel_posted(alo_ops *ops, aloft_item *item) {
  (void)ops;
  aloft_cancel *top = ALOFT_CONTAINER(item, aloft_cancel, own.posted);
  for (aloft_cancel *at = top; at; at = next_below(at, top)) {
    /* A child that another thread has fired is posted, or will be at once: that post handles it. */
    if (__atomic_exchange_n(&at->own.fired, 1, __ATOMIC_ACQ_REL) == 0 || at == top)
      at->own.handled = 1;
    cancel_own_ops(at);
  }
}

/* One that has fired but is not handled lies in the loop's stack, and so may a parent that has not
 * yet passed it on: the stack is emptied first. */
static void settle(aloft_cancel *cancel) {
  for (const aloft_cancel *at = cancel; at; at = at->own.parent)
    if (__atomic_load_n(&at->own.fired, __ATOMIC_ACQUIRE) && !at->own.handled) {
      alo_ops_run_posted(cancel->own.ops);
      return;
    }
}

void aloft_cancel_fini(aloft_cancel *cancel) {
  if (!cancel->own.ops)
    return;
  settle(cancel);
  if (cancel->own.parent) {
    *cancel->own.back = cancel->own.next;
    if (cancel->own.next)
      cancel->own.next->own.back = cancel->own.back;
  }
  for (aloft_cancel *child = cancel->own.child, *next; child; child = next) {
    next = child->own.next;
    child->own.parent = NULL;
    child->own.next = NULL;
    child->own.back = NULL;
  }
  memset(cancel, 0, sizeof *cancel);
}
