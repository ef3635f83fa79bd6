/* What <aloft/inflight.h> promises, through the public calls, on both drivers: the table of timeout
 * and cancellation, exactly once, ids that never come back, and the limits. Completions are counted
 * here, not in the library. */
// labels: threads
#include <stdarg.h>
#include <setjmp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <aloft/inflight.h>

#include "harness_loop.h"

#define TICK ALOFT_MILLISECONDS(1)

typedef struct fixture {
  bool sim;
  harness_loop at;
  aloft_loop *loop;
  aloft_inflight *table;
  bool inside; /* a call of ours */
  unsigned depth;
} fixture;

static fixture *f;

/* The caller's struct: the operation, and the id that its completion names. */
typedef struct asked {
  aloft_op op;
  uint64_t id;
  unsigned dones;
  aloft_status status;
  bool written;
  int32_t number; /* of the error */
  void (*then)(struct asked *own);
} asked;

static void begin(void **state) {
  static fixture place;
  memset(&place, 0, sizeof place);
  f = &place;
  f->sim = *(bool *)*state;
  harness_loop_open(&f->at, f->sim, 1, NULL);
  f->loop = f->at.loop;
  assert_int_equal(aloft_inflight_open(&f->table, f->loop, NULL), ALOFT_OK);
}

static void end(void) {
  aloft_inflight_close(f->table);
  harness_loop_close(&f->at);
}

static aloft_inflight_info info(void) {
  aloft_inflight_info now = {.size = sizeof now};
  aloft_inflight_get_info(f->table, &now);
  return now;
}

static void turn(uint64_t wait_ns) {
  assert_int_equal(aloft_loop_turn(f->loop, wait_ns), ALOFT_OK);
}

static uint64_t clock_now(void) {
  return f->loop->driver->methods->now(f->loop->driver);
}

/* What is not used is not touched: the two places where an operation may be registered. */
static bool wheel_is_empty(void) {
  return alo_wheel_next(&f->loop->ops.wheel) == UINT64_MAX;
}

static bool is_registered_on(const aloft_cancel *cancel) {
  return cancel->own.ops.next != &cancel->own.ops;
}

/* The loop looks at nothing meanwhile. */
static void hold_up(uint64_t ns) {
  uint64_t until = clock_now() + ns;
  if (f->sim)
    alo_sim_pass(f->at.sim, ns);
  while (clock_now() < until)
    continue;
}

static void done(aloft_op *op, aloft_status status) {
  asked *own = ALOFT_CONTAINER(op, asked, op);
  assert_false(f->inside);
  assert_int_equal(f->depth++, 0);
  assert_false(aloft_op_in_flight(op));
  assert_int_equal(status, op->status);
  assert_true((op->error == NULL) == (status == ALOFT_OK));
  own->dones++;
  own->status = status;
  own->written = op->written;
  own->number = op->error ? op->error->number : 0;
  if (own->then)
    own->then(own);
  f->depth--;
}

static aloft_status start(asked *own) {
  if (!own->op.done)
    own->op.done = done;
  bool was = f->inside;
  f->inside = true;
  aloft_status status = aloft_inflight_start(f->table, &own->op, &own->id);
  f->inside = was;
  return status;
}

static aloft_status finish(uint64_t id, aloft_status status) {
  bool was = f->inside;
  f->inside = true;
  aloft_status answer = aloft_inflight_finish(f->table, id, status, NULL);
  f->inside = was;
  return answer;
}

static void check_done(const asked *own, aloft_status status) {
  assert_int_equal(own->dones, 1);
  assert_int_equal(own->status, status);
}

/* ---- the six cases of the origin ---- */

static void test_timeout_alone(void **state) {
  begin(state);
  asked one = {.op = {.timeout_ns = ALOFT_MILLISECONDS(5)}};
  assert_int_equal(start(&one), ALOFT_OK);
  assert_int_equal(info().count, 1);
  turn(0);
  assert_int_equal(aloft_wait(f->loop, &one.op), ALOFT_TIMEOUT);
  check_done(&one, ALOFT_TIMEOUT);
  assert_int_equal(info().count, 0);
  assert_null(aloft_inflight_find(f->table, one.id));
  end();
  check_done(&one, ALOFT_TIMEOUT);
}

static void test_timeout_with_an_unfired_token(void **state) {
  begin(state);
  aloft_cancel token;
  aloft_cancel_init(&token, f->loop, NULL);
  asked one = {.op = {.timeout_ns = ALOFT_MILLISECONDS(5), .cancel = &token}};
  assert_int_equal(start(&one), ALOFT_OK);
  assert_int_equal(aloft_wait(f->loop, &one.op), ALOFT_TIMEOUT);
  aloft_cancel_fire(&token); /* it is no longer registered */
  turn(0);
  check_done(&one, ALOFT_TIMEOUT);
  aloft_cancel_fini(&token);
  end();
}

static void test_token_fired_without_timeout(void **state) {
  begin(state);
  aloft_cancel token;
  aloft_cancel_init(&token, f->loop, NULL);
  asked one = {.op = {.cancel = &token}};
  assert_int_equal(start(&one), ALOFT_OK);
  turn(0);
  assert_int_equal(one.dones, 0);
  aloft_cancel_fire(&token);
  assert_int_equal(one.dones, 0); /* never inside a call of ours */
  turn(0);
  check_done(&one, ALOFT_CANCELLED);
  assert_int_equal(info().count, 0);
  aloft_cancel_fini(&token);
  end();
}

static void test_token_fired_with_a_very_long_timeout(void **state) {
  begin(state);
  static const uint64_t timeouts[] = {ALOFT_MILLISECONDS(999999), UINT64_MAX};
  for (size_t i = 0; i < 2; i++) {
    aloft_cancel token;
    aloft_cancel_init(&token, f->loop, NULL);
    asked one = {.op = {.timeout_ns = timeouts[i], .cancel = &token}};
    assert_int_equal(start(&one), ALOFT_OK);
    aloft_cancel_fire(&token);
    turn(ALOFT_FOREVER);
    check_done(&one, ALOFT_CANCELLED);
    assert_true(wheel_is_empty());
    aloft_cancel_fini(&token);
  }
  end();
}

