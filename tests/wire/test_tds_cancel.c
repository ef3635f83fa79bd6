/* Cancel and timeout of a query at every phase. The operation completes at once and once; the next
 * query on the same connection proves that nothing of the old one is left on the wire. */
#include "tds_client.h"

#include "tds_connection.h"
#include "tds_response.h"

/* How a query is brought to its end: by aloft_op_cancel, by a cancellation, by the parent of one,
 * by its timeout. */
typedef enum { BY_OP, BY_CANCEL, BY_PARENT, BY_TIMEOUT, WAYS } way;

typedef struct stopper {
  way way;
  aloft_cancel parent, child;
} stopper;

static const uint64_t SOON = ALOFT_MILLISECONDS(40);

static void stopper_init(stopper *s, world *w, way by) {
  s->way = by;
  aloft_cancel_init(&s->parent, w->loop, NULL);
  aloft_cancel_init(&s->child, w->loop, &s->parent);
}

static void stopper_fini(stopper *s) {
  aloft_cancel_fini(&s->child);
  aloft_cancel_fini(&s->parent);
}

static void begin_with(probe *p, world *w, const char *sql, stopper *s) {
  probe_init(p, w, sql);
  if (s->way == BY_TIMEOUT)
    p->query.op.timeout_ns = SOON;
  else if (s->way != BY_OP)
    p->query.op.cancel = &s->child;
  assert_int_equal(probe_start(p), ALOFT_OK);
}

/* Stops it and sees it done in this turn or the next. */
static void stop(probe *p, stopper *s) {
  world *w = p->world;
  assert_int_equal(p->done, 0);
  if (s->way == BY_OP)
    assert_int_equal(aloft_op_cancel(&p->query.op), ALOFT_OK);
  else if (s->way == BY_CANCEL)
    aloft_cancel_fire(&s->child);
  else if (s->way == BY_PARENT)
    aloft_cancel_fire(&s->parent);
  else
    alo_sim_pass(w->driver, SOON + ALOFT_MILLISECONDS(2));
  turn(w);
  if (!p->done)
    turn(w);
  assert_int_equal(p->done, 1);
  assert_int_equal(p->status, s->way == BY_TIMEOUT ? ALOFT_TIMEOUT : ALOFT_CANCELLED);
  assert_int_equal(aloft_op_cancel(&p->query.op), ALOFT_WRONG_STATE);
}

/* A phase: what is running, and how far. */
typedef struct phase {
  const char *sql;
  unsigned turns;
  unsigned attentions; /* that the server sees */
  unsigned requests;   /* that the server sees of this query */
  bool written;
  unsigned stop_after;
} phase;

static void stop_in_phase(const phase *at, way by) {
  world w;
  stopper s;
  probe p;
  world_open(&w);
  world_connect(&w);
  stopper_init(&s, &w, by);
  begin_with(&p, &w, at->sql, &s);
  p.stop_after = at->stop_after;
  turns(&w, at->turns);
  stop(&p, &s);
  assert_int_equal(p.written, at->written);
  prove(&w);
  assert_int_equal(p.done, 1);
  assert_int_equal(w.server.attentions, at->attentions);
  assert_int_equal(info_of(&w).attentions, at->attentions);
  assert_int_equal(w.server.requests, at->requests + 1);
  assert_false(info_of(&w).draining);
  stopper_fini(&s);
  world_close(&w);
}

