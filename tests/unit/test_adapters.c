/* A loop inside another one, through the adapters for epoll, libevent and GLib; and what they are
 * made of: the loop's wants, and being told of their changes. */
// labels: threads
#include <stdarg.h>
#include <setjmp.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness_foreign.h"
#include "harness_loop.h"
#include "nats_toy.h"

typedef struct fixture {
  const harness_foreign *foreign; /* NULL: none */
  harness_loop at;
  aloft_loop *loop;
  nats_toy toy;
  aloft_nats *nats;
} fixture;

static fixture *begin(void **state) {
  static fixture place;
  memset(&place, 0, sizeof place);
  place.foreign = state ? harness_foreign_chosen() : NULL;
  harness_loop_open(&place.at, false, 0, NULL);
  place.loop = place.at.loop;
  if (place.foreign) {
    place.foreign->open();
    assert_int_equal(place.foreign->attach(place.loop), ALOFT_OK);
    assert_true(place.foreign->attached());
  }
  return &place;
}

/* The loop has been closed by the adapter, or is now. */
static void end(fixture *f) {
  if (f->foreign && f->foreign->attached())
    assert_int_equal(f->foreign->close_loop(), ALOFT_OK);
  else
    aloft_loop_close(f->loop);
  if (f->foreign)
    f->foreign->close();
  harness_heap_check(&f->at.heap);
}

/* Without a limit to the wait: what is forgotten is waited for until the test's own time is over.
 */
#define RUN_UNTIL(f_, condition)                                                                   \
  while (!(condition))                                                                             \
  assert_int_equal((f_)->foreign->iterate(-1), ALOFT_OK)

static harness_op sleep_of(fixture *f, uint64_t timeout_ns) {
  return (harness_op){.op = {.done = harness_op_done, .timeout_ns = timeout_ns}, .loop = f->loop};
}

static void connect_by(fixture *f, const char *host) {
  char url[64];
  if (!f->toy.own)
    nats_toy_open(&f->toy, f->loop, NULL);
  snprintf(url, sizeof url, "nats://%s:%u", host, (unsigned)f->toy.port);
  const aloft_nats_config config = {
      .size = sizeof config, .url = aloft_text_of(url), .tx_bytes_max = 64 << 20};
  harness_op op = {.op = {.done = harness_op_done}};
  assert_int_equal(aloft_nats_open(&f->nats, f->loop, &config, &op.op), ALOFT_OK);
  RUN_UNTIL(f, op.done_count);
  assert_int_equal(op.status, ALOFT_OK);
}

/* ---- wants ---- */

static aloft_loop_wants wants_of(fixture *f) {
  aloft_loop_wants wants = {.size = sizeof wants};
  assert_int_equal(aloft_loop_get_wants(f->loop, &wants), ALOFT_OK);
  return wants;
}

/* Turns until nothing more is due at once: libuv's first runs. */
static void settle(fixture *f) {
  for (int turns = 0; wants_of(f).deadline_ns == 0; turns++) {
    assert_true(turns < 10);
    assert_int_equal(aloft_loop_turn(f->loop, 0), ALOFT_OK);
  }
}

static bool readable(const aloft_loop_wants *wants) {
  struct pollfd look = {.fd = wants->descriptor, .events = wants->events};
  return poll(&look, 1, 0) == 1;
}

