/* How rows are printed: table, csv, json, ndjson. Rows are written as they come; nothing is held
 * back to measure it. */
#ifndef ALO_SQL_FORMAT_H
#define ALO_SQL_FORMAT_H

#include <aloft/tds.h>

#include "output.h"

typedef struct alo_sql_style {
  const char *separator; /* between columns of a table */
  int64_t headers;       /* rows between headers of a table; 0: one header, -1: none */
  int64_t width;         /* of a line of a table in characters; 0: no limit */
  bool trim;             /* a table without padding */
} alo_sql_style;

typedef struct alo_sql_format alo_sql_format;

/* Printing state. Set the first three; the rest begins zeroed. */
typedef struct alo_sql_printer {
  const alo_sql_format *format;
  const alo_sql_style *style;
  alo_output *output;

  const aloft_tds_column *const *columns; /* [until end] */
  size_t column_count;
  uint64_t rows; /* of this result set */
  uint64_t sets; /* begun so far */
  size_t *widths;
  size_t width_room;
  size_t line_size; /* characters on the current line of a table */
} alo_sql_printer;

struct alo_sql_format {
  const char *name;
  bool is_table;                           /* takes the style, and row counts are printed */
  bool has_names;                          /* prints a header line that can be left out */
  bool (*begin)(alo_sql_printer *printer); /* false: no memory */
  void (*row)(alo_sql_printer *printer, const aloft_text *cells);
  void (*end)(alo_sql_printer *printer);
};

/* NULL: no such format. */
const alo_sql_format *alo_sql_format_find(const char *name);

/* A result set begins. `columns` must live until its end. False: no memory. */
bool alo_sql_printer_begin(alo_sql_printer *printer, const aloft_tds_column *const *columns,
                           size_t count);
/* One canonical text per column, absent for NULL [call]. */
void alo_sql_printer_row(alo_sql_printer *printer, const aloft_text *cells);
void alo_sql_printer_end(alo_sql_printer *printer);
void alo_sql_printer_free(alo_sql_printer *printer);

extern const alo_sql_format alo_sql_table, alo_sql_csv, alo_sql_json, alo_sql_ndjson;

#endif
