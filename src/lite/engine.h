/* The engine of lite: a batch of T-SQL in, events out. It has no sockets and no threads and never
 * waits: what must wait is an event (WAIT, BUSY, MORE), and the caller steps again later.
 * One thread uses an engine and all its sessions. docs/lite.md says what it understands. */
#ifndef ALO_ENGINE_H
#define ALO_ENGINE_H

#include <aloft/base.h>
#include <aloft/status.h>

#include "tds_type.h"

/* Limits. Beyond one of them a batch ends with an error that names it. */
enum {
  ALO_ENGINE_TEXT_MAX = 4 * 1024 * 1024, /* bytes of UTF-8 in a batch */
  ALO_ENGINE_STATEMENTS_MAX = 20000,     /* statements in a batch */
  ALO_ENGINE_DEPTH_MAX = 100,            /* nesting of expressions, queries and blocks */
  ALO_ENGINE_COLUMNS_MAX = 1024,         /* of a table, and of a result */
  ALO_ENGINE_PARAMETERS_MAX = 2100,      /* parameters and variables of a batch */
  ALO_ENGINE_SOURCES_MAX = 32,           /* tables joined in one query */
  ALO_ENGINE_ROW_MAX = 64 * 1024 * 1024, /* bytes of one value, and of one row */
  ALO_ENGINE_NAME_MAX = 128,             /* characters of an identifier */
  ALO_ENGINE_NESTING_MAX = 32,           /* @@TRANCOUNT */
  ALO_ENGINE_CALL_INPUTS_MAX = 120,      /* columns and subqueries in one expression */
  ALO_ENGINE_WORK_MAX = 512              /* rows written, or statements run, in one step */
};

/* What the engine calls itself. */
#define ALO_ENGINE_VERSION_MAJOR 16 /* as LOGINACK and @@VERSION show it */

typedef struct alo_engine alo_engine;   /* one database file */
typedef struct alo_session alo_session; /* one client's connection to it */

/* A decimal: the number without its point; the scale is in the type. */
typedef struct alo_engine_decimal {
  uint64_t high;
  uint64_t low;
  bool negative;
} alo_engine_decimal;

/* A value of an alo_tds_type. Only the members of its type count. */
typedef struct alo_engine_value {
  bool null;
  int64_t integer;            /* bit and the integers */
  double real;                /* real, float */
  alo_engine_decimal decimal; /* decimal, numeric */
  aloft_text text;        /* char types: UTF-8; varchar and char hold characters of cp1252 only */
  aloft_bytes bytes;      /* binary types; uniqueidentifier: 16 bytes as on the wire */
  int32_t days;           /* date and all that hold one: since 0001-01-01 */
  uint64_t ticks;         /* time and all that hold one: 100 ns since midnight */
  int16_t offset_minutes; /* datetimeoffset; its days and ticks are UTC, as on the wire */
} alo_engine_value;

typedef struct alo_engine_column {
  aloft_text name; /* empty for an expression without one */
  alo_tds_type type;
  bool nullable;
  bool identity;
  bool key;
  bool computed; /* an expression: not to be updated */
} alo_engine_column;

/* A parameter: `name` with its '@'. Tokens may be the fixed or the nullable ones (INT4, INTN). */
typedef struct alo_engine_parameter {
  aloft_text name;
  alo_tds_type type;
  alo_engine_value value;
  bool output;
} alo_engine_parameter;

typedef struct alo_engine_message {
  int32_t number;
  uint8_t severity; /* up to 10: information */
  uint8_t state;
  uint32_t line;
  aloft_text text;
} alo_engine_message;

typedef struct alo_engine_config {
  const char *path;  /* [call] a file, created if absent; or ":memory:" */
  aloft_text name;   /* [call] the database's name; absent: the file's, without its extension */
  aloft_text server; /* [call] @@SERVERNAME; absent: "lite" */
  uint64_t
      lock_timeout_ns; /* BUSY for longer is error 1222; 0: 10 s; SET LOCK_TIMEOUT changes it */
  uint64_t (*wall_clock)(void *context); /* GETDATE: ns since 1970 UTC; NULL: the system's */
  void *clock_context;
  /* Waits for locks: ns that never go back; NULL: the system's monotonic clock. */
  uint64_t (*steady_clock)(void *context);
  void *steady_context;
} alo_engine_config;

typedef struct alo_session_config {
  aloft_text user;        /* [call] */
  aloft_text database;    /* [call] absent or empty: the engine's */
  aloft_text application; /* [call] */
  uint16_t spid;
  /* Called every few thousand of SQLite's instructions; false interrupts the statement. It must
   * not call the engine, but may remember that alo_session_stop is to be called. May be NULL. */
  bool (*go_on)(void *context);
  /* Told the text of each statement when it begins. May be NULL. Must not call the engine. */
  void (*statement)(void *context, aloft_text text);
  void *context;
} alo_session_config;

