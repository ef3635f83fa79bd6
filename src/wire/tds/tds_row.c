/* ROW, NBCROW and the value of RETURNVALUE (MS-TDS 2.2.7.17, 2.2.7.14, 2.2.7.19): the one row
 * parser. Values stay in the input where they lie in one piece. */
#include "tds_reader_state.h"

#include <string.h>

static const uint8_t empty[1];

static inline void set_null(alo_tds_cell *cell) {
  *cell = (alo_tds_cell){.null = true};
}

/* ---- the beginning of a value ---- */

/* A value of `size` bytes that the slice does not hold whole: gathered in row memory, at most
 * 64 KiB, or passed over when nobody will see it. */
static alo_tds_outcome value_cut(alo_tds_reader *reader, alo_tds_cell *cell, size_t size) {
  reader->at.left = size;
  if (alo_tds_flag(&reader->at, ALO_TDS_FLAG_UNSEEN)) {
    *cell = (alo_tds_cell){.data = empty, .kept = true};
    return alo_tds_go(reader, ALO_TDS_STATE_VALUE);
  }
  reader->body = alo_tds_memory_take(&reader->row, size);
  if (!reader->body) {
    return alo_tds_fail_memory(reader);
  }
  reader->body_size = 0;
  *cell = (alo_tds_cell){.data = reader->body, .size = size, .kept = true};
  return alo_tds_go(reader, ALO_TDS_STATE_VALUE);
}

static alo_tds_outcome value_begin(alo_tds_reader *reader, alo_tds_cell *cell, size_t size) {
  const uint8_t *data = reader->next;
  if ((size_t)(reader->end - data) < size) {
    return value_cut(reader, cell, size);
  }
  reader->next = data + size;
  *cell = (alo_tds_cell){.data = data, .size = size};
  return ALO_TDS_CELL;
}

static alo_tds_outcome begin_byte(alo_tds_reader *reader, const alo_tds_plan *plan,
                                  alo_tds_cell *cell) {
  const uint8_t *piece = alo_tds_piece(reader, 1);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  size_t size = *piece;
  if (!size) {
    set_null(cell);
    return ALO_TDS_CELL;
  }
  if (size >= 32 || !(plan->lengths >> size & 1)) {
    return alo_tds_fail_column(reader, "a length that its type does not have");
  }
  return value_begin(reader, cell, size);
}

static alo_tds_outcome begin_short(alo_tds_reader *reader, const alo_tds_plan *plan,
                                   alo_tds_cell *cell) {
  const uint8_t *piece = alo_tds_piece(reader, 2);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  size_t size = alo_tds_get_u16(piece);
  if (size > plan->size) {
    if (size != 0xFFFF) {
      return alo_tds_fail_column(reader, "a value longer than its column");
    }
    set_null(cell);
    return ALO_TDS_CELL;
  }
  if (plan->even && size & 1) {
    return alo_tds_fail_column(reader, "an odd length of UTF-16");
  }
  return value_begin(reader, cell, size);
}

static alo_tds_outcome begin_long(alo_tds_reader *reader, const alo_tds_plan *plan,
                                  alo_tds_cell *cell) {
  const uint8_t *piece = alo_tds_piece(reader, 4);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  uint32_t size = alo_tds_get_u32(piece);
  if (size == 0) {
    set_null(cell);
    return ALO_TDS_CELL;
  }
  return size > plan->size ? alo_tds_fail_column(reader, "a value longer than its column")
                           : value_begin(reader, cell, size);
}

/* A text pointer and a timestamp, of no use to us, come before the length. */
static alo_tds_outcome begin_lob(alo_tds_reader *reader, alo_tds_cell *cell) {
  const uint8_t *piece = alo_tds_piece(reader, 1);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  set_null(cell);
  return *piece ? alo_tds_pass(reader, (uint64_t)*piece + 8, ALO_TDS_STATE_LOB_SIZE) : ALO_TDS_CELL;
}

static alo_tds_outcome begin_plp(alo_tds_reader *reader, alo_tds_cell *cell) {
  const uint8_t *piece = alo_tds_piece(reader, 8);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  set_null(cell);
  uint64_t total = alo_tds_get_u64(piece);
  return total == ALO_TDS_TOTAL_NULL ? ALO_TDS_CELL : alo_tds_large_begin(reader, total, false);
}

