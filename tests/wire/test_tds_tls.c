/* TLS between the SQL Server client and a scripted server: what is agreed on, whose certificate is
 * trusted, and handshakes that are cut, stalled, spoiled or not TLS at all. */
#include "tds_client.h"

#include "tds_connection.h"

/* ---- what is agreed on ---- */

static void test_table_of_agreement(void **state) {
  (void)state;
  enum { OFF, ON, NOT, REQ };
  static const alo_tds_protection table[4][4] = {
      /* the server's: OFF, ON, NOT_SUP, REQ */
      [OFF] = {ALO_TDS_LOGIN_ENCRYPTED, ALO_TDS_ALL_ENCRYPTED, ALO_TDS_PLAIN,
               ALO_TDS_ALL_ENCRYPTED},
      [ON] = {ALO_TDS_NO_AGREEMENT, ALO_TDS_ALL_ENCRYPTED, ALO_TDS_NO_AGREEMENT,
              ALO_TDS_ALL_ENCRYPTED},
      [NOT] = {ALO_TDS_PLAIN, ALO_TDS_NO_AGREEMENT, ALO_TDS_PLAIN, ALO_TDS_NO_AGREEMENT},
      [REQ] = {ALO_TDS_NO_AGREEMENT, ALO_TDS_ALL_ENCRYPTED, ALO_TDS_NO_AGREEMENT,
               ALO_TDS_ALL_ENCRYPTED}};
  for (uint8_t client = 0; client < 4; client++)
    for (uint8_t server = 0; server < 4; server++)
      assert_int_equal(alo_tds_agree(client, server), table[client][server]);
  for (unsigned odd = 4; odd < 256; odd++) {
    assert_int_equal(alo_tds_agree(ALO_TDS_ENCRYPT_ON, (uint8_t)odd), ALO_TDS_NO_AGREEMENT);
    assert_int_equal(alo_tds_agree(ALO_TDS_ENCRYPT_OFF, (uint8_t)odd), ALO_TDS_NO_AGREEMENT);
  }
}

static void test_answers_of_a_server(void **state) {
  (void)state;
  enum { OFF, ON, NOT, REQ };
  static const uint8_t may[] = {OFF, ON, NOT, ON}, must[] = {REQ, ON, REQ, ON};
  for (uint8_t client = 0; client < 4; client++) {
    assert_int_equal(alo_tds_answer_encryption(client, false, false), NOT);
    assert_int_equal(alo_tds_answer_encryption(client, true, false), may[client]);
    assert_int_equal(alo_tds_answer_encryption(client, true, true), must[client]);
  }
}

/* ---- connecting ---- */

static void connects(world *w, bool encrypted) {
  world_connect(w);
  assert_int_equal(w->server.handshakes, encrypted ? 1 : 0);
  assert_int_equal(w->server.secret_in_clear, !encrypted);
  prove(w);
}

static const char *text_of(aloft_text text) {
  static char copy[1024];
  snprintf(copy, sizeof copy, "%.*s", ALOFT_PRINT(text));
  return copy;
}

static void fails(world *w, aloft_status expected, const char *reason) {
  counted opening = counted_op();
  assert_int_equal(world_connect_op(w, &opening), ALOFT_OK);
  probe p;
  probe_begin(&p, w, "rows 1");
  aloft_status status = aloft_wait(w->loop, &opening.op);
  probe_wait(&p);
  const char *text = text_of(opening.op.error->message);
  if (status != expected || !strstr(text, reason))
    fail_msg("status %d, not '%s' but: %s", (int)status, reason, text);
  assert_int_equal(opening.done, 1);
  assert_int_equal(p.status, expected);
  assert_int_equal(w->server.logins, 0);
  assert_false(w->server.secret_in_clear);
  assert_null(strstr(text, "Sesame77"));
}

static const char *const encrypts[] = {"optional", "mandatory", "strict"};
enum { ENCRYPTS = 3 };

static void test_connects(void **state) {
  (void)state;
  for (size_t at = 0; at < ENCRYPTS; at++) {
    world w;
    world_open(&w);
    world_encrypt(&w, encrypts[at]);
    connects(&w, true);
    assert_int_equal(w.tds->stream.tls != NULL, at != 0); /* Optional: the login alone */
    world_close(&w);
  }
}

