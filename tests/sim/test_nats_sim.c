/* The NATS client in a simulated world: virtual time, a toy server, seeded faults and a seeded
 * user who opens, asks, cancels, fires, loses and closes in any order. What comes back is checked
 * against a plain model of the laws.
 *
 *   ALOFT_SIM_SEED=N   runs that seed alone and prints what the user does
 *   ALOFT_SIM_SEEDS=N  runs so many seeds instead of the usual number */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness_loop.h"
#include "nats_toy.h"

enum { SEEDS = 3000, SEEDS_OF_TLS = 600 }; /* handshakes take their time */
enum { STEPS = 120, REQUESTS = 24, SUBS = 4, FLUSHES = 4, SOURCES = 4, IDS = 4096 };

typedef enum { ECHO, TWICE, NEVER, AFTER, REWRITTEN, SID, NOBODY, ANSWERS } answer;

/* What the model knows of one operation. */
typedef struct model {
  bool flying;
  unsigned starts, dones;
  uint64_t started_ns;
  uint64_t fired_turn; /* its source had fired before that turn; 0: not */
  bool cancelled;      /* by aloft_op_cancel */
  bool closed;         /* its connection was closed by the user meanwhile */
  int source;          /* -1: none */
} model;

typedef struct sim_request {
  aloft_nats_request request;
  model model;
  answer answer;
  unsigned id;
  char data[16];
} sim_request;

typedef struct sim_sub {
  aloft_nats_subscription subscription;
  model model;
  bool unsubscribed;
  uint64_t last;
} sim_sub;

typedef struct sim_op {
  aloft_op op;
  model model;
} sim_op;

typedef struct world {
  uint64_t seed;
  bool trace;
  harness_loop at;
  aloft_loop *loop;
  nats_toy toy;
  aloft_nats *nats; /* NULL: none open, or closing */
  uint64_t connection, connected_told, disconnected_told;
  bool inside; /* a call of ours */
  unsigned depth;
  sim_op opening, closing, nap, flushes[FLUSHES];
  sim_request requests[REQUESTS];
  sim_sub subs[SUBS];
  aloft_cancel sources[SOURCES];
  uint64_t source_fired[SOURCES];
  unsigned next_id;
  uint64_t next_message;
  uint64_t statuses[256]; /* how often each came */
  bool seen[IDS];
} world;

static world *w;
static bool finished;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition))                                                                              \
      fail_msg("seed %llu: %s", (unsigned long long)w->seed, #condition);                          \
  } while (0)

static uint64_t clock_now(void) {
  return w->loop->driver->methods->now(w->loop->driver);
}

static void say(const char *what, unsigned long long number) {
  if (w->trace)
    print_message("%llu us, turn %llu: %s %llu\n", (unsigned long long)(clock_now() / 1000),
                  (unsigned long long)w->loop->turns, what, number);
}

static uint64_t random_below(uint64_t n) {
  return alo_sim_random(w->at.sim) % n;
}

/* ---- the model ---- */

static void model_started(model *own, aloft_status status, const aloft_op *op) {
  if (status != ALOFT_OK) {
    CHECK(own->flying == (status == ALOFT_IN_USE));
    return;
  }
  CHECK(!own->flying);
  *own = (model){.flying = true,
                 .starts = own->starts + 1,
                 .dones = own->dones,
                 .started_ns = clock_now(),
                 .source = own->source};
  CHECK(aloft_op_in_flight(op));
}

/* The laws that hold for every operation. */
static void model_done(model *own, const aloft_op *op, aloft_status status) {
  CHECK(own->flying);
  CHECK(!w->inside);
  CHECK(w->depth++ == 0);
  CHECK(!aloft_op_in_flight(op));
  CHECK(op->status == status);
  CHECK(status == ALOFT_OK || (op->error && op->error->message.size));
  own->flying = false;
  own->dones++;
  w->statuses[status]++;
  CHECK(own->dones == own->starts);
  if (own->source >= 0)
    own->fired_turn = w->source_fired[own->source];
  switch (status) {
  case ALOFT_TIMEOUT:
    CHECK(op->timeout_ns || op == &w->closing.op || op == &w->opening.op);
    CHECK(aloft_loop_now(w->loop) >= own->started_ns + op->timeout_ns);
    CHECK(!own->fired_turn || own->fired_turn > w->loop->turns + 1); /* fired before: that wins */
    break;
  case ALOFT_CANCELLED:
    CHECK(own->cancelled || own->fired_turn);
    break;
  case ALOFT_CLOSED:
    CHECK(own->closed || w->loop->closing);
    break;
  default:
    break;
  }
}

