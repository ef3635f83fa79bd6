#include "reply.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Integers beyond are not exact in most JSON readers. */
#define EXACT_MAX (INT64_C(1) << 53)

enum { ROOM_MIN = 4096, FRAME = 2 /* the outer brackets, which one result set goes without */ };

void alo_reply_free(alo_reply *reply) {
  free(reply->memory);
  *reply = (alo_reply){0};
}

/* Room for `size` bytes and some more. What the writer has counted beyond is lost: the caller
 * writes it again. */
static aloft_status grow(alo_reply *reply, size_t size) {
  size_t room = reply->room > 0 ? reply->room : ROOM_MIN, most = reply->size_max + FRAME;
  if (size > most)
    return ALOFT_TOO_LARGE;
  while (room < size)
    room *= 2;
  if (room > most && reply->room < most)
    room = most > ROOM_MIN ? most : ROOM_MIN;
  char *memory = realloc(reply->memory, room);
  if (memory == NULL)
    return ALOFT_NO_MEMORY;
  reply->memory = memory;
  reply->room = room;
  return ALOFT_OK;
}

/* True: what was written since `before` fits. False: it is taken back, and `*status` says whether
 * there is room now. */
static bool fits(alo_reply *reply, const aloft_json_writer *before, aloft_status *status) {
  size_t size = reply->writer.size;
  *status = ALOFT_OK;
  if (size <= reply->room) {
    if (size > reply->size_max + FRAME)
      *status = ALOFT_TOO_LARGE;
    return true;
  }
  *status = grow(reply, size);
  reply->writer = *before;
  reply->writer.buffer = reply->memory;
  reply->writer.room = reply->room;
  return false;
}

aloft_status alo_reply_begin(alo_reply *reply, size_t size_max) {
  reply->size_max = size_max > SIZE_MAX / 4 ? SIZE_MAX / 4 : size_max;
  reply->sets = 0;
  reply->rows = 0;
  if (reply->room == 0 && grow(reply, FRAME) != ALOFT_OK)
    return ALOFT_NO_MEMORY;
  aloft_json_writer_init(&reply->writer, reply->memory, reply->room);
  aloft_json_write_array(&reply->writer);
  return ALOFT_OK;
}

/* ---- columns ---- */

static bool is_twice(const aloft_tds_query *query, size_t column, aloft_text name) {
  for (size_t i = 0; i < column; i++) {
    if (aloft_text_equal(name, aloft_tds_get_column(query, i)->name))
      return true;
  }
  return false;
}

static bool check_names(const alo_reply *reply, const aloft_tds_query *query, char *error) {
  size_t count = aloft_tds_column_count(query);
  for (size_t i = 0; i < count; i++) {
    aloft_text name = aloft_tds_get_column(query, i)->name;
    bool twice = is_twice(query, i, name);
    if (name.size == 0)
      snprintf(error, ALO_REPLY_COLUMN_ERROR_MAX,
               "column %zu of result set %zu has no name: give it one with AS", i + 1,
               reply->sets + 1);
    else if (twice)
      snprintf(error, ALO_REPLY_COLUMN_ERROR_MAX,
               "result set %zu has two columns named '%.*s': rename one with AS", reply->sets + 1,
               ALOFT_PRINT(name));
    if (name.size == 0 || twice)
      return false;
  }
  return true;
}

aloft_status alo_reply_add_set(alo_reply *reply, const aloft_tds_query *query,
                               char error[ALO_REPLY_COLUMN_ERROR_MAX]) {
  aloft_status status;
  aloft_json_writer before = reply->writer;
  if (aloft_tds_column_count(query) > 0 && aloft_tds_get_column(query, 0) == NULL)
    return ALOFT_NO_MEMORY; /* the others are there when the first is */
  if (!check_names(reply, query, error))
    return ALOFT_ARGUMENT;
  do {
    if (reply->sets > 0)
      aloft_json_write_close(&reply->writer);
    aloft_json_write_array(&reply->writer);
  } while (!fits(reply, &before, &status) && status == ALOFT_OK);
  reply->sets++;
  return status;
}

/* ---- values ---- */

static void write_integer(aloft_json_writer *writer, aloft_tds_query *query, size_t column) {
  int64_t value = aloft_tds_int64(query, column);
  if (value >= -EXACT_MAX && value <= EXACT_MAX)
    aloft_json_write_int64(writer, value);
  else
    aloft_json_write_string(writer, aloft_tds_text(query, column));
}

/* The canonical text is the shortest of its precision, and JSON unless not finite. */
static void write_real(aloft_json_writer *writer, aloft_tds_query *query, size_t column) {
  if (isfinite(aloft_tds_double(query, column)))
    aloft_json_write_raw(writer, aloft_tds_text(query, column));
  else
    aloft_json_write_string(writer, aloft_tds_text(query, column));
}

static void write_value(aloft_json_writer *writer, aloft_tds_query *query, size_t column,
                        aloft_tds_type type) {
  if (aloft_tds_is_null(query, column)) {
    aloft_json_write_null(writer);
    return;
  }
  switch (type) {
  case ALOFT_TDS_BIT:
    aloft_json_write_bool(writer, aloft_tds_bit(query, column));
    return;
  case ALOFT_TDS_TINYINT:
  case ALOFT_TDS_SMALLINT:
  case ALOFT_TDS_INT:
  case ALOFT_TDS_BIGINT:
    write_integer(writer, query, column);
    return;
  case ALOFT_TDS_REAL:
  case ALOFT_TDS_FLOAT:
    write_real(writer, query, column);
    return;
  default:
    aloft_json_write_string(writer, aloft_tds_text(query, column));
    return;
  }
}

static void write_row(aloft_json_writer *writer, aloft_tds_query *query) {
  size_t count = aloft_tds_column_count(query);
  aloft_json_write_object(writer);
  for (size_t i = 0; i < count; i++) {
    const aloft_tds_column *column = aloft_tds_get_column(query, i);
    aloft_json_write_name(writer, column->name);
    write_value(writer, query, i, column->type);
  }
  aloft_json_write_close(writer);
}

/* A row that does not fit is written again once there is room. */
aloft_status alo_reply_add_row(alo_reply *reply, aloft_tds_query *query) {
  aloft_status status;
  aloft_json_writer before = reply->writer;
  do
    write_row(&reply->writer, query);
  while (!fits(reply, &before, &status) && status == ALOFT_OK);
  reply->rows++;
  return status;
}

/* ---- the end ---- */

aloft_status alo_reply_end(alo_reply *reply, aloft_bytes *body) {
  aloft_status status;
  aloft_json_writer before = reply->writer;
  do {
    if (reply->sets > 0)
      aloft_json_write_close(&reply->writer);
    aloft_json_write_close(&reply->writer);
  } while (!fits(reply, &before, &status) && status == ALOFT_OK);
  if (status != ALOFT_OK)
    return status;
  size_t cut = reply->sets == 1 ? 1 : 0;
  *body = (aloft_bytes){reply->memory + cut, reply->writer.size - 2 * cut};
  return body->size > reply->size_max ? ALOFT_TOO_LARGE : ALOFT_OK;
}
