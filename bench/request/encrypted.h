/* What a client does over TLS that none does in clear: it looks inside the library for it. */
#ifndef ALO_ENCRYPTED_H
#define ALO_ENCRYPTED_H

#include <aloft/nats.h>

/* The library's heap, counted: what OpenSSL takes is not in it. */
extern const aloft_allocator alo_encrypted_heap;

typedef struct alo_encrypted_moment {
  uint64_t heap_calls; /* of alo_encrypted_heap */
  uint64_t turns;
  uint64_t plain_in, plain_out, in, out; /* bytes, without and with what TLS adds */
} alo_encrypted_moment;

void alo_encrypted_take(alo_encrypted_moment *moment, const aloft_nats *nats, uint64_t turns);

/* The figures between the two as members of a JSON object, with a comma before them; "" when the
 * protocol is not one whose records can be told from their bytes. */
void alo_encrypted_write(char *text, size_t room, const aloft_nats *nats, uint64_t count,
                         const alo_encrypted_moment *before, const alo_encrypted_moment *after);

/* Makes a certificate for 127.0.0.1 that is good for a day, and its key, in two files that exist.
 * The exit status. */
int alo_encrypted_make_certificate(const char *certificate, const char *key);

#endif
