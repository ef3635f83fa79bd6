/* TYPE_INFO and values of fixed size, decimals and dates as the wire has them. */
#include "tds_value.h"

#include <float.h>
#include <string.h>

#define DAYS_MAX        INT32_C(3652058) /* 9999-12-31, counted from 0001-01-01 */
#define DAYS_TO_1900    INT32_C(693595)
#define DAYS_TO_1753    INT32_C(639905)
#define TICKS_PER_DAY   UINT64_C(864000000000)
#define TICKS_PER_MIN   UINT64_C(600000000)
#define PARTS_PER_DAY   UINT64_C(25920000) /* of 1/300 second, as datetime counts */
#define MINUTES_PER_DAY UINT64_C(1440)
#define OFFSET_MAX      840 /* minutes: 14 hours */

static void refuse(alo_tds_writer *writer) {
  alo_tds_writer_fail(writer, ALOFT_ARGUMENT);
}

/* ---- TYPE_INFO, 2.2.5.6 ---- */

/* Bytes of a decimal of that precision, its sign included (2.2.5.5.1.6). */
static uint8_t decimal_size(uint8_t precision) {
  return precision <= 9 ? 5 : precision <= 19 ? 9 : precision <= 28 ? 13 : 17;
}

static void put_sized_type(alo_tds_writer *writer, const alo_tds_type *type, bool collation) {
  alo_tds_put_u16(writer, (uint16_t)type->size);
  if (type->size > ALO_TDS_MAX_SIZE) {
    refuse(writer);
  }
  if (collation) {
    alo_tds_put(writer, type->collation, sizeof type->collation);
  }
}

static void put_decimal_type(alo_tds_writer *writer, const alo_tds_type *type) {
  alo_tds_put_u8(writer, decimal_size(type->precision));
  alo_tds_put_u8(writer, type->precision);
  alo_tds_put_u8(writer, type->scale);
  if (type->precision == 0 || type->precision > 38 || type->scale > type->precision) {
    refuse(writer);
  }
}

static void put_time_type(alo_tds_writer *writer, const alo_tds_type *type) {
  alo_tds_put_u8(writer, type->scale);
  if (type->scale > 7) {
    refuse(writer);
  }
}

/* What a tail of one byte holds. */
static void put_byte_type(alo_tds_writer *writer, const alo_tds_type *type) {
  switch (type->token) {
  case ALO_TDS_TIMEN:
  case ALO_TDS_DATETIME2N:
  case ALO_TDS_DATETIMEOFFSETN:
    put_time_type(writer, type);
    return;
  case ALO_TDS_XML:
    alo_tds_put_u8(writer, 0); /* no schema */
    return;
  default:
    alo_tds_put_u8(writer, (uint8_t)type->size);
  }
}

static void put_long_type(alo_tds_writer *writer, const alo_tds_type *type, bool collation) {
  alo_tds_put_u32(writer, type->size);
  if (type->size > INT32_MAX) {
    refuse(writer);
  }
  if (collation) {
    alo_tds_put(writer, type->collation, sizeof type->collation);
  }
}

void alo_tds_put_type(alo_tds_writer *writer, const alo_tds_type *type) {
  int tail = type->token == ALO_TDS_UDT ? -1 : alo_tds_type_tail_size(type->token);
  alo_tds_put_u8(writer, type->token);
  switch (tail) {
  case 0:
    return;
  case 1:
    put_byte_type(writer, type);
    return;
  case 2:
    put_sized_type(writer, type, false);
    return;
  case 3:
    put_decimal_type(writer, type);
    return;
  case 4:
    put_long_type(writer, type, false);
    return;
  case 7:
    put_sized_type(writer, type, true);
    return;
  case 9:
    put_long_type(writer, type, true);
    return;
  default:
    alo_tds_writer_fail(writer, ALOFT_UNSUPPORTED);
  }
}

