/* The driver of tests: virtual time, a network inside the process, faults from a seed. The same
 * seed and the same calls give the same run. */
#ifndef ALO_DRIVER_SIM_H
#define ALO_DRIVER_SIM_H

#include "driver.h"

/* Chances are in 1/1,000 per event; zero: never. */
typedef struct alo_sim_faults {
  unsigned short_read;  /* a read gives only a part of what has arrived */
  unsigned split_write; /* a write takes only a part */
  unsigned full;        /* a write finds no room */
  unsigned reset;       /* a write breaks the connection for both sides */
  unsigned refuse;      /* a connect is refused */
  unsigned silent;      /* a connect is never answered */
  uint64_t delay_ns;    /* bytes take up to this long to arrive */
  uint64_t resolve_ns;  /* names take up to this long; "missing..." is not found, all others are
                           127.0.0.1 */
} alo_sim_faults;

typedef struct alo_sim_counters {
  uint64_t reads, writes, resets, refused, bytes;
} alo_sim_counters;

/* NULL: no memory. Time begins at one second. */
alo_driver *alo_driver_sim_open(const aloft_allocator *heap, uint64_t seed,
                                const alo_sim_faults *faults);

/* Other faults from now on. */
void alo_sim_set_faults(alo_driver *driver, const alo_sim_faults *faults);
/* Time passes without anything being looked at: a loop that is held up. */
void alo_sim_pass(alo_driver *driver, uint64_t ns);
/* Bytes that a read would find now, if it were not cut short. */
size_t alo_sim_arrived(const alo_socket *socket);
alo_sim_counters alo_sim_get_counters(const alo_driver *driver);
/* The run's random numbers, for the test's own choices. */
uint64_t alo_sim_random(alo_driver *driver);

/* `wait` returns -EDEADLK when it would wait for ever: nothing is on its way and no deadline set.
 */

#endif