static void test_completion_calls_the_action_once_for_its_id(void **state) {
  begin(state);
  enum { MANY = 500 };
  static asked many[MANY];
  memset(many, 0, sizeof many);
  for (unsigned i = 0; i < MANY; i++) {
    assert_int_equal(start(&many[i]), ALOFT_OK);
    assert_ptr_equal(aloft_inflight_find(f->table, many[i].id), &many[i].op);
  }
  assert_int_equal(info().count, MANY);
  for (unsigned i = 0; i < MANY; i++) { /* 7 has no factor in common with 500 */
    assert_int_equal(finish(many[i * 7 % MANY].id, ALOFT_OK), ALOFT_OK);
    for (unsigned k = 0; k < MANY; k += 50)
      assert_int_equal(many[k].dones, 0);
  }
  turn(0);
  for (unsigned i = 0; i < MANY; i++)
    check_done(&many[i], ALOFT_OK);
  assert_int_equal(info().unmatched, 0);
  end();
  for (unsigned i = 0; i < MANY; i++)
    check_done(&many[i], ALOFT_OK);
}

static void test_null_action_is_refused(void **state) {
  begin(state);
  aloft_op op = {.timeout_ns = 1};
  uint64_t id = 42;
  assert_int_equal(aloft_inflight_start(f->table, &op, &id), ALOFT_ARGUMENT);
  assert_int_equal(op.status, ALOFT_ARGUMENT);
  assert_non_null(op.error);
  assert_false(aloft_op_in_flight(&op));
  assert_int_equal(id, 42);
  assert_int_equal(info().count, 0);
  turn(TICK);
  end();
}

/* ---- timeout and cancellation ---- */

/* What is created, and what it completes with when no answer comes: both fall into one turn. */
static void run_combination(bool timed, bool given, bool fired) {
  aloft_cancel token;
  aloft_cancel_init(&token, f->loop, NULL);
  asked one = {
      .op = {.timeout_ns = timed ? ALOFT_MILLISECONDS(3) : 0, .cancel = given ? &token : NULL}};
  assert_int_equal(start(&one), ALOFT_OK);
  assert_true(wheel_is_empty() != timed);
  assert_true(is_registered_on(&token) == given);
  if (fired)
    aloft_cancel_fire(&token);
  hold_up(ALOFT_MILLISECONDS(6));
  turn(0);
  assert_int_equal(one.dones, (fired && given) || timed);
  if (one.dones == 0)
    assert_int_equal(finish(one.id, ALOFT_OK), ALOFT_OK);
  turn(0);
  check_done(&one, fired && given ? ALOFT_CANCELLED : timed ? ALOFT_TIMEOUT : ALOFT_OK);
  assert_true(wheel_is_empty());
  assert_false(is_registered_on(&token));
  aloft_cancel_fini(&token);
}

static void test_four_combinations(void **state) {
  begin(state);
  for (unsigned what = 0; what < 8; what++)
    run_combination(what & 1, what & 2, what & 4);
  end();
}

static void test_cancelled_wins_whatever_came_first(void **state) {
  begin(state);
  for (unsigned what = 0; what < 4; what++) {
    aloft_cancel parent, token;
    aloft_cancel_init(&parent, f->loop, NULL);
    aloft_cancel_init(&token, f->loop, &parent);
    asked one = {.op = {.timeout_ns = 1, .cancel = &token}};
    assert_int_equal(start(&one), ALOFT_OK);
    if (what & 1) /* the time is over before it fires */
      hold_up(ALOFT_MILLISECONDS(3));
    aloft_cancel_fire(what & 2 ? &parent : &token);
    if (!(what & 1))
      hold_up(ALOFT_MILLISECONDS(3));
    turn(0);
    check_done(&one, ALOFT_CANCELLED);
    aloft_cancel_fini(&token);
    aloft_cancel_fini(&parent);
  }
  end();
}

static asked refused;

/* Nothing changed: the next start gets the id that it would have got. */
static void check_refused(aloft_status expected) {
  aloft_inflight *table = f->table, *other;
  assert_int_equal(aloft_inflight_open(&other, f->loop, NULL), ALOFT_OK);
  refused.id = 42;
  uint64_t unmatched = info().unmatched;
  assert_int_equal(start(&refused), expected);
  assert_int_equal(refused.op.status, expected);
  assert_int_equal(refused.op.error->status, expected);
  assert_int_equal(refused.id, 42);
  assert_false(aloft_op_in_flight(&refused.op));
  assert_int_equal(info().count, 0);
  assert_true(wheel_is_empty());
  for (int i = 0; i < 3; i++)
    turn(TICK);
  asked next = {.dones = 0}, model = next;
  assert_int_equal(start(&next), ALOFT_OK);
  f->table = other;
  assert_int_equal(start(&model), ALOFT_OK);
  f->table = table;
  assert_true(next.id == model.id);
  aloft_inflight_close(other);
  assert_int_equal(aloft_op_cancel(&next.op), ALOFT_OK);
  turn(0);
  check_done(&next, ALOFT_CANCELLED);
  check_done(&model, ALOFT_CLOSED);
  assert_int_equal(refused.dones, 0);
  assert_true(info().unmatched == unmatched);
}

static void test_already_cancelled_at_start(void **state) {
  for (int by_parent = 0; by_parent < 2; by_parent++) {
    begin(state);
    aloft_cancel parent, token;
    aloft_cancel_init(&parent, f->loop, NULL);
    aloft_cancel_init(&token, f->loop, &parent);
    aloft_cancel_fire(by_parent ? &parent : &token);
    refused = (asked){.op = {.cancel = &token, .timeout_ns = ALOFT_SECONDS(1)}};
    check_refused(ALOFT_CANCELLED);
    assert_false(is_registered_on(&token));
    aloft_cancel_fini(&token);
    aloft_cancel_fini(&parent);
    end();
  }
}

static void test_deadline_already_past(void **state) {
  for (int i = 0; i < 3; i++) {
    begin(state);
    uint64_t now = clock_now();
    refused = (asked){.op = {.deadline_ns = i == 0 ? 1 : now - (i == 1 ? 1 : 0)}};
    refused.op.timeout_ns = i == 2 ? ALOFT_SECONDS(9) : 0; /* the earlier counts */
    check_refused(ALOFT_TIMEOUT);
    end();
  }
}

