/* The bounded buffer: its limit, its growth, what it costs to take from it, and that it forgets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "buffer.h"
#include "harness_heap.h"

static harness_heap heap;
static alo_buffer buffer;

static int set_up(void **state) {
  (void)state;
  harness_heap_init(&heap);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  alo_buffer_fini(&buffer);
  harness_heap_check(&heap);
  return 0;
}

static void test_limit(void **state) {
  (void)state;
  alo_buffer_init(&buffer, &heap.allocator, 10);
  assert_int_equal(alo_buffer_append(&buffer, "12345678", 8), ALOFT_OK);
  assert_int_equal(alo_buffer_append(&buffer, "901", 3), ALOFT_FULL);
  assert_int_equal(alo_buffer_reserve(&buffer, SIZE_MAX), ALOFT_FULL);
  assert_int_equal(alo_buffer_size(&buffer), 8);
  assert_int_equal(alo_buffer_append(&buffer, "90", 2), ALOFT_OK);
  assert_memory_equal(buffer.data + buffer.begin, "1234567890", 10);
  assert_int_equal(alo_buffer_append(&buffer, NULL, 0), ALOFT_OK);
  alo_buffer_take(&buffer, 4);
  assert_int_equal(alo_buffer_append(&buffer, "abcd", 4), ALOFT_OK);
  assert_int_equal(alo_buffer_append(&buffer, "e", 1), ALOFT_FULL);
  assert_memory_equal(buffer.data + buffer.begin, "567890abcd", 10);
}

static void test_no_memory(void **state) {
  (void)state;
  alo_buffer_init(&buffer, &heap.allocator, 1 << 20);
  assert_int_equal(alo_buffer_append(&buffer, "abc", 3), ALOFT_OK);
  harness_heap_fail_at(&heap, 1);
  assert_int_equal(alo_buffer_reserve(&buffer, 100000), ALOFT_NO_MEMORY);
  assert_int_equal(alo_buffer_size(&buffer), 3);
  assert_memory_equal(buffer.data + buffer.begin, "abc", 3);
  assert_int_equal(alo_buffer_reserve(&buffer, 100000), ALOFT_OK);
  assert_memory_equal(buffer.data + buffer.begin, "abc", 3);
}

/* A queue that stays nearly full: after warming up no heap call, room at most twice the limit, and
 * the bytes stay in order. */
static void test_queue(void **state) {
  (void)state;
  enum { MAX = 5000 };
  uint64_t calls = 0;
  uint8_t put = 0;
  uint8_t taken = 0;
  alo_buffer_init(&buffer, &heap.allocator, MAX);
  for (unsigned turn = 0; turn < 20000; turn++) {
    uint8_t bytes[7];
    for (size_t at = 0; at < sizeof bytes; at++) {
      bytes[at] = put++;
    }
    if (alo_buffer_append(&buffer, bytes, sizeof bytes) == ALOFT_FULL) {
      put = (uint8_t)(put - sizeof bytes);
      for (size_t at = 0; at < 11; at++) {
        assert_int_equal(buffer.data[buffer.begin + at], taken++);
      }
      alo_buffer_take(&buffer, 11);
    }
    assert_true(buffer.room <= 2 * MAX);
    if (turn == 5000) {
      calls = heap.allocations + heap.resizes;
    }
  }
  assert_int_equal(heap.allocations + heap.resizes, calls);
}

/* What is released is wiped first, also when it is outgrown. */
static void (*release)(void *context, void *memory, size_t size);
static unsigned secrets;

static void look_and_release(void *context, void *memory, size_t size) {
  for (size_t at = 0; at + 6 <= size; at++) {
    secrets += memcmp((const uint8_t *)memory + at, "secret", 6) == 0;
  }
  release(context, memory, size);
}

static void test_wiped(void **state) {
  (void)state;
  aloft_allocator watching = heap.allocator;
  release = watching.release;
  watching.release = look_and_release;
  secrets = 0;
  alo_buffer_init(&buffer, &watching, 1 << 20);
  assert_int_equal(alo_buffer_append(&buffer, "secret", 6), ALOFT_OK);
  assert_int_equal(alo_buffer_reserve(&buffer, 10000), ALOFT_OK);
  alo_buffer_fini(&buffer);
  assert_int_equal(secrets, 0);
  assert_int_equal(heap.releases, 2);
  buffer.heap = &heap.allocator;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_limit, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_no_memory, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_queue, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_wiped, set_up, tear_down)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
