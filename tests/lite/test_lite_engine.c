/* The engine as its caller sees it: parameters, transactions, two sessions, stopping, waiting,
 * limits, databases that are opened again, and text that is no T-SQL at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "script.h"
#include "tsql_error.h"

static script_output out;

typedef struct fixture {
  alo_engine *engine;
  alo_session *one;
  alo_session *two;
} fixture;

static int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  f->engine = script_engine(":memory:");
  f->one = script_session(f->engine);
  f->two = script_session(f->engine);
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  alo_session_close(f->one);
  alo_session_close(f->two);
  alo_engine_close(f->engine);
  free(f);
  return 0;
}

static void expect(alo_session *session, const char *sql, const char *wanted) {
  script_run(&out, session, sql);
  assert_string_equal(out.text, wanted);
}

static alo_engine_parameter integer(const char *name, int64_t value) {
  return (alo_engine_parameter){.name = {name, strlen(name)},
                                .type = {.token = ALO_TDS_INTN, .size = 4},
                                .value = {.integer = value}};
}

static alo_engine_parameter text(const char *name, const char *value) {
  return (alo_engine_parameter){.name = {name, strlen(name)},
                                .type = {.token = ALO_TDS_NVARCHAR, .size = 8000},
                                .value = {.text = {value, strlen(value)}}};
}

static void expect_batch(alo_session *session, const alo_batch *batch, const char *wanted) {
  script_start(&out, session, batch);
  assert_string_equal(out.text, wanted);
}

static void test_parameters(void **state) {
  fixture *f = *state;
  alo_engine_parameter given[] = {integer("@a", 41), text("@b", "p")};
  alo_batch batch = {.kind = ALO_BATCH_EXECUTESQL,
                     .text = ALOFT_TEXT("SELECT @a + 1 AS a, @b AS b"),
                     .parameters = given,
                     .parameter_count = 2};
  expect_batch(f->one, &batch, "int?,nvarchar(4000)? / 42,p");
  batch.declarations = ALOFT_TEXT("@a bigint, @b varchar(1)");
  expect_batch(f->one, &batch, "bigint?,varchar(1)? / 42,p");
  given[0].name = given[1].name = (aloft_text){NULL, 0};
  expect_batch(f->one, &batch, "bigint?,varchar(1)? / 42,p");
  given[0].value.null = true;
  expect_batch(f->one, &batch, "bigint?,varchar(1)? / NULL,p");
  batch.parameter_count = 1;
  expect_batch(f->one, &batch, "!8178");
  batch.declarations = ALOFT_TEXT("@a int, @b int");
  given[1] = text("@b", "not a number");
  batch.parameter_count = 2;
  expect_batch(f->one, &batch, "!245");
  given[1].name = ALOFT_TEXT("@c");
  expect_batch(f->one, &batch, "!8145");
  given[1] = text("@b", "5");
  given[1].type.token = ALO_TDS_MONEYN;
  expect_batch(f->one, &batch, "!40510");
}

static void test_parameter_types(void **state) {
  fixture *f = *state;
  static const uint8_t guid[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  alo_engine_parameter given[] = {
      {ALOFT_TEXT("@d"),
       {.token = ALO_TDS_DECIMALN, .precision = 10, .scale = 2, .size = 9},
       {.decimal = {0, 12345, true}},
       false},
      {ALOFT_TEXT("@g"), {.token = ALO_TDS_GUID, .size = 16}, {.bytes = {guid, 16}}, false},
      {ALOFT_TEXT("@t"),
       {.token = ALO_TDS_DATETIMEOFFSETN, .scale = 1, .size = 8},
       {.days = 738944, .ticks = 36000000000u, .offset_minutes = 90},
       false},
      {ALOFT_TEXT("@f"), {.token = ALO_TDS_FLT8, .size = 8}, {.real = 1.25}, false},
      {ALOFT_TEXT("@v"), {.token = ALO_TDS_BIGVARBINARY, .size = 8}, {.bytes = {"\1\0", 2}}, false},
      {ALOFT_TEXT("@n"), {.token = ALO_TDS_DATEN, .size = 3}, {.null = true}, false},
  };
  alo_batch batch = {.kind = ALO_BATCH_EXECUTESQL,
                     .text = ALOFT_TEXT("SELECT @d, @g, @t, @f, @v, @n"),
                     .parameters = given,
                     .parameter_count = 6};
  expect_batch(f->one, &batch,
               "decimal(10,2)?,uniqueidentifier?,datetimeoffset(1)?,float?,varbinary(8)?,date? / "
               "-123.45,04030201-0605-0807-090A-0B0C0D0E0F10,2024-02-29 02:30:00.0 +01:30,1.25,"
               "0x0100,NULL");
}

static void test_output_parameters(void **state) {
  fixture *f = *state;
  alo_engine_parameter given[] = {integer("@a", 5), integer("@b", 0)};
  given[1].output = true;
  alo_batch batch = {.kind = ALO_BATCH_EXECUTESQL,
                     .text = ALOFT_TEXT("SET @b = @a * 2; SET @a = 7"),
                     .parameters = given,
                     .parameter_count = 2};
  expect_batch(f->one, &batch, "@b=10");
  batch.declarations = ALOFT_TEXT("@a int, @b bigint output");
  expect_batch(f->one, &batch, "@b=10");
}

static void test_column_flags(void **state) {
  fixture *f = *state;
  expect(f->one, "CREATE TABLE t(id int IDENTITY PRIMARY KEY, a int)", "");
  alo_batch batch = {.text = ALOFT_TEXT("SELECT id, a, a + 1 FROM t")};
  alo_event event;
  assert_int_equal(alo_session_start(f->one, &batch), ALOFT_OK);
  assert_int_equal(alo_session_start(f->one, &batch), ALOFT_IN_USE);
  assert_int_equal(alo_session_step(f->one, &event), ALO_EVENT_RESULT);
  assert_true(event.columns[0].identity && event.columns[0].key && !event.columns[0].nullable);
  assert_true(!event.columns[1].identity && event.columns[1].nullable);
  assert_true(event.columns[2].computed && !event.columns[1].computed);
  assert_int_equal(event.columns[0].type.token, ALO_TDS_INT4);
  assert_int_equal(event.columns[1].type.token, ALO_TDS_INTN);
  assert_int_equal(event.columns[2].name.size, 0);
  assert_int_equal(alo_session_step(f->one, &event), ALO_EVENT_DONE);
  assert_int_equal(event.command, 0xC1);
  assert_true(event.counted && event.rows == 0);
  assert_int_equal(alo_session_step(f->one, &event), ALO_EVENT_END);
  assert_int_equal(alo_session_step(f->one, &event), ALO_EVENT_END);
}

static void remove_database(const char *path) {
  char name[300];
  unlink(path);
  snprintf(name, sizeof name, "%s-wal", path);
  unlink(name);
  snprintf(name, sizeof name, "%s-shm", path);
  unlink(name);
}

static void make_path(char *path, size_t room, const char *name) {
  snprintf(path, room, "%s/lite-%s-%ld.db", ALOFT_BINARY_DIR, name, (long)getpid());
  remove_database(path);
}

/* Two sessions on a file: a database in memory lets no reader beside a writer. */
static void open_file(fixture *f, char *path, size_t room, const char *name) {
  make_path(path, room, name);
  f->engine = script_engine(path);
  f->one = script_session(f->engine);
  f->two = script_session(f->engine);
}

