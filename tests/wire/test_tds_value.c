/* Values of every type: wire bytes to native values and canonical text, and text back to values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tds_value.h"

enum { DAYS_MAX = 3652058 };

#define TYPE(...)  (&(const alo_tds_type){__VA_ARGS__})
#define BYTES(...) ((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})

static const alo_tds_type latin = {
    .token = ALO_TDS_BIGVARCHAR, .size = 8000, .collation = {0x09, 0x04, 0xD0, 0x00, 0x34}};

/* The text, or "!" and the reason. In a buffer of exactly the room that is promised. */
static const char *text_of(const alo_tds_type *type, const uint8_t *data, size_t size) {
  static char kept[512];
  size_t text_size = 0;
  char *out = malloc(alo_tds_value_text_room(type, size));
  assert_non_null(out);
  const char *wrong = alo_tds_value_text(type, data, size, out, &text_size);
  if (wrong) {
    snprintf(kept, sizeof kept, "!%s", wrong);
  } else {
    assert_true(text_size < sizeof kept);
    assert_true(text_size <= alo_tds_value_text_room(type, size));
    memcpy(kept, out, text_size);
    kept[text_size] = 0;
  }
  free(out);
  return kept;
}

#define TEXT_IS(expected, type, ...)                                                               \
  assert_string_equal(text_of(type, BYTES(__VA_ARGS__)), expected)

static void test_integers(void **state) {
  (void)state;
  TEXT_IS("1", TYPE(.token = ALO_TDS_BIT, .size = 1), 1);
  TEXT_IS("0", TYPE(.token = ALO_TDS_BITN, .size = 1), 0);
  TEXT_IS("1", TYPE(.token = ALO_TDS_BITN, .size = 1), 0xFF);
  TEXT_IS("255", TYPE(.token = ALO_TDS_INT1, .size = 1), 255);
  TEXT_IS("200", TYPE(.token = ALO_TDS_INTN, .size = 1), 200);
  TEXT_IS("-32768", TYPE(.token = ALO_TDS_INT2, .size = 2), 0, 0x80);
  TEXT_IS("-2", TYPE(.token = ALO_TDS_INTN, .size = 2), 0xFE, 0xFF);
  TEXT_IS("2147483647", TYPE(.token = ALO_TDS_INT4, .size = 4), 0xFF, 0xFF, 0xFF, 0x7F);
  TEXT_IS("-2147483648", TYPE(.token = ALO_TDS_INTN, .size = 4), 0, 0, 0, 0x80);
  TEXT_IS("-9223372036854775808", TYPE(.token = ALO_TDS_INT8, .size = 8), 0, 0, 0, 0, 0, 0, 0,
          0x80);
  TEXT_IS("10", TYPE(.token = ALO_TDS_INTN, .size = 8), 10, 0, 0, 0, 0, 0, 0, 0);
  TEXT_IS("!a size that the type does not have", TYPE(.token = ALO_TDS_INTN, .size = 8), 10, 0);
  int64_t value;
  assert_string_equal(
      alo_tds_value_int64(TYPE(.token = ALO_TDS_DATEN, .size = 3), BYTES(1, 2, 3), &value),
      "wrong type");
}

static void float_is(float value, const char *expected) {
  uint8_t bytes[4];
  memcpy(bytes, &value, sizeof bytes);
  assert_string_equal(text_of(TYPE(.token = ALO_TDS_FLT4, .size = 4), bytes, 4), expected);
}

static void double_is(double value, const char *expected) {
  uint8_t bytes[8];
  double back;
  memcpy(bytes, &value, sizeof bytes);
  const alo_tds_type *type = TYPE(.token = ALO_TDS_FLTN, .size = 8);
  assert_string_equal(text_of(type, bytes, 8), expected);
  assert_null(alo_tds_value_double(type, bytes, 8, &back));
  assert_memory_equal(&value, &back, sizeof back);
}

