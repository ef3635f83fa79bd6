/* The SQL Server client against a scripted server: connecting, queries, values, limits, ends. */
#include "tds_client.h"

#include "tds_connection.h"
#include "tds_reader_state.h"
#include "tds_response.h"

/* ---- connecting ---- */

static void test_connects(void **state) {
  (void)state;
  world w;
  world_open(&w);
  world_connect(&w);
  aloft_tds_info info = info_of(&w);
  assert_true(info.connected);
  assert_false(info.dead);
  assert_true(aloft_text_equal(info.database, ALOFT_TEXT("a_database")));
  assert_true(aloft_text_equal(info.server_name, ALOFT_TEXT("scripted")));
  assert_int_equal(info.server_version[0], 16);
  assert_int_equal(info.spid, 77);
  prove(&w);
  world_close(&w);
}

static void test_credentials_are_wiped(void **state) {
  (void)state;
  world w;
  world_open(&w);
  world_connect(&w);
  const alo_buffer *tx = &w.tds->stream.tx;
  assert_null(w.tds->login);
  for (size_t at = 0; at < tx->room; at++)
    assert_int_equal(tx->data[at], 0);
  world_close(&w);
}

static aloft_status open_refused(world *w, const char *string, const char *reason) {
  counted opening = counted_op();
  w->config.connection_string = aloft_text_of(string);
  aloft_status status = world_connect_op(w, &opening);
  assert_int_not_equal(status, ALOFT_OK);
  assert_non_null(strstr(opening.op.error->message.data, reason));
  assert_ptr_equal(opening.op.error, aloft_loop_error(w->loop));
  turns(w, 3);
  assert_int_equal(opening.done, 0);
  assert_int_equal(w->server.accepted, 0);
  return status;
}

static void test_refuses_what_it_cannot_do(void **state) {
  (void)state;
  world w;
  world_open(&w);
  assert_int_equal(open_refused(&w, "Encrypt=Optional;Colour=red", "Colour"), ALOFT_ARGUMENT);
  assert_int_equal(open_refused(&w, "Encrypt=Optional", "no Server"), ALOFT_ARGUMENT);
  world_close(&w);
}

static void fails_to_connect(world *w, aloft_status expected, int32_t number, const char *reason) {
  counted opening = counted_op();
  assert_int_equal(world_connect_op(w, &opening), ALOFT_OK);
  probe p, late;
  probe_begin(&p, w, "rows 1");
  assert_int_equal(aloft_wait(w->loop, &opening.op), expected);
  probe_wait(&p);
  assert_int_equal(opening.done, 1);
  assert_int_equal(opening.op.error->number, number);
  assert_non_null(strstr(opening.op.error->message.data, reason));
  assert_int_equal(p.status, expected);
  assert_false(p.written);
  probe_init(&late, w, "rows 1");
  assert_int_equal(probe_start(&late), expected);
  assert_int_equal(late.query.op.error->number, number);
  assert_true(info_of(w).dead);
}

static void test_login_errors(void **state) {
  (void)state;
  world w;
  world_open(&w);
  w.server.login_error = 18456;
  fails_to_connect(&w, ALOFT_AUTH, 18456, "Login failed");
  world_close(&w);
  world_open(&w);
  w.server.login_error = 4060;
  fails_to_connect(&w, ALOFT_SERVER, 4060, "Login failed");
  world_close(&w);
  world_open(&w);
  w.server.route = true;
  fails_to_connect(&w, ALOFT_UNSUPPORTED, 0, "elsewhere, port 1444");
  world_close(&w);
}

static void test_connect_deadline(void **state) {
  (void)state;
  world w;
  world_open(&w);
  w.server.mute = true;
  w.config.connect_timeout_ns = ALOFT_MILLISECONDS(300);
  uint64_t begin = aloft_loop_now(w.loop);
  fails_to_connect(&w, ALOFT_TIMEOUT, 0, "did not answer PRELOGIN");
  assert_true(aloft_loop_now(w.loop) - begin >= ALOFT_MILLISECONDS(300));
  world_close(&w);
  const alo_sim_faults silent = {.silent = 1000};
  world_open_with(&w, NULL, 1, &silent);
  fails_to_connect(&w, ALOFT_TIMEOUT, 0, "address was not reached");
  world_close(&w);
}

static void test_connect_refused(void **state) {
  (void)state;
  const alo_sim_faults refuse = {.refuse = 1000};
  world w;
  world_open_with(&w, NULL, 1, &refuse);
  fails_to_connect(&w, ALOFT_CONNECT, 0, "127.0.0.1, port");
  world_close(&w);
}

static void test_opening_cancelled(void **state) {
  (void)state;
  world w;
  world_open(&w);
  w.server.mute = true;
  counted opening = counted_op();
  assert_int_equal(world_connect_op(&w, &opening), ALOFT_OK);
  probe p;
  probe_begin(&p, &w, "rows 1");
  turns(&w, 4);
  assert_int_equal(aloft_op_cancel(&opening.op), ALOFT_OK);
  probe_wait(&p);
  assert_int_equal(opening.done, 1);
  assert_int_equal(opening.op.status, ALOFT_CANCELLED);
  assert_true(info_of(&w).dead);
  world_close(&w);
}

/* ---- answers ---- */

static void test_rows(void **state) {
  (void)state;
  world w;
  probe p;
  world_open(&w);
  world_connect(&w);
  assert_int_equal(probe_run(&p, &w, "rows 1000"), ALOFT_OK);
  assert_int_equal(p.rows, 1000);
  assert_int_equal(p.results, 1);
  assert_int_equal(p.sum, 499500);
  assert_true(p.written);
  assert_int_equal(probe_run(&p, &w, "two"), ALOFT_OK);
  assert_int_equal(p.results, 2);
  assert_int_equal(p.rows, 5);
  assert_int_equal(p.query.rows_affected, 3);
  assert_int_equal(probe_run(&p, &w, "large 100000"), ALOFT_OK);
  assert_int_equal(p.text_bytes, 100000);
  assert_int_equal(p.sum, 3);
  assert_int_equal(probe_run(&p, &w, "return -4"), ALOFT_OK);
  assert_true(p.query.returned);
  assert_int_equal(p.query.return_status, -4);
  world_close(&w);
}