static void test_another_loops_token_is_refused(void **state) {
  begin(state);
  harness_loop other;
  harness_loop_open(&other, true, 1, NULL);
  aloft_cancel foreign;
  aloft_cancel_init(&foreign, other.loop, NULL);
  refused = (asked){.op = {.cancel = &foreign}};
  check_refused(ALOFT_ARGUMENT);
  aloft_cancel_fini(&foreign);
  harness_loop_close(&other);
  end();
}

static void test_in_use_touches_nothing(void **state) {
  begin(state);
  aloft_inflight *other;
  assert_int_equal(aloft_inflight_open(&other, f->loop, NULL), ALOFT_OK);
  asked one = {.op = {.timeout_ns = ALOFT_SECONDS(5)}};
  assert_int_equal(start(&one), ALOFT_OK);
  uint64_t id = one.id;
  const aloft_op before = one.op;
  assert_int_equal(start(&one), ALOFT_IN_USE);
  assert_int_equal(aloft_inflight_start(other, &one.op, &one.id), ALOFT_IN_USE);
  assert_true(one.id == id);
  assert_int_equal(one.op.status, before.status);
  assert_ptr_equal(one.op.error, before.error);
  assert_int_equal(info().count, 1);
  assert_int_equal(finish(id, ALOFT_SERVER), ALOFT_OK);
  assert_int_equal(start(&one), ALOFT_IN_USE); /* decided; its done has not run */
  turn(0);
  check_done(&one, ALOFT_SERVER);
  aloft_inflight_close(other);
  end();
}

/* ---- time of any length ---- */

/* One loop for each case: on sim the clock is moved to its end. */
static void run_length(uint64_t timeout_ns, bool as_deadline) {
  bool sim = true;
  void *state = &sim;
  begin(&state);
  uint64_t now = clock_now();
  bool fits = timeout_ns <= UINT64_MAX - 1 - now;
  uint64_t due = fits ? now + timeout_ns : UINT64_MAX - 1;
  asked one = {
      .op = {.timeout_ns = as_deadline ? 0 : timeout_ns, .deadline_ns = as_deadline ? due : 0}};
  assert_int_equal(start(&one), ALOFT_OK);
  turn(0);
  assert_int_equal(one.dones, 0);
  if (due - 1 > now)
    alo_sim_pass(f->at.sim, due - 1 - now);
  turn(0);
  assert_int_equal(one.dones, 0); /* not a nanosecond early */
  bool reached = fits && due < UINT64_MAX - TICK;
  if (reached) {
    alo_sim_pass(f->at.sim, TICK);
    turn(0);
    check_done(&one, ALOFT_TIMEOUT);
  }
  end();
  check_done(&one, reached ? ALOFT_TIMEOUT : ALOFT_CLOSED);
}

static void test_time_of_any_length(void **state) {
  (void)state;
  for (unsigned bit = 0; bit < 64; bit++)
    for (int by = -1; by <= 1; by++)
      for (int as_deadline = 0; as_deadline < 2; as_deadline++) {
        uint64_t length = (UINT64_C(1) << bit) + (uint64_t)(int64_t)by;
        if (length)
          run_length(length, as_deadline);
      }
  const uint64_t start_ns = UINT64_C(1000000000); /* where sim begins */
  const uint64_t ends[] = {TICK,
                           TICK - 1,
                           TICK + 1,
                           UINT64_MAX,
                           UINT64_MAX - 1,
                           UINT64_MAX - start_ns + 1,
                           UINT64_MAX - start_ns,
                           UINT64_MAX - start_ns - 1,
                           UINT64_MAX - start_ns - 2,
                           UINT64_MAX - start_ns - TICK,
                           UINT64_MAX - start_ns - 3 * TICK};
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
    for (int as_deadline = 0; as_deadline < 2; as_deadline++)
      run_length(ends[i], as_deadline);
}

/* A wait for what lies beyond the clock neither ends early nor keeps what is near from its time. */
static void test_far_and_near(void **state) {
  begin(state);
  static const uint64_t far_off[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63,
                                     UINT64_MAX / 2 / 1000000 * 1000000};
  asked far_ones[8], near_one = {.op = {.timeout_ns = TICK}};
  memset(far_ones, 0, sizeof far_ones);
  for (unsigned i = 0; i < 8; i++) {
    far_ones[i].op.timeout_ns = i % 2 ? 0 : far_off[i / 2];
    far_ones[i].op.deadline_ns = i % 2 ? far_off[i / 2] : 0;
    assert_int_equal(start(&far_ones[i]), ALOFT_OK);
  }
  assert_int_equal(start(&near_one), ALOFT_OK);
  assert_int_equal(aloft_wait(f->loop, &near_one.op), ALOFT_TIMEOUT);
  for (unsigned i = 0; i < 8; i++) {
    assert_int_equal(far_ones[i].dones, 0);
    assert_int_equal(finish(far_ones[i].id, ALOFT_OK), ALOFT_OK);
  }
  turn(0);
  for (unsigned i = 0; i < 8; i++)
    check_done(&far_ones[i], ALOFT_OK);
  end();
}

static void test_the_earlier_of_two_counts(void **state) {
  begin(state);
  for (int which = 0; which < 2; which++) {
    asked one = {.op = {.timeout_ns = which ? TICK : ALOFT_SECONDS(999)}};
    one.op.deadline_ns = clock_now() + (which ? ALOFT_SECONDS(999) : TICK);
    assert_int_equal(start(&one), ALOFT_OK);
    hold_up(2 * TICK);
    turn(0);
    check_done(&one, ALOFT_TIMEOUT);
  }
  end();
}

#define DAY ALOFT_SECONDS(86400)

