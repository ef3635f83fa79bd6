/* A server that says the same to every query, as it was made or recorded. PRELOGIN is answered
 * without encryption, LOGIN7 by letting everybody in. So what is measured is the client alone. */
#ifndef ALO_RESPONDER_H
#define ALO_RESPONDER_H

#include <aloft/base.h>

/* Prints "listening on 127.0.0.1:PORT" and serves until it is killed. `answer` [op]: a whole
 * message. The exit status. */
int alo_responder_run(aloft_bytes answer);

#endif
