/* After a connect the password, or token, is nowhere in the client's memory, in clear and over TLS.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <aloft/nats.h>

#include "e2e_nats_server.h"
#include "tls_files.h"

#define SECRET "Tr0ub4dor-marker"

enum { MASK = 0x5A, SECRET_SIZE = sizeof SECRET - 1 };

/* Its shadow cannot be searched, and what it poisons not be read. */
#if defined(__SANITIZE_ADDRESS__)
  #define SANITIZED 1
#elif defined(__has_feature)
  #if __has_feature(address_sanitizer)
    #define SANITIZED 1
  #endif
#endif

/* So that the test itself does not hold them: the secret, and some of a key's PEM. */
static uint8_t masked[SECRET_SIZE], masked_key[SECRET_SIZE];

static bool is_here(const uint8_t *bytes, const uint8_t of[SECRET_SIZE]) {
  for (size_t i = 0; i < SECRET_SIZE; i++)
    if (bytes[i] != (of[i] ^ MASK))
      return false;
  return true;
}

/* In all memory that can be written to. */
static size_t count_in_memory(const uint8_t of[SECRET_SIZE]) {
  char line[512];
  size_t count = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  assert_non_null(maps);
  while (fgets(line, sizeof line, maps)) {
    uintptr_t begin, end;
    char rights[8];
    if (sscanf(line, "%zx-%zx %7s", &begin, &end, rights) != 3 || strncmp(rights, "rw-p", 4) != 0)
      continue;
    for (const uint8_t *at = (const uint8_t *)begin; at + SECRET_SIZE <= (const uint8_t *)end; at++)
      count += is_here(at, of);
  }
  fclose(maps);
  return count;
}

static void expect_none(const char *when) {
  size_t count = count_in_memory(masked);
  if (count > 0)
    fail_msg("%s the secret is %zu times in memory", when, count);
}

static void connected(aloft_op *op, aloft_status status) {
  (void)op;
  (void)status;
}

static void unmask(char *into) {
  for (size_t i = 0; i < SECRET_SIZE; i++)
    into[i] = (char)(masked[i] ^ MASK);
}

static void log_in(const char *url, const char *authority, bool token) {
  aloft_loop *loop;
  aloft_nats *nats;
  aloft_op op = {.done = connected};
  char *secret = malloc(SECRET_SIZE);
  assert_non_null(secret);
  assert_int_equal(aloft_loop_open(&loop, NULL), ALOFT_OK);
  expect_none("before");
  unmask(secret);
  aloft_nats_config config = {
      .size = sizeof config, .url = aloft_text_of(url), .tls_ca_file = aloft_text_of(authority)};
  if (token)
    config.token = (aloft_text){secret, SECRET_SIZE};
  else
    config.password = (aloft_text){secret, SECRET_SIZE};
  config.user = aloft_text_of(token ? NULL : "joe");
  assert_int_equal(aloft_nats_open(&nats, loop, &config, &op), ALOFT_OK);
  assert_int_not_equal(count_in_memory(masked), 0); /* else nothing would ever be found */
  explicit_bzero(secret, SECRET_SIZE);
  assert_int_equal(aloft_wait(loop, &op), ALOFT_OK);
  expect_none("after the connect");
  assert_int_equal(aloft_nats_close(nats, NULL), ALOFT_OK);
  aloft_loop_close(loop);
  expect_none("after the end");
  free(secret);
}

/* ---- connects that come to nothing ---- */

enum { TURNS_MAX = 40 };

typedef enum how { REFUSED, MISTRUSTED, CANCELLED, CLOSED } how;

static const aloft_status ends[] = {ALOFT_AUTH, ALOFT_ENCRYPTION, ALOFT_CANCELLED, ALOFT_CLOSED};

typedef struct attempt {
  aloft_op op;
  aloft_status status;
  unsigned done;
} attempt;

static void ended(aloft_op *op, aloft_status status) {
  attempt *self = ALOFT_CONTAINER(op, attempt, op);
  self->status = status;
  self->done++;
}

