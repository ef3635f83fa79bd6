/* The incoming side of the NATS protocol: recorded conversations and made-up ones, cut everywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "guard.h"
#include "nats_headers.h"
#include "nats_parser.h"

/* ---- What the parser reported, as text. ---- */

typedef struct transcript {
  char text[65536];
  size_t size;
} transcript;

static void append(transcript *log, const char *text) {
  size_t size = strlen(text);
  assert_true(log->size + size < sizeof log->text);
  memcpy(log->text + log->size, text, size + 1);
  log->size += size;
}

static void append_number(transcript *log, const char *name, uint64_t number) {
  char text[64];
  snprintf(text, sizeof text, "%s%llu", name, (unsigned long long)number);
  append(log, text);
}

static void append_bytes(transcript *log, const char *name, const void *data, size_t size) {
  append(log, name);
  if (data == NULL)
    append(log, "-");
  for (size_t i = 0; data != NULL && i < size; i++) {
    unsigned byte = ((const unsigned char *)data)[i];
    char text[8];
    snprintf(text, sizeof text, byte > ' ' && byte < 127 && byte != '\\' ? "%c" : "\\%02x", byte);
    append(log, text);
  }
}

static void append_message(transcript *log, const alo_nats_event *event) {
  append_bytes(log, "MSG ", event->subject.data, event->subject.size);
  append_number(log, " sid ", event->sid);
  append_bytes(log, " reply ", event->reply.data, event->reply.size);
  if (event->headers.data != NULL) {
    append_bytes(log, " headers ", event->headers.data, event->headers.size);
    append_number(log, event->headers_malformed ? " malformed " : " status ",
                  (uint64_t)event->status);
  }
  append_bytes(log, " data ", event->data.data, event->data.size);
}

static void append_event(transcript *log, const alo_nats_event *event) {
  static const char *const names[] = {"NEED", "INFO ", "MSG",  "PING",
                                      "PONG", "OK",    "ERR ", "BROKEN"};
  if (event->kind == ALO_NATS_MSG)
    append_message(log, event);
  else if (event->kind == ALO_NATS_INFO || event->kind == ALO_NATS_ERR)
    append_bytes(log, names[event->kind], event->data.data, event->data.size);
  else
    append(log, names[event->kind]);
  if (event->kind == ALO_NATS_BROKEN) {
    append_number(log, " at ", event->offset);
    append(log, ": ");
    append(log, event->reason);
  }
  append(log, "\n");
}

/* ---- A caller as the contract wants it, that gives away bytes in pieces. ---- */

/* The first piece, and the size of all others. */
struct cut {
  size_t first, then;
};

/* Ends at a page that cannot be touched. */
static guard_buffer memory;

struct caller {
  alo_nats_parser parser;
  const uint8_t *stream;
  size_t start, fed; /* the window lies between */
  size_t need;       /* of the last NEED, 0: none since the last event */
  size_t scanned;
};

/* A call that cannot bring an event must not look again at what it has seen: give it other bytes
 * there. Line ends would make a line where none is, and break every count. */
static void spoil_seen_bytes(const struct caller *caller, uint8_t *window, size_t size) {
  const alo_nats_parser *parser = &caller->parser;
  if (parser->state == ALO_NATS_PAYLOAD && size < caller->need)
    memset(window, '\n', size);
  else if (parser->state == ALO_NATS_PAYLOAD)
    memset(window, '\n', 1); /* the command is known: not read again */
  else if (parser->state == ALO_NATS_LINE &&
           memchr(window + parser->scanned, '\n', size - parser->scanned) == NULL)
    memset(window, '\n', parser->scanned);
}

