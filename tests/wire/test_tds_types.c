/* Every type as the client shows it: what a server sends is scripted with the server's side of the
 * protocol. Extremes, NULL and empty; what a sql_variant holds; what an accessor says when it is
 * the wrong one; text that is not well-formed; code pages; what is told of columns. */
#include "tds_client.h"

#include "tds_response.h"

#define LATIN                                                                                      \
  { 0x09, 0x04, 0xD0, 0x00, 0x34 }
#define JAPANESE                                                                                   \
  { 0x11, 0x04, 0xD0, 0x00, 0x00 }
#define CYRILLIC                                                                                   \
  { 0x19, 0x04, 0xD0, 0x00, 0x00 }
#define UTF8                                                                                       \
  { 0x09, 0x04, 0xD0, 0x04, 0x00 }

/* ---- one column, one row ---- */

typedef struct sample {
  alo_tds_type type;
  aloft_tds_type is; /* the column's */
  const char *name;  /* of the type */
  const char *put;   /* how it is put, read by put_value; NULL: NULL */
  const char *text;  /* what comes out; NULL: as it was put */
  uint32_t user_type;
  const char *use; /* the accessor that an error names */
} sample;

static const sample *sent;

static void put_moment(alo_tds_writer *writer, const alo_tds_type *type, const char *text) {
  long long days, ticks;
  int offset;
  assert_int_equal(sscanf(text, "%lld %lld %d", &days, &ticks, &offset), 3);
  alo_tds_put_moment(writer, type,
                     &(aloft_tds_moment){(int32_t)days, (uint64_t)ticks, (int16_t)offset});
}

static void put_number(alo_tds_writer *writer, const alo_tds_type *type, const char *text) {
  aloft_tds_decimal decimal;
  switch (alo_tds_type_public(type)) {
  case ALOFT_TDS_REAL:
    alo_tds_put_double(writer, type, (double)strtof(text, NULL));
    return;
  case ALOFT_TDS_FLOAT:
    alo_tds_put_double(writer, type, strtod(text, NULL));
    return;
  case ALOFT_TDS_DECIMAL:
  case ALOFT_TDS_NUMERIC:
  case ALOFT_TDS_MONEY:
  case ALOFT_TDS_SMALLMONEY:
    assert_true(alo_tds_decimal_parse(aloft_text_of(text), &decimal));
    alo_tds_put_decimal(writer, type, &decimal);
    return;
  default:
    alo_tds_put_int64(writer, type, strtoll(text, NULL, 10));
  }
}

static void put_any(alo_tds_writer *writer, const alo_tds_type *type, const char *text) {
  aloft_tds_uuid uuid;
  aloft_tds_type kind = alo_tds_type_public(type);
  if (!text) {
    alo_tds_put_null(writer, type);
  } else if (kind >= ALOFT_TDS_DATE && kind <= ALOFT_TDS_DATETIMEOFFSET) {
    put_moment(writer, type, text);
  } else if (kind == ALOFT_TDS_UNIQUEIDENTIFIER) {
    assert_true(alo_tds_uuid_parse(aloft_text_of(text), &uuid));
    alo_tds_put_uuid(writer, type, &uuid);
  } else if (kind == ALOFT_TDS_BINARY || kind == ALOFT_TDS_VARBINARY || kind == ALOFT_TDS_IMAGE ||
             kind == ALOFT_TDS_UDT) {
    alo_tds_put_bytes(writer, type, (aloft_bytes){text, strlen(text)});
  } else if (alo_tds_type_charset(type) != ALO_TDS_CHARSET_NONE) {
    alo_tds_put_text(writer, type, aloft_text_of(text));
  } else {
    put_number(writer, type, text);
  }
}

static world *answering;

static void answer_one(alo_tds_writer *writer) {
  const alo_tds_out_column column = {sent->type, 1, ALOFT_TEXT("c")};
  const alo_tds_out_origin origin = {.user_type = sent->user_type,
                                     .table = ALOFT_TEXT("dbo.t"),
                                     .udt = ALOFT_TEXT("shop.dbo.Point")};
  writer->pages = &answering->loop->code_pages.pages;
  alo_tds_put_colmetadata_from(writer, &column, &origin, 1);
  alo_tds_put_row(writer);
  put_any(writer, &sent->type, sent->put);
}

