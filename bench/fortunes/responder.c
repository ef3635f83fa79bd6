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
  LOGIN_MAX = 4096
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
  canned prelogin, login;
  aloft_bytes answer; /* to everything else */
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

/* ---- connections ---- */

static bool answer(const responder *self, connection *from, uint8_t type) {
  const aloft_bytes with =
      type == ALO_TDS_PRELOGIN ? (aloft_bytes){self->prelogin.bytes, self->prelogin.size}
      : type == ALO_TDS_LOGIN7 ? (aloft_bytes){self->login.bytes, self->login.size}
                               : self->answer;
  size_t at = 0;
  while (at < with.size) {
    ssize_t sent =
        send(from->socket, (const uint8_t *)with.data + at, with.size - at, MSG_NOSIGNAL);
    if (sent < 0 && errno != EINTR)
      return false;
    at += sent > 0 ? (size_t)sent : 0;
  }
  return true;
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
    if (header[1] & ALO_TDS_STATUS_EOM && !answer(self, from, header[0]))
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

int alo_responder_run(aloft_bytes answer) {
  static responder self;
  self.answer = answer;
  if (!make_prelogin(&self.prelogin) || !make_login(&self.login) || !listen_somewhere(&self)) {
    fprintf(stderr, "the responder cannot begin: %s\n", strerror(errno));
    return 1;
  }
  serve_all(&self);
  return 0;
}
