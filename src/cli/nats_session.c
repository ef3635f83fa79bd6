#include "nats_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interrupt.h"
#include "nats_encryption.h"

#define DEFAULT_SERVER "nats://127.0.0.1:4222"
#define NO_KEYS        "only user, password and token are part of this version; use those"

#define AT(member) offsetof(alo_nats_settings, member)

static const alo_option nats_options[] = {
    {.name = "server",
     .letter = 's',
     .kind = ALO_OPTION_URL,
     .value = "URL",
     .help = "The server, nats://HOST:PORT, or tls://HOST:PORT never to speak in clear; by "
             "default " DEFAULT_SERVER ".",
     .environment = "NATS_URL",
     .offset = AT(server)},
    {.name = "user",
     .kind = ALO_OPTION_TEXT,
     .value = "NAME",
     .help = "Log in as this user.",
     .environment = "NATS_USER",
     .offset = AT(user)},
    {.name = "password",
     .kind = ALO_OPTION_SECRET,
     .value = "TEXT",
     .help = "The user's password. Better in the environment or a file: others can see a command "
             "line until it is overwritten.",
     .environment = "NATS_PASSWORD",
     .offset = AT(password)},
    {.name = "password-file",
     .kind = ALO_OPTION_TEXT,
     .value = "FILE",
     .help = "Read the password from FILE, one line.",
     .offset = AT(password_file)},
    {.name = "token",
     .kind = ALO_OPTION_SECRET,
     .value = "TEXT",
     .help = "Log in with a token instead of user and password.",
     .environment = "NATS_TOKEN",
     .offset = AT(token)},
    {.name = "timeout",
     .kind = ALO_OPTION_DURATION,
     .value = "DURATION",
     .help = "How long to wait for the server, and for a reply: 5s, 250ms, 1m30s. By default 5s.",
     .environment = "NATS_TIMEOUT",
     .offset = AT(timeout_ns)},
    {.name = "connection-name",
     .kind = ALO_OPTION_TEXT,
     .value = "NAME",
     .help = "The connection's name in the server's monitoring.",
     .offset = AT(name)},
    {.name = "inbox-prefix",
     .kind = ALO_OPTION_TEXT,
     .value = "SUBJECT",
     .help = "What the subjects of replies begin with; by default _INBOX.",
     .environment = "NATS_INBOX_PREFIX",
     .offset = AT(inbox_prefix)},
    {.name = "tlsca",
     .kind = ALO_OPTION_TEXT,
     .value = "FILE",
     .help = "Trust the authorities in FILE (PEM), in place of the system's. With this or one of "
             "the next three the connection is encrypted or refused.",
     .environment = "NATS_CA",
     .offset = AT(tls_authorities)},
    {.name = "tlscert",
     .kind = ALO_OPTION_TEXT,
     .value = "FILE",
     .help = "Show the server the certificate in FILE (PEM).",
     .environment = "NATS_CERT",
     .offset = AT(tls_certificate)},
    {.name = "tlskey",
     .kind = ALO_OPTION_TEXT,
     .value = "FILE",
     .help = "The private key of --tlscert (PEM, without a passphrase).",
     .environment = "NATS_KEY",
     .offset = AT(tls_key)},
    {.name = "tlsfirst",
     .kind = ALO_OPTION_FLAG,
     .help = "Make the TLS handshake before the server speaks, as servers with handshake_first "
             "expect.",
     .offset = AT(tls_first)},
    {.name = "context",
     .kind = ALO_OPTION_REFUSED,
     .help = "contexts of the nats tool are not read; give --server, --user and NATS_PASSWORD"},
    {.name = "creds", .kind = ALO_OPTION_REFUSED, .help = NO_KEYS, .environment = "NATS_CREDS"},
    {.name = "nkey", .kind = ALO_OPTION_REFUSED, .help = NO_KEYS, .environment = "NATS_NKEY"},
    {.name = "trace",
     .kind = ALO_OPTION_REFUSED,
     .help = "there is no protocol trace; use nats-server -DV"},
    {.name = "verbose", /* the last, for some commands have their own */
     .kind = ALO_OPTION_FLAG,
     .help = "Tell on standard error how the connection is encrypted, and what certificate the "
             "server has shown.",
     .offset = AT(verbose)},
};

alo_option_group alo_nats_option_group(alo_nats_settings *settings, bool verbose) {
  *settings = (alo_nats_settings){.timeout_ns = ALOFT_SECONDS(5)};
  size_t count = sizeof nats_options / sizeof nats_options[0];
  return (alo_option_group){.title = "Connection options",
                            .options = nats_options,
                            .count = verbose ? count : count - 1,
                            .values = settings};
}

