/* The SQL Server client (TDS 7.4): connections, queries read step by step, and a pool. */
#ifndef ALOFT_TDS_H
#define ALOFT_TDS_H

#include <aloft/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aloft_tds aloft_tds;
typedef struct aloft_tds_query aloft_tds_query;

/* ---- values ---- */

typedef enum aloft_tds_type {
  ALOFT_TDS_UNKNOWN,
  ALOFT_TDS_BIT,
  ALOFT_TDS_TINYINT,
  ALOFT_TDS_SMALLINT,
  ALOFT_TDS_INT,
  ALOFT_TDS_BIGINT,
  ALOFT_TDS_REAL,
  ALOFT_TDS_FLOAT,
  ALOFT_TDS_DECIMAL,
  ALOFT_TDS_NUMERIC,
  ALOFT_TDS_SMALLMONEY,
  ALOFT_TDS_MONEY,
  ALOFT_TDS_CHAR,
  ALOFT_TDS_VARCHAR,
  ALOFT_TDS_NCHAR,
  ALOFT_TDS_NVARCHAR,
  ALOFT_TDS_BINARY,
  ALOFT_TDS_VARBINARY,
  ALOFT_TDS_UNIQUEIDENTIFIER,
  ALOFT_TDS_DATE,
  ALOFT_TDS_TIME,
  ALOFT_TDS_SMALLDATETIME,
  ALOFT_TDS_DATETIME,
  ALOFT_TDS_DATETIME2,
  ALOFT_TDS_DATETIMEOFFSET,
  ALOFT_TDS_TEXT,
  ALOFT_TDS_NTEXT,
  ALOFT_TDS_IMAGE,
  ALOFT_TDS_XML,
  ALOFT_TDS_VARIANT,
  ALOFT_TDS_UDT,
  ALOFT_TDS_ROWVERSION, /* 8 bytes; "timestamp" is its older name */
  ALOFT_TDS_JSON        /* sent as such only by servers that know it; text in UTF-8 */
} aloft_tds_type;

/* An exact decimal: (negative ? -1 : 1) * (high * 2^64 + low) / 10^scale. Precision 1 to 38. */
typedef struct aloft_tds_decimal {
  uint64_t low, high;
  uint8_t precision, scale;
  bool negative;
} aloft_tds_decimal;

/* A date and time of any of the date types; the parts that a type lacks are 0. For datetimeoffset
 * day and time are UTC, as on the wire; the local time is `offset_minutes` later. */
typedef struct aloft_tds_moment {
  int32_t days;   /* since 0001-01-01 */
  uint64_t ticks; /* of 100 ns since midnight */
  int16_t offset_minutes;
} aloft_tds_moment;

typedef struct aloft_tds_uuid {
  uint8_t bytes[16]; /* in the order of the text form */
} aloft_tds_uuid;

typedef struct aloft_tds_column {
  aloft_text name; /* UTF-8; may be empty */
  aloft_tds_type type;
  const char *type_name; /* SQL's: "int", "nvarchar", "nvarchar(max)"...; a constant */
  uint32_t size;         /* largest length in bytes; 0 for (max) and where it has no meaning */
  bool max;              /* varchar(max), nvarchar(max), varbinary(max) */
  uint8_t precision, scale;
  uint8_t collation[5]; /* of character types, as on the wire */
  bool nullable, identity, computed, hidden, key;
  /* Where the server tells them (SELECT ... FOR BROWSE, text and image; MS-TDS 2.2.7.23, 2.2.7.4),
   * known from the first row on; empty: it does not. */
  aloft_text table;     /* parts joined with '.' */
  aloft_text base_name; /* of the column in its table, when `name` is another */
  aloft_text udt;       /* "database.schema.type" of a UDT */
} aloft_tds_column;

/* ---- connection ---- */

