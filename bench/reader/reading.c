#include "reading.h"

#include <string.h>

#include "apart.h"
#include "heap.h"
#include "reader_baseline.h"
#include "report.h"
#include "tds_reader.h"
#include "utf16.h"

struct alo_reading {
  alo_reading_way way;
  aloft_allocator heap; /* counts */
  size_t held, peak;
  alo_tds_reader *reader;
  uint64_t seen;
  bool open; /* at a large value, which is read in pieces */
  alo_baseline_reader *baseline;
  /* the bare loop */
  alo_tds_frames frames;
  uint8_t *kept;
  size_t kept_size, kept_room;
  uint8_t passed[ALO_TDS_PIECE_MAX]; /* the last piece */
};

/* ---- memory ---- */

static void note(alo_reading *self, size_t before, size_t after) {
  self->held += after;
  self->held -= before;
  if (self->peak < self->held)
    self->peak = self->held;
}

static void *allocate(void *context, size_t size) {
  void *memory = alo_heap_default.allocate(NULL, size);
  if (memory)
    note(context, 0, size);
  return memory;
}

static void *resize(void *context, void *memory, size_t old_size, size_t size) {
  memory = alo_heap_default.resize(NULL, memory, old_size, size);
  if (memory)
    note(context, old_size, size);
  return memory;
}

static void release(void *context, void *memory, size_t size) {
  alo_heap_default.release(NULL, memory, size);
  note(context, size, 0);
}

alo_reading *alo_reading_open(alo_reading_way way) {
  alo_reading *self = alo_heap_take(&alo_heap_default, sizeof *self);
  if (!self) {
    alo_report("no memory for a reader");
    return NULL;
  }
  self->way = way;
  self->heap = (aloft_allocator){
      .allocate = allocate, .resize = resize, .release = release, .context = self};
  self->reader = alo_tds_reader_open(&self->heap, NULL);
  if (!self->reader)
    alo_reading_close(self);
  else
    alo_tds_reader_pieces(self->reader, way == ALO_READING_PIECES);
  return self->reader ? self : NULL;
}

static void forget(alo_reading *self) {
  alo_heap_give(&self->heap, self->kept, self->kept_room);
  self->kept = NULL;
  self->kept_room = self->kept_size = 0;
}

void alo_reading_close(alo_reading *self) {
  if (!self)
    return;
  forget(self);
  if (self->reader)
    alo_tds_reader_close(self->reader);
  if (self->baseline)
    alo_baseline_reader_close(self->baseline);
  alo_heap_give(&alo_heap_default, self, sizeof *self);
}

size_t alo_reading_peak(const alo_reading *self) {
  return self->peak;
}

/* ---- by the reader ---- */

static bool take_native(const alo_tds_type *type, const alo_tds_cell *cell) {
  int64_t integer;
  double real;
  aloft_tds_decimal decimal;
  aloft_tds_moment moment;
  aloft_tds_uuid uuid;
  switch (alo_tds_type_public(type)) {
  case ALOFT_TDS_FLOAT:
    return !alo_tds_value_double(type, cell->data, cell->size, &real);
  case ALOFT_TDS_DECIMAL:
    return !alo_tds_value_decimal(type, cell->data, cell->size, &decimal);
  case ALOFT_TDS_DATE:
  case ALOFT_TDS_DATETIME2:
    return !alo_tds_value_moment(type, cell->data, cell->size, &moment);
  case ALOFT_TDS_UNIQUEIDENTIFIER:
    return !alo_tds_value_uuid(type, cell->data, cell->size, &uuid);
  default:
    return !alo_tds_value_int64(type, cell->data, cell->size, &integer);
  }
}

static bool take_cell(alo_reading *self, size_t column) {
  const alo_tds_cell *cell = alo_tds_reader_cell(self->reader, column);
  const alo_tds_type *type = &alo_tds_reader_column(self->reader, column)->type;
  size_t size = cell->size;
  if (cell->null || cell->pieced)
    return true;
  if (type->token == ALO_TDS_BIGVARBINARY || cell->decoded) {
    self->seen += size;
    return !cell->over;
  }
  if (alo_tds_type_charset(type) == ALO_TDS_CHARSET_NONE)
    return take_native(type, cell);
  char *out = alo_tds_reader_scratch(self->reader, alo_tds_value_text_room(type, size));
  if (!out || alo_tds_value_text(type, cell->data, size, out, &size))
    return false;
  self->seen += size;
  return true;
}

static bool take_row(alo_reading *self) {
  size_t count = alo_tds_reader_column_count(self->reader);
  for (size_t column = 0; column < count; column++)
    if (!take_cell(self, column))
      return false;
  return true;
}

/* As who writes it somewhere. */
ALO_APART static bool pass_on(alo_reading *self, aloft_bytes piece) {
  if (piece.data == NULL || piece.size > sizeof self->passed)
    return false;
  memcpy(self->passed, piece.data, piece.size);
  self->seen += piece.size;
  return true;
}

/* False: not what there should be. `*over`: the answer is complete. */
static bool read_part(alo_reading *self, aloft_bytes part, bool *over) {
  for (;;) {
    aloft_bytes piece = {NULL, 0};
    switch (self->open ? alo_tds_reader_read(self->reader, &part, &piece)
                       : alo_tds_reader_next(self->reader, &part)) {
    case ALO_TDS_NEED:
      return true;
    case ALO_TDS_ROW_OPEN:
      self->open = true;
      break;
    case ALO_TDS_PIECE:
      if (!pass_on(self, piece))
        return false;
      break;
    case ALO_TDS_VALUE_END:
      self->open = false;
      break;
    case ALO_TDS_END:
      *over = true;
      return part.size == 0;
    case ALO_TDS_ROW_READY:
      if (!take_row(self))
        return false;
      break;
    case ALO_TDS_METADATA:
    case ALO_TDS_DONE:
      break;
    default:
      return false;
    }
  }
}

