/* aloft-bench-page FOLDER TEMPLATE: prints the template with results of benchmarks in it.
 *
 * FOLDER holds what benchmarks printed with --format json. In the template stands, anywhere in a
 * line, {{FILE KEY=VALUE... | KEY:KIND}}: that member of the first result for which all of
 * KEY=VALUE is true; and as a line of its own {{table FILE KEY=VALUE... | KEY[:KIND[:TITLE]]...}}:
 * all such results that have the first KEY, as a Markdown table. {{text FILE}} is a file as it is.
 * A VALUE and a TITLE have '+' in place of blanks. KIND: text, time (of nanoseconds), count, ratio,
 * bytes, thousands (rounded to a thousand), percent. What is not found ends with status 1, the
 * line's number and what was wrong. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "results.h"
#include "table.h"

enum { PATH_MAX_SIZE = 4096, WORDS_MAX = 32, WORD_MAX = 96, LINE_MAX_SIZE = 4096 };

typedef struct page {
  const char *folder, *name;
  unsigned line;
} page;

typedef struct directive {
  char words[WORDS_MAX][WORD_MAX];
  size_t count, bar; /* where '|' stands, or count */
} directive;

_Noreturn static void fail(const page *self, const char *what, const char *about) {
  fprintf(stderr, "aloft-bench-page: %s, line %u: %s: %s\n", self->name, self->line, what, about);
  exit(1);
}

/* ---- files ---- */

static char *read_file(const page *self, const char *file, size_t *size) {
  char path[PATH_MAX_SIZE];
  snprintf(path, sizeof path, "%s/%s", self->folder, file);
  FILE *from = fopen(path, "rb");
  if (!from)
    fail(self, path, strerror(errno));
  char *text = NULL;
  size_t room = 0;
  *size = 0;
  do {
    room += 65536;
    char *grown = realloc(text, room);
    if (!grown)
      fail(self, path, "no memory");
    text = grown;
    *size += fread(text + *size, 1, room - *size, from);
  } while (*size == room);
  if (ferror(from))
    fail(self, path, strerror(errno));
  fclose(from);
  return text;
}

static const alo_results *results_of(const page *self, const char *file) {
  static alo_results results;
  static char last[WORD_MAX];
  if (strcmp(last, file) == 0)
    return &results;
  size_t size;
  char *text = read_file(self, file, &size);
  if (!alo_results_read(&results, (aloft_text){text, size}))
    fail(self, file, "it is not an array of results, or too large");
  free(text);
  snprintf(last, sizeof last, "%s", file);
  return &results;
}

/* ---- directives ---- */

/* Words between blanks, up to "}}"; returns what stands behind that. */
static const char *read_directive(const page *self, const char *at, directive *to) {
  *to = (directive){.count = 0};
  const char *end = strstr(at, "}}");
  if (!end)
    fail(self, "no }} in this line", at);
  while (at < end) {
    size_t size = 0;
    while (at + size < end && at[size] != ' ')
      size++;
    if (to->count == WORDS_MAX || size >= WORD_MAX)
      fail(self, "too many words, or too long a one", at);
    if (size > 0)
      memcpy(to->words[to->count++], at, size);
    at += size + (at[size] == ' ');
  }
  for (to->bar = 0; to->bar < to->count && strcmp(to->words[to->bar], "|") != 0;)
    to->bar++;
  return end + 2;
}

static void with_blanks(char *text) {
  for (; *text != '\0'; text++)
    *text = *text == '+' ? ' ' : *text;
}

/* "KEY=VALUE" words from `first` to the bar. */
static bool matches(const page *self, const directive *of, size_t first, const alo_result *row) {
  for (size_t i = first; i < of->bar; i++) {
    char word[WORD_MAX];
    memcpy(word, of->words[i], sizeof word);
    char *value = strchr(word, '=');
    if (!value)
      fail(self, "not KEY=VALUE", word);
    *value++ = '\0';
    with_blanks(value);
    if (!alo_result_is(row, word, value))
      return false;
  }
  return true;
}

typedef struct column {
  char key[WORD_MAX], title[WORD_MAX], kind[WORD_MAX];
} column;

/* KEY, KEY:KIND or KEY:KIND:TITLE. */
static column read_column(const char *word) {
  column made = {.kind = "text"};
  const char *kind = strchr(word, ':'), *title = kind ? strchr(kind + 1, ':') : NULL;
  snprintf(made.key, WORD_MAX, "%.*s", (int)(kind ? kind - word : (ptrdiff_t)strlen(word)), word);
  if (kind)
    snprintf(made.kind, WORD_MAX, "%.*s",
             (int)(title ? title - kind - 1 : (ptrdiff_t)strlen(kind + 1)), kind + 1);
  snprintf(made.title, WORD_MAX, "%s", title ? title + 1 : made.key);
  with_blanks(made.title);
  if (!title) {
    for (char *at = made.title; *at != '\0'; at++)
      *at = *at == '_' ? ' ' : *at;
    made.title[0] = (char)toupper((unsigned char)made.title[0]);
  }
  return made;
}

