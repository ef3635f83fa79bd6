/* lite's server when answers do not go their way: ATTENTION in every phase, clients that vanish or
 * do not read, databases that are locked, many connections at once. */
#include "lite_world.h"

#include "lite_connection.h"

enum { MANY = 200 };

#define ONE_ROW "columns a int\nrow 1\ndone FD 0010 193 1\nend\n"
#define KNOWN   "done FD 0020 0 0\nend\n"
#define STOPPED "done FD 0002 0 0\nend\n" KNOWN
#define ENDLESS                                                                                    \
  "SELECT COUNT_BIG(*) AS a FROM n AS a CROSS JOIN n AS b CROSS JOIN n AS c CROSS JOIN n AS d "    \
  "CROSS JOIN n AS e"
#define MILLION "SELECT a.a FROM n AS a CROSS JOIN n AS b CROSS JOIN n AS c"

static void expect_works(lite_peer *peer) {
  peer_expect(peer, "SELECT 1 AS a", ONE_ROW);
}

static void expect_stopped(lite_world *world, uint64_t count) {
  assert_int_equal(world_counters(world).stopped, count);
  assert_true(world_logged(world, "statement stopped by ATTENTION"));
}

/* A table of 100 rows, for joins that are long. */
static void make_numbers(lite_peer *peer) {
  static char sql[4096];
  size_t size =
      (size_t)snprintf(sql, sizeof sql, "CREATE TABLE n (a int) INSERT INTO n VALUES (0)");
  for (int i = 1; i < 100; i++)
    size += (size_t)snprintf(sql + size, sizeof sql - size, ",(%d)", i);
  peer_batch(peer, sql);
}

static void open_world(lite_world *world, lite_peer *peer, world_network network) {
  world_open(world, network, 11, NULL, NULL);
  peer_open(peer, world);
  peer_login(peer);
  make_numbers(peer);
}

static void close_world(lite_world *world, lite_peer *peer) {
  peer_close(peer);
  world_close(world);
}

/* ---- ATTENTION ---- */

static void when_idle(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  open_world(&world, &peer, WORLD_UV);
  for (int i = 0; i < 2; i++) {
    peer_clear(&peer);
    peer_attention(&peer);
    assert_string_equal(peer_wait(&peer, 1), KNOWN);
  }
  assert_int_equal(world_counters(&world).stopped, 0);
  expect_works(&peer);
  close_world(&world, &peer);
}

/* Behind the request in one write: it is there before the first step. */
static void right_behind(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  open_world(&world, &peer, WORLD_UV);
  peer_clear(&peer);
  peer_send_batch(&peer, ENDLESS, 0);
  peer_attention(&peer);
  assert_string_equal(peer_wait(&peer, 2), STOPPED);
  expect_stopped(&world, 1);
  expect_works(&peer);
  close_world(&world, &peer);
}

static void attention_now(lite_world *world) {
  peer_attention_now(world->at_statement_context);
}

/* While SQLite works: only its progress handler can see it. */
static void in_a_long_statement(void **state) {
  (void)state;
  for (int network = WORLD_UV; network <= WORLD_SIM; network++) {
    lite_world world;
    lite_peer peer;
    open_world(&world, &peer, (world_network)network);
    world.at_statement_context = &peer;
    world.at_statement = attention_now;
    peer_clear(&peer);
    peer_send_batch(&peer, ENDLESS, 0);
    peer_wait(&peer, 2);
    assert_non_null(strstr(peer.seen.text, STOPPED));
    expect_stopped(&world, 1);
    expect_works(&peer);
    close_world(&world, &peer);
  }
}

static void in_waitfor(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  open_world(&world, &peer, WORLD_SIM);
  peer_clear(&peer);
  peer_send_batch(&peer, "SELECT 1 AS a WAITFOR DELAY '10:00:00' SELECT 2 AS a", 0);
  for (int i = 0; i < 10; i++)
    assert_int_equal(aloft_loop_turn(world.loop, ALOFT_MILLISECONDS(1)), ALOFT_OK);
  uint64_t begun = world.driver->methods->now(world.driver);
  peer_attention(&peer);
  assert_string_equal(peer_wait(&peer, 2), "columns a int\nrow 1\ndone FD 0011 193 1\n" STOPPED);
  assert_true(world.driver->methods->now(world.driver) - begun < ALOFT_SECONDS(60));
  expect_stopped(&world, 1);
  expect_works(&peer);
  close_world(&world, &peer);
}

