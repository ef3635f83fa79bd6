/* aloft bench fortunes, as it is called: its lines, its servers, and rows that are wrong. */
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

#define QUICK       "--tasks", "3", "--warm-up", "1ms", "--duration", "100ms", "--sample", "5ms"
#define BENCH(...)  ((const char *[]){ALOFT_COMMAND, "bench", "fortunes", __VA_ARGS__, NULL})
#define CLIENT(...) ((const char *[]){ALOFT_BINARY_DIR "/aloft-bench-tds", __VA_ARGS__, NULL})
#define VARIATIONS  "sync", "sync-caching", "async", "async-caching"
#define CONNECTION  "Server=127.0.0.1,%s;User ID=%s;Password=\"%s\";Encrypt=Optional"

enum { VARIATION_COUNT = 4, STRING_MAX = 256 };

static const char *const variations[VARIATION_COUNT] = {VARIATIONS};

/* Without valgrind, which would take long here. */
static const char *const no_programs[] = {"PATH=/nonexistent", NULL};

typedef struct usage_case {
  const char *argv[6];
  int status;
  const char *says;
} usage_case;

static void wrong_lines_are_explained(void **state) {
  static const usage_case cases[] = {
      {{"--variation", "asnyc"}, 2, "--variation wants sync, sync-caching, async or async-caching"},
      {{"--design", "old"}, 2, "--design wants current, baseline or both, not 'old'"},
      {{"--svg", "x.svg"}, 2, "give --design both"},
      {{"--design", "both", "--check"}, 2, "leave --check, --counted and --baseline out"},
      {{"--tasks", "0"}, 2, "--tasks wants a whole number from 1 to 1024"},
      {{"--duration", "100ms"}, 2, "--duration is shorter than one --sample"},
      {{"--duration", "60s"}, 2, "more than 256 samples"},
      {{"--sample", "1us"}, 2, "--sample wants at least 1ms"},
      {{"--canned", "--tls"}, 2, "the responder of --canned has no TLS"},
      {{"--server", "Server=x", "--canned"}, 2, "--server names one already"},
      {{"--server", "Server=x", "--check"}, 2, "have a responder of their own"},
      {{"--iteration", "1s"}, 2, "--iteration is for --design"},
      {{"--server", "Server=127.0.0.1,1;User ID=x;Password=y"}, 3, "aloft-bench-tds: cannot"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *argv[10] = {ALOFT_COMMAND, "bench", "fortunes"};
    e2e_process process;
    memcpy(argv + 3, cases[i].argv, sizeof cases[i].argv);
    e2e_run(&process, argv, NULL, cases[i].status);
    if (e2e_count(&process.errors, cases[i].says) != 1)
      fail_msg("not '%s' but '%s'", cases[i].says, process.errors.text);
    assert_int_equal(process.output.size, 0);
    e2e_free(&process);
  }
}

/* driver+variation+tasks | variation | tasks | TPS | stdev */
static void expect_line(const e2e_stream *output, const char *variation) {
  char begin[96];
  double per_second = 0, deviation = -1;
  snprintf(begin, sizeof begin, "aloft+%s+3 | %s | 3 | ", variation, variation);
  const char *line = strstr(output->text, begin);
  if (!line)
    fail_msg("no '%s' in: %s", begin, output->text);
  assert_int_equal(sscanf(line + strlen(begin), "%lf | %lf\n", &per_second, &deviation), 2);
  assert_true(per_second >= 0 && deviation >= 0);
}

static void every_variation_has_its_line(void **state) {
  e2e_process process;
  (void)state;
  e2e_run(&process, BENCH(QUICK), NULL, 0);
  for (size_t i = 0; i < VARIATION_COUNT; i++)
    expect_line(&process.output, variations[i]);
  assert_int_equal(e2e_count(&process.output, "against aloft lite"), 1);
  e2e_free(&process);
}

/* A query is one record; the library takes nothing of the heap for it, OpenSSL a little. */
static void what_tls_costs_is_told(void **state) {
  bool counted = access(ALOFT_BINARY_DIR "/aloft-bench-heap", X_OK) == 0;
  e2e_process process;
  (void)state;
  e2e_run(&process, BENCH(QUICK, "--tls", "--format", "json"), NULL, 0);
  assert_int_equal(e2e_count(&process.output, "\"own_heap\":0"), 2); /* of what is asynchronous */
  assert_int_equal(e2e_count(&process.output, "\"records\":1,"), 2);
  assert_int_equal(e2e_count(&process.output, "\"copied\":null"), 2);
  assert_int_equal(e2e_count(&process.output, "\"heap\":4"), counted ? 2 : 0);
  e2e_free(&process);
}

static void one_variation_alone_with_everything_encrypted(void **state) {
  e2e_process process;
  (void)state;
  e2e_run(&process, BENCH(QUICK, "--tls", "--variation", "async"), NULL, 0);
  expect_line(&process.output, "async");
  assert_int_equal(e2e_count(&process.output, "aloft+"), 2); /* the line, and the table's row */
  assert_int_equal(e2e_count(&process.output, "everything encrypted"), 1);
  e2e_free(&process);
}

/* ---- against the responder ---- */

static void read_row(aloft_json *json, size_t row) {
  static const char *const members[] = {"name",  "variation", "tasks",  "tps",
                                        "stdev", "cpu/query", "threads"};
  for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
    assert_int_equal(aloft_json_next(json), ALOFT_JSON_NAME);
    if (!aloft_json_is(json, (aloft_text){members[i], strlen(members[i])}) &&
        strcmp(members[i], "stdev") != 0)
      fail_msg("not '%s' but '%.*s'", members[i], ALOFT_PRINT(json->raw));
    aloft_json_kind kind = aloft_json_next(json);
    assert_int_equal(kind, i < 2 ? ALOFT_JSON_STRING : ALOFT_JSON_NUMBER);
    if (i == 1)
      assert_true(aloft_json_is(json, (aloft_text){variations[row], strlen(variations[row])}));
  }
  assert_int_equal(aloft_json_next(json), ALOFT_JSON_CLOSE);
}