/* Of a server that could do more: inside TDS 7.x it is TLS 1.2, as servers expect, and only what
 * begins with TLS speaks TDS 8.0. */
static void test_what_is_offered(void **state) {
  (void)state;
  for (size_t at = 1; at < ENCRYPTS; at++) {
    bool strict = strcmp(encrypts[at], "strict") == 0;
    alo_tls_description description;
    world w;
    world_open(&w);
    world_encrypt(&w, encrypts[at]);
    alo_tls_context_give(w.server.tls);
    w.server.tls = tls_files_server(world_certificate(), &alo_heap_default, 0, "tds/8.0");
    connects(&w, true);
    alo_tls_describe(w.tds->stream.tls, &description);
    assert_string_equal(description.protocol, strict ? "TLSv1.3" : "TLSv1.2");
    assert_string_equal(description.alpn, strict ? "tds/8.0" : "");
    world_close(&w);
  }
}

static void test_optional_takes_what_it_gets(void **state) {
  (void)state;
  const uint8_t answers[] = {ALO_TDS_ENCRYPT_ON, ALO_TDS_ENCRYPT_REQ, ALO_TDS_ENCRYPT_NOT_SUP};
  for (size_t at = 0; at < sizeof answers; at++) {
    world w;
    world_open(&w);
    world_encrypt(&w, "optional");
    w.server.encryption = answers[at];
    connects(&w, answers[at] != ALO_TDS_ENCRYPT_NOT_SUP);
    assert_int_equal(w.tds->stream.tls != NULL, answers[at] != ALO_TDS_ENCRYPT_NOT_SUP);
    world_close(&w);
  }
}

static void test_never_less_than_mandatory(void **state) {
  (void)state;
  const uint8_t answers[] = {ALO_TDS_ENCRYPT_OFF, ALO_TDS_ENCRYPT_NOT_SUP, 0x80, 0xFF};
  for (size_t at = 0; at < sizeof answers; at++) {
    world w;
    world_open(&w);
    world_encrypt(&w, "mandatory");
    w.server.encryption = answers[at];
    fails(&w, ALOFT_ENCRYPTION, "no credential was sent");
    world_close(&w);
  }
}

/* ---- certificates ---- */

/* The server shows `files`; the client has `keywords` more. */
static void show(world *w, const char *encrypt, const tls_files *files, const char *keywords) {
  bool strict = strcmp(encrypt, "strict") == 0;
  world_open(w);
  world_encrypt(w, encrypt);
  alo_tls_context_give(w->server.tls);
  w->server.tls =
      tls_files_server(files, &alo_heap_default, strict ? 0 : 12, strict ? "tds/8.0" : NULL);
  snprintf(w->string, sizeof w->string,
           "Server=tcp:127.0.0.1,%u;User Id=someone;Password=Sesame77;Encrypt=%s;%s",
           (unsigned)w->server.port, encrypt, keywords);
  w->config.connection_string = aloft_text_of(w->string);
}

static void shown(const char *encrypt, const tls_files *files, const char *keywords,
                  const char *reason) {
  world w;
  show(&w, encrypt, files, keywords);
  if (reason)
    fails(&w, ALOFT_ENCRYPTION, reason);
  else
    connects(&w, true);
  world_close(&w);
}

static const char *keyword(const char *name, const char *value) {
  static char text[128];
  snprintf(text, sizeof text, "%.60s=%.63s", name, value);
  return text;
}

/* OpenSSL would take one that begins with a dot for all that end with it. */
static void test_names_that_are_none(void **state) {
  (void)state;
  static const char *const names[] = {"HostNameInCertificate=.",
                                      "HostNameInCertificate=.example.org"};
  for (size_t at = 0; at < 2 * ENCRYPTS; at++) {
    world w;
    show(&w, encrypts[at / 2], world_certificate(), names[at % 2]);
    fails(&w, ALOFT_ARGUMENT, "HostNameInCertificate is no name");
    world_close(&w);
  }
}

