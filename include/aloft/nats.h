/* The NATS client: one connection, any number of requests, publications and subscriptions. */
#ifndef ALOFT_NATS_H
#define ALOFT_NATS_H

#include <aloft/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aloft_nats aloft_nats;

typedef struct aloft_nats_header {
  aloft_text name, value;
} aloft_nats_header;

/* A message, received or to be sent. Views: of a received one [done], of one to send [call].
 * `headers` is a received message's header block as it came ("NATS/1.0\r\n..."); read it with
 * aloft_nats_header_next. A block that is not one is shown as it is: nothing is found in it, and it
 * is counted. To send headers, set `header` and `header_count` instead. */
typedef struct aloft_nats_message {
  aloft_text subject;
  aloft_text reply; /* where an answer is wanted; absent when nowhere */
  aloft_bytes data;
  aloft_text headers;              /* received */
  const aloft_nats_header *header; /* to send */
  size_t header_count;
  int32_t status; /* received: the status of the header line (503, 100, ...); 0: none */
  struct {
    void *block; /* the library's own */
  } own;
} aloft_nats_message;

/* Something that happened to the connection and belongs to no operation. */
typedef enum aloft_nats_event {
  ALOFT_NATS_CONNECTED,    /* INFO and CONNECT are exchanged, the server has answered PING */
  ALOFT_NATS_DISCONNECTED, /* all operations complete; open anew */
  ALOFT_NATS_ERROR,        /* the server sent -ERR and keeps the connection: a permission, whose
                              subject its text names. A subscription so refused stays in flight */
  ALOFT_NATS_LAME_DUCK,    /* the server will close the connection before long */
  ALOFT_NATS_DROPPED /* a publication accepted before INFO was over the server's max_payload */
} aloft_nats_event;

typedef struct aloft_nats_config {
  size_t size; /* sizeof(aloft_nats_config) */
  /* "nats://[user[:password]@|token@]host[:port]", percent-encoded; also "host[:port]". [call]
   * Port 4222 by default. tls:// is nats:// that is never spoken in clear (see tls_required). ws://
   * is refused with ALOFT_UNSUPPORTED. */
  aloft_text url;
  aloft_text user, password, token; /* [call] wiped after use; over those of the URL */
  aloft_text name;                  /* [call] of this client, for the server's monitoring */
  aloft_text inbox_prefix;          /* [call] default "_INBOX"; a subject without wildcards */
  bool no_echo;                     /* do not get back what this connection publishes */
  uint64_t connect_timeout_ns;      /* resolving, dialling, TLS, INFO, PONG; 0: 5 s */
  uint64_t ping_interval_ns;        /* 0: 2 min */
  uint32_t pings_out_max;           /* unanswered PINGs before the connection is lost; 0: 2 */
  uint32_t inflight_max;            /* requests at one time; 0: 65,536; at most 16,777,215 */
  uint32_t subscriptions_max;       /* 0: 65,536 */
  size_t tx_bytes_max;              /* output not yet written, in bytes; 0: 8 MiB. 64 KiB more are
                                       for PING, PONG, CONNECT, UNSUB and flush */
  size_t rx_payload_max;            /* of a received message; 0: 64 MiB (the server's own limit) */
  size_t kept_bytes_max;            /* held by aloft_nats_keep, in bytes; 0: 64 MiB */
  uint32_t deliveries_max;          /* parsed before their callbacks run; 0: 4,096. Reading waits
                                       at it */
  /* Called on the loop for each event, with its error (NULL for CONNECTED and LAME_DUCK). Of ERROR
   * and DROPPED at most 32 wait; more are counted in events_dropped. */
  void (*event)(aloft_nats *nats, aloft_nats_event event, const aloft_error *error, void *context);
  void *context; /* until close */
  /* TLS 1.2 or 1.3, begun when INFO has come (NATS protocol, INFO and CONNECT: tls_required). The
   * server's certificate is verified: its chain, its dates, and that it is for the host. A server
   * that requires TLS gets it, whatever the URL; one that does not offer it is refused with
   * ALOFT_ENCRYPTION before any credential is sent when TLS is asked for: by tls://, by
   * tls_required, or by any other of these members. */
  bool tls_required;
  bool tls_first;         /* the handshake comes before INFO; the server must be set so too */
  aloft_text tls_ca_file; /* [call] PEM; authorities that are trusted; absent: the system's */
  /* [call] PEM; this client's own certificate (with those between it and its authority) and its
   * key, which has no passphrase. Both, or neither: then it shows none. */
  aloft_text tls_certificate_file, tls_key_file;
  aloft_text tls_server_name; /* [call] name or address that the certificate must be for; absent:
                                 the URL's host */
} aloft_nats_config;

