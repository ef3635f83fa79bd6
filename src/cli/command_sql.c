#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "interrupt.h"
#include "line_reader.h"
#include "sql_batch.h"
#include "sql_session.h"

/* A script while it runs. */
typedef struct script {
  alo_sql_session *session;
  const alo_sql_settings *settings;
  const char *name; /* for errors */
  bool interactive; /* prompts, and goes on after errors of the script */
  alo_line_reader reader;
  alo_sql_batch batch;
  bool quit; /* the script said so: those after it are not run */
} script;

static alo_exit run_batch(script *run) {
  alo_exit code = ALO_EXIT_OK;
  int64_t count = run->batch.count;
  if (alo_sql_batch_is_blank(&run->batch))
    count = 0;
  for (int64_t i = 0; i < count; i++) {
    alo_exit ran =
        alo_sql_session_run(run->session, (aloft_text){run->batch.text, run->batch.size});
    if (ran != ALO_EXIT_OK)
      code = ran;
    if (code > ALO_EXIT_ANSWER || (code == ALO_EXIT_ANSWER && run->settings->stop_on_error))
      break;
  }
  alo_sql_batch_clear(&run->batch);
  return code == ALO_EXIT_ANSWER && !run->settings->stop_on_error ? ALO_EXIT_OK : code;
}

static void prompt(script *run) {
  char text[32];
  if (!run->interactive)
    return;
  size_t line = 1;
  for (size_t i = 0; i < run->batch.size; i++)
    line += run->batch.text[i] == '\n';
  int size = snprintf(text, sizeof text, "%zu> ", line);
  ssize_t written = write(STDOUT_FILENO, text, (size_t)size);
  (void)written; /* a prompt that is not seen changes nothing */
}

static alo_exit refuse_line(const script *run) {
  alo_report("%s:%" PRIu64 ": %s", run->name, run->batch.lines, run->batch.error);
  return run->interactive ? ALO_EXIT_OK : ALO_EXIT_USAGE;
}

static alo_exit fail_reading(const script *run) {
  if (errno == EINTR && alo_interrupt_signal() != 0)
    return alo_interrupt_exit(ALO_EXIT_LOCAL);
  if (errno == EFBIG)
    alo_report("%s:%" PRIu64 ": the line is over 32 MiB: break it", run->name,
               run->batch.lines + 1);
  else
    alo_report("%s: %s", run->name, strerror(errno));
  return ALO_EXIT_LOCAL;
}

/* The marks at the start of a file that say how its text is encoded. */
static aloft_text skip_mark(script *run, aloft_text line) {
  if (run->batch.lines == 0 && line.size >= 3 && memcmp(line.data, "\xef\xbb\xbf", 3) == 0)
    return (aloft_text){line.data + 3, line.size - 3};
  return line;
}

/* What a script ends with is run too, but for an open quotation or comment, which is an error. At
 * a terminal only GO runs anything. */
static alo_exit end_script(script *run) {
  if (run->interactive) {
    if (!alo_sql_batch_is_blank(&run->batch))
      alo_report("the last batch was not run, for no %s followed it", run->settings->terminator);
    return ALO_EXIT_OK;
  }
  if (alo_sql_batch_is_open(&run->batch)) {
    alo_report("%s: the last batch ends inside a quoted text or a comment: close it", run->name);
    return ALO_EXIT_USAGE;
  }
  run->batch.count = 1;
  return run_batch(run);
}

static alo_exit run_lines(script *run) {
  for (;;) {
    aloft_text line;
    alo_exit code = ALO_EXIT_OK;
    prompt(run);
    alo_line_status read = alo_line_reader_next(&run->reader, &line);
    if (read == ALO_LINE_FAILED)
      return fail_reading(run);
    if (read == ALO_LINE_END)
      return end_script(run);
    switch (alo_sql_batch_add(&run->batch, skip_mark(run, line))) {
    case ALO_SQL_GO:
      code = run_batch(run);
      break;
    case ALO_SQL_QUIT:
      run->quit = true;
      return ALO_EXIT_OK;
    case ALO_SQL_ERROR:
      code = refuse_line(run);
      break;
    case ALO_SQL_TEXT:
    case ALO_SQL_RESET:
      break;
    }
    if (code != ALO_EXIT_OK)
      return code;
  }
}

