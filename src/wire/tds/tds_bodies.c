/* What the bodies of ERROR, INFO, ENVCHANGE and LOGINACK say (MS-TDS 2.2.7.10, 2.2.7.13, 2.2.7.9,
 * 2.2.7.14). A body is complete and its size is known, so that each inner length is checked
 * against what is left of it. */
#include "tds_reader_state.h"

#include <string.h>

/* A body being read: the first length that leads beyond it spoils it, and every later read gives
 * nothing. */
typedef struct cursor {
  const uint8_t *next, *end;
  bool spoilt;
  char *text; /* where decoded text goes */
} cursor;

static const uint8_t no_bytes[8];

/* `size` bytes; of a spoilt body eight zeros, which callers ask for at most. */
static const uint8_t *take(cursor *body, size_t size) {
  if (body->spoilt || (size_t)(body->end - body->next) < size) {
    body->spoilt = true;
    return no_bytes;
  }
  const uint8_t *taken = body->next;
  body->next += size;
  return taken;
}

static aloft_bytes take_bytes(cursor *body, size_t size) {
  const uint8_t *taken = take(body, size);
  return (aloft_bytes){taken, body->spoilt ? 0 : size};
}

static size_t take_u8(cursor *body) {
  return *take(body, 1);
}

static size_t take_u16(cursor *body) {
  return alo_tds_get_u16(take(body, 2));
}

/* `count` UTF-16 units as UTF-8. */
static aloft_text take_text(cursor *body, size_t count) {
  aloft_bytes units = take_bytes(body, count * 2);
  alo_utf16_cut cut = {0};
  char *text = body->text;
  size_t size = alo_utf16_to_utf8(&cut, units.data, units.size, true, text, NULL);
  body->text += size;
  return (aloft_text){text, size};
}

static bool open_body(alo_tds_reader *reader, aloft_bytes bytes, cursor *body) {
  *body = (cursor){.next = bytes.data};
  body->end = bytes.size ? body->next + bytes.size : body->next;
  body->text = (char *)alo_tds_memory_take(&reader->messages, ALO_UTF8_ROOM(bytes.size) + 18);
  return body->text != NULL;
}

static bool whole(const cursor *body) {
  return !body->spoilt && body->next == body->end;
}

alo_tds_outcome alo_tds_body_message(alo_tds_reader *reader, aloft_bytes bytes) {
  alo_tds_message *message = &reader->message;
  cursor body;
  if (!open_body(reader, bytes, &body)) {
    return alo_tds_fail_memory(reader);
  }
  *message = (alo_tds_message){.error = reader->at.token == ALO_TDS_TOKEN_ERROR};
  message->number = (int32_t)alo_tds_get_u32(take(&body, 4));
  message->state = (uint8_t)take_u8(&body);
  message->severity = (uint8_t)take_u8(&body);
  message->text = take_text(&body, take_u16(&body));
  message->server = take_text(&body, take_u8(&body));
  message->procedure = take_text(&body, take_u8(&body));
  message->line = alo_tds_get_u32(take(&body, 4));
  if (!whole(&body)) {
    return alo_tds_fail(reader, message->error ? "ERROR: its inner lengths do not fit its length"
                                               : "INFO: its inner lengths do not fit its length");
  }
  if (message->error) {
    alo_tds_set_flag(&reader->at, ALO_TDS_HAS_ERROR, true);
  }
  reader->at.state = ALO_TDS_STATE_TOKEN;
  return alo_tds_flag(&reader->at, ALO_TDS_FLAG_SKIP) ? ALO_TDS_AGAIN : ALO_TDS_MESSAGE;
}

/* ---- ENVCHANGE ---- */

enum {
  ENV_DATABASE = 1,
  ENV_LANGUAGE = 2,
  ENV_CHARSET = 3,
  ENV_PACKET_SIZE = 4,
  ENV_SORT_ID = 5,
  ENV_SORT_FLAGS = 6,
  ENV_MIRROR = 13,
  ENV_PROMOTE = 15,
  ENV_USER_INSTANCE = 19,
  ENV_ROUTING = 20
};

