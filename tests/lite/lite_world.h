/* A lite on a loop, and clients beside it on the same loop: raw ones that send any bytes and write
 * down what comes back as lines of text (tds_transcript.h), and Aloft's own.
 *
 * The engine's wall clock is the world's: it is asked when a statement begins, so that a test can
 * have something happen while the engine is inside one. */
#ifndef LITE_WORLD_H
#define LITE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <aloft/tds.h>

#include "driver_sim.h"
#include "heap.h"
#include "server.h"
#include "stream.h"
#include "tds_request.h"
#include "tds_transcript.h"

#define WORLD_USER     "someone"
#define WORLD_PASSWORD "Sesame77"

typedef struct lite_world lite_world;
struct lite_world {
  aloft_loop *loop;
  alo_driver *driver;
  alo_lite *lite;
  FILE *log;
  char *log_text; /* after fflush(log) */
  size_t log_size;
  char folder[64], path[96];
  uint64_t clock_ns; /* of the engine */
  void (*at_statement)(lite_world *world);
  void *at_statement_context;
};

/* What the loops of worlds to be opened allocate with; NULL: the default. */
extern const aloft_allocator *world_allocator;

typedef enum world_network { WORLD_UV, WORLD_SIM } world_network;

/* `config`: what differs from the default; user, password, address and log are filled in. NULL: an
 * engine in a file of its own. */
void world_open(lite_world *world, world_network network, uint64_t seed,
                const alo_sim_faults *faults, const alo_lite_config *config);
void world_close(lite_world *world);
void world_turn(lite_world *world);
/* Until `*flag`. */
void world_until(lite_world *world, const bool *flag);
alo_lite_counters world_counters(const lite_world *world);
bool world_logged(lite_world *world, const char *text);

/* ---- raw clients ---- */

typedef struct lite_peer {
  lite_world *world;
  alo_stream stream;
  bool connected, ended;
  alo_buffer out;
  alo_tds_writer writer;
  alo_tds_reader *reader;
  tds_transcript seen;
  alo_tds_prelogin prelogin; /* the server's */
  const char *prelogin_wrong;
  bool prelogin_read;
  alo_tds_frames frames;
  alo_buffer prelogin_bytes;
  uint64_t bytes;
} lite_peer;

void peer_open(lite_peer *peer, lite_world *world);
void peer_close(lite_peer *peer);
void peer_send(lite_peer *peer, const void *data, size_t size);
/* What the writer holds goes. */
void peer_flush(lite_peer *peer);
void peer_prelogin(lite_peer *peer, uint8_t encryption);
/* `login` [call]: NULL: the right one. */
void peer_send_login(lite_peer *peer, const alo_tds_login *login);
/* PRELOGIN and LOGIN7, to the end of the answer. */
void peer_login(lite_peer *peer);
void peer_send_batch(lite_peer *peer, const char *sql, uint8_t status);
void peer_attention(lite_peer *peer);
/* At once, past the loop: for use inside a statement. */
void peer_attention_now(lite_peer *peer);
/* Until `ends` messages have come since the last clear. Fails when the connection ends first. */
const char *peer_wait(lite_peer *peer, uint64_t ends);
void peer_wait_end(lite_peer *peer);
/* Sends, waits, and gives the lines of this one answer, until the next call. */
const char *peer_batch(lite_peer *peer, const char *sql);
void peer_clear(lite_peer *peer);

void peer_expect(lite_peer *peer, const char *sql, const char *lines);

/* ---- Aloft's own client ---- */

typedef struct lite_client {
  lite_world *world;
  aloft_tds *tds;
} lite_client;

/* `more`: added to the connection string; may be NULL. */
void client_open(lite_client *client, lite_world *world, const char *more);
void client_close(lite_client *client);
/* Runs the query; its rows as text: columns by '|', rows by ';', NULL as "<null>", result sets by
 * '/', messages as "[number text]" in their place. `*room` is the caller's. */
aloft_status client_run(lite_client *client, aloft_tds_query *query, char *text, size_t room);
aloft_status client_sql(lite_client *client, const char *sql, char *text, size_t room);

#endif
