/* Endpoint files: what they may say, and what is said of those that are wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "endpoint.h"

#define PATH "queries/orders.sql"

static bool parse(alo_endpoint *endpoint, const char *text, size_t size, char *error) {
  return alo_endpoint_parse(endpoint, PATH, ALOFT_TEXT("orders"), (aloft_text){text, size}, error);
}

static void load(alo_endpoint *endpoint, const char *text) {
  char error[ALO_ENDPOINT_ERROR_MAX];
  if (!parse(endpoint, text, strlen(text), error))
    fail_msg("%s", error);
}

static void expect_text(aloft_text text, const char *expected) {
  assert_int_equal(text.size, strlen(expected));
  assert_memory_equal(text.data, expected, text.size);
}

static void a_file_without_settings(void **state) {
  alo_endpoint endpoint;
  (void)state;
  load(&endpoint, "SELECT 1 AS one");
  expect_text(endpoint.subject, "orders");
  assert_true(endpoint.timeout_ns == ALOFT_SECONDS(30));
  assert_int_equal(endpoint.parameter_count, 0);
  expect_text((aloft_text){endpoint.text, endpoint.size}, "SELECT 1 AS one");
  alo_endpoint_free(&endpoint);
}

static void a_file_with_all_settings(void **state) {
  alo_endpoint endpoint;
  (void)state;
  load(&endpoint,
       "\xef\xbb\xbf-- Orders of a customer\r\n\r\n--subject: shop.orders\r\n"
       "--   timeout: 1m30s\r\n-- param: id int\r\n-- param: @name nvarchar( 20 ) = N'O''Neill'\r\n"
       "-- param: at Decimal (10 , 2) = NULL\r\n--\r\n"
       "SELECT @id AS a, @NAME AS b, @at AS c -- subject: not a setting\r\n");
  expect_text(endpoint.subject, "shop.orders");
  assert_true(endpoint.timeout_ns == ALOFT_SECONDS(90));
  assert_int_equal(endpoint.parameter_count, 3);
  const alo_parameter *parameters = endpoint.parameters;
  expect_text(parameters[0].name, "id");
  assert_int_equal(parameters[0].type.type, ALOFT_TDS_INT);
  assert_false(parameters[0].optional);
  assert_int_equal(parameters[0].line, 5);
  expect_text(parameters[1].name, "name");
  assert_true(parameters[1].optional && !parameters[1].nullable);
  expect_text(parameters[1].fallback.value.text, "O'Neill");
  assert_true(parameters[2].optional && parameters[2].nullable && parameters[2].fallback.null);
  assert_int_equal(parameters[2].type.precision, 10);
  assert_int_equal(parameters[2].type.scale, 2);
  alo_endpoint_free(&endpoint);
}

static void defaults_have_their_types(void **state) {
  alo_endpoint endpoint;
  (void)state;
  load(&endpoint,
       "-- param: a bigint = -9223372036854775808\n-- param: b varbinary(4) = 0x00fF\n"
       "-- param: c date = '0001-01-02'\n-- param: d float = 1.5e3\n-- param: e bit = 1\n"
       "-- param: f nvarchar(1) = ''\n-- param: g decimal(5,2) = 1.5\n"
       "SELECT @a AS a, @b AS b, @c AS c, @d AS d, @e AS e, @f AS f, @g AS g");
  const alo_parameter *parameters = endpoint.parameters;
  assert_true(parameters[0].fallback.value.integer == INT64_MIN);
  assert_int_equal(parameters[1].fallback.value.bytes.size, 2);
  assert_memory_equal(parameters[1].fallback.value.bytes.data, "\x00\xff", 2);
  assert_int_equal(parameters[2].fallback.value.moment.days, 1);
  assert_true(parameters[3].fallback.value.real == 1500.0);
  assert_int_equal(parameters[4].fallback.value.integer, 1);
  assert_int_equal(parameters[5].fallback.value.text.size, 0);
  assert_int_equal(parameters[6].fallback.value.decimal.low, 150);
  alo_endpoint_free(&endpoint);
}

/* Variables that are none of the file's parameters, and pass. */
static void other_variables(void **state) {
  static const char *const texts[] = {
      "DECLARE @a int = 1, @b nvarchar(10) SELECT @a AS a, @b AS b, @@ROWCOUNT AS c",
      "DECLARE @t TABLE (a int, b int); SELECT a FROM @t",
      "DECLARE @a int = CASE WHEN 1 = 1 THEN 2 ELSE 3 END, @b int; SET @b = @a; SELECT @b AS b",
      "DECLARE @a int = (SELECT MAX(id) FROM t), @b int = 2\nSELECT @a AS a, @b AS b",
      "EXEC dbo.work @customer = 1, @since = '2024-01-01'",
      "SELECT '@a' AS a, \"@b\", [@c] -- @d\n/* @e /* @f */ @g */ FROM mail@host",
      "SELECT 'it''s @a' AS a, [a]]@b] AS b",
  };
  (void)state;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    alo_endpoint endpoint;
    load(&endpoint, texts[i]);
    alo_endpoint_free(&endpoint);
  }
}