static void test_wants(void **state) {
  (void)state;
  fixture *f = begin(NULL);
  aloft_loop_wants wants = {.size = 3};
  assert_int_equal(aloft_loop_get_wants(f->loop, &wants), ALOFT_ARGUMENT);
  settle(f);
  wants = wants_of(f);
  assert_true(wants.descriptor >= 0);
  assert_int_equal(wants.events, POLLIN);
  assert_true(wants.deadline_ns == ALOFT_FOREVER && wants.timeout_ns == ALOFT_FOREVER);
  assert_int_equal(wants.timeout_ms, -1);
  assert_false(readable(&wants));

  harness_op nap = sleep_of(f, ALOFT_SECONDS(3600));
  assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
  wants = wants_of(f); /* the wheel looks again earlier, see wheel.h */
  assert_in_range(wants.timeout_ns, 1, ALOFT_SECONDS(3601));
  assert_true(wants.deadline_ns > aloft_loop_now(f->loop) && wants.deadline_ns != ALOFT_FOREVER);
  assert_int_equal(wants.timeout_ms, (wants.timeout_ns + 999999) / 1000000);
  assert_int_equal(aloft_op_cancel(&nap.op), ALOFT_OK);
  wants = wants_of(f);
  assert_true(wants.deadline_ns == 0 && wants.timeout_ns == 0 && wants.timeout_ms == 0);
  settle(f);
  assert_int_equal(nap.done_count, 1);

  nap.op.timeout_ns = ALOFT_SECONDS(86400) * 365;
  assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
  wants = wants_of(f);
  assert_int_equal(wants.timeout_ms, INT32_MAX); /* poll's longest wait, then asked again */
  assert_int_equal(aloft_op_cancel(&nap.op), ALOFT_OK);
  settle(f);
  end(f);
}

static void run_nothing(aloft_post *post) {
  (void)post;
}

static void test_wants_of_a_post(void **state) {
  (void)state;
  fixture *f = begin(NULL);
  aloft_post post = {.run = run_nothing};
  settle(f);
  aloft_loop_wants before = wants_of(f);
  aloft_loop_post(f->loop, &post);
  assert_true(readable(&before)); /* also for one that does not ask again: another thread's */
  assert_int_equal(wants_of(f).timeout_ms, 0);
  settle(f);
  assert_false(readable(&before));
  end(f);
}

static void ask_inside(aloft_op *op, aloft_status status) {
  aloft_loop_wants wants = {.size = sizeof wants};
  aloft_loop *loop = ALOFT_CONTAINER(op, harness_op, op)->loop;
  assert_int_equal(aloft_loop_get_wants(loop, &wants), ALOFT_WRONG_STATE);
  harness_op_done(op, status);
}

static void test_wants_inside_a_callback(void **state) {
  (void)state;
  fixture *f = begin(NULL);
  harness_op nap = sleep_of(f, 1);
  nap.op.done = ask_inside;
  assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
  assert_int_equal(aloft_wait(f->loop, &nap.op), ALOFT_TIMEOUT);
  end(f);
}

static void test_no_wants_in_virtual_time(void **state) {
  (void)state;
  harness_loop at;
  aloft_loop_wants wants = {.size = sizeof wants};
  harness_loop_open(&at, true, 1, NULL);
  assert_int_equal(aloft_loop_get_wants(at.loop, &wants), ALOFT_UNSUPPORTED);
  for (size_t i = 0; harness_foreigns[i]; i++) {
    harness_foreigns[i]->open();
    assert_int_equal(harness_foreigns[i]->attach(at.loop), ALOFT_UNSUPPORTED);
    assert_false(harness_foreigns[i]->attached());
    harness_foreigns[i]->detach();
    harness_foreigns[i]->close();
  }
  harness_loop_close(&at);
}

/* ---- changes ---- */

static unsigned told;

static void count_change(aloft_loop *loop, void *context) {
  assert_ptr_equal(loop, ((fixture *)context)->loop);
  assert_false(loop->turning);
  told++;
}

/* How often since the last time; the wants are asked for again. */
static unsigned changes(fixture *f) {
  unsigned count = told;
  (void)wants_of(f);
  told = 0;
  return count;
}

