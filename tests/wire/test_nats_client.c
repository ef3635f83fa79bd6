/* The NATS client against the toy server, on the uv driver and on sim: what nats.h promises. */
#include <stdarg.h>
#include <setjmp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness_loop.h"
#include "nats_client.h"
#include "nats_toy.h"

enum { EVENTS_MAX = 64, LOG_MAX = 4096 };

typedef struct fixture {
  bool sim;
  harness_loop at;
  aloft_loop *loop;
  nats_toy toy;
  aloft_nats *nats;
  aloft_nats_event events[EVENTS_MAX];
  size_t event_count;
  char event_text[600];
  aloft_status event_status;
  char log[LOG_MAX]; /* what callbacks write, one letter each */
  size_t log_size;
} fixture;

static fixture *current;

static void note(char letter) {
  if (current->log_size < LOG_MAX - 1)
    current->log[current->log_size++] = letter;
}

static void event_told(aloft_nats *nats, aloft_nats_event event, const aloft_error *error,
                       void *context) {
  fixture *f = context;
  (void)nats;
  if (f->event_count < EVENTS_MAX)
    f->events[f->event_count] = event;
  f->event_count++;
  f->event_text[0] = 0;
  f->event_status = error ? error->status : ALOFT_OK;
  if (error)
    snprintf(f->event_text, sizeof f->event_text, "%.*s", ALOFT_PRINT(error->message));
}

static size_t told(const fixture *f, aloft_nats_event event) {
  size_t count = 0;
  for (size_t i = 0; i < f->event_count && i < EVENTS_MAX; i++)
    count += f->events[i] == event;
  return count;
}

static fixture *begin(void **state) {
  static fixture place;
  memset(&place, 0, sizeof place);
  place.sim = *(bool *)*state;
  harness_loop_open(&place.at, place.sim, 1, NULL);
  place.loop = place.at.loop;
  current = &place;
  return &place;
}

static void begin_toy(fixture *f, const nats_toy_options *options) {
  nats_toy_open(&f->toy, f->loop, options);
}

static aloft_nats_config config_of(fixture *f) {
  aloft_nats_config config = nats_toy_config(&f->toy);
  config.event = event_told;
  config.context = f;
  return config;
}

static void open_with(fixture *f, const aloft_nats_config *config) {
  assert_int_equal(aloft_nats_open(&f->nats, f->loop, config, NULL), ALOFT_OK);
}

/* Opens and waits for the connection. */
static void connect_with(fixture *f, const aloft_nats_config *config) {
  harness_op op = {.op = {.done = harness_op_done}};
  assert_int_equal(aloft_nats_open(&f->nats, f->loop, config, &op.op), ALOFT_OK);
  assert_int_equal(op.done_count, 0);
  assert_int_equal(harness_wait(f->loop, &op.op), ALOFT_OK);
  assert_int_equal(op.done_count, 1);
}

static fixture *connected(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  const aloft_nats_config config = config_of(f);
  connect_with(f, &config);
  return f;
}

static void end(fixture *f) {
  if (f->nats) {
    harness_op op = {.op = {.done = harness_op_done}};
    assert_int_equal(aloft_nats_close(f->nats, &op.op), ALOFT_OK);
    HARNESS_TURN_UNTIL(f->loop, op.done_count);
    assert_int_equal(op.done_count, 1);
  }
  nats_toy_close(&f->toy);
  harness_loop_close(&f->at);
}

static aloft_nats_info info_of(const fixture *f) {
  aloft_nats_info info = {.size = sizeof info};
  aloft_nats_get_info(f->nats, &info);
  return info;
}

/* ---- a request that checks itself ---- */

typedef struct asked {
  aloft_nats_request request;
  unsigned done_count;
  aloft_status status;
  bool written;
  char data[256]; /* of the reply, cut */
  size_t size;
  char message[600];
  char letter;
} asked;

static void answered(aloft_op *op, aloft_status status) {
  asked *own = ALOFT_CONTAINER(op, asked, request.op);
  own->done_count++;
  own->status = status;
  own->written = op->written;
  own->size = own->request.reply.data.size;
  snprintf(own->data, sizeof own->data, "%.*s", (int)own->size,
           own->size ? (const char *)own->request.reply.data.data : "");
  own->message[0] = 0;
  if (op->error)
    snprintf(own->message, sizeof own->message, "%.*s", ALOFT_PRINT(op->error->message));
  if (status != ALOFT_OK) {
    assert_non_null(op->error);
    assert_null(own->request.reply.data.data);
  }
  if (own->letter)
    note(own->letter);
}

static aloft_status ask(fixture *f, asked *own, const char *subject, const char *data) {
  own->request.op.done = answered;
  own->request.subject = aloft_text_of(subject);
  own->request.data = (aloft_bytes){data, strlen(data)};
  return aloft_nats_request_start(f->nats, &own->request);
}

static aloft_status ask_and_wait(fixture *f, asked *own, const char *subject, const char *data) {
  unsigned before = own->done_count;
  assert_int_equal(ask(f, own, subject, data), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, own->done_count > before);
  assert_int_equal(own->done_count, before + 1);
  return own->status;
}

/* ---- a subscription that remembers ---- */

typedef struct heard {
  aloft_nats_subscription subscription;
  unsigned done_count, count;
  aloft_status status;
  char last[256], subject[128], reply[128];
  unsigned unsubscribe_at;
  char letter, done_letter;
} heard;

static void message_heard(aloft_nats_subscription *subscription,
                          const aloft_nats_message *message) {
  heard *own = ALOFT_CONTAINER(subscription, heard, subscription);
  own->count++;
  snprintf(own->last, sizeof own->last, "%.*s", (int)message->data.size,
           (const char *)message->data.data);
  snprintf(own->subject, sizeof own->subject, "%.*s", ALOFT_PRINT(message->subject));
  snprintf(own->reply, sizeof own->reply, "%.*s", ALOFT_PRINT(message->reply));
  if (own->letter)
    note(own->letter);
  if (own->unsubscribe_at && own->count == own->unsubscribe_at)
    assert_int_equal(aloft_nats_unsubscribe(subscription), ALOFT_OK);
}

static void hearing_done(aloft_op *op, aloft_status status) {
  heard *own = ALOFT_CONTAINER(op, heard, subscription.op);
  own->done_count++;
  own->status = status;
  if (own->done_letter)
    note(own->done_letter);
}

static aloft_status hear(fixture *f, heard *own, const char *subject) {
  own->subscription.op.done = hearing_done;
  own->subscription.message = message_heard;
  own->subscription.subject = aloft_text_of(subject);
  return aloft_nats_subscribe(f->nats, &own->subscription);
}

static aloft_status publish(fixture *f, const char *subject, const char *data) {
  const aloft_nats_message message = {.subject = aloft_text_of(subject),
                                      .data = {data, strlen(data)}};
  return aloft_nats_publish(f->nats, &message);
}

static void flush(fixture *f) {
  harness_op op = {.op = {.done = harness_op_done}};
  assert_int_equal(aloft_nats_flush(f->nats, &op.op), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, op.done_count);
  assert_int_equal(op.status, ALOFT_OK);
  assert_true(op.written);
}

/* ---- the usual ---- */

static void test_request_and_reply(void **state) {
  fixture *f = connected(state);
  asked one = {.done_count = 0};
  assert_int_equal(ask_and_wait(f, &one, "toy.echo", "hello"), ALOFT_OK);
  assert_string_equal(one.data, "hello");
  assert_true(one.written);
  assert_int_equal(ask_and_wait(f, &one, "toy.echo", ""), ALOFT_OK);
  assert_int_equal(one.size, 0);
  assert_int_equal(ask_and_wait(f, &one, "nobody.here", "x"), ALOFT_NO_RESPONDERS);
  assert_int_equal(info_of(f).inflight, 0);
  assert_int_equal(told(f, ALOFT_NATS_CONNECTED), 1);
  end(f);
}

static void test_started_while_connecting(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  const aloft_nats_config config = config_of(f);
  open_with(f, &config);
  asked one = {.done_count = 0};
  heard news = {.count = 0};
  harness_op flushed = {.op = {.done = harness_op_done}};
  assert_int_equal(hear(f, &news, "news.*"), ALOFT_OK);
  assert_int_equal(publish(f, "news.a", "early"), ALOFT_OK);
  assert_int_equal(ask(f, &one, "toy.echo", "soon"), ALOFT_OK);
  assert_int_equal(aloft_nats_flush(f->nats, &flushed.op), ALOFT_OK);
  assert_false(info_of(f).connected);
  HARNESS_TURN_UNTIL(f->loop, flushed.done_count);
  assert_int_equal(one.status, ALOFT_OK);
  assert_string_equal(one.data, "soon");
  assert_int_equal(news.count, 1);
  assert_string_equal(news.last, "early");
  assert_true(info_of(f).connected);
  end(f);
  assert_int_equal(news.done_count, 1);
  assert_int_equal(news.status, ALOFT_CLOSED);
}

