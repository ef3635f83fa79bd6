#include "nats_parser.h"

#include <string.h>

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
  parser->broken = reason;
  parser->broken_at = parser->offset + at;
  return false;
}

/* The event took `size` bytes: the window begins anew after them. */
static void consume(alo_nats_parser *parser, size_t size, size_t *consumed) {
  *consumed = size;
  parser->offset += size;
  parser->line_max = 0;
  parser->scanned = 0;
  parser->line_size = 0;
}

/* The first byte tells how long the line may become, or that no command begins so. */
static bool begin_line(alo_nats_parser *parser, uint8_t first) {
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
  if (size <= parser->scanned)
    return false;
  if (parser->line_max == 0 && !begin_line(parser, window[0]))
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

#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  #define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Sets the high bit of each byte of `word` that is zero; above the lowest one also of others. */
static uint64_t mark_zeros(uint64_t word) {
  return (word - EACH_BYTE(0x01)) & ~word & EACH_BYTE(0x80);
}

/* Eight bytes at a time: subjects of replies are long, and most of what the parser looks at. */
static size_t skip_words(const uint8_t *window, size_t at, size_t end) {
  while (end - at >= sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, window + at, sizeof word);
    uint64_t blanks = mark_zeros(word ^ EACH_BYTE(' ')) | mark_zeros(word ^ EACH_BYTE('\t'));
    if (blanks != 0)
      return at + (size_t)__builtin_ctzll(blanks) / 8;
    at += sizeof word;
  }
  return at;
}
#else
static size_t skip_words(const uint8_t *window, size_t at, size_t end) {
  (void)window;
  (void)end;
  return at;
}
#endif

static size_t skip_field(const uint8_t *window, size_t at, size_t end) {
  at = skip_words(window, at, end);
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
  parser->header_size = (size_t)header;
  parser->total_size = (size_t)total;
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
  parser->line_size = line.end + 2;
  return true;
}

static aloft_text text_at(const uint8_t *window, size_t at, size_t size) {
  return (aloft_text){(const char *)window + at, size};
}

static void show_headers(const alo_nats_parser *parser, const uint8_t *window,
                         alo_nats_event *event) {
  event->headers = text_at(window, parser->line_size, parser->header_size);
  event->headers_malformed = !alo_nats_headers_status(event->headers, &event->status);
}

/* The line is known; the payload may not be here yet. */
static alo_nats_event_kind take_message(alo_nats_parser *parser, const uint8_t *window, size_t size,
                                        size_t *consumed, alo_nats_event *event) {
  const size_t data_at = parser->line_size + parser->header_size;
  const size_t end = parser->line_size + parser->total_size;
  if (size < end + 2)
    return report_need(event, end + 2);
  if (window[end] != '\r' || window[end + 1] != '\n') {
    break_at(parser, window[end] != '\r' ? end : end + 1, "payload is not followed by CRLF");
    return report_broken(parser, event);
  }
  *event = (alo_nats_event){
      .kind = ALO_NATS_MSG,
      .sid = parser->line.sid,
      .subject = text_at(window, parser->line.subject_at, parser->line.subject_size),
      .data = {window + data_at, end - data_at},
  };
  if (parser->line.reply_at != 0)
    event->reply = text_at(window, parser->line.reply_at, parser->line.reply_size);
  if (parser->line.headers)
    show_headers(parser, window, event);
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

alo_nats_event_kind alo_nats_parser_next(alo_nats_parser *parser, const uint8_t *window,
                                         size_t size, size_t *consumed, alo_nats_event *event) {
  *consumed = 0;
  if (parser->broken != NULL)
    return report_broken(parser, event);
  if (parser->line_size == 0) {
    control_line line;
    if (!find_line(parser, window, size, &line.end))
      return parser->broken != NULL ? report_broken(parser, event)
                                    : report_need(event, parser->scanned + 1);
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
  }
  return take_message(parser, window, size, consumed, event);
}
