/* One long life: a million steps of a user and a server who start, answer, answer again and too
 * late, cancel, fire, wait, hold the loop up, lose the connection, close it and open it anew, in
 * any order and in virtual time. Each completion is checked against a plain model of the laws.
 *
 *   ALOFT_SIM_SEED=N   runs that seed alone
 *   ALOFT_SIM_SEEDS=N  runs so many seeds instead of the usual number
 *
 * A failure prints the seed and the last steps. Each run prints a digest of all that happened: the
 * same seed gives the same one. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness_loop.h"
#include "nats_client.h"
#include "nats_toy.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  #define SANITIZED 1
#elif defined(__has_feature)
  #if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    #define SANITIZED 1
  #endif
#endif
#ifdef SANITIZED
enum { SEEDS = 1 };
#else
enum { SEEDS = 2 };
#endif

enum {
  STEPS = 1000000,
  NUMBERS = 1 << 20, /* of requests, each started once */
  PLACES = 48,       /* the caller's structs, used over and over */
  HEARD = 256,       /* requests that the server remembers, to answer them */
  SOURCES = 5,
  TRACE = 200,
  SIZE_MAX_SENT = 70000
};

#define TICK  ALOFT_MILLISECONDS(1)
#define NEVER UINT64_MAX

/* ---- the model ---- */

/* What is known of each request that was ever started, by its number. */
enum {
  GOT = 1,      /* the server has received it whole */
  ANSWERED = 2, /* and has sent a reply at least once */
  UNSENT = 4,   /* completed, or refused, as one that was not written and will not be */
  DONE = 8      /* completed */
};
static uint8_t facts[NUMBERS];

/* One struct of the caller's, and the request that it carries at the time. */
typedef struct place {
  aloft_nats_request request;
  uint32_t number;
  size_t size;
  bool flying;
  bool nobody;           /* asked where no one answers */
  uint64_t earliest;     /* no timeout before this; NEVER: none at all */
  int source;            /* -1: none */
  uint64_t decided_turn; /* its done runs in this turn at the latest; NEVER: not known */
  aloft_status decided;  /* with this status; ALOFT_PENDING: not known */
  bool closed_inside;    /* its connection was closed from a callback: it may have had its reply */
  uint64_t reply_end;    /* of its first reply, in the bytes of the connection; 0: none */
  bool reply_there;      /* it had arrived when this turn began: nothing else may win */
} place;

typedef struct nap {
  aloft_op op;
  bool flying;
  uint64_t earliest, decided_turn;
  int source;
} nap;

typedef struct source {
  aloft_cancel cancel;
  int parent;         /* -1: none */
  uint64_t fired_due; /* what names it completes in this turn at the latest; NEVER: not fired */
} source;

/* What the server remembers. */
typedef struct heard {
  uint32_t number;
  size_t size;
  char reply[320];
  size_t reply_size;
} heard;

typedef struct record {
  const char *what;
  uint64_t number, time_ns, turn, step;
} record;

typedef struct world {
  uint64_t seed, step, digest;
  harness_loop at;
  aloft_loop *loop;
  nats_toy toy;
  bool toy_paused;
  aloft_nats *nats; /* NULL: none open, or closing */
  struct {          /* the present connection */
    uint32_t first_number;
    uint32_t inflight_max;
    bool small_output;
    bool may_die; /* something has been done to it that may end it */
    bool dead;    /* and it has been told */
    bool jumped;  /* time has run on while it was connecting */
    uint64_t written, got, replies, matched;
  } connection;
  alo_sim_faults weather;
  bool inside; /* a call of ours */
  bool in_turn;
  uint64_t resets; /* before this turn */
  unsigned depth;
  uint32_t next_number;
  place places[PLACES];
  nap naps[4];
  aloft_op opening, closing, flushing;
  bool opening_flies, closing_flies, flushing_flies;
  aloft_status flushed;
  source sources[SOURCES];
  heard ring[HEARD];
  uint32_t ring_next;
  uint64_t statuses[256], refusals[256];
  uint64_t turns, opens, deaths, unmatched, beaten, late, settled;
  record trace[TRACE];
  uint64_t traced;
} world;

static world *w;
static bool finished;
static uint8_t payload[SIZE_MAX_SENT];

/* ---- telling ---- */

static uint64_t clock_now(void) {
  return w->loop->driver->methods->now(w->loop->driver);
}

static void say(const char *what, uint64_t number) {
  record *now = &w->trace[w->traced++ % TRACE];
  *now = (record){what, number, w->loop ? clock_now() : 0, w->loop ? w->loop->turns : 0, w->step};
  const uint64_t words[] = {(uint8_t)what[0], number, now->time_ns, now->turn};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    w->digest = (w->digest ^ words[i]) * UINT64_C(0x100000001B3);
}

