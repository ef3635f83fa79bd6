/* Any bytes as UTF-16LE and as UTF-8. The first two say where the rest is split. */
#include <string.h>

#include "fuzz_check.h"
#include "utf16.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct result {
  char *text;
  size_t size;
  size_t broken;
};

/* Room for all of it, and for what one more part may take by its contract. */
static struct result take_result(size_t size) {
  struct result result = {malloc(2 * ALO_UTF8_ROOM(size)), 0, 0};
  CHECK(result.text);
  return result;
}

static void decode_part(alo_utf16_cut *cut, const uint8_t *in, size_t size, bool end,
                        struct result *result) {
  size_t written =
      alo_utf16_to_utf8(cut, in, size, end, result->text + result->size, &result->broken);
  CHECK(written <= ALO_UTF8_ROOM(size) && cut->size <= 3);
  result->size += written;
}

/* In a first part of `split` bytes and further ones of `step`. */
static struct result decode(const uint8_t *in, size_t size, size_t split, size_t step) {
  struct result result = take_result(size);
  alo_utf16_cut cut = {0};
  decode_part(&cut, in, split, split == size, &result);
  for (size_t at = split; at < size;) {
    size_t part = size - at < step ? size - at : step;
    decode_part(&cut, in + at, part, at + part == size, &result);
    at += part;
  }
  CHECK(cut.size == 0);
  return result;
}

/* In two parts, each from memory and into memory of exactly its size. */
static struct result decode_exact(const uint8_t *in, size_t size, size_t split) {
  struct result result = take_result(size);
  alo_utf16_cut cut = {0};
  for (int second = 0; second < 2; second++) {
    size_t part = second ? size - split : split;
    uint8_t *source = malloc(part + 1);
    struct result room = {malloc(ALO_UTF8_ROOM(part)), 0, 0};
    CHECK(source && room.text);
    /* One byte further on, so that it ends with its memory even when it is empty. */
    memcpy(source + 1, in + (second ? split : 0), part);
    decode_part(&cut, source + 1, part, second, &room);
    memcpy(result.text + result.size, room.text, room.size);
    result.size += room.size;
    result.broken += room.broken;
    free(source);
    free(room.text);
  }
  return result;
}

static void check_same(const struct result *whole, struct result other) {
  CHECK(other.size == whole->size && other.broken == whole->broken);
  CHECK(memcmp(other.text, whole->text, whole->size) == 0);
  free(other.text);
}

static void check_utf16(const uint8_t *in, size_t size, size_t split, size_t step) {
  struct result whole = decode(in, size, size, 1);
  CHECK(alo_utf16_utf8_size(in, size) == whole.size);
  CHECK(alo_utf8_valid(whole.text, whole.size) == whole.size);
  check_same(&whole, decode(in, size, split, step));
  check_same(&whole, decode(in, size, 0, 1));
  check_same(&whole, decode_exact(in, size, split));
  if (whole.broken == 0) {
    uint8_t *back = malloc(2 * whole.size + 1);
    CHECK(back && alo_utf8_to_utf16(whole.text, whole.size, back) == size);
    CHECK(memcmp(back, in, size) == 0);
    free(back);
  }
  free(whole.text);
}

static void check_utf8(const char *in, size_t size) {
  size_t valid = alo_utf8_valid(in, size);
  size_t count = alo_utf8_utf16_count(in, size);
  CHECK((valid == size) == (count != SIZE_MAX));
  uint8_t *units = malloc(2 * size + 1);
  CHECK(units);
  if (valid < size)
    CHECK(alo_utf8_to_utf16(in, size, units) == SIZE_MAX);
  size_t written = alo_utf8_to_utf16(in, valid, units);
  CHECK(written == 2 * alo_utf8_utf16_count(in, valid) && written <= 2 * size);
  struct result back = decode(units, written, written, 1);
  CHECK(back.broken == 0 && back.size == valid && memcmp(back.text, in, valid) == 0);
  free(back.text);
  free(units);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2)
    return 0;
  const uint8_t *in = data + 2;
  size -= 2;
  check_utf16(in, size, size ? data[0] % (size + 1) : 0, 1 + data[1] % 37u);
  check_utf8((const char *)in, size);
  return 0;
}
