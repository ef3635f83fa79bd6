/* SQL Server's error numbers that lite gives, with severity, state, reach and text. */
#ifndef ALO_TSQL_ERROR_H
#define ALO_TSQL_ERROR_H

#include "tsql_context.h"

/* Never shown: another session holds the database; the caller of the engine asked to stop. */
enum { TSQL_ERROR_STOPPED = -2, TSQL_ERROR_BUSY = -1 };

typedef struct tsql_error_kind {
  int32_t number;
  uint8_t severity;
  uint8_t state;
  tsql_reach reach;
  const char *text; /* of printf; texts are passed as ALOFT_PRINT, for "%.*s" */
} tsql_error_kind;

/* Every number that is thrown is in the table; another gives that of 50000. */
const tsql_error_kind *alo_tsql_error_kind(int number);
/* The table, in ascending order. */
const tsql_error_kind *alo_tsql_error_table(size_t *count);

#endif
