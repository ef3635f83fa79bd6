/* One request's life: its parameters are read, it waits for a connection, its query runs, its
 * reply is sent. */
#ifndef ALO_REQUEST_H
#define ALO_REQUEST_H

#include "gateway_parts.h"

/* Makes the gateway's requests. False: no memory. */
bool alo_requests_make(alo_gateway *gateway);
void alo_requests_free(alo_gateway *gateway);

/* A message has come. [call] */
void alo_request_receive(alo_service *service, const aloft_nats_message *message);

#endif
