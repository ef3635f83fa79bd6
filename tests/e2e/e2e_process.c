#define _XOPEN_SOURCE 700 /* posix_openpt */

#include "e2e_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
  #include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { SILENCE_MS = 30000 };

extern char **environ;

static void clean_environment(const char *const *environment) {
  static const char *const names[] = {
      "NATS_URL",     "NATS_USER",         "NATS_PASSWORD",      "NATS_TOKEN",     "NATS_TIMEOUT",
      "NATS_CONTEXT", "NATS_CREDS",        "NATS_NKEY",          "NATS_CERT",      "NATS_KEY",
      "NATS_CA",      "NATS_INBOX_PREFIX", "SQLCMDUSER",         "SQLCMDPASSWORD", "SQLCMDSERVER",
      "SQLCMDDBNAME", "ALOFT_SQL",         "ALOFT_LITE_PASSWORD"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    unsetenv(names[i]);
  for (; environment != NULL && *environment != NULL; environment++)
    putenv((char *)(uintptr_t)*environment);
}

/* A test that fails leaves nothing running. */
static void die_with_test(void) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}

static void become(const char *const *argv, const char *const *environment, const int pipes[6],
                   e2e_outputs outputs) {
  setsid(); /* without a terminal nothing can ask for a password */
  die_with_test();
  clean_environment(environment);
  dup2(pipes[0], STDIN_FILENO);
  dup2(pipes[3], STDOUT_FILENO);
  dup2(pipes[5], STDERR_FILENO);
  for (int i = 0; i < 6; i++)
    close(pipes[i]);
  if (outputs == E2E_OUTPUT_CLOSED)
    close(STDOUT_FILENO);
  execv(argv[0], (char *const *)(uintptr_t)argv);
  _exit(127);
}

void e2e_start(e2e_process *process, const char *const *argv, const char *const *environment,
               e2e_outputs outputs) {
  int pipes[6];
  memset(process, 0, sizeof *process);
  signal(SIGPIPE, SIG_IGN);
  for (int i = 0; i < 6; i += 2) {
    assert_int_equal(pipe(pipes + i), 0);
    fcntl(pipes[i], F_SETFD, FD_CLOEXEC);
    fcntl(pipes[i + 1], F_SETFD, FD_CLOEXEC);
  }
  process->pid = fork();
  assert_true(process->pid >= 0);
  if (process->pid == 0) {
    signal(SIGPIPE, SIG_DFL);
    become(argv, environment, pipes, outputs);
  }
  close(pipes[0]);
  close(pipes[3]);
  close(pipes[5]);
  process->input = pipes[1];
  process->output.descriptor = pipes[2];
  process->errors.descriptor = pipes[4];
}

/* The slave of a terminal becomes the controlling one of a new session by being opened. */
static void become_at_terminal(const char *const *argv, const char *const *environment,
                               const char *name) {
  setsid();
  die_with_test();
  int slave = open(name, O_RDWR);
  clean_environment(environment);
  for (int i = 0; i < 3; i++)
    dup2(slave, i);
  if (slave > 2)
    close(slave);
  execv(argv[0], (char *const *)(uintptr_t)argv);
  _exit(127);
}

void e2e_start_at_terminal(e2e_process *process, const char *const *argv,
                           const char *const *environment) {
  memset(process, 0, sizeof *process);
  signal(SIGPIPE, SIG_IGN);
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
  const char *name = ptsname(master);
  assert_non_null(name);
  process->pid = fork();
  assert_true(process->pid >= 0);
  if (process->pid == 0) {
    signal(SIGPIPE, SIG_DFL);
    become_at_terminal(argv, environment, name);
  }
  process->input = fcntl(master, F_DUPFD_CLOEXEC, 0);
  process->output.descriptor = master;
  process->errors.descriptor = -1;
}

void e2e_write(e2e_process *process, const void *data, size_t size) {
  const char *at = data;
  while (size > 0) {
    ssize_t written = write(process->input, at, size);
    if (written < 0)
      return; /* it has ended; its exit status tells */
    at += written;
    size -= (size_t)written;
  }
}

void e2e_close_input(e2e_process *process) {
  if (process->input >= 0)
    close(process->input);
  process->input = -1;
}

