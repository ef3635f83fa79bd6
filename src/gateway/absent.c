#include "gateway.h"

#include <stdio.h>

int aloft_gateway_main(int argc, char **argv) {
  (void)argc;
  (void)argv;
  fprintf(stderr, "aloft gateway: this build does not have it; build one that does\n");
  return 2;
}
