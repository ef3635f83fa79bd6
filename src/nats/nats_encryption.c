/* TLS: from the configuration to a stream that is encrypted. The handshake follows INFO, as the
 * NATS protocol has it, or with tls_first comes before it. */
#include "nats_client.h"

#include <string.h>

/* ---- what is asked for ---- */

static bool asks(const aloft_nats_config *config, bool tls_url) {
  return tls_url || config->tls_required || config->tls_first || config->tls_ca_file.size ||
         config->tls_certificate_file.size || config->tls_key_file.size ||
         config->tls_server_name.size;
}

static aloft_status open_context(aloft_nats *nats, const aloft_nats_config *own,
                                 char why[ALO_TLS_FAILURE_MAX]) {
  const alo_tls_config config = {.authorities.file = own->tls_ca_file,
                                 .certificate.file = own->tls_certificate_file,
                                 .key.file = own->tls_key_file,
                                 .authorities_option = "tls_ca_file",
                                 .certificate_option = "tls_certificate_file",
                                 .name_option = "tls_server_name"};
  return alo_tls_context_open(&nats->tls, &nats->loop->heap, &config, why);
}

aloft_status alo_nats_encryption_init(aloft_nats *nats, const aloft_nats_config *config,
                                      bool tls_url, char why[ALO_TLS_FAILURE_MAX]) {
  nats->tls_required = asks(config, tls_url);
  nats->tls_first = config->tls_first;
  return nats->tls_required ? open_context(nats, config, why) : ALOFT_OK;
}

/* ---- the handshake ---- */

static void fail(aloft_nats *nats, aloft_status status, const char *failure) {
  alo_nats_fail(nats, status, 0, "%s:%u: %s", nats->host, (unsigned)nats->port,
                *failure ? failure : aloft_status_meaning(status));
}

/* A server asks for it that nobody else has asked: with the system's authorities. */
static bool has_context(aloft_nats *nats) {
  static const aloft_nats_config usual = {.size = sizeof usual};
  char why[ALO_TLS_FAILURE_MAX] = "";
  aloft_status status = nats->tls ? ALOFT_OK : open_context(nats, &usual, why);
  if (status != ALOFT_OK)
    fail(nats, status, why);
  return status == ALOFT_OK;
}

static alo_tls *open_session(aloft_nats *nats) {
  const alo_tls_names names = {.host = aloft_text_of(nats->host), .verified = nats->tls_name};
  alo_tls *tls;
  aloft_status status = alo_tls_open(&tls, nats->tls, &nats->loop->blocks, &names);
  alo_tls_context_give(nats->tls);
  nats->tls = NULL;
  if (status != ALOFT_OK)
    fail(nats, status,
         status == ALOFT_ARGUMENT ? "no certificate can be for the host's name: set tls_server_name"
                                  : "");
  return tls;
}

void alo_nats_secure(aloft_nats *nats) {
  alo_tls *tls = has_context(nats) ? open_session(nats) : NULL;
  if (!tls)
    return;
  nats->phase = ALO_NATS_PHASE_SECURING;
  aloft_status status = alo_stream_secure(&nats->stream, tls);
  if (status != ALOFT_OK)
    fail(nats, status, "");
}

void alo_nats_agree(aloft_nats *nats, bool server_requires, bool server_offers) {
  if (nats->stream.tls || !(nats->tls_required || server_requires))
    alo_nats_log_in(nats);
  else if (server_requires || server_offers)
    nats->phase = ALO_NATS_PHASE_SECURING; /* once it is known that nothing follows INFO */
  else
    fail(nats, ALOFT_ENCRYPTION,
         "the server does not offer TLS, which tls:// or the settings ask for; no credential was "
         "sent: have TLS set up there, or use nats:// alone on a network that you trust");
}

void alo_nats_secured(aloft_nats *nats) {
  if (nats->tls_first)
    nats->phase = ALO_NATS_PHASE_GREETING;
  else
    alo_nats_log_in(nats);
}

/* A server that is not set to tls_first begins with INFO, which is no TLS. */
void alo_nats_securing_ended(aloft_nats *nats) {
  const char *failure = alo_stream_failure(&nats->stream);
  if (nats->stream.failed != ALOFT_ENCRYPTION || !failure)
    alo_nats_fail(nats, ALOFT_CONNECT, nats->stream.error,
                  "%s:%u: the connection ended during the TLS handshake: %s", nats->host,
                  (unsigned)nats->port, strerror(nats->stream.error));
  else
    alo_nats_fail(
        nats, ALOFT_ENCRYPTION, 0, "%s:%u: %s%s", nats->host, (unsigned)nats->port, failure,
        nats->tls_first ? " (tls_first is for servers that begin with the TLS handshake)" : "");
}

/* ---- what has come of it ---- */

static void copy(char *into, const char *text, size_t room) {
  size_t size = strlen(text);
  size = size < room ? size : room - 1;
  memcpy(into, text, size);
  into[size] = 0;
}

void aloft_nats_get_encryption(const aloft_nats *nats, aloft_nats_encryption *encryption) {
  const alo_tls *tls = nats->stream.tls;
  aloft_nats_encryption full = {.encrypted = tls && tls->established};
  size_t size = encryption->size < sizeof full ? encryption->size : sizeof full;
  if (full.encrypted) {
    alo_tls_description description;
    alo_tls_describe(tls, &description);
    copy(full.protocol, description.protocol, sizeof full.protocol);
    copy(full.cipher, description.cipher, sizeof full.cipher);
    copy(full.subject, description.subject, sizeof full.subject);
    copy(full.expires, description.expires, sizeof full.expires);
    copy(full.fingerprint, description.fingerprint, sizeof full.fingerprint);
  }
  full.size = size;
  memcpy(encryption, &full, size);
}
