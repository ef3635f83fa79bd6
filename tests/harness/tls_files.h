/* Certificates for tests, made when they are asked for and gone with the process. */
#ifndef HARNESS_TLS_FILES_H
#define HARNESS_TLS_FILES_H

#include "tls.h"

typedef struct tls_wish {
  const char *name;              /* what it is for; NULL: 127.0.0.1 and localhost */
  int64_t from_days, until_days; /* from now; both 0: -1 and 1 */
} tls_wish;

typedef struct tls_files {
  char certificate[64], key[64]; /* paths of PEM files */
  char text[4096], key_text[4096];
  size_t text_size, key_size;
} tls_files;

/* A self-signed certificate. `wish` may be NULL. */
void tls_files_make(tls_files *files, const tls_wish *wish);
void tls_files_drop(tls_files *files);

/* The context of a server that shows it; `maximum`: 12, or 0. */
alo_tls_context *tls_files_server(const tls_files *files, const aloft_allocator *heap, int maximum,
                                  const char *alpn);

#endif
