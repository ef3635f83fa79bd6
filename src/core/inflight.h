/* The in-flight table: an operation is found by slot and generation, without a hash. A key is given
 * out once in the table's life; a slot whose generations are used up retires. */
#ifndef ALO_INFLIGHT_H
#define ALO_INFLIGHT_H

#include <aloft/op.h>

enum {
  ALO_INFLIGHT_SLOT_BITS = 24,
  ALO_INFLIGHT_GENERATION_BITS = 40,
  ALO_INFLIGHT_MAX = (1 << ALO_INFLIGHT_SLOT_BITS) - 1
};

typedef struct alo_inflight_slot {
  aloft_op *op;        /* NULL: free */
  uint64_t generation; /* of the present or next use; while free, the next free slot above it */
} alo_inflight_slot;

typedef struct alo_inflight {
  const aloft_allocator *heap;
  alo_inflight_slot *slots;
  uint32_t room; /* allocated */
  uint32_t used; /* slots ever used */
  uint32_t max;
  uint32_t count;      /* operations in the table */
  uint32_t free_first; /* + 1; 0: none */
  uint32_t retired;
  uint64_t generation_max;
} alo_inflight;

/* `max` at most ALO_INFLIGHT_MAX. `generation_bits` 1 to 40. */
void alo_inflight_init(alo_inflight *table, const aloft_allocator *heap, uint32_t max,
                       unsigned generation_bits);
void alo_inflight_fini(alo_inflight *table);
/* Makes room for so many, at most `max`. ALOFT_NO_MEMORY. */
aloft_status alo_inflight_reserve(alo_inflight *table, uint32_t room);

/* Gives the operation a slot (own.slot). ALOFT_TOO_MANY, ALOFT_NO_MEMORY. */
aloft_status alo_inflight_add(alo_inflight *table, aloft_op *op);
/* The key of an operation in the table: generation above slot. */
uint64_t alo_inflight_key(const alo_inflight *table, const aloft_op *op);
/* NULL: nothing is in flight under that key. */
aloft_op *alo_inflight_find(const alo_inflight *table, uint64_t key);
void alo_inflight_remove(alo_inflight *table, aloft_op *op);
/* Any operation in the table, for emptying it; NULL when empty. `*cursor` begins at 0. */
aloft_op *alo_inflight_any(const alo_inflight *table, uint32_t *cursor);

/* A key as text: 11 characters of base64url, fixed width. */
enum { ALO_INFLIGHT_TOKEN_SIZE = 11 };
void alo_inflight_token(uint64_t key, char out[ALO_INFLIGHT_TOKEN_SIZE]);
/* False: not such a text. */
bool alo_inflight_parse(const char token[ALO_INFLIGHT_TOKEN_SIZE], uint64_t *key);

#endif
