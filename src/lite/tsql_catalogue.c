#include "tsql_catalogue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tsql_error.h"

enum { APPLICATION_ID = 0x416C6F66 /* "Alof" */, CATALOGUE_VERSION = 1 };

static const char catalogue_sql[] =
    "CREATE TABLE aloft_lite_table(id INTEGER PRIMARY KEY, name TEXT NOT NULL, seed INTEGER,"
    " increment INTEGER, identity_next INTEGER);"
    "CREATE TABLE aloft_lite_column(table_id INTEGER, place INTEGER, name TEXT NOT NULL,"
    " kind INTEGER, precision INTEGER, scale INTEGER, is_numeric INTEGER, length INTEGER,"
    " nullable INTEGER, is_identity INTEGER, fallback TEXT, PRIMARY KEY(table_id, place))"
    " WITHOUT ROWID;"
    "CREATE TABLE aloft_lite_key(table_id INTEGER, place INTEGER, name TEXT NOT NULL,"
    " is_primary INTEGER, columns TEXT, PRIMARY KEY(table_id, place)) WITHOUT ROWID;"
    "CREATE TABLE aloft_lite_lock(held INTEGER);"
    "PRAGMA application_id=1097625446;"
    "PRAGMA user_version=1;";

static int query_number(sqlite3 *database, const char *sql, int64_t *number) {
  sqlite3_stmt *statement;
  int code = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
  if (code != SQLITE_OK)
    return code;
  code = sqlite3_step(statement);
  if (code == SQLITE_ROW)
    *number = sqlite3_column_int64(statement, 0);
  int end = sqlite3_finalize(statement);
  return code == SQLITE_ROW ? SQLITE_OK : end;
}

int alo_catalogue_open(sqlite3 *database) {
  int64_t application = 0;
  int64_t version = 0;
  int64_t tables = 0;
  int code = query_number(database, "PRAGMA application_id", &application);
  if (code == SQLITE_OK)
    code = query_number(database, "PRAGMA user_version", &version);
  if (code == SQLITE_OK)
    code = query_number(database, "SELECT count(*) FROM sqlite_schema", &tables);
  if (code != SQLITE_OK)
    return code;
  if (application == APPLICATION_ID)
    return version == CATALOGUE_VERSION ? SQLITE_OK : SQLITE_NOTADB;
  if (tables != 0 || application != 0)
    return SQLITE_NOTADB;
  code = sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL);
  if (code == SQLITE_OK)
    code = sqlite3_exec(database, catalogue_sql, NULL, NULL, NULL);
  int end = sqlite3_exec(database, code == SQLITE_OK ? "COMMIT" : "ROLLBACK", NULL, NULL, NULL);
  return code == SQLITE_OK ? end : code;
}

void alo_sqlite_check(tsql_context *context, sqlite3 *database, int code) {
  int primary = code & 0xFF;
  if (primary == SQLITE_OK || primary == SQLITE_ROW || primary == SQLITE_DONE)
    return;
  if (code == SQLITE_BUSY_SNAPSHOT)
    alo_throw(context, 1205, 0);
  if (primary == SQLITE_BUSY || primary == SQLITE_LOCKED)
    alo_throw(context, TSQL_ERROR_BUSY);
  if (primary == SQLITE_INTERRUPT)
    alo_throw(context, TSQL_ERROR_STOPPED);
  if (primary == SQLITE_NOMEM)
    alo_throw(context, 701);
  const char *text = sqlite3_errmsg(database);
  alo_throw(context, 625, (int)strlen(text), text);
}

static sqlite3_stmt *prepare(tsql_context *context, sqlite3 *database, const char *sql) {
  sqlite3_stmt *statement = NULL;
  alo_sqlite_check(context, database, sqlite3_prepare_v2(database, sql, -1, &statement, NULL));
  return statement;
}

