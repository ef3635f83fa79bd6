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

static inline char digit_at(uint64_t key, unsigned shift) {
  return digits[key >> shift & 63];
}

void alo_inflight_token(uint64_t key, char out[ALO_INFLIGHT_TOKEN_SIZE]) {
  out[0] = digits[key >> 60];
  out[1] = digit_at(key, 54);
  out[2] = digit_at(key, 48);
  out[3] = digit_at(key, 42);
  out[4] = digit_at(key, 36);
  out[5] = digit_at(key, 30);
  out[6] = digit_at(key, 24);
  out[7] = digit_at(key, 18);
  out[8] = digit_at(key, 12);
  out[9] = digit_at(key, 6);
  out[10] = digit_at(key, 0);
}

/* The value of each character that is a digit, and a mark. */
enum { DIGIT = 64 };
#define D(value) (DIGIT | (value))
static const uint8_t values[256] = {
    ['A'] = D(0),  ['B'] = D(1),  ['C'] = D(2),  ['D'] = D(3),  ['E'] = D(4),  ['F'] = D(5),
    ['G'] = D(6),  ['H'] = D(7),  ['I'] = D(8),  ['J'] = D(9),  ['K'] = D(10), ['L'] = D(11),
    ['M'] = D(12), ['N'] = D(13), ['O'] = D(14), ['P'] = D(15), ['Q'] = D(16), ['R'] = D(17),
    ['S'] = D(18), ['T'] = D(19), ['U'] = D(20), ['V'] = D(21), ['W'] = D(22), ['X'] = D(23),
    ['Y'] = D(24), ['Z'] = D(25), ['a'] = D(26), ['b'] = D(27), ['c'] = D(28), ['d'] = D(29),
    ['e'] = D(30), ['f'] = D(31), ['g'] = D(32), ['h'] = D(33), ['i'] = D(34), ['j'] = D(35),
    ['k'] = D(36), ['l'] = D(37), ['m'] = D(38), ['n'] = D(39), ['o'] = D(40), ['p'] = D(41),
    ['q'] = D(42), ['r'] = D(43), ['s'] = D(44), ['t'] = D(45), ['u'] = D(46), ['v'] = D(47),
    ['w'] = D(48), ['x'] = D(49), ['y'] = D(50), ['z'] = D(51), ['0'] = D(52), ['1'] = D(53),
    ['2'] = D(54), ['3'] = D(55), ['4'] = D(56), ['5'] = D(57), ['6'] = D(58), ['7'] = D(59),
    ['8'] = D(60), ['9'] = D(61), ['-'] = D(62), ['_'] = D(63)};
#undef D

/* `all` keeps the mark as long as there were only digits. */
static inline uint64_t take_digit(uint64_t sum, char character, uint64_t *all) {
  uint64_t value = values[(uint8_t)character];
  *all &= value;
  return (sum << 6) + value;
}

bool alo_inflight_parse(const char token[ALO_INFLIGHT_TOKEN_SIZE], uint64_t *key) {
  /* What the marks of all digits add up to: bits 6, 12... 60. */
  const uint64_t marks = UINT64_C(0x1041041041041040);
  uint64_t all = DIGIT;
  uint64_t sum = take_digit(0, token[0], &all);
  const bool fits = sum < (DIGIT | 16); /* 11 digits hold 66 bits */
  sum = take_digit(sum, token[1], &all);
  sum = take_digit(sum, token[2], &all);
  sum = take_digit(sum, token[3], &all);
  sum = take_digit(sum, token[4], &all);
  sum = take_digit(sum, token[5], &all);
  sum = take_digit(sum, token[6], &all);
  sum = take_digit(sum, token[7], &all);
  sum = take_digit(sum, token[8], &all);
  sum = take_digit(sum, token[9], &all);
  sum = take_digit(sum, token[10], &all);
  *key = sum - marks;
  return fits && all != 0;
}
