/* Statements that are over in one go: variables, messages, transactions, tables. */
#include <string.h>

#include "engine_session.h"
#include "tsql_error.h"
#include "tsql_text.h"
#include "tsql_time.h"
#include "tsql_token.h"

/* The value of an expression, of which a subquery is run here. */
static tsql_value compute(alo_session *s, const tsql_node *node, const tsql_type *to,
                          bool condition, tsql_type *type) {
  tsql_binder binder = alo_session_binder(s);
  s->plan = (tsql_plan){0};
  tsql_expression *x = alo_bind_value(&binder, node, to, condition);
  if (type)
    *type = x->type;
  if (s->plan.query_count == 0)
    return alo_evaluate(&s->work, &s->environment, x, NULL);
  tsql_value value = TSQL_NULL;
  alo_session_prepare(s, &s->query, s->plan.queries[0]);
  alo_session_bind(s, s->query);
  if (alo_session_step_query(s))
    value = alo_value_load(sqlite3_column_value(s->query, 0), x->type);
  if (value.text.data)
    value.text = alo_copy(&s->work, value.text);
  sqlite3_finalize(s->query);
  s->query = NULL;
  return value;
}

static void set_variable(alo_session *s, const tsql_statement *statement) {
  size_t slot = statement->target;
  if (statement->kind == STATEMENT_SET) {
    size_t count = s->environment.variable_count;
    for (slot = 0; slot < count; slot++)
      if (alo_text_same_name(s->environment.variables[slot].name, statement->name))
        break;
    if (slot == count)
      alo_throw(&s->work, 137, ALOFT_PRINT(statement->name));
  } else if (!statement->expression) {
    return;
  }
  tsql_type type = s->environment.variables[slot].type;
  tsql_value value = compute(s, statement->expression, &type, false, NULL);
  alo_session_set_variable(s, slot, &value);
  s->environment.row_count = 1;
}

static void print(alo_session *s, const tsql_statement *statement) {
  tsql_type type = alo_type_sized(TSQL_NVARCHAR, TSQL_MAX);
  tsql_value value = compute(s, statement->expression, &type, false, NULL);
  aloft_text text = value.null ? ALOFT_TEXT("") : value.text;
  text.size = alo_text_prefix(text, TSQL_NARROW_MAX);
  alo_session_message(s, 0, 0, 1, text.data ? text : ALOFT_TEXT(""));
}

static int64_t integer(alo_session *s, const tsql_node *node) {
  tsql_type type = alo_type_plain(TSQL_INT);
  return compute(s, node, &type, false, NULL).integer;
}

static aloft_text text(alo_session *s, const tsql_node *node) {
  tsql_type type = alo_type_sized(TSQL_NVARCHAR, 2048);
  tsql_value value = compute(s, node, &type, false, NULL);
  return value.null || !value.text.data ? ALOFT_TEXT("") : value.text;
}

static void raise_error(alo_session *s, const tsql_statement *statement) {
  const tsql_node *first = statement->expression->first;
  tsql_type type;
  tsql_value value = compute(s, first, NULL, false, &type);
  if (!alo_kind_is_text(type.kind))
    alo_throw(&s->work, 40510, ALOFT_PRINT(ALOFT_TEXT("RAISERROR with a message number")));
  aloft_text message = value.null ? ALOFT_TEXT("") : value.text;
  if (message.size > 0 && memchr(message.data, '%', message.size))
    alo_throw(&s->work, 40510, ALOFT_PRINT(ALOFT_TEXT("RAISERROR with % in its text")));
  int64_t severity = integer(s, first->next);
  int64_t state = integer(s, first->next->next);
  if (severity > 18)
    alo_throw(&s->work, 2754);
  severity = severity < 0 ? 0 : severity;
  state = state < 0 ? 1 : state > 255 ? 255 : state;
  message.size = alo_text_prefix(message, 2047);
  alo_session_message(s, 50000, (uint8_t)severity, (uint8_t)state, message);
  s->environment.last_error = severity > 10 ? 50000 : 0;
}

