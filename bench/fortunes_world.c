#define _GNU_SOURCE /* memfd_create */
#include "fortunes_world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "floor.h"
#include "interrupt.h"
#include "report.h"

enum { PASSWORD_MAX = 33, CERTIFICATE_MAX = 16384 };

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

static void find_heap_counter(alo_fortunes_world *world) {
#ifdef ALOFT_SANITIZED
  fail(&world->no_heap, "heap calls are not counted in a build with sanitizers");
#else
  if (!find("libaloft_heap_count.so", world->heap) &&
      !find("bench/libaloft_heap_count.so", world->heap))
    fail(&world->no_heap, "libaloft_heap_count.so is not beside aloft-bench: build all of it");
#endif
}

bool alo_fortunes_find(alo_fortunes_world *world, alo_reason *why) {
  memset(world, 0, sizeof *world);
  world->floor_descriptor = world->certificate_descriptor = -1;
  if (!find("aloft-bench-tds", world->client))
    return fail(why, "aloft-bench-tds is not beside aloft-bench");
  if (!find("aloft-bench-dblib", world->dblib))
    fail(&world->no_dblib, "aloft-bench-dblib was not built: install the Debian package "
                           "freetds-dev and build again");
  find_heap_counter(world);
  return true;
}

/* ---- lite ---- */

static bool make_password(char password[PASSWORD_MAX]) {
  unsigned char noise[PASSWORD_MAX / 2];
  FILE *random = fopen("/dev/urandom", "rb");
  bool good = random != NULL && fread(noise, sizeof noise, 1, random) == 1;
  if (random != NULL)
    fclose(random);
  for (size_t i = 0; good && i < sizeof noise; i++)
    snprintf(password + 2 * i, 3, "%02x", noise[i]);
  return good;
}

/* Into a file without a name, so that nothing stays however this program ends. */
static bool keep_certificate(alo_fortunes_world *world, const char *path, alo_reason *why) {
  char text[CERTIFICATE_MAX];
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t size = file >= 0 ? read(file, text, sizeof text) : -1;
  if (file >= 0)
    close(file);
  unlink(path);
  world->certificate_descriptor = memfd_create("aloft-bench", MFD_CLOEXEC);
  if (size <= 0 || world->certificate_descriptor < 0 ||
      write(world->certificate_descriptor, text, (size_t)size) != size)
    return fail(why, "the certificate of aloft lite cannot be kept: %s", strerror(errno));
  snprintf(world->certificate, sizeof world->certificate, "/proc/%ld/fd/%d", (long)getpid(),
           world->certificate_descriptor);
  return true;
}

static bool tell_connection(const alo_fortunes_world *world, const char *password,
                            alo_reason *why) {
  char string[512];
  bool tls = world->certificate[0] != '\0';
  snprintf(
      string, sizeof string,
      "Server=127.0.0.1,%s;User ID=bench;Password=%s;Application Name=aloft bench;Encrypt=%s%s",
      world->port, password, tls ? "Mandatory;CA File=" : "Optional", world->certificate);
  return setenv("ALOFT_BENCH_TDS", string, 1) == 0 || fail(why, "no memory");
}

static bool is_listening(alo_fortunes_world *world, const char *who, alo_reason *why) {
  alo_reason said;
  return alo_process_says(&world->server, "listening on 127.0.0.1:", world->port,
                          sizeof world->port, &said) ||
         fail(why, "%s: %.300s", who, said.text);
}

static bool start_lite(alo_fortunes_world *world, bool tls, alo_reason *why) {
  char aloft[ALO_PROGRAM_PATH_MAX], password[PASSWORD_MAX];
  char path[] = "/tmp/aloft-bench-XXXXXX";
  if (!find("aloft", aloft) && !find("../../bin/aloft", aloft))
    return fail(why, "aloft is not beside aloft-bench: name a server by --server");
  int file = tls ? mkstemp(path) : -1;
  if (file >= 0)
    close(file);
  const char *const argv[] = {
      aloft, "lite", "--user", "bench", ":memory:", tls ? "--tlscert-out" : NULL, path, NULL};
  if (!make_password(password) || setenv("ALOFT_LITE_PASSWORD", password, 1) != 0)
    return fail(why, "no password can be made");
  bool good = alo_process_start(&world->server, argv, why);
  unsetenv("ALOFT_LITE_PASSWORD");
  good = good && is_listening(world, "aloft lite", why);
  if (tls)
    good = good ? keep_certificate(world, path, why) : (unlink(path), false);
  return good && tell_connection(world, password, why);
}

/* ---- the responder ---- */

static void make_floor(alo_fortunes_world *world) {
  const char *folder = getenv("ALOFT_FLOORS");
  if (folder == NULL)
    fail(&world->no_floor, "ALOFT_FLOORS does not name the folder of tds_floor.c");
  else
    alo_floor_compile(folder, "tds_floor.c", world->floor, sizeof world->floor,
                      &world->floor_descriptor, &world->no_floor);
}

static bool start_responder(alo_fortunes_world *world, alo_reason *why) {
  const char *const argv[] = {world->client, "responder", NULL};
  if (!alo_process_start(&world->server, argv, why) || !is_listening(world, "the responder", why))
    return false;
  make_floor(world);
  return tell_connection(world, "bench", why);
}

/* ---- the table ---- */

static bool run_client(const alo_fortunes_world *world, const char *word, char *output, size_t room,
                       alo_reason *why) {
  const char *const argv[] = {world->client, word, NULL};
  return alo_program_output(argv, output, room, why);
}

static bool see_to_table(alo_fortunes_world *world, alo_reason *why) {
  char output[32];
  if (!run_client(world, "create", output, sizeof output, why))
    return false;
  world->table_created = strncmp(output, "created", 7) == 0;
  /* Nothing stays on somebody's server after an interruption. */
  if (world->table_created && world->kind == ALO_FORTUNES_GIVEN)
    alo_interrupt_install();
  return true;
}

/* ---- all of it ---- */

bool alo_fortunes_open(alo_fortunes_world *world, alo_fortunes_server kind, const char *given,
                       bool tls, alo_reason *why) {
  world->kind = kind;
  switch (kind) {
  case ALO_FORTUNES_LITE:
    return start_lite(world, tls, why) && see_to_table(world, why);
  case ALO_FORTUNES_CANNED:
    return start_responder(world, why);
  case ALO_FORTUNES_GIVEN:
    break;
  }
  return (setenv("ALOFT_BENCH_TDS", given, 1) == 0 || fail(why, "no memory")) &&
         see_to_table(world, why);
}

static void close_file(int *descriptor) {
  if (*descriptor >= 0)
    close(*descriptor);
  *descriptor = -1;
}

bool alo_fortunes_close(alo_fortunes_world *world, alo_reason *why) {
  char output[32];
  bool good = true;
  if (world->table_created && world->kind == ALO_FORTUNES_GIVEN)
    good = run_client(world, "drop", output, sizeof output, why);
  world->table_created = false;
  alo_process_stop(&world->server);
  close_file(&world->floor_descriptor);
  close_file(&world->certificate_descriptor);
  return good;
}