static void while_parked_on_a_lock(void **state) {
  lite_world world;
  lite_peer holder, peer;
  (void)state;
  open_world(&world, &holder, WORLD_SIM);
  peer_open(&peer, &world);
  peer_login(&peer);
  peer_batch(&holder, "BEGIN TRAN INSERT INTO n VALUES (100)");
  peer_send_batch(&peer, "INSERT INTO n VALUES (101)", 0);
  for (int i = 0; i < 50; i++)
    world_turn(&world);
  assert_int_equal(peer.seen.ends, 0);
  peer_attention(&peer);
  assert_string_equal(peer_wait(&peer, 2), STOPPED);
  expect_stopped(&world, 1);
  expect_works(&peer);
  peer_batch(&holder, "ROLLBACK");
  peer_expect(&peer, "INSERT INTO n VALUES (101)", "done FD 0010 195 1\nend\n");
  peer_close(&peer);
  close_world(&world, &holder);
}

/* What the server holds for a connection that does not take it. */
static size_t held(const lite_world *world) {
  size_t most = 0;
  for (const alo_lite_connection *at = world->lite->connections; at; at = at->next) {
    size_t size = alo_buffer_size(&at->out) + alo_buffer_size(&at->stream.tx);
    most = size > most ? size : most;
  }
  return most;
}

static void settle(lite_world *world) {
  for (int i = 0; i < 500; i++)
    assert_int_equal(aloft_loop_turn(world->loop, 0), ALOFT_OK);
}

/* The client does not read: the server stops stepping, and goes on when it does. */
static void while_output_is_full(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  open_world(&world, &peer, WORLD_UV);
  peer_clear(&peer);
  alo_stream_pause(&peer.stream, true);
  peer_send_batch(&peer, MILLION, 0);
  for (int i = 0; i < 200; i++)
    settle(&world);
  assert_true(held(&world) > 0);
  assert_true(held(&world) <= ALO_LITE_TX_HIGH + 40000);
  peer_attention(&peer);
  settle(&world);
  expect_stopped(&world, 1);
  alo_stream_pause(&peer.stream, false);
  peer_wait(&peer, 2);
  assert_non_null(strstr(peer.seen.text, STOPPED));
  assert_true(peer.seen.rows < 1000000);
  expect_works(&peer);
  /* Without ATTENTION all of it comes. */
  alo_stream_pause(&peer.stream, true);
  peer_clear(&peer);
  peer_send_batch(&peer, MILLION, 0);
  settle(&world);
  alo_stream_pause(&peer.stream, false);
  peer_wait(&peer, 1);
  assert_int_equal(peer.seen.rows, 1000000);
  close_world(&world, &peer);
}

/* Output of an earlier answer that leaves late does not cut a WAITFOR short. */
static void late_output_and_waitfor(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  open_world(&world, &peer, WORLD_SIM);
  alo_stream_pause(&peer.stream, true);
  peer_clear(&peer);
  peer_send_batch(&peer, MILLION, 0);
  settle(&world);
  peer_attention(&peer);
  settle(&world);
  expect_stopped(&world, 1);
  uint64_t begun = world.driver->methods->now(world.driver);
  peer_send_batch(&peer, "WAITFOR DELAY '00:00:30' SELECT 1 AS a", 0);
  settle(&world);
  alo_stream_pause(&peer.stream, false);
  settle(&world);
  assert_int_equal(peer.seen.ends, 2);
  peer_wait(&peer, 3);
  assert_true(world.driver->methods->now(world.driver) - begun >= ALOFT_SECONDS(30));
  close_world(&world, &peer);
}

/* ---- requests that are answered at once, by a client that does not read ---- */

enum { FLOOD = 200000, FLOOD_KINDS = 7, FLOOD_MEMORY_MAX = 2 << 20 };

static void call_begin(lite_peer *peer, const char *name) {
  alo_tds_message_begin(&peer->writer, ALO_TDS_RPC, 0);
  alo_tds_put_headers(&peer->writer, 0);
  alo_tds_put_us_varchar(&peer->writer, aloft_text_of(name));
  alo_tds_put_u16(&peer->writer, 0);
}

static void put_int(lite_peer *peer, const char *name, bool output, int64_t value) {
  static const alo_tds_type type = {.token = ALO_TDS_INTN, .size = 4};
  alo_tds_put_b_varchar(&peer->writer, aloft_text_of(name));
  alo_tds_put_u8(&peer->writer, output);
  alo_tds_put_type(&peer->writer, &type);
  alo_tds_put_int64(&peer->writer, &type, value);
}

static void put_text(lite_peer *peer, const char *text) {
  static const alo_tds_type type = {.token = ALO_TDS_NVARCHAR, .size = 8000};
  alo_tds_put_b_varchar(&peer->writer, ALOFT_TEXT(""));
  alo_tds_put_u8(&peer->writer, 0);
  alo_tds_put_type(&peer->writer, &type);
  alo_tds_put_text(&peer->writer, &type, aloft_text_of(text));
}

