#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "guard.h"
#include "utf16.h"

/* ---- a plain decoder to compare with ---- */

struct reference {
  char text[4096];
  size_t size;
  size_t broken;
};

static void reference_put(struct reference *out, uint32_t code) {
  char *at = out->text + out->size;
  if (code <= 0x7F) {
    *at++ = (char)code;
  } else if (code <= 0x7FF) {
    *at++ = (char)(code / 64 + 192);
    *at++ = (char)(code % 64 + 128);
  } else if (code <= 0xFFFF) {
    *at++ = (char)(code / 4096 + 224);
    *at++ = (char)(code / 64 % 64 + 128);
    *at++ = (char)(code % 64 + 128);
  } else {
    *at++ = (char)(code / 262144 + 240);
    *at++ = (char)(code / 4096 % 64 + 128);
    *at++ = (char)(code / 64 % 64 + 128);
    *at++ = (char)(code % 64 + 128);
  }
  out->size = (size_t)(at - out->text);
}

static void reference_broken(struct reference *out) {
  reference_put(out, 0xFFFD);
  out->broken++;
}

/* WHATWG's decoder: one replacement for whatever is left at the end. */
static void reference_decode(const uint8_t *in, size_t size, struct reference *out) {
  out->size = 0;
  out->broken = 0;
  uint32_t lead = 0;
  for (size_t i = 0; i + 1 < size; i += 2) {
    uint32_t unit = in[i] + 256u * in[i + 1];
    if (lead && unit >= 0xDC00 && unit <= 0xDFFF) {
      reference_put(out, (lead - 0xD800) * 1024 + (unit - 0xDC00) + 0x10000);
      lead = 0;
      continue;
    }
    if (lead)
      reference_broken(out);
    lead = 0;
    if (unit >= 0xD800 && unit <= 0xDBFF)
      lead = unit;
    else if (unit >= 0xDC00 && unit <= 0xDFFF)
      reference_broken(out);
    else
      reference_put(out, unit);
  }
  if (lead || size % 2)
    reference_broken(out);
}

/* ---- inputs ---- */

static uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

static uint32_t random_unit(uint32_t *seed, uint32_t kind) {
  uint32_t value = next_random(seed);
  switch (next_random(seed) % 8 < kind ? next_random(seed) % 6 : 0) {
  case 1:
    return 0x80 + value % 0x780;
  case 2:
    return 0xD800 + value % 0x400;
  case 3:
    return 0xDC00 + value % 0x400;
  case 4:
    return value & 0xFFFF;
  case 5:
    return value % 2 ? 0xFF00 : 0x0080; /* ASCII in one byte only */
  default:
    return value % 0x80;
  }
}

/* `kind` 0: pure ASCII; 8: hardly any. */
static void fill(uint8_t *out, size_t size, uint32_t *seed, uint32_t kind) {
  for (size_t i = 0; i < size; i += 2) {
    uint32_t unit = random_unit(seed, kind);
    out[i] = (uint8_t)unit;
    if (i + 1 < size)
      out[i + 1] = (uint8_t)(unit >> 8);
  }
}

/* ---- checks ---- */

/* Decodes the parts in[0, first), in[first, second), in[second, size), each in a buffer of its own
 * that ends at a guard page, into room of exactly the promised size. */
static void decode_parts(const uint8_t *in, size_t size, size_t first, size_t second,
                         const struct reference *expected) {
  const size_t from[] = {0, first, second, size};
  alo_utf16_cut cut = {0};
  size_t broken = 0;
  size_t done = 0;
  for (int part = 0; part < 3; part++) {
    size_t part_size = from[part + 1] - from[part];
    guard_buffer source = guard_copy(in + from[part], part_size);
    guard_buffer room = guard_take(ALO_UTF8_ROOM(part_size));
    size_t written = alo_utf16_to_utf8(&cut, source.data, part_size, part == 2, room.data, &broken);
    assert_true(written <= expected->size - done);
    assert_memory_equal(room.data, expected->text + done, written);
    done += written;
    guard_give(&source);
    guard_give(&room);
  }
  assert_int_equal(done, expected->size);
  assert_int_equal(broken, expected->broken);
  assert_int_equal(cut.size, 0);
}

static void decode_bytewise(const uint8_t *in, size_t size, const struct reference *expected) {
  alo_utf16_cut cut = {0};
  char room[ALO_UTF8_ROOM(1)];
  size_t broken = 0;
  size_t done = 0;
  for (size_t i = 0; i <= size; i++) {
    size_t written = alo_utf16_to_utf8(&cut, in + i, i < size, i == size, room, &broken);
    assert_true(written <= sizeof room && written <= expected->size - done);
    assert_memory_equal(room, expected->text + done, written);
    done += written;
  }
  assert_int_equal(done, expected->size);
  assert_int_equal(broken, expected->broken);
}

