#include "script.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tsql_decimal.h"
#include "tsql_time.h"

uint64_t script_now = UINT64_C(1709210096123456700);

uint64_t script_steady = UINT64_C(5000000000);

static uint64_t clock_now(void *context) {
  (void)context;
  return script_now;
}

static uint64_t clock_steady(void *context) {
  (void)context;
  return script_steady;
}

alo_engine *script_engine(const char *path) {
  alo_engine *engine = NULL;
  char error[256];
  alo_engine_config config = {.path = path,
                              .name = ALOFT_TEXT("test"),
                              .wall_clock = clock_now,
                              .steady_clock = clock_steady};
  if (alo_engine_open(&engine, &config, error) != ALOFT_OK) {
    fprintf(stderr, "open: %s\n", error);
    abort();
  }
  return engine;
}

alo_session *script_session(alo_engine *engine) {
  alo_session *session = NULL;
  alo_engine_message message;
  alo_session_config config = {
      .user = ALOFT_TEXT("sa"), .application = ALOFT_TEXT("tests"), .spid = 51};
  if (alo_session_open(&session, engine, &config, &message) != ALOFT_OK)
    abort();
  return session;
}

static void add(script_output *script, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(script->text + script->size, SCRIPT_ROOM - script->size, format, arguments);
  va_end(arguments);
  script->size += (size_t)size;
  if (script->size >= SCRIPT_ROOM)
    script->size = SCRIPT_ROOM - 1;
}

static void separate(script_output *script) {
  if (script->size > 0)
    add(script, " / ");
}

static const char *type_name(const alo_tds_type *t) {
  switch (t->token) {
  case ALO_TDS_BIT:
  case ALO_TDS_BITN:
    return "bit";
  case ALO_TDS_INT1:
    return "tinyint";
  case ALO_TDS_INT2:
    return "smallint";
  case ALO_TDS_INT4:
    return "int";
  case ALO_TDS_INT8:
    return "bigint";
  case ALO_TDS_INTN:
    return t->size == 1 ? "tinyint" : t->size == 2 ? "smallint" : t->size == 4 ? "int" : "bigint";
  case ALO_TDS_FLT4:
    return "real";
  case ALO_TDS_FLT8:
    return "float";
  case ALO_TDS_FLTN:
    return t->size == 4 ? "real" : "float";
  case ALO_TDS_DECIMALN:
    return "decimal";
  case ALO_TDS_NUMERICN:
    return "numeric";
  case ALO_TDS_DATETIM4:
    return "smalldatetime";
  case ALO_TDS_DATETIME:
    return "datetime";
  case ALO_TDS_DATETIMN:
    return t->size == 4 ? "smalldatetime" : "datetime";
  case ALO_TDS_DATEN:
    return "date";
  case ALO_TDS_TIMEN:
    return "time";
  case ALO_TDS_DATETIME2N:
    return "datetime2";
  case ALO_TDS_DATETIMEOFFSETN:
    return "datetimeoffset";
  case ALO_TDS_GUID:
    return "uniqueidentifier";
  case ALO_TDS_BIGVARCHAR:
    return "varchar";
  case ALO_TDS_BIGCHAR:
    return "char";
  case ALO_TDS_NVARCHAR:
    return "nvarchar";
  case ALO_TDS_NCHAR:
    return "nchar";
  case ALO_TDS_BIGVARBINARY:
    return "varbinary";
  case ALO_TDS_BIGBINARY:
    return "binary";
  default:
    return "?";
  }
}

