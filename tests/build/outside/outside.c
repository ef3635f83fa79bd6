/* Uses the installed library: a loop, and one operation that completes. */
#include <aloft/aloft.h>
#include <stdio.h>

static int completions;

static void slept(aloft_op *op, aloft_status status) {
  (void)op;
  completions += status == ALOFT_TIMEOUT;
}

int main(void) {
  aloft_loop *loop = NULL;
  if (aloft_loop_open(&loop, NULL) != ALOFT_OK)
    return 1;
  aloft_op op = {.done = slept, .timeout_ns = ALOFT_MILLISECONDS(1)};
  aloft_status started = aloft_sleep_start(loop, &op);
  aloft_status status = started == ALOFT_OK ? aloft_wait(loop, &op) : started;
  printf("%s %s\n", ALOFT_VERSION, aloft_status_name(status));
  aloft_loop_close(loop);
  return completions == 1 ? 0 : 1;
}