/* The largest and smallest of each type, with a text where that is not what was put. */
static const sample values[] = {
    {{.token = ALO_TDS_BIT}, ALOFT_TDS_BIT, "bit", "1", .use = "bit"},
    {{.token = ALO_TDS_BITN, .size = 1}, ALOFT_TDS_BIT, "bit", "0", .use = "bit"},
    {{.token = ALO_TDS_INTN, .size = 1}, ALOFT_TDS_TINYINT, "tinyint", "255", .use = "int32"},
    {{.token = ALO_TDS_INT1}, ALOFT_TDS_TINYINT, "tinyint", "0", .use = "int32"},
    {{.token = ALO_TDS_INTN, .size = 2}, ALOFT_TDS_SMALLINT, "smallint", "-32768", .use = "int32"},
    {{.token = ALO_TDS_INT2}, ALOFT_TDS_SMALLINT, "smallint", "32767", .use = "int32"},
    {{.token = ALO_TDS_INTN, .size = 4}, ALOFT_TDS_INT, "int", "-2147483648", .use = "int32"},
    {{.token = ALO_TDS_INT4}, ALOFT_TDS_INT, "int", "2147483647", .use = "int32"},
    {{.token = ALO_TDS_INTN, .size = 8},
     ALOFT_TDS_BIGINT,
     "bigint",
     "-9223372036854775808",
     .use = "int64"},
    {{.token = ALO_TDS_INT8}, ALOFT_TDS_BIGINT, "bigint", "9223372036854775807", .use = "int64"},
    {{.token = ALO_TDS_FLTN, .size = 4}, ALOFT_TDS_REAL, "real", "-3.4028235e+38", .use = "double"},
    {{.token = ALO_TDS_FLT4}, ALOFT_TDS_REAL, "real", "1e-45", .use = "double"},
    {{.token = ALO_TDS_FLTN, .size = 8},
     ALOFT_TDS_FLOAT,
     "float",
     "1.7976931348623157e+308",
     .use = "double"},
    {{.token = ALO_TDS_FLT8}, ALOFT_TDS_FLOAT, "float", "5e-324", .use = "double"},
    {{.token = ALO_TDS_DECIMALN, .size = 17, .precision = 38, .scale = 38},
     ALOFT_TDS_DECIMAL,
     "decimal",
     "-0.99999999999999999999999999999999999999",
     .use = "get_decimal"},
    {{.token = ALO_TDS_NUMERICN, .size = 17, .precision = 38},
     ALOFT_TDS_NUMERIC,
     "numeric",
     "99999999999999999999999999999999999999",
     .use = "get_decimal"},
    {{.token = ALO_TDS_NUMERICN, .size = 5, .precision = 1},
     ALOFT_TDS_NUMERIC,
     "numeric",
     "-9",
     .use = "get_decimal"},
    {{.token = ALO_TDS_MONEYN, .size = 8},
     ALOFT_TDS_MONEY,
     "money",
     "-922337203685477.5808",
     .use = "get_decimal"},
    {{.token = ALO_TDS_MONEYN, .size = 4},
     ALOFT_TDS_SMALLMONEY,
     "smallmoney",
     "214748.3647",
     .use = "get_decimal"},
    {{.token = ALO_TDS_GUID, .size = 16},
     ALOFT_TDS_UNIQUEIDENTIFIER,
     "uniqueidentifier",
     "00112233-4455-6677-8899-AABBCCDDEEFF",
     .use = "get_uuid"},
    {{.token = ALO_TDS_DATEN}, ALOFT_TDS_DATE, "date", "0 0 0", "0001-01-01", .use = "get_moment"},
    {{.token = ALO_TDS_DATEN},
     ALOFT_TDS_DATE,
     "date",
     "3652058 0 0",
     "9999-12-31",
     .use = "get_moment"},
    {{.token = ALO_TDS_TIMEN},
     ALOFT_TDS_TIME,
     "time",
     "0 863990000000 0",
     "23:59:59",
     .use = "get_moment"},
    {{.token = ALO_TDS_TIMEN, .scale = 7},
     ALOFT_TDS_TIME,
     "time",
     "0 863999999999 0",
     "23:59:59.9999999",
     .use = "get_moment"},
    {{.token = ALO_TDS_DATETIMN, .size = 8},
     ALOFT_TDS_DATETIME,
     "datetime",
     "639905 0 0",
     "1753-01-01 00:00:00.000",
     .use = "get_moment"},
    {{.token = ALO_TDS_DATETIMN, .size = 4},
     ALOFT_TDS_SMALLDATETIME,
     "smalldatetime",
     "759130 863400000000 0",
     "2079-06-06 23:59:00",
     .use = "get_moment"},
    {{.token = ALO_TDS_DATETIME2N, .scale = 7},
     ALOFT_TDS_DATETIME2,
     "datetime2",
     "3652058 863999999999 0",
     "9999-12-31 23:59:59.9999999",
     .use = "get_moment"},
    {{.token = ALO_TDS_DATETIMEOFFSETN, .scale = 3},
     ALOFT_TDS_DATETIMEOFFSET,
     "datetimeoffset",
     "0 504000000000 -840",
     "0001-01-01 00:00:00.000 -14:00",
     .use = "get_moment"},
    {{.token = ALO_TDS_BIGCHAR, .size = 10, .collation = LATIN},
     ALOFT_TDS_CHAR,
     "char",
     "caf\xC3\xA9  ",
     .use = "text"},
    {{.token = ALO_TDS_BIGVARCHAR, .size = 8000, .collation = JAPANESE},
     ALOFT_TDS_VARCHAR,
     "varchar",
     "\xE3\x83\x86\xE3\x82\xB9\xE3\x83\x88",
     .use = "text"},
    {{.token = ALO_TDS_BIGVARCHAR, .size = 0xFFFF, .collation = CYRILLIC},
     ALOFT_TDS_VARCHAR,
     "varchar(max)",
     "\xD0\x9F\xD1\x80\xD0\xB8 \xE3\x83\x86",
     "\xD0\x9F\xD1\x80\xD0\xB8 ?",
     .use = "text"},
    {{.token = ALO_TDS_BIGVARCHAR, .size = 10, .collation = UTF8},
     ALOFT_TDS_VARCHAR,
     "varchar",
     "\xF0\x9F\x98\x80",
     .use = "text"},
    {{.token = ALO_TDS_NCHAR, .size = 8, .collation = LATIN},
     ALOFT_TDS_NCHAR,
     "nchar",
     "\xF0\x9F\x98\x80 ",
     .use = "text"},
    {{.token = ALO_TDS_NVARCHAR, .size = 8000, .collation = LATIN},
     ALOFT_TDS_NVARCHAR,
     "nvarchar",
     "",
     .use = "text"},
    {{.token = ALO_TDS_NVARCHAR, .size = 0xFFFF, .collation = LATIN},
     ALOFT_TDS_NVARCHAR,
     "nvarchar(max)",
     "",
     .use = "text"},
    {{.token = ALO_TDS_TEXT, .size = INT32_MAX, .collation = JAPANESE},
     ALOFT_TDS_TEXT,
     "text",
     "a\xE3\x83\x86",
     .use = "text"},
    {{.token = ALO_TDS_TEXT, .size = INT32_MAX, .collation = LATIN},
     ALOFT_TDS_TEXT,
     "text",
     "",
     .use = "text"},
    {{.token = ALO_TDS_NTEXT, .size = INT32_MAX - 1, .collation = LATIN},
     ALOFT_TDS_NTEXT,
     "ntext",
     "\xE2\x82\xAC",
     .use = "text"},
    {{.token = ALO_TDS_XML, .size = 0xFFFF},
     ALOFT_TDS_XML,
     "xml",
     "<a>\xC3\xA9</a>",
     .use = "text"},
    {{.token = ALO_TDS_JSON, .size = 0xFFFF},
     ALOFT_TDS_JSON,
     "json",
     "{\"a\":\"\xF0\x9F\x98\x80\"}",
     .use = "text"},
    {{.token = ALO_TDS_BIGBINARY, .size = 3},
     ALOFT_TDS_BINARY,
     "binary",
     "abc",
     "0x616263",
     .use = "get_bytes"},
    {{.token = ALO_TDS_BIGVARBINARY, .size = 8},
     ALOFT_TDS_VARBINARY,
     "varbinary",
     "",
     "0x",
     .use = "get_bytes"},
    {{.token = ALO_TDS_BIGVARBINARY, .size = 0xFFFF},
     ALOFT_TDS_VARBINARY,
     "varbinary(max)",
     "\xFF",
     "0xFF",
     .use = "get_bytes"},
    {{.token = ALO_TDS_IMAGE, .size = INT32_MAX},
     ALOFT_TDS_IMAGE,
     "image",
     "ab",
     "0x6162",
     .use = "get_bytes"},
    {{.token = ALO_TDS_IMAGE, .size = INT32_MAX},
     ALOFT_TDS_IMAGE,
     "image",
     "",
     "0x",
     .use = "get_bytes"},
    {{.token = ALO_TDS_UDT, .size = 0xFFFF},
     ALOFT_TDS_UDT,
     "udt",
     "xy",
     "0x7879",
     .use = "get_bytes"},
    {{.token = ALO_TDS_BIGBINARY, .size = 8},
     ALOFT_TDS_ROWVERSION,
     "rowversion",
     "\1\2\3\4\5\6\7\x08",
     "0x0102030405060708",
     .user_type = 80,
     .use = "get_bytes"},
    {{.token = ALO_TDS_BIGVARBINARY, .size = 8},
     ALOFT_TDS_ROWVERSION,
     "rowversion",
     NULL,
     .user_type = 80,
     .use = "get_bytes"},
    {{.token = ALO_TDS_BIGBINARY, .size = 8},
     ALOFT_TDS_BINARY,
     "binary",
     "\1\2\3\4\5\6\7\x08",
     "0x0102030405060708",
     .use = "get_bytes"},
};

