/* Aloft's client against a server: aloft lite, or the one that ALOFT_TEST_SQLSERVER names. Makes
 * tables of its own with names that nobody else has, and drops them. */
#include <aloft/tds.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "e2e_lite.h"
#include "e2e_sql_server.h"
#include "harness_foreign.h"

enum { TEXT_ROOM = 1 << 16, SQL_ROOM = 1 << 14 };

static e2e_lite lite;
static bool own_server; /* lite, started here */
static char connection_string[1024];
static char suffix[32];
static aloft_loop *loop;
static aloft_tds *tds;

/* ---- asking ---- */

typedef struct question {
  aloft_tds_query query;
  char text[TEXT_ROOM]; /* columns by '|', rows by ';', result sets by '/', "[number text]" */
  size_t size;
  unsigned done;
} question;

static question question_now;

static void add(question *asked, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

static void add(question *asked, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(asked->text + asked->size, TEXT_ROOM - asked->size, format, arguments);
  va_end(arguments);
  assert_true(size >= 0 && (size_t)size < TEXT_ROOM - asked->size);
  asked->size += (size_t)size;
}

static void add_row(question *asked) {
  aloft_tds_query *query = &asked->query;
  for (size_t i = 0; i < aloft_tds_column_count(query); i++) {
    aloft_text text = aloft_tds_text(query, i);
    add(asked, "%s", i ? "|" : "");
    if (text.data)
      add(asked, "%.*s", ALOFT_PRINT(text));
    else
      add(asked, "<null>");
  }
  add(asked, ";");
}

static void ready(aloft_tds_query *query) {
  question *asked = ALOFT_CONTAINER(query, question, query);
  aloft_status step;
  while ((step = aloft_tds_step(query)) == ALOFT_ROW || step == ALOFT_RESULT ||
         step == ALOFT_OUTPUT) {
    if (step == ALOFT_OUTPUT)
      add(asked, "%zu=", aloft_tds_output(query));
    if (step != ALOFT_RESULT)
      add_row(asked);
    else if (asked->size)
      add(asked, "/");
  }
}

static void message(aloft_tds_query *query, const aloft_error *error) {
  add(ALOFT_CONTAINER(query, question, query), "[%d %.*s]", error->number,
      ALOFT_PRINT(error->message));
}

static void count_done(aloft_op *op, aloft_status status) {
  (void)status;
  ALOFT_CONTAINER(op, question, query.op)->done++;
}

static void nothing(aloft_op *op, aloft_status status) {
  (void)op;
  (void)status;
}

static void ask_begin(const char *sql) {
  question *asked = &question_now;
  memset(asked, 0, sizeof *asked);
  asked->query.op.done = count_done;
  asked->query.ready = ready;
  asked->query.message = message;
  asked->query.sql = aloft_text_of(sql);
}

static aloft_status ask_end(aloft_tds *on) {
  assert_int_equal(aloft_tds_query_start(on, &question_now.query), ALOFT_OK);
  aloft_status status = harness_wait(loop, &question_now.query.op);
  assert_int_equal(question_now.done, 1);
  return status;
}

/* "%s" in `sql` is the suffix of this run's names. */
static aloft_status ask_on(aloft_tds *on, const char *sql) {
  static char filled[SQL_ROOM];
  size_t size = 0;
  for (const char *at = sql; *at; at++) {
    assert_true(size + sizeof suffix < sizeof filled);
    if (at[0] == '%' && at[1] == 's') {
      size += (size_t)snprintf(filled + size, sizeof filled - size, "%s", suffix);
      at++;
    } else {
      filled[size++] = *at;
    }
  }
  filled[size] = 0;
  ask_begin(filled);
  return ask_end(on);
}

static void expect_on(aloft_tds *on, const char *sql, const char *text) {
  aloft_status status = ask_on(on, sql);
  if (strcmp(question_now.text, text) != 0)
    fail_msg("%s\ngave '%s'\nand not '%s' (%s)", sql, question_now.text, text,
             aloft_status_meaning(status));
}

static void expect(const char *sql, const char *text) {
  expect_on(tds, sql, text);
}

static void expect_error(const char *sql, int32_t number, uint8_t severity) {
  aloft_status status = ask_on(tds, sql);
  const aloft_error *error = question_now.query.op.error;
  if (status != ALOFT_SERVER || !error || error->number != number || error->severity != severity)
    fail_msg("%s\n%s: error %d severity %d, not %d severity %d: %s", sql,
             aloft_status_meaning(status), error ? error->number : 0, error ? error->severity : 0,
             number, severity, question_now.text);
  expect("SELECT 1", "1;");
}

static aloft_tds *connect_again(void) {
  aloft_tds *made = NULL;
  aloft_op op = {.done = nothing};
  const aloft_tds_config config = {.size = sizeof config,
                                   .connection_string = aloft_text_of(connection_string)};
  assert_int_equal(aloft_tds_open(&made, loop, &config, &op), ALOFT_OK);
  aloft_status status = harness_wait(loop, &op);
  if (status != ALOFT_OK)
    fail_msg("cannot connect: %s", op.error ? op.error->message.data : "");
  return made;
}

/* ---- values ---- */

static const struct {
  const char *type, *literal, *text;
} values[] = {
    {"bit", "0", "0"},
    {"bit", "7", "1"},
    {"tinyint", "0", "0"},
    {"tinyint", "255", "255"},
    {"smallint", "-32768", "-32768"},
    {"smallint", "32767", "32767"},
    {"int", "-2147483648", "-2147483648"},
    {"int", "2147483647", "2147483647"},
    {"bigint", "-9223372036854775808", "-9223372036854775808"},
    {"bigint", "9223372036854775807", "9223372036854775807"},
    {"real", "-2.25e-9", "-2.25e-9"},
    {"real", "3.4028235e38", "3.4028235e+38"},
    {"float", "0", "0"},
    {"float", "0.1", "0.1"},
    {"float", "-1.7976931348623157e308", "-1.7976931348623157e+308"},
    {"decimal(38,0)", "-99999999999999999999999999999999999999",
     "-99999999999999999999999999999999999999"},
    {"decimal(38,38)", "0.00000000000000000000000000000000000001",
     "0.00000000000000000000000000000000000001"},
    {"decimal(5,2)", "-123.45", "-123.45"},
    {"decimal(5,2)", "0.005", "0.01"},
    {"numeric(18,9)", "123456789.000000001", "123456789.000000001"},
    {"char(5)", "'ab'", "ab   "},
    {"varchar(10)", "N'na\xC3\xAFve \xE2\x82\xAC'", "na\xC3\xAFve \xE2\x82\xAC"},
    {"varchar(10)", "''", ""},
    {"varchar(max)", "'text'", "text"},
    {"nchar(3)", "N'\xE2\x82\xAC'", "\xE2\x82\xAC  "},
    {"nvarchar(4)", "N'\xF0\x9F\x98\x80 x'", "\xF0\x9F\x98\x80 x"},
    {"nvarchar(max)", "N'\xF0\x9F\x98\x80'", "\xF0\x9F\x98\x80"},
    {"nvarchar(max)", "N''", ""},
    {"binary(4)", "0x007F", "0x007F0000"},
    {"varbinary(4)", "0x007FFF", "0x007FFF"},
    {"varbinary(max)", "0x", "0x"},
    {"uniqueidentifier", "'6f9619ff-8b86-d011-b42d-00c04fc964ff'",
     "6F9619FF-8B86-D011-B42D-00C04FC964FF"},
    {"date", "'0001-01-01'", "0001-01-01"},
    {"date", "'2024-02-29'", "2024-02-29"},
    {"date", "'9999-12-31'", "9999-12-31"},
    {"time(0)", "'23:59:59'", "23:59:59"},
    {"time(7)", "'23:59:59.9999999'", "23:59:59.9999999"},
    {"smalldatetime", "'2024-02-29T12:34:56'", "2024-02-29 12:35:00"},
    {"datetime", "'1753-01-01T00:00:00'", "1753-01-01 00:00:00.000"},
    {"datetime", "'2024-02-29T12:34:56.123'", "2024-02-29 12:34:56.123"},
    {"datetime2(3)", "'2024-02-29T12:34:56.123'", "2024-02-29 12:34:56.123"},
    {"datetime2(7)", "'0001-01-01T00:00:00'", "0001-01-01 00:00:00.0000000"},
    {"datetime2(7)", "'9999-12-31T23:59:59.9999999'", "9999-12-31 23:59:59.9999999"},
    {"datetimeoffset(3)", "'2024-02-29T18:04:56.123+05:30'", "2024-02-29 18:04:56.123 +05:30"},
    {"datetimeoffset(0)", "'2024-02-29T00:00:00-14:00'", "2024-02-29 00:00:00 -14:00"},
};

/* Computed, stored and read back, NULL, and given back as a parameter's NULL. */
static void types(void **state) {
  char sql[2048], text[256];
  (void)state;
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    snprintf(sql, sizeof sql, "SELECT CAST(%s AS %s) AS v, CAST(NULL AS %s) AS n",
             values[i].literal, values[i].type, values[i].type);
    snprintf(text, sizeof text, "%s|<null>;", values[i].text);
    expect(sql, text);
    snprintf(sql, sizeof sql,
             "CREATE TABLE aloft_v%%s (a int NOT NULL, v %s NOT NULL, n %s NULL)\n"
             "INSERT INTO aloft_v%%s VALUES (1, CAST(%s AS %s), NULL), (2, CAST(%s AS %s), CAST(%s "
             "AS %s))\nSELECT v, n FROM aloft_v%%s ORDER BY a\nDROP TABLE aloft_v%%s",
             values[i].type, values[i].type, values[i].literal, values[i].type, values[i].literal,
             values[i].type, values[i].literal, values[i].type);
    char filled[2048];
    snprintf(filled, sizeof filled, "%s", sql);
    snprintf(text, sizeof text, "%s|<null>;%s|%s;", values[i].text, values[i].text, values[i].text);
    expect(filled, text);
  }
}

