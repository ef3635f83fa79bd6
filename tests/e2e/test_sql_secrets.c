/* After a login the password is nowhere in the client's memory: not as UTF-8, not as UTF-16, and
 * not scrambled as in LOGIN7; over every kind of encryption, and none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <aloft/tds.h>

#include "e2e_lite.h"

enum { MASK = 0x5A, SECRET_SIZE = sizeof E2E_LITE_PASSWORD - 1 };

/* Its shadow cannot be searched, and what it poisons not be read. */
#if defined(__SANITIZE_ADDRESS__)
  #define SANITIZED 1
#elif defined(__has_feature)
  #if __has_feature(address_sanitizer)
    #define SANITIZED 1
  #endif
#endif

static uint8_t masked[SECRET_SIZE]; /* so that the test itself does not hold it */

typedef enum form { UTF8, UTF16, SCRAMBLED, FORMS } form;

static const char *const form_names[] = {"UTF-8", "UTF-16", "scrambled"};

static uint8_t byte_of(form how, size_t at) {
  if (how == UTF8)
    return masked[at] ^ MASK;
  uint8_t unit = at % 2 ? 0 : (uint8_t)(masked[at / 2] ^ MASK);
  return how == UTF16 ? unit : (uint8_t)((unit << 4 | unit >> 4) ^ 0xA5);
}

static size_t size_of(form how) {
  return how == UTF8 ? SECRET_SIZE : 2 * SECRET_SIZE;
}

static bool is_here(const uint8_t *bytes, form how) {
  for (size_t i = 0; i < size_of(how); i++)
    if (bytes[i] != byte_of(how, i))
      return false;
  return true;
}

static size_t count_in(const uint8_t *begin, const uint8_t *end, form how) {
  size_t count = 0;
  for (const uint8_t *at = begin; at + size_of(how) <= end; at++)
    count += is_here(at, how);
  return count;
}

/* In all memory that can be written to. */
static size_t count_in_memory(form how) {
  char line[512];
  size_t count = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  assert_non_null(maps);
  while (fgets(line, sizeof line, maps)) {
    uintptr_t begin, end;
    char rights[8];
    if (sscanf(line, "%zx-%zx %7s", &begin, &end, rights) == 3 && strncmp(rights, "rw-p", 4) == 0)
      count += count_in((const uint8_t *)begin, (const uint8_t *)end, how);
  }
  fclose(maps);
  return count;
}

static void expect_none(const char *when) {
#ifdef SANITIZED
  return;
#endif
  for (int how = UTF8; how < FORMS; how++) {
    size_t count = count_in_memory((form)how);
    if (count > 0)
      fail_msg("%s the password is %zu times in memory, %s", when, count, form_names[how]);
  }
}

static int mask(void **state) {
  (void)state;
  for (size_t i = 0; i < SECRET_SIZE; i++)
    masked[i] = (uint8_t)(E2E_LITE_PASSWORD[i] ^ MASK);
  return 0;
}

static void unmask(char *into) {
  for (size_t i = 0; i < SECRET_SIZE; i++)
    into[i] = (char)(masked[i] ^ MASK);
}

static void logged_in(aloft_op *op, aloft_status status) {
  (void)op;
  (void)status;
}

static void log_in(const e2e_lite *lite, const char *encrypt) {
  char string[300];
  aloft_loop *loop;
  aloft_tds *tds;
  aloft_op op = {.done = logged_in};
  char *password = malloc(SECRET_SIZE);
  assert_non_null(password);
  assert_int_equal(aloft_loop_open(&loop, NULL), ALOFT_OK);
  snprintf(string, sizeof string,
           "Server=127.0.0.1,%s;User Id=" E2E_LITE_USER ";Encrypt=%s;CA File=%s", lite->port,
           encrypt, lite->certificate);
  unmask(password);
  const aloft_tds_config config = {.size = sizeof config,
                                   .connection_string = aloft_text_of(string),
                                   .password = {password, SECRET_SIZE}};
  assert_int_equal(aloft_tds_open(&tds, loop, &config, &op), ALOFT_OK);
  assert_int_not_equal(count_in_memory(UTF8), 0); /* else nothing would ever be found */
  explicit_bzero(password, SECRET_SIZE);
  assert_int_equal(aloft_wait(loop, &op), ALOFT_OK);
  expect_none("after the login");
  assert_int_equal(aloft_tds_close(tds, NULL), ALOFT_OK);
  aloft_loop_close(loop);
  expect_none("after the end");
  free(password);
}

