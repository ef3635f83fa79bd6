/* `aloft lite`: a TDS server on SQLite, from settings to SIGINT. See docs/lite.md. */
#ifndef ALO_LITE_H
#define ALO_LITE_H

#include <aloft/base.h>

typedef struct alo_lite_settings {
  const char *path;   /* of the database; ":memory:" */
  const char *listen; /* "127.0.0.1:1433", "[::1]:0" */
  const char *user;   /* who may log in */
  const char *name;   /* the database's; NULL: the file's, without its extension */
  char *password;     /* wiped as soon as it is no longer needed */
  size_t password_size;
  bool verbose; /* a line for each statement on standard error */
} alo_lite_settings;

typedef enum alo_lite_end {
  ALO_LITE_STOPPED, /* by SIGINT or SIGTERM */
  ALO_LITE_WRONG,   /* a setting: nothing was done */
  ALO_LITE_UNABLE   /* the database cannot be opened, or the address not listened at... */
} alo_lite_end;

enum { ALO_LITE_ERROR_MAX = 512 };

/* Serves until a signal comes, after printing "listening on ADDRESS:PORT" to standard output. Takes
 * over the process's SIGINT, SIGTERM and SIGPIPE. `error` (ALO_LITE_ERROR_MAX bytes): unless it was
 * stopped, one line that says what to do. */
alo_lite_end alo_lite_serve(const alo_lite_settings *settings, char *error);

#endif
