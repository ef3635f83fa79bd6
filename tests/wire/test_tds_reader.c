/* The token stream, token by token, from hand-made bytes: what each says, each length that is
 * wrong, and the same answer however the bytes are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code_pages.h"
#include "harness_heap.h"
#include "tds_transcript.h"
#include "utf16.h"

enum { STREAM_MAX = 1 << 17 };

/* ---- making streams ---- */

typedef struct stream {
  uint8_t bytes[STREAM_MAX];
  size_t size;
} stream;

static stream made; /* the payload being made */

static void put(const void *data, size_t size) {
  assert_true(made.size + size <= STREAM_MAX);
  memcpy(made.bytes + made.size, data, size);
  made.size += size;
}

#define PUT(...)   put((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))
#define BEGIN(...) (made.size = 0, PUT(__VA_ARGS__))

static void put_u16(unsigned value) {
  PUT((uint8_t)value, (uint8_t)(value >> 8));
}

static void put_u32(uint32_t value) {
  put_u16(value & 0xFFFF);
  put_u16(value >> 16);
}

static void put_u64(uint64_t value) {
  put_u32((uint32_t)value);
  put_u32((uint32_t)(value >> 32));
}

static size_t put_units(const char *text) {
  uint8_t units[1024];
  size_t size = alo_utf8_to_utf16(text, strlen(text), units);
  put(units, size);
  return size / 2;
}

/* With one byte of count, or two. */
static void put_name(const char *text) {
  size_t at = made.size;
  PUT(0);
  made.bytes[at] = (uint8_t)put_units(text);
}

static void put_wide(const char *text) {
  size_t at = made.size;
  put_u16(0);
  made.bytes[at] = (uint8_t)put_units(text);
}

static void put_column_head(uint8_t token) {
  PUT(0, 0, 0, 0, 0, 0, token);
}

/* COLMETADATA of one column: TYPE_INFO as given, named "c". */
#define PUT_COLUMN(...) (PUT(0x81, 1, 0, 0, 0, 0, 0, 0, 0), PUT(__VA_ARGS__), PUT(1, 'c', 0))

#define LATIN 0x09, 0x04, 0xD0, 0x00, 0x34

