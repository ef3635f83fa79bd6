/* The NATS client protocol, incoming side: bytes in, events out, no callbacks, no copies.
 * https://docs.nats.io/reference/reference-protocols/nats-protocol
 *
 * Memory: the parser looks at one contiguous window of received bytes that the caller holds. It
 * never keeps a pointer. A control line or a payload that is cut by the window's end is reported
 * as NEED with the size that the window must reach, counted from the window's beginning; the caller
 * moves the window's bytes once into a block that holds it all, appends what arrives, and calls
 * again. The parser remembers how far it has looked: a cut line is read when it is whole, its
 * bytes not looked at before that; a cut payload is not looked at, and its line not read again. */
#ifndef ALO_NATS_PARSER_H
#define ALO_NATS_PARSER_H

#include <aloft/base.h>
#include "nats_info.h"

typedef enum alo_nats_event_kind {
  ALO_NATS_NEED, /* `need`: bytes the window must hold for progress (at least one more) */
  ALO_NATS_INFO, /* `data`: the JSON, for alo_nats_info_parse */
  ALO_NATS_MSG,  /* a message, with or without headers (HMSG) */
  ALO_NATS_PING,
  ALO_NATS_PONG,
  ALO_NATS_OK,    /* +OK */
  ALO_NATS_ERR,   /* `data`: the text, without the quotes around it */
  ALO_NATS_BROKEN /* protocol error at `offset`, `reason`; stays so */
} alo_nats_event_kind;

/* Views into the window. Subject, reply and headers are what another client published: nats-server
 * passes on any byte but blanks and line ends in a subject, and any bytes as a header block. So
 * these never break the connection: a subject may hold ill-formed UTF-8 and control bytes, and a
 * header block that is not one is delivered with `headers_malformed`. */
typedef struct alo_nats_event {
  alo_nats_event_kind kind;
  int32_t status; /* of the header's first line, 0: none */
  size_t need;
  uint64_t sid;
  aloft_text subject;
  aloft_text reply;   /* data NULL: none */
  aloft_text headers; /* data NULL: MSG; the block "NATS/1.0...\r\n\r\n" of an HMSG */
  aloft_bytes data;
  bool headers_malformed; /* alo_nats_headers_next finds nothing in `headers` */
  uint64_t offset;        /* BROKEN: of the offending byte in the connection's stream */
  const char *reason;     /* BROKEN: constant text */
} alo_nats_event;

typedef struct alo_nats_limits {
  /* Of a control line other than INFO, with its CRLF; 0: 8,192 (the server takes lines of 4,096
   * and adds a sid of up to 20 digits to what it passes on). */
  size_t line_max;
  size_t info_max;    /* of INFO's line; 0: 65,536 */
  size_t payload_max; /* headers and data; 0: 64 MiB */
} alo_nats_limits;

typedef enum alo_nats_state {
  ALO_NATS_FRESH,   /* nothing of the window is looked at */
  ALO_NATS_LINE,    /* a control line is cut: `line_max`, `scanned` */
  ALO_NATS_PAYLOAD, /* a message's line is known, its payload is cut: `line` */
  ALO_NATS_DEAD     /* `broken`, `broken_at` */
} alo_nats_state;

/* A message's line; places are offsets from the window's beginning. */
typedef struct alo_nats_line {
  uint64_t sid;
  uint32_t subject_at, subject_size;
  uint32_t reply_at, reply_size; /* reply_at 0: none */
  bool headers;
  size_t size;        /* with its CRLF */
  size_t header_size; /* 0 without `headers` */
  size_t total_size;  /* of headers and data, without the last CRLF */
} alo_nats_line;

typedef struct alo_nats_parser {
  alo_nats_limits limits;
  uint64_t offset; /* in the stream, of the window's first byte */
  alo_nats_state state;
  size_t line_max; /* of the line at the window's beginning */
  size_t scanned;  /* bytes of the window looked at without finding the line's end */
  alo_nats_line line;
  const char *broken;
  uint64_t broken_at;
} alo_nats_parser;

/* `limits` [call]; NULL: all defaults. */
void alo_nats_parser_init(alo_nats_parser *parser, const alo_nats_limits *limits);

/* Looks at the window and reports the first event in it. `*consumed` is set to the bytes that the
 * event took from the window's beginning (0 for NEED and BROKEN): the caller drops them before the
 * next call, the event's views staying where they are. After NEED the next window begins with the
 * same bytes. Members of `event` that its kind does not name mean nothing. */
alo_nats_event_kind alo_nats_parser_next(alo_nats_parser *parser, const uint8_t *window,
                                         size_t size, size_t *consumed, alo_nats_event *event);

#endif