/* ---- tasks ---- */

void alo_task_done(aloft_op *op, aloft_status status) {
  alo_task *task = ALOFT_CONTAINER(op, alo_task, op);
  alo_failure_keep(&task->failure, status, op->error);
  task->done = true;
}

void alo_task_init(alo_task *task, uint64_t timeout_ns, aloft_cancel *cancel) {
  *task = (alo_task){.op = {.done = alo_task_done, .timeout_ns = timeout_ns, .cancel = cancel}};
}

/* After a start of the task's op that returned `status`: waits for its end. */
static const alo_failure *finish(alo_nats_session *session, alo_task *task, aloft_status status) {
  if (status != ALOFT_OK)
    alo_failure_keep(&task->failure, status, task->op.error);
  else
    alo_nats_session_until(session, &task->done);
  return &task->failure;
}

void alo_nats_session_until(alo_nats_session *session, const bool *done) {
  while (!*done) {
    aloft_status status = aloft_loop_turn(session->loop, ALOFT_FOREVER);
    if (status != ALOFT_OK) {
      alo_report("waiting for the network failed: %s", aloft_status_meaning(status));
      exit(ALO_EXIT_LOCAL);
    }
  }
}

alo_exit alo_nats_session_result(const alo_failure *failure, const char *what) {
  if (failure->status == ALOFT_OK)
    return ALO_EXIT_OK;
  if (failure->status == ALOFT_CANCELLED && alo_interrupt_signal() != 0)
    return alo_interrupt_exit(ALO_EXIT_OK);
  return alo_failure_report(failure, what);
}

/* ---- credentials ---- */

static bool has_credentials(const alo_nats_settings *settings) {
  return settings->password.data != NULL || settings->token.data != NULL;
}

static alo_exit complete_credentials(alo_nats_settings *settings) {
  if (settings->password_file != NULL) {
    alo_secret_wipe(&settings->password);
    if (!alo_secret_read_file(&settings->password, settings->password_file))
      return ALO_EXIT_LOCAL;
  }
  if (settings->user != NULL && settings->token.data != NULL)
    return alo_report_usage("a token and a user are given: leave one of them out");
  if (settings->user != NULL && !has_credentials(settings) &&
      !alo_secret_prompt(&settings->password,
                         "Password: ", "set NATS_PASSWORD, or give --password-file"))
    return ALO_EXIT_USAGE;
  if (settings->user == NULL && settings->password.data != NULL)
    return alo_report_usage("a password is given without a user: add --user NAME or NATS_USER, or "
                            "leave the password out");
  return ALO_EXIT_OK;
}

void alo_nats_settings_wipe(alo_nats_settings *settings) {
  alo_secret_wipe(&settings->password);
  alo_secret_wipe(&settings->token);
  alo_secret_wipe(&settings->server);
}

/* ---- connecting ---- */

static void hear_event(aloft_nats *nats, aloft_nats_event event, const aloft_error *error,
                       void *context) {
  alo_nats_session *session = context;
  (void)nats;
  if (event != ALOFT_NATS_ERROR && event != ALOFT_NATS_DROPPED)
    return;
  alo_report("the server refused: %.*s", ALOFT_PRINT(error->message));
  session->refused = true;
}

static aloft_text server_url(const alo_nats_settings *settings) {
  if (settings->server.data == NULL)
    return ALOFT_TEXT(DEFAULT_SERVER);
  return alo_secret_text(&settings->server);
}

/* The server without user and password, for errors. */
static void write_server(const alo_nats_settings *settings, char *text, size_t size) {
  aloft_text url = server_url(settings);
  size_t begin = 0;
  for (size_t i = 0; i < url.size; i++) {
    if (url.data[i] == '@')
      begin = i + 1;
  }
  snprintf(text, size, "%.*s", (int)(url.size - begin), url.data + begin);
}

