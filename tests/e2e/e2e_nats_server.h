/* A nats-server of the test's own, on a port of its own. */
#ifndef E2E_NATS_SERVER_H
#define E2E_NATS_SERVER_H

#include "e2e_process.h"

typedef struct e2e_nats_server {
  e2e_process process;
  char folder[64]; /* of its files, removed at the end */
  char url[64];    /* nats://127.0.0.1:PORT */
} e2e_nats_server;

/* Starts one with the text of a configuration file (NULL: none) and waits until it listens. */
void e2e_nats_server_start(e2e_nats_server *server, const char *configuration);

/* Kills it at once, as a crash would. */
void e2e_nats_server_kill(e2e_nats_server *server);

/* Kills it if it still runs, and removes its files. */
void e2e_nats_server_stop(e2e_nats_server *server);

#endif
