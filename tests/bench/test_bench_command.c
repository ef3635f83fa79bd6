/* aloft bench, as it is called. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <aloft/json.h>

#include "e2e_process.h"

enum { WIDTH_MAX = 100 };

/* Without valgrind, which would take long here. */
static const char *const no_programs[] = {"PATH=/nonexistent", NULL};

typedef struct usage_case {
  const char *argv[8]; /* after "bench" */
  int status;
  const char *says; /* in the one line on standard error */
} usage_case;

static void wrong_lines_are_explained(void **state) {
  static const usage_case cases[] = {
      {{"inflihgt"}, 2, "unknown benchmark 'inflihgt': did you mean inflight?"},
      {{"gateway"}, 2, "unknown benchmark 'gateway'"},
      {{"inflight", "--format", "xml"}, 2, "--format wants table, markdown or json, not 'xml'"},
      {{"inflight", "--formta", "json"}, 2, "did you mean --format?"},
      {{"inflight", "--check", "--format", "json"}, 2, "--format is for tables and --counted"},
      {{"inflight", "--check", "--counted"}, 2, "leave all but one of them out"},
      {{"inflight", "--rounds", "0"}, 2, "--rounds wants a whole number from 1 to 256"},
      {{"inflight", "--iteration", "5"}, 2, "--iteration wants a duration"},
      {{"inflight", "extra"}, 2, "too many arguments"},
      {{"count", "inflight", "none", "x"}, 2, "not a number of operations: 'x'"},
      {{"count", "inflight", "nothing", "1"}, 6, "inflight has no case 'nothing'"},
      {{"inflight", "--counted"}, 6, "install the Debian package valgrind"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *argv[11] = {ALOFT_COMMAND, "bench"};
    for (size_t j = 0; j < 8 && cases[i].argv[j]; j++)
      argv[j + 2] = cases[i].argv[j];
    e2e_process process;
    e2e_run(&process, argv, no_programs, cases[i].status);
    if (e2e_count(&process.errors, cases[i].says) != 1)
      fail_msg("not '%s' but '%s'", cases[i].says, process.errors.text);
    assert_int_equal(e2e_count(&process.errors, "\n"), 1);
    assert_int_equal(process.output.size, 0);
    e2e_free(&process);
  }
}

static void help_is_on_standard_output(void **state) {
  static const char *const argvs[][5] = {{ALOFT_COMMAND, "bench", "--help"},
                                         {ALOFT_COMMAND, "help", "bench"},
                                         {ALOFT_COMMAND, "bench", "inflight", "--help"}};
  (void)state;
  for (size_t i = 0; i < sizeof argvs / sizeof argvs[0]; i++) {
    e2e_process process;
    e2e_run(&process, argvs[i], NULL, 0);
    assert_int_equal(e2e_count(&process.output, "Usage: aloft bench "), 1);
    assert_int_equal(process.errors.size, 0);
    e2e_free(&process);
  }
}

/* A copy of the command, alone in a folder. */
static void it_says_how_to_get_the_program(void **state) {
  char folder[] = "/tmp/aloft_alone.XXXXXX", alone[64];
  (void)state;
  assert_non_null(mkdtemp(folder));
  snprintf(alone, sizeof alone, "%s/aloft", folder);
  const char *const copy[] = {"/bin/cp", ALOFT_COMMAND, alone, NULL};
  const char *const argv[] = {alone, "bench", "inflight", NULL};
  e2e_process process;
  e2e_run(&process, copy, NULL, 0);
  e2e_free(&process);
  e2e_run(&process, argv, NULL, 6);
  assert_int_equal(e2e_count(&process.errors, "\"make bench\" in Aloft's sources builds it"), 1);
  e2e_free(&process);
  unlink(alone);
  rmdir(folder);
}

/* ---- the tables ---- */

static void run_quickly(e2e_process *process, const char *format) {
  const char *const argv[] = {ALOFT_COMMAND, "bench", "inflight",    "--format", format,
                              "--rounds",    "2",     "--iteration", "1ms",      NULL};
  e2e_run(process, argv, no_programs, 0);
  assert_int_equal(process->errors.size, 0);
}

static void lines_are_not_too_long(const char *text) {
  for (const char *at = text; *at; at += strcspn(at, "\n") + 1) {
    size_t width = strcspn(at, "\n");
    if (width > WIDTH_MAX)
      fail_msg("%zu columns: %.*s", width, (int)width, at);
  }
}

static void tables_are_complete(void **state) {
  static const char *const wanted[] = {"Default token",   "Client token",    "wheel, 100 ms",
                                       "coalesced",       "1,000,000",       "i7-3612QM",
                                       "ALOFT_CANCELLED", "package valgrind"};
  e2e_process process;
  (void)state;
  run_quickly(&process, "table");
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    if (e2e_count(&process.output, wanted[i]) == 0)
      fail_msg("no '%s' in:\n%s", wanted[i], process.output.text);
  }
  lines_are_not_too_long(process.output.text);
  e2e_free(&process);
}

