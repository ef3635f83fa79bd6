#include "tsql_time.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "tsql_text.h"

const char *const alo_time_months[12] = {"January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December"};

static bool is_leap(int year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int alo_time_month_days(int year, int month) {
  static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return days[month - 1] + (month == 2 && is_leap(year));
}

int64_t alo_time_days(int year, int month, int day) {
  int64_t before = year - 1;
  int64_t days = before * 365 + before / 4 - before / 100 + before / 400;
  for (int m = 1; m < month; m++)
    days += alo_time_month_days(year, m);
  return days + day - 1;
}

tsql_clock alo_time_clock(int64_t ticks) {
  int64_t days = ticks / TSQL_TICKS_PER_DAY;
  int64_t rest = ticks % TSQL_TICKS_PER_DAY;
  int year = (int)(days * 400 / 146097) + 1;
  while (alo_time_days(year, 1, 1) > days)
    year--;
  while (year < 9999 && alo_time_days(year + 1, 1, 1) <= days)
    year++;
  tsql_clock clock = {.year = year, .month = 1};
  int left = (int)(days - alo_time_days(year, 1, 1));
  while (left >= alo_time_month_days(year, clock.month))
    left -= alo_time_month_days(year, clock.month++);
  clock.day = left + 1;
  clock.ticks = (int)(rest % TSQL_TICKS_PER_SECOND);
  int seconds = (int)(rest / TSQL_TICKS_PER_SECOND);
  clock.hour = seconds / 3600;
  clock.minute = seconds / 60 % 60;
  clock.second = seconds % 60;
  return clock;
}

int64_t alo_time_ticks(const tsql_clock *clock) {
  int64_t seconds = clock->hour * 3600 + clock->minute * 60 + clock->second;
  return alo_time_days(clock->year, clock->month, clock->day) * TSQL_TICKS_PER_DAY +
         seconds * TSQL_TICKS_PER_SECOND + clock->ticks;
}

int64_t alo_time_round(int64_t ticks, int scale) {
  int64_t unit = 1;
  for (int i = scale; i < 7; i++)
    unit *= 10;
  return (ticks + unit / 2) / unit * unit;
}

int64_t alo_time_round_datetime(int64_t ticks) {
  int64_t days = ticks / TSQL_TICKS_PER_DAY;
  int64_t units = (ticks % TSQL_TICKS_PER_DAY * 3 + 50000) / 100000;
  return days * TSQL_TICKS_PER_DAY + (units * 100000 + 1) / 3;
}

/* Parsing: a cursor over the text. */
typedef struct cursor {
  const char *at;
  const char *end;
} cursor;

static bool take(cursor *c, char wanted) {
  if (c->at >= c->end || *c->at != wanted)
    return false;
  c->at++;
  return true;
}

static void skip_blanks(cursor *c) {
  while (c->at < c->end && *c->at == ' ')
    c->at++;
}

/* Up to `most` digits; the count of those read. */
static int take_number(cursor *c, int most, int *number) {
  int count = 0;
  *number = 0;
  while (count < most && c->at < c->end && *c->at >= '0' && *c->at <= '9') {
    *number = *number * 10 + (*c->at++ - '0');
    count++;
  }
  return count;
}

static int take_month(cursor *c) {
  size_t letters = 0;
  while (c->at + letters < c->end && ((c->at[letters] | 32) >= 'a') &&
         ((c->at[letters] | 32) <= 'z'))
    letters++;
  for (int i = 0; i < 12 && letters >= 3; i++) {
    aloft_text name = {alo_time_months[i], strlen(alo_time_months[i])};
    aloft_text brief = {name.data, 3};
    aloft_text word = {c->at, letters};
    if (alo_text_same_name(word, name) || alo_text_same_name(word, brief)) {
      c->at += letters;
      return i + 1;
    }
  }
  return 0;
}

static int full_year(int year, int digits) {
  if (digits > 2)
    return year;
  return year < 50 ? 2000 + year : 1900 + year;
}

static bool set_date(tsql_time_parts *parts, int year, int month, int day) {
  if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1 ||
      day > alo_time_month_days(year, month))
    return false;
  parts->days = alo_time_days(year, month, day);
  parts->has_date = true;
  return true;
}

/* "Feb 29 2024", "29 February 2024", the comma optional. */
static bool parse_named_month(cursor *c, tsql_time_parts *parts) {
  int day = 0;
  int year = 0;
  bool day_first = take_number(c, 2, &day) > 0;
  skip_blanks(c);
  int month = take_month(c);
  skip_blanks(c);
  if (!month || (!day_first && !take_number(c, 2, &day)))
    return false;
  take(c, ',');
  skip_blanks(c);
  int digits = take_number(c, 4, &year);
  return (digits == 2 || digits == 4) && set_date(parts, full_year(year, digits), month, day);
}

