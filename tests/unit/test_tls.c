/* The TLS filter by itself: a client's session and a server's, with no stream and no socket. */
#include "tls_pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <sys/stat.h>

#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "harness_heap.h"

enum { RECORD_HEADER = 5 };

static pem authority, other_authority, middle, good, alone, client_good, client_other;

static int make_all(void **state) {
  (void)state;
  make_pem(&authority, &(wish){.subject = "an authority", .authority = true});
  make_pem(&other_authority, &(wish){.subject = "another authority", .authority = true});
  make_pem(&middle, &(wish){.subject = "between", .authority = true, .issuer = &authority});
  make_pem(&good, &(wish){.subject = "a server",
                          .names = {"localhost", "127.0.0.1", "*.example.org"},
                          .issuer = &authority});
  make_pem(&alone, &(wish){.subject = "alone", .names = {"localhost"}});
  make_pem(&client_good, &(wish){.subject = "a client", .issuer = &authority});
  make_pem(&client_other, &(wish){.subject = "a client", .issuer = &other_authority});
  return 0;
}

static alo_tls_config client_config(void) {
  return (alo_tls_config){.authorities = text_of_pem(&authority),
                          .authorities_option = "the-authorities",
                          .certificate_option = "the-certificate",
                          .expected_option = "the-expected",
                          .name_option = "the-name"};
}

static alo_tls_config server_config(const pem *certificate) {
  return (alo_tls_config){
      .server = true, .certificate = text_of_pem(certificate), .key = key_of_pem(certificate)};
}

static void open_usual(pair *p) {
  const alo_tls_config client = client_config(), server = server_config(&good);
  assert_true(open_pair(p, &alo_heap_default, &client, &server, NULL));
}

static void expect_failure(const alo_tls *tls, const char *sentence) {
  if (tls->failed != ALOFT_ENCRYPTION || !strstr(tls->failure, sentence))
    fail_msg("status %d, not '%s' but '%s'", (int)tls->failed, sentence, tls->failure);
  assert_null(strchr(tls->failure, '\n'));
}

/* ---- who is trusted ---- */

/* The sentence that the client ends with; NULL: it connects. */
static void meets(const alo_tls_config *client, const alo_tls_config *server, const char *host,
                  const char *verified, const char *sentence) {
  pair p;
  const alo_tls_names names = {.host = aloft_text_of(host), .verified = aloft_text_of(verified)};
  assert_true(open_pair(&p, &alo_heap_default, client, server, &names));
  if (sentence) {
    shake_hands(&p);
    expect_failure(p.client, sentence);
    assert_false(p.client->established);
    assert_int_equal(alo_tls_handshake(p.client), ALOFT_ENCRYPTION); /* stays so */
    assert_int_equal(alo_tls_write(p.client, &(alo_buffer){0}), ALOFT_ENCRYPTION);
    assert_int_not_equal(p.server->failed, ALOFT_OK); /* an alert told it */
  } else {
    establish(&p);
  }
  close_pair(&p);
}

static void shows(const wish *of, const char *host, const char *sentence) {
  pem shown;
  wish own = *of;
  own.issuer = own.issuer ? own.issuer : &authority;
  own.subject = "a server";
  make_pem(&shown, &own);
  const alo_tls_config client = client_config(), server = server_config(&shown);
  meets(&client, &server, host, NULL, sentence);
}

static void test_names(void **state) {
  (void)state;
  shows(&(wish){.names = {"localhost"}}, "localhost", NULL);
  shows(&(wish){.names = {"localhost"}}, "LOCALHOST", NULL);
  shows(&(wish){.names = {"127.0.0.1"}}, "127.0.0.1", NULL);
  shows(&(wish){.names = {"::1"}}, "::1", NULL);
  shows(&(wish){.names = {"::1"}}, "0:0::1", NULL);
  shows(&(wish){.names = {"*.example.org"}}, "db.example.org", NULL);
  shows(&(wish){.names = {"db.example.org"}}, "db.example.com",
        "is for db.example.org, not for db.example.com");
  shows(&(wish){.names = {"localhost", "db"}}, "127.0.0.1",
        "is for localhost, db, not for 127.0.0.1");
  shows(&(wish){.names = {"127.0.0.2"}}, "127.0.0.1", "is for 127.0.0.2, not for 127.0.0.1");
  shows(&(wish){.names = {"127.0.0.1"}}, "localhost", "set the-name");
  shows(&(wish){.names = {"::2"}}, "::1", "is for ::2");
  shows(&(wish){.names = {"*.example.org"}}, "a.b.example.org", "not for a.b.example.org");
  shows(&(wish){.names = {"*.example.org"}}, "example.org", "not for example.org");
  shows(&(wish){.names = {"d*.example.org"}}, "db.example.org", "not for db.example.org");
  shows(&(wish){.names = {NULL}}, "localhost", "not for localhost");
  shows(&(wish){.names = {"a\033[2Jb\n\x80"}}, "localhost", "is for a?[2Jb??, not for localhost");
  shows(&(wish){.names = {"localhost"}}, "localhost.", NULL);
  shows(&(wish){.names = {"localhost"}}, "localhost..", "not for localhost.");
}

static void test_name_that_is_verified(void **state) {
  (void)state;
  const alo_tls_config client = client_config(), server = server_config(&good);
  meets(&client, &server, "10.0.0.1", "localhost", NULL);
  meets(&client, &server, "localhost", "10.0.0.1", "not for 10.0.0.1");
}

/* Of a name that is absolute in the DNS; addresses are not told (RFC 6066, 3). */
static void test_name_that_is_told(void **state) {
  (void)state;
  static const char *const hosts[] = {"localhost", "localhost.", "127.0.0.1", "::1"};
  for (size_t at = 0; at < 4; at++) {
    pair p;
    const alo_tls_config client = client_config(), server = server_config(&good);
    const alo_tls_names names = {.host = aloft_text_of(hosts[at]),
                                 .verified = ALOFT_TEXT("localhost.")};
    assert_true(open_pair(&p, &alo_heap_default, &client, &server, &names));
    establish(&p);
    const char *told = SSL_get_servername(p.server->ssl, TLSEXT_NAMETYPE_host_name);
    if (at < 2)
      assert_string_equal(told ? told : "none", "localhost");
    else
      assert_null(told);
    close_pair(&p);
  }
}