static void read_mixed(probe *p) {
  aloft_tds_query *q = &p->query;
  const uint8_t uuid[16] = {1, 2, 3};
  assert_int_equal(aloft_tds_step(q), ALOFT_RESULT);
  assert_int_equal(aloft_tds_column_count(q), 7);
  assert_string_equal(aloft_tds_get_column(q, 3)->type_name, "decimal");
  assert_null(aloft_tds_get_column(q, 7));
  assert_int_equal(aloft_tds_step(q), ALOFT_ROW);
  assert_true(aloft_tds_bit(q, 0));
  assert_int_equal(aloft_tds_int32(q, 1), -5);
  assert_true(aloft_tds_double(q, 2) == 0.5);
  assert_int_equal(aloft_tds_get_decimal(q, 3).low, 12345);
  assert_memory_equal(aloft_tds_get_uuid(q, 4).bytes, uuid, 16);
  assert_int_equal(aloft_tds_get_bytes(q, 5).size, 2);
  assert_int_equal(aloft_tds_get_moment(q, 6).days, 738944);
  assert_true(aloft_text_equal(aloft_tds_text(q, 3), ALOFT_TEXT("123.45")));
  assert_true(aloft_text_equal(aloft_tds_text(q, 5), ALOFT_TEXT("0xDEAD")));
  assert_true(aloft_text_equal(aloft_tds_text(q, 6), ALOFT_TEXT("2024-02-29")));
  assert_int_equal(aloft_tds_step(q), ALOFT_ROW);
  for (size_t at = 0; at < 7; at++) {
    assert_true(aloft_tds_is_null(q, at));
    assert_null(aloft_tds_text(q, at).data);
  }
  assert_null(aloft_tds_get_bytes(q, 5).data);
  assert_int_equal(aloft_tds_step(q), ALOFT_DONE);
  assert_int_equal(aloft_tds_step(q), ALOFT_DONE);
}

static void test_values(void **state) {
  (void)state;
  world w;
  probe p;
  world_open(&w);
  world_connect(&w);
  probe_begin(&p, &w, "mixed");
  p.by_hand = true;
  p.on_ready = read_mixed;
  probe_wait(&p);
  assert_int_equal(p.status, ALOFT_OK);
  assert_int_equal(aloft_tds_step(&p.query), ALOFT_WRONG_STATE);
  world_close(&w);
}

/* ---- texts, asked again and again ---- */

enum { TIMES = 100000 };

static harness_heap text_heap;

static void ask_for_texts(probe *p) {
  aloft_tds_query *q = &p->query;
  aloft_text first[7];
  assert_int_equal(aloft_tds_step(q), ALOFT_RESULT);
  assert_int_equal(aloft_tds_step(q), ALOFT_ROW);
  for (size_t at = 0; at < 7; at++)
    first[at] = aloft_tds_text(q, at);
  size_t bytes = text_heap.live_bytes;
  for (unsigned time = 0; time < TIMES; time++) {
    for (size_t at = 0; at < 7; at++) {
      aloft_text text = aloft_tds_text(q, at);
      assert_ptr_equal(text.data, first[at].data);
      assert_int_equal(text.size, first[at].size);
    }
  }
  assert_int_equal(text_heap.live_bytes, bytes);
  assert_true(aloft_text_equal(first[1], ALOFT_TEXT("-5")));
  assert_true(aloft_text_equal(first[3], ALOFT_TEXT("123.45")));
  assert_int_equal(aloft_tds_int32(q, 1), -5); /* the bytes are there as they came */
  assert_int_equal(aloft_tds_get_decimal(q, 3).low, 12345);
  assert_memory_equal(aloft_tds_get_bytes(q, 5).data, "\xDE\xAD", 2);
  assert_int_equal(aloft_tds_step(q), ALOFT_ROW);
  assert_null(aloft_tds_text(q, 3).data); /* another row has other texts */
}

static void ask_for_no_text(probe *p) {
  aloft_tds_query *q = &p->query;
  assert_int_equal(aloft_tds_step(q), ALOFT_RESULT);
  assert_int_equal(aloft_tds_step(q), ALOFT_ROW);
  assert_null(aloft_tds_text(q, 1).data);
  size_t bytes = text_heap.live_bytes;
  for (unsigned time = 0; time < TIMES; time++)
    assert_null(aloft_tds_text(q, 1).data);
  assert_int_equal(text_heap.live_bytes, bytes);
  assert_true(aloft_text_equal(aloft_tds_text(q, 0), ALOFT_TEXT("1")));
}

static void ask_in_each_row(probe *p) {
  aloft_tds_query *q = &p->query;
  char name[40];
  assert_int_equal(aloft_tds_step(q), ALOFT_RESULT);
  for (unsigned row = 0; row < 20; row++) {
    assert_int_equal(aloft_tds_step(q), ALOFT_ROW);
    snprintf(name, sizeof name, "row %u", row);
    assert_true(aloft_text_equal(aloft_tds_text(q, 1), aloft_text_of(name)));
    assert_true(aloft_text_equal(aloft_tds_text(q, 1), aloft_text_of(name)));
  }
}

static void test_texts_are_made_once(void **state) {
  (void)state;
  static const char *const sql[] = {"mixed", "undated", "rows 20"};
  void (*const ask[])(probe *) = {ask_for_texts, ask_for_no_text, ask_in_each_row};
  const alo_sim_faults faults = {0};
  world w;
  harness_heap_init(&text_heap);
  world_open_with(&w, &text_heap.allocator, 1, &faults);
  world_connect(&w);
  for (size_t at = 0; at < 3; at++) {
    probe p;
    probe_begin(&p, &w, sql[at]);
    p.on_ready = ask[at];
    probe_wait(&p);
    assert_int_equal(p.status, at == 1 ? ALOFT_WRONG_TYPE : ALOFT_OK);
  }
  prove(&w);
  world_close(&w);
  harness_heap_check(&text_heap);
}

