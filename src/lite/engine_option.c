/* SET options: those values are taken that say what lite does. */
#include <string.h>

#include "engine_session.h"
#include "tsql_text.h"
#include "tsql_token.h"

static const struct {
  const char *name;
  const char *value;
} fixed[] = {
    {"ANSI_NULLS", "ON"},
    {"ANSI_PADDING", "ON"},
    {"ANSI_WARNINGS", "ON"},
    {"ANSI_NULL_DFLT_ON", "ON"},
    {"ANSI_NULL_DFLT_OFF", "OFF"},
    {"ANSI_DEFAULTS", "ON"},
    {"ARITHABORT", "ON"},
    {"ARITHIGNORE", "OFF"},
    {"CONCAT_NULL_YIELDS_NULL", "ON"},
    {"CURSOR_CLOSE_ON_COMMIT", "OFF"},
    {"FMTONLY", "OFF"},
    {"FORCEPLAN", "OFF"},
    {"IMPLICIT_TRANSACTIONS", "OFF"},
    {"NOEXEC", "OFF"},
    {"NO_BROWSETABLE", "ON"},
    {"NUMERIC_ROUNDABORT", "OFF"},
    {"PARSEONLY", "OFF"},
    {"QUOTED_IDENTIFIER", "ON"},
    {"REMOTE_PROC_TRANSACTIONS", "OFF"},
    {"SHOWPLAN_ALL", "OFF"},
    {"SHOWPLAN_TEXT", "OFF"},
    {"SHOWPLAN_XML", "OFF"},
};

static _Noreturn void refuse(alo_session *s, const tsql_statement *statement) {
  aloft_text text = statement->text;
  alo_throw(&s->work, 40510, ALOFT_PRINT(text));
}

static bool is_on_off(aloft_text value) {
  return alo_word_is(value, "ON") || alo_word_is(value, "OFF");
}

static bool set_flag(alo_session *s, const tsql_statement *statement) {
  bool on = alo_word_is(statement->value, "ON");
  bool *flag = alo_word_is(statement->name, "NOCOUNT")      ? &s->no_count
               : alo_word_is(statement->name, "XACT_ABORT") ? &s->abort_transaction
                                                            : NULL;
  if (!flag || !is_on_off(statement->value))
    return false;
  *flag = on;
  return true;
}

static bool set_number(alo_session *s, const tsql_statement *statement) {
  int64_t number = statement->number;
  if (statement->value.data)
    return false;
  if (alo_word_is(statement->name, "TEXTSIZE"))
    return number == -1 || number == INT32_MAX;
  if (alo_word_is(statement->name, "ROWCOUNT"))
    return number == 0;
  if (alo_word_is(statement->name, "DATEFIRST"))
    return number == 7;
  if (!alo_word_is(statement->name, "LOCK_TIMEOUT") || number < -1)
    return false;
  s->lock_timeout_ms = number;
  return true;
}

static bool set_word(alo_session *s, const tsql_statement *statement) {
  aloft_text value = statement->value;
  if (alo_word_is(statement->name, "DATEFORMAT")) {
    static const char *const orders[] = {"MDY", "YMD", "DMY"};
    for (int i = 0; i < 3; i++)
      if (alo_word_is(value, orders[i])) {
        s->date_order = i;
        return true;
      }
    return false;
  }
  if (alo_word_is(statement->name, "LANGUAGE")) {
    if (!alo_word_is(value, "US_ENGLISH") && !alo_word_is(value, "ENGLISH"))
      return false;
    alo_session_message(s, 5703, 0, 1, ALOFT_TEXT("Changed language setting to us_english."));
    return true;
  }
  /* One writer at a time, each transaction on its own snapshot: what every level promises. */
  static const char *const levels[] = {"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ",
                                       "SNAPSHOT", "SERIALIZABLE"};
  if (!alo_word_is(statement->name, "TRANSACTION ISOLATION LEVEL"))
    return false;
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
    if (alo_word_is(value, levels[i]))
      return true;
  return false;
}

void alo_session_set_option(alo_session *s, const tsql_statement *statement) {
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
    if (alo_word_is(statement->name, fixed[i].name)) {
      if (!alo_word_is(statement->value, fixed[i].value))
        refuse(s, statement);
      return;
    }
  if (!set_flag(s, statement) && !set_number(s, statement) && !set_word(s, statement))
    refuse(s, statement);
}
