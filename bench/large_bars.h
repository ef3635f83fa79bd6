/* The bars of `aloft bench large`, and its counted figures. */
#ifndef ALO_LARGE_BARS_H
#define ALO_LARGE_BARS_H

#include "benchmark.h"

alo_exit alo_large_check(const alo_bench_settings *settings);
alo_exit alo_large_counted(const alo_bench_settings *settings);

#endif
