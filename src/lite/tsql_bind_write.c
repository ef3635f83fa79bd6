/* INSERT, UPDATE, DELETE, CREATE TABLE, and expressions that stand alone. */
#include <string.h>

#include "engine.h"
#include "tsql_bind.h"
#include "tsql_parse.h"
#include "tsql_text.h"
#include "tsql_token.h"

static bool has_input(const tsql_expression *x) {
  if (x->kind == EXPRESSION_INPUT)
    return true;
  for (const tsql_expression *child = x->first; child; child = child->next)
    if (has_input(child))
      return true;
  return false;
}

static tsql_expression *assign(tsql_binder *b, const tsql_table_column *column,
                               tsql_expression *value, bool insert) {
  tsql_expression *x = ALO_NEW(b->context, tsql_expression);
  *x = (tsql_expression){.kind = EXPRESSION_ASSIGN,
                         .type = column->type,
                         .nullable = column->nullable,
                         .required = !column->nullable,
                         .target = {b->plan->table_name, column->name},
                         .fails = insert ? ALOFT_TEXT("INSERT") : ALOFT_TEXT("UPDATE")};
  /* The check of the types; the conversion itself is the assignment's. */
  alo_expression_convert(b->context, value, column->type, true);
  value->next = NULL;
  alo_expression_add(x, value);
  return x;
}

/* The value that stands where none is given. */
static tsql_expression *bind_default(tsql_binder *b, const tsql_table_column *column, bool insert) {
  tsql_node null = {.kind = NODE_NULL};
  const tsql_node *node = &null;
  if (column->fallback.data)
    node = alo_parse_expression(b->context, column->fallback);
  return assign(b, column, alo_bind_expression(b, NULL, node), insert);
}

static void open_table(tsql_binder *b, const tsql_statement *s) {
  tsql_plan *plan = b->plan;
  plan->table = alo_bind_find_table(b, s->schema, s->name);
  tsql_string name = {.context = b->context};
  alo_string_add(&name, "%.*s.dbo.%.*s", ALOFT_PRINT(b->environment->database),
                 ALOFT_PRINT(plan->table->name));
  plan->table_name = alo_string_text(&name);
}

static size_t find_column(tsql_binder *b, aloft_text name) {
  const tsql_table *table = b->plan->table;
  for (size_t i = 0; i < table->column_count; i++)
    if (alo_text_same_name(table->columns[i].name, name))
      return i;
  alo_throw(b->context, 207, ALOFT_PRINT(name));
}

/* INSERT. */

typedef struct insert_list {
  size_t *columns;
  size_t count;
  bool is_values;
} insert_list;

static void list_all_columns(tsql_binder *b, insert_list *list) {
  const tsql_table *table = b->plan->table;
  for (size_t i = 0; i < table->column_count; i++)
    if (!table->columns[i].identity)
      list->columns[list->count++] = i;
}

static void list_columns(tsql_binder *b, insert_list *list, const tsql_item *items) {
  for (; items; items = items->next) {
    size_t column = find_column(b, items->alias);
    for (size_t i = 0; i < list->count; i++)
      if (list->columns[i] == column)
        alo_throw(b->context, 264, ALOFT_PRINT(items->alias));
    if (b->plan->table->columns[column].identity)
      alo_throw(b->context, 544, ALOFT_PRINT(b->plan->table->name));
    list->columns[list->count++] = column;
  }
}

static tsql_expression *store(tsql_binder *b, void *user, size_t place, tsql_expression *value) {
  const insert_list *list = user;
  if (place >= list->count)
    alo_throw(b->context, list->is_values ? 110 : 121);
  const tsql_table_column *column = &b->plan->table->columns[list->columns[place]];
  return value ? assign(b, column, value, true) : bind_default(b, column, true);
}

static _Noreturn void wrong_count(tsql_binder *b, const tsql_statement *s, size_t given,
                                  const insert_list *list) {
  if (!s->items) {
    if (list->count < b->plan->table->column_count && given == b->plan->table->column_count)
      alo_throw(b->context, 8101, ALOFT_PRINT(b->plan->table->name));
    alo_throw(b->context, 213);
  }
  if (list->is_values)
    alo_throw(b->context, given < list->count ? 109 : 110);
  alo_throw(b->context, given < list->count ? 120 : 121);
}

static size_t count_items(const tsql_core *core) {
  size_t count = 0;
  for (const tsql_item *item = core->items; item; item = item->next)
    count++;
  return count;
}

