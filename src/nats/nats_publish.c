#include "nats_client.h"
#include "op_path.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- refusals ---- */

aloft_status alo_nats_refuse(aloft_nats *nats, aloft_op *op, aloft_status status,
                             const char *format, ...) {
  if (!op)
    return status;
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(nats->refusal_text, sizeof nats->refusal_text, format, arguments);
  va_end(arguments);
  if (size >= (int)sizeof nats->refusal_text)
    size = (int)sizeof nats->refusal_text - 1;
  nats->refusal =
      (aloft_error){.status = status, .message = {nats->refusal_text, size > 0 ? (size_t)size : 0}};
  return alo_op_refuse(op, status, &nats->refusal);
}

aloft_status alo_nats_usable(aloft_nats *nats, aloft_op *op) {
  if (nats->leaving || nats->bury.kind)
    return op ? alo_op_refuse(op, ALOFT_CLOSED, NULL) : ALOFT_CLOSED;
  if (nats->phase == ALO_NATS_PHASE_DEAD)
    return op ? alo_op_refuse(op, ALOFT_LOST_UNSENT, &nats->unsent) : ALOFT_LOST_UNSENT;
  return ALOFT_OK;
}

/* ---- output ---- */

/* Both are used for each publication: written into their caller there. */
static inline uint8_t *reserve(aloft_nats *nats, const alo_nats_record *record,
                               aloft_status *status) {
  bool ready = nats->phase == ALO_NATS_PHASE_READY;
  alo_buffer *out = ready ? &nats->stream.tx : &nats->held;
  size_t extra = ready ? 0 : sizeof *record, size = record->size + extra;
  bool spare = record->kind == ALO_NATS_HELD_FLUSH || record->kind == ALO_NATS_HELD_OTHER;
  size_t max = nats->tx_bytes_max + (spare ? ALO_NATS_TX_SLACK / 2 : 0);
  *status = ALOFT_OK;
  if (alo_buffer_size(out) + size > max)
    *status = ALOFT_FULL;
  else if (out->data == NULL || size > out->room - out->end)
    *status = alo_buffer_reserve(out, size);
  return *status == ALOFT_OK ? out->data + out->end + extra : NULL;
}

static inline uint64_t commit(aloft_nats *nats, const alo_nats_record *record) {
  if (nats->phase == ALO_NATS_PHASE_READY) {
    nats->stream.tx.end += record->size;
    alo_stream_send(&nats->stream);
    return alo_stream_tx_end(&nats->stream);
  }
  memcpy(nats->held.data + nats->held.end, record, sizeof *record);
  nats->held.end += sizeof *record + record->size;
  nats->held_publications += record->kind == ALO_NATS_HELD_PUB;
  return 0;
}

uint8_t *alo_nats_reserve(aloft_nats *nats, const alo_nats_record *record, aloft_status *status) {
  return reserve(nats, record, status);
}

uint64_t alo_nats_commit(aloft_nats *nats, const alo_nats_record *record) {
  return commit(nats, record);
}

/* ---- held records ---- */

static aloft_status server_takes(const aloft_nats *nats, uint64_t payload, bool headers) {
  if (headers && !nats->server_headers)
    return ALOFT_UNSUPPORTED;
  if (nats->max_payload && payload > nats->max_payload)
    return ALOFT_TOO_LARGE;
  return ALOFT_OK;
}

static void drop_publication(aloft_nats *nats, const alo_nats_record *record) {
  char text[160];
  int size = snprintf(text, sizeof text,
                      "a publication of %u bytes, accepted before the server's limits were known, "
                      "was dropped: the server takes %llu%s",
                      record->payload, (unsigned long long)nats->max_payload,
                      nats->server_headers ? "" : ", without headers");
  const aloft_error error = {.status = ALOFT_TOO_LARGE, .message = {text, (size_t)size}};
  nats->publications_dropped++;
  alo_nats_tell(nats, ALOFT_NATS_DROPPED, &error);
}

/* A request that was cancelled or has expired meanwhile is not sent at all. */
static void release_request(aloft_nats *nats, const alo_nats_record *record, const uint8_t *bytes) {
  aloft_op *op = alo_inflight_find(&nats->requests, record->key);
  if (!op)
    return;
  aloft_status status = server_takes(nats, record->payload, record->headers);
  if (status == ALOFT_OK)
    status = alo_buffer_append(&nats->stream.tx, bytes, record->size);
  if (status != ALOFT_OK) {
    alo_inflight_remove(&nats->requests, op);
    alo_op_finish(op, status, NULL);
    return;
  }
  ALOFT_CONTAINER(op, aloft_nats_request, op)->own.tx_end = alo_stream_tx_end(&nats->stream);
}

