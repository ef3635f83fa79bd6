/* aloft sql against aloft lite, or against the server that ALOFT_TEST_SQLSERVER names, but for what
 * needs a server that can be watched and killed. */
#define _GNU_SOURCE /* F_GETPIPE_SZ */
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <cmocka.h>

#include "e2e_process.h"
#include "e2e_sql_server.h"

#define SQL(...)                                                                                   \
  ((const char *[]){ALOFT_COMMAND, "sql", "-S", server, "-U", user, "-No", __VA_ARGS__, NULL})

static e2e_process lite; /* pid 0: another server is used, or there is none */
static char server[E2E_SQL_VALUE_MAX], folder[64], password[E2E_SQL_VALUE_MAX + 16],
    database[E2E_SQL_VALUE_MAX + 16] = "SQLCMDDBNAME=";
static e2e_sql_login given_login;
static const char *user = "tester";
static const char *const environment[] = {password, database, NULL};
static bool available;

static void start_lite(e2e_process *process, char *address, size_t room) {
  char path[96];
  const char *const lite_environment[] = {"ALOFT_LITE_PASSWORD=se;cret", NULL};
  snprintf(path, sizeof path, "%s/test.db", folder);
  e2e_start(process,
            ((const char *[]){ALOFT_COMMAND, "lite", path, "--listen", "127.0.0.1:0", "--user",
                              user, "--verbose", NULL}),
            lite_environment, E2E_PIPED);
  e2e_wait_for(process, &process->output, "\n", 2); /* certificate, address */
  const char *found = strstr(process->output.text, "127.0.0.1:");
  assert_non_null(found);
  int host = (int)strcspn(found, ":"), port = (int)strspn(found + host + 1, "0123456789");
  snprintf(address, room, "tcp:%.*s,%.*s", host, found, port, found + host + 1);
}

/* A build without lite says so with status 2. */
static bool has_lite(void) {
  e2e_process process;
  e2e_start(&process, ((const char *[]){ALOFT_COMMAND, "lite", "--help", NULL}), NULL, E2E_PIPED);
  bool has = e2e_finish(&process) == 0;
  e2e_free(&process);
  return has;
}

static int start_server(void **state) {
  const char *given = e2e_sql_server();
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/aloft-e2e-XXXXXX");
  assert_non_null(mkdtemp(folder));
  available = given != NULL || has_lite();
  if (given != NULL) {
    given_login = e2e_sql_login_of(given);
    user = given_login.user;
    snprintf(server, sizeof server, "%s", given_login.server);
    snprintf(password, sizeof password, "SQLCMDPASSWORD=%s", given_login.password);
    snprintf(database, sizeof database, "SQLCMDDBNAME=%s", given_login.database);
  } else if (available) {
    start_lite(&lite, server, sizeof server);
    snprintf(password, sizeof password, "SQLCMDPASSWORD=se;cret");
  }
  return 0;
}

static int stop_server(void **state) {
  char path[96];
  (void)state;
  e2e_free(&lite);
  static const char *const files[] = {"test.db", "test.db-wal", "test.db-shm", "script.sql", "out"};
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, files[i]);
    unlink(path);
  }
  rmdir(folder);
  return 0;
}

static void need_server(void) {
  if (!available) {
    print_message("skipped: this build has no aloft lite, and ALOFT_TEST_SQLSERVER is not set\n");
    skip();
  }
}

static void need_lite(void) {
  need_server();
  if (lite.pid == 0) {
    print_message("skipped: this needs aloft lite\n");
    skip();
  }
}

static void run(e2e_process *process, const char *const *argv, int status) {
  e2e_run(process, argv, environment, status);
}

static void expect_text(const e2e_stream *stream, const char *text, size_t times) {
  if (e2e_count(stream, text) != times)
    fail_msg("'%s' stands %zu times, not %zu, in: %s", text, e2e_count(stream, text), times,
             stream->text);
}

static void expect_output(const char *const *argv, const char *output) {
  e2e_process process;
  run(&process, argv, 0);
  assert_string_equal(process.output.text, output);
  assert_int_equal(process.errors.size, 0);
  e2e_free(&process);
}

/* ---- rows ---- */

