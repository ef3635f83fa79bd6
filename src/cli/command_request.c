#include "command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include "duration.h"
#include "interrupt.h"
#include "nats_body.h"
#include "nats_header.h"
#include "nats_print.h"
#include "nats_session.h"
#include "random.h"

typedef struct request_values {
  alo_option_list header;
  int64_t count, replies;
  uint64_t reply_timeout_ns;
  bool raw, force_stdin;
} request_values;

#define AT(member) offsetof(request_values, member)

static const alo_option request_options[] = {
    {.name = "header",
     .letter = 'H',
     .kind = ALO_OPTION_LIST,
     .value = "NAME:VALUE",
     .help = "Add a header; may be given several times.",
     .offset = AT(header)},
    {.name = "raw",
     .letter = 'r',
     .kind = ALO_OPTION_FLAG,
     .help = "Print only the body of each reply, followed by a line ending.",
     .offset = AT(raw)},
    {.name = "count",
     .kind = ALO_OPTION_NUMBER,
     .value = "N",
     .help = "Send the request N times, one after the other; by default once.",
     .offset = AT(count),
     .min = 1,
     .max = INT64_MAX},
    {.name = "replies",
     .kind = ALO_OPTION_NUMBER,
     .value = "N",
     .help = "Wait for N replies to each request; 0: for all until the timeout. By default 1.",
     .offset = AT(replies),
     .min = 0,
     .max = INT64_MAX},
    {.name = "reply-timeout",
     .kind = ALO_OPTION_DURATION,
     .value = "DURATION",
     .help = "With --replies above 1: the longest wait for each reply after the first. By default "
             "300ms.",
     .offset = AT(reply_timeout_ns)},
    {.name = "force-stdin",
     .kind = ALO_OPTION_FLAG,
     .help = "Read the body from standard input. Without this and without BODY it is empty.",
     .offset = AT(force_stdin)},
    {.name = "replies-all",
     .kind = ALO_OPTION_REFUSED,
     .help = "give --replies N, or --replies 0 for all until the timeout"},
    {.name = "translate", .kind = ALO_OPTION_REFUSED, .help = "use --raw and a pipe"},
    {.name = "send-on",
     .kind = ALO_OPTION_REFUSED,
     .help = "standard input is one body; run aloft request for each line"},
    {.name = "templates",
     .kind = ALO_OPTION_REFUSED,
     .help = "bodies are sent as they are; let the shell fill them in"},
};

typedef struct inquiry {
  request_values values;
  alo_nats_session session;
  alo_nats_headers headers;
  alo_nats_body body;
  alo_output output;
  const char *subject;
  uint64_t started_ns;
  bool service_error; /* a reply said that the service failed */

  aloft_nats_request request; /* one reply */
  bool done;
  alo_failure failure;

  aloft_nats_subscription inbox; /* several replies */
  aloft_op patience;
  int64_t received;
} inquiry;

/* A reply of a service that failed says so in its headers. */
static void look_for_service_error(inquiry *ask, const aloft_nats_message *reply) {
  aloft_text code = {0}, text = {0};
  if (!aloft_nats_header_find(reply, ALOFT_TEXT("Nats-Service-Error-Code"), &code))
    return;
  aloft_nats_header_find(reply, ALOFT_TEXT("Nats-Service-Error"), &text);
  alo_report("the service answered with error %.*s: %.*s", ALOFT_PRINT(code), ALOFT_PRINT(text));
  ask->service_error = true;
}

static void print_reply(inquiry *ask, const aloft_nats_message *reply) {
  if (!ask->values.raw) {
    char rtt[ALO_DURATION_TEXT];
    aloft_nats_header header;
    alo_duration_write(aloft_loop_now(ask->session.loop) - ask->started_ns, rtt);
    alo_note("Received with rtt %s", rtt);
    for (size_t cursor = 0; aloft_nats_header_next(reply, &cursor, &header);)
      alo_note("%.*s: %.*s", ALOFT_PRINT(header.name), ALOFT_PRINT(header.value));
  }
  alo_nats_print_body(&ask->output, reply);
  alo_output_flush(&ask->output);
  look_for_service_error(ask, reply);
}

/* ---- one reply: a request ---- */

static void answered(aloft_op *op, aloft_status status) {
  inquiry *ask = ALOFT_CONTAINER(op, inquiry, request.op);
  alo_failure_keep(&ask->failure, status, op->error);
  if (status == ALOFT_OK)
    print_reply(ask, &ask->request.reply);
  ask->done = true;
}

