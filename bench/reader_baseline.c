#include "reader_baseline.h"

#include <stdlib.h>
#include <string.h>

enum {
  HEADER = 8,
  END_OF_MESSAGE = 1,
  COLUMNS_MAX = 4,
  NAME_MAX = 255,
  VALUE_MAX = 1 << 26,
  PACKETS_FIRST = 4 /* room of an array that grows from nothing */
};

enum { COLMETADATA = 0x81, ROW = 0xD1, DONE = 0xFD };

enum { INT4 = 0x38, NVARCHAR = 0xE7, MAX = 0xFFFF };

/* ---- what the parser remembers ---- */

/* Copied member by member into a snapshot and back. */
typedef struct baseline_state {
  bool pending_data;
  bool open_result;
  bool error_received;
  bool metadata_received;
  bool attention_received;
  uint64_t long_length, long_left; /* of a large value */
  size_t at;                       /* in the packet */
} baseline_state;

typedef struct baseline_packet {
  uint8_t *buffer;
  size_t size;
} baseline_packet;

/* The packets since the read began: objects, and an array of them that grows. */
typedef struct baseline_snapshot {
  baseline_state state;
  baseline_packet **packets;
  size_t count, room;
  size_t replay; /* the one being parsed again */
} baseline_snapshot;

typedef struct baseline_column {
  uint8_t type;
  uint16_t size;
  uint8_t *name;
} baseline_column;

typedef struct baseline_value {
  int32_t number;
  uint8_t *units; /* a value's own; NULL: none */
  const uint8_t *view;
  size_t size;
} baseline_value;

struct alo_baseline_reader {
  size_t packet_size;
  baseline_state state, began; /* now, and where the read began */
  uint8_t *buffer;             /* the packet that is parsed; a snapshot's while it replays */
  size_t size;
  uint8_t *received; /* the last packet of the network */
  size_t received_size;
  baseline_snapshot *snapshot; /* NULL: the read has not stopped */
  baseline_snapshot *over;     /* of the last row, whose values may lie in its packets */
  baseline_column *columns;
  size_t column_count;
  baseline_value values[COLUMNS_MAX];
  uint8_t *cut; /* for values of bounded types that two packets share; kept */
  size_t cut_room;
  bool fresh; /* a packet has come and nothing has looked at it */
  bool broken;
  alo_baseline_counters counters;
};

alo_baseline_reader *alo_baseline_reader_open(size_t packet_size) {
  alo_baseline_reader *reader = calloc(1, sizeof *reader);
  if (reader)
    reader->packet_size = packet_size;
  return reader;
}

/* ---- packets and snapshots ---- */

static void free_packets(alo_baseline_reader *reader, baseline_snapshot *snapshot) {
  for (size_t i = 0; i < snapshot->count; i++) {
    if (snapshot->packets[i]->buffer != reader->received)
      free(snapshot->packets[i]->buffer);
    free(snapshot->packets[i]);
  }
  free(snapshot->packets);
}

static void drop_snapshot(alo_baseline_reader *reader, baseline_snapshot **of) {
  baseline_snapshot *snapshot = *of;
  if (!snapshot)
    return;
  *of = NULL;
  free_packets(reader, snapshot);
  free(snapshot);
}

static bool push_packet(baseline_snapshot *snapshot, uint8_t *buffer, size_t size) {
  if (snapshot->count == snapshot->room) {
    size_t room = snapshot->room ? 2 * snapshot->room : PACKETS_FIRST;
    baseline_packet **grown = realloc(snapshot->packets, room * sizeof *grown);
    if (!grown)
      return false;
    snapshot->packets = grown;
    snapshot->room = room;
  }
  baseline_packet *packet = malloc(sizeof *packet);
  if (!packet)
    return false;
  *packet = (baseline_packet){buffer, size};
  snapshot->packets[snapshot->count++] = packet;
  return true;
}

/* A stop: a new snapshot, which takes over the packets of the last one of this read. */
static alo_baseline_step stop(alo_baseline_reader *reader) {
  baseline_snapshot *snapshot = calloc(1, sizeof *snapshot);
  reader->counters.stops++;
  if (!snapshot) {
    reader->broken = true;
    return ALO_BASELINE_BROKEN;
  }
  snapshot->state = reader->began;
  if (reader->snapshot) {
    snapshot->packets = reader->snapshot->packets;
    snapshot->count = reader->snapshot->count;
    snapshot->room = reader->snapshot->room;
    free(reader->snapshot);
  } else if (!push_packet(snapshot, reader->received, reader->received_size)) {
    reader->broken = true;
  }
  reader->snapshot = snapshot;
  return reader->broken ? ALO_BASELINE_BROKEN : ALO_BASELINE_PENDING;
}

uint8_t *alo_baseline_reader_buffer(alo_baseline_reader *reader) {
  if (!reader->received || (reader->snapshot && reader->snapshot->count > 0))
    reader->received = malloc(reader->packet_size);
  return reader->received;
}

