/* Two sessions of the TLS filter, a client and a server, joined by hand: what the one has to say is
 * given to the other in pieces of any size. Included by one test program each. */
#ifndef HARNESS_TLS_PAIR_H
#define HARNESS_TLS_PAIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "heap.h"
#include "tls.h"

enum { PEM_MAX = 8192, DAY_S = 24 * 60 * 60 };

/* ---- certificates ---- */

typedef struct pem {
  char text[PEM_MAX], key[PEM_MAX];
  size_t size, key_size;
} pem;

typedef struct wish {
  const char *subject, *names[3];
  int from_days, until_days; /* from now; both 0: -1 and 1 */
  bool authority;
  const pem *issuer; /* NULL: it signs itself */
} wish;

static inline size_t take_pem(alo_buffer *buffer, char into[PEM_MAX]) {
  size_t size = alo_buffer_size(buffer);
  assert_in_range(size, 1, PEM_MAX - 1);
  memcpy(into, buffer->data + buffer->begin, size);
  into[size] = 0;
  alo_buffer_fini(buffer);
  return size;
}

static inline void make_pem(pem *made, const wish *of) {
  alo_buffer certificate, key;
  aloft_text names[3];
  size_t count = 0;
  int64_t now = (int64_t)time(NULL);
  bool dated = of->from_days || of->until_days;
  for (; count < 3 && of->names[count]; count++)
    names[count] = aloft_text_of(of->names[count]);
  alo_tls_order order = {.subject = aloft_text_of(of->subject),
                         .names = names,
                         .name_count = count,
                         .authority = of->authority,
                         .from_s = now + (int64_t)DAY_S * (dated ? of->from_days : -1),
                         .until_s = now + (int64_t)DAY_S * (dated ? of->until_days : 1)};
  if (of->issuer) {
    order.issuer = (aloft_bytes){of->issuer->text, of->issuer->size};
    order.issuer_key = (aloft_bytes){of->issuer->key, of->issuer->key_size};
  }
  alo_buffer_init(&certificate, &alo_heap_default, PEM_MAX);
  alo_buffer_init(&key, &alo_heap_default, PEM_MAX);
  assert_int_equal(alo_tls_make_certificate(&order, &certificate, &key), ALOFT_OK);
  made->size = take_pem(&certificate, made->text);
  made->key_size = take_pem(&key, made->key);
}

static inline alo_tls_pem text_of_pem(const pem *of) {
  return (alo_tls_pem){.text = {of->text, of->size}};
}

static inline alo_tls_pem key_of_pem(const pem *of) {
  return (alo_tls_pem){.text = {of->key, of->key_size}};
}

/* ---- the pair ---- */

typedef struct pair {
  alo_blocks blocks;
  alo_tls_context *client_context, *server_context;
  alo_tls *client, *server;
  alo_chain client_plain, server_plain; /* what each has decrypted */
  size_t step;                          /* bytes given at a time */
  uint64_t moved;                       /* to the client */
} pair;

static inline void close_pair(pair *p) {
  alo_tls_close(p->client);
  alo_tls_close(p->server);
  alo_chain_clear(&p->client_plain, &p->blocks);
  alo_chain_clear(&p->server_plain, &p->blocks);
  alo_tls_context_give(p->client_context);
  alo_tls_context_give(p->server_context);
  alo_blocks_fini(&p->blocks);
}

/* False: no memory. */
static inline bool open_pair(pair *p, const aloft_allocator *heap, const alo_tls_config *client,
                             const alo_tls_config *server, const alo_tls_names *names) {
  const alo_tls_names usual = {.host = ALOFT_TEXT("localhost")};
  char why[ALO_TLS_FAILURE_MAX] = "";
  memset(p, 0, sizeof *p);
  p->step = SIZE_MAX;
  alo_blocks_init(&p->blocks, heap, 4096, 1 << 20);
  aloft_status status = alo_tls_context_open(&p->client_context, heap, client, why);
  if (status == ALOFT_OK)
    status = alo_tls_context_open(&p->server_context, heap, server, why);
  if (status == ALOFT_OK)
    status = alo_tls_open(&p->client, p->client_context, &p->blocks, names ? names : &usual);
  if (status == ALOFT_OK)
    status = alo_tls_open(&p->server, p->server_context, &p->blocks, NULL);
  if (status != ALOFT_OK && status != ALOFT_NO_MEMORY)
    fail_msg("%s", why);
  return status == ALOFT_OK;
}

/* At most p->step bytes. Returns how many. */
static inline size_t move(pair *p, alo_tls *from, alo_tls *to) {
  size_t size = alo_buffer_size(&from->out);
  size = size < p->step ? size : p->step;
  if (size && !alo_tls_feed(to, from->out.data + from->out.begin, size))
    return 0;
  if (size)
    alo_tls_sent(from, size);
  p->moved += to == p->client ? size : 0;
  return size;
}

static inline bool shaken(const alo_tls *tls) {
  return tls->established || tls->failed != ALOFT_OK;
}

/* Until neither has more to say. */
static inline void shake_hands(pair *p) {
  for (;;) {
    aloft_status client = alo_tls_handshake(p->client), server = alo_tls_handshake(p->server);
    size_t moved = move(p, p->client, p->server) + move(p, p->server, p->client);
    if (moved == 0 && (client != ALOFT_PENDING || server != ALOFT_OK || shaken(p->client)))
      return;
  }
}

static inline void establish(pair *p) {
  shake_hands(p);
  if (!p->client->established || !p->server->established)
    fail_msg("not established: %s / %s", p->client->failure, p->server->failure);
}

/* ---- data ---- */

static inline aloft_status write_plain(alo_tls *tls, const void *data, size_t size) {
  alo_buffer plain;
  alo_buffer_init(&plain, &alo_heap_default, 16 << 20);
  assert_int_equal(alo_buffer_append(&plain, data, size), ALOFT_OK);
  aloft_status status = alo_tls_write(tls, &plain);
  if (status == ALOFT_OK)
    assert_int_equal(alo_buffer_size(&plain), 0);
  alo_buffer_fini(&plain);
  return status;
}

static inline void expect_plain(pair *p, alo_chain *plain, const uint8_t *data, size_t size) {
  assert_int_equal(plain->size, size);
  for (size_t at = 0; at < size;) {
    const alo_block *block = plain->first;
    size_t here = block->end - block->begin;
    assert_memory_equal(block->data + block->begin, data + at, here);
    at += here;
    alo_chain_drop(plain, &p->blocks, here);
  }
}

#endif