static void check_need(struct caller *caller, const alo_nats_event *event, size_t size) {
  const alo_nats_parser *parser = &caller->parser;
  assert_true(event->need > size);
  if (parser->state == ALO_NATS_PAYLOAD) {
    assert_int_equal(event->need, parser->line.size + parser->line.total_size + 2);
    assert_true(caller->need <= event->need);
  } else if (parser->state == ALO_NATS_LINE) {
    assert_int_equal(event->need, size + 1);
    assert_int_equal(parser->scanned, size);
    assert_true(parser->scanned >= caller->scanned);
    caller->scanned = parser->scanned;
  } else {
    assert_int_equal(parser->state, ALO_NATS_FRESH);
    assert_int_equal(size, 0);
  }
  caller->need = event->need;
}

/* One call, with the window at the end of all memory, and so in another place each time. */
static alo_nats_event_kind call(struct caller *caller, transcript *log) {
  const size_t size = caller->fed - caller->start;
  assert_true(size <= memory.size);
  uint8_t *window = (uint8_t *)memory.data + memory.size - size;
  memcpy(window, caller->stream + caller->start, size);
  spoil_seen_bytes(caller, window, size);
  size_t consumed = SIZE_MAX;
  alo_nats_event event;
  const alo_nats_event_kind kind =
      alo_nats_parser_next(&caller->parser, window, size, &consumed, &event);
  assert_int_equal(kind, event.kind);
  assert_true(consumed <= size);
  if (kind == ALO_NATS_NEED) {
    check_need(caller, &event, size);
  } else {
    caller->need = caller->scanned = 0;
    append_event(log, &event);
  }
  assert_true((consumed == 0) == (kind == ALO_NATS_NEED || kind == ALO_NATS_BROKEN));
  caller->start += consumed;
  return kind;
}

/* Returns the parser as it is at the end. */
static alo_nats_parser run(transcript *log, const alo_nats_limits *limits, const void *stream,
                           size_t size, struct cut cut) {
  struct caller caller = {.stream = stream};
  alo_nats_parser_init(&caller.parser, limits);
  log->size = 0;
  log->text[0] = '\0';
  for (size_t piece = cut.first; caller.fed < size; piece = cut.then) {
    caller.fed += piece < size - caller.fed ? piece : size - caller.fed;
    alo_nats_event_kind kind;
    do
      kind = call(&caller, log);
    while (kind != ALO_NATS_NEED && kind != ALO_NATS_BROKEN);
    if (kind == ALO_NATS_BROKEN)
      break;
  }
  return caller.parser;
}

static transcript whole, pieces;

static void run_cut(const alo_nats_limits *limits, const void *stream, size_t size,
                    struct cut cut) {
  run(&pieces, limits, stream, size, cut);
  assert_string_equal(pieces.text, whole.text);
}

/* Leaves what was reported in `whole`, having seen that no cut changes it. */
static alo_nats_parser run_everywhere(const alo_nats_limits *limits, const void *stream,
                                      size_t size) {
  const alo_nats_parser parser = run(&whole, limits, stream, size, (struct cut){size, size});
  static const size_t sizes[] = {1, 2, 3, 7};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    run_cut(limits, stream, size, (struct cut){sizes[i], sizes[i]});
  for (size_t first = 1; first < size; first++)
    run_cut(limits, stream, size, (struct cut){first, size});
  return parser;
}

/* ---- Recordings of nats-server. ---- */

struct recording {
  char bytes[8192];
  size_t size;
};

static void load(struct recording *recording, const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/tests/wire/recordings/nats/%s.txt", ALOFT_SOURCE_DIR, name);
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  recording->size = fread(recording->bytes, 1, sizeof recording->bytes, file);
  assert_true(recording->size > 0 && recording->size < sizeof recording->bytes);
  fclose(file);
}

static size_t count_of(const char *text, const char *part) {
  size_t count = 0;
  while ((text = strstr(text, part)) != NULL) {
    count++;
    text++;
  }
  return count;
}

/* Runs it everywhere; compares all that comes after the first INFO. */
static void check_recording(const char *name, const char *expected) {
  struct recording recording;
  load(&recording, name);
  const alo_nats_parser parser = run_everywhere(NULL, recording.bytes, recording.size);
  assert_int_equal(parser.offset, recording.size);
  assert_memory_equal(whole.text, "INFO {\"server_id\":\"N", 20);
  const char *rest = strchr(whole.text, '\n') + 1;
  if (expected != NULL)
    assert_string_equal(rest, expected);
}

