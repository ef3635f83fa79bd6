/* Writes expressions as SQL. What needs no input from SQLite is computed ahead and bound as a
 * parameter; the rest becomes a column's name or a call of aloft_eval, which evaluates the tree
 * with its inputs. Conditions are written as SQLite's own where the meaning is the same, so that
 * its planner sees them. */
#include <string.h>

#include "engine.h"
#include "tsql_bind.h"
#include "tsql_error.h"

enum { NATIVE_DEPTH = 6 }; /* SQLite's parser has a small stack */

static tsql_expression *skip_conversions(tsql_expression *x) {
  while (x->kind == EXPRESSION_CONVERT && x->style == 0 &&
         alo_expression_same_storage(x->first->type, x->type))
    x = x->first;
  return x;
}

/* True when it must be computed where it stands. */
static bool is_bound_to_row(const tsql_binder *b, const tsql_expression *x) {
  if (x->kind == EXPRESSION_INPUT)
    return true;
  if (x->kind == EXPRESSION_VARIABLE && b->keep_variables)
    return true;
  if (x->kind == EXPRESSION_CALL && x->function->is_volatile)
    return true;
  for (const tsql_expression *child = x->first; child; child = child->next)
    if (is_bound_to_row(b, child))
      return true;
  return false;
}

/* False when it throws: then it must throw where it stands, if it is reached at all. */
static bool compute_ahead(tsql_binder *b, const tsql_expression *x, tsql_value *value) {
  tsql_context *scratch = b->scratch;
  scratch->date_order = b->context->date_order;
  if (ALO_TRY(scratch))
    return false;
  *value = alo_evaluate(scratch, b->environment, x, NULL);
  return true;
}

static void add_bind(tsql_binder *b, tsql_string *out, tsql_value value, tsql_type type) {
  tsql_plan *plan = b->plan;
  if (plan->bind_count == plan->bind_room) {
    size_t room = plan->bind_room ? plan->bind_room * 2 : 16;
    tsql_bind *more = alo_take(b->context, room * sizeof *more);
    if (plan->bind_count > 0)
      memcpy(more, plan->binds, plan->bind_count * sizeof *more);
    plan->binds = more;
    plan->bind_room = room;
  }
  if (!value.null && value.text.data)
    value.text = alo_copy(b->context, value.text);
  plan->binds[plan->bind_count++] = (tsql_bind){value, type};
  alo_string_add(out, "?%zu", plan->bind_count);
}

static size_t add_program(tsql_binder *b, tsql_expression *root) {
  tsql_plan *plan = b->plan;
  if (plan->program_count == plan->program_room) {
    size_t room = plan->program_room ? plan->program_room * 2 : 16;
    tsql_program *more = alo_take(b->context, room * sizeof *more);
    if (plan->program_count > 0)
      memcpy(more, plan->programs, plan->program_count * sizeof *more);
    plan->programs = more;
    plan->program_room = room;
  }
  plan->programs[plan->program_count] = (tsql_program){.root = root};
  return plan->program_count++;
}

typedef struct input_list {
  tsql_binder *binder;
  aloft_text sql[ALO_ENGINE_CALL_INPUTS_MAX];
  tsql_type types[ALO_ENGINE_CALL_INPUTS_MAX];
  size_t count;
} input_list;

static void collect_inputs(input_list *list, tsql_expression *x) {
  if (x->kind != EXPRESSION_INPUT) {
    for (tsql_expression *child = x->first; child; child = child->next)
      collect_inputs(list, child);
    return;
  }
  for (size_t i = 0; i < list->count; i++)
    if (list->sql[i].size == x->sql.size &&
        memcmp(list->sql[i].data, x->sql.data, x->sql.size) == 0 &&
        alo_type_equal(list->types[i], x->type)) {
      x->slot = i;
      return;
    }
  if (list->count == ALO_ENGINE_CALL_INPUTS_MAX)
    alo_throw(list->binder->context, 8632);
  x->slot = list->count;
  list->sql[list->count] = x->sql;
  list->types[list->count++] = x->type;
}

