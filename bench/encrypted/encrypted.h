/* What a client does over TLS that none does in clear: it looks inside the library for it. */
#ifndef ALO_ENCRYPTED_H
#define ALO_ENCRYPTED_H

#include <aloft/nats.h>
#include <aloft/tds.h>

/* The library's heap, counted: what OpenSSL takes is not in it. */
extern const aloft_allocator alo_encrypted_heap;

typedef struct alo_encrypted_moment {
  uint64_t heap_calls; /* of alo_encrypted_heap */
  uint64_t records;    /* sent */
  uint64_t copied;     /* bytes, because of TLS */
} alo_encrypted_moment;

/* A moment of no connections yet; then each is added. */
alo_encrypted_moment alo_encrypted_take(void);
void alo_encrypted_add_nats(alo_encrypted_moment *moment, const aloft_nats *nats);
void alo_encrypted_add_tds(alo_encrypted_moment *moment, const aloft_tds *tds);

enum { ALO_ENCRYPTED_ROOM = 128 };

/* The figures between the two as members of a JSON object, with a comma before them: heap calls and
 * bytes copied for one of `operations`, records for one of `sendings`. */
void alo_encrypted_write(char text[ALO_ENCRYPTED_ROOM], uint64_t operations, uint64_t sendings,
                         const alo_encrypted_moment *before, const alo_encrypted_moment *after);

/* Makes a certificate for 127.0.0.1 that is good for a day, and its key, in two files that exist.
 * The exit status. */
int alo_encrypted_make_certificate(const char *certificate, const char *key);

#endif
