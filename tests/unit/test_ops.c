/* The life of operations, cancellations and library timers, on an alo_ops of the test's own whose
 * clock stands still until it is moved. Completions are counted here, not in the library. */
// labels: threads
#include <stdarg.h>
#include <setjmp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cancel.h"
#include "heap.h"
#include "ops.h"
#include "timer.h"

#define TICK ALOFT_MILLISECONDS(1)

_Static_assert(sizeof(aloft_op) <= 128, "an operation is two cache lines at most");

typedef struct bench {
  alo_op_kind kind;
  alo_ops ops;
  uint64_t clock_ns;
  int wakes; /* atomic */
  bool inside;
  unsigned depth;
} bench;

static bench *b;

typedef struct probe {
  aloft_op op;
  unsigned dones;
  aloft_status status;
  aloft_status stop_why;
  bool refuses_timeout;
  void (*then)(struct probe *probe);
} probe;

static uint64_t read_clock(void *context) {
  return ((bench *)context)->clock_ns;
}

static void wake(void *context) {
  __atomic_add_fetch(&((bench *)context)->wakes, 1, __ATOMIC_RELAXED);
}

static bool stop(aloft_op *op, aloft_status why);

static bool on_the_wheel(void) {
  return alo_wheel_next(&b->ops.wheel) != UINT64_MAX;
}

static int begin(void **state) {
  static bench place;
  memset(&place, 0, sizeof place);
  b = &place;
  b->clock_ns = ALOFT_SECONDS(1000);
  alo_ops_init(&b->ops, TICK, b->clock_ns);
  b->ops.wake = wake;
  b->ops.clock = read_clock;
  b->ops.context = b;
  b->kind = (alo_op_kind){{alo_op_run}, stop, &b->ops};
  *state = b;
  return 0;
}

static int end(void **state) {
  (void)state;
  assert_false(on_the_wheel());
  assert_false(alo_ops_pending(&b->ops));
  return 0;
}

static void turn(uint64_t later_ns) {
  b->clock_ns += later_ns;
  b->ops.now_ns = b->clock_ns;
  b->ops.fresh = true;
  alo_ops_run_posted(&b->ops);
  alo_ops_run_deadlines(&b->ops);
  alo_ops_run_completions(&b->ops);
  b->ops.fresh = false;
}

static void done(aloft_op *op, aloft_status status) {
  probe *own = ALOFT_CONTAINER(op, probe, op);
  assert_false(b->inside);
  assert_int_equal(b->depth++, 0);
  assert_int_equal(status, op->status);
  assert_false(aloft_op_in_flight(op));
  if (status != ALOFT_OK)
    assert_non_null(op->error);
  own->dones++;
  own->status = status;
  void (*then)(probe *) = own->then;
  if (then)
    then(own); /* may free it */
  b->depth--;
}

static bool stop(aloft_op *op, aloft_status why) {
  probe *own = ALOFT_CONTAINER(op, probe, op);
  own->stop_why = why;
  return !(own->refuses_timeout && why == ALOFT_TIMEOUT);
}

static aloft_status start(probe *own) {
  own->op.done = own->op.done ? own->op.done : done;
  b->inside = true;
  aloft_status status = alo_op_start(&b->kind, &own->op);
  b->inside = false;
  return status;
}

static void finish(probe *own, aloft_status status) {
  b->inside = true;
  alo_op_finish(&own->op, status, NULL);
  b->inside = false;
}

/* ---- exactly once ---- */

static void test_start_and_finish(void **state) {
  (void)state;
  probe one = {.dones = 0};
  assert_int_equal(start(&one), ALOFT_OK);
  assert_true(aloft_op_in_flight(&one.op));
  turn(0);
  assert_int_equal(one.dones, 0);
  finish(&one, ALOFT_OK);
  assert_true(aloft_op_in_flight(&one.op));
  turn(0);
  assert_int_equal(one.dones, 1);
  assert_null(one.op.error);
  turn(ALOFT_SECONDS(100));
  assert_int_equal(one.dones, 1);
}