static _Noreturn void throw_error(alo_session *s, const tsql_statement *statement) {
  const tsql_node *first = statement->expression->first;
  int64_t number = integer(s, first);
  aloft_text message = text(s, first->next);
  int64_t state = integer(s, first->next->next);
  if (number < 50000)
    alo_throw(&s->work, 2732, (int)number);
  tsql_error error = {.number = (int32_t)number,
                      .severity = 16,
                      .state = (uint8_t)(state < 0     ? 0
                                         : state > 255 ? 255
                                                       : state),
                      .reach = TSQL_ENDS_BATCH};
  size_t size = message.size < sizeof error.text ? message.size : sizeof error.text - 1;
  while (size < message.size && size > 0 && ((uint8_t)message.data[size] & 0xC0) == 0x80)
    size--;
  memcpy(error.text, message.data, size);
  alo_rethrow(&s->work, &error);
}

static void wait_for(alo_session *s, const tsql_statement *statement) {
  tsql_type type;
  tsql_value value = compute(s, statement->expression, NULL, false, &type);
  tsql_time_parts parts = {0};
  if (alo_kind_is_text(type.kind)) {
    if (value.null || !alo_time_parse(value.text, TSQL_MDY, &parts) || parts.has_date)
      alo_throw(&s->work, 148, ALOFT_PRINT(value.null ? ALOFT_TEXT("NULL") : value.text));
  } else if (type.kind == TSQL_TIME || type.kind == TSQL_DATETIME) {
    parts.ticks = value.null ? 0 : value.integer % TSQL_TICKS_PER_DAY;
  } else {
    alo_throw(&s->work, 148, ALOFT_PRINT(alo_type_name(type)));
  }
  alo_session_push(s, ALO_EVENT_WAIT)->wait_ns = (uint64_t)parts.ticks * 100;
  s->phase = PHASE_WAIT;
}

/* Transactions. */

static void push_transaction(alo_session *s, alo_transaction_change change) {
  alo_event *event = alo_session_push(s, ALO_EVENT_TRANSACTION);
  event->transaction = change;
  event->transaction_id = s->transaction_id;
}

static void begin(alo_session *s, const tsql_statement *statement) {
  if (s->transaction_count >= ALO_ENGINE_NESTING_MAX)
    alo_throw(&s->work, 40510, ALOFT_PRINT(ALOFT_TEXT("more than 32 transactions in each other")));
  if (s->transaction_count == 0) {
    alo_sqlite_run(&s->work, s->database, "BEGIN");
    s->transaction_id = ++s->engine->last_transaction;
    size_t size = statement->name.size < SESSION_NAME_MAX ? statement->name.size : 0;
    if (size > 0)
      memcpy(s->transaction_name, statement->name.data, size);
    s->transaction_name[size] = 0;
    push_transaction(s, ALO_TRANSACTION_BEGUN);
  }
  s->transaction_count++;
}

static void commit(alo_session *s) {
  if (s->transaction_count == 0)
    alo_throw(&s->work, 3902);
  if (s->transaction_count == 1) {
    alo_sqlite_run(&s->work, s->database, "COMMIT");
    push_transaction(s, ALO_TRANSACTION_COMMITTED);
    s->transaction_id = 0;
  }
  s->transaction_count--;
}

void alo_session_forget_transaction(alo_session *s) {
  if (s->transaction_count == 0)
    return;
  push_transaction(s, ALO_TRANSACTION_ROLLED_BACK);
  s->transaction_count = 0;
  s->transaction_id = 0;
}

void alo_session_roll_back(alo_session *s) {
  if (!sqlite3_get_autocommit(s->database))
    sqlite3_exec(s->database, "ROLLBACK", NULL, NULL, NULL);
  alo_session_forget_transaction(s);
}

