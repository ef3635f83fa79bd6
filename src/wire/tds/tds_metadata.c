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
  reader->tables = NULL;
  reader->table_count = 0;
  reader->colinfo_read = false;
  reader->compute_count = 0;
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

alo_tds_outcome alo_tds_type_begin(alo_tds_reader *reader, const uint8_t *piece) {
  alo_tds_column_info *info = alo_tds_current_info(reader);
  uint8_t token = piece[6];
  int tail = alo_tds_type_tail_size(token);
  if (tail < 0) {
    const char *legacy = alo_tds_type_legacy(token);
    reader->unsupported = legacy != NULL;
    return legacy ? alo_tds_fail(reader, legacy)
                  : alo_tds_fail_hex(reader, "unknown column type 0x#", token);
  }
  info->table = info->base_name = info->udt = (aloft_text){"", 0};
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
  return alo_tds_type_begin(reader, piece);
}

alo_tds_outcome alo_tds_read_return_value(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, 2); /* the parameter's ordinal */
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  alo_tds_position *at = &reader->at;
  alo_tds_set_flag(at, ALO_TDS_FLAG_UNSEEN, alo_tds_flag(at, ALO_TDS_FLAG_SKIP));
  alo_tds_memory_reset(&reader->messages);
  reader->return_ordinal = alo_tds_get_u16(piece);
  reader->return_info = (alo_tds_column_info){0};
  return alo_tds_go(reader, ALO_TDS_STATE_NAME_SIZE);
}

alo_tds_outcome alo_tds_read_return_type(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, 8); /* a status, then as for a column */
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  reader->return_kind = *piece;
  return alo_tds_type_begin(reader, piece + 1);
}

/* ---- names in parts: of a UDT, of the table of text, ntext and image ---- */

static alo_tds_memory *memory_of_names(alo_tds_reader *reader) {
  return alo_tds_is_apart(reader) ? &reader->messages : &reader->names;
}

/* Appends a part of `count` UTF-16 units to reader->text, then goes on with `then`. */
static alo_tds_outcome begin_part(alo_tds_reader *reader, size_t count, alo_tds_state then) {
  size_t room = ALO_UTF8_ROOM(count * 2) + 1;
  if (count > ALO_TDS_NAME_UNITS_MAX) {
    return alo_tds_fail_column(reader, "a name above 128 characters");
  }
  reader->text =
      alo_tds_memory_grow(memory_of_names(reader), reader->text, reader->text_size, room);
  if (!reader->text) {
    return alo_tds_fail_memory(reader);
  }
  if (reader->text_size) {
    reader->text[reader->text_size++] = '.';
  }
  reader->at.left = (uint64_t)count * 2;
  reader->at.cut = (alo_utf16_cut){0};
  reader->at.then = (uint8_t)then;
  return alo_tds_go(reader, ALO_TDS_STATE_PART);
}

/* What of a name in UTF-16 is there; true when that was all. */
static bool read_text(alo_tds_reader *reader) {
  alo_tds_position *at = &reader->at;
  size_t size = alo_tds_available_left(reader);
  at->left -= size;
  reader->text_size += alo_utf16_to_utf8(&at->cut, reader->next, size, at->left == 0,
                                         (char *)reader->text + reader->text_size, NULL);
  reader->next += size;
  return at->left == 0;
}

alo_tds_outcome alo_tds_read_part(alo_tds_reader *reader) {
  return read_text(reader) ? alo_tds_go(reader, (alo_tds_state)reader->at.then) : ALO_TDS_SLICE;
}

static void begin_parts(alo_tds_reader *reader) {
  reader->text = NULL;
  reader->text_size = 0;
}

static aloft_text end_parts(alo_tds_reader *reader) {
  if (!reader->text) {
    return (aloft_text){"", 0};
  }
  alo_tds_memory_keep(memory_of_names(reader), reader->text_size);
  return (aloft_text){(char *)reader->text, reader->text_size};
}

