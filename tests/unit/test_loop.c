/* The loop on the uv driver and on sim: its turn, its ends, its clock. */
// labels: threads
#include <stdarg.h>
#include <setjmp.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "harness_loop.h"
#include "heap.h"
#include "stream.h"
#include "timer.h"

static char trail[64];
static size_t trail_size;

static void note(char letter) {
  if (trail_size < sizeof trail - 1)
    trail[trail_size++] = letter;
}

typedef struct fixture {
  harness_loop at;
  aloft_loop *loop;
  bool sim;
} fixture;

static unsigned waits;
static alo_driver_methods counted;
static const alo_driver_methods *real;

static int count_wait(alo_driver *driver, uint64_t deadline_ns) {
  waits++;
  return real->wait(driver, deadline_ns);
}

static fixture *begin(void **state) {
  static fixture place;
  memset(&place, 0, sizeof place);
  memset(trail, 0, sizeof trail);
  trail_size = 0;
  place.sim = *(bool *)*state;
  harness_loop_open(&place.at, place.sim, 1, NULL);
  place.loop = place.at.loop;
  real = place.loop->driver->methods;
  counted = *real;
  counted.wait = count_wait;
  place.loop->driver->methods = &counted;
  waits = 0;
  return &place;
}

static void end(fixture *f) {
  harness_loop_close(&f->at);
}

static harness_op sleep_of(fixture *f, uint64_t timeout_ns) {
  return (harness_op){.op = {.done = harness_op_done, .timeout_ns = timeout_ns}, .loop = f->loop};
}

/* ---- the turn ---- */

static void input_ready(alo_watch *watch, unsigned events) {
  (void)watch;
  (void)events;
  note('i');
}

static void posted_run(aloft_item *item) {
  (void)item;
  note('p');
}

static void deadline_due(alo_timer *timer) {
  (void)timer;
  note('d');
}

static void completed(aloft_op *op, aloft_status status) {
  (void)op;
  (void)status;
  note('c');
}

static void output_write(alo_output *output) {
  (void)output;
  note('o');
}

static aloft_loop *late_loop;
static alo_output late_output = {.write = output_write};
static void completed_with_output(aloft_op *op, aloft_status status) {
  completed(op, status);
  alo_loop_output(late_loop, &late_output);
}

static void test_turn_order(void **state) {
  fixture *f = begin(state);
  late_loop = f->loop;
  alo_watch watch = {input_ready}, client = {input_ready};
  alo_socket *listener, *dialled;
  alo_address at = {.in = {.sin_family = AF_INET}}, bound;
  at.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  alo_driver *driver = f->loop->driver;
  assert_int_equal(real->listen(driver, &at, &watch, &listener, &bound), 0);
  assert_int_equal(real->connect(driver, &bound, &client, &dialled), 0);
  real->interest(dialled, 0);
  if (f->sim)
    real->interest(dialled, ALO_WRITABLE); /* decided when it is looked at */
  static const alo_item_kind posted_kind = {posted_run};
  aloft_item item = {.kind = &posted_kind};
  alo_timer timer;
  memset(&timer, 0, sizeof timer);
  harness_op nap = sleep_of(f, 1);
  nap.op.done = completed_with_output;
  assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
  alo_timer_set(&f->loop->ops, &timer, 1, deadline_due);
  while (real->now(driver) < nap.op.own.due_ns + ALOFT_MILLISECONDS(2))
    if (f->sim)
      alo_sim_pass(f->at.sim, ALOFT_MILLISECONDS(5));
  alo_ops_post(&f->loop->ops, &item);
  assert_int_equal(aloft_loop_turn(f->loop, 0), ALOFT_OK);
  char *letters = trail;
  while (letters[0] == 'i' && letters[1] == 'i') /* both ends of the connection */
    letters++;
  assert_string_equal(letters, "ipdco");
  real->shut(dialled);
  real->shut(listener);
  end(f);
}

