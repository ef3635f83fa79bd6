#include "utf16.h"

#include "ascii_run.h"

#include <string.h>

enum { REPLACEMENT = 0xFFFD };

/* Most characters handled one at a time before the next look for a run of ASCII. */
enum { PACE_MAX = 16 * ALO_ASCII_STEP };

static bool is_high(uint32_t unit) {
  return unit >> 10 == 0xD800 >> 10;
}
static bool is_low(uint32_t unit) {
  return unit >> 10 == 0xDC00 >> 10;
}

static uint32_t unit_at(const uint8_t *in) {
  return (uint32_t)(in[0] | in[1] << 8);
}

static uint32_t pair(uint32_t high, uint32_t low) {
  return 0x10000 + ((high & 0x3FF) << 10) + (low & 0x3FF);
}

/* Text without ASCII would pay for each look in vain: so the looks become rare where they fail. */
static size_t next_pace(size_t pace, size_t run) {
  if (run)
    return ALO_ASCII_STEP;
  return pace < PACE_MAX ? 2 * pace : PACE_MAX;
}

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

static inline void put_three(uint32_t code, char *out) {
  out[0] = (char)(0xE0 | code >> 12);
  out[1] = (char)(0x80 | (code >> 6 & 0x3F));
  out[2] = (char)(0x80 | (code & 0x3F));
}

static inline size_t put_code(uint32_t code, char out[4]) {
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  if (code < 0x800) {
    out[0] = (char)(0xC0 | code >> 6);
    out[1] = (char)(0x80 | (code & 0x3F));
    return 2;
  }
  if (code < 0x10000) {
    put_three(code, out);
    return 3;
  }
  out[0] = (char)(0xF0 | code >> 18);
  out[1] = (char)(0x80 | (code >> 12 & 0x3F));
  out[2] = (char)(0x80 | (code >> 6 & 0x3F));
  out[3] = (char)(0x80 | (code & 0x3F));
  return 4;
}

size_t alo_utf8_put(uint32_t code, char out[4]) {
  return put_code(code, out);
}

/* ---- UTF-16 to UTF-8 ---- */

struct output {
  char *at;
  size_t broken;
};

static void put(struct output *out, uint32_t code) {
  out->at += put_code(code, out->at);
}

static void put_broken(struct output *out) {
  put(out, REPLACEMENT);
  out->broken++;
}

/* Units of a text whose last one is no high surrogate, which would wait for its other half. */
static size_t complete_units(const uint8_t *in, size_t size) {
  size_t count = size / 2;
  return count > 0 && is_high(unit_at(in + 2 * (count - 1))) ? count - 1 : count;
}

/* The code point at `in`; advances `*at` by its units. ALO_UTF8_BROKEN: an unpaired surrogate. */
static uint32_t next_code(const uint8_t *in, size_t *at) {
  uint32_t unit = unit_at(in + 2 * (*at)++);
  if (unit >> 11 != 0xD800 >> 11)
    return unit;
  if (is_low(unit))
    return ALO_UTF8_BROKEN;
  uint32_t low = unit_at(in + 2 * *at);
  if (!is_low(low))
    return ALO_UTF8_BROKEN;
  (*at)++;
  return pair(unit, low);
}

/* Up to `stop`, one at a time. Returns the units taken: at most one more. */
static size_t decode_each(const uint8_t *in, size_t stop, struct output *out) {
  char *to = out->at;
  size_t at = 0;
  while (at < stop) {
    uint32_t code = unit_at(in + 2 * at);
    if (code < 0x80) {
      *to++ = (char)code;
      at++;
      continue;
    }
    if (code >= 0x800 && code >> 11 != 0xD800 >> 11) {
      put_three(code, to);
      to += 3;
      at++;
      continue;
    }
    code = next_code(in, &at);
    if (code == ALO_UTF8_BROKEN) {
      out->broken++;
      code = REPLACEMENT;
    }
    to += alo_utf8_put(code, to);
  }
  out->at = to;
  return at;
}

