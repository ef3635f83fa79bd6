/* Bare programs to measure against, given as sources in a folder that ALOFT_FLOORS names. */
#ifndef ALO_FLOOR_H
#define ALO_FLOOR_H

#include <stdbool.h>
#include <stddef.h>

#include "count.h"

/* Compiles FOLDER/FILE by the compiler that CC names, or cc, into a file without a name, so that
 * nothing stays however this program ends. `path` is what runs it while `descriptor`, the caller's
 * to close, is open. False: why not. */
bool alo_floor_compile(const char *folder, const char *file, char *path, size_t room,
                       int *descriptor, alo_reason *why);

#endif
