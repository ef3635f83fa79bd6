/* Messages put together and cut into packets: sizes, boundaries, limits, failures, streaming. */
#include "tds_message.h"
#include "utf16.h"

enum { BULK = 3000, TEXT_MAX = 4000 };

/* A bit of everything, so that each kind of put meets each boundary. */
static void put_everything(alo_tds_writer *writer) {
  uint8_t bulk[BULK];
  for (size_t i = 0; i < BULK; i++) {
    bulk[i] = (uint8_t)(i * 7);
  }
  alo_tds_put_u8(writer, 0x01);
  alo_tds_put_u16(writer, 0x0302);
  alo_tds_put_u32(writer, 0x07060504);
  alo_tds_put_u64(writer, UINT64_C(0x0F0E0D0C0B0A0908));
  alo_tds_put_b_varchar(writer, ALOFT_TEXT("Grüße"));
  alo_tds_put_us_varchar(writer, ALOFT_TEXT("日本語 😀"));
  alo_tds_put(writer, bulk, BULK);
  alo_tds_put_utf16(writer, ALOFT_TEXT("the end"));
}

static void check_packets(aloft_bytes stream, uint32_t packet_size, uint8_t type,
                          uint8_t first_status) {
  const uint8_t *at = stream.data;
  size_t left = stream.size;
  uint8_t id = 1;
  while (left > 0) {
    assert_true(left >= ALO_TDS_HEADER_SIZE);
    size_t size = (size_t)at[2] << 8 | at[3];
    bool last = size == left;
    assert_true(size <= left);
    assert_true(last ? size <= packet_size : size == packet_size);
    assert_int_equal(at[0], type);
    assert_int_equal(at[1], (last ? ALO_TDS_STATUS_EOM : 0) | (id == 1 ? first_status : 0));
    assert_int_equal(at[4], 0x12);
    assert_int_equal(at[5], 0x34);
    assert_int_equal(at[6], id);
    assert_int_equal(at[7], 0);
    at += size;
    left -= size;
    id++;
  }
}

static void write_everything(tds_output *output, uint32_t packet_size) {
  tds_output_init(output, packet_size, 1 << 20);
  output->writer.spid = 0x1234;
  alo_tds_message_begin(&output->writer, ALO_TDS_RPC, ALO_TDS_STATUS_RESET);
  put_everything(&output->writer);
  assert_int_equal(alo_tds_message_end(&output->writer), ALOFT_OK);
}

static void check_size(uint32_t packet_size, const guard_buffer *expected) {
  tds_output output;
  uint8_t type;
  write_everything(&output, packet_size);
  if (packet_size >= 32) { /* below, ids wrap: another test */
    check_packets(tds_output_bytes(&output), packet_size, ALO_TDS_RPC, ALO_TDS_STATUS_RESET);
  }
  guard_buffer payload = tds_payload(tds_output_bytes(&output), &type);
  assert_int_equal(type, ALO_TDS_RPC);
  assert_int_equal(payload.size, expected->size);
  assert_memory_equal(payload.data, expected->data, payload.size);
  guard_give(&payload);
  tds_output_fini(&output);
}

static void test_every_packet_size(void **state) {
  (void)state;
  tds_output output;
  write_everything(&output, ALO_TDS_PACKET_MAX);
  guard_buffer expected = tds_payload(tds_output_bytes(&output), NULL);
  assert_int_equal(alo_buffer_size(&output.buffer), expected.size + ALO_TDS_HEADER_SIZE);
  for (uint32_t size = ALO_TDS_HEADER_SIZE + 1; size < BULK + 200; size++) {
    check_size(size, &expected);
  }
  check_size(ALO_TDS_PACKET_DEFAULT, &expected);
  check_size(8000, &expected);
  guard_give(&expected);
  tds_output_fini(&output);
}

static void test_bytes_of_one_packet(void **state) {
  (void)state;
  static const uint8_t expected[] = {0x01, 0x09, 0x00, 0x1C, 0x00, 0x00, 0x01, 0x00, 0x01,
                                     0x03, 0x02, 0x07, 0x06, 0x05, 0x04, 0x02, 'A',  0x00,
                                     0xAC, 0x20, 0x01, 0x00, 0x3D, 0xD8, /* U+1F600 is two units */
                                     0x00, 0xDE, 'z',  0x00};
  tds_output output;
  tds_output_init(&output, 512, 1000);
  alo_tds_message_begin(&output.writer, ALO_TDS_SQL_BATCH, ALO_TDS_STATUS_RESET);
  alo_tds_put_u8(&output.writer, 1);
  alo_tds_put_u16(&output.writer, 0x0203);
  alo_tds_put_u32(&output.writer, 0x04050607);
  alo_tds_put_b_varchar(&output.writer, ALOFT_TEXT("A€"));
  alo_tds_put_u16(&output.writer, 1);
  alo_tds_put_utf16(&output.writer, ALOFT_TEXT("😀z"));
  assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_OK);
  assert_int_equal(alo_buffer_size(&output.buffer), sizeof expected);
  assert_memory_equal(tds_output_bytes(&output).data, expected, sizeof expected);
  tds_output_fini(&output);
}

