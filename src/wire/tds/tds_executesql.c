/* The RPC request of sp_executesql, as a client sends it (MS-TDS 2.2.6.6). */
#include <string.h>

#include "tds_request.h"
#include "utf16.h"

enum {
  UNITS_MAX = 4000,     /* of nvarchar(n), in UTF-16 units */
  BYTES_MAX = 8000,     /* of varbinary(n) */
  NAME_UNITS_MAX = 127, /* without "@" */
  PRECISION_MAX = 38
};

/* ---- the wire type of a parameter ---- */

static aloft_status type_of_decimal(const aloft_tds_param *param, alo_tds_type *type) {
  const aloft_tds_decimal *value = &param->value.decimal;
  type->token = param->type == ALOFT_TDS_NUMERIC ? ALO_TDS_NUMERICN : ALO_TDS_DECIMALN;
  type->precision = value->precision ? value->precision : PRECISION_MAX;
  type->scale = value->scale;
  return type->precision <= PRECISION_MAX && type->scale <= type->precision ? ALOFT_OK
                                                                            : ALOFT_ARGUMENT;
}

static aloft_status type_of_text(const aloft_tds_param *param, alo_tds_type *type) {
  const aloft_text *text = &param->value.text;
  size_t units = param->null ? 0 : alo_utf8_utf16_count(text->data, text->size);
  type->token = ALO_TDS_NVARCHAR;
  type->size = units <= UNITS_MAX ? 2 * UNITS_MAX : ALO_TDS_MAX_SIZE;
  memcpy(type->collation, alo_tds_collation_default, sizeof type->collation);
  return units == SIZE_MAX ? ALOFT_ARGUMENT : ALOFT_OK;
}

static aloft_status type_of_bytes(const aloft_tds_param *param, alo_tds_type *type) {
  bool large = !param->null && param->value.bytes.size > BYTES_MAX;
  *type =
      (alo_tds_type){.token = ALO_TDS_BIGVARBINARY, .size = large ? ALO_TDS_MAX_SIZE : BYTES_MAX};
  return ALOFT_OK;
}

static aloft_status type_of_time(const aloft_tds_param *param, uint8_t token, alo_tds_type *type) {
  *type = (alo_tds_type){.token = token, .scale = param->scale};
  return param->scale <= 7 ? ALOFT_OK : ALOFT_ARGUMENT;
}

static aloft_status sized(uint8_t token, uint32_t size, alo_tds_type *type) {
  *type = (alo_tds_type){.token = token, .size = size};
  return ALOFT_OK;
}

static aloft_status type_of(const aloft_tds_param *param, alo_tds_type *type) {
  *type = (alo_tds_type){0};
  switch (param->type) {
  case ALOFT_TDS_BIT:
    return sized(ALO_TDS_BITN, 1, type);
  case ALOFT_TDS_TINYINT:
    return sized(ALO_TDS_INTN, 1, type);
  case ALOFT_TDS_SMALLINT:
    return sized(ALO_TDS_INTN, 2, type);
  case ALOFT_TDS_INT:
    return sized(ALO_TDS_INTN, 4, type);
  case ALOFT_TDS_BIGINT:
    return sized(ALO_TDS_INTN, 8, type);
  case ALOFT_TDS_REAL:
    return sized(ALO_TDS_FLTN, 4, type);
  case ALOFT_TDS_FLOAT:
    return sized(ALO_TDS_FLTN, 8, type);
  case ALOFT_TDS_DECIMAL:
  case ALOFT_TDS_NUMERIC:
    return type_of_decimal(param, type);
  case ALOFT_TDS_CHAR:
  case ALOFT_TDS_VARCHAR:
  case ALOFT_TDS_NCHAR:
  case ALOFT_TDS_NVARCHAR:
    return type_of_text(param, type);
  case ALOFT_TDS_BINARY:
  case ALOFT_TDS_VARBINARY:
    return type_of_bytes(param, type);
  case ALOFT_TDS_DATE:
    return sized(ALO_TDS_DATEN, 0, type);
  case ALOFT_TDS_SMALLDATETIME:
    return sized(ALO_TDS_DATETIMN, 4, type);
  case ALOFT_TDS_DATETIME:
    return sized(ALO_TDS_DATETIMN, 8, type);
  case ALOFT_TDS_TIME:
    return type_of_time(param, ALO_TDS_TIMEN, type);
  case ALOFT_TDS_DATETIME2:
    return type_of_time(param, ALO_TDS_DATETIME2N, type);
  case ALOFT_TDS_DATETIMEOFFSET:
    return type_of_time(param, ALO_TDS_DATETIMEOFFSETN, type);
  case ALOFT_TDS_UNIQUEIDENTIFIER:
    return sized(ALO_TDS_GUID, 16, type);
  default:
    return ALOFT_UNSUPPORTED;
  }
}

