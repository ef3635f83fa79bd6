/* Procedures called by name: every type of parameter in and out, NULL, empty, default, at its
 * limits and beyond, and what is refused. */
#include <float.h>

#include "tds_client.h"

typedef struct call {
  probe probe;
  const struct expected *expected;
  size_t count, seen;
  bool unnamed;
} call;

typedef struct expected {
  aloft_tds_param param;
  aloft_tds_type type; /* that comes back */
  const char *text;    /* NULL: NULL */
} expected;

#define TEXT_OF(words)  .value.text = {words, sizeof(words) - 1}
#define BYTES_OF(words) .value.bytes = {words, sizeof(words) - 1}

static const aloft_tds_param an_int = {.type = ALOFT_TDS_INT, .value.integer = -7};
static const aloft_tds_param a_text = {.type = ALOFT_TDS_NVARCHAR, TEXT_OF("held \xE2\x98\x83")};
static const aloft_tds_param a_word = {.type = ALOFT_TDS_VARCHAR, TEXT_OF("a word")};
static const aloft_tds_param some_bytes = {.type = ALOFT_TDS_VARBINARY, BYTES_OF("\x01\xFF")};
static const aloft_tds_param a_bit = {.type = ALOFT_TDS_BIT, .value.integer = 1};
static const aloft_tds_param a_float = {.type = ALOFT_TDS_FLOAT, .value.real = 0.5};
static const aloft_tds_param a_decimal = {
    .type = ALOFT_TDS_DECIMAL, .value.decimal = {.low = 12345, .precision = 9, .scale = 2}};
static const aloft_tds_param a_date = {.type = ALOFT_TDS_DATE, .value.moment = {.days = 738944}};
static const aloft_tds_param a_money = {
    .type = ALOFT_TDS_MONEY, .value.decimal = {.low = 15000, .precision = 19, .scale = 4}};
static const aloft_tds_param a_uuid = {.type = ALOFT_TDS_UNIQUEIDENTIFIER,
                                       .value.uuid = {{1, 2, 3, 4, 5, 6, 7, 8, 9}}};
static const aloft_tds_param a_null = {.type = ALOFT_TDS_INT, .null = true};

#define HELD(what) .value.variant = &(what)

