/* JSON (RFC 8259): a strict pull tokenizer over one complete text, and a streaming writer.
 * Neither allocates. */
#ifndef ALOFT_JSON_H
#define ALOFT_JSON_H

#include <aloft/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum aloft_json_kind {
  ALOFT_JSON_END,   /* the text is over, and was valid to its last byte */
  ALOFT_JSON_ERROR, /* not JSON at `offset`, for `reason`; stays so */
  ALOFT_JSON_NULL,
  ALOFT_JSON_FALSE,
  ALOFT_JSON_TRUE,
  ALOFT_JSON_NUMBER, /* `raw` is its text */
  ALOFT_JSON_STRING, /* `raw` lies between the quotes, escapes untouched */
  ALOFT_JSON_NAME,   /* a member's name; its value comes next */
  ALOFT_JSON_OBJECT, /* opens; closes with ALOFT_JSON_CLOSE */
  ALOFT_JSON_ARRAY,
  ALOFT_JSON_CLOSE
} aloft_json_kind;

enum { ALOFT_JSON_DEPTH_MAX = 64 };

/* A reader of one text [op: until the last call]. A byte that is not UTF-8 is an error, a byte
 * order mark and an absent or empty text too. */
typedef struct aloft_json {
  aloft_json_kind kind; /* of the last token */
  aloft_text raw;       /* of the last token, a view into the text */
  bool escaped;         /* `raw` of a STRING or NAME holds escapes */
  size_t offset;        /* of the last token (a string's quote) or error, in bytes */
  const char *reason;   /* of ALOFT_JSON_ERROR, a constant */
  unsigned depth;       /* open objects and arrays */
  struct {
    aloft_text text;
    size_t at;
    uint64_t objects; /* one bit for each depth: object or array */
    uint8_t expect;
  } own;
} aloft_json;

ALOFT_API void aloft_json_init(aloft_json *json, aloft_text text);

/* The next token. Depth beyond ALOFT_JSON_DEPTH_MAX is an error. */
ALOFT_API aloft_json_kind aloft_json_next(aloft_json *json);

/* Having read OBJECT or ARRAY: reads past its end, so that the last token is its CLOSE. Having read
 * NAME: past the value. After any other token: nothing. ALOFT_OK, or ALOFT_PROTOCOL when the last
 * token is now ALOFT_JSON_ERROR. */
ALOFT_API aloft_status aloft_json_skip(aloft_json *json);

/* The last STRING or NAME, unescaped, into `buffer` (`size` bytes). ALOFT_OK: `*text` is a view
 * of the buffer, or of the JSON text when nothing was escaped. ALOFT_TOO_LARGE: it needs
 * `text->size` bytes. ALOFT_PROTOCOL: an unpaired surrogate escape. ALOFT_WRONG_TYPE: the last
 * token is neither. It may hold NUL (from \u0000). */
ALOFT_API aloft_status aloft_json_string(const aloft_json *json, char *buffer, size_t size,
                                         aloft_text *text);

/* True when the last STRING or NAME is, unescaped, equal to `text` [call]. */
ALOFT_API bool aloft_json_is(const aloft_json *json, aloft_text text);

/* The last NUMBER. int64: its exact value, which may be written 1.0 or 15e1; ALOFT_WRONG_TYPE when
 * that is not whole or does not fit. double: the nearest one (0 for what is too small);
 * ALOFT_WRONG_TYPE beyond its range. Both: ALOFT_WRONG_TYPE when the last token is no NUMBER.
 * `*value` is set on ALOFT_OK only. */
ALOFT_API aloft_status aloft_json_int64(const aloft_json *json, int64_t *value);
ALOFT_API aloft_status aloft_json_double(const aloft_json *json, double *value);

/* A writer of one text into the caller's buffer. What does not fit is counted, not written: after
 * the last call `size` is what the text needs, and `size > room` says that it did not fit. Commas
 * and colons come by themselves. Calls whose order makes no JSON (a value without a name in an
 * object, a name elsewhere, a close too many, a second text, depth beyond ALOFT_JSON_DEPTH_MAX) set
 * `size` to SIZE_MAX, which fits nowhere and stays. Texts given are [call]. */
typedef struct aloft_json_writer {
  char *buffer; /* [op] */
  size_t room;
  size_t size;
  struct {
    uint64_t some;  /* one bit for each depth: not the first element */
    uint64_t names; /* one bit for each depth: an object */
    unsigned depth;
    bool after_name;
  } own;
} aloft_json_writer;

ALOFT_API void aloft_json_writer_init(aloft_json_writer *writer, char *buffer, size_t room);
ALOFT_API void aloft_json_write_object(aloft_json_writer *writer);
ALOFT_API void aloft_json_write_array(aloft_json_writer *writer);
ALOFT_API void aloft_json_write_close(aloft_json_writer *writer);
ALOFT_API void aloft_json_write_name(aloft_json_writer *writer, aloft_text name);
ALOFT_API void aloft_json_write_null(aloft_json_writer *writer);
ALOFT_API void aloft_json_write_bool(aloft_json_writer *writer, bool value);
ALOFT_API void aloft_json_write_int64(aloft_json_writer *writer, int64_t value);
/* Shortest text that reads back to the same value; infinities and NaN become null. */
ALOFT_API void aloft_json_write_double(aloft_json_writer *writer, double value);
/* UTF-8; ill-formed parts become U+FFFD, in names too. Absent text becomes null. */
ALOFT_API void aloft_json_write_string(aloft_json_writer *writer, aloft_text text);
/* A value that is JSON already, as it is and not checked. Absent text becomes null. */
ALOFT_API void aloft_json_write_raw(aloft_json_writer *writer, aloft_text json);

#ifdef __cplusplus
}
#endif
#endif