static void test_certificates(void **state) {
  (void)state;
  tls_files expired, early, elsewhere;
  const tls_files *good = world_certificate();
  tls_files_make(&expired, &(tls_wish){.from_days = -9, .until_days = -2});
  tls_files_make(&early, &(tls_wish){.from_days = 2, .until_days = 9});
  tls_files_make(&elsewhere, &(tls_wish){.name = "db.example.org"});
  for (size_t at = 1; at < ENCRYPTS; at++) {
    const char *how = encrypts[at];
    shown(how, good, "", "CA File");
    shown(how, good, keyword("CA File", elsewhere.certificate), "CA File");
    shown(how, good, keyword("ServerCertificate", good->certificate), NULL);
    shown(how, good, keyword("ServerCertificate", elsewhere.certificate), "ServerCertificate");
    shown(how, &expired, keyword("CA File", expired.certificate), "expired");
    shown(how, &early, keyword("CA File", early.certificate), "not yet valid");
    shown(how, &elsewhere, keyword("CA File", elsewhere.certificate), "HostNameInCertificate");
    shown(how, &elsewhere, keyword("ServerCertificate", elsewhere.certificate), NULL);
    shown(how, &elsewhere,
          keyword("HostNameInCertificate=db.example.org;CA File", elsewhere.certificate), NULL);
  }
  shown("mandatory", &expired, "TrustServerCertificate=True", NULL);
  shown("mandatory", good,
        keyword("TrustServerCertificate=True;ServerCertificate", elsewhere.certificate),
        "ServerCertificate");
  shown("strict", good, "TrustServerCertificate=True", "CA File");
  shown("optional", &expired, "", NULL); /* the login alone is encrypted */
  shown("optional", good, keyword("ServerCertificate", elsewhere.certificate), "ServerCertificate");
  tls_files_drop(&expired);
  tls_files_drop(&early);
  tls_files_drop(&elsewhere);
}

static void test_config_over_the_string(void **state) {
  (void)state;
  tls_files elsewhere;
  world w;
  tls_files_make(&elsewhere, &(tls_wish){.name = "db.example.org"});
  show(&w, "mandatory", &elsewhere, "CA File=/nonexistent;HostNameInCertificate=x");
  w.config.ca_file = aloft_text_of(elsewhere.certificate);
  w.config.host_name_in_certificate = ALOFT_TEXT("db.example.org");
  connects(&w, true);
  world_close(&w);
  show(&w, "mandatory", &elsewhere, "");
  w.config.server_certificate = aloft_text_of(elsewhere.certificate);
  connects(&w, true);
  world_close(&w);
  tls_files_drop(&elsewhere);
}

static void test_files_that_cannot_be_read(void **state) {
  (void)state;
  static const char *const strings[] = {"CA File=/nonexistent/a.pem",
                                        "ServerCertificate=/nonexistent/a.pem"};
  for (size_t at = 0; at < sizeof strings / sizeof *strings; at++) {
    world w;
    counted opening = counted_op();
    aloft_tds_pool *pool;
    show(&w, "mandatory", world_certificate(), strings[at]);
    assert_int_equal(world_connect_op(&w, &opening), ALOFT_ARGUMENT);
    assert_non_null(strstr(text_of(opening.op.error->message), "/nonexistent/a.pem"));
    const aloft_tds_pool_config config = {.size = sizeof config, .connection = w.config};
    assert_int_equal(aloft_tds_pool_open(&pool, w.loop, &config), ALOFT_ARGUMENT);
    assert_non_null(strstr(text_of(aloft_loop_error(w.loop)->message), "/nonexistent/a.pem"));
    world_close(&w);
  }
}

/* ---- handshakes that go wrong ---- */

static void test_stalled(void **state) {
  (void)state;
  world w;
  world_open(&w);
  world_encrypt(&w, "mandatory");
  w.server.stalls = true;
  w.config.connect_timeout_ns = ALOFT_MILLISECONDS(300);
  uint64_t begin = aloft_loop_now(w.loop);
  fails(&w, ALOFT_TIMEOUT, "the TLS handshake was not complete within the time to connect");
  assert_true(aloft_loop_now(w.loop) - begin < ALOFT_SECONDS(1));
  world_close(&w);
}

static void answers_wrapped(const void *nonsense, size_t size, const char *reason) {
  world w;
  world_open(&w);
  world_encrypt(&w, "mandatory");
  w.server.nonsense = (aloft_bytes){nonsense, size};
  fails(&w, ALOFT_ENCRYPTION, reason);
  world_close(&w);
}

static void test_no_tls_at_all(void **state) {
  (void)state;
  static const char http[] = "HTTP/1.1 400 Bad Request\r\n\r\n", ssh[] = "SSH-2.0-x\r\n";
  answers_wrapped(http, sizeof http - 1, "does not speak TLS here");
  answers_wrapped(ssh, sizeof ssh - 1, "does not speak TLS here");
}

