/* Encrypted streams: a client and a server on one loop, over a kernel that cuts reads and writes as
 * it likes, and over the real one. */
#include "tls_pair.h"

#include <stdio.h>
#include <stdlib.h>

#include <openssl/ssl.h>

#include "harness_loop.h"
#include "stream.h"

enum { DATA_MAX = 300000, TX_MAX = 1 << 20 };

typedef struct side {
  alo_stream stream;
  uint8_t *got;
  size_t got_size, least_rx;
  unsigned connected, secured, readable, drained, ended;
  bool keeps;             /* does not take what it gets */
  int close_in, pause_in; /* events; -1: none */

  size_t plain_first; /* secures itself after so many plain bytes */
} side;

typedef struct world {
  harness_loop at;
  side client, server;
  alo_watch watch;
  alo_socket *listener;
  uint16_t port;
  alo_tls_context *client_context, *server_context;
} world;

static world *w;
static pem authority, good;
static uint8_t data[DATA_MAX];

static int make_all(void **state) {
  (void)state;
  make_pem(&authority, &(wish){.subject = "an authority", .authority = true});
  make_pem(&good, &(wish){.subject = "s", .names = {"localhost"}, .issuer = &authority});
  for (size_t at = 0; at < DATA_MAX; at++)
    data[at] = (uint8_t)(at * 131 + at / 65536);
  return 0;
}

/* ---- the world ---- */

static alo_driver_methods bent;
static const alo_driver_methods *real;
static unsigned asked_for; /* by the client of the kernel */

static void bent_interest(alo_socket *socket, unsigned events) {
  if (socket == w->client.stream.socket)
    asked_for = events;
  real->interest(socket, events);
}

static alo_tls *new_session(bool server) {
  alo_tls *tls;
  const alo_tls_names names = {.host = ALOFT_TEXT("localhost")};
  alo_tls_context *context = server ? w->server_context : w->client_context;
  assert_int_equal(alo_tls_open(&tls, context, &w->at.loop->blocks, server ? NULL : &names),
                   ALOFT_OK);
  return tls;
}

static void take_some(side *self, size_t size) {
  while (size) {
    const alo_block *block = self->stream.rx.first;
    size_t here = block->end - block->begin, part = here < size ? here : size;
    assert_in_range(self->got_size + part, 0, DATA_MAX);
    memcpy(self->got + self->got_size, block->data + block->begin, part);
    self->got_size += part;
    size -= part;
    alo_stream_drop(&self->stream, part);
  }
}

static void take_plain_first(side *self) {
  size_t wanted = self->plain_first - self->got_size;
  size_t size = self->stream.rx.size < wanted ? self->stream.rx.size : wanted;
  take_some(self, size);
  if (self->got_size == self->plain_first) {
    self->plain_first = 0;
    assert_int_equal(alo_stream_secure(&self->stream, new_session(self == &w->server)), ALOFT_OK);
  }
}

static void happened(side *self, alo_stream_event event) {
  unsigned *counts[] = {&self->connected, &self->secured, &self->readable, &self->drained,
                        &self->ended};
  assert_true(self->stream.open); /* there is no event after a close */
  assert_false(self->stream.paused && event == ALO_STREAM_READABLE);
  ++*counts[event];
  if (self->close_in == (int)event) {
    alo_stream_close(&self->stream);
    return;
  }
  if (event == ALO_STREAM_READABLE && self->plain_first)
    take_plain_first(self);
  else if (event == ALO_STREAM_READABLE && !self->keeps)
    take_some(self, self->stream.rx.size);
  if (self->pause_in == (int)event)
    alo_stream_pause(&self->stream, true);
}

static void client_event(alo_stream *stream, alo_stream_event event) {
  happened(ALOFT_CONTAINER(stream, side, stream), event);
}

static void connection_waits(alo_watch *watch, unsigned events) {
  (void)watch;
  (void)events;
  assert_true(alo_stream_accept(&w->server.stream, w->listener));
}

static void open_contexts(bool trusted) {
  alo_tls_config client = {.authorities_option = "ca"}, server = {.server = true};
  client.authorities = text_of_pem(trusted ? &authority : &good);
  client.expected = trusted ? (alo_tls_pem){.text = {NULL, 0}} : text_of_pem(&authority);
  server.certificate = text_of_pem(&good);
  server.key = key_of_pem(&good);
  const aloft_allocator *heap = &w->at.loop->heap;
  assert_int_equal(alo_tls_context_open(&w->client_context, heap, &client, NULL), ALOFT_OK);
  assert_int_equal(alo_tls_context_open(&w->server_context, heap, &server, NULL), ALOFT_OK);
}

