#include "command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "gateway.h"
#include "interrupt.h"
#include "nats_session.h"
#include "output.h"

#define DEFAULT_QUEUE "aloft"

typedef struct gateway_values {
  alo_secret sql;
  const char *sql_password_file, *queue;
  int64_t pool, concurrency;
  uint64_t drain_ns;
  bool verbose;
} gateway_values;

#define AT(member) offsetof(gateway_values, member)

static const alo_option gateway_options[] = {
    {.name = "sql",
     .kind = ALO_OPTION_SECRET,
     .value = "CONNECTION",
     .help = "The connection string of the SQL Server, in SqlClient's spelling. Better in the "
             "environment when a password stands in it: others can see a command line until it is "
             "overwritten.",
     .environment = "ALOFT_SQL",
     .offset = AT(sql)},
    {.name = "sql-password-file",
     .kind = ALO_OPTION_TEXT,
     .value = "FILE",
     .help = "Read the password for the SQL Server from FILE, one line.",
     .offset = AT(sql_password_file)},
    {.name = "queue",
     .letter = 'q',
     .kind = ALO_OPTION_TEXT,
     .value = "GROUP",
     .help = "The queue group whose members share the requests; by default " DEFAULT_QUEUE ".",
     .offset = AT(queue)},
    {.name = "pool",
     .kind = ALO_OPTION_NUMBER,
     .value = "N",
     .help = "How many connections to the SQL Server at most, and so how many queries at one time; "
             "by default 10.",
     .offset = AT(pool),
     .min = 1,
     .max = ALO_GATEWAY_CONNECTIONS_MAX},
    {.name = "concurrency",
     .kind = ALO_OPTION_NUMBER,
     .value = "N",
     .help = "How many requests may run or wait for a connection at one time; those beyond are "
             "refused with 503. By default 256.",
     .offset = AT(concurrency),
     .min = 1,
     .max = ALO_GATEWAY_REQUESTS_MAX},
    {.name = "drain",
     .kind = ALO_OPTION_DURATION,
     .value = "DURATION",
     .help = "How long running requests have to end after SIGINT or SIGTERM; by default 30s.",
     .offset = AT(drain_ns)},
    {.name = "verbose",
     .kind = ALO_OPTION_FLAG,
     .help = "Write a line for each request: subject, code, rows, time. Before them, how the "
             "connection to NATS is encrypted.",
     .offset = AT(verbose)},
};

typedef struct serving {
  gateway_values values;
  alo_secret sql_password;
  alo_endpoint_folder folder;
  alo_nats_session session;
  alo_gateway *gateway;
  alo_output output;
} serving;

static void write_line(void *context, const char *line) {
  (void)context;
  alo_note("%s", line);
}

/* ---- getting ready ---- */

static alo_exit check_values(serving *run) {
  const gateway_values *values = &run->values;
  if (values->sql.data == NULL)
    return alo_report_usage("no SQL Server is given: add --sql CONNECTION, or set ALOFT_SQL");
  if (values->concurrency < values->pool)
    return alo_report_usage("--concurrency is below --pool: give at least as many requests as "
                            "connections");
  if (values->sql_password_file != NULL &&
      !alo_secret_read_file(&run->sql_password, values->sql_password_file))
    return ALO_EXIT_LOCAL;
  return ALO_EXIT_OK;
}

static alo_exit load(serving *run, const char *path) {
  char error[ALO_ENDPOINT_ERROR_MAX];
  if (alo_endpoint_folder_load(&run->folder, path, error))
    return ALO_EXIT_OK;
  alo_report("%s", error);
  return ALO_EXIT_USAGE;
}

static alo_exit report_refusal(aloft_status status, const char *what, const char *error) {
  if (status == ALOFT_CANCELLED && alo_interrupt_signal() != 0)
    return alo_interrupt_exit(ALO_EXIT_OK);
  alo_report("%s: %s", what, error);
  alo_exit code = alo_exit_of(status);
  return code == ALO_EXIT_USAGE || code == ALO_EXIT_LOCAL ? code : ALO_EXIT_CONNECTION;
}

static alo_exit open_gateway(serving *run) {
  char error[ALO_GATEWAY_ERROR_MAX];
  const gateway_values *values = &run->values;
  const alo_gateway_config config = {
      .loop = run->session.loop,
      .nats = run->session.nats,
      .folder = &run->folder,
      .connection = {.size = sizeof config.connection,
                     .connection_string = alo_secret_text(&values->sql),
                     .password = alo_secret_text(&run->sql_password)},
      .queue = aloft_text_of(values->queue != NULL ? values->queue : DEFAULT_QUEUE),
      .connections_max = (uint32_t)values->pool,
      .requests_max = (uint32_t)values->concurrency,
      .drain_ns = values->drain_ns,
      .verbose = values->verbose,
      .line = write_line,
  };
  aloft_status status = alo_gateway_open(&run->gateway, &config, error);
  alo_secret_wipe(&run->values.sql);
  alo_secret_wipe(&run->sql_password);
  if (status == ALOFT_OK)
    status = alo_gateway_try_server(run->gateway, &run->session.stop, error);
  if (status != ALOFT_OK)
    return report_refusal(status, "cannot connect to the SQL Server", error);
  status = alo_gateway_start(run->gateway, error);
  return status == ALOFT_OK ? ALO_EXIT_OK : report_refusal(status, "NATS", error);
}