static void print_trace(void) {
  uint64_t first = w->traced > TRACE ? w->traced - TRACE : 0;
  for (uint64_t i = first; i < w->traced; i++) {
    const record *at = &w->trace[i % TRACE];
    print_error("step %llu, turn %llu, %llu us: %s %llu\n", (unsigned long long)at->step,
                (unsigned long long)at->turn, (unsigned long long)(at->time_ns / 1000), at->what,
                (unsigned long long)at->number);
  }
  print_error("ALOFT_SIM_SEED=%llu replays it: step %llu\n", (unsigned long long)w->seed,
              (unsigned long long)w->step);
}

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition))                                                                              \
      fail_msg("seed %llu, step %llu: %s", (unsigned long long)w->seed,                            \
               (unsigned long long)w->step, #condition);                                           \
  } while (0)

static uint64_t random_below(uint64_t n) {
  return alo_sim_random(w->at.sim) % n;
}

static bool one_in(uint64_t n) {
  return random_below(n) == 0;
}

/* ---- payloads tell whose they are ---- */

static void fill(uint32_t number, size_t size) {
  char digits[16];
  int count = snprintf(digits, sizeof digits, "%010u", (unsigned)number);
  memset(payload, (int)('a' + number % 26), size);
  memcpy(payload, digits, (size_t)count);
}

static uint32_t number_of(aloft_bytes data) {
  char digits[11] = "";
  CHECK(data.size >= 10);
  memcpy(digits, data.data, 10);
  return (uint32_t)strtoul(digits, NULL, 10);
}

static size_t choose_size(void) {
  if (one_in(200))
    return SIZE_MAX_SENT;
  return 10 + random_below(one_in(16) ? 3000 : 40);
}

/* ---- the server ---- */

static void toy_saw(nats_toy *toy, aloft_text subject, aloft_bytes data) {
  (void)subject;
  uint32_t number = number_of(data);
  CHECK(number < w->next_number);
  CHECK(!(facts[number] & (GOT | UNSENT)));
  facts[number] |= GOT;
  if (number >= w->connection.first_number)
    w->connection.got++;
  fill(number, data.size);
  CHECK(memcmp(data.data, payload, data.size) == 0);
  if (subject.data[0] == 'n') { /* nobody: the server itself says so, behind this call */
    facts[number] |= ANSWERED;
    w->connection.replies += number >= w->connection.first_number;
    return;
  }
  heard *own = &w->ring[w->ring_next++ % HEARD];
  CHECK(toy->reply.size && toy->reply.size < sizeof own->reply);
  *own = (heard){.number = number, .size = data.size, .reply_size = toy->reply.size};
  memcpy(own->reply, toy->reply.data, toy->reply.size);
}

static place *flying_with(uint32_t number) {
  for (int i = 0; i < PLACES; i++)
    if (w->places[i].flying && w->places[i].number == number)
      return &w->places[i];
  return NULL;
}

/* Of those heard lately, mostly of the very last: the others are late, or answered already. */
static const heard *choose_heard(void) {
  uint32_t most = w->ring_next < HEARD ? w->ring_next : HEARD;
  if (most == 0)
    return NULL;
  uint32_t back = (uint32_t)random_below(one_in(4) ? most : most < 12 ? most : 12);
  return &w->ring[(w->ring_next - 1 - back) % HEARD];
}

/* An earlier connection may still be open at the server's end. */
static bool is_present(const heard *own) {
  return own->number >= w->connection.first_number;
}

static void do_answer(void) {
  const heard *own = choose_heard();
  if (!own)
    return;
  fill(own->number, own->size);
  place *asked = flying_with(own->number);
  facts[own->number] |= ANSWERED;
  uint64_t end = nats_toy_respond(&w->toy, (aloft_text){own->reply, own->reply_size},
                                  (aloft_bytes){payload, own->size});
  say("answer", own->number);
  if (!end || !is_present(own))
    return;
  w->connection.replies++;
  w->late += !asked;
  if (asked && !asked->reply_end)
    asked->reply_end = end;
}

/* Subjects that the inbox's subscription matches but that are nobody's. */
static void do_answer_wrongly(void) {
  const heard *own = choose_heard();
  if (!own)
    return;
  heard changed = *own;
  size_t token = changed.reply_size - ALO_INFLIGHT_TOKEN_SIZE;
  uint64_t key = 0;
  switch (random_below(4)) {
  case 0: /* of a use that is far away */
    (void)alo_inflight_parse(changed.reply + token, &key);
    alo_inflight_token(key ^ UINT64_C(1) << 63, changed.reply + token);
    break;
  case 1: /* no token */
    changed.reply[token + random_below(ALO_INFLIGHT_TOKEN_SIZE)] = '!';
    break;
  case 2: /* longer, shorter */
    changed.reply[changed.reply_size++] = 'a';
    break;
  default:
    changed.reply_size--;
  }
  fill(own->number, own->size);
  uint64_t end = nats_toy_respond(&w->toy, (aloft_text){changed.reply, changed.reply_size},
                                  (aloft_bytes){payload, own->size});
  w->connection.replies += end && is_present(own);
  say("wrong answer", own->number);
}

