#include "harness_foreign.h"

#include <stdarg.h>
#include <setjmp.h>
#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <cmocka.h>

#include <aloft/adapters/epoll.h>

extern const harness_foreign harness_epoll;

typedef struct timer {
  int descriptor;
  void (*call)(void *context); /* NULL: free */
  void *context;
} timer;

enum { TIMERS = 8, EVENTS = 4 };

static int epoll = -1;
static aloft_epoll adapter;
static timer timers[TIMERS];

static void open_epoll(void) {
  epoll = epoll_create1(EPOLL_CLOEXEC);
  assert_true(epoll >= 0);
}

static void end_timer(timer *at) {
  close(at->descriptor);
  at->call = NULL;
}

static void close_epoll(void) {
  for (size_t i = 0; i < TIMERS; i++)
    if (timers[i].call)
      end_timer(&timers[i]);
  close(epoll);
  epoll = -1;
}

static aloft_status attach(aloft_loop *loop) {
  return aloft_epoll_attach(&adapter, loop, epoll);
}

static void detach(void) {
  aloft_epoll_detach(&adapter);
}

static aloft_status close_loop(void) {
  return aloft_epoll_close(&adapter);
}

static bool attached(void) {
  return adapter.loop != NULL;
}

static aloft_status iterate(int wait_ms) {
  struct epoll_event events[EVENTS];
  int count = epoll_wait(epoll, events, EVENTS, aloft_epoll_timeout(&adapter, wait_ms));
  if (count < 0)
    return errno == EINTR ? ALOFT_OK : ALOFT_SYSTEM;
  for (int i = 0; i < count; i++) {
    if (aloft_epoll_owns(&adapter, &events[i]))
      continue;
    timer fired = *(timer *)events[i].data.ptr;
    end_timer(events[i].data.ptr);
    fired.call(fired.context);
  }
  aloft_status status = aloft_epoll_turn(&adapter, events, count);
  if (status != ALOFT_OK)
    aloft_epoll_detach(&adapter);
  return status;
}

static void after(int ms, void (*call)(void *context), void *context) {
  size_t free = 0;
  while (free < TIMERS && timers[free].call)
    free++;
  assert_true(free < TIMERS);
  timer *at = &timers[free];
  *at = (timer){timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), call, context};
  assert_true(at->descriptor >= 0);
  const struct itimerspec when = {
      .it_value = {ms / 1000, ms % 1000 * 1000000 + (ms == 0)}}; /* all zero would stop it */
  assert_int_equal(timerfd_settime(at->descriptor, 0, &when, NULL), 0);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = at};
  assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, at->descriptor, &event), 0);
}

const harness_foreign harness_epoll = {
    .name = "epoll",
    .open = open_epoll,
    .close = close_epoll,
    .attach = attach,
    .detach = detach,
    .close_loop = close_loop,
    .attached = attached,
    .iterate = iterate,
    .after = after,
};
