#include "encrypted.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "heap.h"
#include "nats_client.h"
#include "tds_connection.h"
#include "tls.h"

/* ---- the heap ---- */

static uint64_t heap_calls;

static void *allocate(void *context, size_t size) {
  (void)context;
  heap_calls++;
  return malloc(size);
}

static void *resize(void *context, void *memory, size_t old_size, size_t size) {
  (void)context;
  (void)old_size;
  heap_calls++;
  return realloc(memory, size);
}

static void release(void *context, void *memory, size_t size) {
  (void)context;
  (void)size;
  heap_calls++;
  free(memory);
}

const aloft_allocator alo_encrypted_heap = {
    .allocate = allocate, .resize = resize, .release = release};

/* ---- figures ---- */

alo_encrypted_moment alo_encrypted_take(void) {
  return (alo_encrypted_moment){.heap_calls = heap_calls};
}

/* Each byte is copied four times on its way through TLS: with and without what TLS adds, as it
 * comes and as it leaves (see ARCHITECTURE.md). */
static void add_stream(alo_encrypted_moment *moment, const alo_stream *stream) {
  const alo_tls *tls = stream->tls;
  if (tls == NULL)
    return;
  moment->records += tls->records;
  moment->copied += tls->read_bytes + stream->rx_bytes + tls->plain_bytes + tls->out_bytes;
}

void alo_encrypted_add_nats(alo_encrypted_moment *moment, const aloft_nats *nats) {
  add_stream(moment, &nats->stream);
}

void alo_encrypted_add_tds(alo_encrypted_moment *moment, const aloft_tds *tds) {
  add_stream(moment, &tds->stream);
}

void alo_encrypted_write(char text[ALO_ENCRYPTED_ROOM], uint64_t operations, uint64_t sendings,
                         const alo_encrypted_moment *before, const alo_encrypted_moment *after) {
  const double count = (double)operations;
  snprintf(text, ALO_ENCRYPTED_ROOM, ",\"own_heap_calls\":%.4f,\"records\":%.4f,\"copied\":%.1f",
           (double)(after->heap_calls - before->heap_calls) / count,
           (double)(after->records - before->records) / (double)sendings,
           (double)(after->copied - before->copied) / count);
}

/* ---- the server's certificate ---- */

static bool write_file(const char *path, const alo_buffer *text) {
  int file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
  ssize_t size = (ssize_t)alo_buffer_size(text);
  bool written = file >= 0 && write(file, text->data + text->begin, (size_t)size) == size;
  if (file >= 0)
    close(file);
  if (!written)
    perror(path);
  return written;
}

int alo_encrypted_make_certificate(const char *certificate, const char *key) {
  enum { SIZE_MAX_BYTES = 16384, DAY = 24 * 60 * 60 };
  const aloft_text name = ALOFT_TEXT("127.0.0.1");
  const int64_t now = (int64_t)time(NULL);
  alo_buffer shown, secret;
  const alo_tls_order order = {.subject = ALOFT_TEXT("aloft bench"),
                               .names = &name,
                               .name_count = 1,
                               .from_s = now - DAY,
                               .until_s = now + DAY};
  alo_buffer_init(&shown, &alo_heap_default, SIZE_MAX_BYTES);
  alo_buffer_init(&secret, &alo_heap_default, SIZE_MAX_BYTES);
  bool good = alo_tls_make_certificate(&order, &shown, &secret) == ALOFT_OK &&
              write_file(certificate, &shown) && write_file(key, &secret);
  alo_buffer_fini(&shown);
  alo_buffer_fini(&secret);
  return good ? 0 : 1;
}
