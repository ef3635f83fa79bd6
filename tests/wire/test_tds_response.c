/* What a server sends: each token's bytes, and every type, NULL and extreme read back through the
 * reader. */
#include "tds_message.h"

#include <float.h>
#include <stdio.h>

#include "code_pages.h"
#include "heap.h"
#include "tds_response.h"

static tds_output output;

static int set_up(void **state) {
  (void)state;
  tds_output_init(&output, 512, 1 << 24);
  alo_tds_message_begin(&output.writer, ALO_TDS_REPLY, 0);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  tds_output_fini(&output);
  return 0;
}

/* ---- exact bytes ---- */

static void check_bytes(const void *expected, size_t size) {
  guard_buffer payload = tds_output_payload(&output);
  assert_int_equal(payload.size, size);
  assert_memory_equal(payload.data, expected, size);
  guard_give(&payload);
  alo_tds_message_begin(&output.writer, ALO_TDS_REPLY, 0);
}

#define CHECK_BYTES(literal) check_bytes(literal, sizeof(literal) - 1)

static void test_bytes_of_metadata_and_rows(void **state) {
  (void)state;
  static const bool nulls[9] = {true, false, false, false, false, false, false, false, true};
  alo_tds_out_column columns[] = {
      {.type = {.token = ALO_TDS_INT4}, .flags = 0x10, .name = ALOFT_TEXT("id")},
      {.type = {.token = ALO_TDS_NVARCHAR, .size = 20, .collation = {9, 4, 0xD0, 0, 0x34}},
       .flags = 0x09,
       .name = ALOFT_TEXT("é")}};
  alo_tds_put_colmetadata(&output.writer, columns, 2);
  CHECK_BYTES("\x81\x02\0"
              "\0\0\0\0\x10\0\x38\x02i\0d\0"
              "\0\0\0\0\x09\0\xE7\x14\0\x09\x04\xD0\0\x34\x01\xE9\0");
  alo_tds_put_colmetadata(&output.writer, NULL, 0);
  CHECK_BYTES("\x81\xFF\xFF");
  alo_tds_put_row(&output.writer);
  alo_tds_put_int64(&output.writer, &columns[0].type, -2);
  alo_tds_put_text(&output.writer, &columns[1].type, ALOFT_TEXT("x"));
  CHECK_BYTES("\xD1\xFE\xFF\xFF\xFF\x02\0x\0");
  alo_tds_put_nbcrow(&output.writer, nulls, 9);
  CHECK_BYTES("\xD2\x01\x01");
}

static void test_bytes_of_done_and_status(void **state) {
  (void)state;
  alo_tds_done done = {.token = 0xFD, .status = 0x0010, .command = 0xC1, .rows = 258};
  uint16_t order[] = {2, 1};
  alo_tds_put_done(&output.writer, &done);
  CHECK_BYTES("\xFD\x10\0\xC1\0\x02\x01\0\0\0\0\0\0");
  alo_tds_put_return_status(&output.writer, -6);
  CHECK_BYTES("\x79\xFA\xFF\xFF\xFF");
  alo_tds_put_order(&output.writer, order, 2);
  CHECK_BYTES("\xA9\x04\0\x02\0\x01\0");
}

static void test_bytes_of_messages(void **state) {
  (void)state;
  alo_tds_message message = {.error = true,
                             .number = 208,
                             .state = 1,
                             .severity = 16,
                             .line = 3,
                             .text = ALOFT_TEXT("no"),
                             .server = ALOFT_TEXT("s"),
                             .procedure = ALOFT_TEXT("p")};
  alo_tds_put_message(&output.writer, &message);
  CHECK_BYTES("\xAA\x16\0\xD0\0\0\0\x01\x10\x02\0n\0o\0\x01s\0\x01p\0\x03\0\0\0");
  alo_tds_put_message(&output.writer, &(alo_tds_message){.number = 5701});
  CHECK_BYTES("\xAB\x0E\0\x45\x16\0\0\0\0\0\0\0\0\0\0\0\0");
}

static void test_bytes_of_login_answers(void **state) {
  (void)state;
  alo_tds_loginack loginack = {.interface_type = 1,
                               .tds_version = 0x74000004,
                               .program = ALOFT_TEXT("A"),
                               .version = {16, 0, 1, 2}};
  alo_tds_put_loginack(&output.writer, &loginack);
  CHECK_BYTES("\xAD\x0C\0\x01\x74\0\0\x04\x01"
              "A\0\x10\0\x01\x02");
  alo_tds_put_env_text(&output.writer, 4, ALOFT_TEXT("8000"), ALOFT_TEXT("4096"));
  CHECK_BYTES("\xE3\x13\0\x04\x04"
              "8\0"
              "0\0"
              "0\0"
              "0\0\x04"
              "4\0"
              "0\0"
              "9\0"
              "6\0");
  alo_tds_put_env_bytes(&output.writer, 8, (aloft_bytes){"\1\2\3\4\5\6\7\x08", 8},
                        (aloft_bytes){NULL, 0});
  CHECK_BYTES("\xE3\x0B\0\x08\x08\1\2\3\4\5\6\7\x08\0");
  alo_tds_put_env_routing(&output.writer, ALOFT_TEXT("h"), 1433);
  CHECK_BYTES("\xE3\x0C\0\x14\x07\0\0\x99\x05\x01\0h\0\0\0");
  alo_tds_put_feature_ack(&output.writer, 0x0A, (aloft_bytes){"\1", 1});
  CHECK_BYTES("\xAE\x0A\x01\0\0\0\x01\xFF");
}

