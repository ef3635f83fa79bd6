/* The address of a NATS server: "[nats://|tls://][user:password@|token@]host[:port][/]". */
#ifndef ALO_NATS_URL_H
#define ALO_NATS_URL_H

#include <aloft/base.h>

enum { ALO_NATS_PORT = 4222 };

/* The URL's parts, views into it; user, password and token still percent-encoded, a host of IPv6
 * without its brackets. What is not in the URL is absent. */
typedef struct alo_nats_url {
  aloft_text user, password, token, host;
  uint16_t port;
  bool tls;
} alo_nats_url;

/* NULL or what is wrong: a constant text, without any part of the URL. */
const char *alo_nats_url_parse(aloft_text url, alo_nats_url *parts);

/* Percent-decodes into `out` (room for encoded.size), which may be `encoded` itself. Returns the
 * bytes written; SIZE_MAX on a bad escape. */
size_t alo_nats_url_decode(aloft_text encoded, char *out);

#endif
