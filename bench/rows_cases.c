#include "rows_cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apart.h"
#include "heap.h"
#include "report.h"
#include "tds_packet.h"
#include "tds_reader.h"
#include "utf16.h"

enum { COLUMNS_MAX = 50, TEXT_MAX = 200 };

/* ---- by the reader ---- */

static const char *text_size(alo_rows_run *run, const alo_tds_type *type, const alo_tds_cell *cell,
                             uint64_t *value) {
  size_t size = 0;
  const char *wrong = alo_tds_value_text(type, cell->data, cell->size, run->text, &size);
  *value = size;
  return wrong;
}

static const char *native(alo_rows_run *run, const alo_tds_type *type, const alo_tds_cell *cell,
                          uint64_t *value) {
  int64_t integer = 0;
  double real = 0;
  aloft_tds_decimal decimal = {.low = 0};
  aloft_tds_moment moment = {.days = 0};
  aloft_tds_uuid uuid = {{0}};
  const char *wrong;
  switch (type->token) {
  case ALO_TDS_NVARCHAR:
  case ALO_TDS_BIGVARCHAR:
    return text_size(run, type, cell, value);
  case ALO_TDS_DATETIME2N:
  case ALO_TDS_DATEN:
    wrong = alo_tds_value_moment(type, cell->data, cell->size, &moment);
    *value = (uint64_t)moment.days;
    return wrong;
  case ALO_TDS_DECIMALN:
    wrong = alo_tds_value_decimal(type, cell->data, cell->size, &decimal);
    *value = decimal.low;
    return wrong;
  case ALO_TDS_FLTN:
    wrong = alo_tds_value_double(type, cell->data, cell->size, &real);
    *value = (uint64_t)llround(7 * real);
    return wrong;
  case ALO_TDS_GUID:
    wrong = alo_tds_value_uuid(type, cell->data, cell->size, &uuid);
    *value = uuid.bytes[0];
    return wrong;
  default:
    wrong = alo_tds_value_int64(type, cell->data, cell->size, &integer);
    *value = (uint64_t)integer;
    return wrong;
  }
}

/* UINT64_MAX: a value is not what it should be. */
ALO_APART static uint64_t take_row(alo_rows_run *run) {
  uint64_t sum = 0, value;
  for (unsigned at = 0; at < run->columns; at++) {
    const alo_tds_cell *cell = alo_tds_reader_cell(run->reader, at);
    if (!cell)
      return UINT64_MAX;
    if (cell->null)
      continue;
    if (native(run, &alo_tds_reader_column(run->reader, at)->type, cell, &value))
      return UINT64_MAX;
    sum += value & ALO_ANSWER_SUM_MASK;
  }
  return sum;
}

static bool read_by_reader(alo_rows_run *run, uint64_t *sum) {
  for (size_t from = 0; from < run->answer.size; from += ALO_ROWS_PACKET) {
    size_t left = run->answer.size - from;
    aloft_bytes part = {run->answer.data + from, left < ALO_ROWS_PACKET ? left : ALO_ROWS_PACKET};
    for (alo_tds_event event = ALO_TDS_END; event != ALO_TDS_NEED;) {
      event = alo_tds_reader_next(run->reader, &part);
      if (event == ALO_TDS_BROKEN)
        return false;
      if (event == ALO_TDS_END)
        return part.size == 0;
      if (event == ALO_TDS_ROW_READY)
        *sum += take_row(run);
    }
  }
  return false;
}

/* ---- by the bare loop ---- */

/* What is behind a row's token, in the layout of answers.c. */
typedef struct walk {
  const uint8_t *at;
  char *text;
} walk;

static uint64_t number(walk *self, size_t size) {
  uint64_t value = 0;
  memcpy(&value, self->at, size);
  self->at += size;
  return value;
}

static uint64_t wide_text(walk *self) {
  size_t size = (size_t)number(self, 2);
  alo_utf16_cut cut = {{0}, 0};
  if (size == 0xFFFF || size > TEXT_MAX)
    return 0;
  self->at += size;
  return alo_utf16_to_utf8(&cut, self->at - size, size, true, self->text, NULL);
}

static uint64_t narrow_text(walk *self) {
  size_t size = (size_t)number(self, 2);
  if (size == 0xFFFF || size > TEXT_MAX)
    return 0;
  memcpy(self->text, self->at, size);
  self->at += size;
  return size;
}

/* With a length before it, of which 0 is NULL; `skip` bytes of it are of no interest. */
static uint64_t short_number(walk *self, size_t skip, size_t take) {
  size_t size = *self->at++;
  if (size == 0)
    return 0;
  self->at += skip;
  uint64_t value = number(self, take);
  self->at += size - skip - take;
  return value;
}

