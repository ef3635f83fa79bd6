#include "e2e_nats_server.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static const char *find_program(void) {
  static const char *const places[] = {"/usr/sbin/nats-server", "/usr/bin/nats-server",
                                       "/usr/local/bin/nats-server"};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    if (access(places[i], X_OK) == 0)
      return places[i];
  }
  fail_msg("nats-server is not installed: apt-get install nats-server");
  return NULL;
}

/* The server says where it listens. */
static void read_url(e2e_nats_server *server) {
  static const char mark[] = "Listening for client connections on ";
  const char *address = strstr(server->process.errors.text, mark);
  assert_non_null(address);
  address += sizeof mark - 1;
  snprintf(server->url, sizeof server->url, "nats://%.*s", (int)strcspn(address, "\r\n"), address);
}

/* Not through stdio, whose buffer would keep a password that a test looks for. */
static void write_file(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  assert_true(file >= 0);
  assert_int_equal(write(file, text, strlen(text)), strlen(text));
  close(file);
}

void e2e_nats_server_start(e2e_nats_server *server, const char *configuration) {
  char path[96];
  memset(server, 0, sizeof *server);
  snprintf(server->folder, sizeof server->folder, "/tmp/aloft-e2e-XXXXXX");
  assert_non_null(mkdtemp(server->folder));
  snprintf(path, sizeof path, "%s/server.conf", server->folder);
  write_file(path, configuration != NULL ? configuration : "");
  const char *argv[] = {find_program(), "-a", "127.0.0.1", "-p", "-1", "-c", path, NULL};
  e2e_start(&server->process, argv, NULL, E2E_PIPED);
  e2e_wait_for(&server->process, &server->process.errors, "Server is ready", 1);
  read_url(server);
}

void e2e_nats_server_kill(e2e_nats_server *server) {
  kill(server->process.pid, SIGKILL);
  waitpid(server->process.pid, NULL, 0);
  server->process.pid = 0;
}

void e2e_nats_server_stop(e2e_nats_server *server) {
  e2e_free(&server->process);
  DIR *folder = opendir(server->folder);
  struct dirent *entry;
  while (folder != NULL && (entry = readdir(folder)) != NULL) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s", server->folder, entry->d_name);
    if (entry->d_name[0] != '.')
      unlink(path);
  }
  if (folder != NULL)
    closedir(folder);
  rmdir(server->folder);
}
