/* TLS between aloft sql and aloft lite: every mode of the one with every mode of the other, and
 * what each says when a certificate is not the one that it should be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "e2e_lite.h"
#include "tls_files.h"

enum { ARGUMENTS_MAX = 24 };

static const char *const environment[] = {"SQLCMDPASSWORD=" E2E_LITE_PASSWORD, NULL};

/* Asks `lite` with these options more (NULL at the end); the exit status. */
static int ask(const e2e_lite *lite, e2e_process *process, const char *host,
               const char *const *options) {
  char server[96];
  const char *argv[ARGUMENTS_MAX] = {ALOFT_COMMAND, "sql",         "-S", server,
                                     "-U",          E2E_LITE_USER, "-Q", "SELECT 41 + 1",
                                     "--format",    "csv"};
  size_t count = 10;
  while (*options && count + 1 < ARGUMENTS_MAX)
    argv[count++] = *options++;
  snprintf(server, sizeof server, "tcp:%s,%s", host, lite->port);
  e2e_start(process, argv, environment, E2E_PIPED);
  return e2e_finish(process);
}

#define OPTIONS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void connects(const e2e_lite *lite, const char *host, const char *const *options) {
  e2e_process process;
  int status = ask(lite, &process, host, options);
  if (status != 0 || e2e_count(&process.output, "42") != 1)
    fail_msg("status %d: %s", status, process.errors.text);
  e2e_free(&process);
}

static void fails(const e2e_lite *lite, const char *host, const char *const *options, int wanted,
                  const char *says) {
  e2e_process process;
  int status = ask(lite, &process, host, options);
  if (status != wanted || e2e_count(&process.errors, says) != 1)
    fail_msg("status %d, not '%s' but: %s", status, says, process.errors.text);
  assert_int_equal(e2e_count(&process.errors, "\n"), 1);
  assert_int_equal(e2e_count(&process.errors, E2E_LITE_PASSWORD), 0);
  e2e_free(&process);
}

static void refused(const e2e_lite *lite, const char *host, const char *const *options,
                    const char *says) {
  fails(lite, host, options, 3, says);
}

/* ---- every mode with every mode ---- */

typedef struct mode {
  const char *tls;
  const char *optional, *mandatory, *strict; /* why it is refused; NULL: it connects */
} mode;

#define TOO_OLD "-Nstrict needs SQL Server 2022 or later"
#define STRICT  "one that takes only TDS 8.0 wants -Nstrict"

static const mode modes[] = {
    {"off", NULL, "the server cannot encrypt", TOO_OLD},
    {"optional", NULL, NULL, NULL},
    {"required", NULL, NULL, NULL},
    {"strict", STRICT, STRICT, NULL},
};

static void expect_mode(const e2e_lite *lite, const char *encrypt, const char *why) {
  const char *const *options = *lite->certificate && access(lite->certificate, R_OK) == 0
                                   ? OPTIONS(encrypt, "--ca-file", lite->certificate)
                                   : OPTIONS(encrypt);
  if (why)
    refused(lite, "127.0.0.1", options, why);
  else
    connects(lite, "127.0.0.1", options);
}

static void every_mode(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    e2e_lite lite;
    e2e_lite_start_tls(&lite, ALOFT_COMMAND, modes[i].tls);
    expect_mode(&lite, "-No", modes[i].optional);
    expect_mode(&lite, "-Nm", modes[i].mandatory);
    expect_mode(&lite, "-Ns", modes[i].strict);
    e2e_lite_stop(&lite);
  }
}

/* ---- certificates ---- */

static void who_is_trusted(void **state) {
  e2e_lite lite, other;
  (void)state;
  e2e_lite_start(&lite, ALOFT_COMMAND);
  e2e_lite_start(&other, ALOFT_COMMAND);
  for (size_t i = 0; i < 2; i++) {
    const char *how = i ? "-Ns" : "-Nm";
    refused(&lite, "127.0.0.1", OPTIONS(how), "--ca-file");
    refused(&lite, "127.0.0.1", OPTIONS(how, "--ca-file", other.certificate), "--ca-file");
    connects(&lite, "localhost", OPTIONS(how, "--ca-file", lite.certificate));
    connects(&lite, "127.0.0.1", OPTIONS(how, "-J", lite.certificate));
    connects(&lite, "127.0.0.1", OPTIONS(how, "-F", "nobody", "-J", lite.certificate));
    refused(&lite, "127.0.0.1", OPTIONS(how, "-J", other.certificate), "-J");
    /* A certificate that was asked for is looked at all the same. */
    refused(&lite, "127.0.0.1", OPTIONS(how, "-C", "-J", other.certificate), "-J");
    refused(&lite, "127.0.0.1", OPTIONS(how, "--ca-file", lite.certificate, "-F", "db.example"),
            "-F");
    connects(&lite, "127.0.0.1", OPTIONS(how, "--ca-file", lite.certificate, "-F", "LocalHost"));
  }
  connects(&lite, "127.0.0.1", OPTIONS("-Nm", "-C"));
  refused(&lite, "127.0.0.1", OPTIONS("-Ns", "-C"), "--ca-file");
  /* Only the login is encrypted, against who listens. */
  connects(&lite, "127.0.0.1", OPTIONS("-No"));
  refused(&lite, "127.0.0.1", OPTIONS("-No", "-J", other.certificate), "-J");
  e2e_lite_stop(&other);
  e2e_lite_stop(&lite);
}

/* When the server insists on encrypting everything, Optional verifies as Mandatory does. */
static void a_server_that_insists(void **state) {
  e2e_lite lite;
  (void)state;
  e2e_lite_start_tls(&lite, ALOFT_COMMAND, "required");
  refused(&lite, "127.0.0.1", OPTIONS("-No"), "--ca-file");
  connects(&lite, "127.0.0.1", OPTIONS("-No", "-C"));
  e2e_lite_stop(&lite);
}