/* Begins to connect; requests, publications and subscriptions may follow at once and are sent when
 * the server is ready. `op` (may be NULL) completes when it is, or with ALOFT_RESOLVE,
 * ALOFT_CONNECT, ALOFT_TIMEOUT, ALOFT_AUTH, ALOFT_ENCRYPTION (no TLS, or which check of it failed
 * and what to set), ALOFT_PROTOCOL. After a failure the connection stays dead; close it.
 * Refused: ALOFT_ARGUMENT (what in the config, its files or the URL), ALOFT_NO_MEMORY. */
ALOFT_API aloft_status aloft_nats_open(aloft_nats **nats, aloft_loop *loop,
                                       const aloft_nats_config *config, aloft_op *op);

/* Sends what has been published (also while still connecting), then closes. Operations in flight
 * complete with ALOFT_CLOSED, before `op` (may be NULL) does; messages that have been received are
 * still shown before them. After this call the handle is good for those callbacks alone (to keep a
 * message), and after `op`'s done for nothing. `op` completes with ALOFT_OK when the server has
 * taken all; ALOFT_TIMEOUT: not in one second, or in `op`'s own time if it has one; ALOFT_LOST,
 * ALOFT_LOST_UNSENT: the connection ended before. Refused: ALOFT_CLOSED (closing already). */
ALOFT_API aloft_status aloft_nats_close(aloft_nats *nats, aloft_op *op);

/* Publishes. Copied to bounded output before it returns. ALOFT_ARGUMENT: bad subject or header;
 * ALOFT_TOO_LARGE: over the server's max_payload, or tx_bytes_max; ALOFT_FULL: wait
 * (aloft_nats_flush); ALOFT_CLOSED, ALOFT_LOST_UNSENT: the connection is gone; ALOFT_UNSUPPORTED:
 * headers, and the server has none; ALOFT_NO_MEMORY. */
ALOFT_API aloft_status aloft_nats_publish(aloft_nats *nats, const aloft_nats_message *message);

/* A request. Completes with ALOFT_OK and `reply` set [done]; ALOFT_NO_RESPONDERS; ALOFT_TIMEOUT;
 * ALOFT_CANCELLED; ALOFT_LOST or ALOFT_LOST_UNSENT; ALOFT_CLOSED; ALOFT_SERVER: the server does
 * not allow the inbox; when it was started before INFO also ALOFT_TOO_LARGE, ALOFT_UNSUPPORTED. */
typedef struct aloft_nats_request {
  aloft_op op;
  aloft_text subject;              /* [call] */
  aloft_bytes data;                /* [call] */
  const aloft_nats_header *header; /* [call] */
  size_t header_count;
  aloft_nats_message reply; /* [done] */
  struct {
    uint64_t tx_end;
  } own;
} aloft_nats_request;

/* As aloft_nats_publish; also ALOFT_TOO_MANY: inflight_max. */
ALOFT_API aloft_status aloft_nats_request_start(aloft_nats *nats, aloft_nats_request *request);

/* A subscription: an operation that stays in flight while messages come. It completes with
 * ALOFT_OK after unsubscribe or `messages_max` messages, otherwise with the status that ended it.
 */
typedef struct aloft_nats_subscription aloft_nats_subscription;
struct aloft_nats_subscription {
  aloft_op op;
  aloft_text subject;    /* [call] may hold wildcards */
  aloft_text queue;      /* [call] absent: none */
  uint64_t messages_max; /* the server ends it after this many; 0: never */
  /* Required. The message is [done]. */
  void (*message)(aloft_nats_subscription *subscription, const aloft_nats_message *message);
  uint64_t delivered; /* messages shown */
  struct {
    uint64_t received;
    uint64_t tx_end;
  } own;
};

