#include "sql_session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>

#include "interrupt.h"

/* ---- connecting ---- */

typedef struct connecting {
  aloft_op op;
  bool done;
  alo_failure failure;
} connecting;

static void end_connecting(aloft_op *op, aloft_status status) {
  connecting *wait = ALOFT_CONTAINER(op, connecting, op);
  alo_failure_keep(&wait->failure, status, op->error);
  wait->done = true;
}

static void turn_until(aloft_loop *loop, const bool *done) {
  while (!*done) {
    aloft_status status = aloft_loop_turn(loop, ALOFT_FOREVER);
    if (status != ALOFT_OK) {
      alo_report("waiting for the network failed: %s", aloft_status_meaning(status));
      exit(ALO_EXIT_LOCAL);
    }
  }
}

/* As a connection string has them. */
static const alo_option_name names[] = {
    {"HostNameInCertificate", "-F"}, {"ServerCertificate", "-J"},        {"CA File", "--ca-file"},
    {"Encrypt=Strict", "-Nstrict"},  {"Encrypt=Optional", "-Noptional"},
};

static alo_exit connect_to(alo_sql_session *session, const alo_sql_settings *settings) {
  char string[ALO_SQL_CONNECTION_STRING_MAX], what[300];
  if (!alo_sql_connection_string(settings, string))
    return ALO_EXIT_USAGE;
  aloft_tds_config config = {
      .size = sizeof config,
      .connection_string = aloft_text_of(string),
      .user = aloft_text_of(settings->user),
      .password = alo_secret_text(&settings->password),
      .connect_timeout_ns = ALOFT_SECONDS((uint64_t)settings->login_timeout),
  };
  connecting wait = {.op = {.done = end_connecting, .cancel = &session->stop}};
  aloft_status status = aloft_tds_open(&session->tds, session->loop, &config, &wait.op);
  if (status != ALOFT_OK) {
    session->tds = NULL;
    alo_failure_keep(&wait.failure, status, wait.op.error);
  } else {
    turn_until(session->loop, &wait.done);
  }
  if (wait.failure.status == ALOFT_OK || alo_interrupt_signal() != 0)
    return alo_interrupt_exit(ALO_EXIT_OK);
  const char *advice = wait.failure.status == ALOFT_ENCRYPTION ? " (-N says how to encrypt)" : "";
  snprintf(what, sizeof what, "cannot connect to %s%s", settings->server, advice);
  alo_failure_name_options(&wait.failure, names, sizeof names / sizeof *names);
  return alo_failure_report_connect(&wait.failure, what);
}

static void tell_encryption(const alo_sql_session *session) {
  aloft_tds_encryption told = {.size = sizeof told};
  aloft_tds_get_encryption(session->tds, &told);
  if (told.encrypted)
    alo_report("encrypted with %s, %s; the certificate: %s, expires %s, SHA-256 %s", told.protocol,
               told.cipher, told.subject, told.expires, told.fingerprint);
  else
    alo_report("not encrypted%s", told.login_encrypted ? ", but for the login" : "");
}

alo_exit alo_sql_session_open(alo_sql_session *session, alo_sql_settings *settings) {
  *session = (alo_sql_session){.settings = settings};
  session->printer = (alo_sql_printer){
      .format = settings->format, .style = &settings->style, .output = &session->output};
  alo_exit code = ALO_EXIT_LOCAL;
  if (!alo_output_open(&session->output, settings->output)) {
    /* reported */
  } else if (aloft_loop_open(&session->loop, NULL) != ALOFT_OK) {
    alo_report("no event loop: out of memory or descriptors");
  } else {
    aloft_cancel_init(&session->stop, session->loop, NULL);
    alo_interrupt_cancels(&session->stop);
    code = connect_to(session, settings);
    if (code == ALO_EXIT_OK && settings->verbose)
      tell_encryption(session);
  }
  alo_secret_wipe(&settings->password);
  return code;
}

alo_exit alo_sql_session_close(alo_sql_session *session, alo_exit code) {
  if (session->tds != NULL) {
    connecting wait = {.op = {.done = end_connecting}};
    if (aloft_tds_close(session->tds, &wait.op) == ALOFT_OK)
      turn_until(session->loop, &wait.done);
  }
  alo_interrupt_cancels(NULL);
  if (session->loop != NULL) {
    aloft_loop_close(session->loop);
    aloft_cancel_fini(&session->stop);
  }
  alo_exit written = ALO_EXIT_OK;
  if (session->output.file != NULL)
    written = alo_output_close(&session->output);
  alo_sql_printer_free(&session->printer);
  free(session->columns);
  free(session->cells);
  /* A signal that cut the output short is told, whatever the answer was. */
  bool stopped = session->output.error == EINTR && alo_interrupt_signal() != 0;
  if (!stopped && (code == ALO_EXIT_OK || session->output.error != 0))
    return written;
  return alo_interrupt_exit(code);
}

/* ---- messages ---- */

/* The server's text as it is, but for control characters that a terminal would obey. */
static void print_text(aloft_text text) {
  for (size_t i = 0; i < text.size; i++) {
    unsigned char c = (unsigned char)text.data[i];
    bool harmless = (c >= 0x20 && c != 0x7f) || c == '\n' || c == '\t' || c == '\r';
    fputc(harmless ? c : '?', stderr);
  }
}

static void print_message(aloft_tds_query *query, const aloft_error *message) {
  alo_sql_session *session = ALOFT_CONTAINER(query, alo_sql_session, query);
  if ((int64_t)message->severity < session->settings->message_level)
    return;
  alo_output_flush(&session->output); /* what was printed before comes before */
  if (message->severity > 10) {
    fprintf(stderr, "Msg %" PRId32 ", Level %u, State %u, Server ", message->number,
            (unsigned)message->severity, (unsigned)message->state);
    print_text(message->server);
    if (message->procedure.size > 0) {
      fprintf(stderr, ", Procedure ");
      print_text(message->procedure);
    }
    fprintf(stderr, ", Line %" PRIu32 "\n", message->line);
  }
  print_text(message->message);
  fputc('\n', stderr);
}

