/* The reader's replaced design, and the answers that both designs are measured on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fortunes.h"
#include "fortunes_costs.h"
#include "fortunes_design.h"
#include "reader_baseline.h"

/* ---- rows ---- */

static alo_fortune rows[ALO_FORTUNES + 1];

static alo_fortune_list kept(void) {
  alo_fortune_list list = {.rows = rows, .room = ALO_FORTUNES};
  for (int32_t id = 1; id <= ALO_FORTUNES; id++)
    assert_true(alo_fortunes_keep(&list, id, alo_fortunes_message(id)));
  return list;
}

static void rows_are_checked(void **state) {
  (void)state;
  alo_fortune_list list = kept();
  assert_null(alo_fortunes_wrong(&list));
  assert_false(alo_fortunes_keep(&list, 1, alo_fortunes_message(1)));
  list.rows[3].id = 1;
  assert_non_null(alo_fortunes_wrong(&list)); /* twice */
  list.rows[3].id = 13;
  assert_non_null(alo_fortunes_wrong(&list));
  list.rows[3].id = 4;
  list.rows[11].message[0] ^= 1;
  assert_non_null(alo_fortunes_wrong(&list));
  list.rows[11].message[0] ^= 1;
  list.rows[11].size--;
  assert_non_null(alo_fortunes_wrong(&list));
  list.rows[11].size++;
  assert_null(alo_fortunes_wrong(&list));
  list.count = 11;
  assert_non_null(alo_fortunes_wrong(&list));
  list.count = 12;
  alo_fortunes_drop(&list);
  assert_int_equal(list.count, 0);
}

/* ---- answers and designs ---- */

static void answers_are_as_large_as_they_say(void **state) {
  size_t packets, bytes;
  (void)state;
  assert_true(alo_answer_size(ALO_ANSWER_PACKET, &packets, &bytes));
  assert_int_equal(packets, 1);
  assert_int_equal(bytes, 1413);
  assert_true(alo_answer_size(ALO_ANSWER_ROWS, &packets, &bytes));
  assert_int_equal(packets, 64);
  assert_true(alo_answer_size(ALO_ANSWER_VALUE, &packets, &bytes));
  assert_int_equal(packets, 64);
}

static void designs_agree(void **state) {
  alo_reason why;
  (void)state;
  for (alo_design_answer answer = 0; answer < ALO_ANSWERS; answer++) {
    if (!alo_designs_agree(answer, &why))
      fail_msg("%s", why.text);
  }
}

/* Again and again, as it is counted. */
static void each_case_runs(void **state) {
  char name[64];
  (void)state;
  for (alo_design_answer answer = 0; answer < ALO_ANSWERS; answer++) {
    for (alo_design design = 0; design < ALO_DESIGNS; design++) {
      snprintf(name, sizeof name, "%s_%s", alo_design_names[design], alo_answer_names[answer]);
      assert_true(alo_fortunes_count(name, 3));
    }
    snprintf(name, sizeof name, "%s_decoded", alo_answer_names[answer]);
    assert_true(alo_fortunes_count(name, 3));
  }
}

/* ---- the baseline ---- */

/* id int, message nvarchar(max); one row; DONE. In one message without headers. */
static const uint8_t stream[] = {
    0x81, 2, 0,                                               /* COLMETADATA, columns */
    0,    0, 0,    0, 0,    0, 0x38, 2,                       /* INT4 */
    'i',  0, 'd',  0,                                         /* its name */
    0,    0, 0,    0, 0,    0, 0xE7, 0xFF, 0xFF,              /* nvarchar(max) */
    9,    4, 0xD0, 0, 0x34, 1, 'm',  0,                       /* collation, name */
    0xD1, 7, 0,    0, 0,                                      /* ROW, id */
    8,    0, 0,    0, 0,    0, 0,    0,                       /* the value's size */
    6,    0, 0,    0, 'a',  0, 'b',  0,    'c',  0,           /* a chunk */
    2,    0, 0,    0, 'd',  0, 0,    0,    0,    0,           /* another, and none */
    0xFD, 0, 0,    0, 0,    1, 0,    0,    0,    0, 0, 0, 0}; /* DONE */

