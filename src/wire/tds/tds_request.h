/* What a TDS client sends (MS-TDS 2.2.6), both ways: written by the client, read by lite.
 *
 * The put functions write a payload; the caller begins and ends the message. The parse functions
 * take a payload whose packets have been joined; any bytes are safe to give them. They return NULL,
 * or a constant that says what is wrong. Views point into the payload. */
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

/* What both sides make of the client's ENCRYPTION and the server's answer to it. */
typedef enum alo_tds_protection {
  ALO_TDS_PLAIN,
  ALO_TDS_LOGIN_ENCRYPTED, /* the LOGIN7 message alone; what follows is plain */
  ALO_TDS_ALL_ENCRYPTED,
  ALO_TDS_NO_AGREEMENT /* the connection ends before LOGIN7 */
} alo_tds_protection;

/* The table of 2.2.6.5. A client that asks for encryption is never answered with less. */
alo_tds_protection alo_tds_agree(uint8_t client, uint8_t server);
/* The server's answer: `able` to encrypt at all, `demanding` that all is. */
uint8_t alo_tds_answer_encryption(uint8_t client, bool able, bool demanding);

typedef struct alo_tds_prelogin {
  uint8_t version[6]; /* major, minor, build (2, high first), sub-build (2) */
  uint8_t encryption;
  bool has_encryption;
  bool mars, fed_auth_required;
  aloft_text instance; /* without the NUL; bytes of the client's code page */
  uint32_t thread_id;
} alo_tds_prelogin;

/* `server`: as an answer (one byte for the instance, no thread id). An instance with a NUL in it is
 * ALOFT_ARGUMENT. */
void alo_tds_put_prelogin(alo_tds_writer *writer, const alo_tds_prelogin *prelogin, bool server);
/* Unknown options are passed over, as the document asks; VERSION must be there. */
const char *alo_tds_parse_prelogin(aloft_bytes payload, alo_tds_prelogin *prelogin);

/* ---- LOGIN7, 2.2.6.4 ---- */

enum {
  ALO_TDS_VERSION_7_4 = 0x74000004,
  /* option_flags1 */
  ALO_TDS_USE_DB = 0x20,        /* the server tells of a change of database */
  ALO_TDS_INIT_DB_FATAL = 0x40, /* a database that cannot be used fails the login */
  ALO_TDS_SET_LANG = 0x80,      /* the server tells of a change of language */
  /* option_flags2 */
  ALO_TDS_INIT_LANG_FATAL = 0x01,
  ALO_TDS_ODBC = 0x02,
  ALO_TDS_INT_SECURITY = 0x80,
  /* option_flags3 */
  ALO_TDS_CHANGE_PASSWORD = 0x01,
  ALO_TDS_EXTENSION = 0x10
};

enum { ALO_TDS_FEATURE_UTF8 = 0x0A, ALO_TDS_FEATURE_JSON = 0x0D, ALO_TDS_JSON_VERSION = 1 };

typedef struct alo_tds_login {
  uint32_t tds_version; /* put: 0 is ALO_TDS_VERSION_7_4 */
  uint32_t packet_size; /* put: 0 is ALO_TDS_PACKET_DEFAULT */
  uint32_t client_pid;
  uint8_t option_flags1, option_flags2, type_flags, option_flags3;
  uint32_t lcid;
  aloft_text host, user, password, application, server, library, language, database;
  aloft_text new_password, attach_file;
  bool utf8_feature;    /* FEATUREEXT: UTF8_SUPPORT */
  uint8_t json_feature; /* FEATUREEXT: JSONSUPPORT, the version asked for (1); 0: not asked */
} alo_tds_login;

/* Writes the flags given and always, as SqlClient and FreeTDS do: USE_DB, INIT_DB_FATAL, SET_LANG,
 * INIT_LANG_FATAL (a wrong database or language fails the login rather than going unnoticed) and
 * ODBC (the session gets the ANSI settings, TEXTSIZE and ROWCOUNT without limit, and no implicit
 * transactions); EXTENSION and CHANGE_PASSWORD when there is a feature or a new password.
 * ALOFT_ARGUMENT: a field has over 128 UTF-16 units (attach_file: 260). The password passes through
 * memory that is wiped; its scrambled form stays in the writer's buffer until that is reused. */
void alo_tds_put_login(alo_tds_writer *writer, const alo_tds_login *login);

/* Texts become UTF-8 in `memory` [as long as memory]; room 2 * payload.size holds every honest
 * login. A login that is well-formed, but asks for what Aloft does not have (integrated security,
 * federated authentication, TDS before 7.2), sets `*unsupported` to its name, else to NULL. */
const char *alo_tds_parse_login(aloft_bytes payload, alo_tds_login *login, char *memory,
                                size_t room, const char **unsupported);

/* ---- ALL_HEADERS 2.2.5.3, SQLBatch 2.2.6.7, RPC 2.2.6.6 ---- */

void alo_tds_put_headers(alo_tds_writer *writer, uint64_t transaction);
void alo_tds_put_batch(alo_tds_writer *writer, uint64_t transaction, aloft_text sql);

/* The parameter that could not be sent. */
typedef struct alo_tds_bad_param {
  size_t index;    /* their count: none was at fault */
  const char *why; /* a constant sentence, also of the procedure; NULL: as the status says */
} alo_tds_bad_param;

