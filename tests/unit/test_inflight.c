/* The in-flight table: keys are given out once, slots retire, tokens read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness_heap.h"
#include "inflight.h"

static void a_key_finds_its_operation_only(void **state) {
  (void)state;
  harness_heap heap;
  alo_inflight table;
  aloft_op ops[200];
  uint64_t keys[200];
  memset(ops, 0, sizeof ops);
  harness_heap_init(&heap);
  alo_inflight_init(&table, &heap.allocator, 200, ALO_INFLIGHT_GENERATION_BITS);
  for (size_t i = 0; i < 200; i++) {
    assert_int_equal(alo_inflight_add(&table, &ops[i]), ALOFT_OK);
    keys[i] = alo_inflight_key(&table, &ops[i]);
  }
  aloft_op one_more = {0};
  assert_int_equal(alo_inflight_add(&table, &one_more), ALOFT_TOO_MANY);
  for (size_t i = 0; i < 200; i++)
    assert_ptr_equal(alo_inflight_find(&table, keys[i]), &ops[i]);
  alo_inflight_remove(&table, &ops[7]);
  assert_null(alo_inflight_find(&table, keys[7]));
  assert_int_equal(alo_inflight_add(&table, &one_more), ALOFT_OK);
  assert_int_equal(one_more.own.slot, ops[7].own.slot);
  assert_null(alo_inflight_find(&table, keys[7])); /* the slot's next user is not touched */
  assert_ptr_equal(alo_inflight_find(&table, alo_inflight_key(&table, &one_more)), &one_more);
  assert_null(alo_inflight_find(&table, UINT64_MAX));
  alo_inflight_fini(&table);
  harness_heap_check(&heap);
}

static void an_exhausted_slot_retires(void **state) {
  (void)state;
  harness_heap heap;
  alo_inflight table;
  aloft_op op = {0};
  uint64_t seen[64];
  size_t count = 0;
  harness_heap_init(&heap);
  alo_inflight_init(&table, &heap.allocator, 4, 2); /* 4 slots, 4 generations each */
  while (alo_inflight_add(&table, &op) == ALOFT_OK) {
    uint64_t key = alo_inflight_key(&table, &op);
    for (size_t i = 0; i < count; i++)
      assert_true(seen[i] != key);
    assert_true(count < 64);
    seen[count++] = key;
    alo_inflight_remove(&table, &op);
  }
  assert_int_equal(count, 16);
  assert_int_equal(table.retired, 4);
  assert_int_equal(alo_inflight_count(&table), 0);
  for (size_t i = 0; i < count; i++)
    assert_null(alo_inflight_find(&table, seen[i]));
  alo_inflight_fini(&table);
  harness_heap_check(&heap);
}

static void any_visits_each(void **state) {
  (void)state;
  harness_heap heap;
  alo_inflight table;
  aloft_op ops[10], *op;
  uint32_t cursor = 0, visited = 0;
  memset(ops, 0, sizeof ops);
  harness_heap_init(&heap);
  alo_inflight_init(&table, &heap.allocator, 10, 8);
  for (size_t i = 0; i < 10; i++)
    assert_int_equal(alo_inflight_add(&table, &ops[i]), ALOFT_OK);
  alo_inflight_remove(&table, &ops[0]);
  alo_inflight_remove(&table, &ops[9]);
  while ((op = alo_inflight_any(&table, &cursor))) {
    alo_inflight_remove(&table, op);
    visited++;
  }
  assert_int_equal(visited, 8);
  alo_inflight_fini(&table);
  harness_heap_check(&heap);
}

static void no_memory_is_a_status(void **state) {
  (void)state;
  harness_heap heap;
  alo_inflight table;
  aloft_op op = {0};
  harness_heap_init(&heap);
  alo_inflight_init(&table, &heap.allocator, 10, 8);
  harness_heap_fail_at(&heap, 1);
  assert_int_equal(alo_inflight_add(&table, &op), ALOFT_NO_MEMORY);
  harness_heap_fail_at(&heap, 0);
  assert_int_equal(alo_inflight_add(&table, &op), ALOFT_OK);
  alo_inflight_fini(&table);
  harness_heap_check(&heap);
}

static void tokens_read_back(void **state) {
  (void)state;
  char token[ALO_INFLIGHT_TOKEN_SIZE];
  uint64_t key, x = 88172645463325252u;
  const uint64_t fixed[] = {0, 1, 63, 64, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63};
  for (size_t i = 0; i < 100000; i++) {
    uint64_t given = i < sizeof fixed / sizeof *fixed ? fixed[i] : x;
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    alo_inflight_token(given, token);
    assert_true(alo_inflight_parse(token, &key));
    assert_true(key == given);
  }
}

/* Two texts for one key would let a rewritten subject through. */
static void only_one_text_is_a_key(void **state) {
  (void)state;
  char token[ALO_INFLIGHT_TOKEN_SIZE];
  uint64_t key;
  alo_inflight_token(UINT64_MAX, token);
  for (int at = 0; at < ALO_INFLIGHT_TOKEN_SIZE; at++) {
    char old = token[at];
    for (int c = 0; c < 256; c++) {
      token[at] = (char)c;
      assert_int_equal(alo_inflight_parse(token, &key), c >= 'a' && c <= 'p');
    }
    token[at] = old;
  }
}

int main(void) {
  _Static_assert(sizeof(alo_inflight_slot) <= 24, "DESIGN: a slot is at most 24 bytes");
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_key_finds_its_operation_only),
      cmocka_unit_test(an_exhausted_slot_retires),
      cmocka_unit_test(any_visits_each),
      cmocka_unit_test(no_memory_is_a_status),
      cmocka_unit_test(tokens_read_back),
      cmocka_unit_test(only_one_text_is_a_key),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