static alo_exit connect_to(alo_nats_session *session, const char *what) {
  alo_nats_settings *settings = session->settings;
  bool login = settings->user != NULL;
  aloft_nats_config config = {
      .size = sizeof config,
      .url = server_url(settings),
      .user = aloft_text_of(settings->user),
      .password = login ? alo_secret_text(&settings->password) : (aloft_text){0},
      .token = alo_secret_text(&settings->token),
      .name = aloft_text_of(settings->name != NULL ? settings->name : "aloft"),
      .inbox_prefix = aloft_text_of(settings->inbox_prefix),
      .connect_timeout_ns = settings->timeout_ns,
      .event = hear_event,
      .context = session,
  };
  alo_nats_encryption_ask(settings, &config);
  alo_task task;
  alo_task_init(&task, 0, &session->stop);
  aloft_status status = aloft_nats_open(&session->nats, session->loop, &config, &task.op);
  if (status != ALOFT_OK)
    session->nats = NULL;
  const alo_failure *failure = finish(session, &task, status);
  if (failure->status == ALOFT_OK && settings->verbose)
    alo_nats_encryption_tell(session->nats);
  if (failure->status == ALOFT_OK || alo_interrupt_signal() != 0)
    return alo_interrupt_exit(ALO_EXIT_OK);
  alo_nats_encryption_name_options(&task.failure);
  return alo_failure_report_connect(failure, what);
}

alo_exit alo_nats_session_open(alo_nats_session *session, alo_nats_settings *settings) {
  char server[256], what[300];
  *session = (alo_nats_session){.settings = settings};
  alo_exit code = complete_credentials(settings);
  if (code == ALO_EXIT_OK)
    code = alo_nats_encryption_check(settings);
  if (code == ALO_EXIT_OK && settings->timeout_ns == 0)
    code = alo_report_usage("--timeout is 0: give a longer one, such as 5s");
  write_server(settings, server, sizeof server);
  if (code == ALO_EXIT_OK && settings->server.data == NULL && getenv("NATS_CONTEXT") != NULL)
    code = alo_report_usage("NATS_CONTEXT is set, but contexts of the nats tool are not read: give "
                            "--server URL");
  if (code == ALO_EXIT_OK && strchr(server, ',') != NULL)
    code = alo_report_usage("--server names several servers: give one");
  if (code == ALO_EXIT_OK && aloft_loop_open(&session->loop, NULL) != ALOFT_OK) {
    alo_report("no event loop: out of memory or descriptors");
    code = ALO_EXIT_LOCAL;
  }
  if (session->loop != NULL) {
    aloft_cancel_init(&session->stop, session->loop, NULL);
    alo_interrupt_cancels(&session->stop);
    snprintf(what, sizeof what, "cannot connect to %s", server);
    code = connect_to(session, what);
  }
  alo_nats_settings_wipe(settings);
  return code;
}

alo_exit alo_nats_session_close(alo_nats_session *session, alo_exit code) {
  if (session->nats != NULL) {
    alo_task task;
    alo_task_init(&task, ALOFT_SECONDS(1), NULL);
    finish(session, &task, aloft_nats_close(session->nats, &task.op));
  }
  alo_interrupt_cancels(NULL);
  if (session->loop != NULL) {
    aloft_loop_close(session->loop);
    aloft_cancel_fini(&session->stop);
  }
  if (code == ALO_EXIT_OK && session->refused)
    code = ALO_EXIT_ANSWER;
  return code == ALO_EXIT_OK ? code : alo_interrupt_exit(code);
}

/* ---- while connected ---- */

alo_exit alo_nats_session_flush(alo_nats_session *session) {
  alo_task task;
  alo_task_init(&task, session->settings->timeout_ns, &session->stop);
  const alo_failure *failure = finish(session, &task, aloft_nats_flush(session->nats, &task.op));
  return alo_nats_session_result(failure, "the server has not confirmed what was sent");
}

alo_exit alo_nats_session_sleep(alo_nats_session *session, uint64_t ns) {
  alo_task task;
  if (ns == 0)
    return ALO_EXIT_OK;
  alo_task_init(&task, ns, &session->stop);
  finish(session, &task, aloft_sleep_start(session->loop, &task.op));
  return alo_interrupt_exit(ALO_EXIT_OK);
}

alo_exit alo_nats_session_publish(alo_nats_session *session, const aloft_nats_message *message) {
  aloft_status status = aloft_nats_publish(session->nats, message);
  if (status == ALOFT_FULL) {
    alo_exit code = alo_nats_session_flush(session);
    if (code != ALO_EXIT_OK)
      return code;
    status = aloft_nats_publish(session->nats, message);
  }
  if (status == ALOFT_OK)
    return ALO_EXIT_OK;
  if (status == ALOFT_TOO_LARGE) {
    aloft_nats_info info = {.size = sizeof info};
    aloft_nats_get_info(session->nats, &info);
    alo_report("the message has %zu bytes, and the server takes at most %llu (headers included): "
               "send less, or raise max_payload in the server",
               message->data.size, (unsigned long long)info.max_payload);
    return ALO_EXIT_LOCAL;
  }
  alo_failure failure;
  alo_failure_keep(&failure, status, NULL);
  return alo_failure_report(&failure, "cannot publish");
}
