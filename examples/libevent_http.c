/* An HTTP server on libevent that asks over NATS: the body of "POST /greeting" is sent as a request
 * to the subject "greeting", and the reply is the answer. Aloft's loop runs inside of libevent's.
 *
 *   libevent_http [NATS-ADDRESS [PORT]]         127.0.0.1:4222, any free port of 127.0.0.1
 *   curl --data Ada http://127.0.0.1:PORT/greeting */
#include <aloft/adapters/libevent.h>
#include <aloft/aloft.h>

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/http.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* One HTTP request that waits for its reply. */
typedef struct question {
  aloft_nats_request request;
  struct evhttp_request *http;
} question;

static void give_up(struct evhttp_request *http, const aloft_error *error) {
  int code = error->status == ALOFT_TIMEOUT ? 504 : error->status == ALOFT_ARGUMENT ? 400 : 502;
  struct evbuffer *body = evhttp_request_get_output_buffer(http);
  evbuffer_add_printf(body, "%.*s\n", ALOFT_PRINT(error->message));
  evhttp_send_reply(http, code, NULL, NULL);
}

static void answered(aloft_op *op, aloft_status status) {
  question *own = ALOFT_CONTAINER(op, question, request.op);
  if (status == ALOFT_OK) {
    aloft_bytes data = own->request.reply.data;
    evbuffer_add(evhttp_request_get_output_buffer(own->http), data.data, data.size);
    evhttp_send_reply(own->http, HTTP_OK, NULL, NULL);
  } else {
    give_up(own->http, op->error);
  }
  free(own);
}

static void ask(struct evhttp_request *http, void *context) {
  aloft_nats *nats = context;
  struct evbuffer *body = evhttp_request_get_input_buffer(http);
  const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(http));
  question *own = calloc(1, sizeof *own);
  if (!own) {
    evhttp_send_error(http, HTTP_INTERNAL, NULL);
    return;
  }
  own->http = http;
  own->request = (aloft_nats_request){
      .op = {.done = answered, .timeout_ns = ALOFT_SECONDS(2)},
      .subject = aloft_text_of(path && *path ? path + 1 : ""), /* without its slash */
      .data = {evbuffer_pullup(body, -1), evbuffer_get_length(body)}};
  if (aloft_nats_request_start(nats, &own->request) != ALOFT_OK) {
    give_up(http, own->request.op.error);
    free(own);
  }
}

static bool listen_at(struct evhttp *http, int port) {
  struct evhttp_bound_socket *bound =
      evhttp_bind_socket_with_handle(http, "127.0.0.1", (uint16_t)port);
  struct sockaddr_in at;
  socklen_t size = sizeof at;
  if (!bound || getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&at, &size) < 0)
    return false;
  printf("http://127.0.0.1:%u/\n", (unsigned)ntohs(at.sin_port));
  return fflush(stdout) == 0;
}

static void stop(evutil_socket_t number, short events, void *base) {
  (void)number;
  (void)events;
  event_base_loopbreak(base);
}

static int run(struct event_base *base, aloft_loop *loop, struct evhttp *http, int port) {
  struct event *terminated = evsignal_new(base, SIGTERM, stop, base);
  struct event *interrupted = evsignal_new(base, SIGINT, stop, base);
  aloft_libevent adapter = {.loop = NULL};
  if (!terminated || evsignal_add(terminated, NULL) < 0 || !interrupted ||
      evsignal_add(interrupted, NULL) < 0 || !listen_at(http, port) ||
      aloft_libevent_attach(&adapter, loop, base) != ALOFT_OK)
    return 1;
  int result = event_base_dispatch(base);
  aloft_libevent_close(&adapter); /* requests in flight are answered: closed */
  evhttp_free(http);
  event_free(terminated);
  event_free(interrupted);
  return result < 0;
}

int main(int count, char **arguments) {
  aloft_loop *loop = NULL;
  aloft_nats *nats = NULL;
  const aloft_nats_config config = {.size = sizeof config,
                                    .url = count > 1 ? aloft_text_of(arguments[1])
                                                     : ALOFT_TEXT("127.0.0.1:4222")};
  struct event_base *base = event_base_new();
  struct evhttp *http = base ? evhttp_new(base) : NULL;
  if (!http || aloft_loop_open(&loop, NULL) != ALOFT_OK ||
      aloft_nats_open(&nats, loop, &config, NULL) != ALOFT_OK)
    return 1;
  evhttp_set_gencb(http, ask, nats);
  int code = run(base, loop, http, count > 2 ? (int)strtol(arguments[2], NULL, 10) : 0);
  event_base_free(base);
  return code;
}
