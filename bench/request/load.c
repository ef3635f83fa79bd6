#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client_figures.h"
#include "encrypted.h"

void alo_load_fail(const char *what, aloft_status status, const aloft_error *error) {
  const aloft_text text = error != NULL ? error->message : aloft_text_of("no more is known");
  fprintf(stderr, "aloft-bench-nats: %s: status %d: %.*s\n", what, (int)status, ALOFT_PRINT(text));
  exit(1);
}

/* Up to so many the library's own limit of output is enough. */
enum { USUAL = 16384 };

static void connected(aloft_op *op, aloft_status status) {
  if (status != ALOFT_OK)
    alo_load_fail("cannot connect", status, op->error);
}

bool alo_load_is_encrypted(const char *url) {
  return strncmp(url, "tls://", 6) == 0;
}

void alo_load_connect(const char *url, uint32_t inflight, aloft_loop **loop, aloft_nats **nats) {
  const bool encrypted = alo_load_is_encrypted(url);
  const aloft_loop_config of_loop = {.size = sizeof of_loop,
                                     .allocator = encrypted ? &alo_encrypted_heap : NULL};
  const aloft_nats_config config = {
      .size = sizeof config,
      .url = aloft_text_of(url),
      .name = ALOFT_TEXT("aloft-bench"),
      .inflight_max = inflight,
      .tx_bytes_max = inflight > USUAL ? (size_t)inflight * 256 : 0,
      .tls_ca_file = aloft_text_of(encrypted ? getenv("NATS_CA") : NULL),
  };
  static aloft_op ready = {.done = connected};
  aloft_status status = aloft_loop_open(loop, encrypted ? &of_loop : NULL);
  if (status == ALOFT_OK)
    status = aloft_nats_open(nats, *loop, &config, &ready);
  if (status != ALOFT_OK)
    alo_load_fail("cannot open a connection", status, ready.error);
  aloft_wait(*loop, &ready);
}

/* ---- the closed loop ---- */

static void start_next(alo_load *load, alo_load_place *place) {
  load->started++;
  place->started_ns = alo_client_clock();
  load->start(load, place);
}

void alo_load_answered(alo_load *load, alo_load_place *place) {
  alo_latency_add(&load->latency, alo_client_clock() - place->started_ns);
  load->answered++;
  if (load->started < load->target)
    start_next(load, place);
}

static void run_part(alo_load *load, uint64_t count) {
  load->started = load->answered = 0;
  load->target = count;
  alo_latency_clear(&load->latency);
  for (uint32_t i = 0; i < load->inflight && load->started < count; i++)
    start_next(load, &load->places[i]);
  while (load->answered < count) {
    aloft_status status = aloft_loop_turn(load->loop, ALOFT_FOREVER);
    if (status != ALOFT_OK)
      alo_load_fail("cannot wait", status, NULL);
    load->turns++;
  }
}

static void measure(alo_load *load) {
  alo_client_moment before, after;
  alo_encrypted_moment begin, end;
  char more[ALO_ENCRYPTED_ROOM] = "";
  const bool encrypted = alo_load_is_encrypted(load->url);
  run_part(load, alo_client_warm_up(load->inflight));
  const uint64_t turns = load->turns;
  begin = alo_encrypted_take();
  alo_encrypted_add_nats(&begin, load->nats);
  alo_client_moment_take(&before);
  run_part(load, load->count);
  alo_client_moment_take(&after);
  end = alo_encrypted_take();
  alo_encrypted_add_nats(&end, load->nats);
  if (encrypted)
    alo_encrypted_write(more, load->count, load->turns - turns, &begin, &end);
  alo_client_figures_print(load->count, &before, &after, &load->latency, alo_client_threads(),
                           more);
}

static void open_load(alo_load *load) {
  load->places = calloc(load->inflight, sizeof *load->places);
  if (load->places == NULL)
    alo_load_fail("cannot begin", ALOFT_NO_MEMORY, NULL);
  alo_load_connect(load->url, load->inflight, &load->loop, &load->nats);
}

static void close_load(alo_load *load) {
  aloft_loop_close(load->loop);
  free(load->places);
}

/* ---- the library's own requests ---- */

static void request_done(aloft_op *op, aloft_status status) {
  alo_load_place *place = ALOFT_CONTAINER(op, alo_load_place, request.op);
  if (status != ALOFT_OK)
    alo_load_fail("a request failed", status, op->error);
  alo_load_answered(place->load, place);
}

