/* The life of a connection: open, fail, close; and what its stream tells. */
#include <string.h>

#include "tds_connection.h"
#include "heap.h"

static const size_t TX_BYTES_MAX = (size_t)64 << 20;
static const size_t RX_BYTES_MAX = (size_t)256 << 10;
enum { QUERIES_MAX = 64, CANCEL_SECONDS = 5 };

/* ---- deadlines ---- */

static const char *what_was_late(const aloft_tds *tds) {
  switch (tds->phase) {
  case ALO_TDS_DIALLING:
    return "the server's address was not reached within the time to connect";
  case ALO_TDS_SECURING:
  case ALO_TDS_HANDSHAKE:
    return "the TLS handshake was not complete within the time to connect";
  case ALO_TDS_PRELOGIN_SENT:
    return "the server did not answer PRELOGIN within the time to connect";
  case ALO_TDS_LOGIN_SENT:
    return "the server did not answer LOGIN7 within the time to connect";
  case ALO_TDS_LOGGED_IN:
  case ALO_TDS_DEAD:
    break;
  }
  return "the server did not acknowledge in time that a query was cancelled: the connection was "
         "dropped";
}

static void deadline_over(alo_timer *timer) {
  aloft_tds *tds = ALOFT_CONTAINER(timer, aloft_tds, deadline);
  alo_tds_connection_fail(tds, tds->phase == ALO_TDS_LOGGED_IN ? ALOFT_LOST : ALOFT_TIMEOUT,
                          what_was_late(tds), 0);
}

void alo_tds_deadline(aloft_tds *tds, uint64_t timeout_ns) {
  alo_timer_set(tds->ops, &tds->deadline, timeout_ns, deadline_over);
}

/* ---- the end ---- */

static void finish_opening(aloft_tds *tds, aloft_status status, const aloft_error *error) {
  if (tds->opening)
    alo_op_finish(tds->opening, status, error);
  tds->opening = NULL;
}

/* What becomes of queries when the connection fails: until login is over they share the reason.
 * Later the reason itself is kept for what the peer did wrong; a lost connection is told by
 * whether the query had been written. */
static aloft_status loss_of(const aloft_tds *tds, bool written) {
  if (tds->failed == ALOFT_LOST)
    return written ? ALOFT_LOST : ALOFT_LOST_UNSENT;
  return tds->failed;
}

static bool same(aloft_text one, aloft_text other) {
  return one.size == other.size && memcmp(one.data, other.data, one.size) == 0;
}

/* The failure as those are told of it that had not been written. A loss without a reason says that
 * the request had been. */
static aloft_error unsent_of(const aloft_error *failure) {
  aloft_error unsent = *failure;
  if (same(failure->message, aloft_status_error(ALOFT_LOST)->message))
    unsent = *aloft_status_error(ALOFT_LOST_UNSENT);
  unsent.status = ALOFT_LOST_UNSENT;
  unsent.system = failure->system;
  return unsent;
}

static void finish_query(aloft_tds *tds, aloft_tds_query *query, aloft_status status) {
  alo_tds_query_finish(tds, query, status,
                       status == tds->failure.error.status ? &tds->failure.error
                       : status == ALOFT_LOST_UNSENT       ? &tds->unsent
                                                           : NULL);
}

static void finish_active(aloft_tds *tds) {
  aloft_tds_query *query = tds->active;
  if (!query)
    return;
  bool written = tds->stream.tx_written >= query->own.tx_end;
  finish_query(tds, query, loss_of(tds, written));
}

static void finish_waiting(aloft_tds *tds, aloft_status status) {
  while (tds->first) {
    aloft_tds_query *query = tds->first;
    alo_tds_query_unqueue(tds, query);
    finish_query(tds, query, status);
  }
}

/* An answer that has arrived whole is still read. */
static bool may_be_read(const aloft_tds *tds) {
  return tds->failed == ALOFT_LOST && tds->active && !tds->owed && alo_tds_answer_arrived(tds);
}