static bool env_is_text(uint8_t type) {
  return (type >= ENV_DATABASE && type <= ENV_PACKET_SIZE) || type == ENV_MIRROR ||
         type == ENV_USER_INSTANCE;
}

/* New and old value, each with a length of its own. */
static void read_env_values(cursor *body, alo_tds_env *env) {
  if (env_is_text(env->type)) {
    env->text_new = take_text(body, take_u8(body));
    take_bytes(body, take_u8(body) * 2);
  } else if (env->type == ENV_SORT_ID || env->type == ENV_SORT_FLAGS) {
    env->bytes_new = take_bytes(body, take_u8(body) * 2);
    take_bytes(body, take_u8(body) * 2);
  } else if (env->type == ENV_PROMOTE) {
    env->bytes_new = take_bytes(body, alo_tds_get_u32(take(body, 4)));
    take_bytes(body, take_u8(body));
  } else {
    env->bytes_new = take_bytes(body, take_u8(body));
    take_bytes(body, take_u8(body));
  }
}

/* Protocol (0: TCP), port, alternate server; the old value is two zero bytes. */
static void read_env_routing(cursor *body, alo_tds_env *env) {
  cursor value = *body;
  size_t size = take_u16(&value);
  aloft_bytes bytes = take_bytes(&value, size);
  cursor inner = {.next = bytes.data, .text = body->text};
  inner.end = inner.next + bytes.size;
  take_u8(&inner);
  env->routing_port = (uint16_t)take_u16(&inner);
  env->text_new = take_text(&inner, take_u16(&inner));
  take_bytes(&value, take_u16(&value));
  value.spoilt = value.spoilt || !whole(&inner);
  *body = value;
}

/* Types whose values have a form that 2.2.7.9 tells; others are shown as they are. */
static bool env_is_known(uint8_t type) {
  return type >= ENV_DATABASE && type <= ENV_USER_INSTANCE && type != 14;
}

alo_tds_outcome alo_tds_body_env(alo_tds_reader *reader, aloft_bytes bytes) {
  alo_tds_env *env = &reader->env;
  cursor body;
  if (!open_body(reader, bytes, &body)) {
    return alo_tds_fail_memory(reader);
  }
  *env = (alo_tds_env){.type = (uint8_t)take_u8(&body)};
  if (env->type == ENV_ROUTING) {
    read_env_routing(&body, env);
  } else if (env_is_known(env->type)) {
    read_env_values(&body, env);
  } else {
    env->bytes_new = take_bytes(&body, (size_t)(body.end - body.next));
  }
  if (!whole(&body)) {
    return alo_tds_fail_number(
        reader, "ENVCHANGE of type #: its inner lengths do not fit its length", env->type);
  }
  return ALO_TDS_ENVCHANGE;
}

/* ---- LOGINACK ---- */

alo_tds_outcome alo_tds_body_loginack(alo_tds_reader *reader, aloft_bytes bytes) {
  alo_tds_loginack *loginack = &reader->loginack;
  cursor body;
  if (!open_body(reader, bytes, &body)) {
    return alo_tds_fail_memory(reader);
  }
  *loginack = (alo_tds_loginack){.interface_type = (uint8_t)take_u8(&body)};
  const uint8_t *version = take(&body, 4); /* the one number here with its high byte first */
  loginack->tds_version = (uint32_t)version[0] << 24 | (uint32_t)version[1] << 16 |
                          (uint32_t)version[2] << 8 | version[3];
  loginack->program = take_text(&body, take_u8(&body));
  memcpy(loginack->version, take(&body, 4), sizeof loginack->version);
  if (!whole(&body)) {
    return alo_tds_fail(reader, "LOGINACK: its inner lengths do not fit its length");
  }
  return ALO_TDS_LOGINACK;
}
