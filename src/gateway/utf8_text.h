/* UTF-8 in files and in what is said about errors. */
#ifndef ALO_UTF8_TEXT_H
#define ALO_UTF8_TEXT_H

#include <aloft/base.h>

/* How many bytes at the beginning of `text` are whole, well-formed characters other than NUL:
 * `text.size` when all of it is. */
size_t alo_utf8_text_size(aloft_text text);

/* Makes one line of `text` that may stand in a header: control characters and what is not UTF-8
 * become blanks and "?", and what does not fit in `room` is cut off between characters. No blank is
 * at either end, for a header may not have one there. Returns its size. No NUL follows it. */
size_t alo_utf8_text_line(aloft_text text, char *out, size_t room);

#endif
