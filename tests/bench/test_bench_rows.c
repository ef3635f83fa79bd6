/* aloft bench rows, as it is called: its lines, its tables, and rows that are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "e2e_process.h"

#define BENCH(...)  ((const char *[]){ALOFT_COMMAND, "bench", "rows", __VA_ARGS__, NULL})
#define CLIENT(...) ((const char *[]){ALOFT_BINARY_DIR "/aloft-bench-rows", __VA_ARGS__, NULL})

/* Without valgrind, which would take long here, and without node. */
static const char *const no_programs[] = {"PATH=/nonexistent", "ALOFT_NPM=/nonexistent", NULL};

static void wrong_lines_are_explained(void **state) {
  static const struct {
    const char *argv[4], *says;
  } cases[] = {
      {{"--rows", "0"}, "--rows wants a whole number from 1 to 100000000"},
      {{"--rows", "10001"}, "--rows wants at most 10,000, or a multiple of it"},
      {{"--rows", "10", "--check"}, "--rows is for the tables"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *argv[8] = {ALOFT_COMMAND, "bench", "rows"};
    e2e_process process;
    memcpy(argv + 3, cases[i].argv, sizeof cases[i].argv);
    e2e_run(&process, argv, NULL, 2);
    if (e2e_count(&process.errors, cases[i].says) != 1)
      fail_msg("not '%s' but '%s'", cases[i].says, process.errors.text);
    e2e_free(&process);
  }
}

static void all_widths_are_told(void **state) {
  bool dblib = access(ALOFT_BINARY_DIR "/aloft-bench-rows-dblib", X_OK) == 0;
  e2e_process process;
  (void)state;
  e2e_run(&process,
          BENCH("--rows", "20000", "--rounds", "1", "--iteration", "1ms", "--format", "json"),
          no_programs, 0);
  assert_int_equal(e2e_count(&process.output, "\"client\":\"aloft\""), 3);
  assert_int_equal(e2e_count(&process.output, "\"client\":\"db-lib\""), dblib ? 3 : 0);
  assert_int_equal(e2e_count(&process.output, "\"client\":\"tedious\""), 0);
  assert_int_equal(e2e_count(&process.output, "\"method\":\"aloft\""), 3);
  assert_int_equal(e2e_count(&process.output, "\"method\":\"bare loop\""), 3);
  e2e_free(&process);
}

static void who_is_left_out_is_told(void **state) {
  e2e_process process;
  (void)state;
  e2e_run(&process, BENCH("--rows", "3", "--rounds", "1", "--iteration", "1ms"), no_programs, 0);
  assert_int_equal(e2e_count(&process.output, "tedious is left out: ALOFT_NPM names no folder"), 1);
  assert_int_equal(e2e_count(&process.output, "Not counted: "), 1);
  e2e_free(&process);
}

/* Other clients check the same. */
static void other_rows_fail_the_run(void **state) {
  const char *const dblib = ALOFT_BINARY_DIR "/aloft-bench-rows-dblib";
  e2e_process server, client;
  char port[8] = "", address[24];
  (void)state;
  e2e_start(&server, CLIENT("serve", "2", "10", "2"), NULL, E2E_PIPED);
  e2e_wait_for(&server, &server.output, "\n", 1);
  assert_int_equal(sscanf(server.output.text, "listening on 127.0.0.1:%7s", port), 1);
  snprintf(address, sizeof address, "127.0.0.1:%s", port);
  /* 0 + 1 + ... + 9, and 17 bytes for each text but the one that is NULL: that of row 9 */
  e2e_run(&client, CLIENT("read", port, "2", "20", "396"), NULL, 0);
  e2e_free(&client);
  e2e_run(&client, CLIENT("read", port, "2", "20", "395"), NULL, 1);
  assert_int_equal(e2e_count(&client.errors, "20 rows, the sum 396\n"), 1);
  e2e_free(&client);
  e2e_run(&client, CLIENT("read", port, "2", "19", "396"), NULL, 1);
  e2e_free(&client);
  if (access(dblib, X_OK) == 0) {
    e2e_run(&client, (const char *[]){dblib, address, "2", "20", "396", NULL}, NULL, 0);
    e2e_free(&client);
    e2e_run(&client, (const char *[]){dblib, address, "2", "20", "397", NULL}, NULL, 1);
    e2e_free(&client);
  }
  e2e_free(&server);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_lines_are_explained),
      cmocka_unit_test(all_widths_are_told),
      cmocka_unit_test(who_is_left_out_is_told),
      cmocka_unit_test(other_rows_fail_the_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