/* Requests and subscriptions that end before READY are not sent, a publication is. */
static void test_ended_while_connecting(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  const aloft_nats_config config = config_of(f);
  open_with(f, &config);
  asked one = {.done_count = 0};
  heard news = {.count = 0};
  assert_int_equal(ask(f, &one, "toy.echo", "never"), ALOFT_OK);
  assert_int_equal(hear(f, &news, "news"), ALOFT_OK);
  assert_int_equal(aloft_op_cancel(&one.request.op), ALOFT_OK);
  assert_int_equal(aloft_nats_unsubscribe(&news.subscription), ALOFT_OK);
  flush(f);
  assert_int_equal(one.status, ALOFT_CANCELLED);
  assert_false(one.written);
  assert_int_equal(news.status, ALOFT_OK);
  assert_int_equal(f->toy.publications, 0);
  assert_int_equal(f->toy.subs, 1); /* the inbox */
  end(f);
}

static void test_held_over_the_servers_limits(void **state) {
  fixture *f = begin(state);
  const nats_toy_options options = {.max_payload = 10, .no_headers = true};
  begin_toy(f, &options);
  const aloft_nats_config config = config_of(f);
  open_with(f, &config);
  asked large = {.done_count = 0}, small = {.done_count = 0}, headed = {.done_count = 0};
  const aloft_nats_header header = {ALOFT_TEXT("A"), ALOFT_TEXT("b")};
  headed.request.header = &header;
  headed.request.header_count = 1;
  assert_int_equal(ask(f, &large, "toy.echo", "over ten bytes"), ALOFT_OK);
  assert_int_equal(ask(f, &headed, "toy.echo", ""), ALOFT_OK);
  assert_int_equal(ask(f, &small, "toy.echo", "under"), ALOFT_OK);
  assert_int_equal(publish(f, "a", "also over ten bytes"), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, small.done_count && f->event_count == 2);
  assert_int_equal(large.status, ALOFT_TOO_LARGE);
  assert_false(large.written);
  assert_int_equal(headed.status, ALOFT_UNSUPPORTED);
  assert_int_equal(small.status, ALOFT_OK);
  assert_int_equal(told(f, ALOFT_NATS_DROPPED), 1);
  assert_int_equal(f->event_status, ALOFT_TOO_LARGE);
  assert_int_equal(info_of(f).publications_dropped, 1);
  /* and once the limits are known */
  assert_int_equal(ask(f, &large, "toy.echo", "over ten bytes"), ALOFT_TOO_LARGE);
  assert_non_null(strstr(large.request.op.error->message.data, "max_payload of 10"));
  assert_int_equal(publish(f, "a", "over ten bytes"), ALOFT_TOO_LARGE);
  assert_int_equal(ask(f, &headed, "toy.echo", ""), ALOFT_UNSUPPORTED);
  end(f);
}

static void test_headers(void **state) {
  fixture *f = connected(state);
  heard news = {.count = 0};
  assert_int_equal(hear(f, &news, "h"), ALOFT_OK);
  const aloft_nats_header headers[] = {{ALOFT_TEXT("Key"), ALOFT_TEXT("value")},
                                       {ALOFT_TEXT("Other"), ALOFT_TEXT("")}};
  const aloft_nats_message message = {
      .subject = ALOFT_TEXT("h"), .data = {"x", 1}, .header = headers, .header_count = 2};
  assert_int_equal(aloft_nats_publish(f->nats, &message), ALOFT_OK);
  /* a block that is none: shown, nothing found in it, counted */
  char raw[] = "HMSG h 2 3 4\r\nabcd\r\n";
  assert_int_equal(publish(f, "toy.raw", raw), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, news.count == 2);
  assert_string_equal(news.last, "d");
  assert_int_equal(info_of(f).headers_malformed, 1);
  end(f);
}

static void test_queue_groups_and_wildcards(void **state) {
  fixture *f = connected(state);
  heard one = {.count = 0}, two = {.count = 0}, all = {.count = 0};
  one.subscription.queue = two.subscription.queue = ALOFT_TEXT("workers");
  assert_int_equal(hear(f, &one, "job.*"), ALOFT_OK);
  assert_int_equal(hear(f, &two, "job.>"), ALOFT_OK);
  assert_int_equal(hear(f, &all, ">"), ALOFT_OK);
  for (int i = 0; i < 20; i++)
    assert_int_equal(publish(f, "job.a", "work"), ALOFT_OK);
  flush(f);
  assert_int_equal(one.count + two.count, 20);
  assert_true(one.count > 0 && two.count > 0);
  assert_int_equal(all.count, 20);
  end(f);
}

static void test_messages_max(void **state) {
  fixture *f = connected(state);
  heard three = {.count = 0};
  three.subscription.messages_max = 3;
  assert_int_equal(hear(f, &three, "m"), ALOFT_OK);
  for (int i = 0; i < 5; i++)
    assert_int_equal(publish(f, "m", "x"), ALOFT_OK);
  flush(f);
  assert_int_equal(three.count, 3);
  assert_int_equal(three.subscription.delivered, 3);
  assert_int_equal(three.done_count, 1);
  assert_int_equal(three.status, ALOFT_OK);
  assert_int_equal(nats_toy_subscriptions(&f->toy), 0);
  assert_int_equal(aloft_nats_unsubscribe(&three.subscription), ALOFT_WRONG_STATE);
  end(f);
}

static void test_unsubscribe_in_its_callback(void **state) {
  fixture *f = connected(state);
  heard news = {.unsubscribe_at = 2};
  assert_int_equal(hear(f, &news, "m"), ALOFT_OK);
  for (int i = 0; i < 5; i++) /* all five arrive together: three are queued */
    assert_int_equal(publish(f, "m", "x"), ALOFT_OK);
  flush(f);
  flush(f);
  assert_int_equal(news.count, 2);
  assert_int_equal(news.done_count, 1);
  assert_int_equal(news.status, ALOFT_OK);
  assert_int_equal(nats_toy_subscriptions(&f->toy), 0);
  end(f);
}

static void test_messages_of_ended_subscriptions_are_counted(void **state) {
  fixture *f = connected(state);
  heard news = {.count = 0};
  assert_int_equal(hear(f, &news, "m"), ALOFT_OK);
  flush(f);
  assert_int_equal(publish(f, "m", "x"), ALOFT_OK);
  assert_int_equal(aloft_loop_turn(f->loop, 0), ALOFT_OK);
  assert_int_equal(aloft_nats_unsubscribe(&news.subscription), ALOFT_OK);
  flush(f);
  assert_int_equal(news.count, 0);
  assert_int_equal(info_of(f).messages_unmatched, 1);
  end(f);
}

/* What was published before is still shown, what comes after is not sent any more. */
static void test_drain(void **state) {
  fixture *f = connected(state);
  heard news = {.count = 0};
  assert_int_equal(aloft_nats_drain(&news.subscription), ALOFT_WRONG_STATE);
  assert_int_equal(hear(f, &news, "m"), ALOFT_OK);
  for (int i = 0; i < 3; i++)
    assert_int_equal(publish(f, "m", "before"), ALOFT_OK);
  assert_int_equal(aloft_nats_drain(&news.subscription), ALOFT_OK);
  assert_int_equal(publish(f, "m", "after"), ALOFT_OK);
  flush(f);
  assert_int_equal(news.count, 3);
  assert_int_equal(news.done_count, 0);
  assert_int_equal(nats_toy_subscriptions(&f->toy), 0);
  assert_int_equal(aloft_nats_unsubscribe(&news.subscription), ALOFT_OK);
  flush(f);
  assert_int_equal(news.done_count, 1);
  assert_int_equal(news.status, ALOFT_OK);
  assert_int_equal(aloft_nats_drain(&news.subscription), ALOFT_WRONG_STATE);
  end(f);
}

/* There was no room for UNSUB: the next message of that subscription is the occasion. */
static void test_unsub_is_tried_again(void **state) {
  fixture *f = connected(state);
  heard news = {.count = 0};
  assert_int_equal(hear(f, &news, "m"), ALOFT_OK);
  flush(f);
  static char large[100001];
  memset(large, 'x', sizeof large - 1);
  assert_int_equal(publish(f, "x", large), ALOFT_OK);
  size_t max = f->nats->tx_bytes_max;
  f->nats->tx_bytes_max = 0; /* as if all of it, and what is beyond, were taken */
  assert_int_equal(aloft_nats_unsubscribe(&news.subscription), ALOFT_OK);
  f->nats->tx_bytes_max = max;
  flush(f);
  assert_int_equal(news.done_count, 1);
  assert_int_equal(nats_toy_subscriptions(&f->toy), 1);
  assert_int_equal(publish(f, "m", "x"), ALOFT_OK);
  flush(f);
  flush(f);
  assert_int_equal(nats_toy_subscriptions(&f->toy), 0);
  assert_int_equal(info_of(f).messages_unmatched, 1);
  assert_int_equal(news.count, 0);
  end(f);
}

/* ---- wire order ---- */

static void test_deliveries_and_completions_keep_wire_order(void **state) {
  fixture *f = connected(state);
  heard news = {.letter = 'm', .done_letter = 'E'};
  asked one = {.letter = 'r'};
  harness_op flushed = {.op = {.done = harness_op_done}};
  news.subscription.messages_max = 3;
  assert_int_equal(hear(f, &news, "m"), ALOFT_OK);
  assert_int_equal(publish(f, "m", "1"), ALOFT_OK);
  assert_int_equal(ask(f, &one, "toy.echo", "x"), ALOFT_OK);
  assert_int_equal(publish(f, "m", "2"), ALOFT_OK);
  assert_int_equal(publish(f, "m", "3"), ALOFT_OK);
  assert_int_equal(aloft_nats_flush(f->nats, &flushed.op), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, flushed.done_count);
  assert_string_equal(f->log, "mrmmE");
  end(f);
}