static void test_names_that_are_none(void **state) {
  (void)state;
  static char long_name[300];
  memset(long_name, 'a', sizeof long_name);
  const aloft_text names[] = {
      {"", 0}, {"a\0b", 3}, {long_name, 256}, {".", 1}, ALOFT_TEXT(".example.org")};
  const alo_tls_config config = client_config();
  alo_tls_context *context;
  alo_blocks blocks;
  alo_blocks_init(&blocks, &alo_heap_default, 4096, 0);
  assert_int_equal(alo_tls_context_open(&context, &alo_heap_default, &config, NULL), ALOFT_OK);
  for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
    alo_tls *tls = (alo_tls *)1;
    assert_int_equal(alo_tls_open(&tls, context, &blocks, &(alo_tls_names){.host = names[at]}),
                     ALOFT_ARGUMENT);
    assert_null(tls);
    const alo_tls_names both = {.host = ALOFT_TEXT("localhost"), .verified = names[at]};
    assert_int_equal(alo_tls_open(&tls, context, &blocks, &both),
                     names[at].size ? ALOFT_ARGUMENT : ALOFT_OK);
    alo_tls_close(tls);
  }
  alo_tls *tls;
  assert_int_equal(alo_tls_open(&tls, context, &blocks, NULL), ALOFT_ARGUMENT);
  alo_tls_context_give(context);
  alo_blocks_fini(&blocks);
}

static void test_dates(void **state) {
  (void)state;
  pem old_authority;
  shows(&(wish){.names = {"localhost"}, .from_days = -9, .until_days = -2}, "localhost",
        "the certificate of the server expired on ");
  shows(&(wish){.names = {"localhost"}, .from_days = 2, .until_days = 9}, "localhost",
        "the certificate of the server is not yet valid, but from ");
  make_pem(
      &old_authority,
      &(wish){.subject = "an old authority", .authority = true, .from_days = -9, .until_days = -2});
  pem shown;
  make_pem(&shown, &(wish){.subject = "s", .names = {"localhost"}, .issuer = &old_authority});
  alo_tls_config client = client_config();
  const alo_tls_config server = server_config(&shown);
  client.authorities = text_of_pem(&old_authority);
  meets(&client, &server, "localhost", NULL,
        "the certificate of an authority of the server expired");
}

static void test_chains(void **state) {
  (void)state;
  pem shown;
  static char both[2 * PEM_MAX];
  make_pem(&shown, &(wish){.subject = "s", .names = {"localhost"}, .issuer = &middle});
  alo_tls_config client = client_config(), server = server_config(&shown);
  meets(&client, &server, "localhost", NULL, "give the authority's certificate in the-authorities");
  int size = snprintf(both, sizeof both, "%s%s", shown.text, middle.text);
  server.certificate.text = (aloft_bytes){both, (size_t)size};
  meets(&client, &server, "localhost", NULL, NULL);
  client.authorities = text_of_pem(&other_authority);
  meets(&client, &server, "localhost", NULL, "the-authorities");
  size = snprintf(both, sizeof both, "%s\r\nwords between\r\n%s", other_authority.text,
                  authority.text);
  client.authorities.text = (aloft_bytes){both, (size_t)size};
  const alo_tls_config usual = server_config(&good);
  meets(&client, &usual, "localhost", NULL, NULL);
}

static void test_self_signed(void **state) {
  (void)state;
  alo_tls_config client = client_config();
  const alo_tls_config server = server_config(&alone);
  meets(&client, &server, "localhost", NULL,
        "is self-signed, or its root is not among the known authorities: if you trust it, give it "
        "as an authority in the-authorities");
  client.authorities = text_of_pem(&alone);
  meets(&client, &server, "localhost", NULL, NULL);
  meets(&client, &server, "127.0.0.1", NULL, "not for 127.0.0.1");
  client.authorities = (alo_tls_pem){.text = {NULL, 0}}; /* the system's */
  meets(&client, &server, "localhost", NULL, "is self-signed");
}

static void test_expected(void **state) {
  (void)state;
  static uint8_t der[PEM_MAX];
  alo_tls_config client = client_config();
  const alo_tls_config server = server_config(&alone), other = server_config(&good);
  client.authorities = (alo_tls_pem){.text = {NULL, 0}};
  client.expected = text_of_pem(&alone);
  meets(&client, &server, "some.where", NULL, NULL);
  meets(&client, &other, "localhost", NULL, "is not the expected one: see the-expected");
  BIO *bio = BIO_new_mem_buf(alone.text, (int)alone.size);
  X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);
  uint8_t *end = der;
  int size = i2d_X509(certificate, &end);
  X509_free(certificate);
  BIO_free(bio);
  client.expected.text = (aloft_bytes){der, (size_t)size};
  meets(&client, &server, "some.where", NULL, NULL);
  meets(&client, &other, "localhost", NULL, "is not the expected one");
}

static void test_trust_any(void **state) {
  (void)state;
  pem old;
  make_pem(&old, &(wish){.subject = "s", .names = {"x"}, .from_days = -9, .until_days = -2});
  const alo_tls_config client = {.trust_any = true}, server = server_config(&old);
  meets(&client, &server, "localhost", NULL, NULL);
}

/* ---- the client's certificate ---- */

/* What the server ends with, and what the client hears of it. */
static void asked_for(const pem *shown, int version, const char *server_says,
                      const char *client_says) {
  pair p;
  alo_tls_config client = client_config(), server = server_config(&good);
  server.authorities = text_of_pem(&authority);
  server.certificate_required = true;
  server.maximum = version;
  if (shown) {
    client.certificate = text_of_pem(shown);
    client.key = key_of_pem(shown);
  }
  assert_true(open_pair(&p, &alo_heap_default, &client, &server, NULL));
  shake_hands(&p);
  if (!server_says) {
    establish(&p);
    close_pair(&p);
    return;
  }
  expect_failure(p.server, server_says);
  if (p.client->failed == ALOFT_OK) { /* TLS 1.3: the alert comes after the client's handshake */
    assert_true(p.client->established);
    assert_int_equal(alo_tls_read(p.client, &p.client_plain, 100), ALOFT_ENCRYPTION);
  }
  expect_failure(p.client, client_says);
  close_pair(&p);
}