static void test_changes(void **state) {
  (void)state;
  fixture *f = begin(NULL);
  harness_op nap = sleep_of(f, ALOFT_SECONDS(3600)), other = nap;
  settle(f);
  told = 0;
  aloft_loop_on_change(f->loop, count_change, f);
  assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
  assert_int_equal(aloft_sleep_start(f->loop, &other.op), ALOFT_OK);
  assert_int_equal(changes(f), 1); /* once, until asked for again */
  assert_int_equal(changes(f), 0);
  assert_int_equal(aloft_op_cancel(&nap.op), ALOFT_OK);
  assert_int_equal(changes(f), 1);
  assert_int_equal(aloft_loop_turn(f->loop, 0), ALOFT_OK);
  assert_int_equal(nap.done_count, 1);
  assert_int_equal(changes(f), 1); /* the end of the turn */
  nap.op.timeout_ns = 1;
  assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
  assert_int_equal(changes(f), 1);
  assert_int_equal(aloft_wait(f->loop, &nap.op), ALOFT_TIMEOUT);
  assert_int_equal(changes(f), 1);
  aloft_loop_on_change(f->loop, NULL, NULL);
  assert_int_equal(aloft_op_cancel(&other.op), ALOFT_OK);
  assert_int_equal(aloft_loop_turn(f->loop, 0), ALOFT_OK);
  assert_int_equal(told, 0);
  aloft_loop_on_change(f->loop, count_change, f);
  told = 0;
  end(f);
  assert_int_equal(told, 0); /* closing tells nobody */
}

static void test_changes_of_connections(void **state) {
  (void)state;
  fixture *f = begin(NULL);
  settle(f);
  aloft_loop_on_change(f->loop, count_change, f);
  told = 0;
  nats_toy_open(&f->toy, f->loop, NULL);
  assert_int_equal(changes(f), 1); /* it listens */
  const aloft_nats_config config = {.size = sizeof config, .url = aloft_text_of(f->toy.url)};
  harness_op op = {.op = {.done = harness_op_done}};
  settle(f);
  told = 0;
  assert_int_equal(aloft_nats_open(&f->nats, f->loop, &config, &op.op), ALOFT_OK);
  assert_int_equal(changes(f), 1);
  assert_int_equal(wants_of(f).deadline_ns, 0);
  assert_int_equal(aloft_wait(f->loop, &op.op), ALOFT_OK);
  settle(f);
  told = 0;
  const aloft_nats_message message = {.subject = ALOFT_TEXT("a"), .data = {"x", 1}};
  assert_int_equal(aloft_nats_publish(f->nats, &message), ALOFT_OK); /* output, no deadline */
  assert_int_equal(aloft_nats_publish(f->nats, &message), ALOFT_OK);
  assert_int_equal(changes(f), 1);
  assert_int_equal(wants_of(f).deadline_ns, 0);
  settle(f);
  nats_toy_pause(&f->toy, true); /* no more interest: nothing is due */
  settle(f);
  told = 0;
  nats_toy_pause(&f->toy, false); /* libuv has taken the socket out of its epoll */
  assert_int_equal(changes(f), 1);
  assert_int_equal(wants_of(f).deadline_ns, 0);
  settle(f);
  told = 0;
  nats_toy_close(&f->toy); /* libuv lets go of what is closed when it runs */
  assert_int_equal(changes(f), 1);
  assert_int_equal(wants_of(f).deadline_ns, 0);
  end(f);
}

/* ---- starts from a callback of the foreign loop ---- */

typedef struct asked {
  aloft_nats_request request;
  fixture *f;
  unsigned done_count;
  aloft_status status;
} asked;

static void answered(aloft_op *op, aloft_status status) {
  asked *own = ALOFT_CONTAINER(op, asked, request.op);
  own->done_count++;
  own->status = status;
}

static asked request_of(fixture *f, const char *subject) {
  return (asked){.request = {.op = {.done = answered},
                             .subject = aloft_text_of(subject),
                             .data = {"hello", 5}},
                 .f = f};
}

static void start_request(void *context) {
  asked *own = context;
  assert_int_equal(aloft_nats_request_start(own->f->nats, &own->request), ALOFT_OK);
}

