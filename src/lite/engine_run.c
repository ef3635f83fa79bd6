/* The steps of a batch: one phase after another, each of which says at most a few events. */
#include <string.h>

#include "engine_session.h"
#include "tsql_error.h"
#include "tsql_time.h"

enum { NANOSECONDS_PER_TICK = 100 };

/* What a statement does with the database. */
typedef enum need { NEED_NOTHING, NEED_READ, NEED_WRITE } need;

static const struct {
  need need;
  uint16_t command; /* CurCmd of DONE; 0: the statement has no DONE of its own */
} traits[] = {
    [STATEMENT_SELECT] = {NEED_READ, 0xC1},
    [STATEMENT_INSERT] = {NEED_WRITE, 0xC3},
    [STATEMENT_UPDATE] = {NEED_WRITE, 0xC5},
    [STATEMENT_DELETE] = {NEED_WRITE, 0xC4},
    [STATEMENT_TRUNCATE] = {NEED_WRITE, 0xC4},
    [STATEMENT_CREATE_TABLE] = {NEED_WRITE, 0xC6},
    [STATEMENT_DROP_TABLE] = {NEED_WRITE, 0xC7},
    [STATEMENT_DECLARE] = {NEED_READ, 0},
    [STATEMENT_SET] = {NEED_READ, 0},
    [STATEMENT_OPTION] = {NEED_NOTHING, 0},
    [STATEMENT_PRINT] = {NEED_READ, 0},
    [STATEMENT_RAISERROR] = {NEED_READ, 0},
    [STATEMENT_THROW] = {NEED_READ, 0},
    [STATEMENT_WAITFOR] = {NEED_READ, 0},
    [STATEMENT_BEGIN] = {NEED_NOTHING, 0xD4},
    [STATEMENT_COMMIT] = {NEED_NOTHING, 0xD5},
    [STATEMENT_ROLLBACK] = {NEED_NOTHING, 0xD2},
    [STATEMENT_USE] = {NEED_NOTHING, 0},
    [STATEMENT_BRANCH] = {NEED_READ, 0},
    [STATEMENT_JUMP] = {NEED_NOTHING, 0},
    [STATEMENT_RETURN] = {NEED_NOTHING, 0},
};

static bool is_row_write(tsql_statement_kind kind) {
  return kind == STATEMENT_INSERT || kind == STATEMENT_UPDATE || kind == STATEMENT_DELETE;
}

uint16_t alo_session_command(const tsql_statement *statement) {
  return traits[statement->kind].command;
}

void alo_session_done(alo_session *s, uint16_t command, bool counted, bool failed) {
  alo_event *event = alo_session_push(s, ALO_EVENT_DONE);
  event->command = command;
  event->counted = counted;
  event->rows = counted ? (uint64_t)s->rows : 0;
  event->failed = failed;
}

/* SQLite. */

tsql_binder alo_session_binder(alo_session *s) {
  return (tsql_binder){.context = &s->work,
                       .environment = &s->environment,
                       .database = s->database,
                       .plan = &s->plan,
                       .scratch = &s->scratch};
}

void alo_session_prepare(alo_session *s, sqlite3_stmt **statement, aloft_text sql) {
  int code = sqlite3_prepare_v2(s->database, sql.data, (int)sql.size, statement, NULL);
  if ((code & 0xFF) == SQLITE_ERROR) {
    const char *text = sqlite3_errmsg(s->database);
    if (strstr(text, "stack overflow") || strstr(text, "too large") || strstr(text, "too many"))
      alo_throw(&s->work, 191);
    alo_throw(&s->work, 8629, (int)strlen(text), text);
  }
  alo_sqlite_check(&s->work, s->database, code);
}

void alo_session_bind(alo_session *s, sqlite3_stmt *statement) {
  int count = sqlite3_bind_parameter_count(statement);
  for (int i = 0; i < count && (size_t)i < s->plan.bind_count; i++)
    alo_sqlite_check(
        &s->work, s->database,
        alo_value_bind(statement, i + 1, &s->plan.binds[i].value, s->plan.binds[i].type));
}

