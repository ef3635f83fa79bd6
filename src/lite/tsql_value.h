/* A value of a T-SQL type, how SQLite keeps it, and conversions between the types. */
#ifndef ALO_TSQL_VALUE_H
#define ALO_TSQL_VALUE_H

#include <sqlite3.h>

#include "engine.h"
#include "tsql_context.h"
#include "tsql_decimal.h"
#include "tsql_type.h"

/* Only the member of the type's kind counts.
 *   integer  bit and the integers; date: days since 0001-01-01; time: ticks since midnight;
 *            the other time types: ticks since 0001-01-01 (datetimeoffset: UTC); predicates: 0, 1
 *   real     real and float
 *   text     char types as UTF-8; binary types; uniqueidentifier as 16 bytes in order of sorting */
typedef struct tsql_value {
  int64_t integer;
  double real;
  tsql_decimal decimal;
  aloft_text text;
  int16_t offset_minutes;
  bool null;
} tsql_value;

#define TSQL_NULL ((tsql_value){.null = true})

/* SQLite keeps integers and times as INTEGER, floats as REAL, decimals (alo_decimal_store) and
 * uniqueidentifiers as BLOB, char and binary types and datetimeoffset as TEXT with a collation of
 * their own: an order that is T-SQL's for each of them. */
#define TSQL_COLLATION_TEXT   "aloft_text"
#define TSQL_COLLATION_BINARY "aloft_binary" /* trailing zero bytes do not count */
#define TSQL_COLLATION_OFFSET "aloft_offset" /* the point in time counts, not the offset */
/* One of the above, or NULL for a kind that needs none. */
const char *alo_value_collation(tsql_kind kind);
int alo_value_register_collations(sqlite3 *database);

/* Reads what SQLite holds; text is in SQLite's memory, until the statement's next step. */
tsql_value alo_value_load(sqlite3_value *from, tsql_type type);
/* SQLite's code. Copies. */
int alo_value_bind(sqlite3_stmt *statement, int place, const tsql_value *value, tsql_type type);
void alo_value_result(sqlite3_context *to, const tsql_value *value, tsql_type type);

/* -1, 0, 1; both of the same type, not NULL. */
int alo_value_compare(const tsql_value *a, const tsql_value *b, tsql_type type);

/* Where a value goes that must not be cut: error 2628 names it. */
typedef struct tsql_target {
  aloft_text table;
  aloft_text column;
} tsql_target;

/* Converts, or throws. The types' conversion must be allowed. With a `target` text that is too
 * long is error 2628, without it is cut, as CAST does. */
tsql_value alo_convert(tsql_context *context, const tsql_value *value, tsql_type from, tsql_type to,
                       int style, const tsql_target *target);

/* Text of a value for messages, as CAST to varchar gives. */
aloft_text alo_value_text(tsql_context *context, const tsql_value *value, tsql_type type);

/* To the engine's interface and back. Bytes are the context's or the value's. */
void alo_value_to_engine(tsql_context *context, const tsql_value *value, tsql_type type,
                         alo_engine_value *out);
tsql_value alo_value_from_engine(tsql_context *context, const alo_engine_value *in, tsql_type type);

/* 16 bytes of a uniqueidentifier between the wire's order and that of sorting. */
void alo_guid_to_sorted(const uint8_t wire[16], uint8_t sorted[16]);
void alo_guid_to_wire(const uint8_t sorted[16], uint8_t wire[16]);

#endif
