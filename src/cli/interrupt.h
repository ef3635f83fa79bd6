/* SIGINT and SIGTERM: the first fires a cancellation, so that the command stops cleanly; the second
 * kills. SIGPIPE is ignored: a write to a closed pipe fails instead. */
#ifndef ALO_INTERRUPT_H
#define ALO_INTERRUPT_H

#include <aloft/op.h>

#include "exit_status.h"

/* Installs the handlers. */
void alo_interrupt_install(void);

/* From now on a signal fires `cancel` (until called with NULL). One that has already come fires it
 * at once. `cancel` must live until then. */
void alo_interrupt_cancels(aloft_cancel *cancel);

/* The signal that came; 0: none. */
int alo_interrupt_signal(void);

/* Waits until `descriptor` can be read (or is at its end). False, with errno EINTR: a signal has
 * come, before or meanwhile. */
bool alo_interrupt_wait_readable(int descriptor);

/* 128 + the signal, once one has come, otherwise `code`. */
alo_exit alo_interrupt_exit(alo_exit code);

#endif