/* Units handled one at a time before the next look: a character between runs of ASCII is alone. */
static size_t next_units(size_t pace, size_t run) {
  if (run >= ALO_ASCII_STEP / 4)
    return 1;
  return pace < PACE_MAX ? 2 * pace : PACE_MAX;
}

/* `count` is of complete_units. */
static void decode_units(const uint8_t *in, size_t count, struct output *out) {
  size_t pace = 1;
  size_t at = 0;
  while (at < count) {
    size_t run = 0;
    if (unit_at(in + 2 * at) < 0x80)
      run = alo_ascii_narrow(in + 2 * at, count - at, (uint8_t *)out->at);
    at += run;
    out->at += run;
    pace = next_units(pace, run);
    at += decode_each(in + 2 * at, least(pace, count - at), out);
  }
}

/* One more byte for what a cut left behind. */
static void feed_cut(alo_utf16_cut *cut, uint8_t byte, struct output *out) {
  if (cut->size < 3) {
    cut->bytes[cut->size++] = byte;
    if (cut->size != 2)
      return;
    uint32_t unit = unit_at(cut->bytes);
    if (is_high(unit))
      return;
    cut->size = 0;
    if (is_low(unit))
      put_broken(out);
    else
      put(out, unit);
    return;
  }
  uint32_t high = unit_at(cut->bytes);
  uint8_t next[2] = {cut->bytes[2], byte};
  uint32_t low = unit_at(next);
  cut->size = 0;
  if (is_low(low)) {
    put(out, pair(high, low));
    return;
  }
  put_broken(out);
  feed_cut(cut, next[0], out);
  feed_cut(cut, next[1], out);
}

/* What a cut left behind may be in front, and one may be made. */
static void decode_cut(alo_utf16_cut *cut, const uint8_t *in, size_t size, bool end,
                       struct output *out) {
  size_t fed = 0;
  if (cut->size == 1 && size > 0 && cut->bytes[0] < 0x80 && in[0] == 0) {
    *out->at++ = (char)cut->bytes[0]; /* what a cut in ASCII leaves: half of a unit */
    cut->size = 0;
    fed = 1;
  }
  while (cut->size > 0 && fed < size)
    feed_cut(cut, in[fed++], out);
  if (fed < size) {
    size_t count = complete_units(in + fed, size - fed);
    decode_units(in + fed, count, out);
    for (fed += 2 * count; fed < size; fed++)
      cut->bytes[cut->size++] = in[fed];
  }
  if (end && cut->size > 0) {
    put_broken(out);
    cut->size = 0;
  }
}

size_t alo_utf16_to_utf8(alo_utf16_cut *cut, const uint8_t *in, size_t size, bool end, char *out,
                         size_t *broken) {
  struct output output = {out, 0};
  if (cut->size == 0 && 2 * complete_units(in, size) == size)
    decode_units(in, size / 2, &output);
  else
    decode_cut(cut, in, size, end, &output);
  if (broken)
    *broken += output.broken;
  return (size_t)(output.at - out);
}

static size_t code_size(uint32_t code) {
  if (code < 0x80)
    return 1;
  if (code < 0x800)
    return 2;
  return code < 0x10000 || code == ALO_UTF8_BROKEN ? 3 : 4;
}

size_t alo_utf16_utf8_size(const uint8_t *in, size_t size) {
  size_t count = size > 0 ? complete_units(in, size) : 0;
  size_t total = 2 * count < size ? code_size(REPLACEMENT) : 0;
  size_t pace = ALO_ASCII_STEP;
  size_t at = 0;
  while (at < count) {
    size_t run = alo_ascii_run_utf16(in + 2 * at, count - at);
    at += run;
    total += run;
    pace = next_pace(pace, run);
    size_t stop = at + least(pace, count - at);
    while (at < stop)
      total += code_size(next_code(in, &at));
  }
  return total;
}

/* ---- UTF-8 ---- */

