/* The reply to one request: rows as JSON, in memory that grows up to a limit and is kept from
 * request to request. */
#ifndef ALO_REPLY_H
#define ALO_REPLY_H

#include <aloft/json.h>
#include <aloft/tds.h>

typedef struct alo_reply {
  aloft_json_writer writer;
  char *memory;
  size_t room, size_max;
  size_t sets; /* result sets begun */
  uint64_t rows;
} alo_reply;

enum { ALO_REPLY_COLUMN_ERROR_MAX = 256 };

/* Begins a reply of at most `size_max` bytes. ALOFT_NO_MEMORY. */
aloft_status alo_reply_begin(alo_reply *reply, size_t size_max);

/* A result set. ALOFT_ARGUMENT: two columns have one name, or one has none, as `error` says;
 * ALOFT_TOO_LARGE; ALOFT_NO_MEMORY. */
aloft_status alo_reply_add_set(alo_reply *reply, const aloft_tds_query *query,
                               char error[ALO_REPLY_COLUMN_ERROR_MAX]);

/* The query's current row. ALOFT_TOO_LARGE: over `size_max`; ALOFT_NO_MEMORY. */
aloft_status alo_reply_add_row(alo_reply *reply, aloft_tds_query *query);

/* The whole: [] without a result set, an array of row objects with one, an array of such arrays
 * with several. A view until the next call. ALOFT_TOO_LARGE, ALOFT_NO_MEMORY. */
aloft_status alo_reply_end(alo_reply *reply, aloft_bytes *body);

void alo_reply_free(alo_reply *reply);

#endif
