/* The answer, step by step. */
#include "tds_connection.h"

/* What an event means to a step: one of the public answers, or that it reads on. */
#define READ_ON ALOFT_OK

/* ---- events ---- */

static aloft_status read_metadata(aloft_tds *tds) {
  tds->columns_shown = false;
  return ALOFT_RESULT;
}

static aloft_status read_row(aloft_tds *tds) {
  tds->in_row = true;
  return ALOFT_ROW;
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

static aloft_status read_done(aloft_tds *tds, aloft_tds_query *query) {
  const alo_tds_done *done = alo_tds_reader_done(tds->reader);
  if (done->status & ALO_TDS_DONE_ATTN)
    return fail_step(tds, query);
  if (done->status & (ALO_TDS_DONE_ERROR | ALO_TDS_DONE_SRVERROR))
    note_undescribed(tds);
  if (done->status & ALO_TDS_DONE_COUNT) {
    uint64_t sum = query->rows_affected < 0 ? 0 : (uint64_t)query->rows_affected;
    query->rows_affected =
        done->rows > (uint64_t)INT64_MAX - sum ? INT64_MAX : (int64_t)(sum + done->rows);
  }
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
  case ALO_TDS_ROW_READY:
    return read_row(tds);
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
  case ALO_TDS_LOGINACK:
  case ALO_TDS_RETURN_VALUE:
  case ALO_TDS_FEATURE_ACK:
    break;
  }
  return READ_ON;
}

/* ---- steps ---- */

static aloft_status step(aloft_tds *tds, aloft_tds_query *query) {
  aloft_status answer;
  tds->in_row = tds->in_output = false;
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
  while (answer == ALOFT_ROW || answer == ALOFT_RESULT);
}

/* An accessor was misused: the query is given up, the connection is used on. */
static aloft_status step_failed(aloft_tds *tds, aloft_tds_query *query) {
  aloft_status status = tds->misuse.status;
  alo_tds_misuse_describe(tds);
  alo_tds_query_abandon(tds, query, status, &tds->detail.error);
  return status;
}

aloft_status aloft_tds_step(aloft_tds_query *query) {
  aloft_tds *tds = query->own.tds;
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
  return tds->misuse.status != ALOFT_OK ? step_failed(tds, query) : step(tds, query);
}
