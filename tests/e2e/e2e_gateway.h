/* What a test of the gateway needs: a nats-server, aloft lite, a folder of endpoints, gateways, and
 * requests to them. Subjects begin with the test's process id, so that a shared server does not
 * mix runs up. */
#ifndef E2E_GATEWAY_H
#define E2E_GATEWAY_H

#include "e2e_nats_server.h"

typedef struct e2e_rig {
  e2e_nats_server nats; /* not started when ALOFT_TEST_NATS names one */
  e2e_process lite;     /* not started when ALOFT_TEST_SQLSERVER names one */
  char folder[64];      /* of the database and the endpoints, removed at the end */
  char queries[80];
  char prefix[32];
  char port[16];      /* of lite */
  char nats_url[160]; /* NATS_URL=... */
  char sql[512];      /* ALOFT_SQL=... */
  const char *environment[3];
} e2e_rig;

#define E2E_PASSWORD "se;cret-43"

/* Starts the servers that are not given by the environment. `configuration` of nats-server, NULL:
 * none; with one, or with `own_servers`, both are always the test's own. */
void e2e_rig_start(e2e_rig *rig, const char *configuration, bool own_servers);
void e2e_rig_stop(e2e_rig *rig);

/* Kills lite at once, and starts it again where it was. */
void e2e_rig_kill_lite(e2e_rig *rig);
void e2e_rig_start_lite(e2e_rig *rig, const char *port);

/* Writes the endpoint PREFIX.NAME. */
void e2e_rig_write(const e2e_rig *rig, const char *name, const char *text);
void e2e_rig_clear(const e2e_rig *rig);

/* Starts a gateway and waits until it is ready. `options` ends with NULL; it may be NULL. */
void e2e_rig_gateway(const e2e_rig *rig, e2e_process *gateway, const char *const *options);

/* Begins "aloft request PREFIX.NAME BODY --raw", with a header unless NULL. A body of NULL: none.
 */
void e2e_rig_begin(const e2e_rig *rig, e2e_process *request, const char *name, const char *body,
                   const char *header);

/* The same to its end: the exit status; the streams stay until e2e_free. */
int e2e_rig_request(const e2e_rig *rig, e2e_process *request, const char *name, const char *body,
                    const char *header);

/* A request that is to be answered with `rows`, or with an error that begins with `error`
 * ("400: the ..."). */
void e2e_rig_expect_rows(const e2e_rig *rig, const char *name, const char *body, const char *rows);
void e2e_rig_expect_error(const e2e_rig *rig, const char *name, const char *body,
                          const char *header, const char *error);

/* Ends a process with SIGTERM and expects this exit status. */
void e2e_expect_end(e2e_process *process, int signal, int status);
void e2e_expect_text(const e2e_stream *stream, const char *text);

#endif
