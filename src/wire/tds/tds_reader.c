/* The reader's outside: slices in, one event out; and the errors. */
#include "tds_reader_state.h"

#include <string.h>

#include "apart.h"

enum { COLUMNS_MAX = 4096, MESSAGE_MAX = 64 * 1024 };

static const size_t VALUE_MAX = (size_t)64 * 1024 * 1024;

alo_tds_reader *alo_tds_reader_open(const aloft_allocator *heap, const alo_tds_limits *limits) {
  alo_tds_reader *reader = alo_heap_take(heap, sizeof *reader);
  if (!reader) {
    return NULL;
  }
  alo_tds_limits own = limits ? *limits : (alo_tds_limits){0};
  own.columns_max = own.columns_max ? own.columns_max : COLUMNS_MAX;
  own.value_max = own.value_max ? own.value_max : VALUE_MAX;
  if (!own.row_max) {
    own.row_max = own.value_max > SIZE_MAX / 4 ? SIZE_MAX : own.value_max * 4;
  }
  own.message_max = own.message_max ? own.message_max : MESSAGE_MAX;
  reader->limits = own;
  reader->heap = heap;
  reader->names.heap = heap;
  reader->row.heap = heap;
  reader->large.heap = heap;
  reader->messages.heap = heap;
  alo_tds_set_flag(&reader->at, ALO_TDS_FLAG_FRESH, true);
  return reader;
}

void alo_tds_reader_close(alo_tds_reader *reader) {
  const aloft_allocator *heap = reader->heap;
  alo_tds_large_drop(reader);
  alo_heap_give(heap, alo_rental_take(&reader->rental), sizeof(alo_tds_large));
  alo_heap_give(heap, reader->columns, reader->columns_bytes);
  alo_heap_give(heap, reader->plans, reader->plans_bytes);
  alo_heap_give(heap, reader->cells, reader->cells_bytes);
  alo_heap_give(heap, reader->nulls, reader->nulls_bytes);
  alo_heap_give(heap, reader->texts, reader->texts_bytes);
  alo_heap_give(heap, reader->computed, reader->computed_bytes);
  alo_tds_memory_fini(&reader->names);
  alo_tds_memory_fini(&reader->row);
  alo_tds_memory_fini(&reader->large);
  alo_tds_memory_fini(&reader->messages);
  alo_heap_give(heap, reader, sizeof *reader);
}

void alo_tds_reader_use_pages(alo_tds_reader *reader, const alo_code_pages *pages) {
  reader->pages = pages;
}

bool alo_tds_reader_holds_over(const alo_tds_reader *reader, size_t size) {
  return alo_tds_memory_held(&reader->row) > size || alo_tds_memory_held(&reader->large) > size;
}

void alo_tds_reader_trim(alo_tds_reader *reader, size_t kept) {
  if (!alo_tds_flag(&reader->at, ALO_TDS_HAS_PENDING)) {
    alo_tds_memory_trim(&reader->row, kept);
    alo_tds_memory_trim(&reader->large, kept);
  }
}

/* ---- errors ---- */

static size_t add_text(char *out, size_t at, size_t room, const char *text) {
  while (*text && at + 1 < room) {
    out[at++] = *text++;
  }
  out[at] = 0;
  return at;
}

static const char *number_text(uint64_t number, unsigned base, char out[24]) {
  char *at = out + 23;
  *at = 0;
  do {
    *--at = "0123456789ABCDEF"[number % base];
    number /= base;
  } while (number);
  return at;
}

/* `reason` with `number` in place of its '#', if it has one. */
static alo_tds_outcome fail(alo_tds_reader *reader, const char *prefix, const char *reason,
                            const char *number) {
  size_t room = sizeof reader->reason;
  const char *mark = strchr(reason, '#');
  size_t at = add_text(reader->reason, 0, room, prefix);
  if (mark) {
    for (; reason < mark && at + 1 < room; reason++) {
      reader->reason[at++] = *reason;
    }
    at = add_text(reader->reason, at, room, number);
    reason = mark + 1;
  }
  add_text(reader->reason, at, room, reason);
  reader->broken = true;
  reader->broken_at = reader->frames.offset + (uint64_t)(reader->next - reader->begin);
  return ALO_TDS_BROKEN;
}

alo_tds_outcome alo_tds_fail(alo_tds_reader *reader, const char *reason) {
  return fail(reader, "", reason, "");
}

alo_tds_outcome alo_tds_fail_hex(alo_tds_reader *reader, const char *reason, uint8_t number) {
  char text[24];
  return fail(reader, "", reason, number_text(number, 16, text));
}

