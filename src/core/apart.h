/* Of functions that are kept out of their callers: a path without calls saves no registers, so what
 * is unusual stands apart, or aside when it hardly ever happens. */
#ifndef ALO_APART_H
#define ALO_APART_H

#ifdef __GNUC__
  #define ALO_APART __attribute__((noinline))
  #define ALO_ASIDE __attribute__((noinline, cold))
#else
  #define ALO_APART
  #define ALO_ASIDE
#endif

#endif