static void test_each_phase(void **state) {
  (void)state;
  static const phase phases[] = {
      {"rows 3 hold 0", 5, 1, 1, true, 0},       /* no answer yet; then it crosses */
      {"rows 3 interrupt 0", 5, 1, 1, true, 0},  /* the answer is the acknowledgement */
      {"rows 3 pause 100000", 5, 1, 1, true, 0}, /* the statement is stopped */
      {"rows 900 hold 20", 5, 1, 1, true, 0},    /* inside COLMETADATA */
      {"rows 900 hold 75", 5, 1, 1, true, 0},    /* inside a row */
      {"rows 900 hold 9000", 5, 1, 1, true, 0},  /* after some packets */
      {"rows 900 interrupt 100", 5, 1, 1, true, 0},
      {"large 50000 hold 30", 5, 1, 1, true, 0},    /* inside COLMETADATA */
      {"large 50000 hold 20000", 5, 1, 1, true, 0}, /* inside the large value */
      {"large 50000 hold 20001", 5, 1, 1, true, 0},
      {"large 50000 interrupt 99999", 5, 1, 1, true, 0},
      {"rows 900 late 30", 5, 0, 1, true, 7}, /* the answer has arrived, its reader has stopped */
      {"rows 90000 late 30", 6, 1, 1, true, 7},
  };
  for (size_t at = 0; at < sizeof phases / sizeof *phases; at++)
    for (way by = BY_OP; by < WAYS; by++)
      stop_in_phase(&phases[at], by);
}

/* At every byte of an answer. */
static void test_each_byte_of_an_answer(void **state) {
  (void)state;
  for (unsigned at = 0; at < 400; at++) {
    char hold[64], interrupt[64];
    snprintf(hold, sizeof hold, "rows 8 hold %u", at);
    snprintf(interrupt, sizeof interrupt, "large 120 interrupt %u", at);
    const phase crossing = {hold, 5, 1, 1, true, 0}, within = {interrupt, 5, 1, 1, true, 0};
    world w;
    probe p;
    world_open(&w);
    world_connect(&w);
    probe_begin(&p, &w, hold);
    turns(&w, 6);
    bool whole = p.done;
    world_close(&w);
    if (whole)
      return;
    stop_in_phase(&crossing, at % WAYS);
    stop_in_phase(&within, (at + 1) % WAYS);
  }
  fail_msg("the answer is longer than the test");
}

/* ---- before the server has the whole of it ---- */

static void test_while_connecting(void **state) {
  (void)state;
  for (way by = BY_OP; by < WAYS; by++) {
    for (unsigned count = 0; count < 4; count++) {
      world w;
      stopper s;
      probe p, other;
      world_open(&w);
      counted opening = counted_op();
      assert_int_equal(world_connect_op(&w, &opening), ALOFT_OK);
      stopper_init(&s, &w, by);
      probe_begin(&other, &w, "rows 2");
      begin_with(&p, &w, "rows 3", &s);
      w.server.mute = count > 0;
      turns(&w, count);
      stop(&p, &s);
      assert_false(p.written);
      if (w.server.mute) {
        assert_int_equal(aloft_tds_close(w.tds, NULL), ALOFT_OK);
        turns(&w, 3);
        assert_int_equal(other.status, ALOFT_CLOSED);
      } else {
        prove(&w);
        assert_int_equal(other.status, ALOFT_OK);
        assert_int_equal(w.server.requests, 2);
      }
      stopper_fini(&s);
      world_close(&w);
    }
  }
}

/* First, in the middle, last of those that wait; the others are sent, unharmed. */
static void test_while_waiting(void **state) {
  (void)state;
  for (way by = BY_OP; by < WAYS; by++) {
    for (unsigned which = 0; which < 3; which++) {
      world w;
      stopper s;
      probe running, p[3];
      static const char *const sql[] = {"size 1", "size 22", "size 333"};
      world_open(&w);
      world_connect(&w);
      stopper_init(&s, &w, by);
      probe_begin(&running, &w, "rows 5 pause 100");
      for (unsigned at = 0; at < 3; at++)
        if (at == which)
          begin_with(&p[at], &w, sql[at], &s);
        else
          probe_begin(&p[at], &w, sql[at]);
      turns(&w, 4);
      stop(&p[which], &s);
      assert_false(p[which].written);
      assert_int_equal(running.done, 0);
      for (unsigned at = 0; at < 3; at++) {
        if (at == which)
          continue;
        probe_wait(&p[at]);
        assert_int_equal(p[at].first, strlen(sql[at]));
      }
      assert_int_equal(running.status, ALOFT_OK);
      assert_int_equal(w.server.requests, 3);
      assert_int_equal(w.server.attentions, 0);
      prove(&w);
      stopper_fini(&s);
      world_close(&w);
    }
  }
}

