/* Random calls from a seed: what is written of a procedure, or of sp_executesql, is read again as
 * it was given, before a guard page. `ALOFT_SEED=N` runs that one; `ALOFT_STREAMS=N` so many
 * (default 10,000). */
#include "tds_message.h"

#include <stdio.h>
#include <time.h>

#include "tds_request.h"

enum { CALLS = 10000, PARAMS_MAX = 10, BYTES_MAX = 9000 };

static tds_output output;

/* ---- random numbers: xorshift64*, so that a seed means the same everywhere ---- */

static uint64_t random_state;

static uint64_t random_number(void) {
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return random_state * UINT64_C(2685821657736338717);
}

static size_t below(size_t limit) {
  return (size_t)(random_number() >> 11) % limit;
}

/* Mostly few, now and then many. */
static size_t some(size_t most) {
  return below(12) ? below(most < 30 ? most + 1 : 30) : below(most + 1);
}

/* ---- what is given ---- */

typedef struct given {
  aloft_tds_param param, held; /* in a sql_variant */
  char name[16];
  char memory[4 * BYTES_MAX]; /* of text or bytes, its own or the held one's */
} given;

typedef struct request {
  bool by_name, knows_collation, knows_json;
  aloft_text procedure;
  given params[PARAMS_MAX];
  size_t count;
} request;

static request asked;

static const char *const procedures[] = {"p", "dbo.p", "[a]]b].[\xF0\x9F\x98\x80]", "db..\"q\";2"};

/* Of Windows-1252, so that no '?' comes back whatever it is sent as. */
static aloft_text random_text(char *memory, size_t most) {
  static const char *const characters[] = {"a", "Z", "0", " ", "\xC3\xA9", "\xE2\x82\xAC"};
  size_t size = 0;
  for (size_t left = some(most); left > 0; left--) {
    const char *character = characters[below(6)];
    memcpy(memory + size, character, strlen(character));
    size += strlen(character);
  }
  return (aloft_text){memory, size};
}

static aloft_bytes random_bytes(char *memory, size_t most) {
  size_t size = some(most);
  for (size_t at = 0; at < size; at++) {
    memory[at] = (char)random_number();
  }
  return (aloft_bytes){memory, size};
}

static int64_t random_integer(aloft_tds_type type) {
  int64_t value = (int64_t)random_number();
  switch (type) {
  case ALOFT_TDS_BIT:
    return value & 1;
  case ALOFT_TDS_TINYINT:
    return value & UINT8_MAX;
  case ALOFT_TDS_SMALLINT:
    return (int16_t)value;
  case ALOFT_TDS_INT:
    return (int32_t)value;
  default:
    return value;
  }
}

/* Within its precision; money's are smaller than its type could hold. */
static aloft_tds_decimal random_decimal(aloft_tds_type type) {
  aloft_tds_decimal value = {.negative = below(2)};
  bool money = type == ALOFT_TDS_MONEY || type == ALOFT_TDS_SMALLMONEY;
  value.precision = (uint8_t)(money ? (type == ALOFT_TDS_MONEY ? 19 : 10) : 1 + below(38));
  value.scale = (uint8_t)(money ? 4 : below(value.precision + 1u));
  value.low = random_number() % (value.precision >= 19 ? UINT64_C(1000000000000000000) : 10);
  value.high = value.precision == 38 ? random_number() >> 2 : 0;
  return value;
}

static aloft_tds_moment random_moment(aloft_tds_type type, uint8_t scale) {
  static const uint64_t unit[] = {10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};
  aloft_tds_moment value = {.days = 0};
  if (type != ALOFT_TDS_TIME) {
    value.days = (int32_t)(type == ALOFT_TDS_SMALLDATETIME ? 693595 + below(65536)
                           : type == ALOFT_TDS_DATETIME    ? 639905 + below(3000000)
                                                           : below(3652059));
  }
  if (type == ALOFT_TDS_SMALLDATETIME) {
    value.ticks = below(1440) * UINT64_C(600000000);
  } else if (type == ALOFT_TDS_DATETIME) {
    value.ticks = below(86400) * UINT64_C(10000000);
  } else if (type != ALOFT_TDS_DATE) {
    value.ticks = random_number() % UINT64_C(864000000000) / unit[scale] * unit[scale];
  }
  if (type == ALOFT_TDS_DATETIMEOFFSET) {
    value.offset_minutes = (int16_t)((int)below(1681) - 840);
  }
  return value;
}

