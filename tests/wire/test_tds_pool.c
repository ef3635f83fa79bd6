/* The pool against a scripted server: limits, waiting, reset, the dead, close. */
#include "tds_client.h"

#include "tds_connection.h"

typedef struct taking {
  aloft_tds_acquire acquire;
  unsigned done;
  aloft_status status;
  int32_t error_number;
} taking;

static aloft_tds_pool *pool;

static void taken(aloft_op *op, aloft_status status) {
  taking *t = ALOFT_CONTAINER(op, taking, acquire.op);
  enter_done(op, status);
  t->done++;
  t->status = status;
  t->error_number = op->error ? op->error->number : 0;
  assert_int_equal(status == ALOFT_OK, t->acquire.tds != NULL);
  leave_done();
}

static aloft_status take(taking *t) {
  memset(&t->acquire.own, 0, sizeof t->acquire.own);
  t->done = 0;
  t->acquire.op.done = taken;
  starting++;
  aloft_status status = aloft_tds_pool_take(pool, &t->acquire);
  starting--;
  return status;
}

static void take_and_wait(world *w, taking *t) {
  memset(t, 0, sizeof *t);
  assert_int_equal(take(t), ALOFT_OK);
  assert_int_equal(aloft_wait(w->loop, &t->acquire.op), ALOFT_OK);
  assert_int_equal(t->done, 1);
}

static void pool_open(world *w, uint32_t connections, uint32_t waiting) {
  const aloft_tds_pool_config config = {.size = sizeof config,
                                        .connection = w->config,
                                        .connections_max = connections,
                                        .waiting_max = waiting};
  assert_int_equal(aloft_tds_pool_open(&pool, w->loop, &config), ALOFT_OK);
}

static void prove_taken(world *w, const taking *t) {
  w->tds = t->acquire.tds;
  prove(w);
}

static aloft_tds_pool_info pool_info(void) {
  aloft_tds_pool_info info = {.size = sizeof info};
  aloft_tds_pool_get_info(pool, &info);
  return info;
}

static void test_reuse_and_reset(void **state) {
  (void)state;
  world w;
  taking t;
  probe p;
  world_open(&w);
  pool_open(&w, 2, 0);
  for (unsigned at = 0; at < 5; at++) {
    take_and_wait(&w, &t);
    w.tds = t.acquire.tds;
    assert_int_equal(probe_run(&p, &w, "state"), ALOFT_OK);
    assert_int_equal(p.second, at > 0); /* only the first query after a reuse resets */
    assert_int_equal(p.first, 0);
    assert_int_equal(probe_run(&p, &w, "state"), ALOFT_OK);
    assert_int_equal(p.first, 0); /* the old transaction is gone, though nobody has said so */
    assert_int_equal(probe_run(&p, &w, "begin"), ALOFT_OK);
    assert_int_equal(probe_run(&p, &w, "state"), ALOFT_OK);
    assert_int_equal(p.second, 0);
    assert_int_equal(p.first, INT64_C(0x1122334455667788));
    aloft_tds_pool_give(pool, t.acquire.tds);
  }
  assert_int_equal(w.server.logins, 1);
  assert_int_equal(w.server.resets, 4);
  assert_int_equal(pool_info().idle, 1);
  world_close(&w);
}

/* A reset that was not sent, because its query was taken back, is asked for by the next. */
static void test_reset_survives_a_cancel(void **state) {
  (void)state;
  world w;
  taking t;
  probe p, next;
  world_open(&w);
  pool_open(&w, 1, 0);
  take_and_wait(&w, &t);
  aloft_tds_pool_give(pool, t.acquire.tds);
  take_and_wait(&w, &t);
  w.tds = t.acquire.tds;
  probe_begin(&p, &w, "rows 1");
  assert_int_equal(aloft_op_cancel(&p.query.op), ALOFT_OK);
  assert_int_equal(probe_run(&next, &w, "state"), ALOFT_OK);
  assert_int_equal(next.second, 1);
  assert_int_equal(w.server.requests, 1);
  world_close(&w);
}

