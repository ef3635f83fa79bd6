/* Random uses of one connection against a random, often spoilt server: every step, accessor, stop
 * and close in any order, also inside callbacks. Each query is done once, within its time, and a
 * connection that says it is usable is. ALOFT_SEED=N runs that seed alone, ALOFT_ROUNDS=N more of
 * them. */
#include "tds_client.h"

#include "tds_response.h"
#include "utf16.h"

enum { QUERIES = 4, ROUNDS = 400, BYTES_MAX = 16 * 1024 };

static uint64_t state_now, seed_now; /* the second is 0 when nothing runs */

static void tell_seed(void) {
  if (seed_now)
    fprintf(stderr, "failed: ALOFT_SEED=%llu\n", (unsigned long long)seed_now);
}

static uint64_t next_random(void) {
  state_now ^= state_now << 13;
  state_now ^= state_now >> 7;
  state_now ^= state_now << 17;
  return state_now;
}

static unsigned below(unsigned bound) {
  return (unsigned)(next_random() >> 11) % bound;
}

static bool one_in(unsigned many) {
  return below(many) == 0;
}

/* ---- the server's answer ---- */

#define LATIN                                                                                      \
  { 0x09, 0x04, 0xD0, 0x00, 0x34 }

static const alo_tds_type types[] = {
    {.token = ALO_TDS_INTN, .size = 4},
    {.token = ALO_TDS_INT8, .size = 8},
    {.token = ALO_TDS_NVARCHAR, .size = 80, .collation = LATIN},
    {.token = ALO_TDS_NVARCHAR, .size = ALO_TDS_MAX_SIZE, .collation = LATIN},
    {.token = ALO_TDS_BIGVARCHAR, .size = ALO_TDS_MAX_SIZE, .collation = {0x11, 0x04, 0xD0}},
    {.token = ALO_TDS_BIGVARCHAR, .size = 40, .collation = {0x12, 0x04, 0xD0}},
    {.token = ALO_TDS_BIGVARBINARY, .size = ALO_TDS_MAX_SIZE},
    {.token = ALO_TDS_XML, .size = ALO_TDS_MAX_SIZE},
    {.token = ALO_TDS_SSVARIANT, .size = 8016},
    {.token = ALO_TDS_DATETIMEOFFSETN, .size = 10, .scale = 7},
    {.token = ALO_TDS_DECIMALN, .size = 17, .precision = 38, .scale = 38},
    {.token = ALO_TDS_GUID, .size = 16},
    {.token = ALO_TDS_NTEXT, .size = 0x7FFFFFFE, .collation = LATIN},
    {.token = ALO_TDS_IMAGE, .size = 0x7FFFFFFF},
    {.token = ALO_TDS_JSON, .size = ALO_TDS_MAX_SIZE}};

enum { TYPES = sizeof types / sizeof *types, COLUMNS_MAX = 10 };

/* A large value by hand: odd chunks, of unknown size at times. */
static void put_plp(alo_tds_writer *w, bool even) {
  uint32_t size = below(4) ? below(60) : below(6000);
  if (even)
    size &= ~1u;
  alo_tds_put_u64(w, one_in(2) ? size : UINT64_MAX - 1);
  while (size) {
    uint32_t chunk = 1 + below(size);
    if (one_in(3) && chunk > 7)
      chunk = 1 + below(7);
    alo_tds_put_u32(w, chunk);
    for (uint32_t at = 0; at < chunk; at++)
      alo_tds_put_u8(w, (uint8_t)(one_in(4) ? 0xD8 + below(8) : next_random()));
    size -= chunk;
  }
  alo_tds_put_u32(w, 0);
}

static void put_variant(alo_tds_writer *w) {
  static const uint8_t values[][14] = {{6, 0x38, 0, 1, 2, 3, 4},
                                       {2, 0xA7, 7},
                                       {9, 0xE7, 7, 9, 4, 0xD0, 0, 52, 80, 0},
                                       {6, 0x6C, 2, 9, 2, 1, 7},
                                       {4, 0xA5, 2, 9, 0},
                                       {3, 0x77, 0, 1},
                                       {1, 0x38},
                                       {6, 0x28, 0, 9, 9, 9}};
  const uint8_t *value = values[below(8)];
  alo_tds_put_u32(w, value[0]);
  alo_tds_put(w, value + 1, value[0]);
}

