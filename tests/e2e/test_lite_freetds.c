/* FreeTDS's tools against aloft lite: tsql and bsqldb log in and run what people type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "e2e_lite.h"

enum { PATH_ROOM = 256 };

static e2e_lite lite;
static char tsql[PATH_ROOM], bsqldb[PATH_ROOM];

static int start_lite(void **state) {
  (void)state;
  e2e_lite_start(&lite, ALOFT_COMMAND);
  return 0;
}

static int stop_lite(void **state) {
  (void)state;
  e2e_lite_stop(&lite);
  return 0;
}

static void need(const char *name, char *path) {
  if (e2e_find_program(name, path, PATH_ROOM))
    return;
  print_message("%s is not installed (Debian's freetds-bin): skipped\n", name);
  skip();
}

/* tsql reads batches with `go` from its input; answers go to the output, messages to the errors. */
static void run_tsql(e2e_process *process, const char *version, const char *password,
                     const char *script) {
  char tds[32];
  snprintf(tds, sizeof tds, "TDSVER=%s", version);
  const char *const environment[] = {tds, "LC_ALL=C.UTF-8", NULL};
  const char *const argv[] = {tsql,          "-H", "127.0.0.1", "-p", lite.port, "-U",
                              E2E_LITE_USER, "-P", password,    "-o", "q",       NULL};
  need("tsql", tsql);
  e2e_start(process, argv, environment, E2E_PIPED);
  e2e_write(process, script, strlen(script));
}

static void expect_output(const char *script, const char *output) {
  e2e_process process;
  run_tsql(&process, "7.4", E2E_LITE_PASSWORD, script);
  int status = e2e_finish(&process);
  if (status != 0 || !process.output.text || !strstr(process.output.text, output))
    fail_msg("%s\nstatus %d, output: %s\nerrors: %s\nexpected: %s", script, status,
             process.output.text, process.errors.text ? process.errors.text : "", output);
  e2e_free(&process);
}

static void expect_message(const char *script, const char *message) {
  e2e_process process;
  run_tsql(&process, "7.4", E2E_LITE_PASSWORD, script);
  assert_int_equal(e2e_finish(&process), 0);
  if (!process.errors.text || !strstr(process.errors.text, message))
    fail_msg("%s\nerrors: %s\nexpected: %s", script, process.errors.text, message);
  e2e_free(&process);
}

static void fortunes(void **state) {
  (void)state;
  expect_output(
      "CREATE TABLE fortune (id int NOT NULL PRIMARY KEY, message nvarchar(2048) NOT NULL)\n"
      "INSERT INTO fortune VALUES (1, N'fortune: No such file or directory'),\n"
      "(2, N'A computer scientist is someone who fixes things that aren''t broken.'),\n"
      "(12, "
      "N'\xE3\x83\x95\xE3\x83\xAC\xE3\x83\xBC\xE3\x83\xA0\xE3\x83\xAF\xE3\x83\xBC\xE3\x82\xAF')\n"
      "go\nSELECT id, message FROM fortune ORDER BY id\ngo\n",
      "id\tmessage\n1\tfortune: No such file or directory\n2\tA computer scientist is "
      "someone who fixes things that aren't broken.\n12\t\xE3\x83\x95\xE3\x83\xAC\xE3\x83\xBC"
      "\xE3\x83\xA0\xE3\x83\xAF\xE3\x83\xBC\xE3\x82\xAF\n");
}

