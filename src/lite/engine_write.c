/* INSERT, UPDATE and DELETE. First a query, which can be interrupted without harm, gives the rows
 * to write; they wait in a temporary table, so that the statement never meets its own changes;
 * then they are written one by one, a bounded number in each step. */
#include <stdio.h>
#include <string.h>

#include "engine_session.h"
#include "tsql_text.h"

static bool is_direct(const tsql_statement *statement) {
  return statement->kind == STATEMENT_INSERT &&
         (statement->default_values || statement->query->cores->is_values);
}

/* The row that a query gives: for UPDATE and DELETE the row's number comes first. */
static size_t row_width(const alo_session *s, const tsql_statement *statement) {
  switch (statement->kind) {
  case STATEMENT_INSERT:
    return s->plan.column_count;
  case STATEMENT_UPDATE:
    return s->plan.table->column_count + 1;
  default:
    return 1;
  }
}

static tsql_type cell_type(const alo_session *s, const tsql_statement *statement, size_t place) {
  const tsql_table *table = s->plan.table;
  if (statement->kind != STATEMENT_INSERT)
    return place == 0 ? alo_type_plain(TSQL_BIGINT) : table->columns[place - 1].type;
  for (size_t i = 0; i < table->column_count; i++)
    if (s->plan.inserted[i] == place)
      return table->columns[i].type;
  return alo_type_plain(TSQL_BIGINT);
}

/* The spool: each value as its members one after another. */

static void encode(tsql_string *out, const tsql_value *value) {
  uint8_t null = value->null;
  alo_string_bytes(out, &null, 1);
  if (value->null)
    return;
  uint64_t size = value->text.size;
  alo_string_bytes(out, &value->integer, sizeof value->integer);
  alo_string_bytes(out, &value->real, sizeof value->real);
  alo_string_bytes(out, &value->decimal, sizeof value->decimal);
  alo_string_bytes(out, &value->offset_minutes, sizeof value->offset_minutes);
  alo_string_bytes(out, &size, sizeof size);
  alo_string_bytes(out, value->text.data, value->text.size);
}

static const char *take(const char **at, void *to, size_t size) {
  const char *from = *at;
  if (to)
    memcpy(to, from, size);
  *at += size;
  return from;
}

static void decode(const char **at, tsql_value *value) {
  uint8_t null;
  take(at, &null, 1);
  *value = (tsql_value){.null = null != 0};
  if (null)
    return;
  uint64_t size;
  take(at, &value->integer, sizeof value->integer);
  take(at, &value->real, sizeof value->real);
  take(at, &value->decimal, sizeof value->decimal);
  take(at, &value->offset_minutes, sizeof value->offset_minutes);
  take(at, &size, sizeof size);
  value->text = (aloft_text){take(at, NULL, (size_t)size), (size_t)size};
}

static void spool_row(alo_session *s, const tsql_statement *statement) {
  alo_arena_reset(&s->row.arena);
  tsql_string record = {.context = &s->row};
  size_t width = row_width(s, statement);
  for (size_t i = 0; i < width; i++) {
    tsql_value value =
        alo_value_load(sqlite3_column_value(s->query, (int)i), cell_type(s, statement, i));
    encode(&record, &value);
  }
  if (record.size > ALO_ENGINE_ROW_MAX)
    alo_throw(&s->work, 701);
  sqlite3_reset(s->spool);
  sqlite3_bind_blob64(s->spool, 1, record.data, record.size, SQLITE_STATIC);
  alo_sqlite_check(&s->work, s->database, sqlite3_step(s->spool));
  sqlite3_reset(s->spool);
  sqlite3_clear_bindings(s->spool);
}

/* Writing. */

/* 2627, with the name of the key that SQLite's message names, and the row's values of it. */
static _Noreturn void duplicate(alo_session *s, const tsql_value *row) {
  const tsql_table *table = s->plan.table;
  const char *message = sqlite3_errmsg(s->database);
  const tsql_table_key *found = table->key_count > 0 ? &table->keys[0] : NULL;
  for (size_t i = 0; i < table->key_count; i++) {
    const tsql_table_key *key = &table->keys[i];
    tsql_string plain = {.context = &s->work};
    tsql_string index = {.context = &s->work};
    alo_string_add(&index, "UNIQUE constraint failed: index 'aloft_lite_key_%lld_%zu'",
                   (long long)table->id, i);
    alo_string_add(&plain, "UNIQUE constraint failed: ");
    for (size_t j = 0; j < key->count; j++)
      alo_string_add(&plain, "%s%.*s.%.*s", j > 0 ? ", " : "", ALOFT_PRINT(table->name),
                     ALOFT_PRINT(table->columns[key->columns[j]].name));
    if (strcmp(message, plain.data) == 0 || strcmp(message, index.data) == 0)
      found = key;
  }
  if (!found)
    alo_throw(&s->work, 625, (int)strlen(message), message);
  tsql_string values = {.context = &s->work};
  for (size_t i = 0; i < found->count; i++) {
    size_t column = found->columns[i];
    aloft_text text = alo_value_text(&s->work, &row[column], table->columns[column].type);
    alo_string_add(&values, "%s%.*s", i > 0 ? ", " : "", ALOFT_PRINT(text));
  }
  tsql_string name = {.context = &s->work};
  alo_string_add(&name, "dbo.%.*s", ALOFT_PRINT(table->name));
  aloft_text kind = found->primary ? ALOFT_TEXT("PRIMARY KEY") : ALOFT_TEXT("UNIQUE KEY");
  alo_throw(&s->work, 2627, ALOFT_PRINT(kind), ALOFT_PRINT(found->name),
            ALOFT_PRINT(alo_string_text(&name)), ALOFT_PRINT(alo_string_text(&values)));
}

