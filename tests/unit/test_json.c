#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <aloft/json.h>

#include "guard.h"

/* ---- reading ---- */

/* The last token of a text: ALOFT_JSON_END or ALOFT_JSON_ERROR. The text ends at a guard page. */
static aloft_json_kind read_all(const char *text, size_t size, aloft_json *json) {
  guard_buffer source = guard_copy(text, size);
  aloft_json_init(json, (aloft_text){source.data, size});
  size_t offset = 0;
  for (size_t tokens = 0; tokens <= size + 1; tokens++) {
    aloft_json_kind kind = aloft_json_next(json);
    assert_int_equal(kind, json->kind);
    assert_true(json->offset >= offset && json->offset <= size);
    assert_true(json->depth <= ALOFT_JSON_DEPTH_MAX);
    offset = json->offset;
    if (kind == ALOFT_JSON_ERROR || kind == ALOFT_JSON_END) {
      assert_int_equal(aloft_json_next(json), kind);
      assert_int_equal(json->offset, offset);
      guard_give(&source);
      return kind;
    }
  }
  fail_msg("\"%s\": more tokens than bytes", text);
  return ALOFT_JSON_ERROR;
}

static void expect_valid(const char *text) {
  aloft_json json;
  if (read_all(text, strlen(text), &json) != ALOFT_JSON_END)
    fail_msg("%s: %s at %zu", text, json.reason, json.offset);
  assert_int_equal(json.depth, 0);
  assert_null(json.reason);
}

static void expect_error_at(const char *text, size_t size, size_t offset) {
  aloft_json json;
  if (read_all(text, size, &json) != ALOFT_JSON_ERROR)
    fail_msg("%s: taken for JSON", text);
  if (json.offset != offset)
    fail_msg("%s: \"%s\" at %zu, not at %zu", text, json.reason, json.offset, offset);
  assert_non_null(json.reason);
  assert_null(json.raw.data);
  assert_int_equal(aloft_json_skip(&json), ALOFT_PROTOCOL);
}

