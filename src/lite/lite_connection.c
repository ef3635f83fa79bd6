#include "lite_connection.h"

#include <stdlib.h>
#include <string.h>

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

static void bury(alo_ops *ops, aloft_item *item) {
  (void)ops;
  alo_lite_connection *connection = ALOFT_CONTAINER(item, alo_lite_connection, bury);
  alo_stream_fini(&connection->stream);
  alo_buffer_fini(&connection->message);
  alo_buffer_fini(&connection->out);
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
  alo_ops_push(connection->lite->owner.ops, &connection->bury);
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

void alo_lite_send(alo_lite_connection *connection) {
  alo_buffer *out = &connection->out;
  size_t whole = alo_tds_writer_whole(&connection->writer);
  if (whole == 0)
    return;
  if (alo_buffer_append(&connection->stream.tx, out->data + out->begin, whole) != ALOFT_OK) {
    alo_lite_protocol_error(connection, "no memory for output");
    return;
  }
  alo_buffer_take(out, whole);
  alo_tds_writer_taken(&connection->writer, whole);
  alo_stream_send(&connection->stream);
}

/* ---- input ---- */

/* The message that has just ended, whatever was being done. */
static void message_in(alo_lite_connection *connection) {
  uint8_t type = connection->frames.type;
  aloft_bytes payload = {connection->message.data + connection->message.begin,
                         alo_buffer_size(&connection->message)};
  if (connection->frames.status & ALO_TDS_STATUS_IGNORE && connection->phase == ALO_LITE_IDLE) {
    connection->lite->counters.ignored++;
    alo_lite_log(connection, "request taken back", (aloft_text){NULL, 0});
    alo_lite_answer_done(connection, ALO_TDS_DONE_ERROR);
    return;
  }
  switch (connection->phase) {
  case ALO_LITE_PRELOGIN:
    if (type == ALO_TDS_PRELOGIN)
      alo_lite_prelogin(connection, payload);
    else
      alo_lite_protocol_error(connection, "the first message is not PRELOGIN");
    return;
  case ALO_LITE_LOGIN:
    if (type == ALO_TDS_LOGIN7)
      alo_lite_login(connection, payload);
    else
      alo_lite_protocol_error(connection, "the second message is not LOGIN7");
    return;
  case ALO_LITE_IDLE:
    alo_lite_request(connection, type, payload);
    return;
  case ALO_LITE_RUNNING:
    if (type == ALO_TDS_ATTENTION)
      connection->attention = true;
    else
      alo_lite_protocol_error(connection, "a request came while another runs");
    return;
  }
}

static bool collect(alo_lite_connection *connection, aloft_bytes payload) {
  if (connection->phase == ALO_LITE_RUNNING)
    return true; /* only ATTENTION may come, and it has no payload */
  if (alo_buffer_append(&connection->message, payload.data, payload.size) == ALOFT_OK)
    return true;
  alo_lite_protocol_error(connection, "a request is over 64 MiB");
  return false;
}

static void session_reset_wanted(alo_lite_connection *connection) {
  if (connection->phase == ALO_LITE_IDLE && alo_buffer_size(&connection->message) == 0 &&
      connection->frames.status & (ALO_TDS_STATUS_RESET | ALO_TDS_STATUS_RESET_SKIP_TRAN))
    connection->reset_wanted = true;
}

static void take_frames(alo_lite_connection *connection, aloft_bytes *input) {
  aloft_bytes payload;
  while (!connection->gone && !connection->closing && !connection->doomed) {
    switch (alo_tds_frames_next(&connection->frames, input, &payload)) {
    case ALO_TDS_FRAME_NEED:
      return;
    case ALO_TDS_FRAME_BROKEN:
      alo_lite_protocol_error(connection, connection->frames.broken);
      return;
    case ALO_TDS_FRAME_PAYLOAD:
      session_reset_wanted(connection);
      if (!collect(connection, payload))
        return;
      break;
    case ALO_TDS_FRAME_END:
      message_in(connection);
      if (!connection->gone)
        alo_buffer_take(&connection->message, alo_buffer_size(&connection->message));
      break;
    }
  }
}

static void read_in(alo_lite_connection *connection) {
  alo_chain *rx = &connection->stream.rx;
  while (!connection->gone && !connection->closing && !connection->doomed && rx->size) {
    alo_block *block = rx->first;
    aloft_bytes input = {block->data + block->begin, block->end - block->begin};
    size_t size = input.size;
    take_frames(connection, &input);
    alo_stream_drop(&connection->stream, size - input.size);
  }
}

static void stream_event(alo_stream *stream, alo_stream_event event) {
  alo_lite_connection *connection = ALOFT_CONTAINER(stream, alo_lite_connection, stream);
  switch (event) {
  case ALO_STREAM_CONNECTED:
    break;
  case ALO_STREAM_READABLE:
    read_in(connection);
    if (connection->attention && connection->waiting) /* parked: it ends now */
      alo_lite_go_on(connection);
    break;
  case ALO_STREAM_DRAINED:
    if (connection->closing)
      alo_lite_drop(connection);
    else if (connection->phase == ALO_LITE_RUNNING)
      alo_lite_go_on(connection);
    break;
  case ALO_STREAM_ENDED:
    /* Inside a statement (see go_on) it is interrupted first. */
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

static void welcome(alo_lite_connection *connection) {
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
  alo_buffer_init(&connection->out, &lite->loop->heap, (size_t)256 << 20);
  alo_tds_writer_init(&connection->writer, &connection->out, connection->packet_size);
  connection->writer.spid = connection->spid;
  alo_timer_set(&lite->owner, &connection->timer, lite->login_timeout_ns, login_took_too_long);
}

static bool accept_one(alo_lite *lite) {
  alo_lite_connection *connection = calloc(1, sizeof *connection);
  if (!connection)
    return false;
  connection->lite = lite;
  alo_stream_init(&connection->stream, lite->loop, (size_t)256 << 20);
  connection->stream.event = stream_event;
  bool accepted = alo_stream_accept(&connection->stream, lite->listener);
  if (accepted && lite->counters.open < lite->connections_max) {
    welcome(connection);
    return true;
  }
  lite->counters.refused += accepted;
  alo_stream_fini(&connection->stream);
  free(connection);
  return accepted;
}

void alo_lite_accept(alo_lite *lite) {
  while (accept_one(lite))
    continue;
}