static const expected cases[] = {
    {{.type = ALOFT_TDS_BIT, .value.integer = 1}, ALOFT_TDS_BIT, "1"},
    {{.type = ALOFT_TDS_TINYINT, .value.integer = 255}, ALOFT_TDS_TINYINT, "255"},
    {{.type = ALOFT_TDS_SMALLINT, .value.integer = INT16_MIN}, ALOFT_TDS_SMALLINT, "-32768"},
    {{.type = ALOFT_TDS_INT, .value.integer = INT32_MIN}, ALOFT_TDS_INT, "-2147483648"},
    {{.type = ALOFT_TDS_BIGINT, .value.integer = INT64_MIN},
     ALOFT_TDS_BIGINT,
     "-9223372036854775808"},
    {{.type = ALOFT_TDS_REAL, .value.real = 1.5}, ALOFT_TDS_REAL, "1.5"},
    {{.type = ALOFT_TDS_FLOAT, .value.real = -2.25e-9}, ALOFT_TDS_FLOAT, "-2.25e-9"},
    {{.type = ALOFT_TDS_DECIMAL,
      .value.decimal = {.low = UINT64_C(0x098A223FFFFFFFFF),
                        .high = UINT64_C(0x4B3B4CA85A86C47A),
                        .precision = 38}},
     ALOFT_TDS_DECIMAL,
     "99999999999999999999999999999999999999"},
    {{.type = ALOFT_TDS_NUMERIC,
      .value.decimal = {.low = 1, .precision = 4, .scale = 4, .negative = true}},
     ALOFT_TDS_NUMERIC,
     "-0.0001"},
    {{.type = ALOFT_TDS_MONEY,
      .value.decimal = {.low = UINT64_C(9223372036854775807), .precision = 19, .scale = 4}},
     ALOFT_TDS_MONEY,
     "922337203685477.5807"},
    {{.type = ALOFT_TDS_SMALLMONEY,
      .value.decimal = {.low = 2147483647, .precision = 10, .scale = 4, .negative = true}},
     ALOFT_TDS_SMALLMONEY,
     "-214748.3647"},
    {{.type = ALOFT_TDS_CHAR, TEXT_OF("na\xC3\xAFve")}, ALOFT_TDS_VARCHAR, "na\xC3\xAFve"},
    {{.type = ALOFT_TDS_CHAR, .size = 8, TEXT_OF("na\xC3\xAFve")}, ALOFT_TDS_CHAR, "na\xC3\xAFve"},
    {{.type = ALOFT_TDS_VARCHAR, TEXT_OF("\xE2\x82\xAC 5")}, ALOFT_TDS_VARCHAR, "\xE2\x82\xAC 5"},
    {{.type = ALOFT_TDS_VARCHAR, TEXT_OF("")}, ALOFT_TDS_VARCHAR, ""},
    {{.type = ALOFT_TDS_VARCHAR, TEXT_OF("\xE2\x98\x83")}, ALOFT_TDS_VARCHAR, "?"},
    {{.type = ALOFT_TDS_NCHAR, TEXT_OF("\xE2\x98\x83")}, ALOFT_TDS_NVARCHAR, "\xE2\x98\x83"},
    {{.type = ALOFT_TDS_NCHAR, .size = 1, TEXT_OF("\xE2\x98\x83")},
     ALOFT_TDS_NCHAR,
     "\xE2\x98\x83"},
    {{.type = ALOFT_TDS_NVARCHAR, TEXT_OF("\xF0\x9F\x98\x80")},
     ALOFT_TDS_NVARCHAR,
     "\xF0\x9F\x98\x80"},
    {{.type = ALOFT_TDS_NVARCHAR, .size = 10, TEXT_OF("ten")}, ALOFT_TDS_NVARCHAR, "ten"},
    {{.type = ALOFT_TDS_NVARCHAR, TEXT_OF("")}, ALOFT_TDS_NVARCHAR, ""},
    {{.type = ALOFT_TDS_XML, TEXT_OF("<a>\xC3\xA9</a>")}, ALOFT_TDS_XML, "<a>\xC3\xA9</a>"},
    {{.type = ALOFT_TDS_JSON, TEXT_OF("{\"a\":\"\xC3\xA9\"}")},
     ALOFT_TDS_JSON,
     "{\"a\":\"\xC3\xA9\"}"},
    {{.type = ALOFT_TDS_BINARY, BYTES_OF("\0\1")}, ALOFT_TDS_VARBINARY, "0x0001"},
    {{.type = ALOFT_TDS_BINARY, .size = 4, BYTES_OF("\0\1\2\3")}, ALOFT_TDS_BINARY, "0x00010203"},
    {{.type = ALOFT_TDS_VARBINARY, BYTES_OF("\xFF\0")}, ALOFT_TDS_VARBINARY, "0xFF00"},
    {{.type = ALOFT_TDS_VARBINARY, BYTES_OF("")}, ALOFT_TDS_VARBINARY, "0x"},
    {{.type = ALOFT_TDS_ROWVERSION, BYTES_OF("\0\0\0\0\0\0\x07\xD1")},
     ALOFT_TDS_BINARY,
     "0x00000000000007D1"},
    {{.type = ALOFT_TDS_UDT, .udt_name = {"dbo.point", 9}, BYTES_OF("\1\2")},
     ALOFT_TDS_UDT,
     "0x0102"},
    {{.type = ALOFT_TDS_UNIQUEIDENTIFIER,
      .value.uuid = {{0x6F, 0x96, 0x19, 0xFF, 0x8B, 0x86, 0xD0, 0x11, 0xB4, 0x2D, 0, 0xC0, 0x4F,
                      0xC9, 0x64, 0xFF}}},
     ALOFT_TDS_UNIQUEIDENTIFIER,
     "6F9619FF-8B86-D011-B42D-00C04FC964FF"},
    {{.type = ALOFT_TDS_DATE, .value.moment = {.days = 3652058}}, ALOFT_TDS_DATE, "9999-12-31"},
    {{.type = ALOFT_TDS_TIME, .scale = 7, .value.moment = {.ticks = UINT64_C(863999999999)}},
     ALOFT_TDS_TIME,
     "23:59:59.9999999"},
    {{.type = ALOFT_TDS_SMALLDATETIME, .value.moment = {.days = 738944, .ticks = 0}},
     ALOFT_TDS_SMALLDATETIME,
     "2024-02-29 00:00:00"},
    {{.type = ALOFT_TDS_DATETIME, .value.moment = {.days = 738944, .ticks = 30000}},
     ALOFT_TDS_DATETIME,
     "2024-02-29 00:00:00.003"},
    {{.type = ALOFT_TDS_DATETIME2, .scale = 3, .value.moment = {.days = 0, .ticks = 10000}},
     ALOFT_TDS_DATETIME2,
     "0001-01-01 00:00:00.001"},
    {{.type = ALOFT_TDS_DATETIMEOFFSET,
      .value.moment = {.days = 738944, .ticks = 0, .offset_minutes = 330}},
     ALOFT_TDS_DATETIMEOFFSET,
     "2024-02-29 05:30:00 +05:30"},
    {{.type = ALOFT_TDS_VARIANT, HELD(an_int)}, ALOFT_TDS_INT, "-7"},
    {{.type = ALOFT_TDS_VARIANT, HELD(a_text)}, ALOFT_TDS_NVARCHAR, "held \xE2\x98\x83"},
    {{.type = ALOFT_TDS_VARIANT, HELD(a_word)}, ALOFT_TDS_VARCHAR, "a word"},
    {{.type = ALOFT_TDS_VARIANT, HELD(some_bytes)}, ALOFT_TDS_VARBINARY, "0x01FF"},
    {{.type = ALOFT_TDS_VARIANT, HELD(a_bit)}, ALOFT_TDS_BIT, "1"},
    {{.type = ALOFT_TDS_VARIANT, HELD(a_float)}, ALOFT_TDS_FLOAT, "0.5"},
    {{.type = ALOFT_TDS_VARIANT, HELD(a_decimal)}, ALOFT_TDS_DECIMAL, "123.45"},
    {{.type = ALOFT_TDS_VARIANT, HELD(a_date)}, ALOFT_TDS_DATE, "2024-02-29"},
    {{.type = ALOFT_TDS_VARIANT, HELD(a_money)}, ALOFT_TDS_MONEY, "1.5000"},
    {{.type = ALOFT_TDS_VARIANT, HELD(a_uuid)},
     ALOFT_TDS_UNIQUEIDENTIFIER,
     "01020304-0506-0708-0900-000000000000"},
    {{.type = ALOFT_TDS_VARIANT, HELD(a_null)}, ALOFT_TDS_VARIANT, NULL},
    {{.type = ALOFT_TDS_VARIANT}, ALOFT_TDS_VARIANT, NULL},
};