/* A client that took turns: the same for each. */
static void read_turns(aloft_json *json) {
  assert_int_equal(aloft_json_next(json), ALOFT_JSON_NAME);
  assert_true(aloft_json_is(json, ALOFT_TEXT("method")));
  while (aloft_json_next(json) != ALOFT_JSON_CLOSE)
    assert_int_not_equal(json->kind, ALOFT_JSON_ERROR);
}

static void json_is_an_array_of_variations(void **state) {
  e2e_process process;
  aloft_json json;
  size_t rows = 0;
  (void)state;
  e2e_run(&process, BENCH(QUICK, "--canned", "--rounds", "1", "--format", "json"), NULL, 0);
  aloft_json_init(&json, (aloft_text){process.output.text, process.output.size});
  assert_int_equal(aloft_json_next(&json), ALOFT_JSON_ARRAY);
  for (; aloft_json_next(&json) == ALOFT_JSON_OBJECT; rows++) {
    if (rows < VARIATION_COUNT)
      read_row(&json, rows);
    else
      read_turns(&json);
  }
  assert_int_equal(json.kind, ALOFT_JSON_CLOSE);
  assert_true(rows >= VARIATION_COUNT + 2);
  e2e_free(&process);
}

static void others_take_part(void **state) {
  e2e_process process;
  bool built = access(ALOFT_BINARY_DIR "/aloft-bench-dblib", X_OK) == 0;
  (void)state;
  e2e_run(&process, BENCH(QUICK, "--canned", "--rounds", "1", "--variation", "async"), NULL, 0);
  assert_int_equal(e2e_count(&process.output, "\naloft async  "), 1);
  assert_int_equal(e2e_count(&process.output, "\naloft async-caching  "), 1);
  assert_int_equal(e2e_count(&process.output, "\ndb-lib  "), built);
  assert_int_equal(e2e_count(&process.output, "db-lib is left out"), !built);
  e2e_free(&process);
}

/* A client says so, and the benchmark fails. */
static void a_wrong_row_fails_the_run(void **state) {
  e2e_process responder, process;
  char string[STRING_MAX], port[8] = "";
  (void)state;
  e2e_start(&responder, CLIENT("responder", "wrong"), NULL, E2E_PIPED);
  e2e_wait_for(&responder, &responder.output, "\n", 1);
  assert_int_equal(sscanf(responder.output.text, "listening on 127.0.0.1:%7s", port), 1);
  snprintf(string, sizeof string, CONNECTION, port, "x", "y");
  for (size_t i = 0; i < VARIATION_COUNT; i++) {
    e2e_run(&process, BENCH(QUICK, "--server", string, "--variation", variations[i]), NULL, 3);
    assert_true(e2e_count(&process.errors, "a row with another text") >= 1);
    assert_int_equal(e2e_count(&process.errors, "aloft-bench-tds ended with status 1"), 1);
    assert_int_equal(process.output.size, 0);
    e2e_free(&process);
  }
  e2e_free(&responder);
}

