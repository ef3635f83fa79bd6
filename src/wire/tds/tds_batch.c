/* ALL_HEADERS (MS-TDS 2.2.5.3) and SQLBatch (2.2.6.7). */
#include "tds_bytes.h"
#include "tds_request.h"

enum {
  TRANSACTION_DESCRIPTOR = 2,
  TRANSACTION_SIZE = 12,                  /* descriptor and count of outstanding requests */
  HEADER_SIZE = 4 + 2 + TRANSACTION_SIZE, /* with its own length and type */
  ALL_HEADERS_SIZE = 4 + HEADER_SIZE
};

void alo_tds_put_headers(alo_tds_writer *writer, uint64_t transaction) {
  alo_tds_put_u32(writer, ALL_HEADERS_SIZE);
  alo_tds_put_u32(writer, HEADER_SIZE);
  alo_tds_put_u16(writer, TRANSACTION_DESCRIPTOR);
  alo_tds_put_u64(writer, transaction);
  alo_tds_put_u32(writer, 1); /* requests outstanding, without MARS */
}

void alo_tds_put_batch(alo_tds_writer *writer, uint64_t transaction, aloft_text sql) {
  alo_tds_put_headers(writer, transaction);
  alo_tds_put_utf16(writer, sql);
}

static const char *read_header(aloft_bytes *headers, uint64_t *transaction) {
  uint32_t size;
  uint16_t type;
  aloft_bytes data;
  if (!alo_tds_take_u32(headers, &size) || size < 6 || !alo_tds_take_u16(headers, &type) ||
      !alo_tds_take(headers, size - 6, &data)) {
    return "ALL_HEADERS: a header lies outside them";
  }
  if (type != TRANSACTION_DESCRIPTOR) {
    return NULL;
  }
  if (data.size != TRANSACTION_SIZE) {
    return "ALL_HEADERS: the transaction descriptor is not 12 bytes";
  }
  *transaction = alo_tds_little(data.data, 8);
  return NULL;
}

const char *alo_tds_parse_headers(aloft_bytes payload, uint64_t *transaction, aloft_bytes *rest) {
  uint32_t size;
  aloft_bytes headers;
  *transaction = 0;
  *rest = payload;
  if (!alo_tds_take_u32(rest, &size) || size < 4 || !alo_tds_take(rest, size - 4, &headers)) {
    return "ALL_HEADERS: longer than the message";
  }
  while (headers.size > 0) {
    const char *wrong = read_header(&headers, transaction);
    if (wrong) {
      return wrong;
    }
  }
  return NULL;
}
