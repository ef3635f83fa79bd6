/* The NATS client against a real nats-server. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "e2e_nats_server.h"
#include "harness_loop.h"

#include <aloft/nats.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  #define OWN_HEAP 1 /* the sanitizer has replaced malloc itself */
#elif defined(__has_feature)
  #if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    #define OWN_HEAP 1
  #endif
#endif
#ifndef OWN_HEAP
  #define OWN_HEAP 0
#endif

enum { CONNECTIONS = 3 };

typedef struct fixture {
  e2e_nats_server server;
  harness_loop at;
  aloft_loop *loop;
  aloft_nats *nats[CONNECTIONS];
  unsigned connected, errors, lost;
  char error_text[300];
} fixture;

static void event_told(aloft_nats *nats, aloft_nats_event event, const aloft_error *error,
                       void *context) {
  fixture *f = context;
  (void)nats;
  f->connected += event == ALOFT_NATS_CONNECTED;
  f->lost += event == ALOFT_NATS_DISCONNECTED;
  if (event != ALOFT_NATS_ERROR)
    return;
  f->errors++;
  snprintf(f->error_text, sizeof f->error_text, "%.*s", ALOFT_PRINT(error->message));
}

static fixture *begin(const char *config) {
  static fixture place;
  memset(&place, 0, sizeof place);
  e2e_nats_server_start(&place.server, config);
  harness_loop_open(&place.at, false, 0, NULL);
  place.loop = place.at.loop;
  return &place;
}

static aloft_nats_config config_of(fixture *f) {
  return (aloft_nats_config){.size = sizeof(aloft_nats_config),
                             .url = aloft_text_of(f->server.url),
                             .event = event_told,
                             .context = f};
}

static aloft_status open_one(fixture *f, int which, const aloft_nats_config *config,
                             harness_op *op) {
  *op = (harness_op){.op = {.done = harness_op_done}};
  assert_int_equal(aloft_nats_open(&f->nats[which], f->loop, config, &op->op), ALOFT_OK);
  return harness_wait(f->loop, &op->op);
}

static void close_one(fixture *f, int which) {
  harness_op op = {.op = {.done = harness_op_done}};
  assert_int_equal(aloft_nats_close(f->nats[which], &op.op), ALOFT_OK);
  f->nats[which] = NULL;
  assert_int_equal(harness_wait(f->loop, &op.op), ALOFT_OK);
}

static fixture *connected(const char *config, int count) {
  fixture *f = begin(config);
  const aloft_nats_config own = config_of(f);
  harness_op op;
  for (int i = 0; i < count; i++)
    assert_int_equal(open_one(f, i, &own, &op), ALOFT_OK);
  return f;
}

static void end(fixture *f) {
  for (int i = 0; i < CONNECTIONS; i++)
    if (f->nats[i])
      close_one(f, i);
  harness_loop_close(&f->at);
  e2e_nats_server_stop(&f->server);
}

static void flush(fixture *f, int which) {
  harness_op op = {.op = {.done = harness_op_done}};
  assert_int_equal(aloft_nats_flush(f->nats[which], &op.op), ALOFT_OK);
  assert_int_equal(harness_wait(f->loop, &op.op), ALOFT_OK);
}

/* ---- a responder ---- */

typedef struct responder {
  aloft_nats_subscription subscription;
  aloft_nats *nats;
  unsigned count, dones;
  aloft_status status;
  bool quiet, may_be_lost;
} responder;

static void respond(aloft_nats_subscription *subscription, const aloft_nats_message *message) {
  responder *own = ALOFT_CONTAINER(subscription, responder, subscription);
  own->count++;
  if (own->quiet || !message->reply.data)
    return;
  aloft_nats_header headers[4];
  size_t cursor = 0, count = 0;
  while (count < 4 && aloft_nats_header_next(message, &cursor, &headers[count]))
    count++;
  const aloft_nats_message answer = {
      .subject = message->reply, .data = message->data, .header = headers, .header_count = count};
  aloft_status status = aloft_nats_publish(own->nats, &answer);
  if (!own->may_be_lost || status == ALOFT_OK)
    assert_int_equal(status, ALOFT_OK);
  else /* what came before the end is shown after it */
    assert_true(status == ALOFT_LOST || status == ALOFT_LOST_UNSENT);
}

