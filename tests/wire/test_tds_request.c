/* PRELOGIN, LOGIN7, batches and transaction requests: written and read back, the documents'
 * examples, recorded requests, and what a hostile client may send. */
#include "tds_message.h"

#include <stdio.h>
#include <aloft/json.h>

#include "tds_request.h"

enum { FILE_MAX = 1 << 20 };

static tds_output output;

static int set_up(void **state) {
  (void)state;
  tds_output_init(&output, ALO_TDS_PACKET_DEFAULT, 1 << 20);
  alo_tds_message_begin(&output.writer, ALO_TDS_PRELOGIN, 0);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  tds_output_fini(&output);
  return 0;
}

/* ---- PRELOGIN ---- */

static void test_prelogin_of_a_client(void **state) {
  (void)state;
  alo_tds_prelogin sent = {.version = {16, 0, 0x12, 0x34, 5, 6},
                           .encryption = ALO_TDS_ENCRYPT_NOT_SUP,
                           .mars = true,
                           .fed_auth_required = true,
                           .instance = ALOFT_TEXT("SQLEXPRESS"),
                           .thread_id = 0x01020304};
  alo_tds_prelogin got;
  alo_tds_put_prelogin(&output.writer, &sent, false);
  guard_buffer payload = tds_output_payload(&output);
  assert_null(alo_tds_parse_prelogin(guard_bytes(&payload), &got));
  assert_memory_equal(got.version, sent.version, sizeof sent.version);
  assert_int_equal(got.encryption, ALO_TDS_ENCRYPT_NOT_SUP);
  assert_true(got.has_encryption && got.mars && got.fed_auth_required);
  assert_text(got.instance, "SQLEXPRESS");
  assert_int_equal(got.thread_id, 0x01020304);
  guard_give(&payload);
}

static void test_prelogin_of_a_server(void **state) {
  (void)state;
  static const uint8_t expected[] = {0, 0, 26, 0, 6,  1, 0, 32,   0,  1, 2, 0, 33, 0, 1, 3, 0, 34,
                                     0, 0, 4,  0, 34, 0, 1, 0xFF, 16, 0, 1, 2, 0,  0, 2, 0, 0};
  alo_tds_prelogin sent = {.version = {16, 0, 1, 2}, .encryption = ALO_TDS_ENCRYPT_NOT_SUP};
  alo_tds_prelogin got;
  alo_tds_put_prelogin(&output.writer, &sent, true);
  guard_buffer payload = tds_output_payload(&output);
  assert_int_equal(payload.size, sizeof expected);
  assert_memory_equal(payload.data, expected, sizeof expected);
  assert_null(alo_tds_parse_prelogin(guard_bytes(&payload), &got));
  assert_int_equal(got.instance.size, 0);
  assert_false(got.mars || got.fed_auth_required);
  guard_give(&payload);
}

static void test_prelogin_cut_anywhere(void **state) {
  (void)state;
  alo_tds_prelogin sent = {.instance = ALOFT_TEXT("X"), .fed_auth_required = true};
  alo_tds_prelogin got;
  alo_tds_put_prelogin(&output.writer, &sent, false);
  guard_buffer payload = tds_output_payload(&output);
  for (size_t size = 0; size < payload.size; size++) {
    guard_buffer cut = guard_copy(payload.data, size);
    assert_non_null(alo_tds_parse_prelogin(guard_bytes(&cut), &got));
    guard_give(&cut);
  }
  guard_give(&payload);
}

static void test_prelogin_that_is_wrong(void **state) {
  (void)state;
  static const struct {
    const char *reason;
    uint8_t bytes[16];
    size_t size;
  } cases[] = {
      {"there is no VERSION", {0xFF}, 1},
      {"VERSION is not", {0, 0, 6, 0, 5, 0xFF, 1, 2, 3, 4, 5}, 11},
      {"ENCRYPTION is not", {1, 0, 6, 0, 2, 0xFF, 1, 2}, 8},
      {"INSTOPT does not", {2, 0, 6, 0, 2, 0xFF, 'a', 'b'}, 8},
      {"THREADID is", {3, 0, 6, 0, 2, 0xFF, 1, 2}, 8},
      {"a flag is over", {4, 0, 6, 0, 2, 0xFF, 1, 2}, 8},
      {"a flag is over", {6, 0, 6, 0, 2, 0xFF, 1, 2}, 8},
      {"outside", {9, 0, 6, 0xFF, 0xFF, 0xFF}, 6},
      {"outside", {9, 0xFF, 0xFF, 0, 0, 0xFF}, 6},
      {"outside", {9, 0, 7, 0, 0, 0xFF}, 6},
      {"has no end", {9, 0, 5, 0, 0}, 5},
      {"is cut", {9, 0, 6, 0}, 4},
  };
  alo_tds_message_end(&output.writer);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    alo_tds_prelogin got;
    guard_buffer payload = guard_copy(cases[i].bytes, cases[i].size);
    const char *wrong = alo_tds_parse_prelogin(guard_bytes(&payload), &got);
    assert_non_null(wrong);
    assert_non_null(strstr(wrong, cases[i].reason));
    guard_give(&payload);
  }
}

