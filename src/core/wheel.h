/* A hierarchical timing wheel: one for each loop. Deadlines within one tick share it. Adding and
 * removing touch one list; advancing costs what falls due, however far the clock jumps. */
#ifndef ALO_WHEEL_H
#define ALO_WHEEL_H

#include "ring.h"

enum {
  ALO_WHEEL_BITS = 6,
  ALO_WHEEL_SLOTS = 1 << ALO_WHEEL_BITS,
  ALO_WHEEL_LEVELS = 11,
  ALO_WHEEL_ALL = ALO_WHEEL_LEVELS * ALO_WHEEL_SLOTS
};

typedef struct alo_wheel {
  uint64_t tick_ns;
  uint64_t tick; /* every earlier tick has been expired */
  /* One bit for each slot that something was added to; cleared when it is found empty. */
  uint64_t occupied[ALO_WHEEL_LEVELS];
  aloft_link slots[ALO_WHEEL_ALL];
} alo_wheel;

void alo_wheel_init(alo_wheel *wheel, uint64_t tick_ns, uint64_t now_ns);

/* The level is that of the highest group of bits in which the tick differs from the present. */
static inline size_t alo_wheel_level(uint64_t differ) {
  return (63 - (size_t)__builtin_clzll(differ | (ALO_WHEEL_SLOTS - 1))) / ALO_WHEEL_BITS;
}

/* Adds an operation by its own.due_ns. It is never reported early, and at most one tick late. */
static inline void alo_wheel_add(alo_wheel *wheel, aloft_op *op) {
  uint64_t due = op->own.due_ns;
  uint64_t tick = due / wheel->tick_ns + (due % wheel->tick_ns != 0); /* not before its time */
  if (tick < wheel->tick)
    tick = wheel->tick;
  size_t level = alo_wheel_level(tick ^ wheel->tick);
  size_t slot = (tick >> (level * ALO_WHEEL_BITS)) % ALO_WHEEL_SLOTS;
  wheel->occupied[level] |= UINT64_C(1) << slot;
  alo_ring_join(wheel->slots + level * ALO_WHEEL_SLOTS + slot, &op->own.timing);
}

static inline void alo_wheel_remove(aloft_op *op) {
  alo_ring_leave(&op->own.timing);
}

/* Removes and returns one operation that is due at `now_ns`, earliest tick first; NULL: none. */
aloft_op *alo_wheel_expire(alo_wheel *wheel, uint64_t now_ns);

/* Removes and returns any operation, whenever it is due; NULL: the wheel is empty. */
aloft_op *alo_wheel_any(alo_wheel *wheel);

/* When to look again: not after the earliest deadline's tick; ALOFT_FOREVER (UINT64_MAX) when the
 * wheel is empty. */
uint64_t alo_wheel_next(alo_wheel *wheel);

#endif
