#include "tsql_context.h"
#include "tsql_text.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tsql_error.h"

enum { BLOCK_SIZE = 16 * 1024, ALIGNMENT = 16 };

struct tsql_block {
  tsql_block *next;
  size_t size;
  size_t used;
  size_t padding;
};

static tsql_block *add_block(tsql_arena *arena, size_t size) {
  size_t room = size > BLOCK_SIZE ? size : BLOCK_SIZE;
  if (room > TSQL_ARENA_MAX - arena->held)
    return NULL;
  tsql_block *block = malloc(sizeof *block + room);
  if (!block)
    return NULL;
  *block = (tsql_block){.next = arena->blocks, .size = room};
  arena->blocks = block;
  arena->held += room;
  return block;
}

void *alo_arena_take(tsql_arena *arena, size_t size) {
  if (size > SIZE_MAX / 2)
    return NULL;
  size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  tsql_block *block = arena->blocks;
  if (!block || block->size - block->used < size)
    block = add_block(arena, size);
  if (!block)
    return NULL;
  char *memory = (char *)(block + 1) + block->used;
  block->used += size;
  memset(memory, 0, size);
  return memory;
}

void alo_arena_reset(tsql_arena *arena) {
  tsql_block *keep = NULL;
  for (tsql_block *block = arena->blocks, *next; block; block = next) {
    next = block->next;
    if (!keep && block->size == BLOCK_SIZE)
      keep = block;
    else
      free(block);
  }
  if (keep) {
    keep->next = NULL;
    keep->used = 0;
  }
  arena->blocks = keep;
  arena->held = keep ? keep->size : 0;
}

void alo_arena_free(tsql_arena *arena) {
  for (tsql_block *block = arena->blocks, *next; block; block = next) {
    next = block->next;
    free(block);
  }
  *arena = (tsql_arena){0};
}

static void set_error(tsql_error *error, int number, va_list arguments) {
  const tsql_error_kind *kind = alo_tsql_error_kind(number);
  error->number = number;
  error->severity = kind->severity;
  error->state = kind->state;
  error->reach = kind->reach;
  error->line = 0;
  vsnprintf(error->text, sizeof error->text, kind->text, arguments);
}

void alo_tsql_error_set(tsql_error *error, int number, ...) {
  va_list arguments;
  va_start(arguments, number);
  set_error(error, number, arguments);
  va_end(arguments);
}

void alo_throw(tsql_context *context, int number, ...) {
  va_list arguments;
  va_start(arguments, number);
  set_error(&context->error, number, arguments);
  va_end(arguments);
  longjmp(context->out, 1);
}

void alo_rethrow(tsql_context *context, const tsql_error *error) {
  if (error != &context->error)
    context->error = *error;
  longjmp(context->out, 1);
}

void *alo_take(tsql_context *context, size_t size) {
  void *memory = alo_arena_take(&context->arena, size);
  if (!memory)
    alo_throw(context, 701);
  return memory;
}

aloft_text alo_copy(tsql_context *context, aloft_text text) {
  char *copy = alo_take(context, text.size + 1);
  if (text.size > 0)
    memcpy(copy, text.data, text.size);
  return (aloft_text){copy, text.size};
}

static void reserve(tsql_string *string, size_t more) {
  if (string->room - string->size > more)
    return;
  size_t room = (string->size + more + 64) * 2;
  char *data = alo_take(string->context, room);
  assert(string->data || string->size == 0);
  if (string->size > 0)
    memcpy(data, string->data, string->size);
  string->data = data;
  string->room = room;
}

void alo_string_add(tsql_string *string, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  int size = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  if (size > 0) {
    reserve(string, (size_t)size);
    vsnprintf(string->data + string->size, string->room - string->size, format, again);
    string->size += (size_t)size;
  }
  va_end(again);
}

void alo_string_bytes(tsql_string *string, const void *bytes, size_t size) {
  reserve(string, size);
  if (size > 0)
    memcpy(string->data + string->size, bytes, size);
  string->size += size;
  string->data[string->size] = 0;
}

aloft_text alo_string_text(tsql_string *string) {
  if (!string->data)
    reserve(string, 0);
  return (aloft_text){string->data, string->size};
}

/* ---- surrogate pairs ---- */

static _Noreturn void refuse_half(tsql_context *context) {
  alo_throw(context, 40510, ALOFT_PRINT(ALOFT_TEXT("half of a surrogate pair")));
}

size_t alo_prefix_whole(tsql_context *context, aloft_text text, size_t units) {
  size_t size = alo_text_prefix(text, units);
  if (size < text.size && alo_text_units((aloft_text){text.data, size}) < units)
    refuse_half(context);
  return size;
}

void alo_refuse_pairs(tsql_context *context, aloft_text text) {
  for (size_t i = 0; i < text.size;)
    if (alo_text_next(text, &i) > 0xFFFF)
      refuse_half(context);
}
