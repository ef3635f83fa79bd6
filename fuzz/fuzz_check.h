/* A property that must hold: unlike assert, in every build. */
#ifndef ALO_FUZZ_CHECK_H
#define ALO_FUZZ_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                    \
      abort();                                                                                     \
    }                                                                                              \
  } while (0)

#endif
