#include "big_integer.h"

#include <assert.h>
#include <string.h>

static void push(alo_big *big, uint32_t word) {
  assert(big->count < ALO_BIG_WORDS);
  big->words[big->count++] = word;
}

static void trim(alo_big *big) {
  while (big->count > 0 && big->words[big->count - 1] == 0)
    big->count--;
}

void alo_big_set(alo_big *big, uint64_t value) {
  big->count = 2;
  big->words[0] = (uint32_t)value;
  big->words[1] = (uint32_t)(value >> 32);
  trim(big);
}

void alo_big_copy(alo_big *to, const alo_big *from) {
  to->count = from->count;
  memcpy(to->words, from->words, from->count * sizeof from->words[0]);
}

void alo_big_multiply_add(alo_big *big, uint32_t factor, uint32_t addend) {
  uint64_t carry = addend;
  for (unsigned i = 0; i < big->count; i++) {
    carry += (uint64_t)big->words[i] * factor;
    big->words[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry)
    push(big, (uint32_t)carry);
}

void alo_big_multiply_power_of_5(alo_big *big, unsigned power) {
  const uint32_t five_to_13 = 1220703125;
  for (; power >= 13; power -= 13)
    alo_big_multiply_add(big, five_to_13, 0);
  uint32_t factor = 1;
  for (; power > 0; power--)
    factor *= 5;
  alo_big_multiply_add(big, factor, 0);
}

void alo_big_shift_left(alo_big *big, unsigned bits) {
  if (big->count == 0)
    return;
  unsigned words = bits / 32;
  unsigned rest = bits % 32;
  assert(big->count + words <= ALO_BIG_WORDS);
  memmove(big->words + words, big->words, big->count * sizeof big->words[0]);
  memset(big->words, 0, words * sizeof big->words[0]);
  big->count += words;
  uint64_t carry = 0;
  for (unsigned i = words; i < big->count; i++) {
    carry |= (uint64_t)big->words[i] << rest;
    big->words[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry)
    push(big, (uint32_t)carry);
}

void alo_big_add(alo_big *big, const alo_big *other) {
  while (big->count < other->count)
    push(big, 0);
  uint64_t carry = 0;
  for (unsigned i = 0; i < big->count; i++) {
    carry += big->words[i];
    if (i < other->count)
      carry += other->words[i];
    else if (carry == big->words[i])
      return;
    big->words[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry)
    push(big, (uint32_t)carry);
}

void alo_big_subtract(alo_big *big, const alo_big *other) {
  assert(alo_big_compare(big, other) >= 0);
  uint64_t borrow = 0;
  for (unsigned i = 0; i < big->count; i++) {
    uint64_t taken = borrow + (i < other->count ? other->words[i] : 0);
    uint64_t difference = (uint64_t)big->words[i] - taken;
    big->words[i] = (uint32_t)difference;
    borrow = difference >> 63;
  }
  trim(big);
}

unsigned alo_big_divisor_shift(const alo_big *divisor) {
  return (60 - alo_big_bits(divisor) % 32) % 32;
}

static void subtract_product(alo_big *big, const alo_big *other, uint32_t factor) {
  uint64_t carry = 0;
  uint64_t borrow = 0;
  for (unsigned i = 0; i < big->count; i++) {
    carry += (uint64_t)other->words[i] * factor;
    uint64_t difference = (uint64_t)big->words[i] - (uint32_t)carry - borrow;
    big->words[i] = (uint32_t)difference;
    borrow = difference >> 63;
    carry >>= 32;
  }
  trim(big);
}

unsigned alo_big_divide(alo_big *big, const alo_big *divisor) {
  if (big->count < divisor->count)
    return 0;
  assert(big->count == divisor->count);
  unsigned top = big->count - 1;
  assert(divisor->words[top] >> 27 == 1);
  /* From the highest words alone it is right, or one too low. */
  uint32_t quotient = big->words[top] / (divisor->words[top] + 1);
  if (quotient)
    subtract_product(big, divisor, quotient);
  if (alo_big_compare(big, divisor) >= 0) {
    alo_big_subtract(big, divisor);
    quotient++;
  }
  return quotient;
}

int alo_big_compare(const alo_big *a, const alo_big *b) {
  if (a->count != b->count)
    return a->count < b->count ? -1 : 1;
  for (unsigned i = a->count; i-- > 0;)
    if (a->words[i] != b->words[i])
      return a->words[i] < b->words[i] ? -1 : 1;
  return 0;
}

unsigned alo_big_bits(const alo_big *big) {
  if (big->count == 0)
    return 0;
  unsigned bits = (big->count - 1) * 32;
  for (uint32_t top = big->words[big->count - 1]; top; top >>= 1)
    bits++;
  return bits;
}