static harness_op started_inside;

static void turn_inside(aloft_op *op, aloft_status status) {
  harness_op *own = ALOFT_CONTAINER(op, harness_op, op);
  started_inside = (harness_op){.op = {.done = harness_op_done, .timeout_ns = 1}};
  assert_int_equal(aloft_loop_turn(own->loop, 0), ALOFT_WRONG_STATE);
  assert_int_equal(aloft_loop_run(own->loop), ALOFT_WRONG_STATE);
  assert_int_equal(aloft_sleep_start(own->loop, &started_inside.op), ALOFT_OK);
  assert_int_equal(aloft_wait(own->loop, &started_inside.op), ALOFT_WRONG_STATE);
  assert_int_equal(aloft_op_cancel(&started_inside.op), ALOFT_OK);
  assert_int_equal(started_inside.done_count, 0);
  aloft_loop_close(own->loop); /* refused too */
  harness_op_done(op, status);
}

static void test_no_turn_inside_a_callback(void **state) {
  fixture *f = begin(state);
  harness_op nap = sleep_of(f, 1);
  nap.op.done = turn_inside;
  assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
  assert_int_equal(aloft_wait(f->loop, &nap.op), ALOFT_TIMEOUT);
  assert_int_equal(aloft_loop_run(f->loop), ALOFT_OK);
  assert_int_equal(started_inside.done_count, 1);
  assert_int_equal(started_inside.status, ALOFT_CANCELLED);
  end(f);
}

/* ---- wait, run, stop, sleep ---- */

static void test_sleep_and_wait(void **state) {
  fixture *f = begin(state);
  harness_op nap = sleep_of(f, 0);
  assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_ARGUMENT);
  assert_int_equal(aloft_wait(f->loop, &nap.op), ALOFT_WRONG_STATE);
  nap.op.timeout_ns = ALOFT_MILLISECONDS(3);
  uint64_t begun = real->now(f->loop->driver);
  assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
  assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_IN_USE);
  assert_int_equal(aloft_wait(f->loop, &nap.op), ALOFT_TIMEOUT);
  assert_int_equal(nap.done_count, 1);
  assert_true(nap.at_ns >= begun + ALOFT_MILLISECONDS(3));
  aloft_cancel cancel;
  aloft_cancel_init(&cancel, f->loop, NULL);
  nap.op.cancel = &cancel;
  nap.op.timeout_ns = ALOFT_SECONDS(1000);
  assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
  aloft_cancel_fire(&cancel);
  assert_int_equal(aloft_wait(f->loop, &nap.op), ALOFT_CANCELLED);
  aloft_cancel_fini(&cancel);
  end(f);
}

/* A start that is refused does not write over the status of what is in flight. */
static void test_sleep_refused_in_flight(void **state) {
  fixture *f = begin(state);
  harness_op nap = sleep_of(f, ALOFT_MILLISECONDS(1));
  nap.op.status = ALOFT_PENDING;
  assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
  nap.op.timeout_ns = 0;
  assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_IN_USE);
  assert_int_equal(nap.op.status, ALOFT_PENDING);
  assert_int_equal(aloft_wait(f->loop, &nap.op), ALOFT_TIMEOUT);
  end(f);
}

static void test_run_ends_when_nothing_is_left(void **state) {
  fixture *f = begin(state);
  assert_int_equal(aloft_loop_run(f->loop), ALOFT_OK);
  assert_int_equal(waits, 0);
  harness_op naps[3] = {sleep_of(f, ALOFT_MILLISECONDS(1)), sleep_of(f, ALOFT_MILLISECONDS(4)),
                        sleep_of(f, ALOFT_MILLISECONDS(2))};
  for (size_t i = 0; i < 3; i++)
    assert_int_equal(aloft_sleep_start(f->loop, &naps[i].op), ALOFT_OK);
  assert_int_equal(aloft_loop_run(f->loop), ALOFT_OK);
  assert_int_equal(naps[0].done_count + naps[1].done_count + naps[2].done_count, 3);
  assert_true(naps[0].at_ns <= naps[2].at_ns && naps[2].at_ns <= naps[1].at_ns);
  end(f);
}

