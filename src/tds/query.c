/* Queries: started, waiting for their turn, sent, finished. One is on the wire at a time. */
#include <string.h>

#include "tds_connection.h"
#include "utf16.h"

/* A waiting message lies in one packet without a limit, whose header is left out when it is sent;
 * the transaction descriptor is at a fixed place in its ALL_HEADERS (MS-TDS 2.2.5.3). */
enum { DESCRIPTOR_AT = ALO_TDS_HEADER_SIZE + 10, DESCRIPTOR_SIZE = 8 };

/* own.flags of a query */
enum {
  IS_RPC = 0x01,
  WANTS_READY = 0x02,  /* step has said PENDING since ready was called, or it never was */
  READY_QUEUED = 0x04, /* in the loop's queue */
  IN_PIECES = 0x08,    /* large values */
  WANTS_OUTPUT = 0x10, /* a parameter's value comes back */
  IS_CALL = 0x20,      /* of a procedure */
};

/* Parameters of sp_executesql before those of the statement. */
enum { EXECUTESQL_OWN = 2 };

/* ---- the end ---- */

/* `done` may free the query, start it again, or close the connection, whose memory stays until its
 * own item has run. */
static void run_query(aloft_item *item) {
  aloft_op *op = ALOFT_CONTAINER(item, aloft_op, item);
  aloft_tds *tds = ALO_OP_OBJECT(op, aloft_tds, query_kind);
  bool held = tds->finished == alo_tds_query_of(op);
  alo_op_run(item);
  if (!held)
    return;
  tds->finished = NULL;
  if (tds->stream.rx.size)
    alo_tds_receive(tds);
}

void alo_tds_query_init(aloft_tds *tds) {
  tds->query_kind = (alo_op_kind){{run_query}, alo_tds_query_stop, tds->ops};
}

static bool is_written(const aloft_tds *tds, const aloft_tds_query *query) {
  return tds->stream.tx_written >= query->own.tx_end;
}

void alo_tds_query_finish(aloft_tds *tds, aloft_tds_query *query, aloft_status status,
                          const aloft_error *error) {
  if (tds->active == query) {
    query->op.written = is_written(tds, query);
    tds->active = NULL;
    tds->finished = query;
    tds->in_row = false;
  }
  alo_tds_surplus_watch(tds);
  alo_op_finish(&query->op, status, error);
}

/* ---- waiting ---- */

static size_t waiting_size(const aloft_tds_query *query) {
  return (size_t)(query->own.tx_end - query->own.tx_begin);
}

static void queue_last(aloft_tds *tds, aloft_tds_query *query, size_t size) {
  query->own.tx_begin = 0;
  query->own.tx_end = size;
  query->own.next = NULL;
  if (tds->last)
    tds->last->own.next = query;
  else
    tds->first = query;
  tds->last = query;
  tds->waiting_count++;
  alo_tds_surplus_note(tds);
}

static void cut_out(alo_buffer *buffer, size_t at, size_t size) {
  uint8_t *hole = buffer->data + buffer->begin + at;
  memmove(hole, hole + size, alo_buffer_size(buffer) - at - size);
  buffer->end -= size;
}

void alo_tds_query_unqueue(aloft_tds *tds, aloft_tds_query *query) {
  size_t at = 0;
  aloft_tds_query *before = NULL;
  for (aloft_tds_query *other = tds->first; other != query; other = other->own.next) {
    at += waiting_size(other);
    before = other;
  }
  if (before)
    before->own.next = query->own.next;
  else
    tds->first = query->own.next;
  if (tds->last == query)
    tds->last = before;
  tds->waiting_count--;
  if (before)
    cut_out(&tds->waiting, at, waiting_size(query));
  else
    alo_buffer_take(&tds->waiting, waiting_size(query));
}

/* ---- sending ---- */

static uint8_t message_type(const aloft_tds_query *query) {
  return query->own.flags & IS_RPC ? ALO_TDS_RPC : ALO_TDS_SQL_BATCH;
}

/* A reset ends the transaction before the query runs. */
static uint64_t transaction_of(const aloft_tds *tds) {
  return tds->reset ? 0 : tds->transaction;
}

static void begin_message(aloft_tds *tds, const aloft_tds_query *query) {
  alo_tds_message_begin(&tds->writer, message_type(query),
                        tds->reset ? (uint8_t)ALO_TDS_STATUS_RESET : 0);
}

