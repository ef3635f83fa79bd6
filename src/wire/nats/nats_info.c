#include "nats_info.h"

#include <string.h>

#include <aloft/json.h>

static const char *read_flag(const aloft_json *json, bool *flag) {
  if (json->kind != ALOFT_JSON_TRUE && json->kind != ALOFT_JSON_FALSE)
    return "a flag in INFO is neither true nor false";
  *flag = json->kind == ALOFT_JSON_TRUE;
  return NULL;
}

static const char *read_text(const aloft_json *json, aloft_text *text) {
  aloft_text unescaped;
  if (json->kind != ALOFT_JSON_STRING ||
      (json->escaped && aloft_json_string(json, NULL, 0, &unescaped) == ALOFT_PROTOCOL))
    return "a text in INFO is not valid";
  *text = json->raw;
  return NULL;
}

static const char *read_number(const aloft_json *json, int64_t *number) {
  if (json->kind != ALOFT_JSON_NUMBER || aloft_json_int64(json, number) != ALOFT_OK)
    return "a number in INFO is not an integer";
  return NULL;
}

static const char *read_max_payload(const aloft_json *json, uint64_t *max_payload) {
  int64_t number = 0;
  const char *wrong = read_number(json, &number);
  if (wrong == NULL && number < 0)
    wrong = "max_payload in INFO is negative";
  if (wrong == NULL)
    *max_payload = (uint64_t)number;
  return wrong;
}

typedef enum member {
  SERVER_ID,
  SERVER_NAME,
  VERSION,
  NONCE,
  MAX_PAYLOAD,
  PROTO,
  HEADERS,
  AUTH_REQUIRED,
  TLS_REQUIRED,
  TLS_AVAILABLE,
  LAME_DUCK,
  MEMBER_COUNT
} member;

static const char *const names[MEMBER_COUNT] = {
    [SERVER_ID] = "server_id",
    [SERVER_NAME] = "server_name",
    [VERSION] = "version",
    [NONCE] = "nonce",
    [MAX_PAYLOAD] = "max_payload",
    [PROTO] = "proto",
    [HEADERS] = "headers",
    [AUTH_REQUIRED] = "auth_required",
    [TLS_REQUIRED] = "tls_required",
    [TLS_AVAILABLE] = "tls_available",
    [LAME_DUCK] = "ldm",
};

static member find_member(const aloft_json *json) {
  unsigned at = 0;
  while (at < MEMBER_COUNT && !aloft_json_is(json, (aloft_text){names[at], strlen(names[at])}))
    at++;
  return (member)at;
}

/* The value of a member, its first token read. */
static const char *read_member(aloft_json *json, member which, alo_nats_info *info) {
  switch (which) {
  case SERVER_ID:
    return read_text(json, &info->server_id);
  case SERVER_NAME:
    return read_text(json, &info->server_name);
  case VERSION:
    return read_text(json, &info->version);
  case NONCE:
    return read_text(json, &info->nonce);
  case MAX_PAYLOAD:
    return read_max_payload(json, &info->max_payload);
  case PROTO:
    return read_number(json, &info->proto);
  case HEADERS:
    return read_flag(json, &info->headers);
  case AUTH_REQUIRED:
    return read_flag(json, &info->auth_required);
  case TLS_REQUIRED:
    return read_flag(json, &info->tls_required);
  case TLS_AVAILABLE:
    return read_flag(json, &info->tls_available);
  case LAME_DUCK:
    return read_flag(json, &info->lame_duck);
  case MEMBER_COUNT:
    break;
  }
  return aloft_json_skip(json) == ALOFT_OK ? NULL : "INFO is not valid JSON";
}

const char *alo_nats_info_parse(aloft_text text, alo_nats_info *info) {
  *info = (alo_nats_info){0};
  aloft_json json;
  aloft_json_init(&json, text);
  if (aloft_json_next(&json) != ALOFT_JSON_OBJECT)
    return "INFO is not a JSON object";
  while (aloft_json_next(&json) == ALOFT_JSON_NAME) {
    const member which = find_member(&json);
    if (aloft_json_next(&json) == ALOFT_JSON_ERROR)
      return "INFO is not valid JSON";
    const char *wrong = read_member(&json, which, info);
    if (wrong != NULL)
      return wrong;
  }
  if (json.kind != ALOFT_JSON_CLOSE || aloft_json_next(&json) != ALOFT_JSON_END)
    return "INFO is not valid JSON";
  return NULL;
}

size_t alo_nats_info_text(aloft_text text, char *out) {
  if (text.data == NULL)
    return 0;
  /* With the quotes around it, it is a JSON text of its own. */
  aloft_json json;
  aloft_json_init(&json, (aloft_text){text.data - 1, text.size + 2});
  aloft_text plain = text;
  if (aloft_json_next(&json) == ALOFT_JSON_STRING)
    (void)aloft_json_string(&json, out, text.size, &plain);
  if (plain.data != out && plain.size > 0)
    memcpy(out, plain.data, plain.size);
  return plain.size;
}
