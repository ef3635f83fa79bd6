/* What SQL Server has beyond lite, through Aloft's client against the server that
 * ALOFT_TEST_SQLSERVER names: the types and code pages, procedures with output parameters, what is
 * told of columns. Each case has a name. Against lite those that it refuses are asked for too, and
 * have to be refused; a server of another make may lack some, which is said. Besides: output
 * parameters of a statement, large values in pieces, and counts in order, which all of them have.
 */
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

enum { TEXT_ROOM = 1 << 16, SQL_ROOM = 4096 };

typedef enum server_kind { LITE, MICROSOFT, ANOTHER } server_kind;

static e2e_lite lite;
static server_kind kind;
static char connection_string[1024], suffix[32];
static aloft_loop *loop;
static aloft_tds *tds;

/* ---- asking ---- */

typedef struct question {
  aloft_tds_query query;
  char
      text[TEXT_ROOM]; /* columns by '|', rows by ';', result sets by '/', outputs as name=value; */
  size_t size, pieces;
  aloft_tds_type type; /* of the first value */
  aloft_tds_column column;
  char names[256]; /* table and base name of the first column */
  unsigned done;
} question;

static question asked;

static void add(const char *text, size_t size) {
  assert_true(size < TEXT_ROOM - asked.size);
  memcpy(asked.text + asked.size, text, size);
  asked.size += size;
  asked.text[asked.size] = 0;
}

static void add_value(aloft_tds_query *query, size_t column) {
  aloft_text text = aloft_tds_text(query, column);
  if (text.data)
    add(text.data, text.size);
  else
    add("<null>", 6);
}

static void look_at_first(aloft_tds_query *query) {
  const aloft_tds_column *column = aloft_tds_get_column(query, 0);
  assert_non_null(column);
  asked.type = aloft_tds_value_type(query, 0);
  asked.column = *column;
  snprintf(asked.names, sizeof asked.names, "%.*s/%.*s", ALOFT_PRINT(column->table),
           ALOFT_PRINT(column->base_name));
}

/* Columns from `first` on, as far as they have come; large ones piece by piece. False: to be gone
 * on with when more has arrived. */
static bool add_piece(aloft_tds_query *query) {
  aloft_bytes piece;
  aloft_status status;
  while ((status = aloft_tds_read(query, &piece)) == ALOFT_OK) {
    add(piece.data, piece.size);
    asked.pieces++;
  }
  return status == ALOFT_DONE;
}

static void add_row(aloft_tds_query *query) {
  size_t count = aloft_tds_column_count(query);
  look_at_first(query);
  for (size_t at = 0; at < count; at++) {
    add("|", at ? 1 : 0);
    add_value(query, at);
  }
  add(";", 1);
}

static void add_output(aloft_tds_query *query) {
  char head[32];
  int size = snprintf(head, sizeof head, "%zu=", aloft_tds_output(query));
  asked.type = aloft_tds_value_type(query, 0);
  add(head, (size_t)size);
  add_value(query, 0);
  add(";", 1);
}

static void ready(aloft_tds_query *query) {
  for (;;) {
    switch (aloft_tds_step(query)) {
    case ALOFT_RESULT:
      add("/", asked.size ? 1 : 0);
      break;
    case ALOFT_ROW:
      add_row(query);
      break;
    case ALOFT_OUTPUT:
      add_output(query);
      break;
    default:
      return;
    }
  }
}

/* Of rows of three columns, of which the second one is large. */
static void ready_in_pieces(aloft_tds_query *query) {
  for (;;) {
    if (aloft_tds_open_column(query) != ALOFT_TDS_NO_COLUMN && !add_piece(query))
      return;
    switch (aloft_tds_step(query)) {
    case ALOFT_RESULT:
      break;
    case ALOFT_ROW:
      add_value(query, 0);
      add("|", 1);
      break;
    case ALOFT_MORE:
      add("|", 1);
      add_value(query, 2);
      add(";", 1);
      break;
    default:
      return;
    }
  }
}

static void count_done(aloft_op *op, aloft_status status) {
  (void)op;
  (void)status;
  asked.done++;
}

static void nothing(aloft_op *op, aloft_status status) {
  (void)op;
  (void)status;
}

static void begin(void) {
  memset(&asked, 0, sizeof asked);
  asked.query.op.done = count_done;
  asked.query.ready = ready;
}

static aloft_status end(void) {
  aloft_status status = aloft_tds_query_start(tds, &asked.query);
  if (status != ALOFT_OK)
    fail_msg("refused: %.*s", ALOFT_PRINT(asked.query.op.error->message));
  status = harness_wait(loop, &asked.query.op);
  assert_int_equal(asked.done, 1);
  return status;
}

