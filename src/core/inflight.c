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
