#include "gateway_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "request.h"

/* ---- the end ---- */

void alo_gateway_check_end(alo_gateway *gateway) {
  bool idle = gateway->requests_busy == 0;
  if (gateway->state.ended || !idle || !(gateway->state.lost || gateway->drained))
    return;
  gateway->state.ended = true;
  aloft_op_cancel(&gateway->drain_time);
}

/* No request comes any more; those that are here have drain_ns. */
static void flushed(aloft_op *op, aloft_status status) {
  alo_gateway *gateway = ALOFT_CONTAINER(op, alo_gateway, drain_flush);
  (void)status; /* without the server's answer nothing can come either */
  for (size_t i = 0; i < gateway->service_count; i++)
    aloft_nats_unsubscribe(&gateway->services[i].subscription);
  gateway->drained = true;
  alo_gateway_check_end(gateway);
}

static void time_over(aloft_op *op, aloft_status status) {
  alo_gateway *gateway = ALOFT_CONTAINER(op, alo_gateway, drain_time);
  if (status != ALOFT_TIMEOUT)
    return;
  alo_journal_say(&gateway->journal,
                  "%u requests still run after the time to drain: cancelling them",
                  (unsigned)gateway->requests_busy);
  aloft_cancel_fire(&gateway->stop);
}

void alo_gateway_drain(alo_gateway *gateway) {
  if (gateway->draining || gateway->state.lost)
    return;
  gateway->draining = true;
  for (size_t i = 0; i < gateway->service_count; i++)
    aloft_nats_drain(&gateway->services[i].subscription);
  gateway->drain_time = (aloft_op){.done = time_over, .timeout_ns = gateway->drain_ns};
  if (gateway->drain_ns == 0 || aloft_sleep_start(gateway->loop, &gateway->drain_time) != ALOFT_OK)
    aloft_cancel_fire(&gateway->stop);
  gateway->drain_flush = (aloft_op){.done = flushed, .timeout_ns = ALOFT_SECONDS(5)};
  if (aloft_nats_flush(gateway->nats, &gateway->drain_flush) != ALOFT_OK)
    flushed(&gateway->drain_flush, ALOFT_CLOSED);
}

/* ---- subscriptions ---- */

static void hear(aloft_nats_subscription *subscription, const aloft_nats_message *message) {
  alo_request_receive(ALOFT_CONTAINER(subscription, alo_service, subscription), message);
}

static void unsubscribed(aloft_op *op, aloft_status status) {
  alo_service *service = ALOFT_CONTAINER(op, alo_service, subscription.op);
  alo_gateway *gateway = service->gateway;
  gateway->services_open--;
  if (status == ALOFT_OK || status == ALOFT_CLOSED || gateway->state.lost)
    return;
  gateway->state.lost = true;
  alo_journal_say(&gateway->journal, "the connection to NATS is lost: %.*s",
                  ALOFT_PRINT(op->error->message));
  aloft_cancel_fire(&gateway->stop);
  alo_gateway_check_end(gateway);
}

aloft_status alo_gateway_start(alo_gateway *gateway, char error[ALO_GATEWAY_ERROR_MAX]) {
  for (size_t i = 0; i < gateway->service_count; i++) {
    alo_service *service = &gateway->services[i];
    service->subscription = (aloft_nats_subscription){.op = {.done = unsubscribed},
                                                      .subject = service->endpoint->subject,
                                                      .queue = aloft_text_of(gateway->queue),
                                                      .message = hear};
    aloft_status status = aloft_nats_subscribe(gateway->nats, &service->subscription);
    if (status != ALOFT_OK) {
      snprintf(error, ALO_GATEWAY_ERROR_MAX, "%s: cannot subscribe to %.*s: %.*s",
               service->endpoint->path, ALOFT_PRINT(service->endpoint->subject),
               ALOFT_PRINT(service->subscription.op.error->message));
      return status;
    }
    gateway->services_open++;
  }
  return ALOFT_OK;
}

/* ---- the SQL Server ---- */

/* One acquisition, and where its error goes. */
struct trial {
  aloft_tds_acquire acquire;
  char *error;
};

static void tried(aloft_op *op, aloft_status status) {
  char *error = ALOFT_CONTAINER(op, struct trial, acquire.op)->error;
  if (status != ALOFT_OK)
    snprintf(error, ALO_GATEWAY_ERROR_MAX, "%.*s", ALOFT_PRINT(op->error->message));
}

aloft_status alo_gateway_try_server(alo_gateway *gateway, aloft_cancel *cancel,
                                    char error[ALO_GATEWAY_ERROR_MAX]) {
  struct trial trial = {.acquire = {.op = {.done = tried, .cancel = cancel}}, .error = error};
  aloft_status status = aloft_tds_pool_take(gateway->pool, &trial.acquire);
  if (status != ALOFT_OK) {
    tried(&trial.acquire.op, status);
    return status;
  }
  status = aloft_wait(gateway->loop, &trial.acquire.op);
  if (status == ALOFT_OK)
    aloft_tds_pool_give(gateway->pool, trial.acquire.tds);
  return status;
}