ALOFT_API aloft_status aloft_nats_subscribe(aloft_nats *nats,
                                            aloft_nats_subscription *subscription);

/* No message is shown after this returns; done follows with ALOFT_OK, or with what had ended it
 * before. ALOFT_WRONG_STATE: not in flight. */
ALOFT_API aloft_status aloft_nats_unsubscribe(aloft_nats_subscription *subscription);

/* Asks the server to send no more. Messages that are on their way are still shown, so that none is
 * lost: after this, aloft_nats_flush, and when that is done aloft_nats_unsubscribe.
 * ALOFT_WRONG_STATE: not in flight; ALOFT_FULL: wait; ALOFT_NO_MEMORY. */
ALOFT_API aloft_status aloft_nats_drain(aloft_nats_subscription *subscription);

/* Completes when the server has taken all that was published before (PING, PONG). With ALOFT_LOST
 * all of it had been written, with ALOFT_LOST_UNSENT not all. Otherwise as a request. */
ALOFT_API aloft_status aloft_nats_flush(aloft_nats *nats, aloft_op *op);

/* Keeps a received message beyond its callback; every view in the handle's message is valid until
 * release, also after the connection is closed; release it before its loop is. ALOFT_TOO_MANY:
 * kept_bytes_max; release others. ALOFT_ARGUMENT: not a received message. */
typedef struct aloft_nats_kept aloft_nats_kept;
ALOFT_API aloft_status aloft_nats_keep(aloft_nats *nats, const aloft_nats_message *message,
                                       aloft_nats_kept **kept);
ALOFT_API const aloft_nats_message *aloft_nats_kept_message(const aloft_nats_kept *kept);
ALOFT_API void aloft_nats_kept_release(aloft_nats_kept *kept);

/* The next header of a received message: `*cursor` starts at 0. False: no more. The values are
 * views [done], blanks around them removed. */
ALOFT_API bool aloft_nats_header_next(const aloft_nats_message *message, size_t *cursor,
                                      aloft_nats_header *header);
/* The first header of that name (ASCII case ignored); false: none. */
ALOFT_API bool aloft_nats_header_find(const aloft_nats_message *message, aloft_text name,
                                      aloft_text *value);

typedef struct aloft_nats_info {
  size_t size; /* sizeof(aloft_nats_info), set by the caller */
  bool connected;
  uint64_t max_payload;                                    /* bytes, headers included */
  aloft_text server_name, server_version, server_id;       /* valid until the loop's next turn */
  uint64_t messages_in, messages_out, bytes_in, bytes_out; /* payloads */
  uint64_t replies_unmatched; /* late, duplicate or rewritten replies, dropped */
  uint32_t inflight;
  size_t tx_bytes; /* waiting to be written */
  size_t kept_bytes;
  uint64_t messages_unmatched;   /* of subscriptions that had ended, dropped */
  uint64_t headers_malformed;    /* messages whose header block is not one */
  uint64_t publications_dropped; /* see ALOFT_NATS_DROPPED */
  uint64_t events_dropped;       /* not told, see the config's `event` */
} aloft_nats_info;
ALOFT_API void aloft_nats_get_info(const aloft_nats *nats, aloft_nats_info *info);

/* How a connection is encrypted; texts end with a NUL, are cut where they are too long, and empty
 * when it is not (or not yet). */
typedef struct aloft_nats_encryption {
  size_t size; /* sizeof(aloft_nats_encryption), set by the caller */
  bool encrypted;
  char protocol[16]; /* "TLSv1.3" */
  char cipher[64];
  char subject[256];    /* of the server's certificate */
  char expires[32];     /* "2027-01-31T23:59:59Z" */
  char fingerprint[96]; /* SHA-256, "AB:CD:..." */
} aloft_nats_encryption;
ALOFT_API void aloft_nats_get_encryption(const aloft_nats *nats, aloft_nats_encryption *encryption);

#ifdef __cplusplus
}
#endif
#endif
