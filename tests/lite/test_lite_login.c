/* lite's server before and at the login: PRELOGIN, LOGIN7, packet sizes, whatever else may come in
 * their place, and the listener. */
#include "lite_world.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LOGIN_BYTES_MAX = 1024 };

static const alo_tds_login right = {.user = {WORLD_USER, sizeof WORLD_USER - 1},
                                    .password = {WORLD_PASSWORD, sizeof WORLD_PASSWORD - 1}};

/* Opens, says `login`, expects these lines and, unless it is a success, the end. */
static void expect_login(const alo_tds_login *login, const char *lines, bool success) {
  lite_world world;
  lite_peer peer;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  peer_open(&peer, &world);
  peer_prelogin(&peer, ALO_TDS_ENCRYPT_NOT_SUP);
  peer_send_login(&peer, login);
  const char *seen = peer_wait(&peer, 1);
  if (!strstr(seen, lines))
    fail_msg("%s is not in\n%s", lines, seen);
  assert_false(world_logged(&world, WORLD_PASSWORD));
  assert_int_equal(world_counters(&world).logins, success);
  assert_int_equal(world_counters(&world).refused, !success);
  if (!success) {
    assert_null(strstr(seen, "login 1"));
    peer_wait_end(&peer);
    assert_int_equal(world_counters(&world).open, 0);
  }
  peer_close(&peer);
  world_close(&world);
}

static void right_login(void **state) {
  (void)state;
  expect_login(&right, "login 1 74000004 16.0.16.0 Aloft lite\ndone FD 0000 0 0\nend\n", true);
  alo_tds_login other = right;
  other.database = ALOFT_TEXT("TEST");
  other.utf8_feature = true;
  expect_login(&other, "env 1 0 test|\ninfo 5701 0 2 1 Changed database context to 'test'.", true);
  expect_login(&other, "feature 10 01\n", true);
  other.tds_version = 0x730B0003;
  other.utf8_feature = false;
  expect_login(&other, "login 1 730B0003", true);
}

static void wrong_logins(void **state) {
  static const char failed[] = "error 18456 14 1 1 Login failed for user '";
  (void)state;
  alo_tds_login login = right;
  login.password = ALOFT_TEXT("sesame77");
  expect_login(&login, failed, false);
  login.password = ALOFT_TEXT("Sesame7");
  expect_login(&login, failed, false);
  login.password = ALOFT_TEXT("Sesame77Sesame77");
  expect_login(&login, failed, false);
  login.password = ALOFT_TEXT("");
  expect_login(&login, failed, false);
  login = right;
  login.user = ALOFT_TEXT("");
  expect_login(&login, failed, false);
  login.user = ALOFT_TEXT("someone else");
  expect_login(&login, failed, false);
  login = right;
  login.database = ALOFT_TEXT("elsewhere");
  expect_login(&login,
               "error 4060 14 1 1 Cannot open database \"elsewhere\" requested by the login. The "
               "login failed.|lite|\ndone FD 0002 0 0\nend\n",
               false);
}

/* The longest names, in letters of three bytes. */
static void long_names(void **state) {
  char name[3 * 128 + 1] = "";
  (void)state;
  for (size_t i = 0; i < 128; i++)
    memcpy(name + 3 * i, "\xE2\x82\xAC", 4);
  alo_tds_login login = right;
  login.user = aloft_text_of(name);
  expect_login(&login, name, false);
  login = right;
  login.database = aloft_text_of(name);
  expect_login(&login, name, false);
}

static void unsupported_logins(void **state) {
  static const char refused[] = "error 40510 14 1 1 lite does not support this login: ";
  (void)state;
  alo_tds_login login = right;
  login.option_flags2 = ALO_TDS_INT_SECURITY;
  expect_login(&login, "lite does not support this login: integrated security.", false);
  login = right;
  login.tds_version = 0x71000001;
  expect_login(&login, "TDS before 7.2", false);
  login.tds_version = 0x72090002;
  expect_login(&login, "TDS before 7.3", false);
  expect_login(&login, refused, false);
}

