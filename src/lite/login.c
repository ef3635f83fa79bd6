#include "lite_connection.h"

#include <stdlib.h>
#include <string.h>

enum {
  TEXT_ROOM = 640, /* a name is at most 128 characters */
  TDS_VERSION_7_3 = 0x730A0003
};

static aloft_text view(const char *data, size_t size) {
  return (aloft_text){data, size};
}

/* `format` has one "%.*s". */
static aloft_text fill(char text[TEXT_ROOM], const char *format, aloft_text name) {
  int size = snprintf(text, TEXT_ROOM, format, ALOFT_PRINT(name));
  return view(text, size < TEXT_ROOM ? (size_t)size : TEXT_ROOM - 1);
}

/* False: the connection has gone. */
static bool answer_prelogin(alo_lite_connection *connection, uint8_t encryption) {
  const alo_tds_prelogin answer = {.version = {ALO_ENGINE_VERSION_MAJOR, 0, 0x10, 0, 0, 0},
                                   .has_encryption = true,
                                   .encryption = encryption};
  alo_tds_message_begin(&connection->writer, ALO_TDS_REPLY, 0);
  alo_tds_put_prelogin(&connection->writer, &answer, true);
  if (alo_tds_message_end(&connection->writer) == ALOFT_OK)
    alo_lite_send(connection);
  else
    alo_lite_drop(connection);
  return !connection->gone;
}

/* Some clients would go on and send the password in the clear. */
static void refuse_unprotected(alo_lite_connection *connection) {
  connection->lite->counters.refused++;
  alo_lite_log(connection, "login refused",
               connection->lite->tls == ALO_LITE_TLS_OFF
                   ? ALOFT_TEXT("the client wants encryption, which --tls off has not")
                   : ALOFT_TEXT("the client does not encrypt, which --tls required wants"));
  alo_lite_drop_later(connection);
}

static void agree(alo_lite_connection *connection, const alo_tds_prelogin *asked) {
  alo_lite_tls tls = connection->lite->tls;
  uint8_t client = asked->has_encryption ? asked->encryption : ALO_TDS_ENCRYPT_NOT_SUP;
  uint8_t answer =
      alo_tds_answer_encryption(client, tls != ALO_LITE_TLS_OFF, tls == ALO_LITE_TLS_REQUIRED);
  connection->phase = ALO_LITE_LOGIN;
  if (!answer_prelogin(connection, answer))
    return;
  switch (alo_tds_agree(client, answer)) {
  case ALO_TDS_PLAIN:
    return;
  case ALO_TDS_LOGIN_ENCRYPTED:
    alo_lite_handshake_begin(connection, true);
    return;
  case ALO_TDS_ALL_ENCRYPTED:
    alo_lite_handshake_begin(connection, false);
    return;
  case ALO_TDS_NO_AGREEMENT:
    refuse_unprotected(connection);
    return;
  }
}

void alo_lite_prelogin(alo_lite_connection *connection, aloft_bytes payload) {
  alo_tds_prelogin asked;
  const char *wrong = alo_tds_parse_prelogin(payload, &asked);
  if (!wrong && connection->lite->tls == ALO_LITE_TLS_STRICT && !connection->tls_first)
    wrong = "the client does not begin with TLS, which --tls strict wants";
  if (wrong) {
    alo_lite_protocol_error(connection, wrong);
  } else if (connection->tls_first) { /* ENCRYPTION means nothing */
    connection->phase = ALO_LITE_LOGIN;
    answer_prelogin(connection, ALO_TDS_ENCRYPT_NOT_SUP);
  } else {
    agree(connection, &asked);
  }
}

/* Takes as long for a wrong password as for a right one. */
static bool equal(aloft_text given, const char *own, size_t size) {
  unsigned differ = given.size != size;
  for (size_t i = 0; i < given.size && size; i++)
    differ |= (unsigned)(uint8_t)given.data[i] ^ (uint8_t)own[i % size];
  return differ == 0;
}

static void refuse(alo_lite_connection *connection, int32_t number, const char *format,
                   aloft_text name) {
  char room[TEXT_ROOM];
  aloft_text text = fill(room, format, name);
  connection->lite->counters.refused++;
  alo_lite_log(connection, "login refused", text);
  alo_lite_answer_error(connection, number, 14, text);
  if (!connection->gone)
    alo_lite_drop_later(connection);
}

static void put_info(alo_lite_connection *connection, int32_t number, const char *format,
                     aloft_text name) {
  char text[TEXT_ROOM];
  const alo_engine_message message = {
      .number = number, .state = 2, .line = 1, .text = fill(text, format, name)};
  alo_lite_put_message(connection, &message);
}

