/* The TDS server of lite: one loop, many connections, each with a session of the engine. */
#ifndef ALO_LITE_SERVER_H
#define ALO_LITE_SERVER_H

#include <signal.h>
#include <stdio.h>

#include "engine.h"
#include "lite.h"
#include "loop.h"

typedef struct alo_lite alo_lite;

typedef struct alo_lite_counters {
  uint64_t connections, logins; /* since the start */
  uint64_t refused;             /* connections beyond connections_max, and logins */
  uint64_t statements;          /* begun */
  uint64_t stopped;             /* batches ended by ATTENTION while they ran or waited */
  uint64_t ignored;             /* requests taken back before they were whole */
  uint64_t protocol_errors;
  uint32_t open; /* connections now */
} alo_lite_counters;

typedef struct alo_lite_config {
  alo_engine_config engine;  /* its steady clock, when NULL, is the loop's */
  aloft_text user, password; /* [call] */
  alo_address address;       /* port 0: any */
  uint32_t connections_max;  /* 0: 1,024 */
  uint64_t login_timeout_ns; /* 0: 30 s */
  alo_lite_tls tls;
  aloft_text certificate, key;           /* [call] PEM; unless `tls` is off */
  aloft_text certificate_name, key_name; /* [call] of their files, for `error`; absent: none */
  FILE *log; /* a line for each statement and each one stopped; NULL: none */
  /* When it becomes other than 0, a statement that runs is interrupted and its connection dropped,
   * so that the loop's turn ends: for signal handlers. NULL: none. */
  const volatile sig_atomic_t *stopping;
} alo_lite_config;

/* `error` (256 bytes): one line that says what to do. */
aloft_status alo_lite_open(alo_lite **lite, aloft_loop *loop, const alo_lite_config *config,
                           char *error);
uint16_t alo_lite_port(const alo_lite *lite);
alo_lite_counters alo_lite_get_counters(const alo_lite *lite);
/* Ends every connection at once. Before the loop is closed, outside of a turn. */
void alo_lite_close(alo_lite *lite);

#endif
