#include "sql_format.h"

#include <stdlib.h>
#include <string.h>

static const alo_sql_format *const formats[] = {&alo_sql_table, &alo_sql_csv, &alo_sql_json,
                                                &alo_sql_ndjson};

const alo_sql_format *alo_sql_format_find(const char *name) {
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    if (strcmp(formats[i]->name, name) == 0)
      return formats[i];
  }
  return NULL;
}

bool alo_sql_printer_begin(alo_sql_printer *printer, const aloft_tds_column *const *columns,
                           size_t count) {
  printer->columns = columns;
  printer->column_count = count;
  printer->rows = 0;
  bool begun = printer->format->begin(printer);
  printer->sets++;
  return begun;
}

void alo_sql_printer_row(alo_sql_printer *printer, const aloft_text *cells) {
  printer->format->row(printer, cells);
  printer->rows++;
}

void alo_sql_printer_end(alo_sql_printer *printer) {
  printer->format->end(printer);
  printer->columns = NULL;
  printer->column_count = 0;
}

void alo_sql_printer_free(alo_sql_printer *printer) {
  free(printer->widths);
  printer->widths = NULL;
  printer->width_room = 0;
}
