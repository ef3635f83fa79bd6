/* TLS between the NATS client and the toy server: who asks for it, whose certificate is trusted,
 * and handshakes that are cut, stalled, injected into or not TLS at all. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness_loop.h"
#include "heap.h"
#include "middle.h"
#include "nats_client.h"
#include "nats_toy.h"
#include "tls_files.h"

#define SECRET "Sesame77"

typedef struct scene {
  harness_loop at;
  aloft_loop *loop;
  nats_toy toy;
  middle middle;
  aloft_nats *nats;
  aloft_nats_config config;
  char url[96];
  unsigned disconnected;
  aloft_status event_status;
  char event_text[600];
} scene;

static tls_files good; /* for 127.0.0.1 and localhost, signed by itself */

static void event_told(aloft_nats *nats, aloft_nats_event event, const aloft_error *error,
                       void *context) {
  scene *s = context;
  (void)nats;
  if (event != ALOFT_NATS_DISCONNECTED)
    return;
  s->disconnected++;
  s->event_status = error->status;
  snprintf(s->event_text, sizeof s->event_text, "%.*s", ALOFT_PRINT(error->message));
}

/* A server that shows `files` (NULL: it has no TLS), a client with its secret that trusts `good`.
 */
static void scene_open(scene *s, const tls_files *files) {
  memset(s, 0, sizeof *s);
  harness_loop_open(&s->at, true, 1, NULL);
  s->loop = s->at.loop;
  nats_toy_open(&s->toy, s->loop, NULL);
  alo_tls_context_give(s->toy.tls);
  s->toy.tls = files ? tls_files_server(files, &alo_heap_default, 0, NULL) : NULL;
  s->toy.tls_first = false;
  s->config = (aloft_nats_config){.size = sizeof s->config,
                                  .url = aloft_text_of(s->toy.url),
                                  .user = ALOFT_TEXT("someone"),
                                  .password = ALOFT_TEXT(SECRET),
                                  .tls_ca_file = aloft_text_of(good.certificate),
                                  .event = event_told,
                                  .context = s};
}

static void set_first(scene *s, bool first) {
  s->toy.tls_first = s->config.tls_first = first;
}

static void set_url(scene *s, const char *scheme, const char *host, unsigned port) {
  snprintf(s->url, sizeof s->url, "%s://%s:%u", scheme, host, port);
  s->config.url = aloft_text_of(s->url);
}

/* Through somebody in the middle, to the toy or to nobody. */
static void scene_open_through(scene *s, bool to_nobody) {
  scene_open(s, &good);
  middle_open(&s->middle, s->loop, to_nobody ? 0 : s->toy.port);
  s->config.url = aloft_text_of(s->middle.url);
}

static void disconnect(scene *s) {
  harness_op op = {.op = {.done = harness_op_done}};
  if (!s->nats)
    return;
  assert_int_equal(aloft_nats_close(s->nats, &op.op), ALOFT_OK);
  HARNESS_TURN_UNTIL(s->loop, op.done_count);
  assert_int_equal(op.done_count, 1);
  s->nats = NULL;
}

static void scene_close(scene *s) {
  disconnect(s);
  middle_close(&s->middle);
  nats_toy_close(&s->toy);
  harness_loop_close(&s->at);
}

/* ---- asking ---- */

typedef struct asked {
  aloft_nats_request request;
  unsigned dones;
  aloft_status status;
  size_t size;
  char data[64];
} asked;

static void answered(aloft_op *op, aloft_status status) {
  asked *own = ALOFT_CONTAINER(op, asked, request.op);
  own->dones++;
  own->status = status;
  own->size = own->request.reply.data.size;
  snprintf(own->data, sizeof own->data, "%.*s", (int)own->request.reply.data.size,
           own->request.reply.data.size ? (const char *)own->request.reply.data.data : "");
}