static alo_exit refuse_size(const inquiry *ask) {
  aloft_nats_info info = {.size = sizeof info};
  aloft_nats_get_info(ask->session.nats, &info);
  alo_report("the request has %zu bytes, and the server takes at most %" PRIu64
             " (headers included): send less, or raise max_payload in the server",
             ask->body.bytes.size, info.max_payload);
  return ALO_EXIT_LOCAL;
}

static alo_exit ask_for_one(inquiry *ask) {
  ask->request = (aloft_nats_request){
      .op = {.done = answered,
             .timeout_ns = ask->session.settings->timeout_ns,
             .cancel = &ask->session.stop},
      .subject = aloft_text_of(ask->subject),
      .data = ask->body.bytes,
      .header = ask->headers.header,
      .header_count = ask->headers.count,
  };
  ask->done = false;
  aloft_status status = aloft_nats_request_start(ask->session.nats, &ask->request);
  if (status == ALOFT_TOO_LARGE)
    return refuse_size(ask);
  if (status != ALOFT_OK)
    alo_failure_keep(&ask->failure, status, ask->request.op.error);
  else
    alo_nats_session_until(&ask->session, &ask->done);
  alo_failure_advise_on_loss(&ask->failure);
  return alo_nats_session_result(&ask->failure, ask->subject);
}

/* ---- several replies: a subscription on an inbox of its own ---- */

static void end_inbox(aloft_op *op, aloft_status status) {
  inquiry *ask = ALOFT_CONTAINER(op, inquiry, inbox.op);
  if (ask->failure.status == ALOFT_OK)
    alo_failure_keep(&ask->failure, status, op->error);
  ask->done = true;
}

static void lose_patience(aloft_op *op, aloft_status status) {
  inquiry *ask = ALOFT_CONTAINER(op, inquiry, patience);
  if (status == ALOFT_TIMEOUT)
    aloft_nats_unsubscribe(&ask->inbox);
}

static void hear_reply(aloft_nats_subscription *inbox, const aloft_nats_message *reply) {
  inquiry *ask = ALOFT_CONTAINER(inbox, inquiry, inbox);
  uint64_t now = aloft_loop_now(ask->session.loop);
  if (reply->status == 503 && reply->data.size == 0) {
    alo_failure_keep(&ask->failure, ALOFT_NO_RESPONDERS, NULL);
    aloft_nats_unsubscribe(inbox);
    return;
  }
  print_reply(ask, reply);
  ask->received++;
  if (ask->output.error != 0 || ask->received == ask->values.replies)
    aloft_nats_unsubscribe(inbox);
  else if (ask->values.replies > 0)
    ask->patience.deadline_ns = now + ask->values.reply_timeout_ns;
}

/* Waits for the inbox's end; the timer starts again when a reply has moved its deadline. */
static void wait_for_replies(inquiry *ask) {
  aloft_op *patience = &ask->patience;
  aloft_loop *loop = ask->session.loop;
  uint64_t armed_ns = 0;
  while (!ask->done) {
    if (armed_ns != patience->deadline_ns) {
      armed_ns = patience->deadline_ns;
      aloft_op_cancel(patience);
      while (aloft_op_in_flight(patience))
        aloft_loop_turn(loop, 0);
      if (!ask->done && aloft_sleep_start(loop, patience) == ALOFT_TIMEOUT)
        aloft_nats_unsubscribe(&ask->inbox);
    }
    if (!ask->done)
      aloft_loop_turn(loop, ALOFT_FOREVER);
  }
  aloft_op_cancel(patience);
  while (aloft_op_in_flight(patience))
    aloft_loop_turn(loop, 0);
}

static alo_exit judge_replies(const inquiry *ask) {
  if (ask->failure.status != ALOFT_OK)
    return alo_nats_session_result(&ask->failure, ask->subject);
  if (ask->received > 0 && ask->received >= ask->values.replies)
    return ALO_EXIT_OK;
  if (ask->output.error != 0)
    return ALO_EXIT_OK; /* reported when the output is closed */
  alo_report("%s: %" PRId64 " of %" PRId64 " replies came in time: give more --timeout or "
             "--reply-timeout",
             ask->subject, ask->received, ask->values.replies);
  return ALO_EXIT_TIMEOUT;
}

