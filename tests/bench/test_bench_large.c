/* aloft bench large, as it is called: its lines, its tables, and its picture. */
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

#define BENCH(...)  ((const char *[]){ALOFT_COMMAND, "bench", "large", __VA_ARGS__, NULL})
#define CLIENT(...) ((const char *[]){ALOFT_BINARY_DIR "/aloft-bench-large", __VA_ARGS__, NULL})
#define QUICK       "--mib", "1", "--rounds", "1", "--iteration", "1ms"

/* Without valgrind, which would take long here. */
static const char *const no_programs[] = {"PATH=/nonexistent", NULL};

static void wrong_lines_are_explained(void **state) {
  static const struct {
    const char *argv[4], *says;
  } cases[] = {
      {{"--mib", "65"}, "--mib wants a whole number from 1 to 64"},
      {{"--mib", "1", "--check"}, "--mib and --svg are for the tables"},
      {{"--svg", "x.svg", "--counted"}, "--mib and --svg are for the tables"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *argv[8] = {ALOFT_COMMAND, "bench", "large"};
    e2e_process process;
    memcpy(argv + 3, cases[i].argv, sizeof cases[i].argv);
    e2e_run(&process, argv, NULL, 2);
    if (e2e_count(&process.errors, cases[i].says) != 1)
      fail_msg("not '%s' but '%s'", cases[i].says, process.errors.text);
    e2e_free(&process);
  }
}

/* Nine readings of each kind at each packet size, three of them for the baseline's kind. */
static void all_are_told_and_drawn(void **state) {
  char path[] = "/tmp/aloft_svg.XXXXXX", drawn[8192] = "";
  bool dblib = access(ALOFT_BINARY_DIR "/aloft-bench-large-dblib", X_OK) == 0;
  e2e_process process;
  (void)state;
  int file = mkstemp(path);
  assert_true(file >= 0);
  e2e_run(&process, BENCH(QUICK, "--format", "json", "--svg", path), no_programs, 0);
  assert_int_equal(e2e_count(&process.output, "\"arrives\":\"there\""), 2 * 3 * 3);
  assert_int_equal(e2e_count(&process.output, "\"method\":\"pieces\""), 2 * 3 * 3);
  assert_int_equal(e2e_count(&process.output, "\"method\":\"baseline\""), 3);
  assert_int_equal(e2e_count(&process.output, "\"client\":\"aloft, whole\""), 2);
  assert_int_equal(e2e_count(&process.output, "\"client\":\"db-lib\""), dblib ? 2 : 0);
  assert_true(read(file, drawn, sizeof drawn - 1) > 0);
  assert_int_equal(strncmp(drawn, "<svg ", 5), 0);
  assert_non_null(strstr(drawn, "packet by packet"));
  assert_non_null(strstr(drawn, "published, async binary"));
  close(file);
  unlink(path);
  e2e_free(&process);
}

/* A client says so, and fails. */
static void another_size_fails_the_run(void **state) {
  static const char *const kinds[] = {"text", "binary"}, *const ways[] = {"whole", "pieces"};
  (void)state;
  for (size_t i = 0; i < 4; i++) {
    e2e_process server, client;
    char port[8] = "";
    e2e_start(&server, CLIENT("serve", kinds[i % 2], "2", "512"), NULL, E2E_PIPED);
    e2e_wait_for(&server, &server.output, "\n", 1);
    assert_int_equal(sscanf(server.output.text, "listening on 127.0.0.1:%7s", port), 1);
    e2e_run(&client, CLIENT("read", port, ways[i / 2], kinds[i % 2], "2", "2"), NULL, 0);
    assert_int_equal(e2e_count(&client.output, "{\"n\":2,"), 1);
    e2e_free(&client);
    e2e_run(&client, CLIENT("read", port, ways[i / 2], kinds[i % 2], "1", "1"), NULL, 1);
    assert_int_equal(e2e_count(&client.errors, "the value has not the size that was sent"), 1);
    e2e_free(&client);
    e2e_free(&server);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_lines_are_explained),
      cmocka_unit_test(all_are_told_and_drawn),
      cmocka_unit_test(another_size_fails_the_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