static void emit_call(tsql_binder *b, tsql_string *out, tsql_expression *x) {
  input_list *list = ALO_NEW(b->context, input_list);
  list->binder = b;
  collect_inputs(list, x);
  size_t program = add_program(b, x);
  b->plan->programs[program].count = list->count;
  b->plan->programs[program].types = list->types;
  alo_string_add(out, "aloft_eval(%zu", program);
  for (size_t i = 0; i < list->count; i++)
    alo_string_add(out, ",%.*s", ALOFT_PRINT(list->sql[i]));
  alo_string_add(out, ")");
}

void alo_emit(tsql_binder *b, tsql_string *out, tsql_expression *x, bool collate) {
  const char *collation = collate ? alo_value_collation(x->type.kind) : NULL;
  x = skip_conversions(x);
  tsql_value value;
  if (x->kind == EXPRESSION_INPUT)
    alo_string_add(out, "%.*s", ALOFT_PRINT(x->sql));
  else if (!is_bound_to_row(b, x) && compute_ahead(b, x, &value))
    add_bind(b, out, value, x->type);
  else
    emit_call(b, out, x);
  if (collation)
    alo_string_add(out, " COLLATE %s", collation);
}

static const char *sqlite_operator(char op) {
  switch (op) {
  case '#':
    return "<>";
  case '{':
    return "<=";
  case '}':
    return ">=";
  case '<':
    return "<";
  case '>':
    return ">";
  default:
    return "=";
  }
}

static void emit_list(tsql_binder *b, tsql_string *out, tsql_expression *x) {
  alo_string_add(out, "(");
  alo_emit(b, out, x->first, true);
  alo_string_add(out, x->negated ? " NOT IN (" : " IN (");
  for (tsql_expression *child = x->first->next; child; child = child->next) {
    alo_emit(b, out, child, false);
    if (child->next)
      alo_string_add(out, ",");
  }
  alo_string_add(out, "))");
}

static void emit_connective(tsql_binder *b, tsql_string *out, tsql_expression *x, int depth) {
  alo_string_add(out, "(");
  for (tsql_expression *child = x->first; child; child = child->next) {
    alo_emit_condition(b, out, child, depth + 1);
    if (child->next)
      alo_string_add(out, x->kind == EXPRESSION_AND ? " AND " : " OR ");
  }
  alo_string_add(out, ")");
}

void alo_emit_condition(tsql_binder *b, tsql_string *out, tsql_expression *x, int depth) {
  bool native = depth < NATIVE_DEPTH && is_bound_to_row(b, x);
  if (native && (x->kind == EXPRESSION_AND || x->kind == EXPRESSION_OR)) {
    emit_connective(b, out, x, depth);
  } else if (native && x->kind == EXPRESSION_NOT) {
    alo_string_add(out, "(NOT ");
    alo_emit_condition(b, out, x->first, depth + 1);
    alo_string_add(out, ")");
  } else if (native && x->kind == EXPRESSION_COMPARE) {
    alo_string_add(out, "(");
    alo_emit(b, out, x->first, true);
    alo_string_add(out, " %s ", sqlite_operator(x->op));
    alo_emit(b, out, x->last, false);
    alo_string_add(out, ")");
  } else if (native && x->kind == EXPRESSION_IS_NULL) {
    alo_string_add(out, "(");
    alo_emit(b, out, x->first, false);
    alo_string_add(out, x->negated ? " IS NOT NULL)" : " IS NULL)");
  } else if (native && x->kind == EXPRESSION_IN) {
    emit_list(b, out, x);
  } else {
    alo_emit(b, out, x, false);
  }
}

void alo_plan_add_query(tsql_binder *b, aloft_text sql) {
  tsql_plan *plan = b->plan;
  size_t count = plan->query_count;
  if ((count & (count - 1)) == 0) { /* full at each power of two */
    aloft_text *more = alo_take(b->context, (count ? count * 2 : 1) * sizeof *more);
    if (count > 0)
      memcpy(more, plan->queries, count * sizeof *more);
    plan->queries = more;
  }
  plan->queries[plan->query_count++] = sql;
}
