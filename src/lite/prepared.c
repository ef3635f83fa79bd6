#include "prepared.h"

#include <stdlib.h>
#include <string.h>

static bool copy(aloft_text from, aloft_text *to) {
  char *own = malloc(from.size + 1);
  if (!own)
    return false;
  if (from.size)
    memcpy(own, from.data, from.size);
  *to = (aloft_text){own, from.size};
  return true;
}

static void let_go(aloft_text text) {
  char *memory = NULL;
  memcpy(&memory, &text.data, sizeof memory);
  free(memory);
}

static bool make_room(alo_prepared_table *table) {
  if (table->count < table->room)
    return true;
  size_t room = table->room ? 2 * table->room : 8;
  alo_prepared *grown = realloc(table->items, room * sizeof *grown);
  if (!grown)
    return false;
  table->items = grown;
  table->room = room;
  return true;
}

aloft_status alo_prepared_add(alo_prepared_table *table, aloft_text sql, aloft_text declarations,
                              int32_t *handle) {
  if (table->count >= ALO_PREPARED_MAX || table->last == INT32_MAX ||
      sql.size > ALO_PREPARED_BYTES_MAX - table->bytes ||
      declarations.size > ALO_PREPARED_BYTES_MAX - table->bytes - sql.size)
    return ALOFT_TOO_MANY;
  alo_prepared made = {.handle = table->last + 1};
  if (!make_room(table) || !copy(sql, &made.sql))
    return ALOFT_NO_MEMORY;
  if (declarations.data && !copy(declarations, &made.declarations)) {
    let_go(made.sql);
    return ALOFT_NO_MEMORY;
  }
  table->items[table->count++] = made;
  table->bytes += sql.size + declarations.size;
  *handle = table->last = made.handle;
  return ALOFT_OK;
}

/* The place of the first one that is not below. */
static size_t place_of(const alo_prepared_table *table, int64_t handle) {
  size_t low = 0, high = table->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (table->items[middle].handle < handle)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const alo_prepared *alo_prepared_find(const alo_prepared_table *table, int64_t handle) {
  size_t place = place_of(table, handle);
  bool found = place < table->count && table->items[place].handle == handle;
  return found ? &table->items[place] : NULL;
}

bool alo_prepared_remove(alo_prepared_table *table, int64_t handle) {
  size_t place = place_of(table, handle);
  if (place == table->count || table->items[place].handle != handle)
    return false;
  alo_prepared *item = &table->items[place];
  table->bytes -= item->sql.size + item->declarations.size;
  let_go(item->sql);
  let_go(item->declarations);
  table->count--;
  memmove(item, item + 1, (table->count - place) * sizeof *item);
  return true;
}

/* Handles are not used again: one from before a reset is unknown, not another statement's. */
void alo_prepared_clear(alo_prepared_table *table) {
  for (size_t i = 0; i < table->count; i++) {
    let_go(table->items[i].sql);
    let_go(table->items[i].declarations);
  }
  free(table->items);
  *table = (alo_prepared_table){.last = table->last};
}
