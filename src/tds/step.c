/* The answer, step by step. */
#include "tds_connection.h"

/* What an event means to a step: one of the public answers, or that it reads on. */
#define READ_ON ALOFT_OK

/* ---- events ---- */

static aloft_status read_metadata(aloft_tds *tds) {
  tds->columns_shown = false;
  return ALOFT_RESULT;
}

/* A row is shown once as such, and then as more of it. */
static aloft_status read_row(aloft_tds *tds, bool open) {
  aloft_status answer = tds->row_begun ? ALOFT_MORE : ALOFT_ROW;
  tds->in_row = true;
  tds->row_begun = tds->value_open = open;
  return answer;
}

static aloft_status read_output(aloft_tds *tds, const aloft_tds_query *query) {
  if (!alo_tds_query_wants_output(query))
    return READ_ON;
  alo_tds_show_output(tds);
  return ALOFT_OUTPUT;
}

static aloft_status fail_step(aloft_tds *tds, aloft_tds_query *query) {
  alo_tds_broken(tds);
  return query->op.status;
}

static void note_undescribed(aloft_tds *tds) {
  if (tds->failed_query)
    return;
  tds->failed_query = true;
  alo_tds_detail_format(&tds->detail, ALOFT_SERVER,
                        "the server ended a statement with an error that it did not describe");
}

static aloft_status count_rows(aloft_tds_query *query, uint64_t rows) {
  uint64_t sum = query->rows_affected < 0 ? 0 : (uint64_t)query->rows_affected;
  query->rows_affected = rows > (uint64_t)INT64_MAX - sum ? INT64_MAX : (int64_t)(sum + rows);
  if (!query->counted)
    return READ_ON;
  query->counted(query, rows);
  return alo_tds_flying(query) ? READ_ON : query->op.status; /* it may have been cancelled */
}

static aloft_status read_done(aloft_tds *tds, aloft_tds_query *query) {
  const alo_tds_done *done = alo_tds_reader_done(tds->reader);
  if (done->status & ALO_TDS_DONE_ATTN)
    return fail_step(tds, query);
  if (done->status & (ALO_TDS_DONE_ERROR | ALO_TDS_DONE_SRVERROR))
    note_undescribed(tds);
  if (done->status & ALO_TDS_DONE_COUNT)
    return count_rows(query, done->rows);
  return READ_ON;
}

static aloft_status read_message(aloft_tds *tds, aloft_tds_query *query) {
  const alo_tds_message *message = alo_tds_reader_message(tds->reader);
  if (alo_tds_is_error(message) && !tds->failed_query) {
    tds->failed_query = true;
    alo_tds_detail_message(&tds->detail, message);
  }
  if (!query->message)
    return READ_ON;
  aloft_error error = alo_tds_error_of(message);
  query->message(query, &error);
  return alo_tds_flying(query) ? READ_ON : query->op.status; /* it may have been cancelled */
}

static aloft_status read_environment(aloft_tds *tds, const aloft_tds_query *query) {
  alo_tds_session_change(tds);
  return alo_tds_flying(query) ? READ_ON : query->op.status;
}

static aloft_status read_return_status(aloft_tds *tds, aloft_tds_query *query) {
  query->returned = true;
  query->return_status = alo_tds_reader_return_status(tds->reader);
  return READ_ON;
}

static aloft_status read_need(aloft_tds_query *query) {
  alo_tds_query_pends(query);
  return ALOFT_PENDING;
}

static aloft_status read_end(aloft_tds *tds, aloft_tds_query *query) {
  aloft_status status = tds->failed_query ? ALOFT_SERVER : ALOFT_OK;
  alo_tds_query_finish(tds, query, status, tds->failed_query ? &tds->detail.error : NULL);
  alo_tds_send_next(tds);
  return status == ALOFT_OK ? ALOFT_DONE : status;
}

static aloft_status read_event(aloft_tds *tds, aloft_tds_query *query) {
  switch (alo_tds_next(tds)) {
  case ALO_TDS_NEED:
    return read_need(query);
  case ALO_TDS_METADATA:
    return read_metadata(tds);
  case ALO_TDS_ROW_OPEN:
    return read_row(tds, true);
  case ALO_TDS_ROW_READY:
    return read_row(tds, false);
  case ALO_TDS_DONE:
    return read_done(tds, query);
  case ALO_TDS_MESSAGE:
    return read_message(tds, query);
  case ALO_TDS_ENVCHANGE:
    return read_environment(tds, query);
  case ALO_TDS_RETURN_STATUS:
    return read_return_status(tds, query);
  case ALO_TDS_END:
    return read_end(tds, query);
  case ALO_TDS_BROKEN:
    return fail_step(tds, query);
  case ALO_TDS_RETURN_VALUE:
    return read_output(tds, query);
  case ALO_TDS_LOGINACK:
  case ALO_TDS_FEATURE_ACK:
  case ALO_TDS_PIECE:
  case ALO_TDS_VALUE_END:
    break;
  }
  return READ_ON;
}