/* ---- TYPE_INFO, 2.2.5.4 ---- */

static bool make_plan(alo_tds_reader *reader) {
  const alo_tds_type *type = &alo_tds_current_info(reader)->type;
  alo_tds_plan *plan =
      alo_tds_is_apart(reader) ? &reader->return_plan : &reader->plans[reader->at.column];
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
  bool lob = alo_tds_current_plan(reader)->form == ALO_TDS_FORM_LOB;
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
  begin_parts(reader);
  return reader->at.strings ? alo_tds_go(reader, ALO_TDS_STATE_TYPE_STRING) : type_complete(reader);
}

/* Names of a UDT, which are kept, and of its assembly and an xml schema collection, which nobody
 * asks for. */
alo_tds_outcome alo_tds_read_type_string(alo_tds_reader *reader) {
  alo_tds_position *at = &reader->at;
  alo_tds_column_info *info = alo_tds_current_info(reader);
  bool udt = info->type.token == ALO_TDS_UDT;
  if (!at->strings) {
    info->udt = end_parts(reader);
    return type_complete(reader);
  }
  const uint8_t *piece = alo_tds_piece(reader, at->strings == 1 ? 2 : 1);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  bool last = at->strings == 1;
  size_t count = last ? alo_tds_get_u16(piece) : *piece;
  at->strings--;
  if (udt && !last) {
    return begin_part(reader, count, ALO_TDS_STATE_TYPE_STRING);
  }
  if (!udt && count > ALO_TDS_NAME_UNITS_MAX) {
    return alo_tds_fail_column(reader, "a name above 128 characters");
  }
  return alo_tds_pass(reader, count * 2, ALO_TDS_STATE_TYPE_STRING);
}

alo_tds_outcome alo_tds_read_table_parts(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, 1);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  if (*piece > ALO_TDS_TABLE_PARTS_MAX) {
    return alo_tds_fail_column(reader, "a table's name of more than 4 parts");
  }
  reader->at.strings = *piece;
  begin_parts(reader);
  return alo_tds_go(reader, ALO_TDS_STATE_TABLE_PART);
}

alo_tds_outcome alo_tds_read_table_part(alo_tds_reader *reader) {
  alo_tds_position *at = &reader->at;
  if (!at->strings) {
    alo_tds_current_info(reader)->table = end_parts(reader);
    return alo_tds_go(reader, ALO_TDS_STATE_NAME_SIZE);
  }
  const uint8_t *piece = alo_tds_piece(reader, 2);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  at->strings--;
  return begin_part(reader, alo_tds_get_u16(piece), ALO_TDS_STATE_TABLE_PART);
}

/* ---- the name, decoded as it arrives ---- */

alo_tds_outcome alo_tds_read_name_size(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, 1);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  if (*piece > ALO_TDS_NAME_UNITS_MAX) {
    return alo_tds_fail_column(reader, "a name above 128 characters");
  }
  reader->at.left = (uint64_t)*piece * 2;
  reader->at.cut = (alo_utf16_cut){0};
  reader->text_size = 0;
  reader->text =
      alo_tds_memory_grow(memory_of_names(reader), NULL, 0, ALO_UTF8_ROOM((size_t)*piece * 2) + 6);
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
  alo_tds_memory_keep(memory_of_names(reader), name.size);
  alo_tds_current_info(reader)->name = name;
  if (alo_tds_is_return(reader)) {
    return alo_tds_go(reader, ALO_TDS_STATE_RETURN_TYPE);
  }
  if (at->token == ALO_TDS_TOKEN_ALTMETADATA) {
    return alo_tds_alt_column_end(reader);
  }
  if (++at->column < reader->columns_announced) {
    return alo_tds_go(reader, ALO_TDS_STATE_COLUMN);
  }
  return columns_complete(reader);
}

alo_tds_outcome alo_tds_read_name(alo_tds_reader *reader) {
  return read_text(reader) ? name_complete(reader) : ALO_TDS_SLICE;
}
