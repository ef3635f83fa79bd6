/* A hierarchical timing wheel: one for each loop. Deadlines within one tick share it. Adding and
 * removing touch one list; advancing costs what falls due, however far the clock jumps. */
#ifndef ALO_WHEEL_H
#define ALO_WHEEL_H

#include <aloft/op.h>

enum { ALO_WHEEL_BITS = 6, ALO_WHEEL_SLOTS = 1 << ALO_WHEEL_BITS, ALO_WHEEL_LEVELS = 11 };

typedef struct alo_wheel {
  uint64_t tick_ns;
  uint64_t tick;                       /* every earlier tick has been expired */
  size_t count;                        /* operations in the wheel */
  uint64_t occupied[ALO_WHEEL_LEVELS]; /* one bit for each slot that holds something */
  aloft_op *slots[ALO_WHEEL_LEVELS][ALO_WHEEL_SLOTS];
} alo_wheel;

void alo_wheel_init(alo_wheel *wheel, uint64_t tick_ns, uint64_t now_ns);

/* Adds an operation by its own.due_ns. It is never reported early, and at most one tick late. */
void alo_wheel_add(alo_wheel *wheel, aloft_op *op);
void alo_wheel_remove(alo_wheel *wheel, aloft_op *op);

/* Removes and returns one operation that is due at `now_ns`, earliest tick first; NULL: none. */
aloft_op *alo_wheel_expire(alo_wheel *wheel, uint64_t now_ns);

/* When to look again: not after the earliest deadline's tick; ALOFT_FOREVER (UINT64_MAX) when the
 * wheel is empty. */
uint64_t alo_wheel_next(const alo_wheel *wheel);

#endif
