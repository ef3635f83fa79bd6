/* The results of a benchmark, as it printed them: JSON, an array of objects of numbers and texts.
 */
#ifndef ALO_RESULTS_H
#define ALO_RESULTS_H

#include <aloft/json.h>
#include <stdbool.h>

enum { ALO_RESULT_MEMBERS_MAX = 24, ALO_RESULTS_MAX = 512 };

typedef struct alo_result_member {
  char key[40];
  char text[80]; /* "": it is a number, or null */
  double number; /* NAN: null, or it is a text */
} alo_result_member;

typedef struct alo_result {
  size_t count;
  alo_result_member members[ALO_RESULT_MEMBERS_MAX];
} alo_result;

typedef struct alo_results {
  size_t count;
  alo_result rows[ALO_RESULTS_MAX];
} alo_results;

/* Of the whole text of a file. False: it is not such an array, or too large a one. */
bool alo_results_read(alo_results *results, aloft_text text);

/* NULL: it has none of that name. */
const alo_result_member *alo_result_find(const alo_result *row, const char *key);

/* True when the member is that text, or that number. */
bool alo_result_is(const alo_result *row, const char *key, const char *value);

#endif
