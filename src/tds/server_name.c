#include "server_name.h"

#include <string.h>

#include "ascii_words.h"

enum { HOST_MAX = 255 };

static bool take_prefix(aloft_text *text, const char *prefix) {
  size_t size = strlen(prefix);
  if (text->size < size || !alo_same_word((aloft_text){text->data, size}, prefix, size)) {
    return false;
  }
  *text = alo_trim((aloft_text){text->data + size, text->size - size});
  return true;
}

static size_t count_of(aloft_text text, char c) {
  size_t count = 0;
  for (size_t i = 0; i < text.size; i++) {
    count += text.data[i] == c ? 1 : 0;
  }
  return count;
}

/* Cuts ",port" off; false when what follows the comma is not a port. */
static bool take_port(aloft_text *server, uint16_t *port) {
  uint32_t number;
  const char *comma = memchr(server->data, ',', server->size);
  if (!comma) {
    return true;
  }
  size_t before = (size_t)(comma - server->data);
  aloft_text digits = alo_trim((aloft_text){comma + 1, server->size - before - 1});
  *server = alo_trim((aloft_text){server->data, before});
  if (!alo_number_of(digits, &number) || number == 0 || number > UINT16_MAX) {
    return false;
  }
  *port = (uint16_t)number;
  return true;
}

/* Why the text is no host that Aloft can dial; NULL when it may be one. */
static const char *host_problem(aloft_text host) {
  if (host.size == 0) {
    return "there is no host name";
  }
  if (host.size > HOST_MAX) {
    return "the host name is over 255 bytes";
  }
  if (memchr(host.data, '\\', host.size)) {
    return "named instances are not supported: give the instance's port, as host,port";
  }
  if (memchr(host.data, '{', host.size)) {
    return "braces quote values in ODBC strings only: use ' or \", or nothing";
  }
  if (count_of(host, ':') == 1) {
    return "the port follows a comma, as host,port";
  }
  for (size_t i = 0; i < host.size; i++) {
    if (alo_is_blank(host.data[i]) || alo_is_control(host.data[i]) ||
        strchr("/'\"()[]=;", host.data[i])) {
      return "this is not a host name";
    }
  }
  return NULL;
}

static aloft_text without_brackets(aloft_text host) {
  bool bracketed = host.size > 2 && host.data[0] == '[' && host.data[host.size - 1] == ']';
  return bracketed ? (aloft_text){host.data + 1, host.size - 2} : host;
}

const char *alo_server_name_parse(aloft_text text, aloft_text *host, uint16_t *port) {
  aloft_text server = alo_trim(text);
  if (take_prefix(&server, "np:") || take_prefix(&server, "\\\\")) {
    return "named pipes are not supported: use tcp:host,port";
  }
  if (take_prefix(&server, "lpc:")) {
    return "shared memory is not supported: use tcp:host,port";
  }
  if (take_prefix(&server, "admin:")) {
    return "the dedicated administrator connection is not found by name: use its port, as "
           "tcp:host,port";
  }
  (void)take_prefix(&server, "tcp:");
  *port = ALO_SERVER_PORT;
  if (!take_port(&server, port)) {
    return "after the comma there is no port from 1 to 65535";
  }
  server = without_brackets(server);
  *host = alo_one_of(server, ".|(local)") ? ALOFT_TEXT("localhost") : server;
  return host_problem(*host);
}
