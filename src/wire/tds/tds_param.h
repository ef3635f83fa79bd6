/* A parameter of a request: its type on the wire, how T-SQL declares that, its value
 * (MS-TDS 2.2.6.6). What sp_executesql and calls by name share. */
#ifndef ALO_TDS_PARAM_H
#define ALO_TDS_PARAM_H

#include "tds_value.h"

/* How it is sent. */
typedef struct alo_tds_param_way {
  bool by_name;             /* for a procedure: in the types that the caller names */
  bool json;                /* the server knows json; otherwise that is sent as nvarchar */
  const uint8_t *collation; /* of char, varchar and text, 5 bytes; NULL: not known, they are sent as
                               nchar, nvarchar and ntext */
} alo_tds_param_way;

typedef struct alo_tds_param_type {
  alo_tds_type type;
  alo_tds_type base; /* of what a sql_variant holds; token 0: none */
} alo_tds_param_type;

/* NULL: it can be sent, and `*of` is its type. Otherwise a constant sentence that says why not; the
 * writer has not been touched, except that it may have failed for want of memory. `*status`:
 * ALOFT_ARGUMENT, ALOFT_UNSUPPORTED, ALOFT_TOO_LARGE. */
const char *alo_tds_param_check(alo_tds_writer *writer, const aloft_tds_param *param,
                                const alo_tds_param_way *way, alo_tds_param_type *of,
                                aloft_status *status);

/* Of a parameter that has been checked: its name with "@" (or none), flags, TYPE_INFO, value. */
void alo_tds_put_param(alo_tds_writer *writer, const aloft_tds_param *param,
                       const alo_tds_param_type *of);

/* Its name without "@". */
aloft_text alo_tds_param_name(const aloft_tds_param *param);

/* How T-SQL declares a checked one: "@p decimal(18,4) OUTPUT". Returns the UTF-16 units; `writer`
 * NULL: nothing is written. */
size_t alo_tds_param_declare(alo_tds_writer *writer, const aloft_tds_param *param,
                             const alo_tds_param_type *of);

/* Why a checked one could not be written after all, with the status that the writer has then; NULL:
 * it is not its fault. */
const char *alo_tds_param_failed(const aloft_tds_param *param, aloft_status status);

#endif