static void write(alo_session *s, sqlite3_stmt *statement, const tsql_value *row) {
  int code = sqlite3_step(statement);
  if ((code & 0xFF) == SQLITE_CONSTRAINT && row)
    duplicate(s, row);
  alo_sqlite_check(&s->work, s->database, code);
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
}

static void bind_cell(alo_session *s, sqlite3_stmt *statement, int place, const tsql_value *value,
                      tsql_type type) {
  alo_sqlite_check(&s->work, s->database, alo_value_bind(statement, place, value, type));
}

static int64_t next_identity(alo_session *s, const tsql_table *table) {
  int64_t value = s->identity_next;
  tsql_type type = table->columns[table->identity_column].type;
  tsql_value number = {.integer = value};
  tsql_value checked = alo_convert(&s->row, &number, alo_type_plain(TSQL_BIGINT), type, 0, NULL);
  bool last = table->increment > 0 ? value > INT64_MAX - table->increment
                                   : value < INT64_MIN - table->increment;
  if (!last)
    s->identity_next = value + table->increment;
  s->identity_used = true;
  s->environment.identity = (tsql_value){.decimal = alo_decimal_of(checked.integer)};
  return checked.integer;
}

static void insert_row(alo_session *s, const tsql_value *given) {
  const tsql_table *table = s->plan.table;
  tsql_value *row = alo_take(&s->row, table->column_count * sizeof *row);
  for (size_t i = 0; i < table->column_count; i++) {
    if (table->columns[i].identity)
      row[i] = (tsql_value){.integer = next_identity(s, table)};
    else if (s->plan.inserted[i] != SIZE_MAX)
      row[i] = given[s->plan.inserted[i]];
    else
      row[i] = alo_evaluate(&s->row, &s->environment, s->plan.defaults[i], NULL);
    bind_cell(s, s->apply, (int)i + 1, &row[i], table->columns[i].type);
  }
  write(s, s->apply, row);
}

static void update_row(alo_session *s, const tsql_value *given) {
  const tsql_table *table = s->plan.table;
  tsql_type rowid = alo_type_plain(TSQL_BIGINT);
  if (s->removing) {
    bind_cell(s, s->remove, 1, &given[0], rowid);
    write(s, s->remove, NULL);
    return;
  }
  bind_cell(s, s->apply, 1, &given[0], rowid);
  for (size_t i = 0; i < table->column_count; i++)
    if (s->plan.key_changed || s->plan.changed[i])
      bind_cell(s, s->apply, (int)i + 2, &given[i + 1], table->columns[i].type);
  write(s, s->apply, given + 1);
}

static void apply_row(alo_session *s, const tsql_statement *statement, const tsql_value *given) {
  if (statement->kind == STATEMENT_INSERT) {
    insert_row(s, given);
  } else if (statement->kind == STATEMENT_UPDATE) {
    update_row(s, given);
  } else {
    bind_cell(s, s->apply, 1, &given[0], alo_type_plain(TSQL_BIGINT));
    write(s, s->apply, NULL);
  }
  s->rows += !s->removing;
}

/* The statements that write. */

static aloft_text insert_sql(alo_session *s) {
  const tsql_table *table = s->plan.table;
  tsql_string sql = {.context = &s->work};
  alo_string_add(&sql, "INSERT INTO ");
  alo_sqlite_quote(&sql, table->name);
  for (size_t i = 0; i < table->column_count; i++)
    alo_string_add(&sql, "%s?%zu", i > 0 ? "," : " VALUES(", i + 1);
  alo_string_add(&sql, ")");
  return alo_string_text(&sql);
}