/* Three numbers with '-', '/' or '.' between; a year of four digits in front is always ymd. */
static bool parse_numbered_date(cursor *c, tsql_date_order order, tsql_time_parts *parts) {
  int numbers[3];
  int digits[3];
  digits[0] = take_number(c, 4, &numbers[0]);
  char separator = c->at < c->end ? *c->at : 0;
  if (digits[0] == 0 || (separator != '-' && separator != '/' && separator != '.'))
    return false;
  for (int i = 1; i < 3; i++) {
    if (!take(c, separator))
      return false;
    digits[i] = take_number(c, 4, &numbers[i]);
    if (digits[i] == 0)
      return false;
  }
  static const int places[][3] = {{2, 0, 1}, {0, 1, 2}, {2, 1, 0}}; /* of year, month, day */
  if (digits[0] == 4)
    order = TSQL_YMD;
  const int *place = places[order];
  if (digits[place[1]] > 2 || digits[place[2]] > 2 || digits[place[0]] == 3 ||
      digits[place[0]] == 1)
    return false;
  return set_date(parts, full_year(numbers[place[0]], digits[place[0]]), numbers[place[1]],
                  numbers[place[2]]);
}

static bool parse_date(cursor *c, tsql_date_order order, tsql_time_parts *parts) {
  cursor start = *c;
  int number;
  int digits = take_number(c, 8, &number);
  bool ends = c->at >= c->end || *c->at == ' ' || *c->at == 'T';
  if (digits == 8 && ends)
    return set_date(parts, number / 10000, number / 100 % 100, number % 100);
  if (digits == 6 && ends)
    return set_date(parts, full_year(number / 10000, 2), number / 100 % 100, number % 100);
  *c = start;
  if (parse_numbered_date(c, order, parts))
    return true;
  *c = start;
  return parse_named_month(c, parts);
}

static int64_t take_fraction(cursor *c, int *digits) {
  int64_t ticks = 0;
  int64_t unit = TSQL_TICKS_PER_SECOND / 10;
  for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++, unit /= 10, ++*digits)
    ticks += (*c->at - '0') * unit;
  return ticks;
}

/* AM or PM, if there. False when it does not fit the hour. */
static bool take_half(cursor *c, int *hour) {
  cursor saved = *c;
  skip_blanks(c);
  char half = c->at + 1 < c->end && (c->at[1] | 32) == 'm' ? (char)(c->at[0] | 32) : 0;
  if (half != 'a' && half != 'p') {
    *c = saved;
    return true;
  }
  c->at += 2;
  if (*hour > 12 || *hour == 0)
    return half == 'p' && *hour > 12;
  *hour = *hour % 12 + (half == 'p' ? 12 : 0);
  return true;
}

static bool parse_time_of_day(cursor *c, tsql_time_parts *parts) {
  int hour;
  int minute = 0;
  int second = 0;
  int64_t fraction = 0;
  if (!take_number(c, 2, &hour))
    return false;
  if (take(c, ':')) {
    if (!take_number(c, 2, &minute))
      return false;
    if (take(c, ':')) {
      if (!take_number(c, 2, &second))
        return false;
      if (take(c, '.'))
        fraction = take_fraction(c, &parts->digits);
    }
  } else {
    cursor peek = *c;
    skip_blanks(&peek);
    if (peek.at + 1 >= peek.end || (peek.at[1] | 32) != 'm') /* "5" alone is no time; "5 pm" is */
      return false;
  }
  if (!take_half(c, &hour) || hour > 23 || minute > 59 || second > 59)
    return false;
  parts->ticks = (hour * 3600 + minute * 60 + second) * TSQL_TICKS_PER_SECOND + fraction;
  return true;
}

static bool parse_offset(cursor *c, tsql_time_parts *parts) {
  skip_blanks(c);
  if (c->at >= c->end)
    return true;
  parts->has_offset = true;
  if (take(c, 'Z'))
    return true;
  bool negative = take(c, '-');
  int hours;
  int minutes;
  if ((!negative && !take(c, '+')) || !take_number(c, 2, &hours) || !take(c, ':') ||
      !take_number(c, 2, &minutes))
    return false;
  int offset = hours * 60 + minutes;
  parts->offset_minutes = negative ? -offset : offset;
  return minutes < 60 && offset <= 14 * 60;
}

