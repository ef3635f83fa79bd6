/* TLS on lite's side: whom each mode serves, and clients whose handshake is cut, wrong or none. */
#include "lite_world.h"
#include "tls_files.h"

enum { HELLO_MAX = 4096, ANSWER_ROOM = 256 };

static tls_files files;

static int make_files(void **state) {
  (void)state;
  tls_files_make(&files, NULL);
  return 0;
}

static int drop_files(void **state) {
  (void)state;
  tls_files_drop(&files);
  return 0;
}

static void open_world(lite_world *world, alo_lite_tls tls, uint64_t seed,
                       const alo_sim_faults *faults) {
  const alo_lite_config config = {.tls = tls,
                                  .certificate = {files.text, files.text_size},
                                  .key = {files.key_text, files.key_size}};
  world_open(world, WORLD_SIM, seed, faults, tls == ALO_LITE_TLS_OFF ? NULL : &config);
}

/* ---- PRELOGIN ---- */

static void prelogin_answers(void **state) {
  enum { OFF, ON, NOT, REQ, CLOSED };
  static const struct {
    alo_lite_tls tls;
    uint8_t answers[4]; /* to OFF, ON, NOT_SUP, REQ */
    const char *closed[4];
  } cases[] = {
      {ALO_LITE_TLS_OFF,
       {NOT, NOT, NOT, NOT},
       {NULL, "wants encryption", NULL, "wants encryption"}},
      {ALO_LITE_TLS_OPTIONAL, {OFF, ON, NOT, ON}, {NULL, NULL, NULL, NULL}},
      {ALO_LITE_TLS_REQUIRED, {REQ, ON, REQ, ON}, {NULL, NULL, "does not encrypt", NULL}},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (uint8_t wish = OFF; wish <= REQ; wish++) {
      lite_world world;
      lite_peer peer;
      open_world(&world, cases[i].tls, wish, NULL);
      peer_open(&peer, &world);
      peer_prelogin(&peer, wish);
      world_until(&world, &peer.prelogin_read);
      assert_null(peer.prelogin_wrong);
      assert_int_equal(peer.prelogin.encryption, cases[i].answers[wish]);
      if (cases[i].closed[wish]) {
        peer_wait_end(&peer);
        assert_true(world_logged(&world, cases[i].closed[wish]));
        assert_int_equal(world_counters(&world).refused, 1);
      }
      peer_close(&peer);
      world_close(&world);
    }
  }
}

/* A password is not taken in the clear where all was to be encrypted, or the login was. */
static void login_in_the_clear(void **state) {
  static const uint8_t wishes[] = {ALO_TDS_ENCRYPT_OFF, ALO_TDS_ENCRYPT_ON, ALO_TDS_ENCRYPT_REQ};
  (void)state;
  for (size_t i = 0; i < sizeof wishes; i++) {
    lite_world world;
    lite_peer peer;
    open_world(&world, ALO_LITE_TLS_OPTIONAL, i, NULL);
    peer_open(&peer, &world);
    peer_prelogin(&peer, wishes[i]);
    peer_send_login(&peer, NULL);
    peer_wait_end(&peer);
    assert_true(world_logged(&world, "the TLS handshake is not wrapped in PRELOGIN"));
    assert_int_equal(world_counters(&world).logins, 0);
    peer_close(&peer);
    world_close(&world);
  }
}

static void strict_without_tls(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  open_world(&world, ALO_LITE_TLS_STRICT, 1, NULL);
  peer_open(&peer, &world);
  peer_prelogin(&peer, ALO_TDS_ENCRYPT_ON);
  peer_wait_end(&peer);
  assert_int_equal(peer.bytes, 0);
  assert_true(world_logged(&world, "the client does not begin with TLS"));
  peer_close(&peer);
  world_close(&world);
}

/* ---- handshakes that go wrong ---- */

