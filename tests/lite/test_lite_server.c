/* lite's server between login and end: results, messages, procedure calls, transactions, resets, as
 * they stand on the wire and as Aloft's own client reads them. */
#include "lite_world.h"

#include "prepared.h"
#include "tds_response.h"

enum { TEXT_ROOM = 65536 };

#define ONE_ROW "done FD 0010 193 1\nend\n"

typedef struct script_line {
  const char *sql, *lines;
} script_line;

/* ---- the stream's order ---- */

static const script_line stream[] = {
    {"SELECT 1 AS a", "columns a int\nrow 1\n" ONE_ROW},
    {"", "done FD 0000 0 0\nend\n"},
    {"  -- nothing\n", "done FD 0000 0 0\nend\n"},
    {"SELECT 1 AS a SELECT N'x' AS b WHERE 1 = 0 SELECT 3",
     "columns a int\nrow 1\ndone FD 0011 193 1\ncolumns b nvarchar\ndone FD 0011 193 0\n"
     "columns  int\nrow 3\n" ONE_ROW},
    {"CREATE TABLE t (id int PRIMARY KEY, name nvarchar(10))", "done FD 0000 198 0\nend\n"},
    {"INSERT INTO t VALUES (1, N'one'), (2, NULL); UPDATE t SET name = N'two' WHERE id = 2; DELETE "
     "t "
     "WHERE id = 7",
     "done FD 0011 195 2\ndone FD 0011 197 1\ndone FD 0010 196 0\nend\n"},
    {"SET NOCOUNT ON; INSERT INTO t VALUES (3, NULL); SELECT id FROM t WHERE name IS NULL",
     "done FD 0001 195 0\ncolumns id int\nrow 3\ndone FD 0000 193 0\nend\n"},
    {"SET NOCOUNT OFF", "done FD 0000 0 0\nend\n"},
    {"PRINT 'one' SELECT 1 AS a PRINT 'two'",
     "info 0 0 1 1 one|lite|\ncolumns a int\nrow 1\ndone FD 0011 193 1\ninfo 0 0 1 1 two|lite|\n"
     "done FD 0000 0 0\nend\n"},
    {"SELECT 1 AS a\nSELECT 1/0 AS b\nSELECT 2 AS c",
     "columns a int\nrow 1\ndone FD 0011 193 1\ncolumns b int\n"
     "error 8134 16 1 2 Divide by zero error encountered.|lite|\ndone FD 0003 193 0\n"
     "columns c int\nrow 2\n" ONE_ROW},
    {"INSERT INTO t VALUES (1, N'again')", "error 2627 14 1 1 Violation of PRIMARY KEY constraint "
                                           "'PK__t__1'. Cannot insert duplicate key in "
                                           "object 'dbo.t'. The duplicate key value is "
                                           "(1).|lite|\ninfo 3621 0 0 1 The statement has been "
                                           "terminated.|lite|\ndone FD 0002 195 0\nend\n"},
    {"SELECT 1 +", "error 102 15 1 1 Incorrect syntax near '+'.|lite|\ndone FD 0002 0 0\nend\n"},
    {"SELECT * FROM missing",
     "error 208 16 1 1 Invalid object name 'missing'.|lite|\ndone FD 0002 193 0\nend\n"},
    {"RAISERROR('mild', 10, 1) RAISERROR('bad', 16, 3)",
     "info 50000 10 1 1 mild|lite|\nerror 50000 16 3 1 bad|lite|\ndone FD 0002 0 0\nend\n"},
    {"USE test", "env 1 0 test|\ninfo 5701 0 2 1 Changed database context to 'test'.|lite|\n"
                 "done FD 0000 0 0\nend\n"},
    {"DROP TABLE t", "done FD 0000 199 0\nend\n"},
};

static void in_stream_order(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  peer_open(&peer, &world);
  peer_login(&peer);
  for (size_t i = 0; i < sizeof stream / sizeof stream[0]; i++)
    peer_expect(&peer, stream[i].sql, stream[i].lines);
  peer_close(&peer);
  world_close(&world);
}

/* The same answers however the network cuts and delays them. */
static void in_stream_order_over_a_bad_network(void **state) {
  const alo_sim_faults faults = {
      .short_read = 300, .split_write = 300, .full = 200, .delay_ns = ALOFT_MILLISECONDS(3)};
  (void)state;
  for (uint64_t seed = 1; seed <= 10; seed++) {
    lite_world world;
    lite_peer peer;
    world_open(&world, WORLD_SIM, seed, &faults, NULL);
    peer_open(&peer, &world);
    peer_login(&peer);
    for (size_t i = 0; i < sizeof stream / sizeof stream[0]; i++)
      peer_expect(&peer, stream[i].sql, stream[i].lines);
    peer_close(&peer);
    world_close(&world);
  }
}

/* Requests cut into the smallest packets, and several in one write. */
static void requests_in_pieces(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  world_open(&world, WORLD_SIM, 5, NULL, NULL);
  peer_open(&peer, &world);
  peer_login(&peer);
  for (uint32_t size = 9; size < 60; size++) {
    peer.writer.packet_size = size;
    peer_expect(&peer, "SELECT N'na\xC3\xAFve \xE2\x82\xAC' AS a",
                "columns a nvarchar\nrow na\xC3\xAFve \xE2\x82\xAC\n" ONE_ROW);
  }
  peer_close(&peer);
  world_close(&world);
}

/* ---- types ---- */

