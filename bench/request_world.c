#define _GNU_SOURCE /* memfd_create */
#include "request_world.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "floor.h"
#include "report.h"

static bool fail(alo_reason *why, const char *format, ...) ALO_PRINTF(2, 3);
static bool fail(alo_reason *why, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why->text, sizeof why->text, format, arguments);
  va_end(arguments);
  return false;
}

/* ---- programs ---- */

static bool find(const char *name, char path[ALO_PROGRAM_PATH_MAX]) {
  if (alo_program_beside(name, path) && access(path, R_OK) == 0)
    return true;
  path[0] = '\0';
  return false;
}

static void find_heap_counter(alo_request_world *world) {
#ifdef ALOFT_SANITIZED
  fail(&world->no_heap, "heap calls are not counted in a build with sanitizers");
#else
  if (!find("libaloft_heap_count.so", world->heap) &&
      !find("bench/libaloft_heap_count.so", world->heap))
    fail(&world->no_heap, "libaloft_heap_count.so is not beside aloft-bench: build all of it");
#endif
}

bool alo_request_find(alo_request_world *world, alo_reason *why) {
  memset(world, 0, sizeof *world);
  world->floor_descriptor = world->certificate_descriptor = world->key_descriptor = -1;
  if (!find("aloft-bench-nats", world->client) || !find("aloft-bench-syscalls", world->syscalls))
    return fail(why, "aloft-bench-nats and aloft-bench-syscalls are not beside aloft-bench");
  if (!find("aloft-bench-libnats", world->libnats))
    fail(&world->no_libnats, "aloft-bench-libnats was not built: install the Debian package "
                             "libnats-dev and build again");
  find_heap_counter(world);
  return true;
}

/* ---- the server ---- */

static const char *find_server(void) {
  static const char *const places[] = {"/usr/sbin/nats-server", "/usr/local/bin/nats-server"};
  for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
    if (access(places[i], X_OK) == 0)
      return places[i];
  }
  return "nats-server"; /* on the path, or else it says so */
}

/* Files without a name: nothing stays however this program ends. */
static bool make_file(int *descriptor, char *path, size_t room, alo_reason *why) {
  *descriptor = memfd_create("aloft-bench", MFD_CLOEXEC);
  if (*descriptor < 0)
    return fail(why, "no file for a certificate: %s", strerror(errno));
  snprintf(path, room, "/proc/%ld/fd/%d", (long)getpid(), *descriptor);
  return true;
}

static bool make_certificate(alo_request_world *world, alo_reason *why) {
  char output[64];
  const char *const argv[] = {world->client, "certificate", world->certificate, world->key, NULL};
  if (!make_file(&world->certificate_descriptor, world->certificate, sizeof world->certificate,
                 why) ||
      !make_file(&world->key_descriptor, world->key, sizeof world->key, why) ||
      !alo_program_output(argv, output, sizeof output, why))
    return false;
  return setenv("NATS_CA", world->certificate, 1) == 0 || fail(why, "no memory");
}

static void close_file(int *descriptor) {
  if (*descriptor >= 0)
    close(*descriptor);
  *descriptor = -1;
}

static bool start_server(alo_request_world *world, alo_reason *why) {
  if (world->tls && !make_certificate(world, why))
    return false;
  const char *const argv[] = {find_server(), "-a",
                              "127.0.0.1",   "-p",
                              "-1",          world->tls ? "--tls" : NULL,
                              "--tlscert",   world->certificate,
                              "--tlskey",    world->key,
                              NULL};
  char port[32], url[64], rest[64];
  alo_reason said;
  if (!alo_process_start(&world->server, argv, why))
    return false;
  if (!alo_process_says(&world->server, "client connections on 127.0.0.1:", port, sizeof port,
                        &said) ||
      !alo_process_says(&world->server, "Server is ready", rest, sizeof rest, &said))
    return fail(why, "nats-server (Debian package nats-server; or name one by -s): %.300s",
                said.text);
  snprintf(url, sizeof url, "%s://127.0.0.1:%s", world->tls ? "tls" : "nats", port);
  if (setenv("NATS_URL", url, 1) != 0 || setenv("NB_PORT", port, 1) != 0)
    return fail(why, "no memory");
  return true;
}

static bool start_responder(alo_request_world *world, alo_reason *why) {
  const char *const argv[] = {world->client, "responder", world->subject, NULL};
  char rest[64];
  alo_reason said;
  if (!alo_process_start(&world->responder, argv, why))
    return false;
  if (alo_process_says(&world->responder, "ready", rest, sizeof rest, &said))
    return true;
  return fail(why, "the responder: %.400s", said.text);
}

bool alo_request_open_peer(const alo_request_world *world, uint32_t round, alo_process *peer,
                           alo_reason *why) {
  char number[16], address[64], url[80];
  snprintf(number, sizeof number, "%u", round);
  const char *const argv[] = {world->client, "peer", number, NULL};
  if (!alo_process_start(peer, argv, why))
    return false;
  if (!alo_process_says(peer, "nats://", address, sizeof address, why))
    return false;
  snprintf(url, sizeof url, "nats://%s", address);
  return setenv("NATS_URL", url, 1) == 0 || fail(why, "no memory");
}

/* ---- the floor ---- */

static bool compile(alo_request_world *world, const char *folder) {
  return alo_floor_compile(folder, "nats_floor.c", world->floor, sizeof world->floor,
                           &world->floor_descriptor, &world->no_floor);
}

static void make_floor(alo_request_world *world, bool own_server) {
  const char *folder = getenv("ALOFT_FLOORS");
  if (folder == NULL)
    fail(&world->no_floor, "ALOFT_FLOORS does not name the folder of nats_floor.c");
  else if (world->tls)
    fail(&world->no_floor, "it has no TLS");
  else if (!own_server)
    fail(&world->no_floor, "it knows only a server started here: leave -s out");
  else
    compile(world, folder);
}

/* ---- all of it ---- */

bool alo_request_open(alo_request_world *world, const char *url, alo_reason *why) {
  /* The floor's subject. On somebody else's server it is one that nobody listens to. */
  snprintf(world->subject, sizeof world->subject, "req");
  if (url != NULL) {
    snprintf(world->subject, sizeof world->subject, "aloft.bench.%ld", (long)getpid());
    if (setenv("NATS_URL", url, 1) != 0)
      return fail(why, "no memory");
  } else if (!start_server(world, why)) {
    return false;
  }
  make_floor(world, url == NULL);
  return start_responder(world, why);
}

void alo_request_close(alo_request_world *world) {
  alo_process_stop(&world->responder);
  alo_process_stop(&world->server);
  close_file(&world->certificate_descriptor);
  close_file(&world->key_descriptor);
  close_file(&world->floor_descriptor);
}
