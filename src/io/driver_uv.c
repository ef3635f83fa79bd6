/* The driver on libuv: uv_poll for readiness, our own reads and writes, one timer that only ends a
 * wait, one async for other threads. */
#include "driver.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <uv.h>

#include "heap.h"

typedef struct uv_driver {
  alo_driver driver; /* first */
  aloft_allocator heap;
  uv_loop_t uv;
  uv_timer_t timer;
  uv_async_t async;
  uint64_t armed_until; /* of the timer; UINT64_MAX: not armed */
  bool unsettled;       /* libuv has changes that only its next run gives to the kernel */
} uv_driver;

struct alo_socket {
  uv_driver *driver;
  alo_watch *watch; /* NULL once shut */
  int descriptor;
  unsigned interest;
  uv_poll_t poll;
};

typedef struct uv_lookup {
  uv_driver *driver;
  alo_resolve *resolve; /* NULL once cancelled */
  uv_getaddrinfo_t request;
} uv_lookup;

/* ---- time and waiting ---- */

static uint64_t now(alo_driver *driver) {
  (void)driver;
  return uv_hrtime();
}

/* uv_run looks at its timers before it polls, and would then poll without an end: stopping it makes
 * that poll return at once. */
static void timer_fired(uv_timer_t *timer) {
  uv_driver *self = timer->data;
  self->armed_until = UINT64_MAX;
  uv_stop(&self->uv);
}

static void async_fired(uv_async_t *async) {
  (void)async;
}

/* libuv's timer counts milliseconds of its own cached clock, which is uv_hrtime's rounded down: an
 * absolute time rounded up keeps a wait from ending before the deadline. */
static void arm(uv_driver *self, uint64_t deadline_ns) {
  if (deadline_ns == self->armed_until)
    return;
  self->armed_until = deadline_ns;
  if (deadline_ns == UINT64_MAX) {
    uv_timer_stop(&self->timer);
    return;
  }
  uint64_t until = deadline_ns / 1000000 + (deadline_ns % 1000000 != 0);
  uv_update_time(&self->uv);
  uint64_t present = uv_now(&self->uv);
  uv_timer_start(&self->timer, timer_fired, until > present ? until - present : 0, 0);
}

/* libuv takes a descriptor out of its epoll at once when the interest in it changes, and puts it
 * back, or frees what was closed, when it runs: until then its descriptor may keep silent. */
static void unsettle(uv_driver *self) {
  if (self->unsettled)
    return;
  self->unsettled = true;
  if (self->driver.changed)
    self->driver.changed(self->driver.context);
}

/* What callbacks change during the run counts for the next one. */
static int wait(alo_driver *driver, uint64_t deadline_ns) {
  uv_driver *self = (uv_driver *)driver;
  self->unsettled = false;
  if (deadline_ns == 0) {
    uv_run(&self->uv, UV_RUN_NOWAIT);
    return 0;
  }
  arm(self, deadline_ns);
  uv_run(&self->uv, UV_RUN_ONCE);
  return 0;
}

static void wake(alo_driver *driver) {
  uv_async_send(&((uv_driver *)driver)->async);
}

static int random_bytes(alo_driver *driver, void *into, size_t size) {
  (void)driver;
  return uv_random(NULL, NULL, into, size, 0, NULL);
}

static int descriptor(alo_driver *driver) {
  return uv_backend_fd(&((uv_driver *)driver)->uv);
}

static bool unsettled(const alo_driver *driver) {
  return ((const uv_driver *)driver)->unsettled;
}

/* ---- sockets ---- */

static void poll_fired(uv_poll_t *poll, int status, int events) {
  alo_socket *socket = poll->data;
  if (!socket->watch)
    return;
  unsigned ready = ((events & UV_READABLE) ? (unsigned)ALO_READABLE : 0) |
                   ((events & UV_WRITABLE) ? (unsigned)ALO_WRITABLE : 0);
  if (status < 0) { /* libuv has stopped the poll; the bytes that still wait, and then the error,
                       are read from the socket */
    ready = socket->interest;
    socket->interest = 0;
  }
  socket->watch->ready(socket->watch, ready);
}

static void poll_closed(uv_handle_t *handle) {
  alo_socket *socket = handle->data;
  alo_heap_give(&socket->driver->heap, socket, sizeof *socket);
}

