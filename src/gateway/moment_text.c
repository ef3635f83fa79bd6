#include "moment_text.h"

#define TICKS_A_SECOND UINT64_C(10000000)
#define TICKS_A_DAY    (TICKS_A_SECOND * 86400)

enum { DAYS_MAX = 3652058 /* 9999-12-31 */, OFFSET_MAX = 14 * 60 };

typedef struct reader {
  const char *at, *end;
} reader;

static bool take(reader *in, char c) {
  if (in->at == in->end || *in->at != c)
    return false;
  in->at++;
  return true;
}

/* Exactly `count` digits, between `min` and `max`. */
static bool take_number(reader *in, unsigned count, unsigned min, unsigned max, unsigned *number) {
  *number = 0;
  for (; count > 0; count--, in->at++) {
    if (in->at == in->end || *in->at < '0' || *in->at > '9')
      return false;
    *number = *number * 10 + (unsigned)(*in->at - '0');
  }
  return *number >= min && *number <= max;
}

static bool is_leap(unsigned year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static unsigned days_of(unsigned year, unsigned month) {
  static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

static const char *read_date(reader *in, aloft_tds_moment *moment) {
  unsigned year, month, day;
  if (!take_number(in, 4, 1, 9999, &year) || !take(in, '-') || !take_number(in, 2, 1, 12, &month) ||
      !take(in, '-') || !take_number(in, 2, 1, days_of(year, month), &day))
    return "is not a date: it wants YYYY-MM-DD";
  unsigned before = year - 1;
  unsigned days = before * 365 + before / 4 - before / 100 + before / 400;
  for (unsigned each = 1; each < month; each++)
    days += days_of(year, each);
  moment->days = (int32_t)(days + day - 1);
  return NULL;
}

/* The digits after the point, in ticks. */
static const char *read_fraction(reader *in, uint8_t scale, uint64_t *ticks) {
  uint64_t unit = TICKS_A_SECOND / 10;
  const char *begin = in->at;
  for (; in->at < in->end && *in->at >= '0' && *in->at <= '9'; in->at++, unit /= 10) {
    if (*in->at != '0' && in->at - begin >= scale)
      return "has more digits of the second than its type";
    *ticks += (uint64_t)(*in->at - '0') * unit;
  }
  return in->at > begin ? NULL : "has no digit after the point";
}

static const char *read_time(reader *in, uint8_t scale, aloft_tds_moment *moment) {
  unsigned hour, minute, second = 0;
  if (!take_number(in, 2, 0, 23, &hour) || !take(in, ':') || !take_number(in, 2, 0, 59, &minute))
    return "is not a time: it wants hh:mm:ss, with up to seven digits of the second";
  if (take(in, ':') && !take_number(in, 2, 0, 59, &second))
    return "is not a time: its seconds are not 00 to 59";
  moment->ticks = (hour * UINT64_C(3600) + minute * UINT64_C(60) + second) * TICKS_A_SECOND;
  return take(in, '.') ? read_fraction(in, scale, &moment->ticks) : NULL;
}

/* "Z" or "+05:30"; then day and time are moved to UTC. */
static const char *read_offset(reader *in, aloft_tds_moment *moment) {
  unsigned hours, minutes;
  if (take(in, 'Z'))
    return NULL;
  take(in, ' ');
  bool west = take(in, '-');
  if ((!west && !take(in, '+')) || !take_number(in, 2, 0, 14, &hours) || !take(in, ':') ||
      !take_number(in, 2, 0, 59, &minutes) || hours * 60 + minutes > OFFSET_MAX)
    return "has no offset: it wants Z, or +hh:mm to 14:00";
  int offset = (int)(hours * 60 + minutes) * (west ? -1 : 1);
  int64_t ticks = (int64_t)moment->ticks - (int64_t)offset * 60 * (int64_t)TICKS_A_SECOND;
  moment->offset_minutes = (int16_t)offset;
  if (ticks < 0) {
    moment->days--;
    ticks += (int64_t)TICKS_A_DAY;
  } else if (ticks >= (int64_t)TICKS_A_DAY) {
    moment->days++;
    ticks -= (int64_t)TICKS_A_DAY;
  }
  moment->ticks = (uint64_t)ticks;
  return moment->days < 0 || moment->days > DAYS_MAX ? "is out of range in UTC" : NULL;
}

const char *alo_moment_read(aloft_text text, aloft_tds_type type, uint8_t scale,
                            aloft_tds_moment *moment) {
  reader in = {text.data, text.data + text.size};
  const char *wrong = NULL;
  *moment = (aloft_tds_moment){0};
  if (type != ALOFT_TDS_TIME)
    wrong = read_date(&in, moment);
  if (wrong == NULL && type != ALOFT_TDS_TIME && type != ALOFT_TDS_DATE && !take(&in, 'T') &&
      !take(&in, ' '))
    wrong = "has no time: it wants YYYY-MM-DD hh:mm:ss";
  if (wrong == NULL && type != ALOFT_TDS_DATE)
    wrong = read_time(&in, scale, moment);
  if (wrong == NULL && type == ALOFT_TDS_DATETIMEOFFSET)
    wrong = read_offset(&in, moment);
  if (wrong == NULL && in.at != in.end)
    wrong = "goes on after its end";
  return wrong;
}
