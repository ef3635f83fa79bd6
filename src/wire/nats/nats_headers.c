#include "nats_headers.h"

#include <string.h>

static const char version[] = "NATS/1.0";
enum { VERSION_SIZE = sizeof version - 1, STATUS_SIZE = 3 };

static bool is_blank(char byte) {
  return byte == ' ' || byte == '\t';
}

static bool is_digit(char byte) {
  return byte >= '0' && byte <= '9';
}

/* What follows the version on its line: nothing, or a status of three digits and perhaps a text. */
static bool read_status(const char *at, const char *end, int32_t *status) {
  if (at == end)
    return true;
  if (!is_blank(*at))
    return false;
  while (at < end && is_blank(*at))
    at++;
  if (at == end)
    return true;
  int32_t sum = 0;
  for (size_t i = 0; i < STATUS_SIZE; i++) {
    if (at == end || !is_digit(*at))
      return false;
    sum = sum * 10 + (*at++ - '0');
  }
  if (at < end && !is_blank(*at))
    return false;
  *status = sum;
  return true;
}

bool alo_nats_headers_status(aloft_text block, int32_t *status) {
  *status = 0;
  if (block.size < VERSION_SIZE + 4 || memcmp(block.data, version, VERSION_SIZE) != 0 ||
      memcmp(block.data + block.size - 4, "\r\n\r\n", 4) != 0)
    return false;
  const char *end = memchr(block.data, '\n', block.size);
  return end[-1] == '\r' && read_status(block.data + VERSION_SIZE, end - 1, status);
}

/* The line at the cursor, without its end; moves the cursor past it. False: no more. */
static bool next_line(aloft_text block, size_t *cursor, aloft_text *line) {
  if (*cursor >= block.size)
    return false;
  const char *at = block.data + *cursor;
  const char *end = memchr(at, '\n', block.size - *cursor);
  if (end == NULL)
    return false;
  *cursor = (size_t)(end - block.data) + 1;
  if (end > at && end[-1] == '\r')
    end--;
  *line = (aloft_text){at, (size_t)(end - at)};
  return true;
}

static aloft_text trim(const char *at, const char *end) {
  while (at < end && is_blank(*at))
    at++;
  while (end > at && is_blank(end[-1]))
    end--;
  return (aloft_text){at, (size_t)(end - at)};
}

static bool is_name(const char *at, size_t size) {
  for (size_t i = 0; i < size; i++)
    if ((unsigned char)at[i] <= ' ' || at[i] == 0x7f)
      return false;
  return size > 0;
}

bool alo_nats_headers_next(aloft_text block, size_t *cursor, aloft_nats_header *header) {
  aloft_text line;
  int32_t status;
  if (*cursor == 0 &&
      (!alo_nats_headers_status(block, &status) || !next_line(block, cursor, &line)))
    return false;
  while (next_line(block, cursor, &line)) {
    if (line.size == 0) {
      *cursor = block.size;
      return false;
    }
    const char *colon = memchr(line.data, ':', line.size);
    if (colon == NULL || !is_name(line.data, (size_t)(colon - line.data)))
      continue;
    header->name = (aloft_text){line.data, (size_t)(colon - line.data)};
    header->value = trim(colon + 1, line.data + line.size);
    return true;
  }
  return false;
}

/* RFC 7230, 3.2.6: tchar. */
static bool is_token_byte(char byte) {
  return is_digit(byte) || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
         (byte != '\0' && strchr("!#$%&'*+-.^_`|~", byte) != NULL);
}

bool alo_nats_header_valid(const aloft_nats_header *header) {
  const aloft_text name = header->name, value = header->value;
  if (name.size == 0)
    return false;
  for (size_t i = 0; i < name.size; i++)
    if (!is_token_byte(name.data[i]))
      return false;
  for (size_t i = 0; i < value.size; i++)
    if (value.data[i] == '\r' || value.data[i] == '\n' || value.data[i] == '\0')
      return false;
  return value.size == 0 || (!is_blank(value.data[0]) && !is_blank(value.data[value.size - 1]));
}

size_t alo_nats_headers_size(const aloft_nats_header *header, size_t count) {
  if (count == 0)
    return 0;
  size_t size = VERSION_SIZE + 4;
  for (size_t i = 0; i < count; i++)
    size += header[i].name.size + header[i].value.size + 4;
  return size;
}

static uint8_t *put(uint8_t *out, const void *data, size_t size) {
  if (size > 0)
    memcpy(out, data, size);
  return out + size;
}

void alo_nats_headers_write(const aloft_nats_header *header, size_t count, uint8_t *out) {
  if (count == 0)
    return;
  out = put(out, version, VERSION_SIZE);
  out = put(out, "\r\n", 2);
  for (size_t i = 0; i < count; i++) {
    out = put(out, header[i].name.data, header[i].name.size);
    out = put(out, ": ", 2);
    out = put(out, header[i].value.data, header[i].value.size);
    out = put(out, "\r\n", 2);
  }
  put(out, "\r\n", 2);
}
