#include "input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interrupt.h"
#include "report.h"

static bool grow(alo_input *input, size_t *room) {
  size_t wanted = *room == 0 ? 65536 : *room * 2;
  char *data = realloc(input->data, wanted);
  if (data == NULL)
    return false;
  input->data = data;
  *room = wanted;
  return true;
}

static alo_exit fail(alo_input *input, const char *what) {
  alo_input_free(input);
  alo_report("standard input: %s", what);
  return ALO_EXIT_LOCAL;
}

/* As read(2), but -1 with errno EINTR only when a signal has come. */
static ssize_t read_some(char *data, size_t room) {
  ssize_t got = -1;
  do {
    if (!alo_interrupt_wait_readable(STDIN_FILENO))
      return -1;
    got = read(STDIN_FILENO, data, room);
  } while (got < 0 && errno == EINTR);
  return got;
}

alo_exit alo_input_read_standard(alo_input *input) {
  size_t room = 0;
  *input = (alo_input){0};
  for (;;) {
    if (input->size == room && !grow(input, &room))
      return fail(input, "out of memory");
    ssize_t got = read_some(input->data + input->size, room - input->size);
    if (got < 0 && alo_interrupt_signal() != 0) {
      alo_input_free(input);
      return alo_interrupt_exit(ALO_EXIT_LOCAL);
    }
    if (got < 0)
      return fail(input, strerror(errno));
    if (got == 0)
      return ALO_EXIT_OK;
    input->size += (size_t)got;
    if (input->size > ALO_INPUT_SIZE_MAX)
      return fail(input, "more than 64 MiB, which no NATS message can hold; send less");
  }
}

void alo_input_free(alo_input *input) {
  free(input->data);
  *input = (alo_input){0};
}
