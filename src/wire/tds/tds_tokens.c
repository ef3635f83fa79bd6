/* Every token but those of columns and rows (MS-TDS 2.2.7). */
#include "tds_reader_state.h"

#include <string.h>

enum { FEATURE_END = 0xFF, DONE_SIZE = 12 };

alo_tds_outcome alo_tds_read_token(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, 1);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  uint8_t token = *piece;
  reader->at.token = token;
  if (token == ALO_TDS_TOKEN_ROW) {
    return alo_tds_row_begin(reader, false);
  }
  switch (token) {
  case ALO_TDS_TOKEN_NBCROW:
    return alo_tds_row_begin(reader, true);
  case ALO_TDS_TOKEN_COLMETADATA:
    return alo_tds_go(reader, ALO_TDS_STATE_COLUMN_COUNT);
  case ALO_TDS_TOKEN_DONE:
  case ALO_TDS_TOKEN_DONEPROC:
  case ALO_TDS_TOKEN_DONEINPROC:
    return alo_tds_go(reader, ALO_TDS_STATE_DONE);
  case ALO_TDS_TOKEN_ERROR:
  case ALO_TDS_TOKEN_INFO:
  case ALO_TDS_TOKEN_ENVCHANGE:
  case ALO_TDS_TOKEN_LOGINACK:
  case ALO_TDS_TOKEN_TABNAME:
  case ALO_TDS_TOKEN_COLINFO:
    return alo_tds_go(reader, ALO_TDS_STATE_BODY_SIZE);
  case ALO_TDS_TOKEN_RETURNSTATUS:
    return alo_tds_go(reader, ALO_TDS_STATE_RETURN_STATUS);
  case ALO_TDS_TOKEN_RETURNVALUE:
    return alo_tds_go(reader, ALO_TDS_STATE_RETURN_VALUE);
  case ALO_TDS_TOKEN_FEATUREEXTACK:
    return alo_tds_go(reader, ALO_TDS_STATE_FEATURE);
  case ALO_TDS_TOKEN_ORDER:
  case ALO_TDS_TOKEN_SSPI:
  case ALO_TDS_TOKEN_SESSIONSTATE:
  case ALO_TDS_TOKEN_FEDAUTHINFO:
    return alo_tds_go(reader, ALO_TDS_STATE_SKIP_SIZE);
  case ALO_TDS_TOKEN_ALTMETADATA:
    return alo_tds_go(reader, ALO_TDS_STATE_ALT_HEAD);
  case ALO_TDS_TOKEN_ALTROW:
    return alo_tds_go(reader, ALO_TDS_STATE_ALT_ROW);
  default:
    return alo_tds_fail_hex(reader, "unknown token 0x#", token);
  }
}

alo_tds_outcome alo_tds_read_done(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, DONE_SIZE);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  alo_tds_done *done = &reader->done;
  done->token = reader->at.token;
  done->status = alo_tds_get_u16(piece);
  done->command = alo_tds_get_u16(piece + 2);
  done->rows = alo_tds_get_u64(piece + 4);
  reader->at.state = ALO_TDS_STATE_TOKEN;
  alo_tds_set_flag(&reader->at, ALO_TDS_HAS_RESULT, false);
  if (done->status & ALO_TDS_DONE_ATTN) {
    alo_tds_set_flag(&reader->at, ALO_TDS_HAS_ATTENTION, true);
  }
  return ALO_TDS_DONE;
}

/* An event, unless the answer is being drained. */
static alo_tds_outcome report(alo_tds_reader *reader, alo_tds_event event) {
  reader->at.state = ALO_TDS_STATE_TOKEN;
  return alo_tds_flag(&reader->at, ALO_TDS_FLAG_SKIP) ? ALO_TDS_AGAIN : (alo_tds_outcome)event;
}

alo_tds_outcome alo_tds_read_return_status(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, 4);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  reader->return_status = (int32_t)alo_tds_get_u32(piece);
  return report(reader, ALO_TDS_RETURN_STATUS);
}

/* ---- tokens that are passed over by their length ---- */

alo_tds_outcome alo_tds_read_skip_size(alo_tds_reader *reader) {
  uint8_t token = reader->at.token;
  bool wide = token == ALO_TDS_TOKEN_SESSIONSTATE || token == ALO_TDS_TOKEN_FEDAUTHINFO;
  const uint8_t *piece = alo_tds_piece(reader, wide ? 4 : 2);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  uint32_t size = wide ? alo_tds_get_u32(piece) : alo_tds_get_u16(piece);
  return alo_tds_pass(reader, size, ALO_TDS_STATE_TOKEN);
}

