/* A process that a benchmark keeps running beside what it measures: a server, a responder. It never
 * outlives this program, however that ends. */
#ifndef ALO_PROCESS_H
#define ALO_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "count.h"

typedef struct alo_process {
  pid_t pid; /* 0: none */
  int log;   /* what it prints, in a file without a name; -1: none */
} alo_process;

/* In a new child: it is killed when this program ends. To be called before exec. */
void alo_process_tie(pid_t parent);

/* `argv` ends with NULL; argv[0] is a path or a name on the path. */
bool alo_process_start(alo_process *process, const char *const *argv, alo_reason *why);

/* Waits until it has printed `mark`, and gives the rest of that line (at most `size` - 1 bytes and
 * a NUL). False: it has ended before, or said nothing of the kind in ten seconds; the reason has
 * what it said last. */
bool alo_process_says(alo_process *process, const char *mark, char *rest, size_t size,
                      alo_reason *why);

/* Kills it and waits for its end. Also one that was never started, if it is all zero. */
void alo_process_stop(alo_process *process);

#endif