static void put_done(void) {
  PUT(0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

static void put_plp(uint64_t total, size_t chunk, const void *data, size_t size) {
  put_u64(total);
  for (size_t at = 0; at < size; at += chunk) {
    size_t part = chunk < size - at ? chunk : size - at;
    put_u32((uint32_t)part);
    put((const uint8_t *)data + at, part);
  }
  put_u32(0);
}

/* ---- reading them ---- */

static uint8_t last_status = ALO_TDS_STATUS_EOM;

static size_t frame(uint8_t *out, size_t payload) {
  size_t size = 0;
  size_t at = 0;
  do {
    size_t part = payload < made.size - at ? payload : made.size - at;
    uint8_t last = at + part == made.size ? last_status : 0;
    memcpy(out + size,
           (const uint8_t[8]){ALO_TDS_REPLY, last, (uint8_t)((part + 8) >> 8), (uint8_t)(part + 8)},
           8);
    memcpy(out + size + 8, made.bytes + at, part);
    size += part + 8;
    at += part;
  } while (at < made.size);
  return size;
}

static alo_tds_limits limits;
static harness_heap heap;
static alo_page_store store;

static void read_stream(tds_transcript *got, const uint8_t *bytes, size_t size, size_t first,
                        size_t piece) {
  harness_heap_init(&heap);
  alo_tds_reader *reader = alo_tds_reader_open(&heap.allocator, &limits);
  assert_non_null(reader);
  alo_tds_reader_use_pages(reader, &store.pages);
  tds_transcript_clear(got);
  got->pages = &store.pages;
  size_t part = first;
  for (size_t at = 0; at < size; at += part, part = piece) {
    part = part < size - at ? part : size - at;
    if (!tds_transcript_feed(got, reader, bytes + at, part)) {
      break;
    }
  }
  assert_true(alo_tds_reader_counters(reader).large_made <= 1);
  alo_tds_reader_close(reader);
  harness_heap_check(&heap);
}

static void same(const char *how, size_t number, const char *got, const char *wanted) {
  if (strcmp(got, wanted) != 0) {
    fail_msg("%s %zu: got\n%swanted\n%s", how, number, got, wanted);
  }
}

/* Without the offset, which depends on the packets. */
static void strip_offset(char *text) {
  char *broken = strstr(text, "broken ");
  broken = broken ? broken : strstr(text, "unsupported ");
  char *offset = broken ? strchr(broken, ' ') : NULL;
  if (offset) {
    char *reason = strchr(offset + 1, ' ');
    memmove(offset, reason, strlen(reason) + 1);
  }
}

/* The payload says exactly this, whole and in every cut. */
static void says(const char *wanted) {
  static uint8_t bytes[STREAM_MAX * 9];
  tds_transcript got;
  size_t size = frame(bytes, ALO_TDS_PACKET_MAX - 8);
  size_t step = size > 4096 ? 97 : 1;
  tds_transcript_init(&got, size);
  read_stream(&got, bytes, size, size, size);
  same("whole", 0, got.text, wanted);
  for (size_t split = 1; split < size; split += step) {
    read_stream(&got, bytes, size, split, size);
    same("split at", split, got.text, wanted);
  }
  for (size_t piece = 1; piece <= 9; piece++) {
    read_stream(&got, bytes, size, piece, piece);
    same("in pieces of", piece, got.text, wanted);
  }
  tds_transcript_fini(&got);
  char *stripped = strdup(wanted);
  assert_non_null(stripped);
  strip_offset(stripped);
  for (size_t payload = 1; payload <= 40; payload += payload < 9 ? 1 : 11) {
    size = frame(bytes, payload);
    tds_transcript_init(&got, size);
    read_stream(&got, bytes, size, size, size);
    strip_offset(got.text);
    same("in packets of", payload, got.text, stripped);
    if (size < 4096) {
      read_stream(&got, bytes, size, 1, 1);
      strip_offset(got.text);
      same("byte by byte in packets of", payload, got.text, stripped);
    }
    tds_transcript_fini(&got);
  }
  free(stripped);
}

/* ---- tokens ---- */

static void test_done(void **state) {
  (void)state;
  BEGIN(0xFD, 0x10, 0x00, 0xC1, 0x00, 1, 2, 0, 0, 0, 0, 0, 0x80);
  PUT(0xFE, 0x01, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  PUT(0xFF, 0x20, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  says("done FD 0010 193 9223372036854776321\n"
       "done FE 0001 0 0\n"
       "done FF 0020 0 0\n"
       "end\n");
}

static void test_messages(void **state) {
  (void)state;
  BEGIN(0xAA);
  put_u16(4 + 2 + 2 + 2 * 6 + 1 + 2 * 3 + 1 + 2 * 1 + 4);
  put_u32(50000);
  PUT(7, 16);
  put_wide("tr\xC3\xA9\xE2\x82\xAC \xEF\xBF\xBD");
  put_name("srv");
  put_name("p");
  put_u32(12);
  PUT(0xAB);
  put_u16(4 + 2 + 2 + 1 + 1 + 4);
  put_u32((uint32_t)-1);
  PUT(0, 0, 0, 0, 0, 0);
  put_u32(0);
  says("error 50000 16 7 12 tr\xC3\xA9\xE2\x82\xAC \xEF\xBF\xBD|srv|p\n"
       "info -1 0 0 0 ||\n"
       "end\n");
}

static void test_message_lengths(void **state) {
  (void)state;
  BEGIN(0xAA, 5, 0, 1, 2, 3, 4, 5);
  says("broken 16 ERROR: its inner lengths do not fit its length\n");
  BEGIN(0xAB, 15, 0, 1, 0, 0, 0, 1, 1, 2, 0, 'a', 0, 0, 0, 0, 0, 0);
  says("broken 26 INFO: its inner lengths do not fit its length\n");
  BEGIN(0xAB, 15, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 9); /* one byte too many */
  says("broken 26 INFO: its inner lengths do not fit its length\n");
  BEGIN(0xAB, 14, 0, 1, 0, 0, 0, 1, 1, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0);
  says("broken 25 INFO: its inner lengths do not fit its length\n");
  BEGIN(0xAB, 0, 0);
  says("broken 11 INFO: its inner lengths do not fit its length\n");
  limits.message_max = 100;
  BEGIN(0xAB, 101, 0);
  says("broken 11 a message of 101 bytes is over message_max\n");
  limits.message_max = 0;
}

static void test_env(void **state) {
  (void)state;
  BEGIN(0xE3, 13, 0, 1);
  put_name("db");
  put_name("old");
  PUT(0xE3, 9, 0, 4);
  put_name("512");
  put_name("");
  PUT(0xE3, 8, 0, 7, 5, LATIN, 0);
  PUT(0xE3, 11, 0, 8, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0);
  PUT(0xE3, 11, 0, 9, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8);
  PUT(0xE3, 3, 0, 18, 0, 0);
  PUT(0xE3, 8, 0, 15, 2, 0, 0, 0, 0xAA, 0xBB, 0);
  PUT(0xE3, 7, 0, 5, 1, '1', 0, 1, '2', 0);
  PUT(0xE3, 16, 0, 20, 11, 0, 0, 0x99, 0x05, 3, 0, 'h', 0, 'o', 0, 'b', 0, 0, 0);
  PUT(0xE3, 3, 0, 99, 1, 2);
  says("env 1 0 db|\n"
       "env 4 0 512|\n"
       "env 7 0 |0904D00034\n"
       "env 8 0 |0102030405060708\n"
       "env 9 0 |\n"
       "env 18 0 |\n"
       "env 15 0 |AABB\n"
       "env 5 0 |3100\n"
       "env 20 1433 hob|\n"
       "env 99 0 |0102\n"
       "end\n");
}

static void test_env_lengths(void **state) {
  (void)state;
  BEGIN(0xE3, 0, 0);
  says("broken 11 ENVCHANGE of type 0: its inner lengths do not fit its length\n");
  BEGIN(0xE3, 3, 0, 1, 2, 0);
  says("broken 14 ENVCHANGE of type 1: its inner lengths do not fit its length\n");
  BEGIN(0xE3, 4, 0, 8, 0, 0, 0);
  says("broken 15 ENVCHANGE of type 8: its inner lengths do not fit its length\n");
  BEGIN(0xE3, 7, 0, 15, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0);
  says("broken 18 ENVCHANGE of type 15: its inner lengths do not fit its length\n");
  BEGIN(0xE3, 10, 0, 20, 5, 0, 0, 1, 0, 1, 0, 0, 0); /* the name goes beyond the value */
  says("broken 21 ENVCHANGE of type 20: its inner lengths do not fit its length\n");
  BEGIN(0xE3, 3, 0, 20, 9, 0);
  says("broken 14 ENVCHANGE of type 20: its inner lengths do not fit its length\n");
}

static void test_login(void **state) {
  (void)state;
  BEGIN(0xAD, 16, 0, 1, 0x74, 0, 0, 4, 3, 'S', 0, 'Q', 0, 'L', 0, 16, 0, 3, 0xE8);
  PUT(0xAE, 4, 1, 0, 0, 0, 1, 10, 0, 0, 0, 0, 5, 3, 0, 0, 0, 7, 8, 9, 0xFF);
  says("login 1 74000004 16.0.3.232 SQL\n"
       "feature 4 01\n"
       "feature 10 \n"
       "feature 5 070809\n"
       "end\n");
  BEGIN(0xAD, 10, 0, 1, 0x74, 0, 0, 4, 1, 16, 0, 3, 0xE8);
  says("broken 21 LOGINACK: its inner lengths do not fit its length\n");
  BEGIN(0xAE, 4, 0, 0, 1, 0);
  says("broken 14 the message ends inside token 0xAE\n");
  BEGIN(0xAE, 4, 1, 0, 1, 0);
  says("broken 14 FEATUREEXTACK: data of 65537 bytes is over message_max\n");
}

static void test_passed_over(void **state) {
  (void)state;
  BEGIN(0xA9, 4, 0, 1, 0, 2, 0);
  PUT(0xA4, 5, 0, 1, 1, 0, 3, 0, 0xA5, 0, 0, 0xED, 1, 0, 0xFD);
  PUT(0xE4, 5, 0, 0, 0, 1, 2, 3, 4, 5, 0xEE, 1, 0, 0, 0, 0xAA);
  PUT(0x79, 0xFE, 0xFF, 0xFF, 0xFF);
  says("status -2\nend\n");
  BEGIN(0xE4, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3);
  says("broken 16 the message ends inside token 0xE4\n");
}

static void test_refused_tokens(void **state) {
  (void)state;
  BEGIN(0x88, 0, 0, 1, 0, 0);
  says("broken 14 ALTMETADATA: 0 columns are none, or over columns_max\n");
  BEGIN(0x88, 1, 16, 1, 0, 0);
  says("broken 14 ALTMETADATA: 4097 columns are none, or over columns_max\n");
  BEGIN(0x88, 1, 0, 1, 0, 0, 0x4D, 1, 0, 0, 0, 0, 0, 0, 0, 0x99);
  says("broken 24 unknown column type 0x99\n");
  BEGIN(0xD3, 1, 0);
  says("broken 11 ALTROW: no ALTMETADATA has its id\n");
  BEGIN(0x88, 1, 0, 1, 0, 0, 0x4D, 1, 0, 0, 0, 0, 0, 0, 0, 0x26, 4, 0, 0xD3, 1, 0, 3);
  says("broken 30 computed column 1: a length that its type does not have\n");
  BEGIN(0x00);
  says("broken 9 unknown token 0x0\n");
  BEGIN(0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x5A);
  says("done FD 0000 0 0\nbroken 22 unknown token 0x5A\n");
  BEGIN(0xD1);
  says("broken 9 a row without column metadata\n");
  BEGIN(0xD2);
  says("broken 9 a row without column metadata\n");
  BEGIN(0x81, 0xFF, 0xFF, 0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xD1);
  says("done FD 0000 0 0\nbroken 25 a row without column metadata\n");
  BEGIN(0xFD, 0, 0);
  says("broken 11 the message ends inside token 0xFD\n");
}

/* Whatever follows. */
static void test_broken_stays(void **state) {
  (void)state;
  static uint8_t bytes[256];
  made.size = 0;
  PUT_COLUMN(0x30);
  PUT(0xD1, 7, 0x5A, 0xD1, 8);
  size_t size = frame(bytes, 100);
  harness_heap_init(&heap);
  alo_tds_reader *reader = alo_tds_reader_open(&heap.allocator, NULL);
  aloft_bytes input = {bytes, size};
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_METADATA);
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_ROW_READY);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_BROKEN);
  }
  alo_tds_reader_close(reader);
  harness_heap_check(&heap);
}

static void test_packets(void **state) {
  (void)state;
  static const struct {
    uint8_t bytes[16];
    size_t size;
    const char *says;
  } cases[] = {
      {{4, 1, 0, 7, 0, 0, 0, 0}, 8, "broken 8 a packet length below the header's 8 bytes\n"},
      {{4, 1, 0x80, 0, 0, 0, 0, 0}, 8, "broken 8 a packet length above 32,767 bytes\n"},
      {{1, 1, 0, 9, 0, 0, 0, 0, 0xFD},
       9,
       "broken 8 a packet of type 0x1 in place of a tabular result\n"},
      {{4, 1, 0, 8, 0, 0, 0, 0}, 8, "end\n"},
      {{4, 0, 0, 8, 0, 0, 0, 0, 4, 1, 0, 8, 0, 0, 0, 0}, 16, "end\n"}};
  tds_transcript got;
  tds_transcript_init(&got, 16);
  for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
    for (size_t split = 1; split <= cases[at].size; split++) {
      read_stream(&got, cases[at].bytes, cases[at].size, split, 1);
      same("split at", split, got.text, cases[at].says);
    }
  }
  tds_transcript_fini(&got);
}

/* ---- columns ---- */

