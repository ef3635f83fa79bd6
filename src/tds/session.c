/* ENVCHANGE (MS-TDS 2.2.7.9): what the server tells of the session. */
#include <string.h>

#include "tds_connection.h"

enum {
  ENV_DATABASE = 1,
  ENV_PACKET_SIZE = 4,
  ENV_COLLATION = 7,
  ENV_BEGIN_TRANSACTION = 8,
  ENV_COMMIT = 9,
  ENV_ROLLBACK = 10,
  ENV_ENLIST = 11,
  ENV_DEFECT = 12,
  ENV_TRANSACTION_ENDED = 17,
  ENV_RESET_DONE = 18,
  ENV_ROUTING = 20
};

/* A size that is not one of TDS is passed over: the packets go on as they were. */
static void change_packet_size(aloft_tds *tds, aloft_text text) {
  uint32_t size = 0;
  for (size_t at = 0; at < text.size; at++) {
    if (text.data[at] < '0' || text.data[at] > '9' || size > ALO_TDS_PACKET_MAX)
      return;
    size = size * 10 + (uint32_t)(text.data[at] - '0');
  }
  if (size >= ALO_TDS_PACKET_MIN && size <= ALO_TDS_PACKET_MAX)
    tds->writer.packet_size = size;
}

static void change_database(aloft_tds *tds, aloft_text name) {
  if (name.size > sizeof tds->database)
    return;
  if (name.size)
    memcpy(tds->database, name.data, name.size);
  tds->database_size = name.size;
}

static void change_collation(aloft_tds *tds, aloft_bytes collation) {
  tds->has_collation = collation.size == sizeof tds->collation;
  if (tds->has_collation)
    memcpy(tds->collation, collation.data, sizeof tds->collation);
}

static void begin_transaction(aloft_tds *tds, aloft_bytes descriptor) {
  const uint8_t *bytes = descriptor.data;
  tds->transaction = 0;
  for (size_t at = 0; at < descriptor.size && at < 8; at++)
    tds->transaction |= (uint64_t)bytes[at] << (8 * at);
}

static void fail_routing(aloft_tds *tds, const alo_tds_env *env) {
  alo_tds_detail_format(&tds->failure, ALOFT_UNSUPPORTED,
                        "the server sends this login on to %.*s, port %u, and Aloft does not "
                        "follow: connect there",
                        ALOFT_PRINT(env->text_new), (unsigned)env->routing_port);
  alo_tds_connection_fail_filled(tds, ALOFT_UNSUPPORTED);
}

void alo_tds_session_change(aloft_tds *tds) {
  const alo_tds_env *env = alo_tds_reader_env(tds->reader);
  switch (env->type) {
  case ENV_DATABASE:
    change_database(tds, env->text_new);
    break;
  case ENV_PACKET_SIZE:
    change_packet_size(tds, env->text_new);
    break;
  case ENV_COLLATION:
    change_collation(tds, env->bytes_new);
    break;
  case ENV_BEGIN_TRANSACTION:
  case ENV_ENLIST:
    begin_transaction(tds, env->bytes_new);
    break;
  case ENV_COMMIT:
  case ENV_ROLLBACK:
  case ENV_DEFECT:
  case ENV_TRANSACTION_ENDED:
  case ENV_RESET_DONE:
    tds->transaction = 0;
    break;
  case ENV_ROUTING:
    fail_routing(tds, env);
    break;
  default: /* language, mirroring...: nothing here depends on them */
    break;
  }
}