/* At the end of the callback. */
static void model_left(void) {
  w->depth--;
}

/* ---- callbacks ---- */

static bool is_transport(aloft_status status) {
  return status == ALOFT_LOST || status == ALOFT_LOST_UNSENT;
}

static void start_request(sim_request *own);

static void request_done(aloft_op *op, aloft_status status) {
  sim_request *own = ALOFT_CONTAINER(op, sim_request, request.op);
  say(aloft_status_name(status), own->id);
  model_done(&own->model, op, status);
  if (w->seen[own->id])
    CHECK(op->written);
  switch (status) {
  case ALOFT_OK:
    CHECK(own->answer == ECHO || own->answer == TWICE || own->answer == AFTER);
    CHECK(own->request.reply.data.size == strlen(own->data));
    CHECK(memcmp(own->request.reply.data.data, own->data, strlen(own->data)) == 0);
    CHECK(op->written && w->seen[own->id]);
    break;
  case ALOFT_NO_RESPONDERS:
    CHECK(own->answer == NOBODY && op->written);
    break;
  case ALOFT_LOST:
    CHECK(op->written);
    break;
  case ALOFT_LOST_UNSENT:
    CHECK(!op->written && !w->seen[own->id]);
    break;
  default:
    CHECK(status == ALOFT_TIMEOUT || status == ALOFT_CANCELLED || status == ALOFT_CLOSED);
  }
  if (w->nats && random_below(8) == 0) /* again, inside its own done */
    start_request(own);
  model_left();
}

static void sub_done(aloft_op *op, aloft_status status) {
  sim_sub *own = ALOFT_CONTAINER(op, sim_sub, subscription.op);
  say("subscription done", status);
  model_done(&own->model, op, status);
  if (status == ALOFT_OK && !own->unsubscribed)
    CHECK(own->subscription.delivered == own->subscription.messages_max);
  if (is_transport(status))
    CHECK(op->written == (status == ALOFT_LOST));
  model_left();
}

static void message_shown(aloft_nats_subscription *subscription,
                          const aloft_nats_message *message) {
  sim_sub *own = ALOFT_CONTAINER(subscription, sim_sub, subscription);
  CHECK(own->model.flying && !own->unsubscribed && !own->model.cancelled);
  CHECK(!w->inside && w->depth == 0);
  char digits[24] = "";
  CHECK(message->data.size < sizeof digits);
  memcpy(digits, message->data.data, message->data.size);
  uint64_t number = strtoull(digits, NULL, 10);
  say("message", number & UINT32_MAX);
  if (number >> 32 != w->connection) /* an earlier one's, that the server has read late */
    return;
  number &= UINT32_MAX;
  CHECK(number > own->last && number <= w->next_message); /* in order, none twice */
  own->last = number;
}

static void flush_done(aloft_op *op, aloft_status status) {
  sim_op *own = ALOFT_CONTAINER(op, sim_op, op);
  say("flush done", status);
  model_done(&own->model, op, status);
  if (is_transport(status))
    CHECK(op->written == (status == ALOFT_LOST));
  if (status == ALOFT_OK)
    CHECK(op->written);
  model_left();
}

static void nap_done(aloft_op *op, aloft_status status) {
  sim_op *own = ALOFT_CONTAINER(op, sim_op, op);
  model_done(&own->model, op, status);
  CHECK(status == ALOFT_TIMEOUT || status == ALOFT_CANCELLED || status == ALOFT_CLOSED);
  model_left();
}

static void opening_done(aloft_op *op, aloft_status status) {
  sim_op *own = ALOFT_CONTAINER(op, sim_op, op);
  say("open done", status);
  model_done(&own->model, op, status);
  CHECK(status == ALOFT_OK || status == ALOFT_CONNECT || status == ALOFT_TIMEOUT ||
        status == ALOFT_CLOSED || (status == ALOFT_ENCRYPTION && w->toy.tls));
  model_left();
}

