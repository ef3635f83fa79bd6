/* The nearest of several words to one that was mistyped. */
#ifndef ALO_NEAREST_H
#define ALO_NEAREST_H

#include <stddef.h>

/* Letters added, left out, changed or swapped with their neighbour to get from `a` to `b`; words
 * above 32 letters are as far apart as can be. */
size_t alo_nearest_distance(const char *a, const char *b);

/* Keeps the nearest word seen so far. Start with zeroes. */
typedef struct alo_nearest {
  const char *word; /* NULL: none is near enough to suggest */
  size_t distance;
} alo_nearest;

void alo_nearest_try(alo_nearest *nearest, const char *typed, const char *word);

#endif