/* ---- completions ---- */

static bool fired_before(int index, uint64_t turn) {
  return index >= 0 && w->sources[index].fired_due <= turn;
}

/* The turn that runs now, or that comes next. */
static uint64_t present_turn(void) {
  return w->loop->turns + 1;
}

static void enter_done(const aloft_op *op, aloft_status status) {
  CHECK(!w->inside && w->in_turn);
  CHECK(w->depth++ == 0);
  CHECK(!aloft_op_in_flight(op));
  CHECK(op->status == status);
  CHECK((op->error == NULL) == (status == ALOFT_OK));
}

static void check_reply(const place *own) {
  const aloft_nats_message *reply = &own->request.reply;
  CHECK(facts[own->number] & GOT && facts[own->number] & ANSWERED);
  CHECK(own->request.op.written);
  CHECK(reply->data.size == own->size && number_of(reply->data) == own->number);
  fill(own->number, own->size);
  CHECK(memcmp(reply->data.data, payload, own->size) == 0);
}

static void check_lost(const place *own, bool written) {
  CHECK(w->connection.may_die);
  CHECK(own->request.op.written == written);
  w->connection.dead = true;
}

static void check_timeout(const place *own) {
  CHECK(own->earliest != NEVER && aloft_loop_now(w->loop) >= own->earliest);
  CHECK(!fired_before(own->source, present_turn())); /* the caller's word wins */
}

static void check_status(const place *own, aloft_status status) {
  switch (status) {
  case ALOFT_OK:
    CHECK(!own->nobody);
    check_reply(own);
    break;
  case ALOFT_NO_RESPONDERS:
    CHECK(own->nobody && facts[own->number] & GOT);
    break;
  case ALOFT_TIMEOUT:
    check_timeout(own);
    break;
  case ALOFT_CANCELLED:
    CHECK(own->decided == ALOFT_CANCELLED || fired_before(own->source, present_turn()));
    break;
  case ALOFT_CLOSED:
    CHECK(own->decided == ALOFT_CLOSED || own->closed_inside);
    break;
  default:
    CHECK(status == ALOFT_LOST || status == ALOFT_LOST_UNSENT);
    check_lost(own, status == ALOFT_LOST);
  }
}

static void start_in(place *own);
static void do_cancel(void);
static void do_fire(void);
static void close_it(void);

/* What a user does inside done, now and then. */
static void act_inside(place *own) {
  if (one_in(4) && w->nats && !own->flying)
    start_in(own);
  if (one_in(16))
    do_cancel();
  if (one_in(64))
    do_fire();
  if (one_in(2000) && w->nats && !w->closing_flies)
    close_it();
}

/* In this turn: a reset takes what lies in the socket with it. */
static bool reset_now(void) {
  return alo_sim_get_counters(w->at.sim).resets != w->resets;
}

static void request_done(aloft_op *op, aloft_status status) {
  place *own = ALOFT_CONTAINER(op, place, request.op);
  say(aloft_status_name(status), own->number);
  enter_done(op, status);
  CHECK(own->flying && !(facts[own->number] & DONE));
  own->flying = false;
  facts[own->number] |= DONE | (op->written ? 0 : UNSENT);
  w->connection.written += op->written;
  w->statuses[status]++;
  if (own->decided != ALOFT_PENDING)
    CHECK(status == own->decided);
  if (own->reply_there && !own->closed_inside && !reset_now())
    CHECK(status == ALOFT_OK);
  if (facts[own->number] & GOT)
    CHECK(op->written);
  w->connection.matched += status == ALOFT_OK || status == ALOFT_NO_RESPONDERS;
  w->beaten += status == ALOFT_OK && (aloft_loop_now(w->loop) >= own->earliest ||
                                      fired_before(own->source, present_turn()));
  check_status(own, status);
  act_inside(own);
  w->depth--;
}

static void nap_done(aloft_op *op, aloft_status status) {
  nap *own = ALOFT_CONTAINER(op, nap, op);
  say("nap", status);
  enter_done(op, status);
  CHECK(own->flying);
  own->flying = false;
  if (status == ALOFT_TIMEOUT) {
    CHECK(aloft_loop_now(w->loop) >= own->earliest);
    CHECK(!fired_before(own->source, present_turn()) && own->decided_turn == NEVER);
  } else {
    CHECK(status == ALOFT_CANCELLED);
    CHECK(own->decided_turn != NEVER || fired_before(own->source, present_turn()));
  }
  w->depth--;
}

static void opening_done(aloft_op *op, aloft_status status) {
  say("opened", status);
  enter_done(op, status);
  CHECK(w->opening_flies);
  w->opening_flies = false;
  CHECK(status == ALOFT_OK || status == ALOFT_CLOSED || w->connection.may_die);
  w->depth--;
}