/* A ServerHello of TLS 1.0, and of 1.1. */
static void test_too_old(void **state) {
  (void)state;
  for (uint8_t minor = 1; minor <= 2; minor++) {
    const uint8_t hello[47] = {0x16, 3, minor, 0, 42, 2, 0, 0, 38, 3, minor, [45] = 0x2F};
    answers_wrapped(hello, sizeof hello, "have it offer TLS 1.2 or 1.3");
  }
}

/* The server lets nobody in who shows no certificate, which Aloft never does here. */
static void test_wants_a_certificate(void **state) {
  (void)state;
  const tls_files *files = world_certificate();
  for (size_t at = 1; at < ENCRYPTS; at++) {
    bool strict = strcmp(encrypts[at], "strict") == 0;
    const alo_tls_config config = {.server = true,
                                   .certificate.text = {files->text, files->text_size},
                                   .key.text = {files->key_text, files->key_size},
                                   .authorities.text = {files->text, files->text_size},
                                   .certificate_required = true,
                                   .maximum = strict ? 0 : 12,
                                   .alpn = aloft_text_of(strict ? "tds/8.0" : NULL)};
    world w;
    world_open(&w);
    world_encrypt(&w, encrypts[at]);
    alo_tls_context_give(w.server.tls);
    assert_int_equal(alo_tls_context_open(&w.server.tls, &alo_heap_default, &config, NULL),
                     ALOFT_OK);
    fails(&w, ALOFT_ENCRYPTION, "the server requires a client's certificate");
    world_close(&w);
  }
}

static uint64_t wrapped[2]; /* where the last server's wrapped handshake began and ended */

/* The connect ends, whatever the server's bytes are. Returns how many it has sent. */
static uint64_t ends_somehow(world *w, aloft_status *status) {
  counted opening = counted_op();
  assert_int_equal(world_connect_op(w, &opening), ALOFT_OK);
  *status = aloft_wait(w->loop, &opening.op);
  assert_int_equal(opening.done, 1);
  uint64_t sent = w->server.sent;
  wrapped[0] = w->server.wrapped_begin;
  wrapped[1] = w->server.wrapped_end;
  assert_false(w->server.secret_in_clear);
  world_close(w);
  return sent;
}

static void test_closed_at_every_byte(void **state) {
  (void)state;
  aloft_status status = ALOFT_LOST;
  for (uint64_t at = 1; status != ALOFT_OK; at++) {
    world w;
    world_open(&w);
    world_encrypt(&w, "mandatory");
    w.server.kill_at = at;
    uint64_t sent = ends_somehow(&w, &status);
    assert_true(status == ALOFT_OK ? sent >= 500
                                   : status == ALOFT_CONNECT || status == ALOFT_ENCRYPTION);
    assert_true(at < 20000);
  }
}

/* Of the handshake nothing may differ but what the headers of its packets tell of the server. */
static void test_spoiled_at_every_byte(void **state) {
  (void)state;
  world w;
  aloft_status status;
  unsigned accepted = 0;
  world_open(&w);
  world_encrypt(&w, "mandatory");
  uint64_t all = ends_somehow(&w, &status);
  assert_int_equal(status, ALOFT_OK);
  uint64_t begin = wrapped[0], end = wrapped[1];
  assert_in_range(end - begin, 500, all);
  for (uint64_t at = 1; at <= all; at++) {
    world_open(&w);
    world_encrypt(&w, "mandatory");
    w.server.spoil_at = at;
    w.server.spoil_with = 0x41;
    ends_somehow(&w, &status);
    accepted += at > begin && at <= end && status == ALOFT_OK;
  }
  /* Status, SPID, packet id and window of two packets, and a byte of a record's version. Where the
   * second begins depends on the length of a signature, which differs from run to run. */
  assert_in_range(accepted, 1, 6 + 6 + 6);
}

static void test_split_everywhere(void **state) {
  (void)state;
  static const unsigned sizes[] = {1, 2, 5, 100, 504};
  for (size_t at = 0; at < ENCRYPTS; at++) {
    for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++) {
      const alo_sim_faults faults = {.short_read = 900, .split_write = 900};
      world w;
      world_open_with(&w, NULL, size + 1, &faults);
      world_encrypt(&w, encrypts[at]);
      w.server.wrap_size = sizes[size];
      connects(&w, true);
      world_close(&w);
    }
  }
}