enum { CASES = sizeof cases / sizeof *cases };

/* ---- calling ---- */

static const uint8_t latin[5] = {0x09, 0x04, 0xD0, 0x00, 0x34};

/* A server that tells its collation, and knows json. */
static void world_tells(world *w) {
  w->server.collation = latin;
  w->server.json_version = 1;
}

static void look(call *c) {
  aloft_tds_query *query = &c->probe.query;
  size_t index = aloft_tds_output(query);
  assert_in_range(index, 0, c->count - 1);
  assert_int_equal(aloft_tds_column_count(query), 1);
  const expected *of = &c->expected[index];
  const aloft_tds_column *column = aloft_tds_get_column(query, 0);
  assert_non_null(column);
  char name[16] = "";
  if (!c->unnamed)
    snprintf(name, sizeof name, "@p%zu", index);
  assert_int_equal(column->name.size, strlen(name));
  assert_memory_equal(column->name.data, name, column->name.size);
  bool variant = of->param.type == ALOFT_TDS_VARIANT;
  assert_int_equal(column->type, variant ? ALOFT_TDS_VARIANT : of->type);
  assert_int_equal(aloft_tds_value_type(query, 0), of->type);
  assert_int_equal(aloft_tds_is_null(query, 0), of->text == NULL);
  aloft_text text = aloft_tds_text(query, 0);
  if (of->text && (text.size != strlen(of->text) || memcmp(text.data, of->text, text.size) != 0))
    fail_msg("parameter %zu: '%.*s', not '%s'", index, ALOFT_PRINT(text), of->text);
  assert_int_equal(text.data == NULL, of->text == NULL);
  c->seen++;
}

