/* sp_executesql and other RPC requests: every type written and read back, NULLs, large values,
 * what is refused, and what a hostile client may send. */
#include "tds_message.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "tds_request.h"

static tds_output output;

static int set_up(void **state) {
  (void)state;
  tds_output_init(&output, 512, 1 << 24);
  alo_tds_message_begin(&output.writer, ALO_TDS_RPC, 0);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  tds_output_fini(&output);
  return 0;
}

/* ---- written ---- */

typedef struct sent_rpc {
  guard_buffer payload;
  alo_tds_rpc rpc;
  alo_tds_rpc_param statement, declarations;
} sent_rpc;

static alo_tds_rpc_param next_param(sent_rpc *request) {
  alo_tds_rpc_param param;
  bool end;
  assert_null(alo_tds_parse_param(&request->rpc.parameters, &param, &end));
  assert_false(end);
  return param;
}

/* Writes sp_executesql and reads it up to the first parameter's value. */
static sent_rpc execute(aloft_text sql, const aloft_tds_param *params, size_t count) {
  sent_rpc request;
  uint64_t transaction;
  aloft_bytes rest;
  alo_tds_bad_param bad;
  alo_tds_put_executesql(&output.writer, 5, sql, params, count, &bad);
  assert_int_equal(bad.index, count);
  request.payload = tds_output_payload(&output);
  assert_null(alo_tds_parse_headers(guard_bytes(&request.payload), &transaction, &rest));
  assert_true(transaction == 5);
  assert_null(alo_tds_parse_rpc(rest, &request.rpc));
  assert_int_equal(request.rpc.procedure, ALO_TDS_SP_EXECUTESQL);
  request.statement = next_param(&request);
  assert_utf16((aloft_bytes){request.statement.data, request.statement.size}, sql);
  if (count > 0) {
    request.declarations = next_param(&request);
  }
  return request;
}

static void finish(sent_rpc *request) {
  alo_tds_rpc_param param;
  bool end;
  assert_null(alo_tds_parse_param(&request->rpc.parameters, &param, &end));
  assert_true(end);
  guard_give(&request->payload);
}

struct expected {
  aloft_tds_param param;
  const char *declared; /* after "@p " */
  uint8_t token;
  uint32_t size; /* of the type, where it has one */
  uint8_t value[24];
  size_t value_size;
};

#define INTEGER(type_, number) .param = {.type = type_, .value.integer = number}
#define MOMENT(type_, digits, day, tick, minutes)                                                  \
  .param = {.type = type_,                                                                         \
            .scale = digits,                                                                       \
            .value.moment = {.days = day, .ticks = tick, .offset_minutes = minutes}}

