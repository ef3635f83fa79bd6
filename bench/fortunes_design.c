#include "fortunes_design.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fortunes_stream.h"
#include "heap.h"
#include "reader_baseline.h"
#include "tds_reader.h"
#include "utf16.h"

enum { PACKETS = 64, SMALL = ALO_FORTUNES_PACKET_SMALL, LARGE = ALO_FORTUNES_PACKET_LARGE };
/* Payload of 64 small packets, and what of it is not text in the answer of one value. */
enum { PAYLOAD = PACKETS * (SMALL - 8), DONE_SIZE = 13, AROUND = 160 };
enum { ROWS_MAX = 512, TEXT_MAX = 2 * PAYLOAD };

const char *const alo_design_names[ALO_DESIGNS] = {"current", "baseline"};
const char *const alo_answer_names[ALO_ANSWERS] = {"packet", "rows", "value"};
const char *const alo_answer_titles[ALO_ANSWERS] = {"12 rows, 1 packet", "rows, 64 packets",
                                                    "1 value, 64 packets"};

/* ---- answers ---- */

typedef struct answer {
  uint8_t *bytes;
  size_t size, packet_size;
} answer;

static void add_rows(alo_fortunes_stream *stream) {
  for (int32_t id = 1;; id = id % ALO_FORTUNES + 1) {
    aloft_text message = alo_fortunes_message(id);
    size_t row = 7 + 2 * alo_utf8_utf16_count(message.data, message.size);
    size_t used = alo_buffer_size(&stream->buffer);
    size_t payload = used - (used + SMALL - 1) / SMALL * 8;
    if (payload + row + DONE_SIZE > PAYLOAD)
      return;
    alo_fortunes_stream_row(stream, id, message);
  }
}

/* The 12 messages over and over. Returns the bytes of UTF-8. */
static size_t make_text(char text[TEXT_MAX]) {
  size_t size = 0, units = 0;
  for (int32_t id = 1;; id = id % ALO_FORTUNES + 1) {
    aloft_text message = alo_fortunes_message(id);
    units += alo_utf8_utf16_count(message.data, message.size);
    if (2 * units + AROUND > PAYLOAD || size + message.size > TEXT_MAX)
      return size;
    memcpy(text + size, message.data, message.size);
    size += message.size;
  }
}

static void add_value(alo_fortunes_stream *stream) {
  static char text[TEXT_MAX];
  alo_fortunes_stream_row(stream, 1, (aloft_text){text, make_text(text)});
}

static bool make_answer(alo_design_answer which, answer *to) {
  alo_fortunes_stream stream;
  to->packet_size = which == ALO_ANSWER_PACKET ? LARGE : SMALL;
  alo_fortunes_stream_open(&stream, (uint32_t)to->packet_size, which == ALO_ANSWER_VALUE);
  if (which == ALO_ANSWER_VALUE)
    add_value(&stream);
  else if (which == ALO_ANSWER_ROWS)
    add_rows(&stream);
  for (int32_t id = 1; which == ALO_ANSWER_PACKET && id <= ALO_FORTUNES; id++)
    alo_fortunes_stream_row(&stream, id, alo_fortunes_message(id));
  aloft_bytes bytes = alo_fortunes_stream_end(&stream);
  to->size = bytes.size;
  to->bytes = bytes.size > 0 ? malloc(bytes.size) : NULL;
  if (to->bytes)
    memcpy(to->bytes, bytes.data, bytes.size);
  alo_fortunes_stream_close(&stream);
  return to->bytes != NULL;
}

bool alo_answer_size(alo_design_answer which, size_t *packets, size_t *bytes) {
  answer made;
  if (!make_answer(which, &made))
    return false;
  *packets = (made.size + made.packet_size - 1) / made.packet_size;
  *bytes = made.size;
  free(made.bytes);
  return true;
}

/* ---- a query of each design ---- */

struct alo_design_query {
  answer answer;
  alo_tds_reader *current;
  const alo_tds_column_info *columns; /* of the current design */
  alo_baseline_reader *baseline;
  uint8_t received[LARGE]; /* of the current design: what the socket's buffer is */
  char text[TEXT_MAX + 16];
  alo_fortune_list list;
  bool keep; /* the strings; otherwise values are only decoded */
};

typedef struct alo_design_query query;

static size_t receive(const answer *from, size_t at, uint8_t *to) {
  size_t left = from->size - at;
  size_t size = left < from->packet_size ? left : from->packet_size;
  memcpy(to, from->bytes + at, size);
  return size;
}

static bool take_current_row(query *self) {
  const alo_tds_cell *id = alo_tds_reader_cell(self->current, 0);
  const alo_tds_cell *message = alo_tds_reader_cell(self->current, 1);
  int64_t number = 0;
  aloft_text text = {self->text, 0};
  if (alo_tds_value_int64(&self->columns[0].type, id->data, id->size, &number))
    return false;
  if (message->decoded)
    text = (aloft_text){(const char *)message->data, message->size};
  else if (alo_tds_value_text(&self->columns[1].type, message->data, message->size, self->text,
                              &text.size))
    return false;
  return !self->keep || alo_fortunes_keep(&self->list, (int32_t)number, text);
}

/* They stay where they are until the next ones come. */
static bool take_columns(query *self) {
  self->columns = alo_tds_reader_column(self->current, 0);
  return alo_tds_reader_column_count(self->current) == 2;
}

