/* Columns and values of the current row, decoded when asked. */
#include <string.h>

#include "tds_connection.h"
#include "heap.h"

/* Flags of a column, MS-TDS 2.2.7.4. */
enum {
  FLAG_NULLABLE = 0x0001,
  FLAG_IDENTITY = 0x0010,
  FLAG_COMPUTED = 0x0020,
  FLAG_HIDDEN = 0x2000,
  FLAG_KEY = 0x4000
};

/* ---- columns ---- */

static bool is_character(aloft_tds_type type) {
  return type == ALOFT_TDS_CHAR || type == ALOFT_TDS_VARCHAR || type == ALOFT_TDS_NCHAR ||
         type == ALOFT_TDS_NVARCHAR || type == ALOFT_TDS_TEXT || type == ALOFT_TDS_NTEXT;
}

static void show_column(aloft_tds_column *column, const alo_tds_column_info *info) {
  const alo_tds_type *type = &info->type;
  *column = (aloft_tds_column){.name = info->name,
                               .type = alo_tds_type_public(type),
                               .type_name = alo_tds_type_name(type),
                               .max = alo_tds_type_is_plp(type),
                               .precision = type->precision,
                               .scale = type->scale,
                               .nullable = (info->flags & FLAG_NULLABLE) != 0,
                               .identity = (info->flags & FLAG_IDENTITY) != 0,
                               .computed = (info->flags & FLAG_COMPUTED) != 0,
                               .hidden = (info->flags & FLAG_HIDDEN) != 0,
                               .key = (info->flags & FLAG_KEY) != 0};
  if (!column->max)
    column->size = type->size;
  if (is_character(column->type))
    memcpy(column->collation, type->collation, sizeof column->collation);
}

static bool make_room(aloft_tds *tds, uint32_t count) {
  if (count <= tds->column_room)
    return true;
  size_t size = sizeof *tds->columns;
  void *columns =
      alo_heap_resize(&tds->loop->heap, tds->columns, tds->column_room * size, count * size);
  if (!columns)
    return false;
  tds->columns = columns;
  tds->column_room = count;
  return true;
}

static bool show_columns(aloft_tds *tds) {
  size_t count = alo_tds_reader_column_count(tds->reader);
  if (!make_room(tds, (uint32_t)count))
    return false;
  for (size_t at = 0; at < count; at++)
    show_column(&tds->columns[at], alo_tds_reader_column(tds->reader, at));
  tds->columns_shown = true;
  return true;
}

/* NULL: the query is not the one being read. */
static aloft_tds *reading(const aloft_tds_query *query) {
  if (alo_op_idle(&query->op))
    return NULL;
  aloft_tds *tds = query->own.tds;
  return tds->active == query || tds->finished == query ? tds : NULL;
}

size_t aloft_tds_column_count(const aloft_tds_query *query) {
  const aloft_tds *tds = reading(query);
  return tds ? alo_tds_reader_column_count(tds->reader) : 0;
}

const aloft_tds_column *aloft_tds_get_column(const aloft_tds_query *query, size_t column) {
  aloft_tds *tds = reading(query);
  if (!tds || column >= alo_tds_reader_column_count(tds->reader))
    return NULL;
  return tds->columns_shown || show_columns(tds) ? &tds->columns[column] : NULL;
}

/* ---- what an accessor cannot give ---- */

/* The first mistake counts: the next step ends the query with it. Until then `detail` may still be
 * the error of the query before. */
static void misuse(aloft_tds *tds, size_t column, aloft_status status, const char *what) {
  if (tds->misuse.status == ALOFT_OK)
    tds->misuse = (alo_tds_misuse){status, column, what};
}

/* Between messages the columns are those of the query before. */
void alo_tds_misuse_describe(aloft_tds *tds) {
  const alo_tds_misuse *misuse = &tds->misuse;
  const alo_tds_column_info *info = alo_tds_reader_has(tds->reader, ALO_TDS_HAS_PENDING)
                                        ? alo_tds_reader_column(tds->reader, misuse->column)
                                        : NULL;
  aloft_text name = info ? info->name : (aloft_text){"", 0};
  if (name.size > 200)
    name.size = 200;
  alo_tds_detail_format(&tds->detail, misuse->status, "column %zu (%.*s): %s", misuse->column + 1,
                        ALOFT_PRINT(name), misuse->what);
}

typedef struct place {
  aloft_tds *tds;
  const alo_tds_type *type;
  const alo_tds_cell *cell;
} place;

/* False: there is no such value. */
static bool find(const aloft_tds_query *query, size_t column, place *at) {
  at->tds = reading(query);
  if (!at->tds || at->tds->active != query)
    return false;
  at->cell = at->tds->in_row ? alo_tds_reader_cell(at->tds->reader, column) : NULL;
  if (!at->cell) {
    misuse(at->tds, column, ALOFT_WRONG_TYPE,
           at->tds->in_row ? "there is no such column" : "there is no row");
    return false;
  }
  at->type = &alo_tds_reader_column(at->tds->reader, column)->type;
  return true;
}

/* The same for a value that can be read, which NULL is not. */
static bool find_value(const aloft_tds_query *query, size_t column, place *at, const char *wanted) {
  if (!find(query, column, at))
    return false;
  if (at->cell->over) {
    misuse(at->tds, column, ALOFT_TOO_LARGE, "the value is larger than value_max");
    return false;
  }
  if (at->cell->null && wanted) {
    misuse(at->tds, column, ALOFT_WRONG_TYPE, wanted);
    return false;
  }
  return true;
}