/* The message at the end of `tx` is the query's. */
static void activate(aloft_tds *tds, aloft_tds_query *query, size_t size) {
  query->own.tx_end = alo_stream_tx_end(&tds->stream);
  query->own.tx_begin = query->own.tx_end - size;
  tds->active = query;
  tds->sent_packet_size = tds->writer.packet_size;
  tds->sent_reset = tds->reset;
  tds->transaction = transaction_of(tds);
  tds->reset = false;
  tds->failed_query = false;
  tds->misuse.status = ALOFT_OK;
  tds->columns_shown = false;
  tds->row_begun = tds->value_open = false;
  alo_tds_reader_pieces(tds->reader, query->own.flags & IN_PIECES);
  alo_tds_surplus_note(tds);
  alo_stream_send(&tds->stream);
}

static aloft_status send_waiting(aloft_tds *tds, aloft_tds_query *query) {
  uint8_t *message = tds->waiting.data + tds->waiting.begin;
  uint64_t transaction = transaction_of(tds);
  for (unsigned at = 0; at < DESCRIPTOR_SIZE; at++)
    message[DESCRIPTOR_AT + at] = (uint8_t)(transaction >> (8 * at));
  size_t before = alo_buffer_size(&tds->stream.tx);
  begin_message(tds, query);
  alo_tds_put(&tds->writer, message + ALO_TDS_HEADER_SIZE,
              waiting_size(query) - ALO_TDS_HEADER_SIZE);
  aloft_status status = alo_tds_message_end(&tds->writer);
  alo_tds_query_unqueue(tds, query);
  if (status == ALOFT_OK)
    activate(tds, query, alo_buffer_size(&tds->stream.tx) - before);
  return status;
}

static bool may_send(const aloft_tds *tds) {
  return tds->phase == ALO_TDS_LOGGED_IN && !tds->active && !tds->owed;
}

void alo_tds_send_next(aloft_tds *tds) {
  while (tds->first && may_send(tds)) {
    aloft_tds_query *query = tds->first;
    aloft_status status = send_waiting(tds, query);
    if (status != ALOFT_OK)
      alo_tds_query_finish(tds, query, status, NULL);
  }
}

/* ---- starting ---- */

static aloft_status refuse(aloft_tds *tds, aloft_tds_query *query, aloft_status status,
                           const char *text) {
  alo_tds_detail_format(&tds->refusal, status, "%s", text);
  return alo_op_refuse(&query->op, status, &tds->refusal.error);
}

static aloft_status check(aloft_tds *tds, aloft_tds_query *query) {
  aloft_status status = alo_op_check(tds->ops, &query->op);
  if (status != ALOFT_OK)
    return status;
  if (tds->closing)
    return alo_op_refuse(&query->op, ALOFT_CLOSED, NULL);
  if (tds->phase == ALO_TDS_DEAD)
    return alo_op_refuse(&query->op, tds->failed, &tds->failure.error);
  if (!query->sql.data == !query->procedure.data)
    return refuse(tds, query, ALOFT_ARGUMENT,
                  query->sql.data ? "a query has `sql` or `procedure`, not both: leave one out"
                                  : "a query needs its `sql`, or the name of a `procedure`");
  if (query->param_count > ALO_TDS_PARAMS_MAX || (query->param_count && !query->params))
    return refuse(tds, query, ALOFT_ARGUMENT, "a query has at most 2,100 parameters");
  if (query->large != ALOFT_TDS_WHOLE && query->large != ALOFT_TDS_PIECES)
    return refuse(tds, query, ALOFT_ARGUMENT,
                  "large values are had as ALOFT_TDS_WHOLE or ALOFT_TDS_PIECES");
  if (tds->waiting_count >= tds->queries_max)
    return refuse(tds, query, ALOFT_TOO_MANY,
                  "as many queries wait on this connection as queries_max allows: wait for one to "
                  "end, or raise it");
  return ALOFT_OK;
}

