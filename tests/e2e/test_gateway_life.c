/* How a gateway begins and ends, and what it does when others end before it. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "e2e_gateway.h"

static e2e_rig rig;

static int start_all(void **state) {
  (void)state;
  e2e_rig_start(&rig, NULL, true);
  return 0;
}

static int stop_all(void **state) {
  (void)state;
  e2e_rig_stop(&rig);
  return 0;
}

static int write_usual(void **state) {
  (void)state;
  e2e_rig_clear(&rig);
  e2e_rig_write(&rig, "one", "SELECT 1 AS one");
  e2e_rig_write(&rig, "second", "WAITFOR DELAY '00:00:01'; SELECT 1 AS one");
  e2e_rig_write(&rig, "slow", "WAITFOR DELAY '00:01:00'; SELECT 1 AS one");
  return 0;
}

/* Begins a request and waits until its statement runs in the server. */
static void begin_waiting(e2e_process *request, const char *name) {
  size_t running = e2e_count(&rig.lite.errors, "statement: WAITFOR");
  e2e_rig_begin(&rig, request, name, NULL, NULL);
  e2e_wait_for(&rig.lite, &rig.lite.errors, "statement: WAITFOR", running + 1);
}

static void expect_answer(e2e_process *request, int status, const char *output,
                          const char *errors) {
  assert_int_equal(e2e_finish(request), status);
  if (output != NULL)
    e2e_expect_text(&request->output, output);
  if (errors != NULL)
    e2e_expect_text(&request->errors, errors);
  e2e_free(request);
}

/* ---- beginnings ---- */

/* Runs a gateway that is to refuse to start, with one line. */
static void expect_refusal(const char *const *argv, const char *const *environment, int status,
                           const char *text) {
  e2e_process process;
  e2e_start(&process, argv, environment, E2E_PIPED);
  int ended = e2e_finish(&process);
  if (ended != status || strstr(process.errors.text, text) == NULL)
    fail_msg("status %d, %s\nexpected %d, %s", ended, process.errors.text, status, text);
  assert_int_equal(e2e_count(&process.errors, "\n"), 1);
  assert_int_equal(process.output.size, 0);
  assert_int_equal(e2e_count(&process.errors, E2E_PASSWORD), 0);
  e2e_free(&process);
}

#define GATEWAY(...) ((const char *[]){ALOFT_COMMAND, "gateway", __VA_ARGS__, NULL})

typedef struct bad_file {
  const char *text, *error;
} bad_file;

static const bad_file bad_files[] = {
    {"-- subjekt: a\nSELECT 1 AS a", "bad.sql:1: unknown setting 'subjekt'"},
    {"-- a\n-- timeout: 5\nSELECT 1 AS a", "bad.sql:2: the timeout is not a duration"},
    {"-- param: id integer\nSELECT @id AS a", "bad.sql:1: the type 'integer' of id"},
    {"-- param: id int = 'x'\nSELECT @id AS a", "bad.sql:1: the default of id"},
    {"SELECT 1 AS a\n\nWHERE 1 = @id", "bad.sql:3: @id is not declared"},
    {"-- param: id int\nSELECT 1 AS a", "bad.sql:1: the parameter id is not used"},
    {"SELECT 'a", "bad.sql:1: what is quoted from here on"},
    {"SELECT 1 AS a\nGO", "bad.sql:2: GO belongs to tools"},
    {"-- nothing", "bad.sql: holds no SQL"},
};

static void bad_endpoints_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bad_files / sizeof bad_files[0]; i++) {
    e2e_rig_write(&rig, "bad", bad_files[i].text);
    expect_refusal(GATEWAY(rig.queries), rig.environment, 2, bad_files[i].error);
  }
  e2e_rig_clear(&rig);
  expect_refusal(GATEWAY(rig.queries), rig.environment, 2, "holds no .sql file");
  e2e_rig_write(&rig, "a", "-- subject: same\nSELECT 1 AS a");
  e2e_rig_write(&rig, "b", "-- subject: same\nSELECT 1 AS a");
  expect_refusal(GATEWAY(rig.queries), rig.environment, 2, "the subject 'same' is also that of");
  expect_refusal(GATEWAY("/nonexistent"), rig.environment, 2, "/nonexistent: cannot be read");
}