enum { VALUES = sizeof values / sizeof *values };

static aloft_status next_row(probe *p) {
  assert_int_equal(aloft_tds_step(&p->query), ALOFT_RESULT);
  return aloft_tds_step(&p->query);
}

static void open_world(world *w, bool strict) {
  world_open(w);
  w->config.strict_text = strict;
  w->server.answer = answer_one;
  answering = w;
  world_connect(w);
}

static void run(world *w, probe *p, void (*look)(probe *)) {
  probe_begin(p, w, "own");
  p->by_hand = true;
  p->on_ready = look;
  probe_wait(p);
}

static void look_at_text(probe *p) {
  aloft_tds_query *q = &p->query;
  assert_int_equal(next_row(p), ALOFT_ROW);
  const aloft_tds_column *column = aloft_tds_get_column(q, 0);
  const char *expected = sent->text ? sent->text : sent->put;
  assert_int_equal(column->type, sent->is);
  assert_string_equal(column->type_name, sent->name);
  assert_int_equal(column->max, strstr(sent->name, "(max)") != NULL);
  assert_int_equal(aloft_tds_value_type(q, 0), sent->is);
  assert_int_equal(aloft_tds_check(q, 0), ALOFT_OK);
  assert_int_equal(aloft_tds_is_null(q, 0), !sent->put);
  aloft_text text = aloft_tds_text(q, 0);
  if (!expected) {
    assert_null(text.data);
    assert_null(aloft_tds_get_bytes(q, 0).data);
  } else {
    assert_non_null(text.data);
    if (text.size != strlen(expected) || memcmp(text.data, expected, text.size) != 0)
      fail_msg("%s: '%.*s', not '%s'", sent->name, ALOFT_PRINT(text), expected);
    assert_ptr_equal(aloft_tds_text(q, 0).data, text.data);
  }
  assert_int_equal(aloft_tds_step(q), ALOFT_DONE);
}