static void test_client_certificates(void **state) {
  (void)state;
  for (int version = 12; version <= 13; version++) {
    asked_for(&client_good, version, NULL, NULL);
    asked_for(NULL, version, "the client showed no certificate, and must",
              "the server requires a client's certificate: set the-certificate");
    asked_for(&client_other, version, "issued by an unknown authority",
              "does not know the authority that issued this side's certificate");
  }
}

/* ---- versions and protocols ---- */

static void speaks(int client_least, int client_most, int server_least, int server_most,
                   const char *client_says, const char *server_says, const char *protocol) {
  pair p;
  alo_tls_description description;
  alo_tls_config client = client_config(), server = server_config(&good);
  client.minimum = client_least;
  client.maximum = client_most;
  server.minimum = server_least;
  server.maximum = server_most;
  assert_true(open_pair(&p, &alo_heap_default, &client, &server, NULL));
  if (protocol) {
    establish(&p);
    alo_tls_describe(p.client, &description);
    assert_string_equal(description.protocol, protocol);
    assert_string_equal(description.subject, "CN=a server");
    assert_string_equal(description.issuer, "CN=an authority");
    assert_int_equal(strlen(description.fingerprint), 32 * 3 - 1);
    assert_int_equal(strlen(description.expires), 20);
    assert_int_not_equal(description.cipher[0], 0);
    assert_int_equal(description.alpn[0], 0);
    char fingerprint[96];
    assert_true(alo_tls_fingerprint((aloft_bytes){good.text, good.size}, fingerprint));
    assert_string_equal(fingerprint, description.fingerprint);
    alo_tls_describe(p.server, &description);
    assert_int_equal(description.subject[0], 0); /* it showed none */
  } else {
    shake_hands(&p);
    expect_failure(p.client, client_says);
    expect_failure(p.server, server_says);
  }
  close_pair(&p);
}

static void test_versions(void **state) {
  (void)state;
  speaks(0, 0, 0, 0, NULL, NULL, "TLSv1.3");
  speaks(0, 12, 0, 0, NULL, NULL, "TLSv1.2");
  speaks(0, 0, 0, 12, NULL, NULL, "TLSv1.2");
  speaks(13, 0, 0, 12, "have it offer TLS 1.2 or 1.3", "TLS 1.2 or 1.3", NULL);
  speaks(0, 12, 13, 0, "have it offer TLS 1.2 or 1.3", "TLS 1.2 or 1.3", NULL);
}

static void test_alpn(void **state) {
  (void)state;
  static const struct {
    const char *client, *server, *sentence;
  } cases[] = {{"tds/8.0", "tds/8.0", NULL},
               {"tds/8.0", NULL, NULL},
               {NULL, "tds/8.0", NULL},
               {"tds/8.0", "tds/9", "does not speak the protocol that was offered"}};
  for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
    pair p;
    alo_tls_description description;
    alo_tls_config client = client_config(), server = server_config(&good);
    client.alpn = aloft_text_of(cases[at].client);
    server.alpn = aloft_text_of(cases[at].server);
    assert_true(open_pair(&p, &alo_heap_default, &client, &server, NULL));
    if (cases[at].sentence) {
      shake_hands(&p);
      expect_failure(p.client, cases[at].sentence);
    } else {
      establish(&p);
      alo_tls_describe(p.client, &description);
      assert_string_equal(description.alpn, at == 0 ? "tds/8.0" : "");
    }
    close_pair(&p);
  }
}

static int choose_another(SSL *ssl, const unsigned char **chosen, unsigned char *size,
                          const unsigned char *offered, unsigned offered_size, void *context) {
  (void)ssl;
  (void)offered;
  (void)offered_size;
  const char *name = context;
  *chosen = (const unsigned char *)name;
  *size = (unsigned char)strlen(name);
  return SSL_TLSEXT_ERR_OK;
}

/* Such a server is another service (RFC 7301, 3.2); OpenSSL sees to it since 3.0.15. */
static void test_alpn_that_was_not_offered(void **state) {
  (void)state;
  static char another[] = "http/1.1", longer[] = "tds/8.00", shorter[] = "tds/8";
  char *const names[] = {another, longer, shorter};
  for (int version = 12; version <= 13; version++)
    for (size_t at = 0; at < 3; at++) {
      pair p;
      alo_tls_config client = client_config();
      const alo_tls_config server = server_config(&good);
      client.alpn = ALOFT_TEXT("tds/8.0");
      client.maximum = version;
      assert_true(open_pair(&p, &alo_heap_default, &client, &server, NULL));
      SSL_CTX_set_alpn_select_cb(SSL_get_SSL_CTX(p.server->ssl), choose_another, names[at]);
      shake_hands(&p);
      expect_failure(p.client, "failed in the handshake");
      assert_false(p.client->established);
      close_pair(&p);
    }
}

static void test_not_tls(void **state) {
  (void)state;
  static const char *const servers[] = {"HTTP/1.1 400 Bad Request\r\n\r\n", "SSH-2.0-OpenSSH\r\n",
                                        "INFO {\"server_id\":\"x\"}\r\n", "\x04\x01\x00\x25\0\0\1"};
  static const char *const clients[] = {"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
                                        "CONNECT x HTTP/1.1\r\n",
                                        "CONNECT {\"verbose\":false}\r\n"};
  for (size_t at = 0; at < 4; at++) {
    pair p;
    open_usual(&p);
    assert_int_equal(alo_tls_handshake(p.client), ALOFT_PENDING);
    assert_true(alo_tls_feed(p.client, servers[at], at == 3 ? 7 : strlen(servers[at])));
    assert_int_equal(alo_tls_handshake(p.client), ALOFT_ENCRYPTION);
    expect_failure(p.client, "the server does not speak TLS here");
    close_pair(&p);
  }
  for (size_t at = 0; at < 3; at++) {
    pair p;
    open_usual(&p);
    assert_true(alo_tls_feed(p.server, clients[at], strlen(clients[at])));
    assert_int_equal(alo_tls_handshake(p.server), ALOFT_ENCRYPTION);
    expect_failure(p.server, "the client does not speak TLS here");
    close_pair(&p);
  }
}

