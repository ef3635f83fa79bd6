#include "counted.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static const char instructions[] = ".instructions";

bool alo_counted_add(alo_counted *counted, const char *name, const char *kind, double figure) {
  if (counted->count == ALO_COUNTED_MAX)
    return false;
  alo_counted_figure *to = &counted->figures[counted->count];
  int size = snprintf(to->name, sizeof to->name, "%s.%s", name, kind);
  if (size < 0 || size >= ALO_COUNTED_NAME_MAX)
    return false;
  to->figure = figure;
  counted->count++;
  return true;
}

/* "name<tab>figure<newline>" */
static bool read_line(alo_counted *counted, char *line) {
  char *tab = strchr(line, '\t');
  if (!tab || tab == line || tab - line >= ALO_COUNTED_NAME_MAX ||
      counted->count == ALO_COUNTED_MAX)
    return false;
  char *end = NULL;
  double figure = strtod(tab + 1, &end);
  if (end == tab + 1 || (*end != '\n' && *end != '\0') || !isfinite(figure))
    return false;
  *tab = '\0';
  alo_counted_figure *to = &counted->figures[counted->count++];
  memcpy(to->name, line, (size_t)(tab - line) + 1);
  to->figure = figure;
  return true;
}

bool alo_counted_read(alo_counted *counted, const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) {
    alo_report("cannot read %s: %s", path, strerror(errno));
    return false;
  }
  char line[256];
  size_t number = 0;
  bool good = true;
  counted->count = 0;
  while (good && fgets(line, sizeof line, file)) {
    number++;
    good = line[0] == '#' || read_line(counted, line);
  }
  if (!good)
    alo_report("%s, line %zu: not a name, a tab and a figure, or more than %d figures", path,
               number, ALO_COUNTED_MAX);
  fclose(file);
  return good;
}

void alo_counted_print(const alo_counted *counted, FILE *file) {
  for (size_t i = 0; i < counted->count; i++)
    fprintf(file, "%s\t%.4f\n", counted->figures[i].name, counted->figures[i].figure);
}

static const alo_counted_figure *find(const alo_counted *counted, const char *name) {
  for (size_t i = 0; i < counted->count; i++) {
    if (strcmp(counted->figures[i].name, name) == 0)
      return &counted->figures[i];
  }
  return NULL;
}

/* How far a figure may be from its baseline, which has four decimals. */
static double room_of(const alo_counted_figure *baseline) {
  size_t size = strlen(baseline->name), end = sizeof instructions - 1;
  bool counts_instructions = size > end && strcmp(baseline->name + size - end, instructions) == 0;
  return (counts_instructions ? 0.02 * baseline->figure : 0) + 0.00006;
}

/* True: it has not risen. */
static bool compare_figure(const alo_counted_figure *now, const alo_counted_figure *before) {
  double change = now->figure - before->figure, room = room_of(before);
  if (change < -room)
    alo_note("%s fell from %.4f to %.4f: move the baseline, so that it stays there", now->name,
             before->figure, now->figure);
  else if (change > room)
    alo_note("%s rose from %.4f to %.4f", now->name, before->figure, now->figure);
  return change <= room;
}

/* How many differ in a way that fails. */
static size_t differ(const alo_counted *now, const alo_counted *baseline) {
  size_t wrong = 0;
  for (size_t i = 0; i < now->count; i++) {
    const alo_counted_figure *before = find(baseline, now->figures[i].name);
    if (!before)
      alo_note("%s is not in the baseline", now->figures[i].name);
    wrong += !before || !compare_figure(&now->figures[i], before);
  }
  for (size_t i = 0; i < baseline->count; i++) {
    if (find(now, baseline->figures[i].name))
      continue;
    alo_note("%s stands in the baseline and is not counted any more", baseline->figures[i].name);
    wrong++;
  }
  return wrong;
}

alo_exit alo_counted_compare(const alo_counted *now, const alo_counted *baseline,
                             const char *path) {
  size_t wrong = differ(now, baseline);
  if (wrong == 0) {
    printf("%zu counted figures, none above %s\n", now->count, path);
    return ALO_EXIT_OK;
  }
  alo_report(
      "%zu counted figures are not as %s has them. If a rise is worth it, move the baseline "
      "in the same commit, which says why: run the benchmark as the release preset builds it, "
      "with --counted in place of --baseline, and put what it prints into that file",
      wrong, path);
  return ALO_EXIT_ANSWER;
}

/* As a baseline has them, or as a table's JSON. */
static void print_as(const alo_counted *now, alo_format format) {
  static const alo_column columns[] = {{"Name", ALO_COLUMN_TEXT}, {"Figure", ALO_COLUMN_COUNT}};
  static alo_table table;
  const alo_table *tables[] = {&table};
  if (format == ALO_FORMAT_TABLE) {
    alo_counted_print(now, stdout);
    return;
  }
  table = (alo_table){.columns = columns, .column_count = 2};
  for (size_t i = 0; i < now->count; i++) {
    alo_cell *row = alo_table_add(&table);
    if (!row)
      continue;
    row[0] = ALO_CELL_TEXT(now->figures[i].name);
    row[1] = ALO_CELL_NUMBER(now->figures[i].figure);
  }
  alo_tables_print(tables, 1, format, stdout);
}

alo_exit alo_counted_finish(const alo_counted *now, const alo_bench_settings *settings) {
  alo_counted baseline = {0};
  if (!settings->baseline) {
    print_as(now, settings->format);
    return ALO_EXIT_OK;
  }
  if (!alo_counted_read(&baseline, settings->baseline))
    return ALO_EXIT_LOCAL;
  return alo_counted_compare(now, &baseline, settings->baseline);
}
