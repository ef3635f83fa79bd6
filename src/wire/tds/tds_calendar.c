/* Days and dates of the proleptic Gregorian calendar, counted from 0001-01-01. */
#include "tds_value.h"

enum { DAYS_OF_400_YEARS = 146097, DAYS_OF_100_YEARS = 36524, DAYS_OF_4_YEARS = 1461 };

/* Counting years from March puts the leap day last, so that the month lengths repeat without it:
 * the days before month m of such a year are (153 m + 2) / 5. */
int32_t alo_tds_days(int year, unsigned month, unsigned day) {
  int64_t march_year = (int64_t)year - (month <= 2 ? 1 : 0);
  int64_t era = (march_year >= 0 ? march_year : march_year - 399) / 400;
  int64_t of_era = march_year - era * 400;
  int64_t march_month = ((int64_t)month + 9) % 12;
  int64_t of_year = (153 * march_month + 2) / 5 + (int64_t)day - 1;
  int64_t days = era * DAYS_OF_400_YEARS + of_era * 365 + of_era / 4 - of_era / 100 + of_year;
  return (int32_t)(days - 306); /* from 0000-03-01 to 0001-01-01 */
}

void alo_tds_date(int32_t days, int *year, unsigned *month, unsigned *day) {
  int64_t from_march = (int64_t)days + 306;
  int64_t era =
      (from_march >= 0 ? from_march : from_march - (DAYS_OF_400_YEARS - 1)) / DAYS_OF_400_YEARS;
  int64_t of_era = from_march - era * DAYS_OF_400_YEARS;
  int64_t year_of_era = (of_era - of_era / (DAYS_OF_4_YEARS - 1) + of_era / DAYS_OF_100_YEARS -
                         of_era / (DAYS_OF_400_YEARS - 1)) /
                        365;
  int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int64_t march_month = (5 * of_year + 2) / 153;
  *day = (unsigned)(of_year - (153 * march_month + 2) / 5 + 1);
  *month = (unsigned)(march_month < 10 ? march_month + 3 : march_month - 9);
  *year = (int)(year_of_era + era * 400 + (*month <= 2 ? 1 : 0));
}
