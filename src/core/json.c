#include <aloft/json.h>

#include "number.h"
#include "utf16.h"

#include <string.h>

/* ---- reading ---- */

/* What may come next (`own.expect`). */
enum {
  EXPECT_VALUE,
  EXPECT_VALUE_OR_CLOSE, /* after '[' */
  EXPECT_NAME_OR_CLOSE,  /* after '{' */
  EXPECT_COMMA_OR_CLOSE,
  EXPECT_END,
  EXPECT_NOTHING /* it was an error */
};

void aloft_json_init(aloft_json *json, aloft_text text) {
  *json = (aloft_json){.own.text = text, .own.expect = EXPECT_VALUE};
}

static aloft_json_kind fail(aloft_json *json, size_t offset, const char *reason) {
  json->kind = ALOFT_JSON_ERROR;
  json->raw = (aloft_text){NULL, 0};
  json->escaped = false;
  json->offset = offset;
  json->reason = reason;
  json->own.expect = EXPECT_NOTHING;
  return json->kind;
}

/* The byte at `at`, or -1 at the end. */
static int byte_at(const aloft_json *json, size_t at) {
  return at < json->own.text.size ? (unsigned char)json->own.text.data[at] : -1;
}

static bool is_space(int c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}
static bool is_digit(int c) {
  return c >= '0' && c <= '9';
}

static int skip_space(aloft_json *json) {
  while (is_space(byte_at(json, json->own.at)))
    json->own.at++;
  return byte_at(json, json->own.at);
}

/* Whether a number or a literal may end before this byte. */
static bool is_delimiter(int c) {
  return c == -1 || is_space(c) || c == ',' || c == ']' || c == '}';
}

static bool in_object(const aloft_json *json) {
  return json->depth > 0 && (json->own.objects >> (json->depth - 1) & 1);
}

/* A token that lies in [begin, end); what follows it is next. */
static aloft_json_kind accept(aloft_json *json, aloft_json_kind kind, size_t begin, size_t end) {
  json->kind = kind;
  json->raw = (aloft_text){json->own.text.data + begin, end - begin};
  json->escaped = false;
  json->offset = begin;
  json->own.at = end;
  return kind;
}

static aloft_json_kind accept_scalar(aloft_json *json, aloft_json_kind kind, size_t begin,
                                     size_t end) {
  json->own.expect = json->depth ? EXPECT_COMMA_OR_CLOSE : EXPECT_END;
  return accept(json, kind, begin, end);
}

static aloft_json_kind read_literal(aloft_json *json, aloft_json_kind kind, aloft_text word) {
  size_t begin = json->own.at;
  size_t left = json->own.text.size - begin;
  if (left < word.size || memcmp(json->own.text.data + begin, word.data, word.size) != 0 ||
      !is_delimiter(byte_at(json, begin + word.size)))
    return fail(json, begin, "not null, true or false");
  return accept_scalar(json, kind, begin, begin + word.size);
}

static size_t skip_digits(const aloft_json *json, size_t at) {
  while (is_digit(byte_at(json, at)))
    at++;
  return at;
}

static aloft_json_kind read_number(aloft_json *json) {
  size_t begin = json->own.at;
  size_t at = begin + (byte_at(json, begin) == '-');
  if (!is_digit(byte_at(json, at)))
    return fail(json, at, "a number needs a digit here");
  if (byte_at(json, at) == '0' && is_digit(byte_at(json, at + 1)))
    return fail(json, at, "a number has no leading zeros");
  at = skip_digits(json, at);
  if (byte_at(json, at) == '.') {
    if (!is_digit(byte_at(json, ++at)))
      return fail(json, at, "a digit must follow the point");
    at = skip_digits(json, at);
  }
  if (byte_at(json, at) == 'e' || byte_at(json, at) == 'E') {
    int sign = byte_at(json, ++at);
    at += sign == '+' || sign == '-';
    if (!is_digit(byte_at(json, at)))
      return fail(json, at, "an exponent needs a digit");
    at = skip_digits(json, at);
  }
  if (!is_delimiter(byte_at(json, at)))
    return fail(json, at, "not a part of a number");
  return accept_scalar(json, ALOFT_JSON_NUMBER, begin, at);
}