typedef struct aloft_tds_config {
  size_t size; /* sizeof(aloft_tds_config) */
  /* SqlClient's keywords and synonyms: "Server=tcp:host,port;Database=...;User Id=...;Password=...;
   * Encrypt=Mandatory;TrustServerCertificate=...;Connect Timeout=15;Packet Size=8000;
   * Application Name=...;Workstation ID=...". An unknown keyword is refused by name. [call] */
  aloft_text connection_string;
  aloft_text user, password;   /* [call] over those of the string; wiped after use */
  uint64_t connect_timeout_ns; /* over the whole connect; 0: the string's (default 15 s) */
  uint64_t cancel_timeout_ns;  /* for the server to acknowledge a cancelled query, after which the
                                  socket is dropped; 0: 5 s */
  size_t tx_bytes_max;         /* of requests not yet written, also of each one; 0: 64 MiB */
  size_t rx_bytes_max;         /* received and not yet stepped over, after which reading from the
                                  socket pauses; 0: 256 KiB */
  size_t value_max;            /* of one large value in bytes, decoded; 0: 64 MiB. Those of one row
                                  may have four times that together. Memory that large values
                                  and requests took is kept for the next; what of it 10 s have
                                  not needed a quarter of is given back between answers, but for
                                  1 MiB */
  uint32_t columns_max;        /* 0: 4,096 */
  uint32_t queries_max;        /* waiting on one connection for their turn; 0: 64 */
  /* Over HostNameInCertificate, ServerCertificate and CA File of the string. The files (PEM; a
   * server certificate also DER) are read by the open. [call] */
  aloft_text host_name_in_certificate, server_certificate, ca_file;
  bool strict_text; /* character data that is not well-formed is ALOFT_WRONG_TYPE when it is asked
                       for; otherwise U+FFFD stands for what is broken */
} aloft_tds_config;

/* Begins to connect; queries may be started at once and are sent when login is over. `op` (may be
 * NULL) completes then, or with ALOFT_RESOLVE, ALOFT_CONNECT, ALOFT_TIMEOUT, ALOFT_ENCRYPTION,
 * ALOFT_AUTH (the server's error 18456...), ALOFT_SERVER, ALOFT_PROTOCOL, ALOFT_UNSUPPORTED (it
 * routes the login elsewhere); queries that waited for it share its status. After a failure the
 * connection stays dead and refuses with that status; close it. Stopping `op` gives the connect up.
 * Refused: ALOFT_ARGUMENT (what in the string, config or a certificate's file), ALOFT_RESOLVE,
 * ALOFT_CONNECT, ALOFT_NO_MEMORY, ALOFT_CLOSED; the text is in aloft_loop_error too. */
ALOFT_API aloft_status aloft_tds_open(aloft_tds **tds, aloft_loop *loop,
                                      const aloft_tds_config *config, aloft_op *op);

/* Closes at once: queries complete with ALOFT_CLOSED before `op` (may be NULL) does. The handle is
 * invalid after `op`'s done; without one at once, but in callbacks that are still to run.
 * ALOFT_WRONG_STATE: it is a pool's: give it back. ALOFT_CLOSED: it has been closed before. */
ALOFT_API aloft_status aloft_tds_close(aloft_tds *tds, aloft_op *op);

typedef struct aloft_tds_info {
  size_t size; /* sizeof(aloft_tds_info), set by the caller */
  bool connected, dead;
  aloft_text database, server_name; /* valid until the loop's next turn */
  uint8_t server_version[4];        /* major, minor, build (2, high first) */
  uint32_t packet_size;
  uint32_t spid;
  uint32_t queries; /* in flight */
  bool in_transaction;
  bool draining;       /* the answer of a cancelled query is still owed by the server */
  uint64_t attentions; /* sent */
  uint64_t snapshots;  /* stops in the middle of an answer */
  uint64_t bytes_in, bytes_out;
} aloft_tds_info;
ALOFT_API void aloft_tds_get_info(const aloft_tds *tds, aloft_tds_info *info);

/* How a connection that is logged in is encrypted; texts end with a NUL, are cut where they are too
 * long, and empty when it is not. */
typedef struct aloft_tds_encryption {
  size_t size;          /* sizeof(aloft_tds_encryption), set by the caller */
  bool encrypted;       /* all of it */
  bool login_encrypted; /* its login at least */
  char protocol[16];    /* "TLSv1.3" */
  char cipher[64];
  char subject[256];    /* of the server's certificate */
  char expires[32];     /* "2027-01-31T23:59:59Z" */
  char fingerprint[96]; /* SHA-256, "AB:CD:..." */
} aloft_tds_encryption;
ALOFT_API void aloft_tds_get_encryption(const aloft_tds *tds, aloft_tds_encryption *encryption);

/* ---- queries ---- */