/* ---- somebody's server ---- */

/* What `create` finds: "created" or "there". */
static void expect_table(const char *string, const char *found) {
  char environment[STRING_MAX + 32];
  e2e_process process;
  snprintf(environment, sizeof environment, "ALOFT_BENCH_TDS=%s", string);
  e2e_run(&process, CLIENT("create"), (const char *[]){environment, NULL}, 0);
  assert_string_equal(process.output.text, found);
  e2e_free(&process);
}

static void run_on(const char *string) {
  e2e_process process;
  e2e_run(&process, BENCH(QUICK, "--server", string, "--variation", "sync"), NULL, 0);
  expect_line(&process.output, "sync");
  assert_int_equal(e2e_count(&process.output, "--server names"), 1);
  e2e_free(&process);
}

/* One that says nothing of its statements, for nobody reads here what it says. */
static void start_lite(e2e_process *lite, char string[STRING_MAX]) {
  char port[8] = "";
  e2e_start(lite, (const char *[]){ALOFT_COMMAND, "lite", "--user", "bench", ":memory:", NULL},
            (const char *[]){"ALOFT_LITE_PASSWORD=se;cret", NULL}, E2E_PIPED);
  e2e_wait_for(lite, &lite->output, "listening on ", 1);
  e2e_wait_for(lite, &lite->output, "\n", 2);
  const char *at = strstr(lite->output.text, "listening on ");
  assert_int_equal(sscanf(at, "listening on 127.0.0.1:%7[0-9]", port), 1);
  snprintf(string, STRING_MAX, CONNECTION, port, "bench", "se;cret");
}

static void the_table_goes_unless_it_was_there(void **state) {
  e2e_process lite;
  char string[STRING_MAX];
  (void)state;
  start_lite(&lite, string);
  run_on(string);
  expect_table(string, "created\n");
  run_on(string);
  expect_table(string, "there\n");
  e2e_free(&lite);
}

/* ---- designs ---- */

static void designs_are_drawn(void **state) {
  char path[] = "/tmp/aloft_svg.XXXXXX", begin[8] = "";
  bool counted = access(ALOFT_BINARY_DIR "/aloft-bench-heap", X_OK) == 0;
  e2e_process process;
  (void)state;
  int file = mkstemp(path);
  assert_true(file >= 0);
  e2e_run(&process, BENCH("--design", "both", "--rounds", "2", "--iteration", "1ms", "--svg", path),
          no_programs, 0);
  assert_true(e2e_count(&process.output, "1 value, 64 packets") >= 2);
  assert_true(e2e_count(&process.output, "\nbaseline  ") >= 3);
  assert_int_equal(e2e_count(&process.output, "package valgrind"), 1);
  assert_int_equal(e2e_count(&process.output, "1 value, 64 packets: heap calls"), counted);
  assert_int_equal(read(file, begin, 5), 5);
  assert_string_equal(begin, "<svg ");
  close(file);
  unlink(path);
  e2e_free(&process);
}

static void one_design_alone(void **state) {
  e2e_process process;
  (void)state;
  e2e_run(&process,
          BENCH("--design", "current", "--rounds", "1", "--iteration", "1ms", "--format", "json"),
          no_programs, 0);
  assert_int_equal(e2e_count(&process.output, "\"design\":\"current\""), 3);
  assert_int_equal(e2e_count(&process.output, "\"design\":\"baseline\""), 0);
  assert_int_equal(e2e_count(&process.output, "\"instr_rest\":null"), 3);
  if (access(ALOFT_BINARY_DIR "/aloft-bench-heap", X_OK) == 0)
    assert_int_equal(e2e_count(&process.output, "\"calls_rest\":0"), 3);
  e2e_free(&process);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_lines_are_explained),
      cmocka_unit_test(every_variation_has_its_line),
      cmocka_unit_test(one_variation_alone_with_everything_encrypted),
      cmocka_unit_test(what_tls_costs_is_told),
      cmocka_unit_test(json_is_an_array_of_variations),
      cmocka_unit_test(others_take_part),
      cmocka_unit_test(a_wrong_row_fails_the_run),
      cmocka_unit_test(the_table_goes_unless_it_was_there),
      cmocka_unit_test(designs_are_drawn),
      cmocka_unit_test(one_design_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
