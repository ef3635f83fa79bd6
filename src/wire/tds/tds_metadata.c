/* COLMETADATA and the head of RETURNVALUE (MS-TDS 2.2.7.4, 2.2.7.19). */
#include "tds_reader_state.h"

enum { NO_METADATA = 0xFFFF, COLUMNS_AT_ONCE = 16 };

/* ---- room for columns, which grows as they arrive ---- */

static bool grow_array(alo_tds_reader *reader, void **array, size_t *bytes, size_t wanted) {
  if (wanted <= *bytes) {
    return true;
  }
  void *grown = alo_heap_resize(reader->heap, *array, *bytes, wanted);
  if (!grown) {
    return false;
  }
  *array = grown;
  *bytes = wanted;
  return true;
}

#define GROW(reader, member, count)                                                                \
  grow_array(reader, (void **)&(reader)->member, &(reader)->member##_bytes,                        \
             (count) * sizeof *(reader)->member)

static bool columns_reserve(alo_tds_reader *reader, size_t count) {
  size_t room = reader->columns_bytes / sizeof *reader->columns;
  if (count <= room) {
    return true;
  }
  room = room ? room * 2 : COLUMNS_AT_ONCE;
  return GROW(reader, plans, room) && GROW(reader, cells, room) && GROW(reader, nulls, room / 8) &&
         GROW(reader, columns, room);
}

/* ---- the tokens' heads ---- */

alo_tds_outcome alo_tds_read_column_count(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, 2);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  uint16_t count = alo_tds_get_u16(piece);
  alo_tds_position *at = &reader->at;
  alo_tds_memory_reset(&reader->names);
  alo_tds_set_flag(at, ALO_TDS_HAS_METADATA, false);
  reader->column_count = 0;
  at->column = 0;
  if (count == NO_METADATA || count == 0) {
    return alo_tds_go(reader, ALO_TDS_STATE_TOKEN);
  }
  if (count > reader->limits.columns_max) {
    return alo_tds_fail_number(reader, "COLMETADATA: # columns are over columns_max", count);
  }
  reader->columns_announced = count;
  return alo_tds_go(reader, ALO_TDS_STATE_COLUMN);
}

/* User type, flags and type token; the TYPE_INFO's tail follows. */
static alo_tds_outcome begin_type(alo_tds_reader *reader, const uint8_t *piece) {
  alo_tds_column_info *info = alo_tds_current_info(reader);
  uint8_t token = piece[6];
  int tail = alo_tds_type_tail_size(token);
  if (tail < 0) {
    return alo_tds_fail_hex(reader, "unknown column type 0x#", token);
  }
  info->user_type = alo_tds_get_u32(piece);
  info->flags = alo_tds_get_u16(piece + 4);
  info->type = (alo_tds_type){.token = token};
  reader->at.tail = (uint32_t)tail;
  return alo_tds_go(reader, ALO_TDS_STATE_TYPE_TAIL);
}

alo_tds_outcome alo_tds_read_column(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, 7);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  if (!columns_reserve(reader, reader->at.column + (size_t)1)) {
    return alo_tds_fail_memory(reader);
  }
  return begin_type(reader, piece);
}

alo_tds_outcome alo_tds_read_return_value(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, 2); /* the parameter's ordinal */
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  alo_tds_position *at = &reader->at;
  alo_tds_set_flag(at, ALO_TDS_FLAG_UNSEEN, alo_tds_flag(at, ALO_TDS_FLAG_SKIP));
  alo_tds_memory_reset(&reader->messages);
  reader->return_info = (alo_tds_column_info){0};
  return alo_tds_go(reader, ALO_TDS_STATE_NAME_SIZE);
}

alo_tds_outcome alo_tds_read_return_type(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, 8); /* a status, then as for a column */
  return piece ? begin_type(reader, piece + 1) : ALO_TDS_SLICE;
}

/* ---- TYPE_INFO, 2.2.5.4 ---- */

static bool make_plan(alo_tds_reader *reader) {
  const alo_tds_type *type = &alo_tds_current_info(reader)->type;
  alo_tds_plan *plan =
      alo_tds_is_return(reader) ? &reader->return_plan : &reader->plans[reader->at.column];
  *plan = (alo_tds_plan){.form = (uint8_t)alo_tds_type_form(type),
                         .charset = (uint8_t)alo_tds_type_charset(type),
                         .null = type->token == ALO_TDS_NULLTYPE,
                         .size = type->size};
  plan->even = plan->charset == ALO_TDS_CHARSET_UTF16;
  if (plan->form == ALO_TDS_FORM_BYTE) {
    plan->lengths = alo_tds_type_lengths(type);
  }
  alo_tds_characters characters;
  if (alo_tds_characters_of(type, reader->pages, &characters) != ALOFT_OK) {
    return false;
  }
  plan->page = characters.page;
  return true;
}

