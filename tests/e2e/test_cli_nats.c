/* request, reply, pub and sub against a real nats-server (the one ALOFT_TEST_NATS names, or one of
 * the test's own). */
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

#include "e2e_nats_server.h"

#define ALOFT(...) ((const char *[]){ALOFT_COMMAND, __VA_ARGS__, NULL})

static e2e_nats_server server;
static char server_url[160]; /* NATS_URL=... */
static const char *const server_environment[] = {server_url, NULL};

/* Subjects of one run, so that a shared server does not mix them up. */
static const char *subject(const char *name) {
  static char subjects[8][80];
  static unsigned next;
  char *text = subjects[next++ % 8];
  snprintf(text, sizeof subjects[0], "aloft.test.%d.%s", (int)getpid(), name);
  return text;
}

static int start_server(void **state) {
  const char *given = getenv("ALOFT_TEST_NATS");
  (void)state;
  if (given == NULL)
    e2e_nats_server_start(&server, NULL);
  snprintf(server_url, sizeof server_url, "NATS_URL=%s", given != NULL ? given : server.url);
  return 0;
}

static int stop_server(void **state) {
  (void)state;
  if (server.url[0] != '\0')
    e2e_nats_server_stop(&server);
  return 0;
}

static void start(e2e_process *process, const char *const *argv, const char *ready) {
  e2e_start(process, argv, server_environment, E2E_PIPED);
  if (ready != NULL)
    e2e_wait_for(process, &process->errors, ready, 1);
}

static void expect_end(e2e_process *process, int status) {
  int ended = e2e_finish(process);
  if (ended != status) {
    print_error("output: %s\nerrors: %s\n", process->output.text, process->errors.text);
    fail_msg("exit status %d instead of %d", ended, status);
  }
}

static void expect_text(const e2e_stream *stream, const char *text, size_t times) {
  if (e2e_count(stream, text) != times)
    fail_msg("'%s' stands %zu times, not %zu, in: %s", text, e2e_count(stream, text), times,
             stream->text);
}

/* ---- request and reply ---- */

static void a_request_is_answered(void **state) {
  e2e_process reply, request;
  const char *service = subject("answer");
  (void)state;
  start(&reply, ALOFT("reply", service, "the answer", "-H", "Kind: test", "--count", "2"),
        "Listening on");
  e2e_run(&request, ALOFT("request", service, "a question", "-H", "Ask:me"), server_environment, 0);
  assert_string_equal(request.output.text, "the answer\n");
  expect_text(&request.errors, "Received with rtt ", 1);
  expect_text(&request.errors, "Kind: test\n", 1);
  e2e_free(&request);
  e2e_run(&request, ALOFT("request", service, "--raw"), server_environment, 0);
  assert_string_equal(request.output.text, "the answer\n");
  assert_int_equal(request.errors.size, 0);
  e2e_free(&request);
  expect_end(&reply, 0);
  expect_text(&reply.output, "a question\n", 1);
  expect_text(&reply.output, "Ask: me\n", 1);
  e2e_free(&reply);
}

static void an_echo_returns_body_and_headers(void **state) {
  e2e_process reply, request;
  const char *service = subject("echo");
  char body[3000];
  (void)state;
  for (size_t i = 0; i < sizeof body; i++)
    body[i] = (char)(i % 251 == 0 ? 'x' : i % 251);
  start(&reply, ALOFT("reply", service), "Listening on");
  start(&request, ALOFT("request", service, "--force-stdin", "-H", "A:b", "-s", server_url + 9),
        NULL);
  e2e_write(&request, body, sizeof body);
  expect_end(&request, 0);
  assert_int_equal(request.output.size, sizeof body + 1);
  assert_memory_equal(request.output.text, body, sizeof body);
  expect_text(&request.errors, "A: b\n", 1);
  e2e_free(&request);
  kill(reply.pid, SIGINT);
  expect_end(&reply, 0);
  e2e_free(&reply);
}

static void a_service_that_fails(void **state) {
  e2e_process reply, request;
  const char *service = subject("fails");
  (void)state;
  start(&reply,
        ALOFT("reply", service, "{}", "-HNats-Service-Error-Code:400", "-HNats-Service-Error:no id",
              "--count=2"),
        "Listening on");
  e2e_run(&request, ALOFT("request", service, "--raw"), server_environment, 1);
  assert_string_equal(request.output.text, "{}\n");
  expect_text(&request.errors, "\n", 1);
  expect_text(&request.errors, "the service answered with error 400: no id", 1);
  e2e_free(&request);
  e2e_run(&request, ALOFT("request", service, "--replies", "1", "-r"), server_environment, 1);
  e2e_free(&request);
  expect_end(&reply, 0);
  e2e_free(&reply);
}

