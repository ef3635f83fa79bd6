#include "lite_connection.h"

#include <stdlib.h>
#include <string.h>

#include "utf16.h"

/* ---- text ---- */

aloft_text alo_lite_decode(aloft_bytes utf16) {
  char *text = malloc(ALO_UTF8_ROOM(utf16.size));
  if (!text)
    return (aloft_text){NULL, 0};
  alo_utf16_cut cut = {.size = 0};
  size_t size = alo_utf16_to_utf8(&cut, utf16.data, utf16.size, true, text, NULL);
  return (aloft_text){text, size};
}

void alo_lite_let_go(aloft_text text) {
  char *memory = NULL;
  memcpy(&memory, &text.data, sizeof memory);
  free(memory);
}

/* ---- SQLBatch ---- */

void alo_lite_forget_handle(alo_lite_connection *connection) {
  if (connection->handle)
    alo_prepared_remove(&connection->prepared, connection->handle);
  connection->handle = 0;
}

void alo_lite_start(alo_lite_connection *connection, const alo_batch *batch) {
  aloft_status status = alo_session_start(connection->session, batch);
  if (status != ALOFT_OK)
    alo_lite_forget_handle(connection);
  switch (status) {
  case ALOFT_OK:
    connection->procedure = batch->kind == ALO_BATCH_EXECUTESQL;
    alo_lite_answer_begin(connection);
    break;
  case ALOFT_TOO_LARGE:
    alo_lite_answer_error(connection, 40510, 16,
                          ALOFT_TEXT("The batch is over lite's limit of 4 MiB of text."));
    break;
  case ALOFT_TOO_MANY:
    alo_lite_answer_error(connection, 8003, 16,
                          ALOFT_TEXT("The incoming request has too many parameters. The server "
                                     "supports a maximum of 2100 parameters."));
    break;
  default:
    alo_lite_answer_error(connection, 701, 17,
                          ALOFT_TEXT("There is insufficient system memory to run this query."));
    break;
  }
}

static void start_text(alo_lite_connection *connection, aloft_text text) {
  const alo_batch batch = {.kind = ALO_BATCH_SQL, .text = text};
  alo_lite_start(connection, &batch);
}

static void sql_batch(alo_lite_connection *connection, aloft_bytes rest) {
  if (rest.size % 2) {
    alo_lite_protocol_error(connection, "a batch of an odd number of bytes");
    return;
  }
  aloft_text text = alo_lite_decode(rest);
  if (text.data)
    start_text(connection, text);
  else
    alo_lite_drop(connection);
  alo_lite_let_go(text);
}

/* ---- transaction manager request ---- */

static void transaction(alo_lite_connection *connection, aloft_bytes rest) {
  alo_tds_transaction asked;
  const char *wrong = alo_tds_parse_transaction(rest, &asked);
  if (wrong) {
    alo_lite_protocol_error(connection, wrong);
    return;
  }
  bool plain = asked.name.size == 0 && asked.isolation <= 4 && !asked.begin_after;
  if (plain && asked.request == ALO_TDS_TM_BEGIN)
    start_text(connection, ALOFT_TEXT("BEGIN TRANSACTION"));
  else if (plain && asked.request == ALO_TDS_TM_COMMIT)
    start_text(connection, ALOFT_TEXT("COMMIT TRANSACTION"));
  else if (plain && asked.request == ALO_TDS_TM_ROLLBACK)
    start_text(connection, ALOFT_TEXT("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION"));
  else
    alo_lite_answer_error(connection, 40510, 16,
                          ALOFT_TEXT("lite has no savepoints, named transactions or snapshot "
                                     "isolation: use BEGIN, COMMIT and ROLLBACK."));
}

/* ---- any request ---- */

/* What RESETCONNECTION has asked for. False: the request is answered with an error. */
static bool reset(alo_lite_connection *connection) {
  if (!connection->reset_wanted)
    return true;
  connection->reset_wanted = false;
  if (connection->reset_keeps && alo_session_transaction(connection->session)) {
    alo_lite_answer_error(connection, 40510, 16,
                          ALOFT_TEXT("lite cannot reset a session and keep its transaction: end it "
                                     "first."));
    return false;
  }
  alo_session_reset(connection->session);
  alo_prepared_clear(&connection->prepared);
  connection->reset_done = true;
  return true;
}

void alo_lite_request(alo_lite_connection *connection, uint8_t type, aloft_bytes payload) {
  if (!reset(connection))
    return;
  if (type == ALO_TDS_ATTENTION) { /* what it was meant for is over */
    alo_lite_answer_done(connection, ALO_TDS_DONE_ATTN);
    return;
  }
  uint64_t transaction_id;
  aloft_bytes rest;
  const char *wrong = NULL;
  if (type == ALO_TDS_SQL_BATCH || type == ALO_TDS_RPC || type == ALO_TDS_TRANSACTION)
    wrong = alo_tds_parse_headers(payload, &transaction_id, &rest);
  else
    wrong = type == ALO_TDS_BULK ? "bulk load is not supported by lite"
                                 : "a message of this type is not a request";
  if (wrong)
    alo_lite_protocol_error(connection, wrong);
  else if (type == ALO_TDS_SQL_BATCH)
    sql_batch(connection, rest);
  else if (type == ALO_TDS_RPC)
    alo_lite_rpc(connection, rest);
  else
    transaction(connection, rest);
}