static void roll_back(alo_session *s, const tsql_statement *statement) {
  aloft_text name = {s->transaction_name, strlen(s->transaction_name)};
  if (s->transaction_count == 0)
    alo_throw(&s->work, 3903);
  if (statement->name.data && !alo_text_same_name(statement->name, name))
    alo_throw(&s->work, 6401, ALOFT_PRINT(statement->name));
  alo_session_roll_back(s);
}

/* Tables. */

static void create_table(alo_session *s, const tsql_statement *statement) {
  tsql_binder binder = alo_session_binder(s);
  tsql_table *table = alo_bind_table(&binder, statement);
  alo_catalogue_create(&s->work, s->database, table);
}

static tsql_table *find_table(alo_session *s, const tsql_statement *statement) {
  bool dbo = !statement->schema.data || alo_text_same_name(statement->schema, ALOFT_TEXT("dbo"));
  return dbo ? alo_catalogue_find(&s->work, s->database, statement->name) : NULL;
}

static void drop_table(alo_session *s, const tsql_statement *statement) {
  tsql_table *table = find_table(s, statement);
  if (table)
    alo_catalogue_drop(&s->work, s->database, table);
  else if (!statement->if_exists)
    alo_throw(&s->work, 3701, ALOFT_PRINT(statement->name));
}

static void truncate_table(alo_session *s, const tsql_statement *statement) {
  tsql_table *table = find_table(s, statement);
  if (!table)
    alo_throw(&s->work, 4701, ALOFT_PRINT(statement->name));
  tsql_string sql = {.context = &s->work};
  alo_string_add(&sql, "DELETE FROM ");
  alo_sqlite_quote(&sql, table->name);
  alo_sqlite_run(&s->work, s->database, sql.data);
  alo_catalogue_set_identity(&s->work, s->database, table->id, table->seed);
}

static void use(alo_session *s, const tsql_statement *statement) {
  aloft_text name = s->environment.database;
  if (!alo_text_same_name(statement->name, name))
    alo_throw(&s->work, 911, ALOFT_PRINT(statement->name));
  alo_session_push(s, ALO_EVENT_DATABASE)->text = name;
  tsql_string message = {.context = &s->work};
  alo_string_add(&message, "Changed database context to '%.*s'.", ALOFT_PRINT(name));
  alo_session_message(s, 5701, 0, 2, alo_string_text(&message));
}

static void branch(alo_session *s, const tsql_statement *statement) {
  tsql_value value = compute(s, statement->expression, NULL, true, NULL);
  bool holds = !value.null && value.integer != 0;
  s->environment.row_count = 0;
  if (!holds)
    s->jump = statement->target;
}

void alo_session_run_simple(alo_session *s, const tsql_statement *statement) {
  switch (statement->kind) {
  case STATEMENT_DECLARE:
  case STATEMENT_SET:
    set_variable(s, statement);
    break;
  case STATEMENT_OPTION:
    alo_session_set_option(s, statement);
    break;
  case STATEMENT_PRINT:
    print(s, statement);
    break;
  case STATEMENT_RAISERROR:
    raise_error(s, statement);
    break;
  case STATEMENT_THROW:
    throw_error(s, statement);
  case STATEMENT_WAITFOR:
    wait_for(s, statement);
    break;
  case STATEMENT_BEGIN:
    begin(s, statement);
    break;
  case STATEMENT_COMMIT:
    commit(s);
    break;
  case STATEMENT_ROLLBACK:
    roll_back(s, statement);
    break;
  case STATEMENT_CREATE_TABLE:
    create_table(s, statement);
    break;
  case STATEMENT_DROP_TABLE:
    drop_table(s, statement);
    break;
  case STATEMENT_TRUNCATE:
    truncate_table(s, statement);
    break;
  case STATEMENT_USE:
    use(s, statement);
    break;
  case STATEMENT_BRANCH:
    branch(s, statement);
    break;
  default:
    break;
  }
}
