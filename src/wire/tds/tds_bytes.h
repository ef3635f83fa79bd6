/* A cursor over bytes of a peer: takes fixed pieces off the front, or refuses. */
#ifndef ALO_TDS_BYTES_H
#define ALO_TDS_BYTES_H

#include <aloft/base.h>

static inline const uint8_t *alo_tds_bytes_at(aloft_bytes in) {
  return in.data;
}

/* False, and nothing moves, when fewer than `size` bytes are left. */
static inline bool alo_tds_take(aloft_bytes *in, size_t size, aloft_bytes *piece) {
  if (size > in->size) {
    return false;
  }
  *piece = (aloft_bytes){in->data, size};
  in->data = size > 0 ? alo_tds_bytes_at(*in) + size : in->data;
  in->size -= size;
  return true;
}

static inline uint64_t alo_tds_little(const uint8_t *bytes, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i > 0; i--) {
    value = value << 8 | bytes[i - 1];
  }
  return value;
}

/* Little-endian numbers. */
static inline bool alo_tds_take_number(aloft_bytes *in, size_t size, uint64_t *value) {
  aloft_bytes piece;
  if (!alo_tds_take(in, size, &piece)) {
    return false;
  }
  *value = alo_tds_little(piece.data, size);
  return true;
}

static inline bool alo_tds_take_u8(aloft_bytes *in, uint8_t *value) {
  uint64_t number = 0;
  bool taken = alo_tds_take_number(in, 1, &number);
  *value = (uint8_t)number;
  return taken;
}

static inline bool alo_tds_take_u16(aloft_bytes *in, uint16_t *value) {
  uint64_t number = 0;
  bool taken = alo_tds_take_number(in, 2, &number);
  *value = (uint16_t)number;
  return taken;
}

static inline bool alo_tds_take_u32(aloft_bytes *in, uint32_t *value) {
  uint64_t number = 0;
  bool taken = alo_tds_take_number(in, 4, &number);
  *value = (uint32_t)number;
  return taken;
}

static inline bool alo_tds_take_u64(aloft_bytes *in, uint64_t *value) {
  *value = 0;
  return alo_tds_take_number(in, 8, value);
}

#endif
