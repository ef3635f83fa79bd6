/* Runs of ASCII, many at a time where the processor has SSE2 or NEON. Each function takes whole
 * steps of ALO_ASCII_STEP characters and stops before the first step that is not pure ASCII or not
 * complete; it returns the characters taken: a multiple of the step (but for alo_ascii_narrow,
 * which takes parts of steps too), or 0 without such a processor. The caller goes on from there,
 * one character at a time. */
#ifndef ALO_ASCII_RUN_H
#define ALO_ASCII_RUN_H

#include <aloft/base.h>

#if defined(__SSE2__)
  #include <emmintrin.h>
#elif defined(__ARM_NEON)
  #include <arm_neon.h>
#endif

enum { ALO_ASCII_STEP = 16 };

#if defined(__SSE2__)

typedef __m128i alo_ascii_block;

static inline bool alo_ascii_load(const uint8_t *in, alo_ascii_block *block) {
  *block = _mm_loadu_si128((const void *)in);
  return _mm_movemask_epi8(*block) == 0;
}

static inline bool alo_ascii_load_utf16(const uint8_t *in, alo_ascii_block *block) {
  __m128i first = _mm_loadu_si128((const void *)in);
  __m128i second = _mm_loadu_si128((const void *)(in + 16));
  __m128i high = _mm_and_si128(_mm_or_si128(first, second), _mm_set1_epi16(-128));
  *block = _mm_packus_epi16(first, second);
  return _mm_movemask_epi8(_mm_cmpeq_epi16(high, _mm_setzero_si128())) == 0xFFFF;
}

static inline void alo_ascii_store(alo_ascii_block block, uint8_t *out) {
  _mm_storeu_si128((void *)out, block);
}

static inline void alo_ascii_store_utf16(alo_ascii_block block, uint8_t *out) {
  _mm_storeu_si128((void *)out, _mm_unpacklo_epi8(block, _mm_setzero_si128()));
  _mm_storeu_si128((void *)(out + 16), _mm_unpackhi_epi8(block, _mm_setzero_si128()));
}

  #define ALO_ASCII_LOWEST_BIT(mask) ((size_t)__builtin_ctz(mask))

/* Two bits for each of eight UTF-16 units that is not ASCII. */
static inline unsigned alo_ascii_others(__m128i units) {
  __m128i high = _mm_and_si128(units, _mm_set1_epi16(-128));
  return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi16(high, _mm_setzero_si128())) ^ 0xFFFF;
}

/* Half a step of UTF-16: the ASCII that it begins with, copied as bytes. What stands behind that
 * in the half step of `out` is overwritten with anything. */
static inline size_t alo_ascii_narrow_half(const uint8_t *in, uint8_t *out) {
  __m128i units = _mm_loadu_si128((const void *)in);
  unsigned others = alo_ascii_others(units);
  _mm_storel_epi64((void *)out, _mm_packus_epi16(units, units));
  return others ? ALO_ASCII_LOWEST_BIT(others) / 2 : 8;
}

#elif defined(__ARM_NEON)

typedef uint8x16_t alo_ascii_block;

  #define ALO_ASCII_LOWEST_BIT(mask) ((size_t)__builtin_ctzll(mask))

static inline size_t alo_ascii_narrow_half(const uint8_t *in, uint8_t *out) {
  uint8x8x2_t halves = vld2_u8(in);
  uint8x8_t wrong = vorr_u8(vand_u8(halves.val[0], vdup_n_u8(0x80)), halves.val[1]);
  uint64_t others = vget_lane_u64(vreinterpret_u64_u8(wrong), 0);
  vst1_u8(out, halves.val[0]);
  return others ? ALO_ASCII_LOWEST_BIT(others) / 8 : 8;
}

/* All bits that are set anywhere in the block, by eights of bytes. */
static inline uint64_t alo_ascii_fold(alo_ascii_block block) {
  uint8x8_t half = vorr_u8(vget_low_u8(block), vget_high_u8(block));
  return vget_lane_u64(vreinterpret_u64_u8(half), 0);
}

