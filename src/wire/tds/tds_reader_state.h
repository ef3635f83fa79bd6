/* The inside of the reader: shared by tds_reader.c (dispatch), tds_tokens.c, tds_metadata.c,
 * tds_browse.c, tds_row.c and tds_large.c, seen by nobody else.
 *
 * Each state is one small function that reads one piece of the stream and says what comes next.
 * A piece of fixed size is had from alo_tds_piece, which gives it in place or, when a boundary
 * cut it, gathered in 32 bytes of carry; everything longer is counted down in `left`. */
#ifndef ALO_TDS_READER_STATE_H
#define ALO_TDS_READER_STATE_H

#include "rental.h"
#include "tds_characters.h"
#include "tds_memory.h"
#include "tds_reader.h"
#include "utf16.h"

enum {
  ALO_TDS_CARRY = 32,
  ALO_TDS_NAME_UNITS_MAX = 128,
  ALO_TDS_TABLE_PARTS_MAX = 4,
  ALO_TDS_COMPUTES_MAX = 32
};

/* Token types, MS-TDS 2.2.4. */
enum {
  ALO_TDS_TOKEN_RETURNSTATUS = 0x79,
  ALO_TDS_TOKEN_COLMETADATA = 0x81,
  ALO_TDS_TOKEN_ALTMETADATA = 0x88,
  ALO_TDS_TOKEN_TABNAME = 0xA4,
  ALO_TDS_TOKEN_COLINFO = 0xA5,
  ALO_TDS_TOKEN_ORDER = 0xA9,
  ALO_TDS_TOKEN_ERROR = 0xAA,
  ALO_TDS_TOKEN_INFO = 0xAB,
  ALO_TDS_TOKEN_RETURNVALUE = 0xAC,
  ALO_TDS_TOKEN_LOGINACK = 0xAD,
  ALO_TDS_TOKEN_FEATUREEXTACK = 0xAE,
  ALO_TDS_TOKEN_ROW = 0xD1,
  ALO_TDS_TOKEN_NBCROW = 0xD2,
  ALO_TDS_TOKEN_ALTROW = 0xD3,
  ALO_TDS_TOKEN_ENVCHANGE = 0xE3,
  ALO_TDS_TOKEN_SESSIONSTATE = 0xE4,
  ALO_TDS_TOKEN_SSPI = 0xED,
  ALO_TDS_TOKEN_FEDAUTHINFO = 0xEE,
  ALO_TDS_TOKEN_DONE = 0xFD,
  ALO_TDS_TOKEN_DONEPROC = 0xFE,
  ALO_TDS_TOKEN_DONEINPROC = 0xFF
};

/* X(state, function): what the parser waits for. */
#define ALO_TDS_STATES(X)                                                                          \
  X(TOKEN, token)                                                                                  \
  X(DONE, done)                                                                                    \
  X(RETURN_STATUS, return_status)                                                                  \
  X(BODY_SIZE, body_size)                                                                          \
  X(BODY, body)                                                                                    \
  X(SKIP_SIZE, skip_size)                                                                          \
  X(SKIP, skip)                                                                                    \
  X(FEATURE, feature)                                                                              \
  X(FEATURE_SIZE, feature_size)                                                                    \
  X(COLUMN_COUNT, column_count)                                                                    \
  X(COLUMN, column)                                                                                \
  X(TYPE_TAIL, type_tail)                                                                          \
  X(TYPE_STRING, type_string)                                                                      \
  X(PART, part)                                                                                    \
  X(TABLE_PARTS, table_parts)                                                                      \
  X(TABLE_PART, table_part)                                                                        \
  X(NAME_SIZE, name_size)                                                                          \
  X(NAME, name)                                                                                    \
  X(RETURN_VALUE, return_value)                                                                    \
  X(RETURN_TYPE, return_type)                                                                      \
  X(RETURN_CELL, return_cell)                                                                      \
  X(ALT_HEAD, alt_head)                                                                            \
  X(ALT_COLUMN, alt_column)                                                                        \
  X(ALT_ROW, alt_row)                                                                              \
  X(ALT_CELLS, alt_cells)                                                                          \
  X(NULLS, nulls)                                                                                  \
  X(CELLS, cells)                                                                                  \
  X(VALUE, value)                                                                                  \
  X(LOB_SIZE, lob_size)                                                                            \
  X(CHUNK_SIZE, chunk_size)                                                                        \
  X(CHUNK, chunk)                                                                                  \
  X(PIECE_END, piece_end)

