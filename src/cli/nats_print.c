#include "nats_print.h"

void alo_nats_print_headers(alo_output *output, const aloft_nats_message *message) {
  aloft_nats_header header;
  size_t cursor = 0;
  bool some = false;
  while (aloft_nats_header_next(message, &cursor, &header)) {
    alo_output_put(output, header.name);
    alo_output_put(output, ALOFT_TEXT(": "));
    alo_output_put(output, header.value);
    alo_output_put(output, ALOFT_TEXT("\n"));
    some = true;
  }
  if (some)
    alo_output_put(output, ALOFT_TEXT("\n"));
}

void alo_nats_print_body(alo_output *output, const aloft_nats_message *message) {
  alo_output_put(output, (aloft_text){message->data.data, message->data.size});
  alo_output_put(output, ALOFT_TEXT("\n"));
}