static void open_side(side *self) {
  self->close_in = self->pause_in = -1;
  self->got = malloc(DATA_MAX);
  assert_non_null(self->got);
  alo_stream_init(&self->stream, w->at.loop, TX_MAX);
  self->stream.event = client_event;
}

static void open_world(bool sim, uint64_t seed, const alo_sim_faults *faults, bool trusted) {
  static world place;
  memset(&place, 0, sizeof place);
  w = &place;
  harness_loop_open(&w->at, sim, seed, faults);
  alo_driver *driver = w->at.loop->driver;
  real = driver->methods;
  bent = *real;
  bent.interest = bent_interest;
  driver->methods = &bent;
  alo_address at = {.in = {.sin_family = AF_INET}}, bound;
  at.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  w->watch.ready = connection_waits;
  assert_int_equal(driver->methods->listen(driver, &at, &w->watch, &w->listener, &bound), 0);
  w->port = ntohs(bound.in.sin_port);
  open_side(&w->client);
  open_side(&w->server);
  open_contexts(trusted);
}

static void close_world(void) {
  alo_stream_fini(&w->client.stream);
  alo_stream_fini(&w->server.stream);
  alo_tls_context_give(w->client_context);
  alo_tls_context_give(w->server_context);
  free(w->client.got);
  free(w->server.got);
  w->at.loop->driver->methods->shut(w->listener);
  harness_loop_close(&w->at);
}

static void connect_both(void) {
  assert_int_equal(alo_stream_dial(&w->client.stream, ALOFT_TEXT("127.0.0.1"), w->port), ALOFT_OK);
  HARNESS_TURN_UNTIL(w->at.loop, w->client.connected && w->server.stream.open);
}

static void secure_both(void) {
  assert_int_equal(alo_stream_secure(&w->server.stream, new_session(true)), ALOFT_OK);
  assert_int_equal(alo_stream_secure(&w->client.stream, new_session(false)), ALOFT_OK);
  assert_int_equal(w->client.secured, 0); /* never inside the call */
}

static void establish_both(void) {
  connect_both();
  secure_both();
  HARNESS_TURN_UNTIL(w->at.loop, w->client.secured && w->server.secured);
}

static void put(side *self, const void *bytes, size_t size) {
  assert_int_equal(alo_buffer_append(&self->stream.tx, bytes, size), ALOFT_OK);
  alo_stream_send(&self->stream);
}

static void expect_got(const side *self, size_t size) {
  assert_int_equal(self->got_size, size);
  assert_memory_equal(self->got, data, size);
}

/* ---- bytes ---- */

static const alo_sim_faults cuts = {.short_read = 500, .split_write = 500};

static void exchange(uint64_t seed) {
  size_t sent[2] = {0, 0};
  uint64_t random = seed;
  while (sent[0] < DATA_MAX || sent[1] < DATA_MAX) {
    for (int at = 0; at < 2; at++) {
      side *self = at ? &w->server : &w->client;
      random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
      size_t size = (size_t)(random >> 33) % ((random >> 60) ? 3000 : 60000);
      size = size < DATA_MAX - sent[at] ? size : DATA_MAX - sent[at];
      put(self, data + sent[at], size);
      sent[at] += size;
      assert_int_equal(alo_stream_tx_end(&self->stream), sent[at]);
    }
    alo_stream_pause(&w->server.stream, random >> 62 != 0); /* until the kernel takes no more */
    assert_int_equal(harness_turn(w->at.loop, 0), ALOFT_OK);
    for (int at = 0; at < 2; at++) {
      const alo_stream *stream = at ? &w->server.stream : &w->client.stream;
      assert_in_range(stream->tx_written, 0, stream->tx_taken);
      assert_in_range(stream->tx_taken, 0, sent[at]);
      assert_true(at == 1 || alo_stream_tx_left(stream) || !alo_buffer_size(&stream->tls->out));
    }
  }
}

