/* Any bytes as a server's answer: whole and in pieces it says the same, and memory follows what
 * was sent. The first byte holds bits (1: the rest is a stream with packet headers, else a payload
 * to be put in packets; 2: drain from the second piece on; 4: small limits; 8: large values in
 * pieces; 16: of which every second one is passed over), the second is the size of packets, the
 * third that of pieces. */
#include <string.h>

#include "code_pages.h"
#include "fuzz_check.h"
#include "heap.h"
#include "tds_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RAW = 1, DRAIN = 2, SMALL = 4, PIECES = 8, PASS = 16, HEAD = 3, INPUT_MAX = 1 << 16 };

/* ---- an allocator that counts ---- */

typedef struct counted {
  size_t live, most;
} counted;

static void add_live(counted *count, size_t size) {
  count->live += size;
  count->most = count->live > count->most ? count->live : count->most;
}

static void *count_allocate(void *context, size_t size) {
  add_live(context, size);
  return malloc(size);
}

static void *count_resize(void *context, void *memory, size_t old_size, size_t size) {
  counted *count = context;
  add_live(count, size);
  count->live -= old_size;
  return realloc(memory, size);
}

static void count_release(void *context, void *memory, size_t size) {
  counted *count = context;
  count->live -= size;
  free(memory);
}

static alo_page_store store; /* made once, and kept: not of one input's memory */

/* ---- what a reader says, as one number ---- */

typedef struct digest {
  uint64_t value;
  uint64_t events;
  bool open;         /* a large value is being read in pieces */
  bool passes;       /* every second one is not */
  uint64_t opened;   /* so far */
  size_t value_size; /* of the one being read */
} digest;

static void add(digest *says, const void *data, size_t size) {
  const uint8_t *bytes = data;
  for (size_t at = 0; at < size; at++) {
    says->value = (says->value ^ bytes[at]) * UINT64_C(0x100000001B3);
  }
  says->value = (says->value ^ size) * UINT64_C(0x100000001B3);
}

static void add_number(digest *says, uint64_t number) {
  add(says, &number, sizeof number);
}

static void add_text(digest *says, aloft_text text) {
  add(says, text.data, text.size);
}

static void add_natives(digest *says, const alo_tds_type *type, const alo_tds_cell *cell) {
  int64_t integer = 0;
  double real = 0;
  aloft_tds_decimal decimal = {0};
  aloft_tds_moment moment = {0};
  aloft_tds_uuid uuid = {{0}};
  alo_tds_value_int64(type, cell->data, cell->size, &integer);
  alo_tds_value_double(type, cell->data, cell->size, &real);
  alo_tds_value_decimal(type, cell->data, cell->size, &decimal);
  alo_tds_value_moment(type, cell->data, cell->size, &moment);
  alo_tds_value_uuid(type, cell->data, cell->size, &uuid);
  add_number(says, (uint64_t)integer);
  add(says, &real, sizeof real);
  add_number(says, decimal.low ^ decimal.high);
  add_number(says, (uint64_t)moment.days ^ moment.ticks);
  add(says, uuid.bytes, sizeof uuid.bytes);
}

static void add_cell(digest *says, alo_tds_reader *reader, const alo_tds_column_info *column,
                     const alo_tds_cell *cell) {
  add_number(says, (uint64_t)cell->null | (uint64_t)cell->over << 1 | (uint64_t)cell->decoded << 2);
  if (cell->null || cell->over || cell->pieced) {
    CHECK(cell->size == 0 && !cell->data);
    return;
  }
  CHECK(cell->data);
  add(says, cell->data, cell->size);
  if (cell->decoded) {
    return;
  }
  size_t size = 0;
  size_t room = alo_tds_value_text_room(&column->type, cell->size);
  char *out = alo_tds_reader_scratch(reader, room);
  CHECK(out);
  const alo_tds_text_rules rules = {.pages = &store.pages};
  if (!alo_tds_value_text_by(&rules, &column->type, cell->data, cell->size, out, &size)) {
    CHECK(size <= room);
    add(says, out, size);
  }
  add_natives(says, &column->type, cell);
}

