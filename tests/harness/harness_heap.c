#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness_heap.h"

enum { BLOCK_MAGIC = 0x41104EA9, RUNS_MAX = 100000 };

/* Stands before each block. Its size is a multiple of the strictest alignment. */
typedef struct harness_block {
  _Alignas(max_align_t) struct harness_block *next;
  struct harness_block **back;
  size_t size;
  uint64_t number;
  uint32_t magic;
} harness_block;

static void note_mistake(harness_heap *heap, const char *mistake) {
  if (heap->mistake == NULL)
    heap->mistake = mistake;
}

static bool must_fail(harness_heap *heap) {
  uint64_t call = heap->allocations + heap->resizes;
  if (heap->fail_at == 0 || call < heap->fail_at)
    return false;
  if (call > heap->fail_at && !heap->fail_after)
    return false;
  heap->failed++;
  return true;
}

static void *add_block(harness_heap *heap, size_t size) {
  harness_block *block = malloc(sizeof *block + size);
  if (block == NULL)
    return NULL;
  *block = (harness_block){.next = heap->blocks, .back = &heap->blocks, .size = size};
  block->number = heap->allocations + heap->resizes;
  block->magic = BLOCK_MAGIC;
  if (block->next != NULL)
    block->next->back = &block->next;
  heap->blocks = block;
  heap->live_count++;
  heap->live_bytes += size;
  if (heap->live_bytes > heap->live_bytes_max)
    heap->live_bytes_max = heap->live_bytes;
  memset(block + 1, 0xA5, size);
  return block + 1;
}

static void remove_block(harness_heap *heap, harness_block *block) {
  *block->back = block->next;
  if (block->next != NULL)
    block->next->back = block->back;
  heap->live_count--;
  heap->live_bytes -= block->size;
  block->magic = 0;
  memset(block + 1, 0xDD, block->size);
  free(block);
}

/* A walk, not a look at the bytes before `memory`: a foreign pointer must not be followed. */
static harness_block *find_block(harness_heap *heap, const void *memory, size_t size) {
  harness_block *block = heap->blocks;
  while (block != NULL && (const void *)(block + 1) != memory)
    block = block->next;
  if (block == NULL)
    note_mistake(heap, "memory given that is not a live block");
  else if (block->magic != BLOCK_MAGIC)
    note_mistake(heap, "bytes before a block were overwritten");
  else if (block->size != size)
    note_mistake(heap, "a size given that is not the block's");
  return block;
}

static void *allocate(void *context, size_t size) {
  harness_heap *heap = context;
  heap->allocations++;
  heap->bytes += size;
  if (size == 0)
    note_mistake(heap, "an allocation of size 0");
  return must_fail(heap) ? NULL : add_block(heap, size);
}

static void *resize(void *context, void *memory, size_t old_size, size_t size) {
  harness_heap *heap = context;
  heap->resizes++;
  heap->bytes += size;
  if (size == 0)
    note_mistake(heap, "a resize to size 0");
  harness_block *old = memory == NULL ? NULL : find_block(heap, memory, old_size);
  if (must_fail(heap) || (memory != NULL && old == NULL))
    return NULL;
  void *moved = add_block(heap, size);
  if (moved != NULL && old != NULL) {
    memcpy(moved, old + 1, old->size < size ? old->size : size);
    remove_block(heap, old);
  }
  return moved;
}

static void release(void *context, void *memory, size_t size) {
  harness_heap *heap = context;
  heap->releases++;
  harness_block *block = find_block(heap, memory, size);
  if (block != NULL)
    remove_block(heap, block);
}

void harness_heap_init(harness_heap *heap) {
  *heap = (harness_heap){.allocator = {allocate, resize, release, heap}};
}

void harness_heap_fail_at(harness_heap *heap, uint64_t n) {
  heap->fail_at = n == 0 ? 0 : heap->allocations + heap->resizes + n;
  heap->fail_after = false;
}

void harness_heap_fail_after(harness_heap *heap, uint64_t n) {
  harness_heap_fail_at(heap, n);
  heap->fail_after = true;
}

harness_heap *harness_heap_of(const aloft_allocator *allocator) {
  return allocator->context;
}

const char *harness_heap_fini(harness_heap *heap) {
  if (heap->blocks != NULL)
    note_mistake(heap, "blocks were not released");
  while (heap->blocks != NULL) {
    print_error("leak: %zu bytes of allocation call %llu\n", heap->blocks->size,
                (unsigned long long)heap->blocks->number);
    remove_block(heap, heap->blocks);
  }
  return heap->mistake;
}

void harness_heap_check(harness_heap *heap) {
  const char *mistake = harness_heap_fini(heap);
  if (mistake != NULL)
    fail_msg("heap: %s", mistake);
}

static bool run_failing(void (*scenario)(const aloft_allocator *, void *), void *context,
                        uint64_t n, bool after) {
  harness_heap heap;
  harness_heap_init(&heap);
  if (after)
    harness_heap_fail_after(&heap, n);
  else
    harness_heap_fail_at(&heap, n);
  scenario(&heap.allocator, context);
  const char *mistake = harness_heap_fini(&heap);
  if (mistake != NULL)
    fail_msg("heap: %s, with allocation %llu%s failing", mistake, (unsigned long long)n,
             after ? " and all later ones" : "");
  return heap.failed != 0;
}

uint64_t harness_each_allocation(void (*scenario)(const aloft_allocator *allocator, void *context),
                                 void *context) {
  uint64_t n = 1;
  while (run_failing(scenario, context, n, false))
    if (++n > RUNS_MAX)
      fail_msg("heap: the scenario makes over %d allocations", RUNS_MAX);
  for (uint64_t after = 1; run_failing(scenario, context, after, true); after++)
    if (after > RUNS_MAX)
      fail_msg("heap: the scenario makes over %d allocations", RUNS_MAX);
  return n - 1;
}