static void test_refusals(void **state) {
  (void)state;
  probe one = {.dones = 0};
  assert_int_equal(alo_op_start(&b->kind, &one.op), ALOFT_ARGUMENT); /* no done */
  assert_int_equal(one.op.status, ALOFT_ARGUMENT);
  assert_non_null(one.op.error);
  one.op.deadline_ns = b->clock_ns;
  assert_int_equal(start(&one), ALOFT_TIMEOUT);
  one.op.deadline_ns = 0;
  bench other = {.clock_ns = 5};
  alo_ops_init(&other.ops, TICK, 5);
  aloft_cancel foreign, fired;
  alo_cancel_init(&foreign, &other.ops, NULL);
  one.op.cancel = &foreign;
  assert_int_equal(start(&one), ALOFT_ARGUMENT);
  alo_cancel_init(&fired, &b->ops, NULL);
  aloft_cancel_fire(&fired);
  one.op.cancel = &fired;
  assert_int_equal(start(&one), ALOFT_CANCELLED);
  turn(0);
  assert_int_equal(start(&one), ALOFT_CANCELLED);
  assert_int_equal(one.op.error->status, ALOFT_CANCELLED);
  assert_false(aloft_op_in_flight(&one.op));
  assert_int_equal(one.dones, 0);
  aloft_cancel_fini(&fired);
  aloft_cancel_fini(&foreign);
}

static void test_in_use_touches_nothing(void **state) {
  (void)state;
  probe one = {.op = {.status = ALOFT_PENDING}};
  assert_int_equal(start(&one), ALOFT_OK);
  assert_int_equal(start(&one), ALOFT_IN_USE);
  assert_int_equal(one.op.status, ALOFT_PENDING);
  assert_int_equal(alo_op_refuse(&one.op, ALOFT_FULL, NULL), ALOFT_IN_USE);
  assert_int_equal(one.op.status, ALOFT_PENDING);
  finish(&one, ALOFT_SERVER);
  assert_int_equal(start(&one), ALOFT_IN_USE); /* decided, but its done has not run */
  assert_int_equal(alo_op_refuse(&one.op, ALOFT_FULL, NULL), ALOFT_IN_USE);
  turn(0);
  assert_int_equal(one.dones, 1);
  assert_int_equal(one.status, ALOFT_SERVER);
}

/* ---- timeout, deadline, cancellation ---- */

static void test_timeout_and_deadline(void **state) {
  (void)state;
  static const struct {
    uint64_t timeout_ms, deadline_ms, due_ms;
  } cases[] = {{10, 0, 10}, {0, 10, 10}, {10, 20, 10}, {20, 10, 10}, {10, 10, 10}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    probe one = {.op = {.timeout_ns = ALOFT_MILLISECONDS(cases[i].timeout_ms)}};
    if (cases[i].deadline_ms)
      one.op.deadline_ns = b->clock_ns + ALOFT_MILLISECONDS(cases[i].deadline_ms);
    assert_int_equal(start(&one), ALOFT_OK);
    turn(ALOFT_MILLISECONDS(cases[i].due_ms) - 1);
    assert_int_equal(one.dones, 0);
    turn(1);
    assert_int_equal(one.dones, 1);
    assert_int_equal(one.status, ALOFT_TIMEOUT);
  }
  for (int deadline = 0; deadline < 2; deadline++) { /* answered before: it leaves the wheel */
    probe one = {.op = {.timeout_ns = deadline ? 0 : TICK}};
    one.op.deadline_ns = deadline ? b->clock_ns + TICK : 0;
    assert_int_equal(start(&one), ALOFT_OK);
    assert_true(on_the_wheel());
    finish(&one, ALOFT_OK);
    assert_false(on_the_wheel());
    turn(10 * TICK);
    assert_int_equal(one.dones, 1);
    assert_int_equal(one.status, ALOFT_OK);
  }
  probe never = {.op = {.timeout_ns = UINT64_MAX}}; /* the sum does not fit */
  assert_int_equal(start(&never), ALOFT_OK);
  turn(ALOFT_SECONDS(1000000));
  assert_int_equal(never.dones, 0);
  assert_int_equal(aloft_op_cancel(&never.op), ALOFT_OK);
  turn(0);
  assert_int_equal(never.status, ALOFT_CANCELLED);
}

