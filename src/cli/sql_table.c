/* The table format: sqlcmd's columns, as wide as their type can be. */
#include <stdlib.h>

#include "sql_format.h"
#include "utf8_check.h"

enum {
  WIDTH_UNBOUNDED = 256, /* of types without a bound; a longer value pushes the line out */
  WIDTH_MAX = 8000
};

typedef struct type_width {
  size_t width; /* 0: from the column's size */
  bool right;   /* aligned */
} type_width;

static const type_width type_widths[] = {
    [ALOFT_TDS_BIT] = {1, true},
    [ALOFT_TDS_TINYINT] = {3, true},
    [ALOFT_TDS_SMALLINT] = {6, true},
    [ALOFT_TDS_INT] = {11, true},
    [ALOFT_TDS_BIGINT] = {20, true},
    [ALOFT_TDS_REAL] = {14, true},
    [ALOFT_TDS_FLOAT] = {24, true},
    [ALOFT_TDS_DECIMAL] = {0, true},
    [ALOFT_TDS_NUMERIC] = {0, true},
    [ALOFT_TDS_SMALLMONEY] = {12, true},
    [ALOFT_TDS_MONEY] = {21, true},
    [ALOFT_TDS_UNIQUEIDENTIFIER] = {36, false},
    [ALOFT_TDS_DATE] = {16, true},
    [ALOFT_TDS_TIME] = {16, true},
    [ALOFT_TDS_SMALLDATETIME] = {19, true},
    [ALOFT_TDS_DATETIME] = {23, true},
    [ALOFT_TDS_DATETIME2] = {27, true},
    [ALOFT_TDS_DATETIMEOFFSET] = {34, true},
    [ALOFT_TDS_UDT] = {0, false},
    [ALOFT_TDS_ROWVERSION] = {18, false},
};

static size_t sized_width(const aloft_tds_column *column) {
  switch (column->type) {
  case ALOFT_TDS_DECIMAL:
  case ALOFT_TDS_NUMERIC:
    return (size_t)column->precision + 2;
  case ALOFT_TDS_CHAR:
  case ALOFT_TDS_VARCHAR:
    return column->size;
  case ALOFT_TDS_NCHAR:
  case ALOFT_TDS_NVARCHAR:
    return column->size / 2;
  case ALOFT_TDS_BINARY:
  case ALOFT_TDS_VARBINARY:
    return column->size == 0 ? 0 : (size_t)column->size * 2 + 2;
  default:
    return 0;
  }
}

static type_width look_up(const aloft_tds_column *column) {
  size_t known = sizeof type_widths / sizeof type_widths[0];
  return (size_t)column->type < known ? type_widths[column->type] : (type_width){0, false};
}

static size_t column_width(const aloft_tds_column *column) {
  size_t width = look_up(column).width;
  size_t name = alo_utf8_count(column->name);
  if (width == 0)
    width = column->max ? 0 : sized_width(column);
  if (width == 0)
    width = WIDTH_UNBOUNDED;
  if (width > WIDTH_MAX)
    width = WIDTH_MAX;
  if (column->nullable && width < 4)
    width = 4; /* NULL */
  return width < name ? name : width;
}

/* ---- lines ---- */

static size_t bytes_of(aloft_text text, size_t characters) {
  size_t at = 0;
  while (at < text.size && characters > 0) {
    at++;
    while (at < text.size && ((unsigned char)text.data[at] & 0xc0) == 0x80)
      at++;
    characters--;
  }
  return at;
}

/* Puts text on the current line, broken where the line is full. */
static void put(alo_sql_printer *printer, aloft_text text) {
  size_t limit = (size_t)printer->style->width;
  if (limit == 0) {
    alo_output_put(printer->output, text);
    return;
  }
  while (text.size > 0) {
    if (printer->line_size == limit) {
      alo_output_put(printer->output, ALOFT_TEXT("\n"));
      printer->line_size = 0;
    }
    size_t size = bytes_of(text, limit - printer->line_size);
    aloft_text part = {text.data, size};
    alo_output_put(printer->output, part);
    printer->line_size += alo_utf8_count(part);
    text = (aloft_text){text.data + size, text.size - size};
  }
}

static void put_string(alo_sql_printer *printer, const char *string) {
  put(printer, aloft_text_of(string));
}

static void fill(alo_sql_printer *printer, char c, size_t count) {
  for (; count > 0; count--)
    put(printer, (aloft_text){&c, 1});
}

static void end_line(alo_sql_printer *printer) {
  alo_output_put(printer->output, ALOFT_TEXT("\n"));
  printer->line_size = 0;
}

static void put_cell(alo_sql_printer *printer, size_t column, aloft_text text, bool right) {
  size_t size = alo_utf8_count(text), width = printer->widths[column];
  size_t padding = printer->style->trim || size >= width ? 0 : width - size;
  if (right)
    fill(printer, ' ', padding);
  put(printer, text);
  if (!right)
    fill(printer, ' ', padding);
}

static void put_headers(alo_sql_printer *printer) {
  for (size_t i = 0; i < printer->column_count; i++) {
    if (i > 0)
      put_string(printer, printer->style->separator);
    put_cell(printer, i, printer->columns[i]->name, false);
  }
  end_line(printer);
  for (size_t i = 0; i < printer->column_count; i++) {
    size_t name = alo_utf8_count(printer->columns[i]->name);
    if (i > 0)
      put_string(printer, printer->style->separator);
    fill(printer, '-', printer->style->trim ? (name > 0 ? name : 1) : printer->widths[i]);
  }
  end_line(printer);
}

static aloft_text without_trailing_blanks(aloft_text text) {
  while (text.size > 0 && text.data[text.size - 1] == ' ')
    text.size--;
  return text;
}

/* ---- the format ---- */

static bool begin_table(alo_sql_printer *printer) {
  if (printer->column_count > printer->width_room) {
    size_t *widths = realloc(printer->widths, printer->column_count * sizeof *widths);
    if (widths == NULL)
      return false;
    printer->widths = widths;
    printer->width_room = printer->column_count;
  }
  for (size_t i = 0; i < printer->column_count; i++)
    printer->widths[i] = column_width(printer->columns[i]);
  if (printer->style->headers >= 0)
    put_headers(printer);
  return true;
}

static void put_row(alo_sql_printer *printer, const aloft_text *cells) {
  int64_t every = printer->style->headers;
  if (every > 0 && printer->rows > 0 && printer->rows % (uint64_t)every == 0) {
    end_line(printer);
    put_headers(printer);
  }
  for (size_t i = 0; i < printer->column_count; i++) {
    aloft_text text = cells[i].data != NULL ? cells[i] : ALOFT_TEXT("NULL");
    if (printer->style->trim)
      text = without_trailing_blanks(text);
    if (i > 0)
      put_string(printer, printer->style->separator);
    put_cell(printer, i, text, look_up(printer->columns[i]).right);
  }
  end_line(printer);
}

static void end_table(alo_sql_printer *printer) {
  end_line(printer);
}

const alo_sql_format alo_sql_table = {
    .name = "table",
    .is_table = true,
    .has_names = true,
    .begin = begin_table,
    .row = put_row,
    .end = end_table,
};