/* lite has no TLS and says so, whatever is wished for; who insists on it is not let in. */
static void prelogin_answers(void **state) {
  static const uint8_t wishes[] = {ALO_TDS_ENCRYPT_OFF, ALO_TDS_ENCRYPT_ON, ALO_TDS_ENCRYPT_NOT_SUP,
                                   ALO_TDS_ENCRYPT_REQ};
  (void)state;
  for (size_t i = 0; i < sizeof wishes; i++) {
    lite_world world;
    lite_peer peer;
    world_open(&world, WORLD_SIM, i, NULL, NULL);
    peer_open(&peer, &world);
    peer_prelogin(&peer, wishes[i]);
    world_until(&world, &peer.prelogin_read);
    assert_null(peer.prelogin_wrong);
    assert_true(peer.prelogin.has_encryption);
    assert_int_equal(peer.prelogin.encryption, ALO_TDS_ENCRYPT_NOT_SUP);
    assert_int_equal(peer.prelogin.version[0], 16);
    if (wishes[i] == ALO_TDS_ENCRYPT_ON || wishes[i] == ALO_TDS_ENCRYPT_REQ) {
      peer_send_login(&peer, NULL);
      peer_wait_end(&peer);
      assert_int_equal(world_counters(&world).refused, 1);
      assert_true(world_logged(&world, "the client wants encryption"));
    } else {
      peer_send_login(&peer, NULL);
      peer_wait(&peer, 1);
      assert_int_equal(world_counters(&world).logins, 1);
    }
    peer_close(&peer);
    world_close(&world);
  }
}

/* ---- packet sizes ---- */

static void expect_packet_size(uint32_t asked, uint32_t given) {
  char line[64];
  lite_world world;
  lite_peer peer;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  peer_open(&peer, &world);
  alo_tds_login login = right;
  login.packet_size = asked;
  peer_prelogin(&peer, ALO_TDS_ENCRYPT_NOT_SUP);
  peer_send_login(&peer, &login);
  snprintf(line, sizeof line, "env 4 0 %u|\n", (unsigned)given);
  if (!strstr(peer_wait(&peer, 1), line))
    fail_msg("%s is not in\n%s", line, peer.seen.text);
  peer_clear(&peer);
  /* Values that cross packets of any size. */
  static const char sql[] = "SELECT REPLICATE(N'\x61\xC3\xA9', 2000) AS a, 7 AS b";
  char expected[3 * 2000 + 100] = "columns a nvarchar|b int\nrow ";
  for (size_t i = 0; i < 2000; i++)
    strcat(expected + 20 + 3 * i, "\x61\xC3\xA9");
  strcat(expected, "|7\ndone FD 0010 193 1\nend\n");
  peer_expect(&peer, sql, expected);
  peer_close(&peer);
  world_close(&world);
}

static void packet_sizes(void **state) {
  (void)state;
  expect_packet_size(0, 4096);
  expect_packet_size(1, 4096);
  expect_packet_size(511, 4096);
  expect_packet_size(512, 512);
  expect_packet_size(513, 513);
  expect_packet_size(8000, 8000);
  expect_packet_size(32767, 32767);
  expect_packet_size(32768, 32767);
  expect_packet_size(UINT32_MAX, 32767);
}

/* ---- anything else ---- */

/* A new connection gets these bytes; it must end without a login. */
static void expect_dropped(lite_world *world, const void *data, size_t size, const char *logged) {
  lite_peer peer;
  peer_open(&peer, world);
  peer_send(&peer, data, size);
  peer_wait_end(&peer);
  assert_int_equal(world_counters(world).open, 0);
  assert_int_equal(world_counters(world).logins, 0);
  if (logged && !world_logged(world, logged))
    fail_msg("'%s' is not in the log: %s", logged, world->log_text);
  peer_close(&peer);
}

static void not_tds(void **state) {
  lite_world world;
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  expect_dropped(&world, "GET / HTTP/1.1\r\n\r\n", 18, "first message is not PRELOGIN");
  expect_dropped(&world, "\x12\x01\x00\x08\x00\x00\x00\x00", 8, "PRELOGIN");
  expect_dropped(&world, "\x12\x01\x00\x07\x00\x00\x00\x00", 8, "packet length below");
  expect_dropped(&world, "\x12\x01\x80\x00\x00\x00\x00\x00", 8, "packet length above");
  expect_dropped(&world, "\x01\x01\x00\x09\x00\x00\x00\x00x", 9, "first message is not PRELOGIN");
  expect_dropped(&world, "\x06\x01\x00\x08\x00\x00\x00\x00", 8, "first message is not PRELOGIN");
  expect_dropped(&world, "\x16\x03\x01\x00\xF4\x01\x00\x00\xF0\x03\x03", 11, NULL); /* TLS */
  assert_true(world_counters(&world).protocol_errors >= 6);
  world_close(&world);
}

/* A login may not make the server keep much. */
static void login_too_large(void **state) {
  static uint8_t packet[32767] = {ALO_TDS_PRELOGIN, 0, 0x7F, 0xFF};
  lite_world world;
  lite_peer peer;
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  peer_open(&peer, &world);
  for (int i = 0; i < 5; i++)
    peer_send(&peer, packet, sizeof packet);
  peer_wait_end(&peer);
  assert_true(world_logged(&world, "a login is over 128 KiB"));
  peer_close(&peer);
  world_close(&world);
}

