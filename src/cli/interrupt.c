#include "interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/select.h>

static atomic_int interrupt_signal;
static _Atomic(aloft_cancel *) interrupt_cancel;

static void handle(int number) {
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  atomic_store(&interrupt_signal, number);
  aloft_cancel *cancel = atomic_load(&interrupt_cancel);
  if (cancel != NULL)
    aloft_cancel_fire(cancel);
}

void alo_interrupt_install(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  sigemptyset(&action.sa_mask);
  sigaddset(&action.sa_mask, SIGINT);
  sigaddset(&action.sa_mask, SIGTERM);
  action.sa_handler = handle;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  signal(SIGPIPE, SIG_IGN);
}

void alo_interrupt_cancels(aloft_cancel *cancel) {
  atomic_store(&interrupt_cancel, cancel);
  if (cancel != NULL && alo_interrupt_signal() != 0)
    aloft_cancel_fire(cancel);
}

int alo_interrupt_signal(void) {
  return atomic_load(&interrupt_signal);
}

/* The signals are let through only while pselect waits, so that none can slip in between looking
 * at the flag and waiting. */
bool alo_interrupt_wait_readable(int descriptor) {
  sigset_t held, before;
  fd_set readable;
  int ready = -1;
  if (descriptor >= FD_SETSIZE)
    return true;
  sigemptyset(&held);
  sigaddset(&held, SIGINT);
  sigaddset(&held, SIGTERM);
  sigprocmask(SIG_BLOCK, &held, &before);
  while (ready < 0 && alo_interrupt_signal() == 0) {
    FD_ZERO(&readable);
    FD_SET(descriptor, &readable);
    ready = pselect(descriptor + 1, &readable, NULL, NULL, NULL, &before);
    if (ready < 0 && errno != EINTR)
      ready = 0; /* reading will say what is wrong */
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (ready < 0)
    errno = EINTR;
  return ready >= 0;
}

alo_exit alo_interrupt_exit(alo_exit code) {
  int number = alo_interrupt_signal();
  return number == 0 ? code : (alo_exit)(ALO_EXIT_SIGNAL + number);
}
