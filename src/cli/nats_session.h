/* One connection to a NATS server for one command: options, connecting, waiting, closing. */
#ifndef ALO_NATS_SESSION_H
#define ALO_NATS_SESSION_H

#include <aloft/nats.h>

#include "option.h"
#include "report.h"

/* The options that request, reply, pub and sub share; those of the nats tool. */
typedef struct alo_nats_settings {
  alo_secret server;
  const char *user, *password_file, *name, *inbox_prefix;
  alo_secret password, token;
  uint64_t timeout_ns;
  const char *tls_authorities, *tls_certificate, *tls_key;
  bool tls_first;
  bool verbose; /* tells how the connection is encrypted */
} alo_nats_settings;

/* The group for a command's table, with the defaults set. `settings` [op]. `verbose`: --verbose is
 * among them, for the command has none of its own. */
alo_option_group alo_nats_option_group(alo_nats_settings *settings, bool verbose);

/* Wipes the secrets. Done by opening too; needed when it does not come to that. */
void alo_nats_settings_wipe(alo_nats_settings *settings);

/* An operation to wait for, and how it ended. */
typedef struct alo_task {
  aloft_op op;
  bool done;
  alo_failure failure; /* its status is ALOFT_OK when all went well */
} alo_task;

typedef struct alo_nats_session {
  alo_nats_settings *settings;
  aloft_loop *loop;
  aloft_nats *nats;
  aloft_cancel stop;
  bool refused; /* the server sent -ERR, which has been reported */
} alo_nats_session;

/* Connects within the timeout. Reports what failed and returns the exit status; close afterwards
 * in every case. The secrets in `settings` [op: until close] are wiped when this returns. */
alo_exit alo_nats_session_open(alo_nats_session *session, alo_nats_settings *settings);

/* Sends what is waiting, closes, and returns `code`; the signal's exit status when one came and
 * `code` is not ALO_EXIT_OK. */
alo_exit alo_nats_session_close(alo_nats_session *session, alo_exit code);

/* Turns the loop until `*done`. */
void alo_nats_session_until(alo_nats_session *session, const bool *done);

/* Waits until the server has taken everything sent so far. Reports and returns the exit status. */
alo_exit alo_nats_session_flush(alo_nats_session *session);

/* Sleeps on the loop; ALO_EXIT_OK, or the signal's exit status. */
alo_exit alo_nats_session_sleep(alo_nats_session *session, uint64_t ns);

/* Publishes, waiting for room in the output. Reports and returns the exit status. */
alo_exit alo_nats_session_publish(alo_nats_session *session, const aloft_nats_message *message);

/* The exit status of an operation that ended so; reports it as "WHAT: ..." unless a signal ended
 * it. */
alo_exit alo_nats_session_result(const alo_failure *failure, const char *what);

/* `done` of tasks, and for ops in other structs a way to keep how they ended. */
void alo_task_done(aloft_op *op, aloft_status status);
void alo_task_init(alo_task *task, uint64_t timeout_ns, aloft_cancel *cancel);

#endif