static void bind_source(tsql_binder *b, const tsql_statement *s, insert_list *list) {
  list->is_values = s->query->cores->is_values;
  if (list->is_values && count_items(s->query->cores) != list->count)
    wrong_count(b, s, count_items(s->query->cores), list);
  tsql_query_request request = {.use = QUERY_INSERT, .store = store, .user = list};
  if (!list->is_values) { /* counted first, so that the error is the right one */
    tsql_query_request derived = {.use = QUERY_TOP};
    tsql_plan saved = *b->plan;
    tsql_bound_query shape = alo_bind_query(b, s->query, &derived);
    *b->plan = saved;
    b->keep_variables = false;
    if (shape.assigned)
      alo_throw(b->context, 141);
    if (shape.count != list->count)
      wrong_count(b, s, shape.count, list);
  }
  tsql_bound_query bound = alo_bind_query(b, s->query, &request);
  alo_plan_add_query(b, bound.sql);
  b->plan->columns = bound.columns;
  b->plan->column_count = bound.count;
}

void alo_bind_insert(tsql_binder *b, const tsql_statement *s) {
  open_table(b, s);
  tsql_plan *plan = b->plan;
  size_t count = plan->table->column_count;
  insert_list list = {.columns = alo_take(b->context, (count + 1) * sizeof(size_t))};
  if (s->items)
    list_columns(b, &list, s->items);
  else if (!s->default_values)
    list_all_columns(b, &list);
  plan->inserted = alo_take(b->context, count * sizeof *plan->inserted);
  plan->defaults = alo_take(b->context, count * sizeof(tsql_expression *));
  for (size_t i = 0; i < count; i++)
    plan->inserted[i] = SIZE_MAX;
  for (size_t i = 0; i < list.count; i++)
    plan->inserted[list.columns[i]] = i;
  for (size_t i = 0; i < count; i++)
    if (plan->inserted[i] == SIZE_MAX && !plan->table->columns[i].identity)
      plan->defaults[i] = bind_default(b, &plan->table->columns[i], true);
  if (s->default_values)
    alo_plan_add_query(b, ALOFT_TEXT("SELECT 1"));
  else
    bind_source(b, s, &list);
}

/* UPDATE and DELETE. */

static tsql_scope *table_scope(tsql_binder *b) {
  const tsql_table *table = b->plan->table;
  tsql_scope *scope = ALO_NEW(b->context, tsql_scope);
  tsql_bound_source *source = &scope->sources[0];
  b->next_source++;
  scope->count = 1;
  source->name = table->name;
  source->count = table->column_count;
  source->columns = alo_take(b->context, (source->count + 1) * sizeof *source->columns);
  for (size_t i = 0; i < table->column_count; i++) {
    tsql_string sql = {.context = b->context};
    alo_string_add(&sql, "s1.");
    alo_sqlite_quote(&sql, table->columns[i].name);
    source->columns[i] = (tsql_bound_column){.name = table->columns[i].name,
                                             .type = table->columns[i].type,
                                             .nullable = table->columns[i].nullable,
                                             .sql = alo_string_text(&sql)};
  }
  return scope;
}

static void finish_query(tsql_binder *b, tsql_string *sql, tsql_scope *scope,
                         const tsql_statement *s) {
  alo_string_add(sql, " FROM ");
  alo_sqlite_quote(sql, b->plan->table->name);
  alo_string_add(sql, " AS s1");
  if (s->where) {
    scope->clause = CLAUSE_WHERE;
    alo_string_add(sql, " WHERE ");
    alo_emit_condition(b, sql, alo_bind_condition(b, scope, s->where), 0);
  }
  alo_plan_add_query(b, alo_string_text(sql));
}

static bool is_key_column(const tsql_table *table, size_t column) {
  for (size_t i = 0; i < table->key_count; i++)
    for (size_t j = 0; j < table->keys[i].count; j++)
      if (table->keys[i].columns[j] == column)
        return true;
  return false;
}

static void bind_assignment(tsql_binder *b, tsql_scope *scope, const tsql_item *item,
                            tsql_expression **values) {
  size_t place = find_column(b, item->alias);
  const tsql_table_column *column = &b->plan->table->columns[place];
  if (column->identity)
    alo_throw(b->context, 8102, ALOFT_PRINT(column->name));
  if (values[place])
    alo_throw(b->context, 264, ALOFT_PRINT(item->alias));
  scope->clause = CLAUSE_SET;
  values[place] = item->node->kind == NODE_DEFAULT
                      ? bind_default(b, column, false)
                      : assign(b, column, alo_bind_expression(b, scope, item->node), false);
  b->plan->changed[place] = true;
  b->plan->key_changed = b->plan->key_changed || is_key_column(b->plan->table, place);
}