static void every_type(void **state) {
  (void)state;
  expect_output(
      "select cast(1 as bit), cast(255 as tinyint), cast(-2 as smallint), cast(-3 as int), "
      "cast(-9223372036854775808 as bigint)\ngo\n",
      "1\t255\t-2\t-3\t-9223372036854775808\n");
  expect_output("select cast(1.5 as real), cast(-2.25 as float), cast(-123.45 as decimal(38,2)), "
                "cast(7 as numeric(5,3))\ngo\n",
                "1.5\t-2.25\t-123.45\t7.000\n");
  expect_output(
      "select cast('ab' as char(3)), cast('cd' as varchar(9)), cast('ef' as varchar(max)), "
      "cast(N'\xE2\x82\xAC' as nchar(2)), N'\xC3\xAF', cast(N'\xF0\x9F\x98\x80' as "
      "nvarchar(max))\ngo\n",
      "ab \tcd\tef\t\xE2\x82\xAC \t\xC3\xAF\t\xF0\x9F\x98\x80\n");
  expect_output("select cast(0x01 as binary(2)), 0x0203, cast(0x04 as varbinary(max))\ngo\n",
                "0100\t0203\t04\n");
  expect_output("select cast('6F9619FF-8B86-D011-B42D-00C04FC964FF' as uniqueidentifier)\ngo\n",
                "6F9619FF-8B86-D011-B42D-00C04FC964FF\n");
  /* In words of its own. */
  expect_output("select cast('2024-02-29' as date)\ngo\n", "Feb 29 2024");
  expect_output("select cast('12:34:56.1234567' as time)\ngo\n", "12:34PM");
  expect_output("select cast('2024-02-29T12:34:56' as datetime2)\ngo\n", "Feb 29 2024 12:34PM");
  expect_output("select cast('2024-02-29T12:34:56' as datetime)\ngo\n", "Feb 29 2024 12:34PM");
  expect_output("select cast('2024-02-29T12:34:56' as smalldatetime)\ngo\n", "Feb 29 2024 12:35PM");
  expect_output("select cast('2024-02-29T12:34:56+05:30' as datetimeoffset)\ngo\n", "2024");
  expect_output("select 1, null, cast(null as nvarchar(max)), cast(null as date), 2\ngo\n",
                "1\tNULL\tNULL\tNULL\t2\n");
}

static void errors_and_messages(void **state) {
  (void)state;
  expect_message("select 1/0\ngo\n",
                 "Msg 8134 (severity 16, state 1) from lite Line 1:\n\t\"Divide by "
                 "zero error encountered.\"");
  expect_message("select * from nowhere\ngo\n", "Invalid object name 'nowhere'.");
  expect_message("select 1 +\ngo\n", "Msg 102 ");
  expect_message("create index i on t (a)\ngo\n", "Msg 40510 ");
  expect_message("print 'hello'\ngo\n", "hello\n");
  expect_output("select 1/0\ngo\nselect 7 as a\ngo\n", "a\n7\n");
}

static void transactions_and_settings(void **state) {
  (void)state;
  expect_output("set textsize 2147483647\nset quoted_identifier on\nset nocount on\n"
                "set ansi_nulls on set ansi_warnings on\nset language us_english\n"
                "set transaction isolation level read committed\ngo\n"
                "create table t (a int)\nbegin tran\ninsert into t values (1)\n"
                "select @@trancount\nrollback\nselect count(*) from t\ngo\n",
                "\n1\n\n0\n");
}

static void refused_logins(void **state) {
  e2e_process process;
  (void)state;
  run_tsql(&process, "7.4", "wrong", "select 1\ngo\n");
  assert_int_not_equal(e2e_finish(&process), 0);
  assert_int_equal(e2e_count(&process.errors, "Msg 18456 (severity 14"), 1);
  e2e_free(&process);
  run_tsql(&process, "7.2", E2E_LITE_PASSWORD, "select 1\ngo\n");
  assert_int_not_equal(e2e_finish(&process), 0);
  assert_int_equal(e2e_count(&process.errors, "Use a SQL login over TDS 7.3 or 7.4."), 1);
  e2e_free(&process);
  run_tsql(&process, "7.3", E2E_LITE_PASSWORD, "select 7 as a\ngo\n");
  assert_int_equal(e2e_finish(&process), 0);
  assert_int_equal(e2e_count(&process.output, "7"), 1);
  e2e_free(&process);
}

