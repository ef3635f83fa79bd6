#include "tds_server.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <cmocka.h>
#include <openssl/ssl.h>

#include "heap.h"
#include "stream.h"
#include "tds_request.h"
#include "tds_response.h"
#include "timer.h"
#include "utf16.h"

enum { MESSAGE_MAX = 64 << 20, SQL_MAX = 200 };

static const uint64_t DESCRIPTOR = UINT64_C(0x1122334455667788);

typedef struct tds_session {
  alo_ops *ops;
  struct tds_session *next;
  tds_server *server;
  alo_stream stream;
  alo_tls *tls; /* while its handshake is wrapped */
  bool login_only;
  alo_tds_frames frames;
  bool in_message, reset, gone, closing;
  uint32_t packet_size;
  alo_buffer payload; /* of the message being received */
  alo_buffer answer;  /* being built, or what is held of it */
  alo_timer timer;
  /* of the query being answered */
  bool holding, deaf, separate, cut;
  uint64_t late_ns;
} tds_session;

/* ---- out ---- */

static void end_session(tds_session *session) {
  if (!session->gone)
    session->server->ended++;
  session->gone = true;
  if (session->cut && session->stream.tls)
    session->stream.tls->failed = ALOFT_LOST;
  alo_stream_close(&session->stream);
  alo_timer_clear(&session->timer);
}

/* Sends, up to the byte at which the connection is to be killed. */
static void send_bytes(tds_session *session, const void *data, size_t size) {
  tds_server *server = session->server;
  if (session->gone || session->closing)
    return;
  if (server->kill_at && server->sent + size >= server->kill_at) {
    size = (size_t)(server->kill_at - server->sent);
    session->closing = true;
  }
  if (alo_buffer_append(&session->stream.tx, data, size) != ALOFT_OK) {
    end_session(session);
    return;
  }
  if (server->spoil_at > server->sent && server->spoil_at <= server->sent + size)
    session->stream.tx
        .data[session->stream.tx.end - size + (server->spoil_at - server->sent) - 1] ^=
        server->spoil_with;
  server->sent += size;
  if (session->closing && alo_buffer_size(&session->stream.tx) == 0) {
    end_session(session);
    return;
  }
  session->stream.want_drained = session->closing;
  alo_stream_send(&session->stream);
}

static void send_held(tds_session *session, size_t size) {
  size_t all = alo_buffer_size(&session->answer);
  size = size < all ? size : all;
  send_bytes(session, session->answer.data + session->answer.begin, size);
  alo_buffer_take(&session->answer, size);
}

static void begin(tds_session *session, alo_tds_writer *writer) {
  session->answer.begin = session->answer.end = 0;
  alo_tds_writer_init(writer, &session->answer, session->packet_size);
  writer->spid = 77;
  alo_tds_message_begin(writer, ALO_TDS_REPLY, 0);
}

static void put_done(alo_tds_writer *writer, uint16_t status, uint64_t rows) {
  alo_tds_put_done(writer, &(alo_tds_done){.token = 0xFD, .status = status, .rows = rows});
}

static void put_text_message(alo_tds_writer *writer, bool error, int number, const char *text) {
  alo_tds_put_message(writer, &(alo_tds_message){.error = error,
                                                 .number = number,
                                                 .state = 3,
                                                 .severity = error ? 16 : 0,
                                                 .line = 2,
                                                 .text = aloft_text_of(text),
                                                 .server = ALOFT_TEXT("scripted"),
                                                 .procedure = ALOFT_TEXT("a_procedure")});
}

/* ---- answers ---- */

static const alo_tds_type type_int = {.token = ALO_TDS_INT4, .size = 4};
static const alo_tds_type type_bigint = {.token = ALO_TDS_INTN, .size = 8};
static const alo_tds_type type_name = {
    .token = ALO_TDS_NVARCHAR, .size = 80, .collation = {9, 4, 0xD0, 0, 52}};
static const alo_tds_type type_large = {
    .token = ALO_TDS_NVARCHAR, .size = ALO_TDS_MAX_SIZE, .collation = {9, 4, 0xD0, 0, 52}};

static void put_rows(alo_tds_writer *writer, int from, int to) {
  const alo_tds_out_column columns[] = {{type_int, 0, ALOFT_TEXT("id")},
                                        {type_name, 1, ALOFT_TEXT("name")}};
  alo_tds_put_colmetadata(writer, columns, 2);
  for (int at = from; at < to; at++) {
    char name[40];
    snprintf(name, sizeof name, "row %d", at);
    alo_tds_put_row(writer);
    alo_tds_put_int64(writer, &type_int, at);
    alo_tds_put_text(writer, &type_name, aloft_text_of(name));
  }
}

