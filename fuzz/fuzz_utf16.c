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

/* Decodes one part, from memory and into memory of exactly its size. */
static void decode_part(alo_utf16_cut *cut, const uint8_t *in, size_t size, bool end,
                        struct result *result) {
  uint8_t *source = malloc(size ? size : 1);
  char *room = malloc(ALO_UTF8_ROOM(size));
  CHECK(source && room);
  if (size)
    memcpy(source, in, size);
  size_t written = alo_utf16_to_utf8(cut, source, size, end, room, &result->broken);
  CHECK(written <= ALO_UTF8_ROOM(size) && cut->size <= 3);
  memcpy(result->text + result->size, room, written);
  result->size += written;
  free(source);
  free(room);
}

/* In parts of `step` bytes after a first one of `split`. */
static struct result decode(const uint8_t *in, size_t size, size_t split, size_t step) {
  struct result result = {malloc(ALO_UTF8_ROOM(size) + 8), 0, 0};
  CHECK(result.text);
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
