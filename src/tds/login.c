/* PRELOGIN, LOGIN7 and the server's answer to it (MS-TDS 2.2.6.4, 2.2.6.5, 3.2.5). */
#include <aloft/version.h>

#include <string.h>

#include "tds_connection.h"
#include "heap.h"

enum {
  VERSION_LEAST = 0x72, /* TDS 7.2: tokens have had their present shape since */
  LOGIN_ERROR_FIRST = 18400,
  LOGIN_ERROR_LAST = 18499
};

/* ---- credentials ---- */

void alo_tds_login_forget(aloft_tds *tds) {
  if (tds->login)
    alo_tds_wipe(tds->login->texts, tds->login->texts_size);
  if (tds->stream.tx.data && (!tds->stream.open || alo_buffer_size(&tds->stream.tx) == 0))
    alo_tds_wipe(tds->stream.tx.data, tds->stream.tx.room);
}

void alo_tds_login_close(aloft_tds *tds) {
  alo_tds_login_forget(tds);
  if (!tds->login)
    return;
  alo_tls_close(tds->login->tls);
  alo_tds_contexts_give(&tds->login->contexts);
  alo_heap_give(&tds->loop->heap, tds->login, tds->login->size);
  tds->login = NULL;
}

/* ---- begin ---- */

aloft_status alo_tds_login_open(aloft_tds *tds, const aloft_tds_config *config,
                                const alo_tds_contexts *contexts) {
  size_t room = alo_tds_settings_room(config);
  size_t size = sizeof(alo_tds_login_state) + room;
  alo_tds_login_state *state = alo_heap_take(&tds->loop->heap, size);
  if (!state)
    return ALOFT_NO_MEMORY;
  state->size = size;
  state->texts_size = room;
  tds->login = state;
  aloft_status status =
      alo_tds_settings_read(config, state->texts, &state->settings, &tds->failure);
  if (status != ALOFT_OK)
    return status;
  if (!contexts)
    return alo_tds_contexts_open(&state->contexts, &tds->loop->heap, &state->settings,
                                 &tds->failure);
  state->contexts = alo_tds_contexts_hold(contexts);
  return ALOFT_OK;
}

aloft_status alo_tds_login_dial(aloft_tds *tds) {
  const alo_connection_string *settings = &tds->login->settings;
  aloft_status status = alo_stream_dial(&tds->stream, settings->host, settings->port);
  if (status == ALOFT_OK) {
    alo_tds_deadline(tds, settings->connect_timeout_ns);
  } else if (status != ALOFT_NO_MEMORY) {
    alo_tds_detail_format(&tds->failure, status, "%.*s, port %u: %s", ALOFT_PRINT(settings->host),
                          (unsigned)settings->port, aloft_status_meaning(status));
    tds->failure.error.system = tds->stream.error;
  }
  return status;
}

/* ---- PRELOGIN ---- */

static void end_message(aloft_tds *tds) {
  aloft_status status = alo_tds_message_end(&tds->writer);
  if (status == ALOFT_OK)
    alo_stream_send(&tds->stream);
  else
    alo_tds_connection_fail(tds, status, NULL, 0);
}

/* Under Strict it means nothing, for all is encrypted already. */
static uint8_t encryption_of(const aloft_tds *tds) {
  return tds->login->settings.encrypt == ALO_ENCRYPT_MANDATORY ? ALO_TDS_ENCRYPT_ON
                                                               : ALO_TDS_ENCRYPT_OFF;
}

void alo_tds_prelogin_send(aloft_tds *tds) {
  const alo_tds_prelogin prelogin = {
      .version = {ALOFT_VERSION_MAJOR, ALOFT_VERSION_MINOR, 0, ALOFT_VERSION_PATCH},
      .encryption = encryption_of(tds),
      .has_encryption = true};
  tds->phase = ALO_TDS_PRELOGIN_SENT;
  alo_tds_message_begin(&tds->writer, ALO_TDS_PRELOGIN, 0);
  alo_tds_put_prelogin(&tds->writer, &prelogin, false);
  end_message(tds);
}

void alo_tds_login_send(aloft_tds *tds) {
  const alo_connection_string *settings = &tds->login->settings;
  const alo_tds_login login = {.packet_size = settings->packet_size,
                               .host = settings->workstation,
                               .user = settings->user,
                               .password = settings->password,
                               .application = settings->application,
                               .server = settings->host,
                               .library = ALOFT_TEXT("Aloft"),
                               .language = settings->language,
                               .database = settings->database,
                               .utf8_feature = true,
                               .json_feature = ALO_TDS_JSON_VERSION};
  tds->phase = ALO_TDS_LOGIN_SENT;
  tds->login_encrypted = tds->stream.tls != NULL;
  tds->stream.want_drained = true; /* then the credentials are wiped */
  alo_tds_message_begin(&tds->writer, ALO_TDS_LOGIN7, 0);
  alo_tds_put_login(&tds->writer, &login);
  end_message(tds);
}