static void nobody_answers(void **state) {
  e2e_process request;
  (void)state;
  e2e_run(&request, ALOFT("request", subject("nobody"), "--raw"), server_environment, 5);
  expect_text(&request.errors, "\n", 1);
  expect_text(&request.errors, "start a responder", 1);
  assert_int_equal(request.output.size, 0);
  e2e_free(&request);
  e2e_run(&request, ALOFT("request", subject("nobody"), "--replies", "2"), server_environment, 5);
  e2e_free(&request);
}

static void the_time_is_over(void **state) {
  e2e_process silent, request;
  const char *service = subject("silent");
  (void)state;
  start(&silent, ALOFT("sub", service, "--count", "2"), "Subscribing on");
  e2e_run(&request, ALOFT("request", service, "--timeout", "50ms"), server_environment, 4);
  e2e_free(&request);
  e2e_run(&request, ALOFT("request", service, "--replies", "3", "--timeout", "50ms"),
          server_environment, 4);
  expect_text(&request.errors, "0 of 3 replies", 1);
  e2e_free(&request);
  expect_end(&silent, 0);
  e2e_free(&silent);
}

static void several_replies(void **state) {
  e2e_process one, two, request;
  const char *service = subject("several");
  (void)state;
  start(&one, ALOFT("reply", service, "first", "--queue", "a"), "Listening on");
  start(&two, ALOFT("reply", service, "second", "-q", "b"), "Listening on");
  e2e_run(&request,
          ALOFT("request", service, "--replies", "2", "--reply-timeout", "20s", "--timeout", "20s"),
          server_environment, 0);
  expect_text(&request.output, "first\n", 1);
  expect_text(&request.output, "second\n", 1);
  e2e_free(&request);
  e2e_run(&request, ALOFT("request", service, "--replies", "0", "--timeout", "200ms", "--raw"),
          server_environment, 0);
  expect_text(&request.output, "\n", 2);
  e2e_free(&request);
  kill(one.pid, SIGTERM);
  kill(two.pid, SIGINT);
  expect_end(&one, 0);
  expect_end(&two, 0);
  e2e_free(&one);
  e2e_free(&two);
}

static void a_stopped_responder_answers_what_it_holds(void **state) {
  e2e_process reply, request;
  const char *service = subject("held");
  (void)state;
  start(&reply, ALOFT("reply", service, "late", "--sleep", "100h"), "Listening on");
  start(&request, ALOFT("request", service, "--timeout", "60s"), NULL);
  e2e_wait_for(&reply, &reply.output, "[#1] Received", 1);
  kill(reply.pid, SIGINT);
  expect_end(&reply, 0);
  expect_end(&request, 0);
  expect_text(&request.output, "late\n", 1);
  e2e_free(&reply);
  e2e_free(&request);
}

/* ---- pub and sub ---- */

static void messages_are_printed(void **state) {
  e2e_process sub, pub;
  const char *all = subject("print.>"), *one = subject("print.one");
  char line[160];
  (void)state;
  start(&sub, ALOFT("sub", all, "--count", "3"), "Subscribing on");
  e2e_run(&pub, ALOFT("pub", one, "body", "-H", "A:1", "-H", "B:2", "--reply", "back"),
          server_environment, 0);
  expect_text(&pub.errors, "Published 4 bytes", 1);
  e2e_free(&pub);
  start(&pub, ALOFT("pub", one, "--count", "2", "--sleep", "1ms", "-q"), NULL);
  e2e_write(&pub, "from stdin", 10);
  expect_end(&pub, 0);
  assert_int_equal(pub.errors.size, 0);
  e2e_free(&pub);
  expect_end(&sub, 0);
  snprintf(line, sizeof line, "[#1] Received on \"%s\" with reply \"back\"\nA: 1\nB: 2\n\nbody\n\n",
           one);
  expect_text(&sub.output, line, 1);
  expect_text(&sub.output, "from stdin\n\n", 2);
  expect_text(&sub.output, "[#3] Received", 1);
  e2e_free(&sub);
}

