/* Values of the TDS types: from wire bytes to native forms and text, and back
 * (MS-TDS 2.2.5.5.1; canonical text as `aloft sql` prints it, see docs). */
#ifndef ALO_TDS_VALUE_H
#define ALO_TDS_VALUE_H

#include <aloft/tds.h>

#include "code_page.h"
#include "tds_packet.h"
#include "tds_type.h"

/* The public type of a wire type: INTN of 4 is ALOFT_TDS_INT... */
aloft_tds_type alo_tds_type_public(const alo_tds_type *type);

/* Decoding one complete value of `size` bytes. Each returns NULL, or what is wrong with the bytes
 * (a constant; e.g. "time beyond 24 hours"), or "wrong type". */
const char *alo_tds_value_int64(const alo_tds_type *type, const uint8_t *data, size_t size,
                                int64_t *value); /* BIT, INT*, BITN, INTN */
const char *alo_tds_value_double(const alo_tds_type *type, const uint8_t *data, size_t size,
                                 double *value); /* FLT4, FLT8, FLTN */
const char *alo_tds_value_decimal(const alo_tds_type *type, const uint8_t *data, size_t size,
                                  aloft_tds_decimal *value); /* also money: scale 4 */
const char *alo_tds_value_moment(const alo_tds_type *type, const uint8_t *data, size_t size,
                                 aloft_tds_moment *value);
const char *alo_tds_value_uuid(const alo_tds_type *type, const uint8_t *data, size_t size,
                               aloft_tds_uuid *value);

/* A sql_variant taken apart: `base` and `value` describe the value in it, which the functions here
 * then read like any other (they also do this by themselves when `type` is sql_variant). */
const char *alo_tds_value_variant(const uint8_t *data, size_t size, alo_tds_type *base,
                                  aloft_bytes *value);

/* Bytes of properties that a base type has in a sql_variant; -1: none can have it. */
int alo_tds_variant_properties(uint8_t token);

/* Room that canonical text of a value of `size` bytes can need. */
size_t alo_tds_value_text_room(const alo_tds_type *type, size_t size);
/* How character data becomes text. */
typedef struct alo_tds_text_rules {
  const alo_code_pages *pages; /* NULL: of other code pages than 1252 only ASCII is decoded */
  bool strict;                 /* what is not well-formed is an error, not U+FFFD */
} alo_tds_text_rules;

/* Canonical text; character types are decoded from UTF-16 or their code page to UTF-8. NULL, or
 * what is wrong (a constant): alo_tds_ill_formed by `strict`, alo_tds_no_memory, that a code page
 * cannot be had, or as the decoders above. */
const char *alo_tds_value_text_by(const alo_tds_text_rules *rules, const alo_tds_type *type,
                                  const uint8_t *data, size_t size, char *out, size_t *text_size);
/* The same without rules. */
static inline const char *alo_tds_value_text(const alo_tds_type *type, const uint8_t *data,
                                             size_t size, char *out, size_t *text_size) {
  return alo_tds_value_text_by(NULL, type, data, size, out, text_size);
}
extern const char alo_tds_ill_formed[], alo_tds_no_memory[];

/* The parts, for whoever has a native value. Each returns the size written. Total: a scale above 38
 * counts as 38, more than 7 digits as 7, ticks beyond a day begin again. */
size_t alo_tds_decimal_text(const aloft_tds_decimal *value, char out[48]);
size_t alo_tds_date_text(int32_t days, char out[16]);
size_t alo_tds_time_text(uint64_t ticks, unsigned digits, char out[24]);
size_t alo_tds_uuid_text(const aloft_tds_uuid *value, char out[40]);
/* From text, as T-SQL writes it; false when it is not one. Shared with lite and the gateway's
 * parameters. Decimal: optional sign, digits, one point. */
bool alo_tds_decimal_parse(aloft_text text, aloft_tds_decimal *value);
bool alo_tds_uuid_parse(aloft_text text, aloft_tds_uuid *value);
/* Days since 0001-01-01 of a proleptic Gregorian date, and back. */
int32_t alo_tds_days(int year, unsigned month, unsigned day);
void alo_tds_date(int32_t days, int *year, unsigned *month, unsigned *day);

