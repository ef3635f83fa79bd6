#include "option.h"

#include <stdio.h>
#include <string.h>

enum { HELP_COLUMN = 30, HELP_WIDTH = 80 };

/* Prints words, broken before HELP_WIDTH, each new line indented to `indent`. */
static void print_words(const char *text, int column, int indent) {
  for (bool first = true; *text != '\0'; first = false) {
    int size = (int)strcspn(text, " ");
    if (!first && column + 1 + size > HELP_WIDTH) {
      printf("\n%*s", indent, "");
      column = indent;
    } else if (!first) {
      printf(" ");
      column++;
    }
    printf("%.*s", size, text);
    column += size;
    text += size + (text[size] == ' ' ? 1 : 0);
  }
}

/* The left column, "-s, --server URL"; its width. */
static int print_names(const alo_option *option) {
  char names[96];
  int size = snprintf(names, sizeof names, "  ");
  if (option->letter != '\0')
    size += snprintf(names + size, sizeof names - (size_t)size, "-%c%s", option->letter,
                     option->name != NULL ? ", " : "");
  else
    size += snprintf(names + size, sizeof names - (size_t)size, "    ");
  if (option->name != NULL)
    size += snprintf(names + size, sizeof names - (size_t)size, "--%s", option->name);
  if (option->value != NULL && option->kind == ALO_OPTION_DEFAULT)
    size += snprintf(names + size, sizeof names - (size_t)size, "[=%s]", option->value);
  else if (option->value != NULL)
    size += snprintf(names + size, sizeof names - (size_t)size, " %s", option->value);
  fputs(names, stdout);
  return size;
}

static void print_option(const alo_option *option) {
  char text[512];
  if (option->environment != NULL)
    snprintf(text, sizeof text, "%s [%s]", option->help, option->environment);
  else
    snprintf(text, sizeof text, "%s", option->help);
  int column = print_names(option);
  if (column >= HELP_COLUMN) {
    printf("\n");
    column = 0;
  }
  printf("%*s", HELP_COLUMN - column, "");
  print_words(text, HELP_COLUMN, HELP_COLUMN);
  printf("\n");
}

void alo_command_line_help(const alo_command_line *line) {
  printf("Usage: %s\n\n", line->synopsis);
  print_words(line->summary, 0, 0);
  printf("\n");
  for (size_t g = 0; g < line->group_count; g++) {
    const alo_option_group *group = &line->groups[g];
    printf("\n%s:\n", group->title);
    for (size_t i = 0; i < group->count; i++) {
      if (group->options[i].kind != ALO_OPTION_REFUSED)
        print_option(&group->options[i]);
    }
  }
  printf("      --help                  Show this help.\n");
  if (line->notes != NULL) {
    printf("\n");
    print_words(line->notes, 0, 0);
    printf("\n");
  }
}
