#include "command.h"

#include <inttypes.h>
#include <stdint.h>

#include "interrupt.h"
#include "nats_print.h"
#include "nats_session.h"

typedef struct sub_values {
  const char *queue;
  int64_t count;
  uint64_t wait_ns;
  bool raw, headers_only;
} sub_values;

#define AT(member)   offsetof(sub_values, member)
#define NO_JETSTREAM "JetStream is not part of this version; sub shows messages as they come"
#define NO_DUMP      "messages go to standard output; use --raw and redirect it"

static const alo_option sub_options[] = {
    {.name = "queue",
     .kind = ALO_OPTION_TEXT,
     .value = "GROUP",
     .help = "Join a queue group: each message goes to one member.",
     .offset = AT(queue)},
    {.name = "count",
     .kind = ALO_OPTION_NUMBER,
     .value = "N",
     .help = "End after N messages.",
     .offset = AT(count),
     .min = 1,
     .max = INT64_MAX},
    {.name = "wait",
     .kind = ALO_OPTION_DURATION,
     .value = "DURATION",
     .help = "End when no message has come for this long.",
     .offset = AT(wait_ns)},
    {.name = "raw",
     .letter = 'r',
     .kind = ALO_OPTION_FLAG,
     .help = "Print only the bodies, each followed by a line ending.",
     .offset = AT(raw)},
    {.name = "headers-only",
     .kind = ALO_OPTION_FLAG,
     .help = "Print no bodies.",
     .offset = AT(headers_only)},
    {.name = "dump", .kind = ALO_OPTION_REFUSED, .help = NO_DUMP},
    {.name = "inbox",
     .letter = 'i',
     .kind = ALO_OPTION_REFUSED,
     .help = "name the subject; aloft request makes inboxes by itself"},
    {.name = "match-replies",
     .kind = ALO_OPTION_REFUSED,
     .help = "subscribe to '_INBOX.>' as well"},
    {.name = "translate", .kind = ALO_OPTION_REFUSED, .help = "use --raw and a pipe"},
    {.name = "durable", .kind = ALO_OPTION_REFUSED, .help = NO_JETSTREAM},
    {.name = "ack", .kind = ALO_OPTION_REFUSED, .help = NO_JETSTREAM},
    {.name = "stream", .kind = ALO_OPTION_REFUSED, .help = NO_JETSTREAM},
    {.name = "start-sequence", .kind = ALO_OPTION_REFUSED, .help = NO_JETSTREAM},
    {.name = "all", .kind = ALO_OPTION_REFUSED, .help = NO_JETSTREAM},
    {.name = "new", .kind = ALO_OPTION_REFUSED, .help = NO_JETSTREAM},
    {.name = "last", .kind = ALO_OPTION_REFUSED, .help = NO_JETSTREAM},
    {.name = "since", .kind = ALO_OPTION_REFUSED, .help = NO_JETSTREAM},
    {.name = "last-per-subject", .kind = ALO_OPTION_REFUSED, .help = NO_JETSTREAM},
};

typedef struct listener {
  sub_values values;
  alo_nats_session session;
  alo_output output;
  aloft_nats_subscription subscription;
  bool ended;
  alo_failure failure;
  aloft_op idle;    /* the timer of --wait */
  uint64_t last_ns; /* when a message came last */
  bool idled;       /* --wait was over */
  uint64_t shown;
} listener;

static void print_message(listener *sub, const aloft_nats_message *message) {
  alo_output *output = &sub->output;
  char number[48];
  if (!sub->values.raw) {
    snprintf(number, sizeof number, "[#%" PRIu64 "] Received on ", sub->shown);
    alo_output_put_string(output, number);
    alo_output_put_quoted(output, message->subject);
    if (message->reply.data != NULL) {
      alo_output_put(output, ALOFT_TEXT(" with reply "));
      alo_output_put_quoted(output, message->reply);
    }
    alo_output_put(output, ALOFT_TEXT("\n"));
  }
  if (!sub->values.raw || sub->values.headers_only)
    alo_nats_print_headers(output, message);
  if (!sub->values.headers_only)
    alo_nats_print_body(output, message);
  if (!sub->values.raw && !sub->values.headers_only)
    alo_output_put(output, ALOFT_TEXT("\n"));
}

static void hear_message(aloft_nats_subscription *subscription, const aloft_nats_message *message) {
  listener *sub = ALOFT_CONTAINER(subscription, listener, subscription);
  sub->last_ns = aloft_loop_now(sub->session.loop);
  sub->shown++;
  print_message(sub, message);
  if (!alo_output_flush(&sub->output))
    aloft_nats_unsubscribe(subscription);
}

