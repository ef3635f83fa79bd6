/* Certificates: what a peer's says, and making them. */
#include "tls_session.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* ---- describing ---- */

static bool digest(const X509 *certificate, char text[96]) {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  text[0] = 0;
  if (X509_digest(certificate, EVP_sha256(), bytes, &size) != 1 || size != 32)
    return false;
  for (size_t i = 0; i < size; i++)
    snprintf(text + 3 * i, 4, "%02X%s", bytes[i], i + 1 < size ? ":" : "");
  return true;
}

/* As RFC 2253 writes it, control characters and all that is not ASCII escaped. */
static void name_text(const X509_NAME *name, char *text, size_t room) {
  BIO *bio = BIO_new(BIO_s_mem());
  text[0] = 0;
  if (bio && X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253) >= 0) {
    int size = BIO_read(bio, text, (int)room - 1);
    text[size > 0 ? size : 0] = 0;
  }
  BIO_free(bio);
}

static void date_text(const ASN1_TIME *time, char text[32]) {
  struct tm tm;
  text[0] = 0;
  if (ASN1_TIME_to_tm(time, &tm) == 1)
    (void)strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

static void describe_certificate(const X509 *certificate, alo_tls_description *into) {
  name_text(X509_get_subject_name(certificate), into->subject, sizeof into->subject);
  name_text(X509_get_issuer_name(certificate), into->issuer, sizeof into->issuer);
  date_text(X509_get0_notAfter(certificate), into->expires);
  (void)digest(certificate, into->fingerprint);
}

void alo_tls_describe(const alo_tls *tls, alo_tls_description *into) {
  memset(into, 0, sizeof *into);
  snprintf(into->protocol, sizeof into->protocol, "%s", SSL_get_version(tls->ssl));
  snprintf(into->cipher, sizeof into->cipher, "%s", SSL_get_cipher_name(tls->ssl));
  const unsigned char *alpn;
  unsigned size;
  SSL_get0_alpn_selected(tls->ssl, &alpn, &size);
  if (size)
    snprintf(into->alpn, sizeof into->alpn, "%.*s", (int)size, (const char *)alpn);
  const X509 *certificate = SSL_get0_peer_certificate(tls->ssl);
  if (certificate)
    describe_certificate(certificate, into);
  ERR_clear_error();
}

static X509 *read_certificate(aloft_bytes pem) {
  BIO *bio = pem.size && pem.size <= INT32_MAX ? BIO_new_mem_buf(pem.data, (int)pem.size) : NULL;
  X509 *certificate = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
  BIO_free(bio);
  return certificate;
}

bool alo_tls_fingerprint(aloft_bytes pem, char fingerprint[96]) {
  X509 *certificate = read_certificate(pem);
  bool told = certificate && digest(certificate, fingerprint);
  X509_free(certificate);
  ERR_clear_error();
  return told;
}

/* ---- making ---- */

/* Begins empty and ends released, whatever became of it. */
typedef struct making {
  X509 *certificate, *issuer;
  EVP_PKEY *key, *issuer_key;
} making;

static EVP_PKEY *read_key(aloft_bytes pem) {
  BIO *bio = pem.size && pem.size <= INT32_MAX ? BIO_new_mem_buf(pem.data, (int)pem.size) : NULL;
  EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
  BIO_free(bio);
  return key;
}

static bool add_extension(const making *work, int kind, const char *value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, work->issuer ? work->issuer : work->certificate, work->certificate, NULL,
                 NULL, 0);
  X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, kind, value);
  bool added = extension && X509_add_ext(work->certificate, extension, -1) == 1;
  X509_EXTENSION_free(extension);
  return added;
}

static bool add_name(GENERAL_NAMES *names, aloft_text text) {
  char name[256];
  unsigned char address[16];
  if (text.size == 0 || text.size >= sizeof name || memchr(text.data, 0, text.size))
    return false;
  memcpy(name, text.data, text.size);
  name[text.size] = 0;
  int size = inet_pton(AF_INET, name, address) == 1    ? 4
             : inet_pton(AF_INET6, name, address) == 1 ? 16
                                                       : 0;
  GENERAL_NAME *entry = GENERAL_NAME_new();
  ASN1_STRING *string = size ? ASN1_OCTET_STRING_new() : ASN1_IA5STRING_new();
  if (!entry || !string ||
      ASN1_STRING_set(string, size ? (const char *)address : name, size ? size : -1) != 1) {
    ASN1_STRING_free(string);
    GENERAL_NAME_free(entry);
    return false;
  }
  GENERAL_NAME_set0_value(entry, size ? GEN_IPADD : GEN_DNS, string);
  if (sk_GENERAL_NAME_push(names, entry) > 0)
    return true;
  GENERAL_NAME_free(entry);
  return false;
}

