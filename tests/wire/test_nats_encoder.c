/* The outgoing side of the NATS protocol: what may be sent, its bytes, URLs, and INFO. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "guard.h"
#include "nats_encoder.h"
#include "nats_info.h"
#include "nats_parser.h"

/* ---- Subjects and headers. ---- */

static void test_subjects(void **state) {
  (void)state;
  static const struct {
    const char *subject;
    bool literal, wildcards;
  } subjects[] = {
      {"a", true, true},
      {"a.b-c_d.E$", true, true},
      {"caf\xc3\xa9.x", true, true},
      {"_INBOX.abc.1", true, true},
      {"", false, false},
      {".", false, false},
      {".a", false, false},
      {"a.", false, false},
      {"a..b", false, false},
      {"a b", false, false},
      {"a\tb", false, false},
      {"a\r\nPUB b 0", false, false},
      {"a\x01", false, false},
      {"a\x7f", false, false},
      {"*", false, true},
      {">", false, true},
      {"a.*.b", false, true},
      {"*.*.>", false, true},
      {"a.>", false, true},
      {"a.>.b", false, false},
      {">.a", false, false},
      {"a*", false, false},
      {"a.b>", false, false},
      {"a.*b.c", false, false},
      {"\xff", false, false},
      {"a.\xc3", false, false},
      {"\xed\xa0\x80", false, false}, /* a surrogate */
  };
  for (size_t i = 0; i < sizeof subjects / sizeof subjects[0]; i++) {
    const aloft_text subject = aloft_text_of(subjects[i].subject);
    assert_int_equal(alo_nats_subject_valid(subject, false), subjects[i].literal);
    assert_int_equal(alo_nats_subject_valid(subject, true), subjects[i].wildcards);
  }
  assert_false(alo_nats_subject_valid((aloft_text){0}, true));
  assert_false(alo_nats_subject_valid((aloft_text){"a\0b", 3}, true));

  char longest[ALO_NATS_SUBJECT_MAX + 1];
  memset(longest, 'x', sizeof longest);
  assert_true(alo_nats_subject_valid((aloft_text){longest, ALO_NATS_SUBJECT_MAX}, false));
  assert_false(alo_nats_subject_valid((aloft_text){longest, ALO_NATS_SUBJECT_MAX + 1}, false));
}

/* The rules again, byte by byte, for ASCII without wildcards. */
static bool plainly_valid(const char *subject, size_t size) {
  bool dot = true;
  for (size_t i = 0; i < size; i++) {
    const char byte = subject[i];
    if (byte <= ' ' || byte == 0x7f || byte == '*' || byte == '>' || (dot && byte == '.'))
      return false;
    dot = byte == '.';
  }
  return !dot;
}

/* Any byte at any place of a subject of any length that is read in one way or another. */
static void test_each_byte_of_subjects(void **state) {
  (void)state;
  for (size_t size = 1; size <= 26; size++) {
    guard_buffer block = guard_take(size);
    char *text = (char *)block.data;
    for (size_t at = 0; at < 128 * size; at++) {
      memset(text, 'b', size);
      if (size > 3)
        text[size / 2] = '.';
      text[at % size] = (char)(at / size);
      const bool expected = plainly_valid(text, size);
      assert_int_equal(alo_nats_subject_valid((aloft_text){text, size}, false), expected);
      if (text[at % size] != '*' && text[at % size] != '>')
        assert_int_equal(alo_nats_subject_valid((aloft_text){text, size}, true), expected);
      text[at % size] = (char)(at / size | 0x80);
      assert_false(alo_nats_subject_valid((aloft_text){text, size}, true));
    }
    guard_give(&block);
  }
}

static bool header_valid(const char *name, const char *value) {
  const aloft_nats_header header = {aloft_text_of(name), aloft_text_of(value)};
  return alo_nats_header_valid(&header);
}

/* Dots and what is not allowed, together and anywhere, in subjects that are read in one, two or
 * more pieces. */
