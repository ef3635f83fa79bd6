#include "command.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

#include "interrupt.h"
#include "nats_header.h"
#include "nats_print.h"
#include "nats_session.h"
#include "random.h"

/* The requests that may wait for --sleep at one time, and the headers echoed. */
enum { WAITING_MAX = 1024, HEADERS_MAX = ALO_OPTION_LIST_MAX };

#define DEFAULT_QUEUE "NATS-RPLY-22"

typedef struct reply_values {
  const char *queue;
  alo_option_list header;
  int64_t count;
  uint64_t sleep_ns;
  bool echo;
} reply_values;

#define AT(member) offsetof(reply_values, member)

static const alo_option reply_options[] = {
    {.name = "echo",
     .kind = ALO_OPTION_FLAG,
     .help = "Answer with the request's own body and headers, as when there is no BODY.",
     .offset = AT(echo)},
    {.name = "queue",
     .letter = 'q',
     .kind = ALO_OPTION_TEXT,
     .value = "GROUP",
     .help = "The queue group whose members share the requests; by default " DEFAULT_QUEUE ".",
     .offset = AT(queue)},
    {.name = "header",
     .letter = 'H',
     .kind = ALO_OPTION_LIST,
     .value = "NAME:VALUE",
     .help = "Add a header to the replies; may be given several times.",
     .offset = AT(header)},
    {.name = "count",
     .kind = ALO_OPTION_NUMBER,
     .value = "N",
     .help = "End after N requests.",
     .offset = AT(count),
     .min = 1,
     .max = INT64_MAX},
    {.name = "sleep",
     .kind = ALO_OPTION_DURATION,
     .value = "MAX",
     .help = "Wait a random time up to MAX before each reply.",
     .offset = AT(sleep_ns)},
    {.name = "command",
     .kind = ALO_OPTION_REFUSED,
     .help = "replies are a BODY or an echo; for SQL use aloft gateway"},
    {.name = "templates", .kind = ALO_OPTION_REFUSED, .help = "bodies are sent as they are"},
};

typedef struct responder {
  reply_values values;
  alo_nats_session session;
  alo_nats_headers headers;
  alo_output output;
  aloft_text body;
  aloft_nats_subscription subscription;
  bool ended;
  alo_failure failure;
  uint64_t received;
  alo_exit code; /* of the first reply that could not be sent */

  aloft_op delay; /* of the oldest request that waits for --sleep */
  aloft_nats_kept *waiting[WAITING_MAX];
  size_t oldest, waiting_count;
  bool idle; /* nothing waits */
} responder;

static void print_request(responder *run, const aloft_nats_message *request) {
  char number[48];
  snprintf(number, sizeof number, "[#%" PRIu64 "] Received on subject ", run->received);
  alo_output_put_string(&run->output, number);
  alo_output_put_quoted(&run->output, request->subject);
  alo_output_put(&run->output, ALOFT_TEXT(":\n"));
  alo_nats_print_headers(&run->output, request);
  alo_nats_print_body(&run->output, request);
  if (!alo_output_flush(&run->output))
    aloft_nats_unsubscribe(&run->subscription);
}

/* The headers given, and when echoing those of the request. */
static size_t collect_headers(const responder *run, const aloft_nats_message *request,
                              aloft_nats_header headers[HEADERS_MAX]) {
  size_t count = 0;
  for (; count < run->headers.count; count++)
    headers[count] = run->headers.header[count];
  size_t cursor = 0;
  while (run->values.echo && count < HEADERS_MAX &&
         aloft_nats_header_next(request, &cursor, &headers[count]))
    count++;
  return count;
}

static void send_reply(responder *run, const aloft_nats_message *request) {
  aloft_nats_header headers[HEADERS_MAX];
  if (request->reply.data == NULL) {
    alo_note("The request names no subject for a reply; none is sent");
    return;
  }
  aloft_nats_message reply = {.subject = request->reply, .header = headers};
  reply.header_count = collect_headers(run, request, headers);
  reply.data = (aloft_bytes){run->body.data, run->body.size};
  if (run->values.echo)
    reply.data = request->data;
  aloft_status status = aloft_nats_publish(run->session.nats, &reply);
  if (status == ALOFT_OK)
    return;
  if (run->code == ALO_EXIT_OK)
    alo_report("a reply was not sent: %s: %s", aloft_status_meaning(status),
               aloft_status_advice(status));
  if (run->code == ALO_EXIT_OK)
    run->code = alo_exit_of(status);
}

/* ---- --sleep: requests wait in order, each for its own random time ---- */

static void answer_oldest(responder *run) {
  aloft_nats_kept *kept = run->waiting[run->oldest];
  run->oldest = (run->oldest + 1) % WAITING_MAX;
  run->waiting_count--;
  send_reply(run, aloft_nats_kept_message(kept));
  aloft_nats_kept_release(kept);
}

/* Once stopped or cut off, no delay starts any more, and what waits is answered at once. */
static void start_delay(responder *run) {
  bool hurry = run->ended && run->failure.status != ALOFT_OK;
  while (run->waiting_count > 0) {
    run->delay.timeout_ns = 1 + alo_random_below(run->values.sleep_ns);
    if (!hurry && aloft_sleep_start(run->session.loop, &run->delay) == ALOFT_OK)
      break;
    answer_oldest(run);
  }
  run->idle = run->waiting_count == 0;
}

