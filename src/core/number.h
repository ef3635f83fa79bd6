/* Numbers and their text, free of locale: for JSON and for SQL. */
#ifndef ALO_NUMBER_H
#define ALO_NUMBER_H

#include <aloft/base.h>

/* The shortest text that reads back to the same value, and of those the nearest to it. Plain
 * decimal for 0 and for 1e-5 <= |value| < 1e16 ("1.5", "-2.25", "100", "-0"), otherwise with an
 * exponent ("1e+300", "4.33e-67"). Valid JSON, except for what is not finite: "inf", "-inf" and
 * "nan". Returns the bytes written, at most 24; no NUL follows them. */
size_t alo_double_text(double value, char out[32]);

/* The same for single precision: reads back as a float, though not as the same double. */
size_t alo_float_text(float value, char out[32]);

/* Reads the whole of `text`: a sign or none, digits with at most one point among or around them,
 * and an exponent or none ("1", "+.5", "2.", "1.5e-3"). The nearest double, halves to even; what
 * is too small becomes 0. False, and `*value` untouched: not such a number, or beyond the range. */
bool alo_double_parse(aloft_text text, double *value);

/* Returns the bytes written, at most 20; no NUL follows them. */
size_t alo_int64_text(int64_t value, char out[32]);

/* Reads the whole of `text`: a sign or none, and digits. False, and `*value` untouched: not such
 * a number, or it does not fit. */
bool alo_int64_parse(aloft_text text, int64_t *value);

/* As alo_int64_parse, for every text that alo_double_parse takes and whose exact value is whole:
 * "1.50e1" is 15. */
bool alo_int64_parse_number(aloft_text text, int64_t *value);

#endif
