#include "chain.h"

#include <string.h>

#include "heap.h"

void alo_blocks_init(alo_blocks *blocks, const aloft_allocator *heap, size_t block_size,
                     size_t free_bytes_max) {
  *blocks = (alo_blocks){.heap = heap, .free_bytes_max = free_bytes_max, .block_size = block_size};
}

static void release(alo_blocks *blocks, alo_block *block) {
  alo_heap_give(blocks->heap, block, sizeof *block + block->room);
}

void alo_blocks_fini(alo_blocks *blocks) {
  while (blocks->free) {
    alo_block *next = blocks->free->next;
    release(blocks, blocks->free);
    blocks->free = next;
  }
  blocks->free_bytes = 0;
}

alo_block *alo_blocks_take(alo_blocks *blocks, size_t size) {
  alo_block *block = NULL;
  if (size <= blocks->block_size) {
    size = blocks->block_size;
    block = blocks->free;
  }
  if (block) {
    blocks->free = block->next;
    blocks->free_bytes -= block->room;
  } else {
    block = alo_heap_take_raw(blocks->heap, sizeof *block + size);
    if (!block)
      return NULL;
    block->room = size;
  }
  block->next = NULL;
  block->holds = 1;
  block->begin = block->end = 0;
  blocks->out_bytes += block->room;
  return block;
}

void alo_blocks_give(alo_blocks *blocks, alo_block *block) {
  if (--block->holds)
    return;
  blocks->out_bytes -= block->room;
  if (block->room != blocks->block_size ||
      blocks->free_bytes + block->room > blocks->free_bytes_max) {
    release(blocks, block);
    return;
  }
  block->next = blocks->free;
  blocks->free = block;
  blocks->free_bytes += block->room;
}

static void append(alo_chain *chain, alo_block *block) {
  if (chain->last)
    chain->last->next = block;
  else
    chain->first = block;
  chain->last = block;
}

/* What is being gathered goes on in its block, however little is missing. */
static bool gathering(const alo_chain *chain) {
  const alo_block *first = chain->first;
  return first && first == chain->last && first->end < first->room &&
         first->end - first->begin < chain->wanted;
}

uint8_t *alo_chain_room(alo_chain *chain, alo_blocks *blocks, size_t least, size_t *size) {
  alo_block *last = chain->last;
  if (!last || (last->room - last->end < least && !gathering(chain))) {
    last = alo_blocks_take(blocks, least);
    if (!last)
      return NULL;
    append(chain, last);
  }
  *size = last->room - last->end;
  return last->data + last->end;
}

void alo_chain_filled(alo_chain *chain, size_t size) {
  chain->last->end += size;
  chain->size += size;
}

static void drop_first(alo_chain *chain, alo_blocks *blocks) {
  alo_block *first = chain->first;
  chain->first = first->next;
  if (!chain->first)
    chain->last = NULL;
  alo_blocks_give(blocks, first);
}

/* A block read to its end is kept in the chain while bytes can still be received into it and
 * nothing else holds it: it then begins anew. */
static void settle_first(alo_chain *chain, alo_blocks *blocks) {
  alo_block *first = chain->first;
  bool ordinary = first->room == blocks->block_size;
  if (!first->next && ordinary && first->holds == 1)
    first->begin = first->end = 0;
  else if (first->next || !ordinary || first->end == first->room)
    drop_first(chain, blocks);
}

void alo_chain_drop(alo_chain *chain, alo_blocks *blocks, size_t size) {
  chain->size -= size;
  chain->wanted = 0;
  while (chain->first) {
    alo_block *first = chain->first;
    size_t here = first->end - first->begin;
    size_t taken = size < here ? size : here;
    first->begin += taken;
    size -= taken;
    if (first->begin < first->end)
      return;
    bool last = first->next == NULL;
    settle_first(chain, blocks);
    if (last)
      return;
  }
}

bool alo_chain_gather(alo_chain *chain, alo_blocks *blocks, size_t size) {
  alo_block *first = chain->first;
  chain->wanted = size;
  if (first && first->room - first->begin >= size &&
      (!first->next || first->end - first->begin >= size))
    return true;
  alo_block *whole = alo_blocks_take(blocks, size);
  if (!whole)
    return false;
  while (chain->first && whole->end < size) {
    first = chain->first;
    size_t move = first->end - first->begin;
    if (move > whole->room - whole->end)
      move = whole->room - whole->end;
    memcpy(whole->data + whole->end, first->data + first->begin, move);
    whole->end += move;
    first->begin += move;
    if (first->begin == first->end)
      drop_first(chain, blocks);
  }
  whole->next = chain->first;
  chain->first = whole;
  if (!chain->last)
    chain->last = whole;
  return true;
}

void alo_chain_join(alo_chain *chain, alo_chain *other) {
  if (!other->first)
    return;
  if (chain->last)
    chain->last->next = other->first;
  else
    chain->first = other->first;
  chain->last = other->last;
  chain->size += other->size;
  *other = (alo_chain){0};
}

void alo_chain_clear(alo_chain *chain, alo_blocks *blocks) {
  while (chain->first)
    drop_first(chain, blocks);
  chain->size = 0;
}
