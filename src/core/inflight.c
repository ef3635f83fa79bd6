#include "inflight.h"

#include <string.h>

#include "heap.h"

enum { SLOTS_FIRST = 64 };

/* A free slot keeps its next generation in the low bits and the next free slot above them. */
#define GENERATION_MASK ((UINT64_C(1) << ALO_INFLIGHT_GENERATION_BITS) - 1)

void alo_inflight_init(alo_inflight *table, const aloft_allocator *heap, uint32_t max,
                       unsigned generation_bits) {
  memset(table, 0, sizeof *table);
  table->heap = heap;
  table->max = max;
  table->generation_max = (UINT64_C(1) << generation_bits) - 1;
}

void alo_inflight_fini(alo_inflight *table) {
  alo_heap_give(table->heap, table->slots, table->room * sizeof *table->slots);
  table->slots = NULL;
  table->room = 0;
}

aloft_status alo_inflight_reserve(alo_inflight *table, uint32_t room) {
  if (room <= table->room)
    return ALOFT_OK;
  alo_inflight_slot *slots =
      alo_heap_resize(table->heap, table->slots, table->room * sizeof *slots, room * sizeof *slots);
  if (!slots)
    return ALOFT_NO_MEMORY;
  table->slots = slots;
  table->room = room;
  return ALOFT_OK;
}

static aloft_status grow(alo_inflight *table) {
  if (table->used == table->max)
    return ALOFT_TOO_MANY;
  if (table->used < table->room)
    return ALOFT_OK;
  uint32_t room = table->room ? table->room * 2 : SLOTS_FIRST;
  return alo_inflight_reserve(table, room < table->max ? room : table->max);
}

aloft_status alo_inflight_add(alo_inflight *table, aloft_op *op) {
  uint32_t slot;
  if (table->free_first) {
    slot = table->free_first - 1;
    table->free_first = (uint32_t)(table->slots[slot].generation >> ALO_INFLIGHT_GENERATION_BITS);
    table->slots[slot].generation &= GENERATION_MASK;
  } else {
    aloft_status status = grow(table);
    if (status != ALOFT_OK)
      return status;
    slot = table->used++;
    table->slots[slot].generation = 0;
  }
  table->slots[slot].op = op;
  op->own.slot = slot;
  table->count++;
  return ALOFT_OK;
}

uint64_t alo_inflight_key(const alo_inflight *table, const aloft_op *op) {
  return table->slots[op->own.slot].generation << ALO_INFLIGHT_SLOT_BITS | op->own.slot;
}

aloft_op *alo_inflight_find(const alo_inflight *table, uint64_t key) {
  uint32_t slot = (uint32_t)(key & ((UINT64_C(1) << ALO_INFLIGHT_SLOT_BITS) - 1));
  if (slot >= table->used)
    return NULL;
  const alo_inflight_slot *at = &table->slots[slot];
  return at->op && at->generation == key >> ALO_INFLIGHT_SLOT_BITS ? at->op : NULL;
}

void alo_inflight_remove(alo_inflight *table, aloft_op *op) {
  uint32_t slot = op->own.slot;
  alo_inflight_slot *at = &table->slots[slot];
  at->op = NULL;
  table->count--;
  if (at->generation == table->generation_max) {
    table->retired++;
    return;
  }
  at->generation = (at->generation + 1) | (uint64_t)table->free_first
                                              << ALO_INFLIGHT_GENERATION_BITS;
  table->free_first = slot + 1;
}

aloft_op *alo_inflight_any(const alo_inflight *table, uint32_t *cursor) {
  for (; *cursor < table->used; ++*cursor)
    if (table->slots[*cursor].op)
      return table->slots[*cursor].op;
  return NULL;
}

/* ---- tokens ---- */

static const char digits[64] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void alo_inflight_token(uint64_t key, char out[ALO_INFLIGHT_TOKEN_SIZE]) {
  for (int i = ALO_INFLIGHT_TOKEN_SIZE - 1; i >= 0; i--, key >>= 6)
    out[i] = digits[key & 63];
}

/* Value plus one of each character that is a digit. */
static const uint8_t values[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['-'] = 63, ['_'] = 64};

bool alo_inflight_parse(const char token[ALO_INFLIGHT_TOKEN_SIZE], uint64_t *key) {
  uint64_t result = 0;
  unsigned bad = values[(uint8_t)token[0]] > 16; /* 11 digits hold 66 bits */
  for (int i = 0; i < ALO_INFLIGHT_TOKEN_SIZE; i++) {
    unsigned value = values[(uint8_t)token[i]];
    bad |= value == 0;
    result = result << 6 | (value - 1);
  }
  *key = result;
  return !bad;
}