/* Outside of a turn time has passed since the last one: a start reads the clock. */
static void test_start_outside_a_turn_reads_the_clock(void **state) {
  (void)state;
  b->clock_ns += ALOFT_SECONDS(5);
  probe one = {.op = {.timeout_ns = ALOFT_MILLISECONDS(10)}};
  assert_int_equal(start(&one), ALOFT_OK);
  turn(ALOFT_MILLISECONDS(9));
  assert_int_equal(one.dones, 0);
  turn(ALOFT_MILLISECONDS(1));
  assert_int_equal(one.dones, 1);
}

/* The origin's table: what is created, and what it completes with. */
static void test_four_combinations(void **state) {
  (void)state;
  for (unsigned what = 0; what < 4; what++) {
    bool timed = what & 1, given = what & 2;
    for (int fired = 0; fired <= (given ? 1 : 0); fired++) {
      aloft_cancel cancel;
      alo_cancel_init(&cancel, &b->ops, NULL);
      probe one = {.op = {.timeout_ns = timed ? ALOFT_MILLISECONDS(5) : 0,
                          .cancel = given ? &cancel : NULL}};
      assert_int_equal(start(&one), ALOFT_OK);
      assert_int_equal(on_the_wheel(), timed);
      assert_true(!alo_ring_empty(&cancel.own.ops) == given);
      if (fired)
        aloft_cancel_fire(&cancel);
      turn(ALOFT_SECONDS(1)); /* both fall into one turn */
      assert_int_equal(one.dones, fired || timed ? 1 : 0);
      if (one.dones)
        assert_int_equal(one.status, fired ? ALOFT_CANCELLED : ALOFT_TIMEOUT);
      else
        finish(&one, ALOFT_OK);
      turn(0);
      assert_int_equal(one.dones, 1);
      assert_true(alo_ring_empty(&cancel.own.ops));
      aloft_cancel_fini(&cancel);
    }
  }
}

/* The flag is looked at when the timeout is reported: also when it is fired after the posts ran. */
static void test_cancel_wins_over_timeout(void **state) {
  (void)state;
  aloft_cancel parent, cancel;
  alo_cancel_init(&parent, &b->ops, NULL);
  alo_cancel_init(&cancel, &b->ops, &parent);
  for (int which = 0; which < 2; which++) {
    probe one = {.op = {.timeout_ns = ALOFT_MILLISECONDS(5), .cancel = &cancel}};
    if (which) {
      aloft_cancel_fini(&cancel);
      aloft_cancel_fini(&parent);
      alo_cancel_init(&parent, &b->ops, NULL);
      alo_cancel_init(&cancel, &b->ops, &parent);
    }
    assert_int_equal(start(&one), ALOFT_OK);
    b->clock_ns += ALOFT_SECONDS(1);
    b->ops.now_ns = b->clock_ns;
    alo_ops_run_posted(&b->ops);
    aloft_cancel_fire(which ? &parent : &cancel);
    alo_ops_run_deadlines(&b->ops);
    alo_ops_run_completions(&b->ops);
    assert_int_equal(one.dones, 1);
    assert_int_equal(one.status, ALOFT_CANCELLED);
    turn(0);
    assert_int_equal(one.dones, 1);
  }
  aloft_cancel_fini(&cancel);
  aloft_cancel_fini(&parent);
}