static void test_bytes_of_a_return_value(void **state) {
  (void)state;
  static const alo_tds_type type = {.token = ALO_TDS_INTN, .size = 4};
  alo_tds_put_return_value(&output.writer, 2, ALOFT_TEXT("@o"), &type);
  alo_tds_put_int64(&output.writer, &type, 7);
  CHECK_BYTES("\xAC\x02\0\x02@\0o\0\x01\0\0\0\0\0\0\x26\x04\x04\x07\0\0\0");
}

static void test_bytes_of_large_values(void **state) {
  (void)state;
  static const alo_tds_type type = {.token = ALO_TDS_BIGVARBINARY, .size = ALO_TDS_MAX_SIZE};
  alo_tds_put_bytes(&output.writer, &type, (aloft_bytes){"ab", 2});
  CHECK_BYTES("\x02\0\0\0\0\0\0\0\x02\0\0\0"
              "ab\0\0\0\0");
  alo_tds_put_bytes(&output.writer, &type, (aloft_bytes){"", 0});
  CHECK_BYTES("\0\0\0\0\0\0\0\0\0\0\0\0");
  alo_tds_put_null(&output.writer, &type);
  CHECK_BYTES("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF");
}

/* ---- every type, through the reader ---- */

enum kind { INTEGER, REAL, DECIMAL, TEXT, BYTES, MOMENT, UUID };

struct value {
  alo_tds_type type;
  enum kind kind;
  aloft_tds_param value; /* its member by kind */
  const char *expected;  /* canonical text */
};

#define LATIN                                                                                      \
  { 9, 4, 0xD0, 0, 0x34 }
#define UTF8                                                                                       \
  { 9, 4, 0xD0, 4, 0 }
#define RUSSIAN                                                                                    \
  { 0x19, 4, 0xD0, 0, 0 }

#define INT(token_, size_, number, text)                                                           \
  { {.token = token_, .size = size_}, INTEGER, {.value.integer = number}, text }
#define FLOAT(token_, size_, number, text)                                                         \
  { {.token = token_, .size = size_}, REAL, {.value.real = number}, text }
#define EXACT(token_, size_, p, s, low_, high_, minus, text)                                       \
  {                                                                                                \
    {.token = token_, .size = size_, .precision = p, .scale = s}, DECIMAL,                         \
        {.value.decimal =                                                                          \
             {.low = low_, .high = high_, .precision = p, .scale = s, .negative = minus}},         \
        text                                                                                       \
  }
#define WORDS(token_, size_, collation_, in, out)                                                  \
  {                                                                                                \
    {.token = token_, .size = size_, .collation = collation_}, TEXT,                               \
        {.value.text = {in, sizeof(in) - 1}}, out                                                  \
  }
#define BINARY(token_, size_, in, out)                                                             \
  { {.token = token_, .size = size_}, BYTES, {.value.bytes = {in, sizeof(in) - 1}}, out }
#define WHEN(token_, size_, s, day, tick, minutes, text)                                           \
  {                                                                                                \
    {.token = token_, .size = size_, .scale = s}, MOMENT,                                          \
        {.value.moment = {.days = day, .ticks = tick, .offset_minutes = minutes}}, text            \
  }

#define LAST_TICK UINT64_C(863999999999)