static void wrong_settings_are_refused(void **state) {
  const char *const no_sql[] = {rig.nats_url, NULL};
  const char *queries = rig.queries;
  char wrong_password[200], unreachable[200], mandatory[200];
  (void)state;
  snprintf(wrong_password, sizeof wrong_password,
           "Server=tcp:127.0.0.1,%s;User Id=tester;Password=wrong-43;Encrypt=Optional", rig.port);
  snprintf(mandatory, sizeof mandatory,
           "Server=tcp:127.0.0.1,%s;User Id=tester;Password='" E2E_PASSWORD "'", rig.port);
  snprintf(unreachable, sizeof unreachable,
           "Server=tcp:127.0.0.1,1;User Id=a;Password=b;Encrypt=no");
  expect_refusal(GATEWAY(queries), no_sql, 2, "add --sql CONNECTION, or set ALOFT_SQL");
  expect_refusal(GATEWAY(queries, "--pool", "0"), rig.environment, 2, "--pool wants");
  expect_refusal(GATEWAY(queries, "--pool", "9", "--concurrency", "8"), rig.environment, 2,
                 "--concurrency is below --pool");
  expect_refusal(GATEWAY(queries, "--sql", "Sever=a"), rig.environment, 2, "Sever");
  expect_refusal(GATEWAY(queries, "--sql", wrong_password), rig.environment, 3, "tester");
  expect_refusal(GATEWAY(queries, "--sql", mandatory), rig.environment, 3, "CA File");
  expect_refusal(GATEWAY(queries, "--sql", unreachable), rig.environment, 3,
                 "cannot connect to the SQL Server");
  expect_refusal(GATEWAY(queries, "-s", "127.0.0.1:1"), rig.environment, 3, "cannot connect to");
}

/* ---- sharing ---- */

static void two_gateways_share_the_load(void **state) {
  e2e_process one, two;
  char line[80];
  int left = 300;
  (void)state;
  snprintf(line, sizeof line, "%s.one 200", rig.prefix);
  e2e_rig_gateway(&rig, &one, NULL);
  e2e_rig_gateway(&rig, &two, NULL);
  /* The server chooses at random: neither is left out for ever. */
  for (; left > 0; left -= 20) {
    e2e_process requests;
    char subject[80];
    snprintf(subject, sizeof subject, "%s.one", rig.prefix);
    e2e_run(&requests,
            ((const char *[]){ALOFT_COMMAND, "request", "--raw", "--count", "20", subject, NULL}),
            rig.environment, 0);
    assert_int_equal(e2e_count(&requests.output, "[{\"one\":1}]\n"), 20);
    e2e_free(&requests);
  }
  e2e_expect_end(&one, SIGTERM, 0);
  e2e_expect_end(&two, SIGINT, 0);
  assert_int_equal(e2e_count(&one.errors, line) + e2e_count(&two.errors, line), 300);
  assert_true(e2e_count(&one.errors, line) > 0);
  assert_true(e2e_count(&two.errors, line) > 0);
  e2e_free(&one);
  e2e_free(&two);
}

/* ---- more requests than connections ---- */

static void beyond_the_pool(void **state) {
  static const char *const one_of_each[] = {"--pool", "1", "--concurrency", "1", NULL};
  static const char *const one_connection[] = {"--pool", "1", "--concurrency", "5", NULL};
  e2e_process gateway, slow, waiting;
  (void)state;
  e2e_rig_gateway(&rig, &gateway, one_of_each);
  begin_waiting(&slow, "slow");
  e2e_rig_expect_error(&rig, "one", NULL, NULL, "503: busy: all 1 requests that may wait or run");
  e2e_free(&gateway);
  e2e_free(&slow);
  e2e_rig_gateway(&rig, &gateway, one_connection);
  begin_waiting(&slow, "slow");
  e2e_rig_expect_error(&rig, "one", NULL, "Aloft-Timeout: 50ms",
                       "504: no connection was free within the 50ms that the request had: all 1");
  e2e_free(&slow);
  e2e_free(&gateway);
  e2e_rig_gateway(&rig, &gateway, one_connection);
  begin_waiting(&slow, "second");
  e2e_rig_begin(&rig, &waiting, "one", NULL, NULL); /* gets its turn after the other */
  expect_answer(&waiting, 0, "[{\"one\":1}]", NULL);
  expect_answer(&slow, 0, "[{\"one\":1}]", NULL);
  e2e_free(&gateway);
}

