/* Streams over a driver that this test holds in its hand: what a kernel may answer, in any order.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "harness_loop.h"
#include "stream.h"

typedef struct world {
  harness_loop at;
  alo_stream client, server;
  alo_watch watch;
  alo_socket *listener;
  uint16_t port;
  unsigned connected, readable, drained, ended; /* of the client */
  bool close_when_readable;
  size_t read_at_end;
} world;

static world *w;
static alo_driver_methods bent;
static const alo_driver_methods *real;
static ssize_t write_answer; /* 0: the driver's own */
static bool flood;           /* reading never ends */
static unsigned refusals;    /* connects that are refused at once */

static ssize_t bent_write(alo_socket *socket, const void *from, size_t size) {
  return write_answer && socket == w->client.socket ? write_answer
                                                    : real->write(socket, from, size);
}

static ssize_t bent_read(alo_socket *socket, void *into, size_t size) {
  if (!flood || socket != w->client.socket)
    return real->read(socket, into, size);
  memset(into, 'f', size);
  return (ssize_t)size;
}

static int bent_connect(alo_driver *driver, const alo_address *to, alo_watch *watch,
                        alo_socket **made) {
  if (refusals && refusals--)
    return -ENETUNREACH;
  return real->connect(driver, to, watch, made);
}

static void client_event(alo_stream *stream, alo_stream_event event) {
  switch ((int)event) {
  case ALO_STREAM_CONNECTED:
    w->connected++;
    break;
  case ALO_STREAM_SECURED:
    break;
  case ALO_STREAM_READABLE:
    w->readable++;
    if (flood)
      alo_stream_drop(stream, stream->rx.size);
    if (w->close_when_readable)
      alo_stream_close(stream);
    break;
  case ALO_STREAM_DRAINED:
    w->drained++;
    break;
  case ALO_STREAM_ENDED:
    w->ended++;
    w->read_at_end = stream->rx.size;
  }
}

static void server_event(alo_stream *stream, alo_stream_event event) {
  if (event == ALO_STREAM_READABLE)
    alo_stream_drop(stream, stream->rx.size);
}

static void connection_waits(alo_watch *watch, unsigned events) {
  (void)watch;
  (void)events;
  assert_true(alo_stream_accept(&w->server, w->listener));
}

static int begin(void **state) {
  static world place;
  memset(&place, 0, sizeof place);
  w = &place;
  write_answer = 0;
  flood = false;
  refusals = 0;
  harness_loop_open(&w->at, *(bool *)*state, 1, NULL);
  alo_driver *driver = w->at.loop->driver;
  real = driver->methods;
  bent = *real;
  bent.write = bent_write;
  bent.read = bent_read;
  bent.connect = bent_connect;
  driver->methods = &bent;
  alo_address at = {.in = {.sin_family = AF_INET}}, bound;
  at.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  w->watch.ready = connection_waits;
  assert_int_equal(real->listen(driver, &at, &w->watch, &w->listener, &bound), 0);
  w->port = ntohs(bound.in.sin_port);
  alo_stream_init(&w->client, w->at.loop, 1 << 20);
  alo_stream_init(&w->server, w->at.loop, 1 << 20);
  w->client.event = client_event;
  w->server.event = server_event;
  return 0;
}

static int end(void **state) {
  (void)state;
  alo_stream_fini(&w->client);
  alo_stream_fini(&w->server);
  real->shut(w->listener);
  harness_loop_close(&w->at);
  return 0;
}

static void connect_both(void) {
  assert_int_equal(alo_stream_dial(&w->client, ALOFT_TEXT("127.0.0.1"), w->port), ALOFT_OK);
  assert_int_equal(w->connected, 0); /* never inside the call */
  HARNESS_TURN_UNTIL(w->at.loop, w->connected && w->server.open);
}

static void put(alo_stream *stream, const char *text) {
  assert_int_equal(alo_buffer_append(&stream->tx, text, strlen(text)), ALOFT_OK);
  alo_stream_send(stream);
}

