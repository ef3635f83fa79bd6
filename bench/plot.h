/* Lines over a plane with two logarithmic axes, as SVG. */
#ifndef ALO_PLOT_H
#define ALO_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { ALO_PLOT_LINES_MAX = 8, ALO_PLOT_POINTS_MAX = 8 };

typedef struct alo_plot_line {
  const char *name; /* [op] until drawn */
  bool theirs;      /* published by somebody: dashed */
  size_t count;
  double x[ALO_PLOT_POINTS_MAX], y[ALO_PLOT_POINTS_MAX];
} alo_plot_line;

typedef struct alo_plot {
  const char *title, *x_name, *y_name; /* [op] */
  size_t count;
  alo_plot_line lines[ALO_PLOT_LINES_MAX];
} alo_plot;

/* A new line without points; NULL: full. */
alo_plot_line *alo_plot_add(alo_plot *plot, const char *name, bool theirs);
/* Points from left to right. False: the line is full, or a number is not above 0. */
bool alo_plot_point(alo_plot_line *line, double x, double y);

/* A whole SVG document, which shows itself on a light and on a dark page. */
void alo_plot_svg(const alo_plot *plot, FILE *file);

#endif