/* SQL's type, a value as a literal, and the text of it. */
static const struct {
  const char *type, *literal, *text;
} values[] = {
    {"bit", "1", "1"},
    {"tinyint", "255", "255"},
    {"smallint", "-32768", "-32768"},
    {"int", "-2147483648", "-2147483648"},
    {"bigint", "-9223372036854775808", "-9223372036854775808"},
    {"real", "-2.25e-9", "-2.25e-9"},
    {"float", "1.7976931348623157e308", "1.7976931348623157e+308"},
    {"decimal(38,0)", "99999999999999999999999999999999999999",
     "99999999999999999999999999999999999999"},
    {"decimal(5,2)", "-123.45", "-123.45"},
    {"numeric(18,9)", "123456789.000000001", "123456789.000000001"},
    {"char(5)", "'ab'", "ab   "},
    {"varchar(10)", "N'na\xC3\xAFve \xE2\x82\xAC'", "na\xC3\xAFve \xE2\x82\xAC"},
    {"varchar(10)", "''", ""},
    {"varchar(max)", "'text'", "text"},
    {"nchar(3)", "N'\xE2\x82\xAC'", "\xE2\x82\xAC  "},
    {"nvarchar(4)", "N'\xF0\x9F\x98\x80 x'", "\xF0\x9F\x98\x80 x"},
    {"nvarchar(max)", "N'\xF0\x9F\x98\x80'", "\xF0\x9F\x98\x80"},
    {"binary(4)", "0x007F", "0x007F0000"},
    {"varbinary(4)", "0x007F", "0x007F"},
    {"varbinary(max)", "0x", "0x"},
    {"uniqueidentifier", "'6F9619FF-8B86-D011-B42D-00C04FC964FF'",
     "6F9619FF-8B86-D011-B42D-00C04FC964FF"},
    {"date", "'0001-01-01'", "0001-01-01"},
    {"date", "'9999-12-31'", "9999-12-31"},
    {"time(0)", "'23:59:59'", "23:59:59"},
    {"time(7)", "'12:34:56.1234567'", "12:34:56.1234567"},
    {"smalldatetime", "'2024-02-29T12:34:56'", "2024-02-29 12:35:00"},
    {"datetime", "'2024-02-29T12:34:56.123'", "2024-02-29 12:34:56.123"},
    {"datetime2(3)", "'2024-02-29T12:34:56.123'", "2024-02-29 12:34:56.123"},
    {"datetime2(7)", "'9999-12-31T23:59:59.9999999'", "9999-12-31 23:59:59.9999999"},
    {"datetimeoffset(3)", "'2024-02-29T18:04:56.123+05:30'", "2024-02-29 18:04:56.123 +05:30"},
};

enum { VALUE_COUNT = sizeof values / sizeof values[0] };

static void expect_text(lite_client *client, const char *sql, const char *expected) {
  static char text[TEXT_ROOM];
  aloft_status status = client_sql(client, sql, text, sizeof text);
  if (strcmp(text, expected) != 0)
    fail_msg("%s\ngave '%s'\nand not '%s' (status %d)", sql, text, expected, (int)status);
}

static void every_type(void **state) {
  char sql[1024], expected[256];
  lite_world world;
  lite_client client;
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  client_open(&client, &world, "Packet Size=512");
  for (size_t i = 0; i < VALUE_COUNT; i++) {
    snprintf(sql, sizeof sql, "SELECT CAST(%s AS %s) AS v, CAST(NULL AS %s) AS n",
             values[i].literal, values[i].type, values[i].type);
    snprintf(expected, sizeof expected, "%s|<null>;", values[i].text);
    expect_text(&client, sql, expected);
    snprintf(
        sql, sizeof sql,
        "CREATE TABLE v (a int NOT NULL, v %s NOT NULL, n %s) INSERT INTO v VALUES (1, CAST(%s "
        "AS %s), NULL), (2, CAST(%s AS %s), CAST(%s AS %s)) SELECT v, n FROM v ORDER BY a DROP "
        "TABLE v",
        values[i].type, values[i].type, values[i].literal, values[i].type, values[i].literal,
        values[i].type, values[i].literal, values[i].type);
    snprintf(expected, sizeof expected, "%s|<null>;%s|%s;", values[i].text, values[i].text,
             values[i].text);
    expect_text(&client, sql, expected);
  }
  client_close(&client);
  world_close(&world);
}

/* Values far beyond a packet, with one of a fixed size after each. */
static void large_values(void **state) {
  static const size_t sizes[] = {1, 3999, 4000, 4001, 8000, 100000, 2000000};
  static char sql[512], text[4 << 20];
  lite_world world;
  lite_client client;
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  client_open(&client, &world, NULL);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    snprintf(sql, sizeof sql,
             "SELECT REPLICATE(CAST(N'x' AS nvarchar(max)), %zu) AS a, 7 AS b, "
             "REPLICATE(CAST('y' AS varchar(max)), %zu) AS c",
             sizes[i], sizes[i]);
    assert_int_equal(client_sql(&client, sql, text, sizeof text), ALOFT_OK);
    assert_int_equal(strspn(text, "x"), sizes[i]);
    assert_memory_equal(text + sizes[i], "|7|", 3);
    assert_int_equal(strspn(text + sizes[i] + 3, "y"), sizes[i]);
    assert_string_equal(text + 2 * sizes[i] + 3, ";");
  }
  client_close(&client);
  world_close(&world);
}

/* ---- parameters ---- */

typedef struct parameter_case {
  aloft_tds_param param;
  const char *text;
} parameter_case;

static void expect_parameter(lite_client *client, aloft_tds_param param, const char *expected) {
  char text[1024];
  param.name = ALOFT_TEXT("@p");
  aloft_tds_query query = {
      .sql = ALOFT_TEXT("SELECT @p AS v WHERE 1 = 1"), .params = &param, .param_count = 1};
  assert_int_equal(client_run(client, &query, text, sizeof text), ALOFT_OK);
  assert_true(query.returned);
  assert_int_equal(query.return_status, 0);
  if (strcmp(text, expected) != 0)
    fail_msg("type %d: '%s' and not '%s'", (int)param.type, text, expected);
  param.null = true;
  assert_int_equal(client_run(client, &query, text, sizeof text), ALOFT_OK);
  assert_string_equal(text, "<null>;");
}

