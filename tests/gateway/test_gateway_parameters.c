/* JSON into parameters: exact, or refused. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "parameters.h"

/* ---- one value of each kind ---- */

typedef struct value_case {
  const char *type, *json, *value; /* as `describe` shows it, or what the error says */
} value_case;

static const value_case cases[] = {
    {"bit", "true", "1"},
    {"bit", "false", "0"},
    {"bit", "1", "1"},
    {"bit", "0.0", "0"},
    {"bit", "2", "!is not true, false, 1 or 0"},
    {"bit", "\"true\"", "!is not true, false, 1 or 0"},
    {"tinyint", "0", "0"},
    {"tinyint", "255", "255"},
    {"tinyint", "256", "!is out of range"},
    {"tinyint", "-1", "!is out of range"},
    {"smallint", "-32768", "-32768"},
    {"smallint", "32767", "32767"},
    {"smallint", "32768", "!is out of range"},
    {"smallint", "-32769", "!is out of range"},
    {"int", "2147483647", "2147483647"},
    {"int", "-2147483648", "-2147483648"},
    {"int", "2147483648", "!is out of range"},
    {"int", "-2147483649", "!is out of range"},
    {"int", "-0", "0"},
    {"int", "1.0", "1"},
    {"int", "15e1", "150"},
    {"int", "1500e-2", "15"},
    {"int", "1.5", "!is not a whole number"},
    {"int", "1e-1", "!is not a whole number"},
    {"int", "1e99999999999999999999", "!is out of range"},
    {"int", "0e99999999999999999999", "0"},
    {"int", "\"1\"", "!is not a whole number"},
    {"int", "true", "!is not a whole number"},
    {"int", "null", "!must not be null"},
    {"int", "[1]", "!is an array or an object"},
    {"int", "{}", "!is an array or an object"},
    {"bigint", "9223372036854775807", "9223372036854775807"},
    {"bigint", "-9223372036854775808", "-9223372036854775808"},
    {"bigint", "9223372036854775808", "!is out of range"},
    {"bigint", "-9223372036854775809", "!is out of range"},
    {"bigint", "\"9223372036854775807\"", "9223372036854775807"},
    {"bigint", "\"\"", "!is not a number"},
    {"bigint", "\"12x\"", "!is not a number"},
    {"bigint", "18446744073709551617", "!is out of range"},
    {"decimal(10,2)",
     "1111111111111111111111111111111111111111111111111111111111111111111111111111111111",
     "!is out of range"},
    {"decimal(5,2)", "999.99", "99999/2"},
    {"decimal(5,2)", "-0.01", "-1/2"},
    {"decimal(5,2)", "1.5", "150/2"},
    {"decimal(5,2)", "1.500", "150/2"},
    {"decimal(5,2)", "1000", "!is out of range"},
    {"decimal(5,2)", "1.001", "!has more digits after the point"},
    {"decimal(5,2)", "\"12.34\"", "1234/2"},
    {"decimal(5,2)", "\"+12.34\"", "1234/2"},
    {"decimal(5,2)", "\"1.2.3\"", "!is not a number"},
    {"decimal(5,2)", "\".\"", "!is not a number"},
    {"decimal(5,2)", "\"1e\"", "!is not a number"},
    {"decimal(5,2)", "true", "!is not a number"},
    {"decimal(5,2)", "-0.00", "0/2"},
    {"decimal(5,2)", "1e2", "10000/2"},
    {"decimal(2,2)", "0.99", "99/2"},
    {"decimal(2,2)", "1", "!is out of range"},
    {"decimal(38,0)", "99999999999999999999999999999999999999",
     "5421010862427522170:687399551400673279/0"},
    {"decimal(38,0)", "100000000000000000000000000000000000000", "!is out of range"},
    {"decimal(38,38)", "0.00000000000000000000000000000000000001", "1/38"},
    {"decimal(20,2)", "0.1e1", "100/2"},
    {"numeric(18)", "123", "123/0"},
    {"float", "1e308", "1e+308"},
    {"float", "1e309", "!is out of range"},
    {"float", "1e-400", "0"},
    {"float", "\"1\"", "!is not a number"},
    {"real", "3.4e38", "3.4e+38"},
    {"real", "3.5e38", "!is out of range"},
    {"real", "-3.5e38", "!is out of range"},
    {"nvarchar(3)", "\"abc\"", "'abc'"},
    {"nvarchar(3)", "\"abcd\"", "!is longer than its type"},
    {"nvarchar(3)", "\"\"", "''"},
    {"nvarchar(3)", "\"\xc3\xa9\xc3\xa9\xc3\xa9\"", "'\xc3\xa9\xc3\xa9\xc3\xa9'"},
    {"nvarchar(2)", "\"\\ud83d\\ude00\"", "'\xf0\x9f\x98\x80'"},
    {"nvarchar(1)", "\"\\ud83d\\ude00\"", "!is longer than its type"},
    {"nvarchar(9)", "\"\\ud83d\"", "!is not well-formed Unicode"},
    {"nvarchar(9)", "\"a\\\"b\\n\"", "'a\"b\n'"},
    {"nvarchar(9)", "5", "!is not a string"},
    {"nvarchar(max)", "\"abcdefghijkl\"", "'abcdefghijkl'"},
    {"varchar(2)", "\"ab\"", "'ab'"},
    {"varbinary(2)", "\"0xaB01\"", "xab01"},
    {"varbinary(2)", "\"0x\"", "x"},
    {"varbinary(2)", "\"0xab0102\"", "!is longer than its type"},
    {"varbinary(2)", "\"0xab0\"", "!is not a string of 0x and pairs"},
    {"varbinary(2)", "\"ab01\"", "!is not a string of 0x and pairs"},
    {"varbinary(2)", "\"0xzz\"", "!is not a string of 0x and pairs"},
    {"varbinary(2)", "\"\\u0030x41\"", "x41"},
    {"varbinary(2)", "12", "!is not a string of 0x and pairs"},
    {"date", "\"0001-01-01\"", "0d 0 +0"},
    {"date", "\"9999-12-31\"", "3652058d 0 +0"},
    {"date", "\"2024-02-29\"", "738944d 0 +0"},
    {"date", "\"2023-02-29\"", "!is not a date"},
    {"date", "\"1900-02-29\"", "!is not a date"},
    {"date", "\"2000-02-29\"", "730178d 0 +0"},
    {"date", "\"2024-00-01\"", "!is not a date"},
    {"date", "\"2024-13-01\"", "!is not a date"},
    {"date", "\"2024-1-1\"", "!is not a date"},
    {"date", "\"0000-01-01\"", "!is not a date"},
    {"date", "\"2024-01-01 \"", "!goes on after its end"},
    {"date", "20240101", "!is not a string"},
    {"time", "\"23:59:59.9999999\"", "0d 863999999999 +0"},
    {"time", "\"13:45\"", "0d 495000000000 +0"},
    {"time(3)", "\"00:00:00.123\"", "0d 1230000 +0"},
    {"time(3)", "\"00:00:00.1230000\"", "0d 1230000 +0"},
    {"time(3)", "\"00:00:00.1234\"", "!has more digits of the second"},
    {"time(0)", "\"00:00:01.0\"", "0d 10000000 +0"},
    {"time", "\"24:00:00\"", "!is not a time"},
    {"time", "\"23:60:00\"", "!is not a time"},
    {"time", "\"23:00:60\"", "!is not a time"},
    {"time", "\"23:00:\"", "!is not a time"},
    {"time", "\"23:00:00.\"", "!has no digit after the point"},
    {"time", "\"23:00:00.00000001\"", "!has more digits of the second"},
    {"datetime2", "\"2024-02-29T12:00:00\"", "738944d 432000000000 +0"},
    {"datetime2", "\"2024-02-29 12:00:00.5\"", "738944d 432005000000 +0"},
    {"datetime2", "\"2024-02-29\"", "!has no time"},
    {"datetime2", "\"2024-02-29T12:00:00Z\"", "!goes on after its end"},
    {"datetimeoffset", "\"2024-02-29T12:00:00Z\"", "738944d 432000000000 +0"},
    {"datetimeoffset", "\"2024-02-29 00:30:00 +01:00\"", "738943d 846000000000 +60"},
    {"datetimeoffset", "\"2024-02-29 23:30:00-14:00\"", "738945d 486000000000 -840"},
    {"datetimeoffset", "\"2024-02-29 23:30:00+14:01\"", "!has no offset"},
    {"datetimeoffset", "\"2024-02-29 23:30:00\"", "!has no offset"},
    {"datetimeoffset", "\"0001-01-01T00:00:00+00:01\"", "!is out of range in UTC"},
    {"datetimeoffset", "\"9999-12-31T23:59:00-00:01\"", "!is out of range in UTC"},
    {"uniqueidentifier", "\"0E984725-C51C-4BF4-9960-e1c80e27aba0\"",
     "u0e984725c51c4bf49960e1c80e27aba0"},
    {"uniqueidentifier", "\"0E984725C51C4BF49960e1c80e27aba0\"", "!is not a string of 32"},
    {"uniqueidentifier", "\"0E984725-C51C-4BF4-9960-e1c80e27abag\"", "!is not a string of 32"},
    {"uniqueidentifier", "\"{E984725-C51C-4BF4-9960-e1c80e27aba0}\"", "!is not a string of 32"},
};