static void close_file(fixture *f, const char *path) {
  alo_session_close(f->one);
  alo_session_close(f->two);
  alo_engine_close(f->engine);
  remove_database(path);
}

static void test_busy(void **state) {
  (void)state;
  static script_output two;
  fixture f;
  char path[256];
  open_file(&f, path, sizeof path, "busy");
  expect(f.one, "CREATE TABLE t(a int)", "");
  expect(f.one, "BEGIN TRAN; INSERT t VALUES (1)", "begun / #1");
  assert_true(script_run(&two, f.two, "INSERT t VALUES (2)"));
  assert_true(script_continue(&two, f.two));
  expect(f.one, "COMMIT", "committed");
  assert_false(script_continue(&two, f.two));
  assert_string_equal(two.text, "busy / busy / #1");
  expect(f.one, "SELECT a FROM t ORDER BY a", "int? / 1 / 2");
  close_file(&f, path);
}

static void test_busy_too_long(void **state) {
  (void)state;
  fixture f;
  char path[256];
  open_file(&f, path, sizeof path, "long");
  expect(f.one, "CREATE TABLE t(a int)", "");
  expect(f.one, "BEGIN TRAN; INSERT t VALUES (1)", "begun / #1");
  assert_true(script_run(&out, f.two, "INSERT t VALUES (2)"));
  script_steady += ALOFT_SECONDS(11);
  assert_false(script_continue(&out, f.two));
  assert_string_equal(out.text, "busy / !1222");
  expect(f.two, "SET LOCK_TIMEOUT 0; INSERT t VALUES (2); SELECT @@ERROR", "!1222 / int / 1222");
  assert_true(script_run(&out, f.two, "SET LOCK_TIMEOUT -1; INSERT t VALUES (2)"));
  script_steady += ALOFT_SECONDS(1000);
  assert_true(script_continue(&out, f.two));
  alo_session_stop(f.two);
  assert_false(script_continue(&out, f.two));
  assert_string_equal(out.text, "busy / busy / interrupted");
  expect(f.one, "ROLLBACK", "rolled back");
  close_file(&f, path);
}