static const struct value values[] = {
    INT(ALO_TDS_INT1, 1, 255, "255"),
    INT(ALO_TDS_INT2, 2, -32768, "-32768"),
    INT(ALO_TDS_INT4, 4, INT32_MIN, "-2147483648"),
    INT(ALO_TDS_INT8, 8, INT64_MAX, "9223372036854775807"),
    INT(ALO_TDS_BIT, 1, 2, "1"),
    INT(ALO_TDS_BITN, 1, 0, "0"),
    INT(ALO_TDS_INTN, 1, 0, "0"),
    INT(ALO_TDS_INTN, 2, 32767, "32767"),
    INT(ALO_TDS_INTN, 4, -1, "-1"),
    INT(ALO_TDS_INTN, 8, INT64_MIN, "-9223372036854775808"),
    FLOAT(ALO_TDS_FLT4, 4, 0.1f, "0.1"),
    FLOAT(ALO_TDS_FLT8, 8, 0.1, "0.1"),
    FLOAT(ALO_TDS_FLTN, 4, -1.5, "-1.5"),
    FLOAT(ALO_TDS_FLTN, 8, DBL_MAX, "1.7976931348623157e+308"),
    EXACT(ALO_TDS_DECIMALN, 5, 9, 0, 999999999, 0, true, "-999999999"),
    EXACT(ALO_TDS_NUMERICN, 9, 19, 4, UINT64_C(9999999999999999999), 0, false,
          "999999999999999.9999"),
    EXACT(ALO_TDS_DECIMALN, 13, 28, 28, 1, 0, false, "0.0000000000000000000000000001"),
    EXACT(ALO_TDS_DECIMALN, 17, 38, 10, UINT64_C(0x98A223FFFFFFFFF), UINT64_C(0x4B3B4CA85A86C47A),
          true, "-9999999999999999999999999999.9999999999"),
    EXACT(ALO_TDS_MONEY, 8, 19, 4, UINT64_C(9223372036854775808), 0, true, "-922337203685477.5808"),
    EXACT(ALO_TDS_MONEYN, 8, 19, 4, INT64_MAX, 0, false, "922337203685477.5807"),
    EXACT(ALO_TDS_MONEY4, 4, 10, 4, 2147483648, 0, true, "-214748.3648"),
    EXACT(ALO_TDS_MONEYN, 4, 10, 4, 12, 0, false, "0.0012"),
    WORDS(ALO_TDS_BIGVARCHAR, 20, LATIN, "Grüße €1 Ωмx", "Grüße €1 ??x"),
    WORDS(ALO_TDS_BIGVARCHAR, 20, LATIN, "a😀b", "a??b"),
    WORDS(ALO_TDS_BIGCHAR, 5, LATIN, "ab   ", "ab   "),
    WORDS(ALO_TDS_BIGVARCHAR, 20, UTF8, "日本 😀", "日本 😀"),
    WORDS(ALO_TDS_BIGVARCHAR, 20, RUSSIAN, "aй", "a?"),
    WORDS(ALO_TDS_BIGVARCHAR, 20, LATIN, "", ""),
    WORDS(ALO_TDS_NVARCHAR, 40, LATIN, "日本 😀", "日本 😀"),
    WORDS(ALO_TDS_NCHAR, 4, LATIN, "Ω ", "Ω "),
    WORDS(ALO_TDS_BIGVARCHAR, ALO_TDS_MAX_SIZE, LATIN, "€", "€"),
    WORDS(ALO_TDS_NVARCHAR, ALO_TDS_MAX_SIZE, LATIN, "日本 😀", "日本 😀"),
    WORDS(ALO_TDS_NVARCHAR, ALO_TDS_MAX_SIZE, LATIN, "", ""),
    {{.token = ALO_TDS_XML, .size = ALO_TDS_MAX_SIZE}, TEXT, {.value.text = {"<a/>", 4}}, "<a/>"},
    BINARY(ALO_TDS_BIGVARBINARY, 10, "\xDE\xAD", "0xDEAD"),
    BINARY(ALO_TDS_BIGBINARY, 2, "\0\x01", "0x0001"),
    BINARY(ALO_TDS_BIGVARBINARY, ALO_TDS_MAX_SIZE, "\xFF", "0xFF"),
    WHEN(ALO_TDS_DATEN, 3, 0, 0, 0, 0, "0001-01-01"),
    WHEN(ALO_TDS_DATEN, 3, 0, 3652058, 0, 0, "9999-12-31"),
    WHEN(ALO_TDS_TIMEN, 0, 0, 0, LAST_TICK, 0, "23:59:59"),
    WHEN(ALO_TDS_TIMEN, 0, 1, 0, LAST_TICK, 0, "23:59:59.9"),
    WHEN(ALO_TDS_TIMEN, 0, 4, 0, LAST_TICK, 0, "23:59:59.9999"),
    WHEN(ALO_TDS_TIMEN, 0, 7, 0, LAST_TICK, 0, "23:59:59.9999999"),
    WHEN(ALO_TDS_DATETIME2N, 0, 7, 3652058, LAST_TICK, 0, "9999-12-31 23:59:59.9999999"),
    WHEN(ALO_TDS_DATETIME2N, 0, 0, 738944, 0, 0, "2024-02-29 00:00:00"),
    WHEN(ALO_TDS_DATETIMEOFFSETN, 0, 3, 738944, 0, 330, "2024-02-29 05:30:00.000 +05:30"),
    WHEN(ALO_TDS_DATETIMEOFFSETN, 0, 0, 738944, 0, -840, "2024-02-28 10:00:00 -14:00"),
    WHEN(ALO_TDS_DATETIME, 8, 0, 639905, 0, 0, "1753-01-01 00:00:00.000"),
    WHEN(ALO_TDS_DATETIMN, 8, 0, 3652058, UINT64_C(863999970000), 0, "9999-12-31 23:59:59.997"),
    WHEN(ALO_TDS_DATETIM4, 4, 0, 693595, 0, 0, "1900-01-01 00:00:00"),
    WHEN(ALO_TDS_DATETIMN, 4, 0, 693595 + 65535, UINT64_C(863400000000), 0, "2079-06-06 23:59:00"),
    {{.token = ALO_TDS_GUID, .size = 16},
     UUID,
     {.value.uuid = {{0x6F, 0x96, 0x19, 0xFF, 0x8B, 0x86, 0xD0, 0x11, 0xB4, 0x2D, 0x00, 0xC0, 0x4F,
                      0xC9, 0x64, 0xFF}}},
     "6F9619FF-8B86-D011-B42D-00C04FC964FF"},
};

