#include "option.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "duration.h"
#include "nearest.h"
#include "report.h"

/* One option where it stands on the command line. */
typedef struct match {
  alo_option_group *group;
  const alo_option *option;
} match;

typedef struct arguments {
  alo_command_line *line;
  char **argv;
  int argc;
  int at; /* the next argument */
  size_t operand_count;
  bool operands_only; /* after "--" */
} arguments;

/* "--name" or "-n", for errors. */
static const char *spell(const alo_option *option, char buffer[64]) {
  if (option->name != NULL)
    snprintf(buffer, 64, "--%s", option->name);
  else
    snprintf(buffer, 64, "-%c", option->letter);
  return buffer;
}

static match find_name(alo_command_line *line, const char *name, size_t size) {
  for (size_t g = 0; g < line->group_count; g++) {
    alo_option_group *group = &line->groups[g];
    for (size_t i = 0; i < group->count; i++) {
      const char *candidate = group->options[i].name;
      if (candidate != NULL && strlen(candidate) == size && memcmp(candidate, name, size) == 0)
        return (match){group, &group->options[i]};
    }
  }
  return (match){0};
}

static match find_letter(alo_command_line *line, char letter) {
  for (size_t g = 0; g < line->group_count; g++) {
    alo_option_group *group = &line->groups[g];
    for (size_t i = 0; i < group->count; i++) {
      if (group->options[i].letter == letter)
        return (match){group, &group->options[i]};
    }
  }
  return (match){0};
}

static alo_exit unknown_name(const alo_command_line *line, const char *name, size_t size) {
  char typed[64];
  snprintf(typed, sizeof typed, "%.*s", (int)(size < 63 ? size : 63), name);
  alo_nearest nearest = {0};
  alo_nearest_try(&nearest, typed, "help");
  for (size_t g = 0; g < line->group_count; g++) {
    const alo_option_group *group = &line->groups[g];
    for (size_t i = 0; i < group->count; i++) {
      if (group->options[i].name != NULL && group->options[i].kind != ALO_OPTION_REFUSED)
        alo_nearest_try(&nearest, typed, group->options[i].name);
    }
  }
  if (nearest.word != NULL)
    return alo_report_usage("unknown option --%s: did you mean --%s?", typed, nearest.word);
  return alo_report_usage("unknown option --%s", typed);
}

static void *member(const alo_option_group *group, const alo_option *option) {
  return (char *)group->values + option->offset;
}

static bool takes_value(const alo_option *option) {
  return option->kind != ALO_OPTION_FLAG && option->kind != ALO_OPTION_REFUSED;
}

static alo_exit store_number(const alo_option *option, int64_t *number, const char *name,
                             const char *value) {
  char *end = NULL;
  errno = 0;
  intmax_t read = strtoimax(value, &end, 10);
  if (end == value || *end != '\0' || errno != 0 || read < option->min || read > option->max)
    return alo_report_usage("%s wants a whole number from %" PRId64 " to %" PRId64 ", not '%s'",
                            name, option->min, option->max, value);
  *number = read;
  return ALO_EXIT_OK;
}

static alo_exit store_list(alo_option_list *list, const char *name, const char *value) {
  if (list->count == ALO_OPTION_LIST_MAX)
    return alo_report_usage("%s is given more than %d times", name, ALO_OPTION_LIST_MAX);
  list->items[list->count++] = value;
  return ALO_EXIT_OK;
}

static alo_exit store_secret(alo_secret *secret, const char *name, char *value) {
  if (alo_secret_take(secret, value))
    return ALO_EXIT_OK;
  return alo_report_usage("%s is longer than %d bytes", name, ALO_SECRET_SIZE_MAX);
}

/* The URL is kept whole; what stands before its "@" is overwritten in the argument. */
static alo_exit store_url(alo_secret *secret, const char *name, char *value) {
  char *begin = strstr(value, "://");
  begin = begin != NULL ? begin + 3 : value;
  char *end = strrchr(begin, '@');
  char *copy = strdup(value);
  if (copy == NULL) {
    alo_report("out of memory");
    return ALO_EXIT_LOCAL;
  }
  alo_exit code = store_secret(secret, name, copy);
  free(copy);
  for (; end != NULL && begin < end; begin++)
    *begin = 'x';
  return code;
}

/* `name` is the option as spelled, or the environment variable. */
static alo_exit store(const alo_option_group *group, const alo_option *option, const char *name,
                      char *value) {
  void *target = member(group, option);
  switch (option->kind) {
  case ALO_OPTION_FLAG:
    *(bool *)target = true;
    return ALO_EXIT_OK;
  case ALO_OPTION_SECRET:
    return store_secret(target, name, value);
  case ALO_OPTION_URL:
    return store_url(target, name, value);
  case ALO_OPTION_LIST:
    return store_list(target, name, value);
  case ALO_OPTION_NUMBER:
    return store_number(option, target, name, value);
  case ALO_OPTION_DURATION:
    if (alo_duration_parse(value, target))
      return ALO_EXIT_OK;
    return alo_report_usage("%s wants a duration such as 5s, 250ms or 1m30s, not '%s'", name,
                            value);
  case ALO_OPTION_TEXT:
    if (value[0] == '\0')
      return alo_report_usage("%s is empty: give %s, or leave it out", name, option->value);
    *(const char **)target = value;
    return ALO_EXIT_OK;
  default:
    *(const char **)target = value;
    return ALO_EXIT_OK;
  }
}