static void test_bytes_before_the_end_are_read(void **state) {
  (void)state;
  connect_both();
  put(&w->server, "last words");
  HARNESS_TURN_UNTIL(w->at.loop, alo_buffer_size(&w->server.tx) == 0);
  alo_stream_close(&w->server);
  put(&w->client, "into the void");
  HARNESS_TURN_UNTIL(w->at.loop, w->ended);
  assert_int_equal(w->read_at_end, 10);
  for (int i = 0; i < 5; i++)
    assert_int_equal(harness_turn(w->at.loop, ALOFT_MILLISECONDS(1)), ALOFT_OK);
  assert_int_equal(w->ended, 1);
}

/* A write that fails with nothing to read and no end in sight is an end. */
static void test_failed_output_ends_it(void **state) {
  (void)state;
  connect_both();
  put(&w->server, "before");
  HARNESS_TURN_UNTIL(w->at.loop, alo_buffer_size(&w->server.tx) == 0);
  write_answer = -ENOBUFS;
  put(&w->client, "x");
  HARNESS_TURN_UNTIL(w->at.loop, w->ended);
  assert_int_equal(w->client.failed, ALOFT_LOST);
  assert_int_equal(w->client.error, ENOBUFS);
  assert_int_equal(w->read_at_end, 6);
  assert_int_equal(w->client.tx_written, 0);
}

static void test_failed_output_while_paused(void **state) {
  (void)state;
  connect_both();
  put(&w->server, "before");
  HARNESS_TURN_UNTIL(w->at.loop, alo_buffer_size(&w->server.tx) == 0);
  alo_stream_pause(&w->client, true);
  unsigned before = w->readable;
  write_answer = -ENOBUFS;
  put(&w->client, "x");
  for (int i = 0; i < 5; i++)
    assert_int_equal(harness_turn(w->at.loop, ALOFT_MILLISECONDS(1)), ALOFT_OK);
  assert_int_equal(w->ended, 0);
  assert_int_equal(w->readable, before);
  assert_int_equal(w->drained, 0);
  w->client.want_drained = true; /* who waits for that is told that it is in vain, once */
  for (int i = 0; i < 3; i++) {
    put(&w->client, "y");
    assert_int_equal(harness_turn(w->at.loop, ALOFT_MILLISECONDS(1)), ALOFT_OK);
  }
  assert_int_equal(w->drained, 1);
  assert_true(alo_buffer_size(&w->client.tx) > 0);
  alo_stream_pause(&w->client, false);
  HARNESS_TURN_UNTIL(w->at.loop, w->ended);
  assert_int_equal(w->read_at_end, 6);
}

static void test_close_inside_an_event(void **state) {
  (void)state;
  connect_both();
  w->close_when_readable = true;
  put(&w->server, "x");
  HARNESS_TURN_UNTIL(w->at.loop, w->readable);
  for (int i = 0; i < 5; i++)
    assert_int_equal(harness_turn(w->at.loop, ALOFT_MILLISECONDS(1)), ALOFT_OK);
  assert_int_equal(w->readable + w->ended, 1);
  HARNESS_TURN_UNTIL(w->at.loop, w->server.ended); /* the peer is told */
}

static void test_each_address_is_tried(void **state) {
  (void)state;
  refusals = 1;
  assert_int_equal(alo_stream_dial(&w->client, ALOFT_TEXT("127.0.0.1"), w->port), ALOFT_CONNECT);
  assert_int_equal(w->client.error, ENETUNREACH);
  assert_int_equal(w->client.failed, ALOFT_CONNECT);
  assert_int_equal(alo_stream_dial(&w->client, ALOFT_TEXT(""), 1), ALOFT_ARGUMENT);
  assert_int_equal(alo_stream_dial(&w->client, ALOFT_TEXT("a\0b"), 1), ALOFT_ARGUMENT);
  refusals = ALO_ADDRESSES_MAX;
  assert_int_equal(alo_stream_dial(&w->client, ALOFT_TEXT("localhost"), w->port), ALOFT_OK);
  HARNESS_TURN_UNTIL(w->at.loop, w->ended);
  assert_int_equal(w->client.failed, ALOFT_CONNECT);
  assert_int_equal(w->client.error, ENETUNREACH);
}