static void stop_it(aloft_op *op, aloft_status status) {
  harness_op_done(op, status);
  aloft_loop_stop(ALOFT_CONTAINER(op, harness_op, op)->loop);
}

static void test_stop(void **state) {
  fixture *f = begin(state);
  harness_op nap = sleep_of(f, 1), later = sleep_of(f, ALOFT_SECONDS(3600));
  nap.op.done = stop_it;
  assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
  assert_int_equal(aloft_sleep_start(f->loop, &later.op), ALOFT_OK);
  assert_int_equal(aloft_loop_run(f->loop), ALOFT_OK);
  assert_int_equal(later.done_count, 0);
  end(f); /* with a sleep open */
  assert_int_equal(later.done_count, 1);
  assert_int_equal(later.status, ALOFT_CLOSED);
}

/* ---- waiting ---- */

/* On virtual time: never early, within a tick, and with one wait for each deadline. */
static void test_wake_up_is_exact(void **state) {
  fixture *f = begin(state);
  if (!f->sim) {
    end(f);
    skip();
  }
  static const uint64_t times[] = {1,
                                   999999,
                                   1000000,
                                   1000001,
                                   7654321,
                                   63000000,
                                   64000000,
                                   64000001,
                                   4096000000,
                                   262144000001,
                                   86400000000000,
                                   604800000000001,
                                   31536000000000000};
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
    harness_op nap = sleep_of(f, times[i]);
    uint64_t begun = real->now(f->loop->driver);
    waits = 0;
    assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
    assert_int_equal(aloft_wait(f->loop, &nap.op), ALOFT_TIMEOUT);
    assert_in_range(nap.at_ns, begun + times[i], begun + times[i] + ALOFT_MILLISECONDS(1));
    assert_in_range(waits, 1, 11); /* one for each level of the wheel at most */
  }
  end(f);
}

static void test_a_wait_is_not_busy(void **state) {
  fixture *f = begin(state);
  harness_op nap = sleep_of(f, ALOFT_MILLISECONDS(60));
  waits = 0;
  assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
  assert_int_equal(aloft_wait(f->loop, &nap.op), ALOFT_TIMEOUT);
  assert_in_range(waits, 1, 6);
  end(f);
}

/* What is due when the wait begins, or becomes due as it begins, ends it. */
static void test_a_past_deadline_ends_a_wait(void **state) {
  fixture *f = begin(state);
  alo_driver *driver = f->loop->driver;
  assert_int_equal(real->wait(driver, 1), 0);
  assert_int_equal(real->wait(driver, real->now(driver)), 0);
  for (int i = 0; i < 300; i++)
    assert_int_equal(real->wait(driver, real->now(driver) + (uint64_t)i * 7000), 0);
  end(f);
}

static void test_turn_waits_no_longer_than_asked(void **state) {
  fixture *f = begin(state);
  harness_op nap = sleep_of(f, ALOFT_SECONDS(3600));
  assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
  uint64_t begun = real->now(f->loop->driver);
  assert_int_equal(aloft_loop_turn(f->loop, 0), ALOFT_OK);
  if (f->sim)
    assert_int_equal(real->now(f->loop->driver), begun);
  assert_int_equal(aloft_loop_turn(f->loop, ALOFT_MILLISECONDS(5)), ALOFT_OK);
  if (f->sim)
    assert_int_equal(real->now(f->loop->driver), begun + ALOFT_MILLISECONDS(5));
  assert_int_equal(nap.done_count, 0);
  assert_int_equal(aloft_op_cancel(&nap.op), ALOFT_OK);
  assert_int_equal(aloft_loop_turn(f->loop, ALOFT_FOREVER), ALOFT_OK); /* does not wait: pending */
  assert_int_equal(nap.done_count, 1);
  if (f->sim) /* nothing could ever happen */
    assert_int_equal(aloft_loop_turn(f->loop, ALOFT_FOREVER), ALOFT_SYSTEM);
  end(f);
}

