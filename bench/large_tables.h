/* The tables of `aloft bench large`. */
#ifndef ALO_LARGE_TABLES_H
#define ALO_LARGE_TABLES_H

#include "benchmark.h"

/* `mib`: of values of this size only; 0: of all. `svg`: a file to draw the times into; NULL: none.
 */
alo_exit alo_large_tables_print(const alo_bench_settings *settings, unsigned mib, const char *svg);

#endif