static char *large_text(size_t size) {
  char *text = malloc(size + 1);
  assert_non_null(text);
  for (size_t at = 0; at < size; at++)
    text[at] = (char)('a' + at % 26);
  return text;
}

static void put_large(alo_tds_writer *writer, size_t size) {
  const alo_tds_out_column columns[] = {{type_int, 0, ALOFT_TEXT("before")},
                                        {type_large, 1, ALOFT_TEXT("large")},
                                        {type_int, 0, ALOFT_TEXT("after")}};
  char *text = large_text(size);
  alo_tds_put_colmetadata(writer, columns, 3);
  alo_tds_put_row(writer);
  alo_tds_put_int64(writer, &type_int, 1);
  alo_tds_put_text(writer, &type_large, (aloft_text){text, size});
  alo_tds_put_int64(writer, &type_int, 2);
  free(text);
}

/* An nvarchar(max) of 5,000 letters with half a pair among them. */
static void put_ill_formed(alo_tds_writer *writer) {
  const alo_tds_out_column columns[] = {{type_large, 1, ALOFT_TEXT("broken")},
                                        {type_int, 0, ALOFT_TEXT("after")}};
  uint8_t units[10000];
  for (size_t at = 0; at < sizeof units; at += 2) {
    units[at] = at == 6000 ? 0x3D : 'x';
    units[at + 1] = at == 6000 ? 0xD8 : 0;
  }
  alo_tds_put_colmetadata(writer, columns, 2);
  alo_tds_put_row(writer);
  alo_tds_put_u64(writer, sizeof units);
  alo_tds_put_u32(writer, sizeof units);
  alo_tds_put(writer, units, sizeof units);
  alo_tds_put_u32(writer, 0);
  alo_tds_put_int64(writer, &type_int, 7);
}

static void put_larger(alo_tds_writer *writer, size_t size) {
  const alo_tds_out_column columns[] = {{type_large, 1, ALOFT_TEXT("first")},
                                        {type_large, 1, ALOFT_TEXT("second")},
                                        {type_large, 1, ALOFT_TEXT("third")}};
  char *text = large_text(size);
  alo_tds_put_colmetadata(writer, columns, 3);
  alo_tds_put_row(writer);
  for (unsigned at = 0; at < 3; at++)
    alo_tds_put_text(writer, &type_large, (aloft_text){text, size});
  free(text);
}

static void put_numbers(alo_tds_writer *writer, int64_t first, int64_t second) {
  const alo_tds_out_column columns[] = {{type_bigint, 1, ALOFT_TEXT("first")},
                                        {type_bigint, 1, ALOFT_TEXT("second")}};
  alo_tds_put_colmetadata(writer, columns, 2);
  alo_tds_put_row(writer);
  alo_tds_put_int64(writer, &type_bigint, first);
  alo_tds_put_int64(writer, &type_bigint, second);
}

static void put_mixed_values(alo_tds_writer *writer, const alo_tds_out_column *columns) {
  static const uint8_t bytes[] = {0xDE, 0xAD};
  alo_tds_put_row(writer);
  alo_tds_put_int64(writer, &columns[0].type, 1);
  alo_tds_put_int64(writer, &columns[1].type, -5);
  alo_tds_put_double(writer, &columns[2].type, 0.5);
  alo_tds_put_decimal(writer, &columns[3].type,
                      &(aloft_tds_decimal){.low = 12345, .precision = 9, .scale = 2});
  alo_tds_put_uuid(writer, &columns[4].type, &(aloft_tds_uuid){{1, 2, 3}});
  alo_tds_put_bytes(writer, &columns[5].type, (aloft_bytes){bytes, sizeof bytes});
  alo_tds_put_moment(writer, &columns[6].type, &(aloft_tds_moment){.days = 738944});
}