static void put_query(alo_tds_writer *writer, const aloft_tds *tds, const aloft_tds_query *query,
                      alo_tds_bad_param *bad) {
  const alo_tds_server server = {.collation = tds->has_collation ? tds->collation : NULL,
                                 .json = tds->json};
  uint64_t transaction = transaction_of(tds);
  *bad = (alo_tds_bad_param){query->param_count, NULL};
  if (query->procedure.data)
    alo_tds_put_call(writer, transaction, query->procedure, &server, query->params,
                     query->param_count, bad);
  else if (query->own.flags & IS_RPC)
    alo_tds_put_executesql(writer, transaction, query->sql, query->params, query->param_count, bad);
  else
    alo_tds_put_batch(writer, transaction, query->sql);
}

static aloft_status refuse_message(aloft_tds *tds, aloft_tds_query *query, aloft_status status,
                                   const alo_tds_bad_param *bad) {
  if (bad->index < query->param_count) {
    aloft_text name = query->params[bad->index].name;
    alo_tds_detail_format(&tds->refusal, status, "parameter %zu (%.*s): %s", bad->index + 1,
                          name.size > 128 ? 128 : ALOFT_PRINT(name),
                          bad->why ? bad->why : aloft_status_meaning(status));
    return alo_op_refuse(&query->op, status, &tds->refusal.error);
  }
  if (status == ALOFT_ARGUMENT)
    return refuse(tds, query, status, bad->why ? bad->why : "the sql is not well-formed UTF-8");
  if (status == ALOFT_FULL)
    return refuse(tds, query, status,
                  "the requests not yet written exceed tx_bytes_max: wait, or raise it");
  if (status == ALOFT_TOO_LARGE)
    return refuse(tds, query, status,
                  "the query alone is over tx_bytes_max (or its sql over 2 GiB): send less, or "
                  "raise it");
  return alo_op_refuse(&query->op, status, NULL);
}

/* 0 for what is not UTF-8. */
static uint64_t utf16_size(aloft_text text) {
  size_t units = alo_utf8_utf16_count(text.data, text.size);
  return units == SIZE_MAX ? 0 : 2 * (uint64_t)units;
}

/* Of text in any charset that there is. */
static uint64_t least_param_size(const aloft_tds_param *param) {
  if (param->null || param->by_default)
    return 0;
  switch (param->type) {
  case ALOFT_TDS_NCHAR:
  case ALOFT_TDS_NVARCHAR:
  case ALOFT_TDS_NTEXT:
  case ALOFT_TDS_XML:
  case ALOFT_TDS_JSON:
    return utf16_size(param->value.text);
  case ALOFT_TDS_CHAR:
  case ALOFT_TDS_VARCHAR:
  case ALOFT_TDS_TEXT:
    return utf16_size(param->value.text) / 2;
  case ALOFT_TDS_BINARY:
  case ALOFT_TDS_VARBINARY:
  case ALOFT_TDS_IMAGE:
  case ALOFT_TDS_UDT:
    return param->value.bytes.size;
  default:
    return 0;
  }
}

/* What the message has besides its framing. */
static uint64_t least_size(const aloft_tds_query *query) {
  uint64_t size = utf16_size(query->sql);
  for (size_t at = 0; at < query->param_count; at++)
    size += least_param_size(&query->params[at]);
  return size;
}

/* Whether a message, encoded with this status behind `before` bytes, is within the limit: FULL
 * where waiting helps, TOO_LARGE where it cannot. */
static aloft_status judge(const aloft_tds *tds, const aloft_tds_query *query, aloft_status status,
                          size_t before, size_t size) {
  if (status == ALOFT_FULL) /* the buffer's own */
    return !before || least_size(query) > tds->tx_bytes_max ? ALOFT_TOO_LARGE : ALOFT_FULL;
  if (status != ALOFT_OK)
    return status;
  if (size > tds->tx_bytes_max)
    return ALOFT_TOO_LARGE;
  size_t all = alo_buffer_size(&tds->stream.tx) + alo_buffer_size(&tds->waiting);
  return all > tds->tx_bytes_max ? ALOFT_FULL : ALOFT_OK;
}

static aloft_status start_now(aloft_tds *tds, aloft_tds_query *query, alo_tds_bad_param *bad) {
  size_t before = alo_buffer_size(&tds->stream.tx);
  begin_message(tds, query);
  put_query(&tds->writer, tds, query, bad);
  aloft_status status = alo_tds_message_end(&tds->writer);
  size_t size = alo_buffer_size(&tds->stream.tx) - before; /* 0 when it failed */
  status = judge(tds, query, status, before, size);
  if (status == ALOFT_OK)
    activate(tds, query, size);
  else
    tds->stream.tx.end -= size;
  return status;
}

