/* The canonical text of the types that are not character types. */
#ifndef ALO_TDS_PLAIN_TEXT_H
#define ALO_TDS_PLAIN_TEXT_H

#include "tds_value.h"

/* As alo_tds_value_text; binary data in hexadecimal. Not for sql_variant. */
const char *alo_tds_plain_text(const alo_tds_type *type, const uint8_t *data, size_t size,
                               char *out, size_t *text_size);

/* In decimal; returns the bytes written, at most 20. */
static inline size_t alo_tds_integer_text(int64_t value, char *out) {
  size_t sign = value < 0;
  uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
  size_t count = 1;
  for (uint64_t more = rest; more >= 10; more /= 10) {
    count++;
  }
  out[0] = '-';
  for (size_t at = sign + count; at > sign; rest /= 10) {
    out[--at] = (char)('0' + rest % 10);
  }
  return sign + count;
}

#endif
