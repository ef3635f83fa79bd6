/* TLS between Aloft and a real nats-server: the commands, certificates of both sides, and the
 * handshake before INFO through a TLS-terminating proxy, for Debian's server has none of it. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "e2e_nats_server.h"
#include "heap.h"
#include "middle.h"
#include "tls_files.h"

#define SECRET "Sesame77"

enum { ARGUMENTS_MAX = 24 };

static tls_files shown, own; /* of the server, and of clients */
static const char *const environment[] = {"NATS_PASSWORD=" SECRET, NULL};

static void start_showing(e2e_nats_server *server, const tls_files *files,
                          bool wants_certificates) {
  char text[600];
  snprintf(text, sizeof text,
           "authorization { user: joe, password: " SECRET " }\n"
           "tls { cert_file: \"%s\", key_file: \"%s\"%s%s%s }\n",
           files->certificate, files->key, wants_certificates ? ", verify: true, ca_file: \"" : "",
           wants_certificates ? own.certificate : "", wants_certificates ? "\"" : "");
  e2e_nats_server_start(server, text);
}

static void start_server(e2e_nats_server *server, bool wants_certificates) {
  start_showing(server, &shown, wants_certificates);
}

#define OPTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Publishes by `url`, with these options more; the exit status. */
static int publish(e2e_process *process, const char *url, const char *const *options) {
  const char *argv[ARGUMENTS_MAX] = {ALOFT_COMMAND, "pub", "a", "b", "-s", url, "--user", "joe"};
  size_t count = 8;
  while (*options && count + 1 < ARGUMENTS_MAX)
    argv[count++] = *options++;
  e2e_start(process, argv, environment, E2E_PIPED);
  return e2e_finish(process);
}

/* Once, and `says` stands once on standard error. */
static void ends(const char *url, const char *const *options, int wanted, const char *says) {
  e2e_process process;
  int status = publish(&process, url, options);
  if (status != wanted || e2e_count(&process.errors, says) != 1)
    fail_msg("status %d, not '%s' but: %s", status, says, process.errors.text);
  if (wanted != 0)
    assert_int_equal(e2e_count(&process.errors, "\n"), 1);
  assert_int_equal(e2e_count(&process.errors, SECRET), 0);
  assert_int_equal(e2e_count(&process.errors, "tls_"), 0); /* the command's own words */
  e2e_free(&process);
}

static void publishes(const char *url, const char *const *options) {
  ends(url, options, 0, "Published 1 bytes");
}

static const char *tls_url(const e2e_nats_server *server, const char *host) {
  static char url[128];
  snprintf(url, sizeof url, "tls://%s:%s", host, strrchr(server->url, ':') + 1);
  return url;
}

static void certificates(void **state) {
  (void)state;
  e2e_nats_server server;
  start_server(&server, false);
  publishes(server.url, OPTIONS("--tlsca", shown.certificate)); /* nats:// */
  publishes(tls_url(&server, "127.0.0.1"), OPTIONS("--tlsca", shown.certificate));
  publishes(tls_url(&server, "localhost"), OPTIONS("--tlsca", shown.certificate));
  ends(server.url, OPTIONS("--timeout", "9s"), 3, "in --tlsca");
  ends(tls_url(&server, "127.0.0.1"), OPTIONS("--tlsca", own.certificate), 3, "in --tlsca");
  ends(server.url, OPTIONS("--tlsfirst", "--tlsca", shown.certificate), 3,
       "--tlsfirst is for servers");
  ends(server.url, OPTIONS("--tlsca", "/nonexistent/ca.pem"), 2, "/nonexistent/ca.pem");
  ends(server.url, OPTIONS("--tlscert", own.certificate), 2, "give both");
  e2e_nats_server_stop(&server);
}

static void another_host(void **state) {
  (void)state;
  e2e_nats_server server;
  tls_files elsewhere;
  tls_files_make(&elsewhere, &(tls_wish){.name = "nats.example.org"});
  start_showing(&server, &elsewhere, false);
  ends(server.url, OPTIONS("--tlsca", elsewhere.certificate), 3,
       "is for nats.example.org, not for 127.0.0.1: connect by a name that it is for\n");
  e2e_nats_server_stop(&server);
  tls_files_drop(&elsewhere);
}

static void both_show_certificates(void **state) {
  (void)state;
  e2e_nats_server server;
  start_server(&server, true);
  ends(server.url, OPTIONS("--tlsca", shown.certificate), 3, "set --tlscert and --tlskey");
  ends(server.url,
       OPTIONS("--tlsca", shown.certificate, "--tlscert", shown.certificate, "--tlskey", shown.key),
       3, "this side's certificate");
  publishes(server.url, OPTIONS("--tlsca", shown.certificate, "--tlscert", own.certificate,
                                "--tlskey", own.key));
  e2e_nats_server_stop(&server);
}

