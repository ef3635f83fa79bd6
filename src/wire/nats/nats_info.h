/* INFO: what a NATS server tells of itself, at connect and whenever it changes. */
#ifndef ALO_NATS_INFO_H
#define ALO_NATS_INFO_H

#include <aloft/base.h>

/* Views into the JSON, escapes untouched; absent when the server did not send them. */
typedef struct alo_nats_info {
  aloft_text server_id, server_name, version, nonce;
  uint64_t max_payload; /* 0: not sent */
  bool headers, auth_required, tls_required, tls_available, lame_duck;
  int64_t proto;
} alo_nats_info;

/* NULL on success, otherwise what is wrong (constant text): the server broke the protocol. Members
 * that Aloft does not know are passed over; a known one of the wrong type is an error. */
const char *alo_nats_info_parse(aloft_text json, alo_nats_info *info);

/* Copies a text of alo_nats_info to `out` (room for text.size), its escapes resolved. Returns the
 * bytes written. */
size_t alo_nats_info_text(aloft_text text, char *out);

#endif