/* "%s" in `sql` is the suffix of this run's names. */
static const char *filled(const char *sql) {
  static char text[SQL_ROOM];
  size_t size = 0;
  for (; *sql; sql++) {
    assert_true(size + sizeof suffix < sizeof text);
    if (sql[0] == '%' && sql[1] == 's') {
      size += (size_t)snprintf(text + size, sizeof text - size, "%s", suffix);
      sql++;
    } else {
      text[size++] = *sql;
    }
  }
  text[size] = 0;
  return text;
}

static aloft_status ask(const char *sql) {
  begin();
  asked.query.sql = aloft_text_of(filled(sql));
  return end();
}

/* ---- beyond lite ---- */

typedef struct beyond {
  const char *name, *sql, *text; /* the answer's first row */
  aloft_tds_type type;
} beyond;

#define VARIANT(name, value, text, type)                                                           \
  { "sql_variant of " name, "SELECT CAST(CAST(" value " AS " name ") AS sql_variant)", text, type }
#define PAGE(collation, letters)                                                                   \
  {                                                                                                \
    "varchar of " collation, "SELECT CAST(N'" letters "' COLLATE " collation " AS varchar(40))",   \
        letters, ALOFT_TDS_VARCHAR                                                                 \
  }

static const beyond cases[] = {
    {"money", "SELECT CAST(922337203685477.5807 AS money)", "922337203685477.5807",
     ALOFT_TDS_MONEY},
    {"money, negative", "SELECT CAST(-922337203685477.5808 AS money)", "-922337203685477.5808",
     ALOFT_TDS_MONEY},
    {"smallmoney", "SELECT CAST(-214748.3648 AS smallmoney)", "-214748.3648", ALOFT_TDS_SMALLMONEY},
    {"xml", "SELECT CAST(N'<a b=\"1\">\xC3\xA9</a>' AS xml)", "<a b=\"1\">\xC3\xA9</a>",
     ALOFT_TDS_XML},
    {"text", "SELECT CAST('old' AS text)", "old", ALOFT_TDS_TEXT},
    {"ntext", "SELECT CAST(N'old \xE2\x98\x83' AS ntext)", "old \xE2\x98\x83", ALOFT_TDS_NTEXT},
    {"image", "SELECT CAST(0x0102FF AS image)", "0x0102FF", ALOFT_TDS_IMAGE},
    {"hierarchyid", "SELECT hierarchyid::Parse('/1/')", "0x58", ALOFT_TDS_UDT},
    {"json", "SELECT CAST('{\"a\":1}' AS json)", "{\"a\":1}", ALOFT_TDS_JSON},
    {"sql_variant, NULL", "SELECT CAST(NULL AS sql_variant)", "<null>", ALOFT_TDS_VARIANT},
    VARIANT("bit", "1", "1", ALOFT_TDS_BIT),
    VARIANT("tinyint", "255", "255", ALOFT_TDS_TINYINT),
    VARIANT("smallint", "-32768", "-32768", ALOFT_TDS_SMALLINT),
    VARIANT("int", "42", "42", ALOFT_TDS_INT),
    VARIANT("bigint", "-9223372036854775808", "-9223372036854775808", ALOFT_TDS_BIGINT),
    VARIANT("real", "0.5", "0.5", ALOFT_TDS_REAL),
    VARIANT("float", "0.1e0", "0.1", ALOFT_TDS_FLOAT),
    VARIANT("decimal(9,3)", "-123.456", "-123.456", ALOFT_TDS_DECIMAL),
    VARIANT("numeric(38,0)", "99999999999999999999999999999999999999",
            "99999999999999999999999999999999999999", ALOFT_TDS_NUMERIC),
    VARIANT("money", "1.5", "1.5000", ALOFT_TDS_MONEY),
    VARIANT("smallmoney", "1.5", "1.5000", ALOFT_TDS_SMALLMONEY),
    VARIANT("char(3)", "'ab'", "ab ", ALOFT_TDS_CHAR),
    VARIANT("varchar(9)", "'ab'", "ab", ALOFT_TDS_VARCHAR),
    VARIANT("nchar(3)", "N'\xE2\x98\x83'", "\xE2\x98\x83  ", ALOFT_TDS_NCHAR),
    VARIANT("nvarchar(9)", "N'\xE2\x98\x83'", "\xE2\x98\x83", ALOFT_TDS_NVARCHAR),
    VARIANT("binary(3)", "0x01", "0x010000", ALOFT_TDS_BINARY),
    VARIANT("varbinary(9)", "0x01FF", "0x01FF", ALOFT_TDS_VARBINARY),
    VARIANT("uniqueidentifier", "'6F9619FF-8B86-D011-B42D-00C04FC964FF'",
            "6F9619FF-8B86-D011-B42D-00C04FC964FF", ALOFT_TDS_UNIQUEIDENTIFIER),
    VARIANT("date", "'2024-02-29'", "2024-02-29", ALOFT_TDS_DATE),
    VARIANT("time(3)", "'12:34:56.789'", "12:34:56.789", ALOFT_TDS_TIME),
    VARIANT("smalldatetime", "'2024-02-29T12:34:00'", "2024-02-29 12:34:00",
            ALOFT_TDS_SMALLDATETIME),
    VARIANT("datetime", "'2024-02-29T12:34:56.123'", "2024-02-29 12:34:56.123", ALOFT_TDS_DATETIME),
    VARIANT("datetime2(3)", "'2024-02-29T12:34:56.789'", "2024-02-29 12:34:56.789",
            ALOFT_TDS_DATETIME2),
    VARIANT("datetimeoffset(3)", "'2024-02-29T12:34:56.789+05:30'",
            "2024-02-29 12:34:56.789 +05:30", ALOFT_TDS_DATETIMEOFFSET),
    PAGE("Latin1_General_CI_AS", "\xE2\x82\xAC\xC3\xA9"),
    PAGE("Polish_CI_AS", "\xC5\x82\xC4\x85\xC5\xBC"),
    PAGE("Cyrillic_General_CI_AS", "\xD0\x96\xD1\x83\xD0\xBA"),
    PAGE("Greek_CI_AS", "\xCE\xA9\xCE\xBC"),
    PAGE("Turkish_CI_AS", "\xC4\xB1\xC5\x9F\xC4\x9F"),
    PAGE("Hebrew_CI_AS", "\xD7\xA9\xD7\x9C"),
    PAGE("Arabic_CI_AS", "\xD8\xB3\xD9\x84"),
    PAGE("Lithuanian_CI_AS", "\xC4\x97\xC5\xB3"),
    PAGE("Vietnamese_CI_AS", "\xC4\x91\xC6\xA1"),
    PAGE("Thai_CI_AS", "\xE0\xB9\x84\xE0\xB8\x97"),
    PAGE("Japanese_CI_AS", "\xE6\x97\xA5\xE6\x9C\xAC a"),
    PAGE("Chinese_PRC_CI_AS", "\xE4\xB8\xAD\xE6\x96\x87 a"),
    PAGE("Korean_Wansung_CI_AS", "\xED\x95\x9C a"),
    PAGE("Chinese_Taiwan_Stroke_CI_AS", "\xE4\xB8\xAD a"),
    PAGE("Latin1_General_100_CI_AS_SC_UTF8", "\xF0\x9F\x98\x80\xE6\x97\xA5"),
    PAGE("SQL_Latin1_General_CP437_CI_AS", "\xC3\xA9\xCF\x80"),
    PAGE("SQL_Latin1_General_CP850_CI_AS", "\xC3\xA9\xC3\xB5"),
};