static void closing_done(aloft_op *op, aloft_status status) {
  sim_op *own = ALOFT_CONTAINER(op, sim_op, op);
  say("close done", status);
  model_done(&own->model, op, status);
  w->connection = 0;                 /* no callback of it any more */
  for (int i = 0; i < REQUESTS; i++) /* they all came before */
    CHECK(!w->requests[i].model.flying);
  for (int i = 0; i < SUBS; i++)
    CHECK(!w->subs[i].model.flying);
  for (int i = 0; i < FLUSHES; i++)
    CHECK(!w->flushes[i].model.flying);
  model_left();
}

static uint64_t event_context;

static void event_told(aloft_nats *nats, aloft_nats_event event, const aloft_error *error,
                       void *context) {
  (void)nats;
  CHECK(context == &event_context && w->connection && event_context == w->connection);
  CHECK(!w->inside && w->depth == 0);
  if (event == ALOFT_NATS_CONNECTED)
    CHECK(w->connected_told++ == 0 && !error);
  if (event == ALOFT_NATS_DISCONNECTED)
    CHECK(w->disconnected_told++ == 0 && error);
  CHECK(event == ALOFT_NATS_CONNECTED || event == ALOFT_NATS_DISCONNECTED);
}

static void toy_saw(nats_toy *toy, aloft_text subject, aloft_bytes data) {
  (void)toy;
  char digits[16] = "";
  if (subject.size > 5 && memcmp(subject.data, "news.", 5) == 0)
    return;
  CHECK(data.size < sizeof digits);
  memcpy(digits, data.data, data.size);
  w->seen[strtoul(digits, NULL, 10)] = true;
}

/* ---- what the user does ---- */

static void choose_time_and_source(aloft_op *op, model *own) {
  op->timeout_ns = random_below(2) ? 1 + random_below(ALOFT_MILLISECONDS(40)) : 0;
  own->source = random_below(3) ? -1 : (int)random_below(SOURCES);
  op->cancel = own->source >= 0 ? &w->sources[own->source] : NULL;
}

static void do_open(void) {
  if (w->nats || w->closing.model.flying || w->opening.model.flying)
    return;
  aloft_nats_config config = nats_toy_config(&w->toy);
  config.connect_timeout_ns = ALOFT_MILLISECONDS(200);
  config.ping_interval_ns = ALOFT_MILLISECONDS(50);
  config.tx_bytes_max = random_below(4) ? 0 : 300 + random_below(900);
  config.deliveries_max = 1 + (uint32_t)random_below(8);
  config.inflight_max = REQUESTS / 2 + (uint32_t)random_below(REQUESTS);
  config.event = event_told;
  config.context = &event_context;
  w->connection = ++event_context;
  w->connected_told = w->disconnected_told = 0;
  w->opening.op.done = opening_done;
  w->opening.op.timeout_ns = random_below(4) ? 0 : 1 + random_below(ALOFT_MILLISECONDS(30));
  w->opening.model.source = -1;
  w->inside = true;
  aloft_status status = aloft_nats_open(&w->nats, w->loop, &config, &w->opening.op);
  w->inside = false;
  say("open", status);
  CHECK(status == ALOFT_OK);
  model_started(&w->opening.model, status, &w->opening.op);
}

static void start_request(sim_request *own) {
  static const char *const subjects[ANSWERS] = {
      "toy.echo", "toy.twice", "toy.never", "toy.after.7", "toy.rewritten", "toy.sid", "nobody"};
  if (w->next_id >= IDS - 1)
    return;
  if (!own->model.flying) {
    own->answer = (answer)random_below(ANSWERS);
    own->id = ++w->next_id;
    snprintf(own->data, sizeof own->data, "%u", own->id);
    choose_time_and_source(&own->request.op, &own->model);
  }
  own->request.op.done = request_done;
  own->request.subject = aloft_text_of(subjects[own->answer]);
  own->request.data = (aloft_bytes){own->data, strlen(own->data)};
  w->inside = true;
  aloft_status status = aloft_nats_request_start(w->nats, &own->request);
  w->inside = false;
  say("ask", own->id);
  model_started(&own->model, status, &own->request.op);
  CHECK(status == ALOFT_OK || status == ALOFT_IN_USE || status == ALOFT_TOO_MANY ||
        status == ALOFT_CANCELLED || status == ALOFT_LOST_UNSENT || status == ALOFT_FULL ||
        (status == ALOFT_CLOSED && w->loop->closing));
  if (status == ALOFT_CANCELLED)
    CHECK(own->model.source >= 0 && w->source_fired[own->model.source]);
}