static void test_prelogin_options_may_overlap_or_be_unknown(void **state) {
  (void)state;
  static const uint8_t bytes[] = {0, 0, 16, 0,  6,    1, 0, 16, 0, 1, 0x77,
                                  0, 0, 0,  22, 0xFF, 1, 2, 3,  4, 5, 6};
  alo_tds_prelogin got;
  alo_tds_message_end(&output.writer);
  assert_null(alo_tds_parse_prelogin((aloft_bytes){bytes, sizeof bytes}, &got));
  assert_int_equal(got.encryption, 1);
}

static void test_prelogin_instance_with_a_nul(void **state) {
  (void)state;
  alo_tds_prelogin sent = {.instance = ALOFT_TEXT("a\0b")};
  alo_tds_put_prelogin(&output.writer, &sent, false);
  assert_int_equal(alo_tds_message_end(&output.writer), ALOFT_ARGUMENT);
}

/* ---- LOGIN7 ---- */

static const alo_tds_login full_login = {
    .packet_size = 8000,
    .client_pid = 4242,
    .lcid = 0x0409,
    .type_flags = 0x20,
    .host = {"höst", 5},
    .user = {"sa", 2},
    .password = {"p€ss😀", 10},
    .application = {"tests", 5},
    .server = {"srv", 3},
    .library = {"Aloft", 5},
    .language = {"deutsch", 7},
    .database = {"日本", 6},
    .new_password = {"new", 3},
    .attach_file = {"c:\\x.mdf", 8},
    .utf8_feature = true,
    .json_feature = 1,
};

static guard_buffer login_payload(const alo_tds_login *login) {
  alo_tds_put_login(&output.writer, login);
  return tds_output_payload(&output);
}

/* Reads with exactly the room that the contract promises to be enough. */
static const char *read_login(aloft_bytes payload, alo_tds_login *login, guard_buffer *memory,
                              const char **unsupported) {
  *memory = guard_take(2 * payload.size);
  return alo_tds_parse_login(payload, login, memory->data, memory->size, unsupported);
}

static void check_texts(const alo_tds_login *got, const alo_tds_login *sent) {
  assert_true(aloft_text_equal(got->host, sent->host));
  assert_true(aloft_text_equal(got->user, sent->user));
  assert_true(aloft_text_equal(got->password, sent->password));
  assert_true(aloft_text_equal(got->application, sent->application));
  assert_true(aloft_text_equal(got->server, sent->server));
  assert_true(aloft_text_equal(got->library, sent->library));
  assert_true(aloft_text_equal(got->language, sent->language));
  assert_true(aloft_text_equal(got->database, sent->database));
  assert_true(aloft_text_equal(got->new_password, sent->new_password));
  assert_true(aloft_text_equal(got->attach_file, sent->attach_file));
}

static void test_login_with_everything(void **state) {
  (void)state;
  alo_tds_login got;
  guard_buffer memory;
  const char *unsupported;
  guard_buffer payload = login_payload(&full_login);
  assert_null(read_login(guard_bytes(&payload), &got, &memory, &unsupported));
  assert_null(unsupported);
  check_texts(&got, &full_login);
  assert_int_equal(got.tds_version, ALO_TDS_VERSION_7_4);
  assert_int_equal(got.packet_size, 8000);
  assert_int_equal(got.client_pid, 4242);
  assert_int_equal(got.lcid, 0x0409);
  assert_int_equal(got.option_flags1, 0xE0);
  assert_int_equal(got.option_flags2, 0x03);
  assert_int_equal(got.type_flags, 0x20);
  assert_int_equal(got.option_flags3, 0x11);
  assert_true(got.utf8_feature);
  assert_int_equal(got.json_feature, 1);
  guard_give(&memory);
  guard_give(&payload);
}