static void ask(scene *s, asked *own, const char *subject) {
  *own = (asked){.request = {.op = {.done = answered},
                             .subject = aloft_text_of(subject),
                             .data = {"question", 8}}};
  assert_int_equal(aloft_nats_request_start(s->nats, &own->request), ALOFT_OK);
}

static void prove_with(scene *s, const char *subject) {
  asked one;
  ask(s, &one, subject);
  HARNESS_TURN_UNTIL(s->loop, one.dones);
  assert_int_equal(one.status, ALOFT_OK);
  assert_string_equal(one.data, "question");
}

static aloft_status connect_now(scene *s, harness_op *op) {
  *op = (harness_op){.op = {.done = harness_op_done}, .loop = s->loop};
  assert_int_equal(aloft_nats_open(&s->nats, s->loop, &s->config, &op->op), ALOFT_OK);
  assert_int_equal(op->done_count, 0);
  HARNESS_TURN_UNTIL(s->loop, op->done_count);
  assert_int_equal(op->done_count, 1);
  return op->status;
}

static bool is_encrypted(const scene *s) {
  aloft_nats_encryption told = {.size = sizeof told};
  aloft_nats_get_encryption(s->nats, &told);
  return told.encrypted;
}

static void connects(scene *s, bool encrypted) {
  harness_op op;
  aloft_status status = connect_now(s, &op);
  if (status != ALOFT_OK)
    fail_msg("%s", op.message);
  assert_int_equal(is_encrypted(s), encrypted);
  assert_int_equal(strstr(s->toy.connect, "\"tls_required\": true") != NULL, encrypted);
  prove_with(s, "toy.echo");
  disconnect(s);
}

/* And no credential was sent. */
static void fails(scene *s, aloft_status expected, const char *reason) {
  harness_op op = {.op = {.done = harness_op_done}};
  asked one;
  assert_int_equal(aloft_nats_open(&s->nats, s->loop, &s->config, &op.op), ALOFT_OK);
  ask(s, &one, "toy.echo"); /* while connecting */
  HARNESS_TURN_UNTIL(s->loop, op.done_count && one.dones && s->disconnected);
  if (op.status != expected || !strstr(op.message, reason))
    fail_msg("%s, not '%s' but: %s", aloft_status_name(op.status), reason, op.message);
  assert_int_equal(op.done_count, 1);
  assert_int_equal(one.dones, 1);
  assert_int_equal(one.status, ALOFT_LOST_UNSENT);
  assert_int_equal(s->disconnected, 1);
  assert_int_equal(s->event_status, expected);
  assert_null(strstr(op.message, SECRET));
  assert_int_equal(s->toy.logins, 0);
  assert_int_equal(s->toy.bytes_in, 0);
  assert_null(s->nats->hello.data);
  assert_null(s->nats->stream.tx.data);
  disconnect(s);
}

/* ---- who asks for it ---- */

typedef enum { NONE, AVAILABLE, REQUIRED, UNSAID } offer;
typedef enum { NOBODY, URL, SETTING, AUTHORITY, FIRST, NAME } asker;
typedef enum { IN_CLEAR, ENCRYPTED, REFUSED } outcome;

static void agree(asker who, offer server, outcome expected) {
  scene s;
  scene_open(&s, expected == IN_CLEAR || server == NONE ? NULL : &good);
  s.toy.options.tls_available = server == AVAILABLE;
  s.toy.options.tls_unsaid = server == UNSAID;
  s.config.tls_ca_file = (aloft_text){NULL, 0}; /* the system's: see main */
  if (who == URL)
    set_url(&s, "tls", "127.0.0.1", s.toy.port);
  if (who == AUTHORITY)
    s.config.tls_ca_file = aloft_text_of(good.certificate);
  if (who == NAME)
    s.config.tls_server_name = ALOFT_TEXT("localhost");
  s.config.tls_required = who == SETTING;
  if (who == FIRST)
    set_first(&s, true);
  if (expected == REFUSED)
    fails(&s, ALOFT_ENCRYPTION, "no credential was sent");
  else
    connects(&s, expected == ENCRYPTED);
  scene_close(&s);
}