static void test_server_error(void **state) {
  (void)state;
  world w;
  probe p;
  world_open(&w);
  world_connect(&w);
  probe_begin(&p, &w, "error 8134");
  p.query.message = probe_message;
  probe_wait(&p);
  assert_int_equal(p.status, ALOFT_SERVER);
  assert_int_equal(p.error_number, 8134);
  assert_string_equal(p.error_text, "it went wrong");
  assert_int_equal(p.messages, 1);
  prove(&w);
  world_close(&w);
}

static void test_messages(void **state) {
  (void)state;
  world w;
  probe p;
  world_open(&w);
  world_connect(&w);
  for (int skipped = 0; skipped < 2; skipped++) {
    probe_begin(&p, &w, "message");
    p.query.message = probe_message;
    p.query.ready = skipped ? NULL : probe_ready;
    probe_wait(&p);
    assert_int_equal(p.status, ALOFT_OK);
    assert_int_equal(p.messages, 2);
    assert_int_equal(p.rows, skipped ? 0 : 1);
  }
  world_close(&w);
}

static void test_rows_skipped(void **state) {
  (void)state;
  world w;
  probe p;
  world_open(&w);
  world_connect(&w);
  probe_begin(&p, &w, "rows 5000");
  p.query.ready = NULL;
  probe_wait(&p);
  assert_int_equal(p.status, ALOFT_OK);
  assert_int_equal(p.query.rows_affected, 5000);
  probe_begin(&p, &w, "error 50000");
  p.query.ready = NULL;
  probe_wait(&p);
  assert_int_equal(p.status, ALOFT_SERVER);
  assert_int_equal(p.error_number, 50000);
  prove(&w);
  world_close(&w);
}

static void test_queries_wait_their_turn(void **state) {
  (void)state;
  world w;
  probe p[20];
  world_open(&w);
  counted opening = counted_op();
  assert_int_equal(world_connect_op(&w, &opening), ALOFT_OK);
  for (unsigned at = 0; at < 20; at++)
    probe_begin(&p[at], &w, at % 2 ? "rows 2" : "rows 7");
  for (unsigned at = 0; at < 20; at++) {
    probe_wait(&p[at]);
    assert_int_equal(p[at].status, ALOFT_OK);
    assert_int_equal(p[at].rows, at % 2 ? 2 : 7);
    for (unsigned later = at + 1; later < 20; later++)
      assert_int_equal(p[later].done, 0);
  }
  assert_int_equal(opening.done, 1);
  world_close(&w);
}

static void test_parameters(void **state) {
  (void)state;
  world w;
  probe p;
  world_open(&w);
  world_connect(&w);
  const aloft_tds_param params[] = {
      {.name = ALOFT_TEXT("a"), .type = ALOFT_TDS_INT, .value.integer = 7},
      {.name = ALOFT_TEXT("@b"), .type = ALOFT_TDS_NVARCHAR, .value.text = ALOFT_TEXT("x")}};
  probe_init(&p, &w, "size");
  p.query.params = params;
  p.query.param_count = 2;
  assert_int_equal(probe_start(&p), ALOFT_OK);
  probe_wait(&p);
  assert_int_equal(p.first, 4);
  assert_int_equal(p.second, 2);
  aloft_tds_param bad = {.name = ALOFT_TEXT("geo"), .type = ALOFT_TDS_UDT};
  probe_init(&p, &w, "size");
  p.query.params = &bad;
  p.query.param_count = 1;
  assert_int_equal(probe_start(&p), ALOFT_ARGUMENT);
  assert_non_null(strstr(p.query.op.error->message.data, "(geo): a UDT needs udt_name"));
  prove(&w);
  world_close(&w);
}

/* Both are encoded before `begin` is answered; the descriptor is that of the time of sending. */
static void test_transaction_descriptor(void **state) {
  (void)state;
  world w;
  probe begin, inside, commit, after;
  world_open(&w);
  world_connect(&w);
  probe_begin(&begin, &w, "begin");
  probe_begin(&inside, &w, "state");
  probe_begin(&commit, &w, "commit");
  probe_begin(&after, &w, "state");
  probe_wait(&inside);
  assert_int_equal(inside.first, INT64_C(0x1122334455667788));
  assert_true(info_of(&w).in_transaction);
  probe_wait(&after);
  assert_int_equal(after.first, 0);
  assert_false(info_of(&w).in_transaction);
  world_close(&w);
}

static uint8_t ending; /* the type of ENVCHANGE */

static void answer_ending(alo_tds_writer *writer) {
  alo_tds_put_env_bytes(writer, ending, (aloft_bytes){"", 0},
                        (aloft_bytes){"\1\2\3\4\5\6\7\10", 8});
}

/* Commit, rollback, a distributed transaction that the session leaves, one that has ended. */
static void test_each_end_of_a_transaction(void **state) {
  (void)state;
  static const uint8_t endings[] = {9, 10, 12, 17};
  world w;
  probe p;
  world_open(&w);
  world_connect(&w);
  w.server.answer = answer_ending;
  for (size_t at = 0; at < sizeof endings; at++) {
    ending = endings[at];
    assert_int_equal(probe_run(&p, &w, "begin"), ALOFT_OK);
    assert_true(info_of(&w).in_transaction);
    assert_int_equal(probe_run(&p, &w, "own"), ALOFT_OK);
    assert_false(info_of(&w).in_transaction);
    assert_int_equal(probe_run(&p, &w, "state"), ALOFT_OK);
    assert_int_equal(p.first, 0);
  }
  world_close(&w);
}

