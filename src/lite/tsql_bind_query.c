/* Queries: FROM, the select list, grouping, order, UNION. */
#include <string.h>

#include "engine.h"
#include "tsql_bind.h"
#include "tsql_text.h"

/* One SELECT, bound but not yet written: a UNION may still change its columns' types. */
typedef struct bound_core {
  const tsql_core *core;
  tsql_scope *scope;
  aloft_text from;
  tsql_expression **items;
  tsql_result_column *columns;
  size_t count;
  tsql_expression *where;
  tsql_expression *group; /* a list */
  tsql_expression *having;
  tsql_expression *top;
  size_t *assigned;
  struct bound_core *next;
} bound_core;

typedef struct bound_order {
  tsql_expression *expression; /* NULL: a column of the result */
  size_t place;                /* from 1 */
  bool descending;
  struct bound_order *next;
} bound_order;

/* FROM. */

tsql_table *alo_bind_find_table(tsql_binder *b, aloft_text schema, aloft_text name) {
  tsql_table *table = NULL;
  bool dbo = !schema.data || alo_text_same_name(schema, ALOFT_TEXT("dbo"));
  if (dbo)
    table = alo_catalogue_find(b->context, b->database, name);
  if (table)
    return table;
  tsql_string whole = {.context = b->context};
  if (schema.data)
    alo_string_add(&whole, "%.*s.", ALOFT_PRINT(schema));
  alo_string_add(&whole, "%.*s", ALOFT_PRINT(name));
  alo_throw(b->context, 208, ALOFT_PRINT(alo_string_text(&whole)));
}

static aloft_text column_sql(tsql_binder *b, int source, aloft_text name) {
  tsql_string sql = {.context = b->context};
  alo_string_add(&sql, "s%d.", source);
  alo_sqlite_quote(&sql, name);
  return alo_string_text(&sql);
}

static void bind_table_source(tsql_binder *b, const tsql_source *source, tsql_bound_source *bound,
                              tsql_string *from, int number) {
  tsql_table *table = alo_bind_find_table(b, source->schema, source->name);
  bound->name = source->alias.data ? source->alias : source->name;
  bound->count = table->column_count;
  bound->columns = alo_take(b->context, (bound->count + 1) * sizeof *bound->columns);
  for (size_t i = 0; i < bound->count; i++) {
    const tsql_table_column *column = &table->columns[i];
    bound->columns[i] = (tsql_bound_column){.name = column->name,
                                            .type = column->type,
                                            .nullable = column->nullable,
                                            .identity = column->identity,
                                            .key = column->in_primary_key,
                                            .sql = column_sql(b, number, column->name)};
  }
  alo_sqlite_quote(from, table->name);
  alo_string_add(from, " AS s%d", number);
}

static void name_derived_columns(tsql_binder *b, const tsql_source *source,
                                 tsql_bound_source *bound) {
  const tsql_item *given = source->columns;
  for (size_t i = 0; i < bound->count; i++) {
    if (source->columns && !given)
      alo_throw(b->context, 8158, ALOFT_PRINT(source->alias));
    if (given) {
      bound->columns[i].name = given->alias;
      given = given->next;
    }
    if (bound->columns[i].name.size == 0)
      alo_throw(b->context, 8155, (int)i + 1, ALOFT_PRINT(source->alias));
    for (size_t j = 0; j < i; j++)
      if (alo_text_same_name(bound->columns[j].name, bound->columns[i].name))
        alo_throw(b->context, 8156, ALOFT_PRINT(bound->columns[i].name),
                  ALOFT_PRINT(source->alias));
  }
  if (given)
    alo_throw(b->context, 8159, ALOFT_PRINT(source->alias));
}

