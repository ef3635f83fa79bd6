#include "nats_client.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- failure ---- */

bool alo_nats_written(const aloft_nats *nats, uint64_t tx_end) {
  if (tx_end && nats->phase != ALO_NATS_PHASE_DEAD && !nats->loop->closing)
    return true;
  return tx_end && tx_end <= nats->stream.tx_written;
}

/* Completes by what is known of the operation's bytes. */
static void finish_lost(aloft_nats *nats, aloft_op *op, bool written, bool closed) {
  op->written = written;
  if (closed)
    alo_op_finish(op, ALOFT_CLOSED, NULL);
  else
    alo_op_finish(op, op->written ? ALOFT_LOST : ALOFT_LOST_UNSENT,
                  op->written ? &nats->lost : &nats->unsent);
}

static void finish_requests(aloft_nats *nats, bool closed) {
  aloft_op *op;
  uint32_t cursor = 0;
  while ((op = alo_inflight_any(&nats->requests, &cursor))) {
    aloft_nats_request *request = ALOFT_CONTAINER(op, aloft_nats_request, op);
    alo_inflight_remove(&nats->requests, op);
    finish_lost(nats, op, alo_nats_written(nats, request->own.tx_end), closed);
  }
}

static void finish_subscriptions(aloft_nats *nats, bool closed) {
  aloft_op *op;
  uint32_t cursor = 0;
  while ((op = alo_inflight_any(&nats->subscriptions, &cursor))) {
    alo_inflight_remove(&nats->subscriptions, op);
    finish_lost(nats, op, alo_nats_written(nats, alo_nats_subscription_of(op)->own.tx_end), closed);
  }
}

void alo_nats_finish_all(aloft_nats *nats, bool closed) {
  finish_requests(nats, closed);
  finish_subscriptions(nats, closed);
  aloft_op *next;
  for (aloft_op *op = nats->flushes.first; op; op = next) {
    next = alo_nats_flush_next(op);
    finish_lost(nats, op, alo_nats_flush_written(nats, op), closed);
  }
  nats->flushes.first = nats->flushes.last = NULL;
}

void alo_nats_fail(aloft_nats *nats, aloft_status status, int system, const char *format, ...) {
  if (nats->phase == ALO_NATS_PHASE_DEAD)
    return;
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(nats->failure_text, sizeof nats->failure_text, format, arguments);
  va_end(arguments);
  if (size >= (int)sizeof nats->failure_text)
    size = (int)sizeof nats->failure_text - 1;
  alo_nats_make_printable(nats->failure_text, size > 0 ? (size_t)size : 0);
  nats->failure = (aloft_error){.status = status,
                                .system = system,
                                .message = {nats->failure_text, size > 0 ? (size_t)size : 0}};
  nats->lost = nats->unsent = nats->failure;
  nats->lost.status = ALOFT_LOST;
  nats->unsent.status = ALOFT_LOST_UNSENT;
  bool unsent = nats->held_publications || alo_stream_tx_left(&nats->stream);
  alo_buffer_fini(&nats->hello);
  alo_buffer_fini(&nats->stream.tx); /* nothing is sent any more, and it may hold credentials */
  nats->died_unsent = unsent;
  if (nats->leaving) {
    alo_nats_closed(nats, unsent ? ALOFT_LOST_UNSENT : ALOFT_LOST,
                    unsent ? &nats->unsent : &nats->lost);
    return;
  }
  nats->phase = ALO_NATS_PHASE_DEAD;
  alo_timer_clear(&nats->timer);
  alo_stream_close(&nats->stream);
  alo_nats_hold_input(nats, false);
  alo_nats_finish_all(nats, false);
  if (nats->opening)
    alo_op_finish(nats->opening, status, &nats->failure);
  nats->opening = NULL;
  alo_nats_tell(nats, ALOFT_NATS_DISCONNECTED, &nats->failure);
}