static void with_bsqldb(void **state) {
  char path[96], configuration[128];
  e2e_process process;
  static const char script[] = "select cast(7 as int) as a, cast('text' as varchar(9)) as b\n";
  (void)state;
  need("bsqldb", bsqldb);
  snprintf(path, sizeof path, "%s/freetds.conf", lite.folder);
  snprintf(configuration, sizeof configuration, "FREETDSCONF=%s", path);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "[lite]\nhost = 127.0.0.1\nport = %s\ntds version = 7.4\n", lite.port);
  assert_int_equal(fclose(file), 0);
  const char *const environment[] = {configuration, NULL};
  const char *const argv[] = {bsqldb, "-S", "lite", "-U", E2E_LITE_USER, "-P", E2E_LITE_PASSWORD,
                              "-q",   NULL};
  e2e_start(&process, argv, environment, E2E_PIPED);
  e2e_write(&process, script, sizeof script - 1);
  int status = e2e_finish(&process);
  if (status != 0 || !strstr(process.output.text, "text"))
    fail_msg("status %d, output: %s\nerrors: %s", status, process.output.text,
             process.errors.text ? process.errors.text : "");
  e2e_free(&process);
}

/* ---- encryption ---- */

static void write_configuration(const e2e_lite *server, const char *encryption,
                                const char *authority) {
  char path[96];
  snprintf(path, sizeof path, "%s/freetds.conf", server->folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file,
          "[lite]\nhost = 127.0.0.1\nport = %s\ntds version = 7.4\nencryption = %s\n"
          "check certificate hostname = yes\n%s%s\n",
          server->port, encryption, authority ? "ca file = " : "", authority ? authority : "");
  assert_int_equal(fclose(file), 0);
}

static bool answers(const e2e_lite *server, const char *encryption, const char *authority) {
  static const char script[] =
      "select replicate(cast('x' as varchar(max)), 20000) + 'end'\ngo\nselect 41 + 1\ngo\n";
  char configuration[128];
  e2e_process process;
  need("tsql", tsql);
  write_configuration(server, encryption, authority);
  snprintf(configuration, sizeof configuration, "FREETDSCONF=%s/freetds.conf", server->folder);
  const char *const environment[] = {configuration, "LC_ALL=C.UTF-8", NULL};
  const char *const argv[] = {tsql, "-S", "lite", "-U", E2E_LITE_USER, "-P", E2E_LITE_PASSWORD,
                              "-o", "q",  NULL};
  e2e_start(&process, argv, environment, E2E_PIPED);
  e2e_write(&process, script, sizeof script - 1);
  int status = e2e_finish(&process);
  bool answered = status == 0 && e2e_count(&process.output, "xend\n") == 1 &&
                  e2e_count(&process.output, "42\n") == 1;
  if (!answered)
    assert_int_equal(e2e_count(&process.output, "42"), 0);
  e2e_free(&process);
  return answered;
}

static void encrypted(void **state) {
  e2e_lite other;
  (void)state;
  need("tsql", tsql);
  assert_true(answers(&lite, "off", NULL));
  assert_true(answers(&lite, "request", lite.certificate));
  assert_true(answers(&lite, "require", lite.certificate));
  e2e_lite_start_tls(&other, ALOFT_COMMAND, "required");
  assert_true(answers(&other, "require", other.certificate));
  assert_true(answers(&other, "request", other.certificate));
  assert_false(answers(&other, "require", lite.certificate)); /* it is another's */
  assert_false(answers(&other, "off", NULL));
  e2e_lite_stop(&other);
  e2e_lite_start_tls(&other, ALOFT_COMMAND, "off");
  assert_true(answers(&other, "off", NULL));
  assert_true(answers(&other, "request", NULL));
  assert_false(answers(&other, "require", NULL));
  e2e_lite_stop(&other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fortunes),
      cmocka_unit_test(every_type),
      cmocka_unit_test(errors_and_messages),
      cmocka_unit_test(transactions_and_settings),
      cmocka_unit_test(refused_logins),
      cmocka_unit_test(with_bsqldb),
      cmocka_unit_test(encrypted),
  };
  return cmocka_run_group_tests(tests, start_lite, stop_lite);
}
