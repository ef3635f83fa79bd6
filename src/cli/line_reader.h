/* Lines of a file or of a text in memory, of any length within a limit. */
#ifndef ALO_LINE_READER_H
#define ALO_LINE_READER_H

#include <aloft/base.h>

typedef enum alo_line_status {
  ALO_LINE_OK,
  ALO_LINE_END,
  ALO_LINE_FAILED /* errno says why; EINTR: a signal came; EFBIG: over the limit */
} alo_line_status;

enum { ALO_LINE_BLOCK = 16384 };

/* Set the first three members; the rest begins zeroed. */
typedef struct alo_line_reader {
  int descriptor;  /* read from here, or when -1 */
  aloft_text text; /* from here [op]; moves on */
  size_t line_max;
  struct {
    char *line;
    size_t size, room;
    char block[ALO_LINE_BLOCK];
    size_t at, end; /* of what is in the block */
  } own;
} alo_line_reader;

/* The next line without its '\n', valid until the next call. */
alo_line_status alo_line_reader_next(alo_line_reader *reader, aloft_text *line);

void alo_line_reader_free(alo_line_reader *reader);

#endif
