/* RPC requests as a client sends them (MS-TDS 2.2.6.6): sp_executesql, and procedures by name. */
#include <string.h>

#include "tds_param.h"
#include "tds_request.h"
#include "utf16.h"

enum { UNITS_MAX = 4000 }; /* of nvarchar(n), in UTF-16 units */

static const alo_tds_param_way in_sql = {.collation = alo_tds_collation_default};

/* ---- declarations: "@a int,@b nvarchar(4000) OUTPUT" ---- */

/* The first parameter that cannot be sent fails the writer. */
static bool check(alo_tds_writer *writer, const alo_tds_param_way *way,
                  const aloft_tds_param *params, size_t count, alo_tds_bad_param *bad) {
  for (size_t i = 0; i < count; i++) {
    alo_tds_param_type of;
    aloft_status status;
    const char *why = alo_tds_param_check(writer, &params[i], way, &of, &status);
    if (why) {
      *bad = (alo_tds_bad_param){i, why};
      alo_tds_writer_fail(writer, status);
      return false;
    }
  }
  return true;
}

/* Of one that has been checked. */
static alo_tds_param_type type_of(alo_tds_writer *writer, const alo_tds_param_way *way,
                                  const aloft_tds_param *param) {
  alo_tds_param_type of;
  aloft_status status;
  (void)alo_tds_param_check(writer, param, way, &of, &status);
  return of;
}

/* UTF-16 units of all declarations. */
static size_t measure(alo_tds_writer *writer, const aloft_tds_param *params, size_t count) {
  size_t units = count - 1; /* commas */
  for (size_t i = 0; i < count; i++) {
    alo_tds_param_type of = type_of(writer, &in_sql, &params[i]);
    units += alo_tds_param_declare(NULL, &params[i], &of);
  }
  return units;
}

/* ---- the parameters of sp_executesql itself ---- */

/* The head of an unnamed text of that many units, up to its first byte; true for PLP, which has an
 * end too. */
static bool put_text_head(alo_tds_writer *writer, size_t units) {
  bool large = units > UNITS_MAX;
  alo_tds_type type = {.token = ALO_TDS_NVARCHAR, .size = large ? ALO_TDS_MAX_SIZE : 2 * UNITS_MAX};
  memcpy(type.collation, alo_tds_collation_default, sizeof type.collation);
  alo_tds_put_u8(writer, 0); /* no name */
  alo_tds_put_u8(writer, 0); /* status flags */
  alo_tds_put_type(writer, &type);
  if (large) {
    alo_tds_put_u64(writer, 2 * (uint64_t)units);
    alo_tds_put_u32(writer, (uint32_t)(2 * units));
  } else {
    alo_tds_put_u16(writer, (uint16_t)(2 * units));
  }
  return large;
}

static void put_statement(alo_tds_writer *writer, aloft_text sql) {
  size_t units = alo_utf8_utf16_count(sql.data, sql.size);
  if (units > INT32_MAX / 2) {
    alo_tds_writer_fail(writer, units == SIZE_MAX ? ALOFT_ARGUMENT : ALOFT_TOO_LARGE);
    return;
  }
  bool large = put_text_head(writer, units);
  alo_tds_put_utf16(writer, sql);
  if (large) {
    alo_tds_put_u32(writer, 0);
  }
}

static void put_declarations(alo_tds_writer *writer, const aloft_tds_param *params, size_t count,
                             size_t units) {
  bool large = put_text_head(writer, units);
  for (size_t i = 0; i < count; i++) {
    alo_tds_param_type of = type_of(writer, &in_sql, &params[i]);
    if (i > 0) {
      alo_tds_put_utf16(writer, ALOFT_TEXT(","));
    }
    (void)alo_tds_param_declare(writer, &params[i], &of);
  }
  if (large) {
    alo_tds_put_u32(writer, 0);
  }
}

/* ---- the requests ---- */

static void put_params(alo_tds_writer *writer, const alo_tds_param_way *way,
                       const aloft_tds_param *params, size_t count, alo_tds_bad_param *bad) {
  for (size_t i = 0; i < count && writer->failed == ALOFT_OK; i++) {
    alo_tds_param_type of = type_of(writer, way, &params[i]);
    alo_tds_put_param(writer, &params[i], &of);
    const char *why = alo_tds_param_failed(&params[i], writer->failed);
    if (why) {
      *bad = (alo_tds_bad_param){i, why};
    }
  }
}

void alo_tds_put_executesql(alo_tds_writer *writer, uint64_t transaction, aloft_text sql,
                            const aloft_tds_param *params, size_t count, alo_tds_bad_param *bad) {
  *bad = (alo_tds_bad_param){count, NULL};
  if (!check(writer, &in_sql, params, count, bad)) {
    return;
  }
  alo_tds_put_headers(writer, transaction);
  alo_tds_put_u16(writer, UINT16_MAX); /* ProcIDSwitch */
  alo_tds_put_u16(writer, ALO_TDS_SP_EXECUTESQL);
  alo_tds_put_u16(writer, 0); /* option flags */
  put_statement(writer, sql);
  if (count > 0) {
    put_declarations(writer, params, count, measure(writer, params, count));
    put_params(writer, &in_sql, params, count, bad);
  }
}

void alo_tds_put_call(alo_tds_writer *writer, uint64_t transaction, aloft_text procedure,
                      const alo_tds_server *server, const aloft_tds_param *params, size_t count,
                      alo_tds_bad_param *bad) {
  const alo_tds_param_way by_name = {
      .by_name = true, .json = server->json, .collation = server->collation};
  *bad = (alo_tds_bad_param){count, alo_tds_check_procedure(procedure)};
  if (bad->why) {
    alo_tds_writer_fail(writer, ALOFT_ARGUMENT);
    return;
  }
  if (!check(writer, &by_name, params, count, bad)) {
    return;
  }
  alo_tds_put_headers(writer, transaction);
  alo_tds_put_us_varchar(writer, procedure);
  alo_tds_put_u16(writer, 0); /* option flags */
  put_params(writer, &by_name, params, count, bad);
}