static void test_who_asks(void **state) {
  (void)state;
  agree(NOBODY, NONE, IN_CLEAR);
  agree(NOBODY, AVAILABLE, IN_CLEAR);
  agree(NOBODY, REQUIRED, ENCRYPTED);
  agree(FIRST, REQUIRED, ENCRYPTED);
  agree(FIRST, UNSAID, ENCRYPTED);
  static const asker askers[] = {URL, SETTING, AUTHORITY, NAME};
  for (size_t i = 0; i < sizeof askers / sizeof *askers; i++) {
    agree(askers[i], NONE, REFUSED);
    agree(askers[i], UNSAID, REFUSED);
    agree(askers[i], AVAILABLE, ENCRYPTED);
    agree(askers[i], REQUIRED, ENCRYPTED);
  }
}

static void test_description(void **state) {
  (void)state;
  scene s;
  harness_op op;
  char fingerprint[96];
  aloft_nats_encryption told = {.size = sizeof told};
  scene_open(&s, &good);
  assert_int_equal(connect_now(&s, &op), ALOFT_OK);
  aloft_nats_get_encryption(s.nats, &told);
  assert_true(alo_tls_fingerprint((aloft_bytes){good.text, good.text_size}, fingerprint));
  assert_true(told.encrypted);
  assert_string_equal(told.protocol, "TLSv1.3");
  assert_string_equal(told.fingerprint, fingerprint);
  assert_non_null(strstr(told.subject, "a test"));
  assert_int_equal(strlen(told.expires), 20);
  assert_true(strlen(told.cipher) > 5);
  aloft_nats_encryption old = {.size = offsetof(aloft_nats_encryption, protocol)};
  aloft_nats_get_encryption(s.nats, &old);
  assert_true(old.encrypted);
  assert_int_equal(old.protocol[0], 0);
  scene_close(&s);
  scene_open(&s, NULL);
  s.config.tls_ca_file = (aloft_text){NULL, 0};
  assert_int_equal(connect_now(&s, &op), ALOFT_OK);
  aloft_nats_get_encryption(s.nats, &told);
  assert_false(told.encrypted);
  assert_int_equal(told.protocol[0] | told.subject[0] | told.fingerprint[0], 0);
  scene_close(&s);
}

/* ---- certificates ---- */

/* `reason` NULL: it connects. */
static void shown(const tls_files *files, const tls_files *trusted, const char *host,
                  const char *name, const char *reason) {
  for (int first = 0; first < 2; first++) {
    scene s;
    scene_open(&s, files);
    set_first(&s, first);
    set_url(&s, "tls", host, s.toy.port);
    s.config.tls_ca_file = aloft_text_of(trusted ? trusted->certificate : NULL);
    s.config.tls_server_name = aloft_text_of(name);
    if (reason)
      fails(&s, ALOFT_ENCRYPTION, reason);
    else
      connects(&s, true);
    scene_close(&s);
  }
}

static void test_certificates(void **state) {
  (void)state;
  tls_files expired, early, elsewhere;
  tls_files_make(&expired, &(tls_wish){.from_days = -9, .until_days = -2});
  tls_files_make(&early, &(tls_wish){.from_days = 2, .until_days = 9});
  tls_files_make(&elsewhere, &(tls_wish){.name = "nats.example.org"});
  shown(&good, &good, "127.0.0.1", NULL, NULL);
  shown(&good, &good, "localhost", NULL, NULL);
  shown(&good, &good, "127.0.0.1", "localhost", NULL);
  shown(&expired, &expired, "127.0.0.1", NULL, "expired");
  shown(&early, &early, "127.0.0.1", NULL, "not yet valid");
  shown(&elsewhere, NULL, "127.0.0.1", NULL, "tls_ca_file"); /* self-signed, and not known */
  shown(&good, &elsewhere, "127.0.0.1", NULL, "tls_ca_file");
  shown(&elsewhere, &elsewhere, "127.0.0.1", NULL, "tls_server_name");
  shown(&elsewhere, &elsewhere, "localhost", NULL, "tls_server_name");
  shown(&elsewhere, &elsewhere, "127.0.0.1", "nats.example.org", NULL);
  shown(&good, &good, "127.0.0.1", "nats.example.org", "tls_server_name");
  shown(&good, &good, "127.0.0.1", "127.0.0.2", "tls_server_name");
  tls_files_drop(&expired);
  tls_files_drop(&early);
  tls_files_drop(&elsewhere);
}