static void put_mixed(alo_tds_writer *writer) {
  const alo_tds_out_column columns[] = {
      {{.token = ALO_TDS_BITN, .size = 1}, 1, ALOFT_TEXT("bit")},
      {{.token = ALO_TDS_INTN, .size = 2}, 1, ALOFT_TEXT("smallint")},
      {{.token = ALO_TDS_FLTN, .size = 8}, 1, ALOFT_TEXT("float")},
      {{.token = ALO_TDS_DECIMALN, .size = 5, .precision = 9, .scale = 2},
       1,
       ALOFT_TEXT("decimal")},
      {{.token = ALO_TDS_GUID, .size = 16}, 1, ALOFT_TEXT("uuid")},
      {{.token = ALO_TDS_BIGVARBINARY, .size = 10}, 1, ALOFT_TEXT("bytes")},
      {{.token = ALO_TDS_DATEN, .size = 3}, 1, ALOFT_TEXT("date")}};
  alo_tds_put_colmetadata(writer, columns, 7);
  put_mixed_values(writer, columns);
  alo_tds_put_row(writer);
  for (int at = 0; at < 7; at++)
    alo_tds_put_null(writer, &columns[at].type);
}

static void put_undated(alo_tds_writer *writer) {
  static const uint8_t after_9999[] = {3, 0xFF, 0xFF, 0xFF};
  const alo_tds_out_column columns[] = {
      {type_int, 0, ALOFT_TEXT("id")},
      {{.token = ALO_TDS_DATEN, .size = 3}, 1, ALOFT_TEXT("date")}};
  alo_tds_put_colmetadata(writer, columns, 2);
  alo_tds_put_row(writer);
  alo_tds_put_int64(writer, &type_int, 1);
  alo_tds_put(writer, after_9999, sizeof after_9999);
}

static void put_transaction(alo_tds_writer *writer, uint8_t type) {
  const aloft_bytes descriptor = {&DESCRIPTOR, sizeof DESCRIPTOR}, none = {"", 0};
  if (type == 8)
    alo_tds_put_env_bytes(writer, type, descriptor, none);
  else
    alo_tds_put_env_bytes(writer, type, none, descriptor);
}

/* The number after `word` in the script; `otherwise` when it is not there. */
static long number_after(const char *sql, const char *word, long otherwise) {
  const char *at = strstr(sql, word);
  return at ? strtol(at + strlen(word), NULL, 10) : otherwise;
}

static bool begins(const char *sql, const char *word) {
  return strncmp(sql, word, strlen(word)) == 0;
}

typedef struct request {
  uint64_t transaction;
  size_t sql_size; /* in characters */
  long params;
  char sql[SQL_MAX + 1];    /* its beginning, or the procedure's name */
  alo_tds_rpc_param *given; /* of an RPC, all of them */
  size_t given_count;
} request;

/* ---- calls ---- */

/* A value as it came. */
static void put_raw(alo_tds_writer *writer, const alo_tds_rpc_param *param) {
  const alo_tds_type *type = &param->type;
  if (param->null) {
    alo_tds_put_null(writer, type);
    return;
  }
  switch (alo_tds_type_form(type)) {
  case ALO_TDS_FORM_BYTE:
    alo_tds_put_u8(writer, (uint8_t)param->size);
    break;
  case ALO_TDS_FORM_SHORT:
    alo_tds_put_u16(writer, (uint16_t)param->size);
    break;
  case ALO_TDS_FORM_LONG:
    alo_tds_put_u32(writer, (uint32_t)param->size);
    break;
  case ALO_TDS_FORM_PLP:
    alo_tds_put_u64(writer, param->size);
    if (param->size)
      alo_tds_put_u32(writer, (uint32_t)param->size);
    break;
  default:
    break;
  }
  if (param->size)
    alo_tds_put(writer, param->data, param->size);
  if (alo_tds_type_is_plp(type))
    alo_tds_put_u32(writer, 0);
}

enum { NAME_ROOM = 400 };

static aloft_text name_of(aloft_bytes utf16, char text[NAME_ROOM]) {
  alo_utf16_cut cut = {{0}, 0};
  if (!utf16.size)
    return (aloft_text){"", 0};
  return (aloft_text){text, alo_utf16_to_utf8(&cut, utf16.data, utf16.size, true, text, NULL)};
}

static void put_udt(alo_tds_writer *writer, const alo_tds_rpc_param *param) {
  char name[3 * NAME_ROOM];
  size_t size = 0;
  for (size_t part = 0; part < ALO_TDS_UDT_PARTS; part++) {
    char text[NAME_ROOM];
    aloft_text of = name_of(param->udt[part], text);
    size += (size_t)snprintf(name + size, sizeof name - size, "%s%.*s", size ? "." : "",
                             ALOFT_PRINT(of));
  }
  alo_tds_put_udt_type(writer, &param->type, (aloft_text){name, size});
}

