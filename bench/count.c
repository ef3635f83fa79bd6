#include "count.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process.h"
#include "program.h"
#include "report.h"

enum { WORDS_MAX = 24, LOG_MAX = 16384, NOT_THERE = 127 };

static bool fail(alo_reason *why, const char *format, ...) ALO_PRINTF(2, 3);
static bool fail(alo_reason *why, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why->text, sizeof why->text, format, arguments);
  va_end(arguments);
  return false;
}

/* ---- a process and what it writes ---- */

/* Never returns. `descriptor` of the child leads into the pipe; standard output goes nowhere unless
 * it is that one. */
static void become(const char *const *argv, int descriptor, int pipe_end, pid_t parent) {
  alo_process_tie(parent);
  int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0 || dup2(pipe_end, descriptor) < 0)
    _exit(NOT_THERE - 1);
  /* execvp promises not to change what it is given; its type is older than const. */
  union {
    const char *const *given;
    char *const *wanted;
  } arguments = {.given = argv};
  execvp(argv[0], arguments.wanted);
  _exit(NOT_THERE);
}

/* Keeps the first `size` - 1 bytes, and reads to the end. */
static void read_all(int descriptor, char *output, size_t size) {
  size_t kept = 0;
  char rest[512];
  for (;;) {
    bool room = kept + 1 < size;
    ssize_t got = room ? read(descriptor, output + kept, size - 1 - kept)
                       : read(descriptor, rest, sizeof rest);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      break;
    kept += room ? (size_t)got : 0;
  }
  output[kept] = '\0';
}

static bool judge(pid_t pid, const char *name, alo_reason *why) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR)
      return fail(why, "waiting for %s: %s", name, strerror(errno));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_THERE)
    return fail(why, "%s cannot be run: is it installed?", name);
  if (WIFSIGNALED(status))
    return fail(why, "%s was killed by signal %d", name, WTERMSIG(status));
  if (WEXITSTATUS(status) != 0)
    return fail(why, "%s ended with status %d", name, WEXITSTATUS(status));
  return true;
}

static bool output_of(const char *const *argv, int descriptor, char *output, size_t size,
                      alo_reason *why) {
  int ends[2];
  output[0] = '\0';
  if (pipe(ends) != 0)
    return fail(why, "no pipe: %s", strerror(errno));
  fflush(NULL);
  const pid_t parent = getpid();
  pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    become(argv, descriptor, ends[1], parent);
  }
  close(ends[1]);
  if (pid > 0)
    read_all(ends[0], output, size);
  close(ends[0]);
  return pid > 0 ? judge(pid, argv[0], why) : fail(why, "no process: %s", strerror(errno));
}

bool alo_program_output(const char *const *argv, char *output, size_t size, alo_reason *why) {
  return output_of(argv, STDOUT_FILENO, output, size, why);
}

/* ---- instructions ---- */

/* Callgrind writes its log to this descriptor: standard error stays the program's. */
enum { LOG_DESCRIPTOR = 9 };

/* A number behind blanks; moves behind it. */
static bool read_number(const char **at, uint64_t *number) {
  char *end = NULL;
  errno = 0;
  *number = strtoumax(*at, &end, 10);
  bool good = errno == 0 && end != *at;
  *at = end;
  return good;
}

/* "==PID== Collected : 123456" */
static bool read_collected(const char *log, uint64_t *instructions) {
  static const char word[] = "Collected :";
  const char *at = strstr(log, word);
  if (!at)
    return false;
  at += sizeof word - 1;
  return read_number(&at, instructions);
}

static bool have_valgrind(alo_reason *why) {
  static const char *const argv[] = {"valgrind", "--version", NULL};
  char version[64];
  if (alo_program_output(argv, version, sizeof version, why))
    return true;
  return fail(why, "instructions are counted by valgrind, which does not run here: install the "
                   "Debian package valgrind");
}

enum { FUNCTIONS_MAX = 8, OPTION_MAX = 96 };

/* An option for each function, behind the `count` words that are there. False: too many of them. */
static bool add_functions(const char **full, size_t *count, const char *const *inside,
                          char options[FUNCTIONS_MAX][OPTION_MAX]) {
  for (size_t i = 0; inside && inside[i]; i++) {
    if (i == FUNCTIONS_MAX)
      return false;
    int size = snprintf(options[i], OPTION_MAX, "--toggle-collect=%s", inside[i]);
    if (size < 0 || size >= OPTION_MAX)
      return false;
    full[(*count)++] = options[i];
  }
  return true;
}

