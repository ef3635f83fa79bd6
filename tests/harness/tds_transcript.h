/* What a TDS reader says of a stream, as lines of text: equal transcripts mean equal answers. */
#ifndef ALO_TEST_TDS_TRANSCRIPT_H
#define ALO_TEST_TDS_TRANSCRIPT_H

#include "guard.h"
#include "tds_characters.h"
#include "tds_reader.h"

/* A NUL in a text stands as "<0>". Lines: "columns NAME TYPE|..." (with " udt=..." and " table=..."
 * where there is one), "told NAME FLAGS table=... base=...|..." before the first event that finds
 * more told, "row VALUE|..." (NULL as
 * "<null>", over the limit "<over>"), "done TOKEN STATUS COMMAND ROWS", "error|info NUMBER SEVERITY
 * STATE LINE TEXT|SERVER|PROCEDURE", "env TYPE ...", "login ...", "status N", "value NAME
 * TYPE|VALUE", "feature ID DATA", "end", "broken OFFSET REASON". */
typedef struct tds_transcript {
  char *text; /* ends with NUL */
  size_t size, room;
  guard_buffer input; /* pieces are read from its end, where memory ends */
  uint64_t rows, ends;
  bool broken;
  uint32_t told;               /* of the reader's columns so far */
  const alo_code_pages *pages; /* for text; NULL: none */
  bool
      in_pieces; /* large values are read in pieces and put together here: the lines are the same */
  bool reading;  /* a large value */
  struct tds_gathered *gathered; /* of each column, as far as it was in pieces */
  size_t gathered_count;
} tds_transcript;

/* `piece_max`: the largest piece that will be fed. */
void tds_transcript_init(tds_transcript *transcript, size_t piece_max);
void tds_transcript_fini(tds_transcript *transcript);
void tds_transcript_clear(tds_transcript *transcript);

/* Feeds a copy of one piece and writes down every event until it is used up. The copy is destroyed
 * after that, so that a view that was kept too long shows. False once the reader is broken. */
bool tds_transcript_feed(tds_transcript *transcript, alo_tds_reader *reader, const void *data,
                         size_t size);

/* Adds text as it is; one line, as printf. */
void tds_transcript_add(tds_transcript *transcript, const char *text, size_t size);
void tds_transcript_line(tds_transcript *transcript, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

#endif
