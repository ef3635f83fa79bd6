/* T-SQL's scalar functions: for each, the type of its result and its value. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "engine.h"
#include "tsql_expression.h"
#include "tsql_text.h"
#include "tsql_time.h"
#include "tsql_token.h"

#define CALL                                                                                       \
  tsql_context *context, const tsql_environment *environment, const tsql_expression *call,         \
      const tsql_value *a
#define UNUSED ((void)context, (void)environment, (void)call, (void)a)

/* Binding. */

static tsql_expression *argument(tsql_expression *call, int place) {
  tsql_expression *child = call->first;
  while (place-- > 0)
    child = child->next;
  return child;
}

static void want(tsql_context *context, tsql_expression *call, int place, tsql_type type) {
  alo_expression_convert_child(context, call, argument(call, place), type);
}

static void want_kind(tsql_context *context, tsql_expression *call, int place, tsql_kind kind) {
  want(context, call, place, alo_type_plain(kind));
}

static _Noreturn void bad_argument(tsql_context *context, const tsql_expression *call, int place) {
  const tsql_expression *child = call->first;
  for (int i = 0; i < place; i++)
    child = child->next;
  aloft_text name = {call->function->name, strlen(call->function->name)};
  alo_throw(context, 8116, ALOFT_PRINT(alo_type_name(child->type)), place + 1, ALOFT_PRINT(name));
}

/* Text as it is; numbers and times become varchar; a NULL literal too. */
static tsql_type want_text(tsql_context *context, tsql_expression *call, int place) {
  tsql_expression *child = argument(call, place);
  if (child->is_null)
    child->type = alo_type_sized(TSQL_VARCHAR, 1);
  if (alo_kind_is_text(child->type.kind))
    return child->type;
  if (alo_kind_is_binary(child->type.kind))
    bad_argument(context, call, place);
  tsql_type type = alo_type_sized(TSQL_VARCHAR, 48);
  want(context, call, place, type);
  return type;
}

/* The varying type of a char one. */
static tsql_type varying(tsql_type type, uint64_t length) {
  return alo_type_sized(alo_kind_is_wide(type.kind) ? TSQL_NVARCHAR : TSQL_VARCHAR,
                        type.length == TSQL_MAX ? TSQL_MAX : length);
}

static void bind_same_text(tsql_context *context, tsql_expression *call) {
  tsql_type type = want_text(context, call, 0);
  call->type = varying(type, type.length);
}

static void bind_length(tsql_context *context, tsql_expression *call) {
  tsql_type type = argument(call, 0)->type;
  if (!alo_kind_is_binary(type.kind))
    type = want_text(context, call, 0);
  call->type = alo_type_plain(type.length == TSQL_MAX ? TSQL_BIGINT : TSQL_INT);
}

static void bind_datalength(tsql_context *context, tsql_expression *call) {
  (void)context;
  tsql_type type = argument(call, 0)->type;
  call->type = alo_type_plain(type.length == TSQL_MAX ? TSQL_BIGINT : TSQL_INT);
}

static void bind_substring(tsql_context *context, tsql_expression *call) {
  tsql_type type = argument(call, 0)->type;
  if (alo_kind_is_binary(type.kind)) {
    call->type = alo_type_sized(TSQL_VARBINARY, type.length);
  } else if (alo_kind_is_text(type.kind) || argument(call, 0)->is_null) {
    bind_same_text(context, call);
  } else {
    bad_argument(context, call, 0);
  }
  want_kind(context, call, 1, TSQL_BIGINT);
  want_kind(context, call, 2, TSQL_BIGINT);
  const tsql_expression *length = argument(call, 2);
  int64_t most = length->kind == EXPRESSION_CONVERT && length->first->is_literal
                     ? length->first->value.integer
                     : INT64_MAX;
  if (most > 0 && call->type.length != TSQL_MAX && (uint64_t)most < call->type.length)
    call->type.length = (uint32_t)most;
}

static void bind_side(tsql_context *context, tsql_expression *call) {
  bind_same_text(context, call);
  want_kind(context, call, 1, TSQL_BIGINT);
}

static void bind_replace(tsql_context *context, tsql_expression *call) {
  tsql_type type = want_text(context, call, 0);
  bool wide = alo_kind_is_wide(type.kind);
  for (int i = 1; i < 3; i++)
    wide = alo_kind_is_wide(want_text(context, call, i).kind) || wide;
  call->type =
      alo_type_sized(wide ? TSQL_NVARCHAR : TSQL_VARCHAR, type.length == TSQL_MAX ? TSQL_MAX
                                                          : wide                  ? TSQL_WIDE_MAX
                                                                 : TSQL_NARROW_MAX);
  for (int i = 0; i < 3; i++)
    want(context, call, i, alo_type_sized(call->type.kind, TSQL_MAX));
}

static void bind_charindex(tsql_context *context, tsql_expression *call) {
  want_text(context, call, 0);
  tsql_type type = want_text(context, call, 1);
  if (call->count > 2)
    want_kind(context, call, 2, TSQL_BIGINT);
  call->type = alo_type_plain(type.length == TSQL_MAX ? TSQL_BIGINT : TSQL_INT);
}

static void bind_replicate(tsql_context *context, tsql_expression *call) {
  tsql_type type = want_text(context, call, 0);
  want_kind(context, call, 1, TSQL_BIGINT);
  call->type = varying(type, TSQL_NARROW_MAX);
  call->nullable = true;
}

static void bind_space(tsql_context *context, tsql_expression *call) {
  want_kind(context, call, 0, TSQL_BIGINT);
  call->type = alo_type_sized(TSQL_VARCHAR, TSQL_NARROW_MAX);
  call->nullable = true;
}