static void test_every_type(void **state) {
  (void)state;
  world w;
  probe p;
  open_world(&w, true);
  for (size_t at = 0; at < VALUES; at++) {
    sample null = values[at];
    sent = &values[at];
    run(&w, &p, look_at_text);
    assert_int_equal(p.status, ALOFT_OK);
    if (alo_tds_type_form(&null.type) == ALO_TDS_FORM_FIXED)
      continue;
    null.put = null.text = NULL;
    sent = &null;
    run(&w, &p, look_at_text);
    assert_int_equal(p.status, ALOFT_OK);
  }
  world_close(&w);
}

/* ---- native forms, in a column and in a sql_variant ---- */

static const sample *held; /* by the sql_variant */

static void answer_variant(alo_tds_writer *writer) {
  const alo_tds_type variant = {.token = ALO_TDS_SSVARIANT, .size = 8009};
  const alo_tds_out_column column = {variant, 1, ALOFT_TEXT("v")};
  writer->pages = &answering->loop->code_pages.pages;
  alo_tds_put_colmetadata(writer, &column, 1);
  alo_tds_put_row(writer);
  size_t size = alo_tds_type_charset(&held->type) == ALO_TDS_CHARSET_NONE
                    ? strlen(held->put)
                    : alo_tds_text_size(writer, &held->type, aloft_text_of(held->put));
  alo_tds_put_variant(writer, &held->type, size);
  put_any(writer, &held->type, held->put);
}

static void look_at_variant(probe *p) {
  aloft_tds_query *q = &p->query;
  assert_int_equal(next_row(p), ALOFT_ROW);
  const char *expected = held->text ? held->text : held->put;
  assert_int_equal(aloft_tds_get_column(q, 0)->type, ALOFT_TDS_VARIANT);
  assert_int_equal(aloft_tds_value_type(q, 0), held->is);
  assert_int_equal(aloft_tds_check(q, 0), ALOFT_OK);
  aloft_text text = aloft_tds_text(q, 0);
  if (text.size != strlen(expected) || memcmp(text.data, expected, text.size) != 0)
    fail_msg("%s: '%.*s', not '%s'", held->name, ALOFT_PRINT(text), expected);
  assert_int_equal(aloft_tds_step(q), ALOFT_DONE);
}

/* All that a variant can hold. */
static bool may_be_held(const sample *one) {
  return one->put && !one->user_type && alo_tds_variant_properties(one->type.token) >= 0 &&
         !alo_tds_type_is_plp(&one->type);
}

static void test_every_variant(void **state) {
  (void)state;
  world w;
  probe p;
  size_t count = 0;
  open_world(&w, true);
  w.server.answer = answer_variant;
  for (size_t at = 0; at < VALUES; at++) {
    held = &values[at];
    if (!may_be_held(held))
      continue;
    run(&w, &p, look_at_variant);
    assert_int_equal(p.status, ALOFT_OK);
    count++;
  }
  assert_true(count >= 22);
  world_close(&w);
}

static const sample natives[] = {
    {{.token = ALO_TDS_BIT}, .put = "1"},
    {{.token = ALO_TDS_INT8}, .put = "-9223372036854775808"},
    {{.token = ALO_TDS_FLT8}, .put = "-0.5"},
    {{.token = ALO_TDS_NUMERICN, .size = 17, .precision = 38, .scale = 2},
     .put = "-999999999999999999999999999999999999.99"},
    {{.token = ALO_TDS_DATETIMEOFFSETN, .scale = 7}, .put = "738944 863999999999 -330"},
    {{.token = ALO_TDS_GUID, .size = 16}, .put = "00112233-4455-6677-8899-AABBCCDDEEFF"},
    {{.token = ALO_TDS_BIGVARBINARY, .size = 10}, .put = "xyz"}};

static void answer_natives(alo_tds_writer *writer) {
  const alo_tds_type variant = {.token = ALO_TDS_SSVARIANT, .size = 8009};
  alo_tds_out_column columns[14];
  for (size_t at = 0; at < 14; at++)
    columns[at] = (alo_tds_out_column){at < 7 ? natives[at].type : variant, 1, ALOFT_TEXT("n")};
  alo_tds_put_colmetadata(writer, columns, 14);
  alo_tds_put_row(writer);
  for (size_t at = 0; at < 14; at++) {
    if (at >= 7)
      alo_tds_put_variant(writer, &natives[at - 7].type, 3);
    put_any(writer, &natives[at % 7].type, natives[at % 7].put);
  }
}

static void look_at_natives(probe *p) {
  aloft_tds_query *q = &p->query;
  assert_int_equal(next_row(p), ALOFT_ROW);
  for (size_t at = 0; at < 14; at += 7) {
    assert_true(aloft_tds_bit(q, at));
    assert_int_equal(aloft_tds_int32(q, at), 1);
    assert_true(aloft_tds_int64(q, at + 1) == INT64_MIN);
    assert_true(aloft_tds_double(q, at + 2) == -0.5);
    aloft_tds_decimal decimal = aloft_tds_get_decimal(q, at + 3);
    assert_true(decimal.high == UINT64_C(0x4B3B4CA85A86C47A));
    assert_true(decimal.low == UINT64_C(0x098A223FFFFFFFFF));
    assert_true(decimal.negative && decimal.scale == 2 && decimal.precision == 38);
    aloft_tds_moment moment = aloft_tds_get_moment(q, at + 4);
    assert_int_equal(moment.days, 738944);
    assert_true(moment.ticks == UINT64_C(863999999999));
    assert_int_equal(moment.offset_minutes, -330);
    aloft_tds_uuid uuid = aloft_tds_get_uuid(q, at + 5);
    for (uint8_t byte = 0; byte < 16; byte++)
      assert_int_equal(uuid.bytes[byte], byte * 0x11);
    aloft_bytes bytes = aloft_tds_get_bytes(q, at + 6);
    assert_int_equal(bytes.size, 3);
    assert_memory_equal(bytes.data, "xyz", 3);
  }
  assert_int_equal(aloft_tds_step(q), ALOFT_DONE);
}

