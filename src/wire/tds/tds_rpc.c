/* RPC requests as a server reads them (MS-TDS 2.2.6.6): the procedure, then parameters, each a
 * name, flags, TYPE_INFO and a value. */
#include <string.h>

#include "tds_bytes.h"
#include "tds_request.h"

enum {
  PROC_ID_SWITCH = 0xFFFF,
  BATCH_FLAG = 0xFF, /* before TDS 7.2, which is refused at login, 0x80: now a length of a name */
  NO_EXEC_FLAG = 0xFE,
  NAME_UNITS_MAX = 128,

  BY_REF_VALUE = 0x01,
  DEFAULT_VALUE = 0x02,
  ENCRYPTED = 0x08,

  TABLE_VALUED = 0xF3,

  TAIL_MAX = 9,    /* bytes of TYPE_INFO of fixed size after the token */
  DECIMAL_MIN = 2, /* bytes: a sign, and one or more of the number */
  DECIMAL_MAX = 17
};

#define PLP_NULL    UINT64_MAX
#define PLP_UNKNOWN (UINT64_MAX - 1)

/* ---- TYPE_INFO ---- */

static bool skip_counted(aloft_bytes *in, size_t count_size) {
  uint64_t units;
  aloft_bytes text;
  return alo_tds_take_number(in, count_size, &units) && alo_tds_take(in, 2 * (size_t)units, &text);
}

/* The names of an xml type's schema: database, owner, collection. */
static bool skip_schema(aloft_bytes *in) {
  return skip_counted(in, 1) && skip_counted(in, 1) && skip_counted(in, 2);
}

/* FreeTDS sends sizes that SQL Server takes and a server does not send: of a decimal as many bytes
 * as its precision needs, of an empty nvarchar one. They become the next larger ones. */
static void round_size_up(uint8_t token, uint8_t *tail) {
  if (token == ALO_TDS_DECIMALN || token == ALO_TDS_NUMERICN) {
    if (tail[0] >= DECIMAL_MIN && tail[0] <= DECIMAL_MAX) {
      tail[0] = (uint8_t)((tail[0] + 2) / 4 * 4 + 1);
    }
  } else if (token == ALO_TDS_NVARCHAR || token == ALO_TDS_NCHAR) {
    unsigned size = (unsigned)tail[0] | (unsigned)tail[1] << 8;
    size += size % 2 != 0 && size != ALO_TDS_MAX_SIZE ? 1 : 0;
    tail[0] = (uint8_t)size;
    tail[1] = (uint8_t)(size >> 8);
  }
}

static const char *read_tail(alo_tds_type *type, uint8_t token, aloft_bytes in) {
  uint8_t tail[TAIL_MAX] = {0};
  if (in.size > 0) {
    memcpy(tail, in.data, in.size < sizeof tail ? in.size : sizeof tail);
  }
  round_size_up(token, tail);
  return alo_tds_type_read(type, token, tail);
}

/* UDT_INFO of a request: no size, and no name of an assembly (2.2.5.5.2). */
static const char *read_udt(aloft_bytes *in, alo_tds_type *type,
                            aloft_bytes names[ALO_TDS_UDT_PARTS]) {
  *type = (alo_tds_type){.token = ALO_TDS_UDT, .size = ALO_TDS_MAX_SIZE};
  for (size_t part = 0; part < ALO_TDS_UDT_PARTS; part++) {
    uint8_t units;
    if (!alo_tds_take_u8(in, &units) || !alo_tds_take(in, 2 * (size_t)units, &names[part])) {
      return "RPC: a type is cut";
    }
    if (units > NAME_UNITS_MAX) {
      return "RPC: a type's name is over 128 characters";
    }
  }
  return NULL;
}

