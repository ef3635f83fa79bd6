/* A server that says the same to every query: the answer of the Fortunes benchmark, 1,413 bytes, as
 * it was recorded. PRELOGIN is answered without encryption, LOGIN7 by letting everybody in. So what
 * is measured is the client alone. */
#ifndef ALO_FORTUNES_RESPONDER_H
#define ALO_FORTUNES_RESPONDER_H

/* Prints "listening on 127.0.0.1:PORT" and serves until it is killed. `wrong`: the last row has
 * another text, which a client has to find. */
int alo_fortunes_responder_run(int wrong);

#endif
