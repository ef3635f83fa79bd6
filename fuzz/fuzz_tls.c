/* The TLS filter between a client and a server, with somebody in the middle who cuts, damages,
 * swallows and makes up bytes. Whatever he does, what comes out on one side is the beginning of
 * what went in on the other, a client is established only with the server that it trusts, and
 * memory stays bounded. The last byte of the input chooses the version; the others are his steps.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fuzz_check.h"
#include "heap.h"
#include "tls.h"
#include "tls_session.h"

#include <openssl/ssl.h>

enum { STEPS_MAX = 400, PEM_MAX = 8192, OUT_LIMIT = 300 << 10, DAY_S = 24 * 60 * 60 };

typedef struct side {
  alo_tls *tls;
  alo_chain got;
  uint64_t put, taken; /* plain bytes: offered to the filter, and received and compared */
  bool closed;         /* said goodbye */
} side;

typedef struct play {
  alo_blocks blocks;
  side sides[2]; /* client, server */
  const uint8_t *at, *end;
} play;

static alo_tls_context *clients[2], *server;

/* ---- certificates, made once ---- */

static aloft_bytes bytes_in(const alo_buffer *buffer) {
  return (aloft_bytes){buffer->data + buffer->begin, alo_buffer_size(buffer)};
}

static void open_contexts(void) {
  const aloft_text names[] = {ALOFT_TEXT("localhost")};
  alo_buffer certificate, key;
  int64_t now = (int64_t)time(NULL);
  const alo_tls_order order = {.subject = ALOFT_TEXT("the server"),
                               .names = names,
                               .name_count = 1,
                               .from_s = now - DAY_S,
                               .until_s = now + (int64_t)365 * DAY_S};
  alo_buffer_init(&certificate, &alo_heap_default, PEM_MAX);
  alo_buffer_init(&key, &alo_heap_default, PEM_MAX);
  CHECK(alo_tls_make_certificate(&order, &certificate, &key) == ALOFT_OK);
  alo_tls_config config = {
      .server = true, .certificate.text = bytes_in(&certificate), .key.text = bytes_in(&key)};
  CHECK(alo_tls_context_open(&server, &alo_heap_default, &config, NULL) == ALOFT_OK);
  for (int at = 0; at < 2; at++) {
    config = (alo_tls_config){.authorities.text = bytes_in(&certificate), .maximum = 12 + at};
    CHECK(alo_tls_context_open(&clients[at], &alo_heap_default, &config, NULL) == ALOFT_OK);
  }
  alo_buffer_fini(&certificate);
  alo_buffer_fini(&key);
}

/* ---- what has to hold ---- */

static uint8_t plain_at(uint64_t offset, bool by_server) {
  return (uint8_t)(offset * 31 + offset / 251 + by_server);
}

static void compare(play *p, int of) {
  side *self = &p->sides[of];
  while (self->got.size) {
    const alo_block *block = self->got.first;
    size_t size = block->end - block->begin;
    for (size_t at = 0; at < size; at++)
      CHECK(block->data[block->begin + at] == plain_at(self->taken + at, of == 0));
    self->taken += size;
    alo_chain_drop(&self->got, &p->blocks, size);
  }
  CHECK(self->taken <= p->sides[!of].tls->plain_bytes);
}

static void check(const side *self) {
  const alo_tls *tls = self->tls;
  alo_tls_description described;
  CHECK(alo_buffer_size(&tls->out) <= OUT_LIMIT && tls->mark_count <= ALO_TLS_BATCH);
  CHECK(tls->plain_sent <= tls->plain_bytes && tls->plain_bytes <= self->put);
  CHECK((tls->failed == ALOFT_OK) == (tls->failure[0] == 0));
  CHECK(tls->failed == ALOFT_OK || tls->failed == ALOFT_ENCRYPTION || tls->failed == ALOFT_LOST ||
        tls->failed == ALOFT_NO_MEMORY);
  for (const char *text = tls->failure; *text; text++)
    CHECK(*text >= 0x20 && *text < 0x7f);
  if (!tls->established || tls->context->server)
    return;
  alo_tls_describe(tls, &described);
  CHECK(strcmp(described.subject, "CN=the server") == 0);
}

/* ---- his steps ---- */

static uint8_t next(play *p) {
  return p->at < p->end ? *p->at++ : 0;
}

static void shake(side *self) {
  aloft_status status = alo_tls_handshake(self->tls);
  CHECK(status != ALOFT_OK || self->tls->established);
}

static void give(play *p, int from, size_t most) {
  side *self = &p->sides[from];
  alo_buffer *out = &self->tls->out;
  size_t size = alo_buffer_size(out) < most ? alo_buffer_size(out) : most;
  if (size == 0)
    return;
  CHECK(alo_tls_feed(p->sides[!from].tls, out->data + out->begin, size));
  alo_tls_sent(self->tls, size);
}

