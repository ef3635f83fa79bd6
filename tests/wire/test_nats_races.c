/* Races for one request, on the wire: reply, timeout, cancellation, another thread's, loss and
 * close. One wins, exactly once, and what comes later finds nothing and is counted. */
// labels: threads
#include <stdarg.h>
#include <setjmp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <aloft/inflight.h>

#include "harness_loop.h"
#include "nats_client.h"
#include "nats_toy.h"

enum { HEARD_MAX = 1024, MANY = 500 };

/* What the server has received, to be answered when the test says so. */
typedef struct heard {
  char reply[320], data[64];
  size_t reply_size, data_size;
} heard;

typedef struct fixture {
  bool sim;
  harness_loop at;
  aloft_loop *loop;
  nats_toy toy;
  aloft_nats *nats;
  heard heard[HEARD_MAX];
  unsigned heard_count;
  bool inside; /* a call of ours */
  unsigned depth;
  unsigned order; /* of completions */
} fixture;

static fixture *f;

typedef struct asked {
  aloft_nats_request request;
  unsigned dones, order;
  aloft_status status;
  bool written;
  char data[64]; /* of the reply */
  void (*then)(struct asked *own);
} asked;

static void toy_saw(nats_toy *toy, aloft_text subject, aloft_bytes data) {
  (void)subject;
  assert_true(f->heard_count < HEARD_MAX);
  heard *own = &f->heard[f->heard_count++];
  assert_true(toy->reply.size < sizeof own->reply);
  own->reply_size = toy->reply.size;
  own->data_size = data.size < sizeof own->data ? data.size : 0;
  if (own->reply_size)
    memcpy(own->reply, toy->reply.data, own->reply_size);
  if (own->data_size)
    memcpy(own->data, data.data, own->data_size);
}

static void begin_with(void **state, aloft_text inbox_prefix) {
  static fixture place;
  memset(&place, 0, sizeof place);
  f = &place;
  f->sim = *(bool *)*state;
  harness_loop_open(&f->at, f->sim, 1, NULL);
  f->loop = f->at.loop;
  nats_toy_open(&f->toy, f->loop, NULL);
  f->toy.published = toy_saw;
  aloft_nats_config config = nats_toy_config(&f->toy);
  config.inbox_prefix = inbox_prefix;
  harness_op op = {.op = {.done = harness_op_done}};
  assert_int_equal(aloft_nats_open(&f->nats, f->loop, &config, &op.op), ALOFT_OK);
  assert_int_equal(aloft_wait(f->loop, &op.op), ALOFT_OK);
}

static void begin(void **state) {
  begin_with(state, (aloft_text){NULL, 0});
}

static void end(void) {
  if (f->nats) {
    harness_op op = {.op = {.done = harness_op_done}};
    assert_int_equal(aloft_nats_close(f->nats, &op.op), ALOFT_OK);
    HARNESS_TURN_UNTIL(f->loop, op.done_count);
  }
  nats_toy_close(&f->toy);
  harness_loop_close(&f->at);
}

static void turn(uint64_t wait_ns) {
  assert_int_equal(aloft_loop_turn(f->loop, wait_ns), ALOFT_OK);
}

static uint64_t clock_now(void) {
  return f->loop->driver->methods->now(f->loop->driver);
}

/* The loop looks at nothing meanwhile. */
static void hold_up(uint64_t ns) {
  uint64_t until = clock_now() + ns;
  if (f->sim)
    alo_sim_pass(f->at.sim, ns);
  while (clock_now() < until)
    continue;
}

static aloft_nats_info info(void) {
  aloft_nats_info now = {.size = sizeof now};
  aloft_nats_get_info(f->nats, &now);
  return now;
}