typedef enum alo_tds_state {
#define ALO_TDS_STATE_ENUM(state, function) ALO_TDS_STATE_##state,
  ALO_TDS_STATES(ALO_TDS_STATE_ENUM)
#undef ALO_TDS_STATE_ENUM
      ALO_TDS_STATE_COUNT
} alo_tds_state;

/* What a state function answers: an alo_tds_event to report, or one of these. */
typedef int alo_tds_outcome;
enum {
  ALO_TDS_AGAIN = -1, /* look at `state` and go on */
  ALO_TDS_SLICE = -2, /* the slice is used up */
  ALO_TDS_CELL = -3   /* only inside tds_row.c: the cell is complete */
};

/* The snapshot: all that the parser must remember to stop at any byte. Copied at once; while a
 * large value is read its lengths are in a rented alo_tds_large besides. */
typedef struct alo_tds_position {
  uint64_t left;     /* bytes still to come of what the state counts down */
  uint32_t column;   /* being read */
  uint32_t kept;     /* columns before this one have been moved to row memory */
  uint32_t tail;     /* bytes of the type's tail */
  uint8_t token;     /* being read */
  uint8_t state;     /* alo_tds_state */
  uint8_t then;      /* the state after SKIP and PART */
  uint8_t strings;   /* of the type, or parts of the table name, still to come */
  uint8_t own_flags; /* through alo_tds_flag and alo_tds_set_flag only */
  uint8_t feature;
  uint8_t carry_size;
  uint8_t carry[ALO_TDS_CARRY];
  alo_utf16_cut cut; /* of a name */
} alo_tds_position;

_Static_assert(sizeof(alo_tds_position) <= 128, "the snapshot is small");

/* Besides the public ALO_TDS_HAS_... */
enum {
  ALO_TDS_FLAG_SKIP = 0x20,   /* draining */
  ALO_TDS_FLAG_UNSEEN = 0x40, /* the row or value being read is not reported */
  ALO_TDS_FLAG_FRESH = 0x80   /* END has been reported: the next byte begins a message */
};

static inline bool alo_tds_flag(const alo_tds_position *at, uint8_t flag) {
  return (at->own_flags & flag) != 0;
}

static inline void alo_tds_set_flag(alo_tds_position *at, uint8_t flag, bool on) {
  at->own_flags = (uint8_t)(on ? at->own_flags | flag : at->own_flags & ~flag);
}

/* All but those of `kept`. */
static inline void alo_tds_clear_flags(alo_tds_position *at, uint8_t kept) {
  at->own_flags = (uint8_t)(at->own_flags & kept);
}

/* How to read the cells of a column: its TYPE_INFO boiled down. */
typedef struct alo_tds_plan {
  uint8_t form; /* alo_tds_form */
  uint8_t charset;
  bool even;                 /* a length in UTF-16 units */
  bool null;                 /* NULLTYPE: no bytes, always NULL */
  uint32_t size;             /* FIXED: the length; SHORT and LONG: the largest */
  uint32_t lengths;          /* BYTE: those allowed, as bits */
  const alo_code_page *page; /* of a charset OTHER; NULL: nobody has it */
} alo_tds_plan;

/* The state of a large value, which exists only while one is read. */
typedef struct alo_tds_large {
  uint64_t total;    /* as declared, or ALO_TDS_TOTAL_UNKNOWN */
  uint64_t received; /* of it */
  uint8_t *data;     /* growing at the end of the large memory */
  size_t size;       /* decoded */
  bool single;       /* text, ntext, image: one piece without an end mark */
  bool over;
  bool open;    /* it stops its row */
  bool begun;   /* a piece of it has been shown */
  bool decodes; /* with `characters`, else it stays as it comes */
  alo_tds_characters characters;
  size_t broken; /* characters that were not well-formed */
  alo_tds_cut cut;
} alo_tds_large;

/* What one ALTMETADATA has told: its columns' plans are reader->computed[first] and on. */
typedef struct alo_tds_compute {
  uint16_t id, count;
  uint32_t first;
} alo_tds_compute;

/* The text made of a cell of the row that was the reader's n-th. */
typedef struct alo_tds_made_text {
  uint64_t row; /* n; 0: of none */
  aloft_text text;
} alo_tds_made_text;

#define ALO_TDS_TOTAL_NULL    UINT64_MAX
#define ALO_TDS_TOTAL_UNKNOWN (UINT64_MAX - 1)

struct alo_tds_reader {
  const aloft_allocator *heap;
  const alo_code_pages *pages; /* NULL: none */
  alo_tds_limits limits;
  alo_tds_frames frames;
  alo_tds_position at;
  const uint8_t *begin, *next, *end; /* of the slice, and where the parser is in it */