/* The server's first record is an alert. */
static void test_alerts(void **state) {
  (void)state;
  static const struct {
    uint8_t level, alert;
    const char *sentence;
  } cases[] = {
      {1, SSL_AD_CLOSE_NOTIFY, "the server closed the connection during the TLS handshake"},
      {2, SSL_AD_CLOSE_NOTIFY, "TLS alert 0"}, /* fatal, which is none */
      {2, SSL_AD_HANDSHAKE_FAILURE, "no cipher that both allow"},
      {2, SSL_AD_UNRECOGNIZED_NAME, "the server has no certificate for the name"},
      {2, SSL_AD_PROTOCOL_VERSION, "have it offer TLS 1.2 or 1.3"},
      {2, SSL_AD_UNKNOWN_CA, "does not know the authority that issued this side's certificate"},
      {2, SSL_AD_INTERNAL_ERROR, "internal error"},
      {2, 5, "TLS alert 5"},
      {2, 250, "TLS alert 250"},
  };
  for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
    pair p;
    const uint8_t record[] = {0x15, 3, 3, 0, 2, cases[at].level, cases[at].alert};
    open_usual(&p);
    assert_int_equal(alo_tls_handshake(p.client), ALOFT_PENDING);
    assert_true(alo_tls_feed(p.client, record, sizeof record));
    assert_int_equal(alo_tls_handshake(p.client), ALOFT_ENCRYPTION);
    expect_failure(p.client, cases[at].sentence);
    close_pair(&p);
  }
}

/* ---- splits, damage and ends ---- */

static uint8_t pattern[100000];

static void make_pattern(void) {
  for (size_t at = 0; at < sizeof pattern; at++)
    pattern[at] = (uint8_t)(at * 31 + at / 251);
}

/* Moves all that `from` has to say, decrypting after each piece. */
static void deliver(pair *p, alo_tls *from, alo_tls *to, alo_chain *plain) {
  while (move(p, from, to)) {
    aloft_status status;
    do
      status = alo_tls_read(to, plain, 1000);
    while (status == ALOFT_PENDING);
    assert_int_equal(status, ALOFT_OK);
  }
}

static void test_every_split(void **state) {
  (void)state;
  static const size_t steps[] = {1, 2, 3, 4, 5, 6, 7, 8, 13, 64, 255, 1000, 4095, 16384, SIZE_MAX};
  static const size_t sizes[] = {1, 2, 100, 16383, 16384, 16385, 40000};
  make_pattern();
  for (size_t version = 12; version <= 13; version++)
    for (size_t at = 0; at < sizeof steps / sizeof *steps; at++) {
      pair p;
      alo_tls_config client = client_config();
      const alo_tls_config server = server_config(&good);
      client.maximum = (int)version;
      assert_true(open_pair(&p, &alo_heap_default, &client, &server, NULL));
      p.step = steps[at];
      establish(&p);
      for (size_t size = 0; size < sizeof sizes / sizeof *sizes; size++) {
        assert_int_equal(write_plain(p.client, pattern, sizes[size]), ALOFT_OK);
        deliver(&p, p.client, p.server, &p.server_plain);
        expect_plain(&p, &p.server_plain, pattern, sizes[size]);
        assert_int_equal(write_plain(p.server, pattern, sizes[size]), ALOFT_OK);
        deliver(&p, p.server, p.client, &p.client_plain);
        expect_plain(&p, &p.client_plain, pattern, sizes[size]);
      }
      close_pair(&p);
    }
}

/* A record cut into two pieces, at every byte. */
static void test_record_cut_everywhere(void **state) {
  (void)state;
  pair p;
  make_pattern();
  open_usual(&p);
  establish(&p);
  deliver(&p, p.server, p.client, &p.client_plain); /* the tickets */
  for (size_t at = 1, all = 2; at < all; at++) {
    assert_int_equal(write_plain(p.server, pattern, 200), ALOFT_OK);
    all = alo_buffer_size(&p.server->out);
    p.step = at;
    assert_int_equal(move(&p, p.server, p.client), at);
    assert_int_equal(alo_tls_read(p.client, &p.client_plain, 1000), ALOFT_OK);
    assert_int_equal(p.client_plain.size, 0);
    p.step = SIZE_MAX;
    deliver(&p, p.server, p.client, &p.client_plain);
    expect_plain(&p, &p.client_plain, pattern, 200);
  }
  close_pair(&p);
}

static void test_many_records_at_once(void **state) {
  (void)state;
  enum { RECORDS = 500, SIZE = 7 };
  pair p;
  make_pattern();
  open_usual(&p);
  establish(&p);
  uint8_t *all = malloc(1 << 20);
  size_t size = 0;
  assert_non_null(all);
  for (size_t at = 0; at < RECORDS; at++) {
    assert_int_equal(write_plain(p.server, pattern + at * SIZE, SIZE), ALOFT_OK);
    size_t out = alo_buffer_size(&p.server->out);
    memcpy(all + size, p.server->out.data + p.server->out.begin, out);
    size += out;
    alo_tls_sent(p.server, out);
  }
  assert_true(alo_tls_feed(p.client, all, size));
  aloft_status status;
  for (unsigned reads = 0;; reads++) { /* as many as were asked for, and no more */
    size_t before = p.client_plain.size;
    status = alo_tls_read(p.client, &p.client_plain, 100);
    assert_in_range(p.client_plain.size - before, 0, 100);
    if (status != ALOFT_PENDING)
      break;
    assert_true(reads < RECORDS);
  }
  assert_int_equal(status, ALOFT_OK);
  expect_plain(&p, &p.client_plain, pattern, (size_t)RECORDS * SIZE);
  free(all);
  close_pair(&p);
}

/* Each byte of a record changed: nothing of it is delivered, and the session is over. */
static void test_damaged_everywhere(void **state) {
  (void)state;
  make_pattern();
  for (size_t at = 0, all = 1; at < all; at++) {
    pair p;
    open_usual(&p);
    establish(&p);
    deliver(&p, p.server, p.client, &p.client_plain);
    assert_int_equal(write_plain(p.server, pattern, 40), ALOFT_OK);
    all = alo_buffer_size(&p.server->out);
    p.server->out.data[p.server->out.begin + at] ^= 0x41;
    move(&p, p.server, p.client);
    aloft_status status = alo_tls_read(p.client, &p.client_plain, 1000);
    if (status == ALOFT_OK) { /* a longer length: it waits for the rest */
      assert_in_range(at, 3, 4);
      assert_int_equal(alo_tls_ended(p.client), ALOFT_LOST);
    } else {
      assert_int_equal(status, ALOFT_ENCRYPTION);
      assert_int_not_equal(p.client->failure[0], 0);
    }
    assert_int_equal(p.client_plain.size, 0);
    assert_int_not_equal(alo_tls_read(p.client, &p.client_plain, 1000), ALOFT_OK);
    close_pair(&p);
  }
}

