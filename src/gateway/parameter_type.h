/* The types a parameter may be declared with, and their values from text. */
#ifndef ALO_PARAMETER_TYPE_H
#define ALO_PARAMETER_TYPE_H

#include <aloft/tds.h>

typedef struct alo_parameter_type {
  aloft_tds_type type;
  bool max;      /* nvarchar(max), varchar(max), varbinary(max) */
  uint32_t size; /* of text in UTF-16 units, of varbinary in bytes; 0 with max */
  uint8_t precision, scale;
} alo_parameter_type;

/* Reads a declaration such as "int", "decimal(10, 2)" or "nvarchar(max)"; case is ignored. Returns
 * NULL, or what is wrong with it, to be read after the declaration. */
const char *alo_parameter_type_read(alo_parameter_type *type, aloft_text text);

/* A value as it was written: JSON's, or a literal of T-SQL. */
typedef enum alo_written_kind {
  ALO_WRITTEN_NULL,
  ALO_WRITTEN_FALSE,
  ALO_WRITTEN_TRUE,
  ALO_WRITTEN_NUMBER, /* `text` follows JSON's grammar of numbers */
  ALO_WRITTEN_STRING  /* `text` is without quotes and escapes */
} alo_written_kind;

typedef struct alo_written {
  alo_written_kind kind;
  aloft_text text;
} alo_written;

/* Converts into type, scale and value of `param`. Exact, or refused: nothing is rounded but real
 * and float. Text stays where it is; the bytes of a varbinary take the place of their digits, so
 * `written->text` is writable memory. Not for ALO_WRITTEN_NULL. Returns NULL, or what is wrong, to
 * be read after the parameter's name. */
const char *alo_parameter_convert(const alo_parameter_type *type, const alo_written *written,
                                  aloft_tds_param *param);

#endif
