/* Memory of the reader that is filled bit by bit, let go all at once, and kept for reuse. */
#ifndef ALO_TDS_MEMORY_H
#define ALO_TDS_MEMORY_H

#include "heap.h"

typedef struct alo_tds_block alo_tds_block;
struct alo_tds_block {
  alo_tds_block *next;
  size_t room, used;
};

/* Blocks, newest first. What was handed out never moves. Reset keeps one block as large as all
 * were together, so that doing the same again calls no heap. */
typedef struct alo_tds_memory {
  const aloft_allocator *heap;
  alo_tds_block *blocks;
  size_t wanted; /* room of the next block at least */
  size_t peak;   /* most that was in use at a reset, since the last trim */
} alo_tds_memory;

static inline uint8_t *alo_tds_block_data(alo_tds_block *block) {
  return (uint8_t *)(block + 1);
}

void alo_tds_memory_fini(alo_tds_memory *memory);

static inline bool alo_tds_memory_used(const alo_tds_memory *memory) {
  return memory->blocks && (memory->blocks->used || memory->blocks->next);
}

/* Everything handed out is free again. */
void alo_tds_memory_reset(alo_tds_memory *memory);

/* Bytes of room that it has, or is about to take. */
size_t alo_tds_memory_held(const alo_tds_memory *memory);

/* While nothing is handed out, now and then: gives the room back of which less than a quarter has
 * been needed since the last time, unless it is at most `kept` bytes. */
void alo_tds_memory_trim(alo_tds_memory *memory, size_t kept);

/* `size` bytes, not zeroed, with no alignment; NULL: no memory. `size` may be 0. */
uint8_t *alo_tds_memory_take(alo_tds_memory *memory, size_t size);

/* The last `size` bytes of what was taken last are free again. */
static inline void alo_tds_memory_return(alo_tds_memory *memory, size_t size) {
  if (memory->blocks) {
    memory->blocks->used -= size;
  }
}

/* One value whose size is not known yet, at the end of the memory: `size` bytes at `value` (NULL
 * at first) get room for `more`. It may move until alo_tds_memory_keep. NULL: no memory. */
uint8_t *alo_tds_memory_grow_block(alo_tds_memory *memory, uint8_t *value, size_t size,
                                   size_t more);
static inline uint8_t *alo_tds_memory_grow(alo_tds_memory *memory, uint8_t *value, size_t size,
                                           size_t more) {
  alo_tds_block *block = memory->blocks;
  size_t left = block ? block->room - block->used : 0;
  return size <= left && more <= left - size && left
             ? alo_tds_block_data(block) + block->used
             : alo_tds_memory_grow_block(memory, value, size, more);
}
void alo_tds_memory_keep(alo_tds_memory *memory, size_t size);

#endif
