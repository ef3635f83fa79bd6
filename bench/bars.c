#include "bars.h"

#include <math.h>

#include "table.h"

static FILE *file_of(const alo_bars *bars) {
  return bars->file ? bars->file : stdout;
}

static void words_of(char words[ALO_NUMBER_WORDS_MAX], double number) {
  bool whole = fabs(number - round(number)) < 0.0005;
  alo_number_words(words, number, whole ? 0 : fabs(number) < 10 ? 4 : 1);
}

void alo_bar(alo_bars *bars, const char *name, double figure, alo_bound bound, double limit) {
  char is[ALO_NUMBER_WORDS_MAX], may_be[ALO_NUMBER_WORDS_MAX];
  words_of(is, figure);
  words_of(may_be, limit);
  /* Written so that what is not a number is short. */
  bool ok = bound == ALO_AT_MOST ? figure <= limit : figure >= limit;
  fprintf(file_of(bars), "%-52s %12s  %-8s %10s  %s\n", name, is,
          bound == ALO_AT_MOST ? "at most" : "at least", may_be, ok ? "ok" : "short");
  *(ok ? &bars->ok : &bars->shorts) += 1;
}

void alo_bar_skip(alo_bars *bars, const char *name, const char *why) {
  fprintf(file_of(bars), "%-52s skipped: %s\n", name, why);
  bars->skipped++;
}

void alo_bar_error(alo_bars *bars, const char *name, const char *why) {
  fprintf(file_of(bars), "%-52s error: %s\n", name, why);
  bars->errors++;
}

alo_exit alo_bars_finish(const alo_bars *bars) {
  fprintf(file_of(bars), "%zu ok, %zu short, %zu skipped, %zu errors\n", bars->ok, bars->shorts,
          bars->skipped, bars->errors);
  return bars->ok > 0 && bars->shorts == 0 && bars->errors == 0 ? ALO_EXIT_OK : ALO_EXIT_ANSWER;
}
