#include "nats_server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 20, TRIES = 2000 };

static bool write_config(const nats_server *server, const char *config) {
  char path[128];
  snprintf(path, sizeof path, "%s/nats.conf", server->folder);
  FILE *file = fopen(path, "w");
  if (!file)
    return false;
  bool written = fputs(config, file) >= 0;
  return fclose(file) == 0 && written;
}

static void run_server(const nats_server *server, const char *const *arguments, bool config) {
  const char *program = getenv("ALOFT_TEST_NATS");
  char path[128];
  const char *list[ARGUMENTS_MAX + 1] = {program ? program : "nats-server",
                                         "-a",
                                         "127.0.0.1",
                                         "-p",
                                         "-1",
                                         "--ports_file_dir",
                                         server->folder};
  size_t count = 7;
  snprintf(path, sizeof path, "%s/nats.conf", server->folder);
  if (config) {
    list[count++] = "-c";
    list[count++] = path;
  }
  while (arguments && *arguments && count < ARGUMENTS_MAX)
    list[count++] = *arguments++;
  int quiet = open("/dev/null", O_RDWR);
  dup2(quiet, 1);
  dup2(quiet, 2);
  /* execvp does not change what it is given */
  execvp(list[0], (char *const *)(uintptr_t)list);
  _exit(127);
}

/* The file appears when the server listens; it may be looked at half written. */
static bool read_port(nats_server *server) {
  char path[160], text[512];
  snprintf(path, sizeof path, "%s/nats-server_%ld.ports", server->folder, (long)server->pid);
  FILE *file = fopen(path, "r");
  if (!file)
    return false;
  size_t size = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[size] = 0;
  const char *url = strstr(text, "nats://127.0.0.1:");
  if (!url || !strchr(text, '}'))
    return false;
  server->port = (uint16_t)strtoul(url + strlen("nats://127.0.0.1:"), NULL, 10);
  snprintf(server->url, sizeof server->url, "nats://127.0.0.1:%u", (unsigned)server->port);
  return server->port != 0;
}

static bool await_port(nats_server *server) {
  for (int i = 0; i < TRIES; i++) {
    if (read_port(server))
      return true;
    if (waitpid(server->pid, NULL, WNOHANG) == server->pid) {
      server->pid = 0;
      return false;
    }
    nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
  }
  return false;
}

bool nats_server_start(nats_server *server, const char *const *arguments, const char *config) {
  memset(server, 0, sizeof *server);
  const char *temporary = getenv("TMPDIR");
  if (!temporary || strlen(temporary) > 40)
    temporary = "/tmp";
  snprintf(server->folder, sizeof server->folder, "%s/aloft-XXXXXX", temporary);
  if (!mkdtemp(server->folder)) {
    server->folder[0] = 0;
    return false;
  }
  if (config && !write_config(server, config)) {
    nats_server_stop(server);
    return false;
  }
  server->pid = fork();
  if (server->pid == 0)
    run_server(server, arguments, config != NULL);
  if (server->pid > 0 && await_port(server))
    return true;
  nats_server_stop(server);
  return false;
}

static void remove_folder(const char *folder) {
  DIR *directory = opendir(folder);
  if (!directory)
    return;
  const struct dirent *entry;
  while ((entry = readdir(directory))) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (entry->d_name[0] != '.')
      unlink(path);
  }
  closedir(directory);
  rmdir(folder);
}

void nats_server_stop(nats_server *server) {
  if (server->pid > 0) {
    kill(server->pid, SIGKILL);
    while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
      continue;
  }
  server->pid = 0;
  if (server->folder[0])
    remove_folder(server->folder);
  server->folder[0] = 0;
}