static void put_random(alo_tds_writer *w, const alo_tds_type *type) {
  uint8_t bytes[80];
  for (size_t at = 0; at < sizeof bytes; at++)
    bytes[at] = (uint8_t)next_random();
  if (type->token == ALO_TDS_SSVARIANT) {
    put_variant(w);
  } else if (alo_tds_type_is_plp(type)) {
    put_plp(w, alo_tds_type_charset(type) == ALO_TDS_CHARSET_UTF16);
  } else if (alo_tds_type_form(type) == ALO_TDS_FORM_LOB) {
    uint32_t size = below(3000) & ~1u;
    alo_tds_put_u8(w, 16);
    alo_tds_put(w, bytes, 24);
    alo_tds_put_u32(w, size);
    while (size--)
      alo_tds_put_u8(w, (uint8_t)next_random());
  } else if (alo_tds_type_form(type) == ALO_TDS_FORM_SHORT) {
    uint16_t size = (uint16_t)(below(type->size + 1) & ~1u);
    alo_tds_put_u16(w, size);
    alo_tds_put(w, bytes, size);
  } else if (alo_tds_type_form(type) == ALO_TDS_FORM_BYTE) {
    alo_tds_put_u8(w, (uint8_t)type->size);
    alo_tds_put(w, bytes, type->size);
  } else {
    alo_tds_put(w, bytes, type->size);
  }
}

static void put_result(alo_tds_writer *w) {
  alo_tds_out_column columns[COLUMNS_MAX];
  bool nulls[COLUMNS_MAX];
  size_t count = 1 + below(COLUMNS_MAX);
  for (size_t at = 0; at < count; at++)
    columns[at] = (alo_tds_out_column){types[below(TYPES)], 1, ALOFT_TEXT("c\xC3\xB6l")};
  alo_tds_put_colmetadata(w, columns, count);
  for (unsigned rows = below(12); rows > 0; rows--) {
    bool compressed = one_in(2);
    for (size_t at = 0; at < count; at++)
      nulls[at] = compressed && one_in(3);
    compressed ? alo_tds_put_nbcrow(w, nulls, count) : alo_tds_put_row(w);
    for (size_t at = 0; at < count; at++)
      if (!nulls[at])
        put_random(w, &columns[at].type);
  }
}

static void put_environment(alo_tds_writer *w) {
  static const uint8_t changes[] = {7, 8, 9, 10, 11, 12, 17, 18};
  if (one_in(2))
    alo_tds_put_env_text(w, one_in(2) ? 4 : 1, one_in(2) ? ALOFT_TEXT("512") : ALOFT_TEXT("32767"),
                         ALOFT_TEXT("4096"));
  else
    alo_tds_put_env_bytes(w, changes[below(8)], (aloft_bytes){"12345678", one_in(2) ? 8 : 5},
                          (aloft_bytes){"", 0});
  if (one_in(60))
    alo_tds_put_env_routing(w, ALOFT_TEXT("elsewhere"), 1433);
}

static void put_token(alo_tds_writer *w) {
  switch (below(9)) {
  case 0:
    alo_tds_put_message(w, &(alo_tds_message){.error = one_in(2),
                                              .severity = (uint8_t)below(26),
                                              .number = 7,
                                              .text = ALOFT_TEXT("so it is")});
    break;
  case 1:
    put_environment(w);
    break;
  case 2:
    alo_tds_put_return_status(w, 5);
    break;
  case 3: {
    const alo_tds_type *type = &types[below(TYPES)];
    alo_tds_put_return_value(w, (uint16_t)below(4), ALOFT_TEXT("@p"), type);
    put_random(w, type);
    break;
  }
  case 4:
    alo_tds_put_done(w,
                     &(alo_tds_done){.token = (uint8_t)(0xFD + below(3)),
                                     .status = (uint16_t)(below(4) ? 0x11 : next_random() & 0xFFDF),
                                     .rows = one_in(3) ? next_random() : 2});
    break;
  default:
    put_result(w);
  }
}

static unsigned spoilings; /* of a hundred answers */
static bool spoilt;

static void spoil(uint8_t *bytes, size_t *size) {
  for (unsigned times = 1 + below(3); times > 0 && *size > 8; times--) {
    size_t at = below((unsigned)*size), count = below(12);
    switch (below(4)) {
    case 0:
      bytes[at] = (uint8_t)next_random();
      break;
    case 1:
      bytes[at] = one_in(2) ? 0xFF : 0;
      break;
    case 2: /* cut out */
      count = count < *size - at ? count : *size - at;
      memmove(bytes + at, bytes + at + count, *size - at - count);
      *size -= count;
      break;
    default:
      *size = at;
    }
  }
}