static void responder_done(aloft_op *op, aloft_status status) {
  responder *own = ALOFT_CONTAINER(op, responder, subscription.op);
  own->dones++;
  own->status = status;
}

static void serve(fixture *f, int which, responder *own, const char *subject, const char *queue) {
  own->nats = f->nats[which];
  own->subscription.op.done = responder_done;
  own->subscription.subject = aloft_text_of(subject);
  own->subscription.queue = aloft_text_of(queue);
  own->subscription.message = respond;
  assert_int_equal(aloft_nats_subscribe(own->nats, &own->subscription), ALOFT_OK);
  flush(f, which);
}

/* ---- tests ---- */

static char value_seen[32];
static void read_reply(aloft_op *op, aloft_status status) {
  const aloft_nats_request *request = ALOFT_CONTAINER(op, aloft_nats_request, op);
  aloft_text value;
  value_seen[0] = 0;
  assert_int_equal(status, ALOFT_OK);
  assert_int_equal(request->reply.data.size, 5);
  assert_memory_equal(request->reply.data.data, "hello", 5);
  if (aloft_nats_header_find(&request->reply, ALOFT_TEXT("KEY"), &value))
    snprintf(value_seen, sizeof value_seen, "%.*s", ALOFT_PRINT(value));
}

static void done_quietly(aloft_op *op, aloft_status status) {
  (void)op;
  (void)status;
}

static void test_request_reply_headers(void **state) {
  (void)state;
  fixture *f = connected(NULL, 2);
  responder server = {.count = 0};
  serve(f, 1, &server, "service.*", NULL);
  const aloft_nats_header header = {ALOFT_TEXT("Key"), ALOFT_TEXT("value")};
  aloft_nats_request request = {.op = {.done = read_reply, .timeout_ns = ALOFT_SECONDS(20)},
                                .subject = ALOFT_TEXT("service.a"),
                                .data = {"hello", 5}};
  assert_int_equal(aloft_nats_request_start(f->nats[0], &request), ALOFT_OK);
  assert_int_equal(harness_wait(f->loop, &request.op), ALOFT_OK);
  request.header = &header;
  request.header_count = 1;
  assert_int_equal(aloft_nats_request_start(f->nats[0], &request), ALOFT_OK);
  assert_int_equal(harness_wait(f->loop, &request.op), ALOFT_OK);
  assert_string_equal(value_seen, "value");
  request.op.done = done_quietly;
  request.subject = ALOFT_TEXT("nobody");
  assert_int_equal(aloft_nats_request_start(f->nats[0], &request), ALOFT_OK);
  assert_int_equal(harness_wait(f->loop, &request.op), ALOFT_NO_RESPONDERS);
  assert_int_equal(aloft_nats_unsubscribe(&server.subscription), ALOFT_OK);
  flush(f, 1);
  request.subject = ALOFT_TEXT("service.a");
  assert_int_equal(aloft_nats_request_start(f->nats[0], &request), ALOFT_OK);
  assert_int_equal(harness_wait(f->loop, &request.op), ALOFT_NO_RESPONDERS);
  assert_int_equal(f->connected, 2);
  end(f);
}

static void test_queue_groups_share(void **state) {
  (void)state;
  fixture *f = connected(NULL, 3);
  responder one = {.quiet = true}, two = {.quiet = true};
  serve(f, 1, &one, "jobs", "workers");
  serve(f, 2, &two, "jobs", "workers");
  const aloft_nats_message message = {.subject = ALOFT_TEXT("jobs"), .data = {"x", 1}};
  for (int i = 0; i < 400; i++)
    assert_int_equal(aloft_nats_publish(f->nats[0], &message), ALOFT_OK);
  flush(f, 0);
  HARNESS_TURN_UNTIL(f->loop, one.count + two.count == 400);
  assert_true(one.count > 50 && two.count > 50);
  end(f);
}

