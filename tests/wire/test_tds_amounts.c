/* Much: a large value in small pieces, and many rows split anywhere. What is looked at twice, moved
 * and held is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness_heap.h"
#include "heap.h"
#include "tds_response.h"
#include "tds_value.h"

enum { LARGE = 20 << 20, ROWS = 100000, SEGMENT = 1460, CHUNK = 8040, SNAPSHOT_MAX = 128 };

/* Of what is received; a cut piece of fixed size is looked at twice. */
static const double parsed_max = 1.02;

typedef struct answer {
  alo_buffer buffer;
  alo_tds_writer writer;
} answer;

static void begin(answer *a, uint32_t packet_size) {
  alo_buffer_init(&a->buffer, &alo_heap_default, (size_t)1 << 30);
  alo_tds_writer_init(&a->writer, &a->buffer, packet_size);
  alo_tds_message_begin(&a->writer, ALO_TDS_REPLY, 0);
}

static aloft_bytes end(answer *a) {
  alo_tds_put_done(&a->writer, &(alo_tds_done){.token = 0xFD});
  assert_int_equal(alo_tds_message_end(&a->writer), ALOFT_OK);
  return (aloft_bytes){a->buffer.data + a->buffer.begin, alo_buffer_size(&a->buffer)};
}

static void make_large(answer *a, bool text, uint32_t packet_size) {
  static uint8_t chunk[CHUNK];
  const alo_tds_out_column column = {
      .type = {.token = text ? ALO_TDS_NVARCHAR : ALO_TDS_BIGVARBINARY, .size = ALO_TDS_MAX_SIZE},
      .flags = 1,
      .name = ALOFT_TEXT("v")};
  for (size_t at = 0; at < CHUNK; at += 2)
    chunk[at] = (uint8_t)('a' + at / 2 % 26);
  begin(a, packet_size);
  alo_tds_put_colmetadata(&a->writer, &column, 1);
  alo_tds_put_row(&a->writer);
  alo_tds_put_u64(&a->writer, LARGE);
  for (size_t left = LARGE; left;) {
    size_t part = left < CHUNK ? left : CHUNK;
    alo_tds_put_u32(&a->writer, (uint32_t)part);
    alo_tds_put(&a->writer, chunk, part);
    left -= part;
  }
  alo_tds_put_u32(&a->writer, 0);
}

static void make_rows(answer *a) {
  const alo_tds_out_column columns[] = {
      {{.token = ALO_TDS_INT4, .size = 4}, 0, ALOFT_TEXT("a")},
      {{.token = ALO_TDS_NVARCHAR, .size = 100}, 1, ALOFT_TEXT("b")},
      {{.token = ALO_TDS_INTN, .size = 8}, 1, ALOFT_TEXT("c")},
      {{.token = ALO_TDS_DECIMALN, .size = 17, .precision = 38, .scale = 4}, 1, ALOFT_TEXT("d")}};
  begin(a, 4096);
  alo_tds_put_colmetadata(&a->writer, columns, 4);
  for (int64_t row = 0; row < ROWS; row++) {
    char text[40];
    int size = snprintf(text, sizeof text, "row %lld", (long long)row);
    alo_tds_put_row(&a->writer);
    alo_tds_put_int64(&a->writer, &columns[0].type, row);
    alo_tds_put_text(&a->writer, &columns[1].type, (aloft_text){text, (size_t)size});
    alo_tds_put_int64(&a->writer, &columns[2].type, row * row);
    alo_tds_put_null(&a->writer, &columns[3].type);
  }
}

/* ---- reading ---- */

typedef struct reading {
  harness_heap heap;
  alo_tds_reader *reader;
  bool in_pieces, open;
  uint64_t bytes, rows;
  int64_t sum;
} reading;

static void open_reading(reading *r, bool in_pieces) {
  memset(r, 0, sizeof *r);
  harness_heap_init(&r->heap);
  r->in_pieces = in_pieces;
  r->reader = alo_tds_reader_open(&r->heap.allocator, NULL);
  assert_non_null(r->reader);
  alo_tds_reader_pieces(r->reader, in_pieces);
}

static void close_reading(reading *r) {
  alo_tds_reader_close(r->reader);
  harness_heap_check(&r->heap);
}

