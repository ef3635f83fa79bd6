/* Legacy code pages: the tables that iconv makes, decoding cut anywhere, encoding. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code_pages.h"
#include "harness_heap.h"
#include "tds_value.h"
#include "utf16.h"

enum { TEXT_MAX = 256 };

static alo_page_store store;

static const alo_code_page *page_of(uint16_t number) {
  const alo_code_page *page = NULL;
  assert_int_equal(store.pages.find(store.pages.context, number, &page), ALOFT_OK);
  assert_int_equal(page->number, number);
  return page;
}

/* In pieces of `piece` bytes; says how many U+FFFD there are. */
static size_t decode_in(const alo_code_page *page, const char *bytes, size_t size, size_t piece,
                        char *out, size_t *broken) {
  uint8_t lead = 0;
  size_t written = 0;
  for (size_t at = 0; at < size; at += piece) {
    size_t part = size - at < piece ? size - at : piece;
    written += alo_code_page_to_utf8(page, &lead, (const uint8_t *)bytes + at, part, false,
                                     out + written, broken);
  }
  written += alo_code_page_to_utf8(page, &lead, NULL, 0, true, out + written, broken);
  assert_int_equal(lead, 0);
  return written;
}

/* The same whatever the pieces, within the room. */
static void decodes(uint16_t number, const char *bytes, const char *expected, size_t broken) {
  size_t size = strlen(bytes);
  for (size_t piece = 1; piece <= size; piece++) {
    char *out = malloc(ALO_CODE_PAGE_ROOM(size));
    size_t found = 0;
    assert_non_null(out);
    size_t got = decode_in(page_of(number), bytes, size, piece, out, &found);
    assert_int_equal(got, strlen(expected));
    assert_memory_equal(out, expected, got);
    assert_int_equal(found, broken);
    free(out);
  }
}

static void test_single(void **state) {
  (void)state;
  decodes(437, "\x80\xE1\xFF", "Çß\xC2\xA0", 0);
  decodes(850, "\x80\xE1\xD5", "Çßı", 0);
  decodes(874, "\xA1\x80\xFB", "ก€๛", 0);
  decodes(1250, "\x8A\x9E\xB3", "Šžł", 0);
  decodes(1251, "\xCF\xF0\xE8", "При", 0);
  decodes(1252, "\x80\x81\xFF", "€\xC2\x81ÿ", 0);
  decodes(1253, "\xC1\xE9", "Αι", 0);
  decodes(1254, "\xDD\xFD", "İı", 0);
  decodes(1255, "\xE0\xC8", "אָ", 0);
  decodes(1256, "\xC7\x8D", "اچ", 0);
  decodes(1257, "\xC0\xFE", "Ąž", 0);
  decodes(1258, "\xD2\xEC\xFE", "\xCC\x89\xCC\x81₫", 0);
}

/* A letter and the accent after it stay two characters, as on Windows. */
static void test_accents(void **state) {
  (void)state;
  decodes(1258, "a\xEC", "a\xCC\x81", 0);
  decodes(1255, "\xE9\xC4", "\xD7\x99\xD6\xB4", 0);
}

static void test_double(void **state) {
  (void)state;
  decodes(932, "a\x83\x65\x83\x58\x83\x67\xB1", "aテストｱ", 0);
  decodes(932, "\\~\x81\x5F", "\\~＼", 0);
  decodes(936, "\x80\xC4\xE3\xBA\xC3", "€你好", 0);
  decodes(949, "\xC7\xD1\xB1\xDB\x81\x41", "한글갂", 0);
  decodes(950, "\xA7\x41\xA6\x6E", "你好", 0);
}

static void test_undefined(void **state) {
  (void)state;
  decodes(1253, "a\xFF", "a\xEF\xBF\xBD", 1);
  decodes(932, "\x83", "\xEF\xBF\xBD", 1);
  decodes(932, "\x83\"x", "\xEF\xBF\xBD\"x", 1);         /* the quote is not swallowed */
  decodes(932, "\x81\xFF\x83\x65", "\xEF\xBF\xBDテ", 1); /* the trail is */
  decodes(936, "\xFFz", "\xEF\xBF\xBDz", 1);
  decodes(932, "\x80", "\xC2\x80", 0);
}

static void encodes(uint16_t number, uint32_t character, unsigned count, unsigned bytes) {
  uint8_t out[2] = {0, 0};
  assert_int_equal(alo_code_page_put(page_of(number), character, out), count);
  if (count)
    assert_int_equal(count == 2 ? out[0] << 8 | out[1] : out[0], bytes);
}