alo_tds_outcome alo_tds_cell_begin(alo_tds_reader *reader, const alo_tds_plan *plan,
                                   alo_tds_cell *cell) {
  switch ((alo_tds_form)plan->form) {
  case ALO_TDS_FORM_FIXED:
    if (plan->null) {
      set_null(cell);
      return ALO_TDS_CELL;
    }
    return value_begin(reader, cell, plan->size);
  case ALO_TDS_FORM_BYTE:
    return begin_byte(reader, plan, cell);
  case ALO_TDS_FORM_SHORT:
    return begin_short(reader, plan, cell);
  case ALO_TDS_FORM_LONG:
    return begin_long(reader, plan, cell);
  case ALO_TDS_FORM_LOB:
    return begin_lob(reader, cell);
  case ALO_TDS_FORM_PLP:
    break;
  }
  return begin_plp(reader, cell);
}

/* ---- the row ---- */

alo_tds_outcome alo_tds_row_begin(alo_tds_reader *reader, bool compressed) {
  alo_tds_position *at = &reader->at;
  if (!alo_tds_flag(at, ALO_TDS_HAS_METADATA)) {
    return alo_tds_fail(reader, "a row without column metadata");
  }
  at->column = 0;
  at->kept = 0;
  alo_tds_set_flag(at, ALO_TDS_FLAG_UNSEEN, alo_tds_flag(at, ALO_TDS_FLAG_SKIP));
  if (compressed) {
    at->left = (reader->column_count + 7) / 8;
    return alo_tds_go(reader, ALO_TDS_STATE_NULLS);
  }
  at->state = ALO_TDS_STATE_CELLS;
  return alo_tds_read_cells(reader);
}

alo_tds_outcome alo_tds_read_nulls(alo_tds_reader *reader) {
  alo_tds_position *at = &reader->at;
  size_t size = alo_tds_available_left(reader);
  size_t begin = (reader->column_count + (size_t)7) / 8 - (size_t)at->left;
  memcpy(reader->nulls + begin, reader->next, size);
  reader->next += size;
  at->left -= size;
  return at->left ? ALO_TDS_SLICE : alo_tds_go(reader, ALO_TDS_STATE_CELLS);
}

/* The size of the value that begins at `next`, and its prefix's, when its form is common and it
 * lies whole before `end`; false, and all the rest is for alo_tds_cell_begin. */
static inline bool whole_value(const alo_tds_plan *plan, const uint8_t *next, const uint8_t *end,
                               size_t *prefix, size_t *size) {
  size_t available = (size_t)(end - next);
  if (plan->form == ALO_TDS_FORM_FIXED) {
    *prefix = 0;
    *size = plan->size;
    return *size <= available && !plan->null;
  }
  if (plan->form == ALO_TDS_FORM_SHORT && available >= 2) {
    *prefix = 2;
    *size = alo_tds_get_u16(next);
    return *size <= available - 2 && *size <= plan->size && !(plan->even && *size & 1);
  }
  if (plan->form == ALO_TDS_FORM_BYTE && available >= 1) {
    *prefix = 1;
    *size = *next;
    return *size <= available - 1 && *size < 32 && plan->lengths >> *size & 1;
  }
  return false;
}

/* Reads cells from `column` on as long as they are whole, and moves `*from`; returns the first that
 * is not. `nulls` may be NULL. */
static inline uint32_t whole_cells(alo_tds_reader *reader, uint32_t column, const uint8_t *nulls,
                                   const uint8_t **from, const uint8_t *end) {
  const uint8_t *next = *from;
  for (; column < reader->column_count; column++) {
    alo_tds_cell *cell = &reader->cells[column];
    size_t prefix;
    size_t size;
    if (nulls && nulls[column / 8] >> column % 8 & 1) {
      set_null(cell);
      continue;
    }
    if (!whole_value(&reader->plans[column], next, end, &prefix, &size)) {
      break;
    }
    *cell = (alo_tds_cell){.data = next + prefix, .size = size};
    next += prefix + size;
  }
  *from = next;
  return column;
}

static uint32_t read_whole_cells(alo_tds_reader *reader, uint32_t column) {
  const uint8_t *nulls = reader->at.token == ALO_TDS_TOKEN_NBCROW ? reader->nulls : NULL;
  const uint8_t *end = reader->at.carry_size ? reader->next : reader->end;
  return whole_cells(reader, column, nulls, &reader->next, end);
}