/* ---- posting ---- */

typedef struct counted_post {
  aloft_post post;
  unsigned runs;
  unsigned value; /* written by the poster before it posts */
  aloft_loop *loop;
  bool again;
} counted_post;

static void post_ran(aloft_post *post) {
  counted_post *own = ALOFT_CONTAINER(post, counted_post, post);
  assert_int_equal(aloft_loop_turn(own->loop, 0), ALOFT_WRONG_STATE);
  own->runs++;
  if (own->again)
    aloft_loop_post(own->loop, post);
}

enum { POSTERS = 3, POSTS = 3000 };

typedef struct poster {
  counted_post posts[8];
  aloft_loop *loop;
  counted_post *shared;
} poster;

static void *post_many(void *context) {
  poster *own = context;
  for (unsigned i = 0; i < POSTS; i++) {
    aloft_loop_post(own->loop, &own->posts[i % 8].post);
    __atomic_add_fetch(&own->shared->value, 1, __ATOMIC_RELAXED);
    aloft_loop_post(own->loop, &own->shared->post);
  }
  return NULL;
}

static void test_post_from_threads(void **state) {
  fixture *f = begin(state);
  static poster posters[POSTERS];
  static counted_post shared, last;
  memset(posters, 0, sizeof posters);
  shared = (counted_post){.post = {.run = post_ran}, .loop = f->loop};
  last = shared;
  pthread_t threads[POSTERS];
  for (size_t i = 0; i < POSTERS; i++) {
    posters[i].loop = f->loop;
    posters[i].shared = &shared;
    for (size_t j = 0; j < 8; j++)
      posters[i].posts[j] = (counted_post){.post = {.run = post_ran}, .loop = f->loop};
    assert_int_equal(pthread_create(&threads[i], NULL, post_many, &posters[i]), 0);
  }
  for (int i = 0; i < 200; i++)
    assert_int_equal(aloft_loop_turn(f->loop, 0), ALOFT_OK);
  for (size_t i = 0; i < POSTERS; i++)
    pthread_join(threads[i], NULL);
  aloft_loop_post(f->loop, &last.post);
  HARNESS_TURN_UNTIL(f->loop, last.runs);
  assert_int_equal(aloft_loop_turn(f->loop, 0), ALOFT_OK);
  for (size_t i = 0; i < POSTERS; i++)
    for (size_t j = 0; j < 8; j++)
      assert_in_range(posters[i].posts[j].runs, 1, POSTS);
  assert_in_range(shared.runs, 1, POSTERS * POSTS);
  assert_int_equal(last.runs, 1);
  end(f);
}

/* A plain write before a post that finds itself posted is seen by the run: the post alone orders
 * them, for the flag that tells of it does not. */
static unsigned plain, plain_seen;
static int has_posted; /* atomic, relaxed */
static void see_plain(aloft_post *post) {
  (void)post;
  plain_seen = plain;
}

static void *write_and_post(void *context) {
  counted_post *own = context;
  plain = 1;
  aloft_loop_post(own->loop, &own->post);
  __atomic_store_n(&has_posted, 1, __ATOMIC_RELAXED);
  return NULL;
}