void alo_tds_put_null(alo_tds_writer *writer, const alo_tds_type *type) {
  switch (alo_tds_type_form(type)) {
  case ALO_TDS_FORM_BYTE:
    alo_tds_put_u8(writer, 0);
    return;
  case ALO_TDS_FORM_SHORT:
    alo_tds_put_u16(writer, UINT16_MAX);
    return;
  case ALO_TDS_FORM_PLP:
    alo_tds_put_u64(writer, UINT64_MAX);
    return;
  case ALO_TDS_FORM_LONG:
    alo_tds_put_u32(writer, 0);
    return;
  case ALO_TDS_FORM_LOB:
    if (writer->type == ALO_TDS_REPLY) {
      alo_tds_put_u8(writer, 0);
    } else {
      alo_tds_put_u32(writer, UINT32_MAX);
    }
    return;
  default:
    if (type->token != ALO_TDS_NULLTYPE) { /* the fixed types have no NULL */
      refuse(writer);
    }
  }
}

/* The length before a value, which one in a sql_variant lacks. */
static void put_length(alo_tds_writer *writer, size_t size) {
  if (!writer->bare) {
    alo_tds_put_u8(writer, (uint8_t)size);
  }
  writer->bare = false;
}

/* ---- integers and floats ---- */

/* Writes the low `size` bytes of a value, little endian. */
static void put_low(alo_tds_writer *writer, uint64_t value, size_t size) {
  uint8_t bytes[8];
  for (size_t i = 0; i < sizeof bytes; i++) {
    bytes[i] = (uint8_t)(value >> (8 * i));
  }
  alo_tds_put(writer, bytes, size);
}

static void put_integer(alo_tds_writer *writer, int64_t value, size_t size) {
  bool fits = size == 1   ? value >= 0 && value <= UINT8_MAX
              : size == 2 ? value >= INT16_MIN && value <= INT16_MAX
              : size == 4 ? value >= INT32_MIN && value <= INT32_MAX
                          : size == 8;
  if (!fits) {
    refuse(writer);
  }
  put_low(writer, (uint64_t)value, fits ? size : 0);
}

void alo_tds_put_int64(alo_tds_writer *writer, const alo_tds_type *type, int64_t value) {
  switch (type->token) {
  case ALO_TDS_BITN:
    put_length(writer, 1);
    alo_tds_put_u8(writer, value != 0);
    return;
  case ALO_TDS_BIT:
    alo_tds_put_u8(writer, value != 0);
    return;
  case ALO_TDS_INT1:
    put_integer(writer, value, 1);
    return;
  case ALO_TDS_INT2:
    put_integer(writer, value, 2);
    return;
  case ALO_TDS_INT4:
    put_integer(writer, value, 4);
    return;
  case ALO_TDS_INT8:
    put_integer(writer, value, 8);
    return;
  case ALO_TDS_INTN:
    put_length(writer, type->size);
    put_integer(writer, value, type->size);
    return;
  default:
    refuse(writer);
  }
}

/* SQL Server has neither infinities nor NaN; the comparison is false for both. */
static bool within(double value, double max) {
  return value >= -max && value <= max;
}

static void put_float(alo_tds_writer *writer, double value, size_t size) {
  uint64_t bits = 0;
  if (size == 8 && within(value, DBL_MAX)) {
    memcpy(&bits, &value, sizeof value);
  } else if (size == 4 && within(value, (double)FLT_MAX)) {
    float narrow = (float)value;
    uint32_t narrow_bits;
    memcpy(&narrow_bits, &narrow, sizeof narrow);
    bits = narrow_bits;
  } else {
    refuse(writer);
    return;
  }
  put_low(writer, bits, size);
}

void alo_tds_put_double(alo_tds_writer *writer, const alo_tds_type *type, double value) {
  switch (type->token) {
  case ALO_TDS_FLT4:
    put_float(writer, value, 4);
    return;
  case ALO_TDS_FLT8:
    put_float(writer, value, 8);
    return;
  case ALO_TDS_FLTN:
    put_length(writer, type->size);
    put_float(writer, value, type->size);
    return;
  default:
    refuse(writer);
  }
}

/* ---- decimal and money ---- */

typedef struct magnitude {
  uint64_t low, high;
} magnitude;