size_t alo_tds_row_start(alo_tds_reader *reader, const uint8_t *row, size_t size, bool *whole) {
  alo_tds_position *at = &reader->at;
  const uint8_t *next = row + 1;
  *whole = false;
  if (*row != ALO_TDS_TOKEN_ROW) {
    return 0;
  }
  at->token = ALO_TDS_TOKEN_ROW;
  at->kept = 0;
  at->column = whole_cells(reader, 0, NULL, &next, row + size);
  if (at->column == reader->column_count) {
    reader->counters.rows++;
    *whole = true;
  } else {
    alo_tds_set_flag(at, ALO_TDS_FLAG_UNSEEN, false);
    at->state = ALO_TDS_STATE_CELLS;
  }
  return (size_t)(next - row);
}

static alo_tds_outcome row_complete(alo_tds_reader *reader) {
  reader->at.state = ALO_TDS_STATE_TOKEN;
  reader->counters.rows++;
  return alo_tds_flag(&reader->at, ALO_TDS_FLAG_UNSEEN) ? ALO_TDS_AGAIN : ALO_TDS_ROW_READY;
}

alo_tds_outcome alo_tds_read_cells(alo_tds_reader *reader) {
  alo_tds_position *at = &reader->at;
  for (;;) {
    at->column = read_whole_cells(reader, at->column);
    if (at->column == reader->column_count) {
      return row_complete(reader);
    }
    alo_tds_outcome outcome =
        alo_tds_cell_begin(reader, &reader->plans[at->column], &reader->cells[at->column]);
    if (outcome != ALO_TDS_CELL) {
      return outcome;
    }
    at->column++;
  }
}

static alo_tds_outcome return_complete(alo_tds_reader *reader) {
  reader->at.state = ALO_TDS_STATE_TOKEN;
  return alo_tds_flag(&reader->at, ALO_TDS_FLAG_UNSEEN) ? ALO_TDS_AGAIN : ALO_TDS_RETURN_VALUE;
}

alo_tds_outcome alo_tds_read_return_cell(alo_tds_reader *reader) {
  alo_tds_outcome outcome = alo_tds_cell_begin(reader, &reader->return_plan, &reader->return_cell);
  return outcome == ALO_TDS_CELL ? return_complete(reader) : outcome;
}

alo_tds_outcome alo_tds_cell_end(alo_tds_reader *reader) {
  if (alo_tds_is_return(reader)) {
    return return_complete(reader);
  }
  reader->at.column++;
  bool computed = reader->at.token == ALO_TDS_TOKEN_ALTROW;
  return alo_tds_go(reader, computed ? ALO_TDS_STATE_ALT_CELLS : ALO_TDS_STATE_CELLS);
}

alo_tds_outcome alo_tds_read_value(alo_tds_reader *reader) {
  alo_tds_position *at = &reader->at;
  size_t size = alo_tds_available_left(reader);
  if (!alo_tds_flag(at, ALO_TDS_FLAG_UNSEEN)) {
    memcpy(reader->body + reader->body_size, reader->next, size);
    reader->body_size += size;
    reader->counters.moved_bytes += size;
  }
  reader->next += size;
  at->left -= size;
  return at->left ? ALO_TDS_SLICE : alo_tds_cell_end(reader);
}

/* ---- stopping ---- */

static bool keep_cell(alo_tds_reader *reader, alo_tds_cell *cell) {
  if (cell->null || cell->over || cell->kept) {
    return true;
  }
  uint8_t *data = alo_tds_memory_take(&reader->row, cell->size);
  if (!data) {
    return false;
  }
  memcpy(data, cell->data, cell->size);
  cell->data = data;
  cell->kept = true;
  reader->counters.moved_bytes += cell->size;
  return true;
}

bool alo_tds_row_keep(alo_tds_reader *reader) {
  alo_tds_position *at = &reader->at;
  bool in_row = at->token == ALO_TDS_TOKEN_ROW || at->token == ALO_TDS_TOKEN_NBCROW;
  if (at->state == ALO_TDS_STATE_TOKEN || !in_row || alo_tds_flag(at, ALO_TDS_FLAG_UNSEEN)) {
    return true;
  }
  for (; at->kept < at->column; at->kept++) {
    if (!keep_cell(reader, &reader->cells[at->kept])) {
      return false;
    }
  }
  return true;
}