static void test_random_subjects(void **state) {
  (void)state;
  static const char some[] = "ab.z.a~!*> \x7F\x01";
  uint64_t random = 88172645463325252u;
  for (size_t size = 1; size <= 70; size++) {
    guard_buffer block = guard_take(size);
    char *text = (char *)block.data;
    for (int i = 0; i < 20000; i++) {
      const unsigned kinds = i % 2 ? sizeof some - 1 : 8; /* half of them without the unfit */
      for (size_t at = 0; at < size; at++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        text[at] = random % 5 ? 'b' : some[random / 5 % kinds];
      }
      assert_int_equal(alo_nats_subject_valid((aloft_text){text, size}, false),
                       plainly_valid(text, size));
    }
    guard_give(&block);
  }
}

static void test_header_validity(void **state) {
  (void)state;
  assert_true(header_valid("Nats-Service-Error", "any text: even caf\xc3\xa9"));
  assert_true(header_valid("!#$%&'*+-.^_`|~09azAZ", ""));
  assert_true(header_valid("A", "b\tc d"));
  assert_true(header_valid("A", NULL));
  static const char *const bad_names[] = {"",         "a b", "a:", "a\r", "a\n",
                                          "\xc3\xa9", "a\"", "(",  "\x7f"};
  for (size_t i = 0; i < sizeof bad_names / sizeof bad_names[0]; i++)
    assert_false(header_valid(bad_names[i], "x"));
  static const char *const bad_values[] = {"\r", "a\nb", "a\r\nB: c", " a", "a ", "\ta", "a\t"};
  for (size_t i = 0; i < sizeof bad_values / sizeof bad_values[0]; i++)
    assert_false(header_valid("A", bad_values[i]));
  const aloft_nats_header nul = {ALOFT_TEXT("A"), {"a\0b", 3}};
  assert_false(alo_nats_header_valid(&nul));
  const aloft_nats_header nul_name = {{"a\0", 2}, ALOFT_TEXT("x")};
  assert_false(alo_nats_header_valid(&nul_name));
}

/* ---- PUB and HPUB. ---- */

/* Encodes into room of exactly the size announced. */
static void encode(const aloft_nats_message *message, char *text, size_t *size) {
  *size = alo_nats_pub_size(message);
  guard_buffer out = guard_take(*size);
  alo_nats_pub_write(message, out.data);
  memcpy(text, out.data, *size);
  guard_give(&out);
}

static void check_pub(const aloft_nats_message *message, const char *expected) {
  char text[1024];
  size_t size;
  encode(message, text, &size);
  assert_int_equal(size, strlen(expected));
  assert_memory_equal(text, expected, size);
}

static void test_pub(void **state) {
  (void)state;
  const aloft_nats_header two[] = {{ALOFT_TEXT("A"), ALOFT_TEXT("b")},
                                   {ALOFT_TEXT("Empty"), {NULL, 0}}};
  aloft_nats_message message = {.subject = ALOFT_TEXT("orders.new")};
  check_pub(&message, "PUB orders.new 0\r\n\r\n");
  message.data = (aloft_bytes){"hello", 5};
  check_pub(&message, "PUB orders.new 5\r\nhello\r\n");
  message.reply = ALOFT_TEXT("_INBOX.x.1");
  check_pub(&message, "PUB orders.new _INBOX.x.1 5\r\nhello\r\n");
  message.header = two;
  message.header_count = 2;
  check_pub(&message, "HPUB orders.new _INBOX.x.1 27 32\r\nNATS/1.0\r\nA: b\r\nEmpty: \r\n\r\n"
                      "hello\r\n");
  message.reply = (aloft_text){0};
  message.data = (aloft_bytes){0};
  message.header_count = 1;
  check_pub(&message, "HPUB orders.new 18 18\r\nNATS/1.0\r\nA: b\r\n\r\n\r\n");
  assert_int_equal(alo_nats_headers_size(two, 1), 18);
  assert_int_equal(alo_nats_headers_size(two, 0), 0);
  alo_nats_headers_write(two, 0, NULL);
}