static void test_flush_order(void **state) {
  fixture *f = connected(state);
  harness_op ops[5];
  memset(ops, 0, sizeof ops);
  for (size_t i = 0; i < 5; i++) {
    ops[i].op.done = harness_op_done;
    ops[i].loop = f->loop;
    assert_int_equal(aloft_nats_flush(f->nats, &ops[i].op), ALOFT_OK);
  }
  assert_int_equal(aloft_nats_flush(f->nats, &ops[2].op), ALOFT_IN_USE);
  assert_int_equal(aloft_op_cancel(&ops[2].op), ALOFT_OK);
  assert_int_equal(aloft_op_cancel(&ops[4].op), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, ops[3].done_count);
  for (size_t i = 0; i < 5; i++) {
    assert_int_equal(ops[i].done_count, 1);
    assert_int_equal(ops[i].status, i == 2 || i == 4 ? ALOFT_CANCELLED : ALOFT_OK);
  }
  flush(f); /* the PONG of a cancelled one is nobody else's */
  end(f);
}

/* What an operation's bytes have come to: those behind the large publication are still here when
 * the server has gone. */
static void test_lost_knows_what_was_written(void **state) {
  fixture *f = connected(state);
  harness_op first = {.op = {.done = harness_op_done}}, second = first;
  asked before = {.done_count = 0}, behind = before;
  heard news = {.count = 0};
  f->toy.options.pongs_max = 1;
  nats_toy_pause(&f->toy, true);
  assert_int_equal(ask(f, &before, "toy.never", "x"), ALOFT_OK);
  assert_int_equal(aloft_nats_flush(f->nats, &first.op), ALOFT_OK);
  assert_int_equal(aloft_loop_turn(f->loop, 0), ALOFT_OK);
  size_t size = 6 << 20;
  char *much = calloc(1, size);
  assert_non_null(much);
  f->nats->max_payload = 0;
  const aloft_nats_message message = {.subject = ALOFT_TEXT("x"), .data = {much, size}};
  assert_int_equal(aloft_nats_publish(f->nats, &message), ALOFT_OK);
  free(much);
  assert_int_equal(aloft_nats_flush(f->nats, &second.op), ALOFT_OK);
  assert_int_equal(ask(f, &behind, "toy.never", "x"), ALOFT_OK);
  assert_int_equal(hear(f, &news, "m"), ALOFT_OK);
  assert_int_equal(aloft_loop_turn(f->loop, 0), ALOFT_OK);
  nats_toy_drop(&f->toy);
  HARNESS_TURN_UNTIL(f->loop, second.done_count && behind.done_count && news.done_count);
  assert_int_equal(first.status, ALOFT_LOST);
  assert_true(first.written);
  assert_int_equal(before.status, ALOFT_LOST);
  assert_true(before.written);
  if (f->sim) { /* a real kernel may have taken any amount */
    assert_int_equal(second.status, ALOFT_LOST_UNSENT);
    assert_false(second.written);
    assert_int_equal(behind.status, ALOFT_LOST_UNSENT);
    assert_false(behind.written);
    assert_int_equal(news.status, ALOFT_LOST_UNSENT);
  }
  end(f);
}

/* ---- replies that are none ---- */

static void test_replies_unmatched(void **state) {
  fixture *f = connected(state);
  asked one = {.done_count = 0};
  assert_int_equal(ask_and_wait(f, &one, "toy.twice", "x"), ALOFT_OK);
  flush(f);
  assert_int_equal(one.done_count, 1);
  assert_int_equal(info_of(f).replies_unmatched, 1);
  one.request.op.timeout_ns = ALOFT_MILLISECONDS(20);
  assert_int_equal(ask_and_wait(f, &one, "toy.rewritten", "x"), ALOFT_TIMEOUT);
  assert_true(one.written);
  assert_int_equal(info_of(f).replies_unmatched, 2);
  assert_int_equal(ask_and_wait(f, &one, "toy.sid", "x"), ALOFT_TIMEOUT);
  assert_int_equal(info_of(f).messages_unmatched, 1);
  assert_int_equal(ask_and_wait(f, &one, "toy.after.60", "late"), ALOFT_TIMEOUT);
  one.request.op.timeout_ns = 0;
  assert_int_equal(ask_and_wait(f, &one, "toy.after.90", "new"), ALOFT_OK);
  assert_string_equal(one.data, "new");
  assert_int_equal(info_of(f).replies_unmatched, 3);
  end(f);
}

/* ---- limits ---- */

static void test_inflight_max(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  config.inflight_max = 2;
  config.subscriptions_max = 1;
  connect_with(f, &config);
  asked a = {.done_count = 0}, b = a, c = a;
  assert_int_equal(ask(f, &a, "toy.never", ""), ALOFT_OK);
  assert_int_equal(ask(f, &a, "toy.never", ""), ALOFT_IN_USE);
  assert_int_equal(ask(f, &b, "toy.echo", ""), ALOFT_OK);
  assert_int_equal(ask(f, &c, "toy.echo", ""), ALOFT_TOO_MANY);
  assert_non_null(strstr(c.request.op.error->message.data, "inflight_max (2)"));
  HARNESS_TURN_UNTIL(f->loop, b.done_count);
  assert_int_equal(ask_and_wait(f, &c, "toy.echo", ""), ALOFT_OK);
  heard one = {.count = 0}, two = {.count = 0};
  assert_int_equal(hear(f, &one, "a"), ALOFT_OK);
  assert_int_equal(hear(f, &two, "b"), ALOFT_TOO_MANY);
  assert_non_null(strstr(two.subscription.op.error->message.data, "subscriptions_max (1)"));
  assert_int_equal(aloft_nats_unsubscribe(&one.subscription), ALOFT_OK);
  assert_int_equal(hear(f, &two, "b"), ALOFT_OK);
  end(f);
  assert_int_equal(a.done_count, 1);
  assert_int_equal(a.status, ALOFT_CLOSED);
  assert_int_equal(c.done_count, 1);
  assert_int_equal(one.done_count, 1);
}

static void test_full_output(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  config.tx_bytes_max = 4096;
  connect_with(f, &config);
  char half[2049], whole[4097];
  memset(half, 'h', sizeof half);
  memset(whole, 'w', sizeof whole);
  half[2000] = whole[4096] = 0;
  assert_int_equal(publish(f, "a", half), ALOFT_OK);
  assert_int_equal(publish(f, "a", half), ALOFT_OK);
  assert_int_equal(publish(f, "a", half), ALOFT_FULL);
  asked one = {.done_count = 0};
  assert_int_equal(ask(f, &one, "toy.echo", half), ALOFT_FULL);
  assert_int_equal(one.request.op.error->status, ALOFT_FULL);
  assert_int_equal(publish(f, "a", whole), ALOFT_TOO_LARGE); /* it would never have room */
  assert_int_equal(ask(f, &one, "toy.echo", whole), ALOFT_TOO_LARGE);
  assert_non_null(strstr(one.request.op.error->message.data, "tx_bytes_max"));
  assert_in_range(info_of(f).tx_bytes, 4000, 4096 + 100);
  flush(f); /* has room when nothing else has */
  assert_int_equal(publish(f, "a", half), ALOFT_OK);
  assert_int_equal(info_of(f).inflight, 0);
  end(f);
}

/* To the byte, whether the output has its memory yet or not. */
static void test_the_largest_publication(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  config.tx_bytes_max = 4096;
  enum { FITS = 4096 - (int)sizeof "PUB a 4082\r\n\r\n" + 1 };
  char data[FITS + 30];
  memset(data, 'x', sizeof data);
  connect_with(f, &config);
  for (int again = 0; again < 2; again++)
    for (size_t size = FITS + 29; size > FITS - 30; size--) {
      const aloft_nats_message message = {.subject = ALOFT_TEXT("a"), .data = {data, size}};
      assert_int_equal(aloft_nats_publish(f->nats, &message),
                       size <= FITS ? ALOFT_OK : ALOFT_TOO_LARGE);
      flush(f);
    }
  end(f);
}

/* Flushes may take what lies beyond tx_bytes_max, and leave nothing there to publications. */
static void test_full_output_stays_full(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  config.tx_bytes_max = 4096;
  connect_with(f, &config);
  while (publish(f, "a", "0123456789") == ALOFT_OK)
    continue;
  harness_op flushes[16];
  memset(flushes, 0, sizeof flushes);
  for (size_t i = 0; i < 16; i++) {
    flushes[i].op.done = harness_op_done;
    assert_int_equal(aloft_nats_flush(f->nats, &flushes[i].op), ALOFT_OK);
  }
  assert_in_range(info_of(f).tx_bytes, 4097, 4096 + 96);
  asked one = {.done_count = 0};
  assert_int_equal(publish(f, "a", "x"), ALOFT_FULL);
  assert_int_equal(ask(f, &one, "toy.echo", "x"), ALOFT_FULL);
  HARNESS_TURN_UNTIL(f->loop, flushes[15].done_count);
  assert_int_equal(ask_and_wait(f, &one, "toy.echo", "x"), ALOFT_OK); /* the inbox is there */
  while (publish(f, "a", "0123456789") == ALOFT_OK)
    continue;
  flushes[0].done_count = flushes[15].done_count = 0;
  for (size_t i = 0; i < 16; i++)
    assert_int_equal(aloft_nats_flush(f->nats, &flushes[i].op), ALOFT_OK);
  assert_int_equal(ask(f, &one, "toy.echo", "x"), ALOFT_FULL);
  HARNESS_TURN_UNTIL(f->loop, flushes[15].done_count);
  end(f);
}