/* The value of a hexadecimal digit, or -1. */
static int hex_value(int c) {
  if (is_digit(c))
    return c - '0';
  c |= 0x20;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Bytes of the escape at `at`, 0 when it is none. */
static size_t escape_size(const aloft_json *json, size_t at) {
  static const char letters[] = {'"', '\\', '/', 'b', 'f', 'n', 'r', 't'};
  int c = byte_at(json, at + 1);
  if (c != 'u')
    return c >= 0 && memchr(letters, c, sizeof letters) ? 2 : 0;
  for (size_t i = 2; i < 6; i++)
    if (byte_at(json, at + i) < 0 || hex_value(byte_at(json, at + i)) < 0)
      return 0;
  return 6;
}

/* Bytes of the next part of a string: one escape or one character. 0: see `reason`. */
static size_t string_part(const aloft_json *json, size_t at, bool *escaped, const char **reason) {
  int c = byte_at(json, at);
  if (c == '\\') {
    *escaped = true;
    *reason = "not an escape";
    return escape_size(json, at);
  }
  if (c < 0x20) {
    *reason = c < 0 ? "a string is not closed" : "a control character must be escaped";
    return 0;
  }
  uint32_t code;
  size_t size = alo_utf8_next(json->own.text.data + at, json->own.text.size - at, &code);
  *reason = "not UTF-8";
  return code == ALO_UTF8_BROKEN ? 0 : size;
}

static size_t skip_plain(const aloft_json *json, size_t at) {
  for (int c = byte_at(json, at); c >= 0x20 && c < 0x80 && c != '"' && c != '\\';)
    c = byte_at(json, ++at);
  return at;
}

/* A string or name from its opening quote on; false when it was an error. */
static bool read_quoted(aloft_json *json, aloft_json_kind kind) {
  size_t quote = json->own.at;
  size_t at = skip_plain(json, quote + 1);
  bool escaped = false;
  while (byte_at(json, at) != '"') {
    const char *reason = NULL;
    size_t size = string_part(json, at, &escaped, &reason);
    if (size == 0) {
      fail(json, at, reason);
      return false;
    }
    at = skip_plain(json, at + size);
  }
  accept(json, kind, quote + 1, at);
  json->escaped = escaped;
  json->offset = quote;
  json->own.at = at + 1;
  return true;
}

static aloft_json_kind read_string(aloft_json *json) {
  if (read_quoted(json, ALOFT_JSON_STRING))
    json->own.expect = json->depth ? EXPECT_COMMA_OR_CLOSE : EXPECT_END;
  return json->kind;
}

/* With its colon, so that the value comes next. */
static aloft_json_kind read_name(aloft_json *json, int c) {
  if (c != '"')
    return fail(json, json->own.at, "a member's name must come here");
  if (!read_quoted(json, ALOFT_JSON_NAME))
    return json->kind;
  if (skip_space(json) != ':')
    return fail(json, json->own.at, "a colon must follow the name");
  json->own.at++;
  json->own.expect = EXPECT_VALUE;
  return json->kind;
}

static aloft_json_kind open_nested(aloft_json *json, aloft_json_kind kind) {
  size_t begin = json->own.at;
  if (json->depth >= ALOFT_JSON_DEPTH_MAX)
    return fail(json, begin, "nested too deep");
  uint64_t bit = UINT64_C(1) << json->depth++;
  json->own.objects &= ~bit;
  if (kind == ALOFT_JSON_OBJECT)
    json->own.objects |= bit;
  json->own.expect = kind == ALOFT_JSON_OBJECT ? EXPECT_NAME_OR_CLOSE : EXPECT_VALUE_OR_CLOSE;
  return accept(json, kind, begin, begin + 1);
}

static aloft_json_kind close_nested(aloft_json *json) {
  json->depth--;
  return accept_scalar(json, ALOFT_JSON_CLOSE, json->own.at, json->own.at + 1);
}

static aloft_json_kind read_value(aloft_json *json, int c) {
  switch (c) {
  case '{':
    return open_nested(json, ALOFT_JSON_OBJECT);
  case '[':
    return open_nested(json, ALOFT_JSON_ARRAY);
  case '"':
    return read_string(json);
  case 'n':
    return read_literal(json, ALOFT_JSON_NULL, ALOFT_TEXT("null"));
  case 't':
    return read_literal(json, ALOFT_JSON_TRUE, ALOFT_TEXT("true"));
  case 'f':
    return read_literal(json, ALOFT_JSON_FALSE, ALOFT_TEXT("false"));
  case -1:
    return fail(json, json->own.at, "the text ends where a value must come");
  default:
    if (c == '-' || is_digit(c))
      return read_number(json);
    return fail(json, json->own.at, "a value must come here");
  }
}

static aloft_json_kind read_separator(aloft_json *json, int c) {
  bool object = in_object(json);
  if (c == (object ? '}' : ']'))
    return close_nested(json);
  if (c != ',')
    return fail(json, json->own.at,
                object ? "a comma or } must come here" : "a comma or ] must come here");
  json->own.at++;
  c = skip_space(json);
  return object ? read_name(json, c) : read_value(json, c);
}

aloft_json_kind aloft_json_next(aloft_json *json) {
  if (json->own.expect == EXPECT_NOTHING)
    return json->kind;
  int c = skip_space(json);
  switch (json->own.expect) {
  case EXPECT_VALUE_OR_CLOSE:
    return c == ']' ? close_nested(json) : read_value(json, c);
  case EXPECT_NAME_OR_CLOSE:
    return c == '}' ? close_nested(json) : read_name(json, c);
  case EXPECT_COMMA_OR_CLOSE:
    return read_separator(json, c);
  case EXPECT_END:
    if (c != -1)
      return fail(json, json->own.at, "the text must end after its value");
    return accept(json, ALOFT_JSON_END, json->own.at, json->own.at);
  default:
    return read_value(json, c);
  }
}

aloft_status aloft_json_skip(aloft_json *json) {
  if (json->kind == ALOFT_JSON_NAME)
    aloft_json_next(json);
  if (json->kind == ALOFT_JSON_OBJECT || json->kind == ALOFT_JSON_ARRAY) {
    unsigned outside = json->depth - 1;
    while (json->depth > outside && json->kind != ALOFT_JSON_ERROR)
      aloft_json_next(json);
  }
  return json->kind == ALOFT_JSON_ERROR ? ALOFT_PROTOCOL : ALOFT_OK;
}

/* ---- values ---- */

/* A part of a string, unescaped: plain text as it stands, or what one escape stands for. */
struct part {
  const char *data;
  size_t size;
  char held[4];
};

/* The raw text was checked when it was read: an escape in it is whole. */
static uint32_t escaped_unit(const char *hex) {
  uint32_t unit = 0;
  for (int i = 0; i < 4; i++)
    unit = unit << 4 | (uint32_t)hex_value(hex[i]);
  return unit;
}

/* \uXXXX at the beginning of `rest`, or two of them; false for an unpaired surrogate. */
static bool unicode_escape(aloft_text *rest, uint32_t *code) {
  *code = escaped_unit(rest->data + 2);
  rest->data += 6;
  rest->size -= 6;
  if (*code < 0xD800 || *code > 0xDFFF)
    return true;
  if (*code > 0xDBFF || rest->size < 6 || rest->data[0] != '\\' || rest->data[1] != 'u')
    return false;
  uint32_t low = escaped_unit(rest->data + 2);
  rest->data += 6;
  rest->size -= 6;
  *code = 0x10000 + ((*code & 0x3FF) << 10) + (low & 0x3FF);
  return low >= 0xDC00 && low <= 0xDFFF;
}

static char simple_escape(char c) {
  switch (c) {
  case 'b':
    return '\b';
  case 'f':
    return '\f';
  case 'n':
    return '\n';
  case 'r':
    return '\r';
  case 't':
    return '\t';
  default:
    return c;
  }
}

/* Takes the first part off `rest`, which is not empty; false for an unpaired surrogate. */
static bool next_part(aloft_text *rest, struct part *part) {
  if (rest->data[0] != '\\') {
    const char *escape = memchr(rest->data, '\\', rest->size);
    part->data = rest->data;
    part->size = escape ? (size_t)(escape - rest->data) : rest->size;
    rest->data += part->size;
    rest->size -= part->size;
    return true;
  }
  part->data = part->held;
  if (rest->data[1] == 'u') {
    uint32_t code;
    if (!unicode_escape(rest, &code))
      return false;
    part->size = alo_utf8_put(code, part->held);
    return true;
  }
  part->held[0] = simple_escape(rest->data[1]);
  part->size = 1;
  rest->data += 2;
  rest->size -= 2;
  return true;
}

static bool is_quoted(const aloft_json *json) {
  return json->kind == ALOFT_JSON_STRING || json->kind == ALOFT_JSON_NAME;
}

aloft_status aloft_json_string(const aloft_json *json, char *buffer, size_t size,
                               aloft_text *text) {
  if (!is_quoted(json))
    return ALOFT_WRONG_TYPE;
  if (!json->escaped) {
    *text = json->raw;
    return ALOFT_OK;
  }
  size_t needed = 0;
  for (aloft_text rest = json->raw; rest.size > 0;) {
    struct part part;
    if (!next_part(&rest, &part))
      return ALOFT_PROTOCOL;
    if (needed <= size && part.size <= size - needed)
      memcpy(buffer + needed, part.data, part.size);
    needed += part.size;
  }
  *text = (aloft_text){needed <= size ? buffer : NULL, needed};
  return needed <= size ? ALOFT_OK : ALOFT_TOO_LARGE;
}

bool aloft_json_is(const aloft_json *json, aloft_text text) {
  if (!is_quoted(json) || !text.data)
    return false;
  for (aloft_text rest = json->raw; rest.size > 0;) {
    struct part part;
    if (!next_part(&rest, &part) || part.size > text.size ||
        memcmp(part.data, text.data, part.size) != 0)
      return false;
    text.data += part.size;
    text.size -= part.size;
  }
  return text.size == 0;
}

aloft_status aloft_json_int64(const aloft_json *json, int64_t *value) {
  if (json->kind != ALOFT_JSON_NUMBER || !alo_int64_parse_number(json->raw, value))
    return ALOFT_WRONG_TYPE;
  return ALOFT_OK;
}

aloft_status aloft_json_double(const aloft_json *json, double *value) {
  if (json->kind != ALOFT_JSON_NUMBER || !alo_double_parse(json->raw, value))
    return ALOFT_WRONG_TYPE;
  return ALOFT_OK;
}

/* ---- writing ---- */

void aloft_json_writer_init(aloft_json_writer *writer, char *buffer, size_t room) {
  *writer = (aloft_json_writer){.buffer = buffer, .room = room};
}

/* A mistake in the order of calls is a text that fits nowhere. */
static void spoil(aloft_json_writer *writer) {
  writer->size = SIZE_MAX;
}

static void put(aloft_json_writer *writer, const char *data, size_t size) {
  if (size > SIZE_MAX - writer->size) {
    spoil(writer);
    return;
  }
  if (writer->size < writer->room && size > 0) {
    size_t left = writer->room - writer->size;
    memcpy(writer->buffer + writer->size, data, size < left ? size : left);
  }
  writer->size += size;
}

static void put_text(aloft_json_writer *writer, aloft_text text) {
  put(writer, text.data, text.size);
}

static uint64_t depth_bit(const aloft_json_writer *writer) {
  return UINT64_C(1) << (writer->own.depth - 1);
}

static bool writes_object(const aloft_json_writer *writer) {
  return writer->own.depth > 0 && (writer->own.names & depth_bit(writer));
}

static void put_comma(aloft_json_writer *writer) {
  if (writer->own.some & depth_bit(writer))
    put(writer, ",", 1);
  writer->own.some |= depth_bit(writer);
}

/* What comes before a value; false when none may come here. */
static bool begin_value(aloft_json_writer *writer) {
  bool misplaced =
      writer->own.depth == 0 ? writer->size > 0 : writes_object(writer) && !writer->own.after_name;
  if (misplaced) {
    spoil(writer);
    return false;
  }
  if (writer->own.depth > 0 && !writer->own.after_name)
    put_comma(writer);
  writer->own.after_name = false;
  return true;
}

static void put_value(aloft_json_writer *writer, aloft_text text) {
  if (begin_value(writer))
    put_text(writer, text);
}

static void open_level(aloft_json_writer *writer, bool object) {
  if (!begin_value(writer))
    return;
  if (writer->own.depth >= ALOFT_JSON_DEPTH_MAX) {
    spoil(writer);
    return;
  }
  put(writer, object ? "{" : "[", 1);
  writer->own.depth++;
  writer->own.some &= ~depth_bit(writer);
  writer->own.names &= ~depth_bit(writer);
  if (object)
    writer->own.names |= depth_bit(writer);
}

void aloft_json_write_object(aloft_json_writer *writer) {
  open_level(writer, true);
}

void aloft_json_write_array(aloft_json_writer *writer) {
  open_level(writer, false);
}

void aloft_json_write_close(aloft_json_writer *writer) {
  if (writer->own.depth == 0 || writer->own.after_name) {
    spoil(writer);
    return;
  }
  put(writer, writes_object(writer) ? "}" : "]", 1);
  writer->own.depth--;
}

/* The letter of a short escape, 'u' for a long one, 0 for none. */
static char escape_letter(unsigned char c) {
  static const char letters[] = "uuuuuuuubtnufruuuuuuuuuuuuuuuuuu";
  if (c < 0x20)
    return letters[c];
  if (c == '"' || c == '\\')
    return (char)c;
  return 0;
}

static void put_escape(aloft_json_writer *writer, unsigned char c, char letter) {
  static const char hex[] = "0123456789abcdef";
  const char escape[6] = {'\\', letter, '0', '0', hex[c >> 4], hex[c & 0xF]};
  put(writer, escape, letter == 'u' ? 6 : 2);
}

/* Bytes at the beginning of `text` that can be written as they are. */
static size_t plain_size(aloft_text text) {
  size_t at = 0;
  while (at < text.size) {
    unsigned char c = (unsigned char)text.data[at];
    if (c < 0x80) {
      if (escape_letter(c))
        break;
      at++;
      continue;
    }
    uint32_t code;
    size_t size = alo_utf8_next(text.data + at, text.size - at, &code);
    if (code == ALO_UTF8_BROKEN)
      break;
    at += size;
  }
  return at;
}

static void put_quoted(aloft_json_writer *writer, aloft_text text) {
  put(writer, "\"", 1);
  for (;;) {
    size_t plain = plain_size(text);
    put(writer, text.data, plain);
    text.data += plain;
    text.size -= plain;
    if (text.size == 0)
      break;
    uint32_t code;
    size_t size = alo_utf8_next(text.data, text.size, &code);
    if (code == ALO_UTF8_BROKEN)
      put_text(writer, ALOFT_TEXT("\xEF\xBF\xBD"));
    else
      put_escape(writer, (unsigned char)code, escape_letter((unsigned char)code));
    text.data += size;
    text.size -= size;
  }
  put(writer, "\"", 1);
}

void aloft_json_write_name(aloft_json_writer *writer, aloft_text name) {
  if (!writes_object(writer) || writer->own.after_name) {
    spoil(writer);
    return;
  }
  put_comma(writer);
  put_quoted(writer, name.data ? name : ALOFT_TEXT(""));
  put(writer, ":", 1);
  writer->own.after_name = true;
}

void aloft_json_write_null(aloft_json_writer *writer) {
  put_value(writer, ALOFT_TEXT("null"));
}

void aloft_json_write_bool(aloft_json_writer *writer, bool value) {
  put_value(writer, value ? ALOFT_TEXT("true") : ALOFT_TEXT("false"));
}

void aloft_json_write_int64(aloft_json_writer *writer, int64_t value) {
  char text[32];
  size_t size = alo_int64_text(value, text);
  put_value(writer, (aloft_text){text, size});
}

static bool is_finite(double value) {
  return value - value == 0;
}

void aloft_json_write_double(aloft_json_writer *writer, double value) {
  if (!is_finite(value)) {
    aloft_json_write_null(writer);
    return;
  }
  char text[32];
  size_t size = alo_double_text(value, text);
  put_value(writer, (aloft_text){text, size});
}

void aloft_json_write_string(aloft_json_writer *writer, aloft_text text) {
  if (!text.data)
    aloft_json_write_null(writer);
  else if (begin_value(writer))
    put_quoted(writer, text);
}

void aloft_json_write_raw(aloft_json_writer *writer, aloft_text json) {
  put_value(writer, json.data ? json : ALOFT_TEXT("null"));
}