static void every_parameter(void **state) {
  const aloft_tds_moment moment = {
      .days = alo_tds_days(2024, 2, 29), .ticks = UINT64_C(452961234567), .offset_minutes = 330};
  const aloft_tds_decimal decimal = {.low = 12345, .precision = 10, .scale = 3, .negative = true};
  aloft_tds_uuid uuid;
  (void)state;
  assert_true(alo_tds_uuid_parse(ALOFT_TEXT("6F9619FF-8B86-D011-B42D-00C04FC964FF"), &uuid));
  const parameter_case cases[] = {
      {{.type = ALOFT_TDS_BIT, .value.integer = 1}, "1;"},
      {{.type = ALOFT_TDS_TINYINT, .value.integer = 255}, "255;"},
      {{.type = ALOFT_TDS_SMALLINT, .value.integer = -32768}, "-32768;"},
      {{.type = ALOFT_TDS_INT, .value.integer = INT32_MIN}, "-2147483648;"},
      {{.type = ALOFT_TDS_BIGINT, .value.integer = INT64_MIN}, "-9223372036854775808;"},
      {{.type = ALOFT_TDS_REAL, .value.real = -0.5}, "-0.5;"},
      {{.type = ALOFT_TDS_FLOAT, .value.real = 1e308}, "1e+308;"},
      {{.type = ALOFT_TDS_DECIMAL, .value.decimal = decimal}, "-12.345;"},
      {{.type = ALOFT_TDS_NUMERIC, .value.decimal = decimal}, "-12.345;"},
      {{.type = ALOFT_TDS_NVARCHAR, .value.text = ALOFT_TEXT("\xF0\x9F\x98\x80'")},
       "\xF0\x9F\x98\x80';"},
      {{.type = ALOFT_TDS_VARCHAR, .value.text = ALOFT_TEXT("")}, ";"},
      {{.type = ALOFT_TDS_CHAR, .value.text = ALOFT_TEXT("a ")}, "a ;"},
      {{.type = ALOFT_TDS_VARBINARY, .value.bytes = {"\0\x7F", 2}}, "0x007F;"},
      {{.type = ALOFT_TDS_UNIQUEIDENTIFIER, .value.uuid = uuid},
       "6F9619FF-8B86-D011-B42D-00C04FC964FF;"},
      {{.type = ALOFT_TDS_DATE, .value.moment = moment}, "2024-02-29;"},
      {{.type = ALOFT_TDS_TIME, .scale = 7, .value.moment = moment}, "12:34:56.1234567;"},
      {{.type = ALOFT_TDS_DATETIME2, .scale = 3, .value.moment = moment},
       "2024-02-29 12:34:56.123;"},
      {{.type = ALOFT_TDS_DATETIME, .value.moment = moment}, "2024-02-29 12:34:56.123;"},
      {{.type = ALOFT_TDS_SMALLDATETIME, .value.moment = moment}, "2024-02-29 12:35:00;"},
      {{.type = ALOFT_TDS_DATETIMEOFFSET, .scale = 7, .value.moment = moment},
       "2024-02-29 18:04:56.1234567 +05:30;"},
  };
  lite_world world;
  lite_client client;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  client_open(&client, &world, NULL);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    expect_parameter(&client, cases[i].param, cases[i].text);
  client_close(&client);
  world_close(&world);
}

/* ---- procedure calls, by hand ---- */

static const alo_tds_type int_type = {.token = ALO_TDS_INTN, .size = 4};
static const alo_tds_type text_type = {.token = ALO_TDS_NVARCHAR, .size = 8000};

static void call_begin(lite_peer *peer, uint16_t number) {
  alo_tds_message_begin(&peer->writer, ALO_TDS_RPC, 0);
  alo_tds_put_headers(&peer->writer, 0);
  alo_tds_put_u16(&peer->writer, 0xFFFF);
  alo_tds_put_u16(&peer->writer, number);
  alo_tds_put_u16(&peer->writer, 0);
}

static void call_by_name(lite_peer *peer, const char *name) {
  alo_tds_message_begin(&peer->writer, ALO_TDS_RPC, 0);
  alo_tds_put_headers(&peer->writer, 0);
  alo_tds_put_us_varchar(&peer->writer, aloft_text_of(name));
  alo_tds_put_u16(&peer->writer, 0);
}

static void put_head(lite_peer *peer, const char *name, bool output, const alo_tds_type *type) {
  alo_tds_put_b_varchar(&peer->writer, aloft_text_of(name));
  alo_tds_put_u8(&peer->writer, output);
  alo_tds_put_type(&peer->writer, type);
}

static void put_text(lite_peer *peer, const char *name, const char *text) {
  put_head(peer, name, false, &text_type);
  if (text)
    alo_tds_put_text(&peer->writer, &text_type, aloft_text_of(text));
  else
    alo_tds_put_null(&peer->writer, &text_type);
}

static void put_int(lite_peer *peer, const char *name, bool output, int64_t value) {
  put_head(peer, name, output, &int_type);
  alo_tds_put_int64(&peer->writer, &int_type, value);
}

static void put_null_int(lite_peer *peer, const char *name, bool output) {
  put_head(peer, name, output, &int_type);
  alo_tds_put_null(&peer->writer, &int_type);
}

static void call_expect(lite_peer *peer, const char *lines) {
  peer_clear(peer);
  peer_flush(peer);
  const char *seen = peer_wait(peer, 1);
  if (strcmp(seen, lines) != 0)
    fail_msg("gave:\n%sand not:\n%s", seen, lines);
}