static void test_full_while_connecting(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  config.tx_bytes_max = 1024;
  open_with(f, &config);
  unsigned sent = 0;
  while (publish(f, "a", "0123456789") == ALOFT_OK)
    sent++;
  assert_in_range(sent, 10, 60);
  assert_int_equal(publish(f, "a", "x"), ALOFT_FULL);
  flush(f);
  assert_int_equal(f->toy.publications, sent);
  end(f);
}

static void test_reading_waits_at_deliveries_max(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  config.deliveries_max = 4;
  connect_with(f, &config);
  heard news = {.count = 0};
  asked one = {.request = {.op = {.timeout_ns = ALOFT_SECONDS(5)}}};
  assert_int_equal(hear(f, &news, "m"), ALOFT_OK);
  for (int i = 0; i < 1000; i++)
    assert_int_equal(publish(f, "m", "0123456789"), ALOFT_OK);
  assert_int_equal(ask(f, &one, "toy.echo", "x"), ALOFT_OK);
  unsigned before = 0;
  while (!one.done_count) {
    assert_int_equal(harness_turn(f->loop, ALOFT_SECONDS(10)), ALOFT_OK);
    assert_in_range(news.count - before, 0, 4);
    before = news.count;
  }
  assert_int_equal(one.status, ALOFT_OK);
  assert_int_equal(news.count, 1000);
  assert_int_equal(f->loop->inputs_held, 0);
  end(f);
}

/* A reply behind more messages than may be delivered in a turn has arrived all the same. */
static void test_reply_behind_messages_beats_the_timeout(void **state) {
  fixture *f = begin(state);
  if (!f->sim) {
    harness_loop_close(&f->at);
    skip();
  }
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  config.deliveries_max = 4;
  connect_with(f, &config);
  heard news = {.count = 0};
  asked one = {.request = {.op = {.timeout_ns = ALOFT_MILLISECONDS(50)}}};
  assert_int_equal(hear(f, &news, "m"), ALOFT_OK);
  for (int i = 0; i < 40; i++)
    assert_int_equal(publish(f, "m", "0123456789"), ALOFT_OK);
  assert_int_equal(ask(f, &one, "toy.echo", "x"), ALOFT_OK);
  while (f->toy.publications < 41)
    assert_int_equal(aloft_loop_turn(f->loop, 0), ALOFT_OK);
  assert_int_equal(one.done_count, 0);
  alo_sim_pass(f->at.sim, ALOFT_SECONDS(1));
  HARNESS_TURN_UNTIL(f->loop, one.done_count);
  assert_int_equal(one.status, ALOFT_OK);
  end(f);
}

static void test_lost_while_paused(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  config.deliveries_max = 2;
  connect_with(f, &config);
  heard news = {.letter = 'm', .done_letter = 'E'};
  assert_int_equal(hear(f, &news, "m"), ALOFT_OK);
  for (int i = 0; i < 20; i++)
    assert_int_equal(publish(f, "m", "x"), ALOFT_OK);
  f->toy.options.close_at = 0;
  assert_int_equal(publish(f, "toy.echo", ""), ALOFT_OK);
  while (f->toy.publications < 21)
    assert_int_equal(aloft_loop_turn(f->loop, 0), ALOFT_OK);
  nats_toy_drop(&f->toy); /* all 20 have left it */
  HARNESS_TURN_UNTIL(f->loop, told(f, ALOFT_NATS_DISCONNECTED));
  assert_int_equal(news.count, 20);
  assert_int_equal(news.done_count, 1);
  assert_int_equal(news.status, ALOFT_LOST);
  assert_int_equal(f->log[f->log_size - 1], 'E');
  assert_int_equal(f->loop->inputs_held, 0);
  end(f);
}

static void test_rx_payload_max(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  config.rx_payload_max = 100;
  connect_with(f, &config);
  asked one = {.done_count = 0};
  assert_int_equal(ask_and_wait(f, &one, "toy.size.100", ""), ALOFT_OK);
  assert_int_equal(one.size, 100);
  assert_int_equal(ask_and_wait(f, &one, "toy.size.101", ""), ALOFT_LOST);
  assert_int_equal(f->event_status, ALOFT_PROTOCOL);
  assert_non_null(strstr(f->event_text, "at byte"));
  end(f);
}

/* ---- keeping ---- */

typedef struct keeping {
  heard heard;
  aloft_nats *nats;
  aloft_nats_kept *kept[8];
  unsigned count, refused;
} keeping;

static void message_kept(aloft_nats_subscription *subscription, const aloft_nats_message *message) {
  keeping *own = ALOFT_CONTAINER(subscription, keeping, heard.subscription);
  aloft_nats_kept *kept;
  aloft_status status = aloft_nats_keep(own->nats, message, &kept);
  if (status == ALOFT_OK)
    own->kept[own->count++] = kept;
  else
    own->refused++;
  if (status != ALOFT_OK)
    assert_int_equal(status, ALOFT_TOO_MANY);
}

static void test_keep_beyond_close(void **state) {
  fixture *f = connected(state);
  keeping keep = {.nats = f->nats};
  keep.heard.subscription = (aloft_nats_subscription){
      .op = {.done = hearing_done}, .subject = ALOFT_TEXT("k"), .message = message_kept};
  assert_int_equal(aloft_nats_subscribe(f->nats, &keep.heard.subscription), ALOFT_OK);
  assert_int_equal(publish(f, "k", "small"), ALOFT_OK);
  char *large = malloc(100001);
  assert_non_null(large);
  memset(large, 'L', 100000);
  large[100000] = 0;
  assert_int_equal(publish(f, "k", large), ALOFT_OK);
  flush(f);
  assert_int_equal(keep.count, 2);
  assert_true(info_of(f).kept_bytes > 100000);
  for (int i = 0; i < 50; i++) /* what arrives meanwhile lies elsewhere */
    assert_int_equal(publish(f, "other", large), ALOFT_OK);
  flush(f);
  aloft_nats_kept *again;
  assert_int_equal(aloft_nats_keep(f->nats, aloft_nats_kept_message(keep.kept[0]), &again),
                   ALOFT_ARGUMENT);
  harness_op op = {.op = {.done = harness_op_done}};
  assert_int_equal(aloft_nats_close(f->nats, &op.op), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, op.done_count);
  f->nats = NULL;
  const aloft_nats_message *small = aloft_nats_kept_message(keep.kept[0]);
  assert_memory_equal(small->data.data, "small", 5);
  assert_memory_equal(small->subject.data, "k", 1);
  assert_memory_equal(aloft_nats_kept_message(keep.kept[1])->data.data, large, 100000);
  aloft_nats_kept_release(keep.kept[0]);
  aloft_nats_kept_release(keep.kept[1]);
  aloft_nats_kept_release(NULL);
  free(large);
  end(f);
}

static void test_kept_bytes_max(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  config.kept_bytes_max = 1000;
  connect_with(f, &config);
  keeping keep = {.nats = f->nats};
  keep.heard.subscription = (aloft_nats_subscription){
      .op = {.done = hearing_done}, .subject = ALOFT_TEXT("k"), .message = message_kept};
  assert_int_equal(aloft_nats_subscribe(f->nats, &keep.heard.subscription), ALOFT_OK);
  for (int i = 0; i < 8; i++)
    assert_int_equal(publish(f, "k", "0123456789"), ALOFT_OK);
  flush(f);
  assert_in_range(keep.count, 1, 7);
  assert_int_equal(keep.count + keep.refused, 8);
  assert_true(info_of(f).kept_bytes <= 1000);
  for (unsigned i = 0; i < keep.count; i++)
    aloft_nats_kept_release(keep.kept[i]);
  assert_int_equal(info_of(f).kept_bytes, 0);
  end(f);
}

/* ---- payloads of any size ---- */

typedef struct sized {
  heard heard;
  size_t wanted;
  unsigned count;
} sized;

static void size_heard(aloft_nats_subscription *subscription, const aloft_nats_message *message) {
  sized *own = ALOFT_CONTAINER(subscription, sized, heard.subscription);
  assert_int_equal(message->data.size, own->wanted);
  const uint8_t *bytes = message->data.data;
  for (size_t i = 0; i < own->wanted; i++)
    if (bytes[i] != (uint8_t)(i * 31 + own->wanted))
      fail_msg("byte %zu of %zu is wrong", i, own->wanted);
  own->count++;
}

