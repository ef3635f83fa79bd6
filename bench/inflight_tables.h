/* The tables of the benchmark of requests in flight. */
#ifndef ALO_INFLIGHT_TABLES_H
#define ALO_INFLIGHT_TABLES_H

#include "benchmark.h"

/* Measures, and prints them. */
alo_exit alo_inflight_print(const alo_bench_settings *settings);

#endif