static void describe_hex(const void *data, size_t size, char *out) {
  for (size_t i = 0; i < size; i++)
    sprintf(out + 2 * i, "%02x", ((const unsigned char *)data)[i]);
}

static void describe(const aloft_tds_param *param, char out[200]) {
  const aloft_tds_decimal *decimal = &param->value.decimal;
  const aloft_tds_moment *moment = &param->value.moment;
  char high[24] = "";
  switch (param->type) {
  case ALOFT_TDS_DECIMAL:
  case ALOFT_TDS_NUMERIC:
    if (decimal->high != 0)
      sprintf(high, "%" PRIu64 ":", decimal->high);
    sprintf(out, "%s%s%" PRIu64 "/%d", decimal->negative ? "-" : "", high, decimal->low,
            decimal->scale);
    return;
  case ALOFT_TDS_REAL:
  case ALOFT_TDS_FLOAT:
    sprintf(out, "%g", param->value.real);
    return;
  case ALOFT_TDS_NVARCHAR:
  case ALOFT_TDS_VARCHAR:
    sprintf(out, "'%.*s'", ALOFT_PRINT(param->value.text));
    return;
  case ALOFT_TDS_VARBINARY:
    sprintf(out, "x");
    describe_hex(param->value.bytes.data, param->value.bytes.size, out + 1);
    return;
  case ALOFT_TDS_UNIQUEIDENTIFIER:
    sprintf(out, "u");
    describe_hex(param->value.uuid.bytes, 16, out + 1);
    return;
  case ALOFT_TDS_DATE:
  case ALOFT_TDS_TIME:
  case ALOFT_TDS_DATETIME2:
  case ALOFT_TDS_DATETIMEOFFSET:
    sprintf(out, "%" PRId32 "d %" PRIu64 " %+d", moment->days, moment->ticks,
            moment->offset_minutes);
    return;
  default:
    sprintf(out, "%" PRId64, param->value.integer);
  }
}

