#include "nats_encoder.h"

#include <string.h>

#include <aloft/json.h>

#include "apart.h"
#include "ascii_run.h" /* the processor's vectors */
#include "utf16.h"

/* One token of a subject, between dots. `last`: no dot follows. */
static bool token_valid(const char *at, size_t size, bool wildcards, bool last) {
  if (size == 0)
    return false;
  if (wildcards && size == 1 && (*at == '*' || (*at == '>' && last)))
    return true;
  for (size_t i = 0; i < size; i++)
    if ((unsigned char)at[i] <= ' ' || at[i] == 0x7f || at[i] == '*' || at[i] == '>')
      return false;
  return true;
}

#if defined(__GNUC__) && defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  #define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))
  #define EIGHT_AT_A_TIME 1
#endif

#ifdef EIGHT_AT_A_TIME
/* `size` below 8 and not 0; the bytes that are missing become 'a'. */
static inline uint64_t load_end(const char *at, size_t size) {
  uint64_t word;
  if (size >= 4) {
    uint32_t first, last;
    memcpy(&first, at, 4);
    memcpy(&last, at + size - 4, 4);
    word = first | (uint64_t)last << (size - 4) * 8;
  } else {
    word = (uint64_t)(uint8_t)at[0] | (uint64_t)(uint8_t)at[size / 2] << size / 2 * 8 |
           (uint64_t)(uint8_t)at[size - 1] << (size - 1) * 8;
  }
  return word | EACH_BYTE('a') << size * 8;
}

/* The bits by which subjects are judged are the high ones of each byte, which ASCII leaves free: no
 * sum below carries into the next byte. */
static inline uint64_t bytes_that_are_not(uint64_t word, unsigned char byte) {
  return (word ^ EACH_BYTE(byte)) + EACH_BYTE(0x7F);
}

/* False: there is an empty token, or a byte that is not plain. `*dot`: 0x80 when the byte before
 * was a dot, or there is none before; otherwise 0. */
static inline bool take_plain(uint64_t word, uint64_t *dot) {
  const uint64_t high = EACH_BYTE(0x80);
  if (word & high)
    return false;
  uint64_t plain = (word + EACH_BYTE(0x7F - ' ')) & ~(word + EACH_BYTE(1)) &
                   bytes_that_are_not(word, '*') & bytes_that_are_not(word, '>');
  uint64_t dots = ~bytes_that_are_not(word, '.') & high;
  uint64_t before = dots << 8 | *dot;
  *dot = dots >> 56;
  return (plain & high) == high && (dots & before) == 0;
}

  #ifdef __SSE2__
    #define BLOCKS 1
/* A bit for each byte that is no part of a plain subject: up to ' ' (from 0x80 on a byte is below
 * zero), '*', '>' and DEL. */
static inline unsigned unfit_bytes(__m128i block) {
  __m128i low = _mm_cmpgt_epi8(_mm_set1_epi8(' ' + 1), block);
  __m128i star = _mm_cmpeq_epi8(block, _mm_set1_epi8('*'));
  __m128i greater = _mm_cmpeq_epi8(block, _mm_set1_epi8('>'));
  __m128i del = _mm_cmpeq_epi8(block, _mm_set1_epi8(0x7F));
  return (unsigned)_mm_movemask_epi8(
      _mm_or_si128(_mm_or_si128(low, star), _mm_or_si128(greater, del)));
}

static inline unsigned dots_of(__m128i block) {
  return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8('.')));
}

enum { FIRST_BYTE = 1, LAST_BYTE = 0x8000 };

/* 1 to 31 bytes, from 8 on as two halves that overlap: each pair of neighbours lies in one. */
static inline bool short_plain(const char *at, size_t size) {
  if (size < 8) {
    const __m128i block = _mm_cvtsi64_si128((long long)load_end(at, size));
    const unsigned dots = dots_of(block);
    return ((unfit_bytes(block) & 0xFF) | (dots & (FIRST_BYTE | 1u << (size - 1))) |
            (dots & dots << 1)) == 0;
  }
  if (size < 16) {
    const __m128i block = _mm_unpacklo_epi64(_mm_loadl_epi64((const void *)at),
                                             _mm_loadl_epi64((const void *)(at + size - 8)));
    const unsigned dots = dots_of(block), second = 0x100; /* no neighbour of the byte before it */
    return (unfit_bytes(block) | (dots & (FIRST_BYTE | LAST_BYTE)) |
            (dots & dots << 1 & ~second)) == 0;
  }
  const __m128i first = _mm_loadu_si128((const void *)at);
  const __m128i last = _mm_loadu_si128((const void *)(at + size - 16));
  const unsigned in_first = dots_of(first), in_last = dots_of(last);
  return (unfit_bytes(first) | unfit_bytes(last) | (in_first & FIRST_BYTE) | (in_last & LAST_BYTE) |
          (in_first & in_first << 1) | (in_last & in_last << 1)) == 0;
}
  #endif

