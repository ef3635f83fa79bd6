#include "journal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static void write_line(alo_journal *journal, const char *format, va_list arguments) {
  char line[ALO_JOURNAL_LINE_MAX];
  vsnprintf(line, sizeof line, format, arguments);
  journal->line(journal->context, line);
}

void alo_journal_say(alo_journal *journal, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_line(journal, format, arguments);
  va_end(arguments);
}

void alo_journal_complain(alo_journal *journal, const char *format, ...) {
  uint64_t second = aloft_loop_now(journal->loop) / ALOFT_SECONDS(1);
  if (second != journal->second) {
    journal->second = second;
    journal->said = 0;
  }
  if (journal->said++ >= ALO_JOURNAL_COMPLAINTS_A_SECOND) {
    journal->withheld++;
    return;
  }
  if (journal->withheld > 0)
    alo_journal_say(journal, "%" PRIu64 " lines were left out", journal->withheld);
  journal->withheld = 0;
  va_list arguments;
  va_start(arguments, format);
  write_line(journal, format, arguments);
  va_end(arguments);
}
