#include "request.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "duration.h"
#include "parameters.h"
#include "utf8_text.h"

enum { REPLY_TO_MAX = 1024, ERROR_MAX = 1024, TIMEOUT_TEXT_MAX = 64 };
enum { MAX_PAYLOAD_DEFAULT = 1 << 20, REPLY_MAX = (8 << 20) - (64 << 10) };

/* How long a reply waits for room in the output to NATS. */
#define SENDING_TIME ALOFT_SECONDS(10)

/* What a reply says, after HTTP. */
enum {
  CODE_OK = 200,
  CODE_REQUEST = 400, /* the request is wrong */
  CODE_SIZE = 413,    /* the reply is over max_payload */
  CODE_SERVER = 500,  /* SQL Server answered with an error, or the endpoint is wrong */
  CODE_UNABLE = 503,  /* busy, stopping, or no SQL Server */
  CODE_DEADLINE = 504
};

struct alo_request {
  alo_request *next; /* in free_requests */
  alo_service *service;
  uint64_t started_ns, deadline_ns, give_up_ns;
  aloft_tds_acquire acquire;
  aloft_tds_query query;
  aloft_op flush;
  aloft_tds *tds;   /* NULL: none is held */
  alo_reply *reply; /* NULL: none is held */
  aloft_bytes body;
  aloft_tds_param *params;
  alo_parameter_texts texts;
  int code;
  char error[ERROR_MAX];
  size_t reply_to_size;
  char reply_to[REPLY_TO_MAX];
};

/* ---- the requests ---- */

bool alo_requests_make(alo_gateway *gateway) {
  size_t most = 1;
  for (size_t i = 0; i < gateway->service_count; i++) {
    if (gateway->services[i].endpoint->parameter_count > most)
      most = gateway->services[i].endpoint->parameter_count;
  }
  gateway->requests = calloc(gateway->requests_max, sizeof *gateway->requests);
  gateway->params = calloc(gateway->requests_max * most, sizeof *gateway->params);
  gateway->replies = calloc(gateway->connections_max, sizeof *gateway->replies);
  gateway->free_replies = calloc(gateway->connections_max, sizeof(alo_reply *));
  if (gateway->requests == NULL || gateway->params == NULL || gateway->replies == NULL ||
      gateway->free_replies == NULL)
    return false;
  for (uint32_t i = gateway->requests_max; i-- > 0;) {
    alo_request *request = &gateway->requests[i];
    request->params = gateway->params + i * most;
    request->next = gateway->free_requests;
    gateway->free_requests = request;
  }
  for (; gateway->replies_free < gateway->connections_max; gateway->replies_free++)
    gateway->free_replies[gateway->replies_free] = &gateway->replies[gateway->replies_free];
  return true;
}

void alo_requests_free(alo_gateway *gateway) {
  for (uint32_t i = 0; gateway->requests != NULL && i < gateway->requests_max; i++)
    alo_parameter_texts_free(&gateway->requests[i].texts);
  for (uint32_t i = 0; gateway->replies != NULL && i < gateway->connections_max; i++)
    alo_reply_free(&gateway->replies[i]);
  free(gateway->requests);
  free(gateway->params);
  free(gateway->replies);
  free(gateway->free_replies);
}

static alo_request *take_request(alo_gateway *gateway) {
  alo_request *request = gateway->free_requests;
  if (request == NULL)
    return NULL;
  gateway->free_requests = request->next;
  gateway->requests_busy++;
  return request;
}

static alo_gateway *gateway_of(const alo_request *request) {
  return request->service->gateway;
}

/* ---- errors ---- */

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void
fail(alo_request *request, int code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  request->code = code;
  vsnprintf(request->error, sizeof request->error, format, arguments);
  va_end(arguments);
}

/* The details of a failed connection are for whoever runs the gateway, not for its clients. */
static void fail_unable(alo_request *request, aloft_status status, const aloft_error *error) {
  fail(request, CODE_UNABLE, "the SQL Server cannot be reached: %s: %s",
       aloft_status_meaning(status),
       status == ALOFT_LOST || status == ALOFT_LOST_UNSENT ? aloft_status_advice(status)
                                                           : "try again later");
  alo_journal_complain(&gateway_of(request)->journal, "%s: no SQL Server: %.*s",
                       request->service->endpoint->path, ALOFT_PRINT(error->message));
}

static void fail_deadline(alo_request *request) {
  char text[ALO_DURATION_TEXT];
  alo_duration_write(request->deadline_ns - request->started_ns, text);
  if (request->deadline_ns <= request->started_ns)
    fail(request, CODE_DEADLINE, "the request gives no time: raise its Aloft-Timeout");
  else if (request->tds == NULL)
    fail(request, CODE_DEADLINE,
         "no connection was free within the %s that the request had: "
         "all %" PRIu32 " are in use",
         text, gateway_of(request)->connections_max);
  else
    fail(request, CODE_DEADLINE, "the query was stopped after the %s that the request had", text);
}