/* Encoding: writes TYPE_INFO (2.2.5.6; of decimals the size follows from the precision), or a value
 * with its length prefix, for `type`. What the type cannot hold fails the writer: ALOFT_ARGUMENT
 * (out of range, NULL of a type without one, the wrong put for the type), ALOFT_TOO_LARGE (a (max)
 * value above 2 GiB), ALOFT_UNSUPPORTED (no such type). In an answer (ALO_TDS_REPLY) text, ntext
 * and image have a text pointer before them, in a request they have none. */
void alo_tds_put_type(alo_tds_writer *writer, const alo_tds_type *type);
enum { ALO_TDS_UDT_PARTS = 3 }; /* database, schema, type */
/* Takes a UDT's name apart, which is "database.schema.type", "schema.type" or "type": parts that it
 * lacks are empty. False: it is empty, there are more, or one is not well-formed or over 128 UTF-16
 * units. */
bool alo_tds_udt_parts(aloft_text name, aloft_text parts[ALO_TDS_UDT_PARTS]);
/* The same as put_type of a UDT with such a name. */
void alo_tds_put_udt_type(alo_tds_writer *writer, const alo_tds_type *type, aloft_text name);
/* The beginning of a sql_variant that is not NULL; the put of a value of type `base` follows, and
 * leaves its length out. `base` is one that a variant may have, in the form without NULL where
 * there is one (INT4, not INTN); `size` is the value's of character and binary types, in bytes. */
void alo_tds_put_variant(alo_tds_writer *writer, const alo_tds_type *base, size_t size);
void alo_tds_put_null(alo_tds_writer *writer, const alo_tds_type *type);
void alo_tds_put_int64(alo_tds_writer *writer, const alo_tds_type *type,
                       int64_t value); /* BIT, BITN: 1 for all but 0 */
void alo_tds_put_double(alo_tds_writer *writer, const alo_tds_type *type,
                        double value); /* neither infinite nor NaN: SQL Server has none */
/* Also money. Brought to the type's scale; ALOFT_ARGUMENT when digits would be lost. */
void alo_tds_put_decimal(alo_tds_writer *writer, const alo_tds_type *type,
                         const aloft_tds_decimal *value);
/* Digits beyond the scale are cut off; datetime and smalldatetime are rounded to 1/300 second and
 * to the minute. */
void alo_tds_put_moment(alo_tds_writer *writer, const alo_tds_type *type,
                        const aloft_tds_moment *value);
void alo_tds_put_uuid(alo_tds_writer *writer, const alo_tds_type *type,
                      const aloft_tds_uuid *value);
/* Character types, xml and json: from UTF-8 to UTF-16, UTF-8 or the code page of the type's
 * collation (without `writer->pages` 1252 and ASCII); '?' for what that lacks, for each UTF-16 unit
 * as SQL Server does. PLP when the type is (max). char and binary are not padded. Absent (data
 * NULL) is NULL. */
void alo_tds_put_text(alo_tds_writer *writer, const alo_tds_type *type, aloft_text value);
/* Binary types and UDT. */
void alo_tds_put_bytes(alo_tds_writer *writer, const alo_tds_type *type, aloft_bytes value);
/* Bytes that a text has in the charset of `type`; SIZE_MAX: it is not well-formed, or the writer
 * has failed for want of memory. */
size_t alo_tds_text_size(alo_tds_writer *writer, const alo_tds_type *type, aloft_text value);

/* Windows-1252 to UTF-8; `out` has room for 3 * size bytes. Returns the bytes written. The five
 * bytes without a character become the control characters of the same number, as Windows does. */
size_t alo_tds_1252_to_utf8(const uint8_t *in, size_t size, char *out);
/* The byte of a character; '?' when there is none. */
uint8_t alo_tds_1252_of(uint32_t character);

/* The collation that lite and parameters use. */
extern const uint8_t alo_tds_collation_default[5]; /* SQL_Latin1_General_CP1_CI_AS */

#endif
