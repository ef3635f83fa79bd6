#include "line_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static alo_line_status next_in_text(alo_line_reader *reader, aloft_text *line) {
  if (reader->text.size == 0)
    return ALO_LINE_END;
  const char *end = memchr(reader->text.data, '\n', reader->text.size);
  size_t size = end != NULL ? (size_t)(end - reader->text.data) : reader->text.size;
  size_t taken = end != NULL ? size + 1 : size;
  *line = (aloft_text){reader->text.data, size};
  reader->text = (aloft_text){reader->text.data + taken, reader->text.size - taken};
  return ALO_LINE_OK;
}

static bool append(alo_line_reader *reader, char c) {
  if (reader->size == reader->room) {
    size_t room = reader->room == 0 ? 256 : reader->room * 2;
    char *line = realloc(reader->line, room);
    if (line == NULL) {
      errno = ENOMEM;
      return false;
    }
    reader->line = line;
    reader->room = room;
  }
  reader->line[reader->size++] = c;
  return true;
}

alo_line_status alo_line_reader_next(alo_line_reader *reader, aloft_text *line) {
  int c = EOF;
  if (reader->file == NULL)
    return next_in_text(reader, line);
  reader->size = 0;
  errno = 0;
  while ((c = getc(reader->file)) != EOF && c != '\n') {
    if (reader->size == reader->line_max) {
      errno = EFBIG;
      return ALO_LINE_FAILED;
    }
    if (!append(reader, (char)c))
      return ALO_LINE_FAILED;
  }
  if (c == EOF && ferror(reader->file))
    return ALO_LINE_FAILED;
  if (c == EOF && reader->size == 0)
    return ALO_LINE_END;
  *line = (aloft_text){reader->size > 0 ? reader->line : "", reader->size};
  return ALO_LINE_OK;
}

void alo_line_reader_free(alo_line_reader *reader) {
  free(reader->line);
  reader->line = NULL;
  reader->size = reader->room = 0;
}
