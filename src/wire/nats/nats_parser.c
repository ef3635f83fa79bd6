#include "nats_parser.h"

#include <string.h>

#include "apart.h"
#include "ascii_run.h" /* the processor's vectors */
#include "nats_headers.h"

enum { LINE_MAX = 8192, INFO_MAX = 65536, PAYLOAD_MAX = 64 * 1024 * 1024, FIELDS_MAX = 5 };

typedef struct field {
  size_t at, size;
} field;

/* A control line found whole. `text_at`: of the first byte after the command. `end`: of its CR. */
typedef struct control_line {
  size_t text_at, end;
} control_line;

static size_t limit_or(size_t limit, size_t otherwise, size_t most) {
  if (limit == 0)
    return otherwise;
  return limit < most ? limit : most;
}

void alo_nats_parser_init(alo_nats_parser *parser, const alo_nats_limits *limits) {
  const alo_nats_limits given = limits ? *limits : (alo_nats_limits){0};
  *parser = (alo_nats_parser){0};
  parser->limits = (alo_nats_limits){
      /* Offsets within a line are kept in 32 bits. */
      .line_max = limit_or(given.line_max, LINE_MAX, UINT32_MAX),
      .info_max = limit_or(given.info_max, INFO_MAX, UINT32_MAX),
      /* So that line, payload and CRLF together cannot overflow. */
      .payload_max = limit_or(given.payload_max, PAYLOAD_MAX, SIZE_MAX / 2),
  };
}

static alo_nats_event_kind report_need(alo_nats_event *event, size_t need) {
  *event = (alo_nats_event){.kind = ALO_NATS_NEED, .need = need};
  return ALO_NATS_NEED;
}

static alo_nats_event_kind report_broken(const alo_nats_parser *parser, alo_nats_event *event) {
  *event = (alo_nats_event){
      .kind = ALO_NATS_BROKEN, .offset = parser->broken_at, .reason = parser->broken};
  return ALO_NATS_BROKEN;
}

/* `at` counts from the window's beginning. False, for the caller to return. */
static bool break_at(alo_nats_parser *parser, size_t at, const char *reason) {
  parser->state = ALO_NATS_DEAD;
  parser->broken = reason;
  parser->broken_at = parser->offset + at;
  return false;
}

/* The event took `size` bytes: the window begins anew after them. */
static void consume(alo_nats_parser *parser, size_t size, size_t *consumed) {
  *consumed = size;
  parser->offset += size;
  parser->state = ALO_NATS_FRESH;
}

/* The first byte tells how long the line may become, or that no command begins so. */
static bool begin_line(alo_nats_parser *parser, uint8_t first) {
  parser->state = ALO_NATS_LINE;
  parser->scanned = 0;
  switch (first) {
  case 'I':
  case 'i':
    parser->line_max = parser->limits.info_max;
    return true;
  case 'M':
  case 'm':
  case 'H':
  case 'h':
  case 'P':
  case 'p':
  case '+':
  case '-':
    parser->line_max = parser->limits.line_max;
    return true;
  default:
    return break_at(parser, 0, "not a command of the NATS protocol");
  }
}

/* Looks for the line's end in what was not looked at before. False: cut, or broken. */
static bool find_line(alo_nats_parser *parser, const uint8_t *window, size_t size, size_t *end) {
  if (parser->state == ALO_NATS_FRESH && (size == 0 || !begin_line(parser, window[0])))
    return false;
  if (size <= parser->scanned)
    return false;
  size_t limit = size < parser->line_max ? size : parser->line_max;
  const uint8_t *found = memchr(window + parser->scanned, '\n', limit - parser->scanned);
  if (found == NULL) {
    parser->scanned = limit;
    if (limit == parser->line_max)
      return break_at(parser, limit - 1, "control line over its limit");
    return false;
  }
  size_t at = (size_t)(found - window);
  if (at == 0 || window[at - 1] != '\r')
    return break_at(parser, at, "line ends with LF alone");
  *end = at - 1;
  return true;
}

static bool is_blank(uint8_t byte) {
  return byte == ' ' || byte == '\t';
}

