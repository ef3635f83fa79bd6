/* aloft bench request against a real nats-server (the one ALOFT_TEST_NATS names, or one of its
 * own), and the counter of system calls that it uses. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "e2e_nats_server.h"

#define BENCH(...) ((const char *[]){ALOFT_COMMAND, "bench", "request", __VA_ARGS__, NULL})
#define COUNTER    ALOFT_BINARY_DIR "/aloft-bench-syscalls"

/* The leak checker of the sanitizers does not work in a traced program. */
static const char *const traced[] = {"ASAN_OPTIONS=detect_leaks=0", NULL};

static const char *const without_valgrind[] = {"ASAN_OPTIONS=detect_leaks=0", "PATH=/nonexistent",
                                               NULL};

/* ---- the counter: this program runs itself under it ---- */

enum { THREADS = 3, NOT_COUNTED = 125, NOISE = 40 };

static void *call(void *argument) {
  for (long i = *(const long *)argument; i > 0; i--)
    syscall(SYS_getppid);
  return NULL;
}

/* In the child: so many calls on each of some threads and in a process of its own. */
static int make_calls(const char *text) {
  long calls = strtol(text, NULL, 10);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, call, &calls);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  pid_t child = fork();
  if (child == 0) {
    call(&calls);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  return 7;
}

static long count_calls(const char *calls) {
  e2e_process process;
  long counted = -1, tasks = 0;
  char self[4096] = "";
  assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
  e2e_start(&process, (const char *[]){COUNTER, "/dev/stdout", self, "calls", calls, NULL}, traced,
            E2E_PIPED);
  int ended = e2e_finish(&process);
  if (ended == NOT_COUNTED) {
    print_message("skipped: %s", process.errors.text);
    e2e_free(&process);
    skip();
  }
  assert_int_equal(ended, 7);
  assert_int_equal(sscanf(process.output.text, "%ld\t%ld\n", &counted, &tasks), 2);
  assert_true(tasks >= THREADS + 2);
  e2e_free(&process);
  return counted;
}

/* The rest is the same in both, but for a thread that has to be waited for or not. */
static void calls_of_threads_and_processes_count(void **state) {
  (void)state;
  long few = count_calls("1000"), many = count_calls("3000");
  long expected = 2000 * (THREADS + 1);
  if (labs(many - few - expected) > NOISE)
    fail_msg("%ld and %ld calls: a difference of %ld, not %ld", few, many, many - few, expected);
}

static void the_counter_ends_as_its_program_does(void **state) {
  static const struct {
    const char *argv[6];
    int status;
  } cases[] = {{{COUNTER}, 2},
               {{COUNTER, "/dev/null", "/nonexistent/program"}, 127},
               {{COUNTER, "/nonexistent/report", "/bin/true"}, NOT_COUNTED},
               {{COUNTER, "/dev/null", "/bin/sh", "-c", "exit 9"}, 9},
               {{COUNTER, "/dev/null", "/bin/sh", "-c", "kill -9 $$"}, 128 + 9}};
  (void)state;
  (void)count_calls("1"); /* skips where nothing can be counted */
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    e2e_process process;
    e2e_run(&process, cases[i].argv, traced, cases[i].status);
    e2e_free(&process);
  }
}

/* ---- the benchmark ---- */

/* What others have started and left becomes this process's child; waits for the end of them all. */
static void expect_nothing_left(void) {
  alarm(60); /* or else something is left */
  while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
  }
  alarm(0);
  assert_int_equal(errno, ECHILD);
}

static void lines_that_are_wrong(void **state) {
  static const struct {
    const char *argv[8];
    int status;
    const char *says;
  } cases[] = {
      {{"--iteration", "1s"}, 2, "sized by --count"},
      {{"--count", "0"}, 2, "--count wants a whole number from 1"},
      {{"--size", "65537"}, 2, "--size wants a whole number from 1 to 65536"},
      {{"--serve", "x"}, 2, "did you mean --server?"},
      {{"one"}, 2, "too many arguments"},
      {{"--tls", "-s", "nats://127.0.0.1:1"}, 2, "--tls is for a server started here"},
      {{"--tls", "--check"}, 2, "leave --tls out"},
      {{"-s", "nats://127.0.0.1:1"}, 3, "the responder: it has ended: "},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    e2e_process process;
    const char *argv[12] = {ALOFT_COMMAND, "bench", "request"};
    memcpy(argv + 3, cases[i].argv, sizeof cases[i].argv);
    e2e_run(&process, argv, NULL, cases[i].status);
    if (e2e_count(&process.errors, cases[i].says) != 1)
      fail_msg("not '%s' but '%s'", cases[i].says, process.errors.text);
    assert_int_equal(process.output.size, 0);
    e2e_free(&process);
  }
  expect_nothing_left();
}