static void test_one_more_waits(void **state) {
  (void)state;
  world w;
  taking t[3], more[4];
  world_open(&w);
  pool_open(&w, 3, 3);
  for (unsigned at = 0; at < 3; at++)
    take_and_wait(&w, &t[at]);
  memset(more, 0, sizeof more);
  more[1].acquire.op.timeout_ns = ALOFT_MILLISECONDS(50);
  for (unsigned at = 0; at < 3; at++)
    assert_int_equal(take(&more[at]), ALOFT_OK);
  assert_int_equal(take(&more[3]), ALOFT_TOO_MANY);
  turns(&w, 5);
  assert_int_equal(pool_info().waiting, 3);
  assert_int_equal(w.server.accepted, 3);
  assert_int_equal(aloft_op_cancel(&more[0].acquire.op), ALOFT_OK);
  assert_int_equal(aloft_wait(w.loop, &more[0].acquire.op), ALOFT_CANCELLED);
  assert_int_equal(aloft_wait(w.loop, &more[1].acquire.op), ALOFT_TIMEOUT);
  assert_int_equal(more[2].done, 0);
  aloft_tds_pool_give(pool, t[1].acquire.tds);
  assert_int_equal(more[2].done, 0);
  assert_int_equal(aloft_wait(w.loop, &more[2].acquire.op), ALOFT_OK);
  assert_ptr_equal(more[2].acquire.tds, t[1].acquire.tds);
  prove_taken(&w, &more[2]);
  assert_int_equal(w.server.accepted, 3);
  for (unsigned at = 0; at < 3; at++)
    assert_int_equal(more[at].done, 1);
  world_close(&w);
}

static void test_first_come_first_served(void **state) {
  (void)state;
  world w;
  taking first, more[5];
  world_open(&w);
  pool_open(&w, 1, 0);
  take_and_wait(&w, &first);
  memset(more, 0, sizeof more);
  for (unsigned at = 0; at < 5; at++)
    assert_int_equal(take(&more[at]), ALOFT_OK);
  aloft_tds_pool_give(pool, first.acquire.tds);
  for (unsigned at = 0; at < 5; at++) {
    assert_int_equal(aloft_wait(w.loop, &more[at].acquire.op), ALOFT_OK);
    if (at + 1 < 5)
      assert_int_equal(more[at + 1].done, 0);
    prove_taken(&w, &more[at]);
    aloft_tds_pool_give(pool, more[at].acquire.tds);
  }
  world_close(&w);
}

static void test_given_with_a_query(void **state) {
  (void)state;
  world w;
  taking t;
  probe p, queued;
  world_open(&w);
  pool_open(&w, 1, 0);
  take_and_wait(&w, &t);
  w.tds = t.acquire.tds;
  probe_begin(&p, &w, "rows 900 hold 3000 late 20");
  probe_begin(&queued, &w, "rows 1");
  turns(&w, 5);
  aloft_tds_pool_give(pool, t.acquire.tds);
  take_and_wait(&w, &t);
  prove_taken(&w, &t);
  assert_int_equal(p.done, 1);
  assert_int_equal(p.status, ALOFT_CANCELLED);
  assert_int_equal(queued.done, 1);
  assert_int_equal(queued.status, ALOFT_CANCELLED);
  assert_int_equal(w.server.attentions, 1);
  assert_int_equal(w.server.resets, 1);
  world_close(&w);
}

static void test_dead_ones_are_replaced(void **state) {
  (void)state;
  world w;
  taking t, waiting;
  world_open(&w);
  pool_open(&w, 1, 0);
  take_and_wait(&w, &t);
  aloft_tds_pool_give(pool, t.acquire.tds); /* dies while idle */
  tds_server_drop_all(&w.server);
  turns(&w, 4);
  take_and_wait(&w, &t);
  prove_taken(&w, &t);
  memset(&waiting, 0, sizeof waiting); /* dies while taken, and someone waits */
  assert_int_equal(take(&waiting), ALOFT_OK);
  tds_server_drop_all(&w.server);
  turns(&w, 4);
  assert_int_equal(waiting.done, 0);
  aloft_tds_pool_give(pool, t.acquire.tds);
  assert_int_equal(aloft_wait(w.loop, &waiting.acquire.op), ALOFT_OK);
  prove_taken(&w, &waiting);
  assert_int_equal(w.server.logins, 3);
  assert_int_equal(pool_info().connections, 1);
  world_close(&w);
}

