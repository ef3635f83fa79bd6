#include "sql_settings.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "report.h"

#define AT(member)  offsetof(alo_sql_settings, member)
#define NO_COMMANDS "there are no commands that could reach the system"

static const alo_option sql_options[] = {
    {.name = "server",
     .letter = 'S',
     .kind = ALO_OPTION_TEXT,
     .value = "SERVER",
     .help = "The server: HOST, HOST,PORT or tcp:HOST,PORT; by default localhost.",
     .environment = "SQLCMDSERVER",
     .offset = AT(server)},
    {.name = "user-name",
     .letter = 'U',
     .kind = ALO_OPTION_TEXT,
     .value = "NAME",
     .help = "Log in as this user.",
     .environment = "SQLCMDUSER",
     .offset = AT(user)},
    {.name = "password",
     .letter = 'P',
     .kind = ALO_OPTION_SECRET,
     .value = "TEXT",
     .help = "The user's password. Better in the environment or a file: others can see a command "
             "line until it is overwritten.",
     .environment = "SQLCMDPASSWORD",
     .offset = AT(password)},
    {.name = "password-file",
     .kind = ALO_OPTION_TEXT,
     .value = "FILE",
     .help = "Read the password from FILE, one line.",
     .offset = AT(password_file)},
    {.name = "database-name",
     .letter = 'd',
     .kind = ALO_OPTION_TEXT,
     .value = "NAME",
     .help = "The database to begin in.",
     .environment = "SQLCMDDBNAME",
     .offset = AT(database)},
    {.name = "encrypt-connection",
     .letter = 'N',
     .kind = ALO_OPTION_DEFAULT,
     .value = "HOW",
     .help = "mandatory, optional (only the login, where the server can; all where it insists) or "
             "strict (TLS before anything else). Without the option and without HOW: mandatory.",
     .offset = AT(encrypt)},
    {.name = "trust-server-certificate",
     .letter = 'C',
     .kind = ALO_OPTION_FLAG,
     .help = "Do not verify the server's certificate. It is verified all the same with -Nstrict "
             "and with -J.",
     .offset = AT(trust_certificate)},
    {.name = "host-name-in-certificate",
     .letter = 'F',
     .kind = ALO_OPTION_TEXT,
     .value = "NAME",
     .help = "The name to look for in the server's certificate; by default the server's.",
     .offset = AT(certificate_host)},
    {.name = "server-certificate",
     .letter = 'J',
     .kind = ALO_OPTION_TEXT,
     .value = "FILE",
     .help = "The server's certificate has to be the one in FILE (PEM or DER); no authority and no "
             "name is looked for then.",
     .offset = AT(server_certificate)},
    {.name = "ca-file",
     .kind = ALO_OPTION_TEXT,
     .value = "FILE",
     .help = "Trust the authorities in FILE (PEM), in place of the system's.",
     .offset = AT(ca_file)},
    {.name = "verbose",
     .kind = ALO_OPTION_FLAG,
     .help = "Tell on standard error how the connection is encrypted, and what certificate the "
             "server has shown.",
     .offset = AT(verbose)},
    {.name = "login-timeout",
     .letter = 'l',
     .kind = ALO_OPTION_NUMBER,
     .value = "SECONDS",
     .help = "How long connecting may take; by default 15.",
     .offset = AT(login_timeout),
     .min = 1,
     .max = 65534},
    {.name = "packet-size",
     .letter = 'a',
     .kind = ALO_OPTION_NUMBER,
     .value = "BYTES",
     .help = "The size of packets to ask for.",
     .offset = AT(packet_size),
     .min = 512,
     .max = 32767},
    {.name = "workstation-name",
     .letter = 'H',
     .kind = ALO_OPTION_TEXT,
     .value = "NAME",
     .help = "The name of this machine, for the server.",
     .offset = AT(workstation)},
    {.name = "query",
     .letter = 'Q',
     .kind = ALO_OPTION_LIST,
     .value = "SQL",
     .help = "Run SQL and end; may be given several times.",
     .offset = AT(queries)},
    {.name = "initial-query",
     .letter = 'q',
     .kind = ALO_OPTION_TEXT,
     .value = "SQL",
     .help = "Run SQL before standard input is read.",
     .offset = AT(first_query)},
    {.name = "input-file",
     .letter = 'i',
     .kind = ALO_OPTION_LIST,
     .value = "FILE",
     .help = "Run the script FILE; may be given several times. Without -Q and -i the script is "
             "read from standard input.",
     .offset = AT(files)},
    {.name = "batch-terminator",
     .letter = 'c',
     .kind = ALO_OPTION_TEXT,
     .value = "WORD",
     .help = "The word that ends a batch, alone on its line; by default GO.",
     .offset = AT(terminator)},
    {.name = "disable-variable-substitution",
     .letter = 'x',
     .kind = ALO_OPTION_FLAG,
     .help = "Send $(NAME) as it is. There are no variables; without -x it is an error.",
     .offset = AT(dollar_is_text)},
    {.name = "query-timeout",
     .letter = 't',
     .kind = ALO_OPTION_NUMBER,
     .value = "SECONDS",
     .help = "How long each batch may take; 0, the default: as long as it needs.",
     .offset = AT(query_timeout),
     .min = 0,
     .max = 65534},
    {.name = "exit-on-error",
     .letter = 'b',
     .kind = ALO_OPTION_FLAG,
     .help = "Stop at the first batch with an error of severity above 10, with exit status 1.",
     .offset = AT(stop_on_error)},
    {.name = "error-level",
     .letter = 'm',
     .kind = ALO_OPTION_NUMBER,
     .value = "SEVERITY",
     .help = "Show only messages of at least this severity.",
     .offset = AT(message_level),
     .min = -1,
     .max = 25},
    {.name = "quoted-identifiers",
     .letter = 'I',
     .kind = ALO_OPTION_FLAG,
     .help = "Quoted identifiers are on; they always are.",
     .offset = AT(quoted_identifiers)},
    {.name = "format",
     .kind = ALO_OPTION_TEXT,
     .value = "FORMAT",
     .help = "table, csv, json (an array of row objects per result set) or ndjson (an object per "
             "line); by default table.",
     .offset = AT(format_name)},
    {.name = "output-file",
     .letter = 'o',
     .kind = ALO_OPTION_TEXT,
     .value = "FILE",
     .help = "Write the rows to FILE.",
     .offset = AT(output)},
    {.name = "headers",
     .letter = 'h',
     .kind = ALO_OPTION_NUMBER,
     .value = "ROWS",
     .help = "Print the column names again after each ROWS rows; 0, the default: once; -1: not at "
             "all.",
     .offset = AT(style.headers),
     .min = -1,
     .max = INT32_MAX},
    {.name = "column-separator",
     .letter = 's',
     .kind = ALO_OPTION_ANY_TEXT,
     .value = "TEXT",
     .help = "What stands between columns of a table; by default a blank.",
     .offset = AT(style.separator)},
    {.name = "screen-width",
     .letter = 'w',
     .kind = ALO_OPTION_NUMBER,
     .value = "CHARACTERS",
     .help = "Break the lines of a table after this many characters.",
     .offset = AT(style.width),
     .min = 9,
     .max = 65535},
    {.name = "trim-spaces",
     .letter = 'W',
     .kind = ALO_OPTION_FLAG,
     .help = "Do not pad the columns of a table, and drop blanks at the end of values.",
     .offset = AT(style.trim)},
    {.name = "use-trusted-connection",
     .letter = 'E',
     .kind = ALO_OPTION_REFUSED,
     .help = "integrated login is not part of this version; give -U and a password"},
    {.name = "variables",
     .letter = 'v',
     .kind = ALO_OPTION_REFUSED,
     .help = "there are no variables; let the shell put the values into -Q"},
    {.name = "errorlevel",
     .letter = 'V',
     .kind = ALO_OPTION_REFUSED,
     .help = "-b gives exit status 1 for any severity above 10"},
    {.name = "errors-to-stderr",
     .letter = 'r',
     .kind = ALO_OPTION_REFUSED,
     .help = "all messages go to standard error already; leave it out"},
    {.name = "variable-type-width",
     .letter = 'y',
     .kind = ALO_OPTION_REFUSED,
     .help = "values are never cut; use -W for narrow output"},
    {.name = "fixed-type-width",
     .letter = 'Y',
     .kind = ALO_OPTION_REFUSED,
     .help = "values are never cut; use -W for narrow output"},
    {.name = "echo-input",
     .letter = 'e',
     .kind = ALO_OPTION_REFUSED,
     .help = "print the script with cat"},
    {.name = "remove-control-characters",
     .letter = 'k',
     .kind = ALO_OPTION_REFUSED,
     .help = "values are printed as they are; use --format json, which escapes them"},
    {.name = "unicode-output-file",
     .letter = 'u',
     .kind = ALO_OPTION_REFUSED,
     .help = "output is UTF-8; convert it with iconv"},
    {.name = "code-page",
     .letter = 'f',
     .kind = ALO_OPTION_REFUSED,
     .help = "input and output are UTF-8; convert them with iconv"},
    {.name = "client-regional-setting",
     .letter = 'R',
     .kind = ALO_OPTION_REFUSED,
     .help = "values have one canonical form"},
    {.name = "print-statistics", .letter = 'p', .kind = ALO_OPTION_REFUSED, .help = "use time(1)"},
    {.name = "disable-cmd", .letter = 'X', .kind = ALO_OPTION_REFUSED, .help = NO_COMMANDS},
    {.name = "list-servers",
     .letter = 'L',
     .kind = ALO_OPTION_REFUSED,
     .help = "servers are not searched for; name one with -S"},
    {.name = "dedicated-admin-connection",
     .letter = 'A',
     .kind = ALO_OPTION_REFUSED,
     .help = "name the administrator's port: -S tcp:HOST,PORT"},
    {.name = "application-intent",
     .letter = 'K',
     .kind = ALO_OPTION_REFUSED,
     .help = "read-only routing is not part of this version"},
    {.name = "use-aad",
     .letter = 'G',
     .kind = ALO_OPTION_REFUSED,
     .help = "only logins with user and password are part of this version"},
    {.name = "change-password",
     .letter = 'z',
     .kind = ALO_OPTION_REFUSED,
     .help = "use ALTER LOGIN"},
    {.name = "change-password-exit",
     .letter = 'Z',
     .kind = ALO_OPTION_REFUSED,
     .help = "use ALTER LOGIN"},
};