static void test_floats(void **state) {
  (void)state;
  float_is(0.1f, "0.1");
  float_is(16777216.0f, "16777216");
  float_is(-3.4028235e38f, "-3.4028235e+38");
  double_is(0.1, "0.1");
  double_is(1.0 / 3, "0.3333333333333333");
  double_is(-0.0, "-0");
  double_is(1.7976931348623157e308, "1.7976931348623157e+308");
  double_is(5e-324, "5e-324");
  double value;
  assert_string_equal(
      alo_tds_value_double(TYPE(.token = ALO_TDS_FLTN, .size = 4), BYTES(1, 2, 3), &value),
      "a size that the type does not have");
}

/* ---- decimals ---- */

static void put_u64(uint8_t *out, uint64_t value) {
  for (size_t at = 0; at < 8; at++) {
    out[at] = (uint8_t)(value >> 8 * at);
  }
}

static const char *decimal_text(bool positive, uint64_t high, uint64_t low, uint8_t scale) {
  uint8_t bytes[17] = {positive};
  put_u64(bytes + 1, low);
  put_u64(bytes + 9, high);
  return text_of(TYPE(.token = ALO_TDS_NUMERICN, .size = 17, .precision = 38, .scale = scale),
                 bytes, sizeof bytes);
}

static void test_decimal_limits(void **state) {
  (void)state;
  const uint64_t high = UINT64_C(0x4B3B4CA85A86C47A);
  const uint64_t low = UINT64_C(0x098A223FFFFFFFFF);
  assert_string_equal(decimal_text(true, high, low, 0), "99999999999999999999999999999999999999");
  assert_string_equal(decimal_text(false, high, low, 0), "-99999999999999999999999999999999999999");
  assert_string_equal(decimal_text(true, high, low + 1, 0), "!a decimal above 38 digits");
  assert_string_equal(decimal_text(true, UINT64_MAX, 0, 0), "!a decimal above 38 digits");
  assert_string_equal(decimal_text(false, 0, 0, 2), "0.00");
  assert_string_equal(decimal_text(true, 0, 1, 38), "0.00000000000000000000000000000000000001");
  assert_string_equal(decimal_text(true, 1, 0, 0), "18446744073709551616");
  TEXT_IS("!a decimal sign other than 0 and 1",
          TYPE(.token = ALO_TDS_DECIMALN, .size = 5, .precision = 9), 2, 0, 0, 0, 0);
  TEXT_IS("-0.05", TYPE(.token = ALO_TDS_DECIMALN, .size = 5, .precision = 9, .scale = 2), 0, 5, 0,
          0, 0);
  TEXT_IS("!a size that the type does not have",
          TYPE(.token = ALO_TDS_DECIMALN, .size = 9, .precision = 19), 1);
}

/* 38 digits at every scale: to text, parsed again, equal. */
static void test_decimal_scales(void **state) {
  (void)state;
  const char *digits = "12345678901234567890123456789012345678";
  for (uint8_t scale = 0; scale <= 38; scale++) {
    char text[64];
    size_t whole = 38u - scale;
    size_t size = (size_t)snprintf(text, sizeof text, "-%.*s%s%s%s", (int)whole, digits,
                                   whole ? "" : "0", scale ? "." : "", digits + whole);
    aloft_tds_decimal value;
    char out[48];
    assert_true(alo_tds_decimal_parse((aloft_text){text, size}, &value));
    assert_int_equal(value.scale, scale);
    assert_int_equal(value.precision, 38);
    assert_true(value.negative);
    assert_int_equal(alo_tds_decimal_text(&value, out), size);
    assert_memory_equal(out, text, size);
  }
}

static bool parses(const char *text, uint8_t precision, uint8_t scale, uint64_t low,
                   bool negative) {
  aloft_tds_decimal value;
  return alo_tds_decimal_parse((aloft_text){text, strlen(text)}, &value) &&
         value.precision == precision && value.scale == scale && value.low == low &&
         value.high == 0 && value.negative == negative;
}