static void look_at_null_variant(probe *p) {
  assert_int_equal(next_row(p), ALOFT_ROW);
  assert_int_equal(aloft_tds_value_type(&p->query, 0), ALOFT_TDS_VARIANT);
  assert_int_equal(aloft_tds_check(&p->query, 0), ALOFT_OK);
  assert_true(aloft_tds_is_null(&p->query, 0));
  assert_null(aloft_tds_text(&p->query, 0).data);
  assert_null(aloft_tds_get_bytes(&p->query, 0).data);
  assert_int_equal(aloft_tds_value_type(&p->query, 1), ALOFT_TDS_UNKNOWN);
  assert_int_equal(aloft_tds_step(&p->query), ALOFT_DONE);
}

static void test_null_variant(void **state) {
  (void)state;
  static const sample null = {.type = {.token = ALO_TDS_SSVARIANT, .size = 8009}};
  world w;
  probe p;
  open_world(&w, false);
  sent = &null;
  run(&w, &p, look_at_null_variant);
  assert_int_equal(p.status, ALOFT_OK);
  world_close(&w);
}

static void test_native_forms(void **state) {
  (void)state;
  world w;
  probe p;
  open_world(&w, false);
  w.server.answer = answer_natives;
  run(&w, &p, look_at_natives);
  assert_int_equal(p.status, ALOFT_OK);
  world_close(&w);
}

/* ---- the wrong accessor ---- */

typedef struct asking {
  void (*ask)(aloft_tds_query *query);
  const char *asked;
  bool (*takes)(aloft_tds_type type);
} asking;

static void ask_bit(aloft_tds_query *q) {
  assert_false(aloft_tds_bit(q, 0));
}

static void ask_int(aloft_tds_query *q) {
  assert_int_equal(aloft_tds_int64(q, 0), 0);
}

static void ask_double(aloft_tds_query *q) {
  assert_true(aloft_tds_double(q, 0) == 0);
}

static void ask_decimal(aloft_tds_query *q) {
  aloft_tds_decimal value = aloft_tds_get_decimal(q, 0);
  assert_true(value.low == 0 && value.high == 0);
}

static void ask_moment(aloft_tds_query *q) {
  aloft_tds_moment value = aloft_tds_get_moment(q, 0);
  assert_true(value.days == 0 && value.ticks == 0);
}

static void ask_uuid(aloft_tds_query *q) {
  assert_int_equal(aloft_tds_get_uuid(q, 0).bytes[0], 0);
}

static void ask_bytes(aloft_tds_query *q) {
  assert_null(aloft_tds_get_bytes(q, 0).data);
}

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

static const asking askings[] = {{ask_bit, "a bit", is_bit},
                                 {ask_int, "an integer", is_integer},
                                 {ask_double, "a real or float", is_real},
                                 {ask_decimal, "a decimal", is_decimal},
                                 {ask_moment, "a date or time", is_moment},
                                 {ask_uuid, "a uniqueidentifier", is_uuid},
                                 {ask_bytes, "a binary type", is_binary}};

static const asking *tried;

static void ask_wrongly(probe *p) {
  assert_int_equal(next_row(p), ALOFT_ROW);
  tried->ask(&p->query);
  assert_int_equal(aloft_tds_step(&p->query), ALOFT_WRONG_TYPE);
}

static void test_wrong_accessor(void **state) {
  (void)state;
  world w;
  probe p;
  char expected[200];
  open_world(&w, false);
  for (size_t at = 0; at < VALUES; at++) {
    for (size_t ask = 0; ask < sizeof askings / sizeof *askings; ask++) {
      tried = &askings[ask];
      if (!values[at].put || tried->takes(values[at].is))
        continue;
      w.server.answer = answer_one;
      sent = &values[at];
      run(&w, &p, ask_wrongly);
      snprintf(expected, sizeof expected, "column 1 (c) is %s, not %s: use aloft_tds_%s",
               values[at].name, tried->asked, values[at].use);
      assert_string_equal(p.error_text, expected);
      if (!may_be_held(&values[at]))
        continue;
      w.server.answer = answer_variant;
      held = &values[at];
      run(&w, &p, ask_wrongly);
      snprintf(expected, sizeof expected,
               "column 1 (v) is sql_variant of %s, not %s: use aloft_tds_%s", values[at].name,
               tried->asked, values[at].use);
      assert_string_equal(p.error_text, expected);
    }
  }
  world_close(&w);
}

static void test_null_where_a_number_is_wanted(void **state) {
  (void)state;
  world w;
  probe p;
  char expected[200];
  const sample null = {.type = {.token = ALO_TDS_SSVARIANT, .size = 8009}};
  open_world(&w, false);
  sent = &null;
  for (size_t ask = 0; ask + 1 < sizeof askings / sizeof *askings; ask++) {
    tried = &askings[ask];
    run(&w, &p, ask_wrongly);
    snprintf(expected, sizeof expected,
             "column 1 (c) is NULL, not %s: ask first with aloft_tds_is_null", tried->asked);
    assert_string_equal(p.error_text, expected);
  }
  world_close(&w);
}