static void test_cancel_of_what_is_decided(void **state) {
  (void)state;
  probe one = {.dones = 0};
  assert_int_equal(aloft_op_cancel(&one.op), ALOFT_WRONG_STATE); /* never started */
  assert_int_equal(start(&one), ALOFT_OK);
  finish(&one, ALOFT_OK);
  assert_int_equal(aloft_op_cancel(&one.op), ALOFT_WRONG_STATE);
  turn(0);
  assert_int_equal(one.status, ALOFT_OK);
  assert_int_equal(aloft_op_cancel(&one.op), ALOFT_WRONG_STATE);
  turn(0);
  assert_int_equal(one.dones, 1);
  assert_int_equal(start(&one), ALOFT_OK);
  assert_int_equal(aloft_op_cancel(&one.op), ALOFT_OK);
  assert_int_equal(aloft_op_cancel(&one.op), ALOFT_WRONG_STATE);
  turn(0);
  assert_int_equal(one.dones, 2);
  assert_int_equal(one.status, ALOFT_CANCELLED);
}

/* An owner whose answer has arrived keeps the operation through its deadline. */
static void test_owner_refuses_the_timeout(void **state) {
  (void)state;
  probe one = {.op = {.timeout_ns = TICK}, .refuses_timeout = true};
  assert_int_equal(start(&one), ALOFT_OK);
  turn(ALOFT_SECONDS(1));
  assert_int_equal(one.stop_why, ALOFT_TIMEOUT);
  assert_int_equal(one.dones, 0);
  finish(&one, ALOFT_OK);
  turn(ALOFT_SECONDS(1));
  assert_int_equal(one.status, ALOFT_OK);
  assert_int_equal(one.dones, 1);
}

/* ---- inside done ---- */

static void start_again(probe *own) {
  if (own->dones < 3) {
    assert_int_equal(alo_op_start(&b->kind, &own->op), ALOFT_OK);
    alo_op_finish(&own->op, ALOFT_OK, NULL);
    assert_int_equal(aloft_op_cancel(&own->op), ALOFT_WRONG_STATE);
  }
}

/* A phase runs only what was queued when it began. */
static void test_restart_inside_done(void **state) {
  (void)state;
  probe one = {.then = start_again};
  assert_int_equal(start(&one), ALOFT_OK);
  finish(&one, ALOFT_OK);
  for (unsigned i = 1; i <= 3; i++) {
    turn(0);
    assert_int_equal(one.dones, i);
  }
  turn(0);
  assert_int_equal(one.dones, 3);
}

static unsigned freed;
static void free_it(probe *own) {
  freed++;
  free(own);
}

static void test_free_inside_done(void **state) {
  (void)state;
  aloft_cancel cancel;
  alo_cancel_init(&cancel, &b->ops, NULL);
  freed = 0;
  for (int i = 0; i < 5; i++) {
    probe *own = calloc(1, sizeof *own);
    assert_non_null(own);
    own->then = free_it;
    own->op.cancel = &cancel;
    own->op.timeout_ns = TICK;
    assert_int_equal(start(own), ALOFT_OK);
    if (i % 2)
      finish(own, ALOFT_OK);
  }
  aloft_cancel_fire(&cancel);
  turn(ALOFT_SECONDS(1));
  turn(0);
  assert_int_equal(freed, 5);
  aloft_cancel_fini(&cancel);
}

static probe *victim;
static void cancel_victim(probe *own) {
  (void)own;
  assert_int_equal(aloft_op_cancel(&victim->op), ALOFT_OK);
  assert_int_equal(victim->dones, 0); /* never nested */
}

static void test_cancel_inside_done_is_not_nested(void **state) {
  (void)state;
  probe first = {.then = cancel_victim}, second = {.dones = 0};
  victim = &second;
  assert_int_equal(start(&first), ALOFT_OK);
  assert_int_equal(start(&second), ALOFT_OK);
  finish(&first, ALOFT_OK);
  turn(0);
  assert_int_equal(second.dones, 0);
  turn(0);
  assert_int_equal(second.dones, 1);
}

/* ---- linked cancellations ---- */