static void valid_texts(void **state) {
  (void)state;
  const char *texts[] = {
      "null",
      "true",
      "false",
      "0",
      "-0",
      "-0.0",
      "10",
      "1.5",
      "1e5",
      "1E+5",
      "0e-0",
      "123.456e789",
      "\"\"",
      "\"a\"",
      "[]",
      "{}",
      " \t\r\n[ ] \n",
      "[1]",
      "[1,2]",
      "[ 1 , 2 ]",
      "[[],[[]],{}]",
      "[{},[1,2],{\"a\":[1,2],\"b\":0}]",
      "{\"\":0}",
      "{\"a\":1,\"a\":2}",
      " { \"a\" : { \"b\" : [ ] } , \"c\" : null } ",
      "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\uFFFF\\uabCD\"",
      "\"\\uD834\\uDD1E\"",
      "\"\\uD800\"", /* the grammar has it; it cannot be unescaped */
      "\"\x7F\"",
      "\"\xC2\x80\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\"",
      "\"\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\"",
      "\"\xE2\x80\xA8\"",
      "[true,false,null,\"x\",-1e-1]",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    expect_valid(texts[i]);
}

static void invalid_texts(void **state) {
  (void)state;
  const struct {
    const char *text;
    size_t offset;
  } cases[] = {
      {"", 0},
      {"  ", 2},
      {"nul", 0},
      {"nullx", 0},
      {"null0", 0},
      {"True", 0},
      {"NaN", 0},
      {"Infinity", 0},
      {"-Infinity", 1},
      {"undefined", 0},
      {"01", 0},
      {"-01", 1},
      {"00", 0},
      {"01.2.3e", 0},
      {"1.2.3e", 3},
      {"1.", 2},
      {"1.e5", 2},
      {".5", 0},
      {"+1", 0},
      {"-", 1},
      {"--1", 1},
      {"1e", 2},
      {"1e+", 3},
      {"1e5.5", 3},
      {"1e5e5", 3},
      {"0x10", 1},
      {"1a", 1},
      {"1_000", 1},
      {"1 2", 2},
      {"1,", 1},
      {"\"a\"\"b\"", 3},
      {"[", 1},
      {"]", 0},
      {"[1", 2},
      {"[1,", 3},
      {"[1,]", 3},
      {"[,1]", 1},
      {"[1 2]", 3},
      {"[1:2]", 2},
      {"[1,,2]", 3},
      {"[1}", 2},
      {"[]]", 2},
      {"[] []", 3},
      {"{", 1},
      {"}", 0},
      {"{]", 1},
      {"{\"a\"", 4},
      {"{\"a\":", 5},
      {"{\"a\":1", 6},
      {"{\"a\":1,", 7},
      {"{\"a\":1,}", 7},
      {"{,}", 1},
      {"{\"a\" 1}", 5},
      {"{\"a\",1}", 4},
      {"{\"a\":}", 5},
      {"{\"a\":1 \"b\":2}", 7},
      {"{\"a\":1]", 6},
      {"{a:1}", 1},
      {"{'a':1}", 1},
      {"{1:1}", 1},
      {"{null:1}", 1},
      {"{\"a\"::1}", 5},
      {"'a'", 0},
      {"\"", 1},
      {"\"a", 2},
      {"\"\\\"", 3},
      {"\"\\", 1},
      {"\"\\x41\"", 1},
      {"\"\\a\"", 1},
      {"\"\\'\"", 1},
      {"\"\\B\"", 1},
      {"\"\\u\"", 1},
      {"\"\\u12\"", 1},
      {"\"\\u123\"", 1},
      {"\"\\u123g\"", 1},
      {"\"\\u-123\"", 1},
      {"\"\\U0041\"", 1},
      {"\"a\nb\"", 2},
      {"\"\t\"", 1},
      {"\"\x1F\"", 1},
      {"/* */1", 0},
      {"1//", 1},
      {"\xEF\xBB\xBF{}", 0},
      {"\xC2\xA0"
       "1",
       0},
      {"\f1", 0},
      {"\v1", 0},
      {"\"\x80\"", 1},
      {"\"ab\xC3\"", 3},
      {"\"\xC0\x80\"", 1},
      {"\"\xC1\xBF\"", 1},
      {"\"\xE0\x9F\xBF\"", 1},
      {"\"\xED\xA0\x80\"", 1},
      {"\"\xF0\x8F\xBF\xBF\"", 1},
      {"\"\xF4\x90\x80\x80\"", 1},
      {"\"\xF8\x88\x80\x80\x80\"", 1},
      {"\"\xFF\"", 1},
      {"\"\xE2\x82\"", 1},
      {"{\"\xFE\":1}", 2},
      {"[\"a\",\x80]", 5},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    expect_error_at(cases[i].text, strlen(cases[i].text), cases[i].offset);
}

static void nul_bytes_and_absence(void **state) {
  (void)state;
  expect_error_at("1\0", 2, 1);
  expect_error_at("\0", 1, 0);
  expect_error_at("[\0]", 3, 1);
  expect_error_at("[]\0", 3, 2);
  expect_error_at("\"\0\"", 3, 1);
  expect_error_at("\"\\\0\"", 4, 1);
  expect_error_at("\"\\u\0\0\0\0\"", 8, 1);
  aloft_json json;
  aloft_json_init(&json, (aloft_text){NULL, 0});
  assert_int_equal(aloft_json_next(&json), ALOFT_JSON_ERROR);
}

static void each_control_character(void **state) {
  (void)state;
  for (int c = 0; c < 0x20; c++) {
    const char text[] = {'"', (char)c, '"'};
    expect_error_at(text, sizeof text, 1);
  }
}

static void every_truncation_is_an_error(void **state) {
  (void)state;
  const char text[] =
      "{\"a\":[1,-2.5e+10,\"\\u00e9\\n\xC3\xA9\xF0\x9F\x98\x80\",true,false,null,{}],"
      "\"b\" : {\"c\":\"\"} }";
  expect_valid(text);
  aloft_json json;
  for (size_t size = 0; size < sizeof text - 1; size++)
    if (read_all(text, size, &json) != ALOFT_JSON_ERROR)
      fail_msg("%zu bytes are taken for JSON", size);
}

static void every_changed_byte_is_safe(void **state) {
  (void)state;
  const char text[] = "{\"a\":[1.5e3,\"\\uD83D\\uDE00\xC3\xA9\",null]}";
  char changed[sizeof text];
  aloft_json json;
  for (size_t place = 0; place < sizeof text - 1; place++)
    for (int c = 0; c < 256; c++) {
      memcpy(changed, text, sizeof text);
      changed[place] = (char)c;
      read_all(changed, sizeof text - 1, &json);
    }
}

static void depth_is_limited(void **state) {
  (void)state;
  for (int object = 0; object < 2; object++) {
    char text[512];
    const char *open = object ? "{\"\":" : "[";
    size_t size = 0;
    for (int i = 0; i < ALOFT_JSON_DEPTH_MAX; i++) {
      memcpy(text + size, open, strlen(open));
      size += strlen(open);
    }
    size_t inside = size;
    text[size++] = '1';
    for (int i = 0; i < ALOFT_JSON_DEPTH_MAX; i++)
      text[size++] = object ? '}' : ']';
    text[size] = 0;
    expect_valid(text);
    text[inside] = '[';
    expect_error_at(text, size, inside);
    text[inside] = '{';
    expect_error_at(text, size, inside);
  }
}

static void expect_token(aloft_json *json, aloft_json_kind kind, const char *raw, size_t offset,
                         unsigned depth) {
  assert_int_equal(aloft_json_next(json), kind);
  assert_int_equal(json->kind, kind);
  assert_true(aloft_text_equal(json->raw, aloft_text_of(raw)));
  assert_int_equal(json->offset, offset);
  assert_int_equal(json->depth, depth);
}

static void tokens(void **state) {
  (void)state;
  aloft_json json;
  aloft_json_init(&json, ALOFT_TEXT(" {\"a\" : [1, \"x\\n\", {}], \"b\\/\":null , \"c\":true,"
                                    "\"\":false} "));
  expect_token(&json, ALOFT_JSON_OBJECT, "{", 1, 1);
  expect_token(&json, ALOFT_JSON_NAME, "a", 2, 1);
  assert_false(json.escaped);
  expect_token(&json, ALOFT_JSON_ARRAY, "[", 8, 2);
  expect_token(&json, ALOFT_JSON_NUMBER, "1", 9, 2);
  expect_token(&json, ALOFT_JSON_STRING, "x\\n", 12, 2);
  assert_true(json.escaped);
  expect_token(&json, ALOFT_JSON_OBJECT, "{", 19, 3);
  assert_false(json.escaped);
  expect_token(&json, ALOFT_JSON_CLOSE, "}", 20, 2);
  expect_token(&json, ALOFT_JSON_CLOSE, "]", 21, 1);
  expect_token(&json, ALOFT_JSON_NAME, "b\\/", 24, 1);
  assert_true(json.escaped);
  expect_token(&json, ALOFT_JSON_NULL, "null", 30, 1);
  expect_token(&json, ALOFT_JSON_NAME, "c", 37, 1);
  expect_token(&json, ALOFT_JSON_TRUE, "true", 41, 1);
  expect_token(&json, ALOFT_JSON_NAME, "", 46, 1);
  expect_token(&json, ALOFT_JSON_FALSE, "false", 49, 1);
  expect_token(&json, ALOFT_JSON_CLOSE, "}", 54, 0);
  expect_token(&json, ALOFT_JSON_END, "", 56, 0);
  expect_token(&json, ALOFT_JSON_END, "", 56, 0);
}

static void skipping(void **state) {
  (void)state;
  aloft_json json;
  aloft_json_init(&json,
                  ALOFT_TEXT("{\"a\":[1,[2],{\"x\":[]}],\"b\":{\"c\":{}},\"d\":5,\"e\":[]}"));
  assert_int_equal(aloft_json_skip(&json), ALOFT_OK);
  expect_token(&json, ALOFT_JSON_OBJECT, "{", 0, 1);
  expect_token(&json, ALOFT_JSON_NAME, "a", 1, 1);
  expect_token(&json, ALOFT_JSON_ARRAY, "[", 5, 2);
  assert_int_equal(aloft_json_skip(&json), ALOFT_OK);
  assert_int_equal(json.kind, ALOFT_JSON_CLOSE);
  assert_int_equal(json.depth, 1);
  assert_int_equal(aloft_json_skip(&json), ALOFT_OK);
  expect_token(&json, ALOFT_JSON_NAME, "b", 22, 1);
  assert_int_equal(aloft_json_skip(&json), ALOFT_OK);
  expect_token(&json, ALOFT_JSON_NAME, "d", 35, 1);
  assert_int_equal(aloft_json_skip(&json), ALOFT_OK);
  assert_int_equal(json.kind, ALOFT_JSON_NUMBER);
  assert_int_equal(aloft_json_skip(&json), ALOFT_OK);
  expect_token(&json, ALOFT_JSON_NAME, "e", 41, 1);
  expect_token(&json, ALOFT_JSON_ARRAY, "[", 45, 2);
  assert_int_equal(aloft_json_skip(&json), ALOFT_OK);
  expect_token(&json, ALOFT_JSON_CLOSE, "}", 47, 0);
  assert_int_equal(aloft_json_skip(&json), ALOFT_OK);
  expect_token(&json, ALOFT_JSON_END, "", 48, 0);

  aloft_json_init(&json, ALOFT_TEXT("[[1,{\"a\":tru}],2]"));
  aloft_json_next(&json);
  assert_int_equal(aloft_json_skip(&json), ALOFT_PROTOCOL);
  assert_int_equal(json.kind, ALOFT_JSON_ERROR);
  assert_int_equal(json.offset, 9);
}

/* ---- values ---- */

static void read_one(aloft_json *json, const char *text) {
  aloft_json_init(json, aloft_text_of(text));
  aloft_json_next(json);
}

static void no_number_before_its_end_is_known(void **state) {
  (void)state;
  const char *texts[] = {"1a", "1.5.", "-0-", "1e5e", "nulls", "true1", "12\"", "01"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    aloft_json json;
    read_one(&json, texts[i]);
    assert_int_equal(json.kind, ALOFT_JSON_ERROR);
  }
}

/* Both may end where memory does. */
static bool is_guarded(const char *text, const char *wanted, size_t size) {
  guard_buffer source = guard_copy(text, strlen(text));
  guard_buffer other = guard_copy(wanted, size);
  aloft_json json;
  aloft_json_init(&json, (aloft_text){source.data, source.size});
  aloft_json_next(&json);
  bool is = aloft_json_is(&json, (aloft_text){other.data, size});
  guard_give(&source);
  guard_give(&other);
  return is;
}

static void comparing_at_the_end_of_memory(void **state) {
  (void)state;
  for (size_t size = 0; size <= 6; size++) {
    assert_int_equal(is_guarded("\"abcdef\"", "abcdef", size), size == 6);
    assert_int_equal(is_guarded("\"abc\\u0064ef\"", "abcdef", size), size == 6);
    assert_int_equal(is_guarded("\"ab\"", "abcdef", size), size == 2);
  }
}

static void expect_unescaped(const char *text, const char *expected, size_t size) {
  aloft_json json;
  read_one(&json, text);
  assert_int_equal(json.kind, ALOFT_JSON_STRING);
  assert_true(aloft_json_is(&json, (aloft_text){expected, size}));
  for (size_t room = 0; room <= size + 1; room++) {
    guard_buffer buffer = guard_take(room);
    aloft_text read = {NULL, 0};
    aloft_status status = aloft_json_string(&json, buffer.data, room, &read);
    assert_int_equal(read.size, size);
    if (json.escaped && room < size) {
      assert_int_equal(status, ALOFT_TOO_LARGE);
      assert_null(read.data);
    } else {
      assert_int_equal(status, ALOFT_OK);
      assert_memory_equal(read.data, expected, size);
      assert_ptr_equal(read.data, json.escaped ? buffer.data : (const void *)json.raw.data);
    }
    guard_give(&buffer);
  }
}

static void strings(void **state) {
  (void)state;
  expect_unescaped("\"\"", "", 0);
  expect_unescaped("\"plain\"", "plain", 5);
  expect_unescaped("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8);
  expect_unescaped("\"a\\u0000b\"", "a\0b", 3);
  expect_unescaped("\"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00\"",
                   "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 10);
  expect_unescaped("\"\\uFFFF\\uD7FF\\uE000\"", "\xEF\xBF\xBF\xED\x9F\xBF\xEE\x80\x80", 9);
  expect_unescaped("\"\\uDBFF\\uDFFF\"", "\xF4\x8F\xBF\xBF", 4);
  expect_unescaped("\"long text, \\\\ then long text\\n\"", "long text, \\ then long text\n", 28);
}

static void unpaired_surrogates(void **state) {
  (void)state;
  const char *texts[] = {"\"\\uD800\"",
                         "\"\\uDBFFx\"",
                         "\"\\uDC00\"",
                         "\"\\uDFFF\\uD800\"",
                         "\"\\uD800\\n\"",
                         "\"\\uD800\\uD800\"",
                         "\"\\uD800\\u0041\"",
                         "\"\\uD800\\uE000\"",
                         "\"\\uD800\\\\uDC00\"",
                         "\"\\uDC00\\uDC00\"",
                         "\"\\uD83D\\uDE00\\uD83D\""};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    aloft_json json;
    char buffer[64];
    aloft_text read = {NULL, 0};
    read_one(&json, texts[i]);
    assert_int_equal(json.kind, ALOFT_JSON_STRING);
    assert_int_equal(aloft_json_string(&json, buffer, sizeof buffer, &read), ALOFT_PROTOCOL);
    assert_int_equal(aloft_json_string(&json, NULL, 0, &read), ALOFT_PROTOCOL);
    assert_false(aloft_json_is(&json, ALOFT_TEXT("\xEF\xBF\xBD")));
  }
}

static void comparing(void **state) {
  (void)state;
  aloft_json json;
  read_one(&json, "\"a\\u0062c\"");
  assert_true(aloft_json_is(&json, ALOFT_TEXT("abc")));
  assert_false(aloft_json_is(&json, ALOFT_TEXT("ab")));
  assert_false(aloft_json_is(&json, ALOFT_TEXT("abcd")));
  assert_false(aloft_json_is(&json, ALOFT_TEXT("abd")));
  assert_false(aloft_json_is(&json, ALOFT_TEXT("a\\u0062c")));
  assert_false(aloft_json_is(&json, (aloft_text){NULL, 0}));
  read_one(&json, "\"\"");
  assert_true(aloft_json_is(&json, ALOFT_TEXT("")));
  assert_false(aloft_json_is(&json, (aloft_text){NULL, 0}));
  read_one(&json, "{\"id\":1}");
  assert_false(aloft_json_is(&json, ALOFT_TEXT("{")));
  aloft_json_next(&json);
  assert_true(aloft_json_is(&json, ALOFT_TEXT("id")));
  aloft_json_next(&json);
  assert_false(aloft_json_is(&json, ALOFT_TEXT("1")));
  aloft_text read = {NULL, 0};
  assert_int_equal(aloft_json_string(&json, NULL, 0, &read), ALOFT_WRONG_TYPE);
}

static void int64s(void **state) {
  (void)state;
  const struct {
    const char *text;
    aloft_status status;
    int64_t value;
  } cases[] = {
      {"0", ALOFT_OK, 0},
      {"-0", ALOFT_OK, 0},
      {"42", ALOFT_OK, 42},
      {"9223372036854775807", ALOFT_OK, INT64_MAX},
      {"-9223372036854775808", ALOFT_OK, INT64_MIN},
      {"9223372036854775808", ALOFT_WRONG_TYPE, 7},
      {"-9223372036854775809", ALOFT_WRONG_TYPE, 7},
      {"1e3", ALOFT_OK, 1000},
      {"1.0", ALOFT_OK, 1},
      {"1.5e1", ALOFT_OK, 15},
      {"1.5", ALOFT_WRONG_TYPE, 7},
      {"1e-1", ALOFT_WRONG_TYPE, 7},
      {"1e400", ALOFT_WRONG_TYPE, 7},
      {"\"1\"", ALOFT_WRONG_TYPE, 7},
      {"null", ALOFT_WRONG_TYPE, 7},
      {"[1]", ALOFT_WRONG_TYPE, 7},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    aloft_json json;
    int64_t value = 7;
    read_one(&json, cases[i].text);
    assert_int_equal(aloft_json_int64(&json, &value), cases[i].status);
    assert_true(value == cases[i].value);
  }
}

static void doubles(void **state) {
  (void)state;
  const char *texts[] = {"0", "-1.5", "1e308", "0.1", "123456789012345678901234567890", "1e-400"};
  aloft_json json;
  double value = 7;
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    read_one(&json, texts[i]);
    assert_int_equal(aloft_json_double(&json, &value), ALOFT_OK);
    assert_true(value == strtod(texts[i], NULL));
  }
  value = 7;
  const char *wrong[] = {"1e309", "-1e999999999999", "\"1\"", "true", "{}"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    read_one(&json, wrong[i]);
    assert_int_equal(aloft_json_double(&json, &value), ALOFT_WRONG_TYPE);
    assert_true(value == 7);
  }
}

/* ---- writing ---- */

static void write_sample(aloft_json_writer *writer) {
  aloft_json_write_object(writer);
  aloft_json_write_name(writer, ALOFT_TEXT("a\"\n\xFF"));
  aloft_json_write_array(writer);
  aloft_json_write_null(writer);
  aloft_json_write_bool(writer, true);
  aloft_json_write_bool(writer, false);
  aloft_json_write_int64(writer, INT64_MIN);
  aloft_json_write_double(writer, 0.1);
  aloft_json_write_double(writer, 1e300);
  aloft_json_write_string(writer, ALOFT_TEXT("\xC3\xA9\\"));
  aloft_json_write_string(writer, (aloft_text){NULL, 0});
  aloft_json_write_raw(writer, ALOFT_TEXT("[1]"));
  aloft_json_write_array(writer);
  aloft_json_write_close(writer);
  aloft_json_write_object(writer);
  aloft_json_write_close(writer);
  aloft_json_write_close(writer);
  aloft_json_write_name(writer, ALOFT_TEXT("b"));
  aloft_json_write_int64(writer, 7);
  aloft_json_write_name(writer, ALOFT_TEXT(""));
  aloft_json_write_object(writer);
  aloft_json_write_name(writer, ALOFT_TEXT("c"));
  aloft_json_write_string(writer, ALOFT_TEXT(""));
  aloft_json_write_close(writer);
  aloft_json_write_close(writer);
}

static const char sample[] = "{\"a\\\"\\n\xEF\xBF\xBD\":[null,true,false,-9223372036854775808,0.1,"
                             "1e+300,\"\xC3\xA9\\\\\",null,"
                             "[1],[],{}],\"b\":7,\"\":{\"c\":\"\"}}";

static void writes_at_each_room(void **state) {
  (void)state;
  expect_valid(sample);
  for (size_t room = 0; room <= sizeof sample; room++) {
    guard_buffer buffer = guard_take(room);
    aloft_json_writer writer;
    aloft_json_writer_init(&writer, buffer.data, room);
    write_sample(&writer);
    assert_int_equal(writer.size, sizeof sample - 1);
    assert_memory_equal(buffer.data, sample, room < writer.size ? room : writer.size);
    guard_give(&buffer);
  }
  aloft_json_writer writer;
  aloft_json_writer_init(&writer, NULL, 0);
  write_sample(&writer);
  assert_int_equal(writer.size, sizeof sample - 1);
}

static void expect_written_string(aloft_text text, const char *expected) {
  char buffer[256];
  aloft_json_writer writer;
  guard_buffer source = guard_copy(text.data, text.size);
  aloft_json_writer_init(&writer, buffer, sizeof buffer);
  aloft_json_write_string(&writer, (aloft_text){source.data, text.size});
  assert_true(aloft_text_equal((aloft_text){buffer, writer.size}, aloft_text_of(expected)));
  guard_give(&source);
}

static void written_strings(void **state) {
  (void)state;
  expect_written_string(ALOFT_TEXT(""), "\"\"");
  expect_written_string(ALOFT_TEXT("plain / text\x7F"), "\"plain / text\x7F\"");
  expect_written_string(ALOFT_TEXT("\"\\"), "\"\\\"\\\\\"");
  expect_written_string(ALOFT_TEXT("\0\x01\x07\b\t\n\x0B\f\r\x0E\x1F"),
                        "\"\\u0000\\u0001\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u001f\"");
  expect_written_string(ALOFT_TEXT("\xC3\xA9\xF0\x9F\x98\x80"), "\"\xC3\xA9\xF0\x9F\x98\x80\"");
#define BROKEN "\xEF\xBF\xBD"
  expect_written_string(ALOFT_TEXT("a\xFFz"), "\"a" BROKEN "z\"");
  expect_written_string(ALOFT_TEXT("\xC3"), "\"" BROKEN "\"");
  expect_written_string(ALOFT_TEXT("\xF0\x9F\x98"), "\"" BROKEN "\"");
  expect_written_string(ALOFT_TEXT("\xF0\x9F\"\x80"), "\"" BROKEN "\\\"" BROKEN "\"");
  expect_written_string(ALOFT_TEXT("\xED\xA0\x80"), "\"" BROKEN BROKEN BROKEN "\"");
#undef BROKEN
}

static void each_byte_survives(void **state) {
  (void)state;
  for (int c = 0; c < 0x80; c++) {
    char buffer[16];
    char unescaped[16];
    const char byte = (char)c;
    aloft_json_writer writer;
    aloft_json_writer_init(&writer, buffer, sizeof buffer);
    aloft_json_write_string(&writer, (aloft_text){&byte, 1});
    aloft_json json;
    aloft_text read = {NULL, 0};
    aloft_json_init(&json, (aloft_text){buffer, writer.size});
    assert_int_equal(aloft_json_next(&json), ALOFT_JSON_STRING);
    assert_int_equal(aloft_json_string(&json, unescaped, sizeof unescaped, &read), ALOFT_OK);
    assert_true(aloft_text_equal(read, (aloft_text){&byte, 1}));
  }
}

static void infinities_become_null(void **state) {
  (void)state;
  char buffer[64];
  aloft_json_writer writer;
  aloft_json_writer_init(&writer, buffer, sizeof buffer);
  aloft_json_write_array(&writer);
  aloft_json_write_double(&writer, (double)INFINITY);
  aloft_json_write_double(&writer, (double)-INFINITY);
  aloft_json_write_double(&writer, (double)NAN);
  aloft_json_write_double(&writer, -0.0);
  aloft_json_write_raw(&writer, (aloft_text){NULL, 0});
  aloft_json_write_close(&writer);
  assert_true(
      aloft_text_equal((aloft_text){buffer, writer.size}, ALOFT_TEXT("[null,null,null,-0,null]")));
}

/* o [ and { and }; n a name; v a value */
static bool order_is_refused(const char *calls) {
  char buffer[512];
  aloft_json_writer writer;
  aloft_json_writer_init(&writer, buffer, sizeof buffer);
  for (; *calls; calls++) {
    bool spoilt = writer.size == SIZE_MAX;
    switch (*calls) {
    case '{':
      aloft_json_write_object(&writer);
      break;
    case '[':
      aloft_json_write_array(&writer);
      break;
    case 'n':
      aloft_json_write_name(&writer, ALOFT_TEXT("n"));
      break;
    case 's':
      aloft_json_write_string(&writer, ALOFT_TEXT("s"));
      break;
    case 'v':
      aloft_json_write_int64(&writer, 1);
      break;
    default:
      aloft_json_write_close(&writer);
    }
    assert_true(!spoilt || writer.size == SIZE_MAX);
  }
  return writer.size == SIZE_MAX;
}

static void wrong_orders_never_fit(void **state) {
  (void)state;
  const char *wrong[] = {"vv",  "ss", "n",   "}",   "[}}",  "{v",  "{s",  "{{",      "{nn",
                         "{n}", "[n", "[}v", "{}[", "{nvv", "{v}", "vn}", "}}}}vv[["};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    if (!order_is_refused(wrong[i]))
      fail_msg("%s is written", wrong[i]);
  const char *right[] = {"v", "s", "[}", "{}", "[vs[}{}v}", "{nvn[v{nv}}nv}"};
  for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
    if (order_is_refused(right[i]))
      fail_msg("%s is refused", right[i]);
}

static void writers_depth_is_limited(void **state) {
  (void)state;
  char calls[2 * ALOFT_JSON_DEPTH_MAX + 3];
  memset(calls, '[', ALOFT_JSON_DEPTH_MAX);
  memset(calls + ALOFT_JSON_DEPTH_MAX, '}', ALOFT_JSON_DEPTH_MAX);
  calls[2 * ALOFT_JSON_DEPTH_MAX] = 0;
  assert_false(order_is_refused(calls));
  memset(calls, '[', ALOFT_JSON_DEPTH_MAX + 1);
  memset(calls + ALOFT_JSON_DEPTH_MAX + 1, '}', ALOFT_JSON_DEPTH_MAX + 1);
  calls[2 * ALOFT_JSON_DEPTH_MAX + 2] = 0;
  assert_true(order_is_refused(calls));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(valid_texts),
      cmocka_unit_test(invalid_texts),
      cmocka_unit_test(nul_bytes_and_absence),
      cmocka_unit_test(each_control_character),
      cmocka_unit_test(every_truncation_is_an_error),
      cmocka_unit_test(every_changed_byte_is_safe),
      cmocka_unit_test(depth_is_limited),
      cmocka_unit_test(tokens),
      cmocka_unit_test(skipping),
      cmocka_unit_test(no_number_before_its_end_is_known),
      cmocka_unit_test(comparing_at_the_end_of_memory),
      cmocka_unit_test(strings),
      cmocka_unit_test(unpaired_surrogates),
      cmocka_unit_test(comparing),
      cmocka_unit_test(int64s),
      cmocka_unit_test(doubles),
      cmocka_unit_test(writes_at_each_room),
      cmocka_unit_test(written_strings),
      cmocka_unit_test(each_byte_survives),
      cmocka_unit_test(infinities_become_null),
      cmocka_unit_test(wrong_orders_never_fit),
      cmocka_unit_test(writers_depth_is_limited),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