static void every_split_is_the_whole(void **state) {
  (void)state;
  uint32_t seed = 1;
  struct reference expected;
  uint8_t in[160];
  for (unsigned round = 0; round < 120; round++) {
    size_t size = next_random(&seed) % (sizeof in + 1);
    fill(in, size, &seed, round % 9);
    reference_decode(in, size, &expected);
    assert_int_equal(alo_utf16_utf8_size(in, size), expected.size);
    decode_bytewise(in, size, &expected);
    for (size_t split = 0; split <= size; split++)
      decode_parts(in, size, split, split, &expected);
  }
}

static void every_two_splits_of_surrogates(void **state) {
  (void)state;
  /* high high low low high x high + odd byte */
  const uint8_t in[] = {0x00, 0xD8, 0x3D, 0xD8, 0x00, 0xDE, 0x01, 0xDC,
                        0xFF, 0xDB, 0x41, 0x00, 0x34, 0xD8, 0x1E};
  struct reference expected;
  for (size_t size = 0; size <= sizeof in; size++) {
    reference_decode(in, size, &expected);
    for (size_t first = 0; first <= size; first++)
      for (size_t second = first; second <= size; second++)
        decode_parts(in, size, first, second, &expected);
  }
}

static void every_alignment(void **state) {
  (void)state;
  uint32_t seed = 2;
  struct reference expected;
  guard_buffer source = guard_take(700);
  guard_buffer room = guard_take(2200);
  for (size_t size = 0; size < 600; size += 1 + next_random(&seed) % 7) {
    for (size_t in_shift = 0; in_shift < 17; in_shift++) {
      size_t out_shift = next_random(&seed) % 17;
      uint8_t *in = (uint8_t *)source.data + source.size - size - in_shift;
      char *out = (char *)room.data + room.size - ALO_UTF8_ROOM(size) - out_shift;
      fill(in, size, &seed, next_random(&seed) % 9);
      reference_decode(in, size, &expected);
      alo_utf16_cut cut = {0};
      size_t written = alo_utf16_to_utf8(&cut, in, size, true, out, NULL);
      assert_int_equal(written, expected.size);
      assert_memory_equal(out, expected.text, written);
      assert_int_equal(alo_utf16_utf8_size(in, size), written);
    }
  }
  guard_give(&source);
  guard_give(&room);
}

static void one_character_in_ascii(void **state) {
  (void)state;
  const uint32_t units[] = {0x80, 0x7FF, 0x800, 0xFFFF, 0x0100, 0x8041, 0xDC00, 0xD800, 0};
  struct reference expected;
  for (size_t which = 0; which < sizeof units / sizeof units[0]; which++)
    for (size_t count = 1; count < 50; count++)
      for (size_t place = 0; place < count; place++) {
        guard_buffer source = guard_take(2 * count);
        uint8_t *in = source.data;
        for (size_t i = 0; i < count; i++)
          in[2 * i] = (uint8_t)('a' + i % 26);
        in[2 * place] = (uint8_t)units[which];
        in[2 * place + 1] = (uint8_t)(units[which] >> 8);
        reference_decode(in, 2 * count, &expected);
        decode_parts(in, 2 * count, 0, 0, &expected);
        assert_int_equal(alo_utf16_utf8_size(in, 2 * count), expected.size);
        guard_give(&source);
      }
}

static void there_and_back(void **state) {
  (void)state;
  uint32_t seed = 3;
  struct reference text;
  uint8_t in[400];
  for (unsigned round = 0; round < 2000; round++) {
    size_t size = next_random(&seed) % sizeof in / 2 * 2;
    fill(in, size, &seed, round % 9);
    reference_decode(in, size, &text);
    guard_buffer source = guard_copy(text.text, text.size);
    guard_buffer room = guard_take(2 * text.size);
    assert_int_equal(alo_utf8_valid(source.data, source.size), text.size);
    size_t written = alo_utf8_to_utf16(source.data, source.size, room.data);
    assert_true(written <= room.size);
    assert_int_equal(written, 2 * alo_utf8_utf16_count(source.data, source.size));
    if (text.broken == 0) {
      assert_int_equal(written, size);
      assert_memory_equal(room.data, in, size);
    }
    guard_give(&source);
    guard_give(&room);
  }
}

/* Whether the bytes are one well-formed character, by what they decode to. */
static bool reference_is_character(const uint8_t *in, size_t size) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  static const uint32_t mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  static const uint32_t lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  if ((in[0] & ~mask[size] & 0xFF) != lead[size])
    return false;
  uint32_t code = in[0] & mask[size];
  for (size_t i = 1; i < size; i++) {
    if ((in[i] & 0xC0) != 0x80)
      return false;
    code = code * 64 + (in[i] & 0x3F);
  }
  return code >= least[size] && code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF);
}

