#include "tls_files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "heap.h"

enum { DAY = 24 * 60 * 60 };

static void write_file(char path[64], const char *text, size_t size) {
  snprintf(path, 64, "/tmp/aloft-test-XXXXXX");
  int descriptor = mkstemp(path);
  assert_true(descriptor >= 0);
  assert_int_equal(write(descriptor, text, size), size);
  close(descriptor);
}

static size_t take(char *into, alo_buffer *buffer) {
  size_t size = alo_buffer_size(buffer);
  assert_in_range(size, 1, 4095);
  memcpy(into, buffer->data + buffer->begin, size);
  into[size] = 0;
  alo_buffer_fini(buffer);
  return size;
}

void tls_files_make(tls_files *files, const tls_wish *wish) {
  const tls_wish usual = {.name = NULL};
  aloft_text names[] = {ALOFT_TEXT("127.0.0.1"), ALOFT_TEXT("localhost")};
  alo_buffer certificate, key;
  int64_t now = (int64_t)time(NULL);
  if (!wish)
    wish = &usual;
  if (wish->name)
    names[0] = aloft_text_of(wish->name);
  bool dated = wish->from_days || wish->until_days;
  const alo_tls_order order = {.subject = ALOFT_TEXT("a test"),
                               .names = names,
                               .name_count = wish->name ? 1 : 2,
                               .from_s = now + DAY * (dated ? wish->from_days : -1),
                               .until_s = now + DAY * (dated ? wish->until_days : 1)};
  alo_buffer_init(&certificate, &alo_heap_default, 4096);
  alo_buffer_init(&key, &alo_heap_default, 4096);
  assert_int_equal(alo_tls_make_certificate(&order, &certificate, &key), ALOFT_OK);
  files->text_size = take(files->text, &certificate);
  files->key_size = take(files->key_text, &key);
  write_file(files->certificate, files->text, files->text_size);
  write_file(files->key, files->key_text, files->key_size);
}

void tls_files_drop(tls_files *files) {
  unlink(files->certificate);
  unlink(files->key);
}

alo_tls_context *tls_files_server(const tls_files *files, const aloft_allocator *heap, int maximum,
                                  const char *alpn) {
  char why[ALO_TLS_FAILURE_MAX] = "";
  alo_tls_context *context = NULL;
  const alo_tls_config config = {.server = true,
                                 .certificate.text = {files->text, files->text_size},
                                 .key.text = {files->key_text, files->key_size},
                                 .maximum = maximum,
                                 .alpn = aloft_text_of(alpn)};
  aloft_status status = alo_tls_context_open(&context, heap, &config, why);
  if (status != ALOFT_OK)
    fail_msg("%s", why);
  return context;
}
