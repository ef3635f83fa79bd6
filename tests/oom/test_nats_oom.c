/* Memory and the NATS client: each allocation failing in turn, and none at all in steady state. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness_loop.h"
#include "heap.h"
#include "nats_toy.h"

/* ---- each allocation fails ---- */

enum { REQUESTS = 80 }; /* more than the first size of the table of requests */

typedef struct scene {
  aloft_loop *loop;
  nats_toy toy;
  aloft_nats *nats;
  harness_op opening, closing, flushing;
  aloft_nats_subscription subscription;
  unsigned subscription_dones, request_dones, request_starts, shown;
  aloft_nats_request requests[REQUESTS];
  aloft_nats_kept *kept[8];
  unsigned kept_count;
} scene;

static scene *s;

static void count_request(aloft_op *op, aloft_status status) {
  (void)op;
  assert_true(status == ALOFT_OK || status == ALOFT_LOST || status == ALOFT_LOST_UNSENT ||
              status == ALOFT_CLOSED || status == ALOFT_NO_MEMORY || status == ALOFT_TIMEOUT);
  s->request_dones++;
}

static void count_subscription(aloft_op *op, aloft_status status) {
  (void)op;
  (void)status;
  s->subscription_dones++;
}

static void keep_message(aloft_nats_subscription *subscription, const aloft_nats_message *message) {
  (void)subscription;
  s->shown++;
  aloft_nats_kept *kept;
  aloft_status status = aloft_nats_keep(s->nats, message, &kept);
  assert_true(status == ALOFT_OK || status == ALOFT_NO_MEMORY);
  if (status == ALOFT_OK && s->kept_count < 8)
    s->kept[s->kept_count++] = kept;
  else if (status == ALOFT_OK)
    aloft_nats_kept_release(kept);
}

static void event_told(aloft_nats *nats, aloft_nats_event event, const aloft_error *error,
                       void *context) {
  (void)nats;
  (void)event;
  (void)error;
  ++*(unsigned *)context;
}

static void turn_until(const unsigned *count, unsigned wanted) {
  for (int i = 0; i < 2000 && *count < wanted; i++) {
    aloft_status status = aloft_loop_turn(s->loop, ALOFT_MILLISECONDS(100));
    assert_int_equal(status, ALOFT_OK);
  }
  assert_true(*count >= wanted);
}

static bool start_all(void) {
  static uint8_t large[200000];
  s->subscription = (aloft_nats_subscription){
      .op = {.done = count_subscription}, .subject = ALOFT_TEXT("m"), .message = keep_message};
  bool subscribed = aloft_nats_subscribe(s->nats, &s->subscription) == ALOFT_OK;
  for (unsigned i = 0; i < REQUESTS; i++) {
    s->requests[i] =
        (aloft_nats_request){.op = {.done = count_request, .timeout_ns = ALOFT_SECONDS(2)},
                             .subject = ALOFT_TEXT("toy.echo"),
                             .data = {large, i == REQUESTS / 2 ? sizeof large : i}};
    aloft_status status = aloft_nats_request_start(s->nats, &s->requests[i]);
    assert_true(status == ALOFT_OK || status == ALOFT_NO_MEMORY || status == ALOFT_LOST_UNSENT);
    s->request_starts += status == ALOFT_OK;
  }
  const aloft_nats_message small = {.subject = ALOFT_TEXT("m"), .data = {"x", 1}};
  const aloft_nats_message big = {.subject = ALOFT_TEXT("m"), .data = {large, sizeof large}};
  (void)aloft_nats_publish(s->nats, &small);
  (void)aloft_nats_publish(s->nats, &big);
  s->flushing.op.done = harness_op_done;
  if (aloft_nats_flush(s->nats, &s->flushing.op) == ALOFT_OK)
    turn_until(&s->flushing.done_count, 1);
  return subscribed;
}

static void use_nats(const char *url) {
  unsigned events = 0;
  aloft_nats_config config = nats_toy_config(&s->toy);
  config.url = aloft_text_of(url);
  config.user = ALOFT_TEXT("joe");
  config.password = ALOFT_TEXT("secret");
  config.event = event_told;
  config.context = &events;
  s->opening.op.done = s->closing.op.done = harness_op_done;
  aloft_status status = aloft_nats_open(&s->nats, s->loop, &config, &s->opening.op);
  if (status != ALOFT_OK) {
    assert_int_equal(status, ALOFT_NO_MEMORY);
    assert_int_equal(s->opening.done_count, 0);
    assert_null(s->nats);
    return;
  }
  bool subscribed = start_all(); /* while connecting */
  turn_until(&s->opening.done_count, 1);
  turn_until(&s->request_dones, s->request_starts);
  s->request_dones = s->request_starts = 0;
  if (subscribed && s->subscription_dones == 0)
    assert_int_equal(aloft_nats_unsubscribe(&s->subscription), ALOFT_OK);
  turn_until(&s->subscription_dones, subscribed);
  s->subscription_dones = s->flushing.done_count = 0;
  subscribed = start_all(); /* connected, or dead */
  assert_int_equal(aloft_nats_close(s->nats, &s->closing.op), ALOFT_OK);
  turn_until(&s->closing.done_count, 1);
  assert_int_equal(s->request_dones, s->request_starts);
  assert_int_equal(s->subscription_dones, subscribed);
}