static void output_parameters(void **state) {
  static const alo_tds_type fixed = {.token = ALO_TDS_INT4, .size = 4};
  static const alo_tds_type narrow = {.token = ALO_TDS_NVARCHAR, .size = 4};
  lite_world world;
  lite_peer peer;
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  peer_open(&peer, &world);
  peer_login(&peer);
  call_begin(&peer, ALO_TDS_SP_EXECUTESQL);
  put_text(&peer, "", "SELECT @a AS a SET @b = @a + 1 SET @c = N'text'");
  put_text(&peer, "", "@a int, @b int OUTPUT, @c nvarchar(20) OUTPUT");
  put_int(&peer, "@a", false, 41);
  put_null_int(&peer, "@b", true);
  put_head(&peer, "@c", true, &text_type);
  alo_tds_put_null(&peer.writer, &text_type);
  call_expect(&peer, "columns a int\nrow 41\ndone FF 0011 193 1\nstatus 0\nvalue @b int|42\n"
                     "value @c nvarchar|text\ndone FE 0000 0 0\nend\n");
  /* By name, whatever its case; what came as a type without NULL may go out as NULL. */
  call_by_name(&peer, "SP_executeSQL");
  put_text(&peer, "@stmt", "SET @b = NULL");
  put_text(&peer, "@params", "@b int OUTPUT");
  put_head(&peer, "@b", true, &fixed);
  alo_tds_put_int64(&peer.writer, &fixed, 1);
  call_expect(&peer, "status 0\nvalue @b int|<null>\ndone FE 0000 0 0\nend\n");
  /* A value longer than the caller's type has room for. */
  call_begin(&peer, ALO_TDS_SP_EXECUTESQL);
  put_text(&peer, "", "SET @c = N'longer'");
  put_text(&peer, "", "@c nvarchar(20) OUTPUT");
  put_head(&peer, "@c", true, &narrow);
  alo_tds_put_null(&peer.writer, &narrow);
  call_expect(&peer, "status 0\nvalue @c nvarchar|longer\ndone FE 0000 0 0\nend\n");
  peer_close(&peer);
  world_close(&world);
}

/* SQL's type, how the caller sends it, a value and its text. */
static const struct {
  const char *sql;
  alo_tds_type type;
  const char *literal, *text;
} outputs[] = {
    {"bit", {.token = ALO_TDS_BITN, .size = 1}, "1", "1"},
    {"tinyint", {.token = ALO_TDS_INTN, .size = 1}, "255", "255"},
    {"smallint", {.token = ALO_TDS_INTN, .size = 2}, "-32768", "-32768"},
    {"bigint", {.token = ALO_TDS_INTN, .size = 8}, "-9223372036854775808", "-9223372036854775808"},
    {"real", {.token = ALO_TDS_FLTN, .size = 4}, "0.5", "0.5"},
    {"float", {.token = ALO_TDS_FLTN, .size = 8}, "0.1", "0.1"},
    {"decimal(10,3)",
     {.token = ALO_TDS_DECIMALN, .size = 9, .precision = 10, .scale = 3},
     "-12.345",
     "-12.345"},
    {"numeric(38,0)",
     {.token = ALO_TDS_NUMERICN, .size = 17, .precision = 38},
     "99999999999999999999999999999999999999",
     "99999999999999999999999999999999999999"},
    {"varchar(10)",
     {.token = ALO_TDS_BIGVARCHAR, .size = 10, .collation = {0x09, 0x04, 0xD0, 0x00, 0x34}},
     "'text'",
     "text"},
    {"nvarchar(max)", {.token = ALO_TDS_NVARCHAR, .size = ALO_TDS_MAX_SIZE}, "N'x'", "x"},
    {"varbinary(5)", {.token = ALO_TDS_BIGVARBINARY, .size = 5}, "0x007F", "0x007F"},
    {"varbinary(max)", {.token = ALO_TDS_BIGVARBINARY, .size = ALO_TDS_MAX_SIZE}, "0x", "0x"},
    {"uniqueidentifier",
     {.token = ALO_TDS_GUID, .size = 16},
     "'6F9619FF-8B86-D011-B42D-00C04FC964FF'",
     "6F9619FF-8B86-D011-B42D-00C04FC964FF"},
    {"date", {.token = ALO_TDS_DATEN, .size = 3}, "'2024-02-29'", "2024-02-29"},
    {"time(7)",
     {.token = ALO_TDS_TIMEN, .size = 5, .scale = 7},
     "'12:34:56.1234567'",
     "12:34:56.1234567"},
    {"datetime",
     {.token = ALO_TDS_DATETIMN, .size = 8},
     "'2024-02-29T12:34:56.123'",
     "2024-02-29 12:34:56.123"},
    {"smalldatetime",
     {.token = ALO_TDS_DATETIMN, .size = 4},
     "'2024-02-29T12:34:00'",
     "2024-02-29 12:34:00"},
    {"datetime2(3)",
     {.token = ALO_TDS_DATETIME2N, .size = 7, .scale = 3},
     "'2024-02-29T12:34:56.123'",
     "2024-02-29 12:34:56.123"},
    {"datetimeoffset(0)",
     {.token = ALO_TDS_DATETIMEOFFSETN, .size = 8},
     "'2024-02-29T12:34:56+05:30'",
     "2024-02-29 12:34:56 +05:30"},
};

static void every_output(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  peer_open(&peer, &world);
  peer_login(&peer);
  for (size_t i = 0; i < 2 * sizeof outputs / sizeof outputs[0]; i++) {
    char sql[200], declarations[100], expected[200];
    bool null = i % 2;
    snprintf(sql, sizeof sql, "SET @o = %s", null ? "NULL" : outputs[i / 2].literal);
    snprintf(declarations, sizeof declarations, "@o %s OUTPUT", outputs[i / 2].sql);
    snprintf(expected, sizeof expected, "|%s\ndone FE 0000 0 0\nend\n",
             null ? "<null>" : outputs[i / 2].text);
    call_begin(&peer, ALO_TDS_SP_EXECUTESQL);
    put_text(&peer, "", sql);
    put_text(&peer, "", declarations);
    put_head(&peer, "@o", true, &outputs[i / 2].type);
    alo_tds_put_null(&peer.writer, &outputs[i / 2].type);
    peer_clear(&peer);
    peer_flush(&peer);
    const char *seen = peer_wait(&peer, 1);
    if (strncmp(seen, "status 0\nvalue @o ", 18) != 0 || !strstr(seen, expected))
      fail_msg("%s gave:\n%s", outputs[i / 2].sql, seen);
  }
  peer_close(&peer);
  world_close(&world);
}

