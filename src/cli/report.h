/* What the command says on standard error. */
#ifndef ALO_REPORT_H
#define ALO_REPORT_H

#include <aloft/status.h>

#include "exit_status.h"

#if defined(__GNUC__)
  #define ALO_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
  #define ALO_PRINTF(text, first)
#endif

/* The name in front of every error, "aloft" at first. `name` is a constant. */
void alo_report_name(const char *name);

/* One line "NAME: ...", at most 2 KiB; control characters in it become blanks, so that a peer's
 * text can neither break the line nor reach the terminal as a command. */
void alo_report(const char *format, ...) ALO_PRINTF(1, 2);

/* A line that is no error, without the name, under the same rules. */
void alo_note(const char *format, ...) ALO_PRINTF(1, 2);

/* Reports a usage error, pointing to --help. Returns ALO_EXIT_USAGE. */
alo_exit alo_report_usage(const char *format, ...) ALO_PRINTF(1, 2);

/* What an operation failed with, kept beyond its callback. */
typedef struct alo_failure {
  aloft_status status;
  int32_t number;
  char text[1024];
} alo_failure;

/* What the library calls a setting, and what the command's option for it is called. */
typedef struct alo_option_name {
  const char *setting, *option;
} alo_option_name;

/* Puts options in place of settings, each once; those that contain others come first. */
void alo_failure_name_options(alo_failure *failure, const alo_option_name *names, size_t count);

/* `error` [call] may be NULL: then the status's own words are kept. */
void alo_failure_keep(alo_failure *failure, aloft_status status, const aloft_error *error);

/* After a lost connection: adds whether the request may have been acted on, and what to do. */
void alo_failure_advise_on_loss(alo_failure *failure);

/* The exit status of a failed operation on an open connection. */
alo_exit alo_exit_of(aloft_status status);

/* Reports "NAME: WHAT: text" and returns the exit status. */
alo_exit alo_failure_report(const alo_failure *failure, const char *what);

/* As above for a failure to connect: always ALO_EXIT_CONNECTION, unless the command line or this
 * machine is at fault. */
alo_exit alo_failure_report_connect(const alo_failure *failure, const char *what);

#endif
