/* Event loops of others for tests, each with the library's adapter for it; and the turns of a loop
 * made by one of them, so that a test for the built-in loop is one for every adapter too.
 * ALOFT_TEST_LOOP chooses: uv (or nothing; aloft_loop_turn), epoll, libevent, glib. */
#ifndef HARNESS_FOREIGN_H
#define HARNESS_FOREIGN_H

#include <aloft/loop.h>

/* A foreign loop. There is one of each kind at a time, and one adapter on it. */
typedef struct harness_foreign {
  const char *name;
  void (*open)(void);
  void (*close)(void);
  aloft_status (*attach)(aloft_loop *loop);
  void (*detach)(void);
  aloft_status (*close_loop)(void); /* the adapter's close */
  bool (*attached)(void);
  /* One iteration, waiting at most `wait_ms` for an event (-1: no limit). Why the adapter's turn
   * failed, or ALOFT_OK; after a failure it is not turned again. */
  aloft_status (*iterate)(int wait_ms);
  /* Calls `call` once in `ms` from the foreign loop. At most 8 at a time. */
  void (*after)(int ms, void (*call)(void *context), void *context);
  /* Calls `call` once in the next iteration, between the adapter's asking for the wants and the
   * wait; NULL: this loop calls nobody then. */
  void (*before_wait)(void (*call)(void *context), void *context);
  bool nests; /* iterate may be called in a callback */
} harness_foreign;

/* Those that this build has, NULL after the last. */
extern const harness_foreign *const harness_foreigns[];

/* What ALOFT_TEST_LOOP names; NULL: the built-in loop. Fails the test when this build lacks it. */
const harness_foreign *harness_foreign_chosen(void);

/* aloft_loop_turn and aloft_wait by the chosen loop. One iteration of it need not turn: what waits
 * for something asks again. In a foreign loop a wait of 10 s or more has no end, so that a wake-up
 * that was forgotten is not made good by the limit. A loop in virtual time is turned by itself. */
aloft_status harness_turn(aloft_loop *loop, uint64_t wait_ns);
aloft_status harness_wait(aloft_loop *loop, aloft_op *op);
/* aloft_loop_close, by the adapter if harness_turn has used one. */
void harness_loop_shut(aloft_loop *loop);

#endif
