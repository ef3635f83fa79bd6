/* The clients that `aloft bench fortunes` compares, each in a process of its own. */
#ifndef ALO_FORTUNES_CONTESTANT_H
#define ALO_FORTUNES_CONTESTANT_H

#include "fortunes_world.h"
#include "statistics.h"

enum {
  ALO_FORTUNES_SYNC,
  ALO_FORTUNES_SYNC_CACHING,
  ALO_FORTUNES_ASYNC,
  ALO_FORTUNES_ASYNC_CACHING,
  ALO_FORTUNES_VARIATIONS
};
extern const char *const alo_fortunes_variations[ALO_FORTUNES_VARIATIONS];

/* As the published benchmark takes them. */
typedef struct alo_fortunes_plan {
  uint32_t tasks;
  uint64_t warm_up_ns, duration_ns, sample_ns;
} alo_fortunes_plan;

typedef struct alo_fortunes_throughput {
  double per_second; /* all that were executed, by the time that passed */
  double deviation;  /* of the samples, without the best and the worst */
  double cpu_us;     /* of the client's process, for a query */
  double threads;
  size_t samples;
} alo_fortunes_throughput;

/* How many samples the plan has: at least 1, at most ALO_SAMPLES_MAX. */
size_t alo_fortunes_sample_count(const alo_fortunes_plan *plan);

bool alo_fortunes_measure(const alo_fortunes_world *world, int variation,
                          const alo_fortunes_plan *plan, alo_fortunes_throughput *to,
                          alo_reason *why);

/* Those that take turns, so that what disturbs the machine disturbs all of them. */
typedef enum alo_fortunes_kind {
  ALO_FORTUNES_OURS,
  ALO_FORTUNES_OURS_CACHING,
  ALO_FORTUNES_DBLIB,
  ALO_FORTUNES_FLOOR,
  ALO_FORTUNES_KINDS
} alo_fortunes_kind;

typedef struct alo_fortunes_contestant {
  const char *name;
  size_t rounds;
  double rate[ALO_SAMPLES_MAX];   /* queries a second */
  double cpu_us[ALO_SAMPLES_MAX]; /* of the client's process, for a query */
  double threads;
} alo_fortunes_contestant;

/* NULL when it can run here, or why it cannot. */
const char *alo_fortunes_missing(const alo_fortunes_world *world, alo_fortunes_kind kind);

/* Runs one round of `count` queries (the floor: of a second) and adds its samples. */
bool alo_fortunes_round(const alo_fortunes_world *world, alo_fortunes_kind kind, uint32_t tasks,
                        uint64_t count, alo_fortunes_contestant *to, alo_reason *why);

/* Of our client, for one query, beyond the strings that the caller keeps: the difference between
 * two runs, one twice as long. */
bool alo_fortunes_heap_calls(const alo_fortunes_world *world, int variation, uint32_t tasks,
                             double *calls, alo_reason *why);

/* What TLS costs one query of our client. A figure that cannot be had is NAN. */
typedef struct alo_fortunes_encrypted {
  double heap_calls;     /* of the process, beyond the strings that the caller keeps */
  double own_heap_calls; /* those of them that are the library's */
  double records;        /* sent */
  double copied;         /* bytes */
} alo_fortunes_encrypted;

/* Of an asynchronous variation against a server with TLS. */
bool alo_fortunes_count_encrypted(const alo_fortunes_world *world, int variation, uint32_t tasks,
                                  alo_fortunes_encrypted *to, alo_reason *why);

#endif
