/* `aloft lite` for tests that want a real one: a file of its own, a free port, a user. */
#ifndef E2E_LITE_H
#define E2E_LITE_H

#include "e2e_process.h"

#define E2E_LITE_USER     "tester"
#define E2E_LITE_PASSWORD "se;cret"

enum { E2E_LITE_PATH_MAX = 96 };

typedef struct e2e_lite {
  e2e_process process;
  char folder[64];
  char port[8];
  char certificate[E2E_LITE_PATH_MAX]; /* the file that it has been written to */
} e2e_lite;

/* `command`: the path of aloft. Its log is process.errors. */
void e2e_lite_start(e2e_lite *lite, const char *command);
/* With --tls off, optional, required or strict. */
void e2e_lite_start_tls(e2e_lite *lite, const char *command, const char *tls);
/* With this certificate and its key, PEM files. */
void e2e_lite_start_certificate(e2e_lite *lite, const char *command, const char *certificate,
                                const char *key);
/* Stops it with SIGTERM, which must succeed, and removes its files. */
void e2e_lite_stop(e2e_lite *lite);
/* The same after a failure: kills it. */
void e2e_lite_free(e2e_lite *lite);

/* The first of PATH's folders that holds the program; false: none does. */
bool e2e_find_program(const char *name, char *path, size_t room);

#endif
