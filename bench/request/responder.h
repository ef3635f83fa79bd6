/* The other ends of aloft-bench-nats. Both run until they are killed or their connection ends. */
#ifndef ALO_RESPONDER_H
#define ALO_RESPONDER_H

#include <stdint.h>

/* Answers each request on `subject` at `url` with its own data. Prints "ready" and a newline when
 * the server has taken the subscription. Returns the exit status. */
int alo_responder_run(const char *url, const char *subject);

/* Stands in for the server and the responder, so that what a client does can be counted without
 * their timing: takes one connection, and answers each round of `round` requests with one write
 * when it is complete. What remains of a round is answered after a while of silence. Prints the URL
 * and a newline. Returns the exit status. */
int alo_scripted_peer_run(uint32_t round);

#endif
