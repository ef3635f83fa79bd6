#include "bench_client.h"

#include <stdio.h>
#include <stdlib.h>

void alo_bench_fail(const char *what, aloft_status status, const aloft_error *error) {
  const aloft_text text = error != NULL ? error->message : aloft_text_of("no more is known");
  fprintf(stderr, "%s: status %d: %.*s\n", what, (int)status, ALOFT_PRINT(text));
  exit(1);
}

void alo_bench_ended(aloft_op *op, aloft_status status) {
  if (status != ALOFT_OK)
    alo_bench_fail("cannot connect, or read", status, op->error);
}

void alo_bench_connect(const char *port, aloft_loop **loop, aloft_tds **tds) {
  char string[128];
  aloft_op ready = {.done = alo_bench_ended};
  snprintf(string, sizeof string, "Server=127.0.0.1,%s;User ID=x;Password=x;Encrypt=Optional",
           port);
  const aloft_tds_config config = {.size = sizeof config,
                                   .connection_string = aloft_text_of(string)};
  aloft_status status = aloft_loop_open(loop, NULL);
  if (status == ALOFT_OK)
    status = aloft_tds_open(tds, *loop, &config, &ready);
  if (status != ALOFT_OK)
    alo_bench_fail("cannot begin", status, ready.error);
  aloft_wait(*loop, &ready);
}