static void bind_concat(tsql_context *context, tsql_expression *call) {
  uint64_t length = 0;
  bool wide = false;
  bool max = false;
  for (uint32_t i = 0; i < call->count; i++) {
    tsql_type type = want_text(context, call, (int)i);
    wide = wide || alo_kind_is_wide(type.kind);
    max = max || type.length == TSQL_MAX;
    length += type.length;
  }
  call->type = alo_type_sized(wide ? TSQL_NVARCHAR : TSQL_VARCHAR, max ? TSQL_MAX : length);
  for (uint32_t i = 0; i < call->count; i++)
    want(context, call, (int)i, alo_type_sized(call->type.kind, TSQL_MAX));
  call->nullable = false;
}

static void bind_trim(tsql_context *context, tsql_expression *call) {
  bind_same_text(context, call);
}

/* ABS, FLOOR, CEILING, SIGN, ROUND keep integers as int or bigint; bit becomes float. */
static void bind_number(tsql_context *context, tsql_expression *call) {
  tsql_expression *child = argument(call, 0);
  if (child->is_null)
    child->type = alo_type_plain(TSQL_FLOAT);
  tsql_type type = child->type;
  if (alo_kind_is_text(type.kind) || type.kind == TSQL_BIT || type.kind == TSQL_REAL)
    type = alo_type_plain(TSQL_FLOAT);
  else if (type.kind == TSQL_TINYINT || type.kind == TSQL_SMALLINT)
    type = alo_type_plain(TSQL_INT);
  else if (!alo_kind_is_number(type.kind))
    bad_argument(context, call, 0);
  want(context, call, 0, type);
  call->type = type;
}

static void bind_whole(tsql_context *context, tsql_expression *call) {
  bind_number(context, call);
  if (call->type.kind == TSQL_DECIMAL)
    call->type.scale = 0;
}

static void bind_round(tsql_context *context, tsql_expression *call) {
  bind_number(context, call);
  want_kind(context, call, 1, TSQL_INT);
  if (call->count > 2)
    want_kind(context, call, 2, TSQL_INT);
}

static void bind_power(tsql_context *context, tsql_expression *call) {
  bind_number(context, call);
  want_kind(context, call, 1, TSQL_FLOAT);
}

static void bind_real(tsql_context *context, tsql_expression *call) {
  want_kind(context, call, 0, TSQL_FLOAT);
  call->type = alo_type_plain(TSQL_FLOAT);
}

static tsql_type want_time(tsql_context *context, tsql_expression *call, int place) {
  tsql_expression *child = argument(call, place);
  tsql_type type = child->type;
  if (child->is_null || !alo_kind_is_time(type.kind)) {
    type = alo_type_plain(TSQL_DATETIME);
    if (alo_kind_is_text(child->type.kind)) {
      type = alo_type_plain(TSQL_DATETIMEOFFSET); /* so that nothing of the text is lost */
      type.scale = 7;
    } else if (!child->is_null && !alo_kind_is_number(child->type.kind)) {
      bad_argument(context, call, place);
    }
    want(context, call, place, type);
  }
  return type;
}

static void bind_dateadd(tsql_context *context, tsql_expression *call) {
  tsql_expression *amount = argument(call, 0);
  tsql_expression *point = argument(call, 1);
  if (!amount->is_null && !alo_kind_is_number(amount->type.kind) &&
      !alo_kind_is_text(amount->type.kind))
    bad_argument(context, call, 0);
  want_kind(context, call, 0, TSQL_INT);
  tsql_type type = point->type;
  if (point->is_null || !alo_kind_is_time(type.kind))
    type = alo_type_plain(TSQL_DATETIME);
  want(context, call, 1, type);
  call->type = type;
  bool below_day = call->part >= TSQL_PART_HOUR;
  if ((type.kind == TSQL_DATE && below_day) || (type.kind == TSQL_TIME && !below_day)) {
    static const char *const names[] = {
        "year", "quarter", "month",  "dayofyear",   "day",         "week",      "weekday",
        "hour", "minute",  "second", "millisecond", "microsecond", "nanosecond"};
    aloft_text part = {names[call->part], strlen(names[call->part])};
    alo_throw(context, 9810, ALOFT_PRINT(part), ALOFT_PRINT(ALOFT_TEXT("dateadd")),
              ALOFT_PRINT(alo_type_name(type)));
  }
}

static void bind_datediff(tsql_context *context, tsql_expression *call) {
  want_time(context, call, 0);
  want_time(context, call, 1);
  bool big =
      alo_word_is((aloft_text){call->function->name, strlen(call->function->name)}, "DATEDIFF_BIG");
  call->type = alo_type_plain(big ? TSQL_BIGINT : TSQL_INT);
}

static void bind_datepart(tsql_context *context, tsql_expression *call) {
  want_time(context, call, 0);
  call->type = alo_type_plain(TSQL_INT);
}

static void bind_datename(tsql_context *context, tsql_expression *call) {
  want_time(context, call, 0);
  call->type = alo_type_sized(TSQL_NVARCHAR, 30);
}

static void bind_eomonth(tsql_context *context, tsql_expression *call) {
  want_kind(context, call, 0, TSQL_DATE);
  if (call->count > 1)
    want_kind(context, call, 1, TSQL_INT);
  call->type = alo_type_plain(TSQL_DATE);
}

static void bind_datefromparts(tsql_context *context, tsql_expression *call) {
  for (int i = 0; i < 3; i++)
    want_kind(context, call, i, TSQL_INT);
  call->type = alo_type_plain(TSQL_DATE);
}

