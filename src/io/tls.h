/* TLS as a filter: bytes of the peer in, plain bytes out, and the other way round. It has no socket
 * and no clock of its own; a stream puts it between the kernel and its user (alo_stream_secure),
 * and whoever wraps the handshake in packets of its own moves the bytes itself:
 *
 *   `in`   what the peer has sent: alo_tls_feed, or append to the chain
 *   `out`  what is to be sent to the peer as it is: take it from the buffer
 *
 * TLS 1.2 and 1.3; no renegotiation, no compression. Peers' certificates are verified (chain,
 * dates, name) unless the configuration says otherwise. OpenSSL does the work and has its own heap;
 * all that is ours comes from the loop's allocator, and nothing of it per operation. */
#ifndef ALO_TLS_H
#define ALO_TLS_H

#include <aloft/status.h>

#include "buffer.h"
#include "chain.h"

struct ssl_st;

enum {
  ALO_TLS_RECORD_MAX = 16 << 10, /* plain bytes in one record */
  ALO_TLS_BATCH = 8,             /* records that alo_tls_write makes at most */
  ALO_TLS_FAILURE_MAX = 512
};

/* ---- context: what sessions share ---- */

/* Text of one or more certificates, or of a key: in a file, or given; absent: neither. */
typedef struct alo_tls_pem {
  aloft_text file;  /* [call] with a text: only its name, for the texts of failures */
  aloft_bytes text; /* [call] */
} alo_tls_pem;

typedef struct alo_tls_config {
  bool server;
  alo_tls_pem authorities; /* that the peer's certificate may come from; absent: the system's */
  alo_tls_pem certificate; /* one's own, and those between it and its authority */
  alo_tls_pem key;         /* of it, without a passphrase */
  alo_tls_pem expected; /* client: the server's very certificate (PEM or DER), compared instead of
                           being verified */
  bool trust_any;       /* client: does not verify the server at all */
  bool certificate_required; /* server: the client must show one of `authorities` */
  int minimum, maximum;      /* 12 or 13 for TLS 1.2 or 1.3; 0: 12 and the newest */
  aloft_text alpn; /* [call] client: offers it; server: takes it if offered. Absent: none */
  /* What the user would set, for the texts of failures: "tls_ca_file". Constants; NULL: left out,
   * for there is no such option. */
  const char *authorities_option, *certificate_option, *expected_option, *name_option;
} alo_tls_config;

/* Counted. Belongs to one thread, with all its sessions. */
typedef struct alo_tls_context alo_tls_context;

/* Reads the files at once. ALOFT_ARGUMENT, ALOFT_NO_MEMORY: `why` (may be NULL) gets a sentence
 * that names the file and what to do, NUL-terminated. Held once. */
aloft_status alo_tls_context_open(alo_tls_context **context, const aloft_allocator *heap,
                                  const alo_tls_config *config, char why[ALO_TLS_FAILURE_MAX]);
void alo_tls_context_hold(alo_tls_context *context);
/* Lets go of one hold; NULL is ignored. */
void alo_tls_context_give(alo_tls_context *context);

/* ---- session ---- */

/* Where a record's plain bytes end, and its bytes in `out`; both counted from the beginning. */
typedef struct alo_tls_mark {
  uint64_t plain_end, out_end;
} alo_tls_mark;

typedef struct alo_tls {
  alo_chain in;
  alo_buffer out;
  alo_blocks *blocks;
  alo_tls_context *context;
  struct ssl_st *ssl;
  bool established;       /* the handshake is complete, the peer verified */
  bool peer_closed;       /* its close_notify has come */
  bool resumable;         /* `in` or OpenSSL may hold plain bytes that have not been read */
  bool no_memory;         /* `out` had no room, inside of OpenSSL */
  bool held;              /* half of a message of the handshake's kind is there: no writing */
  bool certificate_asked; /* client: the server asked for a certificate, and there is none */
  aloft_status failed;    /* ALOFT_OK, or what ended it for good */
  char failure[ALO_TLS_FAILURE_MAX]; /* the sentence that goes with it */
  char name[256];                    /* that the certificate must be for; "": any */
  uint64_t plain_bytes,
      plain_sent;      /* that alo_tls_write has taken, and alo_tls_sent told of, in all */
  uint64_t out_bytes;  /* ever appended to `out` */
  uint64_t records;    /* that alo_tls_write has made */
  uint64_t read_bytes; /* plain ones that alo_tls_read has given */
  alo_tls_mark marks[ALO_TLS_BATCH + 1];
  unsigned mark_count;
} alo_tls;

