/* Large values: PLP (MS-TDS 2.2.5.2.3) and the old text, ntext and image. They are decoded as they
 * arrive; their memory grows with what has arrived, never by what is announced. */
#include "tds_reader_state.h"

#include <string.h>

static const uint8_t empty[1];

/* Most bytes decoded at a time, so that the room asked for stays near what is used. */
enum { STRIDE = 16 * 1024 };

/* ---- its limit ---- */

/* The rest of the value is only passed over. */
static void give_up(alo_tds_large *large) {
  large->over = true;
  large->data = NULL;
  large->size = 0;
}

static bool fits(const alo_tds_reader *reader, uint64_t size) {
  return size <= reader->limits.value_max && size <= reader->limits.row_max - reader->large_bytes;
}

/* True when what is announced cannot fit however it is decoded: UTF-16 becomes at
 * least half as long. */
static bool is_over(const alo_tds_reader *reader, uint64_t total) {
  bool utf16 = alo_tds_current_plan(reader)->charset == ALO_TDS_CHARSET_UTF16;
  return total != ALO_TDS_TOTAL_UNKNOWN && !fits(reader, utf16 ? total / 2 : total);
}

/* ---- its life ---- */

/* Output parameters are had whole, and what nobody will see has no need to stop. */
static bool stops_row(const alo_tds_reader *reader, uint64_t total) {
  return reader->pieces && total > 0 && !alo_tds_is_return(reader) &&
         !alo_tds_flag(&reader->at, ALO_TDS_FLAG_UNSEEN);
}

alo_tds_outcome alo_tds_large_begin(alo_tds_reader *reader, uint64_t total, bool single) {
  alo_tds_large *large = alo_rental_take(&reader->rental);
  if (!large) {
    large = alo_heap_take(reader->heap, sizeof *large);
    if (!large) {
      return alo_tds_fail_memory(reader);
    }
  }
  *large = (alo_tds_large){.total = total, .single = single, .open = stops_row(reader, total)};
  large->over = !large->open && is_over(reader, total);
  reader->open = large->open;
  large->decodes = alo_tds_current_characters(reader, &large->characters);
  reader->rented = large;
  reader->at.left = single ? total : 0;
  alo_tds_go(reader, single ? ALO_TDS_STATE_CHUNK : ALO_TDS_STATE_CHUNK_SIZE);
  return large->open ? ALO_TDS_ROW_OPEN : ALO_TDS_AGAIN;
}

void alo_tds_large_drop(alo_tds_reader *reader) {
  if (reader->rented) {
    void *surplus = alo_rental_give(&reader->rental, reader->rented);
    alo_heap_give(reader->heap, surplus, sizeof(alo_tds_large));
    reader->rented = NULL;
    reader->open = false;
  }
}

/* ---- its content ---- */

/* Returns the bytes written to `out`. */
static inline size_t take(alo_tds_large *large, const uint8_t *in, size_t size, bool end,
                          uint8_t *out) {
  if (large->decodes && large->characters.charset == ALO_TDS_CHARSET_UTF16) {
    return alo_utf16_to_utf8(&large->cut.units, in, size, end, (char *)out, &large->broken);
  }
  if (large->decodes) {
    return alo_tds_characters_decode(&large->characters, &large->cut, in, size, end, (char *)out,
                                     &large->broken);
  }
  if (size) {
    memcpy(out, in, size);
  }
  return size;
}

static inline size_t room_of(const alo_tds_large *large, size_t size) {
  if (!large->decodes) {
    return size;
  }
  return large->characters.charset == ALO_TDS_CHARSET_UTF16
             ? ALO_UTF8_ROOM(size)
             : alo_tds_characters_room(large->characters.charset, size);
}

/* Adds bytes of the value; false: no memory. `end`: they are the last. */
static bool add(alo_tds_reader *reader, const uint8_t *in, size_t size, bool end) {
  alo_tds_large *large = reader->rented;
  do {
    size_t part = size < STRIDE ? size : STRIDE;
    if (large->over) {
      return true;
    }
    large->data =
        alo_tds_memory_grow(&reader->large, large->data, large->size, room_of(large, part));
    if (!large->data) {
      return false;
    }
    large->size += take(large, in, part, end && part == size, large->data + large->size);
    if (!fits(reader, large->size)) {
      give_up(large);
    }
    in += part;
    size -= part;
  } while (size);
  return true;
}

/* The byte order mark that a server may put before xml. */
static void strip_mark(alo_tds_cell *cell) {
  if (cell->size >= 3 && memcmp(cell->data, "\xEF\xBB\xBF", 3) == 0) {
    cell->data += 3;
    cell->size -= 3;
  }
}

/* Goes on with the row when its next event is asked for. */
static alo_tds_outcome pieces_complete(alo_tds_reader *reader) {
  bool shown = reader->open;
  *alo_tds_current_cell(reader) = (alo_tds_cell){.pieced = true, .kept = true};
  alo_tds_large_drop(reader);
  alo_tds_outcome outcome = alo_tds_cell_end(reader);
  return shown ? (alo_tds_outcome)ALO_TDS_VALUE_END : outcome;
}

static alo_tds_outcome complete(alo_tds_reader *reader) {
  alo_tds_large *large = reader->rented;
  alo_tds_cell *cell = alo_tds_current_cell(reader);
  if (large->open) {
    return pieces_complete(reader);
  }
  bool unseen = alo_tds_flag(&reader->at, ALO_TDS_FLAG_UNSEEN);
  if (!unseen && !add(reader, empty, 0, true)) {
    return alo_tds_fail_memory(reader);
  }
  *cell = (alo_tds_cell){.over = large->over, .kept = true};
  if (!large->over && !unseen) {
    alo_tds_memory_keep(&reader->large, large->size);
    reader->large_bytes += large->size;
    cell->data = large->data;
    cell->size = large->size;
    cell->decoded = large->decodes;
    cell->broken = large->broken > 0;
    if (alo_tds_current_info(reader)->type.token == ALO_TDS_XML) {
      strip_mark(cell);
    }
  }
  alo_tds_large_drop(reader);
  return alo_tds_cell_end(reader);
}