/* The SQL Server's own words, or those of the client for what it could not do. */
static void fail_server(alo_request *request, const aloft_error *error) {
  if (error->number != 0)
    fail(request, CODE_SERVER, "SQL %" PRId32 ": %.*s", error->number, ALOFT_PRINT(error->message));
  else
    fail(request, CODE_SERVER, "%.*s", ALOFT_PRINT(error->message));
}

static void fail_with(alo_request *request, aloft_status status, const aloft_error *error) {
  if (request->code != CODE_OK)
    return; /* it has failed before, which is why the operation ended */
  switch (aloft_status_class(status)) {
  case ALOFT_CLASS_TIMEOUT:
    fail_deadline(request);
    return;
  case ALOFT_CLASS_CANCELLED:
  case ALOFT_CLASS_CLOSED:
    fail(request, CODE_UNABLE, "the gateway is stopping: try again");
    return;
  case ALOFT_CLASS_TRANSPORT:
  case ALOFT_CLASS_AUTH:
    fail_unable(request, status, error);
    return;
  case ALOFT_CLASS_LIMIT:
    fail(request, status == ALOFT_TOO_LARGE ? CODE_SIZE : CODE_UNABLE, "%.*s",
         ALOFT_PRINT(error->message));
    return;
  default:
    if (request->tds == NULL)
      fail_unable(request, status, error);
    else
      fail_server(request, error);
    return;
  }
}

static void fail_size(alo_request *request) {
  fail(request, CODE_SIZE,
       "the reply is over the %zu bytes that the NATS server and the gateway take: select less",
       request->reply->size_max);
}

/* ---- the reply ---- */

static aloft_status publish_error(alo_gateway *gateway, aloft_text reply_to, int code,
                                  aloft_text error) {
  char line[ERROR_MAX], number[16];
  size_t size = alo_utf8_text_line(error, line, sizeof line);
  snprintf(number, sizeof number, "%d", code);
  const aloft_nats_header headers[] = {
      {ALOFT_TEXT("Nats-Service-Error"), {line, size}},
      {ALOFT_TEXT("Nats-Service-Error-Code"), aloft_text_of(number)},
  };
  const aloft_nats_message message = {.subject = reply_to, .header = headers, .header_count = 2};
  return aloft_nats_publish(gateway->nats, &message);
}

static aloft_status publish(alo_request *request) {
  alo_gateway *gateway = gateway_of(request);
  aloft_text reply_to = {request->reply_to, request->reply_to_size};
  if (request->code != CODE_OK)
    return publish_error(gateway, reply_to, request->code, aloft_text_of(request->error));
  const aloft_nats_message message = {.subject = reply_to, .data = request->body};
  return aloft_nats_publish(gateway->nats, &message);
}

static void tell(const alo_request *request) {
  alo_gateway *gateway = gateway_of(request);
  char time[ALO_DURATION_TEXT], error[ERROR_MAX];
  bool good = request->code == CODE_OK;
  uint64_t rows = good && request->reply != NULL ? request->reply->rows : 0;
  size_t size = alo_utf8_text_line(aloft_text_of(good ? "" : request->error), error, sizeof error);
  alo_duration_write(aloft_loop_now(gateway->loop) - request->started_ns, time);
  alo_journal_say(&gateway->journal, "%.*s %d %" PRIu64 " rows %s%s%.*s",
                  ALOFT_PRINT(request->service->endpoint->subject), request->code, rows, time,
                  good ? "" : " ", (int)size, error);
}

static void finish(alo_request *request) {
  alo_gateway *gateway = gateway_of(request);
  if (gateway->verbose)
    tell(request);
  if (request->reply != NULL)
    gateway->free_replies[gateway->replies_free++] = request->reply;
  if (request->tds != NULL)
    aloft_tds_pool_give(gateway->pool, request->tds);
  request->next = gateway->free_requests;
  gateway->free_requests = request;
  gateway->requests_busy--;
  alo_gateway_check_end(gateway);
}

static void give_up(alo_request *request, aloft_status status) {
  alo_gateway *gateway = gateway_of(request);
  gateway->state.unanswered++;
  alo_journal_complain(&gateway->journal, "a reply of %.*s was not sent: %s",
                       ALOFT_PRINT(request->service->endpoint->subject),
                       aloft_status_meaning(status));
  finish(request);
}

static void answer(alo_request *request);

static void flushed(aloft_op *op, aloft_status status) {
  alo_request *request = ALOFT_CONTAINER(op, alo_request, flush);
  if (status == ALOFT_OK)
    answer(request);
  else
    give_up(request, status);
}