static size_t skip_blanks(const uint8_t *window, size_t at, size_t end) {
  while (at < end && is_blank(window[at]))
    at++;
  return at;
}

static size_t trim_blanks(const uint8_t *window, size_t at, size_t end) {
  while (end > at && is_blank(window[end - 1]))
    end--;
  return end;
}

static size_t skip_field(const uint8_t *window, size_t at, size_t end) {
  while (at < end && !is_blank(window[at]))
    at++;
  return at;
}

/* Decimal digits; `most` is the largest value allowed. */
static bool read_number(alo_nats_parser *parser, const uint8_t *window, field number, uint64_t most,
                        const char *reason, uint64_t *value) {
  uint64_t sum = 0;
  for (size_t at = number.at; at < number.at + number.size; at++) {
    unsigned digit = (unsigned)window[at] - '0';
    if (digit > 9)
      return break_at(parser, at, reason);
    if (sum >= UINT64_MAX / 10 && (sum > UINT64_MAX / 10 || digit > UINT64_MAX % 10))
      return break_at(parser, at, reason);
    sum = sum * 10 + digit;
  }
  if (sum > most)
    return break_at(parser, number.at, reason);
  *value = sum;
  return true;
}

/* Splits the line's text at blanks. */
static bool read_fields(alo_nats_parser *parser, const uint8_t *window, control_line line,
                        size_t least, field *fields, size_t *count) {
  *count = 0;
  size_t at = skip_blanks(window, line.text_at, line.end);
  while (at < line.end) {
    /* One field more than the least: the reply subject. */
    if (*count > least)
      return break_at(parser, at, "too many fields in a message's line");
    size_t end = skip_field(window, at, line.end);
    fields[(*count)++] = (field){at, end - at};
    at = skip_blanks(window, end, line.end);
  }
  if (*count < least)
    return break_at(parser, line.end, "too few fields in a message's line");
  return true;
}

static bool read_sizes(alo_nats_parser *parser, const uint8_t *window, const field *sizes,
                       bool headers) {
  uint64_t total = 0, header = 0;
  if (headers && !read_number(parser, window, sizes[0], UINT64_MAX, "bad header size", &header))
    return false;
  if (!read_number(parser, window, sizes[headers ? 1 : 0], parser->limits.payload_max,
                   "payload size is no number, or over its limit", &total))
    return false;
  if (header > total)
    return break_at(parser, sizes[0].at, "header size is over the total size");
  parser->line.header_size = (size_t)header;
  parser->line.total_size = (size_t)total;
  return true;
}

/* MSG subject sid [reply] size; HMSG subject sid [reply] header_size total_size. */
static bool read_message_line(alo_nats_parser *parser, const uint8_t *window, control_line line,
                              bool headers) {
  field fields[FIELDS_MAX];
  size_t count, least = headers ? 4 : 3;
  if (!read_fields(parser, window, line, least, fields, &count))
    return false;
  if (!read_number(parser, window, fields[1], UINT64_MAX, "bad sid", &parser->line.sid))
    return false;
  const bool reply = count > least;
  if (!read_sizes(parser, window, fields + (reply ? 3 : 2), headers))
    return false;
  parser->line.subject_at = (uint32_t)fields[0].at;
  parser->line.subject_size = (uint32_t)fields[0].size;
  parser->line.reply_at = reply ? (uint32_t)fields[2].at : 0;
  parser->line.reply_size = reply ? (uint32_t)fields[2].size : 0;
  parser->line.headers = headers;
  parser->line.size = line.end + 2;
  parser->state = ALO_NATS_PAYLOAD;
  return true;
}

static aloft_text text_at(const uint8_t *window, size_t at, size_t size) {
  return (aloft_text){(const char *)window + at, size};
}

static ALO_APART void show_headers(aloft_text headers, alo_nats_event *event) {
  event->headers = headers;
  event->headers_malformed = !alo_nats_headers_status(headers, &event->status);
}

