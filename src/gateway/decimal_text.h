/* Exact decimals from text. */
#ifndef ALO_DECIMAL_TEXT_H
#define ALO_DECIMAL_TEXT_H

#include <aloft/tds.h>

/* Reads the whole of `text`: a sign or none, digits with at most one point among them, an exponent
 * or none. `decimal` has `precision` (1 to 38) and `scale` set, which stay. Returns NULL, or what
 * is wrong, to be read after a name. */
const char *alo_decimal_read(aloft_text text, aloft_tds_decimal *decimal);

#endif
