#define _GNU_SOURCE /* memfd_create */
#include "floor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "program.h"

static bool compile(const char *source, int into, alo_reason *why) {
  char output[64], nothing[16];
  alo_reason said;
  const char *compiler = getenv("CC");
  snprintf(output, sizeof output, "/proc/%ld/fd/%d", (long)getpid(), into);
  const char *const argv[] = {compiler != NULL && *compiler != '\0' ? compiler : "cc",
                              "-O2",
                              "-w",
                              "-o",
                              output,
                              source,
                              "-lpthread",
                              NULL};
  if (alo_program_output(argv, nothing, sizeof nothing, &said))
    return true;
  snprintf(why->text, sizeof why->text, "%.300s: %.150s", source, said.text);
  return false;
}

/* Opened anew, because a program that is open for writing cannot be run. */
bool alo_floor_compile(const char *folder, const char *file, char *path, size_t room,
                       int *descriptor, alo_reason *why) {
  char source[ALO_PROGRAM_PATH_MAX], written[64];
  int made = memfd_create("aloft-floor", MFD_CLOEXEC);
  if (made < 0) {
    snprintf(why->text, sizeof why->text, "no file for the floor: %s", strerror(errno));
    return false;
  }
  snprintf(source, sizeof source, "%s/%s", folder, file);
  snprintf(written, sizeof written, "/proc/%ld/fd/%d", (long)getpid(), made);
  bool good = compile(source, made, why);
  if (good) {
    *descriptor = open(written, O_RDONLY | O_CLOEXEC);
    good = *descriptor >= 0;
    if (!good)
      snprintf(why->text, sizeof why->text, "the compiled floor: %s", strerror(errno));
    snprintf(path, room, "/proc/%ld/fd/%d", (long)getpid(), *descriptor);
  }
  close(made);
  return good;
}