static void large_values(void **state) {
  static const unsigned sizes[] = {1, 3999, 4000, 4001, 8000, 8001, 30000};
  char sql[256];
  (void)state;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    snprintf(sql, sizeof sql,
             "SELECT REPLICATE(CAST(N'x' AS nvarchar(max)), %u), 7, REPLICATE(CAST('y' AS "
             "varchar(max)), %u)",
             sizes[i], sizes[i]);
    assert_int_equal(ask_on(tds, sql), ALOFT_OK);
    const char *text = question_now.text;
    assert_int_equal(strspn(text, "x"), sizes[i]);
    assert_memory_equal(text + sizes[i], "|7|", 3);
    assert_int_equal(strspn(text + sizes[i] + 3, "y"), sizes[i]);
    assert_string_equal(text + 2 * sizes[i] + 3, ";");
  }
}

/* ---- parameters ---- */

static void expect_parameter(aloft_tds_param param, const char *text) {
  param.name = ALOFT_TEXT("@p");
  for (int null = 0; null <= 1; null++) {
    param.null = null != 0;
    ask_begin("SELECT @p AS v");
    question_now.query.params = &param;
    question_now.query.param_count = 1;
    assert_int_equal(ask_end(tds), ALOFT_OK);
    if (strcmp(question_now.text, null ? "<null>;" : text) != 0)
      fail_msg("type %d: '%s' and not '%s'", (int)param.type, question_now.text, text);
    assert_true(question_now.query.returned);
    assert_int_equal(question_now.query.return_status, 0);
  }
}

