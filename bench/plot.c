#include "plot.h"

#include <math.h>

#include "svg.h"
#include "table.h"

enum {
  WIDTH = 760,
  HEIGHT = 480,
  LEFT = 80,
  RIGHT = 560, /* beside it stand the names */
  TOP = 50,
  BOTTOM = 420,
  LINE = 18
};

alo_plot_line *alo_plot_add(alo_plot *plot, const char *name, bool theirs) {
  if (plot->count == ALO_PLOT_LINES_MAX)
    return NULL;
  alo_plot_line *line = &plot->lines[plot->count++];
  *line = (alo_plot_line){.name = name, .theirs = theirs};
  return line;
}

bool alo_plot_point(alo_plot_line *line, double x, double y) {
  if (line->count == ALO_PLOT_POINTS_MAX || !(x > 0) || !(y > 0) || isinf(x) || isinf(y))
    return false;
  line->x[line->count] = x;
  line->y[line->count++] = y;
  return true;
}

/* ---- axes: from a power of ten to another ---- */

typedef struct axis {
  double low, high; /* logarithms */
} axis;

static void widen(axis *self, double value) {
  double power = log10(value);
  self->low = fmin(self->low, floor(power));
  self->high = fmax(self->high, ceil(power));
}

static void find_axes(const alo_plot *plot, axis *x, axis *y) {
  *x = *y = (axis){.low = HUGE_VAL, .high = -HUGE_VAL};
  for (size_t at = 0; at < plot->count; at++) {
    for (size_t i = 0; i < plot->lines[at].count; i++) {
      widen(x, plot->lines[at].x[i]);
      widen(y, plot->lines[at].y[i]);
    }
  }
}

static double place(const axis *self, double value, int from, int to) {
  double span = self->high > self->low ? self->high - self->low : 1;
  return from + (log10(value) - self->low) / span * (to - from);
}

static void draw_axes(const alo_plot *plot, const axis *x, const axis *y, FILE *file) {
  char words[ALO_NUMBER_WORDS_MAX];
  for (int power = (int)x->low; power <= (int)x->high; power++) {
    int at = (int)place(x, pow(10, power), LEFT, RIGHT);
    fprintf(file, "<path d=\"M%d %dV%d\" class=\"grid\"/>\n", at, (int)TOP, (int)BOTTOM);
    alo_number_words(words, pow(10, power), power < 0 ? -power : 0);
    alo_svg_text(at, BOTTOM + LINE, "below", words, file);
  }
  for (int power = (int)y->low; power <= (int)y->high; power++) {
    int at = (int)place(y, pow(10, power), BOTTOM, TOP);
    fprintf(file, "<path d=\"M%d %dH%d\" class=\"grid\"/>\n", (int)LEFT, at, (int)RIGHT);
    alo_number_words(words, pow(10, power), power < 0 ? -power : 0);
    alo_svg_text(LEFT - 8, at + 4, "name", words, file);
  }
  alo_svg_text((LEFT + RIGHT) / 2, BOTTOM + 2 * LINE + 4, "below", plot->x_name, file);
  alo_svg_text(LEFT, TOP - 8, "name", plot->y_name, file);
}

static void draw_line(const alo_plot *plot, size_t at, const axis *x, const axis *y, FILE *file) {
  const alo_plot_line *line = &plot->lines[at];
  const int row = TOP + LINE * (int)at;
  fprintf(file, "<path d=\"");
  for (size_t i = 0; i < line->count; i++)
    fprintf(file, "%c%.1f %.1f", i ? 'L' : 'M', place(x, line->x[i], LEFT, RIGHT),
            place(y, line->y[i], BOTTOM, TOP));
  fprintf(file, "\" class=\"line%zu%s\"/>\n", at, line->theirs ? " theirs" : "");
  for (size_t i = 0; i < line->count; i++)
    fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" class=\"dot%zu\"/>\n",
            place(x, line->x[i], LEFT, RIGHT), place(y, line->y[i], BOTTOM, TOP), at);
  fprintf(file, "<path d=\"M%d %dH%d\" class=\"line%zu%s\"/>\n", RIGHT + 16, row, RIGHT + 40, at,
          line->theirs ? " theirs" : "");
  alo_svg_text(RIGHT + 46, row + 4, "figure", line->name, file);
}

void alo_plot_svg(const alo_plot *plot, FILE *file) {
  static const char *const colours[ALO_PLOT_LINES_MAX] = {
      "#1b6ca8", "#4aa564", "#c2571a", "#8a5fb0", "#b03a5b", "#7a7a2a", "#2a8a8a", "#888888"};
  char style[1024];
  int size = snprintf(style, sizeof style,
                      ".name{text-anchor:end}.below{text-anchor:middle}path{fill:none}"
                      ".grid{stroke:#8884;stroke-width:1}.theirs{stroke-dasharray:5 4}");
  for (size_t i = 0; i < ALO_PLOT_LINES_MAX; i++)
    size += snprintf(style + size, sizeof style - (size_t)size,
                     ".line%zu{stroke:%s;stroke-width:2}.dot%zu{fill:%s}", i, colours[i], i,
                     colours[i]);
  axis x, y;
  find_axes(plot, &x, &y);
  alo_svg_begin(WIDTH, HEIGHT, plot->title, style, file);
  alo_svg_text(LEFT, 24, "title", plot->title, file);
  if (x.low <= x.high)
    draw_axes(plot, &x, &y, file);
  for (size_t at = 0; at < plot->count && x.low <= x.high; at++)
    draw_line(plot, at, &x, &y, file);
  alo_svg_end(file);
}
