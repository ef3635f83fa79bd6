/* Large values read in pieces, through the client. */
#include "tds_client.h"

#include "tds_connection.h"
#include "utf16.h"

/* ---- a query that reads in pieces ---- */

typedef enum plan { READ_ALL, READ_SOME, READ_NONE } plan;

typedef struct reader {
  probe probe;
  plan plans[3];         /* of the row's large values, in turn */
  size_t sizes[3], most; /* bytes read of each, and of the largest piece */
  size_t columns[3];     /* where they were */
  unsigned stops, mores, rows, pieces, pendings;
  int64_t first, last; /* of the int columns */
  size_t wait_after;   /* bytes, after which nothing is read for now; 0: none */
} reader;

static reader *reader_of(aloft_tds_query *query) {
  return ALOFT_CONTAINER(query, reader, probe.query);
}

/* ALOFT_OK: go on with the row. */
static aloft_status read_value(reader *r) {
  aloft_tds_query *query = &r->probe.query;
  size_t at = r->stops - 1;
  plan what = r->plans[at];
  while (what == READ_ALL || (what == READ_SOME && r->sizes[at] == 0)) {
    aloft_bytes piece;
    aloft_status status = aloft_tds_read(query, &piece);
    if (status == ALOFT_DONE)
      return ALOFT_OK;
    if (status != ALOFT_OK) {
      assert_null(piece.data);
      r->pendings += status == ALOFT_PENDING;
      return status;
    }
    assert_in_range(piece.size, 1, 64 << 10);
    assert_int_equal(alo_utf8_valid(piece.data, piece.size), piece.size);
    r->sizes[at] += piece.size;
    r->pieces++;
    r->most = piece.size > r->most ? piece.size : r->most;
    if (r->wait_after && r->sizes[at] >= r->wait_after)
      return ALOFT_PENDING;
  }
  return ALOFT_OK;
}

static void look_at(reader *r, aloft_status answer) {
  aloft_tds_query *query = &r->probe.query;
  size_t open = aloft_tds_open_column(query), count = aloft_tds_column_count(query);
  r->rows += answer == ALOFT_ROW;
  r->mores += answer == ALOFT_MORE;
  for (size_t at = 0; at < count && at < open; at++) {
    const aloft_tds_column *column = aloft_tds_get_column(query, at);
    if (!column) /* no memory */
      break;
    bool pieced = column->max;
    assert_int_equal(aloft_tds_check(query, at), pieced ? ALOFT_WRONG_TYPE : ALOFT_OK);
    assert_false(aloft_tds_is_null(query, at));
    if (!pieced)
      *(at == 0 ? &r->first : &r->last) = aloft_tds_int64(query, at);
  }
  for (size_t at = open; at < count; at++)
    assert_int_equal(aloft_tds_check(query, at), ALOFT_WRONG_TYPE);
  if (open == ALOFT_TDS_NO_COLUMN)
    return;
  assert_false(aloft_tds_is_null(query, open));
  assert_in_range(r->stops, 0, 2);
  r->columns[r->stops++] = open;
}

static void go_on(reader *r) {
  aloft_tds_query *query = &r->probe.query;
  for (;;) {
    if (aloft_tds_open_column(query) != ALOFT_TDS_NO_COLUMN && read_value(r) != ALOFT_OK)
      return;
    aloft_status answer = aloft_tds_step(query);
    if (answer == ALOFT_ROW || answer == ALOFT_MORE)
      look_at(r, answer);
    else if (answer != ALOFT_RESULT)
      return;
  }
}

static void ready(aloft_tds_query *query) {
  go_on(reader_of(query));
}

static void begin(reader *r, world *w, const char *sql) {
  memset(r, 0, sizeof *r);
  probe_init(&r->probe, w, sql);
  r->probe.query.large = ALOFT_TDS_PIECES;
  r->probe.query.ready = ready;
}

static void start(reader *r) {
  assert_int_equal(probe_start(&r->probe), ALOFT_OK);
}

static void start_until_open(reader *r) {
  start(r);
  for (unsigned at = 0; aloft_tds_open_column(&r->probe.query) == ALOFT_TDS_NO_COLUMN; at++) {
    assert_true(at < TURNS_MAX);
    turn(r->probe.world);
  }
}