/* Started and stopped before the turn's output: the server never hears of it. */
static void test_not_written(void **state) {
  (void)state;
  world w;
  probe p, next;
  world_open(&w);
  world_connect(&w);
  probe_begin(&p, &w, "rows 1");
  probe_begin(&next, &w, "rows 2");
  assert_int_equal(aloft_op_cancel(&p.query.op), ALOFT_OK);
  assert_int_equal(p.done, 0);
  probe_wait(&next);
  assert_int_equal(p.done, 1);
  assert_false(p.written);
  assert_int_equal(next.rows, 2);
  assert_int_equal(w.server.requests, 1);
  assert_int_equal(w.server.ignored + w.server.attentions, 0);
  prove(&w);
  world_close(&w);
}

static char big_sql[400001];

/* The network takes a part: the packet begun is ended, an empty one with IGNORE follows. */
static void test_partly_written(void **state) {
  (void)state;
  memset(big_sql, ' ', sizeof big_sql - 1);
  memcpy(big_sql, "size", 4);
  for (way by = BY_OP; by < WAYS; by++) {
    for (uint64_t seed = 1; seed < 30; seed++) {
      const alo_sim_faults faults = {.split_write = 900, .full = 500};
      world w;
      stopper s;
      probe p;
      world_open_with(&w, NULL, seed, &faults);
      world_connect(&w);
      stopper_init(&s, &w, by);
      uint64_t before = info_of(&w).bytes_out;
      begin_with(&p, &w, big_sql, &s);
      while (info_of(&w).bytes_out == before)
        turn(&w);
      uint64_t part = info_of(&w).bytes_out - before;
      assert_true(part < sizeof big_sql);
      stop(&p, &s);
      assert_false(p.written);
      prove(&w);
      assert_int_equal(w.server.ignored, 1);
      assert_int_equal(w.server.requests, 1);
      assert_int_equal(w.server.attentions, 0);
      assert_true(info_of(&w).bytes_out - before < sizeof big_sql);
      stopper_fini(&s);
      world_close(&w);
    }
  }
}

/* ---- the answer is there ---- */

/* The loop was held up: the answer lies in the socket when the timeout is over. The answer wins. */
static void test_reply_wins(void **state) {
  (void)state;
  for (int skipped = 0; skipped < 2; skipped++) {
    world w;
    probe p;
    world_open(&w);
    world_connect(&w);
    probe_init(&p, &w, "rows 9 pause 20");
    p.query.op.timeout_ns = SOON;
    p.query.ready = skipped ? NULL : probe_ready;
    assert_int_equal(probe_start(&p), ALOFT_OK);
    turns(&w, 4);
    alo_sim_pass(w.driver, ALOFT_MILLISECONDS(25));
    turn(&w); /* the server answers, at the end of this turn */
    assert_int_equal(p.done, 0);
    alo_sim_pass(w.driver, ALOFT_SECONDS(1));
    probe_wait(&p);
    assert_int_equal(p.status, ALOFT_OK);
    assert_int_equal(w.server.attentions, 0);
    world_close(&w);
  }
}

static void answer_acknowledging(alo_tds_writer *writer) {
  alo_tds_put_done(writer, &(alo_tds_done){.token = 0xFD, .status = ALO_TDS_DONE_ATTN});
}

/* The answer that is owed may not be an acknowledgement: it would be of no ATTENTION, and the next
 * query would be given the answer of this one. */