/* An independent look at what was written: the line by sscanf, the rest by counting. */
static void check_pub_form(const char *text, size_t size, const aloft_nats_message *message) {
  char line[256], command[8], subject[64], reply[64];
  size_t first = 0, second = 0;
  const char *end = strstr(text, "\r\n");
  assert_non_null(end);
  const size_t line_size = (size_t)(end - text);
  memcpy(line, text, line_size);
  line[line_size] = '\0';
  const bool headers = message->header_count > 0;
  if (headers)
    assert_int_equal(
        sscanf(line, "%7s %63s %63s %zu %zu", command, subject, reply, &first, &second), 5);
  else
    assert_int_equal(sscanf(line, "%7s %63s %63s %zu", command, subject, reply, &second), 4);
  assert_string_equal(command, headers ? "HPUB" : "PUB");
  assert_int_equal(second, first + message->data.size);
  assert_int_equal(line_size + 2 + second + 2, size);
  assert_memory_equal(text + line_size + 2 + first, message->data.data, message->data.size);
  assert_memory_equal(text + size - 2, "\r\n", 2);
  if (headers)
    assert_memory_equal(text + line_size + 2 + first - 4, "\r\n\r\n", 4);
}

static void test_pub_of_all_sizes(void **state) {
  (void)state;
  static char data[1200], text[2048];
  memset(data, 'x', sizeof data);
  const aloft_nats_header header = {ALOFT_TEXT("Name"), {data, 60}};
  for (size_t size = 0; size <= sizeof data; size++) {
    aloft_nats_message message = {.subject = ALOFT_TEXT("a.subject"),
                                  .reply = ALOFT_TEXT("a.reply"),
                                  .data = {data, size},
                                  .header = &header};
    for (message.header_count = 0; message.header_count < 2; message.header_count++) {
      size_t written;
      encode(&message, text, &written);
      text[written] = '\0';
      check_pub_form(text, written, &message);
    }
  }
}

/* Written in one go, and the other way, it is what is written here without the encoder. */
static void check_plain(aloft_text subject, aloft_text reply, aloft_bytes data) {
  const aloft_nats_message message = {.subject = subject, .reply = reply, .data = data};
  char expected[2048], text[2048];
  size_t size, wanted = (size_t)snprintf(expected, sizeof expected, "PUB %.*s %.*s%s%zu\r\n",
                                         ALOFT_PRINT(subject), ALOFT_PRINT(reply),
                                         reply.size ? " " : "", data.size);
  if (data.size)
    memcpy(expected + wanted, data.data, data.size);
  memcpy(expected + wanted + data.size, "\r\n", 2);
  wanted += data.size + 2;
  encode(&message, text, &size);
  assert_int_equal(size, wanted);
  assert_memory_equal(text, expected, wanted);
  guard_buffer out = guard_take(alo_nats_plain_pub_room(subject, reply, data));
  const uint8_t *end = alo_nats_plain_pub_write(subject, reply, data, out.data);
  assert_int_equal(end - (uint8_t *)out.data, wanted);
  assert_memory_equal(out.data, expected, wanted);
  guard_give(&out);
}

static void test_plain_pub(void **state) {
  (void)state;
  char letters[1200];
  for (size_t i = 0; i < sizeof letters; i++)
    letters[i] = (char)('a' + i % 23);
  for (size_t size = 0; size <= sizeof letters; size += size < 70 ? 1 : 113) {
    guard_buffer given = guard_copy(letters, size);
    const aloft_text text = {(const char *)given.data, size};
    const aloft_text usual = ALOFT_TEXT("a.subject"), none = {NULL, 0};
    check_plain(usual, none, (aloft_bytes){size ? given.data : NULL, size});
    check_plain(usual, ALOFT_TEXT("a.reply"), (aloft_bytes){given.data, size});
    if (size > 0) {
      check_plain(text, none, (aloft_bytes){"x", 1});
      check_plain(usual, text, (aloft_bytes){NULL, 0});
    }
    guard_give(&given);
  }
}

