#include "tls_session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "heap.h"

enum { FILE_MAX = 4 << 20, PATH_ROOM = 4096 };

/* The work of opening: where a failure's sentence goes, and the file being read. */
typedef struct opening {
  alo_tls_context *context;
  char *why;
  char name[PATH_ROOM];
  uint8_t *data;
  size_t size;
} opening;

static aloft_status fail(const opening *work, aloft_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static aloft_status fail(const opening *work, aloft_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (work->why)
    vsnprintf(work->why, ALO_TLS_FAILURE_MAX, format, arguments);
  va_end(arguments);
  return status;
}

/* ---- files ---- */

static void forget(opening *work) {
  if (work->data)
    OPENSSL_cleanse(work->data, work->size);
  alo_heap_give(work->context->heap, work->data, work->size);
  work->data = NULL;
  work->size = 0;
}

static int fill(int file, uint8_t *data, size_t size) {
  while (size) {
    ssize_t got = read(file, data, size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return got < 0 ? errno : EIO;
    data += got;
    size -= (size_t)got;
  }
  return 0;
}

static aloft_status read_open(opening *work, int file) {
  struct stat about;
  if (fstat(file, &about) < 0 || !S_ISREG(about.st_mode))
    return fail(work, ALOFT_ARGUMENT, "%s is not a file", work->name);
  if (about.st_size <= 0 || about.st_size > FILE_MAX)
    return fail(work, ALOFT_ARGUMENT, "%s is empty, or larger than 4 MiB", work->name);
  work->data = alo_heap_take(work->context->heap, (size_t)about.st_size);
  if (!work->data)
    return fail(work, ALOFT_NO_MEMORY, "no memory to read %s", work->name);
  work->size = (size_t)about.st_size;
  int error = fill(file, work->data, work->size);
  return error ? fail(work, ALOFT_ARGUMENT, "cannot read %s: %s", work->name, strerror(error))
               : ALOFT_OK;
}

static aloft_status take_name(opening *work, aloft_text name) {
  if (name.size >= sizeof work->name || memchr(name.data, 0, name.size))
    return fail(work, ALOFT_ARGUMENT, "the name of a file of certificates is not valid");
  memcpy(work->name, name.data, name.size);
  work->name[name.size] = 0;
  return ALOFT_OK;
}

/* Read here, not by OpenSSL: a buffer of stdio would keep a key. */
static aloft_status read_file(opening *work) {
  /* Not to wait for the writer of a FIFO. */
  int file = open(work->name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return fail(work, ALOFT_ARGUMENT, "cannot open %s: %s", work->name, strerror(errno));
  aloft_status status = read_open(work, file);
  (void)close(file);
  return status;
}

/* A view of the text, of a file or given; `*bio` is read once. Forget it afterwards. */
static aloft_status view(opening *work, const alo_tls_pem *pem, BIO **bio) {
  *bio = NULL;
  aloft_bytes text = pem->text;
  aloft_status status = take_name(work, pem->file.size ? pem->file : ALOFT_TEXT("the text given"));
  if (status == ALOFT_OK && !text.data) {
    status = read_file(work);
    text = (aloft_bytes){work->data, work->size};
  }
  if (status != ALOFT_OK) {
    forget(work);
    return status;
  }
  *bio = text.size <= FILE_MAX ? BIO_new_mem_buf(text.data, (int)text.size) : NULL;
  if (*bio)
    return ALOFT_OK;
  forget(work);
  return fail(work, ALOFT_NO_MEMORY, "no memory for certificates");
}

static bool present(const alo_tls_pem *pem) {
  return pem->file.size || pem->text.size;
}

/* Never asks at the terminal. */
static int no_passphrase(char *into, int size, int writing, void *context) {
  (void)into;
  (void)size;
  (void)writing;
  *(bool *)context = true;
  return -1;
}

static X509 *next_certificate(BIO *bio) {
  bool asked = false;
  return PEM_read_bio_X509(bio, NULL, no_passphrase, &asked);
}

/* ---- authorities ---- */

/* Whether all were read; otherwise the next one is broken. */
static bool at_end(void) {
  return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
}

static aloft_status add_authorities(opening *work, BIO *bio) {
  X509_STORE *store = SSL_CTX_get_cert_store(work->context->ssl);
  unsigned count = 0;
  X509 *certificate;
  for (; (certificate = next_certificate(bio)); count++) {
    bool added = X509_STORE_add_cert(store, certificate) == 1;
    if (added && work->context->server)
      added = SSL_CTX_add_client_CA(work->context->ssl, certificate) == 1;
    X509_free(certificate);
    if (!added)
      return fail(work, ALOFT_NO_MEMORY, "no memory for the certificates of %s", work->name);
  }
  if (count && at_end())
    return ALOFT_OK;
  return fail(work, ALOFT_ARGUMENT,
              "%s: certificate %u is not one in PEM: give those of authorities", work->name,
              count + 1);
}

bool alo_tls_know_authorities(alo_tls_context *context) {
  if (!context->system_authorities)
    return true;
  context->system_authorities = SSL_CTX_set_default_verify_paths(context->ssl) != 1;
  return !context->system_authorities;
}

static aloft_status take_authorities(opening *work, const alo_tls_config *config) {
  if (!present(&config->authorities)) {
    work->context->system_authorities =
        !config->server && !config->trust_any && !present(&config->expected);
    return ALOFT_OK;
  }
  BIO *bio;
  aloft_status status = view(work, &config->authorities, &bio);
  if (status == ALOFT_OK)
    status = add_authorities(work, bio);
  BIO_free(bio);
  forget(work);
  return status;
}

/* ---- one's own certificate ---- */

static aloft_status add_own(opening *work, BIO *bio) {
  SSL_CTX *ssl = work->context->ssl;
  X509 *certificate = next_certificate(bio);
  bool added = certificate && SSL_CTX_use_certificate(ssl, certificate) == 1;
  X509_free(certificate);
  if (!added)
    return fail(work, ALOFT_ARGUMENT, "%s holds no certificate in PEM that can be used: %s",
                work->name, ERR_reason_error_string(ERR_peek_last_error()));
  unsigned count = 1;
  for (; (certificate = next_certificate(bio)); count++)
    if (SSL_CTX_add0_chain_cert(ssl, certificate) != 1) {
      X509_free(certificate);
      return fail(work, ALOFT_NO_MEMORY, "no memory for the certificates of %s", work->name);
    }
  if (at_end())
    return ALOFT_OK;
  return fail(work, ALOFT_ARGUMENT,
              "%s: certificate %u is not one in PEM: give one's own, then those that vouch for it",
              work->name, count + 1);
}

static aloft_status add_key(opening *work, BIO *bio) {
  bool asked = false;
  EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, &asked);
  if (!key && asked)
    return fail(work, ALOFT_ARGUMENT, "the key in %s has a passphrase: give it without one",
                work->name);
  if (!key)
    return fail(work, ALOFT_ARGUMENT, "%s holds no private key in PEM", work->name);
  bool used = SSL_CTX_use_PrivateKey(work->context->ssl, key) == 1;
  EVP_PKEY_free(key);
  if (used && SSL_CTX_check_private_key(work->context->ssl) == 1)
    return ALOFT_OK;
  return fail(work, ALOFT_ARGUMENT, "the key in %s does not belong to the certificate", work->name);
}

static aloft_status take_one(opening *work, const alo_tls_pem *pem,
                             aloft_status (*add)(opening *work, BIO *bio)) {
  BIO *bio;
  aloft_status status = view(work, pem, &bio);
  if (status == ALOFT_OK)
    status = add(work, bio);
  BIO_free(bio);
  forget(work);
  return status;
}

static aloft_status take_own(opening *work, const alo_tls_config *config) {
  bool certificate = present(&config->certificate), key = present(&config->key);
  if (certificate != key || (config->server && !certificate))
    return fail(work, ALOFT_ARGUMENT, "a certificate and its key belong together: give both");
  aloft_status status = certificate ? take_one(work, &config->certificate, add_own) : ALOFT_OK;
  return status == ALOFT_OK && key ? take_one(work, &config->key, add_key) : status;
}

static aloft_status add_expected(opening *work, BIO *bio) {
  work->context->expected = next_certificate(bio);
  if (!work->context->expected && BIO_reset(bio) == 1)
    work->context->expected = d2i_X509_bio(bio, NULL);
  if (work->context->expected)
    return ALOFT_OK;
  return fail(work, ALOFT_ARGUMENT, "%s holds no certificate, in PEM or DER", work->name);
}

/* ---- what is verified ---- */

/* Called when a server asks for a certificate and there is none. */
static int note_asked(SSL *ssl, X509 **certificate, EVP_PKEY **key) {
  (void)certificate;
  (void)key;
  alo_tls *tls = SSL_get_app_data(ssl);
  tls->certificate_asked = true;
  return 0;
}

static aloft_status set_client(opening *work, const alo_tls_config *config) {
  alo_tls_context *context = work->context;
  SSL_CTX_set_session_cache_mode(context->ssl, SSL_SESS_CACHE_OFF);
  if (!present(&config->certificate))
    SSL_CTX_set_client_cert_cb(context->ssl, note_asked);
  if (config->trust_any) {
    SSL_CTX_set_verify(context->ssl, SSL_VERIFY_NONE, NULL);
    return ALOFT_OK;
  }
  SSL_CTX_set_verify(context->ssl, SSL_VERIFY_PEER, alo_tls_judge);
  context->verifies_name = !present(&config->expected);
  if (context->verifies_name)
    return ALOFT_OK;
  SSL_CTX_set_cert_verify_callback(context->ssl, alo_tls_compare, context);
  return take_one(work, &config->expected, add_expected);
}

static int choose_alpn(SSL *ssl, const unsigned char **chosen, unsigned char *size,
                       const unsigned char *offered, unsigned offered_size, void *context) {
  (void)ssl;
  const alo_tls_context *own = context;
  for (unsigned at = 0; at < offered_size; at += offered[at] + 1u)
    if (offered_size - at >= own->alpn_size &&
        memcmp(offered + at, own->alpn, own->alpn_size) == 0) {
      *chosen = offered + at + 1;
      *size = offered[at];
      return SSL_TLSEXT_ERR_OK;
    }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

static aloft_status set_server(opening *work, const alo_tls_config *config) {
  SSL_CTX *ssl = work->context->ssl;
  static const unsigned char id[] = "aloft";
  /* Tickets are sent and taken; without an id a client that shows a certificate could not resume.
   */
  (void)SSL_CTX_set_session_id_context(ssl, id, sizeof id - 1);
  SSL_CTX_set_session_cache_mode(ssl, SSL_SESS_CACHE_OFF);
  (void)SSL_CTX_set_options(ssl, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_CLEANSE_PLAINTEXT);
  if (config->certificate_required)
    SSL_CTX_set_verify(ssl, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, alo_tls_judge);
  if (work->context->alpn_size)
    SSL_CTX_set_alpn_select_cb(ssl, choose_alpn, work->context);
  return ALOFT_OK;
}

/* OpenSSL takes 0 for "any", which only `fallback` may mean; -1: there is no such version. */
static int version_of(int number, int fallback) {
  return number == 0    ? fallback
         : number == 13 ? TLS1_3_VERSION
         : number == 12 ? TLS1_2_VERSION
                        : -1;
}

static aloft_status set_protocol(opening *work, const alo_tls_config *config) {
  alo_tls_context *context = work->context;
  SSL_CTX *ssl = context->ssl;
  if (config->alpn.size > ALO_TLS_ALPN_MAX)
    return fail(work, ALOFT_ARGUMENT, "the name of a protocol is too long for ALPN");
  int minimum = version_of(config->minimum, TLS1_2_VERSION),
      maximum = version_of(config->maximum, 0);
  if (minimum < 0 || maximum < 0 || SSL_CTX_set_min_proto_version(ssl, minimum) != 1 ||
      SSL_CTX_set_max_proto_version(ssl, maximum) != 1)
    return fail(work, ALOFT_ARGUMENT, "the versions of TLS are 12 and 13");
  (void)SSL_CTX_set_options(ssl, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  (void)SSL_CTX_set_mode(ssl, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  if (!config->alpn.size)
    return ALOFT_OK;
  context->alpn[0] = (unsigned char)config->alpn.size;
  memcpy(context->alpn + 1, config->alpn.data, config->alpn.size);
  context->alpn_size = config->alpn.size + 1;
  if (!config->server &&
      SSL_CTX_set_alpn_protos(ssl, context->alpn, (unsigned)context->alpn_size) != 0)
    return fail(work, ALOFT_NO_MEMORY, "no memory for ALPN");
  return ALOFT_OK;
}

/* ---- open ---- */

static aloft_status build(opening *work, const alo_tls_config *config) {
  alo_tls_context *context = work->context;
  context->ssl = SSL_CTX_new(config->server ? TLS_server_method() : TLS_client_method());
  context->method = alo_tls_bio_method();
  if (!context->ssl || !context->method)
    return fail(work, ALOFT_NO_MEMORY, "no memory for TLS");
  aloft_status status = set_protocol(work, config);
  if (status == ALOFT_OK)
    status = take_authorities(work, config);
  if (status == ALOFT_OK)
    status = take_own(work, config);
  if (status == ALOFT_OK)
    status = config->server ? set_server(work, config) : set_client(work, config);
  return status;
}

aloft_status alo_tls_context_open(alo_tls_context **made, const aloft_allocator *heap,
                                  const alo_tls_config *config, char why[ALO_TLS_FAILURE_MAX]) {
  *made = NULL;
  opening work = {.why = why, .context = alo_heap_take(heap, sizeof *work.context)};
  if (!work.context)
    return fail(&work, ALOFT_NO_MEMORY, "no memory for TLS");
  *work.context = (alo_tls_context){.heap = heap,
                                    .holds = 1,
                                    .server = config->server,
                                    .authorities_option = config->authorities_option,
                                    .certificate_option = config->certificate_option,
                                    .expected_option = config->expected_option,
                                    .name_option = config->name_option};
  ERR_clear_error();
  aloft_status status = build(&work, config);
  ERR_clear_error();
  if (status == ALOFT_OK)
    *made = work.context;
  else
    alo_tls_context_give(work.context);
  return status;
}

void alo_tls_context_hold(alo_tls_context *context) {
  context->holds++;
}

void alo_tls_context_give(alo_tls_context *context) {
  if (!context || --context->holds)
    return;
  SSL_CTX_free(context->ssl);
  BIO_meth_free(context->method);
  X509_free(context->expected);
  alo_heap_give(context->heap, context, sizeof *context);
}