bool alo_session_step_query(alo_session *s) {
  s->eval_error.number = 0;
  s->may_interrupt = true;
  int code = sqlite3_step(s->query);
  s->may_interrupt = false;
  if ((code & 0xFF) == SQLITE_ERROR && s->eval_error.number != 0)
    alo_rethrow(&s->work, &s->eval_error);
  alo_sqlite_check(&s->work, s->database, code);
  return code == SQLITE_ROW;
}

void alo_session_begin_read(alo_session *s) {
  if (s->transaction_count > 0)
    return;
  alo_sqlite_run(&s->work, s->database, "BEGIN");
  s->own_transaction = true;
}

/* The lock is taken first, so that being busy never leaves half a statement. */
void alo_session_begin_write(alo_session *s) {
  if (s->transaction_count == 0) {
    alo_sqlite_run(&s->work, s->database, "BEGIN IMMEDIATE");
    s->own_transaction = true;
    return;
  }
  alo_sqlite_run(&s->work, s->database, "UPDATE aloft_lite_lock SET held=held WHERE 0");
  alo_sqlite_run(&s->work, s->database, "SAVEPOINT aloft_statement");
  s->savepoint = true;
}

void alo_session_commit(alo_session *s) {
  if (s->own_transaction)
    alo_sqlite_run(&s->work, s->database, "COMMIT");
  else if (s->savepoint)
    alo_sqlite_run(&s->work, s->database, "RELEASE aloft_statement");
  s->own_transaction = false;
  s->savepoint = false;
}

/* Whatever a throw has left open too: the session keeps no statement beyond this. */
static void finalize_all(alo_session *s) {
  sqlite3_stmt *statement;
  while ((statement = sqlite3_next_stmt(s->database, NULL)) != NULL)
    sqlite3_finalize(statement);
  s->query = NULL;
  s->spool = NULL;
  s->apply = NULL;
  s->remove = NULL;
  s->removing = false;
}

void alo_session_abandon(alo_session *s) {
  s->may_interrupt = false;
  finalize_all(s);
  if (s->own_transaction)
    sqlite3_exec(s->database, "ROLLBACK", NULL, NULL, NULL);
  else if (s->savepoint)
    sqlite3_exec(s->database, "ROLLBACK TO aloft_statement; RELEASE aloft_statement", NULL, NULL,
                 NULL);
  s->own_transaction = false;
  s->savepoint = false;
}

/* The end of a statement. */

void alo_session_finish(alo_session *s) {
  const tsql_statement *statement = alo_session_statement(s);
  uint16_t command = traits[statement->kind].command;
  bool rows = statement->kind == STATEMENT_SELECT || is_row_write(statement->kind);
  s->waiting = false;
  if (statement->kind != STATEMENT_RAISERROR)
    s->environment.last_error = 0;
  if (rows)
    s->environment.row_count = s->rows;
  if (command != 0) {
    bool shown = statement->kind != STATEMENT_SELECT || !s->plan.assigned;
    alo_session_done(s, command, rows && shown && !s->no_count, false);
  }
  if (s->phase != PHASE_WAIT && s->phase != PHASE_END) {
    s->at = s->jump;
    s->phase = PHASE_NEXT;
  }
}

static uint64_t lock_timeout_ns(const alo_session *s) {
  if (s->lock_timeout_ms == -1)
    return UINT64_MAX;
  if (s->lock_timeout_ms >= 0)
    return ALOFT_MILLISECONDS((uint64_t)s->lock_timeout_ms);
  return s->engine->lock_timeout_ns;
}

/* True when there is still time: the phase is tried again. */
static bool wait_for_lock(alo_session *s) {
  uint64_t now = s->engine->steady_clock(s->engine->steady_context);
  if (!s->waiting) {
    s->waiting = true;
    s->busy_since = now;
  }
  if (now - s->busy_since >= lock_timeout_ns(s))
    return false;
  alo_session_push(s, ALO_EVENT_BUSY);
  return true;
}

static void report(alo_session *s, const tsql_error *error) {
  memcpy(s->error_text, error->text, sizeof s->error_text);
  alo_session_message(s, error->number, error->severity, error->state,
                      (aloft_text){s->error_text, strlen(s->error_text)});
  s->environment.last_error = error->number;
}

