/* The Fortunes benchmark's table and query, and the strings that a caller keeps of the answer. */
#ifndef ALO_FORTUNES_H
#define ALO_FORTUNES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <aloft/base.h>

enum { ALO_FORTUNES = 12 };

/* "SELECT id, message FROM fortune" */
extern const char alo_fortunes_query[];

/* The message of the row `id`, from 1; absent: there is no such row. */
aloft_text alo_fortunes_message(int32_t id);

/* One row as the caller keeps it: a string of its own, ended with a NUL. */
typedef struct alo_fortune {
  int32_t id;
  char *message;
  size_t size;
} alo_fortune;

/* The rows of one execution. The strings are all that a query of the benchmark takes from the heap
 * for itself: one call for each, and one to give it back. */
typedef struct alo_fortune_list {
  size_t count, room;
  alo_fortune *rows; /* the caller's, `room` of them */
} alo_fortune_list;

/* Copies a row. False: more rows than there is room for, or no memory. */
bool alo_fortunes_keep(alo_fortune_list *list, int32_t id, aloft_text message);
/* Frees the strings; the list is empty then. */
void alo_fortunes_drop(alo_fortune_list *list);

/* NULL: each of the 12 rows is there once, with its text. Otherwise what is wrong. */
const char *alo_fortunes_wrong(const alo_fortune_list *list);

#endif