/* One that has ended meanwhile is not sent either. */
static aloft_status release_sub(aloft_nats *nats, const alo_nats_record *record,
                                const uint8_t *bytes) {
  aloft_op *op = alo_inflight_find(&nats->subscriptions, record->key);
  if (!op)
    return ALOFT_OK;
  aloft_status status = alo_buffer_append(&nats->stream.tx, bytes, record->size);
  alo_nats_subscription_of(op)->own.tx_end = alo_stream_tx_end(&nats->stream);
  return status;
}

/* `*flush`: the first flush operation whose PING is held. */
static aloft_status release_ping(aloft_nats *nats, const uint8_t *bytes, aloft_op **flush) {
  nats->held_pings--;
  nats->pings++;
  aloft_status status = alo_buffer_append(&nats->stream.tx, bytes, 6);
  if (*flush && (*flush)->own.slot == (uint32_t)nats->pings) {
    (*flush)->own.spare = (void *)(uintptr_t)alo_stream_tx_end(&nats->stream);
    *flush = alo_nats_flush_next(*flush);
  }
  return status;
}

static aloft_status release_record(aloft_nats *nats, const alo_nats_record *record,
                                   const uint8_t *bytes, aloft_op **flush) {
  switch (record->kind) {
  case ALO_NATS_HELD_REQUEST:
    release_request(nats, record, bytes);
    return ALOFT_OK;
  case ALO_NATS_HELD_SUB:
    return release_sub(nats, record, bytes);
  case ALO_NATS_HELD_FLUSH:
    return release_ping(nats, bytes, flush);
  case ALO_NATS_HELD_PUB:
    nats->held_publications--;
    if (server_takes(nats, record->payload, record->headers) != ALOFT_OK) {
      drop_publication(nats, record);
      return ALOFT_OK;
    }
    break;
  case ALO_NATS_HELD_OTHER:
    break;
  }
  return alo_buffer_append(&nats->stream.tx, bytes, record->size);
}

void alo_nats_release_held(aloft_nats *nats) {
  alo_buffer *held = &nats->held;
  aloft_op *flush = nats->flushes.first;
  aloft_status status = ALOFT_OK;
  while (alo_buffer_size(held) && status == ALOFT_OK) {
    alo_nats_record record;
    memcpy(&record, held->data + held->begin, sizeof record);
    status = release_record(nats, &record, held->data + held->begin + sizeof record, &flush);
    alo_buffer_take(held, sizeof record + record.size);
  }
  alo_buffer_fini(held);
  if (status != ALOFT_OK)
    alo_nats_fail(nats, ALOFT_NO_MEMORY, 0, "no memory for what was held until the connect");
  else
    alo_stream_send(&nats->stream);
}

/* ---- publish ---- */

static aloft_status check_message(aloft_nats *nats, aloft_op *op, const aloft_nats_message *message,
                                  size_t *payload) {
  if (!alo_nats_subject_valid(message->subject, false))
    return alo_nats_refuse(nats, op, ALOFT_ARGUMENT,
                           "the subject is not valid: tokens without blanks or wildcards, joined "
                           "by dots, at most %d bytes",
                           ALO_NATS_SUBJECT_MAX);
  if (message->reply.data && !alo_nats_subject_valid(message->reply, false))
    return alo_nats_refuse(nats, op, ALOFT_ARGUMENT, "the reply subject is not valid");
  for (size_t i = 0; i < message->header_count; i++)
    if (!alo_nats_header_valid(&message->header[i]))
      return alo_nats_refuse(nats, op, ALOFT_ARGUMENT,
                             "header %zu is not valid: a name of token characters, and a value "
                             "without line breaks",
                             i);
  size_t headers =
      message->header_count > 0 ? alo_nats_headers_size(message->header, message->header_count) : 0;
  *payload = headers + message->data.size;
  if (*payload > UINT32_MAX / 2 || *payload < headers)
    return alo_nats_refuse(nats, op, ALOFT_TOO_LARGE, "a message is at most 2 GiB");
  if (nats->phase != ALO_NATS_PHASE_READY)
    return ALOFT_OK;
  aloft_status status = server_takes(nats, *payload, message->header_count > 0);
  if (status == ALOFT_TOO_LARGE)
    return alo_nats_refuse(nats, op, status, "%zu bytes are over the server's max_payload of %llu",
                           *payload, (unsigned long long)nats->max_payload);
  if (status != ALOFT_OK)
    return alo_nats_refuse(nats, op, status, "the server does not take headers");
  return ALOFT_OK;
}