static bool query_current(query *self) {
  aloft_bytes input = {0};
  size_t at = 0;
  for (;;) {
    switch (alo_tds_reader_next(self->current, &input)) {
    case ALO_TDS_METADATA:
      if (!take_columns(self))
        return false;
      break;
    case ALO_TDS_ROW_READY:
      if (!take_current_row(self))
        return false;
      break;
    case ALO_TDS_NEED:
      if (at == self->answer.size)
        return false;
      input = (aloft_bytes){self->received, receive(&self->answer, at, self->received)};
      at += input.size;
      break;
    case ALO_TDS_END:
      return true;
    case ALO_TDS_BROKEN:
      return false;
    default:
      break;
    }
  }
}

static bool take_baseline_row(query *self) {
  aloft_bytes units = alo_baseline_reader_utf16(self->baseline, 1);
  alo_utf16_cut cut = {{0}, 0};
  size_t size = alo_utf16_to_utf8(&cut, units.data, units.size, true, self->text, NULL);
  return alo_fortunes_keep(&self->list, alo_baseline_reader_int32(self->baseline, 0),
                           (aloft_text){self->text, size});
}

static bool receive_for_baseline(query *self, size_t *at) {
  uint8_t *buffer = *at < self->answer.size ? alo_baseline_reader_buffer(self->baseline) : NULL;
  if (!buffer)
    return false;
  size_t size = receive(&self->answer, *at, buffer);
  alo_baseline_reader_received(self->baseline, size);
  *at += size;
  return true;
}

static bool query_baseline(query *self) {
  size_t at = 0;
  for (;;) {
    switch (alo_baseline_reader_read(self->baseline)) {
    case ALO_BASELINE_ROW:
      if (!take_baseline_row(self))
        return false;
      break;
    case ALO_BASELINE_PENDING:
      if (!receive_for_baseline(self, &at))
        return false;
      break;
    case ALO_BASELINE_END:
      return true;
    case ALO_BASELINE_BROKEN:
      return false;
    }
  }
}

void alo_design_close(query *self) {
  if (!self)
    return;
  alo_fortunes_drop(&self->list);
  if (self->current)
    alo_tds_reader_close(self->current);
  alo_baseline_reader_close(self->baseline);
  free(self->list.rows);
  free(self->answer.bytes);
  free(self);
}

query *alo_design_open(alo_design design, alo_design_answer which) {
  query *self = calloc(1, sizeof *self);
  if (!self)
    return NULL;
  self->keep = true;
  self->list.room = ROWS_MAX;
  self->list.rows = calloc(ROWS_MAX, sizeof *self->list.rows);
  bool good = self->list.rows && make_answer(which, &self->answer);
  if (good && design == ALO_DESIGN_CURRENT)
    self->current = alo_tds_reader_open(&alo_heap_default, NULL);
  else if (good)
    self->baseline = alo_baseline_reader_open(self->answer.packet_size);
  if (self->current || self->baseline)
    return self;
  alo_design_close(self);
  return NULL;
}

void alo_design_keep_nothing(query *self) {
  self->keep = false;
}

bool alo_design_execute(query *self) {
  return self->current ? query_current(self) : query_baseline(self);
}

const alo_fortune_list *alo_design_rows(const query *self) {
  return &self->list;
}

void alo_design_drop(query *self) {
  alo_fortunes_drop(&self->list);
}

/* ---- do they agree ---- */

static bool rows_are_right(const alo_fortune_list *list) {
  for (size_t i = 0; i < list->count; i++) {
    aloft_text wanted = alo_fortunes_message((int32_t)(i % ALO_FORTUNES) + 1);
    const alo_fortune *row = &list->rows[i];
    if (row->id != (int32_t)(i % ALO_FORTUNES) + 1 || row->size != wanted.size ||
        memcmp(row->message, wanted.data, wanted.size) != 0)
      return false;
  }
  return list->count >= ALO_FORTUNES;
}

static bool value_is_right(const alo_fortune_list *list) {
  static char text[TEXT_MAX];
  size_t size = make_text(text);
  return list->count == 1 && list->rows[0].id == 1 && list->rows[0].size == size &&
         memcmp(list->rows[0].message, text, size) == 0;
}

static bool lists_are_equal(const alo_fortune_list *a, const alo_fortune_list *b) {
  if (a->count != b->count)
    return false;
  for (size_t i = 0; i < a->count; i++) {
    const alo_fortune *x = &a->rows[i], *y = &b->rows[i];
    if (x->id != y->id || x->size != y->size || memcmp(x->message, y->message, x->size) != 0)
      return false;
  }
  return true;
}

bool alo_designs_agree(alo_design_answer which, alo_reason *why) {
  query *current = alo_design_open(ALO_DESIGN_CURRENT, which);
  query *baseline = alo_design_open(ALO_DESIGN_BASELINE, which);
  const char *wrong = NULL;
  if (!current || !baseline)
    wrong = "no memory";
  else if (!alo_design_execute(current) || !alo_design_execute(baseline))
    wrong = "one of the designs did not read it to its end";
  else if (!lists_are_equal(&current->list, &baseline->list))
    wrong = "the designs gave different rows";
  else if (which == ALO_ANSWER_VALUE ? !value_is_right(&current->list)
                                     : !rows_are_right(&current->list))
    wrong = "the rows are not the right ones";
  if (wrong)
    snprintf(why->text, sizeof why->text, "%s: %s", alo_answer_titles[which], wrong);
  alo_design_close(current);
  alo_design_close(baseline);
  return !wrong;
}
