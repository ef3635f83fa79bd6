#include "sql_batch.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "utf8_check.h"

enum { GO_COUNT_MAX = 1000000 };

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name(char c) {
  return is_letter(c) || c == '_' || (c >= '0' && c <= '9');
}

static aloft_text trim(aloft_text text) {
  while (text.size > 0 && is_blank(text.data[0]))
    text = (aloft_text){text.data + 1, text.size - 1};
  while (text.size > 0 && is_blank(text.data[text.size - 1]))
    text.size--;
  return text;
}

/* True when `line` begins with `word` and no name goes on after it; `*rest` is what follows. */
static bool begins_with(aloft_text line, const char *word, aloft_text *rest) {
  size_t size = strlen(word);
  if (line.size < size || strncasecmp(line.data, word, size) != 0)
    return false;
  *rest = (aloft_text){line.data + size, line.size - size};
  return rest->size == 0 || !is_name(rest->data[0]);
}

static alo_sql_line fail(alo_sql_batch *batch, const char *error) {
  batch->error = error;
  return ALO_SQL_ERROR;
}

/* ---- lines that are commands ---- */

/* What follows GO: nothing, or a count, and perhaps a comment. */
static alo_sql_line take_go(alo_sql_batch *batch, aloft_text rest) {
  int64_t count = 0;
  size_t at = 0;
  rest = trim(rest);
  for (; at < rest.size && rest.data[at] >= '0' && rest.data[at] <= '9'; at++) {
    if (count <= GO_COUNT_MAX)
      count = count * 10 + (rest.data[at] - '0');
  }
  bool counted = at > 0;
  aloft_text after = trim((aloft_text){rest.data + at, rest.size - at});
  bool comment = after.size >= 2 && after.data[0] == '-' && after.data[1] == '-';
  if ((after.size > 0 && !comment) || (counted && (count < 1 || count > GO_COUNT_MAX)))
    return fail(batch, "the batch terminator may be followed by a count from 1 to 1000000 and "
                       "nothing else");
  batch->count = counted ? count : 1;
  return ALO_SQL_GO;
}

static alo_sql_line take_exit(alo_sql_batch *batch, aloft_text rest) {
  if (trim(rest).size > 0)
    return fail(batch, "exit with a query is not available: write EXIT alone, and let -b give the "
                       "exit status");
  return ALO_SQL_QUIT;
}

/* True when the line is a command; `*kind` says what came of it. */
static bool take_command(alo_sql_batch *batch, aloft_text line, alo_sql_line *kind) {
  aloft_text rest;
  line = trim(line);
  if (begins_with(line, batch->terminator, &rest) && (rest.size == 0 || rest.data[0] != ';')) {
    *kind = take_go(batch, rest);
    return true;
  }
  bool colon = line.size > 1 && line.data[0] == ':' && line.data[1] != ':';
  aloft_text word = colon ? (aloft_text){line.data + 1, line.size - 1} : line;
  if (begins_with(word, "exit", &rest) &&
      (colon || rest.size == 0 || rest.data[0] == '(' || is_blank(rest.data[0])))
    *kind = take_exit(batch, rest);
  else if (begins_with(word, "quit", &rest) && rest.size == 0)
    *kind = ALO_SQL_QUIT;
  else if (begins_with(word, "reset", &rest) && rest.size == 0)
    *kind = ALO_SQL_RESET;
  else if ((colon && is_letter(line.data[1])) || (word.size > 1 && memcmp(word.data, "!!", 2) == 0))
    *kind = fail(batch, "commands of sqlcmd other than GO, EXIT, QUIT and RESET are not available: "
                        "take the line out");
  else
    return false;
  if (*kind == ALO_SQL_RESET)
    alo_sql_batch_clear(batch);
  return true;
}

/* ---- lines that are text ---- */

