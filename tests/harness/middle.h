/* Who stands between a client and its server, for tests: forwards bytes, and on request cuts, holds
 * or adds some. It can also end a client's TLS, and speak in clear behind it, or play a server that
 * says two things. It serves the client that came last. */
#ifndef HARNESS_MIDDLE_H
#define HARNESS_MIDDLE_H

#include "stream.h"

typedef struct middle {
  aloft_loop *loop;
  uint16_t port;    /* where it listens, on 127.0.0.1 */
  uint16_t to_port; /* where the server does; 0: there is none */
  char url[64];     /* nats://127.0.0.1:PORT */
  /* Without a server: said when a client comes, and when its first bytes have. [op: until close] */
  aloft_bytes greeting, answer;
  alo_tls_context *tls; /* [op: until close] with which TLS ends here; NULL: it passes */
  /* Of what the server sends, counted from the client's connect; 0: never. */
  uint64_t cut_at;                   /* the connection ends behind so many bytes */
  uint64_t hold_at;                  /* no more is forwarded until it changes (middle_go_on) */
  uint64_t from_server, from_client; /* bytes forwarded; received */
  unsigned accepted;
  bool ended; /* the connection of the last client */
  struct middle_own *own;
} middle;

/* On an ephemeral port. Fails the cmocka test when it cannot. */
void middle_open(middle *m, aloft_loop *loop, uint16_t to_port);
void middle_close(middle *m);
/* Forwards what is held. */
void middle_go_on(middle *m);
/* Bytes to the client that the server has not sent. */
void middle_say(middle *m, const void *data, size_t size);

#endif