static void test_login_with_nothing(void **state) {
  (void)state;
  alo_tds_login got;
  guard_buffer memory;
  const char *unsupported;
  alo_tds_login sent = {.tds_version = 0};
  guard_buffer payload = login_payload(&sent);
  assert_int_equal(payload.size, 94);
  assert_null(read_login(guard_bytes(&payload), &got, &memory, &unsupported));
  assert_int_equal(got.packet_size, ALO_TDS_PACKET_DEFAULT);
  assert_int_equal(got.option_flags3, 0);
  assert_int_equal(got.user.size, 0);
  assert_false(got.utf8_feature);
  assert_int_equal(got.json_feature, 0);
  guard_give(&memory);
  guard_give(&payload);
}

static void test_login_layout(void **state) {
  (void)state;
  alo_tds_login sent = {.user = ALOFT_TEXT("u"), .password = ALOFT_TEXT("a")};
  guard_buffer payload = login_payload(&sent);
  const uint8_t *bytes = payload.data;
  assert_int_equal(payload.size, 98);
  assert_int_equal(bytes[0], 98); /* Length */
  assert_memory_equal(bytes + 4, "\x04\x00\x00\x74", 4);
  assert_memory_equal(bytes + 40, "\x5E\x00\x01\x00", 4); /* user at 94 */
  assert_memory_equal(bytes + 44, "\x60\x00\x01\x00", 4); /* password at 96 */
  assert_memory_equal(bytes + 48, "\x62\x00\x00\x00", 4); /* application at 98 */
  assert_memory_equal(bytes + 94, "u\0\xB3\xA5", 4);      /* "a": 61 00, nibbles, XOR A5 */
  guard_give(&payload);
}

static aloft_status end_of_login(aloft_text user, aloft_text password, aloft_text file) {
  alo_tds_login login = {.user = user, .password = password, .attach_file = file};
  tds_output local;
  tds_output_init(&local, ALO_TDS_PACKET_DEFAULT, 1 << 16);
  alo_tds_message_begin(&local.writer, ALO_TDS_LOGIN7, 0);
  alo_tds_put_login(&local.writer, &login);
  aloft_status status = alo_tds_message_end(&local.writer);
  tds_output_fini(&local);
  return status;
}

static void test_login_text_limits(void **state) {
  (void)state;
  char text[3 * 261];
  aloft_text none = {NULL, 0};
  alo_tds_message_end(&output.writer);
  for (size_t i = 0; i < 261; i++) {
    memcpy(text + 3 * i, "€", 3);
  }
  aloft_text at_limit = {text, (size_t)3 * 128};
  aloft_text over = {text, (size_t)3 * 129};
  assert_int_equal(end_of_login(at_limit, at_limit, (aloft_text){text, (size_t)3 * 260}), ALOFT_OK);
  assert_int_equal(end_of_login(over, none, none), ALOFT_ARGUMENT);
  assert_int_equal(end_of_login(none, over, none), ALOFT_ARGUMENT);
  assert_int_equal(end_of_login(none, none, (aloft_text){text, (size_t)3 * 261}), ALOFT_ARGUMENT);
  assert_int_equal(end_of_login(none, ALOFT_TEXT("\xC3"), none), ALOFT_ARGUMENT);
}

static void test_login_cut_anywhere(void **state) {
  (void)state;
  guard_buffer payload = login_payload(&full_login);
  for (size_t size = 0; size < payload.size; size++) {
    alo_tds_login got;
    guard_buffer memory;
    const char *unsupported;
    guard_buffer cut = guard_copy(payload.data, size);
    assert_non_null(read_login(guard_bytes(&cut), &got, &memory, &unsupported));
    guard_give(&memory);
    if (size >= 4) { /* the same with a length that agrees */
      uint8_t *bytes = cut.data;
      bytes[0] = (uint8_t)size;
      bytes[1] = (uint8_t)(size >> 8);
      assert_non_null(read_login(guard_bytes(&cut), &got, &memory, &unsupported));
      guard_give(&memory);
    }
    guard_give(&cut);
  }
  guard_give(&payload);
}

