#include "harness_foreign.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#include <aloft/adapters/libevent.h>

extern const harness_foreign harness_libevent;

typedef struct timer {
  struct event *event;
  void (*call)(void *context);
  void *context;
} timer;

enum { TIMERS = 8 };

static struct event_base *base;
static struct event *limit; /* of an iteration */
static aloft_libevent adapter;
static timer timers[TIMERS];

static void nothing(evutil_socket_t descriptor, short events, void *context) {
  (void)descriptor;
  (void)events;
  (void)context;
}

static void open_base(void) {
  base = event_base_new();
  assert_non_null(base);
  limit = evtimer_new(base, nothing, NULL);
  assert_non_null(limit);
}

static void end_timer(timer *at) {
  event_free(at->event);
  at->event = NULL;
}

static void close_base(void) {
  for (size_t i = 0; i < TIMERS; i++)
    if (timers[i].event)
      end_timer(&timers[i]);
  event_free(limit);
  event_base_free(base);
  base = NULL;
}

static aloft_status attach(aloft_loop *loop) {
  return aloft_libevent_attach(&adapter, loop, base);
}

static void detach(void) {
  aloft_libevent_detach(&adapter);
}

static aloft_status close_loop(void) {
  return aloft_libevent_close(&adapter);
}

static bool attached(void) {
  return adapter.loop != NULL;
}

static struct timeval time_of(int ms) {
  return (struct timeval){ms / 1000, ms % 1000 * 1000};
}

static aloft_status iterate(int wait_ms) {
  if (wait_ms > 0) {
    struct timeval time = time_of(wait_ms);
    event_add(limit, &time);
  }
  int result = event_base_loop(base, wait_ms == 0 ? EVLOOP_NONBLOCK : EVLOOP_ONCE);
  event_del(limit);
  assert_true(result == 0 || adapter.status != ALOFT_OK || !adapter.loop); /* 1: it has no event */
  return result < 0 ? ALOFT_SYSTEM : adapter.status;
}

static void fired(evutil_socket_t descriptor, short events, void *context) {
  timer now = *(timer *)context;
  (void)descriptor;
  (void)events;
  end_timer(context);
  now.call(now.context);
}

static void after(int ms, void (*call)(void *context), void *context) {
  size_t free = 0;
  while (free < TIMERS && timers[free].event)
    free++;
  assert_true(free < TIMERS);
  timer *at = &timers[free];
  struct timeval time = time_of(ms);
  *at = (timer){evtimer_new(base, fired, at), call, context};
  assert_non_null(at->event);
  assert_int_equal(evtimer_add(at->event, &time), 0);
}

const harness_foreign harness_libevent = {
    .name = "libevent",
    .open = open_base,
    .close = close_base,
    .attach = attach,
    .detach = detach,
    .close_loop = close_loop,
    .attached = attached,
    .iterate = iterate,
    .after = after,
};
