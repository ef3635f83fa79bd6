/* An endpoint: one .sql file, its settings and its parameters. */
#ifndef ALO_ENDPOINT_H
#define ALO_ENDPOINT_H

#include "parameter_type.h"

/* Limits, and what holds where a file says nothing. */
enum {
  ALO_ENDPOINT_FILE_MAX = 256 * 1024, /* bytes */
  ALO_ENDPOINT_PARAMETERS_MAX = 100,
  ALO_ENDPOINT_VARIABLES_MAX = 256, /* declared in its SQL */
  ALO_ENDPOINT_NAME_MAX = 127,      /* of a parameter, without "@" */
  ALO_ENDPOINT_SUBJECT_MAX = 255,
  ALO_ENDPOINT_ERROR_MAX = 1024
};
#define ALO_ENDPOINT_TIMEOUT     ALOFT_SECONDS(30)
#define ALO_ENDPOINT_TIMEOUT_MAX ALOFT_SECONDS(86400)

typedef struct alo_parameter {
  aloft_text name; /* without "@" */
  alo_parameter_type type;
  const char *declared; /* the type as the file has it: a view with the size below */
  size_t declared_size;
  size_t line;
  bool optional;            /* it has a default */
  bool nullable;            /* its default is NULL, so a request may give null too */
  bool used;                /* it stands in the SQL */
  aloft_tds_param fallback; /* the default */
} alo_parameter;

typedef struct alo_endpoint {
  char *path; /* as errors name it */
  char *text; /* the whole file: what is sent as SQL, so that its line numbers are the file's */
  size_t size;
  aloft_text subject;
  uint64_t timeout_ns;
  alo_parameter *parameters;
  size_t parameter_count;
  char *defaults; /* texts of defaults */
  size_t defaults_size;
} alo_endpoint;

/* Reads the file `path`; `name` is its name without ".sql". False: `error` is "PATH:LINE: what is
 * wrong and what to do" or "PATH: ...". Free it in both cases. */
bool alo_endpoint_load(alo_endpoint *endpoint, const char *path, aloft_text name,
                       char error[ALO_ENDPOINT_ERROR_MAX]);

/* The same from memory. `text` [call] is copied. */
bool alo_endpoint_parse(alo_endpoint *endpoint, const char *path, aloft_text name, aloft_text text,
                        char error[ALO_ENDPOINT_ERROR_MAX]);

void alo_endpoint_free(alo_endpoint *endpoint);

#endif