static void test_clock_jumps_by_days(void **state) {
  (void)state;
  bool sim = true;
  void *on_sim = &sim;
  begin(&on_sim);
  enum { MANY = 400 };
  static asked many[MANY];
  memset(many, 0, sizeof many);
  for (unsigned i = 0; i < MANY; i++) { /* over 400 days, in no order */
    many[i].op.timeout_ns = (1 + i * 7 % MANY) * DAY;
    assert_int_equal(start(&many[i]), ALOFT_OK);
  }
  uint64_t passed = 0;
  for (unsigned jump = 1; passed < 401 * DAY; jump = jump * 3) {
    alo_sim_pass(f->at.sim, jump * DAY + TICK);
    passed += jump * DAY + TICK;
    turn(0);
    for (unsigned i = 0; i < MANY; i++) {
      assert_int_equal(many[i].dones, many[i].op.timeout_ns <= passed);
    }
    asked short_one = {.op = {.timeout_ns = 3 * TICK}}; /* behind the jump all is as before */
    assert_int_equal(start(&short_one), ALOFT_OK);
    turn(0);
    assert_int_equal(short_one.dones, 0);
    assert_int_equal(aloft_wait(f->loop, &short_one.op), ALOFT_TIMEOUT);
    passed += 4 * TICK;
  }
  end();
}

/* ---- exactly once ---- */

static void changed(aloft_loop *loop, void *context) {
  (void)loop;
  (void)context;
}

/* Whatever path it takes: outside of a turn there is another one while a foreign loop is told. */
static void test_finish_well_keeps_no_error(void **state) {
  begin(state);
  static const aloft_error given = {.status = ALOFT_SERVER, .number = 7, .message = {"no", 2}};
  for (unsigned told = 0; told < 2; told++) {
    aloft_loop_on_change(f->loop, told ? changed : NULL, NULL);
    asked one = {.dones = 0};
    assert_int_equal(start(&one), ALOFT_OK);
    assert_int_equal(aloft_inflight_finish(f->table, one.id, ALOFT_OK, &given), ALOFT_OK);
    turn(0);
    check_done(&one, ALOFT_OK); /* and `done` has seen no error */
  }
  aloft_loop_on_change(f->loop, NULL, NULL);
  end();
}

static void test_finish_after_completion(void **state) {
  begin(state);
  static const aloft_error given = {.status = ALOFT_SERVER, .number = 7, .message = {"no", 2}};
  for (unsigned what = 0; what < 4; what++) {
    asked one = {.op = {.timeout_ns = what == 0 ? TICK : 0}}, next = {.dones = 0};
    uint64_t unmatched = info().unmatched;
    assert_int_equal(start(&one), ALOFT_OK);
    if (what == 0)
      assert_int_equal(aloft_wait(f->loop, &one.op), ALOFT_TIMEOUT);
    if (what == 1)
      assert_int_equal(aloft_op_cancel(&one.op), ALOFT_OK);
    if (what >= 2)
      assert_int_equal(aloft_inflight_finish(f->table, one.id, ALOFT_SERVER, &given), ALOFT_OK);
    if (what == 2)
      turn(0);
    assert_int_equal(start(&next), ALOFT_OK); /* in its place */
    assert_int_equal(next.op.own.slot, one.op.own.slot);
    assert_true(next.id != one.id);
    for (unsigned late = 1; late <= 3; late++) {
      assert_null(aloft_inflight_find(f->table, one.id));
      assert_int_equal(finish(one.id, ALOFT_OK), ALOFT_WRONG_STATE);
      assert_true(info().unmatched == unmatched + late);
    }
    turn(0);
    check_done(&one, what == 0 ? ALOFT_TIMEOUT : what == 1 ? ALOFT_CANCELLED : ALOFT_SERVER);
    assert_int_equal(one.number, what >= 2 ? 7 : 0);
    assert_int_equal(next.dones, 0);
    assert_true(aloft_op_in_flight(&next.op));
    assert_ptr_equal(aloft_inflight_find(f->table, next.id), &next.op);
    assert_int_equal(finish(next.id, ALOFT_OK), ALOFT_OK);
    turn(0);
    check_done(&next, ALOFT_OK);
    check_done(&one, one.status);
  }
  end();
}

static void test_invented_ids_find_nothing(void **state) {
  begin(state);
  asked one = {.dones = 0};
  assert_int_equal(finish(0, ALOFT_OK), ALOFT_WRONG_STATE); /* before the first start */
  assert_int_equal(start(&one), ALOFT_OK);
  uint64_t tried = 1;
  for (unsigned bit = 0; bit < 64; bit++, tried++) {
    uint64_t id = one.id ^ UINT64_C(1) << bit;
    assert_null(aloft_inflight_find(f->table, id));
    assert_int_equal(finish(id, ALOFT_OK), ALOFT_WRONG_STATE);
  }
  assert_int_equal(finish(UINT64_MAX, ALOFT_OK), ALOFT_WRONG_STATE);
  assert_true(info().unmatched == tried + 1);
  turn(0);
  assert_int_equal(one.dones, 0);
  end();
  check_done(&one, ALOFT_CLOSED);
}

static void test_cancel_of_what_is_decided(void **state) {
  begin(state);
  asked one = {.dones = 0};
  assert_int_equal(aloft_op_cancel(&one.op), ALOFT_WRONG_STATE); /* never started */
  assert_int_equal(start(&one), ALOFT_OK);
  assert_int_equal(finish(one.id, ALOFT_OK), ALOFT_OK);
  assert_int_equal(aloft_op_cancel(&one.op), ALOFT_WRONG_STATE); /* before its done */
  turn(0);
  check_done(&one, ALOFT_OK);
  assert_int_equal(aloft_op_cancel(&one.op), ALOFT_WRONG_STATE); /* after it */
  assert_int_equal(one.op.status, ALOFT_OK);
  turn(0);
  check_done(&one, ALOFT_OK);
  assert_int_equal(info().unmatched, 0);
  end();
}

static void finish_the_next(asked *own);

static asked chain_of[4];

/* One turn runs what was queued when it began. */
static void finish_the_next(asked *own) {
  asked *next = own + 1;
  if (next == chain_of + 4)
    return;
  assert_int_equal(finish(next->id, ALOFT_OK), ALOFT_OK);
  assert_int_equal(next->dones, 0);
}

static void test_finish_inside_done(void **state) {
  begin(state);
  memset(chain_of, 0, sizeof chain_of);
  for (int i = 0; i < 4; i++) {
    chain_of[i].then = finish_the_next;
    assert_int_equal(start(&chain_of[i]), ALOFT_OK);
  }
  assert_int_equal(finish(chain_of[0].id, ALOFT_OK), ALOFT_OK);
  for (unsigned turns = 1; turns <= 4; turns++) {
    turn(0);
    for (unsigned i = 0; i < 4; i++)
      assert_int_equal(chain_of[i].dones, i < turns);
  }
  end();
}

