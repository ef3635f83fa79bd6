/* What aloft lite says to command lines and files that are wrong, and how it ends. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "e2e_process.h"

static char folder[64];
static const char *const password[] = {"ALOFT_LITE_PASSWORD=se;cret", NULL};

#define LITE(...) ((const char *[]){ALOFT_COMMAND, "lite", __VA_ARGS__, NULL})

static void expect_refusal(const char *const *argv, const char *const *environment, int status,
                           const char *says) {
  e2e_process process;
  e2e_run(&process, argv, environment, status);
  if (e2e_count(&process.errors, says) != 1)
    fail_msg("not '%s' but '%s'", says, process.errors.text);
  assert_int_equal(e2e_count(&process.errors, "\n"), 1);
  assert_int_equal(e2e_count(&process.errors, "se;cret"), 0);
  assert_int_equal(process.output.size, 0);
  e2e_free(&process);
}

static const char *in_folder(const char *name, const char *content) {
  static char path[160];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  if (content) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(content, file) >= 0);
    assert_int_equal(fclose(file), 0);
  }
  return path;
}

static void wrong_lines(void **state) {
  static const char long_name[] =
      "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
      "12345678901234567890123456789012345678";
  (void)state;
  expect_refusal(LITE("--user", "u"), password, 2, "FILE is missing");
  expect_refusal(LITE("a.db", "b.db", "--user", "u"), password, 2, "too many arguments");
  expect_refusal(LITE(":memory:"), password, 2, "add --user NAME");
  expect_refusal(LITE(":memory:", "--user", ""), password, 2, "--user");
  expect_refusal(LITE(":memory:", "--user"), password, 2, "--user");
  expect_refusal(LITE(":memory:", "--usr", "u"), password, 2, "did you mean --user?");
  expect_refusal(LITE(":memory:", "--user", "u"), NULL, 2,
                 "set ALOFT_LITE_PASSWORD, or give --password-file");
  expect_refusal(LITE(":memory:", "--user", long_name), password, 2, "1 to 128 characters");
  expect_refusal(LITE(":memory:", "--user", "\xFF"), password, 2, "not UTF-8");
  expect_refusal(LITE(":memory:", "--user", "u", "--tls", "on"), password, 2,
                 "--tls wants off, optional, required or strict");
  expect_refusal(LITE(":memory:", "--user", "u", "--tlscert", "a"), password, 2, "give both");
  expect_refusal(LITE(":memory:", "--user", "u", "--tlskey", "a"), password, 2, "give both");
  expect_refusal(
      LITE(":memory:", "--user", "u", "--tlscert", "a", "--tlskey", "b", "--tlscert-out", "c"),
      password, 2, "--tlscert-out");
  expect_refusal(LITE(":memory:", "--user", "u", "--tls", "off", "--tlscert-out", "c"), password, 2,
                 "no meaning with --tls off");
  expect_refusal(LITE(":memory:", "--user", "u", "--tlscert", "/nonexistent/a", "--tlskey", "b"),
                 password, 3, "/nonexistent/a");
  expect_refusal(LITE(":memory:", "--user", "u", "--tlscert-out", "/nonexistent/a"), password, 3,
                 "/nonexistent/a");
  expect_refusal(LITE(":memory:", "--user", "u", "--database", long_name), password, 2,
                 "the database's name");
}

static void help(void **state) {
  e2e_process process;
  (void)state;
  e2e_run(&process, LITE("--help"), NULL, 0);
  assert_int_equal(e2e_count(&process.output, "Usage: aloft lite [OPTION...] FILE\n"), 1);
  assert_int_equal(e2e_count(&process.output, "ALOFT_LITE_PASSWORD"), 2);
  assert_int_equal(process.errors.size, 0);
  e2e_free(&process);
}

static void wrong_addresses(void **state) {
  static const char *const wrong[] = {
      "127.0.0.1",      "127.0.0.1:", "127.0.0.1:x",      "127.0.0.1:65536", "127.0.0.1:1433x",
      "localhost:1433", "::1:0",      "[127.0.0.1]:0",    ":1433",           "[::1]",
      "127.0.0.1:-1",   "[]:0",       "127.0.0.1:000000", "127.0.0.1: 1",    "1.2.3:1",
  };
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    expect_refusal(LITE(":memory:", "--user", "u", "--listen", wrong[i]), password, 2,
                   "not numeric with a port");
  /* Of nobody on this machine. */
  expect_refusal(LITE(":memory:", "--user", "u", "--listen", "192.0.2.1:0"), password, 3,
                 "cannot listen");
}

static void wrong_files(void **state) {
  (void)state;
  expect_refusal(LITE(":memory:", "--user", "u", "--password-file", "/nonexistent/p"), NULL, 2,
                 "/nonexistent/p");
  expect_refusal(
      LITE("/nonexistent/a.db", "--user", "u"), password, 3,
      "/nonexistent/a.db: cannot open or create this file: check that its folder exists, "
      "and that folder and file may be read and written");
  expect_refusal(LITE(folder, "--user", "u"), password, 3, folder);
  expect_refusal(LITE(in_folder("text", "this is a text and no database, which is longer than a "
                                        "header of SQLite's: a hundred bytes are needed for it"),
                      "--user", "u"),
                 password, 3, "not a database");
  unlink(in_folder("text", NULL));
}