static void bind_derived_source(tsql_binder *b, tsql_scope *scope, const tsql_source *source,
                                tsql_bound_source *bound, tsql_string *from, int number) {
  tsql_bound_query query = alo_bind_query(
      b, source->query, &(tsql_query_request){.use = QUERY_DERIVED, .outer = scope->outer});
  bound->name = source->alias;
  bound->count = query.count;
  bound->columns = alo_take(b->context, (query.count + 1) * sizeof *bound->columns);
  for (size_t i = 0; i < query.count; i++) {
    tsql_string sql = {.context = b->context};
    alo_string_add(&sql, "s%d.c%zu", number, i + 1);
    bound->columns[i] = (tsql_bound_column){.name = query.columns[i].name,
                                            .type = query.columns[i].type,
                                            .nullable = query.columns[i].nullable,
                                            .identity = query.columns[i].identity,
                                            .key = query.columns[i].key,
                                            .computed = query.columns[i].computed,
                                            .sql = alo_string_text(&sql)};
  }
  name_derived_columns(b, source, bound);
  alo_string_add(from, "(%.*s) AS s%d", ALOFT_PRINT(query.sql), number);
}

static void check_source_name(tsql_binder *b, const tsql_scope *scope,
                              const tsql_bound_source *bound, bool alias) {
  for (size_t i = 0; i < scope->count; i++) {
    const tsql_bound_source *other = &scope->sources[i];
    if (other == bound || !alo_text_same_name(other->name, bound->name))
      continue;
    if (alias)
      alo_throw(b->context, 1011, ALOFT_PRINT(bound->name));
    alo_throw(b->context, 1013, ALOFT_PRINT(bound->name), ALOFT_PRINT(other->name));
  }
}

static void make_nullable(tsql_bound_source *source) {
  for (size_t i = 0; i < source->count; i++)
    source->columns[i].nullable = true;
}

static const char *join_sql(tsql_join join) {
  switch (join) {
  case JOIN_NONE:
    return "";
  case JOIN_LEFT:
    return " LEFT JOIN ";
  case JOIN_RIGHT:
    return " RIGHT JOIN ";
  case JOIN_FULL:
    return " FULL JOIN ";
  default:
    return " JOIN ";
  }
}

static aloft_text bind_from(tsql_binder *b, tsql_scope *scope, const tsql_source *first) {
  tsql_string from = {.context = b->context};
  for (const tsql_source *source = first; source; source = source->next) {
    tsql_bound_source *bound = &scope->sources[scope->count];
    int number = ++b->next_source;
    alo_string_add(&from, "%s", join_sql(source->join));
    if (source->query)
      bind_derived_source(b, scope, source, bound, &from, number);
    else
      bind_table_source(b, source, bound, &from, number);
    scope->count++;
    check_source_name(b, scope, bound, source->alias.data != NULL);
    if (source->join == JOIN_LEFT || source->join == JOIN_FULL)
      make_nullable(bound);
    if (source->join == JOIN_RIGHT || source->join == JOIN_FULL)
      for (size_t i = 0; i + 1 < scope->count; i++)
        make_nullable(&scope->sources[i]);
    if (source->on) {
      scope->clause = CLAUSE_WHERE;
      alo_string_add(&from, " ON ");
      alo_emit_condition(b, &from, alo_bind_condition(b, scope, source->on), 0);
    }
  }
  return alo_string_text(&from);
}

/* The select list. */

static void add_column(tsql_binder *b, bound_core *bound, tsql_expression *x, aloft_text name) {
  if (bound->count >= ALO_ENGINE_COLUMNS_MAX)
    alo_throw(b->context, 40510, ALOFT_PRINT(ALOFT_TEXT("more than 1024 columns in a result")));
  tsql_result_column *column = &bound->columns[bound->count];
  *column = (tsql_result_column){.name = name, .nullable = x->nullable, .computed = true};
  if (x->kind == EXPRESSION_INPUT && x->input == INPUT_COLUMN) {
    column->identity = x->column->identity;
    column->key = x->column->key;
    column->computed = x->column->computed;
    if (!name.data)
      column->name = x->column->name;
  }
  if (!column->name.data)
    column->name = ALOFT_TEXT("");
  bound->items[bound->count++] = x;
}

static void add_source_columns(tsql_binder *b, bound_core *bound, const tsql_bound_source *source) {
  for (size_t i = 0; i < source->count; i++) {
    tsql_node node = {
        .kind = NODE_COLUMN, .name = source->columns[i].name, .qualifier = source->name};
    add_column(b, bound, alo_bind_column(b, bound->scope, &node), (aloft_text){NULL, 0});
  }
}

