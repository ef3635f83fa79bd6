#include "nats_body.h"

#include <string.h>
#include <unistd.h>

#include "report.h"

alo_exit alo_nats_body_read(alo_nats_body *body, const char *argument, bool standard_input) {
  *body = (alo_nats_body){0};
  if (argument != NULL && standard_input)
    return alo_report_usage("--force-stdin and a body are given: leave one of them out");
  if (argument != NULL)
    body->bytes = (aloft_bytes){argument, strlen(argument)};
  if (!standard_input)
    return ALO_EXIT_OK;
  if (isatty(STDIN_FILENO))
    alo_note("Reading the body from standard input; end it with Ctrl-D");
  alo_exit code = alo_input_read_standard(&body->input);
  body->bytes = (aloft_bytes){body->input.data, body->input.size};
  return code;
}