bool alo_time_parse(aloft_text text, tsql_date_order order, tsql_time_parts *parts) {
  *parts = (tsql_time_parts){.days = TSQL_DAYS_1900};
  cursor c = {text.data, text.data + text.size};
  skip_blanks(&c);
  while (c.end > c.at && c.end[-1] == ' ')
    c.end--;
  if (c.at >= c.end) /* '' is 1900-01-01 */
    return true;
  cursor start = c;
  bool iso = false;
  if (parse_date(&c, order, parts)) {
    if (c.at >= c.end)
      return true;
    iso = take(&c, 'T');
    if (!iso && *c.at != ' ' && *c.at != '+' && *c.at != '-')
      return false;
    skip_blanks(&c);
    if (*c.at == '+' || *c.at == '-' || *c.at == 'Z')
      return parse_offset(&c, parts) && c.at >= c.end;
  } else {
    c = start;
  }
  return parse_time_of_day(&c, parts) && parse_offset(&c, parts) && c.at >= c.end;
}

size_t alo_time_date_text(int64_t days, char *out) {
  tsql_clock clock = alo_time_clock(days * TSQL_TICKS_PER_DAY);
  return (size_t)snprintf(out, TSQL_TIME_TEXT, "%04d-%02d-%02d", clock.year, clock.month,
                          clock.day);
}

size_t alo_time_of_day_text(int64_t ticks, int scale, char *out) {
  tsql_clock clock = alo_time_clock(ticks);
  int size =
      snprintf(out, TSQL_TIME_TEXT, "%02d:%02d:%02d", clock.hour, clock.minute, clock.second);
  if (scale == 0)
    return (size_t)size;
  snprintf(out + size, (size_t)(TSQL_TIME_TEXT - size), ".%07d", clock.ticks);
  out[size + 1 + scale] = 0;
  return (size_t)size + 1 + (size_t)scale;
}

size_t alo_time_offset_text(int offset_minutes, char *out) {
  int magnitude = offset_minutes < 0 ? -offset_minutes : offset_minutes;
  return (size_t)snprintf(out, TSQL_TIME_TEXT, " %c%02d:%02d", offset_minutes < 0 ? '-' : '+',
                          magnitude / 60, magnitude % 60);
}