/* ---- its content, piece by piece ---- */

/* What stands in `at` of the piece's memory becomes a piece, if that is anything. */
static alo_tds_outcome show(alo_tds_reader *reader, const uint8_t *at, size_t size) {
  alo_tds_large *large = reader->rented;
  bool marked = !large->begun && alo_tds_current_info(reader)->type.token == ALO_TDS_XML &&
                size >= 3 && memcmp(at, "\xEF\xBB\xBF", 3) == 0;
  reader->piece = (aloft_bytes){at + (marked ? 3 : 0), size - (marked ? 3 : 0)};
  large->begun = large->begun || size > 0;
  return reader->piece.size ? (alo_tds_outcome)ALO_TDS_PIECE : ALO_TDS_AGAIN;
}

/* Decodes into memory that the last piece had. */
static alo_tds_outcome show_decoded(alo_tds_reader *reader, const uint8_t *in, size_t size,
                                    bool end) {
  alo_tds_large *large = reader->rented;
  alo_tds_memory_reset(&reader->large);
  uint8_t *out = alo_tds_memory_take(&reader->large, room_of(large, size));
  if (!out) {
    return alo_tds_fail_memory(reader);
  }
  large->broken = 0;
  size_t made = take(large, in, size, end, out);
  reader->piece_broken = large->broken;
  return show(reader, out, made);
}

/* Of `size` bytes that are there; at most a piece of them is taken. */
static alo_tds_outcome next_piece(alo_tds_reader *reader, size_t *size) {
  bool decoded = reader->rented->decodes;
  size_t most = decoded ? (size_t)STRIDE : (size_t)ALO_TDS_PIECE_MAX;
  *size = *size < most ? *size : most;
  return decoded ? show_decoded(reader, reader->next, *size, false)
                 : show(reader, reader->next, *size);
}

/* The value is over, but for a character that was cut off at its end. */
alo_tds_outcome alo_tds_read_piece_end(alo_tds_reader *reader) {
  alo_tds_outcome outcome = ALO_TDS_AGAIN;
  if (reader->open && reader->rented->decodes) {
    outcome = show_decoded(reader, empty, 0, true);
  }
  return outcome == ALO_TDS_AGAIN ? complete(reader) : outcome;
}

/* ---- its chunks ---- */

/* All of it has come. */
static alo_tds_outcome end_value(alo_tds_reader *reader) {
  return reader->rented->open ? alo_tds_go(reader, ALO_TDS_STATE_PIECE_END) : complete(reader);
}

alo_tds_outcome alo_tds_read_lob_size(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, 4);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  uint32_t size = alo_tds_get_u32(piece);
  const alo_tds_plan *plan = alo_tds_current_plan(reader);
  if (size > INT32_MAX) {
    return alo_tds_fail_column(reader, "a length above 2,147,483,647 bytes");
  }
  if (plan->even && size & 1) {
    return alo_tds_fail_column(reader, "an odd length of UTF-16");
  }
  return alo_tds_large_begin(reader, size, true);
}

alo_tds_outcome alo_tds_read_chunk_size(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, 4);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  alo_tds_large *large = reader->rented;
  uint32_t size = alo_tds_get_u32(piece);
  if (size == 0) {
    if (large->total != ALO_TDS_TOTAL_UNKNOWN && large->received != large->total) {
      return alo_tds_fail_column(reader, "chunks that end before the length announced");
    }
    if (alo_tds_current_plan(reader)->even && large->received & 1) {
      return alo_tds_fail_column(reader, "an odd length of UTF-16");
    }
    return end_value(reader);
  }
  if (large->total != ALO_TDS_TOTAL_UNKNOWN && size > large->total - large->received) {
    return alo_tds_fail_column(reader, "chunks that exceed the length announced");
  }
  reader->at.left = size;
  return alo_tds_go(reader, ALO_TDS_STATE_CHUNK);
}

static void take_chunk(alo_tds_reader *reader, size_t size) {
  reader->next += size;
  reader->rented->received += size;
  reader->at.left -= size;
}

static alo_tds_outcome read_chunk_in_pieces(alo_tds_reader *reader, size_t size) {
  alo_tds_outcome outcome = ALO_TDS_AGAIN;
  if (size && reader->open) {
    outcome = next_piece(reader, &size);
  }
  take_chunk(reader, size);
  if (outcome != ALO_TDS_AGAIN) {
    return outcome;
  }
  return reader->at.left && !alo_tds_available(reader) ? ALO_TDS_SLICE : ALO_TDS_AGAIN;
}

alo_tds_outcome alo_tds_read_chunk(alo_tds_reader *reader) {
  alo_tds_large *large = reader->rented;
  size_t size = alo_tds_available_left(reader);
  if (large->open && reader->at.left) {
    return read_chunk_in_pieces(reader, size);
  }
  if (size && !large->over && !alo_tds_flag(&reader->at, ALO_TDS_FLAG_UNSEEN) &&
      !add(reader, reader->next, size, false)) {
    return alo_tds_fail_memory(reader);
  }
  take_chunk(reader, size);
  if (reader->at.left) {
    return ALO_TDS_SLICE;
  }
  return large->single ? end_value(reader) : alo_tds_go(reader, ALO_TDS_STATE_CHUNK_SIZE);
}
