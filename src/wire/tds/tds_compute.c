/* ALTMETADATA and ALTROW (MS-TDS 2.2.7.1, 2.2.7.2): the sums of COMPUTE BY, which no server has
 * made since 2012. They are read to their end, and not shown. */
#include "tds_reader_state.h"

enum { HEAD_SIZE = 5, COLUMN_SIZE = 10, OPERATION_SIZE = 3 };

/* ---- ALTMETADATA ---- */

static bool plans_reserve(alo_tds_reader *reader, size_t count) {
  size_t wanted = count * sizeof *reader->computed;
  if (wanted <= reader->computed_bytes) {
    return true;
  }
  wanted = wanted > 2 * reader->computed_bytes ? wanted : 2 * reader->computed_bytes;
  void *grown = alo_heap_resize(reader->heap, reader->computed, reader->computed_bytes, wanted);
  if (!grown) {
    return false;
  }
  reader->computed = grown;
  reader->computed_bytes = wanted;
  return true;
}

/* Count, id, and the columns that it is by, which are passed over. */
alo_tds_outcome alo_tds_read_alt_head(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, HEAD_SIZE);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  alo_tds_compute *made = &reader->computes[reader->compute_count];
  uint32_t first = 0;
  if (reader->compute_count == ALO_TDS_COMPUTES_MAX) {
    return alo_tds_fail(reader, "more COMPUTE clauses than 32");
  }
  if (reader->compute_count) {
    first = made[-1].first + made[-1].count;
  }
  *made = (alo_tds_compute){alo_tds_get_u16(piece + 2), alo_tds_get_u16(piece), first};
  if (!made->count || first + made->count > reader->limits.columns_max) {
    return alo_tds_fail_number(reader, "ALTMETADATA: # columns are none, or over columns_max",
                               made->count);
  }
  alo_tds_memory_reset(&reader->messages);
  reader->return_info = (alo_tds_column_info){0};
  reader->compute_count++;
  reader->at.column = 0;
  return alo_tds_pass(reader, (uint64_t)piece[4] * 2, ALO_TDS_STATE_ALT_COLUMN);
}

/* The operation and what it is of come before what every column has. */
alo_tds_outcome alo_tds_read_alt_column(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, COLUMN_SIZE);
  return piece ? alo_tds_type_begin(reader, piece + OPERATION_SIZE) : ALO_TDS_SLICE;
}

alo_tds_outcome alo_tds_alt_column_end(alo_tds_reader *reader) {
  const alo_tds_compute *made = &reader->computes[reader->compute_count - 1];
  size_t at = made->first + (size_t)reader->at.column;
  if (!plans_reserve(reader, at + 1)) {
    return alo_tds_fail_memory(reader);
  }
  reader->computed[at] = reader->return_plan;
  bool last = ++reader->at.column == made->count;
  return alo_tds_go(reader, last ? ALO_TDS_STATE_TOKEN : ALO_TDS_STATE_ALT_COLUMN);
}

/* ---- ALTROW ---- */

static const alo_tds_compute *find(const alo_tds_reader *reader, uint16_t id) {
  for (uint32_t at = reader->compute_count; at > 0; at--) {
    if (reader->computes[at - 1].id == id) {
      return &reader->computes[at - 1];
    }
  }
  return NULL;
}

alo_tds_outcome alo_tds_read_alt_row(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, 2);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  reader->compute = find(reader, alo_tds_get_u16(piece));
  if (!reader->compute) {
    return alo_tds_fail(reader, "ALTROW: no ALTMETADATA has its id");
  }
  alo_tds_set_flag(&reader->at, ALO_TDS_FLAG_UNSEEN, true);
  reader->at.column = 0;
  return alo_tds_go(reader, ALO_TDS_STATE_ALT_CELLS);
}

alo_tds_outcome alo_tds_read_alt_cells(alo_tds_reader *reader) {
  const alo_tds_compute *of = reader->compute;
  alo_tds_position *at = &reader->at;
  while (at->column < of->count) {
    reader->return_plan = reader->computed[of->first + at->column];
    alo_tds_outcome outcome =
        alo_tds_cell_begin(reader, &reader->return_plan, &reader->return_cell);
    if (outcome != ALO_TDS_CELL) {
      return outcome;
    }
    at->column++;
  }
  return alo_tds_go(reader, ALO_TDS_STATE_TOKEN);
}