static void put_answer(alo_tds_writer *writer) {
  alo_buffer buffer;
  alo_tds_writer own;
  alo_buffer_init(&buffer, &alo_heap_default, 1 << 24);
  alo_tds_writer_init(&own, &buffer, UINT32_MAX);
  alo_tds_message_begin(&own, ALO_TDS_REPLY, 0);
  for (unsigned count = below(7); count > 0; count--)
    put_token(&own);
  assert_int_equal(alo_tds_message_end(&own), ALOFT_OK);
  uint8_t *bytes = buffer.data + buffer.begin + ALO_TDS_HEADER_SIZE;
  size_t size = alo_buffer_size(&buffer) - ALO_TDS_HEADER_SIZE;
  if (below(100) < spoilings) {
    spoil(bytes, &size);
    spoilt = true;
  }
  alo_tds_put(writer, bytes, size);
  alo_buffer_fini(&buffer);
}

/* ---- the user ---- */

static harness_heap the_heap;

typedef struct chaos {
  world *world;
  struct slot {
    aloft_tds_query query;
    struct chaos *chaos;
    aloft_cancel cancel;
    char sql[64];
    unsigned started, done;
    bool in_message;
  } slots[QUERIES];
  bool closed, quiet;
  unsigned depth;
} chaos;

static struct slot *slot_of(aloft_tds_query *query) {
  return ALOFT_CONTAINER(query, struct slot, query);
}

static void act(chaos *c, aloft_tds_query *within);

static uint64_t sink;

static void touch(const void *data, size_t size) {
  for (size_t at = 0; at < size; at++)
    sink += ((const uint8_t *)data)[at];
}

static void read_column(aloft_tds_query *q, size_t column) {
  aloft_text text;
  aloft_bytes bytes;
  const aloft_tds_column *info;
  aloft_status status = aloft_tds_check(q, column);
  switch (below(11)) {
  case 0:
    sink += aloft_tds_is_null(q, column);
    break;
  case 1:
    sink += aloft_tds_bit(q, column);
    break;
  case 2:
    sink += (uint64_t)aloft_tds_int32(q, column);
    break;
  case 3:
    sink += (uint64_t)aloft_tds_int64(q, column);
    break;
  case 4:
    sink += aloft_tds_double(q, column) > 0;
    break;
  case 5:
    sink += aloft_tds_get_decimal(q, column).low;
    break;
  case 6:
    sink += aloft_tds_get_moment(q, column).ticks;
    break;
  case 7:
    sink += aloft_tds_get_uuid(q, column).bytes[3];
    break;
  case 8:
    bytes = aloft_tds_get_bytes(q, column);
    touch(bytes.data, bytes.size);
    break;
  case 9:
    info = aloft_tds_get_column(q, column);
    if (info) {
      touch(info->name.data, info->name.size);
      touch(info->table.data, info->table.size);
      touch(info->udt.data, info->udt.size);
      touch(info->type_name, strlen(info->type_name));
    }
    sink += aloft_tds_value_type(q, column) + aloft_tds_open_size(q) + aloft_tds_output(q);
    break;
  default:
    text = aloft_tds_text(q, column);
    touch(text.data, text.size);
    if (status == ALOFT_OK && text.data)
      assert_int_equal(alo_utf8_valid(text.data, text.size), text.size);
  }
}

static void step_some(chaos *c, aloft_tds_query *q) {
  struct slot *s = slot_of(q);
  for (unsigned count = 1 + below(30); count > 0 && !c->closed; count--) {
    bool flying = aloft_op_in_flight(&q->op);
    aloft_status answer = aloft_tds_step(q);
    if (s->in_message)
      assert_true(answer == ALOFT_WRONG_STATE || !flying);
    if (c->closed || answer == ALOFT_PENDING ||
        (answer != ALOFT_ROW && answer != ALOFT_MORE && answer != ALOFT_RESULT &&
         answer != ALOFT_OUTPUT))
      return;
    if (one_in(3))
      for (unsigned times = below(6); times > 0; times--) {
        if (one_in(20)) {
          read_column(q, below(12));
        } else if (aloft_tds_column_count(q) && answer != ALOFT_RESULT) {
          size_t column = below((unsigned)aloft_tds_column_count(q));
          aloft_text text = {NULL, 0};
          if (aloft_tds_check(q, column) == ALOFT_OK && !aloft_tds_is_null(q, column))
            text = aloft_tds_text(q, column), assert_true(text.data || the_heap.failed);
          touch(text.data, text.size);
        }
      }
    while (aloft_tds_open_column(q) != ALOFT_TDS_NO_COLUMN && below(4)) {
      aloft_bytes piece;
      answer = aloft_tds_read(q, &piece);
      if (answer != ALOFT_OK)
        break;
      assert_true(piece.size > 0 && piece.size <= 65536);
      touch(piece.data, piece.size);
    }
  }
}

