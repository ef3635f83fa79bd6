#include "large_sockets.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client_report.h"
#include "process.h"
#include "program.h"

/* Values of a run: as many as are this much in all, and at least so many. */
enum { RUN_MIB = 200, RUNS_LEAST = 5, WORD_MAX = 32, OUTPUT_MAX = 512 };

const char *const alo_large_clients[ALO_LARGE_CLIENTS] = {"aloft, whole", "aloft, pieces",
                                                          "db-lib"};

typedef struct sockets {
  const char *kind;
  char mib[WORD_MAX], runs[WORD_MAX], port[WORD_MAX], server[WORD_MAX + 16];
  char ours[ALO_PROGRAM_PATH_MAX], dblib[ALO_PROGRAM_PATH_MAX];
  alo_process responder;
} sockets;

static bool find_dblib(char path[ALO_PROGRAM_PATH_MAX]) {
  return alo_program_beside("aloft-bench-large-dblib", path) && access(path, X_OK) == 0;
}

bool alo_large_has_dblib(void) {
  char path[ALO_PROGRAM_PATH_MAX];
  return find_dblib(path);
}

static bool begin(sockets *self, bool text, unsigned mib, alo_reason *why) {
  char packet[WORD_MAX];
  memset(self, 0, sizeof *self);
  unsigned runs = RUN_MIB / mib;
  self->kind = text ? "text" : "binary";
  snprintf(self->mib, WORD_MAX, "%u", mib);
  snprintf(self->runs, WORD_MAX, "%u", runs > RUNS_LEAST ? runs : (unsigned)RUNS_LEAST);
  snprintf(packet, WORD_MAX, "%u", (unsigned)ALO_LARGE_SOCKET_PACKET);
  if (!alo_program_beside("aloft-bench-large", self->ours)) {
    snprintf(why->text, sizeof why->text, "the path of aloft-bench-large is not known");
    return false;
  }
  const char *const argv[] = {self->ours, "serve", self->kind, self->mib, packet, NULL};
  if (!alo_process_start(&self->responder, argv, why) ||
      !alo_process_says(&self->responder, "listening on 127.0.0.1:", self->port, sizeof self->port,
                        why))
    return false;
  snprintf(self->server, sizeof self->server, "127.0.0.1:%s", self->port);
  return true;
}

static bool run_client(const sockets *self, alo_large_client client, alo_client_report *report,
                       alo_reason *why) {
  char output[OUTPUT_MAX];
  const char *way = client == ALO_LARGE_PIECES ? "pieces" : "whole";
  const char *const ours[] = {self->ours, "read",    self->port, way,
                              self->kind, self->mib, self->runs, NULL};
  const char *const dblib[] = {self->dblib, self->server, self->kind, self->mib, self->runs, NULL};
  if (!alo_program_output(client == ALO_LARGE_DBLIB ? dblib : ours, output, sizeof output, why))
    return false;
  if (alo_client_report_read(output, report) && report->queries > 0)
    return true;
  snprintf(why->text, sizeof why->text, "%s: its figures are not as expected",
           alo_large_clients[client]);
  return false;
}

static bool take_turns(const sockets *self, size_t round,
                       alo_large_figures figures[ALO_LARGE_CLIENTS], alo_reason *why) {
  for (size_t i = 0; i < ALO_LARGE_CLIENTS; i++) {
    alo_large_client client = (alo_large_client)((i + round) % ALO_LARGE_CLIENTS);
    alo_client_report report;
    if (client == ALO_LARGE_DBLIB && self->dblib[0] == '\0')
      continue;
    if (!run_client(self, client, &report, why))
      return false;
    figures[client].ns[round] = report.seconds * 1e9 / report.queries;
    figures[client].cpu_ns[round] = report.cpu_us * 1e3;
    if (figures[client].peak < report.peak)
      figures[client].peak = report.peak;
  }
  return true;
}

bool alo_large_over_sockets(bool text, unsigned mib, size_t rounds,
                            alo_large_figures figures[ALO_LARGE_CLIENTS], alo_reason *why) {
  static sockets self;
  memset(figures, 0, ALO_LARGE_CLIENTS * sizeof *figures);
  bool good = begin(&self, text, mib, why);
  if (!find_dblib(self.dblib))
    self.dblib[0] = '\0';
  for (size_t round = 0; good && round < rounds; round++)
    good = take_turns(&self, round, figures, why);
  alo_process_stop(&self.responder);
  return good;
}
