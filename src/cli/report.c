#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *report_name = "aloft";

void alo_report_name(const char *name) {
  report_name = name;
}

static void print_line(const char *prefix, const char *format, va_list arguments,
                       const char *suffix) {
  char line[2048];
  /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): each caller has started it */
  int size = vsnprintf(line, sizeof line, format, arguments);
  if (size < 0)
    return;
  for (char *at = line; *at != '\0'; at++) {
    if ((unsigned char)*at < 0x20 || *at == 0x7f)
      *at = ' ';
  }
  fprintf(stderr, "%s%s%s%s\n", prefix, prefix[0] != '\0' ? ": " : "", line, suffix);
}

void alo_report(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line(report_name, format, arguments, "");
  va_end(arguments);
}

void alo_note(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line("", format, arguments, "");
  va_end(arguments);
}

alo_exit alo_report_usage(const char *format, ...) {
  char suffix[96];
  snprintf(suffix, sizeof suffix, " (see \"%s --help\")", report_name);
  va_list arguments;
  va_start(arguments, format);
  print_line(report_name, format, arguments, suffix);
  va_end(arguments);
  return ALO_EXIT_USAGE;
}

void alo_failure_keep(alo_failure *failure, aloft_status status, const aloft_error *error) {
  if (error == NULL)
    error = aloft_status_error(status);
  failure->status = status;
  failure->number = error->number;
  snprintf(failure->text, sizeof failure->text, "%.*s", ALOFT_PRINT(error->message));
  if (failure->text[0] == '\0')
    snprintf(failure->text, sizeof failure->text, "%s: %s", aloft_status_meaning(status),
             aloft_status_advice(status));
}

void alo_failure_advise_on_loss(alo_failure *failure) {
  size_t size = strlen(failure->text);
  if (failure->status == ALOFT_LOST || failure->status == ALOFT_LOST_UNSENT)
    snprintf(failure->text + size, sizeof failure->text - size, "; %s",
             aloft_status_advice(failure->status));
}

alo_exit alo_exit_of(aloft_status status) {
  if (status == ALOFT_NO_RESPONDERS)
    return ALO_EXIT_NO_RESPONDERS;
  if (status == ALOFT_SYSTEM)
    return ALO_EXIT_LOCAL;
  switch (aloft_status_class(status)) {
  case ALOFT_CLASS_OK:
    return ALO_EXIT_OK;
  case ALOFT_CLASS_ARGUMENT:
    return ALO_EXIT_USAGE;
  case ALOFT_CLASS_LIMIT:
    return ALO_EXIT_LOCAL;
  case ALOFT_CLASS_TIMEOUT:
    return ALO_EXIT_TIMEOUT;
  case ALOFT_CLASS_SERVER:
    return ALO_EXIT_ANSWER;
  default:
    return ALO_EXIT_CONNECTION;
  }
}

alo_exit alo_failure_report(const alo_failure *failure, const char *what) {
  alo_report("%s: %s", what, failure->text);
  return alo_exit_of(failure->status);
}

alo_exit alo_failure_report_connect(const alo_failure *failure, const char *what) {
  alo_exit code = alo_failure_report(failure, what);
  return code == ALO_EXIT_USAGE || code == ALO_EXIT_LOCAL ? code : ALO_EXIT_CONNECTION;
}

void alo_failure_name_options(alo_failure *failure, const alo_option_name *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char *at = strstr(failure->text, names[i].setting), rest[sizeof failure->text];
    if (at == NULL)
      continue;
    snprintf(rest, sizeof rest, "%s", at + strlen(names[i].setting));
    snprintf(at, sizeof failure->text - (size_t)(at - failure->text), "%s%s", names[i].option,
             rest);
  }
}