tsql_part alo_time_part(aloft_text name) {
  static const struct {
    const char *name;
    tsql_part part;
  } names[] = {{"year", TSQL_PART_YEAR},       {"yy", TSQL_PART_YEAR},
               {"yyyy", TSQL_PART_YEAR},       {"quarter", TSQL_PART_QUARTER},
               {"qq", TSQL_PART_QUARTER},      {"q", TSQL_PART_QUARTER},
               {"month", TSQL_PART_MONTH},     {"mm", TSQL_PART_MONTH},
               {"m", TSQL_PART_MONTH},         {"dayofyear", TSQL_PART_DAYOFYEAR},
               {"dy", TSQL_PART_DAYOFYEAR},    {"y", TSQL_PART_DAYOFYEAR},
               {"day", TSQL_PART_DAY},         {"dd", TSQL_PART_DAY},
               {"d", TSQL_PART_DAY},           {"week", TSQL_PART_WEEK},
               {"wk", TSQL_PART_WEEK},         {"ww", TSQL_PART_WEEK},
               {"weekday", TSQL_PART_WEEKDAY}, {"dw", TSQL_PART_WEEKDAY},
               {"w", TSQL_PART_WEEKDAY},       {"hour", TSQL_PART_HOUR},
               {"hh", TSQL_PART_HOUR},         {"minute", TSQL_PART_MINUTE},
               {"mi", TSQL_PART_MINUTE},       {"n", TSQL_PART_MINUTE},
               {"second", TSQL_PART_SECOND},   {"ss", TSQL_PART_SECOND},
               {"s", TSQL_PART_SECOND},        {"millisecond", TSQL_PART_MILLISECOND},
               {"ms", TSQL_PART_MILLISECOND},  {"microsecond", TSQL_PART_MICROSECOND},
               {"mcs", TSQL_PART_MICROSECOND}, {"nanosecond", TSQL_PART_NANOSECOND},
               {"ns", TSQL_PART_NANOSECOND}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (alo_text_same_name(name, (aloft_text){names[i].name, strlen(names[i].name)}))
      return names[i].part;
  return TSQL_PART_NONE;
}

/* 0001-01-01 was a Monday; weeks begin on Sunday (DATEFIRST 7). */
static int weekday(int64_t days) {
  return (int)((days + 1) % 7);
}

int64_t alo_time_get(tsql_part part, int64_t ticks) {
  tsql_clock clock = alo_time_clock(ticks);
  int64_t days = ticks / TSQL_TICKS_PER_DAY;
  int64_t new_year = alo_time_days(clock.year, 1, 1);
  switch (part) {
  case TSQL_PART_YEAR:
    return clock.year;
  case TSQL_PART_QUARTER:
    return (clock.month + 2) / 3;
  case TSQL_PART_MONTH:
    return clock.month;
  case TSQL_PART_DAYOFYEAR:
    return days - new_year + 1;
  case TSQL_PART_DAY:
    return clock.day;
  case TSQL_PART_WEEK:
    return (days - new_year + weekday(new_year)) / 7 + 1;
  case TSQL_PART_WEEKDAY:
    return weekday(days) + 1;
  case TSQL_PART_HOUR:
    return clock.hour;
  case TSQL_PART_MINUTE:
    return clock.minute;
  case TSQL_PART_SECOND:
    return clock.second;
  case TSQL_PART_MILLISECOND:
    return clock.ticks / 10000;
  case TSQL_PART_MICROSECOND:
    return clock.ticks / 10;
  default:
    return (int64_t)clock.ticks * 100;
  }
}

/* Ticks of a part of fixed length; 0 for those that have none, and nanoseconds. */
static int64_t part_ticks(tsql_part part) {
  switch (part) {
  case TSQL_PART_DAYOFYEAR:
  case TSQL_PART_DAY:
  case TSQL_PART_WEEKDAY:
    return TSQL_TICKS_PER_DAY;
  case TSQL_PART_WEEK:
    return 7 * TSQL_TICKS_PER_DAY;
  case TSQL_PART_HOUR:
    return 60 * TSQL_TICKS_PER_MINUTE;
  case TSQL_PART_MINUTE:
    return TSQL_TICKS_PER_MINUTE;
  case TSQL_PART_SECOND:
    return TSQL_TICKS_PER_SECOND;
  case TSQL_PART_MILLISECOND:
    return 10000;
  case TSQL_PART_MICROSECOND:
    return 10;
  default:
    return 0;
  }
}

static bool add_months(int64_t months, int64_t *ticks) {
  tsql_clock clock = alo_time_clock(*ticks);
  int64_t count = (clock.year - 1) * INT64_C(12) + clock.month - 1 + months;
  if (count < 0 || count >= INT64_C(9999) * 12)
    return false;
  clock.year = (int)(count / 12) + 1;
  clock.month = (int)(count % 12) + 1;
  int last = alo_time_month_days(clock.year, clock.month);
  if (clock.day > last)
    clock.day = last;
  *ticks = alo_time_ticks(&clock);
  return true;
}

bool alo_time_add(tsql_part part, int64_t amount, int64_t *ticks) {
  if (part == TSQL_PART_YEAR)
    return add_months(amount * 12, ticks);
  if (part == TSQL_PART_QUARTER)
    return add_months(amount * 3, ticks);
  if (part == TSQL_PART_MONTH)
    return add_months(amount, ticks);
  int64_t unit = part_ticks(part);
  int64_t most = TSQL_DAYS * TSQL_TICKS_PER_DAY;
  if (unit == 0) { /* nanoseconds: to the nearest tick */
    amount = (amount + (amount < 0 ? -50 : 50)) / 100;
    unit = 1;
  }
  if (amount > most / unit || amount < -most / unit)
    return false;
  int64_t sum = *ticks + amount * unit;
  if (sum < 0 || sum >= most)
    return false;
  *ticks = sum;
  return true;
}

int64_t alo_time_difference(tsql_part part, int64_t from, int64_t to) {
  tsql_clock a = alo_time_clock(from);
  tsql_clock b = alo_time_clock(to);
  switch (part) {
  case TSQL_PART_YEAR:
    return b.year - a.year;
  case TSQL_PART_QUARTER:
    return (b.year - a.year) * 4 + (b.month + 2) / 3 - (a.month + 2) / 3;
  case TSQL_PART_MONTH:
    return (b.year - a.year) * 12 + b.month - a.month;
  case TSQL_PART_WEEK:
    return (to / TSQL_TICKS_PER_DAY + 1) / 7 - (from / TSQL_TICKS_PER_DAY + 1) / 7;
  case TSQL_PART_NANOSECOND: {
    int64_t ticks = to - from;
    if (ticks > INT64_MAX / 100 || ticks < INT64_MIN / 100)
      return ticks < 0 ? INT64_MIN : INT64_MAX;
    return ticks * 100;
  }
  default: {
    int64_t unit = part_ticks(part);
    assert(unit > 0); /* the parts without one stand above */
    return to / unit - from / unit;
  }
  }
}
