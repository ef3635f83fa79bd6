/* Any bytes as a NATS URL: the parts lie within it, in order, and its user can be decoded. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_check.h"
#include "nats_url.h"

static void check_part(aloft_text url, aloft_text part) {
  if (part.data == NULL)
    return;
  CHECK(part.data >= url.data && part.data + part.size <= url.data + url.size);
  char *out = malloc(part.size + 1);
  CHECK(out != NULL);
  CHECK(alo_nats_url_decode(part, out) <= part.size);
  free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const aloft_text url = {(const char *)data, size};
  alo_nats_url parts;
  const char *wrong = alo_nats_url_parse(url, &parts);
  if (wrong != NULL) {
    CHECK(*wrong != '\0');
    return 0;
  }
  CHECK(parts.port > 0 && parts.host.size > 0);
  CHECK(parts.token.data == NULL || parts.user.data == NULL);
  CHECK((parts.user.data == NULL) == (parts.password.data == NULL));
  CHECK(parts.user.data == NULL || parts.user.size > 0);
  check_part(url, parts.user);
  check_part(url, parts.password);
  check_part(url, parts.token);
  check_part(url, parts.host);
  return 0;
}