static void raw_and_headers_only(void **state) {
  e2e_process raw, headers, pub;
  const char *here = subject("raw");
  (void)state;
  /* --raw says nothing when it is ready; the message is sent until it comes. */
  start(&raw, ALOFT("sub", here, "--raw", "--count", "1"), NULL);
  start(&headers, ALOFT("sub", here, "--headers-only", "--count", "1"), "Subscribing on");
  start(&pub, ALOFT("pub", here, "body", "-HA:1", "--count", "1000000", "--sleep", "5ms"), NULL);
  expect_end(&raw, 0);
  expect_end(&headers, 0);
  kill(pub.pid, SIGINT);
  expect_end(&pub, 130);
  assert_string_equal(raw.output.text, "body\n");
  expect_text(&headers.output, "A: 1\n", 1);
  expect_text(&headers.output, "body", 0);
  e2e_free(&raw);
  e2e_free(&headers);
  e2e_free(&pub);
}

static void a_queue_group_shares(void **state) {
  e2e_process one, two, pub;
  const char *here = subject("queue");
  (void)state;
  start(&one, ALOFT("sub", here, "--queue", "g"), "Subscribing on");
  start(&two, ALOFT("sub", here, "--queue", "g"), "Subscribing on");
  e2e_run(&pub, ALOFT("pub", here, "shared", "--count", "50"), server_environment, 0);
  e2e_free(&pub);
  kill(one.pid, SIGINT);
  expect_end(&one, 0);
  /* A group of one member gets all. */
  e2e_run(&pub, ALOFT("pub", here, "rest", "--count", "3"), server_environment, 0);
  e2e_free(&pub);
  e2e_wait_for(&two, &two.output, "rest", 3);
  kill(two.pid, SIGINT);
  expect_end(&two, 0);
  size_t first = e2e_count(&one.output, "shared"), second = e2e_count(&two.output, "shared");
  assert_int_equal(first + second, 50);
  assert_true(first > 0 && second > 0);
  e2e_free(&one);
  e2e_free(&two);
}

static void waiting_has_an_end(void **state) {
  e2e_process sub;
  (void)state;
  e2e_run(&sub, ALOFT("sub", subject("idle"), "--wait", "20ms"), server_environment, 0);
  e2e_free(&sub);
  e2e_run(&sub, ALOFT("sub", subject("idle"), "--wait", "20ms", "--count", "1"), server_environment,
          4);
  e2e_free(&sub);
}

static void a_body_over_max_payload(void **state) {
  e2e_process pub;
  size_t size = (size_t)9 << 20;
  char *body = calloc(1, size);
  (void)state;
  assert_non_null(body);
  start(&pub, ALOFT("pub", subject("big")), NULL);
  e2e_write(&pub, body, size);
  expect_end(&pub, 6);
  expect_text(&pub.errors, "9437184 bytes", 1);
  expect_text(&pub.errors, "\n", 1);
  e2e_free(&pub);
  start(&pub, ALOFT("request", subject("big"), "--force-stdin", "--raw"), NULL);
  e2e_write(&pub, body, size);
  expect_end(&pub, 6);
  e2e_free(&pub);
  size = (size_t)65 << 20;
  free(body);
  body = calloc(1, size);
  assert_non_null(body);
  start(&pub, ALOFT("pub", subject("big")), NULL);
  e2e_write(&pub, body, size);
  expect_end(&pub, 6);
  expect_text(&pub.errors, "more than 64 MiB", 1);
  e2e_free(&pub);
  free(body);
}

/* ---- ends ---- */

static void signals_stop_it(void **state) {
  e2e_process sub, request;
  const char *here = subject("signals");
  (void)state;
  start(&sub, ALOFT("sub", here, "--count", "9"), "Subscribing on");
  start(&request, ALOFT("request", here, "--timeout", "60s"), NULL);
  e2e_wait_for(&sub, &sub.output, "[#1] Received", 1);
  kill(request.pid, SIGTERM);
  expect_end(&request, 143);
  kill(sub.pid, SIGINT);
  expect_end(&sub, 130);
  e2e_free(&sub);
  e2e_free(&request);
  start(&sub, ALOFT("pub", here, "--force-stdin"), NULL); /* waits for its body */
  kill(sub.pid, SIGKILL);
  assert_int_equal(e2e_finish(&sub), 1000 + SIGKILL);
  e2e_free(&sub);
}

static void a_reader_that_goes_away(void **state) {
  e2e_process sub, pub;
  const char *here = subject("pipe");
  (void)state;
  start(&sub, ALOFT("sub", here), "Subscribing on");
  e2e_close_output(&sub);
  e2e_run(&pub, ALOFT("pub", here, "x"), server_environment, 0);
  expect_end(&sub, 0);
  expect_text(&sub.errors, "\n", 1); /* only that it has subscribed */
  e2e_free(&sub);
  e2e_free(&pub);
}