void alo_baseline_reader_received(alo_baseline_reader *reader, size_t size) {
  reader->received_size = size;
  reader->fresh = true;
  if (size < HEADER || size > reader->packet_size ||
      (reader->snapshot && !push_packet(reader->snapshot, reader->received, size)))
    reader->broken = true;
}

static void begin_packet(alo_baseline_reader *reader, uint8_t *buffer, size_t size) {
  reader->buffer = buffer;
  reader->size = size;
  reader->state.at = HEADER;
}

/* The packet behind the one that is used up: of the snapshot, or none. */
static bool next_packet(alo_baseline_reader *reader) {
  baseline_snapshot *snapshot = reader->snapshot;
  if (!snapshot || snapshot->replay + 1 >= snapshot->count)
    return false;
  const baseline_packet *packet = snapshot->packets[++snapshot->replay];
  reader->counters.replayed += snapshot->replay + 1 < snapshot->count;
  begin_packet(reader, packet->buffer, packet->size);
  return true;
}

/* Puts the state back to where the read began, and the first packet before the parser. */
static void replay(alo_baseline_reader *reader) {
  baseline_snapshot *snapshot = reader->snapshot;
  snapshot->replay = 0;
  reader->buffer = snapshot->packets[0]->buffer;
  reader->size = snapshot->packets[0]->size;
  reader->counters.replayed += snapshot->count > 1;
  reader->state.pending_data = snapshot->state.pending_data;
  reader->state.open_result = snapshot->state.open_result;
  reader->state.error_received = snapshot->state.error_received;
  reader->state.metadata_received = snapshot->state.metadata_received;
  reader->state.attention_received = snapshot->state.attention_received;
  reader->state.long_length = snapshot->state.long_length;
  reader->state.long_left = snapshot->state.long_left;
  reader->state.at = snapshot->state.at;
}

/* ---- bytes: each of these is false when they have run out ---- */

static bool try_bytes(alo_baseline_reader *reader, uint8_t *out, size_t size) {
  while (size > 0) {
    size_t have = reader->size - reader->state.at;
    if (have == 0) {
      if (!next_packet(reader))
        return false;
      continue;
    }
    size_t part = have < size ? have : size;
    memcpy(out, reader->buffer + reader->state.at, part);
    reader->state.at += part;
    out += part;
    size -= part;
  }
  return true;
}

static bool try_number(alo_baseline_reader *reader, size_t size, uint64_t *number) {
  uint8_t piece[8];
  const uint8_t *from = piece;
  if (reader->size - reader->state.at >= size) {
    from = reader->buffer + reader->state.at;
    reader->state.at += size;
  } else if (!try_bytes(reader, piece, size)) {
    return false;
  }
  *number = 0;
  for (size_t i = 0; i < size; i++)
    *number |= (uint64_t)from[i] << 8 * i;
  return true;
}

static bool try_skip(alo_baseline_reader *reader, size_t size) {
  uint8_t nothing[64];
  return size <= sizeof nothing && try_bytes(reader, nothing, size);
}

/* What is wrong rather than missing also ends the read. */
static bool wrong(alo_baseline_reader *reader) {
  reader->broken = true;
  return false;
}

/* ---- columns ---- */

static void drop_columns(alo_baseline_reader *reader) {
  for (size_t i = 0; i < reader->column_count; i++)
    free(reader->columns[i].name);
  free(reader->columns);
  reader->columns = NULL;
  reader->column_count = 0;
}

static bool try_column(alo_baseline_reader *reader, baseline_column *column) {
  uint64_t type, size = 4, characters;
  if (!try_skip(reader, 6) || !try_number(reader, 1, &type))
    return false;
  if (type != INT4 && type != NVARCHAR)
    return wrong(reader);
  if (type == NVARCHAR && (!try_number(reader, 2, &size) || !try_skip(reader, 5)))
    return false;
  if (!try_number(reader, 1, &characters))
    return false;
  column->type = (uint8_t)type;
  column->size = (uint16_t)size;
  column->name = malloc(2 * characters + 1);
  return column->name ? try_bytes(reader, column->name, 2 * characters) : wrong(reader);
}

static bool try_metadata(alo_baseline_reader *reader) {
  uint64_t count;
  if (!try_number(reader, 2, &count))
    return false;
  if (count == 0 || count > COLUMNS_MAX)
    return wrong(reader);
  drop_columns(reader);
  reader->columns = calloc(count, sizeof *reader->columns);
  if (!reader->columns)
    return wrong(reader);
  reader->column_count = count;
  for (size_t i = 0; i < count; i++) {
    if (!try_column(reader, &reader->columns[i]))
      return false;
  }
  reader->state.metadata_received = true;
  reader->state.open_result = true;
  return true;
}

/* ---- values ---- */

static void drop_values(alo_baseline_reader *reader) {
  for (size_t i = 0; i < COLUMNS_MAX; i++) {
    free(reader->values[i].units);
    reader->values[i] = (baseline_value){0};
  }
}

static bool make_room(alo_baseline_reader *reader, size_t size) {
  if (size <= reader->cut_room)
    return true;
  uint8_t *grown = realloc(reader->cut, size);
  if (!grown)
    return false;
  reader->cut = grown;
  reader->cut_room = size;
  return true;
}