static void put_prepare(lite_peer *peer, int handle, FILE *wanted) {
  call_begin(peer, "sp_prepare");
  put_int(peer, "@h", true, 0);
  put_text(peer, "");
  put_text(peer, "SELECT 1");
  fprintf(wanted, "status 0\nvalue @h int|%d\ndone FE 0000 0 0\nend\n", handle);
}

static void put_too_many(lite_peer *peer, FILE *wanted) {
  call_begin(peer, "sp_executesql");
  put_text(peer, "SELECT 1");
  put_text(peer, "");
  for (int i = 0; i <= ALO_ENGINE_PARAMETERS_MAX; i++)
    put_int(peer, "", false, i);
  fprintf(wanted, "error 8003 16 1 1 The incoming request has too many parameters. The server "
                  "supports a maximum of 2100 parameters.|lite|\ndone FD 0002 0 0\nend\n");
}

/* The `i`th request, and what it is to be answered. */
static void put_request(lite_peer *peer, int i, FILE *wanted) {
  int handle = i / FLOOD_KINDS + 1;
  switch (i % FLOOD_KINDS) {
  case 0:
    put_prepare(peer, handle, wanted);
    break;
  case 1:
    alo_tds_message_begin(&peer->writer, ALO_TDS_ATTENTION, 0);
    fputs(KNOWN, wanted);
    break;
  case 2:
    call_begin(peer, "sp_none");
    fputs("error 40510 16 1 1 Procedure 'sp_none' is not supported by lite: use sp_executesql, "
          "sp_prepare, sp_prepexec, sp_execute or sp_unprepare.|lite|\ndone FD 0002 0 0\nend\n",
          wanted);
    break;
  case 3:
    call_begin(peer, "sp_execute");
    put_int(peer, "", false, FLOOD + i);
    fprintf(wanted,
            "error 8179 16 1 1 Could not find prepared statement with handle %d.|lite|\n"
            "done FD 0002 0 0\nend\n",
            FLOOD + i);
    break;
  case 4:
    alo_tds_message_begin(&peer->writer, ALO_TDS_SQL_BATCH, ALO_TDS_STATUS_IGNORE);
    fputs("done FD 0002 0 0\nend\n", wanted);
    break;
  case 5:
    call_begin(peer, "sp_unprepare");
    put_int(peer, "", false, handle);
    fputs("status 0\ndone FE 0000 0 0\nend\n", wanted);
    break;
  default:
    if (i % 500 == 0) {
      put_too_many(peer, wanted);
    } else {
      alo_tds_message_begin(&peer->writer, ALO_TDS_ATTENTION, 0);
      fputs(KNOWN, wanted);
    }
    break;
  }
  peer_flush(peer);
}

/* All that the server has for its one connection. */
static void expect_little_memory(const lite_world *world) {
  const alo_lite_connection *connection = world->lite->connections;
  assert_true(held(world) <= ALO_LITE_TX_HIGH + 4096);
  assert_true(connection->out.room + connection->stream.tx.room + connection->message.room <=
              FLOOD_MEMORY_MAX);
  assert_true(connection->stream.rx.size <= world->loop->blocks.block_size);
}

static void flood(world_network network, uint64_t seed, const alo_sim_faults *faults, int count) {
  lite_world world;
  lite_peer peer;
  char *text;
  size_t size;
  FILE *wanted = open_memstream(&text, &size);
  assert_non_null(wanted);
  world_open(&world, network, seed, faults, NULL);
  peer_open(&peer, &world);
  peer_login(&peer);
  alo_stream_pause(&peer.stream, true);
  for (int i = 0; i < count; i++)
    put_request(&peer, i, wanted);
  fclose(wanted);
  for (int i = 0; i < 2000; i++) {
    assert_int_equal(aloft_loop_turn(world.loop, 0), ALOFT_OK);
    expect_little_memory(&world);
  }
  assert_true(alo_buffer_size(&peer.stream.tx) > 0); /* the server does not take it */
  alo_stream_pause(&peer.stream, false);
  while (peer.seen.ends < (uint64_t)count) {
    world_turn(&world);
    expect_little_memory(&world);
    assert_false(peer.ended);
  }
  assert_string_equal(peer.seen.text, text);
  free(text);
  expect_works(&peer);
  close_world(&world, &peer);
}

static void a_flood_of_requests(void **state) {
  const alo_sim_faults faults = {
      .short_read = 300, .split_write = 300, .full = 100, .delay_ns = ALOFT_MICROSECONDS(300)};
  (void)state;
  flood(WORLD_UV, 0, NULL, FLOOD);
  flood(WORLD_SIM, 1, NULL, FLOOD);
  for (uint64_t seed = 1; seed <= 20; seed++)
    flood(WORLD_SIM, seed, &faults, FLOOD / 20);
}

