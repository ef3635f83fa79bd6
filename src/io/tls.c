#include "tls_session.h"

#include <arpa/inet.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "heap.h"

/* SSL_read is given room of at least READ_LEAST. Beside a batch of records `out` holds a
 * handshake's flight, or alerts and answers to key updates: FLIGHT_MAX is more than OpenSSL's limit
 * of a chain of certificates. */
enum { READ_LEAST = 2048, RECORD_OVERHEAD = 256, FLIGHT_MAX = 128 << 10 };
#define OUT_MAX ((size_t)ALO_TLS_BATCH * (ALO_TLS_RECORD_MAX + RECORD_OVERHEAD) + FLIGHT_MAX)

/* ---- the BIO over `in` and `out` ---- */

static int bio_read(BIO *bio, char *into, int size) {
  alo_tls *tls = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  int got = 0;
  while (got < size && tls->in.size) {
    const alo_block *first = tls->in.first;
    size_t here = first->end - first->begin, wanted = (size_t)(size - got);
    size_t take = here < wanted ? here : wanted;
    memcpy(into + got, first->data + first->begin, take);
    alo_chain_drop(&tls->in, tls->blocks, take);
    got += (int)take;
  }
  if (got > 0)
    return got;
  BIO_set_retry_read(bio);
  return -1;
}

static int bio_write(BIO *bio, const char *from, int size) {
  alo_tls *tls = BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  aloft_status status = alo_buffer_append(&tls->out, from, (size_t)size);
  if (status != ALOFT_OK) {
    tls->no_memory = true;
    return -1;
  }
  tls->out_bytes += (uint64_t)size;
  return size;
}

static long bio_control(BIO *bio, int command, long number, void *pointer) {
  (void)bio;
  (void)number;
  (void)pointer;
  return command == BIO_CTRL_FLUSH;
}

BIO_METHOD *alo_tls_bio_method(void) {
  BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "aloft");
  if (method && BIO_meth_set_read(method, bio_read) && BIO_meth_set_write(method, bio_write) &&
      BIO_meth_set_ctrl(method, bio_control))
    return method;
  BIO_meth_free(method);
  return NULL;
}

/* ---- open and close ---- */

static bool is_address(const char *name) {
  unsigned char address[16];
  return inet_pton(AF_INET, name, address) == 1 || inet_pton(AF_INET6, name, address) == 1;
}

/* Without the dot of a name that is absolute in the DNS: neither SNI (RFC 6066, 3) nor certificates
 * have it. One that begins with a dot OpenSSL would take for all that end with it. */
static bool take_name(char into[256], aloft_text name) {
  if (name.size > 0 && name.data[name.size - 1] == '.')
    name.size--;
  if (name.size == 0 || name.size > 255 || name.data[0] == '.' || memchr(name.data, 0, name.size))
    return false;
  memcpy(into, name.data, name.size);
  into[name.size] = 0;
  return true;
}