void alo_tds_connection_fail_filled(aloft_tds *tds, aloft_status status) {
  if (tds->phase == ALO_TDS_DEAD) {
    if (tds->active) /* an answer that was still being read */
      finish_query(tds, tds->active, status);
    return;
  }
  bool logged_in = tds->phase == ALO_TDS_LOGGED_IN;
  tds->phase = ALO_TDS_DEAD;
  tds->failed = status;
  tds->unsent = unsent_of(&tds->failure.error);
  alo_tds_deadline(tds, 0);
  alo_stream_close(&tds->stream);
  alo_tds_login_forget(tds);
  finish_opening(tds, status, &tds->failure.error);
  if (!may_be_read(tds))
    finish_active(tds);
  finish_waiting(tds, logged_in && status != ALOFT_CLOSED ? ALOFT_LOST_UNSENT : status);
  tds->owed = ALO_TDS_OWED_NOTHING;
}

void alo_tds_connection_fail(aloft_tds *tds, aloft_status status, const char *text, int system) {
  if (tds->phase != ALO_TDS_DEAD) {
    alo_tds_detail_format(&tds->failure, status, "%s",
                          text ? text : aloft_status_error(status)->message.data);
    tds->failure.error.system = system;
  }
  alo_tds_connection_fail_filled(tds, status);
}

static void release(aloft_tds *tds) {
  aloft_loop *loop = tds->loop;
  alo_tds_login_close(tds);
  alo_stream_fini(&tds->stream);
  if (tds->reader)
    alo_tds_reader_close(tds->reader);
  alo_buffer_fini(&tds->waiting);
  alo_tds_detail_fini(&tds->failure);
  alo_tds_detail_fini(&tds->detail);
  alo_tds_detail_fini(&tds->refusal);
  alo_heap_give(&loop->heap, tds->columns, tds->column_room * sizeof *tds->columns);
  alo_heap_give(&loop->heap, tds, sizeof *tds);
}

static void run_end(aloft_item *item) {
  release(ALOFT_CONTAINER(item, aloft_tds, end));
}

static const alo_item_kind end_kind = {run_end};

static void shut(aloft_tds *tds) {
  tds->closing = true;
  alo_tds_connection_fail(tds, ALOFT_CLOSED, NULL, 0);
  alo_timer_clear(&tds->trim);
  alo_loop_move_out(&tds->resident);
}

/* Behind everything of the connection that is queued. */
static void queue_end(aloft_tds *tds) {
  tds->end.kind = &end_kind;
  alo_ops_bury(tds->ops, &tds->end);
}

static bool let_go(aloft_op *op, aloft_status why) {
  (void)op;
  (void)why;
  return true;
}

aloft_status aloft_tds_close(aloft_tds *tds, aloft_op *op) {
  if (tds->pool)
    return op ? alo_op_refuse(op, ALOFT_WRONG_STATE, NULL) : ALOFT_WRONG_STATE;
  if (tds->closing)
    return op ? alo_op_refuse(op, ALOFT_CLOSED, NULL) : ALOFT_CLOSED;
  aloft_status status = op ? alo_op_check(tds->ops, op) : ALOFT_OK;
  if (status != ALOFT_OK)
    return status;
  shut(tds);
  if (op) {
    alo_op_fly(&tds->close_kind, op);
    alo_op_finish(op, ALOFT_OK, NULL);
  }
  queue_end(tds);
  return ALOFT_OK;
}

void alo_tds_end(aloft_tds *tds) {
  if (tds->closing)
    return;
  shut(tds);
  queue_end(tds);
}

static void evict(alo_resident *resident) {
  aloft_tds *tds = ALOFT_CONTAINER(resident, aloft_tds, resident);
  alo_tds_end(tds);
}

/* ---- what the stream tells ---- */

