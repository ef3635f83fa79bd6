/* The catalogue: what T-SQL knows of each table that SQLite does not. It lies in tables of its
 * own (aloft_lite_...) in the same database file. Everything throws; a locked database is
 * TSQL_ERROR_BUSY. Statements left open by a throw are the session's to finalise. */
#ifndef ALO_TSQL_CATALOGUE_H
#define ALO_TSQL_CATALOGUE_H

#include <sqlite3.h>

#include "tsql_tree.h"

typedef struct tsql_table_column {
  aloft_text name;
  tsql_type type;
  bool nullable;
  bool identity;
  bool in_primary_key;
  aloft_text fallback; /* DEFAULT's text; absent: none */
} tsql_table_column;

typedef struct tsql_table_key {
  aloft_text name;
  bool primary;
  size_t *columns;
  size_t count;
} tsql_table_key;

typedef struct tsql_table {
  int64_t id;
  aloft_text name;
  tsql_table_column *columns;
  size_t column_count;
  tsql_table_key *keys;
  size_t key_count;
  size_t identity_column; /* SIZE_MAX: none */
  int64_t seed;
  int64_t increment;
  int64_t identity_next; /* not yet given out */
} tsql_table;

/* SQLite's code of making the catalogue in a new database, or of checking it. SQLITE_NOTADB for
 * a database that is somebody else's. */
int alo_catalogue_open(sqlite3 *database);

/* NULL when there is none. */
tsql_table *alo_catalogue_find(tsql_context *context, sqlite3 *database, aloft_text name);
void alo_catalogue_create(tsql_context *context, sqlite3 *database, tsql_table *table);
void alo_catalogue_drop(tsql_context *context, sqlite3 *database, const tsql_table *table);
void alo_catalogue_set_identity(tsql_context *context, sqlite3 *database, int64_t table,
                                int64_t next);

/* Runs one SQLite statement that gives no rows. */
void alo_sqlite_run(tsql_context *context, sqlite3 *database, const char *sql);
/* Throws what a code of SQLite's means; does nothing for OK, ROW and DONE. */
void alo_sqlite_check(tsql_context *context, sqlite3 *database, int code);
/* Appends "name" with its quotes doubled. */
void alo_sqlite_quote(tsql_string *string, aloft_text name);

#endif