void alo_nats_dialled_too_long(alo_timer *timer) {
  aloft_nats *nats = ALOFT_CONTAINER(timer, aloft_nats, timer);
  if (!nats->stream.open && nats->stream.failed == ALOFT_RESOLVE) /* as dialling began */
    alo_nats_fail(nats, ALOFT_RESOLVE, 0, "the host name %s was not resolved", nats->host);
  else if (!nats->stream.open)
    alo_nats_fail(nats, ALOFT_CONNECT, nats->stream.error, "cannot connect to %s:%u: %s",
                  nats->host, (unsigned)nats->port, strerror(nats->stream.error));
  else if (nats->phase == ALO_NATS_PHASE_SECURING)
    alo_nats_fail(nats, ALOFT_TIMEOUT, 0,
                  "%s:%u: the TLS handshake was not complete within the time to connect",
                  nats->host, (unsigned)nats->port);
  else
    alo_nats_fail(nats, ALOFT_TIMEOUT, 0,
                  "%s:%u did not complete the connect in time: check that a NATS server is there%s",
                  nats->host, (unsigned)nats->port,
                  nats->phase == ALO_NATS_PHASE_GREETING && nats->tls_required && !nats->tls_first
                      ? ", and whether it wants tls_first"
                      : "");
}

static void stream_ended(aloft_nats *nats) {
  const alo_stream *stream = &nats->stream;
  const char *failure = alo_stream_failure(stream);
  const char *reason = failure         ? failure
                       : stream->error ? strerror(stream->error)
                                       : "closed by the server";
  unsigned port = nats->port;
  if (stream->failed == ALOFT_RESOLVE)
    alo_nats_fail(nats, ALOFT_RESOLVE, 0, "the host name %s was not resolved", nats->host);
  else if (stream->failed == ALOFT_CONNECT)
    alo_nats_fail(nats, ALOFT_CONNECT, stream->error, "cannot connect to %s:%u: %s", nats->host,
                  port, reason);
  else if (stream->failed == ALOFT_NO_MEMORY)
    alo_nats_fail(nats, ALOFT_NO_MEMORY, 0, "no memory to receive from %s:%u", nats->host, port);
  else if (nats->phase == ALO_NATS_PHASE_SECURING)
    alo_nats_securing_ended(nats);
  else if (nats->phase == ALO_NATS_PHASE_READY)
    alo_nats_fail(nats, ALOFT_LOST, stream->error, "the connection to %s:%u was lost: %s",
                  nats->host, port, reason);
  else
    alo_nats_fail(nats, stream->failed == ALOFT_ENCRYPTION ? ALOFT_ENCRYPTION : ALOFT_CONNECT,
                  stream->error, "the connection to %s:%u ended before it was ready: %s",
                  nats->host, port, reason);
}

/* ---- PING and PONG ---- */

void alo_nats_ping(aloft_nats *nats) {
  aloft_status status = alo_buffer_append(&nats->stream.tx, "PING\r\n", 6);
  if (status != ALOFT_OK) {
    alo_nats_fail(nats, status, 0, "no room in the output for a PING");
    return;
  }
  nats->pings++;
  alo_stream_send(&nats->stream);
}

void alo_nats_hold_input(aloft_nats *nats, bool held) {
  if (nats->input_held == held)
    return;
  nats->input_held = held;
  if (held)
    nats->loop->inputs_held++;
  else
    nats->loop->inputs_held--;
}

static void answer_ping(aloft_nats *nats) {
  aloft_status status = alo_buffer_append(&nats->stream.tx, "PONG\r\n", 6);
  if (status != ALOFT_OK)
    alo_nats_fail(nats, status, 0, "no room in the output for a PONG");
  else
    alo_stream_send(&nats->stream);
}

static void ping_due(alo_timer *timer) {
  aloft_nats *nats = ALOFT_CONTAINER(timer, aloft_nats, timer);
  /* Only its own PINGs count: a flush may have sent any number a moment ago. */
  if (nats->pings_out >= nats->pings_out_max) {
    alo_nats_fail(nats, ALOFT_LOST, 0, "the server %s:%u has left %u PINGs unanswered", nats->host,
                  (unsigned)nats->port, nats->pings_out);
    return;
  }
  alo_nats_shrink(nats);
  nats->pings_out++;
  alo_nats_ping(nats);
  if (nats->phase == ALO_NATS_PHASE_READY)
    alo_timer_set(nats->ops, &nats->timer, nats->ping_interval_ns, ping_due);
}

/* CONNECT has been written, for the server has answered what came after it: nothing of it stays in
 * the output's memory. */
static void wipe_hello(aloft_nats *nats) {
  alo_buffer *tx = &nats->stream.tx;
  if (!tx->data)
    return;
  memset(tx->data, 0, tx->begin);
  memset(tx->data + tx->end, 0, tx->room - tx->end);
}