static void test_what_was_written_before_a_post_is_seen(void **state) {
  fixture *f = begin(state);
  for (int round = 0; round < 100; round++) {
    counted_post own = {.post = {.run = see_plain}, .loop = f->loop};
    pthread_t thread;
    plain = plain_seen = 0;
    __atomic_store_n(&has_posted, 0, __ATOMIC_RELAXED);
    aloft_loop_post(f->loop, &own.post);
    assert_int_equal(pthread_create(&thread, NULL, write_and_post, &own), 0);
    while (!__atomic_load_n(&has_posted, __ATOMIC_RELAXED))
      continue;
    assert_int_equal(aloft_loop_turn(f->loop, 0), ALOFT_OK);
    assert_int_equal(plain_seen, 1);
    pthread_join(thread, NULL);
  }
  end(f);
}

static counted_post *signalled;
static void on_signal(int number) {
  (void)number;
  aloft_loop_post(signalled->loop, &signalled->post);
}

static void test_post_from_a_signal_handler(void **state) {
  fixture *f = begin(state);
  static counted_post own;
  own = (counted_post){.post = {.run = post_ran}, .loop = f->loop};
  signalled = &own;
  struct sigaction action, old;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  assert_int_equal(sigaction(SIGUSR1, &action, &old), 0);
  for (unsigned i = 1; i <= 20; i++) {
    assert_int_equal(raise(SIGUSR1), 0);
    assert_int_equal(aloft_loop_turn(f->loop, ALOFT_FOREVER), ALOFT_OK);
    assert_int_equal(own.runs, i);
  }
  assert_int_equal(sigaction(SIGUSR1, &old, NULL), 0);
  end(f);
}

/* Posting itself again runs in the next turn, and does not keep a close from ending. */
static void test_post_again(void **state) {
  fixture *f = begin(state);
  counted_post own = {.post = {.run = post_ran}, .loop = f->loop, .again = true};
  aloft_loop_post(f->loop, &own.post);
  for (unsigned i = 1; i <= 3; i++) {
    assert_int_equal(aloft_loop_turn(f->loop, ALOFT_FOREVER), ALOFT_OK);
    assert_int_equal(own.runs, i);
  }
  end(f);
  assert_int_equal(own.runs, 4); /* what was posted before the close */
}

static void *fire_soon(void *context) {
  aloft_cancel_fire(context);
  return NULL;
}

/* A loop that waits for ever is woken by another thread's cancellation. */
static void test_fired_from_a_thread(void **state) {
  fixture *f = begin(state);
  if (f->sim) { /* which does not wait in real time */
    end(f);
    skip();
  }
  for (int i = 0; i < 50; i++) {
    aloft_cancel cancel;
    aloft_cancel_init(&cancel, f->loop, NULL);
    harness_op nap = sleep_of(f, ALOFT_SECONDS(3600));
    nap.op.cancel = &cancel;
    assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fire_soon, &cancel), 0);
    assert_int_equal(aloft_wait(f->loop, &nap.op), ALOFT_CANCELLED);
    pthread_join(thread, NULL);
    aloft_cancel_fini(&cancel);
  }
  end(f);
}

/* ---- opening and closing ---- */

static void test_configs(void **state) {
  (void)state;
  aloft_loop *loop;
  aloft_loop_config config = {.size = sizeof config};
  assert_int_equal(aloft_loop_open(&loop, NULL), ALOFT_OK);
  aloft_loop_close(loop);
  aloft_loop_close(NULL);
  assert_int_equal(aloft_loop_open(&loop, &config), ALOFT_OK);
  aloft_loop_close(loop);
  for (size_t size = 0; size < sizeof config + 9; size++) {
    config = (aloft_loop_config){.size = size};
    if (size != sizeof config)
      assert_int_equal(aloft_loop_open(&loop, &config), ALOFT_ARGUMENT);
  }
  config = (aloft_loop_config){.size = sizeof config, .tick_ns = 999};
  assert_int_equal(aloft_loop_open(&loop, &config), ALOFT_ARGUMENT);
  config = (aloft_loop_config){.size = sizeof config, .block_size = 4095};
  assert_int_equal(aloft_loop_open(&loop, &config), ALOFT_ARGUMENT);
}

