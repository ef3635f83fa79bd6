#include "driver_sim.h"

#include <errno.h>
#include <string.h>

#include "heap.h"

enum { PIPE_BYTES = 64 << 10, PORT_FIRST = 1024 };

/* Bytes on their way to a socket, in order of arrival. */
typedef struct parcel {
  struct parcel *next;
  uint64_t arrives;
  size_t begin, end;
  uint8_t bytes[];
} parcel;

typedef enum { LISTENING, CONNECTING, CONNECTED } kind;

struct alo_socket {
  alo_socket *next, **back; /* all sockets of the driver */
  struct sim *sim;
  alo_watch *watch;
  kind kind;
  unsigned interest;
  uint16_t port;       /* LISTENING */
  alo_socket *peer;    /* NULL: gone */
  alo_socket *waiting; /* LISTENING: to be accepted */
  alo_socket *next_waiting;
  uint64_t decided_at;  /* CONNECTING: when the answer comes; UINT64_MAX: never */
  int error;            /* of connecting, or -ECONNRESET */
  parcel *first, *last; /* to be read */
  size_t on_its_way;    /* bytes in parcels */
  bool ended;           /* the peer has closed: the end follows the last parcel */
  uint64_t ends_at;
  bool shut;
};

typedef struct sim {
  alo_driver driver; /* first */
  aloft_allocator heap;
  uint64_t now_ns, state;
  alo_sim_faults faults;
  alo_sim_counters counters;
  alo_socket *sockets;
  struct lookup *lookups;
  uint16_t next_port;
  int woken; /* atomic */
} sim;

typedef struct lookup {
  struct lookup *next, **back;
  alo_resolve *resolve;
  uint64_t due;
  bool found;
  uint16_t port;
} lookup;

/* ---- chance ---- */

static uint64_t next_random(sim *self) { /* splitmix64 */
  uint64_t z = (self->state += UINT64_C(0x9E3779B97F4A7C15));
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return z ^ (z >> 31);
}

static bool happens(sim *self, unsigned chance) {
  return chance && next_random(self) % 1000 < chance;
}

static uint64_t up_to(sim *self, uint64_t most) {
  return most ? next_random(self) % (most + 1) : 0;
}

/* 1 to size. */
static size_t part_of(sim *self, size_t size) {
  return 1 + (size_t)(next_random(self) % size);
}

/* ---- sockets ---- */

static sim *of(alo_driver *driver) {
  return (sim *)driver;
}

static alo_socket *make(sim *self, kind what, alo_watch *watch) {
  alo_socket *socket = alo_heap_take(&self->heap, sizeof *socket);
  if (!socket)
    return NULL;
  socket->sim = self;
  socket->kind = what;
  socket->watch = watch;
  socket->next = self->sockets;
  socket->back = &self->sockets;
  if (socket->next)
    socket->next->back = &socket->next;
  self->sockets = socket;
  return socket;
}

static void drop_parcels(alo_socket *socket) {
  while (socket->first) {
    parcel *next = socket->first->next;
    alo_heap_give(&socket->sim->heap, socket->first, sizeof *next + socket->first->end);
    socket->first = next;
  }
  socket->last = NULL;
  socket->on_its_way = 0;
}

/* Its memory goes when no callback can be looking at it: at the next wait. */
static void discard(alo_socket *socket) {
  *socket->back = socket->next;
  if (socket->next)
    socket->next->back = socket->back;
  drop_parcels(socket);
  alo_heap_give(&socket->sim->heap, socket, sizeof *socket);
}

static void break_off(alo_socket *socket) {
  socket->error = -ECONNRESET;
  drop_parcels(socket);
  if (socket->peer) {
    socket->peer->error = -ECONNRESET;
    drop_parcels(socket->peer);
    socket->peer->peer = NULL;
    socket->peer = NULL;
  }
}

static alo_socket *listener_at(sim *self, uint16_t port) {
  for (alo_socket *at = self->sockets; at; at = at->next)
    if (at->kind == LISTENING && at->port == port && !at->shut)
      return at;
  return NULL;
}