/* Where the usual publication is written at once: READY, and there is room in the output. NULL: it
 * is not usual. */
static inline uint8_t *room_for(aloft_nats *nats, size_t size) {
  alo_buffer *tx = &nats->stream.tx;
  /* A sum: flushes and PONGs may have taken more than tx_bytes_max, and nothing is left then. */
  bool fits =
      tx->data && size <= tx->room - tx->end && alo_buffer_size(tx) + size <= nats->tx_bytes_max;
  return fits && nats->phase == ALO_NATS_PHASE_READY ? tx->data + tx->end : NULL;
}

/* Returns the stream's offset behind it. */
static inline uint64_t wrote(aloft_nats *nats, size_t payload, const uint8_t *end) {
  alo_buffer *tx = &nats->stream.tx;
  tx->end = (size_t)(end - tx->data);
  if (!nats->stream.output.queued)
    alo_stream_send(&nats->stream);
  nats->messages_out++;
  nats->bytes_out += payload;
  return alo_stream_tx_end(&nats->stream);
}

static aloft_status put_message(aloft_nats *nats, const aloft_nats_message *message,
                                alo_nats_record *record, uint64_t *tx_end) {
  size_t size = alo_nats_pub_size(message);
  if (size + (nats->phase == ALO_NATS_PHASE_READY ? 0 : sizeof *record) > nats->tx_bytes_max)
    return ALOFT_TOO_LARGE; /* waiting would not help */
  record->size = (uint32_t)size;
  record->headers = message->header_count > 0;
  aloft_status status;
  uint8_t *out = reserve(nats, record, &status);
  if (!out)
    return status;
  alo_nats_pub_write(message, out);
  *tx_end = commit(nats, record);
  nats->messages_out++;
  nats->bytes_out += message->data.size;
  return ALOFT_OK;
}

ALO_APART static aloft_status publish_any(aloft_nats *nats, const aloft_nats_message *message) {
  aloft_status status = alo_nats_usable(nats, NULL);
  size_t payload;
  if (status == ALOFT_OK)
    status = check_message(nats, NULL, message, &payload);
  if (status != ALOFT_OK)
    return status;
  alo_nats_record record = {.kind = ALO_NATS_HELD_PUB, .payload = (uint32_t)payload};
  uint64_t tx_end;
  return put_message(nats, message, &record, &tx_end);
}

aloft_status aloft_nats_publish(aloft_nats *nats, const aloft_nats_message *message) {
  uint8_t *out =
      room_for(nats, alo_nats_plain_pub_room(message->subject, message->reply, message->data));
  bool usual = out && !nats->leaving && message->header_count == 0 &&
               message->data.size <= nats->max_payload;
  if (!usual || !alo_nats_subject_valid(message->subject, false) ||
      (message->reply.data && !alo_nats_subject_valid(message->reply, false)))
    return publish_any(nats, message);
  out = alo_nats_plain_pub_write(message->subject, message->reply, message->data, out);
  (void)wrote(nats, message->data.size, out);
  return ALOFT_OK;
}

/* ---- request ---- */

static bool request_stop(aloft_op *op, aloft_status why) {
  (void)why;
  aloft_nats *nats = ALO_OP_OBJECT(op, aloft_nats, request_kind);
  alo_inflight_remove(&nats->requests, op);
  op->written = alo_nats_written(nats, ALOFT_CONTAINER(op, aloft_nats_request, op)->own.tx_end);
  return true;
}

/* The reply's block is held until done has returned; done may free the request. */
static void request_run(aloft_item *item) {
  aloft_op *op = ALOFT_CONTAINER(item, aloft_op, item);
  aloft_nats_request *request = ALOFT_CONTAINER(op, aloft_nats_request, op);
  aloft_nats *nats = ALO_OP_OBJECT(op, aloft_nats, request_kind);
  aloft_loop *loop = nats->loop;
  alo_block *block = request->reply.own.block;
  if (op->status != ALOFT_OK)
    request->reply = (aloft_nats_message){.subject = {NULL, 0}}; /* not that of its last use */
  alo_op_run(item);
  if (block)
    alo_blocks_give(&loop->blocks, block);
}

