/* Columns and values of the current row, decoded when asked. */
#include <string.h>

#include "tds_connection.h"
#include "heap.h"
#include "utf16.h"

/* Flags of a column, MS-TDS 2.2.7.4. */
enum {
  FLAG_NULLABLE = 0x0001,
  FLAG_IDENTITY = 0x0010,
  FLAG_COMPUTED = 0x0020,
  FLAG_HIDDEN = 0x2000,
  FLAG_KEY = 0x4000
};

enum { USER_TYPE_ROWVERSION = 0x50, NAME_SHOWN_MAX = 200 };

/* ---- columns ---- */

static bool is_rowversion(const alo_tds_column_info *info) {
  return info->user_type == USER_TYPE_ROWVERSION && info->type.size == 8 &&
         (info->type.token == ALO_TDS_BIGBINARY || info->type.token == ALO_TDS_BIGVARBINARY);
}

static aloft_tds_type type_of(const alo_tds_column_info *info) {
  return is_rowversion(info) ? ALOFT_TDS_ROWVERSION : alo_tds_type_public(&info->type);
}

static const char *type_name(const alo_tds_column_info *info) {
  return is_rowversion(info) ? "rowversion" : alo_tds_type_name(&info->type);
}

static bool is_max(const alo_tds_type *type) {
  return alo_tds_type_is_plp(type) && type->token != ALO_TDS_XML && type->token != ALO_TDS_JSON &&
         type->token != ALO_TDS_UDT;
}

static uint32_t size_of(const alo_tds_type *type) {
  return alo_tds_type_is_plp(type) && type->size == ALO_TDS_MAX_SIZE ? 0 : type->size;
}

static bool has_collation(const alo_tds_type *type) {
  return alo_tds_type_charset(type) != ALO_TDS_CHARSET_NONE && type->token != ALO_TDS_XML &&
         type->token != ALO_TDS_JSON;
}

static void show_column(aloft_tds_column *column, const alo_tds_column_info *info) {
  const alo_tds_type *type = &info->type;
  *column = (aloft_tds_column){.name = info->name,
                               .type = type_of(info),
                               .type_name = type_name(info),
                               .size = size_of(type),
                               .max = is_max(type),
                               .precision = type->precision,
                               .scale = type->scale,
                               .nullable = (info->flags & FLAG_NULLABLE) != 0,
                               .identity = (info->flags & FLAG_IDENTITY) != 0,
                               .computed = (info->flags & FLAG_COMPUTED) != 0,
                               .hidden = (info->flags & FLAG_HIDDEN) != 0,
                               .key = (info->flags & FLAG_KEY) != 0,
                               .table = info->table,
                               .base_name = info->base_name,
                               .udt = info->udt};
  if (has_collation(type))
    memcpy(column->collation, type->collation, sizeof column->collation);
}

/* An output parameter's value is column 0 of one. */
static size_t column_count(const aloft_tds *tds) {
  return tds->in_output ? 1 : alo_tds_reader_column_count(tds->reader);
}

static const alo_tds_column_info *info_of(const aloft_tds *tds, size_t column) {
  if (!tds->in_output)
    return alo_tds_reader_column(tds->reader, column);
  return column == 0 ? alo_tds_reader_return_value(tds->reader) : NULL;
}

/* With its column's `*info`, if there is one. */
static const alo_tds_cell *cell_of(const aloft_tds *tds, size_t column,
                                   const alo_tds_column_info **info) {
  if (!tds->in_output)
    return alo_tds_reader_value(tds->reader, column, info);
  *info = info_of(tds, column);
  return column == 0 ? alo_tds_reader_return_cell(tds->reader) : NULL;
}

/* NULL: the query is not the one being read. */
static aloft_tds *reading(const aloft_tds_query *query) {
  if (alo_op_idle(&query->op))
    return NULL;
  aloft_tds *tds = query->own.tds;
  return tds->active == query || tds->finished == query ? tds : NULL;
}

enum { FUNCTION_RESULT = 0x02 };

size_t aloft_tds_output(const aloft_tds_query *query) {
  const aloft_tds *tds = reading(query);
  uint8_t kind = 0;
  if (!tds || !tds->in_output)
    return query->param_count;
  uint16_t ordinal = alo_tds_reader_return_ordinal(tds->reader, &kind);
  return kind == FUNCTION_RESULT ? query->param_count : alo_tds_query_param(query, ordinal);
}

