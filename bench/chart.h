/* Bars of two parts each, below each other in groups, for the terminal and as SVG. Lengths are in
 * proportion within a group. */
#ifndef ALO_CHART_H
#define ALO_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { ALO_CHART_BARS_MAX = 48, ALO_CHART_PARTS = 2 };

typedef struct alo_chart_bar {
  const char *group; /* [op] until drawn; bars of the same group follow each other */
  const char *name;  /* [op] */
  double parts[ALO_CHART_PARTS];
} alo_chart_bar;

typedef struct alo_chart {
  const char *title;                       /* [op] */
  const char *part_names[ALO_CHART_PARTS]; /* [op] */
  size_t count;
  alo_chart_bar bars[ALO_CHART_BARS_MAX];
} alo_chart;

/* False: full, or a part that is negative or no number. */
bool alo_chart_add(alo_chart *chart, alo_chart_bar bar);

void alo_chart_print(const alo_chart *chart, FILE *file);

/* A whole SVG document, which shows itself on a light and on a dark page. */
void alo_chart_svg(const alo_chart *chart, FILE *file);

#endif