static void bind_getdate(tsql_context *context, tsql_expression *call) {
  (void)context;
  call->type = alo_type_plain(TSQL_DATETIME);
  call->nullable = false;
}

static void bind_sysdatetime(tsql_context *context, tsql_expression *call) {
  (void)context;
  call->type = alo_type_plain(TSQL_DATETIME2);
  call->type.scale = 7;
  call->nullable = false;
}

static void bind_sysdatetimeoffset(tsql_context *context, tsql_expression *call) {
  bind_sysdatetime(context, call);
  call->type.kind = TSQL_DATETIMEOFFSET;
}

static void bind_newid(tsql_context *context, tsql_expression *call) {
  (void)context;
  call->type = alo_type_plain(TSQL_GUID);
  call->nullable = false;
}

static void bind_name(tsql_context *context, tsql_expression *call) {
  (void)context;
  call->type = alo_type_sized(TSQL_NVARCHAR, 128);
  call->nullable = true;
}

static void bind_identity(tsql_context *context, tsql_expression *call) {
  (void)context;
  call->type = alo_type_decimal(38, 0);
  call->type.numeric = true;
  call->nullable = true;
}

static void bind_object_id(tsql_context *context, tsql_expression *call) {
  want(context, call, 0, alo_type_sized(TSQL_NVARCHAR, 776));
  if (call->count > 1)
    want(context, call, 1, alo_type_sized(TSQL_NVARCHAR, 4));
  call->type = alo_type_plain(TSQL_INT);
  call->nullable = true;
}

static void bind_code(tsql_context *context, tsql_expression *call) {
  want_text(context, call, 0);
  call->type = alo_type_plain(TSQL_INT);
  call->nullable = true;
}

static void bind_char(tsql_context *context, tsql_expression *call) {
  want_kind(context, call, 0, TSQL_INT);
  bool wide = call->function->name[0] == 'N';
  call->type = alo_type_sized(wide ? TSQL_NCHAR : TSQL_CHAR, 1);
  call->nullable = true;
}

static void bind_stuff(tsql_context *context, tsql_expression *call) {
  tsql_type type = want_text(context, call, 0);
  want_kind(context, call, 1, TSQL_BIGINT);
  want_kind(context, call, 2, TSQL_BIGINT);
  tsql_type more = want_text(context, call, 3);
  bool max = type.length == TSQL_MAX || more.length == TSQL_MAX;
  bool wide = alo_kind_is_wide(type.kind) || alo_kind_is_wide(more.kind);
  uint64_t length = max ? TSQL_MAX : (uint64_t)type.length + more.length;
  call->type = alo_type_sized(wide ? TSQL_NVARCHAR : TSQL_VARCHAR, length);
  call->nullable = true;
}

/* Values. */

static tsql_value text_value(aloft_text text) {
  return (tsql_value){.text = text};
}

static tsql_value length(CALL) {
  UNUSED;
  if (alo_kind_is_binary(call->first->type.kind))
    return (tsql_value){.integer = (int64_t)a->text.size};
  return (tsql_value){.integer = (int64_t)alo_text_units(alo_text_trimmed(a->text))};
}

static tsql_value datalength(CALL) {
  UNUSED;
  static const uint8_t sizes[] = {
      [TSQL_GUID] = 16, [TSQL_BIT] = 1,           [TSQL_TINYINT] = 1, [TSQL_SMALLINT] = 2,
      [TSQL_INT] = 4,   [TSQL_BIGINT] = 8,        [TSQL_REAL] = 4,    [TSQL_FLOAT] = 8,
      [TSQL_DATE] = 3,  [TSQL_SMALLDATETIME] = 4, [TSQL_DATETIME] = 8};
  tsql_type type = call->first->type;
  if (alo_kind_is_binary(type.kind))
    return (tsql_value){.integer = (int64_t)a->text.size};
  if (alo_kind_is_text(type.kind)) {
    int64_t units = (int64_t)alo_text_units(a->text);
    return (tsql_value){.integer = alo_kind_is_wide(type.kind) ? units * 2 : units};
  }
  alo_tds_type tds = alo_type_to_tds(type, true);
  if (type.kind <= TSQL_DATETIME && sizes[type.kind] > 0)
    return (tsql_value){.integer = sizes[type.kind]};
  return (tsql_value){.integer = tds.size};
}

static tsql_value map_case(tsql_context *context, aloft_text text, uint32_t (*map)(uint32_t)) {
  char *out = alo_take(context, text.size * 2 + 4);
  size_t size = 0;
  for (size_t i = 0; i < text.size;)
    size += alo_text_put(out + size, map(alo_text_next(text, &i)));
  return text_value((aloft_text){out, size});
}

static tsql_value upper(CALL) {
  UNUSED;
  return map_case(context, a->text, alo_text_upper);
}

static tsql_value lower(CALL) {
  UNUSED;
  return map_case(context, a->text, alo_text_lower);
}

static aloft_text trim_left(aloft_text text) {
  while (text.size > 0 && text.data[0] == ' ') {
    text.data++;
    text.size--;
  }
  return text;
}

static tsql_value ltrim(CALL) {
  UNUSED;
  return text_value(trim_left(a->text));
}

static tsql_value rtrim(CALL) {
  UNUSED;
  return text_value(alo_text_trimmed(a->text));
}

static tsql_value trim(CALL) {
  UNUSED;
  return text_value(trim_left(alo_text_trimmed(a->text)));
}