alo_tds_outcome alo_tds_read_skip(alo_tds_reader *reader) {
  size_t size = alo_tds_available_left(reader);
  reader->next += size;
  reader->at.left -= size;
  return reader->at.left ? ALO_TDS_SLICE : alo_tds_go(reader, (alo_tds_state)reader->at.then);
}

/* ---- tokens whose body is looked at as a whole ---- */

static alo_tds_outcome body_complete(alo_tds_reader *reader, aloft_bytes body) {
  alo_tds_position *at = &reader->at;
  switch (at->token) {
  case ALO_TDS_TOKEN_ERROR:
  case ALO_TDS_TOKEN_INFO:
    return alo_tds_body_message(reader, body);
  case ALO_TDS_TOKEN_ENVCHANGE:
    at->state = ALO_TDS_STATE_TOKEN;
    return alo_tds_body_env(reader, body);
  case ALO_TDS_TOKEN_LOGINACK:
    at->state = ALO_TDS_STATE_TOKEN;
    return alo_tds_body_loginack(reader, body);
  case ALO_TDS_TOKEN_TABNAME:
    at->state = ALO_TDS_STATE_TOKEN;
    return alo_tds_body_tabname(reader, body);
  case ALO_TDS_TOKEN_COLINFO:
    at->state = ALO_TDS_STATE_TOKEN;
    return alo_tds_body_colinfo(reader, body);
  default: /* FEATUREEXTACK: the next feature follows */
    at->state = ALO_TDS_STATE_FEATURE;
    reader->feature = body;
    return ALO_TDS_FEATURE_ACK;
  }
}

/* A body of `size` bytes follows: looked at in place when it is there, otherwise gathered. It
 * grows as it arrives. */
static alo_tds_outcome begin_body(alo_tds_reader *reader, uint32_t size) {
  alo_tds_memory_reset(&reader->messages);
  if (alo_tds_available(reader) >= size) {
    aloft_bytes body = {reader->next, size};
    reader->next += size;
    return body_complete(reader, body);
  }
  reader->body = NULL;
  reader->body_size = 0;
  reader->at.left = size;
  return alo_tds_go(reader, ALO_TDS_STATE_BODY);
}

alo_tds_outcome alo_tds_read_body_size(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, 2);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  uint32_t size = alo_tds_get_u16(piece);
  uint8_t token = reader->at.token;
  if ((token == ALO_TDS_TOKEN_ERROR || token == ALO_TDS_TOKEN_INFO) &&
      size > reader->limits.message_max) {
    return alo_tds_fail_number(reader, "a message of # bytes is over message_max", size);
  }
  return begin_body(reader, size);
}

alo_tds_outcome alo_tds_read_body(alo_tds_reader *reader) {
  size_t size = alo_tds_available_left(reader);
  if (size) {
    reader->body = alo_tds_memory_grow(&reader->messages, reader->body, reader->body_size, size);
    if (!reader->body) {
      return alo_tds_fail_memory(reader);
    }
    memcpy(reader->body + reader->body_size, reader->next, size);
    reader->body_size += size;
    reader->next += size;
    reader->at.left -= size;
  }
  if (reader->at.left) {
    return ALO_TDS_SLICE;
  }
  alo_tds_memory_keep(&reader->messages, reader->body_size);
  return body_complete(reader, (aloft_bytes){reader->body, reader->body_size});
}

/* ---- FEATUREEXTACK, 2.2.7.11 ---- */

alo_tds_outcome alo_tds_read_feature(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, 1);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  if (*piece == FEATURE_END) {
    return alo_tds_go(reader, ALO_TDS_STATE_TOKEN);
  }
  reader->at.feature = *piece;
  return alo_tds_go(reader, ALO_TDS_STATE_FEATURE_SIZE);
}

alo_tds_outcome alo_tds_read_feature_size(alo_tds_reader *reader) {
  const uint8_t *piece = alo_tds_piece(reader, 4);
  if (!piece) {
    return ALO_TDS_SLICE;
  }
  uint32_t size = alo_tds_get_u32(piece);
  if (size > reader->limits.message_max) {
    return alo_tds_fail_number(reader, "FEATUREEXTACK: data of # bytes is over message_max", size);
  }
  return begin_body(reader, size);
}
