/* The test allocator itself: it must see what it is there to see. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "harness_heap.h"

static void *take(harness_heap *heap, size_t size) {
  return heap->allocator.allocate(heap->allocator.context, size);
}

static void give(harness_heap *heap, void *memory, size_t size) {
  heap->allocator.release(heap->allocator.context, memory, size);
}

static void *resize(harness_heap *heap, void *memory, size_t old_size, size_t size) {
  return heap->allocator.resize(heap->allocator.context, memory, old_size, size);
}

static void counts_calls_and_bytes(void **state) {
  (void)state;
  harness_heap heap;
  harness_heap_init(&heap);
  void *a = take(&heap, 10);
  void *b = take(&heap, 20);
  give(&heap, a, 10);
  b = resize(&heap, b, 20, 5);
  assert_int_equal(heap.allocations, 2);
  assert_int_equal(heap.resizes, 1);
  assert_int_equal(heap.releases, 1);
  assert_int_equal(heap.bytes, 35);
  assert_int_equal(heap.live_count, 1);
  assert_int_equal(heap.live_bytes, 5);
  assert_int_equal(heap.live_bytes_max, 30);
  give(&heap, b, 5);
  harness_heap_check(&heap);
}

static void resize_keeps_the_bytes(void **state) {
  (void)state;
  harness_heap heap;
  harness_heap_init(&heap);
  char *text = resize(&heap, NULL, 0, 4);
  memcpy(text, "abc", 4);
  char *longer = resize(&heap, text, 4, 400);
  assert_string_equal(longer, "abc");
  assert_ptr_equal(harness_heap_of(&heap.allocator), &heap);
  give(&heap, longer, 400);
  harness_heap_check(&heap);
}

static void sees_a_leak(void **state) {
  (void)state;
  harness_heap heap;
  harness_heap_init(&heap);
  assert_non_null(take(&heap, 7));
  assert_string_equal(harness_heap_fini(&heap), "blocks were not released");
}

static void sees_a_wrong_size(void **state) {
  (void)state;
  harness_heap heap;
  harness_heap_init(&heap);
  give(&heap, take(&heap, 7), 8);
  assert_string_equal(harness_heap_fini(&heap), "a size given that is not the block's");
  harness_heap_init(&heap);
  void *moved = resize(&heap, take(&heap, 7), 6, 9);
  give(&heap, moved, 9);
  assert_string_equal(harness_heap_fini(&heap), "a size given that is not the block's");
}

static void sees_a_second_release(void **state) {
  (void)state;
  harness_heap heap;
  harness_heap_init(&heap);
  void *memory = take(&heap, 7);
  give(&heap, memory, 7);
  give(&heap, memory, 7);
  assert_string_equal(harness_heap_fini(&heap), "memory given that is not a live block");
}

static void sees_size_zero(void **state) {
  (void)state;
  harness_heap heap;
  harness_heap_init(&heap);
  give(&heap, take(&heap, 0), 0);
  assert_string_equal(harness_heap_fini(&heap), "an allocation of size 0");
}

static void fails_the_nth_from_now(void **state) {
  (void)state;
  harness_heap heap;
  harness_heap_init(&heap);
  void *a = take(&heap, 1);
  harness_heap_fail_at(&heap, 2);
  a = resize(&heap, a, 1, 2);
  assert_non_null(a);
  assert_null(resize(&heap, a, 2, 3));
  assert_int_equal(heap.failed, 1);
  a = resize(&heap, a, 2, 3); /* a failed resize has left it alone */
  assert_non_null(a);
  harness_heap_fail_after(&heap, 1);
  assert_null(take(&heap, 1));
  assert_null(take(&heap, 1));
  harness_heap_fail_at(&heap, 0);
  void *b = take(&heap, 1);
  assert_non_null(b);
  give(&heap, a, 3);
  give(&heap, b, 1);
  harness_heap_check(&heap);
}

typedef struct tally {
  unsigned runs, whole;
} tally;

static void takes_three(const aloft_allocator *allocator, void *context) {
  tally *seen = context;
  void *taken[3];
  size_t count = 0;
  while (count < 3 && (taken[count] = allocator->allocate(allocator->context, 16)) != NULL)
    count++;
  seen->runs++;
  seen->whole += count == 3;
  while (count > 0)
    allocator->release(allocator->context, taken[--count], 16);
}

static void each_allocation_fails_once(void **state) {
  (void)state;
  tally seen = {0, 0};
  assert_int_equal(harness_each_allocation(takes_three, &seen), 3);
  assert_int_equal(seen.runs, 8); /* three failing once, three from there on, a whole one of each */
  assert_int_equal(seen.whole, 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_calls_and_bytes),
      cmocka_unit_test(resize_keeps_the_bytes),
      cmocka_unit_test(sees_a_leak),
      cmocka_unit_test(sees_a_wrong_size),
      cmocka_unit_test(sees_a_second_release),
      cmocka_unit_test(sees_size_zero),
      cmocka_unit_test(fails_the_nth_from_now),
      cmocka_unit_test(each_allocation_fails_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
