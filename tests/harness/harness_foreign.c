#include "harness_foreign.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

extern const harness_foreign harness_epoll, harness_libevent, harness_glib;

const harness_foreign *const harness_foreigns[] = {
    &harness_epoll,
#ifdef HARNESS_LIBEVENT
    &harness_libevent,
#endif
#ifdef HARNESS_GLIB
    &harness_glib,
#endif
    NULL,
};

static aloft_loop *attached; /* to the chosen loop */

const harness_foreign *harness_foreign_chosen(void) {
  const char *name = getenv("ALOFT_TEST_LOOP");
  if (!name || !*name || strcmp(name, "uv") == 0)
    return NULL;
  for (size_t i = 0; harness_foreigns[i]; i++)
    if (strcmp(harness_foreigns[i]->name, name) == 0)
      return harness_foreigns[i];
  fail_msg("ALOFT_TEST_LOOP=%s: this build has no such loop", name);
  return NULL;
}

static void let_go(const harness_foreign *foreign) {
  if (!attached)
    return;
  foreign->detach();
  foreign->close();
  attached = NULL;
}

/* False: the loop has no descriptor, and turns by itself. */
static bool attach(const harness_foreign *foreign, aloft_loop *loop) {
  if (attached == loop)
    return true;
  let_go(foreign);
  foreign->open();
  aloft_status status = foreign->attach(loop);
  if (status != ALOFT_OK) {
    foreign->close();
    assert_int_equal(status, ALOFT_UNSUPPORTED);
    return false;
  }
  attached = loop;
  return true;
}

aloft_status harness_turn(aloft_loop *loop, uint64_t wait_ns) {
  const harness_foreign *foreign = harness_foreign_chosen();
  if (!foreign || !attach(foreign, loop))
    return aloft_loop_turn(loop, wait_ns);
  if (wait_ns >= ALOFT_SECONDS(10))
    return foreign->iterate(-1);
  return foreign->iterate((int)((wait_ns + 999999) / 1000000));
}

aloft_status harness_wait(aloft_loop *loop, aloft_op *op) {
  if (!harness_foreign_chosen())
    return aloft_wait(loop, op);
  if (!aloft_op_in_flight(op))
    return ALOFT_WRONG_STATE;
  while (aloft_op_in_flight(op)) {
    aloft_status status = harness_turn(loop, ALOFT_FOREVER);
    if (status != ALOFT_OK)
      return status;
  }
  return op->status;
}

void harness_loop_shut(aloft_loop *loop) {
  const harness_foreign *foreign = harness_foreign_chosen();
  if (!loop || attached != loop) {
    aloft_loop_close(loop);
    return;
  }
  assert_int_equal(foreign->close_loop(), ALOFT_OK);
  foreign->close();
  attached = NULL;
}
