/* The reader's memory of where it is, from the inside: what it is made of, when parts of it exist,
 * what a stop copies, and what is not written. ARCHITECTURE.md, "Where a reader stops", says why.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "harness_heap.h"
#include "tds_reader_state.h"
#include "tds_response.h"

enum { COLUMNS = 100, POISON = 0xEE, SNAPSHOT_MAX = 128 };

static const alo_tds_type integer = {.token = ALO_TDS_INT4, .size = 4};
static const alo_tds_type word = {.token = ALO_TDS_NVARCHAR, .size = 100};
static const alo_tds_type large = {.token = ALO_TDS_NVARCHAR, .size = ALO_TDS_MAX_SIZE};

typedef struct stream {
  alo_buffer buffer;
  alo_tds_writer writer;
  harness_heap heap;
  alo_tds_reader *reader;
  size_t fed;
} stream;

static void begin(stream *s) {
  memset(s, 0, sizeof *s);
  alo_buffer_init(&s->buffer, &alo_heap_default, 1 << 24);
  alo_tds_writer_init(&s->writer, &s->buffer, 32767);
  alo_tds_message_begin(&s->writer, ALO_TDS_REPLY, 0);
  harness_heap_init(&s->heap);
  s->reader = alo_tds_reader_open(&s->heap.allocator, NULL);
  assert_non_null(s->reader);
}

static void close_stream(stream *s) {
  alo_tds_reader_close(s->reader);
  harness_heap_check(&s->heap);
  alo_buffer_fini(&s->buffer);
}

static void put_columns(stream *s, const alo_tds_type *type, size_t count) {
  static alo_tds_out_column columns[COLUMNS];
  for (size_t at = 0; at < count; at++)
    columns[at] = (alo_tds_out_column){*type, 0, ALOFT_TEXT("c")};
  alo_tds_put_colmetadata(&s->writer, columns, count);
}

static void put_row(stream *s, size_t count) {
  alo_tds_put_row(&s->writer);
  for (size_t at = 0; at < count; at++)
    alo_tds_put_int64(&s->writer, &integer, (int64_t)at);
}

static void end(stream *s) {
  alo_tds_put_done(&s->writer, &(alo_tds_done){.token = 0xFD});
  assert_int_equal(alo_tds_message_end(&s->writer), ALOFT_OK);
}

/* Up to byte `until` of the stream; the rows that were complete. */
static unsigned feed(stream *s, size_t until) {
  unsigned rows = 0;
  aloft_bytes input = {s->buffer.data + s->buffer.begin + s->fed, until - s->fed};
  alo_tds_event event;
  while ((event = alo_tds_reader_next(s->reader, &input)) != ALO_TDS_NEED) {
    assert_int_not_equal(event, ALO_TDS_BROKEN);
    rows += event == ALO_TDS_ROW_READY;
    if (event == ALO_TDS_END)
      break;
  }
  s->fed = until;
  return rows;
}

static size_t size_of(const stream *s) {
  return alo_buffer_size(&s->buffer);
}

/* ---- one plain struct ---- */

/* A copy of it, put back later, goes on at the byte: there is nothing else to a stop between two
 * values but what has been moved of the row. */
static void test_plain_struct(void **state) {
  (void)state;
  _Static_assert(sizeof(alo_tds_position) <= SNAPSHOT_MAX, "it is copied at once");
  stream s;
  begin(&s);
  put_columns(&s, &integer, 3);
  put_row(&s, 3);
  put_row(&s, 3);
  end(&s);
  size_t stop = size_of(&s) - 13 - 10; /* DONE, and two and a half values: in the second row */
  assert_int_equal(feed(&s, stop), 1);
  alo_tds_position saved = s.reader->at;
  memset(&s.reader->at, POISON, sizeof s.reader->at);
  s.reader->at = saved;
  assert_int_equal(feed(&s, size_of(&s)), 1);
  close_stream(&s);
}

/* Stops are counted, and what they move is what of the row has come, once. */
static void test_counted(void **state) {
  (void)state;
  stream s;
  begin(&s);
  put_columns(&s, &integer, 10);
  for (int row = 0; row < 100; row++)
    put_row(&s, 10);
  end(&s);
  uint64_t stops = 0;
  for (size_t at = 1; at < size_of(&s); at++) {
    feed(&s, at);
    stops++;
    assert_int_equal(alo_tds_reader_counters(s.reader).stops, at > 8 ? stops - 8 : 0);
  }
  feed(&s, size_of(&s));
  alo_tds_counters counters = alo_tds_reader_counters(s.reader);
  assert_int_equal(counters.rows, 100);
  assert_in_range(counters.moved_bytes, 1, 100 * 10 * 4);
  close_stream(&s);
}

