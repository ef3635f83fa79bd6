/* Cancel and timeout: the operation is gone at once; what the wire still owes stays here.
 *
 *   message        what is done                                  what is owed
 *   waiting        taken out of the queue                        nothing
 *   not written    taken back from the output                    nothing
 *   partly         its packet is ended, then an empty one with   the answer to it
 *                  the bits EOM and IGNORE (MS-TDS 2.2.3.1.2)
 *   written        ATTENTION (MS-TDS 2.2.1.7)                     a DONE with the attention bit
 *   answered       nothing: the answer has arrived               the answer, to be read over
 *
 * The next query is held until nothing is owed. */
#include "tds_connection.h"

bool alo_tds_query_stop(aloft_op *op, aloft_status why) {
  aloft_tds_query *query = alo_tds_query_of(op);
  aloft_tds *tds = query->own.tds;
  if (why == ALOFT_TIMEOUT && tds->active == query && alo_tds_query_untold(query) &&
      alo_tds_answer_arrived(tds))
    return false;
  alo_tds_query_abandon(tds, query, why, NULL);
  return true;
}

/* ---- giving up ---- */

static void owe(aloft_tds *tds, alo_tds_owed owed) {
  tds->owed = owed;
  alo_tds_deadline(tds, tds->cancel_timeout_ns);
}

static void send_empty(aloft_tds *tds, uint8_t type, uint8_t status) {
  alo_tds_message_begin(&tds->writer, type, status);
  if (alo_tds_message_end(&tds->writer) == ALOFT_OK)
    alo_stream_send(&tds->stream);
  else
    alo_tds_connection_fail(tds, ALOFT_NO_MEMORY, NULL, 0);
}

static void send_attention(aloft_tds *tds) {
  tds->attentions++;
  owe(tds, ALO_TDS_OWED_ACKNOWLEDGEMENT);
  send_empty(tds, ALO_TDS_ATTENTION, 0);
}

/* Keeps `size` bytes of the output, of which the query's message is the end. */
static void cut_output(aloft_tds *tds, uint64_t size) {
  alo_buffer *tx = &tds->stream.tx;
  tx->end = tx->begin + (size_t)size;
}

/* The bytes of the message up to the end of the packet that is being written: one that is encrypted
 * will be. */
static uint64_t begun_packets(const aloft_tds *tds, const aloft_tds_query *query) {
  uint64_t taken = tds->stream.tx_taken - query->own.tx_begin;
  uint64_t packets = (taken + tds->sent_packet_size - 1) / tds->sent_packet_size;
  return packets * tds->sent_packet_size;
}

static void give_up_written(aloft_tds *tds) {
  if (alo_tds_answer_arrived(tds))
    tds->owed = ALO_TDS_OWED_ANSWER;
  else
    send_attention(tds);
}

static void give_up_sent(aloft_tds *tds, const aloft_tds_query *query) {
  uint64_t taken = tds->stream.tx_taken;
  uint64_t begun = taken > query->own.tx_begin ? begun_packets(tds, query) : 0;
  if (taken <= query->own.tx_begin) {
    cut_output(tds, query->own.tx_begin - taken);
    tds->reset = tds->reset || tds->sent_reset;
  } else if (query->own.tx_begin + begun >= query->own.tx_end) {
    give_up_written(tds);
  } else {
    cut_output(tds, query->own.tx_begin + begun - taken);
    tds->reset = tds->reset || tds->sent_reset;
    owe(tds, ALO_TDS_OWED_ANSWER);
    send_empty(tds, tds->writer.type, ALO_TDS_STATUS_IGNORE);
  }
}

void alo_tds_query_abandon(aloft_tds *tds, aloft_tds_query *query, aloft_status status,
                           const aloft_error *error) {
  bool sent = tds->active == query;
  if (!sent)
    alo_tds_query_unqueue(tds, query);
  alo_tds_query_finish(tds, query, status, error);
  if (sent && tds->phase == ALO_TDS_LOGGED_IN)
    give_up_sent(tds, query);
  alo_tds_send_next(tds);
}

void alo_tds_cancel_queries(aloft_tds *tds) {
  while (tds->first)
    alo_tds_query_abandon(tds, tds->first, ALOFT_CANCELLED, NULL);
  if (tds->active)
    alo_tds_query_abandon(tds, tds->active, ALOFT_CANCELLED, NULL);
}

/* ---- what is owed ---- */

/* The end of a message: its own DONE may have crossed the ATTENTION, and then the acknowledgement
 * is a message of its own. */
static bool settled(const aloft_tds *tds) {
  return tds->owed == ALO_TDS_OWED_ANSWER || alo_tds_reader_has(tds->reader, ALO_TDS_HAS_ATTENTION);
}

/* To a request that was ended with the ignore bit the server does not send one (2.2.1.7). */
static bool acknowledges_nothing(const aloft_tds *tds) {
  return tds->owed == ALO_TDS_OWED_ANSWER &&
         alo_tds_reader_done(tds->reader)->status & ALO_TDS_DONE_ATTN;
}

static void settle(aloft_tds *tds) {
  tds->owed = ALO_TDS_OWED_NOTHING;
  alo_tds_deadline(tds, 0);
  alo_tds_send_next(tds);
}

void alo_tds_drain(aloft_tds *tds) {
  for (;;) {
    alo_tds_reader_skip(tds->reader, true);
    switch (alo_tds_next(tds)) {
    case ALO_TDS_NEED:
      return;
    case ALO_TDS_ENVCHANGE:
      alo_tds_session_change(tds);
      break;
    case ALO_TDS_DONE:
      if (acknowledges_nothing(tds)) {
        alo_tds_broken(tds);
        return;
      }
      break;
    case ALO_TDS_END:
      if (settled(tds)) {
        settle(tds);
        return;
      }
      break;
    case ALO_TDS_BROKEN:
      alo_tds_broken(tds);
      return;
    default:
      break;
    }
  }
}
