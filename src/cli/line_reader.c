#include "line_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interrupt.h"

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

static bool append(alo_line_reader *reader, const char *data, size_t size) {
  size_t room = reader->own.room == 0 ? 256 : reader->own.room;
  if (size > reader->line_max - reader->own.size) {
    errno = EFBIG;
    return false;
  }
  while (room < reader->own.size + size)
    room *= 2;
  if (room != reader->own.room) {
    char *line = realloc(reader->own.line, room);
    if (line == NULL)
      return false;
    reader->own.line = line;
    reader->own.room = room;
  }
  memcpy(reader->own.line + reader->own.size, data, size);
  reader->own.size += size;
  return true;
}

/* The next block; 0 at the end, -1 with errno. */
static ssize_t fill(alo_line_reader *reader) {
  ssize_t got = -1;
  do {
    if (!alo_interrupt_wait_readable(reader->descriptor))
      return -1;
    got = read(reader->descriptor, reader->own.block, sizeof reader->own.block);
  } while (got < 0 && errno == EINTR);
  reader->own.at = 0;
  reader->own.end = got > 0 ? (size_t)got : 0;
  return got;
}

/* Appends what the block holds up to a line's end; true when the line is complete. */
static bool take_from_block(alo_line_reader *reader, bool *failed) {
  const char *begin = reader->own.block + reader->own.at;
  size_t left = reader->own.end - reader->own.at;
  const char *end = left > 0 ? memchr(begin, '\n', left) : NULL;
  size_t size = end != NULL ? (size_t)(end - begin) : left;
  *failed = !append(reader, begin, size);
  reader->own.at += end != NULL ? size + 1 : size;
  return end != NULL;
}

alo_line_status alo_line_reader_next(alo_line_reader *reader, aloft_text *line) {
  bool failed = false, complete = false;
  if (reader->descriptor < 0)
    return next_in_text(reader, line);
  reader->own.size = 0;
  while (!(complete = take_from_block(reader, &failed)) && !failed) {
    ssize_t got = fill(reader);
    if (got < 0)
      return ALO_LINE_FAILED;
    if (got == 0)
      break;
  }
  if (failed)
    return ALO_LINE_FAILED;
  if (!complete && reader->own.size == 0)
    return ALO_LINE_END;
  *line = (aloft_text){reader->own.line, reader->own.size};
  return ALO_LINE_OK;
}

void alo_line_reader_free(alo_line_reader *reader) {
  free(reader->own.line);
  reader->own.line = NULL;
  reader->own.size = reader->own.room = 0;
}
