/* Whole files and standard input in memory, within a limit. */
#ifndef ALO_INPUT_H
#define ALO_INPUT_H

#include <aloft/base.h>

#include "exit_status.h"

/* The largest message body read from standard input. */
#define ALO_INPUT_SIZE_MAX ((size_t)64 << 20)

typedef struct alo_input {
  char *data;
  size_t size;
} alo_input;

/* Reads standard input to its end. ALO_EXIT_LOCAL, reported: not readable, over the limit, no
 * memory; 128 + signal when interrupted. */
alo_exit alo_input_read_standard(alo_input *input);

void alo_input_free(alo_input *input);

#endif