/* A client that does not read what it is sent. */
static void ignore(alo_stream *stream, alo_stream_event event) {
  lite_peer *peer = ALOFT_CONTAINER(stream, lite_peer, stream);
  if (event == ALO_STREAM_READABLE) {
    peer->bytes += stream->rx.size;
    alo_stream_drop(stream, stream->rx.size);
  } else if (event == ALO_STREAM_ENDED) {
    peer->ended = true;
  }
}

static void wrap(lite_peer *peer, const void *data, size_t size) {
  alo_tds_message_begin(&peer->writer, ALO_TDS_PRELOGIN, 0);
  alo_tds_put(&peer->writer, data, size);
  peer_flush(peer);
}

static size_t client_hello(lite_world *world, const char *alpn, uint8_t hello[HELLO_MAX]) {
  alo_tls_context *context;
  alo_tls *tls;
  const alo_tls_config config = {.trust_any = true, .maximum = 12, .alpn = aloft_text_of(alpn)};
  const alo_tls_names names = {.host = ALOFT_TEXT("localhost")};
  assert_int_equal(alo_tls_context_open(&context, &alo_heap_default, &config, NULL), ALOFT_OK);
  assert_int_equal(alo_tls_open(&tls, context, &world->loop->blocks, &names), ALOFT_OK);
  assert_int_equal(alo_tls_handshake(tls), ALOFT_PENDING);
  size_t size = alo_buffer_size(&tls->out);
  assert_in_range(size, 50, HELLO_MAX);
  memcpy(hello, tls->out.data + tls->out.begin, size);
  alo_tls_close(tls);
  alo_tls_context_give(context);
  return size;
}

static void end_in_time(lite_world *world, lite_peer *peer) {
  for (unsigned turns = 0; !peer->ended && turns < 1000; turns++)
    world_turn(world);
  assert_true(peer->ended);
  peer_close(peer);
}

static void garbage(void **state) {
  static const char *const bytes[] = {"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x00\x05zzzzz",
                                      "\x15\x03\x01\x00\x02\x02\x28"};
  lite_world world;
  (void)state;
  open_world(&world, ALO_LITE_TLS_OPTIONAL, 1, NULL);
  for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
    lite_peer peer;
    peer_open(&peer, &world);
    peer.stream.event = ignore;
    peer_prelogin(&peer, ALO_TDS_ENCRYPT_ON);
    wrap(&peer, bytes[i], i == 0 ? strlen(bytes[i]) : i == 1 ? 10 : 7);
    end_in_time(&world, &peer);
    assert_int_equal(world_counters(&world).refused, i + 1);
  }
  assert_int_equal(world_counters(&world).logins, 0);
  world_close(&world);
}

/* TLS first, and then none. */
static void garbage_first(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  open_world(&world, ALO_LITE_TLS_OPTIONAL, 1, NULL);
  peer_open(&peer, &world);
  peer.stream.event = ignore;
  peer_send(&peer, "\x16\x03\x01\x00\x05zzzzz", 10);
  end_in_time(&world, &peer);
  assert_true(world_logged(&world, "login refused"));
  world_close(&world);
}

/* TLS first, for another protocol than TDS 8.0. */
static void another_protocol_first(void **state) {
  uint8_t hello[HELLO_MAX];
  lite_world world;
  lite_peer peer;
  (void)state;
  open_world(&world, ALO_LITE_TLS_STRICT, 1, NULL);
  peer_open(&peer, &world);
  peer.stream.event = ignore;
  peer_send(&peer, hello, client_hello(&world, "http/1.1", hello));
  end_in_time(&world, &peer);
  assert_true(world_logged(&world, "login refused"));
  world_close(&world);
}