static bool add_names(X509 *certificate, const alo_tls_order *order) {
  if (order->name_count == 0)
    return true;
  GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
  bool added = names != NULL;
  for (size_t i = 0; added && i < order->name_count; i++)
    added = add_name(names, order->names[i]);
  added = added && X509_add1_ext_i2d(certificate, NID_subject_alt_name, names, 0, 0) == 1;
  GENERAL_NAMES_free(names);
  return added;
}

static bool set_serial(X509 *certificate) {
  BIGNUM *number = BN_new();
  bool set = number && BN_rand(number, 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
             BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));
  BN_free(number);
  return set;
}

static bool set_names(const making *work, aloft_text subject) {
  X509_NAME *name = X509_get_subject_name(work->certificate);
  return X509_NAME_add_entry_by_NID(name, NID_commonName, MBSTRING_UTF8,
                                    (const unsigned char *)subject.data, (int)subject.size, -1,
                                    0) == 1 &&
         X509_set_issuer_name(work->certificate,
                              work->issuer ? X509_get_subject_name(work->issuer) : name) == 1;
}

static bool sign(const making *work, const alo_tls_order *order) {
  X509 *certificate = work->certificate;
  return X509_set_version(certificate, 2) == 1 && set_serial(certificate) &&
         set_names(work, order->subject) &&
         ASN1_TIME_set(X509_getm_notBefore(certificate), order->from_s) &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), order->until_s) &&
         X509_set_pubkey(certificate, work->key) == 1 &&
         add_extension(work, NID_basic_constraints,
                       order->authority ? "critical,CA:TRUE" : "critical,CA:FALSE") &&
         add_extension(work, NID_subject_key_identifier, "hash") && add_names(certificate, order) &&
         X509_sign(certificate, work->issuer_key ? work->issuer_key : work->key, EVP_sha256()) > 0;
}

static aloft_status append(alo_buffer *into, BIO *bio) {
  char *text;
  long size = BIO_get_mem_data(bio, &text);
  return size > 0 ? alo_buffer_append(into, text, (size_t)size) : ALOFT_NO_MEMORY;
}

/* BIO_free wipes what a memory BIO held. */
static aloft_status write_both(const making *work, alo_buffer *certificate, alo_buffer *key) {
  BIO *one = BIO_new(BIO_s_mem()), *other = BIO_new(BIO_s_mem());
  aloft_status status = ALOFT_NO_MEMORY;
  if (one && other && PEM_write_bio_X509(one, work->certificate) == 1 &&
      PEM_write_bio_PrivateKey(other, work->key, NULL, NULL, 0, NULL, NULL) == 1) {
    status = append(certificate, one);
    if (status == ALOFT_OK)
      status = append(key, other);
  }
  BIO_free(one);
  BIO_free(other);
  return status;
}

static bool read_issuer(making *work, const alo_tls_order *order) {
  if (!order->issuer.size)
    return true;
  work->issuer = read_certificate(order->issuer);
  work->issuer_key = read_key(order->issuer_key);
  return work->issuer && work->issuer_key;
}

aloft_status alo_tls_make_certificate(const alo_tls_order *order, alo_buffer *certificate,
                                      alo_buffer *key) {
  making work = {0};
  aloft_status status = ALOFT_ARGUMENT;
  if (order->subject.size && order->subject.size <= 64 && read_issuer(&work, order)) {
    work.certificate = X509_new();
    work.key = EVP_EC_gen("P-256");
    status = !work.certificate || !work.key ? ALOFT_NO_MEMORY
             : !sign(&work, order)          ? ALOFT_ARGUMENT
                                            : write_both(&work, certificate, key);
  }
  X509_free(work.certificate);
  X509_free(work.issuer);
  EVP_PKEY_free(work.key);
  EVP_PKEY_free(work.issuer_key);
  ERR_clear_error();
  return status;
}
