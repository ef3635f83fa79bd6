#include "responder.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { INPUT_ROOM = 1 << 18, OUTPUT_LEAST = 1 << 24, SILENCE_MS = 200, WORD_MAX = 128 };

typedef struct peer {
  int socket;
  uint32_t round, waiting; /* requests in a round; taken and not yet answered */
  size_t in_size, out_size, out_room;
  char sid[WORD_MAX]; /* of the one subscription */
  char *out;
  char in[INPUT_ROOM + 1];
} peer;

static bool put(peer *self, const void *data, size_t size) {
  if (size > self->out_room - self->out_size)
    return false;
  memcpy(self->out + self->out_size, data, size);
  self->out_size += size;
  return true;
}

static bool send_all(peer *self) {
  size_t at = 0;
  while (at < self->out_size) {
    ssize_t sent = send(self->socket, self->out + at, self->out_size - at, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR)
      continue;
    if (sent < 0)
      return false;
    at += (size_t)sent;
  }
  self->out_size = 0;
  self->waiting = 0;
  return true;
}

/* ---- what the client says ---- */

/* The words of a line, which ends with LF. */
static size_t split(const char *line, const char *words[4], int sizes[4]) {
  size_t count = 0;
  const char *at = line;
  while (count < 4) {
    at += strspn(at, " ");
    size_t size = strcspn(at, " \r\n");
    if (size == 0 || size >= WORD_MAX)
      break;
    words[count] = at;
    sizes[count++] = (int)size;
    at += size;
  }
  return count;
}

/* "PUB subject reply size": answered with its data. Returns the size of line and data; 0: they are
 * not whole yet, or wrong. */
static size_t take_publication(peer *self, const char *line, size_t line_size, size_t size) {
  const char *words[4];
  int sizes[4];
  char header[2 * WORD_MAX + 32];
  if (split(line, words, sizes) != 4)
    return 0;
  const size_t data = strtoul(words[3], NULL, 10), whole = line_size + data + 2;
  if (data > INPUT_ROOM / 2 || size < whole)
    return 0;
  int header_size =
      snprintf(header, sizeof header, "MSG %.*s %s %zu\r\n", sizes[2], words[2], self->sid, data);
  if (!put(self, header, (size_t)header_size) || !put(self, line + line_size, data + 2))
    return 0;
  self->waiting++;
  return whole;
}

/* "SUB subject sid" */
static void take_subscription(peer *self, const char *line) {
  const char *words[4];
  int sizes[4];
  if (split(line, words, sizes) == 3)
    snprintf(self->sid, sizeof self->sid, "%.*s", sizes[2], words[2]);
}

static size_t take_line(peer *self, const char *line, size_t line_size, size_t size) {
  if (strncmp(line, "PUB ", 4) == 0)
    return take_publication(self, line, line_size, size);
  if (strncmp(line, "PING", 4) == 0 && (!put(self, "PONG\r\n", 6) || !send_all(self)))
    return 0;
  if (strncmp(line, "SUB ", 4) == 0)
    take_subscription(self, line);
  return line_size;
}

static bool take_all(peer *self) {
  size_t at = 0;
  for (;;) {
    char *line = self->in + at;
    const char *end = memchr(line, '\n', self->in_size - at);
    if (end == NULL)
      break;
    size_t took = take_line(self, line, (size_t)(end + 1 - line), self->in_size - at);
    if (took == 0)
      break;
    at += took;
    if (self->waiting >= self->round && !send_all(self))
      return false;
  }
  memmove(self->in, self->in + at, self->in_size - at);
  self->in_size -= at;
  return true;
}

static bool serve(peer *self) {
  for (;;) {
    struct pollfd poll_for = {.fd = self->socket, .events = POLLIN};
    int ready = poll(&poll_for, 1, self->waiting > 0 ? SILENCE_MS : -1);
    if (ready == 0 && !send_all(self))
      return false;
    if (ready <= 0)
      continue;
    ssize_t got = read(self->socket, self->in + self->in_size, INPUT_ROOM - self->in_size);
    if (got <= 0)
      return got == 0;
    self->in_size += (size_t)got;
    self->in[self->in_size] = '\0';
    if (!take_all(self))
      return false;
  }
}

/* ---- the connection ---- */

static int listen_somewhere(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
      listen(listener, 1) != 0 || getsockname(listener, (struct sockaddr *)&address, &size) != 0) {
    perror("aloft-bench-nats: cannot listen");
    exit(1);
  }
  printf("nats://127.0.0.1:%u\n", (unsigned)ntohs(address.sin_port));
  fflush(stdout);
  return listener;
}

int alo_scripted_peer_run(uint32_t round) {
  static const char info[] = "INFO {\"server_id\":\"scripted\",\"version\":\"2.9.0\",\"proto\":1,"
                             "\"headers\":true,\"max_payload\":1048576}\r\n";
  const int one = 1;
  int listener = listen_somewhere();
  peer *self = calloc(1, sizeof *self);
  if (self == NULL)
    return 1;
  self->round = round;
  self->out_room = OUTPUT_LEAST + (size_t)round * WORD_MAX;
  self->out = malloc(self->out_room);
  if (self->out == NULL) {
    free(self);
    return 1;
  }
  self->socket = accept(listener, NULL, NULL);
  close(listener);
  bool good = self->socket >= 0 &&
              setsockopt(self->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0 &&
              put(self, info, sizeof info - 1) && send_all(self) && serve(self);
  if (self->socket >= 0)
    close(self->socket);
  free(self->out);
  free(self);
  return good ? 0 : 1;
}