static const struct expected cases[] = {
    {INTEGER(ALOFT_TDS_BIT, 1), "bit", ALO_TDS_BITN, 1, {1}, 1},
    {INTEGER(ALOFT_TDS_BIT, 0), "bit", ALO_TDS_BITN, 1, {0}, 1},
    {INTEGER(ALOFT_TDS_TINYINT, 255), "tinyint", ALO_TDS_INTN, 1, {255}, 1},
    {INTEGER(ALOFT_TDS_SMALLINT, -32768), "smallint", ALO_TDS_INTN, 2, {0, 0x80}, 2},
    {INTEGER(ALOFT_TDS_INT, INT32_MAX), "int", ALO_TDS_INTN, 4, {0xFF, 0xFF, 0xFF, 0x7F}, 4},
    {INTEGER(ALOFT_TDS_BIGINT, INT64_MIN), "bigint", ALO_TDS_INTN, 8, {[7] = 0x80}, 8},
    {.param = {.type = ALOFT_TDS_REAL, .value.real = 1.5},
     "real",
     ALO_TDS_FLTN,
     4,
     {0, 0, 0xC0, 0x3F},
     4},
    {.param = {.type = ALOFT_TDS_FLOAT, .value.real = -2.25},
     "float",
     ALO_TDS_FLTN,
     8,
     {[6] = 0x02, [7] = 0xC0},
     8},
    {.param = {.type = ALOFT_TDS_DECIMAL,
               .value.decimal = {.low = 12345, .precision = 10, .scale = 2}},
     "decimal(10,2)",
     ALO_TDS_DECIMALN,
     9,
     {1, 0x39, 0x30},
     9},
    {.param = {.type = ALOFT_TDS_NUMERIC,
               .value.decimal = {.low = 1, .precision = 5, .scale = 5, .negative = true}},
     "numeric(5,5)",
     ALO_TDS_NUMERICN,
     5,
     {0, 1},
     5},
    {.param = {.type = ALOFT_TDS_DECIMAL, .value.decimal = {.low = 7}}, /* precision 0: 38 */
     "decimal(38,0)",
     ALO_TDS_DECIMALN,
     17,
     {1, 7},
     17},
    {.param = {.type = ALOFT_TDS_DECIMAL,
               .value.decimal = {.low = UINT64_C(0x98A223FFFFFFFFF), /* 38 nines */
                                 .high = UINT64_C(0x4B3B4CA85A86C47A),
                                 .precision = 38,
                                 .scale = 38}},
     "decimal(38,38)",
     ALO_TDS_DECIMALN,
     17,
     {1, 0xFF, 0xFF, 0xFF, 0xFF, 0x3F, 0x22, 0x8A, 0x09, 0x7A, 0xC4, 0x86, 0x5A, 0xA8, 0x4C, 0x3B,
      0x4B},
     17},
    {.param = {.type = ALOFT_TDS_VARCHAR, .value.text = {"A€", 4}},
     "nvarchar(4000)",
     ALO_TDS_NVARCHAR,
     8000,
     {'A', 0, 0xAC, 0x20},
     4},
    {.param = {.type = ALOFT_TDS_NVARCHAR, .value.text = {"", 0}},
     "nvarchar(4000)",
     ALO_TDS_NVARCHAR,
     8000,
     {0},
     0},
    {.param = {.type = ALOFT_TDS_BINARY, .value.bytes = {"\x00\xFF", 2}},
     "varbinary(8000)",
     ALO_TDS_BIGVARBINARY,
     8000,
     {0, 0xFF},
     2},
    {MOMENT(ALOFT_TDS_DATE, 0, 738944, 0, 0), "date", ALO_TDS_DATEN, 3, {0x80, 0x46, 0x0B}, 3},
    {MOMENT(ALOFT_TDS_TIME, 7, 0, UINT64_C(863999999999), 0),
     "time(7)",
     ALO_TDS_TIMEN,
     5,
     {0xFF, 0xBF, 0x69, 0x2A, 0xC9},
     5},
    {MOMENT(ALOFT_TDS_TIME, 0, 0, 19999999, 0), "time(0)", ALO_TDS_TIMEN, 3, {1, 0, 0}, 3},
    {MOMENT(ALOFT_TDS_TIME, 3, 0, 19999999, 0), "time(3)", ALO_TDS_TIMEN, 4, {0xCF, 7, 0, 0}, 4},
    {MOMENT(ALOFT_TDS_SMALLDATETIME, 0, 693595 + 65535, UINT64_C(863400000000), 0),
     "smalldatetime",
     ALO_TDS_DATETIMN,
     4,
     {0xFF, 0xFF, 0x9F, 0x05},
     4},
    {MOMENT(ALOFT_TDS_DATETIME, 0, 693595, 33333, 0), /* 1/300 s, rounded */
     "datetime",
     ALO_TDS_DATETIMN,
     8,
     {0, 0, 0, 0, 1, 0, 0, 0},
     8},
    {MOMENT(ALOFT_TDS_DATETIME, 0, 693594, UINT64_C(863999999999), 0), /* and into the next day */
     "datetime",
     ALO_TDS_DATETIMN,
     8,
     {0, 0, 0, 0, 0, 0, 0, 0},
     8},
    {MOMENT(ALOFT_TDS_DATETIME, 0, 639905, 0, 0), /* 1753-01-01 */
     "datetime",
     ALO_TDS_DATETIMN,
     8,
     {0x46, 0x2E, 0xFF, 0xFF},
     8},
    {MOMENT(ALOFT_TDS_DATETIME2, 2, 3652058, 0, 0),
     "datetime2(2)",
     ALO_TDS_DATETIME2N,
     6,
     {0, 0, 0, 0xDA, 0xB9, 0x37},
     6},
    {MOMENT(ALOFT_TDS_DATETIMEOFFSET, 7, 1, 1, -840),
     "datetimeoffset(7)",
     ALO_TDS_DATETIMEOFFSETN,
     10,
     {1, 0, 0, 0, 0, 1, 0, 0, 0xB8, 0xFC},
     10},
    {.param = {.type = ALOFT_TDS_UNIQUEIDENTIFIER,
               .value.uuid = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}}},
     "uniqueidentifier",
     ALO_TDS_GUID,
     16,
     {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15},
     16},
};

static void check_declaration(const sent_rpc *request, const char *declared) {
  char text[64];
  int size = snprintf(text, sizeof text, "@p %s", declared);
  assert_utf16((aloft_bytes){request->declarations.data, request->declarations.size},
               (aloft_text){text, (size_t)size});
}

static void check_case(const struct expected *expected, bool null) {
  aloft_tds_param param = expected->param;
  param.name = null ? ALOFT_TEXT("@p") : ALOFT_TEXT("p"); /* both spellings */
  param.null = null;
  alo_tds_message_begin(&output.writer, ALO_TDS_RPC, 0);
  sent_rpc request = execute(ALOFT_TEXT("SELECT @p"), &param, 1);
  check_declaration(&request, expected->declared);
  alo_tds_rpc_param got = next_param(&request);
  assert_utf16(got.name, ALOFT_TEXT("@p"));
  assert_false(got.output || got.default_value);
  assert_int_equal(got.type.token, expected->token);
  assert_int_equal(got.type.size, expected->size);
  assert_int_equal(got.null, null);
  if (!null) {
    assert_int_equal(got.size, expected->value_size);
    assert_memory_equal(got.data, expected->value, got.size);
  }
  finish(&request);
}