static void test_messages_cross_blocks(void **state) {
  fixture *f = connected(state);
  sized in = {.count = 0};
  in.heard.subscription = (aloft_nats_subscription){
      .op = {.done = hearing_done}, .subject = ALOFT_TEXT("s"), .message = size_heard};
  assert_int_equal(aloft_nats_subscribe(f->nats, &in.heard.subscription), ALOFT_OK);
  static uint8_t bytes[300 << 10];
  static const size_t sizes[] = {1,     2,     100,    2047,   2048,   4096,
                                 32000, 32768, 60000,  65400,  65500,  65535,
                                 65536, 65537, 100000, 131072, 200000, 300 << 10};
  unsigned sent = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    in.wanted = sizes[i];
    for (size_t at = 0; at < sizes[i]; at++)
      bytes[at] = (uint8_t)(at * 31 + sizes[i]);
    const aloft_nats_message message = {.subject = ALOFT_TEXT("s"), .data = {bytes, sizes[i]}};
    for (int n = 0; n < 5; n++, sent++)
      assert_int_equal(aloft_nats_publish(f->nats, &message), ALOFT_OK);
    flush(f);
  }
  assert_int_equal(in.count, sent);
  end(f);
}

/* ---- connecting, and not ---- */

static aloft_status open_fails(fixture *f, aloft_nats_config *config, harness_op *op) {
  *op = (harness_op){.op = {.done = harness_op_done, .timeout_ns = op->op.timeout_ns}};
  assert_int_equal(aloft_nats_open(&f->nats, f->loop, config, &op->op), ALOFT_OK);
  assert_int_equal(op->done_count, 0);
  HARNESS_TURN_UNTIL(f->loop, op->done_count);
  assert_int_equal(op->done_count, 1);
  assert_non_null(op->op.error);
  assert_int_equal(publish(f, "a", "b"), ALOFT_LOST_UNSENT); /* stays dead */
  assert_null(f->nats->stream.tx.data);                      /* it may hold credentials */
  assert_null(f->nats->hello.data);
  HARNESS_TURN_UNTIL(f->loop, told(f, ALOFT_NATS_DISCONNECTED));
  f->event_count = 0;
  harness_op closed = {.op = {.done = harness_op_done}};
  assert_int_equal(aloft_nats_close(f->nats, &closed.op), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, closed.done_count);
  assert_int_equal(closed.status, ALOFT_OK);
  f->nats = NULL;
  return op->status;
}

static void test_connect_refused(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  nats_toy_close(&f->toy); /* nobody listens on its port now */
  harness_op op = {.done_count = 0};
  assert_int_equal(open_fails(f, &config, &op), ALOFT_CONNECT);
  assert_non_null(strstr(op.message, "cannot connect to 127.0.0.1"));
  end(f);
}

/* What fails inside the open is told later all the same. */
static int refuse_connect(alo_driver *driver, const alo_address *to, alo_watch *watch,
                          alo_socket **made) {
  (void)driver;
  (void)to;
  (void)watch;
  (void)made;
  return -ENETUNREACH;
}

static int refuse_resolve(alo_driver *driver, alo_resolve *resolve, const char *host,
                          uint16_t port) {
  (void)driver;
  (void)resolve;
  (void)host;
  (void)port;
  return -EINVAL;
}

static int refuse_random(alo_driver *driver, void *into, size_t size) {
  (void)driver;
  (void)into;
  (void)size;
  return -EIO;
}

static void test_fails_inside_the_open(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  alo_driver_methods bent = *f->loop->driver->methods;
  const alo_driver_methods *real = f->loop->driver->methods;
  bent.connect = refuse_connect;
  bent.resolve = refuse_resolve;
  f->loop->driver->methods = &bent;
  harness_op op = {.done_count = 0};
  assert_int_equal(open_fails(f, &config, &op), ALOFT_CONNECT);
  assert_non_null(strstr(op.message, "cannot connect to 127.0.0.1"));
  config.url = ALOFT_TEXT("a.name");
  assert_int_equal(open_fails(f, &config, &op), ALOFT_RESOLVE);
  assert_non_null(strstr(op.message, "a.name"));
  bent.random = refuse_random;
  assert_int_equal(aloft_nats_open(&f->nats, f->loop, &config, NULL), ALOFT_SYSTEM);
  f->loop->driver->methods = real;
  f->nats = NULL;
  end(f);
}

static void test_connect_times_out(void **state) {
  fixture *f = begin(state);
  const nats_toy_options options = {.greeting = ""};
  begin_toy(f, &options);
  aloft_nats_config config = config_of(f);
  config.connect_timeout_ns = ALOFT_MILLISECONDS(50);
  harness_op op = {.done_count = 0};
  assert_int_equal(open_fails(f, &config, &op), ALOFT_TIMEOUT);
  config.connect_timeout_ns = 0;
  op.op.timeout_ns = ALOFT_MILLISECONDS(50); /* the operation's own */
  assert_int_equal(open_fails(f, &config, &op), ALOFT_TIMEOUT);
  f->toy.options = (nats_toy_options){.login_answer = ""};
  assert_int_equal(open_fails(f, &config, &op), ALOFT_TIMEOUT);
  end(f);
}

static void test_resolve(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  char url[64];
  harness_op op = {.done_count = 0};
  config.url = ALOFT_TEXT("nats://missing.invalid:4222");
  assert_int_equal(open_fails(f, &config, &op), ALOFT_RESOLVE);
  assert_non_null(strstr(op.message, "missing.invalid"));
  snprintf(url, sizeof url, "localhost:%u", (unsigned)f->toy.port);
  config.url = aloft_text_of(url);
  connect_with(f, &config);
  end(f);
}

static void test_credentials(void **state) {
  fixture *f = begin(state);
  const nats_toy_options options = {.user = "joe", .password = "se cret"};
  begin_toy(f, &options);
  aloft_nats_config config = config_of(f);
  harness_op op = {.done_count = 0};
  assert_int_equal(open_fails(f, &config, &op), ALOFT_AUTH);
  config.user = ALOFT_TEXT("joe");
  config.password = ALOFT_TEXT("hunter2");
  assert_int_equal(open_fails(f, &config, &op), ALOFT_AUTH);
  assert_null(strstr(op.message, "hunter2"));
  assert_non_null(strstr(op.message, "Authorization Violation"));
  char url[128];
  snprintf(url, sizeof url, "nats://joe:se%%20cret@127.0.0.1:%u", (unsigned)f->toy.port);
  config = config_of(f);
  config.url = aloft_text_of(url);
  connect_with(f, &config);
  /* nothing of the password is left in the output's memory */
  const alo_buffer *tx = &f->nats->stream.tx;
  for (size_t i = 0; tx->data && i + 7 <= tx->room; i++)
    assert_memory_not_equal(tx->data + i, "se cret", 7);
  end(f);
}

static void test_token(void **state) {
  fixture *f = begin(state);
  const nats_toy_options options = {.token = "tok"};
  begin_toy(f, &options);
  aloft_nats_config config = config_of(f);
  config.token = ALOFT_TEXT("tok");
  config.name = ALOFT_TEXT("a \"name\"");
  config.no_echo = true;
  connect_with(f, &config);
  assert_non_null(strstr(f->toy.connect, "\"echo\":false"));
  assert_non_null(strstr(f->toy.connect, "\"name\":\"a \\\"name\\\"\""));
  heard news = {.count = 0};
  assert_int_equal(hear(f, &news, "m"), ALOFT_OK);
  assert_int_equal(publish(f, "m", "x"), ALOFT_OK);
  flush(f);
  assert_int_equal(news.count, 0);
  end(f);
}

