/* Received bytes: a singly linked list of blocks that assembles itself (a block is its own node).
 * Blocks come from a loop's free list and go back as the reader passes them; one that something
 * still points into is held by a count. */
#ifndef ALO_CHAIN_H
#define ALO_CHAIN_H

#include <aloft/status.h>

typedef struct alo_block {
  struct alo_block *next;
  uint32_t holds;
  size_t begin, end; /* bytes not yet read */
  size_t room;
  uint8_t data[];
} alo_block;

/* The free list of one loop, bounded in bytes. Only blocks of the usual size are kept. */
typedef struct alo_blocks {
  const aloft_allocator *heap;
  alo_block *free;
  size_t free_bytes, free_bytes_max;
  size_t block_size; /* room of a usual block */
  size_t out_bytes;  /* in blocks given out */
} alo_blocks;

void alo_blocks_init(alo_blocks *blocks, const aloft_allocator *heap, size_t block_size,
                     size_t free_bytes_max);
void alo_blocks_fini(alo_blocks *blocks);
/* An empty block with room for `size` bytes at least, held once; NULL: no memory. */
alo_block *alo_blocks_take(alo_blocks *blocks, size_t size);
static inline void alo_block_hold(alo_block *block) {
  block->holds++;
}
/* Lets go of one hold. */
void alo_blocks_give(alo_blocks *blocks, alo_block *block);

typedef struct alo_chain {
  alo_block *first, *last;
  size_t size;   /* bytes not yet read, in all blocks */
  size_t wanted; /* bytes that gather has made room for in the first block; 0: none */
} alo_chain;

/* Room at the end of the chain: a pointer and its size, at least `least` bytes. NULL: no memory. */
uint8_t *alo_chain_room(alo_chain *chain, alo_blocks *blocks, size_t least, size_t *size);
/* `size` bytes have been written there. */
void alo_chain_filled(alo_chain *chain, size_t size);
/* Drops `size` bytes from the front and lets go of the blocks that are read to their end. */
void alo_chain_drop(alo_chain *chain, alo_blocks *blocks, size_t size);
/* Makes the first block hold `size` bytes in one piece, or room for them to arrive: what has been
 * received of them is moved at most once. False: no memory. */
bool alo_chain_gather(alo_chain *chain, alo_blocks *blocks, size_t size);
/* Appends the blocks of `other`, which is empty then. */
void alo_chain_join(alo_chain *chain, alo_chain *other);
void alo_chain_clear(alo_chain *chain, alo_blocks *blocks);

#endif
