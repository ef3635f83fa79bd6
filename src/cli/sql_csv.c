/* The csv format, RFC 4180: a line of names, lines of values, CRLF after each. NULL is an empty
 * field, and empty text is "". Result sets are parted by an empty line; so that no row is one, NULL
 * in a result of one column is the word NULL, and text that reads so is quoted there. */
#include <string.h>

#include "sql_format.h"

static bool needs_quotes(aloft_text text) {
  if (text.size == 0)
    return text.data != NULL;
  for (size_t i = 0; i < text.size; i++) {
    if (strchr(",\"\r\n", text.data[i]) != NULL && text.data[i] != '\0')
      return true;
  }
  return false;
}

static void put_field(alo_output *output, aloft_text text) {
  if (!needs_quotes(text)) {
    alo_output_put(output, text);
    return;
  }
  alo_output_put(output, ALOFT_TEXT("\""));
  while (text.size > 0) {
    const char *quote = memchr(text.data, '"', text.size);
    size_t size = quote != NULL ? (size_t)(quote - text.data) + 1 : text.size;
    alo_output_put(output, (aloft_text){text.data, size});
    if (quote != NULL)
      alo_output_put(output, ALOFT_TEXT("\""));
    text = (aloft_text){text.data + size, text.size - size};
  }
  alo_output_put(output, ALOFT_TEXT("\""));
}

static bool begin_csv(alo_sql_printer *printer) {
  if (printer->sets > 0)
    alo_output_put(printer->output, ALOFT_TEXT("\r\n"));
  if (printer->style->headers < 0)
    return true;
  for (size_t i = 0; i < printer->column_count; i++) {
    if (i > 0)
      alo_output_put(printer->output, ALOFT_TEXT(","));
    put_field(printer->output, printer->columns[i]->name);
  }
  alo_output_put(printer->output, ALOFT_TEXT("\r\n"));
  return true;
}

/* The only field of a row. */
static void put_lone(alo_output *output, aloft_text text) {
  bool word = aloft_text_equal(text, ALOFT_TEXT("NULL"));
  if (text.data == NULL)
    alo_output_put(output, ALOFT_TEXT("NULL"));
  else if (word)
    alo_output_put(output, ALOFT_TEXT("\"NULL\""));
  else
    put_field(output, text);
}

static void put_fields(alo_sql_printer *printer, const aloft_text *cells) {
  for (size_t i = 0; i < printer->column_count; i++) {
    if (i > 0)
      alo_output_put(printer->output, ALOFT_TEXT(","));
    put_field(printer->output, cells[i]);
  }
}

static void put_row(alo_sql_printer *printer, const aloft_text *cells) {
  if (printer->column_count == 1)
    put_lone(printer->output, cells[0]);
  else
    put_fields(printer, cells);
  alo_output_put(printer->output, ALOFT_TEXT("\r\n"));
}

static void end_csv(alo_sql_printer *printer) {
  (void)printer;
}

const alo_sql_format alo_sql_csv = {
    .name = "csv", .has_names = true, .begin = begin_csv, .row = put_row, .end = end_csv};
