/* TDS packets (MS-TDS 2.2.3.1): headers, taking messages apart and putting them together. */
#ifndef ALO_TDS_PACKET_H
#define ALO_TDS_PACKET_H

#include "buffer.h"
#include "code_page.h"

enum {
  ALO_TDS_SQL_BATCH = 1,
  ALO_TDS_RPC = 3,
  ALO_TDS_REPLY = 4, /* tabular result */
  ALO_TDS_ATTENTION = 6,
  ALO_TDS_BULK = 7,
  ALO_TDS_FEDAUTH = 8,
  ALO_TDS_TRANSACTION = 14,
  ALO_TDS_LOGIN7 = 16,
  ALO_TDS_SSPI = 17,
  ALO_TDS_PRELOGIN = 18
};

enum {
  ALO_TDS_STATUS_EOM = 0x01,
  ALO_TDS_STATUS_IGNORE = 0x02,
  ALO_TDS_STATUS_RESET = 0x08,          /* RESETCONNECTION */
  ALO_TDS_STATUS_RESET_SKIP_TRAN = 0x10 /* RESETCONNECTIONSKIPTRAN */
};

enum {
  ALO_TDS_HEADER_SIZE = 8,
  ALO_TDS_PACKET_MIN = 512,
  ALO_TDS_PACKET_MAX = 32767,
  ALO_TDS_PACKET_DEFAULT = 4096
};

/* Takes a stream of packets apart: payload slices out. Zero is fresh. */
typedef struct alo_tds_frames {
  uint8_t header[ALO_TDS_HEADER_SIZE];
  uint8_t header_size;  /* bytes of the header held */
  uint8_t type, status; /* of the packet being read */
  uint16_t spid;
  uint32_t left;   /* payload bytes of this packet still to come */
  bool inside;     /* a packet has begun and its payload is not over */
  uint64_t offset; /* in the stream */
  const char *broken;
} alo_tds_frames;

typedef enum alo_tds_frame {
  ALO_TDS_FRAME_NEED,    /* the input is used up */
  ALO_TDS_FRAME_PAYLOAD, /* `*payload` is a slice of the input, not empty */
  ALO_TDS_FRAME_END,     /* the message is over: its EOM packet has been read whole */
  ALO_TDS_FRAME_BROKEN   /* header length below 8 or above the maximum: frames->broken */
} alo_tds_frame;

/* `*input` is moved forward over what was read. */
alo_tds_frame alo_tds_frames_next(alo_tds_frames *frames, aloft_bytes *input, aloft_bytes *payload);

/* The same in two steps, for who may stop inside a slice: peek leaves the payload in the input,
 * take moves over `size` bytes of it. */
alo_tds_frame alo_tds_frames_peek_header(alo_tds_frames *frames, aloft_bytes *input,
                                         aloft_bytes *payload);
static inline alo_tds_frame alo_tds_frames_peek(alo_tds_frames *frames, aloft_bytes *input,
                                                aloft_bytes *payload) {
  if (!frames->left || !input->size) {
    return alo_tds_frames_peek_header(frames, input, payload);
  }
  payload->data = input->data;
  payload->size = input->size < frames->left ? input->size : frames->left;
  return ALO_TDS_FRAME_PAYLOAD;
}
/* The payload of the message's last packet has been taken: a peek says END, whatever has come. */
static inline bool alo_tds_frames_at_end(const alo_tds_frames *frames) {
  return !frames->left && (frames->status & ALO_TDS_STATUS_EOM);
}
static inline void alo_tds_frames_take(alo_tds_frames *frames, aloft_bytes *input, size_t size) {
  frames->left -= (uint32_t)size;
  frames->offset += size;
  input->data = (const uint8_t *)input->data + size;
  input->size -= size;
}

/* Puts messages together in a buffer, cut into packets of at most `packet_size` bytes, header
 * included. A put may be cut anywhere, inside a number too. The first error sticks until the next
 * begin: ALOFT_FULL or ALOFT_NO_MEMORY from the buffer, ALOFT_ARGUMENT, ALOFT_UNSUPPORTED or
 * ALOFT_TOO_LARGE from a put that was given what TDS cannot carry; later puts do nothing and end
 * removes the whole message. Packet ids begin at 1 in each message and wrap. */
typedef struct alo_tds_writer {
  alo_buffer *out;
  uint32_t packet_size;
  uint8_t type;
  uint8_t packet_id;
  uint8_t status; /* of the first packet, besides EOM: e.g. RESETCONNECTION */
  bool inside;    /* between begin and end */
  uint16_t spid;
  aloft_status failed;
  size_t message_at;           /* of this message, as bytes from out->begin */
  size_t packet_at;            /* of the packet being filled, as bytes from out->begin */
  const alo_code_pages *pages; /* set after init, by who has them: for text of values */
  bool bare;                   /* the next value is one in a sql_variant: without a length */
} alo_tds_writer;

/* `packet_size` is 9 or more; it may be changed between messages, as ENVCHANGE says. */
void alo_tds_writer_init(alo_tds_writer *writer, alo_buffer *out, uint32_t packet_size);
/* A message that is begun and ended at once is one packet of 8 bytes: ATTENTION, or, with
 * ALO_TDS_STATUS_IGNORE, the end of a message whose last packets will not be sent. */
void alo_tds_message_begin(alo_tds_writer *writer, uint8_t type, uint8_t status);
void alo_tds_put(alo_tds_writer *writer, const void *data, size_t size);
void alo_tds_put_u8(alo_tds_writer *writer, uint8_t value);
void alo_tds_put_u16(alo_tds_writer *writer, uint16_t value); /* little endian, as all below */
void alo_tds_put_u32(alo_tds_writer *writer, uint32_t value);
void alo_tds_put_u64(alo_tds_writer *writer, uint64_t value);
/* UTF-8 as UTF-16LE without a length. Ill-formed text fails the writer with ALOFT_ARGUMENT. */
void alo_tds_put_utf16(alo_tds_writer *writer, aloft_text text);
/* With a count of UTF-16 units before it: one byte (B_VARCHAR) or two (US_VARCHAR). Too long:
 * ALOFT_ARGUMENT. */
void alo_tds_put_b_varchar(alo_tds_writer *writer, aloft_text text);
void alo_tds_put_us_varchar(alo_tds_writer *writer, aloft_text text);
/* For a put that finds its argument wrong: the first error is kept. */
void alo_tds_writer_fail(alo_tds_writer *writer, aloft_status status);
/* ALOFT_OK, or the first error: the message is then gone from the buffer, all of it that had not
 * been taken. */
aloft_status alo_tds_message_end(alo_tds_writer *writer);

/* For a server that sends while it writes: bytes from out->begin on that are whole packets and may
 * leave before message_end. The caller takes any number up to that from the buffer and tells the
 * writer at once, so that its offsets follow. Once part of a message has left, a failed one cannot
 * be taken back: the connection is to be closed. */
size_t alo_tds_writer_whole(const alo_tds_writer *writer);
void alo_tds_writer_taken(alo_tds_writer *writer, size_t size);

#endif