static const char *read_type(aloft_bytes *in, alo_tds_type *type,
                             aloft_bytes names[ALO_TDS_UDT_PARTS]) {
  aloft_bytes rest = *in;
  uint8_t token;
  if (!alo_tds_take_u8(&rest, &token)) {
    return "RPC: a type is cut";
  }
  if (token == TABLE_VALUED) {
    return "RPC: table-valued parameters are not supported";
  }
  if (token == ALO_TDS_UDT) {
    const char *wrong_udt = read_udt(&rest, type, names);
    *in = wrong_udt ? *in : rest;
    return wrong_udt;
  }
  int size = alo_tds_type_tail_size(token);
  aloft_bytes tail = {NULL, 0};
  if (size >= 0 && !alo_tds_take(&rest, (size_t)size, &tail)) {
    return "RPC: a type is cut";
  }
  const char *wrong = read_tail(type, token, tail);
  if (wrong) {
    return wrong;
  }
  if (alo_tds_type_strings(type, tail.data) > 0 && !skip_schema(&rest)) {
    return "RPC: a type is cut";
  }
  *in = rest;
  return NULL;
}

const char *alo_tds_parse_type(aloft_bytes *in, alo_tds_type *type) {
  aloft_bytes names[ALO_TDS_UDT_PARTS];
  return read_type(in, type, names);
}

/* ---- values ---- */

struct value {
  const uint8_t *data;
  size_t size;
  bool null;
};

static bool take_sized(aloft_bytes *in, size_t size, struct value *value) {
  aloft_bytes piece;
  if (!alo_tds_take(in, size, &piece)) {
    return false;
  }
  value->data = piece.data;
  value->size = size;
  return true;
}

static const char *read_fixed(aloft_bytes *in, const alo_tds_type *type, struct value *value) {
  value->null = type->token == ALO_TDS_NULLTYPE;
  return take_sized(in, type->size, value) ? NULL : "RPC: a value is cut";
}

static bool takes_length(const alo_tds_type *type, uint8_t size) {
  if (type->token == ALO_TDS_DECIMALN || type->token == ALO_TDS_NUMERICN) {
    return size >= DECIMAL_MIN && size <= type->size; /* any, as above */
  }
  return size < 32 && (alo_tds_type_lengths(type) >> size & 1) != 0;
}

static const char *read_byte_length(aloft_bytes *in, const alo_tds_type *type,
                                    struct value *value) {
  uint8_t size;
  if (!alo_tds_take_u8(in, &size)) {
    return "RPC: a value is cut";
  }
  value->null = size == 0;
  if (!value->null && !takes_length(type, size)) {
    return "RPC: a value's length is not one of its type";
  }
  return take_sized(in, size, value) ? NULL : "RPC: a value is cut";
}

/* Two or four bytes of length, `null` among them meaning NULL. */
static const char *read_length(aloft_bytes *in, const alo_tds_type *type, size_t length_size,
                               uint32_t null, struct value *value) {
  uint64_t size;
  if (!alo_tds_take_number(in, length_size, &size)) {
    return "RPC: a value is cut";
  }
  value->null = size == null;
  if (value->null) {
    return NULL;
  }
  if (size > type->size) {
    return "RPC: a value is longer than its type";
  }
  return take_sized(in, (size_t)size, value) ? NULL : "RPC: a value is cut";
}

/* The views are const; the payload itself is the caller's and writable, by contract. */
static uint8_t *writable(const uint8_t *bytes) {
  return (uint8_t *)(uintptr_t)bytes;
}

/* Partially length-prefixed data, 2.2.5.2.3: chunks are moved up behind the first one. */
static const char *read_plp(aloft_bytes *in, struct value *value) {
  uint64_t total;
  if (!alo_tds_take_u64(in, &total)) {
    return "RPC: a value is cut";
  }
  value->null = total == PLP_NULL;
  if (value->null) {
    return NULL;
  }
  uint8_t *joined = writable(in->data);
  value->data = joined;
  for (;;) {
    uint32_t size;
    aloft_bytes chunk;
    if (!alo_tds_take_u32(in, &size) || !alo_tds_take(in, size, &chunk)) {
      return "RPC: a large value is cut";
    }
    if (size == 0) {
      return total == PLP_UNKNOWN || total == value->size
                 ? NULL
                 : "RPC: a large value is not as long as it says";
    }
    memmove(joined + value->size, chunk.data, size);
    value->size += size;
  }
}