void alo_bind_update(tsql_binder *b, const tsql_statement *s) {
  open_table(b, s);
  tsql_plan *plan = b->plan;
  size_t count = plan->table->column_count;
  tsql_scope *scope = table_scope(b);
  tsql_expression **values = alo_take(b->context, count * sizeof(tsql_expression *));
  plan->changed = alo_take(b->context, count * sizeof *plan->changed);
  for (const tsql_item *item = s->items; item; item = item->next)
    bind_assignment(b, scope, item, values);
  tsql_string sql = {.context = b->context};
  alo_string_add(&sql, "SELECT s1._rowid_");
  for (size_t i = 0; i < count; i++) {
    alo_string_add(&sql, ", ");
    if (values[i])
      alo_emit(b, &sql, values[i], false);
    else
      alo_string_add(&sql, "%.*s", ALOFT_PRINT(scope->sources[0].columns[i].sql));
  }
  finish_query(b, &sql, scope, s);
}

void alo_bind_delete(tsql_binder *b, const tsql_statement *s) {
  open_table(b, s);
  tsql_scope *scope = table_scope(b);
  tsql_string sql = {.context = b->context};
  alo_string_add(&sql, "SELECT s1._rowid_");
  finish_query(b, &sql, scope, s);
}

/* CREATE TABLE. */

static void check_table_name(tsql_binder *b, const tsql_statement *s) {
  static const char *const own[] = {"SQLITE_", "ALOFT_LITE_"};
  if (s->schema.data && !alo_text_same_name(s->schema, ALOFT_TEXT("dbo"))) {
    alo_throw(b->context, 40510, ALOFT_PRINT(ALOFT_TEXT("schema other than dbo")));
  }
  for (size_t i = 0; i < 2; i++) {
    aloft_text start = s->name;
    if (start.size > strlen(own[i]))
      start.size = strlen(own[i]);
    if (alo_word_is(start, own[i]))
      alo_throw(b->context, 40510, ALOFT_PRINT(s->name));
  }
  if (alo_catalogue_find(b->context, b->database, s->name))
    alo_throw(b->context, 2714, ALOFT_PRINT(s->name));
}

static void check_identity(tsql_binder *b, tsql_table *table, size_t place,
                           const tsql_column_definition *definition) {
  const tsql_type *type = &table->columns[place].type;
  aloft_text name = definition->name;
  bool whole = type->kind >= TSQL_TINYINT && type->kind <= TSQL_BIGINT;
  if (type->kind == TSQL_DECIMAL && type->scale == 0)
    alo_throw(b->context, 40510, ALOFT_PRINT(ALOFT_TEXT("IDENTITY of decimal")));
  if (!whole || definition->increment == 0 || definition->fallback)
    alo_throw(b->context, 2749, ALOFT_PRINT(name));
  if (table->identity_column != SIZE_MAX)
    alo_throw(b->context, 2744, ALOFT_PRINT(table->name));
  if (definition->null)
    alo_throw(b->context, 8147, ALOFT_PRINT(name), ALOFT_PRINT(table->name));
  table->identity_column = place;
  table->seed = definition->seed;
  table->increment = definition->increment;
  table->columns[place].identity = true;
  table->columns[place].nullable = false;
}

static void check_default(tsql_binder *b, tsql_table_column *column,
                          const tsql_column_definition *definition) {
  if (!definition->fallback)
    return;
  tsql_expression *x = alo_bind_expression(b, NULL, definition->fallback);
  if (has_input(x))
    alo_throw(b->context, 1046);
  if (b->environment->variable_count > 0)
    for (size_t i = 0; i < definition->fallback_text.size; i++)
      if (definition->fallback_text.data[i] == '@')
        alo_throw(b->context, 40510, ALOFT_PRINT(ALOFT_TEXT("variable in DEFAULT")));
  alo_expression_convert(b->context, x, column->type, true);
  column->fallback = definition->fallback_text;
}