static void test_each_type(void **state) {
  (void)state;
  alo_tds_message_end(&output.writer);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_case(&cases[i], false);
    check_case(&cases[i], true);
  }
}

static const struct {
  aloft_tds_param param;
  const char *declared;
} declarations[] = {
    {{.type = ALOFT_TDS_INT, .output = true}, "int OUTPUT"},
    {{.type = ALOFT_TDS_SMALLMONEY}, "smallmoney"},
    {{.type = ALOFT_TDS_MONEY, .output = true}, "money OUTPUT"},
    {{.type = ALOFT_TDS_DECIMAL, .value.decimal = {.scale = 4}, .output = true},
     "decimal(38,4) OUTPUT"},
    {{.type = ALOFT_TDS_CHAR, .size = 3}, "nvarchar(3)"},
    {{.type = ALOFT_TDS_VARCHAR, .size = 4000}, "nvarchar(4000)"},
    {{.type = ALOFT_TDS_NVARCHAR, .size = 4001}, "nvarchar(max)"},
    {{.type = ALOFT_TDS_NVARCHAR, .output = true}, "nvarchar(max) OUTPUT"},
    {{.type = ALOFT_TDS_NVARCHAR, .size = 20, .output = true}, "nvarchar(20) OUTPUT"},
    {{.type = ALOFT_TDS_TEXT}, "nvarchar(4000)"},
    {{.type = ALOFT_TDS_XML, .output = true}, "nvarchar(max) OUTPUT"},
    {{.type = ALOFT_TDS_JSON}, "nvarchar(4000)"},
    {{.type = ALOFT_TDS_BINARY, .size = 3}, "varbinary(3)"},
    {{.type = ALOFT_TDS_VARBINARY, .size = 8001}, "varbinary(max)"},
    {{.type = ALOFT_TDS_VARBINARY, .output = true}, "varbinary(max) OUTPUT"},
    {{.type = ALOFT_TDS_IMAGE}, "varbinary(8000)"},
    {{.type = ALOFT_TDS_ROWVERSION, .output = true}, "binary(8) OUTPUT"},
    {{.type = ALOFT_TDS_VARIANT, .output = true}, "sql_variant OUTPUT"},
    {{.type = ALOFT_TDS_UDT, .udt_name = {"point", 5}}, "[point]"},
    {{.type = ALOFT_TDS_UDT, .udt_name = {"dbo.a]b]", 8}, .output = true}, "[dbo].[a]]b]]] OUTPUT"},
    {{.type = ALOFT_TDS_UDT, .udt_name = {"db.] int --.t", 13}}, "[]] int --].[t]"},
};

/* They are as long as was measured, or the request could not be read. */
static void test_declarations(void **state) {
  (void)state;
  alo_tds_message_end(&output.writer);
  for (size_t i = 0; i < sizeof declarations / sizeof *declarations; i++) {
    aloft_tds_param param = declarations[i].param;
    param.name = ALOFT_TEXT("p");
    param.null = true;
    alo_tds_message_begin(&output.writer, ALO_TDS_RPC, 0);
    sent_rpc request = execute(ALOFT_TEXT("SELECT 1"), &param, 1);
    check_declaration(&request, declarations[i].declared);
    alo_tds_rpc_param got = next_param(&request);
    assert_true(got.null);
    assert_int_equal(got.output, param.output);
    finish(&request);
  }
}

static void test_all_types_in_one_request(void **state) {
  (void)state;
  enum { COUNT = sizeof cases / sizeof *cases };
  aloft_tds_param params[COUNT];
  char names[COUNT][8];
  for (size_t i = 0; i < COUNT; i++) {
    params[i] = cases[i].param;
    int size = snprintf(names[i], sizeof names[i], "@p%zu", i);
    params[i].name = (aloft_text){names[i], (size_t)size};
  }
  sent_rpc request = execute(ALOFT_TEXT("SELECT 1"), params, COUNT);
  for (size_t i = 0; i < COUNT; i++) {
    alo_tds_rpc_param got = next_param(&request);
    assert_utf16(got.name, params[i].name);
    assert_memory_equal(got.data, cases[i].value, got.size);
  }
  finish(&request);
}

static void test_no_parameters(void **state) {
  (void)state;
  sent_rpc request = execute(ALOFT_TEXT(""), NULL, 0);
  assert_int_equal(request.statement.type.size, 8000);
  finish(&request);
}

static char *filled(size_t size) {
  char *text = malloc(size);
  assert_non_null(text);
  memset(text, 'x', size);
  return text;
}

