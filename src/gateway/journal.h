/* What a gateway says while it runs, to whoever runs it. Lines never hold a secret. */
#ifndef ALO_JOURNAL_H
#define ALO_JOURNAL_H

#include <aloft/loop.h>

typedef struct alo_journal {
  void (*line)(void *context, const char *line);
  void *context;
  aloft_loop *loop;
  uint64_t second; /* the one that `said` counts */
  uint32_t said;
  uint64_t withheld;
} alo_journal;

enum { ALO_JOURNAL_LINE_MAX = 1200, ALO_JOURNAL_COMPLAINTS_A_SECOND = 10 };

#if defined(__GNUC__)
  #define ALO_JOURNAL_FORMAT __attribute__((format(printf, 2, 3)))
#else
  #define ALO_JOURNAL_FORMAT
#endif

void alo_journal_say(alo_journal *journal, const char *format, ...) ALO_JOURNAL_FORMAT;

/* The same for what clients can cause as often as they like: above ten a second they are counted,
 * and the next one that is said tells how many were not. */
void alo_journal_complain(alo_journal *journal, const char *format, ...) ALO_JOURNAL_FORMAT;

#endif