static size_t reference_valid(const uint8_t *in, size_t size) {
  size_t at = 0;
  while (at < size) {
    size_t length = 1;
    while (length <= 4 && (length > size - at || !reference_is_character(in + at, length)))
      length++;
    if (length > 4)
      return at;
    at += length;
  }
  return at;
}

static void check_utf8(const uint8_t *bytes, size_t size) {
  guard_buffer source = guard_copy(bytes, size);
  guard_buffer room = guard_take(2 * size);
  size_t valid = reference_valid(bytes, size);
  assert_int_equal(alo_utf8_valid(source.data, size), valid);
  size_t count = alo_utf8_utf16_count(source.data, size);
  size_t written = alo_utf8_to_utf16(source.data, size, room.data);
  if (valid == size)
    assert_int_equal(written, 2 * count);
  else
    assert_true(count == SIZE_MAX && written == SIZE_MAX);
  guard_give(&source);
  guard_give(&room);
}

static void every_pair_of_utf8_bytes(void **state) {
  (void)state;
  for (unsigned first = 0; first < 256; first++)
    for (unsigned second = 0; second < 256; second++) {
      const uint8_t bytes[] = {(uint8_t)first, (uint8_t)second, 0xBF, 0x80};
      for (size_t size = 1; size <= 4; size++) {
        size_t valid = reference_valid(bytes, size);
        assert_int_equal(alo_utf8_valid((const char *)bytes, size), valid);
      }
    }
}

static void random_utf8(void **state) {
  (void)state;
  uint32_t seed = 4;
  uint8_t bytes[100];
  static const uint8_t likely[] = {0xE0, 0xED, 0xF0, 0xF4, 0xC0, 0xC2, 0x80,
                                   0xBF, 0x9F, 0xA0, 0x8F, 0x90, 0xEF, 0xFF};
  for (unsigned round = 0; round < 20000; round++) {
    size_t size = next_random(&seed) % sizeof bytes;
    uint32_t ascii = next_random(&seed) % 20;
    for (size_t i = 0; i < size; i++)
      bytes[i] = next_random(&seed) % 20 <= ascii ? (uint8_t)(next_random(&seed) % 128)
                                                  : likely[next_random(&seed) % sizeof likely];
    check_utf8(bytes, size);
  }
}

static void each_code_point(void **state) {
  (void)state;
  for (uint32_t code = 0; code <= 0x10FFFF; code++) {
    if (code == 0xD800)
      code = 0xE000;
    char text[4];
    uint32_t read = 0;
    size_t size = alo_utf8_put(code, text);
    assert_true(alo_utf8_next(text, size, &read) == size && read == code);
    for (size_t cut = 1; cut < size; cut++)
      if (alo_utf8_next(text, cut, &read) != cut || read != ALO_UTF8_BROKEN)
        fail_msg("U+%04X cut after %zu", code, cut);
  }
}

static void broken_parts_are_maximal(void **state) {
  (void)state;
  const struct {
    const char *bytes;
    size_t size;
  } cases[] = {{"\x80", 1},         {"\xC0\x80", 1},     {"\xC3(", 1},        {"\xE2\x82(", 2},
               {"\xE0\x80\x80", 1}, {"\xED\xA0\x80", 1}, {"\xF0\x9F\x98", 3}, {"\xF0\x80", 1},
               {"\xF4\x90", 1},     {"\xF5\x80", 1},     {"\xFF", 1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint32_t code = 0;
    assert_int_equal(alo_utf8_next(cases[i].bytes, strlen(cases[i].bytes), &code), cases[i].size);
    assert_true(code == ALO_UTF8_BROKEN);
  }
}

static void nothing_is_nothing(void **state) {
  (void)state;
  alo_utf16_cut cut = {0};
  char out[ALO_UTF8_ROOM(0)];
  assert_int_equal(alo_utf16_to_utf8(&cut, NULL, 0, true, out, NULL), 0);
  assert_int_equal(alo_utf16_utf8_size(NULL, 0), 0);
  assert_int_equal(alo_utf8_valid(NULL, 0), 0);
  assert_int_equal(alo_utf8_to_utf16(NULL, 0, NULL), 0);
  assert_int_equal(alo_utf8_utf16_count(NULL, 0), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_split_is_the_whole),
      cmocka_unit_test(every_two_splits_of_surrogates),
      cmocka_unit_test(every_alignment),
      cmocka_unit_test(one_character_in_ascii),
      cmocka_unit_test(there_and_back),
      cmocka_unit_test(every_pair_of_utf8_bytes),
      cmocka_unit_test(random_utf8),
      cmocka_unit_test(each_code_point),
      cmocka_unit_test(broken_parts_are_maximal),
      cmocka_unit_test(nothing_is_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