static aloft_status ask_name(alo_tls *tls, const alo_tls_names *names) {
  char host[256];
  if (!take_name(host, names->host) ||
      !take_name(tls->name, names->verified.size ? names->verified : names->host))
    return ALOFT_ARGUMENT;
  if (!is_address(host) && SSL_set_tlsext_host_name(tls->ssl, host) != 1)
    return ALOFT_NO_MEMORY;
  if (!tls->context->verifies_name) {
    tls->name[0] = 0;
    return ALOFT_OK;
  }
  X509_VERIFY_PARAM *parameters = SSL_get0_param(tls->ssl);
  X509_VERIFY_PARAM_set_hostflags(parameters, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  int set = is_address(tls->name) ? X509_VERIFY_PARAM_set1_ip_asc(parameters, tls->name)
                                  : X509_VERIFY_PARAM_set1_host(parameters, tls->name, 0);
  return set == 1 ? ALOFT_OK : ALOFT_ARGUMENT;
}

static aloft_status make_session(alo_tls *tls, const alo_tls_names *names) {
  tls->ssl = alo_tls_know_authorities(tls->context) ? SSL_new(tls->context->ssl) : NULL;
  BIO *bio = tls->ssl ? BIO_new(tls->context->method) : NULL;
  if (!bio)
    return ALOFT_NO_MEMORY;
  BIO_set_data(bio, tls);
  BIO_set_init(bio, 1);
  SSL_set_bio(tls->ssl, bio, bio);
  if (SSL_set_app_data(tls->ssl, tls) != 1)
    return ALOFT_NO_MEMORY;
  if (tls->context->server) {
    SSL_set_accept_state(tls->ssl);
    return ALOFT_OK;
  }
  SSL_set_connect_state(tls->ssl);
  return names ? ask_name(tls, names) : ALOFT_ARGUMENT;
}

aloft_status alo_tls_open(alo_tls **made, alo_tls_context *context, alo_blocks *blocks,
                          const alo_tls_names *names) {
  *made = NULL;
  alo_tls *tls = alo_heap_take(blocks->heap, sizeof *tls);
  if (!tls)
    return ALOFT_NO_MEMORY;
  tls->blocks = blocks;
  tls->context = context;
  alo_tls_context_hold(context);
  alo_buffer_init(&tls->out, blocks->heap, OUT_MAX);
  aloft_status status = make_session(tls, names);
  ERR_clear_error();
  if (status == ALOFT_OK)
    *made = tls;
  else
    alo_tls_close(tls);
  return status;
}

void alo_tls_close(alo_tls *tls) {
  if (!tls)
    return;
  SSL_free(tls->ssl);
  alo_chain_clear(&tls->in, tls->blocks);
  alo_buffer_fini(&tls->out);
  alo_tls_context_give(tls->context);
  alo_heap_give(tls->blocks->heap, tls, sizeof *tls);
}

bool alo_tls_feed(alo_tls *tls, const void *data, size_t size) {
  const uint8_t *from = data;
  while (size) {
    size_t room;
    uint8_t *into = alo_chain_room(&tls->in, tls->blocks, 1, &room);
    if (!into)
      return false;
    size_t some = size < room ? size : room;
    memcpy(into, from, some);
    alo_chain_filled(&tls->in, some);
    from += some;
    size -= some;
  }
  tls->resumable = true;
  return true;
}

/* ---- handshake ---- */

aloft_status alo_tls_handshake(alo_tls *tls) {
  if (tls->failed != ALOFT_OK)
    return tls->failed;
  if (tls->established)
    return ALOFT_OK;
  ERR_clear_error();
  int answer = SSL_do_handshake(tls->ssl);
  switch (SSL_get_error(tls->ssl, answer)) {
  case SSL_ERROR_NONE:
    tls->established = true;
    return ALOFT_OK;
  case SSL_ERROR_WANT_READ:
    return ALOFT_PENDING;
  case SSL_ERROR_ZERO_RETURN:
    return alo_tls_ended(tls);
  default:
    return alo_tls_fail_openssl(tls);
  }
}

/* ---- reading ---- */

static aloft_status read_ended(alo_tls *tls, int answer) {
  tls->resumable = false;
  switch (SSL_get_error(tls->ssl, answer)) {
  case SSL_ERROR_WANT_READ:
    return ALOFT_OK;
  case SSL_ERROR_ZERO_RETURN:
    tls->peer_closed = true;
    return ALOFT_DONE;
  default:
    return alo_tls_fail_openssl(tls);
  }
}

aloft_status alo_tls_read(alo_tls *tls, alo_chain *plain, size_t max) {
  if (tls->failed != ALOFT_OK)
    return tls->failed;
  if (!tls->established)
    return ALOFT_WRONG_STATE;
  tls->held = false;
  ERR_clear_error();
  while (max > 0) {
    size_t room;
    uint8_t *into = alo_chain_room(plain, tls->blocks, READ_LEAST, &room);
    if (!into)
      return alo_tls_fail(tls, ALOFT_NO_MEMORY, "no memory to receive into");
    room = room < max ? room : max;
    int got = SSL_read(tls->ssl, into, room > INT32_MAX ? INT32_MAX : (int)room);
    if (got <= 0)
      return read_ended(tls, got);
    alo_chain_filled(plain, (size_t)got);
    tls->read_bytes += (uint64_t)got;
    max -= (size_t)got;
  }
  tls->resumable = tls->in.size > 0 || SSL_has_pending(tls->ssl);
  return tls->resumable ? ALOFT_PENDING : ALOFT_OK;
}

/* ---- writing ---- */

/* Room for all first: a record that OpenSSL could not put would end the session. */
static aloft_status reserve(alo_tls *tls, size_t plain) {
  size_t records = plain / ALO_TLS_RECORD_MAX + 1;
  if (records > ALO_TLS_BATCH)
    records = ALO_TLS_BATCH;
  if (plain > records * ALO_TLS_RECORD_MAX)
    plain = records * ALO_TLS_RECORD_MAX;
  if (alo_buffer_reserve(&tls->out, plain + records * RECORD_OVERHEAD) != ALOFT_OK)
    return alo_tls_fail(tls, ALOFT_NO_MEMORY, "no memory for output to encrypt");
  return ALOFT_OK;
}

aloft_status alo_tls_write(alo_tls *tls, alo_buffer *plain) {
  if (tls->failed != ALOFT_OK)
    return tls->failed;
  if (!tls->established)
    return ALOFT_WRONG_STATE;
  if (alo_buffer_size(plain) && reserve(tls, alo_buffer_size(plain)) != ALOFT_OK)
    return tls->failed;
  ERR_clear_error();
  while (alo_buffer_size(plain) && tls->mark_count < ALO_TLS_BATCH) {
    size_t size = alo_buffer_size(plain);
    if (size > ALO_TLS_RECORD_MAX)
      size = ALO_TLS_RECORD_MAX;
    int put = SSL_write(tls->ssl, plain->data + plain->begin, (int)size);
    if (put <= 0) {
      tls->held = SSL_get_error(tls->ssl, put) == SSL_ERROR_WANT_READ;
      return tls->held ? ALOFT_OK : alo_tls_fail_openssl(tls);
    }
    alo_buffer_take(plain, (size_t)put);
    tls->plain_bytes += (uint64_t)put;
    tls->records++;
    tls->marks[tls->mark_count++] = (alo_tls_mark){tls->plain_bytes, tls->out_bytes};
  }
  return ALOFT_OK;
}

uint64_t alo_tls_sent(alo_tls *tls, size_t size) {
  alo_buffer_take(&tls->out, size);
  uint64_t out_sent = tls->out_bytes - alo_buffer_size(&tls->out);
  unsigned gone = 0;
  while (gone < tls->mark_count && tls->marks[gone].out_end <= out_sent)
    tls->plain_sent = tls->marks[gone++].plain_end;
  tls->mark_count -= gone;
  if (gone && tls->mark_count)
    memmove(tls->marks, tls->marks + gone, tls->mark_count * sizeof *tls->marks);
  return tls->plain_sent;
}

void alo_tls_lead(alo_tls *tls, size_t size) {
  tls->plain_bytes += size;
  tls->out_bytes += size;
  tls->marks[tls->mark_count++] =
      (alo_tls_mark){tls->plain_bytes, tls->out_bytes - alo_buffer_size(&tls->out) + size};
}

/* ---- the end ---- */

aloft_status alo_tls_ended(alo_tls *tls) {
  if (tls->peer_closed)
    return ALOFT_OK;
  const char *peer = tls->context->server ? "client" : "server";
  if (!tls->established)
    return alo_tls_fail(tls, ALOFT_ENCRYPTION,
                        "the %s closed the connection during the TLS handshake: check that it "
                        "speaks TLS there",
                        peer);
  return alo_tls_fail(tls, ALOFT_LOST,
                      "the connection ended without the %s's TLS close_notify: it was cut off, and "
                      "what came may be incomplete",
                      peer);
}

void alo_tls_say_close(alo_tls *tls) {
  if (!tls->established || tls->failed != ALOFT_OK)
    return;
  ERR_clear_error();
  if (!(SSL_get_shutdown(tls->ssl) & SSL_SENT_SHUTDOWN))
    (void)SSL_shutdown(tls->ssl);
  ERR_clear_error();
}
