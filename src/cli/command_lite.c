#include "command.h"

#include <string.h>

#include "lite.h"
#include "option.h"
#include "report.h"

typedef struct lite_values {
  const char *listen, *user, *password_file, *database;
  bool verbose;
} lite_values;

#define AT(member) offsetof(lite_values, member)

static const alo_option lite_options[] = {
    {.name = "user",
     .kind = ALO_OPTION_TEXT,
     .value = "NAME",
     .help = "The user who may log in; required.",
     .offset = AT(user)},
    {.name = "listen",
     .kind = ALO_OPTION_TEXT,
     .value = "ADDRESS:PORT",
     .help = "Where to listen: a numeric address, as 127.0.0.1:1433 or [::1]:0; port 0 takes one "
             "that is free. By default 127.0.0.1:0.",
     .offset = AT(listen)},
    {.name = "password-file",
     .kind = ALO_OPTION_TEXT,
     .value = "FILE",
     .help = "Read the user's password from FILE, one line, in place of ALOFT_LITE_PASSWORD.",
     .offset = AT(password_file)},
    {.name = "database",
     .kind = ALO_OPTION_TEXT,
     .value = "NAME",
     .help = "The name that clients know the database by; by default the file's, without its "
             "extension.",
     .offset = AT(database)},
    {.name = "verbose",
     .kind = ALO_OPTION_FLAG,
     .help = "Write a line to standard error for each statement, and for each one that an "
             "ATTENTION has stopped.",
     .offset = AT(verbose)},
};

static alo_exit read_password(const lite_values *values, alo_secret *password) {
  if (!alo_secret_take_environment(password, "ALOFT_LITE_PASSWORD"))
    return alo_report_usage("the password in ALOFT_LITE_PASSWORD is too long");
  if (values->password_file != NULL) {
    alo_secret_wipe(password);
    return alo_secret_read_file(password, values->password_file) ? ALO_EXIT_OK : ALO_EXIT_USAGE;
  }
  if (password->data == NULL)
    return alo_report_usage("no password: set ALOFT_LITE_PASSWORD, or give --password-file");
  return ALO_EXIT_OK;
}

static alo_exit serve(const lite_values *values, const char *path, alo_secret *password) {
  char error[ALO_LITE_ERROR_MAX];
  const alo_lite_settings settings = {.path = path,
                                      .listen = values->listen,
                                      .user = values->user,
                                      .name = values->database,
                                      .password = password->data,
                                      .password_size = password->size,
                                      .verbose = values->verbose};
  switch (alo_lite_serve(&settings, error)) {
  case ALO_LITE_STOPPED:
    return ALO_EXIT_OK;
  case ALO_LITE_WRONG:
    return alo_report_usage("%s", error);
  default:
    alo_report("%s", error);
    return ALO_EXIT_CONNECTION;
  }
}

int alo_command_lite(int argc, char **argv) {
  lite_values values = {.listen = "127.0.0.1:0"};
  alo_secret password = {.data = NULL};
  alo_option_group group = {.title = "Options",
                            .options = lite_options,
                            .count = sizeof lite_options / sizeof lite_options[0],
                            .values = &values};
  alo_command_line line = {
      .synopsis = "aloft lite [OPTION...] FILE",
      .summary = "Serves a SQLite file to SQL Server clients (TDS 7.3 and 7.4, without TLS).",
      .notes = "FILE is created if absent; \":memory:\" is a database that ends with the server. "
               "Prints \"listening on ADDRESS:PORT\" when it is ready. SIGINT and SIGTERM stop it. "
               "The password comes from ALOFT_LITE_PASSWORD. docs/lite.md says which T-SQL it "
               "understands.",
      .groups = &group,
      .group_count = 1,
      .arguments = {"FILE"},
      .required = 1,
  };
  alo_report_name("aloft lite");
  alo_exit code = alo_command_line_read(&line, argc, argv);
  if (code == ALO_EXIT_OK && line.help) {
    alo_command_line_help(&line);
    return ALO_EXIT_OK;
  }
  if (code == ALO_EXIT_OK && values.user == NULL)
    code = alo_report_usage("no user is given: add --user NAME, who may log in");
  if (code == ALO_EXIT_OK)
    code = read_password(&values, &password);
  if (code == ALO_EXIT_OK)
    code = serve(&values, line.operands[0], &password);
  alo_secret_wipe(&password);
  return (int)code;
}