static void ready(aloft_nats *nats) {
  nats->phase = ALO_NATS_PHASE_READY;
  wipe_hello(nats);
  if (nats->leaving) {
    alo_nats_release_held(nats);
    if (nats->phase == ALO_NATS_PHASE_READY)
      alo_nats_leave(nats);
    return;
  }
  alo_timer_set(nats->ops, &nats->timer, nats->ping_interval_ns, ping_due);
  if (nats->opening)
    alo_op_finish(nats->opening, ALOFT_OK, NULL);
  nats->opening = NULL;
  alo_nats_tell(nats, ALOFT_NATS_CONNECTED, NULL);
  if (nats->lame_duck)
    alo_nats_tell(nats, ALOFT_NATS_LAME_DUCK, NULL);
  alo_nats_release_held(nats);
}

/* A flush operation remembers the number of its PING, as far as 32 bits tell. */
static void complete_flush(aloft_nats *nats) {
  aloft_op *op = nats->flushes.first;
  if (!op || op->own.slot != (uint32_t)nats->pongs)
    return;
  nats->flushes.first = alo_nats_flush_next(op);
  if (!nats->flushes.first)
    nats->flushes.last = NULL;
  op->written = true;
  alo_op_finish(op, ALOFT_OK, NULL);
}

static void pong(aloft_nats *nats) {
  if (nats->pongs == nats->pings) {
    alo_nats_fail(nats, ALOFT_PROTOCOL, 0, "the server sent a PONG that no PING asked for");
    return;
  }
  nats->pongs++;
  nats->pings_out = 0;
  if (nats->phase == ALO_NATS_PHASE_LOGIN)
    ready(nats);
  else if (nats->phase == ALO_NATS_PHASE_CLOSING && nats->pongs == nats->pings)
    alo_nats_closed(nats, ALOFT_OK, NULL);
  else
    complete_flush(nats);
}

/* ---- INFO and -ERR ---- */

static void remember_server(aloft_nats *nats, const alo_nats_info *info) {
  const aloft_text texts[3] = {info->server_name, info->version, info->server_id};
  alo_buffer_take(&nats->server, alo_buffer_size(&nats->server));
  memset(nats->server_sizes, 0, sizeof nats->server_sizes);
  for (size_t i = 0; i < 3; i++) {
    if (texts[i].size == 0 || alo_buffer_reserve(&nats->server, texts[i].size) != ALOFT_OK)
      continue;
    char *out = (char *)nats->server.data + nats->server.end;
    nats->server_sizes[i] = alo_nats_info_text(texts[i], out);
    nats->server.end += nats->server_sizes[i];
  }
}

void alo_nats_log_in(aloft_nats *nats) {
  alo_buffer *hello = &nats->hello;
  if (nats->stream.tls)
    alo_nats_connect_encrypted(hello->data + hello->begin);
  if (alo_buffer_append(&nats->stream.tx, hello->data + hello->begin, alo_buffer_size(hello)) !=
      ALOFT_OK) {
    alo_nats_fail(nats, ALOFT_NO_MEMORY, 0, "no memory for CONNECT");
    return;
  }
  alo_buffer_fini(hello);
  nats->phase = ALO_NATS_PHASE_LOGIN;
  alo_nats_ping(nats);
}

static void info_in(aloft_nats *nats, const alo_nats_event *event) {
  alo_nats_info info;
  const char *wrong = alo_nats_info_parse((aloft_text){event->data.data, event->data.size}, &info);
  if (wrong) {
    alo_nats_fail(nats, ALOFT_PROTOCOL, 0, "INFO is not valid: %s", wrong);
    return;
  }
  nats->max_payload = info.max_payload;
  nats->server_headers = info.headers;
  remember_server(nats, &info);
  bool lame_duck_before = nats->lame_duck;
  nats->lame_duck |= info.lame_duck;
  if (nats->phase == ALO_NATS_PHASE_GREETING) {
    alo_nats_agree(nats, info.tls_required, info.tls_available);
  } else if (nats->phase == ALO_NATS_PHASE_READY && nats->lame_duck && !lame_duck_before) {
    alo_nats_tell(nats, ALOFT_NATS_LAME_DUCK, NULL);
  }
}

static bool begins(aloft_text text, const char *with) {
  size_t size = strlen(with);
  return text.size >= size && memcmp(text.data, with, size) == 0;
}