static void ready(aloft_tds_query *query) {
  call *c = ALOFT_CONTAINER(query, call, probe.query);
  aloft_status answer;
  while ((answer = aloft_tds_step(query)) == ALOFT_OUTPUT)
    look(c);
  assert_true(answer == ALOFT_PENDING || answer == ALOFT_DONE);
}

static char names[CASES][8];

typedef enum way { BY_NAME, BY_POSITION, IN_SQL } way;

/* What comes back when text is nvarchar whatever it was. */
static void expect_units(expected *of, bool in_sql) {
  switch (of->type) {
  case ALOFT_TDS_CHAR:
    of->type = in_sql ? ALOFT_TDS_NVARCHAR : ALOFT_TDS_NCHAR;
    break;
  case ALOFT_TDS_VARCHAR:
  case ALOFT_TDS_JSON:
    of->type = ALOFT_TDS_NVARCHAR;
    break;
  case ALOFT_TDS_NCHAR:
  case ALOFT_TDS_XML:
    of->type = in_sql ? ALOFT_TDS_NVARCHAR : of->type;
    break;
  case ALOFT_TDS_BINARY:
    of->type = in_sql && of->param.type == ALOFT_TDS_BINARY ? ALOFT_TDS_VARBINARY : of->type;
    break;
  default:
    break;
  }
  if (of->text && strcmp(of->text, "?") == 0)
    of->text = "\xE2\x98\x83";
}

/* Each case as an output parameter of one call. What it was given is gone when it is answered. */
static void call_so(world *w, const expected *of, size_t count, bool null, way how) {
  static aloft_tds_param params[CASES];
  static expected own[CASES];
  call c = {.expected = own, .count = count, .unnamed = how == BY_POSITION};
  for (size_t at = 0; at < count; at++) {
    own[at] = of[at];
    params[at] = of[at].param;
    if (how == IN_SQL || !w->server.collation)
      expect_units(&own[at], how == IN_SQL);
    snprintf(names[at], sizeof names[at], at % 2 ? "@p%zu" : "p%zu", at);
    if (how != BY_POSITION)
      params[at].name = aloft_text_of(names[at]);
    params[at].output = true;
    if (null) {
      params[at].null = true;
      own[at].text = NULL;
      if (params[at].type == ALOFT_TDS_VARIANT)
        own[at].type = ALOFT_TDS_VARIANT;
    }
  }
  probe_init(&c.probe, w, "echo");
  if (how != IN_SQL) {
    c.probe.query.sql = (aloft_text){NULL, 0};
    c.probe.query.procedure = ALOFT_TEXT("dbo.[echo]");
  }
  c.probe.query.params = params;
  c.probe.query.param_count = count;
  c.probe.query.ready = ready;
  assert_int_equal(probe_start(&c.probe), ALOFT_OK);
  memset(params, 0xAA, sizeof params);
  memset(names, 0xAA, sizeof names);
  probe_wait(&c.probe);
  if (c.probe.status != ALOFT_OK)
    fail_msg("%s", c.probe.error_text);
  assert_int_equal(c.seen, count);
  assert_true(c.probe.query.returned);
  assert_int_equal(c.probe.query.return_status, TDS_SERVER_STATUS);
}

static void call_with(world *w, const expected *of, size_t count, bool null) {
  call_so(w, of, count, null, BY_NAME);
}

static void test_every_type(void **state) {
  (void)state;
  world w;
  world_open(&w);
  world_tells(&w);
  world_connect(&w);
  call_with(&w, cases, CASES, false);
  call_with(&w, cases, CASES, true);
  for (size_t at = 0; at < CASES; at++)
    call_with(&w, &cases[at], 1, false);
  prove(&w);
  world_close(&w);
}

static void test_any_split(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    const alo_sim_faults faults = {.short_read = 900, .split_write = 800, .full = 50};
    world w;
    world_open_with(&w, NULL, seed, &faults);
    world_tells(&w);
    world_connect(&w);
    call_with(&w, cases, CASES, seed % 2);
    world_close(&w);
  }
}