static void stream_ended(aloft_tds *tds) {
  const alo_stream *stream = &tds->stream;
  if (tds->phase < ALO_TDS_LOGGED_IN) {
    alo_tds_login_ended(tds);
    return;
  }
  if (tds->parting) {
    alo_tds_connection_fail_filled(tds, ALOFT_LOST);
    return;
  }
  const char *failure =
      stream->failed == ALOFT_OK ? "the server closed the connection" : alo_stream_failure(stream);
  alo_tds_connection_fail(tds, stream->failed == ALOFT_NO_MEMORY ? ALOFT_NO_MEMORY : ALOFT_LOST,
                          failure, stream->error);
}

static void begin_login(aloft_tds *tds) {
  if (tds->login->settings.encrypt == ALO_ENCRYPT_STRICT)
    alo_tds_secure_first(tds);
  else
    alo_tds_prelogin_send(tds);
}

static void stream_event(alo_stream *stream, alo_stream_event event) {
  aloft_tds *tds = ALOFT_CONTAINER(stream, aloft_tds, stream);
  switch (event) {
  case ALO_STREAM_CONNECTED:
    begin_login(tds);
    break;
  case ALO_STREAM_SECURED:
    alo_tds_prelogin_send(tds);
    break;
  case ALO_STREAM_READABLE:
    alo_tds_receive(tds);
    break;
  case ALO_STREAM_DRAINED:
    alo_tds_login_forget(tds);
    alo_tds_login_written(tds);
    break;
  case ALO_STREAM_ENDED:
    stream_ended(tds);
    break;
  }
}

/* ---- open ---- */

static bool opening_stopped(aloft_op *op, aloft_status why) {
  aloft_tds *tds = ALO_OP_OBJECT(op, aloft_tds, open_kind);
  alo_tds_connection_fail(tds, why, "the connect was given up by its operation", 0);
  return true;
}

void alo_tds_opened(aloft_tds *tds) {
  tds->phase = ALO_TDS_LOGGED_IN;
  alo_tds_deadline(tds, 0);
  alo_tds_login_close(tds);
  finish_opening(tds, ALOFT_OK, NULL);
  alo_tds_send_next(tds);
}

/* The caller's config, over zeros, whatever its version's size. */
static bool import_config(aloft_tds_config *own, const aloft_tds_config *config) {
  memset(own, 0, sizeof *own);
  if (!config || config->size < sizeof config->size || config->size > sizeof *own)
    return false;
  memcpy(own, config, config->size);
  return true;
}

static void configure(aloft_tds *tds, const aloft_tds_config *config) {
  tds->tx_bytes_max = config->tx_bytes_max ? config->tx_bytes_max : TX_BYTES_MAX;
  tds->queries_max = config->queries_max ? config->queries_max : QUERIES_MAX;
  tds->cancel_timeout_ns =
      config->cancel_timeout_ns ? config->cancel_timeout_ns : ALOFT_SECONDS(CANCEL_SECONDS);
}

/* Packet headers, and the small messages that end others, come on top of the caller's limit. */
static size_t with_headers(size_t size) {
  size_t extra = size / 32 + 65536;
  return size > SIZE_MAX - extra ? SIZE_MAX : size + extra;
}

