/* Counts the system calls of a program and of all that it starts, threads and processes:
 *   aloft-bench-syscalls REPORT PROGRAM [ARGUMENT...]
 *
 * Appends a line to the file REPORT:  calls <tab> threads and processes seen
 * and ends as the program did. Start-up is counted too: run with N and with 2 N operations and take
 * the difference. What the kernel answers without being entered (clock_gettime) is no system call.
 *
 * A seccomp filter that every thread inherits stops each call once, on entry, and ptrace counts the
 * stops. A stop costs some microseconds, so a program that reads what has arrived meanwhile needs
 * fewer calls than it would undisturbed; that is so for all that are compared. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_NOT_COUNTED = 125, EXIT_NOT_FOUND = 127, EXIT_SIGNAL = 128 };

/* PTRACE_SEIZE makes these stops tell what they are: no initial SIGSTOP to be told apart. */
enum {
  TRACE_OPTIONS = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                  PTRACE_O_TRACEEXEC | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL
};

typedef struct tracer {
  pid_t program;
  unsigned long long calls, tasks;
  int ended; /* its wait status */
} tracer;

static int complain(const char *what) {
  int error = errno;
  fprintf(stderr, "aloft-bench-syscalls: system calls cannot be counted here: %s: %s\n", what,
          strerror(error));
  return EXIT_NOT_COUNTED;
}

/* ---- the program's side ---- */

static bool install_filter(void) {
  struct sock_filter code[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE)};
  struct sock_fprog filter = {.len = 1, .filter = code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* Waits until it is traced: before that the filter would make every call fail. */
static void become(char **argv, int start) {
  char go;
  if (read(start, &go, 1) != 1)
    _exit(EXIT_NOT_COUNTED);
  if (!install_filter())
    _exit(complain("seccomp"));
  execvp(argv[0], argv);
  fprintf(stderr, "aloft-bench-syscalls: %s: %s\n", argv[0], strerror(errno));
  _exit(EXIT_NOT_FOUND);
}

/* ---- the tracer's side ---- */

static bool is_group_stop(int event, int signal_number) {
  return event == PTRACE_EVENT_STOP && signal_number != SIGTRAP;
}

static void go_on(tracer *self, pid_t task, int status) {
  int event = status >> 16;
  int number = WSTOPSIG(status);
  if (event == PTRACE_EVENT_SECCOMP)
    self->calls++;
  else if (event == PTRACE_EVENT_CLONE || event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK)
    self->tasks++;
  if (is_group_stop(event, number))
    ptrace(PTRACE_LISTEN, task, 0, 0);
  else
    ptrace(PTRACE_CONT, task, 0, event == 0 ? number : 0);
}

/* Until all it has started have ended. */
static void trace(tracer *self) {
  for (;;) {
    int status;
    pid_t task = waitpid(-1, &status, __WALL);
    if (task < 0 && errno == EINTR)
      continue;
    if (task < 0)
      return;
    if (WIFSTOPPED(status))
      go_on(self, task, status);
    else if (task == self->program)
      self->ended = status;
  }
}

static int start(tracer *self, char **argv) {
  int gate[2];
  if (pipe2(gate, O_CLOEXEC) != 0)
    return complain("pipe");
  self->program = fork();
  if (self->program == 0) {
    close(gate[1]);
    become(argv, gate[0]);
  }
  close(gate[0]);
  int code = 0;
  if (self->program < 0)
    code = complain("fork");
  else if (ptrace(PTRACE_SEIZE, self->program, 0, TRACE_OPTIONS) != 0)
    code = complain("ptrace");
  else if (write(gate[1], "g", 1) != 1)
    code = complain("pipe");
  close(gate[1]);
  self->tasks = 1;
  return code;
}

/* One write to a file open for appending: lines of several do not mix. */
static int report(const tracer *self, const char *path) {
  char line[80];
  int size = snprintf(line, sizeof line, "%llu\t%llu\n", self->calls, self->tasks);
  int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  bool good = file >= 0 && write(file, line, (size_t)size) == size;
  if (!good)
    fprintf(stderr, "aloft-bench-syscalls: cannot write %s: %s\n", path, strerror(errno));
  if (file >= 0)
    close(file);
  return good ? 0 : EXIT_NOT_COUNTED;
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: aloft-bench-syscalls REPORT PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  tracer self = {.ended = -1};
  int code = start(&self, argv + 2);
  if (self.program > 0)
    trace(&self);
  if (code == 0)
    code = report(&self, argv[1]);
  if (code != 0)
    return code;
  return WIFSIGNALED(self.ended) ? EXIT_SIGNAL + WTERMSIG(self.ended) : WEXITSTATUS(self.ended);
}
