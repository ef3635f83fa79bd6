/* `aloft lite`: a TDS server on SQLite, from settings to SIGINT. See docs/lite.md. */
#ifndef ALO_LITE_H
#define ALO_LITE_H

#include <aloft/base.h>

/* Which clients are served. A client may begin with TLS, as TDS 8.0 has it (Encrypt=Strict),
 * wherever it is not off. */
typedef enum alo_lite_tls {
  ALO_LITE_TLS_OFF,      /* those that go without: there is no TLS */
  ALO_LITE_TLS_OPTIONAL, /* all: each gets what it asks for, at least an encrypted login */
  ALO_LITE_TLS_REQUIRED, /* those that encrypt everything */
  ALO_LITE_TLS_STRICT    /* those that begin with TLS */
} alo_lite_tls;

typedef struct alo_lite_settings {
  const char *path;   /* of the database; ":memory:" */
  const char *listen; /* "127.0.0.1:1433", "[::1]:0" */
  const char *user;   /* who may log in */
  const char *name;   /* the database's; NULL: the file's, without its extension */
  char *password;     /* wiped as soon as it is no longer needed */
  size_t password_size;
  bool verbose; /* a line for each statement on standard error */
  alo_lite_tls tls;
  /* PEM files; NULL, both: a self-signed certificate is made, and its fingerprint printed. */
  const char *certificate_file, *key_file;
  const char *certificate_out; /* a file to write the certificate to; NULL: none */
} alo_lite_settings;

typedef enum alo_lite_end {
  ALO_LITE_STOPPED, /* by SIGINT or SIGTERM */
  ALO_LITE_WRONG,   /* a setting: nothing was done */
  ALO_LITE_UNABLE   /* the database cannot be opened, or the address not listened at... */
} alo_lite_end;

enum { ALO_LITE_ERROR_MAX = 512 };

/* Serves until a signal comes, after printing to standard output, unless TLS is off, "certificate
 * SHA-256 AB:CD:...", and then "listening on ADDRESS:PORT". Takes over the process's SIGINT,
 * SIGTERM and SIGPIPE. `error` (ALO_LITE_ERROR_MAX bytes): unless it was stopped, one line that
 * says what to do. */
alo_lite_end alo_lite_serve(const alo_lite_settings *settings, char *error);

#endif
