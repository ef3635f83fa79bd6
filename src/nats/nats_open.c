#include "nats_client.h"

#include <string.h>

#include <aloft/version.h>

#include "heap.h"
#include "utf16.h"

enum { INFLIGHT_DEFAULT = 65536, SLOTS_MAX = (1 << ALO_INFLIGHT_SLOT_BITS) - 1, SID_BITS = 39 };
enum { CREDENTIAL_MAX = 4096, TX_SLACK = ALO_NATS_TX_SLACK };
#define BYTES_MAX (SIZE_MAX >> (sizeof(size_t) > 4 ? 24 : 2))

/* ---- configuration ---- */

typedef struct opening {
  aloft_nats_config config;
  alo_nats_url url;
  char user[CREDENTIAL_MAX], password[CREDENTIAL_MAX], token[CREDENTIAL_MAX];
  aloft_text user_text, password_text, token_text;
  aloft_error refusal; /* with a text of its own, of TLS */
  char why[ALO_TLS_FAILURE_MAX];
} opening;

static void wipe(void *memory, size_t size) {
  volatile uint8_t *byte = memory;
  while (size--)
    *byte++ = 0;
}

static uint64_t or_default64(uint64_t value, uint64_t otherwise) {
  return value ? value : otherwise;
}

static size_t or_default(size_t value, size_t otherwise) {
  return value ? value : otherwise;
}

/* The configuration's own text, or else the URL's, decoded. */
static bool credential(aloft_text own, aloft_text in_url, char *room, aloft_text *text) {
  *text = own;
  if (own.data || !in_url.data)
    return own.size < CREDENTIAL_MAX;
  if (in_url.size >= CREDENTIAL_MAX)
    return false;
  size_t size = alo_nats_url_decode(in_url, room);
  *text = (aloft_text){room, size};
  return size != SIZE_MAX;
}

#define BAD(name, number, text)                                                                    \
  static const aloft_error name = {.status = (number), .message = {text, sizeof(text) - 1}}

BAD(bad_size, ALOFT_ARGUMENT, "the config's size is not sizeof(aloft_nats_config)");
BAD(bad_url, ALOFT_ARGUMENT,
    "the URL is not valid: give nats:// or tls://[user:password@|token@]host[:port], "
    "percent-encoded");
BAD(url_websocket, ALOFT_UNSUPPORTED, "ws:// and wss:// are not supported: use nats://host[:port]");
BAD(bad_limit, ALOFT_ARGUMENT,
    "inflight_max and subscriptions_max are at most 16,777,215, tx_bytes_max and kept_bytes_max at "
    "most 1 TiB");
BAD(bad_credential, ALOFT_ARGUMENT,
    "user, password and token must be UTF-8 of less than 4,096 bytes, well percent-encoded in a "
    "URL");
BAD(bad_name, ALOFT_ARGUMENT, "the client's name must be UTF-8 of less than 4,096 bytes");
BAD(bad_tls_name, ALOFT_ARGUMENT,
    "tls_server_name is a name or an address of at most 255 bytes, without a NUL and with no dot "
    "before it");
BAD(bad_prefix, ALOFT_ARGUMENT,
    "the inbox prefix must be a subject without wildcards of at most 256 bytes");

static bool valid_text(aloft_text text) {
  return text.size < CREDENTIAL_MAX &&
         (text.size == 0 || alo_utf8_valid(text.data, text.size) == text.size);
}

static bool begins_with(aloft_text text, const char *with) {
  size_t size = strlen(with);
  return text.size >= size && memcmp(text.data, with, size) == 0;
}