static void start_sleep(void *context) {
  harness_op *own = context;
  assert_int_equal(aloft_sleep_start(own->loop, &own->op), ALOFT_OK);
}

static void cancel_sleep(void *context) {
  assert_int_equal(aloft_op_cancel(&((harness_op *)context)->op), ALOFT_OK);
}

static void test_timer_with_nothing_else(void **state) {
  fixture *f = begin(state);
  harness_op nap = sleep_of(f, ALOFT_MILLISECONDS(5));
  for (unsigned i = 1; i <= 3; i++) {
    assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
    uint64_t due = nap.op.own.due_ns;
    RUN_UNTIL(f, nap.done_count == i);
    assert_int_equal(nap.status, ALOFT_TIMEOUT);
    assert_true(nap.at_ns >= due);
  }
  end(f);
}

/* With a later deadline set before, and with none. */
static void test_start_from_a_foreign_callback(void **state) {
  fixture *f = begin(state);
  harness_op later = sleep_of(f, ALOFT_SECONDS(3600)), nap = sleep_of(f, ALOFT_MILLISECONDS(5));
  f->foreign->after(2, start_sleep, &nap);
  RUN_UNTIL(f, nap.done_count == 1);
  assert_int_equal(aloft_sleep_start(f->loop, &later.op), ALOFT_OK);
  f->foreign->after(2, start_sleep, &nap);
  RUN_UNTIL(f, nap.done_count == 2);
  f->foreign->after(2, cancel_sleep, &later);
  RUN_UNTIL(f, later.done_count == 1);
  assert_int_equal(later.status, ALOFT_CANCELLED);
  end(f);
}

/* What is started between the asking and the wait ends the wait. */
static void test_start_before_the_wait(void **state) {
  fixture *f = begin(state);
  harness_op nap = sleep_of(f, ALOFT_MILLISECONDS(2));
  if (f->foreign->before_wait) {
    while (wants_of(f).deadline_ns == 0)
      assert_int_equal(f->foreign->iterate(-1), ALOFT_OK);
    f->foreign->before_wait(start_sleep, &nap);
    RUN_UNTIL(f, nap.done_count);
  }
  end(f);
}

static void test_request_from_a_foreign_callback(void **state) {
  fixture *f = begin(state);
  connect_by(f, "127.0.0.1");
  asked one = request_of(f, "toy.echo");
  for (unsigned i = 1; i <= 5; i++) {
    f->foreign->after(i % 2 ? 0 : 2, start_request, &one);
    RUN_UNTIL(f, one.done_count == i);
    assert_int_equal(one.status, ALOFT_OK);
  }
  nats_toy_close(&f->toy);
  end(f);
}

static void test_name_resolution(void **state) {
  fixture *f = begin(state);
  connect_by(f, "localhost");
  nats_toy_close(&f->toy);
  end(f);
}

/* ---- other threads ---- */

enum { FIRES = 300, POSTERS = 3, POSTS = 1000 };

typedef struct firing {
  aloft_cancel cancel;
  sem_t go;
} firing;

static void *fire_when_told(void *context) {
  firing *own = context;
  for (int i = 0; i < FIRES; i++) {
    sem_wait(&own->go);
    aloft_cancel_fire(&own->cancel);
  }
  return NULL;
}

static void test_cancel_from_another_thread(void **state) {
  fixture *f = begin(state);
  firing own;
  pthread_t thread;
  assert_int_equal(sem_init(&own.go, 0, 0), 0);
  assert_int_equal(pthread_create(&thread, NULL, fire_when_told, &own), 0);
  for (int i = 0; i < FIRES; i++) {
    harness_op nap = sleep_of(f, ALOFT_SECONDS(3600));
    aloft_cancel_init(&own.cancel, f->loop, NULL);
    nap.op.cancel = &own.cancel;
    assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
    assert_int_equal(f->foreign->iterate(0), ALOFT_OK);
    sem_post(&own.go);
    RUN_UNTIL(f, nap.done_count);
    assert_int_equal(nap.status, ALOFT_CANCELLED);
    aloft_cancel_fini(&own.cancel);
  }
  pthread_join(thread, NULL);
  sem_destroy(&own.go);
  end(f);
}