/* sp_executesql: the statement, the parameters' declarations, their values; in what types is told
 * in tds_param.h and in the public struct. Absent text or bytes (data NULL) are NULL. A name is
 * letters, digits, `_ @ $ #`, at most 127 without its "@", for it becomes SQL. When a parameter is
 * at fault (ALOFT_ARGUMENT, ALOFT_UNSUPPORTED, ALOFT_TOO_LARGE) `bad` says which. The caller limits
 * `count` to 2,100. */
void alo_tds_put_executesql(alo_tds_writer *writer, uint64_t transaction, aloft_text sql,
                            const aloft_tds_param *params, size_t count, alo_tds_bad_param *bad);
/* NULL, or what is wrong with a procedure's name (a constant). It has one to four parts (server,
 * database, schema, name), each plain or quoted as T-SQL does it ([a]]b], "a""b"), at most 523
 * UTF-16 units, and maybe ";2" behind it. It is sent as it is: the server takes it apart. */
const char *alo_tds_check_procedure(aloft_text name);
/* What a server has told that calls depend on. */
typedef struct alo_tds_server {
  const uint8_t *collation; /* 5 bytes, for char, varchar and text; NULL: not known, these are sent
                               as nchar, nvarchar and ntext */
  bool json;                /* it knows json; otherwise that is sent as nvarchar */
} alo_tds_server;

/* A procedure by such a name, else ALOFT_ARGUMENT, and `bad->why` says why. */
void alo_tds_put_call(alo_tds_writer *writer, uint64_t transaction, aloft_text procedure,
                      const alo_tds_server *server, const aloft_tds_param *params, size_t count,
                      alo_tds_bad_param *bad);

/* Server side. ALL_HEADERS: `*rest` is what follows; transaction 0 when there is no header of it.
 * What follows is the SQL in UTF-16LE for SQLBatch. */
const char *alo_tds_parse_headers(aloft_bytes payload, uint64_t *transaction, aloft_bytes *rest);

enum {
  ALO_TDS_SP_EXECUTESQL = 10,
  ALO_TDS_SP_PREPARE = 11,
  ALO_TDS_SP_EXECUTE = 12,
  ALO_TDS_SP_PREPEXEC = 13,
  ALO_TDS_SP_UNPREPARE = 15
};

/* One RPC of a request. Several are separated by 0xFF (0x80 before TDS 7.2), or by 0xFE, which
 * means that the one before it is not to be run. */
typedef struct alo_tds_rpc {
  aloft_bytes name;   /* UTF-16LE; empty when `procedure` is set */
  uint16_t procedure; /* a well-known one (ALO_TDS_SP_...), or 0: by name */
  uint16_t options;
  aloft_bytes parameters; /* read with alo_tds_parse_param until `end` */
} alo_tds_rpc;

typedef struct alo_tds_rpc_param {
  aloft_bytes name; /* UTF-16LE with "@"; may be empty */
  bool output, default_value;
  alo_tds_type type;
  aloft_bytes udt[ALO_TDS_UDT_PARTS]; /* of a UDT, UTF-16LE: database, schema, type */
  bool null;
  const uint8_t *data; /* a complete value; a PLP value's chunks are joined in place */
  size_t size;
} alo_tds_rpc_param;

/* `*rest`: what follows the headers, or an earlier RPC's end. */
const char *alo_tds_parse_rpc(aloft_bytes rest, alo_tds_rpc *rpc);
/* Moves `*parameters` forward. The payload is writable and each parameter is read once, since PLP
 * chunks are joined in it. `*end` at the end of this RPC: then `*parameters` is empty, or begins
 * the next RPC. */
const char *alo_tds_parse_param(aloft_bytes *parameters, alo_tds_rpc_param *param, bool *end);

/* Reads one TYPE_INFO as a request has it, and one value of it, from contiguous bytes: moves `*in`
 * forward (not on an error). Sizes of decimals and nvarchar as FreeTDS sends them are taken too,
 * and rounded up to the next that a server sends. A value's length is checked against its type, its
 * content is not: the decoders do that. A PLP value is joined in place, so it is read once. */
const char *alo_tds_parse_type(aloft_bytes *in, alo_tds_type *type);
const char *alo_tds_parse_value(aloft_bytes *in, const alo_tds_type *type, const uint8_t **data,
                                size_t *size, bool *null);

/* ---- transaction manager request, 2.2.6.9 ---- */

enum { ALO_TDS_TM_BEGIN = 5, ALO_TDS_TM_COMMIT = 7, ALO_TDS_TM_ROLLBACK = 8, ALO_TDS_TM_SAVE = 9 };

typedef struct alo_tds_transaction {
  uint16_t request;
  uint8_t isolation; /* BEGIN, or the one begun after: 0 as it is, 1 read uncommitted, 2 read
                        committed, 3 repeatable read, 4 serializable, 5 snapshot */
  bool begin_after;  /* COMMIT, ROLLBACK: fBeginXact */
  aloft_bytes name;  /* UTF-16LE: of the transaction or the savepoint; may be empty */
} alo_tds_transaction;

/* `rest`: what follows the headers. A request other than the four is an error that says so. */
const char *alo_tds_parse_transaction(aloft_bytes rest, alo_tds_transaction *transaction);
/* The whole payload, headers included. */
void alo_tds_put_transaction(alo_tds_writer *writer, uint64_t transaction,
                             const alo_tds_transaction *request, aloft_text name);

#endif
