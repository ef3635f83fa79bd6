/* Cancellation sources: operations register in O(1); firing from any thread sets a flag and posts.
 * The loop then cancels what is registered here and on the children. */
#ifndef ALO_CANCEL_H
#define ALO_CANCEL_H

#include "ops.h"

/* True without a look at parents: one that has not fired, has none, and is of that loop. What has
 * fired or has a parent is not open to anybody. */
static inline bool alo_cancel_open_to(const aloft_cancel *cancel, const alo_ops *ops) {
  return __atomic_load_n(&cancel->own.open_ops, __ATOMIC_RELAXED) == ops;
}

/* aloft_cancel_init's work, for a loop known by its operations. */
void alo_cancel_init(aloft_cancel *cancel, alo_ops *ops, aloft_cancel *parent);

#endif
