/* A closed loop of requests on one connection: so many in flight, and each answer starts the next.
 * First a warm-up, then the measured part. Two ways to make a request of it: the library's own, and
 * by hand with a subscription and publications. */
#ifndef ALO_LOAD_H
#define ALO_LOAD_H

#include <aloft/nats.h>

#include "latency.h"

enum { ALO_LOAD_INFLIGHT_MAX = 1 << 20, ALO_LOAD_BY_HAND_MAX = 1 << 16, ALO_LOAD_SIZE_MAX = 65536 };

typedef struct alo_load alo_load;

/* One place among those in flight. */
typedef struct alo_load_place {
  aloft_nats_request request; /* the library's own way */
  alo_load *load;
  uint64_t started_ns;
  uint32_t token; /* by hand: what its reply subject ends in */
  bool waiting;   /* by hand */
} alo_load_place;

struct alo_load {
  const char *url;
  aloft_text subject;
  aloft_bytes data;
  uint32_t inflight;
  uint64_t count;

  aloft_loop *loop;
  aloft_nats *nats;
  alo_load_place *places; /* `inflight` of them */
  void (*start)(alo_load *load, alo_load_place *place);
  uint64_t started, answered, target, turns;
  alo_latency latency;

  aloft_nats_subscription inbox; /* by hand */
  char reply[64];                /* by hand: the inbox, and room for a token behind */
  size_t reply_size;             /* by hand: without the token */
};

/* Both connect, run, print the figures, and close; or say why not and exit with status 1. */
void alo_load_run_request(alo_load *load);
void alo_load_run_by_hand(alo_load *load);

/* To be called for each answer: takes its latency, and starts the next in its place. */
void alo_load_answered(alo_load *load, alo_load_place *place);

/* Says what failed and exits with status 1. `error` may be NULL. */
_Noreturn void alo_load_fail(const char *what, aloft_status status, const aloft_error *error);

/* Opens a connection to `url` on a new loop and waits until it is ready. Of so many in flight, or
 * of the library's own default (0), and of output for them. With tls:// it trusts the authorities
 * in the file that NATS_CA of the environment names, and its heap is counted. */
void alo_load_connect(const char *url, uint32_t inflight, aloft_loop **loop, aloft_nats **nats);
bool alo_load_is_encrypted(const char *url);

#endif
