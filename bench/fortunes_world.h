/* What the contestants of `aloft bench fortunes` share: a server with the table, and the programs
 * that there are. */
#ifndef ALO_FORTUNES_WORLD_H
#define ALO_FORTUNES_WORLD_H

#include "process.h"
#include "program.h"

typedef enum alo_fortunes_server {
  ALO_FORTUNES_LITE,   /* an `aloft lite` of its own */
  ALO_FORTUNES_CANNED, /* a responder that says the same to every query */
  ALO_FORTUNES_GIVEN   /* somebody's, by its connection string */
} alo_fortunes_server;

typedef struct alo_fortunes_world {
  alo_process server;
  alo_fortunes_server kind;
  bool table_created;                /* to be dropped */
  char port[16];                     /* of a server of its own, on 127.0.0.1 */
  char client[ALO_PROGRAM_PATH_MAX]; /* aloft-bench-tds */
  char dblib[ALO_PROGRAM_PATH_MAX];  /* "": see no_dblib */
  char heap[ALO_PROGRAM_PATH_MAX];   /* the counter to be preloaded; "": see no_heap */
  char floor[64];                    /* the bare loop, compiled; "": see no_floor */
  char certificate[64];              /* of lite; "": none */
  int floor_descriptor, certificate_descriptor;
  alo_reason no_dblib, no_heap, no_floor;
} alo_fortunes_world;

/* Finds the programs. False, with the reason: one that is needed is not there. */
bool alo_fortunes_find(alo_fortunes_world *world, alo_reason *why);

/* Starts the server, unless `given` [call], a connection string, names one, and sees to the table.
 * `tls`: all of lite's traffic is encrypted, and its certificate trusted by file. The connection
 * string is told to all by ALOFT_BENCH_TDS in the environment. */
bool alo_fortunes_open(alo_fortunes_world *world, alo_fortunes_server kind, const char *given,
                       bool tls, alo_reason *why);

/* Drops the table if it was created here. False, with the reason: it could not be. */
bool alo_fortunes_close(alo_fortunes_world *world, alo_reason *why);

#endif