/* ---- by the bare loop ---- */

/* Past COLMETADATA and the row's token, whose size is the same in every answer: see answers.c. */
enum { BEFORE = 1 + 2 + 4 + 2 + 1 + 2 + 1 + 2 + 1, COLLATION = 5, TOTAL = 8, AFTER = 13 };

static bool keep(alo_reading *self, aloft_bytes payload) {
  if (self->kept_room - self->kept_size < payload.size) {
    size_t room = 2 * self->kept_room + payload.size + 65536;
    uint8_t *kept = alo_heap_resize(&self->heap, self->kept, self->kept_room, room);
    if (!kept)
      return false;
    self->kept = kept;
    self->kept_room = room;
  }
  memcpy(self->kept + self->kept_size, payload.data, payload.size);
  self->kept_size += payload.size;
  return true;
}

static uint32_t u32_at(const uint8_t *at) {
  return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Joins the chunks in place, as a loop with no library would. Returns the value's size. */
static size_t join(uint8_t *value, size_t size) {
  size_t joined = 0, at = 0, chunk;
  while (at + 4 <= size && (chunk = u32_at(value + at)) > 0 && chunk <= size - at - 4) {
    memmove(value + joined, value + at + 4, chunk);
    joined += chunk;
    at += 4 + chunk;
  }
  return joined;
}

ALO_APART static bool convert_kept(alo_reading *self, bool text) {
  size_t before = BEFORE + (text ? (size_t)COLLATION : 0) + TOTAL;
  if (self->kept_size < before + AFTER)
    return false;
  uint8_t *value = self->kept + before;
  size_t size = join(value, self->kept_size - before - AFTER);
  self->seen += size;
  if (!text)
    return true;
  alo_utf16_cut cut = {{0}, 0};
  size_t room = ALO_UTF8_ROOM(size);
  char *out = alo_heap_take_raw(&self->heap, room);
  if (!out)
    return false;
  self->seen += alo_utf16_to_utf8(&cut, value, size, true, out, NULL) - size;
  alo_heap_give(&self->heap, out, room);
  return true;
}

ALO_APART static bool keep_part(alo_reading *self, aloft_bytes part, bool *over) {
  aloft_bytes payload;
  for (;;) {
    switch (alo_tds_frames_next(&self->frames, &part, &payload)) {
    case ALO_TDS_FRAME_NEED:
      return true;
    case ALO_TDS_FRAME_END:
      *over = true;
      return part.size == 0;
    case ALO_TDS_FRAME_PAYLOAD:
      if (!keep(self, payload))
        return false;
      break;
    case ALO_TDS_FRAME_BROKEN:
      return false;
    }
  }
}

/* ---- by the replaced design ---- */

static bool convert_baseline(alo_reading *self) {
  aloft_bytes units = alo_baseline_reader_utf16(self->baseline, 0);
  alo_utf16_cut cut = {{0}, 0};
  size_t room = ALO_UTF8_ROOM(units.size);
  char *out = alo_heap_take_raw(&self->heap, room);
  if (!out)
    return false;
  self->seen += alo_utf16_to_utf8(&cut, units.data, units.size, true, out, NULL);
  alo_heap_give(&self->heap, out, room);
  return true;
}

static bool receive_packet(alo_reading *self, const alo_answer *answer, size_t *at,
                           size_t packet_size) {
  size_t left = answer->size - *at, size = packet_size < left ? packet_size : left;
  uint8_t *buffer = size ? alo_baseline_reader_buffer(self->baseline) : NULL;
  if (!buffer)
    return false;
  memcpy(buffer, answer->data + *at, size);
  alo_baseline_reader_received(self->baseline, size);
  *at += size;
  return true;
}

static bool run_baseline(alo_reading *self, const alo_answer *answer, size_t packet_size) {
  size_t at = 0;
  if (!self->baseline)
    self->baseline = alo_baseline_reader_open(packet_size);
  for (;;) {
    switch (self->baseline ? alo_baseline_reader_read(self->baseline) : ALO_BASELINE_BROKEN) {
    case ALO_BASELINE_ROW:
      if (!convert_baseline(self))
        return false;
      break;
    case ALO_BASELINE_PENDING:
      if (!receive_packet(self, answer, &at, packet_size))
        return false;
      break;
    case ALO_BASELINE_END:
      return true;
    case ALO_BASELINE_BROKEN:
      return false;
    }
  }
}

/* ---- all of them ---- */

static bool run(alo_reading *self, const alo_answer *answer, bool text, size_t arrival) {
  bool over = false, later = self->way == ALO_READING_LATER;
  for (size_t at = 0; at < answer->size && !over;) {
    size_t left = answer->size - at, size = arrival < left ? arrival : left;
    const aloft_bytes part = {answer->data + at, size};
    if (!(later ? keep_part(self, part, &over) : read_part(self, part, &over)))
      return false;
    at += size;
  }
  bool good = over && (!later || convert_kept(self, text));
  if (later) {
    forget(self);
    self->frames = (alo_tds_frames){.offset = 0};
  }
  return good;
}

uint64_t alo_reading_run(alo_reading *self, const alo_answer *answer, bool text, size_t arrival) {
  self->seen = 0;
  if (self->way == ALO_READING_BASELINE ? run_baseline(self, answer, arrival)
                                        : run(self, answer, text, arrival))
    return self->seen;
  alo_report("the answer was not read as it was made");
  return UINT64_MAX;
}
