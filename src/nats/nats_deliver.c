#include "nats_client.h"

#include <stdio.h>
#include <string.h>

#include "heap.h"

/* Events that may be queued; more are counted as dropped. */
enum { NOTICES_MAX = 32 };

static void run_delivery(aloft_item *item);
static void run_notice(aloft_item *item);

static const alo_item_kind delivery_kind = {run_delivery};
static const alo_item_kind notice_kind = {run_notice};

static void give(aloft_nats *nats, alo_nats_delivery *delivery) {
  delivery->next_free = nats->free_deliveries;
  nats->free_deliveries = delivery;
}

bool alo_nats_deliveries_ready(aloft_nats *nats) {
  if (nats->free_deliveries)
    return true;
  alo_nats_slab *slab = alo_heap_take(&nats->loop->heap, sizeof *slab);
  if (!slab)
    return false;
  slab->next = nats->slabs;
  nats->slabs = slab;
  for (int i = ALO_NATS_SLAB - 1; i >= 0; i--) {
    slab->deliveries[i].item.kind = &delivery_kind;
    slab->deliveries[i].nats = nats;
    give(nats, &slab->deliveries[i]);
  }
  return true;
}

/* They are made ahead, so that a message never finds none. Where nothing is subscribed to there is
 * nothing to deliver. */
bool alo_nats_deliveries_room(aloft_nats *nats) {
  if (nats->deliveries >= nats->deliveries_max)
    return false;
  if (nats->subscriptions.used == 0 || alo_nats_deliveries_ready(nats))
    return true;
  alo_nats_fail(nats, ALOFT_NO_MEMORY, 0, "no memory to deliver a message");
  return false;
}

void alo_nats_deliver(aloft_nats *nats, aloft_nats_subscription *subscription,
                      const alo_nats_event *event, alo_block *block) {
  alo_nats_delivery *delivery = nats->free_deliveries; /* deliveries_room has seen to it */
  nats->free_deliveries = delivery->next_free;
  nats->deliveries++;
  if (nats->deliveries_peak < nats->deliveries)
    nats->deliveries_peak = nats->deliveries;
  delivery->subscription = subscription;
  alo_block_hold(block);
  alo_nats_view(&delivery->message, event, block);
  alo_ops_push(nats->ops, &delivery->item);
}

void alo_nats_make_printable(char *text, size_t size) {
  for (size_t i = 0; i < size; i++)
    if ((uint8_t)text[i] < ' ' || text[i] == 0x7F)
      text[i] = '?';
}

static alo_nats_notice *embedded(aloft_nats *nats, unsigned moment) {
  alo_nats_notice *notice = &nats->moments[moment];
  notice->embedded = true;
  return notice;
}

static alo_nats_notice *take_notice(aloft_nats *nats, aloft_nats_event event) {
  switch (event) {
  case ALOFT_NATS_CONNECTED:
    return embedded(nats, 0);
  case ALOFT_NATS_LAME_DUCK:
    return embedded(nats, 1);
  case ALOFT_NATS_DISCONNECTED:
    return embedded(nats, 2);
  case ALOFT_NATS_ERROR:
  case ALOFT_NATS_DROPPED:
    break;
  }
  if (nats->notices == NOTICES_MAX)
    return NULL;
  alo_nats_notice *notice = alo_heap_take(&nats->loop->heap, sizeof *notice);
  nats->notices += notice != NULL;
  return notice;
}

void alo_nats_tell(aloft_nats *nats, aloft_nats_event event, const aloft_error *error) {
  if (!nats->event)
    return;
  alo_nats_notice *notice = take_notice(nats, event);
  if (!notice) {
    nats->events_dropped++;
    return;
  }
  notice->item.kind = &notice_kind;
  notice->nats = nats;
  notice->event = event;
  notice->failed = error != NULL;
  if (error) {
    notice->error = *error;
    size_t size = error->message.size;
    if (size > sizeof notice->text)
      size = sizeof notice->text;
    memcpy(notice->text, error->message.data, size);
    alo_nats_make_printable(notice->text, size);
    notice->error.message = (aloft_text){notice->text, size};
  }
  alo_ops_push(nats->ops, &notice->item);
}

