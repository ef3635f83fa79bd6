/* The options of aloft sql, those of sqlcmd. */
#ifndef ALO_SQL_SETTINGS_H
#define ALO_SQL_SETTINGS_H

#include "option.h"
#include "sql_format.h"

enum { ALO_SQL_CONNECTION_STRING_MAX = 4096 };

typedef struct alo_sql_settings {
  const char *server, *database, *user, *password_file, *encrypt, *workstation;
  alo_secret password;
  bool trust_certificate, verbose;
  const char *certificate_host, *server_certificate, *ca_file;
  int64_t login_timeout, packet_size;

  alo_option_list queries, files;
  const char *first_query, *terminator;
  bool dollar_is_text, stop_on_error, quoted_identifiers;
  int64_t query_timeout, message_level;

  const char *output, *format_name;
  alo_sql_style style;
  const alo_sql_format *format; /* of `format_name`, once checked */
} alo_sql_settings;

/* The group for the command's table, with the defaults set. `settings` [op]. */
alo_option_group alo_sql_option_group(alo_sql_settings *settings);

/* Looks for options that contradict each other or have no effect, asks for a missing password.
 * Reports what is wrong. */
alo_exit alo_sql_settings_check(alo_sql_settings *settings, const alo_option_group *group);

/* The connection string of everything but user and password, in SqlClient's spelling. False, and
 * reported: over ALO_SQL_CONNECTION_STRING_MAX. */
bool alo_sql_connection_string(const alo_sql_settings *settings,
                               char text[ALO_SQL_CONNECTION_STRING_MAX]);

#endif