static void do_ask(void) {
  if (w->nats)
    start_request(&w->requests[random_below(REQUESTS)]);
}

static void do_publish(void) {
  if (!w->nats)
    return;
  for (uint64_t n = 1 + random_below(12); n; n--) {
    char digits[24], subject[16];
    snprintf(digits, sizeof digits, "%llu",
             (unsigned long long)(w->connection << 32 | ++w->next_message));
    snprintf(subject, sizeof subject, "news.%d", (int)random_below(3));
    const aloft_nats_message message = {.subject = aloft_text_of(subject),
                                        .data = {digits, strlen(digits)}};
    aloft_status status = aloft_nats_publish(w->nats, &message);
    say("publish", w->next_message);
    CHECK(status == ALOFT_OK || status == ALOFT_LOST_UNSENT || status == ALOFT_FULL);
    w->statuses[ALOFT_FULL] += status == ALOFT_FULL;
  }
}

static void do_subscribe(void) {
  static const char *const subjects[SUBS] = {"news.*", "news.1", "news.>", "news.2"};
  size_t index = (size_t)random_below(SUBS);
  sim_sub *own = &w->subs[index];
  if (!w->nats)
    return;
  if (!own->model.flying) {
    own->subscription.op.done = sub_done;
    own->subscription.message = message_shown;
    own->subscription.messages_max = random_below(3) ? 0 : 1 + random_below(5);
    choose_time_and_source(&own->subscription.op, &own->model);
    own->unsubscribed = false;
    own->last = 0;
  }
  own->subscription.subject = aloft_text_of(subjects[index]);
  w->inside = true;
  aloft_status status = aloft_nats_subscribe(w->nats, &own->subscription);
  w->inside = false;
  say("subscribe", index);
  model_started(&own->model, status, &own->subscription.op);
}

static void do_unsubscribe(void) {
  sim_sub *own = &w->subs[random_below(SUBS)];
  w->inside = true;
  aloft_status status = aloft_nats_unsubscribe(&own->subscription);
  w->inside = false;
  CHECK((status == ALOFT_OK) == own->model.flying);
  own->unsubscribed |= own->model.flying;
}

static void do_flush(void) {
  sim_op *own = &w->flushes[random_below(FLUSHES)];
  if (!w->nats)
    return;
  own->op.done = flush_done;
  if (!own->model.flying)
    choose_time_and_source(&own->op, &own->model);
  w->inside = true;
  aloft_status status = aloft_nats_flush(w->nats, &own->op);
  w->inside = false;
  model_started(&own->model, status, &own->op);
}

static void do_nap(void) {
  if (w->nap.model.flying)
    return;
  w->nap.op.done = nap_done;
  choose_time_and_source(&w->nap.op, &w->nap.model);
  if (!w->nap.op.timeout_ns)
    w->nap.op.timeout_ns = 1;
  model_started(&w->nap.model, aloft_sleep_start(w->loop, &w->nap.op), &w->nap.op);
}

static void cancel_one(aloft_op *op, model *own) {
  w->inside = true;
  aloft_status status = aloft_op_cancel(op);
  w->inside = false;
  CHECK(status == ALOFT_OK || status == ALOFT_WRONG_STATE);
  CHECK(status != ALOFT_OK || own->flying);
  own->cancelled |= status == ALOFT_OK;
}

static void do_cancel(void) {
  sim_sub *sub = &w->subs[random_below(SUBS)];
  sim_op *flush = &w->flushes[random_below(FLUSHES)];
  sim_request *request = &w->requests[random_below(REQUESTS)];
  switch (random_below(4)) {
  case 0:
    cancel_one(&w->nap.op, &w->nap.model);
    break;
  case 1:
    cancel_one(&sub->subscription.op, &sub->model);
    break;
  case 2:
    cancel_one(&flush->op, &flush->model);
    break;
  default:
    cancel_one(&request->request.op, &request->model);
  }
}

/* Source 0 is the parent of the others. */
static void do_fire(void) {
  int source = (int)random_below(SOURCES);
  if (source == 0 && random_below(4))
    return;
  say("fire", (unsigned)source);
  aloft_cancel_fire(&w->sources[source]);
  for (int i = 0; i < SOURCES; i++)
    if ((i == source || (source == 0 && w->sources[i].own.parent)) && !w->source_fired[i])
      w->source_fired[i] = w->loop->turns + 1;
}