static void failing_calls(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  peer_open(&peer, &world);
  peer_login(&peer);
  call_begin(&peer, ALO_TDS_SP_EXECUTESQL);
  put_text(&peer, "", "SELECT 1/0 AS a");
  call_expect(&peer, "columns a int\nerror 8134 16 1 1 Divide by zero error encountered.|lite|\n"
                     "done FF 0003 193 0\nstatus 8134\ndone FE 0000 0 0\nend\n");
  call_begin(&peer, ALO_TDS_SP_EXECUTESQL);
  put_text(&peer, "", "SELECT 1/0 AS a SELECT 2 AS b");
  peer_clear(&peer);
  peer_flush(&peer);
  assert_non_null(strstr(peer_wait(&peer, 1), "row 2\ndone FF 0011 193 1\nstatus 0\n"));
  call_begin(&peer, ALO_TDS_SP_EXECUTESQL);
  call_expect(&peer, "error 8009 16 1 1 a procedure call has too few parameters|lite|\n"
                     "done FD 0002 0 0\nend\n");
  call_begin(&peer, ALO_TDS_SP_EXECUTESQL);
  put_int(&peer, "", false, 1);
  call_expect(&peer, "error 8009 16 1 1 the statement of a procedure call is not "
                     "nvarchar|lite|\ndone FD 0002 0 0\nend\n");
  call_by_name(&peer, "sp_who");
  call_expect(&peer, "error 40510 16 1 1 Procedure 'sp_who' is not supported by lite: use "
                     "sp_executesql, sp_prepare, sp_prepexec, sp_execute or "
                     "sp_unprepare.|lite|\ndone FD 0002 0 0\nend\n");
  call_begin(&peer, 2);
  peer_clear(&peer);
  peer_flush(&peer);
  assert_non_null(strstr(peer_wait(&peer, 1), "error 40510 16 1 1 Procedure number 2 is not"));
  call_begin(&peer, ALO_TDS_SP_EXECUTESQL);
  put_text(&peer, "", "SELECT @a");
  put_text(&peer, "", "@a int");
  put_int(&peer, "@z", false, 1);
  peer_clear(&peer);
  peer_flush(&peer);
  assert_non_null(strstr(peer_wait(&peer, 1), "error 8145 "));
  peer_expect(&peer, "SELECT 1 AS a", "columns a int\nrow 1\n" ONE_ROW);
  peer_close(&peer);
  world_close(&world);
}

/* ---- prepared statements ---- */

static void put_prepare(lite_peer *peer, const char *declarations, const char *sql) {
  put_null_int(peer, "@handle", true);
  put_text(peer, "@params", declarations);
  put_text(peer, "@stmt", sql);
}

static void prepared_statements(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  peer_open(&peer, &world);
  peer_login(&peer);
  call_begin(&peer, ALO_TDS_SP_PREPARE);
  put_prepare(&peer, "@a int", "SELECT @a + 1 AS b");
  put_int(&peer, "@options", false, 1);
  call_expect(&peer, "status 0\nvalue @handle int|1\ndone FE 0000 0 0\nend\n");
  for (int i = 0; i < 3; i++) {
    char lines[128];
    snprintf(lines, sizeof lines,
             "columns b int\nrow %d\ndone FF 0011 193 1\nstatus 0\ndone FE 0000 0 0\nend\n", i + 1);
    call_begin(&peer, ALO_TDS_SP_EXECUTE);
    put_int(&peer, "@handle", false, 1);
    put_int(&peer, "@a", false, i);
    call_expect(&peer, lines);
  }
  call_by_name(&peer, "sp_prepexec");
  put_prepare(&peer, "@a int OUTPUT", "SET @a = @a * 2");
  put_int(&peer, "@a", true, 21);
  call_expect(&peer, "status 0\nvalue @handle int|2\nvalue @a int|42\ndone FE 0000 0 0\nend\n");
  call_begin(&peer, ALO_TDS_SP_EXECUTE);
  put_int(&peer, "", false, 2);
  put_int(&peer, "", true, 4);
  call_expect(&peer, "status 0\nvalue @a int|8\ndone FE 0000 0 0\nend\n");
  call_by_name(&peer, "sp_unprepare");
  put_int(&peer, "@handle", false, 1);
  call_expect(&peer, "status 0\ndone FE 0000 0 0\nend\n");
  for (uint16_t number = ALO_TDS_SP_EXECUTE; number <= ALO_TDS_SP_UNPREPARE; number += 3) {
    call_begin(&peer, number);
    put_int(&peer, "@handle", false, 1);
    call_expect(&peer, "error 8179 16 1 1 Could not find prepared statement with handle "
                       "1.|lite|\ndone FD 0002 0 0\nend\n");
  }
  peer_close(&peer);
  world_close(&world);
}