static void test_recorded_commands(void **state) {
  (void)state;
  check_recording("plain", "PONG\n");
  check_recording("verbose", "OK\nOK\nOK\nMSG a sid 1 reply - data hi\nOK\nPONG\n");
  check_recording("ping", "PONG\nPING\n");
  check_recording("lame_duck", NULL);
  assert_int_equal(count_of(whole.text, "INFO {"), 2);
  assert_int_equal(count_of(whole.text, "\"ldm\":true}\n"), 1);
}

static void test_recorded_errors(void **state) {
  (void)state;
  check_recording("unknown_operation", "ERR Unknown\\20Protocol\\20Operation\n");
  check_recording("authorization", "ERR Authorization\\20Violation\n");
  check_recording("max_payload", "ERR Maximum\\20Payload\\20Violation\n");
  check_recording("permissions",
                  "ERR Permissions\\20Violation\\20for\\20Publish\\20to\\20\"shut.a\"\n"
                  "ERR Permissions\\20Violation\\20for\\20Subscription\\20to\\20\"shut.b\"\n"
                  "ERR Permissions\\20Violation\\20for\\20Subscription\\20to\\20\"shut.c\"\\20using"
                  "\\20queue\\20\"group\"\nMSG open.a sid 1 reply - data hi\nPONG\n");
}

static void test_recorded_sizes(void **state) {
  (void)state;
  check_recording("sizes", NULL);
  assert_int_equal(count_of(whole.text, "MSG sizes."), 20);
  assert_int_equal(count_of(whole.text, " sid 7 "), 10);
  assert_int_equal(count_of(whole.text, " sid 18446744073709551615 "), 11);
  assert_int_equal(count_of(whole.text, "MSG sizes.0 sid 7 reply - data \n"), 1);
  assert_int_equal(count_of(whole.text, "MSG sizes.2 sid 7 reply - data \\0d\\0a\n"), 1);
  assert_int_equal(count_of(whole.text, "MSG sizes.crlf sid 7 reply a.b.c.d data "
                                        "MSG\\20no\\201\\202\\0d\\0a\\0d\\0aPING\\0d\\0a\n"),
                   1);
  assert_int_equal(
      count_of(whole.text, "MSG sizes.binary sid 7 reply - data \\01\\00\\ff\\0a\\0d\n"), 1);
  assert_non_null(strstr(whole.text, "rrr data end\nPONG\n"));
}

static void test_recorded_headers(void **state) {
  (void)state;
  check_recording(
      "headers",
      "MSG headers.one sid 12 reply - headers NATS/1.0\\0d\\0aA:\\20b\\0d\\0a\\0d\\0a status 0 "
      "data hello\n"
      "MSG headers.empty sid 12 reply reply.to headers NATS/1.0\\0d\\0a\\0d\\0a status 0 data \n"
      "MSG headers.many sid 12 reply - headers NATS/1.0\\0d\\0aName:\\20first\\0d\\0aname:second"
      "\\0d\\0aNAME:\\20\\20\\09\\20third\\20\\09\\0d\\0aEmpty:\\0d\\0aColons:\\20a:b:c\\0d\\0a"
      "Text:\\20\\c3\\a9\\e2\\82\\ac\\20is\\20UTF-8\\0d\\0a\\0d\\0a status 0 data four\n"
      "MSG headers.status sid 12 reply reply.to headers NATS/1.0\\20100\\20Idle\\20Heartbeat"
      "\\0d\\0aNats-Last-Stream:\\209\\0d\\0a\\0d\\0a status 100 data \n"
      "MSG headers.none sid 12 reply - data no\n"
      "PONG\n");
  check_recording("no_responders", "MSG _INBOX.0123456789abcdefghijkl.00000001 sid 1 reply - "
                                   "headers NATS/1.0\\20503\\0d\\0a\\0d\\0a status 503 data \n"
                                   "PONG\n");
}