alo_option_group alo_sql_option_group(alo_sql_settings *settings) {
  _Static_assert(sizeof sql_options / sizeof sql_options[0] <= 64, "one bit each in `given`");
  *settings = (alo_sql_settings){
      .server = "localhost",
      .terminator = "GO",
      .format_name = "table",
      .style = {.separator = " "},
  };
  return (alo_option_group){.title = "Options",
                            .options = sql_options,
                            .count = sizeof sql_options / sizeof sql_options[0],
                            .values = settings};
}

/* ---- checks ---- */

typedef struct encryption {
  const char *given, *spelled;
} encryption;

static const encryption encryptions[] = {
    {"", "Mandatory"},    {"mandatory", "Mandatory"}, {"m", "Mandatory"}, {"true", "Mandatory"},
    {"yes", "Mandatory"}, {"1", "Mandatory"},         {"t", "Mandatory"}, {"optional", "Optional"},
    {"o", "Optional"},    {"false", "Optional"},      {"no", "Optional"}, {"0", "Optional"},
    {"f", "Optional"},    {"strict", "Strict"},       {"s", "Strict"},
};

static const char *spell_encryption(const char *given) {
  if (given == NULL)
    return "Mandatory";
  for (size_t i = 0; i < sizeof encryptions / sizeof encryptions[0]; i++) {
    if (strcasecmp(encryptions[i].given, given) == 0)
      return encryptions[i].spelled;
  }
  return NULL;
}

