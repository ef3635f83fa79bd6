#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "nearest.h"
#include "option.h"
#include "report.h"

typedef struct command_entry {
  const char *name, *alias;
  int (*run)(int argc, char **argv);
  const char *summary;
} command_entry;

static const command_entry entries[] = {
    {"request", "req", alo_command_request, "send a NATS request and print the reply"},
    {"reply", NULL, alo_command_reply, "answer NATS requests"},
    {"pub", "publish", alo_command_pub, "publish NATS messages"},
    {"sub", "subscribe", alo_command_sub, "print NATS messages as they come"},
    {"sql", NULL, alo_command_sql, "run SQL on a SQL Server and print the rows"},
    {"gateway", NULL, alo_command_gateway, "answer NATS requests from SQL files"},
    {"lite", NULL, alo_command_lite, "serve a SQLite database to SQL Server clients"},
    {"bench", NULL, alo_command_bench, "measure what operations cost"},
    {"version", NULL, alo_command_version, "print the version"},
    {"help", NULL, alo_command_help, "explain a command"},
};

enum { ENTRY_COUNT = sizeof entries / sizeof entries[0] };

static const command_entry *find_entry(const char *name) {
  for (size_t i = 0; i < ENTRY_COUNT; i++) {
    const char *alias = entries[i].alias;
    if (strcmp(entries[i].name, name) == 0 || (alias != NULL && strcmp(alias, name) == 0))
      return &entries[i];
  }
  return NULL;
}

static void print_overview(FILE *file) {
  fprintf(file, "Usage: aloft COMMAND [ARGUMENT...]\n\n"
                "NATS and Microsoft SQL Server at the shell.\n\nCommands:\n");
  for (size_t i = 0; i < ENTRY_COUNT; i++)
    fprintf(file, "  %-9s %s\n", entries[i].name, entries[i].summary);
  fprintf(file, "\n\"aloft COMMAND --help\" explains each; aloft(1) lists the exit status.\n");
}

static int unknown_command(const char *name) {
  alo_nearest nearest = {0};
  for (size_t i = 0; i < ENTRY_COUNT; i++)
    alo_nearest_try(&nearest, name, entries[i].name);
  if (nearest.word != NULL)
    return (int)alo_report_usage("unknown command '%s': did you mean %s?", name, nearest.word);
  return (int)alo_report_usage("unknown command '%s'", name);
}

int alo_command_help(int argc, char **argv) {
  static char help[] = "--help";
  if (argc < 2 || argv[1][0] == '-') {
    print_overview(stdout);
    return ALO_EXIT_OK;
  }
  const command_entry *entry = find_entry(argv[1]);
  if (entry == NULL)
    return unknown_command(argv[1]);
  if (entry->run == alo_command_help) {
    print_overview(stdout);
    return ALO_EXIT_OK;
  }
  char *arguments[] = {argv[1], help, NULL};
  return entry->run(2, arguments);
}

/* A standard descriptor that is closed would be given to the next file or socket opened, and what
 * is printed would go there. Standard output is held so that writing to it fails. */
static void hold_standard_descriptors(void) {
  static const int modes[] = {O_RDONLY, O_RDONLY, O_WRONLY};
  for (int i = 0; i < 3; i++) {
    if (fcntl(i, F_GETFD) < 0 && errno == EBADF && open("/dev/null", modes[i]) < 0)
      _exit(ALO_EXIT_LOCAL);
  }
}

static int run_command(int argc, char **argv) {
  const char *name = argv[1];
  if (strcmp(name, "--version") == 0)
    name = "version";
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "-?") == 0)
    name = "help";
  const command_entry *entry = find_entry(name);
  return entry != NULL ? entry->run(argc - 1, argv + 1) : unknown_command(name);
}

int main(int argc, char **argv) {
  hold_standard_descriptors();
  if (argc < 2) {
    print_overview(stderr);
    return ALO_EXIT_USAGE;
  }
  int code = run_command(argc, argv);
  /* --help and version print without an output of their own. */
  if (fflush(stdout) != 0 && errno != EPIPE && code == ALO_EXIT_OK) {
    alo_report("standard output: %s", strerror(errno));
    return ALO_EXIT_LOCAL;
  }
  return code;
}
