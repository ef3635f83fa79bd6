/* Bytes from the stream to the reader, and whom they are for. */
#include "tds_connection.h"

enum { PIECES_MAX = 64 };

static void let_go(aloft_tds *tds) {
  if (tds->passed)
    alo_stream_drop(&tds->stream, tds->passed);
  tds->passed = 0;
}

/* What the reader has not passed of the first block. */
static aloft_bytes unread(const aloft_tds *tds) {
  const alo_block *block = tds->stream.rx.first;
  if (!block)
    return (aloft_bytes){"", 0};
  size_t begin = block->begin + tds->passed;
  return (aloft_bytes){block->data + begin, block->end - begin};
}

/* False: more is needed, and has not come. */
static bool go_on(aloft_tds *tds) {
  let_go(tds);
  return tds->stream.rx.size > 0;
}

alo_tds_event alo_tds_next(aloft_tds *tds) {
  alo_tds_event event;
  do {
    aloft_bytes input = unread(tds);
    size_t before = input.size;
    event = alo_tds_reader_next(tds->reader, &input);
    tds->passed += before - input.size;
  } while (event == ALO_TDS_NEED && go_on(tds));
  return event;
}

alo_tds_event alo_tds_read(aloft_tds *tds, aloft_bytes *piece) {
  alo_tds_event event;
  do {
    aloft_bytes input = unread(tds);
    size_t before = input.size;
    event = alo_tds_reader_read(tds->reader, &input, piece);
    tds->passed += before - input.size;
  } while (event == ALO_TDS_NEED && go_on(tds));
  return event;
}

bool alo_tds_answer_arrived(const aloft_tds *tds) {
  aloft_bytes pieces[PIECES_MAX];
  const alo_block *block = tds->stream.rx.first;
  size_t count = 0;
  if (!block)
    return false;
  pieces[count++] = unread(tds);
  while ((block = block->next) && count < PIECES_MAX)
    pieces[count++] = (aloft_bytes){block->data + block->begin, block->end - block->begin};
  return alo_tds_reader_ends_within(tds->reader, pieces, count);
}

void alo_tds_broken(aloft_tds *tds) {
  uint64_t offset;
  bool unsupported;
  const char *reason = alo_tds_reader_broken(tds->reader, &offset, &unsupported);
  if (!reason) /* the connection found it, not the reader */
    reason = "an answer to no request", offset = tds->stream.rx_bytes, unsupported = false;
  aloft_status status = unsupported ? ALOFT_UNSUPPORTED : ALOFT_PROTOCOL;
  alo_tds_detail_format(&tds->failure, status, "at byte %llu of the server's answers: %s",
                        (unsigned long long)offset, reason);
  alo_tds_connection_fail_filled(tds, status);
}

/* An error that nobody has asked for is why the server is going to close. */
static void note_parting(aloft_tds *tds) {
  const alo_tds_message *message = alo_tds_reader_message(tds->reader);
  if (!alo_tds_is_error(message) || tds->parting)
    return;
  tds->parting = true;
  alo_tds_detail_message(&tds->failure, message);
  tds->failure.error.status = ALOFT_LOST;
}

/* Nobody has asked: the server may tell of the session, or why it is going to close. */
static void read_unasked(aloft_tds *tds) {
  for (;;) {
    switch (alo_tds_next(tds)) {
    case ALO_TDS_NEED:
      return;
    case ALO_TDS_ENVCHANGE:
      alo_tds_session_change(tds);
      break;
    case ALO_TDS_MESSAGE:
      note_parting(tds);
      break;
    case ALO_TDS_DONE:
    case ALO_TDS_END:
      break;
    default:
      alo_tds_broken(tds);
      return;
    }
  }
}

void alo_tds_receive(aloft_tds *tds) {
  if (tds->finished || tds->closing)
    return;
  switch (tds->phase) {
  case ALO_TDS_DIALLING:
  case ALO_TDS_SECURING:
    return;
  case ALO_TDS_PRELOGIN_SENT:
    alo_tds_prelogin_read(tds);
    return;
  case ALO_TDS_HANDSHAKE:
    alo_tds_handshake_read(tds);
    return;
  case ALO_TDS_LOGIN_SENT:
    alo_tds_login_read(tds);
    return;
  case ALO_TDS_LOGGED_IN:
  case ALO_TDS_DEAD:
    break;
  }
  if (tds->owed)
    alo_tds_drain(tds);
  else if (tds->active)
    alo_tds_query_readable(tds);
  else if (tds->phase == ALO_TDS_LOGGED_IN)
    read_unasked(tds);
}
