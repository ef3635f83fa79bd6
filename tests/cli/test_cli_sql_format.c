#include "sql_format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "sql_settings.h"

static const aloft_tds_column id = {
    .name = {"id", 2}, .type = ALOFT_TDS_INT, .type_name = "int", .size = 4};
static const aloft_tds_column name = {.name = {"name", 4},
                                      .type = ALOFT_TDS_NVARCHAR,
                                      .type_name = "nvarchar",
                                      .size = 12,
                                      .nullable = true};
static const aloft_tds_column flag = {
    .name = {"a long name", 11}, .type = ALOFT_TDS_BIT, .nullable = true};
static const aloft_tds_column big = {.name = {"n", 1}, .type = ALOFT_TDS_BIGINT};
static const aloft_tds_column real = {.name = {"n", 1}, .type = ALOFT_TDS_REAL};
static const aloft_tds_column money = {
    .name = {"", 0}, .type = ALOFT_TDS_DECIMAL, .precision = 5, .scale = 2};
static const aloft_tds_column blob = {.name = {"b", 1}, .type = ALOFT_TDS_VARBINARY, .max = true};

typedef struct printing {
  alo_output output;
  alo_sql_printer printer;
  char *text;
  size_t size;
} printing;

static void start(printing *run, const char *format, const alo_sql_style *style) {
  memset(run, 0, sizeof *run);
  run->output.file = open_memstream(&run->text, &run->size);
  run->printer = (alo_sql_printer){
      .format = alo_sql_format_find(format), .style = style, .output = &run->output};
  assert_non_null(run->printer.format);
}

static void print_set(printing *run, const aloft_tds_column *const *columns, size_t count,
                      const char *const *cells, size_t rows) {
  aloft_text values[8];
  assert_true(alo_sql_printer_begin(&run->printer, columns, count));
  for (size_t r = 0; r < rows; r++) {
    for (size_t c = 0; c < count; c++)
      values[c] = aloft_text_of(cells[r * count + c]);
    alo_sql_printer_row(&run->printer, values);
  }
  alo_sql_printer_end(&run->printer);
}

static void expect(printing *run, const char *text) {
  fclose(run->output.file);
  assert_string_equal(run->text, text);
  alo_sql_printer_free(&run->printer);
  free(run->text);
}

static const aloft_tds_column *const people[] = {&id, &name, &flag};
static const char *const people_cells[] = {"1", "\xc3\xa4\xe2\x82\xac", "1", "-20", NULL, NULL};

static void a_table(void **state) {
  static const alo_sql_style plain = {.separator = " "};
  static const alo_sql_style narrow = {.separator = "|", .trim = true};
  static const alo_sql_style bare = {.separator = ",", .trim = true, .headers = -1};
  printing run;
  (void)state;
  start(&run, "table", &plain);
  print_set(&run, people, 3, people_cells, 2);
  expect(&run, "id          name   a long name\n"
               "----------- ------ -----------\n"
               "          1 \xc3\xa4\xe2\x82\xac               1\n"
               "        -20 NULL          NULL\n\n");
  start(&run, "table", &narrow);
  print_set(&run, people, 3, people_cells, 2);
  expect(&run,
         "id|name|a long name\n--|----|-----------\n1|\xc3\xa4\xe2\x82\xac|1\n-20|NULL|NULL\n\n");
  start(&run, "table", &bare);
  print_set(&run, people, 3, people_cells, 1);
  expect(&run, "1,\xc3\xa4\xe2\x82\xac,1\n\n");
}

static void a_table_repeats_headers_and_breaks_lines(void **state) {
  static const alo_sql_style repeated = {.separator = " ", .headers = 1, .trim = true};
  static const alo_sql_style broken = {.separator = " ", .width = 10, .headers = -1};
  static const aloft_tds_column *const one[] = {&id};
  static const char *const cells[] = {"1", "2"};
  static const char *const wide[] = {"7", "abcdef", "0"};
  printing run;
  (void)state;
  start(&run, "table", &repeated);
  print_set(&run, one, 1, cells, 2);
  expect(&run, "id\n--\n1\n\nid\n--\n2\n\n");
  start(&run, "table", &broken);
  print_set(&run, people, 3, wide, 1);
  expect(&run, "          \n7 abcdef  \n         0\n\n");
}

static void a_value_longer_than_its_column_is_whole(void **state) {
  static const alo_sql_style plain = {.separator = " ", .headers = -1};
  static const aloft_tds_column *const columns[] = {&money, &id};
  static const char *const cells[] = {"-1234567.89", "1"};
  printing run;
  (void)state;
  start(&run, "table", &plain);
  print_set(&run, columns, 2, cells, 1);
  expect(&run, "-1234567.89           1\n\n");
}

static void a_narrow_column_has_room_for_null(void **state) {
  static const alo_sql_style plain = {.separator = " "};
  static const aloft_tds_column bit = {.name = {"b", 1}, .type = ALOFT_TDS_BIT, .nullable = true};
  static const aloft_tds_column *const columns[] = {&bit, &bit};
  static const char *const cells[] = {"0", NULL};
  printing run;
  (void)state;
  start(&run, "table", &plain);
  print_set(&run, columns, 2, cells, 1);
  expect(&run, "b    b   \n---- ----\n   0 NULL\n\n");
}