/* nats-server keeps the connection after these, and closes it after all others. */
static bool survives(aloft_text text) {
  return begins(text, "Permissions Violation") || begins(text, "Invalid Subject") ||
         begins(text, "Invalid Publish Subject") || begins(text, "maximum subscriptions exceeded");
}

/* Without its inbox no request gets a reply: those in flight end, and the next tries again. */
static void look_for_inbox(aloft_nats *nats, aloft_text text) {
  static const char refused[] = "Permissions Violation for Subscription to \"";
  size_t before = sizeof refused - 1;
  if (!begins(text, refused) || text.size - before < nats->inbox_size ||
      memcmp(text.data + before, nats->inbox, nats->inbox_size) != 0)
    return;
  size_t size =
      text.size < sizeof nats->inbox_refused_text ? text.size : sizeof nats->inbox_refused_text;
  memcpy(nats->inbox_refused_text, text.data, size);
  alo_nats_make_printable(nats->inbox_refused_text, size);
  nats->inbox_refused =
      (aloft_error){.status = ALOFT_SERVER, .message = {nats->inbox_refused_text, size}};
  nats->inbox_subscribed = false;
  aloft_op *op;
  uint32_t cursor = 0;
  while ((op = alo_inflight_any(&nats->requests, &cursor))) {
    alo_inflight_remove(&nats->requests, op);
    op->written = alo_nats_written(nats, ALOFT_CONTAINER(op, aloft_nats_request, op)->own.tx_end);
    alo_op_finish(op, ALOFT_SERVER, &nats->inbox_refused);
  }
}

static void error_in(aloft_nats *nats, const alo_nats_event *event) {
  aloft_text text = {event->data.data, event->data.size};
  if (nats->phase >= ALO_NATS_PHASE_READY && survives(text)) {
    const aloft_error error = {.status = ALOFT_SERVER, .message = text};
    look_for_inbox(nats, text);
    alo_nats_tell(nats, ALOFT_NATS_ERROR, &error);
    return;
  }
  aloft_status status = ALOFT_SERVER;
  if (nats->phase == ALO_NATS_PHASE_READY)
    status = ALOFT_LOST;
  else if (begins(text, "Authorization") || begins(text, "Authentication") ||
           begins(text, "User Authentication") || begins(text, "Account Authentication"))
    status = ALOFT_AUTH;
  alo_nats_fail(nats, status, 0, "%s:%u answered '%.*s'%s", nats->host, (unsigned)nats->port,
                ALOFT_PRINT(text), status == ALOFT_AUTH ? ": check user, password or token" : "");
}

/* ---- events in ---- */

static void broken(aloft_nats *nats, const alo_nats_event *event) {
  alo_nats_fail(nats, ALOFT_PROTOCOL, 0, "%s:%u does not speak NATS at byte %llu: %s", nats->host,
                (unsigned)nats->port, (unsigned long long)event->offset, event->reason);
}

static void handle(aloft_nats *nats, const alo_nats_event *event, alo_block *block) {
  if (nats->phase == ALO_NATS_PHASE_GREETING && event->kind != ALO_NATS_INFO &&
      event->kind != ALO_NATS_ERR && event->kind != ALO_NATS_BROKEN) {
    alo_nats_fail(nats, ALOFT_PROTOCOL, 0, "%s:%u does not begin with INFO", nats->host,
                  (unsigned)nats->port);
    return;
  }
  switch (event->kind) {
  case ALO_NATS_MSG:
    nats->messages_in++;
    nats->bytes_in += event->data.size;
    nats->headers_malformed += event->headers_malformed;
    if (event->sid == ALO_NATS_INBOX_SID)
      alo_nats_reply(nats, event, block);
    else
      alo_nats_message_in(nats, event, block);
    break;
  case ALO_NATS_PING:
    answer_ping(nats);
    break;
  case ALO_NATS_PONG:
    pong(nats);
    break;
  case ALO_NATS_INFO:
    info_in(nats, event);
    break;
  case ALO_NATS_ERR:
    error_in(nats, event);
    break;
  case ALO_NATS_BROKEN:
    broken(nats, event);
    break;
  case ALO_NATS_OK:
  case ALO_NATS_NEED:
    break;
  }
}

/* Whether received bytes are messages: not while TLS begins, nor after the end. */
static inline bool takes_messages(const aloft_nats *nats) {
  return nats->phase >= ALO_NATS_PHASE_GREETING && nats->phase < ALO_NATS_PHASE_DEAD;
}

