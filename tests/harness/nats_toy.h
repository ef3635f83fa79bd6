/* A small NATS server for tests, on the same loop as the client under test and on any driver. It
 * routes as nats-server does (wildcards, queue groups, maxima, headers, no responders) and
 * misbehaves on request. Its listener and connections do not keep aloft_loop_run running; close it
 * before its loop.
 *
 * Besides routing, it answers these subjects itself, as a responder would, with `data`:
 *   toy.echo        the same data                  toy.twice      the same data, twice
 *   toy.never       nothing                        toy.rewritten  to a subject that was not asked
 *   toy.after.N     the same data after N ms       toy.size.N     N bytes
 *   toy.sid         under a sid never given        toy.close      by closing the connection
 *   toy.raw         by sending `data` as it is, outside of any message
 *   toy.update      the same data, under new TLS keys, and asks for the client's
 *
 * With ALOFT_TEST_TLS=upgrade in the environment it requires TLS after INFO, with =first before it;
 * clients configured by nats_toy_config trust it. */
#ifndef NATS_TOY_H
#define NATS_TOY_H

#include <aloft/nats.h>

#include "tls.h"

typedef struct nats_toy_options {
  uint64_t max_payload; /* in INFO; 0: 1 MiB */
  bool no_headers, tls_required, lame_duck;
  const char *greeting;                /* instead of INFO; "" for silence */
  const char *login_answer;            /* instead of the first PONG; "" for silence */
  const char *user, *password, *token; /* asked for when set */
  uint64_t close_at;                   /* closes after so many bytes sent; 0: does not */
  uint32_t pongs_max;                  /* answers no PING after so many; 0: answers all */
  bool tls_available;                  /* in INFO instead of tls_required */
  bool tls_unsaid;                     /* INFO says nothing of TLS, whatever there is */
  bool cut;                            /* closes TLS without close_notify */
} nats_toy_options;

typedef struct nats_toy nats_toy;
struct nats_toy {
  aloft_loop *loop;
  nats_toy_options options; /* may be changed at any time */
  uint16_t port;
  char url[64];
  alo_tls_context *tls; /* of the server, given back at close; NULL: it speaks in clear */
  bool tls_first;       /* the handshake comes before INFO */
  char connect[4096];   /* the JSON of the last CONNECT */
  /* Called for each publication that has arrived whole; may be NULL. Views [call]. */
  void (*published)(nats_toy *toy, aloft_text subject, aloft_bytes data);
  aloft_text reply; /* [call] of the publication that `published` shows */
  void *context;
  uint64_t accepted, logins, publications, pings, subs, unsubs, pongs, bytes_in;
  struct nats_toy_own *own;
};

/* Listens on an ephemeral port of 127.0.0.1. `options` [call] may be NULL. Fails the cmocka test
 * when it cannot. */
void nats_toy_open(nats_toy *toy, aloft_loop *loop, const nats_toy_options *options);
/* The same; false when it cannot. */
bool nats_toy_try_open(nats_toy *toy, aloft_loop *loop, const nats_toy_options *options);
void nats_toy_close(nats_toy *toy);
/* What a client needs to connect: size, url, and for TLS by the environment what it trusts. */
aloft_nats_config nats_toy_config(const nats_toy *toy);

/* A message from a responder to whoever subscribes to `reply`. Returns how many bytes the toy has
 * sent on that connection, up to the end of this message; 0: nobody subscribes. */
uint64_t nats_toy_respond(nats_toy *toy, aloft_text reply, aloft_bytes data);
/* To every connection: bytes as they are; no more reading, or reading again; the end. */
void nats_toy_send(nats_toy *toy, const char *text);
void nats_toy_pause(nats_toy *toy, bool paused);
void nats_toy_drop(nats_toy *toy);
/* Connections that are open, and the subscriptions on them. */
size_t nats_toy_connections(const nats_toy *toy);
size_t nats_toy_subscriptions(const nats_toy *toy);

#endif
