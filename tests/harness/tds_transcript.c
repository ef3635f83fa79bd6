#include "tds_transcript.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tds_gathered {
  uint8_t *data;
  size_t size;
} tds_gathered;

static void add_plain(tds_transcript *transcript, const char *text, size_t size) {
  if (transcript->room - transcript->size <= size) {
    transcript->room = (transcript->size + size) * 2 + 1024;
    transcript->text = realloc(transcript->text, transcript->room);
    if (!transcript->text) {
      abort();
    }
  }
  memcpy(transcript->text + transcript->size, text, size);
  transcript->size += size;
  transcript->text[transcript->size] = 0;
}

void tds_transcript_add(tds_transcript *transcript, const char *text, size_t size) {
  const char *end = text + size;
  for (const char *nul; size && (nul = memchr(text, 0, (size_t)(end - text))); text = nul + 1) {
    add_plain(transcript, text, (size_t)(nul - text));
    add_plain(transcript, "<0>", 3);
  }
  add_plain(transcript, text, (size_t)(end - text));
}

static void add_format(tds_transcript *transcript, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

static void add_format(tds_transcript *transcript, const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  tds_transcript_add(transcript, text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1);
}

static void add_text(tds_transcript *transcript, aloft_text text) {
  tds_transcript_add(transcript, text.data ? text.data : "", text.size);
}

void tds_transcript_line(tds_transcript *transcript, const char *format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(text, sizeof text - 1, format, arguments);
  va_end(arguments);
  size = size < (int)sizeof text - 1 ? size : (int)sizeof text - 2;
  text[size] = '\n';
  tds_transcript_add(transcript, text, (size_t)size + 1);
}

void tds_transcript_init(tds_transcript *transcript, size_t piece_max) {
  *transcript = (tds_transcript){.input = guard_take(piece_max)};
  tds_transcript_add(transcript, "", 0);
}

void tds_transcript_fini(tds_transcript *transcript) {
  guard_give(&transcript->input);
  free(transcript->text);
  for (size_t at = 0; at < transcript->gathered_count; at++) {
    free(transcript->gathered[at].data);
  }
  free(transcript->gathered);
}

void tds_transcript_clear(tds_transcript *transcript) {
  transcript->size = 0;
  transcript->text[0] = 0;
  transcript->rows = 0;
  transcript->ends = 0;
  transcript->told = 0;
  transcript->broken = false;
  transcript->reading = false;
}

/* ---- large values in pieces ---- */

/* Without memory the test ends. */
static void *or_abort(void *memory) {
  if (!memory) {
    abort();
  }
  return memory;
}

static tds_gathered *gathered_of(tds_transcript *transcript, size_t column) {
  size_t count = transcript->gathered_count;
  if (column >= count) {
    transcript->gathered =
        or_abort(realloc(transcript->gathered, (column + 1) * sizeof *transcript->gathered));
    memset(transcript->gathered + count, 0, (column + 1 - count) * sizeof *transcript->gathered);
    transcript->gathered_count = column + 1;
  }
  return &transcript->gathered[column];
}

static void gather(tds_transcript *transcript, const alo_tds_reader *reader, aloft_bytes piece) {
  tds_gathered *into = gathered_of(transcript, alo_tds_reader_open_column(reader));
  if (!piece.size || piece.size > ALO_TDS_PIECE_MAX) {
    abort();
  }
  into->data = or_abort(realloc(into->data, into->size + piece.size));
  memcpy(into->data + into->size, piece.data, piece.size);
  into->size += piece.size;
}

/* What the cell would have been, had it been read whole. */
static alo_tds_cell whole_cell(tds_transcript *transcript, const alo_tds_type *type,
                               size_t column) {
  const tds_gathered *from = gathered_of(transcript, column);
  alo_tds_characters characters;
  if (alo_tds_characters_of(type, transcript->pages, &characters) != ALOFT_OK) {
    abort();
  }
  bool decoded = characters.charset != ALO_TDS_CHARSET_NONE &&
                 (characters.charset != ALO_TDS_CHARSET_OTHER || characters.page);
  return (alo_tds_cell){.data = from->data ? from->data : (const uint8_t *)"",
                        .size = from->size,
                        .decoded = decoded};
}

static void add_cell(tds_transcript *transcript, alo_tds_reader *reader, const alo_tds_type *type,
                     const alo_tds_cell *cell) {
  if (cell->null || cell->over) {
    add_text(transcript, cell->null ? ALOFT_TEXT("<null>") : ALOFT_TEXT("<over>"));
    return;
  }
  if (cell->decoded) {
    tds_transcript_add(transcript, (const char *)cell->data, cell->size);
    return;
  }
  size_t size = 0;
  char *out = alo_tds_reader_scratch(reader, alo_tds_value_text_room(type, cell->size));
  const alo_tds_text_rules rules = {.pages = transcript->pages};
  const char *wrong =
      out ? alo_tds_value_text_by(&rules, type, cell->data, cell->size, out, &size) : "no memory";
  if (wrong) {
    add_format(transcript, "<%s>", wrong);
  } else {
    tds_transcript_add(transcript, out, size);
  }
}

static void add_named(tds_transcript *transcript, const char *what, aloft_text name) {
  if (name.size) {
    add_format(transcript, " %s=", what);
    add_text(transcript, name);
  }
}

static void add_told(tds_transcript *transcript, const alo_tds_reader *reader) {
  add_text(transcript, ALOFT_TEXT("told"));
  for (size_t at = 0; at < alo_tds_reader_column_count(reader); at++) {
    const alo_tds_column_info *column = alo_tds_reader_column(reader, at);
    add_text(transcript, at ? ALOFT_TEXT("|") : ALOFT_TEXT(" "));
    add_text(transcript, column->name);
    add_format(transcript, " %04X", column->flags);
    add_named(transcript, "table", column->table);
    add_named(transcript, "base", column->base_name);
  }
  add_text(transcript, ALOFT_TEXT("\n"));
}

static void add_columns(tds_transcript *transcript, const alo_tds_reader *reader) {
  add_text(transcript, ALOFT_TEXT("columns"));
  for (size_t at = 0; at < alo_tds_reader_column_count(reader); at++) {
    const alo_tds_column_info *column = alo_tds_reader_column(reader, at);
    add_text(transcript, at ? ALOFT_TEXT("|") : ALOFT_TEXT(" "));
    add_text(transcript, column->name);
    add_format(transcript, " %s", alo_tds_type_name(&column->type));
    add_named(transcript, "udt", column->udt);
    add_named(transcript, "table", column->table);
  }
}

static void add_row(tds_transcript *transcript, alo_tds_reader *reader) {
  transcript->rows++;
  add_text(transcript, ALOFT_TEXT("row"));
  for (size_t at = 0; at < alo_tds_reader_column_count(reader); at++) {
    const alo_tds_column_info *column = alo_tds_reader_column(reader, at);
    add_text(transcript, at ? ALOFT_TEXT("|") : ALOFT_TEXT(" "));
    alo_tds_cell cell = *alo_tds_reader_cell(reader, at);
    if (cell.pieced) {
      cell = whole_cell(transcript, &column->type, at);
    }
    add_cell(transcript, reader, &column->type, &cell);
  }
}

static void add_message(tds_transcript *transcript, const alo_tds_message *message) {
  add_format(transcript, "%s %d %u %u %u ", message->error ? "error" : "info", message->number,
             message->severity, message->state, message->line);
  add_text(transcript, message->text);
  add_text(transcript, ALOFT_TEXT("|"));
  add_text(transcript, message->server);
  add_text(transcript, ALOFT_TEXT("|"));
  add_text(transcript, message->procedure);
}

static void add_bytes(tds_transcript *transcript, aloft_bytes bytes) {
  for (size_t at = 0; at < bytes.size; at++) {
    add_format(transcript, "%02X", ((const uint8_t *)bytes.data)[at]);
  }
}

static void add_env(tds_transcript *transcript, const alo_tds_env *env) {
  add_format(transcript, "env %u %u ", env->type, env->routing_port);
  add_text(transcript, env->text_new);
  add_text(transcript, ALOFT_TEXT("|"));
  add_bytes(transcript, env->bytes_new);
}

static void add_login(tds_transcript *transcript, const alo_tds_loginack *login) {
  add_format(transcript, "login %u %08X %u.%u.%u.%u ", login->interface_type, login->tds_version,
             login->version[0], login->version[1], login->version[2], login->version[3]);
  add_text(transcript, login->program);
}

static void add_done(tds_transcript *transcript, const alo_tds_done *done) {
  add_format(transcript, "done %02X %04X %u %llu", done->token, done->status, done->command,
             (unsigned long long)done->rows);
}

static void add_return_value(tds_transcript *transcript, alo_tds_reader *reader) {
  const alo_tds_column_info *info = alo_tds_reader_return_value(reader);
  add_text(transcript, ALOFT_TEXT("value "));
  add_text(transcript, info->name);
  add_format(transcript, " %s|", alo_tds_type_name(&info->type));
  add_cell(transcript, reader, &info->type, alo_tds_reader_return_cell(reader));
}

static void add_feature(tds_transcript *transcript, const alo_tds_reader *reader) {
  uint8_t id;
  aloft_bytes data = alo_tds_reader_feature(reader, &id);
  add_format(transcript, "feature %u ", id);
  add_bytes(transcript, data);
}

static void add_broken(tds_transcript *transcript, const alo_tds_reader *reader) {
  uint64_t offset;
  bool unsupported;
  const char *reason = alo_tds_reader_broken(reader, &offset, &unsupported);
  transcript->broken = true;
  add_format(transcript, "%s %llu %s", unsupported ? "unsupported" : "broken",
             (unsigned long long)offset, reason);
}

static void add_event(tds_transcript *transcript, alo_tds_reader *reader, alo_tds_event event) {
  if (transcript->told != alo_tds_reader_told(reader) && event != ALO_TDS_METADATA) {
    add_told(transcript, reader);
  }
  transcript->told = alo_tds_reader_told(reader);
  switch (event) {
  case ALO_TDS_METADATA:
    add_columns(transcript, reader);
    break;
  case ALO_TDS_ROW_READY:
    add_row(transcript, reader);
    break;
  case ALO_TDS_DONE:
    add_done(transcript, alo_tds_reader_done(reader));
    break;
  case ALO_TDS_MESSAGE:
    add_message(transcript, alo_tds_reader_message(reader));
    break;
  case ALO_TDS_ENVCHANGE:
    add_env(transcript, alo_tds_reader_env(reader));
    break;
  case ALO_TDS_LOGINACK:
    add_login(transcript, alo_tds_reader_loginack(reader));
    break;
  case ALO_TDS_RETURN_STATUS:
    add_format(transcript, "status %d", alo_tds_reader_return_status(reader));
    break;
  case ALO_TDS_RETURN_VALUE:
    add_return_value(transcript, reader);
    break;
  case ALO_TDS_FEATURE_ACK:
    add_feature(transcript, reader);
    break;
  case ALO_TDS_END:
    transcript->ends++;
    add_text(transcript, ALOFT_TEXT("end"));
    break;
  default:
    add_broken(transcript, reader);
  }
  add_text(transcript, ALOFT_TEXT("\n"));
}

/* Pieces are put together on the way. */
static alo_tds_event next_event(tds_transcript *transcript, alo_tds_reader *reader,
                                aloft_bytes *input) {
  while (transcript->reading) {
    aloft_bytes piece;
    alo_tds_event event = alo_tds_reader_read(reader, input, &piece);
    if (event == ALO_TDS_NEED || event == ALO_TDS_BROKEN) {
      return event;
    }
    if (event == ALO_TDS_VALUE_END) {
      transcript->reading = false;
    } else {
      gather(transcript, reader, piece);
    }
  }
  return alo_tds_reader_next(reader, input);
}

bool tds_transcript_feed(tds_transcript *transcript, alo_tds_reader *reader, const void *data,
                         size_t size) {
  uint8_t *copy = (uint8_t *)transcript->input.data + transcript->input.size - size;
  memcpy(copy, data, size);
  aloft_bytes input = {copy, size};
  alo_tds_event event;
  while ((event = next_event(transcript, reader, &input)) != ALO_TDS_NEED) {
    if (event == ALO_TDS_ROW_OPEN) {
      transcript->reading = true;
      gathered_of(transcript, alo_tds_reader_open_column(reader))->size = 0;
      continue;
    }
    add_event(transcript, reader, event);
    if (event == ALO_TDS_BROKEN) {
      return false;
    }
  }
  memset(copy, 0xDD, size);
  return true;
}
