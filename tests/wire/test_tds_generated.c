/* Random answers from a seed: written by our writer, framed, cut and read again, they say what was
 * put in. `ALOFT_SEED=N` runs that one stream; `ALOFT_STREAMS=N` so many (default 10,000).
 * Each is read once with its large values whole, and once in pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "code_pages.h"
#include "heap.h"
#include "number.h"
#include "tds_message.h"
#include "tds_response.h"
#include "tds_transcript.h"
#include "utf16.h"

enum { STREAMS = 10000, COLUMNS_MAX = 12, ROWS_MAX = 8, TEXT_MAX = 3000, OUTPUT_MAX = 1 << 21 };

/* ---- random numbers: xorshift64*, so that a seed means the same everywhere ---- */

static uint64_t random_state;

static uint64_t random_number(void) {
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return random_state * UINT64_C(2685821657736338717);
}

static size_t below(size_t limit) {
  return (size_t)(random_number() >> 11) % limit;
}

/* Mostly few, now and then many. */
static size_t some(size_t most) {
  return below(10) ? below(most < 20 ? most + 1 : 20) : below(most + 1);
}

/* ---- types ---- */

static const uint8_t tokens[] = {ALO_TDS_BIT,
                                 ALO_TDS_INT1,
                                 ALO_TDS_INT2,
                                 ALO_TDS_INT4,
                                 ALO_TDS_INT8,
                                 ALO_TDS_BITN,
                                 ALO_TDS_INTN,
                                 ALO_TDS_INTN,
                                 ALO_TDS_FLT4,
                                 ALO_TDS_FLT8,
                                 ALO_TDS_FLTN,
                                 ALO_TDS_DECIMALN,
                                 ALO_TDS_NUMERICN,
                                 ALO_TDS_MONEY,
                                 ALO_TDS_MONEY4,
                                 ALO_TDS_MONEYN,
                                 ALO_TDS_DATEN,
                                 ALO_TDS_TIMEN,
                                 ALO_TDS_DATETIME2N,
                                 ALO_TDS_DATETIMEOFFSETN,
                                 ALO_TDS_DATETIMEOFFSETN,
                                 ALO_TDS_GUID,
                                 ALO_TDS_BIGVARCHAR,
                                 ALO_TDS_BIGCHAR,
                                 ALO_TDS_NVARCHAR,
                                 ALO_TDS_NVARCHAR,
                                 ALO_TDS_NCHAR,
                                 ALO_TDS_BIGVARBINARY,
                                 ALO_TDS_BIGBINARY,
                                 ALO_TDS_XML,
                                 ALO_TDS_JSON,
                                 ALO_TDS_UDT,
                                 ALO_TDS_TEXT,
                                 ALO_TDS_NTEXT,
                                 ALO_TDS_IMAGE,
                                 ALO_TDS_SSVARIANT};

static alo_page_store store;

static uint32_t time_size(uint8_t scale) {
  return scale <= 2 ? 3 : scale <= 4 ? 4 : 5;
}

static void random_collation(alo_tds_type *type) {
  static const uint8_t collations[][5] = {{0x09, 0x04, 0xD0, 0x00, 0x34},
                                          {0x09, 0x04, 0xD0, 0x04, 0x00},
                                          {0x07, 0x04, 0xD0, 0x00, 0x00},
                                          {0x19, 0x04, 0xD0, 0x00, 0x00},
                                          {0x11, 0x04, 0xD0, 0x00, 0x00}};
  memcpy(type->collation, collations[below(5)], 5);
}

