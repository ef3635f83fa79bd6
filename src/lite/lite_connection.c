#include "lite_connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { ACCEPTS_IN_A_TURN = 64, ACCEPT_AGAIN_MS = 100 };

void alo_lite_log(alo_lite_connection *connection, const char *what, aloft_text text) {
  FILE *log = connection->lite->log;
  if (!log)
    return;
  fprintf(log, "%u %s", (unsigned)connection->spid, what);
  if (text.size)
    fputs(": ", log);
  /* One line, whatever the text holds. */
  for (size_t i = 0; i < text.size && i < 400; i++)
    fputc((unsigned char)text.data[i] < 0x20 ? ' ' : text.data[i], log);
  if (text.size > 400)
    fputs("...", log);
  fputc('\n', log);
  fflush(log);
}

/* ---- end ---- */

static void bury(aloft_item *item) {
  alo_lite_connection *connection = ALOFT_CONTAINER(item, alo_lite_connection, bury);
  alo_stream_fini(&connection->stream);
  alo_tls_close(connection->tls);
  alo_buffer_fini(&connection->message);
  alo_buffer_fini(&connection->out);
  alo_prepared_clear(&connection->prepared);
  alo_lite_let_go(connection->handle_name);
  free(connection->types);
  free(connection);
}

static const alo_item_kind bury_kind = {bury};

void alo_lite_drop(alo_lite_connection *connection) {
  if (connection->gone)
    return;
  if (connection->inside) {
    connection->doomed = true;
    return;
  }
  connection->gone = true;
  alo_timer_clear(&connection->timer);
  alo_stream_close(&connection->stream);
  alo_session_close(connection->session);
  connection->session = NULL;
  *connection->back = connection->next;
  if (connection->next)
    connection->next->back = connection->back;
  connection->lite->counters.open--;
  connection->bury.kind = &bury_kind;
  alo_ops_push(connection->lite->ops, &connection->bury);
}

void alo_lite_drop_later(alo_lite_connection *connection) {
  connection->closing = true;
  connection->stream.want_drained = true;
  alo_stream_send(&connection->stream);
}

void alo_lite_protocol_error(alo_lite_connection *connection, const char *reason) {
  connection->lite->counters.protocol_errors++;
  alo_lite_log(connection, "protocol error", aloft_text_of(reason));
  alo_lite_drop(connection);
}

/* ---- output ---- */

static void free_if_large(alo_buffer *buffer) {
  if (alo_buffer_size(buffer) == 0 && buffer->room > ALO_LITE_KEPT_MAX)
    alo_buffer_fini(buffer);
}

bool alo_lite_is_full(const alo_lite_connection *connection) {
  return alo_buffer_size(&connection->out) + alo_buffer_size(&connection->stream.tx) >=
         ALO_LITE_TX_HIGH;
}

void alo_lite_send(alo_lite_connection *connection) {
  alo_buffer *out = &connection->out;
  if (connection->writer.failed != ALOFT_OK) { /* no end of it can make it right */
    alo_lite_protocol_error(connection, "an answer is over lite's limit or memory");
    return;
  }
  size_t whole = alo_tds_writer_whole(&connection->writer);
  if (whole == 0)
    return;
  if (alo_buffer_append(&connection->stream.tx, out->data + out->begin, whole) != ALOFT_OK) {
    alo_lite_protocol_error(connection, "no memory for output");
    return;
  }
  alo_buffer_take(out, whole);
  alo_tds_writer_taken(&connection->writer, whole);
  free_if_large(out);
  if (connection->stream.tx.room > ALO_LITE_KEPT_MAX)
    connection->stream.want_drained = true; /* then it is freed */
  alo_stream_send(&connection->stream);
}

/* ---- input ---- */

/* The message that has just ended; its type fits the phase. */
static void message_in(alo_lite_connection *connection) {
  const alo_buffer *message = &connection->message;
  size_t size = alo_buffer_size(message);
  aloft_bytes payload = {size ? message->data + message->begin : NULL, size};
  if (connection->frames.status & ALO_TDS_STATUS_IGNORE && connection->phase == ALO_LITE_IDLE) {
    connection->lite->counters.ignored++;
    alo_lite_log(connection, "request taken back", (aloft_text){NULL, 0});
    alo_lite_answer_done(connection, ALO_TDS_DONE_ERROR);
    return;
  }
  switch (connection->phase) {
  case ALO_LITE_PRELOGIN:
    alo_lite_prelogin(connection, payload);
    return;
  case ALO_LITE_HANDSHAKE: /* taken piece by piece */
    return;
  case ALO_LITE_LOGIN:
    alo_lite_login(connection, payload);
    return;
  case ALO_LITE_IDLE:
    alo_lite_request(connection, connection->frames.type, payload);
    return;
  case ALO_LITE_RUNNING:
    connection->attention = true;
    return;
  }
}