static aloft_text update_sql(alo_session *s) {
  const tsql_table *table = s->plan.table;
  tsql_string sql = {.context = &s->work};
  alo_string_add(&sql, s->plan.key_changed ? "INSERT INTO " : "UPDATE ");
  alo_sqlite_quote(&sql, table->name);
  bool first = true;
  if (s->plan.key_changed) {
    alo_string_add(&sql, "(_rowid_");
    for (size_t i = 0; i < table->column_count; i++) {
      alo_string_add(&sql, ",");
      alo_sqlite_quote(&sql, table->columns[i].name);
    }
    alo_string_add(&sql, ") VALUES(?1");
    for (size_t i = 0; i < table->column_count; i++)
      alo_string_add(&sql, ",?%zu", i + 2);
    alo_string_add(&sql, ")");
    return alo_string_text(&sql);
  }
  for (size_t i = 0; i < table->column_count; i++) {
    if (!s->plan.changed[i])
      continue;
    alo_string_add(&sql, first ? " SET " : ", ");
    alo_sqlite_quote(&sql, table->columns[i].name);
    alo_string_add(&sql, "=?%zu", i + 2);
    first = false;
  }
  alo_string_add(&sql, " WHERE _rowid_=?1");
  return alo_string_text(&sql);
}

static aloft_text delete_sql(alo_session *s) {
  tsql_string sql = {.context = &s->work};
  alo_string_add(&sql, "DELETE FROM ");
  alo_sqlite_quote(&sql, s->plan.table->name);
  alo_string_add(&sql, " WHERE _rowid_=?1");
  return alo_string_text(&sql);
}

void alo_session_write_begin(alo_session *s, const tsql_statement *statement) {
  bool update = statement->kind == STATEMENT_UPDATE;
  aloft_text sql = statement->kind == STATEMENT_INSERT ? insert_sql(s)
                   : update                            ? update_sql(s)
                                                       : delete_sql(s);
  alo_session_prepare(s, &s->apply, sql);
  if (update && s->plan.key_changed) {
    alo_session_prepare(s, &s->remove, delete_sql(s));
    s->removing = true;
  }
  if (!is_direct(statement)) {
    alo_sqlite_run(&s->work, s->database, "DELETE FROM temp.aloft_spool");
    alo_session_prepare(s, &s->spool, ALOFT_TEXT("INSERT INTO temp.aloft_spool VALUES(?1)"));
  }
  s->identity_next = s->plan.table->identity_next;
  s->identity_used = false;
  s->query_at = 0;
  size_t width = row_width(s, statement);
  s->values = alo_take(&s->work, (width + 1) * sizeof *s->values);
}

static void gather_row(alo_session *s, const tsql_statement *statement) {
  if (ALO_TRY(&s->row))
    alo_rethrow(&s->work, &s->row.error);
  if (!is_direct(statement)) {
    spool_row(s, statement);
    return;
  }
  alo_arena_reset(&s->row.arena);
  size_t width = row_width(s, statement);
  for (size_t i = 0; i < width; i++)
    s->values[i] =
        alo_value_load(sqlite3_column_value(s->query, (int)i), cell_type(s, statement, i));
  apply_row(s, statement, s->values);
}

bool alo_session_gather(alo_session *s, const tsql_statement *statement) {
  for (int work = 0; work < ALO_ENGINE_WORK_MAX; work++) {
    if (!s->query) {
      if (s->query_at == s->plan.query_count)
        return true;
      alo_session_prepare(s, &s->query, s->plan.queries[s->query_at++]);
      alo_session_bind(s, s->query);
    }
    if (alo_session_step_query(s)) {
      gather_row(s, statement);
    } else {
      sqlite3_finalize(s->query);
      s->query = NULL;
    }
  }
  return false;
}

static void apply_spooled(alo_session *s, const tsql_statement *statement) {
  if (ALO_TRY(&s->row))
    alo_rethrow(&s->work, &s->row.error);
  alo_arena_reset(&s->row.arena);
  const char *at = sqlite3_column_blob(s->query, 0);
  size_t width = row_width(s, statement);
  for (size_t i = 0; i < width; i++)
    decode(&at, &s->values[i]);
  apply_row(s, statement, s->values);
}

/* Reads the spool, twice when keys change: all old rows go before the new ones come. */
bool alo_session_apply(alo_session *s, const tsql_statement *statement) {
  if (is_direct(statement))
    return true;
  if (!s->query) {
    sqlite3_finalize(s->spool);
    s->spool = NULL;
    alo_session_prepare(s, &s->query,
                        ALOFT_TEXT("SELECT data FROM temp.aloft_spool ORDER BY _rowid_"));
  }
  for (int work = 0; work < ALO_ENGINE_WORK_MAX; work++) {
    int code = sqlite3_step(s->query);
    alo_sqlite_check(&s->work, s->database, code);
    if (code != SQLITE_ROW) {
      sqlite3_reset(s->query);
      bool over = !s->removing;
      s->removing = false;
      if (over)
        return true;
      continue;
    }
    apply_spooled(s, statement);
  }
  return false;
}

void alo_session_write_end(alo_session *s) {
  if (s->identity_used)
    alo_catalogue_set_identity(&s->work, s->database, s->plan.table->id, s->identity_next);
}
