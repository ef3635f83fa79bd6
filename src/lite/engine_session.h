/* A session's insides, for the engine's own files. */
#ifndef ALO_ENGINE_SESSION_H
#define ALO_ENGINE_SESSION_H

#include <sqlite3.h>

#include "engine.h"
#include "tsql_bind.h"

enum { SESSION_EVENTS_MAX = 16, SESSION_NAME_MAX = 512 };

struct alo_engine {
  char *uri;
  sqlite3 *keeper; /* keeps a database in memory alive */
  char *name;
  char *server;
  uint64_t lock_timeout_ns;
  uint64_t (*wall_clock)(void *context);
  void *clock_context;
  uint64_t (*steady_clock)(void *context);
  void *steady_context;
  uint64_t last_transaction;
};

typedef enum session_phase {
  PHASE_COMPILE, /* all statements bound once, so that the batch's errors come first */
  PHASE_NEXT,
  PHASE_BEGIN,  /* the statement's transaction and locks; binding */
  PHASE_READ,   /* rows of a SELECT */
  PHASE_GATHER, /* rows to be written */
  PHASE_APPLY,
  PHASE_COMMIT,
  PHASE_WAIT,
  PHASE_END
} session_phase;

/* A variable's own memory. */
typedef struct session_memory {
  char *data;
  size_t room;
} session_memory;

struct alo_session {
  alo_engine *engine;
  alo_session_config config;
  char *names; /* user, application: one piece of memory */
  sqlite3 *database;

  /* the batch */
  bool running;
  bool stopped;
  alo_batch_kind kind;
  tsql_context batch;
  tsql_batch tree;
  size_t at;       /* the statement that runs */
  size_t jump;     /* the one that follows it */
  size_t *visible; /* variables that each statement sees */
  session_memory *memory;
  size_t declared;               /* all variables */
  size_t parameters;             /* of them, parameters */
  alo_engine_parameter *outputs; /* places of output parameters, as the caller counts */
  size_t *output_places;
  size_t output_count;
  size_t output_next;
  session_phase phase;

  /* the statement */
  tsql_context work;    /* tree and SQL */
  tsql_context scratch; /* values computed ahead */
  tsql_context eval;    /* one call of aloft_eval */
  tsql_context row;     /* one row */
  tsql_error eval_error;
  char error_text[TSQL_ERROR_TEXT]; /* of the message shown last */
  tsql_plan plan;
  sqlite3_stmt *query;
  size_t query_at;
  sqlite3_stmt *spool; /* INSERT into it, or SELECT from it */
  sqlite3_stmt *apply;
  sqlite3_stmt *remove; /* UPDATE of a key: the first of two passes */
  bool removing;
  tsql_value *values; /* of a row to write */
  alo_engine_column *columns;
  alo_engine_value *shown;
  int64_t rows;
  int64_t identity_next;
  bool identity_used;
  bool own_transaction; /* begun for this statement alone */
  bool savepoint;
  bool may_interrupt;
  bool waiting; /* BUSY since `busy_since` of the steady clock */
  uint64_t busy_since;

  /* the session */
  tsql_environment environment;
  int transaction_count;
  uint64_t transaction_id;
  char transaction_name[SESSION_NAME_MAX];
  bool no_count;
  bool abort_transaction; /* XACT_ABORT */
  int date_order;
  int64_t lock_timeout_ms; /* -2: the engine's; -1: for ever */

  alo_event events[SESSION_EVENTS_MAX];
  size_t event_first;
  size_t event_count;
};

/* Events. The queue is empty when a phase begins, and holds what a phase may say. */
alo_event *alo_session_push(alo_session *s, alo_event_kind kind);
void alo_session_message(alo_session *s, int number, uint8_t severity, uint8_t state,
                         aloft_text text);
void alo_session_done(alo_session *s, uint16_t command, bool counted, bool failed);
uint16_t alo_session_command(const tsql_statement *statement);

const tsql_statement *alo_session_statement(const alo_session *s);
uint64_t alo_session_clock(const alo_session *s);

/* The end of a statement: well, or with the error. An error of TSQL_ERROR_BUSY leaves everything
 * as it was before the statement and says BUSY. */
void alo_session_finish(alo_session *s);
void alo_session_fail(alo_session *s, const tsql_error *error);
/* Finalises what the statement has open and undoes what it has written. */
void alo_session_abandon(alo_session *s);

/* Throwing in the `work` context. */
void alo_session_begin_read(alo_session *s);
void alo_session_begin_write(alo_session *s);
void alo_session_commit(alo_session *s);
bool alo_session_step_query(alo_session *s); /* false at its end */
void alo_session_prepare(alo_session *s, sqlite3_stmt **statement, aloft_text sql);
void alo_session_bind(alo_session *s, sqlite3_stmt *statement);
tsql_binder alo_session_binder(alo_session *s);
void alo_session_set_variable(alo_session *s, size_t slot, const tsql_value *value);

/* Statements that neither read rows nor write them; throwing. */
void alo_session_run_simple(alo_session *s, const tsql_statement *statement);
void alo_session_set_option(alo_session *s, const tsql_statement *statement);
/* Ends the transaction without a word to SQLite, which has done so itself. */
void alo_session_forget_transaction(alo_session *s);
void alo_session_roll_back(alo_session *s);

/* INSERT, UPDATE, DELETE; throwing. True when the phase is over. */
void alo_session_write_begin(alo_session *s, const tsql_statement *statement);
bool alo_session_gather(alo_session *s, const tsql_statement *statement);
bool alo_session_apply(alo_session *s, const tsql_statement *statement);
void alo_session_write_end(alo_session *s);

int alo_session_register(alo_session *s); /* SQLite's callbacks; its code */

#endif