static void an_output_that_is_not_open(void **state) {
  e2e_process sub, pub;
  const char *here = subject("closed");
  (void)state;
  e2e_start(&sub, ALOFT("sub", here), server_environment, E2E_OUTPUT_CLOSED);
  e2e_wait_for(&sub, &sub.errors, "Subscribing on", 1);
  e2e_run(&pub, ALOFT("pub", here, "x"), server_environment, 0);
  expect_end(&sub, 6);
  expect_text(&sub.errors, "standard output: ", 1);
  e2e_free(&sub);
  e2e_free(&pub);
}

static void the_server_dies(void **state) {
  e2e_nats_server own;
  e2e_process sub, reply, request;
  (void)state;
  e2e_nats_server_start(&own, NULL);
  start(&sub, ALOFT("sub", "a", "-s", own.url), "Subscribing on");
  start(&reply, ALOFT("reply", "b", "x", "--sleep", "100h", "-s", own.url), "Listening on");
  start(&request, ALOFT("request", "b", "--timeout", "60s", "-s", own.url), NULL);
  e2e_wait_for(&reply, &reply.output, "[#1] Received", 1);
  e2e_nats_server_kill(&own);
  expect_end(&sub, 3);
  expect_text(&sub.errors, "the subscription has ended", 1);
  expect_end(&request, 3);
  expect_text(&request.errors, "may have been executed", 1);
  expect_end(&reply, 3); /* it does not wait for the delay of what it cannot answer */
  e2e_free(&sub);
  e2e_free(&reply);
  e2e_free(&request);
  e2e_run(&request, ALOFT("request", "b", "--raw", "-s", own.url), server_environment, 3);
  expect_text(&request.errors, "\n", 1);
  expect_text(&request.errors, "cannot connect to nats://127.0.0.1:", 1);
  e2e_free(&request);
  e2e_nats_server_stop(&own);
}

/* ---- credentials ---- */

static const char users[] = "authorization { users = [\n"
                            "  { user: bob, password: \"se;cret\", permissions: {\n"
                            "      publish: \"ok.>\", subscribe: [\"ok.>\", \"_INBOX.>\"] } }\n"
                            "] }\n";

static void write_file(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void passwords_come_every_way(void **state) {
  e2e_nats_server own;
  e2e_process pub;
  char url[160], path[96];
  (void)state;
  e2e_nats_server_start(&own, users);
  const char *const in_environment[] = {"NATS_USER=bob", "NATS_PASSWORD=se;cret", NULL};
  const char *const wrong[] = {"NATS_PASSWORD=other-secret", NULL};
  e2e_run(&pub, ALOFT("pub", "ok.a", "x", "-s", own.url), in_environment, 0);
  e2e_free(&pub);
  e2e_run(&pub, ALOFT("pub", "ok.a", "x", "-s", own.url, "--user", "bob"), wrong, 3);
  expect_text(&pub.errors, "\n", 1);
  expect_text(&pub.errors, "other-secret", 0);
  e2e_free(&pub);
  e2e_run(&pub, ALOFT("pub", "ok.a", "x", "-s", own.url), NULL, 3);
  e2e_free(&pub);
  snprintf(path, sizeof path, "%s/password", own.folder);
  write_file(path, "se;cret\n");
  e2e_run(&pub, ALOFT("pub", "ok.a", "x", "-s", own.url, "--user=bob", "--password-file", path),
          wrong, 0);
  e2e_free(&pub);
  write_file(path, "");
  e2e_run(&pub, ALOFT("pub", "ok.a", "x", "-s", own.url, "--user=bob", "--password-file", path),
          wrong, 6);
  expect_text(&pub.errors, "is empty", 1);
  e2e_free(&pub);
  snprintf(url, sizeof url, "nats://bob:se%%3Bcret@%s", own.url + 7);
  e2e_run(&pub, ALOFT("pub", "ok.a", "x", "-s", url), NULL, 0);
  e2e_free(&pub);
  e2e_nats_server_stop(&own);
}

/* The command line and environment of a running process, as others can see them. */
static size_t read_process(pid_t pid, const char *name, char *text, size_t room) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  size_t size = fread(text, 1, room - 1, file);
  fclose(file);
  for (size_t i = 0; i < size; i++)
    text[i] = (char)(text[i] == '\0' ? ' ' : text[i]);
  text[size] = '\0';
  return size;
}

