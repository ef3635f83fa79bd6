#include "certificate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "heap.h"
#include "tls.h"

enum {
  FILE_MAX = 1 << 20,
  NAMES_MAX = 5,
  HOST_MAX = 64, /* of this machine's name, as far as a certificate's needs go */
  DAY = 24 * 60 * 60,
  DAYS_BEFORE = 1, /* for clocks that are behind */
  DAYS_AFTER = 365
};

/* ---- from files ---- */

static bool read_file(const char *path, char **text, size_t *size, char *error) {
  FILE *file = fopen(path, "rb");
  char *room = file ? malloc(FILE_MAX) : NULL;
  if (room) {
    setvbuf(file, NULL, _IONBF, 0); /* no other copy of a key */
    *size = fread(room, 1, FILE_MAX, file);
    *text = room;
  }
  int failed = errno;
  bool whole = room && !ferror(file) && *size < FILE_MAX;
  if (!whole)
    snprintf(error, ALO_CERTIFICATE_ERROR_MAX, "cannot read %.200s: %s", path,
             room && *size == FILE_MAX ? "it is over 1 MiB" : strerror(failed));
  if (file)
    fclose(file);
  return whole;
}

bool alo_certificate_read(alo_certificate *certificate, const char *chain_file,
                          const char *key_file, char *error) {
  memset(certificate, 0, sizeof *certificate);
  if (!read_file(chain_file, &certificate->chain, &certificate->chain_size, error) ||
      !read_file(key_file, &certificate->key, &certificate->key_size, error))
    return false;
  bool right = alo_tls_fingerprint((aloft_bytes){certificate->chain, certificate->chain_size},
                                   certificate->fingerprint);
  if (!right)
    snprintf(error, ALO_CERTIFICATE_ERROR_MAX, "%.200s holds no certificate in PEM", chain_file);
  return right;
}

/* ---- made ---- */

static bool is_name(const char *name) {
  size_t size = strlen(name);
  return size > 0 &&
         strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") == size;
}

/* Any address, or one that every certificate is for. */
static bool goes_without(const alo_address *address) {
  if (address->base.sa_family == AF_INET6)
    return IN6_IS_ADDR_UNSPECIFIED(&address->in6.sin6_addr) ||
           IN6_IS_ADDR_LOOPBACK(&address->in6.sin6_addr);
  return address->in.sin_addr.s_addr == htonl(INADDR_ANY) ||
         address->in.sin_addr.s_addr == htonl(INADDR_LOOPBACK);
}

/* Takes what the buffer has gathered. */
static bool take_text(alo_buffer *buffer, char **text, size_t *size) {
  *size = alo_buffer_size(buffer);
  *text = *size > 0 ? malloc(*size) : NULL;
  if (*text)
    memcpy(*text, buffer->data + buffer->begin, *size);
  if (buffer->data)
    explicit_bzero(buffer->data, buffer->room);
  alo_buffer_fini(buffer);
  return *text != NULL;
}

static aloft_status order(alo_certificate *certificate, const aloft_text *names, size_t count) {
  alo_buffer chain, key;
  int64_t now = (int64_t)time(NULL);
  const alo_tls_order wanted = {.subject = ALOFT_TEXT("Aloft lite"),
                                .names = names,
                                .name_count = count,
                                .from_s = now - (int64_t)DAYS_BEFORE * DAY,
                                .until_s = now + (int64_t)DAYS_AFTER * DAY};
  alo_buffer_init(&chain, &alo_heap_default, FILE_MAX);
  alo_buffer_init(&key, &alo_heap_default, FILE_MAX);
  aloft_status status = alo_tls_make_certificate(&wanted, &chain, &key);
  bool taken = take_text(&chain, &certificate->chain, &certificate->chain_size);
  taken = take_text(&key, &certificate->key, &certificate->key_size) && taken;
  return status == ALOFT_OK && !taken ? ALOFT_NO_MEMORY : status;
}

bool alo_certificate_make(alo_certificate *certificate, const alo_address *address, char *error) {
  char host[HOST_MAX] = "", numeric[INET6_ADDRSTRLEN] = "";
  aloft_text names[NAMES_MAX] = {ALOFT_TEXT("localhost"), ALOFT_TEXT("127.0.0.1"),
                                 ALOFT_TEXT("::1")};
  size_t count = 3;
  memset(certificate, 0, sizeof *certificate);
  if (gethostname(host, sizeof host) == 0 && memchr(host, 0, sizeof host) && is_name(host))
    names[count++] = aloft_text_of(host);
  bool six = address->base.sa_family == AF_INET6;
  const void *at = six ? (const void *)&address->in6.sin6_addr : &address->in.sin_addr;
  if (!goes_without(address) && inet_ntop(six ? AF_INET6 : AF_INET, at, numeric, sizeof numeric))
    names[count++] = aloft_text_of(numeric);
  aloft_status status = order(certificate, names, count);
  bool made = status == ALOFT_OK &&
              alo_tls_fingerprint((aloft_bytes){certificate->chain, certificate->chain_size},
                                  certificate->fingerprint);
  if (!made)
    snprintf(error, ALO_CERTIFICATE_ERROR_MAX,
             "cannot make a certificate (%s): give --tlscert and --tlskey, or --tls off",
             aloft_status_meaning(status));
  return made;
}

/* ---- written ---- */

bool alo_certificate_write(const alo_certificate *certificate, const char *path, char *error) {
  FILE *file = fopen(path, "wb");
  bool written = file && fwrite(certificate->chain, 1, certificate->chain_size, file) ==
                             certificate->chain_size;
  int failed = errno;
  if (file && fclose(file) != 0 && written) {
    written = false;
    failed = errno;
  }
  if (!written)
    snprintf(error, ALO_CERTIFICATE_ERROR_MAX, "cannot write %.200s: %s", path, strerror(failed));
  return written;
}

void alo_certificate_drop(alo_certificate *certificate) {
  if (certificate->key)
    explicit_bzero(certificate->key, certificate->key_size);
  free(certificate->key);
  free(certificate->chain);
  memset(certificate, 0, sizeof *certificate);
}
