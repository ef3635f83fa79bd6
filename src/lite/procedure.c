/* RPC (MS-TDS 2.2.6.6): sp_executesql, and the procedures of prepared statements. */
#include <stdlib.h>
#include <string.h>

#include "lite_connection.h"

/* What the first parameters of a procedure are. */
typedef enum parameter_role {
  ROLE_NONE,
  ROLE_STATEMENT,
  ROLE_DECLARATIONS,
  ROLE_HANDLE,     /* of a prepared statement */
  ROLE_NEW_HANDLE, /* output */
  ROLE_OPTIONS     /* of sp_prepare: whether to send the columns; lite never does */
} parameter_role;

enum { ROLES_MAX = 4 };

typedef struct call call;

typedef struct procedure {
  const char *name;
  void (*run)(alo_lite_connection *connection, call *self);
  size_t required;
  parameter_role roles[ROLES_MAX];
  uint16_t number;
  bool values; /* the parameters of the statement follow */
} procedure;

struct call {
  const procedure *procedure;
  alo_engine_parameter *parameters; /* with the memory of their texts */
  size_t count, room;
  aloft_text sql, declarations, handle_name;
  int64_t handle;
  const char *wrong;
};

static void free_call(call *self) {
  for (size_t i = 0; i < self->count; i++) {
    alo_lite_let_go(self->parameters[i].name);
    alo_lite_let_go(self->parameters[i].value.text);
  }
  free(self->parameters);
  alo_lite_let_go(self->sql);
  alo_lite_let_go(self->declarations);
  alo_lite_let_go(self->handle_name);
}

/* ---- values ---- */

static const char *decode_text(const alo_tds_rpc_param *param, aloft_text *text) {
  size_t room = alo_tds_value_text_room(&param->type, param->size);
  char *memory = malloc(room + 1);
  if (!memory)
    return "no memory";
  text->data = memory;
  return alo_tds_value_text(&param->type, param->data, param->size, memory, &text->size);
}

static const char *decode_moment(const alo_tds_rpc_param *param, alo_engine_value *value) {
  aloft_tds_moment moment = {.days = 0};
  const char *wrong = alo_tds_value_moment(&param->type, param->data, param->size, &moment);
  value->days = moment.days;
  value->ticks = moment.ticks;
  value->offset_minutes = moment.offset_minutes;
  return wrong;
}

static const char *decode_decimal(const alo_tds_rpc_param *param, alo_engine_value *value) {
  aloft_tds_decimal decimal = {.low = 0};
  const char *wrong = alo_tds_value_decimal(&param->type, param->data, param->size, &decimal);
  value->decimal = (alo_engine_decimal){decimal.high, decimal.low, decimal.negative};
  return wrong;
}

static const char *decode_value(const alo_tds_rpc_param *param, alo_engine_value *value) {
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
    return decode_decimal(param, value);
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
    return decode_moment(param, value);
  default:
    return "the data type of a parameter is not supported by lite";
  }
}

/* ---- parameters ---- */

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
  made->name = alo_lite_decode(param->name);
  made->type = param->type;
  made->output = param->output;
  made->value.null = param->null;
  if (!made->name.data)
    return "no memory";
  return param->null ? NULL : decode_value(param, &made->value);
}

static bool is_character(const alo_tds_rpc_param *param) {
  aloft_tds_type type = alo_tds_type_public(&param->type);
  return type == ALOFT_TDS_NVARCHAR || type == ALOFT_TDS_NCHAR || type == ALOFT_TDS_VARCHAR ||
         type == ALOFT_TDS_CHAR || type == ALOFT_TDS_NTEXT;
}

static bool is_integer(const alo_tds_rpc_param *param) {
  aloft_tds_type type = alo_tds_type_public(&param->type);
  return type == ALOFT_TDS_TINYINT || type == ALOFT_TDS_SMALLINT || type == ALOFT_TDS_INT ||
         type == ALOFT_TDS_BIGINT;
}

