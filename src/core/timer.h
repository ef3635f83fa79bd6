/* A library's own timer: due in the deadline phase, without a completion, so that it can be set
 * anew or cleared at any moment. For users there is aloft_sleep_start. */
#ifndef ALO_TIMER_H
#define ALO_TIMER_H

#include "ops.h"

typedef struct alo_timer alo_timer;
struct alo_timer {
  aloft_op op;
  alo_op_kind kind;
  void (*due)(alo_timer *timer); /* may set it anew; calls no user's code */
};

/* Sets it, or sets it anew. 0 ns: clears it. */
void alo_timer_set(alo_ops *ops, alo_timer *timer, uint64_t timeout_ns,
                   void (*due)(alo_timer *timer));
void alo_timer_clear(alo_timer *timer);

#endif