  uint32_t column_count;      /* 0 until COLMETADATA is complete */
  uint32_t columns_announced; /* by the COLMETADATA being read */
  alo_tds_column_info *columns;
  alo_tds_plan *plans;
  alo_tds_cell *cells;
  uint8_t *nulls;
  alo_tds_made_text *texts; /* as soon as one is asked for */
  size_t columns_bytes, plans_bytes, cells_bytes, nulls_bytes, texts_bytes; /* allocated */

  alo_tds_memory names;    /* of columns */
  alo_tds_memory row;      /* cut and moved values, scratch */
  alo_tds_memory large;    /* large values of the row */
  alo_tds_memory messages; /* texts of messages, a token's body when it was cut */
  uint8_t *tables;         /* of TABNAME: each an aloft_text, not aligned; NULL: none */
  size_t table_count;
  bool colinfo_read; /* of the present columns */
  uint32_t told;
  size_t large_bytes;    /* of the row so far */
  alo_tds_large *rented; /* NULL unless a large value is being read */
  alo_rental rental;
  bool pieces; /* large values stop their row */
  bool open;   /* at one that has, and is read in pieces unless the row goes on */
  aloft_bytes piece;
  size_t piece_broken;
  uint8_t *text; /* the name being decoded */
  size_t text_size;
  uint8_t *body; /* the cut body, or the cut value, being gathered */
  size_t body_size;

  alo_tds_done done;
  alo_tds_message message;
  alo_tds_env env;
  alo_tds_loginack loginack;
  int32_t return_status;
  uint16_t return_ordinal;
  uint8_t return_kind; /* its status, 2.2.7.19 */
  alo_tds_column_info return_info;
  alo_tds_plan return_plan;
  alo_tds_cell return_cell;
  aloft_bytes feature;

  alo_tds_compute computes[ALO_TDS_COMPUTES_MAX]; /* of the present result set */
  uint32_t compute_count;
  const alo_tds_compute *compute; /* of the ALTROW being read */
  alo_tds_plan *computed;
  size_t computed_bytes;

  alo_tds_counters counters;
  bool broken, unsupported;
  uint64_t broken_at;
  char reason[128];
};

/* ---- tds_reader.c ---- */

/* Ends the stream with a reason; `number` is put in place of the '#', in hexadecimal
 * (alo_tds_fail_hex) or decimal. All return ALO_TDS_BROKEN. */
alo_tds_outcome alo_tds_fail(alo_tds_reader *reader, const char *reason);
alo_tds_outcome alo_tds_fail_hex(alo_tds_reader *reader, const char *reason, uint8_t number);
alo_tds_outcome alo_tds_fail_number(alo_tds_reader *reader, const char *reason, uint64_t number);
/* The same for what is wrong in the column being read: "column 3: reason". */
alo_tds_outcome alo_tds_fail_column(alo_tds_reader *reader, const char *reason);
alo_tds_outcome alo_tds_fail_memory(alo_tds_reader *reader);

const uint8_t *alo_tds_piece_cut(alo_tds_reader *reader, size_t size);

/* The next `size` (at most 32) bytes, or NULL: answer ALO_TDS_SLICE and be called again. */
static inline const uint8_t *alo_tds_piece(alo_tds_reader *reader, size_t size) {
  const uint8_t *piece = reader->next;
  if (!reader->at.carry_size && (size_t)(reader->end - piece) >= size) {
    reader->next = piece + size;
    return piece;
  }
  return alo_tds_piece_cut(reader, size);
}

static inline size_t alo_tds_available(const alo_tds_reader *reader) {
  return (size_t)(reader->end - reader->next);
}

/* The bytes of the slice that `left` covers. */
static inline size_t alo_tds_available_left(const alo_tds_reader *reader) {
  size_t available = alo_tds_available(reader);
  return reader->at.left < available ? (size_t)reader->at.left : available;
}

static inline alo_tds_outcome alo_tds_go(alo_tds_reader *reader, alo_tds_state state) {
  reader->at.state = (uint8_t)state;
  return ALO_TDS_AGAIN;
}

/* Passes over `size` bytes, then goes on with `then`. */
static inline alo_tds_outcome alo_tds_pass(alo_tds_reader *reader, uint64_t size,
                                           alo_tds_state then) {
  reader->at.left = size;
  reader->at.then = (uint8_t)then;
  return alo_tds_go(reader, ALO_TDS_STATE_SKIP);
}

static inline uint16_t alo_tds_get_u16(const uint8_t *in) {
  return (uint16_t)(in[0] | in[1] << 8);
}

