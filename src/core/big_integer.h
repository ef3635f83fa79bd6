/* Unsigned integers of bounded size, for the exact conversion between binary and decimal. */
#ifndef ALO_BIG_INTEGER_H
#define ALO_BIG_INTEGER_H

#include <aloft/base.h>

/* 3072 bits. The largest that number.c makes is about 2600 bits: 770 decimal digits, or 5 to the
 * 1100th. */
enum { ALO_BIG_WORDS = 96 };

/* Least significant word first; the last of the `count` words is not 0. Words beyond `count` are
 * not initialised. A result beyond ALO_BIG_WORDS is a mistake of ours, not of the input. */
typedef struct alo_big {
  unsigned count;
  uint32_t words[ALO_BIG_WORDS];
} alo_big;

void alo_big_set(alo_big *big, uint64_t value);
void alo_big_copy(alo_big *to, const alo_big *from);

/* big = big * factor + addend */
void alo_big_multiply_add(alo_big *big, uint32_t factor, uint32_t addend);
void alo_big_multiply_power_of_5(alo_big *big, unsigned power);
void alo_big_shift_left(alo_big *big, unsigned bits);
void alo_big_add(alo_big *big, const alo_big *other);
/* `other` is at most `big`. */
void alo_big_subtract(alo_big *big, const alo_big *other);

/* The bits to shift both numbers of a division by, so that alo_big_divide can take the divisor. */
unsigned alo_big_divisor_shift(const alo_big *divisor);
/* Leaves the remainder in `big` and returns the quotient, which must be below 16. The highest word
 * of `divisor` must have 28 bits. */
unsigned alo_big_divide(alo_big *big, const alo_big *divisor);

/* Negative, 0 or positive, as a is less, equal or more than b. */
int alo_big_compare(const alo_big *a, const alo_big *b);
/* 0 for 0, otherwise the place of the highest bit, counted from 1. */
unsigned alo_big_bits(const alo_big *big);

#endif
