/* The processes that `aloft-bench rows` measures, made with this library:
 *   aloft-bench-rows serve COLUMNS ROWS TIMES
 *   aloft-bench-rows read PORT COLUMNS ROWS SUM
 * ROWS rows (TIMES times as many) of so many columns; whoever reads them has to find SUM. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <aloft/tds.h>

#include "answers.h"
#include "bench_client.h"
#include "client_figures.h"
#include "figures.h"
#include "responder.h"

enum { COLUMNS_MAX = 50, PACKET = 4096 };

static aloft_bytes bytes_of(const alo_answer *part) {
  return (aloft_bytes){part->data, part->size};
}

static int serve(unsigned columns, size_t rows, uint64_t times) {
  alo_answer_parts parts;
  if (!alo_answer_parts_make(&parts, columns, rows, times)) {
    fprintf(stderr, "no memory for the answer\n");
    return 1;
  }
  const alo_responder_answer answer = {.before = bytes_of(&parts.before),
                                       .rows = bytes_of(&parts.rows),
                                       .after = bytes_of(&parts.after),
                                       .times = times,
                                       .packet_size = PACKET};
  return alo_responder_run(&answer);
}

/* ---- reading ---- */

typedef struct reading {
  aloft_tds_query query;
  size_t columns;
  aloft_tds_type types[COLUMNS_MAX];
  uint64_t rows, sum;
} reading;

static void take_columns(reading *self) {
  self->columns = aloft_tds_column_count(&self->query);
  for (size_t at = 0; at < self->columns && at < COLUMNS_MAX; at++)
    self->types[at] = aloft_tds_get_column(&self->query, at)->type;
}

/* In its native form; see alo_answer_rows_sum. */
static uint64_t value(reading *self, size_t at) {
  aloft_tds_query *query = &self->query;
  switch (self->types[at]) {
  case ALOFT_TDS_NVARCHAR:
  case ALOFT_TDS_VARCHAR:
    return aloft_tds_text(query, at).size;
  case ALOFT_TDS_DATETIME2:
  case ALOFT_TDS_DATE:
    return (uint64_t)aloft_tds_get_moment(query, at).days;
  case ALOFT_TDS_DECIMAL:
    return aloft_tds_get_decimal(query, at).low;
  case ALOFT_TDS_FLOAT:
    return (uint64_t)llround(7 * aloft_tds_double(query, at));
  case ALOFT_TDS_UNIQUEIDENTIFIER:
    return aloft_tds_get_uuid(query, at).bytes[0];
  default:
    return (uint64_t)aloft_tds_int64(query, at);
  }
}

static void take_row(reading *self) {
  self->rows++;
  for (size_t at = 0; at < self->columns; at++) {
    if (!aloft_tds_is_null(&self->query, at))
      self->sum += value(self, at) & ALO_ANSWER_SUM_MASK;
  }
}

static void read_on(aloft_tds_query *query) {
  reading *self = ALOFT_CONTAINER(query, reading, query);
  for (;;) {
    switch (aloft_tds_step(query)) {
    case ALOFT_RESULT:
      take_columns(self);
      break;
    case ALOFT_ROW:
      take_row(self);
      break;
    default:
      return;
    }
  }
}

static int read_rows(const char *port, size_t columns, uint64_t rows, uint64_t sum) {
  aloft_loop *loop;
  aloft_tds *tds;
  reading self = {.query = {.op = {.done = alo_bench_ended},
                            .sql = ALOFT_TEXT("SELECT * FROM t"),
                            .ready = read_on}};
  alo_bench_connect(port, &loop, &tds);
  uint64_t began_ns = alo_client_clock(), began_cpu_ns = alo_client_cpu();
  aloft_status status = aloft_tds_query_start(tds, &self.query);
  if (status != ALOFT_OK)
    alo_bench_fail("the query is refused", status, self.query.op.error);
  aloft_wait(loop, &self.query.op);
  began_cpu_ns = alo_client_cpu() - began_cpu_ns;
  began_ns = alo_client_clock() - began_ns;
  if (self.columns != columns || self.rows != rows || self.sum != sum) {
    fprintf(stderr, "%" PRIu64 " rows, the sum %" PRIu64 "\n", self.rows, self.sum);
    alo_bench_fail("the rows are not those that were sent", ALOFT_PROTOCOL, NULL);
  }
  alo_fortunes_figures_print(rows, began_ns, began_cpu_ns, alo_client_threads(), NULL, 0, "");
  aloft_loop_close(loop);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "serve") == 0)
    return serve((unsigned)alo_client_number(argv[2], "COLUMNS", COLUMNS_MAX),
                 (size_t)alo_client_number(argv[3], "ROWS", UINT32_MAX),
                 alo_client_number(argv[4], "TIMES", UINT32_MAX));
  if (argc == 6 && strcmp(argv[1], "read") == 0)
    return read_rows(argv[2], (size_t)alo_client_number(argv[3], "COLUMNS", COLUMNS_MAX),
                     alo_client_number(argv[4], "ROWS", UINT64_MAX),
                     alo_client_number(argv[5], "SUM", UINT64_MAX));
  fprintf(stderr, "usage: aloft-bench-rows serve COLUMNS ROWS TIMES\n"
                  "       aloft-bench-rows read PORT COLUMNS ROWS SUM\n");
  return 2;
}