static void run(reader *r, aloft_status status) {
  start(r);
  probe_wait(&r->probe);
  assert_int_equal(r->probe.status, status);
}

/* ---- reading ---- */

static void test_one_value(void **state) {
  (void)state;
  world w;
  reader r;
  world_open(&w);
  world_connect(&w);
  for (size_t size = 1; size < 4000000; size = size * 7 + 1) {
    char sql[40];
    snprintf(sql, sizeof sql, "large %zu", size);
    begin(&r, &w, sql);
    run(&r, ALOFT_OK);
    assert_int_equal(r.rows, 1);
    assert_int_equal(r.stops, 1);
    assert_int_equal(r.mores, 1);
    assert_int_equal(r.columns[0], 1);
    assert_int_equal(r.sizes[0], size);
    prove(&w);
  }
  world_close(&w);
}

static void announced(aloft_tds_query *query) {
  reader *r = reader_of(query);
  if (aloft_tds_open_column(query) == ALOFT_TDS_NO_COLUMN) {
    assert_int_equal(aloft_tds_open_size(query), UINT64_MAX);
    while (aloft_tds_step(query) == ALOFT_RESULT) {
    }
    if (aloft_tds_open_column(query) != ALOFT_TDS_NO_COLUMN)
      r->sizes[0] = (size_t)aloft_tds_open_size(query);
  }
  r->stops = 1;
  ready(query);
}

static void test_announced_size(void **state) {
  (void)state;
  world w;
  reader r;
  world_open(&w);
  world_connect(&w);
  begin(&r, &w, "large 5000");
  r.probe.query.ready = announced;
  r.plans[0] = READ_NONE;
  run(&r, ALOFT_OK);
  assert_int_equal(r.sizes[0], 10000); /* of UTF-16 */
  world_close(&w);
}

/* Read, begun and left, or not looked at: the row goes on behind it all the same. */
static void test_some_of_three(void **state) {
  (void)state;
  world w;
  reader r;
  world_open(&w);
  world_connect(&w);
  for (unsigned at = 0; at < 27; at++) {
    begin(&r, &w, "larger 200000");
    for (unsigned value = 0, rest = at; value < 3; value++, rest /= 3)
      r.plans[value] = (plan)(rest % 3);
    run(&r, ALOFT_OK);
    assert_int_equal(r.rows, 1);
    assert_int_equal(r.stops, 3);
    assert_int_equal(r.mores, 3);
    for (size_t value = 0; value < 3; value++) {
      assert_int_equal(r.columns[value], value);
      if (r.plans[value] == READ_ALL)
        assert_int_equal(r.sizes[value], 200000);
      else
        assert_int_equal(r.sizes[value] > 0, r.plans[value] == READ_SOME);
    }
    prove(&w);
  }
  world_close(&w);
}

static void test_any_split(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    const alo_sim_faults faults = {.short_read = 800, .split_write = 700, .full = 100};
    world w;
    reader r;
    world_open_with(&w, NULL, seed, &faults);
    world_connect(&w);
    begin(&r, &w, "larger 20000");
    r.plans[seed % 3] = (plan)(seed % 2 + 1);
    run(&r, ALOFT_OK);
    assert_int_equal(r.stops, 3);
    assert_int_equal(r.sizes[(seed + 1) % 3], 20000);
    prove(&w);
    world_close(&w);
  }
}

/* Where there is nothing large it is as if it were not asked for. */
static void test_nothing_large(void **state) {
  (void)state;
  world w;
  reader r;
  world_open(&w);
  world_connect(&w);
  begin(&r, &w, "rows 100");
  r.probe.query.ready = probe_ready;
  run(&r, ALOFT_OK);
  assert_int_equal(r.probe.rows, 100);
  begin(&r, &w, "large 100000");
  r.probe.query.ready = NULL; /* rows are skipped */
  run(&r, ALOFT_OK);
  prove(&w);
  world_close(&w);
}

/* ---- what is held ---- */

