/* The processes that `aloft-bench fortunes` measures, made with this library:
 *   aloft-bench-tds sample VARIATION TASKS WARM_UP_MS SAMPLE_MS SAMPLES
 *   aloft-bench-tds count VARIATION TASKS QUERIES
 *   aloft-bench-tds create | drop      the table, where it is not there
 *   aloft-bench-tds responder [wrong]
 * The server is that of the connection string in the environment's ALOFT_BENCH_TDS. Each is a
 * process of its own so that CPU time, heap calls and instructions are those of one side alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client_figures.h"
#include "figures.h"
#include "fortune_table.h"
#include "fortunes_stream.h"
#include "load.h"
#include "responder.h"

enum { MILLISECONDS_MAX = 3600000, MILLISECOND_NS = 1000000 };

static void read_variation(alo_fortunes_load *load, const char *word) {
  static const char *const words[] = {"sync", "sync-caching", "async", "async-caching"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strcmp(words[i], word) != 0)
      continue;
    load->synchronous = i < 2;
    load->caching = i % 2 == 1;
    return;
  }
  fprintf(stderr, "no variation '%s': sync, sync-caching, async or async-caching\n", word);
  exit(2);
}

static int run(alo_fortunes_load *load) {
  if (load->synchronous)
    alo_fortunes_run_synchronous(load);
  else
    alo_fortunes_run_asynchronous(load);
  alo_fortunes_figures_print(load->queries, load->time_ns, load->cpu_ns, load->threads,
                             load->per_second, load->count > 0 ? 0 : load->samples,
                             load->encrypted);
  if (load->count == 0)
    _Exit(0); /* in the middle of queries, and of threads that block */
  return 0;
}

/* Its DONE is the last 13 bytes; before that the last row's last character. */
static int respond(bool wrong) {
  enum { DONE_SIZE = 13 };
  static uint8_t answer[ALO_FORTUNES_ANSWER_MAX];
  size_t size = alo_fortunes_answer(answer);
  if (size == 0) {
    fprintf(stderr, "no memory for the answer\n");
    return 1;
  }
  if (wrong)
    answer[size - DONE_SIZE - 2] ^= 1;
  return alo_responder_run(&(alo_responder_answer){.before = {answer, size}});
}

static uint64_t milliseconds(const char *text, const char *name) {
  return alo_client_number(text, name, MILLISECONDS_MAX) * MILLISECOND_NS;
}

int main(int argc, char **argv) {
  static alo_fortunes_load load;
  const char *mode = argc > 1 ? argv[1] : "";
  if (argc == 7 && strcmp(mode, "sample") == 0) {
    read_variation(&load, argv[2]);
    load.tasks = (uint32_t)alo_client_number(argv[3], "TASKS", ALO_FORTUNES_TASKS_MAX);
    load.warm_up_ns = milliseconds(argv[4], "WARM_UP_MS");
    load.sample_ns = milliseconds(argv[5], "SAMPLE_MS");
    load.samples = (uint32_t)alo_client_number(argv[6], "SAMPLES", ALO_FORTUNES_SAMPLES_MAX);
    return run(&load);
  }
  if (argc == 5 && strcmp(mode, "count") == 0) {
    read_variation(&load, argv[2]);
    load.tasks = (uint32_t)alo_client_number(argv[3], "TASKS", ALO_FORTUNES_TASKS_MAX);
    load.count = alo_client_number(argv[4], "QUERIES", UINT32_MAX);
    return run(&load);
  }
  if (argc == 2 && strcmp(mode, "create") == 0)
    return alo_fortune_table_create();
  if (argc == 2 && strcmp(mode, "drop") == 0)
    return alo_fortune_table_drop();
  if (strcmp(mode, "responder") == 0 && (argc == 2 || (argc == 3 && !strcmp(argv[2], "wrong"))))
    return respond(argc == 3);
  fprintf(stderr, "usage: aloft-bench-tds sample VARIATION TASKS WARM_UP_MS SAMPLE_MS SAMPLES\n"
                  "       aloft-bench-tds count VARIATION TASKS QUERIES\n"
                  "       aloft-bench-tds create | drop | responder [wrong]\n");
  return 2;
}