/* `count` characters from `start`, which counts from 1 and may lie before the text. */
static aloft_text slice(tsql_context *context, aloft_text text, bool binary, int64_t start,
                        int64_t count) {
  if (start < 1) {
    count = start < -INT32_MAX ? 0 : count + start - 1;
    start = 1;
  }
  if (count <= 0)
    return (aloft_text){text.data, 0};
  size_t skip = (uint64_t)start - 1 > text.size ? text.size : (size_t)start - 1;
  size_t keep = (uint64_t)count > text.size ? text.size : (size_t)count;
  if (!binary)
    skip = alo_prefix_whole(context, text, skip);
  text = (aloft_text){text.data + skip, text.size - skip};
  if (!binary)
    keep = alo_prefix_whole(context, text, keep);
  text.size = keep < text.size ? keep : text.size;
  return text;
}

static tsql_value substring(CALL) {
  UNUSED;
  if (a[2].integer < 0)
    alo_throw(context, 537);
  return text_value(
      slice(context, a->text, alo_kind_is_binary(call->type.kind), a[1].integer, a[2].integer));
}

static tsql_value left(CALL) {
  UNUSED;
  if (a[1].integer < 0)
    alo_throw(context, 536, ALOFT_PRINT(ALOFT_TEXT("left")));
  return text_value(slice(context, a->text, false, 1, a[1].integer));
}

static tsql_value right(CALL) {
  UNUSED;
  if (a[1].integer < 0)
    alo_throw(context, 536, ALOFT_PRINT(ALOFT_TEXT("right")));
  int64_t units = (int64_t)alo_text_units(a->text);
  int64_t count = a[1].integer < units ? a[1].integer : units;
  return text_value(slice(context, a->text, false, units - count + 1, count));
}

static tsql_value fit(tsql_context *context, const tsql_expression *call, aloft_text text) {
  tsql_value value = text_value(text);
  tsql_type whole = alo_type_sized(call->type.kind, TSQL_MAX);
  if (text.size > ALO_ENGINE_ROW_MAX)
    alo_throw(context, 701);
  return alo_convert(context, &value, whole, call->type, 0, NULL);
}

static tsql_value replace(CALL) {
  UNUSED;
  aloft_text text = a[0].text;
  if (a[1].text.size == 0)
    return a[0];
  tsql_string out = {.context = context};
  size_t from = 0;
  size_t size;
  for (;;) {
    size_t at = alo_text_find(text, a[1].text, from, &size);
    if (at == SIZE_MAX || size == 0)
      break;
    alo_string_bytes(&out, text.data + from, at - from);
    alo_string_bytes(&out, a[2].text.data, a[2].text.size);
    from = at + size;
    if (out.size > ALO_ENGINE_ROW_MAX)
      alo_throw(context, 701);
  }
  alo_string_bytes(&out, text.data + from, text.size - from);
  return fit(context, call, alo_string_text(&out));
}

static tsql_value charindex(CALL) {
  UNUSED;
  size_t from = 0;
  if (call->count > 2 && a[2].integer > 1)
    from = alo_prefix_whole(context, a[1].text, (size_t)a[2].integer - 1);
  size_t size;
  if (a[0].text.size == 0)
    return (tsql_value){.integer = 0};
  size_t at = alo_text_find(a[1].text, a[0].text, from, &size);
  if (at == SIZE_MAX)
    return (tsql_value){.integer = 0};
  return (tsql_value){.integer = (int64_t)alo_text_units((aloft_text){a[1].text.data, at}) + 1};
}

static tsql_value repeat(tsql_context *context, const tsql_expression *call, aloft_text text,
                         int64_t times) {
  if (times < 0)
    return TSQL_NULL;
  uint64_t most = call->type.length == TSQL_MAX ? ALO_ENGINE_ROW_MAX : TSQL_NARROW_MAX;
  if (text.size == 0 || times == 0)
    return text_value(ALOFT_TEXT(""));
  uint64_t fits = most / text.size + 1;
  if ((uint64_t)times > fits) {
    if (call->type.length == TSQL_MAX)
      alo_throw(context, 701);
    times = (int64_t)fits;
  }
  char *out = alo_take(context, text.size * (size_t)times + 1);
  for (size_t i = 0; i < (size_t)times; i++)
    memcpy(out + i * text.size, text.data, text.size);
  return fit(context, call, (aloft_text){out, text.size * (size_t)times});
}

static tsql_value replicate(CALL) {
  UNUSED;
  return repeat(context, call, a[0].text, a[1].integer);
}

static tsql_value space(CALL) {
  UNUSED;
  return repeat(context, call, ALOFT_TEXT(" "), a[0].integer);
}

static tsql_value reverse(CALL) {
  UNUSED;
  alo_refuse_pairs(context, a->text);
  char *out = alo_take(context, a->text.size + 1);
  size_t end = a->text.size;
  for (size_t i = 0; i < a->text.size;) {
    size_t begin = i;
    alo_text_next(a->text, &i);
    end -= i - begin;
    memcpy(out + end, a->text.data + begin, i - begin);
  }
  return text_value((aloft_text){out, a->text.size});
}

static tsql_value concat(CALL) {
  UNUSED;
  tsql_string out = {.context = context};
  for (uint32_t i = 0; i < call->count; i++) {
    if (!a[i].null)
      alo_string_bytes(&out, a[i].text.data, a[i].text.size);
    if (out.size > ALO_ENGINE_ROW_MAX)
      alo_throw(context, 701);
  }
  return fit(context, call, alo_string_text(&out));
}

