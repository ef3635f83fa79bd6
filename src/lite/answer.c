#include "lite_connection.h"

#include <stdlib.h>
#include <string.h>

/* Events of one turn, so that one client's rows do not keep the others waiting. */
enum { STEPS_IN_A_TURN = 256, BUSY_AGAIN_MS = 5 };

enum { ENV_BEGIN_TRANSACTION = 8, ENV_COMMIT = 9, ENV_ROLLBACK = 10, ENV_RESET_DONE = 18 };

static void step_due(aloft_item *item);

static const alo_item_kind step_kind = {step_due};

void alo_lite_step_later(alo_lite_connection *connection) {
  if (connection->stepping || connection->gone)
    return;
  connection->stepping = true;
  connection->waiting = connection->full = false;
  alo_timer_clear(&connection->timer);
  connection->step.kind = &step_kind;
  alo_ops_push(connection->lite->ops, &connection->step);
}

/* Begins the answer's message; the first one after a reset tells of it. */
static void begin(alo_lite_connection *connection) {
  const aloft_bytes none = {NULL, 0};
  alo_tds_message_begin(&connection->writer, ALO_TDS_REPLY, 0);
  if (connection->reset_done)
    alo_tds_put_env_bytes(&connection->writer, ENV_RESET_DONE, none, none);
  connection->reset_done = false;
}

void alo_lite_answer_begin(alo_lite_connection *connection) {
  connection->phase = ALO_LITE_RUNNING;
  connection->attention = connection->done_held = false;
  connection->status_sent = false;
  connection->error = connection->status = 0;
  begin(connection);
  alo_lite_step_later(connection);
}

/* ---- small answers ---- */

void alo_lite_put_message(alo_lite_connection *connection, const alo_engine_message *message) {
  const alo_tds_message token = {.error = message->severity > 10,
                                 .number = message->number,
                                 .state = message->state,
                                 .severity = message->severity,
                                 .line = message->line,
                                 .text = message->text,
                                 .server = ALOFT_TEXT("lite"),
                                 .procedure = ALOFT_TEXT("")};
  alo_tds_put_message(&connection->writer, &token);
}

static void finish(alo_lite_connection *connection) {
  if (alo_tds_message_end(&connection->writer) != ALOFT_OK) {
    alo_lite_protocol_error(connection, "an answer is over lite's limit or memory");
    return;
  }
  alo_lite_send(connection);
}

void alo_lite_answer_done(alo_lite_connection *connection, uint16_t status) {
  const alo_tds_done done = {.token = 0xFD, .status = status};
  begin(connection);
  alo_tds_put_done(&connection->writer, &done);
  finish(connection);
}

void alo_lite_answer_error(alo_lite_connection *connection, int32_t number, uint8_t severity,
                           aloft_text text) {
  const alo_engine_message message = {
      .number = number, .severity = severity, .state = 1, .line = 1, .text = text};
  const alo_tds_done done = {.token = 0xFD, .status = ALO_TDS_DONE_ERROR};
  begin(connection);
  alo_lite_put_message(connection, &message);
  alo_tds_put_done(&connection->writer, &done);
  finish(connection);
}

static const alo_tds_type handle_type = {.token = ALO_TDS_INTN, .size = 4};

static void put_handle(alo_lite_connection *connection, aloft_text name, int32_t handle) {
  alo_tds_put_return_value(&connection->writer, 0, name, &handle_type);
  alo_tds_put_int64(&connection->writer, &handle_type, handle);
}

void alo_lite_answer_procedure(alo_lite_connection *connection, aloft_text name, int32_t handle) {
  const alo_tds_done done = {.token = 0xFE};
  begin(connection);
  alo_tds_put_return_status(&connection->writer, 0);
  if (handle)
    put_handle(connection, name, handle);
  alo_tds_put_done(&connection->writer, &done);
  finish(connection);
}

/* ---- events ---- */

static void release_done(alo_lite_connection *connection, bool more) {
  if (!connection->done_held)
    return;
  connection->done_held = false;
  if (more)
    connection->held.status |= ALO_TDS_DONE_MORE;
  alo_tds_put_done(&connection->writer, &connection->held);
}

