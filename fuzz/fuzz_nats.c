/* The NATS parser: a stream in one piece and the same in pieces must give the same events. The
 * last bytes of the input choose the pieces and the limits; what is before them is the stream. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_check.h"
#include "nats_headers.h"
#include "nats_info.h"
#include "nats_parser.h"

enum { CHOICES = 4 };

/* An event, its views as places in the stream. No padding: compared as bytes. */
typedef struct record {
  uint64_t kind, malformed;
  int64_t status;
  uint64_t sid, offset;
  const char *reason;
  size_t subject_at, subject_size, reply_at, reply_size, headers_at, headers_size;
  size_t data_at, data_size;
} record;

/* A caller that holds a window of the stream in memory of its own and of just its size. */
struct reader {
  alo_nats_parser parser;
  const uint8_t *stream;
  size_t start, fed;
  record *records;
  size_t count;
};

static size_t place(const struct reader *reader, const uint8_t *window, const void *view,
                    size_t size) {
  if (view == NULL)
    return SIZE_MAX;
  const uint8_t *at = view;
  CHECK(at >= window && size <= (size_t)(window + (reader->fed - reader->start) - at));
  return reader->start + (size_t)(at - window);
}

static void keep_message(struct reader *reader, const uint8_t *window, const alo_nats_event *event,
                         record *kept) {
  kept->sid = event->sid;
  kept->status = event->status;
  kept->malformed = event->headers_malformed;
  kept->subject_size = event->subject.size;
  kept->subject_at = place(reader, window, event->subject.data, event->subject.size);
  kept->reply_size = event->reply.size;
  kept->reply_at = place(reader, window, event->reply.data, event->reply.size);
  kept->headers_size = event->headers.size;
  kept->headers_at = place(reader, window, event->headers.data, event->headers.size);
  CHECK(kept->subject_size > 0 && (event->reply.data == NULL || kept->reply_size > 0));
}

static void keep(struct reader *reader, const uint8_t *window, const alo_nats_event *event) {
  record *kept = &reader->records[reader->count++];
  *kept = (record){.kind = (uint64_t)event->kind};
  if (event->kind == ALO_NATS_MSG)
    keep_message(reader, window, event, kept);
  if (event->kind == ALO_NATS_MSG || event->kind == ALO_NATS_INFO || event->kind == ALO_NATS_ERR) {
    kept->data_size = event->data.size;
    kept->data_at = place(reader, window, event->data.data, event->data.size);
  }
  if (event->kind == ALO_NATS_BROKEN) {
    kept->offset = event->offset;
    kept->reason = event->reason;
    CHECK(event->offset <= reader->fed);
  }
}

/* What is not read again may change meanwhile. */
static void spoil_seen_bytes(const struct reader *reader, uint8_t *window, size_t size) {
  const alo_nats_parser *parser = &reader->parser;
  if (parser->state == ALO_NATS_LINE &&
      memchr(window + parser->scanned, '\n', size - parser->scanned) == NULL)
    memset(window, '\n', parser->scanned);
}

static alo_nats_event_kind step(struct reader *reader) {
  const size_t size = reader->fed - reader->start;
  uint8_t *window = malloc(size > 0 ? size : 1);
  CHECK(window != NULL);
  memcpy(window, reader->stream + reader->start, size);
  spoil_seen_bytes(reader, window, size);
  alo_nats_event event;
  size_t consumed;
  alo_nats_event_kind kind = alo_nats_parser_next(&reader->parser, window, size, &consumed, &event);
  CHECK(kind == event.kind && consumed <= size);
  CHECK((consumed == 0) == (kind == ALO_NATS_NEED || kind == ALO_NATS_BROKEN));
  if (kind == ALO_NATS_NEED)
    CHECK(event.need > size);
  else
    keep(reader, window, &event);
  reader->start += consumed;
  free(window);
  return kind;
}

static void read_stream(struct reader *reader, size_t size, const uint8_t *pieces,
                        size_t piece_count) {
  for (size_t i = 0; reader->fed < size; i++) {
    size_t piece = piece_count > 0 ? (size_t)pieces[i % piece_count] + 1 : size;
    reader->fed += piece < size - reader->fed ? piece : size - reader->fed;
    alo_nats_event_kind kind;
    do
      kind = step(reader);
    while (kind != ALO_NATS_NEED && kind != ALO_NATS_BROKEN);
    if (kind == ALO_NATS_BROKEN)
      break;
  }
}

/* Headers that may be sent are written and read back. */
static void check_header(aloft_nats_header header) {
  if (!alo_nats_header_valid(&header))
    return;
  const size_t size = alo_nats_headers_size(&header, 1);
  char *block = malloc(size);
  CHECK(block != NULL);
  alo_nats_headers_write(&header, 1, (uint8_t *)block);
  aloft_nats_header back;
  size_t cursor = 0;
  CHECK(alo_nats_headers_next((aloft_text){block, size}, &cursor, &back));
  CHECK(back.name.size == header.name.size && back.value.size == header.value.size);
  CHECK(memcmp(back.name.data, header.name.data, back.name.size) == 0);
  CHECK(memcmp(back.value.data, header.value.data, back.value.size) == 0);
  CHECK(!alo_nats_headers_next((aloft_text){block, size}, &cursor, &back));
  free(block);
}

static void check_headers(aloft_text block, bool malformed) {
  aloft_nats_header header;
  size_t cursor = 0, before = 0;
  while (alo_nats_headers_next(block, &cursor, &header)) {
    CHECK(!malformed && cursor > before && cursor <= block.size);
    CHECK(header.name.size > 0 && header.name.data > block.data);
    CHECK(header.value.data + header.value.size <= block.data + block.size);
    check_header(header);
    before = cursor;
  }
}

static void check_info(aloft_text json) {
  alo_nats_info info;
  if (alo_nats_info_parse(json, &info) != NULL)
    return;
  char *text = malloc(info.server_name.size + 1);
  CHECK(text != NULL);
  CHECK(alo_nats_info_text(info.server_name, text) <= info.server_name.size);
  free(text);
}

static void check_contents(const struct reader *whole) {
  const char *stream = (const char *)whole->stream;
  for (size_t i = 0; i < whole->count; i++) {
    const record *kept = &whole->records[i];
    if (kept->kind == ALO_NATS_INFO)
      check_info((aloft_text){stream + kept->data_at, kept->data_size});
    if (kept->kind == ALO_NATS_MSG && kept->headers_at != SIZE_MAX)
      check_headers((aloft_text){stream + kept->headers_at, kept->headers_size},
                    kept->malformed != 0);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size <= CHOICES)
    return 0;
  size -= CHOICES;
  static const alo_nats_limits tight = {.line_max = 64, .info_max = 96, .payload_max = 128};
  const alo_nats_limits *limits = data[size] % 4 == 3 ? &tight : NULL;
  /* The shortest event takes five bytes. */
  const size_t records = size / 5 + 2;
  struct reader whole = {.stream = data}, cut = {.stream = data};
  whole.records = calloc(records, sizeof *whole.records);
  cut.records = calloc(records, sizeof *cut.records);
  CHECK(whole.records != NULL && cut.records != NULL);
  alo_nats_parser_init(&whole.parser, limits);
  alo_nats_parser_init(&cut.parser, limits);
  read_stream(&whole, size, NULL, 0);
  read_stream(&cut, size, data + size + 1, CHOICES - 1);
  CHECK(whole.count == cut.count && whole.start == cut.start);
  CHECK(memcmp(whole.records, cut.records, whole.count * sizeof *whole.records) == 0);
  check_contents(&whole);
  free(whole.records);
  free(cut.records);
  return 0;
}