/* The server has taken all that was written: it has what was said to be written, and no more. */
static void closing_done(aloft_op *op, aloft_status status) {
  say("closed", status);
  enter_done(op, status);
  CHECK(w->closing_flies);
  w->closing_flies = false;
  for (int i = 0; i < PLACES; i++)
    CHECK(!w->places[i].flying);
  CHECK(!w->opening_flies && !w->flushing_flies);
  if (status == ALOFT_OK)
    CHECK(w->connection.dead || w->connection.got == w->connection.written);
  else
    CHECK(w->connection.may_die);
  w->depth--;
}

static void flushing_done(aloft_op *op, aloft_status status) {
  say("flushed", status);
  enter_done(op, status);
  CHECK(w->flushing_flies);
  w->flushing_flies = false;
  w->flushed = status;
  CHECK(status == (w->closing_flies ? ALOFT_CLOSED : ALOFT_OK) || w->connection.may_die);
  w->depth--;
}

static void event_told(aloft_nats *nats, aloft_nats_event event, const aloft_error *error,
                       void *context) {
  (void)nats;
  (void)error;
  CHECK(context == w);
  if (event == ALOFT_NATS_CONNECTED)
    return;
  CHECK(event == ALOFT_NATS_DISCONNECTED && w->connection.may_die);
  say("disconnected", 0);
  w->connection.dead = true;
  w->deaths++;
}

/* ---- the connection ---- */

static bool calm(void) {
  const alo_sim_faults none = {.short_read = 0};
  return memcmp(&w->weather, &none, sizeof none) == 0;
}

static void do_open(void) {
  if (w->nats || w->closing_flies)
    return;
  memset(&w->connection, 0, sizeof w->connection);
  w->connection.first_number = w->next_number;
  w->connection.inflight_max = 4 + (uint32_t)random_below(PLACES);
  w->connection.small_output = one_in(4);
  w->connection.may_die = !calm();
  const aloft_nats_config config = {.size = sizeof config,
                                    .url = aloft_text_of(w->toy.url),
                                    .connect_timeout_ns = ALOFT_MILLISECONDS(200),
                                    .ping_interval_ns = ALOFT_MILLISECONDS(one_in(2) ? 50 : 5000),
                                    .tx_bytes_max =
                                        w->connection.small_output ? 300 + random_below(3000) : 0,
                                    .inflight_max = w->connection.inflight_max,
                                    .event = event_told,
                                    .context = w};
  w->opening = (aloft_op){.done = opening_done};
  w->inside = true;
  CHECK(aloft_nats_open(&w->nats, w->loop, &config, &w->opening) == ALOFT_OK);
  w->inside = false;
  w->opening_flies = true;
  w->toy_paused = false;
  w->opens++;
  say("open", w->opens);
}

/* What flies is decided at once; inside a callback its answer may have come before. */
static void close_it(void) {
  say("close", 0);
  for (int i = 0; i < PLACES; i++) {
    place *own = &w->places[i];
    if (!own->flying || own->decided != ALOFT_PENDING)
      continue;
    if (w->in_turn) {
      own->closed_inside = true;
    } else {
      own->decided = ALOFT_CLOSED;
      own->decided_turn = present_turn();
    }
  }
  w->closing = (aloft_op){.done = closing_done};
  bool was = w->inside;
  w->inside = true;
  CHECK(aloft_nats_close(w->nats, &w->closing) == ALOFT_OK);
  w->inside = was;
  w->closing_flies = true;
  w->nats = NULL;
}

static void do_close(void) {
  if (w->nats && !w->closing_flies && one_in(w->connection.dead ? 2 : 10))
    close_it();
}

static void do_lose(void) {
  if (!one_in(20))
    return;
  say("server drops", 0);
  w->connection.may_die = true;
  nats_toy_drop(&w->toy);
}

static void do_pause_server(void) {
  w->toy_paused = one_in(3);
  w->connection.may_die |= w->toy_paused; /* its PONG stays away */
  nats_toy_pause(&w->toy, w->toy_paused);
}

static void set_weather(const alo_sim_faults *weather) {
  w->weather = *weather;
  alo_sim_set_faults(w->at.sim, weather);
  w->connection.may_die |= !calm();
}

static void do_weather(void) {
  if (!one_in(20))
    return;
  alo_sim_faults weather = {.short_read = 0};
  if (random_below(3)) {
    weather.short_read = one_in(2) ? 200 : 0;
    weather.split_write = one_in(2) ? 200 : 0;
    weather.full = one_in(2) ? 50 : 0;
    weather.reset = one_in(3) ? 2 : 0;
    weather.refuse = one_in(3) ? 200 : 0;
    weather.silent = one_in(4) ? 100 : 0;
    weather.delay_ns = one_in(2) ? random_below(ALOFT_MILLISECONDS(9)) : 0;
  }
  set_weather(&weather);
  say("weather", !calm());
}

/* ---- requests ---- */

static unsigned in_flight(void) {
  unsigned count = 0;
  for (int i = 0; i < PLACES; i++)
    count += w->places[i].flying && w->places[i].decided == ALOFT_PENDING;
  return count;
}

