/* Dates and times of day: the calendar, their texts, and the parts of DATEADD and its kin.
 * A point in time is a count of 100 ns ticks since 0001-01-01 (proleptic Gregorian). */
#ifndef ALO_TSQL_TIME_H
#define ALO_TSQL_TIME_H

#include <aloft/base.h>

#define TSQL_TICKS_PER_SECOND INT64_C(10000000)
#define TSQL_TICKS_PER_MINUTE (60 * TSQL_TICKS_PER_SECOND)
#define TSQL_TICKS_PER_DAY    (86400 * TSQL_TICKS_PER_SECOND)
#define TSQL_DAYS             INT64_C(3652059) /* to 9999-12-31 */
#define TSQL_DAYS_1753        INT64_C(639905)  /* the first of datetime */
#define TSQL_DAYS_1900        INT64_C(693595)
#define TSQL_DAYS_1970        INT64_C(719162)

enum { TSQL_TIME_TEXT = 40 };

typedef struct tsql_clock {
  int year, month, day; /* 1 to 9999, 1 to 12, 1 to 31 */
  int hour, minute, second;
  int ticks; /* of the second */
} tsql_clock;

int64_t alo_time_days(int year, int month, int day); /* the date must exist */
int alo_time_month_days(int year, int month);
tsql_clock alo_time_clock(int64_t ticks);
int64_t alo_time_ticks(const tsql_clock *clock);

/* Rounds to `scale` digits of a second. */
int64_t alo_time_round(int64_t ticks, int scale);
/* Rounds to datetime's three hundredths of a second. */
int64_t alo_time_round_datetime(int64_t ticks);

typedef enum tsql_date_order { TSQL_MDY, TSQL_YMD, TSQL_DMY } tsql_date_order;

typedef struct tsql_time_parts {
  int64_t days; /* since 0001-01-01; 1900-01-01 when there was none */
  int64_t ticks;
  int offset_minutes;
  bool has_date;
  bool has_offset;
  int digits; /* of the fraction of a second */
} tsql_time_parts;

/* Date, time of day or both, in the forms that docs/lite.md lists. False for anything else. */
bool alo_time_parse(aloft_text text, tsql_date_order order, tsql_time_parts *parts);

size_t alo_time_date_text(int64_t days, char *out);
size_t alo_time_of_day_text(int64_t ticks, int scale, char *out);
size_t alo_time_offset_text(int offset_minutes, char *out);

typedef enum tsql_part {
  TSQL_PART_YEAR,
  TSQL_PART_QUARTER,
  TSQL_PART_MONTH,
  TSQL_PART_DAYOFYEAR,
  TSQL_PART_DAY,
  TSQL_PART_WEEK,
  TSQL_PART_WEEKDAY,
  TSQL_PART_HOUR,
  TSQL_PART_MINUTE,
  TSQL_PART_SECOND,
  TSQL_PART_MILLISECOND,
  TSQL_PART_MICROSECOND,
  TSQL_PART_NANOSECOND,
  TSQL_PART_NONE
} tsql_part;

tsql_part alo_time_part(aloft_text name); /* and its abbreviations */
int64_t alo_time_get(tsql_part part, int64_t ticks);
/* False when the result is outside years 1 to 9999. */
bool alo_time_add(tsql_part part, int64_t amount, int64_t *ticks);
int64_t alo_time_difference(tsql_part part, int64_t from, int64_t to);

extern const char *const alo_time_months[12];

#endif
