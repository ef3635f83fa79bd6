#include "table.h"

#include <aloft/json.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = ALO_NUMBER_WORDS_MAX };

const alo_column alo_published_columns[ALO_PUBLISHED_COLUMNS] = {
    [ALO_METHOD] = {"Method", ALO_COLUMN_TEXT},
    [ALO_CATEGORIES] = {"Categories", ALO_COLUMN_TEXT},
    [ALO_TIMEOUT] = {"Timeout", ALO_COLUMN_MILLISECONDS},
    [ALO_MEAN] = {"Mean", ALO_COLUMN_TIME},
    [ALO_ERROR] = {"Error", ALO_COLUMN_TIME},
    [ALO_STDDEV] = {"StdDev", ALO_COLUMN_TIME},
    [ALO_MEDIAN] = {"Median", ALO_COLUMN_TIME},
    [ALO_RATIO] = {"Ratio", ALO_COLUMN_RATIO},
    [ALO_RATIO_SD] = {"RatioSD", ALO_COLUMN_RATIO},
    [ALO_ALLOCATED] = {"Allocated", ALO_COLUMN_BYTES},
};

bool alo_format_read(const char *name, alo_format *format) {
  static const char *const names[] = {"table", "markdown", "json"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(name, names[i]) == 0) {
      *format = (alo_format)i;
      return true;
    }
  }
  return false;
}

alo_cell *alo_table_add(alo_table *table) {
  if (table->row_count == ALO_TABLE_ROWS_MAX)
    return NULL;
  alo_cell *row = table->rows[table->row_count++];
  memset(row, 0, sizeof table->rows[0]);
  return row;
}

/* ---- numbers ---- */

void alo_number_words(char words[WORDS_MAX], double number, int decimals) {
  char plain[WORDS_MAX];
  snprintf(plain, sizeof plain, "%.*f", decimals, number);
  size_t whole = strcspn(plain, ".");
  size_t first = plain[0] == '-' ? 1 : 0, out = 0;
  for (size_t i = 0; plain[i] != '\0' && out + 2 < WORDS_MAX; i++) {
    if (i > first && i < whole && (whole - i) % 3 == 0)
      words[out++] = ',';
    words[out++] = plain[i];
  }
  words[out] = '\0';
}

/* Four digits that count, as far as there are decimals to leave out. */
static int decimals_of(double number) {
  double size = fabs(number);
  return size < 99.995 ? 2 : size < 999.95 ? 1 : 0;
}

/* The largest unit that leaves two digits before the point. */
static void time_words(char words[WORDS_MAX], double ns) {
  static const char *const units[] = {"ns", "us", "ms", "s"};
  char number[WORDS_MAX];
  size_t unit = 0;
  for (; unit < 3 && fabs(ns) >= 9999.5; unit++)
    ns /= 1000;
  alo_number_words(number, ns, decimals_of(ns));
  snprintf(words, WORDS_MAX, "%.*s %s", WORDS_MAX - 4, number, units[unit]);
}

void alo_cell_words(char words[WORDS_MAX], const alo_cell *cell, alo_column_kind kind) {
  char number[WORDS_MAX];
  if (kind == ALO_COLUMN_TEXT || !cell->present || !isfinite(cell->number)) {
    snprintf(words, WORDS_MAX, "%s", kind == ALO_COLUMN_TEXT && cell->text ? cell->text : "-");
    return;
  }
  bool whole = fabs(cell->number - round(cell->number)) < 0.005;
  switch (kind) {
  case ALO_COLUMN_TIME:
    time_words(words, cell->number);
    return;
  case ALO_COLUMN_RATIO:
    alo_number_words(words, cell->number, cell->number < 9.9995 ? 3 : 1);
    return;
  case ALO_COLUMN_BYTES:
    alo_number_words(number, cell->number, whole ? 0 : decimals_of(cell->number));
    snprintf(words, WORDS_MAX, "%.*s B", WORDS_MAX - 3, number);
    return;
  case ALO_COLUMN_COUNT:
  case ALO_COLUMN_MILLISECONDS:
  case ALO_COLUMN_TEXT:
    alo_number_words(words, cell->number, whole ? 0 : decimals_of(cell->number));
    return;
  }
}

/* ---- text and markdown ---- */

static void column_widths(const alo_table *table, size_t widths[ALO_TABLE_COLUMNS_MAX]) {
  for (size_t column = 0; column < table->column_count; column++) {
    widths[column] = strlen(table->columns[column].title);
    for (size_t row = 0; row < table->row_count; row++) {
      char words[WORDS_MAX];
      alo_cell_words(words, &table->rows[row][column], table->columns[column].kind);
      if (strlen(words) > widths[column])
        widths[column] = strlen(words);
    }
  }
}