static bool is_text(aloft_tds_type type) {
  return (type >= ALOFT_TDS_CHAR && type <= ALOFT_TDS_NVARCHAR) || type == ALOFT_TDS_TEXT ||
         type == ALOFT_TDS_NTEXT || type == ALOFT_TDS_XML || type == ALOFT_TDS_JSON;
}

static bool is_bytes(aloft_tds_type type) {
  return type == ALOFT_TDS_BINARY || type == ALOFT_TDS_VARBINARY || type == ALOFT_TDS_IMAGE ||
         type == ALOFT_TDS_UDT;
}

static bool is_lob(aloft_tds_type type) {
  return type == ALOFT_TDS_TEXT || type == ALOFT_TDS_NTEXT || type == ALOFT_TDS_IMAGE;
}

static bool is_moment(aloft_tds_type type) {
  return type >= ALOFT_TDS_DATE && type <= ALOFT_TDS_DATETIMEOFFSET;
}

static void give_value(aloft_tds_param *param, char *memory, size_t most) {
  if (param->type <= ALOFT_TDS_BIGINT) {
    param->value.integer = random_integer(param->type);
  } else if (param->type <= ALOFT_TDS_FLOAT) {
    param->value.real = (double)(float)((double)(int64_t)random_number() / 1024);
  } else if (param->type <= ALOFT_TDS_MONEY) {
    param->value.decimal = random_decimal(param->type);
  } else if (is_text(param->type)) {
    param->value.text = random_text(memory, most);
  } else if (is_bytes(param->type)) {
    param->value.bytes = random_bytes(memory, most);
  } else if (is_moment(param->type)) {
    param->scale = (uint8_t)below(8);
    param->value.moment = random_moment(param->type, param->scale);
  } else if (param->type == ALOFT_TDS_ROWVERSION) {
    param->value.bytes = (aloft_bytes){memory, 8};
  } else {
    for (size_t at = 0; at < 16; at++) {
      param->value.uuid.bytes[at] = (uint8_t)random_number();
    }
  }
}

/* A type of fixed size takes no more than 8,000 bytes. */
static size_t most_of(aloft_tds_type type) {
  bool fixed = type == ALOFT_TDS_CHAR || type == ALOFT_TDS_NCHAR || type == ALOFT_TDS_BINARY;
  return fixed ? 4000 : BYTES_MAX;
}

static void give_held(given *to) {
  static const aloft_tds_type types[] = {ALOFT_TDS_BIT,
                                         ALOFT_TDS_TINYINT,
                                         ALOFT_TDS_SMALLINT,
                                         ALOFT_TDS_INT,
                                         ALOFT_TDS_BIGINT,
                                         ALOFT_TDS_REAL,
                                         ALOFT_TDS_FLOAT,
                                         ALOFT_TDS_DECIMAL,
                                         ALOFT_TDS_NUMERIC,
                                         ALOFT_TDS_SMALLMONEY,
                                         ALOFT_TDS_MONEY,
                                         ALOFT_TDS_CHAR,
                                         ALOFT_TDS_VARCHAR,
                                         ALOFT_TDS_NCHAR,
                                         ALOFT_TDS_NVARCHAR,
                                         ALOFT_TDS_BINARY,
                                         ALOFT_TDS_DATE,
                                         ALOFT_TDS_TIME,
                                         ALOFT_TDS_SMALLDATETIME,
                                         ALOFT_TDS_DATETIME,
                                         ALOFT_TDS_DATETIME2,
                                         ALOFT_TDS_UNIQUEIDENTIFIER,
                                         ALOFT_TDS_DATETIMEOFFSET,
                                         ALOFT_TDS_VARBINARY};
  to->held = (aloft_tds_param){.type = types[below(sizeof types / sizeof *types)]};
  to->held.null = below(10) == 0;
  give_value(&to->held, to->memory, 4000);
  to->param.value.variant = &to->held;
}

