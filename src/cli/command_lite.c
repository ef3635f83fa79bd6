#include "command.h"

#include <string.h>

#include "lite.h"
#include "option.h"
#include "report.h"

typedef struct lite_values {
  const char *listen, *user, *password_file, *database;
  const char *tls, *certificate_file, *key_file, *certificate_out;
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
    {.name = "tls",
     .kind = ALO_OPTION_TEXT,
     .value = "WHO",
     .help = "Which clients are served: optional, the default: each as it asks, with TLS or "
             "without; required: those that encrypt everything; strict: those that begin with "
             "TLS, as TDS 8.0 has it; off: there is no TLS.",
     .offset = AT(tls)},
    {.name = "tlscert",
     .kind = ALO_OPTION_TEXT,
     .value = "FILE",
     .help = "The certificate to show, and those that vouch for it (PEM); by default one is made "
             "at start, for localhost, the address of --listen and this machine's name.",
     .offset = AT(certificate_file)},
    {.name = "tlskey",
     .kind = ALO_OPTION_TEXT,
     .value = "FILE",
     .help = "The private key of --tlscert (PEM, without a passphrase).",
     .offset = AT(key_file)},
    {.name = "tlscert-out",
     .kind = ALO_OPTION_TEXT,
     .value = "FILE",
     .help = "Write the certificate that is made to FILE, for clients to trust (aloft sql "
             "--ca-file FILE); an old one is replaced.",
     .offset = AT(certificate_out)},
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

static const char *const tls_words[] = {[ALO_LITE_TLS_OFF] = "off",
                                        [ALO_LITE_TLS_OPTIONAL] = "optional",
                                        [ALO_LITE_TLS_REQUIRED] = "required",
                                        [ALO_LITE_TLS_STRICT] = "strict"};

static alo_exit check_tls(const lite_values *values, alo_lite_tls *tls) {
  size_t at = 0;
  while (at < sizeof tls_words / sizeof *tls_words && strcmp(tls_words[at], values->tls) != 0)
    at++;
  if (at == sizeof tls_words / sizeof *tls_words)
    return alo_report_usage("--tls wants off, optional, required or strict, not '%s'", values->tls);
  *tls = (alo_lite_tls)at;
  if ((values->certificate_file == NULL) != (values->key_file == NULL))
    return alo_report_usage("--tlscert and --tlskey belong together: give both");
  if (values->certificate_file != NULL && values->certificate_out != NULL)
    return alo_report_usage("--tlscert-out writes the certificate that is made at start: leave it "
                            "out, clients can trust the file of --tlscert");
  if (*tls == ALO_LITE_TLS_OFF && (values->certificate_file || values->certificate_out))
    return alo_report_usage("a certificate has no meaning with --tls off");
  return ALO_EXIT_OK;
}

static alo_exit serve(const lite_values *values, const char *path, alo_secret *password) {
  char error[ALO_LITE_ERROR_MAX];
  alo_lite_tls tls = ALO_LITE_TLS_OPTIONAL;
  alo_exit code = check_tls(values, &tls);
  if (code != ALO_EXIT_OK)
    return code;
  const alo_lite_settings settings = {.path = path,
                                      .listen = values->listen,
                                      .user = values->user,
                                      .name = values->database,
                                      .password = password->data,
                                      .password_size = password->size,
                                      .verbose = values->verbose,
                                      .tls = tls,
                                      .certificate_file = values->certificate_file,
                                      .key_file = values->key_file,
                                      .certificate_out = values->certificate_out};
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
  lite_values values = {.listen = "127.0.0.1:0", .tls = "optional"};
  alo_secret password = {.data = NULL};
  alo_option_group group = {.title = "Options",
                            .options = lite_options,
                            .count = sizeof lite_options / sizeof lite_options[0],
                            .values = &values};
  alo_command_line line = {
      .synopsis = "aloft lite [OPTION...] FILE",
      .summary = "Serves a SQLite file to SQL Server clients (TDS 7.3, 7.4 and 8.0).",
      .notes = "FILE is created if absent; \":memory:\" is a database that ends with the server. "
               "Prints its certificate's fingerprint, and \"listening on ADDRESS:PORT\" when it "
               "is ready. SIGINT and SIGTERM stop it. "
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