static void check_large(aloft_tds_type type, size_t size, const char *declared,
                        uint32_t type_size) {
  char *data = filled(size);
  aloft_tds_param param = {.type = type, .name = ALOFT_TEXT("p")};
  if (type == ALOFT_TDS_VARBINARY) {
    param.value.bytes = (aloft_bytes){data, size};
  } else {
    param.value.text = (aloft_text){data, size};
  }
  alo_tds_message_begin(&output.writer, ALO_TDS_RPC, 0);
  sent_rpc request = execute((aloft_text){data, size}, &param, 1); /* the statement is as large */
  check_declaration(&request, declared);
  alo_tds_rpc_param got = next_param(&request);
  assert_int_equal(got.type.size, type_size);
  if (type == ALOFT_TDS_VARBINARY) {
    assert_int_equal(got.size, size);
    assert_memory_equal(got.data, data, size);
  } else {
    assert_utf16((aloft_bytes){got.data, got.size}, param.value.text);
  }
  finish(&request);
  free(data);
}

static void test_large_values(void **state) {
  (void)state;
  alo_tds_message_end(&output.writer);
  check_large(ALOFT_TDS_NVARCHAR, 4000, "nvarchar(4000)", 8000);
  check_large(ALOFT_TDS_NVARCHAR, 4001, "nvarchar(max)", ALO_TDS_MAX_SIZE);
  check_large(ALOFT_TDS_NVARCHAR, 100000, "nvarchar(max)", ALO_TDS_MAX_SIZE);
  check_large(ALOFT_TDS_VARBINARY, 8000, "varbinary(8000)", 8000);
  check_large(ALOFT_TDS_VARBINARY, 8001, "varbinary(max)", ALO_TDS_MAX_SIZE);
  check_large(ALOFT_TDS_VARBINARY, 100000, "varbinary(max)", ALO_TDS_MAX_SIZE);
}

static void test_declarations_above_4000_units(void **state) {
  (void)state;
  enum { COUNT = 2100 };
  aloft_tds_param *params = calloc(COUNT, sizeof *params);
  char(*names)[8] = calloc(COUNT, sizeof *names);
  assert_non_null(params);
  assert_non_null(names);
  for (size_t i = 0; i < COUNT; i++) {
    int size = snprintf(names[i], sizeof names[i], "p%zu", i);
    params[i] = (aloft_tds_param){
        .name = {names[i], (size_t)size}, .type = ALOFT_TDS_INT, .value.integer = (int64_t)i};
  }
  sent_rpc request = execute(ALOFT_TEXT("SELECT 1"), params, COUNT);
  assert_int_equal(request.declarations.type.size, ALO_TDS_MAX_SIZE);
  for (size_t i = 0; i < COUNT; i++) {
    alo_tds_rpc_param got = next_param(&request);
    assert_int_equal(got.data[0] | got.data[1] << 8, i);
  }
  finish(&request);
  free(params);
  free(names);
}

static void test_absent_text_is_null(void **state) {
  (void)state;
  aloft_tds_param params[] = {{.name = ALOFT_TEXT("a"), .type = ALOFT_TDS_NVARCHAR},
                              {.name = ALOFT_TEXT("b"), .type = ALOFT_TDS_VARBINARY}};
  sent_rpc request = execute(ALOFT_TEXT("SELECT 1"), params, 2);
  assert_utf16((aloft_bytes){request.declarations.data, request.declarations.size},
               ALOFT_TEXT("@a nvarchar(4000),@b varbinary(8000)"));
  assert_true(next_param(&request).null);
  assert_true(next_param(&request).null);
  finish(&request);
}

/* ---- refused ---- */

static void check_refused(aloft_tds_param param, aloft_status expected) {
  aloft_tds_param params[2] = {{.name = ALOFT_TEXT("good"), .type = ALOFT_TDS_INT}, param};
  alo_tds_bad_param bad;
  if (!param.name.data) {
    params[1].name = ALOFT_TEXT("p");
  }
  alo_tds_message_begin(&output.writer, ALO_TDS_RPC, 0);
  alo_tds_put_executesql(&output.writer, 0, ALOFT_TEXT("SELECT 1"), params, 2, &bad);
  assert_int_equal(alo_tds_message_end(&output.writer), expected);
  assert_int_equal(bad.index, 1);
}

static void test_names_that_are_refused(void **state) {
  (void)state;
  char long_name[128];
  memset(long_name, 'n', sizeof long_name);
  alo_tds_message_end(&output.writer);
  static const char *const names[] = {"",    "@",  "a b",  "a int,@b", "a;", "a'",
                                      "a\"", "a)", "\xFF", "a-b",      "a\n"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    check_refused((aloft_tds_param){.name = {names[i], strlen(names[i])}, .type = ALOFT_TDS_INT},
                  ALOFT_ARGUMENT);
  }
  check_refused((aloft_tds_param){.name = {"a\0b", 3}, .type = ALOFT_TDS_INT}, ALOFT_ARGUMENT);
  check_refused((aloft_tds_param){.name = {long_name, 128}, .type = ALOFT_TDS_INT}, ALOFT_ARGUMENT);
  aloft_tds_param good = {.name = {long_name, 127}, .type = ALOFT_TDS_INT};
  alo_tds_message_begin(&output.writer, ALO_TDS_RPC, 0);
  sent_rpc request = execute(ALOFT_TEXT("SELECT 1"), &good, 1);
  assert_int_equal(next_param(&request).name.size, 256); /* a length of 0x80 is no separator */
  finish(&request);
}

