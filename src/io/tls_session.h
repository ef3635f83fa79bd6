/* What the parts of the TLS filter share: the context, and the sentences of failures. */
#ifndef ALO_TLS_SESSION_H
#define ALO_TLS_SESSION_H

#include "tls.h"

struct bio_method_st;
struct ssl_ctx_st;
struct x509_st;
struct x509_store_ctx_st;

enum { ALO_TLS_ALPN_MAX = 32 };

struct alo_tls_context {
  const aloft_allocator *heap;
  unsigned holds;
  bool server, verifies_name;
  bool system_authorities; /* still to be read, by the first session: they are many */
  struct ssl_ctx_st *ssl;
  struct bio_method_st *method; /* of the BIO between a session and its `in` and `out` */
  struct x509_st *expected;
  unsigned char alpn[ALO_TLS_ALPN_MAX + 1]; /* its length, and the protocol */
  size_t alpn_size;                         /* of both; 0: none */
  const char *authorities_option, *certificate_option, *expected_option, *name_option;
};

/* ---- tls_context.c ---- */
/* Before a session is made. False: no memory. */
bool alo_tls_know_authorities(alo_tls_context *context);

/* ---- tls.c ---- */
/* The BIO's methods; NULL: no memory. */
struct bio_method_st *alo_tls_bio_method(void);

/* ---- tls_failure.c ---- */
/* Ends the session with a sentence, if nothing has before. */
aloft_status alo_tls_fail(alo_tls *tls, aloft_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with what lies in OpenSSL's queue of errors, which is empty then. */
aloft_status alo_tls_fail_openssl(alo_tls *tls);
/* OpenSSL's callback for each certificate that is verified: notes why one is not accepted. */
int alo_tls_judge(int accepted, struct x509_store_ctx_st *store);
/* And for a chain as a whole, when one certificate is expected. */
int alo_tls_compare(struct x509_store_ctx_st *store, void *context);

#endif