static void test_another_client_cannot_break_the_connection(void **state) {
  (void)state;
  check_recording("hostile_publisher",
                  "MSG control\\01\\00\\7fbyte sid 1 reply - data hi\n"
                  "MSG not.utf8.\\ff\\c0 sid 1 reply - data hi\n"
                  "MSG a.\\0db sid 1 reply - data hi\n"
                  "MSG not.headers sid 1 reply - headers hello\\20world!! malformed 0 data hi\n"
                  "MSG tiny sid 1 reply - headers h malformed 0 data hi\n"
                  "MSG no.end sid 1 reply - headers NATS/1.0\\0d\\0a malformed 0 data hi\n"
                  "PONG\n");
}

/* ---- The grammar, what it allows. ---- */

typedef struct accepted {
  const char *stream, *expected;
} accepted;

static const accepted allowed[] = {
    {"ping\r\nPoNg\r\n+ok\r\n-Err 'x'\r\n", "PING\nPONG\nOK\nERR x\n"},
    {"PING \t \r\nPONG\t\r\n+OK \r\n", "PING\nPONG\nOK\n"},
    {"info {}\r\nINFO\t \t{} \t\r\n", "INFO {}\nINFO {}\n"},
    {"msg a 1 0\r\n\r\n", "MSG a sid 1 reply - data \n"},
    {"MSG\ta\t1\tb\t2\t\r\nxy\r\n", "MSG a sid 1 reply b data xy\n"},
    {"MSG  \t a \t 1 \t\t 1 \r\nx\r\n", "MSG a sid 1 reply - data x\n"},
    {"MSG a.long.enough.subject 1\tand.its.reply 1\r\nx\r\n",
     "MSG a.long.enough.subject sid 1 reply and.its.reply data x\n"},
    {"MSG a 18446744073709551615 1\r\nx\r\n", "MSG a sid 18446744073709551615 reply - data x\n"},
    {"MSG a 000000000000000000000000007 01\r\nx\r\n", "MSG a sid 7 reply - data x\n"},
    {"hMsG a 1 12 13\r\nNATS/1.0\r\n\r\nx\r\n",
     "MSG a sid 1 reply - headers NATS/1.0\\0d\\0a\\0d\\0a status 0 data x\n"},
    {"HMSG a 1 b 0 1\r\nx\r\n", "MSG a sid 1 reply b headers  malformed 0 data x\n"},
    {"-ERR\r\n-ERR \r\n-ERR ''\r\n-ERR '\r\n", "ERR \nERR \nERR \nERR '\n"},
    {"-ERR no quotes\r\n-ERR  'it's' \r\n-ERR 'a\rb'\r\n",
     "ERR no\\20quotes\nERR it's\nERR a\\0db\n"},
    {"INFO {\"a\":\r1}\r\n", "INFO {\"a\":\\0d1}\n"},
    {"PING", ""},
    {"MSG a 1 5\r\nhell", ""},
};

static void test_allowed_lines(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++) {
    run_everywhere(NULL, allowed[i].stream, strlen(allowed[i].stream));
    assert_string_equal(whole.text, allowed[i].expected);
  }
}

/* ---- The grammar, what it refuses. ---- */

typedef struct refused {
  const char *stream;
  unsigned offset;
  const char *reason;
} refused;

#define NO_COMMAND "not a command of the NATS protocol"
#define BAD_SIZE   "payload size is no number, or over its limit"
#define TOO_FEW    "too few fields in a message's line"
#define TOO_MANY   "too many fields in a message's line"
#define NO_CRLF    "payload is not followed by CRLF"