/* ---- declarations: "@a int,@b nvarchar(4000)" ---- */

enum { DECLARED_MAX = 32 }; /* of a type, "datetimeoffset(7)" is the longest kind */

struct declared {
  char text[DECLARED_MAX];
  size_t size;
};

static void add(struct declared *declared, const char *text) {
  size_t size = strlen(text);
  memcpy(declared->text + declared->size, text, size);
  declared->size += size;
}

/* At most two digits. */
static void add_number(struct declared *declared, unsigned number) {
  if (number >= 10) {
    declared->text[declared->size++] = (char)('0' + number / 10);
  }
  declared->text[declared->size++] = (char)('0' + number % 10);
}

static void add_arguments(struct declared *declared, const alo_tds_type *type) {
  switch (type->token) {
  case ALO_TDS_DECIMALN:
  case ALO_TDS_NUMERICN:
    add(declared, "(");
    add_number(declared, type->precision);
    add(declared, ",");
    add_number(declared, type->scale);
    add(declared, ")");
    return;
  case ALO_TDS_TIMEN:
  case ALO_TDS_DATETIME2N:
  case ALO_TDS_DATETIMEOFFSETN:
    add(declared, "(");
    add_number(declared, type->scale);
    add(declared, ")");
    return;
  case ALO_TDS_NVARCHAR:
    add(declared, type->size == ALO_TDS_MAX_SIZE ? "" : "(4000)");
    return;
  case ALO_TDS_BIGVARBINARY:
    add(declared, type->size == ALO_TDS_MAX_SIZE ? "" : "(8000)");
    return;
  default:
    return;
  }
}

static struct declared declare(const alo_tds_type *type) {
  struct declared declared = {.size = 0};
  add(&declared, alo_tds_type_name(type)); /* "(max)" is in the name */
  add_arguments(&declared, type);
  return declared;
}

static aloft_text bare_name(const aloft_tds_param *param) {
  aloft_text name = param->name;
  if (name.size > 0 && name.data[0] == '@') {
    name.data++;
    name.size--;
  }
  return name;
}

/* The name goes into SQL, so nothing may end it early. Outside ASCII every character may stand in
 * a T-SQL name or is refused by the server; none of them separates. */
static bool name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '@' || c == '$' || c == '#' || (uint8_t)c >= 0x80;
}

static bool name_is_valid(aloft_text name) {
  for (size_t i = 0; i < name.size; i++) {
    if (!name_character(name.data[i])) {
      return false;
    }
  }
  return name.size > 0 && alo_utf8_utf16_count(name.data, name.size) <= NAME_UNITS_MAX;
}

/* UTF-16 units of all declarations; finds the parameter that cannot be sent. */
static aloft_status measure(const aloft_tds_param *params, size_t count, size_t *units,
                            size_t *bad) {
  *units = 0;
  for (size_t i = 0; i < count; i++) {
    alo_tds_type type;
    aloft_text name = bare_name(&params[i]);
    aloft_status status = name_is_valid(name) ? type_of(&params[i], &type) : ALOFT_ARGUMENT;
    if (status != ALOFT_OK) {
      *bad = i;
      return status;
    }
    size_t separators = i > 0 ? 3 : 2; /* , @ and a blank */
    *units += separators + alo_utf8_utf16_count(name.data, name.size) + declare(&type).size;
  }
  return ALOFT_OK;
}