static void ask_int32(aloft_tds_query *q) {
  assert_int_equal(aloft_tds_int32(q, 0), 0);
}

static void test_too_large_for_32_bits(void **state) {
  (void)state;
  static const asking int32 = {.ask = ask_int32};
  static const sample large = {.type = {.token = ALO_TDS_INT8}, .put = "2147483648"};
  world w;
  probe p;
  open_world(&w, false);
  tried = &int32;
  sent = &large;
  run(&w, &p, ask_wrongly);
  assert_string_equal(p.error_text,
                      "column 1 (c): the value does not fit 32 bits: use aloft_tds_int64");
  world_close(&w);
}

/* ---- values that cannot be had ---- */

static const struct bad {
  alo_tds_type type;
  uint8_t bytes[24];
  size_t size;
  bool always;       /* else only with strict_text */
  const char *text;  /* otherwise */
  const char *wrong; /* what the accessor of text says */
} bad[] = {
    {{.token = ALO_TDS_SSVARIANT, .size = 8009},
     {3, 0, 0, 0, 0x55, 0, 1},
     7,
     true,
     NULL,
     "column 1 (c): an unknown base type in a sql_variant"},
    {{.token = ALO_TDS_SSVARIANT, .size = 8009},
     {3, 0, 0, 0, ALO_TDS_XML, 0, 1},
     7,
     true,
     NULL,
     "column 1 (c): an unknown base type in a sql_variant"},
    {{.token = ALO_TDS_DATEN},
     {3, 0xFF, 0xFF, 0xFF},
     4,
     true,
     NULL,
     "column 1 (c): a date after 9999-12-31"},
    {{.token = ALO_TDS_BIGVARCHAR, .size = 10}, /* no collation that is known */
     {2, 0, 'a', 0xE9},
     4,
     true,
     NULL,
     "column 1 (c): text beyond ASCII in a code page that is not known here"},
    {{.token = ALO_TDS_NVARCHAR, .size = 10, .collation = LATIN},
     {4, 0, 'a', 0, 0x3D, 0xD8},
     6,
     false,
     "a\xEF\xBF\xBD",
     "column 1 (c): text that is not well-formed"},
    {{.token = ALO_TDS_BIGVARCHAR, .size = 10, .collation = UTF8},
     {2, 0, 0xC3, 'a'},
     4,
     false,
     "\xEF\xBF\xBD"
     "a",
     "column 1 (c): text that is not well-formed"},
    {{.token = ALO_TDS_BIGVARCHAR, .size = 10, .collation = JAPANESE},
     {2, 0, 'a', 0x83},
     4,
     false,
     "a\xEF\xBF\xBD",
     "column 1 (c): text that is not well-formed"},
    {{.token = ALO_TDS_NVARCHAR, .size = 0xFFFF, .collation = LATIN},
     {2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0x00, 0xDC},
     18,
     false,
     "\xEF\xBF\xBD",
     "column 1 (c): text that is not well-formed"},
    {{.token = ALO_TDS_JSON, .size = 0xFFFF},
     {1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0xFF},
     17,
     false,
     "\xEF\xBF\xBD",
     "column 1 (c): text that is not well-formed"},
    {{.token = ALO_TDS_SSVARIANT, .size = 8009},
     {11, 0, 0, 0, ALO_TDS_NVARCHAR, 7, 9, 4, 0xD0, 0, 0x34, 10, 0, 0x00, 0xD8},
     15,
     false,
     "\xEF\xBF\xBD",
     "column 1 (c): text that is not well-formed"},
};

static const struct bad *spoilt;

static void answer_bad(alo_tds_writer *writer) {
  const alo_tds_out_column column = {spoilt->type, 1, ALOFT_TEXT("c")};
  alo_tds_put_colmetadata(writer, &column, 1);
  alo_tds_put_row(writer);
  alo_tds_put(writer, spoilt->bytes, spoilt->size);
}

/* A check fails nothing; the accessor fails the query. */
static void look_at_bad(probe *p) {
  aloft_tds_query *q = &p->query;
  assert_int_equal(aloft_tds_check(q, 0), ALOFT_WRONG_STATE);
  assert_int_equal(next_row(p), ALOFT_ROW);
  assert_int_equal(aloft_tds_check(q, 1), ALOFT_WRONG_STATE);
  bool wrong = spoilt->always || p->world->config.strict_text;
  assert_int_equal(aloft_tds_check(q, 0), wrong ? ALOFT_WRONG_TYPE : ALOFT_OK);
  if (spoilt->always && spoilt->type.token == ALO_TDS_SSVARIANT)
    assert_int_equal(aloft_tds_value_type(q, 0), ALOFT_TDS_UNKNOWN);
  if (p->stop_after) {
    assert_int_equal(aloft_tds_step(q), ALOFT_DONE);
    return;
  }
  aloft_text text = aloft_tds_text(q, 0);
  if (wrong) {
    assert_null(text.data);
    assert_int_equal(aloft_tds_step(q), ALOFT_WRONG_TYPE);
  } else {
    assert_int_equal(text.size, strlen(spoilt->text));
    assert_memory_equal(text.data, spoilt->text, text.size);
    assert_int_equal(aloft_tds_step(q), ALOFT_DONE);
  }
}