/* The password follows only when it is protected as the settings ask for. */
static void agree(aloft_tds *tds, uint8_t server) {
  switch (alo_tds_agree(encryption_of(tds), server)) {
  case ALO_TDS_PLAIN:
    alo_tds_login_send(tds);
    return;
  case ALO_TDS_LOGIN_ENCRYPTED:
    alo_tds_handshake_begin(tds, true);
    return;
  case ALO_TDS_ALL_ENCRYPTED:
    alo_tds_handshake_begin(tds, false);
    return;
  case ALO_TDS_NO_AGREEMENT:
    alo_tds_connection_fail(tds, ALOFT_ENCRYPTION,
                            "the server cannot encrypt, and encryption is asked for (it is the "
                            "default): no credential was sent; give it a certificate, or on a "
                            "trusted network set Encrypt=Optional",
                            0);
    return;
  }
}

static void take_prelogin(aloft_tds *tds) {
  const alo_tds_login_state *state = tds->login;
  alo_tds_prelogin prelogin;
  const char *wrong =
      alo_tds_parse_prelogin((aloft_bytes){state->prelogin, state->prelogin_size}, &prelogin);
  if (wrong)
    alo_tds_connection_fail(tds, ALOFT_PROTOCOL, wrong, 0);
  else if (state->settings.encrypt == ALO_ENCRYPT_STRICT)
    alo_tds_login_send(tds);
  else
    agree(tds, prelogin.has_encryption ? prelogin.encryption : ALO_TDS_ENCRYPT_NOT_SUP);
}

static bool gather_prelogin(alo_tds_login_state *state, aloft_bytes piece) {
  if (state->frames.type != ALO_TDS_REPLY ||
      piece.size > sizeof state->prelogin - state->prelogin_size)
    return false;
  memcpy(state->prelogin + state->prelogin_size, piece.data, piece.size);
  state->prelogin_size += piece.size;
  return true;
}

/* True when the whole answer is there, or the connection has failed. */
static bool read_prelogin(aloft_tds *tds, aloft_bytes *input) {
  aloft_bytes piece;
  for (;;) {
    switch (alo_tds_frames_next(&tds->login->frames, input, &piece)) {
    case ALO_TDS_FRAME_NEED:
      return false;
    case ALO_TDS_FRAME_END:
      take_prelogin(tds);
      return true;
    case ALO_TDS_FRAME_PAYLOAD:
      if (gather_prelogin(tds->login, piece))
        break;
      /* fall through */
    case ALO_TDS_FRAME_BROKEN:
      alo_tds_connection_fail(
          tds, ALOFT_PROTOCOL,
          "the peer's first bytes are no answer to PRELOGIN: is it a SQL Server?", 0);
      return true;
    }
  }
}

void alo_tds_prelogin_read(aloft_tds *tds) {
  bool over = false;
  while (!over && tds->stream.rx.size) {
    const alo_block *block = tds->stream.rx.first;
    aloft_bytes input = {block->data + block->begin, block->end - block->begin};
    size_t before = input.size;
    over = read_prelogin(tds, &input);
    alo_stream_drop(&tds->stream, before - input.size);
  }
}

/* ---- the answer to LOGIN7 ---- */

static void note_server(aloft_tds *tds, aloft_text name) {
  if (!name.size || name.size > sizeof tds->server_name)
    return;
  memcpy(tds->server_name, name.data, name.size);
  tds->server_name_size = name.size;
}

static void take_loginack(aloft_tds *tds) {
  const alo_tds_loginack *loginack = alo_tds_reader_loginack(tds->reader);
  if (loginack->tds_version >> 24 < VERSION_LEAST) {
    alo_tds_connection_fail(tds, ALOFT_UNSUPPORTED,
                            "the server speaks TDS below 7.2 (SQL Server 2000 or older)", 0);
    return;
  }
  memcpy(tds->server_version, loginack->version, sizeof tds->server_version);
  if (!tds->server_name_size)
    note_server(tds, loginack->program);
  tds->login->acknowledged = true;
}