static tsql_value stuff(CALL) {
  UNUSED;
  int64_t units = (int64_t)alo_text_units(a[0].text);
  if (a[1].null || a[2].null || a[0].null || a[1].integer < 1 || a[1].integer > units ||
      a[2].integer < 0)
    return TSQL_NULL;
  aloft_text head = slice(context, a[0].text, false, 1, a[1].integer - 1);
  aloft_text tail = {head.data + head.size, a[0].text.size - head.size};
  size_t gone =
      a[2].integer > units ? tail.size : alo_prefix_whole(context, tail, (size_t)a[2].integer);
  tsql_string out = {.context = context};
  alo_string_bytes(&out, head.data, head.size);
  if (!a[3].null)
    alo_string_bytes(&out, a[3].text.data, a[3].text.size);
  alo_string_bytes(&out, tail.data + gone, tail.size - gone);
  return fit(context, call, alo_string_text(&out));
}

static tsql_value code(CALL) {
  UNUSED;
  if (a->text.size == 0)
    return TSQL_NULL;
  size_t at = 0;
  uint32_t character = alo_text_next(a->text, &at);
  if (call->function->name[0] == 'U')
    return (tsql_value){.integer = character > 0xFFFF ? 0xD800 + ((character - 0x10000) >> 10)
                                                      : character};
  int byte = alo_text_to_1252(character);
  return (tsql_value){.integer = byte < 0 ? '?' : byte};
}

static tsql_value character(CALL) {
  UNUSED;
  bool wide = alo_kind_is_wide(call->type.kind);
  int64_t number = a->integer;
  if (number < 0 || number > (wide ? 0xFFFF : 0xFF))
    return TSQL_NULL;
  if (number >= 0xD800 && number < 0xE000)
    alo_throw(context, 40510, ALOFT_PRINT(ALOFT_TEXT("half of a surrogate pair")));
  char *out = alo_take(context, 4);
  uint32_t wanted = wide ? (uint32_t)number : alo_text_from_1252((uint8_t)number);
  return text_value((aloft_text){out, alo_text_put(out, wanted)});
}

static _Noreturn void overflow(tsql_context *context, tsql_type type) {
  aloft_text name = type.kind == TSQL_DECIMAL ? ALOFT_TEXT("numeric") : alo_type_name(type);
  alo_throw(context, 8115, ALOFT_PRINT(ALOFT_TEXT("expression")), ALOFT_PRINT(name));
}

static tsql_value absolute(CALL) {
  UNUSED;
  tsql_value value = *a;
  value.real = fabs(value.real);
  value.decimal.negative = false;
  if (value.integer < 0) {
    int64_t least = call->type.kind == TSQL_INT ? INT32_MIN : INT64_MIN;
    if (value.integer == least)
      overflow(context, call->type);
    value.integer = -value.integer;
  }
  return value;
}

static bool is_real(const tsql_expression *call) {
  return call->type.kind == TSQL_FLOAT;
}

static tsql_value sign(CALL) {
  UNUSED;
  tsql_value value = {.integer = a->integer < 0 ? -1 : a->integer > 0};
  value.real = a->real < 0 ? -1 : a->real > 0;
  if (call->type.kind == TSQL_DECIMAL) {
    value.decimal = alo_decimal_of(a->decimal.negative ? -1 : !alo_decimal_is_zero(&a->decimal));
    if (!alo_decimal_rescale(&value.decimal, 0, call->type.scale, call->type.precision, true))
      overflow(context, call->type);
  }
  return value;
}

/* To the integer below (`up` false) or above. */
static tsql_value whole(tsql_context *context, const tsql_expression *call, const tsql_value *a,
                        bool up) {
  tsql_value value = *a;
  if (is_real(call))
    value.real = up ? ceil(a->real) : floor(a->real);
  if (call->type.kind != TSQL_DECIMAL)
    return value;
  int scale = call->first->type.scale;
  tsql_decimal cut = a->decimal;
  alo_decimal_rescale(&cut, scale, 0, 38, true);
  if (alo_decimal_is_zero(&cut))
    cut.negative = false;
  tsql_decimal back = cut;
  bool same = alo_decimal_rescale(&back, 0, scale, 38, true) &&
              alo_decimal_compare(&back, &a->decimal) == 0;
  value.decimal = cut;
  tsql_decimal one = alo_decimal_of(up ? 1 : -1);
  if (!same && a->decimal.negative != up)
    if (!alo_decimal_add(&cut, 0, &one, 0, 0, call->type.precision, &value.decimal))
      overflow(context, call->type);
  return value;
}

static tsql_value floor_of(CALL) {
  UNUSED;
  return whole(context, call, a, false);
}

static tsql_value ceiling(CALL) {
  UNUSED;
  return whole(context, call, a, true);
}

static double round_real(double number, int64_t places, bool cut) {
  if (places > 300 || places < -300)
    return places > 0 ? number : 0;
  double factor = pow(10, (double)llabs(places));
  double scaled = places < 0 ? number / factor : number * factor;
  if (!isfinite(scaled))
    return number;
  scaled = cut ? trunc(scaled) : round(scaled);
  return places < 0 ? scaled * factor : scaled / factor;
}

static tsql_value round_to(CALL) {
  UNUSED;
  int64_t places = a[1].integer;
  bool cut = call->count > 2 && a[2].integer != 0;
  tsql_value value = a[0];
  if (is_real(call)) {
    value.real = round_real(a[0].real, places, cut);
    return value;
  }
  bool decimal = call->type.kind == TSQL_DECIMAL;
  int scale = decimal ? call->type.scale : 0;
  if (places >= scale)
    return value;
  tsql_decimal number = decimal ? a[0].decimal : alo_decimal_of(a[0].integer);
  if (places < -38 || !alo_decimal_rescale(&number, scale, (int)places, 38, cut))
    number = alo_decimal_of(0);
  int precision = decimal ? call->type.precision : 38;
  if (!alo_decimal_rescale(&number, (int)places, scale, precision, true))
    overflow(context, call->type);
  value.decimal = number;
  if (decimal)
    return value;
  if (!alo_decimal_to_int64(&number, &value.integer) ||
      (call->type.kind == TSQL_INT && value.integer != (int32_t)value.integer))
    overflow(context, call->type);
  return value;
}