static void test_bytes_both_ways(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 12; seed++) {
    open_world(seed > 0, seed, seed > 1 ? &cuts : NULL, true);
    establish_both();
    exchange(seed);
    alo_stream_pause(&w->server.stream, false);
    HARNESS_TURN_UNTIL(w->at.loop,
                       w->client.got_size == DATA_MAX && w->server.got_size == DATA_MAX);
    HARNESS_TURN_UNTIL(w->at.loop, !alo_stream_tx_left(&w->client.stream) &&
                                       !alo_stream_tx_left(&w->server.stream));
    expect_got(&w->client, DATA_MAX);
    expect_got(&w->server, DATA_MAX);
    assert_int_equal(w->client.secured, 1);
    close_world();
  }
}

/* As after INFO: the last plain bytes wait in `tx`, and the first of TLS follow in one read. */
static void test_upgrade(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    open_world(seed > 0, seed, seed > 1 ? &cuts : NULL, true);
    connect_both();
    w->server.plain_first = 105;
    put(&w->client, data, 100);
    HARNESS_TURN_UNTIL(w->at.loop, w->server.got_size == 100);
    put(&w->client, data + 100, 5);
    assert_int_equal(alo_stream_secure(&w->client.stream, new_session(false)), ALOFT_OK);
    assert_int_equal(alo_stream_tx_end(&w->client.stream), 105);
    put(&w->client, data + 105, 1000); /* held until the handshake is over */
    HARNESS_TURN_UNTIL(w->at.loop, w->server.got_size == 1105);
    expect_got(&w->server, 1105);
    HARNESS_TURN_UNTIL(w->at.loop, w->client.stream.tx_written == 1105);
    close_world();
  }
}

/* Output that a handshake holds back asks the kernel for nothing. */
static void test_held_output_waits_quietly(void **state) {
  (void)state;
  open_world(true, 1, NULL, true);
  connect_both();
  assert_int_equal(alo_stream_secure(&w->client.stream, new_session(false)), ALOFT_OK);
  put(&w->client, data, 10);
  HARNESS_TURN_UNTIL(w->at.loop, w->server.readable);
  assert_int_equal(harness_turn(w->at.loop, 0), ALOFT_OK);
  assert_int_equal(asked_for, ALO_READABLE);
  close_world();
}

static void test_back_in_the_clear(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    open_world(seed > 0, seed, seed > 1 ? &cuts : NULL, true);
    establish_both();
    assert_int_equal(alo_stream_unsecure(&w->client.stream), ALOFT_OK);
    put(&w->client, data, 1000);
    HARNESS_TURN_UNTIL(w->at.loop, !alo_stream_tx_left(&w->client.stream));
    /* The server has not looked yet, or holds them as its session's input. */
    if (w->server.stream.tls->failed == ALOFT_OK) {
      w->server.keeps = false;
      assert_int_equal(alo_stream_unsecure(&w->server.stream), ALOFT_OK);
      HARNESS_TURN_UNTIL(w->at.loop, w->server.got_size == 1000);
      expect_got(&w->server, 1000);
      put(&w->server, data, 2000);
      HARNESS_TURN_UNTIL(w->at.loop, w->client.got_size == 2000);
      expect_got(&w->client, 2000);
      assert_int_equal(alo_stream_unsecure(&w->server.stream), ALOFT_WRONG_STATE);
    }
    close_world();
  }
}

static void test_one_record_for_a_turn(void **state) {
  (void)state;
  open_world(true, 1, NULL, true);
  establish_both();
  for (int at = 0; at < 5; at++)
    HARNESS_TURN_UNTIL(w->at.loop, true);
  uint64_t before = w->server.stream.rx_bytes;
  for (size_t at = 0; at < 16; at++)
    put(&w->client, data + at * 1000, 1000);
  HARNESS_TURN_UNTIL(w->at.loop, w->server.got_size == 16000);
  assert_int_equal(w->server.stream.rx_bytes - before, 16000 + 22); /* header, type and tag once */
  close_world();
}

static int fill_ticket(SSL *ssl, void *context) {
  (void)context;
  return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), data, 1500);
}