static uint16_t in_transaction(const alo_lite_connection *connection) {
  return alo_session_transaction(connection->session) ? ALO_TDS_DONE_INXACT : 0;
}

static void hold_done(alo_lite_connection *connection, const alo_event *event) {
  connection->status = event->failed ? connection->error : 0;
  connection->error = 0;
  connection->held = (alo_tds_done){.token = connection->procedure ? 0xFF : 0xFD,
                                    .status = (uint16_t)((event->failed ? ALO_TDS_DONE_ERROR : 0) |
                                                         (event->counted ? ALO_TDS_DONE_COUNT : 0) |
                                                         in_transaction(connection)),
                                    .command = event->command,
                                    .rows = event->counted ? event->rows : 0};
  connection->done_held = true;
}

static void put_message(alo_lite_connection *connection, const alo_engine_message *message) {
  if (message->severity > 10)
    connection->error = message->number;
  alo_lite_put_message(connection, message);
}

static bool remember_types(alo_lite_connection *connection, const alo_event *event) {
  if (event->count > connection->type_room) {
    alo_tds_type *grown = realloc(connection->types, event->count * sizeof *grown);
    if (!grown)
      return false;
    connection->types = grown;
    connection->type_room = event->count;
  }
  connection->type_count = event->count;
  for (size_t i = 0; i < event->count; i++)
    connection->types[i] = event->columns[i].type;
  return true;
}

static void put_result(alo_lite_connection *connection, const alo_event *event) {
  alo_tds_out_column *columns = calloc(event->count ? event->count : 1, sizeof *columns);
  if (!columns || !remember_types(connection, event)) {
    free(columns);
    alo_lite_protocol_error(connection, "no memory for a result");
    return;
  }
  for (size_t i = 0; i < event->count; i++) {
    const alo_engine_column *from = &event->columns[i];
    columns[i] = (alo_tds_out_column){.type = from->type,
                                      .name = from->name,
                                      .flags = (uint16_t)((from->nullable ? 0x01 : 0) |
                                                          (from->identity ? 0x10 : 0x08) |
                                                          (from->computed ? 0x20 : 0))};
  }
  alo_tds_put_colmetadata(&connection->writer, columns, event->count);
  free(columns);
}

/* The engine has it as on the wire. */
static void put_uuid(alo_tds_writer *writer, const alo_tds_type *type, aloft_bytes bytes) {
  aloft_tds_uuid uuid = {{0}};
  (void)alo_tds_value_uuid(type, bytes.data, bytes.size, &uuid);
  alo_tds_put_uuid(writer, type, &uuid);
}

static void put_value(alo_tds_writer *writer, const alo_tds_type *type,
                      const alo_engine_value *value) {
  const aloft_tds_decimal decimal = {.low = value->decimal.low,
                                     .high = value->decimal.high,
                                     .precision = type->precision,
                                     .scale = type->scale,
                                     .negative = value->decimal.negative};
  const aloft_tds_moment moment = {value->days, value->ticks, value->offset_minutes};
  if (value->null) {
    alo_tds_put_null(writer, type);
    return;
  }
  switch (alo_tds_type_public(type)) {
  case ALOFT_TDS_REAL:
  case ALOFT_TDS_FLOAT:
    alo_tds_put_double(writer, type, value->real);
    break;
  case ALOFT_TDS_DECIMAL:
  case ALOFT_TDS_NUMERIC:
    alo_tds_put_decimal(writer, type, &decimal);
    break;
  case ALOFT_TDS_CHAR:
  case ALOFT_TDS_VARCHAR:
  case ALOFT_TDS_NCHAR:
  case ALOFT_TDS_NVARCHAR:
    alo_tds_put_text(writer, type, value->text);
    break;
  case ALOFT_TDS_BINARY:
  case ALOFT_TDS_VARBINARY:
    alo_tds_put_bytes(writer, type, value->bytes);
    break;
  case ALOFT_TDS_UNIQUEIDENTIFIER:
    put_uuid(writer, type, value->bytes);
    break;
  case ALOFT_TDS_DATE:
  case ALOFT_TDS_TIME:
  case ALOFT_TDS_SMALLDATETIME:
  case ALOFT_TDS_DATETIME:
  case ALOFT_TDS_DATETIME2:
  case ALOFT_TDS_DATETIMEOFFSET:
    alo_tds_put_moment(writer, type, &moment);
    break;
  default:
    alo_tds_put_int64(writer, type, value->integer);
    break;
  }
}

