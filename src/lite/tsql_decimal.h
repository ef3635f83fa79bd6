/* Numbers of up to 38 digits, and the 77 digits that their product needs on the way. */
#ifndef ALO_TSQL_DECIMAL_H
#define ALO_TSQL_DECIMAL_H

#include <aloft/base.h>

enum { TSQL_DECIMAL_LIMBS = 4, TSQL_WIDE_LIMBS = 10, TSQL_DECIMAL_TEXT = 96 };

/* Sign and magnitude; limbs least significant first. Never a negative zero. */
typedef struct tsql_decimal {
  uint32_t limbs[TSQL_DECIMAL_LIMBS];
  bool negative;
} tsql_decimal;

tsql_decimal alo_decimal_of(int64_t number);
/* False when it does not fit int64. */
bool alo_decimal_to_int64(const tsql_decimal *a, int64_t *number);
bool alo_decimal_is_zero(const tsql_decimal *a);
int alo_decimal_compare(const tsql_decimal *a, const tsql_decimal *b);
/* Digits of the number, at least 1. */
int alo_decimal_digits(const tsql_decimal *a);

/* All give false when the result has more than `precision` digits. Results have the scale asked
 * for; digits that go are rounded half away from zero, by division cut off. */
bool alo_decimal_rescale(tsql_decimal *a, int from_scale, int to_scale, int precision, bool cut);
bool alo_decimal_add(const tsql_decimal *a, int a_scale, const tsql_decimal *b, int b_scale,
                     int scale, int precision, tsql_decimal *sum);
bool alo_decimal_multiply(const tsql_decimal *a, int a_scale, const tsql_decimal *b, int b_scale,
                          int scale, int precision, tsql_decimal *product);
/* `b` is not zero. */
bool alo_decimal_divide(const tsql_decimal *a, int a_scale, const tsql_decimal *b, int b_scale,
                        int scale, int precision, tsql_decimal *quotient);
bool alo_decimal_remainder(const tsql_decimal *a, int a_scale, const tsql_decimal *b, int b_scale,
                           int scale, int precision, tsql_decimal *rest);

/* Digits with an optional sign and point. `*scale`: digits after the point that were there (all
 * of them are kept). False for anything else, or more than 38 digits. */
bool alo_decimal_parse(aloft_text text, tsql_decimal *a, int *precision, int *scale);
size_t alo_decimal_text(const tsql_decimal *a, int scale, char out[TSQL_DECIMAL_TEXT]);
double alo_decimal_to_double(const tsql_decimal *a, int scale);
/* False when out of range. */
bool alo_decimal_from_double(double number, int scale, int precision, tsql_decimal *a);

/* 16 bytes whose order is the numbers' order (at one scale). */
void alo_decimal_store(const tsql_decimal *a, uint8_t bytes[16]);
tsql_decimal alo_decimal_load(const uint8_t bytes[16]);

#endif
