#include "fortunes_pictures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chart.h"
#include "fortunes_costs.h"
#include "report.h"
#include "svg.h"

enum { ROUNDS = 50, NOTE_MAX = 1536, GROUP_MAX = 64 };

typedef struct pictures {
  const alo_bench_settings *settings;
  bool wanted[ALO_DESIGNS];
  alo_design_cost costs[ALO_DESIGNS][ALO_ANSWERS];
  alo_reason why; /* the last thing that could not be counted; "" */
} pictures;

/* ---- the table ---- */

static const alo_column columns[] = {
    {"Design", ALO_COLUMN_TEXT},         {"Answer", ALO_COLUMN_TEXT},
    {"TPS", ALO_COLUMN_COUNT},           {"StdDev", ALO_COLUMN_COUNT},
    {"Instr strings", ALO_COLUMN_COUNT}, {"Instr rest", ALO_COLUMN_COUNT},
    {"Calls strings", ALO_COLUMN_COUNT}, {"Calls rest", ALO_COLUMN_COUNT},
    {"Bytes strings", ALO_COLUMN_COUNT}, {"Bytes rest", ALO_COLUMN_COUNT},
};

static alo_cell cell(double number, bool present) {
  return (alo_cell){.number = number, .present = present};
}

static void add_row(alo_table *table, const pictures *self, alo_design design,
                    alo_design_answer answer) {
  const alo_design_cost *cost = &self->costs[design][answer];
  alo_cell *row = alo_table_add(table);
  if (!row)
    return;
  *row++ = ALO_CELL_TEXT(alo_design_names[design]);
  *row++ = ALO_CELL_TEXT(alo_answer_titles[answer]);
  *row++ = ALO_CELL_NUMBER(round(cost->per_second));
  *row++ = ALO_CELL_NUMBER(round(cost->deviation));
  *row++ = cell(round(cost->strings.instructions), cost->instructions_counted);
  *row++ = cell(round(cost->rest.instructions), cost->instructions_counted);
  *row++ = cell(cost->strings.heap_calls, cost->heap_counted);
  *row++ = cell(cost->rest.heap_calls, cost->heap_counted);
  *row++ = cell(cost->strings.heap_bytes, cost->heap_counted);
  *row++ = cell(cost->rest.heap_bytes, cost->heap_counted);
}

static bool print_table(const pictures *self) {
  char note[NOTE_MAX];
  alo_table table = {.caption = "The reader and the design that it replaces, in memory, one query",
                     .note = note,
                     .columns = columns,
                     .column_count = sizeof columns / sizeof columns[0]};
  const alo_table *tables[] = {&table};
  snprintf(note, sizeof note,
           "strings: keeping and freeing the results, which the caller wants; rest: everything\n"
           "else. Packets arrive one by one. TPS: by processor time; StdDev without the best and\n"
           "the worst of the samples. Published, asynchronous, 64 tasks: 59,184 TPS (2,175)\n"
           "before, 69,371 (1,019) after.%s%s",
           self->why.text[0] != '\0' ? "\nNot counted: " : "", self->why.text);
  for (alo_design_answer answer = 0; answer < ALO_ANSWERS; answer++) {
    for (alo_design design = ALO_DESIGNS; design-- > 0;) {
      if (self->wanted[design])
        add_row(&table, self, design, answer);
    }
  }
  return alo_tables_print(tables, 1, self->settings->format, stdout);
}

/* ---- the picture ---- */

static double figure_of(const alo_design_figures *figures, size_t what) {
  return what == 0 ? figures->instructions : what == 1 ? figures->heap_calls : figures->heap_bytes;
}

static void add_group(alo_chart *chart, const pictures *self, alo_design_answer answer, size_t what,
                      char group[GROUP_MAX]) {
  static const char *const words[] = {"instructions", "heap calls", "heap bytes"};
  snprintf(group, GROUP_MAX, "%s: %s", alo_answer_titles[answer], words[what]);
  for (alo_design design = ALO_DESIGNS; design-- > 0;) {
    const alo_design_cost *cost = &self->costs[design][answer];
    if (!self->wanted[design] || !(what == 0 ? cost->instructions_counted : cost->heap_counted))
      continue;
    alo_chart_bar bar = {group,
                         alo_design_names[design],
                         {figure_of(&cost->strings, what), figure_of(&cost->rest, what)}};
    if (!alo_chart_add(chart, bar))
      alo_note("%s of %s cannot be drawn", group, alo_design_names[design]);
  }
}

static void draw_chart(const void *chart, FILE *file) {
  alo_chart_svg(chart, file);
}

static bool draw(const pictures *self, const char *svg) {
  enum { FIGURES = 3 };
  static char groups[ALO_ANSWERS][FIGURES][GROUP_MAX];
  alo_chart chart = {.title = "A query: before (baseline) and after (current)",
                     .part_names = {"strings for the caller", "everything else"}};
  for (alo_design_answer answer = 0; answer < ALO_ANSWERS; answer++) {
    for (size_t what = 0; what < FIGURES; what++)
      add_group(&chart, self, answer, what, groups[answer][what]);
  }
  if (self->settings->format == ALO_FORMAT_TABLE && chart.count > 0) {
    putchar('\n');
    alo_chart_print(&chart, stdout);
  }
  return !svg || alo_svg_write(svg, draw_chart, &chart);
}

/* ---- all of it ---- */

static bool fill(pictures *self) {
  alo_measure_plan plan = {.rounds = (size_t)self->settings->rounds,
                           .iteration_ns = self->settings->iteration_ns};
  if (plan.rounds == 0)
    plan.rounds = ROUNDS;
  for (alo_design_answer answer = 0; answer < ALO_ANSWERS; answer++) {
    alo_reason why;
    if (!alo_designs_agree(answer, &why)) {
      alo_report("%s", why.text);
      return false;
    }
    for (alo_design design = 0; design < ALO_DESIGNS; design++) {
      if (self->wanted[design])
        alo_design_count(design, answer, &self->costs[design][answer], &self->why);
    }
  }
  return alo_designs_measure(self->wanted, &plan, self->costs);
}

alo_exit alo_fortunes_pictures_print(const alo_bench_settings *settings,
                                     const bool wanted[ALO_DESIGNS], const char *svg) {
  static pictures self;
  self = (pictures){.settings = settings};
  memcpy(self.wanted, wanted, sizeof self.wanted);
  return fill(&self) && print_table(&self) && draw(&self, svg) ? ALO_EXIT_OK : ALO_EXIT_LOCAL;
}