/* Each byte of the fixed part set to each of a few values: an error or not, never a crash. */
static void test_login_with_any_byte_changed(void **state) {
  (void)state;
  static const uint8_t values[] = {0x00, 0x01, 0x5D, 0x5E, 0x7F, 0x80, 0xFE, 0xFF};
  guard_buffer payload = login_payload(&full_login);
  uint8_t *bytes = payload.data;
  for (size_t at = 0; at < payload.size; at++) {
    uint8_t before = bytes[at];
    for (size_t i = 0; i < sizeof values; i++) {
      alo_tds_login got;
      guard_buffer memory;
      const char *unsupported;
      bytes[at] = values[i];
      (void)read_login(guard_bytes(&payload), &got, &memory, &unsupported);
      guard_give(&memory);
    }
    bytes[at] = before;
  }
  guard_give(&payload);
}

static void test_login_texts_that_overlap(void **state) {
  (void)state;
  static const uint8_t entries[] = {36, 40, 44, 48, 52, 60, 64, 68, 82, 86};
  uint8_t bytes[94 + 256] = {94 + 256 - 256, 1};
  alo_tds_login got;
  guard_buffer memory;
  const char *unsupported;
  alo_tds_message_end(&output.writer);
  memcpy(bytes + 4, "\x04\x00\x00\x74", 4);
  memset(bytes + 94, 0x20, 256);
  bytes[0] = (uint8_t)(sizeof bytes & 0xFF);
  for (size_t i = 0; i < sizeof entries; i++) {
    bytes[entries[i]] = 94;
    bytes[entries[i] + 2] = 128;
  }
  const char *wrong = read_login((aloft_bytes){bytes, sizeof bytes}, &got, &memory, &unsupported);
  assert_non_null(strstr(wrong, "overlaps"));
  guard_give(&memory);
}

static void check_unsupported(size_t at, uint8_t value, const char *reason) {
  alo_tds_login got;
  guard_buffer memory;
  const char *unsupported;
  alo_tds_message_begin(&output.writer, ALO_TDS_LOGIN7, 0);
  guard_buffer payload = login_payload(&full_login);
  ((uint8_t *)payload.data)[at] = value;
  assert_null(read_login(guard_bytes(&payload), &got, &memory, &unsupported));
  assert_non_null(unsupported);
  assert_non_null(strstr(unsupported, reason));
  guard_give(&memory);
  guard_give(&payload);
}

static void test_logins_that_are_not_supported(void **state) {
  (void)state;
  alo_tds_message_end(&output.writer);
  check_unsupported(25, 0x83, "integrated security");
  check_unsupported(7, 0x71, "before 7.2");
  check_unsupported(24, 0x01, "byte order");
  alo_tds_message_begin(&output.writer, ALO_TDS_LOGIN7, 0);
  guard_buffer payload = login_payload(&full_login);
  size_t feature = payload.size - 12; /* the first of two */
  guard_give(&payload);
  check_unsupported(feature, 0x02, "federated");
}

/* ---- batches, headers ---- */

static void test_batch(void **state) {
  (void)state;
  uint64_t transaction;
  aloft_bytes sql;
  alo_tds_put_batch(&output.writer, UINT64_C(0x1122334455667788), ALOFT_TEXT("SELECT N'日本'"));
  guard_buffer payload = tds_output_payload(&output);
  assert_null(alo_tds_parse_headers(guard_bytes(&payload), &transaction, &sql));
  assert_true(transaction == UINT64_C(0x1122334455667788));
  assert_utf16(sql, ALOFT_TEXT("SELECT N'日本'"));
  for (size_t size = 0; size < 22; size++) {
    guard_buffer cut = guard_copy(payload.data, size);
    assert_non_null(alo_tds_parse_headers(guard_bytes(&cut), &transaction, &sql));
    guard_give(&cut);
  }
  guard_give(&payload);
}

