/* examples/libevent_http with a real nats-server, `aloft reply`, and clients of its own. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "e2e_nats_server.h"

typedef struct world {
  e2e_nats_server server;
  e2e_process http, service;
  unsigned port;
} world;

static void begin(world *w) {
  memset(w, 0, sizeof *w);
  e2e_nats_server_start(&w->server, NULL);
  const char *const argv[] = {ALOFT_EXAMPLE, w->server.url, NULL};
  e2e_start(&w->http, argv, NULL, E2E_PIPED);
  e2e_wait_for(&w->http, &w->http.output, "/\n", 1);
  assert_int_equal(sscanf(w->http.output.text, "http://127.0.0.1:%u/", &w->port), 1);
  const char *const service[] = {ALOFT_COMMAND, "reply", "greeting", "-s", w->server.url, NULL};
  e2e_start(&w->service, service, NULL, E2E_PIPED);
  e2e_wait_for(&w->service, &w->service.errors, "Listening on", 1);
}

static void end(world *w) {
  kill(w->http.pid, SIGTERM);
  assert_int_equal(e2e_finish(&w->http), 0);
  e2e_free(&w->http);
  e2e_free(&w->service);
  e2e_nats_server_stop(&w->server);
}

static int post(const world *w, const char *path, const char *body) {
  char text[512];
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)w->port)};
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int client = socket(AF_INET, SOCK_STREAM, 0);
  assert_true(client >= 0);
  assert_int_equal(connect(client, (struct sockaddr *)&at, sizeof at), 0);
  int size = snprintf(text, sizeof text,
                      "POST %s HTTP/1.1\r\nHost: here\r\nConnection: close\r\n"
                      "Content-Length: %zu\r\n\r\n%s",
                      path, strlen(body), body);
  assert_int_equal(write(client, text, (size_t)size), size);
  return client;
}

/* Reads to the end. */
static void expect(int client, const char *status, const char *body) {
  char text[4096];
  size_t size = 0;
  ssize_t got;
  while ((got = read(client, text + size, sizeof text - 1 - size)) > 0)
    size += (size_t)got;
  close(client);
  text[size] = 0;
  if (strncmp(text, status, strlen(status)) != 0 || !strstr(text, body))
    fail_msg("not '%s' with '%s' but:\n%s", status, body, text);
}

static void test_answers(void **state) {
  world w;
  (void)state;
  begin(&w);
  int clients[16];
  for (size_t i = 0; i < 16; i++) {
    char body[16];
    snprintf(body, sizeof body, "number %zu", i);
    clients[i] = post(&w, "/greeting", body);
  }
  for (size_t i = 0; i < 16; i++) {
    char body[24];
    snprintf(body, sizeof body, "\r\n\r\nnumber %zu", i);
    expect(clients[i], "HTTP/1.1 200", body);
  }
  expect(post(&w, "/greeting", ""), "HTTP/1.1 200", "\r\n\r\n");
  expect(post(&w, "/nobody", "x"), "HTTP/1.1 502", "\r\n\r\n");
  expect(post(&w, "/a..b", "x"), "HTTP/1.1 400", "subject");
  expect(post(&w, "/", "x"), "HTTP/1.1 400", "subject");
  close(post(&w, "/greeting", "who does not wait"));
  expect(post(&w, "/greeting", "Ada"), "HTTP/1.1 200", "\r\n\r\nAda");
  end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