bool alo_count_functions(const char *const *argv, const char *const *inside, uint64_t *instructions,
                         alo_reason *why) {
  /* Copying counts as vectors: callgrind counts each byte of `rep movsb` as an instruction. */
  const char *full[WORDS_MAX + FUNCTIONS_MAX] = {
      "env",
      "GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1073741824",
      "valgrind",
      "--tool=callgrind",
      "--callgrind-out-file=/dev/null",
      "--log-fd=9"};
  _Static_assert(LOG_DESCRIPTOR == 9, "as --log-fd says");
  char options[FUNCTIONS_MAX][OPTION_MAX], log[LOG_MAX];
  size_t count = 6;
  if (!add_functions(full, &count, inside, options))
    return fail(why, "the functions to count in are too many, or their names too long");
  for (size_t i = 0; argv[i]; i++) {
    if (i + 7 == WORDS_MAX)
      return fail(why, "%s has more than %d arguments", argv[0], WORDS_MAX - 7);
    full[count++] = argv[i];
  }
  if (!have_valgrind(why))
    return false;
  if (!output_of(full, LOG_DESCRIPTOR, log, sizeof log, why)) {
    alo_reason under = *why;
    return fail(why, "%s under %.200s", argv[0], under.text);
  }
  return read_collected(log, instructions) || fail(why, "callgrind did not say what it collected");
}

bool alo_count_program(const char *const *argv, uint64_t *instructions, alo_reason *why) {
  return alo_count_functions(argv, NULL, instructions, why);
}

static bool run_case(const alo_count_case *of, uint64_t operations, uint64_t *instructions,
                     alo_reason *why) {
  char path[ALO_PROGRAM_PATH_MAX], number[WORDS_MAX];
  snprintf(number, sizeof number, "%" PRIu64, operations);
  if (!alo_program_beside("aloft-bench", path))
    return fail(why, "the path of aloft-bench is too long, or not known");
  const char *const argv[] = {path, ALO_COUNT_WORD, of->benchmark, of->name, number, NULL};
  return alo_count_functions(argv, of->inside, instructions, why);
}

bool alo_count_instructions(const alo_count_case *of, double *per_operation, alo_reason *why) {
  uint64_t few = 0, many = 0;
  if (!run_case(of, of->few, &few, why) || !run_case(of, of->many, &many, why))
    return false;
  if (many <= few)
    return fail(why, "more operations of %s cost no more instructions", of->name);
  *per_operation = ((double)many - (double)few) / (double)(of->many - of->few);
  return true;
}

/* ---- heap ---- */

static bool heap_of_case(const alo_count_case *of, uint64_t operations, uint64_t *calls,
                         uint64_t *bytes, alo_reason *why) {
  char path[ALO_PROGRAM_PATH_MAX], number[WORDS_MAX], output[128];
  snprintf(number, sizeof number, "%" PRIu64, operations);
  if (!alo_program_beside("aloft-bench-heap", path) || access(path, X_OK) != 0)
    return fail(why, "heap calls are counted by aloft-bench-heap, which is not beside aloft-bench: "
                     "build without sanitizers");
  const char *const argv[] = {path, ALO_COUNT_WORD, of->benchmark, of->name, number, NULL};
  if (!alo_program_output(argv, output, sizeof output, why))
    return false;
  const char *at = output;
  return (read_number(&at, calls) && read_number(&at, bytes)) ||
         fail(why, "aloft-bench-heap did not say what it counted");
}

bool alo_count_heap(const alo_count_case *of, alo_heap_cost *per_operation, alo_reason *why) {
  uint64_t few[2] = {0}, many[2] = {0};
  if (!heap_of_case(of, of->few, &few[0], &few[1], why) ||
      !heap_of_case(of, of->many, &many[0], &many[1], why))
    return false;
  double operations = (double)(of->many - of->few);
  per_operation->calls = ((double)many[0] - (double)few[0]) / operations;
  per_operation->bytes = ((double)many[1] - (double)few[1]) / operations;
  return true;
}