static void done(aloft_op *op, aloft_status status) {
  asked *own = ALOFT_CONTAINER(op, asked, request.op);
  assert_false(f->inside);
  assert_int_equal(f->depth++, 0);
  assert_int_equal(status, op->status);
  assert_false(aloft_op_in_flight(op));
  own->dones++;
  own->order = ++f->order;
  own->status = status;
  own->written = op->written;
  own->data[0] = 0;
  if (status == ALOFT_OK)
    snprintf(own->data, sizeof own->data, "%.*s", (int)own->request.reply.data.size,
             own->request.reply.data.size ? (const char *)own->request.reply.data.data : "");
  if (own->then)
    own->then(own);
  f->depth--;
}

static aloft_status ask(asked *own, const char *subject, const char *data) {
  own->request.op.done = done;
  own->request.subject = aloft_text_of(subject);
  own->request.data = (aloft_bytes){data, strlen(data)};
  bool was = f->inside;
  f->inside = true;
  aloft_status status = aloft_nats_request_start(f->nats, &own->request);
  f->inside = was;
  return status;
}

/* Asks, and turns until the server has it. */
static heard *ask_and_let_it_be_heard(asked *own, const char *data) {
  unsigned before = f->heard_count;
  assert_int_equal(ask(own, "toy.never", data), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, f->heard_count > before);
  assert_int_equal(own->dones, 0);
  return &f->heard[before];
}

static void respond(const heard *to, const char *data) {
  assert_true(nats_toy_respond(&f->toy, (aloft_text){to->reply, to->reply_size},
                               (aloft_bytes){data, strlen(data)}) > 0);
}

/* The server writes, and the client does not look yet: a loop of its own would do no more. */
static void put_into_the_socket(void) {
  alo_output *output;
  while ((output = f->loop->outputs)) {
    f->loop->outputs = output->next;
    output->queued = false;
    output->write(output);
  }
}

static void flush(void) {
  harness_op op = {.op = {.done = harness_op_done}};
  assert_int_equal(aloft_nats_flush(f->nats, &op.op), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, op.done_count);
  assert_int_equal(op.status, ALOFT_OK);
}

static void check_done(const asked *own, aloft_status status) {
  assert_int_equal(own->dones, 1);
  assert_int_equal(own->status, status);
}

static void *fire(void *context) {
  aloft_cancel_fire(context);
  return NULL;
}

static void fire_from_a_thread(aloft_cancel *cancel) {
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, fire, cancel), 0);
  pthread_join(thread, NULL);
}

/* ---- a reply in the socket ---- */

/* One that lies there when the turn begins wins against all that is due in it. */
static void run_with_reply_there(bool due, bool fired, bool lost) {
  aloft_cancel token;
  aloft_cancel_init(&token, f->loop, NULL);
  asked one = {.request.op = {.timeout_ns = ALOFT_MILLISECONDS(30), .cancel = &token}};
  respond(ask_and_let_it_be_heard(&one, "x"), "here");
  put_into_the_socket();
  if (fired)
    fire_from_a_thread(&token);
  if (lost)
    nats_toy_drop(&f->toy);
  hold_up(due ? ALOFT_MILLISECONDS(50) : ALOFT_MILLISECONDS(2));
  turn(0);
  check_done(&one, ALOFT_OK);
  assert_string_equal(one.data, "here");
  assert_true(one.written);
  assert_int_equal(info().inflight, 0);
  assert_int_equal(info().replies_unmatched, 0);
  aloft_cancel_fini(&token);
}

static void test_held_up_beyond_the_timeout(void **state) {
  begin(state);
  for (int i = 0; i < 3; i++)
    run_with_reply_there(true, false, false);
  end();
}

static void test_cancelled_by_a_thread_in_the_same_turn(void **state) {
  begin(state);
  for (int i = 0; i < 3; i++)
    run_with_reply_there(false, true, false);
  run_with_reply_there(true, true, false);
  end();
}

static void test_lost_behind_the_reply(void **state) {
  begin(state);
  run_with_reply_there(true, true, true);
  end();
}

