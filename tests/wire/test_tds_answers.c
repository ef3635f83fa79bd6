/* The project's own recordings of answers, in recordings/tds: NAME.tds holds a server's bytes as
 * our writer makes them, NAME.txt what they say. Read in every cut; and the writer still makes the
 * same. `ALOFT_RECORD=1 test_tds_answers` makes them anew: then read the difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code_pages.h"
#include "heap.h"
#include "tds_cuts.h"
#include "tds_message.h"
#include "tds_response.h"

enum { FILE_MAX = 16 * 1024 };

#define TEXT(literal) ALOFT_TEXT(literal)
#define LATIN                                                                                      \
  { 0x09, 0x04, 0xD0, 0x00, 0x34 }

static const alo_tds_type type_int = {.token = ALO_TDS_INTN, .size = 4};
static const alo_tds_type type_int4 = {.token = ALO_TDS_INT4, .size = 4};
static const alo_tds_type type_nvarchar = {
    .token = ALO_TDS_NVARCHAR, .size = 4096, .collation = LATIN};
static const alo_tds_type type_nvarchar_max = {
    .token = ALO_TDS_NVARCHAR, .size = ALO_TDS_MAX_SIZE, .collation = LATIN};
static const alo_tds_type type_binary_max = {.token = ALO_TDS_BIGVARBINARY,
                                             .size = ALO_TDS_MAX_SIZE};

static void put_done(alo_tds_writer *writer, uint16_t status, uint16_t command, uint64_t rows) {
  alo_tds_put_done(writer, &(alo_tds_done){0xFD, status, command, rows});
}

static void make_fortunes(alo_tds_writer *writer) {
  static const char *const messages[] = {
      "fortune: No such file or directory",
      "A computer scientist is someone who fixes things that aren't broken.",
      "Emacs is a nice operating system, but I prefer UNIX. \xE2\x80\x94 Tom Christaensen",
      "<script>alert(\"This should not be displayed in a browser alert box.\");</script>",
      "\xE3\x83\x95\xE3\x83\xAC\xE3\x83\xBC\xE3\x83\xA0\xE3\x83\xAF\xE3\x83\xBC\xE3\x82\xAF"};
  const alo_tds_out_column columns[] = {{type_int4, 0, TEXT("id")},
                                        {type_nvarchar, 0, TEXT("message")}};
  size_t count = sizeof messages / sizeof *messages;
  alo_tds_put_colmetadata(writer, columns, 2);
  alo_tds_put_order(writer, (const uint16_t[]){1}, 1);
  for (size_t at = 0; at < count; at++) {
    alo_tds_put_row(writer);
    alo_tds_put_int64(writer, &type_int4, (int64_t)at + 1);
    alo_tds_put_text(writer, &type_nvarchar, aloft_text_of(messages[at]));
  }
  put_done(writer, ALO_TDS_DONE_COUNT, 0xC1, count);
}

/* ---- one column of each type that the writer has ---- */