static void test_large(void **state) {
  (void)state;
  static char data[100001], hex[200003] = "0x";
  memset(data, 'x', sizeof data - 1);
  for (size_t at = 0; at < 100000; at++)
    memcpy(hex + 2 + 2 * at, "78", 2);
  const expected large[] = {
      {{.type = ALOFT_TDS_NVARCHAR, .value.text = {data, 100000}}, ALOFT_TDS_NVARCHAR, data},
      {{.type = ALOFT_TDS_VARCHAR, .value.text = {data, 100000}}, ALOFT_TDS_VARCHAR, data},
      {{.type = ALOFT_TDS_VARBINARY, .value.bytes = {data, 100000}}, ALOFT_TDS_VARBINARY, hex},
      {{.type = ALOFT_TDS_XML, .value.text = {data, 100000}}, ALOFT_TDS_XML, data},
  };
  world w;
  world_open(&w);
  world_tells(&w);
  world_connect(&w);
  call_with(&w, large, 4, false);
  prove(&w);
  world_close(&w);
}

static void step_outputs(aloft_tds_query *query) {
  call *c = ALOFT_CONTAINER(query, call, probe.query);
  while (aloft_tds_step(query) == ALOFT_OUTPUT) {
    (void)aloft_tds_text(query, 0);
    c->seen++;
  }
}

/* Cancelled where its answer has stopped, at any byte, a call leaves a connection of use. */
static void test_cancelled_anywhere(void **state) {
  (void)state;
  aloft_tds_param params[CASES];
  world w;
  size_t seen = 0;
  world_open(&w);
  world_tells(&w);
  world_connect(&w);
  for (size_t at = 0; at < CASES; at++) {
    params[at] = cases[at].param;
    params[at].output = true;
  }
  for (size_t byte = 0; seen < CASES; byte += 3) {
    call c = {.seen = 0};
    char name[40];
    snprintf(name, sizeof name, "[echo hold %zu]", byte);
    probe_init(&c.probe, &w, "");
    c.probe.query.sql = (aloft_text){NULL, 0};
    c.probe.query.procedure = aloft_text_of(name);
    c.probe.query.params = params;
    c.probe.query.param_count = CASES;
    c.probe.query.ready = step_outputs;
    assert_int_equal(probe_start(&c.probe), ALOFT_OK);
    turns(&w, 8);
    assert_in_range(c.seen, seen, seen + 1);
    seen = c.seen;
    aloft_op_cancel(&c.probe.query.op);
    probe_wait(&c.probe);
    assert_int_equal(c.probe.status, ALOFT_CANCELLED);
    prove(&w);
  }
  world_close(&w);
}

/* Large values come last, and have no name to be told by. */
static void test_by_position(void **state) {
  (void)state;
  world w;
  world_open(&w);
  world_tells(&w);
  world_connect(&w);
  call_so(&w, cases, CASES, false, BY_POSITION);
  call_so(&w, cases, CASES, true, BY_POSITION);
  world_close(&w);
}

static void take_result(aloft_tds_query *query) {
  call *c = ALOFT_CONTAINER(query, call, probe.query);
  while (aloft_tds_step(query) == ALOFT_OUTPUT) {
    assert_int_equal(aloft_tds_output(query), query->param_count);
    assert_true(aloft_tds_int64(query, 0) == INT64_MAX);
    c->seen++;
  }
}

static void test_result_of_a_function(void **state) {
  (void)state;
  world w;
  call c = {.seen = 0};
  world_open(&w);
  world_tells(&w);
  world_connect(&w);
  probe_init(&c.probe, &w, "");
  c.probe.query.sql = (aloft_text){NULL, 0};
  c.probe.query.procedure = ALOFT_TEXT("function");
  c.probe.query.params = &an_int;
  c.probe.query.param_count = 1;
  c.probe.query.ready = take_result;
  assert_int_equal(probe_start(&c.probe), ALOFT_OK);
  assert_int_equal(aloft_tds_output(&c.probe.query), 1);
  probe_wait(&c.probe);
  assert_int_equal(c.probe.status, ALOFT_OK);
  assert_int_equal(c.seen, 1);
  assert_false(c.probe.query.returned);
  world_close(&w);
}

/* ---- without output ---- */

