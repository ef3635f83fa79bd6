/* Tables of a benchmark's results, printed as text, as markdown or as JSON. */
#ifndef ALO_TABLE_H
#define ALO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum alo_format { ALO_FORMAT_TABLE, ALO_FORMAT_MARKDOWN, ALO_FORMAT_JSON } alo_format;

/* False: no such format. */
bool alo_format_read(const char *name, alo_format *format);

/* How the numbers of a column are written. JSON has the bare number, in the unit named here. */
typedef enum alo_column_kind {
  ALO_COLUMN_TEXT,
  ALO_COLUMN_TIME,         /* nanoseconds: "81.81 ns", "12.40 us" */
  ALO_COLUMN_MILLISECONDS, /* "999,999" */
  ALO_COLUMN_BYTES,        /* "690 B" */
  ALO_COLUMN_RATIO,        /* "0.223" */
  ALO_COLUMN_COUNT         /* "1,240" or "80.4" */
} alo_column_kind;

typedef struct alo_column {
  const char *title; /* its key in JSON is the same in lower case, blanks as "_" */
  alo_column_kind kind;
} alo_column;

typedef struct alo_cell {
  const char *text; /* [op] until printed; of a text column; NULL: none */
  double number;    /* of the others */
  bool present;     /* a number is there; otherwise "-", in JSON null */
} alo_cell;

#define ALO_CELL_TEXT(words)                                                                       \
  (alo_cell) {                                                                                     \
    .text = (words)                                                                                \
  }
#define ALO_CELL_NUMBER(value)                                                                     \
  (alo_cell) {                                                                                     \
    .number = (value), .present = true                                                             \
  }

enum { ALO_TABLE_COLUMNS_MAX = 16, ALO_TABLE_ROWS_MAX = 64 };

typedef struct alo_table {
  const char *caption;       /* a line above; NULL: none */
  const char *note;          /* lines below; NULL: none */
  const alo_column *columns; /* [op] */
  size_t column_count;
  bool text_only; /* JSON leaves it out: its columns differ, or its figures are not of this run */
  size_t row_count;
  alo_cell rows[ALO_TABLE_ROWS_MAX][ALO_TABLE_COLUMNS_MAX];
} alo_table;

/* The columns of BenchmarkDotNet's tables, which the published figures have: Method, Categories,
 * Timeout, Mean, Error, StdDev, Median, Ratio, RatioSD, Allocated. */
enum {
  ALO_METHOD,
  ALO_CATEGORIES,
  ALO_TIMEOUT,
  ALO_MEAN,
  ALO_ERROR,
  ALO_STDDEV,
  ALO_MEDIAN,
  ALO_RATIO,
  ALO_RATIO_SD,
  ALO_ALLOCATED,
  ALO_PUBLISHED_COLUMNS
};
extern const alo_column alo_published_columns[ALO_PUBLISHED_COLUMNS];

enum { ALO_NUMBER_WORDS_MAX = 64 };
/* A number with commas between the thousands. */
void alo_number_words(char words[ALO_NUMBER_WORDS_MAX], double number, int decimals);

/* What a cell of that kind shows. */
void alo_cell_words(char words[ALO_NUMBER_WORDS_MAX], const alo_cell *cell, alo_column_kind kind);

/* Another row of empty cells, `column_count` of them; NULL: the table is full. */
alo_cell *alo_table_add(alo_table *table);

/* Prints tables below each other; as JSON one array with an object for each row of all of them.
 * False: no memory for the JSON text. */
bool alo_tables_print(const alo_table *const *tables, size_t count, alo_format format, FILE *file);

#endif