/* A server that lets nobody in who shows no certificate of `good`. */
static void demand(scene *s, int maximum) {
  const alo_tls_config config = {.server = true,
                                 .certificate.text = {good.text, good.text_size},
                                 .key.text = {good.key_text, good.key_size},
                                 .authorities.text = {good.text, good.text_size},
                                 .certificate_required = true,
                                 .maximum = maximum};
  scene_open(s, NULL);
  assert_int_equal(alo_tls_context_open(&s->toy.tls, &alo_heap_default, &config, NULL), ALOFT_OK);
}

static void show_own(scene *s, const tls_files *own) {
  s->config.tls_certificate_file = aloft_text_of(own->certificate);
  s->config.tls_key_file = aloft_text_of(own->key);
}

static void test_client_certificate(void **state) {
  (void)state;
  tls_files other;
  tls_files_make(&other, NULL);
  for (int maximum = 12; maximum <= 13; maximum++) {
    scene s;
    demand(&s, maximum);
    fails(&s, ALOFT_ENCRYPTION, "requires a client's certificate: set tls_certificate_file");
    s.disconnected = 0;
    show_own(&s, &other);
    fails(&s, ALOFT_ENCRYPTION, "this side's certificate");
    show_own(&s, &good);
    connects(&s, true);
    scene_close(&s);
  }
  tls_files_drop(&other);
}

static void refused(scene *s, const char *reason) {
  harness_op op = {.op = {.done = harness_op_done}};
  aloft_status status = aloft_nats_open(&s->nats, s->loop, &s->config, &op.op);
  if (status != ALOFT_ARGUMENT || !strstr(op.op.error->message.data, reason))
    fail_msg("%s, not '%s' but: %.*s", aloft_status_name(status), reason,
             ALOFT_PRINT(op.op.error->message));
  assert_null(s->nats);
  assert_int_equal(op.done_count, 0);
}

static void test_files_that_are_wrong(void **state) {
  (void)state;
  scene s;
  tls_files other;
  static char long_name[300];
  memset(long_name, 'x', sizeof long_name - 1);
  tls_files_make(&other, NULL);
  scene_open(&s, &good);
  s.config.tls_ca_file = ALOFT_TEXT("/nonexistent/ca.pem");
  refused(&s, "/nonexistent/ca.pem");
  s.config.tls_ca_file = aloft_text_of(good.key);
  refused(&s, good.key);
  s.config.tls_ca_file = aloft_text_of(good.certificate);
  s.config.tls_certificate_file = aloft_text_of(good.certificate);
  refused(&s, "give both");
  s.config.tls_key_file = aloft_text_of(other.key);
  refused(&s, other.key);
  s.config.tls_key_file = ALOFT_TEXT("/nonexistent/key.pem");
  refused(&s, "/nonexistent/key.pem");
  s.config.tls_certificate_file = s.config.tls_key_file = (aloft_text){NULL, 0};
  s.config.tls_server_name = aloft_text_of(long_name);
  refused(&s, "tls_server_name");
  s.config.tls_server_name = (aloft_text){"a\0b", 3};
  refused(&s, "tls_server_name");
  s.config.tls_server_name = ALOFT_TEXT(".example.org");
  refused(&s, "tls_server_name");
  scene_close(&s);
  tls_files_drop(&other);
}