static aloft_status start_later(aloft_tds *tds, aloft_tds_query *query, alo_tds_bad_param *bad) {
  alo_tds_writer writer;
  size_t before = alo_buffer_size(&tds->waiting);
  alo_tds_writer_init(&writer, &tds->waiting, UINT32_MAX);
  writer.pages = &tds->loop->code_pages.pages;
  alo_tds_message_begin(&writer, message_type(query), 0);
  put_query(&writer, tds, query, bad);
  aloft_status status = alo_tds_message_end(&writer);
  size_t size = alo_buffer_size(&tds->waiting) - before; /* 0 when it failed */
  status = judge(tds, query, status, before, size);
  if (status == ALOFT_OK)
    queue_last(tds, query, size);
  else
    tds->waiting.end -= size;
  return status;
}

static uint32_t flags_of(const aloft_tds_query *query) {
  uint32_t flags = WANTS_READY;
  if (query->param_count || query->procedure.data)
    flags |= IS_RPC;
  if (query->ready && query->large == ALOFT_TDS_PIECES)
    flags |= IN_PIECES;
  for (size_t at = 0; at < query->param_count; at++)
    if (query->params[at].output)
      flags |= WANTS_OUTPUT;
  if (query->procedure.data)
    flags |= IS_CALL | WANTS_OUTPUT; /* also a function's result */
  return flags;
}

bool alo_tds_query_wants_output(const aloft_tds_query *query) {
  return (query->own.flags & WANTS_OUTPUT) != 0;
}

/* MS-TDS 2.2.7.19 counts from 0, all parameters of the request. */
size_t alo_tds_query_param(const aloft_tds_query *query, uint16_t ordinal) {
  size_t own = query->own.flags & IS_CALL ? 0 : EXECUTESQL_OWN;
  return ordinal >= own && ordinal - own < query->param_count ? ordinal - own : query->param_count;
}

aloft_status aloft_tds_query_start(aloft_tds *tds, aloft_tds_query *query) {
  aloft_status status = check(tds, query);
  if (status != ALOFT_OK)
    return status;
  alo_tds_bad_param bad = {0, NULL};
  query->own.tds = tds;
  query->own.flags = flags_of(query);
  status =
      may_send(tds) && !tds->first ? start_now(tds, query, &bad) : start_later(tds, query, &bad);
  if (status != ALOFT_OK) {
    alo_tds_surplus_watch(tds); /* what was encoded before it was found out took room */
    return refuse_message(tds, query, status, &bad);
  }
  query->rows_affected = -1;
  query->returned = false;
  query->return_status = 0;
  alo_op_fly(&tds->query_kind, &query->op);
  return ALOFT_OK;
}

/* ---- ready ---- */

static void run_ready(aloft_item *item) {
  aloft_tds_query *query = ALOFT_CONTAINER(item, aloft_tds_query, own.ready);
  query->own.flags &= ~(uint32_t)READY_QUEUED;
  if (!alo_tds_flying(query) || query->own.tds->active != query)
    return;
  /* A step elsewhere has said PENDING since: what came after that is told now, nothing is not. */
  if (query->own.flags & WANTS_READY && !query->own.tds->stream.rx.size)
    return;
  query->own.flags &= ~(uint32_t)WANTS_READY;
  if (query->ready)
    query->ready(query);
  else
    alo_tds_step_over(query->own.tds);
}

static const alo_item_kind ready_kind = {run_ready};

bool alo_tds_query_untold(const aloft_tds_query *query) {
  return (query->own.flags & (WANTS_READY | READY_QUEUED)) != 0;
}

void alo_tds_query_pends(aloft_tds_query *query) {
  query->own.flags |= WANTS_READY;
}

void alo_tds_query_readable(aloft_tds *tds) {
  aloft_tds_query *query = tds->active;
  if (!query->ready && !query->message) {
    alo_tds_step_over(tds);
    return;
  }
  if (!(query->own.flags & WANTS_READY) || query->own.flags & READY_QUEUED)
    return;
  query->own.flags = (query->own.flags & ~(uint32_t)WANTS_READY) | READY_QUEUED;
  query->own.ready.kind = &ready_kind;
  alo_ops_push(tds->ops, &query->own.ready);
}