static uint64_t ids_seen[100];

static void start_again(asked *own) {
  for (unsigned i = 0; i + 1 < own->dones; i++)
    assert_true(ids_seen[i] != own->id);
  ids_seen[own->dones - 1] = own->id;
  if (own->dones == 100)
    return;
  assert_int_equal(start(own), ALOFT_OK);
  assert_true(aloft_op_in_flight(&own->op));
  if (own->dones % 2)
    assert_int_equal(finish(own->id, ALOFT_OK), ALOFT_OK);
  else if (own->dones % 4)
    assert_int_equal(aloft_op_cancel(&own->op), ALOFT_OK);
}

static void test_restart_inside_done(void **state) {
  begin(state);
  asked one = {.op = {.timeout_ns = 1}, .then = start_again};
  assert_int_equal(start(&one), ALOFT_OK);
  for (int i = 0; i < 1000 && one.dones < 100; i++)
    turn(ALOFT_SECONDS(1));
  assert_int_equal(one.dones, 100);
  assert_int_equal(info().count, 0);
  assert_int_equal(info().unmatched, 0);
  end();
}

static void free_it(asked *own) {
  memset(own, 0xEE, sizeof *own);
  free(own);
}

static void test_free_inside_done(void **state) {
  begin(state);
  for (int i = 0; i < 3; i++) {
    asked *one = calloc(1, sizeof *one);
    assert_non_null(one);
    one->then = free_it;
    assert_int_equal(start(one), ALOFT_OK);
    if (i == 0)
      assert_int_equal(finish(one->id, ALOFT_OK), ALOFT_OK);
    if (i == 1)
      assert_int_equal(aloft_op_cancel(&one->op), ALOFT_OK);
    turn(0);
  }
  end();
}

static void test_written_is_the_callers(void **state) {
  begin(state);
  for (unsigned what = 0; what < 4; what++) {
    asked one = {.op = {.timeout_ns = what & 2 ? TICK : 0}};
    assert_int_equal(start(&one), ALOFT_OK);
    one.op.written = what & 1;
    if (!(what & 2))
      assert_int_equal(finish(one.id, ALOFT_LOST), ALOFT_OK);
    assert_int_equal(aloft_wait(f->loop, &one.op), what & 2 ? ALOFT_TIMEOUT : ALOFT_LOST);
    assert_int_equal(one.written, what & 1);
  }
  end();
}

/* ---- linked cancellations ---- */

enum { TREE = 3 }; /* a parent, its child, its grandchild */

static void run_tree(unsigned fired, unsigned ended) {
  aloft_cancel tree[TREE];
  asked ops[TREE];
  memset(ops, 0, sizeof ops);
  for (unsigned i = 0; i < TREE; i++) {
    aloft_cancel_init(&tree[i], f->loop, i ? &tree[i - 1] : NULL);
    ops[i].op.cancel = &tree[i];
    if (i != ended)
      assert_int_equal(start(&ops[i]), ALOFT_OK);
  }
  if (ended < TREE) { /* above it and below it the others live on, apart */
    aloft_cancel_fini(&tree[ended]);
    memset(&tree[ended], 0x5A, sizeof tree[ended]);
  }
  aloft_cancel_fire(&tree[fired]);
  turn(0);
  for (unsigned i = 0; i < TREE; i++) {
    bool below = i >= fired && !(ended > fired && ended <= i);
    assert_int_equal(ops[i].dones, i != ended && below);
    if (i == ended)
      continue;
    assert_int_equal(aloft_cancel_fired(&tree[i]), below);
    if (below)
      check_done(&ops[i], ALOFT_CANCELLED);
    else
      assert_int_equal(finish(ops[i].id, ALOFT_OK), ALOFT_OK);
  }
  turn(0);
  for (unsigned i = 0; i < TREE; i++)
    if (i != ended)
      aloft_cancel_fini(&tree[i]);
}

static void test_tree_of_cancellations(void **state) {
  begin(state);
  for (unsigned fired = 0; fired < TREE; fired++)
    for (unsigned ended = 0; ended <= TREE; ended++)
      if (fired != ended)
        run_tree(fired, ended);
  assert_int_equal(info().count, 0);
  end();
}

/* ---- close ---- */

static aloft_cancel token_of_many;

/* In flight in each of the ways there are, and some decided already. */
static void start_many(asked *many, unsigned count) {
  aloft_cancel_init(&token_of_many, f->loop, NULL);
  memset(many, 0, count * sizeof *many);
  for (unsigned i = 0; i < count; i++) {
    many[i].op.timeout_ns = i & 1 ? ALOFT_SECONDS(99) : 0;
    many[i].op.cancel = i & 2 ? &token_of_many : NULL;
    assert_int_equal(start(&many[i]), ALOFT_OK);
    many[i].op.written = i & 4;
    if (i % 10 == 0)
      assert_int_equal(finish(many[i].id, ALOFT_OK), ALOFT_OK);
  }
}

static void check_many(const asked *many, unsigned count) {
  for (unsigned i = 0; i < count; i++) {
    check_done(&many[i], i % 10 ? ALOFT_CLOSED : ALOFT_OK);
    assert_int_equal(many[i].written, (i & 4) != 0);
  }
  assert_false(is_registered_on(&token_of_many));
  aloft_cancel_fini(&token_of_many);
}

static void restart_refused(asked *own) {
  assert_int_equal(start(own), ALOFT_CLOSED);
  assert_int_equal(own->op.status, ALOFT_CLOSED);
  assert_false(aloft_op_in_flight(&own->op));
  assert_int_equal(finish(own->id, ALOFT_OK), ALOFT_WRONG_STATE);
  aloft_inflight_close(f->table); /* once more: nothing */
}

enum { MANY_OPEN = 1000 };

