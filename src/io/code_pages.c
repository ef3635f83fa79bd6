#include "code_pages.h"

#include <errno.h>
#include <iconv.h>
#include <stdio.h>

typedef uint16_t row[256];

struct alo_made_page {
  alo_code_page page;
  row *pairs, *back;
  size_t pairs_size, back_size; /* in bytes */
};

static const uint16_t numbers[ALO_CODE_PAGES] = {437,  850,  874,  932,  936,  949,  950,  1250,
                                                 1251, 1252, 1253, 1254, 1255, 1256, 1257, 1258};

/* ---- what iconv says ---- */

typedef struct converters {
  iconv_t from, to; /* the page to UTF-16LE and back */
} converters;

static const iconv_t none = (iconv_t)-1; /* NOLINT(performance-no-int-to-ptr): as POSIX has it */

static void close_converters(const converters *conversion) {
  if (conversion->from != none)
    iconv_close(conversion->from);
  if (conversion->to != none)
    iconv_close(conversion->to);
}

static bool open_converters(converters *conversion, uint16_t number) {
  char name[16];
  snprintf(name, sizeof name, "CP%u", (unsigned)number);
  conversion->from = iconv_open("UTF-16LE", name);
  conversion->to = iconv_open(name, "UTF-16LE");
  if (conversion->from != none && conversion->to != none)
    return true;
  close_converters(conversion);
  return false;
}

/* Some pages (1255, 1258) hold a character back for an accent that may follow: the second call lets
 * go of it. */
static uint16_t decode(const converters *conversion, const uint8_t *bytes, size_t size) {
  char copy[2] = {(char)bytes[0], (char)bytes[size - 1]};
  uint8_t units[8];
  char *in = copy, *out = (char *)units;
  size_t in_left = size, out_left = sizeof units;
  iconv(conversion->from, NULL, NULL, NULL, NULL);
  errno = 0;
  if (iconv(conversion->from, &in, &in_left, &out, &out_left) == (size_t)-1)
    return errno == EINVAL && size == 1 ? ALO_CODE_LEAD : ALO_CODE_UNDEFINED;
  iconv(conversion->from, NULL, NULL, &out, &out_left);
  uint16_t code = (uint16_t)(units[0] | units[1] << 8);
  return out_left == sizeof units - 2 && code < ALO_CODE_LEAD ? code : ALO_CODE_UNDEFINED;
}

/* As alo_code_page has it in `back`. */
static uint16_t encode(const converters *conversion, uint16_t character) {
  char units[2] = {(char)(character & 0xFF), (char)(character >> 8)};
  uint8_t bytes[8];
  char *in = units, *out = (char *)bytes;
  size_t in_left = sizeof units, out_left = sizeof bytes;
  iconv(conversion->to, NULL, NULL, NULL, NULL);
  if (iconv(conversion->to, &in, &in_left, &out, &out_left) != 0)
    return 0;
  return out_left == sizeof bytes - 1   ? bytes[0]
         : out_left == sizeof bytes - 2 ? (uint16_t)(bytes[0] << 8 | bytes[1])
                                        : 0;
}

/* ---- bytes to characters ---- */

/* Where iconv sees a hole among the control characters, Windows has the control character. */
static bool is_control(const alo_code_page *page, unsigned byte) {
  if (page->wide)
    return byte == 0x80 || (page->number == 932 && byte == 0xA0);
  return byte >= 0x80 && byte < 0xA0;
}

static size_t fill_single(alo_code_page *page, const converters *conversion) {
  size_t leads = 0;
  for (unsigned byte = 0; byte < 256; byte++) {
    uint8_t in = (uint8_t)byte;
    page->single[byte] = byte < 0x80 ? (uint16_t)byte : decode(conversion, &in, 1);
    leads += page->single[byte] == ALO_CODE_LEAD;
  }
  page->wide = leads > 0;
  for (unsigned byte = 0x80; byte < 256; byte++)
    if (page->single[byte] == ALO_CODE_UNDEFINED && is_control(page, byte))
      page->single[byte] = (uint16_t)byte;
  return leads;
}

static void fill_pairs(alo_made_page *made, const converters *conversion) {
  row *next = made->pairs;
  for (unsigned lead = 0x80; lead < 256; lead++) {
    if (made->page.single[lead] != ALO_CODE_LEAD)
      continue;
    for (unsigned trail = 0; trail < 256; trail++) {
      const uint8_t bytes[2] = {(uint8_t)lead, (uint8_t)trail};
      (*next)[trail] = decode(conversion, bytes, 2);
    }
    made->page.pairs[lead] = *next++;
  }
}

