/* The SQL Server that ALOFT_TEST_SQLSERVER names, as a connection string:
 * "Server=tcp:host,port;User Id=...;Password=...;Database=...;Encrypt=Optional". */
#ifndef ALO_E2E_SQL_SERVER_H
#define ALO_E2E_SQL_SERVER_H

#include <stdbool.h>

/* NULL: none is named. */
const char *e2e_sql_server(void);

enum { E2E_SQL_VALUE_MAX = 256 };

typedef struct e2e_sql_login {
  char server[E2E_SQL_VALUE_MAX], user[E2E_SQL_VALUE_MAX], password[E2E_SQL_VALUE_MAX],
      database[E2E_SQL_VALUE_MAX]; /* empty: not given */
} e2e_sql_login;

/* Takes the parts that aloft sql has options for; another keyword is left to the library. */
e2e_sql_login e2e_sql_login_of(const char *connection_string);

#endif