static alo_tds_outcome type_complete(alo_tds_reader *reader) {
  if (!make_plan(reader)) {
    return alo_tds_fail_memory(reader);
  }
  if (alo_tds_is_return(reader)) {
    return alo_tds_go(reader, ALO_TDS_STATE_RETURN_CELL);
  }
  bool lob = reader->plans[reader->at.column].form == ALO_TDS_FORM_LOB;
  return alo_tds_go(reader, lob ? ALO_TDS_STATE_TABLE_PARTS : ALO_TDS_STATE_NAME_SIZE);
}

alo_tds_outcome alo_tds_read_type_tail(alo_tds_reader *reader) {
  const uint8_t *tail = NULL;
  if (reader->at.tail) {
    tail = alo_tds_piece(reader, reader->at.tail);
    if (!tail) {
      return ALO_TDS_SLICE;
    }
  }
  alo_tds_type *type = &alo_tds_current_info(reader)->type;
  const char *wrong = alo_tds_type_read(type, type->token, tail);
  if (wrong) {
    return alo_tds_fail_column(reader, wrong);
  }
  reader->at.strings = (uint8_t)(tail ? alo_tds_type_strings(type, tail) : 0);
  return reader->at.strings ? alo_tds_go(reader, ALO_TDS_STATE_TYPE_STRING) : type_complete(reader);
}

/* Names of a UDT or of an xml schema collection: nobody asks for them yet. */
alo_tds_outcome alo_tds_read_type_string(alo_tds_reader *reader) {
  alo_tds_position *at = &reader->at;
  if (!at->strings) {
    return type_complete(reader);
  }
  const uint8_t *piece = alo_tds_piece(reader, at->strings == 1 ? 2 : 1);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  size_t count = at->strings == 1 ? alo_tds_get_u16(piece) : *piece;
  at->strings--;
  return alo_tds_pass(reader, count * 2, ALO_TDS_STATE_TYPE_STRING);
}

/* The table's name, which text, ntext and image columns have. */
alo_tds_outcome alo_tds_read_table_parts(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, 1);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  reader->at.strings = *piece;
  return alo_tds_go(reader, ALO_TDS_STATE_TABLE_PART);
}

alo_tds_outcome alo_tds_read_table_part(alo_tds_reader *reader) {
  alo_tds_position *at = &reader->at;
  if (!at->strings) {
    return alo_tds_go(reader, ALO_TDS_STATE_NAME_SIZE);
  }
  const uint8_t *piece = alo_tds_piece(reader, 2);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  at->strings--;
  return alo_tds_pass(reader, (uint64_t)alo_tds_get_u16(piece) * 2, ALO_TDS_STATE_TABLE_PART);
}

/* ---- the name, decoded as it arrives ---- */

alo_tds_outcome alo_tds_read_name_size(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, 1);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  alo_tds_memory *memory = alo_tds_is_return(reader) ? &reader->messages : &reader->names;
  reader->at.left = (uint64_t)*piece * 2;
  reader->at.cut = (alo_utf16_cut){0};
  reader->text_size = 0;
  reader->text = alo_tds_memory_grow(memory, NULL, 0, ALO_UTF8_ROOM((size_t)*piece * 2) + 6);
  return reader->text ? alo_tds_go(reader, ALO_TDS_STATE_NAME) : alo_tds_fail_memory(reader);
}

static alo_tds_outcome columns_complete(alo_tds_reader *reader) {
  alo_tds_position *at = &reader->at;
  reader->column_count = reader->columns_announced;
  for (uint32_t column = 0; column < reader->column_count; column++) {
    reader->cells[column] = (alo_tds_cell){.null = true};
  }
  at->state = ALO_TDS_STATE_TOKEN;
  alo_tds_set_flag(at, ALO_TDS_HAS_METADATA | ALO_TDS_HAS_RESULT, true);
  return alo_tds_flag(at, ALO_TDS_FLAG_SKIP) ? ALO_TDS_AGAIN : ALO_TDS_METADATA;
}

static alo_tds_outcome name_complete(alo_tds_reader *reader) {
  alo_tds_position *at = &reader->at;
  aloft_text name = {(char *)reader->text, reader->text_size};
  alo_tds_memory_keep(alo_tds_is_return(reader) ? &reader->messages : &reader->names, name.size);
  alo_tds_current_info(reader)->name = name;
  if (alo_tds_is_return(reader)) {
    return alo_tds_go(reader, ALO_TDS_STATE_RETURN_TYPE);
  }
  if (++at->column < reader->columns_announced) {
    return alo_tds_go(reader, ALO_TDS_STATE_COLUMN);
  }
  return columns_complete(reader);
}

alo_tds_outcome alo_tds_read_name(alo_tds_reader *reader) {
  alo_tds_position *at = &reader->at;
  size_t size = alo_tds_available_left(reader);
  at->left -= size;
  reader->text_size += alo_utf16_to_utf8(&at->cut, reader->next, size, at->left == 0,
                                         (char *)reader->text + reader->text_size, NULL);
  reader->next += size;
  return at->left ? ALO_TDS_SLICE : name_complete(reader);
}
