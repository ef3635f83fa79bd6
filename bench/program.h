/* The programs of the benchmarks, which find each other in one folder. */
#ifndef ALO_PROGRAM_H
#define ALO_PROGRAM_H

#include <stdbool.h>

enum { ALO_PROGRAM_PATH_MAX = 4096 };

/* `aloft-bench count BENCHMARK CASE OPERATIONS`: how it runs itself in order to be counted. */
#define ALO_COUNT_WORD "count"

/* The path of the program `name` in the folder of the running one. False: it cannot be known. */
bool alo_program_beside(const char *name, char path[ALO_PROGRAM_PATH_MAX]);

#endif
