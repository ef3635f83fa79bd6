/* The same large values with FreeTDS db-lib, text as UTF-8:
 *   aloft-bench-large-dblib HOST:PORT text|binary MIB RUNS */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "client_figures.h"
#include "dblib_connect.h"
#include "figures.h"
#include "peak.h"

enum { MIB_MAX = 64 };

/* All of it is in memory when the row is there. */
static void read_value(DBPROCESS *process, size_t wanted) {
  size_t seen = 0;
  if (dbcmd(process, "SELECT v FROM t") != SUCCEED || dbsqlexec(process) != SUCCEED)
    alo_dblib_fail("a query failed");
  while (dbresults(process) == SUCCEED) {
    while (dbnextrow(process) == REG_ROW)
      seen += dbdata(process, 1) != NULL ? (size_t)dbdatlen(process, 1) : 0;
  }
  if (seen != wanted)
    alo_dblib_fail("the value has not the size that was sent");
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: aloft-bench-large-dblib HOST:PORT text|binary MIB RUNS\n");
    return 2;
  }
  const bool text = strcmp(argv[2], "text") == 0;
  const size_t size = (size_t)alo_client_number(argv[3], "MIB", MIB_MAX) << 20;
  const uint64_t runs = alo_client_number(argv[4], "RUNS", UINT32_MAX);
  alo_dblib_begin(1);
  DBPROCESS *process = alo_dblib_connect(argv[1]);
  read_value(process, text ? size / 2 : size);
  uint64_t began_ns = alo_client_clock(), cpu_ns = alo_client_cpu();
  for (uint64_t i = 0; i < runs; i++)
    read_value(process, text ? size / 2 : size);
  cpu_ns = alo_client_cpu() - cpu_ns;
  alo_peak peak = alo_peak_take();
  alo_fortunes_figures_print(runs, alo_client_clock() - began_ns, cpu_ns, alo_client_threads(),
                             NULL, 0, peak.text);
  dbclose(process);
  dbexit();
  return 0;
}