static void test_values_that_are_refused(void **state) {
  (void)state;
  static const aloft_tds_param values[] = {
      {.type = ALOFT_TDS_TINYINT, .value.integer = -1},
      {.type = ALOFT_TDS_TINYINT, .value.integer = 256},
      {.type = ALOFT_TDS_SMALLINT, .value.integer = 32768},
      {.type = ALOFT_TDS_INT, .value.integer = INT64_C(2147483648)},
      {.type = ALOFT_TDS_INT, .value.integer = INT64_C(-2147483649)},
      {.type = ALOFT_TDS_REAL, .value.real = DBL_MAX},
      {.type = ALOFT_TDS_FLOAT, .value.real = (double)INFINITY},
      {.type = ALOFT_TDS_NVARCHAR, .value.text = {"\x80", 1}},
      {.type = ALOFT_TDS_DECIMAL, .value.decimal = {.low = 100, .precision = 2}},
      {.type = ALOFT_TDS_DECIMAL, .value.decimal = {.precision = 39}},
      {.type = ALOFT_TDS_DECIMAL, .value.decimal = {.precision = 2, .scale = 3}},
      {.type = ALOFT_TDS_DECIMAL, .value.decimal = {.low = UINT64_MAX, .high = UINT64_MAX}},
      {.type = ALOFT_TDS_DATE, .value.moment = {.days = -1}},
      {.type = ALOFT_TDS_DATE, .value.moment = {.days = 3652059}},
      {.type = ALOFT_TDS_TIME, .value.moment = {.ticks = UINT64_C(864000000000)}},
      {.type = ALOFT_TDS_TIME, .scale = 8},
      {.type = ALOFT_TDS_DATETIME, .value.moment = {.days = 639904}},
      {.type = ALOFT_TDS_DATETIME,
       .value.moment = {.days = 3652058, .ticks = UINT64_C(863999999999)}},
      {.type = ALOFT_TDS_SMALLDATETIME, .value.moment = {.days = 693594}},
      {.type = ALOFT_TDS_SMALLDATETIME, .value.moment = {.days = 693595 + 65536}},
      {.type = ALOFT_TDS_DATETIMEOFFSET, .value.moment = {.offset_minutes = 841}},
  };
  alo_tds_message_end(&output.writer);
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    check_refused(values[i], ALOFT_ARGUMENT);
  }
  check_refused((aloft_tds_param){.type = ALOFT_TDS_UDT}, ALOFT_ARGUMENT);
  check_refused((aloft_tds_param){.type = ALOFT_TDS_NTEXT, .output = true}, ALOFT_ARGUMENT);
  check_refused((aloft_tds_param){.type = ALOFT_TDS_INT, .by_default = true}, ALOFT_ARGUMENT);
  check_refused((aloft_tds_param){.type = ALOFT_TDS_UNKNOWN}, ALOFT_UNSUPPORTED);
}

static void test_statement_that_is_refused(void **state) {
  (void)state;
  alo_tds_bad_param bad;
  alo_tds_put_executesql(&output.writer, 0, ALOFT_TEXT("\xC0"), NULL, 0, &bad);
  assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_ARGUMENT);
  assert_int_equal(bad.index, 0);
}

/* ---- procedures ---- */

static const char *const good_names[] = {"p",
                                         "dbo.p",
                                         "db.dbo.p",
                                         "db..p",
                                         "server.db.dbo.p",
                                         "server...p",
                                         "#temporary",
                                         "p;2",
                                         "[my procedure]",
                                         "[a]]b].[c.d]",
                                         "\"a\"\"b\".p",
                                         "[;'\"].p",
                                         "\"[\".\"]\"",
                                         "Gr\xC3\xBC\xC3\x9F",
                                         "[\xF0\x9F\x98\x80]"};
static const char *const bad_names[] = {
    "",     ".",   ".p",   "p.",     "a.b.c.d.e", "a b",    "p'",     "p\"", "p[",    "[p",
    "[p]]", "[]",  "\"\"", "\"p",    "[p]x",      "x[p]",   "p;",     "p;a", "p;1.q", "p;1;2",
    "p(1)", "p--", "p\n",  "a.[].b", "p,q",       "[a] .b", "dbo. p", "p=1"};

static const alo_tds_server latin = {.collation = alo_tds_collation_default};

static void check_name(aloft_text name, bool good) {
  alo_tds_bad_param bad;
  alo_tds_message_begin(&output.writer, ALO_TDS_RPC, 0);
  alo_tds_put_call(&output.writer, 0, name, &latin, NULL, 0, &bad);
  if ((bad.why == NULL) != good || output.writer.failed != (good ? ALOFT_OK : ALOFT_ARGUMENT)) {
    fail_msg("'%.*s'", ALOFT_PRINT(name));
  }
  if (good) {
    uint64_t transaction;
    aloft_bytes rest;
    alo_tds_rpc rpc;
    guard_buffer payload = tds_output_payload(&output);
    assert_null(alo_tds_parse_headers(guard_bytes(&payload), &transaction, &rest));
    assert_null(alo_tds_parse_rpc(rest, &rpc));
    assert_int_equal(rpc.procedure, 0);
    assert_utf16(rpc.name, name);
    guard_give(&payload);
  } else {
    assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_ARGUMENT);
  }
}