static void rows_in_every_format(void **state) {
  static const char query[] = "SELECT CAST(1 AS int) AS id, CAST(N'a\"b' AS nvarchar(5)) AS name, "
                              "CAST(NULL AS bit) AS flag, CAST(2.50 AS decimal(5,2)) AS n";
  static const char numbers[] = "SELECT CAST(9007199254740993 AS bigint) AS b, "
                                "CAST(0.1 AS float) AS f, CAST(0 AS bit) AS f";
  (void)state;
  need_server();
  expect_output(SQL("-Q", query), "id          name  flag n      \n"
                                  "----------- ----- ---- -------\n"
                                  "          1 a\"b   NULL    2.50\n\n"
                                  "(1 row affected)\n");
  expect_output(SQL("-Q", query, "-W", "-s|", "-h-1"), "1|a\"b|NULL|2.50\n\n(1 row affected)\n");
  expect_output(SQL("-Q", query, "--format", "csv"), "id,name,flag,n\r\n1,\"a\"\"b\",,2.50\r\n");
  expect_output(SQL("-Q", query, "--format=json"),
                "[{\"id\":1,\"name\":\"a\\\"b\",\"flag\":null,\"n\":\"2.50\"}]\n");
  expect_output(SQL("-Q", query, "-Q", numbers, "--format", "ndjson"),
                "{\"id\":1,\"name\":\"a\\\"b\",\"flag\":null,\"n\":\"2.50\"}\n"
                "{\"b\":\"9007199254740993\",\"f\":0.1,\"f\":false}\n");
}

static void counts_of_rows(void **state) {
  (void)state;
  need_server();
  expect_output(SQL("-W", "-Q",
                    "CREATE TABLE aloft_e2e (id int NOT NULL)\nGO\n"
                    "INSERT INTO aloft_e2e VALUES (1), (2)\nGO\n"
                    "SELECT id FROM aloft_e2e ORDER BY id\nGO\n"
                    "DELETE FROM aloft_e2e WHERE id > 5\nGO\n"
                    "DROP TABLE aloft_e2e\n"),
                "\n(2 rows affected)\nid\n--\n1\n2\n\n(2 rows affected)\n\n(0 rows affected)\n");
}