/* ---- a NATS server that takes nothing for a while ---- */

enum { LARGE_COUNT = 40, LARGE_SIZE = 900000 };

/* More replies than the output and the sockets hold: they wait for room, and all arrive whole. */
static void replies_wait_for_room(void **state) {
  static const char *const options[] = {"--pool", "40", NULL};
  static char body[LARGE_SIZE + 16];
  e2e_process gateway, requests[LARGE_COUNT];
  char subject[80], line[100];
  (void)state;
  e2e_rig_write(&rig, "large",
                "-- param: t nvarchar(max)\nWAITFOR DELAY '00:00:08'; SELECT @t AS t");
  snprintf(subject, sizeof subject, "%s.large", rig.prefix);
  snprintf(line, sizeof line, "%s 200 1 rows", subject);
  memset(body, 'x', sizeof body);
  memcpy(body, "{\"t\":\"", 6);
  memcpy(body + LARGE_SIZE - 2, "\"}", 3);
  e2e_rig_gateway(&rig, &gateway, options);
  size_t running = e2e_count(&rig.lite.errors, "statement: WAITFOR");
  for (int i = 0; i < LARGE_COUNT; i++) {
    e2e_start(&requests[i],
              ((const char *[]){ALOFT_COMMAND, "request", "--raw", "--timeout", "60s", subject,
                                "--force-stdin", NULL}),
              rig.environment, E2E_PIPED);
    e2e_write(&requests[i], body, LARGE_SIZE);
    e2e_close_input(&requests[i]);
  }
  e2e_wait_for(&rig.lite, &rig.lite.errors, "statement: WAITFOR", running + LARGE_COUNT);
  kill(rig.nats.process.pid, SIGSTOP);
  e2e_wait_for(&gateway, &gateway.errors, "the reply waits: NATS takes no more", 1);
  kill(rig.nats.process.pid, SIGCONT);
  for (int i = 0; i < LARGE_COUNT; i++) {
    if (e2e_finish(&requests[i]) != 0)
      fail_msg("%s\n%s", requests[i].errors.text, gateway.errors.text);
    assert_int_equal(requests[i].output.size, LARGE_SIZE + 3);
    assert_memory_equal(requests[i].output.text + 1, body, LARGE_SIZE);
    e2e_free(&requests[i]);
  }
  e2e_expect_end(&gateway, SIGTERM, 0);
  assert_int_equal(e2e_count(&gateway.errors, line), LARGE_COUNT);
  e2e_free(&gateway);
}

/* ---- ends ---- */

static void running_requests_are_answered_before_the_end(void **state) {
  e2e_process gateway, running, late;
  (void)state;
  e2e_rig_gateway(&rig, &gateway, NULL);
  begin_waiting(&running, "second");
  e2e_expect_end(&gateway, SIGTERM, 0);
  expect_answer(&running, 0, "[{\"one\":1}]", NULL);
  e2e_expect_text(&gateway.errors, "gateway stopped: 1 replies, 0 of them errors");
  assert_int_equal(e2e_rig_request(&rig, &late, "one", NULL, NULL), 5);
  e2e_free(&late);
  e2e_free(&gateway);
}