/* Reading has stopped: that the client is gone shows in writing alone. */
static void a_flood_and_away(void **state) {
  (void)state;
  for (int network = WORLD_UV; network <= WORLD_SIM; network++) {
    lite_world world;
    lite_peer peer;
    FILE *wanted = fopen("/dev/null", "w");
    assert_non_null(wanted);
    world_open(&world, (world_network)network, 1, NULL, NULL);
    peer_open(&peer, &world);
    peer_login(&peer);
    alo_stream_pause(&peer.stream, true);
    for (int i = 0; i < FLOOD; i++)
      put_request(&peer, i, wanted);
    fclose(wanted);
    settle(&world);
    assert_true(world.lite->connections->stream.paused);
    alo_stream_close(&peer.stream);
    for (int turns = 0; world_counters(&world).open; turns++) {
      assert_true(turns < 5000);
      assert_int_equal(aloft_loop_turn(world.loop, ALOFT_MILLISECONDS(5)), ALOFT_OK);
    }
    close_world(&world, &peer);
  }
}

/* The largest row there may be goes through lite's buffers in the smallest packets, and one that is
 * larger is an error. */
static void the_largest_row(void **state) {
  const alo_tds_login login = {.user = ALOFT_TEXT(WORLD_USER),
                               .password = ALOFT_TEXT(WORLD_PASSWORD),
                               .packet_size = ALO_TDS_PACKET_MIN};
  lite_world world;
  lite_peer peer;
  char sql[128];
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  peer_open(&peer, &world);
  peer_prelogin(&peer, ALO_TDS_ENCRYPT_NOT_SUP);
  peer_send_login(&peer, &login);
  peer_wait(&peer, 1);
  uint64_t before = peer.bytes;
  snprintf(sql, sizeof sql, "SELECT REPLICATE(CAST(N'x' AS nvarchar(max)), %d) AS a",
           ALO_ENGINE_ROW_MAX);
  peer_batch(&peer, sql);
  assert_non_null(strstr(peer.seen.text, "done FD 0010 193 1\nend\n"));
  assert_true(peer.bytes - before > 2 * (uint64_t)ALO_ENGINE_ROW_MAX);
  snprintf(sql, sizeof sql, "SELECT REPLICATE(CAST(N'x' AS nvarchar(max)), %d) AS a, N'y' AS b",
           ALO_ENGINE_ROW_MAX);
  peer_batch(&peer, sql);
  assert_non_null(strstr(peer.seen.text, "error 701 "));
  expect_works(&peer);
  close_world(&world, &peer);
}

/* What a large answer or request needed is not kept. */
static void large_buffers_are_freed(void **state) {
  static char sql[3 << 20];
  lite_world world;
  lite_peer peer;
  (void)state;
  open_world(&world, &peer, WORLD_UV);
  memset(sql, ' ', sizeof sql - 1);
  memcpy(sql, "SELECT DATALENGTH(REPLICATE(CAST('x' AS varchar(max)), 9)) AS a", 63);
  peer_expect(&peer, sql, "columns a bigint\nrow 9\ndone FD 0010 193 1\nend\n");
  peer_batch(&peer, "SELECT REPLICATE(CAST(N'x' AS nvarchar(max)), 5000000) AS a");
  settle(&world);
  const alo_lite_connection *connection = world.lite->connections;
  assert_true(connection->message.room <= ALO_LITE_KEPT_MAX);
  assert_true(connection->out.room <= ALO_LITE_KEPT_MAX);
  assert_true(connection->stream.tx.room <= ALO_LITE_KEPT_MAX);
  expect_works(&peer);
  close_world(&world, &peer);
}

/* It comes when the answer has just been finished: two messages. */
static void crossing_the_end(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  open_world(&world, &peer, WORLD_SIM);
  peer_clear(&peer);
  world.at_statement_context = &peer;
  peer_send_batch(&peer, "SELECT 1 AS a", 0);
  while (!peer.seen.size)
    world_turn(&world);
  peer_attention(&peer);
  assert_string_equal(peer_wait(&peer, 2), ONE_ROW KNOWN);
  assert_int_equal(world_counters(&world).stopped, 0);
  expect_works(&peer);
  close_world(&world, &peer);
}