static aloft_status call_status(world *w, probe *p, const aloft_tds_param *params, size_t count) {
  probe_init(p, w, "");
  p->query.sql = (aloft_text){NULL, 0};
  p->query.procedure = ALOFT_TEXT("[a schema].defaults");
  p->query.params = params;
  p->query.param_count = count;
  aloft_status status = probe_start(p);
  if (status == ALOFT_OK) {
    probe_wait(p);
    status = p->status;
  }
  return status;
}

static void test_defaults(void **state) {
  (void)state;
  const aloft_tds_param params[] = {
      {.name = ALOFT_TEXT("a"), .type = ALOFT_TDS_INT, .by_default = true},
      {.type = ALOFT_TDS_NVARCHAR, .by_default = true}, /* by position */
      {.type = ALOFT_TDS_TEXT, TEXT_OF("old")},
      {.type = ALOFT_TDS_NTEXT, TEXT_OF("old")},
      {.type = ALOFT_TDS_IMAGE, BYTES_OF("old")},
      {.type = ALOFT_TDS_IMAGE, .null = true},
  };
  world w;
  probe p;
  world_open(&w);
  world_tells(&w);
  world_connect(&w);
  assert_int_equal(call_status(&w, &p, params, 6), ALOFT_OK);
  assert_int_equal(p.query.return_status, 2);
  assert_int_equal(call_status(&w, &p, NULL, 0), ALOFT_OK);
  assert_int_equal(p.query.return_status, 0);
  world_close(&w);
}

/* ---- sp_executesql ---- */

static void test_output_of_sql(void **state) {
  (void)state;
  world w;
  world_open(&w);
  world_tells(&w);
  world_connect(&w);
  call_so(&w, cases, CASES, false, IN_SQL);
  call_so(&w, cases, CASES, true, IN_SQL);
  world_close(&w);
}

/* ---- what the server has not told ---- */

static void test_unknown_collation(void **state) {
  (void)state;
  world w;
  world_open(&w);
  world_connect(&w);
  call_so(&w, cases, CASES, false, BY_NAME);
  call_so(&w, cases, CASES, true, BY_POSITION);
  world_close(&w);
}

/* Nothing is lost of a text that was given before login is over. */
static void test_call_before_login(void **state) {
  (void)state;
  world w;
  counted opening = counted_op();
  world_open(&w);
  w.server.json_version = 1;
  assert_int_equal(world_connect_op(&w, &opening), ALOFT_OK);
  call_so(&w, cases, CASES, false, BY_NAME);
  assert_int_equal(opening.done, 1);
  world_close(&w);
}

/* ---- refused ---- */

static void refused(world *w, aloft_tds_param param, aloft_status wanted, const char *says) {
  const aloft_tds_param params[] = {an_int, param};
  probe p;
  assert_int_equal(call_status(w, &p, params, 2), wanted);
  const aloft_text text = p.query.op.error->message;
  if (!strstr(text.data, says) || memcmp(text.data, "parameter 2 (", 13) != 0)
    fail_msg("not '%s' but '%.*s'", says, ALOFT_PRINT(text));
  assert_int_equal(p.done, 0);
}