typedef struct alo_tls_names {
  aloft_text host;     /* [call] sent as SNI, unless it is an address */
  aloft_text verified; /* [call] the name or address in the certificate; absent: `host` */
} alo_tls_names;

/* One session, in the memory of `blocks`, which must outlive it. `names` may be NULL (a server; a
 * client gives them). Holds the context. ALOFT_ARGUMENT: a name; ALOFT_NO_MEMORY. */
aloft_status alo_tls_open(alo_tls **tls, alo_tls_context *context, alo_blocks *blocks,
                          const alo_tls_names *names);
/* Wipes and frees; NULL is ignored. */
void alo_tls_close(alo_tls *tls);

/* Appends a copy to `in`. False: no memory. */
bool alo_tls_feed(alo_tls *tls, const void *data, size_t size);

/* Goes on with the handshake: what there is to send is in `out`, also after a failure (an alert).
 * ALOFT_OK: complete, the peer verified. ALOFT_PENDING: needs more `in`. ALOFT_ENCRYPTION,
 * ALOFT_NO_MEMORY: failed, see `failure`. A client calls it first to begin. */
aloft_status alo_tls_handshake(alo_tls *tls);

/* Decrypts what `in` holds to the end of `plain`, at most `max` bytes more. ALOFT_OK: that was all,
 * more `in` is needed. ALOFT_PENDING: `max` is reached, and more may be there. ALOFT_DONE: the peer
 * has sent close_notify. ALOFT_ENCRYPTION, ALOFT_NO_MEMORY: failed. May put an answer in `out`. */
aloft_status alo_tls_read(alo_tls *tls, alo_chain *plain, size_t max);

/* Encrypts from the front of `plain`, as few records as may be, at most ALO_TLS_BATCH; call it when
 * `out` is empty. ALOFT_OK, with `held` when the rest has to wait until alo_tls_read was given more
 * `in`; ALOFT_WRONG_STATE: not established; else failed. */
aloft_status alo_tls_write(alo_tls *tls, alo_buffer *plain);
/* `size` bytes from the front of `out` were given to the kernel: takes them. Returns how many plain
 * bytes have been sent with all that was taken so far, counted from the beginning: a record that is
 * sent in part counts as not sent. */
uint64_t alo_tls_sent(alo_tls *tls, size_t size);

/* `size` plain bytes have been put before what was in `out`, to leave as they are. They count as
 * plain bytes that are sent as a record is. */
void alo_tls_lead(alo_tls *tls, size_t size);

/* The transport has ended: ALOFT_OK when close_notify came before, otherwise ALOFT_LOST with a
 * `failure` (in the handshake: ALOFT_ENCRYPTION). */
aloft_status alo_tls_ended(alo_tls *tls);
/* Appends close_notify to `out`, once; nothing on a session that failed or is not established. */
void alo_tls_say_close(alo_tls *tls);

/* ---- what was negotiated ---- */

typedef struct alo_tls_description {
  char protocol[16]; /* "TLSv1.3" */
  char cipher[64];   /* as OpenSSL spells it */
  char alpn[32];     /* "": none */
  char subject[256]; /* of the peer's certificate, "CN=..."; "": it showed none */
  char issuer[256];
  char expires[32];     /* "2027-01-31T23:59:59Z" */
  char fingerprint[96]; /* SHA-256, "AB:CD:..." */
} alo_tls_description;

/* Of an established session. Printable, cut where it is too long. */
void alo_tls_describe(const alo_tls *tls, alo_tls_description *description);

/* ---- certificates ---- */

/* A certificate to be made, with a new P-256 key. */
typedef struct alo_tls_order {
  aloft_text subject;      /* [call] the common name */
  const aloft_text *names; /* [call] DNS names and addresses that it is for */
  size_t name_count;
  int64_t from_s, until_s;        /* of its validity, seconds since 1970 */
  bool authority;                 /* may sign others */
  aloft_bytes issuer, issuer_key; /* [call] PEM of who signs; absent: it signs itself */
} alo_tls_order;

/* Appends both as PEM. ALOFT_ARGUMENT: a name or the issuer; ALOFT_NO_MEMORY, ALOFT_FULL. */
aloft_status alo_tls_make_certificate(const alo_tls_order *order, alo_buffer *certificate,
                                      alo_buffer *key);
/* The SHA-256 fingerprint of the first certificate of a PEM text, as in the description. */
bool alo_tls_fingerprint(aloft_bytes certificate, char fingerprint[96]);

#endif