/* Whenever it comes there is one acknowledgement, and the connection works on. */
static void at_any_moment(void **state) {
  const alo_sim_faults faults = {
      .short_read = 300, .split_write = 300, .full = 100, .delay_ns = ALOFT_MICROSECONDS(300)};
  uint64_t stopped = 0;
  (void)state;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    lite_world world;
    lite_peer peer;
    world_open(&world, WORLD_SIM, seed, &faults, NULL);
    peer_open(&peer, &world);
    peer_login(&peer);
    make_numbers(&peer);
    peer_clear(&peer);
    peer_send_batch(&peer, "SELECT a.a FROM n AS a CROSS JOIN n AS b WAITFOR DELAY '00:00:00.001'",
                    0);
    for (uint64_t i = 0; i < seed * 2; i++)
      assert_int_equal(aloft_loop_turn(world.loop, ALOFT_MICROSECONDS(100)), ALOFT_OK);
    peer_attention(&peer);
    while (!strstr(peer.seen.text, KNOWN))
      world_turn(&world);
    assert_int_equal(peer.seen.ends, 2);
    assert_null(strstr(strstr(peer.seen.text, KNOWN) + 1, KNOWN));
    expect_works(&peer);
    stopped += world_counters(&world).stopped;
    close_world(&world, &peer);
  }
  assert_in_range(stopped, 10, 60);
}

/* What it stops is undone; the transaction stays. */
static void in_a_transaction(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  open_world(&world, &peer, WORLD_UV);
  peer_batch(&peer, "CREATE TABLE m (a bigint) BEGIN TRAN INSERT INTO m VALUES (1)");
  world.at_statement_context = &peer;
  world.at_statement = attention_now;
  peer_clear(&peer);
  peer_send_batch(&peer,
                  "INSERT INTO m SELECT a.a FROM n AS a CROSS JOIN n AS b CROSS JOIN n AS c CROSS "
                  "JOIN n AS d CROSS JOIN n AS e",
                  0);
  peer_wait(&peer, 2);
  assert_non_null(strstr(peer.seen.text, "done FD 0006 0 0\nend\ndone FD 0024 0 0\nend\n"));
  peer_expect(&peer, "SELECT @@TRANCOUNT AS a, COUNT(*) AS b FROM m",
              "columns a int|b int\nrow 1|1\ndone FD 0014 193 1\nend\n");
  close_world(&world, &peer);
}

/* ---- by Aloft's own client ---- */

typedef struct asked {
  aloft_tds_query query;
  uint64_t rows;
  bool done;
  aloft_status status;
} asked;

static void take_rows(aloft_tds_query *query) {
  asked *self = ALOFT_CONTAINER(query, asked, query);
  aloft_status step;
  while ((step = aloft_tds_step(query)) == ALOFT_ROW || step == ALOFT_RESULT)
    self->rows += step == ALOFT_ROW;
}

static void asked_done(aloft_op *op, aloft_status status) {
  asked *self = ALOFT_CONTAINER(op, asked, query.op);
  self->done = true;
  self->status = status;
}

static void client_begin(lite_client *client, asked *self, const char *sql, uint64_t timeout_ns) {
  *self = (asked){.query = {.op = {.done = asked_done, .timeout_ns = timeout_ns},
                            .sql = aloft_text_of(sql),
                            .ready = take_rows}};
  assert_int_equal(aloft_tds_query_start(client->tds, &self->query), ALOFT_OK);
}

static void expect_client_works(lite_client *client) {
  char text[64];
  assert_int_equal(client_sql(client, "SELECT 1", text, sizeof text), ALOFT_OK);
  assert_string_equal(text, "1;");
}

/* Cancelled and timed out; the next query on the same connection and lite's counters tell. */
static void by_our_client(void **state) {
  lite_world world;
  lite_peer peer;
  lite_client client;
  asked query;
  (void)state;
  open_world(&world, &peer, WORLD_UV);
  client_open(&client, &world, NULL);
  client_begin(&client, &query, "WAITFOR DELAY '10:00:00'", ALOFT_MILLISECONDS(20));
  world_until(&world, &query.done);
  assert_int_equal(query.status, ALOFT_TIMEOUT);
  expect_client_works(&client);
  assert_int_equal(world_counters(&world).stopped, 1);
  client_begin(&client, &query, MILLION, 0);
  while (query.rows < 1000)
    world_turn(&world);
  assert_int_equal(aloft_op_cancel(&query.query.op), ALOFT_OK);
  world_until(&world, &query.done);
  assert_int_equal(query.status, ALOFT_CANCELLED);
  expect_client_works(&client);
  assert_int_equal(world_counters(&world).stopped, 2);
  assert_int_equal(world_counters(&world).protocol_errors, 0);
  client_close(&client);
  close_world(&world, &peer);
}