static void test_greetings_that_are_none(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  static const struct {
    const char *greeting, *login;
    aloft_status status;
  } cases[] = {
      {"HTTP/1.1 400 Bad Request\r\n\r\n", NULL, ALOFT_PROTOCOL},
      {"PING\r\n", NULL, ALOFT_PROTOCOL},
      {"INFO {\r\n", NULL, ALOFT_PROTOCOL},
      {"INFO {\"max_payload\":\"x\"}\r\n", NULL, ALOFT_PROTOCOL},
      {"-ERR 'maximum connections exceeded'\r\n", NULL, ALOFT_SERVER},
      {NULL, "-ERR 'Authorization Violation'\r\n", ALOFT_AUTH},
      {NULL, "-ERR 'Authentication Timeout'\r\n", ALOFT_AUTH},
      {NULL, "-ERR 'Unknown Protocol Operation'\r\n", ALOFT_SERVER},
      {NULL, "PONG\r\nPONG\r\n", ALOFT_OK},
      {NULL, "garbage\r\n", ALOFT_PROTOCOL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    harness_op op = {.done_count = 0};
    f->toy.options =
        (nats_toy_options){.greeting = cases[i].greeting, .login_answer = cases[i].login};
    if (cases[i].status != ALOFT_OK)
      assert_int_equal(open_fails(f, &config, &op), cases[i].status);
  }
  /* a PONG too many kills it after it was ready */
  f->toy.options = (nats_toy_options){.login_answer = "PONG\r\nPONG\r\n"};
  open_with(f, &config);
  HARNESS_TURN_UNTIL(f->loop, told(f, ALOFT_NATS_DISCONNECTED));
  assert_int_equal(f->event_status, ALOFT_PROTOCOL);
  end(f);
}

static void test_closed_at_each_byte_of_the_greeting(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  for (uint64_t at = 1; at < 150; at += f->sim ? 1 : 13) {
    harness_op op = {.done_count = 0};
    f->toy.options.close_at = at;
    assert_int_equal(open_fails(f, &config, &op), ALOFT_CONNECT);
  }
  end(f);
}

static void test_bad_configs(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  static const struct {
    const char *url;
    aloft_status status;
  } urls[] = {{"", ALOFT_ARGUMENT},
              {"nats://", ALOFT_ARGUMENT},
              {"nats://sekret@h:x", ALOFT_ARGUMENT},
              {"nats://sekret%zz@h", ALOFT_ARGUMENT},
              {"nats://h:70000", ALOFT_ARGUMENT},
              {"http://sekret@h", ALOFT_ARGUMENT},
              {"tls://sekret@h:x", ALOFT_ARGUMENT},
              {"ws://sekret@h", ALOFT_UNSUPPORTED},
              {"wss://sekret@h", ALOFT_UNSUPPORTED}};
  for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
    aloft_nats_config config = config_of(f);
    harness_op op = {.op = {.done = harness_op_done}};
    config.url = aloft_text_of(urls[i].url);
    aloft_status status = aloft_nats_open(&f->nats, f->loop, &config, &op.op);
    if (status != urls[i].status)
      fail_msg("%s: %s", urls[i].url, aloft_status_name(status));
    assert_int_equal(op.op.status, status);
    assert_null(strstr(op.op.error->message.data, "sekret"));
    assert_null(f->nats);
    assert_int_equal(op.done_count, 0);
  }
  aloft_nats_config config = config_of(f);
  config.size--;
  assert_int_equal(aloft_nats_open(&f->nats, f->loop, &config, NULL), ALOFT_ARGUMENT);
  config = config_of(f);
  config.inbox_prefix = ALOFT_TEXT("a.*");
  assert_int_equal(aloft_nats_open(&f->nats, f->loop, &config, NULL), ALOFT_ARGUMENT);
  config = config_of(f);
  config.name = ALOFT_TEXT("\xff");
  assert_int_equal(aloft_nats_open(&f->nats, f->loop, &config, NULL), ALOFT_ARGUMENT);
  config = config_of(f);
  config.inflight_max = UINT32_MAX;
  assert_int_equal(aloft_nats_open(&f->nats, f->loop, &config, NULL), ALOFT_ARGUMENT);
  config = config_of(f);
  static char long_text[4096];
  memset(long_text, 'x', sizeof long_text);
  config.user = (aloft_text){long_text, sizeof long_text};
  assert_int_equal(aloft_nats_open(&f->nats, f->loop, &config, NULL), ALOFT_ARGUMENT);
  config = config_of(f);
  config.token = ALOFT_TEXT("\xc3(");
  assert_int_equal(aloft_nats_open(&f->nats, f->loop, &config, NULL), ALOFT_ARGUMENT);
  config = config_of(f);
  config.tx_bytes_max = SIZE_MAX;
  assert_int_equal(aloft_nats_open(&f->nats, f->loop, &config, NULL), ALOFT_ARGUMENT);
  config = config_of(f);
  harness_op no_done = {.done_count = 0};
  assert_int_equal(aloft_nats_open(&f->nats, f->loop, &config, &no_done.op), ALOFT_ARGUMENT);
  f->nats = NULL;
  end(f);
}

/* An operation that flies is not written over by a start that is refused. */
static void test_refused_open_leaves_an_operation_alone(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  harness_op op = {.op = {.done = harness_op_done, .status = ALOFT_PENDING}};
  assert_int_equal(aloft_nats_open(&f->nats, f->loop, &config, &op.op), ALOFT_OK);
  aloft_nats *other;
  config.url = ALOFT_TEXT("");
  assert_int_equal(aloft_nats_open(&other, f->loop, &config, &op.op), ALOFT_ARGUMENT);
  assert_int_equal(op.op.status, ALOFT_PENDING);
  HARNESS_TURN_UNTIL(f->loop, op.done_count);
  assert_int_equal(op.status, ALOFT_OK);
  end(f);
}

static void test_bad_arguments(void **state) {
  fixture *f = connected(state);
  static const char *const subjects[] = {"", "a b", "a..b", ".a", "a.", "a.*", ">", "a\r\nPUB"};
  for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
    asked one = {.done_count = 0};
    assert_int_equal(publish(f, subjects[i], "x"), ALOFT_ARGUMENT);
    assert_int_equal(ask(f, &one, subjects[i], "x"), ALOFT_ARGUMENT);
    assert_int_equal(one.done_count, 0);
  }
  heard news = {.count = 0};
  assert_int_equal(hear(f, &news, "a.>.b"), ALOFT_ARGUMENT);
  news.subscription.queue = ALOFT_TEXT("a b");
  assert_int_equal(hear(f, &news, "a"), ALOFT_ARGUMENT);
  news.subscription.queue = (aloft_text){NULL, 0};
  news.subscription.op.done = hearing_done;
  news.subscription.message = NULL;
  assert_int_equal(aloft_nats_subscribe(f->nats, &news.subscription), ALOFT_ARGUMENT);
  const aloft_nats_header header = {ALOFT_TEXT("A"), ALOFT_TEXT("b\r\nC: d")};
  const aloft_nats_message message = {
      .subject = ALOFT_TEXT("a"), .header = &header, .header_count = 1};
  assert_int_equal(aloft_nats_publish(f->nats, &message), ALOFT_ARGUMENT);
  assert_int_equal(f->toy.publications, 0);
  end(f);
}

static void test_inbox_prefix(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  config.inbox_prefix = ALOFT_TEXT("my.own");
  connect_with(f, &config);
  heard requests = {.count = 0};
  assert_int_equal(hear(f, &requests, "service"), ALOFT_OK);
  asked one = {.done_count = 0};
  assert_int_equal(ask(f, &one, "service", "x"), ALOFT_OK);
  flush(f);
  assert_memory_equal(requests.reply, "my.own.", 7);
  assert_int_equal(publish(f, requests.reply, "answer"), ALOFT_OK);
  flush(f);
  assert_string_equal(one.data, "answer");
  end(f);
}

/* ---- events ---- */

static void test_permissions(void **state) {
  fixture *f = connected(state);
  const char *text = "-ERR 'Permissions Violation for Publish to \"x\"'\r\n";
  assert_int_equal(publish(f, "toy.raw", text), ALOFT_OK);
  flush(f);
  assert_int_equal(told(f, ALOFT_NATS_ERROR), 1);
  assert_string_equal(f->event_text, "Permissions Violation for Publish to \"x\"");
  assert_int_equal(publish(f, "toy.raw", "-ERR 'maximum subscriptions exceeded'\r\n"), ALOFT_OK);
  flush(f);
  assert_int_equal(told(f, ALOFT_NATS_ERROR), 2);
  assert_true(info_of(f).connected);
  text = "-ERR 'Permissions Violation \x1b[2J\x07'\r\n"; /* nothing that moves a terminal */
  assert_int_equal(publish(f, "toy.raw", text), ALOFT_OK);
  flush(f);
  assert_string_equal(f->event_text, "Permissions Violation ?[2J?");
  assert_int_equal(publish(f, "toy.raw", "-ERR 'Stale Connection'\r\n"), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, told(f, ALOFT_NATS_DISCONNECTED));
  assert_int_equal(f->event_status, ALOFT_LOST);
  assert_non_null(strstr(f->event_text, "Stale Connection"));
  end(f);
}

static void test_inbox_refused(void **state) {
  fixture *f = connected(state);
  asked one = {.done_count = 0};
  assert_int_equal(ask(f, &one, "toy.never", ""), ALOFT_OK);
  char text[512];
  snprintf(text, sizeof text, "-ERR 'Permissions Violation for Subscription to \"%.*s*\"'\r\n",
           (int)f->nats->inbox_size, f->nats->inbox);
  assert_int_equal(publish(f, "toy.raw", text), ALOFT_OK);
  flush(f);
  assert_int_equal(one.done_count, 1);
  assert_int_equal(one.status, ALOFT_SERVER);
  assert_non_null(strstr(one.message, "Permissions Violation"));
  uint64_t subs = f->toy.subs;
  assert_int_equal(ask_and_wait(f, &one, "toy.echo", "x"), ALOFT_OK);
  assert_int_equal(f->toy.subs, subs + 1);
  end(f);
}

static void test_a_flood_of_errors_is_bounded_and_counted(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  config.deliveries_max = 1;
  open_with(f, &config);
  for (int i = 0; i < 100; i++) {
    char large[65];
    memset(large, 'x', 64);
    large[64] = 0;
    assert_int_equal(publish(f, "a", large), ALOFT_OK);
  }
  f->toy.options.max_payload = 10;
  flush(f);
  const aloft_nats_info info = info_of(f);
  assert_int_equal(info.publications_dropped, 100);
  assert_true(info.events_dropped > 0);
  assert_int_equal(told(f, ALOFT_NATS_DROPPED) + info.events_dropped, 100);
  assert_int_equal(told(f, ALOFT_NATS_CONNECTED), 1);
  end(f);
}

