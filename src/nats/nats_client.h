/* The NATS client from the inside. One connection's life:
 *
 *   DIALLING -> GREETING (INFO awaited) -> LOGIN (PONG awaited) -> READY -> CLOSING -> gone
 *        any of them -> DEAD (failed; waits for close)
 *
 * With TLS, SECURING (its handshake) comes between GREETING and LOGIN, or with tls_first before
 * GREETING.
 *
 * A close before READY with publications held waits for READY first: `leaving` says so in any
 * phase.
 *
 * What is sent before READY is held as records, for the server's limits are not known until INFO.
 * nats_open.c opens and closes; nats_link.c is the wire, nats_encryption.c its TLS; nats_publish.c
 * and nats_subscribe.c are the operations; nats_deliver.c shows messages. */
#ifndef ALO_NATS_CLIENT_H
#define ALO_NATS_CLIENT_H

#include <aloft/nats.h>

#include "inflight.h"
#include "nats_encoder.h"
#include "nats_parser.h"
#include "stream.h"
#include "timer.h"

typedef enum {
  ALO_NATS_PHASE_DIALLING,
  ALO_NATS_PHASE_SECURING,
  ALO_NATS_PHASE_GREETING,
  ALO_NATS_PHASE_LOGIN,
  ALO_NATS_PHASE_READY,
  ALO_NATS_PHASE_CLOSING,
  ALO_NATS_PHASE_DEAD
} alo_nats_phase;

enum {
  ALO_NATS_INBOX_SID = 1,
  ALO_NATS_SID_FIRST = 2, /* a subscription's sid is its key in the table, and this */
  ALO_NATS_PREFIX_MAX = 256,
  ALO_NATS_INBOX_ID = 10, /* digits of 6 random bits; each costs in every request and reply */
  ALO_NATS_ERROR_MAX = 512,
  ALO_NATS_TX_SLACK = 64 << 10 /* of output beyond tx_bytes_max: half of it for flush and UNSUB, the
                                  rest for PING, PONG and CONNECT */
};

/* A message on its way to its callback, in the completion queue. */
typedef struct alo_nats_delivery alo_nats_delivery;
struct alo_nats_delivery {
  aloft_item item;
  aloft_nats *nats;
  alo_nats_delivery *next_free;
  aloft_nats_subscription *subscription;
  aloft_nats_message message;
};

/* Deliveries are made as many at a time: the first with the first subscription, so that as many
 * messages may wait together without a heap call. */
enum { ALO_NATS_SLAB = 96 };
typedef struct alo_nats_slab alo_nats_slab;
struct alo_nats_slab {
  alo_nats_slab *next;
  alo_nats_delivery deliveries[ALO_NATS_SLAB];
};

/* An event on its way to its callback, in the completion queue. */
typedef struct alo_nats_notice {
  aloft_item item;
  aloft_nats *nats;
  aloft_nats_event event;
  bool failed;   /* the event has an error */
  bool embedded; /* in the connection, not of the heap */
  aloft_error error;
  char text[ALO_NATS_ERROR_MAX / 2];
} alo_nats_notice;

/* What happens once in a connection's life is told whatever the memory: connected, lame duck,
 * disconnected. */
enum { ALO_NATS_MOMENTS = 3 };

/* Flush operations in the order of their PINGs. While one flies, item.next links them, own.slot
 * is the number of its PING (32 bits of it), and own.spare the stream's offset after it (0: held).
 */
typedef struct alo_nats_flushes {
  aloft_op *first, *last;
} alo_nats_flushes;

struct aloft_nats {
  alo_ops *ops;
  alo_op_kind request_kind, subscription_kind, flush_kind, opening_kind, closing_kind;
  alo_resident resident;
  aloft_loop *loop;
  alo_nats_phase phase;
  alo_stream stream;
  alo_nats_parser parser;
  char *host; /* NUL-terminated, host_room bytes */
  size_t host_room;
  uint16_t port;
  alo_buffer hello; /* the CONNECT line, holding credentials until it is sent */
  alo_buffer held;  /* records accepted before READY */

  /* from the configuration */
  uint64_t connect_timeout_ns, ping_interval_ns;
  uint32_t pings_out_max, deliveries_max;
  size_t kept_bytes_max, tx_bytes_max;
  void (*event)(aloft_nats *, aloft_nats_event, const aloft_error *, void *);
  void *context;

