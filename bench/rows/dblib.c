/* The same rows with FreeTDS db-lib, text as UTF-8:
 *   aloft-bench-rows-dblib HOST:PORT COLUMNS ROWS SUM */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "client_figures.h"
#include "dblib_connect.h"
#include "figures.h"

/* Of the types one that sybdb.h does not name (MS-TDS 2.2.5.4.2, GUIDTYPE). */
enum { UNIQUEIDENTIFIER = 0x24, COLUMNS_MAX = 50, DAYS_TO_1900 = 693595, MASK = 0xFFFF };

/* Its magnitude stands behind the sign, the highest byte first: 8 of them for a precision of 18. */
static uint64_t decimal(const BYTE *data) {
  const DBNUMERIC *number = (const DBNUMERIC *)(const void *)data;
  uint64_t low = 0;
  for (int at = 1; at <= 8; at++)
    low = low << 8 | number->array[at];
  return low;
}

static int64_t days(const BYTE *data) {
  DBDATETIMEALL moment;
  memcpy(&moment, data, sizeof moment);
  return (int64_t)moment.date + DAYS_TO_1900;
}

static uint64_t real(const BYTE *data) {
  DBFLT8 value;
  memcpy(&value, data, sizeof value);
  return (uint64_t)llround(7 * value);
}

static uint64_t integer(const BYTE *data, int size) {
  uint64_t value = 0;
  memcpy(&value, data, size <= 8 ? (size_t)size : 0);
  return value;
}

static uint64_t value(int type, const BYTE *data, int size) {
  switch (type) {
  case SYBCHAR:
  case SYBVARCHAR:
  case SYBNVARCHAR:
    return (uint64_t)size;
  case SYBMSDATETIME2:
  case SYBMSDATE:
    return (uint64_t)days(data);
  case SYBDECIMAL:
  case SYBNUMERIC:
    return decimal(data);
  case SYBFLT8:
    return real(data);
  case UNIQUEIDENTIFIER:
    return data[0];
  default:
    return integer(data, size);
  }
}

static uint64_t read_rows(DBPROCESS *process, int columns, uint64_t *sum) {
  int types[COLUMNS_MAX + 1];
  uint64_t rows = 0;
  if (dbnumcols(process) != columns)
    alo_dblib_fail("not as many columns as were sent");
  for (int at = 1; at <= columns; at++)
    types[at] = dbcoltype(process, at);
  while (dbnextrow(process) == REG_ROW) {
    rows++;
    for (int at = 1; at <= columns; at++) {
      const BYTE *data = dbdata(process, at);
      if (data != NULL)
        *sum += value(types[at], data, dbdatlen(process, at)) & MASK;
    }
  }
  return rows;
}

int main(int argc, char **argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: aloft-bench-rows-dblib HOST:PORT COLUMNS ROWS SUM\n");
    return 2;
  }
  const int columns = (int)alo_client_number(argv[2], "COLUMNS", COLUMNS_MAX);
  const uint64_t wanted = alo_client_number(argv[3], "ROWS", UINT64_MAX);
  const uint64_t wanted_sum = alo_client_number(argv[4], "SUM", UINT64_MAX);
  uint64_t rows = 0, sum = 0;
  alo_dblib_begin(1);
  DBPROCESS *process = alo_dblib_connect(argv[1]);
  uint64_t began_ns = alo_client_clock(), began_cpu_ns = alo_client_cpu();
  if (dbcmd(process, "SELECT * FROM t") != SUCCEED || dbsqlexec(process) != SUCCEED)
    alo_dblib_fail("a query failed");
  while (dbresults(process) == SUCCEED)
    rows += read_rows(process, columns, &sum);
  began_cpu_ns = alo_client_cpu() - began_cpu_ns;
  began_ns = alo_client_clock() - began_ns;
  if (rows != wanted || sum != wanted_sum) {
    fprintf(stderr, "%" PRIu64 " rows, the sum %" PRIu64 "\n", rows, sum);
    alo_dblib_fail("the rows are not those that were sent");
  }
  alo_fortunes_figures_print(rows, began_ns, began_cpu_ns, alo_client_threads(), NULL, 0, "");
  dbclose(process);
  dbexit();
  return 0;
}