static alo_tds_type random_type(void) {
  alo_tds_type type = {.token = tokens[below(sizeof tokens)]};
  static const uint8_t powers[] = {1, 2, 4, 8};
  switch (type.token) {
  case ALO_TDS_INTN:
    type.size = powers[below(4)];
    break;
  case ALO_TDS_FLTN:
  case ALO_TDS_MONEYN:
    type.size = powers[2 + below(2)];
    break;
  case ALO_TDS_BITN:
    type.size = 1;
    break;
  case ALO_TDS_GUID:
    type.size = 16;
    break;
  case ALO_TDS_DECIMALN:
  case ALO_TDS_NUMERICN:
    type.precision = (uint8_t)(1 + below(38));
    type.scale = (uint8_t)below(type.precision + 1u);
    type.size = type.precision <= 9 ? 5 : type.precision <= 19 ? 9 : type.precision <= 28 ? 13 : 17;
    break;
  case ALO_TDS_TIMEN:
  case ALO_TDS_DATETIME2N:
  case ALO_TDS_DATETIMEOFFSETN:
    type.scale = (uint8_t)below(8);
    type.size = time_size(type.scale) + (type.token == ALO_TDS_TIMEN        ? 0
                                         : type.token == ALO_TDS_DATETIME2N ? 3
                                                                            : 5);
    break;
  case ALO_TDS_XML:
  case ALO_TDS_JSON:
  case ALO_TDS_UDT:
    type.size = ALO_TDS_MAX_SIZE;
    break;
  case ALO_TDS_SSVARIANT:
    type.size = 8009;
    break;
  case ALO_TDS_TEXT:
  case ALO_TDS_NTEXT:
  case ALO_TDS_IMAGE:
    type.size = INT32_MAX - 1;
    random_collation(&type);
    break;
  case ALO_TDS_NVARCHAR:
  case ALO_TDS_BIGVARCHAR:
  case ALO_TDS_BIGVARBINARY:
    type.size = below(3) ? 8000 : ALO_TDS_MAX_SIZE;
    random_collation(&type);
    break;
  case ALO_TDS_NCHAR:
  case ALO_TDS_BIGCHAR:
  case ALO_TDS_BIGBINARY:
    type.size = 8000;
    random_collation(&type);
    break;
  default:
    break;
  }
  return type;
}

/* ---- values: put into the stream, and into the transcript that is expected ---- */

typedef struct generator {
  alo_tds_writer *writer;
  tds_transcript *expected;
  bool in_variant; /* the value's size has to be told before it */
} generator;

static void begin_sized(const generator *made, const alo_tds_type *type, size_t size) {
  if (made->in_variant) {
    alo_tds_put_variant(made->writer, type, size);
  }
}

static void say_bytes(generator *made, const void *text, size_t size) {
  tds_transcript_add(made->expected, text, size);
}

static void say(generator *made, const char *text) {
  say_bytes(made, text, strlen(text));
}

static void put_integer(generator *made, const alo_tds_type *type, unsigned bits) {
  uint64_t value = random_number() >> below(64);
  int64_t number = bits == 1    ? (int64_t)(value & 1)
                   : bits == 8  ? (int64_t)(value & 0xFF)
                   : bits == 16 ? (int16_t)value
                   : bits == 32 ? (int32_t)value
                                : (int64_t)value;
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)number);
  alo_tds_put_int64(made->writer, type, number);
  say(made, text);
}

static void put_real(generator *made, const alo_tds_type *type, bool single) {
  double value = (double)(int64_t)random_number() * (below(2) ? 1e-30 : 0.5);
  char text[32];
  if (single) {
    float narrow = (float)value;
    say_bytes(made, text, alo_float_text(narrow, text));
    alo_tds_put_double(made->writer, type, (double)narrow);
  } else {
    say_bytes(made, text, alo_double_text(value, text));
    alo_tds_put_double(made->writer, type, value);
  }
}