/* A parameter. Only the member of `value` that its type names is read:
 *   integer        BIT, TINYINT, SMALLINT, INT, BIGINT
 *   real           REAL, FLOAT
 *   decimal        DECIMAL, NUMERIC, SMALLMONEY, MONEY
 *   text           CHAR, VARCHAR, NCHAR, NVARCHAR, TEXT, NTEXT, XML, JSON (UTF-8)
 *   bytes          BINARY, VARBINARY, IMAGE, ROWVERSION, UDT
 *   moment         DATE, TIME, SMALLDATETIME, DATETIME, DATETIME2, DATETIMEOFFSET
 *   uuid           UNIQUEIDENTIFIER
 *   variant        VARIANT
 * With `sql` text is sent as nvarchar whatever its type, so that the server sees it unchanged. With
 * `procedure` CHAR, VARCHAR and TEXT are in the code page of the database, '?' for what that lacks
 * (as nchar, nvarchar and ntext when the server has not told it, also before login is over), and
 * JSON is json to a server that knows it. TEXT, NTEXT and IMAGE cannot be output. */
typedef struct aloft_tds_param {
  aloft_text name; /* with or without "@"; with `procedure` it may be empty: by position */
  aloft_tds_type type;
  bool null;
  uint8_t scale; /* of TIME, DATETIME2, DATETIMEOFFSET: digits of the second, 0 to 7 */
  union {
    int64_t integer;
    double real;
    aloft_tds_decimal decimal;
    aloft_text text;   /* [call] */
    aloft_bytes bytes; /* [call] */
    aloft_tds_moment moment;
    aloft_tds_uuid uuid;
    const struct aloft_tds_param *variant; /* [call] not (max), not VARIANT; its name is not read */
  } value;
  bool output;     /* its value comes back: step says ALOFT_OUTPUT */
  bool by_default; /* with `procedure`: the procedure's own default; no value is read */
  uint32_t size;   /* declared, of text in characters (of CHAR and VARCHAR to a procedure in bytes)
                      and of bytes; 0: as the value needs, and for `output` (max) */
  aloft_text udt_name; /* [call] UDT: "database.schema.type", "schema.type" or "type" */
} aloft_tds_param;

/* How large values (varchar(max), nvarchar(max), varbinary(max), xml, json, UDT, text, ntext,
 * image) are had. */
typedef enum aloft_tds_large {
  ALOFT_TDS_WHOLE, /* like other values, up to value_max */
  ALOFT_TDS_PIECES /* in bounded memory whatever their size: see aloft_tds_read */
} aloft_tds_large;

/* A query: one batch, with parameters one sp_executesql, or a procedure called by name. Completes
 * with ALOFT_OK when the whole answer has been read; ALOFT_SERVER when an error of severity above
 * 10 came (the first one is `op.error`); ALOFT_TIMEOUT, ALOFT_CANCELLED (the server is told to
 * stop, and the connection is used on; an answer that has arrived whole when the time is over, and
 * that the caller has not been told of, is read all the same); ALOFT_LOST or ALOFT_LOST_UNSENT
 * (also when it waited for a connection that failed otherwise); ALOFT_CLOSED; ALOFT_PROTOCOL,
 * ALOFT_UNSUPPORTED, ALOFT_NO_MEMORY (the connection is dead); ALOFT_WRONG_TYPE, ALOFT_TOO_LARGE
 * when an accessor was asked in vain. */
struct aloft_tds_query {
  aloft_op op;
  aloft_text sql;                /* [call] */
  const aloft_tds_param *params; /* [call] */
  size_t param_count;            /* at most 2,100 */
  /* Called when there is something to step over, first and after each ALOFT_PENDING. NULL: rows
   * are skipped and done runs at the end. */
  void (*ready)(aloft_tds_query *query);
  /* Called for each message and error of the server, in the order of the answer, inside step (or in
   * its place when `ready` is NULL). May be NULL. Does not step. [done] */
  void (*message)(aloft_tds_query *query, const aloft_error *message);
  int64_t rows_affected; /* sum of the counts sent by the server; -1: none was sent */
  bool returned;         /* a return status came */
  int32_t return_status;
  struct {
    aloft_tds *tds;
    aloft_tds_query *next;
    aloft_item ready;
    uint64_t tx_begin, tx_end;
    uint32_t flags;
  } own;
  aloft_text procedure; /* [call] in place of `sql`: "schema.name", "[my schema].name"..., called
                           (RPC, MS-TDS 2.2.6.6); at most 523 characters */
  aloft_tds_large large;
  /* Called, like `message`, at the end of each statement that tells how many rows it has affected
   * or returned. May be NULL. */
  void (*counted)(aloft_tds_query *query, uint64_t rows);
};