/* RETURNVALUE; `kind`: 1 an output parameter, 2 a function's result. */
static void put_return_head(alo_tds_writer *writer, uint16_t ordinal, uint8_t kind,
                            const alo_tds_rpc_param *param) {
  char text[NAME_ROOM];
  alo_tds_put_u8(writer, 0xAC);
  alo_tds_put_u16(writer, ordinal);
  alo_tds_put_b_varchar(writer, name_of(param->name, text));
  alo_tds_put_u8(writer, kind);
  alo_tds_put_u32(writer, 0);
  alo_tds_put_u16(writer, 0);
  if (param->type.token == ALO_TDS_UDT)
    put_udt(writer, param);
  else
    alo_tds_put_type(writer, &param->type);
}

/* SQL Server sends large ones after the others. */
static void put_outputs(alo_tds_writer *writer, const request *asked, bool large) {
  for (size_t at = 0; at < asked->given_count; at++) {
    const alo_tds_rpc_param *param = &asked->given[at];
    if (!param->output || alo_tds_type_is_plp(&param->type) != large)
      continue;
    put_return_head(writer, (uint16_t)at, 1, param);
    put_raw(writer, param);
  }
}

static void put_echo(alo_tds_writer *writer, const request *asked) {
  alo_tds_put_return_status(writer, TDS_SERVER_STATUS);
  put_outputs(writer, asked, false);
  put_outputs(writer, asked, true);
}

static void put_defaults(alo_tds_writer *writer, const request *asked) {
  int32_t defaults = 0;
  for (size_t at = 0; at < asked->given_count; at++)
    defaults += asked->given[at].default_value;
  alo_tds_put_return_status(writer, defaults);
}

static void put_function(alo_tds_writer *writer) {
  const alo_tds_rpc_param result = {.type = type_bigint};
  put_return_head(writer, 0, 2, &result);
  alo_tds_put_int64(writer, &type_bigint, INT64_MAX);
}

/* The tokens of an answer up to its last DONE; the status for that. */
static uint16_t put_answer(tds_session *session, alo_tds_writer *writer, const request *asked) {
  const char *sql = asked->sql;
  if (begins(sql, "rows")) {
    put_rows(writer, 0, (int)number_after(sql, "rows", 0));
  } else if (begins(sql, "ill-formed")) {
    put_ill_formed(writer);
  } else if (begins(sql, "larger")) {
    put_larger(writer, (size_t)number_after(sql, "larger", 0));
  } else if (begins(sql, "large")) {
    put_large(writer, (size_t)number_after(sql, "large", 0));
  } else if (begins(sql, "mixed")) {
    put_mixed(writer);
  } else if (begins(sql, "undated")) {
    put_undated(writer);
  } else if (begins(sql, "error")) {
    put_text_message(writer, true, (int)number_after(sql, "error", 0), "it went wrong");
    return ALO_TDS_DONE_ERROR;
  } else if (begins(sql, "wrong")) {
    return ALO_TDS_DONE_ERROR;
  } else if (begins(sql, "message")) {
    put_text_message(writer, false, 1, "first");
    put_rows(writer, 0, 1);
    put_text_message(writer, false, 2, "second");
  } else if (begins(sql, "two")) {
    put_rows(writer, 0, 2);
    put_done(writer, ALO_TDS_DONE_MORE | ALO_TDS_DONE_COUNT, 2);
    put_rows(writer, 0, 3);
  } else if (begins(sql, "begin")) {
    put_transaction(writer, 8);
  } else if (begins(sql, "commit")) {
    put_transaction(writer, 9);
  } else if (begins(sql, "state")) {
    put_numbers(writer, (int64_t)asked->transaction, session->reset);
  } else if (begins(sql, "size")) {
    put_numbers(writer, (int64_t)asked->sql_size, asked->params);
  } else if (begins(sql, "return")) {
    alo_tds_put_return_status(writer, (int32_t)number_after(sql, "return", 0));
  } else if (begins(sql, "echo")) {
    put_echo(writer, asked);
    return 0;
  } else if (begins(sql, "defaults")) {
    put_defaults(writer, asked);
    return 0;
  } else if (begins(sql, "function")) {
    put_function(writer);
    return 0;
  } else if (begins(sql, "own")) {
    session->server->answer(writer);
  } else if (begins(sql, "garbage")) {
    alo_tds_put(writer, "\x01\x02\x03", 3);
  }
  return ALO_TDS_DONE_COUNT;
}

