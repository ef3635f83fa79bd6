#include "nats_header.h"

#include <string.h>

#include "report.h"

static bool is_name(const char *text, size_t size) {
  for (size_t i = 0; i < size; i++) {
    unsigned char c = (unsigned char)text[i];
    if (c <= ' ' || c >= 0x7f)
      return false;
  }
  return size > 0;
}

static aloft_text trim(const char *text) {
  while (*text == ' ' || *text == '\t')
    text++;
  size_t size = strlen(text);
  while (size > 0 && (text[size - 1] == ' ' || text[size - 1] == '\t'))
    size--;
  return (aloft_text){text, size};
}

alo_exit alo_nats_headers_read(alo_nats_headers *headers, const alo_option_list *list) {
  for (size_t i = 0; i < list->count; i++) {
    const char *item = list->items[i];
    const char *colon = strchr(item, ':');
    if (colon == NULL || !is_name(item, (size_t)(colon - item)))
      return alo_report_usage("--header wants NAME:VALUE, not '%s'", item);
    if (strpbrk(colon, "\r\n") != NULL)
      return alo_report_usage("--header %.*s: its value holds a line break; leave that out",
                              (int)(colon - item), item);
    headers->header[headers->count++] =
        (aloft_nats_header){{item, (size_t)(colon - item)}, trim(colon + 1)};
  }
  return ALO_EXIT_OK;
}