static alo_exit ask_for_several(inquiry *ask) {
  const char *prefix = ask->session.settings->inbox_prefix;
  char name[23], subject[256];
  alo_random_name(name, sizeof name);
  snprintf(subject, sizeof subject, "%s.%s", prefix != NULL ? prefix : "_INBOX", name);
  ask->inbox = (aloft_nats_subscription){.op = {.done = end_inbox, .cancel = &ask->session.stop},
                                         .subject = aloft_text_of(subject),
                                         .message = hear_reply};
  ask->done = false;
  ask->received = 0;
  ask->failure.status = ALOFT_OK;
  aloft_status status = aloft_nats_subscribe(ask->session.nats, &ask->inbox);
  if (status != ALOFT_OK) {
    alo_failure_keep(&ask->failure, status, ask->inbox.op.error);
    return alo_failure_report(&ask->failure, "cannot subscribe to replies");
  }
  aloft_nats_message message = {.subject = aloft_text_of(ask->subject),
                                .reply = aloft_text_of(subject),
                                .data = ask->body.bytes,
                                .header = ask->headers.header,
                                .header_count = ask->headers.count};
  alo_exit code = alo_nats_session_publish(&ask->session, &message);
  if (code != ALO_EXIT_OK) {
    aloft_nats_unsubscribe(&ask->inbox);
    alo_nats_session_until(&ask->session, &ask->done);
    return code;
  }
  ask->patience = (aloft_op){.done = lose_patience,
                             .deadline_ns = ask->started_ns + ask->session.settings->timeout_ns};
  wait_for_replies(ask);
  return judge_replies(ask);
}

/* ---- the command ---- */

static alo_exit ask_all(inquiry *ask) {
  alo_exit code = ALO_EXIT_OK;
  for (int64_t i = 0; i < ask->values.count && code == ALO_EXIT_OK; i++) {
    if (!ask->values.raw)
      alo_note("Sending request on \"%s\"", ask->subject);
    ask->started_ns = aloft_loop_now(ask->session.loop);
    code = ask->values.replies == 1 ? ask_for_one(ask) : ask_for_several(ask);
    if (ask->output.error != 0)
      break;
  }
  return code == ALO_EXIT_OK && ask->service_error ? ALO_EXIT_ANSWER : code;
}

static alo_exit prepare(inquiry *ask, const alo_command_line *line) {
  ask->subject = line->operands[0];
  alo_exit code = alo_nats_headers_read(&ask->headers, &ask->values.header);
  if (code == ALO_EXIT_OK)
    code = alo_nats_body_read(&ask->body, line->operands[1], ask->values.force_stdin);
  if (code == ALO_EXIT_OK && !alo_output_open(&ask->output, NULL))
    code = ALO_EXIT_LOCAL;
  return code;
}

static alo_exit execute(inquiry *ask, alo_nats_settings *settings, const alo_command_line *line) {
  alo_interrupt_install();
  alo_exit code = prepare(ask, line);
  if (code == ALO_EXIT_OK) {
    code = alo_nats_session_open(&ask->session, settings);
    if (code == ALO_EXIT_OK)
      code = ask_all(ask);
    code = alo_nats_session_close(&ask->session, code);
    alo_exit written = alo_output_close(&ask->output);
    bool stopped = ask->output.error == EINTR && alo_interrupt_signal() != 0;
    code = stopped ? alo_interrupt_exit(code) : code == ALO_EXIT_OK ? written : code;
  }
  alo_input_free(&ask->body.input);
  return code;
}

int alo_command_request(int argc, char **argv) {
  inquiry ask = {.values = {.count = 1, .replies = 1, .reply_timeout_ns = ALOFT_MILLISECONDS(300)}};
  alo_nats_settings settings;
  alo_option_group groups[] = {{.title = "Options",
                                .options = request_options,
                                .count = sizeof request_options / sizeof request_options[0],
                                .values = &ask.values},
                               alo_nats_option_group(&settings, true)};
  alo_command_line line = {
      .synopsis = "aloft request [OPTION...] SUBJECT [BODY]",
      .summary = "Sends a request on SUBJECT and prints the reply.",
      .groups = groups,
      .group_count = 2,
      .arguments = {"SUBJECT", "BODY"},
      .required = 1,
  };
  alo_report_name("aloft request");
  alo_exit code = alo_command_line_read(&line, argc, argv);
  if (code == ALO_EXIT_OK && alo_option_given(&groups[0], "reply-timeout") &&
      ask.values.replies < 2)
    code = alo_report_usage("--reply-timeout has a meaning only with --replies above 1");
  if (code == ALO_EXIT_OK && line.help)
    alo_command_line_help(&line);
  else if (code == ALO_EXIT_OK)
    code = execute(&ask, &settings, &line);
  alo_nats_settings_wipe(&settings);
  return (int)code;
}