/* The wall's clock may be set while a session waits: GETDATE shows it, the wait does not. */
static void test_busy_while_the_clock_is_set(void **state) {
  (void)state;
  fixture f;
  static script_output two;
  char path[256];
  const uint64_t wall = script_now;
  open_file(&f, path, sizeof path, "clock");
  expect(f.one, "CREATE TABLE t(a int)", "");
  expect(f.one, "BEGIN TRAN; INSERT t VALUES (1)", "begun / #1");
  assert_true(script_run(&two, f.two, "INSERT t VALUES (2)"));
  script_now = wall - ALOFT_SECONDS(86400);
  assert_true(script_continue(&two, f.two));
  script_now = wall + ALOFT_SECONDS(86400);
  expect(f.one, "SELECT CONVERT(varchar(10), GETDATE(), 120)", "varchar(10) / 2024-03-01");
  script_steady += ALOFT_SECONDS(10) - 1;
  assert_true(script_continue(&two, f.two));
  script_steady += 1;
  assert_false(script_continue(&two, f.two));
  assert_string_equal(two.text, "busy / busy / busy / !1222");
  script_now = wall;
  expect(f.one, "ROLLBACK", "rolled back");
  close_file(&f, path);
}

/* In memory a reader waits as well. */
static void test_busy_in_memory(void **state) {
  fixture *f = *state;
  static script_output two;
  expect(f->one, "CREATE TABLE t(a int)", "");
  expect(f->one, "BEGIN TRAN; INSERT t VALUES (1)", "begun / #1");
  assert_true(script_run(&two, f->two, "SELECT a FROM t"));
  expect(f->one, "COMMIT", "committed");
  assert_false(script_continue(&two, f->two));
  assert_string_equal(two.text, "busy / int? / 1");
}

static bool stop_at_once(void *context) {
  (*(int *)context)++;
  return false;
}

/* Rows enough that the progress handler is called. */
static void fill(alo_session *session) {
  expect(session, "CREATE TABLE n(a int)", "");
  expect(session, "INSERT n VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10)", "#10");
  expect(session, "INSERT n SELECT x.a FROM n x, n y, n z", "#1000");
}

static void test_interrupt(void **state) {
  fixture *f = *state;
  int calls = 0;
  alo_session *session;
  alo_engine_message message;
  fill(f->one);
  alo_session_config config = {.spid = 60, .go_on = stop_at_once, .context = &calls};
  assert_int_equal(alo_session_open(&session, f->engine, &config, &message), ALOFT_OK);
  expect(session, "BEGIN TRAN; INSERT n VALUES (11)", "begun / #1");
  expect(session, "SELECT COUNT(*) FROM n x, n y, n z", "int / interrupted");
  assert_true(calls > 0);
  expect(session, "UPDATE n SET a = (SELECT COUNT(*) FROM n x, n y WHERE x.a > n.a)",
         "interrupted");
  expect(session, "SELECT COUNT(*) FROM n WHERE a = 11; SELECT @@TRANCOUNT",
         "int / 1 / int / 1"); /* the transaction and its row are still there */
  expect(session, "COMMIT", "committed");
  alo_session_close(session);
}

static void test_stop_between_rows(void **state) {
  fixture *f = *state;
  fill(f->one);
  alo_event event;
  alo_batch batch = {.text = ALOFT_TEXT("SELECT a FROM n; SELECT 2")};
  assert_int_equal(alo_session_start(f->one, &batch), ALOFT_OK);
  for (int i = 0; i < 5; i++)
    alo_session_step(f->one, &event);
  alo_session_stop(f->one);
  assert_int_equal(alo_session_step(f->one, &event), ALO_EVENT_INTERRUPTED);
  assert_int_equal(alo_session_step(f->one, &event), ALO_EVENT_END);
  expect(f->one, "SELECT 1", "int / 1");
  alo_session_stop(f->one); /* without a batch it is nothing */
  expect(f->one, "SELECT 1", "int / 1");
}