static void chaos_ready(aloft_tds_query *q) {
  struct slot *s = slot_of(q);
  chaos *c = s->chaos;
  assert_int_equal(completing, 0);
  assert_true(aloft_op_in_flight(&q->op));
  if (one_in(6))
    act(c, q);
  if (c->closed || !aloft_op_in_flight(&q->op))
    return;
  if (!one_in(9))
    step_some(c, q);
}

static void chaos_message(aloft_tds_query *q, const aloft_error *message) {
  struct slot *s = slot_of(q);
  assert_true(aloft_op_in_flight(&q->op));
  touch(message->message.data, message->message.size);
  s->in_message = true;
  if (one_in(4))
    act(s->chaos, q);
  s->in_message = false;
}

static void chaos_counted(aloft_tds_query *q, uint64_t rows) {
  (void)rows;
  struct slot *s = slot_of(q);
  s->in_message = true;
  if (one_in(4))
    act(s->chaos, q);
  s->in_message = false;
}

static void start(chaos *c, struct slot *s);

static void chaos_done(aloft_op *op, aloft_status status) {
  aloft_tds_query *q = ALOFT_CONTAINER(op, aloft_tds_query, op);
  struct slot *s = slot_of(q);
  enter_done(op, status);
  s->done++;
  assert_int_equal(s->done, s->started);
  if (op->error)
    touch(op->error->message.data, op->error->message.size);
  if (!s->chaos->closed && one_in(3))
    read_column(q, below(4));
  leave_done();
  if (one_in(4) && !s->chaos->closed)
    act(s->chaos, NULL);
}

static void start(chaos *c, struct slot *s) {
  static const char *const hows[] = {"",
                                     "",
                                     "",
                                     " hold 0",
                                     " hold 60",
                                     " hold 900",
                                     " interrupt 4",
                                     " interrupt 9",
                                     " pause 900",
                                     " late 300",
                                     " hold 50 late 200",
                                     " deaf hold 70",
                                     " drop 333"};
  static const char *const whats[] = {"own",      "own",        "own",   "own",
                                      "rows 40",  "large 9000", "two",   "message",
                                      "error 50", "begin",      "commit"};
  static const aloft_tds_param params[2] = {
      {.name = {"p", 1}, .type = ALOFT_TDS_INT, .value.integer = 5, .output = true},
      {.name = {"q", 1}, .type = ALOFT_TDS_NVARCHAR, .null = true, .output = true}};
  if (c->closed || aloft_op_in_flight(&s->query.op) || s->started != s->done)
    return;
  memset(&s->query, 0, sizeof s->query);
  snprintf(s->sql, sizeof s->sql, "%s%s", whats[below(11)], hows[below(one_in(8) ? 13 : 11)]);
  if (one_in(5))
    s->query.procedure = aloft_text_of(s->sql);
  else
    s->query.sql = aloft_text_of(s->sql);
  if (one_in(3))
    s->query.params = params, s->query.param_count = 2;
  if (one_in(2))
    s->query.large = ALOFT_TDS_PIECES;
  if (below(5))
    s->query.ready = chaos_ready;
  if (below(3))
    s->query.message = chaos_message;
  if (below(3))
    s->query.counted = chaos_counted;
  s->query.op.done = chaos_done;
  s->query.op.timeout_ns = ALOFT_MILLISECONDS(1 + below(one_in(2) ? 20 : 2000));
  if (one_in(3))
    s->query.op.cancel = &s->cancel;
  starting++;
  aloft_status status = aloft_tds_query_start(c->world->tds, &s->query);
  starting--;
  if (status == ALOFT_OK)
    s->started++;
}