/* Decimal and numeric are one type under two names. */
static bool same_type(aloft_tds_type got, aloft_tds_type wanted) {
  if (wanted == ALOFT_TDS_DECIMAL || wanted == ALOFT_TDS_NUMERIC)
    return got == ALOFT_TDS_DECIMAL || got == ALOFT_TDS_NUMERIC;
  return got == wanted;
}

static const char *error_of(const question *of) {
  return of->query.op.error ? of->query.op.error->message.data : "";
}

/* True: there is an answer to be looked at. */
static bool answers(const char *name, aloft_status status) {
  if (kind == LITE && status != ALOFT_SERVER)
    fail_msg("lite does not refuse: %s", name);
  if (kind == LITE)
    return false;
  if (status == ALOFT_OK)
    return true;
  if (status != ALOFT_SERVER || kind == MICROSOFT)
    fail_msg("%s: %s", name, error_of(&asked));
  print_message("the server does not have it: %s (%s)\n", name, error_of(&asked));
  return false;
}

static void beyond_lite(void **state) {
  (void)state;
  for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
    const beyond *of = &cases[at];
    char text[512];
    if (!answers(of->name, ask(of->sql)))
      continue;
    snprintf(text, sizeof text, "%s;", of->text);
    bool typed = same_type(asked.type, of->type);
    if (!typed && kind == ANOTHER)
      print_message("%s: the server sends it as type %d\n", of->name, (int)asked.type);
    if (strcmp(asked.text, text) != 0 || (!typed && kind == MICROSOFT))
      fail_msg("%s: '%s' of type %d, not '%s' of type %d", of->name, asked.text, (int)asked.type,
               text, (int)of->type);
  }
}