static aloft_status subscribe_inbox(aloft_nats *nats) {
  if (nats->inbox_subscribed)
    return ALOFT_OK;
  nats->inbox[nats->inbox_size] = '*';
  const aloft_text subject = {nats->inbox, nats->inbox_size + 1};
  const aloft_text none = {NULL, 0};
  const alo_nats_record record = {
      .size = (uint32_t)alo_nats_sub_size(subject, none, ALO_NATS_INBOX_SID),
      .kind = ALO_NATS_HELD_OTHER};
  aloft_status status;
  uint8_t *out = alo_nats_reserve(nats, &record, &status);
  if (!out)
    return status;
  alo_nats_sub_write(subject, none, ALO_NATS_INBOX_SID, out);
  (void)alo_nats_commit(nats, &record);
  nats->inbox_subscribed = true;
  return ALOFT_OK;
}

static aloft_status send_request(aloft_nats *nats, aloft_nats_request *request,
                                 aloft_nats_message *message, size_t payload) {
  alo_nats_record record = {.kind = ALO_NATS_HELD_REQUEST,
                            .payload = (uint32_t)payload,
                            .key = alo_inflight_key(&nats->requests, &request->op)};
  alo_inflight_token(record.key, nats->inbox + nats->inbox_size);
  message->reply = (aloft_text){nats->inbox, nats->inbox_size + ALO_INFLIGHT_TOKEN_SIZE};
  return put_message(nats, message, &record, &request->own.tx_end);
}

static aloft_status refuse_request(aloft_nats *nats, aloft_nats_request *request,
                                   aloft_status status) {
  if (status == ALOFT_TOO_MANY)
    return alo_nats_refuse(nats, &request->op, status, "inflight_max (%u) requests are in flight",
                           nats->requests.max);
  if (status == ALOFT_TOO_LARGE)
    return alo_nats_refuse(nats, &request->op, status,
                           "the request is over tx_bytes_max (%zu) as a whole", nats->tx_bytes_max);
  return alo_op_refuse(&request->op, status, NULL);
}

/* Whatever is not usual about a request, and every refusal. */
ALO_APART static aloft_status start_any(aloft_nats *nats, aloft_nats_request *request) {
  aloft_status status = alo_op_check(nats->ops, &request->op);
  if (status != ALOFT_OK)
    return status;
  size_t payload = 0;
  aloft_nats_message message = {.subject = request->subject,
                                .data = request->data,
                                .header = request->header,
                                .header_count = request->header_count};
  status = alo_nats_usable(nats, &request->op);
  if (status == ALOFT_OK)
    status = check_message(nats, &request->op, &message, &payload);
  if (status != ALOFT_OK)
    return status;
  status = subscribe_inbox(nats);
  if (status == ALOFT_OK)
    status = alo_inflight_add(&nats->requests, &request->op);
  if (status != ALOFT_OK)
    return refuse_request(nats, request, status);
  status = send_request(nats, request, &message, payload);
  if (status != ALOFT_OK) {
    alo_inflight_remove(&nats->requests, &request->op);
    return refuse_request(nats, request, status);
  }
  request->reply.own.block = NULL;
  alo_op_fly(&nats->request_kind, &request->op);
  return ALOFT_OK;
}

/* An operation that could be started, on a connection that takes it, for a message without headers
 * that the server takes. */
static inline bool is_usual(const aloft_nats *nats, const aloft_nats_request *request) {
  const aloft_op *op = &request->op;
  return alo_op_idle(op) && op->done && (alo_op_bare(op) || alo_op_plain(nats->ops, op)) &&
         !nats->leaving && nats->inbox_subscribed &&
         nats->requests.free_first != ALO_INFLIGHT_NONE && request->header_count == 0 &&
         request->data.size <= nats->max_payload;
}

aloft_status aloft_nats_request_start(aloft_nats *nats, aloft_nats_request *request) {
  if (!is_usual(nats, request))
    return start_any(nats, request);
  const aloft_text reply = {nats->inbox, nats->inbox_size + ALO_INFLIGHT_TOKEN_SIZE};
  uint8_t *out = room_for(nats, alo_nats_plain_pub_room(request->subject, reply, request->data));
  if (!out || !alo_nats_subject_valid(request->subject, false))
    return start_any(nats, request);
  aloft_op *op = &request->op;
  alo_inflight_token(alo_inflight_add_free(&nats->requests, op), nats->inbox + nats->inbox_size);
  out = alo_nats_plain_pub_write(request->subject, reply, request->data, out);
  request->own.tx_end = wrote(nats, request->data.size, out);
  request->reply.own.block = NULL;
  op->written = false;
  alo_op_fly_bare(&nats->request_kind, op);
  if (!alo_op_bare(op))
    alo_op_watch(nats->ops, op);
  return ALOFT_OK;
}

/* ---- replies ---- */