static alo_exit refuse(const alo_option *option, const char *typed) {
  return alo_report_usage("%s is not available: %s", typed, option->help);
}

/* `value` is what was attached ("--name=value", "-nvalue"); NULL: nothing. */
static alo_exit take(arguments *scan, match found, const char *typed, char *value) {
  static char none[] = "";
  const alo_option *option = found.option;
  if (option->kind == ALO_OPTION_REFUSED)
    return refuse(option, typed);
  if (!takes_value(option) && value != NULL)
    return alo_report_usage("%s takes no value", typed);
  if (takes_value(option) && value == NULL) {
    bool more = scan->at < scan->argc;
    if (option->kind == ALO_OPTION_DEFAULT && (!more || scan->argv[scan->at][0] == '-'))
      value = none;
    else if (!more)
      return alo_report_usage("%s wants a value: %s", typed, option->value);
    else
      value = scan->argv[scan->at++];
  }
  found.group->given |= UINT64_C(1) << (unsigned)(option - found.group->options);
  return store(found.group, option, typed, value);
}

static alo_exit read_long(arguments *scan, char *argument) {
  char typed[64];
  char *equals = strchr(argument, '=');
  size_t size = equals != NULL ? (size_t)(equals - argument) : strlen(argument);
  if (size == 4 && memcmp(argument, "help", 4) == 0) {
    scan->line->help = true;
    return ALO_EXIT_OK;
  }
  match found = find_name(scan->line, argument, size);
  if (found.option == NULL)
    return unknown_name(scan->line, argument, size);
  return take(scan, found, spell(found.option, typed), equals != NULL ? equals + 1 : NULL);
}

static alo_exit read_letters(arguments *scan, char *letters) {
  for (; *letters != '\0' && !scan->line->help; letters++) {
    char typed[3] = {'-', *letters, '\0'};
    match found = find_letter(scan->line, *letters);
    if (found.option == NULL && (*letters == 'h' || *letters == '?')) {
      scan->line->help = true;
      return ALO_EXIT_OK;
    }
    if (found.option == NULL)
      return alo_report_usage("unknown option %s", typed);
    char *attached = takes_value(found.option) && letters[1] != '\0' ? letters + 1 : NULL;
    alo_exit code = take(scan, found, typed, attached);
    if (code != ALO_EXIT_OK || attached != NULL)
      return code;
  }
  return ALO_EXIT_OK;
}

static alo_exit read_operand(arguments *scan, char *argument) {
  alo_command_line *line = scan->line;
  if (scan->operand_count == 2 || line->arguments[scan->operand_count] == NULL)
    return alo_report_usage("too many arguments: '%s'%s", argument,
                            scan->operand_count > 0 ? "; put text with blanks in quotes" : "");
  line->operands[scan->operand_count++] = argument;
  return ALO_EXIT_OK;
}

static alo_exit read_argument(arguments *scan) {
  char *argument = scan->argv[scan->at++];
  if (scan->operands_only || argument[0] != '-' || argument[1] == '\0')
    return read_operand(scan, argument);
  if (argument[1] != '-')
    return read_letters(scan, argument + 1);
  if (argument[2] == '\0') {
    scan->operands_only = true;
    return ALO_EXIT_OK;
  }
  return read_long(scan, argument + 2);
}

static alo_exit take_environment(const alo_option_group *group, const alo_option *option) {
  char *value = getenv(option->environment);
  if (value == NULL || value[0] == '\0')
    return ALO_EXIT_OK;
  if (option->kind == ALO_OPTION_REFUSED)
    return alo_report_usage("%s is set in the environment, but %s; unset it", option->environment,
                            option->help);
  alo_exit code = store(group, option, option->environment, value);
  if (option->kind == ALO_OPTION_SECRET || option->kind == ALO_OPTION_URL)
    unsetenv(option->environment);
  return code;
}

static alo_exit read_environment(alo_command_line *line) {
  for (size_t g = 0; g < line->group_count; g++) {
    const alo_option_group *group = &line->groups[g];
    for (size_t i = 0; i < group->count; i++) {
      bool given = (group->given >> i & 1) != 0;
      alo_exit code = ALO_EXIT_OK;
      if (group->options[i].environment != NULL && !given)
        code = take_environment(group, &group->options[i]);
      if (code != ALO_EXIT_OK)
        return code;
    }
  }
  return ALO_EXIT_OK;
}

alo_exit alo_command_line_read(alo_command_line *line, int argc, char **argv) {
  arguments scan = {.line = line, .argv = argv, .argc = argc, .at = 1};
  while (scan.at < argc) {
    alo_exit code = read_argument(&scan);
    if (code != ALO_EXIT_OK || line->help)
      return code;
  }
  if (scan.operand_count < line->required)
    return alo_report_usage("%s is missing", line->arguments[scan.operand_count]);
  return read_environment(line);
}

bool alo_option_given(const alo_option_group *group, const char *name) {
  for (size_t i = 0; i < group->count; i++) {
    const alo_option *option = &group->options[i];
    bool same = option->name != NULL ? strcmp(option->name, name) == 0
                                     : option->letter == name[0] && name[1] == '\0';
    if (same)
      return (group->given >> i & 1) != 0;
  }
  return false;
}