static void test_max_payload(void **state) {
  (void)state;
  fixture *f = connected("max_payload: 1024\n", 1);
  aloft_nats_info info = {.size = sizeof info};
  aloft_nats_get_info(f->nats[0], &info);
  assert_int_equal(info.max_payload, 1024);
  static uint8_t bytes[1025];
  aloft_nats_message message = {.subject = ALOFT_TEXT("a"), .data = {bytes, 1025}};
  assert_int_equal(aloft_nats_publish(f->nats[0], &message), ALOFT_TOO_LARGE);
  message.data.size = 1024;
  assert_int_equal(aloft_nats_publish(f->nats[0], &message), ALOFT_OK);
  const aloft_nats_header header = {ALOFT_TEXT("A"), ALOFT_TEXT("b")};
  message.header = &header; /* headers count too */
  message.header_count = 1;
  assert_int_equal(aloft_nats_publish(f->nats[0], &message), ALOFT_TOO_LARGE);
  flush(f, 0);
  end(f);
}

static void test_user_and_password(void **state) {
  (void)state;
  fixture *f = begin("authorization { user: joe, password: s3cret }\n");
  aloft_nats_config config = config_of(f);
  harness_op op;
  assert_int_equal(open_one(f, 0, &config, &op), ALOFT_AUTH);
  config.user = ALOFT_TEXT("joe");
  config.password = ALOFT_TEXT("wrong-one");
  assert_int_equal(open_one(f, 1, &config, &op), ALOFT_AUTH);
  assert_non_null(strstr(op.message, "Authorization Violation"));
  assert_null(strstr(op.message, "wrong-one"));
  config.password = ALOFT_TEXT("s3cret");
  assert_int_equal(open_one(f, 2, &config, &op), ALOFT_OK);
  flush(f, 2);
  end(f);
}

static void test_token(void **state) {
  (void)state;
  fixture *f = begin("authorization { token: a-token }\n");
  aloft_nats_config config = config_of(f);
  harness_op op;
  assert_int_equal(open_one(f, 0, &config, &op), ALOFT_AUTH);
  char url[96];
  snprintf(url, sizeof url, "nats://a-token@%s", f->server.url + strlen("nats://"));
  config.url = aloft_text_of(url);
  assert_int_equal(open_one(f, 1, &config, &op), ALOFT_OK);
  end(f);
}

static void test_permissions(void **state) {
  (void)state;
  static const char config_text[] =
      "authorization { users = [ { user: joe, password: p, permissions: {\n"
      "  publish: { allow: [\"ok.>\"] }, subscribe: { allow: [\"ok.>\"] } } } ] }\n";
  fixture *f = begin(config_text);
  aloft_nats_config config = config_of(f);
  config.user = ALOFT_TEXT("joe");
  config.password = ALOFT_TEXT("p");
  harness_op op;
  assert_int_equal(open_one(f, 0, &config, &op), ALOFT_OK);
  responder refused = {.quiet = true}, allowed = {.quiet = true};
  serve(f, 0, &refused, "secret.a", NULL);
  assert_int_equal(f->errors, 1);
  assert_non_null(strstr(f->error_text, "Permissions Violation for Subscription to \"secret.a\""));
  assert_int_equal(refused.dones, 0); /* as nats.h says */
  serve(f, 0, &allowed, "ok.a", NULL);
  aloft_nats_message message = {.subject = ALOFT_TEXT("secret.b"), .data = {"x", 1}};
  assert_int_equal(aloft_nats_publish(f->nats[0], &message), ALOFT_OK);
  flush(f, 0);
  assert_int_equal(f->errors, 2);
  message.subject = ALOFT_TEXT("ok.a");
  assert_int_equal(aloft_nats_publish(f->nats[0], &message), ALOFT_OK);
  flush(f, 0);
  assert_int_equal(allowed.count, 1);
  /* the inbox is not allowed either: a request cannot be answered, and says so */
  aloft_nats_request request = {.op = {.done = done_quietly}, .subject = ALOFT_TEXT("ok.b")};
  assert_int_equal(aloft_nats_request_start(f->nats[0], &request), ALOFT_OK);
  assert_int_equal(harness_wait(f->loop, &request.op), ALOFT_SERVER);
  end(f);
}

/* ---- many ---- */

enum { MANY = 10000 };

