#define _GNU_SOURCE /* memmem */
#include "responder.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "heap.h"
#include "tds_request.h"
#include "tds_response.h"

enum {
  EVENTS = 64,
  SOCKETS_MAX = 4096,
  INPUT_ROOM = 32768,
  HEADER = ALO_TDS_HEADER_SIZE,
  LOGIN_MAX = 4096,
  SENT_AT_ONCE = 65536
};

typedef struct connection {
  int socket;
  size_t size;
  uint8_t input[INPUT_ROOM];
} connection;

typedef struct canned {
  uint8_t bytes[LOGIN_MAX];
  size_t size;
} canned;

typedef struct responder {
  int listener, poll;
  connection *connections[SOCKETS_MAX]; /* by socket */
  canned prelogin, login, empty;
  const alo_responder_answer *answer;
} responder;

/* ---- what it says ---- */

static bool take(canned *to, alo_tds_writer *writer) {
  alo_buffer *buffer = writer->out;
  bool good = alo_tds_message_end(writer) == ALOFT_OK && alo_buffer_size(buffer) <= LOGIN_MAX;
  if (good) {
    to->size = alo_buffer_size(buffer);
    memcpy(to->bytes, buffer->data + buffer->begin, to->size);
  }
  alo_buffer_fini(buffer);
  return good;
}

static void begin(alo_buffer *buffer, alo_tds_writer *writer) {
  alo_buffer_init(buffer, &alo_heap_default, LOGIN_MAX);
  alo_tds_writer_init(writer, buffer, ALO_TDS_PACKET_DEFAULT);
  alo_tds_message_begin(writer, ALO_TDS_REPLY, 0);
}

static bool make_prelogin(canned *to) {
  const alo_tds_prelogin prelogin = {
      .version = {16}, .has_encryption = true, .encryption = ALO_TDS_ENCRYPT_NOT_SUP};
  alo_buffer buffer;
  alo_tds_writer writer;
  begin(&buffer, &writer);
  alo_tds_put_prelogin(&writer, &prelogin, true);
  return take(to, &writer);
}

static bool make_login(canned *to) {
  const alo_tds_loginack loginack = {.interface_type = 1,
                                     .tds_version = 0x74000004,
                                     .program = ALOFT_TEXT("Microsoft SQL Server"),
                                     .version = {16}};
  const alo_tds_done done = {.token = 0xFD};
  alo_buffer buffer;
  alo_tds_writer writer;
  begin(&buffer, &writer);
  alo_tds_put_env_text(&writer, 1, ALOFT_TEXT("bench"), ALOFT_TEXT("master"));
  alo_tds_put_loginack(&writer, &loginack);
  alo_tds_put_env_text(&writer, 4, ALOFT_TEXT("4096"), ALOFT_TEXT("4096"));
  alo_tds_put_done(&writer, &done);
  return take(to, &writer);
}

static bool make_empty(canned *to) {
  const alo_tds_done done = {.token = 0xFD};
  alo_buffer buffer;
  alo_tds_writer writer;
  begin(&buffer, &writer);
  alo_tds_put_done(&writer, &done);
  return take(to, &writer);
}

/* ---- connections ---- */

static bool send_all(int socket, const void *data, size_t size) {
  for (size_t at = 0; at < size;) {
    ssize_t sent = send(socket, (const uint8_t *)data + at, size - at, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR)
      return false;
    at += sent > 0 ? (size_t)sent : 0;
  }
  return true;
}

/* ---- packets on their way ---- */

typedef struct packets {
  int socket;
  uint32_t packet_size;
  size_t size;     /* of what waits in `bytes` */
  size_t begin_at; /* of the packet that is being filled, in `bytes` */
  uint8_t bytes[SENT_AT_ONCE + ALO_TDS_PACKET_MAX];
} packets;

static void begin_packet(packets *self) {
  self->begin_at = self->size;
  memset(self->bytes + self->size, 0, HEADER);
  self->size += HEADER;
}

static bool end_packet(packets *self, bool last) {
  size_t size = self->size - self->begin_at;
  uint8_t *header = self->bytes + self->begin_at;
  header[0] = ALO_TDS_REPLY;
  header[1] = last ? ALO_TDS_STATUS_EOM : 0;
  header[2] = (uint8_t)(size >> 8);
  header[3] = (uint8_t)size;
  if (!last && self->size < SENT_AT_ONCE)
    return true;
  bool good = send_all(self->socket, self->bytes, self->size);
  self->size = 0;
  return good;
}