typedef struct refusal {
  const char *text, *error;
} refusal;

static const refusal refusals[] = {
    {"", PATH ": holds no SQL"},
    {"-- subject: a\n-- nothing\n", PATH ": holds no SQL"},
    {"-- subjct: a\nSELECT 1", PATH ":1: unknown setting 'subjct'"},
    {"\n-- Note: this\nSELECT 1", PATH ":2: unknown setting 'Note'"},
    {"-- subject: a..b\nSELECT 1", PATH ":1: the subject 'a..b' is not one"},
    {"-- subject: a.\nSELECT 1", PATH ":1: the subject 'a.' is not one"},
    {"-- subject: .a\nSELECT 1", PATH ":1: the subject '.a' is not one"},
    {"-- subject: a.*\nSELECT 1", PATH ":1: the subject 'a.*' is not one"},
    {"-- subject: a.>\nSELECT 1", PATH ":1: the subject 'a.>' is not one"},
    {"-- subject: a b\nSELECT 1", PATH ":1: the subject 'a b' is not one"},
    {"-- subject:\nSELECT 1", PATH ":1: the subject '' is not one"},
    {"-- subject: a\n-- subject: b\nSELECT 1", PATH ":2: a second subject"},
    {"-- timeout: 2\nSELECT 1", PATH ":1: the timeout is not a duration"},
    {"-- timeout: 0s\nSELECT 1", PATH ":1: the timeout is not a duration"},
    {"-- timeout: -1s\nSELECT 1", PATH ":1: the timeout is not a duration"},
    {"-- timeout: 25h\nSELECT 1", PATH ":1: the timeout is not a duration"},
    {"-- timeout: 1s\n-- timeout: 1s\nSELECT 1", PATH ":2: a second timeout"},
    {"-- param:\nSELECT 1", PATH ":1: a parameter begins with its name"},
    {"-- param: 1a int\nSELECT 1", PATH ":1: a parameter begins with its name"},
    {"-- param: id\nSELECT @id", PATH ":1: the type '' of id is not one of bit,"},
    {"-- param: id integer\nSELECT @id", PATH ":1: the type 'integer' of id is not one of bit,"},
    {"-- param: id int(4)\nSELECT @id", PATH ":1: the type 'int(4)' of id has more after the type"},
    {"-- param: id int null\nSELECT @id", PATH ":1: the type 'int null' of id has more after"},
    {"-- param: s nvarchar\nSELECT @s", PATH ":1: the type 'nvarchar' of s needs a length"},
    {"-- param: s nvarchar(0)\nSELECT @s", "of s wants a length of 1 to 4000, or max"},
    {"-- param: s nvarchar(4001)\nSELECT @s", "of s wants a length of 1 to 4000, or max"},
    {"-- param: s varchar(8001)\nSELECT @s", "of s wants a length of 1 to 8000, or max"},
    {"-- param: s varchar(10\nSELECT @s", "of s wants one length in parentheses"},
    {"-- param: d decimal(39)\nSELECT @d", "of d wants a precision of 1 to 38"},
    {"-- param: d decimal(5,6)\nSELECT @d", "of d wants a precision of 1 to 38, and a scale up to"},
    {"-- param: d decimal(5,2,1)\nSELECT @d", "of d wants precision and scale"},
    {"-- param: t time(8)\nSELECT @t", "of t wants 0 to 7 digits of the second"},
    {"-- param: id int = x\nSELECT @id", PATH ":1: the default of id is not a number"},
    {"-- param: id int =\nSELECT @id", PATH ":1: the default of id is not a number"},
    {"-- param: id tinyint = 256\nSELECT @id", PATH ":1: the default of id is out of range"},
    {"-- param: s nvarchar(3) = 'long'\nSELECT @s", PATH ":1: the default of s is longer"},
    {"-- param: s nvarchar(3) = 'a\nSELECT @s", PATH ":1: the default has no closing quote"},
    {"-- param: s nvarchar(3) = 'a' b\nSELECT @s", PATH ":1: the default has no closing quote"},
    {"-- param: s nvarchar(3) = '\nSELECT @s", PATH ":1: the default has no closing quote"},
    {"-- param: s nvarchar(3) = 5\nSELECT @s", PATH ":1: the default of s is not a string"},
    {"-- param: d date = '2023-02-29'\nSELECT @d", PATH ":1: the default of d is not a date"},
    {"-- param: id int\n-- param: ID int\nSELECT @id",
     PATH ":2: the parameter ID is declared twice"},
    {"-- param: id int\nSELECT 1", PATH ":1: the parameter id is not used in the SQL"},
    {"-- param: id int\nSELECT '@id' -- @id", PATH ":1: the parameter id is not used in the SQL"},
    {"SELECT 1,\n @id", PATH ":2: @id is not declared"},
    {"DECLARE @a int = @b SELECT @a", PATH ":1: @b is not declared"},
    {"EXEC p @a = @b", PATH ":1: @b is not declared"},
    {"-- param: id int\nDECLARE @Id int", PATH ":2: @Id is declared here and as a parameter"},
    {"SELECT 1\nGO\nSELECT 2", PATH ":2: GO belongs to tools"},
    {"SELECT 1\n  go 5 \n", PATH ":2: GO belongs to tools"},
    {"SELECT 'a\nb", PATH ":1: what is quoted from here on"},
    {"SELECT 1\nFROM [a", PATH ":2: what is quoted from here on"},
    {"SELECT 1 /* /* */\n", PATH ":1: the comment that begins here has no end"},
    {"SELECT 1\n\xff", PATH ":2: this is not UTF-8 text"},
    {"S\0E\0", PATH ":1: this is not UTF-8 text"},
};

