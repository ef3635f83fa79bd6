/* What the requests of a gateway share. */
#ifndef ALO_GATEWAY_PARTS_H
#define ALO_GATEWAY_PARTS_H

#include "gateway.h"
#include "journal.h"
#include "reply.h"

typedef struct alo_request alo_request;

/* An endpoint and its subscription. */
typedef struct alo_service {
  alo_gateway *gateway;
  const alo_endpoint *endpoint;
  aloft_nats_subscription subscription;
} alo_service;

struct alo_gateway {
  aloft_loop *loop;
  aloft_nats *nats;
  aloft_tds_pool *pool;
  aloft_cancel stop; /* fired: every query ends now */
  alo_journal journal;
  bool verbose;
  uint64_t drain_ns;

  alo_service *services;
  size_t service_count, services_open;
  char *queue;
  alo_request *requests, *free_requests;
  uint32_t requests_max, requests_busy;
  aloft_tds_param *params;            /* of all requests */
  alo_reply *replies, **free_replies; /* one for each connection */
  uint32_t connections_max, replies_free;

  bool draining, drained; /* drained: no request can come any more */
  aloft_op drain_flush, drain_time;
  alo_gateway_state state;
};

/* Looks whether a gateway that is to end has come to its end. */
void alo_gateway_check_end(alo_gateway *gateway);

#endif
