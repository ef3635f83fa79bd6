#include "lite_connection.h"

#include <stdlib.h>
#include <string.h>

#include "utf16.h"

/* ---- text ---- */

/* UTF-16LE to allocated UTF-8; absent when there is no memory. */
static aloft_text decode(aloft_bytes utf16) {
  char *text = malloc(ALO_UTF8_ROOM(utf16.size));
  if (!text)
    return (aloft_text){NULL, 0};
  alo_utf16_cut cut = {.size = 0};
  size_t size = alo_utf16_to_utf8(&cut, utf16.data, utf16.size, true, text, NULL);
  return (aloft_text){text, size};
}

static void let_go(aloft_text text) {
  char *memory = NULL;
  memcpy(&memory, &text.data, sizeof memory);
  free(memory);
}

/* ---- SQLBatch ---- */

static void start(alo_lite_connection *connection, const alo_batch *batch) {
  aloft_status status = alo_session_start(connection->session, batch);
  switch (status) {
  case ALOFT_OK:
    connection->procedure = batch->kind == ALO_BATCH_EXECUTESQL;
    alo_lite_answer_begin(connection);
    break;
  case ALOFT_TOO_LARGE:
    alo_lite_answer_error(connection, 40510, 16,
                          ALOFT_TEXT("The batch is over lite's limit of 4 MiB of text."));
    break;
  case ALOFT_TOO_MANY:
    alo_lite_answer_error(connection, 8003, 16,
                          ALOFT_TEXT("The incoming request has too many parameters. The server "
                                     "supports a maximum of 2100 parameters."));
    break;
  default:
    alo_lite_answer_error(connection, 701, 17,
                          ALOFT_TEXT("There is insufficient system memory to run this query."));
    break;
  }
}

static void start_text(alo_lite_connection *connection, aloft_text text) {
  const alo_batch batch = {.kind = ALO_BATCH_SQL, .text = text};
  start(connection, &batch);
}

static void sql_batch(alo_lite_connection *connection, aloft_bytes rest) {
  if (rest.size % 2) {
    alo_lite_protocol_error(connection, "a batch of an odd number of bytes");
    return;
  }
  aloft_text text = decode(rest);
  if (text.data)
    start_text(connection, text);
  else
    alo_lite_drop(connection);
  let_go(text);
}

/* ---- RPC ---- */

/* The values of a call, with the memory of their texts. */
typedef struct call {
  alo_engine_parameter *parameters;
  size_t count, room;
  aloft_text sql, declarations;
  const char *wrong;
} call;

static void free_call(call *self) {
  for (size_t i = 0; i < self->count; i++) {
    let_go(self->parameters[i].name);
    let_go(self->parameters[i].value.text);
  }
  free(self->parameters);
  let_go(self->sql);
  let_go(self->declarations);
}

static const char *decode_text(const alo_tds_rpc_param *param, aloft_text *text) {
  size_t room = alo_tds_value_text_room(&param->type, param->size);
  char *memory = malloc(room + 1);
  if (!memory)
    return "no memory";
  text->data = memory;
  return alo_tds_value_text(&param->type, param->data, param->size, memory, &text->size);
}

