/* Header blocks of NATS messages: "NATS/1.0[ STATUS[ TEXT]]" CRLF, lines "Name: value" CRLF, CRLF
 * (ADR-4, NATS Message Headers). */
#ifndef ALO_NATS_HEADERS_H
#define ALO_NATS_HEADERS_H

#include <aloft/nats.h>

/* True when the block begins with the version line and ends with CRLFCRLF. `*status` is the status
 * of three digits on the version line, 0 when there is none. */
bool alo_nats_headers_status(aloft_text block, int32_t *status);

/* The next header of a received block; `*cursor` begins at 0 and may hold nothing that this
 * function did not leave there. False: no more, or the block is not one. Name and value are views
 * into the block; blanks around the value are removed. A line is over at LF, with or without CR;
 * one that has no name, or a blank or control byte in it, is passed over; an empty one is the end.
 */
bool alo_nats_headers_next(aloft_text block, size_t *cursor, aloft_nats_header *header);

/* For sending: true for a name (token characters of RFC 7230, no colon) and value (no CR, LF or
 * NUL, no blank at either end, which the receiver would remove). */
bool alo_nats_header_valid(const aloft_nats_header *header);

/* Size of the block for the array, 0 when `count` is 0. `write` fills exactly that. */
size_t alo_nats_headers_size(const aloft_nats_header *header, size_t count);
void alo_nats_headers_write(const aloft_nats_header *header, size_t count, uint8_t *out);

#endif