static void cut_at_every_byte(void **state) {
  uint8_t hello[HELLO_MAX];
  lite_world world;
  (void)state;
  open_world(&world, ALO_LITE_TLS_OPTIONAL, 1, NULL);
  size_t size = client_hello(&world, NULL, hello);
  for (int first = 0; first < 2; first++) {
    for (size_t cut = 1; cut <= size; cut++) {
      lite_peer peer;
      peer_open(&peer, &world);
      peer.stream.event = ignore;
      if (first) {
        peer_send(&peer, hello, cut);
      } else {
        peer_prelogin(&peer, ALO_TDS_ENCRYPT_ON);
        wrap(&peer, hello, cut);
      }
      for (unsigned turns = 0; turns < 6; turns++)
        assert_int_equal(aloft_loop_turn(world.loop, 0), ALOFT_OK);
      peer_close(&peer);
    }
  }
  lite_client client;
  char text[ANSWER_ROOM];
  client_open(&client, &world, "Encrypt=Mandatory;TrustServerCertificate=True");
  assert_int_equal(client_sql(&client, "SELECT 1", text, sizeof text), ALOFT_OK);
  client_close(&client);
  assert_int_equal(world_counters(&world).open, 1);
  world_close(&world);
}

static void stalled(void **state) {
  uint8_t hello[HELLO_MAX];
  lite_world world;
  lite_peer peer;
  (void)state;
  open_world(&world, ALO_LITE_TLS_OPTIONAL, 1, NULL);
  size_t size = client_hello(&world, NULL, hello);
  peer_open(&peer, &world);
  peer.stream.event = ignore;
  peer_send(&peer, hello, size);
  end_in_time(&world, &peer);
  assert_true(world_logged(&world, "the login was not done in time"));
  world_close(&world);
}

/* ---- Aloft's own client, split everywhere ---- */

static void all_modes_in_pieces(void **state) {
  static const char *const encrypts[] = {"Optional", "Mandatory", "Strict"};
  const alo_sim_faults faults = {.short_read = 900, .split_write = 900};
  (void)state;
  for (size_t i = 0; i < sizeof encrypts / sizeof *encrypts; i++) {
    for (uint64_t seed = 1; seed <= 5; seed++) {
      lite_world world;
      lite_client client;
      char more[ANSWER_ROOM], text[ANSWER_ROOM];
      open_world(&world, i == 2 ? ALO_LITE_TLS_STRICT : ALO_LITE_TLS_OPTIONAL, seed, &faults);
      snprintf(more, sizeof more, "Encrypt=%s;CA File=%s", encrypts[i], files.certificate);
      client_open(&client, &world, more);
      assert_int_equal(client_sql(&client, "SELECT 41 + 1", text, sizeof text), ALOFT_OK);
      assert_non_null(strstr(text, "42"));
      assert_int_equal(client_sql(&client,
                                  "SELECT LEN(REPLICATE(CAST(N'x' AS nvarchar(max)), 70000))", text,
                                  sizeof text),
                       ALOFT_OK);
      assert_non_null(strstr(text, "70000"));
      client_close(&client);
      world_close(&world);
    }
  }
}

static void certificates_that_are_none(void **state) {
  char error[256] = "";
  lite_world world;
  alo_lite *lite;
  (void)state;
  open_world(&world, ALO_LITE_TLS_OFF, 1, NULL);
  alo_lite_config config = {.engine = {.path = ":memory:"},
                            .user = ALOFT_TEXT("u"),
                            .tls = ALO_LITE_TLS_OPTIONAL,
                            .certificate = ALOFT_TEXT("no PEM"),
                            .key = {files.key_text, files.key_size}};
  config.address.in.sin_family = AF_INET;
  assert_int_not_equal(alo_lite_open(&lite, world.loop, &config, error), ALOFT_OK);
  assert_true(*error);
  config.certificate = (aloft_text){files.text, files.text_size};
  config.key = ALOFT_TEXT("no PEM");
  assert_int_not_equal(alo_lite_open(&lite, world.loop, &config, error), ALOFT_OK);
  assert_true(*error);
  world_close(&world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(prelogin_answers),    cmocka_unit_test(login_in_the_clear),
      cmocka_unit_test(strict_without_tls),  cmocka_unit_test(garbage),
      cmocka_unit_test(garbage_first),       cmocka_unit_test(another_protocol_first),
      cmocka_unit_test(cut_at_every_byte),   cmocka_unit_test(stalled),
      cmocka_unit_test(all_modes_in_pieces), cmocka_unit_test(certificates_that_are_none),
  };
  return cmocka_run_group_tests(tests, make_files, drop_files);
}
