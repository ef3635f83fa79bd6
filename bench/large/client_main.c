/* The processes that `aloft-bench large` measures, made with this library:
 *   aloft-bench-large serve text|binary MIB PACKET
 *   aloft-bench-large read PORT whole|pieces text|binary MIB RUNS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <aloft/tds.h>

#include "answers.h"
#include "bench_client.h"
#include "client_figures.h"
#include "figures.h"
#include "peak.h"
#include "responder.h"

enum { MIB_MAX = 64, PACKET_MAX = 32767 };

static int serve(bool text, size_t size, uint32_t packet_size) {
  alo_answer answer;
  if (!alo_answer_large(&answer, text, size, packet_size)) {
    fprintf(stderr, "no memory for the answer\n");
    return 1;
  }
  return alo_responder_run(&(alo_responder_answer){.before = {answer.data, answer.size}});
}

/* ---- reading ---- */

typedef struct reading {
  aloft_tds_query query;
  bool text;
  bool open; /* at the value, in pieces */
  uint64_t seen;
} reading;

/* False: more has to come, or it failed. */
static bool read_pieces(reading *self) {
  aloft_bytes piece;
  aloft_status status;
  while ((status = aloft_tds_read(&self->query, &piece)) == ALOFT_OK)
    self->seen += piece.size;
  self->open = status != ALOFT_DONE;
  return !self->open;
}

static void take_row(reading *self) {
  self->open = aloft_tds_open_column(&self->query) != ALOFT_TDS_NO_COLUMN;
  if (!self->open)
    self->seen += self->text ? aloft_tds_text(&self->query, 0).size
                             : aloft_tds_get_bytes(&self->query, 0).size;
}

static void read_on(aloft_tds_query *query) {
  reading *self = ALOFT_CONTAINER(query, reading, query);
  for (;;) {
    if (self->open && !read_pieces(self))
      return;
    switch (aloft_tds_step(query)) {
    case ALOFT_RESULT:
    case ALOFT_MORE:
      break;
    case ALOFT_ROW:
      take_row(self);
      break;
    default:
      return;
    }
  }
}

static void read_once(aloft_loop *loop, aloft_tds *tds, reading *self, uint64_t wanted) {
  self->seen = 0;
  self->open = false;
  aloft_status status = aloft_tds_query_start(tds, &self->query);
  if (status != ALOFT_OK)
    alo_bench_fail("the query is refused", status, self->query.op.error);
  aloft_wait(loop, &self->query.op);
  if (self->seen != wanted)
    alo_bench_fail("the value has not the size that was sent", ALOFT_PROTOCOL, NULL);
}

static int read_values(const char *port, aloft_tds_large large, bool text, size_t size,
                       uint64_t runs) {
  aloft_loop *loop;
  aloft_tds *tds;
  reading self = {.query = {.op = {.done = alo_bench_ended},
                            .sql = ALOFT_TEXT("SELECT v FROM t"),
                            .ready = read_on,
                            .large = large},
                  .text = text};
  alo_bench_connect(port, &loop, &tds);
  const uint64_t wanted = text ? size / 2 : size;
  read_once(loop, tds, &self, wanted);
  uint64_t began_ns = alo_client_clock(), began_cpu_ns = alo_client_cpu();
  for (uint64_t i = 0; i < runs; i++)
    read_once(loop, tds, &self, wanted);
  began_cpu_ns = alo_client_cpu() - began_cpu_ns;
  began_ns = alo_client_clock() - began_ns;
  alo_peak peak = alo_peak_take();
  alo_fortunes_figures_print(runs, began_ns, began_cpu_ns, alo_client_threads(), NULL, 0,
                             peak.text);
  aloft_loop_close(loop);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "serve") == 0)
    return serve(strcmp(argv[2], "text") == 0,
                 (size_t)alo_client_number(argv[3], "MIB", MIB_MAX) << 20,
                 (uint32_t)alo_client_number(argv[4], "PACKET", PACKET_MAX));
  if (argc == 7 && strcmp(argv[1], "read") == 0)
    return read_values(argv[2], strcmp(argv[3], "pieces") == 0 ? ALOFT_TDS_PIECES : ALOFT_TDS_WHOLE,
                       strcmp(argv[4], "text") == 0,
                       (size_t)alo_client_number(argv[5], "MIB", MIB_MAX) << 20,
                       alo_client_number(argv[6], "RUNS", UINT32_MAX));
  fprintf(stderr, "usage: aloft-bench-large serve text|binary MIB PACKET\n"
                  "       aloft-bench-large read PORT whole|pieces text|binary MIB RUNS\n");
  return 2;
}