static void add_columns(tsql_binder *b, tsql_table *table, const tsql_statement *s) {
  size_t count = 0;
  for (const tsql_column_definition *d = s->columns; d; d = d->next)
    if (++count > ALO_ENGINE_COLUMNS_MAX)
      alo_throw(b->context, 1702, ALOFT_PRINT(d->name), ALOFT_PRINT(table->name));
  table->columns = alo_take(b->context, count * sizeof *table->columns);
  for (const tsql_column_definition *d = s->columns; d; d = d->next) {
    tsql_table_column *column = &table->columns[table->column_count];
    *column = (tsql_table_column){.name = d->name, .type = d->type, .nullable = !d->not_null};
    if (alo_word_is(d->name, "_ROWID_"))
      alo_throw(b->context, 40510, ALOFT_PRINT(d->name));
    for (size_t i = 0; i < table->column_count; i++)
      if (alo_text_same_name(table->columns[i].name, d->name))
        alo_throw(b->context, 2705, ALOFT_PRINT(d->name), ALOFT_PRINT(table->name));
    if (d->null && d->not_null)
      alo_throw(b->context, 156, ALOFT_PRINT(ALOFT_TEXT("NULL")));
    if (d->identity)
      check_identity(b, table, table->column_count, d);
    check_default(b, column, d);
    table->column_count++;
  }
}

static bool declared_null(const tsql_statement *s, size_t column) {
  const tsql_column_definition *d = s->columns;
  while (column-- > 0)
    d = d->next;
  return d->null;
}

static size_t key_column(tsql_binder *b, const tsql_table *table, const tsql_item *item) {
  for (size_t i = 0; i < table->column_count; i++) {
    const tsql_table_column *column = &table->columns[i];
    if (!alo_text_same_name(column->name, item->alias))
      continue;
    if (column->type.length == TSQL_MAX)
      alo_throw(b->context, 1919, ALOFT_PRINT(column->name), ALOFT_PRINT(table->name));
    return i;
  }
  alo_throw(b->context, 1911, ALOFT_PRINT(item->alias));
}

static void add_key(tsql_binder *b, tsql_table *table, const tsql_statement *s,
                    const tsql_key *definition) {
  tsql_table_key *key = &table->keys[table->key_count];
  size_t count = 0;
  for (const tsql_item *item = definition->columns; item; item = item->next)
    if (++count > 32)
      alo_throw(b->context, 40510, ALOFT_PRINT(ALOFT_TEXT("more than 32 columns in a key")));
  key->columns = alo_take(b->context, count * sizeof *key->columns);
  key->primary = definition->primary;
  key->name = definition->name;
  for (const tsql_item *item = definition->columns; item; item = item->next) {
    size_t column = key_column(b, table, item);
    for (size_t i = 0; i < key->count; i++)
      if (key->columns[i] == column)
        alo_throw(b->context, 2705, ALOFT_PRINT(item->alias), ALOFT_PRINT(table->name));
    if (key->primary && declared_null(s, column))
      alo_throw(b->context, 8111, ALOFT_PRINT(table->name));
    if (key->primary)
      table->columns[column].nullable = false;
    key->columns[key->count++] = column;
  }
  if (!key->name.data) {
    tsql_string name = {.context = b->context};
    alo_string_add(&name, "%s__%.*s__%zu", key->primary ? "PK" : "UQ", ALOFT_PRINT(table->name),
                   table->key_count + 1);
    key->name = alo_string_text(&name);
  }
  table->key_count++;
}

tsql_table *alo_bind_table(tsql_binder *b, const tsql_statement *s) {
  check_table_name(b, s);
  tsql_table *table = ALO_NEW(b->context, tsql_table);
  table->name = s->name;
  table->identity_column = SIZE_MAX;
  add_columns(b, table, s);
  size_t count = 0;
  size_t primary = 0;
  for (const tsql_key *key = s->keys; key; key = key->next) {
    count++;
    primary += key->primary;
  }
  if (primary > 1)
    alo_throw(b->context, 8110, ALOFT_PRINT(table->name));
  table->keys = alo_take(b->context, (count + 1) * sizeof *table->keys);
  for (const tsql_key *key = s->keys; key; key = key->next)
    add_key(b, table, s, key);
  return table;
}

/* Expressions alone. */

tsql_expression *alo_bind_value(tsql_binder *b, const tsql_node *node, const tsql_type *to,
                                bool condition) {
  tsql_scope *scope = ALO_NEW(b->context, tsql_scope); /* of no columns */
  tsql_expression *x =
      condition ? alo_bind_condition(b, scope, node) : alo_bind_expression(b, scope, node);
  if (to)
    x = alo_expression_convert(b->context, x, *to, true);
  if (has_input(x)) {
    tsql_string sql = {.context = b->context};
    alo_string_add(&sql, "SELECT ");
    alo_emit(b, &sql, x, false);
    alo_plan_add_query(b, alo_string_text(&sql));
  }
  return x;
}
