/* The certificate that lite shows: read from files, or made at start. */
#ifndef ALO_LITE_CERTIFICATE_H
#define ALO_LITE_CERTIFICATE_H

#include "driver.h"

enum {
  ALO_FINGERPRINT_MAX = 3 * 32, /* "AB:CD:..." of SHA-256, with its NUL */
  ALO_CERTIFICATE_ERROR_MAX = 320
};

typedef struct alo_certificate {
  char *chain, *key; /* PEM: the certificate and what vouches for it; its private key */
  size_t chain_size, key_size;
  char fingerprint[ALO_FINGERPRINT_MAX];
} alo_certificate;

/* `error` (ALO_CERTIFICATE_ERROR_MAX bytes) says what to do. Drop in every case. */
bool alo_certificate_read(alo_certificate *certificate, const char *chain_file,
                          const char *key_file, char *error);
/* A key of P-256 and a certificate that it signs itself, for a year: for localhost, the loopback
 * addresses, this machine's name and `address` unless that is any. */
bool alo_certificate_make(alo_certificate *certificate, const alo_address *address, char *error);
/* The certificate, not the key, for clients to trust: replaces the file. */
bool alo_certificate_write(const alo_certificate *certificate, const char *file, char *error);
/* Wipes the key. */
void alo_certificate_drop(alo_certificate *certificate);

#endif