/* ---- handshakes that go wrong ---- */

#define INFO_OF_TLS "INFO {\"max_payload\":1024,\"tls_required\":true}\r\n"

static void answers(const void *answer, size_t size, const char *reason) {
  scene s;
  scene_open_through(&s, true);
  s.middle.greeting = (aloft_bytes){INFO_OF_TLS, sizeof INFO_OF_TLS - 1};
  s.middle.answer = (aloft_bytes){answer, size};
  fails(&s, ALOFT_ENCRYPTION, reason);
  scene_close(&s);
}

static void test_no_tls_at_all(void **state) {
  (void)state;
  static const char *const texts[] = {"HTTP/1.1 400 Bad Request\r\n\r\n", "SSH-2.0-x\r\n",
                                      "-ERR 'Unknown Protocol Operation'\r\n", "PONG\r\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    answers(texts[i], strlen(texts[i]), "does not speak TLS here");
}

/* A ServerHello of TLS 1.0, and of 1.1; and one that says so in an alert. */
static void test_too_old(void **state) {
  (void)state;
  for (uint8_t minor = 1; minor <= 2; minor++) {
    const uint8_t hello[47] = {0x16, 3, minor, 0, 42, 2, 0, 0, 38, 3, minor, [45] = 0x2F};
    answers(hello, sizeof hello, "have it offer TLS 1.2 or 1.3");
  }
  static const uint8_t alert[] = {0x15, 3, 1, 0, 2, 2, 70};
  answers(alert, sizeof alert, "have it offer TLS 1.2 or 1.3");
}

static void test_first_or_not(void **state) {
  (void)state;
  scene s;
  scene_open_through(&s, true);
  s.middle.greeting = (aloft_bytes){INFO_OF_TLS, sizeof INFO_OF_TLS - 1};
  s.config.tls_first = true;
  fails(&s, ALOFT_ENCRYPTION, "tls_first is for servers");
  scene_close(&s);
  scene_open(&s, &good); /* waits for the handshake */
  s.toy.tls_first = true;
  s.config.connect_timeout_ns = ALOFT_MILLISECONDS(300);
  fails(&s, ALOFT_TIMEOUT, "tls_first");
  scene_close(&s);
}

/* Whatever is not encrypted must not be taken for it: in the bytes that INFO came in, and later. */
static void test_injected(void **state) {
  (void)state;
  static const char *const more[] = {"PONG\r\n", "MSG a 1 1\r\nx\r\n", "P", "\x16\x03"};
  for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
    scene s;
    char greeting[128];
    snprintf(greeting, sizeof greeting, "%s%s", INFO_OF_TLS, more[i]);
    scene_open(&s, &good);
    s.toy.options.greeting = greeting;
    fails(&s, ALOFT_ENCRYPTION, "came in clear between INFO and the TLS handshake");
    scene_close(&s);
  }
  answers(more[0], strlen(more[0]), "does not speak TLS here");
  answers(more[1], strlen(more[1]), "does not speak TLS here");
}

static void test_stalled(void **state) {
  (void)state;
  for (uint64_t held = 0; held < 700; held += 31) {
    scene s;
    scene_open_through(&s, false);
    set_first(&s, held % 2);
    s.middle.hold_at = (held % 2 ? 1 : 190) + held;
    s.config.connect_timeout_ns = ALOFT_MILLISECONDS(300);
    uint64_t begun = aloft_loop_now(s.loop);
    fails(&s, ALOFT_TIMEOUT, "TLS handshake was not complete within the time to connect");
    assert_in_range(aloft_loop_now(s.loop) - begun, ALOFT_MILLISECONDS(300),
                    ALOFT_MILLISECONDS(310));
    scene_close(&s);
  }
}

