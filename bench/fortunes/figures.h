/* What a client of the Fortunes benchmark says of itself, one line of JSON on standard output,
 * whatever library it uses. */
#ifndef ALO_FORTUNES_FIGURES_H
#define ALO_FORTUNES_FIGURES_H

#include <stdint.h>

/* {"n":queries,"sec":...,"cpu_us":CPU time of the process for a query,"threads":...,
 * "samples":[queries a second...]} and, behind that, `more`: members with a comma before them. */
void alo_fortunes_figures_print(uint64_t queries, uint64_t time_ns, uint64_t cpu_ns, int threads,
                                const double *samples, uint32_t sample_count, const char *more);

#endif