/* ---- steps ---- */

static aloft_status step(aloft_tds *tds, aloft_tds_query *query) {
  aloft_status answer;
  tds->in_row = tds->row_begun; /* what has been shown of a row that goes on */
  tds->in_output = tds->value_open = false;
  tds->stepping = true;
  do
    answer = read_event(tds, query);
  while (answer == READ_ON);
  tds->stepping = false;
  return answer;
}

void alo_tds_step_over(aloft_tds *tds) {
  aloft_tds_query *query = tds->active;
  aloft_status answer;
  do
    answer = step(tds, query);
  while (answer == ALOFT_ROW || answer == ALOFT_MORE || answer == ALOFT_RESULT ||
         answer == ALOFT_OUTPUT);
}

/* An accessor was misused: the query is given up, the connection is used on. */
static aloft_status step_failed(aloft_tds *tds, aloft_tds_query *query) {
  aloft_status status = tds->misuse.status;
  alo_tds_misuse_describe(tds);
  alo_tds_query_abandon(tds, query, status, &tds->detail.error);
  return status;
}

/* ALOFT_OK: it may be read. */
static aloft_status may_read(aloft_tds *tds, aloft_tds_query *query) {
  if (alo_op_idle(&query->op))
    return ALOFT_WRONG_STATE;
  if (query->op.own.state == ALO_OP_FINISHED)
    return query->op.status == ALOFT_OK ? ALOFT_DONE : query->op.status;
  if (tds->stepping)
    return ALOFT_WRONG_STATE;
  if (tds->active != query || tds->finished) {
    alo_tds_query_pends(query);
    return ALOFT_PENDING;
  }
  return tds->misuse.status != ALOFT_OK ? step_failed(tds, query) : ALOFT_OK;
}

aloft_status aloft_tds_step(aloft_tds_query *query) {
  aloft_tds *tds = query->own.tds;
  aloft_status status = may_read(tds, query);
  return status == ALOFT_OK ? step(tds, query) : status;
}

/* ---- pieces ---- */

static bool has_open_value(const aloft_tds_query *query) {
  return alo_tds_flying(query) && query->own.tds->active == query && query->own.tds->value_open;
}

size_t aloft_tds_open_column(const aloft_tds_query *query) {
  return has_open_value(query) ? alo_tds_reader_open_column(query->own.tds->reader)
                               : ALOFT_TDS_NO_COLUMN;
}

uint64_t aloft_tds_open_size(const aloft_tds_query *query) {
  return has_open_value(query) ? alo_tds_reader_open_size(query->own.tds->reader) : UINT64_MAX;
}

/* Where U+FFFD is no answer. */
static aloft_status refuse_piece(aloft_tds *tds, aloft_tds_query *query) {
  tds->misuse = (alo_tds_misuse){.status = ALOFT_WRONG_TYPE,
                                 .column = alo_tds_reader_open_column(tds->reader),
                                 .what = alo_tds_ill_formed};
  return step_failed(tds, query);
}

aloft_status aloft_tds_read(aloft_tds_query *query, aloft_bytes *piece) {
  aloft_tds *tds = query->own.tds;
  *piece = (aloft_bytes){NULL, 0};
  aloft_status status = may_read(tds, query);
  if (status == ALOFT_OK && !tds->value_open)
    status = ALOFT_WRONG_STATE;
  if (status != ALOFT_OK)
    return status;
  switch (alo_tds_read(tds, piece)) {
  case ALO_TDS_PIECE:
    if (!tds->text_rules.strict || !alo_tds_reader_piece_broken(tds->reader))
      return ALOFT_OK;
    *piece = (aloft_bytes){NULL, 0};
    return refuse_piece(tds, query);
  case ALO_TDS_NEED:
    return read_need(query);
  case ALO_TDS_BROKEN:
    return fail_step(tds, query);
  default:
    tds->value_open = false;
    return ALOFT_DONE;
  }
}