static void test_acknowledgement_of_nothing(void **state) {
  (void)state;
  world w;
  probe p, next;
  world_open(&w);
  world_connect(&w);
  w.server.answer = answer_acknowledging;
  probe_init(&p, &w, "own");
  p.by_hand = true;
  assert_int_equal(probe_start(&p), ALOFT_OK);
  turns(&w, 6);
  assert_int_equal(p.ready, 1);
  assert_int_equal(aloft_op_cancel(&p.query.op), ALOFT_OK);
  probe_begin(&next, &w, "rows 3");
  probe_wait(&next);
  assert_int_equal(p.status, ALOFT_CANCELLED);
  assert_int_equal(next.status, ALOFT_LOST_UNSENT);
  assert_non_null(strstr(next.error_text, "an answer to no request"));
  assert_int_equal(w.server.attentions, 0);
  assert_true(info_of(&w).dead);
  world_close(&w);
}

static probe *stepped;

static void step_the_other(probe *p) {
  (void)p;
  probe_steps(stepped);
}

/* Who steps elsewhere, when `ready` is about to run, is told by it all the same. */
static void test_told_after_a_step_elsewhere(void **state) {
  (void)state;
  world w;
  probe p, waiting;
  world_open(&w);
  world_connect(&w);
  probe_init(&p, &w, "rows 4000");
  p.by_hand = true;
  p.query.op.timeout_ns = SOON;
  stepped = &p;
  assert_int_equal(probe_start(&p), ALOFT_OK);
  while (p.rows == 0) {
    assert_int_equal(p.ready, 0);
    probe_begin(&waiting, &w, "nothing");
    waiting.on_done = step_the_other;
    assert_int_equal(aloft_op_cancel(&waiting.query.op), ALOFT_OK);
    turn(&w); /* its done comes before `ready` */
  }
  turns(&w, 10); /* the rest arrives */
  assert_int_equal(p.ready, 1);
  alo_sim_pass(w.driver, SOON + ALOFT_MILLISECONDS(2));
  turns(&w, 2);
  assert_int_equal(p.done, 1);
  assert_int_equal(p.status, ALOFT_TIMEOUT);
  prove(&w);
  world_close(&w);
}

/* Half of it does not win. */
static void test_half_a_reply_does_not_win(void **state) {
  (void)state;
  world w;
  probe p;
  world_open(&w);
  world_connect(&w);
  probe_init(&p, &w, "rows 9 hold 100");
  p.query.op.timeout_ns = SOON;
  assert_int_equal(probe_start(&p), ALOFT_OK);
  turn(&w);
  alo_sim_pass(w.driver, ALOFT_SECONDS(1));
  probe_wait(&p);
  assert_int_equal(p.status, ALOFT_TIMEOUT);
  prove(&w);
  world_close(&w);
}

/* The caller's cancellation counts before the timeout of the same turn. */
static void test_cancel_before_timeout(void **state) {
  (void)state;
  world w;
  probe p;
  aloft_cancel cancel;
  world_open(&w);
  world_connect(&w);
  aloft_cancel_init(&cancel, w.loop, NULL);
  probe_init(&p, &w, "rows 9 hold 100");
  p.query.op.timeout_ns = SOON;
  p.query.op.cancel = &cancel;
  assert_int_equal(probe_start(&p), ALOFT_OK);
  turns(&w, 4);
  alo_sim_pass(w.driver, ALOFT_SECONDS(1));
  aloft_cancel_fire(&cancel);
  probe_wait(&p);
  assert_int_equal(p.status, ALOFT_CANCELLED);
  prove(&w);
  aloft_cancel_fini(&cancel);
  world_close(&w);
}

/* ---- from inside callbacks ---- */

static void cancel_it(probe *p) {
  assert_int_equal(aloft_op_cancel(&p->query.op), ALOFT_OK);
  assert_int_equal(aloft_op_cancel(&p->query.op), ALOFT_WRONG_STATE);
  assert_int_equal(p->done, 0);
}

static void cancel_with_a_row(probe *p) {
  assert_int_equal(aloft_tds_step(&p->query), ALOFT_RESULT);
  assert_int_equal(aloft_tds_step(&p->query), ALOFT_ROW);
  aloft_text name = aloft_tds_text(&p->query, 1);
  cancel_it(p);
  assert_true(aloft_text_equal(name, ALOFT_TEXT("row 0"))); /* until the next step */
  assert_int_equal(aloft_tds_step(&p->query), ALOFT_CANCELLED);
}

