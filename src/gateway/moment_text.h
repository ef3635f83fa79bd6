/* Dates and times from text in the form of ISO 8601. */
#ifndef ALO_MOMENT_TEXT_H
#define ALO_MOMENT_TEXT_H

#include <aloft/tds.h>

/* Reads the whole of `text` for DATE ("2024-02-29"), TIME ("13:45", "13:45:06.25"), DATETIME2
 * (both, with "T" or one blank between them) or DATETIMEOFFSET (followed by "Z" or, after one blank
 * or none, "+05:30"). At most `scale` digits of the second, zeros at the end aside. Years 1 to
 * 9999, offsets to 14:00. Returns NULL, or what is wrong, to be read after a name. */
const char *alo_moment_read(aloft_text text, aloft_tds_type type, uint8_t scale,
                            aloft_tds_moment *moment);

#endif