typedef struct poster {
  aloft_post posts[POSTS];
  aloft_loop *loop;
} poster;

static unsigned posts_run;

static void count_post(aloft_post *post) {
  (void)post;
  posts_run++;
}

/* In a thread of its own, so that only the descriptor tells of it. */
static void *post_alone(void *context) {
  static aloft_post post = {.run = count_post};
  aloft_loop_post(((fixture *)context)->loop, &post);
  return NULL;
}

static pthread_t posting_thread;

static void post_one(void *context) {
  assert_int_equal(pthread_create(&posting_thread, NULL, post_alone, context), 0);
}

static void *post_all(void *context) {
  poster *own = context;
  for (size_t i = 0; i < POSTS; i++) {
    own->posts[i].run = count_post;
    aloft_loop_post(own->loop, &own->posts[i]);
  }
  return NULL;
}

static void test_posts_from_threads(void **state) {
  static poster posters[POSTERS];
  pthread_t threads[POSTERS];
  fixture *f = begin(state);
  posts_run = 0;
  memset(posters, 0, sizeof posters);
  for (size_t i = 0; i < POSTERS; i++) {
    posters[i].loop = f->loop;
    assert_int_equal(pthread_create(&threads[i], NULL, post_all, &posters[i]), 0);
  }
  RUN_UNTIL(f, posts_run == POSTERS * POSTS);
  for (size_t i = 0; i < POSTERS; i++)
    pthread_join(threads[i], NULL);
  end(f);
}

/* ---- living together ---- */

typedef struct ticker {
  fixture *f;
  unsigned count;
  bool stop;
} ticker;

static void tick(void *context) {
  ticker *own = context;
  own->count++;
  if (!own->stop)
    own->f->foreign->after(0, tick, own);
}

static unsigned posts_again;
static aloft_loop *posting_loop;

static void post_again(aloft_post *post) {
  posts_again++;
  if (posting_loop)
    aloft_loop_post(posting_loop, post);
}

/* Neither a foreign loop that is always busy nor this one keeps the other from its work. */
static void test_both_are_busy(void **state) {
  fixture *f = begin(state);
  connect_by(f, "127.0.0.1");
  ticker ticking = {.f = f};
  aloft_post post = {.run = post_again};
  harness_op nap = sleep_of(f, ALOFT_MILLISECONDS(20));
  asked one = request_of(f, "toy.echo");
  posts_again = 0;
  posting_loop = f->loop;
  aloft_loop_post(f->loop, &post);
  tick(&ticking);
  start_request(&one);
  start_sleep(&nap);
  RUN_UNTIL(f, nap.done_count && one.done_count && ticking.count > 20 && posts_again > 20);
  assert_int_equal(one.status, ALOFT_OK);
  posting_loop = NULL;
  ticking.stop = true;
  unsigned count = ticking.count;
  RUN_UNTIL(f, ticking.count > count);
  nats_toy_close(&f->toy);
  end(f);
}

/* Waiting for a deadline is waiting: no iteration after iteration. */
static void test_waiting_is_not_busy(void **state) {
  fixture *f = begin(state);
  harness_op nap = sleep_of(f, ALOFT_MILLISECONDS(60));
  while (wants_of(f).deadline_ns == 0)
    assert_int_equal(f->foreign->iterate(-1), ALOFT_OK);
  start_sleep(&nap);
  unsigned iterations = 0;
  for (; !nap.done_count; iterations++)
    assert_int_equal(f->foreign->iterate(-1), ALOFT_OK);
  assert_in_range(iterations, 1, 30); /* libevent's clock is coarse: a few more than two */
  end(f);
}

