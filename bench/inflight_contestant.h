/* What the benchmark of requests in flight runs: a number of requests outstanding, answered in
 * turn, each started again from inside its own completion. */
#ifndef ALO_INFLIGHT_CONTESTANT_H
#define ALO_INFLIGHT_CONTESTANT_H

#include <stdbool.h>
#include <stdint.h>

/* The timeout of the published tables. */
#define ALO_INFLIGHT_TIMEOUT_NS (UINT64_C(999999) * 1000000)

typedef struct alo_inflight_plan {
  const char *name; /* of the case, on the command line and in the counted figures */
  bool baseline;    /* the replaced design; otherwise Aloft */
  bool token;       /* with a live cancellation that never fires */
  bool timeout;     /* with ALO_INFLIGHT_TIMEOUT_NS */
  uint32_t outstanding;
  bool random;          /* answered in a random order, the same in each round; otherwise in order */
  bool heap_timer;      /* Aloft's operation without a timeout, and a timer in a heap beside it */
  uint64_t tick_ns;     /* of Aloft's wheel; 0: its default */
  uint64_t coalesce_ns; /* of the baseline's timers; 0: each request has its own */
} alo_inflight_plan;

typedef struct alo_inflight_contestant alo_inflight_contestant;

/* Puts the requests in flight. NULL: it cannot; reported. */
alo_inflight_contestant *alo_inflight_contestant_open(const alo_inflight_plan *plan);
void alo_inflight_contestant_close(alo_inflight_contestant *contestant);

/* An alo_contestant's run: answers and starts again at least `operations` requests. */
uint64_t alo_inflight_contestant_run(void *contestant, uint64_t operations);

#endif
