#include "tsql_value.h"

#include <stdlib.h>
#include <string.h>

#include "tsql_text.h"
#include "tsql_time.h"

enum { OFFSET_TEXT = 20 };

const char *alo_value_collation(tsql_kind kind) {
  if (alo_kind_is_text(kind))
    return TSQL_COLLATION_TEXT;
  if (alo_kind_is_binary(kind))
    return TSQL_COLLATION_BINARY;
  return kind == TSQL_DATETIMEOFFSET ? TSQL_COLLATION_OFFSET : NULL;
}

static aloft_text view(const void *data, int size) {
  return (aloft_text){data, size < 0 ? 0 : (size_t)size};
}

static int collate_text(void *context, int a_size, const void *a, int b_size, const void *b) {
  (void)context;
  return alo_text_compare(view(a, a_size), view(b, b_size));
}

static int compare_bytes(aloft_text a, aloft_text b) {
  while (a.size > 0 && a.data[a.size - 1] == 0)
    a.size--;
  while (b.size > 0 && b.data[b.size - 1] == 0)
    b.size--;
  size_t size = a.size < b.size ? a.size : b.size;
  int order = size > 0 ? memcmp(a.data, b.data, size) : 0;
  if (order != 0)
    return order < 0 ? -1 : 1;
  return a.size < b.size ? -1 : a.size > b.size;
}

static int collate_binary(void *context, int a_size, const void *a, int b_size, const void *b) {
  (void)context;
  return compare_bytes(view(a, a_size), view(b, b_size));
}

static int collate_offset(void *context, int a_size, const void *a, int b_size, const void *b) {
  (void)context;
  if (a_size != OFFSET_TEXT || b_size != OFFSET_TEXT)
    return a_size - b_size;
  return memcmp(a, b, 16);
}

int alo_value_register_collations(sqlite3 *database) {
  int code =
      sqlite3_create_collation(database, TSQL_COLLATION_TEXT, SQLITE_UTF8, NULL, collate_text);
  if (code == SQLITE_OK)
    code = sqlite3_create_collation(database, TSQL_COLLATION_BINARY, SQLITE_UTF8, NULL,
                                    collate_binary);
  if (code == SQLITE_OK)
    code = sqlite3_create_collation(database, TSQL_COLLATION_OFFSET, SQLITE_UTF8, NULL,
                                    collate_offset);
  return code;
}

/* 16 hexadecimal digits of the point in time, then 4 of the offset. */
static void offset_text(const tsql_value *value, char out[OFFSET_TEXT]) {
  static const char digits[] = "0123456789ABCDEF";
  uint64_t ticks = (uint64_t)value->integer;
  for (int i = 15; i >= 0; i--, ticks >>= 4)
    out[i] = digits[ticks & 15];
  unsigned offset = (unsigned)(value->offset_minutes + 0x4000);
  for (int i = 19; i >= 16; i--, offset >>= 4)
    out[i] = digits[offset & 15];
}

static uint64_t from_hex(const char *text, int size) {
  uint64_t number = 0;
  for (int i = 0; i < size; i++) {
    char c = text[i];
    number = number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'A' + 10);
  }
  return number;
}

static void load_text(sqlite3_value *from, tsql_type type, tsql_value *value) {
  const char *data = (const char *)sqlite3_value_text(from);
  value->text = view(data ? data : "", sqlite3_value_bytes(from));
  if (type.kind != TSQL_DATETIMEOFFSET)
    return;
  if (value->text.size != OFFSET_TEXT) {
    *value = TSQL_NULL;
    return;
  }
  value->integer = (int64_t)from_hex(value->text.data, 16);
  value->offset_minutes = (int16_t)((int)from_hex(value->text.data + 16, 4) - 0x4000);
}