static void endpoint_of(alo_endpoint *endpoint, const char *sql) {
  char error[ALO_ENDPOINT_ERROR_MAX];
  if (!alo_endpoint_parse(endpoint, "t.sql", ALOFT_TEXT("t"), aloft_text_of(sql), error))
    fail_msg("%s", error);
}

/* Reads a body that ends at the end of its memory; the result as `describe` has it, or "!error". */
static void read_body(const alo_endpoint *endpoint, const char *body, char out[200]) {
  alo_parameter_texts texts = {0};
  aloft_tds_param params[8];
  char error[ALO_PARAMETERS_ERROR_MAX];
  size_t size = strlen(body);
  char *copy = malloc(size > 0 ? size : 1);
  assert_non_null(copy);
  memcpy(copy, body, size);
  bool good = alo_parameters_read(endpoint, (aloft_text){copy, size}, &texts, params, error);
  free(copy); /* what is kept must not need the message */
  out[0] = '\0';
  if (!good)
    snprintf(out, 200, "!%.190s", error);
  else if (endpoint->parameter_count > 0)
    describe(&params[0], out);
  alo_parameter_texts_free(&texts);
}

static void values_are_exact_or_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char sql[200], body[200], seen[200];
    alo_endpoint endpoint;
    snprintf(sql, sizeof sql, "-- param: p %s\nSELECT @p AS p", cases[i].type);
    snprintf(body, sizeof body, "{\"p\": %s}", cases[i].json);
    endpoint_of(&endpoint, sql);
    read_body(&endpoint, body, seen);
    bool refused = cases[i].value[0] == '!';
    if (refused ? seen[0] != '!' || strstr(seen, cases[i].value + 1) == NULL
                : strcmp(seen, cases[i].value) != 0)
      fail_msg("%s from %s gave %s, not %s", cases[i].type, cases[i].json, seen, cases[i].value);
    alo_endpoint_free(&endpoint);
  }
}