static bool try_small(alo_baseline_reader *reader, const baseline_column *column,
                      baseline_value *value) {
  uint64_t size;
  if (!try_number(reader, 2, &size))
    return false;
  if (size > column->size || size & 1)
    return wrong(reader);
  value->size = size;
  if (reader->size - reader->state.at >= size) {
    value->view = reader->buffer + reader->state.at;
    reader->state.at += size;
    return true;
  }
  if (!make_room(reader, size))
    return wrong(reader);
  value->view = reader->cut;
  return try_bytes(reader, reader->cut, size);
}

static bool try_chunks(alo_baseline_reader *reader, baseline_value *value) {
  for (;;) {
    uint64_t chunk;
    if (!try_number(reader, 4, &chunk))
      return false;
    if (chunk == 0)
      return reader->state.long_left == 0 || wrong(reader);
    if (chunk > reader->state.long_left)
      return wrong(reader);
    if (!try_bytes(reader, value->units + value->size, chunk))
      return false;
    value->size += chunk;
    reader->state.long_left -= chunk;
  }
}

/* Collected from its first byte each time. */
static bool try_large(alo_baseline_reader *reader, baseline_value *value) {
  uint64_t total;
  if (!try_number(reader, 8, &total))
    return false;
  if (total > VALUE_MAX || total & 1)
    return wrong(reader);
  reader->state.long_length = reader->state.long_left = total;
  value->units = malloc(total + 1);
  if (!value->units)
    return wrong(reader);
  value->view = value->units;
  return try_chunks(reader, value);
}

static bool try_value(alo_baseline_reader *reader, size_t column) {
  const baseline_column *of = &reader->columns[column];
  baseline_value *value = &reader->values[column];
  uint64_t number;
  if (of->type == NVARCHAR)
    return of->size == MAX ? try_large(reader, value) : try_small(reader, of, value);
  if (!try_number(reader, 4, &number))
    return false;
  value->number = (int32_t)(uint32_t)number;
  return true;
}

static bool try_row(alo_baseline_reader *reader) {
  drop_values(reader);
  if (!reader->state.metadata_received)
    return wrong(reader);
  for (size_t i = 0; i < reader->column_count; i++) {
    if (!try_value(reader, i))
      return false;
  }
  return true;
}

/* ---- a read ---- */

static bool try_read(alo_baseline_reader *reader, alo_baseline_step *step) {
  uint64_t token;
  for (;;) {
    if (!try_number(reader, 1, &token))
      return false;
    switch (token) {
    case COLMETADATA:
      if (!try_metadata(reader))
        return false;
      break;
    case ROW:
      *step = ALO_BASELINE_ROW;
      return try_row(reader);
    case DONE:
      *step = ALO_BASELINE_END;
      return try_skip(reader, 12);
    default:
      return wrong(reader);
    }
  }
}

/* The answer has been read: the next one begins with a fresh state. */
static void end_answer(alo_baseline_reader *reader) {
  drop_snapshot(reader, &reader->over);
  drop_values(reader);
  drop_columns(reader);
  reader->state = (baseline_state){0};
  reader->buffer = NULL;
  reader->size = 0;
}

alo_baseline_step alo_baseline_reader_read(alo_baseline_reader *reader) {
  alo_baseline_step step = ALO_BASELINE_BROKEN;
  if (reader->broken)
    return ALO_BASELINE_BROKEN;
  drop_snapshot(reader, &reader->over);
  if (reader->snapshot) {
    replay(reader);
  } else {
    if (!reader->buffer && !reader->fresh)
      return ALO_BASELINE_PENDING; /* an answer has not begun */
    if (reader->fresh)
      begin_packet(reader, reader->received, reader->received_size);
    reader->began = reader->state;
  }
  reader->fresh = false;
  reader->state.pending_data = true;
  if (!try_read(reader, &step))
    return reader->broken ? ALO_BASELINE_BROKEN : stop(reader);
  reader->over = reader->snapshot;
  reader->snapshot = NULL;
  if (step == ALO_BASELINE_END)
    end_answer(reader);
  return step;
}

/* ---- what it shows ---- */

int32_t alo_baseline_reader_int32(const alo_baseline_reader *reader, size_t column) {
  return column < reader->column_count ? reader->values[column].number : 0;
}

aloft_bytes alo_baseline_reader_utf16(const alo_baseline_reader *reader, size_t column) {
  if (column >= reader->column_count)
    return (aloft_bytes){0};
  return (aloft_bytes){reader->values[column].view, reader->values[column].size};
}

alo_baseline_counters alo_baseline_reader_counters(const alo_baseline_reader *reader) {
  return reader->counters;
}

void alo_baseline_reader_close(alo_baseline_reader *reader) {
  if (!reader)
    return;
  drop_values(reader);
  drop_columns(reader);
  drop_snapshot(reader, &reader->over);
  drop_snapshot(reader, &reader->snapshot);
  free(reader->received);
  free(reader->cut);
  free(reader);
}
