/* One connection to a SQL Server that runs batches and prints what they answer. */
#ifndef ALO_SQL_SESSION_H
#define ALO_SQL_SESSION_H

#include <aloft/tds.h>

#include "report.h"
#include "sql_settings.h"

typedef struct alo_sql_session {
  const alo_sql_settings *settings;
  alo_output output;
  alo_sql_printer printer;
  aloft_loop *loop;
  aloft_tds *tds;
  aloft_cancel stop;

  aloft_tds_query query;
  bool done;
  alo_failure failure;
  bool had_set;    /* this batch has given a result set */
  bool in_set;     /* a result set has begun and not ended */
  int64_t counted; /* of query.rows_affected, what has been printed */
  const aloft_tds_column **columns;
  aloft_text *cells;
  size_t room; /* of both */
} alo_sql_session;

/* Opens the output and connects. Reports what failed; close in every case. The password in
 * `settings` [op: until close] is wiped when this returns. */
alo_exit alo_sql_session_open(alo_sql_session *session, alo_sql_settings *settings);

/* Runs one batch [call] and prints its answer. ALO_EXIT_ANSWER: an error of severity above 10,
 * printed; the session is usable. Another status: the session is at its end, as reported. */
alo_exit alo_sql_session_run(alo_sql_session *session, aloft_text batch);

/* Closes all and returns `code`, or what went wrong with the output. */
alo_exit alo_sql_session_close(alo_sql_session *session, alo_exit code);

#endif