/* The line is known; the payload may not be here yet. */
static alo_nats_event_kind take_message(alo_nats_parser *parser, const uint8_t *window, size_t size,
                                        size_t *consumed, alo_nats_event *event) {
  const alo_nats_line *line = &parser->line;
  const size_t end = line->size + line->total_size;
  if (size < end + 2)
    return report_need(event, end + 2);
  if (window[end] != '\r' || window[end + 1] != '\n') {
    break_at(parser, window[end] != '\r' ? end : end + 1, "payload is not followed by CRLF");
    return report_broken(parser, event);
  }
  *event = (alo_nats_event){
      .kind = ALO_NATS_MSG,
      .sid = line->sid,
      .subject = text_at(window, line->subject_at, line->subject_size),
      .data = {window + line->size + line->header_size, line->total_size - line->header_size},
  };
  if (line->reply_at != 0)
    event->reply = text_at(window, line->reply_at, line->reply_size);
  if (line->headers)
    show_headers(text_at(window, line->size, line->header_size), event);
  consume(parser, end + 2, consumed);
  return ALO_NATS_MSG;
}

/* PING, PONG, +OK: nothing but blanks may follow. */
static bool read_bare(alo_nats_parser *parser, const uint8_t *window, control_line line) {
  size_t at = skip_blanks(window, line.text_at, line.end);
  return at == line.end || break_at(parser, at, "unexpected text after a command");
}

static bool read_info(alo_nats_parser *parser, const uint8_t *window, control_line line,
                      alo_nats_event *event) {
  size_t at = skip_blanks(window, line.text_at, line.end);
  if (at == line.end)
    return break_at(parser, at, "INFO without JSON");
  event->data = (aloft_bytes){window + at, trim_blanks(window, at, line.end) - at};
  return true;
}

static void read_error(const uint8_t *window, control_line line, alo_nats_event *event) {
  size_t at = skip_blanks(window, line.text_at, line.end);
  size_t end = trim_blanks(window, at, line.end);
  if (end - at >= 2 && window[at] == '\'' && window[end - 1] == '\'') {
    at++;
    end--;
  }
  event->data = (aloft_bytes){window + at, end - at};
}

#define WORD(a, b, c, d)                                                                           \
  ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

/* The command's letters in lower case (begin_line has let only '+' and '-' of the others pass). */
typedef struct command {
  uint32_t word, mask;
  uint8_t size;
  bool headers;
  alo_nats_event_kind kind;
} command;

static const command commands[] = {
    {WORD('m', 's', 'g', 0), WORD(255, 255, 255, 0), 3, false, ALO_NATS_MSG},
    {WORD('h', 'm', 's', 'g'), UINT32_MAX, 4, true, ALO_NATS_MSG},
    {WORD('p', 'i', 'n', 'g'), UINT32_MAX, 4, false, ALO_NATS_PING},
    {WORD('p', 'o', 'n', 'g'), UINT32_MAX, 4, false, ALO_NATS_PONG},
    {WORD('+', 'o', 'k', 0), WORD(255, 255, 255, 0), 3, false, ALO_NATS_OK},
    {WORD('-', 'e', 'r', 'r'), UINT32_MAX, 4, false, ALO_NATS_ERR},
    {WORD('i', 'n', 'f', 'o'), UINT32_MAX, 4, false, ALO_NATS_INFO},
};

/* `end`: of the line's CR. NULL: none of ours. */
static const command *find_command(const uint8_t *window, size_t end) {
  if (end < 3)
    return NULL;
  /* With three letters the fourth is the CR: there is always one. */
  uint32_t word = WORD(window[0], window[1], window[2], window[3]) | UINT32_C(0x20202020);
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    const command *tried = &commands[i];
    if ((word & tried->mask) != tried->word)
      continue;
    return end == tried->size || is_blank(window[tried->size]) ? tried : NULL;
  }
  return NULL;
}

/* Reads the text of a command that is not a message. */
static bool read_line(alo_nats_parser *parser, const uint8_t *window, control_line line,
                      alo_nats_event *event) {
  switch (event->kind) {
  case ALO_NATS_INFO:
    return read_info(parser, window, line, event);
  case ALO_NATS_ERR:
    read_error(window, line, event);
    return true;
  default:
    return read_bare(parser, window, line);
  }
}