static void csv(void **state) {
  static const alo_sql_style plain = {.separator = " "};
  static const aloft_tds_column *const columns[] = {&name, &name};
  static const char *const cells[] = {"a,b", "say \"hi\"", "", NULL, "two\r\nlines", " x "};
  printing run;
  (void)state;
  start(&run, "csv", &plain);
  print_set(&run, columns, 2, cells, 3);
  print_set(&run, columns, 2, NULL, 0);
  expect(&run, "name,name\r\n\"a,b\",\"say \"\"hi\"\"\"\r\n\"\",\r\n\"two\r\nlines\", x \r\n"
               "\r\nname,name\r\n");
}

/* No row is an empty line, for that parts result sets. */
static void csv_of_one_column(void **state) {
  static const alo_sql_style plain = {.separator = " "};
  static const aloft_tds_column *const columns[] = {&name};
  static const char *const cells[] = {NULL, "", "NULL", "null"};
  printing run;
  (void)state;
  start(&run, "csv", &plain);
  print_set(&run, columns, 1, cells, 4);
  print_set(&run, columns, 1, NULL, 0);
  expect(&run, "name\r\nNULL\r\n\"\"\r\n\"NULL\"\r\nnull\r\n\r\nname\r\n");
}

static void json(void **state) {
  static const alo_sql_style plain = {.separator = " "};
  static const aloft_tds_column *const columns[] = {&id, &big, &real, &money, &flag, &blob, &name};
  static const char *const cells[] = {
      "1",  "9007199254740992", "1E+20", "1.50", "1", "0x00", "a\"\\\n\xc3\xa4\x01",
      "-2", "9007199254740993", "0.1",   NULL,   "0", NULL,   ""};
  printing run;
  (void)state;
  start(&run, "json", &plain);
  print_set(&run, columns, 7, cells, 2);
  print_set(&run, columns, 7, NULL, 0);
  expect(&run, "[{\"id\":1,\"n\":9007199254740992,\"n\":1E+20,\"\":\"1.50\",\"a long name\":true,"
               "\"b\":\"0x00\",\"name\":\"a\\\"\\\\\\n\xc3\xa4\\u0001\"},\n"
               "{\"id\":-2,\"n\":\"9007199254740993\",\"n\":0.1,\"\":null,\"a long name\":false,"
               "\"b\":null,\"name\":\"\"}]\n[]\n");
}

static void ndjson(void **state) {
  static const alo_sql_style plain = {.separator = " "};
  static const aloft_tds_column *const columns[] = {&id};
  static const char *const cells[] = {"1", "2"};
  printing run;
  (void)state;
  start(&run, "ndjson", &plain);
  print_set(&run, columns, 1, cells, 2);
  print_set(&run, columns, 1, cells, 1);
  expect(&run, "{\"id\":1}\n{\"id\":2}\n{\"id\":1}\n");
}

/* Every alignment of a character to the pieces that long text is escaped in. */
static void long_json_text_is_whole(void **state) {
  static const alo_sql_style plain = {.separator = " "};
  static const aloft_tds_column *const columns[] = {&name};
  (void)state;
  for (size_t shift = 0; shift < 4; shift++) {
    size_t size = 10000;
    char *value = malloc(size + 8), *wanted = malloc(size + 64);
    assert_true(value != NULL && wanted != NULL);
    memset(value, 'x', shift);
    size_t at = shift;
    for (; at + 4 < size; at += 4)
      memcpy(value + at, "\xf0\x9f\x98\x80", 4);
    value[at] = '\0';
    snprintf(wanted, size + 64, "[{\"name\":\"%s\"}]\n", value);
    const char *cells[] = {value};
    printing run;
    start(&run, "json", &plain);
    print_set(&run, columns, 1, cells, 1);
    expect(&run, wanted);
    free(value);
    free(wanted);
  }
}

static void connection_strings(void **state) {
  char text[ALO_SQL_CONNECTION_STRING_MAX];
  alo_sql_settings settings;
  (void)state;
  alo_sql_option_group(&settings);
  settings.server = "tcp:h,1434";
  settings.database = "a;\"b\"";
  settings.encrypt = "o";
  settings.trust_certificate = true;
  settings.packet_size = 4096;
  assert_true(alo_sql_connection_string(&settings, text));
  assert_string_equal(text, "Server=tcp:h,1434;Database=\"a;\"\"b\"\"\";Encrypt=Optional;"
                            "TrustServerCertificate=True;Packet Size=4096;"
                            "Application Name=aloft;");
  char *long_name = malloc(5000);
  assert_non_null(long_name);
  memset(long_name, 'x', 4999);
  long_name[4999] = '\0';
  settings.database = long_name;
  assert_false(alo_sql_connection_string(&settings, text));
  free(long_name);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_table),
      cmocka_unit_test(a_table_repeats_headers_and_breaks_lines),
      cmocka_unit_test(a_value_longer_than_its_column_is_whole),
      cmocka_unit_test(a_narrow_column_has_room_for_null),
      cmocka_unit_test(csv),
      cmocka_unit_test(csv_of_one_column),
      cmocka_unit_test(json),
      cmocka_unit_test(ndjson),
      cmocka_unit_test(long_json_text_is_whole),
      cmocka_unit_test(connection_strings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