static void test_headers_of_all_kinds(void **state) {
  (void)state;
  static const struct {
    uint8_t bytes[40];
    size_t size;
    bool good;
    uint64_t transaction;
    size_t rest;
  } cases[] = {
      {{4, 0, 0, 0, 'x'}, 5, true, 0, 1},
      {{10, 0, 0, 0, 6, 0, 0, 0, 1, 0, 'x', 'y'}, 12, true, 0, 2}, /* notification, empty */
      {{28, 0, 0, 0, 6, 0, 0, 0, 3, 0, 18, 0, 0, 0, 2, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0},
       28,
       true,
       9,
       0},
      {{3, 0, 0, 0}, 4, false, 0, 0},
      {{9, 0, 0, 0, 5, 0, 0, 0, 2}, 9, false, 0, 0},
      {{10, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0}, 11, false, 0, 0},
      {{10, 0, 0, 0, 5, 0, 0, 0, 1, 0}, 10, false, 0, 0},
      {{10, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0}, 10, false, 0, 0},
      {{10, 0, 0, 0, 6, 0, 0, 0, 2, 0}, 10, false, 0, 0},
      {{0xFF, 0xFF, 0xFF, 0xFF}, 4, false, 0, 0},
  };
  alo_tds_message_end(&output.writer);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t transaction;
    aloft_bytes rest;
    guard_buffer payload = guard_copy(cases[i].bytes, cases[i].size);
    const char *wrong = alo_tds_parse_headers(guard_bytes(&payload), &transaction, &rest);
    assert_int_equal(wrong == NULL, cases[i].good);
    if (cases[i].good) {
      assert_true(transaction == cases[i].transaction);
      assert_int_equal(rest.size, cases[i].rest);
    }
    guard_give(&payload);
  }
}

/* ---- transactions ---- */

static void test_transactions(void **state) {
  (void)state;
  static const alo_tds_transaction sent[] = {
      {.request = ALO_TDS_TM_BEGIN, .isolation = 4},
      {.request = ALO_TDS_TM_COMMIT},
      {.request = ALO_TDS_TM_COMMIT, .begin_after = true, .isolation = 2},
      {.request = ALO_TDS_TM_ROLLBACK},
      {.request = ALO_TDS_TM_ROLLBACK, .begin_after = true, .isolation = 5},
      {.request = ALO_TDS_TM_SAVE},
  };
  alo_tds_message_end(&output.writer);
  for (size_t i = 0; i < sizeof sent / sizeof *sent; i++) {
    alo_tds_transaction got;
    uint64_t descriptor;
    aloft_bytes rest;
    alo_tds_message_begin(&output.writer, ALO_TDS_TRANSACTION, 0);
    alo_tds_put_transaction(&output.writer, 7, &sent[i], ALOFT_TEXT("spät"));
    guard_buffer payload = tds_output_payload(&output);
    assert_null(alo_tds_parse_headers(guard_bytes(&payload), &descriptor, &rest));
    assert_true(descriptor == 7);
    assert_null(alo_tds_parse_transaction(rest, &got));
    assert_int_equal(got.request, sent[i].request);
    assert_int_equal(got.isolation, sent[i].isolation);
    assert_int_equal(got.begin_after, sent[i].begin_after);
    assert_utf16(got.name, ALOFT_TEXT("spät"));
    for (size_t size = 0; size < rest.size; size++) {
      guard_buffer cut = guard_copy(rest.data, size);
      assert_non_null(alo_tds_parse_transaction(guard_bytes(&cut), &got));
      guard_give(&cut);
    }
    guard_give(&payload);
  }
}

static void test_transactions_that_are_wrong(void **state) {
  (void)state;
  alo_tds_transaction got;
  alo_tds_message_end(&output.writer);
  assert_non_null(alo_tds_parse_transaction((aloft_bytes){"\x05\0\x06\0", 4}, &got));    /* level */
  assert_non_null(alo_tds_parse_transaction((aloft_bytes){"\x05\0\x01\x01x", 5}, &got)); /* odd */
  assert_non_null(alo_tds_parse_transaction((aloft_bytes){"\x09\0\0", 3}, &got)); /* no name */
  const char *wrong = alo_tds_parse_transaction((aloft_bytes){"\0\0\0\0", 4}, &got);
  assert_non_null(strstr(wrong, "only begin, commit, rollback and save"));
}

/* ---- examples and recordings, when they are there ---- */

static const char *wire_folder(void) {
  const char *folder = getenv("ALOFT_WIRE");
  return folder ? folder : ALOFT_SOURCE_DIR "/../shared/wire";
}

/* The payload of a recorded message; size 0 and no data when the file is absent. */
static guard_buffer read_payload(const char *name, uint8_t *type) {
  static uint8_t bytes[FILE_MAX];
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", wire_folder(), name);
  FILE *file = fopen(path, "rb");
  if (!file) {
    return (guard_buffer){.data = NULL};
  }
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  return tds_payload((aloft_bytes){bytes, size}, type);
}