static void test_close_with_many_in_flight(void **state) {
  static asked many[MANY_OPEN];
  begin(state);
  start_many(many, MANY_OPEN);
  many[5].then = many[40].then = many[997].then = restart_refused;
  f->inside = true;
  aloft_inflight_close(f->table);
  assert_int_equal(info().count, 0);
  f->inside = false;
  for (unsigned i = 0; i < MANY_OPEN; i++)
    assert_int_equal(many[i].dones, 0);
  assert_true(wheel_is_empty());
  aloft_cancel_fire(&token_of_many); /* and its time is over: too late */
  hold_up(TICK);
  turn(0);
  check_many(many, MANY_OPEN);
  f->table = NULL;
  end();
  assert_int_equal(many[5].dones + many[40].dones + many[997].dones, 3);
}

static void open_refused(asked *own) {
  restart_refused(own);
  aloft_inflight *late = NULL;
  assert_int_equal(aloft_inflight_open(&late, f->loop, NULL), ALOFT_CLOSED);
  assert_null(late);
}

static void test_loop_closed_with_many_in_flight(void **state) {
  static asked many[MANY_OPEN];
  begin(state);
  start_many(many, MANY_OPEN);
  many[5].then = many[40].then = many[997].then = open_refused;
  harness_loop_close(&f->at);
  check_many(many, MANY_OPEN);
}

enum { TABLES = 3 };

static aloft_inflight *tables[TABLES];

static void try_each_table(asked *own) {
  assert_int_equal(own->status, ALOFT_CLOSED);
  for (int i = 0; i < TABLES; i++) {
    assert_int_equal(aloft_inflight_start(tables[i], &own->op, &own->id), ALOFT_CLOSED);
    assert_int_equal(aloft_inflight_finish(tables[i], own->id, ALOFT_OK, NULL), ALOFT_WRONG_STATE);
    aloft_inflight_close(tables[i]);
  }
}

/* What fails over to another table when the loop closes finds that closed too, not freed. */
static void test_loop_closed_with_many_tables(void **state) {
  begin(state);
  asked ops[TABLES + 1];
  memset(ops, 0, sizeof ops);
  for (int i = 0; i < TABLES; i++) {
    assert_int_equal(aloft_inflight_open(&tables[i], f->loop, NULL), ALOFT_OK);
    f->table = tables[i];
    ops[i].then = try_each_table;
    assert_int_equal(start(&ops[i]), ALOFT_OK);
  }
  asked *nap = &ops[TABLES];
  *nap = (asked){.op = {.done = done, .timeout_ns = ALOFT_SECONDS(9)}, .then = try_each_table};
  assert_int_equal(aloft_sleep_start(f->loop, &nap->op), ALOFT_OK);
  harness_loop_close(&f->at);
  for (int i = 0; i <= TABLES; i++)
    assert_int_equal(ops[i].dones, 1);
}

static void close_table(asked *own) {
  (void)own;
  aloft_inflight_close(f->table);
}

static void test_close_inside_done(void **state) {
  static asked many[MANY_OPEN];
  begin(state);
  start_many(many, MANY_OPEN);
  many[50].then = close_table;
  turn(0); /* it and the others that were decided */
  turn(0);
  check_many(many, MANY_OPEN);
  f->table = NULL;
  end();
}

/* What is open but has nothing in flight waits for nothing. */
static void test_an_idle_table_does_not_keep_the_loop_running(void **state) {
  begin(state);
  assert_int_equal(aloft_loop_run(f->loop), ALOFT_OK);
  asked one = {.op = {.timeout_ns = TICK}};
  assert_int_equal(start(&one), ALOFT_OK);
  assert_int_equal(aloft_loop_run(f->loop), ALOFT_OK);
  check_done(&one, ALOFT_TIMEOUT);
  end();
}

typedef struct watcher {
  aloft_cancel token;
  int napped; /* atomic */
} watcher;

static watcher of_nap;

static void nap_over(asked *own) {
  (void)own;
  __atomic_store_n(&of_nap.napped, 1, __ATOMIC_RELEASE);
}

static void *fire_after_the_nap(void *context) {
  (void)context;
  while (!__atomic_load_n(&of_nap.napped, __ATOMIC_ACQUIRE))
    sched_yield();
  aloft_cancel_fire(&of_nap.token);
  return NULL;
}

/* Also one that waits for nothing that the loop could know of. (Sim waits for no other thread.) */
static void test_what_is_in_flight_keeps_the_loop_running(void **state) {
  begin(state);
  for (int i = 0; i < 20; i++) {
    of_nap.napped = 0;
    aloft_cancel_init(&of_nap.token, f->loop, NULL);
    asked one = {.op = {.cancel = &of_nap.token}};
    asked nap = {.op = {.done = done, .timeout_ns = TICK}, .then = nap_over};
    assert_int_equal(start(&one), ALOFT_OK);
    assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fire_after_the_nap, NULL), 0);
    assert_int_equal(aloft_loop_run(f->loop), ALOFT_OK);
    check_done(&one, ALOFT_CANCELLED);
    pthread_join(thread, NULL);
    aloft_cancel_fini(&of_nap.token);
  }
  end();
}

/* ---- limits ---- */

static void reopen(uint32_t max, uint32_t room) {
  aloft_inflight_close(f->table);
  turn(0);
  const aloft_inflight_config config = {.size = sizeof config, .max = max, .room = room};
  assert_int_equal(aloft_inflight_open(&f->table, f->loop, &config), ALOFT_OK);
}

static void test_max_in_flight(void **state) {
  begin(state);
  static const uint32_t limits[] = {1, 2, 64, 65, 100};
  static asked many[101];
  for (size_t n = 0; n < sizeof limits / sizeof limits[0]; n++) {
    uint32_t max = limits[n];
    reopen(max, n % 2 ? max : 0);
    memset(many, 0, sizeof many);
    for (uint32_t i = 0; i < max; i++)
      assert_int_equal(start(&many[i]), ALOFT_OK);
    asked *over = &many[max];
    over->id = 42;
    assert_int_equal(start(over), ALOFT_TOO_MANY);
    assert_int_equal(over->op.status, ALOFT_TOO_MANY);
    assert_non_null(over->op.error);
    assert_int_equal(over->id, 42);
    assert_false(aloft_op_in_flight(&over->op));
    assert_int_equal(info().count, max);
    assert_int_equal(finish(many[max / 2].id, ALOFT_OK), ALOFT_OK);
    assert_int_equal(start(over), ALOFT_OK); /* its place is free, before its done */
    turn(0);
    assert_int_equal(many[max / 2].dones, 1);
    assert_int_equal(over->dones, 0);
  }
  end();
}

