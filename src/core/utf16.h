/* UTF-16LE, as TDS has it, to UTF-8 and back. Incremental: input may stop anywhere. */
#ifndef ALO_UTF16_H
#define ALO_UTF16_H

#include <aloft/base.h>

/* What a cut left behind: at most 3 bytes, an odd byte and/or a high surrogate. Zero is fresh. */
typedef struct alo_utf16_cut {
  uint8_t bytes[3];
  uint8_t size;
} alo_utf16_cut;

/* Most UTF-8 bytes that `size` bytes of UTF-16 can become, the cut and its end included. */
#define ALO_UTF8_ROOM(size) ((size) / 2 * 3 + 6)

/* Decodes `size` bytes that follow what `cut` holds, into `out` (room for ALO_UTF8_ROOM(size)).
 * Returns the bytes written. An unpaired surrogate becomes U+FFFD and is added to `*broken`
 * (may be NULL). `end`: no more will follow, so that a held cut becomes one U+FFFD too, and `cut`
 * is fresh again. */
size_t alo_utf16_to_utf8(alo_utf16_cut *cut, const uint8_t *in, size_t size, bool end, char *out,
                         size_t *broken);

/* The exact UTF-8 size of one complete UTF-16LE text: what alo_utf16_to_utf8 makes of it. */
size_t alo_utf16_utf8_size(const uint8_t *in, size_t size);

/* Encodes UTF-8 as UTF-16LE into `out` (room for 2 * size bytes). Returns the bytes written, or
 * SIZE_MAX when the text is not well-formed UTF-8 (RFC 3629). */
size_t alo_utf8_to_utf16(const char *in, size_t size, uint8_t *out);

/* UTF-16 code units that the text will have; SIZE_MAX when it is not well-formed UTF-8. */
size_t alo_utf8_utf16_count(const char *in, size_t size);

/* Bytes of the well-formed UTF-8 at the beginning of `in`: `size` when all of it is. */
size_t alo_utf8_valid(const char *in, size_t size);

/* Not a code point: what alo_utf8_next finds where the text is not well-formed. */
#define ALO_UTF8_BROKEN UINT32_MAX

/* The code point at the beginning of `in` (`size` at least 1), or ALO_UTF8_BROKEN. Returns the
 * bytes it takes, 1 to 4; of what is broken, the bytes that one U+FFFD replaces (Unicode 3.9,
 * "maximal subpart"). */
size_t alo_utf8_next(const char *in, size_t size, uint32_t *code);

/* Writes a code point that is no surrogate as UTF-8. Returns its bytes, 1 to 4. */
size_t alo_utf8_put(uint32_t code, char out[4]);

#endif