static const refused malformed[] = {
    {"\r\n", 0, NO_COMMAND},
    {"\n", 0, NO_COMMAND},
    {" PING\r\n", 0, NO_COMMAND},
    {"X", 0, NO_COMMAND},
    {"\x0bOK\r\n", 0, NO_COMMAND},
    {"\rERR\r\n", 0, NO_COMMAND},
    {"P\r\n", 0, NO_COMMAND},
    {"PI\r\n", 0, NO_COMMAND},
    {"PIN\r\n", 0, NO_COMMAND},
    {"PINGS\r\n", 0, NO_COMMAND},
    {"PING.\r\n", 0, NO_COMMAND},
    {"MSG\r\n", 3, TOO_FEW},
    {"MSGS a 1 0\r\n", 0, NO_COMMAND},
    {"MS\r\n", 0, NO_COMMAND},
    {"+OKAY\r\n", 0, NO_COMMAND},
    {"-ERR'x'\r\n", 0, NO_COMMAND},
    {"HPUB a 1\r\n", 0, NO_COMMAND},
    {"PUB a 1\r\n", 0, NO_COMMAND},
    {"PING\n", 4, "line ends with LF alone"},
    {"P\n", 1, "line ends with LF alone"},
    {"PING now\r\n", 5, "unexpected text after a command"},
    {"PONG  x\r\n", 6, "unexpected text after a command"},
    {"+OK fine\r\n", 4, "unexpected text after a command"},
    {"PING\r\r\n", 0, NO_COMMAND},
    {"PING \r\r\n", 5, "unexpected text after a command"},
    {"INFO\r\n", 4, "INFO without JSON"},
    {"INFO \t\r\n", 6, "INFO without JSON"},
    {"INFORM {}\r\n", 0, NO_COMMAND},
    {"MSG \r\n", 4, TOO_FEW},
    {"MSG a\r\n", 5, TOO_FEW},
    {"MSG a 1\r\n", 7, TOO_FEW},
    {"MSG a 1 \r\n", 8, TOO_FEW},
    {"MSG a 1 b 0 0\r\n", 12, TOO_MANY},
    {"MSG a 1 b 0 0 0 0 0\r\n", 12, TOO_MANY},
    {"MSG a.longer.subject 1 1 1 1 1 1 1 1 1\r\n", 27, TOO_MANY},
    {"HMSG a.longer.subject 1 1 1 1 1 1 1 1 1\r\n", 30, TOO_MANY},
    {"MSG a.longer.subject 1 b 1 1 1 1 1 1 1\r\n", 27, TOO_MANY},
    {"MSG a x 0\r\n", 6, "bad sid"},
    {"MSG a -1 0\r\n", 6, "bad sid"},
    {"MSG a 1x 0\r\n", 7, "bad sid"},
    {"MSG a 18446744073709551616 0\r\n", 25, "bad sid"},
    {"MSG a 18446744073709551620 0\r\n", 25, "bad sid"},
    {"MSG a 99999999999999999999 0\r\n", 25, "bad sid"},
    {"MSG a 1844674407370955161500 0\r\n", 26, "bad sid"},
    {"MSG a 18446744073709551617 1\r\nx\r\n", 25, "bad sid"},
    {"MSG a 184467440737095516161 1\r\nx\r\n", 25, "bad sid"},
    {"MSG a 1 18446744073709551617\r\nx\r\n", 27, BAD_SIZE},
    {"MSG a 1 184467440737095516161\r\nx\r\n", 27, BAD_SIZE},
    {"MSG a 1 b\r\n", 8, BAD_SIZE},
    {"MSG a 1 b c\r\n", 10, BAD_SIZE},
    {"MSG a 1 +1\r\n", 8, BAD_SIZE},
    {"MSG a 1 1.\r\n", 9, BAD_SIZE},
    {"MSG a 1 67108865\r\n", 8, BAD_SIZE},
    {"MSG a 1 99999999999999999999999\r\n", 27, BAD_SIZE},
    {"MSG a 1 18446744073709551615\r\n", 8, BAD_SIZE},
    {"MSG a 1 2\r\nabc\r\n", 13, NO_CRLF},
    {"MSG a 1 2\r\na\r\n\r\n", 13, NO_CRLF},
    {"MSG a 1 2\r\nab\rx", 14, NO_CRLF},
    {"MSG a 1 2\r\nab\n\n", 13, NO_CRLF},
    {"HMSG a 1 12\r\n", 11, TOO_FEW},
    {"HMSG a 1 b 12 12 12\r\n", 17, TOO_MANY},
    {"HMSG a 1 x 12\r\n", 9, "bad header size"},
    {"HMSG a 1 18446744073709551616 12\r\n", 28, "bad header size"},
    {"HMSG a 1 13 12\r\n", 9, "header size is over the total size"},
    {"HMSG a 1 b 13 12\r\n", 11, "header size is over the total size"},
    {"HMSG a 1 18446744073709551615 12\r\n", 9, "header size is over the total size"},
    {"HMSG a 1 12 67108865\r\n", 12, BAD_SIZE},
    {"HMSG a 1 12 12\r\nNATS/1.0\r\n\r\nx\r\n", 28, NO_CRLF},
};

