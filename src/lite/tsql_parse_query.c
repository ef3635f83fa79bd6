/* SELECT and VALUES. */
#include "engine.h"
#include "tsql_parse.h"

static void append_item(tsql_item **first, tsql_item ***end, tsql_item *item) {
  if (!*first)
    *end = first;
  **end = item;
  *end = &item->next;
}

tsql_node *alo_parser_top(tsql_parser *p) {
  tsql_node *top;
  if (alo_parser_take_sign(p, "(")) {
    top = alo_parser_expression(p);
    alo_parser_expect_sign(p, ")");
  } else {
    if (p->token.kind != TOKEN_INTEGER && p->token.kind != TOKEN_VARIABLE)
      alo_parser_fail(p);
    top = alo_node_new(p, p->token.kind == TOKEN_INTEGER ? NODE_CONSTANT : NODE_VARIABLE);
    top->name = p->token.text;
    if (top->kind == NODE_CONSTANT) {
      top->type = alo_type_plain(TSQL_BIGINT);
      top->value.integer = alo_parser_integer(p);
    } else {
      alo_parser_advance(p);
    }
  }
  if (alo_parser_at(p, "PERCENT"))
    alo_parser_missing(p, "TOP ... PERCENT");
  if (alo_parser_at(p, "WITH") && alo_word_is(alo_parser_peek(p).text, "TIES"))
    alo_parser_missing(p, "TOP ... WITH TIES");
  return top;
}

static bool at_alias(const tsql_parser *p) {
  if (p->token.kind == TOKEN_NAME || p->token.kind == TOKEN_STRING ||
      p->token.kind == TOKEN_NSTRING)
    return true;
  return p->token.kind == TOKEN_WORD && !alo_word_is_reserved(p->token.text);
}

static aloft_text parse_alias(tsql_parser *p) {
  aloft_text alias = p->token.text;
  bool string = p->token.kind == TOKEN_STRING || p->token.kind == TOKEN_NSTRING;
  if (!string)
    return alo_parser_name(p);
  alo_parser_advance(p);
  return alias;
}

static tsql_item *parse_item(tsql_parser *p) {
  tsql_item *item = ALO_NEW(p->context, tsql_item);
  tsql_token after = alo_parser_peek(p);
  bool equals = after.kind == TOKEN_SIGN && after.text.size == 1 && after.text.data[0] == '=';
  if (alo_parser_at_sign(p, "*")) {
    item->node = alo_node_new(p, NODE_STAR);
    alo_parser_advance(p);
    return item;
  }
  if (p->token.kind == TOKEN_VARIABLE && equals) {
    item->variable = p->token.text;
    alo_parser_advance(p);
    alo_parser_advance(p);
  } else if (at_alias(p) && equals) {
    item->alias = parse_alias(p);
    alo_parser_advance(p);
  } else if (p->token.kind == TOKEN_VARIABLE && after.kind == TOKEN_SIGN && after.text.size == 2 &&
             after.text.data[1] == '=' && after.text.data[0] != '<' && after.text.data[0] != '>' &&
             after.text.data[0] != '!') {
    alo_parser_missing(p, "SELECT @variable += expression");
  }
  item->node = alo_parser_expression(p);
  if (item->variable.data || item->alias.data)
    return item;
  if (alo_parser_take(p, "AS") || at_alias(p)) {
    if (!at_alias(p))
      alo_parser_fail(p);
    item->alias = parse_alias(p);
  }
  return item;
}

static tsql_item *parse_items(tsql_parser *p) {
  tsql_item *first = NULL;
  tsql_item **end = NULL;
  do
    append_item(&first, &end, parse_item(p));
  while (alo_parser_take_sign(p, ","));
  return first;
}

static tsql_item *parse_column_names(tsql_parser *p) {
  tsql_item *first = NULL;
  tsql_item **end = NULL;
  do {
    tsql_item *item = ALO_NEW(p->context, tsql_item);
    item->alias = alo_parser_name(p);
    append_item(&first, &end, item);
  } while (alo_parser_take_sign(p, ","));
  return first;
}

static void refuse_source_parts(tsql_parser *p) {
  static const char *const missing[] = {"PIVOT", "UNPIVOT", "TABLESAMPLE"};
  for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
    if (alo_parser_at(p, missing[i]))
      alo_parser_missing(p, missing[i]);
  if (alo_parser_at(p, "FOR") && alo_word_is(alo_parser_peek(p).text, "SYSTEM_TIME"))
    alo_parser_missing(p, "FOR SYSTEM_TIME");
  if (alo_parser_at(p, "WITH"))
    alo_parser_missing(p, "table hint");
}

static tsql_core *parse_values(tsql_parser *p);