static uint16_t port_of(const alo_address *address) {
  const uint8_t *bytes =
      (const uint8_t *)(address->base.sa_family == AF_INET6 ? &address->in6.sin6_port
                                                            : &address->in.sin_port);
  return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static void set_address(alo_address *address, uint16_t port) {
  memset(address, 0, sizeof *address);
  address->in.sin_family = AF_INET;
  const uint8_t host[4] = {127, 0, 0, 1}, bytes[2] = {(uint8_t)(port >> 8), (uint8_t)port};
  memcpy(&address->in.sin_addr, host, sizeof host);
  memcpy(&address->in.sin_port, bytes, sizeof bytes);
}

static int listen_at(alo_driver *driver, const alo_address *at, alo_watch *watch, alo_socket **made,
                     alo_address *bound) {
  sim *self = of(driver);
  uint16_t port = port_of(at);
  if (port == 0)
    port = self->next_port++;
  if (listener_at(self, port))
    return -EADDRINUSE;
  alo_socket *socket = make(self, LISTENING, watch);
  if (!socket)
    return -ENOMEM;
  socket->port = port;
  socket->interest = ALO_READABLE;
  set_address(bound, port);
  *made = socket;
  return 0;
}

static int connect_to(alo_driver *driver, const alo_address *to, alo_watch *watch,
                      alo_socket **made) {
  sim *self = of(driver);
  alo_socket *socket = make(self, CONNECTING, watch);
  if (!socket)
    return -ENOMEM;
  socket->port = port_of(to);
  socket->interest = ALO_WRITABLE;
  socket->decided_at = happens(self, self->faults.silent)
                           ? UINT64_MAX
                           : self->now_ns + up_to(self, self->faults.delay_ns);
  if (happens(self, self->faults.refuse)) {
    socket->error = -ECONNREFUSED;
    self->counters.refused++;
  }
  *made = socket;
  return 0;
}

/* The answer to a connect that is due: the other end lies in the listener's queue from now on. */
static void decide(alo_socket *socket) {
  sim *self = socket->sim;
  alo_socket *listener = listener_at(self, socket->port);
  socket->kind = CONNECTED;
  if (socket->error)
    return;
  alo_socket *peer = listener ? make(self, CONNECTED, NULL) : NULL;
  if (!peer) {
    socket->error = -ECONNREFUSED;
    return;
  }
  peer->peer = socket;
  socket->peer = peer;
  alo_socket **last = &listener->waiting;
  while (*last)
    last = &(*last)->next_waiting;
  *last = peer;
}

static int connected(alo_socket *socket) {
  return socket->error;
}

static int accept_from(alo_socket *listener, alo_watch *watch, alo_socket **made) {
  alo_socket *peer = listener->waiting;
  if (!peer)
    return -EAGAIN;
  listener->waiting = peer->next_waiting;
  peer->watch = watch;
  *made = peer;
  return 0;
}

static void interest(alo_socket *socket, unsigned events) {
  socket->interest = events;
}

static bool arrived(const alo_socket *socket) {
  return socket->first && socket->first->arrives <= socket->sim->now_ns;
}

static ssize_t read_from(alo_socket *socket, void *into, size_t size) {
  sim *self = socket->sim;
  self->counters.reads++;
  if (socket->error)
    return socket->error;
  if (!arrived(socket))
    return socket->ended && !socket->first && socket->ends_at <= self->now_ns ? 0 : -EAGAIN;
  if (size > 1 && happens(self, self->faults.short_read))
    size = part_of(self, size);
  size_t got = 0;
  while (got < size && arrived(socket)) {
    parcel *first = socket->first;
    size_t move = first->end - first->begin;
    if (move > size - got)
      move = size - got;
    memcpy((uint8_t *)into + got, first->bytes + first->begin, move);
    got += move;
    first->begin += move;
    if (first->begin < first->end)
      break;
    socket->first = first->next;
    if (!socket->first)
      socket->last = NULL;
    alo_heap_give(&self->heap, first, sizeof *first + first->end);
  }
  socket->on_its_way -= got;
  return (ssize_t)got;
}

/* Bytes never overtake those sent before them. */
static bool post_parcel(alo_socket *to, const void *from, size_t size) {
  sim *self = to->sim;
  parcel *made = alo_heap_take_raw(&self->heap, sizeof *made + size);
  if (!made)
    return false;
  made->next = NULL;
  made->begin = 0;
  made->end = size;
  made->arrives = self->now_ns + up_to(self, self->faults.delay_ns);
  if (to->last && made->arrives < to->last->arrives)
    made->arrives = to->last->arrives;
  memcpy(made->bytes, from, size);
  if (to->last)
    to->last->next = made;
  else
    to->first = made;
  to->last = made;
  to->on_its_way += size;
  return true;
}

static ssize_t write_to(alo_socket *socket, const void *from, size_t size) {
  sim *self = socket->sim;
  self->counters.writes++;
  if (socket->error)
    return socket->error;
  if (!socket->peer)
    return -EPIPE;
  if (happens(self, self->faults.reset)) {
    self->counters.resets++;
    break_off(socket);
    return -ECONNRESET;
  }
  if (socket->peer->on_its_way >= PIPE_BYTES || happens(self, self->faults.full))
    return -EAGAIN;
  if (size > PIPE_BYTES)
    size = PIPE_BYTES;
  if (size > 1 && happens(self, self->faults.split_write))
    size = part_of(self, size);
  if (!post_parcel(socket->peer, from, size))
    return -ENOBUFS;
  self->counters.bytes += size;
  return (ssize_t)size;
}

static void hang_up(alo_socket *peer) {
  sim *self = peer->sim;
  peer->ended = true;
  peer->ends_at = self->now_ns + up_to(self, self->faults.delay_ns);
  if (peer->last && peer->ends_at < peer->last->arrives)
    peer->ends_at = peer->last->arrives;
  peer->peer = NULL;
}

static void shut(alo_socket *socket) {
  socket->watch = NULL;
  socket->interest = 0;
  socket->shut = true;
  for (alo_socket *at = socket->waiting; at; at = at->next_waiting) {
    at->shut = true;
    break_off(at);
  }
  socket->waiting = NULL;
  if (socket->peer)
    hang_up(socket->peer);
  socket->peer = NULL;
}

/* ---- names ---- */

static int resolve_name(alo_driver *driver, alo_resolve *resolve, const char *host, uint16_t port) {
  sim *self = of(driver);
  lookup *made = alo_heap_take(&self->heap, sizeof *made);
  if (!made)
    return -ENOMEM;
  *made = (lookup){.next = self->lookups,
                   .back = &self->lookups,
                   .resolve = resolve,
                   .due = self->now_ns + up_to(self, self->faults.resolve_ns),
                   .found = strncmp(host, "missing", 7) != 0,
                   .port = port};
  if (made->next)
    made->next->back = &made->next;
  self->lookups = made;
  resolve->driver_data = made;
  return 0;
}

static void end_lookup(sim *self, lookup *at) {
  *at->back = at->next;
  if (at->next)
    at->next->back = at->back;
  at->resolve->driver_data = NULL;
  alo_heap_give(&self->heap, at, sizeof *at);
}

static void resolve_cancel(alo_driver *driver, alo_resolve *resolve) {
  if (resolve->driver_data)
    end_lookup(of(driver), resolve->driver_data);
}

static bool answer_lookup(sim *self) {
  for (lookup *at = self->lookups; at; at = at->next) {
    if (at->due > self->now_ns)
      continue;
    alo_resolve *resolve = at->resolve;
    bool found = at->found;
    if (found) {
      set_address(&resolve->addresses[0], at->port);
      resolve->count = 1;
    }
    end_lookup(self, at);
    resolve->resolved(resolve, found ? 0 : -ENOENT);
    return true;
  }
  return false;
}

/* ---- waiting ---- */

static unsigned readiness(alo_socket *socket) {
  uint64_t now = socket->sim->now_ns;
  switch (socket->kind) {
  case LISTENING:
    return socket->waiting ? ALO_READABLE : 0;
  case CONNECTING:
    if (socket->decided_at > now)
      return 0;
    decide(socket);
    return ALO_WRITABLE;
  case CONNECTED:
    break;
  }
  if (socket->error)
    return ALO_READABLE | ALO_WRITABLE;
  bool readable = arrived(socket) || (socket->ended && !socket->first && socket->ends_at <= now);
  bool writable = !socket->peer || socket->peer->on_its_way < PIPE_BYTES;
  return (readable ? (unsigned)ALO_READABLE : 0) | (writable ? (unsigned)ALO_WRITABLE : 0);
}

/* When something will happen to a socket by itself. */
static uint64_t next_at(const alo_socket *socket) {
  if (socket->kind == CONNECTING)
    return socket->decided_at;
  if (socket->first)
    return socket->first->arrives;
  return socket->ended ? socket->ends_at : UINT64_MAX;
}

static uint64_t next_event(const sim *self) {
  uint64_t next = UINT64_MAX;
  for (const alo_socket *at = self->sockets; at; at = at->next)
    if ((at->interest & ALO_READABLE || at->kind == CONNECTING) && next_at(at) < next)
      next = next_at(at);
  for (const lookup *at = self->lookups; at; at = at->next)
    if (at->due < next)
      next = at->due;
  return next;
}

static void sweep(sim *self) {
  for (alo_socket *at = self->sockets, *next; at; at = next) {
    next = at->next;
    if (at->shut && !at->peer)
      discard(at);
  }
}

/* Sockets made by a callback come to the list's front and wait for the next call. */
static bool call_ready(sim *self) {
  bool any = false;
  for (alo_socket *at = self->sockets; at; at = at->next) {
    unsigned ready = readiness(at) & at->interest;
    if (!ready || !at->watch)
      continue;
    any = true;
    at->watch->ready(at->watch, ready);
  }
  while (answer_lookup(self))
    any = true;
  return any;
}

static int wait(alo_driver *driver, uint64_t deadline_ns) {
  sim *self = of(driver);
  sweep(self);
  bool woken = __atomic_exchange_n(&self->woken, 0, __ATOMIC_ACQUIRE);
  if (call_ready(self) || woken || deadline_ns <= self->now_ns)
    return 0;
  uint64_t next = next_event(self);
  if (deadline_ns < next)
    next = deadline_ns;
  if (next == UINT64_MAX)
    return -EDEADLK;
  if (next > self->now_ns)
    self->now_ns = next;
  call_ready(self);
  return 0;
}

static void wake(alo_driver *driver) {
  __atomic_store_n(&of(driver)->woken, 1, __ATOMIC_RELEASE);
}

static uint64_t now(alo_driver *driver) {
  return of(driver)->now_ns;
}

static int descriptor(alo_driver *driver) {
  (void)driver;
  return -1;
}

static bool unsettled(const alo_driver *driver) {
  (void)driver;
  return false;
}

static int random_bytes(alo_driver *driver, void *into, size_t size) {
  for (size_t i = 0; i < size; i++)
    ((uint8_t *)into)[i] = (uint8_t)(next_random(of(driver)) >> 32);
  return 0;
}

static void close_driver(alo_driver *driver) {
  sim *self = of(driver);
  while (self->sockets)
    discard(self->sockets);
  while (self->lookups)
    end_lookup(self, self->lookups);
  aloft_allocator heap = self->heap;
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
    .resolve_cancel = resolve_cancel,
};

alo_driver *alo_driver_sim_open(const aloft_allocator *heap, uint64_t seed,
                                const alo_sim_faults *faults) {
  sim *self = alo_heap_take(heap, sizeof *self);
  if (!self)
    return NULL;
  self->driver.methods = &methods;
  self->heap = *heap;
  self->state = seed;
  self->now_ns = UINT64_C(1000000000);
  self->next_port = PORT_FIRST;
  if (faults)
    self->faults = *faults;
  return &self->driver;
}

void alo_sim_set_faults(alo_driver *driver, const alo_sim_faults *faults) {
  of(driver)->faults = *faults;
}

void alo_sim_pass(alo_driver *driver, uint64_t ns) {
  of(driver)->now_ns += ns;
}

size_t alo_sim_arrived(const alo_socket *socket) {
  size_t size = 0;
  for (const parcel *at = socket->first; at && at->arrives <= socket->sim->now_ns; at = at->next)
    size += at->end - at->begin;
  return socket->error ? 0 : size;
}

alo_sim_counters alo_sim_get_counters(const alo_driver *driver) {
  return ((const sim *)driver)->counters;
}

uint64_t alo_sim_random(alo_driver *driver) {
  return next_random(of(driver));
}