static alo_exit check_style(const alo_sql_settings *settings, const alo_option_group *group) {
  static const char *const of_tables[] = {"column-separator", "screen-width", "trim-spaces"};
  const alo_sql_format *format = settings->format;
  if (format->is_table)
    return ALO_EXIT_OK;
  for (size_t i = 0; i < sizeof of_tables / sizeof of_tables[0]; i++) {
    if (alo_option_given(group, of_tables[i]))
      return alo_report_usage("--%s has a meaning only with --format table", of_tables[i]);
  }
  if (settings->style.headers > 0 || (alo_option_given(group, "headers") && !format->has_names))
    return alo_report_usage("--headers %s", format->has_names
                                                ? "of more than 0 has a meaning only with --format "
                                                  "table; for csv give 0 or -1"
                                                : "has a meaning only with --format table or csv");
  return ALO_EXIT_OK;
}

static alo_exit check_scripts(const alo_sql_settings *settings) {
  bool queries = settings->queries.count > 0, files = settings->files.count > 0;
  if (queries && files)
    return alo_report_usage("-Q and -i are given: use one of them");
  if (settings->first_query != NULL && (queries || files))
    return alo_report_usage("-q runs before standard input, which is not read with -Q or -i: put "
                            "it into the first -Q or file");
  return ALO_EXIT_OK;
}