static void test_inside_callbacks(void **state) {
  (void)state;
  static const char *const sql[] = {"message", "message pause 5", "rows 900", "rows 9 hold 200"};
  for (size_t at = 0; at < 4; at++) {
    for (int place = 0; place < 3; place++) {
      world w;
      probe p, next;
      world_open(&w);
      world_connect(&w);
      probe_begin(&p, &w, sql[at]);
      probe_begin(&next, &w, "rows 6");
      p.query.message = probe_message;
      if (place == 0)
        p.on_ready = cancel_it;
      else if (place == 1 && at < 2)
        p.on_message = cancel_it;
      else
        p.on_ready = at < 2 ? cancel_it : cancel_with_a_row;
      probe_wait(&p);
      assert_int_equal(p.status, ALOFT_CANCELLED);
      probe_wait(&next);
      assert_int_equal(next.status, ALOFT_OK);
      assert_int_equal(next.rows, 6);
      prove(&w);
      world_close(&w);
    }
  }
}

static aloft_text kept;
static const aloft_tds_column *kept_column;
static uint64_t bytes_read;

static uint64_t bytes_read_of(const probe *p) {
  return alo_tds_reader_counters(p->world->tds->reader).bytes;
}

static void keep_a_row(probe *p) {
  assert_int_equal(aloft_tds_step(&p->query), ALOFT_RESULT);
  assert_int_equal(aloft_tds_step(&p->query), ALOFT_ROW);
  kept = aloft_tds_text(&p->query, 1);
  kept_column = aloft_tds_get_column(&p->query, 1);
  cancel_it(p);
  bytes_read = bytes_read_of(p);
}

static void look_at_it(probe *p) {
  assert_true(aloft_text_equal(kept, ALOFT_TEXT("row 0")));
  assert_true(aloft_text_equal(kept_column->name, ALOFT_TEXT("name")));
  assert_int_equal(bytes_read_of(p), bytes_read);
}

/* More arrives between the cancel and its done; what the row showed stays until then. */
static void test_views_last_until_done(void **state) {
  (void)state;
  world w;
  probe p;
  world_open(&w);
  world_connect(&w);
  probe_begin(&p, &w, "rows 90000");
  p.by_hand = true;
  p.on_ready = keep_a_row;
  p.on_done = look_at_it;
  probe_wait(&p);
  assert_int_equal(p.status, ALOFT_CANCELLED);
  prove(&w);
  world_close(&w);
}

static probe *other;

static void cancel_other(probe *p) {
  (void)p;
  assert_int_equal(aloft_op_cancel(&other->query.op), ALOFT_OK);
}

static void start_again(probe *p) {
  p->on_done = NULL;
  p->query.sql = ALOFT_TEXT("rows 4");
  assert_int_equal(aloft_tds_query_start(p->world->tds, &p->query), ALOFT_OK);
}

static void test_from_done(void **state) {
  (void)state;
  world w;
  probe p, next, again;
  world_open(&w);
  world_connect(&w);
  probe_begin(&p, &w, "rows 1");
  probe_begin(&next, &w, "rows 1 pause 50");
  other = &next;
  p.on_done = cancel_other;
  probe_wait(&p);
  assert_int_equal(next.done, 0);
  turn(&w);
  assert_int_equal(next.done, 1);
  assert_int_equal(next.status, ALOFT_CANCELLED);
  prove(&w);
  probe_begin(&again, &w, "rows 9 hold 80");
  again.on_done = start_again;
  turns(&w, 5);
  assert_int_equal(aloft_op_cancel(&again.query.op), ALOFT_OK);
  for (unsigned at = 0; at < 20; at++)
    turn(&w);
  assert_int_equal(again.done, 2);
  assert_int_equal(again.status, ALOFT_OK);
  prove(&w);
  world_close(&w);
}

