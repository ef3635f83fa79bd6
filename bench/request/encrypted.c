#include "encrypted.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "heap.h"
#include "nats_client.h"
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

/* A record of TLS 1.3: 5 bytes of header, the type, 16 bytes of tag. */
enum { RECORD_MORE = 22 };

void alo_encrypted_take(alo_encrypted_moment *moment, const aloft_nats *nats, uint64_t turns) {
  const alo_stream *stream = &nats->stream;
  *moment = (alo_encrypted_moment){.heap_calls = heap_calls,
                                   .turns = turns,
                                   .plain_in = nats->parser.offset,
                                   .plain_out = stream->tx_taken,
                                   .in = stream->rx_bytes,
                                   .out = stream->tls->out_bytes};
}

/* Each byte is copied four times on its way through TLS: with and without what TLS adds, as it
 * comes and as it leaves (see ARCHITECTURE.md). */
void alo_encrypted_write(char *text, size_t room, const aloft_nats *nats, uint64_t count,
                         const alo_encrypted_moment *before, const alo_encrypted_moment *after) {
  aloft_nats_encryption told = {.size = sizeof told};
  aloft_nats_get_encryption(nats, &told);
  text[0] = '\0';
  if (strcmp(told.protocol, "TLSv1.3") != 0)
    return;
  const uint64_t plain_in = after->plain_in - before->plain_in, in = after->in - before->in;
  const uint64_t plain_out = after->plain_out - before->plain_out, out = after->out - before->out;
  const double turns = (double)(after->turns - before->turns), requests = (double)count;
  snprintf(text, room, ",\"own_heap_calls\":%.4f,\"records_per_turn\":%.4f,\"copied\":%.1f",
           (double)(after->heap_calls - before->heap_calls) / requests,
           (double)(out - plain_out) / RECORD_MORE / turns,
           (double)(plain_in + in + plain_out + out) / requests);
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
