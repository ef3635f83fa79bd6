/* What requests in flight cost, counted in processes of their own. */
#ifndef ALO_INFLIGHT_COSTS_H
#define ALO_INFLIGHT_COSTS_H

#include <stdbool.h>

#include "count.h"
#include "inflight_cases.h"

/* For one request, from its start to its done, of a case by number. */
bool alo_inflight_instructions(int number, double *figure, alo_reason *why);
bool alo_inflight_heap(int number, alo_heap_cost *figure, alo_reason *why);

typedef enum alo_floor_found {
  ALO_FLOOR_COUNTED,
  ALO_FLOOR_ABSENT,
  ALO_FLOOR_FAILED
} alo_floor_found;

/* The same of inflight_baseline.c in the folder that the environment variable ALOFT_FLOORS names,
 * with the options of a baseline's case; built by the compiler that CC names, or cc. */
alo_floor_found alo_inflight_floor_instructions(int number, double *figure, alo_reason *why);

#endif
