/* Cancellation sources: operations register in O(1); firing from any thread sets a flag and posts.
 * The loop then cancels what is registered here and on the children. */
#ifndef ALO_CANCEL_H
#define ALO_CANCEL_H

#include "ops.h"

/* Called by ops.c alone. */
void alo_cancel_register(aloft_cancel *cancel, aloft_op *op);
void alo_cancel_unregister(aloft_op *op);

/* aloft_cancel_init's work, for a loop known by its operations. */
void alo_cancel_init(aloft_cancel *cancel, alo_ops *ops, aloft_cancel *parent);

#endif
