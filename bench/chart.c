#include "chart.h"

#include <math.h>
#include <string.h>

#include "svg.h"
#include "table.h"

bool alo_chart_add(alo_chart *chart, alo_chart_bar bar) {
  if (chart->count == ALO_CHART_BARS_MAX)
    return false;
  for (size_t i = 0; i < ALO_CHART_PARTS; i++) {
    if (!isfinite(bar.parts[i]) || bar.parts[i] < 0)
      return false;
  }
  chart->bars[chart->count++] = bar;
  return true;
}

/* ---- lengths ---- */

static double whole(const alo_chart_bar *bar) {
  return bar->parts[0] + bar->parts[1];
}

static bool begins_group(const alo_chart *chart, size_t at) {
  return at == 0 || strcmp(chart->bars[at].group, chart->bars[at - 1].group) != 0;
}

/* Of the group that the bar is in. */
static double largest(const alo_chart *chart, size_t at) {
  double most = 0;
  for (size_t i = 0; i < chart->count; i++) {
    if (strcmp(chart->bars[i].group, chart->bars[at].group) == 0)
      most = fmax(most, whole(&chart->bars[i]));
  }
  return most;
}

/* Where the parts end, of `width`. What is not nothing is to be seen. */
static void ends_of(const alo_chart *chart, size_t at, double width, double ends[ALO_CHART_PARTS]) {
  double most = largest(chart, at), sum = 0;
  for (size_t i = 0; i < ALO_CHART_PARTS; i++) {
    sum += chart->bars[at].parts[i];
    ends[i] = most > 0 ? sum / most * width : 0;
    double before = i > 0 ? ends[i - 1] : 0;
    if (chart->bars[at].parts[i] > 0 && ends[i] < before + 1 && before + 1 <= width)
      ends[i] = before + 1;
  }
}

static void sum_words(char words[ALO_NUMBER_WORDS_MAX], double number) {
  bool is_whole = fabs(number - round(number)) < 0.05;
  alo_number_words(words, number, is_whole || number >= 100 ? 0 : 1);
}

/* ---- the terminal ---- */

enum { TERMINAL_WIDTH = 52, NAME_WIDTH = 10 };

static void print_bar(const alo_chart *chart, size_t at, FILE *file) {
  static const char *const marks[ALO_CHART_PARTS] = {"\xE2\x96\x92", "\xE2\x96\x88"};
  double ends[ALO_CHART_PARTS];
  char words[ALO_NUMBER_WORDS_MAX];
  long drawn = 0;
  ends_of(chart, at, TERMINAL_WIDTH, ends);
  fprintf(file, "  %-*s", NAME_WIDTH, chart->bars[at].name);
  for (size_t i = 0; i < ALO_CHART_PARTS; i++) {
    for (; drawn < lround(ends[i]); drawn++)
      fputs(marks[i], file);
  }
  sum_words(words, whole(&chart->bars[at]));
  fprintf(file, " %s\n", words);
}

void alo_chart_print(const alo_chart *chart, FILE *file) {
  fprintf(file, "%s\n\xE2\x96\x92 %s  \xE2\x96\x88 %s\n", chart->title, chart->part_names[0],
          chart->part_names[1]);
  for (size_t i = 0; i < chart->count; i++) {
    if (begins_group(chart, i))
      fprintf(file, "\n%s\n", chart->bars[i].group);
    print_bar(chart, i, file);
  }
}

/* ---- SVG ---- */

enum {
  SVG_WIDTH = 760,
  SVG_LEFT = 90,
  SVG_BARS = 560,
  SVG_TOP = 64,
  SVG_GROUP = 30, /* the line of a group's name, with the space above */
  SVG_LINE = 20,
  SVG_BAR = 14
};

static void svg_rectangle(double x, int y, double width, size_t part, FILE *file) {
  if (width > 0)
    fprintf(file, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" class=\"part%zu\"/>\n", x,
            y, width, (int)SVG_BAR, part);
}

static void svg_bar(const alo_chart *chart, size_t at, int y, FILE *file) {
  double ends[ALO_CHART_PARTS], from = 0;
  char words[ALO_NUMBER_WORDS_MAX];
  ends_of(chart, at, SVG_BARS, ends);
  alo_svg_text(SVG_LEFT - 8, y + SVG_BAR - 3, "name", chart->bars[at].name, file);
  for (size_t i = 0; i < ALO_CHART_PARTS; i++) {
    svg_rectangle(SVG_LEFT + from, y, ends[i] - from, i, file);
    from = ends[i];
  }
  sum_words(words, whole(&chart->bars[at]));
  alo_svg_text(SVG_LEFT + (int)from + 6, y + SVG_BAR - 3, "figure", words, file);
}

static int svg_height(const alo_chart *chart) {
  int height = SVG_TOP + SVG_LINE;
  for (size_t i = 0; i < chart->count; i++)
    height += SVG_LINE + (begins_group(chart, i) ? SVG_GROUP : 0);
  return height;
}

static void svg_head(const alo_chart *chart, FILE *file) {
  alo_svg_begin(SVG_WIDTH, svg_height(chart), chart->title,
                ".group{font-weight:bold}.name{text-anchor:end}"
                ".part0{fill:#9db8d2}.part1{fill:#c2571a}",
                file);
  alo_svg_text(SVG_LEFT, 24, "title", chart->title, file);
  for (size_t i = 0; i < ALO_CHART_PARTS; i++) {
    int x = SVG_LEFT + (int)i * 280;
    svg_rectangle(x, 36, SVG_BAR, i, file);
    alo_svg_text(x + SVG_BAR + 6, 47, "figure", chart->part_names[i], file);
  }
}

void alo_chart_svg(const alo_chart *chart, FILE *file) {
  int y = SVG_TOP;
  svg_head(chart, file);
  for (size_t i = 0; i < chart->count; i++) {
    if (begins_group(chart, i)) {
      y += SVG_GROUP;
      alo_svg_text(SVG_LEFT, y - 8, "group", chart->bars[i].group, file);
    }
    svg_bar(chart, i, y, file);
    y += SVG_LINE;
  }
  alo_svg_end(file);
}