/* Text to the left, numbers to the right; nothing behind the last text. */
static void print_padded(const char *words, size_t width, bool right, bool last, FILE *file) {
  int fill = (int)(width - strlen(words));
  if (right)
    fprintf(file, "%*s%s", fill, "", words);
  else
    fprintf(file, "%s%*s", words, last ? 0 : fill, "");
}

typedef struct layout {
  const char *begin, *between, *end;
} layout;

static void print_row(const alo_table *table, const alo_cell *row, const size_t *widths,
                      const layout *how, FILE *file) {
  fputs(how->begin, file);
  for (size_t column = 0; column < table->column_count; column++) {
    char words[WORDS_MAX];
    alo_column_kind kind = table->columns[column].kind;
    if (row)
      alo_cell_words(words, &row[column], kind);
    else
      snprintf(words, sizeof words, "%s", table->columns[column].title);
    bool last = column + 1 == table->column_count;
    print_padded(words, widths[column], kind != ALO_COLUMN_TEXT, last && how->end[0] == '\n', file);
    fputs(last ? how->end : how->between, file);
  }
}

static void print_rule(const alo_table *table, const size_t *widths, const layout *how,
                       bool markdown, FILE *file) {
  fputs(how->begin, file);
  for (size_t column = 0; column < table->column_count; column++) {
    bool right = markdown && table->columns[column].kind != ALO_COLUMN_TEXT;
    for (size_t i = right ? 1 : 0; i < widths[column]; i++)
      fputc('-', file);
    fputs(right ? ":" : "", file);
    fputs(column + 1 == table->column_count ? how->end : how->between, file);
  }
}

static void print_text(const alo_table *table, bool markdown, FILE *file) {
  static const layout text = {"", "  ", "\n"}, pipes = {"| ", " | ", " |\n"};
  const layout *how = markdown ? &pipes : &text;
  size_t widths[ALO_TABLE_COLUMNS_MAX];
  column_widths(table, widths);
  if (table->caption)
    fprintf(file, markdown ? "**%s**\n\n" : "%s\n\n", table->caption);
  print_row(table, NULL, widths, how, file);
  print_rule(table, widths, how, markdown, file);
  for (size_t row = 0; row < table->row_count; row++)
    print_row(table, table->rows[row], widths, how, file);
  if (table->note)
    fprintf(file, "\n%s\n", table->note);
}

/* ---- JSON ---- */

static aloft_text key_of(const alo_column *column, char key[WORDS_MAX]) {
  size_t size = 0;
  for (const char *at = column->title; *at != '\0' && size + 1 < WORDS_MAX; at++)
    key[size++] = *at == ' ' ? '_' : (char)tolower((unsigned char)*at);
  return (aloft_text){key, size};
}

static void write_cell(aloft_json_writer *writer, const alo_cell *cell, alo_column_kind kind) {
  if (kind == ALO_COLUMN_TEXT)
    aloft_json_write_string(writer, (aloft_text){cell->text, cell->text ? strlen(cell->text) : 0});
  else if (cell->present)
    aloft_json_write_double(writer, cell->number);
  else
    aloft_json_write_null(writer);
}

static void write_table(aloft_json_writer *writer, const alo_table *table) {
  for (size_t row = 0; row < table->row_count; row++) {
    aloft_json_write_object(writer);
    for (size_t column = 0; column < table->column_count; column++) {
      char key[WORDS_MAX];
      aloft_json_write_name(writer, key_of(&table->columns[column], key));
      write_cell(writer, &table->rows[row][column], table->columns[column].kind);
    }
    aloft_json_write_close(writer);
  }
}

static size_t write_tables(const alo_table *const *tables, size_t count, char *buffer,
                           size_t room) {
  aloft_json_writer writer;
  aloft_json_writer_init(&writer, buffer, room);
  aloft_json_write_array(&writer);
  for (size_t i = 0; i < count; i++) {
    if (!tables[i]->text_only)
      write_table(&writer, tables[i]);
  }
  aloft_json_write_close(&writer);
  return writer.size;
}

static bool print_json(const alo_table *const *tables, size_t count, FILE *file) {
  size_t size = write_tables(tables, count, NULL, 0);
  char *text = malloc(size);
  if (!text)
    return false;
  write_tables(tables, count, text, size);
  fwrite(text, 1, size, file);
  fputc('\n', file);
  free(text);
  return true;
}

bool alo_tables_print(const alo_table *const *tables, size_t count, alo_format format, FILE *file) {
  if (format == ALO_FORMAT_JSON)
    return print_json(tables, count, file);
  for (size_t i = 0; i < count; i++) {
    if (i > 0)
      fputc('\n', file);
    print_text(tables[i], format == ALO_FORMAT_MARKDOWN, file);
  }
  return true;
}
