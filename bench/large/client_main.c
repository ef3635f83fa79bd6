/* The processes that `aloft-bench large` measures, made with this library:
 *   aloft-bench-large serve text|binary MIB PACKET
 *   aloft-bench-large read PORT whole|pieces text|binary MIB RUNS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <aloft/tds.h>

#include "answers.h"
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

_Noreturn static void fail(const char *what, aloft_status status, const aloft_error *error) {
  const aloft_text text = error != NULL ? error->message : aloft_text_of("no more is known");
  fprintf(stderr, "aloft-bench-large: %s: status %d: %.*s\n", what, (int)status, ALOFT_PRINT(text));
  exit(1);
}

static void ended(aloft_op *op, aloft_status status) {
  if (status != ALOFT_OK)
    fail("cannot connect, or read", status, op->error);
}

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

static uint64_t cpu_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void read_once(aloft_loop *loop, aloft_tds *tds, reading *self, uint64_t wanted) {
  self->seen = 0;
  self->open = false;
  aloft_status status = aloft_tds_query_start(tds, &self->query);
  if (status != ALOFT_OK)
    fail("the query is refused", status, self->query.op.error);
  aloft_wait(loop, &self->query.op);
  if (self->seen != wanted)
    fail("the value has not the size that was sent", ALOFT_PROTOCOL, NULL);
}

static int read_values(const char *port, aloft_tds_large large, bool text, size_t size,
                       uint64_t runs) {
  char string[128];
  aloft_loop *loop;
  aloft_tds *tds;
  aloft_op connect = {.done = ended};
  reading self = {.query = {.op = {.done = ended},
                            .sql = ALOFT_TEXT("SELECT v FROM t"),
                            .ready = read_on,
                            .large = large},
                  .text = text};
  snprintf(string, sizeof string, "Server=127.0.0.1,%s;User ID=x;Password=x;Encrypt=Optional",
           port);
  const aloft_tds_config config = {.size = sizeof config,
                                   .connection_string = aloft_text_of(string)};
  aloft_status status = aloft_loop_open(&loop, NULL);
  if (status == ALOFT_OK)
    status = aloft_tds_open(&tds, loop, &config, &connect);
  if (status != ALOFT_OK)
    fail("cannot begin", status, connect.error);
  aloft_wait(loop, &connect);
  const uint64_t wanted = text ? size / 2 : size;
  read_once(loop, tds, &self, wanted);
  uint64_t began_ns = alo_client_clock(), began_cpu_ns = cpu_ns();
  for (uint64_t i = 0; i < runs; i++)
    read_once(loop, tds, &self, wanted);
  began_cpu_ns = cpu_ns() - began_cpu_ns;
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