/* PRELOGIN and LOGIN7 as bytes. */
static size_t whole_login(uint8_t bytes[LOGIN_BYTES_MAX]) {
  alo_buffer buffer;
  alo_tds_writer writer;
  const alo_tds_prelogin prelogin = {.has_encryption = true, .encryption = ALO_TDS_ENCRYPT_NOT_SUP};
  alo_buffer_init(&buffer, &alo_heap_default, LOGIN_BYTES_MAX);
  alo_tds_writer_init(&writer, &buffer, ALO_TDS_PACKET_DEFAULT);
  alo_tds_message_begin(&writer, ALO_TDS_PRELOGIN, 0);
  alo_tds_put_prelogin(&writer, &prelogin, false);
  assert_int_equal(alo_tds_message_end(&writer), ALOFT_OK);
  alo_tds_message_begin(&writer, ALO_TDS_LOGIN7, 0);
  alo_tds_put_login(&writer, &right);
  assert_int_equal(alo_tds_message_end(&writer), ALOFT_OK);
  size_t size = alo_buffer_size(&buffer);
  memcpy(bytes, buffer.data + buffer.begin, size);
  alo_buffer_fini(&buffer);
  return size;
}

/* Cut at every byte: the server waits, and ends with the client. */
static void cut_everywhere(void **state) {
  uint8_t bytes[LOGIN_BYTES_MAX];
  size_t size = whole_login(bytes);
  lite_world world;
  (void)state;
  world_open(&world, WORLD_SIM, 7, NULL, NULL);
  for (size_t cut = 0; cut < size; cut++) {
    lite_peer peer;
    peer_open(&peer, &world);
    peer_send(&peer, bytes, cut);
    for (int turns = 0; turns < 8; turns++)
      assert_int_equal(aloft_loop_turn(world.loop, 0), ALOFT_OK);
    assert_false(peer.ended);
    assert_int_equal(world_counters(&world).open, 1);
    peer_close(&peer);
    for (int turns = 0; turns < 8; turns++)
      assert_int_equal(aloft_loop_turn(world.loop, 0), ALOFT_OK);
    assert_int_equal(world_counters(&world).open, 0);
  }
  assert_int_equal(world_counters(&world).logins, 0);
  assert_int_equal(world_counters(&world).protocol_errors, 0);
  world_close(&world);
}

/* Every byte of the two changed, each in a few ways: an answer or an end, never more. */
static void changed_everywhere(void **state) {
  uint8_t bytes[LOGIN_BYTES_MAX];
  size_t size = whole_login(bytes);
  static const uint8_t changes[] = {0x01, 0x80, 0xFF, 0x20};
  lite_world world;
  (void)state;
  world_open(&world, WORLD_SIM, 7, NULL, NULL);
  for (size_t at = 0; at < size * sizeof changes; at++) {
    lite_peer peer;
    peer_open(&peer, &world);
    bytes[at / sizeof changes] ^= changes[at % sizeof changes];
    peer_send(&peer, bytes, size);
    bytes[at / sizeof changes] ^= changes[at % sizeof changes];
    for (int turns = 0; turns < 16; turns++)
      assert_int_equal(aloft_loop_turn(world.loop, 0), ALOFT_OK);
    peer_close(&peer);
    for (int turns = 0; turns < 8; turns++)
      assert_int_equal(aloft_loop_turn(world.loop, 0), ALOFT_OK);
    assert_int_equal(world_counters(&world).open, 0);
  }
  world_close(&world);
}

/* The deadline covers both messages; after the login there is none. */
static void login_stalls(void **state) {
  const alo_lite_config config = {.login_timeout_ns = ALOFT_SECONDS(3)};
  lite_world world;
  lite_peer peers[4];
  (void)state;
  world_open(&world, WORLD_SIM, 3, NULL, &config);
  for (size_t i = 0; i < 4; i++)
    peer_open(&peers[i], &world);
  peer_send(&peers[1], "\x12\x01", 2);
  peer_prelogin(&peers[2], ALO_TDS_ENCRYPT_NOT_SUP);
  peer_login(&peers[3]);
  uint64_t begun = world.driver->methods->now(world.driver);
  for (size_t i = 0; i < 3; i++)
    peer_wait_end(&peers[i]);
  assert_true(world.driver->methods->now(world.driver) - begun >= ALOFT_SECONDS(2));
  assert_int_equal(world_counters(&world).protocol_errors, 3);
  assert_true(world_logged(&world, "the login was not done in time"));
  peer_expect(&peers[3], "WAITFOR DELAY '00:00:10' SELECT 1 AS a",
              "columns a int\nrow 1\ndone FD 0010 193 1\nend\n");
  for (size_t i = 0; i < 4; i++)
    peer_close(&peers[i]);
  world_close(&world);
}

