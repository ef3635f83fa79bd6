/* Memory that a large value or request has left: used again by the next, or given back. */
#include "tds_connection.h"

/* Four memories of one connection: received values that were cut, large ones, output, and messages
 * that wait. Together they keep 1 MiB. */
enum { KEPT_EACH = 256 << 10, INTERVAL_SECONDS = 10 };

static bool holds_much(const aloft_tds *tds) {
  return tds->stream.tx.room > KEPT_EACH || tds->waiting.room > KEPT_EACH ||
         alo_tds_reader_holds_over(tds->reader, KEPT_EACH);
}

/* What the last interval has not needed a quarter of goes. */
static void trim_buffer(alo_buffer *buffer, size_t *peak) {
  if (buffer->room > KEPT_EACH && alo_buffer_size(buffer) == 0 && *peak < buffer->room / 4)
    alo_buffer_fini(buffer);
  *peak = alo_buffer_size(buffer);
}

static void trim_due(alo_timer *timer) {
  aloft_tds *tds = ALOFT_CONTAINER(timer, aloft_tds, trim);
  trim_buffer(&tds->stream.tx, &tds->tx_peak);
  trim_buffer(&tds->waiting, &tds->waiting_peak);
  alo_tds_reader_trim(tds->reader, KEPT_EACH);
  alo_tds_surplus_watch(tds);
}

void alo_tds_surplus_note(aloft_tds *tds) {
  size_t tx = alo_buffer_size(&tds->stream.tx), waiting = alo_buffer_size(&tds->waiting);
  tds->tx_peak = tx > tds->tx_peak ? tx : tds->tx_peak;
  tds->waiting_peak = waiting > tds->waiting_peak ? waiting : tds->waiting_peak;
}

/* A dead connection keeps what is left until it is closed. */
void alo_tds_surplus_watch(aloft_tds *tds) {
  bool over = tds->closing || (tds->phase == ALO_TDS_DEAD && !tds->active);
  if (!over && !aloft_op_in_flight(&tds->trim.op) && holds_much(tds))
    alo_timer_set(tds->ops, &tds->trim, ALOFT_SECONDS(INTERVAL_SECONDS), trim_due);
}
