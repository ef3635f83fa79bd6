/* The in-flight table: an operation is found by slot and generation, without a hash. A key is given
 * out once in the table's life; a slot whose generations are used up retires. */
#ifndef ALO_INFLIGHT_H
#define ALO_INFLIGHT_H

#include <aloft/op.h>

#include <string.h>

enum {
  ALO_INFLIGHT_SLOT_BITS = 24,
  ALO_INFLIGHT_GENERATION_BITS = 40,
  ALO_INFLIGHT_MAX = (1 << ALO_INFLIGHT_SLOT_BITS) - 1
};

/* A key is the generation above the slot's number. The number of a free slot's key is
 * ALO_INFLIGHT_MAX, which no slot has: comparing keys is all that finding takes. */
typedef struct alo_inflight_slot {
  union {
    aloft_op *op;
    uint64_t free_next; /* of a free slot; ALO_INFLIGHT_NONE: the last */
  };
  uint64_t key; /* of a free slot: the generation is that of its last use */
} alo_inflight_slot;

enum { ALO_INFLIGHT_NONE = ALO_INFLIGHT_MAX };

typedef struct alo_inflight {
  alo_inflight_slot *slots;
  uint64_t free_first; /* or ALO_INFLIGHT_NONE */
  uint32_t used;       /* slots ever used */
  uint32_t max;
  uint32_t room; /* allocated */
  uint32_t retired;
  uint64_t key_last; /* a free slot's, when its generations are used up */
  const aloft_allocator *heap;
} alo_inflight;

/* `max` at most ALO_INFLIGHT_MAX. `generation_bits` 1 to 40. */
void alo_inflight_init(alo_inflight *table, const aloft_allocator *heap, uint32_t max,
                       unsigned generation_bits);
void alo_inflight_fini(alo_inflight *table);
/* Makes room for so many, at most `max`. ALOFT_NO_MEMORY. */
aloft_status alo_inflight_reserve(alo_inflight *table, uint32_t room);

/* From now on adding refuses with ALOFT_TOO_MANY. */
void alo_inflight_shut(alo_inflight *table);

/* The slow part of adding: a slot never used before. ALOFT_TOO_MANY, ALOFT_NO_MEMORY. */
aloft_status alo_inflight_add_new(alo_inflight *table, aloft_op *op);

/* Takes the first free slot, which there is, and returns its key. */
static inline uint64_t alo_inflight_add_free(alo_inflight *table, aloft_op *op) {
  uint64_t number = table->free_first;
  alo_inflight_slot *slot = &table->slots[number];
  uint64_t key = slot->key + 1 + number; /* the number wraps to 0: the next generation */
  table->free_first = slot->free_next;
  slot->key = key;
  slot->op = op;
  op->own.slot = (uint32_t)number;
  return key;
}

/* Gives the operation a slot (own.slot). ALOFT_TOO_MANY, ALOFT_NO_MEMORY. */
static inline aloft_status alo_inflight_add(alo_inflight *table, aloft_op *op) {
  if (table->free_first == ALO_INFLIGHT_NONE)
    return alo_inflight_add_new(table, op);
  (void)alo_inflight_add_free(table, op);
  return ALOFT_OK;
}

/* The key of an operation in the table. */
static inline uint64_t alo_inflight_key(const alo_inflight *table, const aloft_op *op) {
  return table->slots[op->own.slot].key;
}

/* False: nothing is in flight under that key. */
static inline bool alo_inflight_holds(const alo_inflight *table, uint64_t key) {
  uint64_t number = key & ALO_INFLIGHT_MAX;
  return (uint32_t)number < table->used && table->slots[number].key == key;
}

/* NULL: nothing is in flight under that key. */
static inline aloft_op *alo_inflight_find(const alo_inflight *table, uint64_t key) {
  return alo_inflight_holds(table, key) ? table->slots[key & ALO_INFLIGHT_MAX].op : NULL;
}

/* Frees the slot of what is in flight under that key, which it returns. */
static inline aloft_op *alo_inflight_take(alo_inflight *table, uint64_t key) {
  uint64_t number = key & ALO_INFLIGHT_MAX;
  alo_inflight_slot *slot = &table->slots[number];
  aloft_op *op = slot->op;
  slot->key = key | ALO_INFLIGHT_MAX;
  if (slot->key == table->key_last) {
    table->retired++;
    return op;
  }
  slot->free_next = table->free_first;
  table->free_first = number;
  return op;
}

static inline void alo_inflight_remove(alo_inflight *table, const aloft_op *op) {
  (void)alo_inflight_take(table, alo_inflight_key(table, op));
}

/* Operations in the table: they are counted by looking. */
uint32_t alo_inflight_count(const alo_inflight *table);

/* Any operation in the table, for emptying it; NULL when empty. `*cursor` begins at 0. */
aloft_op *alo_inflight_any(const alo_inflight *table, uint32_t *cursor);

/* A key as text: a letter from 'a' to 'p' for each four bits. Eight letters are made, and read, in
 * the bytes of one word. Nobody else reads them, so that their order is the machine's. */
enum { ALO_INFLIGHT_TOKEN_SIZE = 16 };
#define ALO_EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

static inline void alo_inflight_letters(uint32_t bits, char out[8]) {
  uint64_t word = bits;
  word = (word | word << 16) & UINT64_C(0x0000FFFF0000FFFF);
  word = (word | word << 8) & UINT64_C(0x00FF00FF00FF00FF);
  word = ((word | word << 4) & ALO_EACH_BYTE(0x0F)) + ALO_EACH_BYTE('a');
  memcpy(out, &word, 8);
}

static inline void alo_inflight_token(uint64_t key, char out[ALO_INFLIGHT_TOKEN_SIZE]) {
  alo_inflight_letters((uint32_t)key, out);
  alo_inflight_letters((uint32_t)(key >> 32), out + 8);
}

/* The eight letters as numbers in the bytes of a word, still apart. */
static inline uint64_t alo_inflight_numbers(const char letters[8]) {
  uint64_t word;
  memcpy(&word, letters, 8);
  return word - ALO_EACH_BYTE('a');
}

static inline uint32_t alo_inflight_bits(uint64_t numbers) {
  numbers = (numbers | numbers >> 4) & UINT64_C(0x00FF00FF00FF00FF);
  numbers = (numbers | numbers >> 8) & UINT64_C(0x0000FFFF0000FFFF);
  return (uint32_t)(numbers | numbers >> 16);
}

/* False: not such a text. */
static inline bool alo_inflight_parse(const char token[ALO_INFLIGHT_TOKEN_SIZE], uint64_t *key) {
  uint64_t low = alo_inflight_numbers(token), high = alo_inflight_numbers(token + 8);
  *key = (uint64_t)alo_inflight_bits(high) << 32 | alo_inflight_bits(low);
  /* Anything but a letter of ours leaves one of the high bits of its byte. */
  return ((high | low) & ALO_EACH_BYTE(0xF0)) == 0;
}

#endif
