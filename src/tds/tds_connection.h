/* The inside of a connection to SQL Server, shared by the files of this folder.
 *
 * tds_connection.c  life: open, fail, close; what the stream tells
 * settings.c        what a connect needs, from the connection string
 * receive.c         bytes from the stream to the reader, and whom they are for
 * encryption.c      TLS: from the settings to a stream that is encrypted
 * login.c           PRELOGIN, LOGIN7 and the answer to it
 * session.c         what ENVCHANGE tells of the session
 * query.c           queries: started, waiting, sent, finished
 * step.c            the answer, step by step
 * values.c          columns and values of the current row
 * attention.c       cancel and timeout: what the wire still owes
 * detail.c          errors with their texts
 * surplus.c         memory given back after a large value or request
 * pool.c            the pool
 *
 * The reader is never moved while someone may look at what it shows: from the moment a query is
 * finished until its `done` has run (`finished`), received bytes only gather. */
#ifndef ALO_TDS_CONNECTION_H
#define ALO_TDS_CONNECTION_H

#include <aloft/tds.h>

#include "connection_string.h"
#include "loop.h"
#include "stream.h"
#include "tds_reader.h"
#include "tds_request.h"
#include "timer.h"

/* Through a volatile pointer, so that it is not left out as without effect. */
static inline void alo_tds_wipe(void *memory, size_t size) {
  volatile uint8_t *bytes = memory;
  while (size--)
    bytes[size] = 0;
}

enum {
  ALO_TDS_PARAMS_MAX = 2100,
  ALO_TDS_NAME_MAX = 384,     /* bytes of a database's or server's name: 128 UTF-16 units */
  ALO_TDS_PRELOGIN_MAX = 4096 /* bytes of the server's PRELOGIN */
};

typedef enum alo_tds_phase {
  ALO_TDS_DIALLING,
  ALO_TDS_SECURING, /* Encrypt=Strict: TLS before anything else */
  ALO_TDS_PRELOGIN_SENT,
  ALO_TDS_HANDSHAKE, /* TLS inside PRELOGIN packets */
  ALO_TDS_LOGIN_SENT,
  ALO_TDS_LOGGED_IN,
  ALO_TDS_DEAD /* `failed` says why; an answer that has arrived whole may still be read */
} alo_tds_phase;

/* What the server still has to say about a query that is gone. */
typedef enum alo_tds_owed {
  ALO_TDS_OWED_NOTHING,
  ALO_TDS_OWED_ANSWER,         /* the end of a message */
  ALO_TDS_OWED_ACKNOWLEDGEMENT /* a DONE with the attention bit, and the end of its message */
} alo_tds_owed;

/* An error with memory for its texts. */
typedef struct alo_tds_detail {
  aloft_error error;
  alo_buffer text;
} alo_tds_detail;

/* What an accessor was asked in vain. */
typedef struct alo_tds_misuse {
  aloft_status status; /* ALOFT_OK: nothing */
  size_t column;
  const char *what;        /* a constant; NULL: the value is of another type, or NULL: */
  const char *type, *base; /* its type; what it holds, if it is a sql_variant */
  const char *asked, *use; /* what was asked for, and the function to call */
  bool null;
} alo_tds_misuse;

/* What sessions are made of, from the settings; NULL: not wanted. */
typedef struct alo_tds_contexts {
  alo_tls_context *all;   /* everything is encrypted */
  alo_tls_context *login; /* Encrypt=Optional: the login alone */
} alo_tds_contexts;

typedef struct alo_tds_login_state {
  size_t size; /* allocated */
  alo_connection_string settings;
  alo_tds_contexts contexts;
  alo_tls *tls; /* while its handshake is wrapped */
  bool login_only;
  alo_tds_frames frames;
  size_t prelogin_size;
  uint8_t prelogin[ALO_TDS_PRELOGIN_MAX];
  bool refused; /* `failure` holds the server's error */
  bool acknowledged;
  size_t texts_size;
  char texts[]; /* of the settings */
} alo_tds_login_state;

struct aloft_tds {
  alo_ops *ops;
  alo_op_kind query_kind, open_kind, close_kind;
  aloft_loop *loop;
  alo_resident resident;
  alo_stream stream;
  alo_tds_reader *reader;
  alo_tds_writer writer; /* into stream.tx */
  size_t passed;         /* bytes at the front of stream.rx that the reader has passed */

  alo_tds_phase phase;
  bool closing;
  aloft_op *opening;  /* the caller's; NULL: none, or done */
  alo_timer deadline; /* of the connect; later of what a cancelled query is owed */
  aloft_item end;     /* frees the connection */
  aloft_status failed;
  alo_tds_detail failure;
  bool parting;               /* `failure` holds what the server said, unasked, before it closes */
  aloft_error unsent;         /* `failure` for queries that had not been written */
  alo_tds_login_state *login; /* until login is over */