/* Lets the server's handshake through up to byte `at`, which is changed, or the last one. Returns
 * how many bytes the client has got. */
static uint64_t shake_spoiled(pair *p, uint64_t at, bool cut) {
  p->step = 1;
  for (bool over = false; !over;) {
    alo_tls_handshake(p->client);
    if (shaken(p->client))
      break;
    while (move(p, p->client, p->server)) {
    }
    alo_tls_handshake(p->server);
    alo_buffer *out = &p->server->out;
    if (alo_buffer_size(out) && p->moved + 1 == at && !cut)
      out->data[out->begin] ^= 0x20;
    over = !move(p, p->server, p->client) || (cut && p->moved == at);
  }
  alo_tls_handshake(p->client);
  return p->moved;
}

static uint64_t open_spoiled(pair *p, int version, uint64_t at, bool cut) {
  alo_tls_config client = client_config();
  const alo_tls_config server = server_config(&good);
  client.maximum = version;
  assert_true(open_pair(p, &alo_heap_default, &client, &server, NULL));
  return shake_spoiled(p, at, cut);
}

/* Of what the server says in the handshake each byte is changed, but for the lower half of a
 * record's version, which means nothing; and it is cut off after each. */
static void test_handshake_spoiled_everywhere(void **state) {
  (void)state;
  enum { RECORDS_MAX = 8, SHORTER_MAX = 8 };
  for (int version = 12; version <= 13; version++) {
    pair p;
    unsigned accepted = 0;
    uint64_t all = open_spoiled(&p, version, 0, false);
    assert_true(p.client->established);
    assert_in_range(all, 300, 5000);
    all -= SHORTER_MAX;
    close_pair(&p);
    for (uint64_t at = 1; at <= all; at++) {
      open_spoiled(&p, version, at, false);
      accepted += p.client->established;
      if (p.client->failed == ALOFT_OK && !p.client->established)
        assert_int_equal(alo_tls_ended(p.client), ALOFT_ENCRYPTION);
      close_pair(&p);
    }
    assert_in_range(accepted, 0, RECORDS_MAX);
    for (uint64_t at = 1; at < all; at++) {
      open_spoiled(&p, version, at, true);
      assert_false(p.client->established);
      assert_int_equal(p.client->failed, ALOFT_OK);
      assert_int_equal(alo_tls_ended(p.client), ALOFT_ENCRYPTION);
      expect_failure(p.client, "closed the connection during the TLS handshake");
      close_pair(&p);
    }
  }
}

static void test_ends(void **state) {
  (void)state;
  pair p;
  open_usual(&p);
  establish(&p);
  deliver(&p, p.server, p.client, &p.client_plain);
  assert_int_equal(write_plain(p.server, "abc", 3), ALOFT_OK);
  alo_tls_say_close(p.server);
  size_t size = alo_buffer_size(&p.server->out);
  alo_tls_say_close(p.server); /* once */
  assert_int_equal(alo_buffer_size(&p.server->out), size);
  move(&p, p.server, p.client);
  assert_int_equal(alo_tls_read(p.client, &p.client_plain, 2), ALOFT_PENDING);
  assert_false(p.client->peer_closed);
  assert_int_equal(alo_tls_read(p.client, &p.client_plain, 2), ALOFT_DONE);
  assert_int_equal(p.client_plain.size, 3);
  assert_true(p.client->peer_closed);
  assert_int_equal(alo_tls_ended(p.client), ALOFT_OK);
  assert_int_equal(alo_tls_ended(p.server), ALOFT_LOST); /* it heard nothing */
  assert_non_null(strstr(p.server->failure, "close_notify"));
  close_pair(&p);
  open_usual(&p);
  assert_int_equal(alo_tls_handshake(p.client), ALOFT_PENDING);
  assert_int_equal(alo_tls_read(p.client, &p.client_plain, 2), ALOFT_WRONG_STATE);
  assert_int_equal(write_plain(p.client, "a", 1), ALOFT_WRONG_STATE);
  alo_tls_say_close(p.client); /* nothing to say yet */
  assert_int_equal(alo_tls_ended(p.client), ALOFT_ENCRYPTION);
  close_pair(&p);
}

/* ---- keys ---- */

static void test_new_keys(void **state) {
  (void)state;
  pair p;
  make_pattern();
  open_usual(&p);
  establish(&p);
  for (unsigned at = 0; at < 4; at++) {
    alo_tls *from = at % 2 ? p.client : p.server, *to = at % 2 ? p.server : p.client;
    alo_chain *plain = at % 2 ? &p.server_plain : &p.client_plain;
    alo_chain *back = at % 2 ? &p.client_plain : &p.server_plain;
    assert_int_equal(SSL_key_update(from->ssl, SSL_KEY_UPDATE_REQUESTED), 1);
    assert_int_equal(write_plain(from, pattern, 5000), ALOFT_OK);
    deliver(&p, from, to, plain);
    expect_plain(&p, plain, pattern, 5000);
    assert_int_equal(write_plain(to, pattern, 5000), ALOFT_OK);
    deliver(&p, to, from, back);
    expect_plain(&p, back, pattern, 5000);
  }
  close_pair(&p);
}