static const char *take_role(call *self, parameter_role role, const alo_tds_rpc_param *param) {
  switch (role) {
  case ROLE_STATEMENT:
    if (!is_character(param) || param->null)
      return "the statement of a procedure call is not nvarchar";
    return decode_text(param, &self->sql);
  case ROLE_DECLARATIONS:
    if (param->null)
      return NULL;
    return is_character(param) ? decode_text(param, &self->declarations)
                               : "the declarations of a procedure call are not nvarchar";
  case ROLE_HANDLE:
    if (!is_integer(param) || param->null)
      return "the handle of a prepared statement is not an int";
    return alo_tds_value_int64(&param->type, param->data, param->size, &self->handle);
  case ROLE_NEW_HANDLE:
    if (!is_integer(param) || !param->output)
      return "the handle of a prepared statement is not an output parameter of int";
    self->handle_name = alo_lite_decode(param->name);
    return self->handle_name.data ? NULL : "no memory";
  default: /* options */
    return NULL;
  }
}

static const char *take_param(call *self, size_t index, const alo_tds_rpc_param *param) {
  parameter_role role = index < ROLES_MAX ? self->procedure->roles[index] : ROLE_NONE;
  if (role != ROLE_NONE)
    return take_role(self, role, param);
  return self->procedure->values ? take_value(self, param)
                                 : "a procedure call has too many parameters";
}

static void take_params(call *self, aloft_bytes *parameters) {
  alo_tds_rpc_param param;
  bool end = false;
  size_t index = 0;
  for (; !self->wrong; index++) {
    self->wrong = alo_tds_parse_param(parameters, &param, &end);
    if (self->wrong || end)
      break;
    self->wrong = take_param(self, index, &param);
  }
  if (!self->wrong && index < self->procedure->required)
    self->wrong = "a procedure call has too few parameters";
}

/* ---- procedures ---- */

static void start(alo_lite_connection *connection, const call *self, aloft_text sql,
                  aloft_text declarations) {
  const alo_batch batch = {.kind = ALO_BATCH_EXECUTESQL,
                           .text = sql,
                           .declarations = declarations,
                           .parameters = self->parameters,
                           .parameter_count = self->count};
  alo_lite_start(connection, &batch);
}

static void execute_sql(alo_lite_connection *connection, call *self) {
  start(connection, self, self->sql, self->declarations);
}

/* An absent declaration is an empty one here: a prepared statement's parameters are declared. */
static bool prepare_text(alo_lite_connection *connection, const call *self, int32_t *handle) {
  aloft_text declarations = self->declarations.data ? self->declarations : ALOFT_TEXT("");
  aloft_status status = alo_prepared_add(&connection->prepared, self->sql, declarations, handle);
  if (status == ALOFT_TOO_MANY)
    alo_lite_answer_error(connection, 40510, 16,
                          ALOFT_TEXT("lite keeps at most 1,024 prepared statements and 16 MiB of "
                                     "their text in a session: unprepare some."));
  else if (status != ALOFT_OK)
    alo_lite_answer_error(connection, 701, 17,
                          ALOFT_TEXT("There is insufficient system memory to run this query."));
  return status == ALOFT_OK;
}

static void prepare(alo_lite_connection *connection, call *self) {
  int32_t handle;
  if (prepare_text(connection, self, &handle))
    alo_lite_answer_procedure(connection, self->handle_name, handle);
}

static void prepare_and_execute(alo_lite_connection *connection, call *self) {
  int32_t handle;
  if (!prepare_text(connection, self, &handle))
    return;
  alo_lite_let_go(connection->handle_name);
  connection->handle_name = self->handle_name;
  self->handle_name = (aloft_text){NULL, 0};
  connection->handle = handle;
  const alo_prepared *found = alo_prepared_find(&connection->prepared, handle);
  start(connection, self, found->sql, found->declarations);
}

static void refuse_handle(alo_lite_connection *connection, const call *self) {
  char text[100];
  int size = snprintf(text, sizeof text, "Could not find prepared statement with handle %lld.",
                      (long long)self->handle);
  alo_lite_answer_error(connection, 8179, 16, (aloft_text){text, (size_t)size});
}

static void execute(alo_lite_connection *connection, call *self) {
  const alo_prepared *found = alo_prepared_find(&connection->prepared, self->handle);
  if (found)
    start(connection, self, found->sql, found->declarations);
  else
    refuse_handle(connection, self);
}