  bool login_encrypted;
  uint64_t transaction;     /* the descriptor, 0: none */
  bool json, has_collation; /* the server knows json; it has told its collation: */
  uint8_t collation[5];
  char database[ALO_TDS_NAME_MAX], server_name[ALO_TDS_NAME_MAX];
  size_t database_size, server_name_size;
  uint8_t server_version[4];
  uint32_t spid;

  uint64_t cancel_timeout_ns;
  size_t tx_bytes_max;
  uint32_t queries_max;

  aloft_tds_query *first, *last; /* waiting for their turn */
  uint32_t waiting_count;
  alo_buffer waiting;        /* their messages, each in one unbounded packet */
  aloft_tds_query *active;   /* sent; the answer read is its own */
  aloft_tds_query *finished; /* its done has not run */
  uint32_t sent_packet_size; /* of the active query's message */
  bool sent_reset;           /* the active query's message asks for a reset */
  bool reset;                /* the next query's shall */
  bool stepping;             /* inside step */
  bool in_row;               /* values may be asked for */
  bool in_output;            /* an output parameter's: column 0 of one */
  bool row_begun;            /* the row has been shown, and goes on */
  bool value_open;           /* at a large value that may be read in pieces */
  bool failed_query;         /* `detail` holds the active query's first error */
  alo_tds_owed owed;
  alo_tds_misuse misuse;  /* of the active query: the first */
  alo_tds_detail detail;  /* of the active query; of the finished one until its done has run */
  alo_tds_detail refusal; /* of the last refused start */
  aloft_tds_column *columns;
  uint32_t column_room;
  bool columns_shown; /* `columns` is of the current result set */
  uint32_t columns_told;
  aloft_text output_text;        /* made of the output parameter; absent at first */
  alo_tds_text_rules text_rules; /* code pages, and whether text has to be well-formed */
  uint64_t attentions;
  alo_timer trim;               /* set while much memory is held */
  size_t tx_peak, waiting_peak; /* of stream.tx and `waiting` since it was last due */

  aloft_tds_pool *pool;
  void *slot; /* of the pool */
};

static inline aloft_tds_query *alo_tds_query_of(aloft_op *op) {
  return ALOFT_CONTAINER(op, aloft_tds_query, op);
}

/* By severity, whatever the token: up to 10 it informs. */
static inline bool alo_tds_is_error(const alo_tds_message *message) {
  return message->severity > 10;
}

static inline bool alo_tds_flying(const aloft_tds_query *query) {
  return alo_op_flying(&query->op);
}

/* ---- connection.c ---- */

/* aloft_tds_open, with contexts that a pool's connections share; NULL: its own. */
aloft_status alo_tds_open(aloft_tds **tds, aloft_loop *loop, const aloft_tds_config *config,
                          aloft_op *op, const alo_tds_contexts *contexts);
/* The connection is dead from now on, with this status and text (a constant or NULL), errno or 0;
 * all its operations are finished. The second failure finds nothing to do. */
void alo_tds_connection_fail(aloft_tds *tds, aloft_status status, const char *text, int system);
/* The same with `failure` filled already. */
void alo_tds_connection_fail_filled(aloft_tds *tds, aloft_status status);
/* Login is over: the opening operation completes, and the queries that waited are sent. */
void alo_tds_opened(aloft_tds *tds);
/* aloft_tds_close without an operation, for the pool and the loop too. Idempotent. */
void alo_tds_end(aloft_tds *tds);
/* Gives what is owed, or the connect, a time limit. 0: none any more. */
void alo_tds_deadline(aloft_tds *tds, uint64_t timeout_ns);

/* ---- receive.c ---- */

/* The reader's next event from what has been received. Lets go of the blocks that it has passed,
 * but only when it needs more: until then what it has shown stays. */
alo_tds_event alo_tds_next(aloft_tds *tds);
/* The same for the next piece of a large value. */
alo_tds_event alo_tds_read(aloft_tds *tds, aloft_bytes *piece);
/* Bytes have arrived, or whoever was in their way is gone: gives them to whom they are for. */
void alo_tds_receive(aloft_tds *tds);
/* True when the rest of the message being read has arrived. */
bool alo_tds_answer_arrived(const aloft_tds *tds);
/* The connection fails with what the reader found wrong. */
void alo_tds_broken(aloft_tds *tds);

/* ---- settings.c ---- */

/* Reads the connection string, under the config's own user, password and timeout, and refuses what
 * this build cannot do. Texts are copied to `memory`, alo_tds_settings_room bytes, which is to be
 * wiped after use, also after an error. On an error `detail` says what is wrong. */
size_t alo_tds_settings_room(const aloft_tds_config *config);
aloft_status alo_tds_settings_read(const aloft_tds_config *config, char *memory,
                                   alo_connection_string *settings, alo_tds_detail *detail);

/* ---- encryption.c ---- */

/* From the settings, whose files are read. On an error `detail` says what is wrong. Give in every
 * case. */
aloft_status alo_tds_contexts_open(alo_tds_contexts *contexts, const aloft_allocator *heap,
                                   const alo_connection_string *settings, alo_tds_detail *detail);