static void choose_time(aloft_op *op) {
  op->timeout_ns = op->deadline_ns = 0;
  if (one_in(2))
    op->timeout_ns = 1 + random_below(one_in(8) ? ALOFT_SECONDS(300000) : ALOFT_MILLISECONDS(40));
  if (one_in(100))
    op->timeout_ns = UINT64_MAX - random_below(ALOFT_SECONDS(3));
  if (one_in(8))
    op->deadline_ns = clock_now() - ALOFT_MILLISECONDS(2) + random_below(ALOFT_MILLISECONDS(20));
}

static uint64_t earliest_of(const aloft_op *op, uint64_t now) {
  uint64_t due = op->deadline_ns ? op->deadline_ns : NEVER;
  if (op->timeout_ns && op->timeout_ns < NEVER - 1 - now && now + op->timeout_ns < due)
    due = now + op->timeout_ns;
  return due;
}

static int choose_source(aloft_op *op) {
  int index = one_in(2) ? -1 : (int)random_below(SOURCES);
  op->cancel = index < 0 ? NULL : &w->sources[index].cancel;
  return index;
}

static bool has_fired(int index) {
  for (; index >= 0; index = w->sources[index].parent)
    if (w->sources[index].fired_due != NEVER)
      return true;
  return false;
}

/* Refusals, in the order in which they are looked for. */
static aloft_status expected_refusal(const place *own, aloft_status status) {
  const aloft_op *op = &own->request.op;
  if (has_fired(own->source))
    return ALOFT_CANCELLED;
  if (op->deadline_ns && op->deadline_ns <= clock_now())
    return ALOFT_TIMEOUT;
  if (w->connection.dead)
    return ALOFT_LOST_UNSENT;
  if (status == ALOFT_LOST_UNSENT && w->in_turn && w->connection.may_die)
    return status; /* it has died in this turn, and that is told behind this */
  if (!w->in_turn && in_flight() == w->connection.inflight_max)
    return ALOFT_TOO_MANY;
  if (status == ALOFT_TOO_MANY && w->in_turn)
    return in_flight() >= w->connection.inflight_max ? status : ALOFT_OK;
  if ((status == ALOFT_FULL || status == ALOFT_TOO_LARGE) && w->connection.small_output)
    return status;
  return ALOFT_OK;
}

static aloft_status call_start(place *own) {
  w->inside = true;
  aloft_status status = aloft_nats_request_start(w->nats, &own->request);
  w->inside = false;
  return status;
}

static void started(place *own) {
  own->flying = true;
  own->earliest = earliest_of(&own->request.op, clock_now());
  own->decided = ALOFT_PENDING;
  own->decided_turn = NEVER;
  own->closed_inside = own->reply_there = false;
  own->reply_end = 0;
}

static void start_in(place *own) {
  CHECK(w->next_number < NUMBERS);
  own->number = w->next_number++;
  own->size = choose_size();
  own->nobody = one_in(16);
  own->request.op.done = request_done;
  choose_time(&own->request.op);
  own->source = choose_source(&own->request.op);
  own->request.subject = own->nobody ? ALOFT_TEXT("nobody") : ALOFT_TEXT("toy.never");
  fill(own->number, own->size);
  own->request.data = (aloft_bytes){payload, own->size};
  aloft_status status = call_start(own);
  say(status == ALOFT_OK ? "ask" : "refused", own->number);
  CHECK(status == expected_refusal(own, status));
  w->refusals[status]++;
  if (status == ALOFT_OK) {
    started(own);
  } else {
    facts[own->number] |= UNSENT;
    CHECK(own->request.op.status == status && own->request.op.error);
  }
  CHECK(aloft_op_in_flight(&own->request.op) == (status == ALOFT_OK));
}

static void do_ask(void) {
  place *own = &w->places[random_below(PLACES)];
  if (!w->nats)
    return;
  if (!own->flying)
    start_in(own);
  else if (own->decided == ALOFT_PENDING && one_in(4))
    CHECK(call_start(own) == ALOFT_IN_USE);
}

/* Known exactly between turns; inside a callback it may have been decided otherwise. */
static void check_cancel(aloft_status status, bool flying, bool decided) {
  if (w->in_turn)
    CHECK(status == ALOFT_WRONG_STATE || (status == ALOFT_OK && flying && !decided));
  else
    CHECK(status == (flying && !decided ? ALOFT_OK : ALOFT_WRONG_STATE));
}

static uint64_t next_completions(void) {
  return present_turn() + w->in_turn;
}

static void do_cancel(void) {
  place *own = &w->places[random_below(PLACES)];
  bool was = w->inside;
  w->inside = true;
  aloft_status status = aloft_op_cancel(&own->request.op);
  w->inside = was;
  say("cancel", own->number);
  check_cancel(status, own->flying, own->decided != ALOFT_PENDING);
  if (status != ALOFT_OK)
    return;
  own->decided = ALOFT_CANCELLED;
  own->decided_turn = next_completions();
}