static bool step(tsql_context *context, sqlite3 *database, sqlite3_stmt *statement) {
  int code = sqlite3_step(statement);
  alo_sqlite_check(context, database, code);
  return code == SQLITE_ROW;
}

void alo_sqlite_run(tsql_context *context, sqlite3 *database, const char *sql) {
  sqlite3_stmt *statement = prepare(context, database, sql);
  step(context, database, statement);
  sqlite3_finalize(statement);
}

void alo_sqlite_quote(tsql_string *string, aloft_text name) {
  alo_string_bytes(string, "\"", 1);
  for (size_t i = 0; i < name.size; i++) {
    if (name.data[i] == '"')
      alo_string_bytes(string, "\"", 1);
    alo_string_bytes(string, &name.data[i], 1);
  }
  alo_string_bytes(string, "\"", 1);
}

static aloft_text column_text(tsql_context *context, sqlite3_stmt *statement, int column) {
  const char *data = (const char *)sqlite3_column_text(statement, column);
  if (!data)
    return (aloft_text){NULL, 0};
  return alo_copy(context, (aloft_text){data, (size_t)sqlite3_column_bytes(statement, column)});
}

static void bind_text(sqlite3_stmt *statement, int place, aloft_text text) {
  if (text.data)
    sqlite3_bind_text64(statement, place, text.data, text.size, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static size_t count_rows(tsql_context *context, sqlite3 *database, const char *sql, int64_t id) {
  sqlite3_stmt *statement = prepare(context, database, sql);
  sqlite3_bind_int64(statement, 1, id);
  step(context, database, statement);
  size_t count = (size_t)sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return count;
}

static void read_columns(tsql_context *context, sqlite3 *database, tsql_table *table) {
  table->column_count = count_rows(
      context, database, "SELECT count(*) FROM aloft_lite_column WHERE table_id=?1", table->id);
  table->columns = alo_take(context, (table->column_count + 1) * sizeof *table->columns);
  sqlite3_stmt *statement =
      prepare(context, database,
              "SELECT name, kind, precision, scale, is_numeric, length, nullable, is_identity,"
              " fallback FROM aloft_lite_column WHERE table_id=?1 ORDER BY place");
  sqlite3_bind_int64(statement, 1, table->id);
  for (size_t i = 0; i < table->column_count && step(context, database, statement); i++) {
    tsql_table_column *column = &table->columns[i];
    column->name = column_text(context, statement, 0);
    column->type = (tsql_type){.kind = (tsql_kind)sqlite3_column_int(statement, 1),
                               .precision = (uint8_t)sqlite3_column_int(statement, 2),
                               .scale = (uint8_t)sqlite3_column_int(statement, 3),
                               .numeric = sqlite3_column_int(statement, 4) != 0,
                               .length = (uint32_t)sqlite3_column_int64(statement, 5)};
    column->nullable = sqlite3_column_int(statement, 6) != 0;
    column->identity = sqlite3_column_int(statement, 7) != 0;
    column->fallback = column_text(context, statement, 8);
    if (column->identity)
      table->identity_column = i;
  }
  sqlite3_finalize(statement);
}

/* "0,2" */
static void read_key_columns(tsql_context *context, tsql_table *table, tsql_table_key *key,
                             aloft_text list) {
  key->columns = alo_take(context, (list.size + 1) * sizeof *key->columns);
  const char *at = list.data;
  while (at && *at && key->count <= list.size) {
    char *end;
    size_t column = strtoul(at, &end, 10);
    if (end == at || column >= table->column_count)
      return;
    key->columns[key->count++] = column;
    if (key->primary)
      table->columns[column].in_primary_key = true;
    at = *end == ',' ? end + 1 : end;
  }
}

static void read_keys(tsql_context *context, sqlite3 *database, tsql_table *table) {
  table->key_count = count_rows(context, database,
                                "SELECT count(*) FROM aloft_lite_key WHERE table_id=?1", table->id);
  table->keys = alo_take(context, (table->key_count + 1) * sizeof *table->keys);
  sqlite3_stmt *statement = prepare(context, database,
                                    "SELECT name, is_primary, columns FROM aloft_lite_key"
                                    " WHERE table_id=?1 ORDER BY place");
  sqlite3_bind_int64(statement, 1, table->id);
  for (size_t i = 0; i < table->key_count && step(context, database, statement); i++) {
    table->keys[i].name = column_text(context, statement, 0);
    table->keys[i].primary = sqlite3_column_int(statement, 1) != 0;
    read_key_columns(context, table, &table->keys[i], column_text(context, statement, 2));
  }
  sqlite3_finalize(statement);
}

tsql_table *alo_catalogue_find(tsql_context *context, sqlite3 *database, aloft_text name) {
  sqlite3_stmt *statement =
      prepare(context, database,
              "SELECT id, name, seed, increment, identity_next FROM aloft_lite_table"
              " WHERE name=?1 COLLATE " TSQL_COLLATION_TEXT);
  bind_text(statement, 1, name);
  tsql_table *table = NULL;
  if (step(context, database, statement)) {
    table = ALO_NEW(context, tsql_table);
    table->id = sqlite3_column_int64(statement, 0);
    table->name = column_text(context, statement, 1);
    table->seed = sqlite3_column_int64(statement, 2);
    table->increment = sqlite3_column_int64(statement, 3);
    table->identity_next = sqlite3_column_int64(statement, 4);
    table->identity_column = SIZE_MAX;
  }
  sqlite3_finalize(statement);
  if (table) {
    read_columns(context, database, table);
    read_keys(context, database, table);
  }
  return table;
}

static void write_table(tsql_context *context, sqlite3 *database, tsql_table *table) {
  sqlite3_stmt *statement = prepare(context, database,
                                    "INSERT INTO aloft_lite_table(name, seed, increment,"
                                    " identity_next) VALUES(?1, ?2, ?3, ?2)");
  bind_text(statement, 1, table->name);
  sqlite3_bind_int64(statement, 2, table->seed);
  sqlite3_bind_int64(statement, 3, table->increment);
  step(context, database, statement);
  sqlite3_finalize(statement);
  table->id = sqlite3_last_insert_rowid(database);
}

static void write_columns(tsql_context *context, sqlite3 *database, const tsql_table *table) {
  sqlite3_stmt *statement =
      prepare(context, database,
              "INSERT INTO aloft_lite_column VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)");
  for (size_t i = 0; i < table->column_count; i++) {
    const tsql_table_column *column = &table->columns[i];
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    sqlite3_bind_int64(statement, 1, table->id);
    sqlite3_bind_int64(statement, 2, (int64_t)i);
    bind_text(statement, 3, column->name);
    sqlite3_bind_int(statement, 4, (int)column->type.kind);
    sqlite3_bind_int(statement, 5, column->type.precision);
    sqlite3_bind_int(statement, 6, column->type.scale);
    sqlite3_bind_int(statement, 7, column->type.numeric);
    sqlite3_bind_int64(statement, 8, column->type.length);
    sqlite3_bind_int(statement, 9, column->nullable);
    sqlite3_bind_int(statement, 10, column->identity);
    bind_text(statement, 11, column->fallback);
    step(context, database, statement);
  }
  sqlite3_finalize(statement);
}

static void write_keys(tsql_context *context, sqlite3 *database, const tsql_table *table) {
  sqlite3_stmt *statement =
      prepare(context, database, "INSERT INTO aloft_lite_key VALUES(?1,?2,?3,?4,?5)");
  for (size_t i = 0; i < table->key_count; i++) {
    const tsql_table_key *key = &table->keys[i];
    tsql_string list = {.context = context};
    for (size_t j = 0; j < key->count; j++)
      alo_string_add(&list, j > 0 ? ",%zu" : "%zu", key->columns[j]);
    sqlite3_reset(statement);
    sqlite3_bind_int64(statement, 1, table->id);
    sqlite3_bind_int64(statement, 2, (int64_t)i);
    bind_text(statement, 3, key->name);
    sqlite3_bind_int(statement, 4, key->primary);
    bind_text(statement, 5, alo_string_text(&list));
    step(context, database, statement);
  }
  sqlite3_finalize(statement);
}

static void create_table(tsql_context *context, sqlite3 *database, const tsql_table *table) {
  tsql_string sql = {.context = context};
  alo_string_add(&sql, "CREATE TABLE ");
  alo_sqlite_quote(&sql, table->name);
  for (size_t i = 0; i < table->column_count; i++) {
    const char *collation = alo_value_collation(table->columns[i].type.kind);
    alo_string_add(&sql, i > 0 ? ", " : "(");
    alo_sqlite_quote(&sql, table->columns[i].name);
    if (collation)
      alo_string_add(&sql, " COLLATE %s", collation);
    if (!table->columns[i].nullable)
      alo_string_add(&sql, " NOT NULL");
  }
  alo_string_add(&sql, ")");
  alo_sqlite_run(context, database, sql.data);
}

/* In T-SQL two NULLs are duplicates; in SQLite's indexes they are not, so that a column that may
 * be NULL is indexed as an expression in which NULL is a value like no other. */
static void create_index(tsql_context *context, sqlite3 *database, const tsql_table *table,
                         size_t place) {
  const tsql_table_key *key = &table->keys[place];
  tsql_string sql = {.context = context};
  alo_string_add(&sql, "CREATE UNIQUE INDEX aloft_lite_key_%lld_%zu ON ", (long long)table->id,
                 place);
  alo_sqlite_quote(&sql, table->name);
  for (size_t i = 0; i < key->count; i++) {
    const tsql_table_column *column = &table->columns[key->columns[i]];
    const char *collation = alo_value_collation(column->type.kind);
    alo_string_add(&sql, i > 0 ? ", " : "(");
    if (column->nullable)
      alo_string_add(&sql, "ifnull(");
    alo_sqlite_quote(&sql, column->name);
    if (column->nullable)
      alo_string_add(&sql, ", x'')");
    if (column->nullable && collation)
      alo_string_add(&sql, " COLLATE %s", collation);
  }
  alo_string_add(&sql, ")");
  alo_sqlite_run(context, database, sql.data);
}

void alo_catalogue_create(tsql_context *context, sqlite3 *database, tsql_table *table) {
  write_table(context, database, table);
  write_columns(context, database, table);
  write_keys(context, database, table);
  create_table(context, database, table);
  for (size_t i = 0; i < table->key_count; i++)
    create_index(context, database, table, i);
}

void alo_catalogue_drop(tsql_context *context, sqlite3 *database, const tsql_table *table) {
  static const char *const from[] = {"aloft_lite_table WHERE id",
                                     "aloft_lite_column WHERE table_id",
                                     "aloft_lite_key WHERE table_id"};
  for (size_t i = 0; i < sizeof from / sizeof *from; i++) {
    char sql[96];
    snprintf(sql, sizeof sql, "DELETE FROM %s=%lld", from[i], (long long)table->id);
    alo_sqlite_run(context, database, sql);
  }
  tsql_string sql = {.context = context};
  alo_string_add(&sql, "DROP TABLE ");
  alo_sqlite_quote(&sql, table->name);
  alo_sqlite_run(context, database, sql.data);
}

void alo_catalogue_set_identity(tsql_context *context, sqlite3 *database, int64_t table,
                                int64_t next) {
  char sql[120];
  snprintf(sql, sizeof sql, "UPDATE aloft_lite_table SET identity_next=%lld WHERE id=%lld",
           (long long)next, (long long)table);
  alo_sqlite_run(context, database, sql);
}
