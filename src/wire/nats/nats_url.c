#include "nats_url.h"

#include <string.h>

static aloft_text text_between(const char *at, const char *end) {
  return (aloft_text){at, (size_t)(end - at)};
}

static bool is_letter(char byte) {
  return (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
}

static bool is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

/* The value of a hexadecimal digit, or -1. */
static int hex_value(char byte) {
  if (is_digit(byte))
    return byte - '0';
  if (byte >= 'A' && byte <= 'F')
    return byte - 'A' + 10;
  if (byte >= 'a' && byte <= 'f')
    return byte - 'a' + 10;
  return -1;
}

/* ASCII case ignored; `name` in lower case. */
static bool is_scheme(aloft_text scheme, const char *name) {
  if (scheme.size != strlen(name))
    return false;
  for (size_t i = 0; i < scheme.size; i++) {
    char byte = scheme.data[i];
    if ((byte >= 'A' && byte <= 'Z' ? (char)(byte + ('a' - 'A')) : byte) != name[i])
      return false;
  }
  return true;
}

/* RFC 3986, 3.1. */
static bool is_scheme_byte(char byte) {
  return is_letter(byte) || is_digit(byte) || byte == '+' || byte == '-' || byte == '.';
}

static bool is_name_byte(char byte) {
  return is_letter(byte) || is_digit(byte) || byte == '-' || byte == '.' || byte == '_' ||
         byte == '~';
}

/* Takes "SCHEME://" from the front of `*url`; `*scheme` is absent without one. */
static void take_scheme(aloft_text *url, aloft_text *scheme) {
  size_t at = 0;
  while (at < url->size && is_scheme_byte(url->data[at]))
    at++;
  *scheme = (aloft_text){0};
  if (url->size - at < 3 || memcmp(url->data + at, "://", 3) != 0)
    return;
  *scheme = (aloft_text){url->data, at};
  *url = (aloft_text){url->data + at + 3, url->size - at - 3};
}

static const char *read_scheme(aloft_text *url, alo_nats_url *parts) {
  aloft_text scheme;
  take_scheme(url, &scheme);
  if (scheme.data == NULL || is_scheme(scheme, "nats"))
    return NULL;
  if (is_scheme(scheme, "tls")) {
    parts->tls = true;
    return NULL;
  }
  if (is_scheme(scheme, "ws") || is_scheme(scheme, "wss"))
    return "NATS over WebSocket (ws://, wss://) is not supported: use nats://";
  return "the URL's scheme is none of nats:// and tls://";
}

/* Ends the authority at the path, which may be "/" and nothing else. */
static const char *cut_path(aloft_text *url) {
  for (size_t i = 0; i < url->size; i++) {
    char byte = url->data[i];
    if (byte != '/' && byte != '?' && byte != '#')
      continue;
    if (byte != '/' || i + 1 < url->size)
      return "the URL goes on after host and port ('/', '?' and '#' in a password are written "
             "%2F, %3F and %23)";
    url->size = i;
  }
  return NULL;
}

static const char *check_user(aloft_text text) {
  for (size_t i = 0; i < text.size; i++) {
    char byte = text.data[i];
    if ((unsigned char)byte <= ' ' || byte == 0x7f)
      return "blank or control byte in the URL's user or password: write it as %XX";
    if (byte == '%' &&
        (text.size - i < 3 || hex_value(text.data[i + 1]) < 0 || hex_value(text.data[i + 2]) < 0))
      return "'%' without two hexadecimal digits in the URL's user or password: write it as %25";
  }
  return NULL;
}

/* Takes "user:password@" or "token@" from the front. */
static const char *read_user(aloft_text *url, alo_nats_url *parts) {
  size_t size = url->size;
  while (size > 0 && url->data[size - 1] != '@')
    size--;
  if (size == 0)
    return NULL;
  const char *end = url->data + size - 1;
  const aloft_text all = text_between(url->data, end);
  *url = text_between(end + 1, url->data + url->size);
  const char *colon = memchr(all.data, ':', all.size);
  if (colon != NULL) {
    parts->user = text_between(all.data, colon);
    parts->password = text_between(colon + 1, end);
  } else {
    parts->token = all;
  }
  if (all.size == 0 || colon == all.data)
    return "no user before the '@' of the URL";
  return check_user(all);
}

static const char *read_port(aloft_text text, uint16_t *port) {
  static const char *const wrong = "the URL's port is not a number from 1 to 65535";
  unsigned sum = 0;
  for (size_t i = 0; i < text.size; i++) {
    if (!is_digit(text.data[i]))
      return wrong;
    sum = sum * 10 + (unsigned)(text.data[i] - '0');
    if (sum > UINT16_MAX)
      return wrong;
  }
  if (sum == 0)
    return wrong;
  *port = (uint16_t)sum;
  return NULL;
}

/* The resolver reads addresses exactly; this keeps names and ports out. */
static bool is_ipv6(aloft_text text) {
  for (size_t i = 0; i < text.size; i++)
    if (hex_value(text.data[i]) < 0 && text.data[i] != ':' && text.data[i] != '.')
      return false;
  return text.size > 0 && memchr(text.data, ':', text.size) != NULL;
}

/* "[" IPv6 "]": `*rest` is what follows. */
static const char *read_address(aloft_text text, alo_nats_url *parts, aloft_text *rest) {
  const char *close = memchr(text.data, ']', text.size);
  if (close == NULL)
    return "'[' without ']' in the URL's host";
  parts->host = text_between(text.data + 1, close);
  *rest = text_between(close + 1, text.data + text.size);
  return is_ipv6(parts->host) ? NULL : "between '[' and ']' of the URL is no IPv6 address";
}

static const char *read_name(aloft_text text, alo_nats_url *parts, aloft_text *rest) {
  const char *colon = memchr(text.data, ':', text.size);
  const char *end = colon != NULL ? colon : text.data + text.size;
  parts->host = text_between(text.data, end);
  *rest = text_between(end, text.data + text.size);
  if (rest->size > 0 && memchr(end + 1, ':', rest->size - 1) != NULL)
    return "more than one ':' after the URL's host: an IPv6 address is written in '[' and ']'";
  for (const char *at = text.data; at < end; at++)
    if (!is_name_byte(*at))
      return "the URL's host has a character that no host name has (one server only)";
  return NULL;
}

static const char *read_host(aloft_text url, alo_nats_url *parts) {
  if (url.size == 0)
    return "the URL has no host";
  aloft_text rest;
  const char *wrong =
      url.data[0] == '[' ? read_address(url, parts, &rest) : read_name(url, parts, &rest);
  if (wrong != NULL)
    return wrong;
  if (parts->host.size == 0)
    return "the URL has no host";
  if (rest.size == 0)
    return NULL;
  if (rest.data[0] != ':')
    return "the URL goes on after ']'";
  return read_port(text_between(rest.data + 1, rest.data + rest.size), &parts->port);
}

const char *alo_nats_url_parse(aloft_text url, alo_nats_url *parts) {
  *parts = (alo_nats_url){.port = ALO_NATS_PORT};
  if (url.size == 0)
    return "the URL is empty";
  const char *wrong = read_scheme(&url, parts);
  if (wrong == NULL)
    wrong = cut_path(&url);
  if (wrong == NULL)
    wrong = read_user(&url, parts);
  return wrong != NULL ? wrong : read_host(url, parts);
}

size_t alo_nats_url_decode(aloft_text encoded, char *out) {
  size_t size = 0;
  for (size_t i = 0; i < encoded.size; i++) {
    char byte = encoded.data[i];
    if (byte == '%') {
      if (encoded.size - i < 3)
        return SIZE_MAX;
      int high = hex_value(encoded.data[i + 1]), low = hex_value(encoded.data[i + 2]);
      if (high < 0 || low < 0)
        return SIZE_MAX;
      byte = (char)(high * 16 + low);
      i += 2;
    }
    out[size++] = byte;
  }
  return size;
}
