/* SQL over NATS: the endpoints of a folder answered from a SQL Server, on one loop. */
#ifndef ALO_GATEWAY_H
#define ALO_GATEWAY_H

#include <aloft/nats.h>
#include <aloft/tds.h>

#include "endpoint_folder.h"

typedef struct alo_gateway alo_gateway;

/* Limits, and what holds where the configuration says 0. */
enum {
  ALO_GATEWAY_CONNECTIONS = 10,
  ALO_GATEWAY_CONNECTIONS_MAX = 1000,
  ALO_GATEWAY_REQUESTS = 256,
  ALO_GATEWAY_REQUESTS_MAX = 65536
};
#define ALO_GATEWAY_DRAIN ALOFT_SECONDS(30)

typedef struct alo_gateway_config {
  aloft_loop *loop;
  aloft_nats *nats;                  /* connected; closed by the caller after the gateway */
  const alo_endpoint_folder *folder; /* until close */
  aloft_tds_config connection;       /* [call] */
  aloft_text queue;                  /* [call] the queue group */
  uint32_t connections_max;          /* to the SQL Server */
  uint32_t requests_max;             /* being answered or waiting for a connection */
  uint64_t drain_ns;                 /* for the requests that run when it is to end */
  bool verbose;                      /* a line for each request */
  void (*line)(void *context, const char *line); /* required: what it has to say */
  void *context;
} alo_gateway_config;

enum { ALO_GATEWAY_ERROR_MAX = 1024 };

/* Makes a gateway, without contact to anything. On a refusal `error` says why: ALOFT_ARGUMENT (the
 * connection string), ALOFT_NO_MEMORY. */
aloft_status alo_gateway_open(alo_gateway **gateway, const alo_gateway_config *config,
                              char error[ALO_GATEWAY_ERROR_MAX]);

/* Blocks until one connection to the SQL Server is logged in, or `cancel` fires. On a failure
 * `error` says why. */
aloft_status alo_gateway_try_server(alo_gateway *gateway, aloft_cancel *cancel,
                                    char error[ALO_GATEWAY_ERROR_MAX]);

/* Subscribes; flush the NATS connection to know that the server has taken it. */
aloft_status alo_gateway_start(alo_gateway *gateway, char error[ALO_GATEWAY_ERROR_MAX]);

/* Takes no more requests, and ends when those it has are answered; those that run longer than
 * drain_ns are cancelled and answered with 503. Once; further calls do nothing. */
void alo_gateway_drain(alo_gateway *gateway);

typedef struct alo_gateway_state {
  bool ended;                /* drained, or lost and all cancelled */
  bool lost;                 /* the connection to NATS is gone */
  uint64_t answered, errors; /* replies sent, and how many of them said an error */
  uint64_t unanswered;       /* requests without a subject for a reply, and replies not sent */
} alo_gateway_state;

alo_gateway_state alo_gateway_get_state(const alo_gateway *gateway);

/* Ends it at once and closes its connections. NULL is ignored. */
void alo_gateway_close(alo_gateway *gateway);

#endif
