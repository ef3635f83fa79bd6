/* Opening and closing; starting a batch; the events' queue. */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine_session.h"
#include "tsql_error.h"
#include "tsql_text.h"

static uint64_t read_system(clockid_t id) {
  struct timespec now;
  clock_gettime(id, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static uint64_t system_wall(void *context) {
  (void)context;
  return read_system(CLOCK_REALTIME);
}

static uint64_t system_steady(void *context) {
  (void)context;
  return read_system(CLOCK_MONOTONIC);
}

static char *copy_text(aloft_text text) {
  char *copy = malloc(text.size + 1);
  if (!copy)
    return NULL;
  if (text.size > 0)
    memcpy(copy, text.data, text.size);
  copy[text.size] = 0;
  return copy;
}

static aloft_text text_of(const char *string) {
  return (aloft_text){string, strlen(string)};
}

/* The file's name without folder and extension. */
static aloft_text name_of(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *base = slash ? slash + 1 : path;
  const char *dot = strrchr(base, '.');
  aloft_text name = {base, dot && dot != base ? (size_t)(dot - base) : strlen(base)};
  return strcmp(path, ":memory:") == 0 ? ALOFT_TEXT("memory") : name;
}

/* As SQLite's "file:" names want it. */
static char *make_uri(const char *path) {
  static unsigned number;
  size_t room = strlen(path) * 3 + 64;
  char *uri = malloc(room);
  if (!uri)
    return NULL;
  if (strcmp(path, ":memory:") == 0) {
    snprintf(uri, room, "file:/aloft-lite-%u?vfs=memdb", ++number);
    return uri;
  }
  size_t size = (size_t)snprintf(uri, room, "file:");
  for (const char *c = path; *c; c++) {
    bool special = *c == '?' || *c == '#' || *c == '%';
    size += (size_t)snprintf(uri + size, room - size, special ? "%%%02X" : "%c", (uint8_t)*c);
  }
  return uri;
}

static int open_database(const char *uri, sqlite3 **database) {
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
              SQLITE_OPEN_EXRESCODE;
  int code = sqlite3_open_v2(uri, database, flags, NULL);
  if (code != SQLITE_OK)
    return code;
  sqlite3_limit(*database, SQLITE_LIMIT_LENGTH, ALO_ENGINE_ROW_MAX + 1024 * 1024);
  sqlite3_db_config(*database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config(*database, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
  sqlite3_db_config(*database, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
  return SQLITE_OK;
}

static void say_why(const alo_engine *engine, int code, char *error) {
  int kind = code & 0xFF;
  if (kind == SQLITE_NOTADB)
    snprintf(error, 256, "the file is not a database of aloft lite: give another path");
  else if (kind == SQLITE_CANTOPEN || kind == SQLITE_READONLY || kind == SQLITE_PERM)
    snprintf(error, 256,
             "cannot open or create this file: check that its folder exists, and that "
             "folder and file may be read and written");
  else
    snprintf(error, 256, "cannot open the database: %s",
             engine->keeper ? sqlite3_errmsg(engine->keeper) : sqlite3_errstr(code));
}

static aloft_status open_keeper(alo_engine *engine, char *error) {
  int code = open_database(engine->uri, &engine->keeper);
  if (code == SQLITE_OK)
    code = sqlite3_exec(engine->keeper, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
  if (code == SQLITE_OK)
    code = alo_catalogue_open(engine->keeper);
  if (code == SQLITE_OK)
    return ALOFT_OK;
  say_why(engine, code, error);
  return (code & 0xFF) == SQLITE_NOMEM ? ALOFT_NO_MEMORY : ALOFT_SYSTEM;
}

aloft_status alo_engine_open(alo_engine **engine, const alo_engine_config *config, char *error) {
  *error = 0;
  alo_engine *made = calloc(1, sizeof *made);
  if (!made)
    return ALOFT_NO_MEMORY;
  made->uri = make_uri(config->path);
  made->name = copy_text(config->name.size > 0 ? config->name : name_of(config->path));
  made->server = copy_text(config->server.size > 0 ? config->server : ALOFT_TEXT("lite"));
  made->wall_clock = config->wall_clock ? config->wall_clock : system_wall;
  made->clock_context = config->clock_context;
  made->steady_clock = config->steady_clock ? config->steady_clock : system_steady;
  made->steady_context = config->steady_context;
  made->lock_timeout_ns = config->lock_timeout_ns ? config->lock_timeout_ns : ALOFT_SECONDS(10);
  aloft_status status = ALOFT_NO_MEMORY;
  if (made->uri && made->name && made->server)
    status = open_keeper(made, error);
  if (status != ALOFT_OK) {
    alo_engine_close(made);
    return status;
  }
  *engine = made;
  return ALOFT_OK;
}

void alo_engine_close(alo_engine *engine) {
  if (!engine)
    return;
  sqlite3_close(engine->keeper);
  free(engine->uri);
  free(engine->name);
  free(engine->server);
  free(engine);
}

aloft_text alo_engine_database(const alo_engine *engine) {
  return text_of(engine->name);
}

/* Sessions. */

static bool table_exists(const tsql_environment *environment, aloft_text name, int64_t *id) {
  alo_session *s = environment->session;
  sqlite3_stmt *statement;
  int code = sqlite3_prepare_v2(
      s->database, "SELECT id FROM aloft_lite_table WHERE name=?1 COLLATE " TSQL_COLLATION_TEXT, -1,
      &statement, NULL);
  if (code != SQLITE_OK)
    return false;
  sqlite3_bind_text64(statement, 1, name.data ? name.data : "", name.size, SQLITE_STATIC,
                      SQLITE_UTF8);
  bool found = sqlite3_step(statement) == SQLITE_ROW;
  if (found)
    *id = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return found;
}

static void set_defaults(alo_session *s) {
  s->no_count = false;
  s->abort_transaction = false;
  s->date_order = TSQL_MDY;
  s->lock_timeout_ms = -2;
  s->environment.row_count = 0;
  s->environment.last_error = 0;
  s->environment.identity = TSQL_NULL;
}

static aloft_status open_session(alo_session *s) {
  int code = open_database(s->engine->uri, &s->database);
  if (code == SQLITE_OK)
    code = alo_session_register(s);
  if (code == SQLITE_OK)
    code = sqlite3_exec(s->database, "CREATE TEMP TABLE aloft_spool(data)", NULL, NULL, NULL);
  if (code == SQLITE_OK)
    return ALOFT_OK;
  return (code & 0xFF) == SQLITE_NOMEM ? ALOFT_NO_MEMORY : ALOFT_SYSTEM;
}

static bool set_names(alo_session *s, const alo_session_config *config) {
  size_t size = config->user.size + config->application.size + 2;
  s->names = calloc(1, size);
  if (!s->names)
    return false;
  if (config->user.size > 0)
    memcpy(s->names, config->user.data, config->user.size);
  char *application = s->names + config->user.size + 1;
  if (config->application.size > 0)
    memcpy(application, config->application.data, config->application.size);
  tsql_environment *e = &s->environment;
  e->user = (aloft_text){s->names, config->user.size};
  e->application = (aloft_text){application, config->application.size};
  e->database = text_of(s->engine->name);
  e->server = text_of(s->engine->server);
  e->spid = config->spid;
  e->table_exists = table_exists;
  e->session = s;
  return true;
}

aloft_status alo_session_open(alo_session **session, alo_engine *engine,
                              const alo_session_config *config, alo_engine_message *message) {
  if (config->database.size > 0 && !alo_text_same_name(config->database, text_of(engine->name))) {
    *message = (alo_engine_message){
        .number = 4060,
        .severity = 11,
        .state = 1,
        .line = 1,
        .text = ALOFT_TEXT("Cannot open the database requested by the login. The login failed.")};
    return ALOFT_AUTH;
  }
  alo_session *s = calloc(1, sizeof *s);
  if (!s)
    return ALOFT_NO_MEMORY;
  s->engine = engine;
  s->config = *config;
  set_defaults(s);
  aloft_status status = set_names(s, config) ? open_session(s) : ALOFT_NO_MEMORY;
  if (status != ALOFT_OK) {
    alo_session_close(s);
    return status;
  }
  *session = s;
  return ALOFT_OK;
}

static void end_batch(alo_session *s) {
  for (size_t i = 0; i < s->declared; i++)
    free(s->memory[i].data);
  s->declared = 0;
  s->memory = NULL;
  s->environment.variables = NULL;
  s->environment.variable_count = 0;
  s->output_count = 0;
  s->output_next = 0;
  s->running = false;
  s->stopped = false;
  s->event_count = 0;
  s->event_first = 0;
  alo_arena_reset(&s->batch.arena);
  alo_arena_reset(&s->work.arena);
  alo_arena_reset(&s->scratch.arena);
  alo_arena_reset(&s->eval.arena);
  alo_arena_reset(&s->row.arena);
}

void alo_session_reset(alo_session *s) {
  alo_session_abandon(s);
  if (!sqlite3_get_autocommit(s->database))
    sqlite3_exec(s->database, "ROLLBACK", NULL, NULL, NULL);
  s->transaction_count = 0;
  s->transaction_id = 0;
  end_batch(s);
  set_defaults(s);
}

void alo_session_close(alo_session *s) {
  if (!s)
    return;
  if (s->database) {
    alo_session_abandon(s);
    end_batch(s);
    sqlite3_close(s->database);
  }
  alo_arena_free(&s->batch.arena);
  alo_arena_free(&s->work.arena);
  alo_arena_free(&s->scratch.arena);
  alo_arena_free(&s->eval.arena);
  alo_arena_free(&s->row.arena);
  free(s->names);
  free(s);
}

uint64_t alo_session_transaction(const alo_session *s) {
  return s->transaction_id;
}

void alo_session_stop(alo_session *s) {
  if (s->running)
    s->stopped = true;
}

/* Events. */

alo_event *alo_session_push(alo_session *s, alo_event_kind kind) {
  size_t place = (s->event_first + s->event_count) % SESSION_EVENTS_MAX;
  if (s->event_count < SESSION_EVENTS_MAX)
    s->event_count++;
  s->events[place] = (alo_event){.kind = kind};
  return &s->events[place];
}

void alo_session_message(alo_session *s, int number, uint8_t severity, uint8_t state,
                         aloft_text text) {
  const tsql_statement *statement = alo_session_statement(s);
  alo_event *event = alo_session_push(s, ALO_EVENT_MESSAGE);
  event->message = (alo_engine_message){.number = number,
                                        .severity = severity,
                                        .state = state,
                                        .line = statement ? statement->line : 1,
                                        .text = text};
}

const tsql_statement *alo_session_statement(const alo_session *s) {
  return s->at < s->tree.count ? s->tree.statements[s->at] : NULL;
}

uint64_t alo_session_clock(const alo_session *s) {
  return s->engine->wall_clock(s->engine->clock_context);
}

/* Starting. */

static void copy_batch(alo_session *s, const alo_batch *batch, aloft_text *text,
                       aloft_text *declarations, alo_engine_parameter *parameters) {
  *text = alo_copy(&s->batch, batch->text);
  *declarations =
      batch->declarations.data ? alo_copy(&s->batch, batch->declarations) : (aloft_text){NULL, 0};
  for (size_t i = 0; i < batch->parameter_count; i++) {
    parameters[i] = batch->parameters[i];
    parameters[i].name = alo_copy(&s->batch, batch->parameters[i].name);
  }
}

/* A variable for each DECLARE, in order: a statement sees those declared before it. */
static void declare_all(alo_session *s, const tsql_batch *declared, size_t extra) {
  size_t count = declared->count + extra;
  for (size_t i = 0; i < s->tree.count; i++)
    count += s->tree.statements[i]->kind == STATEMENT_DECLARE;
  if (count > ALO_ENGINE_PARAMETERS_MAX)
    alo_throw(&s->batch, 40510, ALOFT_PRINT(ALOFT_TEXT("more than 2100 variables in a batch")));
  s->environment.variables = alo_take(&s->batch, (count + 1) * sizeof(tsql_variable));
  s->memory = alo_take(&s->batch, (count + 1) * sizeof *s->memory);
  s->visible = alo_take(&s->batch, (s->tree.count + 1) * sizeof *s->visible);
}

static void declare(alo_session *s, aloft_text name, tsql_type type, bool output) {
  for (size_t i = 0; i < s->declared; i++)
    if (alo_text_same_name(s->environment.variables[i].name, name))
      alo_throw(&s->batch, 134, ALOFT_PRINT(name));
  s->environment.variables[s->declared++] =
      (tsql_variable){.name = name, .type = type, .value = TSQL_NULL, .output = output};
}

static tsql_type parameter_type(alo_session *s, const alo_engine_parameter *parameter) {
  tsql_type type;
  if (!alo_type_from_tds(&parameter->type, &type))
    alo_throw(&s->batch, 40510, ALOFT_PRINT(ALOFT_TEXT("parameter of this data type")));
  return type;
}

static void set_parameter(alo_session *s, size_t slot, const alo_engine_parameter *parameter) {
  tsql_type from = parameter_type(s, parameter);
  tsql_variable *variable = &s->environment.variables[slot];
  tsql_value value = alo_value_from_engine(&s->batch, &parameter->value, from);
  if (alo_kind_is_text(from.kind)) /* as long as it is, whatever the caller says */
    from.length = TSQL_MAX;
  if (alo_type_conversion(from, variable->type) == TSQL_CONVERT_NEVER)
    alo_throw(&s->batch, 206, ALOFT_PRINT(alo_type_name(from)),
              ALOFT_PRINT(alo_type_name(variable->type)));
  value = alo_convert(&s->batch, &value, from, variable->type, 0, NULL);
  alo_session_set_variable(s, slot, &value);
}

static size_t find_parameter(alo_session *s, const alo_engine_parameter *parameter, size_t place) {
  if (parameter->name.size == 0 && place < s->declared)
    return place;
  for (size_t i = 0; i < s->declared; i++)
    if (alo_text_same_name(s->environment.variables[i].name, parameter->name))
      return i;
  alo_throw(&s->batch, 8145, ALOFT_PRINT(parameter->name));
}

static void bind_parameters(alo_session *s, const tsql_batch *declared,
                            const alo_engine_parameter *parameters, size_t count,
                            bool by_declaration) {
  for (size_t i = 0; i < declared->count; i++) {
    const tsql_statement *d = declared->statements[i];
    declare(s, d->name, d->type, d->number != 0);
  }
  if (!by_declaration)
    for (size_t i = 0; i < count; i++)
      declare(s, parameters[i].name, parameter_type(s, &parameters[i]), parameters[i].output);
  bool *given = alo_take(&s->batch, s->declared + 1);
  s->outputs = alo_take(&s->batch, (count + 1) * sizeof *s->outputs);
  s->output_places = alo_take(&s->batch, (count + 1) * sizeof *s->output_places);
  for (size_t i = 0; i < count; i++) {
    size_t slot = find_parameter(s, &parameters[i], i);
    set_parameter(s, slot, &parameters[i]);
    given[slot] = true;
    if (!parameters[i].output)
      continue;
    s->output_places[s->output_count] = slot;
    s->outputs[s->output_count] = parameters[i];
    s->outputs[s->output_count++].value.integer = (int64_t)i;
  }
  for (size_t i = 0; i < s->declared; i++)
    if (!given[i])
      alo_throw(&s->batch, 8178, ALOFT_PRINT(s->environment.variables[i].name));
}

/* Parses, and declares every variable. */
static void prepare_batch(alo_session *s, aloft_text text, aloft_text declarations,
                          const alo_engine_parameter *parameters, size_t count) {
  tsql_batch declared = {0};
  if (declarations.data)
    alo_parse_declarations(&s->batch, declarations, &declared);
  alo_parse_batch(&s->batch, text, &s->tree);
  declare_all(s, &declared, count);
  bind_parameters(s, &declared, parameters, count, declarations.data != NULL);
  for (size_t i = 0; i < s->tree.count; i++) {
    tsql_statement *statement = s->tree.statements[i];
    s->visible[i] = s->declared;
    if (statement->kind != STATEMENT_DECLARE)
      continue;
    statement->target = s->declared;
    declare(s, statement->name, statement->type, false);
  }
}

static void read_batch(alo_session *s, const alo_batch *batch) {
  aloft_text text;
  aloft_text declarations;
  alo_engine_parameter *parameters =
      alo_take(&s->batch, (batch->parameter_count + 1) * sizeof *parameters);
  copy_batch(s, batch, &text, &declarations, parameters);
  prepare_batch(s, text, declarations, parameters, batch->parameter_count);
}

/* The text is wrong: its error is the batch's one event. */
static aloft_status refuse_batch(alo_session *s) {
  const tsql_error *error = &s->batch.error;
  if (error->number == 701) {
    end_batch(s);
    return ALOFT_NO_MEMORY;
  }
  s->tree.count = 0;
  alo_session_message(s, error->number, error->severity, error->state, text_of(error->text));
  if (error->line > 0)
    s->events[s->event_first].message.line = error->line;
  alo_session_done(s, 0, false, true);
  s->environment.last_error = error->number;
  s->output_count = 0;
  s->phase = PHASE_END;
  return ALOFT_OK;
}

aloft_status alo_session_start(alo_session *s, const alo_batch *batch) {
  if (s->running)
    return ALOFT_IN_USE;
  if (batch->text.size > ALO_ENGINE_TEXT_MAX || batch->declarations.size > ALO_ENGINE_TEXT_MAX)
    return ALOFT_TOO_LARGE;
  if (batch->parameter_count > ALO_ENGINE_PARAMETERS_MAX)
    return ALOFT_TOO_MANY;
  end_batch(s);
  s->running = true;
  s->kind = batch->kind;
  s->tree = (tsql_batch){0};
  s->at = 0;
  s->phase = PHASE_COMPILE;
  s->batch.date_order = s->date_order;
  if (ALO_TRY(&s->batch))
    return refuse_batch(s);
  read_batch(s, batch);
  return ALOFT_OK;
}

void alo_session_set_variable(alo_session *s, size_t slot, const tsql_value *value) {
  tsql_variable *variable = &s->environment.variables[slot];
  session_memory *memory = &s->memory[slot];
  if (!value->null && value->text.size > memory->room) {
    char *data = realloc(memory->data, value->text.size);
    if (!data)
      alo_throw(s->phase == PHASE_COMPILE ? &s->batch : &s->work, 701);
    memory->data = data;
    memory->room = value->text.size;
  }
  if (!value->null && value->text.size > 0 && value->text.data != memory->data)
    memmove(memory->data, value->text.data, value->text.size);
  variable->value = *value;
  if (!value->null && value->text.data)
    variable->value.text.data = value->text.size > 0 ? memory->data : "";
}
