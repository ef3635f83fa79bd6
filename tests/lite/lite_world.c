#include "lite_world.h"

#include <unistd.h>

#include "tds_response.h"

enum { TURNS_MAX = 2000000, SERVER_ADDRESS_ROOM = 256 };

/* ---- the world ---- */

static uint64_t engine_clock(void *context) {
  lite_world *world = context;
  void (*hook)(lite_world *) = world->at_statement;
  world->at_statement = NULL;
  if (hook)
    hook(world);
  return world->clock_ns + world->driver->methods->now(world->driver);
}

const aloft_allocator *world_allocator;

static void open_loop(lite_world *world, world_network network, uint64_t seed,
                      const alo_sim_faults *faults) {
  static const alo_sim_faults none;
  const aloft_loop_config config = {.size = sizeof config, .allocator = world_allocator};
  if (network == WORLD_SIM) {
    world->driver = alo_driver_sim_open(&alo_heap_default, seed, faults ? faults : &none);
    assert_non_null(world->driver);
    assert_int_equal(alo_loop_open_on(&world->loop, &config, world->driver), ALOFT_OK);
    return;
  }
  assert_int_equal(aloft_loop_open(&world->loop, &config), ALOFT_OK);
  world->driver = world->loop->driver;
}

void world_open(lite_world *world, world_network network, uint64_t seed,
                const alo_sim_faults *faults, const alo_lite_config *changes) {
  char error[256] = "";
  memset(world, 0, sizeof *world);
  world->clock_ns = UINT64_C(1709210096123456700);
  open_loop(world, network, seed, faults);
  snprintf(world->folder, sizeof world->folder, "/tmp/aloft-lite-XXXXXX");
  assert_non_null(mkdtemp(world->folder));
  snprintf(world->path, sizeof world->path, "%s/test.db", world->folder);
  world->log = open_memstream(&world->log_text, &world->log_size);
  assert_non_null(world->log);
  alo_lite_config config = changes ? *changes : (alo_lite_config){.connections_max = 0};
  config.engine.path = world->path;
  config.engine.name = ALOFT_TEXT("test");
  config.engine.wall_clock = engine_clock;
  config.engine.clock_context = world;
  config.user = ALOFT_TEXT(WORLD_USER);
  config.password = ALOFT_TEXT(WORLD_PASSWORD);
  config.address.in.sin_family = AF_INET;
  config.address.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  config.log = world->log;
  if (alo_lite_open(&world->lite, world->loop, &config, error) != ALOFT_OK)
    fail_msg("open: %s", error);
}

void world_close(lite_world *world) {
  static const char *const files[] = {"test.db", "test.db-wal", "test.db-shm"};
  alo_lite_close(world->lite);
  aloft_loop_close(world->loop);
  fclose(world->log);
  free(world->log_text);
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", world->folder, files[i]);
    unlink(path);
  }
  rmdir(world->folder);
}

void world_turn(lite_world *world) {
  assert_int_equal(aloft_loop_turn(world->loop, ALOFT_FOREVER), ALOFT_OK);
}

void world_until(lite_world *world, const bool *flag) {
  for (unsigned turns = 0; !*flag; turns++) {
    assert_true(turns < TURNS_MAX);
    world_turn(world);
  }
}

alo_lite_counters world_counters(const lite_world *world) {
  return alo_lite_get_counters(world->lite);
}

bool world_logged(lite_world *world, const char *text) {
  fflush(world->log);
  return world->log_text && strstr(world->log_text, text);
}

/* ---- raw clients ---- */

static void read_prelogin(lite_peer *peer, aloft_bytes *input) {
  for (;;) {
    aloft_bytes payload;
    switch (alo_tds_frames_next(&peer->frames, input, &payload)) {
    case ALO_TDS_FRAME_PAYLOAD:
      assert_int_equal(alo_buffer_append(&peer->prelogin_bytes, payload.data, payload.size),
                       ALOFT_OK);
      break;
    case ALO_TDS_FRAME_END:
      peer->prelogin_wrong = alo_tds_parse_prelogin(
          (aloft_bytes){peer->prelogin_bytes.data, alo_buffer_size(&peer->prelogin_bytes)},
          &peer->prelogin);
      peer->prelogin_read = true;
      return;
    case ALO_TDS_FRAME_NEED:
      return;
    default:
      fail_msg("broken packets");
    }
  }
}

