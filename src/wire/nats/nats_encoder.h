/* The NATS client protocol, outgoing side: each function first tells the exact size of a message,
 * so that the caller can reserve room, and then writes it there. What is written is not checked
 * again: subjects and headers must have been found valid before.
 * https://docs.nats.io/reference/reference-protocols/nats-protocol */
#ifndef ALO_NATS_ENCODER_H
#define ALO_NATS_ENCODER_H

#include <aloft/nats.h>
#include "nats_headers.h"
#include "nats_url.h"

/* True for a subject that may be published to: not empty, no blank or control byte, no empty
 * token, no '*' or '>' (ADR-6), well-formed UTF-8, at most ALO_NATS_SUBJECT_MAX bytes. With
 * `wildcards` a whole token may be "*", and the last one ">". Also for queue groups. */
enum { ALO_NATS_SUBJECT_MAX = 1024 };
bool alo_nats_subject_valid(aloft_text subject, bool wildcards);

/* PUB or HPUB. `size` gives the room that `write` needs and fills exactly. */
size_t alo_nats_pub_size(const aloft_nats_message *message);
void alo_nats_pub_write(const aloft_nats_message *message, uint8_t *out);

/* PUB without headers, written in one go into the room told, which may be more than it takes.
 * `reply` absent: none. Returns its end. */
static inline size_t alo_nats_plain_pub_room(aloft_text subject, aloft_text reply,
                                             aloft_bytes data) {
  enum { REST = sizeof "PUB   18446744073709551615\r\n\r\n" };
  return subject.size + reply.size + data.size + REST;
}
uint8_t *alo_nats_plain_pub_write(aloft_text subject, aloft_text reply, aloft_bytes data,
                                  uint8_t *out);

/* SUB. `queue` absent or empty: none. */
size_t alo_nats_sub_size(aloft_text subject, aloft_text queue, uint64_t sid);
void alo_nats_sub_write(aloft_text subject, aloft_text queue, uint64_t sid, uint8_t *out);

/* `after` 0: at once. Room ALO_NATS_UNSUB_ROOM; returns the size written. */
enum { ALO_NATS_UNSUB_ROOM = 64 };
size_t alo_nats_unsub_write(uint64_t sid, uint64_t after, uint8_t *out);

/* CONNECT {...}. Returns the size needed; writes only when it is at most `room`. Absent texts are
 * left out; they must be UTF-8. */
typedef struct alo_nats_connect {
  aloft_text user, password, token, name;
  aloft_text version; /* of this library */
  bool no_echo;
  bool headers; /* headers and no_responders */
} alo_nats_connect;
size_t alo_nats_connect_write(const alo_nats_connect *connect, uint8_t *out, size_t room);
/* Has a whole CONNECT line say tls_required, in its place: whether the connection will be encrypted
 * is not known when the line is written. */
void alo_nats_connect_encrypted(uint8_t *line);

#endif