/* Not even a flush has room: look again after a while. */
static void slept(aloft_op *op, aloft_status status) {
  alo_request *request = ALOFT_CONTAINER(op, alo_request, flush);
  if (status == ALOFT_TIMEOUT && aloft_loop_now(gateway_of(request)->loop) < request->give_up_ns)
    answer(request);
  else
    give_up(request, status);
}

/* The connection is kept meanwhile, so that no more is read than can be sent. */
static void wait_for_room(alo_request *request) {
  alo_gateway *gateway = gateway_of(request);
  if (request->give_up_ns == 0) {
    request->give_up_ns = aloft_loop_now(gateway->loop) + SENDING_TIME;
    alo_journal_complain(&gateway->journal, "%.*s: the reply waits: NATS takes no more at present",
                         ALOFT_PRINT(request->service->endpoint->subject));
  }
  request->flush =
      (aloft_op){.done = flushed, .deadline_ns = request->give_up_ns, .cancel = &gateway->stop};
  aloft_status status = aloft_nats_flush(gateway->nats, &request->flush);
  if (status == ALOFT_FULL) {
    request->flush =
        (aloft_op){.done = slept, .timeout_ns = ALOFT_MILLISECONDS(10), .cancel = &gateway->stop};
    status = aloft_sleep_start(gateway->loop, &request->flush);
  }
  if (status != ALOFT_OK)
    give_up(request, status);
}

static void answer(alo_request *request) {
  alo_gateway *gateway = gateway_of(request);
  aloft_status status = publish(request);
  if (status == ALOFT_TOO_LARGE && request->code == CODE_OK) {
    fail_size(request); /* the server has lowered its max_payload meanwhile */
    status = publish(request);
  }
  if (status == ALOFT_FULL) {
    wait_for_room(request);
  } else if (status != ALOFT_OK) {
    give_up(request, status);
  } else {
    gateway->state.answered++;
    gateway->state.errors += request->code != CODE_OK;
    finish(request);
  }
}

/* ---- the query ---- */

static void stop_query(alo_request *request, aloft_status status, const char *column_error) {
  const char *path = request->service->endpoint->path;
  if (status == ALOFT_TOO_LARGE) {
    fail_size(request);
  } else if (status == ALOFT_ARGUMENT) {
    fail(request, CODE_SERVER, "%s: %s", path, column_error);
    alo_journal_complain(&gateway_of(request)->journal, "%s", request->error);
  } else {
    fail(request, CODE_UNABLE, "the gateway has no memory for the reply: try again");
  }
  aloft_op_cancel(&request->query.op);
}

static void read_answer(aloft_tds_query *query) {
  alo_request *request = ALOFT_CONTAINER(query, alo_request, query);
  char error[ALO_REPLY_COLUMN_ERROR_MAX] = "";
  for (;;) {
    aloft_status status = ALOFT_OK, step = aloft_tds_step(query);
    if (step == ALOFT_ROW)
      status = alo_reply_add_row(request->reply, query);
    else if (step == ALOFT_RESULT)
      status = alo_reply_add_set(request->reply, query, error);
    else
      return;
    if (status != ALOFT_OK) {
      stop_query(request, status, error);
      return;
    }
  }
}

static void query_done(aloft_op *op, aloft_status status) {
  alo_request *request = ALOFT_CONTAINER(op, alo_request, query.op);
  if (status != ALOFT_OK)
    fail_with(request, status, op->error);
  else if (alo_reply_end(request->reply, &request->body) != ALOFT_OK)
    fail_size(request);
  answer(request);
}

/* The server's limit, within what the connection holds until it is written (its tx_bytes_max, by
 * default 8 MiB); a server that tells none has the one of nats-server's default. */
static size_t reply_size_max(const alo_gateway *gateway) {
  aloft_nats_info info = {.size = sizeof info};
  aloft_nats_get_info(gateway->nats, &info);
  uint64_t most = info.max_payload ? info.max_payload : MAX_PAYLOAD_DEFAULT;
  return most < REPLY_MAX ? (size_t)most : (size_t)REPLY_MAX;
}

static aloft_status start_query(alo_request *request) {
  alo_gateway *gateway = gateway_of(request);
  const alo_endpoint *endpoint = request->service->endpoint;
  request->reply = gateway->free_replies[--gateway->replies_free];
  aloft_status status = alo_reply_begin(request->reply, reply_size_max(gateway));
  request->query = (aloft_tds_query){
      .op = {.done = query_done, .deadline_ns = request->deadline_ns, .cancel = &gateway->stop},
      .sql = {endpoint->text, endpoint->size},
      .params = request->params,
      .param_count = endpoint->parameter_count,
      .ready = read_answer,
  };
  if (status == ALOFT_OK)
    return aloft_tds_query_start(request->tds, &request->query);
  request->query.op.error = aloft_status_error(status);
  return status;
}