static void test_back_pressure(void **state) {
  (void)state;
  world w;
  reader r;
  world_open(&w);
  w.config.rx_bytes_max = 20000;
  world_connect(&w);
  begin(&r, &w, "large 3000000");
  r.wait_after = 1;
  start(&r);
  turns(&w, 100);
  uint64_t seen = info_of(&w).bytes_in;
  assert_in_range(seen, 1, 60000);
  turns(&w, 100);
  assert_int_equal(info_of(&w).bytes_in, seen);
  r.wait_after = 0;
  go_on(&r);
  for (unsigned at = 0; !r.probe.done; at++) {
    assert_in_range(w.tds->stream.rx.size, 0, 20000 + (64 << 10));
    assert_true(at < TURNS_MAX);
    turn(&w);
  }
  assert_int_equal(r.probe.status, ALOFT_OK);
  assert_int_equal(r.sizes[0], 3000000);
  world_close(&w);
}

static void test_no_heap_in_steady_state(void **state) {
  (void)state;
  const alo_sim_faults faults = {0};
  harness_heap heap;
  world w;
  reader r;
  harness_heap_init(&heap);
  world_open_with(&w, &heap.allocator, 1, &faults);
  world_connect(&w);
  uint64_t calls = 0;
  for (unsigned at = 0; at < 60; at++) {
    if (at == 20)
      calls = heap.allocations + heap.resizes + heap.releases;
    begin(&r, &w, at % 2 ? "large 300000" : "larger 30000");
    r.plans[at % 3] = READ_SOME;
    run(&r, ALOFT_OK);
  }
  assert_int_equal(heap.allocations + heap.resizes + heap.releases, calls);
  world_close(&w);
  harness_heap_check(&heap);
}

static void each_allocation(const aloft_allocator *allocator, void *context) {
  const alo_sim_faults faults = {0};
  world w;
  reader r;
  counted opening = counted_op();
  (void)context;
  world_open_with(&w, allocator, 1, &faults);
  if (!w.loop)
    return;
  if (w.server.port && world_connect_op(&w, &opening) == ALOFT_OK &&
      aloft_wait(w.loop, &opening.op) == ALOFT_OK) {
    begin(&r, &w, "large 30000");
    if (probe_start(&r.probe) == ALOFT_OK) {
      probe_wait(&r.probe);
      assert_true(r.probe.status != ALOFT_OK || r.sizes[0] == 30000);
    }
  }
  world_close(&w);
}

static void test_each_allocation_fails(void **state) {
  (void)state;
  if (getenv("ALOFT_TEST_TLS"))
    skip(); /* a handshake for each: test_tds_client has them */
  assert_in_range(harness_each_allocation(each_allocation, NULL), 10, 300);
}

/* ---- given up ---- */

/* In the middle of a value, by a cancellation, a timeout, or an accessor that asks too early. */
static void test_given_up_in_a_value(void **state) {
  (void)state;
  for (unsigned at = 0; at < 12; at++) {
    world w;
    reader r;
    aloft_cancel stop;
    world_open(&w);
    w.config.rx_bytes_max = at % 2 ? 20000 : 0;
    world_connect(&w);
    aloft_cancel_init(&stop, w.loop, NULL);
    begin(&r, &w, at < 6 ? "large 3000000" : "larger 900000");
    r.plans[0] = at >= 6 ? READ_SOME : READ_ALL;
    r.wait_after = at % 3 == 0 ? 1 : 100000;
    r.probe.query.op.cancel = &stop;
    r.probe.query.op.timeout_ns = at % 3 == 1 ? ALOFT_MILLISECONDS(40) : 0;
    start(&r);
    turns(&w, 60);
    aloft_status wanted = ALOFT_TIMEOUT;
    if (at % 3 == 0) {
      aloft_cancel_fire(&stop);
      wanted = ALOFT_CANCELLED;
    } else if (at % 3 == 2) {
      assert_int_equal(aloft_tds_int32(&r.probe.query, 2), 0);
      wanted = aloft_tds_step(&r.probe.query);
      assert_int_equal(wanted, ALOFT_WRONG_TYPE);
    }
    probe_wait(&r.probe);
    assert_int_equal(r.probe.status, wanted);
    prove(&w);
    aloft_cancel_fini(&stop);
    world_close(&w);
  }
}