/* ---- one byte of flags ---- */

static void test_flags(void **state) {
  (void)state;
  static const uint8_t flags[] = {ALO_TDS_HAS_PENDING,  ALO_TDS_HAS_RESULT,    ALO_TDS_HAS_ERROR,
                                  ALO_TDS_HAS_METADATA, ALO_TDS_HAS_ATTENTION, ALO_TDS_FLAG_SKIP,
                                  ALO_TDS_FLAG_UNSEEN,  ALO_TDS_FLAG_FRESH};
  alo_tds_position at = {.left = 0};
  _Static_assert(sizeof at.own_flags == 1, "they are one byte");
  for (size_t i = 0; i < sizeof flags; i++) {
    alo_tds_set_flag(&at, flags[i], true);
    for (size_t j = 0; j < sizeof flags; j++)
      assert_int_equal(alo_tds_flag(&at, flags[j]), j <= i);
  }
  for (size_t i = 0; i < sizeof flags; i++) {
    alo_tds_set_flag(&at, flags[i], false);
    for (size_t j = 0; j < sizeof flags; j++)
      assert_int_equal(alo_tds_flag(&at, flags[j]), j > i);
  }
}

/* ---- a large value's state exists while one is read ---- */

static void test_rented(void **state) {
  (void)state;
  stream s;
  begin(&s);
  put_columns(&s, &integer, 1);
  put_row(&s, 1);
  size_t before = size_of(&s);
  put_columns(&s, &large, 1);
  for (int row = 0; row < 50; row++) {
    alo_tds_put_row(&s.writer);
    alo_tds_put_text(&s.writer, &large, ALOFT_TEXT("a value of some length"));
  }
  end(&s);
  feed(&s, before);
  assert_null(s.reader->rented);
  assert_int_equal(alo_tds_reader_counters(s.reader).large_made, 0);
  unsigned seen = 0;
  for (size_t at = before + 1; at <= size_of(&s); at++) {
    feed(&s, at);
    bool inside =
        s.reader->at.state == ALO_TDS_STATE_CHUNK_SIZE || s.reader->at.state == ALO_TDS_STATE_CHUNK;
    assert_int_equal(s.reader->rented != NULL, inside);
    seen += inside;
  }
  assert_in_range(seen, 50 * 40, 50 * 80);
  assert_int_equal(alo_tds_reader_counters(s.reader).large_made, 1);
  close_stream(&s);
}

/* ---- what is not written ---- */

/* A row that begins does not touch the cells that have not come, nor a message what was there. */
static void test_no_defaults(void **state) {
  (void)state;
  stream s;
  begin(&s);
  put_columns(&s, &integer, COLUMNS);
  put_row(&s, COLUMNS);
  size_t first = size_of(&s);
  put_row(&s, COLUMNS);
  end(&s);
  feed(&s, first);
  memset(s.reader->cells, POISON, COLUMNS * sizeof *s.reader->cells);
  feed(&s, first + 1 + 4 + 2); /* the token, one value, and half of the next */
  const uint8_t *cells = (const uint8_t *)&s.reader->cells[2];
  for (size_t at = 0; at < (COLUMNS - 2) * sizeof *s.reader->cells; at++)
    assert_int_equal(cells[at], POISON);
  assert_int_equal(feed(&s, size_of(&s)), 1);
  close_stream(&s);
}

/* ---- a cut value is collected once ---- */

static void test_collected_once(void **state) {
  (void)state;
  for (size_t cut = 1; cut < 40; cut++) {
    stream s;
    begin(&s);
    put_columns(&s, &word, 1);
    size_t before = size_of(&s);
    alo_tds_put_row(&s.writer);
    alo_tds_put_text(&s.writer, &word, ALOFT_TEXT("of forty bytes in UTF-16"));
    size_t row = size_of(&s) - before;
    end(&s);
    feed(&s, before);
    for (size_t at = 0; at < row; at += cut)
      feed(&s, before + (at + cut < row ? at + cut : row));
    alo_tds_counters counters = alo_tds_reader_counters(s.reader);
    assert_int_equal(counters.rows, 1);
    assert_in_range(counters.moved_bytes, 0, 48);
    close_stream(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plain_struct), cmocka_unit_test(test_counted),
      cmocka_unit_test(test_flags),        cmocka_unit_test(test_rented),
      cmocka_unit_test(test_no_defaults),  cmocka_unit_test(test_collected_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
