#include "middle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { OUTPUT_MAX = 64 << 20 };

typedef struct middle_own {
  middle *m;
  alo_watch watch;
  alo_socket *listener;
  alo_stream client, server;
  bool open, answered;
} middle_own;

static void end(middle_own *own) {
  own->m->ended = true;
  alo_stream_close(&own->client);
  alo_stream_close(&own->server);
}

static void put(middle_own *own, alo_stream *to, const void *data, size_t size) {
  if (alo_buffer_append(&to->tx, data, size) == ALOFT_OK)
    alo_stream_send(to);
  else
    end(own);
}

/* ---- from the server ---- */

static size_t share(const middle *m, size_t size) {
  const uint64_t limits[] = {m->hold_at, m->cut_at};
  for (size_t i = 0; i < 2; i++)
    if (limits[i] && size > limits[i] - m->from_server)
      size = (size_t)(limits[i] > m->from_server ? limits[i] - m->from_server : 0);
  return size;
}

static void forward(middle_own *own) {
  middle *m = own->m;
  alo_chain *rx = &own->server.rx;
  while (!m->ended && rx->size) {
    const alo_block *first = rx->first;
    size_t size = share(m, first->end - first->begin);
    if (size == 0)
      break;
    put(own, &own->client, first->data + first->begin, size);
    m->from_server += size;
    alo_stream_drop(&own->server, size);
  }
  bool all = own->server.ended && rx->size == 0;
  if (!m->ended && (all || (m->cut_at && m->from_server == m->cut_at)))
    own->client.want_drained = true;
  if (own->client.want_drained)
    alo_stream_send(&own->client);
}

static void server_event(alo_stream *stream, alo_stream_event event) {
  middle_own *own = ALOFT_CONTAINER(stream, middle_own, server);
  if (event == ALO_STREAM_READABLE || event == ALO_STREAM_ENDED)
    forward(own);
}

/* ---- from the client ---- */

static void take(middle_own *own) {
  middle *m = own->m;
  alo_chain *rx = &own->client.rx;
  while (rx->size) {
    const alo_block *first = rx->first;
    size_t size = first->end - first->begin;
    m->from_client += size;
    if (m->to_port && own->server.open)
      put(own, &own->server, first->data + first->begin, size);
    alo_stream_drop(&own->client, size);
  }
  if (!m->to_port && m->answer.size && !own->answered)
    put(own, &own->client, m->answer.data, m->answer.size);
  own->answered = true;
}

static void client_event(alo_stream *stream, alo_stream_event event) {
  middle_own *own = ALOFT_CONTAINER(stream, middle_own, client);
  if (event == ALO_STREAM_READABLE)
    take(own);
  else if (event == ALO_STREAM_ENDED || event == ALO_STREAM_DRAINED)
    end(own);
}

static void end_tls(middle_own *own) {
  alo_tls *tls;
  assert_int_equal(alo_tls_open(&tls, own->m->tls, &own->m->loop->blocks, NULL), ALOFT_OK);
  assert_int_equal(alo_stream_secure(&own->client, tls), ALOFT_OK);
}

static void drop_last(middle_own *own) {
  if (!own->open)
    return;
  end(own);
  alo_stream_fini(&own->client);
  alo_stream_fini(&own->server);
  own->open = false;
}

static void client_waits(alo_watch *watch, unsigned events) {
  (void)events;
  middle_own *own = ALOFT_CONTAINER(watch, middle_own, watch);
  middle *m = own->m;
  drop_last(own);
  memset(&own->client, 0, sizeof own->client);
  memset(&own->server, 0, sizeof own->server);
  alo_stream_init(&own->client, m->loop, OUTPUT_MAX);
  alo_stream_init(&own->server, m->loop, OUTPUT_MAX);
  own->client.event = client_event;
  own->server.event = server_event;
  own->open = true;
  own->answered = m->ended = false;
  m->from_server = m->from_client = 0;
  if (!alo_stream_accept(&own->client, own->listener))
    return;
  m->accepted++;
  if (m->tls)
    end_tls(own);
  if (m->to_port)
    assert_int_equal(alo_stream_dial(&own->server, ALOFT_TEXT("127.0.0.1"), m->to_port), ALOFT_OK);
  else if (m->greeting.size)
    put(own, &own->client, m->greeting.data, m->greeting.size);
}

/* ---- life ---- */

void middle_open(middle *m, aloft_loop *loop, uint16_t to_port) {
  memset(m, 0, sizeof *m);
  middle_own *own = calloc(1, sizeof *own);
  assert_non_null(own);
  alo_address at = {.in = {.sin_family = AF_INET}}, bound;
  at.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  own->m = m;
  own->watch.ready = client_waits;
  assert_int_equal(
      loop->driver->methods->listen(loop->driver, &at, &own->watch, &own->listener, &bound), 0);
  m->loop = loop;
  m->own = own;
  m->to_port = to_port;
  m->port = ntohs(bound.in.sin_port);
  snprintf(m->url, sizeof m->url, "nats://127.0.0.1:%u", (unsigned)m->port);
}

void middle_close(middle *m) {
  if (!m->own)
    return;
  drop_last(m->own);
  m->loop->driver->methods->shut(m->own->listener);
  free(m->own);
  m->own = NULL;
}

void middle_go_on(middle *m) {
  if (!m->ended && m->own->open)
    forward(m->own);
}

void middle_say(middle *m, const void *data, size_t size) {
  put(m->own, &m->own->client, data, size);
}