static void test_names_of_procedures(void **state) {
  (void)state;
  char longest[1 + 522 + 1];
  alo_tds_message_end(&output.writer);
  for (size_t i = 0; i < sizeof good_names / sizeof *good_names; i++) {
    check_name(aloft_text_of(good_names[i]), true);
  }
  for (size_t i = 0; i < sizeof bad_names / sizeof *bad_names; i++) {
    check_name(aloft_text_of(bad_names[i]), false);
  }
  check_name((aloft_text){"a\0b", 3}, false);
  check_name((aloft_text){"[a\0b]", 5}, false);
  check_name((aloft_text){"a\xC0", 2}, false);
  memset(longest, 'n', sizeof longest);
  check_name((aloft_text){longest, 523}, true);
  check_name((aloft_text){longest, 524}, false);
}

/* ---- read ---- */

static void begin_rpc(void) {
  alo_tds_message_begin(&output.writer, ALO_TDS_RPC, 0);
}

static void put_name(const char *name, uint8_t flags) {
  alo_tds_put_b_varchar(&output.writer, aloft_text_of(name));
  alo_tds_put_u8(&output.writer, flags);
}

static void test_several_procedures(void **state) {
  (void)state;
  static const alo_tds_type integer = {.token = ALO_TDS_INTN, .size = 4};
  static const uint8_t separators[] = {0xFF, 0xFE};
  for (uint16_t i = 0; i < 3; i++) {
    alo_tds_put_us_varchar(&output.writer, ALOFT_TEXT("dbo.p"));
    alo_tds_put_u16(&output.writer, i);
    put_name("@x", 1);
    alo_tds_put_type(&output.writer, &integer);
    alo_tds_put_int64(&output.writer, &integer, i);
    if (i < 2) {
      alo_tds_put_u8(&output.writer, separators[i]);
    }
  }
  guard_buffer payload = tds_output_payload(&output);
  aloft_bytes rest = guard_bytes(&payload);
  for (uint16_t i = 0; i < 3; i++) {
    alo_tds_rpc rpc;
    alo_tds_rpc_param param;
    bool end;
    assert_null(alo_tds_parse_rpc(rest, &rpc));
    assert_utf16(rpc.name, ALOFT_TEXT("dbo.p"));
    assert_int_equal(rpc.options, i);
    assert_null(alo_tds_parse_param(&rpc.parameters, &param, &end));
    assert_true(!end && param.output);
    assert_int_equal(param.data[0], i);
    assert_null(alo_tds_parse_param(&rpc.parameters, &param, &end));
    assert_true(end);
    rest = rpc.parameters;
  }
  assert_int_equal(rest.size, 0);
  guard_give(&payload);
}

/* A value of chunks whose sizes are given, up to 0. */
static void put_chunks(uint64_t total, const uint32_t *sizes) {
  uint8_t byte = 0;
  alo_tds_put_u64(&output.writer, total);
  for (;; sizes++) {
    alo_tds_put_u32(&output.writer, *sizes);
    if (*sizes == 0) {
      return;
    }
    for (uint32_t i = 0; i < *sizes; i++) {
      alo_tds_put_u8(&output.writer, byte++);
    }
  }
}

static const char *read_chunks(uint64_t total, const uint32_t *sizes, size_t expected) {
  static const alo_tds_type type = {.token = ALO_TDS_BIGVARBINARY, .size = ALO_TDS_MAX_SIZE};
  const uint8_t *data;
  size_t size;
  bool null;
  begin_rpc();
  put_chunks(total, sizes);
  guard_buffer payload = tds_output_payload(&output);
  aloft_bytes rest = guard_bytes(&payload);
  const char *wrong = alo_tds_parse_value(&rest, &type, &data, &size, &null);
  if (!wrong) {
    assert_int_equal(rest.size, 0);
    assert_int_equal(size, expected);
    for (size_t i = 0; i < size; i++) {
      assert_int_equal(data[i], i % 256);
    }
  }
  guard_give(&payload);
  return wrong;
}

static void test_chunks_are_joined(void **state) {
  (void)state;
  static const uint32_t none[] = {0};
  static const uint32_t some[] = {1, 300, 2, 700, 0};
  alo_tds_message_end(&output.writer);
  assert_null(read_chunks(0, none, 0));
  assert_null(read_chunks(1003, some, 1003));
  assert_null(read_chunks(UINT64_MAX - 1, some, 1003));
  assert_non_null(read_chunks(1002, some, 0));
  assert_non_null(read_chunks(1004, some, 0));
  assert_non_null(read_chunks(0, some, 0));
}

