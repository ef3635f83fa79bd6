#include "stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

/* A read asks for room of at least READ_LEAST; a stream reads at most READ_SHARE in one turn, so
 * that one busy peer does not keep the others waiting. */
enum { READ_LEAST = 2048, READ_SHARE = 512 << 10 };

static const alo_driver_methods *methods_of(const alo_stream *stream) {
  return stream->loop->driver->methods;
}

static void set_interest(alo_stream *stream) {
  if (!stream->socket)
    return;
  bool full = stream->rx_max && stream->rx.size >= stream->rx_max;
  unsigned events = 0;
  if (!stream->connected)
    events = ALO_WRITABLE;
  else if (!stream->ended && stream->tx_failed)
    events = stream->paused || full ? 0u : (unsigned)ALO_READABLE | (unsigned)ALO_WRITABLE;
  else if (!stream->ended)
    events = (stream->paused || full ? 0u : (unsigned)ALO_READABLE) |
             (alo_buffer_size(&stream->tx) ? (unsigned)ALO_WRITABLE : 0u);
  methods_of(stream)->interest(stream->socket, events);
}

static void end(alo_stream *stream, aloft_status failed, int error) {
  if (stream->ended)
    return;
  stream->ended = true;
  stream->failed = failed;
  stream->error = error < 0 ? -error : error; /* from a driver: negative */
  set_interest(stream);
  stream->event(stream, ALO_STREAM_ENDED);
}

/* ---- writing ---- */

/* Writable interest is asked for only when the kernel has not taken all. */
static void write_out(alo_stream *stream) {
  if (stream->tx_peak < alo_buffer_size(&stream->tx))
    stream->tx_peak = alo_buffer_size(&stream->tx);
  while (stream->open && !stream->tx_failed && alo_buffer_size(&stream->tx)) {
    size_t size = alo_buffer_size(&stream->tx);
    ssize_t put =
        methods_of(stream)->write(stream->socket, stream->tx.data + stream->tx.begin, size);
    if (put == -EAGAIN || put == -EWOULDBLOCK)
      break;
    if (put < 0) {
      /* Bytes that the peer sent before may still wait: reading finds them, and then the end. */
      stream->tx_failed = true;
      stream->tx_error = (int)-put;
      break;
    }
    stream->tx_written += (uint64_t)put;
    alo_buffer_take(&stream->tx, (size_t)put);
  }
  if (!stream->open)
    return;
  set_interest(stream);
  bool stuck = stream->tx_failed && stream->paused;
  if (stream->want_drained && (alo_buffer_size(&stream->tx) == 0 || stuck)) {
    stream->want_drained = false;
    stream->event(stream, ALO_STREAM_DRAINED);
  }
}

static void output_due(alo_output *output) {
  alo_stream *stream = ALOFT_CONTAINER(output, alo_stream, output);
  if (stream->connected && !stream->ended)
    write_out(stream);
}

void alo_stream_send(alo_stream *stream) {
  alo_loop_output(stream->loop, &stream->output);
}

/* ---- reading ---- */

typedef enum { READ_MORE, READ_EMPTY, READ_STOP } read_answer;

static read_answer read_once(alo_stream *stream, size_t *share) {
  size_t room;
  uint8_t *into = alo_chain_room(&stream->rx, &stream->loop->blocks, READ_LEAST, &room);
  if (!into) {
    end(stream, ALOFT_NO_MEMORY, 0);
    return READ_STOP;
  }
  ssize_t got = methods_of(stream)->read(stream->socket, into, room);
  bool empty = got == -EAGAIN || got == -EWOULDBLOCK;
  if (empty && !stream->tx_failed)
    return READ_EMPTY;
  if (got <= 0) {
    /* A failed write has taken the socket's error with it: the end alone would not tell why. */
    int error = (empty || got == 0) && stream->tx_failed ? stream->tx_error : (int)-got;
    end(stream, error ? ALOFT_LOST : ALOFT_OK, error);
    return READ_STOP;
  }
  alo_chain_filled(&stream->rx, (size_t)got);
  stream->rx_bytes += (uint64_t)got;
  *share -= (size_t)got < *share ? (size_t)got : *share;
  stream->event(stream, ALO_STREAM_READABLE);
  return (size_t)got < room ? READ_EMPTY : READ_MORE;
}

static bool may_read(const alo_stream *stream) {
  return stream->open && !stream->ended && !stream->paused &&
         !(stream->rx_max && stream->rx.size >= stream->rx_max);
}

static void read_in(alo_stream *stream) {
  size_t share = READ_SHARE;
  while (may_read(stream)) {
    if (share == 0) {
      stream->loop->input_left = true;
      break;
    }
    if (read_once(stream, &share) != READ_MORE)
      break;
  }
  if (stream->open)
    set_interest(stream);
}

/* ---- connecting ---- */