static tsql_value power(CALL) {
  UNUSED;
  tsql_value base = a[0];
  tsql_type real = alo_type_plain(TSQL_FLOAT);
  if (!is_real(call))
    base = alo_convert(context, &base, call->type, real, 0, NULL);
  double number = pow(base.real, a[1].real);
  if (isnan(number))
    alo_throw(context, 3623);
  if (!isfinite(number))
    overflow(context, call->type);
  tsql_value value = {.real = number};
  if (is_real(call))
    return value;
  if (alo_kind_is_integer(call->type.kind) && fabs(number) >= 9.2e18)
    overflow(context, call->type);
  return alo_convert(context, &value, real, call->type, 0, NULL);
}

static tsql_value square_root(CALL) {
  UNUSED;
  if (a->real < 0)
    alo_throw(context, 3623);
  return (tsql_value){.real = sqrt(a->real)};
}

/* Ticks of a value of any time type, as its clock shows them. */
static int64_t local_ticks(tsql_type type, const tsql_value *value) {
  if (type.kind == TSQL_DATE)
    return value->integer * TSQL_TICKS_PER_DAY;
  if (type.kind == TSQL_TIME)
    return value->integer + TSQL_DAYS_1900 * TSQL_TICKS_PER_DAY;
  if (type.kind == TSQL_DATETIMEOFFSET)
    return value->integer + value->offset_minutes * TSQL_TICKS_PER_MINUTE;
  return value->integer;
}

static tsql_value dateadd(CALL) {
  UNUSED;
  tsql_type type = call->type;
  int64_t ticks = local_ticks(type, &a[1]);
  int64_t day = ticks - ticks % TSQL_TICKS_PER_DAY;
  aloft_text name = alo_type_name(type);
  if (!alo_time_add(call->part, a[0].integer, &ticks))
    alo_throw(context, 517, ALOFT_PRINT(name));
  tsql_value value = {.integer = ticks, .offset_minutes = a[1].offset_minutes};
  if (type.kind == TSQL_TIME) {
    value.integer = (ticks - day) % TSQL_TICKS_PER_DAY;
    if (value.integer < 0)
      value.integer += TSQL_TICKS_PER_DAY;
    value.integer = alo_time_round(value.integer, type.scale) % TSQL_TICKS_PER_DAY;
    return value;
  }
  tsql_type from = alo_type_plain(TSQL_DATETIME2);
  from.scale = 7;
  tsql_type to = type.kind == TSQL_DATETIMEOFFSET ? from : type;
  to.scale = type.scale;
  if (type.kind == TSQL_DATETIME && (ticks < TSQL_DAYS_1753 * TSQL_TICKS_PER_DAY))
    alo_throw(context, 517, ALOFT_PRINT(name));
  value = alo_convert(context, &value, from, to, 0, NULL);
  value.offset_minutes = a[1].offset_minutes;
  if (type.kind == TSQL_DATETIMEOFFSET)
    value.integer -= value.offset_minutes * TSQL_TICKS_PER_MINUTE;
  return value;
}

static tsql_value datediff(CALL) {
  UNUSED;
  /* Two points with offsets are compared in UTC. */
  tsql_type x = call->first->type;
  tsql_type y = call->last->type;
  int64_t from = x.kind == TSQL_DATETIMEOFFSET ? a[0].integer : local_ticks(x, &a[0]);
  int64_t to = y.kind == TSQL_DATETIMEOFFSET ? a[1].integer : local_ticks(y, &a[1]);
  int64_t difference = alo_time_difference(call->part, from, to);
  if (call->type.kind == TSQL_INT && difference != (int32_t)difference)
    alo_throw(context, 535);
  return (tsql_value){.integer = difference};
}

static tsql_value datepart(CALL) {
  UNUSED;
  return (tsql_value){.integer = alo_time_get(call->part, local_ticks(call->first->type, a))};
}

static tsql_value datename(CALL) {
  UNUSED;
  static const char *const days[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                     "Thursday", "Friday", "Saturday"};
  int64_t number = alo_time_get(call->part, local_ticks(call->first->type, a));
  const char *name = NULL;
  if (call->part == TSQL_PART_MONTH)
    name = alo_time_months[number - 1];
  if (call->part == TSQL_PART_WEEKDAY)
    name = days[number - 1];
  if (name)
    return text_value((aloft_text){name, strlen(name)});
  tsql_value value = {.integer = number};
  return alo_convert(context, &value, alo_type_plain(TSQL_BIGINT), call->type, 0, NULL);
}

static tsql_value eomonth(CALL) {
  UNUSED;
  int64_t ticks = a[0].integer * TSQL_TICKS_PER_DAY;
  if (call->count > 1 && !alo_time_add(TSQL_PART_MONTH, a[1].integer, &ticks))
    alo_throw(context, 517, ALOFT_PRINT(ALOFT_TEXT("date")));
  tsql_clock clock = alo_time_clock(ticks);
  return (tsql_value){.integer = alo_time_days(clock.year, clock.month,
                                               alo_time_month_days(clock.year, clock.month))};
}

