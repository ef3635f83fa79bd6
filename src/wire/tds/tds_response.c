#include "tds_response.h"

#include "utf16.h"

enum {
  TOKEN_RETURNSTATUS = 0x79,
  TOKEN_COLMETADATA = 0x81,
  TOKEN_TABNAME = 0xA4,
  TOKEN_COLINFO = 0xA5,
  TOKEN_ORDER = 0xA9,
  TOKEN_ERROR = 0xAA,
  TOKEN_INFO = 0xAB,
  TOKEN_RETURNVALUE = 0xAC,
  TOKEN_LOGINACK = 0xAD,
  TOKEN_FEATUREEXTACK = 0xAE,
  TOKEN_ROW = 0xD1,
  TOKEN_NBCROW = 0xD2,
  TOKEN_ENVCHANGE = 0xE3,

  NO_METADATA = 0xFFFF,
  FEATURES_END = 0xFF,
  RETURN_OF_OUTPUT = 0x01,
  ENV_ROUTING = 20
};

/* Bytes of a text in UTF-16 with its count before it. Ill-formed text counts as nothing: the put
 * of it fails the writer. */
static size_t counted_size(aloft_text text, size_t count_size) {
  size_t units = alo_utf8_utf16_count(text.data, text.size);
  return units > UINT16_MAX ? count_size : count_size + 2 * units;
}

/* Token and its 16-bit length. */
static void put_token(alo_tds_writer *writer, uint8_t token, size_t size) {
  if (size > UINT16_MAX) {
    alo_tds_writer_fail(writer, ALOFT_TOO_LARGE);
  }
  alo_tds_put_u8(writer, token);
  alo_tds_put_u16(writer, (uint16_t)size);
}

/* ---- names of tables ---- */

/* The part of a name that ends at its next '.', which moves out of it. */
static aloft_text next_part(aloft_text *name) {
  size_t size = 0;
  while (size < name->size && name->data[size] != '.') {
    size++;
  }
  aloft_text part = {name->data, size};
  size += size < name->size;
  name->data += size;
  name->size -= size;
  return part;
}

static uint8_t count_parts(aloft_text name) {
  uint8_t count = name.size > 0;
  for (size_t at = 0; at < name.size && count < UINT8_MAX; at++) {
    count = (uint8_t)(count + (name.data[at] == '.'));
  }
  return count;
}

static size_t parts_size(aloft_text name) {
  size_t size = 1;
  for (uint8_t left = count_parts(name); left > 0; left--) {
    size += counted_size(next_part(&name), 2);
  }
  return size;
}

static void put_parts(alo_tds_writer *writer, aloft_text name) {
  uint8_t left = count_parts(name);
  alo_tds_put_u8(writer, left);
  for (; left > 0; left--) {
    alo_tds_put_us_varchar(writer, next_part(&name));
  }
}

void alo_tds_put_tabname(alo_tds_writer *writer, const aloft_text *tables, size_t count) {
  size_t size = 0;
  for (size_t at = 0; at < count; at++) {
    size += parts_size(tables[at]);
  }
  put_token(writer, TOKEN_TABNAME, size);
  for (size_t at = 0; at < count; at++) {
    put_parts(writer, tables[at]);
  }
}

void alo_tds_put_colinfo(alo_tds_writer *writer, const alo_tds_out_colinfo *columns, size_t count) {
  size_t size = 3 * count;
  for (size_t at = 0; at < count; at++) {
    size += columns[at].name.size ? counted_size(columns[at].name, 1) : 0;
  }
  put_token(writer, TOKEN_COLINFO, size);
  for (size_t at = 0; at < count; at++) {
    bool named = columns[at].name.size > 0;
    alo_tds_put_u8(writer, columns[at].column);
    alo_tds_put_u8(writer, columns[at].table);
    alo_tds_put_u8(writer,
                   (uint8_t)(columns[at].status | (named ? ALO_TDS_COLINFO_DIFFERENT_NAME : 0)));
    if (named) {
      alo_tds_put_b_varchar(writer, columns[at].name);
    }
  }
}

/* ---- columns and rows ---- */

static void put_column(alo_tds_writer *writer, const alo_tds_out_column *column,
                       const alo_tds_out_origin *origin) {
  alo_tds_put_u32(writer, origin->user_type);
  alo_tds_put_u16(writer, column->flags);
  if (column->type.token == ALO_TDS_UDT) {
    alo_tds_put_udt_type(writer, &column->type, origin->udt);
  } else {
    alo_tds_put_type(writer, &column->type);
  }
  if (alo_tds_type_form(&column->type) == ALO_TDS_FORM_LOB) {
    put_parts(writer, origin->table);
  }
  alo_tds_put_b_varchar(writer, column->name);
}

void alo_tds_put_colmetadata_from(alo_tds_writer *writer, const alo_tds_out_column *columns,
                                  const alo_tds_out_origin *origins, size_t count) {
  static const alo_tds_out_origin none = {.table = {"", 0}};
  if (count >= NO_METADATA) {
    alo_tds_writer_fail(writer, ALOFT_ARGUMENT);
    return;
  }
  alo_tds_put_u8(writer, TOKEN_COLMETADATA);
  alo_tds_put_u16(writer, count == 0 ? NO_METADATA : (uint16_t)count);
  for (size_t i = 0; i < count; i++) {
    put_column(writer, &columns[i], origins ? &origins[i] : &none);
  }
}

void alo_tds_put_colmetadata(alo_tds_writer *writer, const alo_tds_out_column *columns,
                             size_t count) {
  alo_tds_put_colmetadata_from(writer, columns, NULL, count);
}

void alo_tds_put_row(alo_tds_writer *writer) {
  alo_tds_put_u8(writer, TOKEN_ROW);
}

