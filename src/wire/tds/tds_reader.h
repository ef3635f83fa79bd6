/* The token stream of a server's answer (MS-TDS 2.2.7), read step by step and stopped anywhere.
 *
 * Bytes in, events out. The end of a packet and the end of the received bytes are one event to the
 * row parser: it gets payload slices, carries at most 32 bytes of a cut fixed-size piece, and
 * collects a variable value that crosses a boundary once, into row memory.
 *
 * Memory: views of a ROW point into the input where a value lies in one piece there, otherwise into
 * row memory. On NEED the reader has moved what it still needs of the current row into row
 * memory: the caller may drop all of the consumed input. So no input block is ever pinned
 * across NEED; after any other event the views are valid until the next call. Nothing is read
 * twice, nothing replayed. */
#ifndef ALO_TDS_READER_H
#define ALO_TDS_READER_H

#include "tds_value.h"

typedef enum alo_tds_event {
  ALO_TDS_NEED,      /* the input is used up */
  ALO_TDS_METADATA,  /* COLMETADATA with columns: a result set begins */
  ALO_TDS_ROW_OPEN,  /* only with alo_tds_reader_pieces: the row stops at a large value; the columns
                        before it are there */
  ALO_TDS_ROW_READY, /* all columns of the row are there */
  ALO_TDS_PIECE,     /* of alo_tds_reader_read: more of the large value */
  ALO_TDS_VALUE_END, /* of alo_tds_reader_read: that was all of it */
  ALO_TDS_DONE,      /* DONE, DONEPROC, DONEINPROC: reader->done */
  ALO_TDS_MESSAGE,   /* ERROR or INFO: reader->message */
  ALO_TDS_ENVCHANGE,
  ALO_TDS_LOGINACK,
  ALO_TDS_RETURN_STATUS,
  ALO_TDS_RETURN_VALUE, /* reader->return_value and its value in reader->return_cell */
  ALO_TDS_FEATURE_ACK,  /* one feature of FEATUREEXTACK: id and data */
  ALO_TDS_END,          /* the message's last packet has been read whole */
  ALO_TDS_BROKEN        /* reader->broken at reader->broken_at; stays so */
} alo_tds_event;

enum {
  ALO_TDS_DONE_MORE = 0x0001,
  ALO_TDS_DONE_ERROR = 0x0002,
  ALO_TDS_DONE_INXACT = 0x0004,
  ALO_TDS_DONE_COUNT = 0x0010,
  ALO_TDS_DONE_ATTN = 0x0020,
  ALO_TDS_DONE_SRVERROR = 0x0100
};

typedef struct alo_tds_limits {
  uint32_t columns_max; /* 0: 4,096 */
  size_t value_max;     /* of one large value (PLP, text, ntext, image), decoded; 0: 64 MiB */
  size_t row_max;       /* of the large values of one row together; 0: 4 * value_max */
  size_t message_max;   /* of an ERROR or INFO token, and of a feature's data in FEATUREEXTACK;
                           0: 64 KiB (the first's own limit on the wire) */
} alo_tds_limits;

/* One value of the current row. */
typedef struct alo_tds_cell {
  const uint8_t *data; /* NULL: NULL, or over the limit */
  size_t size;
  bool null;
  bool over;    /* a large value above value_max or row_max: skipped */
  bool decoded; /* `data` is UTF-8 already (a large character value, decoded as it arrived) */
  bool broken;  /* decoded, with U+FFFD for what was not well-formed */
  bool kept;    /* `data` lies in row memory, not in the input */
  bool pieced;  /* a large value that was to be read in pieces: `data` is NULL */
} alo_tds_cell;

typedef struct alo_tds_column_info {
  alo_tds_type type;
  uint32_t user_type;
  uint16_t flags;  /* MS-TDS 2.2.7.4: nullable 0x01, identity 0x10, computed 0x20... */
  aloft_text name; /* UTF-8, in the reader's metadata memory, like those below */
  aloft_text udt;  /* of a UDT: "database.schema.type" */
  /* What is not told is empty. Of text, ntext and image the table is known at once; what TABNAME
   * and COLINFO tell (2.2.7.23, 2.2.7.3) only behind the METADATA event: with the first row, or
   * DONE. */
  aloft_text table;     /* parts joined with '.' */
  aloft_text base_name; /* of the column in its table, when it is another */
} alo_tds_column_info;