static void write_some(side *self, size_t size, bool by_server) {
  alo_buffer plain;
  if (alo_buffer_size(&self->tls->out) || !self->tls->established || self->closed)
    return;
  alo_buffer_init(&plain, &alo_heap_default, 1 << 20);
  CHECK(alo_buffer_reserve(&plain, size) == ALOFT_OK);
  for (uint64_t at = 0; at < size; at++) {
    uint8_t byte = plain_at(self->put + at, by_server);
    CHECK(alo_buffer_append(&plain, &byte, 1) == ALOFT_OK);
  }
  aloft_status status = alo_tls_write(self->tls, &plain);
  CHECK(status == self->tls->failed);
  self->put += size - alo_buffer_size(&plain);
  alo_buffer_fini(&plain);
}

static void read_some(play *p, int of, size_t max) {
  side *self = &p->sides[of];
  size_t before = self->got.size;
  aloft_status status = alo_tls_read(self->tls, &self->got, max);
  CHECK(self->got.size - before <= max);
  CHECK(status != ALOFT_PENDING || self->got.size - before == max);
  CHECK(status != ALOFT_WRONG_STATE || !self->tls->established);
  compare(p, of);
}

static void damage(side *self, uint8_t where, uint8_t how) {
  alo_buffer *out = &self->tls->out;
  if (alo_buffer_size(out))
    out->data[out->begin + where % alo_buffer_size(out)] ^= how;
}

static void make_up(play *p, side *self) {
  size_t size = next(p);
  size = size < (size_t)(p->end - p->at) ? size : (size_t)(p->end - p->at);
  CHECK(alo_tls_feed(self->tls, p->at, size));
  p->at += size;
}

static void ask_new_keys(side *self) {
  if (self->tls->established && self->tls->failed == ALOFT_OK && !self->closed)
    (void)SSL_key_update(self->tls->ssl, SSL_KEY_UPDATE_REQUESTED);
}

static void say_close(side *self) {
  alo_tls_say_close(self->tls);
  self->closed = true;
}

/* As far as it goes by itself. */
static void go_on(play *p) {
  for (int round = 0; round < 6; round++)
    for (int of = 0; of < 2; of++) {
      shake(&p->sides[of]);
      give(p, of, SIZE_MAX);
    }
}

static void step(play *p) {
  uint8_t what = next(p);
  int of = what & 1;
  side *self = &p->sides[of];
  switch (what >> 1 & 15) {
  case 0:
    shake(self);
    break;
  case 1:
    give(p, of, (size_t)next(p) + 1);
    break;
  case 2:
    give(p, of, SIZE_MAX);
    break;
  case 3:
    go_on(p);
    break;
  case 4:
    write_some(self, next(p), of);
    break;
  case 5:
    write_some(self, (size_t)next(p) << 10, of);
    break;
  case 6:
    read_some(p, of, next(p));
    break;
  case 7:
    read_some(p, of, (size_t)next(p) << 10);
    break;
  case 8:
    damage(self, next(p), what & 64 ? 0x80 : next(p));
    break;
  case 9:
    make_up(p, self);
    break;
  case 10:
    ask_new_keys(self);
    break;
  case 11:
    say_close(self);
    break;
  case 12:
    alo_tls_sent(self->tls, next(p) % (alo_buffer_size(&self->tls->out) + 1));
    break;
  case 13:
    (void)alo_tls_ended(self->tls);
    break;
  default:
    break;
  }
  check(self);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  play p = {.at = data, .end = data + (size ? size - 1 : 0)};
  const alo_tls_names names = {.host = ALOFT_TEXT("localhost")};
  if (!server)
    open_contexts();
  alo_blocks_init(&p.blocks, &alo_heap_default, 4096, 64 << 10);
  CHECK(alo_tls_open(&p.sides[0].tls, clients[size ? *p.end & 1 : 0], &p.blocks, &names) ==
        ALOFT_OK);
  CHECK(alo_tls_open(&p.sides[1].tls, server, &p.blocks, NULL) == ALOFT_OK);
  for (int steps = 0; steps < STEPS_MAX && p.at < p.end; steps++)
    step(&p);
  for (int of = 0; of < 2; of++) {
    read_some(&p, of, SIZE_MAX);
    check(&p.sides[of]);
  }
  for (int of = 0; of < 2; of++) {
    alo_chain_clear(&p.sides[of].got, &p.blocks);
    alo_tls_close(p.sides[of].tls);
  }
  alo_blocks_fini(&p.blocks);
  return 0;
}
