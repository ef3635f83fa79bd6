/* LOGIN7, MS-TDS 2.2.6.4: fixed fields, a table of offsets and lengths, then the texts. */
#include "tds_bytes.h"
#include "tds_request.h"
#include "utf16.h"

enum {
  FIXED_SIZE = 36, /* before the table */
  TABLE_END = 94,
  CLIENT_ID_SIZE = 6,
  UNITS_MAX = 128,
  ATTACH_UNITS_MAX = 260,
  LENGTH_MAX = 128 * 1024 - 1,
  TDS_7_4 = 0x74000000,

  /* Where the table keeps the offset of each; its length is two bytes later. */
  AT_HOST = 36,
  AT_USER = 40,
  AT_PASSWORD = 44,
  AT_APPLICATION = 48,
  AT_SERVER = 52,
  AT_EXTENSION = 56,
  AT_LIBRARY = 60,
  AT_LANGUAGE = 64,
  AT_DATABASE = 68,
  AT_SSPI = 78,
  AT_ATTACH_FILE = 82,
  AT_NEW_PASSWORD = 86,

  FEDAUTH = 0x02,
  FEATURES_END = 0xFF,

  BIG_ENDIAN_CLIENT = 0x01, /* option_flags1: fByteOrder, fChar, fFloat */
  EBCDIC_CLIENT = 0x02,
  OTHER_FLOATS = 0x0C
};

/* One text field: where it stands in the table and in the struct. In the order of the data. */
struct field {
  uint8_t at;
  bool secret;
  uint16_t units_max;
  size_t member;
};

#define FIELD(at, secret, max, member)                                                             \
  { at, secret, max, offsetof(alo_tds_login, member) }

enum { FIELDS = 10, FIELDS_BEFORE_EXTENSION = 5 };

static const struct field fields[FIELDS] = {
    FIELD(AT_HOST, false, UNITS_MAX, host),
    FIELD(AT_USER, false, UNITS_MAX, user),
    FIELD(AT_PASSWORD, true, UNITS_MAX, password),
    FIELD(AT_APPLICATION, false, UNITS_MAX, application),
    FIELD(AT_SERVER, false, UNITS_MAX, server),
    FIELD(AT_LIBRARY, false, UNITS_MAX, library),
    FIELD(AT_LANGUAGE, false, UNITS_MAX, language),
    FIELD(AT_DATABASE, false, UNITS_MAX, database),
    FIELD(AT_ATTACH_FILE, false, ATTACH_UNITS_MAX, attach_file),
    FIELD(AT_NEW_PASSWORD, true, UNITS_MAX, new_password),
};

/* Through a volatile pointer, so that it is not left out as without effect. */
static void wipe(void *memory, size_t size) {
  volatile uint8_t *bytes = memory;
  for (size_t i = 0; i < size; i++) {
    bytes[i] = 0;
  }
}

static uint8_t swap_nibbles(uint8_t byte) {
  return (uint8_t)(byte << 4 | byte >> 4);
}

/* ---- writing ---- */

static const aloft_text *text_of(const alo_tds_login *login, const struct field *field) {
  return (const aloft_text *)(const void *)((const char *)login + field->member);
}

/* UTF-16 units of each field, or false when one is too long or not UTF-8. */
static bool measure(const alo_tds_login *login, size_t units[FIELDS]) {
  for (size_t i = 0; i < FIELDS; i++) {
    const aloft_text *text = text_of(login, &fields[i]);
    units[i] = alo_utf8_utf16_count(text->data, text->size);
    if (units[i] > fields[i].units_max) {
      return false;
    }
  }
  return true;
}

static bool has_features(const alo_tds_login *login) {
  return login->utf8_feature || login->json_feature;
}

static size_t features_size(const alo_tds_login *login) {
  size_t end = has_features(login) ? 1 : 0;
  return (login->utf8_feature ? 5 : 0) + (login->json_feature ? 6 : (size_t)0) + end;
}

static void put_fixed(alo_tds_writer *writer, const alo_tds_login *login, size_t length) {
  uint8_t flags1 = ALO_TDS_USE_DB | ALO_TDS_INIT_DB_FATAL | ALO_TDS_SET_LANG;
  uint8_t flags2 = ALO_TDS_INIT_LANG_FATAL | ALO_TDS_ODBC;
  uint8_t flags3 = (uint8_t)((has_features(login) ? ALO_TDS_EXTENSION : 0) |
                             (login->new_password.size > 0 ? ALO_TDS_CHANGE_PASSWORD : 0));
  alo_tds_put_u32(writer, (uint32_t)length);
  alo_tds_put_u32(writer, login->tds_version ? login->tds_version : ALO_TDS_VERSION_7_4);
  alo_tds_put_u32(writer, login->packet_size ? login->packet_size : ALO_TDS_PACKET_DEFAULT);
  alo_tds_put_u32(writer, 0); /* ClientProgVer */
  alo_tds_put_u32(writer, login->client_pid);
  alo_tds_put_u32(writer, 0); /* ConnectionID */
  alo_tds_put_u8(writer, login->option_flags1 | flags1);
  alo_tds_put_u8(writer, login->option_flags2 | flags2);
  alo_tds_put_u8(writer, login->type_flags);
  alo_tds_put_u8(writer, login->option_flags3 | flags3);
  alo_tds_put_u32(writer, 0); /* ClientTimeZone, not used by servers */
  alo_tds_put_u32(writer, login->lcid);
}

