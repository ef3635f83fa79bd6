/* Any bytes as a batch, an RPC and a transaction request: each view lies inside, and what is read
 * well can be written anew and read again. And any bytes as what a caller gives: a procedure's name
 * and a parameter; what is written of them is read again. */
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

/* ---- calls ---- */

static void read_call(const alo_buffer *buffer, const aloft_tds_param *param) {
  uint64_t transaction;
  aloft_bytes rest;
  alo_tds_rpc rpc;
  alo_tds_rpc_param got;
  bool end;
  aloft_bytes whole = {buffer->data + ALO_TDS_HEADER_SIZE,
                       alo_buffer_size(buffer) - ALO_TDS_HEADER_SIZE};
  CHECK(!alo_tds_parse_headers(whole, &transaction, &rest) && transaction == 3);
  CHECK(!alo_tds_parse_rpc(rest, &rpc) && rpc.procedure == 0 && rpc.name.size <= 1046);
  CHECK(!alo_tds_parse_param(&rpc.parameters, &got, &end) && !end);
  CHECK(got.output == param->output && got.default_value == param->by_default);
  CHECK(got.null || !(param->null || param->by_default));
  CHECK(!alo_tds_parse_param(&rpc.parameters, &got, &end) && end && rpc.parameters.size == 0);
}

/* What is refused leaves nothing, and says why. */
static void write_call(aloft_text procedure, const aloft_tds_param *param, bool knows) {
  const alo_tds_server server = {.collation = knows ? alo_tds_collation_default : NULL,
                                 .json = knows};
  alo_tds_bad_param bad;
  alo_buffer buffer;
  alo_tds_writer writer;
  alo_buffer_init(&buffer, &alo_heap_default, OUTPUT_MAX);
  alo_tds_writer_init(&writer, &buffer, ALO_TDS_PACKET_MAX);
  alo_tds_message_begin(&writer, ALO_TDS_RPC, 0);
  alo_tds_put_call(&writer, 3, procedure, &server, param, 1, &bad);
  aloft_status status = alo_tds_message_end(&writer);
  CHECK((status == ALOFT_OK) == (alo_buffer_size(&buffer) > 0));
  CHECK((status == ALOFT_OK) == (bad.index == 1 && !bad.why) || status == ALOFT_FULL);
  if (status == ALOFT_OK && alo_buffer_size(&buffer) <= ALO_TDS_PACKET_MAX) {
    read_call(&buffer, param);
  }
  alo_tds_message_begin(&writer, ALO_TDS_RPC, 0);
  alo_tds_put_executesql(&writer, 3, ALOFT_TEXT("SELECT 1"), param, 1, &bad);
  status = alo_tds_message_end(&writer);
  CHECK(status == ALOFT_OK || bad.index == 0 || status == ALOFT_FULL);
  alo_buffer_fini(&buffer);
}

/* The bytes of it, but for the one that has to be 0 or 1. */
static void give_decimal(aloft_tds_decimal *decimal, const char *data, size_t size) {
  uint8_t bytes[19] = {0};
  memcpy(bytes, data, size < sizeof bytes ? size : sizeof bytes);
  memcpy(&decimal->low, bytes, 8);
  memcpy(&decimal->high, bytes + 8, 8);
  decimal->precision = bytes[16];
  decimal->scale = bytes[17];
  decimal->negative = bytes[18] & 1;
}

/* The member of `value` that the type reads. */
static void give_value(aloft_tds_param *param, const char *data, size_t size) {
  bool is_text = (param->type >= ALOFT_TDS_CHAR && param->type <= ALOFT_TDS_NVARCHAR) ||
                 param->type == ALOFT_TDS_TEXT || param->type == ALOFT_TDS_NTEXT ||
                 param->type == ALOFT_TDS_XML || param->type == ALOFT_TDS_JSON;
  bool is_bytes = param->type == ALOFT_TDS_BINARY || param->type == ALOFT_TDS_VARBINARY ||
                  param->type == ALOFT_TDS_IMAGE || param->type == ALOFT_TDS_UDT ||
                  param->type == ALOFT_TDS_ROWVERSION;
  if (is_text) {
    param->value.text = (aloft_text){data, size};
  } else if (is_bytes) {
    param->value.bytes = (aloft_bytes){data, size};
  } else if (param->type >= ALOFT_TDS_DECIMAL && param->type <= ALOFT_TDS_MONEY) {
    give_decimal(&param->value.decimal, data, size);
  } else if (param->type != ALOFT_TDS_VARIANT) {
    memcpy(&param->value, data, size < sizeof param->value ? size : sizeof param->value);
  }
}

/* A byte each of the type, flags, the held type, size, scale and of lengths; then the texts. */
static void check_call(const uint8_t *data, size_t size) {
  enum { HEAD = 7 };
  const char *texts = (const char *)data + HEAD;
  if (size < HEAD) {
    return;
  }
  size_t name = data[5] < size - HEAD ? data[5] : size - HEAD;
  size_t udt = data[6] < size - HEAD - name ? data[6] : size - HEAD - name;
  aloft_tds_param held = {.type = (aloft_tds_type)(data[2] % 64)};
  aloft_tds_param param = {.type = (aloft_tds_type)(data[0] % 64),
                           .null = data[1] & 1,
                           .output = data[1] & 2,
                           .by_default = data[1] & 4,
                           .size = data[3] * 40u,
                           .scale = data[4] % 16};
  param.name = data[1] & 8 ? (aloft_text){texts, name} : ALOFT_TEXT("@p");
  param.udt_name = (aloft_text){texts + name, udt};
  give_value(&held, texts + name + udt, size - HEAD - name - udt);
  give_value(&param, texts + name + udt, size - HEAD - name - udt);
  if (param.type == ALOFT_TDS_VARIANT) {
    param.value.variant = data[1] & 16 ? &held : NULL;
  }
  if (held.type == ALOFT_TDS_VARIANT) {
    held.value.variant = NULL;
  }
  write_call(data[1] & 32 ? (aloft_text){texts, name} : ALOFT_TEXT("[a].p"), &param, data[1] & 64);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  uint64_t transaction;
  aloft_bytes rest;
  check_batch((aloft_text){(const char *)data, size});
  check_call(data, size);
  if (!alo_tds_parse_headers((aloft_bytes){data, size}, &transaction, &rest)) {
    check_inside((aloft_bytes){data, size}, rest.data, rest.size);
    check_rpcs(rest.data, rest.size);
    check_transaction(rest);
  }
  return 0;
}