void alo_tds_put_nbcrow(alo_tds_writer *writer, const bool *nulls, size_t count) {
  alo_tds_put_u8(writer, TOKEN_NBCROW);
  for (size_t i = 0; i < count; i += 8) {
    unsigned bits = 0;
    for (size_t bit = 0; bit < 8 && i + bit < count; bit++) {
      bits |= (nulls[i + bit] ? 1u : 0u) << bit;
    }
    alo_tds_put_u8(writer, (uint8_t)bits);
  }
}

void alo_tds_put_done(alo_tds_writer *writer, const alo_tds_done *done) {
  alo_tds_put_u8(writer, done->token);
  alo_tds_put_u16(writer, done->status);
  alo_tds_put_u16(writer, done->command);
  alo_tds_put_u64(writer, done->rows);
}

void alo_tds_put_message(alo_tds_writer *writer, const alo_tds_message *message) {
  size_t numbers = 4 + 1 + 1 + 4; /* number, state, class, line */
  put_token(writer, message->error ? TOKEN_ERROR : TOKEN_INFO,
            numbers + counted_size(message->text, 2) + counted_size(message->server, 1) +
                counted_size(message->procedure, 1));
  alo_tds_put_u32(writer, (uint32_t)message->number);
  alo_tds_put_u8(writer, message->state);
  alo_tds_put_u8(writer, message->severity);
  alo_tds_put_us_varchar(writer, message->text);
  alo_tds_put_b_varchar(writer, message->server);
  alo_tds_put_b_varchar(writer, message->procedure);
  alo_tds_put_u32(writer, message->line);
}

void alo_tds_put_env_text(alo_tds_writer *writer, uint8_t type, aloft_text now, aloft_text before) {
  put_token(writer, TOKEN_ENVCHANGE, 1 + counted_size(now, 1) + counted_size(before, 1));
  alo_tds_put_u8(writer, type);
  alo_tds_put_b_varchar(writer, now);
  alo_tds_put_b_varchar(writer, before);
}

static void put_b_varbyte(alo_tds_writer *writer, aloft_bytes bytes) {
  if (bytes.size > UINT8_MAX) {
    alo_tds_writer_fail(writer, ALOFT_ARGUMENT);
  }
  alo_tds_put_u8(writer, (uint8_t)bytes.size);
  alo_tds_put(writer, bytes.data, bytes.size);
}

void alo_tds_put_env_bytes(alo_tds_writer *writer, uint8_t type, aloft_bytes now,
                           aloft_bytes before) {
  put_token(writer, TOKEN_ENVCHANGE, 1 + 1 + now.size + 1 + before.size);
  alo_tds_put_u8(writer, type);
  put_b_varbyte(writer, now);
  put_b_varbyte(writer, before);
}

void alo_tds_put_env_routing(alo_tds_writer *writer, aloft_text host, uint16_t port) {
  size_t size = 1 + 2 + counted_size(host, 2); /* protocol, port, server */
  put_token(writer, TOKEN_ENVCHANGE, 1 + 2 + size + 2);
  alo_tds_put_u8(writer, ENV_ROUTING);
  alo_tds_put_u16(writer, (uint16_t)size);
  alo_tds_put_u8(writer, 0); /* TCP */
  alo_tds_put_u16(writer, port);
  alo_tds_put_us_varchar(writer, host);
  alo_tds_put_u16(writer, 0); /* no old value */
}

void alo_tds_put_loginack(alo_tds_writer *writer, const alo_tds_loginack *loginack) {
  put_token(writer, TOKEN_LOGINACK, 1 + 4 + counted_size(loginack->program, 1) + 4);
  alo_tds_put_u8(writer, loginack->interface_type);
  for (int shift = 24; shift >= 0; shift -= 8) { /* high byte first, unlike in LOGIN7 */
    alo_tds_put_u8(writer, (uint8_t)(loginack->tds_version >> shift));
  }
  alo_tds_put_b_varchar(writer, loginack->program);
  alo_tds_put(writer, loginack->version, sizeof loginack->version);
}

void alo_tds_put_return_status(alo_tds_writer *writer, int32_t status) {
  alo_tds_put_u8(writer, TOKEN_RETURNSTATUS);
  alo_tds_put_u32(writer, (uint32_t)status);
}

void alo_tds_put_return_value(alo_tds_writer *writer, uint16_t ordinal, aloft_text name,
                              const alo_tds_type *type) {
  alo_tds_put_u8(writer, TOKEN_RETURNVALUE);
  alo_tds_put_u16(writer, ordinal);
  alo_tds_put_b_varchar(writer, name);
  alo_tds_put_u8(writer, RETURN_OF_OUTPUT);
  alo_tds_put_u32(writer, 0); /* UserType */
  alo_tds_put_u16(writer, 0); /* flags */
  alo_tds_put_type(writer, type);
}

void alo_tds_put_order(alo_tds_writer *writer, const uint16_t *columns, size_t count) {
  put_token(writer, TOKEN_ORDER, 2 * count);
  for (size_t i = 0; i < count; i++) {
    alo_tds_put_u16(writer, columns[i]);
  }
}

void alo_tds_put_feature_ack(alo_tds_writer *writer, uint8_t id, aloft_bytes data) {
  if (data.size > UINT16_MAX) {
    alo_tds_writer_fail(writer, ALOFT_TOO_LARGE);
  }
  alo_tds_put_u8(writer, TOKEN_FEATUREEXTACK);
  alo_tds_put_u8(writer, id);
  alo_tds_put_u32(writer, (uint32_t)data.size);
  alo_tds_put(writer, data.data, data.size);
  alo_tds_put_u8(writer, FEATURES_END);
}
