/* Whether bytes are UTF-8 text, and how long it is. */
#ifndef ALO_UTF8_CHECK_H
#define ALO_UTF8_CHECK_H

#include <aloft/base.h>

/* False also for text with a NUL in it. */
bool alo_utf8_is_valid(aloft_text text);

/* How many characters (code points) valid text has. */
size_t alo_utf8_count(aloft_text text);

#endif