static void port_in_use(void **state) {
  char address[64];
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  (void)state;
  assert_true(fd >= 0);
  assert_int_equal(bind(fd, (struct sockaddr *)&at, size), 0);
  assert_int_equal(listen(fd, 1), 0);
  assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
  snprintf(address, sizeof address, "127.0.0.1:%u", (unsigned)ntohs(at.sin_port));
  expect_refusal(LITE(":memory:", "--user", "u", "--listen", address), password, 3,
                 "cannot listen: Address already in use");
  close(fd);
}

static void start(e2e_process *lite, const char *const *argv, const char *const *environment) {
  e2e_start(lite, argv, environment, E2E_PIPED);
  e2e_wait_for(lite, &lite->output, "\n", 1);
}

static int connect_to(const e2e_process *lite) {
  const char *colon = strrchr(lite->output.text, ':');
  assert_non_null(colon);
  struct sockaddr_in at = {.sin_family = AF_INET,
                           .sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10)),
                           .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_true(fd >= 0);
  assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
  return fd;
}

static void stops_on_signals(void **state) {
  static const int signals[] = {SIGINT, SIGTERM};
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    e2e_process lite;
    start(&lite, LITE(":memory:", "--user", "u"), password);
    int client = connect_to(&lite);
    assert_int_equal(kill(lite.pid, signals[i]), 0);
    assert_int_equal(e2e_finish(&lite), 0);
    char byte;
    assert_true(recv(client, &byte, 1, 0) <= 0);
    close(client);
    assert_int_equal(lite.errors.size, 0);
    e2e_free(&lite);
  }
}

/* The file's password counts, and a line ending after it does not. */
static void password_file(void **state) {
  char server[64], path[160];
  e2e_process lite, sql;
  (void)state;
  snprintf(path, sizeof path, "%s", in_folder("password", "fi;le\n"));
  start(&lite, LITE(":memory:", "--user", "u", "--password-file", path, "--verbose"), password);
  unsigned long port = strtoul(strrchr(lite.output.text, ':') + 1, NULL, 10);
  snprintf(server, sizeof server, "tcp:127.0.0.1,%lu", port);
  const char *const right[] = {"SQLCMDPASSWORD=fi;le", NULL};
  const char *const wrong[] = {"SQLCMDPASSWORD=se;cret", NULL};
  const char *const query[] = {ALOFT_COMMAND,      "sql", "-S", server, "-U", "u", "-No", "-Q",
                               "SELECT DB_NAME()", NULL};
  e2e_run(&sql, query, right, 0);
  assert_int_equal(e2e_count(&sql.output, "memory"), 1);
  e2e_free(&sql);
  e2e_run(&sql, query, wrong, 3);
  assert_int_equal(e2e_count(&sql.errors, "Login failed for user 'u'"), 1);
  e2e_free(&sql);
  kill(lite.pid, SIGTERM);
  assert_int_equal(e2e_finish(&lite), 0);
  assert_int_equal(e2e_count(&lite.errors, "fi;le"), 0);
  assert_int_equal(e2e_count(&lite.errors, "se;cret"), 0);
  assert_int_equal(e2e_count(&lite.errors, "statement: SELECT DB_NAME()"), 1);
  e2e_free(&lite);
  unlink(path);
}

/* A statement without an end does not keep it from ending. */
static void stops_in_a_statement(void **state) {
  static const char endless[] =
      "DECLARE @i int = 0 CREATE TABLE n (a int) WHILE @i < 100 BEGIN INSERT INTO n VALUES (@i) "
      "SET "
      "@i += 1 END PRINT 'ready'\nGO\nSELECT COUNT_BIG(*) FROM n a CROSS JOIN n b CROSS JOIN n c "
      "CROSS JOIN n d CROSS JOIN n e\nGO\n";
  static const char *const secret[] = {"SQLCMDPASSWORD=se;cret", NULL};
  char server[64];
  e2e_process lite, sql;
  (void)state;
  start(&lite, LITE(":memory:", "--user", "u", "--verbose"), password);
  snprintf(server, sizeof server, "tcp:127.0.0.1,%lu",
           strtoul(strrchr(lite.output.text, ':') + 1, NULL, 10));
  e2e_start(&sql, ((const char *[]){ALOFT_COMMAND, "sql", "-S", server, "-U", "u", "-No", NULL}),
            secret, E2E_PIPED);
  e2e_write(&sql, endless, strlen(endless));
  e2e_wait_for(&lite, &lite.errors, "statement: SELECT COUNT_BIG", 1);
  kill(lite.pid, SIGTERM);
  assert_int_equal(e2e_finish(&lite), 0);
  e2e_finish(&sql);
  e2e_free(&sql);
  e2e_free(&lite);
}

static int make_folder(void **state) {
  (void)state;
  snprintf(folder, sizeof folder, "/tmp/aloft-e2e-XXXXXX");
  return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state) {
  (void)state;
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(help),
      cmocka_unit_test(wrong_lines),
      cmocka_unit_test(wrong_addresses),
      cmocka_unit_test(wrong_files),
      cmocka_unit_test(port_in_use),
      cmocka_unit_test(stops_on_signals),
      cmocka_unit_test(password_file),
      cmocka_unit_test(stops_in_a_statement),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
