/* An Aloft loop inside an epoll(7) loop of your own. See aloft_adapters(3).
 *
 *   count = epoll_wait(epoll, events, room, aloft_epoll_timeout(&adapter, your_timeout));
 *   for (i = 0; i < count; i++)
 *     if (!aloft_epoll_owns(&adapter, &events[i]))
 *       ...yours
 *   aloft_epoll_turn(&adapter, events, count);
 *
 * All of it on one thread. Detach or close the adapter before the epoll descriptor is closed, and
 * before the Aloft loop is closed otherwise than by aloft_epoll_close. */
#ifndef ALOFT_ADAPTERS_EPOLL_H
#define ALOFT_ADAPTERS_EPOLL_H

#include <aloft/loop.h>

#include <poll.h>
#include <string.h>
#include <sys/epoll.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The caller's, from attach to detach at one place. Zero: not attached. */
typedef struct aloft_epoll {
  aloft_loop *loop; /* NULL: not attached */
  struct {          /* the adapter's own */
    int epoll, descriptor;
  } own;
} aloft_epoll;

/* Adds the loop's descriptor to `epoll`, with the adapter's address in its event's data.ptr; no
 * event of yours may have the same data. ALOFT_SYSTEM: epoll_ctl failed, see errno;
 * ALOFT_WRONG_STATE: called from a callback of the loop; ALOFT_UNSUPPORTED. */
static inline aloft_status aloft_epoll_attach(aloft_epoll *adapter, aloft_loop *loop, int epoll) {
  aloft_loop_wants wants;
  wants.size = sizeof wants;
  aloft_status status = aloft_loop_get_wants(loop, &wants);
  if (status != ALOFT_OK)
    return status;
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  event.events = (wants.events & POLLIN ? (uint32_t)EPOLLIN : 0u) |
                 (wants.events & POLLOUT ? (uint32_t)EPOLLOUT : 0u);
  event.data.ptr = adapter;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, wants.descriptor, &event) < 0)
    return ALOFT_SYSTEM;
  adapter->loop = loop;
  adapter->own.epoll = epoll;
  adapter->own.descriptor = wants.descriptor;
  return ALOFT_OK;
}

/* From then on the loop is only turned by others, if at all. Also from a callback; of one that is
 * not attached: nothing. */
static inline void aloft_epoll_detach(aloft_epoll *adapter) {
  struct epoll_event event; /* Linux before 2.6.9 wants one */
  memset(&event, 0, sizeof event);
  if (adapter->loop)
    (void)epoll_ctl(adapter->own.epoll, EPOLL_CTL_DEL, adapter->own.descriptor, &event);
  adapter->loop = NULL;
}

/* How long epoll_wait may wait: `timeout_ms` of your own (-1: no limit), or less if the loop needs
 * a turn before. Ask after all else that uses the loop, just before the wait. */
static inline int aloft_epoll_timeout(aloft_epoll *adapter, int timeout_ms) {
  aloft_loop_wants wants;
  wants.size = sizeof wants;
  if (!adapter->loop || aloft_loop_get_wants(adapter->loop, &wants) != ALOFT_OK)
    return timeout_ms;
  if (wants.timeout_ms < 0 || (timeout_ms >= 0 && timeout_ms < wants.timeout_ms))
    return timeout_ms;
  return wants.timeout_ms;
}

/* True of the adapter's event: it is not one of yours. */
static inline bool aloft_epoll_owns(const aloft_epoll *adapter, const struct epoll_event *event) {
  return event->data.ptr == adapter;
}

/* Turns the loop if it is due: its event is among the `count` that epoll_wait gave, or its deadline
 * is over. As aloft_loop_turn; ALOFT_OK too when it was not due. */
static inline aloft_status aloft_epoll_turn(aloft_epoll *adapter, const struct epoll_event *events,
                                            int count) {
  aloft_loop_wants wants;
  wants.size = sizeof wants;
  if (!adapter->loop)
    return ALOFT_OK;
  for (int i = 0; i < count; i++)
    if (aloft_epoll_owns(adapter, &events[i]))
      return aloft_loop_turn(adapter->loop, 0);
  aloft_status status = aloft_loop_get_wants(adapter->loop, &wants);
  return status == ALOFT_OK && wants.timeout_ns == 0 ? aloft_loop_turn(adapter->loop, 0) : status;
}

/* Detaches and closes the loop: what is in flight on it completes with ALOFT_CLOSED before this
 * returns. ALOFT_WRONG_STATE: called from a callback of the loop; nothing has happened. */
static inline aloft_status aloft_epoll_close(aloft_epoll *adapter) {
  aloft_loop *loop = adapter->loop;
  aloft_loop_wants wants;
  wants.size = sizeof wants;
  if (loop && aloft_loop_get_wants(loop, &wants) == ALOFT_WRONG_STATE)
    return ALOFT_WRONG_STATE;
  aloft_epoll_detach(adapter);
  aloft_loop_close(loop);
  return ALOFT_OK;
}

#ifdef __cplusplus
}
#endif
#endif
