/* Transaction manager requests, MS-TDS 2.2.6.9. */
#include "tds_bytes.h"
#include "tds_request.h"
#include "utf16.h"

enum { ISOLATION_MAX = 5, BEGIN_AFTER = 0x01 };

/* ---- reading ---- */

static const char *read_name(aloft_bytes *in, alo_tds_transaction *transaction) {
  uint8_t size; /* in bytes, unlike other names */
  if (!alo_tds_take_u8(in, &size) || !alo_tds_take(in, size, &transaction->name)) {
    return "transaction request: the name is cut";
  }
  return size % 2 == 0 ? NULL : "transaction request: the name is not UTF-16";
}

static const char *read_begin(aloft_bytes *in, alo_tds_transaction *transaction) {
  if (!alo_tds_take_u8(in, &transaction->isolation)) {
    return "transaction request: the isolation level is cut";
  }
  if (transaction->isolation > ISOLATION_MAX) {
    return "transaction request: an unknown isolation level";
  }
  return read_name(in, transaction);
}

static const char *read_finish(aloft_bytes *in, alo_tds_transaction *transaction) {
  uint8_t flags;
  const char *wrong = read_name(in, transaction);
  if (wrong) {
    return wrong;
  }
  if (!alo_tds_take_u8(in, &flags)) {
    return "transaction request: the flags are cut";
  }
  transaction->begin_after = (flags & BEGIN_AFTER) != 0;
  if (!transaction->begin_after) {
    return NULL;
  }
  alo_tds_transaction next = {0};
  wrong = read_begin(in, &next);
  transaction->isolation = next.isolation;
  return wrong;
}

static const char *read_save(aloft_bytes *in, alo_tds_transaction *transaction) {
  const char *wrong = read_name(in, transaction);
  if (!wrong && transaction->name.size == 0) {
    return "transaction request: a savepoint without a name";
  }
  return wrong;
}

const char *alo_tds_parse_transaction(aloft_bytes rest, alo_tds_transaction *transaction) {
  *transaction = (alo_tds_transaction){0};
  if (!alo_tds_take_u16(&rest, &transaction->request)) {
    return "transaction request: its kind is cut";
  }
  switch (transaction->request) {
  case ALO_TDS_TM_BEGIN:
    return read_begin(&rest, transaction);
  case ALO_TDS_TM_COMMIT:
  case ALO_TDS_TM_ROLLBACK:
    return read_finish(&rest, transaction);
  case ALO_TDS_TM_SAVE:
    return read_save(&rest, transaction);
  default:
    return "transaction request: only begin, commit, rollback and save are supported";
  }
}

/* ---- writing ---- */

static void put_name(alo_tds_writer *writer, aloft_text name) {
  size_t units = alo_utf8_utf16_count(name.data, name.size);
  if (units > UINT8_MAX / 2) {
    alo_tds_writer_fail(writer, ALOFT_ARGUMENT);
    return;
  }
  alo_tds_put_u8(writer, (uint8_t)(2 * units));
  alo_tds_put_utf16(writer, name);
}

void alo_tds_put_transaction(alo_tds_writer *writer, uint64_t transaction,
                             const alo_tds_transaction *request, aloft_text name) {
  bool begins = request->request == ALO_TDS_TM_BEGIN;
  bool saves = request->request == ALO_TDS_TM_SAVE;
  alo_tds_put_headers(writer, transaction);
  alo_tds_put_u16(writer, request->request);
  if (begins) {
    alo_tds_put_u8(writer, request->isolation);
  }
  put_name(writer, name);
  if (begins || saves) {
    return;
  }
  alo_tds_put_u8(writer, request->begin_after ? BEGIN_AFTER : 0);
  if (request->begin_after) {
    alo_tds_put_u8(writer, request->isolation);
    alo_tds_put_u8(writer, 0); /* the next one has no name */
  }
}