static void test_columns(void **state) {
  (void)state;
  BEGIN(0x81, 11, 0);
  put_column_head(0x26), PUT(4), put_name("int");
  put_column_head(0x38), put_name("");
  put_column_head(0x6C), PUT(17, 38, 10), put_name("n\xC3\xB6m");
  put_column_head(0x28), put_name("d");
  put_column_head(0x2B), PUT(7), put_name("o");
  put_column_head(0xE7), PUT(0xFF, 0xFF, LATIN), put_name("x");
  put_column_head(0x63), PUT(0xFE, 0xFF, 0xFF, 0x7F, LATIN);
  PUT(2), put_wide("dbo"), put_wide("table"), put_name("nt");
  put_column_head(0x22), PUT(0xFF, 0xFF, 0xFF, 0x7F, 1), put_wide("t"), put_name("im");
  put_column_head(0xF1), PUT(1), put_name("db"), put_name("s"), put_wide("col"), put_name("xm");
  put_column_head(0xF0), PUT(0xFF, 0xFF), put_name("db"), put_name("s"), put_name("t");
  put_wide("assembly"), put_name("u");
  put_column_head(0x62), PUT(0x49, 0x1F, 0, 0), put_name("v");
  says("columns int int| int|n\xC3\xB6m numeric|d date|o datetimeoffset|x nvarchar(max)|"
       "nt ntext table=dbo.table|im image table=t|xm xml|u udt udt=db.s.t|v sql_variant\nend\n");
}

static void test_column_flags(void **state) {
  (void)state;
  static uint8_t bytes[64];
  BEGIN(0x81, 1, 0, 0x50, 0, 0, 0, 0x19, 0x08, 0xA7, 5, 0, LATIN, 0);
  aloft_bytes input = {bytes, frame(bytes, 100)};
  harness_heap_init(&heap);
  alo_tds_reader *reader = alo_tds_reader_open(&heap.allocator, NULL);
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_METADATA);
  const alo_tds_column_info *column = alo_tds_reader_column(reader, 0);
  assert_int_equal(column->user_type, 0x50);
  assert_int_equal(column->flags, 0x819);
  assert_int_equal(column->type.size, 5);
  assert_memory_equal(column->type.collation, ((const uint8_t[]){LATIN}), 5);
  assert_int_equal(column->name.size, 0);
  assert_non_null(column->name.data);
  assert_null(alo_tds_reader_column(reader, 1));
  assert_null(alo_tds_reader_cell(reader, 1));
  assert_true(alo_tds_reader_cell(reader, 0)->null);
  assert_true(alo_tds_reader_has(reader, ALO_TDS_HAS_METADATA));
  assert_true(alo_tds_reader_has(reader, ALO_TDS_HAS_RESULT));
  assert_true(alo_tds_reader_has(reader, ALO_TDS_HAS_PENDING));
  assert_false(alo_tds_reader_has(reader, ALO_TDS_HAS_ERROR));
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_END);
  assert_false(alo_tds_reader_has(reader, ALO_TDS_HAS_PENDING));
  alo_tds_reader_close(reader);
  harness_heap_check(&heap);
}

/* Between the halves of COLMETADATA there are no columns, however many are announced. */
static void test_columns_half_read(void **state) {
  (void)state;
  static uint8_t bytes[64];
  BEGIN(0x81, 0, 0x10, 0, 0, 0, 0, 0, 0, 0x30, 0);
  harness_heap_init(&heap);
  alo_tds_reader *reader = alo_tds_reader_open(&heap.allocator, NULL);
  aloft_bytes input = {bytes, frame(bytes, 100)};
  input.size -= 1;
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_NEED);
  assert_int_equal(alo_tds_reader_column_count(reader), 0);
  assert_null(alo_tds_reader_column(reader, 0));
  assert_null(alo_tds_reader_cell(reader, 0));
  alo_tds_reader_close(reader);
  harness_heap_check(&heap);
}

/* ---- names of UDTs and tables, TABNAME, COLINFO ---- */

static void put_udt(const char *database, const char *schema, const char *type) {
  put_column_head(0xF0), PUT(0xFF, 0xFF);
  put_name(database), put_name(schema), put_name(type), put_wide("Some.Assembly, Version=1");
}

static void test_names_in_parts(void **state) {
  (void)state;
  BEGIN(0x81, 4, 0);
  put_udt("shop", "dbo", "P\xC3\xB8int"), put_name("u");
  put_udt("", "sys", "geometry"), put_name("g");
  put_column_head(0x23), PUT(0xFF, 0xFF, 0xFF, 0x7F, LATIN, 3);
  put_wide("shop"), put_wide(""), put_wide("\xF0\x9F\x98\x80"), put_name("t");
  put_column_head(0x22), PUT(0xFF, 0xFF, 0xFF, 0x7F, 1), put_wide("t1"), put_name("i");
  PUT(0xD1);
  put_plp(3, 2, "\1\2\3", 3);
  put_plp(UINT64_MAX - 1, 1, "\xFF", 1);
  PUT(0, 0);
  says("columns u udt udt=shop.dbo.P\xC3\xB8int|g udt udt=sys.geometry|"
       "t text table=shop..\xF0\x9F\x98\x80|i image table=t1\n"
       "row 0x010203|0xFF|<null>|<null>\nend\n");
}

static void test_names_too_long(void **state) {
  (void)state;
  BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0xF0, 8, 0, 129);
  says("broken 21 column 1: a name above 128 characters\n");
  BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x22, 8, 0, 0, 0, 5);
  says("broken 23 column 1: a table's name of more than 4 parts\n");
  BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x22, 8, 0, 0, 0, 1, 129, 0);
  says("broken 25 column 1: a name above 128 characters\n");
  BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x38, 129);
  says("broken 19 column 1: a name above 128 characters\n");
  BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0xF1, 1, 129);
  says("broken 20 column 1: a name above 128 characters\n");
}

/* Three int columns: a of the first table, b an expression, c of the second with another name. */
static void put_three_columns(void) {
  BEGIN(0x81, 3, 0);
  put_column_head(0x38), put_name("a");
  put_column_head(0x38), put_name("b");
  put_column_head(0x38), put_name("c");
}

static void end_token(size_t begin) {
  size_t size = made.size - begin - 3;
  made.bytes[begin + 1] = (uint8_t)size;
  made.bytes[begin + 2] = (uint8_t)(size >> 8);
}

static void put_tables(void) {
  size_t begin = made.size;
  PUT(0xA4, 0, 0, 1), put_wide("t");
  PUT(2), put_wide("dbo"), put_wide("\xC3\xA9t\xC3\xA9"), PUT(0);
  end_token(begin);
}

static void put_colinfo(void) {
  size_t begin = made.size;
  PUT(0xA5, 0, 0, 1, 1, 0x08, 2, 0, 0x04, 3, 2, 0x30), put_name("base");
  end_token(begin);
}

static void test_browse(void **state) {
  (void)state;
  put_three_columns(), put_tables(), put_colinfo();
  PUT(0xD1, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0);
  put_done();
  const char *told = "columns a int|b int|c int\n"
                     "told a 4000 table=t|b 0020|c 2000 table=dbo.\xC3\xA9t\xC3\xA9 base=base\n"
                     "row 1|2|3\ndone FD 0000 0 0\nend\n";
  says(told);
  put_three_columns(), put_tables(), put_colinfo(), put_tables(), put_colinfo(); /* again */
  PUT(0xD1, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0);
  put_done();
  says(told);
  put_three_columns(), put_colinfo(); /* without the tables' names */
  says("columns a int|b int|c int\ntold a 4000|b 0020|c 2000 base=base\nend\n");
  BEGIN(0xA5, 3, 0, 7, 7, 0); /* of no columns */
  says("end\n");
  made.size = 0; /* each result set has its own */
  PUT_COLUMN(0x38), PUT(0xA5, 3, 0, 1, 0, 0x08), put_done();
  PUT_COLUMN(0x38), PUT(0xA5, 3, 0, 1, 0, 0x10), put_done();
  says("columns c int\ntold c 4000\ndone FD 0000 0 0\n"
       "columns c int\ntold c 2000\ndone FD 0000 0 0\nend\n");
}

/* The number of a column has one byte: behind 255 it is 0. */
static void test_browse_many_columns(void **state) {
  (void)state;
  BEGIN(0x81, 0x02, 0x01);
  for (size_t at = 0; at < 258; at++) {
    put_column_head(0x38), PUT(0);
  }
  PUT(0xA5, 9, 0, 255, 0, 0x08, 0, 0, 0x10, 2, 0, 0x08);
  put_done();
  static uint8_t bytes[STREAM_MAX];
  tds_transcript got;
  size_t size = frame(bytes, 4000);
  tds_transcript_init(&got, size);
  read_stream(&got, bytes, size, size, size);
  const char *found = strstr(got.text, " 4000| 2000| 0000| 4000\ndone");
  assert_non_null(found);
  tds_transcript_fini(&got);
}

