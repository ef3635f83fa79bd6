#include "dblib_connect.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

void alo_dblib_fail(const char *what) {
  fprintf(stderr, "aloft-bench-dblib: %s\n", what);
  _Exit(1); /* from several threads at the same time */
}

static int on_error(DBPROCESS *process, int severity, int number, int os_number, char *text,
                    char *os_text) {
  (void)process;
  (void)severity;
  (void)os_number;
  (void)os_text;
  fprintf(stderr, "aloft-bench-dblib: %d: %s\n", number, text);
  return INT_CANCEL;
}

static int on_message(DBPROCESS *process, DBINT number, int state, int severity, char *text,
                      char *server, char *procedure, int line) {
  (void)process;
  (void)state;
  (void)server;
  (void)procedure;
  (void)line;
  if (severity > 10)
    fprintf(stderr, "aloft-bench-dblib: %d: %s\n", (int)number, text);
  return 0;
}

DBPROCESS *alo_dblib_connect(const char *server) {
  static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&one_at_a_time);
  LOGINREC *login = dblogin();
  if (login == NULL)
    alo_dblib_fail("no memory");
  DBSETLUSER(login, "bench");
  DBSETLPWD(login, "bench");
  DBSETLCHARSET(login, "UTF-8");
  DBSETLVERSION(login, DBVERSION_74);
  DBPROCESS *process = dbopen(login, server);
  dbloginfree(login);
  if (process == NULL)
    alo_dblib_fail("cannot connect");
  pthread_mutex_unlock(&one_at_a_time);
  return process;
}

void alo_dblib_begin(int processes) {
  /* Nobody's configuration file is to change what is measured. */
  if (setenv("FREETDSCONF", "/dev/null", 1) != 0 || dbinit() != SUCCEED)
    alo_dblib_fail("db-lib cannot begin");
  dberrhandle(on_error);
  dbmsghandle(on_message);
  dbsetmaxprocs(processes);
}