static const alo_tds_type all_types[] = {
    {.token = ALO_TDS_BIT, .size = 1},
    {.token = ALO_TDS_INT1, .size = 1},
    {.token = ALO_TDS_INT2, .size = 2},
    {.token = ALO_TDS_INT8, .size = 8},
    {.token = ALO_TDS_BITN, .size = 1},
    {.token = ALO_TDS_INTN, .size = 1},
    {.token = ALO_TDS_INTN, .size = 2},
    {.token = ALO_TDS_INTN, .size = 8},
    {.token = ALO_TDS_FLT4, .size = 4},
    {.token = ALO_TDS_FLTN, .size = 8},
    {.token = ALO_TDS_DECIMALN, .size = 17, .precision = 38, .scale = 10},
    {.token = ALO_TDS_NUMERICN, .size = 5, .precision = 9, .scale = 4},
    {.token = ALO_TDS_MONEYN, .size = 8},
    {.token = ALO_TDS_MONEY4, .size = 4},
    {.token = ALO_TDS_DATEN, .size = 3},
    {.token = ALO_TDS_TIMEN, .size = 5, .scale = 7},
    {.token = ALO_TDS_DATETIME2N, .size = 6, .scale = 0},
    {.token = ALO_TDS_DATETIMEOFFSETN, .size = 9, .scale = 3},
    {.token = ALO_TDS_DATETIMN, .size = 8},
    {.token = ALO_TDS_DATETIM4, .size = 4},
    {.token = ALO_TDS_GUID, .size = 16},
    {.token = ALO_TDS_BIGCHAR, .size = 20, .collation = LATIN},
    {.token = ALO_TDS_BIGVARCHAR, .size = 40, .collation = {0x09, 0x04, 0xD0, 0x04, 0x00}},
    {.token = ALO_TDS_NCHAR, .size = 40, .collation = LATIN},
    {.token = ALO_TDS_NVARCHAR, .size = 40, .collation = LATIN},
    {.token = ALO_TDS_BIGBINARY, .size = 6},
    {.token = ALO_TDS_BIGVARBINARY, .size = 6},
    {.token = ALO_TDS_BIGVARCHAR, .size = ALO_TDS_MAX_SIZE, .collation = LATIN},
    {.token = ALO_TDS_NVARCHAR, .size = ALO_TDS_MAX_SIZE, .collation = LATIN},
    {.token = ALO_TDS_BIGVARBINARY, .size = ALO_TDS_MAX_SIZE},
    {.token = ALO_TDS_XML, .size = ALO_TDS_MAX_SIZE}};

enum { ALL_TYPES = sizeof all_types / sizeof *all_types };

static void put_number(alo_tds_writer *writer, const alo_tds_type *type) {
  switch (alo_tds_type_public(type)) {
  case ALOFT_TDS_BIT:
  case ALOFT_TDS_TINYINT:
  case ALOFT_TDS_SMALLINT:
  case ALOFT_TDS_INT:
  case ALOFT_TDS_BIGINT:
    alo_tds_put_int64(writer, type, type->size == 8 ? INT64_MIN : 1);
    return;
  case ALOFT_TDS_REAL:
  case ALOFT_TDS_FLOAT:
    alo_tds_put_double(writer, type, -2.25e-9);
    return;
  default: {
    aloft_tds_decimal value = {.low = 1234567, .precision = 7, .scale = 4, .negative = true};
    alo_tds_put_decimal(writer, type, &value);
  }
  }
}

static void put_any(alo_tds_writer *writer, const alo_tds_type *type) {
  static const aloft_tds_moment moment = {.days = 738944, .ticks = UINT64_C(452961230000)};
  aloft_tds_uuid uuid = {{0x6F, 0x96, 0x19, 0xFF, 0x8B, 0x86, 0xD0, 0x11, 0xB4, 0x2D, 0, 0xC0, 0x4F,
                          0xC9, 0x64, 0xFF}};
  aloft_tds_moment local = moment;
  local.offset_minutes = 330;
  switch (alo_tds_type_public(type)) {
  case ALOFT_TDS_DATE:
  case ALOFT_TDS_TIME:
  case ALOFT_TDS_SMALLDATETIME:
  case ALOFT_TDS_DATETIME:
  case ALOFT_TDS_DATETIME2:
    alo_tds_put_moment(writer, type, &moment);
    return;
  case ALOFT_TDS_DATETIMEOFFSET:
    alo_tds_put_moment(writer, type, &local);
    return;
  case ALOFT_TDS_UNIQUEIDENTIFIER:
    alo_tds_put_uuid(writer, type, &uuid);
    return;
  case ALOFT_TDS_BINARY:
  case ALOFT_TDS_VARBINARY:
    alo_tds_put_bytes(writer, type, (aloft_bytes){"\0\x7F\xFF", 3});
    return;
  default:
    if (alo_tds_type_charset(type) == ALO_TDS_CHARSET_NONE) {
      put_number(writer, type);
    } else {
      alo_tds_put_text(writer, type, TEXT("na\xC3\xAFve \xE2\x82\xAC"));
    }
  }
}

