/* Any bytes as a JSON text: read, written anew, and read again, with the same meaning. */
#include <string.h>

#include <aloft/json.h>

#include "fuzz_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unescapes the last token without room, with exactly enough and into `unescaped`. */
static bool check_string(const aloft_json *json, char *unescaped, aloft_text *text) {
  aloft_text needed = {NULL, 0};
  aloft_status without = aloft_json_string(json, NULL, 0, &needed);
  aloft_status status = aloft_json_string(json, unescaped, json->raw.size, text);
  CHECK((without == ALOFT_PROTOCOL) == (status == ALOFT_PROTOCOL));
  if (status == ALOFT_PROTOCOL)
    return false;
  CHECK(status == ALOFT_OK && text->size == needed.size && text->size <= json->raw.size);
  CHECK(aloft_json_is(json, *text));
  if (without == ALOFT_TOO_LARGE) {
    char *exact = malloc(needed.size);
    aloft_text again = {NULL, 0};
    CHECK(exact && aloft_json_string(json, exact, needed.size, &again) == ALOFT_OK);
    CHECK(aloft_text_equal(*text, again));
    CHECK(aloft_json_string(json, exact, needed.size - 1, &again) == ALOFT_TOO_LARGE);
    free(exact);
  }
  return true;
}

/* In the form it has: what has a point or an exponent stays a double, and 0 keeps its sign. */
static void write_number(const aloft_json *json, aloft_json_writer *writer) {
  int64_t whole = 0;
  double value = 0;
  bool fits = aloft_json_double(json, &value) == ALOFT_OK;
  if (aloft_json_int64(json, &whole) == ALOFT_OK)
    CHECK(fits && (double)whole == value);
  bool plain = true;
  for (size_t i = 0; i < json->raw.size; i++)
    plain = plain && !strchr(".eE", json->raw.data[i]);
  if (plain && whole != 0)
    aloft_json_write_int64(writer, whole);
  else if (fits)
    aloft_json_write_double(writer, value);
  else
    aloft_json_write_raw(writer, json->raw);
}

static void write_quoted(const aloft_json *json, char *unescaped, aloft_json_writer *writer) {
  aloft_text text = ALOFT_TEXT("unpaired");
  check_string(json, unescaped, &text);
  if (json->kind == ALOFT_JSON_NAME)
    aloft_json_write_name(writer, text);
  else
    aloft_json_write_string(writer, text);
}

static void write_token(const aloft_json *json, char *unescaped, aloft_json_writer *writer) {
  switch (json->kind) {
  case ALOFT_JSON_OBJECT:
    aloft_json_write_object(writer);
    break;
  case ALOFT_JSON_ARRAY:
    aloft_json_write_array(writer);
    break;
  case ALOFT_JSON_CLOSE:
    aloft_json_write_close(writer);
    break;
  case ALOFT_JSON_NULL:
    aloft_json_write_null(writer);
    break;
  case ALOFT_JSON_TRUE:
  case ALOFT_JSON_FALSE:
    aloft_json_write_bool(writer, json->kind == ALOFT_JSON_TRUE);
    break;
  case ALOFT_JSON_NUMBER:
    write_number(json, writer);
    break;
  default:
    write_quoted(json, unescaped, writer);
  }
}

/* Writes what it reads. Returns the last kind: END or ERROR. */
static aloft_json_kind rewrite(aloft_text text, aloft_json_writer *writer) {
  char *unescaped = malloc(text.size + 1);
  CHECK(unescaped);
  aloft_json json;
  aloft_json_init(&json, text);
  size_t offset = 0;
  while (aloft_json_next(&json) > ALOFT_JSON_ERROR) {
    CHECK(json.offset >= offset && json.offset < text.size);
    CHECK(json.depth <= ALOFT_JSON_DEPTH_MAX);
    offset = json.offset;
    write_token(&json, unescaped, writer);
  }
  CHECK(json.kind == ALOFT_JSON_END || json.reason);
  CHECK(json.offset <= text.size);
  free(unescaped);
  return json.kind;
}

static void check_skip(aloft_text text, aloft_json_kind last) {
  aloft_json json;
  aloft_json_init(&json, text);
  aloft_json_next(&json);
  if (aloft_json_skip(&json) == ALOFT_OK)
    CHECK(json.depth == 0 && aloft_json_next(&json) == last);
  else
    CHECK(last == ALOFT_JSON_ERROR);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  aloft_text text = {(const char *)data, size};
  aloft_json_writer counter;
  aloft_json_writer_init(&counter, NULL, 0);
  aloft_json_kind last = rewrite(text, &counter);
  check_skip(text, last);
  if (last == ALOFT_JSON_ERROR)
    return 0;

  char *first = malloc(counter.size);
  aloft_json_writer writer;
  CHECK(first && counter.size != SIZE_MAX);
  aloft_json_writer_init(&writer, first, counter.size);
  rewrite(text, &writer);
  CHECK(writer.size == counter.size);

  char *second = malloc(counter.size);
  CHECK(second);
  aloft_json_writer_init(&writer, second, counter.size);
  CHECK(rewrite((aloft_text){first, counter.size}, &writer) == ALOFT_JSON_END);
  CHECK(writer.size == counter.size && memcmp(first, second, counter.size) == 0);
  free(first);
  free(second);
  return 0;
}
