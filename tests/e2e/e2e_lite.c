#include "e2e_lite.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static void start(e2e_lite *lite, const char *const *argv, size_t lines) {
  static const char *const environment[] = {"ALOFT_LITE_PASSWORD=" E2E_LITE_PASSWORD, NULL};
  e2e_start(&lite->process, argv, environment, E2E_PIPED);
  e2e_wait_for(&lite->process, &lite->process.output, "\n", lines);
  const char *colon = strrchr(lite->process.output.text, ':');
  assert_non_null(colon);
  snprintf(lite->port, sizeof lite->port, "%.*s", (int)strspn(colon + 1, "0123456789"), colon + 1);
}

static void prepare(e2e_lite *lite, char path[E2E_LITE_PATH_MAX]) {
  memset(lite, 0, sizeof *lite);
  snprintf(lite->folder, sizeof lite->folder, "/tmp/aloft-e2e-XXXXXX");
  assert_non_null(mkdtemp(lite->folder));
  snprintf(path, E2E_LITE_PATH_MAX, "%s/test.db", lite->folder);
  snprintf(lite->certificate, sizeof lite->certificate, "%s/lite.pem", lite->folder);
}

void e2e_lite_start(e2e_lite *lite, const char *command) {
  e2e_lite_start_tls(lite, command, "optional");
}

void e2e_lite_start_tls(e2e_lite *lite, const char *command, const char *tls) {
  char path[E2E_LITE_PATH_MAX];
  prepare(lite, path);
  if (strcmp(tls, "off") == 0)
    start(lite,
          (const char *[]){command, "lite", path, "--user", E2E_LITE_USER, "--verbose", "--tls",
                           tls, NULL},
          1);
  else
    start(lite,
          (const char *[]){command, "lite", path, "--user", E2E_LITE_USER, "--verbose", "--tls",
                           tls, "--tlscert-out", lite->certificate, NULL},
          2);
}

void e2e_lite_start_certificate(e2e_lite *lite, const char *command, const char *certificate,
                                const char *key) {
  char path[E2E_LITE_PATH_MAX];
  prepare(lite, path);
  start(lite,
        (const char *[]){command, "lite", path, "--user", E2E_LITE_USER, "--verbose", "--tlscert",
                         certificate, "--tlskey", key, NULL},
        2);
}

void e2e_lite_free(e2e_lite *lite) {
  static const char *const files[] = {"test.db", "test.db-wal", "test.db-shm", "freetds.conf",
                                      "lite.pem"};
  e2e_free(&lite->process);
  for (size_t i = 0; lite->folder[0] && i < sizeof files / sizeof files[0]; i++) {
    char path[96];
    snprintf(path, sizeof path, "%s/%s", lite->folder, files[i]);
    unlink(path);
  }
  rmdir(lite->folder);
}

void e2e_lite_stop(e2e_lite *lite) {
  kill(lite->process.pid, SIGTERM);
  int status = e2e_finish(&lite->process);
  bool told = e2e_count(&lite->process.errors, E2E_LITE_PASSWORD) > 0;
  if (status != 0 || told)
    print_error("lite: %s\n", lite->process.errors.text ? lite->process.errors.text : "");
  e2e_lite_free(lite);
  assert_int_equal(status, 0);
  assert_false(told);
}

bool e2e_find_program(const char *name, char *path, size_t room) {
  const char *at = getenv("PATH");
  while (at && *at) {
    size_t size = strcspn(at, ":");
    int length = snprintf(path, room, "%.*s/%s", (int)size, at, name);
    if (length > 0 && (size_t)length < room && access(path, X_OK) == 0)
      return true;
    at += size + (at[size] == ':');
  }
  return false;
}