static void add_column(digest *says, const alo_tds_column_info *column) {
  add(says, &column->type.token, 1);
  add_number(says, column->type.size);
  add_number(says, column->user_type);
  add_number(says, column->flags);
  add_text(says, column->name);
  add_text(says, column->udt);
  add_text(says, column->table);
  add_text(says, column->base_name);
  CHECK(alo_tds_type_name(&column->type));
}

static void add_row(digest *says, alo_tds_reader *reader, bool metadata) {
  for (size_t at = 0; at < alo_tds_reader_column_count(reader); at++) {
    const alo_tds_column_info *column = alo_tds_reader_column(reader, at);
    if (metadata) {
      add_column(says, column);
    } else {
      add_cell(says, reader, column, alo_tds_reader_cell(reader, at));
    }
  }
}

static void add_message(digest *says, const alo_tds_message *message) {
  add_number(says, (uint64_t)message->number << 8 | message->error);
  add_number(says,
             (uint64_t)message->line << 16 | (uint64_t)message->state << 8 | message->severity);
  add_text(says, message->text);
  add_text(says, message->server);
  add_text(says, message->procedure);
}

static void add_small(digest *says, alo_tds_reader *reader, alo_tds_event event) {
  uint8_t id = 0;
  if (event == ALO_TDS_ENVCHANGE) {
    const alo_tds_env *env = alo_tds_reader_env(reader);
    add_number(says, (uint64_t)env->type << 16 | env->routing_port);
    add_text(says, env->text_new);
    add(says, env->bytes_new.data, env->bytes_new.size);
  } else if (event == ALO_TDS_LOGINACK) {
    const alo_tds_loginack *login = alo_tds_reader_loginack(reader);
    add_number(says, login->tds_version);
    add_text(says, login->program);
  } else if (event == ALO_TDS_RETURN_STATUS) {
    add_number(says, (uint64_t)alo_tds_reader_return_status(reader));
  } else if (event == ALO_TDS_FEATURE_ACK) {
    aloft_bytes feature = alo_tds_reader_feature(reader, &id);
    add(says, feature.data, feature.size);
    add_number(says, id);
  }
}

static void add_event(digest *says, alo_tds_reader *reader, alo_tds_event event) {
  uint64_t offset;
  bool unsupported;
  says->events++;
  add_number(says, (uint64_t)event);
  switch (event) {
  case ALO_TDS_METADATA:
  case ALO_TDS_ROW_READY:
    add_row(says, reader, event == ALO_TDS_METADATA);
    break;
  case ALO_TDS_DONE:
    add_row(says, reader, true); /* more may have been told of the columns */
    add_number(says, alo_tds_reader_done(reader)->rows);
    break;
  case ALO_TDS_MESSAGE:
    add_message(says, alo_tds_reader_message(reader));
    break;
  case ALO_TDS_RETURN_VALUE:
    add_column(says, alo_tds_reader_return_value(reader));
    add_cell(says, reader, alo_tds_reader_return_value(reader), alo_tds_reader_return_cell(reader));
    break;
  case ALO_TDS_BROKEN: {
    const char *reason = alo_tds_reader_broken(reader, &offset, &unsupported);
    CHECK(reason);
    add(says, reason, strlen(reason));
    add_number(says, offset);
    break;
  }
  default:
    add_small(says, reader, event);
  }
}

/* However it is cut, a value is the same bytes. */
static void add_piece(digest *says, aloft_bytes piece) {
  CHECK(piece.size > 0 && piece.size <= ALO_TDS_PIECE_MAX);
  for (size_t at = 0; at < piece.size; at++) {
    says->value = (says->value ^ ((const uint8_t *)piece.data)[at]) * UINT64_C(0x100000001B3);
  }
  says->value_size += piece.size;
}

static void begin_value(digest *says, const alo_tds_reader *reader) {
  says->opened++;
  says->open = !says->passes || says->opened % 2;
  says->value_size = 0;
  add_number(says, alo_tds_reader_open_column(reader));
  add_number(says, alo_tds_reader_open_size(reader));
}