/* Of JSON the server tells the version that it will send: not above the one asked for. */
static void take_feature(aloft_tds *tds) {
  uint8_t id;
  aloft_bytes data = alo_tds_reader_feature(tds->reader, &id);
  if (id != ALO_TDS_FEATURE_JSON)
    return;
  tds->json = data.size == 1 && *(const uint8_t *)data.data == ALO_TDS_JSON_VERSION;
  if (!tds->json)
    alo_tds_connection_fail(tds, ALOFT_PROTOCOL,
                            "the server acknowledges JSON of a version that was not asked for", 0);
}

static void take_message(aloft_tds *tds) {
  const alo_tds_message *message = alo_tds_reader_message(tds->reader);
  note_server(tds, message->server);
  if (!alo_tds_is_error(message) || tds->login->refused)
    return;
  tds->login->refused = true;
  alo_tds_detail_message(&tds->failure, message);
}

static void fail_refused(aloft_tds *tds) {
  int32_t number = tds->failure.error.number;
  aloft_status status =
      number >= LOGIN_ERROR_FIRST && number <= LOGIN_ERROR_LAST ? ALOFT_AUTH : ALOFT_SERVER;
  tds->failure.error.status = status;
  alo_tds_connection_fail_filled(tds, status);
}

static void take_end(aloft_tds *tds) {
  const alo_tds_login_state *state = tds->login;
  if (state->acknowledged)
    alo_tds_opened(tds);
  else if (state->refused)
    fail_refused(tds);
  else
    alo_tds_connection_fail(tds, ALOFT_PROTOCOL,
                            "the server's answer to LOGIN7 neither grants nor refuses it", 0);
}

/* False: the connection waits for more. */
static bool take_event(aloft_tds *tds) {
  switch (alo_tds_next(tds)) {
  case ALO_TDS_NEED:
    return false;
  case ALO_TDS_ENVCHANGE:
    alo_tds_session_change(tds);
    return true;
  case ALO_TDS_LOGINACK:
    take_loginack(tds);
    return true;
  case ALO_TDS_MESSAGE:
    take_message(tds);
    return true;
  case ALO_TDS_FEATURE_ACK:
    take_feature(tds);
    return true;
  case ALO_TDS_DONE:
    return true;
  case ALO_TDS_END:
    tds->spid = alo_tds_reader_spid(tds->reader);
    take_end(tds);
    return true;
  default:
    alo_tds_broken(tds);
    return true;
  }
}

void alo_tds_login_read(aloft_tds *tds) {
  while (tds->phase == ALO_TDS_LOGIN_SENT && take_event(tds)) {
  }
}

static void fail_dialling(aloft_tds *tds) {
  const alo_connection_string *settings = &tds->login->settings;
  aloft_status status = tds->stream.failed;
  alo_tds_detail_format(&tds->failure, status, "%.*s, port %u: %s", ALOFT_PRINT(settings->host),
                        (unsigned)settings->port, aloft_status_meaning(status));
  tds->failure.error.system = tds->stream.error;
  alo_tds_connection_fail_filled(tds, status);
}

/* What TLS found wrong, under Strict. A server that knows nothing of it ends without a word. */
static void fail_securing(aloft_tds *tds) {
  const char *failure = alo_stream_failure(&tds->stream);
  if (!failure || tds->stream.rx_bytes == 0)
    failure = "the server ended the connection instead of a TLS handshake: Encrypt=Strict needs "
              "SQL Server 2022 or later";
  alo_tds_connection_fail(tds, ALOFT_ENCRYPTION, failure, tds->stream.error);
}

static const char *why_ended(const aloft_tds *tds) {
  const char *failure = alo_stream_failure(&tds->stream);
  if (failure)
    return failure;
  return tds->phase == ALO_TDS_PRELOGIN_SENT
             ? "the server ended the connection without an answer to PRELOGIN: one that takes only "
               "TDS 8.0 wants Encrypt=Strict"
             : "the server ended the connection during login";
}

void alo_tds_login_ended(aloft_tds *tds) {
  if (tds->login->refused)
    fail_refused(tds);
  else if (tds->stream.failed == ALOFT_NO_MEMORY)
    alo_tds_connection_fail(tds, ALOFT_NO_MEMORY, NULL, 0);
  else if (tds->phase == ALO_TDS_DIALLING)
    fail_dialling(tds);
  else if (tds->phase == ALO_TDS_SECURING)
    fail_securing(tds);
  else if (tds->phase == ALO_TDS_HANDSHAKE)
    alo_tds_handshake_ended(tds);
  else
    alo_tds_connection_fail(
        tds, tds->stream.failed == ALOFT_ENCRYPTION ? ALOFT_ENCRYPTION : ALOFT_CONNECT,
        why_ended(tds), tds->stream.error);
}