/* Without a reply the caller's word wins, and the time is only looked at behind it. */
static void test_no_reply_there(void **state) {
  begin(state);
  for (unsigned what = 1; what < 4; what++) {
    bool due = what & 1, fired = what & 2;
    aloft_cancel token;
    aloft_cancel_init(&token, f->loop, NULL);
    asked one = {
        .request.op = {.timeout_ns = ALOFT_MILLISECONDS(due ? 20 : 999999), .cancel = &token}};
    const heard *late = ask_and_let_it_be_heard(&one, "x");
    if (fired)
      fire_from_a_thread(&token);
    hold_up(ALOFT_MILLISECONDS(40));
    turn(0);
    check_done(&one, fired ? ALOFT_CANCELLED : ALOFT_TIMEOUT);
    assert_true(one.written);
    respond(late, "late");
    flush();
    check_done(&one, one.status);
    assert_int_equal(info().replies_unmatched, what);
    aloft_cancel_fini(&token);
  }
  end();
}

/* ---- what is not sent ---- */

static void test_refused_starts_send_nothing(void **state) {
  begin(state);
  aloft_cancel token;
  aloft_cancel_init(&token, f->loop, NULL);
  aloft_cancel_fire(&token);
  asked cancelled = {.request.op = {.cancel = &token}};
  asked past = {.request.op = {.deadline_ns = clock_now()}};
  asked no_done = {.dones = 0};
  uint64_t bytes_out = info().bytes_out;
  assert_int_equal(ask(&cancelled, "toy.echo", "x"), ALOFT_CANCELLED);
  assert_int_equal(ask(&past, "toy.echo", "x"), ALOFT_TIMEOUT);
  no_done.request.subject = ALOFT_TEXT("toy.echo");
  assert_int_equal(aloft_nats_request_start(f->nats, &no_done.request), ALOFT_ARGUMENT);
  assert_int_equal(info().tx_bytes, 0);
  assert_int_equal(info().inflight, 0);
  assert_int_equal(info().bytes_out, bytes_out);
  flush();
  assert_int_equal(f->toy.publications, 0);
  assert_int_equal(f->toy.subs, 0); /* not even the inbox's */
  assert_int_equal(cancelled.dones + past.dones, 0);
  assert_false(aloft_op_in_flight(&cancelled.request.op));
  assert_int_equal(cancelled.request.op.error->status, ALOFT_CANCELLED);
  aloft_cancel_fini(&token);
  end();
}

/* ---- replies that are too late, too many, or not for it ---- */

static void test_late_and_duplicate(void **state) {
  begin(state);
  asked one = {.dones = 0}, next = one;
  const heard *first = ask_and_let_it_be_heard(&one, "one");
  assert_int_equal(aloft_op_cancel(&one.request.op), ALOFT_OK);
  const heard *second = ask_and_let_it_be_heard(&next, "next");
  assert_int_equal(next.request.op.own.slot, one.request.op.own.slot); /* in its place */
  check_done(&one, ALOFT_CANCELLED);
  respond(first, "late");
  respond(first, "later");
  flush();
  assert_int_equal(info().replies_unmatched, 2);
  assert_int_equal(next.dones, 0);
  assert_int_equal(info().inflight, 1);
  respond(second, "yours");
  respond(second, "again");
  respond(first, "still");
  flush();
  check_done(&next, ALOFT_OK);
  assert_string_equal(next.data, "yours");
  assert_int_equal(info().replies_unmatched, 4);
  check_done(&one, ALOFT_CANCELLED);
  assert_int_equal(aloft_op_cancel(&next.request.op), ALOFT_WRONG_STATE); /* it says so */
  assert_int_equal(next.request.op.status, ALOFT_OK);
  flush();
  check_done(&next, ALOFT_OK);
  end();
}

/* Each character of the token changed, and the subject cut or longer: nobody's, also when only one
 * request is in flight. */