static void put_environment(alo_lite_connection *connection) {
  alo_tds_writer *writer = &connection->writer;
  aloft_text database = alo_engine_database(connection->lite->engine);
  aloft_text language = ALOFT_TEXT("us_english");
  char size[16];
  int digits = snprintf(size, sizeof size, "%u", (unsigned)connection->packet_size);
  alo_tds_put_env_text(writer, 1, database, ALOFT_TEXT("master"));
  put_info(connection, 5701, "Changed database context to '%.*s'.", database);
  alo_tds_put_env_bytes(writer, 7, (aloft_bytes){alo_tds_collation_default, 5},
                        (aloft_bytes){NULL, 0});
  alo_tds_put_env_text(writer, 2, language, ALOFT_TEXT(""));
  put_info(connection, 5703, "Changed language setting to %.*s.", language);
  alo_tds_put_env_text(writer, 4, view(size, (size_t)digits), ALOFT_TEXT("4096"));
}

static void welcome(alo_lite_connection *connection, const alo_tds_login *login) {
  alo_tds_writer *writer = &connection->writer;
  const alo_tds_loginack ack = {.interface_type = 1,
                                .tds_version = login->tds_version < ALO_TDS_VERSION_7_4
                                                   ? login->tds_version
                                                   : ALO_TDS_VERSION_7_4,
                                .program = ALOFT_TEXT("Aloft lite"),
                                .version = {ALO_ENGINE_VERSION_MAJOR, 0, 0x10, 0}};
  connection->packet_size = login->packet_size < ALO_TDS_PACKET_MIN   ? ALO_TDS_PACKET_DEFAULT
                            : login->packet_size > ALO_TDS_PACKET_MAX ? ALO_TDS_PACKET_MAX
                                                                      : login->packet_size;
  alo_tds_message_begin(writer, ALO_TDS_REPLY, 0);
  put_environment(connection);
  alo_tds_put_loginack(writer, &ack);
  if (login->utf8_feature)
    alo_tds_put_feature_ack(writer, 0x0A, (aloft_bytes){"\1", 1});
  const alo_tds_done done = {.token = 0xFD};
  alo_tds_put_done(writer, &done);
  if (alo_tds_message_end(writer) != ALOFT_OK) {
    alo_lite_drop(connection);
    return;
  }
  alo_lite_send(connection);
  writer->packet_size = connection->packet_size; /* from the next message on */
  connection->phase = ALO_LITE_IDLE;
  connection->lite->counters.logins++;
  alo_timer_clear(&connection->timer);
}

static bool may_go_on(void *context) {
  alo_lite_connection *connection = context;
  const alo_lite *lite = connection->lite;
  if (lite->stopping && *lite->stopping)
    connection->doomed = true;
  alo_stream *stream = &connection->stream;
  /* An ATTENTION or the client's end may wait in the socket. */
  if (!stream->ended)
    stream->watch.ready(&stream->watch, ALO_READABLE);
  return !connection->attention && !connection->doomed && !stream->ended;
}

static void statement_begins(void *context, aloft_text text) {
  alo_lite_connection *connection = context;
  connection->lite->counters.statements++;
  alo_lite_log(connection, "statement", text);
}

static void open_session(alo_lite_connection *connection, const alo_tds_login *login) {
  const alo_session_config config = {.user = login->user,
                                     .database = login->database,
                                     .application = login->application,
                                     .spid = connection->spid,
                                     .go_on = may_go_on,
                                     .statement = statement_begins,
                                     .context = connection};
  alo_engine_message message = {.number = 0};
  aloft_status status =
      alo_session_open(&connection->session, connection->lite->engine, &config, &message);
  if (status == ALOFT_OK)
    welcome(connection, login);
  else if (status == ALOFT_AUTH)
    refuse(connection, 4060,
           "Cannot open database \"%.*s\" requested by the login. The login failed.",
           login->database);
  else
    refuse(connection, 701, "There is insufficient system memory for user '%.*s'.", login->user);
}

void alo_lite_login(alo_lite_connection *connection, aloft_bytes payload) {
  size_t room = 2 * payload.size + 1;
  char *memory = malloc(room);
  if (!memory) {
    alo_lite_drop(connection);
    return;
  }
  alo_tds_login login;
  const char *unsupported = NULL;
  const alo_lite *lite = connection->lite;
  const char *wrong = alo_tds_parse_login(payload, &login, memory, room, &unsupported);
  if (!wrong && !unsupported && login.tds_version < TDS_VERSION_7_3)
    unsupported = "TDS before 7.3"; /* it knows no date, time and datetime2 */
  if (wrong)
    alo_lite_protocol_error(connection, wrong);
  else if (unsupported)
    refuse(connection, 40510,
           "lite does not support this login: %.*s. Use a SQL login over TDS 7.3 or 7.4.",
           aloft_text_of(unsupported));
  else if (!equal(login.user, lite->user, lite->user_size) ||
           !equal(login.password, lite->password, lite->password_size))
    refuse(connection, 18456, "Login failed for user '%.*s'.", login.user);
  else
    open_session(connection, &login);
  explicit_bzero(memory, room);
  free(memory);
  /* The password stands in the request, too. */
  if (!connection->gone && connection->message.data)
    explicit_bzero(connection->message.data, connection->message.end);
}
