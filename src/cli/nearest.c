#include "nearest.h"

#include <string.h>

enum { LETTERS_MAX = 32 };

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

/* One row of the optimal string alignment table: `above` and `above2` are the two rows over it. */
static void fill_row(const char *a, const char *b, size_t i, const size_t *above2,
                     const size_t *above, size_t *row) {
  row[0] = i;
  for (size_t j = 1; b[j - 1] != '\0'; j++) {
    size_t change = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
    row[j] = least(change, least(above[j], row[j - 1]) + 1);
    if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
      row[j] = least(row[j], above2[j - 2] + 1);
  }
}

size_t alo_nearest_distance(const char *a, const char *b) {
  size_t size_a = strlen(a), size_b = strlen(b);
  size_t rows[3][LETTERS_MAX + 1] = {{0}};
  if (size_a > LETTERS_MAX || size_b > LETTERS_MAX)
    return LETTERS_MAX;
  for (size_t j = 0; j <= size_b; j++)
    rows[0][j] = j;
  for (size_t i = 1; i <= size_a; i++)
    fill_row(a, b, i, rows[(i + 1) % 3], rows[(i + 2) % 3], rows[i % 3]);
  return rows[size_a % 3][size_b];
}

void alo_nearest_try(alo_nearest *nearest, const char *typed, const char *word) {
  size_t distance = alo_nearest_distance(typed, word);
  size_t allowed = strlen(word) > 4 ? 2 : 1;
  if (distance > allowed || (nearest->word != NULL && distance >= nearest->distance))
    return;
  nearest->word = word;
  nearest->distance = distance;
}