/* Many rows are written in turns, and a stop between them undoes the statement alone. */
static void test_stop_between_writes(void **state) {
  fixture *f = *state;
  fill(f->one);
  expect(f->one, "BEGIN TRAN; INSERT n VALUES (50)", "begun / #1");
  alo_event event;
  alo_batch batch = {.text = ALOFT_TEXT("UPDATE n SET a = 0")};
  assert_int_equal(alo_session_start(f->one, &batch), ALOFT_OK);
  int turns = 0;
  while (turns < 2) {
    assert_int_equal(alo_session_step(f->one, &event), ALO_EVENT_MORE);
    turns++;
  }
  alo_session_stop(f->one);
  assert_int_equal(alo_session_step(f->one, &event), ALO_EVENT_INTERRUPTED);
  expect(f->one, "SELECT COUNT(*) FROM n WHERE a = 0; SELECT COUNT(*) FROM n WHERE a = 50; COMMIT",
         "int / 0 / int / 1 / committed");
}

/* A loop without an event gives the others their turns, and can be stopped. */
static void test_endless_loop(void **state) {
  fixture *f = *state;
  alo_event event;
  alo_batch batch = {.text = ALOFT_TEXT("DECLARE @i int = 0; WHILE 1 = 1 SET @i = @i % 7 + 1")};
  assert_int_equal(alo_session_start(f->one, &batch), ALOFT_OK);
  for (int i = 0; i < 5; i++)
    assert_int_equal(alo_session_step(f->one, &event), ALO_EVENT_MORE);
  alo_session_stop(f->one);
  assert_int_equal(alo_session_step(f->one, &event), ALO_EVENT_INTERRUPTED);
  expect(f->one, "SELECT 1", "int / 1");
}

/* One expression cannot take all memory. */
static void test_memory_limit(void **state) {
  fixture *f = *state;
  expect(f->one, "SELECT DATALENGTH(REPLICATE(CAST('x' AS varchar(max)), 60000000) + 'y')",
         "bigint? / 60000001");
  expect(f->one, "SELECT REPLICATE(CAST('x' AS varchar(max)), 70000000)", "varchar(max)? / !701");
  /* Nor one row. */
  expect(f->one,
         "SELECT REPLICATE(CAST('x' AS varchar(max)), 40000000), REPLICATE(CAST('y' AS "
         "varchar(max)), 40000000)",
         "varchar(max)?,varchar(max)? / !701");
  char sql[2048];
  size_t size = (size_t)snprintf(sql, sizeof sql, "SELECT 1 WHERE 'a' IN (''");
  for (int i = 0; i < 20; i++)
    size += (size_t)snprintf(sql + size, sizeof sql - size,
                             ",REPLICATE(CAST('x' AS varchar(max)), 6%07d)", i);
  snprintf(sql + size, sizeof sql - size, ")");
  script_run(&out, f->one, sql);
  assert_non_null(strstr(out.text, "!701"));
}

static void test_wait(void **state) {
  fixture *f = *state;
  alo_event event;
  alo_batch batch = {.text = ALOFT_TEXT("WAITFOR DELAY '00:00:00.100'; SELECT 1")};
  assert_int_equal(alo_session_start(f->one, &batch), ALOFT_OK);
  assert_int_equal(alo_session_step(f->one, &event), ALO_EVENT_WAIT);
  assert_true(event.wait_ns == ALOFT_MILLISECONDS(100));
  alo_session_stop(f->one);
  assert_int_equal(alo_session_step(f->one, &event), ALO_EVENT_INTERRUPTED);
}

static void test_reset(void **state) {
  fixture *f = *state;
  expect(f->one, "CREATE TABLE t(a int)", "");
  expect(f->one, "SET NOCOUNT ON; SET DATEFORMAT dmy; BEGIN TRAN; INSERT t VALUES (1)",
         "begun / #");
  assert_true(alo_session_transaction(f->one) != 0);
  alo_session_reset(f->one);
  assert_true(alo_session_transaction(f->one) == 0);
  expect(f->one,
         "SELECT COUNT(*), @@TRANCOUNT FROM t; INSERT t VALUES (1); "
         "SELECT CAST('02/29/2024' AS date)",
         "int,int / 0,0 / #1 / date / 2024-02-29");
}

