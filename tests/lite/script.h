/* Runs batches on the engine and writes what came of them as one line of text:
 *
 *   int,nvarchar(5)? / 1,abc / 2,NULL / #2
 *
 * is a result set of two columns ('?': nullable) and two rows; "#2" is DONE with a count of 2 ("#"
 * without one; a SELECT's own count is left out). "!8134" is an error, "i:text" a message of
 * severity 0 to 10, "begun", "committed", "rolled back" are transactions, "wait:N" nanoseconds,
 * "busy", "interrupted", "@p=5" an output parameter, "db:name" USE. Values are in canonical text.
 */
#ifndef SCRIPT_H
#define SCRIPT_H

#include "engine.h"

enum { SCRIPT_ROOM = 1 << 16 };

typedef struct script_output {
  char text[SCRIPT_ROOM];
  size_t size;
  alo_engine_message last; /* its text is in `message` */
  char message[2048];
  size_t steps;
} script_output;

/* Until END, INTERRUPTED or BUSY (true when BUSY: go on with script_continue). */
bool script_run(script_output *script, alo_session *session, const char *sql);
bool script_start(script_output *script, alo_session *session, const alo_batch *batch);
bool script_continue(script_output *script, alo_session *session);

/* An engine on a database in memory with clocks that stand still: `script_now` of the wall at
 * 2024-02-29 12:34:56.1234567, and `script_steady`. */
alo_engine *script_engine(const char *path);
alo_session *script_session(alo_engine *engine);
extern uint64_t script_now, script_steady;

#endif