typedef struct counted_request {
  aloft_nats_request request;
  unsigned number; /* what is sent */
  unsigned dones;
  aloft_status status;
  bool written;
} counted_request;

static unsigned answered;
static void count_answer(aloft_op *op, aloft_status status) {
  counted_request *own = ALOFT_CONTAINER(op, counted_request, request.op);
  own->dones++;
  own->status = status;
  own->written = op->written;
  answered++;
  if (status != ALOFT_OK)
    return;
  assert_int_equal(own->request.reply.data.size, sizeof own->number);
  assert_memory_equal(own->request.reply.data.data, &own->number, sizeof own->number);
}

static counted_request *start_many(fixture *f, const char *subject) {
  static counted_request many[MANY];
  memset(many, 0, sizeof many);
  answered = 0;
  for (unsigned i = 0; i < MANY; i++) {
    many[i].number = i;
    many[i].request.op.done = count_answer;
    many[i].request.op.timeout_ns = ALOFT_SECONDS(100);
    many[i].request.subject = aloft_text_of(subject);
    many[i].request.data = (aloft_bytes){&many[i].number, sizeof many[i].number};
    assert_int_equal(aloft_nats_request_start(f->nats[0], &many[i].request), ALOFT_OK);
  }
  return many;
}

static void test_many_pipelined(void **state) {
  (void)state;
  fixture *f = connected(NULL, 2);
  responder server = {.count = 0};
  serve(f, 1, &server, "many", NULL);
  const counted_request *many = start_many(f, "many");
  HARNESS_TURN_UNTIL(f->loop, answered == MANY);
  for (unsigned i = 0; i < MANY; i++) {
    assert_int_equal(many[i].dones, 1);
    assert_int_equal(many[i].status, ALOFT_OK);
  }
  assert_int_equal(server.count, MANY);
  end(f);
}

static void test_killed_in_the_middle(void **state) {
  (void)state;
  fixture *f = connected(NULL, 2);
  responder server = {.count = 0};
  serve(f, 1, &server, "many", NULL);
  const counted_request *many = start_many(f, "many");
  HARNESS_TURN_UNTIL(f->loop, answered > MANY / 10);
  server.may_be_lost = true;
  e2e_nats_server_kill(&f->server);
  counted_request more = {
      .request = {.op = {.done = count_answer}, .subject = ALOFT_TEXT("many"), .data = {"", 0}}};
  aloft_status last = aloft_nats_request_start(f->nats[0], &more.request);
  HARNESS_TURN_UNTIL(f->loop, answered == MANY + (last == ALOFT_OK) && f->lost == 2);
  for (unsigned i = 0; i < MANY; i++) {
    assert_int_equal(many[i].dones, 1);
    if (many[i].status != ALOFT_OK)
      assert_int_equal(many[i].status, many[i].written ? ALOFT_LOST : ALOFT_LOST_UNSENT);
  }
  assert_int_equal(server.dones, 1);
  assert_int_equal(server.status, ALOFT_LOST);
  for (int i = 0; i < 2; i++) {
    harness_op op = {.op = {.done = harness_op_done}};
    assert_int_equal(aloft_nats_close(f->nats[i], &op.op), ALOFT_OK);
    aloft_status closed = harness_wait(f->loop, &op.op); /* what was sent may not have been taken */
    assert_true(closed == ALOFT_LOST || closed == ALOFT_LOST_UNSENT);
    f->nats[i] = NULL;
  }
  end(f);
}

/* ---- the whole process makes no heap call ---- */

enum { ALLOCATIONS, RESIZES, RELEASES, BYTES, MAPPINGS, COUNTS };
typedef void heap_count(uint64_t counts[COUNTS]);

static heap_count *find_counter(void) {
  union {
    void *object;
    heap_count *function;
  } found = {.object = dlsym(RTLD_DEFAULT, "aloft_heap_count")};
  return found.function;
}

enum { IN_FLIGHT_MAX = 64 };
static aloft_nats *asking;
static aloft_cancel asking_cancel;
static unsigned asked_done, asked_wanted;
static void ask_again(aloft_op *op, aloft_status status) {
  aloft_nats_request *request = ALOFT_CONTAINER(op, aloft_nats_request, op);
  if (status != ALOFT_OK)
    abort();
  if (++asked_done <= asked_wanted && aloft_nats_request_start(asking, request) != ALOFT_OK)
    abort();
}