static void test_browse_errors(void **state) {
  (void)state;
  const char *columns = "columns a int|b int|c int\n";
  char expected[160];
  static const struct {
    uint8_t bytes[12];
    size_t size;
    const char *reason;
  } cases[] = {
      {{0xA4, 1, 0, 5}, 4, "45 TABNAME: its inner lengths do not fit its length, or a limit"},
      {{0xA4, 1, 0, 1}, 4, "45 TABNAME: its inner lengths do not fit its length, or a limit"},
      {{0xA4, 3, 0, 1, 2, 0}, 6, "47 TABNAME: its inner lengths do not fit its length, or a limit"},
      {{0xA4, 3, 0, 1, 129, 0},
       6,
       "47 TABNAME: its inner lengths do not fit its length, or a limit"},
      {{0xA5, 2, 0, 1, 1}, 5, "46 COLINFO: its inner lengths do not fit its length, or a limit"},
      {{0xA5, 4, 0, 1, 1, 0x20, 1},
       7,
       "48 COLINFO: its inner lengths do not fit its length, or a limit"},
      {{0xA5, 4, 0, 1, 1, 0x20, 129},
       7,
       "48 COLINFO: its inner lengths do not fit its length, or a limit"},
      {{0xA5, 3, 0, 4, 1, 0}, 6, "47 COLINFO: there is no column 4"},
      {{0xA5, 6, 0, 2, 0, 0, 1, 0, 0}, 9, "50 COLINFO: there is no column 1"},
  };
  for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
    put_three_columns();
    put(cases[at].bytes, cases[at].size);
    snprintf(expected, sizeof expected, "%sbroken %s\n", columns, cases[at].reason);
    says(expected);
  }
  put_three_columns(), put_tables();
  PUT(0xA5, 3, 0, 1, 4, 0);
  snprintf(expected, sizeof expected, "%sbroken 73 COLINFO: there is no table 4\n", columns);
  says(expected);
}

/* ---- characters in pieces ---- */

/* Every code page is read the same, whatever cuts a character. */
static void test_code_pages_cut(void **state) {
  (void)state;
  BEGIN(0x81, 3, 0);
  put_column_head(0xA7), PUT(0xFF, 0xFF, 0x11, 0x04, 0xD0, 0x00, 0x00), put_name("j");
  put_column_head(0x23), PUT(0xFF, 0xFF, 0xFF, 0x7F, 0x19, 0x04, 0xD0, 0x00, 0x00, 0);
  put_name("r");
  put_column_head(0xA7), PUT(20, 0, 0x04, 0x08, 0xD0, 0x00, 0x00), put_name("c");
  PUT(0xD1);
  put_plp(9, 2, "a\x83\x65\x83\x58\x83\"\x83\x65", 9);
  PUT(1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 3, 0, 0, 0, 0xCF, 0xF0, 0xE8);
  PUT(5, 0, 0xC4, 0xE3, 0xBA, 0xC3, 0x80);
  PUT(0xD1);
  put_plp(UINT64_MAX - 1, 1, "\x83", 1);
  PUT(0);
  PUT(0xFF, 0xFF);
  says("columns j varchar(max)|r text|c varchar\n"
       "row a\xE3\x83\x86\xE3\x82\xB9\xEF\xBF\xBD\"\xE3\x83\x86|"
       "\xD0\x9F\xD1\x80\xD0\xB8|\xE4\xBD\xA0\xE5\xA5\xBD\xE2\x82\xAC\n"
       "row \xEF\xBF\xBD|<null>|<null>\nend\n");
}

/* UTF-8 is repaired the same, whatever cuts a character, broken or not. */
static void test_utf8_cut(void **state) {
  (void)state;
  BEGIN(0x81, 2, 0);
  put_column_head(0xF4), put_name("j");
  put_column_head(0xA7), PUT(0xFF, 0xFF, 0x09, 0x04, 0xD0, 0x04, 0x00), put_name("u");
  PUT(0xD1);
  put_plp(14, 3, "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBB\xBF\"", 14);
  put_plp(16, 5, "\xF0\x9F\x98x\xE2\x82\xC3\xA9\x80\xED\xA0\x80\xF4\x90\xC0\xE2", 16);
  PUT(0xD1);
  put_plp(UINT64_MAX, 1, "", 0);
  made.size -= 4;
  put_plp(0, 1, "", 0);
  says("columns j json|u varchar(max)\n"
       "row \"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBB\xBF\"|"
       "\xEF\xBF\xBDx\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD"
       "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\n"
       "row <null>|\nend\n");
}

static void test_legacy_types(void **state) {
  (void)state;
  static const struct {
    uint8_t token;
    const char *name;
  } legacy[] = {{0x25, "varbinary"}, {0x27, "varchar"}, {0x2D, "binary"},
                {0x2F, "char"},      {0x37, "decimal"}, {0x3F, "numeric"}};
  for (size_t at = 0; at < sizeof legacy / sizeof *legacy; at++) {
    char expected[128];
    BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0);
    PUT(legacy[at].token);
    snprintf(expected, sizeof expected,
             "unsupported 18 a column of type 0x%02X, %s of before TDS 7, is not supported\n",
             legacy[at].token, legacy[at].name);
    says(expected);
  }
}

static void test_column_errors(void **state) {
  (void)state;
  BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x55);
  says("broken 18 unknown column type 0x55\n");
  BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x26, 3);
  says("broken 19 column 1: a size that its type does not have\n");
  BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x24, 200);
  says("broken 19 column 1: a size that its type does not have\n");
  BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x6A, 17, 39, 0);
  says("broken 21 column 1: a decimal precision outside 1 to 38\n");
  BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x6A, 16, 38, 0);
  says("broken 21 column 1: a decimal of a size other than 5, 9, 13 and 17\n");
  BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x6A, 17, 5, 6);
  says("broken 21 column 1: a decimal scale above its precision\n");
  BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x29, 8);
  says("broken 19 column 1: a time scale above 7\n");
  BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0xE7, 0x41, 0x1F, LATIN);
  says("broken 25 column 1: a size above 8,000 bytes\n");
  BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0xEF, 3, 0, LATIN);
  says("broken 25 column 1: an odd size for a type of UTF-16\n");
  BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0xAD, 0xFF, 0xFF);
  says("broken 20 column 1: a size above 8,000 bytes\n");
  BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0xF1, 2);
  says("broken 19 column 1: an xml schema mark other than 0 and 1\n");
  BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x62, 0xFF, 0xFF, 0, 0);
  says("broken 22 column 1: a sql_variant above 8,016 bytes\n");
  BEGIN(0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0x22, 0xFF, 0xFF, 0xFF, 0xFF);
  says("broken 22 column 1: a size above 2,147,483,647 bytes\n");
  BEGIN(0x81, 1, 0x10);
  says("broken 11 COLMETADATA: 4097 columns are over columns_max\n");
}

/* ---- rows ---- */

static void test_fixed_cells(void **state) {
  (void)state;
  BEGIN(0x81, 4, 0);
  put_column_head(0x38), put_name("i");
  put_column_head(0x1F), put_name("n");
  put_column_head(0x30), put_name("t");
  put_column_head(0x3E), put_name("f");
  PUT(0xD1, 1, 0, 0, 0x80, 255, 0, 0, 0, 0, 0, 0, 0xF8, 0x3F);
  PUT(0xD2, 0x0C, 7, 0, 0, 0);
  PUT(0xD2, 0xF1, 7, 0, 0, 0, 0, 0, 0, 0, 0xC0);
  put_done();
  says("columns i int|n null|t tinyint|f float\n"
       "row -2147483647|<null>|255|1.5\n"
       "row 7|<null>|<null>|<null>\n"
       "row <null>|<null>|7|-2\n"
       "done FD 0000 0 0\nend\n");
}