static void take_row(reading *r) {
  const alo_tds_cell *cell = alo_tds_reader_cell(r->reader, 0);
  r->rows++;
  if (alo_tds_reader_column_count(r->reader) > 1) {
    int64_t value = 0;
    const alo_tds_type *type = &alo_tds_reader_column(r->reader, 0)->type;
    assert_null(alo_tds_value_int64(type, cell->data, cell->size, &value));
    r->sum += value;
  } else if (!r->in_pieces) {
    r->bytes += cell->size;
  }
}

static void feed(reading *r, const uint8_t *data, size_t size) {
  aloft_bytes input = {data, size}, piece;
  for (;;) {
    alo_tds_event event = r->open ? alo_tds_reader_read(r->reader, &input, &piece)
                                  : alo_tds_reader_next(r->reader, &input);
    switch (event) {
    case ALO_TDS_NEED:
      return;
    case ALO_TDS_ROW_OPEN:
      r->open = true;
      break;
    case ALO_TDS_PIECE:
      r->bytes += piece.size;
      break;
    case ALO_TDS_VALUE_END:
      r->open = false;
      break;
    case ALO_TDS_ROW_READY:
      take_row(r);
      break;
    default:
      assert_int_not_equal(event, ALO_TDS_BROKEN);
    }
  }
}

static void read_all(reading *r, aloft_bytes stream, size_t (*size_of)(void)) {
  for (size_t at = 0; at < stream.size;) {
    size_t size = size_of(), left = stream.size - at;
    size = size < left ? size : left;
    feed(r, (const uint8_t *)stream.data + at, size);
    at += size;
  }
}

static size_t a_segment(void) {
  return SEGMENT;
}

static uint64_t seed = 1;

static size_t anything(void) {
  seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
  return 1 + (size_t)(seed >> 33) % ((seed >> 62) ? 900 : 9000);
}

static void check_parsed(const reading *r, size_t size) {
  alo_tds_counters counters = alo_tds_reader_counters(r->reader);
  double parsed = (double)counters.parsed_bytes / (double)size;
  assert_int_equal(counters.bytes, size);
  if (parsed > parsed_max)
    fail_msg("%.4f bytes are parsed for each received", parsed);
  assert_in_range(counters.large_made, 0, 1);
}

/* ---- tests ---- */

/* Whole it takes its own size and not much more; in pieces the same at any size. */
static void test_large_value(void **state) {
  (void)state;
  static const uint32_t packet_sizes[] = {512, 4096, 32767};
  enum { PIECES_MAX = 64 << 10 };
  for (unsigned at = 0; at < 12; at++) {
    bool text = at % 2, in_pieces = at / 2 % 2;
    answer a;
    reading r;
    make_large(&a, text, packet_sizes[at / 4]);
    aloft_bytes stream = end(&a);
    open_reading(&r, in_pieces);
    read_all(&r, stream, a_segment);
    uint64_t size = text ? LARGE / 2 : LARGE;
    assert_int_equal(r.bytes, size);
    assert_int_equal(r.rows, 1);
    check_parsed(&r, stream.size);
    assert_int_equal(alo_tds_reader_counters(r.reader).moved_bytes, 0);
    assert_in_range(r.heap.live_bytes_max, 1, in_pieces ? (uint64_t)PIECES_MAX : 4 * size);
    close_reading(&r);
    alo_buffer_fini(&a.buffer);
  }
}

static void test_many_rows(void **state) {
  (void)state;
  answer a;
  make_rows(&a);
  aloft_bytes stream = end(&a);
  for (unsigned round = 0; round < 6; round++) {
    reading r;
    open_reading(&r, round % 2);
    seed = round + 1;
    read_all(&r, stream, round < 2 ? a_segment : anything);
    assert_int_equal(r.rows, ROWS);
    assert_true(r.sum == (int64_t)ROWS * (ROWS - 1) / 2);
    check_parsed(&r, stream.size);
    alo_tds_counters counters = alo_tds_reader_counters(r.reader);
    assert_in_range(counters.stops, stream.size / 9001, stream.size);
    assert_in_range(counters.moved_bytes, 1, counters.stops * 128);
    assert_in_range(r.heap.live_bytes_max, 1, 32 << 10);
    close_reading(&r);
  }
  alo_buffer_fini(&a.buffer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_large_value),
      cmocka_unit_test(test_many_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