static void print_ready(serving *run) {
  char line[64];
  for (size_t i = 0; i < run->folder.count; i++) {
    const alo_endpoint *endpoint = &run->folder.endpoints[i];
    alo_output_put(&run->output, endpoint->subject);
    alo_output_put(&run->output, ALOFT_TEXT(" "));
    alo_output_put_string(&run->output, endpoint->path);
    alo_output_put(&run->output, ALOFT_TEXT("\n"));
  }
  snprintf(line, sizeof line, "gateway ready: %zu endpoint%s\n", run->folder.count,
           run->folder.count == 1 ? "" : "s");
  alo_output_put_string(&run->output, line);
  alo_output_flush(&run->output);
}

/* ---- serving ---- */

static alo_exit turn_until_ended(serving *run) {
  while (!alo_gateway_get_state(run->gateway).ended) {
    if (alo_interrupt_signal() != 0)
      alo_gateway_drain(run->gateway);
    if (aloft_loop_turn(run->session.loop, ALOFT_FOREVER) != ALOFT_OK) {
      alo_report("waiting for the network failed");
      return ALO_EXIT_LOCAL;
    }
  }
  return alo_gateway_get_state(run->gateway).lost ? ALO_EXIT_CONNECTION : ALO_EXIT_OK;
}

static alo_exit serve(serving *run) {
  alo_exit code = open_gateway(run);
  if (code == ALO_EXIT_OK)
    code = alo_nats_session_flush(&run->session);
  if (code == ALO_EXIT_OK && run->session.refused)
    code = ALO_EXIT_ANSWER;
  if (code != ALO_EXIT_OK)
    return code;
  print_ready(run);
  code = turn_until_ended(run);
  alo_gateway_state state = alo_gateway_get_state(run->gateway);
  alo_note("gateway stopped: %" PRIu64 " replies, %" PRIu64 " of them errors; %" PRIu64
           " requests without a reply",
           state.answered, state.errors, state.unanswered);
  if (state.lost)
    alo_report("the connection to NATS was lost: start it again when the server is there");
  return code;
}

static alo_exit execute(serving *run, alo_nats_settings *settings, const char *path) {
  alo_interrupt_install();
  alo_exit code = check_values(run);
  if (code == ALO_EXIT_OK)
    code = load(run, path);
  if (code == ALO_EXIT_OK && !alo_output_open(&run->output, NULL))
    code = ALO_EXIT_LOCAL;
  if (code != ALO_EXIT_OK)
    return code;
  settings->verbose = run->values.verbose;
  code = alo_nats_session_open(&run->session, settings);
  if (code == ALO_EXIT_OK)
    code = serve(run);
  alo_gateway_close(run->gateway);
  bool drained = code == ALO_EXIT_OK;
  code = alo_nats_session_close(&run->session, code);
  alo_exit written = alo_output_close(&run->output);
  return drained ? written : code;
}

int alo_command_gateway(int argc, char **argv) {
  static serving run = {.values = {.pool = ALO_GATEWAY_CONNECTIONS,
                                   .concurrency = ALO_GATEWAY_REQUESTS,
                                   .drain_ns = ALO_GATEWAY_DRAIN}};
  alo_nats_settings settings;
  alo_option_group groups[] = {{.title = "Options",
                                .options = gateway_options,
                                .count = sizeof gateway_options / sizeof gateway_options[0],
                                .values = &run.values},
                               alo_nats_option_group(&settings, false)};
  alo_command_line line = {
      .synopsis = "aloft gateway [OPTION...] DIR",
      .summary = "Answers NATS requests from the SQL files in DIR: each NAME.sql is an endpoint.",
      .groups = groups,
      .group_count = 2,
      .arguments = {"DIR"},
      .required = 1,
  };
  alo_report_name("aloft gateway");
  alo_exit code = alo_command_line_read(&line, argc, argv);
  if (code == ALO_EXIT_OK && line.help)
    alo_command_line_help(&line);
  else if (code == ALO_EXIT_OK)
    code = execute(&run, &settings, line.operands[0]);
  alo_secret_wipe(&run.values.sql);
  alo_secret_wipe(&run.sql_password);
  alo_nats_settings_wipe(&settings);
  alo_endpoint_folder_free(&run.folder);
  return (int)code;
}