/* Known as soon as its header is there: who speaks another protocol is not waited for. */
static const char *wrong_type(const alo_lite_connection *connection) {
  uint8_t type = connection->frames.type;
  switch (connection->phase) {
  case ALO_LITE_PRELOGIN:
    return type == ALO_TDS_PRELOGIN ? NULL : "the first message is not PRELOGIN";
  case ALO_LITE_HANDSHAKE:
    return type == ALO_TDS_PRELOGIN ? NULL : "the TLS handshake is not wrapped in PRELOGIN";
  case ALO_LITE_LOGIN:
    return type == ALO_TDS_LOGIN7 ? NULL : "a message other than LOGIN7 before the login";
  case ALO_LITE_RUNNING:
    return type == ALO_TDS_ATTENTION ? NULL : "a request came while another runs";
  default:
    return NULL;
  }
}

static bool has_logged_in(const alo_lite_connection *connection) {
  return connection->phase == ALO_LITE_IDLE || connection->phase == ALO_LITE_RUNNING;
}

static void collect(alo_lite_connection *connection, aloft_bytes payload) {
  size_t size = alo_buffer_size(&connection->message) + payload.size;
  if (!has_logged_in(connection) && size > ALO_LITE_LOGIN_MAX) {
    alo_lite_protocol_error(connection, "a login is over 128 KiB");
    return;
  }
  aloft_status status = alo_buffer_append(&connection->message, payload.data, payload.size);
  if (status != ALOFT_OK)
    alo_lite_protocol_error(connection, status == ALOFT_FULL ? "a request is over 64 MiB"
                                                             : "no memory for a request");
}

static void note_reset(alo_lite_connection *connection) {
  uint8_t status = connection->frames.status;
  bool first = connection->phase == ALO_LITE_IDLE && alo_buffer_size(&connection->message) == 0;
  if (first && status & ALO_TDS_STATUS_RESET) {
    connection->reset_wanted = true;
    connection->reset_keeps = false;
  } else if (first && status & ALO_TDS_STATUS_RESET_SKIP_TRAN && !connection->reset_wanted) {
    connection->reset_wanted = connection->reset_keeps = true;
  }
}

static bool at_end(const alo_lite_connection *connection) {
  return connection->gone || connection->closing || connection->doomed || connection->handshaken;
}

static void take_frame(alo_lite_connection *connection, alo_tds_frame frame, aloft_bytes payload) {
  switch (frame) {
  case ALO_TDS_FRAME_BROKEN:
    alo_lite_protocol_error(connection, connection->frames.broken);
    return;
  case ALO_TDS_FRAME_PAYLOAD:
    if (connection->phase == ALO_LITE_HANDSHAKE) {
      alo_lite_handshake(connection, payload);
      return;
    }
    note_reset(connection);
    collect(connection, payload);
    if (!connection->gone)
      alo_lite_login_packet(connection);
    return;
  case ALO_TDS_FRAME_END:
    note_reset(connection);
    message_in(connection);
    if (connection->gone)
      return;
    alo_buffer_take(&connection->message, alo_buffer_size(&connection->message));
    free_if_large(&connection->message);
    return;
  case ALO_TDS_FRAME_NEED:
    return;
  }
}

/* A client that sends requests and does not read their answers: it is not read from until they have
 * left. While a statement runs reading goes on, for ATTENTION, which makes no output by itself. */
static bool must_wait(alo_lite_connection *connection) {
  if (connection->phase != ALO_LITE_IDLE || !alo_lite_is_full(connection))
    return false;
  if (connection->stream.tx_failed) { /* they never will */
    alo_lite_drop(connection);
    return true;
  }
  connection->stream.want_drained = true;
  alo_stream_pause(&connection->stream, true);
  return true;
}

static void take_frames(alo_lite_connection *connection, aloft_bytes *input) {
  while (!at_end(connection) && !must_wait(connection)) {
    aloft_bytes payload = {NULL, 0};
    alo_tds_frame frame = alo_tds_frames_next(&connection->frames, input, &payload);
    bool known = frame == ALO_TDS_FRAME_END || connection->frames.inside;
    const char *wrong = known ? wrong_type(connection) : NULL;
    if (wrong)
      alo_lite_protocol_error(connection, wrong);
    else
      take_frame(connection, frame, payload);
    if (frame == ALO_TDS_FRAME_NEED)
      return;
  }
}

static void read_in(alo_lite_connection *connection) {
  alo_chain *rx = &connection->stream.rx;
  if (alo_lite_begins_with_tls(connection))
    return;
  while (!at_end(connection) && !connection->stream.paused && rx->size) {
    alo_block *block = rx->first;
    aloft_bytes input = {block->data + block->begin, block->end - block->begin};
    size_t size = input.size;
    bool secret = !has_logged_in(connection);
    take_frames(connection, &input);
    if (secret) /* the block is used again, by anyone on this loop */
      explicit_bzero(block->data + block->begin, size - input.size);
    alo_stream_drop(&connection->stream, size - input.size);
    if (connection->handshaken && !connection->gone)
      alo_lite_handshake_done(connection);
  }
  if (connection->closing) /* nothing of it will be looked at */
    alo_stream_drop(&connection->stream, rx->size);
}