static void put_all_columns(alo_tds_writer *writer) {
  alo_tds_out_column columns[ALL_TYPES];
  char names[ALL_TYPES][4];
  for (size_t at = 0; at < ALL_TYPES; at++) {
    snprintf(names[at], sizeof names[at], "c%u", (unsigned)(at % 100));
    columns[at] = (alo_tds_out_column){all_types[at], 1, aloft_text_of(names[at])};
  }
  alo_tds_put_colmetadata(writer, columns, ALL_TYPES);
}

static void make_all_types(alo_tds_writer *writer) {
  put_all_columns(writer);
  alo_tds_put_row(writer);
  for (size_t at = 0; at < ALL_TYPES; at++) {
    put_any(writer, &all_types[at]);
  }
  put_done(writer, ALO_TDS_DONE_COUNT, 0xC1, 1);
}

static bool has_null(const alo_tds_type *type) {
  return alo_tds_type_form(type) != ALO_TDS_FORM_FIXED;
}

/* NULL by value, and by bitmap, all and every other. */
static void make_nulls(alo_tds_writer *writer) {
  bool nulls[ALL_TYPES];
  put_all_columns(writer);
  alo_tds_put_row(writer);
  for (size_t at = 0; at < ALL_TYPES; at++) {
    if (has_null(&all_types[at])) {
      alo_tds_put_null(writer, &all_types[at]);
    } else {
      put_any(writer, &all_types[at]);
    }
  }
  for (size_t step = 1; step <= 2; step++) {
    for (size_t at = 0; at < ALL_TYPES; at++) {
      nulls[at] = at % step == 0;
    }
    alo_tds_put_nbcrow(writer, nulls, ALL_TYPES);
    for (size_t at = 0; at < ALL_TYPES; at++) {
      if (!nulls[at]) {
        put_any(writer, &all_types[at]);
      }
    }
  }
  put_done(writer, ALO_TDS_DONE_COUNT, 0xC1, 3);
}

static void make_two_results(alo_tds_writer *writer) {
  const alo_tds_out_column first[] = {{type_int, 1, TEXT("a")}};
  const alo_tds_out_column second[] = {{type_nvarchar_max, 1, TEXT("b")},
                                       {type_binary_max, 1, TEXT("")}};
  alo_tds_put_colmetadata(writer, first, 1);
  alo_tds_put_row(writer);
  alo_tds_put_int64(writer, &type_int, -1);
  put_done(writer, ALO_TDS_DONE_COUNT | ALO_TDS_DONE_MORE, 0xC1, 1);
  alo_tds_put_colmetadata(writer, second, 2);
  for (size_t row = 0; row < 2; row++) {
    alo_tds_put_row(writer);
    alo_tds_put_text(writer, &type_nvarchar_max, row ? TEXT("") : TEXT("x \xF0\x9F\x98\x80"));
    alo_tds_put_bytes(writer, &type_binary_max, (aloft_bytes){"\1\2\3", row ? 0 : 3});
  }
  put_done(writer, ALO_TDS_DONE_COUNT, 0xC1, 2);
}

static void make_error(alo_tds_writer *writer) {
  alo_tds_put_message(writer, &(alo_tds_message){.error = true,
                                                 .number = 8134,
                                                 .state = 1,
                                                 .severity = 16,
                                                 .line = 3,
                                                 .text = TEXT("Divide by zero error encountered."),
                                                 .server = TEXT("lite"),
                                                 .procedure = TEXT("")});
  put_done(writer, ALO_TDS_DONE_ERROR, 0xC1, 0);
}

static void make_print(alo_tds_writer *writer) {
  const alo_tds_out_column columns[] = {{type_int, 1, TEXT("a")}};
  alo_tds_put_message(writer, &(alo_tds_message){.text = TEXT("hello from print"),
                                                 .server = TEXT("lite"),
                                                 .procedure = TEXT("say"),
                                                 .state = 1,
                                                 .line = 1});
  alo_tds_put_colmetadata(writer, columns, 1);
  put_done(writer, ALO_TDS_DONE_COUNT, 0xC1, 0);
}

