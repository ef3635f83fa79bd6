/* What a loop needs of the world: a clock, a wait, sockets, name resolution. Two drivers: uv
 * (libuv) for real, sim (virtual time, seeded faults) for tests. Nothing above src/io sees this.
 *
 * Errors are negative errno values. Callbacks run inside `wait` only. */
#ifndef ALO_DRIVER_H
#define ALO_DRIVER_H

#include <aloft/status.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/types.h>

typedef struct alo_driver alo_driver;
typedef struct alo_socket alo_socket; /* of the driver; begins with nothing known */

typedef union alo_address {
  struct sockaddr base;
  struct sockaddr_in in;
  struct sockaddr_in6 in6;
} alo_address;

enum { ALO_READABLE = 1, ALO_WRITABLE = 2 };

/* Told of a socket's readiness; level-triggered. */
typedef struct alo_watch {
  void (*ready)(struct alo_watch *watch, unsigned events);
} alo_watch;

/* One name resolution. The owner's struct must live until `resolved` or cancel. */
typedef struct alo_resolve alo_resolve;
struct alo_resolve {
  void (*resolved)(alo_resolve *resolve, int result); /* 0 or negative: not found */
  alo_address *addresses;                             /* room given by the owner */
  unsigned room, count;
  void *driver_data;
};

typedef struct alo_driver_methods {
  uint64_t (*now)(alo_driver *driver);
  /* Waits for something to happen, at most until `deadline_ns` (0: does not wait), and calls the
   * watches. */
  int (*wait)(alo_driver *driver, uint64_t deadline_ns);
  /* Ends a wait, the present or the next. From any thread and from a signal handler. */
  void (*wake)(alo_driver *driver);
  void (*close)(alo_driver *driver);
  /* Unpredictable bytes (the sim's are seeded). 0 or negative. */
  int (*random)(alo_driver *driver, void *into, size_t size);
  /* A descriptor that is readable when wait(0) has something to do; -1: none. */
  int (*descriptor)(alo_driver *driver);
  /* True when wait(0) has something to do that the descriptor does not show: changes that have not
   * reached the kernel yet. */
  bool (*unsettled)(const alo_driver *driver);

  /* Begins to connect: writable when it is decided, see `connected`. */
  int (*connect)(alo_driver *driver, const alo_address *to, alo_watch *watch, alo_socket **made);
  int (*connected)(alo_socket *socket); /* 0 or why not */
  /* `bound`: the address with its real port. Readable when one can be accepted. */
  int (*listen)(alo_driver *driver, const alo_address *at, alo_watch *watch, alo_socket **made,
                alo_address *bound);
  /* -EAGAIN: none waits. */
  int (*accept)(alo_socket *listener, alo_watch *watch, alo_socket **made);
  void (*interest)(alo_socket *socket, unsigned events);
  ssize_t (*read)(alo_socket *socket, void *into, size_t size); /* 0: the end */
  ssize_t (*write)(alo_socket *socket, const void *from, size_t size);
  void (*shut)(alo_socket *socket); /* closes it; no callback any more */

  /* Numeric addresses are answered at once by the caller. Negative: not begun. */
  int (*resolve)(alo_driver *driver, alo_resolve *resolve, const char *host, uint16_t port);
  void (*resolve_cancel)(alo_driver *driver, alo_resolve *resolve); /* no callback any more */
} alo_driver_methods;

struct alo_driver {
  const alo_driver_methods *methods;
  /* Called when the driver becomes unsettled; may be NULL. Set by the loop. */
  void (*changed)(void *context);
  void *context;
};

/* A driver on libuv. NULL: `*error` says why. */
alo_driver *alo_driver_uv_open(const aloft_allocator *heap, int *error);

#endif
