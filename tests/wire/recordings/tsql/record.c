/* record PORT NAME: listens on an ephemeral port of 127.0.0.1, which it prints, passes one
 * connection on to PORT, and writes what each side sent to NAME.client.tds and NAME.server.tds. */
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static FILE *open_file(const char *name, const char *side) {
  char path[512];
  snprintf(path, sizeof path, "%s.%s.tds", name, side);
  FILE *file = fopen(path, "wb");
  if (!file) {
    perror(path);
    exit(1);
  }
  return file;
}

/* False at the end. */
static int pass(int from, int to, FILE *file) {
  char bytes[65536];
  ssize_t got = read(from, bytes, sizeof bytes);
  if (got <= 0)
    return 0;
  fwrite(bytes, 1, (size_t)got, file);
  return write(to, bytes, (size_t)got) == got;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: record PORT NAME\n");
    return 2;
  }
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  int listener = socket(AF_INET, SOCK_STREAM, 0), server = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr *)&at, size) || listen(listener, 1) ||
      getsockname(listener, (struct sockaddr *)&at, &size)) {
    perror("listen");
    return 1;
  }
  printf("%u\n", (unsigned)ntohs(at.sin_port));
  fflush(stdout);
  int client = accept(listener, NULL, NULL);
  at.sin_port = htons((unsigned short)strtoul(argv[1], NULL, 10));
  if (client < 0 || connect(server, (struct sockaddr *)&at, sizeof at)) {
    perror("connect");
    return 1;
  }
  FILE *sent = open_file(argv[2], "client"), *received = open_file(argv[2], "server");
  struct pollfd sides[2] = {{client, POLLIN, 0}, {server, POLLIN, 0}};
  while (poll(sides, 2, -1) > 0) {
    if (sides[0].revents && !pass(client, server, sent))
      break;
    if (sides[1].revents && !pass(server, client, received))
      break;
  }
  fclose(sent);
  fclose(received);
  return 0;
}