void alo_session_fail(alo_session *s, const tsql_error *given) {
  const tsql_statement *statement = alo_session_statement(s);
  tsql_error error = *given;
  bool compiling = s->phase == PHASE_COMPILE;
  bool committing =
      s->phase == PHASE_COMMIT || (statement && statement->kind == STATEMENT_COMMIT && !compiling);
  if (error.number == TSQL_ERROR_STOPPED) {
    s->stopped = true;
    return;
  }
  if (error.number == TSQL_ERROR_BUSY) {
    if (!committing || s->phase == PHASE_BEGIN)
      alo_session_abandon(s);
    if (wait_for_lock(s)) {
      if (!committing && !compiling)
        s->phase = PHASE_BEGIN;
      return;
    }
    alo_tsql_error_set(&error, 1222);
  }
  s->waiting = false;
  alo_session_abandon(s);
  if (error.number == 1205)
    alo_tsql_error_set(&error, 1205, (int)s->environment.spid);
  report(s, &error);
  bool lost = s->transaction_count > 0 && sqlite3_get_autocommit(s->database);
  if (s->abort_transaction && !compiling && error.number != 50000)
    error.reach = TSQL_ENDS_TRANSACTION;
  if (error.reach == TSQL_ENDS_TRANSACTION || lost)
    alo_session_roll_back(s);
  uint16_t command = statement ? traits[statement->kind].command : 0;
  bool goes_on = error.reach == TSQL_ENDS_STATEMENT && !lost && !compiling;
  if (statement && is_row_write(statement->kind) && goes_on)
    alo_session_message(s, 3621, 0, 0, ALOFT_TEXT("The statement has been terminated."));
  s->rows = 0;
  s->environment.row_count = 0;
  alo_session_done(s, command, false, true);
  if (goes_on) {
    s->at++;
    s->phase = PHASE_NEXT;
  } else {
    s->phase = PHASE_END;
  }
}

/* Phases. Each runs with a throw caught by its caller. */

static void bind_statement(alo_session *s, const tsql_statement *statement) {
  tsql_binder binder = alo_session_binder(s);
  s->plan = (tsql_plan){0};
  if (statement->kind == STATEMENT_SELECT)
    alo_bind_select(&binder, statement->query);
  else if (statement->kind == STATEMENT_INSERT)
    alo_bind_insert(&binder, statement);
  else if (statement->kind == STATEMENT_UPDATE)
    alo_bind_update(&binder, statement);
  else if (statement->kind == STATEMENT_DELETE)
    alo_bind_delete(&binder, statement);
}

static void begin_work(alo_session *s) {
  alo_arena_reset(&s->work.arena);
  alo_arena_reset(&s->scratch.arena);
  s->work.date_order = s->date_order;
  s->row.date_order = s->date_order;
  s->plan = (tsql_plan){0};
  s->rows = 0;
  s->jump = s->at + 1;
  s->environment.variable_count = s->visible ? s->visible[s->at] : 0;
  s->environment.transaction_count = s->transaction_count;
  uint64_t ticks = alo_session_clock(s) / NANOSECONDS_PER_TICK;
  s->environment.now = TSQL_DAYS_1970 * TSQL_TICKS_PER_DAY + (int64_t)ticks;
}

/* Names and types of the statement, as far as tables exist by now. */
static void check_statement(alo_session *s) {
  const tsql_statement *statement = alo_session_statement(s);
  begin_work(s);
  tsql_binder binder = alo_session_binder(s);
  switch (statement->kind) {
  case STATEMENT_SELECT:
  case STATEMENT_INSERT:
  case STATEMENT_UPDATE:
  case STATEMENT_DELETE:
    bind_statement(s, statement);
    break;
  case STATEMENT_DECLARE:
  case STATEMENT_SET:
  case STATEMENT_PRINT:
    if (statement->expression)
      alo_bind_value(&binder, statement->expression, NULL, false);
    break;
  case STATEMENT_BRANCH:
    alo_bind_value(&binder, statement->expression, NULL, true);
    break;
  default:
    break;
  }
}

