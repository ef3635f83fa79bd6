/* Secrets: passwords and tokens, from the command line, the environment, a file or a prompt. Each
 * is copied out of where it came from, that place is overwritten, and the copy is wiped when it is
 * no longer needed. */
#ifndef ALO_SECRET_H
#define ALO_SECRET_H

#include <aloft/base.h>

enum { ALO_SECRET_SIZE_MAX = 4096 };

/* `data` NULL: none was given, which is not the same as an empty one. */
typedef struct alo_secret {
  char *data;
  size_t size;
} alo_secret;

/* Takes a copy of `text` and overwrites `text`. False: no memory, or over ALO_SECRET_SIZE_MAX. */
bool alo_secret_take(alo_secret *secret, char *text);

/* From the environment variable `name`, which is overwritten and removed. True also when it is not
 * set. */
bool alo_secret_take_environment(alo_secret *secret, const char *name);

/* From a file: all of it, but for one line ending at its end. Reports what is wrong: not readable,
 * over ALO_SECRET_SIZE_MAX, holds a NUL, or is empty. */
bool alo_secret_read_file(alo_secret *secret, const char *path);

/* Asks at the controlling terminal, without showing what is typed. Reports when there is no
 * terminal, saying `advice`. */
bool alo_secret_prompt(alo_secret *secret, const char *prompt, const char *advice);

aloft_text alo_secret_text(const alo_secret *secret);

/* Wipes and frees; the secret is then one that was not given. */
void alo_secret_wipe(alo_secret *secret);

#endif