static void end(aloft_op *op, aloft_status status) {
  listener *sub = ALOFT_CONTAINER(op, listener, subscription.op);
  alo_failure_keep(&sub->failure, status, op->error);
  sub->ended = true;
}

static void arm_idle(listener *sub) {
  sub->idle.deadline_ns = sub->last_ns + sub->values.wait_ns;
  aloft_sleep_start(sub->session.loop, &sub->idle);
}

static void look_idle(aloft_op *op, aloft_status status) {
  listener *sub = ALOFT_CONTAINER(op, listener, idle);
  if (status != ALOFT_TIMEOUT || sub->ended)
    return;
  if (aloft_loop_now(sub->session.loop) - sub->last_ns < sub->values.wait_ns) {
    arm_idle(sub);
    return;
  }
  sub->idled = true;
  aloft_nats_unsubscribe(&sub->subscription);
}

static alo_exit subscribe(listener *sub, const char *subject) {
  sub->subscription = (aloft_nats_subscription){
      .op = {.done = end, .cancel = &sub->session.stop},
      .subject = aloft_text_of(subject),
      .queue = aloft_text_of(sub->values.queue),
      .messages_max = (uint64_t)sub->values.count,
      .message = hear_message,
  };
  aloft_status status = aloft_nats_subscribe(sub->session.nats, &sub->subscription);
  if (status != ALOFT_OK) {
    alo_failure_keep(&sub->failure, status, sub->subscription.op.error);
    sub->ended = true;
    return alo_failure_report(&sub->failure, "cannot subscribe");
  }
  alo_exit code = alo_nats_session_flush(&sub->session);
  if (code == ALO_EXIT_OK && sub->session.refused)
    code = ALO_EXIT_ANSWER;
  if (code == ALO_EXIT_OK && !sub->values.raw)
    alo_note("Subscribing on %s", subject);
  return code;
}

/* How a subscription that worked has ended. */
static alo_exit judge(const listener *sub) {
  uint64_t wanted = (uint64_t)sub->values.count;
  if (sub->failure.status == ALOFT_CANCELLED && wanted == 0)
    return ALO_EXIT_OK; /* a signal is how it ends */
  if (sub->idled && sub->shown < wanted) {
    alo_report("%" PRIu64 " of %" PRIu64 " messages came before --wait was over", sub->shown,
               wanted);
    return ALO_EXIT_TIMEOUT;
  }
  return alo_nats_session_result(&sub->failure, "the subscription has ended");
}

static alo_exit run(listener *sub, const char *subject) {
  alo_exit code = subscribe(sub, subject);
  if (code != ALO_EXIT_OK)
    return code;
  sub->last_ns = aloft_loop_now(sub->session.loop);
  sub->idle.done = look_idle;
  if (sub->values.wait_ns > 0 && !sub->ended)
    arm_idle(sub);
  alo_nats_session_until(&sub->session, &sub->ended);
  return judge(sub);
}

static alo_exit execute(listener *sub, alo_nats_settings *settings, const char *subject) {
  alo_interrupt_install();
  if (!alo_output_open(&sub->output, NULL))
    return ALO_EXIT_LOCAL;
  alo_exit code = alo_nats_session_open(&sub->session, settings);
  if (code == ALO_EXIT_OK)
    code = run(sub, subject);
  code = alo_nats_session_close(&sub->session, code);
  alo_exit written = alo_output_close(&sub->output);
  return code == ALO_EXIT_OK ? written : code;
}

int alo_command_sub(int argc, char **argv) {
  listener sub = {.failure = {.status = ALOFT_OK}};
  alo_nats_settings settings;
  alo_option_group groups[] = {{.title = "Options",
                                .options = sub_options,
                                .count = sizeof sub_options / sizeof sub_options[0],
                                .values = &sub.values},
                               alo_nats_option_group(&settings, true)};
  alo_command_line line = {
      .synopsis = "aloft sub [OPTION...] SUBJECT",
      .summary = "Prints the messages published on SUBJECT, which may hold the wildcards * and >.",
      .groups = groups,
      .group_count = 2,
      .arguments = {"SUBJECT"},
      .required = 1,
  };
  alo_report_name("aloft sub");
  alo_exit code = alo_command_line_read(&line, argc, argv);
  if (code == ALO_EXIT_OK && line.help)
    alo_command_line_help(&line);
  else if (code == ALO_EXIT_OK)
    code = execute(&sub, &settings, line.operands[0]);
  alo_nats_settings_wipe(&settings);
  return (int)code;
}