static void check_refused(const alo_nats_limits *limits, const char *stream, size_t size,
                          size_t offset, const char *reason) {
  /* Something good goes before, so that the offset counts from the stream's beginning. */
  static uint8_t bytes[65536 + 64];
  memcpy(bytes, "PING\r\n", 6);
  memcpy(bytes + 6, stream, size);
  char expected[256];
  snprintf(expected, sizeof expected, "PING\nBROKEN at %zu: %s\n", offset + 6, reason);
  alo_nats_parser parser = run_everywhere(limits, bytes, size + 6);
  assert_string_equal(whole.text, expected);

  alo_nats_event event;
  size_t consumed = SIZE_MAX;
  for (int i = 0; i < 2; i++) {
    assert_int_equal(
        alo_nats_parser_next(&parser, (const uint8_t *)"PING\r\n", 6, &consumed, &event),
        ALO_NATS_BROKEN);
    assert_int_equal(consumed, 0);
    assert_int_equal(event.offset, offset + 6);
    assert_string_equal(event.reason, reason);
  }
}

static void test_malformed_lines(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
    const refused *line = &malformed[i];
    check_refused(NULL, line->stream, strlen(line->stream), line->offset, line->reason);
  }
}

/* "-ERR " and so many letters that the line with its CRLF has `size` bytes. */
static size_t long_line(char *out, const char *command, size_t size) {
  const size_t command_size = strlen(command);
  memset(out, 'x', size);
  memcpy(out, command, command_size);
  memcpy(out + size - 2, "\r\n", 2);
  return size;
}

static void test_line_limits(void **state) {
  (void)state;
  static char line[65600];
  static const alo_nats_limits limits = {.line_max = 32, .info_max = 48};
  static const char reason[] = "control line over its limit";

  run_everywhere(&limits, line, long_line(line, "-ERR ", 32));
  assert_int_equal(count_of(whole.text, "ERR x"), 1);
  check_refused(&limits, line, long_line(line, "-ERR ", 33), 31, reason);
  check_refused(&limits, line, long_line(line, "MSG ", 100), 31, reason);
  static const char over[] = "MSG a.message.of.that.line 12 1\r\nx\r\n";
  run_everywhere(&limits, "MSG a.message.of.that.line 1 1\r\nx\r\n", 35);
  assert_string_equal(whole.text, "MSG a.message.of.that.line sid 1 reply - data x\n");
  check_refused(&limits, over, sizeof over - 1, 31, reason);
  run_everywhere(&limits, line, long_line(line, "INFO ", 48));
  assert_int_equal(count_of(whole.text, "INFO x"), 1);
  check_refused(&limits, line, long_line(line, "info ", 49), 47, reason);
  /* Known at the limit's last byte: none over it is awaited. */
  check_refused(&limits, "PINGPINGPINGPINGPINGPINGPINGPING", 32, 31, reason);
}

