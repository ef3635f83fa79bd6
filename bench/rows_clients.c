#include "rows_clients.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answers.h"
#include "client_report.h"
#include "process.h"
#include "program.h"

enum { PART = 10000, WORD_MAX = 32, OUTPUT_MAX = 512 };

const char *const alo_rows_clients[ALO_ROWS_CLIENTS] = {"aloft", "db-lib", "tedious"};

typedef struct sockets {
  char columns[WORD_MAX], part[WORD_MAX], times[WORD_MAX], rows[WORD_MAX], sum[WORD_MAX];
  char port[WORD_MAX], server[WORD_MAX + 16];
  char ours[ALO_PROGRAM_PATH_MAX], dblib[ALO_PROGRAM_PATH_MAX], script[ALO_PROGRAM_PATH_MAX];
  alo_process responder;
} sockets;

/* ---- who there is ---- */

static bool find(const char *name, char path[ALO_PROGRAM_PATH_MAX]) {
  return alo_program_beside(name, path) && access(path, R_OK) == 0;
}

/* The folder that node_modules lies in. */
static const char *npm_folder(void) {
  const char *folder = getenv("ALOFT_NPM");
  return folder ? folder : "build/npm";
}

static bool has_tedious(void) {
  char path[ALO_PROGRAM_PATH_MAX];
  snprintf(path, sizeof path, "%s/node_modules/tedious", npm_folder());
  return access(path, R_OK) == 0;
}

const char *alo_rows_missing(alo_rows_client client) {
  char path[ALO_PROGRAM_PATH_MAX];
  switch (client) {
  case ALO_ROWS_DBLIB:
    return find("aloft-bench-rows-dblib", path)
               ? NULL
               : "it was not built: install the Debian package freetds-dev and build again";
  case ALO_ROWS_TEDIOUS:
    return has_tedious() && find("rows_tedious.js", path)
               ? NULL
               : "ALOFT_NPM names no folder with node_modules/tedious, nor is it in build/npm";
  case ALO_ROWS_ALOFT:
  case ALO_ROWS_CLIENTS:
    break;
  }
  return NULL;
}

/* ---- a round ---- */

static bool begin(sockets *self, unsigned columns, uint64_t rows, alo_reason *why) {
  uint64_t part = rows < PART ? rows : PART;
  memset(self, 0, sizeof *self);
  snprintf(self->columns, WORD_MAX, "%u", columns);
  snprintf(self->part, WORD_MAX, "%" PRIu64, part);
  snprintf(self->times, WORD_MAX, "%" PRIu64, rows / part);
  snprintf(self->rows, WORD_MAX, "%" PRIu64, rows);
  snprintf(self->sum, WORD_MAX, "%" PRIu64, alo_answer_rows_sum(columns, part) * (rows / part));
  if (!find("aloft-bench-rows", self->ours)) {
    snprintf(why->text, sizeof why->text, "aloft-bench-rows is not beside aloft-bench");
    return false;
  }
  const char *const argv[] = {self->ours, "serve", self->columns, self->part, self->times, NULL};
  if (!alo_process_start(&self->responder, argv, why) ||
      !alo_process_says(&self->responder, "listening on 127.0.0.1:", self->port, sizeof self->port,
                        why))
    return false;
  snprintf(self->server, sizeof self->server, "127.0.0.1:%s", self->port);
  return true;
}

static bool run_client(sockets *self, alo_rows_client client, alo_client_report *report,
                       alo_reason *why) {
  char output[OUTPUT_MAX];
  const char *const ours[] = {self->ours, "read",    self->port, self->columns,
                              self->rows, self->sum, NULL};
  const char *const dblib[] = {self->dblib, self->server, self->columns,
                               self->rows,  self->sum,    NULL};
  const char *const tedious[] = {"node",        self->script, npm_folder(), self->port,
                                 self->columns, self->rows,   self->sum,    NULL};
  const char *const *const argv[ALO_ROWS_CLIENTS] = {ours, dblib, tedious};
  if (!alo_program_output(argv[client], output, sizeof output, why))
    return false;
  if (alo_client_report_read(output, report) && report->queries > 0)
    return true;
  snprintf(why->text, sizeof why->text, "%s: its figures are not as expected",
           alo_rows_clients[client]);
  return false;
}

static bool take_turns(sockets *self, size_t round, alo_rows_figures figures[ALO_ROWS_CLIENTS],
                       alo_reason *why) {
  for (size_t i = 0; i < ALO_ROWS_CLIENTS; i++) {
    alo_rows_client client = (alo_rows_client)((i + round) % ALO_ROWS_CLIENTS);
    alo_rows_figures *to = &figures[client];
    alo_client_report report;
    if (alo_rows_missing(client))
      continue;
    if (!run_client(self, client, &report, why))
      return false;
    to->ns[to->rounds] = report.seconds * 1e9 / report.queries;
    to->cpu_ns[to->rounds++] = report.cpu_us * 1e3;
  }
  return true;
}

bool alo_rows_over_sockets(unsigned columns, uint64_t rows, size_t rounds,
                           alo_rows_figures figures[ALO_ROWS_CLIENTS], alo_reason *why) {
  static sockets self;
  memset(figures, 0, ALO_ROWS_CLIENTS * sizeof *figures);
  bool good = begin(&self, columns, rows, why);
  find("aloft-bench-rows-dblib", self.dblib);
  find("rows_tedious.js", self.script);
  for (size_t round = 0; good && round < rounds; round++)
    good = take_turns(&self, round, figures, why);
  alo_process_stop(&self.responder);
  return good;
}