static void test_decimal_parse(void **state) {
  (void)state;
  static const char *const wrong[] = {"",
                                      "+",
                                      "-",
                                      ".",
                                      "1.2.3",
                                      "1e5",
                                      " 1",
                                      "1 ",
                                      "0x10",
                                      "--1",
                                      "1,5",
                                      "123456789012345678901234567890123456789",
                                      "0.123456789012345678901234567890123456789"};
  aloft_tds_decimal value;
  for (size_t at = 0; at < sizeof wrong / sizeof *wrong; at++) {
    assert_false(alo_tds_decimal_parse((aloft_text){wrong[at], strlen(wrong[at])}, &value));
  }
  assert_true(parses("0", 1, 0, 0, false));
  assert_true(parses("-0", 1, 0, 0, false));
  assert_true(parses("-0.00", 2, 2, 0, false));
  assert_true(parses("00012", 2, 0, 12, false));
  assert_true(parses("+1.50", 3, 2, 150, false));
  assert_true(parses("-.5", 1, 1, 5, true));
  assert_true(parses("5.", 1, 0, 5, false));
  assert_true(parses("0.0001", 4, 4, 1, false));
  assert_true(parses("00000000000000000000000000000000000000000000000000001", 1, 0, 1, false));
}

static void test_money(void **state) {
  (void)state;
  const alo_tds_type *money = TYPE(.token = ALO_TDS_MONEYN, .size = 8);
  const alo_tds_type *small = TYPE(.token = ALO_TDS_MONEY4, .size = 4);
  TEXT_IS("-922337203685477.5808", money, 0, 0, 0, 0x80, 0, 0, 0, 0);
  TEXT_IS("922337203685477.5807", money, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF);
  TEXT_IS("0.0001", money, 0, 0, 0, 0, 1, 0, 0, 0);
  TEXT_IS("-214748.3648", small, 0, 0, 0, 0x80);
  TEXT_IS("12.3400", small, 0x08, 0xE2, 0x01, 0);
  TEXT_IS("!a size that the type does not have", money, 0, 0);
}

/* ---- dates and times ---- */

