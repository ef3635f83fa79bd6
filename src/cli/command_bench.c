#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "exit_status.h"
#include "report.h"

enum { PATH_SIZE_MAX = 4096 };

/* Where the program of the benchmarks may be, from the folder of this one: as built, as installed.
 */
static const char *const places[] = {"aloft-bench", "../libexec/aloft/aloft-bench"};

/* The folder of this program with its slash, at the beginning of `path`; its length, 0 when it
 * cannot be known. */
static size_t own_folder(char path[PATH_SIZE_MAX]) {
  ssize_t size = readlink("/proc/self/exe", path, PATH_SIZE_MAX - 1);
  if (size <= 0)
    return 0;
  path[size] = '\0';
  const char *slash = strrchr(path, '/');
  return slash != NULL ? (size_t)(slash + 1 - path) : 0;
}

/* The benchmarks are a program of their own, so that this one carries nothing of theirs. */
int alo_command_bench(int argc, char **argv) {
  char path[PATH_SIZE_MAX];
  size_t folder = own_folder(path);
  (void)argc;
  alo_report_name("aloft bench");
  for (size_t i = 0; folder > 0 && i < sizeof places / sizeof places[0]; i++) {
    int size = snprintf(path + folder, sizeof path - folder, "%s", places[i]);
    if (size < 0 || (size_t)size >= sizeof path - folder)
      continue;
    execv(path, argv);
    if (errno != ENOENT && errno != ENOTDIR) {
      alo_report("cannot run %s: %s", path, strerror(errno));
      return ALO_EXIT_LOCAL;
    }
  }
  alo_report("there is no program aloft-bench, neither beside aloft nor in ../libexec/aloft: "
             "\"make bench\" in Aloft's sources builds it, \"make install\" installs it");
  return ALO_EXIT_LOCAL;
}