/* A ticket of several records, whose second half is late: output waits for it, and quietly. */
static void test_ticket_half_there(void **state) {
  (void)state;
  uint8_t rest[4096];
  open_world(true, 1, NULL, true);
  establish_both();
  alo_buffer *out = &w->server.stream.tls->out;
  SSL *ssl = w->server.stream.tls->ssl;
  HARNESS_TURN_UNTIL(w->at.loop, alo_buffer_size(out) == 0);
  SSL_CTX_set_session_ticket_cb(SSL_get_SSL_CTX(ssl), fill_ticket, NULL, NULL);
  SSL_set_max_send_fragment(ssl, 512);
  assert_int_equal(SSL_new_session_ticket(ssl), 1);
  assert_int_equal(SSL_do_handshake(ssl), 1);
  size_t half = alo_buffer_size(out) / 2, other = alo_buffer_size(out) - half;
  assert_in_range(other, 700, sizeof rest);
  memcpy(rest, out->data + out->begin + half, other);
  out->end -= other;
  alo_stream_send(&w->server.stream);
  HARNESS_TURN_UNTIL(w->at.loop, alo_buffer_size(out) == 0);
  for (int at = 0; at < 10; at++) {
    put(&w->client, data + at * 100, 100);
    assert_int_equal(harness_turn(w->at.loop, 0), ALOFT_OK);
  }
  assert_int_equal(w->client.ended, 0);
  assert_int_equal(asked_for, ALO_READABLE);
  assert_int_equal(alo_stream_tx_left(&w->client.stream), w->server.got_size ? 900 : 1000);
  assert_int_equal(alo_buffer_append(out, rest, other), ALOFT_OK);
  alo_stream_send(&w->server.stream);
  HARNESS_TURN_UNTIL(w->at.loop, w->server.got_size == 1000);
  expect_got(&w->server, 1000);
  close_world();
}

/* ---- pressure ---- */

static void test_paused(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 6; seed++) {
    open_world(seed > 0, seed, seed > 1 ? &cuts : NULL, true);
    establish_both();
    alo_stream_pause(&w->client.stream, true);
    unsigned readable = w->client.readable;
    put(&w->server, data, DATA_MAX);
    for (int at = 0; at < 50; at++)
      assert_int_equal(harness_turn(w->at.loop, 0), ALOFT_OK);
    assert_int_equal(w->client.readable, readable);
    alo_stream_pause(&w->client.stream, false);
    HARNESS_TURN_UNTIL(w->at.loop, w->client.got_size > 0);
    alo_stream_pause(&w->client.stream, true);
    alo_stream_pause(&w->client.stream, false);
    HARNESS_TURN_UNTIL(w->at.loop, w->client.got_size == DATA_MAX);
    expect_got(&w->client, DATA_MAX);
    close_world();
  }
}

/* What was received and not decrypted yet is shown when reading goes on, though the kernel has
 * nothing more to tell. */
static void test_paused_in_the_middle(void **state) {
  (void)state;
  for (size_t size = 100000; size < 200000; size += 4001) {
    open_world(true, 1, NULL, true);
    establish_both();
    w->client.pause_in = ALO_STREAM_READABLE;
    put(&w->server, data, size);
    HARNESS_TURN_UNTIL(w->at.loop,
                       (alo_stream_pause(&w->client.stream, false), w->client.got_size == size));
    expect_got(&w->client, size);
    close_world();
  }
}

/* The client's first data comes with the end of its handshake. */
static void test_paused_when_secured(void **state) {
  (void)state;
  open_world(true, 1, NULL, true);
  connect_both();
  w->server.pause_in = ALO_STREAM_SECURED;
  secure_both();
  put(&w->client, data, 100);
  for (int at = 0; at < 50; at++)
    assert_int_equal(harness_turn(w->at.loop, 0), ALOFT_OK);
  assert_int_equal(w->server.secured, 1);
  assert_int_equal(w->server.got_size, 0);
  alo_stream_pause(&w->server.stream, false);
  HARNESS_TURN_UNTIL(w->at.loop, w->server.got_size == 100);
  close_world();
}

static void test_full(void **state) {
  (void)state;
  enum { RX_MAX = 10000, SHARE = 64 << 10 };
  open_world(true, 1, NULL, true);
  establish_both();
  w->client.stream.rx_max = RX_MAX;
  w->client.keeps = true;
  put(&w->server, data, DATA_MAX);
  for (int at = 0; at < 50; at++)
    assert_int_equal(harness_turn(w->at.loop, 0), ALOFT_OK);
  assert_in_range(w->client.stream.rx.size, RX_MAX, RX_MAX + SHARE);
  assert_in_range(w->client.stream.tls->in.size, 0, SHARE);
  w->client.keeps = false;
  take_some(&w->client, w->client.stream.rx.size);
  HARNESS_TURN_UNTIL(w->at.loop, w->client.got_size == DATA_MAX);
  expect_got(&w->client, DATA_MAX);
  close_world();
}