/* As memcmp, of what is usually 16 to 32 bytes. */
static inline bool is_same(const char *one, const char *other, size_t size) {
  uint64_t a[4], b[4];
  if (size < 16 || size > 32)
    return memcmp(one, other, size) == 0;
  memcpy(a, one, 16);
  memcpy(a + 2, one + size - 16, 16);
  memcpy(b, other, 16);
  memcpy(b + 2, other + size - 16, 16);
  return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3])) == 0;
}

/* A reply counts only when its subject is the whole inbox subject of something in flight. */
static inline bool is_answer(const aloft_nats *nats, aloft_text subject, uint64_t *key) {
  return subject.size == nats->inbox_size + ALO_INFLIGHT_TOKEN_SIZE &&
         is_same(subject.data, nats->inbox, nats->inbox_size) &&
         alo_inflight_parse(subject.data + nats->inbox_size, key) &&
         alo_inflight_holds(&nats->requests, *key);
}

void alo_nats_reply(aloft_nats *nats, const alo_nats_event *event, alo_block *block) {
  uint64_t key;
  if (!is_answer(nats, event->subject, &key)) {
    nats->replies_unmatched++;
    return;
  }
  aloft_op *op = alo_inflight_take(&nats->requests, key);
  op->written = true;
  if (event->status == 503 && event->data.size == 0) {
    alo_op_finish(op, ALOFT_NO_RESPONDERS, NULL);
    return;
  }
  alo_block_hold(block);
  alo_nats_view(&ALOFT_CONTAINER(op, aloft_nats_request, op)->reply, event, block);
  if (nats->ops->quick_status == ALOFT_OK)
    alo_op_finish_well(nats->ops, op);
  else
    alo_op_finish(op, ALOFT_OK, NULL);
}

/* ---- flush ---- */

aloft_op *alo_nats_flush_next(const aloft_op *op) {
  return op->item.next ? ALOFT_CONTAINER(op->item.next, aloft_op, item) : NULL;
}

/* Where pointers have 32 bits the offset's low half is enough: the output is bounded. */
bool alo_nats_flush_written(const aloft_nats *nats, const aloft_op *op) {
  uintptr_t tx_end = (uintptr_t)op->own.spare;
  if (tx_end && nats->phase != ALO_NATS_PHASE_DEAD && !nats->loop->closing)
    return true;
  return tx_end && (uintptr_t)nats->stream.tx_written - tx_end <= UINTPTR_MAX / 2;
}

static bool flush_stop(aloft_op *op, aloft_status why) {
  (void)why;
  aloft_nats *nats = ALO_OP_OBJECT(op, aloft_nats, flush_kind);
  op->written = alo_nats_flush_written(nats, op);
  aloft_op *before = NULL, *at = nats->flushes.first;
  for (; at != op; at = alo_nats_flush_next(at))
    before = at;
  if (before)
    before->item.next = op->item.next;
  else
    nats->flushes.first = alo_nats_flush_next(op);
  if (nats->flushes.last == op)
    nats->flushes.last = before;
  return true;
}

void alo_nats_publish_init(aloft_nats *nats) {
  nats->request_kind = (alo_op_kind){{request_run}, request_stop, nats->ops};
  nats->flush_kind = (alo_op_kind){{alo_op_run}, flush_stop, nats->ops};
}

/* The PING that leaves now or, before READY, will leave after that of the login. */
static uint32_t ping_number(aloft_nats *nats) {
  if (nats->phase == ALO_NATS_PHASE_READY)
    nats->pings++;
  else
    nats->held_pings++;
  uint64_t sent = nats->phase < ALO_NATS_PHASE_LOGIN ? 1 : nats->pings;
  return (uint32_t)(sent + nats->held_pings);
}

aloft_status aloft_nats_flush(aloft_nats *nats, aloft_op *op) {
  aloft_status status = alo_op_check(nats->ops, op);
  if (status == ALOFT_OK)
    status = alo_nats_usable(nats, op);
  if (status != ALOFT_OK)
    return status;
  const alo_nats_record record = {.size = 6, .kind = ALO_NATS_HELD_FLUSH};
  uint8_t *out = alo_nats_reserve(nats, &record, &status);
  if (!out)
    return alo_op_refuse(op, status, NULL);
  memcpy(out, "PING\r\n", 6);
  op->own.spare = (void *)(uintptr_t)alo_nats_commit(nats, &record);
  op->own.slot = ping_number(nats);
  op->item.next = NULL;
  if (nats->flushes.last)
    nats->flushes.last->item.next = &op->item;
  else
    nats->flushes.first = op;
  nats->flushes.last = op;
  alo_op_fly(&nats->flush_kind, op);
  return ALOFT_OK;
}