static void test_parent_reaches_children(void **state) {
  (void)state;
  aloft_cancel parent, child;
  alo_cancel_init(&parent, &b->ops, NULL);
  alo_cancel_init(&child, &b->ops, &parent);
  probe a = {.op = {.cancel = &parent}}, c = {.op = {.cancel = &child}}, later = c;
  assert_int_equal(start(&a), ALOFT_OK);
  assert_int_equal(start(&c), ALOFT_OK);
  aloft_cancel_fire(&child);
  turn(0);
  assert_int_equal(c.dones, 1);
  assert_int_equal(a.dones, 0);
  assert_false(aloft_cancel_fired(&parent));
  aloft_cancel_fini(&child);
  alo_cancel_init(&child, &b->ops, &parent);
  assert_int_equal(start(&c), ALOFT_OK);
  aloft_cancel_fire(&parent);
  aloft_cancel_fire(&parent);
  assert_true(aloft_cancel_fired(&child)); /* at once */
  assert_int_equal(start(&later), ALOFT_CANCELLED);
  turn(0);
  assert_int_equal(a.dones + c.dones, 3);
  aloft_cancel fresh; /* of a parent that has fired */
  alo_cancel_init(&fresh, &b->ops, &parent);
  assert_true(aloft_cancel_fired(&fresh));
  aloft_cancel grandchild;
  alo_cancel_init(&grandchild, &b->ops, &fresh);
  aloft_cancel_fini(&parent); /* before the children */
  assert_true(aloft_cancel_fired(&child));
  assert_true(aloft_cancel_fired(&fresh));
  assert_int_equal(start(&(probe){.op = {.cancel = &fresh}}), ALOFT_CANCELLED);
  aloft_cancel_fini(&fresh);
  assert_true(aloft_cancel_fired(&grandchild));
  aloft_cancel_fini(&grandchild);
  aloft_cancel_fini(&child);
}

static void test_child_outlives_its_parent(void **state) {
  (void)state;
  aloft_cancel parent, child;
  alo_cancel_init(&parent, &b->ops, NULL);
  alo_cancel_init(&child, &b->ops, &parent);
  aloft_cancel_fini(&parent);
  memset(&parent, 0x5A, sizeof parent);
  assert_false(aloft_cancel_fired(&child));
  probe one = {.op = {.cancel = &child}};
  assert_int_equal(start(&one), ALOFT_OK);
  aloft_cancel_fire(&child);
  turn(0);
  assert_int_equal(one.status, ALOFT_CANCELLED);
  aloft_cancel_fini(&child);
}

/* Ended between firing and handling: of each of three generations, each being ended first. */
static void test_fini_while_fired_but_not_handled(void **state) {
  (void)state;
  for (int fired = 0; fired < 3; fired++)
    for (int ended = 0; ended < 3; ended++) {
      aloft_cancel chain[3];
      probe ops[3];
      memset(ops, 0, sizeof ops);
      for (int i = 0; i < 3; i++) {
        alo_cancel_init(&chain[i], &b->ops, i ? &chain[i - 1] : NULL);
        ops[i].op.cancel = &chain[i];
        if (i != ended)
          assert_int_equal(start(&ops[i]), ALOFT_OK);
      }
      aloft_cancel_fire(&chain[fired]);
      aloft_cancel_fini(&chain[ended]);
      memset(&chain[ended], 0x5A, sizeof chain[ended]);
      turn(0);
      for (int i = 0; i < 3; i++) {
        if (i == ended)
          continue;
        assert_true(aloft_cancel_fired(&chain[i]) == (i >= fired));
        assert_int_equal(ops[i].dones, i >= fired ? 1 : 0);
        if (i < fired)
          finish(&ops[i], ALOFT_OK);
      }
      turn(0);
      for (int i = 0; i < 3; i++)
        if (i != ended)
          aloft_cancel_fini(&chain[i]);
    }
}

/* A child that another thread fires while its parent is being handled: its own post is still to
 * come when it has been reached from above. */
