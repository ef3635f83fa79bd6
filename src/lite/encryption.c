/* TLS on lite's side: before anything of TDS, as TDS 8.0 has it, or wrapped in PRELOGIN packets
 * (MS-TDS 2.2.6.5, 3.3.5.3). */
#include "lite_connection.h"

#include <stdlib.h>
#include <string.h>

enum { TLS_1_2 = 12, TLS_HANDSHAKE_RECORD = 0x16 };

/* ---- contexts ---- */

static aloft_status open_context(alo_lite *lite, const alo_lite_config *config, bool first,
                                 alo_tls_context **context, char error[256]) {
  char why[ALO_TLS_FAILURE_MAX] = "";
  const alo_tls_config tls = {.server = true,
                              .certificate = {config->certificate_name,
                                              {config->certificate.data, config->certificate.size}},
                              .key = {config->key_name, {config->key.data, config->key.size}},
                              .maximum = first ? 0 : TLS_1_2,
                              .alpn = first ? ALOFT_TEXT("tds/8.0") : (aloft_text){NULL, 0},
                              .certificate_option = "--tlscert"};
  aloft_status status = alo_tls_context_open(context, &lite->loop->heap, &tls, why);
  if (status != ALOFT_OK)
    snprintf(error, 256, "%.255s", *why ? why : aloft_status_meaning(status));
  return status;
}

aloft_status alo_lite_tls_open(alo_lite *lite, const alo_lite_config *config, char error[256]) {
  lite->tls = config->tls;
  if (lite->tls == ALO_LITE_TLS_OFF)
    return ALOFT_OK;
  aloft_status status = open_context(lite, config, true, &lite->tls_first, error);
  return status == ALOFT_OK ? open_context(lite, config, false, &lite->tls_wrapped, error) : status;
}

void alo_lite_tls_close(alo_lite *lite) {
  alo_tls_context_give(lite->tls_first);
  alo_tls_context_give(lite->tls_wrapped);
}

/* ---- TLS first ---- */

static void secure(alo_lite_connection *connection, alo_tls *tls) {
  if (alo_stream_secure(&connection->stream, tls) != ALOFT_OK)
    alo_lite_protocol_error(connection, "no memory for TLS");
}

bool alo_lite_begins_with_tls(alo_lite_connection *connection) {
  const alo_lite *lite = connection->lite;
  const alo_block *block = connection->stream.rx.first;
  if (connection->begun || connection->stream.tls || !block)
    return false;
  connection->begun = true;
  if (lite->tls == ALO_LITE_TLS_OFF || block->data[block->begin] != TLS_HANDSHAKE_RECORD)
    return false;
  alo_tls *tls;
  connection->tls_first = true;
  if (alo_tls_open(&tls, lite->tls_first, &lite->loop->blocks, NULL) == ALOFT_OK)
    secure(connection, tls);
  else
    alo_lite_protocol_error(connection, "no memory for TLS");
  return true;
}

/* ---- the wrapped handshake ---- */

void alo_lite_handshake_begin(alo_lite_connection *connection, bool login_only) {
  connection->login_only = login_only;
  if (alo_tls_open(&connection->tls, connection->lite->tls_wrapped, &connection->lite->loop->blocks,
                   NULL) == ALOFT_OK)
    connection->phase = ALO_LITE_HANDSHAKE;
  else
    alo_lite_protocol_error(connection, "no memory for TLS");
}

static void send_wrapped(alo_lite_connection *connection) {
  alo_buffer *out = &connection->tls->out;
  size_t size = alo_buffer_size(out);
  if (size == 0)
    return;
  alo_tds_message_begin(&connection->writer, ALO_TDS_PRELOGIN, 0);
  alo_tds_put(&connection->writer, out->data + out->begin, size);
  alo_tls_sent(connection->tls, size);
  if (alo_tds_message_end(&connection->writer) == ALOFT_OK)
    alo_lite_send(connection);
  else
    alo_lite_protocol_error(connection, "no memory for TLS");
}

static void refuse_handshake(alo_lite_connection *connection) {
  connection->lite->counters.refused++;
  alo_lite_log(connection, "login refused", aloft_text_of(connection->tls->failure));
  send_wrapped(connection); /* an alert says why */
  if (!connection->gone)
    alo_lite_drop_later(connection);
}

/* From the next byte on TLS is not wrapped any more. */
static void finish_handshake(alo_lite_connection *connection) {
  send_wrapped(connection);
  if (connection->gone)
    return;
  if (connection->frames.left || connection->tls->in.size) {
    alo_lite_protocol_error(connection, "bytes follow the TLS handshake in its packet");
    return;
  }
  memset(&connection->frames, 0, sizeof connection->frames);
  connection->phase = ALO_LITE_LOGIN;
  connection->handshaken = true;
}

void alo_lite_handshake(alo_lite_connection *connection, aloft_bytes payload) {
  if (!alo_tls_feed(connection->tls, payload.data, payload.size)) {
    alo_lite_protocol_error(connection, "no memory for TLS");
    return;
  }
  switch (alo_tls_handshake(connection->tls)) {
  case ALOFT_OK:
    finish_handshake(connection);
    return;
  case ALOFT_PENDING:
    send_wrapped(connection);
    return;
  default:
    refuse_handshake(connection);
    return;
  }
}

void alo_lite_handshake_done(alo_lite_connection *connection) {
  alo_tls *tls = connection->tls;
  connection->handshaken = false;
  connection->tls = NULL;
  secure(connection, tls);
}

void alo_lite_login_packet(alo_lite_connection *connection) {
  if (!connection->login_only || connection->phase != ALO_LITE_LOGIN || connection->frames.left > 0)
    return;
  connection->login_only = false;
  if (alo_stream_unsecure(&connection->stream) != ALOFT_OK)
    alo_lite_protocol_error(connection, "a login before the handshake was answered");
}