static void bind_star(tsql_binder *b, bound_core *bound, const tsql_node *node) {
  bool found = false;
  for (size_t i = 0; i < bound->scope->count; i++) {
    const tsql_bound_source *source = &bound->scope->sources[i];
    if (node->qualifier.data && !alo_text_same_name(source->name, node->qualifier))
      continue;
    found = true;
    add_source_columns(b, bound, source);
  }
  if (found)
    return;
  if (node->qualifier.data)
    alo_throw(b->context, 107, ALOFT_PRINT(node->qualifier));
  alo_throw(b->context, 263);
}

static size_t find_variable(tsql_binder *b, aloft_text name) {
  for (size_t i = 0; i < b->environment->variable_count; i++)
    if (alo_text_same_name(b->environment->variables[i].name, name))
      return i;
  alo_throw(b->context, 137, ALOFT_PRINT(name));
}

static void bind_assignment(tsql_binder *b, bound_core *bound, const tsql_item *item) {
  size_t variable = find_variable(b, item->variable);
  tsql_expression *x = alo_bind_expression(b, bound->scope, item->node);
  x = alo_expression_convert(b->context, x, b->environment->variables[variable].type, true);
  if (!bound->assigned)
    bound->assigned = alo_take(b->context, ALO_ENGINE_COLUMNS_MAX * sizeof *bound->assigned);
  bound->assigned[bound->count] = variable;
  add_column(b, bound, x, ALOFT_TEXT(""));
}

static void bind_items(tsql_binder *b, bound_core *bound, const tsql_query_request *request) {
  size_t room = ALO_ENGINE_COLUMNS_MAX + 1;
  bound->items = alo_take(b->context, room * sizeof(tsql_expression *));
  bound->columns = alo_take(b->context, room * sizeof *bound->columns);
  size_t assigned = 0;
  size_t place = 0;
  for (const tsql_item *item = bound->core->items; item; item = item->next, place++) {
    assigned += item->variable.data != NULL;
    if (item->variable.data && request->use == QUERY_TOP)
      bind_assignment(b, bound, item);
    else if (item->node->kind == NODE_STAR)
      bind_star(b, bound, item->node);
    else if (item->node->kind == NODE_DEFAULT && request->use == QUERY_INSERT &&
             bound->core->is_values)
      add_column(b, bound, request->store(b, request->user, place, NULL), ALOFT_TEXT(""));
    else
      add_column(b, bound, alo_bind_expression(b, bound->scope, item->node), item->alias);
  }
  if (assigned > 0 && (assigned != bound->count || request->use != QUERY_TOP))
    alo_throw(b->context, 141);
  if (request->use == QUERY_VALUE && bound->count != 1)
    alo_throw(b->context, 116);
}

/* Grouping: outside of aggregates only what is grouped by may be used. */

static bool is_grouped(const bound_core *bound, const tsql_expression *x) {
  for (const tsql_expression *g = bound->group ? bound->group->first : NULL; g; g = g->next)
    if (alo_expression_equal(g, x))
      return true;
  return false;
}

static void check_grouped(tsql_binder *b, const bound_core *bound, const tsql_expression *x,
                          int error) {
  if (is_grouped(bound, x))
    return;
  if (x->kind == EXPRESSION_INPUT) {
    if (x->input == INPUT_AGGREGATE)
      return;
    if (x->input == INPUT_COLUMN && x->scope == bound->scope)
      alo_throw(b->context, error, ALOFT_PRINT(x->name));
    for (const tsql_reference *r = x->references; r; r = r->next)
      check_grouped(b, bound, r->column, error);
    return;
  }
  for (const tsql_expression *child = x->first; child; child = child->next)
    check_grouped(b, bound, child, error);
}

static bool has_own_column(const tsql_scope *scope, const tsql_expression *x) {
  if (x->kind == EXPRESSION_INPUT)
    return x->input == INPUT_COLUMN && x->scope == scope;
  for (const tsql_expression *child = x->first; child; child = child->next)
    if (has_own_column(scope, child))
      return true;
  return false;
}

static void bind_group(tsql_binder *b, bound_core *bound) {
  if (!bound->core->group)
    return;
  bound->scope->clause = CLAUSE_GROUP;
  bound->group = ALO_NEW(b->context, tsql_expression);
  for (const tsql_node *node = bound->core->group->first; node; node = node->next) {
    tsql_expression *x = alo_bind_expression(b, bound->scope, node);
    if (!has_own_column(bound->scope, x))
      alo_throw(b->context, 164);
    alo_expression_add(bound->group, x);
  }
}

