/* The body of a message to send: an argument, or standard input. */
#ifndef ALO_NATS_BODY_H
#define ALO_NATS_BODY_H

#include "input.h"

typedef struct alo_nats_body {
  aloft_bytes bytes;
  alo_input input;
} alo_nats_body;

/* From `argument` (NULL: empty), or from standard input when `standard_input`. Both at once are a
 * usage error. Free the body's input in every case. */
alo_exit alo_nats_body_read(alo_nats_body *body, const char *argument, bool standard_input);

#endif