/* ---- logins that come to nothing ---- */

enum { TURNS_MAX = 40 };

typedef enum how { REFUSED, MISTRUSTED, CANCELLED, CLOSED, HOWS } how;

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
static bool come_to_nothing(const e2e_lite *lite, const char *encrypt, how why, int turns) {
  char string[300];
  aloft_loop *loop;
  aloft_tds *tds;
  aloft_cancel cancel;
  attempt self = {.done = 0};
  char password[SECRET_SIZE];
  assert_int_equal(aloft_loop_open(&loop, NULL), ALOFT_OK);
  aloft_cancel_init(&cancel, loop, NULL);
  self.op = (aloft_op){.done = ended, .cancel = &cancel};
  snprintf(string, sizeof string, "Server=127.0.0.1,%s;User Id=%s;Encrypt=%s;CA File=%s%s",
           lite->port, why == REFUSED ? "nobody" : E2E_LITE_USER, encrypt, lite->certificate,
           why == MISTRUSTED ? ";HostNameInCertificate=elsewhere" : "");
  unmask(password);
  const aloft_tds_config config = {.size = sizeof config,
                                   .connection_string = aloft_text_of(string),
                                   .password = {password, SECRET_SIZE}};
  assert_int_equal(aloft_tds_open(&tds, loop, &config, &self.op), ALOFT_OK);
  explicit_bzero(password, SECRET_SIZE);
  for (int at = 0; at < turns && !self.done; at++)
    assert_int_equal(aloft_loop_turn(loop, ALOFT_SECONDS(10)), ALOFT_OK);
  if (why == CANCELLED)
    aloft_cancel_fire(&cancel);
  else if (why == CLOSED)
    assert_int_equal(aloft_tds_close(tds, NULL), ALOFT_OK);
  while (!self.done)
    assert_int_equal(aloft_loop_turn(loop, ALOFT_SECONDS(10)), ALOFT_OK);
  assert_int_equal(self.done, 1);
  bool early = why >= CANCELLED && self.status == ALOFT_OK;
  assert_int_equal(self.status, early ? ALOFT_OK : ends[why]);
  expect_none("after a login that came to nothing");
  if (why != CLOSED)
    assert_int_equal(aloft_tds_close(tds, NULL), ALOFT_OK);
  aloft_cancel_fini(&cancel);
  aloft_loop_close(loop);
  expect_none("after the end of one");
  return early;
}

/* Sanitized it shows at least that nothing leaks, and each ends once. */
static void forgotten_on_failure(void **state) {
  static const char *const encrypts[] = {"Optional", "Mandatory", "Strict"};
  e2e_lite lite;
  (void)state;
  e2e_lite_start(&lite, ALOFT_COMMAND);
  for (size_t i = 0; i < sizeof encrypts / sizeof *encrypts; i++) {
    (void)come_to_nothing(&lite, encrypts[i], REFUSED, TURNS_MAX);
    if (i > 0) /* the login alone is encrypted for anybody */
      (void)come_to_nothing(&lite, encrypts[i], MISTRUSTED, TURNS_MAX);
    for (how why = CANCELLED; why <= CLOSED; why++)
      for (int turns = 0; !come_to_nothing(&lite, encrypts[i], why, turns); turns++)
        assert_in_range(turns, 0, TURNS_MAX);
  }
  e2e_lite_stop(&lite);
}

static void forgotten(void **state) {
  static const char *const encrypts[] = {"Optional", "Mandatory", "Strict"};
  e2e_lite lite;
  (void)state;
#ifdef SANITIZED
  print_message("skipped: the memory of a sanitized program cannot be searched\n");
  skip();
#endif
  e2e_lite_start(&lite, ALOFT_COMMAND);
  for (size_t i = 0; i < sizeof encrypts / sizeof *encrypts; i++)
    log_in(&lite, encrypts[i]);
  e2e_lite_stop(&lite);
  e2e_lite_start_tls(&lite, ALOFT_COMMAND, "off");
  *lite.certificate = 0;
  log_in(&lite, "Optional");
  e2e_lite_stop(&lite);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(forgotten),
                                     cmocka_unit_test(forgotten_on_failure)};
  return cmocka_run_group_tests(tests, mask, NULL);
}