/* On sim the driver's memory is its own; on uv its sockets and lookups are the loop's too. */
static aloft_loop *open_loop(const aloft_allocator *allocator, bool sim) {
  aloft_loop *loop = NULL;
  const aloft_loop_config config = {.size = sizeof config, .allocator = allocator};
  alo_driver *driver = sim ? alo_driver_sim_open(&alo_heap_default, 1, NULL) : NULL;
  aloft_status status =
      driver ? alo_loop_open_on(&loop, &config, driver) : aloft_loop_open(&loop, &config);
  assert_true(status == ALOFT_OK || status == ALOFT_NO_MEMORY);
  return status == ALOFT_OK ? loop : NULL;
}

static void scenario(const aloft_allocator *allocator, void *context) {
  static scene place;
  memset(&place, 0, sizeof place);
  s = &place;
  s->loop = open_loop(allocator, *(bool *)context);
  if (!s->loop)
    return;
  if (nats_toy_try_open(&s->toy, s->loop, NULL)) {
    char url[64];
    snprintf(url, sizeof url, "nats://localhost:%u", (unsigned)s->toy.port);
    use_nats(url);
  }
  while (s->kept_count) /* beyond the connection's close */
    aloft_nats_kept_release(s->kept[--s->kept_count]);
  nats_toy_close(&s->toy);
  aloft_loop_close(s->loop);
}

static void test_each_allocation(void **state) {
  (void)state;
  for (int sim = 0; sim < 2; sim++) {
    bool on_sim = sim == 1;
    uint64_t count = harness_each_allocation(scenario, &on_sim);
    print_message("%llu allocations made to fail\n", (unsigned long long)count);
    assert_true(count > 30);
  }
}

/* The loop is closed with everything open, whatever has failed before. */
static void evicted(const aloft_allocator *allocator, void *context) {
  static scene place;
  (void)context;
  memset(&place, 0, sizeof place);
  s = &place;
  s->loop = open_loop(allocator, true);
  if (!s->loop)
    return;
  nats_toy_open(&s->toy, s->loop, NULL);
  const aloft_nats_config config = nats_toy_config(&s->toy);
  s->opening.op.done = harness_op_done;
  bool open = aloft_nats_open(&s->nats, s->loop, &config, &s->opening.op) == ALOFT_OK;
  for (unsigned i = 0; open && i < REQUESTS; i++) {
    s->requests[i] = (aloft_nats_request){
        .op = {.done = count_request}, .subject = ALOFT_TEXT("toy.echo"), .data = {"x", 1}};
    s->request_starts += aloft_nats_request_start(s->nats, &s->requests[i]) == ALOFT_OK;
    if (i % 20 == 19)
      assert_int_equal(aloft_loop_turn(s->loop, 0), ALOFT_OK);
  }
  nats_toy_close(&s->toy);
  aloft_loop_close(s->loop);
  assert_int_equal(s->request_dones, s->request_starts);
  assert_int_equal(s->opening.done_count, open);
}

static void test_each_allocation_with_the_loop_closed(void **state) {
  (void)state;
  assert_true(harness_each_allocation(evicted, NULL) > 10);
}

/* ---- none in steady state ---- */

enum { WARM_UP = 2000, COUNTED = 10000, CONCURRENT_MAX = 64 };

typedef struct steady {
  aloft_nats *nats;
  aloft_cancel cancel;
  aloft_nats_request requests[CONCURRENT_MAX];
  aloft_nats_subscription subscription;
  uint64_t dones, wanted, shown;
} steady;

static steady *now;

static void ask_again(aloft_op *op, aloft_status status) {
  aloft_nats_request *request = ALOFT_CONTAINER(op, aloft_nats_request, op);
  assert_int_equal(status, ALOFT_OK);
  if (++now->dones < now->wanted)
    assert_int_equal(aloft_nats_request_start(now->nats, request), ALOFT_OK);
}

