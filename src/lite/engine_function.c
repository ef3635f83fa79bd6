/* What SQLite calls back: aloft_eval, the sums, and two guards. */
#include <math.h>
#include <string.h>

#include "engine_session.h"
#include "tsql_error.h"

/* The error is kept here, since SQLite's carries no more than a text. */
static void fail(sqlite3_context *to, alo_session *s, const tsql_error *error) {
  s->eval_error = *error;
  sqlite3_result_error(to, "T-SQL error", -1);
}

static void evaluate(sqlite3_context *to, int count, sqlite3_value **arguments) {
  alo_session *s = sqlite3_user_data(to);
  tsql_context *context = &s->eval;
  size_t number = (size_t)sqlite3_value_int64(arguments[0]);
  if (number >= s->plan.program_count) {
    sqlite3_result_error(to, "no such program", -1);
    return;
  }
  const tsql_program *program = &s->plan.programs[number];
  alo_arena_reset(&context->arena);
  context->date_order = s->date_order;
  if (ALO_TRY(context)) {
    fail(to, s, &context->error);
    return;
  }
  tsql_value inputs[ALO_ENGINE_CALL_INPUTS_MAX];
  for (size_t i = 0; i < program->count && i + 1 < (size_t)count; i++)
    inputs[i] = alo_value_load(arguments[i + 1], program->types[i]);
  tsql_value value = alo_evaluate(context, &s->environment, program->root, inputs);
  alo_value_result(to, &value, program->root->type);
}

typedef struct running_sum {
  tsql_decimal decimal; /* exact for integers too */
  double real;
  bool any;
  bool overflow;
} running_sum;

typedef enum sum_kind { SUM_INT, SUM_BIGINT, SUM_FLOAT, SUM_DECIMAL } sum_kind;

typedef struct sum_function {
  const char *name;
  sum_kind kind;
  tsql_type type;
} sum_function;

static const sum_function sums[] = {
    {"aloft_sum_int", SUM_INT, {.kind = TSQL_INT}},
    {"aloft_sum_bigint", SUM_BIGINT, {.kind = TSQL_BIGINT}},
    {"aloft_sum_float", SUM_FLOAT, {.kind = TSQL_FLOAT}},
    {"aloft_sum_decimal", SUM_DECIMAL, {.kind = TSQL_DECIMAL, .precision = 38}},
};

static void add_to_sum(sqlite3_context *to, sqlite3_value *argument, sum_kind kind) {
  running_sum *sum = sqlite3_aggregate_context(to, sizeof *sum);
  if (!sum || sqlite3_value_type(argument) == SQLITE_NULL)
    return;
  sum->any = true;
  tsql_value value = alo_value_load(argument, sums[kind].type);
  if (kind == SUM_FLOAT) {
    sum->real += value.real;
    return;
  }
  if (kind != SUM_DECIMAL)
    value.decimal = alo_decimal_of(value.integer);
  if (!alo_decimal_add(&sum->decimal, 0, &value.decimal, 0, 0, 38, &sum->decimal))
    sum->overflow = true;
}

static void end_sum(sqlite3_context *to, sum_kind kind) {
  alo_session *s = sqlite3_user_data(to);
  running_sum *sum = sqlite3_aggregate_context(to, 0);
  tsql_value value = TSQL_NULL;
  if (sum && sum->any) {
    value = (tsql_value){.decimal = sum->decimal, .real = sum->real};
    bool fits = !sum->overflow && (kind != SUM_FLOAT || isfinite(sum->real));
    if (kind == SUM_INT || kind == SUM_BIGINT)
      fits = fits && alo_decimal_to_int64(&sum->decimal, &value.integer);
    if (kind == SUM_INT)
      fits = fits && value.integer == (int32_t)value.integer;
    if (!fits) {
      aloft_text name = alo_type_name(sums[kind].type);
      if (kind == SUM_DECIMAL)
        name = ALOFT_TEXT("numeric");
      tsql_error error;
      alo_tsql_error_set(&error, 8115, ALOFT_PRINT(ALOFT_TEXT("expression")), ALOFT_PRINT(name));
      fail(to, s, &error);
      return;
    }
  }
  alo_value_result(to, &value, sums[kind].type);
}