static void verbose(void **state) {
  (void)state;
  e2e_nats_server server, plain;
  char fingerprint[96];
  assert_true(alo_tls_fingerprint((aloft_bytes){shown.text, shown.text_size}, fingerprint));
  start_server(&server, false);
  const char *const *options = OPTIONS("--tlsca", shown.certificate, "--verbose");
  ends(server.url, options, 0, fingerprint);
  ends(server.url, options, 0, "encrypted with TLSv1.3, ");
  ends(server.url, options, 0, "CN=a test, expires 20");
  e2e_nats_server_stop(&server);
  e2e_nats_server_start(&plain, NULL);
  ends(plain.url, OPTIONS("--verbose"), 0, "not encrypted\n");
  ends(tls_url(&plain, "127.0.0.1"), OPTIONS("--verbose"), 3, "no credential was sent");
  ends(plain.url, OPTIONS("--tlsca", shown.certificate), 3, "no credential was sent");
  e2e_nats_server_stop(&plain);
}

/* Each command that connects. */
static void request_and_reply(void **state) {
  (void)state;
  e2e_nats_server server;
  e2e_process reply, sub, request;
  start_server(&server, false);
  const char *with[] = {"NATS_PASSWORD=" SECRET, NULL, NULL};
  char authority[96];
  snprintf(authority, sizeof authority, "NATS_CA=%s", shown.certificate);
  with[1] = authority;
  const char *const listen[] = {ALOFT_COMMAND, "reply",    "q",      "answer", "--count",   "1",
                                "-s",          server.url, "--user", "joe",    "--verbose", NULL};
  const char *const hear[] = {ALOFT_COMMAND, "sub",      "q",      "--count", "1",
                              "-s",          server.url, "--user", "joe",     NULL};
  const char *const ask[] = {ALOFT_COMMAND, "request", "q",   "question", "-s",
                             server.url,    "--user",  "joe", NULL};
  e2e_start(&reply, listen, with, E2E_PIPED);
  e2e_wait_for(&reply, &reply.errors, "Listening on", 1);
  e2e_start(&sub, hear, with, E2E_PIPED);
  e2e_wait_for(&sub, &sub.errors, "Subscribing on", 1);
  e2e_run(&request, ask, with, 0);
  assert_string_equal(request.output.text, "answer\n");
  assert_int_equal(e2e_finish(&reply), 0);
  assert_int_equal(e2e_count(&reply.errors, "encrypted with TLSv1.3"), 1);
  assert_int_equal(e2e_finish(&sub), 0);
  assert_int_equal(e2e_count(&sub.output, "question"), 1);
  e2e_free(&request);
  e2e_free(&reply);
  e2e_free(&sub);
  e2e_nats_server_stop(&server);
}

/* ---- a proxy that ends TLS ---- */

static void run_proxy(uint16_t to_port, int tell) {
  aloft_loop *loop;
  middle proxy;
  if (aloft_loop_open(&loop, NULL) != ALOFT_OK)
    _exit(1);
  middle_open(&proxy, loop, to_port);
  proxy.tls = tls_files_server(&shown, &alo_heap_default, 0, NULL);
  if (write(tell, &proxy.port, sizeof proxy.port) != (ssize_t)sizeof proxy.port)
    _exit(1);
  while (aloft_loop_turn(loop, ALOFT_SECONDS(60)) == ALOFT_OK)
    continue;
  _exit(0);
}

static pid_t start_proxy(const e2e_nats_server *server, uint16_t *port) {
  int ends_of[2];
  assert_int_equal(pipe(ends_of), 0);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0)
    run_proxy((uint16_t)strtoul(strrchr(server->url, ':') + 1, NULL, 10), ends_of[1]);
  assert_int_equal(read(ends_of[0], port, sizeof *port), sizeof *port);
  close(ends_of[0]);
  close(ends_of[1]);
  return child;
}

static void handshake_first(void **state) {
  (void)state;
  e2e_nats_server server;
  uint16_t port;
  char url[64];
  e2e_nats_server_start(&server, "authorization { user: joe, password: " SECRET " }\n");
  pid_t proxy = start_proxy(&server, &port);
  snprintf(url, sizeof url, "tls://127.0.0.1:%u", (unsigned)port);
  publishes(url, OPTIONS("--tlsca", shown.certificate, "--tlsfirst"));
  ends(url, OPTIONS("--tlsca", shown.certificate, "--tlsfirst", "--verbose"), 0, "TLSv1.3");
  ends(url, OPTIONS("--tlsca", own.certificate, "--tlsfirst"), 3, "in --tlsca");
  ends(url, OPTIONS("--tlsca", shown.certificate, "--timeout", "300ms"), 3, "--tlsfirst");
  kill(proxy, SIGKILL);
  waitpid(proxy, NULL, 0);
  e2e_nats_server_stop(&server);
}

static int make_files(void **state) {
  (void)state;
  tls_files_make(&shown, NULL);
  tls_files_make(&own, NULL);
  return 0;
}

static int drop_files(void **state) {
  (void)state;
  tls_files_drop(&shown);
  tls_files_drop(&own);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(certificates),           cmocka_unit_test(another_host),
      cmocka_unit_test(both_show_certificates), cmocka_unit_test(verbose),
      cmocka_unit_test(request_and_reply),      cmocka_unit_test(handshake_first),
  };
  return cmocka_run_group_tests(tests, make_files, drop_files);
}
