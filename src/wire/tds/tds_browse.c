/* TABNAME and COLINFO (MS-TDS 2.2.7.23, 2.2.7.3): the tables that a result's columns come from, and
 * what the columns are there. A server sends them behind COLMETADATA for SELECT ... FOR BROWSE and
 * for cursors. A body is complete, and each inner length is checked against what is left of it. */
#include "tds_reader_state.h"

#include <string.h>

#include "tds_bytes.h"

enum {
  TABLES_MAX = UINT8_MAX, /* a column's table is told in one byte */

  EXPRESSION = 0x04,
  KEY = 0x08,
  HIDDEN = 0x10,
  DIFFERENT_NAME = 0x20,

  FLAG_COMPUTED = 0x0020, /* as COLMETADATA has them */
  FLAG_HIDDEN = 0x2000,
  FLAG_KEY = 0x4000
};

/* A name at the end of the names' memory, which grows part by part. */
typedef struct growing {
  alo_tds_memory *memory;
  uint8_t *text;
  size_t size;
} growing;

/* Appends UTF-16 as UTF-8; false: no memory. */
static bool append(growing *name, aloft_bytes units) {
  alo_utf16_cut cut = {0};
  name->text =
      alo_tds_memory_grow(name->memory, name->text, name->size, ALO_UTF8_ROOM(units.size) + 1);
  if (!name->text) {
    return false;
  }
  if (name->size) {
    name->text[name->size++] = '.';
  }
  name->size +=
      alo_utf16_to_utf8(&cut, units.data, units.size, true, (char *)name->text + name->size, NULL);
  return true;
}

static aloft_text keep(const growing *name) {
  if (!name->text) {
    return (aloft_text){"", 0};
  }
  alo_tds_memory_keep(name->memory, name->size);
  return (aloft_text){(const char *)name->text, name->size};
}

/* ---- TABNAME ---- */

/* One part of a name. False: it is cut, or too long. */
static bool take_part(aloft_bytes *body, aloft_bytes *units) {
  uint16_t count;
  return alo_tds_take_u16(body, &count) && count <= ALO_TDS_NAME_UNITS_MAX &&
         alo_tds_take(body, 2 * (size_t)count, units);
}

/* Moves over one name; false: it is not well-formed. */
static bool pass_table(aloft_bytes *body) {
  uint8_t parts;
  aloft_bytes units;
  if (!alo_tds_take_u8(body, &parts) || parts > ALO_TDS_TABLE_PARTS_MAX) {
    return false;
  }
  while (parts > 0 && take_part(body, &units)) {
    parts--;
  }
  return parts == 0;
}

/* SIZE_MAX: the body is not well-formed. */
static size_t count_tables(aloft_bytes body) {
  size_t count = 0;
  while (body.size > 0) {
    if (!pass_table(&body) || ++count > TABLES_MAX) {
      return SIZE_MAX;
    }
  }
  return count;
}

/* Of a body that has been counted. */
static bool take_table(alo_tds_reader *reader, aloft_bytes *body, aloft_text *table) {
  growing name = {.memory = &reader->names};
  uint8_t parts;
  aloft_bytes units;
  (void)alo_tds_take_u8(body, &parts);
  for (; parts > 0; parts--) {
    if (!take_part(body, &units) || !append(&name, units)) {
      return false;
    }
  }
  *table = keep(&name);
  return true;
}

alo_tds_outcome alo_tds_body_tabname(alo_tds_reader *reader, aloft_bytes body) {
  size_t count = count_tables(body);
  if (count == SIZE_MAX) {
    return alo_tds_fail(reader, "TABNAME: its inner lengths do not fit its length, or a limit");
  }
  if (!reader->column_count || reader->tables || count == 0) {
    return ALO_TDS_AGAIN; /* it tells nothing of these columns, or the same again */
  }
  uint8_t *tables = alo_tds_memory_take(&reader->names, count * sizeof(aloft_text));
  if (!tables) {
    return alo_tds_fail_memory(reader);
  }
  for (size_t at = 0; at < count; at++) {
    aloft_text table;
    if (!take_table(reader, &body, &table)) {
      return alo_tds_fail_memory(reader);
    }
    memcpy(tables + at * sizeof table, &table, sizeof table);
  }
  reader->tables = tables;
  reader->table_count = count;
  return ALO_TDS_AGAIN;
}

/* ---- COLINFO ---- */

typedef struct entry {
  uint8_t column, table, status;
  aloft_bytes name;
} entry;

static bool take_entry(aloft_bytes *body, entry *one) {
  uint8_t count = 0;
  one->name = (aloft_bytes){NULL, 0};
  if (!alo_tds_take_u8(body, &one->column) || !alo_tds_take_u8(body, &one->table) ||
      !alo_tds_take_u8(body, &one->status)) {
    return false;
  }
  if (!(one->status & DIFFERENT_NAME)) {
    return true;
  }
  return alo_tds_take_u8(body, &count) && count <= ALO_TDS_NAME_UNITS_MAX &&
         alo_tds_take(body, 2 * (size_t)count, &one->name);
}

/* The number has one byte, so that it begins again behind 255: the next column with that one. */
static alo_tds_column_info *column_of(alo_tds_reader *reader, uint8_t number, size_t *next) {
  for (size_t at = *next; at < reader->column_count; at++) {
    if ((uint8_t)(at + 1) == number) {
      *next = at + 1;
      return &reader->columns[at];
    }
  }
  return NULL;
}

static alo_tds_outcome tell(alo_tds_reader *reader, alo_tds_column_info *info, const entry *one) {
  if (one->table && reader->tables) {
    if (one->table > reader->table_count) {
      return alo_tds_fail_number(reader, "COLINFO: there is no table #", one->table);
    }
    memcpy(&info->table, reader->tables + (one->table - (size_t)1) * sizeof info->table,
           sizeof info->table);
  }
  if (one->name.size) {
    growing name = {.memory = &reader->names};
    if (!append(&name, one->name)) {
      return alo_tds_fail_memory(reader);
    }
    info->base_name = keep(&name);
  }
  info->flags =
      (uint16_t)(info->flags | (one->status & EXPRESSION ? FLAG_COMPUTED : 0) |
                 (one->status & KEY ? FLAG_KEY : 0) | (one->status & HIDDEN ? FLAG_HIDDEN : 0));
  return ALO_TDS_AGAIN;
}

alo_tds_outcome alo_tds_body_colinfo(alo_tds_reader *reader, aloft_bytes body) {
  size_t next = 0;
  bool told = reader->column_count == 0 || reader->colinfo_read;
  reader->colinfo_read = true;
  while (body.size > 0) {
    entry one;
    if (!take_entry(&body, &one)) {
      return alo_tds_fail(reader, "COLINFO: its inner lengths do not fit its length, or a limit");
    }
    if (told) {
      continue;
    }
    alo_tds_column_info *info = column_of(reader, one.column, &next);
    if (!info) {
      return alo_tds_fail_number(reader, "COLINFO: there is no column #", one.column);
    }
    alo_tds_outcome outcome = tell(reader, info, &one);
    if (outcome != ALO_TDS_AGAIN) {
      return outcome;
    }
  }
  reader->told += !told;
  return ALO_TDS_AGAIN;
}