static void read_peer(lite_peer *peer) {
  alo_chain *rx = &peer->stream.rx;
  while (rx->size) {
    alo_block *block = rx->first;
    size_t size = block->end - block->begin;
    aloft_bytes input = {block->data + block->begin, size};
    peer->bytes += size;
    if (!peer->prelogin_read)
      read_prelogin(peer, &input);
    if (input.size && !tds_transcript_feed(&peer->seen, peer->reader, input.data, input.size))
      fail_msg("the answer is no TDS: %s", peer->seen.text);
    alo_stream_drop(&peer->stream, size);
  }
}

static void peer_event(alo_stream *stream, alo_stream_event event) {
  lite_peer *peer = ALOFT_CONTAINER(stream, lite_peer, stream);
  if (event == ALO_STREAM_CONNECTED)
    peer->connected = true;
  else if (event == ALO_STREAM_READABLE)
    read_peer(peer);
  else if (event == ALO_STREAM_ENDED)
    peer->ended = true;
}

void peer_open(lite_peer *peer, lite_world *world) {
  memset(peer, 0, sizeof *peer);
  peer->world = world;
  alo_stream_init(&peer->stream, world->loop, (size_t)256 << 20);
  peer->stream.event = peer_event;
  alo_buffer_init(&peer->out, &alo_heap_default, (size_t)256 << 20);
  alo_buffer_init(&peer->prelogin_bytes, &alo_heap_default, 65536);
  alo_tds_writer_init(&peer->writer, &peer->out, ALO_TDS_PACKET_DEFAULT);
  peer->reader = alo_tds_reader_open(&alo_heap_default, NULL);
  assert_non_null(peer->reader);
  tds_transcript_init(&peer->seen, (size_t)128 << 10);
  assert_int_equal(
      alo_stream_dial(&peer->stream, ALOFT_TEXT("127.0.0.1"), alo_lite_port(world->lite)),
      ALOFT_OK);
}

void peer_close(lite_peer *peer) {
  alo_stream_fini(&peer->stream);
  alo_buffer_fini(&peer->out);
  alo_buffer_fini(&peer->prelogin_bytes);
  alo_tds_reader_close(peer->reader);
  tds_transcript_fini(&peer->seen);
}

void peer_send(lite_peer *peer, const void *data, size_t size) {
  assert_int_equal(alo_buffer_append(&peer->stream.tx, data, size), ALOFT_OK);
  alo_stream_send(&peer->stream);
}

void peer_flush(lite_peer *peer) {
  assert_int_equal(alo_tds_message_end(&peer->writer), ALOFT_OK);
  size_t size = alo_buffer_size(&peer->out);
  peer_send(peer, peer->out.data + peer->out.begin, size);
  alo_buffer_take(&peer->out, size);
}

void peer_prelogin(lite_peer *peer, uint8_t encryption) {
  const alo_tds_prelogin prelogin = {.has_encryption = true, .encryption = encryption};
  alo_tds_message_begin(&peer->writer, ALO_TDS_PRELOGIN, 0);
  alo_tds_put_prelogin(&peer->writer, &prelogin, false);
  peer_flush(peer);
}

void peer_send_login(lite_peer *peer, const alo_tds_login *login) {
  const alo_tds_login right = {.user = ALOFT_TEXT(WORLD_USER),
                               .password = ALOFT_TEXT(WORLD_PASSWORD),
                               .application = ALOFT_TEXT("tests")};
  alo_tds_message_begin(&peer->writer, ALO_TDS_LOGIN7, 0);
  alo_tds_put_login(&peer->writer, login ? login : &right);
  peer_flush(peer);
}

void peer_login(lite_peer *peer) {
  peer_prelogin(peer, ALO_TDS_ENCRYPT_NOT_SUP);
  peer_send_login(peer, NULL);
  assert_non_null(strstr(peer_wait(peer, 1), "login 1 74000004"));
  peer_clear(peer);
}

void peer_send_batch(lite_peer *peer, const char *sql, uint8_t status) {
  alo_tds_message_begin(&peer->writer, ALO_TDS_SQL_BATCH, status);
  alo_tds_put_batch(&peer->writer, 0, aloft_text_of(sql));
  peer_flush(peer);
}

void peer_attention(lite_peer *peer) {
  alo_tds_message_begin(&peer->writer, ALO_TDS_ATTENTION, 0);
  peer_flush(peer);
}