static void test_byte_cells(void **state) {
  (void)state;
  BEGIN(0x81, 3, 0);
  put_column_head(0x26), PUT(8), put_name("i");
  put_column_head(0x6A), PUT(17, 38, 2), put_name("d");
  put_column_head(0x2A), PUT(0), put_name("t");
  PUT(0xD1, 8, 1, 0, 0, 0, 0, 0, 0, 0, 17, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  PUT(6, 0x7F, 0x51, 0x01, 0, 0, 0);
  PUT(0xD1, 0, 5, 1, 5, 0, 0, 0, 0);
  says("columns i bigint|d decimal|t datetime2\n"
       "row 1|-0.05|0001-01-01 23:59:59\n"
       "row <null>|0.05|<null>\n"
       "end\n");
}

static void test_cell_lengths(void **state) {
  (void)state;
  static const uint8_t lengths[] = {3, 8, 36, 255};
  for (size_t at = 0; at < sizeof lengths; at++) {
    made.size = 0;
    PUT_COLUMN(0x26, 4);
    PUT(0xD1, lengths[at]);
    says("columns c int\nbroken 24 column 1: a length that its type does not have\n");
  }
  made.size = 0;
  PUT_COLUMN(0x6A, 9, 19, 0);
  PUT(0xD1, 13);
  says("columns c decimal\nbroken 26 column 1: a length that its type does not have\n");
  made.size = 0;
  PUT_COLUMN(0xA5, 4, 0);
  PUT(0xD1, 5, 0);
  says("columns c varbinary\nbroken 26 column 1: a value longer than its column\n");
  PUT(1, 2, 3, 4, 5);
  says("columns c varbinary\nbroken 26 column 1: a value longer than its column\n");
  made.size = 0;
  PUT_COLUMN(0xE7, 4, 0, LATIN);
  PUT(0xD1, 3, 0);
  says("columns c nvarchar\nbroken 31 column 1: an odd length of UTF-16\n");
  made.size = 0;
  PUT_COLUMN(0x62, 0x49, 0x1F, 0, 0);
  PUT(0xD1, 0x4A, 0x1F, 0, 0);
  says("columns c sql_variant\nbroken 30 column 1: a value longer than its column\n");
}

static void test_text_cells(void **state) {
  (void)state;
  BEGIN(0x81, 4, 0);
  put_column_head(0xE7), PUT(100, 0, LATIN), put_name("n");
  put_column_head(0xA7), PUT(100, 0, LATIN), put_name("v");
  put_column_head(0xA5), PUT(4, 0), put_name("b");
  put_column_head(0x62), PUT(0x49, 0x1F, 0, 0), put_name("x");
  PUT(0xD1, 8, 0, 'a', 0, 0xAC, 0x20, 0x3D, 0xD8, 0x00, 0xDE, 2, 0, 0x80, 'z', 4, 0, 1, 2, 3, 4);
  PUT(6, 0, 0, 0, 0x38, 0, 42, 0, 0, 0);
  PUT(0xD1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0);
  PUT(0xD1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0x55, 0, 1);
  says("columns n nvarchar|v varchar|b varbinary|x sql_variant\n"
       "row a\xE2\x82\xAC\xF0\x9F\x98\x80|\xE2\x82\xACz|0x01020304|42\n"
       "row <null>|<null>|<null>|<null>\n"
       "row ||0x|<an unknown base type in a sql_variant>\n"
       "end\n");
}

/* An empty binary is "0x". */
static void test_empty_cells(void **state) {
  (void)state;
  made.size = 0;
  PUT_COLUMN(0xA5, 4, 0);
  PUT(0xD1, 0, 0);
  says("columns c varbinary\nrow 0x\nend\n");
}

static void test_nbcrow(void **state) {
  (void)state;
  BEGIN(0x81, 9, 0);
  for (unsigned at = 0; at < 9; at++) {
    put_column_head(0x30), put_name("");
  }
  PUT(0xD2, 0x55, 0x00, 2, 4, 6, 8, 9);
  PUT(0xD2, 0xFF, 0x01);
  PUT(0xD2, 0x00, 0xFE, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  says("columns  tinyint| tinyint| tinyint| tinyint| tinyint| tinyint| tinyint| tinyint| tinyint\n"
       "row <null>|2|<null>|4|<null>|6|<null>|8|9\n"
       "row <null>|<null>|<null>|<null>|<null>|<null>|<null>|<null>|<null>\n"
       "row 1|2|3|4|5|6|7|8|9\n"
       "end\n");
}

/* ---- large values ---- */

static void test_plp(void **state) {
  (void)state;
  BEGIN(0x81, 4, 0);
  put_column_head(0xE7), PUT(0xFF, 0xFF, LATIN), put_name("n");
  put_column_head(0xA7), PUT(0xFF, 0xFF, LATIN), put_name("v");
  put_column_head(0xA5), PUT(0xFF, 0xFF), put_name("b");
  put_column_head(0xF1), PUT(0), put_name("x");
  static const uint8_t text[] = {'a', 0, 0x3D, 0xD8, 0x00, 0xDE, 0xAC, 0x20};
  static const uint8_t xml[] = {0xFF, 0xFE, '<', 0, '/', 0};
  PUT(0xD1);
  put_plp(8, 3, text, 8);
  put_plp(UINT64_MAX - 1, 1, "\x80z\xE9", 3);
  put_plp(5, 100, "\1\2\3\4\5", 5);
  put_plp(UINT64_MAX - 1, 3, xml, 6);
  PUT(0xD1);
  put_plp(0, 1, "", 0);
  put_plp(UINT64_MAX - 1, 1, "", 0);
  put_u64(UINT64_MAX), put_u64(UINT64_MAX);
  put_done();
  says("columns n nvarchar(max)|v varchar(max)|b varbinary(max)|x xml\n"
       "row a\xF0\x9F\x98\x80\xE2\x82\xAC|\xE2\x82\xACz\xC3\xA9|0x0102030405|</\n"
       "row ||<null>|<null>\n"
       "done FD 0000 0 0\nend\n");
}

static void test_plp_utf8(void **state) {
  (void)state;
  BEGIN(0x81, 2, 0);
  put_column_head(0xA7), PUT(0xFF, 0xFF, 0x09, 0x04, 0xD0, 0x04, 0), put_name("u");
  put_column_head(0xA7), PUT(0xFF, 0xFF, 0x11, 0x04, 0xD0, 0x00, 0), put_name("j");
  PUT(0xD1);
  put_plp(3, 2, "\xE2\x82\xAC", 3);
  put_plp(2, 2, "ab", 2);
  PUT(0xD1);
  put_plp(2, 2, "\xE2z", 2);
  put_plp(2, 2, "\x83z", 2);
  says("columns u varchar(max)|j varchar(max)\n"
       "row \xE2\x82\xAC|ab\n"
       "row \xEF\xBF\xBDz|\xE3\x83\x9B\n"
       "end\n");
}

static void test_plp_lengths(void **state) {
  (void)state;
  made.size = 0;
  PUT_COLUMN(0xA5, 0xFF, 0xFF);
  size_t head = made.size;
  PUT(0xD1);
  put_plp(4, 5, "12345", 5);
  says("columns c varbinary(max)\n"
       "broken 36 column 1: chunks that exceed the length announced\n");
  made.size = head;
  PUT(0xD1);
  put_plp(6, 5, "12345", 5);
  says("columns c varbinary(max)\n"
       "broken 45 column 1: chunks that end before the length announced\n");
  made.size = head;
  PUT(0xD1), put_u64(UINT64_C(0x7FFFFFFFFFFFFFFF)), put_u32(UINT32_MAX), PUT(1, 2, 3);
  says("columns c varbinary(max)\nbroken 39 the message ends inside token 0xD1\n");
  made.size = 0;
  PUT_COLUMN(0xE7, 0xFF, 0xFF, LATIN);
  PUT(0xD1);
  put_plp(UINT64_MAX - 1, 2, "abc", 3);
  says("columns c nvarchar(max)\nbroken 52 column 1: an odd length of UTF-16\n");
}

static void test_old_lobs(void **state) {
  (void)state;
  BEGIN(0x81, 3, 0);
  put_column_head(0x23), PUT(0xFF, 0xFF, 0xFF, 0x7F, LATIN, 0), put_name("t");
  put_column_head(0x63), PUT(0xFE, 0xFF, 0xFF, 0x7F, LATIN, 0), put_name("n");
  put_column_head(0x22), PUT(0xFF, 0xFF, 0xFF, 0x7F, 0), put_name("i");
  PUT(0xD1, 16, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 1, 2, 3, 4, 5, 6, 7, 8);
  PUT(2, 0, 0, 0, 0xE9, 'x');
  PUT(1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 2, 0, 0, 0, 0xAC, 0x20);
  PUT(1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0);
  PUT(0xD1, 0, 0, 0);
  says("columns t text|n ntext|i image\n"
       "row \xC3\xA9x|\xE2\x82\xAC|0x\n"
       "row <null>|<null>|<null>\nend\n");
  made.size = 0;
  PUT_COLUMN(0x22, 0xFF, 0xFF, 0xFF, 0x7F, 0);
  PUT(0xD1, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0xFF, 0xFF, 0xFF, 0xFF);
  says("columns c image\nbroken 41 column 1: a length above 2,147,483,647 bytes\n");
  made.size = 0;
  PUT_COLUMN(0x63, 0xFF, 0xFF, 0xFF, 0x7F, LATIN, 0);
  PUT(0xD1, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 3, 0, 0, 0);
  says("columns c ntext\nbroken 46 column 1: an odd length of UTF-16\n");
}

/* Over the limit: skipped, and the stream goes on. */
static void test_value_max(void **state) {
  (void)state;
  BEGIN(0x81, 2, 0);
  put_column_head(0xA5), PUT(0xFF, 0xFF), put_name("b");
  put_column_head(0xE7), PUT(0xFF, 0xFF, LATIN), put_name("n");
  PUT(0xD1);
  put_plp(8, 3, "12345678", 8);
  put_plp(10, 4, "1\0002\0003\0004\0005\0", 10);
  PUT(0xD1);
  put_plp(9, 3, "123456789", 9);
  put_plp(4, 4, "1\0002\0", 4);
  PUT(0xD1);
  put_plp(1, 3, "1", 1);
  put_plp(6, 4, "\xAC\x20\xAC\x20\xAC\x20", 6);
  PUT(0xD1);
  put_plp(8, 8, "12345678", 8);
  put_plp(8, 4, "1\0002\0003\0004\0", 8);
  limits = (alo_tds_limits){.value_max = 8, .row_max = 12};
  says("columns b varbinary(max)|n nvarchar(max)\n"
       "row 0x3132333435363738|<over>\n"
       "row <over>|12\n"
       "row 0x31|<over>\n"
       "row 0x3132333435363738|1234\n"
       "end\n");
  limits = (alo_tds_limits){0};
}

/* Values of many sizes around the boundaries of blocks and strides, in chunks that do not fit. */
static void test_large_sizes(void **state) {
  (void)state;
  static uint8_t bytes[STREAM_MAX];
  static char data[50000];
  static const size_t sizes[] = {1023, 1024, 1025, 16383, 16384, 16385, 32769, 50000};
  for (size_t at = 0; at < sizeof data; at++) {
    data[at] = (char)('a' + at % 26);
  }
  for (size_t at = 0; at < sizeof sizes / sizeof *sizes; at++) {
    made.size = 0;
    PUT_COLUMN(0xA7, 0xFF, 0xFF, LATIN);
    PUT(0xD1);
    put_plp(sizes[at], 700, data, sizes[at]);
    size_t size = frame(bytes, 4088);
    tds_transcript got;
    tds_transcript_init(&got, size);
    for (size_t piece = 500; piece < 60000; piece = piece * 2 + 1) {
      read_stream(&got, bytes, size, piece, piece);
      const char *row = strstr(got.text, "row ");
      assert_non_null(row);
      assert_memory_equal(row + 4, data, sizes[at]);
      assert_string_equal(row + 4 + sizes[at], "\nend\n");
    }
    tds_transcript_fini(&got);
  }
}

/* ---- RETURNVALUE ---- */

static void test_return_values(void **state) {
  (void)state;
  BEGIN(0xAC, 0, 0);
  put_name("@b");
  PUT(1, 0, 0, 0, 0, 0, 0, 0x26, 4, 4, 10, 0, 0, 0);
  PUT(0xAC, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0xE7, 0xFF, 0xFF, LATIN);
  put_plp(UINT64_MAX - 1, 2, "x\0y\0", 4);
  PUT(0xAC, 2, 0);
  put_name("@n");
  PUT(1, 0, 0, 0, 0, 0, 0, 0xA7, 10, 0, LATIN, 0xFF, 0xFF);
  PUT(0xFE, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  says("value @b int|10\nvalue  nvarchar(max)|xy\nvalue @n varchar|<null>\n"
       "done FE 0000 0 0\nend\n");
  BEGIN(0xAC, 0, 0);
  put_name("@u");
  PUT(1);
  put_udt("shop", "dbo", "Point");
  put_plp(2, 1, "\1\2", 2);
  PUT(0xAC, 0, 0, 0, 1);
  put_column_head(0xF4), put_plp(2, 2, "{}", 2);
  PUT(0xAC, 0, 0, 0, 1);
  put_column_head(0x62), PUT(0x49, 0x1F, 0, 0, 3, 0, 0, 0, 0x30, 0, 7);
  says("value @u udt|0x0102\nvalue  json|{}\nvalue  sql_variant|7\nend\n");
  BEGIN(0xAC, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x26, 4, 3);
  says("broken 22 return value: a length that its type does not have\n");
  BEGIN(0xAC, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0x99);
  says("broken 20 unknown column type 0x99\n");
}

/* Inside a row whose values are still asked for, a return value's memory is another. */
static void test_two_results(void **state) {
  (void)state;
  made.size = 0;
  PUT_COLUMN(0x30);
  PUT(0xD1, 1, 0xD1, 2);
  put_done();
  PUT_COLUMN(0xE7, 20, 0, LATIN);
  PUT(0xD1, 2, 0, 'x', 0);
  put_done();
  says("columns c tinyint\nrow 1\nrow 2\ndone FD 0000 0 0\n"
       "columns c nvarchar\nrow x\ndone FD 0000 0 0\nend\n");
}

/* ---- the life of a reader ---- */

static void test_sticky(void **state) {
  (void)state;
  static const uint8_t bytes[] = {4, 1, 0, 10, 0, 0, 0, 0, 0x5A, 0x5A, 4, 1, 0, 8, 0, 0, 0, 0};
  harness_heap_init(&heap);
  alo_tds_reader *reader = alo_tds_reader_open(&heap.allocator, NULL);
  uint64_t offset;
  bool unsupported;
  aloft_bytes input = {bytes, sizeof bytes};
  assert_null(alo_tds_reader_broken(reader, &offset, &unsupported));
  for (unsigned at = 0; at < 3; at++) {
    assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_BROKEN);
    assert_string_equal(alo_tds_reader_broken(reader, &offset, &unsupported), "unknown token 0x5A");
    assert_int_equal(offset, 9);
    assert_false(unsupported);
    assert_int_equal(input.size, sizeof bytes - 9);
  }
  alo_tds_reader_close(reader);
  harness_heap_check(&heap);
}

/* A row in which every kind of cell is; then a message; three such answers. */
static size_t make_rich(uint8_t *bytes, size_t payload) {
  BEGIN(0x81, 5, 0);
  put_column_head(0x26), PUT(4), put_name("i");
  put_column_head(0xE7), PUT(100, 0, LATIN), put_name("n");
  put_column_head(0xE7), PUT(0xFF, 0xFF, LATIN), put_name("m");
  put_column_head(0x6A), PUT(9, 18, 2), put_name("d");
  put_column_head(0x22), PUT(0xFF, 0xFF, 0xFF, 0x7F, 0), put_name("l");
  for (unsigned row = 0; row < 3; row++) {
    PUT(0xD1, 4, (uint8_t)row, 0, 0, 0, 6, 0, 'a', 0, 'b', 0, 'c', 0);
    put_plp(12, 5, "l\0a\0r\0g\0e\0\xAC\x20", 12);
    PUT(9, 1, 1, 2, 0, 0, 0, 0, 0, 0);
    PUT(1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 3, 0, 0, 0, 7, 8, 9);
  }
  PUT(0xD2, 0x1F);
  PUT(0xAB, 16, 0, 1, 0, 0, 0, 1, 1, 1, 0, 'm', 0, 0, 0, 9, 0, 0, 0);
  PUT(0xAC, 0, 0, 1, '@', 0, 1, 0, 0, 0, 0, 0, 0, 0x26, 4, 4, 10, 0, 0, 0);
  PUT(0x79, 1, 0, 0, 0);
  PUT(0xE3, 7, 0, 1, 1, 'd', 0, 1, 'e', 0);
  PUT(0xFD, 0x20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  return frame(bytes, payload);
}

/* Reads as if asked for all; in `skip_from`..: drains from that many bytes on. */
static void test_skip(void **state) {
  (void)state;
  static uint8_t bytes[4096];
  size_t size = make_rich(bytes, 50);
  tds_transcript whole;
  tds_transcript got;
  tds_transcript_init(&whole, size);
  tds_transcript_init(&got, size);
  read_stream(&whole, bytes, size, size, size);
  assert_int_equal(whole.rows, 4);
  for (size_t split = 0; split < size; split++) {
    harness_heap_init(&heap);
    alo_tds_reader *reader = alo_tds_reader_open(&heap.allocator, NULL);
    tds_transcript_clear(&got);
    assert_true(tds_transcript_feed(&got, reader, bytes, split));
    size_t before = got.size;
    assert_memory_equal(got.text, whole.text, before);
    alo_tds_reader_skip(reader, true);
    for (size_t at = split; at < size; at += 3) {
      assert_true(tds_transcript_feed(&got, reader, bytes + at, 3 < size - at ? 3 : size - at));
    }
    static const char *const rest = "env 1 0 d|\ndone FD 0020 0 0\nend\n";
    if (before < whole.size - strlen(rest)) {
      assert_string_equal(got.text + before, rest);
    } else {
      assert_string_equal(got.text, whole.text);
    }
    assert_true(alo_tds_reader_has(reader, ALO_TDS_HAS_ATTENTION));
    /* END has ended it: the next answer is read. */
    tds_transcript_clear(&got);
    assert_true(tds_transcript_feed(&got, reader, bytes, size));
    assert_string_equal(got.text, whole.text);
    alo_tds_reader_close(reader);
    harness_heap_check(&heap);
  }
  tds_transcript_fini(&whole);
  tds_transcript_fini(&got);
}

/* Rows that lie whole in their packet and in what has come are passed over like others. */
static void test_skip_whole_rows(void **state) {
  (void)state;
  static uint8_t bytes[256];
  made.size = 0;
  PUT_COLUMN(0x30);
  PUT(0xD1, 7, 0xD1, 8, 0xD1, 9);
  put_done();
  size_t size = frame(bytes, 100);
  harness_heap_init(&heap);
  alo_tds_reader *reader = alo_tds_reader_open(&heap.allocator, NULL);
  aloft_bytes input = {bytes, size};
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_METADATA);
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_ROW_READY);
  alo_tds_reader_skip(reader, true);
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_DONE);
  assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_END);
  alo_tds_reader_close(reader);
  harness_heap_check(&heap);
}