/* False when the product needs more than 128 bits. */
static bool times_ten(magnitude *number) {
  uint64_t low = (number->low & UINT32_MAX) * 10;
  uint64_t middle = (number->low >> 32) * 10 + (low >> 32);
  uint64_t carry = middle >> 32;
  if (number->high > (UINT64_MAX - carry) / 10) {
    return false;
  }
  number->low = middle << 32 | (low & UINT32_MAX);
  number->high = number->high * 10 + carry;
  return true;
}

/* The quotient stays; returns the remainder. */
static unsigned divide_by_ten(magnitude *number) {
  uint64_t words[4] = {number->high >> 32, number->high & UINT32_MAX, number->low >> 32,
                       number->low & UINT32_MAX};
  uint64_t remainder = 0;
  for (size_t i = 0; i < 4; i++) {
    uint64_t dividend = remainder << 32 | words[i];
    words[i] = dividend / 10;
    remainder = dividend % 10;
  }
  *number = (magnitude){.high = words[0] << 32 | words[1], .low = words[2] << 32 | words[3]};
  return (unsigned)remainder;
}

/* To another scale without loss, or false. */
static bool rescale(magnitude *number, unsigned from, unsigned to) {
  for (; from < to; from++) {
    if (!times_ten(number)) {
      return false;
    }
  }
  for (; from > to; from--) {
    if (divide_by_ten(number) != 0) {
      return false;
    }
  }
  return true;
}

static bool has_digits_within(magnitude number, unsigned precision) {
  while (precision > 0 && (number.low != 0 || number.high != 0)) {
    (void)divide_by_ten(&number);
    precision--;
  }
  return number.low == 0 && number.high == 0;
}

static void put_decimal(alo_tds_writer *writer, const alo_tds_type *type, magnitude number,
                        bool negative) {
  if (!has_digits_within(number, type->precision)) {
    refuse(writer);
    return;
  }
  size_t size = decimal_size(type->precision);
  put_length(writer, size);
  alo_tds_put_u8(writer, negative ? 0 : 1);
  put_low(writer, number.low, size - 1 < 8 ? size - 1 : 8);
  put_low(writer, number.high, size - 1 > 8 ? size - 1 - 8 : 0);
}

static void put_money(alo_tds_writer *writer, size_t size, magnitude number, bool negative) {
  uint64_t most = size == 4 ? (uint64_t)INT32_MAX : (uint64_t)INT64_MAX;
  if ((size != 4 && size != 8) || number.high != 0 || number.low > most + (negative ? 1 : 0)) {
    refuse(writer);
    return;
  }
  uint64_t bits = negative ? UINT64_C(0) - number.low : number.low;
  if (size == 8) {
    put_low(writer, bits >> 32, 4); /* the upper half first */
  }
  put_low(writer, bits, 4);
}

void alo_tds_put_decimal(alo_tds_writer *writer, const alo_tds_type *type,
                         const aloft_tds_decimal *value) {
  magnitude number = {.low = value->low, .high = value->high};
  bool exact = type->token == ALO_TDS_DECIMALN || type->token == ALO_TDS_NUMERICN;
  if (value->scale > 38 || !rescale(&number, value->scale, exact ? type->scale : 4)) {
    refuse(writer);
    return;
  }
  switch (type->token) {
  case ALO_TDS_DECIMALN:
  case ALO_TDS_NUMERICN:
    put_decimal(writer, type, number, value->negative);
    return;
  case ALO_TDS_MONEY:
    put_money(writer, 8, number, value->negative);
    return;
  case ALO_TDS_MONEY4:
    put_money(writer, 4, number, value->negative);
    return;
  case ALO_TDS_MONEYN:
    put_length(writer, type->size);
    put_money(writer, type->size, number, value->negative);
    return;
  default:
    refuse(writer);
  }
}

/* ---- dates and times, 2.2.5.5.1.8 and 2.2.5.5.1.9 ---- */

static size_t time_size(uint8_t scale) {
  return scale <= 2 ? 3 : scale <= 4 ? 4 : 5;
}

/* Digits beyond the scale are cut off. */
static void put_time(alo_tds_writer *writer, uint8_t scale, uint64_t ticks) {
  if (ticks >= TICKS_PER_DAY || scale > 7) {
    refuse(writer);
    return;
  }
  for (unsigned digit = scale; digit < 7; digit++) {
    ticks /= 10;
  }
  put_low(writer, ticks, time_size(scale));
}