static alo_column_kind kind_of(const page *self, const column *of) {
  static const struct {
    const char *word;
    alo_column_kind kind;
  } kinds[] = {{"text", ALO_COLUMN_TEXT},    {"time", ALO_COLUMN_TIME},
               {"count", ALO_COLUMN_COUNT},  {"ratio", ALO_COLUMN_RATIO},
               {"bytes", ALO_COLUMN_BYTES},  {"thousands", ALO_COLUMN_COUNT},
               {"percent", ALO_COLUMN_COUNT}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (strcmp(of->kind, kinds[i].word) == 0)
      return kinds[i].kind;
  }
  fail(self, "no such kind", of->kind);
}

static alo_cell cell_of(const alo_result_member *member, const column *of) {
  if (isnan(member->number))
    return (alo_cell){.text = member->text[0] != '\0' ? member->text : NULL};
  double number = member->number;
  if (strcmp(of->kind, "thousands") == 0)
    number = round(number / 1000) * 1000;
  if (strcmp(of->kind, "percent") == 0)
    number *= 100;
  return ALO_CELL_NUMBER(number);
}

/* ---- what stands in their place ---- */

static void print_table(const page *self, const directive *of) {
  static alo_table table;
  static column columns[ALO_TABLE_COLUMNS_MAX];
  static alo_column shown[ALO_TABLE_COLUMNS_MAX];
  table = (alo_table){.columns = shown};
  for (size_t i = of->bar + 1; i < of->count && table.column_count < ALO_TABLE_COLUMNS_MAX; i++) {
    column *made = &columns[table.column_count];
    *made = read_column(of->words[i]);
    shown[table.column_count++] = (alo_column){made->title, kind_of(self, made)};
  }
  const alo_results *results = results_of(self, of->words[1]);
  for (size_t at = 0; at < results->count; at++) {
    const alo_result *row = &results->rows[at];
    if (table.column_count == 0 || !alo_result_find(row, columns[0].key) ||
        !matches(self, of, 2, row))
      continue;
    alo_cell *cells = alo_table_add(&table);
    for (size_t i = 0; cells && i < table.column_count; i++) {
      const alo_result_member *member = alo_result_find(row, columns[i].key);
      if (!member)
        fail(self, "a result has no member", columns[i].key);
      cells[i] = cell_of(member, &columns[i]);
    }
  }
  const alo_table *tables[] = {&table};
  if (table.row_count == 0)
    fail(self, "nothing matches, in", of->words[1]);
  alo_tables_print(tables, 1, ALO_FORMAT_MARKDOWN, stdout);
}

static void print_figure(const page *self, const directive *of) {
  const alo_results *results = results_of(self, of->words[0]);
  if (of->bar + 2 != of->count)
    fail(self, "not one KEY:KIND behind |", of->words[0]);
  column wanted = read_column(of->words[of->bar + 1]);
  for (size_t at = 0; at < results->count; at++) {
    const alo_result_member *member = alo_result_find(&results->rows[at], wanted.key);
    if (!member || !matches(self, of, 1, &results->rows[at]))
      continue;
    char words[ALO_NUMBER_WORDS_MAX];
    alo_cell cell = cell_of(member, &wanted);
    alo_cell_words(words, &cell, kind_of(self, &wanted));
    fputs(words, stdout);
    return;
  }
  fail(self, "nothing matches that has", wanted.key);
}

static void print_text(const page *self, const directive *of) {
  size_t size;
  char *text = read_file(self, of->words[1], &size);
  fwrite(text, 1, size, stdout);
  free(text);
}

static void print_line(const page *self, const char *at) {
  directive of;
  for (const char *mark; (mark = strstr(at, "{{")) != NULL;) {
    fwrite(at, 1, (size_t)(mark - at), stdout);
    at = read_directive(self, mark + 2, &of);
    if (of.count > 1 && strcmp(of.words[0], "table") == 0)
      print_table(self, &of);
    else if (of.count > 1 && strcmp(of.words[0], "text") == 0)
      print_text(self, &of);
    else
      print_figure(self, &of);
  }
  fputs(at, stdout);
}

int main(int argc, char **argv) {
  char line[LINE_MAX_SIZE];
  if (argc != 3) {
    fprintf(stderr, "usage: aloft-bench-page FOLDER TEMPLATE\n");
    return 2;
  }
  page self = {.folder = argv[1], .name = argv[2]};
  FILE *from = fopen(argv[2], "r");
  if (!from)
    fail(&self, argv[2], strerror(errno));
  while (fgets(line, sizeof line, from)) {
    self.line++;
    if (!strchr(line, '\n') && !feof(from))
      fail(&self, "too long a line", line);
    print_line(&self, line);
  }
  fclose(from);
  return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