void alo_tds_show_output(aloft_tds *tds) {
  tds->in_row = true;
  tds->in_output = true;
  tds->columns_shown = false;
  tds->output_text = (aloft_text){NULL, 0};
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
  size_t count = column_count(tds);
  if (!make_room(tds, (uint32_t)count))
    return false;
  for (size_t at = 0; at < count; at++)
    show_column(&tds->columns[at], info_of(tds, at));
  tds->columns_shown = !tds->in_output; /* an output's is made again each time */
  tds->columns_told = alo_tds_reader_told(tds->reader);
  return true;
}

size_t aloft_tds_column_count(const aloft_tds_query *query) {
  const aloft_tds *tds = reading(query);
  return tds ? column_count(tds) : 0;
}

const aloft_tds_column *aloft_tds_get_column(const aloft_tds_query *query, size_t column) {
  aloft_tds *tds = reading(query);
  if (!tds || column >= column_count(tds))
    return NULL;
  bool shown = tds->columns_shown && tds->columns_told == alo_tds_reader_told(tds->reader);
  return (shown && !tds->in_output) || show_columns(tds) ? &tds->columns[column] : NULL;
}

/* ---- what an accessor cannot give ---- */

/* The first mistake counts: the next step ends the query with it. Until then `detail` may still be
 * the error of the query before. */
static void misuse(aloft_tds *tds, size_t column, aloft_status status, const char *what) {
  if (tds->misuse.status == ALOFT_OK)
    tds->misuse = (alo_tds_misuse){.status = status, .column = column, .what = what};
}

static const char *accessor_of(aloft_tds_type type) {
  switch (type) {
  case ALOFT_TDS_BIT:
    return "aloft_tds_bit";
  case ALOFT_TDS_TINYINT:
  case ALOFT_TDS_SMALLINT:
  case ALOFT_TDS_INT:
    return "aloft_tds_int32";
  case ALOFT_TDS_BIGINT:
    return "aloft_tds_int64";
  case ALOFT_TDS_REAL:
  case ALOFT_TDS_FLOAT:
    return "aloft_tds_double";
  case ALOFT_TDS_DECIMAL:
  case ALOFT_TDS_NUMERIC:
  case ALOFT_TDS_SMALLMONEY:
  case ALOFT_TDS_MONEY:
    return "aloft_tds_get_decimal";
  case ALOFT_TDS_UNIQUEIDENTIFIER:
    return "aloft_tds_get_uuid";
  case ALOFT_TDS_DATE:
  case ALOFT_TDS_TIME:
  case ALOFT_TDS_SMALLDATETIME:
  case ALOFT_TDS_DATETIME:
  case ALOFT_TDS_DATETIME2:
  case ALOFT_TDS_DATETIMEOFFSET:
    return "aloft_tds_get_moment";
  case ALOFT_TDS_BINARY:
  case ALOFT_TDS_VARBINARY:
  case ALOFT_TDS_IMAGE:
  case ALOFT_TDS_UDT:
  case ALOFT_TDS_ROWVERSION:
    return "aloft_tds_get_bytes";
  default:
    return "aloft_tds_text";
  }
}

/* Between messages the columns are those of the query before. */
void alo_tds_misuse_describe(aloft_tds *tds) {
  const alo_tds_misuse *misuse = &tds->misuse;
  const alo_tds_column_info *info =
      alo_tds_reader_has(tds->reader, ALO_TDS_HAS_PENDING) ? info_of(tds, misuse->column) : NULL;
  aloft_text name = info ? info->name : (aloft_text){"", 0};
  if (name.size > NAME_SHOWN_MAX) {
    name.size = NAME_SHOWN_MAX;
    name.size = alo_utf8_valid(name.data, name.size);
  }
  if (misuse->what)
    alo_tds_detail_format(&tds->detail, misuse->status, "column %zu (%.*s): %s", misuse->column + 1,
                          ALOFT_PRINT(name), misuse->what);
  else
    alo_tds_detail_format(&tds->detail, misuse->status,
                          "column %zu (%.*s) is %s%s%s, not %s: %s %s", misuse->column + 1,
                          ALOFT_PRINT(name), misuse->type, misuse->base ? " of " : "",
                          misuse->base ? misuse->base : "", misuse->asked,
                          misuse->null ? "ask first with" : "use", misuse->use);
}

typedef struct place {
  aloft_tds *tds;
  const alo_tds_column_info *info;
  const alo_tds_type *type;
  const alo_tds_cell *cell;
} place;

/* False: there is no such value. */
static bool find(const aloft_tds_query *query, size_t column, place *at) {
  at->tds = reading(query);
  if (!at->tds || at->tds->active != query)
    return false;
  at->cell = at->tds->in_row ? cell_of(at->tds, column, &at->info) : NULL;
  if (!at->cell)
    return false;
  at->type = &at->info->type;
  return true;
}