static void check_one(alo_session *s) {
  if (ALO_TRY(&s->work)) {
    int number = s->work.error.number;
    if (number != 208) /* the table may come to be */
      alo_session_fail(s, &s->work.error);
    return;
  }
  check_statement(s);
}

static void compile(alo_session *s) {
  if (s->tree.count > 1) {
    alo_session_begin_read(s);
    for (s->at = 0; s->at < s->tree.count && s->event_count == 0 && !s->stopped; s->at++) {
      check_one(s);
      if (s->event_count > 0 || s->stopped) {
        s->at = 0;
        return; /* failed, or busy: then again from the start */
      }
    }
    finalize_all(s);
    alo_session_commit(s);
  }
  s->at = 0;
  s->waiting = false;
  s->phase = PHASE_NEXT;
}

static void next(alo_session *s) {
  const tsql_statement *statement = alo_session_statement(s);
  if (!statement || statement->kind == STATEMENT_RETURN) {
    s->phase = PHASE_END;
    return;
  }
  if (statement->kind == STATEMENT_JUMP) {
    s->at = statement->target;
    return;
  }
  if (s->config.statement)
    s->config.statement(s->config.context, statement->text);
  s->phase = PHASE_BEGIN;
}

static void show_columns(alo_session *s) {
  size_t count = s->plan.column_count;
  s->columns = alo_take(&s->work, (count + 1) * sizeof *s->columns);
  s->shown = alo_take(&s->work, (count + 1) * sizeof *s->shown);
  for (size_t i = 0; i < count; i++) {
    const tsql_result_column *column = &s->plan.columns[i];
    s->columns[i] = (alo_engine_column){.name = column->name,
                                        .type = alo_type_to_tds(column->type, column->nullable),
                                        .nullable = column->nullable,
                                        .identity = column->identity,
                                        .key = column->key,
                                        .computed = column->computed};
  }
  alo_event *event = alo_session_push(s, ALO_EVENT_RESULT);
  event->columns = s->columns;
  event->count = count;
}

static void begin_select(alo_session *s) {
  alo_session_prepare(s, &s->query, s->plan.queries[0]);
  alo_session_bind(s, s->query);
  if (!s->plan.assigned)
    show_columns(s);
  s->phase = PHASE_READ;
}

static void begin(alo_session *s) {
  const tsql_statement *statement = alo_session_statement(s);
  begin_work(s);
  need wanted = traits[statement->kind].need;
  if (wanted == NEED_READ)
    alo_session_begin_read(s);
  else if (wanted == NEED_WRITE)
    alo_session_begin_write(s);
  bind_statement(s, statement);
  if (statement->kind == STATEMENT_SELECT) {
    begin_select(s);
  } else if (is_row_write(statement->kind)) {
    alo_session_write_begin(s, statement);
    s->phase = PHASE_GATHER;
  } else {
    alo_session_run_simple(s, statement);
    if (s->own_transaction || s->savepoint)
      s->phase = s->phase == PHASE_WAIT ? PHASE_WAIT : PHASE_COMMIT;
    else
      alo_session_finish(s);
    if (s->phase == PHASE_WAIT)
      alo_session_commit(s);
  }
}

static void assign_row(alo_session *s) {
  for (size_t i = 0; i < s->plan.column_count; i++) {
    size_t slot = s->plan.assigned[i];
    tsql_value value =
        alo_value_load(sqlite3_column_value(s->query, (int)i), s->plan.columns[i].type);
    alo_session_set_variable(s, slot, &value);
  }
}

static void show_row(alo_session *s) {
  alo_arena_reset(&s->row.arena);
  size_t size = 0;
  if (ALO_TRY(&s->row))
    alo_rethrow(&s->work, &s->row.error);
  for (size_t i = 0; i < s->plan.column_count; i++) {
    tsql_value value =
        alo_value_load(sqlite3_column_value(s->query, (int)i), s->plan.columns[i].type);
    alo_value_to_engine(&s->row, &value, s->plan.columns[i].type, &s->shown[i]);
    size += value.null ? 0 : value.text.size;
    if (size > ALO_ENGINE_ROW_MAX)
      alo_throw(&s->row, 701);
  }
  alo_event *event = alo_session_push(s, ALO_EVENT_ROW);
  event->columns = s->columns;
  event->values = s->shown;
  event->count = s->plan.column_count;
}

