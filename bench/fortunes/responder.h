/* A server that says the same to every query, as it was made or recorded. PRELOGIN is answered
 * without encryption, LOGIN7 by letting everybody in. So what is measured is the client alone. */
#ifndef ALO_RESPONDER_H
#define ALO_RESPONDER_H

#include <aloft/base.h>

/* `before`, `rows` as often as `times`, `after`: as they are, or, if there is a `packet_size`, cut
 * into packets of one message on their way. */
typedef struct alo_responder_answer {
  aloft_bytes before, rows, after;
  uint64_t times;
  uint32_t packet_size; /* 0: whole packets already */
} alo_responder_answer;

/* Prints "listening on 127.0.0.1:PORT" and serves until it is killed. A batch without the word
 * SELECT is answered by an empty result. The exit status. */
int alo_responder_run(const alo_responder_answer *answer);

#endif