static void rowversions(void **state) {
  (void)state;
  static const char sql[] = "CREATE TABLE aloft_r%s (a int NOT NULL, v rowversion NOT NULL)\n"
                            "INSERT INTO aloft_r%s (a) VALUES (1)\n"
                            "SELECT v FROM aloft_r%s\nDROP TABLE aloft_r%s";
  if (!answers("rowversion", ask(sql)))
    return;
  assert_int_equal(asked.type, ALOFT_TDS_ROWVERSION);
  assert_int_equal(strspn(asked.text + 2, "0123456789ABCDEF"), 16);
}

static void columns_told(void **state) {
  (void)state;
  aloft_status status =
      ask("CREATE TABLE aloft_b%s (id int IDENTITY NOT NULL PRIMARY KEY, twice AS id * 2, t text)\n"
          "INSERT INTO aloft_b%s (t) VALUES ('x')\nSELECT id AS other FROM aloft_b%s FOR BROWSE\n"
          "SELECT twice FROM aloft_b%s\nSELECT t FROM aloft_b%s\nDROP TABLE aloft_b%s");
  if (!answers("what FOR BROWSE tells", status))
    return;
  assert_string_equal(asked.text, "1;/2;/x;");
  assert_int_equal(asked.type, ALOFT_TDS_TEXT);
  assert_non_null(strstr(asked.names, "aloft_b"));
}

/* ---- procedures ---- */

static void procedures(void **state) {
  (void)state;
  aloft_status status =
      ask("CREATE PROCEDURE aloft_q%s @a int, @b nvarchar(20) OUTPUT, @c decimal(10,2) = 1.5, @d "
          "datetime2(3) OUTPUT, @e varbinary(max) OUTPUT AS BEGIN SET @b = @b + N'!'; SELECT @a, "
          "@c; SET @e = @e + 0xFF; RETURN 7; END");
  if (!answers("procedures", status))
    return;
  const aloft_tds_param params[] = {
      {.name = ALOFT_TEXT("a"), .type = ALOFT_TDS_INT, .value.integer = 5},
      {.name = ALOFT_TEXT("b"),
       .type = ALOFT_TDS_NVARCHAR,
       .size = 20,
       .output = true,
       .value.text = ALOFT_TEXT("na\xC3\xAFve")},
      {.name = ALOFT_TEXT("c"), .type = ALOFT_TDS_DECIMAL, .by_default = true},
      {.name = ALOFT_TEXT("d"),
       .type = ALOFT_TDS_DATETIME2,
       .scale = 3,
       .output = true,
       .value.moment = {.days = 738944}},
      {.name = ALOFT_TEXT("e"),
       .type = ALOFT_TDS_VARBINARY,
       .output = true,
       .value.bytes = {"\1", 1}},
  };
  begin();
  static char name[64];
  snprintf(name, sizeof name, "aloft_q%s", suffix);
  asked.query.procedure = aloft_text_of(name);
  asked.query.params = params;
  asked.query.param_count = 5;
  status = end();
  if (status != ALOFT_OK)
    fail_msg("%s", error_of(&asked));
  assert_string_equal(asked.text, "5|1.50;1=na\xC3\xAFve!;3=2024-02-29 00:00:00.000;4=0x01FF;");
  assert_true(asked.query.returned);
  assert_int_equal(asked.query.return_status, 7);
  assert_int_equal(ask("DROP PROCEDURE aloft_q%s"), ALOFT_OK);
}

/* ---- what all of them have ---- */

static void outputs_of_a_statement(void **state) {
  (void)state;
  const aloft_tds_param params[] = {
      {.name = ALOFT_TEXT("in"), .type = ALOFT_TDS_INT, .value.integer = 5},
      {.name = ALOFT_TEXT("out"), .type = ALOFT_TDS_INT, .null = true, .output = true},
      {.name = ALOFT_TEXT("text"),
       .type = ALOFT_TDS_NVARCHAR,
       .size = 30,
       .output = true,
       .value.text = ALOFT_TEXT("a")},
  };
  begin();
  asked.query.sql = ALOFT_TEXT("SET @out = @in * 2; SET @text = @text + N'b'; SELECT 1");
  asked.query.params = params;
  asked.query.param_count = 3;
  aloft_status status = end();
  if (status != ALOFT_OK)
    fail_msg("%s", error_of(&asked));
  assert_string_equal(asked.text, "1;1=10;2=ab;");
}