static void test_lame_duck(void **state) {
  fixture *f = connected(state);
  const char *text = "INFO {\"max_payload\":7,\"ldm\":true,\"headers\":true}\r\n";
  assert_int_equal(publish(f, "toy.raw", text), ALOFT_OK);
  flush(f);
  flush(f);
  assert_int_equal(told(f, ALOFT_NATS_LAME_DUCK), 1);
  assert_int_equal(info_of(f).max_payload, 7);
  assert_int_equal(publish(f, "a", "12345678"), ALOFT_TOO_LARGE);
  end(f);
}

static void test_lame_duck_from_the_beginning(void **state) {
  fixture *f = begin(state);
  const nats_toy_options options = {.lame_duck = true};
  begin_toy(f, &options);
  const aloft_nats_config config = config_of(f);
  connect_with(f, &config);
  flush(f);
  assert_int_equal(f->event_count, 2);
  assert_int_equal(f->events[0], ALOFT_NATS_CONNECTED);
  assert_int_equal(f->events[1], ALOFT_NATS_LAME_DUCK);
  end(f);
}

static void test_stale_server(void **state) {
  fixture *f = begin(state);
  const nats_toy_options options = {.pongs_max = 1};
  begin_toy(f, &options);
  aloft_nats_config config = config_of(f);
  config.ping_interval_ns = ALOFT_MILLISECONDS(20);
  connect_with(f, &config);
  asked one = {.done_count = 0};
  assert_int_equal(ask(f, &one, "toy.never", ""), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, told(f, ALOFT_NATS_DISCONNECTED));
  assert_int_equal(f->toy.pings, 3); /* the login's, and two unanswered */
  assert_non_null(strstr(f->event_text, "2 PINGs unanswered"));
  assert_int_equal(one.status, ALOFT_LOST);
  end(f);
}

static void test_server_pings(void **state) {
  fixture *f = connected(state);
  assert_int_equal(publish(f, "toy.raw", "PING\r\n+OK\r\nping\r\n"), ALOFT_OK);
  flush(f);
  HARNESS_TURN_UNTIL(f->loop, f->toy.pongs == 2);
  end(f);
}

/* A server that asks and does not listen: the answers have a bound. */
static void test_a_flood_of_pings_is_bounded(void **state) {
  fixture *f = begin(state);
  if (!f->sim) { /* a kernel takes a lot of it */
    harness_loop_close(&f->at);
    skip();
  }
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  config.tx_bytes_max = 1000;
  connect_with(f, &config);
  nats_toy_pause(&f->toy, true);
  static char pings[6 * 1000 + 1];
  for (size_t i = 0; i < 1000; i++)
    memcpy(pings + 6 * i, "PING\r\n", 6);
  for (int i = 0; i < 40; i++)
    nats_toy_send(&f->toy, pings);
  HARNESS_TURN_UNTIL(f->loop, told(f, ALOFT_NATS_DISCONNECTED));
  assert_int_equal(f->event_status, ALOFT_FULL);
  end(f);
}

/* Flushes on their way are no sign of a stale server. */
static void test_flushes_are_not_stale(void **state) {
  fixture *f = begin(state);
  if (!f->sim) {
    harness_loop_close(&f->at);
    skip();
  }
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  config.ping_interval_ns = ALOFT_MILLISECONDS(100);
  connect_with(f, &config);
  harness_op ops[5];
  memset(ops, 0, sizeof ops);
  nats_toy_pause(&f->toy, true);
  for (size_t i = 0; i < 5; i++) {
    ops[i].op.done = harness_op_done;
    assert_int_equal(aloft_nats_flush(f->nats, &ops[i].op), ALOFT_OK);
  }
  harness_op nap = {.op = {.done = harness_op_done, .timeout_ns = ALOFT_MILLISECONDS(150)}};
  assert_int_equal(aloft_sleep_start(f->loop, &nap.op), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, nap.done_count);
  nats_toy_pause(&f->toy, false);
  HARNESS_TURN_UNTIL(f->loop, ops[4].done_count);
  assert_int_equal(ops[4].status, ALOFT_OK);
  end(f);
}

/* The interval of PINGs begins when the server was ready, however long the wait for it was. */
static void test_first_ping_is_not_early(void **state) {
  fixture *f = begin(state);
  if (!f->sim) {
    harness_loop_close(&f->at);
    skip();
  }
  const nats_toy_options options = {.login_answer = ""};
  begin_toy(f, &options);
  aloft_nats_config config = config_of(f);
  config.ping_interval_ns = ALOFT_MILLISECONDS(1000);
  open_with(f, &config);
  HARNESS_TURN_UNTIL(f->loop, f->toy.pings == 1);
  alo_sim_pass(f->at.sim, ALOFT_MILLISECONDS(3000));
  nats_toy_send(&f->toy, "PONG\r\n");
  HARNESS_TURN_UNTIL(f->loop, told(f, ALOFT_NATS_CONNECTED));
  uint64_t ready_at = aloft_loop_now(f->loop);
  HARNESS_TURN_UNTIL(f->loop, f->toy.pings == 2);
  assert_true(f->loop->driver->methods->now(f->loop->driver) >= ready_at + 1000000000);
  end(f);
}

/* ---- losing it ---- */

static void test_lost_with_many_in_flight(void **state) {
  fixture *f = connected(state);
  enum { MANY = 500 };
  static asked many[MANY];
  memset(many, 0, sizeof many);
  for (int i = 0; i < MANY; i++) {
    many[i].request.op.timeout_ns = i % 2 ? ALOFT_SECONDS(9) : 0;
    assert_int_equal(ask(f, &many[i], "toy.never", "x"), ALOFT_OK);
  }
  HARNESS_TURN_UNTIL(f->loop, f->toy.publications == MANY);
  nats_toy_drop(&f->toy);
  asked unsent = {.done_count = 0};
  assert_int_equal(ask(f, &unsent, "toy.never", "x"), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, told(f, ALOFT_NATS_DISCONNECTED));
  for (int i = 0; i < MANY; i++) {
    assert_int_equal(many[i].done_count, 1);
    assert_int_equal(many[i].status, ALOFT_LOST);
    assert_true(many[i].written);
  }
  assert_int_equal(unsent.done_count, 1);
  assert_int_equal(unsent.status, unsent.written ? ALOFT_LOST : ALOFT_LOST_UNSENT);
  assert_int_equal(info_of(f).inflight, 0);
  assert_int_equal(ask(f, &unsent, "toy.never", "x"), ALOFT_LOST_UNSENT);
  end(f);
}

/* ---- closing ---- */

static void test_close_sends_what_was_published_while_connecting(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  const aloft_nats_config config = config_of(f);
  open_with(f, &config);
  asked one = {.done_count = 0};
  assert_int_equal(publish(f, "a", "last words"), ALOFT_OK);
  assert_int_equal(ask(f, &one, "toy.echo", ""), ALOFT_OK);
  harness_op op = {.op = {.done = harness_op_done}};
  assert_int_equal(aloft_nats_close(f->nats, &op.op), ALOFT_OK);
  assert_int_equal(publish(f, "a", "too late"), ALOFT_CLOSED);
  assert_int_equal(aloft_nats_close(f->nats, &op.op), ALOFT_IN_USE);
  assert_int_equal(aloft_nats_close(f->nats, NULL), ALOFT_CLOSED);
  HARNESS_TURN_UNTIL(f->loop, op.done_count);
  assert_int_equal(op.status, ALOFT_OK);
  assert_int_equal(f->toy.publications, 1);
  assert_int_equal(one.status, ALOFT_CLOSED);
  f->nats = NULL;
  /* and says so when it cannot */
  f->toy.options.greeting = "";
  open_with(f, &config);
  assert_int_equal(publish(f, "a", "last words"), ALOFT_OK);
  op.done_count = 0;
  assert_int_equal(aloft_nats_close(f->nats, &op.op), ALOFT_OK);
  nats_toy_close(&f->toy);
  HARNESS_TURN_UNTIL(f->loop, op.done_count);
  assert_int_equal(op.status, ALOFT_LOST_UNSENT);
  f->nats = NULL;
  end(f);
}

/* Publications have no operation: closing is their receipt, also after the connection died. */
static void test_close_of_a_dead_connection(void **state) {
  fixture *f = connected(state);
  nats_toy_pause(&f->toy, true);
  assert_int_equal(publish(f, "a", "lost"), ALOFT_OK);
  assert_int_equal(aloft_loop_turn(f->loop, 0), ALOFT_OK);
  nats_toy_drop(&f->toy);
  HARNESS_TURN_UNTIL(f->loop, told(f, ALOFT_NATS_DISCONNECTED));
  harness_op op = {.op = {.done = harness_op_done}};
  assert_int_equal(aloft_nats_close(f->nats, &op.op), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, op.done_count);
  assert_int_equal(op.status, ALOFT_LOST);
  /* accepted while connecting, and never sent */
  f->toy.options.greeting = "nonsense\r\n";
  f->event_count = 0;
  const aloft_nats_config config = config_of(f);
  open_with(f, &config);
  assert_int_equal(publish(f, "a", "unsent"), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, told(f, ALOFT_NATS_DISCONNECTED));
  op.done_count = 0;
  assert_int_equal(aloft_nats_close(f->nats, &op.op), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, op.done_count);
  assert_int_equal(op.status, ALOFT_LOST_UNSENT);
  f->nats = NULL;
  end(f);
}