static void put_row(alo_lite_connection *connection, const alo_event *event) {
  alo_tds_put_row(&connection->writer);
  for (size_t i = 0; i < event->count; i++)
    put_value(&connection->writer, &connection->types[i], &event->values[i]);
}

static void put_transaction(alo_lite_connection *connection, const alo_event *event) {
  uint8_t id[8];
  for (unsigned i = 0; i < 8; i++)
    id[i] = (uint8_t)(event->transaction_id >> (8 * i));
  const aloft_bytes given = {id, sizeof id}, none = {NULL, 0};
  alo_tds_writer *writer = &connection->writer;
  switch (event->transaction) {
  case ALO_TRANSACTION_BEGUN:
    alo_tds_put_env_bytes(writer, ENV_BEGIN_TRANSACTION, given, none);
    break;
  case ALO_TRANSACTION_COMMITTED:
    alo_tds_put_env_bytes(writer, ENV_COMMIT, none, given);
    break;
  case ALO_TRANSACTION_ROLLED_BACK:
    alo_tds_put_env_bytes(writer, ENV_ROLLBACK, none, given);
    break;
  }
}

static void put_database(alo_lite_connection *connection, const alo_event *event) {
  aloft_text before = alo_engine_database(connection->lite->engine);
  alo_tds_put_env_text(&connection->writer, 1, event->text, before);
}

/* RETURNSTATUS comes before the output parameters, of which a new handle is the first. */
static void put_status(alo_lite_connection *connection) {
  if (connection->status_sent)
    return;
  alo_tds_put_return_status(&connection->writer,
                            connection->error ? connection->error : connection->status);
  connection->status_sent = true;
  if (connection->handle)
    put_handle(connection, connection->handle_name, connection->handle);
  connection->handle = 0;
}

/* What came in as a type without NULL may go out as NULL. */
static alo_tds_type nullable_type(const alo_tds_type *type) {
  alo_tds_type wide = *type;
  switch (type->token) {
  case ALO_TDS_INT1:
  case ALO_TDS_INT2:
  case ALO_TDS_INT4:
  case ALO_TDS_INT8:
    wide.token = ALO_TDS_INTN;
    break;
  case ALO_TDS_BIT:
    wide.token = ALO_TDS_BITN;
    break;
  case ALO_TDS_FLT4:
  case ALO_TDS_FLT8:
    wide.token = ALO_TDS_FLTN;
    break;
  case ALO_TDS_DATETIM4:
  case ALO_TDS_DATETIME:
    wide.token = ALO_TDS_DATETIMN;
    break;
  default:
    break;
  }
  return wide;
}

/* RETURNVALUE counts all parameters of the request: those of sp_executesql itself come first. */
enum { EXECUTESQL_OWN = 2 };

static void put_return_value(alo_lite_connection *connection, const alo_event *event) {
  const alo_engine_parameter *parameter = event->parameter;
  const alo_tds_type type = nullable_type(&parameter->type);
  uint16_t ordinal = (uint16_t)(EXECUTESQL_OWN + event->parameter_index);
  put_status(connection);
  alo_tds_put_return_value(&connection->writer, ordinal, parameter->name, &type);
  put_value(&connection->writer, &type, &parameter->value);
}

/* ---- the end of a batch ---- */

static void put_last_done(alo_lite_connection *connection, uint8_t token) {
  const uint16_t error = connection->error ? ALO_TDS_DONE_ERROR : 0;
  const alo_tds_done done = {.token = token, .status = error | in_transaction(connection)};
  alo_tds_put_done(&connection->writer, &done);
}

static void end_batch(alo_lite_connection *connection) {
  bool last = connection->done_held;
  release_done(connection, connection->procedure);
  if (connection->procedure) {
    put_status(connection);
    put_last_done(connection, 0xFE);
  } else if (!last) { /* the last token was another one */
    put_last_done(connection, 0xFD);
  }
  connection->phase = ALO_LITE_IDLE;
  finish(connection);
  if (connection->attention && !connection->gone) { /* it crossed the end */
    connection->attention = false;
    alo_lite_answer_done(connection, ALO_TDS_DONE_ATTN);
  }
}