/* ---- what is owed ---- */

static void test_next_query_is_held(void **state) {
  (void)state;
  world w;
  probe p, next;
  world_open(&w);
  world_connect(&w);
  probe_begin(&p, &w, "rows 1 hold 30 late 400");
  turns(&w, 5);
  assert_int_equal(aloft_op_cancel(&p.query.op), ALOFT_OK);
  probe_wait(&p);
  probe_begin(&next, &w, "rows 8");
  turns(&w, 20);
  assert_true(info_of(&w).draining);
  assert_int_equal(w.server.requests, 1);
  probe_wait(&next);
  assert_int_equal(next.rows, 8);
  prove(&w);
  world_close(&w);
}

/* While draining, ENVCHANGE still counts. */
static void test_environment_while_draining(void **state) {
  (void)state;
  world w;
  probe p, next;
  world_open(&w);
  world_connect(&w);
  probe_begin(&p, &w, "begin hold 0");
  turns(&w, 5);
  assert_int_equal(aloft_op_cancel(&p.query.op), ALOFT_OK);
  probe_wait(&p);
  assert_int_equal(probe_run(&next, &w, "state"), ALOFT_OK);
  assert_int_equal(next.first, INT64_C(0x1122334455667788));
  world_close(&w);
}

/* A server that does not acknowledge: the socket is dropped after cancel_timeout_ns. */
static void test_deaf_server(void **state) {
  (void)state;
  static const char *const sql[] = {"rows 1 hold 0 deaf", "rows 900 hold 5000 deaf",
                                    "large 9000 hold 100 deaf"};
  for (size_t at = 0; at < 3; at++) {
    world w;
    probe p, next;
    world_open(&w);
    w.config.cancel_timeout_ns = ALOFT_MILLISECONDS(700);
    world_connect(&w);
    probe_begin(&p, &w, sql[at]);
    turns(&w, 5);
    uint64_t begin = aloft_loop_now(w.loop);
    assert_int_equal(aloft_op_cancel(&p.query.op), ALOFT_OK);
    probe_wait(&p);
    assert_int_equal(p.status, ALOFT_CANCELLED);
    probe_begin(&next, &w, "rows 1");
    probe_wait(&next);
    assert_int_equal(next.status, ALOFT_LOST_UNSENT);
    assert_non_null(strstr(next.error_text, "acknowledge"));
    assert_true(aloft_loop_now(w.loop) - begin >= ALOFT_MILLISECONDS(700));
    assert_true(info_of(&w).dead);
    assert_int_equal(probe_start(&next), ALOFT_LOST);
    world_close(&w);
  }
}

/* The connection dies, or is closed, while it drains. */
static void test_lost_while_draining(void **state) {
  (void)state;
  for (int closed = 0; closed < 2; closed++) {
    world w;
    probe p, next;
    world_open(&w);
    world_connect(&w);
    probe_begin(&p, &w, "rows 9 hold 40 deaf");
    turns(&w, 5);
    assert_int_equal(aloft_op_cancel(&p.query.op), ALOFT_OK);
    probe_wait(&p);
    probe_begin(&next, &w, "rows 1");
    turns(&w, 3);
    if (closed)
      assert_int_equal(aloft_tds_close(w.tds, NULL), ALOFT_OK);
    else
      tds_server_drop_all(&w.server);
    probe_wait(&next);
    assert_int_equal(next.status, closed ? ALOFT_CLOSED : ALOFT_LOST_UNSENT);
    assert_int_equal(p.done, 1);
    world_close(&w);
  }
}