static void give(given *to, size_t at) {
  aloft_tds_param *param = &to->param;
  *param = (aloft_tds_param){.type = (aloft_tds_type)(1 + below(ALOFT_TDS_JSON))};
  int size = snprintf(to->name, sizeof to->name, "%sp%zu", at % 2 ? "@" : "", at);
  if (!asked.by_name || below(3)) {
    param->name = (aloft_text){to->name, (size_t)size};
  }
  param->udt_name = below(2) ? ALOFT_TEXT("dbo.[a]") : ALOFT_TEXT("db.s.t");
  if (param->type == ALOFT_TDS_VARIANT) {
    give_held(to);
  } else {
    give_value(param, to->memory, most_of(param->type));
  }
  param->null = below(6) == 0;
  param->output = !is_lob(param->type) && below(2);
  param->by_default = asked.by_name && below(8) == 0;
  param->size = below(3) ? 0 : (uint32_t)most_of(param->type);
}

/* ---- what is read ---- */

static void check_text(const alo_tds_type *type, const uint8_t *data, size_t size,
                       aloft_text expected) {
  static char text[16 * BYTES_MAX];
  size_t text_size;
  assert_true(alo_tds_value_text_room(type, size) <= sizeof text);
  assert_null(alo_tds_value_text(type, data, size, text, &text_size));
  assert_int_equal(text_size, expected.size);
  assert_memory_equal(text, expected.data, text_size);
}

static void check_decimal(const alo_tds_type *type, const uint8_t *data, size_t size,
                          const aloft_tds_decimal *expected) {
  aloft_tds_decimal value;
  assert_null(alo_tds_value_decimal(type, data, size, &value));
  assert_true(value.low == expected->low && value.high == expected->high);
  assert_int_equal(value.scale, expected->scale);
  assert_true(value.negative == expected->negative || (!value.low && !value.high));
}

static void check_value(const alo_tds_type *type, const uint8_t *data, size_t size,
                        const aloft_tds_param *param) {
  int64_t integer;
  double real;
  aloft_tds_moment moment;
  aloft_tds_uuid uuid;
  if (param->type <= ALOFT_TDS_BIGINT) {
    assert_null(alo_tds_value_int64(type, data, size, &integer));
    assert_true(integer == param->value.integer);
  } else if (param->type <= ALOFT_TDS_FLOAT) {
    assert_null(alo_tds_value_double(type, data, size, &real));
    assert_true(real >= param->value.real && real <= param->value.real);
  } else if (param->type <= ALOFT_TDS_MONEY) {
    check_decimal(type, data, size, &param->value.decimal);
  } else if (is_text(param->type)) {
    check_text(type, data, size, param->value.text);
  } else if (is_bytes(param->type) || param->type == ALOFT_TDS_ROWVERSION) {
    assert_int_equal(size, param->value.bytes.size);
    assert_memory_equal(data, param->value.bytes.data, size);
  } else if (is_moment(param->type)) {
    assert_null(alo_tds_value_moment(type, data, size, &moment));
    assert_int_equal(moment.days, param->value.moment.days);
    assert_true(moment.ticks == param->value.moment.ticks);
    assert_int_equal(moment.offset_minutes, param->value.moment.offset_minutes);
  } else {
    assert_null(alo_tds_value_uuid(type, data, size, &uuid));
    assert_memory_equal(uuid.bytes, param->value.uuid.bytes, 16);
  }
}

static void check_variant(const alo_tds_rpc_param *got, const aloft_tds_param *held) {
  alo_tds_type base;
  aloft_bytes value;
  assert_null(alo_tds_value_variant(got->data, got->size, &base, &value));
  check_value(&base, value.data, value.size, held);
}