static void test_a_number_straddles(void **state) {
  (void)state;
  static const uint8_t expected[] = {1,    0, 0, 11, 0, 0, 1, 0, 0x11, 0x22,
                                     0x33, 1, 1, 0,  9, 0, 0, 2, 0,    0x44};
  tds_output output;
  tds_output_init(&output, 11, 1000);
  alo_tds_message_begin(&output.writer, ALO_TDS_SQL_BATCH, 0);
  alo_tds_put_u32(&output.writer, 0x44332211);
  assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_OK);
  assert_int_equal(alo_buffer_size(&output.buffer), sizeof expected);
  assert_memory_equal(tds_output_bytes(&output).data, expected, sizeof expected);
  tds_output_fini(&output);
}

static void test_full_packet_is_the_last(void **state) {
  (void)state;
  tds_output output;
  uint8_t bulk[512] = {0};
  tds_output_init(&output, 512, 2000);
  for (size_t packets = 1; packets <= 2; packets++) {
    alo_tds_message_begin(&output.writer, ALO_TDS_SQL_BATCH, 0);
    alo_tds_put(&output.writer, bulk, packets * (512 - ALO_TDS_HEADER_SIZE) / 2);
    alo_tds_put(&output.writer, bulk, packets * (512 - ALO_TDS_HEADER_SIZE) / 2);
    assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_OK);
    assert_int_equal(alo_buffer_size(&output.buffer), packets * 512);
    alo_buffer_take(&output.buffer, packets * 512);
  }
  tds_output_fini(&output);
}

static void test_empty_message(void **state) {
  (void)state;
  static const uint8_t attention[] = {6, 1, 0, 8, 0, 0, 1, 0};
  tds_output output;
  tds_output_init(&output, 4096, 100);
  alo_tds_message_begin(&output.writer, ALO_TDS_ATTENTION, 0);
  assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_OK);
  assert_int_equal(alo_buffer_size(&output.buffer), sizeof attention);
  assert_memory_equal(tds_output_bytes(&output).data, attention, sizeof attention);
  tds_output_fini(&output);
}

static void test_packet_ids_wrap(void **state) {
  (void)state;
  tds_output output;
  tds_output_init(&output, ALO_TDS_HEADER_SIZE + 1, 1 << 16);
  alo_tds_message_begin(&output.writer, ALO_TDS_SQL_BATCH, 0);
  for (size_t i = 0; i < 600; i++) {
    alo_tds_put_u8(&output.writer, (uint8_t)i);
  }
  assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_OK);
  const uint8_t *bytes = tds_output_bytes(&output).data;
  for (size_t i = 0; i < 600; i++) {
    assert_int_equal(bytes[9 * i + 6], (i + 1) % 256);
    assert_int_equal(bytes[9 * i + 8], i % 256);
  }
  tds_output_fini(&output);
}

/* ---- text ---- */

/* Characters of each length at every place around the writer's chunks. */
static void test_text_is_cut_between_characters(void **state) {
  (void)state;
  static const char *const characters[] = {"a", "ü", "€", "😀"};
  char text[TEXT_MAX];
  uint8_t units[2 * TEXT_MAX];
  for (size_t shift = 0; shift < 8; shift++) {
    for (size_t kind = 0; kind < 4; kind++) {
      size_t size = shift;
      memset(text, 'x', shift);
      for (size_t length = strlen(characters[kind]); size + length <= 1600; size += length) {
        memcpy(text + size, characters[kind], length);
      }
      size_t units_size = alo_utf8_to_utf16(text, size, units);
      tds_output output;
      tds_output_init(&output, 600, 1 << 16);
      alo_tds_message_begin(&output.writer, ALO_TDS_SQL_BATCH, 0);
      alo_tds_put_utf16(&output.writer, (aloft_text){text, size});
      guard_buffer payload = tds_output_payload(&output);
      assert_int_equal(payload.size, units_size);
      assert_memory_equal(payload.data, units, units_size);
      guard_give(&payload);
      tds_output_fini(&output);
    }
  }
}

