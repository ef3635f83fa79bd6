/* The bars and the counted figures of `aloft bench fortunes`. */
#ifndef ALO_FORTUNES_BARS_H
#define ALO_FORTUNES_BARS_H

#include "benchmark.h"
#include "fortunes_contestant.h"

/* Clients that have taken turns against the responder: all their rounds. */
typedef struct alo_fortunes_turns {
  uint32_t tasks;
  alo_fortunes_contestant contestants[ALO_FORTUNES_KINDS];
} alo_fortunes_turns;

/* `rounds` of those that can run here. `world` has a responder. */
bool alo_fortunes_take_turns(const alo_fortunes_world *world, uint32_t tasks, size_t rounds,
                             alo_fortunes_turns *turns, alo_reason *why);

alo_exit alo_fortunes_check(const alo_fortunes_world *world, const alo_fortunes_turns *turns);

/* Prints the counted figures or compares them, as the settings say. */
alo_exit alo_fortunes_counted(const alo_bench_settings *settings);

#endif