static void test_garbage(void **state) {
  (void)state;
  world w;
  probe p, next;
  world_open(&w);
  world_connect(&w);
  probe_begin(&p, &w, "garbage");
  probe_begin(&next, &w, "rows 1");
  probe_wait(&p);
  probe_wait(&next);
  assert_int_equal(p.status, ALOFT_PROTOCOL);
  assert_non_null(strstr(p.error_text, "at byte"));
  assert_int_equal(next.status, ALOFT_LOST_UNSENT);
  assert_int_equal(probe_start(&next), ALOFT_PROTOCOL);
  world_close(&w);
}

/* The server ends a statement with an error, but does not say which. */
static void test_undescribed_error(void **state) {
  (void)state;
  world w;
  probe p;
  world_open(&w);
  world_connect(&w);
  assert_int_equal(probe_run(&p, &w, "wrong"), ALOFT_SERVER);
  assert_int_equal(p.error_number, 0);
  assert_non_null(strstr(p.error_text, "did not describe"));
  prove(&w);
  world_close(&w);
}

/* What comes unasked: an end and a message are read over, an error is why the connection ends, rows
 * are an offence. */
static void test_unasked(void **state) {
  (void)state;
  world w;
  probe p, late;
  world_open(&w);
  world_connect(&w);
  assert_int_equal(probe_run(&p, &w, "nothing again"), ALOFT_OK);
  turns(&w, 3);
  prove(&w);
  assert_int_equal(probe_run(&p, &w, "error 6005 again"), ALOFT_SERVER);
  turns(&w, 3);
  prove(&w);
  tds_server_drop_all(&w.server);
  turns(&w, 3);
  probe_init(&late, &w, "rows 1");
  assert_int_equal(probe_start(&late), ALOFT_LOST);
  assert_int_equal(late.query.op.error->number, 6005);
  world_close(&w);
  world_open(&w);
  world_connect(&w);
  assert_int_equal(probe_run(&p, &w, "rows 1 again"), ALOFT_OK);
  turns(&w, 3);
  assert_int_equal(probe_start(&p), ALOFT_PROTOCOL);
  world_close(&w);
}

/* ---- misuse ---- */

static void take_wrong_type(probe *p) {
  aloft_tds_query *q = &p->query;
  assert_int_equal(aloft_tds_step(q), ALOFT_RESULT);
  assert_int_equal(aloft_tds_step(q), ALOFT_ROW);
  assert_int_equal(aloft_tds_int32(q, 1), 0);
  assert_true(aloft_tds_double(q, 0) == 0);
  assert_int_equal(aloft_tds_step(q), ALOFT_WRONG_TYPE);
}

static void take_no_row(probe *p) {
  aloft_tds_text(&p->query, 0);
  assert_int_equal(aloft_tds_step(&p->query), ALOFT_WRONG_TYPE);
}

static void take_beyond(probe *p) {
  aloft_tds_step(&p->query);
  aloft_tds_step(&p->query);
  aloft_tds_text(&p->query, 2);
  assert_int_equal(aloft_tds_step(&p->query), ALOFT_WRONG_TYPE);
}

static void test_accessor_misused(void **state) {
  (void)state;
  void (*const mistakes[])(probe *) = {take_wrong_type, take_no_row, take_beyond};
  const char *texts[] = {"column 2 (name)", "there is no row", "there is no such column"};
  world w;
  world_open(&w);
  world_connect(&w);
  for (size_t at = 0; at < 3; at++) {
    probe p;
    probe_begin(&p, &w, "rows 2000");
    p.by_hand = true;
    p.on_ready = mistakes[at];
    probe_wait(&p);
    assert_int_equal(p.status, ALOFT_WRONG_TYPE);
    assert_non_null(strstr(p.error_text, texts[at]));
    prove(&w);
  }
  world_close(&w);
}

static probe early;

static void ask_next_early(probe *p) {
  assert_int_equal(aloft_tds_step(&p->query), ALOFT_SERVER);
  assert_int_equal(p->done, 0);
  assert_int_equal(aloft_tds_int32(&early.query, 1), 0);
}

/* The next query is on the wire before the one before it is told of its error, which must not be
 * written over. */
static void test_accessor_misused_early(void **state) {
  (void)state;
  world w;
  probe p;
  world_open(&w);
  world_connect(&w);
  probe_begin(&p, &w, "error 8134");
  p.by_hand = true;
  p.on_ready = ask_next_early;
  probe_begin(&early, &w, "rows 2000");
  probe_wait(&p);
  assert_int_equal(p.status, ALOFT_SERVER);
  assert_int_equal(p.error_number, 8134);
  assert_string_equal(p.error_text, "it went wrong");
  probe_wait(&early);
  assert_int_equal(early.status, ALOFT_WRONG_TYPE);
  assert_string_equal(early.error_text, "column 2 (): there is no row");
  prove(&w);
  world_close(&w);
}

static void test_value_too_large(void **state) {
  (void)state;
  world w;
  probe p;
  world_open(&w);
  w.config.value_max = 1000;
  world_connect(&w);
  assert_int_equal(probe_run(&p, &w, "large 1001"), ALOFT_TOO_LARGE);
  assert_non_null(strstr(p.error_text, "column 2 (large)"));
  assert_int_equal(probe_run(&p, &w, "large 1000"), ALOFT_OK);
  prove(&w);
  world_close(&w);
}

/* ---- limits ---- */

static void test_queries_max(void **state) {
  (void)state;
  world w;
  probe p[4];
  world_open(&w);
  w.config.queries_max = 2;
  world_connect(&w);
  for (unsigned at = 0; at < 3; at++)
    probe_begin(&p[at], &w, "rows 1");
  probe_init(&p[3], &w, "rows 1");
  assert_int_equal(probe_start(&p[3]), ALOFT_TOO_MANY);
  assert_non_null(strstr(p[3].query.op.error->message.data, "queries_max"));
  probe_wait(&p[2]);
  prove(&w);
  world_close(&w);
}

static char big_sql[300001];

static const char *sql_of(size_t size) {
  memset(big_sql, ' ', size);
  memcpy(big_sql, "size", 4);
  big_sql[size] = 0;
  return big_sql;
}

