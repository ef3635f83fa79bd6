/* Character data of any charset to UTF-8, in pieces that are cut anywhere. */
#ifndef ALO_TDS_CHARACTERS_H
#define ALO_TDS_CHARACTERS_H

#include "code_page.h"
#include "tds_type.h"
#include "utf16.h"

/* What a charset is decoded with. For ALO_TDS_CHARSET_OTHER `page` NULL means that nobody has it:
 * bytes beyond ASCII are then broken. */
typedef struct alo_tds_characters {
  alo_tds_charset charset;
  const alo_code_page *page;
} alo_tds_characters;

/* What a cut left behind. Zero is fresh. */
typedef struct alo_tds_cut {
  alo_utf16_cut units; /* of UTF-8 its bytes, at most 3 */
  uint8_t lead;
} alo_tds_cut;

/* Room that `size` bytes can need, with what a cut left behind. */
size_t alo_tds_characters_room(alo_tds_charset charset, size_t size);

/* Decodes `size` bytes that follow what `cut` holds. Returns the bytes written to `out`: whole
 * characters, U+FFFD for what is broken, which is added to `*broken` (may be NULL). `end`: no more
 * will follow; a cut that is held then is broken, and `cut` fresh again. */
size_t alo_tds_characters_decode(const alo_tds_characters *characters, alo_tds_cut *cut,
                                 const uint8_t *in, size_t size, bool end, char *out,
                                 size_t *broken);

/* Which they are for a type. ALOFT_OK, also when nobody has the page; ALOFT_NO_MEMORY. `pages` may
 * be NULL: there are none. */
aloft_status alo_tds_characters_of(const alo_tds_type *type, const alo_code_pages *pages,
                                   alo_tds_characters *characters);

#endif