/* The next event that tells something: pieces are added on the way. */
static alo_tds_event next_event(alo_tds_reader *reader, digest *says, aloft_bytes *input) {
  while (says->open) {
    aloft_bytes piece;
    alo_tds_event event = alo_tds_reader_read(reader, input, &piece);
    if (event == ALO_TDS_PIECE) {
      add_piece(says, piece);
    } else if (event == ALO_TDS_VALUE_END) {
      add_number(says, says->value_size);
      says->open = false;
    } else {
      return event;
    }
  }
  return alo_tds_reader_next(reader, input);
}

/* One piece, in memory of its own that is gone afterwards. False: broken, and stays so. */
static bool feed(alo_tds_reader *reader, digest *says, const uint8_t *data, size_t size) {
  uint8_t *copy = malloc(size ? size : 1);
  CHECK(copy);
  memcpy(copy, data, size);
  aloft_bytes input = {copy, size};
  alo_tds_event event;
  while ((event = next_event(reader, says, &input)) != ALO_TDS_NEED) {
    if (event == ALO_TDS_ROW_OPEN) {
      begin_value(says, reader);
    }
    add_event(says, reader, event);
    if (event == ALO_TDS_BROKEN) {
      CHECK(alo_tds_reader_next(reader, &input) == ALO_TDS_BROKEN);
      break;
    }
  }
  CHECK(event == ALO_TDS_BROKEN || input.size == 0);
  free(copy);
  return event != ALO_TDS_BROKEN;
}

static digest read_in_pieces(const uint8_t *data, size_t size, size_t piece, uint8_t bits) {
  counted count = {0, 0};
  const aloft_allocator heap = {count_allocate, count_resize, count_release, &count};
  const alo_tds_limits small = {
      .columns_max = 20, .value_max = 100, .row_max = 150, .message_max = 200};
  alo_tds_reader *reader = alo_tds_reader_open(&heap, bits & SMALL ? &small : NULL);
  digest says = {.value = UINT64_C(0xCBF29CE484222325), .passes = (bits & PASS) != 0};
  CHECK(reader);
  alo_tds_reader_pieces(reader, (bits & PIECES) != 0);
  alo_tds_reader_use_pages(reader, &store.pages);
  for (size_t at = 0; at < size;) {
    size_t part = size - at < piece ? size - at : piece;
    aloft_bytes rest = {data + at, size - at};
    alo_tds_reader_ends_within(reader, &rest, 1);
    if (!feed(reader, &says, data + at, part)) {
      break;
    }
    at += part;
    if (bits & DRAIN) {
      alo_tds_reader_skip(reader, true);
    }
  }
  /* A value cut off is at most 64 KiB; its text and a row's are made here, by the byte. */
  CHECK(count.most <= 40 * size + (size_t)3 * 65536 + 16384);
  alo_tds_reader_close(reader);
  CHECK(count.live == 0);
  return says;
}

/* ---- the stream ---- */

static size_t make_stream(const uint8_t *data, size_t size, size_t payload, uint8_t *out) {
  size_t made = 0;
  for (size_t at = 0; at < size;) {
    size_t part = size - at < payload ? size - at : payload;
    uint8_t last = at + part == size;
    const uint8_t header[8] = {ALO_TDS_REPLY, last, (uint8_t)((part + 8) >> 8),
                               (uint8_t)(part + 8)};
    memcpy(out + made, header, sizeof header);
    memcpy(out + made + sizeof header, data + at, part);
    made += part + sizeof header;
    at += part;
  }
  return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static uint8_t stream[INPUT_MAX * 9];
  if (size < HEAD || size > INPUT_MAX) {
    return 0;
  }
  if (!store.heap) {
    alo_page_store_init(&store, &alo_heap_default);
  }
  uint8_t bits = data[0];
  size_t payload = (size_t)data[1] * (data[1] >= 128 ? 16 : 1) + 1;
  size_t piece = (size_t)data[2] + 1;
  size_t made = size - HEAD;
  if (bits & RAW) {
    memcpy(stream, data + HEAD, made);
  } else {
    made = make_stream(data + HEAD, size - HEAD, payload, stream);
  }
  digest whole = read_in_pieces(stream, made, made, (uint8_t)(bits & ~DRAIN));
  digest pieces = read_in_pieces(stream, made, piece, bits);
  if (!(bits & DRAIN)) {
    CHECK(whole.value == pieces.value && whole.events == pieces.events);
  }
  return 0;
}
