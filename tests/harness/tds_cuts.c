#include "tds_cuts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "heap.h"

enum { PAYLOAD_MAX = 64 };

void tds_cuts_read(tds_transcript *got, aloft_bytes stream, size_t first, size_t piece) {
  alo_tds_reader *reader = alo_tds_reader_open(&alo_heap_default, NULL);
  assert_non_null(reader);
  alo_tds_reader_use_pages(reader, got->pages);
  alo_tds_reader_pieces(reader, got->in_pieces);
  tds_transcript_clear(got);
  size_t size = first;
  for (size_t at = 0; at < stream.size; at += size, size = piece) {
    size = size < stream.size - at ? size : stream.size - at;
    if (!tds_transcript_feed(got, reader, (const uint8_t *)stream.data + at, size)) {
      break;
    }
  }
  assert_true(alo_tds_reader_counters(reader).large_made <= 1);
  alo_tds_reader_close(reader);
}

static void same(const char *name, const char *how, size_t number, const tds_transcript *got,
                 const tds_transcript *whole) {
  if (strcmp(got->text, whole->text) != 0) {
    fail_msg("%s, %s %zu: got\n%swhole\n%s", name, how, number, got->text, whole->text);
  }
}

/* ---- other packets ---- */

typedef struct packets {
  uint8_t *data;
  size_t size;
  uint8_t *packet; /* being filled; NULL: none */
  size_t payload;
} packets;

static size_t packet_length(const packets *made) {
  return (size_t)(made->packet[2] << 8 | made->packet[3]);
}

static void add_byte(packets *made, uint8_t byte) {
  if (!made->packet || packet_length(made) == made->payload + ALO_TDS_HEADER_SIZE) {
    made->packet = made->data + made->size;
    memcpy(made->packet, (const uint8_t[8]){ALO_TDS_REPLY, 0, 0, ALO_TDS_HEADER_SIZE}, 8);
    made->size += ALO_TDS_HEADER_SIZE;
  }
  size_t length = packet_length(made) + 1;
  made->packet[2] = (uint8_t)(length >> 8);
  made->packet[3] = (uint8_t)length;
  made->data[made->size++] = byte;
}

aloft_bytes tds_cuts_reframe(aloft_bytes stream, size_t payload) {
  packets made = {malloc(stream.size * 9 + 64), 0, NULL, payload};
  alo_tds_frames frames = {0};
  aloft_bytes slice;
  alo_tds_frame frame;
  assert_non_null(made.data);
  while ((frame = alo_tds_frames_next(&frames, &stream, &slice)) != ALO_TDS_FRAME_NEED) {
    assert_int_not_equal(frame, ALO_TDS_FRAME_BROKEN);
    if (frame == ALO_TDS_FRAME_END) {
      assert_non_null(made.packet);
      made.packet[1] = ALO_TDS_STATUS_EOM;
      made.packet = NULL;
      continue;
    }
    for (size_t at = 0; at < slice.size; at++) {
      add_byte(&made, ((const uint8_t *)slice.data)[at]);
    }
  }
  return (aloft_bytes){made.data, made.size};
}

/* Offsets in errors differ when packets do; answers do not. So streams that break are not checked
 * this way. */
static void check_reframed(const char *name, aloft_bytes stream, const tds_transcript *whole) {
  for (size_t payload = 1; payload <= PAYLOAD_MAX; payload++) {
    aloft_bytes made = tds_cuts_reframe(stream, payload);
    tds_transcript got;
    tds_transcript_init(&got, made.size);
    got.pages = whole->pages;
    for (int pieces = 0; pieces < 2; pieces++) {
      got.in_pieces = pieces;
      tds_cuts_read(&got, made, made.size, made.size);
      same(name, "in packets of", payload, &got, whole);
      if (payload < 4) {
        tds_cuts_read(&got, made, 1, 1);
        same(name, "byte by byte in packets of", payload, &got, whole);
      }
    }
    tds_transcript_fini(&got);
    free((void *)(uintptr_t)made.data);
  }
}

void tds_cuts_check(const char *name, aloft_bytes stream, const tds_transcript *whole) {
  static const size_t pieces[] = {1, 2, 3, 7};
  tds_transcript got;
  tds_transcript_init(&got, stream.size);
  got.pages = whole->pages;
  for (int in_pieces = 0; in_pieces < 2; in_pieces++) {
    got.in_pieces = in_pieces;
    for (size_t at = 0; at < sizeof pieces / sizeof *pieces; at++) {
      tds_cuts_read(&got, stream, pieces[at], pieces[at]);
      same(name, "in pieces of", pieces[at], &got, whole);
    }
    for (size_t split = 1; split < stream.size; split++) {
      tds_cuts_read(&got, stream, split, stream.size);
      same(name, "split at", split, &got, whole);
    }
  }
  tds_transcript_fini(&got);
  if (!whole->broken) {
    check_reframed(name, stream, whole);
  }
}