static tsql_value datefromparts(CALL) {
  UNUSED;
  int64_t year = a[0].integer;
  int64_t month = a[1].integer;
  int64_t day = a[2].integer;
  if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1 ||
      day > alo_time_month_days((int)year, (int)month))
    alo_throw(context, 241);
  return (tsql_value){.integer = alo_time_days((int)year, (int)month, (int)day)};
}

static tsql_value now(CALL) {
  UNUSED;
  int64_t ticks = environment->now;
  return (tsql_value){.integer = call->type.kind == TSQL_DATETIME ? alo_time_round_datetime(ticks)
                                                                  : ticks};
}

static tsql_value newid(CALL) {
  UNUSED;
  uint8_t wire[16];
  sqlite3_randomness(sizeof wire, wire);
  wire[7] = (uint8_t)((wire[7] & 0x0F) | 0x40);
  wire[8] = (uint8_t)((wire[8] & 0x3F) | 0x80);
  uint8_t *sorted = alo_take(context, 16);
  alo_guid_to_sorted(wire, sorted);
  return text_value((aloft_text){(const char *)sorted, 16});
}

static tsql_value db_name(CALL) {
  UNUSED;
  return text_value(environment->database);
}

static tsql_value user_name(CALL) {
  UNUSED;
  return text_value(environment->user);
}

static tsql_value app_name(CALL) {
  UNUSED;
  return text_value(environment->application);
}

static tsql_value dbo(CALL) {
  UNUSED;
  return text_value(ALOFT_TEXT("dbo"));
}

static tsql_value scope_identity(CALL) {
  UNUSED;
  return environment->identity;
}

static tsql_value object_id(CALL) {
  UNUSED;
  if (call->count > 1 && !alo_text_same_name(alo_text_trimmed(a[1].text), ALOFT_TEXT("U")))
    return TSQL_NULL;
  aloft_text name = a[0].text;
  const char *dot = name.size > 0 ? memchr(name.data, '.', name.size) : NULL;
  if (dot) {
    aloft_text schema = {name.data, (size_t)(dot - name.data)};
    if (!alo_text_same_name(schema, ALOFT_TEXT("dbo")) &&
        !alo_text_same_name(schema, ALOFT_TEXT("[dbo]")))
      return TSQL_NULL;
    name = (aloft_text){dot + 1, name.size - schema.size - 1};
  }
  if (name.size > 2 && name.data[0] == '[' && name.data[name.size - 1] == ']')
    name = (aloft_text){name.data + 1, name.size - 2};
  int64_t id;
  if (!environment->table_exists(environment, name, &id))
    return TSQL_NULL;
  return (tsql_value){.integer = id};
}

static const tsql_function functions[] = {
    {"ABS", 1, 1, true, false, bind_number, absolute},
    {"APP_NAME", 0, 0, false, false, bind_name, app_name},
    {"ASCII", 1, 1, true, false, bind_code, code},
    {"CEILING", 1, 1, true, false, bind_whole, ceiling},
    {"CHAR", 1, 1, true, false, bind_char, character},
    {"CHARINDEX", 2, 3, true, false, bind_charindex, charindex},
    {"CONCAT", 2, 32, false, false, bind_concat, concat},
    {"CURRENT_TIMESTAMP", 0, 0, false, false, bind_getdate, now},
    {"CURRENT_USER", 0, 0, false, false, bind_name, dbo},
    {"DATALENGTH", 1, 1, true, false, bind_datalength, datalength},
    {"DATEADD", 2, 2, true, false, bind_dateadd, dateadd},
    {"DATEDIFF", 2, 2, true, false, bind_datediff, datediff},
    {"DATEDIFF_BIG", 2, 2, true, false, bind_datediff, datediff},
    {"DATEFROMPARTS", 3, 3, true, false, bind_datefromparts, datefromparts},
    {"DATENAME", 1, 1, true, false, bind_datename, datename},
    {"DATEPART", 1, 1, true, false, bind_datepart, datepart},
    {"DAY", 1, 1, true, false, bind_datepart, datepart},
    {"DB_NAME", 0, 0, false, false, bind_name, db_name},
    {"EOMONTH", 1, 2, true, false, bind_eomonth, eomonth},
    {"FLOOR", 1, 1, true, false, bind_whole, floor_of},
    {"GETDATE", 0, 0, false, false, bind_getdate, now},
    {"GETUTCDATE", 0, 0, false, false, bind_getdate, now},
    {"LEFT", 2, 2, true, false, bind_side, left},
    {"LEN", 1, 1, true, false, bind_length, length},
    {"LOWER", 1, 1, true, false, bind_same_text, lower},
    {"LTRIM", 1, 1, true, false, bind_trim, ltrim},
    {"MONTH", 1, 1, true, false, bind_datepart, datepart},
    {"NCHAR", 1, 1, true, false, bind_char, character},
    {"NEWID", 0, 0, false, true, bind_newid, newid},
    {"OBJECT_ID", 1, 2, true, false, bind_object_id, object_id},
    {"ORIGINAL_LOGIN", 0, 0, false, false, bind_name, user_name},
    {"POWER", 2, 2, true, false, bind_power, power},
    {"REPLACE", 3, 3, true, false, bind_replace, replace},
    {"REPLICATE", 2, 2, true, false, bind_replicate, replicate},
    {"REVERSE", 1, 1, true, false, bind_same_text, reverse},
    {"RIGHT", 2, 2, true, false, bind_side, right},
    {"ROUND", 2, 3, true, false, bind_round, round_to},
    {"RTRIM", 1, 1, true, false, bind_trim, rtrim},
    {"SCHEMA_NAME", 0, 0, false, false, bind_name, dbo},
    {"SCOPE_IDENTITY", 0, 0, false, true, bind_identity, scope_identity},
    {"SESSION_USER", 0, 0, false, false, bind_name, dbo},
    {"SIGN", 1, 1, true, false, bind_number, sign},
    {"SPACE", 1, 1, true, false, bind_space, space},
    {"SQRT", 1, 1, true, false, bind_real, square_root},
    {"STUFF", 4, 4, false, false, bind_stuff, stuff},
    {"SUBSTRING", 3, 3, true, false, bind_substring, substring},
    {"SUSER_NAME", 0, 0, false, false, bind_name, user_name},
    {"SUSER_SNAME", 0, 0, false, false, bind_name, user_name},
    {"SYSDATETIME", 0, 0, false, false, bind_sysdatetime, now},
    {"SYSDATETIMEOFFSET", 0, 0, false, false, bind_sysdatetimeoffset, now},
    {"SYSTEM_USER", 0, 0, false, false, bind_name, user_name},
    {"SYSUTCDATETIME", 0, 0, false, false, bind_sysdatetime, now},
    {"TRIM", 1, 1, true, false, bind_trim, trim},
    {"UNICODE", 1, 1, true, false, bind_code, code},
    {"UPPER", 1, 1, true, false, bind_same_text, upper},
    {"USER", 0, 0, false, false, bind_name, dbo},
    {"USER_NAME", 0, 0, false, false, bind_name, dbo},
    {"YEAR", 1, 1, true, false, bind_datepart, datepart},
};