/* Types of RPC parameters that the writer does not send; FreeTDS sends ntext. */
static void test_long_types(void **state) {
  (void)state;
  static const uint8_t ntext[] = {0, 0,    0x63, 4, 0, 0, 0,   9, 4,   0xD0,
                                  0, 0x34, 4,    0, 0, 0, 'a', 0, 'b', 0};
  static const uint8_t null_image[] = {0, 0, 0x22, 4, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF};
  static const uint8_t null_variant[] = {0, 0, 0x62, 0x49, 0x1F, 0, 0, 0, 0, 0, 0};
  static const uint8_t xml[] = {0, 0,   0xF1, 1,    1,    'd',  0,    1,    'o',  0,    1,
                                0, 'c', 0,    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
  static const struct {
    const uint8_t *bytes;
    size_t size;
    bool null;
    size_t value_size;
  } kinds[] = {{ntext, sizeof ntext, false, 4},
               {null_image, sizeof null_image, true, 0},
               {null_variant, sizeof null_variant, true, 0},
               {xml, sizeof xml, true, 0}};
  alo_tds_message_end(&output.writer);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    for (size_t size = 1; size <= kinds[i].size; size++) {
      alo_tds_rpc_param param;
      bool end;
      guard_buffer payload = guard_copy(kinds[i].bytes, size);
      aloft_bytes rest = guard_bytes(&payload);
      const char *wrong = alo_tds_parse_param(&rest, &param, &end);
      assert_int_equal(wrong == NULL, size == kinds[i].size);
      if (!wrong) {
        assert_int_equal(param.null, kinds[i].null);
        assert_int_equal(param.size, kinds[i].value_size);
        assert_int_equal(rest.size, 0);
      }
      guard_give(&payload);
    }
  }
}

/* As FreeTDS sends them: bytes by precision, and one byte for an empty nvarchar. */
static void test_sizes_between_those_of_servers(void **state) {
  (void)state;
  alo_tds_message_end(&output.writer);
  for (uint8_t size = 0; size <= 18; size++) {
    uint8_t bytes[7 + 18] = {0, 0, ALO_TDS_DECIMALN, size, 38, 0, size, 1, 5};
    alo_tds_rpc_param param;
    aloft_tds_decimal value;
    bool end;
    guard_buffer payload = guard_copy(bytes, (size_t)7 + size);
    aloft_bytes rest = guard_bytes(&payload);
    const char *wrong = alo_tds_parse_param(&rest, &param, &end);
    assert_int_equal(wrong == NULL, size >= 2 && size <= 17);
    if (!wrong) {
      assert_int_equal(param.type.size, size <= 5 ? 5 : size <= 9 ? 9 : size <= 13 ? 13 : 17);
      assert_int_equal(param.size, size);
      assert_null(alo_tds_value_decimal(&param.type, param.data, param.size, &value));
      assert_true(value.low == 5 && value.high == 0 && !value.negative);
    }
    guard_give(&payload);
  }
  alo_tds_type type;
  aloft_bytes nvarchar = {"\xE7\xFF\x01\x09\x04\xD0\0\x34", 8};
  assert_null(alo_tds_parse_type(&nvarchar, &type));
  assert_int_equal(type.size, 0x200);
}

static void check_wrong(const void *bytes, size_t size, const char *reason) {
  alo_tds_rpc_param param;
  bool end;
  guard_buffer payload = guard_copy(bytes, size);
  aloft_bytes rest = guard_bytes(&payload);
  const char *wrong = alo_tds_parse_param(&rest, &param, &end);
  assert_non_null(wrong);
  assert_non_null(strstr(wrong, reason));
  assert_int_equal(rest.size, size);
  guard_give(&payload);
}

#define CHECK_WRONG(literal, reason) check_wrong(literal, sizeof(literal) - 1, reason)

static void test_parameters_that_are_wrong(void **state) {
  (void)state;
  uint8_t long_name[1 + 2 * 129] = {129};
  uint8_t long_udt[4 + 2 * 129] = {0, 0, ALO_TDS_UDT, 129};
  alo_tds_message_end(&output.writer);
  check_wrong(long_name, sizeof long_name, "over 128");
  CHECK_WRONG("\0\x08\x26\x04\0", "encrypted");
  CHECK_WRONG("\0\0\xF3\0\0\0", "table-valued");
  CHECK_WRONG("\0\0\xF0\0\0\1", "a type is cut");
  check_wrong(long_udt, sizeof long_udt, "over 128");
  CHECK_WRONG("\0\0\x01\0", "unknown type");
  CHECK_WRONG("\0\0\x26\x03\0", "size");                          /* int of 3 bytes */
  CHECK_WRONG("\0\0\x26\x04\x02\0\0", "length");                  /* 2 bytes for one of 4 */
  CHECK_WRONG("\0\0\x6A\x05\x27\0\0", "precision");               /* 39 digits */
  CHECK_WRONG("\0\0\x29\x08\0", "scale");                         /* time(8) */
  CHECK_WRONG("\0\0\xA5\x02\0\x03\0abc", "longer than its type"); /* varbinary(2) */
  CHECK_WRONG("\0\0\xE7\x04\0\x09\x04\xD0\0\x34\x01\0a", "odd length");
  CHECK_WRONG("\0\0\xE7\xFF\xFF\x09\x04\xD0\0\x34\x01\0\0\0\0\0\0\0\x01\0\0\0a\0\0\0\0",
              "odd length");
}