static void prepared_statements_have_a_limit(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  world_open(&world, WORLD_SIM, 0, NULL, NULL);
  peer_open(&peer, &world);
  peer_login(&peer);
  for (int i = 0; i < ALO_PREPARED_MAX; i++) {
    peer_clear(&peer);
    call_begin(&peer, ALO_TDS_SP_PREPARE);
    put_prepare(&peer, NULL, "SELECT 1 AS a");
    peer_flush(&peer);
    assert_non_null(strstr(peer_wait(&peer, 1), "status 0\n"));
  }
  call_begin(&peer, ALO_TDS_SP_PREPARE);
  put_prepare(&peer, NULL, "SELECT 1 AS a");
  call_expect(&peer, "error 40510 16 1 1 lite keeps at most 1,024 prepared statements and 16 MiB "
                     "of their text in a session: unprepare some.|lite|\ndone FD 0002 0 0\nend\n");
  call_begin(&peer, ALO_TDS_SP_UNPREPARE);
  put_int(&peer, "", false, 500);
  call_expect(&peer, "status 0\ndone FE 0000 0 0\nend\n");
  call_begin(&peer, ALO_TDS_SP_PREPEXEC);
  put_prepare(&peer, NULL, "SELECT 1 AS a");
  call_expect(&peer, "columns a int\nrow 1\ndone FF 0011 193 1\nstatus 0\nvalue @handle "
                     "int|1025\ndone FE 0000 0 0\nend\n");
  /* A reset forgets them. */
  peer_send_batch(&peer, "SELECT 1 AS a", ALO_TDS_STATUS_RESET);
  peer_wait(&peer, 2);
  call_begin(&peer, ALO_TDS_SP_EXECUTE);
  put_int(&peer, "", false, 1025);
  peer_clear(&peer);
  peer_flush(&peer);
  assert_non_null(strstr(peer_wait(&peer, 1), "error 8179 "));
  peer_close(&peer);
  world_close(&world);
}

enum { UNTOLD = ALO_PREPARED_MAX + 76 };

static void prepare_and_execute(lite_peer *peer, const char *sql, int count) {
  call_begin(peer, ALO_TDS_SP_PREPEXEC);
  put_prepare(peer, NULL, sql);
  for (int i = 0; i < count; i++)
    put_int(peer, "", false, i);
  peer_clear(peer);
  peer_flush(peer);
}

static void expect_handle(lite_peer *peer, int handle) {
  char lines[128];
  snprintf(lines, sizeof lines, "status 0\nvalue @handle int|%d\ndone FE 0000 0 0\nend\n", handle);
  call_begin(peer, ALO_TDS_SP_PREPARE);
  put_prepare(peer, NULL, "SELECT 1 AS a");
  call_expect(peer, lines);
}

/* A client cannot unprepare what it has not been told of: lite does. */
static void prepared_statements_untold(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  world_open(&world, WORLD_SIM, 0, NULL, NULL);
  peer_open(&peer, &world);
  peer_login(&peer);
  for (int i = 0; i < UNTOLD; i++) {
    prepare_and_execute(&peer, "WAITFOR DELAY '10:00:00'", 0);
    peer_attention(&peer);
    assert_string_equal(peer_wait(&peer, 2), "done FE 0002 0 0\nend\ndone FD 0020 0 0\nend\n");
  }
  expect_handle(&peer, UNTOLD + 1);
  for (int i = 0; i < UNTOLD; i++) {
    prepare_and_execute(&peer, "SELECT 1 AS a", ALO_ENGINE_PARAMETERS_MAX + 1);
    assert_non_null(strstr(peer_wait(&peer, 1), "error 8003 "));
  }
  expect_handle(&peer, 2 * UNTOLD + 2);
  /* One that has been told stays. */
  prepare_and_execute(&peer, "SELECT 1 AS a", 0);
  assert_non_null(strstr(peer_wait(&peer, 1), "value @handle int|"));
  call_begin(&peer, ALO_TDS_SP_UNPREPARE);
  put_int(&peer, "", false, 2 * UNTOLD + 3);
  call_expect(&peer, "status 0\ndone FE 0000 0 0\nend\n");
  peer_close(&peer);
  world_close(&world);
}

/* ---- transactions and resets ---- */

static bool in_transaction(const lite_client *client) {
  aloft_tds_info info = {.size = sizeof info};
  aloft_tds_get_info(client->tds, &info);
  return info.in_transaction;
}

static void transactions(void **state) {
  lite_world world;
  lite_client client;
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  client_open(&client, &world, NULL);
  expect_text(&client, "CREATE TABLE t (a int)", "");
  assert_false(in_transaction(&client));
  expect_text(&client, "BEGIN TRAN INSERT INTO t VALUES (1)", "");
  assert_true(in_transaction(&client));
  expect_text(&client, "SELECT @@TRANCOUNT, a FROM t", "1|1;");
  expect_text(&client, "ROLLBACK", "");
  assert_false(in_transaction(&client));
  expect_text(&client, "SELECT COUNT(*) FROM t", "0;");
  expect_text(&client, "BEGIN TRAN INSERT INTO t VALUES (2) COMMIT SELECT a FROM t", "2;");
  assert_false(in_transaction(&client));
  client_close(&client);
  world_close(&world);
}

static void put_transaction(lite_peer *peer, uint16_t request, uint8_t isolation,
                            const char *name) {
  const alo_tds_transaction asked = {.request = request, .isolation = isolation};
  alo_tds_message_begin(&peer->writer, ALO_TDS_TRANSACTION, 0);
  alo_tds_put_transaction(&peer->writer, 0, &asked, aloft_text_of(name));
}

static void transaction_requests(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  peer_open(&peer, &world);
  peer_login(&peer);
  put_transaction(&peer, ALO_TDS_TM_BEGIN, 2, "");
  call_expect(&peer, "env 8 0 |0100000000000000\ndone FD 0004 212 0\nend\n");
  peer_expect(&peer, "SELECT @@TRANCOUNT AS a", "columns a int\nrow 1\ndone FD 0014 193 1\nend\n");
  put_transaction(&peer, ALO_TDS_TM_COMMIT, 0, "");
  call_expect(&peer, "env 9 0 |\ndone FD 0000 213 0\nend\n");
  put_transaction(&peer, ALO_TDS_TM_BEGIN, 0, "");
  call_expect(&peer, "env 8 0 |0200000000000000\ndone FD 0004 212 0\nend\n");
  put_transaction(&peer, ALO_TDS_TM_ROLLBACK, 0, "");
  call_expect(&peer, "env 10 0 |\ndone FD 0000 210 0\nend\n");
  put_transaction(&peer, ALO_TDS_TM_SAVE, 0, "point");
  peer_clear(&peer);
  peer_flush(&peer);
  assert_non_null(strstr(peer_wait(&peer, 1), "error 40510 16 1 1 lite has no savepoints"));
  peer_close(&peer);
  world_close(&world);
}

