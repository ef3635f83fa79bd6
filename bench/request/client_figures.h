/* What a measured client process says of itself: rate, CPU time and latencies of its
 * measured part, as one line of JSON on standard output. Shared by the clients of
 * `aloft-bench request`, whatever library they use. */
#ifndef ALO_CLIENT_FIGURES_H
#define ALO_CLIENT_FIGURES_H

#include <stdint.h>

#include "latency.h"

typedef struct alo_client_moment {
  uint64_t time_ns, user_us, system_us;
} alo_client_moment;

uint64_t alo_client_clock(void);
/* CPU time of the process so far, in user space and in the kernel, in nanoseconds. */
uint64_t alo_client_cpu(void);

void alo_client_moment_take(alo_client_moment *moment);

/* Threads of this process. */
int alo_client_threads(void);

/* The figures of `count` requests between the two moments, done by so many threads. `more`: members
 * at the end, each with a comma before it; "": none. */
void alo_client_figures_print(uint64_t count, const alo_client_moment *before,
                              const alo_client_moment *after, const alo_latency *latency,
                              int threads, const char *more);

/* How many requests to do before the measured part: whole rounds of those in flight, so that a peer
 * that answers by rounds is never left with part of one. */
uint64_t alo_client_warm_up(uint32_t inflight);

/* NATS_URL of the environment (a command line would show a password in it), or a message and exit
 * with status 2. */
const char *alo_client_url(void);

/* A whole number of at least 1 and at most `max` from the command line, or a message and exit with
 * status 2. `name`: what it is. */
uint64_t alo_client_number(const char *text, const char *name, uint64_t max);

#endif
