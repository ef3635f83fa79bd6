#include "lite.h"

#include <stdio.h>

int aloft_lite_main(int argc, char **argv) {
  (void)argc;
  (void)argv;
  fprintf(stderr, "aloft lite: this build does not have it; build one that does\n");
  return 2;
}