/* NULL, or what is wrong. */
static const aloft_error *check_config(opening *work) {
  const aloft_nats_config *config = &work->config;
  if (begins_with(config->url, "ws://") || begins_with(config->url, "wss://"))
    return &url_websocket;
  if (!config->url.data || alo_nats_url_parse(config->url, &work->url))
    return &bad_url;
  if (config->inflight_max > SLOTS_MAX || config->subscriptions_max > SLOTS_MAX ||
      config->tx_bytes_max > BYTES_MAX || config->kept_bytes_max > BYTES_MAX)
    return &bad_limit;
  if (!credential(config->user, work->url.user, work->user, &work->user_text) ||
      !credential(config->password, work->url.password, work->password, &work->password_text) ||
      !credential(config->token, work->url.token, work->token, &work->token_text) ||
      !valid_text(work->user_text) || !valid_text(work->password_text) ||
      !valid_text(work->token_text))
    return &bad_credential;
  if (!valid_text(config->name))
    return &bad_name;
  if (config->inbox_prefix.data && (config->inbox_prefix.size > ALO_NATS_PREFIX_MAX ||
                                    !alo_nats_subject_valid(config->inbox_prefix, false)))
    return &bad_prefix;
  const aloft_text name = config->tls_server_name;
  if (name.size > ALO_HOST_MAX ||
      (name.size && (name.data[0] == '.' || memchr(name.data, 0, name.size))))
    return &bad_tls_name;
  return NULL;
}

/* The CONNECT line is made at once, so that credentials are kept in one place only. */
static aloft_status write_hello(aloft_nats *nats, const opening *work) {
  const alo_nats_connect connect = {.user = work->user_text,
                                    .password = work->password_text,
                                    .token = work->token_text,
                                    .name = work->config.name,
                                    .version = ALOFT_TEXT(ALOFT_VERSION),
                                    .no_echo = work->config.no_echo,
                                    .headers = true};
  size_t size = alo_nats_connect_write(&connect, NULL, 0);
  aloft_status status = alo_buffer_reserve(&nats->hello, size);
  if (status == ALOFT_OK)
    nats->hello.end += alo_nats_connect_write(&connect, nats->hello.data, size);
  return status;
}

static aloft_status make_inbox(aloft_nats *nats, aloft_text prefix) {
  static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
  uint8_t random[ALO_NATS_INBOX_ID];
  if (!prefix.data)
    prefix = ALOFT_TEXT("_INBOX");
  if (nats->loop->driver->methods->random(nats->loop->driver, random, sizeof random) < 0)
    return ALOFT_SYSTEM;
  char *at = nats->inbox;
  memcpy(at, prefix.data, prefix.size);
  at += prefix.size;
  *at++ = '.';
  for (size_t i = 0; i < sizeof random; i++)
    *at++ = digits[random[i] & 63];
  *at++ = '.';
  nats->inbox_size = (size_t)(at - nats->inbox);
  return ALOFT_OK;
}

static bool opening_stop(aloft_op *op, aloft_status why);
static bool closing_stop(aloft_op *op, aloft_status why);

static void take_limits(aloft_nats *nats, const aloft_nats_config *config) {
  const alo_nats_limits limits = {.payload_max = config->rx_payload_max};
  alo_nats_parser_init(&nats->parser, &limits);
  nats->connect_timeout_ns = or_default64(config->connect_timeout_ns, ALOFT_SECONDS(5));
  nats->ping_interval_ns = or_default64(config->ping_interval_ns, ALOFT_SECONDS(120));
  nats->pings_out_max = config->pings_out_max ? config->pings_out_max : 2;
  nats->deliveries_max = config->deliveries_max ? config->deliveries_max : 4096;
  nats->kept_bytes_max = or_default(config->kept_bytes_max, (size_t)64 << 20);
  nats->tx_bytes_max = or_default(config->tx_bytes_max, (size_t)8 << 20);
  nats->event = config->event;
  nats->context = config->context;
}

static void init_parts(aloft_nats *nats, aloft_loop *loop, const aloft_nats_config *config) {
  take_limits(nats, config);
  nats->ops = &loop->ops;
  nats->loop = loop;
  nats->opening_kind = (alo_op_kind){{alo_op_run}, opening_stop, nats->ops};
  nats->closing_kind = (alo_op_kind){{alo_op_run}, closing_stop, nats->ops};
  alo_nats_publish_init(nats);
  alo_nats_subscribe_init(nats);
  alo_stream_init(&nats->stream, loop, nats->tx_bytes_max + TX_SLACK);
  nats->stream.event = alo_nats_stream_event;
  alo_buffer_init(&nats->hello, &loop->heap, TX_SLACK / 2);
  alo_buffer_init(&nats->held, &loop->heap, nats->tx_bytes_max + TX_SLACK / 2);
  alo_buffer_init(&nats->server, &loop->heap, TX_SLACK);
  alo_inflight_init(&nats->requests, &loop->heap,
                    config->inflight_max ? config->inflight_max : INFLIGHT_DEFAULT,
                    ALO_INFLIGHT_GENERATION_BITS);
  alo_inflight_init(&nats->subscriptions, &loop->heap,
                    config->subscriptions_max ? config->subscriptions_max : INFLIGHT_DEFAULT,
                    SID_BITS);
}

