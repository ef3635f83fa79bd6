/* FreeTDS db-lib as the benchmarks use it: TDS 7.4, texts as UTF-8, no configuration of anybody. */
#ifndef ALO_DBLIB_CONNECT_H
#define ALO_DBLIB_CONNECT_H

#include <sybdb.h>

/* At most so many connections. */
void alo_dblib_begin(int processes);

/* To "HOST:PORT". From any thread. */
DBPROCESS *alo_dblib_connect(const char *server);

/* Says what failed and ends the process. */
_Noreturn void alo_dblib_fail(const char *what);

#endif
