/* Programs that a test drives: started with pipes, read with a deadline, always waited for. A test
 * fails when a program says nothing for half a minute; no test depends on how long things take. */
#ifndef E2E_PROCESS_H
#define E2E_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct e2e_stream {
  int descriptor; /* -1: closed */
  char *text;     /* all that came, ended by NUL */
  size_t size, room;
} e2e_stream;

typedef struct e2e_process {
  pid_t pid; /* 0: none */
  int input; /* -1: closed */
  e2e_stream output, errors;
} e2e_process;

typedef enum e2e_outputs {
  E2E_PIPED,
  E2E_OUTPUT_CLOSED /* standard output is not open */
} e2e_outputs;

/* Starts argv[0] with the environment of the test, without what NATS_ and SQLCMD variables it has,
 * and with `environment` ("NAME=VALUE", NULL at the end; may be NULL). */
void e2e_start(e2e_process *process, const char *const *argv, const char *const *environment,
               e2e_outputs outputs);

/* Starts it at a terminal of its own: `input` types there, and `output` shows what it says, errors
 * and echo of what is typed included. Ctrl-C is "\x03", Ctrl-D "\x04". */
void e2e_start_at_terminal(e2e_process *process, const char *const *argv,
                           const char *const *environment);

void e2e_write(e2e_process *process, const void *data, size_t size);
void e2e_close_input(e2e_process *process);
void e2e_close_output(e2e_process *process);

/* Reads until `text` stands in the stream at least `times` times. */
void e2e_wait_for(e2e_process *process, e2e_stream *stream, const char *text, size_t times);

/* Reads the outputs of two until `text` stands in them `times` times together. */
void e2e_wait_for_both(e2e_process *one, e2e_process *two, const char *text, size_t times);

/* How often `text` stands in what has been read. */
size_t e2e_count(const e2e_stream *stream, const char *text);

/* Reads to the end and waits: the exit status, or 1000 + the signal that killed it. The streams'
 * text stays until e2e_free. */
int e2e_finish(e2e_process *process);

/* Kills it if it still runs, and frees all. */
void e2e_free(e2e_process *process);

/* Starts, finishes, and expects this exit status. */
void e2e_run(e2e_process *process, const char *const *argv, const char *const *environment,
             int status);

#endif