/* The connection outlives what is queued before its burial. */
static void run_notice(aloft_item *item) {
  alo_nats_notice *notice = ALOFT_CONTAINER(item, alo_nats_notice, item);
  aloft_nats *nats = notice->nats;
  if (!nats->bury.kind)
    nats->event(nats, notice->event, notice->failed ? &notice->error : NULL, nats->context);
  if (notice->embedded)
    return;
  nats->notices--;
  alo_heap_give(&nats->loop->heap, notice, sizeof *notice);
}

static void run_delivery(aloft_item *item) {
  alo_nats_delivery *delivery = ALOFT_CONTAINER(item, alo_nats_delivery, item);
  aloft_nats *nats = delivery->nats;
  alo_nats_show(delivery->subscription, &delivery->message);
  alo_blocks_give(&nats->loop->blocks, delivery->message.own.block);
  give(nats, delivery);
  nats->deliveries--;
  if (nats->stream.paused && nats->phase != ALO_NATS_PHASE_DEAD &&
      nats->deliveries <= nats->deliveries_max / 2)
    alo_nats_read_on(nats);
}

void alo_nats_free_deliveries(aloft_nats *nats) {
  while (nats->slabs) {
    alo_nats_slab *next = nats->slabs->next;
    alo_heap_give(&nats->loop->heap, nats->slabs, sizeof *next);
    nats->slabs = next;
  }
  nats->free_deliveries = NULL;
}

/* Memory stays while it is used: what the last interval has not needed a quarter of goes. */
void alo_nats_shrink(aloft_nats *nats) {
  enum { TX_KEPT = 64 << 10 };
  alo_buffer *tx = &nats->stream.tx;
  if (tx->room > TX_KEPT && alo_buffer_size(tx) == 0 && nats->stream.tx_peak < tx->room / 4)
    alo_buffer_fini(tx);
  nats->stream.tx_peak = alo_buffer_size(tx);
  uint32_t made = 0;
  for (const alo_nats_slab *slab = nats->slabs; slab; slab = slab->next)
    made += ALO_NATS_SLAB;
  if (made > ALO_NATS_SLAB && nats->deliveries == 0 && nats->deliveries_peak < made / 4)
    alo_nats_free_deliveries(nats);
  nats->deliveries_peak = nats->deliveries;
}

/* ---- keeping ---- */

/* A message that fills most of its block pins it; a small one is copied, for it would pin a whole
 * block for a few bytes. Both are counted by what they hold. */
struct aloft_nats_kept {
  aloft_nats_message message;
  aloft_loop *loop;
  aloft_nats *nats; /* NULL: freed before */
  aloft_nats_kept *next, **back;
  alo_block *block; /* pinned; NULL: copied */
  size_t size;      /* of this struct and its bytes */
  uint8_t bytes[];
};

static size_t message_size(const aloft_nats_message *message) {
  return message->subject.size + message->reply.size + message->headers.size + message->data.size;
}

static const void *copy(uint8_t **at, const void *data, size_t size) {
  if (!data)
    return NULL;
  uint8_t *to = *at;
  memcpy(to, data, size);
  *at += size;
  return to;
}

static void copy_message(aloft_nats_kept *kept, const aloft_nats_message *message) {
  uint8_t *at = kept->bytes;
  aloft_nats_message *own = &kept->message;
  own->subject.data = copy(&at, message->subject.data, message->subject.size);
  own->reply.data = copy(&at, message->reply.data, message->reply.size);
  own->headers.data = copy(&at, message->headers.data, message->headers.size);
  own->data.data = copy(&at, message->data.data, message->data.size);
}

static size_t held_bytes(const aloft_nats_kept *kept) {
  return kept->size + (kept->block ? kept->block->room : 0);
}