/* A refused client that goes on sending and never reads costs nothing, and is dropped. */
static void refused_flood(void **state) {
  static uint8_t flood[1 << 20];
  lite_world world;
  lite_peer peer;
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  peer_open(&peer, &world);
  alo_tds_login login = right;
  login.password = ALOFT_TEXT("no");
  peer_prelogin(&peer, ALO_TDS_ENCRYPT_NOT_SUP);
  peer_send_login(&peer, &login);
  for (int i = 0; i < 8; i++)
    peer_send(&peer, flood, sizeof flood);
  peer_wait_end(&peer);
  assert_int_equal(world_counters(&world).open, 0);
  peer_close(&peer);
  world_close(&world);
}

/* ---- the password in memory ---- */

enum { PIECES_MAX = 4096 };

typedef struct piece {
  uint8_t *data;
  size_t size;
} piece;

static piece pieces[PIECES_MAX];

static void note_piece(void *data, size_t size) {
  for (size_t i = 0; i < PIECES_MAX; i++)
    if (!pieces[i].data) {
      pieces[i] = (piece){data, size};
      return;
    }
  fail_msg("too many pieces");
}

static void forget_piece(const void *data) {
  for (size_t i = 0; i < PIECES_MAX; i++)
    if (pieces[i].data == data)
      pieces[i] = (piece){NULL, 0};
}

static void *take_piece(void *context, size_t size) {
  (void)context;
  void *data = calloc(1, size);
  note_piece(data, size);
  return data;
}

static void *resize_piece(void *context, void *memory, size_t before, size_t size) {
  (void)context;
  (void)before;
  forget_piece(memory);
  void *data = realloc(memory, size);
  note_piece(data, size);
  return data;
}

static void release_piece(void *context, void *memory, size_t size) {
  (void)context;
  (void)size;
  forget_piece(memory);
  free(memory);
}

/* How often the bytes stand in the memory of the loop and all on it. */
static unsigned found_in_pieces(const uint8_t *bytes, size_t size) {
  unsigned found = 0;
  for (size_t i = 0; i < PIECES_MAX; i++)
    for (size_t at = 0; pieces[i].data && at + size <= pieces[i].size; at++)
      found += memcmp(pieces[i].data + at, bytes, size) == 0;
  return found;
}

/* As LOGIN7 has it. The client's own copies go with it, before the server learns of that. */
static void no_trace_of_the_password(void **state) {
  static const aloft_allocator allocator = {
      .resize = resize_piece, .allocate = take_piece, .release = release_piece};
  uint8_t scrambled[2 * (sizeof WORLD_PASSWORD - 1)];
  (void)state;
  for (size_t i = 0; i < sizeof scrambled; i++) {
    uint8_t byte = i % 2 ? 0 : (uint8_t)WORLD_PASSWORD[i / 2];
    scrambled[i] = (uint8_t)((byte << 4 | byte >> 4) ^ 0xA5);
  }
  for (int success = 0; success < 2; success++) {
    lite_world world;
    lite_peer peer;
    world_allocator = &allocator;
    world_open(&world, WORLD_UV, 0, NULL, NULL);
    peer_open(&peer, &world);
    peer_prelogin(&peer, ALO_TDS_ENCRYPT_NOT_SUP);
    alo_tds_login login = right;
    login.user = success ? login.user : ALOFT_TEXT("other");
    peer_send_login(&peer, &login);
    assert_true(found_in_pieces(scrambled, sizeof scrambled) > 0);
    peer_wait(&peer, 1);
    peer_close(&peer);
    assert_int_equal(found_in_pieces(scrambled, sizeof scrambled), 0);
    world_close(&world);
    world_allocator = NULL;
  }
}

/* ---- the listener ---- */

static void connections_max(void **state) {
  const alo_lite_config config = {.connections_max = 2};
  lite_world world;
  lite_peer peers[3];
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, &config);
  for (size_t i = 0; i < 2; i++) {
    peer_open(&peers[i], &world);
    peer_login(&peers[i]);
  }
  peer_open(&peers[2], &world);
  peer_wait_end(&peers[2]);
  peer_close(&peers[2]);
  assert_int_equal(world_counters(&world).refused, 1);
  peer_close(&peers[0]);
  while (world_counters(&world).open > 1)
    world_turn(&world);
  peer_open(&peers[2], &world);
  peer_login(&peers[2]);
  peer_close(&peers[1]);
  peer_close(&peers[2]);
  world_close(&world);
}

