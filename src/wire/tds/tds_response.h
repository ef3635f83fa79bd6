/* What a TDS server sends (MS-TDS 2.2.7): written by lite and by scripted servers in tests. */
#ifndef ALO_TDS_RESPONSE_H
#define ALO_TDS_RESPONSE_H

#include "tds_reader.h"

typedef struct alo_tds_out_column {
  alo_tds_type type;
  uint16_t flags;
  aloft_text name;
} alo_tds_out_column;

void alo_tds_put_colmetadata(alo_tds_writer *writer, const alo_tds_out_column *columns,
                             size_t count);
/* A row begins; its values follow through alo_tds_put_null, alo_tds_put_int64... */
void alo_tds_put_row(alo_tds_writer *writer);
/* The same with a null bitmap, `nulls[i]` for each column; NULL columns' values are then left
 * out. */
void alo_tds_put_nbcrow(alo_tds_writer *writer, const bool *nulls, size_t count);
/* `token`: 0xFD, 0xFE, 0xFF. */
void alo_tds_put_done(alo_tds_writer *writer, const alo_tds_done *done);
void alo_tds_put_message(alo_tds_writer *writer, const alo_tds_message *message);
void alo_tds_put_env_text(alo_tds_writer *writer, uint8_t type, aloft_text now, aloft_text before);
void alo_tds_put_env_bytes(alo_tds_writer *writer, uint8_t type, aloft_bytes now,
                           aloft_bytes before);
void alo_tds_put_loginack(alo_tds_writer *writer, const alo_tds_loginack *loginack);
void alo_tds_put_return_status(alo_tds_writer *writer, int32_t status);
/* RETURNVALUE up to its TYPE_INFO; the value follows. */
void alo_tds_put_return_value(alo_tds_writer *writer, uint16_t ordinal, aloft_text name,
                              const alo_tds_type *type);
void alo_tds_put_order(alo_tds_writer *writer, const uint16_t *columns, size_t count);
/* FEATUREEXTACK with one feature and its end. */
void alo_tds_put_feature_ack(alo_tds_writer *writer, uint8_t id, aloft_bytes data);

#endif