static bool source_named(int source) {
  bool named = w->nap.model.flying && w->nap.model.source == source;
  for (int i = 0; i < REQUESTS; i++)
    named |= w->requests[i].model.flying && w->requests[i].model.source == source;
  for (int i = 0; i < SUBS; i++)
    named |= w->subs[i].model.flying && w->subs[i].model.source == source;
  for (int i = 0; i < FLUSHES; i++)
    named |= w->flushes[i].model.flying && w->flushes[i].model.source == source;
  return named;
}

/* A source that nobody names any more begins anew. */
static void do_renew(void) {
  int source = 1 + (int)random_below(SOURCES - 1);
  if (source_named(source))
    return;
  aloft_cancel_fini(&w->sources[source]);
  bool linked = !w->source_fired[0];
  aloft_cancel_init(&w->sources[source], w->loop, linked ? &w->sources[0] : NULL);
  w->source_fired[source] = 0;
}

static void close_it(void) {
  say("close", 0);
  for (int i = 0; i < REQUESTS; i++)
    w->requests[i].model.closed = true;
  for (int i = 0; i < SUBS; i++)
    w->subs[i].model.closed = true;
  for (int i = 0; i < FLUSHES; i++)
    w->flushes[i].model.closed = true;
  w->opening.model.closed = true;
  w->closing.op.done = closing_done;
  w->closing.op.timeout_ns = random_below(2) ? 1 + random_below(ALOFT_MILLISECONDS(50)) : 0;
  w->closing.model.source = -1;
  w->inside = true;
  aloft_status status = aloft_nats_close(w->nats, &w->closing.op);
  w->inside = false;
  CHECK(status == ALOFT_OK);
  model_started(&w->closing.model, status, &w->closing.op);
  w->nats = NULL;
}

static void do_close(void) {
  if (w->nats && !w->closing.model.flying && random_below(4) == 0)
    close_it();
}

static void turn(uint64_t wait_ns) {
  CHECK(aloft_loop_turn(w->loop, wait_ns) == ALOFT_OK);
}

static void do_turns(void) {
  for (uint64_t n = 1 + random_below(4); n; n--)
    turn(random_below(3) ? random_below(ALOFT_MILLISECONDS(10)) : 0);
}

static void do_hold_up(void) {
  say("held up", 0);
  alo_sim_pass(w->at.sim, random_below(ALOFT_MILLISECONDS(60)));
}

static void do_lose(void) {
  if (random_below(6) == 0) {
    say("server drops", 0);
    nats_toy_drop(&w->toy);
  }
}

static void do_slow_server(void) {
  nats_toy_pause(&w->toy, random_below(2) == 0);
}

static void (*const actions[])(void) = {
    do_open,  do_ask,   do_ask,   do_ask,    do_ask,         do_publish, do_subscribe,  do_fire,
    do_nap,   do_flush, do_lose,  do_cancel, do_unsubscribe, do_renew,   do_cancel,     do_close,
    do_turns, do_turns, do_turns, do_turns,  do_turns,       do_hold_up, do_slow_server};

/* ---- one run ---- */

static alo_sim_faults faults_of(uint64_t seed) {
  if (seed % 5 == 0)
    return (alo_sim_faults){.short_read = 0};
  return (alo_sim_faults){.short_read = seed % 2 ? 200 : 0,
                          .split_write = seed % 3 ? 200 : 0,
                          .full = seed % 7 ? 50 : 0,
                          .reset = seed % 4 ? 0 : 10,
                          .refuse = seed % 6 ? 0 : 200,
                          .silent = seed % 11 ? 0 : 200,
                          .delay_ns = seed % 3 ? ALOFT_MILLISECONDS(seed % 9) : 0};
}

static void check_ends(const model *own) {
  CHECK(own->starts == own->dones && !own->flying);
}