static void unprepare(alo_lite_connection *connection, call *self) {
  if (alo_prepared_remove(&connection->prepared, self->handle))
    alo_lite_answer_procedure(connection, (aloft_text){NULL, 0}, 0);
  else
    refuse_handle(connection, self);
}

static const procedure procedures[] = {
    {.name = "sp_executesql",
     .number = ALO_TDS_SP_EXECUTESQL,
     .roles = {ROLE_STATEMENT, ROLE_DECLARATIONS},
     .required = 1,
     .values = true,
     .run = execute_sql},
    {.name = "sp_prepare",
     .number = ALO_TDS_SP_PREPARE,
     .roles = {ROLE_NEW_HANDLE, ROLE_DECLARATIONS, ROLE_STATEMENT, ROLE_OPTIONS},
     .required = 3,
     .run = prepare},
    {.name = "sp_prepexec",
     .number = ALO_TDS_SP_PREPEXEC,
     .roles = {ROLE_NEW_HANDLE, ROLE_DECLARATIONS, ROLE_STATEMENT},
     .required = 3,
     .values = true,
     .run = prepare_and_execute},
    {.name = "sp_execute",
     .number = ALO_TDS_SP_EXECUTE,
     .roles = {ROLE_HANDLE},
     .required = 1,
     .values = true,
     .run = execute},
    {.name = "sp_unprepare",
     .number = ALO_TDS_SP_UNPREPARE,
     .roles = {ROLE_HANDLE},
     .required = 1,
     .run = unprepare},
};

/* ---- the request ---- */

/* UTF-16LE against ASCII in lower case. */
static bool same_name(aloft_bytes name, const char *known) {
  const uint8_t *bytes = name.data;
  size_t size = strlen(known);
  if (name.size != 2 * size)
    return false;
  for (size_t i = 0; i < size; i++) {
    uint8_t low = bytes[2 * i];
    if (bytes[2 * i + 1] || (low >= 'A' && low <= 'Z' ? low + 0x20 : low) != (uint8_t)known[i])
      return false;
  }
  return true;
}

static const procedure *find_procedure(const alo_tds_rpc *rpc) {
  for (size_t i = 0; i < sizeof procedures / sizeof procedures[0]; i++)
    if (rpc->procedure ? rpc->procedure == procedures[i].number
                       : same_name(rpc->name, procedures[i].name))
      return &procedures[i];
  return NULL;
}

static void refuse_procedure(alo_lite_connection *connection, const alo_tds_rpc *rpc) {
  static const char instead[] =
      "use sp_executesql, sp_prepare, sp_prepexec, sp_execute or sp_unprepare.";
  char text[600];
  aloft_text name = rpc->procedure ? (aloft_text){NULL, 0} : alo_lite_decode(rpc->name);
  int size =
      rpc->procedure
          ? snprintf(text, sizeof text, "Procedure number %u is not supported by lite: %s",
                     (unsigned)rpc->procedure, instead)
          : snprintf(text, sizeof text, "Procedure '%.*s' is not supported by lite: %s",
                     name.size > 400 ? 0 : (int)name.size, name.data ? name.data : "", instead);
  alo_lite_answer_error(connection, 40510, 16, (aloft_text){text, (size_t)size});
  alo_lite_let_go(name);
}

void alo_lite_rpc(alo_lite_connection *connection, aloft_bytes rest) {
  alo_tds_rpc asked;
  const char *wrong = alo_tds_parse_rpc(rest, &asked);
  if (wrong) {
    alo_lite_protocol_error(connection, wrong);
    return;
  }
  call self = {.procedure = find_procedure(&asked)};
  if (!self.procedure) {
    refuse_procedure(connection, &asked);
    return;
  }
  take_params(&self, &asked.parameters);
  if (self.wrong)
    alo_lite_answer_error(connection, 8009, 16, aloft_text_of(self.wrong));
  else if (asked.parameters.size)
    alo_lite_answer_error(connection, 40510, 16,
                          ALOFT_TEXT("lite takes one procedure call in a request."));
  else
    self.procedure->run(connection, &self);
  free_call(&self);
}