/* The headers that the encoder writes are those that the reader finds. */
static void test_headers_come_back(void **state) {
  (void)state;
  const aloft_nats_header sent[] = {{ALOFT_TEXT("A"), ALOFT_TEXT("b")},
                                    {ALOFT_TEXT("a"), ALOFT_TEXT("")},
                                    {ALOFT_TEXT("Long-Name"), ALOFT_TEXT("x: y  z")}};
  guard_buffer block = guard_take(alo_nats_headers_size(sent, 3));
  alo_nats_headers_write(sent, 3, block.data);
  const aloft_text text = {block.data, block.size};
  int32_t status = -1;
  assert_true(alo_nats_headers_status(text, &status));
  assert_int_equal(status, 0);
  size_t cursor = 0;
  aloft_nats_header header;
  for (size_t i = 0; i < 3; i++) {
    assert_true(alo_nats_headers_next(text, &cursor, &header));
    assert_true(aloft_text_equal(header.name, sent[i].name));
    assert_true(aloft_text_equal(header.value, sent[i].value));
  }
  assert_false(alo_nats_headers_next(text, &cursor, &header));
  guard_give(&block);
}

/* ---- SUB, UNSUB, CONNECT. ---- */

static void check_sub(aloft_text queue, uint64_t sid, const char *expected) {
  guard_buffer out = guard_take(alo_nats_sub_size(ALOFT_TEXT("a.*"), queue, sid));
  alo_nats_sub_write(ALOFT_TEXT("a.*"), queue, sid, out.data);
  assert_int_equal(out.size, strlen(expected));
  assert_memory_equal(out.data, expected, out.size);
  guard_give(&out);
}

static void test_sub(void **state) {
  (void)state;
  check_sub((aloft_text){0}, 1, "SUB a.* 1\r\n");
  check_sub(ALOFT_TEXT(""), 0, "SUB a.* 0\r\n");
  check_sub(ALOFT_TEXT("workers"), 10, "SUB a.* workers 10\r\n");
  check_sub((aloft_text){0}, UINT64_MAX, "SUB a.* 18446744073709551615\r\n");
}

static void check_unsub(uint64_t sid, uint64_t after, const char *expected) {
  guard_buffer out = guard_take(ALO_NATS_UNSUB_ROOM);
  const size_t size = alo_nats_unsub_write(sid, after, out.data);
  assert_int_equal(size, strlen(expected));
  assert_memory_equal(out.data, expected, size);
  guard_give(&out);
}

static void test_unsub(void **state) {
  (void)state;
  check_unsub(7, 0, "UNSUB 7\r\n");
  check_unsub(99, 100, "UNSUB 99 100\r\n");
  check_unsub(UINT64_MAX, UINT64_MAX, "UNSUB 18446744073709551615 18446744073709551615\r\n");
}

static void check_connect(const alo_nats_connect *connect, const char *expected) {
  const size_t size = strlen(expected);
  assert_int_equal(alo_nats_connect_write(connect, NULL, 0), size);
  guard_buffer out = guard_take(size);
  memset(out.data, '?', size);
  assert_int_equal(alo_nats_connect_write(connect, out.data, size - 1), size);
  for (size_t i = 0; i < size; i++)
    assert_int_equal(((char *)out.data)[i], '?');
  assert_int_equal(alo_nats_connect_write(connect, out.data, size), size);
  assert_memory_equal(out.data, expected, size);
  guard_give(&out);
}

static void test_connect(void **state) {
  (void)state;
  check_connect(&(alo_nats_connect){0},
                "CONNECT {\"verbose\":false,\"pedantic\":false,\"tls_required\":false,"
                "\"lang\":\"c\",\"protocol\":1,\"echo\":true,\"headers\":false,"
                "\"no_responders\":false}\r\n");
  check_connect(&(alo_nats_connect){.user = ALOFT_TEXT("ann"),
                                    .password = ALOFT_TEXT("a\"b\\c\r\n"),
                                    .name = ALOFT_TEXT(""),
                                    .version = ALOFT_TEXT("0.1.0"),
                                    .no_echo = true,
                                    .headers = true},
                "CONNECT {\"verbose\":false,\"pedantic\":false,\"tls_required\":false,"
                "\"user\":\"ann\",\"pass\":\"a\\\"b\\\\c\\r\\n\",\"name\":\"\",\"lang\":\"c\","
                "\"version\":\"0.1.0\",\"protocol\":1,\"echo\":false,\"headers\":true,"
                "\"no_responders\":true}\r\n");
  check_connect(&(alo_nats_connect){.token = ALOFT_TEXT("s3cret")},
                "CONNECT {\"verbose\":false,\"pedantic\":false,\"tls_required\":false,"
                "\"auth_token\":\"s3cret\",\"lang\":\"c\",\"protocol\":1,\"echo\":true,"
                "\"headers\":false,\"no_responders\":false}\r\n");
}