/* ASCII without wildcards: nearly every subject. The others are looked at byte by byte. */
static bool is_plain(aloft_text subject) {
  const char *at = subject.data, *end = subject.data + subject.size;
  uint64_t dot = 0x80;
  for (uint64_t word; end - at >= 8; at += 8) {
    memcpy(&word, at, sizeof word);
    if (!take_plain(word, &dot))
      return false;
  }
  if (at < end && !take_plain(load_end(at, (size_t)(end - at)), &dot))
    return false;
  return end[-1] != '.';
}
#else
static bool is_plain(aloft_text subject) {
  (void)subject;
  return false;
}
#endif

/* Any subject, token by token. */
static ALO_APART bool is_valid(aloft_text subject, bool wildcards) {
  if (alo_utf8_valid(subject.data, subject.size) != subject.size)
    return false;
  const char *at = subject.data, *end = subject.data + subject.size;
  for (;;) {
    const char *dot = memchr(at, '.', (size_t)(end - at));
    if (!token_valid(at, (size_t)((dot ? dot : end) - at), wildcards, dot == NULL))
      return false;
    if (dot == NULL)
      return true;
    at = dot + 1;
  }
}

bool alo_nats_subject_valid(aloft_text subject, bool wildcards) {
  if (subject.size == 0 || subject.size > ALO_NATS_SUBJECT_MAX)
    return false;
#ifdef BLOCKS
  if (subject.size < 32 && short_plain(subject.data, subject.size))
    return true;
#endif
  return is_plain(subject) || is_valid(subject, wildcards);
}

static inline size_t digits_of(uint64_t number) {
  if (number < 100) /* nearly always: no division */
    return number < 10 ? 1 : 2;
  size_t digits = 3;
  for (number /= 1000; number > 0; number /= 10)
    digits++;
  return digits;
}

/* Copies of a size known here become moves: what is short is copied as pieces that overlap. */
static inline uint8_t *put(uint8_t *out, const void *data, size_t size) {
  const uint8_t *from = data;
  if (size > 48) {
    memcpy(out, from, size);
  } else if (size >= 16) {
    if (size > 32)
      memcpy(out + 16, from + 16, 16);
    memcpy(out, from, 16);
    memcpy(out + size - 16, from + size - 16, 16);
  } else if (size >= 8) {
    memcpy(out, from, 8);
    memcpy(out + size - 8, from + size - 8, 8);
  } else if (size >= 4) {
    memcpy(out, from, 4);
    memcpy(out + size - 4, from + size - 4, 4);
  } else if (size > 0) {
    out[0] = from[0];
    out[size / 2] = from[size / 2];
    out[size - 1] = from[size - 1];
  }
  return out + size;
}

static inline uint8_t *put_word(uint8_t *out, aloft_text word) {
  out = put(out, word.data, word.size);
  *out = ' ';
  return out + 1;
}

static ALO_APART uint8_t *put_long_number(uint8_t *out, uint64_t number) {
  uint8_t *end = out + digits_of(number);
  for (uint8_t *at = end; at > out; number /= 10)
    *--at = (uint8_t)('0' + number % 10);
  return end;
}

static inline uint8_t *put_number(uint8_t *out, uint64_t number) {
  if (number >= 100)
    return put_long_number(out, number);
  if (number >= 10)
    *out++ = (uint8_t)('0' + number / 10);
  *out = (uint8_t)('0' + number % 10);
  return out + 1;
}

static inline uint8_t *put_line_end(uint8_t *out) {
  memcpy(out, "\r\n", 2);
  return out + 2;
}

/* A word that may be left out, with the blank after it. */
static inline size_t optional_size(aloft_text word) {
  return word.size > 0 ? word.size + 1 : 0;
}

static inline uint8_t *put_optional(uint8_t *out, aloft_text word) {
  return word.size > 0 ? put_word(out, word) : out;
}

static inline size_t headers_of(const aloft_nats_message *message) {
  return message->header_count > 0 ? alo_nats_headers_size(message->header, message->header_count)
                                   : 0;
}

size_t alo_nats_pub_size(const aloft_nats_message *message) {
  const size_t headers = headers_of(message);
  const size_t total = headers + message->data.size;
  size_t size = sizeof "PUB " - 1 + message->subject.size + 1 + optional_size(message->reply);
  if (headers > 0)
    size += 1 + digits_of(headers) + 1;
  return size + digits_of(total) + 2 + total + 2;
}