static inline bool alo_ascii_load(const uint8_t *in, alo_ascii_block *block) {
  *block = vld1q_u8(in);
  return (alo_ascii_fold(*block) & UINT64_C(0x8080808080808080)) == 0;
}

static inline bool alo_ascii_load_utf16(const uint8_t *in, alo_ascii_block *block) {
  uint8x16x2_t halves = vld2q_u8(in); /* low bytes, high bytes: any byte order of ours */
  *block = halves.val[0];
  return (alo_ascii_fold(halves.val[0]) & UINT64_C(0x8080808080808080)) == 0 &&
         alo_ascii_fold(halves.val[1]) == 0;
}

static inline void alo_ascii_store(alo_ascii_block block, uint8_t *out) {
  vst1q_u8(out, block);
}

static inline void alo_ascii_store_utf16(alo_ascii_block block, uint8_t *out) {
  uint8x16x2_t halves = {{block, vdupq_n_u8(0)}};
  vst2q_u8(out, halves);
}

#else

typedef uint8_t alo_ascii_block;

static inline size_t alo_ascii_narrow_half(const uint8_t *in, uint8_t *out) {
  (void)in;
  (void)out;
  return 0;
}

static inline bool alo_ascii_load(const uint8_t *in, alo_ascii_block *block) {
  (void)in;
  *block = 0;
  return false;
}

static inline bool alo_ascii_load_utf16(const uint8_t *in, alo_ascii_block *block) {
  return alo_ascii_load(in, block);
}

static inline void alo_ascii_store(alo_ascii_block block, uint8_t *out) {
  *out = block;
}

static inline void alo_ascii_store_utf16(alo_ascii_block block, uint8_t *out) {
  *out = block;
}

#endif

/* Of `size` bytes. */
static inline size_t alo_ascii_run(const uint8_t *in, size_t size) {
  alo_ascii_block block;
  size_t done = 0;
  while (size - done >= ALO_ASCII_STEP && alo_ascii_load(in + done, &block))
    done += ALO_ASCII_STEP;
  return done;
}

/* Of `count` UTF-16LE units. */
static inline size_t alo_ascii_run_utf16(const uint8_t *in, size_t count) {
  alo_ascii_block block;
  size_t done = 0;
  while (count - done >= ALO_ASCII_STEP && alo_ascii_load_utf16(in + 2 * done, &block))
    done += ALO_ASCII_STEP;
  return done;
}

/* The same, copied as bytes, and of the step that is not pure ASCII what it begins with: `out` has
 * room for `count` bytes, and behind what was taken anything may stand. At the end also half a
 * step, and what then is left by doing the last half step of it all once more: short texts are the
 * rule.
 */
static inline size_t alo_ascii_narrow(const uint8_t *in, size_t count, uint8_t *out) {
  enum { STEP = ALO_ASCII_STEP, HALF = STEP / 2 };
  alo_ascii_block block;
  size_t steps = count / STEP, done = 0;
  for (; steps > 0 && alo_ascii_load_utf16(in + 2 * done, &block); steps--, done += STEP)
    alo_ascii_store(block, out + done);
  for (; count - done >= HALF; done += HALF) {
    size_t run = alo_ascii_narrow_half(in + 2 * done, out + done);
    if (run < HALF)
      return done + run;
  }
  if (done && done < count)
    done = count - HALF + alo_ascii_narrow_half(in + 2 * (count - HALF), out + count - HALF);
  return done;
}

/* The bytes of alo_ascii_run, copied as UTF-16LE. */
static inline size_t alo_ascii_widen(const uint8_t *in, size_t size, uint8_t *out) {
  alo_ascii_block block;
  size_t done = 0;
  for (; size - done >= ALO_ASCII_STEP && alo_ascii_load(in + done, &block); done += ALO_ASCII_STEP)
    alo_ascii_store_utf16(block, out + 2 * done);
  return done;
}

#endif
