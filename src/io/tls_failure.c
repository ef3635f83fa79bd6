#include "tls_session.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

static const char *peer_of(const alo_tls *tls) {
  return tls->context->server ? "client" : "server";
}

/* What a peer has put into its certificate is made harmless for a log or a terminal. */
static void make_printable(char *text) {
  for (; *text; text++)
    if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
      *text = '?';
}

static aloft_status end_with(alo_tls *tls, aloft_status status, const char *format,
                             va_list arguments) {
  if (tls->failed != ALOFT_OK)
    return tls->failed;
  tls->failed = status;
  vsnprintf(tls->failure, sizeof tls->failure, format, arguments);
  make_printable(tls->failure);
  return status;
}

aloft_status alo_tls_fail(alo_tls *tls, aloft_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  status = end_with(tls, status, format, arguments);
  va_end(arguments);
  return status;
}

/* ---- certificates ---- */

static void date_of(const ASN1_TIME *time, char *text, size_t room) {
  struct tm tm;
  if (ASN1_TIME_to_tm(time, &tm) != 1)
    snprintf(text, room, "an unknown time");
  else
    snprintf(text, room, "%04d-%02d-%02d %02d:%02d:%02d UTC", tm.tm_year + 1900, tm.tm_mon + 1,
             tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static void add_name(char *text, size_t room, const char *name, int size) {
  size_t used = strlen(text);
  if (size > 0 && used < room)
    snprintf(text + used, room - used, "%s%.*s", used ? ", " : "", size, name);
}

static void add_address(char *text, size_t room, const ASN1_OCTET_STRING *address) {
  char shown[INET6_ADDRSTRLEN] = "";
  int size = ASN1_STRING_length(address);
  int family = size == 4 ? AF_INET : AF_INET6;
  if ((size == 4 || size == 16) &&
      inet_ntop(family, ASN1_STRING_get0_data(address), shown, sizeof shown))
    add_name(text, room, shown, (int)strlen(shown));
}

/* The names that a certificate is for, as many as there is room for. */
static void names_of(X509 *certificate, char *text, size_t room) {
  text[0] = 0;
  GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
  for (int i = 0; i < sk_GENERAL_NAME_num(names); i++) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);
    if (name->type == GEN_DNS)
      add_name(text, room, (const char *)ASN1_STRING_get0_data(name->d.dNSName),
               ASN1_STRING_length(name->d.dNSName));
    else if (name->type == GEN_IPADD)
      add_address(text, room, name->d.iPAddress);
  }
  GENERAL_NAMES_free(names);
  if (!text[0])
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, text, (int)room);
  if (!text[0])
    snprintf(text, room, "nobody");
}

static void judge_date(alo_tls *tls, X509 *certificate, int depth, bool expired) {
  char date[64];
  date_of(expired ? X509_get0_notAfter(certificate) : X509_get0_notBefore(certificate), date,
          sizeof date);
  (void)alo_tls_fail(tls, ALOFT_ENCRYPTION,
                     "%s of the %s %s %s: have it renewed, or check this machine's clock",
                     depth ? "the certificate of an authority" : "the certificate", peer_of(tls),
                     expired ? "expired on" : "is not yet valid, but from", date);
}

static void judge_name(alo_tls *tls, X509 *certificate) {
  const char *option = tls->context->name_option;
  char names[200];
  names_of(certificate, names, sizeof names);
  (void)alo_tls_fail(tls, ALOFT_ENCRYPTION,
                     "the certificate of the server is for %s, not for %s: connect by a name that "
                     "it is for%s%s",
                     names, tls->name, option ? ", or set " : "", option ? option : "");
}

static void judge_issuer(alo_tls *tls, bool self_signed) {
  const char *option = tls->context->authorities_option;
  (void)alo_tls_fail(tls, ALOFT_ENCRYPTION, "the certificate of the %s %s: %s%s%s", peer_of(tls),
                     self_signed ? "is self-signed, or its root is not among the known authorities"
                                 : "was issued by an unknown authority",
                     self_signed ? "if you trust it, give it as an authority"
                                 : "give the authority's certificate",
                     option ? " in " : "", option ? option : "");
}

static void judge(alo_tls *tls, X509_STORE_CTX *store, int error) {
  X509 *certificate = X509_STORE_CTX_get_current_cert(store);
  switch (error) {
  case X509_V_ERR_CERT_HAS_EXPIRED:
  case X509_V_ERR_CERT_NOT_YET_VALID:
    judge_date(tls, certificate, X509_STORE_CTX_get_error_depth(store),
               error == X509_V_ERR_CERT_HAS_EXPIRED);
    break;
  case X509_V_ERR_HOSTNAME_MISMATCH:
  case X509_V_ERR_IP_ADDRESS_MISMATCH:
    judge_name(tls, X509_STORE_CTX_get0_cert(store));
    break;
  case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
  case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    judge_issuer(tls, true);
    break;
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
  case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
  case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
  case X509_V_ERR_CERT_SIGNATURE_FAILURE:
    judge_issuer(tls, false);
    break;
  default:
    (void)alo_tls_fail(tls, ALOFT_ENCRYPTION, "the certificate of the %s is not accepted: %s",
                       peer_of(tls), X509_verify_cert_error_string(error));
  }
}

static alo_tls *session_of(X509_STORE_CTX *store) {
  SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
  return SSL_get_app_data(ssl);
}

int alo_tls_judge(int accepted, X509_STORE_CTX *store) {
  if (!accepted)
    judge(session_of(store), store, X509_STORE_CTX_get_error(store));
  return accepted;
}

