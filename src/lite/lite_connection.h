/* One connection of lite from the inside:
 *
 *   PRELOGIN -> (HANDSHAKE ->) LOGIN -> IDLE <-> RUNNING -> gone
 *
 * server.c listens; lite_connection.c accepts and takes messages in; encryption.c does TLS; login.c
 * answers PRELOGIN and LOGIN7; request.c begins batches, procedure.c those of RPC; answer.c turns
 * the engine's events into tokens. */
#ifndef ALO_LITE_CONNECTION_H
#define ALO_LITE_CONNECTION_H

#include "prepared.h"
#include "server.h"
#include "stream.h"
#include "tds_request.h"
#include "tds_response.h"
#include "timer.h"

typedef enum {
  ALO_LITE_PRELOGIN,
  ALO_LITE_HANDSHAKE, /* TLS inside PRELOGIN packets */
  ALO_LITE_LOGIN,
  ALO_LITE_IDLE,
  ALO_LITE_RUNNING
} alo_lite_phase;

enum {
  ALO_LITE_REQUEST_MAX = 64 << 20, /* bytes of one message */
  ALO_LITE_LOGIN_MAX = 128 << 10,  /* of one before the login is over */
  ALO_LITE_KEPT_MAX = 1 << 20,     /* a larger buffer is freed when it is empty */
  /* Output beyond which the engine is not stepped, and no request read while none runs. */
  ALO_LITE_TX_HIGH = 256 << 10,
  /* Of each of `out` and `stream.tx`: what is just below that, and then one row of at most
   * ALO_ENGINE_ROW_MAX bytes of UTF-8: 128 MiB as UTF-16, with the headers of packets of 512 bytes
   * and the lengths of 1,024 columns. */
  ALO_LITE_OUT_MAX = 136 << 20
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
  alo_tls *tls;    /* while its handshake is wrapped */
  bool begun;      /* the first byte has been looked at */
  bool tls_first;  /* it began with TLS, as TDS 8.0 has it */
  bool login_only; /* TLS ends with LOGIN7's first packet */
  bool handshaken; /* the stream is to be encrypted from the next byte on */
  alo_session *session;
  aloft_item step; /* queued: the engine is stepped in the completion phase */
  aloft_item bury;
  bool stepping;     /* queued */
  bool waiting;      /* parked on the timer or on output */
  bool full;         /* parked on output: its leaving steps on */
  bool attention;    /* an ATTENTION has come for the running batch */
  bool procedure;    /* the batch came as RPC */
  bool reset_wanted; /* RESETCONNECTION stood in a request's first packet */
  bool reset_keeps;  /* ...SKIPTRAN: the transaction is to stay */
  bool reset_done;   /* the next answer tells of it */
  bool inside;       /* the engine is being stepped */
  bool closing;      /* ends when its output has left */
  bool gone;
  bool doomed;           /* to be dropped as soon as the engine returns */
  bool status_sent;      /* RETURNSTATUS of an RPC */
  int32_t error, status; /* of an RPC: the last error; that of the last statement, or 0 */
  bool done_held;        /* a DONE waits until it is known whether more follows */
  alo_tds_done held;
  alo_tds_type *types; /* of the current result's columns */
  size_t type_count, type_room;
  alo_prepared_table prepared;
  int32_t handle; /* that sp_prepexec has made and the answer must still tell; 0: none */
  aloft_text handle_name;
};

struct alo_lite {
  alo_ops *ops;
  aloft_loop *loop;
  alo_engine *engine;
  alo_watch watch;
  alo_socket *listener;
  alo_timer accept_again;
  uint16_t port;
  alo_lite_connection *connections;
  alo_lite_counters counters;
  uint32_t connections_max;
  uint64_t login_timeout_ns;
  uint16_t next_spid;
  const volatile sig_atomic_t *stopping;
  FILE *log;
  alo_lite_tls tls;
  alo_tls_context *tls_first, *tls_wrapped; /* NULL: off */
  char *user, *password;                    /* with their sizes */
  size_t user_size, password_size;
};

/* lite_connection.c */
/* Takes over those that wait at the listener. When that fails for want of descriptors or memory,
 * it is tried again a little later. */
void alo_lite_accept(alo_lite *lite);
/* Ends at once; its memory goes with the completions. */
void alo_lite_drop(alo_lite_connection *connection);
/* Ends when the output has left. */
void alo_lite_drop_later(alo_lite_connection *connection);
/* So much output waits that no more is to be made. */
bool alo_lite_is_full(const alo_lite_connection *connection);
/* What of the answer is in whole packets goes to the stream. */
void alo_lite_send(alo_lite_connection *connection);
void alo_lite_protocol_error(alo_lite_connection *connection, const char *reason);
void alo_lite_log(alo_lite_connection *connection, const char *what, aloft_text text);

/* encryption.c */
/* `error`: why not. Close in every case. */
aloft_status alo_lite_tls_open(alo_lite *lite, const alo_lite_config *config, char error[256]);
void alo_lite_tls_close(alo_lite *lite);
/* At the first bytes: true when they are TLS, and the stream makes its handshake now. */
bool alo_lite_begins_with_tls(alo_lite_connection *connection);
void alo_lite_handshake_begin(alo_lite_connection *connection, bool login_only);
/* A piece of the wrapped handshake. When it is complete `handshaken` is set, and as soon as the
 * bytes before have been let go of, alo_lite_handshake_done is to be called. */
void alo_lite_handshake(alo_lite_connection *connection, aloft_bytes payload);
void alo_lite_handshake_done(alo_lite_connection *connection);
/* Some payload has been taken in. When the login alone was to be encrypted, what follows the first
 * packet of LOGIN7 is plain: so SqlClient and FreeTDS do it, whose logins fit into that. */
void alo_lite_login_packet(alo_lite_connection *connection);

/* login.c */
void alo_lite_prelogin(alo_lite_connection *connection, aloft_bytes payload);
void alo_lite_login(alo_lite_connection *connection, aloft_bytes payload);

/* request.c */
void alo_lite_request(alo_lite_connection *connection, uint8_t type, aloft_bytes payload);
/* Starts the batch, or answers why not. */
void alo_lite_start(alo_lite_connection *connection, const alo_batch *batch);
/* Unprepares what sp_prepexec has prepared, unless the client has been told of it. */
void alo_lite_forget_handle(alo_lite_connection *connection);
/* UTF-16LE to allocated UTF-8; absent when there is no memory. */
aloft_text alo_lite_decode(aloft_bytes utf16);
void alo_lite_let_go(aloft_text text);

/* procedure.c */
void alo_lite_rpc(alo_lite_connection *connection, aloft_bytes rest);

/* answer.c */
void alo_lite_answer_begin(alo_lite_connection *connection);
/* Queues the next step. */
void alo_lite_step_later(alo_lite_connection *connection);
/* A whole answer of one error and its DONE. */
void alo_lite_answer_error(alo_lite_connection *connection, int32_t number, uint8_t severity,
                           aloft_text text);
/* A whole answer of one DONE with this status. */
void alo_lite_answer_done(alo_lite_connection *connection, uint16_t status);
/* A whole answer of a procedure that runs nothing; with the output parameter `name` unless
 * `handle` is 0. */
void alo_lite_answer_procedure(alo_lite_connection *connection, aloft_text name, int32_t handle);
void alo_lite_put_message(alo_lite_connection *connection, const alo_engine_message *message);

#endif