static void test_connect_fails(void **state) {
  (void)state;
  world w;
  taking t[3];
  world_open(&w);
  w.server.login_error = 18456;
  pool_open(&w, 2, 0);
  memset(t, 0, sizeof t);
  for (unsigned at = 0; at < 3; at++)
    assert_int_equal(take(&t[at]), ALOFT_OK);
  turns(&w, 40);
  for (unsigned at = 0; at < 3; at++) {
    assert_int_equal(t[at].done, 1);
    assert_int_equal(t[at].status, ALOFT_AUTH);
    assert_int_equal(t[at].error_number, 18456);
  }
  w.server.login_error = 0;
  take_and_wait(&w, &t[0]);
  prove_taken(&w, &t[0]);
  world_close(&w);
}

static void open_padded(world *w) {
  world_open(w);
  w->server.padding = 1200;
  pool_open(w, 1, 0);
}

/* The size of the answer to LOGIN7, and where it ends in all that the server says. */
static size_t measure_login(uint64_t *end) {
  world w;
  taking t;
  open_padded(&w);
  memset(&t, 0, sizeof t);
  assert_int_equal(take(&t), ALOFT_OK);
  while (!w.server.sent)
    turn(&w);
  uint64_t before = w.server.sent;
  assert_int_equal(aloft_wait(w.loop, &t.acquire.op), ALOFT_OK);
  *end = w.server.sent;
  world_close(&w);
  return (size_t)(*end - before);
}

/* The answer to LOGIN7 fills a block, so that the end is read in the same phase of input: the
 * connection is dead before the pool hears that it is open. */
static void test_dead_when_opened(void **state) {
  (void)state;
  world w;
  taking t[2];
  uint64_t end;
  if (getenv("ALOFT_TEST_TLS"))
    skip(); /* records do not fill blocks */
  size_t size = measure_login(&end);
  assert_true(size > 2048);
  open_padded(&w);
  w.loop->blocks.block_size = size;
  w.server.kill_at = end;
  memset(t, 0, sizeof t);
  assert_int_equal(take(&t[0]), ALOFT_OK);
  assert_int_equal(take(&t[1]), ALOFT_OK);
  assert_int_equal(aloft_wait(w.loop, &t[0].acquire.op), ALOFT_LOST);
  assert_int_equal(w.server.logins, 1);
  w.server.kill_at = 0;
  assert_int_equal(aloft_wait(w.loop, &t[1].acquire.op), ALOFT_OK);
  prove_taken(&w, &t[1]);
  assert_int_equal(w.server.logins, 2);
  assert_int_equal(pool_info().connections, 1);
  world_close(&w);
}

static void test_refused(void **state) {
  (void)state;
  world w;
  world_open(&w);
  aloft_tds_pool_config config = {
      .size = sizeof config,
      .connection = {.size = sizeof config.connection,
                     .connection_string = ALOFT_TEXT("Server=127.0.0.1;Colour=red")}};
  assert_int_equal(aloft_tds_pool_open(&pool, w.loop, &config), ALOFT_ARGUMENT);
  assert_non_null(strstr(aloft_loop_error(w.loop)->message.data, "Colour"));
  world_close(&w);
}

static void test_acquisition_given_up(void **state) {
  (void)state;
  world w;
  taking t;
  world_open(&w);
  pool_open(&w, 1, 0);
  memset(&t, 0, sizeof t);
  t.acquire.op.timeout_ns = ALOFT_MILLISECONDS(5);
  w.server.mute = true;
  assert_int_equal(take(&t), ALOFT_OK);
  assert_int_equal(aloft_wait(w.loop, &t.acquire.op), ALOFT_TIMEOUT);
  assert_null(t.acquire.tds);
  assert_int_equal(pool_info().connections, 1); /* its connect goes on */
  world_close(&w);
}

static void test_closed_at_every_turn(void **state) {
  (void)state;
  for (unsigned count = 0; count < 16; count++) {
    for (int how = 0; how < 3; how++) {
      world w;
      taking t[4], late;
      counted closing = counted_op();
      world_open(&w);
      pool_open(&w, 2, 0);
      memset(t, 0, sizeof t);
      memset(&late, 0, sizeof late);
      for (unsigned at = 0; at < 4; at++)
        assert_int_equal(take(&t[at]), ALOFT_OK);
      turns(&w, count);
      if (how == 1) {
        assert_int_equal(aloft_tds_pool_close(pool, &closing.op), ALOFT_OK);
        assert_int_equal(take(&late), ALOFT_CLOSED);
        assert_int_equal(aloft_wait(w.loop, &closing.op), ALOFT_OK);
      } else if (how == 2) {
        assert_int_equal(aloft_tds_pool_close(pool, NULL), ALOFT_OK);
        turns(&w, 3);
      }
      world_close(&w);
      for (unsigned at = 0; at < 4; at++)
        assert_int_equal(t[at].done, 1);
      assert_int_equal(t[3].status, ALOFT_CLOSED);
      assert_int_equal(closing.done, how == 1);
    }
  }
}