enum { VALUES = sizeof values / sizeof *values };

static void put_value(const struct value *value) {
  switch (value->kind) {
  case INTEGER:
    alo_tds_put_int64(&output.writer, &value->type, value->value.value.integer);
    return;
  case REAL:
    alo_tds_put_double(&output.writer, &value->type, value->value.value.real);
    return;
  case DECIMAL:
    alo_tds_put_decimal(&output.writer, &value->type, &value->value.value.decimal);
    return;
  case TEXT:
    alo_tds_put_text(&output.writer, &value->type, value->value.value.text);
    return;
  case BYTES:
    alo_tds_put_bytes(&output.writer, &value->type, value->value.value.bytes);
    return;
  case MOMENT:
    alo_tds_put_moment(&output.writer, &value->type, &value->value.value.moment);
    return;
  case UUID:
    alo_tds_put_uuid(&output.writer, &value->type, &value->value.value.uuid);
  }
}

static bool nullable(const struct value *value) {
  return alo_tds_type_form(&value->type) != ALO_TDS_FORM_FIXED;
}

/* A row of all values, one of what can be NULL, and both again with null bitmaps. */
static void put_rows(void) {
  bool nulls[VALUES];
  alo_tds_put_row(&output.writer);
  for (size_t i = 0; i < VALUES; i++) {
    put_value(&values[i]);
  }
  alo_tds_put_row(&output.writer);
  for (size_t i = 0; i < VALUES; i++) {
    nulls[i] = nullable(&values[i]);
    if (nulls[i]) {
      alo_tds_put_null(&output.writer, &values[i].type);
    } else {
      put_value(&values[i]);
    }
  }
  alo_tds_put_nbcrow(&output.writer, nulls, VALUES);
  for (size_t i = 0; i < VALUES; i++) {
    if (!nulls[i]) {
      put_value(&values[i]);
    }
  }
}

static void check_cell(const alo_tds_cell *cell, const struct value *value) {
  size_t size;
  if (cell->decoded) {
    size = strlen(value->expected);
    assert_int_equal(cell->size, size);
    assert_memory_equal(cell->data, value->expected, size);
    return;
  }
  char *text = malloc(alo_tds_value_text_room(&value->type, cell->size));
  assert_non_null(text);
  assert_null(alo_tds_value_text(&value->type, cell->data, cell->size, text, &size));
  assert_text((aloft_text){text, size}, value->expected);
  free(text);
}

static void check_row(const alo_tds_reader *reader, bool nulls) {
  for (size_t i = 0; i < VALUES; i++) {
    const alo_tds_cell *cell = alo_tds_reader_cell(reader, i);
    bool null = nulls && nullable(&values[i]);
    assert_int_equal(cell->null, null);
    if (!null) {
      check_cell(cell, &values[i]);
    }
  }
}

static void check_columns(const alo_tds_reader *reader) {
  assert_int_equal(alo_tds_reader_column_count(reader), VALUES);
  for (size_t i = 0; i < VALUES; i++) {
    char name[16];
    const alo_tds_column_info *column = alo_tds_reader_column(reader, i);
    snprintf(name, sizeof name, "c%zu", i);
    assert_text(column->name, name);
    assert_int_equal(column->flags, i);
    assert_int_equal(column->type.token, values[i].type.token);
    if (values[i].kind == MOMENT) {
      assert_int_equal(column->type.scale, values[i].type.scale);
    }
  }
}

static void test_every_type_through_the_reader(void **state) {
  (void)state;
  alo_tds_out_column columns[VALUES];
  char names[VALUES][8];
  for (size_t i = 0; i < VALUES; i++) {
    int size = snprintf(names[i], sizeof names[i], "c%zu", i);
    columns[i] = (alo_tds_out_column){
        .type = values[i].type, .flags = (uint16_t)i, .name = {names[i], (size_t)size}};
  }
  alo_tds_put_colmetadata(&output.writer, columns, VALUES);
  put_rows();
  alo_tds_put_done(&output.writer, &(alo_tds_done){.token = 0xFD, .status = 0x10, .rows = 3});
  assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_OK);

  alo_tds_reader *reader = alo_tds_reader_open(&output.heap.allocator, &(alo_tds_limits){0});
  aloft_bytes input = tds_output_bytes(&output);
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_METADATA);
  check_columns(reader);
  for (int row = 0; row < 3; row++) {
    assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_ROW_READY);
    check_row(reader, row > 0);
  }
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_DONE);
  assert_int_equal(alo_tds_reader_done(reader)->rows, 3);
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_END);
  alo_tds_reader_close(reader);
}