/* A value in pieces is passed over from wherever it was left: no piece and no end of it is said. */
static void test_pieces_are_passed_over(void **state) {
  (void)state;
  static uint8_t bytes[512];
  for (int read = 0; read < 3; read++) {
    made.size = 0;
    PUT_COLUMN(0xA5, 0xFF, 0xFF);
    PUT(0xD1);
    put_plp(9, 3, "abcdefghi", 9);
    put_done();
    size_t size = frame(bytes, 16);
    harness_heap_init(&heap);
    alo_tds_reader *reader = alo_tds_reader_open(&heap.allocator, NULL);
    alo_tds_reader_pieces(reader, true);
    aloft_bytes input = {bytes, size}, piece;
    assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_METADATA);
    assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_ROW_OPEN);
    for (int at = 0; at < read; at++)
      assert_int_equal(alo_tds_reader_read(reader, &input, &piece), ALO_TDS_PIECE);
    assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_ROW_READY);
    assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_DONE);
    assert_int_equal(alo_tds_reader_next(reader, &input), ALO_TDS_END);
    alo_tds_reader_close(reader);
    harness_heap_check(&heap);
  }
}

/* Taken back inside a row: that row stays unseen, the next is shown. */
static void test_skip_taken_back(void **state) {
  (void)state;
  static uint8_t bytes[256];
  made.size = 0;
  PUT_COLUMN(0xA5, 9, 0);
  PUT(0xD1, 3, 0, 1, 2, 3, 0xD1, 2, 0, 4, 5);
  size_t size = frame(bytes, 100);
  harness_heap_init(&heap);
  alo_tds_reader *reader = alo_tds_reader_open(&heap.allocator, NULL);
  tds_transcript got;
  tds_transcript_init(&got, size);
  assert_true(tds_transcript_feed(&got, reader, bytes, size - 7));
  alo_tds_reader_skip(reader, true);
  assert_true(tds_transcript_feed(&got, reader, bytes + size - 7, 1));
  alo_tds_reader_skip(reader, false);
  assert_true(tds_transcript_feed(&got, reader, bytes + size - 6, 6));
  assert_string_equal(got.text, "columns c varbinary\nrow 0x0405\nend\n");
  tds_transcript_fini(&got);
  alo_tds_reader_close(reader);
  harness_heap_check(&heap);
}