static alo_nats_event_kind take_line(alo_nats_parser *parser, const uint8_t *window,
                                     control_line line, alo_nats_event_kind kind, size_t *consumed,
                                     alo_nats_event *event) {
  *event = (alo_nats_event){.kind = kind};
  if (!read_line(parser, window, line, event))
    return report_broken(parser, event);
  consume(parser, line.end + 2, consumed);
  return kind;
}

/* Finds and reads the line at the window's beginning, however it is written. MSG: its payload is
 * not looked at yet. */
static alo_nats_event_kind read_any_line(alo_nats_parser *parser, const uint8_t *window,
                                         size_t size, size_t *consumed, alo_nats_event *event) {
  control_line line;
  if (!find_line(parser, window, size, &line.end)) {
    if (parser->state == ALO_NATS_DEAD)
      return report_broken(parser, event);
    return report_need(event, size + 1);
  }
  const command *found = find_command(window, line.end);
  if (found == NULL) {
    break_at(parser, 0, "not a command of the NATS protocol");
    return report_broken(parser, event);
  }
  line.text_at = found->size;
  if (found->kind != ALO_NATS_MSG)
    return take_line(parser, window, line, found->kind, consumed, event);
  if (!read_message_line(parser, window, line, found->headers))
    return report_broken(parser, event);
  return ALO_NATS_MSG;
}

static ALO_APART alo_nats_event_kind take_any(alo_nats_parser *parser, const uint8_t *window,
                                              size_t size, size_t *consumed,
                                              alo_nats_event *event) {
  *consumed = 0;
  if (parser->state == ALO_NATS_DEAD)
    return report_broken(parser, event);
  if (parser->state != ALO_NATS_PAYLOAD) {
    alo_nats_event_kind kind = read_any_line(parser, window, size, consumed, event);
    if (kind != ALO_NATS_MSG)
      return kind;
  }
  return take_message(parser, window, size, consumed, event);
}

/* ---- Messages as nats-server writes them and all in the window: nearly every one. ---- */

/* Each `take` gets the place to begin at and the end before which its fields must end, and returns
 * the place after what it took, which is the end at most, or NULL. ROOM bytes from the end on may
 * be looked at, for a whole message has LF and the payload's CRLF after its line's CR: so the first
 * byte of a field and the one after that need no look at the end. */
enum { ROOM = 3 };

#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  #define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))
  #define EIGHT_AT_A_TIME 1
#endif

/* The first byte up to ' ': subjects are most of what there is to look at. */
static inline const uint8_t *find_word_end(const uint8_t *at, const uint8_t *end) {
#if defined(__SSE2__)
  const __m128i blanks = _mm_set1_epi8(' ');
  for (; end - at >= 16; at += 16) {
    __m128i block = _mm_loadu_si128((const void *)at);
    int found = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(block, blanks), block));
    if (found != 0)
      return at + __builtin_ctz((unsigned)found);
  }
#endif
#ifdef EIGHT_AT_A_TIME
  for (; end - at >= 8; at += 8) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    /* The high bit of each byte up to ' '; above the lowest one also of others. */
    uint64_t found = (word - EACH_BYTE(' ' + 1)) & ~word & EACH_BYTE(0x80);
    if (found != 0)
      return at + (__builtin_ctzll(found) >> 3);
  }
#endif
  while (at<end && * at> ' ')
    at++;
  return at < end ? at : NULL;
}

/* A word that is not empty, and the space after it. */
static inline const uint8_t *take_word(const uint8_t *at, const uint8_t *end, aloft_text *word) {
  const uint8_t *after = find_word_end(at, end);
  if (after == NULL || after == at || *after != ' ')
    return NULL;
  *word = (aloft_text){(const char *)at, (size_t)(after - at)};
  return after + 1;
}