alo_tds_outcome alo_tds_fail_number(alo_tds_reader *reader, const char *reason, uint64_t number) {
  char text[24];
  return fail(reader, "", reason, number_text(number, 10, text));
}

alo_tds_outcome alo_tds_fail_column(alo_tds_reader *reader, const char *reason) {
  char text[24];
  char prefix[48];
  if (alo_tds_is_return(reader)) {
    return fail(reader, "return value: ", reason, "");
  }
  size_t at =
      add_text(prefix, 0, sizeof prefix, alo_tds_is_apart(reader) ? "computed column " : "column ");
  at = add_text(prefix, at, sizeof prefix, number_text(reader->at.column + UINT64_C(1), 10, text));
  add_text(prefix, at, sizeof prefix, ": ");
  return fail(reader, prefix, reason, "");
}

alo_tds_outcome alo_tds_fail_memory(alo_tds_reader *reader) {
  return alo_tds_fail(reader, "out of memory");
}

/* ---- the pump ---- */

const uint8_t *alo_tds_piece_cut(alo_tds_reader *reader, size_t size) {
  alo_tds_position *at = &reader->at;
  size_t available = alo_tds_available(reader);
  size_t wanted = size - at->carry_size;
  size_t count = available < wanted ? available : wanted;
  if (count) {
    memcpy(at->carry + at->carry_size, reader->next, count);
  }
  reader->next += count;
  reader->counters.parsed_bytes += count;
  at->carry_size = (uint8_t)(at->carry_size + count);
  if (at->carry_size < size) {
    return NULL;
  }
  at->carry_size = 0;
  return at->carry;
}

static alo_tds_outcome run(alo_tds_reader *reader) {
  static alo_tds_outcome (*const states[ALO_TDS_STATE_COUNT])(alo_tds_reader *) = {
#define ALO_TDS_STATE_ENTRY(state, function) [ALO_TDS_STATE_##state] = alo_tds_read_##function,
      ALO_TDS_STATES(ALO_TDS_STATE_ENTRY)
#undef ALO_TDS_STATE_ENTRY
  };
  alo_tds_outcome outcome;
  do {
    outcome = states[reader->at.state](reader);
  } while (outcome == ALO_TDS_AGAIN);
  return outcome;
}

static inline void leave_slice(alo_tds_reader *reader, aloft_bytes *input) {
  size_t size = (size_t)(reader->next - reader->begin);
  alo_tds_frames_take(&reader->frames, input, size);
  reader->counters.parsed_bytes += size;
  reader->begin = reader->next;
}

static inline alo_tds_event stop(alo_tds_reader *reader) {
  if (alo_tds_flag(&reader->at, ALO_TDS_HAS_PENDING)) {
    reader->counters.stops++;
  }
  bool keeps = reader->at.kept < reader->at.column; /* else there is nothing of a row to keep */
  return !keeps || alo_tds_row_keep(reader) ? ALO_TDS_NEED
                                            : (alo_tds_event)alo_tds_fail_memory(reader);
}

static void begin_message(alo_tds_reader *reader) {
  alo_tds_position *at = &reader->at;
  alo_tds_clear_flags(at, ALO_TDS_FLAG_SKIP);
  alo_tds_set_flag(at, ALO_TDS_HAS_PENDING, true);
  reader->column_count = reader->compute_count = 0;
}

static alo_tds_event end_message(alo_tds_reader *reader) {
  alo_tds_position *at = &reader->at;
  if (at->state != ALO_TDS_STATE_TOKEN) {
    return (alo_tds_event)alo_tds_fail_hex(reader, "the message ends inside token 0x#", at->token);
  }
  alo_tds_set_flag(at, ALO_TDS_HAS_PENDING, false);
  alo_tds_set_flag(at, ALO_TDS_FLAG_SKIP, false);
  alo_tds_set_flag(at, ALO_TDS_FLAG_FRESH, true);
  return ALO_TDS_END;
}

/* What the last event showed is free again: no row is half read. */
static inline void forget_last(alo_tds_reader *reader) {
  if (alo_tds_memory_used(&reader->row)) {
    alo_tds_memory_reset(&reader->row);
  }
  if (reader->large_bytes) {
    alo_tds_memory_reset(&reader->large);
    reader->large_bytes = 0;
  }
}

static inline alo_tds_outcome read_slice(alo_tds_reader *reader, aloft_bytes payload) {
  reader->begin = reader->next = payload.data;
  reader->end = reader->begin + payload.size;
  if (reader->frames.type != ALO_TDS_REPLY) {
    return alo_tds_fail_hex(reader, "a packet of type 0x# in place of a tabular result",
                            reader->frames.type);
  }
  if (alo_tds_flag(&reader->at, ALO_TDS_FLAG_FRESH)) {
    begin_message(reader);
  }
  return run(reader);
}