/* ---- answers ---- */

static void print_count(alo_sql_session *session, int64_t count) {
  char line[64];
  snprintf(line, sizeof line, "(%" PRId64 " %s affected)\n", count, count == 1 ? "row" : "rows");
  alo_output_put_string(&session->output, line);
}

/* Ends what came before a new result set or the end of the answer: the set, its count, and the
 * counts of statements without rows. */
static void end_part(alo_sql_session *session, bool last) {
  int64_t affected = session->query.rows_affected;
  int64_t rows = (int64_t)session->printer.rows;
  bool was_set = session->in_set;
  int64_t more = affected > session->counted ? affected - session->counted : 0;
  if (was_set)
    alo_sql_printer_end(&session->printer);
  session->in_set = false;
  if (!session->settings->format->is_table || affected < 0)
    return;
  if (was_set && more >= rows) {
    print_count(session, rows);
    more -= rows;
  }
  if (more > 0 || (last && !session->had_set)) {
    alo_output_put_string(&session->output, "\n");
    print_count(session, more);
  }
  session->counted = affected;
}

static bool make_room(alo_sql_session *session, size_t count) {
  if (count <= session->room)
    return true;
  const aloft_tds_column **columns =
      realloc(session->columns, count * sizeof *columns); /* NOLINT(bugprone-sizeof-expression) */
  if (columns == NULL)
    return false;
  session->columns = columns;
  aloft_text *cells = realloc(session->cells, count * sizeof *cells);
  if (cells == NULL)
    return false;
  session->cells = cells;
  session->room = count;
  return true;
}

static bool begin_set(alo_sql_session *session) {
  aloft_tds_query *query = &session->query;
  size_t count = aloft_tds_column_count(query);
  end_part(session, false);
  if (!make_room(session, count))
    return false;
  for (size_t i = 0; i < count; i++)
    session->columns[i] = aloft_tds_get_column(query, i);
  session->in_set = alo_sql_printer_begin(&session->printer, session->columns, count);
  session->had_set = true;
  return session->in_set;
}

/* A value that cannot be had leaves its row unprinted; the next step says why. */
static void print_row(alo_sql_session *session) {
  aloft_tds_query *query = &session->query;
  for (size_t i = 0; i < session->printer.column_count; i++) {
    session->cells[i] = (aloft_text){0};
    if (aloft_tds_is_null(query, i))
      continue;
    session->cells[i] = aloft_tds_text(query, i);
    if (session->cells[i].data == NULL)
      return;
  }
  alo_sql_printer_row(&session->printer, session->cells);
}

static void give_up(alo_sql_session *session, aloft_status why) {
  if (why != ALOFT_OK)
    alo_failure_keep(&session->failure, why, NULL);
  aloft_op_cancel(&session->query.op);
}

static void take_answer(aloft_tds_query *query) {
  alo_sql_session *session = ALOFT_CONTAINER(query, alo_sql_session, query);
  aloft_status step = ALOFT_ROW;
  while (step == ALOFT_ROW || step == ALOFT_RESULT) {
    step = aloft_tds_step(query);
    if (step == ALOFT_RESULT && !begin_set(session)) {
      give_up(session, ALOFT_NO_MEMORY);
      return;
    }
    if (step == ALOFT_ROW)
      print_row(session);
    if (session->output.error != 0) {
      give_up(session, ALOFT_OK);
      return;
    }
  }
}

static void end_query(aloft_op *op, aloft_status status) {
  alo_sql_session *session = ALOFT_CONTAINER(op, alo_sql_session, query.op);
  if (session->failure.status == ALOFT_OK)
    alo_failure_keep(&session->failure, status, op->error);
  session->done = true;
}

static alo_exit judge(const alo_sql_session *session) {
  const alo_failure *failure = &session->failure;
  if (session->output.error != 0)
    return ALO_EXIT_LOCAL; /* reported when it is closed */
  if (failure->status == ALOFT_OK)
    return ALO_EXIT_OK;
  if (failure->status == ALOFT_SERVER)
    return ALO_EXIT_ANSWER; /* its messages have been printed */
  if (failure->status == ALOFT_CANCELLED && alo_interrupt_signal() != 0)
    return alo_interrupt_exit(ALO_EXIT_LOCAL);
  alo_failure lost = *failure;
  alo_failure_advise_on_loss(&lost);
  return alo_failure_report(&lost, "the answer is not complete");
}

alo_exit alo_sql_session_run(alo_sql_session *session, aloft_text batch) {
  uint64_t timeout_ns = ALOFT_SECONDS((uint64_t)session->settings->query_timeout);
  session->query = (aloft_tds_query){
      .op = {.done = end_query, .timeout_ns = timeout_ns, .cancel = &session->stop},
      .sql = batch,
      .ready = take_answer,
      .message = print_message,
      .rows_affected = -1,
  };
  session->done = session->in_set = session->had_set = false;
  session->counted = 0;
  session->failure.status = ALOFT_OK;
  aloft_status status = aloft_tds_query_start(session->tds, &session->query);
  if (status != ALOFT_OK) {
    alo_failure_keep(&session->failure, status, session->query.op.error);
    return judge(session);
  }
  turn_until(session->loop, &session->done);
  status = session->failure.status;
  if (status == ALOFT_OK || status == ALOFT_SERVER)
    end_part(session, true);
  alo_output_flush(&session->output);
  return judge(session);
}
