/* One concurrent task of the Fortunes benchmark: it executes the query over and over, and each time
 * checks the rows. What is not as it should be ends the process with a message and status 1. */
#ifndef ALO_FORTUNE_TASK_H
#define ALO_FORTUNE_TASK_H

#include <aloft/tds.h>

#include "fortunes.h"

typedef struct alo_fortune_task alo_fortune_task;

struct alo_fortune_task {
  aloft_tds_query query;
  aloft_tds_acquire acquire;
  aloft_tds_pool *pool; /* of what is not caching */
  aloft_tds *tds;       /* caching: its own connection; otherwise while it executes */
  void (*executed)(alo_fortune_task *task); /* after each execution of an asynchronous one */
  void *owner;
  alo_fortune_list list;
  alo_fortune rows[ALO_FORTUNES];
};

/* Says what failed and ends the process. `error` may be NULL. */
_Noreturn void alo_fortunes_fail(const char *what, aloft_status status, const aloft_error *error);

/* ALOFT_BENCH_TDS of the environment: a connection string, which may hold a password and so does
 * not stand in a command line. */
aloft_text alo_fortunes_connection(void);

/* Connects and waits until the connection is ready. */
aloft_tds *alo_fortunes_connect(aloft_loop *loop);
/* Of at most so many connections. */
aloft_tds_pool *alo_fortunes_pool(aloft_loop *loop, uint32_t connections);

/* A task on its own connection, or, if `pool` is given, on one of the pool's for each execution. */
void alo_fortune_task_init(alo_fortune_task *task, aloft_tds *tds, aloft_tds_pool *pool);

/* Begins an execution; `executed` is called when it is over. */
void alo_fortune_task_start(alo_fortune_task *task);

/* Executes once, blocking. */
void alo_fortune_task_run(alo_fortune_task *task, aloft_loop *loop);

#endif