static void ask_many(aloft_loop *loop, unsigned in_flight, unsigned count) {
  static aloft_nats_request requests[IN_FLIGHT_MAX];
  asked_done = 0;
  asked_wanted = count - in_flight;
  for (unsigned i = 0; i < in_flight; i++) {
    requests[i] = (aloft_nats_request){
        .op = {.done = ask_again, .timeout_ns = ALOFT_SECONDS(60), .cancel = &asking_cancel},
        .subject = ALOFT_TEXT("many"),
        .data = {"some data", 9}};
    if (aloft_nats_request_start(asking, &requests[i]) != ALOFT_OK)
      abort();
  }
  while (asked_done < count)
    if (harness_turn(loop, ALOFT_FOREVER) != ALOFT_OK)
      abort();
}

static void give_back(aloft_nats_subscription *subscription, const aloft_nats_message *message) {
  (void)subscription;
  const aloft_nats_message answer = {.subject = message->reply, .data = message->data};
  if (aloft_nats_publish(asking, &answer) != ALOFT_OK)
    abort();
}

/* In the child, under the counter: the number of heap calls and mappings in 10,000 requests. */
static int count_process(const char *url) {
  heap_count *count = find_counter();
  aloft_loop *loop;
  if (!count || aloft_loop_open(&loop, NULL) != ALOFT_OK)
    return 101;
  const aloft_nats_config config = {.size = sizeof config, .url = aloft_text_of(url)};
  static aloft_nats_subscription service = {
      .op = {.done = done_quietly}, .subject = {"many", 4}, .message = give_back};
  aloft_cancel_init(&asking_cancel, loop, NULL);
  if (aloft_nats_open(&asking, loop, &config, NULL) != ALOFT_OK ||
      aloft_nats_subscribe(asking, &service) != ALOFT_OK)
    return 102;
  uint64_t calls = 0;
  for (unsigned in_flight = 1; in_flight <= IN_FLIGHT_MAX; in_flight += IN_FLIGHT_MAX - 1) {
    uint64_t before[COUNTS], after[COUNTS];
    ask_many(loop, in_flight, 2000);
    count(before);
    ask_many(loop, in_flight, 10000);
    count(after);
    calls += after[ALLOCATIONS] - before[ALLOCATIONS] + after[RESIZES] - before[RESIZES] +
             after[RELEASES] - before[RELEASES] + after[MAPPINGS] - before[MAPPINGS];
  }
  harness_loop_shut(loop);
  return calls > 100 ? 100 : (int)calls;
}

static char own_path[512];

static void test_whole_process_allocates_nothing(void **state) {
  (void)state;
  static const char counter[] = ALOFT_BINARY_DIR "/bench/libaloft_heap_count.so";
  if (OWN_HEAP || access(counter, R_OK) != 0) {
    print_message("no heap counter here\n");
    skip();
  }
  e2e_nats_server server;
  e2e_nats_server_start(&server, NULL);
  pid_t child = fork();
  if (child == 0) {
    setenv("LD_PRELOAD", counter, 1);
    execl(own_path, own_path, "count", server.url, (char *)NULL);
    _exit(103);
  }
  int status = -1;
  assert_int_equal(waitpid(child, &status, 0), child);
  e2e_nats_server_stop(&server);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

int main(int count, char **arguments) {
  if (count == 3 && strcmp(arguments[1], "count") == 0)
    return count_process(arguments[2]);
  ssize_t size = readlink("/proc/self/exe", own_path, sizeof own_path - 1);
  own_path[size > 0 ? size : 0] = 0;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_request_reply_headers),
      cmocka_unit_test(test_queue_groups_share),
      cmocka_unit_test(test_max_payload),
      cmocka_unit_test(test_user_and_password),
      cmocka_unit_test(test_token),
      cmocka_unit_test(test_permissions),
      cmocka_unit_test(test_many_pipelined),
      cmocka_unit_test(test_killed_in_the_middle),
      cmocka_unit_test(test_whole_process_allocates_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