static void end_run(void) {
  alo_sim_set_faults(w->at.sim, &(alo_sim_faults){.short_read = 0});
  bool evict = random_below(4) == 0; /* the loop is closed with everything open */
  while (!evict && (w->nats || w->closing.model.flying || w->nap.model.flying)) {
    if (w->nats && !w->closing.model.flying)
      close_it();
    turn(ALOFT_MILLISECONDS(100));
  }
  nats_toy_close(&w->toy);
  harness_loop_close(&w->at);
  for (int i = 0; i < SOURCES; i++)
    aloft_cancel_fini(&w->sources[(i + 1) % SOURCES]);
  for (int i = 0; i < REQUESTS; i++)
    check_ends(&w->requests[i].model);
  for (int i = 0; i < SUBS; i++)
    check_ends(&w->subs[i].model);
  for (int i = 0; i < FLUSHES; i++)
    check_ends(&w->flushes[i].model);
  check_ends(&w->nap.model);
  check_ends(&w->opening.model);
  check_ends(&w->closing.model);
}

static void run_seed(uint64_t seed, bool trace) {
  static world place;
  memset(&place, 0, sizeof place);
  w = &place;
  w->seed = seed;
  w->trace = trace;
  event_context = 0;
  const alo_sim_faults faults = faults_of(seed);
  harness_loop_open(&w->at, true, seed, &faults);
  w->loop = w->at.loop;
  nats_toy_open(&w->toy, w->loop, NULL);
  w->toy.published = toy_saw;
  if (seed % 13 == 0)
    w->toy.options.pongs_max = 1 + (uint32_t)random_below(4);
  if (seed % 17 == 0) /* each connection ends at some byte */
    w->toy.options.close_at = 1 + random_below(4000);
  aloft_cancel_init(&w->sources[0], w->loop, NULL);
  for (int i = 1; i < SOURCES; i++)
    aloft_cancel_init(&w->sources[i], w->loop, &w->sources[0]);
  for (int i = 0; i < STEPS; i++)
    actions[random_below(sizeof actions / sizeof actions[0])]();
  end_run();
}

/* Each outcome must have come, or the runs show less than they seem to. */
static void check_variety(const uint64_t *sums) {
  static const aloft_status wanted[] = {ALOFT_OK,        ALOFT_NO_RESPONDERS, ALOFT_TIMEOUT,
                                        ALOFT_CANCELLED, ALOFT_LOST,          ALOFT_LOST_UNSENT,
                                        ALOFT_CLOSED,    ALOFT_CONNECT,       ALOFT_FULL};
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    print_message("%s: %llu\n", aloft_status_name(wanted[i]), (unsigned long long)sums[wanted[i]]);
    assert_true(sums[wanted[i]] > 20);
  }
}

static void test_seeds(void **state) {
  (void)state;
  const char *one = getenv("ALOFT_SIM_SEED"), *many = getenv("ALOFT_SIM_SEEDS");
  uint64_t sums[256] = {0};
  uint64_t first = one ? strtoull(one, NULL, 10) : 1;
  uint64_t usual = getenv("ALOFT_TEST_TLS") ? SEEDS_OF_TLS : SEEDS;
  uint64_t count = one ? 1 : many ? strtoull(many, NULL, 10) : usual;
  finished = false;
  for (uint64_t seed = first; seed < first + count; seed++) {
    run_seed(seed, one != NULL);
    for (size_t i = 0; i < 256; i++)
      sums[i] += w->statuses[i];
  }
  finished = true;
  if (count >= 100)
    check_variety(sums);
}

/* Failures in the harness know nothing of seeds. */
static int tell_seed(void **state) {
  (void)state;
  if (!finished && w)
    print_error("ALOFT_SIM_SEED=%llu replays it\n", (unsigned long long)w->seed);
  return 0;
}

/* The same seed gives the same run, but not over TLS: its random numbers are OpenSSL's. */
static void test_a_seed_is_a_run(void **state) {
  (void)state;
  if (getenv("ALOFT_TEST_TLS"))
    skip();
  run_seed(77, false);
  static world first;
  first = *w;
  run_seed(77, false);
  assert_int_equal(w->next_message, first.next_message);
  assert_int_equal(w->toy.bytes_in, first.toy.bytes_in);
  assert_memory_equal(w->statuses, first.statuses, sizeof first.statuses);
  assert_memory_equal(w->seen, first.seen, sizeof first.seen);
}

/* ---- the outcomes of races ---- */

typedef struct race {
  harness_loop at;
  nats_toy toy;
  aloft_nats *nats;
  aloft_cancel cancel;
  aloft_nats_request request;
  unsigned dones;
  aloft_status status;
} race;