/* ALOFT_ARGUMENT, ALOFT_UNSUPPORTED, ALOFT_TOO_LARGE (the query alone is over tx_bytes_max, or a
 * parameter over 2 GiB or its declared size), ALOFT_TOO_MANY (queries_max), ALOFT_FULL
 * (tx_bytes_max, with what is not yet written: wait), ALOFT_NO_MEMORY; ALOFT_CLOSED, or the status
 * with which the connection died (ALOFT_LOST...). One query at a time is on the wire; the others
 * wait their turn in order. */
ALOFT_API aloft_status aloft_tds_query_start(aloft_tds *tds, aloft_tds_query *query);

/* The next thing in the answer: ALOFT_RESULT (look at the columns), ALOFT_ROW (values are valid
 * until the next step), ALOFT_MORE (only with ALOFT_TDS_PIECES: the same row, further columns),
 * ALOFT_OUTPUT (of a call or a query with an `output` parameter: that one's value, as column 0 of
 * one), ALOFT_PENDING, ALOFT_DONE, or an error; after the last two done follows (until then step
 * says the same again). What of the row, or of a value in pieces, has not been read is passed over.
 * ALOFT_WRONG_STATE: not in flight, or called from `message` or `counted`. */
ALOFT_API aloft_status aloft_tds_step(aloft_tds_query *query);

/* ALOFT_TDS_PIECES: a large value that is neither NULL nor known to be empty stops its row.
 * ALOFT_ROW then shows the columns before it (later ones are ALOFT_WRONG_TYPE for accessors), and
 * the value is had with aloft_tds_read; the step after it says ALOFT_MORE, with the columns up to
 * the next large value or the row's end. All columns shown stay valid until the next row. */
#define ALOFT_TDS_NO_COLUMN SIZE_MAX
/* The large value's column; ALOFT_TDS_NO_COLUMN: none, the row is complete. */
ALOFT_API size_t aloft_tds_open_column(const aloft_tds_query *query);
/* Its size on the wire in bytes (of UTF-16: two a unit), as the server announces it; UINT64_MAX: it
 * does not. */
ALOFT_API uint64_t aloft_tds_open_size(const aloft_tds_query *query);
/* The next piece of it: text in whole characters as UTF-8, everything else as it is. ALOFT_OK: at
 * most 64 KiB, never empty, valid until the next call on the query. ALOFT_PENDING: more when
 * `ready` is called. ALOFT_DONE: the value was complete. An error: as step says it.
 * ALOFT_WRONG_STATE: there is no such value. */
ALOFT_API aloft_status aloft_tds_read(aloft_tds_query *query, aloft_bytes *piece);

/* After ALOFT_OUTPUT: the index in `params`, or `param_count` for a function's result. Values come
 * in the server's order: large ones last. */
ALOFT_API size_t aloft_tds_output(const aloft_tds_query *query);

/* The columns of the current result set: valid until a step shows no ALOFT_ROW, or done returns.
 * In done itself ask no more: none are found then, as beyond the last one (NULL). */
ALOFT_API size_t aloft_tds_column_count(const aloft_tds_query *query);
ALOFT_API const aloft_tds_column *aloft_tds_get_column(const aloft_tds_query *query, size_t column);

/* The type of a value of the current row: that in a sql_variant unless it is NULL, else the
 * column's. ALOFT_TDS_UNKNOWN: a sql_variant of a type that Aloft does not know, or there is no
 * such column. */
ALOFT_API aloft_tds_type aloft_tds_value_type(aloft_tds_query *query, size_t column);

/* Whether a value can be had, which fails nothing: ALOFT_OK (also for NULL); ALOFT_TOO_LARGE (over
 * value_max); ALOFT_WRONG_TYPE (a sql_variant of a type that Aloft does not know; a date that there
 * is not; with `strict_text` text that is not well-formed; text in a code page that the system
 * lacks; a column that is read in pieces, or has not come); ALOFT_NO_MEMORY; ALOFT_WRONG_STATE:
 * there is no row, or no such column. */