static void put_entry(alo_tds_writer *writer, size_t *offset, size_t count, size_t size) {
  alo_tds_put_u16(writer, (uint16_t)*offset);
  alo_tds_put_u16(writer, (uint16_t)count);
  *offset += size;
}

static void put_table(alo_tds_writer *writer, const size_t units[FIELDS], bool extension) {
  static const uint8_t client_id[CLIENT_ID_SIZE] = {0};
  size_t offset = TABLE_END;
  for (size_t i = 0; i < FIELDS; i++) {
    if (fields[i].at == AT_LIBRARY) {
      put_entry(writer, &offset, extension ? 4 : 0, extension ? 4 : 0);
    }
    if (fields[i].at == AT_ATTACH_FILE) {
      alo_tds_put(writer, client_id, sizeof client_id);
      put_entry(writer, &offset, 0, 0); /* SSPI */
    }
    put_entry(writer, &offset, units[i], 2 * units[i]);
  }
  alo_tds_put_u32(writer, 0); /* cbSSPILong */
}

/* "Swap the four high bits with the four low bits, then XOR with 0xA5." */
static void put_secret(alo_tds_writer *writer, aloft_text text) {
  uint8_t bytes[2 * 3 * UNITS_MAX]; /* a unit is at most 3 bytes of UTF-8 */
  if (text.size > sizeof bytes / 2) {
    alo_tds_writer_fail(writer, ALOFT_ARGUMENT);
    return;
  }
  size_t size = alo_utf8_to_utf16(text.data, text.size, bytes);
  for (size_t i = 0; i < size; i++) {
    bytes[i] = swap_nibbles(bytes[i]) ^ 0xA5;
  }
  alo_tds_put(writer, bytes, size);
  wipe(bytes, sizeof bytes);
}

static void put_texts(alo_tds_writer *writer, const alo_tds_login *login, size_t features_at) {
  for (size_t i = 0; i < FIELDS; i++) {
    if (i == FIELDS_BEFORE_EXTENSION && has_features(login)) {
      alo_tds_put_u32(writer, (uint32_t)features_at);
    }
    const aloft_text *text = text_of(login, &fields[i]);
    if (fields[i].secret) {
      put_secret(writer, *text);
    } else {
      alo_tds_put_utf16(writer, *text);
    }
  }
}

static void put_features(alo_tds_writer *writer, const alo_tds_login *login) {
  if (login->utf8_feature) {
    alo_tds_put_u8(writer, ALO_TDS_FEATURE_UTF8);
    alo_tds_put_u32(writer, 0); /* a request of it carries no data */
  }
  if (login->json_feature) {
    alo_tds_put_u8(writer, ALO_TDS_FEATURE_JSON);
    alo_tds_put_u32(writer, 1);
    alo_tds_put_u8(writer, login->json_feature);
  }
  if (has_features(login)) {
    alo_tds_put_u8(writer, FEATURES_END);
  }
}

void alo_tds_put_login(alo_tds_writer *writer, const alo_tds_login *login) {
  size_t units[FIELDS];
  size_t features_at = TABLE_END + (has_features(login) ? 4 : 0);
  if (!measure(login, units)) {
    alo_tds_writer_fail(writer, ALOFT_ARGUMENT);
    return;
  }
  for (size_t i = 0; i < FIELDS; i++) {
    features_at += 2 * units[i];
  }
  put_fixed(writer, login, features_at + features_size(login));
  put_table(writer, units, has_features(login));
  put_texts(writer, login, features_at);
  put_features(writer, login);
}

/* ---- reading ---- */

typedef struct text_memory {
  char *at;
  size_t room;
} text_memory;

static uint32_t number_at(aloft_bytes payload, size_t at, size_t size) {
  return (uint32_t)alo_tds_little(alo_tds_bytes_at(payload) + at, size);
}

/* Decodes into the memory; false when it does not fit or is not UTF-16. */
static bool keep_text(text_memory *memory, const uint8_t *units, size_t size, aloft_text *text) {
  if (ALO_UTF8_ROOM(size) > memory->room) {
    return false;
  }
  alo_utf16_cut cut = {0};
  size_t broken = 0;
  text->data = memory->at;
  text->size = alo_utf16_to_utf8(&cut, units, size, true, memory->at, &broken);
  memory->at += text->size;
  memory->room -= text->size;
  return broken == 0;
}

static bool keep_secret(text_memory *memory, const uint8_t *units, size_t size, aloft_text *text) {
  uint8_t bytes[2 * UNITS_MAX];
  for (size_t i = 0; i < size; i++) {
    bytes[i] = swap_nibbles(units[i] ^ 0xA5);
  }
  bool kept = keep_text(memory, bytes, size, text);
  wipe(bytes, sizeof bytes);
  return kept;
}