static void resume_toy(void *context) {
  nats_toy_pause(&((fixture *)context)->toy, false);
}

/* The socket is full, and there is interest in it to be written to and then no more. */
static void test_output_that_blocks(void **state) {
  enum { SIZE = 1 << 20, MESSAGES = 16 };
  fixture *f = begin(state);
  connect_by(f, "127.0.0.1");
  harness_op flushed = {.op = {.done = harness_op_done}};
  char *data = calloc(1, SIZE);
  assert_non_null(data);
  const aloft_nats_message message = {.subject = ALOFT_TEXT("a"), .data = {data, SIZE - 100}};
  for (unsigned round = 1; round <= 2; round++) {
    nats_toy_pause(&f->toy, true);
    for (int i = 0; i < MESSAGES; i++)
      assert_int_equal(aloft_nats_publish(f->nats, &message), ALOFT_OK);
    assert_int_equal(aloft_nats_flush(f->nats, &flushed.op), ALOFT_OK);
    while (wants_of(f).deadline_ns == 0)
      assert_int_equal(f->foreign->iterate(-1), ALOFT_OK);
    aloft_nats_info info = {.size = sizeof info};
    aloft_nats_get_info(f->nats, &info);
    assert_true(info.tx_bytes > 0);
    f->foreign->after(1, resume_toy, f);
    RUN_UNTIL(f, flushed.done_count == round);
    assert_int_equal(flushed.status, ALOFT_OK);
  }
  assert_int_equal(f->toy.publications, 2 * MESSAGES);
  free(data);
  nats_toy_close(&f->toy);
  end(f);
}

/* ---- turns of one's own ---- */

typedef struct waiting {
  fixture *f;
  harness_op nap, next;
} waiting;

static void start_next(aloft_op *op, aloft_status status) {
  waiting *own = ALOFT_CONTAINER(op, waiting, nap.op);
  harness_op_done(op, status);
  start_sleep(&own->next);
}

static void wait_here(void *context) {
  waiting *own = context;
  if (aloft_op_in_flight(&own->nap.op)) /* else this callback was held up */
    assert_int_equal(aloft_wait(own->f->loop, &own->nap.op), ALOFT_TIMEOUT);
}

/* A callback of the foreign loop waits for an operation itself; what that turn has started is not
 * forgotten. */
static void test_wait_in_a_foreign_callback(void **state) {
  fixture *f = begin(state);
  waiting own = {f, sleep_of(f, ALOFT_MILLISECONDS(20)), sleep_of(f, ALOFT_MILLISECONDS(3))};
  own.nap.op.done = start_next;
  start_sleep(&own.nap);
  f->foreign->after(1, wait_here, &own);
  RUN_UNTIL(f, own.next.done_count);
  end(f);
}

/* ---- a foreign loop inside a callback of this one ---- */

static fixture *inside; /* for callbacks */

static void set_flag(void *context) {
  *(bool *)context = true;
}

/* What is posted makes the descriptor readable, which nobody can serve before the turn is over. */
static void iterate_inside(aloft_op *op, aloft_status status) {
  static aloft_post post = {.run = count_post};
  bool flag = false;
  unsigned iterations = 0;
  harness_op_done(op, status);
  aloft_loop_post(inside->loop, &post);
  inside->foreign->after(20, set_flag, &flag);
  while (!flag) {
    assert_int_equal(inside->foreign->iterate(-1), ALOFT_OK);
    iterations++;
  }
  assert_in_range(iterations, 1, 10);
  assert_int_equal(posts_run, 0);
}