typedef struct alo_tds_done {
  uint8_t token; /* 0xFD DONE, 0xFE DONEPROC, 0xFF DONEINPROC */
  uint16_t status, command;
  uint64_t rows;
} alo_tds_done;

/* Texts are UTF-8 in the reader's message memory. */
typedef struct alo_tds_message {
  bool error; /* ERROR, else INFO */
  int32_t number;
  uint8_t state, severity;
  uint32_t line;
  aloft_text text, server, procedure;
} alo_tds_message;

typedef struct alo_tds_env {
  uint8_t type;          /* 1 database, 2 language, 4 packet size, 7 collation, 8 begin, ... */
  aloft_text text_new;   /* types 1, 2, 3, 4, 13, 19, 20: UTF-8 */
  aloft_bytes bytes_new; /* the others, raw */
  uint16_t routing_port; /* type 20 */
} alo_tds_env;

typedef struct alo_tds_loginack {
  uint8_t interface_type;
  uint32_t tds_version;
  aloft_text program;
  uint8_t version[4];
} alo_tds_loginack;

typedef struct alo_tds_reader alo_tds_reader;

/* Its memory: sizes grow with what is met, bounded by the limits, and stay for reuse; those for
 * values until they are trimmed. NULL: no memory. */
alo_tds_reader *alo_tds_reader_open(const aloft_allocator *heap, const alo_tds_limits *limits);
void alo_tds_reader_close(alo_tds_reader *reader);
/* Before its first byte: where code pages come from, to be valid as long as the reader. Without,
 * large values in other ones than 1252 and UTF-8 are left undecoded. */
void alo_tds_reader_use_pages(alo_tds_reader *reader, const alo_code_pages *pages);

/* Whether one of its two memories for values, cut ones and large ones, is over `size` bytes. */
bool alo_tds_reader_holds_over(const alo_tds_reader *reader, size_t size);
/* Between messages, now and then (inside one it does nothing): gives each of the two back of which
 * less than a quarter has been needed since the last time, unless it is at most `kept` bytes. */
void alo_tds_reader_trim(alo_tds_reader *reader, size_t kept);

/* Between messages: whether large values of the rows of the next one stop their row, each with an
 * ALO_TDS_ROW_OPEN, unless they are NULL or announced as empty. */
void alo_tds_reader_pieces(alo_tds_reader *reader, bool pieces);

/* The next event; `*input` is moved forward. Between messages (after END) the next byte begins a
 * new message. A refused allocation is ALO_TDS_BROKEN with reason "out of memory". */
alo_tds_event alo_tds_reader_next(alo_tds_reader *reader, aloft_bytes *input);

/* After ALO_TDS_ROW_OPEN, until it says ALO_TDS_VALUE_END: the next piece of the large value. Text
 * is whole characters in UTF-8, at most ALO_TDS_PIECE_MAX bytes and never none, valid until the
 * next call; other values as they are, in the input. Also ALO_TDS_NEED, ALO_TDS_BROKEN. What is
 * left when alo_tds_reader_next is called instead is passed over. */
enum { ALO_TDS_PIECE_MAX = 48 * 1024 };
alo_tds_event alo_tds_reader_read(alo_tds_reader *reader, aloft_bytes *input, aloft_bytes *piece);
/* The large value's column, and its size as announced (on the wire, in bytes; UINT64_MAX: it was
 * not). */
size_t alo_tds_reader_open_column(const alo_tds_reader *reader);
uint64_t alo_tds_reader_open_size(const alo_tds_reader *reader);
/* Whether the last piece has U+FFFD for what was not well-formed. */
bool alo_tds_reader_piece_broken(const alo_tds_reader *reader);

/* What the last event tells; each valid until the next call. Columns and their names live on over
 * rows and other tokens until a call meets the next COLMETADATA or message (it may answer NEED, and
 * there are no columns then). Column and cell are NULL for a column that there is not, cell also
 * for one that has not come yet. Cells of a row that stops at large values stay until the next row.
 */