static void draining_has_an_end(void **state) {
  static const char *const options[] = {"--drain", "50ms", NULL};
  static const char *const none[] = {"--drain", "0", NULL};
  e2e_process gateway, running;
  (void)state;
  size_t stopped = e2e_count(&rig.lite.errors, "statement stopped by ATTENTION");
  e2e_rig_gateway(&rig, &gateway, options);
  begin_waiting(&running, "slow");
  e2e_expect_end(&gateway, SIGINT, 0);
  expect_answer(&running, 1, NULL, "error 503: the gateway is stopping");
  e2e_expect_text(&gateway.errors, "1 requests still run after the time to drain");
  e2e_free(&gateway);
  e2e_rig_gateway(&rig, &gateway, none);
  begin_waiting(&running, "slow");
  e2e_expect_end(&gateway, SIGINT, 0);
  expect_answer(&running, 1, NULL, "error 503: the gateway is stopping");
  e2e_free(&gateway);
  (void)stopped; /* whether ATTENTION or the closed socket ends it there is a race */
}

static void a_second_signal_kills(void **state) {
  e2e_process gateway, running;
  char subject[80];
  (void)state;
  e2e_rig_gateway(&rig, &gateway, NULL);
  begin_waiting(&running, "slow");
  kill(gateway.pid, SIGTERM);
  /* Once nobody listens, the first signal has been taken. */
  snprintf(subject, sizeof subject, "%s.one", rig.prefix);
  for (int status = 0; status != 5;) {
    e2e_process request;
    status = e2e_rig_request(&rig, &request, "one", NULL, NULL);
    assert_true(status == 0 || status == 5);
    e2e_free(&request);
  }
  e2e_expect_end(&gateway, SIGTERM, 1000 + SIGTERM);
  e2e_free(&gateway);
  e2e_free(&running);
}

static void the_sql_server_dies(void **state) {
  e2e_process gateway, running;
  char port[16];
  (void)state;
  e2e_rig_gateway(&rig, &gateway, NULL);
  begin_waiting(&running, "slow");
  e2e_rig_kill_lite(&rig);
  expect_answer(&running, 1, NULL, "error 503: the SQL Server cannot be reached");
  e2e_rig_expect_error(&rig, "one", NULL, NULL, "503: the SQL Server cannot be reached");
  e2e_wait_for(&gateway, &gateway.errors, "no SQL Server", 2);
  snprintf(port, sizeof port, "%s", rig.port);
  e2e_rig_start_lite(&rig, port);
  e2e_rig_expect_rows(&rig, "one", NULL, "[{\"one\":1}]");
  e2e_expect_end(&gateway, SIGTERM, 0);
  assert_int_equal(e2e_count(&gateway.errors, E2E_PASSWORD), 0);
  e2e_free(&gateway);
}

static void nats_dies(void **state) {
  e2e_rig own;
  e2e_process gateway;
  (void)state;
  e2e_rig_start(&own, NULL, true);
  e2e_rig_write(&own, "one", "SELECT 1 AS one");
  e2e_rig_gateway(&own, &gateway, NULL);
  e2e_nats_server_kill(&own.nats);
  assert_int_equal(e2e_finish(&gateway), 3);
  e2e_expect_text(&gateway.errors,
                  "aloft gateway: the connection to NATS was lost: start it again");
  e2e_free(&gateway);
  e2e_rig_stop(&own);
}

/* ---- memory ---- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  #define SANITIZED 1
#elif defined(__has_feature)
  #if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    #define SANITIZED 1
  #endif
#endif
#ifndef SANITIZED
  #define SANITIZED 0
#endif

/* Requests of every kind, `rounds` times; how often the gateway's process has called malloc,
 * realloc or mmap from its start to its end. */