void e2e_close_output(e2e_process *process) {
  if (process->output.descriptor >= 0)
    close(process->output.descriptor);
  process->output.descriptor = -1;
}

static char *make_room(e2e_stream *stream) {
  if (stream->size + 65537 > stream->room) {
    stream->room = stream->room * 2 + 65537;
    stream->text = realloc(stream->text, stream->room);
  }
  if (stream->text == NULL)
    abort();
  return stream->text;
}

static void take(e2e_stream *stream) {
  char *text = make_room(stream);
  ssize_t got = read(stream->descriptor, text + stream->size, 65536);
  if (got > 0) {
    stream->size += (size_t)got;
  } else if (got == 0 || errno != EINTR) {
    close(stream->descriptor);
    stream->descriptor = -1;
  }
  text[stream->size] = '\0';
}

/* Reads what comes next; false: both streams have ended. */
static bool read_more(e2e_process *process) {
  e2e_stream *streams[] = {&process->output, &process->errors};
  struct pollfd polls[2];
  for (int i = 0; i < 2; i++)
    polls[i] = (struct pollfd){.fd = streams[i]->descriptor, .events = POLLIN};
  if (polls[0].fd < 0 && polls[1].fd < 0)
    return false;
  int ready = poll(polls, 2, SILENCE_MS);
  if (ready == 0) {
    print_error("output so far: %s\nerrors so far: %s\n",
                process->output.text ? process->output.text : "",
                process->errors.text ? process->errors.text : "");
    fail_msg("the program has said nothing for %d ms", SILENCE_MS);
  }
  for (int i = 0; i < 2; i++) {
    if (polls[i].revents != 0 && streams[i]->descriptor >= 0)
      take(streams[i]);
  }
  return true;
}

size_t e2e_count(const e2e_stream *stream, const char *text) {
  size_t count = 0;
  const char *at = stream->text;
  while (at != NULL && (at = strstr(at, text)) != NULL) {
    at += strlen(text);
    count++;
  }
  return count;
}

void e2e_wait_for(e2e_process *process, e2e_stream *stream, const char *text, size_t times) {
  while (e2e_count(stream, text) < times) {
    if (!read_more(process)) {
      print_error("output: %s\nerrors: %s\n", process->output.text ? process->output.text : "",
                  process->errors.text ? process->errors.text : "");
      fail_msg("the program ended without '%s' %zu times", text, times);
    }
  }
}

void e2e_wait_for_both(e2e_process *one, e2e_process *two, const char *text, size_t times) {
  while (e2e_count(&one->output, text) + e2e_count(&two->output, text) < times) {
    struct pollfd polls[] = {{.fd = one->output.descriptor, .events = POLLIN},
                             {.fd = two->output.descriptor, .events = POLLIN}};
    assert_true(poll(polls, 2, SILENCE_MS) > 0);
    if (polls[0].revents != 0)
      take(&one->output);
    if (polls[1].revents != 0)
      take(&two->output);
  }
}

int e2e_finish(e2e_process *process) {
  int status = 0;
  e2e_close_input(process);
  while (read_more(process)) {
  }
  assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
  process->pid = 0;
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

void e2e_free(e2e_process *process) {
  if (process->pid > 0) {
    kill(process->pid, SIGKILL);
    waitpid(process->pid, NULL, 0);
  }
  e2e_close_input(process);
  e2e_close_output(process);
  if (process->errors.descriptor >= 0)
    close(process->errors.descriptor);
  free(process->output.text);
  free(process->errors.text);
  memset(process, 0, sizeof *process);
  process->input = process->output.descriptor = process->errors.descriptor = -1;
}

void e2e_run(e2e_process *process, const char *const *argv, const char *const *environment,
             int status) {
  e2e_start(process, argv, environment, E2E_PIPED);
  int ended = e2e_finish(process);
  if (ended != status) {
    print_error("output: %s\nerrors: %s\n", process->output.text ? process->output.text : "",
                process->errors.text ? process->errors.text : "");
    fail_msg("%s %s: exit status %d instead of %d", argv[0], argv[1], ended, status);
  }
}