/* In its place, and nothing else moves. */
static void test_connect_encrypted(void **state) {
  (void)state;
  uint8_t line[512];
  const alo_nats_connect connect = {.user = ALOFT_TEXT("ann")};
  size_t size = alo_nats_connect_write(&connect, line, sizeof line);
  alo_nats_connect_encrypted(line);
  static const char expected[] =
      "CONNECT {\"verbose\":false,\"pedantic\":false,\"tls_required\": true,\"user\":\"ann\","
      "\"lang\":\"c\",\"protocol\":1,\"echo\":true,\"headers\":false,\"no_responders\":false}\r\n";
  assert_int_equal(size, sizeof expected - 1);
  assert_memory_equal(line, expected, size);
}

/* ---- URLs. ---- */

static void append_part(char *out, const char *name, aloft_text part) {
  if (part.data != NULL)
    sprintf(out + strlen(out), "%s=%.*s ", name, ALOFT_PRINT(part));
}

static void describe(const alo_nats_url *url, char *out) {
  out[0] = '\0';
  append_part(out, "user", url->user);
  append_part(out, "password", url->password);
  append_part(out, "token", url->token);
  append_part(out, "host", url->host);
  sprintf(out + strlen(out), "port=%u%s", (unsigned)url->port, url->tls ? " tls" : "");
}

static const struct {
  const char *url, *parts;
} good_urls[] = {
    {"nats://localhost", "host=localhost port=4222"},
    {"NATS://localhost:1", "host=localhost port=1"},
    {"localhost", "host=localhost port=4222"},
    {"localhost:65535", "host=localhost port=65535"},
    {"127.0.0.1:04222", "host=127.0.0.1 port=4222"},
    {"nats://demo.nats.io:4333/", "host=demo.nats.io port=4333"},
    {"tls://a-b_c.d~e", "host=a-b_c.d~e port=4222 tls"},
    {"Tls://h:5", "host=h port=5 tls"},
    {"nats://ann:secret@h", "user=ann password=secret host=h port=4222"},
    {"ann:secret@h:5", "user=ann password=secret host=h port=5"},
    {"nats://ann:@h", "user=ann password= host=h port=4222"},
    {"nats://s3cret@h:5", "token=s3cret host=h port=5"},
    {"nats://ann:a:b@c@h", "user=ann password=a:b@c host=h port=4222"},
    {"nats://a%6En:%2f%40@h", "user=a%6En password=%2f%40 host=h port=4222"},
    {"nats://[::1]", "host=::1 port=4222"},
    {"nats://[fe80::1:2]:5/", "host=fe80::1:2 port=5"},
    {"[::ffff:127.0.0.1]:5", "host=::ffff:127.0.0.1 port=5"},
    {"nats://t@[::1]:5", "token=t host=::1 port=5"},
};

static void test_good_urls(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof good_urls / sizeof good_urls[0]; i++) {
    guard_buffer copy = guard_copy(good_urls[i].url, strlen(good_urls[i].url));
    alo_nats_url url;
    char parts[256];
    assert_null(alo_nats_url_parse((aloft_text){copy.data, copy.size}, &url));
    describe(&url, parts);
    assert_string_equal(parts, good_urls[i].parts);
    guard_give(&copy);
  }
}

