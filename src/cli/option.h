/* A table-driven reader of command lines: one table of options serves parsing, errors and help. */
#ifndef ALO_OPTION_H
#define ALO_OPTION_H

#include <aloft/base.h>

#include "exit_status.h"
#include "secret.h"

typedef enum alo_option_kind {
  ALO_OPTION_FLAG,     /* bool */
  ALO_OPTION_TEXT,     /* const char *, not empty */
  ALO_OPTION_ANY_TEXT, /* const char *, may be empty */
  ALO_OPTION_DEFAULT,  /* const char *; "" when given without a value */
  ALO_OPTION_SECRET,   /* alo_secret; the argument is overwritten */
  ALO_OPTION_URL,      /* alo_secret; a user and password in the argument are overwritten */
  ALO_OPTION_LIST,     /* alo_option_list; may be given several times */
  ALO_OPTION_NUMBER,   /* int64_t within min and max */
  ALO_OPTION_DURATION, /* uint64_t in nanoseconds */
  ALO_OPTION_REFUSED   /* of the tool this command resembles; `help` says why not, what instead */
} alo_option_kind;

enum { ALO_OPTION_LIST_MAX = 64 };

typedef struct alo_option_list {
  const char *items[ALO_OPTION_LIST_MAX];
  size_t count;
} alo_option_list;

typedef struct alo_option {
  const char *name; /* after "--"; NULL: none */
  char letter;      /* after "-"; 0: none */
  alo_option_kind kind;
  const char *value; /* the value's name in help */
  const char *help;
  const char *environment; /* a variable that gives the value when the option is absent */
  size_t offset;           /* of the member in the group's values */
  int64_t min, max;        /* of a number */
} alo_option;

/* Options that store into one struct. `given` has a bit per option that was on the command line. */
typedef struct alo_option_group {
  const char *title;
  const alo_option *options; /* at most 64 */
  size_t count;
  void *values; /* zeroed or set to the defaults by the caller */
  uint64_t given;
} alo_option_group;

typedef struct alo_command_line {
  const char *synopsis; /* "aloft pub [OPTION...] SUBJECT [BODY]" */
  const char *summary;  /* one sentence */
  const char *notes;    /* at the end of the help; NULL: none */
  alo_option_group *groups;
  size_t group_count;
  const char *arguments[2]; /* names of the operands in order; NULL: none */
  size_t required;          /* how many of them must be there */
  const char *operands[2];  /* read: NULL when absent [op: views into argv] */
  bool help;                /* read: --help was given; nothing else was checked */
} alo_command_line;

/* Reads argv[1..]. Every error is reported and names the option and what to do: ALO_EXIT_USAGE (or
 * ALO_EXIT_LOCAL: no memory). Secrets taken so far are the caller's to wipe. */
alo_exit alo_command_line_read(alo_command_line *line, int argc, char **argv);

/* True when the option was on the command line. `name` as in the table; NULL-named ones by
 * letter: pass "s" for -s. */
bool alo_option_given(const alo_option_group *group, const char *name);

/* Prints the help made from the table to standard output. */
void alo_command_line_help(const alo_command_line *line);

#endif
