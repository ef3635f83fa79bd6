/* The NATS client protocol, outgoing side: each function first tells the exact size of a message,
 * so that the caller can reserve room, and then writes it there. */
#ifndef ALO_NATS_ENCODER_H
#define ALO_NATS_ENCODER_H

#include <aloft/nats.h>

/* True for a subject that may be published to: not empty, no blank or control byte, no empty
 * token, no wildcard unless `wildcards`, well-formed UTF-8, at most ALO_NATS_SUBJECT_MAX bytes. */
enum { ALO_NATS_SUBJECT_MAX = 1024 };
bool alo_nats_subject_valid(aloft_text subject, bool wildcards);

/* True for a header name (token characters of RFC 7230, no colon) and value (no CR, LF or NUL). */
bool alo_nats_header_valid(const aloft_nats_header *header);

/* Size of the header block for the array, 0 when count is 0. */
size_t alo_nats_headers_size(const aloft_nats_header *header, size_t count);

/* PUB or HPUB. `size` gives the room that `write` needs and fills exactly. */
size_t alo_nats_pub_size(const aloft_nats_message *message);
void alo_nats_pub_write(const aloft_nats_message *message, uint8_t *out);

size_t alo_nats_sub_size(aloft_text subject, aloft_text queue, uint64_t sid);
void alo_nats_sub_write(aloft_text subject, aloft_text queue, uint64_t sid, uint8_t *out);

/* `after` 0: at once. Room ALO_NATS_UNSUB_ROOM; returns the size written. */
enum { ALO_NATS_UNSUB_ROOM = 64 };
size_t alo_nats_unsub_write(uint64_t sid, uint64_t after, uint8_t *out);

/* CONNECT {...}. Returns the size needed; writes only when it is at most `room`. Absent texts are
 * left out. */
typedef struct alo_nats_connect {
  aloft_text user, password, token, name;
  bool no_echo;
  bool headers; /* headers and no_responders */
} alo_nats_connect;
size_t alo_nats_connect_write(const alo_nats_connect *connect, uint8_t *out, size_t room);

/* The URL's parts, views into it, still percent-encoded. NULL or what is wrong. */
typedef struct alo_nats_url {
  aloft_text user, password, token, host;
  uint16_t port;
  bool tls;
} alo_nats_url;
const char *alo_nats_url_parse(aloft_text url, alo_nats_url *parts);

/* Percent-decodes into `out` (room for encoded.size); SIZE_MAX on a bad escape. */
size_t alo_nats_url_decode(aloft_text encoded, char *out);

/* Header block reading: see aloft_nats_header_next, which src/nats forwards here. */
bool alo_nats_headers_next(aloft_text block, size_t *cursor, aloft_nats_header *header);

#endif
