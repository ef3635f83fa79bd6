/* Any bytes as PRELOGIN and as LOGIN7: read, written anew, and read again, with the same meaning.
 */
#include <string.h>

#include "fuzz_check.h"
#include "heap.h"
#include "tds_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUTPUT_MAX = 1 << 20 };

typedef struct output {
  alo_buffer buffer;
  alo_tds_writer writer;
} output;

static void begin(output *out, uint8_t type) {
  alo_buffer_init(&out->buffer, &alo_heap_default, OUTPUT_MAX);
  alo_tds_writer_init(&out->writer, &out->buffer, ALO_TDS_PACKET_MAX);
  alo_tds_message_begin(&out->writer, type, 0);
}

/* The payload, which lies in one packet. */
static aloft_bytes end(output *out) {
  CHECK(alo_tds_message_end(&out->writer) == ALOFT_OK);
  return (aloft_bytes){out->buffer.data + out->buffer.begin + ALO_TDS_HEADER_SIZE,
                       alo_buffer_size(&out->buffer) - ALO_TDS_HEADER_SIZE};
}

static void check_prelogin(aloft_bytes payload) {
  alo_tds_prelogin first;
  alo_tds_prelogin again;
  output out;
  if (alo_tds_parse_prelogin(payload, &first) || first.instance.size > 1000) {
    return;
  }
  begin(&out, ALO_TDS_PRELOGIN);
  alo_tds_put_prelogin(&out.writer, &first, false);
  CHECK(alo_tds_parse_prelogin(end(&out), &again) == NULL);
  CHECK(memcmp(first.version, again.version, sizeof first.version) == 0);
  CHECK(first.encryption == again.encryption && first.mars == again.mars);
  CHECK(first.thread_id == again.thread_id && first.fed_auth_required == again.fed_auth_required);
  CHECK(first.instance.size == again.instance.size);
  CHECK(first.instance.size == 0 || aloft_text_equal(first.instance, again.instance));
  alo_buffer_fini(&out.buffer);
}

static void check_same(const alo_tds_login *first, const alo_tds_login *again) {
  CHECK(aloft_text_equal(first->host, again->host));
  CHECK(aloft_text_equal(first->user, again->user));
  CHECK(aloft_text_equal(first->password, again->password));
  CHECK(aloft_text_equal(first->application, again->application));
  CHECK(aloft_text_equal(first->server, again->server));
  CHECK(aloft_text_equal(first->library, again->library));
  CHECK(aloft_text_equal(first->language, again->language));
  CHECK(aloft_text_equal(first->database, again->database));
  CHECK(aloft_text_equal(first->new_password, again->new_password));
  CHECK(aloft_text_equal(first->attach_file, again->attach_file));
  CHECK(first->client_pid == again->client_pid && first->lcid == again->lcid);
  CHECK(first->type_flags == again->type_flags);
  CHECK(first->utf8_feature == again->utf8_feature);
  CHECK(first->json_feature == again->json_feature);
}

static void check_login(aloft_bytes payload) {
  alo_tds_login first;
  alo_tds_login again;
  const char *unsupported;
  output out;
  char *memory = malloc(2 * payload.size + 1);
  CHECK(memory);
  if (!alo_tds_parse_login(payload, &first, memory, 2 * payload.size, &unsupported) &&
      !unsupported) {
    first.option_flags3 &= (uint8_t)~ALO_TDS_EXTENSION; /* put sets it for the feature it knows */
    begin(&out, ALO_TDS_LOGIN7);
    alo_tds_put_login(&out.writer, &first);
    aloft_bytes written = end(&out);
    char *second = malloc(2 * written.size);
    CHECK(second);
    CHECK(!alo_tds_parse_login(written, &again, second, 2 * written.size, &unsupported));
    CHECK(!unsupported);
    check_same(&first, &again);
    free(second);
    alo_buffer_fini(&out.buffer);
  }
  free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  check_prelogin((aloft_bytes){data, size});
  check_login((aloft_bytes){data, size});
  return 0;
}