/* The public type that is read for what was given. */
static aloft_tds_type expected_type(const aloft_tds_param *param) {
  bool open = param->output && !param->size;
  bool units = !asked.by_name || !asked.knows_collation;
  switch (param->type) {
  case ALOFT_TDS_CHAR:
    return !asked.by_name ? ALOFT_TDS_NVARCHAR
           : units        ? (open ? ALOFT_TDS_NVARCHAR : ALOFT_TDS_NCHAR)
                          : (open ? ALOFT_TDS_VARCHAR : ALOFT_TDS_CHAR);
  case ALOFT_TDS_VARCHAR:
    return units ? ALOFT_TDS_NVARCHAR : ALOFT_TDS_VARCHAR;
  case ALOFT_TDS_NCHAR:
    return !asked.by_name || open ? ALOFT_TDS_NVARCHAR : ALOFT_TDS_NCHAR;
  case ALOFT_TDS_TEXT:
    return !asked.by_name ? ALOFT_TDS_NVARCHAR : units ? ALOFT_TDS_NTEXT : ALOFT_TDS_TEXT;
  case ALOFT_TDS_NTEXT:
  case ALOFT_TDS_XML:
    return asked.by_name ? param->type : ALOFT_TDS_NVARCHAR;
  case ALOFT_TDS_JSON:
    return asked.by_name && asked.knows_json ? ALOFT_TDS_JSON : ALOFT_TDS_NVARCHAR;
  case ALOFT_TDS_BINARY:
    return !asked.by_name || open ? ALOFT_TDS_VARBINARY : ALOFT_TDS_BINARY;
  case ALOFT_TDS_IMAGE:
    return asked.by_name ? ALOFT_TDS_IMAGE : ALOFT_TDS_VARBINARY;
  case ALOFT_TDS_ROWVERSION:
    return ALOFT_TDS_BINARY;
  default:
    return param->type;
  }
}

static void check_name(const alo_tds_rpc_param *got, const aloft_tds_param *param, size_t at) {
  char name[16];
  int size = snprintf(name, sizeof name, "@p%zu", at);
  if (param->name.size) {
    assert_utf16(got->name, (aloft_text){name, (size_t)size});
  } else {
    assert_int_equal(got->name.size, 0);
  }
}

static void check_udt(const alo_tds_rpc_param *got, aloft_text name) {
  aloft_text parts[ALO_TDS_UDT_PARTS];
  assert_true(alo_tds_udt_parts(name, parts));
  for (size_t part = 0; part < ALO_TDS_UDT_PARTS; part++) {
    assert_utf16(got->udt[part], parts[part]);
  }
}

/* (max) where the size of what comes back is open; what pads is no larger than its value. */
static void check_size(const alo_tds_rpc_param *got, const aloft_tds_param *param) {
  aloft_tds_type type = alo_tds_type_public(&got->type);
  if (param->type == ALOFT_TDS_ROWVERSION || param->size ||
      alo_tds_type_form(&got->type) != ALO_TDS_FORM_SHORT) {
    return;
  }
  assert_false(param->output);
  if (type == ALOFT_TDS_CHAR || type == ALOFT_TDS_NCHAR || type == ALOFT_TDS_BINARY) {
    uint32_t unit = type == ALOFT_TDS_NCHAR ? 2 : 1;
    assert_int_equal(got->type.size, got->size ? got->size : unit);
  }
}

static void check_param(const alo_tds_rpc_param *got, const aloft_tds_param *param, size_t at) {
  bool absent = param->null || param->by_default ||
                (param->type == ALOFT_TDS_VARIANT && param->value.variant->null);
  check_name(got, param, at);
  assert_int_equal(got->output, param->output);
  assert_int_equal(got->default_value, param->by_default);
  assert_int_equal(alo_tds_type_public(&got->type), expected_type(param));
  assert_int_equal(got->null, absent);
  check_size(got, param);
  if (param->type == ALOFT_TDS_UDT) {
    check_udt(got, param->udt_name);
  }
  if (absent) {
    return;
  }
  if (param->type == ALOFT_TDS_VARIANT) {
    check_variant(got, param->value.variant);
  } else {
    check_value(&got->type, got->data, got->size, param);
  }
}