static void release(aloft_nats *nats) {
  aloft_loop *loop = nats->loop;
  alo_nats_forget_kept(nats);
  alo_nats_free_deliveries(nats);
  alo_stream_fini(&nats->stream);
  alo_buffer_fini(&nats->hello);
  alo_buffer_fini(&nats->held);
  alo_buffer_fini(&nats->server);
  alo_tls_context_give(nats->tls);
  alo_inflight_fini(&nats->requests);
  alo_inflight_fini(&nats->subscriptions);
  alo_heap_give(&loop->heap, nats->host, nats->host_room);
  alo_heap_give(&loop->heap, nats, sizeof *nats);
}

/* ---- open ---- */

static void evict(alo_resident *resident);

static bool opening_stop(aloft_op *op, aloft_status why) {
  aloft_nats *nats = ALO_OP_OBJECT(op, aloft_nats, opening_kind);
  nats->opening = NULL;
  alo_op_finish(op, why, NULL);
  alo_nats_fail(nats, why, 0, "the connect was %s",
                why == ALOFT_TIMEOUT ? "not done in its time" : "cancelled by this program");
  return true;
}

static aloft_status dial(aloft_nats *nats, const opening *work) {
  aloft_status status = alo_stream_dial(&nats->stream, work->url.host, work->url.port);
  if (status == ALOFT_OK || status == ALOFT_NO_MEMORY || status == ALOFT_ARGUMENT)
    return status;
  return ALOFT_OK; /* it failed at once, but nothing completes inside the call: the timer tells it
                    */
}

/* The host, and behind it the name in its certificate. */
static aloft_status take_names(aloft_nats *nats, const opening *work) {
  const aloft_text host = work->url.host, verified = work->config.tls_server_name;
  nats->host_room = host.size + 1 + verified.size;
  nats->host = alo_heap_take(&nats->loop->heap, nats->host_room);
  if (!nats->host)
    return ALOFT_NO_MEMORY;
  memcpy(nats->host, host.data, host.size);
  if (verified.size) {
    memcpy(nats->host + host.size + 1, verified.data, verified.size);
    nats->tls_name = (aloft_text){nats->host + host.size + 1, verified.size};
  }
  nats->port = work->url.port;
  return ALOFT_OK;
}

static aloft_status ask_encryption(aloft_nats *nats, opening *work) {
  aloft_status status = alo_nats_encryption_init(nats, &work->config, work->url.tls, work->why);
  if (status != ALOFT_OK && *work->why)
    work->refusal = (aloft_error){.status = status, .message = aloft_text_of(work->why)};
  return status;
}

static aloft_status build(aloft_nats *nats, opening *work) {
  aloft_status status = make_inbox(nats, work->config.inbox_prefix);
  if (status == ALOFT_OK)
    status = take_names(nats, work);
  if (status == ALOFT_OK)
    status = ask_encryption(nats, work);
  if (status == ALOFT_OK)
    status = write_hello(nats, work);
  return status == ALOFT_OK ? dial(nats, work) : status;
}

static aloft_status open_with(aloft_nats **made, aloft_loop *loop, opening *work, aloft_op *op) {
  aloft_nats *nats = alo_heap_take(&loop->heap, sizeof *nats);
  if (!nats)
    return ALOFT_NO_MEMORY;
  init_parts(nats, loop, &work->config);
  aloft_status status = build(nats, work);
  if (status == ALOFT_OK && op)
    status = alo_op_start(&nats->opening_kind, op);
  if (status != ALOFT_OK) {
    release(nats);
    return status;
  }
  nats->opening = op;
  nats->resident.evict = evict;
  alo_loop_settle_in(loop, &nats->resident);
  alo_timer_set(nats->ops, &nats->timer, nats->stream.open ? nats->connect_timeout_ns : 1,
                alo_nats_dialled_too_long);
  *made = nats;
  return ALOFT_OK;
}

static void evict(alo_resident *resident);