static int adopt(uv_driver *self, int fd, alo_watch *watch, alo_socket **made) {
  alo_socket *socket = alo_heap_take(&self->heap, sizeof *socket);
  if (!socket) {
    close(fd);
    return -ENOMEM;
  }
  socket->driver = self;
  socket->watch = watch;
  socket->descriptor = fd;
  socket->poll.data = socket;
  int error = uv_poll_init(&self->uv, &socket->poll, fd);
  if (error < 0) {
    close(fd);
    alo_heap_give(&self->heap, socket, sizeof *socket);
    return error;
  }
  *made = socket;
  return 0;
}

static socklen_t address_size(const alo_address *address) {
  return address->base.sa_family == AF_INET6 ? sizeof address->in6 : sizeof address->in;
}

static int open_socket(int family) {
  int fd = socket(family, SOCK_STREAM, 0);
  if (fd < 0)
    return -errno;
  int flags = fcntl(fd, F_GETFL);
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || flags < 0 ||
      fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
    int error = -errno;
    close(fd);
    return error;
  }
  return fd;
}

/* All output of a turn leaves at once, so that waiting for more to join it would only delay. */
static void send_at_once(int fd) {
  int on = 1;
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void interest(alo_socket *socket, unsigned events) {
  if (socket->interest == events)
    return;
  socket->interest = events;
  if (events == 0) {
    uv_poll_stop(&socket->poll);
    return;
  }
  unsettle(socket->driver);
  int wanted =
      ((events & ALO_READABLE) ? UV_READABLE : 0) | ((events & ALO_WRITABLE) ? UV_WRITABLE : 0);
  uv_poll_start(&socket->poll, wanted, poll_fired);
}

static int connect_to(alo_driver *driver, const alo_address *to, alo_watch *watch,
                      alo_socket **made) {
  int fd = open_socket(to->base.sa_family);
  if (fd < 0)
    return fd;
  send_at_once(fd);
  if (connect(fd, &to->base, address_size(to)) < 0 && errno != EINPROGRESS) {
    int error = -errno;
    close(fd);
    return error;
  }
  int error = adopt((uv_driver *)driver, fd, watch, made);
  if (error == 0)
    interest(*made, ALO_WRITABLE);
  return error;
}

static int connected(alo_socket *socket) {
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(socket->descriptor, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
    return -errno;
  return -error;
}

static int listen_at(alo_driver *driver, const alo_address *at, alo_watch *watch, alo_socket **made,
                     alo_address *bound) {
  int fd = open_socket(at->base.sa_family);
  if (fd < 0)
    return fd;
  int on = 1;
  socklen_t size = sizeof *bound;
  (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(fd, &at->base, address_size(at)) < 0 || listen(fd, SOMAXCONN) < 0 ||
      getsockname(fd, &bound->base, &size) < 0) {
    int error = -errno;
    close(fd);
    return error;
  }
  int error = adopt((uv_driver *)driver, fd, watch, made);
  if (error == 0)
    interest(*made, ALO_READABLE);
  return error;
}

static int accept_from(alo_socket *listener, alo_watch *watch, alo_socket **made) {
  int fd = accept(listener->descriptor, NULL, NULL);
  if (fd < 0)
    return errno == EWOULDBLOCK ? -EAGAIN : -errno;
  int flags = fcntl(fd, F_GETFL);
  if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || flags < 0 ||
      fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
    int error = -errno;
    close(fd);
    return error;
  }
  send_at_once(fd);
  return adopt(listener->driver, fd, watch, made);
}

static ssize_t read_from(alo_socket *socket, void *into, size_t size) {
  ssize_t got;
  do
    got = recv(socket->descriptor, into, size, 0);
  while (got < 0 && errno == EINTR);
  return got < 0 ? -errno : got;
}

static ssize_t write_to(alo_socket *socket, const void *from, size_t size) {
  ssize_t put;
  do
    put = send(socket->descriptor, from, size, MSG_NOSIGNAL);
  while (put < 0 && errno == EINTR);
  return put < 0 ? -errno : put;
}

static void shut(alo_socket *socket) {
  socket->watch = NULL;
  socket->interest = 0;
  unsettle(socket->driver);
  uv_close((uv_handle_t *)&socket->poll, poll_closed);
  close(socket->descriptor); /* at once: the peer learns of it without another turn */
}

/* ---- name resolution: on libuv's pool of threads ---- */

static void take_addresses(alo_resolve *resolve, const struct addrinfo *info) {
  resolve->count = 0;
  for (; info && resolve->count < resolve->room; info = info->ai_next)
    if (info->ai_family == AF_INET || info->ai_family == AF_INET6)
      memcpy(&resolve->addresses[resolve->count++], info->ai_addr, info->ai_addrlen);
}

static void looked_up(uv_getaddrinfo_t *request, int status, struct addrinfo *info) {
  uv_lookup *lookup = request->data;
  alo_resolve *resolve = lookup->resolve;
  if (resolve) {
    resolve->driver_data = NULL;
    if (status == 0)
      take_addresses(resolve, info);
  }
  uv_freeaddrinfo(info);
  alo_heap_give(&lookup->driver->heap, lookup, sizeof *lookup);
  if (resolve)
    resolve->resolved(resolve, status == 0 && resolve->count == 0 ? -ENOENT : status);
}

static int resolve_name(alo_driver *driver, alo_resolve *resolve, const char *host, uint16_t port) {
  uv_driver *self = (uv_driver *)driver;
  uv_lookup *lookup = alo_heap_take(&self->heap, sizeof *lookup);
  if (!lookup)
    return -ENOMEM;
  char service[8];
  snprintf(service, sizeof service, "%u", (unsigned)port);
  struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
  lookup->driver = self;
  lookup->resolve = resolve;
  lookup->request.data = lookup;
  int error = uv_getaddrinfo(&self->uv, &lookup->request, looked_up, host, service, &hints);
  if (error < 0)
    alo_heap_give(&self->heap, lookup, sizeof *lookup);
  else
    resolve->driver_data = lookup;
  return error;
}

/* The lookup itself may be running on a thread: it ends by itself, and finds nobody. */
static void cancel_resolve(alo_driver *driver, alo_resolve *resolve) {
  (void)driver;
  uv_lookup *lookup = resolve->driver_data;
  if (!lookup)
    return;
  lookup->resolve = NULL;
  resolve->driver_data = NULL;
  uv_cancel((uv_req_t *)&lookup->request);
}

/* ---- open and close ---- */

static void close_driver(alo_driver *driver) {
  uv_driver *self = (uv_driver *)driver;
  aloft_allocator heap = self->heap;
  uv_close((uv_handle_t *)&self->timer, NULL);
  uv_close((uv_handle_t *)&self->async, NULL);
  uv_run(&self->uv, UV_RUN_DEFAULT); /* until lookups and closing sockets are over */
  uv_loop_close(&self->uv);
  alo_heap_give(&heap, self, sizeof *self);
}

static const alo_driver_methods methods = {
    .now = now,
    .wait = wait,
    .wake = wake,
    .close = close_driver,
    .random = random_bytes,
    .descriptor = descriptor,
    .unsettled = unsettled,
    .connect = connect_to,
    .connected = connected,
    .listen = listen_at,
    .accept = accept_from,
    .interest = interest,
    .read = read_from,
    .write = write_to,
    .shut = shut,
    .resolve = resolve_name,
    .resolve_cancel = cancel_resolve,
};

/* libuv makes a pipe for the first loop of a process, behind the epoll, and ends the process when
 * it gets none: that so many descriptors are to be had is seen before. */
static int probe_descriptors(void) {
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  if (epoll < 0)
    return -errno;
  int one = fcntl(epoll, F_DUPFD_CLOEXEC, 0);
  int other = one < 0 ? one : fcntl(epoll, F_DUPFD_CLOEXEC, 0);
  int error = other < 0 ? -errno : 0;
  if (other >= 0)
    close(other);
  if (one >= 0)
    close(one);
  close(epoll);
  return error;
}

alo_driver *alo_driver_uv_open(const aloft_allocator *heap, int *error) {
  uv_driver *self = alo_heap_take(heap, sizeof *self);
  *error = 0;
  if (!self)
    return NULL;
  self->driver.methods = &methods;
  self->heap = *heap;
  self->armed_until = UINT64_MAX;
  self->unsettled = true; /* the async is not in the epoll before the first run */
  *error = probe_descriptors();
  if (*error == 0)
    *error = uv_loop_init(&self->uv);
  if (*error < 0) {
    alo_heap_give(heap, self, sizeof *self);
    return NULL;
  }
  uv_timer_init(&self->uv, &self->timer);
  self->timer.data = self;
  *error = uv_async_init(&self->uv, &self->async, async_fired);
  if (*error < 0) {
    uv_close((uv_handle_t *)&self->timer, NULL);
    uv_run(&self->uv, UV_RUN_DEFAULT);
    uv_loop_close(&self->uv);
    alo_heap_give(heap, self, sizeof *self);
    return NULL;
  }
  return &self->driver;
}