static void make_procedure(alo_tds_writer *writer) {
  alo_tds_put_done(writer, &(alo_tds_done){0xFF, ALO_TDS_DONE_MORE, 0xC1, 0});
  alo_tds_put_return_status(writer, -3);
  alo_tds_put_return_value(writer, 1, TEXT("@count"), &type_int);
  alo_tds_put_int64(writer, &type_int, 10);
  alo_tds_put_return_value(writer, 2, TEXT("@text"), &type_nvarchar_max);
  alo_tds_put_text(writer, &type_nvarchar_max, TEXT("out"));
  alo_tds_put_done(writer, &(alo_tds_done){0xFE, 0, 0xE0, 0});
}

/* A value of each type comes back, and NULL of those that have it. */
static void make_outputs(alo_tds_writer *writer) {
  alo_tds_put_return_status(writer, INT32_MIN);
  for (size_t at = 0; at < ALL_TYPES; at++) {
    alo_tds_put_return_value(writer, (uint16_t)at, TEXT("@p"), &all_types[at]);
    put_any(writer, &all_types[at]);
    if (has_null(&all_types[at])) {
      alo_tds_put_return_value(writer, (uint16_t)at, TEXT(""), &all_types[at]);
      alo_tds_put_null(writer, &all_types[at]);
    }
  }
  alo_tds_put_done(writer, &(alo_tds_done){0xFE, 0, 0xE0, 0});
}

static void make_login(alo_tds_writer *writer) {
  alo_tds_put_env_text(writer, 1, TEXT("sample"), TEXT("master"));
  alo_tds_put_message(writer, &(alo_tds_message){.number = 5701,
                                                 .state = 2,
                                                 .text = TEXT("Changed database context."),
                                                 .server = TEXT("lite"),
                                                 .procedure = TEXT("")});
  alo_tds_put_env_bytes(writer, 7, (aloft_bytes){alo_tds_collation_default, 5},
                        (aloft_bytes){"", 0});
  alo_tds_put_env_text(writer, 2, TEXT("us_english"), TEXT(""));
  alo_tds_put_loginack(writer, &(alo_tds_loginack){.interface_type = 1,
                                                   .tds_version = 0x74000004,
                                                   .program = TEXT("Aloft lite"),
                                                   .version = {16, 0, 0, 1}});
  alo_tds_put_env_text(writer, 4, TEXT("4096"), TEXT("4096"));
  alo_tds_put_env_routing(writer, TEXT("other.example"), 1433);
  alo_tds_put_feature_ack(writer, 10, (aloft_bytes){"\1", 1});
  put_done(writer, 0, 0, 0);
}

/* ---- types that the others lack ---- */

#define JAPANESE                                                                                   \
  { 0x11, 0x04, 0xD0, 0x00, 0x00 }

static void make_lobs(alo_tds_writer *writer) {
  const alo_tds_out_column columns[] = {
      {{.token = ALO_TDS_TEXT, .size = INT32_MAX, .collation = JAPANESE}, 1, TEXT("t")},
      {{.token = ALO_TDS_NTEXT, .size = INT32_MAX - 1, .collation = LATIN}, 1, TEXT("n")},
      {{.token = ALO_TDS_IMAGE, .size = INT32_MAX}, 1, TEXT("i")}};
  const alo_tds_out_origin origins[] = {
      {.table = TEXT("dbo.old")}, {.table = TEXT("dbo.old")}, {.table = {"", 0}}};
  alo_tds_put_colmetadata_from(writer, columns, origins, 3);
  for (size_t row = 0; row < 3; row++) {
    alo_tds_put_row(writer);
    alo_tds_put_text(writer, &columns[0].type,
                     row ? TEXT("") : TEXT("a\xE3\x83\x86\xE3\x82\xB9\xE3\x83\x88 \xC3\xA9"));
    if (row == 2) {
      alo_tds_put_null(writer, &columns[1].type);
      alo_tds_put_null(writer, &columns[2].type);
    } else {
      alo_tds_put_text(writer, &columns[1].type, row ? TEXT("") : TEXT("\xF0\x9F\x98\x80"));
      alo_tds_put_bytes(writer, &columns[2].type, (aloft_bytes){"\0\xFF", row ? 0 : 2});
    }
  }
  put_done(writer, ALO_TDS_DONE_COUNT, 0xC1, 3);
}

