/* Character data: case folding, the collation, code page 1252, UTF-16 lengths, LIKE.
 * Everything is UTF-8 inside; bytes that are not well-formed count as U+FFFD. */
#ifndef ALO_TSQL_TEXT_H
#define ALO_TSQL_TEXT_H

#include <aloft/base.h>

/* The character at `*at`, which moves behind it. `*at` < text.size. */
uint32_t alo_text_next(aloft_text text, size_t *at);
/* Writes 1 to 4 bytes. */
size_t alo_text_put(char *out, uint32_t character);

uint32_t alo_text_lower(uint32_t character);
uint32_t alo_text_upper(uint32_t character);

/* Like SQL_Latin1_General_CP1_CI_AS: case does not count, accents do, trailing blanks do not. */
int alo_text_compare(aloft_text a, aloft_text b);
/* Identifiers: equal but for case. */
bool alo_text_same_name(aloft_text a, aloft_text b);

/* Length in UTF-16 units. */
size_t alo_text_units(aloft_text text);
/* Bytes of the first `units` UTF-16 units; a surrogate pair is not cut: it is left out. */
size_t alo_text_prefix(aloft_text text, size_t units);
/* Trailing blanks taken off. */
aloft_text alo_text_trimmed(aloft_text text);

/* True when every character is in code page 1252. */
bool alo_text_is_narrow(aloft_text text);
/* Copies, with '?' for each UTF-16 unit that code page 1252 has not. Returns the size, at most
 * text.size. */
size_t alo_text_to_narrow(aloft_text text, char *out);
/* The byte of code page 1252, or -1; and back. */
int alo_text_to_1252(uint32_t character);
uint32_t alo_text_from_1252(uint8_t byte);

/* T-SQL's LIKE. `escape` 0: none. */
bool alo_text_like(aloft_text text, aloft_text pattern, uint32_t escape);

/* Where `what` begins in `text` from character offset bytes `from` on, ignoring case, in bytes;
 * SIZE_MAX when it does not. `*size`: bytes that matched. */
size_t alo_text_find(aloft_text text, aloft_text what, size_t from, size_t *size);

#endif