static void acknowledge(tds_session *session) {
  alo_tds_writer writer;
  begin(session, &writer);
  put_done(&writer, ALO_TDS_DONE_ATTN, 0);
  if (alo_tds_message_end(&writer) == ALOFT_OK)
    send_held(session, SIZE_MAX);
}

static void pause_over(alo_timer *timer) {
  send_held(ALOFT_CONTAINER(timer, tds_session, timer), SIZE_MAX);
}

static void send_answer(tds_session *session, const char *sql) {
  long hold = number_after(sql, " hold ", -1), interrupt = number_after(sql, " interrupt ", -1);
  long drop = number_after(sql, " drop ", -1), pause = number_after(sql, " pause ", -1);
  session->separate = interrupt < 0;
  session->holding = hold >= 0 || interrupt >= 0;
  session->deaf = strstr(sql, " deaf") != NULL;
  if (strstr(sql, " update"))
    assert_int_equal(SSL_key_update(session->stream.tls->ssl, SSL_KEY_UPDATE_REQUESTED), 1);
  session->late_ns = ALOFT_MILLISECONDS((uint64_t)number_after(sql, " late ", 0));
  if (session->holding) {
    send_held(session, (size_t)(hold >= 0 ? hold : interrupt));
  } else if (drop >= 0) {
    send_held(session, (size_t)drop);
    session->closing = true;
    session->cut = strstr(sql, " cut") != NULL;
    session->stream.want_drained = true;
    if (alo_buffer_size(&session->stream.tx) == 0)
      end_session(session);
  } else if (pause >= 0) {
    alo_timer_set(session->ops, &session->timer, ALOFT_MILLISECONDS((uint64_t)pause), pause_over);
  } else {
    if (strstr(sql, " again"))
      send_bytes(session, session->answer.data, session->answer.end);
    send_held(session, SIZE_MAX);
  }
}

static void answer_request(tds_session *session, const request *asked) {
  alo_tds_writer writer;
  begin(session, &writer);
  uint16_t status = put_answer(session, &writer, asked);
  if (strstr(asked->sql, " interrupt "))
    status = ALO_TDS_DONE_ATTN;
  if (!begins(asked->sql, "garbage"))
    put_done(&writer, status, (uint64_t)number_after(asked->sql, "rows", 1));
  if (alo_tds_message_end(&writer) != ALOFT_OK)
    end_session(session);
  else
    send_answer(session, asked->sql);
  session->reset = false;
}

/* ---- TLS ---- */

/* Tests let allocations fail: then the session ends. */
static bool open_tls(tds_session *session, alo_tls **tls) {
  bool opened =
      alo_tls_open(tls, session->server->tls, &session->server->loop->blocks, NULL) == ALOFT_OK;
  if (!opened)
    end_session(session);
  return opened;
}

static void send_wrapped(tds_session *session) {
  alo_tds_writer writer;
  alo_buffer *out = &session->tls->out;
  size_t size = alo_buffer_size(out);
  if (size == 0)
    return;
  unsigned wrap = session->server->wrap_size;
  session->answer.begin = session->answer.end = 0;
  alo_tds_writer_init(&writer, &session->answer, wrap ? ALO_TDS_HEADER_SIZE + wrap : 4096);
  alo_tds_message_begin(&writer, ALO_TDS_PRELOGIN, 0);
  alo_tds_put(&writer, out->data + out->begin, size);
  alo_tls_sent(session->tls, size);
  if (session->server->wrapped_end == 0)
    session->server->wrapped_begin = session->server->sent;
  if (alo_tds_message_end(&writer) == ALOFT_OK)
    send_held(session, SIZE_MAX);
  else
    end_session(session);
  session->server->wrapped_end = session->server->sent;
}

static void talk_nonsense(tds_session *session) {
  alo_tds_writer writer;
  begin(session, &writer);
  alo_tds_put(&writer, session->server->nonsense.data, session->server->nonsense.size);
  if (alo_tds_message_end(&writer) == ALOFT_OK)
    send_held(session, SIZE_MAX);
}

