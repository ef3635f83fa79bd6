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

/* COLMETADATA; 0 columns: the form that says so. */
void alo_tds_put_colmetadata(alo_tds_writer *writer, const alo_tds_out_column *columns,
                             size_t count);
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
/* ORDER: columns counted from 1. */
void alo_tds_put_order(alo_tds_writer *writer, const uint16_t *columns, size_t count);
/* FEATUREEXTACK with one feature and its end. */
void alo_tds_put_feature_ack(alo_tds_writer *writer, uint8_t id, aloft_bytes data);

#endif