/* TLS 1.2 could begin a second handshake, which has been the way into some first ones. */
static void test_no_second_handshake(void **state) {
  (void)state;
  for (int by_server = 0; by_server < 2; by_server++) {
    pair p;
    alo_tls_config client = client_config();
    const alo_tls_config server = server_config(&good);
    client.maximum = 12;
    assert_true(open_pair(&p, &alo_heap_default, &client, &server, NULL));
    establish(&p);
    alo_tls *asks = by_server ? p.server : p.client, *refuses = by_server ? p.client : p.server;
    SSL_clear_options(asks->ssl, SSL_OP_NO_RENEGOTIATION);
    assert_int_equal(SSL_renegotiate(asks->ssl), 1);
    (void)SSL_do_handshake(asks->ssl);
    assert_int_not_equal(move(&p, asks, refuses), 0);
    (void)alo_tls_read(refuses, &p.client_plain, 100);
    assert_int_equal(SSL_num_renegotiations(refuses->ssl), 0);
    (void)move(&p, refuses, asks);
    (void)alo_tls_read(asks, &p.server_plain, 100);
    assert_int_not_equal(asks->failed, ALOFT_OK);
    close_pair(&p);
  }
}

/* A peer that asks for new keys again and again does not fill our memory. */
static void test_flood_of_new_keys(void **state) {
  (void)state;
  pair p;
  open_usual(&p);
  establish(&p);
  deliver(&p, p.server, p.client, &p.client_plain);
  for (unsigned at = 0; at < 200000 && p.client->failed == ALOFT_OK; at++) {
    assert_int_equal(SSL_key_update(p.server->ssl, SSL_KEY_UPDATE_REQUESTED), 1);
    assert_int_equal(SSL_do_handshake(p.server->ssl), 1);
    move(&p, p.server, p.client);
    (void)alo_tls_read(p.client, &p.client_plain, 100);
    assert_in_range(alo_buffer_size(&p.client->out), 0, 300 << 10);
  }
  close_pair(&p);
}

/* ---- messages after the handshake ---- */

static int fill_ticket(SSL *ssl, void *context) {
  (void)context;
  return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), pattern, 2000);
}

/* Between the records of a message of the handshake's kind there is no writing: what is to be
 * written waits for the rest of it, and is not lost. */
static void test_message_in_many_records(void **state) {
  (void)state;
  pair p;
  alo_buffer plain;
  make_pattern();
  open_usual(&p);
  SSL_CTX_set_session_ticket_cb(SSL_get_SSL_CTX(p.server->ssl), fill_ticket, NULL, NULL);
  SSL_set_max_send_fragment(p.server->ssl, 512);
  alo_buffer_init(&plain, &alo_heap_default, 1 << 20);
  while (!p.server->established) {
    (void)alo_tls_handshake(p.client);
    move(&p, p.client, p.server);
    (void)alo_tls_handshake(p.server);
    if (!p.server->established)
      move(&p, p.server, p.client);
  }
  unsigned waits = 0;
  for (p.step = 100; alo_buffer_size(&p.server->out);) {
    move(&p, p.server, p.client);
    assert_int_equal(alo_tls_read(p.client, &p.client_plain, 100), ALOFT_OK);
    assert_int_equal(alo_buffer_append(&plain, "abc", 3), ALOFT_OK);
    assert_int_equal(alo_tls_write(p.client, &plain), ALOFT_OK);
    assert_true(p.client->held == (alo_buffer_size(&plain) > 0));
    waits += p.client->held;
    move(&p, p.client, p.server);
  }
  assert_in_range(waits, 10, 60);
  assert_false(p.client->held);
  assert_int_equal(alo_tls_read(p.server, &p.server_plain, SIZE_MAX), ALOFT_OK);
  deliver(&p, p.client, p.server, &p.server_plain);
  assert_int_equal(p.server_plain.size, p.client->plain_bytes);
  assert_int_equal(p.client->plain_bytes % 3, 0);
  alo_buffer_fini(&plain);
  close_pair(&p);
}

/* ---- records ---- */

static unsigned records_in(const alo_buffer *out, size_t most[1]) {
  unsigned count = 0;
  const uint8_t *at = out->data + out->begin, *end = out->data + out->end;
  most[0] = 0;
  while (end - at >= RECORD_HEADER) {
    size_t size = (size_t)(at[3] << 8 | at[4]);
    most[0] = size > most[0] ? size : most[0];
    at += RECORD_HEADER + size;
    count++;
  }
  assert_ptr_equal(at, end);
  return count;
}

static void test_records(void **state) {
  (void)state;
  static const struct {
    size_t size;
    unsigned records;
  } cases[] = {{1, 1}, {16384, 1}, {16385, 2}, {32768, 2}, {100000, 7}};
  pair p;
  size_t most;
  make_pattern();
  open_usual(&p);
  establish(&p);
  p.client->out.begin = p.client->out.end;
  for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
    assert_int_equal(write_plain(p.client, pattern, cases[at].size), ALOFT_OK);
    assert_int_equal(records_in(&p.client->out, &most), cases[at].records);
    assert_in_range(most, 1, ALO_TLS_RECORD_MAX + 256);
    alo_tls_sent(p.client, alo_buffer_size(&p.client->out));
  }
  close_pair(&p);
}

/* At most a batch is encrypted; the rest stays plain. */
static void test_batch(void **state) {
  (void)state;
  pair p;
  alo_buffer plain;
  size_t most, all = (size_t)12 * ALO_TLS_RECORD_MAX;
  uint8_t *data = calloc(1, all);
  assert_non_null(data);
  open_usual(&p);
  establish(&p);
  alo_buffer_init(&plain, &alo_heap_default, 16 << 20);
  assert_int_equal(alo_buffer_append(&plain, data, all), ALOFT_OK);
  assert_int_equal(alo_tls_write(p.client, &plain), ALOFT_OK);
  assert_int_equal(alo_buffer_size(&plain), (size_t)4 * ALO_TLS_RECORD_MAX);
  assert_int_equal(records_in(&p.client->out, &most), ALO_TLS_BATCH);
  alo_buffer_fini(&plain);
  free(data);
  close_pair(&p);
}

/* What has been sent is told in whole records, however the kernel takes their bytes. */
static void test_sent(void **state) {
  (void)state;
  make_pattern();
  for (size_t step = 1; step < 40000; step = step * 5 / 3 + 1) {
    pair p;
    open_usual(&p);
    establish(&p);
    uint64_t before = p.client->plain_sent;
    assert_int_equal(before, 0);
    assert_int_equal(write_plain(p.client, pattern, 16384 + 100), ALOFT_OK);
    const alo_buffer *out = &p.client->out;
    size_t all = alo_buffer_size(out);
    size_t first =
        RECORD_HEADER + (size_t)(out->data[out->begin + 3] << 8 | out->data[out->begin + 4]);
    for (size_t sent = 0; sent < all;) {
      size_t part = step < all - sent ? step : all - sent;
      sent += part;
      uint64_t told = alo_tls_sent(p.client, part);
      assert_int_equal(told, sent == all ? 16484 : sent >= first ? 16384 : 0);
    }
    close_pair(&p);
  }
}