static unsigned long count_heap_calls(const char *rounds) {
  static const char *const requests[][2] = {
      {"one", ""}, {"text", "{\"t\":\"\\u00e9\"}"}, {"text", "{}"}, {"divide", ""}, {"two", ""}};
  char report[100], path[80], line[200];
  e2e_process gateway, request;
  snprintf(path, sizeof path, "%s/heap", rig.folder);
  unlink(path);
  snprintf(report, sizeof report, "ALOFT_HEAP_REPORT=%s", path);
  const char *const environment[] = {rig.nats_url, rig.sql, report, "LD_PRELOAD=" ALOFT_HEAP_COUNT,
                                     NULL};
  e2e_start(&gateway, GATEWAY(rig.queries, "--pool", "1"), environment, E2E_PIPED);
  e2e_wait_for(&gateway, &gateway.output, "gateway ready: ", 1);
  for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
    char subject[80];
    snprintf(subject, sizeof subject, "%s.%s", rig.prefix, requests[i][0]);
    e2e_start(&request,
              ((const char *[]){ALOFT_COMMAND, "request", "--raw", "--count", rounds, subject,
                                requests[i][1], NULL}),
              rig.environment, E2E_PIPED);
    int status = e2e_finish(&request);
    assert_true(status == 0 || status == 1);
    assert_int_equal(e2e_count(&request.output, "\n"), atoi(rounds));
    e2e_free(&request);
  }
  e2e_expect_end(&gateway, SIGTERM, 0);
  e2e_free(&gateway);
  unsigned long allocations = 0, resizes = 0, mappings = 0;
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_non_null(fgets(line, sizeof line, file));
  fclose(file);
  assert_int_equal(sscanf(line, "%*d %lu %lu %*u %*u %lu", &allocations, &resizes, &mappings), 3);
  return allocations + resizes + mappings;
}

static void requests_cost_no_memory(void **state) {
  (void)state;
  if (SANITIZED) {
    print_message("the heap cannot be counted under a sanitizer\n");
    skip();
  }
  e2e_rig_write(&rig, "text", "-- param: t nvarchar(9) = NULL\nSELECT @t AS t");
  e2e_rig_write(&rig, "divide", "SELECT 1 / 0 AS a");
  e2e_rig_write(&rig, "two", "SELECT 1 AS a; SELECT 2 AS b UNION ALL SELECT 3");
  unsigned long few = count_heap_calls("20"), many = count_heap_calls("120");
  print_message("%lu heap calls with 100 requests, %lu with 600\n", few, many);
  assert_int_equal(few, many);
}

/* ---- secrets ---- */

static void secrets_are_not_to_be_seen(void **state) {
  e2e_process gateway;
  char text[8192], path[64], connection[200];
  const char *const environment[] = {rig.nats_url, NULL};
  (void)state;
  snprintf(connection, sizeof connection,
           "Server=tcp:127.0.0.1,%s;User Id=tester;Password='" E2E_PASSWORD "';Encrypt=Optional",
           rig.port);
  for (int round = 0; round < 2; round++) {
    if (round == 0)
      e2e_rig_gateway(&rig, &gateway, NULL);
    else
      e2e_start(&gateway, GATEWAY(rig.queries, "--sql", connection), environment, E2E_PIPED);
    e2e_wait_for(&gateway, &gateway.output, "gateway ready: ", 1);
    snprintf(path, sizeof path, "/proc/%d/%s", (int)gateway.pid,
             round == 0 ? "environ" : "cmdline");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_true(size > 0);
    for (size_t i = 0; i < size; i++)
      text[i] = (char)(text[i] == '\0' ? ' ' : text[i]);
    text[size] = '\0';
    assert_null(strstr(text, E2E_PASSWORD));
    e2e_expect_end(&gateway, SIGTERM, 0);
    e2e_free(&gateway);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_endpoints_are_refused),
      cmocka_unit_test_setup(wrong_settings_are_refused, write_usual),
      cmocka_unit_test_setup(two_gateways_share_the_load, write_usual),
      cmocka_unit_test_setup(beyond_the_pool, write_usual),
      cmocka_unit_test_setup(replies_wait_for_room, write_usual),
      cmocka_unit_test_setup(running_requests_are_answered_before_the_end, write_usual),
      cmocka_unit_test_setup(draining_has_an_end, write_usual),
      cmocka_unit_test_setup(a_second_signal_kills, write_usual),
      cmocka_unit_test_setup(the_sql_server_dies, write_usual),
      cmocka_unit_test_setup(nats_dies, write_usual),
      cmocka_unit_test_setup(requests_cost_no_memory, write_usual),
      cmocka_unit_test_setup(secrets_are_not_to_be_seen, write_usual),
  };
  return cmocka_run_group_tests(tests, start_all, stop_all);
}
