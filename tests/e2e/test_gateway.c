/* What a gateway answers: rows, and each kind of error. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "e2e_gateway.h"

static e2e_rig rig;
static e2e_process gateway;

typedef struct endpoint_file {
  const char *name, *text;
} endpoint_file;

static const endpoint_file files[] = {
    {"one", "SELECT 1 AS one"},
    {"rows", "SELECT 1 AS id, N'\xc3\xa9\"\\' AS t UNION ALL SELECT 2, NULL ORDER BY id"},
    {"empty", "SELECT 1 AS one WHERE 1 = 0"},
    {"none", "DECLARE @a int = 1"},
    {"several", "SELECT 1 AS a; SELECT 2 AS b WHERE 1 = 0; SELECT 3 AS a, 4 AS c"},
    {"types", "SELECT CAST(1 AS bit) AS yes, CAST(0 AS bit) AS no, CAST(NULL AS bit) AS nothing, "
              "CAST(255 AS tinyint) AS tiny, CAST(-5 AS smallint) AS small, "
              "CAST(9007199254740992 AS bigint) AS exact, CAST(9007199254740993 AS bigint) AS big, "
              "CAST(-9007199254740993 AS bigint) AS low, CAST(1.50 AS decimal(5,2)) AS money, "
              "CAST(1.5e300 AS float) AS far, CAST(0.1 AS real) AS near, "
              "CAST('2024-02-29' AS date) AS day, CAST('12:30:01.5' AS time(1)) AS clock, "
              "CAST(0xab01 AS varbinary(4)) AS bytes"},
    {"twice", "SELECT 1 AS a, 2 AS b, 3 AS a"},
    {"unnamed", "SELECT 1 AS a; SELECT 1 AS b, 2 + 3"},
    {"blanks", "RAISERROR('order refused \r\n', 16, 1)"},
    {"divide", "SELECT 1 / 0 AS a"},
    {"missing", "SELECT a FROM no_such_table"},
    {"half", "SELECT 1 AS a; SELECT 1 / 0 AS b"},
    {"id", "-- param: id int\nSELECT @id AS id"},
    {"text", "-- param: t nvarchar(40) = N'\xe2\x80\x94'\nSELECT @t AS t"},
    {"maybe", "-- param: n int = NULL\nSELECT @n AS n"},
    {"all",
     "-- param: a bigint\n-- param: b decimal(10,2)\n-- param: c float\n-- param: d bit\n"
     "-- param: e varbinary(max)\n-- param: f date\n-- param: g time(3)\n"
     "-- param: h datetime2(0)\n-- param: i datetimeoffset(0)\n-- param: j uniqueidentifier\n"
     "-- param: k nvarchar(max)\n-- param: l tinyint\n-- param: m smallint\n-- param: o real\n"
     "SELECT @a AS a, @b AS b, @c AS c, @d AS d, @e AS e, @f AS f, @g AS g, @h AS h, "
     "@i AS i, @j AS j, @k AS k, @l AS l, @m AS m, @o AS o"},
    {"slow", "WAITFOR DELAY '00:01:00'; SELECT 1 AS one"},
    {"limited", "-- timeout: 100ms\nWAITFOR DELAY '00:01:00'; SELECT 1 AS one"},
};

static int start_all(void **state) {
  (void)state;
  e2e_rig_start(&rig, NULL, false);
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
    e2e_rig_write(&rig, files[i].name, files[i].text);
  e2e_rig_gateway(&rig, &gateway, NULL);
  return 0;
}

static int stop_all(void **state) {
  (void)state;
  e2e_free(&gateway);
  e2e_rig_stop(&rig);
  return 0;
}

static void it_says_what_it_serves(void **state) {
  char line[200];
  (void)state;
  snprintf(line, sizeof line, "%s.types %s/%s.types.sql\n", rig.prefix, rig.queries, rig.prefix);
  e2e_expect_text(&gateway.output, line);
  snprintf(line, sizeof line, "gateway ready: %zu endpoints\n", sizeof files / sizeof files[0]);
  e2e_expect_text(&gateway.output, line);
}

static void rows_are_arrays_of_objects(void **state) {
  (void)state;
  e2e_rig_expect_rows(&rig, "one", NULL, "[{\"one\":1}]");
  e2e_rig_expect_rows(&rig, "one", "{}", "[{\"one\":1}]");
  e2e_rig_expect_rows(&rig, "rows", NULL,
                      "[{\"id\":1,\"t\":\"\xc3\xa9\\\"\\\\\"},{\"id\":2,\"t\":null}]");
  e2e_rig_expect_rows(&rig, "empty", NULL, "[]");
  e2e_rig_expect_rows(&rig, "none", NULL, "[]");
  e2e_rig_expect_rows(&rig, "several", NULL, "[[{\"a\":1}],[],[{\"a\":3,\"c\":4}]]");
}

static void values_are_canonical(void **state) {
  (void)state;
  e2e_rig_expect_rows(
      &rig, "types", NULL,
      "[{\"yes\":true,\"no\":false,\"nothing\":null,\"tiny\":255,\"small\":-5,"
      "\"exact\":9007199254740992,\"big\":\"9007199254740993\",\"low\":\"-9007199254740993\","
      "\"money\":\"1.50\",\"far\":1.5e+300,\"near\":0.1,\"day\":\"2024-02-29\","
      "\"clock\":\"12:30:01.5\",\"bytes\":\"0xAB01\"}]");
}

static void parameters_reach_the_server(void **state) {
  (void)state;
  e2e_rig_expect_rows(&rig, "id", "{\"id\":-2147483648}", "[{\"id\":-2147483648}]");
  e2e_rig_expect_rows(&rig, "text", NULL, "[{\"t\":\"\xe2\x80\x94\"}]");
  e2e_rig_expect_rows(&rig, "text", "{\"t\":\"'; DROP TABLE a; --\"}",
                      "[{\"t\":\"'; DROP TABLE a; --\"}]");
  e2e_rig_expect_rows(&rig, "text", "{\"t\":\"\\ud83d\\ude00\"}", "[{\"t\":\"\xf0\x9f\x98\x80\"}]");
  e2e_rig_expect_rows(&rig, "maybe", "{\"n\":null}", "[{\"n\":null}]");
  e2e_rig_expect_rows(&rig, "maybe", NULL, "[{\"n\":null}]");
  e2e_rig_expect_rows(
      &rig, "all",
      "{\"a\":9007199254740993,\"b\":-12.3,\"c\":1e-300,\"d\":true,\"e\":\"0x00ff\","
      "\"f\":\"0001-01-01\",\"g\":\"23:59:59.999\",\"h\":\"2024-02-29T01:02:03\","
      "\"i\":\"2024-02-29T01:02:03+05:30\",\"j\":\"0e984725-c51c-4bf4-9960-e1c80e27aba0\","
      "\"k\":\"x\",\"l\":0,\"m\":-32768,\"o\":1.5}",
      "[{\"a\":\"9007199254740993\",\"b\":\"-12.30\",\"c\":1e-300,\"d\":true,\"e\":\"0x00FF\","
      "\"f\":\"0001-01-01\",\"g\":\"23:59:59.999\",\"h\":\"2024-02-29 01:02:03\","
      "\"i\":\"2024-02-29 01:02:03 +05:30\",\"j\":\"0E984725-C51C-4BF4-9960-E1C80E27ABA0\","
      "\"k\":\"x\",\"l\":0,\"m\":-32768,\"o\":1.5}]");
}

typedef struct error_case {
  const char *name, *body, *header, *error;
} error_case;

static const error_case errors[] = {
    {"id", NULL, NULL, "400: the parameter 'id' is missing: int"},
    {"id", "{\"id\":\"1\"}", NULL, "400: the parameter 'id' is not a whole number: int"},
    {"id", "{\"id\":2147483648}", NULL, "400: the parameter 'id' is out of range: int"},
    {"id", "{\"id\":null}", NULL, "400: the parameter 'id' must not be null"},
    {"id", "{\"id\":1,\"x\":2}", NULL, "400: unknown parameter 'x'"},
    {"id", "{\"id\":1,\"\\n\":2}", NULL, "400: unknown parameter '\\n'"},
    {"id", "{\"id\":1", NULL, "400: the request is not a JSON object: "},
    {"id", "[1]", NULL, "400: the request is not a JSON object"},
    {"id", "\x80", NULL, "400: the request is not a JSON object: "},
    {"one", "{\"id\":1}", NULL, "400: unknown parameter 'id'"},
    {"one", NULL, "Aloft-Timeout: soon", "400: the header Aloft-Timeout is not a duration"},
    {"one", NULL, "Aloft-Timeout: -1s", "400: the header Aloft-Timeout is not a duration"},
    {"one", NULL, "Aloft-Timeout: 0", "504: the request gives no time"},
    {"blanks", NULL, NULL, "500: SQL 50000: order refused"},
    {"divide", NULL, NULL, "500: SQL 8134: Divide by zero error encountered."},
    {"half", NULL, NULL, "500: SQL 8134: Divide by zero error encountered."},
    {"missing", NULL, NULL, "500: SQL 208: Invalid object name 'no_such_table'."},
    {"slow", NULL, "aloft-timeout: 100ms", "504: the query was stopped after the 100ms"},
    {"limited", NULL, NULL, "504: the query was stopped after the 100ms"},
    {"limited", NULL, "Aloft-Timeout: 1h", "504: the query was stopped after the 100ms"},
};

static void errors_have_codes(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
    e2e_rig_expect_error(&rig, errors[i].name, errors[i].body, errors[i].header, errors[i].error);
  e2e_rig_expect_rows(&rig, "one", NULL, "[{\"one\":1}]");
}

static void columns_need_names_of_their_own(void **state) {
  char error[300];
  (void)state;
  snprintf(error, sizeof error,
           "500: %s/%s.twice.sql: result set 1 has two columns named 'a': rename one with AS",
           rig.queries, rig.prefix);
  e2e_rig_expect_error(&rig, "twice", NULL, NULL, error);
  e2e_wait_for(&gateway, &gateway.errors, "result set 1 has two columns named 'a'", 1);
  snprintf(error, sizeof error,
           "500: %s/%s.unnamed.sql: column 2 of result set 2 has no name: give it one with AS",
           rig.queries, rig.prefix);
  e2e_rig_expect_error(&rig, "unnamed", NULL, NULL, error);
}

/* A query that was timed out is stopped in the server too. */
static void the_deadline_ends_the_query(void **state) {
  (void)state;
  if (rig.lite.pid == 0) {
    print_message("needs a server whose log can be read\n");
    skip();
  }
  size_t stopped = e2e_count(&rig.lite.errors, "statement stopped by ATTENTION");
  e2e_rig_expect_error(&rig, "slow", NULL, "Aloft-Timeout: 50ms", "504: the query was stopped");
  e2e_wait_for(&rig.lite, &rig.lite.errors, "statement stopped by ATTENTION", stopped + 1);
}