static void test_lead(void **state) {
  (void)state;
  pair p;
  open_usual(&p);
  assert_int_equal(alo_tls_handshake(p.client), ALOFT_PENDING);
  /* As a stream does it: what waited goes before the first byte of the session. */
  alo_buffer *out = &p.client->out, before = *out;
  alo_buffer_init(out, &alo_heap_default, 1 << 20);
  assert_int_equal(alo_buffer_append(out, "0123456789", 10), ALOFT_OK);
  assert_int_equal(alo_buffer_append(out, before.data + before.begin, alo_buffer_size(&before)),
                   ALOFT_OK);
  alo_buffer_fini(&before);
  alo_tls_lead(p.client, 10);
  assert_int_equal(alo_tls_sent(p.client, 9), 0);
  assert_int_equal(alo_tls_sent(p.client, 1), 10);
  establish(&p);
  assert_int_equal(write_plain(p.client, "abc", 3), ALOFT_OK);
  assert_int_equal(alo_tls_sent(p.client, alo_buffer_size(out)), 13);
  close_pair(&p);
}

/* ---- memory ---- */

static void meet(const aloft_allocator *heap, void *context) {
  pair p;
  (void)context;
  const alo_tls_config client = client_config(), server = server_config(&good);
  bool opened = open_pair(&p, heap, &client, &server, NULL);
  if (opened)
    shake_hands(&p);
  if (opened && p.client->established && p.server->established) {
    alo_buffer plain;
    alo_buffer_init(&plain, heap, 1 << 20);
    aloft_status status = alo_buffer_append(&plain, pattern, 40000);
    assert_true(status == ALOFT_OK || status == ALOFT_NO_MEMORY);
    status = alo_tls_write(p.client, &plain);
    assert_true(status == ALOFT_OK || status == ALOFT_NO_MEMORY);
    while (move(&p, p.client, p.server)) {
      status = alo_tls_read(p.server, &p.server_plain, SIZE_MAX);
      assert_true(status == ALOFT_OK || status == ALOFT_NO_MEMORY);
    }
    alo_buffer_fini(&plain);
  } else if (opened) {
    assert_true(p.client->failed == ALOFT_NO_MEMORY || p.server->failed == ALOFT_NO_MEMORY ||
                harness_heap_of(heap)->failed > 0);
  }
  close_pair(&p);
}

static void test_each_allocation_fails(void **state) {
  (void)state;
  assert_in_range(harness_each_allocation(meet, NULL), 15, 200);
}

/* ---- OpenSSL's own heap ---- */

static uint64_t openssl_calls;

static void *openssl_allocate(size_t size, const char *file, int line) {
  (void)file;
  (void)line;
  openssl_calls++;
  return malloc(size);
}

static void *openssl_resize(void *memory, size_t size, const char *file, int line) {
  (void)file;
  (void)line;
  openssl_calls++;
  return realloc(memory, size);
}

static void openssl_release(void *memory, const char *file, int line) {
  (void)file;
  (void)line;
  openssl_calls += memory != NULL;
  free(memory);
}

static void exchange(pair *p, size_t size) {
  assert_int_equal(write_plain(p->client, pattern, size), ALOFT_OK);
  deliver(p, p->client, p->server, &p->server_plain);
  expect_plain(p, &p->server_plain, pattern, size);
}

/* After the first records of a session none is ours. OpenSSL 3.0 makes two for each record and side
 * in TLS 1.2, and four in 1.3. */
static void test_no_heap_in_steady_state(void **state) {
  (void)state;
  enum { RECORDS = 200 };
  static const size_t sizes[] = {1, 300, 16384};
  for (int version = 12; version <= 13; version++) {
    harness_heap heap;
    pair p;
    alo_tls_config client = client_config();
    const alo_tls_config server = server_config(&good);
    harness_heap_init(&heap);
    client.maximum = version;
    assert_true(open_pair(&p, &heap.allocator, &client, &server, NULL));
    establish(&p);
    for (size_t at = 0; at < 3; at++) {
      exchange(&p, sizes[at]);
      uint64_t ours = heap.allocations + heap.resizes + heap.releases, theirs = openssl_calls;
      for (unsigned record = 0; record < RECORDS; record++)
        exchange(&p, sizes[at]);
      ours = heap.allocations + heap.resizes + heap.releases - ours;
      theirs = openssl_calls - theirs;
      print_message("TLS 1.%d, records of %zu: %.2f heap calls of OpenSSL, %.2f of ours\n",
                    version - 10, sizes[at], (double)theirs / RECORDS, (double)ours / RECORDS);
      assert_int_equal(ours, 0);
      assert_in_range(theirs, 0, (version == 12 ? 4 : 8) * RECORDS);
    }
    close_pair(&p);
    harness_heap_check(&heap);
  }
}

/* ---- files ---- */

static char path[64];

static alo_tls_pem file_of(const void *text, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
  return (alo_tls_pem){.file = aloft_text_of(path)};
}

static void refused(const alo_tls_config *config, const char *sentence) {
  char why[ALO_TLS_FAILURE_MAX] = "";
  alo_tls_context *context = (alo_tls_context *)1;
  assert_int_equal(alo_tls_context_open(&context, &alo_heap_default, config, why), ALOFT_ARGUMENT);
  assert_null(context);
  if (!strstr(why, sentence))
    fail_msg("not '%s' but '%s'", sentence, why);
  assert_int_equal(alo_tls_context_open(&context, &alo_heap_default, config, NULL), ALOFT_ARGUMENT);
}

static void authorities_refused(alo_tls_pem authorities, const char *sentence) {
  alo_tls_config config = client_config();
  config.authorities = authorities;
  refused(&config, sentence);
  config = client_config();
  config.expected = authorities;
  if (authorities.file.data == path)
    refused(&config, path);
}

