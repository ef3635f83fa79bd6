#include "wheel.h"

#include <string.h>

void alo_wheel_init(alo_wheel *wheel, uint64_t tick_ns, uint64_t now_ns) {
  memset(wheel, 0, sizeof *wheel);
  wheel->tick_ns = tick_ns;
  wheel->tick = now_ns / tick_ns;
}

/* Rounded up, so that no operation is reported before its time. */
static uint64_t tick_of(const alo_wheel *wheel, uint64_t due_ns) {
  uint64_t tick = due_ns / wheel->tick_ns + (due_ns % wheel->tick_ns != 0);
  return tick < wheel->tick ? wheel->tick : tick;
}

/* The level is that of the highest group of bits in which the tick differs from the present. */
static unsigned level_of(const alo_wheel *wheel, uint64_t tick) {
  uint64_t differ = tick ^ wheel->tick;
  if (differ < ALO_WHEEL_SLOTS)
    return 0;
  return (63u - (unsigned)__builtin_clzll(differ)) / ALO_WHEEL_BITS;
}

static unsigned slot_of(uint64_t tick, unsigned level) {
  return (unsigned)(tick >> (level * ALO_WHEEL_BITS)) & (ALO_WHEEL_SLOTS - 1);
}

static void insert(alo_wheel *wheel, aloft_op *op) {
  uint64_t tick = tick_of(wheel, op->own.due_ns);
  unsigned level = level_of(wheel, tick);
  unsigned slot = slot_of(tick, level);
  aloft_op **head = &wheel->slots[level][slot];
  op->own.timer_next = *head;
  op->own.timer_back = head;
  if (*head)
    (*head)->own.timer_back = &op->own.timer_next;
  *head = op;
  wheel->occupied[level] |= UINT64_C(1) << slot;
}

void alo_wheel_add(alo_wheel *wheel, aloft_op *op) {
  insert(wheel, op);
  wheel->count++;
}

/* A slot's head lies in the wheel; its bit is cleared when the last operation leaves it. */
static void unlink_op(alo_wheel *wheel, aloft_op *op) {
  *op->own.timer_back = op->own.timer_next;
  if (op->own.timer_next) {
    op->own.timer_next->own.timer_back = op->own.timer_back;
  } else {
    uintptr_t from_slots = (uintptr_t)op->own.timer_back - (uintptr_t)wheel->slots;
    if (from_slots < sizeof wheel->slots) {
      size_t index = (size_t)(op->own.timer_back - &wheel->slots[0][0]);
      wheel->occupied[index / ALO_WHEEL_SLOTS] &= ~(UINT64_C(1) << (index % ALO_WHEEL_SLOTS));
    }
  }
  op->own.timer_back = NULL;
}

void alo_wheel_remove(alo_wheel *wheel, aloft_op *op) {
  unlink_op(wheel, op);
  wheel->count--;
}

/* The first occupied tick at or after the present, as far as the coarsest level that holds it can
 * tell: at level 0 exact, above it the beginning of the slot. */
static bool earliest(const alo_wheel *wheel, uint64_t *tick, unsigned *level) {
  for (unsigned at = 0; at < ALO_WHEEL_LEVELS; at++) {
    unsigned shift = at * ALO_WHEEL_BITS;
    unsigned present = slot_of(wheel->tick, at);
    uint64_t later = wheel->occupied[at] >> present;
    if (later == 0)
      continue;
    uint64_t slot = present + (unsigned)__builtin_ctzll(later);
    unsigned above = shift + ALO_WHEEL_BITS;
    uint64_t base = above >= 64 ? 0 : (wheel->tick >> above) << above;
    uint64_t begin = base + (slot << shift);
    *tick = begin < wheel->tick ? wheel->tick : begin;
    *level = at;
    return true;
  }
  return false;
}

/* Spreads a slot of a higher level over the levels below it, once the present has reached it. */
static void cascade(alo_wheel *wheel, unsigned level) {
  unsigned slot = slot_of(wheel->tick, level);
  aloft_op *op = wheel->slots[level][slot];
  wheel->slots[level][slot] = NULL;
  wheel->occupied[level] &= ~(UINT64_C(1) << slot);
  while (op) {
    aloft_op *next = op->own.timer_next;
    insert(wheel, op);
    op = next;
  }
}

aloft_op *alo_wheel_expire(alo_wheel *wheel, uint64_t now_ns) {
  uint64_t now = now_ns / wheel->tick_ns;
  uint64_t tick;
  unsigned level;
  while (wheel->count && earliest(wheel, &tick, &level) && tick <= now) {
    wheel->tick = tick;
    if (level > 0) {
      cascade(wheel, level);
      continue;
    }
    aloft_op *op = wheel->slots[0][slot_of(tick, 0)];
    alo_wheel_remove(wheel, op);
    return op;
  }
  /* Only forward, and never past something that waits: the loop above has left nothing behind. */
  if (now > wheel->tick)
    wheel->tick = now;
  return NULL;
}

uint64_t alo_wheel_next(const alo_wheel *wheel) {
  uint64_t tick;
  unsigned level;
  if (wheel->count == 0 || !earliest(wheel, &tick, &level))
    return UINT64_MAX;
  return tick > UINT64_MAX / wheel->tick_ns ? UINT64_MAX - 1 : tick * wheel->tick_ns;
}