static void add_type(script_output *script, const alo_tds_type *t) {
  add(script, "%s", type_name(t));
  switch (t->token) {
  case ALO_TDS_DECIMALN:
  case ALO_TDS_NUMERICN:
    add(script, "(%d,%d)", t->precision, t->scale);
    break;
  case ALO_TDS_TIMEN:
  case ALO_TDS_DATETIME2N:
  case ALO_TDS_DATETIMEOFFSETN:
    add(script, "(%d)", t->scale);
    break;
  case ALO_TDS_BIGVARCHAR:
  case ALO_TDS_BIGCHAR:
  case ALO_TDS_NVARCHAR:
  case ALO_TDS_NCHAR:
  case ALO_TDS_BIGVARBINARY:
  case ALO_TDS_BIGBINARY:
    if (t->size == ALO_TDS_MAX_SIZE)
      add(script, "(max)");
    else
      add(script, "(%u)",
          t->token == ALO_TDS_NVARCHAR || t->token == ALO_TDS_NCHAR ? t->size / 2 : t->size);
    break;
  default:
    break;
  }
}

static void add_real(script_output *script, const alo_engine_value *v, bool single) {
  char text[40];
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, v->real);
    if (single ? strtof(text, NULL) == (float)v->real : strtod(text, NULL) == v->real)
      break;
  }
  add(script, "%s", text);
}

static void add_time(script_output *script, const alo_tds_type *t, const alo_engine_value *v) {
  char text[TSQL_TIME_TEXT];
  const char *name = type_name(t);
  int64_t ticks =
      v->days * TSQL_TICKS_PER_DAY + (int64_t)v->ticks + v->offset_minutes * TSQL_TICKS_PER_MINUTE;
  if (strcmp(name, "time") != 0) {
    alo_time_date_text(ticks / TSQL_TICKS_PER_DAY, text);
    add(script, "%s", text);
    if (strcmp(name, "date") == 0)
      return;
    add(script, " ");
  }
  int scale = strcmp(name, "datetime") == 0 ? 3 : strcmp(name, "smalldatetime") == 0 ? 0 : t->scale;
  alo_time_of_day_text(ticks % TSQL_TICKS_PER_DAY, scale, text);
  add(script, "%s", text);
  if (strcmp(name, "datetimeoffset") == 0) {
    alo_time_offset_text(v->offset_minutes, text);
    add(script, "%s", text);
  }
}

static void add_bytes(script_output *script, const alo_engine_value *v) {
  add(script, "0x");
  for (size_t i = 0; i < v->bytes.size; i++)
    add(script, "%02X", ((const uint8_t *)v->bytes.data)[i]);
}

static void add_guid(script_output *script, const alo_engine_value *v) {
  static const int places[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  for (int i = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10)
      add(script, "-");
    add(script, "%02X", ((const uint8_t *)v->bytes.data)[places[i]]);
  }
}

static void add_value(script_output *script, const alo_tds_type *t, const alo_engine_value *v) {
  if (v->null) {
    add(script, "NULL");
    return;
  }
  switch (t->token) {
  case ALO_TDS_FLT4:
  case ALO_TDS_FLT8:
  case ALO_TDS_FLTN:
    add_real(script, v, t->size == 4);
    break;
  case ALO_TDS_DECIMALN:
  case ALO_TDS_NUMERICN: {
    char text[TSQL_DECIMAL_TEXT];
    uint64_t h = v->decimal.high;
    uint64_t l = v->decimal.low;
    tsql_decimal d = {{(uint32_t)l, (uint32_t)(l >> 32), (uint32_t)h, (uint32_t)(h >> 32)},
                      v->decimal.negative};
    alo_decimal_text(&d, t->scale, text);
    add(script, "%s", text);
    break;
  }
  case ALO_TDS_BIGVARCHAR:
  case ALO_TDS_BIGCHAR:
  case ALO_TDS_NVARCHAR:
  case ALO_TDS_NCHAR:
    add(script, "%.*s", ALOFT_PRINT(v->text));
    break;
  case ALO_TDS_BIGVARBINARY:
  case ALO_TDS_BIGBINARY:
    add_bytes(script, v);
    break;
  case ALO_TDS_GUID:
    add_guid(script, v);
    break;
  case ALO_TDS_DATEN:
  case ALO_TDS_TIMEN:
  case ALO_TDS_DATETIME2N:
  case ALO_TDS_DATETIMEOFFSETN:
  case ALO_TDS_DATETIME:
  case ALO_TDS_DATETIM4:
  case ALO_TDS_DATETIMN:
    add_time(script, t, v);
    break;
  default:
    add(script, "%lld", (long long)v->integer);
  }
}

