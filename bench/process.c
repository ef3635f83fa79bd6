#define _GNU_SOURCE /* mkostemp */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOG_MAX = 16384, LOOKS_MAX = 2000, LOOK_NS = 5000000, NOT_THERE = 127 };

void alo_process_tie(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(NOT_THERE); /* it has ended already */
}

static void become(const char *const *argv, int log, pid_t parent) {
  /* execvp promises not to change what it is given; its type is older than const. */
  union {
    const char *const *given;
    char *const *wanted;
  } arguments = {.given = argv};
  alo_process_tie(parent);
  if (dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
    _exit(NOT_THERE);
  execvp(argv[0], arguments.wanted);
  fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
  _exit(NOT_THERE);
}

static int open_log(void) {
  char path[] = "/tmp/aloft-bench-XXXXXX";
  int log = mkostemp(path, O_CLOEXEC | O_APPEND);
  if (log >= 0)
    unlink(path);
  return log;
}

bool alo_process_start(alo_process *process, const char *const *argv, alo_reason *why) {
  const pid_t parent = getpid();
  *process = (alo_process){.log = open_log()};
  if (process->log >= 0) {
    fflush(NULL);
    process->pid = fork();
  }
  if (process->pid == 0 && process->log >= 0)
    become(argv, process->log, parent);
  if (process->pid > 0)
    return true;
  snprintf(why->text, sizeof why->text, "cannot start %.300s: %s", argv[0], strerror(errno));
  alo_process_stop(process);
  return false;
}

/* Everything it has printed, or as much as there is room for. */
static void read_log(const alo_process *process, char text[LOG_MAX]) {
  ssize_t got = pread(process->log, text, LOG_MAX - 1, 0);
  text[got > 0 ? got : 0] = '\0';
}

/* A whole line only: a process may write a part of one first. */
static bool find_rest(const char *text, const char *mark, char *rest, size_t size) {
  const char *at = strstr(text, mark);
  if (at == NULL || strchr(at, '\n') == NULL)
    return false;
  at += strlen(mark);
  snprintf(rest, size, "%.*s", (int)strcspn(at, "\r\n"), at);
  return true;
}

static bool has_ended(alo_process *process) {
  int status;
  if (waitpid(process->pid, &status, WNOHANG) != process->pid)
    return false;
  process->pid = 0;
  return true;
}

bool alo_process_says(alo_process *process, const char *mark, char *rest, size_t size,
                      alo_reason *why) {
  const struct timespec pause = {.tv_nsec = LOOK_NS};
  char text[LOG_MAX];
  bool ended = false;
  for (int look = 0; look < LOOKS_MAX; look++) {
    read_log(process, text);
    if (find_rest(text, mark, rest, size))
      return true;
    if (ended)
      break;
    ended = has_ended(process); /* and look once more at what it said */
    if (!ended)
      nanosleep(&pause, NULL);
  }
  size_t length = strlen(text), from = length > 300 ? length - 300 : 0;
  snprintf(why->text, sizeof why->text, "%s%s%s", ended ? "it has ended" : "it did not get ready",
           length > 0 ? ": " : "", text + from);
  return false;
}

void alo_process_stop(alo_process *process) {
  if (process->pid > 0) {
    kill(process->pid, SIGKILL);
    while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR) {
    }
  }
  if (process->pid >= 0 && process->log > 0)
    close(process->log);
  *process = (alo_process){.log = -1};
}