static const alo_tds_type variant = {.token = ALO_TDS_SSVARIANT, .size = 8009};

static void put_variant_row(alo_tds_writer *writer, const alo_tds_type *base) {
  alo_tds_put_row(writer);
  if (!base) {
    alo_tds_put_null(writer, &variant);
    return;
  }
  const aloft_text text = TEXT("na\xC3\xAFve \xE2\x82\xAC"); /* as put_any has it */
  size_t size = alo_tds_type_charset(base) == ALO_TDS_CHARSET_NONE
                    ? 3
                    : alo_tds_text_size(writer, base, text);
  alo_tds_put_variant(writer, base, size);
  put_any(writer, base);
}

static void make_variants(alo_tds_writer *writer) {
  const alo_tds_out_column columns[] = {{variant, 1, TEXT("v")}};
  size_t rows = 1;
  alo_tds_put_colmetadata(writer, columns, 1);
  put_variant_row(writer, NULL);
  for (size_t at = 0; at < ALL_TYPES; at++) {
    if (alo_tds_variant_properties(all_types[at].token) >= 0 &&
        !alo_tds_type_is_plp(&all_types[at])) {
      put_variant_row(writer, &all_types[at]);
      rows++;
    }
  }
  alo_tds_put_row(writer); /* of a base type that there is not */
  alo_tds_put(writer, "\3\0\0\0\x55\0\1", 7);
  put_done(writer, ALO_TDS_DONE_COUNT, 0xC1, rows + 1);
}

static void make_special(alo_tds_writer *writer) {
  const alo_tds_out_column columns[] = {
      {{.token = ALO_TDS_UDT, .size = ALO_TDS_MAX_SIZE}, 1, TEXT("u")},
      {{.token = ALO_TDS_JSON, .size = ALO_TDS_MAX_SIZE}, 1, TEXT("j")},
      {{.token = ALO_TDS_BIGBINARY, .size = 8}, 0, TEXT("r")},
      {{.token = ALO_TDS_BIGVARCHAR, .size = ALO_TDS_MAX_SIZE, .collation = JAPANESE},
       1,
       TEXT("k")}};
  const alo_tds_out_origin origins[] = {{.udt = TEXT("shop.dbo.P\xC3\xB8int")},
                                        {.table = {"", 0}},
                                        {.user_type = 80},
                                        {.table = {"", 0}}};
  alo_tds_put_colmetadata_from(writer, columns, origins, 4);
  alo_tds_put_row(writer);
  alo_tds_put_bytes(writer, &columns[0].type, (aloft_bytes){"\1\2\3", 3});
  alo_tds_put_text(writer, &columns[1].type, TEXT("{\"a\":\"\xF0\x9F\x98\x80\"}"));
  alo_tds_put_bytes(writer, &columns[2].type, (aloft_bytes){"\0\0\0\0\0\0\7\xD1", 8});
  alo_tds_put_text(writer, &columns[3].type, TEXT("\xE3\x83\x86x\xEF\xBD\xB1"));
  alo_tds_put_row(writer);
  alo_tds_put_null(writer, &columns[0].type);
  alo_tds_put_null(writer, &columns[1].type);
  alo_tds_put_bytes(writer, &columns[2].type, (aloft_bytes){"\0\0\0\0\0\0\7\xD2", 8});
  alo_tds_put_null(writer, &columns[3].type);
  put_done(writer, ALO_TDS_DONE_COUNT, 0xC1, 2);
}