/* What may follow a lead byte directly (Unicode, table 3-7): no overlong forms, no surrogates,
 * nothing above U+10FFFF. */
static uint8_t second_min(uint8_t lead) {
  if (lead == 0xE0)
    return 0xA0;
  return lead == 0xF0 ? 0x90 : 0x80;
}

static uint8_t second_max(uint8_t lead) {
  if (lead == 0xED)
    return 0x9F;
  return lead == 0xF4 ? 0x8F : 0xBF;
}

static unsigned trail_count(uint8_t lead) {
  if (lead < 0xE0)
    return 1;
  return lead < 0xF0 ? 2 : 3;
}

size_t alo_utf8_next(const char *in, size_t size, uint32_t *code) {
  const uint8_t *bytes = (const uint8_t *)in;
  uint8_t lead = bytes[0];
  *code = lead;
  if (lead < 0x80)
    return 1;
  *code = ALO_UTF8_BROKEN;
  if (lead < 0xC2 || lead > 0xF4)
    return 1;
  unsigned trail = trail_count(lead);
  uint8_t low = second_min(lead);
  uint8_t high = second_max(lead);
  uint32_t value = lead & (0x3FU >> trail);
  for (unsigned i = 1; i <= trail; i++) {
    if (i >= size || bytes[i] < low || bytes[i] > high)
      return i;
    value = value << 6 | (bytes[i] & 0x3F);
    low = 0x80;
    high = 0xBF;
  }
  *code = value;
  return trail + 1;
}

size_t alo_utf8_valid(const char *in, size_t size) {
  size_t pace = ALO_ASCII_STEP;
  size_t at = 0;
  while (at < size) {
    size_t run = alo_ascii_run((const uint8_t *)in + at, size - at);
    at += run;
    pace = next_pace(pace, run);
    size_t stop = at + least(pace, size - at);
    while (at < stop) {
      uint32_t code;
      size_t taken = alo_utf8_next(in + at, size - at, &code);
      if (code == ALO_UTF8_BROKEN)
        return at;
      at += taken;
    }
  }
  return at;
}

/* ---- UTF-8 to UTF-16 ---- */

static uint8_t *put_unit(uint8_t *out, uint32_t unit) {
  out[0] = (uint8_t)unit;
  out[1] = (uint8_t)(unit >> 8);
  return out + 2;
}

static uint8_t *put_utf16(uint8_t *out, uint32_t code) {
  if (code < 0x10000)
    return put_unit(out, code);
  code -= 0x10000;
  out = put_unit(out, 0xD800 | code >> 10);
  return put_unit(out, 0xDC00 | (code & 0x3FF));
}

size_t alo_utf8_to_utf16(const char *in, size_t size, uint8_t *out) {
  uint8_t *begin = out;
  size_t pace = ALO_ASCII_STEP;
  size_t at = 0;
  while (at < size) {
    size_t run = alo_ascii_widen((const uint8_t *)in + at, size - at, out);
    at += run;
    out += 2 * run;
    pace = next_pace(pace, run);
    size_t stop = at + least(pace, size - at);
    while (at < stop) {
      uint32_t code;
      at += alo_utf8_next(in + at, size - at, &code);
      if (code == ALO_UTF8_BROKEN)
        return SIZE_MAX;
      out = put_utf16(out, code);
    }
  }
  return (size_t)(out - begin);
}

size_t alo_utf8_utf16_count(const char *in, size_t size) {
  size_t count = 0;
  size_t pace = ALO_ASCII_STEP;
  size_t at = 0;
  while (at < size) {
    size_t run = alo_ascii_run((const uint8_t *)in + at, size - at);
    at += run;
    count += run;
    pace = next_pace(pace, run);
    size_t stop = at + least(pace, size - at);
    while (at < stop) {
      uint32_t code;
      at += alo_utf8_next(in + at, size - at, &code);
      if (code == ALO_UTF8_BROKEN)
        return SIZE_MAX;
      count += code < 0x10000 ? 1 : 2;
    }
  }
  return count;
}