/* What is not known is of no type, so that none can be named. */
static void test_unknown_asked_wrongly(void **state) {
  (void)state;
  world w;
  probe p;
  open_world(&w, false);
  w.server.answer = answer_bad;
  spoilt = &bad[0];
  for (size_t ask = 0; ask < sizeof askings / sizeof *askings; ask++) {
    tried = &askings[ask];
    run(&w, &p, ask_wrongly);
    assert_string_equal(p.error_text, bad[0].wrong);
  }
  world_close(&w);
}

static void check_bad(bool strict) {
  world w;
  probe p;
  open_world(&w, strict);
  w.server.answer = answer_bad;
  for (size_t at = 0; at < sizeof bad / sizeof *bad; at++) {
    spoilt = &bad[at];
    run(&w, &p, look_at_bad);
    bool wrong = strict || bad[at].always;
    assert_int_equal(p.status, wrong ? ALOFT_WRONG_TYPE : ALOFT_OK);
    if (wrong)
      assert_string_equal(p.error_text, bad[at].wrong);
    probe_begin(&p, &w, "own");
    p.by_hand = true;
    p.stop_after = 1; /* only the check */
    p.on_ready = look_at_bad;
    probe_wait(&p);
    assert_int_equal(p.status, ALOFT_OK);
  }
  prove(&w);
  world_close(&w);
}

static void test_bad_values(void **state) {
  (void)state;
  check_bad(false);
  check_bad(true);
}

static void answer_large(alo_tds_writer *writer) {
  const alo_tds_type type = {.token = ALO_TDS_BIGVARBINARY, .size = 0xFFFF};
  const alo_tds_out_column column = {type, 1, ALOFT_TEXT("c")};
  static uint8_t bytes[2000];
  alo_tds_put_colmetadata(writer, &column, 1);
  alo_tds_put_row(writer);
  alo_tds_put_bytes(writer, &type, (aloft_bytes){bytes, sizeof bytes});
}

static void look_at_large(probe *p) {
  assert_int_equal(next_row(p), ALOFT_ROW);
  assert_int_equal(aloft_tds_check(&p->query, 0), ALOFT_TOO_LARGE);
  assert_false(aloft_tds_is_null(&p->query, 0));
  assert_int_equal(aloft_tds_step(&p->query), ALOFT_DONE);
}

static void test_check_of_too_large(void **state) {
  (void)state;
  world w;
  probe p;
  world_open(&w);
  w.config.value_max = 1000;
  w.server.answer = answer_large;
  world_connect(&w);
  run(&w, &p, look_at_large);
  assert_int_equal(p.status, ALOFT_OK);
  world_close(&w);
}

/* ---- what is told of columns ---- */

static void answer_browse(alo_tds_writer *writer) {
  const alo_tds_type integer = {.token = ALO_TDS_INT4};
  const alo_tds_out_column columns[] = {
      {integer, 0x10, ALOFT_TEXT("id")},
      {{.token = ALO_TDS_TEXT, .size = 100, .collation = LATIN}, 1, ALOFT_TEXT("note")},
      {{.token = ALO_TDS_UDT, .size = 900}, 1, ALOFT_TEXT("place")},
      {integer, 0, ALOFT_TEXT("sum")}};
  const alo_tds_out_origin origins[] = {{.table = {"", 0}},
                                        {.table = ALOFT_TEXT("shop.dbo.notes")},
                                        {.udt = ALOFT_TEXT("shop.dbo.Point")},
                                        {.table = {"", 0}}};
  const aloft_text tables[] = {ALOFT_TEXT("dbo.orders"), ALOFT_TEXT("dbo.notes")};
  const alo_tds_out_colinfo info[] = {{1, 1, ALO_TDS_COLINFO_KEY, ALOFT_TEXT("order_id")},
                                      {2, 2, 0, {"", 0}},
                                      {3, 1, ALO_TDS_COLINFO_HIDDEN, {"", 0}},
                                      {4, 0, ALO_TDS_COLINFO_EXPRESSION, {"", 0}}};
  alo_tds_put_colmetadata_from(writer, columns, origins, 4);
  alo_tds_put_tabname(writer, tables, 2);
  alo_tds_put_colinfo(writer, info, 4);
  alo_tds_put_row(writer);
  alo_tds_put_int64(writer, &integer, 1);
  alo_tds_put_null(writer, &columns[1].type);
  alo_tds_put_null(writer, &columns[2].type);
  alo_tds_put_int64(writer, &integer, 2);
}

static void text_is(aloft_text text, const char *expected) {
  assert_int_equal(text.size, strlen(expected));
  assert_memory_equal(text.data, expected, text.size);
}

static void look_at_columns(probe *p) {
  aloft_tds_query *q = &p->query;
  assert_int_equal(aloft_tds_step(q), ALOFT_RESULT);
  const aloft_tds_column *column = aloft_tds_get_column(q, 0);
  assert_true(column->identity && !column->key && !column->nullable);
  text_is(column->table, "");
  text_is(aloft_tds_get_column(q, 1)->table, "shop.dbo.notes");
  assert_memory_equal(aloft_tds_get_column(q, 1)->collation, ((uint8_t[5])LATIN), 5);
  text_is(aloft_tds_get_column(q, 2)->udt, "shop.dbo.Point");
  assert_int_equal(aloft_tds_get_column(q, 2)->size, 900);
  assert_int_equal(aloft_tds_step(q), ALOFT_ROW);
  assert_ptr_equal(aloft_tds_get_column(q, 0), column);
  assert_true(column->identity && column->key);
  text_is(column->name, "id");
  text_is(column->base_name, "order_id");
  text_is(column->table, "dbo.orders");
  text_is(column[1].table, "dbo.notes");
  text_is(column[1].base_name, "");
  assert_true(column[2].hidden && !column[1].hidden && !column[3].hidden);
  assert_true(column[3].computed && !column[0].computed);
  text_is(column[3].table, "");
  assert_int_equal(aloft_tds_step(q), ALOFT_DONE);
}