/* Too long for one write: what has been written of it is taken back. */
static void taken_back_by_our_client(void **state) {
  size_t size = (size_t)12 << 20;
  char *sql = malloc(size + 1);
  lite_world world;
  lite_peer peer;
  lite_client client;
  asked query;
  (void)state;
  assert_non_null(sql);
  memset(sql, ' ', size);
  sql[size] = 0;
  open_world(&world, &peer, WORLD_UV);
  client_open(&client, &world, NULL);
  client_begin(&client, &query, sql, 0);
  free(sql);
  assert_int_equal(aloft_loop_turn(world.loop, 0), ALOFT_OK);
  assert_int_equal(aloft_op_cancel(&query.query.op), ALOFT_OK);
  world_until(&world, &query.done);
  assert_int_equal(query.status, ALOFT_CANCELLED);
  expect_client_works(&client);
  assert_int_equal(world_counters(&world).ignored, 1);
  assert_int_equal(world_counters(&world).protocol_errors, 0);
  client_close(&client);
  close_world(&world, &peer);
}

/* ---- IGNORE ---- */

static void taken_back(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  open_world(&world, &peer, WORLD_UV);
  peer.writer.packet_size = 64;
  alo_tds_message_begin(&peer.writer, ALO_TDS_SQL_BATCH, 0);
  alo_tds_put_batch(&peer.writer, 0, ALOFT_TEXT("INSERT INTO n VALUES (100), (101), (102), (103)"));
  size_t whole = alo_tds_writer_whole(&peer.writer);
  assert_true(whole > 64);
  peer_send(&peer, peer.out.data + peer.out.begin, whole);
  assert_int_equal(alo_tds_message_end(&peer.writer), ALOFT_OK);
  alo_buffer_take(&peer.out, alo_buffer_size(&peer.out));
  peer_clear(&peer);
  alo_tds_message_begin(&peer.writer, ALO_TDS_SQL_BATCH, ALO_TDS_STATUS_IGNORE);
  peer_flush(&peer);
  assert_string_equal(peer_wait(&peer, 1), "done FD 0002 0 0\nend\n");
  assert_int_equal(world_counters(&world).ignored, 1);
  peer_expect(&peer, "SELECT COUNT(*) AS a FROM n",
              "columns a int\nrow 100\ndone FD 0010 193 1\nend\n");
  close_world(&world, &peer);
}

/* ---- a request while another runs ---- */

static void a_second_request(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  open_world(&world, &peer, WORLD_UV);
  peer_clear(&peer);
  peer_send_batch(&peer, "WAITFOR DELAY '10:00:00'", 0);
  peer_send_batch(&peer, "SELECT 1", 0);
  peer_wait_end(&peer);
  assert_true(world_logged(&world, "a request came while another runs"));
  assert_int_equal(world_counters(&world).open, 0);
  close_world(&world, &peer);
}

/* ---- clients that vanish ---- */

static void wait_for_nobody(lite_world *world) {
  while (world_counters(world).open)
    world_turn(world);
}

static void vanish_now(lite_world *world) {
  lite_peer *peer = world->at_statement_context;
  alo_stream_close(&peer->stream);
}

static void while_it_works(void **state) {
  (void)state;
  for (int network = WORLD_UV; network <= WORLD_SIM; network++) {
    lite_world world;
    lite_peer peer;
    open_world(&world, &peer, (world_network)network);
    world.at_statement_context = &peer;
    world.at_statement = vanish_now;
    peer_send_batch(&peer, ENDLESS, 0);
    wait_for_nobody(&world);
    close_world(&world, &peer);
  }
}

/* In the middle of everything; what it held is free again. */
static void at_any_time(void **state) {
  static const char *const batches[] = {
      "WAITFOR DELAY '10:00:00'",
      MILLION,
      "BEGIN TRAN INSERT INTO n VALUES (100) WAITFOR DELAY '10:00:00'",
      "BEGIN TRAN INSERT INTO n SELECT a.a FROM n AS a CROSS JOIN n AS b",
  };
  lite_world world;
  lite_peer watcher, peer;
  (void)state;
  open_world(&world, &watcher, WORLD_SIM);
  for (int turns = 0; turns < 60; turns++) {
    peer_open(&peer, &world);
    peer_login(&peer);
    peer_send_batch(&peer, batches[turns % 4], 0);
    for (int i = 0; i < turns / 4; i++)
      assert_int_equal(aloft_loop_turn(world.loop, 0), ALOFT_OK);
    peer_close(&peer);
    while (world_counters(&world).open > 1)
      world_turn(&world);
    peer_expect(&watcher, "INSERT INTO n VALUES (-1) DELETE n WHERE a = -1",
                "done FD 0011 195 1\ndone FD 0010 196 1\nend\n");
  }
  peer_expect(&watcher, "SELECT COUNT(*) AS a FROM n",
              "columns a int\nrow 100\ndone FD 0010 193 1\nend\n");
  close_world(&world, &watcher);
}