static void test_default_max(void **state) {
  begin(state);
  static asked many[65537];
  memset(many, 0, sizeof many);
  for (uint32_t i = 0; i < 65536; i++)
    assert_int_equal(start(&many[i]), ALOFT_OK);
  assert_int_equal(start(&many[65536]), ALOFT_TOO_MANY);
  end();
}

static void test_configs(void **state) {
  begin(state);
  aloft_inflight *made = NULL;
  const size_t size = sizeof(aloft_inflight_config);
  const aloft_inflight_config bad[] = {
      {.size = 0},
      {.size = size - 1},
      {.size = size + 1},
      {.size = size, .max = 16777216},
      {.size = size, .max = UINT32_MAX},
      {.size = size, .max = 5, .room = 6},
      {.size = size, .room = 65537},
      {.size = size, .max = 16777215, .room = UINT32_MAX},
  };
  uint64_t before = f->at.heap.allocations;
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    assert_int_equal(aloft_inflight_open(&made, f->loop, &bad[i]), ALOFT_ARGUMENT);
    assert_null(made);
  }
  assert_true(f->at.heap.allocations == before);
  reopen(16777215, 0);
  reopen(65536, 65536);
  reopen(0, 65536);
  end();
}

/* An older program's struct is shorter: nothing behind it is read. */
static void test_short_config(void **state) {
  begin(state);
  size_t *size = malloc(sizeof *size);
  assert_non_null(size);
  *size = sizeof *size;
  aloft_inflight *made = NULL;
  assert_int_equal(aloft_inflight_open(&made, f->loop, (const aloft_inflight_config *)(void *)size),
                   ALOFT_ARGUMENT);
  free(size);
  end();
}

/* Room made by the open, and places used once: no heap call any more. */
static void test_no_heap_call(void **state) {
  begin(state);
  static asked many[300];
  for (int warm = 0; warm < 2; warm++) {
    if (warm == 0)
      reopen(300, 300);
    else
      reopen(0, 0);
    for (int round = 0; round < 3; round++) {
      uint64_t before = f->at.heap.allocations + f->at.heap.resizes;
      memset(many, 0, sizeof many);
      aloft_cancel token;
      aloft_cancel_init(&token, f->loop, NULL);
      for (unsigned i = 0; i < 300; i++) {
        many[i].op.timeout_ns = i % 3 ? 0 : TICK;
        many[i].op.cancel = i % 3 == 1 ? &token : NULL;
        assert_int_equal(start(&many[i]), ALOFT_OK);
      }
      for (unsigned i = 2; i < 300; i += 3)
        assert_int_equal(finish(many[i].id, ALOFT_OK), ALOFT_OK);
      aloft_cancel_fire(&token);
      hold_up(2 * TICK);
      turn(0);
      for (unsigned i = 0; i < 300; i++)
        assert_int_equal(many[i].dones, 1);
      aloft_cancel_fini(&token);
      if (warm == 0 || round > 0)
        assert_true(f->at.heap.allocations + f->at.heap.resizes == before);
    }
  }
  end();
}

typedef struct scene {
  aloft_op op;
  unsigned dones;
} scene;

static void count_done(aloft_op *op, aloft_status status) {
  assert_int_equal(status, ALOFT_CLOSED);
  ALOFT_CONTAINER(op, scene, op)->dones++;
}

/* Each start either flies or is refused; whatever flew before goes on. */
static void open_and_grow(const aloft_allocator *allocator, void *context) {
  (void)context;
  enum { MANY = 200 };
  static scene many[MANY];
  unsigned starts = 0;
  const aloft_loop_config loop_config = {.size = sizeof loop_config, .allocator = allocator};
  const aloft_inflight_config config = {.size = sizeof config, .room = 10};
  aloft_loop *loop;
  aloft_inflight *table;
  memset(many, 0, sizeof many);
  if (aloft_loop_open(&loop, &loop_config) != ALOFT_OK)
    return;
  aloft_status status = aloft_inflight_open(&table, loop, &config);
  assert_true(status == ALOFT_OK || status == ALOFT_NO_MEMORY);
  for (unsigned i = 0; status == ALOFT_OK && i < MANY; i++) {
    uint64_t id;
    many[i].op.done = count_done;
    aloft_status started = aloft_inflight_start(table, &many[i].op, &id);
    assert_true(started == ALOFT_OK || started == ALOFT_NO_MEMORY);
    if (started == ALOFT_NO_MEMORY)
      assert_int_equal(many[i].op.status, ALOFT_NO_MEMORY);
    else
      assert_ptr_equal(aloft_inflight_find(table, id), &many[i].op);
    starts += started == ALOFT_OK;
  }
  aloft_loop_close(loop);
  for (unsigned i = 0; i < MANY; i++)
    starts -= many[i].dones;
  assert_int_equal(starts, 0);
}

static void test_each_allocation_fails(void **state) {
  (void)state;
  /* the driver, the loop, the table, its room, and that doubled: 20, 40, 80, 160, 320 */
  assert_int_equal(harness_each_allocation(open_and_grow, NULL), 9);
}

/* ---- information and tokens ---- */

static void test_foreign_info_size(void **state) {
  begin(state);
  asked one = {.dones = 0};
  assert_int_equal(start(&one), ALOFT_OK);
  const size_t sizes[] = {0, sizeof(aloft_inflight_info) - 1, sizeof(aloft_inflight_info) + 1};
  for (size_t i = 0; i < 3; i++) {
    aloft_inflight_info given;
    memset(&given, 0x5A, sizeof given);
    given.size = sizes[i];
    aloft_inflight_info before = given;
    aloft_inflight_get_info(f->table, &given);
    assert_memory_equal(&given, &before, sizeof given);
  }
  assert_int_equal(info().size, sizeof(aloft_inflight_info));
  assert_int_equal(info().count, 1);
  assert_int_equal(info().retired, 0);
  end();
}

