/* Clients that read rows from a socket, each a process of its own, against each other. */
#ifndef ALO_ROWS_CLIENTS_H
#define ALO_ROWS_CLIENTS_H

#include <stdint.h>

#include "count.h"
#include "statistics.h"

typedef enum alo_rows_client {
  ALO_ROWS_ALOFT,
  ALO_ROWS_DBLIB,
  ALO_ROWS_TEDIOUS,
  ALO_ROWS_CLIENTS
} alo_rows_client;
extern const char *const alo_rows_clients[ALO_ROWS_CLIENTS];

/* Of one client: for one row, a sample for each round. */
typedef struct alo_rows_figures {
  size_t rounds;
  double ns[ALO_SAMPLES_MAX], cpu_ns[ALO_SAMPLES_MAX];
} alo_rows_figures;

/* NULL when it can run here, or why it cannot. */
const char *alo_rows_missing(alo_rows_client client);

/* A responder sends `rows` rows, up to 10,000 or a multiple of it, and the clients that there are
 * take turns. False: why not. */
bool alo_rows_over_sockets(unsigned columns, uint64_t rows, size_t rounds,
                           alo_rows_figures figures[ALO_ROWS_CLIENTS], alo_reason *why);

#endif