static bool is_leap(int year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Every day that SQL Server has, counted one by one: to date, to text and back. */
static void test_every_day(void **state) {
  (void)state;
  static const unsigned lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const alo_tds_type *type = TYPE(.token = ALO_TDS_DATEN, .size = 3);
  int32_t days = 0;
  for (int year = 1; year <= 9999; year++) {
    for (unsigned month = 1; month <= 12; month++) {
      unsigned length = lengths[month - 1] + (month == 2 && is_leap(year) ? 1 : 0);
      for (unsigned day = 1; day <= length; day++, days++) {
        int got_year;
        unsigned got_month, got_day;
        alo_tds_date(days, &got_year, &got_month, &got_day);
        if (alo_tds_days(year, month, day) != days || got_year != year || got_month != month ||
            got_day != day) {
          fail_msg("day %d is %d-%u-%u, got %d-%u-%u", days, year, month, day, got_year, got_month,
                   got_day);
        }
        uint8_t wire[3] = {(uint8_t)days, (uint8_t)(days >> 8), (uint8_t)(days >> 16)};
        char text[16];
        size_t size;
        assert_null(alo_tds_value_text(type, wire, 3, text, &size));
        assert_int_equal(size, 10);
        assert_int_equal((text[0] - '0') * 1000 + (text[1] - '0') * 100 + (text[2] - '0') * 10 +
                             (text[3] - '0'),
                         year);
        assert_int_equal((text[5] - '0') * 10 + (text[6] - '0'), month);
        assert_int_equal((text[8] - '0') * 10 + (text[9] - '0'), day);
      }
    }
  }
  assert_int_equal(days, DAYS_MAX + 1);
  uint8_t after[3] = {(uint8_t)days, (uint8_t)(days >> 8), (uint8_t)(days >> 16)};
  assert_string_equal(text_of(type, after, 3), "!a date after 9999-12-31");
  char far[16];
  assert_int_equal(alo_tds_date_text(INT32_MIN, far), 14);
  assert_int_equal(alo_tds_days(0, 12, 31), -1);
  assert_int_equal(alo_tds_days(-400, 3, 1), alo_tds_days(0, 3, 1) - 146097);
}

static void test_time_scales(void **state) {
  (void)state;
  static const uint64_t seconds = 86399; /* 23:59:59 */
  static const char *const texts[] = {"23:59:59",        "23:59:59.9",      "23:59:59.99",
                                      "23:59:59.999",    "23:59:59.9999",   "23:59:59.99999",
                                      "23:59:59.999999", "23:59:59.9999999"};
  uint64_t unit = 1;
  for (uint8_t scale = 0; scale <= 7; scale++, unit *= 10) {
    size_t size = scale <= 2 ? 3 : scale <= 4 ? 4 : 5;
    uint8_t wire[8];
    alo_tds_type type = {.token = ALO_TDS_TIMEN, .scale = scale, .size = (uint32_t)size};
    put_u64(wire, (seconds + 1) * unit - 1);
    assert_string_equal(text_of(&type, wire, size), texts[scale]);
    put_u64(wire, (seconds + 1) * unit);
    assert_string_equal(text_of(&type, wire, size), "!a time beyond 24 hours");
    assert_string_equal(text_of(&type, wire, size - 1), "!a size that the type does not have");
    put_u64(wire, 0);
    assert_int_equal(strlen(text_of(&type, wire, size)), scale ? 9 + scale : 8);
  }
}

static const char *datetime_text(int32_t days, uint32_t count) {
  uint8_t wire[8];
  put_u64(wire, (uint32_t)days | (uint64_t)count << 32);
  return text_of(TYPE(.token = ALO_TDS_DATETIMN, .size = 8), wire, 8);
}

static void test_datetime(void **state) {
  (void)state;
  assert_string_equal(datetime_text(0, 0), "1900-01-01 00:00:00.000");
  assert_string_equal(datetime_text(-53690, 1), "1753-01-01 00:00:00.003");
  assert_string_equal(datetime_text(0, 2), "1900-01-01 00:00:00.007");
  assert_string_equal(datetime_text(0, 3), "1900-01-01 00:00:00.010");
  assert_string_equal(datetime_text(0, 299), "1900-01-01 00:00:00.997");
  assert_string_equal(datetime_text(2958463, 25919999), "9999-12-31 23:59:59.997");
  assert_string_equal(datetime_text(2958464, 0), "!a date outside 0001-01-01 to 9999-12-31");
  assert_string_equal(datetime_text(INT32_MIN, 0), "!a date outside 0001-01-01 to 9999-12-31");
  assert_string_equal(datetime_text(0, 25920000), "!a time beyond 24 hours");
  for (uint32_t count = 0; count < 300; count++) { /* only thousandths ending in 0, 3, 7 */
    const char *text = datetime_text(0, count);
    char last = text[strlen(text) - 1];
    assert_true(last == '0' || last == '3' || last == '7');
  }
  const alo_tds_type *small = TYPE(.token = ALO_TDS_DATETIM4, .size = 4);
  TEXT_IS("2079-06-06 23:59:00", small, 0xFF, 0xFF, 0x9F, 0x05);
  TEXT_IS("1900-01-01 00:00:00", small, 0, 0, 0, 0);
  TEXT_IS("!a time beyond 24 hours", small, 0, 0, 0xA0, 0x05);
}

static const char *offset_text(int32_t days, uint64_t hundredths, int16_t offset) {
  uint8_t wire[8 + 5];
  put_u64(wire, hundredths);
  put_u64(wire + 3, (uint32_t)days | (uint64_t)(uint16_t)offset << 24);
  return text_of(TYPE(.token = ALO_TDS_DATETIMEOFFSETN, .scale = 2, .size = 8), wire, 8);
}

static void test_offset(void **state) {
  (void)state;
  const uint64_t hour = 360000;
  assert_string_equal(offset_text(0, 0, 0), "0001-01-01 00:00:00.00 +00:00");
  assert_string_equal(offset_text(DAYS_MAX, 23 * hour, 59), "9999-12-31 23:59:00.00 +00:59");
  assert_string_equal(offset_text(0, 14 * hour, -840), "0001-01-01 00:00:00.00 -14:00");
  assert_string_equal(offset_text(1, 0, -1), "0001-01-01 23:59:00.00 -00:01");
  assert_string_equal(offset_text(1, 23 * hour, 840), "0001-01-03 13:00:00.00 +14:00");
  assert_string_equal(offset_text(1, 0, 841), "!an offset beyond 14 hours");
  assert_string_equal(offset_text(1, 0, INT16_MIN), "!an offset beyond 14 hours");
  assert_string_equal(offset_text(0, 0, -1), "!a local date outside 0001-01-01 to 9999-12-31");
  assert_string_equal(offset_text(DAYS_MAX, 23 * hour, 60),
                      "!a local date outside 0001-01-01 to 9999-12-31");
  assert_string_equal(offset_text(DAYS_MAX + 1, 0, 0), "!a date after 9999-12-31");
  const alo_tds_type *seven = TYPE(.token = ALO_TDS_DATETIME2N, .scale = 7, .size = 8);
  TEXT_IS("0001-01-01 00:00:00.0000001", seven, 1, 0, 0, 0, 0, 0, 0, 0);
}

/* ---- the rest ---- */

static void test_uuid(void **state) {
  (void)state;
  const alo_tds_type *type = TYPE(.token = ALO_TDS_GUID, .size = 16);
  const char *text = "00112233-4455-6677-8899-AABBCCDDEEFF";
  TEXT_IS(text, type, 0x33, 0x22, 0x11, 0x00, 0x55, 0x44, 0x77, 0x66, 0x88, 0x99, 0xAA, 0xBB, 0xCC,
          0xDD, 0xEE, 0xFF);
  TEXT_IS("!a size that the type does not have", type, 1);
  aloft_tds_uuid value;
  assert_true(alo_tds_uuid_parse((aloft_text){text, 36}, &value));
  for (uint8_t at = 0; at < 16; at++) {
    assert_int_equal(value.bytes[at], at * 0x11);
  }
  assert_true(alo_tds_uuid_parse(ALOFT_TEXT("{6f9619ff-8b86-d011-b42d-00c04fc964ff}"), &value));
  assert_int_equal(value.bytes[0], 0x6F);
  assert_false(alo_tds_uuid_parse(ALOFT_TEXT("6f9619ff-8b86-d011-b42d-00c04fc964f"), &value));
  assert_false(alo_tds_uuid_parse(ALOFT_TEXT("6f9619ff-8b86-d011-b42d-00c04fc964fg"), &value));
  assert_false(alo_tds_uuid_parse(ALOFT_TEXT("6f9619ff08b86-d011-b42d-00c04fc964ff"), &value));
  assert_false(alo_tds_uuid_parse(ALOFT_TEXT("{f9619ff-8b86-d011-b42d-00c04fc964fff"), &value));
}

static void test_characters(void **state) {
  (void)state;
  alo_tds_type utf8 = latin;
  alo_tds_type greek = latin;
  utf8.collation[3] = 0x04;
  greek.collation[0] = 0x08; /* Greek, by its LCID */
  greek.collation[4] = 0;
  TEXT_IS("\xE2\x82\xAC\xC3\xA9\xC2\x81z", &latin, 0x80, 0xE9, 0x81, 'z');
  TEXT_IS("\xC3\xA9", &utf8, 0xC3, 0xA9);
  TEXT_IS("a\xEF\xBF\xBD\xEF\xBF\xBD"
          "b",
          &utf8, 'a', 0xFF, 0xC3, 'b');
  TEXT_IS("abc", &greek, 'a', 'b', 'c');
  TEXT_IS("!text beyond ASCII in a code page that is not known here", &greek, 'a', 0xE1);
  assert_string_equal(text_of(&latin, (const uint8_t *)"", 0), "");
  TEXT_IS("\xE3\x83\x95 ", TYPE(.token = ALO_TDS_NCHAR, .size = 4), 0xD5, 0x30, 0x20, 0);
  TEXT_IS("\xEF\xBF\xBD", TYPE(.token = ALO_TDS_NVARCHAR, .size = 4), 0x3D, 0xD8);
  TEXT_IS("0x00FFA5", TYPE(.token = ALO_TDS_BIGVARBINARY, .size = 8), 0, 0xFF, 0xA5);
  TEXT_IS("0x0A", TYPE(.token = ALO_TDS_UDT, .size = 0xFFFF), 10);
  assert_string_equal(text_of(TYPE(.token = ALO_TDS_IMAGE, .size = 8), (const uint8_t *)"", 0),
                      "0x");
}

static void test_charsets(void **state) {
  (void)state;
  alo_tds_type type = latin;
  assert_int_equal(alo_tds_type_charset(&type), ALO_TDS_CHARSET_1252);
  type.collation[4] = 0; /* by LCID: English */
  assert_int_equal(alo_tds_type_charset(&type), ALO_TDS_CHARSET_1252);
  type.collation[0] = 0x11; /* Japanese */
  assert_int_equal(alo_tds_type_charset(&type), ALO_TDS_CHARSET_OTHER);
  type.collation[4] = 82; /* an SQL collation of code page 1250 */
  assert_int_equal(alo_tds_type_charset(&type), ALO_TDS_CHARSET_OTHER);
  memset(type.collation, 0, sizeof type.collation);
  assert_int_equal(alo_tds_type_charset(&type), ALO_TDS_CHARSET_OTHER);
  type.token = ALO_TDS_BIGVARBINARY;
  assert_int_equal(alo_tds_type_charset(&type), ALO_TDS_CHARSET_NONE);
}

static uint16_t page_of(uint32_t lcid, uint8_t sort) {
  const uint8_t collation[5] = {(uint8_t)lcid, (uint8_t)(lcid >> 8),
                                (uint8_t)(0xD0 | (lcid >> 16 & 15)), 0, sort};
  return alo_tds_code_page(collation);
}

/* Windows collations by LCID, whose upper bits tell of the order only; SQL collations by sort id.
 */
static void test_code_pages(void **state) {
  (void)state;
  static const struct {
    uint32_t lcid;
    uint16_t page;
  } locales[] = {{0x0409, 1252}, {0x0809, 1252},  {0x10407, 1252}, {0x0411, 932},  {0x40411, 932},
                 {0x0412, 949},  {0x0804, 936},   {0x20804, 936},  {0x1004, 936},  {0x0404, 950},
                 {0x30404, 950}, {0x0C04, 950},   {0x1404, 950},   {0x041E, 874},  {0x0405, 1250},
                 {0x040E, 1250}, {0x1040E, 1250}, {0x0418, 1250},  {0x041A, 1250}, {0x081A, 1250},
                 {0x0C1A, 1251}, {0x141A, 1250},  {0x201A, 1251},  {0x0419, 1251}, {0x0422, 1251},
                 {0x0402, 1251}, {0x0408, 1253},  {0x041F, 1254},  {0x042C, 1254}, {0x082C, 1251},
                 {0x0443, 1254}, {0x0843, 1251},  {0x040D, 1255},  {0x0401, 1256}, {0x0420, 1256},
                 {0x0429, 1256}, {0x0425, 1257},  {0x0427, 1257},  {0x042A, 1258}, {0x0439, 0},
                 {0x0000, 0},    {0x03FF, 0}};
  static const struct {
    uint8_t first, last;
    uint16_t page;
  } sorts[] = {{30, 34, 437},    {40, 44, 850},    {49, 49, 850},    {50, 54, 1252},
               {55, 61, 850},    {71, 75, 1252},   {80, 98, 1250},   {104, 108, 1251},
               {112, 114, 1253}, {120, 122, 1253}, {124, 124, 1253}, {128, 130, 1254},
               {136, 138, 1255}, {144, 146, 1256}, {152, 160, 1257}, {183, 186, 1252},
               {192, 193, 932},  {198, 199, 936},  {204, 206, 874},  {210, 217, 1252},
               {1, 29, 0},       {218, 255, 0}};
  for (size_t at = 0; at < sizeof locales / sizeof *locales; at++) {
    assert_int_equal(page_of(locales[at].lcid, 0), locales[at].page);
  }
  for (size_t at = 0; at < sizeof sorts / sizeof *sorts; at++) {
    for (unsigned sort = sorts[at].first; sort <= sorts[at].last; sort++) {
      assert_int_equal(page_of(0x0411, (uint8_t)sort), sorts[at].page); /* the sort id wins */
    }
  }
  assert_int_equal(alo_tds_code_page((const uint8_t[5]){0x11, 4, 0xD0, 4, 0}), 65001);
}

static void test_variant(void **state) {
  (void)state;
  const alo_tds_type *type = TYPE(.token = ALO_TDS_SSVARIANT, .size = 8009);
  TEXT_IS("42", type, ALO_TDS_INT4, 0, 42, 0, 0, 0);
  TEXT_IS("12.3400", type, ALO_TDS_MONEY4, 0, 0x08, 0xE2, 0x01, 0);
  TEXT_IS("1.50", type, ALO_TDS_NUMERICN, 2, 5, 2, 1, 150, 0, 0, 0);
  TEXT_IS("ab", type, ALO_TDS_BIGVARCHAR, 7, 9, 4, 0xD0, 0, 0x34, 10, 0, 'a', 'b');
  TEXT_IS("\xE2\x82\xAC", type, ALO_TDS_NCHAR, 7, 9, 4, 0xD0, 0, 0x34, 10, 0, 0xAC, 0x20);
  TEXT_IS("0xAB", type, ALO_TDS_BIGBINARY, 2, 10, 0, 0xAB);
  TEXT_IS("00:00:01.0", type, ALO_TDS_TIMEN, 1, 1, 10, 0, 0);
  TEXT_IS("0001-01-02", type, ALO_TDS_DATEN, 0, 1, 0, 0);
  TEXT_IS("1", type, ALO_TDS_BIT, 0, 1);
  TEXT_IS("00000000-0000-0000-0000-000000000001", type, ALO_TDS_GUID, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
          0, 0, 0, 0, 0, 0, 1);
  TEXT_IS("!a sql_variant without a type", type, ALO_TDS_INT4);
  TEXT_IS("!an unknown base type in a sql_variant", type, 0x55, 0, 1);
  TEXT_IS("!an unknown base type in a sql_variant", type, ALO_TDS_SSVARIANT, 0, 1);
  TEXT_IS("!properties of a wrong size in a sql_variant", type, ALO_TDS_NUMERICN, 1, 5, 2, 1);
  TEXT_IS("!properties of a wrong size in a sql_variant", type, ALO_TDS_INT4, 9, 5, 2, 1);
  TEXT_IS("!a decimal precision outside 1 to 38", type, ALO_TDS_NUMERICN, 2, 39, 2, 1);
  TEXT_IS("!a value longer than its type in a sql_variant", type, ALO_TDS_BIGBINARY, 2, 1, 0, 1, 2);
  TEXT_IS("!a (max) type in a sql_variant", type, ALO_TDS_BIGVARBINARY, 2, 0xFF, 0xFF, 1, 2);
  TEXT_IS("!a size that the type does not have", type, ALO_TDS_INT4, 0, 42);
  int64_t number = 0;
  assert_null(alo_tds_value_int64(type, BYTES(ALO_TDS_INT1, 0, 7), &number));
  assert_int_equal(number, 7);
  double real;
  aloft_tds_decimal decimal;
  aloft_tds_moment moment;
  aloft_tds_uuid uuid;
  assert_non_null(alo_tds_value_double(type, BYTES(1), &real));
  assert_non_null(alo_tds_value_decimal(type, BYTES(1), &decimal));
  assert_non_null(alo_tds_value_moment(type, BYTES(1), &moment));
  assert_non_null(alo_tds_value_uuid(type, BYTES(1), &uuid));
  assert_string_equal(alo_tds_value_double(type, BYTES(ALO_TDS_INT1, 0, 7), &real), "wrong type");
  assert_string_equal(alo_tds_value_decimal(type, BYTES(ALO_TDS_INT1, 0, 7), &decimal),
                      "wrong type");
  assert_string_equal(alo_tds_value_moment(type, BYTES(ALO_TDS_INT1, 0, 7), &moment), "wrong type");
  assert_string_equal(alo_tds_value_uuid(type, BYTES(ALO_TDS_INT1, 0, 7), &uuid), "wrong type");
}

/* Every token with every short size, random bytes: a value or a reason, within the room. */
static void test_total(void **state) {
  (void)state;
  unsigned seed = 1;
  for (unsigned token = 0; token < 256; token++) {
    for (size_t size = 0; size <= 40; size++) {
      for (unsigned round = 0; round < 8; round++) {
        alo_tds_type type = {.token = (uint8_t)token};
        uint8_t *data = malloc(size ? size : 1);
        assert_non_null(data);
        for (size_t at = 0; at < size; at++) {
          seed = seed * 1103515245 + 12345;
          data[at] = (uint8_t)(seed >> 16);
        }
        type.size = round & 1 ? 4 : 8;
        type.scale = (uint8_t)(size % 9);
        type.precision = (uint8_t)(1 + size % 38);
        if (token == ALO_TDS_SSVARIANT && size) {
          data[0] = (uint8_t)(seed >> 8);
        }
        size_t text_size = 0;
        char *out = malloc(alo_tds_value_text_room(&type, size));
        assert_non_null(out);
        if (!alo_tds_value_text(&type, data, size, out, &text_size)) {
          assert_true(text_size <= alo_tds_value_text_room(&type, size));
        }
        assert_non_null(alo_tds_type_name(&type));
        free(out);
        free(data);
      }
    }
  }
}

static void test_names(void **state) {
  (void)state;
  static const struct {
    alo_tds_type type;
    const char *name;
    aloft_tds_type public;
  } cases[] = {
      {{.token = ALO_TDS_INTN, .size = 1}, "tinyint", ALOFT_TDS_TINYINT},
      {{.token = ALO_TDS_INTN, .size = 2}, "smallint", ALOFT_TDS_SMALLINT},
      {{.token = ALO_TDS_INTN, .size = 4}, "int", ALOFT_TDS_INT},
      {{.token = ALO_TDS_INTN, .size = 8}, "bigint", ALOFT_TDS_BIGINT},
      {{.token = ALO_TDS_FLTN, .size = 4}, "real", ALOFT_TDS_REAL},
      {{.token = ALO_TDS_FLTN, .size = 8}, "float", ALOFT_TDS_FLOAT},
      {{.token = ALO_TDS_MONEYN, .size = 4}, "smallmoney", ALOFT_TDS_SMALLMONEY},
      {{.token = ALO_TDS_MONEYN, .size = 8}, "money", ALOFT_TDS_MONEY},
      {{.token = ALO_TDS_DATETIMN, .size = 4}, "smalldatetime", ALOFT_TDS_SMALLDATETIME},
      {{.token = ALO_TDS_DATETIMN, .size = 8}, "datetime", ALOFT_TDS_DATETIME},
      {{.token = ALO_TDS_NVARCHAR, .size = 0xFFFF}, "nvarchar(max)", ALOFT_TDS_NVARCHAR},
      {{.token = ALO_TDS_NVARCHAR, .size = 4}, "nvarchar", ALOFT_TDS_NVARCHAR},
      {{.token = ALO_TDS_BIGVARCHAR, .size = 0xFFFF}, "varchar(max)", ALOFT_TDS_VARCHAR},
      {{.token = ALO_TDS_BIGVARBINARY, .size = 0xFFFF}, "varbinary(max)", ALOFT_TDS_VARBINARY},
      {{.token = ALO_TDS_BIGVARBINARY, .size = 8}, "varbinary", ALOFT_TDS_VARBINARY},
      {{.token = ALO_TDS_NUMERICN, .size = 5}, "numeric", ALOFT_TDS_NUMERIC},
      {{.token = ALO_TDS_XML, .size = 0xFFFF}, "xml", ALOFT_TDS_XML},
      {{.token = 0x55}, "unknown", ALOFT_TDS_UNKNOWN}};
  for (size_t at = 0; at < sizeof cases / sizeof *cases; at++) {
    assert_string_equal(alo_tds_type_name(&cases[at].type), cases[at].name);
    assert_int_equal(alo_tds_type_public(&cases[at].type), cases[at].public);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_integers),       cmocka_unit_test(test_floats),
      cmocka_unit_test(test_decimal_limits), cmocka_unit_test(test_decimal_scales),
      cmocka_unit_test(test_decimal_parse),  cmocka_unit_test(test_money),
      cmocka_unit_test(test_every_day),      cmocka_unit_test(test_time_scales),
      cmocka_unit_test(test_datetime),       cmocka_unit_test(test_offset),
      cmocka_unit_test(test_uuid),           cmocka_unit_test(test_characters),
      cmocka_unit_test(test_charsets),       cmocka_unit_test(test_code_pages),
      cmocka_unit_test(test_variant),        cmocka_unit_test(test_total),
      cmocka_unit_test(test_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