static void end_delay(aloft_op *op, aloft_status status) {
  responder *run = ALOFT_CONTAINER(op, responder, delay);
  (void)status; /* however it ended, the request is answered */
  answer_oldest(run);
  start_delay(run);
}

static void keep_waiting(responder *run, const aloft_nats_message *request) {
  aloft_nats_kept *kept = NULL;
  aloft_status status = ALOFT_TOO_MANY;
  if (run->waiting_count < WAITING_MAX)
    status = aloft_nats_keep(run->session.nats, request, &kept);
  if (status != ALOFT_OK) {
    alo_report("a request is answered without --sleep: %s", aloft_status_meaning(status));
    send_reply(run, request);
    return;
  }
  run->waiting[(run->oldest + run->waiting_count++) % WAITING_MAX] = kept;
  if (run->idle)
    start_delay(run);
}

/* ---- the subscription ---- */

static void hear_request(aloft_nats_subscription *subscription, const aloft_nats_message *request) {
  responder *run = ALOFT_CONTAINER(subscription, responder, subscription);
  run->received++;
  print_request(run, request);
  if (run->values.sleep_ns > 0)
    keep_waiting(run, request);
  else
    send_reply(run, request);
}

static void end(aloft_op *op, aloft_status status) {
  responder *run = ALOFT_CONTAINER(op, responder, subscription.op);
  alo_failure_keep(&run->failure, status, op->error);
  run->ended = true;
  if (status != ALOFT_OK)
    aloft_op_cancel(&run->delay);
}

static alo_exit subscribe(responder *run, const char *subject) {
  const char *queue = run->values.queue != NULL ? run->values.queue : DEFAULT_QUEUE;
  run->subscription = (aloft_nats_subscription){
      .op = {.done = end, .cancel = &run->session.stop},
      .subject = aloft_text_of(subject),
      .queue = aloft_text_of(queue),
      .messages_max = (uint64_t)run->values.count,
      .message = hear_request,
  };
  aloft_status status = aloft_nats_subscribe(run->session.nats, &run->subscription);
  if (status != ALOFT_OK) {
    alo_failure_keep(&run->failure, status, run->subscription.op.error);
    return alo_failure_report(&run->failure, "cannot subscribe");
  }
  alo_exit code = alo_nats_session_flush(&run->session);
  if (code == ALO_EXIT_OK && run->session.refused)
    code = ALO_EXIT_ANSWER;
  if (code == ALO_EXIT_OK)
    alo_note("Listening on \"%s\" in group \"%s\"", subject, queue);
  return code;
}

static alo_exit serve(responder *run, const char *subject) {
  run->idle = true;
  run->delay = (aloft_op){.done = end_delay, .cancel = &run->session.stop};
  alo_exit code = subscribe(run, subject);
  if (code != ALO_EXIT_OK)
    return code;
  alo_nats_session_until(&run->session, &run->ended);
  alo_nats_session_until(&run->session, &run->idle);
  if (run->code != ALO_EXIT_OK)
    return run->code;
  if (run->failure.status == ALOFT_CANCELLED && run->values.count == 0)
    return ALO_EXIT_OK; /* a signal is how it ends */
  return alo_nats_session_result(&run->failure, "the subscription has ended");
}

static alo_exit execute(responder *run, alo_nats_settings *settings, const char *subject) {
  alo_interrupt_install();
  if (run->body.data == NULL && !run->values.echo) {
    alo_note("No body is given: answering with each request's own");
    run->values.echo = true;
  }
  alo_exit code = alo_nats_headers_read(&run->headers, &run->values.header);
  if (code != ALO_EXIT_OK || !alo_output_open(&run->output, NULL))
    return code != ALO_EXIT_OK ? code : ALO_EXIT_LOCAL;
  code = alo_nats_session_open(&run->session, settings);
  if (code == ALO_EXIT_OK)
    code = serve(run, subject);
  code = alo_nats_session_close(&run->session, code);
  alo_exit written = alo_output_close(&run->output);
  return code == ALO_EXIT_OK ? written : code;
}

int alo_command_reply(int argc, char **argv) {
  static responder run; /* large, and one */
  alo_nats_settings settings;
  alo_option_group groups[] = {{.title = "Options",
                                .options = reply_options,
                                .count = sizeof reply_options / sizeof reply_options[0],
                                .values = &run.values},
                               alo_nats_option_group(&settings, true)};
  alo_command_line line = {
      .synopsis = "aloft reply [OPTION...] SUBJECT [BODY]",
      .summary = "Answers the requests on SUBJECT with BODY, or with their own body.",
      .groups = groups,
      .group_count = 2,
      .arguments = {"SUBJECT", "BODY"},
      .required = 1,
  };
  alo_report_name("aloft reply");
  alo_exit code = alo_command_line_read(&line, argc, argv);
  run.body = aloft_text_of(line.operands[1]);
  if (code == ALO_EXIT_OK && run.values.echo && run.body.data != NULL)
    code = alo_report_usage("--echo and a body are given: leave one of them out");
  if (code == ALO_EXIT_OK && line.help)
    alo_command_line_help(&line);
  else if (code == ALO_EXIT_OK)
    code = execute(&run, &settings, line.operands[0]);
  alo_nats_settings_wipe(&settings);
  return (int)code;
}