int alo_tls_compare(X509_STORE_CTX *store, void *context) {
  const alo_tls_context *own = context;
  const X509 *shown = X509_STORE_CTX_get0_cert(store);
  if (shown && X509_cmp(shown, own->expected) == 0)
    return 1;
  X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED);
  const char *option = own->expected_option;
  (void)alo_tls_fail(session_of(store), ALOFT_ENCRYPTION,
                     "the certificate of the server is not the expected one%s%s",
                     option ? ": see " : "", option ? option : "");
  return 0;
}

/* ---- OpenSSL's reasons ---- */

/* What it means, and for whom; an alert is the peer's word. */
static const struct {
  int reason;
  const char *sentence; /* %s: the peer */
} reasons[] = {
    {SSL_R_WRONG_VERSION_NUMBER, "the %s does not speak TLS here"},
    {SSL_R_HTTP_REQUEST, "the %s does not speak TLS here, but HTTP"},
    {SSL_R_HTTPS_PROXY_REQUEST, "the %s does not speak TLS here, but HTTP"},
    {SSL_R_UNKNOWN_PROTOCOL, "the %s does not speak TLS here"},
    {SSL_R_BAD_PACKET_LENGTH, "the %s does not speak TLS here"},
    {SSL_R_UNSUPPORTED_PROTOCOL, "the %s speaks only a version of TLS that is not allowed here: "
                                 "have it offer TLS 1.2 or 1.3"},
    {SSL_R_VERSION_TOO_LOW, "the %s speaks only a version of TLS that is too old: have it offer "
                            "TLS 1.2 or 1.3"},
    {SSL_R_TLSV1_ALERT_PROTOCOL_VERSION,
     "the %s refuses the versions of TLS that are allowed here: have it offer TLS 1.2 or 1.3"},
    {SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, "the %s showed no certificate, and must"},
    {SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE,
     "the %s refuses the handshake (handshake_failure): there may be no cipher that both allow, or "
     "it asks for a certificate"},
    {SSL_R_NO_SHARED_CIPHER, "there is no cipher that the %s and this side both allow"},
    {SSL_R_SSLV3_ALERT_BAD_CERTIFICATE, "the %s does not accept this side's certificate"},
    {SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE,
     "the %s cannot use this side's certificate: its kind or purpose is not supported"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED, "the %s says that this side's certificate is revoked"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED, "the %s says that this side's certificate has expired"},
    {SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN, "the %s does not accept this side's certificate"},
    {SSL_R_TLSV1_ALERT_UNKNOWN_CA,
     "the %s does not know the authority that issued this side's certificate"},
    {SSL_R_TLSV1_ALERT_ACCESS_DENIED, "the %s denies access to this side's certificate"},
    {SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL,
     "the %s does not speak the protocol that was offered in the TLS handshake (ALPN)"},
    {SSL_R_TLSV1_UNRECOGNIZED_NAME,
     "the %s has no certificate for the name that it is connected to by (unrecognized_name): "
     "connect by another"},
    {SSL_R_DECRYPTION_FAILED_OR_BAD_RECORD_MAC,
     "what the %s sent was damaged or forged on its way"},
};

static const char *sentence_of(int reason) {
  for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
    if (reasons[i].reason == reason)
      return reasons[i].sentence;
  return NULL;
}

/* How servers say that a client's certificate is missing, if they have asked for one. */
static bool misses_certificate(const alo_tls *tls, int reason) {
  return reason == SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED ||
         (tls->certificate_asked && (reason == SSL_R_SSLV3_ALERT_HANDSHAKE_FAILURE ||
                                     reason == SSL_R_SSLV3_ALERT_BAD_CERTIFICATE ||
                                     reason == SSL_R_SSLV3_ALERT_NO_CERTIFICATE));
}

/* In OpenSSL's words, which it has not for every alert. */
static void say_words(alo_tls *tls, int reason, const char *words) {
  char alert[32] = "no reason is known";
  if (reason >= SSL_AD_REASON_OFFSET)
    snprintf(alert, sizeof alert, "TLS alert %d", reason - SSL_AD_REASON_OFFSET);
  (void)alo_tls_fail(tls, ALOFT_ENCRYPTION, "TLS with the %s failed%s: %s", peer_of(tls),
                     tls->established ? "" : " in the handshake", words ? words : alert);
}

static void say_reason(alo_tls *tls, unsigned long error) {
  int reason = ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0;
  const char *option = tls->context->certificate_option;
  char sentence[ALO_TLS_FAILURE_MAX];
  if (misses_certificate(tls, reason)) {
    (void)alo_tls_fail(tls, ALOFT_ENCRYPTION, "the server requires a client's certificate%s%s",
                       option ? ": set "
                              : ", and there is no way to give one here: have it not "
                                "ask for one",
                       option ? option : "");
  } else if (sentence_of(reason)) {
    const char *text = sentence_of(reason), *peer = strstr(text, "%s");
    snprintf(sentence, sizeof sentence, "%.*s%s%s", (int)(peer - text), text, peer_of(tls),
             peer + 2);
    (void)alo_tls_fail(tls, ALOFT_ENCRYPTION, "%s", sentence);
  } else {
    say_words(tls, reason, error ? ERR_reason_error_string(error) : NULL);
  }
}

aloft_status alo_tls_fail_openssl(alo_tls *tls) {
  unsigned long error = ERR_peek_error();
  if (tls->no_memory)
    (void)alo_tls_fail(tls, ALOFT_NO_MEMORY, "no memory for the output of TLS");
  else if (ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE)
    (void)alo_tls_fail(tls, ALOFT_NO_MEMORY, "OpenSSL has no memory");
  else
    say_reason(tls, error);
  ERR_clear_error();
  return tls->failed;
}
