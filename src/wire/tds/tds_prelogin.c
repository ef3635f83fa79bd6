/* PRELOGIN, MS-TDS 2.2.6.5: a table of options (token, offset, length), then their data. */
#include <string.h>

#include "tds_bytes.h"
#include "tds_request.h"

enum {
  VERSION = 0,
  ENCRYPTION = 1,
  INSTOPT = 2,
  THREADID = 3,
  MARS = 4,
  FEDAUTHREQUIRED = 6,
  TERMINATOR = 0xFF,
  OPTION_SIZE = 5, /* token, offset and length, both high byte first */
  OPTIONS_MAX = 6,
  INSTANCE_MAX = 1024
};

/* ---- writing ---- */

struct option {
  uint8_t token;
  uint8_t data[6];
  size_t size;
  aloft_text text; /* instead of data, with a NUL after it */
};

static void put_big_u16(alo_tds_writer *writer, size_t value) {
  alo_tds_put_u8(writer, (uint8_t)(value >> 8));
  alo_tds_put_u8(writer, (uint8_t)(value & 0xFF));
}

static size_t option_size(const struct option *option) {
  return option->text.data ? option->text.size + 1 : option->size;
}

static void put_options(alo_tds_writer *writer, const struct option *options, size_t count) {
  size_t offset = count * OPTION_SIZE + 1;
  for (size_t i = 0; i < count; i++) {
    alo_tds_put_u8(writer, options[i].token);
    put_big_u16(writer, offset);
    put_big_u16(writer, option_size(&options[i]));
    offset += option_size(&options[i]);
  }
  alo_tds_put_u8(writer, TERMINATOR);
  for (size_t i = 0; i < count; i++) {
    if (options[i].text.data) {
      alo_tds_put(writer, options[i].text.data, options[i].text.size);
      alo_tds_put_u8(writer, 0);
    } else {
      alo_tds_put(writer, options[i].data, options[i].size);
    }
  }
}

void alo_tds_put_prelogin(alo_tds_writer *writer, const alo_tds_prelogin *prelogin, bool server) {
  struct option options[OPTIONS_MAX] = {
      {.token = VERSION, .size = 6},
      {.token = ENCRYPTION, .size = 1, .data = {prelogin->encryption}},
      {.token = INSTOPT, .size = 1},
      {.token = THREADID, .size = server ? 0 : 4},
      {.token = MARS, .size = 1, .data = {prelogin->mars}},
      {.token = FEDAUTHREQUIRED, .size = 1, .data = {1}},
  };
  memcpy(options[0].data, prelogin->version, 6);
  for (size_t i = 0; i < 4; i++) {
    options[3].data[i] = (uint8_t)(prelogin->thread_id >> (8 * i));
  }
  aloft_text instance = prelogin->instance;
  if (!server && instance.size > 0) {
    options[2].text = instance;
    if (instance.size > INSTANCE_MAX || memchr(instance.data, 0, instance.size)) {
      alo_tds_writer_fail(writer, ALOFT_ARGUMENT);
      return;
    }
  }
  put_options(writer, options, prelogin->fed_auth_required ? 6 : 5);
}

/* ---- reading ---- */

static const char *read_version(aloft_bytes data, alo_tds_prelogin *prelogin) {
  if (data.size != sizeof prelogin->version) {
    return "PRELOGIN: VERSION is not 6 bytes";
  }
  memcpy(prelogin->version, data.data, data.size);
  return NULL;
}

static const char *read_encryption(aloft_bytes data, alo_tds_prelogin *prelogin) {
  if (data.size != 1) {
    return "PRELOGIN: ENCRYPTION is not 1 byte";
  }
  prelogin->encryption = alo_tds_bytes_at(data)[0];
  prelogin->has_encryption = true;
  return NULL;
}

static const char *read_instance(aloft_bytes data, alo_tds_prelogin *prelogin) {
  const char *nul = data.size > 0 ? memchr(data.data, 0, data.size) : NULL;
  if (!nul && data.size > 0) {
    return "PRELOGIN: INSTOPT does not end with a NUL";
  }
  const char *begin = data.data;
  prelogin->instance = (aloft_text){begin, nul ? (size_t)(nul - begin) : 0};
  return NULL;
}

static const char *read_thread(aloft_bytes data, alo_tds_prelogin *prelogin) {
  if (data.size != 0 && data.size != 4) {
    return "PRELOGIN: THREADID is neither empty nor 4 bytes";
  }
  prelogin->thread_id = (uint32_t)alo_tds_little(data.data, data.size);
  return NULL;
}

static const char *read_flag(aloft_bytes data, bool *flag) {
  if (data.size > 1) {
    return "PRELOGIN: a flag is over 1 byte";
  }
  *flag = data.size == 1 && alo_tds_bytes_at(data)[0] != 0;
  return NULL;
}

static const char *read_option(uint8_t token, aloft_bytes data, alo_tds_prelogin *prelogin) {
  switch (token) {
  case VERSION:
    return read_version(data, prelogin);
  case ENCRYPTION:
    return read_encryption(data, prelogin);
  case INSTOPT:
    return read_instance(data, prelogin);
  case THREADID:
    return read_thread(data, prelogin);
  case MARS:
    return read_flag(data, &prelogin->mars);
  case FEDAUTHREQUIRED:
    return read_flag(data, &prelogin->fed_auth_required);
  default:
    return NULL;
  }
}

const char *alo_tds_parse_prelogin(aloft_bytes payload, alo_tds_prelogin *prelogin) {
  aloft_bytes table = payload;
  bool version = false;
  *prelogin = (alo_tds_prelogin){0};
  for (;;) {
    uint8_t token;
    aloft_bytes numbers;
    if (!alo_tds_take_u8(&table, &token)) {
      return "PRELOGIN: the option table has no end";
    }
    if (token == TERMINATOR) {
      return version ? NULL : "PRELOGIN: there is no VERSION";
    }
    if (!alo_tds_take(&table, OPTION_SIZE - 1, &numbers)) {
      return "PRELOGIN: the option table is cut";
    }
    const uint8_t *at = numbers.data;
    size_t offset = (size_t)at[0] << 8 | at[1];
    size_t size = (size_t)at[2] << 8 | at[3];
    if (offset > payload.size || size > payload.size - offset) {
      return "PRELOGIN: an option lies outside the message";
    }
    aloft_bytes data = {alo_tds_bytes_at(payload) + offset, size};
    const char *wrong = read_option(token, data, prelogin);
    if (wrong) {
      return wrong;
    }
    version = version || token == VERSION;
  }
}