/* ---- naps ---- */

static void do_nap(void) {
  nap *own = &w->naps[random_below(4)];
  if (own->flying) {
    aloft_status status = aloft_op_cancel(&own->op);
    check_cancel(status, true, own->decided_turn != NEVER);
    if (status == ALOFT_OK)
      own->decided_turn = next_completions();
    return;
  }
  own->op.done = nap_done;
  own->op.timeout_ns = 1 + random_below(ALOFT_MILLISECONDS(30));
  own->source = choose_source(&own->op);
  aloft_status status = aloft_sleep_start(w->loop, &own->op);
  CHECK(status == (has_fired(own->source) ? ALOFT_CANCELLED : ALOFT_OK));
  own->flying = status == ALOFT_OK;
  own->earliest = earliest_of(&own->op, clock_now());
  own->decided_turn = NEVER;
}

/* ---- cancellation sources ---- */

static bool is_below(int index, int above) {
  for (; index >= 0; index = w->sources[index].parent)
    if (index == above)
      return true;
  return false;
}

static void do_fire(void) {
  int index = (int)random_below(SOURCES);
  if (index == 0 && random_below(8))
    return;
  say("fire", (uint64_t)index);
  aloft_cancel_fire(&w->sources[index].cancel);
  for (int i = 0; i < SOURCES; i++)
    if (is_below(i, index) && w->sources[i].fired_due == NEVER)
      w->sources[i].fired_due = next_completions();
  for (int i = 0; i < SOURCES; i++)
    CHECK(aloft_cancel_fired(&w->sources[i].cancel) == has_fired(i));
}

static bool is_named(int index) {
  for (int i = 0; i < PLACES; i++)
    if (w->places[i].flying && w->places[i].source == index)
      return true;
  for (int i = 0; i < 4; i++)
    if (w->naps[i].flying && w->naps[i].source == index)
      return true;
  return false;
}

/* To end a source that has fired a moment ago is to handle what has fired. */
static void settle_fired(int index) {
  bool waits = false;
  for (int at = index; at >= 0; at = w->sources[at].parent)
    waits |= w->sources[at].fired_due != NEVER && w->sources[at].fired_due > w->loop->turns;
  for (int i = 0; waits && i < PLACES; i++) {
    place *own = &w->places[i];
    if (!own->flying || own->decided != ALOFT_PENDING || !has_fired(own->source))
      continue;
    own->decided = ALOFT_CANCELLED;
    own->decided_turn = present_turn();
  }
  for (int i = 0; waits && i < 4; i++)
    if (w->naps[i].flying && has_fired(w->naps[i].source))
      w->naps[i].decided_turn = present_turn();
  for (int i = 0; waits && i < SOURCES; i++)
    if (w->sources[i].fired_due != NEVER)
      w->sources[i].fired_due = w->loop->turns; /* not once more */
}

/* One that nobody names begins anew: its children live on, apart. */
static void do_renew(void) {
  int index = (int)random_below(SOURCES);
  if (is_named(index))
    return;
  say("renew", (uint64_t)index);
  settle_fired(index);
  aloft_cancel_fini(&w->sources[index].cancel);
  for (int i = 0; i < SOURCES; i++)
    if (w->sources[i].parent == index)
      w->sources[i].parent = -1;
  int parent = index ? (int)random_below((uint64_t)index + 1) - 1 : -1;
  if (parent >= 0 && has_fired(parent))
    parent = -1;
  aloft_cancel_init(&w->sources[index].cancel, w->loop,
                    parent < 0 ? NULL : &w->sources[parent].cancel);
  w->sources[index].parent = parent;
  w->sources[index].fired_due = NEVER;
}

/* ---- turns ---- */

/* Replies that lie whole in the socket before the turn begins win against all else. */
static void look_at_socket(void) {
  w->resets = alo_sim_get_counters(w->at.sim).resets;
  if (!w->nats || w->nats->phase != ALO_NATS_PHASE_READY || w->weather.short_read)
    return;
  uint64_t there = w->nats->stream.rx_bytes + alo_sim_arrived(w->nats->stream.socket);
  for (int i = 0; i < PLACES; i++) {
    place *own = &w->places[i];
    own->reply_there =
        own->flying && own->decided == ALOFT_PENDING && own->reply_end && own->reply_end <= there;
  }
}

static void check_place(const place *own, uint64_t turns) {
  if (!own->flying)
    return;
  CHECK(!own->reply_there || own->closed_inside || reset_now());
  CHECK(own->decided_turn > turns);
  CHECK(own->source < 0 || w->sources[own->source].fired_due > turns);
  CHECK(own->earliest == NEVER || aloft_loop_now(w->loop) <= own->earliest + TICK);
  CHECK(!w->connection.dead || own->decided != ALOFT_PENDING);
}