static bool is_grouping(const bound_core *bound) {
  return bound->group || bound->having || bound->scope->has_aggregate;
}

static tsql_expression *bind_count(tsql_binder *b, const tsql_node *node) {
  tsql_expression *x = alo_bind_expression(b, NULL, node);
  if (x->is_null || !alo_kind_is_integer(x->type.kind))
    alo_throw(b->context, 1060);
  return alo_expression_convert(b->context, x, alo_type_plain(TSQL_BIGINT), true);
}

static bound_core *bind_core(tsql_binder *b, const tsql_core *core,
                             const tsql_query_request *request) {
  bound_core *bound = ALO_NEW(b->context, bound_core);
  bound->core = core;
  bound->scope = ALO_NEW(b->context, tsql_scope);
  bound->scope->outer = request->outer;
  if (core->from)
    bound->from = bind_from(b, bound->scope, core->from);
  if (core->where) {
    bound->scope->clause = CLAUSE_WHERE;
    bound->where = alo_bind_condition(b, bound->scope, core->where);
  }
  bind_group(b, bound);
  bound->scope->clause = CLAUSE_SELECT;
  bind_items(b, bound, request);
  if (core->having) {
    bound->scope->clause = CLAUSE_HAVING;
    bound->having = alo_bind_condition(b, bound->scope, core->having);
  }
  if (core->top)
    bound->top = bind_count(b, core->top);
  return bound;
}

static void check_core(tsql_binder *b, const bound_core *bound) {
  if (!is_grouping(bound))
    return;
  for (size_t i = 0; i < bound->count; i++)
    check_grouped(b, bound, bound->items[i], 8120);
  if (bound->having)
    check_grouped(b, bound, bound->having, 8121);
}

/* ORDER BY. */

static size_t find_alias(tsql_binder *b, const bound_core *bound, const tsql_node *node) {
  size_t found = 0;
  if (node->kind != NODE_COLUMN || node->qualifier.data)
    return 0;
  for (size_t i = 0; i < bound->count; i++) {
    if (!alo_text_same_name(bound->columns[i].name, node->name))
      continue;
    if (found && !alo_expression_equal(bound->items[found - 1], bound->items[i]))
      alo_throw(b->context, 209, ALOFT_PRINT(node->name));
    found = found ? found : i + 1;
  }
  return found;
}

static size_t find_item(const bound_core *bound, const tsql_expression *x) {
  for (size_t i = 0; i < bound->count; i++)
    if (alo_expression_equal(bound->items[i], x))
      return i + 1;
  return 0;
}

static void bind_order_item(tsql_binder *b, bound_core *bound, const tsql_node *node,
                            bound_order *order) {
  bool is_union = bound->next != NULL;
  if (node->kind == NODE_CONSTANT && node->type.kind == TSQL_INT) {
    order->place = (size_t)node->value.integer;
    if (node->value.integer < 1 || order->place > bound->count)
      alo_throw(b->context, 108, (int)node->value.integer);
    return;
  }
  if (node->kind == NODE_CONSTANT || node->kind == NODE_VARIABLE || node->kind == NODE_NULL)
    alo_throw(b->context, 40510, ALOFT_PRINT(ALOFT_TEXT("ORDER BY a constant")));
  order->place = find_alias(b, bound, node);
  if (order->place)
    return;
  if (is_union)
    alo_throw(b->context, 104);
  bound->scope->clause = CLAUSE_ORDER;
  tsql_expression *x = alo_bind_expression(b, bound->scope, node);
  order->place = find_item(bound, x);
  if (order->place)
    return;
  if (bound->core->distinct)
    alo_throw(b->context, 145);
  order->expression = x;
}

static bound_order *bind_order(tsql_binder *b, bound_core *bound, const tsql_query *query) {
  bound_order *first = NULL;
  bound_order **end = &first;
  for (const tsql_order *item = query->order; item; item = item->next) {
    bound_order *order = ALO_NEW(b->context, bound_order);
    order->descending = item->descending;
    bind_order_item(b, bound, item->node, order);
    *end = order;
    end = &order->next;
  }
  return first;
}

