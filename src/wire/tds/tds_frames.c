/* The deframer: a stream of TDS packets in, payload slices out (MS-TDS 2.2.3.1). */
#include "tds_packet.h"

#include <string.h>

/* Bytes of the header that the input adds to what is held; true when it is whole. */
static bool gather_header(alo_tds_frames *frames, aloft_bytes *input) {
  size_t wanted = (size_t)ALO_TDS_HEADER_SIZE - frames->header_size;
  size_t size = input->size < wanted ? input->size : wanted;
  if (size) {
    memcpy(frames->header + frames->header_size, input->data, size);
    input->data = (const uint8_t *)input->data + size;
    input->size -= size;
    frames->offset += size;
  }
  frames->header_size = (uint8_t)(frames->header_size + size);
  return frames->header_size == ALO_TDS_HEADER_SIZE;
}

static bool read_header(alo_tds_frames *frames, const uint8_t *header) {
  uint32_t length = (uint32_t)(header[2] << 8 | header[3]);
  if (length < ALO_TDS_HEADER_SIZE) {
    frames->broken = "a packet length below the header's 8 bytes";
    return false;
  }
  if (length > ALO_TDS_PACKET_MAX) {
    frames->broken = "a packet length above 32,767 bytes";
    return false;
  }
  frames->type = header[0];
  frames->status = header[1];
  frames->spid = (uint16_t)(header[4] << 8 | header[5]);
  frames->left = length - ALO_TDS_HEADER_SIZE;
  frames->header_size = 0;
  frames->inside = true;
  return true;
}

/* The header of the next packet, or NULL: the input ends in it. Most come in one piece. */
static const uint8_t *next_header(alo_tds_frames *frames, aloft_bytes *input) {
  const uint8_t *header = input->data;
  if (frames->header_size || input->size < ALO_TDS_HEADER_SIZE) {
    return gather_header(frames, input) ? frames->header : NULL;
  }
  input->data = header + ALO_TDS_HEADER_SIZE;
  input->size -= ALO_TDS_HEADER_SIZE;
  frames->offset += ALO_TDS_HEADER_SIZE;
  return header;
}

alo_tds_frame alo_tds_frames_peek_header(alo_tds_frames *frames, aloft_bytes *input,
                                         aloft_bytes *payload) {
  for (;;) {
    if (frames->broken) {
      return ALO_TDS_FRAME_BROKEN;
    }
    if (!frames->inside) {
      const uint8_t *header = next_header(frames, input);
      if (!header) {
        return ALO_TDS_FRAME_NEED;
      }
      if (!read_header(frames, header)) {
        return ALO_TDS_FRAME_BROKEN;
      }
    }
    if (frames->left) {
      payload->data = input->data;
      payload->size = input->size < frames->left ? input->size : frames->left;
      return input->size ? ALO_TDS_FRAME_PAYLOAD : ALO_TDS_FRAME_NEED;
    }
    frames->inside = false;
    if (frames->status & ALO_TDS_STATUS_EOM) {
      return ALO_TDS_FRAME_END;
    }
  }
}

alo_tds_frame alo_tds_frames_next(alo_tds_frames *frames, aloft_bytes *input,
                                  aloft_bytes *payload) {
  alo_tds_frame frame = alo_tds_frames_peek(frames, input, payload);
  if (frame == ALO_TDS_FRAME_PAYLOAD) {
    alo_tds_frames_take(frames, input, payload->size);
  }
  return frame;
}