static guard_buffer example(const char *name, uint8_t expected_type) {
  uint8_t type;
  char path[256];
  alo_tds_message_end(&output.writer);
  snprintf(path, sizeof path, "spec/%s.1.bin", name);
  guard_buffer payload = read_payload(path, &type);
  if (!payload.data) {
    print_message("skipped: %s/%s is not there\n", wire_folder(), path);
    skip();
  }
  assert_int_equal(type, expected_type);
  return payload;
}

static void test_example_prelogin(void **state) {
  (void)state;
  guard_buffer payload = example("4.1_pre_login_request", ALO_TDS_PRELOGIN);
  alo_tds_prelogin got;
  assert_null(alo_tds_parse_prelogin(guard_bytes(&payload), &got));
  assert_int_equal(got.version[0], 9);
  assert_int_equal(got.encryption, ALO_TDS_ENCRYPT_ON);
  assert_int_equal(got.thread_id, 0xDB8);
  assert_true(got.mars);
  guard_give(&payload);
}

static void test_example_login(void **state) {
  (void)state;
  guard_buffer payload = example("4.2_login_request", ALO_TDS_LOGIN7);
  alo_tds_login got;
  guard_buffer memory;
  const char *unsupported;
  assert_null(read_login(guard_bytes(&payload), &got, &memory, &unsupported));
  assert_int_equal(got.tds_version, 0x72090002);
  assert_int_equal(got.packet_size, 4096);
  assert_int_equal(got.option_flags1, 0xE0);
  assert_int_equal(got.option_flags2, 0x03);
  assert_text(got.host, "skostov1");
  assert_text(got.user, "sa");
  assert_text(got.password, "");
  assert_text(got.application, "OSQL-32");
  assert_text(got.library, "ODBC");
  guard_give(&memory);
  guard_give(&payload);
}

static void test_example_batch(void **state) {
  (void)state;
  guard_buffer payload = example("4.6_sql_batch_client_request", ALO_TDS_SQL_BATCH);
  uint64_t transaction;
  aloft_bytes sql;
  assert_null(alo_tds_parse_headers(guard_bytes(&payload), &transaction, &sql));
  assert_true(transaction == UINT64_C(0x0100000000000000));
  assert_utf16(sql, ALOFT_TEXT("\nselect 'foo' as 'bar'\n        "));
  guard_give(&payload);
}

static void test_example_rpc(void **state) {
  (void)state;
  guard_buffer payload = example("4.8_rpc_client_request", ALO_TDS_RPC);
  uint64_t transaction;
  aloft_bytes rest;
  alo_tds_rpc rpc;
  alo_tds_rpc_param param;
  bool end;
  assert_null(alo_tds_parse_headers(guard_bytes(&payload), &transaction, &rest));
  assert_null(alo_tds_parse_rpc(rest, &rpc));
  assert_utf16(rpc.name, ALOFT_TEXT("foo3"));
  assert_null(alo_tds_parse_param(&rpc.parameters, &param, &end));
  assert_false(end);
  assert_true(param.default_value && param.null && !param.output);
  assert_int_equal(param.type.token, ALO_TDS_INTN);
  assert_int_equal(param.type.size, 2);
  assert_null(alo_tds_parse_param(&rpc.parameters, &param, &end));
  assert_true(end);
  guard_give(&payload);
}

static void test_example_attention(void **state) {
  (void)state;
  guard_buffer payload = example("4.10_attention_request", ALO_TDS_ATTENTION);
  assert_int_equal(payload.size, 0);
  guard_give(&payload);
}

/* The document's request has a kind (22) that its own table does not list. */
static void test_example_transaction(void **state) {
  (void)state;
  guard_buffer payload = example("4.13_transaction_manager_request", ALO_TDS_TRANSACTION);
  uint64_t transaction;
  aloft_bytes rest;
  alo_tds_transaction got;
  assert_null(alo_tds_parse_headers(guard_bytes(&payload), &transaction, &rest));
  assert_true(transaction == UINT64_C(0x0100000000000000));
  assert_non_null(alo_tds_parse_transaction(rest, &got));
  assert_int_equal(got.request, 22);
  guard_give(&payload);
}