static inline bool is_used_up(const alo_tds_reader *reader, const aloft_bytes *input) {
  return !input->size && !alo_tds_frames_at_end(&reader->frames);
}

/* Reads on to the next event. */
ALO_APART static alo_tds_event pump(alo_tds_reader *reader, aloft_bytes *input) {
  aloft_bytes payload;
  while (!reader->broken) {
    if (is_used_up(reader, input)) {
      return stop(reader);
    }
    switch (alo_tds_frames_peek(&reader->frames, input, &payload)) {
    case ALO_TDS_FRAME_NEED:
      return stop(reader);
    case ALO_TDS_FRAME_END:
      return end_message(reader);
    case ALO_TDS_FRAME_BROKEN:
      return (alo_tds_event)alo_tds_fail(reader, reader->frames.broken);
    case ALO_TDS_FRAME_PAYLOAD:
      break;
    }
    alo_tds_outcome outcome = read_slice(reader, payload);
    leave_slice(reader, input);
    if (outcome != ALO_TDS_SLICE) {
      return (alo_tds_event)outcome;
    }
  }
  return ALO_TDS_BROKEN;
}

void alo_tds_reader_pieces(alo_tds_reader *reader, bool pieces) {
  reader->pieces = pieces;
}

/* Most of what is ever read: one more row, behind whatever was reported last, that lies whole in
 * the packet and the input. False: it does not, and what of it does has been read; or it is none. A
 * packet's and a message's first bytes never get here: of them nothing is left before their header
 * has been read. */
static inline bool next_row(alo_tds_reader *reader, aloft_bytes *input) {
  const alo_tds_position *at = &reader->at;
  size_t left = reader->frames.left;
  size_t size = input->size < left ? input->size : left;
  if (!size || !alo_tds_flag(at, ALO_TDS_HAS_METADATA) || alo_tds_flag(at, ALO_TDS_FLAG_SKIP) ||
      reader->broken) {
    return false;
  }
  bool whole;
  size = alo_tds_row_start(reader, input->data, size, &whole);
  alo_tds_frames_take(&reader->frames, input, size);
  reader->counters.parsed_bytes += size;
  return whole;
}

ALO_APART static alo_tds_event next_from_token(alo_tds_reader *reader, aloft_bytes *input) {
  forget_last(reader);
  return next_row(reader, input) ? ALO_TDS_ROW_READY : pump(reader, input);
}

alo_tds_event alo_tds_reader_next(alo_tds_reader *reader, aloft_bytes *input) {
  if (reader->at.state == ALO_TDS_STATE_TOKEN) {
    return next_from_token(reader, input);
  }
  reader->open = false; /* what is left of a value in pieces is passed over */
  return pump(reader, input);
}

alo_tds_event alo_tds_reader_read(alo_tds_reader *reader, aloft_bytes *input, aloft_bytes *piece) {
  *piece = (aloft_bytes){NULL, 0};
  if (reader->broken || !reader->open) {
    return reader->broken ? ALO_TDS_BROKEN : ALO_TDS_VALUE_END;
  }
  alo_tds_event event = is_used_up(reader, input) ? stop(reader) : pump(reader, input);
  if (event == ALO_TDS_PIECE) {
    *piece = reader->piece;
  }
  return event;
}

/* ---- what the last event tells ---- */

size_t alo_tds_reader_open_column(const alo_tds_reader *reader) {
  return reader->at.column;
}

uint64_t alo_tds_reader_open_size(const alo_tds_reader *reader) {
  uint64_t total = reader->open ? reader->rented->total : ALO_TDS_TOTAL_UNKNOWN;
  return total == ALO_TDS_TOTAL_UNKNOWN ? UINT64_MAX : total;
}

bool alo_tds_reader_piece_broken(const alo_tds_reader *reader) {
  return reader->piece_broken > 0;
}

uint16_t alo_tds_reader_return_ordinal(const alo_tds_reader *reader, uint8_t *status) {
  *status = reader->return_kind;
  return reader->return_ordinal;
}

uint32_t alo_tds_reader_told(const alo_tds_reader *reader) {
  return reader->told;
}

size_t alo_tds_reader_column_count(const alo_tds_reader *reader) {
  return reader->column_count;
}

const alo_tds_column_info *alo_tds_reader_column(const alo_tds_reader *reader, size_t column) {
  return column < reader->column_count ? &reader->columns[column] : NULL;
}