/* ---- waiting for a connection ---- */

static void acquired(aloft_op *op, aloft_status status) {
  alo_request *request = ALOFT_CONTAINER(op, alo_request, acquire.op);
  const aloft_error *error = op->error;
  if (status == ALOFT_OK) {
    request->tds = request->acquire.tds;
    status = start_query(request);
    error = request->query.op.error;
  }
  if (status == ALOFT_OK)
    return;
  fail_with(request, status, error);
  answer(request);
}

static void take_connection(alo_request *request) {
  alo_gateway *gateway = gateway_of(request);
  request->acquire = (aloft_tds_acquire){
      .op = {.done = acquired, .deadline_ns = request->deadline_ns, .cancel = &gateway->stop}};
  aloft_status status = aloft_tds_pool_take(gateway->pool, &request->acquire);
  if (status == ALOFT_OK)
    return;
  fail_with(request, status, request->acquire.op.error);
  answer(request);
}

/* ---- the message ---- */

/* The earlier of the endpoint's timeout and the header's. False: the header is not a duration. */
static bool read_deadline(alo_request *request, const aloft_nats_message *message) {
  aloft_text header;
  char text[TIMEOUT_TEXT_MAX];
  uint64_t timeout_ns = request->service->endpoint->timeout_ns, asked_ns = 0;
  if (aloft_nats_header_find(message, ALOFT_TEXT("Aloft-Timeout"), &header)) {
    snprintf(text, sizeof text, "%.*s", ALOFT_PRINT(header));
    if (header.size >= sizeof text || !alo_duration_parse(text, &asked_ns))
      return false;
    timeout_ns = asked_ns < timeout_ns ? asked_ns : timeout_ns;
  }
  request->deadline_ns = request->started_ns + timeout_ns;
  return true;
}

static void begin(alo_request *request, alo_service *service, const aloft_nats_message *message) {
  request->service = service;
  request->started_ns = aloft_loop_now(service->gateway->loop);
  request->give_up_ns = 0;
  request->tds = NULL;
  request->reply = NULL;
  request->code = CODE_OK;
  memcpy(request->reply_to, message->reply.data, message->reply.size);
  request->reply_to_size = message->reply.size;
}

static void refuse_message(alo_service *service, const aloft_nats_message *message, int code,
                           const char *error) {
  alo_gateway *gateway = service->gateway;
  aloft_status status = publish_error(gateway, message->reply, code, aloft_text_of(error));
  gateway->state.answered += status == ALOFT_OK;
  gateway->state.errors += status == ALOFT_OK;
  gateway->state.unanswered += status != ALOFT_OK;
  if (status != ALOFT_OK || gateway->verbose)
    alo_journal_complain(&gateway->journal, "%.*s %d %s%s", ALOFT_PRINT(service->endpoint->subject),
                         code, error, status == ALOFT_OK ? "" : " (which could not be sent)");
}

static void refuse_busy(alo_service *service, const aloft_nats_message *message) {
  char error[128];
  snprintf(error, sizeof error,
           "busy: all %" PRIu32 " requests that may wait or run at one time do: try again",
           service->gateway->requests_max);
  refuse_message(service, message, CODE_UNABLE, error);
}

/* Its result, and its errors, could reach nobody: it is not run. */
static void refuse_silent(alo_service *service) {
  service->gateway->state.unanswered++;
  alo_journal_complain(
      &service->gateway->journal,
      "%.*s: a message without a subject for the reply was not run: send a request",
      ALOFT_PRINT(service->endpoint->subject));
}

static void run(alo_request *request, const aloft_nats_message *message) {
  aloft_text body = {message->data.data, message->data.size};
  char error[ALO_PARAMETERS_ERROR_MAX];
  if (!read_deadline(request, message))
    fail(request, CODE_REQUEST, "the header Aloft-Timeout is not a duration such as 250ms or 2s");
  else if (!alo_parameters_read(request->service->endpoint, body, &request->texts, request->params,
                                error))
    fail(request, CODE_REQUEST, "%s", error);
  if (request->code == CODE_OK)
    take_connection(request);
  else
    answer(request);
}

void alo_request_receive(alo_service *service, const aloft_nats_message *message) {
  if (message->reply.data == NULL || message->reply.size == 0) {
    refuse_silent(service);
    return;
  }
  if (message->reply.size > REPLY_TO_MAX) {
    refuse_message(service, message, CODE_REQUEST, "the subject for the reply is over 1024 bytes");
    return;
  }
  alo_request *request = take_request(service->gateway);
  if (request == NULL) {
    refuse_busy(service, message);
    return;
  }
  begin(request, service, message);
  run(request, message);
}