static void test_asked_too_early(void **state) {
  (void)state;
  world w;
  reader r;
  world_open(&w);
  world_connect(&w);
  begin(&r, &w, "large 3000000");
  r.wait_after = 1;
  start_until_open(&r);
  assert_int_equal(aloft_tds_int32(&r.probe.query, 2), 0);
  assert_int_equal(aloft_tds_step(&r.probe.query), ALOFT_WRONG_TYPE);
  probe_wait(&r.probe);
  assert_string_equal(
      r.probe.error_text,
      "column 3 (after): it comes later in the row: step until ALOFT_MORE shows it");
  begin(&r, &w, "large 3000000");
  r.wait_after = 1;
  start_until_open(&r);
  assert_null(aloft_tds_text(&r.probe.query, 1).data);
  aloft_bytes piece;
  assert_int_equal(aloft_tds_read(&r.probe.query, &piece), ALOFT_WRONG_TYPE);
  probe_wait(&r.probe);
  assert_string_equal(r.probe.error_text,
                      "column 2 (large): it is read in pieces: use aloft_tds_read");
  prove(&w);
  world_close(&w);
}

/* ---- text that is not well-formed ---- */

static void test_ill_formed(void **state) {
  (void)state;
  for (int strict = 0; strict < 2; strict++) {
    world w;
    reader r;
    world_open(&w);
    w.config.strict_text = strict;
    world_connect(&w);
    begin(&r, &w, "ill-formed");
    run(&r, strict ? ALOFT_WRONG_TYPE : ALOFT_OK);
    if (strict) {
      assert_non_null(strstr(r.probe.error_text, "column 1 (broken)"));
    } else {
      assert_int_equal(r.sizes[0], 4999 + 3);
      assert_int_equal(r.last, 7);
    }
    prove(&w);
    world_close(&w);
  }
}

/* ---- wrong states ---- */

static void test_wrong_states(void **state) {
  (void)state;
  world w;
  reader r;
  aloft_bytes piece;
  world_open(&w);
  world_connect(&w);
  begin(&r, &w, "rows 3");
  assert_int_equal(aloft_tds_open_column(&r.probe.query), ALOFT_TDS_NO_COLUMN);
  r.probe.query.large = (aloft_tds_large)9;
  assert_int_equal(probe_start(&r.probe), ALOFT_ARGUMENT);
  begin(&r, &w, "large 100");
  r.probe.query.ready = probe_ready;
  r.probe.by_hand = true;
  start(&r);
  assert_int_equal(aloft_tds_read(&r.probe.query, &piece), ALOFT_WRONG_STATE);
  turns(&w, 50);
  assert_int_equal(aloft_tds_step(&r.probe.query), ALOFT_RESULT);
  assert_int_equal(aloft_tds_read(&r.probe.query, &piece), ALOFT_WRONG_STATE);
  assert_int_equal(aloft_tds_step(&r.probe.query), ALOFT_ROW);
  assert_int_equal(aloft_tds_read(&r.probe.query, &piece), ALOFT_OK);
  assert_int_equal(piece.size, 100);
  assert_int_equal(aloft_tds_read(&r.probe.query, &piece), ALOFT_DONE);
  assert_int_equal(aloft_tds_read(&r.probe.query, &piece), ALOFT_WRONG_STATE);
  assert_int_equal(aloft_tds_step(&r.probe.query), ALOFT_MORE);
  assert_int_equal(aloft_tds_read(&r.probe.query, &piece), ALOFT_WRONG_STATE);
  assert_null(aloft_tds_text(&r.probe.query, 1).data); /* it has gone by */
  assert_int_equal(aloft_tds_step(&r.probe.query), ALOFT_WRONG_TYPE);
  probe_wait(&r.probe);
  assert_non_null(strstr(r.probe.error_text, "was to be read in pieces"));
  prove(&w);
  world_close(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_value),
      cmocka_unit_test(test_announced_size),
      cmocka_unit_test(test_some_of_three),
      cmocka_unit_test(test_any_split),
      cmocka_unit_test(test_nothing_large),
      cmocka_unit_test(test_back_pressure),
      cmocka_unit_test(test_no_heap_in_steady_state),
      cmocka_unit_test(test_each_allocation_fails),
      cmocka_unit_test(test_given_up_in_a_value),
      cmocka_unit_test(test_asked_too_early),
      cmocka_unit_test(test_ill_formed),
      cmocka_unit_test(test_wrong_states),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
