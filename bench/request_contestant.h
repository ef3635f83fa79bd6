/* The ways of making requests that `aloft bench request` compares. Each runs in a process of its
 * own, against the same server and responder. */
#ifndef ALO_REQUEST_CONTESTANT_H
#define ALO_REQUEST_CONTESTANT_H

#include "request_world.h"
#include "statistics.h"

typedef enum alo_request_kind {
  ALO_REQUEST_OURS,
  ALO_REQUEST_BY_HAND,
  ALO_REQUEST_PIPELINED,   /* libnats */
  ALO_REQUEST_SYNCHRONOUS, /* libnats */
  ALO_REQUEST_FLOOR
} alo_request_kind;

typedef struct alo_request_contestant {
  const char *name;
  alo_request_kind kind;
  uint32_t inflight;
  uint32_t share;         /* of the requests that the fastest does in a round, in thousandths */
  uint64_t counted_max;   /* requests of a run that counts calls */
  uint64_t callgrind_max; /* requests of a run under callgrind; 0: not counted */

  /* Filled in. One sample for each round. */
  size_t rounds;
  double rate[ALO_SAMPLES_MAX];   /* requests a second */
  double cpu_us[ALO_SAMPLES_MAX]; /* of the client's process, for a request */
  double p50_us[ALO_SAMPLES_MAX], p99_us[ALO_SAMPLES_MAX], p999_us[ALO_SAMPLES_MAX];
  double threads;
  /* Over TLS; NAN: in clear, or not told. */
  double own_heap_calls;   /* of the library itself, for a request */
  double records_per_turn; /* sent */
  double copied;           /* bytes that TLS copies, for a request */
  /* For a request; NAN: not counted, for the reason given. */
  double system_calls, heap_calls, instructions;
  alo_reason no_system_calls, no_heap_calls, no_instructions;
} alo_request_contestant;

/* NULL when it can run here, or why it cannot. */
const char *alo_request_missing(const alo_request_world *world, alo_request_kind kind);

/* Runs one round and adds its samples. `count`: of the fastest. */
bool alo_request_measure(const alo_request_world *world, alo_request_contestant *contestant,
                         uint64_t count, uint64_t size, alo_reason *why);

/* Counts system calls, heap calls and instructions, by the difference between a run and one twice
 * as long. `peer`: each run has a scripted peer of its own, instead of the world's server. */
void alo_request_count(const alo_request_world *world, alo_request_contestant *contestant,
                       uint64_t count, uint64_t size, bool peer);

/* The instructions alone, with a scripted peer for each run. */
void alo_request_count_instructions(const alo_request_world *world,
                                    alo_request_contestant *contestant, uint64_t count,
                                    uint64_t size);

#endif