static void test_rewritten_subjects(void **state) {
  begin(state);
  asked one = {.dones = 0};
  const heard *own = ask_and_let_it_be_heard(&one, "x");
  unsigned sent = 0;
  for (size_t i = 0; i < ALOFT_INFLIGHT_TOKEN_SIZE; i++) {
    heard changed = *own;
    char *digit = &changed.reply[changed.reply_size - ALOFT_INFLIGHT_TOKEN_SIZE + i];
    *digit = *digit == 'a' ? 'b' : 'a';
    respond(&changed, "not yours");
    *digit = '!';
    respond(&changed, "not yours");
    sent += 2;
  }
  heard longer = *own, shorter = *own;
  longer.reply[longer.reply_size++] = 'a';
  respond(&longer, "not yours");
  shorter.reply_size--;
  respond(&shorter, "not yours");
  flush();
  assert_int_equal(info().replies_unmatched, sent + 2);
  assert_int_equal(one.dones, 0);
  respond(own, "yours");
  flush();
  check_done(&one, ALOFT_OK);
  assert_string_equal(one.data, "yours");
  end();
}

/* A server that sends with the inbox's sid what is of another inbox. */
static void send_each_byte_changed(const heard *own) {
  char lines[16384];
  size_t size = 0;
  for (size_t i = 0; i < own->reply_size; i++) {
    heard changed = *own;
    changed.reply[i] = changed.reply[i] == 'c' ? 'd' : 'c';
    size += (size_t)snprintf(lines + size, sizeof lines - size, "MSG %.*s 1 1\r\nx\r\n",
                             (int)changed.reply_size, changed.reply);
  }
  assert_true(size < sizeof lines);
  const aloft_nats_message raw = {.subject = ALOFT_TEXT("toy.raw"), .data = {lines, size}};
  assert_int_equal(aloft_nats_publish(f->nats, &raw), ALOFT_OK);
}

static void test_other_inboxes(void **state) {
  static const char *const prefixes[] = {NULL, "p", "pre", "a.longer.prefix.of.some.thirty.bytes"};
  for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
    begin_with(state, prefixes[i] ? aloft_text_of(prefixes[i]) : (aloft_text){NULL, 0});
    asked one = {.dones = 0};
    const heard *own = ask_and_let_it_be_heard(&one, "x");
    send_each_byte_changed(own);
    flush();
    assert_int_equal(info().replies_unmatched, own->reply_size);
    assert_int_equal(one.dones, 0);
    respond(own, "yours");
    flush();
    check_done(&one, ALOFT_OK);
    end();
  }
}

/* Two places of two uses each: then the connection takes no more, and says so. */
static void test_places_retire(void **state) {
  begin(state);
  alo_inflight_init(&f->nats->requests, &f->loop->heap, 2, 1); /* in place of 2^40 uses */
  const heard *all[4];
  asked one = {.dones = 0};
  for (unsigned i = 0; i < 4; i++) {
    all[i] = ask_and_let_it_be_heard(&one, "x");
    respond(all[i], "yours");
    flush();
    check_done(&one, ALOFT_OK);
    one.dones = 0;
  }
  assert_int_equal(f->nats->requests.retired, 2);
  assert_int_equal(ask(&one, "toy.never", "x"), ALOFT_TOO_MANY);
  for (unsigned i = 0; i < 4; i++)
    respond(all[i], "late");
  flush();
  assert_int_equal(info().replies_unmatched, 4);
  assert_int_equal(one.dones, 0);
  end();
}

/* ---- again, inside its own done ---- */

static void ask_again(asked *own) {
  char data[16];
  snprintf(data, sizeof data, "%u", own->dones);
  if (own->dones > 1)
    assert_string_equal(own->data, own->dones % 2 ? "even" : "odd");
  if (own->dones < 100)
    assert_int_equal(ask(own, "toy.twice", own->dones % 2 ? "odd" : "even"), ALOFT_OK);
}

/* The duplicate of each reply comes when the same struct, in the same place, waits for the next. */
static void test_restart_inside_done(void **state) {
  begin(state);
  asked one = {.then = ask_again};
  assert_int_equal(ask(&one, "toy.twice", "even"), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, one.dones == 100);
  flush();
  assert_int_equal(one.dones, 100);
  assert_int_equal(info().replies_unmatched, 100);
  assert_int_equal(info().inflight, 0);
  end();
}