static alo_exit check_password(alo_sql_settings *settings) {
  if (settings->user == NULL)
    return alo_report_usage("no user is given: add -U NAME, and a password in SQLCMDPASSWORD");
  if (settings->password_file != NULL) {
    alo_secret_wipe(&settings->password);
    if (!alo_secret_read_file(&settings->password, settings->password_file))
      return ALO_EXIT_LOCAL;
  }
  if (settings->password.data == NULL &&
      !alo_secret_prompt(&settings->password,
                         "Password: ", "set SQLCMDPASSWORD, or give --password-file"))
    return ALO_EXIT_USAGE;
  return ALO_EXIT_OK;
}

alo_exit alo_sql_settings_check(alo_sql_settings *settings, const alo_option_group *group) {
  settings->format = alo_sql_format_find(settings->format_name);
  if (settings->format == NULL)
    return alo_report_usage("--format wants table, csv, json or ndjson, not '%s'",
                            settings->format_name);
  if (spell_encryption(settings->encrypt) == NULL)
    return alo_report_usage("-N wants mandatory, optional or strict, not '%s'", settings->encrypt);
  if (alo_option_given(group, "password") && settings->password_file != NULL)
    return alo_report_usage("-P and --password-file are given: use one of them");
  alo_exit code = check_style(settings, group);
  if (code == ALO_EXIT_OK)
    code = check_scripts(settings);
  if (code == ALO_EXIT_OK)
    code = check_password(settings);
  return code;
}

/* ---- the connection string ---- */

typedef struct text_builder {
  char *text;
  size_t size, room;
} text_builder;

static void add_character(text_builder *builder, char c) {
  if (builder->size + 1 < builder->room)
    builder->text[builder->size] = c;
  builder->size++;
}

static void add(text_builder *builder, const char *text) {
  for (; *text != '\0'; text++)
    add_character(builder, *text);
}

static bool is_plain(const char *value) {
  size_t size = strlen(value);
  return size > 0 && value[0] != ' ' && value[size - 1] != ' ' && strpbrk(value, ";=\"'") == NULL;
}

/* "KEYWORD=value;". A value that could be misread stands in double quotes, those in it doubled. */
static void add_pair(text_builder *builder, const char *keyword, const char *value) {
  if (value == NULL)
    return;
  const char *quote = is_plain(value) ? "" : "\"";
  add(builder, keyword);
  add(builder, "=");
  add(builder, quote);
  for (; *value != '\0'; value++) {
    if (*value == '"')
      add_character(builder, '"');
    add_character(builder, *value);
  }
  add(builder, quote);
  add(builder, ";");
}

bool alo_sql_connection_string(const alo_sql_settings *settings,
                               char text[ALO_SQL_CONNECTION_STRING_MAX]) {
  char packet_size[16];
  text_builder builder = {.text = text, .room = ALO_SQL_CONNECTION_STRING_MAX};
  snprintf(packet_size, sizeof packet_size, "%d", (int)settings->packet_size);
  add_pair(&builder, "Server", settings->server);
  add_pair(&builder, "Database", settings->database);
  add_pair(&builder, "Encrypt", spell_encryption(settings->encrypt));
  add_pair(&builder, "TrustServerCertificate", settings->trust_certificate ? "True" : NULL);
  add_pair(&builder, "HostNameInCertificate", settings->certificate_host);
  add_pair(&builder, "ServerCertificate", settings->server_certificate);
  add_pair(&builder, "CA File", settings->ca_file);
  add_pair(&builder, "Workstation ID", settings->workstation);
  add_pair(&builder, "Packet Size", settings->packet_size > 0 ? packet_size : NULL);
  add_pair(&builder, "Application Name", "aloft");
  text[builder.size < builder.room ? builder.size : builder.room - 1] = '\0';
  if (builder.size < builder.room)
    return true;
  alo_report_usage("the names of server, database, workstation and files are too long together");
  return false;
}