typedef enum alo_batch_kind {
  ALO_BATCH_SQL,       /* SQLBatch */
  ALO_BATCH_EXECUTESQL /* RPC sp_executesql: RETURN_VALUE follows for each output parameter */
} alo_batch_kind;

typedef struct alo_batch {
  alo_batch_kind kind;
  aloft_text text;         /* [call] */
  aloft_text declarations; /* [call] "@a int, @b nvarchar(20) output"; absent: the values' types */
  const alo_engine_parameter *parameters; /* [call] with declarations, unnamed ones go by place */
  size_t parameter_count;
} alo_batch;

typedef enum alo_event_kind {
  ALO_EVENT_RESULT,       /* `columns`: a result set begins */
  ALO_EVENT_ROW,          /* `values`, one per column, valid until the next step */
  ALO_EVENT_DONE,         /* a statement is over: `command`, `counted`, `rows`, `failed` */
  ALO_EVENT_MESSAGE,      /* `message`: an error or information */
  ALO_EVENT_DATABASE,     /* USE: `text` is the database's name */
  ALO_EVENT_TRANSACTION,  /* `transaction`, `transaction_id`: begun, committed, rolled back */
  ALO_EVENT_WAIT,         /* WAITFOR: step again `wait_ns` from now */
  ALO_EVENT_BUSY,         /* another session holds the database: step again in a few ms */
  ALO_EVENT_MORE,         /* a turn's work is done: step again after the others' turns */
  ALO_EVENT_RETURN_VALUE, /* `parameter`: an output parameter's place, name, type and value */
  ALO_EVENT_INTERRUPTED,  /* stopped; the batch is over, nothing follows */
  ALO_EVENT_END           /* the batch is over, nothing follows */
} alo_event_kind;

typedef enum alo_transaction_change {
  ALO_TRANSACTION_BEGUN,      /* ENVCHANGE 8 */
  ALO_TRANSACTION_COMMITTED,  /* ENVCHANGE 9 */
  ALO_TRANSACTION_ROLLED_BACK /* ENVCHANGE 10 */
} alo_transaction_change;

typedef struct alo_event {
  alo_event_kind kind;
  const alo_engine_column *columns; /* RESULT, and kept for its ROWs: until DONE */
  const alo_engine_value *values;   /* [done] ROW, RETURN_VALUE (one) */
  size_t count;                     /* of columns or values */
  uint16_t command;                 /* DONE: CurCmd of MS-TDS, as 0xC1 for SELECT */
  bool counted;                     /* DONE: `rows` is valid (SET NOCOUNT is OFF) */
  bool failed;                      /* DONE: the statement ended with an error */
  uint64_t rows;
  alo_engine_message message;
  aloft_text text;
  alo_transaction_change transaction;
  uint64_t transaction_id; /* never 0; of the transaction begun or ended */
  uint64_t wait_ns;
  const alo_engine_parameter *parameter;
  size_t parameter_index;
} alo_event;

/* Opens (and creates) the database. ALOFT_SYSTEM or ALOFT_NO_MEMORY with one line in `error`
 * (256 bytes) that says what to do. */
aloft_status alo_engine_open(alo_engine **engine, const alo_engine_config *config, char *error);
/* All sessions must be closed. NULL is ignored. */
void alo_engine_close(alo_engine *engine);
aloft_text alo_engine_database(const alo_engine *engine);

/* ALOFT_AUTH with error 4060 in `*message` (its text a constant) for another database's name,
 * ALOFT_NO_MEMORY, ALOFT_SYSTEM. */
aloft_status alo_session_open(alo_session **session, alo_engine *engine,
                              const alo_session_config *config, alo_engine_message *message);
/* Rolls back what is open. NULL is ignored. */
void alo_session_close(alo_session *session);
/* RESETCONNECTION: ends the batch, rolls back, and takes every SET back to its default. Does not
 * fail. No event tells of the rollback. */
void alo_session_reset(alo_session *session);

/* Begins a batch; everything is copied. ALOFT_IN_USE while one runs, ALOFT_TOO_LARGE,
 * ALOFT_TOO_MANY (parameters), ALOFT_NO_MEMORY. Errors of the text itself come as events. */
aloft_status alo_session_start(alo_session *session, const alo_batch *batch);
/* Does some work and shows one event. When no batch runs: END. */
alo_event_kind alo_session_step(alo_session *session, alo_event *event);
/* Asks the batch to end: the statement that runs is undone, the transaction stays. The next step
 * gives INTERRUPTED. Without a batch it does nothing. */
void alo_session_stop(alo_session *session);
/* 0 when no transaction is open. */
uint64_t alo_session_transaction(const alo_session *session);

#endif