static bool is_variable(aloft_text line, size_t at) {
  size_t end = at + 2;
  if (line.size < end + 2 || memcmp(line.data + at, "$(", 2) != 0)
    return false;
  while (end < line.size && (is_name(line.data[end]) || line.data[end] == '-'))
    end++;
  return end > at + 2 && end < line.size && line.data[end] == ')';
}

/* Where a comment or quoted text begins or ends at `at`: notes it and returns how many more
 * characters belong to that mark. Inside neither, a line comment ends the scan. */
static size_t scan_mark(alo_sql_batch *batch, aloft_text line, size_t at) {
  char c = line.data[at];
  char next = '\0';
  if (at + 1 < line.size)
    next = line.data[at + 1];
  if (batch->own.quote != '\0') {
    if (c == batch->own.quote)
      batch->own.quote = '\0';
    return 0;
  }
  if (c == '/' && next == '*') {
    batch->own.comments++;
    return 1;
  }
  if (batch->own.comments > 0) {
    if (c != '*' || next != '/')
      return 0;
    batch->own.comments--;
    return 1;
  }
  if (c == '-' && next == '-')
    return line.size - at;
  if (c == '\'' || c == '"' || c == '[')
    batch->own.quote = c;
  if (c == '[')
    batch->own.quote = ']';
  return 0;
}

static bool has_variable(aloft_text line) {
  for (size_t at = 0; at < line.size; at++) {
    if (is_variable(line, at))
      return true;
  }
  return false;
}

static bool make_room(alo_sql_batch *batch, size_t size) {
  size_t room = batch->own.room == 0 ? 4096 : batch->own.room;
  while (room < size)
    room *= 2;
  if (room == batch->own.room)
    return true;
  char *text = realloc(batch->text, room);
  if (text == NULL)
    return false;
  batch->text = text;
  batch->own.room = room;
  return true;
}

static alo_sql_line take_text(alo_sql_batch *batch, aloft_text line) {
  if (!batch->dollar_is_text && has_variable(line))
    return fail(batch, "$(NAME) stands for a variable of sqlcmd, which are not available: put in "
                       "its value, or give -x to send it as it is");
  if (line.size > ALO_SQL_BATCH_SIZE_MAX || batch->size + line.size + 1 > ALO_SQL_BATCH_SIZE_MAX)
    return fail(batch, "the batch is over 32 MiB: put GO lines between its statements");
  if (!make_room(batch, batch->size + line.size + 1))
    return fail(batch, "out of memory");
  for (size_t at = 0; at < line.size; at++)
    at += scan_mark(batch, line, at);
  if (line.size > 0)
    memcpy(batch->text + batch->size, line.data, line.size);
  batch->size += line.size;
  batch->text[batch->size++] = '\n';
  return ALO_SQL_TEXT;
}

alo_sql_line alo_sql_batch_add(alo_sql_batch *batch, aloft_text line) {
  alo_sql_line kind;
  batch->lines++;
  if (line.size > 0 && line.data[line.size - 1] == '\r')
    line.size--;
  if (!alo_utf8_is_valid(line))
    return fail(batch, "the line is not UTF-8 text: convert the script with iconv");
  if (!alo_sql_batch_is_open(batch) && take_command(batch, line, &kind))
    return kind;
  return take_text(batch, line);
}

bool alo_sql_batch_is_blank(const alo_sql_batch *batch) {
  for (size_t i = 0; i < batch->size; i++) {
    if (!is_blank(batch->text[i]) && batch->text[i] != '\n')
      return false;
  }
  return true;
}

bool alo_sql_batch_is_open(const alo_sql_batch *batch) {
  return batch->own.quote != '\0' || batch->own.comments > 0;
}

void alo_sql_batch_clear(alo_sql_batch *batch) {
  batch->size = 0;
  batch->own.quote = '\0';
  batch->own.comments = 0;
}

void alo_sql_batch_free(alo_sql_batch *batch) {
  free(batch->text);
  batch->text = NULL;
  batch->size = batch->own.room = 0;
}