static void by_reset(void **state) {
  const alo_sim_faults faults = {.reset = 30, .delay_ns = ALOFT_MICROSECONDS(300)};
  static const alo_sim_faults none;
  (void)state;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    lite_world world;
    lite_peer peer;
    world_open(&world, WORLD_SIM, seed, NULL, NULL);
    peer_open(&peer, &world);
    peer_login(&peer);
    make_numbers(&peer);
    alo_sim_set_faults(world.driver, &faults);
    peer_send_batch(&peer, MILLION, 0);
    while (!peer.ended && peer.seen.ends < 2)
      world_turn(&world);
    alo_sim_set_faults(world.driver, &none);
    peer_close(&peer);
    wait_for_nobody(&world);
    world_close(&world);
  }
}

/* Another one works on while a client that does not read vanishes. */
static void while_output_waits(void **state) {
  lite_world world;
  lite_peer peer, other;
  (void)state;
  open_world(&world, &peer, WORLD_UV);
  peer_open(&other, &world);
  peer_login(&other);
  alo_stream_pause(&peer.stream, true);
  peer_send_batch(&peer, MILLION, 0);
  settle(&world);
  expect_works(&other);
  alo_stream_close(&peer.stream);
  while (world_counters(&world).open > 1)
    world_turn(&world);
  expect_works(&other);
  peer_close(&other);
  close_world(&world, &peer);
}

/* ---- locks ---- */

static void two_writers(void **state) {
  lite_world world;
  lite_peer holder, waiter, reader;
  (void)state;
  open_world(&world, &holder, WORLD_SIM);
  peer_open(&waiter, &world);
  peer_login(&waiter);
  peer_open(&reader, &world);
  peer_login(&reader);
  peer_batch(&holder, "BEGIN TRAN INSERT INTO n VALUES (100)");
  /* Parked; the others go on, and it goes on when the lock is free. */
  peer_clear(&waiter);
  peer_send_batch(&waiter, "INSERT INTO n VALUES (101)", 0);
  for (int i = 0; i < 20; i++) {
    peer_expect(&reader, "SELECT COUNT(*) AS a FROM n",
                "columns a int\nrow 100\ndone FD 0010 193 1\nend\n");
    world_turn(&world);
  }
  assert_int_equal(waiter.seen.ends, 0);
  peer_batch(&holder, "COMMIT");
  assert_string_equal(peer_wait(&waiter, 1), "done FD 0010 195 1\nend\n");
  /* Never free: 1222, after the time and not before, whatever the wall's clock is set to. */
  peer_batch(&holder, "BEGIN TRAN INSERT INTO n VALUES (102)");
  uint64_t begun = world.driver->methods->now(world.driver);
  peer_clear(&waiter);
  peer_send_batch(&waiter, "SET LOCK_TIMEOUT 2000 INSERT INTO n VALUES (103)", 0);
  for (int i = 0; i < 20; i++) {
    world_turn(&world);
    world.clock_ns -= ALOFT_SECONDS(3600);
  }
  peer_wait(&waiter, 1);
  uint64_t took = world.driver->methods->now(world.driver) - begun;
  assert_non_null(strstr(waiter.seen.text, "error 1222 16 "));
  assert_in_range(took, ALOFT_MILLISECONDS(1900), ALOFT_MILLISECONDS(3000));
  peer_batch(&waiter, "SET LOCK_TIMEOUT -1");
  peer_batch(&holder, "ROLLBACK");
  peer_expect(&waiter, "INSERT INTO n VALUES (103)", "done FD 0010 195 1\nend\n");
  peer_close(&waiter);
  peer_close(&reader);
  close_world(&world, &holder);
}

/* ---- many ---- */

/* Rows of one do not keep another waiting: its answers come between them. */
static void fairness(void **state) {
  lite_world world;
  lite_peer streaming, other;
  (void)state;
  open_world(&world, &streaming, WORLD_UV);
  peer_open(&other, &world);
  peer_login(&other);
  peer_clear(&streaming);
  peer_send_batch(&streaming, MILLION, 0);
  while (!streaming.seen.rows)
    world_turn(&world);
  unsigned answers = 0;
  uint64_t between = 0;
  while (!streaming.seen.ends) {
    uint64_t before = streaming.seen.rows;
    tds_transcript_clear(&other.seen);
    peer_send_batch(&other, "SELECT 1 AS a", 0);
    peer_wait(&other, 1);
    answers++;
    between = streaming.seen.rows - before > between ? streaming.seen.rows - before : between;
  }
  assert_int_equal(streaming.seen.rows, 1000000);
  assert_true(answers > 10);
  assert_true(between < 200000);
  peer_close(&other);
  close_world(&world, &streaming);
}

