/* What the contestants of `aloft bench request` share: a nats-server, one responder in a process of
 * its own, and the programs that there are. */
#ifndef ALO_REQUEST_WORLD_H
#define ALO_REQUEST_WORLD_H

#include "process.h"
#include "program.h"

typedef struct alo_request_world {
  alo_process server, responder;
  bool tls; /* set before open: the server speaks only TLS */
  int certificate_descriptor, key_descriptor;
  char certificate[64], key[64]; /* paths of those, of files without a name */
  char subject[48];
  char client[ALO_PROGRAM_PATH_MAX];   /* aloft-bench-nats */
  char libnats[ALO_PROGRAM_PATH_MAX];  /* "": see no_libnats */
  char syscalls[ALO_PROGRAM_PATH_MAX]; /* aloft-bench-syscalls */
  char heap[ALO_PROGRAM_PATH_MAX];     /* the counter to be preloaded; "": see no_heap */
  char floor[64];                      /* the bare loop, compiled; "": see no_floor */
  int floor_descriptor;
  alo_reason no_libnats, no_heap, no_floor;
} alo_request_world;

/* Finds the programs. False, with the reason: one that is needed is not there. */
bool alo_request_find(alo_request_world *world, alo_reason *why);

/* Starts the server (unless `url` [call] names one), the responder, and compiles the floor when
 * ALOFT_FLOORS names its folder. The server is told to all by NATS_URL in the environment, and its
 * certificate by NATS_CA. */
bool alo_request_open(alo_request_world *world, const char *url, alo_reason *why);

/* Starts a scripted peer in place of a server and responder, for one client, and tells it by
 * NATS_URL. */
bool alo_request_open_peer(const alo_request_world *world, uint32_t round, alo_process *peer,
                           alo_reason *why);

/* Stops what was started. */
void alo_request_close(alo_request_world *world);

#endif