/* Runs what the descriptor, or when -1 the text, holds. `*quit` is set when the script asks for no
 * more. */
static alo_exit run_script(alo_sql_session *session, const char *name, int descriptor,
                           const char *text, bool *quit) {
  script run = {
      .session = session,
      .settings = session->settings,
      .name = name,
      .interactive = descriptor == STDIN_FILENO && isatty(STDIN_FILENO) != 0,
      .reader = {.descriptor = descriptor,
                 .text = aloft_text_of(text),
                 .line_max = ALO_SQL_BATCH_SIZE_MAX},
      .batch = {.terminator = session->settings->terminator,
                .dollar_is_text = session->settings->dollar_is_text},
  };
  alo_exit code = run_lines(&run);
  *quit = run.quit;
  alo_line_reader_free(&run.reader);
  alo_sql_batch_free(&run.batch);
  return code;
}

static alo_exit run_file(alo_sql_session *session, const char *path, bool *quit) {
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    alo_report("script %s: %s", path, strerror(errno));
    return ALO_EXIT_LOCAL;
  }
  alo_exit code = run_script(session, path, descriptor, NULL, quit);
  close(descriptor);
  return code;
}

static alo_exit run_text(alo_sql_session *session, const char *option, const char *sql,
                         bool *quit) {
  return run_script(session, option, -1, sql, quit);
}

static alo_exit run_standard_input(alo_sql_session *session, bool *quit) {
  alo_exit code = ALO_EXIT_OK;
  if (session->settings->first_query != NULL)
    code = run_text(session, "-q", session->settings->first_query, quit);
  if (code != ALO_EXIT_OK || *quit)
    return code;
  return run_script(session, "standard input", STDIN_FILENO, NULL, quit);
}

static alo_exit run_all(alo_sql_session *session) {
  const alo_sql_settings *settings = session->settings;
  alo_exit code = ALO_EXIT_OK;
  bool quit = false;
  if (settings->queries.count + settings->files.count == 0)
    return run_standard_input(session, &quit);
  for (size_t i = 0; i < settings->queries.count && code == ALO_EXIT_OK && !quit; i++)
    code = run_text(session, "-Q", settings->queries.items[i], &quit);
  for (size_t i = 0; i < settings->files.count && code == ALO_EXIT_OK && !quit; i++)
    code = run_file(session, settings->files.items[i], &quit);
  return code;
}

/* Before anything is run: all the scripts must be there. */
static alo_exit check_files(const alo_sql_settings *settings) {
  for (size_t i = 0; i < settings->files.count; i++) {
    if (access(settings->files.items[i], R_OK) != 0) {
      alo_report("script %s: %s; nothing was run", settings->files.items[i], strerror(errno));
      return ALO_EXIT_LOCAL;
    }
  }
  return ALO_EXIT_OK;
}

static alo_exit execute(alo_sql_settings *settings, const alo_option_group *group) {
  static alo_sql_session session;
  alo_interrupt_install();
  alo_exit code = alo_sql_settings_check(settings, group);
  if (code == ALO_EXIT_OK)
    code = check_files(settings);
  if (code != ALO_EXIT_OK)
    return code;
  code = alo_sql_session_open(&session, settings);
  if (code == ALO_EXIT_OK)
    code = run_all(&session);
  return alo_sql_session_close(&session, code);
}

int alo_command_sql(int argc, char **argv) {
  alo_sql_settings settings;
  alo_option_group groups[] = {alo_sql_option_group(&settings)};
  alo_command_line line = {
      .synopsis = "aloft sql [OPTION...] [-Q SQL | -i FILE]...",
      .summary = "Runs SQL on a SQL Server and prints the rows that come back.",
      .groups = groups,
      .group_count = 1,
  };
  alo_report_name("aloft sql");
  alo_exit code = alo_command_line_read(&line, argc, argv);
  if (code == ALO_EXIT_OK && line.help)
    alo_command_line_help(&line);
  else if (code == ALO_EXIT_OK)
    code = execute(&settings, &groups[0]);
  alo_secret_wipe(&settings.password);
  return (int)code;
}