static void large_in_pieces(void **state) {
  (void)state;
  static const unsigned sizes[] = {1, 4000, 4001, 60000};
  for (size_t at = 0; at < sizeof sizes / sizeof *sizes; at++) {
    char sql[200];
    snprintf(sql, sizeof sql, "SELECT 1, REPLICATE(CAST(N'x' AS nvarchar(max)), %u), N'y'",
             sizes[at]);
    begin();
    asked.query.ready = ready_in_pieces;
    asked.query.large = ALOFT_TDS_PIECES;
    asked.query.sql = aloft_text_of(sql);
    assert_int_equal(end(), ALOFT_OK);
    assert_memory_equal(asked.text, "1|x", 3);
    assert_int_equal(strspn(asked.text + 2, "x"), sizes[at]);
    assert_string_equal(asked.text + 2 + sizes[at], "|y;");
    assert_true(asked.pieces > 0);
  }
}

static uint64_t counts[8];
static size_t counts_size;

static void count_rows(aloft_tds_query *query, uint64_t rows) {
  (void)query;
  assert_true(counts_size < 8);
  counts[counts_size++] = rows;
}

static void counts_in_order(void **state) {
  (void)state;
  begin();
  counts_size = 0;
  asked.query.counted = count_rows;
  static char sql[SQL_ROOM];
  snprintf(sql, sizeof sql, "%s",
           filled("CREATE TABLE aloft_c%s (a int NOT NULL)\nINSERT INTO aloft_c%s VALUES (1), (2), "
                  "(3)\nSELECT a FROM aloft_c%s WHERE a > 1\nDELETE FROM aloft_c%s WHERE a = 1\n"
                  "DROP TABLE aloft_c%s"));
  asked.query.sql = aloft_text_of(sql);
  assert_int_equal(end(), ALOFT_OK);
  assert_int_equal(counts_size, 3);
  assert_int_equal(counts[0], 3);
  assert_int_equal(counts[1], 2);
  assert_int_equal(counts[2], 1);
  assert_int_equal(asked.query.rows_affected, 6);
}

/* ---- set up ---- */

static void choose_server(void) {
  const char *given = e2e_sql_server();
  if (given) {
    snprintf(connection_string, sizeof connection_string, "%s", given);
    return;
  }
  kind = LITE;
  e2e_lite_start(&lite, ALOFT_COMMAND);
  snprintf(connection_string, sizeof connection_string,
           "Server=tcp:127.0.0.1,%s;User Id=" E2E_LITE_USER ";Password=\"" E2E_LITE_PASSWORD
           "\";Encrypt=Mandatory;CA File=%s",
           lite.port, lite.certificate);
}

static int open_server(void **state) {
  (void)state;
  aloft_op op = {.done = nothing};
  snprintf(suffix, sizeof suffix, "_%08" PRIx32,
           (uint32_t)((uint64_t)time(NULL) * 2654435761u) ^ (uint32_t)getpid() * 40503u);
  kind = ANOTHER;
  choose_server();
  assert_int_equal(aloft_loop_open(&loop, NULL), ALOFT_OK);
  const aloft_tds_config config = {.size = sizeof config,
                                   .connection_string = aloft_text_of(connection_string)};
  assert_int_equal(aloft_tds_open(&tds, loop, &config, &op), ALOFT_OK);
  if (harness_wait(loop, &op) != ALOFT_OK)
    fail_msg("cannot connect: %.*s", ALOFT_PRINT(op.error->message));
  if (kind != LITE && ask("SELECT @@VERSION") == ALOFT_OK &&
      strncmp(asked.text, "Microsoft SQL Server", 20) == 0)
    kind = MICROSOFT;
  return 0;
}

static int close_server(void **state) {
  (void)state;
  assert_int_equal(aloft_tds_close(tds, NULL), ALOFT_OK);
  harness_loop_shut(loop);
  if (kind == LITE)
    e2e_lite_stop(&lite);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(beyond_lite),
      cmocka_unit_test(rowversions),
      cmocka_unit_test(columns_told),
      cmocka_unit_test(procedures),
      cmocka_unit_test(outputs_of_a_statement),
      cmocka_unit_test(large_in_pieces),
      cmocka_unit_test(counts_in_order),
  };
  return cmocka_run_group_tests(tests, open_server, close_server);
}