static void secrets_are_not_to_be_seen(void **state) {
  e2e_nats_server own;
  e2e_process sub;
  char text[16384], url[160];
  (void)state;
  e2e_nats_server_start(&own, users);
  e2e_start(&sub, ALOFT("sub", "ok.a", "-s", own.url, "--user", "bob", "--password", "se;cret"),
            NULL, E2E_PIPED);
  e2e_wait_for(&sub, &sub.errors, "Subscribing on", 1);
  assert_true(read_process(sub.pid, "cmdline", text, sizeof text) > 0);
  assert_non_null(strstr(text, "--password"));
  assert_null(strstr(text, "cret"));
  e2e_free(&sub);
  const char *const environment[] = {"NATS_USER=bob", "NATS_PASSWORD=se;cret", NULL};
  e2e_start(&sub, ALOFT("sub", "ok.a", "-s", own.url), environment, E2E_PIPED);
  e2e_wait_for(&sub, &sub.errors, "Subscribing on", 1);
  assert_true(read_process(sub.pid, "environ", text, sizeof text) > 0);
  assert_null(strstr(text, "cret"));
  e2e_free(&sub);
  snprintf(url, sizeof url, "nats://bob:se%%3Bcret@%s", own.url + 7);
  e2e_start(&sub, ALOFT("sub", "ok.a", "-s", url), NULL, E2E_PIPED);
  e2e_wait_for(&sub, &sub.errors, "Subscribing on", 1);
  read_process(sub.pid, "cmdline", text, sizeof text);
  assert_null(strstr(text, "cret"));
  e2e_free(&sub);
  e2e_nats_server_stop(&own);
}

static void a_password_is_asked_for(void **state) {
  e2e_nats_server own;
  e2e_process pub;
  (void)state;
  e2e_nats_server_start(&own, users);
  e2e_start_at_terminal(&pub, ALOFT("pub", "ok.a", "x", "-s", own.url, "--user", "bob"), NULL);
  e2e_wait_for(&pub, &pub.output, "Password: ", 1);
  e2e_write(&pub, "se;cret\n", 8);
  expect_end(&pub, 0);
  expect_text(&pub.output, "Published 1 bytes", 1);
  expect_text(&pub.output, "cret", 0);
  e2e_free(&pub);
  e2e_start_at_terminal(&pub, ALOFT("pub", "ok.a", "x", "-s", own.url, "--user", "bob"), NULL);
  e2e_wait_for(&pub, &pub.output, "Password: ", 1);
  e2e_write(&pub, "\x03", 1);
  expect_end(&pub, 130);
  e2e_free(&pub);
  e2e_nats_server_stop(&own);
}

static void what_is_not_allowed(void **state) {
  static const char *const environment[] = {"NATS_USER=bob", "NATS_PASSWORD=se;cret", NULL};
  e2e_nats_server own;
  e2e_process process;
  (void)state;
  e2e_nats_server_start(&own, users);
  e2e_run(&process, ALOFT("pub", "no.a", "x", "-q", "-s", own.url), environment, 1);
  expect_text(&process.errors, "the server refused", 1);
  e2e_free(&process);
  e2e_run(&process, ALOFT("sub", "no.a", "-s", own.url), environment, 1);
  expect_text(&process.errors, "the server refused", 1);
  e2e_free(&process);
  e2e_nats_server_stop(&own);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_request_is_answered),
      cmocka_unit_test(an_echo_returns_body_and_headers),
      cmocka_unit_test(a_service_that_fails),
      cmocka_unit_test(nobody_answers),
      cmocka_unit_test(the_time_is_over),
      cmocka_unit_test(several_replies),
      cmocka_unit_test(a_stopped_responder_answers_what_it_holds),
      cmocka_unit_test(messages_are_printed),
      cmocka_unit_test(raw_and_headers_only),
      cmocka_unit_test(a_queue_group_shares),
      cmocka_unit_test(waiting_has_an_end),
      cmocka_unit_test(a_body_over_max_payload),
      cmocka_unit_test(signals_stop_it),
      cmocka_unit_test(a_reader_that_goes_away),
      cmocka_unit_test(an_output_that_is_not_open),
      cmocka_unit_test(the_server_dies),
      cmocka_unit_test(passwords_come_every_way),
      cmocka_unit_test(secrets_are_not_to_be_seen),
      cmocka_unit_test(a_password_is_asked_for),
      cmocka_unit_test(what_is_not_allowed),
  };
  return cmocka_run_group_tests(tests, start_server, stop_server);
}