static void test_procedures_that_are_wrong(void **state) {
  (void)state;
  static const char *const cases_[] = {"", "\1", "\2\0a\0", "\xFF\xFF\x0A"};
  static const size_t sizes[] = {0, 1, 4, 3};
  alo_tds_rpc rpc;
  alo_tds_message_end(&output.writer);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    guard_buffer payload = guard_copy(cases_[i], sizes[i]);
    assert_non_null(alo_tds_parse_rpc(guard_bytes(&payload), &rpc));
    guard_give(&payload);
  }
  assert_non_null(alo_tds_parse_rpc((aloft_bytes){"\0\0\0\0", 4}, &rpc));         /* no name */
  assert_non_null(alo_tds_parse_rpc((aloft_bytes){"\xFF\xFF\0\0\0\0", 6}, &rpc)); /* nor number */
  assert_non_null(alo_tds_parse_rpc((aloft_bytes){"\1\0a\0\0", 5}, &rpc));        /* options cut */
}

/* Reads all of a request that may be cut or changed. True when it was well-formed. */
static bool read_all(aloft_bytes payload) {
  uint64_t transaction;
  aloft_bytes rest;
  alo_tds_rpc rpc;
  if (alo_tds_parse_headers(payload, &transaction, &rest) || alo_tds_parse_rpc(rest, &rpc)) {
    return false;
  }
  for (;;) {
    alo_tds_rpc_param param;
    bool end;
    if (alo_tds_parse_param(&rpc.parameters, &param, &end)) {
      return false;
    }
    if (end) {
      return rpc.parameters.size == 0;
    }
    unsigned sum = 0;
    for (size_t i = 0; i < param.size; i++) { /* so that a bad view is a fault */
      sum += param.data[i];
    }
    assert_true(sum <= param.size * 255);
  }
}

static guard_buffer large_request(void) {
  aloft_tds_param params[sizeof cases / sizeof *cases + 1];
  size_t count = sizeof cases / sizeof *cases;
  char *data = filled(8001);
  for (size_t i = 0; i < count; i++) {
    params[i] = cases[i].param;
    params[i].name = ALOFT_TEXT("p");
  }
  params[count] = (aloft_tds_param){
      .name = ALOFT_TEXT("large"), .type = ALOFT_TDS_VARBINARY, .value.bytes = {data, 8001}};
  alo_tds_bad_param bad;
  alo_tds_put_executesql(&output.writer, 0, ALOFT_TEXT("SELECT 1"), params, count + 1, &bad);
  guard_buffer payload = tds_output_payload(&output);
  free(data);
  return payload;
}

/* Cut inside a parameter it is an error; cut between two it is a shorter request. */
static void test_requests_cut_anywhere(void **state) {
  (void)state;
  guard_buffer payload = large_request();
  size_t good = 0;
  for (size_t size = 0; size < payload.size; size += size < 1500 ? 1 : 97) {
    guard_buffer cut = guard_copy(payload.data, size);
    good += read_all(guard_bytes(&cut)) ? 1 : 0;
    guard_give(&cut);
  }
  assert_int_equal(good, 1 + 2 + sizeof cases / sizeof *cases); /* before each, and at the last */
  guard_give(&payload);
}

static void test_requests_with_any_byte_changed(void **state) {
  (void)state;
  static const uint8_t values[] = {0x00, 0x01, 0x7F, 0xFE, 0xFF};
  guard_buffer payload = large_request();
  for (size_t at = 0; at < payload.size; at += at < 1500 ? 1 : 997) {
    for (size_t i = 0; i < sizeof values; i++) {
      guard_buffer changed = guard_copy(payload.data, payload.size);
      ((uint8_t *)changed.data)[at] = values[i];
      (void)read_all(guard_bytes(&changed));
      guard_give(&changed);
    }
  }
  guard_give(&payload);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_each_type),
      TEST(test_declarations),
      TEST(test_all_types_in_one_request),
      TEST(test_no_parameters),
      TEST(test_large_values),
      TEST(test_declarations_above_4000_units),
      TEST(test_absent_text_is_null),
      TEST(test_names_that_are_refused),
      TEST(test_values_that_are_refused),
      TEST(test_statement_that_is_refused),
      TEST(test_names_of_procedures),
      TEST(test_several_procedures),
      TEST(test_chunks_are_joined),
      TEST(test_long_types),
      TEST(test_sizes_between_those_of_servers),
      TEST(test_parameters_that_are_wrong),
      TEST(test_procedures_that_are_wrong),
      TEST(test_requests_cut_anywhere),
      TEST(test_requests_with_any_byte_changed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