static void close_everywhere(bool first) {
  aloft_status status = ALOFT_LOST;
  for (uint64_t at = 1; status != ALOFT_OK; at++) {
    scene s;
    harness_op op;
    scene_open_through(&s, false);
    set_first(&s, first);
    s.middle.cut_at = at;
    status = connect_now(&s, &op);
    assert_true(status == ALOFT_OK ? at > 500
                                   : status == ALOFT_CONNECT || status == ALOFT_ENCRYPTION);
    assert_true(at < 20000);
    scene_close(&s);
  }
}

static void test_closed_at_every_byte(void **state) {
  (void)state;
  close_everywhere(false);
  close_everywhere(true);
}

/* ---- afterwards ---- */

/* Connected through somebody in the middle, a request answered. */
static void settle(scene *s) {
  harness_op op;
  scene_open_through(s, false);
  assert_int_equal(connect_now(s, &op), ALOFT_OK);
  prove_with(s, "toy.echo");
}

/* With close_notify or without: a message that is cut is lost, and only the one can be told. */
static void cut_in_a_message(bool cut) {
  static const char part[] = "MSG a 2 100\r\nhalf of it";
  scene s;
  harness_op op;
  asked one;
  scene_open(&s, &good);
  s.toy.options.cut = cut;
  assert_int_equal(connect_now(&s, &op), ALOFT_OK);
  ask(&s, &one, "toy.never");
  const aloft_nats_message message = {.subject = ALOFT_TEXT("toy.raw"),
                                      .data = {part, sizeof part - 1}};
  assert_int_equal(aloft_nats_publish(s.nats, &message), ALOFT_OK);
  HARNESS_TURN_UNTIL(s.loop, s.toy.publications == 2 && s.nats->stream.rx.size);
  nats_toy_drop(&s.toy);
  HARNESS_TURN_UNTIL(s.loop, s.disconnected && one.dones);
  assert_int_equal(one.status, ALOFT_LOST);
  assert_int_equal(one.dones, 1);
  assert_int_equal(s.event_status, ALOFT_LOST);
  assert_int_equal(strstr(s.event_text, "close_notify") != NULL, cut);
  disconnect(&s);
  scene_close(&s);
}

static void test_cut_in_a_message(void **state) {
  (void)state;
  cut_in_a_message(false);
  cut_in_a_message(true);
}

static void test_new_keys(void **state) {
  (void)state;
  scene s;
  harness_op op;
  scene_open(&s, &good);
  assert_int_equal(connect_now(&s, &op), ALOFT_OK);
  for (int i = 0; i < 3; i++) {
    prove_with(&s, "toy.update");
    prove_with(&s, "toy.echo");
  }
  scene_close(&s);
}

static void turn_some(scene *s) {
  for (int i = 0; i < 8; i++)
    assert_int_equal(aloft_loop_turn(s->loop, 0), ALOFT_OK);
}

static void test_a_record_split_at_every_byte(void **state) {
  (void)state;
  scene s;
  settle(&s);
  uint64_t size = 2; /* of the reply's record; known after the first time */
  for (uint64_t part = 1; part < size; part++) {
    asked one;
    uint64_t begin = s.middle.from_server;
    s.middle.hold_at = begin + part;
    ask(&s, &one, "toy.echo");
    HARNESS_TURN_UNTIL(s.loop, s.middle.from_server == s.middle.hold_at);
    turn_some(&s);
    assert_int_equal(one.dones, 0);
    s.middle.hold_at = 0;
    middle_go_on(&s.middle);
    HARNESS_TURN_UNTIL(s.loop, one.dones);
    assert_int_equal(one.status, ALOFT_OK);
    assert_string_equal(one.data, "question");
    size = s.middle.from_server - begin;
  }
  assert_in_range(size, 60, 200);
  scene_close(&s);
}