tsql_value alo_value_load(sqlite3_value *from, tsql_type type) {
  if (sqlite3_value_type(from) == SQLITE_NULL)
    return TSQL_NULL;
  tsql_value value = {0};
  if (type.kind == TSQL_REAL || type.kind == TSQL_FLOAT) {
    value.real = sqlite3_value_double(from);
  } else if (type.kind == TSQL_DECIMAL) {
    const void *bytes = sqlite3_value_blob(from);
    if (!bytes || sqlite3_value_bytes(from) != 16)
      return TSQL_NULL;
    value.decimal = alo_decimal_load(bytes);
  } else if (type.kind == TSQL_GUID) {
    const void *bytes = sqlite3_value_blob(from);
    value.text = view(bytes, sqlite3_value_bytes(from));
    if (value.text.size != 16)
      return TSQL_NULL;
  } else if (alo_value_collation(type.kind)) {
    load_text(from, type, &value);
  } else {
    value.integer = sqlite3_value_int64(from);
  }
  return value;
}

static const char *text_data(const tsql_value *value) {
  return value->text.data ? value->text.data : "";
}

int alo_value_bind(sqlite3_stmt *statement, int place, const tsql_value *value, tsql_type type) {
  if (value->null)
    return sqlite3_bind_null(statement, place);
  if (type.kind == TSQL_REAL || type.kind == TSQL_FLOAT)
    return sqlite3_bind_double(statement, place, value->real);
  if (type.kind == TSQL_DECIMAL) {
    uint8_t bytes[16];
    alo_decimal_store(&value->decimal, bytes);
    return sqlite3_bind_blob(statement, place, bytes, sizeof bytes, SQLITE_TRANSIENT);
  }
  if (type.kind == TSQL_GUID)
    return sqlite3_bind_blob(statement, place, value->text.data, 16, SQLITE_TRANSIENT);
  if (type.kind == TSQL_DATETIMEOFFSET) {
    char text[OFFSET_TEXT];
    offset_text(value, text);
    return sqlite3_bind_text(statement, place, text, OFFSET_TEXT, SQLITE_TRANSIENT);
  }
  if (alo_value_collation(type.kind))
    return sqlite3_bind_text64(statement, place, text_data(value), value->text.size,
                               SQLITE_TRANSIENT, SQLITE_UTF8);
  return sqlite3_bind_int64(statement, place, value->integer);
}

void alo_value_result(sqlite3_context *to, const tsql_value *value, tsql_type type) {
  if (value->null) {
    sqlite3_result_null(to);
  } else if (type.kind == TSQL_REAL || type.kind == TSQL_FLOAT) {
    sqlite3_result_double(to, value->real);
  } else if (type.kind == TSQL_DECIMAL) {
    uint8_t bytes[16];
    alo_decimal_store(&value->decimal, bytes);
    sqlite3_result_blob(to, bytes, sizeof bytes, SQLITE_TRANSIENT);
  } else if (type.kind == TSQL_GUID) {
    sqlite3_result_blob(to, value->text.data, 16, SQLITE_TRANSIENT);
  } else if (type.kind == TSQL_DATETIMEOFFSET) {
    char text[OFFSET_TEXT];
    offset_text(value, text);
    sqlite3_result_text(to, text, OFFSET_TEXT, SQLITE_TRANSIENT);
  } else if (alo_value_collation(type.kind)) {
    sqlite3_result_text64(to, text_data(value), value->text.size, SQLITE_TRANSIENT, SQLITE_UTF8);
  } else {
    sqlite3_result_int64(to, value->integer);
  }
}

int alo_value_compare(const tsql_value *a, const tsql_value *b, tsql_type type) {
  if (alo_kind_is_text(type.kind))
    return alo_text_compare(a->text, b->text);
  if (alo_kind_is_binary(type.kind))
    return compare_bytes(a->text, b->text);
  if (type.kind == TSQL_GUID) {
    int order = memcmp(a->text.data, b->text.data, 16);
    return order < 0 ? -1 : order > 0;
  }
  if (type.kind == TSQL_DECIMAL)
    return alo_decimal_compare(&a->decimal, &b->decimal);
  if (type.kind == TSQL_REAL || type.kind == TSQL_FLOAT)
    return a->real < b->real ? -1 : a->real > b->real;
  return a->integer < b->integer ? -1 : a->integer > b->integer;
}

