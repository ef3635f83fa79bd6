/* A client of this library, to be measured: what every one does. What is not as it should be ends
 * the process with a message and status 1. */
#ifndef ALO_BENCH_CLIENT_H
#define ALO_BENCH_CLIENT_H

#include <aloft/tds.h>

/* Says what failed and ends the process. `error` may be NULL. */
_Noreturn void alo_bench_fail(const char *what, aloft_status status, const aloft_error *error);

/* A done of what has to go well. */
void alo_bench_ended(aloft_op *op, aloft_status status);

/* Opens a loop, and a connection to a responder at 127.0.0.1:`port`, and waits until it is ready.
 */
void alo_bench_connect(const char *port, aloft_loop **loop, aloft_tds **tds);

#endif