static void check_order(tsql_binder *b, const bound_core *bound, const bound_order *order) {
  for (; order; order = order->next)
    if (order->expression && is_grouping(bound))
      check_grouped(b, bound, order->expression, 8127);
}

/* UNION: the columns of all cores get one type each. */

static void unite_types(tsql_binder *b, bound_core *first, bool is_values) {
  for (bound_core *core = first->next; core; core = core->next)
    if (core->count != first->count)
      alo_throw(b->context, is_values ? 10709 : 205);
  for (size_t i = 0; i < first->count; i++) {
    tsql_type type = first->items[i]->type;
    bool typed = false;
    bool nullable = false;
    for (bound_core *core = first; core; core = core->next) {
      tsql_expression *x = core->items[i];
      nullable = nullable || x->nullable;
      if (x->is_null || x->kind == EXPRESSION_ASSIGN) /* a DEFAULT in VALUES is stored already */
        continue;
      type = typed ? alo_type_common(type, x->type) : x->type;
      typed = true;
    }
    for (bound_core *core = first; core; core = core->next)
      if (core->items[i]->kind != EXPRESSION_ASSIGN)
        core->items[i] = alo_expression_convert(b->context, core->items[i], type, true);
    first->columns[i].nullable = nullable;
    first->columns[i].computed = first->columns[i].computed || first->next;
    first->columns[i].identity = first->columns[i].identity && !first->next;
    first->columns[i].key = first->columns[i].key && !first->next;
  }
}

/* Writing. */

static void emit_items(tsql_binder *b, tsql_string *sql, bound_core *bound, bool collate) {
  for (size_t i = 0; i < bound->count; i++) {
    alo_string_add(sql, i > 0 ? ", " : " ");
    alo_emit(b, sql, bound->items[i], collate);
    alo_string_add(sql, " AS c%zu", i + 1);
  }
}

static void emit_core(tsql_binder *b, tsql_string *sql, bound_core *bound, bool collate) {
  alo_string_add(sql, bound->core->distinct ? "SELECT DISTINCT" : "SELECT");
  emit_items(b, sql, bound, collate || bound->core->distinct);
  if (bound->from.data)
    alo_string_add(sql, " FROM %.*s", ALOFT_PRINT(bound->from));
  if (bound->where) {
    alo_string_add(sql, " WHERE ");
    alo_emit_condition(b, sql, bound->where, 0);
  }
  for (tsql_expression *x = bound->group ? bound->group->first : NULL, *before = NULL; x;
       before = x, x = x->next) {
    alo_string_add(sql, before ? ", " : " GROUP BY ");
    alo_emit(b, sql, x, true);
  }
  if (bound->having) {
    if (!bound->group && !bound->scope->has_aggregate)
      alo_throw(b->context, 40510,
                ALOFT_PRINT(ALOFT_TEXT("HAVING without GROUP BY and aggregates")));
    alo_string_add(sql, " HAVING ");
    alo_emit_condition(b, sql, bound->having, 0);
  }
}

static void emit_order(tsql_binder *b, tsql_string *sql, const bound_core *bound,
                       const bound_order *order) {
  for (const bound_order *item = order; item; item = item->next) {
    alo_string_add(sql, item == order ? " ORDER BY " : ", ");
    if (item->expression) {
      alo_emit(b, sql, item->expression, true);
    } else {
      const char *collation = alo_value_collation(bound->items[item->place - 1]->type.kind);
      alo_string_add(sql, "%zu", item->place);
      if (collation)
        alo_string_add(sql, " COLLATE %s", collation);
    }
    if (item->descending)
      alo_string_add(sql, " DESC");
  }
}

static void emit_limit(tsql_binder *b, tsql_string *sql, tsql_expression *count,
                       tsql_expression *offset, bool fetch) {
  if (!count && !offset)
    return;
  alo_string_add(sql, " LIMIT ");
  if (count) {
    alo_string_add(sql, "aloft_limit(%d,", fetch ? 1 : 0);
    alo_emit(b, sql, count, false);
    alo_string_add(sql, ")");
  } else {
    alo_string_add(sql, "-1");
  }
  if (offset) {
    alo_string_add(sql, " OFFSET aloft_limit(2,");
    alo_emit(b, sql, offset, false);
    alo_string_add(sql, ")");
  }
}

