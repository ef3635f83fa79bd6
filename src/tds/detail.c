/* Errors with memory for their texts, which stays for reuse. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tds_connection.h"

enum { DETAIL_MAX = 1 << 20, FORMAT_MAX = 512 };

void alo_tds_detail_init(alo_tds_detail *detail, const aloft_allocator *heap) {
  alo_buffer_init(&detail->text, heap, DETAIL_MAX);
}

void alo_tds_detail_fini(alo_tds_detail *detail) {
  alo_buffer_fini(&detail->text);
}

aloft_error alo_tds_error_of(const alo_tds_message *message) {
  return (aloft_error){.status = alo_tds_is_error(message) ? ALOFT_SERVER : ALOFT_OK,
                       .number = message->number,
                       .line = message->line,
                       .state = message->state,
                       .severity = message->severity,
                       .message = message->text,
                       .server = message->server,
                       .procedure = message->procedure};
}

/* The copy of a text for which there is room. */
static aloft_text keep(alo_buffer *buffer, aloft_text text) {
  if (!text.data)
    return text;
  char *at = (char *)buffer->data + buffer->end;
  if (text.size)
    memcpy(at, text.data, text.size);
  buffer->end += text.size;
  return (aloft_text){at, text.size};
}

void alo_tds_detail_message(alo_tds_detail *detail, const alo_tds_message *message) {
  aloft_error *error = &detail->error;
  *error = alo_tds_error_of(message);
  detail->text.begin = detail->text.end = 0;
  size_t size = message->text.size + message->server.size + message->procedure.size;
  if (alo_buffer_reserve(&detail->text, size + 1) != ALOFT_OK) {
    error->message = aloft_status_error(error->status)->message;
    error->server = error->procedure = (aloft_text){NULL, 0};
    return;
  }
  error->message = keep(&detail->text, message->text);
  error->server = keep(&detail->text, message->server);
  error->procedure = keep(&detail->text, message->procedure);
}

void alo_tds_detail_format(alo_tds_detail *detail, aloft_status status, const char *format, ...) {
  char text[FORMAT_MAX];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  detail->error = *aloft_status_error(status);
  detail->text.begin = detail->text.end = 0;
  if (size < 0 || alo_buffer_reserve(&detail->text, sizeof text) != ALOFT_OK)
    return;
  aloft_text whole = {text, (size_t)size < sizeof text ? (size_t)size : sizeof text - 1};
  detail->error.message = keep(&detail->text, whole);
}