/* Given up after so many turns, unless it has ended before. Returns whether that was so. */
static bool come_to_nothing(const char *url, const tls_files *files, how why, int turns) {
  aloft_loop *loop;
  aloft_nats *nats;
  aloft_cancel cancel = {0};
  attempt self = {.done = 0};
  char secret[SECRET_SIZE];
  assert_int_equal(aloft_loop_open(&loop, NULL), ALOFT_OK);
  aloft_cancel_init(&cancel, loop, NULL);
  self.op = (aloft_op){.done = ended, .cancel = &cancel};
  unmask(secret);
  aloft_nats_config config = {.size = sizeof config,
                              .url = aloft_text_of(url),
                              .user = aloft_text_of(why == REFUSED ? "nobody" : "joe"),
                              .password = {secret, SECRET_SIZE}};
  if (files)
    config.tls_ca_file = aloft_text_of(files->certificate);
  if (why == MISTRUSTED)
    config.tls_server_name = ALOFT_TEXT("elsewhere");
  assert_int_equal(aloft_nats_open(&nats, loop, &config, &self.op), ALOFT_OK);
  explicit_bzero(secret, SECRET_SIZE);
  for (int at = 0; at < turns && !self.done; at++)
    assert_int_equal(aloft_loop_turn(loop, ALOFT_SECONDS(10)), ALOFT_OK);
  if (why == CANCELLED)
    aloft_cancel_fire(&cancel);
  else if (why == CLOSED)
    assert_int_equal(aloft_nats_close(nats, NULL), ALOFT_OK);
  while (!self.done)
    assert_int_equal(aloft_loop_turn(loop, ALOFT_SECONDS(10)), ALOFT_OK);
  assert_int_equal(self.done, 1);
  bool early = why >= CANCELLED && self.status == ALOFT_OK;
  assert_int_equal(self.status, early ? ALOFT_OK : ends[why]);
  expect_none("after a connect that came to nothing");
  if (why != CLOSED)
    assert_int_equal(aloft_nats_close(nats, NULL), ALOFT_OK);
  aloft_cancel_fini(&cancel);
  aloft_loop_close(loop);
  expect_none("after the end of one");
  return early;
}

static void fail_to_log_in(const char *url, const tls_files *files) {
  (void)come_to_nothing(url, files, REFUSED, TURNS_MAX);
  if (files)
    (void)come_to_nothing(url, files, MISTRUSTED, TURNS_MAX);
  for (how why = CANCELLED; why <= CLOSED; why++)
    for (int turns = 0; !come_to_nothing(url, files, why, turns); turns++)
      assert_in_range(turns, 0, TURNS_MAX);
}

/* The server's configuration holds the secret only while it is written. */
static void serve_and_log_in(const tls_files *files, bool token) {
  e2e_nats_server server;
  char text[600], secret[SECRET_SIZE + 1] = "";
  unmask(secret);
  int size = snprintf(text, sizeof text, "authorization { %s: \"%s\" }\n",
                      token ? "token" : "user: joe, password", secret);
  if (files)
    snprintf(text + size, sizeof text - (size_t)size,
             "tls { cert_file: \"%s\", key_file: \"%s\" }\n", files->certificate, files->key);
  e2e_nats_server_start(&server, text);
  explicit_bzero(text, sizeof text);
  explicit_bzero(secret, sizeof secret);
  log_in(server.url, files ? files->certificate : NULL, token);
  if (!token)
    fail_to_log_in(server.url, files);
  e2e_nats_server_stop(&server);
}

static void forgotten(void **state) {
  tls_files files;
  (void)state;
#ifdef SANITIZED
  print_message("skipped: the memory of a sanitized program cannot be searched\n");
  skip();
#endif
  for (size_t i = 0; i < SECRET_SIZE; i++)
    masked[i] = (uint8_t)(SECRET[i] ^ MASK);
  tls_files_make(&files, NULL);
  for (int token = 0; token < 2; token++) {
    serve_and_log_in(NULL, token);
    serve_and_log_in(&files, token);
  }
  tls_files_drop(&files);
}

/* ---- keys ---- */

/* Its file is made, and what was in memory of it is forgotten. */
static void make_key(tls_files *files) {
  tls_files_make(files, NULL);
  const char *line = strchr(files->key_text, '\n');
  assert_non_null(line);
  for (size_t i = 0; i < SECRET_SIZE; i++)
    masked_key[i] = (uint8_t)(line[9 + i] ^ MASK);
  explicit_bzero(files->key_text, sizeof files->key_text);
}

static void key_forgotten(void **state) {
  tls_files files;
  aloft_loop *loop;
  aloft_nats *nats;
  (void)state;
#ifdef SANITIZED
  print_message("skipped: the memory of a sanitized program cannot be searched\n");
  skip();
#endif
  make_key(&files);
  assert_int_equal(count_in_memory(masked_key), 0);
  assert_int_equal(aloft_loop_open(&loop, NULL), ALOFT_OK);
  const aloft_nats_config config = {.size = sizeof config,
                                    .url = ALOFT_TEXT("tls://127.0.0.1:1"),
                                    .tls_certificate_file = aloft_text_of(files.certificate),
                                    .tls_key_file = aloft_text_of(files.key)};
  assert_int_equal(aloft_nats_open(&nats, loop, &config, NULL), ALOFT_OK);
  assert_int_equal(count_in_memory(masked_key), 0);
  assert_int_equal(aloft_nats_close(nats, NULL), ALOFT_OK);
  aloft_loop_close(loop);
  tls_files_drop(&files);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(forgotten), cmocka_unit_test(key_forgotten)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