static const aloft_error *import_config(opening *work, const aloft_nats_config *config) {
  memset(work, 0, sizeof *work);
  if (config->size != sizeof work->config)
    return &bad_size;
  work->config = *config;
  return check_config(work);
}

aloft_status aloft_nats_open(aloft_nats **made, aloft_loop *loop, const aloft_nats_config *config,
                             aloft_op *op) {
  opening work;
  *made = NULL;
  const aloft_error *error = import_config(&work, config);
  aloft_status status = error ? error->status : loop->closing ? ALOFT_CLOSED : ALOFT_OK;
  if (status == ALOFT_OK)
    status = open_with(made, loop, &work, op);
  if (work.refusal.status != ALOFT_OK)
    error = &work.refusal;
  const aloft_error *kept = status == ALOFT_OK ? NULL : alo_loop_refuse(loop, status, error);
  wipe(&work, sizeof work);
  if (status == ALOFT_OK)
    return ALOFT_OK;
  if (op && status != ALOFT_IN_USE)
    alo_op_refuse(op, status, kept);
  return status;
}

/* ---- close ---- */

static void bury(aloft_item *item) {
  release(ALOFT_CONTAINER(item, aloft_nats, bury));
}

static const alo_item_kind bury_kind = {bury};

void alo_nats_closed(aloft_nats *nats, aloft_status status, const aloft_error *error) {
  alo_timer_clear(&nats->timer);
  alo_stream_close(&nats->stream);
  alo_nats_hold_input(nats, false);
  nats->phase = ALO_NATS_PHASE_DEAD;
  if (nats->closing)
    alo_op_finish(nats->closing, status, error);
  nats->closing = NULL;
  alo_loop_move_out(&nats->resident);
  nats->bury.kind = &bury_kind;
  alo_ops_bury(nats->ops, &nats->bury);
}

static bool closing_stop(aloft_op *op, aloft_status why) {
  alo_nats_closed(ALO_OP_OBJECT(op, aloft_nats, closing_kind), why, NULL);
  return true;
}

static void close_took_too_long(alo_timer *timer) {
  alo_nats_closed(ALOFT_CONTAINER(timer, aloft_nats, timer), ALOFT_TIMEOUT, NULL);
}

static void finish_for_close(aloft_nats *nats) {
  alo_nats_finish_all(nats, true);
  if (nats->opening)
    alo_op_finish(nats->opening, ALOFT_CLOSED, NULL);
  nats->opening = NULL;
}

/* The PONG says that the server has taken all that was sent. */
void alo_nats_leave(aloft_nats *nats) {
  nats->phase = ALO_NATS_PHASE_CLOSING;
  alo_nats_ping(nats);
}

/* Publications have no operation of their own: this is their receipt. */
static void closed_dead(aloft_nats *nats) {
  if (nats->died_unsent)
    alo_nats_closed(nats, ALOFT_LOST_UNSENT, &nats->unsent);
  else
    alo_nats_closed(nats, ALOFT_LOST, &nats->lost);
}

aloft_status aloft_nats_close(aloft_nats *nats, aloft_op *op) {
  if (nats->leaving || nats->bury.kind)
    return op ? alo_op_refuse(op, ALOFT_CLOSED, NULL) : ALOFT_CLOSED;
  if (op) {
    aloft_status status = alo_op_start(&nats->closing_kind, op);
    if (status != ALOFT_OK)
      return status;
  }
  finish_for_close(nats);
  nats->closing = op;
  nats->leaving = true;
  bool in_time = op && (op->own.state & ALO_OP_TIMED); /* the operation's own time ends it */
  alo_timer_set(nats->ops, &nats->timer, in_time ? 0 : ALOFT_SECONDS(1), close_took_too_long);
  if (nats->phase == ALO_NATS_PHASE_READY)
    alo_nats_leave(nats);
  else if (nats->phase == ALO_NATS_PHASE_DEAD && nats->messages_out)
    closed_dead(nats);
  else if (nats->phase == ALO_NATS_PHASE_DEAD || nats->held_publications == 0)
    alo_nats_closed(nats, ALOFT_OK, NULL);
  return ALOFT_OK;
}

static void evict(alo_resident *resident) {
  aloft_nats *nats = ALOFT_CONTAINER(resident, aloft_nats, resident);
  finish_for_close(nats);
  alo_nats_closed(nats, ALOFT_CLOSED, NULL);
}