static void refused_for_size(probe *p, aloft_status expected) {
  assert_int_equal(probe_start(p), expected);
  assert_int_equal(p->query.op.error->status, expected);
  assert_non_null(strstr(p->query.op.error->message.data, "tx_bytes_max"));
}

static void test_tx_bytes_max(void **state) {
  (void)state;
  world w;
  probe p, over;
  world_open(&w);
  w.config.tx_bytes_max = 100000;
  world_connect(&w);
  probe_begin(&p, &w, sql_of(40000));
  probe_init(&over, &w, sql_of(10000));
  refused_for_size(&over, ALOFT_FULL);
  probe_wait(&p);
  assert_int_equal(p.first, 40000);
  assert_int_equal(probe_start(&over), ALOFT_OK);
  probe_wait(&over);
  assert_int_equal(over.first, 10000);
  world_close(&w);
}

/* Alone over the limit: waiting cannot help, whatever is before it. By a little it is found out by
 * its size, by much the buffer has no room for it. */
static void test_tx_bytes_max_alone(void **state) {
  (void)state;
  const size_t sizes[] = {50001, 300000};
  world w;
  probe p, over;
  world_open(&w);
  w.config.tx_bytes_max = 100000;
  world_connect(&w);
  for (unsigned before = 0; before < 3; before++) {
    probe queued[2];
    for (unsigned at = 0; at < before; at++)
      probe_begin(&queued[at], &w, "rows 1");
    for (size_t at = 0; at < 2; at++) {
      const aloft_tds_param param = {
          .name = ALOFT_TEXT("a"),
          .type = ALOFT_TDS_VARBINARY,
          .value.bytes = {(const uint8_t *)sql_of(sizes[at]), sizes[at]}};
      probe_init(&over, &w, sql_of(sizes[at]));
      refused_for_size(&over, ALOFT_TOO_LARGE);
      probe_init(&over, &w, "size");
      over.query.params = &param;
      over.query.param_count = 1;
      if (at)
        refused_for_size(&over, ALOFT_TOO_LARGE);
    }
    for (unsigned at = 0; at < before; at++)
      probe_wait(&queued[at]);
  }
  assert_int_equal(probe_run(&p, &w, sql_of(49000)), ALOFT_OK);
  assert_int_equal(p.first, 49000);
  prove(&w);
  world_close(&w);
}

static void test_back_pressure(void **state) {
  (void)state;
  world w;
  probe p;
  world_open(&w);
  w.config.rx_bytes_max = 20000;
  world_connect(&w);
  probe_begin(&p, &w, "rows 20000");
  p.stop_after = 1;
  turns(&w, 100);
  uint64_t seen = info_of(&w).bytes_in;
  assert_true(seen < 40000);
  turns(&w, 100);
  assert_int_equal(info_of(&w).bytes_in, seen);
  assert_int_equal(p.rows, 1);
  p.stop_after = 0;
  assert_int_equal(probe_steps(&p), ALOFT_PENDING);
  probe_wait(&p);
  assert_int_equal(p.rows, 20000);
  world_close(&w);
}

/* ---- splits ---- */

static void test_any_split(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    const alo_sim_faults faults = {.short_read = 800, .split_write = 700, .full = 100};
    world w;
    probe p;
    world_open_with(&w, NULL, seed, &faults);
    snprintf(w.string + strlen(w.string), 40, ";Packet Size=%u", (unsigned)(512 + seed % 9));
    w.config.connection_string = aloft_text_of(w.string);
    world_connect(&w);
    assert_int_equal(info_of(&w).packet_size, 512 + seed % 9);
    assert_int_equal(probe_run(&p, &w, "rows 300"), ALOFT_OK);
    assert_int_equal(p.rows, 300);
    assert_int_equal(p.sum, 44850);
    assert_int_equal(p.text_bytes, 10 * 5 + 90 * 6 + 200 * 7);
    assert_int_equal(probe_run(&p, &w, "large 30000"), ALOFT_OK);
    assert_int_equal(p.text_bytes, 30000);
    assert_int_equal(probe_run(&p, &w, sql_of(9000)), ALOFT_OK);
    assert_int_equal(p.first, 9000);
    world_close(&w);
  }
}

/* ---- ends ---- */

/* The server dies after each byte of what it says: everything ends once, and in the right way. */
static void test_killed_at_every_byte(void **state) {
  (void)state;
  uint64_t all = 0, login = 0;
  for (uint64_t at = 1; all == 0 || at <= all; at++) {
    world w;
    world_open(&w);
    w.server.kill_at = at;
    counted opening = counted_op();
    assert_int_equal(world_connect_op(&w, &opening), ALOFT_OK);
    probe p, next;
    probe_begin(&p, &w, "rows 4");
    probe_begin(&next, &w, "rows 4");
    for (unsigned count = 0; count < 60; count++)
      turn(&w);
    assert_int_equal(opening.done, 1);
    assert_int_equal(p.done, 1);
    assert_int_equal(next.done, 1);
    if (opening.op.status != ALOFT_OK) {
      login = at;
      bool encrypting = w.server.tls && opening.op.status == ALOFT_ENCRYPTION;
      assert_true(encrypting || opening.op.status == ALOFT_CONNECT);
      assert_int_equal(p.status, opening.op.status);
      assert_int_equal(next.status, opening.op.status);
    } else if (p.status != ALOFT_OK) {
      /* killed by the last byte of login: the query finds the connection closed. The signature of a
       * handshake is not always of the same size. */
      bool unsent = w.server.tls ? !p.written : at == login + 1;
      assert_true(unsent ? at <= login + 8 : at > login);
      assert_int_equal(p.status, unsent ? ALOFT_LOST_UNSENT : ALOFT_LOST);
      assert_int_equal(p.written, !unsent);
      assert_int_equal(next.status, ALOFT_LOST_UNSENT);
      assert_false(next.written);
    } else {
      assert_int_equal(p.rows, 4);
      assert_true(next.status == ALOFT_LOST || next.status == ALOFT_LOST_UNSENT ||
                  next.status == ALOFT_OK);
    }
    if (next.status == ALOFT_OK && all == 0)
      all = at;
    world_close(&w);
  }
  assert_true(login > 100 && all > login + 100);
}