const tsql_function *alo_function_find(aloft_text name) {
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (alo_word_is(name, functions[i].name))
      return &functions[i];
  return NULL;
}

static const char *const missing_functions[] = {"ACOS",
                                                "APPROX_COUNT_DISTINCT",
                                                "ASIN",
                                                "ATAN",
                                                "ATN2",
                                                "BINARY_CHECKSUM",
                                                "CERTENCODED",
                                                "CHECKSUM",
                                                "CHECKSUM_AGG",
                                                "CHOOSE",
                                                "COL_LENGTH",
                                                "COL_NAME",
                                                "COLUMNPROPERTY",
                                                "COMPRESS",
                                                "CONCAT_WS",
                                                "CONNECTIONPROPERTY",
                                                "CONTEXT_INFO",
                                                "COS",
                                                "COT",
                                                "CUME_DIST",
                                                "DATABASEPROPERTYEX",
                                                "DATETIME2FROMPARTS",
                                                "DATETIMEFROMPARTS",
                                                "DATETRUNC",
                                                "DB_ID",
                                                "DECOMPRESS",
                                                "DEGREES",
                                                "DENSE_RANK",
                                                "DIFFERENCE",
                                                "ERROR_LINE",
                                                "ERROR_MESSAGE",
                                                "ERROR_NUMBER",
                                                "ERROR_PROCEDURE",
                                                "ERROR_SEVERITY",
                                                "ERROR_STATE",
                                                "EXP",
                                                "FIRST_VALUE",
                                                "FORMAT",
                                                "GENERATE_SERIES",
                                                "GETANSINULL",
                                                "GREATEST",
                                                "GROUPING",
                                                "GROUPING_ID",
                                                "HASHBYTES",
                                                "HAS_PERMS_BY_NAME",
                                                "HOST_ID",
                                                "HOST_NAME",
                                                "IDENT_CURRENT",
                                                "IDENT_INCR",
                                                "IDENT_SEED",
                                                "IS_MEMBER",
                                                "IS_SRVROLEMEMBER",
                                                "ISDATE",
                                                "ISJSON",
                                                "ISNUMERIC",
                                                "JSON_MODIFY",
                                                "JSON_QUERY",
                                                "JSON_VALUE",
                                                "LAG",
                                                "LAST_VALUE",
                                                "LEAD",
                                                "LEAST",
                                                "LOG",
                                                "LOG10",
                                                "NEWSEQUENTIALID",
                                                "NTILE",
                                                "OBJECT_NAME",
                                                "OBJECTPROPERTY",
                                                "OPENJSON",
                                                "PARSE",
                                                "PARSENAME",
                                                "PATINDEX",
                                                "PERCENT_RANK",
                                                "PERCENTILE_CONT",
                                                "PERCENTILE_DISC",
                                                "PI",
                                                "QUOTENAME",
                                                "RADIANS",
                                                "RAND",
                                                "RANK",
                                                "ROW_NUMBER",
                                                "ROWCOUNT_BIG",
                                                "SCHEMA_ID",
                                                "SERVERPROPERTY",
                                                "SESSION_CONTEXT",
                                                "SIN",
                                                "SMALLDATETIMEFROMPARTS",
                                                "SOUNDEX",
                                                "SQUARE",
                                                "STDEV",
                                                "STDEVP",
                                                "STR",
                                                "STRING_AGG",
                                                "STRING_ESCAPE",
                                                "STRING_SPLIT",
                                                "SUSER_ID",
                                                "SUSER_SID",
                                                "SWITCHOFFSET",
                                                "TAN",
                                                "TIMEFROMPARTS",
                                                "TODATETIMEOFFSET",
                                                "TRANSLATE",
                                                "TRY_CAST",
                                                "TRY_PARSE",
                                                "TYPE_ID",
                                                "TYPE_NAME",
                                                "USER_ID",
                                                "VAR",
                                                "VARP",
                                                "XACT_STATE"};

bool alo_function_is_missing(aloft_text name) {
  for (size_t i = 0; i < sizeof missing_functions / sizeof *missing_functions; i++)
    if (alo_word_is(name, missing_functions[i]))
      return true;
  return false;
}
