#include "cancel.h"

#include <string.h>

#include "ring.h"

static void cancel_posted(aloft_item *item);

static const alo_item_kind cancel_kind = {cancel_posted};

void alo_cancel_init(aloft_cancel *cancel, alo_ops *ops, aloft_cancel *parent) {
  memset(cancel, 0, sizeof *cancel);
  cancel->own.posted.kind = &cancel_kind;
  cancel->own.loop_ops = cancel->own.open_ops = ops;
  alo_ring_init(&cancel->own.ops);
  if (!parent)
    return;
  cancel->own.open_ops = NULL;
  /* Of a parent that has fired: it may be ended first. Nothing is registered that it would stop. */
  cancel->own.fired = cancel->own.handled = aloft_cancel_fired(parent);
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

/* False: it had fired already. */
static bool set_fired(aloft_cancel *cancel) {
  bool before = __atomic_exchange_n(&cancel->own.fired, true, __ATOMIC_ACQ_REL);
  __atomic_store_n(&cancel->own.open_ops, NULL, __ATOMIC_RELEASE);
  return !before;
}

void aloft_cancel_fire(aloft_cancel *cancel) {
  if (set_fired(cancel))
    alo_ops_post(cancel->own.loop_ops, &cancel->own.posted);
}

/* Stopping an operation takes it from the list, so that the list shrinks to nothing. */
static void cancel_own_ops(aloft_cancel *cancel) {
  while (!alo_ring_empty(&cancel->own.ops))
    alo_op_stop(ALOFT_CONTAINER(cancel->own.ops.next, aloft_op, own.cancelling), ALOFT_CANCELLED);
}

/* The next of the tree below `top` in preorder: without recursion, whatever its depth. */
static aloft_cancel *next_below(aloft_cancel *cancel, const aloft_cancel *top) {
  if (cancel->own.child)
    return cancel->own.child;
  while (cancel != top && !cancel->own.next)
    cancel = cancel->own.parent;
  return cancel == top ? NULL : cancel->own.next;
}

static void cancel_posted(aloft_item *item) {
  aloft_cancel *top = ALOFT_CONTAINER(item, aloft_cancel, own.posted);
  for (aloft_cancel *at = top; at; at = next_below(at, top)) {
    /* A child that another thread has fired is posted, or will be at once: that post handles it. */
    if (set_fired(at) || at == top)
      at->own.handled = 1;
    cancel_own_ops(at);
  }
}

/* One that has fired but is not handled lies in the loop's stack, and so may a parent that has not
 * yet passed it on: the stack is emptied first. */
static void settle(aloft_cancel *cancel) {
  for (const aloft_cancel *at = cancel; at; at = at->own.parent)
    if (__atomic_load_n(&at->own.fired, __ATOMIC_ACQUIRE) && !at->own.handled) {
      alo_ops_run_posted(cancel->own.loop_ops);
      return;
    }
}

void aloft_cancel_fini(aloft_cancel *cancel) {
  if (!cancel->own.loop_ops)
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