static void race_done(aloft_op *op, aloft_status status) {
  race *own = ALOFT_CONTAINER(op, race, request.op);
  own->dones++;
  own->status = status;
}

static void begin_race(race *own, bool reply) {
  memset(own, 0, sizeof *own);
  harness_loop_open(&own->at, true, 1, NULL);
  nats_toy_open(&own->toy, own->at.loop, NULL);
  aloft_cancel_init(&own->cancel, own->at.loop, NULL);
  const aloft_nats_config config = nats_toy_config(&own->toy);
  harness_op op = {.op = {.done = harness_op_done}};
  assert_int_equal(aloft_nats_open(&own->nats, own->at.loop, &config, &op.op), ALOFT_OK);
  assert_int_equal(aloft_wait(own->at.loop, &op.op), ALOFT_OK);
  own->request.op =
      (aloft_op){.done = race_done, .timeout_ns = ALOFT_MILLISECONDS(100), .cancel = &own->cancel};
  own->request.subject = reply ? ALOFT_TEXT("toy.echo") : ALOFT_TEXT("toy.never");
  assert_int_equal(aloft_nats_request_start(own->nats, &own->request), ALOFT_OK);
  while (own->toy.publications == 0)
    assert_int_equal(aloft_loop_turn(own->at.loop, 0), ALOFT_OK);
  assert_int_equal(own->dones, 0);
}

static void end_race(race *own) {
  assert_int_equal(aloft_nats_close(own->nats, NULL), ALOFT_OK);
  for (int i = 0; i < 10; i++)
    assert_int_equal(aloft_loop_turn(own->at.loop, ALOFT_MILLISECONDS(200)), ALOFT_OK);
  assert_int_equal(own->dones, 1);
  aloft_cancel_fini(&own->cancel);
  nats_toy_close(&own->toy);
  harness_loop_close(&own->at);
}

/* One turn finds all that is given: what has arrived in the socket comes first, a reply before the
 * end; then a cancellation; then the time. */
static void run_race(bool reply, bool lost, bool fired, bool due, aloft_status expected) {
  race own;
  begin_race(&own, reply);
  if (lost)
    nats_toy_drop(&own.toy);
  if (fired)
    aloft_cancel_fire(&own.cancel);
  if (due)
    alo_sim_pass(own.at.sim, ALOFT_SECONDS(1));
  assert_int_equal(aloft_loop_turn(own.at.loop, 0), ALOFT_OK);
  assert_int_equal(own.dones, expected == ALOFT_PENDING ? 0 : 1);
  if (own.dones)
    assert_int_equal(own.status, expected);
  end_race(&own);
  assert_int_equal(own.status, expected == ALOFT_PENDING ? ALOFT_CLOSED : expected);
}

static void test_races(void **state) {
  (void)state;
  for (unsigned what = 0; what < 16; what++) {
    bool reply = what & 1, lost = what & 2, fired = what & 4, due = what & 8;
    aloft_status expected = reply   ? ALOFT_OK
                            : lost  ? ALOFT_LOST
                            : fired ? ALOFT_CANCELLED
                            : due   ? ALOFT_TIMEOUT
                                    : ALOFT_PENDING;
    run_race(reply, lost, fired, due, expected);
  }
}

/* A cancel between turns decides at once: the reply in the socket comes too late, and is counted.
 */
static void test_cancel_decides_at_once(void **state) {
  (void)state;
  race own;
  begin_race(&own, true);
  assert_int_equal(aloft_op_cancel(&own.request.op), ALOFT_OK);
  assert_int_equal(aloft_op_cancel(&own.request.op), ALOFT_WRONG_STATE);
  alo_sim_pass(own.at.sim, ALOFT_SECONDS(1));
  assert_int_equal(aloft_loop_turn(own.at.loop, 0), ALOFT_OK);
  assert_int_equal(own.dones, 1);
  assert_int_equal(own.status, ALOFT_CANCELLED);
  assert_true(own.request.op.written);
  aloft_nats_info info = {.size = sizeof info};
  aloft_nats_get_info(own.nats, &info);
  assert_int_equal(info.replies_unmatched, 1);
  end_race(&own);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_races),
      cmocka_unit_test(test_cancel_decides_at_once),
      cmocka_unit_test(test_a_seed_is_a_run),
      cmocka_unit_test_teardown(test_seeds, tell_seed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