  /* from INFO */
  uint64_t max_payload;
  bool server_headers, lame_duck;
  bool leaving;
  bool inbox_subscribed;
  bool input_held;   /* counted in the loop's inputs_held */
  alo_buffer server; /* its name, version and id, one after the other */
  size_t server_sizes[3];

  alo_timer timer; /* the connect's deadline, then the interval of PINGs, then close's deadline */
  aloft_op *opening, *closing;
  uint64_t pings, pongs;      /* sent, received */
  uint64_t held_pings;        /* of flushes before READY */
  uint32_t held_publications; /* before READY */
  uint32_t pings_out;         /* by the interval, since the last PONG */
  alo_nats_flushes flushes;

  alo_inflight requests, subscriptions;
  char inbox[ALO_NATS_PREFIX_MAX + 1 + ALO_NATS_INBOX_ID + 1 + ALO_INFLIGHT_TOKEN_SIZE];
  size_t inbox_size; /* without the token */

  alo_nats_delivery *free_deliveries;
  alo_nats_slab *slabs;
  uint32_t notices;         /* queued */
  uint32_t deliveries;      /* queued */
  uint32_t deliveries_peak; /* since the last look at what can be given back */
  uint32_t unsubs_missed;   /* there was no room for them */
  size_t kept_bytes;
  aloft_nats_kept *kept;

  aloft_item bury;          /* frees the connection, behind everything queued before */
  aloft_error failure;      /* why it is dead */
  aloft_error lost, unsent; /* the same for operations */
  bool died_unsent;         /* output was left when it died */
  aloft_error refusal;
  aloft_error inbox_refused; /* the server's words */
  char failure_text[ALO_NATS_ERROR_MAX];
  char refusal_text[ALO_NATS_ERROR_MAX];
  char inbox_refused_text[ALO_NATS_ERROR_MAX / 2];
  alo_nats_notice moments[ALO_NATS_MOMENTS];

  alo_tls_context *tls; /* until the handshake begins; NULL: not asked for by the configuration */
  bool tls_required, tls_first;
  aloft_text tls_name; /* in the memory of `host`; absent: the host's */

  uint64_t messages_in, messages_out, bytes_in, bytes_out, replies_unmatched;
  uint64_t messages_unmatched, headers_malformed, publications_dropped, events_dropped;
};

/* ---- nats_open.c ---- */
/* The end of CLOSING: shuts the stream, completes `closing` with the status, frees. */
void alo_nats_closed(aloft_nats *nats, aloft_status status, const aloft_error *error);
/* READY and leaving: CLOSING begins. */
void alo_nats_leave(aloft_nats *nats);