static void wrong_files_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    alo_endpoint endpoint;
    char error[ALO_ENDPOINT_ERROR_MAX];
    size_t size = strlen(refusals[i].text);
    if (refusals[i].text[0] == 'S' && size == 1)
      size = 4; /* UTF-16 */
    bool good = parse(&endpoint, refusals[i].text, size, error);
    if (good || strstr(error, refusals[i].error) == NULL)
      fail_msg("%s\ngave '%s', not '%s'", refusals[i].text, good ? "no error" : error,
               refusals[i].error);
    alo_endpoint_free(&endpoint);
  }
}

static void a_name_that_is_no_subject(void **state) {
  alo_endpoint endpoint;
  char error[ALO_ENDPOINT_ERROR_MAX];
  (void)state;
  assert_false(alo_endpoint_parse(&endpoint, "q/a b.sql", ALOFT_TEXT("a b"),
                                  ALOFT_TEXT("SELECT 1 AS a"), error));
  assert_string_equal(error, "q/a b.sql: the file's name is not a subject: add '-- subject: NAME' "
                             "at the top");
  alo_endpoint_free(&endpoint);
  assert_true(alo_endpoint_parse(&endpoint, "q/a b.sql", ALOFT_TEXT("a b"),
                                 ALOFT_TEXT("-- subject: ab\nSELECT 1 AS a"), error));
  alo_endpoint_free(&endpoint);
}

static void limits_are_kept(void **state) {
  alo_endpoint endpoint;
  char error[ALO_ENDPOINT_ERROR_MAX];
  size_t room = ALO_ENDPOINT_FILE_MAX + 2;
  char *text = malloc(room);
  (void)state;
  assert_non_null(text);
  memset(text, ' ', room);
  memcpy(text, "SELECT 1", 8);
  assert_true(parse(&endpoint, text, ALO_ENDPOINT_FILE_MAX, error));
  alo_endpoint_free(&endpoint);
  assert_false(parse(&endpoint, text, ALO_ENDPOINT_FILE_MAX + 1, error));
  assert_string_equal(error, PATH ": more than 262144 bytes");
  alo_endpoint_free(&endpoint);
  size_t size = 0;
  for (int i = 0; i <= ALO_ENDPOINT_PARAMETERS_MAX; i++)
    size += (size_t)snprintf(text + size, room - size, "-- param: p%d int\n", i);
  assert_false(parse(&endpoint, text, size, error));
  assert_string_equal(error, PATH ":101: more than 100 parameters");
  alo_endpoint_free(&endpoint);
  size = 0;
  for (int i = 0; i <= ALO_ENDPOINT_VARIABLES_MAX; i++)
    size += (size_t)snprintf(text + size, room - size, "DECLARE @v%d int\n", i);
  assert_false(parse(&endpoint, text, size, error));
  assert_string_equal(error, PATH ":257: more than 256 variables are declared");
  alo_endpoint_free(&endpoint);
  free(text);
}

static void files_that_cannot_be_read(void **state) {
  alo_endpoint endpoint;
  char error[ALO_ENDPOINT_ERROR_MAX];
  (void)state;
  assert_false(alo_endpoint_load(&endpoint, "/nonexistent/a.sql", ALOFT_TEXT("a"), error));
  assert_non_null(strstr(error, "/nonexistent/a.sql: cannot be read: "));
  alo_endpoint_free(&endpoint);
  assert_false(alo_endpoint_load(&endpoint, "/", ALOFT_TEXT("a"), error));
  assert_non_null(strstr(error, "/: cannot be read: "));
  alo_endpoint_free(&endpoint);
  assert_false(alo_endpoint_load(&endpoint, "/dev/zero", ALOFT_TEXT("a"), error));
  assert_non_null(strstr(error, "/dev/zero: cannot be read: "));
  alo_endpoint_free(&endpoint);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_file_without_settings),   cmocka_unit_test(a_file_with_all_settings),
      cmocka_unit_test(defaults_have_their_types), cmocka_unit_test(other_variables),
      cmocka_unit_test(wrong_files_are_refused),   cmocka_unit_test(a_name_that_is_no_subject),
      cmocka_unit_test(limits_are_kept),           cmocka_unit_test(files_that_cannot_be_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