static void test_transaction_ids(void **state) {
  fixture *f = *state;
  alo_event event;
  alo_batch batch = {.text = ALOFT_TEXT("BEGIN TRAN")};
  alo_session_start(f->one, &batch);
  assert_int_equal(alo_session_step(f->one, &event), ALO_EVENT_TRANSACTION);
  uint64_t id = event.transaction_id;
  assert_true(id != 0 && id == alo_session_transaction(f->one));
  while (alo_session_step(f->one, &event) != ALO_EVENT_END)
    ;
  batch.text = ALOFT_TEXT("ROLLBACK");
  alo_session_start(f->one, &batch);
  assert_int_equal(alo_session_step(f->one, &event), ALO_EVENT_TRANSACTION);
  assert_int_equal(event.transaction, ALO_TRANSACTION_ROLLED_BACK);
  assert_true(event.transaction_id == id);
  while (alo_session_step(f->one, &event) != ALO_EVENT_END)
    ;
}

static void test_persistence(void **state) {
  (void)state;
  char path[256];
  make_path(path, sizeof path, "kept");
  alo_engine *engine = script_engine(path);
  alo_session *session = script_session(engine);
  expect(session,
         "CREATE TABLE t(id int IDENTITY(5,5) PRIMARY KEY, d decimal(5,2) DEFAULT 1.25, "
         "s char(3) UNIQUE); INSERT t(s) VALUES ('a'),('b')",
         "#2");
  alo_session_close(session);
  alo_engine_close(engine);
  engine = script_engine(path);
  session = script_session(engine);
  expect(session, "INSERT t(s) VALUES ('C'); SELECT * FROM t",
         "#1 / int,decimal(5,2)?,char(3)? / 5,1.25,a   / 10,1.25,b   / 15,1.25,C  ");
  expect(session, "INSERT t(s) VALUES ('A')", "!2627");
  alo_session_close(session);
  alo_engine_close(engine);
  remove_database(path);
}

/* Two sessions on a file: readers go on beside a writer, and a transaction that has read what
 * another has since changed cannot write: it is the deadlock's victim. */
static void test_snapshots(void **state) {
  (void)state;
  char path[256];
  make_path(path, sizeof path, "snapshots");
  alo_engine *engine = script_engine(path);
  alo_session *one = script_session(engine);
  alo_session *two = script_session(engine);
  expect(one, "CREATE TABLE t(a int); INSERT t VALUES (1)", "#1");
  expect(one, "BEGIN TRAN; UPDATE t SET a = 2", "begun / #1");
  expect(two, "SELECT a FROM t", "int? / 1");
  expect(two, "BEGIN TRAN; SELECT a FROM t", "begun / int? / 1");
  expect(one, "COMMIT", "committed");
  expect(two, "SELECT a FROM t", "int? / 1");
  expect(two, "UPDATE t SET a = 3; SELECT 'not reached'", "!1205 / rolled back");
  expect(two, "SELECT a, @@TRANCOUNT FROM t", "int?,int / 2,0");
  alo_session_close(one);
  alo_session_close(two);
  alo_engine_close(engine);
  remove_database(path);
}

static void test_foreign_file(void **state) {
  (void)state;
  char path[256];
  char error[256];
  make_path(path, sizeof path, "foreign");
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  for (int i = 0; i < 200; i++)
    fputs("this is not a database ", file);
  fclose(file);
  alo_engine *engine = NULL;
  alo_engine_config config = {.path = path};
  assert_int_equal(alo_engine_open(&engine, &config, error), ALOFT_SYSTEM);
  assert_non_null(strstr(error, "not a database"));
  config.path = "/nonexistent/folder/x.db";
  assert_int_equal(alo_engine_open(&engine, &config, error), ALOFT_SYSTEM);
  assert_non_null(strstr(error, "check that its folder exists"));
  config.path = "/tmp"; /* a folder itself */
  assert_int_equal(alo_engine_open(&engine, &config, error), ALOFT_SYSTEM);
  assert_non_null(strstr(error, "check that its folder exists"));
  remove_database(path);
}