/* ---- the other tokens, through the reader ---- */

static void put_login_answer(void) {
  alo_tds_message message = {.number = 5701,
                             .state = 2,
                             .line = 1,
                             .text = ALOFT_TEXT("Kontext: 日本"),
                             .server = ALOFT_TEXT("srv"),
                             .procedure = ALOFT_TEXT("p")};
  alo_tds_loginack loginack = {.interface_type = 1,
                               .tds_version = 0x74000004,
                               .program = ALOFT_TEXT("Aloft lite"),
                               .version = {16, 0, 1, 2}};
  alo_tds_put_env_text(&output.writer, 1, ALOFT_TEXT("db"), ALOFT_TEXT("master"));
  alo_tds_put_message(&output.writer, &message);
  alo_tds_put_env_bytes(&output.writer, 7, (aloft_bytes){alo_tds_collation_default, 5},
                        (aloft_bytes){NULL, 0});
  alo_tds_put_env_routing(&output.writer, ALOFT_TEXT("elsewhere"), 1500);
  alo_tds_put_loginack(&output.writer, &loginack);
  alo_tds_put_feature_ack(&output.writer, 0x0A, (aloft_bytes){"\1", 1});
  alo_tds_put_done(&output.writer, &(alo_tds_done){.token = 0xFD});
  assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_OK);
}

static void test_login_answer_through_the_reader(void **state) {
  (void)state;
  uint8_t feature;
  put_login_answer();
  alo_tds_reader *reader = alo_tds_reader_open(&output.heap.allocator, &(alo_tds_limits){0});
  aloft_bytes input = tds_output_bytes(&output);
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_ENVCHANGE);
  assert_int_equal(alo_tds_reader_env(reader)->type, 1);
  assert_text(alo_tds_reader_env(reader)->text_new, "db");
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_MESSAGE);
  assert_false(alo_tds_reader_message(reader)->error);
  assert_int_equal(alo_tds_reader_message(reader)->number, 5701);
  assert_text(alo_tds_reader_message(reader)->text, "Kontext: 日本");
  assert_text(alo_tds_reader_message(reader)->server, "srv");
  assert_text(alo_tds_reader_message(reader)->procedure, "p");
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_ENVCHANGE);
  assert_int_equal(alo_tds_reader_env(reader)->bytes_new.size, 5);
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_ENVCHANGE);
  assert_text(alo_tds_reader_env(reader)->text_new, "elsewhere");
  assert_int_equal(alo_tds_reader_env(reader)->routing_port, 1500);
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_LOGINACK);
  assert_int_equal(alo_tds_reader_loginack(reader)->tds_version, 0x74000004);
  assert_text(alo_tds_reader_loginack(reader)->program, "Aloft lite");
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_FEATURE_ACK);
  assert_int_equal(alo_tds_reader_feature(reader, &feature).size, 1);
  assert_int_equal(feature, 0x0A);
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_DONE);
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_END);
  alo_tds_reader_close(reader);
}

static void test_procedure_answer_through_the_reader(void **state) {
  (void)state;
  static const alo_tds_type type = {
      .token = ALO_TDS_NVARCHAR, .size = 40, .collation = {9, 4, 0xD0, 0, 0x34}};
  static const uint16_t order[] = {1};
  alo_tds_put_order(&output.writer, order, 1);
  alo_tds_put_return_status(&output.writer, -4);
  alo_tds_put_return_value(&output.writer, 1, ALOFT_TEXT("@out"), &type);
  alo_tds_put_text(&output.writer, &type, ALOFT_TEXT("é"));
  alo_tds_put_done(&output.writer, &(alo_tds_done){.token = 0xFE});
  assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_OK);

  alo_tds_reader *reader = alo_tds_reader_open(&output.heap.allocator, &(alo_tds_limits){0});
  aloft_bytes input = tds_output_bytes(&output);
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_RETURN_STATUS);
  assert_int_equal(alo_tds_reader_return_status(reader), -4);
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_RETURN_VALUE);
  assert_text(alo_tds_reader_return_value(reader)->name, "@out");
  const alo_tds_cell *cell = alo_tds_reader_return_cell(reader);
  assert_utf16((aloft_bytes){cell->data, cell->size}, ALOFT_TEXT("é"));
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_DONE);
  assert_int_equal(alo_tds_reader_done(reader)->token, 0xFE);
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_END);
  alo_tds_reader_close(reader);
}