static void connect_next(alo_stream *stream, int error) {
  while (stream->next_address < stream->resolve.count) {
    const alo_address *address = &stream->addresses[stream->next_address++];
    error =
        methods_of(stream)->connect(stream->loop->driver, address, &stream->watch, &stream->socket);
    if (error == 0)
      return;
  }
  end(stream, ALOFT_CONNECT, error);
}

static void connect_decided(alo_stream *stream) {
  int error = methods_of(stream)->connected(stream->socket);
  if (error == 0) {
    stream->connected = true;
    set_interest(stream);
    stream->event(stream, ALO_STREAM_CONNECTED);
    return;
  }
  methods_of(stream)->shut(stream->socket);
  stream->socket = NULL;
  connect_next(stream, error);
}

static void socket_ready(alo_watch *watch, unsigned events) {
  alo_stream *stream = ALOFT_CONTAINER(watch, alo_stream, watch);
  if (!stream->connected) {
    connect_decided(stream);
    return;
  }
  if ((events & ALO_WRITABLE) && !stream->ended)
    write_out(stream);
  if ((events & ALO_READABLE) || stream->tx_failed)
    read_in(stream);
}

static void name_resolved(alo_resolve *resolve, int result) {
  alo_stream *stream = ALOFT_CONTAINER(resolve, alo_stream, resolve);
  if (result < 0)
    end(stream, ALOFT_RESOLVE, 0);
  else
    connect_next(stream, -ECONNREFUSED);
}

static bool numeric(alo_address *address, const char *host, uint16_t port) {
  memset(address, 0, sizeof *address);
  if (inet_pton(AF_INET, host, &address->in.sin_addr) == 1) {
    address->in.sin_family = AF_INET;
    address->in.sin_port = htons(port);
    return true;
  }
  if (inet_pton(AF_INET6, host, &address->in6.sin6_addr) == 1) {
    address->in6.sin6_family = AF_INET6;
    address->in6.sin6_port = htons(port);
    return true;
  }
  return false;
}

aloft_status alo_stream_dial(alo_stream *stream, aloft_text host, uint16_t port) {
  char name[ALO_HOST_MAX + 1];
  if (host.size == 0 || host.size > ALO_HOST_MAX || memchr(host.data, 0, host.size))
    return ALOFT_ARGUMENT;
  memcpy(name, host.data, host.size);
  name[host.size] = 0;
  const alo_driver_methods *methods = methods_of(stream);
  stream->resolve = (alo_resolve){
      .resolved = name_resolved, .addresses = stream->addresses, .room = ALO_ADDRESSES_MAX};
  stream->port = port;
  stream->next_address = 0;
  int error;
  if (numeric(&stream->addresses[0], name, port)) {
    stream->resolve.count = stream->next_address = 1;
    error = methods->connect(stream->loop->driver, &stream->addresses[0], &stream->watch,
                             &stream->socket);
  } else {
    error = methods->resolve(stream->loop->driver, &stream->resolve, name, port);
  }
  if (error < 0) {
    stream->error = -error;
    stream->failed = error == -ENOMEM       ? ALOFT_NO_MEMORY
                     : stream->next_address ? ALOFT_CONNECT
                                            : ALOFT_RESOLVE;
    return stream->failed;
  }
  stream->open = true;
  return ALOFT_OK;
}

bool alo_stream_accept(alo_stream *stream, alo_socket *listener) {
  int error = methods_of(stream)->accept(listener, &stream->watch, &stream->socket);
  if (error < 0) {
    stream->error = -error;
    return false;
  }
  stream->open = stream->connected = true;
  set_interest(stream);
  return true;
}

/* ---- life ---- */

void alo_stream_init(alo_stream *stream, aloft_loop *loop, size_t tx_max) {
  stream->loop = loop;
  stream->watch.ready = socket_ready;
  stream->output.write = output_due;
  alo_buffer_init(&stream->tx, &loop->heap, tx_max);
}

void alo_stream_drop(alo_stream *stream, size_t size) {
  bool was_full = stream->rx_max && stream->rx.size >= stream->rx_max;
  alo_chain_drop(&stream->rx, &stream->loop->blocks, size);
  if (was_full && stream->rx.size < stream->rx_max)
    set_interest(stream);
}

void alo_stream_pause(alo_stream *stream, bool paused) {
  if (stream->paused == paused)
    return;
  stream->paused = paused;
  set_interest(stream);
}

void alo_stream_close(alo_stream *stream) {
  if (!stream->open)
    return;
  stream->open = false;
  stream->ended = true;
  methods_of(stream)->resolve_cancel(stream->loop->driver, &stream->resolve);
  if (stream->socket)
    methods_of(stream)->shut(stream->socket);
  stream->socket = NULL;
  alo_loop_output_forget(stream->loop, &stream->output);
}

void alo_stream_fini(alo_stream *stream) {
  alo_stream_close(stream);
  alo_chain_clear(&stream->rx, &stream->loop->blocks);
  alo_buffer_fini(&stream->tx);
}