static const char *read_value(aloft_bytes *in, const alo_tds_type *type, struct value *value) {
  switch (alo_tds_type_form(type)) {
  case ALO_TDS_FORM_FIXED:
    return read_fixed(in, type, value);
  case ALO_TDS_FORM_BYTE:
    return read_byte_length(in, type, value);
  case ALO_TDS_FORM_SHORT:
    return read_length(in, type, 2, UINT16_MAX, value);
  case ALO_TDS_FORM_LONG:
    return read_length(in, type, 4, 0, value);
  case ALO_TDS_FORM_LOB:
    return read_length(in, type, 4, UINT32_MAX, value); /* no pointer here */
  case ALO_TDS_FORM_PLP:
    return read_plp(in, value);
  }
  return "RPC: an unknown type";
}

const char *alo_tds_parse_value(aloft_bytes *in, const alo_tds_type *type, const uint8_t **data,
                                size_t *size, bool *null) {
  aloft_bytes rest = *in;
  struct value value = {0};
  const char *wrong = read_value(&rest, type, &value);
  if (wrong) {
    return wrong;
  }
  if (value.size % 2 != 0 && alo_tds_type_charset(type) == ALO_TDS_CHARSET_UTF16) {
    return "RPC: a text in UTF-16 has an odd length";
  }
  *data = value.null ? NULL : value.data;
  *size = value.size;
  *null = value.null;
  *in = rest;
  return NULL;
}

/* ---- the procedure and its parameters ---- */

const char *alo_tds_parse_rpc(aloft_bytes rest, alo_tds_rpc *rpc) {
  uint16_t units;
  *rpc = (alo_tds_rpc){.parameters = {0}};
  if (!alo_tds_take_u16(&rest, &units)) {
    return "RPC: the procedure is cut";
  }
  if (units == PROC_ID_SWITCH ? !alo_tds_take_u16(&rest, &rpc->procedure)
                              : !alo_tds_take(&rest, 2 * (size_t)units, &rpc->name)) {
    return "RPC: the procedure is cut";
  }
  if (rpc->procedure == 0 && rpc->name.size == 0) {
    return "RPC: the procedure has neither name nor number";
  }
  if (!alo_tds_take_u16(&rest, &rpc->options)) {
    return "RPC: the options are cut";
  }
  rpc->parameters = rest;
  return NULL;
}

/* True when there is no further parameter: `*parameters` is then past the separator. */
static bool at_end(aloft_bytes *parameters) {
  if (parameters->size == 0) {
    return true;
  }
  uint8_t first = alo_tds_bytes_at(*parameters)[0];
  aloft_bytes separator;
  return (first == BATCH_FLAG || first == NO_EXEC_FLAG) && alo_tds_take(parameters, 1, &separator);
}

static const char *read_param_head(aloft_bytes *rest, alo_tds_rpc_param *param) {
  uint8_t units;
  uint8_t flags;
  if (!alo_tds_take_u8(rest, &units)) {
    return "RPC: a parameter is cut";
  }
  if (units > NAME_UNITS_MAX) {
    return "RPC: a parameter's name is over 128 characters";
  }
  if (!alo_tds_take(rest, 2 * (size_t)units, &param->name) || !alo_tds_take_u8(rest, &flags)) {
    return "RPC: a parameter is cut";
  }
  if (flags & ENCRYPTED) {
    return "RPC: encrypted parameters are not supported";
  }
  param->output = (flags & BY_REF_VALUE) != 0;
  param->default_value = (flags & DEFAULT_VALUE) != 0;
  return NULL;
}

const char *alo_tds_parse_param(aloft_bytes *parameters, alo_tds_rpc_param *param, bool *end) {
  *param = (alo_tds_rpc_param){.output = false};
  *end = at_end(parameters);
  if (*end) {
    return NULL;
  }
  aloft_bytes rest = *parameters;
  const char *wrong = read_param_head(&rest, param);
  if (!wrong) {
    wrong = read_type(&rest, &param->type, param->udt);
  }
  if (!wrong) {
    wrong = alo_tds_parse_value(&rest, &param->type, &param->data, &param->size, &param->null);
  }
  if (!wrong) {
    *parameters = rest;
  }
  return wrong;
}