/* Every character that Windows-1252 has, and back. */
static void test_windows_1252(void **state) {
  (void)state;
  for (unsigned byte = 0; byte < 256; byte++) {
    uint8_t in = (uint8_t)byte;
    char text[4];
    alo_tds_type type = {.token = ALO_TDS_BIGVARCHAR, .size = 10, .collation = LATIN};
    size_t size = alo_tds_1252_to_utf8(&in, 1, text);
    alo_tds_put_text(&output.writer, &type, (aloft_text){text, size});
    uint8_t expected[] = {1, 0, in};
    check_bytes(expected, sizeof expected);
  }
}

/* Longer than what the code page is converted through at once. */
static void test_long_text_in_a_code_page(void **state) {
  (void)state;
  alo_tds_type type = {.token = ALO_TDS_BIGVARCHAR, .size = 8000, .collation = LATIN};
  for (size_t shift = 0; shift < 4; shift++) {
    char text[3000];
    uint8_t expected[3000 + 2];
    size_t count = shift;
    memset(text, 'x', shift);
    memset(expected + 2, 'x', shift);
    size_t size = shift;
    for (; size + 4 < sizeof text; size += 4, count += 2) {
      memcpy(text + size, "😀", 4);
      memset(expected + 2 + count, '?', 2);
    }
    expected[0] = (uint8_t)count;
    expected[1] = (uint8_t)(count >> 8);
    alo_tds_put_text(&output.writer, &type, (aloft_text){text, size});
    check_bytes(expected, count + 2);
  }
}

static alo_page_store store;

/* By the page that is given; without it only ASCII. */
static void test_text_in_code_pages(void **state) {
  (void)state;
  static const uint8_t collations[][5] = {{0x19, 4, 0xD0, 0, 0}, {0x11, 4, 0xD0, 0, 0}};
  alo_tds_type russian = {.token = ALO_TDS_BIGVARCHAR, .size = 10};
  alo_tds_type japanese = {.token = ALO_TDS_BIGVARCHAR, .size = ALO_TDS_MAX_SIZE};
  memcpy(russian.collation, collations[0], 5);
  memcpy(japanese.collation, collations[1], 5);
  alo_tds_put_text(&output.writer, &russian, ALOFT_TEXT("При"));
  CHECK_BYTES("\x03\0???");
  alo_page_store_init(&store, &alo_heap_default);
  output.writer.pages = &store.pages;
  alo_tds_put_text(&output.writer, &russian, ALOFT_TEXT("Приé😀"));
  CHECK_BYTES("\x06\0\xCF\xF0\xE8???");
  alo_tds_put_text(&output.writer, &japanese, ALOFT_TEXT("aテｱé😀"));
  CHECK_BYTES("\x07\0\0\0\0\0\0\0\x07\0\0\0a\x83\x65\xB1???\0\0\0\0");
  assert_int_equal(alo_tds_text_size(&output.writer, &japanese, ALOFT_TEXT("aテｱé😀")), 7);
  alo_tds_put_text(&output.writer, &russian, ALOFT_TEXT("ПриПриПриПр"));
  assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_ARGUMENT);
  alo_tds_message_begin(&output.writer, ALO_TDS_REPLY, 0);
  output.writer.pages = NULL;
  alo_page_store_fini(&store);
}

/* A pointer before the value in an answer, none in a request; so with NULL. */
static void test_bytes_of_lobs(void **state) {
  (void)state;
  alo_tds_type text = {.token = ALO_TDS_TEXT, .size = 100, .collation = LATIN};
  alo_tds_type image = {.token = ALO_TDS_IMAGE, .size = 100};
  alo_tds_put_type(&output.writer, &text);
  CHECK_BYTES("\x23\x64\0\0\0\x09\x04\xD0\0\x34");
  alo_tds_put_text(&output.writer, &text, ALOFT_TEXT("é"));
  CHECK_BYTES("\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\xE9");
  alo_tds_put_null(&output.writer, &text);
  CHECK_BYTES("\0");
  assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_OK);
  alo_tds_message_begin(&output.writer, ALO_TDS_RPC, 0);
  alo_tds_put_type(&output.writer, &image);
  alo_tds_put_bytes(&output.writer, &image, (aloft_bytes){"ab", 2});
  alo_tds_put_null(&output.writer, &image);
  CHECK_BYTES("\x22\x64\0\0\0\x02\0\0\0ab\xFF\xFF\xFF\xFF");
}

/* With size and assembly in an answer, without in a request. */
static void test_bytes_of_udts(void **state) {
  (void)state;
  alo_tds_type udt = {.token = ALO_TDS_UDT, .size = 900};
  alo_tds_put_udt_type(&output.writer, &udt, ALOFT_TEXT("d.s.t"));
  CHECK_BYTES("\xF0\x84\x03\x01\x64\0\x01s\0\x01t\0\0\0");
  assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_OK);
  alo_tds_message_begin(&output.writer, ALO_TDS_RPC, 0);
  alo_tds_put_udt_type(&output.writer, &udt, ALOFT_TEXT("s.t"));
  alo_tds_put_udt_type(&output.writer, &udt, ALOFT_TEXT("t"));
  alo_tds_put_bytes(&output.writer, &udt, (aloft_bytes){"x", 1});
  alo_tds_put_null(&output.writer, &udt);
  CHECK_BYTES("\xF0\0\x01s\0\x01t\0\xF0\0\0\x01t\0"
              "\x01\0\0\0\0\0\0\0\x01\0\0\0x\0\0\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF");
}