static void test_many_records_in_one_read(void **state) {
  (void)state;
  enum { MANY = 60 };
  scene s;
  asked many[MANY];
  settle(&s);
  s.middle.hold_at = s.middle.from_server;
  for (int i = 0; i < MANY; i++) {
    ask(&s, &many[i], "toy.size.3000");
    turn_some(&s); /* each has a record of its own */
    assert_int_equal(many[i].dones, 0);
  }
  uint64_t before = s.middle.from_server;
  s.middle.hold_at = 0;
  middle_go_on(&s.middle);
  assert_true(s.middle.from_server - before > MANY * 3000);
  HARNESS_TURN_UNTIL(s.loop, many[MANY - 1].dones);
  for (int i = 0; i < MANY; i++) {
    assert_int_equal(many[i].dones, 1);
    assert_int_equal(many[i].status, ALOFT_OK);
    assert_int_equal(many[i].size, 3000);
  }
  scene_close(&s);
}

/* What is published in one turn leaves as one record. */
static void test_one_record_of_a_turn(void **state) {
  (void)state;
  scene s;
  asked many[20];
  settle(&s);
  uint64_t before = s.nats->stream.tls->out_bytes, plain = s.nats->stream.tx_taken;
  for (size_t i = 0; i < 20; i++)
    ask(&s, &many[i], "toy.never");
  turn_some(&s);
  uint64_t overhead = s.nats->stream.tls->out_bytes - before - (s.nats->stream.tx_taken - plain);
  assert_in_range(overhead, 17, 40);
  scene_close(&s);
}

/* Encrypted, and not with the kernel: closing says that it was not sent. */
static void test_encrypted_is_not_sent(void **state) {
  (void)state;
  static const alo_sim_faults full = {.full = 1000};
  scene s;
  harness_op op;
  scene_open(&s, &good);
  assert_int_equal(connect_now(&s, &op), ALOFT_OK);
  turn_some(&s);
  alo_sim_set_faults(s.at.sim, &full);
  const aloft_nats_message message = {.subject = ALOFT_TEXT("a"), .data = {"b", 1}};
  assert_int_equal(aloft_nats_publish(s.nats, &message), ALOFT_OK);
  turn_some(&s);
  aloft_nats_info info = {.size = sizeof info};
  aloft_nats_get_info(s.nats, &info);
  assert_int_equal(alo_buffer_size(&s.nats->stream.tx), 0);
  assert_int_equal(info.tx_bytes, sizeof "PUB a 1\r\nb\r\n" - 1);
  nats_toy_drop(&s.toy);
  HARNESS_TURN_UNTIL(s.loop, s.disconnected);
  op = (harness_op){.op = {.done = harness_op_done}};
  assert_int_equal(aloft_nats_close(s.nats, &op.op), ALOFT_OK);
  HARNESS_TURN_UNTIL(s.loop, op.done_count);
  assert_int_equal(op.status, ALOFT_LOST_UNSENT);
  s.nats = NULL;
  scene_close(&s);
}

static int make_files(void **state) {
  (void)state;
  tls_files_make(&good, NULL);
  return setenv("SSL_CERT_FILE", good.certificate, 1); /* the system's authorities */
}

static int drop_files(void **state) {
  (void)state;
  tls_files_drop(&good);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_who_asks),
      cmocka_unit_test(test_description),
      cmocka_unit_test(test_certificates),
      cmocka_unit_test(test_client_certificate),
      cmocka_unit_test(test_files_that_are_wrong),
      cmocka_unit_test(test_no_tls_at_all),
      cmocka_unit_test(test_too_old),
      cmocka_unit_test(test_first_or_not),
      cmocka_unit_test(test_injected),
      cmocka_unit_test(test_stalled),
      cmocka_unit_test(test_closed_at_every_byte),
      cmocka_unit_test(test_cut_in_a_message),
      cmocka_unit_test(test_new_keys),
      cmocka_unit_test(test_a_record_split_at_every_byte),
      cmocka_unit_test(test_many_records_in_one_read),
      cmocka_unit_test(test_one_record_of_a_turn),
      cmocka_unit_test(test_encrypted_is_not_sent),
  };
  return cmocka_run_group_tests(tests, make_files, drop_files);
}