static void test_ends_within(void **state) {
  (void)state;
  static uint8_t bytes[4096];
  size_t size = make_rich(bytes, 50);
  alo_tds_reader *reader = alo_tds_reader_open(&heap.allocator, NULL);
  tds_transcript got;
  tds_transcript_init(&got, size);
  for (size_t fed = 0; fed < size; fed += 13) {
    for (size_t have = 0; have <= size - fed; have += 7) {
      aloft_bytes pieces[2] = {{bytes + fed, have / 2}, {bytes + fed + have / 2, have - have / 2}};
      assert_int_equal(alo_tds_reader_ends_within(reader, pieces, 2), fed + have == size);
    }
    aloft_bytes rest = {bytes + fed, size - fed};
    assert_true(alo_tds_reader_ends_within(reader, &rest, 1));
    assert_true(tds_transcript_feed(&got, reader, bytes + fed, 13 < size - fed ? 13 : size - fed));
  }
  static const uint8_t wrong[8] = {4, 1, 0, 1};
  aloft_bytes piece = {wrong, 8};
  assert_false(alo_tds_reader_ends_within(reader, &piece, 1));
  tds_transcript_fini(&got);
  alo_tds_reader_close(reader);
  harness_heap_check(&heap);
}

/* The same query again makes no heap call, cut or not. */
static void test_steady_state(void **state) {
  (void)state;
  static uint8_t bytes[8192];
  static const size_t pieces[] = {8192, 100, 7, 1};
  for (size_t at = 0; at < sizeof pieces / sizeof *pieces; at++) {
    size_t size = make_rich(bytes, 60);
    harness_heap_init(&heap);
    alo_tds_reader *reader = alo_tds_reader_open(&heap.allocator, NULL);
    tds_transcript got;
    tds_transcript_init(&got, size);
    uint64_t calls = 0;
    for (unsigned round = 0; round < 6; round++) {
      calls = heap.allocations + heap.resizes + heap.releases;
      for (size_t fed = 0; fed < size; fed += pieces[at]) {
        size_t part = pieces[at] < size - fed ? pieces[at] : size - fed;
        assert_true(tds_transcript_feed(&got, reader, bytes + fed, part));
      }
    }
    assert_int_equal(heap.allocations + heap.resizes + heap.releases, calls);
    assert_int_equal(alo_tds_reader_counters(reader).large_made, 1);
    assert_int_equal(alo_tds_reader_counters(reader).rows, 6 * 4);
    assert_int_equal(alo_tds_reader_counters(reader).bytes, 6 * size);
    tds_transcript_fini(&got);
    alo_tds_reader_close(reader);
    harness_heap_check(&heap);
  }
}

/* The same with values that outgrow their memory, twice in a row of the answer. */
static void test_steady_large(void **state) {
  (void)state;
  static uint8_t bytes[STREAM_MAX];
  static const char filler[7000];
  BEGIN(0x81, 3, 0);
  put_column_head(0xE7), PUT(0xFF, 0xFF, LATIN), put_name("m");
  put_column_head(0xA5), PUT(0x40, 0x1F), put_name("b");
  put_column_head(0xA5), PUT(0xFF, 0xFF), put_name("x");
  for (unsigned row = 0; row < 2; row++) {
    PUT(0xD1);
    put_plp(7000, 6000, filler, 7000);
    put_u16(7000), put(filler, 7000);
    put_plp(UINT64_MAX - 1, 900, filler, 5000);
  }
  size_t size = frame(bytes, 4000);
  harness_heap_init(&heap);
  alo_tds_reader *reader = alo_tds_reader_open(&heap.allocator, NULL);
  tds_transcript got;
  uint64_t calls = 0;
  tds_transcript_init(&got, size);
  for (unsigned round = 0; round < 5; round++) {
    calls = heap.allocations + heap.resizes + heap.releases;
    for (size_t fed = 0; fed < size; fed += 1460) {
      size_t part = 1460 < size - fed ? 1460 : size - fed;
      assert_true(tds_transcript_feed(&got, reader, bytes + fed, part));
    }
  }
  assert_int_equal(heap.allocations + heap.resizes + heap.releases, calls);
  tds_transcript_fini(&got);
  alo_tds_reader_close(reader);
  harness_heap_check(&heap);
}

