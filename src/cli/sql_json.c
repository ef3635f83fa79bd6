/* The json format, one array of row objects per result set, and ndjson, one object per line. */
#include <aloft/json.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sql_format.h"

/* Long text is escaped in pieces of at most this many bytes; an escape is at most six. */
enum { PIECE_MAX = 2048 };

/* Integers above this are not exact in the numbers of most JSON readers. */
#define EXACT_MAX (INT64_C(1) << 53)

static size_t piece_size(aloft_text text) {
  if (text.size <= PIECE_MAX)
    return text.size;
  size_t size = PIECE_MAX;
  while (size > PIECE_MAX - 4 && ((unsigned char)text.data[size] & 0xc0) == 0x80)
    size--; /* not inside a character */
  return size;
}

static void put_string(alo_output *output, aloft_text text) {
  alo_output_put(output, ALOFT_TEXT("\""));
  while (text.size > 0) {
    char buffer[PIECE_MAX * 6 + 2];
    aloft_json_writer writer;
    size_t size = piece_size(text);
    aloft_json_writer_init(&writer, buffer, sizeof buffer);
    aloft_json_write_string(&writer, (aloft_text){text.data, size});
    alo_output_put(output, (aloft_text){buffer + 1, writer.size - 2});
    text = (aloft_text){text.data + size, text.size - size};
  }
  alo_output_put(output, ALOFT_TEXT("\""));
}

static bool is_exact_integer(aloft_text text) {
  char digits[24];
  if (text.size == 0 || text.size >= sizeof digits)
    return false;
  memcpy(digits, text.data, text.size);
  digits[text.size] = '\0';
  intmax_t value = strtoimax(digits, NULL, 10);
  return value >= -EXACT_MAX && value <= EXACT_MAX;
}

/* True when the text is a JSON number. */
static bool is_number(aloft_text text) {
  aloft_json json;
  aloft_json_init(&json, text);
  return aloft_json_next(&json) == ALOFT_JSON_NUMBER && aloft_json_next(&json) == ALOFT_JSON_END;
}

static void put_value(alo_output *output, aloft_tds_type type, aloft_text text) {
  bool plain = false;
  if (text.data == NULL) {
    alo_output_put(output, ALOFT_TEXT("null"));
    return;
  }
  switch (type) {
  case ALOFT_TDS_BIT:
    alo_output_put_string(output, text.size == 1 && text.data[0] == '0' ? "false" : "true");
    return;
  case ALOFT_TDS_TINYINT:
  case ALOFT_TDS_SMALLINT:
  case ALOFT_TDS_INT:
  case ALOFT_TDS_BIGINT:
    plain = is_exact_integer(text);
    break;
  case ALOFT_TDS_REAL:
  case ALOFT_TDS_FLOAT:
    plain = is_number(text);
    break;
  default:
    break;
  }
  if (plain)
    alo_output_put(output, text);
  else
    put_string(output, text);
}

static void put_object(alo_sql_printer *printer, const aloft_text *cells) {
  alo_output *output = printer->output;
  alo_output_put(output, ALOFT_TEXT("{"));
  for (size_t i = 0; i < printer->column_count; i++) {
    if (i > 0)
      alo_output_put(output, ALOFT_TEXT(","));
    put_string(output, printer->columns[i]->name);
    alo_output_put(output, ALOFT_TEXT(":"));
    put_value(output, printer->columns[i]->type, cells[i]);
  }
  alo_output_put(output, ALOFT_TEXT("}"));
}

static bool begin_json(alo_sql_printer *printer) {
  alo_output_put(printer->output, ALOFT_TEXT("["));
  return true;
}

static void put_element(alo_sql_printer *printer, const aloft_text *cells) {
  if (printer->rows > 0)
    alo_output_put(printer->output, ALOFT_TEXT(",\n"));
  put_object(printer, cells);
}

static void end_json(alo_sql_printer *printer) {
  alo_output_put(printer->output, ALOFT_TEXT("]\n"));
}

static bool begin_ndjson(alo_sql_printer *printer) {
  (void)printer;
  return true;
}

static void put_line(alo_sql_printer *printer, const aloft_text *cells) {
  put_object(printer, cells);
  alo_output_put(printer->output, ALOFT_TEXT("\n"));
}

static void end_ndjson(alo_sql_printer *printer) {
  (void)printer;
}

const alo_sql_format alo_sql_json = {
    .name = "json", .begin = begin_json, .row = put_element, .end = end_json};
const alo_sql_format alo_sql_ndjson = {
    .name = "ndjson", .begin = begin_ndjson, .row = put_line, .end = end_ndjson};