static const struct {
  const char *url, *word; /* that the complaint has */
} bad_urls[] = {
    {"", "empty"},
    {"nats://", "no host"},
    {"nats://:4222", "no host"},
    {"nats:///", "no host"},
    {"nats://ann:x@", "no host"},
    {"nats://ann:x@:5", "no host"},
    {"ws://h", "WebSocket"},
    {"WSS://h", "WebSocket"},
    {"http://h", "scheme"},
    {"natss://h", "scheme"},
    {"://h", "scheme"},
    {"nats://h:", "port"},
    {"nats://h:0", "port"},
    {"nats://h:65536", "port"},
    {"nats://h:99999999999999999999", "port"},
    {"nats://h:4222x", "port"},
    {"nats://h:-1", "port"},
    {"nats://h: 1", "port"},
    {"nats://[::1]:x", "port"},
    {"nats://[::1]:", "port"},
    {"nats://h/path", "goes on"},
    {"nats://h?x", "goes on"},
    {"nats://h#x", "goes on"},
    {"nats://ann:a/b@h", "goes on"},
    {"nats://[::1]5", "goes on"},
    {"nats://::1", "IPv6"},
    {"nats://1:2:3", "IPv6"},
    {"nats://[::1", "']'"},
    {"nats://[]", "IPv6"},
    {"nats://[1.2.3.4]", "IPv6"},
    {"nats://[::g]", "IPv6"},
    {"nats://[::1%25lo]", "IPv6"},
    {"nats://a,nats://b", "goes on"},
    {"nats://a,b", "one server"},
    {"nats://a b", "host"},
    {"nats://h%41", "host"},
    {"nats://@h", "no user"},
    {"nats://:secret@h", "no user"},
    {"nats://a%:b@h", "%25"},
    {"nats://a:b%4@h", "%25"},
    {"nats://a:b%4g@h", "%25"},
    {"nats://a%g4@h", "%25"},
    {"nats://a b:c@h", "blank"},
    {"nats://a:\x7f@h", "blank"},
};

static void test_bad_urls(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof bad_urls / sizeof bad_urls[0]; i++) {
    guard_buffer copy = guard_copy(bad_urls[i].url, strlen(bad_urls[i].url));
    alo_nats_url url;
    const char *wrong = alo_nats_url_parse((aloft_text){copy.data, copy.size}, &url);
    assert_non_null(wrong);
    if (strstr(wrong, bad_urls[i].word) == NULL)
      fail_msg("%s: %s", bad_urls[i].url, wrong);
    guard_give(&copy);
  }
  alo_nats_url url;
  assert_non_null(alo_nats_url_parse((aloft_text){0}, &url));
}

static void test_percent_decoding(void **state) {
  (void)state;
  char out[32];
  assert_int_equal(alo_nats_url_decode(ALOFT_TEXT("a%2Fb%40%c3%A9%00"), out), 7);
  assert_memory_equal(out, "a/b@\xc3\xa9\0", 7);
  assert_int_equal(alo_nats_url_decode((aloft_text){0}, out), 0);
  static const char *const bad[] = {"%", "a%4", "%4g", "%g4", "%%41"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    guard_buffer copy = guard_copy(bad[i], strlen(bad[i]));
    assert_true(alo_nats_url_decode((aloft_text){copy.data, copy.size}, out) == SIZE_MAX);
    guard_give(&copy);
  }
  char same[] = "%41%42c";
  assert_int_equal(alo_nats_url_decode((aloft_text){same, 7}, same), 3);
  assert_memory_equal(same, "ABc", 3);
}

/* ---- INFO. ---- */

