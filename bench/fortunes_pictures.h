/* `aloft bench fortunes --design`: the reader beside the design that it replaces, as a table, and
 * as the picture that was published of both. */
#ifndef ALO_FORTUNES_PICTURES_H
#define ALO_FORTUNES_PICTURES_H

#include "benchmark.h"
#include "fortunes_design.h"

/* Of the designs that are wanted. `svg` [call]: a file for the picture; NULL: none. Both designs
 * have to give the same rows first. */
alo_exit alo_fortunes_pictures_print(const alo_bench_settings *settings,
                                     const bool wanted[ALO_DESIGNS], const char *svg);

#endif
