/* Any bytes as a batch, an RPC and a transaction request: each view lies inside, and what is read
 * well can be written anew and read again. */
#include <string.h>

#include "fuzz_check.h"
#include "heap.h"
#include "tds_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OUTPUT_MAX = 1 << 20 };

static void check_inside(aloft_bytes whole, const void *data, size_t size) {
  const uint8_t *begin = whole.data;
  const uint8_t *at = data;
  CHECK(size == 0 || (at >= begin && size <= whole.size && at + size <= begin + whole.size));
}

/* The parameters of one RPC; false when they are wrong, otherwise `*rest` is what follows. */
static bool check_params(aloft_bytes whole, aloft_bytes *rest) {
  for (;;) {
    alo_tds_rpc_param param;
    bool end;
    size_t before = rest->size;
    if (alo_tds_parse_param(rest, &param, &end)) {
      CHECK(rest->size == before);
      return false;
    }
    if (end) {
      return true;
    }
    CHECK(rest->size < before);
    CHECK(!param.null || param.size == 0);
    check_inside(whole, param.name.data, param.name.size);
    check_inside(whole, param.data, param.size);
    CHECK(strcmp(alo_tds_type_name(&param.type), "unknown") != 0);
  }
}

/* PLP values are joined in place, so this has a copy of its own. */
static void check_rpcs(const uint8_t *data, size_t size) {
  uint8_t *copy = malloc(size + 1);
  CHECK(copy);
  memcpy(copy, data, size);
  aloft_bytes whole = {copy, size};
  aloft_bytes rest = whole;
  alo_tds_rpc rpc;
  while (rest.size > 0 && !alo_tds_parse_rpc(rest, &rpc)) {
    check_inside(whole, rpc.name.data, rpc.name.size);
    CHECK(rpc.parameters.size < rest.size);
    if (!check_params(whole, &rpc.parameters)) {
      break;
    }
    rest = rpc.parameters;
  }
  free(copy);
}

static void write_transaction(alo_tds_writer *writer, const alo_tds_transaction *transaction) {
  aloft_text name = transaction->name.size > 0 ? ALOFT_TEXT("name") : ALOFT_TEXT("");
  alo_tds_message_begin(writer, ALO_TDS_TRANSACTION, 0);
  alo_tds_put_transaction(writer, 1, transaction, name);
  CHECK(alo_tds_message_end(writer) == ALOFT_OK);
}

static void check_transaction(aloft_bytes rest) {
  alo_tds_transaction first;
  alo_tds_transaction again;
  uint64_t descriptor;
  alo_buffer buffer;
  alo_tds_writer writer;
  if (alo_tds_parse_transaction(rest, &first)) {
    return;
  }
  check_inside(rest, first.name.data, first.name.size);
  alo_buffer_init(&buffer, &alo_heap_default, OUTPUT_MAX);
  alo_tds_writer_init(&writer, &buffer, ALO_TDS_PACKET_MAX);
  write_transaction(&writer, &first);
  aloft_bytes written = {buffer.data + ALO_TDS_HEADER_SIZE,
                         alo_buffer_size(&buffer) - ALO_TDS_HEADER_SIZE};
  CHECK(!alo_tds_parse_headers(written, &descriptor, &rest) && descriptor == 1);
  CHECK(!alo_tds_parse_transaction(rest, &again));
  CHECK(first.request == again.request && first.begin_after == again.begin_after);
  CHECK(first.isolation == again.isolation);
  CHECK((first.name.size > 0) == (again.name.size > 0));
  alo_buffer_fini(&buffer);
}

/* Any text as the statement; what is not UTF-8 is refused and leaves nothing. */
static void check_batch(aloft_text sql) {
  alo_buffer buffer;
  alo_tds_writer writer;
  alo_buffer_init(&buffer, &alo_heap_default, OUTPUT_MAX);
  alo_tds_writer_init(&writer, &buffer, ALO_TDS_PACKET_MIN);
  alo_tds_message_begin(&writer, ALO_TDS_SQL_BATCH, 0);
  alo_tds_put_batch(&writer, 2, sql);
  aloft_status status = alo_tds_message_end(&writer);
  CHECK((status == ALOFT_OK) == (alo_buffer_size(&buffer) > 0));
  alo_buffer_fini(&buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint64_t transaction;
  aloft_bytes rest;
  check_batch((aloft_text){(const char *)data, size});
  if (!alo_tds_parse_headers((aloft_bytes){data, size}, &transaction, &rest)) {
    check_inside((aloft_bytes){data, size}, rest.data, rest.size);
    check_rpcs(rest.data, rest.size);
    check_transaction(rest);
  }
  return 0;
}
