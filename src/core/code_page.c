#include "code_page.h"

#include "utf16.h"

enum { REPLACEMENT = 0xFFFD };

typedef struct output {
  char *next;
  size_t *broken;
} output;

static void put(output *out, uint16_t code) {
  if (code >= ALO_CODE_LEAD) {
    code = REPLACEMENT;
    if (out->broken) {
      (*out->broken)++;
    }
  }
  out->next += alo_utf8_put(code, out->next);
}

/* The byte after a lead. False: it is none of its pairs, and stands for itself. */
static bool put_pair(const alo_code_page *page, uint8_t lead, uint8_t trail, output *out) {
  uint16_t code = page->pairs[lead] ? page->pairs[lead][trail] : ALO_CODE_UNDEFINED;
  put(out, code);
  return code != ALO_CODE_UNDEFINED || trail >= 0x80;
}

size_t alo_code_page_to_utf8(const alo_code_page *page, uint8_t *lead, const uint8_t *in,
                             size_t size, bool end, char *out, size_t *broken) {
  output made = {out, broken};
  uint8_t held = *lead;
  for (size_t at = 0; at < size; at++) {
    uint8_t byte = in[at];
    if (held) {
      bool taken = put_pair(page, held, byte, &made);
      held = 0;
      if (taken) {
        continue;
      }
    }
    if (byte < 0x80) {
      *made.next++ = (char)byte;
    } else if (page->single[byte] == ALO_CODE_LEAD) {
      held = byte;
    } else {
      put(&made, page->single[byte]);
    }
  }
  if (held && end) {
    put(&made, ALO_CODE_UNDEFINED);
    held = 0;
  }
  *lead = held;
  return (size_t)(made.next - out);
}

unsigned alo_code_page_put(const alo_code_page *page, uint32_t character, uint8_t out[2]) {
  if (character < 0x80) {
    out[0] = (uint8_t)character;
    return 1;
  }
  const uint16_t *row = character <= 0xFFFF ? page->back[character >> 8] : NULL;
  uint16_t code = row ? row[character & 0xFF] : 0;
  if (code > 0xFF) {
    out[0] = (uint8_t)(code >> 8);
    out[1] = (uint8_t)code;
    return 2;
  }
  out[0] = (uint8_t)code;
  return code ? 1 : 0;
}