static void test_other_database(void **state) {
  fixture *f = *state;
  alo_session *session;
  alo_engine_message message;
  alo_session_config config = {.database = ALOFT_TEXT("elsewhere")};
  assert_int_equal(alo_session_open(&session, f->engine, &config, &message), ALOFT_AUTH);
  assert_int_equal(message.number, 4060);
  config.database = ALOFT_TEXT("TEST");
  assert_int_equal(alo_session_open(&session, f->engine, &config, &message), ALOFT_OK);
  alo_session_close(session);
}

/* Each limit, and one beyond it. */
static void test_limits(void **state) {
  fixture *f = *state;
  size_t room = ALO_ENGINE_TEXT_MAX + 1;
  char *big = malloc(room);
  assert_non_null(big);
  memset(big, ' ', room);
  alo_batch batch = {.text = {big, room}};
  assert_int_equal(alo_session_start(f->one, &batch), ALOFT_TOO_LARGE);
  memcpy(big, "SELECT 1", 8);
  batch.text.size = ALO_ENGINE_TEXT_MAX;
  expect_batch(f->one, &batch, "int / 1");
  batch.parameter_count = ALO_ENGINE_PARAMETERS_MAX + 1;
  assert_int_equal(alo_session_start(f->one, &batch), ALOFT_TOO_MANY);
  batch.parameter_count = 0;
  memcpy(big, "SELECT ", 7);
  for (size_t i = 0; i < 5000; i++)
    big[7 + i] = '(';
  batch.text.size = 5007;
  expect_batch(f->one, &batch, "!191");
  memset(big, ';', 5007);
  size_t size = (size_t)sprintf(big, "SELECT 1");
  for (int i = 0; i < 90; i++)
    size += (size_t)sprintf(big + size, "+1");
  batch.text.size = size;
  expect_batch(f->one, &batch, "int? / 91");
  for (int i = 0; i < 90; i++)
    size += (size_t)sprintf(big + size, "+1");
  batch.text.size = size;
  expect_batch(f->one, &batch, "!191");
  size = (size_t)sprintf(big, "SELECT 1");
  for (int i = 0; i < ALO_ENGINE_COLUMNS_MAX; i++)
    size += (size_t)sprintf(big + size, ",1");
  batch.text.size = size;
  expect_batch(f->one, &batch, "!40510");
  size = (size_t)sprintf(big, "CREATE TABLE w(c int");
  for (int i = 0; i < ALO_ENGINE_COLUMNS_MAX; i++)
    size += (size_t)sprintf(big + size, ",c%d int", i);
  size += (size_t)sprintf(big + size, ")");
  batch.text.size = size;
  expect_batch(f->one, &batch, "!1702");
  size = (size_t)sprintf(big, "SELECT 1 WHERE 5 IN (0");
  for (int i = 0; i < 3000; i++)
    size += (size_t)sprintf(big + size, ",%d", i);
  size += (size_t)sprintf(big + size, ")");
  batch.text.size = size;
  expect_batch(f->one, &batch, "int / 1");
  free(big);
}

/* The table's order, which docs/lite.md's list follows. */
static void test_error_table(void **state) {
  (void)state;
  size_t count;
  const tsql_error_kind *kinds = alo_tsql_error_table(&count);
  for (size_t i = 1; i < count; i++)
    assert_true(kinds[i - 1].number < kinds[i].number);
  assert_int_equal(alo_tsql_error_kind(8134)->severity, 16);
}

