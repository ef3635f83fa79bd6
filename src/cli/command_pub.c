#include "command.h"

#include <stdint.h>

#include "interrupt.h"
#include "nats_body.h"
#include "nats_header.h"
#include "nats_session.h"

/* Above this many messages one line stands for all of them. */
enum { LINES_MAX = 20 };

typedef struct pub_values {
  const char *reply;
  alo_option_list header;
  int64_t count;
  uint64_t sleep_ns;
  bool force_stdin, quiet;
} pub_values;

#define AT(member)   offsetof(pub_values, member)
#define NO_JETSTREAM "JetStream is not part of this version; pub publishes without it"

static const alo_option pub_options[] = {
    {.name = "header",
     .letter = 'H',
     .kind = ALO_OPTION_LIST,
     .value = "NAME:VALUE",
     .help = "Add a header; may be given several times.",
     .offset = AT(header)},
    {.name = "reply",
     .kind = ALO_OPTION_TEXT,
     .value = "SUBJECT",
     .help = "The subject where answers are wanted.",
     .offset = AT(reply)},
    {.name = "count",
     .kind = ALO_OPTION_NUMBER,
     .value = "N",
     .help = "Publish the message N times; by default once.",
     .offset = AT(count),
     .min = 1,
     .max = INT64_MAX},
    {.name = "sleep",
     .kind = ALO_OPTION_DURATION,
     .value = "DURATION",
     .help = "Wait this long between messages.",
     .offset = AT(sleep_ns)},
    {.name = "force-stdin",
     .kind = ALO_OPTION_FLAG,
     .help = "Read the body from standard input, as when there is no BODY.",
     .offset = AT(force_stdin)},
    {.name = "quiet",
     .letter = 'q',
     .kind = ALO_OPTION_FLAG,
     .help = "Do not say what was published.",
     .offset = AT(quiet)},
    {.name = "send-on",
     .kind = ALO_OPTION_REFUSED,
     .help = "standard input is one body; run aloft pub for each line"},
    {.name = "templates",
     .kind = ALO_OPTION_REFUSED,
     .help = "bodies are sent as they are; let the shell fill them in"},
    {.name = "jetstream", .letter = 'J', .kind = ALO_OPTION_REFUSED, .help = NO_JETSTREAM},
    {.name = "atomic", .kind = ALO_OPTION_REFUSED, .help = NO_JETSTREAM},
};

typedef struct publication {
  pub_values values;
  alo_nats_session session;
  alo_nats_headers headers;
  alo_nats_body body;
} publication;

static alo_exit publish_all(publication *pub, const char *subject) {
  pub_values *values = &pub->values;
  aloft_nats_message message = {
      .subject = aloft_text_of(subject),
      .reply = aloft_text_of(values->reply),
      .data = pub->body.bytes,
      .header = pub->headers.header,
      .header_count = pub->headers.count,
  };
  bool lines = !values->quiet && values->count <= LINES_MAX;
  for (int64_t i = 0; i < values->count && !pub->session.refused; i++) {
    alo_exit code = alo_nats_session_sleep(&pub->session, i > 0 ? values->sleep_ns : 0);
    if (code == ALO_EXIT_OK)
      code = alo_nats_session_publish(&pub->session, &message);
    /* The last one is flushed by the caller. */
    if (code == ALO_EXIT_OK && i + 1 < values->count && (values->sleep_ns > 0 || i % 1024 == 0))
      code = alo_nats_session_flush(&pub->session);
    if (code != ALO_EXIT_OK)
      return code;
    if (lines)
      alo_note("Published %zu bytes to \"%s\"", message.data.size, subject);
  }
  return ALO_EXIT_OK;
}

static alo_exit run(publication *pub, const char *subject) {
  alo_exit code = publish_all(pub, subject);
  if (code == ALO_EXIT_OK)
    code = alo_nats_session_flush(&pub->session);
  if (code == ALO_EXIT_OK && pub->session.refused)
    code = ALO_EXIT_ANSWER;
  if (code == ALO_EXIT_OK && !pub->values.quiet && pub->values.count > LINES_MAX)
    alo_note("Published %lld messages of %zu bytes to \"%s\"", (long long)pub->values.count,
             pub->body.bytes.size, subject);
  return code;
}

static alo_exit prepare(publication *pub, const alo_command_line *line) {
  const char *body = line->operands[1];
  alo_exit code = alo_nats_headers_read(&pub->headers, &pub->values.header);
  if (code != ALO_EXIT_OK)
    return code;
  return alo_nats_body_read(&pub->body, body, body == NULL || pub->values.force_stdin);
}

static alo_exit execute(publication *pub, alo_nats_settings *settings,
                        const alo_command_line *line) {
  alo_interrupt_install();
  alo_exit code = prepare(pub, line);
  if (code == ALO_EXIT_OK) {
    code = alo_nats_session_open(&pub->session, settings);
    if (code == ALO_EXIT_OK)
      code = run(pub, line->operands[0]);
    code = alo_nats_session_close(&pub->session, code);
  }
  alo_input_free(&pub->body.input);
  return code;
}

int alo_command_pub(int argc, char **argv) {
  publication pub = {.values = {.count = 1}};
  alo_nats_settings settings;
  alo_option_group groups[] = {{.title = "Options",
                                .options = pub_options,
                                .count = sizeof pub_options / sizeof pub_options[0],
                                .values = &pub.values},
                               alo_nats_option_group(&settings, true)};
  alo_command_line line = {
      .synopsis = "aloft pub [OPTION...] SUBJECT [BODY]",
      .summary = "Publishes a message on SUBJECT. Without BODY the body is read from standard "
                 "input.",
      .groups = groups,
      .group_count = 2,
      .arguments = {"SUBJECT", "BODY"},
      .required = 1,
  };
  alo_report_name("aloft pub");
  alo_exit code = alo_command_line_read(&line, argc, argv);
  if (code == ALO_EXIT_OK && line.help)
    alo_command_line_help(&line);
  else if (code == ALO_EXIT_OK)
    code = execute(&pub, &settings, &line);
  alo_nats_settings_wipe(&settings);
  return (int)code;
}
