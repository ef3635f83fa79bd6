/* Headers from -H options. */
#ifndef ALO_NATS_HEADER_H
#define ALO_NATS_HEADER_H

#include <aloft/nats.h>

#include "option.h"

typedef struct alo_nats_headers {
  aloft_nats_header header[ALO_OPTION_LIST_MAX]; /* views of the arguments */
  size_t count;
} alo_nats_headers;

/* Reads "NAME:VALUE" items; blanks around the value are dropped. Reports one that is not of that
 * form: ALO_EXIT_USAGE. */
alo_exit alo_nats_headers_read(alo_nats_headers *headers, const alo_option_list *list);

#endif