static void parameters(void **state) {
  /* 2024-02-29 12:34:56.1234567 */
  const aloft_tds_moment moment = {
      .days = 738944, .ticks = UINT64_C(452961234567), .offset_minutes = 330};
  const aloft_tds_decimal decimal = {.low = 12345, .precision = 10, .scale = 3, .negative = true};
  const aloft_tds_uuid uuid = {{0x6F, 0x96, 0x19, 0xFF, 0x8B, 0x86, 0xD0, 0x11, 0xB4, 0x2D, 0x00,
                                0xC0, 0x4F, 0xC9, 0x64, 0xFF}};
  const struct {
    aloft_tds_param param;
    const char *text;
  } cases[] = {
      {{.type = ALOFT_TDS_BIT, .value.integer = 1}, "1;"},
      {{.type = ALOFT_TDS_TINYINT, .value.integer = 255}, "255;"},
      {{.type = ALOFT_TDS_SMALLINT, .value.integer = -32768}, "-32768;"},
      {{.type = ALOFT_TDS_INT, .value.integer = INT32_MIN}, "-2147483648;"},
      {{.type = ALOFT_TDS_BIGINT, .value.integer = INT64_MIN}, "-9223372036854775808;"},
      {{.type = ALOFT_TDS_REAL, .value.real = -0.5}, "-0.5;"},
      {{.type = ALOFT_TDS_FLOAT, .value.real = 0.1}, "0.1;"},
      {{.type = ALOFT_TDS_DECIMAL, .value.decimal = decimal}, "-12.345;"},
      {{.type = ALOFT_TDS_NVARCHAR, .value.text = ALOFT_TEXT("'\xF0\x9F\x98\x80")},
       "'\xF0\x9F\x98\x80;"},
      {{.type = ALOFT_TDS_NVARCHAR, .value.text = ALOFT_TEXT("")}, ";"},
      {{.type = ALOFT_TDS_VARBINARY, .value.bytes = {"\0\x7F", 2}}, "0x007F;"},
      {{.type = ALOFT_TDS_UNIQUEIDENTIFIER, .value.uuid = uuid},
       "6F9619FF-8B86-D011-B42D-00C04FC964FF;"},
      {{.type = ALOFT_TDS_DATE, .value.moment = moment}, "2024-02-29;"},
      {{.type = ALOFT_TDS_TIME, .scale = 7, .value.moment = moment}, "12:34:56.1234567;"},
      {{.type = ALOFT_TDS_DATETIME2, .scale = 3, .value.moment = moment},
       "2024-02-29 12:34:56.123;"},
      {{.type = ALOFT_TDS_DATETIME, .value.moment = moment}, "2024-02-29 12:34:56.123;"},
      {{.type = ALOFT_TDS_DATETIMEOFFSET, .scale = 7, .value.moment = moment},
       "2024-02-29 18:04:56.1234567 +05:30;"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    expect_parameter(cases[i].param, cases[i].text);
}

/* ---- output parameters and procedures ---- */

#define INTEGER(type_, number)                                                                     \
  { .type = (type_), .value.integer = (number) }
#define WORDS(type_, words)                                                                        \
  {                                                                                                \
    .type = (type_), .value.text = { words, sizeof(words) - 1 }                                    \
  }
#define RAW(type_, raw)                                                                            \
  {                                                                                                \
    .type = (type_), .value.bytes = { raw, sizeof(raw) - 1 }                                       \
  }
#define EXACT(type_, number, digits, places)                                                       \
  {                                                                                                \
    .type = (type_), .value.decimal = {.low = (number), .precision = (digits), .scale = (places) } \
  }
static const aloft_tds_param held_text = WORDS(ALOFT_TDS_NVARCHAR, "held \xE2\x82\xAC");

/* 2024-02-29 12:34:56.1234567, at 05:30 */
#define TIME(type_, digits)                                                                        \
  {                                                                                                \
    .type = (type_), .scale = (digits), .value.moment = {                                          \
      .days = 738944,                                                                              \
      .ticks = UINT64_C(452961234567),                                                             \
      .offset_minutes = 330                                                                        \
    }                                                                                              \
  }

/* `declared`: what a procedure takes; `returned`: what it gives back, NULL: the same. `lite`: a
 * statement may do it there too. */
static const struct round {
  aloft_tds_param param;
  const char *declared, *returned, *text;
  bool lite;
} rounds[] = {
    {INTEGER(ALOFT_TDS_BIT, 1), "bit", NULL, "1", true},
    {INTEGER(ALOFT_TDS_TINYINT, 255), "tinyint", NULL, "255", true},
    {INTEGER(ALOFT_TDS_SMALLINT, -32768), "smallint", NULL, "-32768", true},
    {INTEGER(ALOFT_TDS_INT, INT32_MIN), "int", NULL, "-2147483648", true},
    {INTEGER(ALOFT_TDS_BIGINT, INT64_MIN), "bigint", NULL, "-9223372036854775808", true},
    {{.type = ALOFT_TDS_REAL, .value.real = -0.5}, "real", NULL, "-0.5", true},
    {{.type = ALOFT_TDS_FLOAT, .value.real = 0.1}, "float", NULL, "0.1", true},
    {EXACT(ALOFT_TDS_DECIMAL, 12345, 10, 3), "decimal(10,3)", NULL, "12.345", true},
    {EXACT(ALOFT_TDS_NUMERIC, 7, 38, 38), "numeric(38,38)", NULL,
     "0.00000000000000000000000000000000000007", true},
    {EXACT(ALOFT_TDS_SMALLMONEY, 2147483647, 10, 4), "smallmoney", NULL, "214748.3647", false},
    {EXACT(ALOFT_TDS_MONEY, UINT64_C(9223372036854775807), 19, 4), "money", NULL,
     "922337203685477.5807", false},
    {WORDS(ALOFT_TDS_CHAR, "ab"), "char(4)", NULL, "ab  ", false},
    {WORDS(ALOFT_TDS_VARCHAR, "na\xC3\xAFve"), "varchar(20)", NULL, "na\xC3\xAFve", true},
    {WORDS(ALOFT_TDS_VARCHAR, ""), "varchar(max)", NULL, "", true},
    {WORDS(ALOFT_TDS_NCHAR, "\xE2\x82\xAC"), "nchar(2)", NULL, "\xE2\x82\xAC ", false},
    {WORDS(ALOFT_TDS_NVARCHAR, "\xF0\x9F\x98\x80"), "nvarchar(20)", NULL, "\xF0\x9F\x98\x80", true},
    {WORDS(ALOFT_TDS_NVARCHAR, "max"), "nvarchar(max)", NULL, "max", true},
    {WORDS(ALOFT_TDS_TEXT, "old"), "text", "varchar(max)", "old", false},
    {WORDS(ALOFT_TDS_NTEXT, "old \xE2\x82\xAC"), "ntext", "nvarchar(max)", "old \xE2\x82\xAC",
     false},
    {RAW(ALOFT_TDS_IMAGE, "\1\2"), "image", "varbinary(max)", "0x0102", false},
    {WORDS(ALOFT_TDS_XML, "<a>\xE2\x82\xAC</a>"), "xml", NULL, "<a>\xE2\x82\xAC</a>", false},
    {RAW(ALOFT_TDS_BINARY, "\1\2"), "binary(3)", NULL, "0x010200", false},
    {RAW(ALOFT_TDS_VARBINARY, "\0\x7F"), "varbinary(4)", NULL, "0x007F", true},
    {RAW(ALOFT_TDS_VARBINARY, ""), "varbinary(max)", NULL, "0x", true},
    {RAW(ALOFT_TDS_ROWVERSION, "\0\0\0\0\0\0\7\xD1"), "rowversion", "binary(8)",
     "0x00000000000007D1", false},
    {{.type = ALOFT_TDS_UNIQUEIDENTIFIER, .value.uuid = {{1, 2, 3, 4, 5, 6, 7, 8, 9}}},
     "uniqueidentifier",
     NULL,
     "01020304-0506-0708-0900-000000000000",
     true},
    {TIME(ALOFT_TDS_DATE, 0), "date", NULL, "2024-02-29", true},
    {TIME(ALOFT_TDS_TIME, 7), "time(7)", NULL, "12:34:56.1234567", true},
    {TIME(ALOFT_TDS_SMALLDATETIME, 0), "smalldatetime", NULL, "2024-02-29 12:35:00", true},
    {TIME(ALOFT_TDS_DATETIME, 0), "datetime", NULL, "2024-02-29 12:34:56.123", true},
    {TIME(ALOFT_TDS_DATETIME2, 3), "datetime2(3)", NULL, "2024-02-29 12:34:56.123", true},
    {TIME(ALOFT_TDS_DATETIMEOFFSET, 7), "datetimeoffset(7)", NULL,
     "2024-02-29 18:04:56.1234567 +05:30", true},
    {{.type = ALOFT_TDS_VARIANT, .value.variant = &held_text},
     "sql_variant",
     NULL,
     "held \xE2\x82\xAC",
     false},
};

enum { ROUNDS = sizeof rounds / sizeof rounds[0] };

/* lite has neither procedures nor all types. */
static bool is_lite(void) {
  assert_int_equal(ask_on(tds, "SELECT @@VERSION"), ALOFT_OK);
  return strstr(question_now.text, "Aloft lite") != NULL;
}

/* What comes back into: NULL, of the same type, whose declared size is open. */
static aloft_tds_param output_like(const struct round *round) {
  aloft_tds_param output = round->param;
  output.name = ALOFT_TEXT("@out");
  output.null = output.output = true;
  if (output.type == ALOFT_TDS_TEXT || output.type == ALOFT_TDS_NTEXT)
    output.type = ALOFT_TDS_NVARCHAR;
  if (output.type == ALOFT_TDS_IMAGE)
    output.type = ALOFT_TDS_VARBINARY;
  return output;
}

static void outputs(void **state) {
  bool with_lite = is_lite();
  (void)state;
  for (size_t i = 0; i < ROUNDS; i++) {
    for (int null = 0; null <= 1 && (rounds[i].lite || !with_lite); null++) {
      aloft_tds_param params[] = {rounds[i].param, output_like(&rounds[i])};
      aloft_tds_type type = params[0].type;
      bool pads = type == ALOFT_TDS_CHAR || type == ALOFT_TDS_NCHAR || type == ALOFT_TDS_BINARY;
      char text[256];
      params[0].name = ALOFT_TEXT("in");
      params[0].null = null != 0;
      ask_begin("SET @out = @in");
      question_now.query.params = params;
      question_now.query.param_count = 2;
      assert_int_equal(ask_end(tds), ALOFT_OK);
      snprintf(text, sizeof text, "1=%s;", null ? "<null>" : rounds[i].text);
      if (!pads && strcmp(question_now.text, text) != 0)
        fail_msg("%s: '%s' and not '%s'", rounds[i].declared, question_now.text, text);
    }
  }
}

static void call(const struct round *round, bool null, bool by_position) {
  aloft_tds_param params[] = {
      round->param, output_like(round), {.type = ALOFT_TDS_INT, .by_default = true}};
  char name[64], text[256];
  snprintf(name, sizeof name, by_position ? "aloft_q%s" : "[dbo].[aloft_q%s]", suffix);
  params[0].null = null;
  if (by_position) {
    params[1].name = (aloft_text){NULL, 0};
  } else {
    params[0].name = ALOFT_TEXT("@in");
    params[2].name = ALOFT_TEXT("status");
  }
  ask_begin("");
  question_now.query.sql = (aloft_text){NULL, 0};
  question_now.query.procedure = aloft_text_of(name);
  question_now.query.params = params;
  question_now.query.param_count = 3;
  aloft_status status = ask_end(tds);
  snprintf(text, sizeof text, "1=%s;", null ? "<null>" : round->text);
  if (status != ALOFT_OK || strcmp(question_now.text, text) != 0)
    fail_msg("%s: '%s' and not '%s' (%s)", round->declared, question_now.text, text,
             aloft_status_meaning(status));
  assert_true(question_now.query.returned);
  assert_int_equal(question_now.query.return_status, 7);
}

/* A parameter of each kind goes in and comes back; a third one is left to its default. */
static void procedures(void **state) {
  (void)state;
  if (is_lite()) {
    print_message("procedures: lite has none\n");
    skip();
  }
  for (size_t i = 0; i < ROUNDS; i++) {
    const char *returned = rounds[i].returned ? rounds[i].returned : rounds[i].declared;
    char sql[512];
    snprintf(
        sql, sizeof sql,
        "CREATE PROCEDURE dbo.aloft_q%%s @in %s, @out %s OUTPUT, @status int = 7 AS SET @out = "
        "CAST(@in AS %s) RETURN @status",
        rounds[i].declared, returned, returned);
    char filled[512];
    snprintf(filled, sizeof filled, "%s", sql);
    expect(filled, "");
    for (int kind = 0; kind < 4; kind++)
      call(&rounds[i], kind & 1, kind & 2);
    expect("DROP PROCEDURE dbo.aloft_q%s", "");
  }
}

/* A function's result is the value behind the last parameter. */
static void functions(void **state) {
  (void)state;
  if (is_lite()) {
    print_message("functions: lite has none\n");
    skip();
  }
  const aloft_tds_param param = {
      .name = ALOFT_TEXT("a"), .type = ALOFT_TDS_INT, .value.integer = 20};
  char name[64];
  expect("CREATE FUNCTION dbo.aloft_f%s (@a int) RETURNS int AS BEGIN RETURN 2 * @a END", "");
  snprintf(name, sizeof name, "dbo.aloft_f%s", suffix);
  ask_begin("");
  question_now.query.sql = (aloft_text){NULL, 0};
  question_now.query.procedure = aloft_text_of(name);
  question_now.query.params = &param;
  question_now.query.param_count = 1;
  assert_int_equal(ask_end(tds), ALOFT_OK);
  assert_string_equal(question_now.text, "1=40;");
  expect("DROP FUNCTION dbo.aloft_f%s", "");
}

/* ---- results, errors, messages ---- */

static void results(void **state) {
  (void)state;
  expect("SELECT 1 SELECT N'two', 2 WHERE 1 = 0 SELECT NULL", "1;//<null>;");
  expect("CREATE TABLE aloft_t%s (id int NOT NULL PRIMARY KEY, name nvarchar(10) NULL)", "");
  ask_on(tds, "INSERT INTO aloft_t%s VALUES (1, N'one'), (2, NULL)");
  assert_int_equal(question_now.query.rows_affected, 2);
  ask_on(tds, "UPDATE aloft_t%s SET name = N'x' WHERE id > 5");
  assert_int_equal(question_now.query.rows_affected, 0);
  ask_on(tds, "SET NOCOUNT ON UPDATE aloft_t%s SET name = N'y' WHERE id = 2 SET NOCOUNT OFF");
  assert_int_equal(question_now.query.rows_affected, -1);
  expect("SELECT id, name FROM aloft_t%s ORDER BY id DESC", "2|y;1|one;");
  expect("SELECT COUNT(*), MIN(id), MAX(name) FROM aloft_t%s", "2|1|y;");
  expect("DROP TABLE aloft_t%s", "");
}

static void errors(void **state) {
  (void)state;
  expect("CREATE TABLE aloft_e%s (id int NOT NULL PRIMARY KEY, name nvarchar(3) NOT NULL)", "");
  expect("INSERT INTO aloft_e%s VALUES (1, N'one')", "");
  expect_error("SELECT 1/0", 8134, 16);
  expect_error("SELECT * FROM aloft_missing%s", 208, 16);
  expect_error("SELECT missing FROM aloft_e%s", 207, 16);
  expect_error("SELECT 1 +", 102, 15);
  expect_error("SELECT FROM aloft_e%s", 156, 15);
  expect_error("INSERT INTO aloft_e%s VALUES (1, N'two')", 2627, 14);
  expect_error("INSERT INTO aloft_e%s (id) VALUES (2)", 515, 16);
  expect_error("SELECT CAST(N'x' AS int)", 245, 16);
  expect_error("SELECT CAST(300 AS tinyint)", 220, 16);
  expect_error("SELECT CAST(2147483647 AS int) + 1", 8115, 16);
  expect_error("SELECT CAST(N'x' AS decimal(5,2))", 8114, 16);
  expect_error("SELECT CAST(N'x' AS date)", 241, 16);
  expect_error("SELECT @missing", 137, 15);
  expect_error("CREATE TABLE aloft_e%s (a int)", 2714, 16);
  expect_error("ROLLBACK", 3903, 16);
  expect_error("RAISERROR(N'own', 16, 3)", 50000, 16);
  expect("SELECT id, name FROM aloft_e%s", "1|one;");
  expect("DROP TABLE aloft_e%s", "");
}

static void messages(void **state) {
  (void)state;
  expect("PRINT N'one' SELECT 1 PRINT N'two \xE2\x82\xAC' SELECT 2",
         "[0 one]/1;[0 two \xE2\x82\xAC]/2;");
  expect("RAISERROR(N'mild', 10, 1) SELECT 1", "[50000 mild]/1;");
  /* The batch goes on after an error. */
  expect("SELECT 1 SELECT 1/0 SELECT 3", "1;/[8134 Divide by zero error encountered.]/3;");
}

/* ---- stops ---- */

static uint64_t attentions(void) {
  aloft_tds_info info = {.size = sizeof info};
  aloft_tds_get_info(tds, &info);
  return info.attentions;
}

static void timeouts(void **state) {
  (void)state;
  uint64_t before = attentions();
  ask_begin("WAITFOR DELAY '00:10:00' SELECT 1");
  question_now.query.op.timeout_ns = ALOFT_MILLISECONDS(200);
  assert_int_equal(ask_end(tds), ALOFT_TIMEOUT);
  assert_int_equal(attentions(), before + 1);
  expect("SELECT 2", "2;");
}

typedef struct canceller {
  aloft_op sleep;
  aloft_op *target;
} canceller;

static void cancel_now(aloft_op *op, aloft_status status) {
  (void)status;
  aloft_op_cancel(ALOFT_CONTAINER(op, canceller, sleep)->target);
}

static void expect_cancelled(const char *sql) {
  canceller later = {.sleep = {.done = cancel_now, .timeout_ns = ALOFT_MILLISECONDS(200)},
                     .target = &question_now.query.op};
  ask_begin(sql);
  assert_int_equal(aloft_sleep_start(loop, &later.sleep), ALOFT_OK);
  assert_int_equal(ask_end(tds), ALOFT_CANCELLED);
  expect("SELECT 2", "2;");
}

static void cancels(void **state) {
  char sql[SQL_ROOM] = "INSERT INTO aloft_n%s VALUES (0)";
  (void)state;
  for (int i = 1; i < 100; i++)
    snprintf(sql + strlen(sql), sizeof sql - strlen(sql), ",(%d)", i);
  expect("CREATE TABLE aloft_n%s (a int NOT NULL)", "");
  expect(sql, "");
  expect_cancelled("WAITFOR DELAY '00:10:00' SELECT 1");
  snprintf(sql, sizeof sql,
           "SELECT SUM(CAST((a.a + b.a) * (c.a - d.a) + e.a AS bigint)) FROM aloft_n%s AS a CROSS "
           "JOIN aloft_n%s AS b CROSS JOIN aloft_n%s AS c CROSS JOIN aloft_n%s AS d CROSS JOIN "
           "aloft_n%s AS e",
           suffix, suffix, suffix, suffix, suffix);
  expect_cancelled(sql);
  expect("DROP TABLE aloft_n%s", "");
}

/* ---- transactions ---- */

static bool in_transaction(void) {
  aloft_tds_info info = {.size = sizeof info};
  aloft_tds_get_info(tds, &info);
  return info.in_transaction;
}

static void transactions(void **state) {
  (void)state;
  expect("CREATE TABLE aloft_x%s (a int NOT NULL)", "");
  expect("BEGIN TRAN INSERT INTO aloft_x%s VALUES (1)", "");
  assert_true(in_transaction());
  expect("SELECT @@TRANCOUNT, COUNT(*) FROM aloft_x%s", "1|1;");
  expect("ROLLBACK", "");
  assert_false(in_transaction());
  expect("SELECT COUNT(*) FROM aloft_x%s", "0;");
  expect("BEGIN TRAN BEGIN TRAN INSERT INTO aloft_x%s VALUES (2) COMMIT", "");
  assert_true(in_transaction());
  expect("COMMIT", "");
  assert_false(in_transaction());
  expect("SELECT a FROM aloft_x%s", "2;");
  expect("DROP TABLE aloft_x%s", "");
}

static void locks(void **state) {
  (void)state;
  aloft_tds *other = connect_again();
  expect("CREATE TABLE aloft_l%s (a int NOT NULL)", "");
  expect("INSERT INTO aloft_l%s VALUES (1)", "");
  expect("BEGIN TRAN UPDATE aloft_l%s SET a = 2", "");
  assert_int_equal(ask_on(other, "SET LOCK_TIMEOUT 100 UPDATE aloft_l%s SET a = 3"), ALOFT_SERVER);
  assert_int_equal(question_now.query.op.error->number, 1222);
  expect("COMMIT", "");
  expect_on(other, "UPDATE aloft_l%s SET a = a + 1 SELECT a FROM aloft_l%s", "3;");
  assert_int_equal(aloft_tds_close(other, NULL), ALOFT_OK);
  expect("DROP TABLE aloft_l%s", "");
}

/* What a user of the pool leaves behind is gone for the next. */
static void pools(void **state) {
  aloft_tds_pool *pool = NULL;
  aloft_op closing = {.done = nothing};
  const aloft_tds_pool_config config = {
      .size = sizeof config,
      .connection = {.size = sizeof config.connection,
                     .connection_string = aloft_text_of(connection_string)},
      .connections_max = 1};
  aloft_tds *first = NULL;
  (void)state;
  expect("CREATE TABLE aloft_p%s (a int NOT NULL)", "");
  assert_int_equal(aloft_tds_pool_open(&pool, loop, &config), ALOFT_OK);
  for (int i = 0; i < 3; i++) {
    aloft_tds_acquire acquire = {.op = {.done = nothing}};
    assert_int_equal(aloft_tds_pool_take(pool, &acquire), ALOFT_OK);
    assert_int_equal(harness_wait(loop, &acquire.op), ALOFT_OK);
    assert_true(first == NULL || first == acquire.tds);
    first = acquire.tds;
    expect_on(first, "SELECT @@TRANCOUNT, COUNT(*) FROM aloft_p%s", "0|0;");
    expect_on(first, "SET NOCOUNT ON BEGIN TRAN INSERT INTO aloft_p%s VALUES (1)", "");
    aloft_tds_pool_give(pool, first);
  }
  assert_int_equal(aloft_tds_pool_close(pool, &closing), ALOFT_OK);
  assert_int_equal(harness_wait(loop, &closing), ALOFT_OK);
  expect("DROP TABLE aloft_p%s", "");
}

/* ---- set up ---- */

static void choose_server(void) {
  const char *given = e2e_sql_server();
  if (given) {
    snprintf(connection_string, sizeof connection_string, "%s", given);
    return;
  }
  own_server = true;
  e2e_lite_start(&lite, ALOFT_COMMAND);
  snprintf(connection_string, sizeof connection_string,
           "Server=tcp:127.0.0.1,%s;User Id=" E2E_LITE_USER ";Password=\"" E2E_LITE_PASSWORD
           "\";Encrypt=Optional",
           lite.port);
}

static int open_server(void **state) {
  (void)state;
  snprintf(suffix, sizeof suffix, "_%08" PRIx32,
           (uint32_t)((uint64_t)time(NULL) * 2654435761u) ^ (uint32_t)getpid() * 40503u);
  choose_server();
  assert_int_equal(aloft_loop_open(&loop, NULL), ALOFT_OK);
  tds = connect_again();
  return 0;
}

static int close_server(void **state) {
  (void)state;
  assert_int_equal(aloft_tds_close(tds, NULL), ALOFT_OK);
  harness_loop_shut(loop);
  if (own_server)
    e2e_lite_stop(&lite);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(types),      cmocka_unit_test(large_values), cmocka_unit_test(parameters),
      cmocka_unit_test(results),    cmocka_unit_test(errors),       cmocka_unit_test(messages),
      cmocka_unit_test(timeouts),   cmocka_unit_test(cancels),      cmocka_unit_test(transactions),
      cmocka_unit_test(locks),      cmocka_unit_test(pools),        cmocka_unit_test(outputs),
      cmocka_unit_test(procedures), cmocka_unit_test(functions),
  };
  return cmocka_run_group_tests(tests, open_server, close_server);
}