static const char *read_field(aloft_bytes payload, const struct field *field, text_memory *memory,
                              alo_tds_login *login) {
  size_t offset = number_at(payload, field->at, 2);
  size_t size = 2 * (size_t)number_at(payload, (size_t)field->at + 2, 2);
  aloft_text *text = (aloft_text *)(void *)((char *)login + field->member);
  if (size == 0) {
    *text = (aloft_text){memory->at, 0};
    return NULL;
  }
  if (size > 2 * (size_t)field->units_max) {
    return "LOGIN7: a text is too long";
  }
  if (offset < TABLE_END || offset > payload.size || size > payload.size - offset) {
    return "LOGIN7: a text lies outside the message";
  }
  const uint8_t *units = alo_tds_bytes_at(payload) + offset;
  bool kept =
      field->secret ? keep_secret(memory, units, size, text) : keep_text(memory, units, size, text);
  return kept ? NULL : "LOGIN7: a text is not UTF-16, or overlaps too many others";
}

static void read_feature(uint8_t id, aloft_bytes data, alo_tds_login *login,
                         const char **unsupported) {
  if (id == FEDAUTH) {
    *unsupported = "federated authentication";
  } else if (id == ALO_TDS_FEATURE_UTF8) {
    login->utf8_feature = true;
  } else if (id == ALO_TDS_FEATURE_JSON && data.size == 1) {
    login->json_feature = *alo_tds_bytes_at(data);
  }
}

/* FEATUREEXT: id, length, data; 0xFF ends it. Features that are not known are passed over. */
static const char *read_features(aloft_bytes payload, alo_tds_login *login,
                                 const char **unsupported) {
  size_t pointer = number_at(payload, AT_EXTENSION, 2);
  if (number_at(payload, AT_EXTENSION + 2, 2) < 4 || pointer < TABLE_END ||
      payload.size < pointer + 4) {
    return "LOGIN7: the extension lies outside the message";
  }
  size_t offset = number_at(payload, pointer, 4);
  if (offset < TABLE_END || offset > payload.size) {
    return "LOGIN7: the features lie outside the message";
  }
  aloft_bytes rest = {alo_tds_bytes_at(payload) + offset, payload.size - offset};
  for (;;) {
    uint8_t id;
    uint32_t size;
    aloft_bytes data;
    if (!alo_tds_take_u8(&rest, &id)) {
      return "LOGIN7: the features have no end";
    }
    if (id == FEATURES_END) {
      return NULL;
    }
    if (!alo_tds_take_u32(&rest, &size) || !alo_tds_take(&rest, size, &data)) {
      return "LOGIN7: a feature is cut";
    }
    read_feature(id, data, login, unsupported);
  }
}

static void read_fixed(aloft_bytes payload, alo_tds_login *login) {
  const uint8_t *bytes = payload.data;
  login->tds_version = number_at(payload, 4, 4);
  login->packet_size = number_at(payload, 8, 4);
  login->client_pid = number_at(payload, 16, 4);
  login->option_flags1 = bytes[24];
  login->option_flags2 = bytes[25];
  login->type_flags = bytes[26];
  login->option_flags3 = bytes[27];
  login->lcid = number_at(payload, 32, 4);
}

static const char *read_variable(aloft_bytes payload, alo_tds_login *login, text_memory memory,
                                 const char **unsupported) {
  for (size_t i = 0; i < FIELDS; i++) {
    const char *wrong = read_field(payload, &fields[i], &memory, login);
    if (wrong) {
      return wrong;
    }
  }
  if (login->option_flags2 & ALO_TDS_INT_SECURITY) {
    *unsupported = "integrated security";
  }
  /* Before 7.4 there is none, though tedious sets the flag. */
  if (login->option_flags3 & ALO_TDS_EXTENSION && login->tds_version >= TDS_7_4) {
    return read_features(payload, login, unsupported);
  }
  return NULL;
}

const char *alo_tds_parse_login(aloft_bytes payload, alo_tds_login *login, char *memory,
                                size_t room, const char **unsupported) {
  *login = (alo_tds_login){0};
  *unsupported = NULL;
  if (payload.size < FIXED_SIZE) {
    return "LOGIN7: shorter than its fixed part";
  }
  size_t length = number_at(payload, 0, 4);
  if (length > payload.size || length < FIXED_SIZE || length > LENGTH_MAX) {
    return "LOGIN7: its length is not that of the message";
  }
  payload.size = length;
  read_fixed(payload, login);
  if (login->tds_version < 0x72000000) {
    *unsupported = "TDS before 7.2";
    return NULL;
  }
  if (length < TABLE_END) {
    return "LOGIN7: shorter than its fixed part";
  }
  if (login->option_flags1 & (BIG_ENDIAN_CLIENT | EBCDIC_CLIENT | OTHER_FLOATS)) {
    *unsupported = "a byte order, character set or float format other than Intel's";
    return NULL;
  }
  return read_variable(payload, login, (text_memory){memory, room}, unsupported);
}