static void test_info(void **state) {
  (void)state;
  alo_nats_info info;
  assert_null(alo_nats_info_parse(
      ALOFT_TEXT("{\"server_id\":\"NID\",\"server_name\":\"a\\u0026b\",\"version\":\"2.9.10\","
                 "\"go\":\"x\",\"host\":\"127.0.0.1\",\"port\":4222,\"headers\":true,"
                 "\"auth_required\":true,\"tls_required\":true,\"tls_available\":true,"
                 "\"max_payload\":1048576,\"proto\":1,\"nonce\":\"n0nce\",\"ldm\":true,"
                 "\"connect_urls\":[\"a:1\",{\"b\":[]}]}"),
      &info));
  assert_true(info.headers && info.auth_required && info.tls_required && info.tls_available);
  assert_true(info.lame_duck);
  assert_int_equal(info.max_payload, 1048576);
  assert_int_equal(info.proto, 1);
  assert_true(aloft_text_equal(info.server_id, ALOFT_TEXT("NID")));
  assert_true(aloft_text_equal(info.version, ALOFT_TEXT("2.9.10")));
  assert_true(aloft_text_equal(info.nonce, ALOFT_TEXT("n0nce")));
  char name[32];
  assert_int_equal(alo_nats_info_text(info.server_name, name), 3);
  assert_memory_equal(name, "a&b", 3);
  assert_int_equal(alo_nats_info_text(info.version, name), 6);
  assert_memory_equal(name, "2.9.10", 6);

  assert_null(alo_nats_info_parse(ALOFT_TEXT(" { } "), &info));
  assert_null(info.server_id.data);
  assert_false(info.headers);
  assert_int_equal(alo_nats_info_text(info.server_id, name), 0);
}

static void test_bad_info(void **state) {
  (void)state;
  static const char *const bad[] = {
      "",
      "[]",
      "1",
      "{",
      "{}x",
      "{\"a\"}",
      "{\"a\":}",
      "{\"a\":[1,}",
      "{\"a\":1",
      "{\"headers\":1}",
      "{\"headers\":\"true\"}",
      "{\"auth_required\":null}",
      "{\"tls_required\":0}",
      "{\"tls_available\":{}}",
      "{\"ldm\":[]}",
      "{\"max_payload\":-1}",
      "{\"max_payload\":1.5}",
      "{\"max_payload\":\"1\"}",
      "{\"max_payload\":9223372036854775808}",
      "{\"proto\":true}",
      "{\"server_id\":1}",
      "{\"server_name\":{}}",
      "{\"version\":\"\\ud800\"}",
      "{\"nonce\":null}",
      "{\"nonce\":\"\xff\"}",
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    alo_nats_info info;
    if (alo_nats_info_parse(aloft_text_of(bad[i]), &info) == NULL)
      fail_msg("accepted: %s", bad[i]);
  }
}

/* Each recording begins with the server's INFO. */
static void test_recorded_info(void **state) {
  (void)state;
  char bytes[8192];
  FILE *file = fopen(ALOFT_SOURCE_DIR "/tests/wire/recordings/nats/lame_duck.txt", "rb");
  assert_non_null(file);
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  alo_nats_parser parser;
  alo_nats_parser_init(&parser, NULL);
  alo_nats_info info = {0};
  size_t infos = 0, at = 0, consumed;
  alo_nats_event event;
  while (alo_nats_parser_next(&parser, (uint8_t *)bytes + at, size - at, &consumed, &event) !=
         ALO_NATS_NEED) {
    at += consumed;
    if (event.kind != ALO_NATS_INFO)
      continue;
    assert_null(alo_nats_info_parse((aloft_text){event.data.data, event.data.size}, &info));
    assert_int_equal(info.lame_duck, infos++ == 1);
    assert_true(aloft_text_equal(info.server_name, ALOFT_TEXT("recorded")));
    assert_int_equal(info.max_payload, 1048576);
    assert_true(info.headers && !info.auth_required);
  }
  assert_int_equal(infos, 2);
  assert_int_equal(at, size);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_subjects),
      cmocka_unit_test(test_each_byte_of_subjects),
      cmocka_unit_test(test_random_subjects),
      cmocka_unit_test(test_plain_pub),
      cmocka_unit_test(test_header_validity),
      cmocka_unit_test(test_pub),
      cmocka_unit_test(test_pub_of_all_sizes),
      cmocka_unit_test(test_headers_come_back),
      cmocka_unit_test(test_sub),
      cmocka_unit_test(test_unsub),
      cmocka_unit_test(test_connect),
      cmocka_unit_test(test_connect_encrypted),
      cmocka_unit_test(test_good_urls),
      cmocka_unit_test(test_bad_urls),
      cmocka_unit_test(test_percent_decoding),
      cmocka_unit_test(test_info),
      cmocka_unit_test(test_bad_info),
      cmocka_unit_test(test_recorded_info),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