/* ---- ends ---- */

static void test_goodbye(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 8; seed++) {
    open_world(seed > 0, seed, seed > 1 ? &cuts : NULL, true);
    establish_both();
    put(&w->server, data, 1000);
    HARNESS_TURN_UNTIL(w->at.loop, !alo_stream_tx_left(&w->server.stream));
    alo_stream_close(&w->server.stream);
    HARNESS_TURN_UNTIL(w->at.loop, w->client.ended);
    expect_got(&w->client, 1000);
    assert_int_equal(w->client.stream.failed, ALOFT_OK);
    assert_null(alo_stream_failure(&w->client.stream));
    close_world();
  }
}

/* The peer says that it will send no more, behind its last bytes, and stays. */
static void test_goodbye_of_one_who_stays(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 8; seed++) {
    open_world(seed > 0, seed, seed > 1 ? &cuts : NULL, true);
    establish_both();
    alo_stream *server = &w->server.stream;
    alo_buffer *out = &server->tls->out;
    HARNESS_TURN_UNTIL(w->at.loop, alo_buffer_size(out) == 0);
    put(&w->server, data, 1000);
    assert_int_equal(alo_tls_write(server->tls, &server->tx), ALOFT_OK);
    server->tx_taken += 1000;
    alo_tls_say_close(server->tls);
    HARNESS_TURN_UNTIL(w->at.loop, w->client.ended);
    expect_got(&w->client, 1000);
    assert_int_equal(w->client.stream.failed, ALOFT_OK);
    assert_int_equal(w->server.ended, 0);
    close_world();
  }
}

static void test_cut_off(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 8; seed++) {
    open_world(seed > 0, seed, seed > 1 ? &cuts : NULL, true);
    establish_both();
    put(&w->server, data, 1000);
    HARNESS_TURN_UNTIL(w->at.loop, !alo_stream_tx_left(&w->server.stream));
    w->server.stream.tls->failed = ALOFT_LOST; /* so that it says nothing */
    alo_stream_close(&w->server.stream);
    HARNESS_TURN_UNTIL(w->at.loop, w->client.ended);
    expect_got(&w->client, 1000);
    assert_int_equal(w->client.stream.failed, ALOFT_LOST);
    assert_non_null(strstr(alo_stream_failure(&w->client.stream), "close_notify"));
    close_world();
  }
}

static void test_cut_off_in_the_handshake(void **state) {
  (void)state;
  for (int sim = 0; sim < 2; sim++) {
    open_world(sim, 1, NULL, true);
    connect_both();
    assert_int_equal(alo_stream_secure(&w->client.stream, new_session(false)), ALOFT_OK);
    put(&w->client, data, 10);
    HARNESS_TURN_UNTIL(w->at.loop, w->server.readable);
    alo_stream_close(&w->server.stream);
    HARNESS_TURN_UNTIL(w->at.loop, w->client.ended);
    assert_int_equal(w->client.stream.failed, ALOFT_ENCRYPTION);
    assert_non_null(
        strstr(alo_stream_failure(&w->client.stream), "closed the connection during the TLS"));
    assert_int_equal(w->client.stream.tx_written, 0);
    close_world();
  }
}

static void test_mistrusted(void **state) {
  (void)state;
  for (int sim = 0; sim < 2; sim++) {
    open_world(sim, 1, NULL, false);
    connect_both();
    secure_both();
    put(&w->client, "a secret", 8);
    HARNESS_TURN_UNTIL(w->at.loop, w->client.ended && w->server.ended);
    assert_int_equal(w->client.stream.failed, ALOFT_ENCRYPTION);
    assert_int_equal(w->server.stream.failed, ALOFT_ENCRYPTION); /* by the alert */
    assert_int_equal(w->client.secured + w->client.readable + w->server.readable, 0);
    assert_int_equal(w->client.stream.tx_written, 0);
    close_world();
  }
}

static void test_nonsense_afterwards(void **state) {
  (void)state;
  open_world(true, 1, NULL, true);
  establish_both();
  assert_int_equal(alo_stream_unsecure(&w->server.stream), ALOFT_OK);
  put(&w->server, "not a record at all", 19);
  HARNESS_TURN_UNTIL(w->at.loop, w->client.ended);
  assert_int_equal(w->client.stream.failed, ALOFT_ENCRYPTION);
  assert_int_equal(w->client.got_size, 0);
  close_world();
}

