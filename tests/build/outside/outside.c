/* Uses the installed library: a loop, one operation that completes, and again in an epoll loop. */
#include <aloft/adapters/epoll.h>
#include <aloft/aloft.h>
#include <stdio.h>
#include <unistd.h>

static int completions;

static void slept(aloft_op *op, aloft_status status) {
  (void)op;
  completions += status == ALOFT_TIMEOUT;
}

static aloft_status sleep_in_epoll(aloft_loop *loop, aloft_op *op) {
  aloft_epoll adapter = {NULL, {0, 0}};
  int epoll = epoll_create1(0), before = completions;
  aloft_status status = aloft_epoll_attach(&adapter, loop, epoll);
  if (status == ALOFT_OK)
    status = aloft_sleep_start(loop, op);
  while (status == ALOFT_OK && completions == before) {
    struct epoll_event event;
    int count = epoll_wait(epoll, &event, 1, aloft_epoll_timeout(&adapter, -1));
    status = aloft_epoll_turn(&adapter, &event, count);
  }
  aloft_epoll_detach(&adapter);
  close(epoll);
  return status;
}

int main(void) {
  aloft_loop *loop = NULL;
  if (aloft_loop_open(&loop, NULL) != ALOFT_OK)
    return 1;
  aloft_op op = {.done = slept, .timeout_ns = ALOFT_MILLISECONDS(1)};
  aloft_status started = aloft_sleep_start(loop, &op);
  aloft_status status = started == ALOFT_OK ? aloft_wait(loop, &op) : started;
  printf("%s %s\n", ALOFT_VERSION, aloft_status_name(status));
  status = sleep_in_epoll(loop, &op);
  aloft_loop_close(loop);
  return status == ALOFT_OK && completions == 2 ? 0 : 1;
}