static void test_nested_foreign_loop(void **state) {
  fixture *f = begin(state);
  harness_op nap = sleep_of(f, ALOFT_MILLISECONDS(1)), other = nap;
  inside = f;
  nap.op.done = iterate_inside;
  posts_run = 0;
  if (f->foreign->nests) {
    start_sleep(&nap);
    RUN_UNTIL(f, nap.done_count && posts_run == 1);
    assert_int_equal(aloft_sleep_start(f->loop, &other.op), ALOFT_OK);
    RUN_UNTIL(f, other.done_count);
    f->foreign->after(1, post_one, f);
    RUN_UNTIL(f, posts_run == 2);
    pthread_join(posting_thread, NULL);
  }
  end(f);
}

/* ---- detach and close ---- */

static void detach_inside(aloft_op *op, aloft_status status) {
  harness_op_done(op, status);
  assert_int_equal(aloft_loop_turn(inside->loop, 0), ALOFT_WRONG_STATE);
  inside->foreign->detach();
  assert_false(inside->foreign->attached());
  assert_null(inside->loop->changed); /* the adapter's memory may go */
  assert_int_equal(inside->foreign->attach(inside->loop), ALOFT_WRONG_STATE);
}

static void test_detach_in_a_callback(void **state) {
  fixture *f = begin(state);
  harness_op nap = sleep_of(f, ALOFT_MILLISECONDS(1)), other = sleep_of(f, ALOFT_MILLISECONDS(2));
  bool flag = false;
  inside = f;
  nap.op.done = detach_inside;
  start_sleep(&nap);
  RUN_UNTIL(f, nap.done_count);
  start_sleep(&other);
  f->foreign->after(20, set_flag, &flag);
  RUN_UNTIL(f, flag);
  assert_int_equal(other.done_count, 0); /* nobody turns it */
  assert_int_equal(aloft_wait(f->loop, &other.op), ALOFT_TIMEOUT);
  assert_int_equal(f->foreign->attach(f->loop), ALOFT_OK);
  start_sleep(&other);
  RUN_UNTIL(f, other.done_count == 2);
  f->foreign->detach();
  f->foreign->detach(); /* of none: nothing */
  assert_int_equal(f->foreign->close_loop(), ALOFT_OK);
  end(f);
}

/* The foreign loop goes first, and the loop lives on. */
static void test_foreign_loop_ends_first(void **state) {
  fixture *f = begin(state);
  harness_op nap = sleep_of(f, ALOFT_MILLISECONDS(1));
  start_sleep(&nap);
  f->foreign->detach();
  f->foreign->close();
  assert_int_equal(aloft_wait(f->loop, &nap.op), ALOFT_TIMEOUT);
  f->foreign = NULL;
  end(f);
}

static void close_inside(aloft_op *op, aloft_status status) {
  harness_op_done(op, status);
  assert_int_equal(inside->foreign->close_loop(), ALOFT_WRONG_STATE);
  assert_true(inside->foreign->attached());
}

static void close_here(void *context) {
  assert_int_equal(((fixture *)context)->foreign->close_loop(), ALOFT_OK);
}

static void test_close_with_operations_in_flight(void **state) {
  fixture *f = begin(state);
  connect_by(f, "127.0.0.1");
  aloft_nats *other = NULL;
  const aloft_nats_config config = {.size = sizeof config, .url = ALOFT_TEXT("localhost:1")};
  harness_op first = sleep_of(f, ALOFT_MILLISECONDS(1)), nap = sleep_of(f, ALOFT_SECONDS(3600));
  harness_op opening = {.op = {.done = harness_op_done}};
  asked one = request_of(f, "toy.never");
  inside = f;
  first.op.done = close_inside;
  start_sleep(&first);
  start_sleep(&nap);
  start_request(&one);
  RUN_UNTIL(f, first.done_count);
  assert_int_equal(aloft_nats_open(&other, f->loop, &config, &opening.op), ALOFT_OK);
  nats_toy_close(&f->toy);
  close_here(f);
  assert_false(f->foreign->attached());
  assert_int_equal(nap.done_count + one.done_count + opening.done_count, 3);
  assert_int_equal(nap.status, ALOFT_CLOSED);
  assert_int_equal(one.status, ALOFT_CLOSED);
  assert_int_equal(opening.status, ALOFT_CLOSED);
  f->loop = NULL;
  end(f);
}

