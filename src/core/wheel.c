#include "wheel.h"

#include <string.h>

void alo_wheel_init(alo_wheel *wheel, uint64_t tick_ns, uint64_t now_ns) {
  memset(wheel, 0, sizeof *wheel);
  wheel->tick_ns = tick_ns;
  wheel->tick = now_ns / tick_ns;
  for (size_t slot = 0; slot < ALO_WHEEL_ALL; slot++)
    alo_ring_init(&wheel->slots[slot]);
}

static size_t slot_of(uint64_t tick, size_t level) {
  return (tick >> (level * ALO_WHEEL_BITS)) % ALO_WHEEL_SLOTS;
}

/* The first slot of a level, from the present on, that holds something; ALO_WHEEL_SLOTS: none. */
static size_t first_slot(alo_wheel *wheel, size_t level) {
  size_t present = slot_of(wheel->tick, level);
  uint64_t later;
  while ((later = wheel->occupied[level] >> present)) {
    size_t slot = present + (size_t)__builtin_ctzll(later);
    if (!alo_ring_empty(&wheel->slots[level * ALO_WHEEL_SLOTS + slot]))
      return slot;
    wheel->occupied[level] &= ~(UINT64_C(1) << slot);
  }
  return ALO_WHEEL_SLOTS;
}

/* The first occupied tick at or after the present, as far as the coarsest level that holds it can
 * tell: at level 0 exact, above it the beginning of the slot. */
static bool earliest(alo_wheel *wheel, uint64_t *tick, size_t *level) {
  for (size_t at = 0; at < ALO_WHEEL_LEVELS; at++) {
    size_t slot = first_slot(wheel, at);
    if (slot == ALO_WHEEL_SLOTS)
      continue;
    size_t shift = at * ALO_WHEEL_BITS, above = shift + ALO_WHEEL_BITS;
    uint64_t base = above >= 64 ? 0 : (wheel->tick >> above) << above;
    uint64_t begin = base + ((uint64_t)slot << shift);
    *tick = begin < wheel->tick ? wheel->tick : begin;
    *level = at;
    return true;
  }
  return false;
}

/* Spreads a slot of a higher level over the levels below it, once the present has reached it. */
static void cascade(alo_wheel *wheel, size_t level) {
  size_t slot = slot_of(wheel->tick, level);
  aloft_link *head = &wheel->slots[level * ALO_WHEEL_SLOTS + slot], *next = head->next;
  wheel->occupied[level] &= ~(UINT64_C(1) << slot);
  alo_ring_init(head);
  for (aloft_link *link = next; link != head; link = next) {
    next = link->next;
    alo_wheel_add(wheel, ALOFT_CONTAINER(link, aloft_op, own.timing));
  }
}

aloft_op *alo_wheel_expire(alo_wheel *wheel, uint64_t now_ns) {
  uint64_t now = now_ns / wheel->tick_ns;
  uint64_t tick;
  size_t level;
  while (earliest(wheel, &tick, &level) && tick <= now) {
    wheel->tick = tick;
    if (level > 0) {
      cascade(wheel, level);
      continue;
    }
    aloft_link *first = wheel->slots[slot_of(tick, 0)].next;
    aloft_op *op = ALOFT_CONTAINER(first, aloft_op, own.timing);
    alo_wheel_remove(op);
    return op;
  }
  /* Only forward, and never past something that waits: the loop above has left nothing behind. */
  if (now > wheel->tick)
    wheel->tick = now;
  return NULL;
}

aloft_op *alo_wheel_any(alo_wheel *wheel) {
  for (size_t slot = 0; slot < ALO_WHEEL_ALL; slot++) {
    if (alo_ring_empty(&wheel->slots[slot]))
      continue;
    aloft_op *op = ALOFT_CONTAINER(wheel->slots[slot].next, aloft_op, own.timing);
    alo_wheel_remove(op);
    return op;
  }
  return NULL;
}

uint64_t alo_wheel_next(alo_wheel *wheel) {
  uint64_t tick;
  size_t level;
  if (!earliest(wheel, &tick, &level))
    return UINT64_MAX;
  return tick > UINT64_MAX / wheel->tick_ns ? UINT64_MAX - 1 : tick * wheel->tick_ns;
}