/* ---- many in flight, and the end of the connection ---- */

static asked many[MANY];
static aloft_cancel token_of_many;

/* In each of the ways there are. */
static void ask_many(unsigned first, unsigned count, const char *data) {
  for (unsigned i = first; i < first + count; i++) {
    many[i].request.op.timeout_ns = i % 2 ? ALOFT_SECONDS(999) : 0;
    many[i].request.op.cancel = i % 3 ? NULL : &token_of_many;
    assert_int_equal(ask(&many[i], "toy.never", data), ALOFT_OK);
  }
}

static void begin_many(void **state) {
  begin(state);
  memset(many, 0, sizeof many);
  aloft_cancel_init(&token_of_many, f->loop, NULL);
}

/* Heard by the server, written but not heard, not written: in the order in which they were asked,
 * and each knows. */
static void test_loss_tells_written_from_unwritten(void **state) {
  begin_many(state);
  enum { BEFORE = 200 };
  static char large[12000];
  memset(large, 'x', sizeof large - 1);
  ask_many(0, BEFORE, "x");
  HARNESS_TURN_UNTIL(f->loop, f->heard_count == BEFORE);
  nats_toy_pause(&f->toy, true);
  ask_many(BEFORE, MANY - BEFORE, large);
  turn(0);
  nats_toy_drop(&f->toy);
  HARNESS_TURN_UNTIL(f->loop, info().inflight == 0);
  turn(0);
  unsigned written = 0, unwritten = 0;
  for (unsigned i = 0; i < MANY; i++) {
    assert_int_equal(many[i].dones, 1);
    assert_int_equal(many[i].status, many[i].written ? ALOFT_LOST : ALOFT_LOST_UNSENT);
    assert_true(i >= f->heard_count || many[i].written);
    assert_false(many[i].written && unwritten);
    written += many[i].written;
    unwritten += !many[i].written;
  }
  assert_true(written >= BEFORE);
  if (f->sim) { /* a real kernel may have taken any amount */
    assert_true(written > BEFORE);
    assert_true(unwritten > 0);
  }
  assert_int_equal(ask(&many[0], "toy.never", "x"), ALOFT_LOST_UNSENT);
  aloft_cancel_fini(&token_of_many);
  end();
}

static void restart_refused(asked *own) {
  assert_int_equal(ask(own, "toy.echo", "x"), ALOFT_CLOSED);
  assert_false(aloft_op_in_flight(&own->request.op));
}

static void check_closed(unsigned decided) {
  for (unsigned i = 0; i < MANY; i++) {
    assert_int_equal(many[i].dones, 1);
    assert_int_equal(many[i].status, i < decided ? ALOFT_CANCELLED : ALOFT_CLOSED);
  }
  aloft_cancel_fini(&token_of_many);
}

/* All of them before the close itself; a reply, a cancellation and the time come too late. */
static void test_close_with_many_in_flight(void **state) {
  begin_many(state);
  ask_many(0, MANY, "x");
  HARNESS_TURN_UNTIL(f->loop, f->heard_count == MANY);
  for (unsigned i = 0; i < 10; i++)
    assert_int_equal(aloft_op_cancel(&many[i].request.op), ALOFT_OK);
  for (unsigned i = 0; i < MANY; i += 7)
    respond(&f->heard[i], "too late");
  many[20].then = many[499].then = restart_refused; /* named by no token */
  asked closing = {.dones = 0};
  closing.request.op.done = done;
  f->inside = true;
  assert_int_equal(aloft_nats_close(f->nats, &closing.request.op), ALOFT_OK);
  aloft_cancel_fire(&token_of_many);
  f->inside = false;
  HARNESS_TURN_UNTIL(f->loop, closing.dones);
  check_done(&closing, ALOFT_OK);
  assert_int_equal(closing.order, MANY + 1);
  check_closed(10);
  f->nats = NULL;
  end();
}