void alo_nats_pub_write(const aloft_nats_message *message, uint8_t *out) {
  const size_t headers = headers_of(message);
  if (headers > 0)
    *out++ = 'H';
  out = put_word(put(out, "PUB ", 4), message->subject);
  out = put_optional(out, message->reply);
  if (headers > 0) {
    out = put_number(out, headers);
    *out++ = ' ';
  }
  out = put_line_end(put_number(out, headers + message->data.size));
  if (headers > 0)
    alo_nats_headers_write(message->header, message->header_count, out);
  put_line_end(put(out + headers, message->data.data, message->data.size));
}

uint8_t *alo_nats_plain_pub_write(aloft_text subject, aloft_text reply, aloft_bytes data,
                                  uint8_t *out) {
  memcpy(out, "PUB ", 4);
  out = put_word(out + 4, subject);
  out = put_optional(out, reply);
  out = put_line_end(put_number(out, data.size));
  return put_line_end(put(out, data.data, data.size));
}

size_t alo_nats_sub_size(aloft_text subject, aloft_text queue, uint64_t sid) {
  return sizeof "SUB " - 1 + subject.size + 1 + optional_size(queue) + digits_of(sid) + 2;
}

void alo_nats_sub_write(aloft_text subject, aloft_text queue, uint64_t sid, uint8_t *out) {
  out = put_word(out, ALOFT_TEXT("SUB"));
  out = put_word(out, subject);
  out = put_optional(out, queue);
  put_line_end(put_number(out, sid));
}

size_t alo_nats_unsub_write(uint64_t sid, uint64_t after, uint8_t *out) {
  uint8_t *at = put_number(put_word(out, ALOFT_TEXT("UNSUB")), sid);
  if (after > 0) {
    *at++ = ' ';
    at = put_number(at, after);
  }
  return (size_t)(put_line_end(at) - out);
}

static void write_flag(aloft_json_writer *writer, aloft_text name, bool value) {
  aloft_json_write_name(writer, name);
  aloft_json_write_bool(writer, value);
}

static void write_text(aloft_json_writer *writer, aloft_text name, aloft_text value) {
  if (value.data == NULL)
    return;
  aloft_json_write_name(writer, name);
  aloft_json_write_string(writer, value);
}

/* What each CONNECT line begins with, up to the value of tls_required. */
#define CONNECT_HEAD "CONNECT {\"verbose\":false,\"pedantic\":false,\"tls_required\":"

/* https://docs.nats.io/reference/reference-protocols/nats-protocol#connect */
static size_t write_options(const alo_nats_connect *connect, char *out, size_t room) {
  aloft_json_writer writer;
  aloft_json_writer_init(&writer, out, room);
  aloft_json_write_object(&writer);
  write_flag(&writer, ALOFT_TEXT("verbose"), false);
  write_flag(&writer, ALOFT_TEXT("pedantic"), false);
  write_flag(&writer, ALOFT_TEXT("tls_required"), false);
  write_text(&writer, ALOFT_TEXT("user"), connect->user);
  write_text(&writer, ALOFT_TEXT("pass"), connect->password);
  write_text(&writer, ALOFT_TEXT("auth_token"), connect->token);
  write_text(&writer, ALOFT_TEXT("name"), connect->name);
  write_text(&writer, ALOFT_TEXT("lang"), ALOFT_TEXT("c"));
  write_text(&writer, ALOFT_TEXT("version"), connect->version);
  /* 1: INFO may come again at any time. */
  aloft_json_write_name(&writer, ALOFT_TEXT("protocol"));
  aloft_json_write_int64(&writer, 1);
  write_flag(&writer, ALOFT_TEXT("echo"), !connect->no_echo);
  write_flag(&writer, ALOFT_TEXT("headers"), connect->headers);
  write_flag(&writer, ALOFT_TEXT("no_responders"), connect->headers);
  aloft_json_write_close(&writer);
  return writer.size;
}

size_t alo_nats_connect_write(const alo_nats_connect *connect, uint8_t *out, size_t room) {
  const size_t options = write_options(connect, NULL, 0);
  const size_t size = sizeof "CONNECT " - 1 + options + 2;
  /* Measured first: a buffer too small must not be left with half a password in it. */
  if (size > room)
    return size;
  out = put_word(out, ALOFT_TEXT("CONNECT"));
  write_options(connect, (char *)out, options);
  put_line_end(out + options);
  return size;
}

/* As many bytes as "false". */
void alo_nats_connect_encrypted(uint8_t *line) {
  memcpy(line + sizeof CONNECT_HEAD - 1, " true", 5);
}