/* What the library counts is what the model counts. */
static void check_counts(void) {
  if (!w->nats)
    return;
  aloft_nats_info info = {.size = sizeof info};
  aloft_nats_get_info(w->nats, &info);
  CHECK(info.inflight == in_flight());
  CHECK(info.messages_in == w->connection.matched + info.replies_unmatched);
  CHECK(info.messages_in <= w->connection.replies);
  CHECK(info.messages_unmatched == 0 && info.events_dropped == 0);
}

static void check_after_turn(void) {
  for (int i = 0; i < PLACES; i++)
    check_place(&w->places[i], w->loop->turns);
  for (int i = 0; i < 4; i++) {
    const nap *own = &w->naps[i];
    CHECK(!own->flying || own->decided_turn > w->loop->turns);
    CHECK(!own->flying || aloft_loop_now(w->loop) <= own->earliest + TICK);
    CHECK(!own->flying || own->source < 0 || w->sources[own->source].fired_due > w->loop->turns);
  }
  check_counts();
}

/* What was closed inside a callback of this turn and had no reply in it: now that is known. */
static void settle_closed(void) {
  for (int i = 0; i < PLACES; i++) {
    place *own = &w->places[i];
    if (!own->flying || !own->closed_inside || own->decided != ALOFT_PENDING)
      continue;
    own->decided = ALOFT_CLOSED;
    own->decided_turn = present_turn();
  }
}

static void turn(uint64_t wait_ns) {
  look_at_socket();
  w->in_turn = true;
  CHECK(aloft_loop_turn(w->loop, wait_ns) == ALOFT_OK);
  w->in_turn = false;
  settle_closed();
  for (int i = 0; i < PLACES; i++)
    if (w->connection.dead)
      w->places[i].reply_end = 0;
  check_after_turn();
}

static void do_turn(void) {
  turn(one_in(3) ? 0 : random_below(ALOFT_MILLISECONDS(10)));
}

static void do_hold_up(void) {
  uint64_t ns = random_below(one_in(50) ? ALOFT_SECONDS(3 * 86400) : ALOFT_MILLISECONDS(60));
  say("held up", ns);
  w->connection.may_die |= w->opening_flies; /* the connect's own deadline */
  w->connection.may_die |= w->closing_flies;
  alo_sim_pass(w->at.sim, ns);
}

/* All is brought to rest: then what the server has sent is what has been counted. */
static void do_settle(void) {
  if (!w->nats || !one_in(20) || w->flushing_flies)
    return;
  set_weather(&(alo_sim_faults){.short_read = 0});
  w->toy_paused = false;
  nats_toy_pause(&w->toy, false);
  w->flushing = (aloft_op){.done = flushing_done};
  aloft_status status = aloft_nats_flush(w->nats, &w->flushing);
  CHECK(status == ALOFT_OK || (status == ALOFT_LOST_UNSENT && w->connection.dead));
  w->flushing_flies = status == ALOFT_OK;
  uint64_t replies = w->connection.replies;
  for (int i = 0; i < 2000 && w->flushing_flies && w->nats; i++)
    turn(ALOFT_MILLISECONDS(20));
  if (!w->nats || w->flushed != ALOFT_OK || status != ALOFT_OK)
    return;
  CHECK(!w->flushing_flies);
  aloft_nats_info info = {.size = sizeof info};
  aloft_nats_get_info(w->nats, &info);
  CHECK(info.messages_in >= replies); /* in the loop above only the server itself answers */
  w->unmatched += info.replies_unmatched;
  w->settled++;
}

static const struct {
  void (*act)(void);
  unsigned weight;
} actions[] = {{do_ask, 14},    {do_answer, 9},       {do_answer_wrongly, 1}, {do_turn, 14},
               {do_cancel, 1},  {do_fire, 1},         {do_renew, 3},          {do_nap, 1},
               {do_open, 4},    {do_close, 2},        {do_lose, 1},           {do_hold_up, 1},
               {do_weather, 1}, {do_pause_server, 1}, {do_settle, 1}};

static void act(void) {
  unsigned all = 0;
  for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++)
    all += actions[i].weight;
  uint64_t pick = random_below(all);
  for (size_t i = 0; i < sizeof actions / sizeof actions[0]; i++) {
    if (pick < actions[i].weight) {
      actions[i].act();
      return;
    }
    pick -= actions[i].weight;
  }
}

/* ---- one run ---- */

static void begin_run(uint64_t seed) {
  static world only;
  memset(&only, 0, sizeof only);
  memset(facts, 0, sizeof facts);
  w = &only;
  w->seed = seed;
  w->digest = UINT64_C(0xCBF29CE484222325);
  harness_loop_open(&w->at, true, seed, NULL);
  w->loop = w->at.loop;
  nats_toy_open(&w->toy, w->loop, NULL);
  w->toy.published = toy_saw;
  for (int i = 0; i < SOURCES; i++) {
    w->sources[i].parent = i == 0 ? -1 : i == 2 ? 1 : 0;
    w->sources[i].fired_due = NEVER;
    aloft_cancel_init(&w->sources[i].cancel, w->loop,
                      i == 0 ? NULL : &w->sources[w->sources[i].parent].cancel);
  }
  for (int i = 0; i < PLACES; i++)
    w->places[i].source = -1;
}