static void message_shown(aloft_nats_subscription *subscription,
                          const aloft_nats_message *message) {
  (void)subscription;
  (void)message;
  now->shown++;
}

static void run_requests(aloft_loop *loop, unsigned concurrent, uint64_t count) {
  static const char data[] = "a payload of some size, as requests have";
  now->dones = 0;
  now->wanted = count - concurrent + 1;
  for (unsigned i = 0; i < concurrent; i++) {
    now->requests[i] = (aloft_nats_request){
        .op = {.done = ask_again, .timeout_ns = ALOFT_SECONDS(5), .cancel = &now->cancel},
        .subject = ALOFT_TEXT("toy.echo"),
        .data = {data, sizeof data - 1}};
    assert_int_equal(aloft_nats_request_start(now->nats, &now->requests[i]), ALOFT_OK);
  }
  const aloft_nats_message message = {.subject = ALOFT_TEXT("news"), .data = {data, 10}};
  for (uint64_t turn = 0; now->dones < count; turn++) {
    if (turn % 8 == 0)
      assert_int_equal(aloft_nats_publish(now->nats, &message), ALOFT_OK);
    assert_int_equal(aloft_loop_turn(loop, ALOFT_SECONDS(10)), ALOFT_OK);
  }
  assert_int_equal(now->dones, count);
}

static void ignore(aloft_op *op, aloft_status status) {
  (void)op;
  (void)status;
}

/* Timeouts and cancellations too are free: some of the requests end so. */
static void end_some(aloft_loop *loop) {
  for (int i = 0; i < 50; i++) {
    harness_op flush = {.op = {.done = harness_op_done}};
    aloft_nats_request late = {.op = {.done = ignore, .timeout_ns = ALOFT_MICROSECONDS(10)},
                               .subject = ALOFT_TEXT("toy.never")};
    aloft_nats_request unwanted = {.op = {.done = ignore}, .subject = ALOFT_TEXT("toy.never")};
    assert_int_equal(aloft_nats_request_start(now->nats, &late), ALOFT_OK);
    assert_int_equal(aloft_nats_request_start(now->nats, &unwanted), ALOFT_OK);
    assert_int_equal(aloft_op_cancel(&unwanted.op), ALOFT_OK);
    assert_int_equal(aloft_nats_flush(now->nats, &flush.op), ALOFT_OK);
    HARNESS_TURN_UNTIL(loop, flush.done_count && !aloft_op_in_flight(&late.op));
    assert_int_equal(late.op.status, ALOFT_TIMEOUT);
    assert_int_equal(unwanted.op.status, ALOFT_CANCELLED);
  }
}

static void run_steady(bool sim, unsigned concurrent) {
  static steady place;
  memset(&place, 0, sizeof place);
  now = &place;
  harness_loop at;
  nats_toy toy;
  harness_loop_open(&at, sim, 1, NULL);
  nats_toy_open(&toy, at.loop, NULL);
  const aloft_nats_config config = nats_toy_config(&toy);
  assert_int_equal(aloft_nats_open(&now->nats, at.loop, &config, NULL), ALOFT_OK);
  aloft_cancel_init(&now->cancel, at.loop, NULL);
  now->subscription = (aloft_nats_subscription){
      .op = {.done = ignore}, .subject = ALOFT_TEXT("news"), .message = message_shown};
  assert_int_equal(aloft_nats_subscribe(now->nats, &now->subscription), ALOFT_OK);
  run_requests(at.loop, concurrent, WARM_UP);
  end_some(at.loop);
  uint64_t before = at.heap.allocations + at.heap.resizes, releases = at.heap.releases;
  uint64_t shown = now->shown;
  run_requests(at.loop, concurrent, COUNTED);
  end_some(at.loop);
  assert_int_equal(at.heap.allocations + at.heap.resizes - before, 0);
  assert_int_equal(at.heap.releases - releases, 0);
  assert_true(now->shown > shown);
  assert_int_equal(aloft_nats_close(now->nats, NULL), ALOFT_OK);
  for (int i = 0; i < 5; i++)
    assert_int_equal(aloft_loop_turn(at.loop, ALOFT_MILLISECONDS(10)), ALOFT_OK);
  aloft_cancel_fini(&now->cancel);
  nats_toy_close(&toy);
  harness_loop_close(&at);
}

static void test_steady_state_allocates_nothing(void **state) {
  (void)state;
  run_steady(true, 1);
  run_steady(true, CONCURRENT_MAX);
  run_steady(false, 1);
  run_steady(false, CONCURRENT_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_allocation),
      cmocka_unit_test(test_each_allocation_with_the_loop_closed),
      cmocka_unit_test(test_steady_state_allocates_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