static void test_child_fired_while_its_parent_is_handled(void **state) {
  (void)state;
  aloft_cancel parent, child;
  alo_cancel_init(&parent, &b->ops, NULL);
  alo_cancel_init(&child, &b->ops, &parent);
  __atomic_store_n(&child.own.fired, 1, __ATOMIC_RELEASE); /* the thread's first step */
  aloft_cancel_fire(&parent);
  turn(0);
  alo_ops_post(&b->ops, &child.own.posted); /* its second */
  aloft_cancel_fini(&child);
  memset(&child, 0x5A, sizeof child);
  turn(0);
  aloft_cancel_fini(&parent);
}

static void test_deep_and_wide_trees(void **state) {
  (void)state;
  enum { DEEP = 3000 };
  static aloft_cancel tree[DEEP];
  static probe ops[DEEP];
  memset(ops, 0, sizeof ops);
  for (int i = 0; i < DEEP; i++) {
    /* a spine, with a leaf at every third */
    alo_cancel_init(&tree[i], &b->ops, i == 0 ? NULL : &tree[i % 3 == 2 ? i - 2 : i - 1]);
    ops[i].op.cancel = &tree[i];
    assert_int_equal(start(&ops[i]), ALOFT_OK);
  }
  aloft_cancel_fire(&tree[DEEP / 2 / 3 * 3]);
  turn(0);
  unsigned cancelled = 0;
  for (int i = 0; i < DEEP; i++) {
    assert_true(ops[i].dones <= 1);
    cancelled += ops[i].dones;
  }
  assert_in_range(cancelled, 1, DEEP - 1);
  aloft_cancel_fire(&tree[0]);
  turn(0);
  for (int i = 0; i < DEEP; i++)
    assert_int_equal(ops[i].dones, 1);
  for (int i = 0; i < DEEP; i++)
    aloft_cancel_fini(&tree[(i * 7) % DEEP]);
}

/* ---- threads ---- */

enum { ROUNDS = 2000, SOURCES = 4 };

typedef struct firing {
  aloft_cancel sources[SOURCES]; /* 0 is the others' parent */
  int round;                     /* atomic */
} firing;

static void *fire_each_round(void *context) {
  firing *own = context;
  for (int seen = 0; seen < ROUNDS;) {
    int round = __atomic_load_n(&own->round, __ATOMIC_ACQUIRE);
    if (round <= seen)
      continue;
    seen = round;
    aloft_cancel_fire(&own->sources[round % 3 ? round % SOURCES : 0]);
    (void)aloft_cancel_fired(&own->sources[1]);
    __atomic_store_n(&own->round, -round, __ATOMIC_RELEASE);
  }
  return NULL;
}

/* Operations fly, time out and are answered while a thread fires: each completes once. */
static void test_firing_from_another_thread(void **state) {
  (void)state;
  static firing own;
  static probe ops[SOURCES];
  memset(&own, 0, sizeof own);
  memset(ops, 0, sizeof ops);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, fire_each_round, &own), 0);
  unsigned starts = 0, dones = 0;
  for (int round = 1; round <= ROUNDS; round++) {
    for (int i = 0; i < SOURCES; i++) {
      alo_cancel_init(&own.sources[i], &b->ops, i ? &own.sources[0] : NULL);
      ops[i] = (probe){.op = {.cancel = &own.sources[i], .timeout_ns = i == 2 ? TICK : 0}};
      assert_int_equal(start(&ops[i]), ALOFT_OK);
      starts++;
    }
    __atomic_store_n(&own.round, round, __ATOMIC_RELEASE);
    while (__atomic_load_n(&own.round, __ATOMIC_ACQUIRE) == round)
      turn(TICK / 4);
    if (aloft_op_in_flight(&ops[1].op) && aloft_op_cancel(&ops[1].op) == ALOFT_OK)
      turn(0);
    for (int i = SOURCES - 1; i >= 0; i--) { /* fired, and perhaps not handled */
      if (alo_op_flying(&ops[i].op) && !aloft_cancel_fired(&own.sources[i]))
        finish(&ops[i], ALOFT_OK);
    }
    turn(0);
    for (int i = 0; i < SOURCES; i++) {
      aloft_cancel_fini(&own.sources[i]);
      dones += ops[i].dones;
      assert_int_equal(ops[i].dones, 1);
    }
  }
  pthread_join(thread, NULL);
  turn(0);
  assert_int_equal(starts, dones);
  assert_true(__atomic_load_n(&b->wakes, __ATOMIC_RELAXED) >= ROUNDS / 2);
}