/* What a decoder says: NULL, or what is wrong. */
static bool decoded(const place *at, size_t column, const char *wrong) {
  if (wrong)
    misuse(at->tds, column, ALOFT_WRONG_TYPE, wrong);
  return !wrong;
}

/* ---- values ---- */

bool aloft_tds_is_null(aloft_tds_query *query, size_t column) {
  place at;
  return find(query, column, &at) ? at.cell->null : true;
}

static int64_t integer(aloft_tds_query *query, size_t column) {
  place at;
  int64_t value = 0;
  if (!find_value(query, column, &at, "NULL where an integer is asked for"))
    return 0;
  const char *wrong = alo_tds_value_int64(at.type, at.cell->data, at.cell->size, &value);
  return decoded(&at, column, wrong) ? value : 0;
}

bool aloft_tds_bit(aloft_tds_query *query, size_t column) {
  place at;
  if (!find_value(query, column, &at, "NULL where a bit is asked for"))
    return false;
  if (alo_tds_type_public(at.type) != ALOFT_TDS_BIT)
    return decoded(&at, column, "not a bit");
  return integer(query, column) != 0;
}

int32_t aloft_tds_int32(aloft_tds_query *query, size_t column) {
  place at;
  int64_t value = integer(query, column);
  if (value >= INT32_MIN && value <= INT32_MAX)
    return (int32_t)value;
  if (find(query, column, &at))
    misuse(at.tds, column, ALOFT_WRONG_TYPE, "the value does not fit 32 bits");
  return 0;
}

int64_t aloft_tds_int64(aloft_tds_query *query, size_t column) {
  return integer(query, column);
}

double aloft_tds_double(aloft_tds_query *query, size_t column) {
  place at;
  double value = 0;
  if (!find_value(query, column, &at, "NULL where a real or float is asked for"))
    return 0;
  const char *wrong = alo_tds_value_double(at.type, at.cell->data, at.cell->size, &value);
  return decoded(&at, column, wrong) ? value : 0;
}

aloft_tds_decimal aloft_tds_get_decimal(aloft_tds_query *query, size_t column) {
  place at;
  aloft_tds_decimal value = {0};
  if (!find_value(query, column, &at, "NULL where a decimal is asked for"))
    return value;
  const char *wrong = alo_tds_value_decimal(at.type, at.cell->data, at.cell->size, &value);
  return decoded(&at, column, wrong) ? value : (aloft_tds_decimal){0};
}

aloft_tds_moment aloft_tds_get_moment(aloft_tds_query *query, size_t column) {
  place at;
  aloft_tds_moment value = {0};
  if (!find_value(query, column, &at, "NULL where a date or time is asked for"))
    return value;
  const char *wrong = alo_tds_value_moment(at.type, at.cell->data, at.cell->size, &value);
  return decoded(&at, column, wrong) ? value : (aloft_tds_moment){0};
}

aloft_tds_uuid aloft_tds_get_uuid(aloft_tds_query *query, size_t column) {
  place at;
  aloft_tds_uuid value = {{0}};
  if (!find_value(query, column, &at, "NULL where a uniqueidentifier is asked for"))
    return value;
  const char *wrong = alo_tds_value_uuid(at.type, at.cell->data, at.cell->size, &value);
  return decoded(&at, column, wrong) ? value : (aloft_tds_uuid){{0}};
}

aloft_bytes aloft_tds_get_bytes(aloft_tds_query *query, size_t column) {
  const aloft_bytes absent = {NULL, 0};
  place at;
  if (!find_value(query, column, &at, NULL) || at.cell->null)
    return absent;
  aloft_tds_type type = alo_tds_type_public(at.type);
  if (type != ALOFT_TDS_BINARY && type != ALOFT_TDS_VARBINARY && type != ALOFT_TDS_IMAGE) {
    decoded(&at, column, "not a binary type");
    return absent;
  }
  return (aloft_bytes){at.cell->data, at.cell->size};
}

/* Made in the reader's row memory, once; the cell keeps the bytes as they came. */
static aloft_text make_text(const place *at, size_t column) {
  alo_tds_reader *reader = at->tds->reader;
  size_t size = 0, room = alo_tds_value_text_room(at->type, at->cell->size) + 1;
  aloft_text *made = alo_tds_reader_made_text(reader, column);
  if (made && made->data)
    return *made;
  char *out = made ? alo_tds_reader_scratch(reader, room) : NULL;
  if (!out) {
    misuse(at->tds, column, ALOFT_NO_MEMORY, "no memory for its text");
    return (aloft_text){NULL, 0};
  }
  const char *wrong = alo_tds_value_text(at->type, at->cell->data, at->cell->size, out, &size);
  alo_tds_reader_scratch_return(reader, wrong ? room : room - size);
  if (decoded(at, column, wrong))
    *made = (aloft_text){out, size};
  return *made;
}

aloft_text aloft_tds_text(aloft_tds_query *query, size_t column) {
  place at;
  if (!find_value(query, column, &at, NULL) || at.cell->null)
    return (aloft_text){NULL, 0};
  if (at.cell->decoded)
    return (aloft_text){(const char *)at.cell->data, at.cell->size};
  return make_text(&at, column);
}
