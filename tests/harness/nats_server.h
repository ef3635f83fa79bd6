/* A real nats-server for tests: on an ephemeral port of 127.0.0.1, its files in a directory of its
 * own, ended by its process id. ALOFT_TEST_NATS names another program than "nats-server". */
#ifndef NATS_SERVER_H
#define NATS_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct nats_server {
  pid_t pid;
  uint16_t port;
  char url[64];
  char folder[64];
} nats_server;

/* Starts one with up to 8 more arguments (NULL-terminated; may be NULL) and a configuration file's
 * text (may be NULL), and waits until it listens. False: there is none to be had, or it does not
 * start; a test then skips. */
bool nats_server_start(nats_server *server, const char *const *arguments, const char *config);
/* Ends it (SIGKILL), waits for it, and removes its files. */
void nats_server_stop(nats_server *server);

#endif
