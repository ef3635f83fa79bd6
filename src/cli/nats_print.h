/* Received messages as the commands show them. */
#ifndef ALO_NATS_PRINT_H
#define ALO_NATS_PRINT_H

#include <aloft/nats.h>

#include "output.h"

/* "NAME: VALUE" lines and an empty line; nothing when there are no headers. */
void alo_nats_print_headers(alo_output *output, const aloft_nats_message *message);

/* The body and a line ending. */
void alo_nats_print_body(alo_output *output, const aloft_nats_message *message);

#endif