size_t alo_tds_reader_column_count(const alo_tds_reader *reader);
/* Changes whenever more has been told of the columns. */
uint32_t alo_tds_reader_told(const alo_tds_reader *reader);
const alo_tds_column_info *alo_tds_reader_column(const alo_tds_reader *reader, size_t column);
const alo_tds_cell *alo_tds_reader_cell(const alo_tds_reader *reader, size_t column);
/* Both of these for a value that is there; NULL, and `*info` as it was, when it is not. */
const alo_tds_cell *alo_tds_reader_value(const alo_tds_reader *reader, size_t column,
                                         const alo_tds_column_info **info);
const alo_tds_done *alo_tds_reader_done(const alo_tds_reader *reader);
const alo_tds_message *alo_tds_reader_message(const alo_tds_reader *reader);
const alo_tds_env *alo_tds_reader_env(const alo_tds_reader *reader);
const alo_tds_loginack *alo_tds_reader_loginack(const alo_tds_reader *reader);
int32_t alo_tds_reader_return_status(const alo_tds_reader *reader);
const alo_tds_column_info *alo_tds_reader_return_value(const alo_tds_reader *reader);
const alo_tds_cell *alo_tds_reader_return_cell(const alo_tds_reader *reader);
/* As RETURNVALUE has it: its number, and 0x01 for an output parameter, 0x02 for a function's
 * result.
 */
uint16_t alo_tds_reader_return_ordinal(const alo_tds_reader *reader, uint8_t *status);
aloft_bytes alo_tds_reader_feature(const alo_tds_reader *reader, uint8_t *id);
/* The server's process id, as in the header of the last packet. */
uint16_t alo_tds_reader_spid(const alo_tds_reader *reader);
/* BROKEN: what, and the offset in the connection's stream up to which it was understood (just
 * after the field that is wrong). `unsupported`: well-formed, but Aloft
 * does not have it (types of before TDS 7): a clear error rather than a protocol error. */
const char *alo_tds_reader_broken(const alo_tds_reader *reader, uint64_t *offset,
                                  bool *unsupported);

/* Room in row memory for text that an accessor makes of a cell; valid until the next call of
 * next. NULL: no memory. */
char *alo_tds_reader_scratch(alo_tds_reader *reader, size_t size);
/* Gives back what of the last scratch was not needed: its last `size` bytes. */
void alo_tds_reader_scratch_return(alo_tds_reader *reader, size_t size);
/* Where the accessor remembers the text that it has made of a cell of the current row: absent at
 * first. Valid until the next call of next. NULL: no memory. */
aloft_text *alo_tds_reader_made_text(alo_tds_reader *reader, size_t column);

/* From now until END (which ends it) rows are passed over without keeping values, and METADATA,
 * ROW_READY, MESSAGE, RETURN_* are not reported; DONE and ENVCHANGE are (draining after a cancel).
 */
void alo_tds_reader_skip(alo_tds_reader *reader, bool skip);

/* What has come in this message, remembered until the next one begins. */
enum {
  ALO_TDS_HAS_PENDING = 0x01,  /* a message has begun and not ended */
  ALO_TDS_HAS_RESULT = 0x02,   /* METADATA has come and its DONE has not */
  ALO_TDS_HAS_ERROR = 0x04,    /* an ERROR token */
  ALO_TDS_HAS_METADATA = 0x08, /* columns are known, rows may come */
  ALO_TDS_HAS_ATTENTION = 0x10 /* a DONE that acknowledges ATTENTION */
};
bool alo_tds_reader_has(const alo_tds_reader *reader, uint8_t flag);

/* True when the message being read ends within `input`, found by its packet headers alone (used
 * only when a timeout is due while bytes wait). */
bool alo_tds_reader_ends_within(const alo_tds_reader *reader, const aloft_bytes *pieces,
                                size_t count);

/* Counters of this reader. */
typedef struct alo_tds_counters {
  uint64_t bytes;        /* received, packet headers included */
  uint64_t parsed_bytes; /* looked at: as many, but for pieces that a boundary cut */
  uint64_t moved_bytes;  /* of values, copied because of a boundary or a stop */
  uint64_t rows;
  uint64_t stops;      /* NEED inside a message: snapshots taken */
  uint64_t large_made; /* times the state of a large value was created: at most 1 */
} alo_tds_counters;
alo_tds_counters alo_tds_reader_counters(const alo_tds_reader *reader);

#endif