static void make_browse(alo_tds_writer *writer) {
  const alo_tds_out_column columns[] = {{type_int4, 0x10, TEXT("id")},
                                        {type_nvarchar, 1, TEXT("title")},
                                        {type_int4, 0, TEXT("twice")},
                                        {type_int4, 0, TEXT("line")}};
  const aloft_text tables[] = {TEXT("shop.dbo.orders"), TEXT("lines")};
  const alo_tds_out_colinfo info[] = {
      {1, 1, ALO_TDS_COLINFO_KEY, {"", 0}},
      {2, 1, 0, TEXT("na\xC3\xAFve")},
      {3, 0, ALO_TDS_COLINFO_EXPRESSION, {"", 0}},
      {4, 2, ALO_TDS_COLINFO_KEY | ALO_TDS_COLINFO_HIDDEN, {"", 0}}};
  alo_tds_put_colmetadata(writer, columns, 4);
  alo_tds_put_tabname(writer, tables, 2);
  alo_tds_put_colinfo(writer, info, 4);
  alo_tds_put_order(writer, (const uint16_t[]){1}, 1);
  alo_tds_put_row(writer);
  alo_tds_put_int64(writer, &type_int4, 1);
  alo_tds_put_text(writer, &type_nvarchar, TEXT("first"));
  alo_tds_put_int64(writer, &type_int4, 2);
  alo_tds_put_int64(writer, &type_int4, 3);
  put_done(writer, ALO_TDS_DONE_COUNT, 0xC1, 1);
}

static alo_page_store store;

/* A column of ALTMETADATA: an operation, a column that it is of, and what every column has. */
static void put_computed(alo_tds_writer *writer, uint8_t operation, const alo_tds_type *type,
                         const char *name) {
  alo_tds_put_u8(writer, operation);
  alo_tds_put_u16(writer, 1);
  alo_tds_put_u32(writer, 0);
  alo_tds_put_u16(writer, 1);
  alo_tds_put_type(writer, type);
  if (alo_tds_type_form(type) == ALO_TDS_FORM_LOB) {
    alo_tds_put_u8(writer, 1);
    alo_tds_put_us_varchar(writer, ALOFT_TEXT("a_table"));
  }
  alo_tds_put_b_varchar(writer, aloft_text_of(name));
}

static void put_computes(alo_tds_writer *writer, uint16_t id, const alo_tds_type *types,
                         uint16_t count) {
  alo_tds_put_u8(writer, 0x88);
  alo_tds_put_u16(writer, count);
  alo_tds_put_u16(writer, id);
  alo_tds_put_u8(writer, 1); /* by the first column */
  alo_tds_put_u16(writer, 1);
  for (uint16_t at = 0; at < count; at++) {
    put_computed(writer, 0x4D, &types[at], at ? "" : "sum");
  }
}

static void put_computed_row(alo_tds_writer *writer, uint16_t id, const alo_tds_type *types,
                             uint16_t count, bool null) {
  alo_tds_put_u8(writer, 0xD3);
  alo_tds_put_u16(writer, id);
  for (uint16_t at = 0; at < count; at++) {
    if (null) {
      alo_tds_put_null(writer, &types[at]);
    } else {
      put_any(writer, &types[at]);
    }
  }
}

/* COMPUTE BY: its sums stand between the rows, and are not shown. */
static void make_compute(alo_tds_writer *writer) {
  static const alo_tds_type integer = {.token = ALO_TDS_INTN, .size = 4};
  static const alo_tds_type types[] = {
      {.token = ALO_TDS_INTN, .size = 8},
      {.token = ALO_TDS_NVARCHAR, .size = ALO_TDS_MAX_SIZE},
      {.token = ALO_TDS_DECIMALN, .size = 9, .precision = 18, .scale = 4},
      {.token = ALO_TDS_NVARCHAR, .size = 40},
  };
  const alo_tds_out_column columns[] = {{integer, 1, ALOFT_TEXT("a")},
                                        {integer, 1, ALOFT_TEXT("b")}};
  alo_tds_put_colmetadata(writer, columns, 2);
  put_computes(writer, 7, types, 4);
  put_computes(writer, 300, types + 1, 1);
  for (int row = 0; row < 3; row++) {
    alo_tds_put_row(writer);
    alo_tds_put_int64(writer, &integer, row);
    alo_tds_put_int64(writer, &integer, row * 10);
    put_computed_row(writer, 7, types, 4, row == 1);
    put_computed_row(writer, 300, types + 1, 1, row == 2);
  }
  put_done(writer, 0x10, 193, 3);
}