static void resets(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  peer_open(&peer, &world);
  peer_login(&peer);
  peer_expect(&peer, "CREATE TABLE t (a int)", "done FD 0000 198 0\nend\n");
  peer_batch(&peer, "SET NOCOUNT ON BEGIN TRAN INSERT INTO t VALUES (1)");
  peer_clear(&peer);
  peer_send_batch(&peer, "SELECT @@TRANCOUNT AS a", ALO_TDS_STATUS_RESET);
  assert_string_equal(peer_wait(&peer, 1), "env 18 0 |\ncolumns a int\nrow 0\n" ONE_ROW);
  peer_expect(&peer, "SELECT a FROM t", "columns a int\ndone FD 0010 193 0\nend\n");
  /* One that is taken back resets all the same. */
  peer_batch(&peer, "SET NOCOUNT ON BEGIN TRAN");
  peer_clear(&peer);
  alo_tds_message_begin(&peer.writer, ALO_TDS_SQL_BATCH,
                        ALO_TDS_STATUS_RESET | ALO_TDS_STATUS_IGNORE);
  peer_flush(&peer);
  assert_string_equal(peer_wait(&peer, 1), "done FD 0002 0 0\nend\n");
  peer_expect(&peer, "SELECT @@TRANCOUNT AS a", "env 18 0 |\ncolumns a int\nrow 0\n" ONE_ROW);
  assert_int_equal(world_counters(&world).ignored, 1);
  peer_close(&peer);
  world_close(&world);
}

/* A reset that is to keep the transaction does so, or says that it cannot. */
static void resets_that_keep(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  peer_open(&peer, &world);
  peer_login(&peer);
  peer_send_batch(&peer, "SELECT 1 AS a", ALO_TDS_STATUS_RESET_SKIP_TRAN);
  assert_string_equal(peer_wait(&peer, 1), "env 18 0 |\ncolumns a int\nrow 1\n" ONE_ROW);
  peer_batch(&peer, "BEGIN TRAN");
  peer_clear(&peer);
  peer_send_batch(&peer, "SELECT 1 AS a", ALO_TDS_STATUS_RESET_SKIP_TRAN);
  assert_non_null(strstr(peer_wait(&peer, 1), "error 40510 16 1 1 lite cannot reset"));
  peer_expect(&peer, "SELECT @@TRANCOUNT AS a", "columns a int\nrow 1\ndone FD 0014 193 1\nend\n");
  peer_close(&peer);
  world_close(&world);
}

/* ---- hostile requests ---- */

static void wrong_requests(void **state) {
  static const struct {
    uint8_t type;
    const char *bytes;
    size_t size;
    const char *logged;
  } cases[] = {
      {ALO_TDS_SQL_BATCH, "", 0, "ALL_HEADERS"},
      {ALO_TDS_SQL_BATCH, "\xFF\xFF\xFF\xFF", 4, "ALL_HEADERS"},
      {ALO_TDS_SQL_BATCH, "\x16\0\0\0\x12\0\0\0\2\0\0\0\0\0\0\0\0\0\1\0\0\0S", 23, "odd number"},
      {ALO_TDS_RPC, "\x16\0\0\0\x12\0\0\0\2\0\0\0\0\0\0\0\0\0\1\0\0\0\xFF\xFF", 24, "RPC"},
      {ALO_TDS_BULK, "", 0, "bulk load"},
      {ALO_TDS_TRANSACTION, "\x16\0\0\0\x12\0\0\0\2\0\0\0\0\0\0\0\0\0\1\0\0\0\x63\0", 24, NULL},
      {ALO_TDS_LOGIN7, "", 0, "not a request"},
      {ALO_TDS_PRELOGIN, "", 0, "not a request"},
      {ALO_TDS_REPLY, "", 0, "not a request"},
      {0xEE, "", 0, "not a request"},
  };
  lite_world world;
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    lite_peer peer;
    peer_open(&peer, &world);
    peer_login(&peer);
    alo_tds_message_begin(&peer.writer, cases[i].type, 0);
    alo_tds_put(&peer.writer, cases[i].bytes, cases[i].size);
    peer_flush(&peer);
    peer_wait_end(&peer);
    assert_int_equal(world_counters(&world).protocol_errors, i + 1);
    if (cases[i].logged && !world_logged(&world, cases[i].logged))
      fail_msg("%s is not in the log: %s", cases[i].logged, world.log_text);
    peer_close(&peer);
  }
  world_close(&world);
}

/* Each byte of a call changed: an answer or an end. */
static void changed_calls(void **state) {
  lite_world world;
  lite_peer peer;
  uint8_t bytes[512];
  (void)state;
  world_open(&world, WORLD_SIM, 1, NULL, NULL);
  peer_open(&peer, &world);
  call_begin(&peer, ALO_TDS_SP_EXECUTESQL);
  put_text(&peer, "", "SELECT @a");
  put_text(&peer, "", "@a int, @b nvarchar(9)");
  put_int(&peer, "@a", false, 1);
  put_text(&peer, "@b", "x");
  assert_int_equal(alo_tds_message_end(&peer.writer), ALOFT_OK);
  size_t size = alo_buffer_size(&peer.out);
  assert_true(size <= sizeof bytes);
  memcpy(bytes, peer.out.data + peer.out.begin, size);
  peer_close(&peer);
  for (size_t at = 8; at < size; at++) {
    peer_open(&peer, &world);
    peer_login(&peer);
    bytes[at] ^= (uint8_t)(1u << (at % 8));
    peer_send(&peer, bytes, size);
    bytes[at] ^= (uint8_t)(1u << (at % 8));
    while (!peer.ended && !peer.seen.ends)
      world_turn(&world);
    peer_close(&peer);
  }
  world_close(&world);
}