static inline uint32_t alo_tds_get_u32(const uint8_t *in) {
  return (uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

static inline uint64_t alo_tds_get_u64(const uint8_t *in) {
  return alo_tds_get_u32(in) | (uint64_t)alo_tds_get_u32(in + 4) << 32;
}

/* ---- the state functions: tds_tokens.c, tds_metadata.c, tds_row.c, tds_large.c ---- */

#define ALO_TDS_STATE_FUNCTION(state, function)                                                    \
  alo_tds_outcome alo_tds_read_##function(alo_tds_reader *reader);
ALO_TDS_STATES(ALO_TDS_STATE_FUNCTION)
#undef ALO_TDS_STATE_FUNCTION

/* tds_tokens.c: what a complete body says. */
alo_tds_outcome alo_tds_body_message(alo_tds_reader *reader, aloft_bytes body);
alo_tds_outcome alo_tds_body_env(alo_tds_reader *reader, aloft_bytes body);
alo_tds_outcome alo_tds_body_loginack(alo_tds_reader *reader, aloft_bytes body);

/* tds_browse.c: TABNAME and COLINFO, 2.2.7.23 and 2.2.7.3. */
alo_tds_outcome alo_tds_body_tabname(alo_tds_reader *reader, aloft_bytes body);
alo_tds_outcome alo_tds_body_colinfo(alo_tds_reader *reader, aloft_bytes body);

/* tds_metadata.c: user type, flags and type token, 7 bytes at `piece`; the rest of TYPE_INFO
 * follows. */
alo_tds_outcome alo_tds_type_begin(alo_tds_reader *reader, const uint8_t *piece);

/* tds_compute.c: a column of ALTMETADATA is complete. */
alo_tds_outcome alo_tds_alt_column_end(alo_tds_reader *reader);

/* tds_row.c: the value of a cell begins: ALO_TDS_CELL when it is complete. */
alo_tds_outcome alo_tds_cell_begin(alo_tds_reader *reader, const alo_tds_plan *plan,
                                   alo_tds_cell *cell);
/* ROW or (compressed) NBCROW begins; the value of the current cell is complete. */
alo_tds_outcome alo_tds_row_begin(alo_tds_reader *reader, bool compressed);
/* The parser waits for a token: reads of the ROW that `size` (at least 1) bytes at `row` begin with
 * the cells that lie whole in them and need no more than a look. Returns the bytes that it has
 * read; 0: it is no ROW. `*whole`: that were all cells, and the row may be reported; otherwise the
 * parser is at the first that is left. */
size_t alo_tds_row_start(alo_tds_reader *reader, const uint8_t *row, size_t size, bool *whole);
alo_tds_outcome alo_tds_cell_end(alo_tds_reader *reader);
/* Moves what the current row has in the input to row memory; false: no memory. */
bool alo_tds_row_keep(alo_tds_reader *reader);

static inline bool alo_tds_is_return(const alo_tds_reader *reader) {
  return reader->at.token == ALO_TDS_TOKEN_RETURNVALUE;
}

/* What is read is no column of the result set: it has a place of its own. */
static inline bool alo_tds_is_apart(const alo_tds_reader *reader) {
  return alo_tds_is_return(reader) || reader->at.token == ALO_TDS_TOKEN_ALTMETADATA ||
         reader->at.token == ALO_TDS_TOKEN_ALTROW;
}

static inline alo_tds_cell *alo_tds_current_cell(alo_tds_reader *reader) {
  return alo_tds_is_apart(reader) ? &reader->return_cell : &reader->cells[reader->at.column];
}

static inline const alo_tds_plan *alo_tds_current_plan(const alo_tds_reader *reader) {
  return alo_tds_is_apart(reader) ? &reader->return_plan : &reader->plans[reader->at.column];
}

/* What character data of the current column is decoded with. False: it stays as it came. */
static inline bool alo_tds_current_characters(const alo_tds_reader *reader,
                                              alo_tds_characters *characters) {
  const alo_tds_plan *plan = alo_tds_current_plan(reader);
  *characters = (alo_tds_characters){(alo_tds_charset)plan->charset, plan->page};
  return plan->charset != ALO_TDS_CHARSET_NONE &&
         (plan->charset != ALO_TDS_CHARSET_OTHER || plan->page);
}

static inline alo_tds_column_info *alo_tds_current_info(alo_tds_reader *reader) {
  return alo_tds_is_apart(reader) ? &reader->return_info : &reader->columns[reader->at.column];
}

/* tds_large.c */
alo_tds_outcome alo_tds_large_begin(alo_tds_reader *reader, uint64_t total, bool single);
void alo_tds_large_drop(alo_tds_reader *reader);

#endif