static bool put(packets *self, aloft_bytes part) {
  for (size_t at = 0; at < part.size;) {
    size_t room = self->packet_size - (self->size - self->begin_at);
    if (room == 0) {
      if (!end_packet(self, false))
        return false;
      begin_packet(self);
      continue;
    }
    size_t size = part.size - at < room ? part.size - at : room;
    memcpy(self->bytes + self->size, (const uint8_t *)part.data + at, size);
    self->size += size;
    at += size;
  }
  return true;
}

static bool send_parts(const alo_responder_answer *of, int socket) {
  static packets self;
  self = (packets){.socket = socket, .packet_size = of->packet_size};
  begin_packet(&self);
  bool good = put(&self, of->before);
  for (uint64_t i = 0; good && i < of->times; i++)
    good = put(&self, of->rows);
  return good && put(&self, of->after) && end_packet(&self, true);
}

/* ---- answers ---- */

static bool selects(const uint8_t *packet, size_t size) {
  static const uint8_t word[] = {'S', 0, 'E', 0, 'L', 0, 'E', 0, 'C', 0, 'T', 0};
  return memmem(packet, size, word, sizeof word) != NULL;
}

static bool answer(const responder *self, const connection *from, const uint8_t *packet,
                   size_t size) {
  const canned *with = packet[0] == ALO_TDS_PRELOGIN ? &self->prelogin
                       : packet[0] == ALO_TDS_LOGIN7 ? &self->login
                                                     : &self->empty;
  if (with != &self->empty || !selects(packet, size))
    return send_all(from->socket, with->bytes, with->size);
  if (self->answer->packet_size > 0)
    return send_parts(self->answer, from->socket);
  return send_all(from->socket, self->answer->before.data, self->answer->before.size);
}

/* Whole packets; the last one of a message is answered. */
static bool take_packets(const responder *self, connection *from) {
  size_t at = 0;
  while (from->size - at >= HEADER) {
    const uint8_t *header = from->input + at;
    size_t size = (size_t)(header[2] << 8 | header[3]);
    if (size < HEADER || size > INPUT_ROOM)
      return false;
    if (size > from->size - at)
      break;
    if (header[1] & ALO_TDS_STATUS_EOM && !answer(self, from, header, size))
      return false;
    at += size;
  }
  memmove(from->input, from->input + at, from->size - at);
  from->size -= at;
  return true;
}

static bool serve(const responder *self, connection *from) {
  ssize_t got = recv(from->socket, from->input + from->size, INPUT_ROOM - from->size, MSG_DONTWAIT);
  if (got < 0)
    return errno == EAGAIN || errno == EINTR;
  if (got == 0)
    return false;
  from->size += (size_t)got;
  return take_packets(self, from);
}

static bool watch(const responder *self, int socket) {
  struct epoll_event event = {.events = EPOLLIN, .data = {.fd = socket}};
  return epoll_ctl(self->poll, EPOLL_CTL_ADD, socket, &event) == 0;
}

static void drop(responder *self, int socket) {
  free(self->connections[socket]);
  self->connections[socket] = NULL;
  close(socket);
}

static void accept_one(responder *self) {
  const int one = 1;
  int socket = accept(self->listener, NULL, NULL);
  if (socket < 0)
    return;
  connection *made = socket < SOCKETS_MAX ? calloc(1, sizeof *made) : NULL;
  if (made == NULL) {
    close(socket);
    return;
  }
  made->socket = socket;
  self->connections[socket] = made;
  if (setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0 || !watch(self, socket))
    drop(self, socket);
}

static bool listen_somewhere(responder *self) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  self->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  self->poll = epoll_create1(EPOLL_CLOEXEC);
  if (self->listener < 0 || self->poll < 0 ||
      bind(self->listener, (struct sockaddr *)&address, sizeof address) != 0 ||
      listen(self->listener, SOMAXCONN) != 0 ||
      getsockname(self->listener, (struct sockaddr *)&address, &size) != 0 ||
      !watch(self, self->listener))
    return false;
  printf("listening on 127.0.0.1:%u\n", (unsigned)ntohs(address.sin_port));
  fflush(stdout);
  return true;
}

static void serve_all(responder *self) {
  struct epoll_event events[EVENTS];
  for (;;) {
    int count = epoll_wait(self->poll, events, EVENTS, -1);
    for (int i = 0; i < count; i++) {
      int socket = events[i].data.fd;
      if (socket == self->listener)
        accept_one(self);
      else if (!serve(self, self->connections[socket]))
        drop(self, socket);
    }
  }
}

int alo_responder_run(const alo_responder_answer *answer) {
  static responder self;
  self.answer = answer;
  if (!make_prelogin(&self.prelogin) || !make_login(&self.login) || !make_empty(&self.empty) ||
      !listen_somewhere(&self)) {
    fprintf(stderr, "the responder cannot begin: %s\n", strerror(errno));
    return 1;
  }
  serve_all(&self);
  return 0;
}
