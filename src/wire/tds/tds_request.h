/* What a TDS client sends (MS-TDS 2.2.6), both ways: written by the client, read by lite. */
#ifndef ALO_TDS_REQUEST_H
#define ALO_TDS_REQUEST_H

#include "tds_value.h"

/* ---- PRELOGIN, 2.2.6.5 (also the server's answer) ---- */
enum {
  ALO_TDS_ENCRYPT_OFF = 0,
  ALO_TDS_ENCRYPT_ON = 1,
  ALO_TDS_ENCRYPT_NOT_SUP = 2,
  ALO_TDS_ENCRYPT_REQ = 3
};
typedef struct alo_tds_prelogin {
  uint8_t version[6]; /* major, minor, build (2), sub-build (2) */
  uint8_t encryption;
  bool has_encryption;
  bool mars, fed_auth_required;
  aloft_text instance; /* without the NUL */
  uint32_t thread_id;
} alo_tds_prelogin;
/* The payload only; the caller begins and ends the message. */
void alo_tds_put_prelogin(alo_tds_writer *writer, const alo_tds_prelogin *prelogin, bool server);
/* NULL or what is wrong. Views into `payload`. */
const char *alo_tds_parse_prelogin(aloft_bytes payload, alo_tds_prelogin *prelogin);

/* ---- LOGIN7, 2.2.6.4 ---- */
typedef struct alo_tds_login {
  uint32_t tds_version; /* 0x74000004 */
  uint32_t packet_size;
  uint32_t client_pid;
  uint8_t option_flags1, option_flags2, type_flags, option_flags3;
  uint32_t lcid;
  aloft_text host, user, password, application, server, library, language, database;
  aloft_text new_password, attach_file;
  bool utf8_feature; /* FEATUREEXT: UTF8_SUPPORT */
} alo_tds_login;
/* ALOFT_ARGUMENT sticks in the writer when a field has over 128 UTF-16 units. */
void alo_tds_put_login(alo_tds_writer *writer, const alo_tds_login *login);
/* Reads it into texts in `memory` (room bytes, enough: 2 * payload.size). NULL or what is wrong.
 * Integrated security and FEDAUTH are reported through `unsupported`. */
const char *alo_tds_parse_login(aloft_bytes payload, alo_tds_login *login, char *memory,
                                size_t room, const char **unsupported);

/* ---- ALL_HEADERS, 2.2.5.3, SQLBatch 2.2.6.7, RPC 2.2.6.6 ---- */
void alo_tds_put_headers(alo_tds_writer *writer, uint64_t transaction);
void alo_tds_put_batch(alo_tds_writer *writer, uint64_t transaction, aloft_text sql);
/* sp_executesql with its parameter declarations, or the writer fails with ALOFT_ARGUMENT or
 * ALOFT_UNSUPPORTED; `*bad` is then the index of the parameter. */
void alo_tds_put_executesql(alo_tds_writer *writer, uint64_t transaction, aloft_text sql,
                            const aloft_tds_param *params, size_t count, size_t *bad);

/* Server side. ALL_HEADERS: `*rest` is what follows; transaction 0 when absent. */
const char *alo_tds_parse_headers(aloft_bytes payload, uint64_t *transaction, aloft_bytes *rest);

/* One RPC of a request; several are separated by 0x80 or 0xFF. */
typedef struct alo_tds_rpc {
  aloft_bytes name;   /* UTF-16LE; empty when `procedure` is set */
  uint16_t procedure; /* well-known: 10 sp_executesql, 11 sp_prepare, 12 sp_execute, 13
                         sp_prepexec, 15 sp_unprepare... 0: by name */
  uint16_t options;
  aloft_bytes parameters; /* read with alo_tds_parse_param until it is empty */
} alo_tds_rpc;
typedef struct alo_tds_rpc_param {
  aloft_bytes name; /* UTF-16LE with "@"; may be empty */
  bool output, default_value;
  alo_tds_type type;
  bool null;
  const uint8_t *data; /* a complete value; a PLP value's chunks are joined in place */
  size_t size;
} alo_tds_rpc_param;
/* `*rest`: what follows the procedure and options. */
const char *alo_tds_parse_rpc(aloft_bytes rest, alo_tds_rpc *rpc);
/* Moves `*parameters` forward; the payload is writable, since PLP chunks are joined in it. NULL or
 * what is wrong; `*end` at the end of this RPC (then `*parameters` begins the next RPC, if any). */
const char *alo_tds_parse_param(aloft_bytes *parameters, alo_tds_rpc_param *param, bool *end);

/* Reads one TYPE_INFO, and one value of it, from contiguous bytes: moves `*in` forward. */
const char *alo_tds_parse_type(aloft_bytes *in, alo_tds_type *type);
const char *alo_tds_parse_value(aloft_bytes *in, const alo_tds_type *type, const uint8_t **data,
                                size_t *size, bool *null);

/* ---- transaction manager request, 2.2.6.9 ---- */
enum { ALO_TDS_TM_BEGIN = 5, ALO_TDS_TM_COMMIT = 7, ALO_TDS_TM_ROLLBACK = 8, ALO_TDS_TM_SAVE = 9 };
typedef struct alo_tds_transaction {
  uint16_t request;
  uint8_t isolation; /* BEGIN */
  bool begin_after;  /* COMMIT, ROLLBACK: fBeginXact */
} alo_tds_transaction;
const char *alo_tds_parse_transaction(aloft_bytes rest, alo_tds_transaction *transaction);

#endif