static aloft_status open_pool(alo_gateway *gateway, const alo_gateway_config *config, char *error) {
  const aloft_tds_pool_config pool = {.size = sizeof pool,
                                      .connection = config->connection,
                                      .connections_max = gateway->connections_max,
                                      .waiting_max = gateway->requests_max};
  aloft_status status = aloft_tds_pool_open(&gateway->pool, gateway->loop, &pool);
  if (status == ALOFT_OK)
    return ALOFT_OK;
  const aloft_error *reason = aloft_loop_error(gateway->loop);
  gateway->pool = NULL;
  if (reason == NULL)
    reason = aloft_status_error(status);
  snprintf(error, ALO_GATEWAY_ERROR_MAX, "%.*s", ALOFT_PRINT(reason->message));
  return status;
}

/* ---- open and close ---- */

static uint32_t limit(uint32_t value, uint32_t usual, uint32_t max) {
  if (value == 0)
    value = usual;
  return value < max ? value : max;
}

static bool make_services(alo_gateway *gateway, const alo_gateway_config *config) {
  const alo_endpoint_folder *folder = config->folder;
  gateway->services = calloc(folder->count, sizeof *gateway->services);
  gateway->queue = calloc(config->queue.size + 1, 1);
  if (gateway->services == NULL || gateway->queue == NULL)
    return false;
  if (config->queue.size > 0)
    memcpy(gateway->queue, config->queue.data, config->queue.size);
  for (; gateway->service_count < folder->count; gateway->service_count++)
    gateway->services[gateway->service_count] =
        (alo_service){.gateway = gateway, .endpoint = &folder->endpoints[gateway->service_count]};
  return alo_requests_make(gateway);
}

aloft_status alo_gateway_open(alo_gateway **made, const alo_gateway_config *config,
                              char error[ALO_GATEWAY_ERROR_MAX]) {
  alo_gateway *gateway = calloc(1, sizeof *gateway);
  snprintf(error, ALO_GATEWAY_ERROR_MAX, "out of memory");
  if (gateway == NULL)
    return ALOFT_NO_MEMORY;
  gateway->loop = config->loop;
  gateway->nats = config->nats;
  gateway->verbose = config->verbose;
  gateway->drain_ns = config->drain_ns;
  gateway->journal =
      (alo_journal){.line = config->line, .context = config->context, .loop = config->loop};
  gateway->connections_max =
      limit(config->connections_max, ALO_GATEWAY_CONNECTIONS, ALO_GATEWAY_CONNECTIONS_MAX);
  gateway->requests_max =
      limit(config->requests_max, ALO_GATEWAY_REQUESTS, ALO_GATEWAY_REQUESTS_MAX);
  aloft_cancel_init(&gateway->stop, config->loop, NULL);
  aloft_status status = ALOFT_NO_MEMORY;
  if (make_services(gateway, config))
    status = open_pool(gateway, config, error);
  *made = gateway;
  if (status != ALOFT_OK) {
    alo_gateway_close(gateway);
    *made = NULL;
  }
  return status;
}

alo_gateway_state alo_gateway_get_state(const alo_gateway *gateway) {
  return gateway->state;
}

static void closed(aloft_op *op, aloft_status status) {
  (void)op;
  (void)status;
}

/* Everything in flight ends within a turn or two: it has been cancelled. */
void alo_gateway_close(alo_gateway *gateway) {
  if (gateway == NULL)
    return;
  gateway->state.ended = true;
  aloft_cancel_fire(&gateway->stop);
  for (size_t i = 0; i < gateway->service_count && gateway->services_open > 0; i++)
    aloft_nats_unsubscribe(&gateway->services[i].subscription);
  if (aloft_op_in_flight(&gateway->drain_flush))
    aloft_op_cancel(&gateway->drain_flush);
  if (aloft_op_in_flight(&gateway->drain_time))
    aloft_op_cancel(&gateway->drain_time);
  while (gateway->requests_busy > 0 || gateway->services_open > 0 ||
         aloft_op_in_flight(&gateway->drain_flush) || aloft_op_in_flight(&gateway->drain_time)) {
    if (aloft_loop_turn(gateway->loop, 0) != ALOFT_OK)
      break;
  }
  /* After the requests, which give their connections back. */
  aloft_op op = {.done = closed};
  if (gateway->pool != NULL && aloft_tds_pool_close(gateway->pool, &op) == ALOFT_OK)
    aloft_wait(gateway->loop, &op);
  aloft_cancel_fini(&gateway->stop);
  alo_requests_free(gateway);
  free(gateway->services);
  free(gateway->queue);
  free(gateway);
}