/* A stream of words, numbers and signs in no order: never anything but events. */
static const char *const soup[] = {"SELECT",
                                   "FROM",
                                   "t",
                                   "WHERE",
                                   "a",
                                   "b",
                                   "c",
                                   "(",
                                   ")",
                                   ",",
                                   "=",
                                   "<",
                                   "+",
                                   "-",
                                   "*",
                                   "/",
                                   "%",
                                   "1",
                                   "2.5",
                                   "1e3",
                                   "'x'",
                                   "N'y'",
                                   "0x1F",
                                   "NULL",
                                   "AND",
                                   "OR",
                                   "NOT",
                                   "IN",
                                   "LIKE",
                                   "BETWEEN",
                                   "EXISTS",
                                   "CASE",
                                   "WHEN",
                                   "THEN",
                                   "ELSE",
                                   "END",
                                   "AS",
                                   "ORDER BY",
                                   "GROUP BY",
                                   "HAVING",
                                   "COUNT(*)",
                                   "SUM(a)",
                                   "MAX(b)",
                                   "UNION ALL",
                                   "UNION",
                                   "JOIN",
                                   "LEFT JOIN",
                                   "ON",
                                   "t x",
                                   "t y",
                                   "x.a",
                                   "y.b",
                                   "INSERT t",
                                   "VALUES",
                                   "UPDATE t SET",
                                   "DELETE t",
                                   "@v",
                                   "@w",
                                   "DECLARE @v int = 1",
                                   "SET @v =",
                                   ";",
                                   "IF",
                                   "BEGIN",
                                   "BEGIN TRAN",
                                   "COMMIT",
                                   "ROLLBACK",
                                   "PRINT",
                                   "CAST(",
                                   "CONVERT(int,",
                                   "AS varchar(5))",
                                   "TOP 3",
                                   "DISTINCT",
                                   "[",
                                   "]",
                                   "'",
                                   "\"",
                                   "--",
                                   "/*",
                                   "*/",
                                   ".",
                                   "IS NULL",
                                   "IS NOT NULL",
                                   "OFFSET 1 ROWS",
                                   "DEFAULT",
                                   "LEN(",
                                   "SUBSTRING(",
                                   "GETDATE()",
                                   "NEWID()",
                                   "COALESCE(",
                                   "IIF(",
                                   "NULLIF(",
                                   "DATEADD(day,",
                                   "(SELECT",
                                   "(VALUES (1),(2)) v(a)",
                                   "MERGE",
                                   "THROW 50000,'x',1",
                                   "RETURN",
                                   "BREAK",
                                   "CREATE TABLE z(a int)",
                                   "DROP TABLE IF EXISTS z",
                                   "TRUNCATE TABLE t",
                                   "@@ROWCOUNT",
                                   "\xC3\xA9",
                                   "\xFF",
                                   "\x01",
                                   "1.",
                                   ".5",
                                   "{",
                                   "}",
                                   "SET NOCOUNT ON",
                                   "REPLICATE('a',"};

static uint32_t next_random(uint64_t *seed) {
  *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*seed >> 33);
}

/* Half of the texts grow from a right beginning, so that more of them go deep. */
static size_t cook(char *text, size_t room, uint64_t *seed) {
  static const char *const starts[] = {"SELECT a FROM t WHERE ",
                                       "SELECT ",
                                       "INSERT t VALUES (",
                                       "UPDATE t SET a = ",
                                       "DECLARE @v int, @w varchar(9); SELECT ",
                                       "SELECT * FROM t x JOIN t y ON "};
  size_t size = 0;
  text[0] = 0;
  if (next_random(seed) % 2)
    size = (size_t)snprintf(text, room, "%s", starts[next_random(seed) % 6]);
  uint32_t words = next_random(seed) % 14 + 1;
  for (uint32_t i = 0; i < words; i++)
    size += (size_t)snprintf(text + size, room - size, "%s ",
                             soup[next_random(seed) % (sizeof soup / sizeof *soup)]);
  return size;
}