/* ---- nats_link.c ---- */
void alo_nats_stream_event(alo_stream *stream, alo_stream_event event);
void alo_nats_dialled_too_long(alo_timer *timer);
/* Goes on with what has been received (after deliveries have made room). */
void alo_nats_read_on(aloft_nats *nats);
/* Kills the connection: everything in flight completes. `message` may be formatted. */
void alo_nats_fail(aloft_nats *nats, aloft_status status, int system, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Completes everything in flight but `opening` and `closing`: ALOFT_CLOSED, or what `lost` says. */
void alo_nats_finish_all(aloft_nats *nats, bool closed);
void alo_nats_ping(aloft_nats *nats);
/* Says that received bytes wait for callbacks, or no longer do. */
void alo_nats_hold_input(aloft_nats *nats, bool held);

/* INFO and the handshake are there: CONNECT follows. */
void alo_nats_log_in(aloft_nats *nats);

/* ---- nats_encryption.c ---- */
/* What the configuration asks for; its files are read at once. `why`: of a refusal, "" when there
 * is nothing to say. */
aloft_status alo_nats_encryption_init(aloft_nats *nats, const aloft_nats_config *config,
                                      bool tls_url, char why[ALO_TLS_FAILURE_MAX]);
/* Begins the handshake: SECURING. */
void alo_nats_secure(aloft_nats *nats);
/* Begins it when the server or the configuration asks for it, and otherwise logs in. */
void alo_nats_agree(aloft_nats *nats, bool server_requires, bool server_offers);
/* It is complete. */
void alo_nats_secured(aloft_nats *nats);
/* SECURING has ended with the stream. */
void alo_nats_securing_ended(aloft_nats *nats);

/* ---- nats_publish.c ---- */
/* Their kinds of operations. */
void alo_nats_publish_init(aloft_nats *nats);
/* Refuses with a text of its own. */
aloft_status alo_nats_refuse(aloft_nats *nats, aloft_op *op, aloft_status status,
                             const char *format, ...) __attribute__((format(printf, 4, 5)));
/* ALOFT_OK when something may be sent or held now; otherwise refuses `op` (may be NULL). */
aloft_status alo_nats_usable(aloft_nats *nats, aloft_op *op);

typedef enum {
  ALO_NATS_HELD_PUB,
  ALO_NATS_HELD_REQUEST,
  ALO_NATS_HELD_FLUSH,
  ALO_NATS_HELD_SUB,
  ALO_NATS_HELD_OTHER /* UNSUB, and SUB for the inbox */
} alo_nats_held_kind;
/* Room for one protocol message: in the output, or as a held record. Nothing is sent until commit.
 * NULL: `*status`. What is needed to wait for room, or to get it (flush, UNSUB), has some left
 * beyond tx_bytes_max. */
typedef struct alo_nats_record {
  uint32_t size, payload;
  alo_nats_held_kind kind;
  bool headers;
  uint64_t key;
} alo_nats_record;
uint8_t *alo_nats_reserve(aloft_nats *nats, const alo_nats_record *record, aloft_status *status);
/* Returns the stream offset after it; 0 while held. */
uint64_t alo_nats_commit(aloft_nats *nats, const alo_nats_record *record);
/* At READY: held records leave, or are refused by the server's limits. */
void alo_nats_release_held(aloft_nats *nats);
/* A message to the inbox. */
void alo_nats_reply(aloft_nats *nats, const alo_nats_event *event, alo_block *block);
/* True when the operation's message has been written whole, or will be: on a connection that lives,
 * what is in the output leaves, whatever becomes of the operation. */
bool alo_nats_written(const aloft_nats *nats, uint64_t tx_end);
/* The flush operation after this one, and the same of its PING. */
aloft_op *alo_nats_flush_next(const aloft_op *op);
bool alo_nats_flush_written(const aloft_nats *nats, const aloft_op *op);

/* ---- nats_subscribe.c ---- */
void alo_nats_subscribe_init(aloft_nats *nats);
void alo_nats_message_in(aloft_nats *nats, const alo_nats_event *event, alo_block *block);
aloft_nats_subscription *alo_nats_subscription_of(aloft_op *op);
/* Calls the subscription's callback, unless it has been ended. */
void alo_nats_show(aloft_nats_subscription *subscription, const aloft_nats_message *message);

/* ---- nats_deliver.c ---- */
/* False: memory is out. */
bool alo_nats_deliveries_ready(aloft_nats *nats);
/* True: there surely is a place in the completion queue; false: ask deliveries_room. */
static inline bool alo_nats_deliveries_at_hand(const aloft_nats *nats) {
  return nats->deliveries < nats->deliveries_max &&
         (nats->free_deliveries || nats->subscriptions.used == 0);
}
/* A place in the completion queue; false when deliveries_max are queued or memory is out. */
bool alo_nats_deliveries_room(aloft_nats *nats);
void alo_nats_deliver(aloft_nats *nats, aloft_nats_subscription *subscription,
                      const alo_nats_event *event, alo_block *block);
/* Makes one printable line of what a server has sent: no control bytes reach a log or a terminal.
 */
void alo_nats_make_printable(char *text, size_t size);
/* `error`'s message is copied. */
void alo_nats_tell(aloft_nats *nats, aloft_nats_event event, const aloft_error *error);
/* `message` shows what has been parsed; it lies in the block. */
static inline void alo_nats_view(aloft_nats_message *message, const alo_nats_event *event,
                                 alo_block *block) {
  *message = (aloft_nats_message){.subject = event->subject,
                                  .reply = event->reply,
                                  .data = event->data,
                                  .headers = event->headers,
                                  .status = event->status,
                                  .own = {.block = block}};
}
void alo_nats_forget_kept(aloft_nats *nats);
void alo_nats_free_deliveries(aloft_nats *nats);
/* Gives back memory that a busier time has left, called now and then. */
void alo_nats_shrink(aloft_nats *nats);

#endif