/* The last six bytes are compared first, the first four last. */
static const uint8_t guid_order[16] = {10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3};

void alo_guid_to_sorted(const uint8_t wire[16], uint8_t sorted[16]) {
  for (int i = 0; i < 16; i++)
    sorted[i] = wire[guid_order[i]];
}

void alo_guid_to_wire(const uint8_t sorted[16], uint8_t wire[16]) {
  for (int i = 0; i < 16; i++)
    wire[guid_order[i]] = sorted[i];
}

void alo_value_to_engine(tsql_context *context, const tsql_value *value, tsql_type type,
                         alo_engine_value *out) {
  *out = (alo_engine_value){.null = value->null};
  if (value->null)
    return;
  out->integer = value->integer;
  out->real = value->real;
  const uint32_t *limbs = value->decimal.limbs;
  out->decimal = (alo_engine_decimal){.high = (uint64_t)limbs[3] << 32 | limbs[2],
                                      .low = (uint64_t)limbs[1] << 32 | limbs[0],
                                      .negative = value->decimal.negative};
  if (alo_kind_is_text(type.kind))
    out->text = (aloft_text){text_data(value), value->text.size};
  if (alo_kind_is_binary(type.kind))
    out->bytes = (aloft_bytes){text_data(value), value->text.size};
  if (type.kind == TSQL_GUID) {
    uint8_t *wire = alo_take(context, 16);
    alo_guid_to_wire((const uint8_t *)value->text.data, wire);
    out->bytes = (aloft_bytes){wire, 16};
  }
  if (type.kind == TSQL_DATE) {
    out->days = (int32_t)value->integer;
  } else if (type.kind == TSQL_TIME) {
    out->ticks = (uint64_t)value->integer;
  } else if (alo_kind_is_time(type.kind)) {
    out->days = (int32_t)(value->integer / TSQL_TICKS_PER_DAY);
    out->ticks = (uint64_t)(value->integer % TSQL_TICKS_PER_DAY);
    out->offset_minutes = value->offset_minutes;
  }
}

tsql_value alo_value_from_engine(tsql_context *context, const alo_engine_value *in,
                                 tsql_type type) {
  if (in->null)
    return TSQL_NULL;
  tsql_value value = {.integer = in->integer, .real = in->real};
  uint64_t high = in->decimal.high;
  uint64_t low = in->decimal.low;
  value.decimal =
      (tsql_decimal){{(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32)},
                     in->decimal.negative && (high | low)};
  if (alo_kind_is_text(type.kind))
    value.text = alo_copy(context, in->text);
  if (alo_kind_is_binary(type.kind))
    value.text = alo_copy(context, (aloft_text){in->bytes.data, in->bytes.size});
  if (type.kind == TSQL_GUID) {
    if (in->bytes.size != 16)
      return TSQL_NULL;
    uint8_t *sorted = alo_take(context, 16);
    alo_guid_to_sorted(in->bytes.data, sorted);
    value.text = (aloft_text){(const char *)sorted, 16};
  }
  int64_t days = in->days < 0 ? 0 : in->days >= TSQL_DAYS ? TSQL_DAYS - 1 : in->days;
  int64_t ticks =
      in->ticks >= (uint64_t)TSQL_TICKS_PER_DAY ? TSQL_TICKS_PER_DAY - 1 : (int64_t)in->ticks;
  if (type.kind == TSQL_DATE)
    value.integer = days;
  else if (type.kind == TSQL_TIME)
    value.integer = ticks;
  else if (alo_kind_is_time(type.kind))
    value.integer = days * TSQL_TICKS_PER_DAY + ticks;
  if (type.kind == TSQL_DATETIME)
    value.integer = alo_time_round_datetime(value.integer);
  value.offset_minutes = in->offset_minutes;
  return value;
}