static void test_default_limits(void **state) {
  (void)state;
  static char line[65600];
  static const struct {
    const char *command;
    size_t size;
  } most[] = {{"-ERR ", 8192}, {"INFO ", 65536}};
  for (size_t i = 0; i < 2; i++) {
    const struct cut all = {SIZE_MAX / 2, 1};
    transcript *log = &whole;
    size_t size = long_line(line, most[i].command, most[i].size);
    alo_nats_parser parser = {0};
    alo_nats_event event;
    size_t consumed;
    alo_nats_parser_init(&parser, NULL);
    assert_int_not_equal(alo_nats_parser_next(&parser, (uint8_t *)line, size, &consumed, &event),
                         ALO_NATS_BROKEN);
    assert_int_equal(consumed, size);
    size = long_line(line, most[i].command, most[i].size + 1);
    parser = run(log, NULL, line, size, all);
    assert_int_equal(parser.broken_at, most[i].size - 1);
  }
}

static void test_payload_limit(void **state) {
  (void)state;
  static const alo_nats_limits limits = {.payload_max = 14};
  static const char most[] =
      "HMSG a 1 12 14\r\nNATS/1.0\r\n\r\nhi\r\nMSG a 1 14\r\n12345678901234\r\n";
  run_everywhere(&limits, most, sizeof most - 1);
  assert_int_equal(count_of(whole.text, "MSG"), 2);
  check_refused(&limits, "MSG a 1 15\r\n", 12, 8, BAD_SIZE);
  check_refused(&limits, "MSG a 1 15\r\n123456789012345\r\n", 29, 8, BAD_SIZE);
  check_refused(&limits, "HMSG a 1 b 12 15\r\n", 18, 14, BAD_SIZE);

  /* The largest limit there is cannot overflow the size asked for. */
  static const alo_nats_limits all = {SIZE_MAX, SIZE_MAX, SIZE_MAX};
  check_refused(&all, "MSG a 1 18446744073709551615\r\n", 30, 8, BAD_SIZE);
  alo_nats_parser parser;
  alo_nats_event event;
  size_t consumed;
  alo_nats_parser_init(&parser, &all);
  assert_int_equal(alo_nats_parser_next(&parser, (const uint8_t *)"MSG a 1 9223372036854775807\r\n",
                                        29, &consumed, &event),
                   ALO_NATS_NEED);
  assert_true(event.need == (size_t)9223372036854775807u + 29 + 2);
}

/* The need of a payload is exact, at once, and stands until it is there. */
static void test_need(void **state) {
  (void)state;
  static const char stream[] = "MSG a 1 5\r\nhello\r\n";
  const size_t size = sizeof stream - 1;
  alo_nats_parser parser;
  alo_nats_event event;
  size_t consumed;
  alo_nats_parser_init(&parser, NULL);
  for (size_t seen = 0; seen < size; seen++) {
    assert_int_equal(
        alo_nats_parser_next(&parser, (const uint8_t *)stream, seen, &consumed, &event),
        ALO_NATS_NEED);
    assert_int_equal(event.need, seen < 11 ? seen + 1 : size);
  }
  assert_int_equal(alo_nats_parser_next(&parser, (const uint8_t *)stream, size, &consumed, &event),
                   ALO_NATS_MSG);
  assert_int_equal(consumed, size);
  assert_ptr_equal(event.data.data, stream + 11);
}

/* ---- Header blocks. ---- */

typedef struct version_line {
  const char *block;
  bool well_formed;
  int32_t status;
} version_line;

static const version_line version_lines[] = {
    {"NATS/1.0\r\n\r\n", true, 0},
    {"NATS/1.0 \t\r\n\r\n", true, 0},
    {"NATS/1.0 503\r\n\r\n", true, 503},
    {"NATS/1.0\t \t408 Request Timeout\r\n\r\n", true, 408},
    {"NATS/1.0 100\t\r\nA: b\r\n\r\n", true, 100},
    {"NATS/1.0 000\r\n\r\n", true, 0},
    {"NATS/1.0503\r\n\r\n", false, 0},
    {"NATS/1.0 50\r\n\r\n", false, 0},
    {"NATS/1.0 5034\r\n\r\n", false, 0},
    {"NATS/1.0 5x3\r\n\r\n", false, 0},
    {"NATS/1.0 fine\r\n\r\n", false, 0},
    {"NATS/1.0\n\r\n\r\n", false, 0},
    {"nats/1.0\r\n\r\n", false, 0},
    {"NATS/1.1\r\n\r\n", false, 0},
    {"NATS/1.0\r\n", false, 0},
    {"NATS/1.0\r\nA: b\r\n", false, 0},
    {"", false, 0},
};