/* A column of the row that large values in pieces still keep away. */
static bool is_to_come(const aloft_tds *tds, size_t column) {
  return tds->in_row && tds->row_begun && column < column_count(tds);
}

static const char *why_not_there(const aloft_tds *tds, size_t column) {
  if (is_to_come(tds, column))
    return tds->value_open && column == alo_tds_reader_open_column(tds->reader)
               ? "it is read in pieces: use aloft_tds_read"
               : "it comes later in the row: step until ALOFT_MORE shows it";
  return tds->in_row ? "there is no such column" : "there is no row";
}

static bool find_or_blame(const aloft_tds_query *query, size_t column, place *at) {
  if (find(query, column, at))
    return true;
  if (at->tds && at->tds->active == query)
    misuse(at->tds, column, ALOFT_WRONG_TYPE, why_not_there(at->tds, column));
  return false;
}

static void blame_null(const place *at, size_t column, const char *asked) {
  if (at->tds->misuse.status == ALOFT_OK)
    at->tds->misuse = (alo_tds_misuse){.status = ALOFT_WRONG_TYPE,
                                       .column = column,
                                       .null = true,
                                       .type = "NULL",
                                       .asked = asked,
                                       .use = "aloft_tds_is_null"};
}

/* A value that can be read; with `asked` that is no NULL either. */
static bool find_value(const aloft_tds_query *query, size_t column, place *at, const char *asked) {
  if (!find_or_blame(query, column, at))
    return false;
  if (at->cell->over || at->cell->pieced) {
    if (at->cell->over)
      misuse(at->tds, column, ALOFT_TOO_LARGE, "the value is larger than value_max");
    else
      misuse(at->tds, column, ALOFT_WRONG_TYPE,
             "it was to be read in pieces, and the row has gone on");
    return false;
  }
  if (at->cell->null && asked) {
    blame_null(at, column, asked);
    return false;
  }
  return true;
}

/* The value as its own type, out of a sql_variant; `wrong`: what is wrong with that. */
static aloft_tds_type open_variant(const place *at, alo_tds_type *base, aloft_bytes *value,
                                   const char **wrong) {
  *wrong = NULL;
  *value = (aloft_bytes){at->cell->data, at->cell->size};
  *base = *at->type;
  if (at->type->token != ALO_TDS_SSVARIANT || at->cell->null)
    return type_of(at->info);
  *wrong = alo_tds_value_variant(at->cell->data, at->cell->size, base, value);
  return *wrong ? ALOFT_TDS_UNKNOWN : alo_tds_type_public(base);
}

/* ---- kinds of types, as accessors take them ---- */

static bool is_bit(aloft_tds_type type) {
  return type == ALOFT_TDS_BIT;
}

static bool is_integer(aloft_tds_type type) {
  return type >= ALOFT_TDS_BIT && type <= ALOFT_TDS_BIGINT;
}

static bool is_real(aloft_tds_type type) {
  return type == ALOFT_TDS_REAL || type == ALOFT_TDS_FLOAT;
}

static bool is_decimal(aloft_tds_type type) {
  return type >= ALOFT_TDS_DECIMAL && type <= ALOFT_TDS_MONEY;
}

static bool is_moment(aloft_tds_type type) {
  return type >= ALOFT_TDS_DATE && type <= ALOFT_TDS_DATETIMEOFFSET;
}

static bool is_uuid(aloft_tds_type type) {
  return type == ALOFT_TDS_UNIQUEIDENTIFIER;
}

static bool is_binary(aloft_tds_type type) {
  return type == ALOFT_TDS_BINARY || type == ALOFT_TDS_VARBINARY || type == ALOFT_TDS_IMAGE ||
         type == ALOFT_TDS_UDT || type == ALOFT_TDS_ROWVERSION;
}

typedef struct kind {
  const char *name;
  bool (*takes)(aloft_tds_type type);
} kind;

static const kind a_bit = {"a bit", is_bit}, an_integer = {"an integer", is_integer},
                  a_real = {"a real or float", is_real}, a_decimal = {"a decimal", is_decimal},
                  a_moment = {"a date or time", is_moment},
                  a_uuid = {"a uniqueidentifier", is_uuid},
                  bytes_of_it = {"a binary type", is_binary};

