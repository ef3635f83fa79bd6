#include "peak.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

alo_peak alo_peak_take(void) {
  alo_peak peak = {{0}};
  char line[128];
  static const char mark[] = "VmHWM:";
  FILE *status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    if (strncmp(line, mark, sizeof mark - 1) == 0)
      snprintf(peak.text, sizeof peak.text, ",\"peak\":%ld",
               strtol(line + sizeof mark - 1, NULL, 10) * 1024);
  }
  if (status != NULL)
    fclose(status);
  return peak;
}
