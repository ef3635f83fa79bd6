#include "answers.h"

#include <stdio.h>
#include <string.h>

#include "heap.h"
#include "tds_response.h"
#include "tds_value.h"

enum { CHUNK = 8040, KINDS = 10, COLUMNS_MAX = 64 };

static const size_t ANSWER_MAX = (size_t)1 << 30;

static void begin(alo_tds_writer *writer, alo_buffer *buffer, uint32_t packet_size) {
  alo_buffer_init(buffer, &alo_heap_default, ANSWER_MAX);
  alo_tds_writer_init(writer, buffer, packet_size);
  alo_tds_message_begin(writer, ALO_TDS_REPLY, 0);
}

/* The buffer's memory is the answer's from then on. */
static bool end(alo_tds_writer *writer, alo_buffer *buffer, uint64_t rows, alo_answer *answer) {
  const alo_tds_done done = {
      .token = 0xFD, .status = ALO_TDS_DONE_COUNT, .command = 0xC1, .rows = rows};
  alo_tds_put_done(writer, &done);
  bool good = alo_tds_message_end(writer) == ALOFT_OK;
  *answer = (alo_answer){NULL, 0};
  if (good && (answer->data = alo_heap_take(&alo_heap_default, alo_buffer_size(buffer)))) {
    answer->size = alo_buffer_size(buffer);
    memcpy(answer->data, buffer->data + buffer->begin, answer->size);
  }
  alo_buffer_fini(buffer);
  return answer->data != NULL;
}

void alo_answer_drop(alo_answer *answer) {
  alo_heap_give(&alo_heap_default, answer->data, answer->size);
  *answer = (alo_answer){NULL, 0};
}

/* ---- one large value ---- */

static void fill(uint8_t chunk[CHUNK], bool text) {
  for (size_t at = 0; at < CHUNK; at += 2) {
    chunk[at] = (uint8_t)('a' + at / 2 % 26);
    chunk[at + 1] = text ? 0 : 'x';
  }
}

bool alo_answer_large(alo_answer *answer, bool text, size_t size, uint32_t packet_size) {
  alo_buffer buffer;
  alo_tds_writer writer;
  uint8_t chunk[CHUNK];
  alo_tds_out_column column = {
      .flags = 0x09,
      .name = ALOFT_TEXT("v"),
      .type = {.token = text ? ALO_TDS_NVARCHAR : ALO_TDS_BIGVARBINARY, .size = ALO_TDS_MAX_SIZE}};
  memcpy(column.type.collation, alo_tds_collation_default, sizeof column.type.collation);
  begin(&writer, &buffer, packet_size);
  alo_tds_put_colmetadata(&writer, &column, 1);
  alo_tds_put_row(&writer);
  fill(chunk, text);
  alo_tds_put_u64(&writer, size);
  for (size_t left = size; left; left -= left < CHUNK ? left : CHUNK) {
    size_t part = left < CHUNK ? left : CHUNK;
    alo_tds_put_u32(&writer, (uint32_t)part);
    alo_tds_put(&writer, chunk, part);
  }
  alo_tds_put_u32(&writer, 0);
  return end(&writer, &buffer, 1, answer);
}

/* ---- rows ---- */

static const alo_tds_type types[KINDS] = {
    {.token = ALO_TDS_INT4, .size = 4},
    {.token = ALO_TDS_NVARCHAR, .size = 80},
    {.token = ALO_TDS_INTN, .size = 8},
    {.token = ALO_TDS_DATETIME2N, .size = 8, .scale = 7},
    {.token = ALO_TDS_DECIMALN, .size = 9, .precision = 18, .scale = 4},
    {.token = ALO_TDS_BIGVARCHAR, .size = 20},
    {.token = ALO_TDS_FLTN, .size = 8},
    {.token = ALO_TDS_BITN, .size = 1},
    {.token = ALO_TDS_GUID, .size = 16},
    {.token = ALO_TDS_DATEN, .size = 3},
};

static void put_value(alo_tds_writer *writer, unsigned kind, const alo_tds_type *type,
                      uint64_t number) {
  char text[41];
  const aloft_tds_moment moment = {.days = 700000 + (int32_t)(number % 40000),
                                   .ticks = number * 7919 % UINT64_C(864000000000)};
  const aloft_tds_decimal decimal = {.low = number * 104729, .precision = 18, .scale = 4};
  aloft_tds_uuid uuid;
  switch (kind) {
  case 1:
  case 5:
    snprintf(text, sizeof text, "%s %llu", kind == 1 ? "the text of row" : "row",
             (unsigned long long)number);
    alo_tds_put_text(writer, type, aloft_text_of(text));
    break;
  case 3:
  case 9:
    alo_tds_put_moment(writer, type, &moment);
    break;
  case 4:
    alo_tds_put_decimal(writer, type, &decimal);
    break;
  case 6:
    alo_tds_put_double(writer, type, (double)number / 7);
    break;
  case 8:
    memset(uuid.bytes, (int)(number & 0xFF), sizeof uuid.bytes);
    alo_tds_put_uuid(writer, type, &uuid);
    break;
  default:
    alo_tds_put_int64(writer, type, kind == 7 ? (int64_t)(number & 1) : (int64_t)number);
  }
}