static void start_request(alo_load *load, alo_load_place *place) {
  aloft_status status = aloft_nats_request_start(load->nats, &place->request);
  if (status != ALOFT_OK)
    alo_load_fail("a request was refused", status, place->request.op.error);
}

void alo_load_run_request(alo_load *load) {
  open_load(load);
  load->start = start_request;
  for (uint32_t i = 0; i < load->inflight; i++)
    load->places[i] = (alo_load_place){
        .load = load,
        .request = {.op = {.done = request_done}, .subject = load->subject, .data = load->data}};
  measure(load);
  close_load(load);
}

/* ---- by hand ---- */

enum { TOKEN_SIZE = 8, PLACE_BITS = 16, PLACE_MASK = (1 << PLACE_BITS) - 1 };

static void write_token(uint32_t token, char *out) {
  static const char digits[] = "0123456789abcdef";
  for (int i = TOKEN_SIZE; i-- > 0; token >>= 4)
    out[i] = digits[token & 15];
}

static bool read_token(const char *text, uint32_t *token) {
  uint32_t sum = 0;
  for (int i = 0; i < TOKEN_SIZE; i++) {
    unsigned digit = (unsigned)text[i] - '0';
    if (digit > 9 && (digit = (unsigned)text[i] - 'a' + 10) > 15)
      return false;
    sum = sum << 4 | digit;
  }
  *token = sum;
  return true;
}

/* The place's number, and how often it has been used: a late reply finds nothing. */
static void start_by_hand(alo_load *load, alo_load_place *place) {
  place->token += (uint32_t)1 << PLACE_BITS;
  place->waiting = true;
  write_token(place->token, load->reply + load->reply_size);
  const aloft_nats_message message = {.subject = load->subject,
                                      .reply = {load->reply, load->reply_size + TOKEN_SIZE},
                                      .data = load->data};
  aloft_status status = aloft_nats_publish(load->nats, &message);
  if (status != ALOFT_OK)
    alo_load_fail("a publication was refused", status, NULL);
}

static void take_reply(aloft_nats_subscription *inbox, const aloft_nats_message *message) {
  alo_load *load = ALOFT_CONTAINER(inbox, alo_load, inbox);
  uint32_t token;
  if (message->subject.size != load->reply_size + TOKEN_SIZE ||
      !read_token(message->subject.data + load->reply_size, &token))
    return;
  if ((token & PLACE_MASK) >= load->inflight)
    return;
  alo_load_place *place = &load->places[token & PLACE_MASK];
  if (!place->waiting || place->token != token)
    return;
  if (message->status == 503)
    alo_load_fail("a request failed", ALOFT_NO_RESPONDERS, NULL);
  place->waiting = false;
  alo_load_answered(load, place);
}

static void inbox_ended(aloft_op *op, aloft_status status) {
  if (status != ALOFT_CLOSED)
    alo_load_fail("the inbox ended", status, op->error);
}

void alo_load_run_by_hand(alo_load *load) {
  open_load(load);
  load->start = start_by_hand;
  for (uint32_t i = 0; i < load->inflight; i++)
    load->places[i] = (alo_load_place){.load = load, .token = i};
  unsigned char noise[8] = {0};
  FILE *random = fopen("/dev/urandom", "rb");
  if (random == NULL || fread(noise, sizeof noise, 1, random) != 1)
    alo_load_fail("no random numbers", ALOFT_SYSTEM, NULL);
  fclose(random);
  load->reply_size = (size_t)snprintf(load->reply, sizeof load->reply - TOKEN_SIZE, "_INBOX.");
  for (size_t i = 0; i < sizeof noise; i++)
    load->reply_size += (size_t)snprintf(load->reply + load->reply_size, 3, "%02x", noise[i]);
  memcpy(load->reply + load->reply_size, ".*", 2);
  load->inbox = (aloft_nats_subscription){.op = {.done = inbox_ended},
                                          .subject = {load->reply, load->reply_size + 2},
                                          .message = take_reply};
  load->reply_size++; /* the dot stays */
  aloft_status status = aloft_nats_subscribe(load->nats, &load->inbox);
  if (status != ALOFT_OK)
    alo_load_fail("cannot subscribe", status, load->inbox.op.error);
  measure(load);
  close_load(load);
}
