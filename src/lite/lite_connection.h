/* One connection of lite from the inside:
 *
 *   PRELOGIN -> LOGIN -> IDLE <-> RUNNING -> gone
 *
 * server.c accepts; lite_connection.c takes messages in; login.c answers the first two; request.c begins
 * batches; answer.c turns the engine's events into tokens. */
#ifndef ALO_LITE_CONNECTION_H
#define ALO_LITE_CONNECTION_H

#include "server.h"
#include "stream.h"
#include "tds_request.h"
#include "tds_response.h"
#include "timer.h"

typedef enum { ALO_LITE_PRELOGIN, ALO_LITE_LOGIN, ALO_LITE_IDLE, ALO_LITE_RUNNING } alo_lite_phase;

enum {
  ALO_LITE_REQUEST_MAX = 64 << 20, /* bytes of one message */
  ALO_LITE_TX_HIGH = 256 << 10     /* output beyond which the engine is not stepped */
};

typedef struct alo_lite_connection alo_lite_connection;
struct alo_lite_connection {
  alo_lite *lite;
  alo_lite_connection *next, **back;
  alo_stream stream;
  alo_timer timer; /* login's deadline, then WAITFOR and a busy database */
  alo_lite_phase phase;
  uint16_t spid;
  alo_tds_frames frames;
  alo_buffer message; /* the request being collected */
  alo_buffer out;     /* the answer being written */
  alo_tds_writer writer;
  uint32_t packet_size;
  alo_session *session;
  aloft_item step; /* queued: the engine is stepped in the completion phase */
  aloft_item bury;
  bool stepping, waiting; /* queued; or parked on the timer or on output */
  bool attention;         /* an ATTENTION has come for the running batch */
  bool procedure;         /* the batch came as RPC */
  bool some;              /* the answer holds something */
  bool reset_wanted;      /* RESETCONNECTION stood in the request's first packet */
  bool inside;            /* the engine is being stepped */
  bool closing;           /* ends when its output has left */
  bool gone;
  bool doomed;      /* to be dropped as soon as the engine returns */
  bool status_sent; /* RETURNSTATUS of an RPC */
  bool done_held;   /* a DONE waits until it is known whether more follows */
  alo_tds_done held;
  alo_tds_type *types; /* of the current result's columns */
  size_t type_count, type_room;
};

struct alo_lite {
  alo_owner owner; /* of timers; first */
  aloft_loop *loop;
  alo_engine *engine;
  alo_watch watch;
  alo_socket *listener;
  uint16_t port;
  alo_lite_connection *connections;
  alo_lite_counters counters;
  uint32_t connections_max;
  uint64_t login_timeout_ns;
  uint16_t next_spid;
  FILE *log;
  char *user, *password; /* with their sizes */
  size_t user_size, password_size;
};

/* lite_connection.c */
void alo_lite_accept(alo_lite *lite);
/* Ends at once; its memory goes with the completions. */
void alo_lite_drop(alo_lite_connection *connection);
/* Ends when the output has left. */
void alo_lite_drop_later(alo_lite_connection *connection);
/* What of the answer is in whole packets goes to the stream. */
void alo_lite_send(alo_lite_connection *connection);
void alo_lite_protocol_error(alo_lite_connection *connection, const char *reason);
void alo_lite_log(alo_lite_connection *connection, const char *what, aloft_text text);

/* login.c */
void alo_lite_prelogin(alo_lite_connection *connection, aloft_bytes payload);
void alo_lite_login(alo_lite_connection *connection, aloft_bytes payload);

/* request.c */
void alo_lite_request(alo_lite_connection *connection, uint8_t type, aloft_bytes payload);

/* answer.c */
void alo_lite_answer_begin(alo_lite_connection *connection);
/* Queues the next step. */
void alo_lite_go_on(alo_lite_connection *connection);
/* A whole answer of one error and its DONE. */
void alo_lite_answer_error(alo_lite_connection *connection, int32_t number, uint8_t severity,
                           aloft_text text);
/* A whole answer of one DONE with this status. */
void alo_lite_answer_done(alo_lite_connection *connection, uint16_t status);
void alo_lite_put_message(alo_lite_connection *connection, const alo_engine_message *message);

#endif