typedef struct member {
  const char *name;
  aloft_json_kind kind;
} member;

static const member members[] = {
    {"method", ALOFT_JSON_STRING},  {"categories", ALOFT_JSON_STRING},
    {"timeout", ALOFT_JSON_NUMBER}, {"mean", ALOFT_JSON_NUMBER},
    {"error", ALOFT_JSON_NUMBER},   {"stddev", ALOFT_JSON_NUMBER},
    {"median", ALOFT_JSON_NUMBER},  {"ratio", ALOFT_JSON_NUMBER},
    {"ratiosd", ALOFT_JSON_NUMBER}, {"allocated", ALOFT_JSON_NUMBER},
};

/* Where heap calls are not counted, "allocated" is null. */
static bool heap_is_counted(void) {
  return access(ALOFT_BINARY_DIR "/aloft-bench-heap", X_OK) == 0;
}

static bool kind_fits(const member *should, aloft_json_kind is) {
  if (is == should->kind)
    return true;
  return is == ALOFT_JSON_NULL && strcmp(should->name, "allocated") == 0;
}

static void read_object(aloft_json *json) {
  for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
    assert_int_equal(aloft_json_next(json), ALOFT_JSON_NAME);
    if (json->raw.size != strlen(members[i].name) ||
        memcmp(json->raw.data, members[i].name, json->raw.size) != 0)
      fail_msg("not '%s' but '%.*s'", members[i].name, ALOFT_PRINT(json->raw));
    assert_true(kind_fits(&members[i], aloft_json_next(json)));
  }
  assert_int_equal(aloft_json_next(json), ALOFT_JSON_CLOSE);
}

static void json_is_an_array_of_rows(void **state) {
  e2e_process process;
  (void)state;
  run_quickly(&process, "json");
  aloft_json json;
  aloft_json_init(&json, (aloft_text){process.output.text, process.output.size});
  assert_int_equal(aloft_json_next(&json), ALOFT_JSON_ARRAY);
  size_t rows = 0;
  for (; aloft_json_next(&json) == ALOFT_JSON_OBJECT; rows++)
    read_object(&json);
  assert_int_equal(json.kind, ALOFT_JSON_CLOSE);
  assert_int_equal(aloft_json_next(&json), ALOFT_JSON_END);
  assert_int_equal(rows, 8 + 5 + 4);
  if (heap_is_counted())
    assert_int_equal(e2e_count(&process.output, "\"allocated\":0"), 4 + 3 + 4);
  e2e_free(&process);
}

/* Instructions cannot be had: each of their bars says so, and the whole fails. */
static void a_bar_that_cannot_be_measured_is_an_error(void **state) {
  const char *const argv[] = {ALOFT_COMMAND, "bench", "inflight", "--check", NULL};
  e2e_process process;
  (void)state;
  e2e_run(&process, argv, no_programs, 1);
  assert_true(e2e_count(&process.output, "error: instructions are counted by valgrind") >= 4);
  assert_int_equal(e2e_count(&process.output, "bytes allocated"), 4);
  if (heap_is_counted())
    assert_int_equal(e2e_count(&process.output, "bytes allocated"),
                     e2e_count(&process.output, "0  at most           0  ok") / 2);
  e2e_free(&process);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_lines_are_explained),
      cmocka_unit_test(help_is_on_standard_output),
      cmocka_unit_test(it_says_how_to_get_the_program),
      cmocka_unit_test(tables_are_complete),
      cmocka_unit_test(json_is_an_array_of_rows),
      cmocka_unit_test(a_bar_that_cannot_be_measured_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