static void parse_derived(tsql_parser *p, tsql_source *source) {
  alo_parser_advance(p);
  if (alo_parser_at(p, "VALUES")) {
    source->query = ALO_NEW(p->context, tsql_query);
    source->query->cores = parse_values(p);
  } else if (alo_parser_at(p, "SELECT")) {
    source->query = alo_parser_query(p, false);
  } else {
    alo_parser_missing(p, "join in parentheses");
  }
  alo_parser_expect_sign(p, ")");
}

static tsql_source *parse_source(tsql_parser *p) {
  tsql_source *source = ALO_NEW(p->context, tsql_source);
  source->line = p->token.line;
  if (alo_parser_at_sign(p, "(")) {
    parse_derived(p, source);
  } else {
    static const char *const missing[] = {"OPENROWSET",     "OPENQUERY",     "OPENXML",
                                          "OPENDATASOURCE", "CONTAINSTABLE", "FREETEXTTABLE",
                                          "OPENJSON"};
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
      if (alo_parser_at(p, missing[i]))
        alo_parser_missing(p, missing[i]);
    if (p->token.kind == TOKEN_VARIABLE)
      alo_parser_missing(p, "table variable");
    alo_parser_table_name(p, &source->schema, &source->name);
    if (alo_parser_at_sign(p, "("))
      alo_parser_missing(p, "table-valued function");
  }
  refuse_source_parts(p);
  if (alo_parser_take(p, "AS") ||
      (at_alias(p) && p->token.kind != TOKEN_STRING && p->token.kind != TOKEN_NSTRING))
    source->alias = alo_parser_name(p);
  else if (source->query)
    alo_parser_fail(p);
  if (source->query && alo_parser_take_sign(p, "(")) {
    source->columns = parse_column_names(p);
    alo_parser_expect_sign(p, ")");
  }
  refuse_source_parts(p);
  return source;
}

static tsql_join parse_join(tsql_parser *p) {
  if (alo_parser_take_sign(p, ","))
    return JOIN_COMMA;
  if (alo_parser_take(p, "CROSS")) {
    if (alo_parser_at(p, "APPLY"))
      alo_parser_missing(p, "APPLY");
    alo_parser_expect(p, "JOIN");
    return JOIN_CROSS;
  }
  if (alo_parser_at(p, "OUTER") && alo_word_is(alo_parser_peek(p).text, "APPLY"))
    alo_parser_missing(p, "APPLY");
  tsql_join join = JOIN_NONE;
  if (alo_parser_take(p, "INNER"))
    join = JOIN_INNER;
  else if (alo_parser_take(p, "LEFT"))
    join = JOIN_LEFT;
  else if (alo_parser_take(p, "RIGHT"))
    join = JOIN_RIGHT;
  else if (alo_parser_take(p, "FULL"))
    join = JOIN_FULL;
  if (join > JOIN_INNER)
    alo_parser_take(p, "OUTER");
  if (join != JOIN_NONE) {
    static const char *const hints[] = {"LOOP", "HASH", "MERGE", "REMOTE"};
    for (size_t i = 0; i < 4; i++)
      if (alo_parser_at(p, hints[i]))
        alo_parser_missing(p, "join hint");
    alo_parser_expect(p, "JOIN");
    return join;
  }
  return alo_parser_take(p, "JOIN") ? JOIN_INNER : JOIN_NONE;
}

static tsql_source *parse_from(tsql_parser *p) {
  tsql_source *first = parse_source(p);
  tsql_source *last = first;
  bool comma = false;
  int count = 1;
  for (;;) {
    tsql_join join = parse_join(p);
    if (join == JOIN_NONE)
      return first;
    comma = comma || join == JOIN_COMMA;
    if (comma && (join == JOIN_RIGHT || join == JOIN_FULL))
      alo_parser_missing(p, "RIGHT or FULL JOIN after a comma in FROM");
    if (++count > ALO_ENGINE_SOURCES_MAX)
      alo_parser_missing(p, "more than 32 tables in FROM");
    tsql_source *source = parse_source(p);
    source->join = join;
    if (join >= JOIN_INNER) {
      alo_parser_expect(p, "ON");
      source->on = alo_parser_expression(p);
    }
    last->next = source;
    last = source;
  }
}

static void parse_group(tsql_parser *p, tsql_core *core) {
  alo_parser_expect(p, "BY");
  static const char *const missing[] = {"ROLLUP", "CUBE", "GROUPING"};
  for (size_t i = 0; i < 3; i++)
    if (alo_parser_at(p, missing[i]))
      alo_parser_missing(p, missing[i]);
  if (alo_parser_at(p, "ALL"))
    alo_parser_missing(p, "GROUP BY ALL");
  core->group = alo_node_new(p, NODE_AND);
  do
    alo_node_add(core->group, alo_parser_expression(p));
  while (alo_parser_take_sign(p, ","));
  if (alo_parser_at(p, "WITH"))
    alo_parser_missing(p, "WITH ROLLUP | CUBE");
}