/* Bytes that are no JSON at all, as they come: each is answered, and the gateway goes on. */
static void hostile_bodies(void **state) {
  (void)state;
  uint32_t seed = 20261201;
  for (int round = 0; round < 40; round++) {
    e2e_process request;
    char subject[80];
    unsigned char body[300];
    size_t size = (size_t)(round * 7);
    for (size_t i = 0; i < size; i++) {
      seed = seed * 1664525 + 1013904223;
      body[i] = (unsigned char)(seed >> 24);
    }
    memcpy(body, "{\"id\":[{\"\\u00", size < 13 ? size : 13);
    snprintf(subject, sizeof subject, "%s.id", rig.prefix);
    e2e_start(&request,
              ((const char *[]){ALOFT_COMMAND, "request", "--raw", subject, "--force-stdin", NULL}),
              rig.environment, E2E_PIPED);
    e2e_write(&request, body, size);
    assert_int_equal(e2e_finish(&request), 1);
    e2e_expect_text(&request.errors, "the service answered with error 400: ");
    e2e_free(&request);
  }
  e2e_rig_expect_rows(&rig, "id", "{\"id\":1}", "[{\"id\":1}]");
}

static void a_message_without_reply_is_not_run(void **state) {
  e2e_process pub;
  char subject[80];
  (void)state;
  snprintf(subject, sizeof subject, "%s.one", rig.prefix);
  e2e_run(&pub, ((const char *[]){ALOFT_COMMAND, "pub", subject, "", NULL}), rig.environment, 0);
  e2e_free(&pub);
  e2e_wait_for(&gateway, &gateway.errors, "a message without a subject for the reply was not run",
               1);
}

