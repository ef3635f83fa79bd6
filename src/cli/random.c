#include "random.h"

#include <unistd.h>

#include "report.h"
#include <stdlib.h>

static uint64_t draw(void) {
  uint64_t bits;
  if (getentropy(&bits, sizeof bits) != 0) {
    alo_report("the system gives no random numbers");
    exit(ALO_EXIT_LOCAL);
  }
  return bits;
}

uint64_t alo_random_below(uint64_t bound) {
  return draw() % bound;
}

void alo_random_name(char *text, size_t size) {
  static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  for (size_t i = 0; i + 1 < size; i++)
    text[i] = letters[alo_random_below(sizeof letters - 1)];
  text[size - 1] = '\0';
}