/* ---- characters to bytes ---- */

static void each_character(const alo_code_page *page, void *context,
                           void (*tell)(void *context, uint16_t character, uint16_t bytes)) {
  for (unsigned byte = 0x80; byte < 256; byte++) {
    const uint16_t *pairs = page->pairs[byte];
    if (page->single[byte] < ALO_CODE_LEAD)
      tell(context, page->single[byte], (uint16_t)byte);
    for (unsigned trail = 0; pairs && trail < 256; trail++)
      if (pairs[trail] < ALO_CODE_LEAD)
        tell(context, pairs[trail], (uint16_t)(byte << 8 | trail));
  }
}

typedef struct back_rows {
  const converters *conversion;
  bool needed[256];
  row *rows[256];
} back_rows;

static void note_row(void *context, uint16_t character, uint16_t bytes) {
  back_rows *back = context;
  (void)bytes;
  back->needed[character >> 8] = true;
}

/* Of several ways to write a character iconv knows the usual one. */
static void note_bytes(void *context, uint16_t character, uint16_t bytes) {
  back_rows *back = context;
  uint16_t *place = &(*back->rows[character >> 8])[character & 0xFF];
  uint16_t usual = *place ? encode(back->conversion, character) : bytes;
  if (character >= 0x80 && usual)
    *place = usual;
}

static bool fill_back(alo_made_page *made, const converters *conversion,
                      const aloft_allocator *heap) {
  back_rows back = {.conversion = conversion};
  size_t count = 0;
  each_character(&made->page, &back, note_row);
  for (unsigned high = 0; high < 256; high++)
    count += back.needed[high];
  made->back = alo_heap_take(heap, count * sizeof(row));
  if (!made->back)
    return false;
  made->back_size = count * sizeof(row);
  row *next = made->back;
  for (unsigned high = 0; high < 256; high++)
    if (back.needed[high])
      made->page.back[high] = *(back.rows[high] = next++);
  each_character(&made->page, &back, note_bytes);
  return true;
}

/* ---- pages ---- */

static void give_page(const aloft_allocator *heap, alo_made_page *made) {
  if (!made)
    return;
  alo_heap_give(heap, made->pairs, made->pairs_size);
  alo_heap_give(heap, made->back, made->back_size);
  alo_heap_give(heap, made, sizeof *made);
}

static bool fill(alo_made_page *made, const converters *conversion, const aloft_allocator *heap) {
  size_t size = fill_single(&made->page, conversion) * sizeof(row);
  if (size) {
    made->pairs = alo_heap_take(heap, size);
    if (!made->pairs)
      return false;
    made->pairs_size = size;
    fill_pairs(made, conversion);
  }
  return fill_back(made, conversion, heap);
}

static alo_made_page *make(const aloft_allocator *heap, uint16_t number,
                           const converters *conversion) {
  alo_made_page *made = alo_heap_take(heap, sizeof *made);
  if (!made)
    return NULL;
  made->page.number = number;
  if (fill(made, conversion, heap))
    return made;
  give_page(heap, made);
  return NULL;
}

static aloft_status make_at(alo_page_store *store, size_t at) {
  converters conversion;
  if (store->missing[at] || !open_converters(&conversion, numbers[at])) {
    store->missing[at] = true;
    return ALOFT_UNSUPPORTED;
  }
  store->made[at] = make(store->heap, numbers[at], &conversion);
  close_converters(&conversion);
  return store->made[at] ? ALOFT_OK : ALOFT_NO_MEMORY;
}

static aloft_status find(void *context, uint16_t number, const alo_code_page **page) {
  alo_page_store *store = context;
  for (size_t at = 0; at < ALO_CODE_PAGES; at++) {
    if (numbers[at] != number)
      continue;
    aloft_status status = store->made[at] ? ALOFT_OK : make_at(store, at);
    if (status == ALOFT_OK)
      *page = &store->made[at]->page;
    return status;
  }
  return ALOFT_UNSUPPORTED;
}

void alo_page_store_init(alo_page_store *store, const aloft_allocator *heap) {
  *store = (alo_page_store){.heap = heap, .pages = {find, store}};
}

void alo_page_store_fini(alo_page_store *store) {
  for (size_t at = 0; at < ALO_CODE_PAGES; at++)
    give_page(store->heap, store->made[at]);
}