static void test_bytes_of_variants(void **state) {
  (void)state;
  alo_tds_type variant = {.token = ALO_TDS_SSVARIANT, .size = 8009};
  alo_tds_type integer = {.token = ALO_TDS_INT4}, nullable = {.token = ALO_TDS_INTN, .size = 1};
  alo_tds_type text = {.token = ALO_TDS_NVARCHAR, .size = 20, .collation = LATIN};
  alo_tds_type exact = {.token = ALO_TDS_NUMERICN, .precision = 5, .scale = 2};
  alo_tds_put_type(&output.writer, &variant);
  CHECK_BYTES("\x62\x49\x1F\0\0");
  alo_tds_put_null(&output.writer, &variant);
  CHECK_BYTES("\0\0\0\0");
  alo_tds_put_variant(&output.writer, &integer, 0);
  alo_tds_put_int64(&output.writer, &integer, 7);
  alo_tds_put_int64(&output.writer, &nullable, 8); /* has its length again */
  CHECK_BYTES("\x06\0\0\0\x38\0\x07\0\0\0\x01\x08");
  alo_tds_put_variant(&output.writer, &text, 4);
  alo_tds_put_text(&output.writer, &text, ALOFT_TEXT("ab"));
  alo_tds_put_text(&output.writer, &text, ALOFT_TEXT("c"));
  CHECK_BYTES("\x0D\0\0\0\xE7\x07\x09\x04\xD0\0\x34\x14\0"
              "a\0b\0\x02\0c\0");
  alo_tds_put_variant(&output.writer, &exact, 0);
  alo_tds_put_decimal(&output.writer, &exact, &(aloft_tds_decimal){.low = 150, .scale = 2});
  CHECK_BYTES("\x09\0\0\0\x6C\x02\x05\x02\x01\x96\0\0\0");
}

static void test_bytes_of_browse(void **state) {
  (void)state;
  const aloft_text tables[] = {ALOFT_TEXT("s.t"), {"", 0}};
  const alo_tds_out_colinfo info[] = {{1, 1, ALO_TDS_COLINFO_KEY, ALOFT_TEXT("b")},
                                      {2, 0, ALO_TDS_COLINFO_EXPRESSION, {"", 0}}};
  alo_tds_put_tabname(&output.writer, tables, 2);
  CHECK_BYTES("\xA4\x0A\0\x02\x01\0s\0\x01\0t\0\0");
  alo_tds_put_colinfo(&output.writer, info, 2);
  CHECK_BYTES("\xA5\x09\0\x01\x01\x28\x01\x62\0\x02\0\x04");
}

/* ---- refused ---- */

static void check_refused(aloft_status expected) {
  assert_int_equal(alo_tds_message_end(&output.writer), expected);
  alo_tds_message_begin(&output.writer, ALO_TDS_REPLY, 0);
}

static void test_values_of_the_wrong_type(void **state) {
  (void)state;
  static const uint8_t others[] = {ALO_TDS_UDT, 0x01, 0xF5};
  alo_tds_type type = {.token = ALO_TDS_GUID, .size = 16};
  alo_tds_type integer = {.token = ALO_TDS_INTN, .size = 4};
  alo_tds_put_int64(&output.writer, &type, 1);
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_double(&output.writer, &type, 1);
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_decimal(&output.writer, &type, &(aloft_tds_decimal){.low = 1});
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_moment(&output.writer, &type, &(aloft_tds_moment){0});
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_text(&output.writer, &type, ALOFT_TEXT("x"));
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_bytes(&output.writer, &type, (aloft_bytes){"x", 1});
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_uuid(&output.writer, &integer, &(aloft_tds_uuid){{0}});
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_null(&output.writer, &(alo_tds_type){.token = ALO_TDS_INT4});
  check_refused(ALOFT_ARGUMENT);
  for (size_t i = 0; i < sizeof others; i++) {
    alo_tds_put_type(&output.writer, &(alo_tds_type){.token = others[i]});
    check_refused(ALOFT_UNSUPPORTED);
  }
}