static const aloft_tds_info *finish_spoiled(world *w, probe *p, unsigned count) {
  static aloft_tds_info info;
  for (unsigned at = 0; at < count; at++)
    probe_wait(&p[at]);
  info = info_of(w);
  return &info;
}

/* Each byte of login and of answers is changed in turn: everything ends once and in its time, and a
 * connection that has noticed stays dead. */
static void test_spoiled_at_every_byte(void **state) {
  (void)state;
  const uint8_t changes[] = {0x01, 0x40, 0xFF};
  uint64_t all = 0; /* known after the first run, which spoils nothing */
  for (uint64_t at = 0; at <= all; at++) {
    for (size_t change = 0; change < sizeof changes; change++) {
      static const char *const sql[] = {"mixed", "message", "large 50", "rows 2"};
      world w;
      probe p[4];
      world_open(&w);
      w.server.spoil_at = at;
      w.server.spoil_with = changes[change];
      counted opening = counted_op();
      assert_int_equal(world_connect_op(&w, &opening), ALOFT_OK);
      for (unsigned which = 0; which < 4; which++) {
        probe_init(&p[which], &w, sql[which]);
        p[which].query.op.timeout_ns = ALOFT_SECONDS(40);
        p[which].query.message = probe_message;
        assert_int_equal(probe_start(&p[which]), ALOFT_OK);
      }
      const aloft_tds_info *info = finish_spoiled(&w, p, 4);
      assert_int_equal(opening.done, 1);
      assert_true(info->dead || info->connected);
      all = w.server.sent > all && p[3].status == ALOFT_OK ? w.server.sent : all;
      world_close(&w);
    }
  }
  assert_true(all > 1000);
}

static void test_answer_then_close(void **state) {
  (void)state;
  world w;
  probe p, next;
  world_open(&w);
  world_connect(&w);
  probe_begin(&p, &w, "rows 9 drop 100000");
  probe_begin(&next, &w, "rows 1");
  p.by_hand = true;
  turns(&w, 30);
  assert_true(info_of(&w).dead);
  assert_int_equal(next.status, ALOFT_LOST_UNSENT);
  assert_int_equal(p.done, 0);
  assert_int_equal(probe_steps(&p), ALOFT_DONE);
  probe_wait(&p);
  assert_int_equal(p.rows, 9);
  world_close(&w);
}

/* What a query is told of a loss without a reason fits whether it was written. */
static void test_texts_of_a_reset(void **state) {
  (void)state;
  world w;
  probe p, next;
  world_open(&w);
  world_connect(&w);
  probe_begin(&p, &w, "rows 9 hold 0");
  probe_begin(&next, &w, "rows 1");
  turns(&w, 4);
  alo_tds_connection_fail(w.tds, ALOFT_LOST, NULL, 0);
  probe_wait(&p);
  probe_wait(&next);
  assert_int_equal(p.status, ALOFT_LOST);
  assert_non_null(strstr(p.error_text, "after the request was written"));
  assert_int_equal(next.status, ALOFT_LOST_UNSENT);
  assert_non_null(strstr(next.error_text, "before the request was written"));
  world_close(&w);
}

static void test_closed_at_every_turn(void **state) {
  (void)state;
  for (unsigned count = 0; count < 24; count++) {
    for (int with_op = 0; with_op < 3; with_op++) {
      world w;
      world_open(&w);
      counted opening = counted_op(), closing = counted_op();
      assert_int_equal(world_connect_op(&w, &opening), ALOFT_OK);
      probe p[3];
      probe_begin(&p[0], &w, "rows 3");
      probe_begin(&p[1], &w, "rows 3 hold 40");
      probe_begin(&p[2], &w, "rows 3");
      turns(&w, count);
      if (with_op == 1) {
        assert_int_equal(aloft_tds_close(w.tds, &closing.op), ALOFT_OK);
        assert_int_equal(aloft_wait(w.loop, &closing.op), ALOFT_OK);
      } else if (with_op == 2) {
        assert_int_equal(aloft_tds_close(w.tds, NULL), ALOFT_OK);
        turns(&w, 3);
      }
      world_close(&w);
      assert_int_equal(closing.done, with_op == 1);
      assert_int_equal(opening.done, 1);
      for (unsigned at = 0; at < 3; at++) {
        assert_int_equal(p[at].done, 1);
        assert_true(p[at].status == ALOFT_CLOSED || (at == 0 && p[at].status == ALOFT_OK));
      }
    }
  }
}

static void close_it(probe *p) {
  assert_int_equal(aloft_tds_close(p->world->tds, NULL), ALOFT_OK);
  assert_int_equal(aloft_tds_close(p->world->tds, NULL), ALOFT_CLOSED);
}

static void test_closed_in_callbacks(void **state) {
  (void)state;
  for (int place = 0; place < 3; place++) {
    world w;
    probe p, next;
    world_open(&w);
    world_connect(&w);
    probe_begin(&p, &w, "message");
    probe_begin(&next, &w, "rows 1");
    p.query.message = probe_message;
    p.on_ready = place == 0 ? close_it : NULL;
    p.on_done = place == 2 ? close_it : NULL;
    if (place == 1) {
      p.on_message = close_it;
      p.stop_after = 1;
      p.query.ready = NULL;
    }
    if (place == 1) { /* only at the first of the two messages */
      for (unsigned at = 0; at < 20 && !p.done; at++)
        turn(&w);
    } else {
      probe_wait(&p);
    }
    turns(&w, 5);
    assert_int_equal(p.done, 1);
    assert_int_equal(next.done, 1);
    assert_int_equal(next.status, ALOFT_CLOSED);
    assert_int_equal(p.messages, place == 0 ? 0 : place == 1 ? 1 : 2);
    world_close(&w);
  }
}

/* ---- over real sockets ---- */