/* A number of so few digits that it cannot overflow, and the byte after it. */
static inline const uint8_t *take_number(const uint8_t *at, const uint8_t *end, uint8_t after,
                                         uint64_t *number) {
  enum { DIGITS_MAX = 19 };
  const uint8_t *begin = at;
  uint64_t sum = (uint64_t)*at - '0';
  unsigned digit;
  if (sum > 9)
    return NULL;
  while ((digit = (unsigned)*++at - '0') <= 9) {
    if (at >= end)
      return NULL;
    sum = sum * 10 + digit;
  }
  *number = sum;
  return *at == after && at < end && at - begin <= DIGITS_MAX ? at + 1 : NULL;
}

/* subject sid [reply] [header_size] total_size CR. */
static inline const uint8_t *take_fields(const uint8_t *at, const uint8_t *end, bool headers,
                                         alo_nats_event *event, uint64_t *header, uint64_t *total) {
  if ((at = take_word(at, end, &event->subject)) == NULL ||
      (at = take_number(at, end, ' ', &event->sid)) == NULL)
    return NULL;
  event->reply = (aloft_text){NULL, 0};
  if (*at > '9' && (at = take_word(at, end, &event->reply)) == NULL)
    return NULL;
  *header = 0;
  if (headers && (at = take_number(at, end, ' ', header)) == NULL)
    return NULL;
  return take_number(at, end, '\r', total);
}

/* For when the payload is cut. The event's views become offsets. */
static ALO_APART void keep_line(alo_nats_parser *parser, const uint8_t *window,
                                const alo_nats_event *event, alo_nats_line line) {
  const char *origin = (const char *)window;
  line.sid = event->sid;
  line.subject_at = (uint32_t)(event->subject.data - origin);
  line.subject_size = (uint32_t)event->subject.size;
  if (event->reply.data != NULL) {
    line.reply_at = (uint32_t)(event->reply.data - origin);
    line.reply_size = (uint32_t)event->reply.size;
  }
  parser->line = line;
  parser->state = ALO_NATS_PAYLOAD;
}

/* True when the window begins with a whole message, written as usual. False when it is cut, or
 * written otherwise, or wrong: the exact reader then goes on (for a cut payload after the line),
 * and must find the same in what can be read here. */
static inline bool take_usual_message(alo_nats_parser *parser, const uint8_t *window, size_t size,
                                      size_t *consumed, alo_nats_event *event) {
  enum { SIZE_MIN = 13 }; /* of "MSG a 1 0", its CRLF, and a payload of nothing with its own */
  if (size < SIZE_MIN)
    return false;
  const bool headers = window[0] == 'H';
  const size_t line_max = parser->limits.line_max;
  /* The CR must come before: then the line is within its limit. */
  const uint8_t *end = window + (size - ROOM < line_max - 1 ? size - ROOM : line_max - 1);
  if (memcmp(window + headers, "MSG ", 4) != 0)
    return false;
  uint64_t header, total;
  const uint8_t *at = take_fields(window + headers + 4, end, headers, event, &header, &total);
  if (at == NULL || *at != '\n' || total > parser->limits.payload_max || header > total)
    return false;
  const uint8_t *payload = at + 1;
  if ((uint64_t)(window + size - payload) < total + 2) {
    keep_line(parser, window, event,
              (alo_nats_line){.headers = headers,
                              .size = (size_t)(payload - window),
                              .header_size = (size_t)header,
                              .total_size = (size_t)total});
    return false;
  }
  const uint8_t *after = payload + total;
  if (after[0] != '\r' || after[1] != '\n')
    return false;
  event->kind = ALO_NATS_MSG;
  event->status = 0;
  event->headers_malformed = false;
  event->headers = (aloft_text){NULL, 0};
  event->data = (aloft_bytes){payload + header, (size_t)(total - header)};
  if (headers)
    show_headers((aloft_text){(const char *)payload, (size_t)header}, event);
  *consumed = (size_t)(after + 2 - window);
  parser->offset += *consumed;
  return true;
}

alo_nats_event_kind alo_nats_parser_next(alo_nats_parser *parser, const uint8_t *window,
                                         size_t size, size_t *consumed, alo_nats_event *event) {
  if (parser->state == ALO_NATS_FRESH && take_usual_message(parser, window, size, consumed, event))
    return ALO_NATS_MSG;
  return take_any(parser, window, size, consumed, event);
}
