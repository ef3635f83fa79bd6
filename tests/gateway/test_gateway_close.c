/* The gateway's end while replies wait for room: everything is given back in order. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "gateway.h"
#include "harness_loop.h"
#include "nats_toy.h"
#include "tds_server.h"

enum { REQUESTS = 20, CONNECTIONS = 4 };

typedef struct world {
  harness_loop at;
  aloft_loop *loop;
  nats_toy toy;
  tds_server sql;
  aloft_nats *serving, *asking;
  alo_endpoint_folder folder;
  alo_gateway *gateway;
  char path[64];
} world;

static void take_line(void *context, const char *line) {
  (void)context;
  (void)line;
}

static aloft_nats *join(world *self, size_t tx_bytes_max) {
  aloft_nats *nats;
  harness_op op = {.op = {.done = harness_op_done}};
  const aloft_nats_config config = {
      .size = sizeof config, .url = aloft_text_of(self->toy.url), .tx_bytes_max = tx_bytes_max};
  assert_int_equal(aloft_nats_open(&nats, self->loop, &config, &op.op), ALOFT_OK);
  assert_int_equal(aloft_wait(self->loop, &op.op), ALOFT_OK);
  return nats;
}

static void write_endpoint(world *self) {
  char path[96], error[ALO_ENDPOINT_ERROR_MAX];
  snprintf(self->path, sizeof self->path, "/tmp/aloft-gateway-XXXXXX");
  assert_non_null(mkdtemp(self->path));
  snprintf(path, sizeof path, "%s/big.sql", self->path);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs("large 900000\n", file);
  fclose(file);
  assert_true(alo_endpoint_folder_load(&self->folder, self->path, error));
  unlink(path);
  rmdir(self->path);
}

static void open_gateway(world *self) {
  char connection[128], error[ALO_GATEWAY_ERROR_MAX];
  snprintf(connection, sizeof connection,
           "Server=tcp:127.0.0.1,%u;User Id=sa;Password=x;Encrypt=Optional",
           (unsigned)self->sql.port);
  const alo_gateway_config config = {.loop = self->loop,
                                     .nats = self->serving,
                                     .folder = &self->folder,
                                     .connection = {.size = sizeof config.connection,
                                                    .connection_string = aloft_text_of(connection)},
                                     .connections_max = CONNECTIONS,
                                     .drain_ns = ALOFT_SECONDS(30),
                                     .line = take_line};
  assert_int_equal(alo_gateway_open(&self->gateway, &config, error), ALOFT_OK);
  assert_int_equal(alo_gateway_try_server(self->gateway, NULL, error), ALOFT_OK);
  assert_int_equal(alo_gateway_start(self->gateway, error), ALOFT_OK);
  HARNESS_TURN_UNTIL(self->loop, nats_toy_subscriptions(&self->toy) > 0);
}

static void open_world(world *self) {
  memset(self, 0, sizeof *self);
  harness_loop_open(&self->at, false, 1, NULL);
  self->loop = self->at.loop;
  nats_toy_open(&self->toy, self->loop, NULL);
  tds_server_open(&self->sql, self->loop);
  self->serving = join(self, 1 << 20);
  self->asking = join(self, 0);
  write_endpoint(self);
  open_gateway(self);
}

static void close_nats(aloft_nats *nats, aloft_loop *loop) {
  harness_op op = {.op = {.done = harness_op_done, .timeout_ns = ALOFT_MILLISECONDS(50)}};
  assert_int_equal(aloft_nats_close(nats, &op.op), ALOFT_OK);
  HARNESS_TURN_UNTIL(loop, op.done_count);
}

static size_t waiting(const world *self) {
  aloft_nats_info info = {.size = sizeof info};
  aloft_nats_get_info(self->serving, &info);
  return info.tx_bytes;
}

static void replies_that_wait_for_room(void **state) {
  static world self;
  (void)state;
  open_world(&self);
  for (int i = 0; i < REQUESTS; i++) {
    const aloft_nats_message message = {.subject = ALOFT_TEXT("big"), .reply = ALOFT_TEXT("r.x")};
    assert_int_equal(aloft_nats_publish(self.asking, &message), ALOFT_OK);
  }
  HARNESS_TURN_UNTIL(self.loop, self.sql.requests > 1); /* the first is the try */
  nats_toy_pause(&self.toy, true);
  HARNESS_TURN_UNTIL(self.loop, waiting(&self) > 200000); /* of 1 MiB: no other reply fits */
  for (int i = 0; i < 50; i++)
    assert_int_equal(aloft_loop_turn(self.loop, ALOFT_MILLISECONDS(1)), ALOFT_OK);
  alo_gateway_close(self.gateway);
  close_nats(self.serving, self.loop);
  close_nats(self.asking, self.loop);
  alo_endpoint_folder_free(&self.folder);
  tds_server_close(&self.sql);
  nats_toy_close(&self.toy);
  harness_loop_close(&self.at);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(replies_that_wait_for_room)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