static void stop_over_sockets(world *w, const char *sql) {
  probe p;
  probe_begin(&p, w, sql);
  p.stop_after = 1;
  unsigned requests = w->server.requests;
  while (w->server.requests == requests)
    turn(w);
  assert_int_equal(aloft_op_cancel(&p.query.op), ALOFT_OK);
  probe_wait(&p);
  assert_int_equal(p.status, ALOFT_CANCELLED);
  prove(w);
}

static void test_over_libuv(void **state) {
  (void)state;
  int error;
  world w;
  probe p;
  world_open_on(&w, NULL, alo_driver_uv_open(&alo_heap_default, &error));
  world_connect(&w);
  assert_int_equal(probe_run(&p, &w, "rows 50000"), ALOFT_OK);
  assert_int_equal(p.rows, 50000);
  assert_int_equal(probe_run(&p, &w, "large 5000000"), ALOFT_OK);
  assert_int_equal(p.text_bytes, 5000000);
  assert_int_equal(probe_run(&p, &w, sql_of(300000)), ALOFT_OK);
  assert_int_equal(p.first, 300000);
  stop_over_sockets(&w, "rows 90000");
  stop_over_sockets(&w, "rows 900 hold 1000");
  stop_over_sockets(&w, "large 3000000 interrupt 100000");
  probe_init(&p, &w, "rows 9 hold 60");
  p.query.op.timeout_ns = ALOFT_MILLISECONDS(10);
  assert_int_equal(probe_start(&p), ALOFT_OK);
  probe_wait(&p);
  assert_int_equal(p.status, ALOFT_TIMEOUT);
  prove(&w);
  assert_int_equal(probe_run(&p, &w, "rows 90 drop 700"), ALOFT_LOST);
  assert_int_equal(probe_start(&p), ALOFT_LOST);
  world_close(&w);
}

/* ---- memory ---- */

static void use_all(const aloft_allocator *allocator, void *context) {
  const alo_sim_faults faults = {0};
  world w;
  (void)context;
  world_open_with(&w, allocator, 1, &faults);
  if (!w.loop)
    return;
  counted opening = counted_op();
  static probe p[4];
  static const char *const sql[] = {"rows 200", "large 20000", "error 1", "rows 9 hold 99"};
  unsigned started = 0;
  if (world_connect_op(&w, &opening) == ALOFT_OK) {
    for (unsigned at = 0; at < 4; at++) {
      probe_init(&p[started], &w, sql[at]);
      p[started].query.op.timeout_ns = at == 3 ? ALOFT_SECONDS(1) : 0;
      started += probe_start(&p[started]) == ALOFT_OK;
    }
    for (unsigned at = 0; at < 80; at++)
      aloft_loop_turn(w.loop, 0);
    alo_sim_pass(w.driver, ALOFT_SECONDS(2)); /* the last one is timed out, and drained */
    for (unsigned at = 0; at < 20; at++)
      aloft_loop_turn(w.loop, 0);
  }
  world_close(&w);
  for (unsigned at = 0; at < started; at++)
    assert_int_equal(p[at].done, 1);
}

static void test_each_allocation_fails(void **state) {
  (void)state;
  assert_true(harness_each_allocation(use_all, NULL) > 8);
}

static void test_no_heap_in_steady_state(void **state) {
  (void)state;
  const alo_sim_faults faults = {0};
  harness_heap heap;
  harness_heap_init(&heap);
  world w;
  world_open_with(&w, &heap.allocator, 1, &faults);
  world_connect(&w);
  aloft_cancel stop;
  aloft_cancel_init(&stop, w.loop, NULL);
  uint64_t calls = 0;
  for (unsigned at = 0; at < 1050; at++) {
    static const char *const sql[] = {"rows 40", "large 9000", "rows 3 hold 40", "mixed"};
    const aloft_tds_param param = {
        .name = ALOFT_TEXT("a"), .type = ALOFT_TDS_NVARCHAR, .value.text = ALOFT_TEXT("text")};
    probe p;
    if (at == 50)
      calls = heap.allocations + heap.resizes + heap.releases;
    probe_init(&p, &w, sql[at % 4]);
    p.query.op.timeout_ns = ALOFT_MILLISECONDS(50);
    p.query.op.cancel = &stop;
    p.query.params = &param;
    p.query.param_count = at % 2;
    assert_int_equal(probe_start(&p), ALOFT_OK);
    probe_wait(&p);
    assert_int_equal(p.status, at % 4 == 2 ? ALOFT_TIMEOUT : ALOFT_OK);
  }
  assert_int_equal(heap.allocations + heap.resizes + heap.releases, calls);
  assert_true(w.server.attentions > 200);
  aloft_cancel_fini(&stop);
  world_close(&w);
  harness_heap_check(&heap);
}

/* ---- memory that a large value or request has left ---- */

enum { MIB = 1 << 20 };

static size_t held(const world *w) {
  const alo_tds_reader *reader = w->tds->reader;
  return alo_tds_memory_held(&reader->row) + alo_tds_memory_held(&reader->large) +
         w->tds->stream.tx.room + w->tds->waiting.room;
}

static bool watches(const world *w) {
  return aloft_op_in_flight(&w->tds->trim.op);
}

static void pass(world *w, unsigned seconds) {
  while (seconds--) {
    alo_sim_pass(w->driver, ALOFT_SECONDS(1));
    turn(w);
  }
}

static void run_large(world *w, const char *sql) {
  probe p;
  assert_int_equal(probe_run(&p, w, sql), ALOFT_OK);
}