static void test_loop_closed_with_many_in_flight(void **state) {
  begin_many(state);
  ask_many(0, MANY, "x");
  HARNESS_TURN_UNTIL(f->loop, f->heard_count == MANY);
  for (unsigned i = 0; i < 10; i++)
    assert_int_equal(aloft_op_cancel(&many[i].request.op), ALOFT_OK);
  many[20].then = many[499].then = restart_refused;
  nats_toy_close(&f->toy);
  harness_loop_close(&f->at);
  check_closed(10);
}

static aloft_nats *connections[2];

static void fail_over(asked *own) {
  own->then = NULL;
  for (int i = 0; i < 2; i++) {
    f->nats = connections[i];
    assert_int_equal(ask(own, "toy.echo", "x"), ALOFT_CLOSED);
    const aloft_nats_message message = {.subject = ALOFT_TEXT("m")};
    assert_int_equal(aloft_nats_publish(f->nats, &message), ALOFT_CLOSED);
    assert_int_equal(aloft_nats_close(f->nats, NULL), ALOFT_CLOSED);
  }
}

/* What fails over to another connection when the loop closes finds that closed too, not freed. */
static void test_fail_over_in_a_loops_close(void **state) {
  for (int which = 0; which < 2; which++) {
    begin(state);
    asked one = {.then = fail_over};
    connections[0] = f->nats;
    const aloft_nats_config config = nats_toy_config(&f->toy);
    assert_int_equal(aloft_nats_open(&connections[1], f->loop, &config, NULL), ALOFT_OK);
    f->nats = connections[which];
    assert_int_equal(ask(&one, "toy.never", "x"), ALOFT_OK);
    nats_toy_close(&f->toy);
    harness_loop_close(&f->at);
    check_done(&one, ALOFT_CLOSED);
  }
}

/* Started before the connection is ready, and never written: a close and a loss both say so. */
static void test_ended_before_anything_was_written(void **state) {
  for (int how = 0; how < 3; how++) {
    begin_many(state);
    nats_toy_options silent = {.greeting = how ? "" : NULL};
    nats_toy second;
    nats_toy_open(&second, f->loop, &silent);
    aloft_nats *first = f->nats;
    const aloft_nats_config config = nats_toy_config(&second);
    assert_int_equal(aloft_nats_open(&f->nats, f->loop, &config, NULL), ALOFT_OK);
    ask_many(0, MANY, "x");
    if (how == 2) {
      HARNESS_TURN_UNTIL(f->loop, second.accepted == 1);
      nats_toy_drop(&second);
      HARNESS_TURN_UNTIL(f->loop, many[MANY - 1].dones);
    }
    assert_int_equal(aloft_nats_close(f->nats, NULL), ALOFT_OK);
    turn(0);
    for (unsigned i = 0; i < MANY; i++) {
      check_done(&many[i], how == 2 ? ALOFT_LOST_UNSENT : ALOFT_CLOSED);
      assert_false(many[i].written);
    }
    turn(0);
    nats_toy_close(&second);
    assert_int_equal(second.publications, 0);
    f->nats = first;
    aloft_cancel_fini(&token_of_many);
    end();
  }
}

/* ---- a thread that fires while replies stream in ---- */

enum { ROUNDS = 150, SOURCES = 4, STREAM = 64 };

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
    for (int i = 0; i < SOURCES; i++)
      (void)aloft_cancel_fired(&own->sources[i]);
    aloft_cancel_fire(&own->sources[round % 8 ? 1 + round % (SOURCES - 1) : 0]);
    __atomic_store_n(&own->round, -round, __ATOMIC_RELEASE);
  }
  return NULL;
}

static uint64_t stream_starts, stream_oks, stream_cancelled;