void peer_attention_now(lite_peer *peer) {
  static const uint8_t bytes[] = {ALO_TDS_ATTENTION, ALO_TDS_STATUS_EOM, 0, 8, 0, 0, 1, 0};
  assert_int_equal(peer->world->driver->methods->write(peer->stream.socket, bytes, sizeof bytes),
                   (ssize_t)sizeof bytes);
}

void peer_clear(lite_peer *peer) {
  tds_transcript_clear(&peer->seen);
}

const char *peer_wait(lite_peer *peer, uint64_t ends) {
  for (unsigned turns = 0; peer->seen.ends < ends; turns++) {
    if (peer->ended || turns >= TURNS_MAX)
      fail_msg("no %u. end; so far: %s", (unsigned)ends, peer->seen.text);
    world_turn(peer->world);
  }
  return peer->seen.text;
}

void peer_wait_end(lite_peer *peer) {
  world_until(peer->world, &peer->ended);
}

const char *peer_batch(lite_peer *peer, const char *sql) {
  peer_clear(peer);
  peer_send_batch(peer, sql, 0);
  return peer_wait(peer, 1);
}

void peer_expect(lite_peer *peer, const char *sql, const char *lines) {
  const char *seen = peer_batch(peer, sql);
  if (strcmp(seen, lines) != 0)
    fail_msg("%s\ngave:\n%sand not:\n%s", sql, seen, lines);
}

/* ---- Aloft's own client ---- */

typedef struct reading {
  char *text;
  size_t size, room;
  bool *done;
  aloft_status *status;
} reading;

/* One query at a time. */
static reading current;

static void add(const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 1, 2)))
#endif
    ;

static void add(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(current.text + current.size, current.room - current.size, format, arguments);
  va_end(arguments);
  assert_true(size >= 0 && (size_t)size < current.room - current.size);
  current.size += (size_t)size;
}

static void add_row(aloft_tds_query *query) {
  for (size_t i = 0; i < aloft_tds_column_count(query); i++) {
    aloft_text text = aloft_tds_text(query, i);
    add("%s", i ? "|" : "");
    if (text.data)
      add("%.*s", ALOFT_PRINT(text));
    else
      add("<null>");
  }
  add(";");
}

static void ready(aloft_tds_query *query) {
  aloft_status step;
  while ((step = aloft_tds_step(query)) == ALOFT_ROW || step == ALOFT_RESULT) {
    if (step == ALOFT_ROW)
      add_row(query);
    else if (current.size)
      add("/");
  }
}

static void message(aloft_tds_query *query, const aloft_error *error) {
  (void)query;
  add("[%d %.*s]", error->number, ALOFT_PRINT(error->message));
}

static void query_done(aloft_op *op, aloft_status status) {
  (void)op;
  *current.status = status;
  *current.done = true;
}

aloft_status client_run(lite_client *client, aloft_tds_query *query, char *text, size_t room) {
  bool done = false;
  aloft_status status = ALOFT_OK;
  text[0] = 0;
  current = (reading){.text = text, .room = room, .done = &done, .status = &status};
  query->op.done = query_done;
  query->ready = ready;
  query->message = message;
  assert_int_equal(aloft_tds_query_start(client->tds, query), ALOFT_OK);
  world_until(client->world, &done);
  return status;
}

aloft_status client_sql(lite_client *client, const char *sql, char *text, size_t room) {
  aloft_tds_query query = {.sql = aloft_text_of(sql)};
  return client_run(client, &query, text, room);
}

void client_open(lite_client *client, lite_world *world, const char *more) {
  char string[SERVER_ADDRESS_ROOM];
  bool done = false;
  aloft_status status = ALOFT_OK;
  aloft_op op = {.done = query_done};
  snprintf(string, sizeof string,
           "Server=tcp:127.0.0.1,%u;User Id=" WORLD_USER ";Password=" WORLD_PASSWORD
           ";Encrypt=Optional;%s",
           (unsigned)alo_lite_port(world->lite), more ? more : "");
  const aloft_tds_config config = {.size = sizeof config,
                                   .connection_string = aloft_text_of(string)};
  client->world = world;
  current = (reading){.done = &done, .status = &status};
  assert_int_equal(aloft_tds_open(&client->tds, world->loop, &config, &op), ALOFT_OK);
  world_until(world, &done);
  assert_int_equal(status, ALOFT_OK);
}

void client_close(lite_client *client) {
  assert_int_equal(aloft_tds_close(client->tds, NULL), ALOFT_OK);
}
