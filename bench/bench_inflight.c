/* aloft bench inflight */
#include "benchmark.h"

#include "report.h"

static int run(int argc, char **argv) {
  alo_bench_settings settings = {0};
  bool done = false;
  alo_exit code = alo_bench_read(&settings, NULL, "aloft bench inflight [OPTION...]",
                                 "What a request in flight costs.", NULL, argc, argv, &done);
  return (int)code;
}

const alo_benchmark alo_bench_inflight = {
    .name = "inflight",
    .summary = "a request in flight, beside the design it replaces",
    .run = run,
};