static void add_row(script_output *script, const alo_event *event) {
  for (size_t i = 0; i < event->count; i++) {
    if (i > 0)
      add(script, ",");
    add_value(script, &event->columns[i].type, &event->values[i]);
  }
}

static void add_columns(script_output *script, const alo_event *event) {
  for (size_t i = 0; i < event->count; i++) {
    if (i > 0)
      add(script, ",");
    add_type(script, &event->columns[i].type);
    if (event->columns[i].nullable)
      add(script, "?");
  }
}

static void add_message(script_output *script, const alo_event *event) {
  const alo_engine_message *m = &event->message;
  script->last = *m;
  snprintf(script->message, sizeof script->message, "%.*s", ALOFT_PRINT(m->text));
  if (m->number == 3621) /* it follows every error of a writing statement */
    return;
  separate(script);
  if (m->severity > 10)
    add(script, "!%d", m->number);
  else
    add(script, "i:%.*s", ALOFT_PRINT(m->text));
}

static void add_done(script_output *script, const alo_event *event) {
  if (event->failed || event->command == 0xC1 || event->command >= 0xC6)
    return;
  separate(script);
  if (event->counted)
    add(script, "#%llu", (unsigned long long)event->rows);
  else
    add(script, "#");
}

static void add_event(script_output *script, const alo_event *event) {
  static const char *const changes[] = {"begun", "committed", "rolled back"};
  if (event->kind == ALO_EVENT_MESSAGE) {
    add_message(script, event);
    return;
  }
  if (event->kind == ALO_EVENT_DONE) {
    add_done(script, event);
    return;
  }
  if (event->kind == ALO_EVENT_END || event->kind == ALO_EVENT_MORE)
    return;
  separate(script);
  if (event->kind == ALO_EVENT_RESULT)
    add_columns(script, event);
  else if (event->kind == ALO_EVENT_ROW)
    add_row(script, event);
  else if (event->kind == ALO_EVENT_TRANSACTION)
    add(script, "%s", changes[event->transaction]);
  else if (event->kind == ALO_EVENT_WAIT)
    add(script, "wait:%llu", (unsigned long long)event->wait_ns);
  else if (event->kind == ALO_EVENT_BUSY)
    add(script, "busy");
  else if (event->kind == ALO_EVENT_DATABASE)
    add(script, "db:%.*s", ALOFT_PRINT(event->text));
  else if (event->kind == ALO_EVENT_INTERRUPTED)
    add(script, "interrupted");
  else if (event->kind == ALO_EVENT_RETURN_VALUE) {
    add(script, "%.*s=", ALOFT_PRINT(event->parameter->name));
    add_value(script, &event->parameter->type, &event->parameter->value);
  }
}

bool script_continue(script_output *script, alo_session *session) {
  alo_event event;
  for (;;) {
    alo_event_kind kind = alo_session_step(session, &event);
    script->steps++;
    add_event(script, &event);
    if (kind == ALO_EVENT_BUSY)
      return true;
    if (kind == ALO_EVENT_END || kind == ALO_EVENT_INTERRUPTED)
      return false;
  }
}

bool script_start(script_output *script, alo_session *session, const alo_batch *batch) {
  script->size = 0;
  script->text[0] = 0;
  script->message[0] = 0;
  script->steps = 0;
  if (alo_session_start(session, batch) != ALOFT_OK) {
    add(script, "not started");
    return false;
  }
  return script_continue(script, session);
}

bool script_run(script_output *script, alo_session *session, const char *sql) {
  alo_batch batch = {.text = {sql, strlen(sql)}};
  return script_start(script, session, &batch);
}