static void test_memory_is_given_back(void **state) {
  (void)state;
  const alo_sim_faults faults = {0};
  harness_heap heap;
  world w;
  probe p[2];
  harness_heap_init(&heap);
  world_open_with(&w, &heap.allocator, 1, &faults);
  world_connect(&w);
  prove(&w);
  pass(&w, 1);
  assert_false(watches(&w)); /* who takes little pays nothing */
  run_large(&w, "large 3000000");
  for (unsigned at = 0; at < 2; at++)
    probe_begin(&p[at], &w, sql_of(300000)); /* one is sent, the other waits */
  probe_wait(&p[1]);
  assert_true(held(&w) > 4 * MIB);
  size_t before = heap.live_bytes;
  pass(&w, 25);
  assert_true(held(&w) <= MIB);
  assert_true(before - heap.live_bytes >= 3 * MIB);
  assert_false(watches(&w));
  run_large(&w, "large 3000000");
  prove(&w);
  assert_true(watches(&w));
  assert_int_equal(aloft_tds_close(w.tds, NULL), ALOFT_OK);
  pass(&w, 25); /* what has been closed is looked at no more */
  world_close(&w);
  harness_heap_check(&heap);
}

/* Also when small ones follow, and when the request was refused. */
static void test_memory_is_given_back_while_used(void **state) {
  (void)state;
  world w;
  probe over;
  world_open(&w);
  w.config.tx_bytes_max = 400000;
  world_connect(&w);
  probe_init(&over, &w, sql_of(300000));
  assert_int_equal(probe_start(&over), ALOFT_TOO_LARGE);
  assert_true(held(&w) > MIB / 4);
  pass(&w, 25);
  assert_true(held(&w) <= MIB / 4);
  run_large(&w, "large 3000000");
  for (unsigned at = 0; at < 25; at++) {
    run_large(&w, "large 100");
    pass(&w, 1);
  }
  assert_true(held(&w) <= MIB / 4);
  assert_false(watches(&w));
  world_close(&w);
}

static void test_memory_of_many_values(void **state) {
  (void)state;
  world w;
  world_open(&w);
  world_connect(&w);
  run_large(&w, "larger 900000"); /* in several blocks, which are made one the next time */
  assert_true(held(&w) > 3 * MIB);
  pass(&w, 25);
  assert_true(held(&w) <= MIB);
  run_large(&w, "large 100");
  assert_true(held(&w) <= MIB);
  world_close(&w);
}

/* Values that are shown stay, however long they are looked at. */
static void test_memory_in_use_stays(void **state) {
  (void)state;
  const alo_sim_faults faults = {0};
  harness_heap heap;
  world w;
  probe p;
  harness_heap_init(&heap);
  world_open_with(&w, &heap.allocator, 1, &faults);
  world_connect(&w);
  run_large(&w, "large 3000000");
  probe_begin(&p, &w, "large 400000");
  p.stop_after = 1;
  while (!p.rows)
    turn(&w);
  aloft_text text = aloft_tds_text(&p.query, 1);
  assert_int_equal(text.size, 400000);
  pass(&w, 45);
  for (size_t at = 0; at < text.size; at++)
    assert_int_equal(text.data[at], 'a' + at % 26);
  p.stop_after = 0;
  probe_steps(&p);
  probe_wait(&p);
  assert_int_equal(p.status, ALOFT_OK);
  pass(&w, 25);
  assert_true(held(&w) <= MIB);
  world_close(&w);
  harness_heap_check(&heap);
}

/* As large every few seconds: nothing is given back, and nothing taken. */
static void test_no_heap_for_steady_large(void **state) {
  (void)state;
  const alo_sim_faults faults = {0};
  harness_heap heap;
  harness_heap_init(&heap);
  world w;
  world_open_with(&w, &heap.allocator, 1, &faults);
  world_connect(&w);
  uint64_t calls = 0;
  for (unsigned at = 0; at < 60; at++) {
    probe p;
    if (at == 10)
      calls = heap.allocations + heap.resizes + heap.releases;
    run_large(&w, at % 2 ? "large 1000000" : "larger 300000");
    probe_begin(&p, &w, sql_of(300000));
    probe_wait(&p);
    pass(&w, 4);
  }
  assert_int_equal(heap.allocations + heap.resizes + heap.releases, calls);
  assert_true(watches(&w));
  world_close(&w);
  harness_heap_check(&heap);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_connects),
      cmocka_unit_test(test_credentials_are_wiped),
      cmocka_unit_test(test_refuses_what_it_cannot_do),
      cmocka_unit_test(test_login_errors),
      cmocka_unit_test(test_connect_deadline),
      cmocka_unit_test(test_connect_refused),
      cmocka_unit_test(test_opening_cancelled),
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_texts_are_made_once),
      cmocka_unit_test(test_server_error),
      cmocka_unit_test(test_messages),
      cmocka_unit_test(test_rows_skipped),
      cmocka_unit_test(test_queries_wait_their_turn),
      cmocka_unit_test(test_parameters),
      cmocka_unit_test(test_transaction_descriptor),
      cmocka_unit_test(test_each_end_of_a_transaction),
      cmocka_unit_test(test_garbage),
      cmocka_unit_test(test_undescribed_error),
      cmocka_unit_test(test_unasked),
      cmocka_unit_test(test_accessor_misused),
      cmocka_unit_test(test_accessor_misused_early),
      cmocka_unit_test(test_value_too_large),
      cmocka_unit_test(test_queries_max),
      cmocka_unit_test(test_tx_bytes_max),
      cmocka_unit_test(test_tx_bytes_max_alone),
      cmocka_unit_test(test_back_pressure),
      cmocka_unit_test(test_any_split),
      cmocka_unit_test(test_killed_at_every_byte),
      cmocka_unit_test(test_spoiled_at_every_byte),
      cmocka_unit_test(test_answer_then_close),
      cmocka_unit_test(test_texts_of_a_reset),
      cmocka_unit_test(test_closed_at_every_turn),
      cmocka_unit_test(test_closed_in_callbacks),
      cmocka_unit_test(test_over_libuv),
      cmocka_unit_test(test_each_allocation_fails),
      cmocka_unit_test(test_no_heap_in_steady_state),
      cmocka_unit_test(test_memory_is_given_back),
      cmocka_unit_test(test_memory_is_given_back_while_used),
      cmocka_unit_test(test_memory_of_many_values),
      cmocka_unit_test(test_memory_in_use_stays),
      cmocka_unit_test(test_no_heap_for_steady_large),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