/* In packets of 4,096 bytes and pieces of 1,460 what is looked at twice stays below 2 %. */
static void test_parsed_once(void **state) {
  (void)state;
  static uint8_t bytes[STREAM_MAX * 2];
  BEGIN(0x81, 2, 0);
  put_column_head(0x38), put_name("i");
  put_column_head(0xE7), PUT(0xFE, 0x07, LATIN), put_name("n");
  for (unsigned row = 0; row < 700; row++) {
    PUT(0xD1, (uint8_t)row, 0, 0, 0);
    put_u16(2 * (row % 60));
    for (unsigned at = 0; at < row % 60; at++) {
      PUT('x', 0);
    }
  }
  size_t size = frame(bytes, 4088);
  harness_heap_init(&heap);
  alo_tds_reader *reader = alo_tds_reader_open(&heap.allocator, NULL);
  tds_transcript got;
  tds_transcript_init(&got, size);
  for (size_t fed = 0; fed < size; fed += 1460) {
    assert_true(
        tds_transcript_feed(&got, reader, bytes + fed, 1460 < size - fed ? 1460 : size - fed));
  }
  alo_tds_counters counters = alo_tds_reader_counters(reader);
  assert_int_equal(counters.bytes, size);
  assert_int_equal(counters.rows, 700);
  assert_true(counters.parsed_bytes <= counters.bytes + counters.bytes / 50);
  assert_true(counters.moved_bytes <= 200 * counters.stops);
  assert_true(counters.stops >= 30);
  tds_transcript_fini(&got);
  alo_tds_reader_close(reader);
  harness_heap_check(&heap);
}

/* ---- memory ---- */

/* Feeds the payload made so far, to which more is to come; memory is at most `most`. */
static void holds(size_t most) {
  static uint8_t bytes[STREAM_MAX];
  last_status = 0;
  size_t size = frame(bytes, ALO_TDS_PACKET_MAX - 8);
  last_status = ALO_TDS_STATUS_EOM;
  harness_heap_init(&heap);
  alo_tds_reader *reader = alo_tds_reader_open(&heap.allocator, &limits);
  tds_transcript got;
  assert_non_null(reader);
  tds_transcript_init(&got, size);
  assert_true(tds_transcript_feed(&got, reader, bytes, size));
  if (heap.live_bytes_max > most) {
    fail_msg("%zu bytes held after %zu", heap.live_bytes_max, size);
  }
  tds_transcript_fini(&got);
  alo_tds_reader_close(reader);
  harness_heap_check(&heap);
}

/* Whatever lengths a peer claims, memory follows what it sent. */
static void test_hostile_memory(void **state) {
  (void)state;
  static const uint8_t filler[40000];
  BEGIN(0x81, 0, 0x10, 0, 0, 0, 0, 0, 0, 0x38, 0); /* 4,096 columns, one sent */
  holds(8 * 1024);
  made.size = 0;
  PUT_COLUMN(0xA5, 0xFF, 0xFF); /* 2^63 bytes, 100 sent; then 20,000 */
  PUT(0xD1), put_u64(UINT64_C(1) << 63), put_u32(UINT32_MAX);
  put(filler, 100);
  holds(8 * 1024);
  put(filler, 20000);
  holds(64 * 1024);
  limits.value_max = 1000; /* what is over is not kept */
  put(filler, 40000);
  holds(48 * 1024);
  limits.value_max = 0;
  limits.value_max = 30000; /* nor is what is announced to be over */
  made.size = 0;
  PUT_COLUMN(0xA5, 0xFF, 0xFF);
  PUT(0xD1), put_u64(30001), put_u32(30000);
  put(filler, 30000);
  holds(8 * 1024);
  made.size = 0;
  PUT_COLUMN(0xE7, 0xFF, 0xFF, LATIN);
  PUT(0xD1), put_u64(60002), put_u32(60000);
  put(filler, 30000);
  holds(8 * 1024);
  limits.value_max = 0;
  made.size = 0;
  PUT_COLUMN(0x22, 0xFF, 0xFF, 0xFF, 0x7F, 0); /* an image of 2 GB, a byte sent */
  PUT(0xD1, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0xFF, 0xFF, 0xFF, 0x7F, 1);
  holds(8 * 1024);
  BEGIN(0xAA, 0xFF, 0xFF, 1); /* an error of 64 KiB */
  holds(8 * 1024);
  made.size = 0;
  PUT_COLUMN(0xF1, 0); /* xml in chunks of one byte */
  PUT(0xD1), put_u64(UINT64_MAX - 1);
  for (unsigned at = 0; at < 5000; at++) {
    PUT(1, 0, 0, 0, (uint8_t)(at & 1 ? 0x30 : 0x42));
  }
  holds(32 * 1024);
}

static void read_rich(const aloft_allocator *allocator, void *context) {
  static uint8_t bytes[4096];
  size_t size = make_rich(bytes, 50);
  size_t piece = *(const size_t *)context;
  alo_tds_reader *reader = alo_tds_reader_open(allocator, NULL);
  tds_transcript got;
  if (!reader) {
    return;
  }
  tds_transcript_init(&got, size);
  for (size_t fed = 0; fed < size; fed += piece) {
    size_t part = piece < size - fed ? piece : size - fed;
    if (!tds_transcript_feed(&got, reader, bytes + fed, part)) {
      assert_non_null(strstr(got.text, "out of memory"));
      break;
    }
  }
  tds_transcript_fini(&got);
  alo_tds_reader_close(reader);
}

static void test_each_allocation(void **state) {
  (void)state;
  size_t pieces[] = {4096, 11, 1};
  for (size_t at = 0; at < sizeof pieces / sizeof *pieces; at++) {
    assert_true(harness_each_allocation(read_rich, &pieces[at]) > 5);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_done),
                                     cmocka_unit_test(test_messages),
                                     cmocka_unit_test(test_message_lengths),
                                     cmocka_unit_test(test_env),
                                     cmocka_unit_test(test_env_lengths),
                                     cmocka_unit_test(test_login),
                                     cmocka_unit_test(test_passed_over),
                                     cmocka_unit_test(test_refused_tokens),
                                     cmocka_unit_test(test_broken_stays),
                                     cmocka_unit_test(test_packets),
                                     cmocka_unit_test(test_columns),
                                     cmocka_unit_test(test_column_flags),
                                     cmocka_unit_test(test_columns_half_read),
                                     cmocka_unit_test(test_column_errors),
                                     cmocka_unit_test(test_names_in_parts),
                                     cmocka_unit_test(test_names_too_long),
                                     cmocka_unit_test(test_browse),
                                     cmocka_unit_test(test_browse_many_columns),
                                     cmocka_unit_test(test_browse_errors),
                                     cmocka_unit_test(test_code_pages_cut),
                                     cmocka_unit_test(test_utf8_cut),
                                     cmocka_unit_test(test_legacy_types),
                                     cmocka_unit_test(test_fixed_cells),
                                     cmocka_unit_test(test_byte_cells),
                                     cmocka_unit_test(test_cell_lengths),
                                     cmocka_unit_test(test_text_cells),
                                     cmocka_unit_test(test_empty_cells),
                                     cmocka_unit_test(test_nbcrow),
                                     cmocka_unit_test(test_plp),
                                     cmocka_unit_test(test_plp_utf8),
                                     cmocka_unit_test(test_plp_lengths),
                                     cmocka_unit_test(test_old_lobs),
                                     cmocka_unit_test(test_value_max),
                                     cmocka_unit_test(test_large_sizes),
                                     cmocka_unit_test(test_return_values),
                                     cmocka_unit_test(test_two_results),
                                     cmocka_unit_test(test_sticky),
                                     cmocka_unit_test(test_skip),
                                     cmocka_unit_test(test_skip_whole_rows),
                                     cmocka_unit_test(test_pieces_are_passed_over),
                                     cmocka_unit_test(test_skip_taken_back),
                                     cmocka_unit_test(test_ends_within),
                                     cmocka_unit_test(test_steady_state),
                                     cmocka_unit_test(test_steady_large),
                                     cmocka_unit_test(test_parsed_once),
                                     cmocka_unit_test(test_hostile_memory),
                                     cmocka_unit_test(test_each_allocation)};
  alo_page_store_init(&store, &alo_heap_default);
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  alo_page_store_fini(&store);
  return failed;
}
