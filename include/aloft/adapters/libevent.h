/* An Aloft loop inside a libevent loop. See aloft_adapters(3).
 *
 * From attach to detach the event_base turns the Aloft loop, all on the thread that runs the base;
 * operations are started, cancelled and completed in callbacks of either. While attached the base
 * has an event, so event_base_dispatch does not end by itself.
 *
 * Detach or close the adapter before the base is freed, and before the Aloft loop is closed
 * otherwise than by aloft_libevent_close. */
#ifndef ALOFT_ADAPTERS_LIBEVENT_H
#define ALOFT_ADAPTERS_LIBEVENT_H

#include <aloft/loop.h>

#include <event2/event.h>
#include <poll.h>
#include <sys/time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The caller's, from attach until it is detached and its callback, if any, has returned. Zero: not
 * attached. */
typedef struct aloft_libevent {
  aloft_loop *loop;    /* NULL: not attached */
  aloft_status status; /* not ALOFT_OK: turning the loop failed, and the base turns it no more */
  struct {             /* the adapter's own */
    struct event *input, *timer;
  } own;
} aloft_libevent;

/* libevent keeps time in microseconds: rounded up. A timer of no length waits for the base to have
 * looked at its other events, where event_active would not. */
static inline void alo_libevent_time(aloft_libevent *adapter, uint64_t timeout_ns) {
  const uint64_t day_ns = ALOFT_SECONDS(86400); /* enough: it is asked again then */
  uint64_t us = (timeout_ns < day_ns ? timeout_ns : day_ns) / 1000 + (timeout_ns % 1000 != 0);
  struct timeval time;
  time.tv_sec = (time_t)(us / 1000000);
  time.tv_usec = (suseconds_t)(us % 1000000);
  if (evtimer_add(adapter->own.timer, &time) < 0)
    event_active(adapter->own.timer, EV_TIMEOUT, 0); /* no memory for it */
}

static inline void alo_libevent_arm(aloft_libevent *adapter) {
  aloft_loop_wants wants;
  wants.size = sizeof wants;
  if (aloft_loop_get_wants(adapter->loop, &wants) != ALOFT_OK)
    return;
  if (wants.timeout_ns == ALOFT_FOREVER)
    evtimer_del(adapter->own.timer);
  else
    alo_libevent_time(adapter, wants.timeout_ns);
}

static inline void alo_libevent_fired(evutil_socket_t descriptor, short events, void *context) {
  aloft_libevent *adapter = (aloft_libevent *)context;
  (void)descriptor;
  (void)events;
  aloft_status status = aloft_loop_turn(adapter->loop, 0);
  if (!adapter->loop || status == ALOFT_WRONG_STATE) /* detached; a base inside a callback */
    return;
  adapter->status = status;
  if (status == ALOFT_OK) {
    alo_libevent_arm(adapter);
    return;
  }
  event_del(adapter->own.input);
  evtimer_del(adapter->own.timer);
}

/* Something was started elsewhere, or a turn made: the base has to look before it waits. At the end
 * of a turn of its own it looks at once, see above. */
static inline void alo_libevent_changed(aloft_loop *loop, void *context) {
  aloft_libevent *adapter = (aloft_libevent *)context;
  (void)loop;
  if (adapter->status == ALOFT_OK)
    alo_libevent_time(adapter, 0);
}

static inline void alo_libevent_free(aloft_libevent *adapter) {
  if (adapter->own.input)
    event_free(adapter->own.input);
  if (adapter->own.timer)
    event_free(adapter->own.timer);
  adapter->own.input = adapter->own.timer = NULL;
}

/* ALOFT_NO_MEMORY; ALOFT_SYSTEM: libevent refused the event; ALOFT_WRONG_STATE: called from a
 * callback of the loop; ALOFT_UNSUPPORTED. */
static inline aloft_status aloft_libevent_attach(aloft_libevent *adapter, aloft_loop *loop,
                                                 struct event_base *base) {
  aloft_loop_wants wants;
  wants.size = sizeof wants;
  aloft_status status = aloft_loop_get_wants(loop, &wants);
  if (status != ALOFT_OK)
    return status;
  short events = (short)(EV_PERSIST | (wants.events & POLLIN ? EV_READ : 0) |
                         (wants.events & POLLOUT ? EV_WRITE : 0));
  adapter->own.input = event_new(base, wants.descriptor, events, alo_libevent_fired, adapter);
  adapter->own.timer = evtimer_new(base, alo_libevent_fired, adapter);
  bool made = adapter->own.input && adapter->own.timer;
  if (!made || event_add(adapter->own.input, NULL) < 0) {
    alo_libevent_free(adapter);
    return made ? ALOFT_SYSTEM : ALOFT_NO_MEMORY;
  }
  adapter->loop = loop;
  adapter->status = ALOFT_OK;
  aloft_loop_on_change(loop, alo_libevent_changed, adapter);
  alo_libevent_arm(adapter);
  return ALOFT_OK;
}

/* From then on the loop is only turned by others, if at all. Also from a callback; of one that is
 * not attached: nothing. */
static inline void aloft_libevent_detach(aloft_libevent *adapter) {
  if (!adapter->loop)
    return;
  aloft_loop_on_change(adapter->loop, NULL, NULL);
  alo_libevent_free(adapter);
  adapter->loop = NULL;
}

/* Detaches and closes the loop: what is in flight on it completes with ALOFT_CLOSED before this
 * returns. ALOFT_WRONG_STATE: called from a callback of the loop; nothing has happened. */
static inline aloft_status aloft_libevent_close(aloft_libevent *adapter) {
  aloft_loop *loop = adapter->loop;
  aloft_loop_wants wants;
  wants.size = sizeof wants;
  if (loop && aloft_loop_get_wants(loop, &wants) == ALOFT_WRONG_STATE)
    return ALOFT_WRONG_STATE;
  aloft_libevent_detach(adapter);
  aloft_loop_close(loop);
  return ALOFT_OK;
}

#ifdef __cplusplus
}
#endif
#endif
