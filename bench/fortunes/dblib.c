/* The same load with FreeTDS db-lib, the SQL Server client that C programs use today:
 *   aloft-bench-dblib HOST:PORT CONNECTIONS QUERIES
 * It blocks, so each connection has a thread. Texts are had as UTF-8, as a caller wants them, and
 * every execution has to give the 12 rows. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client_figures.h"
#include "dblib_connect.h"
#include "figures.h"
#include "fortunes.h"

enum { CONNECTIONS_MAX = 1024, WARM_UP = 20 };

typedef struct worker {
  pthread_t thread;
  const char *server;
  uint64_t count;
} worker;

static pthread_barrier_t warm, begin; /* all have connected; the moment has been taken */

static void read_rows(DBPROCESS *process, alo_fortune_list *list) {
  while (dbnextrow(process) == REG_ROW) {
    DBINT id;
    memcpy(&id, dbdata(process, 1), sizeof id);
    const aloft_text message = {(const char *)dbdata(process, 2), (size_t)dbdatlen(process, 2)};
    if (!alo_fortunes_keep(list, id, message))
      alo_dblib_fail("more than 12 rows, or no memory");
  }
}

static void execute(DBPROCESS *process) {
  alo_fortune rows[ALO_FORTUNES];
  alo_fortune_list list = {.rows = rows, .room = ALO_FORTUNES};
  if (dbcmd(process, alo_fortunes_query) != SUCCEED || dbsqlexec(process) != SUCCEED)
    alo_dblib_fail("a query failed");
  while (dbresults(process) == SUCCEED)
    read_rows(process, &list);
  const char *wrong = alo_fortunes_wrong(&list);
  if (wrong != NULL)
    alo_dblib_fail(wrong);
  alo_fortunes_drop(&list);
}

static void *run_worker(void *argument) {
  const worker *self = argument;
  DBPROCESS *process = alo_dblib_connect(self->server);
  for (int i = 0; i < WARM_UP; i++)
    execute(process);
  pthread_barrier_wait(&warm);
  pthread_barrier_wait(&begin);
  for (uint64_t i = 0; i < self->count; i++)
    execute(process);
  dbclose(process);
  return NULL;
}

static void measure(const char *server, unsigned connections, uint64_t queries) {
  static worker workers[CONNECTIONS_MAX];
  pthread_barrier_init(&warm, NULL, connections + 1);
  pthread_barrier_init(&begin, NULL, connections + 1);
  for (unsigned i = 0; i < connections; i++) {
    workers[i].server = server;
    workers[i].count = queries / connections + (i < queries % connections);
    if (pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) != 0)
      alo_dblib_fail("cannot start a thread");
  }
  pthread_barrier_wait(&warm);
  int threads = alo_client_threads() - 1;
  uint64_t began_ns = alo_client_clock(), began_cpu_ns = alo_client_cpu();
  pthread_barrier_wait(&begin);
  for (unsigned i = 0; i < connections; i++)
    pthread_join(workers[i].thread, NULL);
  alo_fortunes_figures_print(queries, alo_client_clock() - began_ns,
                             alo_client_cpu() - began_cpu_ns, threads, NULL, 0, "");
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: aloft-bench-dblib HOST:PORT CONNECTIONS QUERIES\n");
    return 2;
  }
  unsigned connections = (unsigned)alo_client_number(argv[2], "CONNECTIONS", CONNECTIONS_MAX);
  uint64_t queries = alo_client_number(argv[3], "QUERIES", UINT32_MAX);
  alo_dblib_begin(CONNECTIONS_MAX + 1);
  measure(argv[1], connections, queries);
  dbexit();
  return 0;
}
