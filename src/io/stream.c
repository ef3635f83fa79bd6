#include "stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

/* A read asks for room of at least READ_LEAST; a stream reads at most READ_SHARE in one turn, so
 * that one busy peer does not keep the others waiting. PLAIN_SHARE is decrypted between two events.
 */
enum { READ_LEAST = 2048, READ_SHARE = 512 << 10, PLAIN_SHARE = 64 << 10 };

static const alo_driver_methods *methods_of(const alo_stream *stream) {
  return stream->loop->driver->methods;
}

static bool is_full(const alo_stream *stream) {
  return stream->rx_max && stream->rx.size >= stream->rx_max;
}

/* Whether there is something for the kernel now; what a handshake, or a message like one, holds
 * back is not. */
static bool has_output(const alo_stream *stream) {
  const alo_tls *tls = stream->tls;
  if (tls && alo_buffer_size(&tls->out))
    return true;
  return alo_buffer_size(&stream->tx) && (!tls || (tls->established && !tls->held));
}

static void set_interest(alo_stream *stream) {
  if (!stream->socket)
    return;
  bool full = is_full(stream);
  unsigned events = 0;
  if (!stream->connected)
    events = ALO_WRITABLE;
  else if (!stream->ended && stream->tx_failed)
    events = stream->paused || full ? 0u : (unsigned)ALO_READABLE | (unsigned)ALO_WRITABLE;
  else if (!stream->ended)
    events = (stream->paused || full ? 0u : (unsigned)ALO_READABLE) |
             (has_output(stream) ? (unsigned)ALO_WRITABLE : 0u);
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

/* What the session has left to say, as far as the kernel takes it now. */
static void say_last(alo_stream *stream) {
  const alo_buffer *out = &stream->tls->out;
  ssize_t put = 1;
  while (put > 0 && alo_buffer_size(out)) {
    put = methods_of(stream)->write(stream->socket, out->data + out->begin, alo_buffer_size(out));
    if (put > 0)
      (void)alo_tls_sent(stream->tls, (size_t)put);
  }
}

/* The session's failure, and its alert. */
static void end_by_session(alo_stream *stream) {
  if (!stream->tx_failed)
    say_last(stream);
  end(stream, stream->tls->failed, 0);
}

/* ---- writing ---- */

static ssize_t put_plain(alo_stream *stream) {
  alo_buffer *tx = &stream->tx;
  ssize_t put =
      methods_of(stream)->write(stream->socket, tx->data + tx->begin, alo_buffer_size(tx));
  if (put > 0) {
    stream->tx_taken = stream->tx_written += (uint64_t)put;
    alo_buffer_take(tx, (size_t)put);
  }
  return put;
}

/* More is encrypted when the last batch is gone: `tx` is what bounds output. */
static ssize_t put_encrypted(alo_stream *stream) {
  alo_tls *tls = stream->tls;
  if (alo_buffer_size(&tls->out) == 0) {
    size_t before = alo_buffer_size(&stream->tx);
    aloft_status status = alo_tls_write(tls, &stream->tx);
    stream->tx_taken += before - alo_buffer_size(&stream->tx);
    if (status != ALOFT_OK || alo_buffer_size(&tls->out) == 0)
      return 0;
  }
  ssize_t put = methods_of(stream)->write(stream->socket, tls->out.data + tls->out.begin,
                                          alo_buffer_size(&tls->out));
  if (put > 0)
    stream->tx_written = stream->tls_begin + alo_tls_sent(tls, (size_t)put);
  return put;
}

static void write_all(alo_stream *stream) {
  while (stream->open && !stream->tx_failed && has_output(stream)) {
    ssize_t put = stream->tls ? put_encrypted(stream) : put_plain(stream);
    if (put == -EAGAIN || put == -EWOULDBLOCK || put == 0)
      break;
    if (put < 0) {
      /* Bytes that the peer sent before may still wait: reading finds them, and then the end. */
      stream->tx_failed = true;
      stream->tx_error = (int)-put;
    }
  }
}

/* Writable interest is asked for only when the kernel has not taken all. */
static void write_out(alo_stream *stream) {
  if (stream->tx_peak < alo_buffer_size(&stream->tx))
    stream->tx_peak = alo_buffer_size(&stream->tx);
  write_all(stream);
  if (!stream->open)
    return;
  if (stream->tls && stream->tls->failed != ALOFT_OK) {
    end_by_session(stream);
    return;
  }
  set_interest(stream);
  bool stuck = stream->tx_failed && stream->paused;
  if (stream->want_drained && (alo_stream_tx_left(stream) == 0 || stuck)) {
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

static bool may_read(const alo_stream *stream) {
  return stream->open && !stream->ended && !stream->paused && !is_full(stream);
}

static bool shake_hands(alo_stream *stream) {
  aloft_status status = alo_tls_handshake(stream->tls);
  alo_stream_send(stream); /* an answer, or what was held until now */
  if (status == ALOFT_PENDING) {
    stream->tls->resumable = false;
    return false;
  }
  if (status != ALOFT_OK) {
    end_by_session(stream);
    return false;
  }
  stream->event(stream, ALO_STREAM_SECURED);
  return stream->open && !stream->ended;
}

/* The end comes a turn after the last bytes, as it does from a kernel: they are looked at first. */
static bool decrypt_some(alo_stream *stream, alo_tls *tls) {
  size_t before = stream->rx.size;
  aloft_status status = alo_tls_read(tls, &stream->rx, PLAIN_SHARE);
  bool more = stream->rx.size > before, over = status != ALOFT_OK && status != ALOFT_PENDING;
  if (alo_buffer_size(&tls->out) && !over)
    alo_stream_send(stream); /* an answer to a key update */
  if (over && more) {
    tls->resumable = true;
    alo_loop_input_forget(stream->loop, &stream->input); /* of this turn */
    alo_loop_input(stream->loop, &stream->input);
  }
  if (more)
    stream->event(stream, ALO_STREAM_READABLE);
  else if (status == ALOFT_DONE)
    end(stream, ALOFT_OK, 0);
  else if (over)
    end_by_session(stream);
  return !over;
}

/* Shows what the session gives, as long as there is more and it may. */
static void decrypt(alo_stream *stream) {
  alo_tls *tls = stream->tls;
  while (stream->tls == tls && tls->resumable && may_read(stream)) {
    if (!tls->established && !shake_hands(stream))
      return;
    if (stream->tls != tls || !may_read(stream))
      return;
    if (!decrypt_some(stream, tls))
      return;
  }
}

static void read_ended(alo_stream *stream, int error) {
  if (error == 0 && stream->tls && alo_tls_ended(stream->tls) != ALOFT_OK)
    end(stream, stream->tls->failed, 0);
  else
    end(stream, error ? ALOFT_LOST : ALOFT_OK, error);
}

static read_answer read_once(alo_stream *stream, size_t *share) {
  size_t room;
  alo_chain *chain = stream->tls ? &stream->tls->in : &stream->rx;
  uint8_t *into = alo_chain_room(chain, &stream->loop->blocks, READ_LEAST, &room);
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
    read_ended(stream, (empty || got == 0) && stream->tx_failed ? stream->tx_error : (int)-got);
    return READ_STOP;
  }
  alo_chain_filled(chain, (size_t)got);
  stream->rx_bytes += (uint64_t)got;
  *share -= (size_t)got < *share ? (size_t)got : *share;
  if (stream->tls) {
    stream->tls->resumable = true;
    decrypt(stream);
  } else {
    stream->event(stream, ALO_STREAM_READABLE);
  }
  return (size_t)got < room ? READ_EMPTY : READ_MORE;
}

static void read_in(alo_stream *stream) {
  size_t share = READ_SHARE;
  if (stream->tls && stream->tls->resumable)
    decrypt(stream);
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

/* What was received before and not shown: no descriptor tells of it. */
static void input_due(alo_input *input) {
  alo_stream *stream = ALOFT_CONTAINER(input, alo_stream, input);
  if (!may_read(stream))
    return;
  if (stream->tls)
    decrypt(stream);
  else if (stream->rx.size) /* that came behind the last record of a session */
    stream->event(stream, ALO_STREAM_READABLE);
  if (stream->open)
    set_interest(stream);
}

static void resume(alo_stream *stream) {
  if (stream->tls && stream->tls->resumable && may_read(stream))
    alo_loop_input(stream->loop, &stream->input);
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

/* ---- encryption ---- */

/* What waits in `tx` goes before the session's first byte, as it is. */
static aloft_status move_output(alo_stream *stream, alo_tls *tls) {
  alo_buffer *tx = &stream->tx, before = tls->out;
  size_t size = alo_buffer_size(tx);
  if (size == 0)
    return ALOFT_OK;
  alo_buffer_init(&tls->out, before.heap, before.max + size);
  aloft_status status = alo_buffer_append(&tls->out, tx->data + tx->begin, size);
  if (status == ALOFT_OK && alo_buffer_size(&before))
    status = alo_buffer_append(&tls->out, before.data + before.begin, alo_buffer_size(&before));
  alo_buffer_fini(&before);
  if (status != ALOFT_OK)
    return status;
  alo_tls_lead(tls, size);
  stream->tx_taken += size;
  alo_buffer_take(tx, size);
  return ALOFT_OK;
}

static aloft_status move_input(alo_stream *stream, alo_tls *tls) {
  alo_chain *rx = &stream->rx;
  while (rx->size) {
    const alo_block *first = rx->first;
    size_t size = first->end - first->begin;
    if (!alo_tls_feed(tls, first->data + first->begin, size))
      return ALOFT_NO_MEMORY;
    alo_chain_drop(rx, &stream->loop->blocks, size);
  }
  return ALOFT_OK;
}

aloft_status alo_stream_secure(alo_stream *stream, alo_tls *tls) {
  aloft_status status =
      !stream->connected || stream->ended || stream->tls ? ALOFT_WRONG_STATE : ALOFT_OK;
  uint64_t begin = stream->tx_written;
  if (status == ALOFT_OK)
    status = move_output(stream, tls);
  if (status == ALOFT_OK)
    status = move_input(stream, tls);
  if (status != ALOFT_OK) {
    alo_tls_close(tls);
    return status;
  }
  stream->tls = tls;
  stream->tls_begin = begin - tls->plain_sent;
  tls->resumable = tls->resumable || !tls->established; /* a client speaks first */
  alo_loop_input(stream->loop, &stream->input);
  alo_stream_send(stream);
  return ALOFT_OK;
}

aloft_status alo_stream_unsecure(alo_stream *stream) {
  alo_tls *tls = stream->tls;
  if (!tls || alo_stream_tx_left(stream) || alo_buffer_size(&tls->out))
    return ALOFT_WRONG_STATE;
  stream->tls = NULL;
  if (tls->in.size) {
    alo_chain_join(&stream->rx, &tls->in);
    alo_chain_drop(&stream->rx, &stream->loop->blocks, 0);
    alo_loop_input(stream->loop, &stream->input);
  }
  alo_tls_close(tls);
  return ALOFT_OK;
}

/* As far as the kernel takes it now; behind a record that it has not taken whole it would be
 * nonsense. */
static void say_close(alo_stream *stream) {
  alo_tls *tls = stream->tls;
  if (!tls || !stream->socket || stream->tx_failed || alo_buffer_size(&tls->out))
    return;
  alo_tls_say_close(tls);
  say_last(stream);
}

/* ---- life ---- */

void alo_stream_init(alo_stream *stream, aloft_loop *loop, size_t tx_max) {
  stream->loop = loop;
  stream->watch.ready = socket_ready;
  stream->output.write = output_due;
  stream->input.read = input_due;
  alo_buffer_init(&stream->tx, &loop->heap, tx_max);
}

void alo_stream_drop(alo_stream *stream, size_t size) {
  bool was_full = is_full(stream);
  alo_chain_drop(&stream->rx, &stream->loop->blocks, size);
  if (was_full && !is_full(stream))
    resume(stream);
}

void alo_stream_pause(alo_stream *stream, bool paused) {
  if (stream->paused == paused)
    return;
  stream->paused = paused;
  resume(stream);
}

void alo_stream_close(alo_stream *stream) {
  if (!stream->open)
    return;
  say_close(stream);
  stream->open = false;
  stream->ended = true;
  methods_of(stream)->resolve_cancel(stream->loop->driver, &stream->resolve);
  if (stream->socket)
    methods_of(stream)->shut(stream->socket);
  stream->socket = NULL;
  alo_loop_output_forget(stream->loop, &stream->output);
  alo_loop_input_forget(stream->loop, &stream->input);
}

void alo_stream_fini(alo_stream *stream) {
  alo_stream_close(stream);
  alo_chain_clear(&stream->rx, &stream->loop->blocks);
  alo_buffer_fini(&stream->tx);
  alo_tls_close(stream->tls);
  stream->tls = NULL;
}