/* Digits made as text, so that what is expected does not come from the code under test. */
static void put_decimal(generator *made, const alo_tds_type *type, unsigned precision,
                        unsigned scale) {
  char text[64];
  size_t size = 0;
  size_t whole = precision - scale ? below(precision - scale + 1) : 0;
  bool negative = below(2);
  bool zero = true;
  if (negative) {
    text[size++] = '-';
  }
  if (!whole) {
    text[size++] = '0';
  }
  for (size_t at = 0; at < whole; at++) {
    text[size++] = (char)('0' + (at ? below(10) : 1 + below(9)));
    zero = false;
  }
  if (scale) {
    text[size++] = '.';
  }
  for (size_t at = 0; at < scale; at++) {
    char digit = (char)('0' + below(10));
    zero = zero && digit == '0';
    text[size++] = digit;
  }
  size_t from = zero && negative;
  aloft_tds_decimal value;
  assert_true(alo_tds_decimal_parse((aloft_text){text, size}, &value));
  alo_tds_put_decimal(made->writer, type, &value);
  say_bytes(made, text + from, size - from);
}

static void put_moment(generator *made, const alo_tds_type *type) {
  aloft_tds_type kind = alo_tds_type_public(type);
  uint64_t unit = 1;
  for (unsigned at = type->scale; at < 7; at++) {
    unit *= 10;
  }
  aloft_tds_moment moment = {.days = (int32_t)(2 + below(3652055)),
                             .ticks = random_number() % UINT64_C(864000000000) / unit * unit};
  if (kind == ALOFT_TDS_DATETIMEOFFSET) {
    moment.offset_minutes = (int16_t)((int)below(1681) - 840);
  }
  alo_tds_put_moment(made->writer, type, &moment);
  int64_t local = (int64_t)moment.ticks / 10000000 + (int64_t)moment.offset_minutes * 60 +
                  moment.days * INT64_C(86400);
  char date[16];
  char text[80];
  size_t date_size = alo_tds_date_text((int32_t)(local / 86400), date);
  int second = (int)(local % 86400);
  char fraction[16];
  snprintf(fraction, sizeof fraction, ".%07u", (unsigned)(moment.ticks % 10000000));
  fraction[type->scale ? type->scale + 1 : 0] = 0;
  snprintf(text, sizeof text, "%.*s%s%02d:%02d:%02d%s", kind == ALOFT_TDS_TIME ? 0 : (int)date_size,
           date, kind == ALOFT_TDS_TIME ? "" : " ", second / 3600, second / 60 % 60, second % 60,
           fraction);
  if (kind == ALOFT_TDS_DATETIMEOFFSET) {
    int offset = moment.offset_minutes < 0 ? -moment.offset_minutes : moment.offset_minutes;
    snprintf(text + strlen(text), sizeof text - strlen(text), " %c%02d:%02d",
             moment.offset_minutes < 0 ? '-' : '+', offset / 60, offset % 60);
  }
  if (kind == ALOFT_TDS_DATE) {
    text[date_size] = 0;
  }
  say(made, text);
}