static void the_log_has_a_line_for_each(void **state) {
  char line[100];
  (void)state;
  snprintf(line, sizeof line, "%s.rows 200 2 rows ", rig.prefix);
  e2e_wait_for(&gateway, &gateway.errors, line, 1);
  snprintf(line, sizeof line, "%s.divide 500 0 rows ", rig.prefix);
  e2e_wait_for(&gateway, &gateway.errors, line, 1);
  assert_int_equal(e2e_count(&gateway.errors, E2E_PASSWORD), 0);
}

/* ---- max_payload: a reply is whole or an error ---- */

static void a_reply_over_max_payload(void **state) {
  e2e_rig own;
  e2e_process small;
  char body[1100], rows[1200];
  (void)state;
  e2e_rig_start(&own, "max_payload: 1024\n", true);
  e2e_rig_write(&own, "text", "-- param: t nvarchar(4000)\nSELECT @t AS t");
  e2e_rig_write(&own, "many", "SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 3");
  e2e_rig_write(&own, "double", "-- param: t nvarchar(4000)\nSELECT @t AS t; SELECT @t AS t");
  e2e_rig_gateway(&own, &small, NULL);
  /* [{"t":"..."}] is as long as {"t":"..."} and two bytes more. */
  memset(body, 'x', sizeof body);
  memcpy(body, "{\"t\":\"", 6);
  memcpy(body + 1020, "\"}", 3);
  snprintf(rows, sizeof rows, "[%s]", body);
  e2e_rig_expect_rows(&own, "text", body, rows);
  memcpy(body + 1020, "x\"}", 4);
  e2e_rig_expect_error(
      &own, "text", body, NULL,
      "413: the reply is over the 1024 bytes that the NATS server and the gateway take");
  memcpy(body + 600, "\"}", 3);
  e2e_rig_expect_error(&own, "double", body, NULL, "413: the reply is over the 1024 bytes");
  e2e_rig_expect_rows(&own, "many", NULL, "[{\"a\":1},{\"a\":2},{\"a\":3}]");
  e2e_expect_end(&small, SIGTERM, 0);
  e2e_free(&small);
  e2e_rig_stop(&own);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_says_what_it_serves),
      cmocka_unit_test(rows_are_arrays_of_objects),
      cmocka_unit_test(values_are_canonical),
      cmocka_unit_test(parameters_reach_the_server),
      cmocka_unit_test(errors_have_codes),
      cmocka_unit_test(columns_need_names_of_their_own),
      cmocka_unit_test(the_deadline_ends_the_query),
      cmocka_unit_test(hostile_bodies),
      cmocka_unit_test(a_message_without_reply_is_not_run),
      cmocka_unit_test(the_log_has_a_line_for_each),
      cmocka_unit_test(a_reply_over_max_payload),
  };
  return cmocka_run_group_tests(tests, start_all, stop_all);
}