static void many_at_once(void **state) {
  static lite_peer peers[MANY];
  lite_world world;
  lite_peer first;
  (void)state;
  open_world(&world, &first, WORLD_UV);
  peer_batch(&first, "CREATE TABLE w (a int)");
  for (size_t i = 0; i < MANY; i++) {
    peer_open(&peers[i], &world);
    peer_prelogin(&peers[i], ALO_TDS_ENCRYPT_OFF);
    peer_send_login(&peers[i], NULL);
  }
  for (size_t i = 0; i < MANY; i++)
    peer_wait(&peers[i], 1);
  for (size_t i = 0; i < MANY; i++) {
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT TOP 50 a FROM n INSERT INTO w VALUES (%zu)", i);
    peer_clear(&peers[i]);
    peer_send_batch(&peers[i], sql, 0);
  }
  for (size_t i = 0; i < MANY; i++) {
    peer_wait(&peers[i], 1);
    assert_int_equal(peers[i].seen.rows, 50);
    assert_non_null(strstr(peers[i].seen.text, "done FD 0010 195 1\nend\n"));
  }
  peer_expect(&first, "SELECT COUNT(*) AS a, COUNT(DISTINCT a) AS b FROM w",
              "columns a int|b int\nrow 200|200\ndone FD 0010 193 1\nend\n");
  for (size_t i = 0; i < MANY; i++)
    peer_close(&peers[i]);
  while (world_counters(&world).open > 1)
    world_turn(&world);
  close_world(&world, &first);
}

/* The server is closed with clients in every state. */
static void closed_with_clients(void **state) {
  lite_world world;
  lite_peer peers[6];
  (void)state;
  open_world(&world, &peers[0], WORLD_UV);
  for (size_t i = 1; i < 6; i++)
    peer_open(&peers[i], &world);
  peer_prelogin(&peers[1], ALO_TDS_ENCRYPT_OFF);
  for (size_t i = 2; i < 6; i++)
    peer_login(&peers[i]);
  peer_send_batch(&peers[2], "WAITFOR DELAY '10:00:00'", 0);
  alo_stream_pause(&peers[3].stream, true);
  peer_send_batch(&peers[3], MILLION, 0);
  peer_batch(&peers[4], "BEGIN TRAN INSERT INTO n VALUES (1)");
  peer_send_batch(&peers[5], "INSERT INTO n VALUES (2)", 0);
  settle(&world);
  alo_lite_close(world.lite);
  world.lite = NULL;
  for (size_t i = 0; i < 6; i++) {
    if (i != 3)
      peer_wait_end(&peers[i]);
    peer_close(&peers[i]);
  }
  world_close(&world);
}

/* A signal handler's flag ends a statement that would not end. */
static volatile sig_atomic_t stopping;

static void stop_now(lite_world *world) {
  (void)world;
  stopping = 1;
}

static void stopped_in_a_statement(void **state) {
  const alo_lite_config config = {.stopping = &stopping};
  lite_world world;
  lite_peer peer;
  (void)state;
  stopping = 0;
  world_open(&world, WORLD_UV, 0, NULL, &config);
  peer_open(&peer, &world);
  peer_login(&peer);
  make_numbers(&peer);
  world.at_statement = stop_now;
  peer_send_batch(&peer, ENDLESS, 0);
  peer_wait_end(&peer);
  assert_int_equal(world_counters(&world).open, 0);
  close_world(&world, &peer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(when_idle),
      cmocka_unit_test(right_behind),
      cmocka_unit_test(in_a_long_statement),
      cmocka_unit_test(in_waitfor),
      cmocka_unit_test(while_parked_on_a_lock),
      cmocka_unit_test(while_output_is_full),
      cmocka_unit_test(late_output_and_waitfor),
      cmocka_unit_test(a_flood_of_requests),
      cmocka_unit_test(a_flood_and_away),
      cmocka_unit_test(the_largest_row),
      cmocka_unit_test(large_buffers_are_freed),
      cmocka_unit_test(crossing_the_end),
      cmocka_unit_test(at_any_moment),
      cmocka_unit_test(in_a_transaction),
      cmocka_unit_test(by_our_client),
      cmocka_unit_test(taken_back_by_our_client),
      cmocka_unit_test(taken_back),
      cmocka_unit_test(a_second_request),
      cmocka_unit_test(while_it_works),
      cmocka_unit_test(at_any_time),
      cmocka_unit_test(by_reset),
      cmocka_unit_test(while_output_waits),
      cmocka_unit_test(two_writers),
      cmocka_unit_test(fairness),
      cmocka_unit_test(many_at_once),
      cmocka_unit_test(closed_with_clients),
      cmocka_unit_test(stopped_in_a_statement),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