/* ---- pay for what you use ---- */

static void test_unused_parts_are_not_touched(void **state) {
  (void)state;
  static alo_wheel before;
  memset(&b->ops.wheel, 0xA5, sizeof b->ops.wheel);
  b->ops.clock = NULL; /* nor is the clock read */
  memcpy(&before, &b->ops.wheel, sizeof before);
  probe one = {.op = {.own = {.timing = {.next = (void *)1}, .cancelling = {.next = (void *)1}}}};
  assert_int_equal(start(&one), ALOFT_OK);
  finish(&one, ALOFT_OK);
  alo_ops_run_completions(&b->ops);
  assert_int_equal(one.dones, 1);
  assert_memory_equal(&before, &b->ops.wheel, sizeof before);
  assert_true(one.op.own.timing.next == (void *)1 && one.op.own.cancelling.next == (void *)1);
  assert_int_equal(b->wakes, 0);
  alo_wheel_init(&b->ops.wheel, TICK, b->clock_ns);
}

/* ---- library timers ---- */

static unsigned fell_due;
static void due(alo_timer *timer) {
  if (++fell_due < 3)
    alo_timer_set(&b->ops, timer, TICK, due);
}

static void test_timer(void **state) {
  (void)state;
  alo_timer timer;
  memset(&timer, 0, sizeof timer);
  fell_due = 0;
  alo_timer_clear(&timer);
  alo_timer_set(&b->ops, &timer, 10 * TICK, due);
  alo_timer_set(&b->ops, &timer, 20 * TICK, due); /* anew */
  turn(15 * TICK);
  assert_int_equal(fell_due, 0);
  turn(5 * TICK);
  assert_int_equal(fell_due, 1);
  turn(TICK);
  turn(TICK);
  turn(10 * TICK);
  assert_int_equal(fell_due, 3);
  alo_timer_set(&b->ops, &timer, TICK, due);
  alo_timer_set(&b->ops, &timer, 0, due);
  turn(10 * TICK);
  assert_int_equal(fell_due, 3);
}

/* ---- close ---- */

static void test_close_ends_what_waits(void **state) {
  (void)state;
  probe timed = {.op = {.timeout_ns = ALOFT_SECONDS(1)}}, answered = {.dones = 0};
  assert_int_equal(start(&timed), ALOFT_OK);
  assert_int_equal(start(&answered), ALOFT_OK);
  finish(&answered, ALOFT_OK);
  alo_ops_close(&b->ops);
  assert_int_equal(timed.status, ALOFT_CLOSED);
  assert_int_equal(answered.status, ALOFT_OK);
  assert_int_equal(timed.dones + answered.dones, 2);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_start_and_finish),
      TEST(test_refusals),
      TEST(test_in_use_touches_nothing),
      TEST(test_timeout_and_deadline),
      TEST(test_start_outside_a_turn_reads_the_clock),
      TEST(test_four_combinations),
      TEST(test_cancel_wins_over_timeout),
      TEST(test_cancel_of_what_is_decided),
      TEST(test_owner_refuses_the_timeout),
      TEST(test_restart_inside_done),
      TEST(test_free_inside_done),
      TEST(test_cancel_inside_done_is_not_nested),
      TEST(test_parent_reaches_children),
      TEST(test_child_outlives_its_parent),
      TEST(test_fini_while_fired_but_not_handled),
      TEST(test_child_fired_while_its_parent_is_handled),
      TEST(test_deep_and_wide_trees),
      TEST(test_firing_from_another_thread),
      TEST(test_unused_parts_are_not_touched),
      TEST(test_timer),
      TEST(test_close_ends_what_waits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
