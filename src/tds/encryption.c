/* TLS: from the settings to a stream that is encrypted. Under Encrypt=Strict the stream makes the
 * handshake, before anything of TDS; inside TDS 7.x it is wrapped in PRELOGIN packets (MS-TDS
 * 2.2.6.5, 3.2.5.3), and the stream is encrypted once it is complete. */
#include <string.h>

#include "tds_connection.h"

enum { TLS_1_2 = 12 };

/* ---- contexts ---- */

static aloft_status open_context(alo_tls_context **context, const aloft_allocator *heap,
                                 const alo_tls_config *config, alo_tds_detail *detail) {
  char why[ALO_TLS_FAILURE_MAX] = "";
  aloft_status status = alo_tls_context_open(context, heap, config, why);
  if (status != ALOFT_OK)
    alo_tds_detail_format(detail, status, "%s", *why ? why : aloft_status_meaning(status));
  return status;
}

aloft_status alo_tds_contexts_open(alo_tds_contexts *contexts, const aloft_allocator *heap,
                                   const alo_connection_string *settings, alo_tds_detail *detail) {
  bool strict = settings->encrypt == ALO_ENCRYPT_STRICT;
  bool pinned = settings->server_certificate.size > 0;
  alo_tls_config config = {.authorities.file = settings->ca_file,
                           .expected.file = settings->server_certificate,
                           .trust_any = settings->trust_server_certificate && !strict && !pinned,
                           .maximum = strict ? 0 : TLS_1_2,
                           .alpn = strict ? ALOFT_TEXT("tds/8.0") : (aloft_text){NULL, 0},
                           .authorities_option = "CA File",
                           .expected_option = "ServerCertificate",
                           .name_option = "HostNameInCertificate"};
  *contexts = (alo_tds_contexts){NULL, NULL};
  aloft_status status = open_context(&contexts->all, heap, &config, detail);
  if (status != ALOFT_OK || settings->encrypt != ALO_ENCRYPT_OPTIONAL)
    return status;
  /* Who could show a wrong certificate could as well say that there is no encryption. */
  config.trust_any = !pinned;
  return open_context(&contexts->login, heap, &config, detail);
}

alo_tds_contexts alo_tds_contexts_hold(const alo_tds_contexts *contexts) {
  if (contexts->all)
    alo_tls_context_hold(contexts->all);
  if (contexts->login)
    alo_tls_context_hold(contexts->login);
  return *contexts;
}

void alo_tds_contexts_give(alo_tds_contexts *contexts) {
  alo_tls_context_give(contexts->all);
  alo_tls_context_give(contexts->login);
  *contexts = (alo_tds_contexts){NULL, NULL};
}

/* ---- sessions ---- */

static bool open_session(aloft_tds *tds, alo_tls **tls, alo_tls_context *context) {
  const alo_connection_string *settings = &tds->login->settings;
  const alo_tls_names names = {.host = settings->host,
                               .verified = settings->host_name_in_certificate};
  aloft_status status = alo_tls_open(tls, context, &tds->loop->blocks, &names);
  if (status == ALOFT_ARGUMENT)
    alo_tds_connection_fail(tds, status,
                            settings->host_name_in_certificate.size
                                ? "HostNameInCertificate is no name that a certificate can be for"
                                : "no certificate can be for the host's name: set "
                                  "HostNameInCertificate",
                            0);
  else if (status != ALOFT_OK)
    alo_tds_connection_fail(tds, status, NULL, 0);
  return status == ALOFT_OK;
}

void alo_tds_secure_first(aloft_tds *tds) {
  alo_tls *tls;
  if (!open_session(tds, &tls, tds->login->contexts.all))
    return;
  tds->phase = ALO_TDS_SECURING;
  aloft_status status = alo_stream_secure(&tds->stream, tls);
  if (status != ALOFT_OK)
    alo_tds_connection_fail(tds, status, NULL, 0);
}

/* ---- the wrapped handshake ---- */

/* What the session has to say, as one message. */
static bool send_wrapped(aloft_tds *tds) {
  alo_buffer *out = &tds->login->tls->out;
  size_t size = alo_buffer_size(out);
  if (size == 0)
    return true;
  alo_tds_message_begin(&tds->writer, ALO_TDS_PRELOGIN, 0);
  alo_tds_put(&tds->writer, out->data + out->begin, size);
  aloft_status status = alo_tds_message_end(&tds->writer);
  alo_tls_sent(tds->login->tls, size);
  if (status == ALOFT_OK)
    alo_stream_send(&tds->stream);
  else
    alo_tds_connection_fail(tds, status, NULL, 0);
  return status == ALOFT_OK;
}

static void fail_handshake(aloft_tds *tds, aloft_status status, const char *failure) {
  alo_tds_connection_fail(tds, status, failure && *failure ? failure : NULL, tds->stream.error);
}

