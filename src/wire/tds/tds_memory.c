#include "tds_memory.h"

#include <string.h>

enum { ROOM_MIN = 1024 };

static void give_block(alo_tds_memory *memory, alo_tds_block *block) {
  alo_heap_give(memory->heap, block, sizeof *block + block->room);
}

void alo_tds_memory_fini(alo_tds_memory *memory) {
  while (memory->blocks) {
    alo_tds_block *block = memory->blocks;
    memory->blocks = block->next;
    give_block(memory, block);
  }
  memory->wanted = 0;
}

static size_t room_of(const alo_tds_memory *memory) {
  size_t room = 0;
  for (const alo_tds_block *block = memory->blocks; block; block = block->next) {
    room += block->room;
  }
  return room;
}

static size_t used_of(const alo_tds_memory *memory) {
  size_t used = 0;
  for (const alo_tds_block *block = memory->blocks; block; block = block->next) {
    used += block->used;
  }
  return used;
}

void alo_tds_memory_reset(alo_tds_memory *memory) {
  size_t used = used_of(memory);
  if (used > memory->peak) {
    memory->peak = used;
  }
  if (memory->blocks && memory->blocks->next) {
    size_t room = room_of(memory);
    alo_tds_memory_fini(memory);
    memory->wanted = room;
  } else if (memory->blocks) {
    memory->blocks->used = 0;
  }
}

size_t alo_tds_memory_held(const alo_tds_memory *memory) {
  size_t room = room_of(memory);
  return room > memory->wanted ? room : memory->wanted;
}

void alo_tds_memory_trim(alo_tds_memory *memory, size_t kept) {
  size_t held = alo_tds_memory_held(memory);
  if (held > kept && memory->peak < held / 4) {
    alo_tds_memory_fini(memory);
  }
  memory->peak = 0;
}

/* A new block in front; NULL: no memory. */
static alo_tds_block *add_block(alo_tds_memory *memory, size_t size) {
  size_t room = size < ROOM_MIN ? ROOM_MIN : size;
  room = room < memory->wanted ? memory->wanted : room;
  if (room > SIZE_MAX - sizeof(alo_tds_block)) {
    return NULL;
  }
  alo_tds_block *block = alo_heap_resize(memory->heap, NULL, 0, sizeof *block + room);
  if (block) {
    *block = (alo_tds_block){.next = memory->blocks, .room = room};
    memory->blocks = block;
    memory->wanted = 0;
  }
  return block;
}

uint8_t *alo_tds_memory_take(alo_tds_memory *memory, size_t size) {
  alo_tds_block *block = memory->blocks;
  if (!block || block->room - block->used < size) {
    block = add_block(memory, size);
    if (!block) {
      return NULL;
    }
  }
  uint8_t *taken = alo_tds_block_data(block) + block->used;
  block->used += size;
  return taken;
}

/* Makes the only block, which holds nothing but the growing value, larger. */
static uint8_t *resize_block(alo_tds_memory *memory, size_t room) {
  alo_tds_block *old = memory->blocks;
  size_t header = sizeof *old;
  alo_tds_block *block = alo_heap_resize(memory->heap, old, header + old->room, header + room);
  if (!block) {
    return NULL;
  }
  block->room = room;
  memory->blocks = block;
  return alo_tds_block_data(block);
}

uint8_t *alo_tds_memory_grow_block(alo_tds_memory *memory, uint8_t *value, size_t size,
                                   size_t more) {
  alo_tds_block *block = memory->blocks;
  if (more > SIZE_MAX / 4 || size > SIZE_MAX / 4) {
    return NULL;
  }
  if (block && block->room - block->used >= size + more) {
    return alo_tds_block_data(block) + block->used;
  }
  size_t room = size + more > ROOM_MIN ? (size + more) * 2 : ROOM_MIN;
  if (block && !block->used) {
    return resize_block(memory, room);
  }
  block = add_block(memory, room);
  if (!block) {
    return NULL;
  }
  if (size) {
    memcpy(alo_tds_block_data(block), value, size);
  }
  return alo_tds_block_data(block);
}

void alo_tds_memory_keep(alo_tds_memory *memory, size_t size) {
  if (memory->blocks) {
    memory->blocks->used += size;
  }
}
