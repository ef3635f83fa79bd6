#include "interrupt.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

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

alo_exit alo_interrupt_exit(alo_exit code) {
  int number = alo_interrupt_signal();
  return number == 0 ? code : (alo_exit)(ALO_EXIT_SIGNAL + number);
}
