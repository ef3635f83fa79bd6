/* SQL scripts, line by line, into batches: what lies between lines that hold only GO. */
#ifndef ALO_SQL_BATCH_H
#define ALO_SQL_BATCH_H

#include <aloft/base.h>

/* Of one batch, in bytes. */
#define ALO_SQL_BATCH_SIZE_MAX ((size_t)32 << 20)

typedef enum alo_sql_line {
  ALO_SQL_TEXT,  /* the line belongs to the batch */
  ALO_SQL_GO,    /* the batch is complete: run it `count` times, then clear it */
  ALO_SQL_RESET, /* the batch was thrown away */
  ALO_SQL_QUIT,  /* the script ends here, without running what is in the batch */
  ALO_SQL_ERROR  /* see `error`; the line is not in the batch */
} alo_sql_line;

/* Zeroed but for the first two members. */
typedef struct alo_sql_batch {
  const char *terminator; /* "GO"; case is ignored */
  bool dollar_is_text;    /* $(NAME) is sent as it is, not refused as a variable */

  char *text;
  size_t size;
  int64_t count;     /* of the last ALO_SQL_GO, 1 to 1,000,000 */
  uint64_t lines;    /* read so far */
  const char *error; /* says what to do */
  struct {
    size_t room;
    char quote; /* ' or " or ] while inside such a text */
    unsigned comments;
  } own;
} alo_sql_batch;

/* Takes the next line, without its line ending [call]. Lines inside a quoted text or a comment are
 * always text. */
alo_sql_line alo_sql_batch_add(alo_sql_batch *batch, aloft_text line);

/* True when there is nothing but blanks in it. */
bool alo_sql_batch_is_blank(const alo_sql_batch *batch);

/* True when the text so far ends inside a quoted text or a comment. */
bool alo_sql_batch_is_open(const alo_sql_batch *batch);

void alo_sql_batch_clear(alo_sql_batch *batch);
void alo_sql_batch_free(alo_sql_batch *batch);

#endif