/* Each asks again as long as its source lets it. */
static void stream_on(asked *own) {
  assert_true(own->status == ALOFT_OK || own->status == ALOFT_CANCELLED);
  stream_oks += own->status == ALOFT_OK;
  stream_cancelled += own->status == ALOFT_CANCELLED;
  if (own->status == ALOFT_OK)
    assert_string_equal(own->data, "x");
  if (own->dones >= 6)
    return;
  aloft_status status = ask(own, "toy.echo", "x");
  assert_true(status == ALOFT_OK || status == ALOFT_CANCELLED);
  stream_starts += status == ALOFT_OK;
}

static void run_round(firing *own, int round) {
  static asked ops[STREAM];
  memset(ops, 0, sizeof ops);
  for (int i = 0; i < SOURCES; i++)
    aloft_cancel_init(&own->sources[i], f->loop, i ? &own->sources[0] : NULL);
  for (int i = 0; i < STREAM; i++) {
    if (i == (round % 2 ? 0 : STREAM - 1)) /* it fires between the starts, or among the replies */
      __atomic_store_n(&own->round, round, __ATOMIC_RELEASE);
    ops[i].request.op.cancel = &own->sources[i % SOURCES];
    ops[i].then = stream_on;
    aloft_status status = ask(&ops[i], "toy.echo", "x");
    assert_true(status == ALOFT_OK || status == ALOFT_CANCELLED);
    stream_starts += status == ALOFT_OK;
  }
  while (info().inflight || __atomic_load_n(&own->round, __ATOMIC_ACQUIRE) != -round) {
    turn(f->sim ? 0 : ALOFT_SECONDS(1));
    if (f->sim)
      sched_yield(); /* its time does not pass: the thread's does */
  }
  turn(0);
  for (int i = 0; i < STREAM; i++)
    assert_false(aloft_op_in_flight(&ops[i].request.op));
  for (int i = 0; i < SOURCES; i++)
    aloft_cancel_fini(&own->sources[(i + round) % SOURCES]);
}

static void test_fired_from_a_thread_while_replies_stream_in(void **state) {
  begin(state);
  static firing own;
  memset(&own, 0, sizeof own);
  stream_starts = stream_oks = stream_cancelled = 0;
  f->toy.published = NULL;
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, fire_each_round, &own), 0);
  for (int round = 1; round <= ROUNDS; round++)
    run_round(&own, round);
  pthread_join(thread, NULL);
  flush();
  print_message("%llu cancelled, %llu answered\n", (unsigned long long)stream_cancelled,
                (unsigned long long)stream_oks);
  /* Each start was one request on the wire, and one completion; a reply was either taken or, for
   * one that had been cancelled, counted. */
  assert_true(stream_starts == stream_oks + stream_cancelled);
  assert_true(f->toy.publications == stream_starts);
  assert_true(info().replies_unmatched == stream_cancelled);
  end();
}

static bool on_uv = false, on_sim = true;

#define BOTH(test)                                                                                 \
  {#test " on uv", test, NULL, NULL, &on_uv}, {                                                    \
    #test " on sim", test, NULL, NULL, &on_sim                                                     \
  }

int main(void) {
  const struct CMUnitTest tests[] = {
      BOTH(test_held_up_beyond_the_timeout),
      BOTH(test_cancelled_by_a_thread_in_the_same_turn),
      BOTH(test_lost_behind_the_reply),
      BOTH(test_no_reply_there),
      BOTH(test_refused_starts_send_nothing),
      BOTH(test_late_and_duplicate),
      BOTH(test_rewritten_subjects),
      BOTH(test_other_inboxes),
      BOTH(test_places_retire),
      BOTH(test_restart_inside_done),
      BOTH(test_loss_tells_written_from_unwritten),
      BOTH(test_close_with_many_in_flight),
      BOTH(test_loop_closed_with_many_in_flight),
      BOTH(test_fail_over_in_a_loops_close),
      BOTH(test_ended_before_anything_was_written),
      BOTH(test_fired_from_a_thread_while_replies_stream_in),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
