#include "secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "interrupt.h"
#include "report.h"

static bool store(alo_secret *secret, const char *data, size_t size) {
  alo_secret_wipe(secret);
  if (size > ALO_SECRET_SIZE_MAX)
    return false;
  secret->data = malloc(size + 1);
  if (secret->data == NULL)
    return false;
  memcpy(secret->data, data, size);
  secret->data[size] = '\0';
  secret->size = size;
  return true;
}

bool alo_secret_take(alo_secret *secret, char *text) {
  size_t size = strlen(text);
  bool stored = store(secret, text, size);
  explicit_bzero(text, size);
  return stored;
}

bool alo_secret_take_environment(alo_secret *secret, const char *name) {
  char *value = getenv(name);
  if (value == NULL)
    return true;
  bool stored = alo_secret_take(secret, value);
  unsetenv(name);
  return stored;
}

/* Reads at most `room` bytes; the size, or -1 with errno. */
static ssize_t read_all(int file, char *buffer, size_t room) {
  size_t size = 0;
  while (size < room) {
    ssize_t got = read(file, buffer + size, room - size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return -1;
    if (got == 0)
      break;
    size += (size_t)got;
  }
  return (ssize_t)size;
}

static size_t without_line_ending(const char *data, size_t size) {
  if (size > 0 && data[size - 1] == '\n')
    size--;
  if (size > 0 && data[size - 1] == '\r')
    size--;
  return size;
}

static bool take_file_text(alo_secret *secret, const char *path, const char *data, size_t size) {
  if (size > ALO_SECRET_SIZE_MAX) {
    alo_report("password file %s: more than %d bytes; give the file that holds only the password",
               path, ALO_SECRET_SIZE_MAX);
    return false;
  }
  size = without_line_ending(data, size);
  if (size == 0 || memchr(data, '\0', size) != NULL) {
    alo_report("password file %s: %s; write the password into it as one line of text", path,
               size == 0 ? "is empty" : "holds a NUL byte");
    return false;
  }
  if (!store(secret, data, size)) {
    alo_report("password file %s: out of memory", path);
    return false;
  }
  return true;
}

bool alo_secret_read_file(alo_secret *secret, const char *path) {
  char buffer[ALO_SECRET_SIZE_MAX + 1];
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t size = file < 0 ? -1 : read_all(file, buffer, sizeof buffer);
  if (size < 0)
    alo_report("password file %s: %s; give a file that you can read", path, strerror(errno));
  bool taken = size >= 0 && take_file_text(secret, path, buffer, (size_t)size);
  explicit_bzero(buffer, sizeof buffer);
  if (file >= 0)
    close(file);
  return taken;
}

static void write_text(int terminal, const char *text) {
  ssize_t written = write(terminal, text, strlen(text));
  (void)written; /* a prompt that is not seen changes nothing */
}

/* Asks for one line with echo off; the size, or -1 when the line did not come whole. What is typed
 * before the prompt is seen is thrown away, so echo goes off first. */
static ssize_t read_hidden_line(int terminal, const char *prompt, char *buffer, size_t room) {
  struct termios shown, hidden;
  if (tcgetattr(terminal, &shown) != 0)
    return -1;
  hidden = shown;
  hidden.c_lflag &= ~(tcflag_t)ECHO;
  hidden.c_lflag |= ICANON;
  tcsetattr(terminal, TCSAFLUSH, &hidden);
  write_text(terminal, prompt);
  ssize_t size = -1;
  if (alo_interrupt_wait_readable(terminal))
    size = read(terminal, buffer, room);
  tcsetattr(terminal, TCSADRAIN, &shown);
  write_text(terminal, "\n");
  return size > 0 && buffer[size - 1] == '\n' ? size - 1 : -1;
}

bool alo_secret_prompt(alo_secret *secret, const char *prompt, const char *advice) {
  int terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (terminal < 0) {
    alo_report("no password, and no terminal to ask for one: %s", advice);
    return false;
  }
  char buffer[ALO_SECRET_SIZE_MAX];
  ssize_t size = read_hidden_line(terminal, prompt, buffer, sizeof buffer);
  close(terminal);
  bool taken = size >= 0 && store(secret, buffer, (size_t)size);
  if (!taken && alo_interrupt_signal() == 0)
    alo_report("no password was typed: %s", advice);
  explicit_bzero(buffer, sizeof buffer);
  return taken;
}

aloft_text alo_secret_text(const alo_secret *secret) {
  return (aloft_text){secret->data, secret->size};
}

void alo_secret_wipe(alo_secret *secret) {
  if (secret->data != NULL) {
    explicit_bzero(secret->data, secret->size);
    free(secret->data);
  }
  *secret = (alo_secret){0};
}