/* What a decoder found wrong, or that the type is another. False if either. */
static bool decoded(const place *at, size_t column, const kind *asked, const char *wrong) {
  alo_tds_type base;
  aloft_bytes value;
  const char *unknown;
  if (!wrong)
    return true;
  aloft_tds_type type = open_variant(at, &base, &value, &unknown);
  if (unknown || asked->takes(type)) {
    misuse(at->tds, column, ALOFT_WRONG_TYPE, unknown ? unknown : wrong);
    return false;
  }
  bool variant = at->type->token == ALO_TDS_SSVARIANT;
  if (at->tds->misuse.status == ALOFT_OK)
    at->tds->misuse = (alo_tds_misuse){.status = ALOFT_WRONG_TYPE,
                                       .column = column,
                                       .type = type_name(at->info),
                                       .base = variant ? alo_tds_type_name(&base) : NULL,
                                       .asked = asked->name,
                                       .use = accessor_of(type)};
  return false;
}

/* ---- text ---- */

static aloft_text *place_for_text(const place *at, size_t column) {
  return at->tds->in_output ? &at->tds->output_text
                            : alo_tds_reader_made_text(at->tds->reader, column);
}

/* Made in the reader's row memory, once; the cell keeps the bytes as they came. Absent: `wrong`
 * says why. */
static aloft_text make_text(const place *at, size_t column, const char **wrong) {
  alo_tds_reader *reader = at->tds->reader;
  size_t size = 0, room = alo_tds_value_text_room(at->type, at->cell->size) + 1;
  aloft_text *made = place_for_text(at, column);
  *wrong = NULL;
  if (made && made->data)
    return *made;
  char *out = made ? alo_tds_reader_scratch(reader, room) : NULL;
  if (!out) {
    *wrong = alo_tds_no_memory;
    return (aloft_text){NULL, 0};
  }
  *wrong = alo_tds_value_text_by(&at->tds->text_rules, at->type, at->cell->data, at->cell->size,
                                 out, &size);
  alo_tds_reader_scratch_return(reader, *wrong ? room : room - size);
  if (!*wrong)
    *made = (aloft_text){out, size};
  return *made;
}

/* Of a value that is there. */
static aloft_text text_of(const place *at, size_t column, const char **wrong) {
  if (!at->cell->decoded)
    return make_text(at, column, wrong);
  *wrong = at->cell->broken && at->tds->text_rules.strict ? alo_tds_ill_formed : NULL;
  return *wrong ? (aloft_text){NULL, 0}
                : (aloft_text){(const char *)at->cell->data, at->cell->size};
}

static aloft_status status_of(const char *wrong) {
  return !wrong ? ALOFT_OK : wrong == alo_tds_no_memory ? ALOFT_NO_MEMORY : ALOFT_WRONG_TYPE;
}

aloft_text aloft_tds_text(aloft_tds_query *query, size_t column) {
  place at;
  const char *wrong;
  if (!find_value(query, column, &at, NULL) || at.cell->null)
    return (aloft_text){NULL, 0};
  aloft_text text = text_of(&at, column, &wrong);
  if (wrong)
    misuse(at.tds, column, status_of(wrong), wrong);
  return text;
}

/* ---- values ---- */

bool aloft_tds_is_null(aloft_tds_query *query, size_t column) {
  place at;
  if (find(query, column, &at))
    return at.cell->null;
  if (column == aloft_tds_open_column(query))
    return false; /* one in pieces is there */
  return !find_or_blame(query, column, &at);
}

static int64_t integer(aloft_tds_query *query, size_t column, const kind *asked) {
  place at;
  int64_t value = 0;
  if (!find_value(query, column, &at, asked->name))
    return 0;
  const char *wrong = alo_tds_value_int64(at.type, at.cell->data, at.cell->size, &value);
  return decoded(&at, column, asked, wrong) ? value : 0;
}

bool aloft_tds_bit(aloft_tds_query *query, size_t column) {
  place at;
  alo_tds_type base;
  aloft_bytes value;
  const char *wrong;
  if (!find_value(query, column, &at, a_bit.name))
    return false;
  bool bit = is_bit(open_variant(&at, &base, &value, &wrong));
  return decoded(&at, column, &a_bit, bit ? NULL : "not a bit") &&
         integer(query, column, &a_bit) != 0;
}

int32_t aloft_tds_int32(aloft_tds_query *query, size_t column) {
  place at;
  int64_t value = integer(query, column, &an_integer);
  if (value >= INT32_MIN && value <= INT32_MAX)
    return (int32_t)value;
  if (find(query, column, &at))
    misuse(at.tds, column, ALOFT_WRONG_TYPE, "the value does not fit 32 bits: use aloft_tds_int64");
  return 0;
}

