#include "e2e_sql_server.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *e2e_sql_server(void) {
  const char *given = getenv("ALOFT_TEST_SQLSERVER");
  return given && *given ? given : NULL;
}

static const char *take_value(const char *at, char *value) {
  char quote = *at == '\'' || *at == '"' ? *at++ : 0;
  size_t size = 0;
  while (*at && (quote ? *at != quote || at[1] == quote : *at != ';')) {
    at += quote && *at == quote; /* doubled */
    if (size + 1 < E2E_SQL_VALUE_MAX)
      value[size++] = *at;
    at++;
  }
  value[size] = 0;
  at += strcspn(at, ";");
  return *at ? at + 1 : at;
}

static char *place_of(e2e_sql_login *login, const char *keyword, size_t size) {
  const struct {
    const char *keyword;
    char *place;
  } known[] = {{"Server", login->server},
               {"Data Source", login->server},
               {"User Id", login->user},
               {"UID", login->user},
               {"User", login->user},
               {"Password", login->password},
               {"PWD", login->password},
               {"Database", login->database},
               {"Initial Catalog", login->database}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (strlen(known[i].keyword) == size && strncasecmp(known[i].keyword, keyword, size) == 0)
      return known[i].place;
  return NULL;
}

e2e_sql_login e2e_sql_login_of(const char *string) {
  e2e_sql_login login;
  memset(&login, 0, sizeof login);
  while (*string) {
    size_t keyword = strcspn(string, "=;");
    char other[E2E_SQL_VALUE_MAX];
    char *place = place_of(&login, string, keyword);
    string += keyword;
    if (*string != '=')
      string += *string == ';';
    else
      string = take_value(string + 1, place ? place : other);
  }
  return login;
}
