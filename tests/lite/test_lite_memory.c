/* lite without memory: each allocation of the server and the engine fails in turn, once or with all
 * after it. Whoever is served then gets an error or is dropped; nothing leaks, and the next client
 * is served. Linked with objects of lite whose malloc, calloc and realloc are those below. */
#include "lite_world.h"

#include "tds_response.h"

void *alo_test_malloc(size_t size);
void *alo_test_calloc(size_t count, size_t size);
void *alo_test_realloc(void *memory, size_t size);

static uint64_t calls, fail_at; /* 0: none fails */
static bool fail_after;

static bool fails(void) {
  calls++;
  return fail_at && (calls == fail_at || (fail_after && calls > fail_at));
}

void *alo_test_malloc(size_t size) {
  return fails() ? NULL : malloc(size);
}

void *alo_test_calloc(size_t count, size_t size) {
  return fails() ? NULL : calloc(count, size);
}

void *alo_test_realloc(void *memory, size_t size) {
  return fails() ? NULL : realloc(memory, size);
}

enum { PATIENCE = 400 };

/* Until the answer or the end; false when there is no hope. */
static bool answered(lite_peer *peer, uint64_t ends) {
  for (int i = 0; i < PATIENCE && !peer->ended && peer->seen.ends < ends; i++)
    if (aloft_loop_turn(peer->world->loop, ALOFT_MILLISECONDS(50)) != ALOFT_OK)
      fail_msg("the loop failed");
  return peer->seen.ends >= ends;
}

static bool ask(lite_peer *peer, const char *sql) {
  peer_clear(peer);
  peer_send_batch(peer, sql, 0);
  return answered(peer, 1);
}

static const alo_tds_type text_type = {.token = ALO_TDS_NVARCHAR, .size = 8000};

static void put_text(lite_peer *peer, const char *name, const char *text, bool output) {
  alo_tds_put_b_varchar(&peer->writer, aloft_text_of(name));
  alo_tds_put_u8(&peer->writer, output);
  alo_tds_put_type(&peer->writer, &text_type);
  alo_tds_put_text(&peer->writer, &text_type, aloft_text_of(text));
}

static void put_handle(lite_peer *peer, bool output, int32_t handle) {
  static const alo_tds_type type = {.token = ALO_TDS_INTN, .size = 4};
  alo_tds_put_b_varchar(&peer->writer, ALOFT_TEXT("@handle"));
  alo_tds_put_u8(&peer->writer, output);
  alo_tds_put_type(&peer->writer, &type);
  alo_tds_put_int64(&peer->writer, &type, handle);
}

static void call_begin(lite_peer *peer, uint16_t number) {
  alo_tds_message_begin(&peer->writer, ALO_TDS_RPC, 0);
  alo_tds_put_headers(&peer->writer, 0);
  alo_tds_put_u16(&peer->writer, 0xFFFF);
  alo_tds_put_u16(&peer->writer, number);
  alo_tds_put_u16(&peer->writer, 0);
}

static bool call_end(lite_peer *peer) {
  peer_clear(peer);
  peer_flush(peer);
  return answered(peer, 1);
}

static bool call_procedures(lite_peer *peer) {
  call_begin(peer, ALO_TDS_SP_EXECUTESQL);
  put_text(peer, "", "SELECT @a AS a, N'x' AS b SET @b = @a", false);
  put_text(peer, "", "@a nvarchar(20), @b nvarchar(20) OUTPUT", false);
  put_text(peer, "@a", "text", false);
  put_text(peer, "@b", "", true);
  if (!call_end(peer))
    return false;
  call_begin(peer, ALO_TDS_SP_PREPEXEC);
  put_handle(peer, true, 0);
  put_text(peer, "", "@a nvarchar(20)", false);
  put_text(peer, "", "SELECT @a AS a", false);
  put_text(peer, "@a", "text", false);
  if (!call_end(peer))
    return false;
  call_begin(peer, ALO_TDS_SP_EXECUTE);
  put_handle(peer, false, 1);
  put_text(peer, "@a", "text", false);
  return call_end(peer);
}

static void use(lite_world *world) {
  lite_peer peer;
  peer_open(&peer, world);
  peer_prelogin(&peer, ALO_TDS_ENCRYPT_NOT_SUP);
  peer_send_login(&peer, NULL);
  if (answered(&peer, 1) && ask(&peer, "CREATE TABLE t (id int PRIMARY KEY, name nvarchar(20))") &&
      ask(&peer, "INSERT INTO t VALUES (1, N'one'), (2, NULL) UPDATE t SET name = N'x'") &&
      ask(&peer, "BEGIN TRAN SELECT t.id, u.name FROM t INNER JOIN t AS u ON t.id = u.id ORDER BY "
                 "u.name, t.id DESC ROLLBACK") &&
      ask(&peer, "PRINT N'one' SELECT 1/0") && ask(&peer, "SELECT 1 +"))
    call_procedures(&peer);
  peer_close(&peer);
}

/* As if nothing had been. */
static void expect_works(lite_world *world) {
  lite_peer peer;
  while (world_counters(world).open)
    world_turn(world);
  peer_open(&peer, world);
  peer_login(&peer);
  peer_expect(&peer, "SELECT 1 AS a", "columns a int\nrow 1\ndone FD 0010 193 1\nend\n");
  peer_batch(&peer, "DROP TABLE IF EXISTS t");
  peer_close(&peer);
}

static void each_allocation(bool after) {
  lite_world world;
  uint64_t n = 0, step = 1;
  world_open(&world, WORLD_SIM, 1, NULL, NULL);
  do {
    n += step;
    if (n > 400) /* the engine has its own test of every one */
      step = 7;
    calls = 0;
    fail_at = n;
    fail_after = after;
    use(&world);
    uint64_t made = calls;
    fail_at = 0;
    expect_works(&world);
    if (made < n)
      break;
  } while (true);
  assert_true(n > 50);
  world_close(&world);
}

static void one_fails(void **state) {
  (void)state;
  each_allocation(false);
}

static void all_after_one_fail(void **state) {
  (void)state;
  each_allocation(true);
}

static void opening_fails(void **state) {
  aloft_status status = ALOFT_NO_MEMORY;
  (void)state;
  for (uint64_t n = 1; status != ALOFT_OK; n++) {
    static const alo_sim_faults none;
    char error[256] = "";
    aloft_loop *loop = NULL;
    alo_lite *lite = NULL;
    alo_lite_config config = {
        .engine = {.path = ":memory:"}, .user = ALOFT_TEXT("u"), .password = ALOFT_TEXT("p")};
    config.address.in.sin_family = AF_INET;
    assert_int_equal(
        alo_loop_open_on(&loop, NULL, alo_driver_sim_open(&alo_heap_default, 1, &none)), ALOFT_OK);
    calls = 0;
    fail_at = n;
    fail_after = false;
    status = alo_lite_open(&lite, loop, &config, error);
    fail_at = 0;
    assert_true(status == ALOFT_OK || strstr(error, "memory"));
    alo_lite_close(lite);
    aloft_loop_close(loop);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_fails),
      cmocka_unit_test(all_after_one_fail),
      cmocka_unit_test(opening_fails),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
