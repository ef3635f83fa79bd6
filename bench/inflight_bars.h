/* The bars of the benchmark of requests in flight. */
#ifndef ALO_INFLIGHT_BARS_H
#define ALO_INFLIGHT_BARS_H

#include "exit_status.h"

/* Counts and prints them. ALO_EXIT_ANSWER: one is short, or cannot be had. */
alo_exit alo_inflight_check(void);

#endif