alo_tds_contexts alo_tds_contexts_hold(const alo_tds_contexts *contexts);
void alo_tds_contexts_give(alo_tds_contexts *contexts);
/* The stream is connected, and TLS comes before anything else. */
void alo_tds_secure_first(aloft_tds *tds);
/* The server has agreed to TLS, for all or for the login alone: LOGIN7 follows the handshake. */
void alo_tds_handshake_begin(aloft_tds *tds, bool login_only);
void alo_tds_handshake_read(aloft_tds *tds);
/* The stream has ended meanwhile. */
void alo_tds_handshake_ended(aloft_tds *tds);
/* LOGIN7 has left: when it alone was to be encrypted, the rest is plain. */
void alo_tds_login_written(aloft_tds *tds);

/* ---- login.c ---- */

/* Reads the settings and keeps them until login is over; `contexts` are the pool's, NULL: they are
 * made. On an error `failure` says what is wrong. */
aloft_status alo_tds_login_open(aloft_tds *tds, const aloft_tds_config *config,
                                const alo_tds_contexts *contexts);
/* Begins to connect, within the configured time. */
aloft_status alo_tds_login_dial(aloft_tds *tds);
void alo_tds_prelogin_send(aloft_tds *tds);
void alo_tds_prelogin_read(aloft_tds *tds);
/* LOGIN7: whatever was to be encrypted is. */
void alo_tds_login_send(aloft_tds *tds);
void alo_tds_login_read(aloft_tds *tds);
/* Wipes the credentials, also in output that has been written. */
void alo_tds_login_forget(aloft_tds *tds);
/* The same, and releases what login needed. */
void alo_tds_login_close(aloft_tds *tds);
/* The stream has ended during login. */
void alo_tds_login_ended(aloft_tds *tds);

/* ---- session.c ---- */

void alo_tds_session_change(aloft_tds *tds);

/* ---- query.c ---- */
/* Makes the connection's kind of query operations. */
void alo_tds_query_init(aloft_tds *tds);

/* Sends the first waiting query when nothing is in its way. */
void alo_tds_send_next(aloft_tds *tds);
/* Decides a query of this connection, waiting or active. */
void alo_tds_query_finish(aloft_tds *tds, aloft_tds_query *query, aloft_status status,
                          const aloft_error *error);
/* Cancels all its queries. */
void alo_tds_cancel_queries(aloft_tds *tds);
/* Takes a waiting query and its message out of the queue. */
void alo_tds_query_unqueue(aloft_tds *tds, aloft_tds_query *query);
/* The active query has something to read: its `ready` is called, or its rows are skipped. */
void alo_tds_query_readable(aloft_tds *tds);
/* Whether the caller wants to see the values that come back. */
bool alo_tds_query_wants_output(const aloft_tds_query *query);
/* The index in `params` of the one that RETURNVALUE gives this number; `param_count`: there is
 * none. The parameters themselves may be gone. */
size_t alo_tds_query_param(const aloft_tds_query *query, uint16_t ordinal);
/* step has said PENDING: `ready` is called when more has arrived. */
void alo_tds_query_pends(aloft_tds_query *query);
/* True until the caller has been told of what has arrived. */
bool alo_tds_query_untold(const aloft_tds_query *query);

/* ---- step.c ---- */

/* Reads the active query's answer without showing rows, as far as it has arrived. */
void alo_tds_step_over(aloft_tds *tds);

/* ---- values.c ---- */

/* The value of the reader's last RETURN_VALUE is shown, until `in_output` is false again. */
void alo_tds_show_output(aloft_tds *tds);

/* Says in `detail` what was misused. */
void alo_tds_misuse_describe(aloft_tds *tds);

/* ---- attention.c ---- */

/* The `stop` of a query. */
bool alo_tds_query_stop(aloft_op *op, aloft_status why);
/* Finishes a query before its answer has been read: takes it back, or asks the server to stop. */
void alo_tds_query_abandon(aloft_tds *tds, aloft_tds_query *query, aloft_status status,
                           const aloft_error *error);
/* Reads what is owed. */
void alo_tds_drain(aloft_tds *tds);

/* ---- surplus.c ---- */

/* Output has been added to. */
void alo_tds_surplus_note(aloft_tds *tds);
/* Memory may be held that is not needed any more: looks again after a while if it is much. */
void alo_tds_surplus_watch(aloft_tds *tds);

/* ---- detail.c ---- */

void alo_tds_detail_init(alo_tds_detail *detail, const aloft_allocator *heap);
void alo_tds_detail_fini(alo_tds_detail *detail);
/* Without memory for the texts, the status's own text takes their place. */
void alo_tds_detail_message(alo_tds_detail *detail, const alo_tds_message *message);
void alo_tds_detail_format(alo_tds_detail *detail, aloft_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 3, 4)))
#endif
    ;
/* `message` as an error of the public kind; its texts are the message's. */
aloft_error alo_tds_error_of(const alo_tds_message *message);

#endif