static void test_its_connections_are_its_own(void **state) {
  (void)state;
  world w;
  taking t;
  world_open(&w);
  pool_open(&w, 1, 0);
  take_and_wait(&w, &t);
  assert_int_equal(aloft_tds_close(t.acquire.tds, NULL), ALOFT_WRONG_STATE);
  prove_taken(&w, &t);
  world_close(&w);
}

/* ---- memory ---- */

static void use_pool(const aloft_allocator *allocator, void *context) {
  const alo_sim_faults faults = {0};
  world w;
  (void)context;
  world_open_with(&w, allocator, 1, &faults);
  if (!w.loop)
    return;
  static taking t[3];
  memset(t, 0, sizeof t);
  const aloft_tds_pool_config config = {
      .size = sizeof config, .connection = w.config, .connections_max = 2};
  unsigned started = 0;
  if (aloft_tds_pool_open(&pool, w.loop, &config) == ALOFT_OK) {
    for (unsigned at = 0; at < 3; at++)
      started += take(&t[started]) == ALOFT_OK;
    for (unsigned at = 0; at < 30; at++)
      aloft_loop_turn(w.loop, 0);
    for (unsigned at = 0; at < started; at++)
      if (t[at].done && t[at].acquire.tds)
        aloft_tds_pool_give(pool, t[at].acquire.tds);
    for (unsigned at = 0; at < 10; at++)
      aloft_loop_turn(w.loop, 0);
  }
  world_close(&w);
  for (unsigned at = 0; at < started; at++)
    assert_int_equal(t[at].done, 1);
}

static void test_each_allocation_fails(void **state) {
  (void)state;
  assert_true(harness_each_allocation(use_pool, NULL) > 8);
}

static void test_no_heap_in_steady_state(void **state) {
  (void)state;
  const alo_sim_faults faults = {0};
  harness_heap heap;
  harness_heap_init(&heap);
  world w;
  world_open_with(&w, &heap.allocator, 1, &faults);
  pool_open(&w, 2, 0);
  uint64_t calls = 0;
  for (unsigned at = 0; at < 300; at++) {
    taking t[3];
    if (at == 20)
      calls = heap.allocations + heap.resizes + heap.releases;
    take_and_wait(&w, &t[0]);
    take_and_wait(&w, &t[1]);
    memset(&t[2], 0, sizeof t[2]);
    t[2].acquire.op.timeout_ns = ALOFT_MILLISECONDS(20);
    assert_int_equal(take(&t[2]), ALOFT_OK);
    prove_taken(&w, &t[0]);
    prove_taken(&w, &t[1]);
    aloft_tds_pool_give(pool, t[0].acquire.tds);
    aloft_tds_pool_give(pool, t[1].acquire.tds);
    assert_int_equal(aloft_wait(w.loop, &t[2].acquire.op), ALOFT_OK);
    aloft_tds_pool_give(pool, t[2].acquire.tds);
  }
  assert_int_equal(heap.allocations + heap.resizes + heap.releases, calls);
  world_close(&w);
  harness_heap_check(&heap);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reuse_and_reset),
      cmocka_unit_test(test_reset_survives_a_cancel),
      cmocka_unit_test(test_one_more_waits),
      cmocka_unit_test(test_first_come_first_served),
      cmocka_unit_test(test_given_with_a_query),
      cmocka_unit_test(test_dead_ones_are_replaced),
      cmocka_unit_test(test_connect_fails),
      cmocka_unit_test(test_dead_when_opened),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_acquisition_given_up),
      cmocka_unit_test(test_closed_at_every_turn),
      cmocka_unit_test(test_its_connections_are_its_own),
      cmocka_unit_test(test_each_allocation_fails),
      cmocka_unit_test(test_no_heap_in_steady_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