static const char *decode_value(const alo_tds_rpc_param *param, alo_engine_value *value) {
  aloft_tds_decimal decimal;
  aloft_tds_moment moment;
  const char *wrong = NULL;
  switch (alo_tds_type_public(&param->type)) {
  case ALOFT_TDS_BIT:
  case ALOFT_TDS_TINYINT:
  case ALOFT_TDS_SMALLINT:
  case ALOFT_TDS_INT:
  case ALOFT_TDS_BIGINT:
    return alo_tds_value_int64(&param->type, param->data, param->size, &value->integer);
  case ALOFT_TDS_REAL:
  case ALOFT_TDS_FLOAT:
    return alo_tds_value_double(&param->type, param->data, param->size, &value->real);
  case ALOFT_TDS_DECIMAL:
  case ALOFT_TDS_NUMERIC:
    wrong = alo_tds_value_decimal(&param->type, param->data, param->size, &decimal);
    if (!wrong)
      value->decimal = (alo_engine_decimal){decimal.high, decimal.low, decimal.negative};
    return wrong;
  case ALOFT_TDS_CHAR:
  case ALOFT_TDS_VARCHAR:
  case ALOFT_TDS_NCHAR:
  case ALOFT_TDS_NVARCHAR:
    return decode_text(param, &value->text);
  case ALOFT_TDS_BINARY:
  case ALOFT_TDS_VARBINARY:
  case ALOFT_TDS_UNIQUEIDENTIFIER:
    value->bytes = (aloft_bytes){param->data, param->size};
    return NULL;
  case ALOFT_TDS_DATE:
  case ALOFT_TDS_TIME:
  case ALOFT_TDS_SMALLDATETIME:
  case ALOFT_TDS_DATETIME:
  case ALOFT_TDS_DATETIME2:
  case ALOFT_TDS_DATETIMEOFFSET:
    wrong = alo_tds_value_moment(&param->type, param->data, param->size, &moment);
    value->days = moment.days;
    value->ticks = moment.ticks;
    value->offset_minutes = moment.offset_minutes;
    return wrong;
  default:
    return "the data type of a parameter is not supported by lite";
  }
}

static alo_engine_parameter *add(call *self) {
  if (self->count == self->room) {
    size_t room = self->room ? 2 * self->room : 8;
    alo_engine_parameter *grown = realloc(self->parameters, room * sizeof *grown);
    if (!grown)
      return NULL;
    self->parameters = grown;
    self->room = room;
  }
  alo_engine_parameter *made = &self->parameters[self->count++];
  memset(made, 0, sizeof *made);
  return made;
}

static const char *take_value(call *self, const alo_tds_rpc_param *param) {
  if (self->count > ALO_ENGINE_PARAMETERS_MAX)
    return NULL; /* refused by the engine, with its own error */
  alo_engine_parameter *made = add(self);
  if (!made)
    return "no memory";
  made->name = decode(param->name);
  made->type = param->type;
  made->output = param->output;
  made->value.null = param->null;
  if (!made->name.data)
    return "no memory";
  return param->null ? NULL : decode_value(param, &made->value);
}

/* The statement, then the declarations, then the values. */
static void take_param(call *self, size_t index, const alo_tds_rpc_param *param) {
  if (index >= 2) {
    self->wrong = take_value(self, param);
    return;
  }
  aloft_text *text = index == 0 ? &self->sql : &self->declarations;
  aloft_tds_type type = alo_tds_type_public(&param->type);
  bool character = type == ALOFT_TDS_NVARCHAR || type == ALOFT_TDS_NCHAR ||
                   type == ALOFT_TDS_VARCHAR || type == ALOFT_TDS_CHAR || type == ALOFT_TDS_NTEXT;
  if (param->null && index == 1)
    return;
  if (!character || param->null)
    self->wrong = "sp_executesql wants its statement and declarations as nvarchar";
  else
    self->wrong = decode_text(param, text);
}

static bool is_executesql(const alo_tds_rpc *rpc) {
  static const uint8_t name[] = "s\0p\0_\0e\0x\0e\0c\0u\0t\0e\0s\0q\0l"; /* UTF-16LE */
  if (rpc->procedure)
    return rpc->procedure == ALO_TDS_SP_EXECUTESQL;
  return rpc->name.size == sizeof name && memcmp(rpc->name.data, name, sizeof name) == 0;
}

static void refuse_procedure(alo_lite_connection *connection, const alo_tds_rpc *rpc) {
  char text[400];
  aloft_text name = rpc->procedure ? (aloft_text){NULL, 0} : decode(rpc->name);
  int size = rpc->procedure
                 ? snprintf(text, sizeof text,
                            "Procedure number %u is not supported by lite: use sp_executesql.",
                            (unsigned)rpc->procedure)
                 : snprintf(text, sizeof text,
                            "Procedure '%.*s' is not supported by lite: use sp_executesql.",
                            name.size > 200 ? 200 : (int)name.size, name.data ? name.data : "");
  alo_lite_answer_error(connection, 40510, 16, (aloft_text){text, (size_t)size});
  let_go(name);
}