/* Expressions that the grammar allows, of types that may not fit. */
static size_t grow(char *text, size_t room, uint64_t *seed, int depth) {
  static const char *const leaves[] = {"a",
                                       "b",
                                       "c",
                                       "1",
                                       "2.50",
                                       "1e2",
                                       "'7'",
                                       "N'x'",
                                       "0x0F",
                                       "NULL",
                                       "GETDATE()",
                                       "@@ROWCOUNT",
                                       "'2024-02-29'",
                                       "-3",
                                       "(SELECT MAX(a) FROM t)",
                                       "CAST(1 AS bit)",
                                       "NEWID()"};
  static const char *const shapes[] = {"(%s + %s)",
                                       "(%s - %s)",
                                       "(%s * %s)",
                                       "(%s / %s)",
                                       "(%s %% %s)",
                                       "(%s & %s)",
                                       "COALESCE(%s, %s)",
                                       "NULLIF(%s, %s)",
                                       "ISNULL(%s, %s)",
                                       "CONCAT(%s, %s)",
                                       "LEFT(%s, %s)",
                                       "CASE WHEN %s > %s THEN 1 ELSE 2 END",
                                       "CASE %s WHEN %s THEN 'x' END",
                                       "ROUND(%s, %s)",
                                       "IIF(%s LIKE %s, 1, 'b')",
                                       "REPLACE(%s, %s, '-')",
                                       "CHARINDEX(%s, %s)",
                                       "POWER(%s, %s)",
                                       "DATEADD(day, %s, %s)",
                                       "DATEDIFF(day, %s, %s)",
                                       "SUBSTRING(%s, %s, 2)",
                                       "CAST(%s AS varchar(9)) + CAST(%s AS nvarchar(4))",
                                       "CAST(%s AS int) + CAST(%s AS float)",
                                       "CAST(%s AS decimal(9,3)) * CAST(%s AS decimal(30,9))",
                                       "CAST(%s AS datetime2) , %s",
                                       "CAST(%s AS varbinary(8)), CAST(%s AS uniqueidentifier)",
                                       "REPLICATE(%s, %s)",
                                       "CASE WHEN %s IN (1, '2', %s) THEN 1 END",
                                       "CASE WHEN %s BETWEEN 1 AND %s THEN 1 END"};
  if (depth == 0 || room < 400 || next_random(seed) % 4 == 0)
    return (size_t)snprintf(text, room, "%s",
                            leaves[next_random(seed) % (sizeof leaves / sizeof *leaves)]);
  char left[600];
  char right[600];
  grow(left, sizeof left < room / 2 ? sizeof left : room / 2, seed, depth - 1);
  grow(right, sizeof right < room / 2 ? sizeof right : room / 2, seed, depth - 1);
  const char *shape = shapes[next_random(seed) % (sizeof shapes / sizeof *shapes)];
  size_t size = 0;
  int place = 0;
  for (const char *c = shape; *c && size + 1 < room; c++) {
    if (c[0] == '%' && c[1] == 's')
      size += (size_t)snprintf(text + size, room - size, "%s", place++ ? right : left);
    else if (!(c[0] == '%' && c[1] == '%'))
      text[size++] = *c;
    c += c[0] == '%' && c[1] == 's';
    if (size >= room)
      size = room - 1;
  }
  text[size] = 0;
  return size;
}

static size_t grow_select(char *text, size_t room, uint64_t *seed) {
  size_t size = (size_t)snprintf(text, room, "SELECT ");
  size += grow(text + size, 900, seed, 3);
  size += (size_t)snprintf(text + size, room - size, " FROM t WHERE ");
  size += grow(text + size, 900, seed, 2);
  size += (size_t)snprintf(text + size, room - size, " < ");
  size += grow(text + size, 900, seed, 2);
  return size;
}

static void test_soup(void **state) {
  fixture *f = *state;
  const char *given = getenv("SOUP_SEED");
  uint64_t seed = given ? strtoull(given, NULL, 10) : 20240229;
  size_t rounds = 20000;
  size_t fine = 0;
  print_message("seed %llu\n", (unsigned long long)seed);
  expect(f->one, "CREATE TABLE t(a int, b varchar(9), c decimal(9,2))", "");
  for (size_t i = 0; i < rounds; i++) {
    char text[4096];
    size_t size = i % 2 ? cook(text, 1024, &seed) : grow_select(text, sizeof text, &seed);
    alo_batch batch = {.text = {text, size}};
    script_start(&out, f->one, &batch);
    fine += out.text[0] && !strchr(out.text, '!');
    if (out.last.number == 625 || out.last.number == 8629)
      fail_msg("%s: %s", text, out.message);
    if (i % 64 == 0) {
      alo_session_reset(f->one);
      script_run(&out, f->one,
                 "IF OBJECT_ID('t') IS NULL CREATE TABLE t(a int, b varchar(9), "
                 "c decimal(9,2)); TRUNCATE TABLE t; INSERT t VALUES (1,'x',2.5)");
    }
  }
  print_message("%zu of %zu texts were right\n", fine, rounds);
  assert_true(fine > rounds / 200);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_parameters),
      TEST(test_parameter_types),
      TEST(test_output_parameters),
      TEST(test_column_flags),
      cmocka_unit_test(test_busy),
      cmocka_unit_test(test_busy_too_long),
      cmocka_unit_test(test_busy_while_the_clock_is_set),
      TEST(test_busy_in_memory),
      TEST(test_interrupt),
      TEST(test_stop_between_rows),
      TEST(test_stop_between_writes),
      TEST(test_endless_loop),
      TEST(test_memory_limit),
      TEST(test_wait),
      TEST(test_reset),
      TEST(test_transaction_ids),
      cmocka_unit_test(test_persistence),
      cmocka_unit_test(test_snapshots),
      cmocka_unit_test(test_foreign_file),
      TEST(test_other_database),
      TEST(test_limits),
      cmocka_unit_test(test_error_table),
      TEST(test_soup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