/* ---- bodies ---- */

typedef struct body_case {
  const char *body, *value;
} body_case;

static const body_case bodies[] = {
    {"{\"a\":1,\"b\":\"x\"}", "1"},
    {" { \"b\" : \"x\" , \"\\u0061\" : 7 } \n", "7"},
    {"{\"a\":1}", "1"},
    {"{\"a\":1,\"b\":null}", "1"},
    {"", "!the parameter 'a' is missing: int"},
    {"{}", "!the parameter 'a' is missing: int"},
    {"{\"a\":null}", "!the parameter 'a' must not be null"},
    {"{\"A\":1}", "!unknown parameter 'A'"},
    {"{\"@a\":1}", "!unknown parameter '@a'"},
    {"{\"a\":1,\"c\":2}", "!unknown parameter 'c'"},
    {"{\"a\":1,\"a\":1}", "!the parameter 'a' is given twice"},
    {"[]", "!the request is not a JSON object"},
    {"5", "!the request is not a JSON object"},
    {"null", "!the request is not a JSON object"},
    {" ", "!the request is not a JSON object: "},
    {"{", "!the request is not a JSON object: "},
    {"{\"a\"", "!the request is not a JSON object: "},
    {"{\"a\":", "!the request is not a JSON object: "},
    {"{\"a\":1", "!the request is not a JSON object: "},
    {"{\"a\":1,}", "!the request is not a JSON object: "},
    {"{\"a\":01}", "!the request is not a JSON object: "},
    {"{\"a\":1}x", "!the request is not a JSON object: "},
    {"{\"a\":1}{}", "!the request is not a JSON object: "},
    {"{\"a\":\xff}", "!the request is not a JSON object: "},
    {"{\"a\":\"\xc0\x80\"}", "!the request is not a JSON object: "},
    {"{a:1}", "!the request is not a JSON object: "},
    {"{\"a\":'1'}", "!the request is not a JSON object: "},
    {"\xef\xbb\xbf{\"a\":1}", "!the request is not a JSON object: "},
    {"{\"a\":[[[[[[[[1]]]]]]]]}", "!the parameter 'a' is an array or an object"},
};

static void bodies_are_objects(void **state) {
  alo_endpoint endpoint;
  char seen[200];
  (void)state;
  endpoint_of(&endpoint,
              "-- param: a int\n-- param: b nvarchar(5) = NULL\nSELECT @a AS a, @b AS b");
  for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
    read_body(&endpoint, bodies[i].body, seen);
    size_t size = strlen(bodies[i].value);
    if (strncmp(seen, bodies[i].value, size) != 0 || (seen[0] != '!' && seen[size] != '\0'))
      fail_msg("%s gave %s, not %s", bodies[i].body, seen, bodies[i].value);
  }
  alo_endpoint_free(&endpoint);
}

/* Every body cut short is refused or, where nothing is left, is an empty object. */
static void cut_bodies_are_refused(void **state) {
  static const char body[] = "{\"a\": -1.50e2, \"b\": \"x\\u00e9\\ud83d\\ude00\xc3\xa9\"}";
  alo_endpoint endpoint;
  char cut[sizeof body], seen[200];
  (void)state;
  endpoint_of(&endpoint, "-- param: a int\n-- param: b nvarchar(5)\nSELECT @a AS a, @b AS b");
  read_body(&endpoint, body, seen);
  assert_string_equal(seen, "-150");
  for (size_t size = 0; size + 1 < sizeof body; size++) {
    memcpy(cut, body, size);
    cut[size] = '\0';
    read_body(&endpoint, cut, seen);
    assert_int_equal(seen[0], '!');
  }
  alo_endpoint_free(&endpoint);
}

static void a_long_name_is_shown_in_part(void **state) {
  alo_endpoint endpoint;
  char body[5000], seen[200];
  (void)state;
  endpoint_of(&endpoint, "SELECT 1 AS a");
  memset(body, 'n', sizeof body);
  memcpy(body, "{\"", 2);
  memcpy(body + sizeof body - 6, "\":1}\0", 6);
  read_body(&endpoint, body, seen);
  assert_int_equal(strlen(seen), strlen("!unknown parameter ''") + 80);
  alo_endpoint_free(&endpoint);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_exact_or_refused),
      cmocka_unit_test(bodies_are_objects),
      cmocka_unit_test(cut_bodies_are_refused),
      cmocka_unit_test(a_long_name_is_shown_in_part),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