/* ---- no more descriptors ---- */

static int hoard[4096];
static size_t hoarded;

/* Takes what is left of a limit that is only a little above. */
static struct rlimit hoard_descriptors(void) {
  struct rlimit before, now;
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  now = before;
  now.rlim_cur = 256;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
  for (hoarded = 0; hoarded < 4096; hoarded++) {
    hoard[hoarded] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (hoard[hoarded] < 0)
      break;
  }
  assert_int_equal(errno, EMFILE);
  return before;
}

static void no_descriptors(void **state) {
  lite_world world;
  lite_peer peer;
  (void)state;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  struct rlimit before = hoard_descriptors();
  close(hoard[--hoarded]); /* for the client */
  peer_open(&peer, &world);
  uint64_t turns = world.loop->turns;
  while (!world_logged(&world, "cannot accept a connection"))
    world_turn(&world);
  /* It rests: what waits at the listener does not turn the loop. */
  uint64_t begun = world.driver->methods->now(world.driver);
  while (world.driver->methods->now(world.driver) < begun + ALOFT_MILLISECONDS(350))
    assert_int_equal(aloft_loop_turn(world.loop, ALOFT_MILLISECONDS(350)), ALOFT_OK);
  assert_true(world.loop->turns - turns < 100);
  while (hoarded)
    close(hoard[--hoarded]);
  setrlimit(RLIMIT_NOFILE, &before);
  peer_login(&peer);
  peer_close(&peer);
  world_close(&world);
}

static size_t descriptors(void) {
  size_t count = 0;
  for (int fd = 0; fd < 1024; fd++)
    count += fcntl(fd, F_GETFD) >= 0;
  return count;
}

static void come_and_go(lite_world *world, unsigned count) {
  uint64_t before = world_counters(world).connections;
  for (unsigned i = 0; i < count; i++) {
    lite_peer peer;
    peer_open(&peer, world);
    if (i % 2 == 0)
      peer_login(&peer);
    else
      peer_prelogin(&peer, ALO_TDS_ENCRYPT_OFF);
    while (world_counters(world).connections == before + i)
      world_turn(world);
    peer_close(&peer);
  }
  while (world_counters(world).open)
    world_turn(world);
  for (int i = 0; i < 4; i++)
    assert_int_equal(aloft_loop_turn(world->loop, 0), ALOFT_OK);
}

/* SQLite keeps a few of a closed connection's for the next one. */
static void no_descriptor_leaks(void **state) {
  (void)state;
  size_t before = descriptors();
  lite_world world;
  world_open(&world, WORLD_UV, 0, NULL, NULL);
  come_and_go(&world, 10);
  size_t open = descriptors();
  come_and_go(&world, 50);
  assert_int_equal(descriptors(), open);
  world_close(&world);
  assert_int_equal(descriptors(), before);
}

/* ---- faults of the network ---- */

static void logins_over_a_bad_network(void **state) {
  const alo_sim_faults faults = {
      .short_read = 500, .split_write = 500, .full = 100, .delay_ns = ALOFT_MILLISECONDS(5)};
  (void)state;
  for (uint64_t seed = 1; seed <= 30; seed++) {
    lite_world world;
    lite_peer peer;
    world_open(&world, WORLD_SIM, seed, &faults, NULL);
    peer_open(&peer, &world);
    peer_login(&peer);
    peer_expect(&peer, "SELECT 1 AS a", "columns a int\nrow 1\ndone FD 0010 193 1\nend\n");
    peer_close(&peer);
    world_close(&world);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(right_login),
      cmocka_unit_test(wrong_logins),
      cmocka_unit_test(long_names),
      cmocka_unit_test(unsupported_logins),
      cmocka_unit_test(prelogin_answers),
      cmocka_unit_test(packet_sizes),
      cmocka_unit_test(not_tds),
      cmocka_unit_test(login_too_large),
      cmocka_unit_test(cut_everywhere),
      cmocka_unit_test(changed_everywhere),
      cmocka_unit_test(login_stalls),
      cmocka_unit_test(refused_flood),
      cmocka_unit_test(connections_max),
      cmocka_unit_test(no_trace_of_the_password),
      cmocka_unit_test(no_descriptors),
      cmocka_unit_test(no_descriptor_leaks),
      cmocka_unit_test(logins_over_a_bad_network),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
