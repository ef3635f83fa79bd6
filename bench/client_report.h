/* What a client process says of itself: the line of JSON that figures.h prints. */
#ifndef ALO_CLIENT_REPORT_H
#define ALO_CLIENT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "statistics.h"

typedef struct alo_client_report {
  double queries, seconds;
  double cpu_us; /* for one query */
  double threads;
  double own_heap_calls, records, copied; /* over TLS, for one query; NAN: not said */
  double peak;                            /* most memory of the process, bytes; NAN: not said */
  size_t count;
  double samples[ALO_SAMPLES_MAX];
} alo_client_report;

/* From the first line of `output`. False: it is not as expected. */
bool alo_client_report_read(const char *output, alo_client_report *to);

#endif