static void test_refused(void **state) {
  (void)state;
  static char data[8002];
  memset(data, 'x', sizeof data);
  world w;
  world_open(&w);
  world_tells(&w);
  world_connect(&w);
#define REFUSED(status, says, ...) refused(&w, (aloft_tds_param){__VA_ARGS__}, status, says)
  REFUSED(ALOFT_ARGUMENT, "letters, digits", .name = ALOFT_TEXT("a b"), .type = ALOFT_TDS_INT);
  REFUSED(ALOFT_ARGUMENT, "has no name", .name = ALOFT_TEXT("@"), .type = ALOFT_TDS_INT);
  REFUSED(ALOFT_UNSUPPORTED, "no parameter of its type", .type = ALOFT_TDS_UNKNOWN);
  REFUSED(ALOFT_UNSUPPORTED, "no parameter of its type", .type = (aloft_tds_type)77);
  REFUSED(ALOFT_ARGUMENT, "can hold", .type = ALOFT_TDS_TINYINT, .value.integer = 256);
  REFUSED(ALOFT_TOO_LARGE, "larger than the size declared", .type = ALOFT_TDS_NVARCHAR, .size = 2,
          TEXT_OF("abc"));
  REFUSED(ALOFT_TOO_LARGE, "larger than the size declared", .type = ALOFT_TDS_VARBINARY, .size = 2,
          BYTES_OF("abc"));
  REFUSED(ALOFT_TOO_LARGE, "at most 8,000", .type = ALOFT_TDS_CHAR, .value.text = {data, 8001});
  REFUSED(ALOFT_TOO_LARGE, "at most 8,000", .type = ALOFT_TDS_BINARY, .value.bytes = {data, 8001});
  REFUSED(ALOFT_TOO_LARGE, "at most 8,000", .type = ALOFT_TDS_NCHAR, .value.text = {data, 4001});
  REFUSED(ALOFT_ARGUMENT, "well-formed", .type = ALOFT_TDS_VARCHAR, TEXT_OF("\xC0"));
  REFUSED(ALOFT_ARGUMENT, "well-formed", .type = ALOFT_TDS_NVARCHAR, TEXT_OF("\xC0"));
  REFUSED(ALOFT_ARGUMENT, "cannot be output", .type = ALOFT_TDS_TEXT, .output = true, TEXT_OF("a"));
  REFUSED(ALOFT_ARGUMENT, "cannot be output", .type = ALOFT_TDS_IMAGE, .output = true,
          BYTES_OF("a"));
  REFUSED(ALOFT_ARGUMENT, "8 bytes", .type = ALOFT_TDS_ROWVERSION, BYTES_OF("1234567"));
  REFUSED(ALOFT_ARGUMENT, "udt_name", .type = ALOFT_TDS_UDT, BYTES_OF("a"));
  REFUSED(ALOFT_ARGUMENT, "udt_name", .type = ALOFT_TDS_UDT, .udt_name = ALOFT_TEXT("a.b.c.d"),
          BYTES_OF("a"));
  const aloft_tds_param nested = {.type = ALOFT_TDS_VARIANT, HELD(an_int)};
  REFUSED(ALOFT_ARGUMENT, "cannot hold", .type = ALOFT_TDS_VARIANT, HELD(nested));
  const aloft_tds_param xml = {.type = ALOFT_TDS_XML, TEXT_OF("<a/>")};
  REFUSED(ALOFT_ARGUMENT, "cannot hold", .type = ALOFT_TDS_VARIANT, HELD(xml));
  const aloft_tds_param much = {.type = ALOFT_TDS_VARBINARY, .value.bytes = {data, 8001}};
  REFUSED(ALOFT_TOO_LARGE, "at most 8,000", .type = ALOFT_TDS_VARIANT, HELD(much));
  prove(&w);
  world_close(&w);
}

static void refused_name(world *w, aloft_text procedure, aloft_text sql, const char *says) {
  probe p;
  probe_init(&p, w, "");
  p.query.sql = sql;
  p.query.procedure = procedure;
  assert_int_equal(probe_start(&p), ALOFT_ARGUMENT);
  assert_non_null(strstr(p.query.op.error->message.data, says));
}

static void test_procedures_refused(void **state) {
  (void)state;
  static char name[524];
  memset(name, 'n', sizeof name);
  const aloft_text none = {NULL, 0};
  world w;
  world_open(&w);
  world_tells(&w);
  world_connect(&w);
  refused_name(&w, none, none, "needs its `sql`");
  refused_name(&w, ALOFT_TEXT("echo"), ALOFT_TEXT("SELECT 1"), "not both");
  refused_name(&w, (aloft_text){"", 0}, none, "put in brackets");
  refused_name(&w, (aloft_text){name, sizeof name}, none, "at most 523");
  refused_name(&w, ALOFT_TEXT("\xC0"), none, "well-formed");
  refused_name(&w, ALOFT_TEXT("echo; DROP TABLE t"), none, "put in brackets");
  prove(&w);
  world_close(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_type),
      cmocka_unit_test(test_any_split),
      cmocka_unit_test(test_large),
      cmocka_unit_test(test_cancelled_anywhere),
      cmocka_unit_test(test_by_position),
      cmocka_unit_test(test_result_of_a_function),
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_output_of_sql),
      cmocka_unit_test(test_unknown_collation),
      cmocka_unit_test(test_call_before_login),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_procedures_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