/* Cut at each byte, with the client gone after it. */
static void cut_calls(void **state) {
  lite_world world;
  lite_peer watcher, peer;
  (void)state;
  world_open(&world, WORLD_SIM, 1, NULL, NULL);
  peer_open(&watcher, &world);
  peer_login(&watcher);
  for (size_t cut = 0;; cut++) {
    peer_open(&peer, &world);
    peer_login(&peer);
    call_begin(&peer, ALO_TDS_SP_EXECUTESQL);
    put_text(&peer, "", "SELECT @a");
    put_text(&peer, "", "@a int");
    put_int(&peer, "@a", false, 1);
    assert_int_equal(alo_tds_message_end(&peer.writer), ALOFT_OK);
    size_t size = alo_buffer_size(&peer.out);
    peer_send(&peer, peer.out.data + peer.out.begin, cut < size ? cut : size);
    for (int turns = 0; turns < 6; turns++)
      assert_int_equal(aloft_loop_turn(world.loop, 0), ALOFT_OK);
    assert_int_equal(peer.seen.ends, cut == size);
    peer_close(&peer);
    peer_expect(&watcher, "SELECT 1 AS a", "columns a int\nrow 1\n" ONE_ROW);
    if (cut == size)
      break;
  }
  assert_int_equal(world_counters(&world).protocol_errors, 0);
  peer_close(&watcher);
  world_close(&world);
}

/* Packets of any type with any bytes, many in a row; with the headers of a request in front of some
 * so that they get further. */
static void soup(void **state) {
  static const uint8_t types[] = {ALO_TDS_SQL_BATCH, ALO_TDS_RPC, ALO_TDS_TRANSACTION,
                                  ALO_TDS_ATTENTION, ALO_TDS_RPC, ALO_TDS_RPC};
  lite_world world;
  (void)state;
  world_open(&world, WORLD_SIM, 99, NULL, NULL);
  for (int round = 0; round < 400; round++) {
    lite_peer peer;
    peer_open(&peer, &world);
    peer_login(&peer);
    for (int i = 0; i < 8; i++) {
      uint64_t random = alo_sim_random(world.driver);
      alo_tds_message_begin(&peer.writer, types[random % sizeof types],
                            (uint8_t)(random >> 16 & 0x1A));
      if (random & 0x100)
        alo_tds_put_headers(&peer.writer, 0);
      if (random & 0x200)
        alo_tds_put_u32(&peer.writer, 0xFFFF | (uint32_t)(10 + (random >> 10) % 6) << 16);
      for (uint64_t left = random >> 24 & 0x3F; left; left--)
        alo_tds_put_u8(&peer.writer, (uint8_t)(alo_sim_random(world.driver) >> (left % 3 * 21)));
      peer_flush(&peer);
    }
    for (int turns = 0; turns < 40; turns++)
      assert_int_equal(aloft_loop_turn(world.loop, 0), ALOFT_OK);
    peer_close(&peer);
  }
  lite_peer last;
  peer_open(&last, &world);
  peer_login(&last);
  peer_expect(&last, "SELECT 1 AS a", "columns a int\nrow 1\n" ONE_ROW);
  peer_close(&last);
  world_close(&world);
}

static void too_large_a_request(void **state) {
  static uint8_t packet[32767] = {ALO_TDS_SQL_BATCH, 0, 0x7F, 0xFF};
  lite_world world;
  lite_peer peer, other;
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  peer_open(&peer, &world);
  peer_login(&peer);
  peer_open(&other, &world);
  peer_login(&other);
  for (int i = 0; i < 2049 && !peer.ended; i++) {
    peer_send(&peer, packet, sizeof packet);
    assert_int_equal(aloft_loop_turn(world.loop, 0), ALOFT_OK);
  }
  peer_wait_end(&peer);
  assert_true(world_logged(&world, "a request is over 64 MiB"));
  peer_expect(&other, "SELECT 1 AS a", "columns a int\nrow 1\n" ONE_ROW);
  peer_close(&peer);
  peer_close(&other);
  world_close(&world);
}

static void too_long_a_batch(void **state) {
  size_t size = (size_t)5 << 20;
  char *sql = malloc(size + 1);
  lite_world world;
  lite_peer peer;
  (void)state;
  assert_non_null(sql);
  memset(sql, ' ', size);
  sql[size] = 0;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  peer_open(&peer, &world);
  peer_login(&peer);
  peer_expect(&peer, sql,
              "error 40510 16 1 1 The batch is over lite's limit of 4 MiB of "
              "text.|lite|\ndone FD 0002 0 0\nend\n");
  peer_expect(&peer, "SELECT 1 AS a", "columns a int\nrow 1\n" ONE_ROW);
  free(sql);
  peer_close(&peer);
  world_close(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(in_stream_order),
      cmocka_unit_test(in_stream_order_over_a_bad_network),
      cmocka_unit_test(requests_in_pieces),
      cmocka_unit_test(every_type),
      cmocka_unit_test(large_values),
      cmocka_unit_test(every_parameter),
      cmocka_unit_test(output_parameters),
      cmocka_unit_test(every_output),
      cmocka_unit_test(failing_calls),
      cmocka_unit_test(prepared_statements),
      cmocka_unit_test(prepared_statements_have_a_limit),
      cmocka_unit_test(prepared_statements_untold),
      cmocka_unit_test(transactions),
      cmocka_unit_test(transaction_requests),
      cmocka_unit_test(resets),
      cmocka_unit_test(resets_that_keep),
      cmocka_unit_test(wrong_requests),
      cmocka_unit_test(changed_calls),
      cmocka_unit_test(cut_calls),
      cmocka_unit_test(soup),
      cmocka_unit_test(too_large_a_request),
      cmocka_unit_test(too_long_a_batch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