static void test_encode(void **state) {
  (void)state;
  encodes(1251, 'z', 1, 'z');
  encodes(1251, 0x41F, 1, 0xCF);
  encodes(1251, 0xE9, 0, 0);
  encodes(1251, 0x1F600, 0, 0);
  encodes(1252, 0x81, 1, 0x81);
  encodes(932, 0x30C6, 2, 0x8365);
  encodes(932, 0xFFE2, 2, 0x81CA); /* also EEF9 and FA54 */
  encodes(932, 0x2170, 2, 0xFA40); /* also EEEF */
  encodes(932, 0xFF71, 1, 0xB1);
  encodes(936, 0x20AC, 1, 0x80);
  encodes(950, 0x5341, 2, 0xA451); /* also A2CC */
}

/* Every character that a page has comes back as itself. */
static void test_round_trip(void **state) {
  (void)state;
  static const uint16_t numbers[] = {437,  850,  874,  932,  936,  949,  950,  1250,
                                     1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258};
  for (size_t at = 0; at < sizeof numbers / sizeof *numbers; at++) {
    const alo_code_page *page = page_of(numbers[at]);
    unsigned found = 0;
    for (uint32_t character = 1; character < 0xFFFE; character++) {
      uint8_t bytes[2];
      char text[ALO_CODE_PAGE_ROOM(2)], expected[4];
      uint8_t lead = 0;
      unsigned size = alo_code_page_put(page, character, bytes);
      if (!size)
        continue;
      found++;
      size_t got = alo_code_page_to_utf8(page, &lead, bytes, size, true, text, NULL);
      assert_int_equal(got, alo_utf8_put(character, expected));
      assert_memory_equal(text, expected, got);
    }
    assert_true(found >= (page->wide ? 9000u : 220u));
  }
}

/* The path of its own that Windows-1252 has says the same as the table that iconv makes. */
static void test_1252_is_the_same(void **state) {
  (void)state;
  const alo_code_page *page = page_of(1252);
  for (unsigned byte = 0; byte < 256; byte++) {
    const uint8_t in = (uint8_t)byte;
    char own[ALO_CODE_PAGE_ROOM(1)], made[ALO_CODE_PAGE_ROOM(1)];
    uint8_t lead = 0;
    size_t size = alo_tds_1252_to_utf8(&in, 1, own);
    assert_int_equal(alo_code_page_to_utf8(page, &lead, &in, 1, true, made, NULL), size);
    assert_memory_equal(made, own, size);
  }
  for (uint32_t character = 0; character < 0x11000; character++) {
    uint8_t out[2] = {'?'};
    (void)alo_code_page_put(page, character, out);
    assert_int_equal(out[0] ? out[0] : '?', character ? alo_tds_1252_of(character) : '?');
  }
}

static void test_unknown(void **state) {
  (void)state;
  const alo_code_page *page = NULL;
  assert_int_equal(store.pages.find(store.pages.context, 1259, &page), ALOFT_UNSUPPORTED);
  assert_null(page);
}

static void find_one(const aloft_allocator *allocator, void *context) {
  alo_page_store own;
  const alo_code_page *page = NULL;
  (void)context;
  alo_page_store_init(&own, allocator);
  aloft_status status = own.pages.find(own.pages.context, 950, &page);
  assert_true(page ? status == ALOFT_OK : status == ALOFT_NO_MEMORY);
  status = own.pages.find(own.pages.context, 950, &page); /* a later try may have more */
  assert_true(status == ALOFT_OK || status == ALOFT_NO_MEMORY);
  alo_page_store_fini(&own);
}

static void test_no_memory(void **state) {
  (void)state;
  harness_each_allocation(find_one, NULL);
}

static int open_store(void **state) {
  (void)state;
  alo_page_store_init(&store, &alo_heap_default);
  return 0;
}

static int close_store(void **state) {
  (void)state;
  alo_page_store_fini(&store);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_single),           cmocka_unit_test(test_accents),
      cmocka_unit_test(test_double),           cmocka_unit_test(test_undefined),
      cmocka_unit_test(test_encode),           cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_1252_is_the_same), cmocka_unit_test(test_unknown),
      cmocka_unit_test(test_no_memory)};
  return cmocka_run_group_tests(tests, open_store, close_store);
}