/* ---- closed in callbacks, and wrong states ---- */

static void test_closed_in_events(void **state) {
  (void)state;
  for (int event = ALO_STREAM_CONNECTED; event <= ALO_STREAM_ENDED; event++)
    for (int server = 0; server < 2; server++)
      for (uint64_t seed = 1; seed < 5; seed++) {
        open_world(true, seed, &cuts, true);
        side *closes = server ? &w->server : &w->client;
        closes->close_in = event;
        assert_int_equal(alo_stream_dial(&w->client.stream, ALOFT_TEXT("127.0.0.1"), w->port),
                         ALOFT_OK);
        for (int at = 0; at < 400; at++) {
          alo_stream *client = &w->client.stream, *peer = &w->server.stream;
          if (client->connected && !client->ended && !client->tls && peer->open)
            secure_both();
          if (w->client.secured + w->server.secured == 2 && !closes->drained && peer->open &&
              client->open && at % 50 == 0) {
            closes->stream.want_drained = true;
            put(&w->client, data, 20000);
            put(&w->server, data, 20000);
          }
          if (at == 350)
            alo_stream_close(server ? client : peer);
          assert_int_equal(harness_turn(w->at.loop, 0), ALOFT_OK);
        }
        close_world();
      }
}

static void test_wrong_states(void **state) {
  (void)state;
  open_world(true, 1, NULL, true);
  assert_int_equal(alo_stream_secure(&w->client.stream, new_session(false)), ALOFT_WRONG_STATE);
  assert_int_equal(alo_stream_unsecure(&w->client.stream), ALOFT_WRONG_STATE);
  establish_both();
  assert_int_equal(alo_stream_secure(&w->client.stream, new_session(false)), ALOFT_WRONG_STATE);
  put(&w->client, data, 10);
  assert_int_equal(alo_stream_unsecure(&w->client.stream), ALOFT_WRONG_STATE); /* output is left */
  HARNESS_TURN_UNTIL(w->at.loop, w->server.got_size == 10);
  alo_stream_close(&w->server.stream);
  HARNESS_TURN_UNTIL(w->at.loop, w->client.ended);
  assert_int_equal(alo_stream_secure(&w->client.stream, new_session(false)), ALOFT_WRONG_STATE);
  close_world();
}

/* ---- memory ---- */

static void test_no_heap_in_steady_state(void **state) {
  (void)state;
  open_world(true, 1, NULL, true);
  establish_both();
  uint64_t calls = 0;
  for (unsigned at = 0; at < 300; at++) {
    if (at == 50)
      calls = w->at.heap.allocations + w->at.heap.resizes + w->at.heap.releases;
    w->server.got_size = w->client.got_size = 0;
    put(&w->client, data, 700);
    put(&w->server, data, 5000);
    HARNESS_TURN_UNTIL(w->at.loop, w->server.got_size == 700 && w->client.got_size == 5000);
  }
  assert_int_equal(w->at.heap.allocations + w->at.heap.resizes + w->at.heap.releases, calls);
  close_world();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bytes_both_ways),
      cmocka_unit_test(test_upgrade),
      cmocka_unit_test(test_held_output_waits_quietly),
      cmocka_unit_test(test_back_in_the_clear),
      cmocka_unit_test(test_one_record_for_a_turn),
      cmocka_unit_test(test_ticket_half_there),
      cmocka_unit_test(test_paused),
      cmocka_unit_test(test_paused_in_the_middle),
      cmocka_unit_test(test_paused_when_secured),
      cmocka_unit_test(test_full),
      cmocka_unit_test(test_goodbye),
      cmocka_unit_test(test_goodbye_of_one_who_stays),
      cmocka_unit_test(test_cut_off),
      cmocka_unit_test(test_cut_off_in_the_handshake),
      cmocka_unit_test(test_mistrusted),
      cmocka_unit_test(test_nonsense_afterwards),
      cmocka_unit_test(test_closed_in_events),
      cmocka_unit_test(test_wrong_states),
      cmocka_unit_test(test_no_heap_in_steady_state),
  };
  return cmocka_run_group_tests(tests, make_all, NULL);
}