static void files_that_are_wrong(void **state) {
  e2e_lite lite;
  (void)state;
  e2e_lite_start(&lite, ALOFT_COMMAND);
  fails(&lite, "127.0.0.1", OPTIONS("--ca-file", "/nonexistent/ca.pem"), 2, "/nonexistent/ca.pem");
  fails(&lite, "127.0.0.1", OPTIONS("-J", "/nonexistent/server.pem"), 2, "/nonexistent/server.pem");
  fails(&lite, "127.0.0.1", OPTIONS("--ca-file", "/dev/null"), 2, "/dev/null");
  e2e_lite_stop(&lite);
}

/* lite ends at once, and names the file that is wrong. */
static void keeps_off(const char *certificate, const char *key, const char *wrong) {
  e2e_process process;
  const char *const arguments[] = {ALOFT_COMMAND, "lite",      ":memory:", "--user", "u",
                                   "--tlscert",   certificate, "--tlskey", key,      NULL};
  e2e_run(&process, arguments, (const char *[]){"ALOFT_LITE_PASSWORD=x", NULL}, 3);
  assert_int_equal(e2e_count(&process.errors, "\n"), 1);
  assert_int_equal(e2e_count(&process.errors, wrong), 1);
  assert_int_equal(process.output.size, 0);
  e2e_free(&process);
}

static void truncated(const char *path) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fclose(file), 0);
}

static void a_certificate_of_its_own(void **state) {
  e2e_lite lite;
  tls_files files, other;
  (void)state;
  tls_files_make(&files, NULL);
  tls_files_make(&other, NULL);
  e2e_lite_start_certificate(&lite, ALOFT_COMMAND, files.certificate, files.key);
  for (size_t i = 0; i < 2; i++) {
    const char *how = i ? "-Ns" : "-Nm";
    connects(&lite, "localhost", OPTIONS(how, "--ca-file", files.certificate));
    refused(&lite, "localhost", OPTIONS(how, "--ca-file", other.certificate), "--ca-file");
  }
  e2e_lite_stop(&lite);
  keeps_off(files.certificate, other.key, other.key);
  truncated(other.key);
  keeps_off(files.certificate, other.key, other.key);
  tls_files_drop(&files);
  tls_files_drop(&other);
}

static void what_verbose_tells(void **state) {
  static const char *const encrypts[] = {"-Nm", "-Ns", "-No"};
  static const char *const tells[] = {"encrypted with TLSv1.2, ECDHE-",
                                      "encrypted with TLSv1.3, TLS_",
                                      "not encrypted, but for the login"};
  e2e_lite lite;
  (void)state;
  e2e_lite_start(&lite, ALOFT_COMMAND);
  char *fingerprint = strstr(lite.process.output.text, "SHA-256 ");
  assert_non_null(fingerprint);
  fingerprint[strcspn(fingerprint, "\n")] = 0;
  for (size_t i = 0; i < 3; i++) {
    e2e_process process;
    const char *const *options = OPTIONS(encrypts[i], "--verbose", "--ca-file", lite.certificate);
    assert_int_equal(ask(&lite, &process, "127.0.0.1", options), 0);
    assert_int_equal(e2e_count(&process.errors, tells[i]), 1);
    assert_int_equal(e2e_count(&process.errors, fingerprint), i < 2 ? 1 : 0);
    assert_int_equal(e2e_count(&process.errors, "the certificate: CN=Aloft lite, expires 20"),
                     i < 2 ? 1 : 0);
    e2e_free(&process);
  }
  e2e_lite_stop(&lite);
}

/* ---- much ---- */

static void much_both_ways(void **state) {
  static const char *const hows[] = {"-No", "-Nm", "-Ns"};
  static const char rest[] = "' + REPLICATE(CAST(N'y' AS nvarchar(max)), 1000000)\nGO\n";
  e2e_lite lite;
  (void)state;
  e2e_lite_start(&lite, ALOFT_COMMAND);
  for (size_t i = 0; i < sizeof hows / sizeof *hows; i++) {
    for (int packets = 0; packets < 2; packets++) {
      e2e_process process;
      char server[32];
      snprintf(server, sizeof server, "127.0.0.1,%s", lite.port);
      e2e_start(&process,
                ((const char *[]){ALOFT_COMMAND, "sql", "-S", server, "-U", E2E_LITE_USER, hows[i],
                                  "--ca-file", lite.certificate, "-a", packets ? "32767" : "512",
                                  "-h", "-1", "--format", "csv", NULL}),
                environment, E2E_PIPED);
      /* A request of about 1 MB, and an answer of 2 MB. */
      char *text = malloc(1000001);
      assert_non_null(text);
      memset(text, 'x', 1000000);
      text[1000000] = 0;
      e2e_write(&process, "SELECT N'", 9);
      e2e_write(&process, text, 1000000);
      e2e_write(&process, rest, sizeof rest - 1);
      free(text);
      assert_int_equal(e2e_finish(&process), 0);
      assert_int_equal(process.output.size, 2000002); /* and a line end */
      assert_int_equal(e2e_count(&process.output, "xyyyy"), 1);
      e2e_free(&process);
    }
  }
  e2e_lite_stop(&lite);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_mode),
      cmocka_unit_test(who_is_trusted),
      cmocka_unit_test(a_server_that_insists),
      cmocka_unit_test(files_that_are_wrong),
      cmocka_unit_test(a_certificate_of_its_own),
      cmocka_unit_test(what_verbose_tells),
      cmocka_unit_test(much_both_ways),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
