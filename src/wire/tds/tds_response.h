/* What a TDS server sends (MS-TDS 2.2.7): written by lite and by scripted servers in tests. All go
 * into a message of ALO_TDS_REPLY that the caller begins and ends. Texts are UTF-8; one that a
 * token cannot hold fails the writer with ALOFT_ARGUMENT, a whole token over 65,535 bytes with
 * ALOFT_TOO_LARGE. */
#ifndef ALO_TDS_RESPONSE_H
#define ALO_TDS_RESPONSE_H

#include "tds_reader.h"

typedef struct alo_tds_out_column {
  alo_tds_type type;
  uint16_t flags;
  aloft_text name;
} alo_tds_out_column;

/* What only some types have. */
typedef struct alo_tds_out_origin {
  uint32_t user_type; /* 80 of rowversion; else 0 */
  aloft_text table;   /* of text, ntext and image: parts joined with '.'; may be empty */
  aloft_text udt;     /* of a UDT: "database.schema.type" */
} alo_tds_out_origin;

/* What COLINFO says of a column. */
enum {
  ALO_TDS_COLINFO_EXPRESSION = 0x04,
  ALO_TDS_COLINFO_KEY = 0x08,
  ALO_TDS_COLINFO_HIDDEN = 0x10,
  ALO_TDS_COLINFO_DIFFERENT_NAME = 0x20
};

typedef struct alo_tds_out_colinfo {
  uint8_t column;  /* from 1 */
  uint8_t table;   /* of TABNAME, from 1; 0: none */
  uint8_t status;  /* DIFFERENT_NAME follows from `name` */
  aloft_text name; /* of the column in its table; empty: the same */
} alo_tds_out_colinfo;

/* COLMETADATA; 0 columns: the form that says so. */
void alo_tds_put_colmetadata(alo_tds_writer *writer, const alo_tds_out_column *columns,
                             size_t count);
/* The same with an origin for each column. */
void alo_tds_put_colmetadata_from(alo_tds_writer *writer, const alo_tds_out_column *columns,
                                  const alo_tds_out_origin *origins, size_t count);
/* ROW: its values follow through alo_tds_put_null, alo_tds_put_int64... */
void alo_tds_put_row(alo_tds_writer *writer);
/* NBCROW: the same with a null bitmap, `nulls[i]` for each column; NULL columns' values
 * are then left out. */
void alo_tds_put_nbcrow(alo_tds_writer *writer, const bool *nulls, size_t count);
/* DONE, DONEPROC, DONEINPROC by `done->token`. */
void alo_tds_put_done(alo_tds_writer *writer, const alo_tds_done *done);
/* ERROR or INFO. */
void alo_tds_put_message(alo_tds_writer *writer, const alo_tds_message *message);
/* ENVCHANGE with texts (types 1 to 4, 13, 19), with bytes (7 to 12, 15 to 18), and with
 * another server's address (20, routing). */
void alo_tds_put_env_text(alo_tds_writer *writer, uint8_t type, aloft_text now, aloft_text before);
void alo_tds_put_env_bytes(alo_tds_writer *writer, uint8_t type, aloft_bytes now,
                           aloft_bytes before);
void alo_tds_put_env_routing(alo_tds_writer *writer, aloft_text host, uint16_t port);
/* LOGINACK: tds_version as LOGIN7 counts it. */
void alo_tds_put_loginack(alo_tds_writer *writer, const alo_tds_loginack *loginack);
void alo_tds_put_return_status(alo_tds_writer *writer, int32_t status);
/* RETURNVALUE of an output parameter up to its TYPE_INFO; the value follows. */
void alo_tds_put_return_value(alo_tds_writer *writer, uint16_t ordinal, aloft_text name,
                              const alo_tds_type *type);
/* TABNAME: each table's parts joined with '.'; COLINFO. Both come after COLMETADATA. */
void alo_tds_put_tabname(alo_tds_writer *writer, const aloft_text *tables, size_t count);
void alo_tds_put_colinfo(alo_tds_writer *writer, const alo_tds_out_colinfo *columns, size_t count);
/* ORDER: columns counted from 1. */
void alo_tds_put_order(alo_tds_writer *writer, const uint16_t *columns, size_t count);
/* FEATUREEXTACK with one feature and its end. */
void alo_tds_put_feature_ack(alo_tds_writer *writer, uint8_t id, aloft_bytes data);

#endif