static void shake_hands(tds_session *session, aloft_bytes piece) {
  if (session->server->nonsense.data)
    talk_nonsense(session);
  if (session->server->stalls || session->server->nonsense.data)
    return;
  bool fed = alo_tls_feed(session->tls, piece.data, piece.size);
  aloft_status status = fed ? alo_tls_handshake(session->tls) : ALOFT_NO_MEMORY;
  send_wrapped(session);
  if (status == ALOFT_PENDING || session->gone)
    return;
  if (status != ALOFT_OK) {
    session->closing = true;
    session->stream.want_drained = true;
    alo_stream_send(&session->stream);
    return;
  }
  session->server->handshakes++;
  assert_int_equal(session->frames.left, 0);
  memset(&session->frames, 0, sizeof session->frames);
  session->in_message = false;
}

/* What was unwrapped has been let go of. */
static void secure(tds_session *session) {
  alo_tls *tls = session->tls;
  session->tls = NULL;
  if (alo_stream_secure(&session->stream, tls) != ALOFT_OK)
    end_session(session);
}

/* ---- messages ---- */

static aloft_bytes payload_of(const tds_session *session) {
  return (aloft_bytes){session->payload.data + session->payload.begin,
                       alo_buffer_size(&session->payload)};
}

static void answer_prelogin(tds_session *session) {
  alo_tds_writer writer;
  begin(session, &writer);
  alo_tds_prelogin asked, prelogin = {.version = {16, 0, 3, 0xE8},
                                      .encryption = session->server->encryption,
                                      .has_encryption = true};
  if (alo_tds_parse_prelogin(payload_of(session), &asked)) {
    end_session(session); /* a handshake: what the client was told had been spoiled */
    return;
  }
  alo_tds_put_prelogin(&writer, &prelogin, true);
  if (alo_tds_message_end(&writer) == ALOFT_OK && !session->server->mute)
    send_held(session, SIZE_MAX);
  alo_tds_protection agreed = alo_tds_agree(asked.encryption, prelogin.encryption);
  if (session->gone || session->stream.tls || !session->server->tls)
    return;
  session->login_only = agreed == ALO_TDS_LOGIN_ENCRYPTED;
  if (session->login_only || agreed == ALO_TDS_ALL_ENCRYPTED)
    open_tls(session, &session->tls);
}

static void put_padding(alo_tds_writer *writer, unsigned size) {
  char text[2001];
  assert_true(size < sizeof text);
  memset(text, 'p', size);
  text[size] = 0;
  put_text_message(writer, false, 1, text);
}

static void grant(tds_session *session, alo_tds_writer *writer, uint32_t packet_size) {
  char text[16];
  session->server->logins++;
  alo_tds_put_env_text(writer, 1, ALOFT_TEXT("a_database"), ALOFT_TEXT("master"));
  put_text_message(writer, false, 5701, "Changed database context to 'a_database'.");
  if (session->server->padding)
    put_padding(writer, session->server->padding);
  alo_tds_put_loginack(writer, &(alo_tds_loginack){.interface_type = 1,
                                                   .tds_version = 0x74000004,
                                                   .program = ALOFT_TEXT("Scripted"),
                                                   .version = {16, 0, 3, 0xE8}});
  snprintf(text, sizeof text, "%u", (unsigned)packet_size);
  alo_tds_put_env_text(writer, 4, aloft_text_of(text), ALOFT_TEXT("4096"));
  if (session->server->collation)
    alo_tds_put_env_bytes(writer, 7, (aloft_bytes){session->server->collation, 5},
                          (aloft_bytes){"", 0});
  if (session->server->json_version >= 0) {
    const uint8_t version = (uint8_t)session->server->json_version;
    alo_tds_put_feature_ack(writer, ALO_TDS_FEATURE_JSON, (aloft_bytes){&version, 1});
  }
  if (session->server->route)
    alo_tds_put_env_routing(writer, ALOFT_TEXT("elsewhere"), 1444);
  put_done(writer, 0, 0);
}

static void answer_login(tds_session *session) {
  tds_server *server = session->server;
  server->secret_in_clear = server->secret_in_clear || !session->stream.tls;
  if (session->login_only)
    assert_int_equal(alo_stream_unsecure(&session->stream), ALOFT_OK);
  alo_tds_login login;
  const char *unsupported;
  aloft_bytes payload = payload_of(session);
  size_t room = 2 * payload.size + 1;
  char *memory = malloc(room);
  assert_non_null(memory);
  assert_null(alo_tds_parse_login(payload, &login, memory, room, &unsupported));
  assert_null(unsupported);
  server->json_asked = login.json_feature;
  alo_tds_writer writer;
  begin(session, &writer);
  if (server->login_error) {
    put_text_message(&writer, true, server->login_error, "Login failed.");
    put_done(&writer, ALO_TDS_DONE_ERROR, 0);
  } else {
    grant(session, &writer, login.packet_size);
  }
  if (alo_tds_message_end(&writer) == ALOFT_OK)
    send_held(session, SIZE_MAX);
  session->packet_size = login.packet_size;
  free(memory);
}