/* ALOFT_OK: complete. ALOFT_PENDING, or the connection has failed. */
static aloft_status go_on(aloft_tds *tds) {
  alo_tls *tls = tds->login->tls;
  aloft_status status = alo_tls_handshake(tls);
  if (status != ALOFT_OK && status != ALOFT_PENDING)
    fail_handshake(tds, status, tls->failure);
  else if (!send_wrapped(tds))
    status = tds->failed;
  return status;
}

void alo_tds_handshake_begin(aloft_tds *tds, bool login_only) {
  alo_tds_login_state *state = tds->login;
  alo_tls_context *context = login_only ? state->contexts.login : state->contexts.all;
  if (!open_session(tds, &state->tls, context))
    return;
  tds->phase = ALO_TDS_HANDSHAKE;
  state->login_only = login_only;
  state->frames = (alo_tds_frames){.offset = 0};
  go_on(tds);
}

static void fail_wrapping(aloft_tds *tds) {
  alo_tds_connection_fail(tds, ALOFT_PROTOCOL,
                          "the server's TLS handshake is not wrapped in PRELOGIN packets", 0);
}

/* Some servers wrap in packets of their answers' type. */
static bool is_wrapping(const alo_tds_frames *frames) {
  return frames->type == ALO_TDS_PRELOGIN || frames->type == ALO_TDS_REPLY;
}

/* ALOFT_PENDING: all of the input was taken, and more is needed. */
static aloft_status unwrap(aloft_tds *tds, aloft_bytes *input) {
  alo_tds_login_state *state = tds->login;
  aloft_status status = ALOFT_PENDING;
  while (status == ALOFT_PENDING) {
    aloft_bytes piece;
    alo_tds_frame frame = alo_tds_frames_next(&state->frames, input, &piece);
    if (frame == ALO_TDS_FRAME_NEED)
      return ALOFT_PENDING;
    if (frame == ALO_TDS_FRAME_END)
      continue;
    if (frame == ALO_TDS_FRAME_BROKEN || !is_wrapping(&state->frames)) {
      fail_wrapping(tds);
      return tds->failed;
    }
    if (!alo_tls_feed(state->tls, piece.data, piece.size)) {
      alo_tds_connection_fail(tds, ALOFT_NO_MEMORY, NULL, 0);
      return tds->failed;
    }
    status = go_on(tds);
  }
  return status;
}

/* From the next byte on TLS is not wrapped any more. */
static void finish_handshake(aloft_tds *tds) {
  alo_tds_login_state *state = tds->login;
  if (state->frames.left > 0 || state->tls->in.size > 0) {
    fail_wrapping(tds);
    return;
  }
  aloft_status status = alo_stream_secure(&tds->stream, state->tls);
  state->tls = NULL;
  if (status == ALOFT_OK)
    alo_tds_login_send(tds);
  else
    alo_tds_connection_fail(tds, status, NULL, 0);
}

void alo_tds_handshake_read(aloft_tds *tds) {
  aloft_status status = ALOFT_PENDING;
  while (status == ALOFT_PENDING && tds->stream.rx.size) {
    const alo_block *block = tds->stream.rx.first;
    aloft_bytes input = {block->data + block->begin, block->end - block->begin};
    size_t before = input.size;
    status = unwrap(tds, &input);
    alo_stream_drop(&tds->stream, before - input.size);
  }
  if (status == ALOFT_OK)
    finish_handshake(tds);
}

void alo_tds_handshake_ended(aloft_tds *tds) {
  alo_tls *tls = tds->login->tls;
  aloft_status status = alo_tls_ended(tls);
  fail_handshake(tds, status == ALOFT_OK ? ALOFT_ENCRYPTION : status, tls->failure);
}

/* ---- what has come of it ---- */

/* Only the first packet of LOGIN7 is to be encrypted, and by the limits of its fields ours has no
 * other. */
void alo_tds_login_written(aloft_tds *tds) {
  if (!tds->login || !tds->login->login_only || !tds->stream.tls || tds->stream.tx_failed)
    return;
  aloft_status status = alo_stream_unsecure(&tds->stream);
  if (status != ALOFT_OK)
    alo_tds_connection_fail(tds, status, NULL, 0);
}

static void copy(char *into, const char *text, size_t room) {
  size_t size = strlen(text);
  size = size < room ? size : room - 1;
  memcpy(into, text, size);
  into[size] = 0;
}

void aloft_tds_get_encryption(const aloft_tds *tds, aloft_tds_encryption *encryption) {
  const alo_tls *tls = tds->stream.tls;
  aloft_tds_encryption full = {.login_encrypted = tds->login_encrypted};
  size_t size = encryption->size < sizeof full ? encryption->size : sizeof full;
  if (tls && tls->established) {
    alo_tls_description description;
    alo_tls_describe(tls, &description);
    full.encrypted = true;
    copy(full.protocol, description.protocol, sizeof full.protocol);
    copy(full.cipher, description.cipher, sizeof full.cipher);
    copy(full.subject, description.subject, sizeof full.subject);
    copy(full.expires, description.expires, sizeof full.expires);
    copy(full.fingerprint, description.fingerprint, sizeof full.fingerprint);
  }
  full.size = size;
  memcpy(encryption, &full, size);
}