static void test_parts_that_are_refused(void **state) {
  (void)state;
  static char name[129];
  alo_tds_type udt = {.token = ALO_TDS_UDT, .size = 8};
  alo_tds_type max = {.token = ALO_TDS_NVARCHAR, .size = ALO_TDS_MAX_SIZE, .collation = LATIN};
  alo_tds_type bytes = {.token = ALO_TDS_BIGVARBINARY, .size = 8000};
  memset(name, 'n', sizeof name);
  alo_tds_put_udt_type(&output.writer, &udt, ALOFT_TEXT("a.b.c.d"));
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_udt_type(&output.writer, &udt, (aloft_text){"", 0});
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_udt_type(&output.writer, &udt, (aloft_text){name, sizeof name});
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_variant(&output.writer, &max, 2);
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_variant(&output.writer, &udt, 2);
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_variant(&output.writer, &(alo_tds_type){.token = ALO_TDS_INTN, .size = 4}, 0);
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_variant(&output.writer, &bytes, 8001);
  check_refused(ALOFT_ARGUMENT);
}

static void test_values_too_large_for_their_type(void **state) {
  (void)state;
  alo_tds_type type = {.token = ALO_TDS_NVARCHAR, .size = 2, .collation = LATIN};
  alo_tds_type money = {.token = ALO_TDS_MONEYN, .size = 4};
  alo_tds_type exact = {.token = ALO_TDS_DECIMALN, .precision = 5, .scale = 2};
  alo_tds_put_text(&output.writer, &type, ALOFT_TEXT("ab"));
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_bytes(&output.writer, &(alo_tds_type){.token = ALO_TDS_BIGBINARY, .size = 1},
                    (aloft_bytes){"ab", 2});
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_decimal(&output.writer, &money, &(aloft_tds_decimal){.low = 214749});
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_decimal(&output.writer, &exact, &(aloft_tds_decimal){.low = 1001, .scale = 3});
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_decimal(&output.writer, &exact, &(aloft_tds_decimal){.low = 1230, .scale = 3});
  CHECK_BYTES("\x05\x01\x7B\0\0\0"); /* 1.230 as 1.23 */
}

static void test_decimal_sizes(void **state) {
  (void)state;
  static const struct {
    uint8_t precision, size;
  } sizes[] = {{1, 5}, {9, 5}, {10, 9}, {19, 9}, {20, 13}, {28, 13}, {29, 17}, {38, 17}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    alo_tds_type type = {.token = ALO_TDS_DECIMALN, .precision = sizes[i].precision};
    uint8_t expected[4 + 1 + 17] = {
        ALO_TDS_DECIMALN, sizes[i].size, sizes[i].precision, 0, sizes[i].size, 1, 7};
    alo_tds_put_type(&output.writer, &type);
    alo_tds_put_decimal(&output.writer, &type, &(aloft_tds_decimal){.low = 7});
    check_bytes(expected, (size_t)4 + 1 + sizes[i].size);
  }
}

/* 2^127 times ten is nothing in 128 bits. */
static void test_decimal_that_would_wrap(void **state) {
  (void)state;
  alo_tds_type type = {.token = ALO_TDS_DECIMALN, .precision = 38, .scale = 1};
  alo_tds_put_decimal(&output.writer, &type, &(aloft_tds_decimal){.high = UINT64_C(1) << 63});
  check_refused(ALOFT_ARGUMENT);
}

static void test_tokens_that_are_refused(void **state) {
  (void)state;
  static char text[40000];
  memset(text, 'x', sizeof text);
  alo_tds_put_message(&output.writer, &(alo_tds_message){.text = {text, sizeof text}});
  check_refused(ALOFT_TOO_LARGE);
  alo_tds_put_message(&output.writer, &(alo_tds_message){.server = {text, 256}});
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_message(&output.writer, &(alo_tds_message){.text = ALOFT_TEXT("\xFF")});
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_env_bytes(&output.writer, 7, (aloft_bytes){text, 256}, (aloft_bytes){NULL, 0});
  check_refused(ALOFT_ARGUMENT);
  alo_tds_put_feature_ack(&output.writer, 1, (aloft_bytes){NULL, 65536});
  check_refused(ALOFT_TOO_LARGE);
  alo_tds_put_colmetadata(&output.writer, NULL, 65535);
  check_refused(ALOFT_ARGUMENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_bytes_of_metadata_and_rows),
      TEST(test_bytes_of_done_and_status),
      TEST(test_bytes_of_messages),
      TEST(test_bytes_of_login_answers),
      TEST(test_bytes_of_a_return_value),
      TEST(test_bytes_of_large_values),
      TEST(test_every_type_through_the_reader),
      TEST(test_login_answer_through_the_reader),
      TEST(test_procedure_answer_through_the_reader),
      TEST(test_windows_1252),
      TEST(test_long_text_in_a_code_page),
      TEST(test_text_in_code_pages),
      TEST(test_bytes_of_lobs),
      TEST(test_bytes_of_udts),
      TEST(test_bytes_of_variants),
      TEST(test_bytes_of_browse),
      TEST(test_parts_that_are_refused),
      TEST(test_values_of_the_wrong_type),
      TEST(test_values_too_large_for_their_type),
      TEST(test_decimal_sizes),
      TEST(test_decimal_that_would_wrap),
      TEST(test_tokens_that_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