static tsql_core *parse_core(tsql_parser *p) {
  tsql_core *core = ALO_NEW(p->context, tsql_core);
  core->line = p->token.line;
  alo_parser_expect(p, "SELECT");
  if (alo_parser_take(p, "DISTINCT"))
    core->distinct = true;
  else
    alo_parser_take(p, "ALL");
  if (alo_parser_take(p, "TOP"))
    core->top = alo_parser_top(p);
  core->items = parse_items(p);
  if (alo_parser_at(p, "INTO"))
    alo_parser_missing(p, "SELECT INTO");
  if (alo_parser_take(p, "FROM"))
    core->from = parse_from(p);
  if (alo_parser_take(p, "WHERE")) {
    if (alo_parser_at(p, "CURRENT"))
      alo_parser_missing(p, "CURRENT OF");
    core->where = alo_parser_expression(p);
  }
  if (alo_parser_take(p, "GROUP"))
    parse_group(p, core);
  if (alo_parser_take(p, "HAVING"))
    core->having = alo_parser_expression(p);
  if (alo_parser_at(p, "WINDOW"))
    alo_parser_missing(p, "WINDOW");
  return core;
}

/* Each row becomes a SELECT without FROM, joined with UNION ALL. */
static tsql_core *parse_values(tsql_parser *p) {
  alo_parser_expect(p, "VALUES");
  tsql_core *first = NULL;
  tsql_core **end = &first;
  do {
    tsql_core *core = ALO_NEW(p->context, tsql_core);
    core->line = p->token.line;
    core->all = true;
    core->is_values = true;
    alo_parser_expect_sign(p, "(");
    tsql_item *items = NULL;
    tsql_item **items_end = NULL;
    do {
      tsql_item *item = ALO_NEW(p->context, tsql_item);
      item->node = alo_parser_expression(p);
      append_item(&items, &items_end, item);
    } while (alo_parser_take_sign(p, ","));
    alo_parser_expect_sign(p, ")");
    core->items = items;
    *end = core;
    end = &core->next;
  } while (alo_parser_take_sign(p, ","));
  return first;
}

static void parse_order(tsql_parser *p, tsql_query *query) {
  tsql_order **end = &query->order;
  alo_parser_expect(p, "BY");
  do {
    tsql_order *order = ALO_NEW(p->context, tsql_order);
    order->node = alo_parser_expression(p);
    order->descending = alo_parser_take(p, "DESC");
    if (!order->descending)
      alo_parser_take(p, "ASC");
    *end = order;
    end = &order->next;
  } while (alo_parser_take_sign(p, ","));
  if (!alo_parser_take(p, "OFFSET"))
    return;
  query->offset = alo_parser_expression(p);
  if (!alo_parser_take(p, "ROWS"))
    alo_parser_expect(p, "ROW");
  if (!alo_parser_take(p, "FETCH"))
    return;
  if (!alo_parser_take(p, "NEXT"))
    alo_parser_expect(p, "FIRST");
  query->fetch = alo_parser_expression(p);
  if (!alo_parser_take(p, "ROWS"))
    alo_parser_expect(p, "ROW");
  alo_parser_expect(p, "ONLY");
}

tsql_query *alo_parser_query(tsql_parser *p, bool statement) {
  alo_parser_enter(p);
  tsql_query *query = ALO_NEW(p->context, tsql_query);
  tsql_core **end = &query->cores;
  bool all = false;
  int count = 0;
  for (;;) {
    if (alo_parser_at_sign(p, "("))
      alo_parser_missing(p, "query in parentheses");
    tsql_core *core = statement && alo_parser_at(p, "VALUES") ? parse_values(p) : parse_core(p);
    core->all = core->all || all;
    *end = core;
    while (*end)
      end = &(*end)->next;
    if (++count > 400)
      alo_parser_missing(p, "more than 400 queries in UNION");
    if (alo_parser_at(p, "INTERSECT") || alo_parser_at(p, "EXCEPT"))
      alo_parser_missing(p, "INTERSECT | EXCEPT");
    if (!alo_parser_take(p, "UNION"))
      break;
    all = alo_parser_take(p, "ALL");
  }
  if (alo_parser_take(p, "ORDER"))
    parse_order(p, query);
  if (alo_parser_at(p, "FOR"))
    alo_parser_missing(p, "FOR XML | JSON | BROWSE");
  if (alo_parser_at(p, "OPTION"))
    alo_parser_missing(p, "OPTION");
  alo_parser_leave(p);
  return query;
}