static void put_uuid(generator *made, const alo_tds_type *type) {
  aloft_tds_uuid value;
  char text[40];
  for (size_t at = 0; at < sizeof value.bytes; at++) {
    value.bytes[at] = (uint8_t)random_number();
  }
  alo_tds_put_uuid(made->writer, type, &value);
  const uint8_t *b = value.bytes;
  snprintf(text, sizeof text,
           "%02X%02X%02X%02X-%02X%02X-%02X%02X-%02X%02X-%02X%02X%02X%02X%02X%02X", b[0], b[1], b[2],
           b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
  say(made, text);
}

static void put_bytes(generator *made, const alo_tds_type *type) {
  static uint8_t bytes[TEXT_MAX];
  size_t size = some(TEXT_MAX);
  begin_sized(made, type, size);
  alo_tds_put_bytes(made->writer, type, (aloft_bytes){bytes, size});
  say(made, "0x");
  for (size_t at = 0; at < size; at++) {
    char hex[4];
    snprintf(hex, sizeof hex, "%02X", bytes[at]);
    say_bytes(made, hex, 2);
  }
  bytes[below(TEXT_MAX)] = (uint8_t)random_number();
}

/* Characters that the charset has; no line ends, so that transcripts stay readable. */
static uint32_t random_character(const alo_tds_type *type) {
  alo_tds_charset charset = alo_tds_type_charset(type);
  static const uint32_t latin[] = {0xE9, 0xFF, 0x20AC, 0x2014, 0x178, 0xA0};
  if (below(4)) {
    return (uint32_t)(' ' + below(95));
  }
  if (charset == ALO_TDS_CHARSET_1252) {
    return latin[below(6)];
  }
  if (charset == ALO_TDS_CHARSET_OTHER) {
    return alo_tds_code_page(type->collation) == 1251 ? (uint32_t)(0x410 + below(64))
                                                      : (uint32_t)(0x3041 + below(83));
  }
  switch (below(3)) {
  case 0:
    return (uint32_t)(0x80 + below(0x780));
  case 1:
    return (uint32_t)(0x800 + below(0xD000));
  default:
    return (uint32_t)(0x10000 + below(0x100000));
  }
}

static void put_text(generator *made, const alo_tds_type *type) {
  static char text[TEXT_MAX * 4];
  alo_tds_form form = alo_tds_type_form(type);
  bool max = form == ALO_TDS_FORM_PLP || form == ALO_TDS_FORM_LOB;
  size_t count = some(max ? TEXT_MAX : 1500);
  size_t size = 0;
  for (size_t at = 0; at < count; at++) {
    size += alo_utf8_put(random_character(type), text + size);
  }
  begin_sized(made, type, alo_tds_text_size(made->writer, type, (aloft_text){text, size}));
  alo_tds_put_text(made->writer, type, (aloft_text){text, size});
  say_bytes(made, text, size);
}

static void put_variant(generator *made);

static void put_value(generator *made, const alo_tds_type *type) {
  switch (alo_tds_type_public(type)) {
  case ALOFT_TDS_BIT:
    put_integer(made, type, 1);
    return;
  case ALOFT_TDS_TINYINT:
    put_integer(made, type, 8);
    return;
  case ALOFT_TDS_SMALLINT:
    put_integer(made, type, 16);
    return;
  case ALOFT_TDS_INT:
    put_integer(made, type, 32);
    return;
  case ALOFT_TDS_BIGINT:
    put_integer(made, type, 64);
    return;
  case ALOFT_TDS_REAL:
  case ALOFT_TDS_FLOAT:
    put_real(made, type, alo_tds_type_public(type) == ALOFT_TDS_REAL);
    return;
  case ALOFT_TDS_DECIMAL:
  case ALOFT_TDS_NUMERIC:
    put_decimal(made, type, type->precision, type->scale);
    return;
  case ALOFT_TDS_MONEY:
    put_decimal(made, type, 18, 4);
    return;
  case ALOFT_TDS_SMALLMONEY:
    put_decimal(made, type, 9, 4);
    return;
  case ALOFT_TDS_UNIQUEIDENTIFIER:
    put_uuid(made, type);
    return;
  case ALOFT_TDS_BINARY:
  case ALOFT_TDS_VARBINARY:
  case ALOFT_TDS_IMAGE:
  case ALOFT_TDS_UDT:
    put_bytes(made, type);
    return;
  case ALOFT_TDS_VARIANT:
    put_variant(made);
    return;
  case ALOFT_TDS_DATE:
  case ALOFT_TDS_TIME:
  case ALOFT_TDS_DATETIME2:
  case ALOFT_TDS_DATETIMEOFFSET:
    put_moment(made, type);
    return;
  default:
    put_text(made, type);
  }
}

static bool has_size(const alo_tds_type *base) {
  return alo_tds_type_form(base) == ALO_TDS_FORM_SHORT;
}

static void put_variant(generator *made) {
  alo_tds_type base = random_type();
  while (alo_tds_variant_properties(base.token) < 0 || alo_tds_type_is_plp(&base)) {
    base = random_type();
  }
  if (!has_size(&base)) {
    alo_tds_put_variant(made->writer, &base, 0);
  }
  made->in_variant = has_size(&base);
  put_value(made, &base);
  made->in_variant = false;
}

/* ---- answers ---- */

static void put_row(generator *made, const alo_tds_out_column *columns, size_t count) {
  bool nulls[COLUMNS_MAX];
  bool compressed = below(2);
  for (size_t at = 0; at < count; at++) {
    bool can = compressed || alo_tds_type_form(&columns[at].type) != ALO_TDS_FORM_FIXED;
    nulls[at] = can && below(4) == 0;
  }
  if (compressed) {
    alo_tds_put_nbcrow(made->writer, nulls, count);
  } else {
    alo_tds_put_row(made->writer);
  }
  say(made, "row");
  for (size_t at = 0; at < count; at++) {
    say(made, at ? "|" : " ");
    if (!nulls[at]) {
      put_value(made, &columns[at].type);
      continue;
    }
    if (!compressed) {
      alo_tds_put_null(made->writer, &columns[at].type);
    }
    say(made, "<null>");
  }
  say(made, "\n");
}

static void put_result(generator *made) {
  alo_tds_out_column columns[COLUMNS_MAX];
  alo_tds_out_origin origins[COLUMNS_MAX];
  static char names[COLUMNS_MAX][16];
  size_t count = 1 + below(COLUMNS_MAX);
  say(made, "columns");
  for (size_t at = 0; at < count; at++) {
    snprintf(names[at], sizeof names[at], "%.*s", (int)below(6), "n\xC3\xA4me");
    if (alo_utf8_valid(names[at], strlen(names[at])) != strlen(names[at])) {
      names[at][0] = 0;
    }
    columns[at] = (alo_tds_out_column){random_type(), 1, aloft_text_of(names[at])};
    say(made, at ? "|" : " ");
    say(made, names[at]);
    say(made, " ");
    say(made, alo_tds_type_name(&columns[at].type));
    origins[at] = (alo_tds_out_origin){.table = ALOFT_TEXT("s.t"), .udt = ALOFT_TEXT("d.s.u")};
    say(made, columns[at].type.token == ALO_TDS_UDT ? " udt=d.s.u" : "");
    say(made, alo_tds_type_form(&columns[at].type) == ALO_TDS_FORM_LOB ? " table=s.t" : "");
  }
  say(made, "\n");
  alo_tds_put_colmetadata_from(made->writer, columns, origins, count);
  for (size_t rows = below(ROWS_MAX); rows; rows--) {
    put_row(made, columns, count);
  }
}

static void put_return_value(generator *made) {
  alo_tds_type type = random_type();
  while (alo_tds_type_form(&type) == ALO_TDS_FORM_FIXED || type.token == ALO_TDS_UDT ||
         alo_tds_type_form(&type) == ALO_TDS_FORM_LOB) {
    type = random_type();
  }
  alo_tds_put_return_value(made->writer, 1, ALOFT_TEXT("@p"), &type);
  say(made, "value @p ");
  say(made, alo_tds_type_name(&type));
  say(made, "|");
  put_value(made, &type);
  say(made, "\n");
}

static void put_message(generator *made) {
  static char text[200];
  alo_tds_message message = {.error = below(2),
                             .number = (int32_t)random_number(),
                             .state = (uint8_t)below(256),
                             .severity = (uint8_t)below(26),
                             .line = (uint32_t)random_number(),
                             .text = {text, below(200)},
                             .server = ALOFT_TEXT("server"),
                             .procedure = ALOFT_TEXT("")};
  memset(text, 'e', sizeof text);
  alo_tds_put_message(made->writer, &message);
  tds_transcript_line(made->expected, "%s %d %u %u %u %.*s|server|",
                      message.error ? "error" : "info", message.number, message.severity,
                      message.state, message.line, ALOFT_PRINT(message.text));
}

static void put_done(generator *made) {
  alo_tds_done done = {(uint8_t)(0xFD + below(3)), (uint16_t)below(0x200), 0xC1, random_number()};
  alo_tds_put_done(made->writer, &done);
  tds_transcript_line(made->expected, "done %02X %04X 193 %llu", done.token, done.status,
                      (unsigned long long)done.rows);
}

static void put_answer(generator *made) {
  for (size_t parts = 1 + below(4); parts; parts--) {
    switch (below(6)) {
    case 0:
      put_message(made);
      break;
    case 1:
      put_return_value(made);
      break;
    case 2:
      alo_tds_put_order(made->writer, (const uint16_t[]){1, 2}, 2);
      break;
    default:
      put_result(made);
    }
    put_done(made);
  }
  say(made, "end\n");
}

/* ---- reading ---- */

static void read_back(const char *expected, aloft_bytes stream, uint64_t seed, bool in_pieces) {
  tds_transcript got;
  alo_tds_reader *reader = alo_tds_reader_open(&alo_heap_default, NULL);
  size_t most = below(3) ? 1 + some(200) : 1 + below(stream.size);
  assert_non_null(reader);
  alo_tds_reader_use_pages(reader, &store.pages);
  tds_transcript_init(&got, stream.size);
  got.pages = &store.pages;
  got.in_pieces = in_pieces;
  alo_tds_reader_pieces(reader, in_pieces);
  for (size_t at = 0, size; at < stream.size; at += size) {
    size = 1 + below(most);
    size = size < stream.size - at ? size : stream.size - at;
    tds_transcript_feed(&got, reader, (const uint8_t *)stream.data + at, size);
  }
  alo_tds_reader_close(reader);
  if (strcmp(got.text, expected) != 0) {
    size_t at = 0;
    while (got.text[at] == expected[at]) {
      at++;
    }
    size_t from = at < 60 ? 0 : at - 60;
    fail_msg("seed %llu, %s, at %zu: got\n%.200s\nwanted\n%.200s", (unsigned long long)seed,
             in_pieces ? "in pieces" : "whole", at, got.text + from, expected + from);
  }
  tds_transcript_fini(&got);
}

static void run_seed(uint64_t seed) {
  tds_output output;
  tds_transcript expected;
  random_state = seed * UINT64_C(0x9E3779B97F4A7C15) | 1;
  tds_output_init(&output, (uint32_t)(512 + below(below(2) ? 100 : 8000)), OUTPUT_MAX);
  tds_transcript_init(&expected, 0);
  generator made = {&output.writer, &expected, false};
  output.writer.pages = &store.pages;
  alo_tds_message_begin(&output.writer, ALO_TDS_REPLY, 0);
  put_answer(&made);
  aloft_status status = alo_tds_message_end(&output.writer);
  if (status != ALOFT_OK) {
    fail_msg("seed %llu: %s", (unsigned long long)seed, aloft_status_name(status));
  }
  read_back(expected.text, tds_output_bytes(&output), seed, false);
  read_back(expected.text, tds_output_bytes(&output), seed, true);
  tds_transcript_fini(&expected);
  tds_output_fini(&output);
}

static void test_streams(void **state) {
  (void)state;
  const char *one = getenv("ALOFT_SEED");
  const char *many = getenv("ALOFT_STREAMS");
  if (one) {
    run_seed(strtoull(one, NULL, 10));
    return;
  }
  uint64_t first = (uint64_t)time(NULL) << 20;
  uint64_t count = many ? strtoull(many, NULL, 10) : STREAMS;
  print_message("seeds %llu to %llu\n", (unsigned long long)first,
                (unsigned long long)(first + count - 1));
  for (uint64_t seed = first; seed < first + count; seed++) {
    run_seed(seed);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_streams)};
  alo_page_store_init(&store, &alo_heap_default);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  alo_page_store_fini(&store);
  return failed;
}
