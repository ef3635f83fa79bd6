/* Native values to their canonical text, and text to values. */
#include "tds_value.h"

#include <string.h>

enum { DECIMAL_DIGITS_MAX = 38, LIMB_DIGITS = 9, LIMB = 1000000000 };

static const uint64_t TICKS_OF_DAY = UINT64_C(864000000000);

/* Writes `value` with at least `width` digits. */
static size_t put_digits(char *out, uint64_t value, unsigned width) {
  char digits[20];
  size_t count = 0;
  while (value || count < width) {
    digits[count++] = (char)('0' + value % 10);
    value /= 10;
  }
  for (size_t at = 0; at < count; at++) {
    out[at] = digits[count - 1 - at];
  }
  return count;
}

/* ---- decimal ---- */

/* Divides the 128-bit number by 10^9 in place and returns the remainder. */
static uint32_t divide_limb(uint32_t number[4]) {
  uint64_t rest = 0;
  for (int at = 3; at >= 0; at--) {
    rest = rest << 32 | number[at];
    number[at] = (uint32_t)(rest / LIMB);
    rest %= LIMB;
  }
  return (uint32_t)rest;
}

/* The digits of the magnitude, most significant first, without leading zeros. */
static size_t magnitude_digits(uint64_t high, uint64_t low, char out[45]) {
  uint32_t number[4] = {(uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high,
                        (uint32_t)(high >> 32)};
  uint32_t limbs[5];
  size_t count = 0;
  if (!high) {
    return low ? put_digits(out, low, 1) : 0;
  }
  do {
    limbs[count++] = divide_limb(number);
  } while (number[0] | number[1] | number[2] | number[3]);
  size_t size = put_digits(out, limbs[--count], 1);
  while (count) {
    size += put_digits(out + size, limbs[--count], LIMB_DIGITS);
  }
  return size;
}

size_t alo_tds_decimal_text(const aloft_tds_decimal *value, char out[48]) {
  char digits[45];
  size_t count = magnitude_digits(value->high, value->low, digits);
  size_t scale = value->scale > DECIMAL_DIGITS_MAX ? DECIMAL_DIGITS_MAX : value->scale;
  size_t size = 0;
  size_t whole = count > scale ? count - scale : 0;
  if (value->negative && count) {
    out[size++] = '-';
  }
  memcpy(out + size, digits, whole);
  size += whole;
  if (!whole) {
    out[size++] = '0';
  }
  if (scale) {
    out[size++] = '.';
    for (size_t zeros = count < scale ? scale - count : 0; zeros; zeros--) {
      out[size++] = '0';
    }
    memcpy(out + size, digits + whole, count - whole);
    size += count - whole;
  }
  return size;
}

/* Multiplies by ten and adds; the caller sees to it that 38 digits are not exceeded. */
static void add_digit(aloft_tds_decimal *value, unsigned digit) {
  uint64_t low = (value->low & UINT32_MAX) * 10 + digit;
  uint64_t middle = (value->low >> 32) * 10 + (low >> 32);
  value->low = middle << 32 | (low & UINT32_MAX);
  value->high = value->high * 10 + (middle >> 32);
}

bool alo_tds_decimal_parse(aloft_text text, aloft_tds_decimal *value) {
  aloft_tds_decimal made = {0};
  size_t at = 0;
  size_t digits = 0; /* seen, leading zeros too */
  bool point = false;
  if (text.size && (text.data[0] == '-' || text.data[0] == '+')) {
    made.negative = text.data[at++] == '-';
  }
  for (; at < text.size; at++) {
    char c = text.data[at];
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9') {
      return false;
    }
    digits++;
    if (point || made.precision || c != '0') {
      if (made.precision == DECIMAL_DIGITS_MAX) {
        return false;
      }
      made.precision++;
      made.scale = (uint8_t)(made.scale + (point ? 1 : 0));
      add_digit(&made, (unsigned)(c - '0'));
    }
  }
  made.precision = made.precision ? made.precision : 1;
  made.negative = made.negative && (made.low || made.high);
  *value = made;
  return digits > 0;
}

/* ---- dates and times ---- */

size_t alo_tds_date_text(int32_t days, char out[16]) {
  int year;
  unsigned month, day;
  size_t size = 0;
  alo_tds_date(days, &year, &month, &day);
  if (year < 0) {
    out[size++] = '-';
    year = -year;
  }
  size += put_digits(out + size, (uint64_t)year, 4);
  out[size++] = '-';
  size += put_digits(out + size, month, 2);
  out[size++] = '-';
  return size + put_digits(out + size, day, 2);
}

size_t alo_tds_time_text(uint64_t ticks, unsigned digits, char out[24]) {
  uint64_t of_day = ticks % TICKS_OF_DAY;
  uint64_t seconds = of_day / 10000000;
  uint64_t fraction = of_day % 10000000;
  size_t size = put_digits(out, seconds / 3600, 2);
  out[size++] = ':';
  size += put_digits(out + size, seconds / 60 % 60, 2);
  out[size++] = ':';
  size += put_digits(out + size, seconds % 60, 2);
  if (digits) {
    digits = digits > 7 ? 7 : digits;
    for (unsigned left = digits; left < 7; left++) {
      fraction /= 10;
    }
    out[size++] = '.';
    size += put_digits(out + size, fraction, digits);
  }
  return size;
}

/* ---- uniqueidentifier ---- */

/* A hyphen stands before these bytes of the text form. */
static bool hyphen_before(size_t byte) {
  return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

size_t alo_tds_uuid_text(const aloft_tds_uuid *value, char out[40]) {
  static const char hex[] = "0123456789ABCDEF";
  size_t size = 0;
  for (size_t at = 0; at < sizeof value->bytes; at++) {
    if (hyphen_before(at)) {
      out[size++] = '-';
    }
    out[size++] = hex[value->bytes[at] >> 4];
    out[size++] = hex[value->bytes[at] & 15];
  }
  return size;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  c = (char)(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool alo_tds_uuid_parse(aloft_text text, aloft_tds_uuid *value) {
  if (text.size == 38 && text.data[0] == '{' && text.data[37] == '}') {
    text = (aloft_text){text.data + 1, 36};
  }
  if (text.size != 36) {
    return false;
  }
  const char *at = text.data;
  aloft_tds_uuid made;
  for (size_t byte = 0; byte < sizeof made.bytes; byte++) {
    if (hyphen_before(byte) && *at++ != '-') {
      return false;
    }
    int high = hex_digit(at[0]);
    int low = hex_digit(at[1]);
    if (high < 0 || low < 0) {
      return false;
    }
    made.bytes[byte] = (uint8_t)(high << 4 | low);
    at += 2;
  }
  *value = made;
  return true;
}