/* A hundred cancels in a row, of all kinds, under a network that cuts and delays everything. */
static void test_storm(void **state) {
  (void)state;
  static const char *const sql[] = {
      "rows 30", "rows 500 hold 3000",  "large 20000", "rows 5 interrupt 90", "rows 3 pause 3",
      "message", "large 9000 hold 800", "error 50000"};
  for (uint64_t seed = 1; seed <= 40; seed++) {
    const alo_sim_faults faults = {
        .short_read = 500, .split_write = 500, .full = 100, .delay_ns = ALOFT_MILLISECONDS(3)};
    world w;
    world_open_with(&w, NULL, seed, &faults);
    world_connect(&w);
    for (unsigned at = 0; at < 100; at++) {
      probe p;
      uint64_t chance = alo_sim_random(w.driver);
      probe_init(&p, &w, sql[chance % 8]);
      p.query.op.timeout_ns = ALOFT_MILLISECONDS(1 + chance / 8 % 12);
      p.query.ready = chance / 128 % 4 ? probe_ready : NULL;
      assert_int_equal(probe_start(&p), ALOFT_OK);
      probe_wait(&p);
      assert_true(p.status == ALOFT_OK || p.status == ALOFT_TIMEOUT || p.status == ALOFT_SERVER);
      if (at % 8 == 0)
        prove(&w);
    }
    prove(&w);
    assert_true(w.server.attentions > 5);
    world_close(&w);
  }
}

/* The same with connections that break at any moment: everything ends once, and a dead connection
 * stays dead. */
static void test_storm_with_resets(void **state) {
  (void)state;
  static const char *const sql[] = {"rows 30", "rows 500 hold 3000", "large 20000",
                                    "rows 3 pause 3"};
  unsigned deaths = 0;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    const alo_sim_faults calm = {0};
    const alo_sim_faults faults = {
        .short_read = 300, .split_write = 300, .reset = 6, .delay_ns = ALOFT_MILLISECONDS(2)};
    world w;
    probe p[4];
    world_open_with(&w, NULL, seed, &calm);
    world_connect(&w);
    alo_sim_set_faults(w.driver, &faults);
    bool dead = false;
    for (unsigned round = 0; round < 20 && !dead; round++) {
      unsigned started = 0;
      for (unsigned at = 0; at < 4; at++) {
        uint64_t chance = alo_sim_random(w.driver);
        probe_init(&p[started], &w, sql[chance % 4]);
        p[started].query.op.timeout_ns = ALOFT_MILLISECONDS(2 + chance / 8 % 20);
        started += probe_start(&p[started]) == ALOFT_OK;
      }
      for (unsigned at = 0; at < started; at++) {
        probe_wait(&p[at]);
        assert_true(p[at].status == ALOFT_OK || p[at].status == ALOFT_TIMEOUT ||
                    (p[at].status == ALOFT_LOST && p[at].written) ||
                    (p[at].status == ALOFT_LOST_UNSENT && !p[at].written));
      }
      dead = info_of(&w).dead;
      for (unsigned at = 0; at < started; at++)
        assert_int_equal(p[at].done, 1);
    }
    if (dead)
      assert_int_equal(probe_start(&p[0]), ALOFT_LOST);
    deaths += dead;
    world_close(&w);
  }
  assert_true(deaths > 20 && deaths < 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_phase),
      cmocka_unit_test(test_each_byte_of_an_answer),
      cmocka_unit_test(test_while_connecting),
      cmocka_unit_test(test_while_waiting),
      cmocka_unit_test(test_not_written),
      cmocka_unit_test(test_partly_written),
      cmocka_unit_test(test_reply_wins),
      cmocka_unit_test(test_acknowledgement_of_nothing),
      cmocka_unit_test(test_told_after_a_step_elsewhere),
      cmocka_unit_test(test_half_a_reply_does_not_win),
      cmocka_unit_test(test_cancel_before_timeout),
      cmocka_unit_test(test_inside_callbacks),
      cmocka_unit_test(test_views_last_until_done),
      cmocka_unit_test(test_from_done),
      cmocka_unit_test(test_next_query_is_held),
      cmocka_unit_test(test_environment_while_draining),
      cmocka_unit_test(test_deaf_server),
      cmocka_unit_test(test_lost_while_draining),
      cmocka_unit_test(test_storm),
      cmocka_unit_test(test_storm_with_resets),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