static aloft_status build(aloft_tds *tds, const aloft_tds_config *config,
                          const alo_tds_contexts *contexts) {
  const aloft_allocator *heap = &tds->loop->heap;
  size_t tx_max = with_headers(tds->tx_bytes_max);
  alo_stream_init(&tds->stream, tds->loop, tx_max);
  tds->stream.event = stream_event;
  tds->stream.rx_max = config->rx_bytes_max ? config->rx_bytes_max : RX_BYTES_MAX;
  alo_buffer_init(&tds->waiting, heap, tx_max);
  alo_tds_writer_init(&tds->writer, &tds->stream.tx, ALO_TDS_PACKET_DEFAULT);
  tds->text_rules =
      (alo_tds_text_rules){.pages = &tds->loop->code_pages.pages, .strict = config->strict_text};
  tds->writer.pages = tds->text_rules.pages;
  alo_tds_detail_init(&tds->failure, heap);
  alo_tds_detail_init(&tds->detail, heap);
  alo_tds_detail_init(&tds->refusal, heap);
  aloft_status status = alo_tds_login_open(tds, config, contexts);
  if (status != ALOFT_OK)
    return status;
  alo_tds_limits limits = {.columns_max = config->columns_max, .value_max = config->value_max};
  tds->reader = alo_tds_reader_open(heap, &limits);
  if (!tds->reader)
    return ALOFT_NO_MEMORY;
  alo_tds_reader_use_pages(tds->reader, tds->text_rules.pages);
  return alo_tds_login_dial(tds);
}

static aloft_status refuse_open(aloft_loop *loop, aloft_op *op, aloft_status status,
                                const aloft_error *error) {
  const aloft_error *kept = alo_loop_refuse(loop, status, error);
  return op ? alo_op_refuse(op, status, kept) : status;
}

aloft_status alo_tds_open(aloft_tds **made, aloft_loop *loop, const aloft_tds_config *config,
                          aloft_op *op, const alo_tds_contexts *contexts) {
  aloft_tds_config own;
  aloft_status status = op ? alo_op_check(&loop->ops, op) : ALOFT_OK;
  if (status != ALOFT_OK)
    return status;
  if (loop->closing)
    return refuse_open(loop, op, ALOFT_CLOSED, NULL);
  if (!import_config(&own, config))
    return refuse_open(loop, op, ALOFT_ARGUMENT, NULL);
  aloft_tds *tds = alo_heap_take(&loop->heap, sizeof *tds);
  if (!tds)
    return refuse_open(loop, op, ALOFT_NO_MEMORY, NULL);
  tds->ops = &loop->ops;
  tds->open_kind = (alo_op_kind){{alo_op_run}, opening_stopped, tds->ops};
  tds->close_kind = (alo_op_kind){{alo_op_run}, let_go, tds->ops};
  alo_tds_query_init(tds);
  tds->loop = loop;
  configure(tds, &own);
  status = build(tds, &own, contexts);
  if (status != ALOFT_OK) {
    refuse_open(loop, op, status, tds->failure.error.status == status ? &tds->failure.error : NULL);
    release(tds);
    return status;
  }
  tds->resident.evict = evict;
  alo_loop_settle_in(loop, &tds->resident);
  if (op)
    alo_op_fly(&tds->open_kind, op);
  tds->opening = op;
  *made = tds;
  return ALOFT_OK;
}

aloft_status aloft_tds_open(aloft_tds **made, aloft_loop *loop, const aloft_tds_config *config,
                            aloft_op *op) {
  return alo_tds_open(made, loop, config, op, NULL);
}

/* ---- info ---- */

void aloft_tds_get_info(const aloft_tds *tds, aloft_tds_info *info) {
  aloft_tds_info full = {
      .connected = tds->phase == ALO_TDS_LOGGED_IN,
      .dead = tds->phase == ALO_TDS_DEAD,
      .database = {tds->database, tds->database_size},
      .server_name = {tds->server_name, tds->server_name_size},
      .packet_size = tds->writer.packet_size,
      .spid = tds->spid,
      .queries = tds->waiting_count + (tds->active ? 1u : 0u),
      .in_transaction = tds->transaction != 0,
      .draining = tds->owed != ALO_TDS_OWED_NOTHING,
      .attentions = tds->attentions,
      .snapshots = alo_tds_reader_counters(tds->reader).stops,
      .bytes_in = tds->stream.rx_bytes,
      .bytes_out = tds->stream.tx_written,
  };
  size_t size = info->size < sizeof full ? info->size : sizeof full;
  memcpy(full.server_version, tds->server_version, sizeof full.server_version);
  full.size = size;
  memcpy(info, &full, size);
}
