/* The same server's bytes cut in every way: a reader must say the same. */
#ifndef ALO_TEST_TDS_CUTS_H
#define ALO_TEST_TDS_CUTS_H

#include "tds_transcript.h"

/* Reads the stream in a first piece and further ones of `piece` bytes. */
void tds_cuts_read(tds_transcript *got, aloft_bytes stream, size_t first, size_t piece);

/* Fails the test when the transcript in pieces of 1, 2, 3 and 7, at any split into two, and in
 * packets of any payload size from 1 to 64 is not that of the whole. */
void tds_cuts_check(const char *name, aloft_bytes stream, const tds_transcript *whole);

/* The same messages in packets of `payload` bytes; free the data. */
aloft_bytes tds_cuts_reframe(aloft_bytes stream, size_t payload);

#endif