static void test_ill_formed_text(void **state) {
  (void)state;
  char text[1200];
  for (size_t at = 0; at < sizeof text; at++) {
    tds_output output;
    memset(text, 'x', sizeof text);
    text[at] = (char)0x80;
    tds_output_init(&output, 4096, 1 << 16);
    alo_tds_message_begin(&output.writer, ALO_TDS_SQL_BATCH, 0);
    alo_tds_put_utf16(&output.writer, (aloft_text){text, sizeof text});
    assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_ARGUMENT);
    assert_int_equal(alo_buffer_size(&output.buffer), 0);
    tds_output_fini(&output);
  }
}

static aloft_status end_of_counted(size_t size, bool two_bytes) {
  tds_output output;
  char *text = malloc(size);
  assert_non_null(text);
  memset(text, 'x', size);
  tds_output_init(&output, 4096, 1 << 20);
  alo_tds_message_begin(&output.writer, ALO_TDS_SQL_BATCH, 0);
  (two_bytes ? alo_tds_put_us_varchar : alo_tds_put_b_varchar)(&output.writer,
                                                               (aloft_text){text, size});
  aloft_status status = alo_tds_message_end(&output.writer);
  free(text);
  tds_output_fini(&output);
  return status;
}

static void test_counted_text_limits(void **state) {
  (void)state;
  assert_int_equal(end_of_counted(255, false), ALOFT_OK);
  assert_int_equal(end_of_counted(256, false), ALOFT_ARGUMENT);
  assert_int_equal(end_of_counted(65535, true), ALOFT_OK);
  assert_int_equal(end_of_counted(65536, true), ALOFT_ARGUMENT);
}

/* ---- failures ---- */

static void write_after(tds_output *output, const uint8_t *before, size_t size,
                        aloft_status expected) {
  alo_tds_message_begin(&output->writer, ALO_TDS_RPC, 0);
  put_everything(&output->writer);
  assert_int_equal(alo_tds_message_end(&output->writer), expected);
  if (expected != ALOFT_OK) {
    assert_int_equal(alo_buffer_size(&output->buffer), size);
  }
  assert_memory_equal(tds_output_bytes(output).data, before, size);
}

/* At every limit below what it needs, the message goes whole and the one before it stays. */
static void test_over_the_buffers_limit(void **state) {
  (void)state;
  static const uint8_t before[] = {6, 1, 0, 8, 0, 0, 1, 0};
  tds_output output;
  write_everything(&output, 600);
  size_t needed = sizeof before + alo_buffer_size(&output.buffer);
  tds_output_fini(&output);
  for (size_t max = sizeof before; max <= needed; max++) {
    tds_output_init(&output, 600, max);
    alo_tds_message_begin(&output.writer, ALO_TDS_ATTENTION, 0);
    assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_OK);
    write_after(&output, before, sizeof before, max == needed ? ALOFT_OK : ALOFT_FULL);
    tds_output_fini(&output);
  }
}

static void scenario_of_a_message(const aloft_allocator *allocator, void *context) {
  (void)context;
  alo_buffer buffer;
  alo_tds_writer writer;
  alo_buffer_init(&buffer, allocator, 1 << 20);
  alo_tds_writer_init(&writer, &buffer, 512);
  alo_tds_message_begin(&writer, ALO_TDS_RPC, 0);
  put_everything(&writer);
  aloft_status status = alo_tds_message_end(&writer);
  assert_true(status == ALOFT_OK || status == ALOFT_NO_MEMORY);
  assert_true(status == ALOFT_OK || alo_buffer_size(&buffer) == 0);
  alo_buffer_fini(&buffer);
}

static void test_each_allocation_fails(void **state) {
  (void)state;
  assert_true(harness_each_allocation(scenario_of_a_message, NULL) > 1);
}

static void test_the_first_error_sticks(void **state) {
  (void)state;
  tds_output output;
  tds_output_init(&output, 512, 1 << 16);
  alo_tds_message_begin(&output.writer, ALO_TDS_RPC, 0);
  alo_tds_writer_fail(&output.writer, ALOFT_UNSUPPORTED);
  alo_tds_put_b_varchar(&output.writer, ALOFT_TEXT("\xFF"));
  put_everything(&output.writer);
  assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_UNSUPPORTED);
  assert_int_equal(alo_buffer_size(&output.buffer), 0);
  alo_tds_message_begin(&output.writer, ALO_TDS_RPC, 0); /* and is forgotten */
  assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_OK);
  tds_output_fini(&output);
}

/* ---- streaming ---- */