static void emit_compound(tsql_binder *b, tsql_string *sql, bound_core *first) {
  for (bound_core *core = first; core; core = core->next) {
    if (core != first)
      alo_string_add(sql, core->core->all ? " UNION ALL " : " UNION ");
    if (!core->top) {
      emit_core(b, sql, core, true);
      continue;
    }
    alo_string_add(sql, "SELECT * FROM (");
    emit_core(b, sql, core, true);
    emit_limit(b, sql, core->top, NULL, false);
    alo_string_add(sql, ")");
  }
}

static void store_items(tsql_binder *b, bound_core *core, const tsql_query_request *request) {
  for (size_t i = 0; i < core->count; i++)
    if (core->items[i]->kind != EXPRESSION_ASSIGN)
      core->items[i] = request->store(b, request->user, i, core->items[i]);
}

/* Each row of VALUES is a query of its own. */
static aloft_text emit_values(tsql_binder *b, bound_core *first) {
  for (bound_core *core = first;; core = core->next) {
    tsql_string sql = {.context = b->context};
    emit_core(b, &sql, core, false);
    if (!core->next)
      return alo_string_text(&sql);
    alo_plan_add_query(b, alo_string_text(&sql));
  }
}

static bound_core *bind_cores(tsql_binder *b, const tsql_query *query,
                              const tsql_query_request *request) {
  bound_core *first = NULL;
  bound_core **end = &first;
  for (const tsql_core *core = query->cores; core; core = core->next) {
    *end = bind_core(b, core, request);
    if ((*end)->assigned && (core->next || core != query->cores))
      alo_throw(b->context, 141);
    end = &(*end)->next;
  }
  return first;
}

static void check_order_place(tsql_binder *b, const tsql_query *query,
                              const tsql_query_request *request, const bound_core *first) {
  bool inner =
      request->use == QUERY_DERIVED || request->use == QUERY_VALUE || request->use == QUERY_EXISTS;
  if (query->order && inner && !query->offset && !first->top)
    alo_throw(b->context, 1033);
  if (query->offset && first->top)
    alo_throw(b->context, 40510, ALOFT_PRINT(ALOFT_TEXT("TOP with OFFSET")));
}

tsql_bound_query alo_bind_query(tsql_binder *b, const tsql_query *query,
                                const tsql_query_request *request) {
  bool is_values = query->cores->is_values;
  bound_core *first = bind_cores(b, query, request);
  check_order_place(b, query, request, first);
  unite_types(b, first, is_values);
  bound_order *order = bind_order(b, first, query);
  for (bound_core *core = first; core; core = core->next)
    check_core(b, core);
  check_order(b, first, order);
  tsql_bound_query result = {
      .columns = first->columns, .count = first->count, .assigned = first->assigned};
  for (size_t i = 0; i < first->count; i++)
    result.columns[i].type = first->items[i]->type;
  if (request->use == QUERY_INSERT)
    for (bound_core *core = first; core; core = core->next)
      store_items(b, core, request);
  b->keep_variables = b->keep_variables || first->assigned;
  if (is_values && request->use == QUERY_INSERT) {
    result.sql = emit_values(b, first);
    return result;
  }
  tsql_string sql = {.context = b->context};
  if (first->next)
    emit_compound(b, &sql, first);
  else
    emit_core(b, &sql, first, false);
  emit_order(b, &sql, first, order);
  tsql_expression *offset = query->offset ? bind_count(b, query->offset) : NULL;
  tsql_expression *fetch = query->fetch ? bind_count(b, query->fetch) : NULL;
  if (!first->next && first->top)
    emit_limit(b, &sql, first->top, NULL, false);
  else
    emit_limit(b, &sql, fetch, offset, true);
  result.sql = alo_string_text(&sql);
  return result;
}

void alo_bind_select(tsql_binder *b, const tsql_query *query) {
  tsql_bound_query bound = alo_bind_query(b, query, &(tsql_query_request){.use = QUERY_TOP});
  alo_plan_add_query(b, bound.sql);
  b->plan->columns = bound.columns;
  b->plan->column_count = bound.count;
  b->plan->assigned = bound.assigned;
}