static uint64_t real(walk *self) {
  double value = 0;
  size_t size = *self->at++;
  memcpy(&value, self->at, size == 8 ? 8 : 0);
  self->at += size;
  return (uint64_t)llround(7 * value);
}

static uint64_t value_of(walk *self, unsigned kind) {
  switch (kind) {
  case 0:
    return number(self, 4);
  case 1:
    return wide_text(self);
  case 3:
    return short_number(self, 5, 3);
  case 4:
    return short_number(self, 1, 8);
  case 5:
    return narrow_text(self);
  case 6:
    return real(self);
  case 7:
  case 8:
    return short_number(self, 0, 1);
  case 9:
    return short_number(self, 0, 3);
  default:
    return short_number(self, 0, 8);
  }
}

/* It trusts the rows to be as they were made, as no reader may. */
ALO_APART static uint64_t walk_rows(alo_rows_run *run, const uint8_t *begin, const uint8_t *end) {
  enum { KINDS = 10, ROW = 0xD1 };
  walk self = {.at = begin, .text = run->text};
  uint64_t sum = 0;
  while (self.at < end && *self.at == ROW) {
    self.at++;
    for (unsigned at = 0; at < run->columns; at++)
      sum += value_of(&self, at % KINDS) & ALO_ANSWER_SUM_MASK;
  }
  return sum;
}

/* Without the headers, in one piece. */
ALO_APART static size_t keep_payload(alo_rows_run *run) {
  alo_tds_frames frames = {.offset = 0};
  aloft_bytes input = {run->answer.data, run->answer.size}, payload;
  size_t size = 0;
  while (alo_tds_frames_next(&frames, &input, &payload) == ALO_TDS_FRAME_PAYLOAD) {
    memcpy(run->kept + size, payload.data, payload.size);
    size += payload.size;
  }
  return size;
}

static bool read_bare(alo_rows_run *run, uint64_t *sum) {
  size_t size = keep_payload(run);
  *sum = walk_rows(run, run->kept + alo_answer_rows_begin(run->columns), run->kept + size);
  return true;
}

/* ---- cases ---- */

bool alo_rows_open(alo_rows_run *run, const char *name) {
  static const struct {
    const char *word;
    bool bare;
  } kinds[] = {{"reader_", false}, {"bare_", true}};
  *run = (alo_rows_run){.columns = 0};
  for (size_t i = 0; i < 2; i++) {
    size_t size = strlen(kinds[i].word);
    if (strncmp(name, kinds[i].word, size) != 0)
      continue;
    run->columns = (unsigned)strtoul(name + size, NULL, 10);
    if (!kinds[i].bare)
      run->reader = alo_tds_reader_open(&alo_heap_default, NULL);
  }
  if (run->columns < 1 || run->columns > COLUMNS_MAX) {
    alo_report("rows has no case '%s'", name);
    return false;
  }
  run->sum = alo_answer_rows_sum(run->columns, ALO_ROWS_IN_MEMORY);
  if (alo_answer_rows(&run->answer, run->columns, ALO_ROWS_IN_MEMORY, ALO_ROWS_PACKET))
    run->kept = alo_heap_take(&alo_heap_default, run->kept_room = run->answer.size + 64);
  if (run->kept)
    return true;
  alo_report("no memory for rows");
  return false;
}

void alo_rows_close(alo_rows_run *run) {
  if (run->reader)
    alo_tds_reader_close(run->reader);
  alo_heap_give(&alo_heap_default, run->kept, run->kept ? run->kept_room : 0);
  alo_answer_drop(&run->answer);
}

bool alo_rows_read(alo_rows_run *run) {
  uint64_t sum = 0;
  bool good = run->reader ? read_by_reader(run, &sum) : read_bare(run, &sum);
  if (!good || sum != run->sum)
    alo_report("the rows in memory are not read as they were made");
  return good && sum == run->sum;
}

/* ---- counting ---- */

static alo_count_case counted(const char *name) {
  static const char *const inside[] = {"alo_tds_reader_next", "take_row", "keep_payload",
                                       "walk_rows", NULL};
  return (alo_count_case){.benchmark = "rows", .name = name, .few = 1, .many = 2, .inside = inside};
}

bool alo_rows_instructions(const char *name, double *figure, alo_reason *why) {
  const alo_count_case of = counted(name);
  bool good = alo_count_instructions(&of, figure, why);
  *figure /= ALO_ROWS_IN_MEMORY;
  return good;
}

bool alo_rows_heap_calls(const char *name, double *figure, alo_reason *why) {
  const alo_count_case of = counted(name);
  alo_heap_cost cost = {0};
  bool good = alo_count_heap(&of, &cost, why);
  *figure = cost.calls / ALO_ROWS_IN_MEMORY;
  return good;
}
