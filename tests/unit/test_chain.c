/* Receive blocks: what comes out is what went in, moved at most once, and memory is bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "chain.h"
#include "harness_heap.h"
#include "rental.h"

enum { BLOCK = 4096 };

typedef struct fixture {
  harness_heap heap;
  alo_blocks blocks;
  alo_chain chain;
  uint8_t next_in, next_out;
} fixture;

static void setup(fixture *self, size_t free_max) {
  memset(self, 0, sizeof *self);
  harness_heap_init(&self->heap);
  alo_blocks_init(&self->blocks, &self->heap.allocator, BLOCK, free_max);
}

static void teardown(fixture *self) {
  alo_chain_clear(&self->chain, &self->blocks);
  assert_int_equal(self->blocks.out_bytes, 0);
  alo_blocks_fini(&self->blocks);
  harness_heap_check(&self->heap);
}

static void put(fixture *self, size_t size) {
  while (size) {
    size_t room;
    uint8_t *into = alo_chain_room(&self->chain, &self->blocks, 100, &room);
    assert_non_null(into);
    assert_true(room > 0);
    if (room > size)
      room = size;
    for (size_t i = 0; i < room; i++)
      into[i] = self->next_in++;
    alo_chain_filled(&self->chain, room);
    size -= room;
  }
}

static void check_front(fixture *self, size_t size) {
  const alo_block *first = self->chain.first;
  assert_true(first->end - first->begin >= size);
  for (size_t i = 0; i < size; i++)
    assert_int_equal(first->data[first->begin + i], (uint8_t)(self->next_out + i));
}

static void take(fixture *self, size_t size) {
  alo_chain_drop(&self->chain, &self->blocks, size);
  self->next_out = (uint8_t)(self->next_out + size);
}

static void bytes_pass_through(void **state) {
  (void)state;
  fixture self;
  setup(&self, 4 * BLOCK);
  unsigned x = 1;
  for (int round = 0; round < 5000; round++) {
    x = x * 1103515245 + 12345;
    put(&self, x >> 16 & 1023);
    size_t want = x >> 8 & 511;
    if (want > self.chain.size)
      want = self.chain.size;
    if (want == 0)
      continue;
    assert_true(alo_chain_gather(&self.chain, &self.blocks, want));
    check_front(&self, want);
    take(&self, want);
  }
  size_t sum = 0;
  for (const alo_block *at = self.chain.first; at; at = at->next)
    sum += at->end - at->begin;
  assert_int_equal(sum, self.chain.size);
  teardown(&self);
}

/* A message of many blocks' size is moved into one block once, and then received in place. */
static void gather_moves_once(void **state) {
  (void)state;
  for (size_t size = BLOCK - 120; size < 3 * BLOCK; size += 61) {
    fixture self;
    setup(&self, 4 * BLOCK);
    put(&self, 1000);
    take(&self, 900);
    assert_true(alo_chain_gather(&self.chain, &self.blocks, size));
    const uint8_t *begin = self.chain.first->data + self.chain.first->begin;
    for (size_t left = size - 100; left;) {
      size_t room;
      uint8_t *into = alo_chain_room(&self.chain, &self.blocks, 2048, &room);
      assert_non_null(into);
      size_t part = left < 7 ? left : room < 7 ? room : 7;
      for (size_t i = 0; i < part; i++)
        into[i] = self.next_in++;
      alo_chain_filled(&self.chain, part);
      left -= part;
    }
    assert_ptr_equal(begin, self.chain.first->data + self.chain.first->begin);
    check_front(&self, size);
    teardown(&self);
  }
}

static void a_held_block_stays(void **state) {
  (void)state;
  fixture self;
  setup(&self, 4 * BLOCK);
  put(&self, 500);
  alo_block *held = self.chain.first;
  const uint8_t *bytes = held->data + held->begin;
  alo_block_hold(held);
  take(&self, 500);
  put(&self, 3 * BLOCK);
  for (size_t i = 0; i < 500; i++)
    assert_int_equal(bytes[i], (uint8_t)i);
  alo_chain_clear(&self.chain, &self.blocks);
  for (size_t i = 0; i < 500; i++)
    assert_int_equal(bytes[i], (uint8_t)i);
  alo_blocks_give(&self.blocks, held);
  teardown(&self);
}

static void steady_state_allocates_nothing(void **state) {
  (void)state;
  fixture self;
  setup(&self, 4 * BLOCK);
  for (int round = 0; round < 100; round++) {
    put(&self, 3 * BLOCK + 17);
    take(&self, 3 * BLOCK + 17);
  }
  uint64_t before = self.heap.allocations;
  for (int round = 0; round < 1000; round++) {
    put(&self, 3 * BLOCK + 17);
    take(&self, 3 * BLOCK + 17);
  }
  assert_int_equal(self.heap.allocations, before);
  teardown(&self);
}

static void the_free_list_is_bounded(void **state) {
  (void)state;
  fixture self;
  setup(&self, 2 * BLOCK);
  put(&self, 20 * BLOCK);
  alo_chain_clear(&self.chain, &self.blocks);
  assert_true(self.blocks.free_bytes <= 2 * BLOCK);
  assert_int_equal(self.heap.live_count, 2);
  teardown(&self);
}

static void no_memory_leaves_the_chain(void **state) {
  (void)state;
  fixture self;
  size_t room;
  setup(&self, 0);
  put(&self, 100);
  harness_heap_fail_after(&self.heap, 1);
  assert_null(alo_chain_room(&self.chain, &self.blocks, BLOCK, &room));
  assert_false(alo_chain_gather(&self.chain, &self.blocks, 2 * BLOCK));
  check_front(&self, 100);
  harness_heap_fail_at(&self.heap, 0);
  teardown(&self);
}

static void a_rental_is_never_used_twice(void **state) {
  (void)state;
  alo_rental rental = {0};
  int first, second;
  assert_null(alo_rental_take(&rental));
  assert_null(alo_rental_give(&rental, &first));
  assert_ptr_equal(alo_rental_give(&rental, &second), &second);
  assert_ptr_equal(alo_rental_take(&rental), &first);
  assert_null(alo_rental_take(&rental));
  assert_int_equal(rental.taken, 3);
  assert_int_equal(rental.made, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bytes_pass_through),
      cmocka_unit_test(gather_moves_once),
      cmocka_unit_test(a_held_block_stays),
      cmocka_unit_test(steady_state_allocates_nothing),
      cmocka_unit_test(the_free_list_is_bounded),
      cmocka_unit_test(no_memory_leaves_the_chain),
      cmocka_unit_test(a_rental_is_never_used_twice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