static void read_rows(alo_session *s) {
  if (!alo_session_step_query(s)) {
    sqlite3_finalize(s->query);
    s->query = NULL;
    s->phase = PHASE_COMMIT;
    return;
  }
  s->rows++;
  if (s->plan.assigned)
    assign_row(s);
  else
    show_row(s);
}

static void gather(alo_session *s) {
  if (alo_session_gather(s, alo_session_statement(s)))
    s->phase = PHASE_APPLY;
  else
    alo_session_push(s, ALO_EVENT_MORE);
}

static void apply(alo_session *s) {
  if (!alo_session_apply(s, alo_session_statement(s))) {
    alo_session_push(s, ALO_EVENT_MORE);
    return;
  }
  alo_session_write_end(s);
  finalize_all(s);
  s->phase = PHASE_COMMIT;
}

static void commit(alo_session *s) {
  alo_session_commit(s);
  alo_session_finish(s);
}

/* The time of WAITFOR is over: that it is stepped says so. */
static void wait_over(alo_session *s) {
  s->environment.last_error = 0;
  s->at++;
  s->phase = PHASE_NEXT;
}

static void return_value(alo_session *s) {
  size_t place = s->output_next++;
  const tsql_variable *variable = &s->environment.variables[s->output_places[place]];
  alo_engine_parameter *output = &s->outputs[place];
  size_t index = (size_t)output->value.integer;
  alo_arena_reset(&s->row.arena);
  output->type = alo_type_to_tds(variable->type, true);
  output->name = variable->name;
  alo_event *event = alo_session_push(s, ALO_EVENT_RETURN_VALUE);
  if (ALO_TRY(&s->row)) {
    output->value = (alo_engine_value){.null = true};
  } else {
    alo_value_to_engine(&s->row, &variable->value, variable->type, &output->value);
  }
  event->parameter = output;
  event->parameter_index = index;
  event->values = &output->value;
  event->count = 1;
}

static void end(alo_session *s) {
  if (s->output_next < s->output_count && s->kind == ALO_BATCH_EXECUTESQL) {
    return_value(s);
    return;
  }
  s->running = false;
  alo_session_push(s, ALO_EVENT_END);
}

static void (*const phases[])(alo_session *) = {
    [PHASE_COMPILE] = compile, [PHASE_NEXT] = next,      [PHASE_BEGIN] = begin,
    [PHASE_READ] = read_rows,  [PHASE_GATHER] = gather,  [PHASE_APPLY] = apply,
    [PHASE_COMMIT] = commit,   [PHASE_WAIT] = wait_over, [PHASE_END] = end,
};

static void run_phase(alo_session *s) {
  if (ALO_TRY(&s->work)) {
    alo_session_fail(s, &s->work.error);
    return;
  }
  phases[s->phase](s);
}

alo_event_kind alo_session_step(alo_session *s, alo_event *event) {
  for (int work = 0; s->running && s->event_count == 0 && !s->stopped; work++) {
    if (work == ALO_ENGINE_WORK_MAX) /* a loop, or rows that nobody sees */
      alo_session_push(s, ALO_EVENT_MORE);
    else
      run_phase(s);
  }
  if (s->running && s->stopped) {
    alo_session_abandon(s);
    s->running = false;
    s->stopped = false;
    s->event_count = 0;
    if (s->transaction_count > 0 && sqlite3_get_autocommit(s->database)) {
      alo_session_forget_transaction(s);
    }
    alo_session_push(s, ALO_EVENT_INTERRUPTED);
  }
  if (s->event_count == 0) {
    *event = (alo_event){.kind = ALO_EVENT_END};
    return ALO_EVENT_END;
  }
  *event = s->events[s->event_first];
  s->event_first = (s->event_first + 1) % SESSION_EVENTS_MAX;
  s->event_count--;
  return event->kind;
}