static void test_columns(void **state) {
  (void)state;
  world w;
  probe p;
  open_world(&w, false);
  w.server.answer = answer_browse;
  run(&w, &p, look_at_columns);
  assert_int_equal(p.status, ALOFT_OK);
  world_close(&w);
}

/* ---- json ---- */

static aloft_status connect_with(int version) {
  world w;
  counted opening = counted_op();
  world_open(&w);
  w.server.json_version = version;
  assert_int_equal(world_connect_op(&w, &opening), ALOFT_OK);
  aloft_status status = aloft_wait(w.loop, &opening.op);
  assert_int_equal(w.server.json_asked, 1);
  world_close(&w);
  return status;
}

static void test_json_version(void **state) {
  (void)state;
  assert_int_equal(connect_with(-1), ALOFT_OK);
  assert_int_equal(connect_with(1), ALOFT_OK);
  assert_int_equal(connect_with(2), ALOFT_PROTOCOL);
  assert_int_equal(connect_with(0), ALOFT_PROTOCOL);
}

/* ---- no heap call in the steady state ---- */

static void test_steady(void **state) {
  (void)state;
  static const sample text = {
      .type = {.token = ALO_TDS_BIGVARCHAR, .size = 100, .collation = JAPANESE},
      .is = ALOFT_TDS_VARCHAR,
      .name = "varchar",
      .put = "\xE3\x83\x86\xE3\x82\xB9\xE3\x83\x88"};
  const alo_sim_faults faults = {0};
  harness_heap heap;
  world w;
  probe p;
  uint64_t before = 0;
  harness_heap_init(&heap);
  world_open_with(&w, &heap.allocator, 1, &faults);
  w.server.answer = answer_one;
  answering = &w;
  world_connect(&w);
  sent = &text;
  for (unsigned round = 0; round < 6; round++) {
    if (round == 3)
      before = heap.allocations + heap.resizes;
    run(&w, &p, look_at_text);
    assert_int_equal(p.status, ALOFT_OK);
  }
  assert_int_equal(heap.allocations + heap.resizes, before);
  world_close(&w);
  harness_heap_check(&heap);
}

/* ---- any allocation may fail ---- */

static void read_all(probe *p) {
  aloft_tds_query *q = &p->query;
  aloft_status step;
  while ((step = aloft_tds_step(q)) == ALOFT_ROW || step == ALOFT_RESULT) {
    for (size_t at = 0; at < aloft_tds_column_count(q); at++) {
      (void)aloft_tds_get_column(q, at);
      if (step == ALOFT_ROW) {
        (void)aloft_tds_value_type(q, at);
        (void)aloft_tds_check(q, at);
        (void)aloft_tds_text(q, at);
      }
    }
  }
}

static void use_all(const aloft_allocator *allocator, void *context) {
  static void (*const answers[])(alo_tds_writer *) = {answer_one, answer_variant, answer_browse};
  static const sample text = {
      .type = {.token = ALO_TDS_BIGVARCHAR, .size = 0xFFFF, .collation = JAPANESE},
      .put = "\xE3\x83\x86"};
  static const sample in_it = {
      .type = {.token = ALO_TDS_BIGVARCHAR, .size = 20, .collation = CYRILLIC}, .put = "\xD0\x9F"};
  const alo_sim_faults faults = {0};
  world w;
  probe p;
  (void)context;
  world_open_with(&w, allocator, 1, &faults);
  if (!w.loop)
    return;
  answering = &w;
  sent = &text;
  held = &in_it;
  counted opening = counted_op();
  aloft_status status = world_connect_op(&w, &opening);
  for (unsigned at = 0; at < 3 && status == ALOFT_OK; at++) {
    w.server.answer = answers[at];
    probe_init(&p, &w, "own");
    p.by_hand = true;
    p.on_ready = read_all;
    status = probe_start(&p);
    for (unsigned turns_left = 40; turns_left && status == ALOFT_OK && !p.done; turns_left--)
      aloft_loop_turn(w.loop, 0);
    if (status == ALOFT_OK && !p.done)
      break; /* the server had no memory to answer */
  }
  world_close(&w);
}

static void test_each_allocation_fails(void **state) {
  (void)state;
  assert_true(harness_each_allocation(use_all, NULL) > 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_type),
                                     cmocka_unit_test(test_every_variant),
                                     cmocka_unit_test(test_null_variant),
                                     cmocka_unit_test(test_native_forms),
                                     cmocka_unit_test(test_wrong_accessor),
                                     cmocka_unit_test(test_null_where_a_number_is_wanted),
                                     cmocka_unit_test(test_too_large_for_32_bits),
                                     cmocka_unit_test(test_bad_values),
                                     cmocka_unit_test(test_unknown_asked_wrongly),
                                     cmocka_unit_test(test_check_of_too_large),
                                     cmocka_unit_test(test_columns),
                                     cmocka_unit_test(test_json_version),
                                     cmocka_unit_test(test_steady),
                                     cmocka_unit_test(test_each_allocation_fails)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