static void take_whole(tds_output *output, uint8_t *sent, size_t *sent_size, size_t most) {
  size_t size = alo_tds_writer_whole(&output->writer);
  size = size < most ? size : most;
  memcpy(sent + *sent_size, tds_output_bytes(output).data, size);
  *sent_size += size;
  alo_buffer_take(&output->buffer, size);
  alo_tds_writer_taken(&output->writer, size);
}

static void test_streaming_gives_the_same_bytes(void **state) {
  (void)state;
  tds_output whole;
  tds_output_init(&whole, 100, 1 << 16);
  for (size_t most = 1; most < 300; most++) {
    uint8_t sent[8192];
    size_t sent_size = 0;
    tds_output output;
    tds_output_init(&output, 100, 1 << 16);
    alo_tds_message_begin(&output.writer, ALO_TDS_REPLY, 0);
    alo_tds_message_begin(&whole.writer, ALO_TDS_REPLY, 0);
    for (uint32_t i = 0; i < 500; i++) {
      alo_tds_put_u32(&output.writer, i * 77777);
      alo_tds_put_u32(&whole.writer, i * 77777);
      take_whole(&output, sent, &sent_size, most);
    }
    assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_OK);
    assert_int_equal(alo_tds_message_end(&whole.writer), ALOFT_OK);
    take_whole(&output, sent, &sent_size, SIZE_MAX);
    assert_int_equal(alo_buffer_size(&output.buffer), 0);
    assert_int_equal(sent_size, alo_buffer_size(&whole.buffer));
    assert_memory_equal(sent, tds_output_bytes(&whole).data, sent_size);
    alo_buffer_take(&whole.buffer, sent_size);
    tds_output_fini(&output);
  }
  tds_output_fini(&whole);
}

static void test_only_whole_packets_may_leave(void **state) {
  (void)state;
  tds_output output;
  tds_output_init(&output, 20, 1 << 16);
  alo_tds_message_begin(&output.writer, ALO_TDS_ATTENTION, 0);
  assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_OK);
  assert_int_equal(alo_tds_writer_whole(&output.writer), 8);
  alo_tds_message_begin(&output.writer, ALO_TDS_REPLY, 0);
  assert_int_equal(alo_tds_writer_whole(&output.writer), 8);
  alo_tds_put_u64(&output.writer, 1);
  alo_tds_put_u32(&output.writer, 1); /* full: whether it is the last is not known yet */
  assert_int_equal(alo_tds_writer_whole(&output.writer), 8);
  alo_tds_put_u8(&output.writer, 1);
  assert_int_equal(alo_tds_writer_whole(&output.writer), 28);
  alo_tds_writer_fail(&output.writer, ALOFT_ARGUMENT);
  assert_int_equal(alo_tds_writer_whole(&output.writer), 8); /* the message will go */
  assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_ARGUMENT);
  assert_int_equal(alo_buffer_size(&output.buffer), 8);
  tds_output_fini(&output);
}

static void test_failure_after_a_part_has_left(void **state) {
  (void)state;
  uint8_t sent[64];
  size_t sent_size = 0;
  tds_output output;
  tds_output_init(&output, 20, 1 << 16);
  alo_tds_message_begin(&output.writer, ALO_TDS_REPLY, 0);
  alo_tds_put_u64(&output.writer, 1);
  alo_tds_put_u64(&output.writer, 1);
  take_whole(&output, sent, &sent_size, SIZE_MAX);
  assert_int_equal(sent_size, 20);
  alo_tds_writer_fail(&output.writer, ALOFT_ARGUMENT);
  assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_ARGUMENT);
  assert_int_equal(alo_buffer_size(&output.buffer), 0);
  tds_output_fini(&output);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_packet_size),
      cmocka_unit_test(test_bytes_of_one_packet),
      cmocka_unit_test(test_a_number_straddles),
      cmocka_unit_test(test_full_packet_is_the_last),
      cmocka_unit_test(test_empty_message),
      cmocka_unit_test(test_packet_ids_wrap),
      cmocka_unit_test(test_text_is_cut_between_characters),
      cmocka_unit_test(test_ill_formed_text),
      cmocka_unit_test(test_counted_text_limits),
      cmocka_unit_test(test_over_the_buffers_limit),
      cmocka_unit_test(test_each_allocation_fails),
      cmocka_unit_test(test_the_first_error_sticks),
      cmocka_unit_test(test_streaming_gives_the_same_bytes),
      cmocka_unit_test(test_only_whole_packets_may_leave),
      cmocka_unit_test(test_failure_after_a_part_has_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