/* The loop is closed with everything open: all of it completes before that returns. */
static void end_run(void) {
  say("loop closed", 0);
  w->turns = w->loop->turns;
  for (int i = 0; i < PLACES; i++)
    if (w->places[i].flying && w->places[i].decided == ALOFT_PENDING)
      w->places[i].decided = has_fired(w->places[i].source) ? ALOFT_PENDING : ALOFT_CLOSED;
  for (int i = 0; i < PLACES; i++)
    w->places[i].closed_inside = w->places[i].flying;
  for (int i = 0; i < 4; i++)
    if (w->naps[i].flying)
      (void)aloft_op_cancel(&w->naps[i].op), w->naps[i].decided_turn = 0;
  w->connection.may_die = w->in_turn = true;
  nats_toy_close(&w->toy);
  w->nats = NULL;
  harness_loop_close(&w->at);
  for (int i = 0; i < PLACES; i++)
    CHECK(!w->places[i].flying);
  for (int i = 0; i < 4; i++)
    CHECK(!w->naps[i].flying);
  CHECK(!w->opening_flies && !w->closing_flies && !w->flushing_flies);
  for (int i = 0; i < SOURCES; i++)
    aloft_cancel_fini(&w->sources[(i + 2) % SOURCES].cancel);
  for (uint32_t i = 0; i < w->next_number; i++) /* each has had its end, and one only */
    CHECK((facts[i] & (DONE | UNSENT)) && (!(facts[i] & GOT) || facts[i] & DONE));
}

static void run(uint64_t seed, uint64_t steps) {
  begin_run(seed);
  for (w->step = 0; w->step < steps; w->step++)
    act();
  end_run();
}

static void report(void) {
  print_message("seed %llu: %llu steps, %llu turns, %u requests, digest %016llx\n",
                (unsigned long long)w->seed, (unsigned long long)w->step,
                (unsigned long long)w->turns, (unsigned)w->next_number,
                (unsigned long long)w->digest);
}

/* Each outcome must have come, or the run shows less than it seems to. */
static void check_variety(void) {
  static const aloft_status ends[] = {ALOFT_OK,        ALOFT_NO_RESPONDERS, ALOFT_TIMEOUT,
                                      ALOFT_CANCELLED, ALOFT_LOST,          ALOFT_LOST_UNSENT,
                                      ALOFT_CLOSED};
  static const aloft_status refusals[] = {ALOFT_CANCELLED, ALOFT_TIMEOUT, ALOFT_LOST_UNSENT,
                                          ALOFT_TOO_MANY,  ALOFT_FULL,    ALOFT_TOO_LARGE};
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    print_message("  %s: %llu\n", aloft_status_name(ends[i]),
                  (unsigned long long)w->statuses[ends[i]]);
    assert_true(w->statuses[ends[i]] > 500);
  }
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    print_message("  refused, %s: %llu\n", aloft_status_name(refusals[i]),
                  (unsigned long long)w->refusals[refusals[i]]);
    assert_true(w->refusals[refusals[i]] > 50);
  }
  print_message(
      "  connections %llu, lost %llu, unmatched replies %llu of %llu rests, too late %llu, "
      "replies that beat time or cancellation %llu\n",
      (unsigned long long)w->opens, (unsigned long long)w->deaths, (unsigned long long)w->unmatched,
      (unsigned long long)w->settled, (unsigned long long)w->late, (unsigned long long)w->beaten);
  assert_true(w->opens > 500 && w->deaths > 100 && w->unmatched > 1000 && w->settled > 100);
  assert_true(w->late > 1000 && w->beaten > 100);
}

static void test_a_million_steps(void **state) {
  (void)state;
  const char *one = getenv("ALOFT_SIM_SEED"), *many = getenv("ALOFT_SIM_SEEDS");
  uint64_t first = one ? strtoull(one, NULL, 10) : 1;
  uint64_t count = one ? 1 : many ? strtoull(many, NULL, 10) : SEEDS;
  finished = false;
  for (uint64_t seed = first; seed < first + count; seed++) {
    run(seed, STEPS);
    report();
    check_variety();
  }
  finished = true;
}

static void test_a_seed_is_a_run(void **state) {
  (void)state;
  finished = false;
  run(77, 20000);
  uint64_t digest = w->digest;
  run(77, 20000);
  assert_true(w->digest == digest);
  run(78, 20000);
  assert_true(w->digest != digest);
  finished = true;
}

static int tell_seed(void **state) {
  (void)state;
  if (!finished && w)
    print_trace();
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_a_seed_is_a_run, tell_seed),
      cmocka_unit_test_teardown(test_a_million_steps, tell_seed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
