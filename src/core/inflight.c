#include "inflight.h"

#include <string.h>

#include "heap.h"

enum { SLOTS_FIRST = 64 };

void alo_inflight_init(alo_inflight *table, const aloft_allocator *heap, uint32_t max,
                       unsigned generation_bits) {
  memset(table, 0, sizeof *table);
  table->heap = heap;
  table->max = max;
  table->free_first = ALO_INFLIGHT_NONE;
  table->key_last = UINT64_MAX >> (ALO_INFLIGHT_GENERATION_BITS - generation_bits);
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
  if (table->used < table->room)
    return ALOFT_OK;
  uint32_t room = table->room ? table->room * 2 : SLOTS_FIRST;
  return alo_inflight_reserve(table, room < table->max ? room : table->max);
}

aloft_status alo_inflight_add_new(alo_inflight *table, aloft_op *op) {
  if (table->used == table->max)
    return ALOFT_TOO_MANY;
  aloft_status status = grow(table);
  if (status != ALOFT_OK)
    return status;
  uint32_t number = table->used++;
  table->slots[number] = (alo_inflight_slot){.op = op, .key = number};
  op->own.slot = number;
  return ALOFT_OK;
}

void alo_inflight_shut(alo_inflight *table) {
  table->free_first = ALO_INFLIGHT_NONE;
  table->max = table->used;
}

static bool in_use(const alo_inflight *table, uint32_t number) {
  return ((uint32_t)table->slots[number].key & ALO_INFLIGHT_MAX) == number;
}

aloft_op *alo_inflight_any(const alo_inflight *table, uint32_t *cursor) {
  for (; *cursor < table->used; ++*cursor)
    if (in_use(table, *cursor))
      return table->slots[*cursor].op;
  return NULL;
}

uint32_t alo_inflight_count(const alo_inflight *table) {
  uint32_t count = 0;
  for (uint32_t number = 0; number < table->used; number++)
    count += in_use(table, number);
  return count;
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