static void test_tokens(void **state) {
  begin(state);
  asked one = {.dones = 0};
  char token[ALOFT_INFLIGHT_TOKEN_SIZE + 1];
  for (int i = 0; i < 1000; i++) {
    uint64_t id = 0;
    assert_int_equal(start(&one), ALOFT_OK);
    token[ALOFT_INFLIGHT_TOKEN_SIZE] = '!';
    aloft_inflight_token(one.id, token);
    assert_int_equal(token[ALOFT_INFLIGHT_TOKEN_SIZE], '!'); /* not terminated */
    assert_true(aloft_inflight_parse(token, &id));
    assert_true(id == one.id);
    token[i % ALOFT_INFLIGHT_TOKEN_SIZE] = "./+= *>\t\0@"[i % 10];
    assert_false(aloft_inflight_parse(token, &id));
    assert_int_equal(finish(one.id, ALOFT_OK), ALOFT_OK);
    turn(0);
  }
  const uint64_t fixed[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(0x0123456789ABCDEF)};
  for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
    uint64_t id = 0;
    aloft_inflight_token(fixed[i], token);
    assert_true(aloft_inflight_parse(token, &id));
    assert_true(id == fixed[i]);
  }
  end();
}

/* ---- threads ---- */

enum { ROUNDS = 1500, SOURCES = 4, PER_SOURCE = 3 };

typedef struct firing {
  aloft_cancel sources[SOURCES]; /* 0 is the others' parent */
  int round;                     /* atomic: negative when it has been fired */
} firing;

static void *fire_each_round(void *context) {
  firing *own = context;
  for (int seen = 0; seen < ROUNDS;) {
    int round = __atomic_load_n(&own->round, __ATOMIC_ACQUIRE);
    if (round <= seen)
      continue;
    seen = round;
    aloft_cancel_fire(&own->sources[round % SOURCES]);
    __atomic_store_n(&own->round, -round, __ATOMIC_RELEASE);
  }
  return NULL;
}

/* Answers come in and time runs out while another thread fires. */
static void run_round(firing *own, int round) {
  static asked ops[SOURCES * PER_SOURCE];
  memset(ops, 0, sizeof ops);
  for (int i = 0; i < SOURCES; i++)
    aloft_cancel_init(&own->sources[i], f->loop, i ? &own->sources[0] : NULL);
  for (int i = 0; i < SOURCES * PER_SOURCE; i++) {
    ops[i].op.cancel = &own->sources[i % SOURCES];
    ops[i].op.timeout_ns = i / SOURCES == 1 ? TICK : 0;
    assert_int_equal(start(&ops[i]), ALOFT_OK);
  }
  __atomic_store_n(&own->round, round, __ATOMIC_RELEASE);
  for (int i = 0; i < SOURCES * PER_SOURCE; i++) {
    if (i % 3 == 0)
      turn(0);
    if (i % 2)
      (void)finish(ops[i].id, ALOFT_OK);
  }
  while (__atomic_load_n(&own->round, __ATOMIC_ACQUIRE) != -round)
    turn(0);
  turn(0);
  for (int i = 0; i < SOURCES * PER_SOURCE; i++) {
    bool reached = round % SOURCES == 0 || round % SOURCES == i % SOURCES;
    if (!reached && aloft_op_in_flight(&ops[i].op))
      (void)finish(ops[i].id, ALOFT_OK);
  }
  turn(0);
  for (int i = 0; i < SOURCES * PER_SOURCE; i++) {
    assert_int_equal(ops[i].dones, 1);
    assert_true(ops[i].status == ALOFT_OK || ops[i].status == ALOFT_CANCELLED ||
                (ops[i].op.timeout_ns && ops[i].status == ALOFT_TIMEOUT));
  }
  for (int i = 0; i < SOURCES; i++)
    aloft_cancel_fini(&own->sources[(i + round) % SOURCES]);
}

static void test_fired_from_another_thread(void **state) {
  begin(state);
  static firing own;
  memset(&own, 0, sizeof own);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, fire_each_round, &own), 0);
  for (int round = 1; round <= ROUNDS; round++)
    run_round(&own, round);
  pthread_join(thread, NULL);
  assert_int_equal(info().count, 0);
  end();
}

static bool on_uv = false, on_sim = true;

#define BOTH(test)                                                                                 \
  {#test " on uv", test, NULL, NULL, &on_uv}, {                                                    \
    #test " on sim", test, NULL, NULL, &on_sim                                                     \
  }

int main(void) {
  const struct CMUnitTest tests[] = {
      BOTH(test_timeout_alone),
      BOTH(test_timeout_with_an_unfired_token),
      BOTH(test_token_fired_without_timeout),
      BOTH(test_token_fired_with_a_very_long_timeout),
      BOTH(test_completion_calls_the_action_once_for_its_id),
      BOTH(test_null_action_is_refused),
      BOTH(test_four_combinations),
      BOTH(test_cancelled_wins_whatever_came_first),
      BOTH(test_already_cancelled_at_start),
      BOTH(test_deadline_already_past),
      BOTH(test_another_loops_token_is_refused),
      BOTH(test_in_use_touches_nothing),
      cmocka_unit_test(test_time_of_any_length),
      BOTH(test_far_and_near),
      BOTH(test_the_earlier_of_two_counts),
      cmocka_unit_test(test_clock_jumps_by_days),
      BOTH(test_finish_well_keeps_no_error),
      BOTH(test_finish_after_completion),
      BOTH(test_invented_ids_find_nothing),
      BOTH(test_cancel_of_what_is_decided),
      BOTH(test_finish_inside_done),
      BOTH(test_restart_inside_done),
      BOTH(test_free_inside_done),
      BOTH(test_written_is_the_callers),
      BOTH(test_tree_of_cancellations),
      BOTH(test_close_with_many_in_flight),
      BOTH(test_loop_closed_with_many_in_flight),
      BOTH(test_loop_closed_with_many_tables),
      BOTH(test_close_inside_done),
      BOTH(test_an_idle_table_does_not_keep_the_loop_running),
      {"test_what_is_in_flight_keeps_the_loop_running on uv",
       test_what_is_in_flight_keeps_the_loop_running, NULL, NULL, &on_uv},
      BOTH(test_max_in_flight),
      BOTH(test_default_max),
      BOTH(test_configs),
      BOTH(test_short_config),
      BOTH(test_no_heap_call),
      cmocka_unit_test(test_each_allocation_fails),
      BOTH(test_foreign_info_size),
      BOTH(test_tokens),
      BOTH(test_fired_from_another_thread),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