static void take_sql(request *asked, const uint8_t *data, size_t size) {
  alo_utf16_cut cut = {{0}, 0};
  char text[ALO_UTF8_ROOM(SQL_MAX)];
  size_t part = size < SQL_MAX ? size : SQL_MAX;
  size_t text_size = alo_utf16_to_utf8(&cut, data, part, true, text, NULL);
  asked->sql_size = size / 2;
  memcpy(asked->sql, text, text_size < SQL_MAX ? text_size : SQL_MAX);
}

static void take_params(request *asked, aloft_bytes *rest) {
  for (bool over = false;;) {
    void *grown = realloc(asked->given, (asked->given_count + 1) * sizeof *asked->given);
    assert_non_null(grown);
    asked->given = grown;
    assert_null(alo_tds_parse_param(rest, &asked->given[asked->given_count], &over));
    if (over)
      return;
    asked->given_count++;
  }
}

/* The last part of a procedure's name, without its brackets, is the script. */
static aloft_bytes script_of(aloft_bytes name) {
  const uint8_t *units = name.data;
  size_t begin = 0, end = name.size;
  for (size_t at = 0; at < name.size; at += 2)
    if (units[at] == '.' && !units[at + 1])
      begin = at + 2;
  if (units[begin] == '[') {
    begin += 2;
    end -= 2;
  }
  return (aloft_bytes){units + begin, end - begin};
}

static void take_rpc(request *asked, aloft_bytes rest) {
  alo_tds_rpc rpc;
  assert_null(alo_tds_parse_rpc(rest, &rpc));
  take_params(asked, &rpc.parameters);
  if (!rpc.procedure) {
    aloft_bytes script = script_of(rpc.name);
    take_sql(asked, script.data, script.size);
    asked->params = (long)asked->given_count;
    return;
  }
  assert_int_equal(rpc.procedure, ALO_TDS_SP_EXECUTESQL);
  assert_true(asked->given_count > 0);
  take_sql(asked, asked->given[0].data, asked->given[0].size);
  asked->params = (long)asked->given_count - 2; /* and the declarations */
}

static void answer_query(tds_session *session) {
  request asked = {0};
  aloft_bytes rest;
  assert_null(alo_tds_parse_headers(payload_of(session), &asked.transaction, &rest));
  session->server->requests++;
  if (session->frames.type == ALO_TDS_RPC)
    take_rpc(&asked, rest);
  else
    take_sql(&asked, rest.data, rest.size);
  session->server->last_sql_size = asked.sql_size;
  answer_request(session, &asked);
  free(asked.given);
}

static void late_over(alo_timer *timer) {
  acknowledge(ALOFT_CONTAINER(timer, tds_session, timer));
}

static void answer_attention(tds_session *session) {
  session->server->attentions++;
  if (session->deaf)
    return;
  bool held = session->holding;
  session->holding = false;
  alo_timer_clear(&session->timer);
  if (held)
    send_held(session, SIZE_MAX);
  if (held && !session->separate)
    return;
  if (session->late_ns)
    alo_timer_set(session->ops, &session->timer, session->late_ns, late_over);
  else
    acknowledge(session);
}

static void answer_ignored(tds_session *session) {
  alo_tds_writer writer;
  session->server->ignored++;
  session->reset = false;
  begin(session, &writer);
  put_done(&writer, ALO_TDS_DONE_ERROR, 0);
  if (alo_tds_message_end(&writer) == ALOFT_OK)
    send_held(session, SIZE_MAX);
}

static void answer_message(tds_session *session) {
  if (session->frames.status & ALO_TDS_STATUS_IGNORE) {
    answer_ignored(session);
    return;
  }
  switch (session->frames.type) {
  case ALO_TDS_PRELOGIN:
    answer_prelogin(session);
    break;
  case ALO_TDS_LOGIN7:
    answer_login(session);
    break;
  case ALO_TDS_ATTENTION:
    answer_attention(session);
    break;
  default:
    answer_query(session);
    break;
  }
}

/* ---- in ---- */

static void note_packet(tds_session *session) {
  if (session->in_message)
    return;
  session->in_message = true;
  if (session->frames.status & ALO_TDS_STATUS_RESET) {
    session->reset = true;
    session->server->resets++;
  }
}

