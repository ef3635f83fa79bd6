/* tedious, the SQL Server client of node, against aloft lite: starts lite, and lite_tedious.js. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "e2e_lite.h"

static void tedious(void **state) {
  char certificate[160];
  const char *const environment[] = {"LITE_PASSWORD=" E2E_LITE_PASSWORD, certificate, NULL};
  char node[256];
  e2e_lite lite;
  e2e_process process;
  (void)state;
  if (!e2e_find_program("node", node, sizeof node)) {
    print_message("node is not installed (Debian's nodejs): skipped\n");
    skip();
  }
  if (access(ALOFT_NPM_FOLDER "/node_modules/tedious", R_OK) != 0) {
    print_message("tedious is not installed (build-aux/npm.sh does it): skipped\n");
    skip();
  }
  e2e_lite_start(&lite, ALOFT_COMMAND);
  snprintf(certificate, sizeof certificate, "LITE_CERTIFICATE=%s", lite.certificate);
  const char *const argv[] = {node,
                              ALOFT_SOURCE_DIR "/tests/interop/lite_tedious.js",
                              ALOFT_NPM_FOLDER,
                              lite.port,
                              E2E_LITE_USER,
                              NULL};
  e2e_start(&process, argv, environment, E2E_PIPED);
  int status = e2e_finish(&process);
  if (status != 0)
    print_error("%s%s", process.output.text, process.errors.text);
  assert_int_equal(status, 0);
  assert_int_equal(e2e_count(&process.output, " passed\n"), 1);
  e2e_free(&process);
  e2e_lite_stop(&lite);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(tedious)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