/* INFO has been taken, and TLS begins. Whatever stands behind it in clear could be from anyone, and
 * would be read as if it had come encrypted. */
static void begin_securing(aloft_nats *nats) {
  if (nats->stream.rx.size)
    alo_nats_fail(nats, ALOFT_ENCRYPTION, 0,
                  "%s:%u: %zu bytes came in clear between INFO and the TLS handshake, where a "
                  "server sends nothing: somebody on the way may have put them there",
                  nats->host, (unsigned)nats->port, nats->stream.rx.size);
  else
    alo_nats_secure(nats);
}

/* Reading pauses while as many messages wait for their callbacks as may. */
static bool can_read(aloft_nats *nats) {
  if (nats->phase == ALO_NATS_PHASE_DEAD || !nats->stream.rx.first)
    return false;
  bool room = alo_nats_deliveries_room(nats);
  if (nats->phase == ALO_NATS_PHASE_DEAD)
    return false;
  alo_stream_pause(&nats->stream, !room);
  /* A reply may wait among the bytes, and no deadline is to come before it. */
  alo_nats_hold_input(nats, !room);
  return room;
}

/* Where a cut line ends is not known: room for twice what there is keeps the moving linear. */
static size_t room_for(const aloft_nats *nats, const alo_nats_event *event, size_t size) {
  bool cut_line = nats->parser.state != ALO_NATS_PAYLOAD;
  return cut_line && event->need < 2 * size ? 2 * size : event->need;
}

/* Takes whole messages from the block, as many as may wait for their callbacks; `*taken` bytes of
 * it, which are then dropped at once. ALO_NATS_NEED: `event` says what is needed behind them. */
static alo_nats_event_kind take_messages(aloft_nats *nats, alo_block *block, alo_nats_event *event,
                                         size_t *taken) {
  const uint8_t *begin = block->data + block->begin;
  const size_t size = block->end - block->begin;
  *taken = 0;
  do {
    size_t consumed;
    if (alo_nats_parser_next(&nats->parser, begin + *taken, size - *taken, &consumed, event) ==
        ALO_NATS_NEED)
      return ALO_NATS_NEED;
    handle(nats, event, block);
    *taken += consumed;
  } while (*taken < size && takes_messages(nats) &&
           (alo_nats_deliveries_at_hand(nats) || alo_nats_deliveries_room(nats)));
  return event->kind;
}

void alo_nats_read_on(aloft_nats *nats) {
  alo_chain *rx = &nats->stream.rx;
  while (can_read(nats)) {
    alo_block *block = rx->first;
    alo_nats_event event;
    size_t taken, size = block->end - block->begin;
    if (size == 0 && !block->next)
      return;
    if (size == 0) { /* read to its end while it was held: the bytes go on in the next */
      alo_stream_drop(&nats->stream, 0);
      continue;
    }
    bool need = take_messages(nats, block, &event, &taken) == ALO_NATS_NEED;
    if (nats->phase == ALO_NATS_PHASE_DEAD)
      return;
    if (taken > 0)
      alo_stream_drop(&nats->stream, taken);
    if (nats->phase == ALO_NATS_PHASE_SECURING) {
      begin_securing(nats);
      return;
    }
    if (!need)
      continue;
    size -= taken;
    if (!alo_chain_gather(rx, &nats->loop->blocks, room_for(nats, &event, size))) {
      alo_nats_fail(nats, ALOFT_NO_MEMORY, 0, "no memory for a message of %zu bytes", event.need);
      return;
    }
    if (rx->first->end - rx->first->begin <= size)
      return;
  }
}

void alo_nats_stream_event(alo_stream *stream, alo_stream_event event) {
  aloft_nats *nats = ALOFT_CONTAINER(stream, aloft_nats, stream);
  switch (event) {
  case ALO_STREAM_CONNECTED:
    nats->phase = ALO_NATS_PHASE_GREETING;
    if (nats->tls_first)
      alo_nats_secure(nats);
    break;
  case ALO_STREAM_SECURED:
    alo_nats_secured(nats);
    break;
  case ALO_STREAM_READABLE:
    alo_nats_read_on(nats);
    break;
  case ALO_STREAM_ENDED:
    stream_ended(nats);
    break;
  case ALO_STREAM_DRAINED:
    break;
  }
}
