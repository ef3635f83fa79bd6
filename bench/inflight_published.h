/* The figures published for the original and for what it replaced (create, read id, dispose), in
 * nanoseconds and bytes of heap. Compare ratios: the machines and the languages are others. */
#ifndef ALO_INFLIGHT_PUBLISHED_H
#define ALO_INFLIGHT_PUBLISHED_H

enum { ALO_PUBLISHED_MACHINES = 3, ALO_PUBLISHED_COMBINATIONS = 4 };

typedef struct alo_published_figure {
  double before_ns, after_ns;
  double before_bytes, after_bytes;
} alo_published_figure;

typedef struct alo_published_coalesced {
  double own_timer_ns, before_ns, after_ns; /* optimised; upstream and optimised, coalesced */
  double own_timer_bytes, before_bytes, after_bytes;
} alo_published_coalesced;

typedef struct alo_published_machine {
  const char *name;
  /* Neither, client's token, timeout, both. */
  alo_published_figure combinations[ALO_PUBLISHED_COMBINATIONS];
  alo_published_coalesced coalesced;
} alo_published_machine;

extern const alo_published_machine alo_published_machines[ALO_PUBLISHED_MACHINES];

#endif