static const struct {
  const char *name;
  void (*make)(alo_tds_writer *writer);
  uint32_t packet_size;
} answers[] = {{"fortunes", make_fortunes, 4096},   {"all_types", make_all_types, 512},
               {"nulls", make_nulls, 512},          {"two_results", make_two_results, 4096},
               {"error", make_error, 4096},         {"print", make_print, 512},
               {"procedure", make_procedure, 4096}, {"outputs", make_outputs, 512},
               {"login", make_login, 512},          {"lobs", make_lobs, 512},
               {"variants", make_variants, 512},    {"special", make_special, 4096},
               {"browse", make_browse, 512},        {"compute", make_compute, 512}};

/* ---- files ---- */

static FILE *open_file(const char *name, const char *suffix, const char *mode) {
  char path[1024];
  snprintf(path, sizeof path, "%s/tests/wire/recordings/tds/%s.%s", ALOFT_SOURCE_DIR, name, suffix);
  FILE *file = fopen(path, mode);
  if (!file) {
    fail_msg("cannot open %s", path);
  }
  return file;
}

static size_t load(const char *name, const char *suffix, char *out) {
  FILE *file = open_file(name, suffix, "rb");
  size_t size = fread(out, 1, FILE_MAX, file);
  fclose(file);
  out[size] = 0;
  return size;
}

static void save(const char *name, const char *suffix, const void *data, size_t size) {
  FILE *file = open_file(name, suffix, "wb");
  assert_int_equal(fwrite(data, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static void record(const char *name, aloft_bytes stream) {
  tds_transcript got;
  tds_transcript_init(&got, stream.size);
  got.pages = &store.pages;
  tds_cuts_read(&got, stream, stream.size, stream.size);
  save(name, "tds", stream.data, stream.size);
  save(name, "txt", got.text, got.size);
  tds_transcript_fini(&got);
}

static void check(const char *name, aloft_bytes made) {
  static char bytes[FILE_MAX + 1];
  static char says[FILE_MAX + 1];
  size_t size = load(name, "tds", bytes);
  load(name, "txt", says);
  tds_transcript whole;
  tds_transcript_init(&whole, size);
  whole.pages = &store.pages;
  tds_cuts_read(&whole, (aloft_bytes){bytes, size}, size, size);
  assert_string_equal(whole.text, says);
  assert_true(size < 4096);
  tds_cuts_check(name, (aloft_bytes){bytes, size}, &whole);
  tds_transcript_fini(&whole);
  assert_int_equal(made.size, size);
  assert_memory_equal(made.data, bytes, size);
}

static void test_answers(void **state) {
  (void)state;
  for (size_t at = 0; at < sizeof answers / sizeof *answers; at++) {
    tds_output output;
    tds_output_init(&output, answers[at].packet_size, FILE_MAX);
    output.writer.pages = &store.pages;
    alo_tds_message_begin(&output.writer, ALO_TDS_REPLY, 0);
    answers[at].make(&output.writer);
    assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_OK);
    if (getenv("ALOFT_RECORD")) {
      record(answers[at].name, tds_output_bytes(&output));
    }
    check(answers[at].name, tds_output_bytes(&output));
    tds_output_fini(&output);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_answers)};
  alo_page_store_init(&store, &alo_heap_default);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  alo_page_store_fini(&store);
  return failed;
}