/* Stops where a wrapped handshake is over: what follows is encrypted. */
static void read_block(tds_session *session, aloft_bytes *input) {
  aloft_bytes piece;
  for (;;) {
    alo_tds_frame frame = alo_tds_frames_next(&session->frames, input, &piece);
    if (frame == ALO_TDS_FRAME_NEED || session->gone || session->closing)
      return;
    assert_int_not_equal(frame, ALO_TDS_FRAME_BROKEN);
    if (session->tls) {
      if (frame == ALO_TDS_FRAME_PAYLOAD)
        shake_hands(session, piece);
      if (session->tls->established)
        return;
      continue;
    }
    note_packet(session);
    if (frame == ALO_TDS_FRAME_PAYLOAD) {
      if (alo_buffer_append(&session->payload, piece.data, piece.size) != ALOFT_OK)
        end_session(session);
      continue;
    }
    session->in_message = false;
    answer_message(session);
    session->payload.begin = session->payload.end = 0;
  }
}

static void read_all(tds_session *session) {
  alo_stream *stream = &session->stream;
  while (stream->rx.size) {
    const alo_block *block = stream->rx.first;
    aloft_bytes input = {block->data + block->begin, block->end - block->begin};
    size_t before = input.size;
    read_block(session, &input);
    bool stopped = session->gone || session->closing;
    alo_stream_drop(stream, stopped ? before : before - input.size);
    if (!stopped && session->tls && session->tls->established)
      secure(session);
  }
}

static void stream_event(alo_stream *stream, alo_stream_event event) {
  tds_session *session = ALOFT_CONTAINER(stream, tds_session, stream);
  switch (event) {
  case ALO_STREAM_CONNECTED:
    break;
  case ALO_STREAM_SECURED:
    session->server->handshakes++;
    break;
  case ALO_STREAM_READABLE:
    read_all(session);
    break;
  case ALO_STREAM_DRAINED:
  case ALO_STREAM_ENDED:
    end_session(session);
    break;
  }
}

static void begin_with_tls(tds_session *session) {
  alo_tls *tls;
  if (open_tls(session, &tls) && alo_stream_secure(&session->stream, tls) != ALOFT_OK)
    end_session(session);
}

static bool accept_one(tds_server *server) {
  tds_session *session = calloc(1, sizeof *session);
  assert_non_null(session);
  session->ops = &server->loop->ops;
  session->server = server;
  session->packet_size = 4096;
  alo_stream_init(&session->stream, server->loop, MESSAGE_MAX);
  session->stream.event = stream_event;
  alo_buffer_init(&session->payload, &alo_heap_default, MESSAGE_MAX);
  alo_buffer_init(&session->answer, &alo_heap_default, MESSAGE_MAX);
  if (!alo_stream_accept(&session->stream, server->listener)) {
    alo_stream_fini(&session->stream);
    free(session);
    return false;
  }
  server->accepted++;
  session->next = server->sessions;
  server->sessions = session;
  if (server->tls_first)
    begin_with_tls(session);
  return true;
}

static void connection_waits(alo_watch *watch, unsigned events) {
  (void)events;
  while (accept_one(ALOFT_CONTAINER(watch, tds_server, watch))) {
  }
}

void tds_server_open(tds_server *server, aloft_loop *loop) {
  alo_address at = {.in = {.sin_family = AF_INET}}, bound;
  memset(server, 0, sizeof *server);
  at.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  server->loop = loop;
  server->encryption = ALO_TDS_ENCRYPT_NOT_SUP;
  server->json_version = -1;
  server->watch.ready = connection_waits;
  int error =
      loop->driver->methods->listen(loop->driver, &at, &server->watch, &server->listener, &bound);
  assert_int_equal(error, 0);
  server->port = ntohs(bound.in.sin_port);
}

void tds_server_drop_all(tds_server *server) {
  for (tds_session *session = server->sessions; session; session = session->next)
    end_session(session);
}

void tds_server_close(tds_server *server) {
  tds_server_drop_all(server);
  while (server->sessions) {
    tds_session *session = server->sessions;
    server->sessions = session->next;
    alo_stream_fini(&session->stream);
    alo_tls_close(session->tls);
    alo_buffer_fini(&session->payload);
    alo_buffer_fini(&session->answer);
    free(session);
  }
  server->loop->driver->methods->shut(server->listener);
}
