#include "program.h"

#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

bool alo_program_beside(const char *name, char path[ALO_PROGRAM_PATH_MAX]) {
  ssize_t size = readlink("/proc/self/exe", path, ALO_PROGRAM_PATH_MAX - 1);
  if (size <= 0)
    return false;
  path[size] = '\0';
  char *slash = strrchr(path, '/');
  if (!slash)
    return false;
  size_t room = ALO_PROGRAM_PATH_MAX - (size_t)(slash + 1 - path);
  int used = snprintf(slash + 1, room, "%s", name);
  return used > 0 && (size_t)used < room;
}