aloft_status aloft_nats_keep(aloft_nats *nats, const aloft_nats_message *message,
                             aloft_nats_kept **made) {
  *made = NULL;
  alo_block *block = message->own.block;
  if (!block)
    return ALOFT_ARGUMENT;
  size_t size = message_size(message);
  bool pin = size >= block->room / 4;
  aloft_nats_kept *kept = NULL;
  size_t kept_size = sizeof *kept + (pin ? 0 : size);
  if (nats->kept_bytes + kept_size + (pin ? block->room : 0) > nats->kept_bytes_max)
    return ALOFT_TOO_MANY;
  kept = alo_heap_take_raw(&nats->loop->heap, kept_size);
  if (!kept)
    return ALOFT_NO_MEMORY;
  *kept = (aloft_nats_kept){.message = *message,
                            .loop = nats->loop,
                            .nats = nats,
                            .next = nats->kept,
                            .back = &nats->kept,
                            .block = pin ? block : NULL,
                            .size = kept_size};
  kept->message.own.block = NULL;
  if (pin)
    alo_block_hold(block);
  else
    copy_message(kept, message);
  if (kept->next)
    kept->next->back = &kept->next;
  nats->kept = kept;
  nats->kept_bytes += held_bytes(kept);
  *made = kept;
  return ALOFT_OK;
}

const aloft_nats_message *aloft_nats_kept_message(const aloft_nats_kept *kept) {
  return &kept->message;
}

void aloft_nats_kept_release(aloft_nats_kept *kept) {
  if (!kept)
    return;
  if (kept->nats) {
    kept->nats->kept_bytes -= held_bytes(kept);
    *kept->back = kept->next;
    if (kept->next)
      kept->next->back = kept->back;
  }
  aloft_loop *loop = kept->loop;
  if (kept->block)
    alo_blocks_give(&loop->blocks, kept->block);
  alo_heap_give(&loop->heap, kept, kept->size);
}

void alo_nats_forget_kept(aloft_nats *nats) {
  for (aloft_nats_kept *kept = nats->kept; kept; kept = kept->next)
    kept->nats = NULL;
  nats->kept = NULL;
}

/* ---- reading a message, and the connection's figures ---- */

bool aloft_nats_header_next(const aloft_nats_message *message, size_t *cursor,
                            aloft_nats_header *header) {
  return message->headers.data && alo_nats_headers_next(message->headers, cursor, header);
}

static char lower(char c) {
  return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool same_name(aloft_text a, aloft_text b) {
  if (a.size != b.size)
    return false;
  for (size_t i = 0; i < a.size; i++)
    if (lower(a.data[i]) != lower(b.data[i]))
      return false;
  return true;
}

bool aloft_nats_header_find(const aloft_nats_message *message, aloft_text name, aloft_text *value) {
  aloft_nats_header header;
  size_t cursor = 0;
  while (aloft_nats_header_next(message, &cursor, &header)) {
    if (!same_name(header.name, name))
      continue;
    *value = header.value;
    return true;
  }
  return false;
}

static void name_server(const aloft_nats *nats, aloft_nats_info *info) {
  aloft_text *texts[3] = {&info->server_name, &info->server_version, &info->server_id};
  size_t at = nats->server.begin;
  for (size_t i = 0; i < 3 && nats->server.data; at += nats->server_sizes[i++])
    *texts[i] = (aloft_text){(const char *)nats->server.data + at, nats->server_sizes[i]};
}

void aloft_nats_get_info(const aloft_nats *nats, aloft_nats_info *info) {
  aloft_nats_info own = {.size = info->size,
                         .connected = nats->phase == ALO_NATS_PHASE_READY,
                         .max_payload = nats->max_payload,
                         .messages_in = nats->messages_in,
                         .messages_out = nats->messages_out,
                         .bytes_in = nats->bytes_in,
                         .bytes_out = nats->bytes_out,
                         .replies_unmatched = nats->replies_unmatched,
                         .inflight = alo_inflight_count(&nats->requests),
                         .tx_bytes =
                             alo_stream_tx_left(&nats->stream) + alo_buffer_size(&nats->held),
                         .kept_bytes = nats->kept_bytes,
                         .messages_unmatched = nats->messages_unmatched,
                         .headers_malformed = nats->headers_malformed,
                         .publications_dropped = nats->publications_dropped,
                         .events_dropped = nats->events_dropped};
  name_server(nats, &own);
  memcpy(info, &own, info->size < sizeof own ? info->size : sizeof own);
}