static void act(chaos *c, aloft_tds_query *within) {
  struct slot *s = &c->slots[below(QUERIES)];
  aloft_bytes piece;
  if (c->closed || c->depth > 2 || c->quiet)
    return;
  c->depth++;
  switch (below(9)) {
  case 0:
  case 1:
    start(c, s);
    break;
  case 2:
    if (s->started)
      (void)aloft_op_cancel(&s->query.op);
    break;
  case 3:
    if (within)
      (void)aloft_op_cancel(&within->op);
    break;
  case 4:
    aloft_cancel_fire(&s->cancel);
    break;
  case 5:
    if (s->started)
      step_some(c, &s->query);
    break;
  case 6:
    if (s->started)
      read_column(&s->query, below(12));
    break;
  case 7:
    if (s->started)
      (void)aloft_tds_read(&s->query, &piece);
    break;
  default:
    if (one_in(25)) {
      c->closed = true;
      assert_int_equal(aloft_tds_close(c->world->tds, NULL), ALOFT_OK);
    }
  }
  c->depth--;
}

static bool all_done(const chaos *c) {
  for (size_t at = 0; at < QUERIES; at++)
    if (c->slots[at].done != c->slots[at].started)
      return false;
  return true;
}

static bool busy(const world *w) {
  aloft_tds_info info = info_of(w);
  return info.draining && !info.dead;
}

static uint64_t proofs;

static void prove_or_dead(chaos *c) {
  world *w = c->world;
  for (unsigned at = 0; busy(w); at++) {
    assert_true(at < TURNS_MAX);
    assert_int_equal(aloft_loop_turn(w->loop, ALOFT_FOREVER), ALOFT_OK);
  }
  if (info_of(w).dead)
    return;
  probe p;
  probe_init(&p, w, "rows 3");
  p.query.op.timeout_ns = ALOFT_SECONDS(20);
  aloft_status status = probe_start(&p);
  if (status != ALOFT_OK) {
    assert_true(info_of(w).dead);
    return;
  }
  probe_wait(&p);
  proofs++;
  if (p.status == ALOFT_OK) {
    if (p.rows != 3 || p.sum != 3)
      fail_msg("wrong data");
  } else {
    if ((!spoilt && p.status != ALOFT_LOST && p.status != ALOFT_LOST_UNSENT) ||
        p.status == ALOFT_TIMEOUT || p.status == ALOFT_SERVER)
      fail_msg("status %d %s", p.status, p.error_text);
  }
}

static void run(uint64_t seed) {
  static chaos c;
  world w;
  state_now = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
  const alo_sim_faults faults = {0};
  harness_heap_init(&the_heap);
  world_open_with(&w, &the_heap.allocator, seed, &faults);
  memset(&c, 0, sizeof c);
  c.world = &w;
  spoilt = false;
  spoilings = one_in(3) ? 40 : one_in(2) ? 3 : 0;
  w.server.answer = put_answer;
  w.server.json_version = 1;
  w.config.value_max = one_in(2) ? 2000 : 0;
  w.config.rx_bytes_max = one_in(2) ? 8192 : 0;
  w.config.strict_text = one_in(3);
  world_connect(&w);
  for (size_t at = 0; at < QUERIES; at++) {
    c.slots[at].chaos = &c;
    aloft_cancel_init(&c.slots[at].cancel, w.loop, NULL);
  }
  if (one_in(3))
    harness_heap_fail_at(&the_heap, below(60));
  for (unsigned times = 60; times > 0 && !c.closed; times--) {
    act(&c, NULL);
    for (unsigned turns_left = below(4); turns_left > 0; turns_left--) {
      aloft_status status = aloft_loop_turn(w.loop, one_in(3) ? ALOFT_MILLISECONDS(below(40)) : 0);
      assert_true(status == ALOFT_OK || status == ALOFT_NO_MEMORY);
    }
  }
  c.quiet = true;
  for (unsigned at = 0; !all_done(&c); at++) {
    assert_true(at < TURNS_MAX);
    assert_int_equal(aloft_loop_turn(w.loop, ALOFT_FOREVER), ALOFT_OK);
  }
  harness_heap_fail_at(&the_heap, 0);
  if (!c.closed)
    prove_or_dead(&c);
  for (size_t at = 0; at < QUERIES; at++)
    aloft_cancel_fini(&c.slots[at].cancel);
  world_close(&w);
  harness_heap_check(&the_heap);
}

static void test_random(void **state) {
  (void)state;
  const char *seed = getenv("ALOFT_SEED"), *rounds = getenv("ALOFT_ROUNDS");
  uint64_t first = seed ? strtoull(seed, NULL, 10) : 1;
  uint64_t count = rounds ? strtoull(rounds, NULL, 10) : seed ? 1 : ROUNDS;
  for (uint64_t at = 0; at < count; at++) {
    seed_now = first + at;
    run(first + at);
  }
  seed_now = 0;
  assert_true(count < 100 || proofs > count / 10);
}

int main(void) {
  (void)atexit(tell_seed);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