static void test_files(void **state) {
  (void)state;
  char folder[64] = "/tmp/aloft-tls-XXXXXX";
  static char large[(4 << 20) + 1];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%.50s/file", folder);
  const alo_tls_pem itself = {.file = aloft_text_of(path)};
  authorities_refused(itself, "cannot open ");
  assert_int_equal(mkdir(path, 0700), 0);
  authorities_refused(itself, "is not a file");
  assert_int_equal(rmdir(path), 0);
  assert_int_equal(mkfifo(path, 0600), 0); /* that nobody writes to */
  authorities_refused(itself, "is not a file");
  assert_int_equal(unlink(path), 0);
  authorities_refused(file_of("", 0), "is empty");
  authorities_refused(file_of(large, sizeof large), "larger than 4 MiB");
  authorities_refused(file_of("no certificate", 14), "certificate 1 is not one in PEM");
  authorities_refused((alo_tls_pem){.file = {"a\0b", 3}}, "not valid");
  snprintf(large, sizeof large, "%s-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
           authority.text);
  alo_tls_config config = client_config();
  config.authorities = file_of(large, strlen(large));
  refused(&config, "certificate 2 is not one in PEM");
  config.authorities = file_of(authority.text, authority.size);
  alo_tls_context *context;
  assert_int_equal(alo_tls_context_open(&context, &alo_heap_default, &config, NULL), ALOFT_OK);
  alo_tls_context_give(context);
  unlink(path);
  rmdir(folder);
}

static const char *with_passphrase(const pem *of) {
  static char text[PEM_MAX];
  BIO *in = BIO_new_mem_buf(of->key, (int)of->key_size), *out = BIO_new(BIO_s_mem());
  EVP_PKEY *key = PEM_read_bio_PrivateKey(in, NULL, NULL, NULL);
  unsigned char word[] = "word";
  assert_int_equal(PEM_write_bio_PrivateKey(out, key, EVP_aes_128_cbc(), word, 4, NULL, NULL), 1);
  int size = BIO_read(out, text, sizeof text - 1);
  text[size] = 0;
  EVP_PKEY_free(key);
  BIO_free(in);
  BIO_free(out);
  return text;
}

static void test_keys(void **state) {
  (void)state;
  alo_tls_config config = server_config(&good);
  config.key = key_of_pem(&alone);
  refused(&config, "does not belong to the certificate");
  config.key = text_of_pem(&good);
  refused(&config, "holds no private key in PEM");
  const char *secret = with_passphrase(&good);
  config.key.text = (aloft_bytes){secret, strlen(secret)};
  refused(&config, "has a passphrase: give it without one");
  config.key.text = (aloft_bytes){NULL, 0};
  refused(&config, "give both");
  config = server_config(&good);
  config.certificate = key_of_pem(&good);
  refused(&config, "holds no certificate in PEM");
  config.certificate.text = (aloft_bytes){NULL, 0};
  refused(&config, "give both");
  static char chain[PEM_MAX];
  int size =
      snprintf(chain, sizeof chain,
               "%s-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", good.text);
  config = server_config(&good);
  config.certificate.text = (aloft_bytes){chain, (size_t)size};
  refused(&config, "certificate 2 is not one in PEM");
  config = server_config(&good);
  config.minimum = 11;
  refused(&config, "the versions of TLS are 12 and 13");
  config = client_config();
  config.alpn = ALOFT_TEXT("0123456789012345678901234567890123456789");
  refused(&config, "too long for ALPN");
}

static void test_orders_refused(void **state) {
  (void)state;
  alo_buffer certificate, key;
  const aloft_text names[] = {{"a\0b", 3}, {"", 0}};
  alo_buffer_init(&certificate, &alo_heap_default, PEM_MAX);
  alo_buffer_init(&key, &alo_heap_default, PEM_MAX);
  for (size_t at = 0; at < 2; at++) {
    const alo_tls_order order = {
        .subject = ALOFT_TEXT("s"), .names = &names[at], .name_count = 1, .until_s = 1};
    assert_int_equal(alo_tls_make_certificate(&order, &certificate, &key), ALOFT_ARGUMENT);
  }
  const alo_tls_order order = {.subject = ALOFT_TEXT("s"),
                               .until_s = 1,
                               .issuer = {"nonsense", 8},
                               .issuer_key = {"nonsense", 8}};
  assert_int_equal(alo_tls_make_certificate(&order, &certificate, &key), ALOFT_ARGUMENT);
  assert_int_equal(alo_buffer_size(&certificate), 0);
  char fingerprint[96];
  assert_false(alo_tls_fingerprint((aloft_bytes){"nonsense", 8}, fingerprint));
  alo_buffer_fini(&certificate);
  alo_buffer_fini(&key);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_name_that_is_verified),
      cmocka_unit_test(test_name_that_is_told),
      cmocka_unit_test(test_names_that_are_none),
      cmocka_unit_test(test_dates),
      cmocka_unit_test(test_chains),
      cmocka_unit_test(test_self_signed),
      cmocka_unit_test(test_expected),
      cmocka_unit_test(test_trust_any),
      cmocka_unit_test(test_client_certificates),
      cmocka_unit_test(test_versions),
      cmocka_unit_test(test_alpn),
      cmocka_unit_test(test_alpn_that_was_not_offered),
      cmocka_unit_test(test_not_tls),
      cmocka_unit_test(test_alerts),
      cmocka_unit_test(test_every_split),
      cmocka_unit_test(test_record_cut_everywhere),
      cmocka_unit_test(test_many_records_at_once),
      cmocka_unit_test(test_damaged_everywhere),
      cmocka_unit_test(test_handshake_spoiled_everywhere),
      cmocka_unit_test(test_ends),
      cmocka_unit_test(test_new_keys),
      cmocka_unit_test(test_no_second_handshake),
      cmocka_unit_test(test_flood_of_new_keys),
      cmocka_unit_test(test_message_in_many_records),
      cmocka_unit_test(test_records),
      cmocka_unit_test(test_batch),
      cmocka_unit_test(test_sent),
      cmocka_unit_test(test_lead),
      cmocka_unit_test(test_each_allocation_fails),
      cmocka_unit_test(test_no_heap_in_steady_state),
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_keys),
      cmocka_unit_test(test_orders_refused),
  };
  CRYPTO_set_mem_functions(openssl_allocate, openssl_resize, openssl_release);
  return cmocka_run_group_tests(tests, make_all, NULL);
}