static void open_and_close(const aloft_allocator *allocator, void *context) {
  (void)context;
  aloft_loop *loop = NULL;
  const aloft_loop_config config = {.size = sizeof config, .allocator = allocator};
  aloft_status status = aloft_loop_open(&loop, &config);
  if (status != ALOFT_OK) {
    assert_int_equal(status, ALOFT_NO_MEMORY);
    return;
  }
  harness_op nap = {.op = {.done = harness_op_done, .timeout_ns = ALOFT_MILLISECONDS(1)}};
  assert_int_equal(aloft_sleep_start(loop, &nap.op), ALOFT_OK);
  assert_int_equal(aloft_wait(loop, &nap.op), ALOFT_TIMEOUT);
  aloft_loop_close(loop);
}

static void test_each_allocation_fails(void **state) {
  (void)state;
  assert_int_equal(harness_each_allocation(open_and_close, NULL), 2); /* the driver and the loop */
}

static void start_in_close(aloft_op *op, aloft_status status) {
  harness_op *own = ALOFT_CONTAINER(op, harness_op, op);
  harness_op_done(op, status);
  assert_int_equal(aloft_sleep_start(own->loop, op), ALOFT_CLOSED);
  assert_int_equal(aloft_loop_turn(own->loop, 0), ALOFT_WRONG_STATE);
}

static void test_starts_in_close_are_refused(void **state) {
  fixture *f = begin(state);
  harness_op nap = sleep_of(f, ALOFT_SECONDS(1));
  nap.op.done = start_in_close;
  assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
  end(f);
  assert_int_equal(nap.done_count, 1);
  assert_int_equal(nap.status, ALOFT_CLOSED);
}

static bool on_uv = false, on_sim = true;

#define BOTH(test)                                                                                 \
  {#test " on uv", test, NULL, NULL, &on_uv}, {                                                    \
    #test " on sim", test, NULL, NULL, &on_sim                                                     \
  }

/* In a process of its own each time, for libuv makes some descriptors for the first loop only: this
 * test comes before all that open one. */
static int open_with_descriptors(rlim_t count) {
  pid_t child = fork();
  if (child == 0) {
    const struct rlimit limit = {count, count};
    aloft_loop *loop;
    aloft_status status =
        setrlimit(RLIMIT_NOFILE, &limit) == 0 ? aloft_loop_open(&loop, NULL) : ALOFT_PENDING;
    if (status == ALOFT_OK)
      aloft_loop_close(loop);
    _exit(status == ALOFT_OK ? 1 : status == ALOFT_SYSTEM ? 2 : 3);
  }
  int result = 0;
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &result, 0), child);
  assert_true(WIFEXITED(result));
  return WEXITSTATUS(result);
}

static void test_descriptors_run_out(void **state) {
  (void)state;
  bool opened = false;
  for (rlim_t count = 0; count < 64; count++) {
    int answer = open_with_descriptors(count);
    assert_in_range(answer, 1, 2);
    assert_false(opened && answer == 2);
    opened = answer == 1;
  }
  assert_true(opened);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_descriptors_run_out),
      BOTH(test_turn_order),
      BOTH(test_no_turn_inside_a_callback),
      BOTH(test_sleep_and_wait),
      BOTH(test_sleep_refused_in_flight),
      BOTH(test_run_ends_when_nothing_is_left),
      BOTH(test_stop),
      BOTH(test_wake_up_is_exact),
      BOTH(test_a_wait_is_not_busy),
      BOTH(test_a_past_deadline_ends_a_wait),
      BOTH(test_turn_waits_no_longer_than_asked),
      BOTH(test_post_from_threads),
      BOTH(test_what_was_written_before_a_post_is_seen),
      BOTH(test_post_from_a_signal_handler),
      BOTH(test_post_again),
      BOTH(test_fired_from_a_thread),
      cmocka_unit_test(test_configs),
      cmocka_unit_test(test_each_allocation_fails),
      BOTH(test_starts_in_close_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