static void test_version_lines(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof version_lines / sizeof version_lines[0]; i++) {
    const version_line *line = &version_lines[i];
    int32_t status = -1;
    assert_int_equal(alo_nats_headers_status(aloft_text_of(line->block), &status),
                     line->well_formed);
    assert_int_equal(status, line->status);
    aloft_nats_header header;
    size_t cursor = 0;
    if (!line->well_formed)
      assert_false(alo_nats_headers_next(aloft_text_of(line->block), &cursor, &header));
  }
}

/* Names and values, each followed by '|'. */
static void read_headers(const char *bytes, size_t size, transcript *log) {
  char *block = (char *)memory.data + memory.size - size;
  memcpy(block, bytes, size);
  aloft_nats_header header;
  size_t cursor = 0;
  log->size = 0;
  append(log, "");
  while (alo_nats_headers_next((aloft_text){block, size}, &cursor, &header)) {
    append_bytes(log, "", header.name.data, header.name.size);
    append_bytes(log, "=", header.value.data, header.value.size);
    append(log, "|");
  }
  assert_false(alo_nats_headers_next((aloft_text){block, size}, &cursor, &header));
}

static void test_headers(void **state) {
  (void)state;
  static const struct {
    const char *block, *expected;
  } blocks[] = {
      {"NATS/1.0\r\n\r\n", ""},
      {"NATS/1.0 503\r\n\r\n", ""},
      {"NATS/1.0\r\nA: b\r\n\r\n", "A=b|"},
      {"NATS/1.0\r\nA:b\r\na: \t c d\t \r\nE:\r\nF: \r\nG: 1:2\r\n\r\n",
       "A=b|a=c\\20d|E=|F=|G=1:2|"},
      {"NATS/1.0\r\nno colon\r\n: no name\r\nbl ank: x\r\n folded: x\r\nZ: 1\r\n\r\n", "Z=1|"},
      {"NATS/1.0\r\nA: 1\nB: 2\r\nC: \r3\r\n\r\n", "A=1|B=2|C=\\0d3|"},
      {"NATS/1.0\r\nA: 1\r\n\r\nB: 2\r\n\r\n", "A=1|"},
      {"NATS/1.0\r\n\x01: 1\r\nd\x7f: 2\r\n\xc3\xa9: \xff\r\n\r\n", "\\c3\\a9=\\ff|"},
  };
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
    read_headers(blocks[i].block, strlen(blocks[i].block), &pieces);
    assert_string_equal(pieces.text, blocks[i].expected);
  }
}

static int take_memory(void **state) {
  (void)state;
  memory = guard_take(65600);
  return 0;
}

static int give_memory(void **state) {
  (void)state;
  guard_give(&memory);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_recorded_commands),
      cmocka_unit_test(test_recorded_errors),
      cmocka_unit_test(test_recorded_sizes),
      cmocka_unit_test(test_recorded_headers),
      cmocka_unit_test(test_another_client_cannot_break_the_connection),
      cmocka_unit_test(test_allowed_lines),
      cmocka_unit_test(test_malformed_lines),
      cmocka_unit_test(test_line_limits),
      cmocka_unit_test(test_default_limits),
      cmocka_unit_test(test_payload_limit),
      cmocka_unit_test(test_need),
      cmocka_unit_test(test_version_lines),
      cmocka_unit_test(test_headers),
  };
  return cmocka_run_group_tests(tests, take_memory, give_memory);
}
