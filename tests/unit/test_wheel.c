/* The timing wheel against a plain list: never early, at most one tick late, in order of ticks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "wheel.h"

enum { TICK = 1000 };

typedef struct model {
  aloft_op ops[64];
  bool in[64];
  alo_wheel wheel;
  uint64_t now, state;
} model;

static uint64_t next_random(model *self) {
  uint64_t x = self->state;
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return self->state = x;
}

static uint64_t tick_up(uint64_t ns) {
  return ns / TICK + (ns % TICK != 0);
}

static void add_random(model *self) {
  size_t i = next_random(self) % 64;
  if (self->in[i])
    return;
  /* From the same tick to beyond the highest levels. */
  uint64_t reach = next_random(self) % 62;
  uint64_t ahead = next_random(self) & ((UINT64_C(1) << reach) - 1);
  self->ops[i].own.due_ns = self->now > UINT64_MAX - ahead ? UINT64_MAX - 1 : self->now + ahead;
  alo_wheel_add(&self->wheel, &self->ops[i]);
  self->in[i] = true;
}

static void remove_random(model *self) {
  size_t i = next_random(self) % 64;
  if (!self->in[i])
    return;
  alo_wheel_remove(&self->ops[i]);
  self->in[i] = false;
}

static uint64_t earliest(const model *self) {
  uint64_t first = UINT64_MAX;
  for (size_t i = 0; i < 64; i++)
    if (self->in[i] && tick_up(self->ops[i].own.due_ns) < first)
      first = tick_up(self->ops[i].own.due_ns);
  return first;
}

static void advance(model *self) {
  uint64_t most = next_random(self) % 45;
  self->now += next_random(self) & ((UINT64_C(1) << most) - 1);
  uint64_t before = 0;
  aloft_op *op;
  while ((op = alo_wheel_expire(&self->wheel, self->now))) {
    size_t i = (size_t)(op - self->ops);
    assert_true(self->in[i]);
    assert_true(op->own.due_ns <= self->now);
    assert_true(tick_up(op->own.due_ns) >= before || before == 0);
    before = tick_up(op->own.due_ns);
    self->in[i] = false;
  }
  for (size_t i = 0; i < 64; i++)
    assert_false(self->in[i] && tick_up(self->ops[i].own.due_ns) <= self->now / TICK);
}

static void check_next(model *self) {
  uint64_t first = earliest(self), next = alo_wheel_next(&self->wheel);
  if (first == UINT64_MAX)
    assert_true(next == UINT64_MAX);
  else
    assert_true(next / TICK <= first);
}

static void agrees_with_a_list(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    model self;
    memset(&self, 0, sizeof self);
    self.state = seed * UINT64_C(0x9E3779B97F4A7C15);
    self.now = next_random(&self) >> (next_random(&self) % 60 + 2);
    alo_wheel_init(&self.wheel, TICK, self.now);
    for (int step = 0; step < 4000; step++) {
      switch (next_random(&self) % 4) {
      case 0:
      case 1:
        add_random(&self);
        break;
      case 2:
        remove_random(&self);
        break;
      default:
        advance(&self);
        break;
      }
      check_next(&self);
    }
    size_t count = 0;
    for (size_t i = 0; i < 64; i++)
      count += self.in[i];
    while (alo_wheel_expire(&self.wheel, UINT64_MAX))
      count--;
    assert_int_equal(count, 0);
  }
}

static void survives_a_jump_of_days(void **state) {
  (void)state;
  alo_wheel wheel;
  aloft_op near = {.own = {.due_ns = ALOFT_SECONDS(2)}};
  aloft_op far = {.own = {.due_ns = ALOFT_SECONDS(86400 * 9)}};
  alo_wheel_init(&wheel, ALOFT_MILLISECONDS(1), 0);
  alo_wheel_add(&wheel, &far);
  alo_wheel_add(&wheel, &near);
  uint64_t later = ALOFT_SECONDS(86400 * 8);
  assert_ptr_equal(alo_wheel_expire(&wheel, later), &near);
  assert_null(alo_wheel_expire(&wheel, later));
  assert_null(alo_wheel_expire(&wheel, ALOFT_SECONDS(86400 * 9) - 1));
  assert_ptr_equal(alo_wheel_expire(&wheel, ALOFT_SECONDS(86400 * 9)), &far);
  assert_true(alo_wheel_next(&wheel) == UINT64_MAX);
}

static void one_tick_is_shared(void **state) {
  (void)state;
  alo_wheel wheel;
  aloft_op ops[100];
  memset(ops, 0, sizeof ops);
  alo_wheel_init(&wheel, ALOFT_MILLISECONDS(100), 0);
  for (size_t i = 0; i < 100; i++) {
    ops[i].own.due_ns = ALOFT_SECONDS(5) - ALOFT_MILLISECONDS(99) + i;
    alo_wheel_add(&wheel, &ops[i]);
  }
  assert_null(alo_wheel_expire(&wheel, ALOFT_SECONDS(5) - 1));
  for (size_t i = 0; i < 100; i++)
    assert_non_null(alo_wheel_expire(&wheel, ALOFT_SECONDS(5)));
  assert_null(alo_wheel_expire(&wheel, ALOFT_SECONDS(5)));
}

static void the_longest_time_is_never_due(void **state) {
  (void)state;
  alo_wheel wheel;
  aloft_op op = {.own = {.due_ns = UINT64_MAX - 1}};
  alo_wheel_init(&wheel, 1000, 12345);
  alo_wheel_add(&wheel, &op);
  assert_null(alo_wheel_expire(&wheel, UINT64_MAX / 2));
  assert_true(alo_wheel_next(&wheel) > UINT64_MAX / 2);
  alo_wheel_remove(&op);
  assert_true(alo_wheel_next(&wheel) == UINT64_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_with_a_list),
      cmocka_unit_test(survives_a_jump_of_days),
      cmocka_unit_test(one_tick_is_shared),
      cmocka_unit_test(the_longest_time_is_never_due),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