/* One recorded request against the SQL (or the procedure's name) of its case. */
static void check_recorded(const char *name, aloft_text sql, bool procedure, bool params,
                           int packet_size) {
  char path[256];
  uint8_t type;
  uint64_t transaction;
  aloft_bytes rest;
  snprintf(path, sizeof path, "recorded/packet%d/%s.request.tds", packet_size, name);
  guard_buffer payload = read_payload(path, &type);
  if (!payload.data && packet_size != 4096) {
    return;
  }
  assert_non_null(payload.data);
  assert_null(alo_tds_parse_headers(guard_bytes(&payload), &transaction, &rest));
  if (!params) {
    assert_int_equal(type, ALO_TDS_SQL_BATCH);
    assert_utf16(rest, sql);
    guard_give(&payload);
    return;
  }
  alo_tds_rpc rpc;
  alo_tds_rpc_param param;
  bool end = false;
  assert_int_equal(type, ALO_TDS_RPC);
  assert_null(alo_tds_parse_rpc(rest, &rpc));
  assert_null(alo_tds_parse_param(&rpc.parameters, &param, &end));
  if (procedure) {
    assert_utf16(rpc.name, sql);
  } else {
    assert_int_equal(rpc.procedure, ALO_TDS_SP_EXECUTESQL);
    assert_utf16((aloft_bytes){param.data, param.size}, sql);
  }
  while (!end) {
    assert_null(alo_tds_parse_param(&rpc.parameters, &param, &end));
  }
  assert_int_equal(rpc.parameters.size, 0);
  guard_give(&payload);
}

/* One object of cases.json. */
static void check_case(aloft_json *json) {
  char name[128] = "";
  char buffer[4096];
  aloft_text sql = {NULL, 0};
  aloft_text text;
  bool procedure = false;
  bool params = false;
  while (aloft_json_next(json) == ALOFT_JSON_NAME) {
    aloft_json member = *json;
    aloft_json_next(json);
    if (aloft_json_is(&member, ALOFT_TEXT("name"))) {
      assert_int_equal(aloft_json_string(json, name, sizeof name - 1, &text), ALOFT_OK);
      snprintf(name, sizeof name, "%.*s", ALOFT_PRINT(text));
    } else if (aloft_json_is(&member, ALOFT_TEXT("sql"))) {
      assert_int_equal(aloft_json_string(json, buffer, sizeof buffer, &sql), ALOFT_OK);
    } else {
      procedure = procedure || aloft_json_is(&member, ALOFT_TEXT("proc"));
      params = params || aloft_json_is(&member, ALOFT_TEXT("params"));
      assert_int_equal(aloft_json_skip(json), ALOFT_OK);
    }
  }
  check_recorded(name, sql, procedure, params || procedure, 4096);
  check_recorded(name, sql, procedure, params || procedure, 512);
}

static void test_recorded_requests(void **state) {
  (void)state;
  static char text[FILE_MAX];
  char path[1024];
  aloft_json json;
  size_t cases = 0;
  alo_tds_message_end(&output.writer);
  snprintf(path, sizeof path, "%s/recorded/cases.json", wire_folder());
  FILE *file = fopen(path, "rb");
  if (!file) {
    print_message("skipped: %s is not there\n", path);
    skip();
  }
  size_t size = fread(text, 1, sizeof text, file);
  fclose(file);
  aloft_json_init(&json, (aloft_text){text, size});
  assert_int_equal(aloft_json_next(&json), ALOFT_JSON_ARRAY);
  for (; aloft_json_next(&json) == ALOFT_JSON_OBJECT; cases++) {
    check_case(&json);
  }
  assert_int_equal(json.kind, ALOFT_JSON_CLOSE);
  assert_true(cases > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_prelogin_of_a_client),
      TEST(test_prelogin_of_a_server),
      TEST(test_prelogin_cut_anywhere),
      TEST(test_prelogin_that_is_wrong),
      TEST(test_prelogin_options_may_overlap_or_be_unknown),
      TEST(test_prelogin_instance_with_a_nul),
      TEST(test_login_with_everything),
      TEST(test_login_with_nothing),
      TEST(test_login_layout),
      TEST(test_login_text_limits),
      TEST(test_login_cut_anywhere),
      TEST(test_login_with_any_byte_changed),
      TEST(test_login_texts_that_overlap),
      TEST(test_logins_that_are_not_supported),
      TEST(test_batch),
      TEST(test_headers_of_all_kinds),
      TEST(test_transactions),
      TEST(test_transactions_that_are_wrong),
      TEST(test_example_prelogin),
      TEST(test_example_login),
      TEST(test_example_batch),
      TEST(test_example_rpc),
      TEST(test_example_attention),
      TEST(test_example_transaction),
      TEST(test_recorded_requests),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
