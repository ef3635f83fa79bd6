/* A legacy code page as tables: bytes to Unicode and back. The tables are made by who can ask the
 * system (src/io); here they are read. Bytes below 0x80 are ASCII in every page. */
#ifndef ALO_CODE_PAGE_H
#define ALO_CODE_PAGE_H

#include <aloft/status.h>

enum {
  ALO_CODE_UNDEFINED = 0xFFFF, /* no page has this character */
  ALO_CODE_LEAD = 0xFFFE       /* the first byte of two */
};

/* All characters are of the first plane. `back` holds what a character is encoded as: one byte, or
 * two with the first in the high half; 0: the page lacks it (or it is U+0000). */
typedef struct alo_code_page {
  uint16_t number; /* 932, 1251... */
  bool wide;       /* has characters of two bytes */
  uint16_t single[256];
  const uint16_t *pairs[256]; /* by lead byte: 256 trail bytes; NULL where it is none */
  const uint16_t *back[256];  /* by the character's high byte: 256 low bytes; NULL: none */
} alo_code_page;

/* Where pages come from. find: ALOFT_OK; ALOFT_UNSUPPORTED: the system lacks the page, or nobody
 * knows it; ALOFT_NO_MEMORY. A page is valid as long as the source is. */
typedef struct alo_code_pages {
  aloft_status (*find)(void *context, uint16_t number, const alo_code_page **page);
  void *context;
} alo_code_pages;

/* Most UTF-8 bytes that `size` bytes can become, with what a cut left behind. */
#define ALO_CODE_PAGE_ROOM(size) ((size)*3 + 3)

/* Decodes `size` bytes of a text that may be cut anywhere; `lead` is what a cut left behind, 0 at
 * first. Returns the bytes written to `out`. What the page does not define becomes U+FFFD and is
 * added to `*broken` (may be NULL); an ASCII byte is never taken for a trail that there is not.
 * `end`: no more will follow, so that a held lead becomes one U+FFFD too. */
size_t alo_code_page_to_utf8(const alo_code_page *page, uint8_t *lead, const uint8_t *in,
                             size_t size, bool end, char *out, size_t *broken);

/* Encodes a character: the bytes written, 1 or 2; 0: the page lacks it. */
unsigned alo_code_page_put(const alo_code_page *page, uint32_t character, uint8_t out[2]);

#endif