ALOFT_API aloft_status aloft_tds_check(aloft_tds_query *query, size_t column);

/* Values of the current row, in any order, decoded when asked. An accessor of the wrong type, for
 * NULL where a number is wanted, or for a value that cannot be had (over value_max) returns 0 and
 * fails the query: the next step gives ALOFT_WRONG_TYPE or ALOFT_TOO_LARGE with the column's name
 * in the error, its type and what to call instead; the connection stays usable. A sql_variant is
 * read as the type in it. */
ALOFT_API bool aloft_tds_is_null(aloft_tds_query *query, size_t column);
ALOFT_API bool aloft_tds_bit(aloft_tds_query *query, size_t column);
ALOFT_API int32_t aloft_tds_int32(aloft_tds_query *query, size_t column); /* as int64, if it fits */
ALOFT_API int64_t aloft_tds_int64(aloft_tds_query *query, size_t column); /* bit to bigint */
ALOFT_API double aloft_tds_double(aloft_tds_query *query, size_t column); /* real, float */
ALOFT_API aloft_tds_decimal aloft_tds_get_decimal(aloft_tds_query *query, size_t column);
ALOFT_API aloft_tds_moment aloft_tds_get_moment(aloft_tds_query *query, size_t column);
ALOFT_API aloft_tds_uuid aloft_tds_get_uuid(aloft_tds_query *query, size_t column);
/* binary, varbinary, image, rowversion, UDT */
ALOFT_API aloft_bytes aloft_tds_get_bytes(aloft_tds_query *query, size_t column);
/* Any type, as UTF-8: character data as it is, everything else in its canonical text. Absent for
 * NULL. Made once: asked again, it is the same. [done: until the next step] */
ALOFT_API aloft_text aloft_tds_text(aloft_tds_query *query, size_t column);

/* ---- pool ---- */

typedef struct aloft_tds_pool aloft_tds_pool;

typedef struct aloft_tds_pool_config {
  size_t size;                 /* sizeof(aloft_tds_pool_config) */
  aloft_tds_config connection; /* [call] copied; credentials are held until the pool is closed */
  uint32_t connections_max;    /* 0: 100 */
  uint32_t waiting_max;        /* acquisitions waiting for a connection; 0: 1,024 */
} aloft_tds_pool_config;

/* Opens no connection yet. ALOFT_ARGUMENT, as for aloft_tds_open, ALOFT_NO_MEMORY, ALOFT_CLOSED;
 * the text is in aloft_loop_error. */
ALOFT_API aloft_status aloft_tds_pool_open(aloft_tds_pool **pool, aloft_loop *loop,
                                           const aloft_tds_pool_config *config);

/* An acquisition. Completes with ALOFT_OK and `tds` set: a connection that is logged in, whose
 * session is reset before its next query; or with the status of the connect that failed
 * (ALOFT_LOST: the server ended it right after login); ALOFT_TIMEOUT, ALOFT_CANCELLED,
 * ALOFT_CLOSED. */
typedef struct aloft_tds_acquire {
  aloft_op op;
  aloft_tds *tds;
  struct {
    void *link[2];
    void *slot;
  } own;
} aloft_tds_acquire;

/* First come, first served. Refused: ALOFT_TOO_MANY (waiting_max), ALOFT_CLOSED, or as
 * aloft_tds_open when a new connection was needed. Stopping an acquisition leaves its connect going
 * on, for the next. */
ALOFT_API aloft_status aloft_tds_pool_take(aloft_tds_pool *pool, aloft_tds_acquire *acquire);

/* Gives a connection back, once. Queries still in flight on it are cancelled; a dead one is
 * replaced when next needed. */
ALOFT_API void aloft_tds_pool_give(aloft_tds_pool *pool, aloft_tds *tds);

/* Closes all connections; acquisitions complete with ALOFT_CLOSED, then `op` (may be NULL). */
ALOFT_API aloft_status aloft_tds_pool_close(aloft_tds_pool *pool, aloft_op *op);

typedef struct aloft_tds_pool_info {
  size_t size; /* sizeof(aloft_tds_pool_info), set by the caller */
  uint32_t connections, idle, waiting;
} aloft_tds_pool_info;
ALOFT_API void aloft_tds_pool_get_info(const aloft_tds_pool *pool, aloft_tds_pool_info *info);

#ifdef __cplusplus
}
#endif
#endif