/* As SQL Server does: the answer ends with an error, and the acknowledgement is a message of its
 * own. tedious waits for the two. */
static void end_interrupted(alo_lite_connection *connection) {
  const uint16_t transaction = in_transaction(connection);
  const alo_tds_done done = {.token = connection->procedure ? 0xFE : 0xFD,
                             .status = ALO_TDS_DONE_ERROR | transaction};
  release_done(connection, true);
  alo_tds_put_done(&connection->writer, &done);
  alo_lite_forget_handle(connection);
  connection->lite->counters.stopped++;
  alo_lite_log(connection, "statement stopped by ATTENTION", (aloft_text){NULL, 0});
  connection->attention = false;
  connection->phase = ALO_LITE_IDLE;
  finish(connection);
  if (!connection->gone)
    alo_lite_answer_done(connection, ALO_TDS_DONE_ATTN | transaction);
}

/* ---- stepping ---- */

static void wait_over(alo_timer *timer) {
  alo_lite_step_later(ALOFT_CONTAINER(timer, alo_lite_connection, timer));
}

static void park(alo_lite_connection *connection, uint64_t wait_ns) {
  connection->waiting = true;
  alo_lite_send(connection);
  if (!connection->gone)
    alo_timer_set(connection->lite->ops, &connection->timer, wait_ns ? wait_ns : 1, wait_over);
}

/* True: step on in this turn. */
static bool handle(alo_lite_connection *connection, const alo_event *event) {
  switch (event->kind) {
  case ALO_EVENT_WAIT:
    park(connection, event->wait_ns);
    return false;
  case ALO_EVENT_BUSY:
    park(connection, ALOFT_MILLISECONDS(BUSY_AGAIN_MS));
    return false;
  case ALO_EVENT_MORE:
    alo_lite_step_later(connection);
    return false;
  case ALO_EVENT_INTERRUPTED:
    end_interrupted(connection);
    return false;
  case ALO_EVENT_END:
    end_batch(connection);
    return false;
  default:
    break;
  }
  release_done(connection, true);
  if (event->kind == ALO_EVENT_RESULT)
    put_result(connection, event);
  else if (event->kind == ALO_EVENT_ROW)
    put_row(connection, event);
  else if (event->kind == ALO_EVENT_DONE)
    hold_done(connection, event);
  else if (event->kind == ALO_EVENT_MESSAGE)
    put_message(connection, &event->message);
  else if (event->kind == ALO_EVENT_DATABASE)
    put_database(connection, event);
  else if (event->kind == ALO_EVENT_TRANSACTION)
    put_transaction(connection, event);
  else
    put_return_value(connection, event);
  return !connection->gone;
}

static bool output_full(alo_lite_connection *connection) {
  if (!alo_lite_is_full(connection))
    return false;
  alo_lite_send(connection);
  if (connection->gone)
    return true;
  connection->waiting = connection->full = true;
  connection->stream.want_drained = true;
  return true;
}

static alo_event_kind step_engine(alo_lite_connection *connection, alo_event *event) {
  if (connection->attention)
    alo_session_stop(connection->session);
  connection->inside = true;
  alo_event_kind kind = alo_session_step(connection->session, event);
  connection->inside = false;
  return kind;
}

static void step_due(aloft_item *item) {
  alo_lite_connection *connection = ALOFT_CONTAINER(item, alo_lite_connection, step);
  connection->stepping = false;
  for (int steps = 0; !connection->gone && steps < STEPS_IN_A_TURN; steps++) {
    alo_event event;
    if (!connection->attention && output_full(connection))
      return;
    step_engine(connection, &event);
    if (connection->doomed || connection->stream.ended) { /* while the engine worked */
      alo_lite_drop(connection);
      return;
    }
    if (!handle(connection, &event))
      return;
  }
  if (connection->gone)
    return;
  alo_lite_send(connection);
  alo_lite_step_later(connection);
}