const alo_tds_cell *alo_tds_reader_cell(const alo_tds_reader *reader, size_t column) {
  return column < reader->at.column ? &reader->cells[column] : NULL;
}

const alo_tds_cell *alo_tds_reader_value(const alo_tds_reader *reader, size_t column,
                                         const alo_tds_column_info **info) {
  if (column >= reader->at.column || column >= reader->column_count) {
    return NULL;
  }
  *info = &reader->columns[column];
  return &reader->cells[column];
}

const alo_tds_done *alo_tds_reader_done(const alo_tds_reader *reader) {
  return &reader->done;
}

const alo_tds_message *alo_tds_reader_message(const alo_tds_reader *reader) {
  return &reader->message;
}

const alo_tds_env *alo_tds_reader_env(const alo_tds_reader *reader) {
  return &reader->env;
}

const alo_tds_loginack *alo_tds_reader_loginack(const alo_tds_reader *reader) {
  return &reader->loginack;
}

int32_t alo_tds_reader_return_status(const alo_tds_reader *reader) {
  return reader->return_status;
}

const alo_tds_column_info *alo_tds_reader_return_value(const alo_tds_reader *reader) {
  return &reader->return_info;
}

const alo_tds_cell *alo_tds_reader_return_cell(const alo_tds_reader *reader) {
  return &reader->return_cell;
}

aloft_bytes alo_tds_reader_feature(const alo_tds_reader *reader, uint8_t *id) {
  *id = reader->at.feature;
  return reader->feature;
}

uint16_t alo_tds_reader_spid(const alo_tds_reader *reader) {
  return reader->frames.spid;
}

const char *alo_tds_reader_broken(const alo_tds_reader *reader, uint64_t *offset,
                                  bool *unsupported) {
  *offset = reader->broken_at;
  *unsupported = reader->unsupported;
  return reader->broken ? reader->reason : NULL;
}

char *alo_tds_reader_scratch(alo_tds_reader *reader, size_t size) {
  return (char *)alo_tds_memory_take(&reader->row, size);
}

void alo_tds_reader_scratch_return(alo_tds_reader *reader, size_t size) {
  alo_tds_memory_return(&reader->row, size);
}

/* As many as there may be columns without more memory for those. */
static bool texts_reserve(alo_tds_reader *reader) {
  size_t wanted = reader->columns_bytes / sizeof *reader->columns * sizeof *reader->texts;
  if (wanted <= reader->texts_bytes) {
    return true;
  }
  uint8_t *grown = alo_heap_resize(reader->heap, reader->texts, reader->texts_bytes, wanted);
  if (!grown) {
    return false;
  }
  memset(grown + reader->texts_bytes, 0, wanted - reader->texts_bytes);
  reader->texts = (alo_tds_made_text *)(void *)grown;
  reader->texts_bytes = wanted;
  return true;
}

aloft_text *alo_tds_reader_made_text(alo_tds_reader *reader, size_t column) {
  if (!texts_reserve(reader)) {
    return NULL;
  }
  alo_tds_made_text *made = &reader->texts[column];
  uint64_t row = reader->counters.rows + (reader->at.state != ALO_TDS_STATE_TOKEN);
  if (made->row != row) {
    *made = (alo_tds_made_text){.row = row};
  }
  return &made->text;
}

void alo_tds_reader_skip(alo_tds_reader *reader, bool skip) {
  alo_tds_set_flag(&reader->at, ALO_TDS_FLAG_SKIP, skip);
  if (skip) {
    alo_tds_set_flag(&reader->at, ALO_TDS_FLAG_UNSEEN, true);
  }
}

bool alo_tds_reader_has(const alo_tds_reader *reader, uint8_t flag) {
  return alo_tds_flag(&reader->at, flag);
}

bool alo_tds_reader_ends_within(const alo_tds_reader *reader, const aloft_bytes *pieces,
                                size_t count) {
  alo_tds_frames frames = reader->frames;
  aloft_bytes payload;
  for (size_t at = 0; at < count; at++) {
    aloft_bytes input = pieces[at];
    for (;;) {
      alo_tds_frame frame = alo_tds_frames_next(&frames, &input, &payload);
      if (frame == ALO_TDS_FRAME_END) {
        return true;
      }
      if (frame == ALO_TDS_FRAME_BROKEN) {
        return false;
      }
      if (frame == ALO_TDS_FRAME_NEED) {
        break;
      }
    }
  }
  return false;
}

alo_tds_counters alo_tds_reader_counters(const alo_tds_reader *reader) {
  alo_tds_counters counters = reader->counters;
  counters.bytes = reader->frames.offset;
  counters.large_made = reader->rental.made;
  return counters;
}