#define SUM_CALLBACKS(name, kind)                                                                  \
  static void step_##name(sqlite3_context *to, int count, sqlite3_value **arguments) {             \
    (void)count;                                                                                   \
    add_to_sum(to, arguments[0], kind);                                                            \
  }                                                                                                \
  static void end_##name(sqlite3_context *to) {                                                    \
    end_sum(to, kind);                                                                             \
  }
SUM_CALLBACKS(int, SUM_INT)
SUM_CALLBACKS(bigint, SUM_BIGINT)
SUM_CALLBACKS(float, SUM_FLOAT)
SUM_CALLBACKS(decimal, SUM_DECIMAL)

/* The value of a scalar subquery: a second row is error 512. */
typedef struct single {
  sqlite3_value *value;
  bool more;
} single;

static void single_step(sqlite3_context *to, int count, sqlite3_value **arguments) {
  (void)count;
  single *state = sqlite3_aggregate_context(to, sizeof *state);
  if (!state)
    return;
  if (state->value) {
    tsql_error error;
    alo_tsql_error_set(&error, 512);
    fail(to, sqlite3_user_data(to), &error);
    return;
  }
  state->value = sqlite3_value_dup(arguments[0]);
  if (!state->value)
    sqlite3_result_error_nomem(to);
}

static void single_end(sqlite3_context *to) {
  single *state = sqlite3_aggregate_context(to, 0);
  if (!state || !state->value) {
    sqlite3_result_null(to);
    return;
  }
  sqlite3_result_value(to, state->value);
  sqlite3_value_free(state->value);
  state->value = NULL;
}

/* The counts of TOP (0), FETCH (1) and OFFSET (2). */
static void limit(sqlite3_context *to, int count, sqlite3_value **arguments) {
  (void)count;
  static const int errors[] = {127, 10744, 10742};
  int kind = sqlite3_value_int(arguments[0]);
  int64_t number = sqlite3_value_int64(arguments[1]);
  bool null = sqlite3_value_type(arguments[1]) == SQLITE_NULL;
  if (null || number < (kind == 1 ? 1 : 0)) {
    tsql_error error;
    alo_tsql_error_set(&error, null ? 1060 : errors[kind]);
    fail(to, sqlite3_user_data(to), &error);
    return;
  }
  sqlite3_result_int64(to, number);
}

enum { PROGRESS_STEPS = 4000 };

static int progress(void *user) {
  alo_session *s = user;
  if (!s->may_interrupt)
    return 0;
  if (!s->stopped && s->config.go_on && !s->config.go_on(s->config.context))
    s->stopped = true;
  return s->stopped;
}

int alo_session_register(alo_session *s) {
  static void (*const steps[])(sqlite3_context *, int, sqlite3_value **) = {
      step_int, step_bigint, step_float, step_decimal};
  static void (*const ends[])(sqlite3_context *) = {end_int, end_bigint, end_float, end_decimal};
  sqlite3 *db = s->database;
  int code = alo_value_register_collations(db);
  if (code == SQLITE_OK)
    code = sqlite3_create_function(db, "aloft_eval", -1, SQLITE_UTF8, s, evaluate, NULL, NULL);
  if (code == SQLITE_OK)
    code = sqlite3_create_function(db, "aloft_limit", 2, SQLITE_UTF8, s, limit, NULL, NULL);
  if (code == SQLITE_OK)
    code = sqlite3_create_function(db, "aloft_single", 1, SQLITE_UTF8, s, NULL, single_step,
                                   single_end);
  for (int i = 0; i < 4 && code == SQLITE_OK; i++)
    code = sqlite3_create_function(db, sums[i].name, 1, SQLITE_UTF8, s, NULL, steps[i], ends[i]);
  sqlite3_progress_handler(db, PROGRESS_STEPS, progress, s);
  return code;
}