/* With the smallest blocks a long line crosses many: it is moved a few times, not for each byte. */
static void test_a_long_line_in_small_blocks(void **state) {
  static char greeting[60000];
  fixture *f = begin(state);
  harness_loop_reopen(&f->at, f->sim, 4096);
  f->loop = f->at.loop;
  size_t head = (size_t)snprintf(greeting, sizeof greeting,
                                 "INFO {\"max_payload\":1024,\"headers\":true,\"server_name\":\"");
  memset(greeting + head, 'x', sizeof greeting - head);
  memcpy(greeting + sizeof greeting - 5, "\"}\r\n", 5);
  const nats_toy_options options = {.greeting = greeting};
  begin_toy(f, &options);
  const aloft_nats_config config = config_of(f);
  uint64_t before = f->at.heap.allocations;
  connect_with(f, &config);
  assert_true(f->at.heap.allocations - before < 200);
  end(f);
}

static void test_close_times_out(void **state) {
  fixture *f = begin(state);
  const nats_toy_options options = {.pongs_max = 1};
  begin_toy(f, &options);
  const aloft_nats_config config = config_of(f);
  connect_with(f, &config);
  harness_op op = {.op = {.done = harness_op_done, .timeout_ns = ALOFT_MILLISECONDS(30)}};
  assert_int_equal(aloft_nats_close(f->nats, &op.op), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, op.done_count);
  assert_int_equal(op.status, ALOFT_TIMEOUT);
  if (f->sim) { /* more than the second that is given otherwise, and that second */
    for (int own = 0; own < 2; own++) {
      connect_with(f, &config);
      uint64_t begun = aloft_loop_now(f->loop);
      op = (harness_op){.op = {.done = harness_op_done}, .loop = f->loop};
      op.op.timeout_ns = own ? ALOFT_SECONDS(5) : 0;
      assert_int_equal(aloft_nats_close(f->nats, &op.op), ALOFT_OK);
      HARNESS_TURN_UNTIL(f->loop, op.done_count);
      assert_int_equal(op.status, ALOFT_TIMEOUT);
      assert_true(op.at_ns - begun >= ALOFT_SECONDS(own ? 5 : 1));
    }
  }
  connect_with(f, &config);
  op = (harness_op){.op = {.done = harness_op_done}};
  assert_int_equal(aloft_nats_close(f->nats, &op.op), ALOFT_OK);
  assert_int_equal(aloft_op_cancel(&op.op), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, op.done_count);
  assert_int_equal(op.status, ALOFT_CANCELLED);
  f->nats = NULL;
  end(f);
}

static void close_it(aloft_nats_subscription *subscription, const aloft_nats_message *message) {
  (void)subscription;
  (void)message;
  note('c');
  if (current->nats)
    assert_int_equal(aloft_nats_close(current->nats, NULL), ALOFT_OK);
  current->nats = NULL;
}

static void test_close_inside_a_callback(void **state) {
  fixture *f = connected(state);
  heard closer = {.done_letter = 'E'};
  asked one = {.letter = 'r'};
  closer.subscription = (aloft_nats_subscription){
      .op = {.done = hearing_done}, .subject = ALOFT_TEXT("c"), .message = close_it};
  assert_int_equal(aloft_nats_subscribe(f->nats, &closer.subscription), ALOFT_OK);
  assert_int_equal(ask(f, &one, "toy.never", ""), ALOFT_OK);
  assert_int_equal(publish(f, "c", "1"), ALOFT_OK);
  HARNESS_TURN_UNTIL(f->loop, closer.done_count && one.done_count);
  assert_int_equal(aloft_loop_run(f->loop), ALOFT_OK); /* ends: nothing is open any more */
  assert_string_equal(f->log, "crE");
  assert_int_equal(closer.status, ALOFT_CLOSED);
  assert_int_equal(one.status, ALOFT_CLOSED);
  end(f);
}

static void test_loop_closed_with_everything_open(void **state) {
  fixture *f = connected(state);
  heard news = {.count = 0};
  asked one = {.done_count = 0};
  harness_op flushed = {.op = {.done = harness_op_done}};
  assert_int_equal(hear(f, &news, "m"), ALOFT_OK);
  assert_int_equal(ask(f, &one, "toy.never", ""), ALOFT_OK);
  assert_int_equal(aloft_nats_flush(f->nats, &flushed.op), ALOFT_OK);
  aloft_nats *second;
  const aloft_nats_config config = config_of(f);
  harness_op opening = {.op = {.done = harness_op_done}};
  assert_int_equal(aloft_nats_open(&second, f->loop, &config, &opening.op), ALOFT_OK);
  f->nats = NULL;
  end(f);
  assert_int_equal(news.status, ALOFT_CLOSED);
  assert_int_equal(one.status, ALOFT_CLOSED);
  assert_int_equal(flushed.status, ALOFT_CLOSED);
  assert_int_equal(opening.status, ALOFT_CLOSED);
  assert_int_equal(news.done_count + one.done_count + flushed.done_count + opening.done_count, 4);
}

/* ---- memory ---- */

static void test_large_output_is_given_back(void **state) {
  fixture *f = begin(state);
  begin_toy(f, NULL);
  aloft_nats_config config = config_of(f);
  config.ping_interval_ns = ALOFT_MILLISECONDS(20);
  connect_with(f, &config);
  static char large[500001];
  memset(large, 'x', sizeof large - 1);
  for (int i = 0; i < 4; i++)
    assert_int_equal(publish(f, "a", large), ALOFT_OK);
  flush(f);
  assert_true(f->nats->stream.tx.room >= 2000000);
  HARNESS_TURN_UNTIL(f->loop, f->nats->stream.tx.room < 100000);
  flush(f);
  end(f);
}

static void test_foreign_info_size(void **state) {
  fixture *f = connected(state);
  struct {
    size_t size;
    bool connected;
    char guard[64];
  } old = {.size = offsetof(aloft_nats_info, connected) + sizeof(bool)};
  memset(old.guard, 0x5A, sizeof old.guard);
  aloft_nats_get_info(f->nats, (aloft_nats_info *)(void *)&old);
  assert_true(old.connected);
  assert_int_equal(old.guard[0], 0x5A);
  end(f);
}

static bool on_uv = false, on_sim = true;

#define BOTH(test)                                                                                 \
  {#test " on uv", test, NULL, NULL, &on_uv}, {                                                    \
    #test " on sim", test, NULL, NULL, &on_sim                                                     \
  }

int main(void) {
  const struct CMUnitTest tests[] = {
      BOTH(test_request_and_reply),
      BOTH(test_started_while_connecting),
      BOTH(test_ended_while_connecting),
      BOTH(test_held_over_the_servers_limits),
      BOTH(test_headers),
      BOTH(test_queue_groups_and_wildcards),
      BOTH(test_messages_max),
      BOTH(test_unsubscribe_in_its_callback),
      BOTH(test_messages_of_ended_subscriptions_are_counted),
      BOTH(test_drain),
      BOTH(test_unsub_is_tried_again),
      BOTH(test_deliveries_and_completions_keep_wire_order),
      BOTH(test_flush_order),
      BOTH(test_lost_knows_what_was_written),
      BOTH(test_replies_unmatched),
      BOTH(test_inflight_max),
      BOTH(test_full_output),
      BOTH(test_the_largest_publication),
      BOTH(test_full_output_stays_full),
      BOTH(test_full_while_connecting),
      BOTH(test_reading_waits_at_deliveries_max),
      BOTH(test_reply_behind_messages_beats_the_timeout),
      BOTH(test_lost_while_paused),
      BOTH(test_rx_payload_max),
      BOTH(test_keep_beyond_close),
      BOTH(test_kept_bytes_max),
      BOTH(test_messages_cross_blocks),
      BOTH(test_connect_refused),
      BOTH(test_fails_inside_the_open),
      BOTH(test_connect_times_out),
      BOTH(test_resolve),
      BOTH(test_credentials),
      BOTH(test_token),
      BOTH(test_greetings_that_are_none),
      BOTH(test_closed_at_each_byte_of_the_greeting),
      BOTH(test_bad_configs),
      BOTH(test_refused_open_leaves_an_operation_alone),
      BOTH(test_bad_arguments),
      BOTH(test_inbox_prefix),
      BOTH(test_permissions),
      BOTH(test_inbox_refused),
      BOTH(test_a_flood_of_errors_is_bounded_and_counted),
      BOTH(test_lame_duck),
      BOTH(test_stale_server),
      BOTH(test_lame_duck_from_the_beginning),
      BOTH(test_server_pings),
      BOTH(test_a_flood_of_pings_is_bounded),
      BOTH(test_flushes_are_not_stale),
      BOTH(test_first_ping_is_not_early),
      BOTH(test_lost_with_many_in_flight),
      BOTH(test_close_sends_what_was_published_while_connecting),
      BOTH(test_close_of_a_dead_connection),
      BOTH(test_a_long_line_in_small_blocks),
      BOTH(test_close_times_out),
      BOTH(test_close_inside_a_callback),
      BOTH(test_loop_closed_with_everything_open),
      BOTH(test_large_output_is_given_back),
      BOTH(test_foreign_info_size),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