static void test_close_in_a_foreign_callback(void **state) {
  fixture *f = begin(state);
  bool flag = false;
  harness_op nap = sleep_of(f, ALOFT_SECONDS(3600));
  start_sleep(&nap);
  f->foreign->after(1, close_here, f);
  RUN_UNTIL(f, nap.done_count);
  assert_int_equal(nap.status, ALOFT_CLOSED);
  f->loop = NULL;
  f->foreign->after(5, set_flag, &flag); /* the foreign loop goes on without it */
  RUN_UNTIL(f, flag);
  end(f);
}

/* ---- a turn that fails ---- */

static const alo_driver_methods *real;
static unsigned waits;

static int wait_fails(alo_driver *driver, uint64_t deadline_ns) {
  (void)driver;
  (void)deadline_ns;
  waits++;
  return -EBADF;
}

/* It is turned once; not again and again, and not for what is started then. */
static void test_failure_is_told(void **state) {
  fixture *f = begin(state);
  bool flag = false;
  harness_op nap = sleep_of(f, ALOFT_MILLISECONDS(1)), other = nap;
  real = f->loop->driver->methods;
  alo_driver_methods failing = *real;
  failing.wait = wait_fails;
  f->loop->driver->methods = &failing;
  start_sleep(&nap);
  waits = 0;
  aloft_status status = ALOFT_OK;
  while (status == ALOFT_OK)
    status = f->foreign->iterate(-1);
  assert_int_equal(status, ALOFT_SYSTEM);
  f->foreign->after(20, set_flag, &flag);
  start_sleep(&other);
  while (!flag)
    f->foreign->iterate(-1);
  assert_int_equal(waits, 1);
  f->loop->driver->methods = real;
  end(f);
}

/* Without ALOFT_TEST_LOOP: what needs no foreign loop. With it: that one's adapter. */
int main(void) {
  static const harness_foreign *foreign;
  foreign = harness_foreign_chosen();
  const struct CMUnitTest plain[] = {
      cmocka_unit_test(test_wants),
      cmocka_unit_test(test_wants_of_a_post),
      cmocka_unit_test(test_wants_inside_a_callback),
      cmocka_unit_test(test_no_wants_in_virtual_time),
      cmocka_unit_test(test_changes),
      cmocka_unit_test(test_changes_of_connections),
  };
  const struct CMUnitTest adapter[] = {
      cmocka_unit_test(test_timer_with_nothing_else),
      cmocka_unit_test(test_start_from_a_foreign_callback),
      cmocka_unit_test(test_start_before_the_wait),
      cmocka_unit_test(test_request_from_a_foreign_callback),
      cmocka_unit_test(test_name_resolution),
      cmocka_unit_test(test_cancel_from_another_thread),
      cmocka_unit_test(test_posts_from_threads),
      cmocka_unit_test(test_both_are_busy),
      cmocka_unit_test(test_waiting_is_not_busy),
      cmocka_unit_test(test_output_that_blocks),
      cmocka_unit_test(test_wait_in_a_foreign_callback),
      cmocka_unit_test(test_nested_foreign_loop),
      cmocka_unit_test(test_detach_in_a_callback),
      cmocka_unit_test(test_foreign_loop_ends_first),
      cmocka_unit_test(test_close_with_operations_in_flight),
      cmocka_unit_test(test_close_in_a_foreign_callback),
      cmocka_unit_test(test_failure_is_told),
  };
  if (!foreign)
    return cmocka_run_group_tests(plain, NULL, NULL);
  return cmocka_run_group_tests_name(foreign->name, adapter, NULL, NULL);
}