/* ---- one call ---- */

static void write_call(void) {
  const alo_tds_server server = {.collation =
                                     asked.knows_collation ? alo_tds_collation_default : NULL,
                                 .json = asked.knows_json};
  aloft_tds_param params[PARAMS_MAX];
  alo_tds_bad_param bad;
  for (size_t at = 0; at < asked.count; at++) {
    params[at] = asked.params[at].param;
  }
  alo_tds_message_begin(&output.writer, ALO_TDS_RPC, 0);
  if (asked.by_name) {
    alo_tds_put_call(&output.writer, 9, asked.procedure, &server, params, asked.count, &bad);
  } else {
    alo_tds_put_executesql(&output.writer, 9, ALOFT_TEXT("SELECT 1"), params, asked.count, &bad);
  }
  if (output.writer.failed != ALOFT_OK) {
    fail_msg("parameter %zu of type %d: %s", bad.index, (int)params[bad.index].type,
             bad.why ? bad.why : "?");
  }
}

static void read_procedure(alo_tds_rpc *rpc, alo_tds_rpc_param *param) {
  bool end;
  if (asked.by_name) {
    assert_int_equal(rpc->procedure, 0);
    assert_utf16(rpc->name, asked.procedure);
    return;
  }
  assert_int_equal(rpc->procedure, ALO_TDS_SP_EXECUTESQL);
  for (size_t own = 0; own < (asked.count ? 2 : 1); own++) { /* statement, declarations */
    assert_null(alo_tds_parse_param(&rpc->parameters, param, &end));
    assert_false(end);
  }
}

static void run_seed(uint64_t seed) {
  uint64_t transaction;
  aloft_bytes rest;
  alo_tds_rpc rpc;
  alo_tds_rpc_param param;
  bool end;
  random_state = seed * UINT64_C(0x9E3779B97F4A7C15) | 1;
  asked.by_name = below(3) != 0;
  asked.knows_collation = below(3) != 0;
  asked.knows_json = below(2) != 0;
  asked.procedure = aloft_text_of(procedures[below(sizeof procedures / sizeof *procedures)]);
  asked.count = below(PARAMS_MAX + 1);
  for (size_t at = 0; at < asked.count; at++) {
    give(&asked.params[at], at);
  }
  write_call();
  guard_buffer payload = tds_output_payload(&output);
  assert_null(alo_tds_parse_headers(guard_bytes(&payload), &transaction, &rest));
  assert_null(alo_tds_parse_rpc(rest, &rpc));
  read_procedure(&rpc, &param);
  for (size_t at = 0; at < asked.count; at++) {
    assert_null(alo_tds_parse_param(&rpc.parameters, &param, &end));
    assert_false(end);
    check_param(&param, &asked.params[at].param, at);
  }
  assert_null(alo_tds_parse_param(&rpc.parameters, &param, &end));
  assert_true(end);
  assert_int_equal(rpc.parameters.size, 0);
  guard_give(&payload);
}

static uint64_t running;

static int say_seed(void **state) {
  (void)state;
  if (running) {
    print_error("ALOFT_SEED=%llu\n", (unsigned long long)running);
  }
  return 0;
}

static void test_random_calls(void **state) {
  (void)state;
  const char *one = getenv("ALOFT_SEED"), *many = getenv("ALOFT_STREAMS");
  uint64_t count = one ? 1 : many ? strtoull(many, NULL, 10) : CALLS;
  uint64_t first = one ? strtoull(one, NULL, 10) : (uint64_t)time(NULL) << 20;
  print_message("seeds %llu to %llu\n", (unsigned long long)first,
                (unsigned long long)(first + count - 1));
  for (uint64_t seed = first; seed < first + count; seed++) {
    tds_output_init(&output, 512, 1 << 20);
    running = seed;
    run_seed(seed);
    running = 0;
    tds_output_fini(&output);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_random_calls, say_seed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