static void put_declaration(alo_tds_writer *writer, const aloft_tds_param *param, bool first) {
  alo_tds_type type;
  (void)type_of(param, &type);
  struct declared declared = declare(&type);
  alo_tds_put_utf16(writer, first ? ALOFT_TEXT("@") : ALOFT_TEXT(",@"));
  alo_tds_put_utf16(writer, bare_name(param));
  alo_tds_put_utf16(writer, ALOFT_TEXT(" "));
  alo_tds_put_utf16(writer, (aloft_text){declared.text, declared.size});
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
    put_declaration(writer, &params[i], i == 0);
  }
  if (large) {
    alo_tds_put_u32(writer, 0);
  }
}

/* ---- values ---- */

static void put_value(alo_tds_writer *writer, const alo_tds_type *type,
                      const aloft_tds_param *param) {
  if (param->null) {
    alo_tds_put_null(writer, type);
    return;
  }
  switch (type->token) {
  case ALO_TDS_BITN:
  case ALO_TDS_INTN:
    alo_tds_put_int64(writer, type, param->value.integer);
    return;
  case ALO_TDS_FLTN:
    alo_tds_put_double(writer, type, param->value.real);
    return;
  case ALO_TDS_DECIMALN:
  case ALO_TDS_NUMERICN:
    alo_tds_put_decimal(writer, type, &param->value.decimal);
    return;
  case ALO_TDS_NVARCHAR:
    alo_tds_put_text(writer, type, param->value.text);
    return;
  case ALO_TDS_BIGVARBINARY:
    alo_tds_put_bytes(writer, type, param->value.bytes);
    return;
  case ALO_TDS_GUID:
    alo_tds_put_uuid(writer, type, &param->value.uuid);
    return;
  default:
    alo_tds_put_moment(writer, type, &param->value.moment);
  }
}

static void put_param(alo_tds_writer *writer, const aloft_tds_param *param) {
  alo_tds_type type;
  aloft_text name = bare_name(param);
  (void)type_of(param, &type);
  alo_tds_put_u8(writer, (uint8_t)(1 + alo_utf8_utf16_count(name.data, name.size)));
  alo_tds_put_utf16(writer, ALOFT_TEXT("@"));
  alo_tds_put_utf16(writer, name);
  alo_tds_put_u8(writer, 0); /* status flags */
  alo_tds_put_type(writer, &type);
  put_value(writer, &type, param);
}

static void put_params(alo_tds_writer *writer, const aloft_tds_param *params, size_t count,
                       size_t *bad) {
  for (size_t i = 0; i < count && writer->failed == ALOFT_OK; i++) {
    put_param(writer, &params[i]);
    if (writer->failed != ALOFT_OK && writer->failed != ALOFT_FULL &&
        writer->failed != ALOFT_NO_MEMORY) {
      *bad = i;
    }
  }
}

void alo_tds_put_executesql(alo_tds_writer *writer, uint64_t transaction, aloft_text sql,
                            const aloft_tds_param *params, size_t count, size_t *bad) {
  size_t ignored;
  size_t units;
  bad = bad ? bad : &ignored;
  *bad = count;
  aloft_status status = measure(params, count, &units, bad);
  if (status != ALOFT_OK) {
    alo_tds_writer_fail(writer, status);
    return;
  }
  alo_tds_put_headers(writer, transaction);
  alo_tds_put_u16(writer, UINT16_MAX); /* ProcIDSwitch */
  alo_tds_put_u16(writer, ALO_TDS_SP_EXECUTESQL);
  alo_tds_put_u16(writer, 0); /* option flags */
  put_statement(writer, sql);
  if (count > 0) {
    put_declarations(writer, params, count, units);
    put_params(writer, params, count, bad);
  }
}