int64_t aloft_tds_int64(aloft_tds_query *query, size_t column) {
  return integer(query, column, &an_integer);
}

double aloft_tds_double(aloft_tds_query *query, size_t column) {
  place at;
  double value = 0;
  if (!find_value(query, column, &at, a_real.name))
    return 0;
  const char *wrong = alo_tds_value_double(at.type, at.cell->data, at.cell->size, &value);
  return decoded(&at, column, &a_real, wrong) ? value : 0;
}

aloft_tds_decimal aloft_tds_get_decimal(aloft_tds_query *query, size_t column) {
  place at;
  aloft_tds_decimal value = {0};
  if (!find_value(query, column, &at, a_decimal.name))
    return value;
  const char *wrong = alo_tds_value_decimal(at.type, at.cell->data, at.cell->size, &value);
  return decoded(&at, column, &a_decimal, wrong) ? value : (aloft_tds_decimal){0};
}

aloft_tds_moment aloft_tds_get_moment(aloft_tds_query *query, size_t column) {
  place at;
  aloft_tds_moment value = {0};
  if (!find_value(query, column, &at, a_moment.name))
    return value;
  const char *wrong = alo_tds_value_moment(at.type, at.cell->data, at.cell->size, &value);
  return decoded(&at, column, &a_moment, wrong) ? value : (aloft_tds_moment){0};
}

aloft_tds_uuid aloft_tds_get_uuid(aloft_tds_query *query, size_t column) {
  place at;
  aloft_tds_uuid value = {{0}};
  if (!find_value(query, column, &at, a_uuid.name))
    return value;
  const char *wrong = alo_tds_value_uuid(at.type, at.cell->data, at.cell->size, &value);
  return decoded(&at, column, &a_uuid, wrong) ? value : (aloft_tds_uuid){{0}};
}

aloft_bytes aloft_tds_get_bytes(aloft_tds_query *query, size_t column) {
  const aloft_bytes absent = {NULL, 0};
  place at;
  alo_tds_type base;
  aloft_bytes value;
  const char *wrong;
  if (!find_value(query, column, &at, NULL) || at.cell->null)
    return absent;
  bool binary = is_binary(open_variant(&at, &base, &value, &wrong));
  return decoded(&at, column, &bytes_of_it, binary ? NULL : "not a binary type") ? value : absent;
}

/* ---- what a value is, and whether it can be had ---- */

aloft_tds_type aloft_tds_value_type(aloft_tds_query *query, size_t column) {
  place at;
  alo_tds_type base;
  aloft_bytes value;
  const char *wrong;
  return find(query, column, &at) ? open_variant(&at, &base, &value, &wrong) : ALOFT_TDS_UNKNOWN;
}

static const char *examine(const place *at, aloft_tds_type type) {
  const alo_tds_cell *cell = at->cell;
  union {
    int64_t integer;
    double real;
    aloft_tds_decimal decimal;
    aloft_tds_moment moment;
    aloft_tds_uuid uuid;
  } value;
  if (is_integer(type))
    return alo_tds_value_int64(at->type, cell->data, cell->size, &value.integer);
  if (is_real(type))
    return alo_tds_value_double(at->type, cell->data, cell->size, &value.real);
  if (is_decimal(type))
    return alo_tds_value_decimal(at->type, cell->data, cell->size, &value.decimal);
  if (is_moment(type))
    return alo_tds_value_moment(at->type, cell->data, cell->size, &value.moment);
  return is_uuid(type) ? alo_tds_value_uuid(at->type, cell->data, cell->size, &value.uuid) : NULL;
}

aloft_status aloft_tds_check(aloft_tds_query *query, size_t column) {
  place at;
  alo_tds_type base;
  aloft_bytes value;
  const char *wrong;
  if (!find(query, column, &at))
    return at.tds && at.tds->active == query && is_to_come(at.tds, column) ? ALOFT_WRONG_TYPE
                                                                           : ALOFT_WRONG_STATE;
  if (at.cell->over || at.cell->pieced)
    return at.cell->over ? ALOFT_TOO_LARGE : ALOFT_WRONG_TYPE;
  if (at.cell->null)
    return ALOFT_OK;
  aloft_tds_type type = open_variant(&at, &base, &value, &wrong);
  if (!wrong && alo_tds_type_charset(&base) != ALO_TDS_CHARSET_NONE)
    (void)text_of(&at, column, &wrong);
  else if (!wrong)
    wrong = examine(&at, type);
  return status_of(wrong);
}
