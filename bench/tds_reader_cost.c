/* What reading the fortunes answer costs: parsing its 1,413 bytes and decoding every cell to UTF-8
 * text, COUNT times (default 1,000). For `valgrind --tool=callgrind`: the difference of two counts
 * divided by theirs is the cost of one answer. Prints rows, bytes and heap calls after the first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "tds_reader.h"
#include "utf16.h"

static const char *const fortunes[] = {
    "fortune: No such file or directory",
    "A computer scientist is someone who fixes things that aren't broken.",
    "After enough decimal places, nobody gives a damn.",
    "A bad random number generator: 1, 1, 1, 1, 1, 4.33e+67, 1, 1, 1",
    "A computer program does what you tell it to do, not what you want it to do.",
    "Emacs is a nice operating system, but I prefer UNIX. \xE2\x80\x94 Tom Christaensen",
    "Any program that runs right is obsolete.",
    "A list is only as strong as its weakest link. \xE2\x80\x94 Donald Knuth",
    "Feature: A bug with seniority.",
    "Computers make very fast, very accurate mistakes.",
    "<script>alert(\"This should not be displayed in a browser alert box.\");</script>",
    ("\xE3\x83\x95\xE3\x83\xAC\xE3\x83\xBC\xE3\x83\xA0\xE3\x83\xAF\xE3\x83\xBC\xE3\x82\xAF\xE3\x81"
     "\xAE"
     "\xE3\x83\x99\xE3\x83\xB3\xE3\x83\x81\xE3\x83\x9E\xE3\x83\xBC\xE3\x82\xAF")};

enum { FORTUNES = sizeof fortunes / sizeof *fortunes, ANSWER_MAX = 4096 };

typedef struct answer {
  uint8_t bytes[ANSWER_MAX];
  size_t size;
} answer;

static void put(answer *out, const void *data, size_t size) {
  memcpy(out->bytes + out->size, data, size);
  out->size += size;
}

static void put_text(answer *out, const char *text) {
  uint8_t units[512];
  size_t size = alo_utf8_to_utf16(text, strlen(text), units);
  put(out, (const uint8_t[2]){(uint8_t)size, (uint8_t)(size >> 8)}, 2);
  put(out, units, size);
}

/* id int NOT NULL, message nvarchar(2048) NOT NULL */
static const uint8_t columns[] = {0x81, 2,    0,   0,   0,    0,   0,    0,   0,   0x38, 2,
                                  'i',  0,    'd', 0,   0,    0,   0,    0,   0,   0,    0xE7,
                                  0x00, 0x10, 9,   4,   0xD0, 0,   0x34, 7,   'm', 0,    'e',
                                  0,    's',  0,   's', 0,    'a', 0,    'g', 0,   'e',  0};

static void make(answer *out) {
  put(out, (const uint8_t[8]){ALO_TDS_REPLY, ALO_TDS_STATUS_EOM, 0, 0, 0, 0, 1, 0}, 8);
  put(out, columns, sizeof columns);
  for (unsigned row = 0; row < FORTUNES; row++) {
    put(out, (const uint8_t[5]){0xD1, (uint8_t)(row + 1), 0, 0, 0}, 5);
    put_text(out, fortunes[row]);
  }
  put(out, (const uint8_t[13]){0xFD, 0x10, 0, 0xC1, 0, FORTUNES}, 13);
  out->bytes[2] = (uint8_t)(out->size >> 8);
  out->bytes[3] = (uint8_t)out->size;
}

/* Returns the bytes of text; reads one whole answer. */
static size_t read_answer(alo_tds_reader *reader, const answer *stream, size_t *rows) {
  aloft_bytes input = {stream->bytes, stream->size};
  size_t text = 0;
  for (;;) {
    switch (alo_tds_reader_next(reader, &input)) {
    case ALO_TDS_ROW_READY:
      for (size_t column = 0; column < 2; column++) {
        char out[4096];
        size_t size = 0;
        const alo_tds_cell *cell = alo_tds_reader_cell(reader, column);
        const alo_tds_type *type = &alo_tds_reader_column(reader, column)->type;
        if (alo_tds_value_text(type, cell->data, cell->size, out, &size)) {
          exit(1);
        }
        text += size;
      }
      ++*rows;
      break;
    case ALO_TDS_END:
      return text;
    case ALO_TDS_NEED:
    case ALO_TDS_BROKEN:
      exit(1);
    default:
      break;
    }
  }
}

static size_t heap_calls;

static void *counted_allocate(void *context, size_t size) {
  heap_calls++;
  return alo_heap_default.allocate(context, size);
}

static void *counted_resize(void *context, void *memory, size_t old_size, size_t size) {
  heap_calls++;
  return alo_heap_default.resize(context, memory, old_size, size);
}

int main(int argc, char **argv) {
  aloft_allocator heap = alo_heap_default;
  heap.allocate = counted_allocate;
  heap.resize = counted_resize;
  unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
  answer stream = {.size = 0};
  make(&stream);
  alo_tds_reader *reader = alo_tds_reader_open(&heap, NULL);
  if (!reader) {
    return 1;
  }
  size_t rows = 0;
  size_t text = read_answer(reader, &stream, &rows);
  size_t warm = heap_calls;
  for (unsigned long at = 0; at < count; at++) {
    text += read_answer(reader, &stream, &rows);
  }
  printf("%zu rows, %zu bytes of text, %zu bytes an answer, %zu heap calls after the first\n", rows,
         text, stream.size, heap_calls - warm);
  alo_tds_reader_close(reader);
  return 0;
}