static void put_row(alo_tds_writer *writer, const alo_tds_out_column *columns, unsigned count,
                    uint64_t row) {
  alo_tds_put_row(writer);
  for (unsigned at = 0; at < count; at++) {
    const alo_tds_type *type = &columns[at].type;
    if (at % KINDS != 0 && (row + at) % 10 == 0)
      alo_tds_put_null(writer, type);
    else
      put_value(writer, at % KINDS, type, row);
  }
}

bool alo_answer_rows(alo_answer *answer, unsigned count, size_t rows, uint32_t packet_size) {
  alo_buffer buffer;
  alo_tds_writer writer;
  alo_tds_out_column columns[COLUMNS_MAX];
  static const char names[KINDS][2] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  if (count > COLUMNS_MAX)
    count = COLUMNS_MAX;
  for (unsigned at = 0; at < count; at++) {
    columns[at] = (alo_tds_out_column){.type = types[at % KINDS],
                                       .flags = at % KINDS ? 0x09 : 0x08,
                                       .name = aloft_text_of(names[at % KINDS])};
    memcpy(columns[at].type.collation, alo_tds_collation_default, 5);
  }
  begin(&writer, &buffer, packet_size);
  alo_tds_put_colmetadata(&writer, columns, count);
  for (size_t row = 0; row < rows; row++)
    put_row(&writer, columns, count, row);
  return end(&writer, &buffer, rows, answer);
}

/* ---- their sum ---- */

static uint64_t share(unsigned kind, uint64_t number) {
  switch (kind) {
  case 1:
  case 5:
    return (uint64_t)snprintf(NULL, 0, "%s %llu", kind == 1 ? "the text of row" : "row",
                              (unsigned long long)number);
  case 3:
  case 9:
    return 700000 + number % 40000;
  case 4:
    return number * 104729;
  case 7:
    return number & 1;
  case 8:
    return number & 0xFF;
  default:
    return number;
  }
}

uint64_t alo_answer_rows_sum(unsigned columns, uint64_t rows) {
  uint64_t sum = 0;
  for (uint64_t row = 0; row < rows; row++) {
    for (unsigned at = 0; at < columns; at++) {
      if (at % KINDS == 0 || (row + at) % 10 != 0)
        sum += share(at % KINDS, row) & ALO_ANSWER_SUM_MASK;
    }
  }
  return sum;
}

/* 3 bytes; for a column 4 of its user type, 2 of flags, a name of one character with its length,
 * and the type with what it needs. */
size_t alo_answer_rows_begin(unsigned columns) {
  static const uint8_t type_sizes[KINDS] = {1, 8, 2, 2, 4, 8, 2, 2, 2, 1};
  size_t size = 3;
  for (unsigned at = 0; at < columns; at++)
    size += 4 + 2 + 3 + (size_t)type_sizes[at % KINDS];
  return size;
}

/* ---- rows without packets ---- */

enum { HEADER = 8, DONE_SIZE = 13, DONE_ROWS = 5 };

static bool keep(alo_answer *to, const uint8_t *from, size_t size) {
  to->data = alo_heap_take(&alo_heap_default, size);
  to->size = to->data ? size : 0;
  if (to->data)
    memcpy(to->data, from, size);
  return to->data != NULL;
}

/* Takes the headers out, in place. */
static void take_headers(alo_answer *answer) {
  size_t out = 0;
  for (size_t at = 0; at + HEADER <= answer->size;) {
    size_t size = (size_t)(answer->data[at + 2] << 8 | answer->data[at + 3]);
    memmove(answer->data + out, answer->data + at + HEADER, size - HEADER);
    out += size - HEADER;
    at += size;
  }
  /* The memory keeps its size; what is behind the payload is not asked for. */
  memset(answer->data + out, 0, answer->size - out);
}

static size_t payload_size(const alo_answer *answer) {
  size_t size = 0;
  for (size_t at = 0; at + HEADER <= answer->size;) {
    size_t packet = (size_t)(answer->data[at + 2] << 8 | answer->data[at + 3]);
    size += packet - HEADER;
    at += packet;
  }
  return size;
}

bool alo_answer_parts_make(alo_answer_parts *parts, unsigned columns, size_t rows, uint64_t times) {
  alo_answer none = {NULL, 0}, some = {NULL, 0};
  *parts = (alo_answer_parts){.before = {NULL, 0}};
  bool good = alo_answer_rows(&none, columns, 0, ALO_TDS_PACKET_MAX) &&
              alo_answer_rows(&some, columns, rows, ALO_TDS_PACKET_MAX);
  if (good) {
    size_t before = payload_size(&none) - DONE_SIZE, all = payload_size(&some);
    take_headers(&none);
    take_headers(&some);
    good = keep(&parts->before, none.data, before) &&
           keep(&parts->rows, some.data + before, all - before - DONE_SIZE) &&
           keep(&parts->after, none.data + before, DONE_SIZE);
  }
  for (unsigned at = 0; good && at < 8; at++)
    parts->after.data[DONE_ROWS + at] = (uint8_t)(rows * times >> 8 * at);
  alo_answer_drop(&none);
  alo_answer_drop(&some);
  return good;
}

void alo_answer_parts_drop(alo_answer_parts *parts) {
  alo_answer_drop(&parts->before);
  alo_answer_drop(&parts->rows);
  alo_answer_drop(&parts->after);
}