static void test_rx_max_holds_reading(void **state) {
  (void)state;
  connect_both();
  w->client.rx_max = 1000;
  char large[5001];
  memset(large, 'x', sizeof large - 1);
  large[5000] = 0;
  put(&w->server, large);
  for (int i = 0; i < 5; i++)
    assert_int_equal(harness_turn(w->at.loop, ALOFT_MILLISECONDS(1)), ALOFT_OK);
  size_t held = w->client.rx.size;
  assert_true(held >= 1000);
  put(&w->server, large);
  for (int i = 0; i < 5; i++)
    assert_int_equal(harness_turn(w->at.loop, ALOFT_MILLISECONDS(1)), ALOFT_OK);
  assert_int_equal(w->client.rx.size, held);
  alo_stream_drop(&w->client, held);
  HARNESS_TURN_UNTIL(w->at.loop, w->client.rx_bytes > held);
}

/* Deadlines wait for what has arrived, but not for ever; and one stream does not keep the loop. */
static void test_a_flood_does_not_hold_the_deadlines_for_ever(void **state) {
  (void)state;
  connect_both();
  put(&w->server, "x");
  HARNESS_TURN_UNTIL(w->at.loop, w->readable);
  flood = true;
  put(&w->server, "x");
  harness_op nap = {.op = {.done = harness_op_done, .timeout_ns = 1}};
  uint64_t begun = w->at.loop->turns, bytes = w->client.rx_bytes;
  assert_int_equal(aloft_sleep_start(w->at.loop, &nap.op), ALOFT_OK);
  while (real->now(w->at.loop->driver) < nap.op.own.due_ns + ALOFT_MILLISECONDS(1))
    if (w->at.sim)
      alo_sim_pass(w->at.sim, ALOFT_MILLISECONDS(2));
  HARNESS_TURN_UNTIL(w->at.loop, nap.done_count);
  assert_in_range(w->at.loop->turns - begun, 2, 17);
  assert_true(w->client.rx_bytes - bytes <= (w->at.loop->turns - begun) * (600 << 10));
  assert_true(w->client.rx_bytes - bytes >= 6 << 20); /* a socket's whole buffer was read first */
  flood = false;
  for (int i = 0; i < 3; i++)
    assert_int_equal(aloft_loop_turn(w->at.loop, 0), ALOFT_OK);
  assert_false(w->at.loop->input_left); /* or the loop would never wait again */
}

static void test_drained(void **state) {
  (void)state;
  connect_both();
  put(&w->client, "x");
  w->client.want_drained = true;
  HARNESS_TURN_UNTIL(w->at.loop, w->drained);
  put(&w->client, "y");
  HARNESS_TURN_UNTIL(w->at.loop, w->server.rx_bytes == 2);
  assert_int_equal(w->drained, 1);
  assert_int_equal(alo_stream_tx_end(&w->client), 2);
}

static bool on_uv = false, on_sim = true;

#define BOTH(test)                                                                                 \
  {#test " on uv", test, begin, end, &on_uv}, {                                                    \
    #test " on sim", test, begin, end, &on_sim                                                     \
  }

int main(void) {
  const struct CMUnitTest tests[] = {
      BOTH(test_bytes_before_the_end_are_read),
      BOTH(test_failed_output_ends_it),
      BOTH(test_failed_output_while_paused),
      BOTH(test_close_inside_an_event),
      BOTH(test_each_address_is_tried),
      BOTH(test_rx_max_holds_reading),
      BOTH(test_a_flood_does_not_hold_the_deadlines_for_ever),
      BOTH(test_drained),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