/* The answers have left, or never will: see must_wait. */
static void read_again(alo_lite_connection *connection) {
  if (connection->stream.tx_failed) {
    alo_lite_drop(connection);
    return;
  }
  alo_stream_pause(&connection->stream, false);
  read_in(connection);
}

static void stream_event(alo_stream *stream, alo_stream_event event) {
  alo_lite_connection *connection = ALOFT_CONTAINER(stream, alo_lite_connection, stream);
  switch (event) {
  case ALO_STREAM_CONNECTED:
  case ALO_STREAM_SECURED:
    break;
  case ALO_STREAM_READABLE:
    read_in(connection);
    if (connection->attention && connection->waiting) /* parked: it ends now */
      alo_lite_step_later(connection);
    break;
  case ALO_STREAM_DRAINED:
    free_if_large(&stream->tx);
    if (connection->closing)
      alo_lite_drop(connection);
    else if (stream->paused)
      read_again(connection);
    else if (connection->full)
      alo_lite_step_later(connection);
    break;
  case ALO_STREAM_ENDED:
    if (connection->tls_first && connection->phase == ALO_LITE_PRELOGIN &&
        alo_stream_failure(stream))
      alo_lite_log(connection, "login refused", aloft_text_of(alo_stream_failure(stream)));
    /* Inside a statement (see may_go_on) it is interrupted first. */
    if (!connection->inside)
      alo_lite_drop(connection);
    break;
  }
}

/* ---- begin ---- */

static void login_took_too_long(alo_timer *timer) {
  alo_lite_protocol_error(ALOFT_CONTAINER(timer, alo_lite_connection, timer),
                          "the login was not done in time");
}

static void take_in(alo_lite_connection *connection) {
  alo_lite *lite = connection->lite;
  connection->next = lite->connections;
  connection->back = &lite->connections;
  if (connection->next)
    connection->next->back = &connection->next;
  lite->connections = connection;
  lite->counters.connections++;
  lite->counters.open++;
  connection->spid = lite->next_spid;
  lite->next_spid = lite->next_spid == 32767 ? 51 : (uint16_t)(lite->next_spid + 1);
  connection->packet_size = ALO_TDS_PACKET_DEFAULT;
  alo_buffer_init(&connection->message, &lite->loop->heap, ALO_LITE_REQUEST_MAX);
  alo_buffer_init(&connection->out, &lite->loop->heap, ALO_LITE_OUT_MAX);
  alo_tds_writer_init(&connection->writer, &connection->out, connection->packet_size);
  connection->writer.spid = connection->spid;
  alo_timer_set(lite->ops, &connection->timer, lite->login_timeout_ns, login_took_too_long);
}

/* 0, or the errno: EAGAIN when none waits. */
static int accept_one(alo_lite *lite) {
  alo_lite_connection *connection = calloc(1, sizeof *connection);
  if (!connection)
    return ENOMEM;
  connection->lite = lite;
  alo_stream_init(&connection->stream, lite->loop, ALO_LITE_OUT_MAX);
  connection->stream.event = stream_event;
  bool accepted = alo_stream_accept(&connection->stream, lite->listener);
  if (accepted && lite->counters.open < lite->connections_max) {
    take_in(connection);
    return 0;
  }
  lite->counters.refused += accepted;
  int error = accepted ? 0 : connection->stream.error;
  alo_stream_fini(&connection->stream);
  free(connection);
  return error;
}

static void accept_again(alo_timer *timer) {
  alo_lite *lite = ALOFT_CONTAINER(timer, alo_lite, accept_again);
  lite->loop->driver->methods->interest(lite->listener, ALO_READABLE);
}

/* The listener stays ready until the connection has been taken: it must not be looked at
 * meanwhile, or the loop spins. */
static void rest(alo_lite *lite, int error) {
  lite->loop->driver->methods->interest(lite->listener, 0);
  alo_timer_set(lite->ops, &lite->accept_again, ALOFT_MILLISECONDS(ACCEPT_AGAIN_MS), accept_again);
  if (lite->log)
    fprintf(lite->log, "cannot accept a connection: %s\n", strerror(error));
}

void alo_lite_accept(alo_lite *lite) {
  for (int i = 0; i < ACCEPTS_IN_A_TURN; i++) {
    int error = accept_one(lite);
    if (error == EAGAIN)
      return;
    /* Any other error is that of one connection, which has gone. */
    if (error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM) {
      rest(lite, error);
      return;
    }
  }
}