static void run_call(alo_lite_connection *connection, call *self, aloft_bytes parameters) {
  alo_tds_rpc_param param;
  bool end = false;
  for (size_t index = 0; !self->wrong; index++) {
    self->wrong = alo_tds_parse_param(&parameters, &param, &end);
    if (self->wrong || end)
      break;
    take_param(self, index, &param);
  }
  if (self->wrong) {
    alo_lite_answer_error(connection, 8009, 16, aloft_text_of(self->wrong));
    return;
  }
  if (parameters.size || !self->sql.data) {
    alo_lite_answer_error(connection, 40510, 16,
                          ALOFT_TEXT("lite takes one call of sp_executesql in a request."));
    return;
  }
  const alo_batch batch = {.kind = ALO_BATCH_EXECUTESQL,
                           .text = self->sql,
                           .declarations = self->declarations,
                           .parameters = self->parameters,
                           .parameter_count = self->count};
  start(connection, &batch);
}

static void rpc(alo_lite_connection *connection, aloft_bytes rest) {
  alo_tds_rpc asked;
  const char *wrong = alo_tds_parse_rpc(rest, &asked);
  if (wrong) {
    alo_lite_protocol_error(connection, wrong);
    return;
  }
  if (!is_executesql(&asked)) {
    refuse_procedure(connection, &asked);
    return;
  }
  call self = {.count = 0};
  run_call(connection, &self, asked.parameters);
  free_call(&self);
}

/* ---- transaction manager request ---- */

static void transaction(alo_lite_connection *connection, aloft_bytes rest) {
  alo_tds_transaction asked;
  const char *wrong = alo_tds_parse_transaction(rest, &asked);
  if (wrong) {
    alo_lite_protocol_error(connection, wrong);
    return;
  }
  bool plain = asked.name.size == 0 && asked.isolation <= 4 && !asked.begin_after;
  if (plain && asked.request == ALO_TDS_TM_BEGIN)
    start_text(connection, ALOFT_TEXT("BEGIN TRANSACTION"));
  else if (plain && asked.request == ALO_TDS_TM_COMMIT)
    start_text(connection, ALOFT_TEXT("COMMIT TRANSACTION"));
  else if (plain && asked.request == ALO_TDS_TM_ROLLBACK)
    start_text(connection, ALOFT_TEXT("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION"));
  else
    alo_lite_answer_error(connection, 40510, 16,
                          ALOFT_TEXT("lite has no savepoints, named transactions or snapshot "
                                     "isolation: use BEGIN, COMMIT and ROLLBACK."));
}

/* ---- any request ---- */

void alo_lite_request(alo_lite_connection *connection, uint8_t type, aloft_bytes payload) {
  if (connection->reset_wanted)
    alo_session_reset(connection->session);
  connection->reset_wanted = false;
  if (type == ALO_TDS_ATTENTION) { /* what it was meant for is over */
    alo_lite_answer_done(connection, ALO_TDS_DONE_ATTN);
    return;
  }
  uint64_t transaction_id;
  aloft_bytes rest;
  const char *wrong = NULL;
  if (type == ALO_TDS_SQL_BATCH || type == ALO_TDS_RPC || type == ALO_TDS_TRANSACTION)
    wrong = alo_tds_parse_headers(payload, &transaction_id, &rest);
  else
    wrong = type == ALO_TDS_BULK ? "bulk load is not supported by lite"
                                 : "a message of this type is not a request";
  if (wrong)
    alo_lite_protocol_error(connection, wrong);
  else if (type == ALO_TDS_SQL_BATCH)
    sql_batch(connection, rest);
  else if (type == ALO_TDS_RPC)
    rpc(connection, rest);
  else
    transaction(connection, rest);
}