/* ---- afterwards ---- */

static void test_cut_in_a_result(void **state) {
  (void)state;
  for (size_t at = 1; at < ENCRYPTS; at++) {
    world w;
    probe p;
    world_open(&w);
    world_encrypt(&w, encrypts[at]);
    world_connect(&w);
    assert_int_equal(probe_run(&p, &w, "rows 100 drop 1000"), ALOFT_LOST);
    assert_in_range(p.rows, 1, 99);
    world_close(&w);
  }
}

/* Nobody can tell whether the rest was cut off on the way. */
static void test_cut_without_a_word(void **state) {
  (void)state;
  for (size_t at = 1; at < ENCRYPTS; at++) {
    world w;
    probe p;
    world_open(&w);
    world_encrypt(&w, encrypts[at]);
    world_connect(&w);
    assert_int_equal(probe_run(&p, &w, "rows 100 drop 1000 cut"), ALOFT_LOST);
    assert_non_null(strstr(p.error_text, "close_notify"));
    assert_int_equal(probe_start(&p), ALOFT_LOST);
    world_close(&w);
  }
}

static void test_new_keys(void **state) {
  (void)state;
  world w;
  world_open(&w);
  world_encrypt(&w, "strict");
  world_connect(&w);
  for (unsigned at = 0; at < 3; at++) {
    probe p;
    assert_int_equal(probe_run(&p, &w, "rows 2000 update"), ALOFT_OK);
    assert_int_equal(p.rows, 2000);
    prove(&w);
  }
  world_close(&w);
}

static void test_much(void **state) {
  (void)state;
  for (size_t at = 0; at < ENCRYPTS; at++) {
    world w;
    probe p;
    world_open(&w);
    world_encrypt(&w, encrypts[at]);
    world_connect(&w);
    assert_int_equal(probe_run(&p, &w, "large 3000000"), ALOFT_OK);
    assert_int_equal(p.text_bytes, 3000000);
    prove(&w);
    world_close(&w);
  }
}

static void taken(aloft_op *op, aloft_status status) {
  enter_done(op, status);
  leave_done();
}

static void test_pool(void **state) {
  (void)state;
  for (size_t at = 0; at < ENCRYPTS; at++) {
    world w;
    aloft_tds_pool *pool;
    aloft_tds_acquire acquire = {.op = {.done = taken}};
    world_open(&w);
    world_encrypt(&w, encrypts[at]);
    const aloft_tds_pool_config config = {.size = sizeof config, .connection = w.config};
    assert_int_equal(aloft_tds_pool_open(&pool, w.loop, &config), ALOFT_OK);
    assert_int_equal(aloft_tds_pool_take(pool, &acquire), ALOFT_OK);
    assert_int_equal(aloft_wait(w.loop, &acquire.op), ALOFT_OK);
    w.tds = acquire.tds;
    prove(&w);
    aloft_tds_pool_give(pool, acquire.tds);
    assert_int_equal(aloft_tds_pool_close(pool, NULL), ALOFT_OK);
    world_close(&w);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_table_of_agreement),
      cmocka_unit_test(test_answers_of_a_server),
      cmocka_unit_test(test_connects),
      cmocka_unit_test(test_what_is_offered),
      cmocka_unit_test(test_optional_takes_what_it_gets),
      cmocka_unit_test(test_never_less_than_mandatory),
      cmocka_unit_test(test_names_that_are_none),
      cmocka_unit_test(test_certificates),
      cmocka_unit_test(test_config_over_the_string),
      cmocka_unit_test(test_files_that_cannot_be_read),
      cmocka_unit_test(test_stalled),
      cmocka_unit_test(test_no_tls_at_all),
      cmocka_unit_test(test_too_old),
      cmocka_unit_test(test_wants_a_certificate),
      cmocka_unit_test(test_closed_at_every_byte),
      cmocka_unit_test(test_spoiled_at_every_byte),
      cmocka_unit_test(test_split_everywhere),
      cmocka_unit_test(test_cut_in_a_result),
      cmocka_unit_test(test_cut_without_a_word),
      cmocka_unit_test(test_new_keys),
      cmocka_unit_test(test_much),
      cmocka_unit_test(test_pool),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