static const char *row_of(const e2e_stream *output, const char *method, int inflight) {
  char begin[96];
  snprintf(begin, sizeof begin, "{\"method\":\"%s\",\"in_flight\":%d,", method, inflight);
  const char *row = strstr(output->text, begin);
  if (row == NULL)
    fail_msg("no %s in: %s", begin, output->text);
  return row;
}

/* Without valgrind, which would take most of the time: that row says null.
 * A request that is not answered would end its client with an error, and the benchmark with it. */
static void every_way_has_its_row(void **state) {
  static const char *const keys[] = {
      "\"per_second\":",  "\"p50\":",     "\"p99\":",          "\"p99.9\":",    "\"cpu/1m\":",
      "\"syscalls/1k\":", "\"heap/1k\":", "\"instructions\":", "\"threads\":1}"};
  static const int inflight[] = {1, 64, 1024};
  const char *given = getenv("ALOFT_TEST_NATS");
  e2e_process process;
  (void)state;
  e2e_run(&process,
          given != NULL ? BENCH("--count", "3000", "--rounds", "1", "--format", "json", "-s", given)
                        : BENCH("--count", "3000", "--rounds", "1", "--format", "json"),
          without_valgrind, 0);
  for (size_t i = 0; i < 3; i++) {
    for (int by_hand = 0; by_hand < 2; by_hand++) {
      const char *row =
          row_of(&process.output, by_hand ? "aloft by hand" : "aloft request", inflight[i]);
      for (size_t key = 0; key < sizeof keys / sizeof keys[0]; key++) {
        const char *at = strstr(row, keys[key]);
        if (at == NULL || at > strchr(row, '}'))
          fail_msg("no %s in: %s", keys[key], row);
      }
    }
  }
  assert_int_equal(e2e_count(&process.output, "\"per_second\":0,"), 0);
  e2e_free(&process);
  expect_nothing_left();
}

/* The library's own heap calls are none over TLS too. */
static void and_over_tls(void **state) {
  static const char own[] = "\"own_heap/1k\":0,", records[] = "\"records\":";
  e2e_process process;
  (void)state;
  e2e_run(&process, BENCH("--count", "3000", "--rounds", "1", "--format", "json", "--tls"),
          without_valgrind, 0);
  const char *row = row_of(&process.output, "aloft request", 1), *end = strchr(row, '}');
  const char *at = strstr(row, own), *sent = strstr(row, records);
  assert_true(at != NULL && at < end && sent != NULL && sent < end);
  double in_a_turn = strtod(sent + sizeof records - 1, NULL);
  assert_true(in_a_turn > 0.5 && in_a_turn < 1.5);
  e2e_free(&process);
  expect_nothing_left();
}

/* Stopped in the middle: its responder and the client that it measures end with it. */
static void what_it_started_ends_with_it(void **state) {
  e2e_nats_server server = {.url = ""};
  const char *given = getenv("ALOFT_TEST_NATS");
  char environment[160];
  e2e_process bench, watcher;
  (void)state;
  if (given == NULL)
    e2e_nats_server_start(&server, NULL);
  const char *url = given != NULL ? given : server.url;
  snprintf(environment, sizeof environment, "NATS_URL=%s", url);
  e2e_start(&watcher,
            (const char *[]){ALOFT_COMMAND, "sub", "aloft.bench.*", "--count", "1", "--raw", NULL},
            (const char *[]){environment, NULL}, E2E_PIPED);
  e2e_start(&bench, BENCH("--count", "100000000", "-s", url), NULL, E2E_PIPED);
  e2e_wait_for(&watcher, &watcher.output, "xxxx\n", 1);
  kill(bench.pid, SIGTERM);
  assert_int_equal(e2e_finish(&bench), 1000 + SIGTERM);
  e2e_free(&bench);
  e2e_free(&watcher);
  if (given == NULL)
    e2e_nats_server_stop(&server);
  expect_nothing_left();
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "calls") == 0)
    return make_calls(argv[2]);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(calls_of_threads_and_processes_count),
      cmocka_unit_test(the_counter_ends_as_its_program_does),
      cmocka_unit_test(lines_that_are_wrong),
      cmocka_unit_test(every_way_has_its_row),
      cmocka_unit_test(and_over_tls),
      cmocka_unit_test(what_it_started_ends_with_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