static void put_date(alo_tds_writer *writer, int32_t days) {
  if (days < 0 || days > DAYS_MAX) {
    refuse(writer);
    return;
  }
  put_low(writer, (uint64_t)days, 3);
}

static void put_datetime(alo_tds_writer *writer, const aloft_tds_moment *value) {
  uint64_t parts = (value->ticks * 300 + 5000000) / 10000000;
  int32_t days = value->days;
  if (parts == PARTS_PER_DAY) {
    parts = 0;
    days++;
  }
  if (days < DAYS_TO_1753 || days > DAYS_MAX) {
    refuse(writer);
    return;
  }
  put_low(writer, (uint64_t)((int64_t)days - DAYS_TO_1900), 4);
  put_low(writer, parts, 4);
}

static void put_smalldatetime(alo_tds_writer *writer, const aloft_tds_moment *value) {
  uint64_t minutes = (value->ticks + TICKS_PER_MIN / 2) / TICKS_PER_MIN;
  int32_t days = value->days;
  if (minutes == MINUTES_PER_DAY) {
    minutes = 0;
    days++;
  }
  if (days < DAYS_TO_1900 || days - DAYS_TO_1900 > UINT16_MAX) {
    refuse(writer);
    return;
  }
  put_low(writer, (uint64_t)(days - DAYS_TO_1900), 2);
  put_low(writer, minutes, 2);
}

static void put_datetimen(alo_tds_writer *writer, uint32_t size, const aloft_tds_moment *value) {
  put_length(writer, size);
  if (size == 8) {
    put_datetime(writer, value);
  } else if (size == 4) {
    put_smalldatetime(writer, value);
  } else {
    refuse(writer);
  }
}

static void put_datetime2(alo_tds_writer *writer, uint8_t scale, const aloft_tds_moment *value) {
  put_time(writer, scale, value->ticks);
  put_date(writer, value->days);
}

static void put_offset(alo_tds_writer *writer, int16_t minutes) {
  if (minutes < -OFFSET_MAX || minutes > OFFSET_MAX) {
    refuse(writer);
  }
  alo_tds_put_u16(writer, (uint16_t)minutes);
}

void alo_tds_put_moment(alo_tds_writer *writer, const alo_tds_type *type,
                        const aloft_tds_moment *value) {
  uint8_t time = (uint8_t)time_size(type->scale);
  if (value->ticks >= TICKS_PER_DAY || value->days < 0 || value->days > DAYS_MAX) {
    refuse(writer);
    return;
  }
  switch (type->token) {
  case ALO_TDS_DATEN:
    put_length(writer, 3);
    put_date(writer, value->days);
    return;
  case ALO_TDS_TIMEN:
    put_length(writer, time);
    put_time(writer, type->scale, value->ticks);
    return;
  case ALO_TDS_DATETIME2N:
    put_length(writer, time + 3u);
    put_datetime2(writer, type->scale, value);
    return;
  case ALO_TDS_DATETIMEOFFSETN:
    put_length(writer, time + 5u);
    put_datetime2(writer, type->scale, value);
    put_offset(writer, value->offset_minutes);
    return;
  case ALO_TDS_DATETIMN:
    put_datetimen(writer, type->size, value);
    return;
  case ALO_TDS_DATETIME:
    put_datetime(writer, value);
    return;
  case ALO_TDS_DATETIM4:
    put_smalldatetime(writer, value);
    return;
  default:
    refuse(writer);
  }
}

/* ---- uniqueidentifier ---- */

void alo_tds_put_uuid(alo_tds_writer *writer, const alo_tds_type *type,
                      const aloft_tds_uuid *value) {
  /* The first three groups are numbers, little endian on the wire. */
  static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
  uint8_t bytes[16];
  for (size_t i = 0; i < 16; i++) {
    bytes[i] = value->bytes[order[i]];
  }
  if (type->token != ALO_TDS_GUID) {
    refuse(writer);
    return;
  }
  put_length(writer, sizeof bytes);
  alo_tds_put(writer, bytes, sizeof bytes);
}