static void scripts_from_files_and_standard_input(void **state) {
  e2e_process process;
  char path[96];
  (void)state;
  need_server();
  snprintf(path, sizeof path, "%s/script.sql", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("\xef\xbb\xbfSELECT 1 AS a\r\nGO 2\r\nSELECT N'\r\ngo\r\n' AS b\r\nquit\r\n", file);
  fclose(file);
  expect_output(SQL("--format", "ndjson", "-i", path, "-i", path), "{\"a\":1}\n{\"a\":1}\n");
  e2e_start(&process, SQL("--format", "ndjson", "-q", "SELECT 0 AS a"), environment, E2E_PIPED);
  e2e_write(&process, "SELECT 1 AS a\ngo\n", 17);
  e2e_wait_for(&process, &process.output, "{\"a\":1}\n", 1);
  e2e_write(&process, "SELECT 2 AS a", 13);
  assert_int_equal(e2e_finish(&process), 0);
  assert_string_equal(process.output.text, "{\"a\":0}\n{\"a\":1}\n{\"a\":2}\n");
  e2e_free(&process);
  snprintf(path, sizeof path, "%s/out", folder);
  run(&process, SQL("--format", "json", "-o", path, "-Q", "SELECT 3 AS a"), 0);
  assert_int_equal(process.output.size, 0);
  e2e_free(&process);
  char text[64];
  file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  assert_string_equal(text, "[{\"a\":3}]\n");
}

static void lines_that_are_refused(void **state) {
  e2e_process process;
  (void)state;
  need_server();
  run(&process, SQL("--format=ndjson", "-Q", "SELECT 1 AS a\nGO\n:setvar x y\nGO\nSELECT 2 AS b"),
      2);
  assert_string_equal(process.output.text, "{\"a\":1}\n");
  expect_text(&process.errors, "-Q:3: ", 1);
  expect_text(&process.errors, "\n", 1);
  e2e_free(&process);
  run(&process, SQL("-Q", "SELECT '$(who)'"), 2);
  e2e_free(&process);
  expect_output(SQL("-x", "--format=csv", "-h-1", "-Q", "SELECT '$(who)'"), "$(who)\r\n");
  run(&process, SQL("-Q", "SELECT 'open"), 2);
  expect_text(&process.errors, "close it", 1);
  e2e_free(&process);
}

/* ---- messages and errors ---- */

static void errors_and_messages(void **state) {
  static const char script[] = "SELECT 1 AS a\nGO\nSELECT * FROM aloft_no_such_table\nGO\n"
                               "PRINT 'said'\nGO\nSELECT 2 AS a";
  e2e_process process;
  (void)state;
  need_server();
  run(&process, SQL("--format=ndjson", "-Q", script), 0);
  assert_string_equal(process.output.text, "{\"a\":1}\n{\"a\":2}\n");
  expect_text(&process.errors, "Msg 208, Level 16, State 1, Server ", 1);
  expect_text(&process.errors, ", Line 1\nInvalid object name 'aloft_no_such_table'.\n", 1);
  expect_text(&process.errors, "\nsaid\n", 1);
  e2e_free(&process);
  run(&process, SQL("--format=ndjson", "-b", "-Q", script), 1);
  assert_string_equal(process.output.text, "{\"a\":1}\n");
  e2e_free(&process);
  run(&process, SQL("--format=ndjson", "-m", "17", "-Q", script), 0);
  assert_int_equal(process.errors.size, 0);
  e2e_free(&process);
}

static void a_login_that_is_refused(void **state) {
  e2e_process process;
  (void)state;
  need_server();
  e2e_run(&process, SQL("-Q", "SELECT 1", "-Pwrong-secret"), NULL, 3);
  expect_text(&process.errors, "wrong-secret", 0);
  expect_text(&process.errors, "\n", 1);
  e2e_free(&process);
}

static void encryption_is_on_by_default(void **state) {
  e2e_process process;
  (void)state;
  need_lite(); /* whose certificate nobody has said to trust */
  run(&process,
      ((const char *[]){ALOFT_COMMAND, "sql", "-S", server, "-U", user, "-Q", "SELECT 1", NULL}),
      3);
  expect_text(&process.errors, "\n", 1);
  expect_text(&process.errors, "(-N says how to encrypt)", 1);
  e2e_free(&process);
}

static void nobody_listens(void **state) {
  e2e_process process;
  (void)state;
  e2e_run(&process,
          ((const char *[]){ALOFT_COMMAND, "sql", "-Stcp:127.0.0.1,1", "-Uu", "-Pp", "-No", "-Qx",
                            NULL}),
          NULL, 3);
  expect_text(&process.errors, "cannot connect to tcp:127.0.0.1,1", 1);
  expect_text(&process.errors, "\n", 1);
  e2e_free(&process);
}

/* ---- ends ---- */

static void the_time_is_over(void **state) {
  e2e_process process;
  (void)state;
  need_server();
  run(&process, SQL("-t", "1", "-Q", "WAITFOR DELAY '00:10:00'", "-Q", "SELECT 1"), 4);
  expect_text(&process.errors, "\n", 1);
  assert_int_equal(process.output.size, 0);
  e2e_free(&process);
}

static void a_signal_stops_a_query(void **state) {
  e2e_process process;
  (void)state;
  need_lite();
  size_t before = e2e_count(&lite.errors, "00:11:00");
  e2e_start(&process, SQL("-Q", "WAITFOR DELAY '00:11:00'"), environment, E2E_PIPED);
  e2e_wait_for(&lite, &lite.errors, "00:11:00", before + 1);
  kill(process.pid, SIGINT);
  assert_int_equal(e2e_finish(&process), 130);
  assert_int_equal(process.errors.size, 0);
  e2e_free(&process);
}

/* Until the program can write no more. */
static void wait_until_full(const e2e_process *process) {
  int held = 0;
  for (int tries = 0; tries < 3000; tries++) {
    assert_int_equal(ioctl(process->output.descriptor, FIONREAD, &held), 0);
    if (held == fcntl(process->output.descriptor, F_GETPIPE_SZ))
      return;
    poll(NULL, 0, 10);
  }
  fail_msg("the pipe holds %d bytes and does not fill", held);
}

#define TEN                                                                                        \
  "(SELECT 0 AS x UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 "    \
  "UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT "  \
  "9) "

/* What was printed is cut: the exit status must say so. */
static void a_signal_while_output_is_blocked(void **state) {
  e2e_process process;
  (void)state;
  need_server();
  e2e_start(&process,
            SQL("--format=ndjson", "-Q",
                "SELECT a.x FROM " TEN "a CROSS JOIN " TEN "b CROSS JOIN " TEN "c CROSS JOIN " TEN
                "d CROSS JOIN " TEN "e"),
            environment, E2E_PIPED);
  wait_until_full(&process);
  kill(process.pid, SIGTERM);
  assert_int_equal(e2e_finish(&process), 143);
  e2e_free(&process);
}

static void a_reader_that_goes_away(void **state) {
  e2e_process process;
  (void)state;
  need_server();
  e2e_start(&process, SQL("--format=ndjson", "-Q", "SELECT 1 AS a\nGO 1000000"), environment,
            E2E_PIPED);
  e2e_wait_for(&process, &process.output, "{\"a\":1}\n", 1);
  e2e_close_output(&process);
  assert_int_equal(e2e_finish(&process), 0);
  assert_int_equal(process.errors.size, 0);
  e2e_free(&process);
}

static void the_server_dies(void **state) {
  e2e_process own, process;
  char address[128];
  (void)state;
  need_lite();
  start_lite(&own, address, sizeof address);
  e2e_start(&process,
            ((const char *[]){ALOFT_COMMAND, "sql", "-S", address, "-U", user, "-No", "-Q",
                              "WAITFOR DELAY '00:12:00'", NULL}),
            environment, E2E_PIPED);
  e2e_wait_for(&own, &own.errors, "00:12:00", 1);
  kill(own.pid, SIGKILL);
  assert_int_equal(e2e_finish(&process), 3);
  expect_text(&process.errors, "may have been executed", 1);
  e2e_free(&process);
  e2e_free(&own);
}

/* ---- a terminal ---- */

static void lines_are_asked_for_at_a_terminal(void **state) {
  e2e_process process;
  (void)state;
  need_server();
  e2e_start_at_terminal(&process, SQL("-W", "-h-1"), NULL);
  e2e_wait_for(&process, &process.output, "Password: ", 1);
  const char *secret = strchr(password, '=') + 1;
  e2e_write(&process, secret, strlen(secret));
  e2e_write(&process, "\n", 1);
  e2e_wait_for(&process, &process.output, "1> ", 1);
  e2e_write(&process, "SELECT 40 +\n", 12);
  e2e_wait_for(&process, &process.output, "2> ", 1);
  e2e_write(&process, "2\nGO\n", 5);
  e2e_wait_for(&process, &process.output, "42", 1);
  e2e_wait_for(&process, &process.output, "1> ", 2);
  e2e_write(&process, ":r x\n", 5);
  e2e_wait_for(&process, &process.output, "not available", 1);
  e2e_wait_for(&process, &process.output, "1> ", 3);
  e2e_write(&process, "exit\n", 5);
  assert_int_equal(e2e_finish(&process), 0);
  expect_text(&process.output, secret, 0);
  e2e_free(&process);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_in_every_format),
      cmocka_unit_test(counts_of_rows),
      cmocka_unit_test(scripts_from_files_and_standard_input),
      cmocka_unit_test(lines_that_are_refused),
      cmocka_unit_test(errors_and_messages),
      cmocka_unit_test(a_login_that_is_refused),
      cmocka_unit_test(encryption_is_on_by_default),
      cmocka_unit_test(nobody_listens),
      cmocka_unit_test(the_time_is_over),
      cmocka_unit_test(a_signal_stops_a_query),
      cmocka_unit_test(a_signal_while_output_is_blocked),
      cmocka_unit_test(a_reader_that_goes_away),
      cmocka_unit_test(the_server_dies),
      cmocka_unit_test(lines_are_asked_for_at_a_terminal),
  };
  return cmocka_run_group_tests(tests, start_server, stop_server);
}
