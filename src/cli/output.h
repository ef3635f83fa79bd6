/* The command's results: standard output or a file, with its failures. */
#ifndef ALO_OUTPUT_H
#define ALO_OUTPUT_H

#include <aloft/base.h>

#include <stdio.h>

#include "exit_status.h"

typedef struct alo_output {
  FILE *file;
  const char *name; /* of the file, for errors */
  int error;        /* errno of the first failed write; nothing is written after it */
} alo_output;

/* Standard output, or the file `path` (emptied first) when not NULL. Reports a file that cannot be
 * opened, and returns false. */
bool alo_output_open(alo_output *output, const char *path);

void alo_output_put(alo_output *output, aloft_text text);
void alo_output_put_string(alo_output *output, const char *string);
void alo_output_fill(alo_output *output, char c, size_t count);

/* `text` in double quotes, with quotes, backslashes and control characters escaped. */
void alo_output_put_quoted(alo_output *output, aloft_text text);

/* Writes what is buffered. False: a write has failed, now or before. */
bool alo_output_flush(alo_output *output);

/* Flushes and closes. ALO_EXIT_OK also when the reader of a pipe has gone, for then it wants no
 * more; otherwise ALO_EXIT_LOCAL, reported. */
alo_exit alo_output_close(alo_output *output);

#endif
