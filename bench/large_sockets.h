/* Clients that read a large value from a socket, each a process of its own, against each other. */
#ifndef ALO_LARGE_SOCKETS_H
#define ALO_LARGE_SOCKETS_H

#include "count.h"
#include "statistics.h"

enum { ALO_LARGE_SOCKET_PACKET = 4096 };

typedef enum alo_large_client {
  ALO_LARGE_WHOLE,
  ALO_LARGE_PIECES,
  ALO_LARGE_DBLIB,
  ALO_LARGE_CLIENTS
} alo_large_client;
extern const char *const alo_large_clients[ALO_LARGE_CLIENTS];

/* Of one client: for one value, a sample for each round. */
typedef struct alo_large_figures {
  double ns[ALO_SAMPLES_MAX], cpu_ns[ALO_SAMPLES_MAX];
  double peak; /* most memory of the process, bytes */
} alo_large_figures;

/* False: aloft-bench-large-dblib was not built. */
bool alo_large_has_dblib(void);

/* A responder sends the value, and the clients take turns. Where db-lib is not there its figures
 * stay zero. False: why not. */
bool alo_large_over_sockets(bool text, unsigned mib, size_t rounds,
                            alo_large_figures figures[ALO_LARGE_CLIENTS], alo_reason *why);

#endif