enum { STREAM = sizeof stream, HEADER = 8 };

static void give(alo_baseline_reader *reader, size_t at, size_t size) {
  uint8_t *buffer = alo_baseline_reader_buffer(reader);
  assert_non_null(buffer);
  memset(buffer, 0, HEADER);
  memcpy(buffer + HEADER, stream + at, size);
  alo_baseline_reader_received(reader, HEADER + size);
}

/* Reads on, giving it the next packet when it asks for one. */
static alo_baseline_step read_on(alo_baseline_reader *reader, size_t *at, size_t packet) {
  for (;;) {
    alo_baseline_step step = alo_baseline_reader_read(reader);
    if (step != ALO_BASELINE_PENDING)
      return step;
    assert_true(*at < STREAM);
    size_t size = STREAM - *at < packet ? STREAM - *at : packet;
    give(reader, *at, size);
    *at += size;
  }
}

static void every_packet_size_gives_the_same_row(void **state) {
  (void)state;
  for (size_t packet = 1; packet <= STREAM; packet++) {
    alo_baseline_reader *reader = alo_baseline_reader_open(HEADER + STREAM);
    assert_non_null(reader);
    for (int round = 0; round < 2; round++) {
      size_t at = 0;
      assert_int_equal(read_on(reader, &at, packet), ALO_BASELINE_ROW);
      aloft_bytes units = alo_baseline_reader_utf16(reader, 1);
      assert_int_equal(alo_baseline_reader_int32(reader, 0), 7);
      assert_int_equal(units.size, 8);
      assert_memory_equal(units.data, "a\0b\0c\0d", 8);
      assert_int_equal(read_on(reader, &at, packet), ALO_BASELINE_END);
      assert_int_equal(at, STREAM);
    }
    alo_baseline_reader_close(reader);
  }
}

/* The first read needs a packet for each byte. Each stop but the first, at which there is none yet,
 * has all packets so far parsed again. */
static void it_replays_from_the_first_packet(void **state) {
  enum { READ = STREAM - 13 }; /* bytes up to the end of the row */
  alo_baseline_reader *reader = alo_baseline_reader_open(HEADER + 1);
  size_t at = 0;
  (void)state;
  assert_int_equal(read_on(reader, &at, 1), ALO_BASELINE_ROW);
  alo_baseline_counters counters = alo_baseline_reader_counters(reader);
  assert_int_equal(at, counters.stops + 1);
  assert_int_equal(counters.replayed, counters.stops * (counters.stops + 1) / 2);
  assert_int_equal(at, READ);
  alo_baseline_reader_close(reader);
}

static void what_it_does_not_know_breaks_it(void **state) {
  static const uint8_t wrong[][4] = {{0xD1, 0, 0, 0}, {0xAA, 0, 0, 0}, {0x81, 9, 0, 0}};
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    alo_baseline_reader *reader = alo_baseline_reader_open(64);
    uint8_t *buffer = alo_baseline_reader_buffer(reader);
    memset(buffer, 0, HEADER);
    memcpy(buffer + HEADER, wrong[i], 4);
    alo_baseline_reader_received(reader, HEADER + 4);
    assert_int_equal(alo_baseline_reader_read(reader), ALO_BASELINE_BROKEN);
    assert_int_equal(alo_baseline_reader_read(reader), ALO_BASELINE_BROKEN);
    alo_baseline_reader_close(reader);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_checked),
      cmocka_unit_test(answers_are_as_large_as_they_say),
      cmocka_unit_test(designs_agree),
      cmocka_unit_test(each_case_runs),
      cmocka_unit_test(every_packet_size_gives_the_same_row),
      cmocka_unit_test(it_replays_from_the_first_packet),
      cmocka_unit_test(what_it_does_not_know_breaks_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
